/* gqueue.h - FIFOs of Gs through g->link: a list, and one for very many behind a lock, the global
 * queue.
 *
 * Source: Go 1.26 runtime/proc.go gQueue, globrunqput, globrunqget, globrunqgetbatch.
 * Invariant of struct gqueue: head is NULL if and only if size is 0; tail->link is NULL.
 */
#ifndef SCHEDLAB_GQUEUE_H
#define SCHEDLAB_GQUEUE_H

#include "mpmc.h"

struct gqueue {
    struct g *head, *tail;
    _Atomic int64_t size; /* relaxed: one thread writes it, schedtrace looks */
};

static inline int64_t gqueue_size(const struct gqueue *queue)
{
    return atomic_load_explicit(&queue->size, memory_order_relaxed);
}

/* By its one thread. */
static inline bool gqueue_is_valid(const struct gqueue *queue)
{
    return HOLDS(gqueue_size(queue) >= 0) &&
           HOLDS((queue->head == NULL) == (gqueue_size(queue) == 0)) &&
           HOLDS((queue->head == NULL) == (queue->tail == NULL)) &&
           HOLDS(!queue->tail || !queue->tail->link);
}

static inline void gqueue_push(struct gqueue *queue, struct g *gp)
{
    INVARIANT(gp != queue->tail);
    gp->link = NULL;
    if (queue->tail)
        queue->tail->link = gp;
    else
        queue->head = gp;
    queue->tail = gp;
    atomic_store_explicit(&queue->size, gqueue_size(queue) + 1, memory_order_relaxed);
    INVARIANT(gqueue_is_valid(queue));
}

static inline struct g *gqueue_pop(struct gqueue *queue)
{
    struct g *gp = queue->head;
    if (gp) {
        queue->head = gp->link;
        if (!queue->head)
            queue->tail = NULL;
        atomic_store_explicit(&queue->size, gqueue_size(queue) - 1, memory_order_relaxed);
    }
    INVARIANT(gqueue_is_valid(queue));
    return gp;
}

/* A FIFO in LANES lists, dealt out and taken in turn, so that the order is that of one list. Why: a
 * list of a million Gs is not in the cache, and one link after the other would be waited for. Here
 * each pop orders the G that its lane gives LANES pops later.
 * Invariant: the n-th G put is in lane n % LANES; in - out Gs are in it, and lanes without any have
 * head NULL. */
enum { LANES = 8 };
struct gfifo {
    struct glane {
        struct g *head, *tail; /* tail is stale in an empty lane */
    } lane[LANES];
    uint64_t in, out; /* Gs put and taken so far */
};

static inline int64_t gfifo_size(const struct gfifo *fifo)
{
    return (int64_t)(fifo->in - fifo->out);
}

/* Under its lock: the lanes hold as many as the counts say, as far as one look per lane tells. */
static inline bool gfifo_is_valid(const struct gfifo *fifo)
{
    if (!HOLDS(fifo->out <= fifo->in))
        return false;
    for (uint32_t i = 0; i < LANES; i++) {
        const struct glane *lane = &fifo->lane[(fifo->out + i) % LANES];
        if (!HOLDS((lane->head != NULL) == (i < fifo->in - fifo->out)) ||
            !HOLDS(!lane->head || (lane->tail && !lane->tail->link)))
            return false;
    }
    return true;
}

static inline void gfifo_push(struct gfifo *fifo, struct g *gp)
{
    INVARIANT(gp);
    struct glane *lane = &fifo->lane[fifo->in++ % LANES];
    gp->link = NULL;
    if (lane->head)
        lane->tail->link = gp;
    else
        lane->head = gp;
    lane->tail = gp;
    INVARIANT(gfifo_is_valid(fifo));
}

/* NULL if there is none. */
static inline struct g *gfifo_pop(struct gfifo *fifo)
{
    struct glane *lane = &fifo->lane[fifo->out % LANES];
    struct g *gp = lane->head;
    if (gp) {
        lane->head = gp->link;
        __builtin_prefetch(gp->link, 1);
        fifo->out++;
    }
    INVARIANT(gfifo_is_valid(fifo));
    return gp;
}

/* Likewise, for a batch that m will soon run. If another M ran the G last, orders the lines on
 * which it will go on, its context and its last calls. So those of a batch come together, and no
 * switch waits for its own. A hint: that M may not have stored sp yet. */
static inline struct g *gfifo_pop_ahead(const struct m *m, struct gfifo *fifo)
{
    struct g *gp = gfifo_pop(fifo);
    if (gp && gp->last_m != m && gp->stack) {
        machine_prefetch(gp->sp);
        machine_prefetch((const char *)gp->sp + 64);
    }
    return gp;
}

/* Appends all of from to the end of to; from is void afterwards. */
static inline void gfifo_append(struct gfifo *to, struct gfifo *from)
{
    for (uint32_t i = 0; i < LANES; i++) {
        struct glane *lane = &from->lane[(from->out + i) % LANES];
        struct glane *behind = &to->lane[(to->in + i) % LANES];
        if (!lane->head)
            break;
        if (behind->head)
            behind->tail->link = lane->head;
        else
            behind->head = lane->head;
        behind->tail = lane->tail;
    }
    to->in += from->in - from->out;
    INVARIANT(gfifo_is_valid(to));
}

/* The global queue (GRQ). size is that of the list. It is written under the lock, and read without
 * it, as a hint whose only promise is the one of the sleeping dance (idle.c): after S2 and I3 a put
 * is not missed. GQ1 pairs with GQ2: who sees it empty sees where the Gs of a batch have gone.
 *
 * With a ring the list has only what the ring has no room for. While some wait in the list, those
 * who come wait behind them. A batch from the ring is in no queue for a moment, so who
 * moves one wakes somebody afterwards. */
struct globq {
    _Alignas(64) struct qlock lock;
    _Atomic int64_t size;
    struct gfifo fifo;
    /* NULL: none. On a line that is only read: a look at the lock's own would fetch that twice, to
     * read and then to write */
    _Alignas(64) struct mpmc *ring;
    /* Held by the one of globq_lock_to_take() that waits for the lock; the others wait for this. */
    _Alignas(64) lock_t takers;
};

enum globq_kind { GLOBQ_LOCKED, GLOBQ_MPMC };
extern const char *const globq_words[]; /* "locked", "mpmc" */

/* Lets it have a ring. Pre: it is empty, and of one thread. */
void globq_add_ring(struct globq *globq);
void globq_fini(struct globq *globq);

/* All zero is an empty queue already; gives its parts their names. */
static inline void globq_init(struct globq *globq)
{
    machine_name(&globq->lock, sizeof globq->lock, "grq.lock");
    machine_name(&globq->takers, sizeof globq->takers, "grq.lock");
    machine_name(&globq->size, sizeof globq->size, "grq.size");
    machine_name(&globq->fifo, sizeof globq->fifo, "grq.list");
    machine_name(&globq->ring, sizeof globq->ring, "sched");
}

static inline bool globq_list_is_empty(struct globq *globq)
{
    return atomic_load_explicit(&globq->size, memory_order_acquire) == 0; /* GQ2 */
}

static inline bool globq_is_empty(struct globq *globq)
{
    return globq_list_is_empty(globq) && (!globq->ring || mpmc_is_empty(globq->ring));
}

static inline void globq_lock(struct m *m, struct globq *globq)
{
    grq_lock_count(m, qlock_acquire(&globq->lock, &m->lock_node));
}

static inline void globq_unlock(struct m *m, struct globq *globq)
{
    qlock_release(&globq->lock, &m->lock_node);
}

/* A hint. */
static inline int64_t globq_size(struct globq *globq)
{
    int64_t size = atomic_load_explicit(&globq->size, memory_order_relaxed);
    return globq->ring ? size + mpmc_size(globq->ring) : size;
}

/* Pre: lock. */
static inline bool globq_is_valid(const struct globq *globq)
{
    return HOLDS(qlock_is_held(&globq->lock)) &&
           HOLDS(atomic_load_explicit(&globq->size, memory_order_relaxed) ==
                 gfifo_size(&globq->fifo)) &&
           gfifo_is_valid(&globq->fifo);
}

/* Pre: lock. */
static inline void globq_publish(struct globq *globq)
{
    atomic_store_explicit(&globq->size, gfifo_size(&globq->fifo), memory_order_release); /* GQ1 */
    INVARIANT(globq_is_valid(globq));
}

/* Most times the lock is the plain one and free. Then nothing is called while it is held, so that
 * the callers' usual paths save no registers; the rest is out of line, in gqueue.c. */
static inline bool globq_lock_at_once(struct m *m, struct globq *globq)
{
    if (__builtin_expect(m->lock_node.kind != QLOCK_TTAS || !lock_try(&globq->lock.word), 0))
        return false;
    grq_lock_count(m, 0);
    return true;
}

/* Out of line: with a ring, and while the lock is not to be had at once. */
int64_t globq_put_slow(struct m *m, struct globq *globq, struct g *gp);
struct g *globq_get_slow(struct m *m, struct globq *globq);
void globq_lock_to_take_slow(struct m *m, struct globq *globq);

/* For workers whose own queue is empty, which take a batch: one at a time waits for the lock,
 * beside those that put and those whose tick has come. If all do, whoever spawns stands in a crowd
 * each time its ring is full, and puts too few. A share of one in P is a single G then, and each
 * worker takes the lock for each G that it runs. On 128 simulated cores tasks of 2.4 us went at 1.2
 * to 5.7 million a second that way, by the seed, where they go at 5.9 to 6.7 (docs/SCALING.md).
 *   Differs: in Go 1.26 all wait for sched.lock alike.
 *   Rejected: to leave as soon as the queue is seen empty: all watch that word, or go to sleep
 *   together. An mcs lock instead: a spawner waits behind all. */
static inline void globq_lock_to_take(struct m *m, struct globq *globq)
{
    if (!globq_lock_at_once(m, globq))
        globq_lock_to_take_slow(m, globq);
}

/* Pre: lock. Returns how many there are now. */
static inline int64_t globq_push(struct m *m, struct globq *globq, struct g *gp)
{
    INVARIANT(globq_is_valid(globq));
    sched_event_g(m, SCHED_PUT, gp, INTO_GLOBAL, 0);
    gfifo_push(&globq->fifo, gp);
    int64_t size = gfifo_size(&globq->fifo);
    globq_publish(globq);
    return size;
}

/* Pre: lock. */
static inline struct g *globq_pop(struct globq *globq)
{
    INVARIANT(globq_is_valid(globq));
    struct g *gp = gfifo_pop(&globq->fifo);
    globq_publish(globq);
    return gp;
}

/* Returns how many there are now, or MPMC_UNSEEN. */
static inline int64_t globq_put(struct m *m, struct globq *globq, struct g *gp)
{
    if (__builtin_expect(globq->ring != NULL, 0) || !globq_lock_at_once(m, globq))
        return globq_put_slow(m, globq, gp);
    int64_t size = globq_push(m, globq, gp);
    lock_release(&globq->lock.word);
    return size;
}

/* Puts all of the batch, which is void afterwards. */
void globq_put_all(struct m *m, struct globq *globq, struct gfifo *batch);

/* The oldest, or NULL. Looks without the lock first. */
static inline struct g *globq_get(struct m *m, struct globq *globq)
{
    if (globq_is_empty(globq))
        return NULL;
    if (__builtin_expect(globq->ring != NULL, 0) || !globq_lock_at_once(m, globq))
        return globq_get_slow(m, globq);
    struct g *gp = globq_pop(globq);
    lock_release(&globq->lock.word);
    return gp;
}

#endif
