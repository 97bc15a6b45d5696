/* report_section.c - what the page says about one group. See report_page.h. */
#include "harness/answers/report_verdict.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/counters/counter_names.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/numbers/units.h"
#include "harness/report/report_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_UNFOLDED = 40, COLUMNS_NUMBERS = 12, COLUMNS_LATENCY = 8 };

/* A heading across the table, above the rows of one workload. */
static void rowgroup_write(FILE *to, const char *workload, const char *what, size_t columns)
{
    html_put(to, "<tr><th scope='rowgroup' colspan='%zu'><span class='name'>%s</span> %s</th></tr>",
             columns, workload, what);
}

/* Figures -------------------------------------------------------------------------------------- */

static const char *const figure_summaries[SWEEP_FIGURES] = {
    [SWEEP_FIGURE_THROUGHPUT] = "Throughput by variant and workload",
    [SWEEP_FIGURE_SPEEDUP] = "Speed-up over workers by variant and workload",
    [SWEEP_FIGURE_EVENTS] = "Events per operation by variant and workload",
    [SWEEP_FIGURE_LATENCY] = "Latency by percentile, variant and workload",
    [SWEEP_FIGURE_KNOB] = "Throughput over the values of a knob",
    [SWEEP_FIGURE_HEATMAP] = "Heat map of two knobs: throughput as a multiple of the baseline",
    [SWEEP_FIGURE_SCALE] = "Time and memory of a goroutine over the number of goroutines",
    [SWEEP_FIGURE_STALLS] = "Stall time per operation by structure, variant and workload",
    [SWEEP_FIGURE_SURFACE] =
        "Multiples of the baseline over workers and a parameter of the workloads",
    [SWEEP_FIGURE_METRIC] = "One number of each cell by variant, workload and count of workers",
};

static void figure_write(FILE *to, const struct figure *figure)
{
    char label[512], prefix[2 * SWEEP_NAME_MAX + 2];
    snprintf(label, sizeof label, "%s: %s The numbers are in the tables below.",
             figure_summaries[figure->kind],
             figure->group->question ? figure->group->question : figure->group->id);
    snprintf(prefix, sizeof prefix, "%s-", figure->name);
    html_put(to, "<figure><div class='sheet' role='region' tabindex='0' aria-label='%s'>",
             figure_summaries[figure->kind]);
    bool whole = html_svg(to, figure->svg, prefix, label);
    html_put(to,
             "</div><figcaption>%s%s. Files: figures/%s.svg, .pdf, .png; command: "
             "figures/draw.sh</figcaption></figure>",
             figure_summaries[figure->kind], whole ? "" : " (the file could not be read)",
             figure->name);
}

/* Throughput ----------------------------------------------------------------------------------- */

static void cell_link(FILE *to, const struct report_cell *cell)
{
    html_put(to, "<td><a href='#cell-%s' class='id'>%s</a></td>", cell->id, cell->id);
}

static struct text percent_text(double share)
{
    struct text text = {"-"};
    if (isfinite(share))
        snprintf(text.s, sizeof text.s, "%.0f %%", share * 100);
    return text;
}

/* A cell's place in the answers on top of the page, at the largest number of workers. */
enum standing { STANDS, STANDS_BEST, STANDS_TIED };

static enum standing standing_of(const struct report_cell *cell, const struct verdict *verdict)
{
    if (verdict->outcome == VERDICT_WON)
        return cell == verdict->best ? STANDS_BEST : STANDS;
    if (verdict->outcome != VERDICT_TIED)
        return STANDS;
    for (size_t i = 0; i < verdict->tied_count; i++)
        if (verdict->tied[i] == cell)
            return STANDS_TIED;
    return cell == verdict->best ? STANDS_TIED : STANDS;
}

/* "~ " before a multiple of the baseline that is not shown to differ; mark: a word of
 * verdicts_over_baseline(). */
static const char *sign_of(const char *mark)
{
    return mark && (strcmp(mark, "none") == 0 || strcmp(mark, "few") == 0) ? "~ " : "";
}

static void throughput_row(FILE *to, const struct report *report, const struct report_group *group,
                           const struct report_cell *cell, enum standing standing, const char *mark)
{
    bool baseline = group->baseline && strcmp(group->baseline, cell->variant) == 0;
    char workers[48], n[64];
    snprintf(workers, sizeof workers, "%d", cell->workers);
    if (report_cell_is_crowded(report, cell))
        snprintf(workers, sizeof workers, "%d on %d", cell->workers, report_cores(report, cell));
    snprintf(n, sizeof n, "%zu of %zu", cell->throughput.n, cell->n_all);
    html_put(to,
             "<tr class='%s' data-cell='%s' data-variant='%s' data-workload='%s' data-workers='%d' "
             "data-machine='%s'>",
             standing == STANDS_BEST ? "best" : "row", cell->id, cell->variant, cell->workload,
             cell->workers, cell->machine);
    html_put(to, "<th scope='row'>%s</th><td class='number'>%s</td>", cell->variant, workers);
    if (report_cell_ok(cell)) {
        html_put(to,
                 "<td class='number'>%s%s</td><td class='range'>%s</td><td "
                 "class='number over'>%s%s</td><td class='range over-range'>%s</td><td "
                 "class='number'>%s</td><td "
                 "class='number'>%s</td><td class='number'>%s</td><td>%s</td><td>%s</td>",
                 standing == STANDS_TIED ? "~ " : "", text_si(cell->throughput.median).s,
                 text_si_interval(cell->throughput).s, baseline ? "" : sign_of(mark),
                 text_ratio(cell->to_baseline.median).s,
                 baseline              ? "baseline"
                 : cell->beside.unlike ? "other distances"
                                       : text_ratio_interval(cell->to_baseline).s,
                 text_ratio(cell->speedup.median).s, percent_text(cell->efficiency).s, n,
                 class_text(cell->chosen), cell->stop ? cell->stop : "-");
    } else {
        html_put(to, "<td colspan='%d'><span class='%s'>%s</span>: %s</td>", COLUMNS_NUMBERS - 3,
                 strcmp(cell->status, "failed") == 0 ? "failed" : "range", cell->status,
                 cell->reason ? cell->reason : "no reason recorded");
    }
    cell_link(to, cell);
    html_put(to, "</tr>");
}

static void throughput_head(FILE *to, const struct report_group *group)
{
    char over[256];
    snprintf(over, sizeof over, "#over %s", group->baseline ? group->baseline : "the baseline");
    html_thead(to,
               (const char *const[]){"variant", "#workers", "#median per second", "95 % interval",
                                     over, "95 % interval", "#speed-up", "#efficiency", "#samples",
                                     "class", "ended by", "cell", NULL});
}

/* class "print": unfolded on paper. */
static void details_open(FILE *to, const char *summary, const char *class, bool open)
{
    /* An attribute without a value is written as one with an empty value. */
    html_put(to,
             !class ? "<details>"
             : open ? "<details class='%s' open=''>"
                    : "<details class='%s'>",
             class);
    html_put(to, "<summary>%s</summary>", summary);
}

static void throughput_write(FILE *to, const struct report *report,
                             const struct report_group *group)
{
    details_open(to, "Throughput: medians, intervals, relative to the baseline", "print",
                 group->count <= ROWS_UNFOLDED);
    html_put(to, "<p class='note'>Operations a second. At the largest number of workers is set off "
                 "who is shown to be faster than all others; ~ stands where those are that are not "
                 "told apart from the highest median. ~ before a multiple: no difference from the "
                 "baseline is shown. Speed-up: over the variant's own one worker. "
                 "Efficiency: the speed-up over the serial run, else over one worker, per worker. "
                 "Samples: those behind the numbers, of all that are good. Their class: near or "
                 "far, the undisturbed ones while the cores were so; quiet, the undisturbed ones; "
                 "all. Ended by: what ended the measuring of the cell.</p>");
    html_table_open(to, "Throughput in operations a second", "numbers pinnable");
    throughput_head(to, group);
    size_t count;
    struct report_span span = {0};
    struct verdict *verdicts = verdicts_make(group, &count);
    const char **marks = verdicts_over_baseline(group);
    for (size_t k = 0; report_next_workload(group, &span); k++) {
        char what[128];
        snprintf(what, sizeof what, "(one operation: %.80s)", group->cells[span.first].op);
        html_put(to, "<tbody>");
        rowgroup_write(to, span.workload, what, COLUMNS_NUMBERS);
        for (size_t i = span.first; i < span.end; i++)
            throughput_row(to, report, group, &group->cells[i],
                           standing_of(&group->cells[i], &verdicts[k]), marks[i]);
        html_put(to, "</tbody>");
    }
    verdicts_free(verdicts, count);
    free(marks);
    html_table_close(to);
    html_put(to, "</details>");
}

/* Latency -------------------------------------------------------------------------------------- */

static const struct {
    double quantile;
    const char *name;
} shown_quantiles[] = {{0.5, "50 %"}, {0.9, "90 %"}, {0.99, "99 %"}, {0.999, "99.9 %"}, {1, "max"}};

enum { SHOWN_QUANTILES = sizeof shown_quantiles / sizeof shown_quantiles[0] };

static void latency_rows(FILE *to, const struct report_group *group, const struct report_span *span)
{
    for (size_t i = span->first; i < span->end; i++) {
        const struct report_cell *cell = &group->cells[i];
        if (!isfinite(report_latency_ns(cell, 1).median))
            continue;
        html_put(to, "<tr><th scope='row'>%s</th><td class='number'>%d</td><td>%s</td>",
                 cell->variant, cell->workers, class_text(cell->chosen));
        for (int q = 0; q < SHOWN_QUANTILES; q++)
            html_put(to, "<td class='number'>%s</td>",
                     text_time(report_latency_ns(cell, shown_quantiles[q].quantile).median).s);
        html_put(to, "</tr>");
    }
}

static void latency_write(FILE *to, const struct report *report, const struct report_group *group)
{
    if (!report_has_latencies(report, group, NULL))
        return;
    details_open(to, "Latency: percentiles", "print", false);
    html_table_open(to, "Time that this share of the operations took at most; medians over samples",
                    "numbers");
    html_put(to, "<thead><tr><th scope='col'>variant</th>");
    html_th_number(to, "workers");
    html_put(to, "<th scope='col'>class</th>");
    for (int q = 0; q < SHOWN_QUANTILES; q++)
        html_th_number(to, shown_quantiles[q].name);
    html_put(to, "</tr></thead>");
    struct report_span span = {0};
    while (report_next_workload(group, &span)) {
        if (!report_has_latencies(report, group, span.workload))
            continue;
        html_put(to, "<tbody>");
        rowgroup_write(to, span.workload, "", COLUMNS_LATENCY);
        latency_rows(to, group, &span);
        html_put(to, "</tbody>");
    }
    html_table_close(to);
    html_put(to, "</details>");
}

/* Events --------------------------------------------------------------------------------------- */

static void event_cell(FILE *to, const struct report_event *event)
{
    char text[160];
    if (!event)
        html_put(to, "<td>-</td>");
    else if (isfinite(event->per_op.median))
        html_put(to, "<td>%s</td>", text_count(event->per_op.median).s);
    else if (isfinite(event->value)) {
        snprintf(text, sizeof text, "%s in all", text_count(event->value).s);
        html_put(to, "<td>%s</td>", text);
    } else
        html_put(to, "<td class='range'>absent</td>");
}

/* The cells of one workload whose events are shown: at its largest number of workers. */
struct columns {
    const struct report_cell **cells;
    size_t count;
};

static struct columns columns_make(const struct report_group *group, const struct report_span *span)
{
    struct columns columns = {xcalloc(span->end - span->first, sizeof *columns.cells), 0};
    int workers = report_workers_max(group, span->workload);
    for (size_t i = span->first; i < span->end; i++)
        if (group->cells[i].workers == workers && report_cell_ok(&group->cells[i]))
            columns.cells[columns.count++] = &group->cells[i];
    return columns;
}

/* The content of an event's row: a count in at least one column, zeros, or nothing. */
enum row_kind { ROW_COUNTED, ROW_ZERO, ROW_ABSENT };

static enum row_kind row_kind(const struct columns *columns, const char *name)
{
    enum row_kind kind = ROW_ABSENT;
    for (size_t k = 0; k < columns->count; k++) {
        const struct report_event *event = report_event_find(columns->cells[k], name);
        if (event && (event->per_op.median > 0 || event->value > 0))
            return ROW_COUNTED;
        if (event && isfinite(event->value))
            kind = ROW_ZERO;
    }
    return kind;
}

/* The samples behind the numbers of each column. */
static void classes_row(FILE *to, const struct columns *columns)
{
    html_put(to, "<tr><th scope='row'>class of the samples</th><td>-</td>");
    for (size_t k = 0; k < columns->count; k++)
        html_put(to, "<td>%s</td>", class_text(columns->cells[k]->chosen));
    html_put(to, "</tr>");
}

/* One row per event that was counted in any column, in the order of the table. Every column asked
 * for the same events. */
static void event_rows(FILE *to, const struct columns *columns)
{
    for (size_t i = 0; i < columns->cells[0]->events_count; i++) {
        const struct report_event *event = &columns->cells[0]->events[i];
        if (row_kind(columns, event->name) != ROW_COUNTED)
            continue;
        html_put(to, "<tr><th scope='row'>%s</th><td>%s</td>", counter_short_name(event->name),
                 event->source);
        for (size_t k = 0; k < columns->count; k++)
            event_cell(to, report_event_find(columns->cells[k], event->name));
        html_put(to, "</tr>");
    }
}

/* Rows of zeros are one line of names. */
static void zeros_write(FILE *to, const struct columns *columns)
{
    size_t written = 0;
    for (size_t i = 0; i < columns->cells[0]->events_count; i++) {
        const char *name = columns->cells[0]->events[i].name;
        if (row_kind(columns, name) != ROW_ZERO)
            continue;
        if (written++ == 0)
            html_put(to, "<p class='note zeros'>");
        html_put(to, "%s%s", written == 1 ? "Counted, and zero in each: " : ", ", name);
    }
    if (written > 0)
        html_put(to, "</p>");
}

static void events_table(FILE *to, const struct report_group *group, const struct report_span *span)
{
    struct columns columns = columns_make(group, span);
    if (columns.count > 0) {
        char label[512];
        snprintf(label, sizeof label, "%.300s, %s: events per operation",
                 columns.cells[0]->workload,
                 counted((uint64_t)columns.cells[0]->workers, "worker").s);
        html_table_open(to, label, "numbers events");
        html_put(to, "<thead><tr><th scope='col'>event</th><th scope='col'>source</th>");
        for (size_t k = 0; k < columns.count; k++)
            html_th_number(to, columns.cells[k]->variant);
        html_put(to, "</tr></thead><tbody>");
        classes_row(to, &columns);
        event_rows(to, &columns);
        html_table_end(to);
        zeros_write(to, &columns);
    }
    free(columns.cells);
}

static void events_write(FILE *to, const struct report *report, const struct report_group *group)
{
    bool any = false;
    for (size_t i = 0; i < group->count; i++)
        any = any || group->cells[i].events_count > 0;
    const struct report_group *other = figures_events_group(report, group);
    if (any && other) {
        html_put(to,
                 "<p class='note'>The events of these cells are with the question <a "
                 "href='#group-%s'>%s</a></p>",
                 other->id, other->question ? other->question : other->id);
    }
    if (!any || other)
        return;
    html_put(to,
             "<details id='events-%s'><summary>Events per operation, with their sources</summary>",
             group->id);
    html_put(to, "<p class='note'>Events that were absent in every column are in the section on "
                 "sources.</p>");
    struct report_span span = {0};
    while (report_next_workload(group, &span))
        events_table(to, group, &span);
    html_put(to, "</details>");
}

/* All ------------------------------------------------------------------------------------------ */

static size_t cells_count(const struct report_group *group, const char *status)
{
    size_t n = 0;
    for (size_t i = 0; i < group->count; i++)
        n += strcmp(group->cells[i].status, status) == 0;
    return n;
}

/* Cells with more workers than the machine can run at once are no measure of a speed-up. */
static void crowded_write(FILE *to, const struct report *report, const struct report_group *group)
{
    size_t crowded = 0, last = 0;
    for (size_t i = 0; i < group->count; i++) {
        if (!report_cell_is_crowded(report, &group->cells[i]))
            continue;
        crowded++;
        last = i;
    }
    if (crowded == 0)
        return;
    html_put(
        to,
        "<p class='problem'>%s of this group had more workers than the %s of the machine: these "
        "took turns, so the numbers say how a design bears that, not how it scales.</p>",
        counted(crowded, "cell").s,
        counted((uint64_t)report_cores(report, &group->cells[last]), "usable hardware thread").s);
}

void report_section_write(FILE *to, const struct report *report, const struct report_group *group,
                          const struct figures *figures)
{
    html_put(to,
             "<section id='group-%s'><h2>%s</h2><p class='where'>Group %s: %s, %zu measured, %zu "
             "failed, %zu skipped.",
             group->id, group->question ? group->question : group->id, group->id,
             counted(group->count, "cell").s, cells_count(group, "ok"),
             cells_count(group, "failed"), cells_count(group, "skipped"));
    if (group->baseline)
        html_put(to, " Baseline: %s.", group->baseline);
    if (group->knob && group->knob2)
        html_put(to, " Knobs: %s and %s.", group->knob->name, group->knob2->name);
    else if (group->knob)
        html_put(to, " Knob: %s.", group->knob->name);
    if (group->left_out)
        html_put(to, " %s.", group->left_out);
    html_put(to, "</p>");
    crowded_write(to, report, group);
    details_open(to, "Figures and tables", "print part", false);
    html_put(to, "<p class='note pinned-note'></p>"); /* the page's script fills it */
    bool has_its_own = false;
    for (size_t i = 0; i < figures->count; i++) {
        if (figures->figures[i].group != group)
            continue;
        has_its_own = has_its_own || figures->figures[i].kind == group->figure;
        if (figures->figures[i].drawn)
            figure_write(to, &figures->figures[i]);
    }
    if (!has_its_own) {
        html_put(to,
                 "<p class='note'>The sweep asks for a figure of %s, but the records have nothing "
                 "for it.</p>",
                 sweep_figure_name(group->figure));
    }
    throughput_write(to, report, group);
    latency_write(to, report, group);
    report_what_if_write(to, report, group);
    if (group->figure == SWEEP_FIGURE_STALLS)
        report_levels_write(to, report, group);
    report_misses_write(to, report, group);
    events_write(to, report, group);
    html_put(to, "</details></section>");
}
