/* report_cells.c - each cell by itself: its samples in the order of the run, so that drift shows,
 * the command that repeats it, what each M counted, why it failed. See report_page.h.
 *
 * A strip is a small SVG with a path for each of six symbols, so that three thousand samples cost
 * thirty kilobytes. Its x is the place in the whole run, so that strips below each other show the
 * same moments; its y is relative to the cell's own median.
 */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/numbers/units.h"
#include "harness/records/records.h"
#include "harness/report/report_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 240, HEIGHT = 36, MARGIN = 6, COLUMNS = 7, SHARES_MAX = 6 };

/* Less than this is drawn as less, so that quiet cells look quiet. */
static const double SPREAD_MIN = 0.05;

static bool sample_ok(const struct report_sample *sample)
{
    return strcmp(sample->status, "ok") == 0 && isfinite(sample->throughput);
}

static bool is_marked(const struct report_sample *sample)
{
    return sample->marks && *sample->marks && strcmp(sample->marks, "-") != 0;
}

/* Strips -------------------------------------------------------------------------------------- */

struct strip {
    const char *what; /* "Samples" */
    const struct report_sample *samples;
    size_t count;
    double median;       /* of the ok samples; NAN if there are none */
    double lowest, most; /* relative to the median: -0.03 is 3 % below */
    double last;         /* position in the run */
};

static double strip_median(const struct report_sample *samples, size_t count)
{
    double *values = xcalloc(count + 1, sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (sample_ok(&samples[i]))
            values[n++] = samples[i].throughput;
    double median = statistics_median_alone(values, n);
    free(values);
    return median;
}

static struct strip strip_make(const char *what, const struct report_sample *samples, size_t count,
                               double last)
{
    struct strip strip = {.what = what, .samples = samples, .count = count, .last = last};
    strip.median = strip_median(strip.samples, strip.count);
    for (size_t i = 0; i < strip.count; i++) {
        double off = strip.samples[i].throughput / strip.median - 1;
        if (!sample_ok(&strip.samples[i]) || !isfinite(off))
            continue;
        strip.lowest = fmin(strip.lowest, off);
        strip.most = fmax(strip.most, off);
    }
    return strip;
}

enum symbol { ANY, NEAR, FAR, MIXED, MARK, BAD, SYMBOLS };

/* A shape begins at x and y from its sample's place. A dot is a line of no length with round ends,
 * the shortest that SVG has. With square ends it needs a length, or paper shows nothing. */
static const struct {
    const char *class;
    int x, y;
    const char *shape, *meaning;
} symbols[SYMBOLS] = {
    [ANY] = {"s-any", 0, 0, "h0", "one worker, or no probe"},
    [NEAR] = {"s-near", 0, 0, "h0", "cores near each other"},
    [FAR] = {"s-far", -4, 3, "h8l-4-7z", "cores far apart"},
    [MIXED] = {"s-mixed", 0, 0, "h.1", "changed during the sample"},
    [MARK] = {"s-mark", -5, 0, "a5 5 0 1 0 10 0a5 5 0 1 0-10 0", "disturbed from outside"},
    [BAD] = {"s-bad", -3, -3, "l6 6m0-6l-6 6", "failed"},
};

static bool is_drawn_as(const struct report_sample *sample, enum symbol symbol)
{
    static const char *const distances[SYMBOLS] = {
        [NEAR] = "near", [FAR] = "far", [MIXED] = "mixed"};
    enum symbol own = sample_ok(sample) ? ANY : BAD;
    for (int i = NEAR; i <= MIXED && own == ANY; i++)
        if (sample->distance && strcmp(sample->distance, distances[i]) == 0)
            own = (enum symbol)i;
    return symbol == MARK ? is_marked(sample) : symbol == own;
}

static void symbol_write(FILE *to, enum symbol symbol, double x, double y)
{
    fprintf(to, "M%ld %ld%s", lround(x) + symbols[symbol].x, lround(y) + symbols[symbol].y,
            symbols[symbol].shape);
}

/* If no position is recorded, the samples stand in a row. */
static double strip_x(const struct strip *strip, size_t i)
{
    double position = strip->samples[i].position;
    double share = isfinite(position) && strip->last > 0 ? position / strip->last
                                                         : (i + 0.5) / (double)strip->count;
    return MARGIN + share * (WIDTH - 2 * MARGIN);
}

static double strip_y(const struct strip *strip, size_t i)
{
    const struct report_sample *sample = &strip->samples[i];
    double reach = fmax(SPREAD_MIN, fmax(strip->most, -strip->lowest));
    double off = sample->throughput / strip->median - 1;
    if (!sample_ok(sample))
        return HEIGHT - MARGIN;
    return HEIGHT / 2.0 - (isfinite(off) ? off : 0) / reach * (HEIGHT / 2.0 - MARGIN);
}

static void strip_write(FILE *to, const struct strip *strip)
{
    size_t ok = 0, marked = 0;
    for (size_t i = 0; i < strip->count; i++) {
        ok += sample_ok(&strip->samples[i]);
        marked += is_marked(&strip->samples[i]);
    }
    char bad[48] = "", disturbed[48] = "";
    if (ok < strip->count)
        snprintf(bad, sizeof bad, ", %zu bad", strip->count - ok);
    if (marked > 0)
        snprintf(disturbed, sizeof disturbed, ", %zu disturbed", marked);
    html_put(to,
             "<svg class='strip' viewBox='0 0 %d %d' role='img' aria-label='%s in run order: "
             "%zu good%s%s'><path d='M0 %dh%d'/>",
             WIDTH, HEIGHT, strip->what, ok, bad, disturbed, HEIGHT / 2, WIDTH);
    for (enum symbol symbol = 0; symbol < SYMBOLS; symbol++) {
        size_t drawn = 0;
        for (size_t i = 0; i < strip->count; i++) {
            if (!is_drawn_as(&strip->samples[i], symbol))
                continue;
            if (drawn++ == 0)
                fprintf(to, "<path class=\"%s\" d=\"", symbols[symbol].class);
            symbol_write(to, symbol, strip_x(strip, i), strip_y(strip, i));
        }
        fputs(drawn > 0 ? "\"/>" : "", to);
    }
    fputs("</svg>", to);
}

void report_strip_write(FILE *to, const char *what, const double *values, size_t count)
{
    struct report_sample *samples = xcalloc(count + 1, sizeof *samples);
    for (size_t i = 0; i < count; i++)
        samples[i] = (struct report_sample){
            .status = "ok", .position = NAN, .throughput = values[i], .line_ns = NAN};
    struct strip strip = strip_make(what, samples, count, 0);
    strip_write(to, &strip);
    free(samples);
}

static bool is_used(const struct report *report, enum symbol symbol)
{
    for (size_t i = 0; i < report->samples.count; i++)
        if (is_drawn_as(&report->samples.samples[i], symbol))
            return true;
    return false;
}

/* The symbols that this run has, and their meanings. */
static void key_write(FILE *to, const struct report *report)
{
    html_put(to, "<ul class='key'>");
    for (enum symbol symbol = 0; symbol < SYMBOLS; symbol++) {
        if (!is_used(report, symbol))
            continue;
        html_put(to, "<li>");
        fprintf(to, "<svg viewBox=\"-7 -7 14 14\" aria-hidden=\"true\"><path class=\"%s\" d=\"",
                symbols[symbol].class);
        symbol_write(to, symbol, 0, 0);
        fputs("\"/></svg> ", to);
        html_put(to, "%s</li>", symbols[symbol].meaning);
    }
    html_put(to, "</ul>");
}

/* Counts of each M ----------------------------------------------------------------------------- */

/* An event's counts, one per M; medians over the samples. */
struct share {
    const char *name;
    double *counts;
    size_t ms;
    double unevenness; /* 0 all alike, 1 one has none */
};

/* "sde:::schedlab::STEALS" -> "STEALS" */
static const char *short_name(const char *name)
{
    const char *last = strrchr(name, ':');
    return last ? last + 1 : name;
}

static const json_t *per_m_of(const json_t *record, size_t event)
{
    return json_object_get(json_array_get(json_object_get(record, "events"), event), "per_m");
}

/* The median over those samples of the cell that had as many Ms. */
static double count_median(const json_t *const *records, size_t count, size_t event, size_t m,
                           size_t ms)
{
    double *values = xcalloc(count + 1, sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *per_m = per_m_of(records[i], event);
        if (json_array_size(per_m) == ms && json_is_number(json_array_get(per_m, m)))
            values[n++] = json_number_value(json_array_get(per_m, m));
    }
    double median = statistics_median_alone(values, n);
    free(values);
    return median;
}

/* The number of Ms in the first sample that counted the event. If events are counted in sets, other
 * samples did not count it. */
static size_t ms_of(const json_t *const *records, size_t count, size_t event)
{
    for (size_t i = 0; i < count; i++)
        if (json_array_size(per_m_of(records[i], event)) > 0)
            return json_array_size(per_m_of(records[i], event));
    return 0;
}

/* False, nothing to free, if the event was not counted per M or never happened. */
static bool share_make(struct share *share, const json_t *const *records, size_t count,
                       size_t event)
{
    const json_t *listed = json_array_get(json_object_get(records[0], "events"), event);
    double lowest = INFINITY, most = 0;
    *share = (struct share){.name = short_name(field_text(listed, "name")),
                            .ms = ms_of(records, count, event)};
    if (share->ms < 2)
        return false;
    share->counts = xcalloc(share->ms, sizeof *share->counts);
    for (size_t m = 0; m < share->ms; m++) {
        share->counts[m] = count_median(records, count, event, m, share->ms);
        lowest = fmin(lowest, share->counts[m]);
        most = fmax(most, share->counts[m]);
    }
    share->unevenness = most > 0 ? (most - lowest) / most : 0;
    if (most > 0)
        return true;
    free(share->counts);
    return false;
}

static int most_uneven_first(const void *a_void, const void *b_void)
{
    const struct share *a = a_void, *b = b_void;
    int order = (a->unevenness < b->unevenness) - (a->unevenness > b->unevenness);
    return order ? order : strcmp(a->name, b->name);
}

static void share_write(FILE *to, const struct share *share)
{
    html_put(to, "<span class='share'>%s ", share->name);
    for (size_t m = 0; m < share->ms; m++)
        html_put(to, "%s%s", m > 0 ? " / " : "", text_count(share->counts[m]).s);
    html_put(to, "</span>");
}

static void shares_write(FILE *to, const json_t *const *records, size_t count)
{
    size_t events = count > 0 ? json_array_size(json_object_get(records[0], "events")) : 0, n = 0;
    struct share *shares = xcalloc(events + 1, sizeof *shares);
    for (size_t i = 0; i < events; i++)
        n += share_make(&shares[n], records, count, i);
    qsort(shares, n, sizeof *shares, most_uneven_first);
    if (n > 0) {
        html_put(to, "<p class='shares'>By M, of %s the most uneven: ", counted(n, "event").s);
        for (size_t i = 0; i < n && i < SHARES_MAX; i++) {
            fputs(i > 0 ? "; " : "", to);
            share_write(to, &shares[i]);
        }
        html_put(to, "</p>");
    }
    for (size_t i = 0; i < n; i++)
        free(shares[i].counts);
    free(shares);
}

/* How warming up ended, where it was not by a fixed number of calls. */
static void warmups_write(FILE *to, const json_t *const *records, size_t count)
{
    size_t settled = 0, limited = 0;
    for (size_t i = 0; i < count; i++) {
        const char *rule = field_text(records[i], "warmup_rule");
        settled += strcmp(rule, "change-point") == 0;
        limited += strcmp(rule, "limit") == 0;
    }
    if (settled + limited == 0)
        return;
    html_put(to, "<p class='shares'>Warm: %zu of %s settled (change-point)", settled,
             counted(count, "sample").s);
    if (limited > 0)
        html_put(to, "; %zu had not when the limit came", limited);
    html_put(to, "</p>");
}

/* Cells --------------------------------------------------------------------------------------- */

/* The good samples of a cell; free() the list. */
static const json_t **records_of(const struct report *report, const char *cell, size_t *count)
{
    const json_t *all = json_object_get(report->by_cell, cell);
    const json_t **records = xcalloc(json_array_size(all) + 1, sizeof *records);
    *count = 0;
    json_each(record, all) {
        if (record_is(record, "ok"))
            records[(*count)++] = record;
    }
    return records;
}

/* "-3.1 % to +2.2 %" */
static void spread_write(FILE *to, const struct strip *strip)
{
    html_put(to, "<td class='number'>");
    if (isfinite(strip->median))
        html_put(to, "\342\210\222%.1f to +%.1f %%", -100 * strip->lowest, 100 * strip->most);
    else
        html_put(to, "-");
    html_put(to, "</td>");
}

static void cell_more(FILE *to, const struct report *report, const struct report_cell *cell)
{
    size_t count;
    const json_t **records = records_of(report, cell->id, &count);
    html_put(to, "<tr class='more'><td colspan='%d'>", COLUMNS);
    if (!report_cell_ok(cell)) {
        html_put(to, "<p class='failed'>%s: %s</p>", cell->status,
                 cell->reason ? cell->reason : "no reason recorded");
    }
    report_commands_write(to, report, cell);
    warmups_write(to, records, count);
    shares_write(to, records, count);
    html_put(to, "</td></tr>");
    free(records);
}

static void cell_write(FILE *to, const struct report *report, const struct report_cell *cell,
                       double last)
{
    size_t count;
    const struct report_sample *samples = report_samples_of(&report->samples, cell->id, &count);
    struct strip strip = strip_make("Samples", samples, count, last);
    html_put(to, "<tr id='cell-%s'><th scope='row'>%s</th><td class='number'>%d</td><td>", cell->id,
             cell->variant, cell->workers);
    strip_write(to, &strip);
    html_put(to, "</td><td class='number'>%s</td>", text_si(cell->throughput.median).s);
    spread_write(to, &strip);
    html_put(to, "<td class='number'>%zu</td><td class='id'>%s</td></tr>", strip.count, cell->id);
    cell_more(to, report, cell);
}

/* The cells of a workload, each once, in the order of the catalogue and of their workers. */
static void workload_write(FILE *to, const struct report *report, const char *workload, double last)
{
    static const char *const names[] = {"variant",
                                        "#workers",
                                        "samples in run order",
                                        "#median per second",
                                        "#off the median",
                                        "#samples",
                                        "cell",
                                        NULL};
    char label[512];
    size_t cells = 0;
    for (size_t i = 0; i < report->cells_count; i++)
        cells += strcmp(report->cells[i].workload, workload) == 0 && report->cells[i].is_first;
    snprintf(label, sizeof label, "%.400s, samples of each cell in run order", workload);
    html_put(to, "<details class='print'><summary><span class='name'>%s</span>, %s</summary>",
             workload, counted(cells, "cell").s);
    html_table_begin(to, label, "cells", names);
    for (size_t i = 0; i < report->cells_count; i++)
        if (strcmp(report->cells[i].workload, workload) == 0 && report->cells[i].is_first)
            cell_write(to, report, &report->cells[i], last);
    html_table_end(to);
    html_put(to, "</details>");
}

void report_cells_write(FILE *to, const struct report *report)
{
    double last = 0;
    for (size_t i = 0; i < report->samples.count; i++)
        last = fmax(last, report->samples.samples[i].position);
    html_put(to, "<section id='cells'><h2>Cell by cell: samples in run order, and how to repeat "
                 "them</h2><p>Left is the beginning of the run, right its end; runs that were "
                 "merged stand one after the other. The line is the cell's own median, and the "
                 "height of a strip is its largest distance from that, 5 %% at least. Samples that "
                 "lean to one side, or jump together in several strips, show that the machine "
                 "changed.</p>");
    html_put(
        to,
        "<p>The first command of a cell runs one sample of it again, with the "
        "same seed and the same settings, and prints what it measured. The next ones tell "
        "why it took its time, write a page with its events, and one that opens where it "
        "and the baseline part. With --warmup both pages open on a call that finds memory warm, "
        "as timed ones do. Accounts of time and the parting take a simulated "
        "machine: beside a native cell, add `--machine sim:desktop8 --why` to the first. "
        "To trace real threads takes `make trace` once. Counters that no table of the page "
        "shows are in events.tsv, by the name of the cell.</p>");
    key_write(to, report);
    json_t *written = json_object();
    for (size_t i = 0; i < report->cells_count; i++) {
        const char *workload = report->cells[i].workload;
        if (json_object_get(written, workload))
            continue;
        workload_write(to, report, workload, last);
        json_object_set_new(written, workload, json_true());
    }
    json_decref(written);
    html_put(to, "</section>");
}
