/* metric.h - one number of a sample, by the name that users write.
 *
 * Callers: compare.c and its commands, run_table.c, expectations of sweeps and experiments.
 *
 *   throughput     operations a second                                          more is better
 *   p50 .. p99.9   a quantile of the latencies, by its percentage; max          less is better
 *   victims, ...   what the workload found out itself; lower case    neither: more or less is shown
 *   EVENT          what was counted per operation, or a peak; the prefix of the program's own
 *                  events may be left out                          neither: more or less is shown
 */
#ifndef SCHEDLAB_METRIC_H
#define SCHEDLAB_METRIC_H

#include "harness/base/error.h"
#include "harness/numbers/units.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define METRIC_NAMES                                                                               \
    "throughput, p50, p99 or another percentage, max, what the workload finds, or the name of an " \
    "event"

enum metric_kind { METRIC_THROUGHPUT, METRIC_LATENCY, METRIC_EVENT };

/* {0}: throughput. */
struct metric {
    enum metric_kind kind;
    double quantile;  /* of the latencies, 0 to 1 */
    const char *name; /* as written; NULL: throughput */
};

/* Parses a name, which must outlive *metric. Any name that is no other metric is that of an event.
 * False and one line in error if it is a percentage out of range. */
bool metric_parse(struct metric *metric, const char *name, struct error *error);

/* True if the name is that of a workload's finding, and of no event. */
bool metric_is_finding(const char *name);

/* False and one line in error, with the nearest event, if none of the records has such a number. */
bool metric_is_known(const struct metric *metric, const json_t *records, struct error *error);

const char *metric_name(const struct metric *metric);

/* The number of a sample that is ok; NAN if it has none. */
double metric_of(const struct metric *metric, const json_t *record);

/* The number that a text says, "84 us" or "1000000 /s", in ns or operations a second. False if it
 * is none, or in no unit of that kind. */
bool metric_value_parse(enum metric_kind kind, const char *text, double *value);

/* A number of that kind, for people. */
struct text metric_text(enum metric_kind kind, double number);

/* "operations a second", "p99 of the latencies", "STEALS per operation" */
void metric_describe(const struct metric *metric, char *text, size_t size);

#endif
