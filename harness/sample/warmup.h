/* warmup.h - when the untimed calls before the timed ones are enough.
 *
 * Callers: sample.c, on the goroutine that makes the calls.
 *
 * A fixed number of calls is a guess about caches, page tables, the allocator and the clock of the
 * core. With WARMUP_AUTO the calls themselves tell: they go on until at least the newest half of
 * their times holds one level (statistics_steady_tail()), or a limit is reached. There is a limit
 * of calls, and one of time, so that long calls do not make a sweep last for ever. The limit of
 * time is the least time of the timed calls, where one is asked for. It takes half of
 * WARMUP_CALLS_MIN to tell a level from noise.
 */
#ifndef SCHEDLAB_WARMUP_H
#define SCHEDLAB_WARMUP_H

#include "harness/records/sample_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WARMUP_CALLS_MIN = 12,
    WARMUP_CALLS_MAX = 200,
    WARMUP_TIME_MAX_NS = 2000000000, /* where no least time of the timed calls is given */
};

/* The rule of samples whose calls were not seen to settle. */
#define WARMUP_LIMIT "limit"

struct warmup {
    int wanted;                       /* calls, or WARMUP_AUTO */
    int64_t began_ns;                 /* on the clock of the caller */
    int64_t limit_ns;                 /* of wall time, checking the answers included */
    size_t count;                     /* calls so far */
    double call_ns[WARMUP_CALLS_MAX]; /* with WARMUP_AUTO */
    const char *rule;                 /* why it ended: "fixed", "change-point" or "limit" */
};

/* wanted: calls, or WARMUP_AUTO; timed_ns: how long the timed calls will last at least, or 0. */
void warmup_begin(struct warmup *warmup, int wanted, int64_t timed_ns, int64_t now_ns);

/* True if another call is to be made; if not, rule says why. */
bool warmup_wants_more(struct warmup *warmup, int64_t now_ns);

/* Adds one more call, and the time that it took. */
void warmup_add(struct warmup *warmup, double call_ns);

/* True if the newest half of the times, at least, holds one level. */
bool warmup_is_steady(const double *call_ns, size_t count);

#endif
