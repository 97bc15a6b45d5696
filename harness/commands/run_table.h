/* run_table.h - what `schedlab run` shows people: tables of throughputs, of latencies where the
 * workload has them, and of events; notes.
 *
 * Callers: cmd_run.c, after all repetitions. Tables go to `to`, remarks on what is missing or
 * failed to `messages`, one line each.
 */
#ifndef SCHEDLAB_RUN_TABLE_H
#define SCHEDLAB_RUN_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* All records of one variant: its repetitions, in order. */
struct run_row {
    const char *variant, *machine; /* specifications; machine NULL: that of all */
    const char *label;             /* in tables */
    json_t *records;               /* array */
};

struct run_table {
    const char *workload, *op;
    const char *machine; /* NULL: native */
    int workers;
    struct run_row *rows;
    size_t count;
    const char *what_if; /* settings of the machine; row i + 1 has them, row i has not, i even;
                          * NULL: rows stand alone */
    uint64_t seed;       /* of the bootstrap */
    bool all_events;     /* those asked for by name; else a selection */
};

enum run_status { RUN_OK, RUN_FAILED, RUN_SKIPPED };

/* Failed if one repetition did: a scheduler that is wrong once in a while has no speed. */
enum run_status run_row_status(const struct run_row *row);

void run_table_print(const struct run_table *table, FILE *to, FILE *messages);

/* [{variant, workload, workers, status, n, median, lo, hi, latency: {p50_ns, p90_ns, p99_ns,
 * p999_ns, max_ns}, machine}]; median to latency only if ok, latency only where there are some:
 * medians over the repetitions, each {absent: why} if fewer than one latency lies beyond it;
 * machine only of a row that has its own. */
json_t *run_table_summary(const struct run_table *table);

/* [{variant, what_if, ratio, lo, hi}]: the rows' throughputs with those settings over those
 * without. Empty without what_if. */
json_t *run_table_what_if(const struct run_table *table);

/* All records in one array, which shares them with the rows. */
json_t *run_table_records(const struct run_table *table);

/* EXIT_DONE, which means some number and no failure: a variant skipped beside others is a result,
 * but whoever gets no number at all must not take it for one. Else EXIT_FAILED. */
int run_table_status(const struct run_table *table);

#endif
