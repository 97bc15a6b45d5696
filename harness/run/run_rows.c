/* run_rows.c - see run_rows.h. */
#include "harness/run/run_rows.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/evidence/comparable.h"
#include "harness/evidence/robbed.h"
#include "harness/numbers/units.h"
#include "harness/options/cli.h"
#include "harness/records/records.h"

#include <math.h>
#include <stdlib.h>

static const struct metric throughput = {.kind = METRIC_THROUGHPUT};

/* Records ------------------------------------------------------------------------------------- */

const json_t *run_row_first(const struct run_row *row, const char *status)
{
    json_each(record, row->records)
        if (record_is(record, status))
            return record;
    return NULL;
}

enum run_status run_row_status(const struct run_row *row)
{
    if (run_row_first(row, "failed"))
        return RUN_FAILED;
    return run_row_first(row, "ok") ? RUN_OK : RUN_SKIPPED;
}

const json_t *run_table_any_ok(const struct run_table *table)
{
    const json_t *record = NULL;
    for (size_t i = 0; i < table->count && !record; i++)
        record = run_row_first(&table->rows[i], "ok");
    return record;
}

json_t *run_table_records(const struct run_table *table)
{
    json_t *records = json_array();
    for (size_t i = 0; i < table->count; i++)
        json_array_extend(records, table->rows[i].records);
    return records;
}

int run_table_status(const struct run_table *table)
{
    bool any_ok = false, any_failed = false;
    for (size_t i = 0; i < table->count; i++) {
        enum run_status status = run_row_status(&table->rows[i]);
        any_ok = any_ok || status == RUN_OK;
        any_failed = any_failed || status == RUN_FAILED;
    }
    return any_ok && !any_failed ? EXIT_DONE : EXIT_FAILED;
}

/* Numbers ------------------------------------------------------------------------------------- */

static size_t marked_of(const struct run_row *row)
{
    size_t n = 0;
    json_each(record, row->records)
        n += comparable_is_marked(record);
    return n;
}

/* Are marked repetitions among the row's numbers? */
static bool marked_ones_count(const struct run_row *row)
{
    size_t marked = marked_of(row), others = json_array_size(row->records) - marked;
    return others < marked || others < STATISTICS_INTERVAL_MIN;
}

bool run_row_counts(const struct run_row *row, const json_t *record)
{
    return !comparable_is_marked(record) || marked_ones_count(row);
}

void run_row_add(struct run_row *row, json_t *record)
{
    size_t count = 0, all = json_array_size(row->records);
    double *cpu_share = xcalloc(all + 1, sizeof *cpu_share);
    double *preempted = xcalloc(all + 1, sizeof *preempted);
    json_each(earlier, row->records) {
        double share = field_number(earlier, "cpu_share");
        if (!record_is(earlier, "ok") || isnan(share))
            continue;
        cpu_share[count] = share;
        preempted[count++] = field_number(earlier, "preempted_per_s");
    }
    robbed_mark(record, cpu_share, preempted, count);
    json_array_append_new(row->records, record);
    free(cpu_share);
    free(preempted);
}

bool run_row_wants_repeat(const struct run_row *row, int reps)
{
    size_t all = json_array_size(row->records), marked = marked_of(row);
    return reps >= STATISTICS_INTERVAL_MIN && marked > 0 && all - marked < (size_t)reps &&
           all < 2 * (size_t)reps;
}

size_t run_row_values(const struct run_row *row, const struct metric *metric, double **x)
{
    size_t n = 0;
    bool marked_count = marked_ones_count(row);
    *x = xcalloc(json_array_size(row->records) + 1, sizeof **x);
    json_each(record, row->records) {
        double value = metric_of(metric, record);
        if (!isnan(value) && (marked_count || !comparable_is_marked(record)))
            (*x)[n++] = value;
    }
    return n;
}

double run_row_median(const struct run_row *row, const struct metric *metric)
{
    double *x;
    size_t n = run_row_values(row, metric, &x);
    double median = statistics_median_alone(x, n);
    free(x);
    return median;
}

const struct run_quantile run_quantiles[RUN_QUANTILES] = {{"p50", "p50_ns", 0.5},
                                                          {"p90", "p90_ns", 0.9},
                                                          {"p99", "p99_ns", 0.99},
                                                          {"p99.9", "p999_ns", 0.999},
                                                          {"max", "max_ns", 1}};

static struct metric quantile_metric(int which)
{
    return (struct metric){.kind = METRIC_LATENCY,
                           .quantile = run_quantiles[which].quantile,
                           .name = run_quantiles[which].name};
}

double run_row_latency_ns(const struct run_row *row, int which)
{
    struct metric metric = quantile_metric(which);
    return run_row_status(row) == RUN_OK ? run_row_median(row, &metric) : NAN;
}

struct metric run_table_latency(const struct run_table *table)
{
    enum { MIDDLE = 0, TAIL = 2 };
    for (int which = TAIL; run_table_any_ok(table) && which >= MIDDLE; which -= TAIL - MIDDLE) {
        bool all = true;
        for (size_t i = 0; i < table->count && all; i++)
            all = run_row_status(&table->rows[i]) != RUN_OK ||
                  !isnan(run_row_latency_ns(&table->rows[i], which));
        if (all)
            return quantile_metric(which);
    }
    return throughput;
}

/* Order --------------------------------------------------------------------------------------- */

/* Ascending. Numbers of rows without any are infinite. */
static int rows_compare(const void *a_void, const void *b_void)
{
    const struct run_row *a = a_void, *b = b_void;
    enum run_status status_a = run_row_status(a), status_b = run_row_status(b);
    if (status_a != status_b)
        return status_a < status_b ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

void run_table_sort(struct run_table *table)
{
    struct metric latency = run_table_latency(table);
    bool by_latency = table->is_paced && latency.kind == METRIC_LATENCY;
    for (size_t i = 0; i < table->count; i++) {
        struct run_row *row = &table->rows[i];
        double median = run_row_median(row, by_latency ? &latency : &throughput);
        row->order = table->is_shown ? (double)i
                     : isnan(median) ? INFINITY
                     : by_latency    ? median
                                     : -median;
    }
    size_t together = table->what_if ? 2 : 1; /* rows that stand below one another */
    qsort(table->rows, table->count / together, together * sizeof *table->rows, rows_compare);
}

/* Changed machines ----------------------------------------------------------------------------- */

struct interval run_table_what_if_ratio(const struct run_table *table, size_t i)
{
    double *with, *without;
    struct interval ratio = {NAN, NAN, NAN, 0};
    size_t n = run_row_values(&table->rows[i + 1], &throughput, &with);
    size_t n_without = run_row_values(&table->rows[i], &throughput, &without);
    bool both =
        run_row_status(&table->rows[i]) == RUN_OK && run_row_status(&table->rows[i + 1]) == RUN_OK;
    if (both && n == n_without)
        ratio = statistics_paired_ratio(with, without, n, table->seed);
    free(with);
    free(without);
    return ratio;
}

json_t *run_table_what_if(const struct run_table *table)
{
    json_t *array = json_array();
    for (size_t i = 0; table->what_if && i + 1 < table->count; i += 2) {
        struct interval ratio = run_table_what_if_ratio(table, i);
        if (isnan(ratio.median))
            continue;
        json_t *line = json_pack("{ss ss sf}", "variant", table->rows[i].variant, "what_if",
                                 table->what_if, "ratio", ratio.median);
        interval_into_json(line, ratio);
        json_array_append_new(array, line);
    }
    return array;
}

/* JSON ---------------------------------------------------------------------------------------- */

static json_t *latencies_to_json(const struct run_row *row)
{
    json_t *object = json_object();
    for (int q = 0; q < RUN_QUANTILES; q++) {
        double ns = run_row_latency_ns(row, q);
        json_object_set_new(object, run_quantiles[q].key,
                            isnan(ns) ? json_pack("{ss}", "absent", "too few latencies lie beyond")
                                      : json_real(ns));
    }
    return object;
}

static json_t *row_to_json(const struct run_table *table, const struct run_row *row)
{
    static const char *const names[] = {
        [RUN_OK] = "ok", [RUN_FAILED] = "failed", [RUN_SKIPPED] = "skipped"};
    double *x;
    enum run_status status = run_row_status(row);
    size_t n = run_row_values(row, &throughput, &x);
    struct interval interval = statistics_median(x, n, table->seed);
    free(x);
    json_t *line =
        json_pack("{ss ss si ss sI}", "variant", row->variant, "workload", table->workload,
                  "workers", table->workers, "status", names[status], "n", (json_int_t)interval.n);
    if (row->machine)
        json_object_set_new(line, "machine", json_string(row->machine));
    if (status != RUN_OK)
        return line;
    json_object_set_new(line, "median", json_real(interval.median));
    interval_into_json(line, interval);
    if (json_object_get(run_row_first(row, "ok"), "latency"))
        json_object_set_new(line, "latency", latencies_to_json(row));
    return line;
}

json_t *run_table_summary(const struct run_table *table)
{
    json_t *array = json_array();
    for (size_t i = 0; i < table->count; i++)
        json_array_append_new(array, row_to_json(table, &table->rows[i]));
    return array;
}
