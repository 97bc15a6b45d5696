/* call_times.h - the times of a sample's timed calls, in a list that does not grow with their
 * number.
 *
 * Callers: sample.c, and peers by peer.h, so it is C++ too and knows nothing of the harness.
 *
 * An entry stands for one call at first. When the list is full, each two neighbours become one
 * entry, and from then on an entry takes twice as many calls:
 *
 *   calls made = sum of entry[i].calls       entry[i].calls == each, but for the last, which may be
 *                                            on its way there
 */
#ifndef SCHEDLAB_CALL_TIMES_H
#define SCHEDLAB_CALL_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct call_time {
    int64_t time_ns;
    uint64_t ops, calls;
};

struct call_times {
    struct call_time *entry;
    size_t max, count;
    uint64_t each;
    int64_t time_ns;     /* of all calls */
    uint64_t ops, calls; /* likewise */
};

/* For max entries at most. False if there is no memory. pre: max >= 2. */
static inline bool call_times_begin(struct call_times *times, size_t max)
{
    times->entry = (struct call_time *)calloc(max, sizeof *times->entry);
    times->max = max;
    times->count = 0;
    times->each = 1;
    times->time_ns = 0;
    times->ops = times->calls = 0;
    return times->entry != NULL;
}

static inline void call_times_end(struct call_times *times)
{
    free(times->entry);
    times->entry = NULL;
}

/* If the number is odd, the last entry stays by itself, and is half full then. */
static inline void call_times_fold(struct call_times *times)
{
    size_t folded = 0;
    for (size_t i = 0; i < times->count; i += 2) {
        struct call_time one = times->entry[i];
        if (i + 1 < times->count) {
            one.time_ns += times->entry[i + 1].time_ns;
            one.ops += times->entry[i + 1].ops;
            one.calls += times->entry[i + 1].calls;
        }
        times->entry[folded++] = one;
    }
    times->count = folded;
    times->each *= 2;
}

static inline bool call_times_last_is_full(const struct call_times *times)
{
    return times->count == 0 || times->entry[times->count - 1].calls >= times->each;
}

/* One more call. */
static inline void call_times_add(struct call_times *times, int64_t time_ns, uint64_t ops)
{
    if (times->count == times->max && call_times_last_is_full(times))
        call_times_fold(times);
    if (call_times_last_is_full(times)) {
        struct call_time none = {0, 0, 0};
        times->entry[times->count++] = none;
    }
    struct call_time *last = &times->entry[times->count - 1];
    last->time_ns += time_ns;
    last->ops += ops;
    last->calls++;
    times->time_ns += time_ns;
    times->ops += ops;
    times->calls++;
}

#endif
