/* units.c - see units.h. */
#include "harness/numbers/units.h"

#include <math.h>
#include <stdio.h>

static int decimals(double value)
{
    return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
}

/* Three digits and the largest of the units that keeps them at 1 or above. */
static struct text scaled(double value, const double *factors, const char *const *units)
{
    struct text text;
    if (!isfinite(value))
        return (struct text){"-"};
    if (value == 0)
        return (struct text){"0"};
    int i = 0;
    while (factors[i + 1] > 0 && fabs(value) / factors[i] < 0.9995)
        i++;
    double shown = value / factors[i];
    snprintf(text.s, sizeof text.s, "%.*f%s", decimals(fabs(shown)), shown, units[i]);
    return text;
}

struct text text_si(double value)
{
    static const double factors[] = {1e12, 1e9, 1e6, 1e3, 1, 0};
    static const char *const units[] = {" T", " G", " M", " k", ""};
    return scaled(value, factors, units);
}

struct text text_time(double ns)
{
    static const double factors[] = {1e9, 1e6, 1e3, 1, 0};
    static const char *const units[] = {" s", " ms", " \302\265s", " ns"};
    return scaled(ns, factors, units);
}

/* Both ends, as `number` writes them. */
static struct text interval_text(struct interval interval, struct text (*number)(double))
{
    struct text text;
    if (statistics_has_too_few(interval))
        return (struct text){"too few"};
    if (!statistics_has_interval(interval))
        return (struct text){"-"};
    snprintf(text.s, sizeof text.s, "%.40s to %.40s", number(interval.lo).s, number(interval.hi).s);
    return text;
}

struct text text_si_interval(struct interval interval)
{
    return interval_text(interval, text_si);
}

struct text text_time_interval(struct interval ns)
{
    return interval_text(ns, text_time);
}

static struct text plain_ratio(double value)
{
    struct text text;
    snprintf(text.s, sizeof text.s, "%.*f", value >= 0.0995 ? decimals(value) : 4, value);
    return text;
}

struct text text_ratio(double value)
{
    struct text text = plain_ratio(value);
    struct text shown;
    snprintf(shown.s, sizeof shown.s, "%.80s\303\227", text.s);
    return isfinite(value) ? shown : (struct text){"-"};
}

struct text text_ratio_interval(struct interval interval)
{
    return interval_text(interval, plain_ratio);
}

struct text text_count(double value)
{
    struct text text;
    if (!isfinite(value))
        return (struct text){"-"};
    if (value >= 1000)
        return text_si(value);
    if (value > 0 && value < 0.0001)
        return (struct text){"<0.0001"};
    int digits = value == 0 ? 0 : value < 0.01 ? 4 : value < 0.1 ? 3 : decimals(value);
    snprintf(text.s, sizeof text.s, "%.*f", digits, value);
    return text;
}

struct text text_bytes(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    struct text text;
    int i = 0;
    for (; bytes >= 1024 && i < 4; i++)
        bytes /= 1024;
    snprintf(text.s, sizeof text.s, "%.3g %s", bytes, units[i]);
    return text;
}

struct text text_p(double p)
{
    struct text text = {"-"};
    if (p < 0.001)
        snprintf(text.s, sizeof text.s, "<0.001");
    else if (!isnan(p))
        snprintf(text.s, sizeof text.s, "%.3f", p);
    return text;
}

int text_field(struct text text, int columns)
{
    for (const char *at = text.s; *at; at++)
        columns += (*at & 0xc0) == 0x80;
    return columns;
}

const char *time_unit(int64_t *ns)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t i = 0;
    while (*ns % units[i].ns != 0)
        i++;
    *ns /= units[i].ns;
    return units[i].name;
}

void number_into_json(json_t *object, const char *key, double number)
{
    if (isfinite(number))
        json_object_set_new(object, key, json_real(number));
}

void interval_into_json(json_t *object, struct interval interval)
{
    if (statistics_has_interval(interval)) {
        json_object_set_new(object, "lo", json_real(interval.lo));
        json_object_set_new(object, "hi", json_real(interval.hi));
    } else if (statistics_has_too_few(interval)) {
        json_object_set_new(object, "interval",
                            json_pack("{so}", "absent",
                                      json_sprintf("too few samples: a 95 %% interval takes %d",
                                                   STATISTICS_INTERVAL_MIN)));
    }
}

json_t *ratio_to_json(struct interval ratio)
{
    if (!isfinite(ratio.median))
        return NULL;
    json_t *object = json_pack("{sf}", "ratio", ratio.median);
    interval_into_json(object, ratio);
    return object;
}
