/* gqueue.c - the global queue with a ring, while its lock is held by another, or is not the plain
 * one. */
#include "gqueue.h"
#include "sched.h"

const char *const globq_words[] = {"locked", "mpmc", NULL};

void globq_add_ring(struct globq *globq)
{
    INVARIANT(globq_is_empty(globq));
    globq->ring = sched_zalloc(sizeof *globq->ring, "grq.cells");
    mpmc_init(globq->ring);
}

void globq_fini(struct globq *globq)
{
    machine_free(globq->ring);
}

/* A plain lock has been found held, if there is no ring: that try counts. */
static void globq_lock_waiting(struct m *m, struct globq *globq)
{
    if (m->lock_node.kind == QLOCK_TTAS && !globq->ring)
        grq_lock_count(m, lock_acquire_slow(&globq->lock.word));
    else
        globq_lock(m, globq);
}

void globq_lock_to_take_slow(struct m *m, struct globq *globq)
{
    stat_add(&m->stats, STAT_GRQ_LOCK_SPINS, lock_acquire(&globq->takers));
    globq_lock_waiting(m, globq);
    lock_release(&globq->takers);
}

int64_t globq_put_slow(struct m *m, struct globq *globq, struct g *gp)
{
    int64_t size = MPMC_FULL;
    if (globq->ring && globq_list_is_empty(globq))
        size = mpmc_put(m, globq->ring, gp, true);
    if (size != MPMC_FULL)
        return size;
    globq_lock_waiting(m, globq);
    size = globq_push(m, globq, gp);
    globq_unlock(m, globq);
    return size;
}

struct g *globq_get_slow(struct m *m, struct globq *globq)
{
    struct g *gp = globq->ring ? mpmc_get(globq->ring) : NULL;
    if (gp || (globq->ring && globq_list_is_empty(globq)))
        return gp;
    globq_lock_waiting(m, globq);
    gp = globq_pop(globq);
    globq_unlock(m, globq);
    return gp;
}

/* As many as there is room for, into the ring. Returns one that was taken off the batch in vain. */
static struct g *ring_put_all(struct m *m, struct globq *globq, struct gfifo *batch)
{
    struct g *gp;
    while (globq_list_is_empty(globq) && (gp = gfifo_pop(batch)))
        if (mpmc_put(m, globq->ring, gp, false) == MPMC_FULL)
            return gp;
    return NULL;
}

void globq_put_all(struct m *m, struct globq *globq, struct gfifo *batch)
{
    INVARIANT(batch->in != batch->out);
    struct g *left = globq->ring ? ring_put_all(m, globq, batch) : NULL;
    if (!left && gfifo_size(batch) == 0)
        return;
    globq_lock(m, globq);
    INVARIANT(globq_is_valid(globq));
    if (left)
        gfifo_push(&globq->fifo, left);
    gfifo_append(&globq->fifo, batch);
    globq_publish(globq);
    globq_unlock(m, globq);
}
