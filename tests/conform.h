/* conform.h - what the files of the conformance suite share. */
#ifndef SCHEDLAB_TESTS_CONFORM_H
#define SCHEDLAB_TESTS_CONFORM_H

#include "sched.h"

#include <stdint.h>

/* One variant at one number of workers. */
struct conform_cell {
    const struct sched_ops *ops;
    int workers;
    uint64_t seed;
    int scale; /* counts are multiples of it: 1 where they must be small, else 4 */
};

/* A case that runs as the main goroutine, arg is the struct conform_cell, and passes if it returns.
 * settings, one "key=value", are of those variants that have such a knob, and the case runs under
 * these; NULL: the defaults, and all variants. */
struct conform_case {
    const char *name;
    void (*fn)(void *arg);
    const char *settings;
};

/* Ended by a NULL name. */
extern const struct conform_case conform_goroutine_cases[]; /* conform_goroutines.c */
extern const struct conform_case conform_mixed_cases[];     /* conform_mixed.c */

#endif
