/* pdeque.c - a deque of Gs per P; pdeque.h says for whom and why. */
#include "sched.h"

#include "pdeque.h"

enum { DEQUE_CAPACITY = 256 };

const char *const pdeque_kind_words[] = {"chaselev", "the", "abp", "half",
                                         NULL}; /* enum deque_kind */
const char *const pdeque_owner_words[] = {"lifo", "fifo", NULL};

void pdeque_init(struct sched *sched)
{
    const struct pdeque_knobs *knobs = sched->knobs;
    sched->deques = (enum deque_kind)knobs->deque;
    sched->variant = sched_zalloc(sizeof(struct globq), "sched");
    globq_init(sched->variant);
    for (int32_t i = 0; i < sched->procs; i++) {
        struct deque *dq = sched_zalloc(sizeof *dq, "deque.bottom");
        deque_init_as(dq, sched->deques, DEQUE_CAPACITY);
        dq->usual = knobs->owner == OWNER_LIFO && knobs->deque == DEQUE_CHASELEV;
        sched->allp[i]->variant = dq;
    }
}

void pdeque_fini(struct sched *sched)
{
    for (int32_t i = 0; i < sched->procs; i++)
        deque_fini(sched->allp[i]->variant);
}

/* Another protocol, or another end. Out of line, as get_unusual(). */
static __attribute__((noinline)) void put_unusual(struct m *m, struct deque *dq, struct g *gp)
{
    if (deque_room(dq) == 0) {
        stat_add(&m->stats, STAT_OVERFLOWS, 1);
        globq_put(m, m->sched->variant, gp);
        return;
    }
    sched_event_g(m, SCHED_PUT, gp, INTO_LOCAL, 0);
    deque_push(dq, gp);
    stat_max(&m->stats, STAT_DEQUE_MAX, deque_depth_max(dq));
}

void pdeque_ready(struct m *m, struct g *gp, enum ready_how how)
{
    if (how == READY_YIELD || how == READY_STEP_BACK || how == READY_PREEMPTED ||
        how == READY_INJECTED) {
        globq_put(m, m->sched->variant, gp);
        return;
    }
    INVARIANT(m->p);
    struct deque *dq = m->p->variant;
    if (__builtin_expect(!dq->usual, 0)) {
        put_unusual(m, dq, gp);
        return;
    }
    sched_event_g(m, SCHED_PUT, gp, INTO_LOCAL, 0);
    deque_push_chaselev(dq, gp);
    stat_max(&m->stats, STAT_DEQUE_MAX, deque_depth_max(dq));
}

bool pdeque_drain(struct m *m, struct p *p)
{
    if (!p)
        return false; /* an M has none of its own */
    struct deque *dq = p->variant;
    void *item;
    enum deque_steal got;
    while ((got = deque_take(dq, &item)) != DEQUE_EMPTY)
        if (got == DEQUE_STOLEN)
            globq_put(m, m->sched->variant, item);
    return false;
}

int64_t pdeque_queued(struct sched *sched, struct p *p)
{
    return p ? deque_size(p->variant) : globq_size(sched->variant);
}

/* owner=N: is it the oldest's turn? Takes are counted, and not dispatches, some of which take
 * nothing from here: their number could be a multiple of N at those each time. */
static bool is_turn_of_oldest(struct deque *dq, int64_t owner)
{
    if (++dq->newest_runs < owner)
        return false;
    dq->newest_runs = 0;
    return true;
}

/* Out of line, so that the usual owner's path stays as short as it is. */
static __attribute__((noinline)) struct g *get_unusual(struct deque *dq, int64_t owner)
{
    void *item = NULL; /* stays NULL unless one is taken */
    if (owner == OWNER_LIFO || (owner != OWNER_FIFO && !is_turn_of_oldest(dq, owner)))
        return deque_pop(dq);
    while (deque_take(dq, &item) == DEQUE_LOST)
        continue; /* a thief got that one: there may be more */
    return item;
}

static struct g *get_own(struct m *m)
{
    const struct pdeque_knobs *knobs = m->sched->knobs;
    struct deque *dq = m->p->variant;
    return dq->usual ? deque_pop_chaselev(dq) : get_unusual(dq, knobs->owner);
}

struct g *pdeque_pick(struct m *m, bool *inherit)
{
    const struct pdeque_knobs *knobs = m->sched->knobs;
    struct globq *globq = m->sched->variant;
    struct g *gp;
    (void)inherit;
    INVARIANT(m->p);
    if (knobs->tick && !globq_is_empty(globq) && p_schedtick(m->p) % (uint32_t)knobs->tick == 0 &&
        (gp = globq_get(m, globq))) {
        stat_add(&m->stats, STAT_TICK_POLLS, 1);
        stat_add(&m->stats, STAT_GRQ_HITS, 1);
        sched_event(m, SCHED_TAKEN, gp, FROM_TICK, 0);
        return gp;
    }
    if ((gp = get_own(m))) {
        stat_add(&m->stats, STAT_LOCAL_HITS, 1);
        sched_event(m, SCHED_TAKEN, gp, FROM_LOCAL, 0);
        return gp;
    }
    if ((gp = globq_get(m, globq)))
        stat_add(&m->stats, STAT_GRQ_HITS, 1);
    sched_event(m, SCHED_TAKEN, gp, FROM_GLOBAL, 0);
    return gp;
}

struct g *pdeque_steal(struct m *m)
{
    struct sched *sched = m->sched;
    uint32_t n = (uint32_t)sched->procs;
    uint32_t at = (uint32_t)m_random(m) % n;
    INVARIANT(m->p);
    for (uint32_t i = 0; i < n; i++, at = (at + 1) % n) {
        struct p *p = sched->allp[at];
        void *item;
        int64_t moved;
        enum deque_steal got;
        if (p == m->p)
            continue;
        stat_add(&m->stats, STAT_VICTIM_PROBES, 1);
        while ((got = deque_take_into(p->variant, m->p->variant, &item, &moved)) == DEQUE_LOST)
            continue; /* somebody else got one: there may be more */
        if (got == DEQUE_STOLEN) {
            stat_add(&m->stats, STAT_STEALS, 1);
            stat_add(&m->stats, STAT_STOLEN, (uint64_t)moved);
            m_count_far(m, (int32_t)at);
            sched_event(m, SCHED_STOLEN, NULL, (int32_t)moved, false);
            sched_event(m, SCHED_TAKEN, item, FROM_VICTIM, (int32_t)at);
            return item;
        }
    }
    return NULL;
}

bool pdeque_has_work(struct sched *sched)
{
    if (!globq_is_empty(sched->variant))
        return true;
    for (int32_t i = 0; i < sched->procs; i++)
        if (deque_size(sched->allp[i]->variant) > 0)
            return true;
    return false;
}
