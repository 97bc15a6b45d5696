/* micro_clock.h - the time of a section of code that is not much longer than a look at the clock.
 *
 * Callers: micro.c, for MICRO_TIMED. The two readings around a section add time of their own. Part
 * of it is the end of the first reading, the rest the beginning of the second. Together they are as
 * long as the time between two readings in a row, which is measured and taken off:
 *
 *     time = sum over sections (end - begin) - sections * cost
 */
#ifndef SCHEDLAB_MICRO_CLOCK_H
#define SCHEDLAB_MICRO_CLOCK_H

#include <stdint.h>

/* ns from one reading of the clock to the next, if nothing is between them: the median over runs of
 * readings, each long enough for a clock with coarse steps. Takes 1 ms, or 10 ms for a clock that
 * is read by a call of the kernel. Any thread. */
double micro_clock_cost_ns(int64_t (*now)(void));

/* The time of so many sections, in ns; at least 1, since no section takes no time, even if the
 * clock cannot show it. */
double micro_clock_net_ns(int64_t ns, uint64_t sections, double cost_ns);

#endif
