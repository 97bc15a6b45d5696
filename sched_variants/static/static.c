/* static - goroutines are dealt out to the workers in advance, in turn, and never move.
 *
 * The i-th goroutine belongs to worker i mod n for life. Each worker has a FIFO queue that only
 * others' wake-ups share with it; an idle worker stays idle, whatever the others have queued.
 *
 * Source: static partition ("fair scheduling") as in [GoBook].
 */
#include "runtime/gqueue.h"
#include "sched.h"

struct static_knobs {
    struct floor_knobs floor;
};

static const struct param static_knobs[] = {
    WATCH_KNOBS(struct static_knobs, floor),
    SLEEP_KNOBS(struct static_knobs, floor),
    COMMON_KNOBS(struct static_knobs, floor),
    MUTEX_SPIN_KNOB(struct static_knobs, floor),
    {0},
};

static const struct param_moot static_moot[] = {
    WATCH_MOOT,
    {"slice_ns", "preempt=none", "where no slice ends"},
    {0},
};

struct deal {
    _Atomic uint32_t next; /* worker of the next new goroutine */
};

static void static_init(struct sched *sched)
{
    sched->variant = sched_zalloc(sizeof(struct deal), "sched");
}

static void static_fini(struct sched *sched)
{
    machine_free(sched->variant);
}

static void static_p_init(struct sched *sched, struct p *p)
{
    (void)sched;
    p->variant = sched_zalloc(sizeof(struct globq), "grq.list");
    globq_init(p->variant);
}

static void static_p_fini(struct sched *sched, struct p *p)
{
    (void)sched;
    machine_free(p->variant);
}

/* gp->tag is its worker. The first new goroutine goes to worker 1: worker 0 has main. */
static void static_ready(struct m *m, struct g *gp, enum ready_how how)
{
    struct sched *sched = m->sched;
    struct deal *deal = sched->variant;
    if (how == READY_NEW) {
        uint32_t turn = atomic_fetch_add_explicit(&deal->next, 1, memory_order_relaxed);
        gp->tag = (int32_t)((turn + 1) % (uint32_t)sched->procs);
    }
    struct p *home = sched->allp[gp->tag];
    struct globq *queue = home->variant;
    lock_acquire(&queue->lock.word);
    sched_event_g(m, SCHED_PUT, gp, INTO_WORKER, home->id);
    gfifo_push(&queue->fifo, gp);
    int64_t size = gfifo_size(&queue->fifo);
    globq_publish(queue);
    lock_release(&queue->lock.word);
    stat_max(&m->stats, STAT_DEQUE_MAX, (uint64_t)size);
    if (home != m->p)
        m_block_wake(m, atomic_load_explicit(&home->m, memory_order_acquire)); /* P2 */
}

static int64_t static_queued(struct sched *sched, struct p *p)
{
    (void)sched;
    return p ? globq_size(p->variant) : 0;
}

static struct g *static_pick(struct m *m, bool *inherit)
{
    (void)inherit;
    struct globq *queue = m->p->variant;
    if (globq_is_empty(queue))
        return NULL;
    lock_acquire(&queue->lock.word);
    struct g *gp = gfifo_pop(&queue->fifo);
    globq_publish(queue);
    lock_release(&queue->lock.word);
    if (gp)
        stat_add(&m->stats, STAT_LOCAL_HITS, 1);
    sched_event(m, SCHED_TAKEN, gp, FROM_LOCAL, 0);
    return gp;
}

const struct sched_ops static_ops = {
    .name = "static",
    .idea = "tasks dealt out to the workers in turn, in advance; nothing moves",
    .source = "[GoBook]",
    .knobs = static_knobs,
    .knobs_size = sizeof(struct static_knobs),
    .moot = static_moot,
    .forkjoin = FJ_GO,
    .blocks = true,
    .init = static_init,
    .p_init = static_p_init,
    .ready = static_ready,
    .pick = static_pick,
    .queued = static_queued,
    .p_fini = static_p_fini,
    .fini = static_fini,
};
