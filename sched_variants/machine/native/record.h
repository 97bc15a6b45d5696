/* record.h - what schedulers say they do, machine_event(), as real threads record it.
 *
 * Only in programs built with SCHEDLAB_TRACE (CONFIG=trace, and tsan, so that it is checked):
 * elsewhere machine_event() is nothing, and measured programs pay nothing.
 *
 * Each thread writes into chunks of its own; chunks come from the kernel, up to a bound that all
 * threads share. A thread that gets none drops its further events. From the first drop on no event
 * of any thread counts, so that the record has no holes.
 */
#ifndef SCHEDLAB_NATIVE_RECORD_H
#define SCHEDLAB_NATIVE_RECORD_H

#include <stddef.h>
#include <stdint.h>

struct native_event {
    int64_t when_ns; /* machine_now() */
    int64_t g;       /* this and those below as machine_event() got them */
    int32_t m, p, a, b;
    uint64_t number; /* of its thread's */
    uint32_t thread; /* in order of their first events */
    uint8_t kind, core;
};

/* Keep the first `most` events from now on, about: each thread may keep some dozens more. Before
 * any other thread is started; once in the life of the process. */
void native_events_keep(size_t most);

/* The events kept, in order of time, those of one time by thread; the caller frees them. *happened:
 * the number of all since native_events_keep(). Pre: the threads that wrote them have ended, or do
 * nothing. */
struct native_event *native_events_take(size_t *count, uint64_t *happened);

#endif
