/* process_cpu.h - how long the threads of this process have been on a core.
 *
 * Callers: sample.c around what it counts, micro.c around what it times.
 */
#ifndef SCHEDLAB_PROCESS_CPU_H
#define SCHEDLAB_PROCESS_CPU_H

#include <stdint.h>
#include <time.h>

/* CPU time of all threads together, ended ones included. */
static inline int64_t process_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
