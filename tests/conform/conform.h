/* conform.h - what the files of the conformance suite share. */
#ifndef SCHEDLAB_TESTS_CONFORM_H
#define SCHEDLAB_TESTS_CONFORM_H

#include "sched.h"

#include <stdbool.h>
#include <stdint.h>

/* One variant at one number of workers. */
struct conform_cell {
    const struct sched_ops *ops;
    int workers;
    const char *settings; /* one "key=value" that the whole cell runs under; NULL: the defaults */
    uint64_t seed;
    int scale; /* counts are multiples of it: 1 where they must be small, else 4 */
};

/* A case that runs as the main goroutine, arg is the struct conform_cell, and passes if it returns.
 * settings, "key=value,...", are of those variants that have the first knob, and the case runs
 * under these; NULL: the defaults, and all variants. steals: it ends only if fork/join work is
 * stolen, so it is not for one worker, nor for children that are goroutines.
 * alone: for one worker only. */
struct conform_case {
    const char *name;
    void (*fn)(void *arg);
    const char *settings;
    bool steals;
    bool alone;
};

#define CASE(fn_, ...)                                                                             \
    {                                                                                              \
        .name = #fn_, .fn = fn_, __VA_ARGS__                                                       \
    }

/* Ended by a NULL name. */
extern const struct conform_case conform_goroutine_cases[]; /* conform_goroutines.c */
extern const struct conform_case conform_thread_cases[];    /* conform_threads.c */
extern const struct conform_case conform_timer_cases[];     /* conform_timers.c */
extern const struct conform_case conform_select_cases[];    /* conform_select.c */
extern const struct conform_case conform_lock_cases[];      /* conform_locks.c */
extern const struct conform_case conform_io_cases[];        /* conform_io.c */
extern const struct conform_case conform_preempt_cases[];   /* conform_preempt.c */
/* conform_mixed.c, compiled once per fork/join policy */
extern const struct conform_case conform_mixed_cases_FJ_GO[], conform_mixed_cases_FJ_HELP[],
    conform_mixed_cases_FJ_WORK[], conform_mixed_cases_FJ_LINKED[];

#endif
