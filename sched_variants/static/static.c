/* static - goroutines are dealt out to the workers in advance, in turn, and never move.
 *
 * The i-th goroutine belongs to worker i mod n for life or, with `block`, that many neighbours do.
 * Each worker has a FIFO queue that only others' wake-ups share with it; an idle worker stays idle,
 * whatever the others have queued.
 *
 * A goroutine that waits leaves its worker to the next one, as anywhere here. With wait=keep it
 * does not: the worker begins the next goroutine when this one has ended, as a pool of threads does
 * whose tasks block. Two that wait for each other on one worker then wait for ever, which is
 * reported as a deadlock. Main is not dealt out, and keeps nothing.
 *
 * Source: static partition ("fair scheduling") as in [GoBook].
 */
#include "runtime/gqueue.h"
#include "sched.h"

enum static_wait { WAIT_LEAVE, WAIT_KEEP };

struct static_knobs {
    struct runtime_knobs runtime;
    int64_t block;
    int64_t wait; /* enum static_wait */
};

static const char *const wait_words[] = {"leave", "keep", NULL};

static const struct param static_knobs[] = {
    PARAM_NUMBER(struct static_knobs, block, 1, 1, 1000000, "Gs", "[GoBook]",
                 "how many goroutines in a row are dealt to one worker",
                 KNOB_DECISIVE(QUEUES, "SLEEPS WAKEUPS", "block=100 spawn,n=1000 4")),
    PARAM_WORD(struct static_knobs, wait, wait_words, WAIT_LEAVE, "schedlab",
               "whether a goroutine that waits keeps its worker",
               .detail =
                   "leave: the next goroutine runs meanwhile. keep: the worker waits with it, "
                   "so that tasks which wait for later ones of the same worker never end.",
               KNOB_FINE(QUEUES, "SLEEPS", "wait=keep timers,n=20 4")),
    WATCH_KNOBS(struct static_knobs, runtime),
    SLEEP_KNOBS(struct static_knobs, runtime),
    COMMON_KNOBS(struct static_knobs, runtime),
    MUTEX_SPIN_KNOB(struct static_knobs, runtime),
    {0},
};

static const struct param_moot static_moot[] = {
    WATCH_MOOT,
    {"slice_ns", "preempt=none", "where no slice ends"},
    {0},
};

struct deal {
    _Atomic uint32_t next; /* number of the next new goroutine */
};

/* The goroutines dealt to a worker; under the queue's lock. */
struct hand {
    struct globq queue;
    /* wait=keep. begun: a goroutine has begun here and not ended; its worker's own */
    bool begun;
    struct g *back; /* it, once it can go on */
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
    struct hand *hand = sched_zalloc(sizeof *hand, "grq.list");
    globq_init(&hand->queue);
    p->variant = hand;
}

static void static_p_fini(struct sched *sched, struct p *p)
{
    (void)sched;
    machine_free(p->variant);
}

static bool static_keeps_worker(const struct sched *sched, const struct g *gp)
{
    const struct static_knobs *knobs = sched->knobs;
    return knobs->wait == WAIT_KEEP && !gp->big_stack; /* main's is */
}

/* gp->tag is its worker. The first new goroutine goes to worker 1: worker 0 has main. */
static void static_ready(struct m *m, struct g *gp, enum ready_how how)
{
    struct sched *sched = m->sched;
    const struct static_knobs *knobs = sched->knobs;
    struct deal *deal = sched->variant;
    if (how == READY_NEW) {
        uint32_t number = atomic_fetch_add_explicit(&deal->next, 1, memory_order_relaxed);
        gp->tag = (int32_t)((number / (uint32_t)knobs->block + 1) % (uint32_t)sched->procs);
    }
    INVARIANT(gp->tag >= 0 && gp->tag < sched->procs);
    struct p *home = sched->allp[gp->tag];
    struct hand *hand = home->variant;
    struct globq *queue = &hand->queue;
    lock_acquire(&queue->lock.word);
    sched_event_g(m, SCHED_PUT, gp, INTO_WORKER, home->id);
    INVARIANT(gp != hand->back);
    if (how != READY_NEW && static_keeps_worker(sched, gp))
        hand->back = gp;
    else
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
    return p ? globq_size(&((struct hand *)p->variant)->queue) : 0;
}

/* The one that has begun, if it keeps its worker; NULL while that waits. */
static struct g *hand_take(struct sched *sched, struct hand *hand)
{
    if (hand->begun) {
        struct g *gp = hand->back;
        hand->back = NULL;
        return gp;
    }
    struct g *gp = gfifo_pop(&hand->queue.fifo);
    hand->begun = gp && static_keeps_worker(sched, gp);
    return gp;
}

static struct g *static_pick(struct m *m, bool *inherit)
{
    (void)inherit;
    INVARIANT(m->p);
    struct hand *hand = m->p->variant;
    struct globq *queue = &hand->queue;
    if (globq_is_empty(queue) && !hand->begun)
        return NULL;
    lock_acquire(&queue->lock.word);
    struct g *gp = hand_take(m->sched, hand);
    globq_publish(queue);
    lock_release(&queue->lock.word);
    if (gp)
        stat_add(&m->stats, STAT_LOCAL_HITS, 1);
    sched_event(m, SCHED_TAKEN, gp, FROM_LOCAL, 0);
    return gp;
}

static void static_ended(struct m *m, struct g *gp)
{
    struct hand *hand = m->p->variant;
    INVARIANT(gp->tag == m->p->id);
    INVARIANT(hand->begun || !static_keeps_worker(m->sched, gp));
    if (static_keeps_worker(m->sched, gp))
        hand->begun = false;
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
    .ended = static_ended,
    .queued = static_queued,
    .p_fini = static_p_fini,
    .fini = static_fini,
};
