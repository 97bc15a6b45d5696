/* gqueue.c - the global queue while its lock is held by another, or is not the plain one. */
#include "gqueue.h"

/* A plain lock has been found held: that try counts. */
static void globq_lock_waiting(struct m *m, struct globq *globq)
{
    if (m->lock_node.kind == QLOCK_TTAS)
        grq_lock_count(m, lock_acquire_slow(&globq->lock.word));
    else
        globq_lock(m, globq);
}

int64_t globq_put_waiting(struct m *m, struct globq *globq, struct g *gp)
{
    globq_lock_waiting(m, globq);
    int64_t size = globq_push(m, globq, gp);
    globq_unlock(m, globq);
    return size;
}

struct g *globq_get_waiting(struct m *m, struct globq *globq)
{
    globq_lock_waiting(m, globq);
    struct g *gp = globq_pop(globq);
    globq_unlock(m, globq);
    return gp;
}
