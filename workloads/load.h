/* load.h - says that a workload with a rate could not serve what was asked of it.
 *
 * Callers: arrivals, echo, replay, timers and wakers, in print(). Requests that come faster than
 * they are served wait in a queue that grows: latencies say how long the run was.
 */
#ifndef SCHEDLAB_LOAD_H
#define SCHEDLAB_LOAD_H

#include <stdint.h>
#include <stdio.h>

#define LOAD_MET 0.9 /* a load of which less is served is said not to be met */

/* rate: a second. due_ns: when the last request was due; end_ns: when the last one was served; both
 * from the start. harness/evidence/cell_remarks.c reads the line. */
static inline void load_print(FILE *to, double rate, int64_t due_ns, int64_t end_ns,
                              const char *what)
{
    double met = end_ns > due_ns ? (double)due_ns / (double)end_ns : 1;
    int digits = rate < 10 ? 3 : 0; /* fewer than one a second are some, too */
    if (met < LOAD_MET)
        fprintf(to, "load not met: %.*f of %.*f %s/s\n", digits, met * rate, digits, rate, what);
}

#endif
