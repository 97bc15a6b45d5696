/* report_tables.c - the sections on core distances and on tables that are shown as they are.
 * See report_page.h. */
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/numbers/statistics.h"
#include "harness/numbers/units.h"
#include "harness/report/report_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Core distances ------------------------------------------------------------------------------- */

enum { DISTANCES = 3, BINS = 200, BIN_HEIGHT = 14 };

static const struct {
    const char *name, *fill, *meaning;
} distances[DISTANCES] = {
    {"near", "var(--near)", "a cache line travels fast between the cores in use"},
    {"far", "var(--far)", "it travels slowly"},
    {"mixed", "var(--mixed)", "that changed during the sample"},
};

/* -1 if none is known. */
static int distance_of_sample(const struct report_sample *sample)
{
    for (int i = 0; i < DISTANCES; i++)
        if (sample->distance && strcmp(sample->distance, distances[i].name) == 0)
            return i;
    return -1;
}

/* Samples by distance: all, and those of each part of the run. */
struct distance_counts {
    size_t all[DISTANCES], sum;
    size_t bins[BINS][DISTANCES];
};

static struct distance_counts distances_count(const struct report *report)
{
    struct distance_counts counts = {.sum = 0};
    double last = 0;
    for (size_t i = 0; i < report->samples.count; i++)
        last = fmax(last, report->samples.samples[i].position);
    for (size_t i = 0; i < report->samples.count; i++) {
        const struct report_sample *sample = &report->samples.samples[i];
        int distance = distance_of_sample(sample);
        if (distance < 0)
            continue;
        counts.all[distance]++;
        counts.sum++;
        if (isfinite(sample->position) && sample->position >= 0)
            counts.bins[(size_t)(sample->position / (last + 1) * BINS)][distance]++;
    }
    return counts;
}

/* The most frequent; -1 if there is none. */
static int bin_distance(const size_t counts[DISTANCES])
{
    int best = -1;
    for (int i = 0; i < DISTANCES; i++)
        if (counts[i] > 0 && (best < 0 || counts[i] > counts[best]))
            best = i;
    return best;
}

/* The run from left to right; parts of the same distance are one bar, and far ones are lower, mixed
 * ones lower still, so that it does not take colours to read. */
static void timeline_write(FILE *to, const struct distance_counts *counts)
{
    html_put(to,
             "<svg class='timeline' viewBox='0 0 %d %d' preserveAspectRatio='none' role='img' "
             "aria-label='Most frequent core distance in each part of the run'>",
             BINS, BIN_HEIGHT);
    for (int i = 0, end; i < BINS; i = end) {
        int distance = bin_distance(counts->bins[i]);
        for (end = i + 1; end < BINS && bin_distance(counts->bins[end]) == distance;)
            end++;
        if (distance >= 0)
            fprintf(to, "<path d=\"M%d %dh%dv%dh-%dz\" fill=\"%s\"/>", i, distance * 4, end - i,
                    BIN_HEIGHT - distance * 4, end - i, distances[distance].fill);
    }
    fputs("</svg>\n", to);
}

bool report_has_distances(const struct report *report)
{
    for (size_t i = 0; i < report->samples.count; i++)
        if (distance_of_sample(&report->samples.samples[i]) >= 0)
            return true;
    return false;
}

/* The median round trip of a cache line at one distance. */
static double distance_line_ns(const struct report *report, int distance)
{
    double *line_ns = xcalloc(report->samples.count + 1, sizeof *line_ns);
    size_t n = 0;
    for (size_t i = 0; i < report->samples.count; i++) {
        const struct report_sample *sample = &report->samples.samples[i];
        if (distance_of_sample(sample) == distance && isfinite(sample->line_ns))
            line_ns[n++] = sample->line_ns;
    }
    double median = statistics_median_alone(line_ns, n);
    free(line_ns);
    return median;
}

static void distance_row(FILE *to, const struct report *report,
                         const struct distance_counts *counts, int distance)
{
    bool is_one = counts->all[distance] == counts->sum;
    html_put(to,
             "<tr><th scope='row'>%s</th><td class='number'>%zu</td><td class='number'>%.1f %%</td>"
             "<td class='number'>%s</td><td>%s</td></tr>",
             distances[distance].name, counts->all[distance],
             100.0 * (double)counts->all[distance] / (double)counts->sum,
             text_time(distance_line_ns(report, distance)).s,
             is_one ? "the only distance in this run" : distances[distance].meaning);
}

void report_distances_write(FILE *to, const struct report *report)
{
    if (!report_has_distances(report))
        return;
    struct distance_counts counts = distances_count(report);
    html_put(to, "<section id='distances'><h2>Core distance</h2><p>Around every sample with more "
                 "than one worker a probe sends a cache line to and fro between the cores in use. "
                 "Where a hypervisor moves them, its round trip jumps, and what chats between "
                 "cores with it; so like is compared with like.</p>");
    timeline_write(to, &counts);
    html_table_begin(
        to, "Samples by core distance; above, the run from its beginning to its end", NULL,
        (const char *const[]){"cores", "#samples", "#share", "#round trip", "meaning", NULL});
    bool is_one = counts.all[0] == counts.sum; /* near to nothing else */
    for (int i = 0; i < (is_one ? 1 : DISTANCES); i++)
        distance_row(to, report, &counts, i);
    html_table_end(to);
    html_put(to, "</section>");
}

/* Tables --------------------------------------------------------------------------------------- */

/* False for columns that repeat another one, and for ends of an interval: the page is not so
 * wide. */
static bool is_shown(const char *column)
{
    return strcmp(column, "variant_name") != 0 && strcmp(column, "workload_name") != 0 &&
           strcmp(column, "rest_lo_ns") != 0 && strcmp(column, "rest_hi_ns") != 0;
}

static bool is_whole(double number)
{
    return number == floor(number) && fabs(number) < 1e6;
}

/* "inside_median_ns" -> "inside median" */
static void head_write(FILE *to, const char *column)
{
    char text[128];
    snprintf(text, sizeof text, "%.120s", column);
    if (text_ends_with(text, "_ns"))
        text[strlen(text) - 3] = '\0';
    for (char *at = text; (at = strchr(at, '_')) != NULL;)
        *at = ' ';
    html_put(to, "<th scope='col'>%s</th>", text);
}

static void value_write(FILE *to, const struct tsv *tsv, size_t row, const char *column)
{
    const char *text = tsv_text(tsv, row, column);
    double number = tsv_number(tsv, row, column);
    if (!text || !isfinite(number))
        html_put(to,
                 text && strcmp(column, "flag") == 0 && strcmp(text, "-") != 0 &&
                         strcmp(text, "unknown") != 0
                     ? "<td class='failed'>%s</td>"
                     : "<td>%s</td>",
                 text ? text : "-");
    else if (text_ends_with(column, "_ns"))
        html_put(to, "<td class='number'>%s</td>", text_time(number).s);
    else if (is_whole(number))
        html_put(to, "<td class='number'>%s</td>", text);
    else
        html_put(to, "<td class='number'>%s</td>", text_count(number).s);
}

static void table_write(FILE *to, const struct tsv *tsv, const char *label)
{
    html_table_open(to, label, "numbers");
    html_put(to, "<thead><tr>");
    for (size_t i = 0; i < tsv->columns; i++)
        if (is_shown(tsv->cells[i]))
            head_write(to, tsv->cells[i]);
    html_put(to, "</tr></thead><tbody>");
    for (size_t row = 1; row < tsv->rows; row++) {
        html_put(to, "<tr>");
        for (size_t i = 0; i < tsv->columns; i++)
            if (is_shown(tsv->cells[i]))
                value_write(to, tsv, row, tsv->cells[i]);
        html_put(to, "</tr>");
    }
    html_table_end(to);
}

void report_outside_write(FILE *to, const struct report *report)
{
    if (report->extra.outside.rows < 2)
        return;
    html_put(to,
             "<section id='outside'><h2>Timed from outside</h2><p>hyperfine timed whole processes, "
             "this program the calls within them. Both should tell the same story but for the "
             "start of the process, which a process without calls shows. The rest is what neither "
             "accounts for; where all of its interval, which is in outside.tsv, lies beyond 10 %% "
             "of the outside, the row is flagged. Unknown: the calls are too short a part of the "
             "process to tell, samples lie too far apart, or the start was not measured.</p>");
    table_write(to, &report->extra.outside, "Medians from inside and from outside");
    html_put(to, "</section>");
}

void report_metg_write(FILE *to, const struct report *report)
{
    if (report->extra.metg.rows < 2)
        return;
    html_put(to, "<section id='metg'><h2>The smallest task that still pays</h2><p>METG(50 %%): the "
                 "shortest task at which a variant still does half of what its workers could do. "
                 "Shorter is better: its overhead per task is smaller.</p>");
    table_write(to, &report->extra.metg, "Minimum effective task granularity at 50 % efficiency");
    html_put(to, "</section>");
}
