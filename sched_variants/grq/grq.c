/* grq - M:N with one global FIFO queue, behind one lock or without any.
 *
 * Everything that is runnable waits in one list; every put and get takes its lock. Fair to the
 * last place; the lock and the queue's cache lines go round all workers. With queue=mpmc a ring
 * without a lock takes the list's place, so that one can tell what is the lock's price and what is
 * that of having one queue. The list then has only what the ring has no room for.
 *
 * Two more have no lock but to make a block, and room for all: queue=msqueue is a linked list
 * whose users try again by compare-and-swap, queue=faa an array whose users take tickets that
 * cannot fail.
 *
 * With queue=multi there are `relax` lists for each worker, and still all workers use all of them.
 * A put goes to any one. A take looks at the lengths of any two, and takes from the longer one. So
 * few meet at a lock, and the order is that of a queue only more or less.
 *
 * Source: [Vyukov12], Go before 1.1; the ring: [Vyukov10]; msqueue: [Michael96]; faa: [Morrison13];
 * multi: [Rihani15].
 *   Differs: their takers compare the oldest of two queues; here lengths, which need no lock.
 */
#include "runtime/faaq.h"
#include "runtime/gqueue.h"
#include "runtime/msqueue.h"
#include "sched.h"

struct grq_knobs {
    struct runtime_knobs runtime;
    int64_t lock;  /* enum qlock_kind */
    int64_t queue; /* enum grq_queue */
    int64_t relax;
};
enum grq_queue { GRQ_LIST, GRQ_MPMC, GRQ_MSQUEUE, GRQ_FAA, GRQ_MULTI };
static const char *const grq_queue_words[] = {"list", "mpmc", "msqueue", "faa", "multi", NULL};

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
        struct grq_knobs, queue, grq_queue_words, GRQ_LIST,
        "mpmc: [Vyukov10]; msqueue: [Michael96]; faa: [Morrison13]; multi: [Rihani15]",
        "whether the global queue has one lock, none, or many",
        .detail = "list: a list behind the lock. mpmc: a ring of 16384 whose users take tickets by "
                  "compare-and-swap; what it has no room for waits in the list, and those who "
                  "come later behind that. msqueue: a linked list without a lock; both ends move "
                  "by compare-and-swap. faa: an array in blocks; users take tickets by "
                  "fetch-and-add, which never fails. multi: several lists, each behind a lock; a "
                  "put goes to any one, a take looks at any two and takes from the longer one.",
        KNOB_DECISIVE(QUEUES, "GRQ_LOCKS GRQ_LOCK_WAITS", "queue=mpmc spawn,n=2000 8")),
    PARAM_NUMBER(struct grq_knobs, relax, 2, 1, 64, "lists", "[Rihani15]",
                 "how many lists there are for each worker (queue=multi)",
                 .detail = "The more there are, the fewer meet at one, and the less is the order "
                           "that of a queue.",
                 KNOB_FINE(QUEUES, "DEQUE_MAX GRQ_LOCK_WAITS",
                           "queue=multi,relax=64 yield,n=2000,yielders=50 8")),
    RUNTIME_KNOBS(struct grq_knobs, runtime),
    {0},
};

static const struct param_moot grq_moot[] = {
    RUNTIME_MOOT,
    {"relax", "queue=list|mpmc|msqueue|faa", "where there is one queue"},
    {"lock", "queue=msqueue|faa", "where the queue has no lock"},
    {0},
};

/* How many queues there are; they are the variant's state. */
static uint32_t count_of(const struct sched *sched)
{
    const struct grq_knobs *knobs = sched->knobs;
    return knobs->queue == GRQ_MULTI ? (uint32_t)(sched->procs * knobs->relax) : 1;
}

static const struct sched_ops multi_ops, msqueue_ops, faa_ops;

static void grq_init(struct sched *sched)
{
    const struct grq_knobs *knobs = sched->knobs;
    sched->globq_lock = (uint32_t)knobs->lock;
    if (knobs->queue == GRQ_MSQUEUE) {
        msq_init(sched->variant = sched_zalloc(sizeof(struct msqueue), "sched"));
        sched->ops = &msqueue_ops;
        return;
    }
    if (knobs->queue == GRQ_FAA) {
        faaq_init(sched->variant = sched_zalloc(sizeof(struct faaq), "sched"));
        sched->ops = &faa_ops;
        return;
    }
    struct globq *queues = sched_zalloc(count_of(sched) * sizeof *queues, "grq.list");
    for (uint32_t i = 0; i < count_of(sched); i++)
        globq_init(&queues[i]);
    if (knobs->queue == GRQ_MPMC)
        globq_add_ring(queues);
    sched->variant = queues;
    if (knobs->queue == GRQ_MULTI)
        sched->ops = &multi_ops;
}

static void grq_fini(struct sched *sched)
{
    globq_fini(sched->variant);
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

static struct g *taken(struct m *m, struct g *gp)
{
    if (gp)
        stat_add(&m->stats, STAT_GRQ_HITS, 1);
    sched_event(m, SCHED_TAKEN, gp, FROM_GLOBAL, 0);
    return gp;
}

static struct g *grq_pick(struct m *m, bool *inherit)
{
    (void)inherit;
    return taken(m, globq_get(m, m->sched->variant));
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

/* queue=multi --------------------------------------------------------------------------------- */

static struct globq *any_queue(struct m *m)
{
    struct globq *queues = m->sched->variant;
    return &queues[(m_random(m) >> 32) % count_of(m->sched)];
}

static void multi_ready(struct m *m, struct g *gp, enum ready_how how)
{
    (void)how;
    stat_max(&m->stats, STAT_DEQUE_MAX, (uint64_t)globq_put(m, any_queue(m), gp));
}

static int64_t multi_queued(struct sched *sched, struct p *p)
{
    struct globq *queues = sched->variant;
    int64_t size = 0;
    for (uint32_t i = 0; !p && i < count_of(sched); i++)
        size += globq_size(&queues[i]);
    return size;
}

/* From the longer one of any two; if both are empty, from the next one that is not. */
static struct g *multi_pick(struct m *m, bool *inherit)
{
    struct globq *queues = m->sched->variant, *one = any_queue(m), *other = any_queue(m);
    struct g *gp = globq_get(m, globq_size(one) >= globq_size(other) ? one : other);
    uint32_t at = (uint32_t)(one - queues), count = count_of(m->sched);
    (void)inherit;
    for (uint32_t i = 1; !gp && i <= count; i++)
        gp = globq_get(m, &queues[(at + i) % count]);
    return taken(m, gp);
}

static struct g *multi_look_again(struct m *m)
{
    bool inherit;
    return multi_pick(m, &inherit);
}

static bool multi_has_work(struct sched *sched)
{
    struct globq *queues = sched->variant;
    for (uint32_t i = 0; i < count_of(sched); i++)
        if (!globq_is_empty(&queues[i]))
            return true;
    return false;
}

/* queue=msqueue ------------------------------------------------------------------------------- */

static void msqueue_fini(struct sched *sched)
{
    msq_fini(sched->variant);
}

static void msqueue_ready(struct m *m, struct g *gp, enum ready_how how)
{
    (void)how;
    stat_max(&m->stats, STAT_DEQUE_MAX, (uint64_t)msq_put(m, m->sched->variant, gp));
}

static void msqueue_ended(struct m *m, struct g *gp)
{
    msq_ended(m->sched->variant, gp);
}

static int64_t msqueue_queued(struct sched *sched, struct p *p)
{
    return p ? 0 : msq_size(sched->variant);
}

static struct g *msqueue_pick(struct m *m, bool *inherit)
{
    (void)inherit;
    return taken(m, msq_get(m->sched->variant));
}

static struct g *msqueue_look_again(struct m *m)
{
    return taken(m, msq_get(m->sched->variant));
}

static bool msqueue_has_work(struct sched *sched)
{
    return !msq_is_empty(sched->variant);
}

/* queue=faa ----------------------------------------------------------------------------------- */

static void faa_fini(struct sched *sched)
{
    faaq_fini(sched->variant);
}

static void faa_ready(struct m *m, struct g *gp, enum ready_how how)
{
    (void)how;
    stat_max(&m->stats, STAT_DEQUE_MAX, (uint64_t)faaq_put(m, m->sched->variant, gp));
}

static int64_t faa_queued(struct sched *sched, struct p *p)
{
    return p ? 0 : faaq_size(sched->variant);
}

static struct g *faa_pick(struct m *m, bool *inherit)
{
    (void)inherit;
    return taken(m, faaq_get(m->sched->variant));
}

static struct g *faa_look_again(struct m *m)
{
    return taken(m, faaq_get(m->sched->variant));
}

static bool faa_has_work(struct sched *sched)
{
    return !faaq_is_empty(sched->variant);
}

#define GRQ_OPS                                                                                    \
    .name = "grq", .knobs = grq_knobs, .knobs_size = sizeof(struct grq_knobs), .moot = grq_moot,   \
    .forkjoin = FJ_GO, .init = grq_init

static const struct sched_ops multi_ops = {
    GRQ_OPS,
    .fini = grq_fini,
    .ready = multi_ready,
    .pick = multi_pick,
    .steal = multi_look_again,
    .has_work = multi_has_work,
    .queued = multi_queued,
};

static const struct sched_ops msqueue_ops = {
    GRQ_OPS,
    .fini = msqueue_fini,
    .ready = msqueue_ready,
    .pick = msqueue_pick,
    .steal = msqueue_look_again,
    .ended = msqueue_ended,
    .has_work = msqueue_has_work,
    .queued = msqueue_queued,
};

static const struct sched_ops faa_ops = {
    GRQ_OPS,
    .fini = faa_fini,
    .ready = faa_ready,
    .pick = faa_pick,
    .steal = faa_look_again,
    .has_work = faa_has_work,
    .queued = faa_queued,
};

const struct sched_ops grq_ops = {
    GRQ_OPS,
    .idea = "M:N with one global FIFO queue behind one lock",
    .source = "[Vyukov12]",
    .fini = grq_fini,
    .ready = grq_ready,
    .pick = grq_pick,
    .steal = grq_look_again,
    .has_work = grq_has_work,
    .queued = grq_queued,
};
