/* why_event.c - see why_event.h. */
#include "harness/evidence/why_event.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"
#include "harness/numbers/statistics.h"
#include "harness/records/records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fewer than this of an operation are told as one in so many. */
static const double RARE = 0.1;

/* The least share of the processor time whose difference is told. */
static const double TIME_SHARE_MIN = 0.02;

static double number_of(const struct metric *metric, const json_t *record)
{
    return metric ? metric_of(metric, record)
                  : field_number(record, "cpu_ns") / field_number(record, "ops");
}

/* Over the samples that have the number. metric NULL: processor time of an operation. */
static double median_of(const struct metric *metric, const json_t *records)
{
    double *values = xcalloc(json_array_size(records) + 1, sizeof *values);
    size_t count = 0;
    json_each(record, records) {
        double number = record_is(record, "ok") ? number_of(metric, record) : NAN;
        if (isfinite(number))
            values[count++] = number;
    }
    double median = statistics_median_alone(values, count);
    free(values);
    return median;
}

/* With the prefix of the program's own, if it is one of these; to be freed. */
static char *full_name(const char *name)
{
    char *own = text_format("%s%s", COUNTER_SDE_PREFIX, counter_short_name(name));
    if (counter_sde_find(own) >= 0)
        return own;
    free(own);
    return xstrdup(name);
}

static void count_print(FILE *to, double value, bool is_time)
{
    if (value == 0)
        fputs("none", to);
    else if (value < RARE && !is_time)
        fprintf(to, "1 in %s operations", text_count(1 / value).s);
    else
        fprintf(to, "%s an operation", is_time ? text_time(value).s : text_count(value).s);
}

static void counts_print(FILE *to, const char *name, double less, double more)
{
    int index = counter_sde_find(name);
    enum counter_kind kind = index < 0 ? COUNTER_SUM : counter_sde_kind(index);
    size_t length = strlen(name);
    bool is_time = length > 3 && strcmp(name + length - 3, "_NS") == 0;
    if (kind != COUNTER_SUM && kind != COUNTER_RUN) {
        fprintf(to, "%s against %s", text_count(more).s, text_count(less).s);
        return;
    }
    count_print(to, more, is_time);
    fputs(" against ", to);
    count_print(to, less, is_time);
}

char *why_event_of(const struct metric *metric, const json_t *less, const json_t *more)
{
    char *text = NULL;
    double of_less = median_of(metric, less), of_more = median_of(metric, more);
    if (!isfinite(of_less) || !isfinite(of_more) || metric_is_finding(metric->name))
        return NULL;
    char *name = full_name(metric->name);
    const char *help = counter_help(name);
    FILE *to = memory_stream(&text, NULL);
    counts_print(to, name, of_less, of_more);
    if (*help)
        fprintf(to, ": %s", help);
    double time_of_less = median_of(NULL, less), time_of_more = median_of(NULL, more);
    double longer = time_of_more - time_of_less;
    if (fabs(longer) > TIME_SHARE_MIN * fmax(time_of_less, time_of_more)) /* false of NAN */
        fprintf(to, "; with %s %s processor time an operation", text_time(fabs(longer)).s,
                longer > 0 ? "more" : "less");
    fclose(to);
    free(name);
    return text;
}
