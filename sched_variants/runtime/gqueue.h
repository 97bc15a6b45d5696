/* gqueue.h - a FIFO list of Gs through g->link, and the same behind a lock: the global queue.
 *
 * Source: Go 1.26 runtime/proc.go gQueue, globrunqput, globrunqget, globrunqgetbatch.
 * Invariant of struct gqueue: head is NULL if and only if size is 0; tail->link is NULL.
 */
#ifndef SCHEDLAB_GQUEUE_H
#define SCHEDLAB_GQUEUE_H

#include "g.h"

struct gqueue {
    struct g *head, *tail;
    int64_t size;
};

static inline void gqueue_push(struct gqueue *queue, struct g *gp)
{
    gp->link = NULL;
    if (queue->tail)
        queue->tail->link = gp;
    else
        queue->head = gp;
    queue->tail = gp;
    queue->size++;
}

static inline struct g *gqueue_pop(struct gqueue *queue)
{
    struct g *gp = queue->head;
    if (gp) {
        queue->head = gp->link;
        if (!queue->head)
            queue->tail = NULL;
        queue->size--;
    }
    return gp;
}

/* Appends all of from to the end of to; from is empty afterwards. */
static inline void gqueue_append(struct gqueue *to, struct gqueue *from)
{
    if (!from->head)
        return;
    if (to->tail)
        to->tail->link = from->head;
    else
        to->head = from->head;
    to->tail = from->tail;
    to->size += from->size;
    *from = (struct gqueue){0};
}

/* The global queue (GRQ). size is written under the lock and read without it, as a hint whose only
 * promise is the one of the sleeping dance (idle.c): after S2 and I3 a put is not missed.
 * GQ1 pairs with GQ2: who sees it empty sees where the Gs of a batch have gone. */
struct globq {
    _Alignas(64) lock_t lock;
    struct gqueue queue;
    _Atomic int64_t size;
};

static inline bool globq_is_empty(struct globq *globq)
{
    return atomic_load_explicit(&globq->size, memory_order_acquire) == 0; /* GQ2 */
}

/* Pre: lock. */
static inline void globq_publish(struct globq *globq)
{
    atomic_store_explicit(&globq->size, globq->queue.size, memory_order_release); /* GQ1 */
}

/* Returns how many there are now. */
static inline int64_t globq_put(struct m *m, struct globq *globq, struct g *gp)
{
    grq_lock(m, &globq->lock);
    gqueue_push(&globq->queue, gp);
    int64_t size = globq->queue.size;
    globq_publish(globq);
    lock_release(&globq->lock);
    return size;
}

static inline void globq_put_all(struct m *m, struct globq *globq, struct gqueue *batch)
{
    grq_lock(m, &globq->lock);
    gqueue_append(&globq->queue, batch);
    globq_publish(globq);
    lock_release(&globq->lock);
}

/* The oldest, or NULL. Looks without the lock first. */
static inline struct g *globq_get(struct m *m, struct globq *globq)
{
    if (globq_is_empty(globq))
        return NULL;
    grq_lock(m, &globq->lock);
    struct g *gp = gqueue_pop(&globq->queue);
    globq_publish(globq);
    lock_release(&globq->lock);
    return gp;
}

#endif
