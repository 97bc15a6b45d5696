/* grq - M:N with one global FIFO queue behind one lock.
 *
 * Everything that is runnable waits in one list; every put and get takes its lock. Fair to the
 * last place; the lock and the queue's cache lines go round all workers.
 *
 * Source: [Vyukov12], Go before 1.1.
 */
#include "runtime/gqueue.h"
#include "sched.h"

struct grq_knobs {
    struct runtime_knobs runtime;
    int64_t lock; /* enum qlock_kind */
};

static const struct param grq_knobs[] = {
    PARAM_WORD(struct grq_knobs, lock, qlock_words, QLOCK_TTAS, "schedlab",
               "which lock the global queue has",
               .detail =
                   "ttas: test and test-and-set. ticket: first come, first served. mcs: a list "
                   "of waiters. futex: spins, then sleeps, as Go's locks did up to 1.23. "
                   "spinbit: one waiter spins at most, all others sleep, as Go's locks do "
                   "since.",
               KNOB_DECISIVE(QUEUES, "GRQ_LOCK_WAITS GRQ_LOCK_SPINS", "lock=mcs spawn,n=2000 8")),
    RUNTIME_KNOBS(struct grq_knobs, runtime),
    {0},
};

static const struct param_moot grq_moot[] = {RUNTIME_MOOT, {0}};

static void grq_init(struct sched *sched)
{
    const struct grq_knobs *knobs = sched->knobs;
    struct globq *globq = sched_zalloc(sizeof *globq, "grq.list");
    sched->globq_lock = (uint32_t)knobs->lock;
    globq_init(globq);
    sched->variant = globq;
}

static void grq_fini(struct sched *sched)
{
    machine_free(sched->variant);
}

static void grq_ready(struct m *m, struct g *gp, enum ready_how how)
{
    (void)how;
    INVARIANT(m->lock_node.kind == m->sched->globq_lock);
    stat_max(&m->stats, STAT_DEQUE_MAX, (uint64_t)globq_put(m, m->sched->variant, gp));
}

static int64_t grq_queued(struct sched *sched, struct p *p)
{
    return p ? 0 : globq_size(sched->variant);
}

static struct g *grq_pick(struct m *m, bool *inherit)
{
    (void)inherit;
    struct g *gp = globq_get(m, m->sched->variant);
    if (gp)
        stat_add(&m->stats, STAT_GRQ_HITS, 1);
    sched_event(m, SCHED_TAKEN, gp, FROM_GLOBAL, 0);
    return gp;
}

/* A spinner has no other queue to look into: it looks into the global one again. */
static struct g *grq_look_again(struct m *m)
{
    bool inherit;
    return grq_pick(m, &inherit);
}

static bool grq_has_work(struct sched *sched)
{
    return !globq_is_empty(sched->variant);
}

const struct sched_ops grq_ops = {
    .name = "grq",
    .idea = "M:N with one global FIFO queue behind one lock",
    .source = "[Vyukov12]",
    .knobs = grq_knobs,
    .knobs_size = sizeof(struct grq_knobs),
    .moot = grq_moot,
    .forkjoin = FJ_GO,
    .init = grq_init,
    .ready = grq_ready,
    .pick = grq_pick,
    .steal = grq_look_again,
    .has_work = grq_has_work,
    .queued = grq_queued,
    .fini = grq_fini,
};
