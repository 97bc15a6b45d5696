/* report_remarks.c - see report_remarks.h. */
#include "harness/report/report_remarks.h"

#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/doc/doc.h"
#include "harness/evidence/cell_remarks.h"
#include "harness/evidence/comparable.h"
#include "harness/records/records.h"
#include "harness/sample/warmup.h"

#include <string.h>

enum { REMARKS_MAX = 5, REMARK_LINE = 2048 };

static void cut_short_write(FILE *to, const struct report *report)
{
    size_t cut = 0, all = 0;
    json_each(record, report->records) {
        all += record_is(record, "ok");
        cut += record_is(record, "ok") && json_object_get(record, "short_ns");
    }
    if (cut == 0)
        return;
    html_put(to,
             "<p class='problem'>%zu of %zu samples ended before their calls took the time that "
             "was asked for, because these are very short: their numbers are of less work than the "
             "others'.</p>",
             cut, all);
}

/* The record's number of cores where there are fewer than workers, else 0. */
static size_t crowded_cores(const json_t *record)
{
    const json_t *cores = json_object_get(json_object_get(record, "probe"), "cores");
    size_t count = json_array_size(cores);
    return record_is(record, "ok") && (json_int_t)count < field_integer(record, "workers") ? count
                                                                                           : 0;
}

static void crowded_write(FILE *to, const struct report *report)
{
    size_t crowded = 0, cores = 0;
    json_int_t workers = 0;
    json_each(record, report->records) {
        if (crowded_cores(record) == 0)
            continue;
        crowded++;
        if (field_integer(record, "workers") > workers) {
            workers = field_integer(record, "workers");
            cores = crowded_cores(record);
        }
    }
    if (crowded == 0)
        return;
    html_put(to,
             "<p class='problem'>%zu samples had more workers than cores, up to %lld on %zu: "
             "workers took turns, and the numbers are of that too.</p>",
             crowded, (long long)workers, cores);
}

struct share {
    size_t some, all;
};

/* How many of the samples that are ok are such. */
static struct share share_of(const struct report *report, bool (*is_such)(const json_t *record))
{
    struct share share = {0, 0};
    json_each(record, report->records) {
        if (!record_is(record, "ok"))
            continue;
        share.all++;
        share.some += is_such(record);
    }
    return share;
}

static bool is_unsettled(const json_t *record)
{
    return strcmp(field_text(record, "warmup_rule"), WARMUP_LIMIT) == 0;
}

static void unsettled_write(FILE *to, const struct report *report)
{
    struct share unsettled = share_of(report, is_unsettled);
    if (unsettled.some == 0)
        return;
    html_put(
        to,
        "<p class='problem'>The warm-up of %zu of %zu samples ended at its limit: until then their "
        "calls had not settled, or were too few to tell. Cell by cell has each cell's.</p>",
        unsettled.some, unsettled.all);
}

typedef bool remark_of(const json_t *records, char text[CELL_REMARK_SIZE]);

/* "gmp calls on 2 workers: " and the remark on the cell. */
static bool remark_on(const struct report *report, const struct report_cell *cell,
                      remark_of *remark, char text[REMARK_LINE])
{
    char what[CELL_REMARK_SIZE];
    if (!cell->is_first || !remark(json_object_get(report->by_cell, cell->id), what))
        return false;
    snprintf(text, REMARK_LINE, "%s %s on %s: %s", cell->variant, cell->workload,
             counted((uint64_t)cell->workers, "worker").s, what);
    return true;
}

/* A paragraph that begins with `why`, and the first remarks; nothing if there are none. */
static void remarks_write(FILE *to, const struct report *report, remark_of *remark, const char *why)
{
    char text[REMARK_LINE];
    size_t found = 0;
    for (size_t i = 0; i < report->cells_count; i++) {
        if (!remark_on(report, &report->cells[i], remark, text) || found++ >= REMARKS_MAX)
            continue;
        html_put(to, found == 1 ? "<p class='problem'>%s%s. " : "%s%s. ", found == 1 ? why : "",
                 text);
    }
    if (found > REMARKS_MAX)
        html_put(to, "The same of %zu more cells.", found - REMARKS_MAX);
    if (found > 0)
        html_put(to, "</p>");
}

void report_remarks_print(FILE *to, const struct report *report)
{
    static remark_of *const remarks[] = {cell_remark_load, cell_remark_sysmon, cell_remark_regimes,
                                         cell_remark_wasted};
    char text[REMARK_LINE];
    for (size_t r = 0; r < sizeof remarks / sizeof remarks[0]; r++) {
        size_t found = 0;
        for (size_t i = 0; i < report->cells_count; i++)
            if (remark_on(report, &report->cells[i], remarks[r], text) && found++ < REMARKS_MAX)
                fprintf(to, "schedlab report: %s\n", text);
        if (found > REMARKS_MAX)
            fprintf(to, "schedlab report: the same of %zu more cells\n", found - REMARKS_MAX);
    }
}

static void steal_write(FILE *to, const struct report *report)
{
    struct share unknown = share_of(report, comparable_steal_is_unknown);
    if (unknown.some == 0)
        return;
    html_put(to,
             "<p class='problem'>Steal is not known of %zu of %zu samples: the hypervisor does not "
             "tell what it takes, so none of these is marked for it.</p>",
             unknown.some, unknown.all);
}

void report_remarks_write(FILE *to, const struct report *report)
{
    cut_short_write(to, report);
    crowded_write(to, report);
    unsettled_write(to, report);
    remarks_write(
        to, report, cell_remark_load,
        "Requests came faster than they were served, so that latencies are of a queue that "
        "grows. ");
    remarks_write(to, report, cell_remark_sysmon,
                  "Samples of one cell are of two kinds, by how often sysmon looked. ");
    remarks_write(to, report, cell_remark_regimes,
                  "Samples of one cell lie in two groups with nothing between them. ");
    remarks_write(to, report, cell_remark_wasted, "Some schedulers left cores idle beside work. ");
    steal_write(to, report);
}
