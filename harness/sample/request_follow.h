/* request_follow.h - follows goroutines by what their scheduler says they do, so that it is known
 * where the time of their requests went.
 *
 * Callers: request_log.c, which has events of simulated machines and of real threads.
 *
 * Events come in the order in which they happened, as far as is known. Cores of a simulated machine
 * run ahead of each other by the lookahead. Time stamps of real threads may be slightly out of
 * order. So:
 *   - no step of a goroutine begins before its last one did;
 *   - if a goroutine runs on before anybody is told to have woken it, its wait ended there; who is
 *     told later has woken it;
 *   - if a woken one runs on another M before it is told to park, it did not wait.
 */
#ifndef SCHEDLAB_REQUEST_FOLLOW_H
#define SCHEDLAB_REQUEST_FOLLOW_H

#include <stdint.h>

struct request_parts;

struct request_event {
    int64_t when_ps;
    int64_t g; /* this and those below: runtime/events.h */
    int32_t m, a;
    unsigned kind;
    const void *lock; /* SCHED_PARKED, for a lock: that one */
};

/* A call begins, on goroutine g and M m. The last one is forgotten. Before the first one, and after
 * request_follow_parts(), the two below do nothing. */
void request_follow_begin(int32_t m, int64_t g, int64_t now_ps);

void request_follow_event(const struct request_event *event);

/* Goroutine g has served a request. */
void request_follow_request(int64_t g, int32_t kind, int64_t due_ps, int64_t end_ps);

/* At any time: what to call a lock from now on. */
void request_follow_name(const void *lock, const char *name);

/* Where the time of the call's requests of this kind went. */
void request_follow_parts(int32_t kind, struct request_parts *parts);

/* Forgets all. */
void request_follow_end(void);

#endif
