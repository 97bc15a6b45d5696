/* why_event.h - what a ratio of events means for one operation.
 *
 * Callers: verdict.c, of events whose structures no machine tells (why_structures.h).
 */
#ifndef SCHEDLAB_WHY_EVENT_H
#define SCHEDLAB_WHY_EVENT_H

#include "harness/evidence/metric.h"

#include <jansson.h>

/* "15.3 an operation against 1.08 an operation: times the global queue's lock was taken; with 310
 * ns more processor time an operation", to be freed. Medians over the samples that are ok, of the
 * second cell first. A count below a tenth is told as one in so many operations. A peak is of the
 * whole sample. NULL if a cell has no such number, or the workload found it: there the ratio says
 * all. */
char *why_event_of(const struct metric *metric, const json_t *less, const json_t *more);

#endif
