/* monotonic.h - the clock that is never set.
 *
 * Callers: files that time or await something other than a sample on the host: sweep_*.c,
 * cmd_run_cell.c, sample_pool.c, process.c, progress.c.
 */
#ifndef SCHEDLAB_MONOTONIC_H
#define SCHEDLAB_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline double monotonic_seconds(void)
{
    return (double)monotonic_ns() * 1e-9;
}

#endif
