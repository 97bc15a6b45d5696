/* why_counts.h - what one cell took and counted that another one did not, on real threads.
 *
 * Callers: why_win.c, for samples that no simulated machine explains; why_latency.c, where no part
 * of a request is known; experiment_sweep.c, which has the counts counted. Real threads tell the
 * time of the cores, the processor time in it, for how long workers had a goroutine (BUSY_NS), and
 * what the scheduler counted. The text has two parts. How the difference in time splits into time
 * with a goroutine, in search of one and without a thread adds up. The counts that are likely to
 * have made it are a hint: a count is named if it may have made a tenth of the difference, by the
 * order of size of its price. A wake-up costs microseconds, a visit to a shared line a hundred
 * nanoseconds, what an M does alone ten. Where none may have, the text says so, and names counts of
 * which one cell has twice as many. Where none of them was taken, it has the first part alone.
 */
#ifndef SCHEDLAB_WHY_COUNTS_H
#define SCHEDLAB_WHY_COUNTS_H

#include <jansson.h>
#include <stddef.h>

/* "107 ns more core time an operation: 95 ns with a goroutine, 12 ns without a thread; counted
 * GRQ_LOCKS 2.01 against 0, WAKEUPS 0.310 against 0.002", of native samples of as many workers, the
 * slower one's counts first. Means over the samples that are ok. To be freed. NULL if the second
 * cell took no more time, or records do not tell. Not meant for paced loads. */
char *why_counts_of(const json_t *faster, const json_t *slower);

/* "an operation has PREEMPTS 1.02 against 0", or "no counter differs": the counts of which one cell
 * has twice as many, of the second cell first. To be freed. NULL if records do not tell, or if no
 * counts were taken. */
char *why_counts_differ(const json_t *less, const json_t *more);

/* The i-th of the counts that the texts may name; NULL behind the last one. */
const char *why_counts_event(size_t i);

#endif
