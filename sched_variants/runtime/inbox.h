/* inbox.h - a FIFO beside a P's own queue into which any M may put, with a P or without one.
 *
 * Into its own queue only the M that holds the P puts: the ring has no room for a second producer,
 * whose put would have to be a compare-and-swap, and so would everybody's. The inbox has a lock in
 * its place. Whoever holds the P moves what is there to its queue's tail before it takes the next
 * one from there. Thieves take from the inbox too, of idle Ps as well: else what is put there for a
 * P that nobody holds, or will hold, would lie there for good.
 *
 * Invariants: size is that of fifo whenever the lock is free; a G in an inbox is work to all.
 * Order labels:
 *   IN1  release store of size   pairs with   IN2  acquire load of it in inbox_size() (who sees it
 *        empty sees where its Gs have gone: the owner puts them there first)
 *   L1, L2: lock.h, for fifo. A put is S1 of the sleeping dance (idle.c), and whoever puts then
 *   fences by wakep_slow().
 */
#ifndef SCHEDLAB_INBOX_H
#define SCHEDLAB_INBOX_H

#include "gqueue.h"

struct inbox {
    _Alignas(64) lock_t lock;
    _Atomic int64_t size;
    struct gfifo fifo;
};

static inline int64_t inbox_size(const struct inbox *inbox)
{
    return atomic_load_explicit(&inbox->size, memory_order_acquire); /* IN2 */
}

/* Pre: lock. */
static inline void inbox_publish(struct inbox *inbox)
{
    INVARIANT(lock_is_held(&inbox->lock));
    INVARIANT(gfifo_is_valid(&inbox->fifo));
    atomic_store_explicit(&inbox->size, gfifo_size(&inbox->fifo), memory_order_release); /* IN1 */
}

static inline void inbox_put(struct inbox *inbox, struct g *gp)
{
    lock_acquire(&inbox->lock);
    gfifo_push(&inbox->fifo, gp);
    inbox_publish(inbox);
    lock_release(&inbox->lock);
}

/* The oldest, or NULL. Looks without the lock first. */
static inline struct g *inbox_get(struct inbox *inbox)
{
    if (inbox_size(inbox) == 0)
        return NULL;
    lock_acquire(&inbox->lock);
    struct g *gp = gfifo_pop(&inbox->fifo);
    inbox_publish(inbox);
    lock_release(&inbox->lock);
    return gp;
}

#endif
