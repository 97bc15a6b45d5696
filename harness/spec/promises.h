/* promises.h - what a variant promises to the goroutines of a workload, as its knobs are set.
 *
 * Callers: sample.c and the conformance suite, before they run a workload. No library but C's.
 */
#ifndef SCHEDLAB_PROMISES_H
#define SCHEDLAB_PROMISES_H

#include "workloads/workload.h"

struct sched_ops;

/* knobs: filled from ops->knobs; NULL where that is NULL. A variant that is another program
 * promises all. */
struct promises promises_of(const struct sched_ops *ops, void *knobs);

/* NULL, or why run() cannot be done with what is promised: the rest of a sentence, in static
 * storage. */
const char *promises_misfit(const struct promises *promises, const struct workload *workload,
                            const void *params);

#endif
