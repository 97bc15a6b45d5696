/* deque_the.c - THE, the deque of Cilk-5: a lock only where owner and thief may meet; and the same
 * with thieves that take half of what is there.
 *
 * T is `bottom` and H is `top` of struct deque. Each side first moves its own index and then looks
 * at the other's. So of two that want the same place at least one sees the other. A thief, which
 * always holds the lock, steps back. An owner takes the lock and looks again; thieves are out then.
 *
 *   Source: [Frigo98] s.5, the simplified protocol.
 *   Same:    T, H and the two sides; a lock for thieves, and for owners that meet one.
 *   Differs: an owner that meets a thief leaves T where it is until it has the lock. It knows
 *            without the lock that the deque is empty, if T is where it was when that was last so.
 *            The array is a ring that grows, under the lock. E has no use here, by which Cilk
 *            interrupts its owner with exceptions.
 *   Why:     a thief that finds nothing is then right at some moment of its visit: what the owner
 *            is about to take nobody else can get. Cilk's owner looks into an empty deque once, and
 *            these do so at each turn of the scheduler.
 *
 * Half. A thief moves H by half of T - H, rounded up, and keeps what the owner has left of that. It
 * runs the newest of them, and puts the others at the bottom of its own deque before others may
 * look into that. So they count as its own from then on, and a thief of the thief finds them.
 *   Source: [Hendler02], for the share.  Differs: their owner publishes a prefix of its array by
 *   compare-and-swap, and has no lock.  Why: THE takes several at once as it takes one.
 *
 * Rejected: an owner that finds H > T without the lock, and goes. A thief that will step back may
 * have moved H. An item in between would stay in the deque of an idle P, where nobody looks.
 *
 * Invariants, whenever the lock is free and the owner between operations: H <= T;  T - H is at most
 *   the array's size less the slack;  [H, T) is full;  H never falls;  empty_at <= H.
 *   A thief may be ahead of the place that it reads by the slack: the owner leaves so many free. It
 *   is 1, and half of the array where thieves take half.
 *
 * Order labels. deque_publish() stores T, too, by D1 of deque.h, and the loads of TE2 see it.
 *   TE1  pop: release store of T     pairs with  TE2  take: acquire load of T
 *        (what was published below T before it is visible)
 *   TE3  pop: fence between store of T and load of H     pairs with
 *   TE4  take: fence between store of H and load of T
 *        (of an owner and a thief after the last element at least one sees the other)
 *   TE5  take: release store of H    pairs with  TE6  reserve: acquire load of H
 *        (the thief before this one has read its slot before it is written again)
 */
#include "deque.h"
#include "g.h"

static void the_lock(struct deque *dq)
{
    lock_acquire(&dq->lock);
    struct m *m = machine_self(); /* none without a scheduler */
    if (m)
        stat_add(&m->stats, STAT_DEQUE_LOCKS, 1);
}

static int64_t slack_of(const struct deque *dq, const struct deque_array *array)
{
    return dq->ops->take_half ? (array->mask + 2) / 2 : 1;
}

/* Relaxed, as in deque_size(). A thief that is about to step back makes it one too small; then
 * there is none, or the owner has it. */
static int64_t the_size(struct deque *dq)
{
    int64_t t = atomic_load_explicit(&dq->bottom, memory_order_relaxed);
    int64_t size = t - atomic_load_explicit(&dq->top, memory_order_relaxed);
    return size > 0 ? size : 0;
}

static void *the_slot(struct deque *dq, int64_t index)
{
    /* relaxed: the owner's own word, or read under the lock, under which it is written */
    struct deque_array *array = atomic_load_explicit(&dq->array, memory_order_relaxed);
    /* relaxed: the owner wrote it, or D1 has published it */
    return atomic_load_explicit(&array->slot[index & array->mask], memory_order_relaxed);
}

/* Pre: lock, by the owner. Thieves read the old array under the lock only: it is free now. */
static void the_grow(struct deque *dq, int64_t t)
{
    struct deque_array *old = atomic_load_explicit(&dq->array, memory_order_relaxed);
    struct deque_array *array = deque_array_new(2 * ((size_t)old->mask + 1));
    /* relaxed, all of these: under the lock */
    for (int64_t i = atomic_load_explicit(&dq->top, memory_order_relaxed); i < t; i++) {
        void *item = atomic_load_explicit(&old->slot[i & old->mask], memory_order_relaxed);
        atomic_store_explicit(&array->slot[i & array->mask], item, memory_order_relaxed);
    }
    atomic_store_explicit(&dq->array, array, memory_order_relaxed);
    machine_free(old);
}

static int64_t the_reserve(struct deque *dq, int64_t n)
{
    int64_t t = atomic_load_explicit(&dq->bottom, memory_order_relaxed); /* own word */
    for (;;) {
        struct deque_array *array =
            atomic_load_explicit(&dq->array, memory_order_relaxed);       /* own word */
        int64_t h = atomic_load_explicit(&dq->top, memory_order_acquire); /* TE6 */
        if (t + n - h <= array->mask + 1 - slack_of(dq, array))
            return t;
        the_lock(dq);
        the_grow(dq, t);
        lock_release(&dq->lock);
    }
}

/* A thief is or was at place t, which no other can get: T is t. */
static bool the_keeps(struct deque *dq, int64_t t)
{
    the_lock(dq);
    int64_t h = atomic_load_explicit(&dq->top, memory_order_relaxed); /* under the lock */
    INVARIANT(h <= t + 1);
    if (h > t) {
        atomic_store_explicit(&dq->bottom, t + 1, memory_order_release); /* TE1 */
        dq->empty_at = t + 1;
    }
    lock_release(&dq->lock);
    return h <= t;
}

static void *the_pop(struct deque *dq)
{
    int64_t t = atomic_load_explicit(&dq->bottom, memory_order_relaxed) - 1; /* own word */
    if (t < dq->empty_at)
        return NULL;
    INVARIANT(deque_is_valid(dq));
    atomic_store_explicit(&dq->bottom, t, memory_order_release); /* TE1 */
    machine_fence(&dq->scratch);                                 /* TE3 */
    /* relaxed: ordered by TE3 */
    if (atomic_load_explicit(&dq->top, memory_order_relaxed) > t && !the_keeps(dq, t))
        return NULL;
    return the_slot(dq, t);
}

/* Pre: lock. Takes n of the oldest, or as many as there are. Returns how many; *first: where. */
static int64_t the_grab(struct deque *dq, int64_t n, int64_t *first)
{
    int64_t h = atomic_load_explicit(&dq->top, memory_order_relaxed);    /* under the lock */
    atomic_store_explicit(&dq->top, h + n, memory_order_release);        /* TE5 */
    machine_fence(&dq->scratch);                                         /* TE4 */
    int64_t t = atomic_load_explicit(&dq->bottom, memory_order_acquire); /* TE2 */
    if (h + n > t) {
        n = t > h ? t - h : 0;
        atomic_store_explicit(&dq->top, h + n, memory_order_release); /* TE5 */
    }
    *first = h;
    return n;
}

static enum deque_steal the_take(struct deque *dq, void **item)
{
    int64_t at;
    the_lock(dq);
    bool mine = the_grab(dq, 1, &at) > 0;
    if (mine) {
        INVARIANT(item);
        *item = the_slot(dq, at);
    }
    lock_release(&dq->lock);
    return mine ? DEQUE_STOLEN : DEQUE_EMPTY;
}

/* Its own deque gets room before the lock is taken, since that may take that one's lock. So it is
 * half of what was seen before, and of what is there now. */
static int64_t the_take_half(struct deque *dq, struct deque *own, void **item)
{
    INVARIANT(dq != own);
    int64_t most = (the_size(dq) + 1) / 2, at;
    int64_t bottom = deque_reserve(own, most);
    the_lock(dq);
    int64_t n = (the_size(dq) + 1) / 2;
    n = n < most ? n : most;
    n = the_grab(dq, n > 0 ? n : 1, &at);
    for (int64_t i = 0; i < n - 1; i++)
        deque_set(own, bottom + i, the_slot(dq, at + i));
    if (n > 0) {
        INVARIANT(item);
        *item = the_slot(dq, at + n - 1);
    }
    lock_release(&dq->lock);
    if (n > 1)
        deque_publish(own, bottom + n - 1);
    return n;
}

/* A thief may be ahead, and step back. */
static bool the_is_valid(const struct deque *dq)
{
    /* relaxed: own words, and H is only compared */
    int64_t t = atomic_load_explicit(&dq->bottom, memory_order_relaxed);
    int64_t h = atomic_load_explicit(&dq->top, memory_order_relaxed);
    const struct deque_array *array = atomic_load_explicit(&dq->array, memory_order_relaxed);
    return HOLDS(array) && HOLDS((array->mask & (array->mask + 1)) == 0) &&
           HOLDS(!array->retired) && HOLDS(h <= t + slack_of(dq, array)) &&
           HOLDS(t - h <= array->mask + 1) && HOLDS(dq->empty_at <= h) &&
           HOLDS(atomic_load_explicit(&dq->depth_max, memory_order_relaxed) >= 0);
}

const struct deque_ops deque_the = {
    .reserve = the_reserve,
    .pop = the_pop,
    .take = the_take,
    .size = the_size,
    .is_valid = the_is_valid,
};

const struct deque_ops deque_half = {
    .reserve = the_reserve,
    .pop = the_pop,
    .take = the_take,
    .take_half = the_take_half,
    .size = the_size,
    .is_valid = the_is_valid,
};
