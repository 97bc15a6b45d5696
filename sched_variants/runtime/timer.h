/* timer.h - what is to happen at a time: the heaps of timers, and the timer that calls a function
 * of the runtime.
 *
 * For the files of the runtime (sleeps, the public timers of gotimer.c, deadlines). A variant and a
 * workload see none of this. The top of timer.c says what the heaps are and who serves them.
 */
#ifndef SCHEDLAB_TIMER_H
#define SCHEDLAB_TIMER_H

#include "g.h"

/* Calls fire(timer, now) once it is due, on an M that holds a P, on a goroutine's stack or g0. The
 * call holds no lock and may ready Gs, make new ones (g_spawn_queued()), and arm or disarm timers,
 * its own included. It must not park, yield or take long: the M's other work waits for it. Two
 * calls of one timer may run at the same time, on two Ms, if it is armed again before the first has
 * ended. A period during which the call still runs is left out. */
struct timer {
    /* constant while it is armed or its call runs */
    void (*fire)(struct timer *timer, int64_t now);
    void *arg; /* the owner's */

    /* The heap that it is in, or was in last; NULL until it is first armed. Changes under the lock
     * of the heap that it names before. H1: release stores, pair with H2: acquire loads before that
     * lock is taken (all that was done under the lock of the heap before is visible). */
    _Atomic(struct timers *) home;

    /* protected by home's lock */
    size_t at;      /* its place in the heap, + 1; 0: not armed */
    int64_t when;   /* when it is due; not before the time in its heap entry */
    int64_t period; /* > 0: armed again this much later each time it is due */
    uint64_t turn;  /* the order among equal `when` */
};

enum timer_disarmed {
    TIMER_STOPPED, /* was armed, and will not run: no call of it runs or will */
    TIMER_IDLE,    /* was not armed: never so far, or its last call has ended */
    TIMER_RUNNING, /* is not armed any more, but a call of it runs at this moment on another M, or
                    * on this one if it is the caller */
};

/* A timer that is not armed. Any stack. All zero but fire and arg is one, too. Its memory is the
 * owner's, who may free it whenever it is not armed and no call of it runs. The call itself may
 * free it, if nobody else uses it: the runtime does not touch it after the call. */
static inline void timer_init(struct timer *timer, void (*fire)(struct timer *timer, int64_t now),
                              void *arg)
{
    INVARIANT(fire);
    *timer = (struct timer){.fire = fire, .arg = arg};
}

/* Due at `when`, in nanoseconds of machine_now(), and then every `period` ns if that is > 0; those
 * that have passed by then are left out. Replaces what it was armed for. True if it was armed. Any
 * M that holds a P, goroutine's stack or g0; may race with all that takes the timer. */
bool timer_arm(struct m *m, struct timer *timer, int64_t when, int64_t period);

/* It is not due any more, whatever it was armed for. The answer says whether its memory is free
 * (struct timer): after TIMER_STOPPED and TIMER_IDLE it is at once, if nobody arms it meanwhile.
 * Any stack; may race with all that takes the timer. */
enum timer_disarmed timer_disarm(struct timer *timer);

/* As timer_disarm(), but waits until no call of it runs, which takes as long as the call; so not
 * from within it. True if it was armed and has been stopped before it was due; false after it ran.
 * A timer with a period has been stopped, and may have run. */
bool timer_disarm_wait(struct timer *timer);

/* The heap of one P, or of all of them. */
struct timers {
    /* looked at by the M that holds the P when it schedules, by others before they idle */
    _Alignas(64) _Atomic int64_t next; /* not after the earliest `when`; INT64_MAX: empty */

    /* the rest: timer.c */
    lock_t lock;
    struct sched *sched;   /* constant */
    struct p *server;      /* variants with `blocks`: the P whose M alone serves it */
    struct firing *firing; /* calls that run */
    struct timer_entry *heap;
    size_t count, capacity;
    uint64_t turns; /* how many were armed so far */
};

/* The timers of sched: before its Ps are made, and after they are freed. */
void timers_init(struct sched *sched);
void timers_fini(struct sched *sched);
void timers_give(struct sched *sched, struct p *p); /* p, a new P, gets its heap */

/* All entries of from, whose P nobody will hold, are to's from here on. Takes both locks. */
void timers_move(struct timers *from, struct timers *to);

/* gp, which has parked or is about to, is readied at `when`. */
void timers_add(struct m *m, struct g *gp, int64_t when);

/* Readies the sleepers of a heap that are due and calls its timers that are, in the order of their
 * times. True if there was one. */
bool timers_run_heap(struct m *m, struct timers *timers);

/* As above, for all heaps but that of m's P: for an M that found nothing else to do. */
bool timers_run_others(struct m *m);

/* When the earliest timer of all heaps is due; INT64_MAX: there is none. A moment's answer. */
int64_t timers_earliest(struct sched *sched);

/* The M that serves this heap, if the heap is empty; NULL otherwise, or if it has no server. */
struct m *timers_stale_server(struct sched *sched, int32_t heap);

/* How long an M without work sleeps until `when`, which it looks at once more then: knob
 * poll_round. */
int64_t timers_wait_ns(const struct sched *sched, int64_t when);

/* The time in ns from now (ns <= 0: now); a heap holds none later than INT64_MAX - 1. */
static inline int64_t timers_when(int64_t ns)
{
    int64_t when, now = machine_now();
    if (ns <= 0)
        return now;
    return __builtin_add_overflow(now, ns, &when) || when == INT64_MAX ? INT64_MAX - 1 : when;
}

/* m's P has timers, not necessarily due. relaxed: see timer.c */
static inline bool timers_any(const struct m *m)
{
    return atomic_load_explicit(&m->p->timers->next, memory_order_relaxed) != INT64_MAX;
}

/* For thieves: what is due in the heap of p, whose M may be busy for long. True if there was one;
 * what it readied is in the queues of m's P. g0 of m, which holds another P. */
static inline bool timers_run_of(struct m *m, struct p *p)
{
    /* relaxed: see timer.c */
    return p->timers != m->p->timers &&
           atomic_load_explicit(&p->timers->next, memory_order_relaxed) != INT64_MAX &&
           timers_run_heap(m, p->timers);
}

/* At every scheduling point. */
static inline void timers_check(struct m *m)
{
    if (__builtin_expect(timers_any(m), 0))
        timers_run_heap(m, m->p->timers);
}

#endif
