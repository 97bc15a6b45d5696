/* why_latency.h - which part of a request takes longer in one cell than in another one.
 *
 * Callers: run_answer.c, report_reason.c and verdict.c. Simulated machines, and programs that are
 * replayed, tell the parts of requests at two quantiles (request_table.h). Elsewhere counts per
 * operation that differ stand for them (why_counts.h).
 */
#ifndef SCHEDLAB_WHY_LATENCY_H
#define SCHEDLAB_WHY_LATENCY_H

#include <jansson.h>

/* "88.6 us longer at p99: 86.1 us runnable, 15.2 us in a call, less 12.7 us running", to be freed.
 * The largest parts are named up to nine tenths of what is longer, and of what is shorter, three at
 * most of each. Up to the median the parts are those at p50, above it those at p99; of any other
 * quantile the sentence says at which one they are. Where they are not known, it says which counts
 * differ; where requests are no longer there, both. NULL if records tell nothing of either cell. */
char *why_latency_of(double quantile, const json_t *shorter, const json_t *longer);

#endif
