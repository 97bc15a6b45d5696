/* msqueue.h - an unbounded FIFO of Gs in a linked list, without a lock.
 *
 * Source: [Michael96], the non-blocking queue. Same: the list begins with a node whose G is gone;
 * who puts links its node behind the last one, and then moves the tail, and who finds the tail
 * behind moves it first. Words are an index and a tag that changes with each change of the word, so
 * that a word that comes again is not taken for the old one (ABA). Ended nodes are in a stack
 * [Treiber86].
 *   Differs: the node goes with the G. A reader gives its G the node that has left the list, and
 *            the G's next put uses that one. The stack has those of ended Gs alone.
 *   Why:     a stack that each put and get uses is one more word that all workers write.
 *
 * Memory: a node for each of the most Gs alive at one time, and one more, in blocks that double.
 * They stay until the queue ends. So a late reader may read a node that serves another G by now. It
 * throws away what it has read, since the word that it then wants to change has another tag.
 *
 * Orders
 *   MS1  release CAS of a node's next, the link   pairs with  MS2 acquire load of next (the G, and
 *        its node)
 *   MS3  release CAS of an end                    pairs with  MS4 acquire load of it (its node, not
 *        as it was before it came into the list)
 *   MS5  release store of next in a node that has left the list   pairs with  MS2 (who reads that
 *        finds that the end has moved away from the node)
 *   MS6  release CAS of the stack, a push         pairs with  MS7 acquire load of it (next)
 *   MS8  release store of a new block             pairs with  MS9 acquire load of it (all zero)
 * A worker that asks if it is empty before it sleeps has fenced (idle.c: S2 and I3).
 * Invariants: the tag of the tail is the number of puts, that of the head of gets; a G that waits
 * in it has no node of its own (gp->tag is 0).
 */
#ifndef SCHEDLAB_MSQUEUE_H
#define SCHEDLAB_MSQUEUE_H

#include "g.h"

enum { MSQ_BLOCK = 256, MSQ_BLOCKS = 23 }; /* of the first block; 2^31 nodes in all */

struct msq_node {
    _Atomic uint64_t next;  /* index 0: none */
    _Atomic(struct g *) gp; /* relaxed: MS1 hands it over; stale ones are thrown away */
};

struct msqueue {
    _Alignas(64) _Atomic uint64_t tail;
    _Alignas(64) _Atomic uint64_t head;
    _Alignas(64) _Atomic uint64_t ended; /* the stack of nodes */
    _Atomic uint32_t made;               /* nodes; relaxed: a number is for one */
    lock_t lock;                         /* who makes a block */
    _Alignas(64) _Atomic(struct msq_node *) block[MSQ_BLOCKS];
};

static inline uint32_t msq_index(uint64_t word)
{
    return (uint32_t)word;
}

/* With that index in place of its own. */
static inline uint64_t msq_changed(uint64_t word, uint32_t index)
{
    return ((word >> 32) + 1) << 32 | index;
}

/* Nodes --------------------------------------------------------------------------------------- */

/* Block k has the nodes from MSQ_BLOCK * (2^k - 1) on. */
static inline uint32_t msq_block(uint32_t index)
{
    return 31 - (uint32_t)__builtin_clz(index / MSQ_BLOCK + 1);
}

static inline struct msq_node *msq_node(struct msqueue *queue, uint32_t index)
{
    uint32_t k = msq_block(index);
    struct msq_node *block = atomic_load_explicit(&queue->block[k], memory_order_acquire); /* MS9 */
    return block + (index - MSQ_BLOCK * ((UINT32_C(1) << k) - 1));
}

static inline void msq_make_block(struct msqueue *queue, uint32_t k)
{
    INVARIANT(k < MSQ_BLOCKS);
    lock_acquire(&queue->lock);
    /* relaxed: under the lock */
    struct msq_node *block = atomic_load_explicit(&queue->block[k], memory_order_relaxed);
    if (!block) {
        block = sched_zalloc((MSQ_BLOCK << k) * sizeof *block, "grq.cells");
        atomic_store_explicit(&queue->block[k], block, memory_order_release); /* MS8 */
    }
    lock_release(&queue->lock);
}

static inline uint32_t msq_make_node(struct msqueue *queue)
{
    uint32_t index = atomic_fetch_add_explicit(&queue->made, 1, memory_order_relaxed);
    uint32_t k = msq_block(index);
    if (!atomic_load_explicit(&queue->block[k], memory_order_acquire)) /* MS9 */
        msq_make_block(queue, k);
    return index;
}

/* The node of an ended G, or a new one. */
static inline uint32_t msq_get_node(struct msqueue *queue)
{
    uint64_t top = atomic_load_explicit(&queue->ended, memory_order_acquire), next; /* MS7 */
    do {
        if (!msq_index(top))
            return msq_make_node(queue);
        /* relaxed: by MS7, or thrown away */
        next = atomic_load_explicit(&msq_node(queue, msq_index(top))->next, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(
        &queue->ended, &top, msq_changed(top, msq_index(next)), memory_order_acquire,
        memory_order_acquire)); /* MS7 */
    return msq_index(top);
}

/* Nobody else changes the next of a node that has left the list: tags. */
static inline void msq_set_next(struct msq_node *node, uint32_t index)
{
    uint64_t next = atomic_load_explicit(&node->next, memory_order_relaxed); /* own word */
    atomic_store_explicit(&node->next, msq_changed(next, index), memory_order_release); /* MS5 */
}

/* gp has ended. */
static inline void msq_ended(struct msqueue *queue, struct g *gp)
{
    if (!gp->tag) /* it was never put */
        return;
    struct msq_node *node = msq_node(queue, (uint32_t)gp->tag);
    uint64_t top = atomic_load_explicit(&queue->ended, memory_order_relaxed); /* compared only */
    do
        msq_set_next(node, msq_index(top));
    while (!atomic_compare_exchange_weak_explicit(
        &queue->ended, &top, msq_changed(top, (uint32_t)gp->tag), memory_order_release,
        memory_order_relaxed)); /* MS6 */
    gp->tag = 0;
}

/* The queue ----------------------------------------------------------------------------------- */

static inline void msq_init(struct msqueue *queue)
{
    machine_name(&queue->tail, sizeof queue->tail, "grq.tail");
    machine_name(&queue->head, sizeof queue->head, "grq.head");
    machine_name(&queue->ended, sizeof queue->ended, "grq.list");
    msq_make_block(queue, 0);
    atomic_init(&queue->made, 2); /* 0 is none, 1 the list's first */
    atomic_init(&queue->head, 1);
    atomic_init(&queue->tail, 1);
}

static inline void msq_fini(struct msqueue *queue)
{
    for (int k = 0; k < MSQ_BLOCKS; k++)
        machine_free(atomic_load_explicit(&queue->block[k], memory_order_relaxed)); /* at rest */
}

/* A hint while others put and take. */
static inline int64_t msq_size(const struct msqueue *queue)
{
    uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    int32_t size = (int32_t)((tail >> 32) - (head >> 32));
    return size > 0 ? size : 0; /* the tail was behind */
}

/* The word is still the same, after a look at its node's next, which is of its time then. relaxed:
 * MS2 and MS5 */
static inline bool msq_holds(const _Atomic uint64_t *end, uint64_t word)
{
    return atomic_load_explicit(end, memory_order_relaxed) == word;
}

/* May err towards false. */
static inline bool msq_is_empty(struct msqueue *queue)
{
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire); /* MS4 */
    uint64_t next = atomic_load_explicit(&msq_node(queue, msq_index(head))->next,
                                         memory_order_acquire); /* MS2 */
    return !msq_index(next) && msq_holds(&queue->head, head);
}

/* Moves an end on from `word`, if it is there. */
static inline bool msq_move(_Atomic uint64_t *end, uint64_t word, uint32_t index)
{
    return atomic_compare_exchange_strong_explicit(
        end, &word, msq_changed(word, index), memory_order_release, memory_order_relaxed); /* MS3 */
}

/* Returns how many there are now, or 0: a look at the head takes its line from those who get. So it
 * looks at each of the first 64 puts, and then at every 64th. */
static inline int64_t msq_put(struct m *m, struct msqueue *queue, struct g *gp)
{
    INVARIANT(gp);
    uint32_t mine = gp->tag ? (uint32_t)gp->tag : msq_get_node(queue);
    struct msq_node *node = msq_node(queue, mine);
    gp->tag = 0;
    sched_event_g(m, SCHED_PUT, gp, INTO_GLOBAL, 0);
    atomic_store_explicit(&node->gp, gp, memory_order_relaxed);
    msq_set_next(node, 0);
    for (;;) {
        uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire); /* MS4 */
        struct msq_node *last = msq_node(queue, msq_index(tail));
        uint64_t next = atomic_load_explicit(&last->next, memory_order_acquire); /* MS2 */
        if (!msq_holds(&queue->tail, tail))
            continue;
        if (msq_index(next)) {
            msq_move(&queue->tail, tail, msq_index(next));
        } else if (atomic_compare_exchange_strong_explicit(
                       &last->next, &next, msq_changed(next, mine), memory_order_release,
                       memory_order_relaxed)) { /* MS1 */
            msq_move(&queue->tail, tail, mine);
            uint32_t before = (uint32_t)(tail >> 32);
            return before < 64 || before % 64 == 0 ? msq_size(queue) : 0;
        }
    }
}

/* The oldest, or NULL. */
static inline struct g *msq_get(struct msqueue *queue)
{
    for (;;) {
        uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire); /* MS4 */
        uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire); /* MS4 */
        uint64_t next = atomic_load_explicit(&msq_node(queue, msq_index(head))->next,
                                             memory_order_acquire); /* MS2 */
        if (!msq_holds(&queue->head, head))
            continue;
        if (!msq_index(next))
            return NULL;
        if (msq_index(head) == msq_index(tail)) {
            msq_move(&queue->tail, tail, msq_index(next));
            continue;
        }
        struct g *gp =
            atomic_load_explicit(&msq_node(queue, msq_index(next))->gp, memory_order_relaxed);
        if (msq_move(&queue->head, head, msq_index(next))) {
            INVARIANT(gp && !gp->tag);
            gp->tag = (int32_t)msq_index(head);
            return gp;
        }
    }
}

#endif
