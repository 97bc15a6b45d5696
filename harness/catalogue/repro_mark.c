/* repro_mark.c - see repro_mark.h. */
#include "harness/catalogue/repro_mark.h"

#include "harness/base/json_fields.h"
#include "harness/repro/repro_file.h"

#include <math.h>
#include <string.h>

/* Sizes in a strip, in its own units; it is drawn as wide as its column. */
enum { WIDTH = 200, HEIGHT = 24, MARGIN = 12, BAND_TOP = 4, BAND_HEIGHT = 16, CAP = 5 };

/* Numbers further apart than this are drawn by their logarithms. */
static const double FAR_APART = 8;

void repro_effect_write(struct doc *to, const json_t *column)
{
    const char *text = field_text(json_object_get(column, "effect"), "text");
    const char *interval = strstr(text, " (");
    if (json_object_get(json_object_get(column, "level"), "order")) { /* may be long */
        doc_put(to, "`%s`", *text ? text : "nothing");
        return;
    }
    doc_put(to, "<b class='share'>%.*s</b>",
            interval ? (int)(interval - text)
            : *text  ? (int)strlen(text)
                     : (int)strlen("no number"),
            *text ? text : "no number");
    if (interval)
        doc_put(to, " <span class='range share'>%s</span>", interval + 1);
}

/* A strip's numbers and its scale. */
struct strip {
    double expected_lo, expected_hi; /* infinite where the range is open */
    double lo, median, hi;
    bool beyond; /* the effect has no bound: it is further to the right than all numbers */
    bool is_log;
    double from, to; /* at both ends, of the logarithms if is_log */
};

static double or_else(double number, double other)
{
    return isfinite(number) ? number : other;
}

/* Takes the finite ones of the strip's numbers; how many. */
static size_t numbers_of(const struct strip *strip, double numbers[5])
{
    const double all[] = {strip->expected_lo, strip->expected_hi, strip->lo, strip->median,
                          strip->hi};
    size_t count = 0;
    for (size_t i = 0; i < 5; i++)
        if (isfinite(all[i]))
            numbers[count++] = all[i];
    return count;
}

static void scale_make(struct strip *strip)
{
    double numbers[5], least = INFINITY, most = -INFINITY;
    size_t count = numbers_of(strip, numbers);
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, numbers[i]);
        most = fmax(most, numbers[i]);
    }
    strip->is_log = least > 0 && most / least > FAR_APART;
    strip->from = strip->is_log ? log(least) : least;
    strip->to = strip->is_log ? log(most) : most;
    /* Room at both ends, so that an open range is seen to go on. */
    double reach = strip->to - strip->from;
    double room = reach > 0 ? reach * 0.25 : strip->is_log ? 0.5 : fmax(fabs(most) * 0.25, 1);
    strip->from -= room;
    strip->to += room;
}

/* False if there is nothing to be drawn. */
static bool strip_make(struct strip *strip, const json_t *expectation, const json_t *column)
{
    const json_t *effect = json_object_get(column, "effect");
    double median = field_number(effect, "median");
    *strip = (struct strip){
        .expected_lo = or_else(field_number(expectation, "at_least"), -INFINITY),
        .expected_hi = or_else(field_number(expectation, "at_most"), INFINITY),
        .median = median,
        .lo = or_else(field_number(effect, "lo"), median),
        .hi = or_else(field_number(effect, "hi"), median),
        .beyond = json_is_true(json_object_get(effect, "infinite")),
    };
    if (!isfinite(strip->expected_lo) && !isfinite(strip->expected_hi))
        return false;
    if (!strip->beyond && !isfinite(median))
        return false;
    scale_make(strip);
    return true;
}

/* The position of a number; an infinite one is at the end. */
static double x_of(const struct strip *strip, double number)
{
    if (!isfinite(number))
        return number > 0 ? WIDTH : 0;
    double at = strip->is_log ? log(number) : number;
    return MARGIN + (at - strip->from) / (strip->to - strip->from) * (WIDTH - 2 * MARGIN);
}

static void band_write(struct doc *to, const struct strip *strip)
{
    double from = x_of(strip, strip->expected_lo), end = x_of(strip, strip->expected_hi);
    doc_put(to, "<rect class='band' x='%.1f' y='%d' width='%.1f' height='%d'/>", from, BAND_TOP,
            fmax(end - from, 1.5), BAND_HEIGHT);
    if (isfinite(strip->expected_lo))
        doc_put(to, "<path class='edge' d='M%.1f %dv%d'/>", from, BAND_TOP, BAND_HEIGHT);
    if (isfinite(strip->expected_hi))
        doc_put(to, "<path class='edge' d='M%.1f %dv%d'/>", end, BAND_TOP, BAND_HEIGHT);
}

static void interval_write(struct doc *to, const struct strip *strip)
{
    double middle = HEIGHT / 2.0, lo = x_of(strip, strip->lo), hi = x_of(strip, strip->hi);
    if (strip->beyond) {
        doc_put(to, "<path class='line' d='M%d %.1fh%dm-5 -4l5 4l-5 4'/>", WIDTH - MARGIN, middle,
                MARGIN - 2);
        return;
    }
    if (hi > lo)
        doc_put(to, "<path class='line' d='M%.1f %.1fH%.1fM%.1f %.1fv%dM%.1f %.1fv%d'/>", lo,
                middle, hi, lo, middle - CAP, 2 * CAP, hi, middle - CAP, 2 * CAP);
    doc_put(to, "<circle class='dot' cx='%.1f' cy='%.1f' r='3.5'/>", x_of(strip, strip->median),
            middle);
}

/* A strip in text has so many characters. */
enum { TEXT_CELLS = 24 };

void repro_strip_text(struct doc *to, const json_t *expectation, const json_t *column)
{
    struct strip strip;
    if (!strip_make(&strip, expectation, column))
        return;
    const double width = (double)WIDTH / TEXT_CELLS;
    double lo = x_of(&strip, strip.beyond ? INFINITY : strip.lo);
    double hi = x_of(&strip, strip.beyond ? INFINITY : strip.hi);
    double median = fmin(x_of(&strip, strip.beyond ? INFINITY : strip.median), WIDTH - 1);
    double first = x_of(&strip, strip.expected_lo), last = x_of(&strip, strip.expected_hi);
    char text[4 * TEXT_CELLS + 1], *end = text;
    for (int i = 0; i < TEXT_CELLS; i++) {
        double left = width * i, right = left + width;
        bool is_inside = last >= left && first < right;
        end = stpcpy(end, median >= left && median < right ? "\342\227\217"
                          : hi >= left && lo < right       ? "\342\224\200"
                          : is_inside                      ? "\342\226\221"
                                                           : "\302\267");
    }
    doc_put(to, "<br>`%s`", text);
}

void repro_strip_write(struct doc *to, const json_t *expectation, const json_t *column)
{
    struct strip strip;
    if (!strip_make(&strip, expectation, column))
        return;
    doc_put(to,
            "<svg class='against%s%s' viewBox='0 0 200 24' role='img' aria-label='measured %s, "
            "expected %s%s'><path class='axis' d='M0 %.1fH%d'/>",
            repro_file_is_claim(expectation) ? " " : "",
            repro_file_is_claim(expectation) ? field_text(column, "verdict") : "",
            field_text(json_object_get(column, "effect"), "text"),
            field_text(expectation, "expected"), strip.is_log ? "; logarithmic" : "", HEIGHT / 2.0,
            WIDTH);
    band_write(to, &strip);
    interval_write(to, &strip);
    doc_put(to, "</svg>");
}
