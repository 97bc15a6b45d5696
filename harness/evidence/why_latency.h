/* why_latency.h - which part of a request takes longer in one cell than in another one.
 *
 * Callers: run_answer.c, report_reason.c and verdict.c. Simulated machines, and programs that are
 * replayed, tell the parts of requests at two quantiles (request_table.h). Elsewhere counts per
 * operation that differ stand for them (why_counts.h).
 */
#ifndef SCHEDLAB_WHY_LATENCY_H
#define SCHEDLAB_WHY_LATENCY_H

#include <jansson.h>

/* "88.6 us longer at p99: 86.1 us runnable, 2.9 us in a call", to be freed: the largest parts up to
 * nine tenths of it, three at most. Up to the median the parts are those at p50, above it those at
 * p99. Where these are not known, or are no longer, the sentence says so, and which counts differ.
 * NULL if records tell nothing of either cell. */
char *why_latency_of(double quantile, const json_t *shorter, const json_t *longer);

#endif
