/* run_rows.h - what `schedlab run` has measured: a row of repetitions per variant, and its numbers.
 *
 * Callers: cmd_run.c fills the rows; run_table.c, run_events.c, run_answer.c and why_table.c read
 * them.
 */
#ifndef SCHEDLAB_RUN_ROWS_H
#define SCHEDLAB_RUN_ROWS_H

#include "harness/evidence/metric.h"
#include "harness/host/allocator.h"
#include "harness/numbers/statistics.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RUN_COLUMNS = 80 };

/* All records of one variant: its repetitions, in order. */
struct run_row {
    const char *variant, *machine; /* specifications; machine NULL: that of all */
    const char *label;             /* in tables */
    enum allocator allocator;      /* that the variant asks for */
    json_t *records;               /* array */
    double order;                  /* of run_table_sort() */
};

enum run_events {
    RUN_EVENTS_TELLING, /* three, see run_events.h */
    RUN_EVENTS_NAMED,   /* those asked for by name */
    RUN_EVENTS_ALL,
};

struct run_table {
    const char *workload, *op;
    const char *machine; /* NULL: native */
    int workers;
    int reps; /* asked for; a row may have more, where some were disturbed */
    struct run_row *rows;
    size_t count;
    const char *what_if; /* settings of the machine; row i + 1 has them, row i has not, i even;
                          * NULL: rows stand alone */
    uint64_t seed;       /* of the bootstrap */
    enum run_events events;
    bool is_paced; /* latencies tell its rows apart, throughputs do not */
    bool is_shown; /* its result is what the workload prints, no number */
    bool colour;
};

enum run_status { RUN_OK, RUN_FAILED, RUN_SKIPPED };

/* Failed if one repetition did: a scheduler that is wrong once in a while has no speed. */
enum run_status run_row_status(const struct run_row *row);

/* The first record of that status; NULL if there is none. */
const json_t *run_row_first(const struct run_row *row, const char *status);

/* True if the record counts among the row's numbers. Marked ones do not, where there are at least
 * as many others, and enough for an interval. */
bool run_row_counts(const struct run_row *row, const json_t *record);

/* Adds a record to the row, marked if other programs robbed it (robbed.h). Takes it. */
void run_row_add(struct run_row *row, json_t *record);

/* True if marked repetitions are to be measured again: until there are `reps` others, and at most
 * `reps` times. False of fewer repetitions than an interval takes, which show nothing anyway. */
bool run_row_wants_repeat(const struct run_row *row, int reps);

/* The numbers of the repetitions that count and have one; *x is to be freed. Returns how many. */
size_t run_row_values(const struct run_row *row, const struct metric *metric, double **x);

/* Their median; NAN if there is none. */
double run_row_median(const struct run_row *row, const struct metric *metric);

/* The first repetition that is ok, of any row; NULL if there is none. */
const json_t *run_table_any_ok(const struct run_table *table);

/* The first of p99 and p50 of the latencies that all rows with numbers have; a metric of no name if
 * there is none. */
struct metric run_table_latency(const struct run_table *table);

enum { RUN_QUANTILES = 5 };

extern const struct run_quantile {
    const char *name, *key;
    double quantile;
} run_quantiles[RUN_QUANTILES];

/* The quantile of the latencies in ns; NAN if the row is not ok, or has none or too few for it. */
double run_row_latency_ns(const struct run_row *row, int which);

/* Puts the fastest row first, or the one with the shortest latencies if the workload is paced. Rows
 * that failed come behind all with numbers, skipped ones last. Rows of a workload whose result is
 * shown have no speed, and keep their order. */
void run_table_sort(struct run_table *table);

/* [{variant, workload, workers, status, n, median, lo, hi, latency: {p50_ns, p90_ns, p99_ns,
 * p999_ns, max_ns}, machine}]; median to latency only if ok, latency only where there are some:
 * medians over the repetitions, each {absent: why} if fewer than one latency lies beyond it;
 * machine only of a row that has its own. */
json_t *run_table_summary(const struct run_table *table);

/* The ratio of row i + 1 over row i, by repetition, as seeds are the same; NAN unless both rows are
 * ok in each. */
struct interval run_table_what_if_ratio(const struct run_table *table, size_t i);

/* [{variant, what_if, ratio, lo, hi}]: the rows' throughputs with those settings over those
 * without. Empty without what_if. */
json_t *run_table_what_if(const struct run_table *table);

/* All records in one array, which shares them with the rows. */
json_t *run_table_records(const struct run_table *table);

/* EXIT_DONE, which means some number and no failure: a variant skipped beside others is a result,
 * but whoever gets no number at all must not take it for one. Else EXIT_FAILED. */
int run_table_status(const struct run_table *table);

#endif
