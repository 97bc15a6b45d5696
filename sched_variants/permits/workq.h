/* workq.h - the queue of a worker of permits: a slot for the newest G, and a ring behind it.
 *
 * A taker claims a place by moving `taken`, and then empties it. So a put may have to wait until
 * the place has been emptied, and who takes need not read it before.
 *
 * Invariants: 0 <= put - taken < RING;  put is written by the owner only, taken by CAS only;
 *             places [taken, put) hold Gs, and others do only until their takers empty them.
 * Order labels:
 *   KP1 release store of put      pairs with  KP2 acquire load of it (the place, and the G)
 *   KP3 release CAS of taken      pairs with  KP4 acquire load of it (put was seen no later)
 *   KP5 exchange and CAS of newest, acquire and release: the G, and its time
 *
 * Source: [Kotlin] WorkQueue.kt add, pollBuffer.
 *   Differs: no G is taken from the middle. Labelled orders, where the JVM's volatiles are
 *            sequentially consistent.
 */
#ifndef SCHEDLAB_PERMITS_WORKQ_H
#define SCHEDLAB_PERMITS_WORKQ_H

#include "sched.h"

enum { RING = 128, WAIT_SPINS = 64 };

struct workq {
    /* written by the owner */
    _Alignas(64) _Atomic uint32_t put;
    /* by the owner and thieves */
    _Alignas(64) _Atomic uint32_t taken;
    _Atomic(struct g *) newest;
    _Atomic int64_t since; /* when newest came; the owner's */
    _Alignas(64) _Atomic(struct g *) place[RING];
};

/* By the owner; thieves may take meanwhile. */
static inline bool workq_is_valid(struct workq *workq)
{
    uint32_t taken = atomic_load_explicit(&workq->taken, memory_order_acquire);
    uint32_t put = atomic_load_explicit(&workq->put, memory_order_relaxed);
    return HOLDS(put - taken < RING);
}

/* The place may still hold a G whose taker has claimed it, and not emptied it yet. */
static inline void place_wait(_Atomic(struct g *) *place)
{
    uint32_t spins = 0;
    while (atomic_load_explicit(place, memory_order_relaxed)) { /* nothing goes with NULL */
        spins += machine_relax(place, WAIT_SPINS - spins);
        if (spins == WAIT_SPINS) {
            machine_yield();
            spins = 0;
        }
    }
}

/* The owner's. False: the ring is full. */
static inline bool ring_put(struct m *m, struct workq *workq, struct g *gp)
{
    uint32_t taken = atomic_load_explicit(&workq->taken, memory_order_acquire); /* KP4 */
    uint32_t put = atomic_load_explicit(&workq->put, memory_order_relaxed);     /* own word */
    if (put - taken == RING - 1)
        return false;
    place_wait(&workq->place[put % RING]);
    sched_event_g(m, SCHED_PUT, gp, INTO_LOCAL, 0);
    atomic_store_explicit(&workq->place[put % RING], gp, memory_order_relaxed); /* by KP1 */
    atomic_store_explicit(&workq->put, put + 1, memory_order_release);          /* KP1 */
    INVARIANT(workq_is_valid(workq));
    stat_max(&m->stats, STAT_DEQUE_MAX, put + 1 - taken);
    return true;
}

/* The owner's, and thieves'. */
static inline struct g *ring_take(struct workq *workq)
{
    for (;;) {
        uint32_t taken = atomic_load_explicit(&workq->taken, memory_order_acquire); /* KP4 */
        if (taken == atomic_load_explicit(&workq->put, memory_order_acquire))       /* KP2 */
            return NULL;
        if (atomic_compare_exchange_weak_explicit(&workq->taken, &taken, taken + 1,
                                                  memory_order_release,
                                                  memory_order_relaxed)) /* KP3 */
            /* relaxed: by KP2; the owner waits for NULL */
            return atomic_exchange_explicit(&workq->place[taken % RING], NULL,
                                            memory_order_relaxed);
    }
}

/* The owner's. */
static inline struct g *newest_take(struct workq *workq)
{
    /* relaxed look: only the owner fills the slot */
    if (!atomic_load_explicit(&workq->newest, memory_order_relaxed))
        return NULL;
    return atomic_exchange_explicit(&workq->newest, NULL, memory_order_acq_rel); /* KP5 */
}

/* The owner's. Returns the one that it pushes out, or NULL. */
static inline struct g *newest_put(struct m *m, struct workq *workq, struct g *gp)
{
    sched_event_g(m, SCHED_PUT, gp, INTO_RUNNEXT, 0);
    atomic_store_explicit(&workq->since, machine_now(), memory_order_relaxed); /* by KP5 */
    return atomic_exchange_explicit(&workq->newest, gp, memory_order_acq_rel); /* KP5 */
}

/* A thief's. *young: there is one that is not age_ns old. */
static inline struct g *newest_steal(struct workq *workq, int64_t age_ns, bool *young)
{
    struct g *gp = atomic_load_explicit(&workq->newest, memory_order_acquire); /* KP5 */
    if (!gp)
        return NULL;
    /* relaxed: by KP5; if it is that of a later one, this thief is too patient */
    int64_t since = atomic_load_explicit(&workq->since, memory_order_relaxed);
    if (age_ns > 0 && machine_now() - since < age_ns) {
        *young = true;
        return NULL;
    }
    return atomic_compare_exchange_strong_explicit(&workq->newest, &gp, NULL, memory_order_acq_rel,
                                                   memory_order_relaxed) /* KP5 */
               ? gp
               : NULL;
}

/* For has_work(). A G moves from the slot to the ring and never back, so the slot is read between
 * two looks. Young ones count too: a thief that slept would not be woken when they are old. */
static inline bool workq_has_work(struct workq *workq)
{
    uint32_t taken = atomic_load_explicit(&workq->taken, memory_order_acquire); /* KP4 */
    uint32_t put = atomic_load_explicit(&workq->put, memory_order_acquire);     /* KP2 */
    if (put != taken)
        return true;
    if (atomic_load_explicit(&workq->newest, memory_order_acquire)) /* KP5 */
        return true;
    return atomic_load_explicit(&workq->put, memory_order_acquire) != put; /* KP2 */
}

/* A hint. */
static inline int64_t workq_length(struct workq *workq)
{
    uint32_t taken = atomic_load_explicit(&workq->taken, memory_order_relaxed);
    uint32_t put = atomic_load_explicit(&workq->put, memory_order_relaxed);
    bool newest = atomic_load_explicit(&workq->newest, memory_order_relaxed) != NULL;
    return (int32_t)(put - taken) > 0 ? (int64_t)(put - taken) + newest : newest;
}

#endif
