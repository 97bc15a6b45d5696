/* perm - M:N with a run queue per M (thread): G-M-P without the P.
 *
 * Queues, shares, ticks and stealing are gmp's; the one difference is who owns the queue. Here it
 * is the thread. Two things follow, which are the variant's point:
 *
 *   - a thread that is in a blocking call keeps its queue, and what lies there waits for a thief or
 *     for the call's end, when a thread without a P puts it where all look;
 *   - a thief has to visit every thread there is, the sleeping and blocked ones too, however few
 *     may run at one time; and queues take memory per thread.
 *
 * Source: [Vyukov12], the state before G-M-P with its single queue already split; source of the
 * queue as in lrq.h.
 */
#include "runtime/lrq.h"
#include "sched.h"

struct perm_knobs {
    struct lrq_knobs lrq;
};

/* More threads than threads_max are made if several pass that limit at once. */
enum { MS_SPARE = 64 };

struct perm {
    struct globq globq;
    /* By number; NULL: not made yet. LM1: release stores, pair with LM2: acquire loads (the M and
     * its queue are complete). */
    _Atomic(struct m *) *ms;
    size_t ms_max;
};

static const struct param perm_knobs[] = {
    LRQ_KNOBS(struct perm_knobs),
    RUNTIME_KNOBS(struct perm_knobs, lrq.runtime),
    {0},
};

static const struct param_moot perm_moot[] = {LRQ_MOOT, {0}};

static struct globq *globq_of(const struct sched *sched)
{
    return &((struct perm *)sched->variant)->globq;
}

static void perm_init(struct sched *sched)
{
    sched->variant = sched_zalloc(sizeof(struct perm), "sched");
    lrq_globq_init(sched->knobs, globq_of(sched));
    lrq_init(sched);
    struct perm *perm = sched->variant;
    perm->ms_max = (size_t)sched->runtime->threads_max + MS_SPARE;
    perm->ms = sched_zalloc(perm->ms_max * sizeof *perm->ms, "ms");
}

static void perm_fini(struct sched *sched)
{
    globq_fini(globq_of(sched));
    machine_free(((struct perm *)sched->variant)->ms);
    for (struct m *m = sched_first_m(sched); m; m = m->all_link)
        lrq_fini(m->variant);
}

static void perm_m_init(struct sched *sched, struct m *m)
{
    struct lrq *lrq = lrq_new(sched->knobs);
    struct perm *perm = sched->variant;
    lrq->last_victim = m->id + 1;
    m->variant = lrq;
    if ((size_t)m->id >= perm->ms_max)
        fatal("more than %zu threads (knob threads_max)", perm->ms_max);
    atomic_store_explicit(&perm->ms[m->id], m, memory_order_release); /* LM1 */
}

static void perm_ready(struct m *m, struct g *gp, enum ready_how how)
{
    struct lrq *lrq = m->variant;
    struct globq *globq = globq_of(m->sched);
    INVARIANT(lrq || how == READY_INJECTED);
    if (how == READY_PREEMPTED || how == READY_INJECTED ||
        (how == READY_YIELD && lrq->yield == YIELD_GLOBAL))
        globq_put(m, globq, gp);
    else
        lrq_put(m, lrq, globq, gp, how == READY_NEW || how == READY_WOKEN);
}

/* Threads that go on may never run out of work, and so never come as thieves. In a call the queue
 * stays with its thread: that is what a queue per thread means. But a thread that comes back
 * without a P, or sleeps until its locked G is woken, may sleep for ever. */
static bool perm_drain(struct m *m, struct p *p)
{
    if (p && (m->p != p || !p->retired))
        return false;
    bool any = lrq_has_work(m->variant, false);
    lrq_drain(m, m->variant, globq_of(m->sched));
    return any;
}

static int64_t perm_queued(struct sched *sched, struct p *p)
{
    if (!p)
        return globq_size(globq_of(sched));
    struct m *m = atomic_load_explicit(&p->m, memory_order_acquire); /* P2 */
    return m ? lrq_length(m->variant) : 0;
}

static bool perm_keeps(struct m *m)
{
    return m->p && lrq_keeps(m, m->variant, globq_of(m->sched));
}

static struct g *perm_pick(struct m *m, bool *inherit)
{
    return lrq_pick(m, m->variant, globq_of(m->sched), inherit);
}

/* Does m hold a P? It stops to before whoever puts that P on the idle list asks for work. */
static bool holds_p(const struct sched *sched, const struct m *m)
{
    for (int32_t i = 0; i < sched->procs; i++)
        if (atomic_load_explicit(&sched->allp[i]->m, memory_order_acquire) == m) /* P2 */
            return true;
    return false;
}

/* With backoff_ns=never a slot is private while its thread may run. The slot of a thread that
 * sleeps or blocks is not: in gmp it would move on with the P, here nobody could reach it. */
static bool has_private_next(const struct sched *sched, const struct m *m)
{
    return lrq_has_private_next(sched->knobs) && !m_in_call(m) && holds_p(sched, m);
}

static struct g *search(struct m *m)
{
    const struct perm_knobs *knobs = m->sched->knobs;
    const struct perm *perm = m->sched->variant;
    struct lrq *mine = m->variant;
    INVARIANT(m->id >= 0);
    for (int64_t pass = 0; pass < knobs->lrq.passes; pass++) {
        /* relaxed: LM2 says which of them are complete */
        uint32_t count = (uint32_t)atomic_load_explicit(&m->sched->ms_made, memory_order_relaxed);
        struct walk walk = walk_start(m, mine, count, (uint32_t)m->id, pass);
        bool last = pass == knobs->lrq.passes - 1;
        uint32_t i;
        while (walk_next(&walk, &i)) {
            struct m *victim = i < perm->ms_max
                                   ? atomic_load_explicit(&perm->ms[i], memory_order_acquire)
                                   : NULL; /* LM2 */
            if (!victim || victim == m)
                continue;
            struct g *gp =
                lrq_steal(m, mine, victim->variant, last && !has_private_next(m->sched, victim),
                          m_is_awake(victim) && !m_in_call(victim));
            if (gp) {
                mine->last_victim = (int32_t)i;
                stat_add(&m->stats, STAT_STEALS, 1);
                m_count_far_m(m, victim);
                sched_event(m, SCHED_TAKEN, gp, FROM_VICTIM, (int32_t)i);
                return gp;
            }
        }
    }
    lrq_found_nothing(m, mine);
    return NULL;
}

static struct g *perm_steal(struct m *m)
{
    if (!m->sched->picks_last)
        return search(m);
    struct g *gp = m->spinning ? search(m) : NULL;
    return gp ? gp : lrq_get_global(m, m->variant, globq_of(m->sched), sched_procs_used(m->sched));
}

static bool perm_has_work(struct sched *sched)
{
    if (!globq_is_empty(globq_of(sched)))
        return true;
    for (struct m *m = sched_first_m(sched); m; m = m->all_link)
        if (lrq_has_work(m->variant, has_private_next(sched, m)))
            return true;
    return false;
}

const struct sched_ops perm_ops = {
    .name = "perm",
    .idea = "M:N with gmp's queues owned by threads: thieves visit every thread",
    .source = "[Vyukov12]",
    .knobs = perm_knobs,
    .knobs_size = sizeof(struct perm_knobs),
    .moot = perm_moot,
    .check = lrq_check,
    .forkjoin = FJ_GO,
    .init = perm_init,
    .m_init = perm_m_init,
    .ready = perm_ready,
    .keeps = perm_keeps,
    .pick = perm_pick,
    .steal = perm_steal,
    .has_work = perm_has_work,
    .drain = perm_drain,
    .queued = perm_queued,
    .fini = perm_fini,
};
