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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of what is recorded beside events, of which `g` and the two numbers of `note` are told. */
enum {
    NATIVE_NOTES = 253,
    NATIVE_CALL = NATIVE_NOTES, /* g: as its caller says */
    NATIVE_REQUEST,             /* machine_request(): kind; due_ns, end_ns */
    NATIVE_LOCK_NAME            /* machine_lock_name(): 0; the lock, the name */
};

struct native_event {
    int64_t when_ns; /* machine_now() */
    int64_t g;       /* this and those below as machine_event() got them */
    union {
        struct {
            int32_t m, p, a, b;
        };
        int64_t note[2];
    };
    int64_t about;   /* as native_events_ask() was told; 0: nobody asked */
    uint64_t number; /* of its thread's */
    uint32_t thread; /* in order of their first events */
    uint8_t kind, core;
};

/* Keep the first `most` events from now on, about: each thread may keep some dozens more. Before
 * any other thread is started; once in the life of the process. */
void native_events_keep(size_t most);

/* about() says more of what is recorded from now on, by a number of the caller's. It runs on the
 * thread that records, on any stack. Before any other thread. */
void native_events_ask(int64_t (*about)(unsigned kind));

/* Records something of the calling thread's beside its events. */
void native_note(unsigned kind, int64_t g, int64_t first, int64_t second);

/* The events and notes kept, in order of time, those of one time by thread; the caller frees them.
 * *happened: the number of all events since native_events_keep(). *is_cut: not all were kept. Pre:
 * the threads that wrote them have ended, or do nothing. */
struct native_event *native_events_take(size_t *count, uint64_t *happened, bool *is_cut);

#endif
