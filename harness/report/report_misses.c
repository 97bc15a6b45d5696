/* report_misses.c - where the misses of a group's cells were: on simulated machines only, which
 * alone know. See report_page.h.
 */
#include "harness/base/memory.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/numbers/units.h"
#include "harness/report/report_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least share that a structure is shown with: its largest in any cell of a workload. */
static const double SHARE_MIN = 0.01;

static bool row_is_of(const struct tsv *tsv, size_t row, const struct report_cell *cell)
{
    const char *id = tsv_text(tsv, row, "cell"), *group = tsv_text(tsv, row, "group");
    return id && group && strcmp(id, cell->id) == 0 && strcmp(group, cell->group) == 0;
}

/* NAN if the cell has nothing of the structure; *share: of its whole stall. */
static double stall_ns(const struct report *report, const struct report_cell *cell,
                       const char *name, double *share)
{
    const struct tsv *tsv = &report->extra.structures;
    *share = 0;
    for (size_t row = 1; row < tsv->rows; row++) {
        const char *structure = tsv_text(tsv, row, "structure");
        if (!structure || strcmp(structure, name) != 0 || !row_is_of(tsv, row, cell))
            continue;
        *share = tsv_number(tsv, row, "share");
        return tsv_number(tsv, row, "stall_ns");
    }
    return NAN;
}

/* The cells of one workload at its largest number of workers. */
struct columns {
    const struct report_cell **cells;
    size_t count;
    double most_ns; /* of any structure in any of them */
};

/* A structure, by its largest stall in any column. */
struct line {
    const char *name;
    double most_ns, share;
};

static int by_stall(const void *a, const void *b)
{
    const struct line *one = a, *other = b;
    if (one->most_ns != other->most_ns)
        return one->most_ns > other->most_ns ? -1 : 1;
    return strcmp(one->name, other->name);
}

static void line_raise(struct line *lines, size_t *count, const char *name, double ns, double share)
{
    size_t i = 0;
    while (i < *count && strcmp(lines[i].name, name) != 0)
        i++;
    if (i == *count)
        lines[(*count)++] = (struct line){.name = name};
    lines[i].most_ns = fmax(lines[i].most_ns, ns);
    lines[i].share = fmax(lines[i].share, share);
}

static size_t lines_find(const struct report *report, struct columns *columns, struct line **lines)
{
    const struct tsv *tsv = &report->extra.structures;
    size_t count = 0;
    *lines = xcalloc(tsv->rows + 1, sizeof **lines);
    for (size_t row = 1; row < tsv->rows; row++)
        for (size_t k = 0; k < columns->count; k++) {
            const char *name = tsv_text(tsv, row, "structure");
            double ns = tsv_number(tsv, row, "stall_ns");
            if (!name || !row_is_of(tsv, row, columns->cells[k]))
                continue;
            line_raise(*lines, &count, name, ns, tsv_number(tsv, row, "share"));
            columns->most_ns = fmax(columns->most_ns, ns);
        }
    qsort(*lines, count, sizeof **lines, by_stall);
    return count;
}

/* The more, the darker; the root, because structures differ by orders of size. */
static void stall_cell(FILE *to, double ns, double share, double most_ns)
{
    if (!isfinite(ns)) {
        html_put(to, "<td class='number'>-</td>");
        return;
    }
    double shade = most_ns > 0 ? 0.6 * sqrt(ns / most_ns) : 0;
    if (shade < 0.02) /* is not seen */
        html_put(to, "<td class='number'>%s (%.0f %%)</td>", text_count(ns).s, 100 * share);
    else
        html_put(to, "<td class='number' style='background:rgba(213,94,0,%.2f)'>%s (%.0f %%)</td>",
                 shade, text_count(ns).s, 100 * share);
}

static void table_write(FILE *to, const struct report *report, struct columns *columns)
{
    struct line *lines;
    char label[512];
    size_t count = lines_find(report, columns, &lines);
    if (count > 0) {
        snprintf(label, sizeof label, "%.300s, workers: %d; ns of stall per operation, and share",
                 columns->cells[0]->workload, columns->cells[0]->workers);
        html_table_open(to, label, "numbers");
        html_put(to, "<thead><tr><th scope='col'>structure</th>");
        for (size_t k = 0; k < columns->count; k++)
            html_th_number(to, columns->cells[k]->variant);
        html_put(to, "</tr></thead><tbody>");
    }
    for (size_t i = 0; i < count; i++) {
        if (lines[i].share < SHARE_MIN)
            continue;
        html_put(to, "<tr><th scope='row'>%s</th>", lines[i].name);
        for (size_t k = 0; k < columns->count; k++) {
            double share, ns = stall_ns(report, columns->cells[k], lines[i].name, &share);
            stall_cell(to, ns, share, columns->most_ns);
        }
        html_put(to, "</tr>");
    }
    if (count > 0)
        html_table_end(to);
    free(lines);
}

void report_misses_write(FILE *to, const struct report *report, const struct report_group *group)
{
    if (!tsv_has(&report->extra.structures, "group", group->id))
        return;
    html_put(to,
             "<details class='print'><summary>Where the misses are</summary><p class='note'>What "
             "accesses cost that L1 could not serve alone, by the structure that was accessed: "
             "misses, and upgrades of lines that others had too. The darker, the more. Structures "
             "with less than 1 %% in each column are left out. `schedlab list sim:MODEL` says what "
             "each is; `schedlab run --why` shows the lines of the source.</p>");
    struct report_span span = {0};
    while (report_next_workload(group, &span)) {
        struct columns columns = {xcalloc(span.end - span.first, sizeof *columns.cells), 0, 0};
        int workers = report_workers_max(group, span.workload);
        for (size_t i = span.first; i < span.end; i++)
            if (group->cells[i].workers == workers && report_cell_ok(&group->cells[i]))
                columns.cells[columns.count++] = &group->cells[i];
        if (columns.count > 0)
            table_write(to, report, &columns);
        free(columns.cells);
    }
    html_put(to, "</details>");
}
