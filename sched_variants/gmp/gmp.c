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
 * Source: Go 1.26 runtime/proc.go newproc, runqput, findRunnable, stealWork; [Vyukov12]; with
 *         queue=bwos, [Wang23].
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
    int64_t globals;    /* how many global queues, or GLOBALS_GROUP */
    int64_t inject;     /* enum inject */
};

enum returns_to { RETURNS_TO_GLOBAL, RETURNS_TO_OWN };
static const char *const returns_to_words[] = {"global", "own", NULL};

enum { GLOBALS_GROUP, GLOBALS_ONE, GLOBALS_MAX = 256 };
static const char *const globals_words[] = {"group", NULL};

enum inject { INJECT_ONE, INJECT_RANDOM, INJECT_STICKY };
static const char *const inject_words[] = {"one", "random", "sticky", NULL};

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
    PARAM_WORD(struct gmp_knobs, lrq.queue, lrq_queue_words, QUEUE_RING,
               "Go 1.26 proc.go runqput; bwos: [Wang23]", "how a local queue is built",
               .detail =
                   "ring: a ring; owner and thieves take at one end, each by a compare-and-swap. "
                   "bwos: eight blocks, each an eighth of `ring`. The owner puts into one and "
                   "takes from the oldest, with an atomic step for a block and none for a "
                   "goroutine; thieves take out of full blocks between the two alone.",
               KNOB_DECISIVE(QUEUES, "BLOCKS_GRANTED STOLEN", "queue=bwos spawn,n=2000 4")),
    PARAM_WORD(struct gmp_knobs, returns_to, returns_to_words, RETURNS_TO_GLOBAL,
               "Go 1.26 proc.go exitsyscallNoP",
               "where a goroutine waits after a call, if it finds no P to go on with",
               .detail = "global: in the global queue. own: at the tail of the queue of the P that "
                         "it had before the call, whoever has that P now. It gets there by an "
                         "inbox with a lock, from which thieves take too.",
               KNOB_FINE(CALLS, "GRQ_HITS LOCAL_HITS",
                         "returns_to=own calls,n=200,sleep_ns=1ms,callers=8,beside=2 2")),
    PARAM_NUMBER_OR(
        struct gmp_knobs, globals, GLOBALS_ONE, 1, GLOBALS_MAX, globals_words, GLOBALS_GROUP,
        "queues", "Go 1.26 runtime2.go schedt.runq; more: schedlab", "how many global queues",
        .detail = "1: one for all. A number: one for each of so many groups of neighbouring Ps, at "
                  "most one a P. group: one for all whose cores share a last cache (L3); only with "
                  "--pin. A P puts into its group's and looks there first. It looks into others' "
                  "after its victims, and at each second tick first. Descriptors come after "
                  "those.",
        KNOB_DECISIVE(QUEUES, "GRQ_FAR", "globals=2 yield,n=2000,yielders=50 4")),
    PARAM_WORD(struct gmp_knobs, inject, inject_words, INJECT_ONE,
               "tokio-rs/tokio#8483, #7973; Go: one queue",
               "into which global queue a thread without a worker puts",
               .detail = "one: all into the first. random: each time into one that is drawn anew. "
                         "sticky: each thread always into the same one, which it has drawn.",
               KNOB_DECISIVE(QUEUES, "GRQ_LOCK_WAITS",
                             "globals=4,inject=sticky inject,n=2000,submitters=8 4")),
    {0},
};

static const struct param_moot gmp_moot[] = {
    LRQ_MOOT,
    {"idle_mask", NOBODY_SEARCHES},
    {"inject", "globals=1", "where there is one global queue"},
    {"ring_order steal_age_ns overflow_end=newest", "queue=bwos", "where the queue is no ring"},
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

static bool groups_init(struct sched *sched);

static void gmp_init(struct sched *sched)
{
    lrq_init(sched);
    for (int32_t i = 0; i < sched->procs; i++) {
        struct lrq *lrq = sched->allp[i]->variant = lrq_new(sched->knobs);
        lrq->last_victim = i + 1;
        if (has_inboxes(sched))
            lrq_make_inbox(lrq);
    }
    if (groups_init(sched))
        return;
    sched->variant = sched_zalloc(sizeof(struct gmp), "sched");
    lrq_globq_init(sched->knobs, globq_of(sched));
}

static void ps_fini(struct sched *sched)
{
    for (int32_t i = 0; i < sched->procs; i++)
        lrq_fini(sched->allp[i]->variant);
}

static void gmp_fini(struct sched *sched)
{
    globq_fini(globq_of(sched));
    ps_fini(sched);
}

/* Where every worker looks; or into the inbox of the P that it had before its call. */
static void inject(struct m *m, struct g *gp, struct globq *globq)
{
    struct lrq *old = m->old_p ? m->old_p->variant : NULL;
    if (!old || !old->inbox) {
        globq_put(m, globq, gp);
        return;
    }
    sched_event_g(m, SCHED_PUT, gp, INTO_WORKER, m->old_p->id);
    inbox_put(old->inbox, gp);
}

static inline bool goes_global(const struct m *m, enum ready_how how)
{
    return how == READY_PREEMPTED ||
           (how == READY_YIELD && ((struct lrq *)m->p->variant)->yield == YIELD_GLOBAL);
}

static void gmp_ready(struct m *m, struct g *gp, enum ready_how how)
{
    struct globq *globq = globq_of(m->sched);
    INVARIANT(m->p || how == READY_INJECTED);
    if (how == READY_INJECTED)
        inject(m, gp, globq);
    else if (goes_global(m, how))
        globq_put(m, globq, gp);
    else
        lrq_put(m, m->p->variant, globq, gp, how == READY_NEW || how == READY_WOKEN);
}

static bool gmp_drain(struct m *m, struct p *p)
{
    if (p)
        lrq_drain(m, p->variant, globq_of(m->sched));
    return false; /* an M has none of its own */
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
    return m->p && lrq_keeps(m, m->p->variant, globq_of(m->sched));
}

static struct g *gmp_pick(struct m *m, bool *inherit)
{
    return lrq_pick(m, m->p->variant, globq_of(m->sched), inherit);
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

/* pick: after the timers of a victim have run. */
static inline __attribute__((always_inline)) struct g *
search(struct m *m, struct g *(*pick)(struct m *m, bool *inherit))
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
            struct g *gp = last && timers_run_of(m, p) ? pick(m, &(bool){false}) : NULL;
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

static struct g *gmp_steal(struct m *m)
{
    if (!m->sched->picks_last)
        return search(m, gmp_pick);
    struct g *gp = m->spinning ? search(m, gmp_pick) : NULL;
    if (!gp)
        gp = lrq_get_global(m, m->p->variant, globq_of(m->sched), sched_procs_used(m->sched));
    return gp;
}

static bool some_inbox_has_work(const struct sched *sched)
{
    for (int32_t i = 0; i < sched->procs; i++)
        if (inbox_size(((const struct lrq *)sched->allp[i]->variant)->inbox) > 0)
            return true;
    return false;
}

/* But for global queues, into which one looks first: Gs move from there to a ring. */
static bool ps_have_work(struct sched *sched)
{
    /* before the rings: a G moves from an inbox to a ring, and never back */
    if (has_inboxes(sched) && some_inbox_has_work(sched))
        return true;
    bool private_next = lrq_has_private_next(sched->knobs);
    for (int32_t i = 0; i < sched->procs; i++)
        if (lrq_has_work(sched->allp[i]->variant, private_next))
            return true;
    return false;
}

static bool gmp_has_work(struct sched *sched)
{
    return !globq_is_empty(globq_of(sched)) || ps_have_work(sched);
}

/* Several global queues ------------------------------------------------------------------------
 *
 * The Ps are in groups, each of which has a global queue. A P puts into its own group's, and takes
 * from there in Go's order: at the tick, and behind its ring. It takes from the others' behind its
 * victims, before it would idle. has_work() asks all, so no G is left beside an idle P. Nor does a
 * queue starve whose own Ps are in long slices or calls, or retired: each second tick of each P
 * begins at another group's, in turn.
 *   Rejected: others' queues before the victims, since a near victim is nearer than they are.
 *   Rejected: others' queues at the tick only where the own one is empty, which it may never be.
 *
 * Only groups_init() is called where there is one queue; otherwise it replaces the hooks. */
struct groups {
    /* constant */
    int32_t count;
    struct globq *queue;
    struct place {
        int32_t queue, procs; /* the number of the P's queue, and of those who share it */
    } * place;                /* by P */
};

static const struct sched_ops groups_ops;

static struct globq *queue_of(const struct sched *sched, int32_t i)
{
    const struct groups *groups = sched->variant;
    return &groups->queue[i % groups->count];
}

/* For a thread that has no P and had none: the knob inject. The draw of sticky is the generator's
 * first, which the thread never makes. */
static uint32_t drawn_queue(struct m *m)
{
    switch (((const struct gmp_knobs *)m->sched->knobs)->inject) {
    case INJECT_RANDOM:
        return (uint32_t)(m_random(m) >> 33);
    case INJECT_STICKY:
        return (uint32_t)((m->rng[0] + m->rng[1]) >> 33);
    default:
        return 0;
    }
}

/* The queue of p's group; without a P, of the P that the thread's G had, or a drawn one. */
static struct globq *home_of(struct m *m, const struct p *p)
{
    const struct groups *groups = m->sched->variant;
    p = p ? p : m->old_p;
    return queue_of(m->sched, p ? groups->place[p->id].queue : (int32_t)drawn_queue(m));
}

/* Takes no time: with one queue nothing of this is there. */
static MACHINE_TAKES_NO_TIME int32_t groups_count(const struct sched *sched)
{
    int64_t globals = ((const struct gmp_knobs *)sched->knobs)->globals;
    int32_t count = 1;
    if (globals != GLOBALS_GROUP)
        return globals < sched->procs ? (int32_t)globals : sched->procs;
    for (int32_t i = 0; sched->groups && i < sched->procs; i++)
        count = sched->groups[i] < count ? count : sched->groups[i] + 1;
    return count;
}

static bool groups_init(struct sched *sched)
{
    int64_t globals = ((const struct gmp_knobs *)sched->knobs)->globals;
    int32_t count = groups_count(sched), procs = sched->procs;
    if (count == 1)
        return false;
    struct groups *groups = sched->variant = sched_zalloc(sizeof *groups, "sched");
    groups->count = count;
    groups->queue = sched_zalloc((size_t)count * sizeof *groups->queue, "sched");
    groups->place = sched_zalloc((size_t)procs * sizeof *groups->place, "sched");
    for (int32_t i = 0; i < procs; i++)
        groups->place[i].queue =
            globals == GLOBALS_GROUP ? sched->groups[i] : (int32_t)((int64_t)i * count / procs);
    for (int32_t i = 0; i < procs; i++)
        for (int32_t other = 0; other < procs; other++)
            groups->place[i].procs += groups->place[other].queue == groups->place[i].queue;
    for (int32_t i = 0; i < count; i++)
        lrq_globq_init(sched->knobs, queue_of(sched, i));
    sched->ops = &groups_ops;
    sched->picks_last = true;
    sched->keeps = sched->keeps ? groups_ops.keeps : NULL;
    return true;
}

static void groups_fini(struct sched *sched)
{
    struct groups *groups = sched->variant;
    for (int32_t i = 0; i < groups->count; i++)
        globq_fini(queue_of(sched, i));
    machine_free(groups->queue);
    machine_free(groups->place);
    ps_fini(sched);
}

static void groups_ready(struct m *m, struct g *gp, enum ready_how how)
{
    struct globq *home = home_of(m, m->p);
    if (how == READY_INJECTED)
        inject(m, gp, home);
    else if (goes_global(m, how))
        globq_put(m, home, gp);
    else
        lrq_put(m, m->p->variant, home, gp, how == READY_NEW || how == READY_WOKEN);
}

static bool groups_drain(struct m *m, struct p *p)
{
    if (p)
        lrq_drain(m, p->variant, home_of(m, p));
    return false;
}

static int64_t groups_queued(struct sched *sched, struct p *p)
{
    int64_t sum = 0;
    if (p)
        return gmp_queued(sched, p);
    for (int32_t i = 0; i < ((struct groups *)sched->variant)->count; i++)
        sum += globq_size(queue_of(sched, i));
    return sum;
}

static bool some_queue_has_work(struct sched *sched)
{
    for (int32_t i = 0; i < ((struct groups *)sched->variant)->count; i++)
        if (!globq_is_empty(queue_of(sched, i)))
            return true;
    return false;
}

static bool groups_keep(struct m *m)
{
    return m->p && lrq_keeps(m, m->p->variant, home_of(m, m->p)) && !some_queue_has_work(m->sched);
}

/* The tick is due: from the own queue, then from the others; at each second tick one of them, in
 * turn, comes first. */
static struct g *groups_tick(struct m *m, const struct lrq *lrq)
{
    const struct groups *groups = m->sched->variant;
    int32_t home = groups->place[m->p->id].queue, others = groups->count - 1;
    uint32_t tick = p_schedtick(m->p) / (uint32_t)(lrq->tick > 0 ? lrq->tick : 1);
    int32_t first = tick % 2 ? 1 + (int32_t)(tick / 2 % (uint32_t)others) : 0;
    for (int32_t i = 0; i < groups->count; i++) {
        struct globq *globq = queue_of(m->sched, home + first + i);
        struct g *gp = globq_get(m, globq);
        if (gp) {
            stat_add(&m->stats, STAT_TICK_POLLS, 1);
            stat_add(&m->stats, STAT_GRQ_HITS, 1);
            stat_add(&m->stats, STAT_GRQ_FAR, globq != home_of(m, m->p));
            sched_event(m, SCHED_TAKEN, gp, FROM_TICK, 0);
            return gp;
        }
    }
    return NULL;
}

static struct g *groups_pick(struct m *m, bool *inherit)
{
    const struct groups *groups = m->sched->variant;
    struct lrq *lrq = m->p->variant;
    struct g *gp = lrq_tick_is_due(m, lrq) ? groups_tick(m, lrq) : NULL;
    const struct place *place = &groups->place[m->p->id];
    return gp ? gp : lrq_pick_of(m, lrq, &groups->queue[place->queue], place->procs, inherit);
}

/* The own queue first: search=steal has left it alone. From another's a share for one of all Ps. */
static struct g *groups_pick_last(struct m *m)
{
    const struct groups *groups = m->sched->variant;
    const struct place *place = &groups->place[m->p->id];
    for (int32_t i = 0; i < groups->count; i++) {
        int32_t procs = i == 0 ? place->procs : sched_procs_used(m->sched);
        struct g *gp =
            lrq_get_global(m, m->p->variant, queue_of(m->sched, place->queue + i), procs);
        if (gp) {
            stat_add(&m->stats, STAT_GRQ_FAR, i > 0);
            return gp;
        }
    }
    return NULL;
}

static struct g *groups_steal(struct m *m)
{
    struct g *gp = m->spinning ? search(m, groups_pick) : NULL;
    return gp ? gp : groups_pick_last(m);
}

static bool groups_have_work(struct sched *sched)
{
    return some_queue_has_work(sched) || ps_have_work(sched);
}

#define GMP_OPS                                                                                    \
    .name = "gmp", .knobs = gmp_knobs, .knobs_size = sizeof(struct gmp_knobs), .moot = gmp_moot,   \
    .check = lrq_check, .forkjoin = FJ_GO, .init = gmp_init

static const struct sched_ops groups_ops = {
    GMP_OPS,
    .ready = groups_ready,
    .keeps = groups_keep,
    .pick = groups_pick,
    .steal = groups_steal,
    .has_work = groups_have_work,
    .drain = groups_drain,
    .queued = groups_queued,
    .fini = groups_fini,
};

const struct sched_ops gmp_ops = {
    GMP_OPS,
    .idea = "M:N as in Go: a ring and runnext per P, stealing by halves",
    .source = "[Vyukov12] [Go1.26]",
    .ready = gmp_ready,
    .keeps = gmp_keeps,
    .pick = gmp_pick,
    .steal = gmp_steal,
    .has_work = gmp_has_work,
    .drain = gmp_drain,
    .queued = gmp_queued,
    .fini = gmp_fini,
};
