/* inject.c - makes Gs runnable from a thread that holds no P.
 *
 * Source: Go 1.26 runtime/proc.go injectglist, its part without a P.
 *   Same:    the Gs go where any worker finds them, in the list's order.
 *   Differs: one worker is woken, as for any other new work, and wakes the next one in turn; Go
 *            starts as many idle Ps as there are Gs.
 */
#include "internal.h"
#include "sched.h"

static void inject_one(struct m *m, struct g *gp)
{
#ifdef SCHEDLAB_DEBUG
    /* relaxed: the queue hands gp over */
    INVARIANT(atomic_exchange_explicit(&gp->queued, 1, memory_order_relaxed) == 0);
#endif
    stat_add(&m->stats, STAT_READIES, 1);
    m->ops->ready(m, gp, READY_INJECTED);
}

void sched_inject(struct sched *sched, struct g *list)
{
    struct m *m = machine_self();
    INVARIANT(m && m->sched == sched);
    (void)sched;
    bool any = list != NULL;
    while (list) {
        struct g *gp = list;
        list = gp->link; /* the queue uses link, and gp may run, and end, at once */
        inject_one(m, gp);
    }
    if (any)
        wakep_slow(m); /* without a P its fence is its own: idle.c */
}
