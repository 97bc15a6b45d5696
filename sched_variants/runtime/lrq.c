/* lrq.c - Go's local run queue; lrq.h has its contract, invariants and order labels, and lrq_bwos.c
 * what is different with blocks. */
#include "lrq.h"
#include "internal.h"
#include "lrq_bwos.h"
#include "sched.h"

#include <errno.h>
#include <string.h>

enum { TICK_RANDOM_MEAN = 61 };

static const struct lrq_knobs *knobs_of(const struct m *m)
{
    return m->sched->knobs;
}

static int64_t int64_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The share of n items that a knob names, rounded up, so that one item can always be moved. */
static uint32_t share_of(int64_t share, uint32_t n)
{
    INVARIANT(share >= SHARE_ONE && share <= SHARE_ALL);
    switch (share) {
    case SHARE_ONE:
        return n > 0;
    case SHARE_QUARTER:
        return (n + 3) / 4;
    case SHARE_HALF:
        return n - n / 2;
    case SHARE_THREE_QUARTERS:
        return n - n / 4;
    default:
        return n;
    }
}

void lrq_init(struct sched *sched)
{
    const struct lrq_knobs *knobs = sched->knobs;
    sched->look_ns = knobs->look_ns;
    sched->wake_delay_ns = knobs->wake_delay_ns;
    if (knobs->width == WIDTH_LOAD)
        width_init(sched);
    if (!lrq_may_keep(knobs))
        sched->keeps = NULL;
    sched->picks_last = knobs->search != SEARCH_GLOBAL;
}

struct lrq *lrq_new(const struct lrq_knobs *knobs)
{
    INVARIANT(knobs->ring > 0 && !(knobs->ring & (knobs->ring - 1)));
    size_t slots = (size_t)knobs->ring * sizeof(_Atomic(struct g *));
    bool blocks = knobs->queue == QUEUE_BWOS;
    size_t size = sizeof(struct lrq) + (blocks ? bwos_size(knobs->ring / BWOS_BLOCKS) : slots);
    struct lrq *lrq = machine_alloc((size + 63) & ~(size_t)63, 64);
    if (!lrq)
        fatal_env(ENOMEM, "no memory for a run queue of %lld", (long long)knobs->ring);
    machine_name(lrq, sizeof *lrq, "lrq.tail"); /* and what its owner has beside it */
    machine_name(&lrq->head, sizeof lrq->head, "lrq.head");
    machine_name(&lrq->runnext, sizeof lrq->runnext, "lrq.runnext");
    machine_name(&lrq->next_held, sizeof lrq->next_held, "lrq.runnext");
    machine_name(&lrq->next_thieves, sizeof lrq->next_thieves, "lrq.runnext");
    if (!blocks)
        machine_name(lrq->slot, slots, "lrq.slots");
    memset(lrq, 0, size);
    lrq->mask = (uint32_t)knobs->ring - 1;
    lrq->runnext_cap = (uint32_t)knobs->runnext_cap;
    lrq->tick = (int16_t)knobs->tick;
    if (knobs->tick > 0)
        lrq->tick_factor = UINT64_MAX / (uint64_t)knobs->tick + 1;
    lrq->yield = (uint8_t)knobs->yield;
    lrq->runnext_on = knobs->runnext && knobs->steal_age_ns == 0;
    lrq->inherit = knobs->inherit;
    lrq->plain_next = knobs->runnext_owner == RUNNEXT_PLAIN;
    if (lrq->plain_next && machine_fence_all() != 0)
        fatal_env(EPERM, "runnext_owner=plain needs a fence on all cores (membarrier), which is "
                         "refused here; valid: atomic");
    lrq->global_last = knobs->search == SEARCH_STEAL;
    lrq->lifo = knobs->ring_order == RING_LIFO;
    lrq->special = lrq->lifo || knobs->runnext_cap > 0 || blocks;
    if (blocks)
        lrq_make_blocks(lrq, knobs->ring / BWOS_BLOCKS);
    if (knobs->steal_age_ns > 0)
        lrq->since = sched_zalloc((size_t)knobs->ring * sizeof *lrq->since, "lrq.since");
    lrq->taken = sched_zalloc((size_t)knobs->ring * sizeof *lrq->taken, "lrq.taken");
    INVARIANT(lrq->tick == knobs->tick && lrq->yield == knobs->yield);
    return lrq;
}

void lrq_make_inbox(struct lrq *lrq)
{
    lrq->inbox = sched_zalloc(sizeof *lrq->inbox, "inbox");
    lrq->special = true;
}

void lrq_fini(struct lrq *lrq)
{
    machine_free(lrq->taken);
    machine_free(lrq->since);
    machine_free(lrq->inbox);
    machine_free(lrq->coprimes); /* or order, or met */
}

void lrq_free(struct lrq *lrq)
{
    lrq_fini(lrq);
    machine_free(lrq);
}

bool lrq_has_work(struct lrq *lrq, bool private_next)
{
    /* A G moves from runnext to the ring (put) but never back, so runnext is read between two looks
     * at the tail. The fences of the sleeping dance (S2, I3) order the rest. */
    uint32_t head = atomic_load_explicit(&lrq->head, memory_order_acquire);
    uint32_t tail = atomic_load_explicit(&lrq->tail, memory_order_acquire);
    if (head != tail)
        return !lrq_has_blocks(lrq) || lrq_blocks_have_work(lrq, private_next);
    if (!private_next && atomic_load_explicit(&lrq->runnext, memory_order_acquire))
        return true;
    return atomic_load_explicit(&lrq->tail, memory_order_acquire) != tail;
}

/* Putting ----------------------------------------------------------------------------------- */

/* Owner, who has just taken the n newest Gs of a full ring, the n in `taken` from the head: puts
 * them back at the tail, in their order. */
static void put_back(struct lrq *lrq, uint32_t n)
{
    uint32_t tail = atomic_load_explicit(&lrq->tail, memory_order_relaxed); /* own word */
    for (uint32_t i = 0; i < n; i++)
        atomic_store_explicit(&lrq->slot[(tail + i) & lrq->mask], lrq->taken[i],
                              memory_order_relaxed);                   /* by Q1 */
    atomic_store_explicit(&lrq->tail, tail + n, memory_order_release); /* Q1 */
}

/* How many of so many move to the global queue beside the one that does not fit. */
static inline uint32_t overflow_of(const struct m *m, uint32_t n)
{
    int64_t end = knobs_of(m)->overflow_end;
    INVARIANT(end >= OVERFLOW_OLDEST && end <= OVERFLOW_NEW);
    return end == OVERFLOW_NEW ? 0 : share_of(knobs_of(m)->overflow, n);
}

/* The ring was full at head: moves a part of it and then gp to the global queue. False: a thief was
 * faster. Only the head can be moved against thieves, so the newest ones are taken by taking all,
 * and the others put back; who looks meanwhile and goes to sleep, wakep() after the put wakes. */
static bool overflow(struct m *m, struct lrq *lrq, struct globq *globq, struct g *gp, uint32_t head)
{
    int64_t end = knobs_of(m)->overflow_end;
    uint32_t all = lrq->mask + 1, n = overflow_of(m, all);
    uint32_t take = end == OVERFLOW_NEWEST ? all : n;
    struct gfifo moving = {0};
    for (uint32_t i = 0; i < take; i++)
        lrq->taken[i] =
            atomic_load_explicit(&lrq->slot[(head + i) & lrq->mask], memory_order_relaxed);
    /* Only now are they ours: until here a thief might have run them, so their links were not. */
    if (take > 0 && !atomic_compare_exchange_strong_explicit(&lrq->head, &head, head + take,
                                                             memory_order_release,
                                                             memory_order_relaxed)) /* Q3 */
        return false;
    for (uint32_t i = take - n; i < take; i++)
        gfifo_push(&moving, lrq->taken[i]);
    gfifo_push(&moving, gp);
    globq_put_all(m, globq, &moving);
    if (take > n)
        put_back(lrq, take - n);
    INVARIANT(lrq_is_valid(lrq));
    stat_add(&m->stats, STAT_OVERFLOWS, 1);
    sched_event(m, SCHED_OVERFLOWED, NULL, (int32_t)n + 1, end == OVERFLOW_NEWEST);
    return true;
}

/* Out of line, as pick_slow() is, so that the usual case has no call in it and saves no registers.
 */
static __attribute__((noinline)) void put_full(struct m *m, struct lrq *lrq, struct globq *globq,
                                               struct g *gp, int64_t since);

/* since: with steal_age_ns when it came; else 0. */
static inline void put_tail(struct m *m, struct lrq *lrq, struct globq *globq, struct g *gp,
                            int64_t since)
{
    uint32_t head = atomic_load_explicit(&lrq->head, memory_order_acquire); /* Q4 */
    uint32_t tail = atomic_load_explicit(&lrq->tail, memory_order_relaxed); /* own word */
    if (__builtin_expect(tail - head > lrq->mask, 0)) {
        put_full(m, lrq, globq, gp, since);
        return;
    }
    sched_event_g(m, SCHED_PUT, gp, INTO_LOCAL, 0);
    if (since)
        atomic_store_explicit(&lrq->since[tail & lrq->mask], since,
                              memory_order_relaxed);                               /* by Q1 */
    atomic_store_explicit(&lrq->slot[tail & lrq->mask], gp, memory_order_relaxed); /* by Q1 */
    atomic_store_explicit(&lrq->tail, tail + 1, memory_order_release);             /* Q1 */
    INVARIANT(lrq_is_valid(lrq));
    stat_max(&m->stats, STAT_DEQUE_MAX, tail + 1 - head);
}

static void put_full(struct m *m, struct lrq *lrq, struct globq *globq, struct g *gp, int64_t since)
{
    if (lrq_has_blocks(lrq)) {
        if (!lrq_blocks_put(m, lrq, gp))
            lrq_blocks_overflow(m, lrq, globq, gp, overflow_of(m, (uint32_t)lrq_length(lrq)));
        return;
    }
    uint32_t head = atomic_load_explicit(&lrq->head, memory_order_acquire); /* Q4 */
    uint32_t tail = atomic_load_explicit(&lrq->tail, memory_order_relaxed); /* own word */
    if (tail - head <= lrq->mask || !overflow(m, lrq, globq, gp, head))
        put_tail(m, lrq, globq, gp, since); /* thieves have made room */
}

/* Owner: puts gp, or NULL, into runnext, and returns what was there. */
static inline struct g *next_swap(struct lrq *lrq, struct g *gp)
{
    if (lrq->plain_next) {
        atomic_store_explicit(&lrq->next_held, 1, memory_order_relaxed);                  /* Q9 */
        atomic_signal_fence(memory_order_seq_cst);                                        /* Q9 */
        bool alone = atomic_load_explicit(&lrq->next_thieves, memory_order_acquire) == 0; /* Q14 */
        struct g *before = NULL;
        if (alone) {
            /* relaxed: the owner has put it there itself */
            before = atomic_load_explicit(&lrq->runnext, memory_order_relaxed);
            atomic_store_explicit(&lrq->runnext, gp, memory_order_release); /* Q5 */
        }
        atomic_store_explicit(&lrq->next_held, 0, memory_order_release); /* Q11 */
        if (alone)
            return before;
    }
    return atomic_exchange_explicit(&lrq->runnext, gp, memory_order_acq_rel); /* Q5 */
}

/* steal_age_ns: notes when gp comes. The one that it pushes out of runnext came earlier. */
static __attribute__((noinline)) void put_dated(struct m *m, struct lrq *lrq, struct globq *globq,
                                                struct g *gp, bool next)
{
    int64_t since = machine_now();
    if (next && knobs_of(m)->runnext) {
        sched_event_g(m, SCHED_PUT, gp, INTO_RUNNEXT, 0);
        int64_t before = atomic_load_explicit(&lrq->next_since, memory_order_relaxed); /* own */
        atomic_store_explicit(&lrq->next_since, since, memory_order_relaxed);          /* by Q5 */
        gp = atomic_exchange_explicit(&lrq->runnext, gp, memory_order_acq_rel);        /* Q5 */
        if (!gp)
            return;
        since = before;
    }
    put_tail(m, lrq, globq, gp, since);
}

void lrq_put(struct m *m, struct lrq *lrq, struct globq *globq, struct g *gp, bool next)
{
    INVARIANT(gp);
    INVARIANT(gp != atomic_load_explicit(&lrq->runnext, memory_order_relaxed));
    if (next && lrq->runnext_on) {
        sched_event_g(m, SCHED_PUT, gp, INTO_RUNNEXT, 0);
        /* relaxed look: only the owner fills the slot, so an empty one stays empty until then */
        if (!atomic_load_explicit(&lrq->runnext, memory_order_relaxed)) {
            atomic_store_explicit(&lrq->runnext, gp, memory_order_release); /* Q5 */
            INVARIANT(lrq_is_valid(lrq));
            return;
        }
        gp = next_swap(lrq, gp);
        if (!gp)
            return;
    } else if (__builtin_expect(lrq->since != NULL, 0)) {
        put_dated(m, lrq, globq, gp, next);
        return;
    }
    put_tail(m, lrq, globq, gp, 0);
}

bool lrq_keeps(const struct m *m, struct lrq *lrq, struct globq *globq)
{
    /* relaxed: the caller's own puts; what others put meanwhile, they wake for themselves */
    bool next = atomic_load_explicit(&lrq->runnext, memory_order_relaxed);
    if (globq_size(globq) != 0)
        return false;
    if (lrq_has_blocks(lrq))
        return (!next || !knobs_of(m)->runnext_wake) && bwos_stealable(lrq_blocks(lrq)) == 0;
    return next && lrq_length(lrq) == 0;
}

/* Getting ----------------------------------------------------------------------------------- */

static inline struct g *take_head(struct lrq *lrq)
{
    for (;;) {
        uint32_t head = atomic_load_explicit(&lrq->head, memory_order_acquire); /* Q4 */
        if (head == atomic_load_explicit(&lrq->tail, memory_order_relaxed))     /* own word */
            return NULL;
        struct g *gp = atomic_load_explicit(&lrq->slot[head & lrq->mask], memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(&lrq->head, &head, head + 1, memory_order_release,
                                                  memory_order_relaxed)) /* Q3 */
            return gp;
    }
}

/* Owner, lifo: the newest. */
static struct g *take_tail(struct m *m, struct lrq *lrq)
{
    uint32_t tail = atomic_load_explicit(&lrq->tail, memory_order_relaxed); /* own word */
    /* relaxed: head moves up to tail only, so an owner that sees both equal cannot be wrong */
    if (tail == atomic_load_explicit(&lrq->head, memory_order_relaxed))
        return NULL;
    tail--;
    atomic_store_explicit(&lrq->tail, tail, memory_order_relaxed);          /* ordered by Q6 */
    machine_fence(&m->fence_scratch);                                       /* Q6 */
    uint32_t head = atomic_load_explicit(&lrq->head, memory_order_relaxed); /* ordered by Q6 */
    struct g *gp = NULL;
    if ((int32_t)(tail - head) >= 0) {
        /* relaxed: the owner wrote it */
        gp = atomic_load_explicit(&lrq->slot[tail & lrq->mask], memory_order_relaxed);
        if (tail != head)
            return gp;
        if (!atomic_compare_exchange_strong_explicit(
                &lrq->head, &head, head + 1, memory_order_seq_cst, memory_order_relaxed)) /* Q8 */
            gp = NULL;
    }
    /* empty: head == tail. relaxed: there is no new slot to publish */
    atomic_store_explicit(&lrq->tail, tail + 1, memory_order_relaxed);
    return gp;
}

static inline struct g *take_special(struct m *m, struct lrq *lrq)
{
    if (lrq_has_blocks(lrq))
        return lrq_blocks_get(m, lrq);
    return lrq->lifo ? take_tail(m, lrq) : take_head(lrq);
}

static inline struct g *get_ring(struct m *m, struct lrq *lrq, bool special)
{
    struct g *gp = special ? take_special(m, lrq) : take_head(lrq);
    stat_add(&m->stats, STAT_LOCAL_HITS, gp != NULL);
    sched_event(m, SCHED_TAKEN, gp, FROM_LOCAL, 0);
    return gp;
}

static inline struct g *get_next(struct m *m, struct lrq *lrq, bool *inherit)
{
    /* relaxed look: only the owner fills the slot */
    if (!atomic_load_explicit(&lrq->runnext, memory_order_relaxed))
        return NULL;
    struct g *gp = next_swap(lrq, NULL);
    if (gp) {
        *inherit = lrq->inherit;
        stat_add(&m->stats, STAT_RUNNEXT_HITS, 1);
        sched_event(m, SCHED_TAKEN, gp, FROM_RUNNEXT, 0);
    }
    return gp;
}

/* Puts what others have put into the inbox at the tail, of which an overflow may take a part to the
 * global queue. Others see each in one of these at any time, but for the tail of a ring that
 * overflows whole: for who saw nothing then, and sleeps, it wakes one. */
static void inbox_empty(struct m *m, struct lrq *lrq, struct globq *globq)
{
    struct inbox *inbox = lrq->inbox;
    struct g *gp;
    lock_acquire(&inbox->lock);
    while ((gp = gfifo_pop(&inbox->fifo)))
        lrq_put(m, lrq, globq, gp, false);
    inbox_publish(inbox); /* last: has_work() must not find all of them empty */
    lock_release(&inbox->lock);
    wakep(m);
}

static __attribute__((noinline)) struct g *get_special(struct m *m, struct lrq *lrq,
                                                       struct globq *globq, bool *inherit)
{
    struct g *gp;
    if (lrq_has_blocks(lrq) && !lrq->inbox && lrq->runnext_cap == 0) {
        gp = get_next(m, lrq, inherit);
        return gp ? gp : get_ring(m, lrq, true);
    }
    if (lrq->inbox && globq && inbox_size(lrq->inbox) > 0)
        inbox_empty(m, lrq, globq);
    bool capped = lrq->runnext_cap > 0;
    if (capped && lrq->next_runs >= lrq->runnext_cap) {
        lrq->next_runs = 0;
        gp = get_ring(m, lrq, true);
        if (gp)
            return gp;
    }
    gp = get_next(m, lrq, inherit);
    if (gp) {
        lrq->next_runs += capped;
        return gp;
    }
    lrq->next_runs = 0;
    return get_ring(m, lrq, true);
}

/* globq: where the inbox may overflow to; NULL: it is left alone. */
static inline struct g *get(struct m *m, struct lrq *lrq, struct globq *globq, bool *inherit)
{
    if (__builtin_expect(lrq->special, 0))
        return get_special(m, lrq, globq, inherit);
    struct g *gp = get_next(m, lrq, inherit);
    return gp ? gp : get_ring(m, lrq, false);
}

struct g *lrq_get(struct m *m, struct lrq *lrq, bool *inherit)
{
    INVARIANT(lrq_is_valid(lrq));
    return get(m, lrq, NULL, inherit);
}

void lrq_drain(struct m *m, struct lrq *lrq, struct globq *globq)
{
    struct g *gp;
    INVARIANT(lrq_is_valid(lrq));
    while ((gp = lrq_has_blocks(lrq) ? lrq_blocks_get(m, lrq) : take_head(lrq)))
        globq_put(m, globq, gp);
    if ((gp = atomic_exchange_explicit(&lrq->runnext, NULL, memory_order_acq_rel))) /* Q5 */
        globq_put(m, globq, gp);
    while (lrq->inbox && (gp = inbox_get(lrq->inbox)))
        globq_put(m, globq, gp);
}

int64_t lrq_length(struct lrq *lrq)
{
    if (lrq_has_blocks(lrq))
        return bwos_length(lrq_blocks(lrq));
    /* relaxed: a snapshot; with lifo tail may be head - 1 */
    uint32_t head = atomic_load_explicit(&lrq->head, memory_order_relaxed);
    int32_t n = (int32_t)(atomic_load_explicit(&lrq->tail, memory_order_relaxed) - head);
    return n > 0 ? n : 0;
}

/* steal_age_ns: the n from that place on may be stolen at once. relaxed: by Q1 */
static void dates_clear(struct lrq *lrq, uint32_t at, int64_t n)
{
    for (uint32_t i = 0; i < n; i++)
        atomic_store_explicit(&lrq->since[(at + i) & lrq->mask], 0, memory_order_relaxed);
}

/* Moves up to n Gs from the list, or without its lock from its ring, to the tail of the owner's
 * ring, which has room. Returns how many. */
static uint32_t move_batch(struct m *m, struct lrq *lrq, struct globq *globq, bool ring, int64_t n)
{
    if (lrq_has_blocks(lrq))
        return lrq_blocks_move(m, lrq, globq, ring, n);
    uint32_t tail = atomic_load_explicit(&lrq->tail, memory_order_relaxed); /* own word */
    uint32_t before = tail;
    struct g *gp;
    INVARIANT(lrq_length(lrq) + n <= (int64_t)lrq->mask + 1);
    if (lrq->since) /* before n counts down */
        dates_clear(lrq, tail, n);
    while (n-- > 0 && (gp = ring ? mpmc_get(globq->ring) : gfifo_pop_ahead(m, &globq->fifo)))
        atomic_store_explicit(&lrq->slot[tail++ & lrq->mask], gp, memory_order_relaxed); /* by Q1 */
    atomic_store_explicit(&lrq->tail, tail, memory_order_release);                       /* Q1 */
    stat_max(&m->stats, STAT_DEQUE_MAX,
             tail - atomic_load_explicit(&lrq->head, memory_order_relaxed));
    sched_event(m, SCHED_MOVED, NULL, (int32_t)(tail - before), 0);
    return tail - before;
}

/* How many one visit takes of `size` in the global queue, at least 1: the first one runs, and the
 * rest has room in an empty ring. */
static int64_t batch_of(const struct m *m, int64_t size, int32_t procs)
{
    int64_t take = knobs_of(m)->take, ring = knobs_of(m)->ring;
    switch (take) {
    case TAKE_BATCH:
        return int64_min(ring / 2, size / procs + 1);
    case TAKE_HALF:
        return int64_min(ring / 2, size / (2 * (int64_t)procs) + 1);
    case TAKE_ONE:
        return 1;
    case TAKE_ALL:
        return ring;
    default:
        return int64_min(ring, take);
    }
}

/* A batch from the ring. While the Gs come, nobody sees them, so this wakes one. */
static struct g *ring_batch(struct m *m, struct lrq *lrq, struct globq *globq, int32_t procs)
{
    int64_t n = batch_of(m, mpmc_size(globq->ring), procs);
    struct g *gp = mpmc_get(globq->ring);
    if (gp && n > 1 && move_batch(m, lrq, globq, true, n - 1) > 0)
        wakep(m);
    return gp;
}

/* One from the list. The Gs are in the owner's ring before they are seen to have left the list:
 * has_work() must not find both empty. */
static struct g *list_batch(struct m *m, struct lrq *lrq, struct globq *globq, int32_t procs)
{
    globq_lock_to_take(m, globq);
    INVARIANT(globq_is_valid(globq));
    int64_t n = batch_of(m, gfifo_size(&globq->fifo), procs);
    INVARIANT(n >= 1);
    struct g *gp = gfifo_pop(&globq->fifo);
    if (n > 1 && gfifo_size(&globq->fifo) > 0)
        move_batch(m, lrq, globq, false, n - 1);
    globq_publish(globq);
    globq_unlock(m, globq);
    return gp;
}

/* last: after the victims, where search=steal would leave the global queue alone before them. */
static struct g *get_global(struct m *m, struct lrq *lrq, struct globq *globq, int32_t procs,
                            bool last)
{
    INVARIANT(procs > 0);
    if (globq_is_empty(globq) || (lrq->global_last && !last))
        return NULL;
    struct g *gp = NULL;
    if (globq->ring)
        gp = ring_batch(m, lrq, globq, procs);
    if (!globq->ring || (!gp && !globq_list_is_empty(globq)))
        gp = list_batch(m, lrq, globq, procs);
    if (gp)
        stat_add(&m->stats, STAT_GRQ_HITS, 1);
    INVARIANT(lrq_is_valid(lrq));
    sched_event(m, SCHED_TAKEN, gp, FROM_GLOBAL, 0);
    return gp;
}

struct g *lrq_get_global(struct m *m, struct lrq *lrq, struct globq *globq, int32_t procs)
{
    return get_global(m, lrq, globq, procs, true);
}

/* Is it the global queue's turn? Source: Go 1.26 proc.go findRunnable. The usual kind of knob
 * takes no division. n is a multiple of d exactly if n * F mod 2^64 < F, F = ceil(2^64 / d), n of
 * 32 bits; for d = 1 F would be 2^64, and is stored as 0. Source: [LKK19]. */
static inline bool tick_is_due(const struct m *m, const struct lrq *lrq)
{
    return p_schedtick(m->p) * lrq->tick_factor <= lrq->tick_factor - 1;
}

static __attribute__((noinline)) struct g *pick_slow(struct m *m, struct lrq *lrq,
                                                     struct globq *globq, bool *inherit)
{
    struct g *gp;
    if (lrq_tick_is_due(m, lrq) && (gp = globq_get(m, globq))) {
        stat_add(&m->stats, STAT_TICK_POLLS, 1);
        stat_add(&m->stats, STAT_GRQ_HITS, 1);
        sched_event(m, SCHED_TAKEN, gp, FROM_TICK, 0);
        return gp;
    }
    gp = get(m, lrq, globq, inherit);
    return gp ? gp : get_global(m, lrq, globq, sched_procs_used(m->sched), false);
}

struct g *lrq_pick(struct m *m, struct lrq *lrq, struct globq *globq, bool *inherit)
{
    INVARIANT(m->p);
    INVARIANT(lrq_is_valid(lrq));
    /* a look; who takes one looks again */
    if (globq_size(globq) != 0 && (lrq->tick <= 0 || tick_is_due(m, lrq)))
        return pick_slow(m, lrq, globq, inherit);
    struct g *gp = get(m, lrq, globq, inherit);
    return gp ? gp : get_global(m, lrq, globq, sched_procs_used(m->sched), false);
}

bool lrq_tick_is_due(struct m *m, const struct lrq *lrq)
{
    return lrq->tick > 0 ? tick_is_due(m, lrq)
                         : lrq->tick == TICK_RANDOM && m_random(m) % TICK_RANDOM_MEAN == 0;
}

struct g *lrq_pick_of(struct m *m, struct lrq *lrq, struct globq *globq, int32_t procs,
                      bool *inherit)
{
    struct g *gp = get(m, lrq, globq, inherit);
    return gp ? gp : get_global(m, lrq, globq, procs, false);
}

/* Stealing ---------------------------------------------------------------------------------- */

/* steal_age_ns: has it been here for too short a time? */
static bool is_young(const struct m *m, const _Atomic int64_t *since)
{
    return machine_now() - atomic_load_explicit(since, memory_order_relaxed) <
           knobs_of(m)->steal_age_ns;
}

/* Counts, from victim's head on and up to n, those before the first young one; copies their times
 * behind those of mine's. relaxed: by Q2, and thrown away with the Gs if it was too late */
static uint32_t dates_copy(const struct m *m, struct lrq *mine, uint32_t at,
                           const struct lrq *victim, uint32_t head, uint32_t n)
{
    uint32_t i = 0;
    for (; i < n && !is_young(m, &victim->since[(head + i) & victim->mask]); i++) {
        int64_t since =
            atomic_load_explicit(&victim->since[(head + i) & victim->mask], memory_order_relaxed);
        atomic_store_explicit(&mine->since[(at + i) & mine->mask], since, memory_order_relaxed);
    }
    return i;
}

/* Thief: takes gp out of victim's runnext, if it is still there. */
static bool next_claim(struct m *m, struct lrq *victim, struct g *gp)
{
    bool alone = true;
    if (victim->plain_next) {
        /* relaxed: a look, so that nobody is interrupted for what its owner has run meanwhile */
        if (atomic_load_explicit(&victim->runnext, memory_order_relaxed) != gp)
            return false;
        /* relaxed: ordered by the fence */
        atomic_fetch_add_explicit(&victim->next_thieves, 1, memory_order_relaxed);   /* Q10 */
        fence_cores(m);                                                              /* Q10 */
        alone = atomic_load_explicit(&victim->next_held, memory_order_acquire) == 0; /* Q12 */
    }
    bool taken = alone && atomic_compare_exchange_strong_explicit(&victim->runnext, &gp, NULL,
                                                                  memory_order_acq_rel,
                                                                  memory_order_relaxed); /* Q5 */
    if (victim->plain_next)
        atomic_fetch_sub_explicit(&victim->next_thieves, 1, memory_order_release); /* Q13 */
    return taken;
}

static struct g *steal_next_slot(struct m *m, struct lrq *victim, bool victim_runs)
{
    int64_t backoff = knobs_of(m)->backoff_ns;
    struct g *gp = atomic_load_explicit(&victim->runnext, memory_order_acquire); /* Q5 */
    if (!gp || (knobs_of(m)->steal_age_ns > 0 && is_young(m, &victim->next_since)))
        return NULL;
    /* A G that has just been readied is about to run where its waker ran; give it the time. */
    if (victim_runs && backoff > 0)
        machine_sleep(backoff);
    if (!next_claim(m, victim, gp))
        return NULL;
    stat_add(&m->stats, STAT_RUNNEXT_STEALS, 1);
    sched_event(m, SCHED_STOLEN, NULL, 1, true);
    return gp;
}

/* Copies a share of victim's ring behind mine's tail, without publishing it; how many. */
static uint32_t grab(struct m *m, struct lrq *mine, struct lrq *victim)
{
    for (;;) {
        uint32_t head = atomic_load_explicit(&victim->head, memory_order_acquire); /* Q4 */
        uint32_t tail = atomic_load_explicit(&victim->tail, memory_order_acquire); /* Q2 */
        uint32_t size = tail - head;
        if (size > victim->mask + 1)
            continue; /* head and tail were not read at one time */
        uint32_t n = share_of(knobs_of(m)->steal, size);
        if (n == 0)
            return 0;
        uint32_t at = atomic_load_explicit(&mine->tail, memory_order_relaxed); /* own word */
        if (mine->since && (n = dates_copy(m, mine, at, victim, head, n)) == 0)
            return 0;
        for (uint32_t i = 0; i < n; i++) {
            struct g *gp = atomic_load_explicit(&victim->slot[(head + i) & victim->mask],
                                                memory_order_relaxed); /* by Q2 */
            atomic_store_explicit(&mine->slot[(at + i) & mine->mask], gp, memory_order_relaxed);
        }
        if (atomic_compare_exchange_weak_explicit(&victim->head, &head, head + n,
                                                  memory_order_acq_rel,
                                                  memory_order_relaxed)) /* Q3 */
            return n;
    }
}

/* The same of a ring with lifo: one by one, as many as are a share of those that it first sees. */
static uint32_t grab_each(struct m *m, struct lrq *mine, struct lrq *victim)
{
    uint32_t at = atomic_load_explicit(&mine->tail, memory_order_relaxed); /* own word */
    uint32_t n = 0, most = UINT32_MAX;
    while (n < most) {
        uint32_t head = atomic_load_explicit(&victim->head, memory_order_acquire); /* Q4 */
        machine_fence(&m->fence_scratch);                                          /* Q7 */
        uint32_t tail = atomic_load_explicit(&victim->tail, memory_order_acquire); /* Q2 */
        int32_t size = (int32_t)(tail - head);
        if (size <= 0)
            break;
        if (size > (int32_t)victim->mask + 1)
            continue; /* head and tail were not read at one time */
        if (most == UINT32_MAX)
            most = share_of(knobs_of(m)->steal, (uint32_t)size);
        if (mine->since && dates_copy(m, mine, at + n, victim, head, 1) == 0)
            break;
        struct g *gp = atomic_load_explicit(&victim->slot[head & victim->mask],
                                            memory_order_relaxed); /* by Q2 */
        if (!atomic_compare_exchange_strong_explicit(&victim->head, &head, head + 1,
                                                     memory_order_seq_cst,
                                                     memory_order_relaxed)) /* Q8 */
            continue;
        atomic_store_explicit(&mine->slot[(at + n) & mine->mask], gp, memory_order_relaxed);
        n++;
    }
    return n;
}

/* With blocks it puts all but the last one into its own, and that one into *gp. */
static uint32_t grab_special(struct m *m, struct lrq *mine, struct lrq *victim, struct g **gp)
{
    if (lrq_has_blocks(mine)) {
        struct bwos *from = lrq_blocks(victim);
        return lrq_blocks_grab(m, mine, victim,
                               share_of(knobs_of(m)->steal, (uint32_t)bwos_stealable(from)), gp);
    }
    return mine->lifo ? grab_each(m, mine, victim) : grab(m, mine, victim);
}

/* Publishes all but the youngest of the n that were copied behind mine's tail; returns that one. */
static inline struct g *publish(struct lrq *mine, uint32_t n)
{
    uint32_t tail = atomic_load_explicit(&mine->tail, memory_order_relaxed); /* own word */
    struct g *gp =
        atomic_load_explicit(&mine->slot[(tail + n - 1) & mine->mask], memory_order_relaxed);
    if (n > 1)
        atomic_store_explicit(&mine->tail, tail + n - 1, memory_order_release); /* Q1 */
    return gp;
}

struct g *lrq_steal(struct m *m, struct lrq *mine, struct lrq *victim, bool steal_next,
                    bool victim_runs)
{
    INVARIANT(mine != victim);
    INVARIANT(lrq_length(mine) == 0);
    stat_add(&m->stats, STAT_VICTIM_PROBES, 1);
    struct g *gp = NULL;
    uint32_t n = mine->special ? grab_special(m, mine, victim, &gp) : grab(m, mine, victim);
    if (n == 0) {
        gp = steal_next ? steal_next_slot(m, victim, victim_runs) : NULL;
        stat_add(&m->stats, STAT_STOLEN, gp != NULL);
        return gp;
    }
    if (!gp)
        gp = publish(mine, n);
    INVARIANT(lrq_is_valid(mine));
    stat_add(&m->stats, STAT_STOLEN, n);
    sched_event(m, SCHED_STOLEN, NULL, (int32_t)n, false);
    return gp;
}
