/* locked - Go's scheduler, with a local queue behind a lock.
 *
 * A queue for `schedlab build` to compile, 256 places behind a lock. The rest is gmp's (runq.h).
 * So beside gmp, whose ring needs no lock, it shows what a local queue without locks is worth.
 *
 *     schedlab build examples/locked.c
 *     schedlab run ./locked.slv gmp spawn skynet --workers 2
 *
 * Source: schedlab, the example of docs/ADDING.md.
 */
#include "schedlab.h"

enum { PLACES = 256 };

struct locked {
    lock_t lock;
    /* protected by lock; [head, tail) are full */
    uint32_t head, tail;
    _Atomic int64_t length; /* written under lock, read without it as a hint */
    struct g *place[PLACES];
};

/* Pre: lock. */
static void locked_leave(struct locked *locked)
{
    /* relaxed: whoever must not miss it reads it after a full fence (idle.c, S2, I3) */
    atomic_store_explicit(&locked->length, locked->tail - locked->head, memory_order_relaxed);
    lock_release(&locked->lock);
}

static bool locked_put(void *queue, struct g *gp)
{
    struct locked *locked = queue;
    lock_acquire(&locked->lock);
    bool room = locked->tail - locked->head < PLACES;
    if (room)
        locked->place[locked->tail++ % PLACES] = gp;
    locked_leave(locked);
    return room;
}

static int64_t locked_take(void *queue, struct g **taken, int64_t most)
{
    struct locked *locked = queue;
    int64_t n = 0;
    if (atomic_load_explicit(&locked->length, memory_order_relaxed) == 0)
        return 0;
    lock_acquire(&locked->lock);
    while (n < most && locked->head != locked->tail)
        taken[n++] = locked->place[locked->head++ % PLACES];
    locked_leave(locked);
    return n;
}

static struct g *locked_get(void *queue)
{
    struct g *gp;
    return locked_take(queue, &gp, 1) == 1 ? gp : NULL;
}

static int64_t locked_length(void *queue)
{
    return atomic_load_explicit(&((struct locked *)queue)->length, memory_order_relaxed);
}

static const struct runq_ops locked = {
    .size = sizeof(struct locked),
    .put = locked_put,
    .get = locked_get,
    .steal = locked_take,
    .length = locked_length,
};

RUNQ_VARIANT(locked, locked, "M:N as in Go, with a lock in each local queue", "schedlab");
