/* joins.c - who is last at a sync: the knob join of contsteal.
 *
 * A thief takes a parent while a child of it runs. From then on both go on by themselves, and meet
 * at the sync. The parent arrives there once, and each child that it has left behind arrives when
 * it ends. Whoever arrives last continues the parent. A child that finds its parent where it has
 * left it joins nothing (under `counter` it takes its 1 back). Two things are hard. The child may
 * end before the thief has done anything with the frame. And whoever is not last may not touch the
 * frame any more, since the last one may have left the function.
 *
 * waitfree, the default. Each step is one operation, whatever others do:
 *   1. the thief, who runs the parent now, adds 1 to `spawned`, which only the parent uses
 *   2. a child that has ended subtracts 1 from `pending`. It is last if that was 1
 *   3. the sync adds `spawned` to `pending`. It is last if that makes 0
 *   Before step 3 pending is 0 or less, so no child is last too soon, however late step 1 is. After
 *   it pending is the number of children still to come.
 *   Source: [Schmaus21] Nowa, fibrile.h and runtime.c.  Same: both counts, who writes them, and the
 *   three steps.
 *
 * counter. `pending` is the number of children that run, plus 1 for the parent:
 *   1. before thieves may see the parent, its worker adds 1 for the child. For the first one nobody
 *      else knows the frame, and 2 is stored
 *   2. a child that has ended, left behind or not, subtracts 1, and so does the sync. The one that
 *      makes 0 is last
 *   A thief does nothing. So the price is at the spawn. With pooled frames each child is added and
 *   subtracts itself, and each sync subtracts one. With linked frames only publications of frames
 *   that were taken before are added.
 *   Source: schedlab, a count of references.
 *   Rejected: a count that the thief adds to. A child that is faster than its thief makes 0 while
 *   its parent runs.
 *
 * lock. `pending` is the number of children left behind and not ended. A sync that has to wait adds
 * FJ_WAITS. Only under the frame's lock are they read and written, by
 *   1. the thief, who adds 1        2. a child that has ended, which subtracts 1
 *   3. the sync
 *   Source: [Yang16] Fibril, runtime.c and deque.c.  Same: a lock and a count in each frame; who
 *   takes it, and when.  Differs: Fibril's thief gets the frame's lock before it releases the
 *   deque's, so that no child comes before it. Here the count may be -1 for a moment.  Why: the
 *   default deque has no lock, and one decision changes at a time. [Frigo98] has one lock for both.
 *
 * F1 of forkjoin.c orders what children wrote; under join=lock L1 and L2 of lock.h do.
 */
#include "internal.h"

enum { FJ_WAITS = 1 << 30 };

static void join_lock(struct m *m, struct fj_frame *frame)
{
    stat_add(&m->stats, STAT_JOIN_LOCKS, 1);
    if (lock_acquire(&frame->lock))
        stat_add(&m->stats, STAT_JOIN_LOCK_WAITS, 1);
}

/* Pre: the lock. Returns the sum. */
static int32_t locked_add(struct fj_frame *frame, int32_t n)
{
    /* relaxed, both: under the lock */
    int32_t sum = atomic_load_explicit(&frame->pending, memory_order_relaxed) + n;
    atomic_store_explicit(&frame->pending, sum, memory_order_relaxed);
    return sum;
}

/* The parent is about to rest in a spawn, and thieves may see it then. `first`: no thief has had it
 * since its last sync, and so nobody else knows its count. */
void fj_join_fork(struct m *m, struct fj_frame *frame, bool first)
{
    if (m->fj.join == FJ_JOIN_LOCK && first)
        /* relaxed: published by D1 */
        atomic_store_explicit(&frame->lock, 0, memory_order_relaxed);
    if (m->fj.join != FJ_JOIN_COUNTER)
        return;
    stat_add(&m->stats, STAT_JOIN_ADDS, 1);
    if (first) {
        /* relaxed: published by D1 */
        atomic_store_explicit(&frame->pending, 2, memory_order_relaxed);
        return;
    }
    /* relaxed: it hands nothing over; the parent's own 1 is there */
    int32_t before = atomic_fetch_add_explicit(&frame->pending, 1, memory_order_relaxed);
    INVARIANT(before > 0);
}

/* By the thief, or by the parent that finds that it was taken. */
void fj_join_taken(struct m *m, struct fj_frame *frame)
{
    if (m->fj.join != FJ_JOIN_LOCK)
        return;
    join_lock(m, frame);
    locked_add(frame, 1);
    lock_release(&frame->lock);
}

/* Pre: join=counter. A child has ended that found its parent where it had left it. */
void fj_join_came_back(struct fj_frame *frame)
{
    /* relaxed: the parent goes on on this very worker */
    int32_t before = atomic_fetch_sub_explicit(&frame->pending, 1, memory_order_relaxed);
    INVARIANT(before > 1);
}

/* A child has ended whose parent was taken. True: it is last, and continues the parent. */
bool fj_join_child(struct m *m, struct fj_frame *frame)
{
    if (m->fj.join != FJ_JOIN_LOCK)
        return atomic_fetch_sub_explicit(&frame->pending, 1, memory_order_acq_rel) == 1; /* F1 */
    join_lock(m, frame);
    bool last = locked_add(frame, -1) == FJ_WAITS;
    if (last)
        locked_add(frame, -FJ_WAITS);
    lock_release(&frame->lock);
    return last;
}

/* The parent is at its sync. True: it is last, and goes on. */
bool fj_join_owner(struct m *m, struct fj_frame *frame, enum fj_join join, int32_t spawned)
{
    if (join == FJ_JOIN_WAITFREE)
        return atomic_fetch_add_explicit(&frame->pending, spawned, memory_order_acq_rel) ==
               -spawned; /* F1 */
    if (join == FJ_JOIN_COUNTER)
        return atomic_fetch_sub_explicit(&frame->pending, 1, memory_order_acq_rel) == 1; /* F1 */
    join_lock(m, frame);
    int32_t running = locked_add(frame, 0);
    INVARIANT(running >= 0); /* all thefts are counted: they were the parent's */
    if (running > 0)
        locked_add(frame, FJ_WAITS);
    lock_release(&frame->lock);
    return running == 0;
}
