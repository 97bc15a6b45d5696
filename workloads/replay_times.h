/* replay_times.h - where the time of a replayed program's goroutines went. Callers: replay.c. */
#ifndef SCHEDLAB_REPLAY_TIMES_H
#define SCHEDLAB_REPLAY_TIMES_H

#include "program.h"

#include <stdint.h>
#include <stdio.h>

enum replay_time {
    TIME_COMPUTING, /* also while it was preempted */
    TIME_RUNNABLE,  /* from a start or a wake until it ran */
    TIME_LOCK,
    TIME_ASLEEP,
    TIME_CALL,
    TIME_OUTSIDE, /* until something came from outside of the program */
    TIME_WAITING, /* for others, until they woke it or sent it something */
    TIME_KINDS,
};

/* One goroutine's; a cache line, so that neighbours are not disturbed. */
struct replay_times {
    int64_t ns[TIME_KINDS];
    int64_t life_ns;
};
_Static_assert(sizeof(struct replay_times) == 64, "a cache line");

/* The part of a life that a step of that kind is. */
enum replay_time replay_time_of(enum program_kind kind);

/* A row for each function, the longest in all first, with shares of its goroutines' lives; for a
 * function of many goroutines also one of those that lived longest. times: of all copies. */
void replay_times_print(const struct program *program, const struct replay_times *times,
                        size_t count, FILE *to);

#endif
