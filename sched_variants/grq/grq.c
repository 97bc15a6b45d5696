/* grq - M:N with one global FIFO queue, behind one lock or without.
 *
 * Everything that is runnable waits in one list; every put and get takes its lock. Fair to the
 * last place; the lock and the queue's cache lines go round all workers. With queue=mpmc a ring
 * without a lock takes the list's place, so that one can tell what is the lock's price and what is
 * that of having one queue. The list then has only what the ring has no room for.
 *
 * Source: [Vyukov12], Go before 1.1; the ring: [Vyukov10].
 */
#include "runtime/gqueue.h"
#include "runtime/mpmc.h"
#include "sched.h"

struct grq_knobs {
    struct runtime_knobs runtime;
    int64_t lock;  /* enum qlock_kind */
    int64_t queue; /* enum grq_queue */
};
enum grq_queue { GRQ_LIST, GRQ_MPMC };
static const char *const grq_queue_words[] = {"list", "mpmc", NULL};

struct grq {
    struct globq list;
    struct mpmc *ring; /* queue=mpmc, or NULL; on a line that is only read */
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
    PARAM_WORD(
        struct grq_knobs, queue, grq_queue_words, GRQ_LIST, "[Vyukov10]",
        "whether the global queue has a lock",
        .detail = "list: a list behind the lock. mpmc: a ring of 16384 whose users take tickets by "
                  "compare-and-swap; what it has no room for waits in the list, and those who "
                  "come later behind that.",
        KNOB_DECISIVE(QUEUES, "GRQ_LOCKS", "queue=mpmc spawn,n=2000 8")),
    RUNTIME_KNOBS(struct grq_knobs, runtime),
    {0},
};

static const struct param_moot grq_moot[] = {RUNTIME_MOOT, {0}};

static void grq_init(struct sched *sched)
{
    const struct grq_knobs *knobs = sched->knobs;
    struct grq *grq = sched_zalloc(sizeof *grq, "grq.list");
    sched->globq_lock = (uint32_t)knobs->lock;
    globq_init(&grq->list);
    machine_name(&grq->ring, sizeof grq->ring, "sched");
    if (knobs->queue == GRQ_MPMC) {
        grq->ring = sched_zalloc(sizeof *grq->ring, "grq.cells");
        mpmc_init(grq->ring);
    }
    sched->variant = grq;
}

static void grq_fini(struct sched *sched)
{
    struct grq *grq = sched->variant;
    machine_free(grq->ring);
    machine_free(grq);
}

static int64_t grq_size(struct grq *grq)
{
    return globq_size(&grq->list) + (grq->ring ? mpmc_size(grq->ring) : 0);
}

/* While some wait in the list, those who come wait behind them. */
static void grq_ready(struct m *m, struct g *gp, enum ready_how how)
{
    (void)how;
    INVARIANT(m->lock_node.kind == m->sched->globq_lock);
    struct grq *grq = m->sched->variant;
    if (grq->ring && globq_is_empty(&grq->list) && mpmc_put(m, grq->ring, gp))
        return;
    stat_max(&m->stats, STAT_DEQUE_MAX, (uint64_t)globq_put(m, &grq->list, gp));
}

static int64_t grq_queued(struct sched *sched, struct p *p)
{
    return p ? 0 : grq_size(sched->variant);
}

static struct g *grq_get(struct m *m, struct grq *grq)
{
    struct g *gp = grq->ring ? mpmc_get(grq->ring) : NULL;
    return gp ? gp : globq_get(m, &grq->list);
}

static struct g *grq_pick(struct m *m, bool *inherit)
{
    (void)inherit;
    struct g *gp = grq_get(m, m->sched->variant);
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
    struct grq *grq = sched->variant;
    return (grq->ring && !mpmc_is_empty(grq->ring)) || !globq_is_empty(&grq->list);
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
