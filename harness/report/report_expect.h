/* report_expect.h - compares a run with numbers measured elsewhere: the key `expect` of its sweep
 * file (sweep_file.h).
 *
 * Callers: report_page.c and report_json.c.
 */
#ifndef SCHEDLAB_REPORT_EXPECT_H
#define SCHEDLAB_REPORT_EXPECT_H

#include "harness/answers/report_data.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum expect_outcome {
    EXPECT_AGREES,      /* at most the given factor apart */
    EXPECT_DIFFERS,     /* more */
    EXPECT_NOT_MEASURED /* there is no number here */
};

struct expect_verdict {
    enum expect_outcome outcome;
    double times; /* the number measured here over the expected one; NAN: nothing measured */
};

/* Judges a median: NAN if there is none. pre: expected > 0, within >= 1. */
struct expect_verdict expect_judge(double measured, double expected, double within);

/* The cell's number that the expectation is about; NAN in all if it has none. A count has no
 * interval. */
struct interval expect_measured(const struct report_cell *cell, const struct sweep_expect *expect);

/* True if the run's sweep expects anything. */
bool report_expect_any(const struct report *report);

/* Writes the section of the page; nothing if nothing is expected. */
void report_expect_write(FILE *to, const struct report *report);

/* [{group, variant, workload, workers, metric, expected, within, source, outcome: "agrees",
 * "differs" or "not measured", measured, lo, hi, times, reason, peers: [{variant, measured,
 * times, outcome, over: {times, outcome}}]}], in the order of the sweep file; times in ns. measured
 * and times are there if there is a number, lo and hi if it has an interval, reason if the cell
 * failed or was skipped. peers: other runtimes in the same group, on the same workload and workers;
 * over: measured over theirs, judged by the same factor. */
json_t *report_expect_to_json(const struct report *report);

#endif
