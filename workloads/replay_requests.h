/* replay_requests.h - where the time of a replayed program's requests went, at quantiles of their
 * latencies. Callers: replay.c.
 *
 * A request's goroutine that waits for another one is followed there: what that one does until it
 * wakes is the request's time. If it was busy when the request woke it, the request was behind its
 * last one.
 */
#ifndef SCHEDLAB_REPLAY_REQUESTS_H
#define SCHEDLAB_REPLAY_REQUESTS_H

#include "program.h"

#include <stdint.h>
#include <stdio.h>

/* One copy of the program after it ran. Times are those of go_now(). */
struct replay_run {
    const struct program *program;
    const int64_t *ends_ns;                                 /* of each step */
    int64_t (*due_ns)(const void *of, int64_t ns);          /* of a `poll at` */
    int64_t (*woken_ns)(const void *of, uint32_t wait);     /* of a wait */
    int64_t (*made_ns)(const void *of, uint32_t goroutine); /* when it was started */
    const void *of;                                         /* their first argument */
};

/* Prints for p50 and p99 the mean of the hundredth part of all requests whose latencies are nearest
 * in rank; without requests, of the lives of goroutines. */
void replay_requests_print(const struct replay_run *run, FILE *to);

#endif
