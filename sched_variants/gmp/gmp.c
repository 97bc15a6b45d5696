/* gmp - Go's scheduler: M:N with a run queue per P.
 *
 * Every P has a ring of 256 Gs and a slot for the newest one (runnext); what overflows, yields or
 * was never local waits in one global queue. An M that holds a P looks, in this order:
 *
 *   1  every 61st dispatch: one G from the global queue, so that it cannot starve
 *   2  runnext, in the time slice of the G before; then the ring's head
 *   3  a batch from the global queue
 *   4  the other Ps, in random order, four times; half a ring each; in the last pass what is due in
 *      the P's heap of timers, and then its runnext
 *
 * The poller comes between 3 and 4. With search=steal 4 comes before 3, and the poller last.
 *
 * Since the queue belongs to the P, an M that sleeps strands nothing, and thieves visit Ps, of
 * which there are as many as workers, not Ms.
 *
 * Source: Go 1.26 runtime/proc.go newproc, runqput, findRunnable, stealWork; [Vyukov12].
 *   Same:    order of search, sizes, shares, batch formula, which G a thief runs first.
 *   Differs: workers sleep by the protocol of idle.c, blocking calls end as in syscall.c. There is
 *            no mask with a bit for each idle P: whether it has an M tells, at a line per P.
 */
#include "runtime/lrq.h"
#include "runtime/timer.h"
#include "sched.h"

struct gmp_knobs {
    struct lrq_knobs lrq;
    int64_t idle_mask;  /* 0 off, 1 on */
    int64_t returns_to; /* enum returns_to */
};

enum returns_to { RETURNS_TO_GLOBAL, RETURNS_TO_OWN };
static const char *const returns_to_words[] = {"global", "own", NULL};

struct gmp {
    struct globq globq;
};

static const struct param gmp_knobs[] = {
    LRQ_KNOBS(struct gmp_knobs),
    PARAM_WORD(struct gmp_knobs, idle_mask, lrq_off_on, 1, "Go 1.26 proc.go stealWork, idlepMask",
               "whether thieves pass by Ps that are idle",
               .detail = "off: they look into the queues of idle Ps, too, which are empty.",
               KNOB_FINE(STEALING, "VICTIM_PROBES", "idle_mask=off bursts,n=20,b=4 8")),
    RUNTIME_KNOBS_WATCHED(struct gmp_knobs, lrq.runtime, WATCH_SYSMON),
    PARAM_WORD(struct gmp_knobs, returns_to, returns_to_words, RETURNS_TO_GLOBAL,
               "Go 1.26 proc.go exitsyscallNoP",
               "where a goroutine waits after a call, if it finds no P to go on with",
               .detail = "global: in the global queue. own: at the tail of the queue of the P that "
                         "it had before the call, whoever has that P now. It gets there by an "
                         "inbox with a lock, from which thieves take too.",
               KNOB_FINE(CALLS, "GRQ_HITS LOCAL_HITS",
                         "returns_to=own calls,n=200,sleep_ns=1ms,callers=8,beside=2 2")),
    {0},
};

static const struct param_moot gmp_moot[] = {
    LRQ_MOOT,
    {"idle_mask", NOBODY_SEARCHES},
    {"returns_to", "calls=none", "where a call keeps its P"},
    {"returns_to", "calls=sysmon,sysmon=off", "where a call keeps its P"},
    {0},
};

static struct globq *globq_of(const struct sched *sched)
{
    return &((struct gmp *)sched->variant)->globq;
}

static bool has_inboxes(const struct sched *sched)
{
    return ((const struct gmp_knobs *)sched->knobs)->returns_to == RETURNS_TO_OWN;
}

static void gmp_init(struct sched *sched)
{
    sched->variant = sched_zalloc(sizeof(struct gmp), "sched");
    globq_init(globq_of(sched));
    lrq_init(sched);
}

static void gmp_fini(struct sched *sched)
{
    machine_free(sched->variant);
}

static void gmp_p_init(struct sched *sched, struct p *p)
{
    struct lrq *lrq = lrq_new(sched->knobs);
    lrq->last_victim = p->id + 1;
    if (has_inboxes(sched))
        lrq_make_inbox(lrq);
    p->variant = lrq;
}

static void gmp_p_fini(struct sched *sched, struct p *p)
{
    (void)sched;
    lrq_free(p->variant);
}

/* Where every worker looks; or into the inbox of the P that it had before its call. */
static void gmp_inject(struct m *m, struct g *gp)
{
    struct lrq *old = m->old_p ? m->old_p->variant : NULL;
    if (!old || !old->inbox) {
        globq_put(m, globq_of(m->sched), gp);
        return;
    }
    sched_event_g(m, SCHED_PUT, gp, INTO_WORKER, m->old_p->id);
    inbox_put(old->inbox, gp);
}

static void gmp_ready(struct m *m, struct g *gp, enum ready_how how)
{
    struct globq *globq = globq_of(m->sched);
    INVARIANT(m->p || how == READY_INJECTED);
    if (how == READY_INJECTED)
        gmp_inject(m, gp);
    else if (how == READY_PREEMPTED ||
             (how == READY_YIELD && ((struct lrq *)m->p->variant)->yield == YIELD_GLOBAL))
        globq_put(m, globq, gp);
    else
        lrq_put(m, m->p->variant, globq, gp, how == READY_NEW || how == READY_WOKEN);
}

static void gmp_p_drain(struct m *m, struct p *p)
{
    lrq_drain(m, p->variant, globq_of(m->sched));
}

static int64_t gmp_queued(struct sched *sched, struct p *p)
{
    if (!p)
        return globq_size(globq_of(sched));
    const struct lrq *lrq = p->variant;
    return lrq_length(p->variant) + (lrq->inbox ? inbox_size(lrq->inbox) : 0);
}

static bool gmp_keeps(struct m *m)
{
    return m->p && lrq_keeps(m->p->variant, globq_of(m->sched));
}

static struct g *gmp_pick(struct m *m, bool *inherit)
{
    return lrq_pick(m, m->p->variant, globq_of(m->sched), inherit);
}

static struct g *gmp_pick_last(struct m *m)
{
    return lrq_get_global(m, m->p->variant, globq_of(m->sched), sched_procs_used(m->sched));
}

/* From any inbox, an idle P's too. */
static struct g *steal_from_inboxes(struct m *m)
{
    struct sched *sched = m->sched;
    for (int32_t i = 0; i < sched->procs; i++) {
        struct g *gp = inbox_get(((struct lrq *)sched->allp[i]->variant)->inbox);
        if (gp) {
            stat_add(&m->stats, STAT_STEALS, 1);
            stat_add(&m->stats, STAT_STOLEN, 1);
            m_count_far(m, i);
            sched_event(m, SCHED_STOLEN, NULL, 1, false);
            sched_event(m, SCHED_TAKEN, gp, FROM_VICTIM, i);
            return gp;
        }
    }
    return NULL;
}

static struct g *gmp_steal(struct m *m)
{
    const struct gmp_knobs *knobs = m->sched->knobs;
    struct sched *sched = m->sched;
    INVARIANT(m->p);
    struct lrq *mine = m->p->variant;
    for (int64_t pass = 0; pass < knobs->lrq.passes; pass++) {
        struct walk walk = walk_start(m, mine, (uint32_t)sched->procs, (uint32_t)m->p->id, pass);
        bool last = pass == knobs->lrq.passes - 1;
        bool steals_next = last && !lrq_has_private_next(&knobs->lrq);
        uint32_t i;
        while (walk_next(&walk, &i)) {
            struct p *p = sched->allp[i];
            /* relaxed: only whether there is one; an idle P has nothing, and has_work() asks all */
            struct m *owner = atomic_load_explicit(&p->m, memory_order_relaxed);
            if (p == m->p)
                continue;
            struct g *gp = last && timers_run_of(m, p) ? gmp_pick(m, &(bool){false}) : NULL;
            if (gp)
                return gp;
            if (!owner && knobs->idle_mask)
                continue;
            gp = lrq_steal(m, mine, p->variant, steals_next, owner && !p_in_call(p));
            if (gp) {
                mine->last_victim = (int32_t)i;
                stat_add(&m->stats, STAT_STEALS, 1);
                m_count_far(m, (int32_t)i);
                sched_event(m, SCHED_TAKEN, gp, FROM_VICTIM, (int32_t)i);
                return gp;
            }
        }
    }
    struct g *gp = mine->inbox ? steal_from_inboxes(m) : NULL;
    if (!gp)
        lrq_found_nothing(m, mine);
    return gp;
}

static bool some_inbox_has_work(const struct sched *sched)
{
    for (int32_t i = 0; i < sched->procs; i++)
        if (inbox_size(((const struct lrq *)sched->allp[i]->variant)->inbox) > 0)
            return true;
    return false;
}

static bool gmp_has_work(struct sched *sched)
{
    if (!globq_is_empty(globq_of(sched)))
        return true;
    /* before the rings: a G moves from an inbox to a ring, and never back */
    if (has_inboxes(sched) && some_inbox_has_work(sched))
        return true;
    bool private_next = lrq_has_private_next(sched->knobs);
    for (int32_t i = 0; i < sched->procs; i++)
        if (lrq_has_work(sched->allp[i]->variant, private_next))
            return true;
    return false;
}

const struct sched_ops gmp_ops = {
    .name = "gmp",
    .idea = "M:N as in Go: a ring and runnext per P, stealing by halves",
    .source = "[Vyukov12] [Go1.26]",
    .knobs = gmp_knobs,
    .knobs_size = sizeof(struct gmp_knobs),
    .moot = gmp_moot,
    .check = lrq_check,
    .forkjoin = FJ_GO,
    .init = gmp_init,
    .p_init = gmp_p_init,
    .ready = gmp_ready,
    .keeps = gmp_keeps,
    .pick = gmp_pick,
    .steal = gmp_steal,
    .pick_last = gmp_pick_last,
    .has_work = gmp_has_work,
    .p_drain = gmp_p_drain,
    .queued = gmp_queued,
    .p_fini = gmp_p_fini,
    .fini = gmp_fini,
};
