/* the - Go's scheduler, with the deque of Cilk-5: a lock only where owner and thief may meet.
 *
 * The owner puts and takes at the tail T, thieves take at the head H, behind a lock. Each side
 * first moves its own index and then looks at the other's. So of two that want the same place at
 * least one sees the other. A thief that sees the owner steps back. An owner that sees a thief
 * takes the lock and looks again; thieves are out by then. The owner's end is a stack, the thieves'
 * a queue.
 *
 *     schedlab build examples/the.c
 *     schedlab run ./the.slv gmp fib,n=18 --machine sim:server64 --workers 16
 *
 * Invariants, whenever the lock is free: 0 <= T - H <= LIMIT, and [H, T) are full. H never falls.
 * A thief is ahead of the places that it has read by at most RUNQ_BATCH: hence PLACES.
 *
 * Rejected: an owner that finds H >= T without the lock, and goes. A thief that will step back may
 * have moved H. The goroutine in between would stay in the queue of an idle P, where nobody looks.
 *
 *   Same:    T, H and the two sides of the protocol; a lock for thieves, and owners that meet one.
 *   Differs: a thief takes several at once, and the deque is a ring. An owner whose T is where it
 *            last found the deque empty knows without the lock that it is empty.
 *   Why:     runq.h asks for half; Cilk's workers look into an empty deque once, and these often.
 *            E, by which Cilk interrupts its owner with exceptions, has no use here.
 * Source: [Frigo98] s.5, the simplified protocol.
 */
#include "schedlab.h"

enum { LIMIT = 256, PLACES = 512 };

_Static_assert(LIMIT + RUNQ_BATCH <= PLACES, "the owner must not fill a place that a thief reads");

struct the {
    /* written by the owner. T1: release store, acquire load: the places below T are visible */
    _Alignas(64) _Atomic int64_t T;
    int64_t empty_at; /* owner only; H has come so far */
    /* written under lock. H1: release store, acquire load: all that a thief before it has taken is
     * read */
    _Alignas(64) _Atomic int64_t H;
    lock_t lock;
    /* [H, T): owner writes, whoever owns the index reads */
    _Alignas(64) struct g *place[PLACES];
};

static bool the_put(void *queue, struct g *gp)
{
    struct the *the = queue;
    int64_t t = atomic_load_explicit(&the->T, memory_order_relaxed); /* only the owner writes it */
    if (t - atomic_load_explicit(&the->H, memory_order_acquire) >= LIMIT) /* H1 in the_steal() */
        return false;
    the->place[t % PLACES] = gp;
    atomic_store_explicit(&the->T, t + 1, memory_order_release); /* T1 */
    return true;
}

/* A thief is at place t, or there is none. T is t + 1 again, so that thieves see the place full. */
static bool the_get_locked(struct the *the, int64_t t)
{
    lock_acquire(&the->lock);
    /* relaxed: written under the lock */
    int64_t h = atomic_load_explicit(&the->H, memory_order_relaxed);
    bool mine = h <= t;
    if (mine)
        atomic_store_explicit(&the->T, t, memory_order_release); /* T1 */
    INVARIANT(h <= t + 1);
    the->empty_at = h;
    lock_release(&the->lock);
    return mine;
}

static struct g *the_get(void *queue)
{
    struct the *the = queue;
    int64_t t = atomic_load_explicit(&the->T, memory_order_relaxed) - 1; /* as in the_put() */
    if (t < the->empty_at)
        return NULL;
    atomic_store_explicit(&the->T, t, memory_order_release); /* T1 */
    atomic_thread_fence(memory_order_seq_cst); /* F1: pairs with F2: T before H, H before T */
    /* relaxed: below T the owner's own places, which no thief has */
    if (atomic_load_explicit(&the->H, memory_order_relaxed) > t) {
        atomic_store_explicit(&the->T, t + 1, memory_order_release); /* T1 */
        if (!the_get_locked(the, t))
            return NULL;
    }
    return the->place[t % PLACES];
}

static int64_t the_steal(void *queue, struct g **taken, int64_t most)
{
    struct the *the = queue;
    lock_acquire(&the->lock);
    int64_t n = most;
    /* relaxed: written under the lock */
    int64_t h = atomic_load_explicit(&the->H, memory_order_relaxed);
    atomic_store_explicit(&the->H, h + n, memory_order_release);     /* H1 */
    atomic_thread_fence(memory_order_seq_cst);                       /* F2: pairs with F1 */
    int64_t t = atomic_load_explicit(&the->T, memory_order_acquire); /* T1 */
    if (h + n > t) {
        n = t > h ? t - h : 0;
        atomic_store_explicit(&the->H, h + n, memory_order_release); /* H1 */
    }
    for (int64_t i = 0; i < n; i++)
        taken[i] = the->place[(h + i) % PLACES];
    lock_release(&the->lock);
    return n;
}

/* relaxed: a hint. An owner or a thief that is about to step back may make it too small; it is
 * awake then, and comes to what is left. */
static int64_t the_length(void *queue)
{
    struct the *the = queue;
    int64_t t = atomic_load_explicit(&the->T, memory_order_relaxed);
    int64_t n = t - atomic_load_explicit(&the->H, memory_order_relaxed);
    return n > 0 ? n : 0;
}

static const struct runq_ops the = {
    .size = sizeof(struct the),
    .put = the_put,
    .get = the_get,
    .steal = the_steal,
    .length = the_length,
};

RUNQ_VARIANT(the, the, "M:N as in Go, with the deque of Cilk-5 in each P: the newest runs first",
             "[Frigo98]");
