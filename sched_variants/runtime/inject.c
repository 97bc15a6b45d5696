/* inject.c - makes Gs runnable that nobody of this worker's has readied: what netpoll() returns,
 * with a P or without one.
 *
 * Source: Go 1.26 runtime/proc.go injectglist; findRunnable, where the first of the list is run.
 *   Same:    with a P the first runs at once, as many as there are idle Ps go where all workers
 *            look, and these Ps are started; the rest stays with the worker, behind what it has.
 *   Differs: without a P one worker is woken, as for any other new work, and wakes the next one in
 *            turn; Go starts as many idle Ps as there are Gs.
 */
#include "internal.h"
#include "sched.h"

const char *const netpoll_place_words[] = {"first", "global", "local", NULL};

static void put_any(struct m *m, struct g *gp, enum ready_how how)
{
    INVARIANT(g_is_valid(gp));
#ifdef SCHEDLAB_DEBUG
    /* relaxed: the queue hands gp over */
    INVARIANT(atomic_exchange_explicit(&gp->queued, 1, memory_order_relaxed) == 0);
#endif
    sched_event_g(m, SCHED_READIED, gp, how, 0);
    m->ops->ready(m, gp, how);
}

static void put(struct m *m, struct g *gp, enum ready_how how)
{
    stat_add(&m->stats, STAT_READIES, 1);
    g_waits_no_more(gp);
    put_any(m, gp, how);
}

void g_inject_new(struct m *m, struct g *gp)
{
    put_any(m, gp, READY_INJECTED);
    wakep_slow(m); /* as below */
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
        put(m, gp, READY_INJECTED);
    }
    if (any)
        wakep_slow(m); /* without a P its fence is its own: idle.c */
}

struct g *netpoll_put(struct m *m, struct g *list)
{
    struct sched *sched = m->sched;
    /* with `blocks` a G has a worker of its own, whose queue ready() knows */
    enum netpoll_place place =
        m->ops->blocks ? PLACE_LOCAL : (enum netpoll_place)sched->runtime->netpoll_place;
    struct g *first = NULL;
    if (!list)
        return NULL;
    INVARIANT(m->p);
    if (place == PLACE_FIRST) {
        first = list;
        list = first->link;
        stat_add(&m->stats, STAT_READIES, 1);
        sched_event_g(m, SCHED_READIED, first, READY_POLLED, 0);
        g_hand_over(first);
    }
    /* relaxed: how many are idle now is a guess anyway */
    int32_t idle = atomic_load_explicit(&sched->idle_ps, memory_order_relaxed);
    int32_t global = place == PLACE_GLOBAL ? INT32_MAX : place == PLACE_FIRST ? idle : 0;
    int32_t start = global < idle ? global : idle;
    bool any = list != NULL;
    while (list) {
        struct g *gp = list;
        list = gp->link; /* the queue uses link, and gp may run, and end, at once */
        put(m, gp, global > 0 ? READY_INJECTED : READY_POLLED);
        if (global-- > 0 && start-- > 0 && sched->runtime->wake < WAKE_NONE)
            start_idle_p(m);
    }
    if (any)
        wakep(m);
    return first;
}
