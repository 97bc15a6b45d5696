/* uthread - N:1: all goroutines on one OS thread, one FIFO queue, no lock and no atomic.
 *
 * The cheapest possible scheduling, on one core however many there are; a goroutine that blocks
 * in the kernel stops all others.
 *
 * Source: user-level threads as in textbooks, [Silberschatz18] ch. 4 (many-to-one).
 */
#include "runtime/gqueue.h"
#include "sched.h"

struct uthread_knobs {
    struct runtime_knobs runtime;
};

static const struct param uthread_knobs[] = {
    WATCH_KNOBS(struct uthread_knobs, runtime),
    SLEEP_KNOBS(struct uthread_knobs, runtime),
    COMMON_KNOBS(struct uthread_knobs, runtime),
    {0},
};

static const struct param_moot uthread_moot[] = {
    WATCH_MOOT,
    {"sysmon_ns sysmon_rounds sysmon_max_ns slice_ns", "preempt=none",
     "where sysmon has nothing to watch"},
    {0},
};

static void uthread_init(struct sched *sched)
{
    sched->variant = sched_zalloc(sizeof(struct gqueue), "grq.list");
}

static void uthread_ready(struct m *m, struct g *gp, enum ready_how how)
{
    (void)how;
    struct gqueue *queue = m->sched->variant;
    INVARIANT(m == sched_first_m(m->sched)); /* one thread has the queue to itself */
    sched_event_g(m, SCHED_PUT, gp, INTO_LOCAL, 0);
    gqueue_push(queue, gp);
    stat_max(&m->stats, STAT_DEQUE_MAX, (uint64_t)gqueue_size(queue));
}

static int64_t uthread_queued(struct sched *sched, struct p *p)
{
    const struct gqueue *queue = sched->variant;
    return p ? 0 : gqueue_size(queue);
}

static struct g *uthread_pick(struct m *m, bool *inherit)
{
    (void)inherit;
    struct g *gp = gqueue_pop(m->sched->variant);
    if (gp)
        stat_add(&m->stats, STAT_LOCAL_HITS, 1);
    sched_event(m, SCHED_TAKEN, gp, FROM_LOCAL, 0);
    return gp;
}

static bool uthread_has_work(struct sched *sched)
{
    const struct gqueue *queue = sched->variant;
    return queue->head != NULL;
}

const struct sched_ops uthread_ops = {
    .name = "uthread",
    .idea = "N:1, all goroutines on one OS thread with one FIFO queue",
    .source = "[Silberschatz18]",
    .knobs = uthread_knobs,
    .knobs_size = sizeof(struct uthread_knobs),
    .moot = uthread_moot,
    .forkjoin = FJ_GO,
    .single_threaded = true,
    .init = uthread_init,
    .ready = uthread_ready,
    .pick = uthread_pick,
    .has_work = uthread_has_work,
    .queued = uthread_queued,
};
