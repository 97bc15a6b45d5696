/* runq.h - a variant from a queue alone: the rest is gmp's.
 *
 * For whoever has a run queue to compare, and no scheduler. Each P gets one queue. The rest is as
 * in gmp, with Go's numbers. There is a slot for the newest G (runnext), and one global queue, at
 * which each 61st dispatch looks first. Thieves take half in up to four passes, and wait 3 us
 * before they take another's runnext. So what a comparison with gmp shows is the queue's.
 *
 *     static const struct runq_ops mine = {.size = sizeof(struct mine), .put = mine_put, ...};
 *     RUNQ_VARIANT(mine, mine, "what it is, in a line", "where it is from")
 *
 * defines mine_ops, with the knobs `runnext` and `tick` and those of the runtime, and mine_runq, by
 * which `schedlab micro ./mine.slv` times the queue alone.
 *
 * Callers. A queue has one owner at a time, the M that holds its P: put() and get(), on any
 * stack. steal(), length() and has_work() come from any thread at any time. No function may wait
 * for another thread other than by a short lock, allocate, or keep global variables. A G's `link`
 * is the queue's while the G is in it.
 *
 *   Same:    which G comes next, when the global queue is asked, what a thief takes and runs first.
 *   Differs: a queue that is full gives half up one by one, by get(): the older half of a FIFO, the
 *            newer one of a LIFO. A walk through victims draws its step anew. Knobs of gmp's ring
 *            are not here.
 * Source: Go 1.26 runtime/proc.go runqput, findRunnable, stealWork.
 */
#ifndef SCHEDLAB_RUNQ_H
#define SCHEDLAB_RUNQ_H

#include "gqueue.h"
#include "sched.h"
#include "timer.h"

struct runq_ops {
    /* Bytes of one queue; they begin as zeros, on cache lines of their own. */
    size_t size;

    /* Optional: before the first and after the last use. An init() that fails ends the process by
     * fatal(). It may name parts of the queue with machine_name(); `--why` has runq.queue else. */
    void (*init)(void *queue);
    void (*fini)(void *queue);

    /* Required. Owner. False: it is full, and gp is not in it. */
    bool (*put)(void *queue, struct g *gp);

    /* Required. Owner. The one to run next. NULL: none is left, and a thief on its way puts none
     * back. The owner may give its P away then, and nobody looks into the queue of an idle P. */
    struct g *(*get)(void *queue);

    /* Required. Another M: takes up to `most` out of the queue, 1 to RUNQ_BATCH, and says how many.
     * The last of them runs first, the others go to the thief's queue in their order. */
    int64_t (*steal)(void *queue, struct g **taken, int64_t most);

    /* Required. How many there are, 0 or more; a hint, and exact for an owner without thieves. The
     * owner asks after each put(), for DEQUE_MAX: let it read no line that thieves write, if it
     * can. */
    int64_t (*length)(void *queue);

    /* Optional, for a queue that keeps some to its owner: how many another M may take; a hint.
     * Thieves ask before each steal(). Default: length(). */
    int64_t (*stealable)(void *queue);

    /* Optional. May another M get one? It may err towards true, never towards false: a put() that
     * came before a full fence is seen behind that fence. One that is the owner's alone is no
     * reason to say yes: the others would search for it without end. Default: stealable() > 0. */
    bool (*has_work)(void *queue);
};

enum { RUNQ_BATCH = 128, RUNQ_PASSES = 4, RUNQ_BACKOFF_NS = 3000, RUNQ_LOOK_NS = 10000 };

struct runq_knobs {
    struct runtime_knobs runtime;
    int64_t runnext; /* 0 off, 1 on */
    int64_t tick;    /* 0: never */
};

struct runq {
    /* owner and thieves; R1: release store, acq_rel exchange and CAS, acquire load: the G that is
     * handed over is visible */
    _Alignas(64) _Atomic(struct g *) runnext;
    _Alignas(64) char queue[];
};

static inline struct runq *runq_of(const struct p *p)
{
    return p->variant;
}

static inline struct globq *runq_globq(const struct sched *sched)
{
    return sched->variant;
}

static inline const struct runq_knobs *runq_knobs_of(const struct m *m)
{
    return m->sched->knobs;
}

static inline int64_t runq_stealable(const struct runq_ops *ops, struct runq *runq)
{
    return ops->stealable ? ops->stealable(runq->queue) : ops->length(runq->queue);
}

static inline bool runq_any(const struct runq_ops *ops, struct runq *runq)
{
    return ops->has_work ? ops->has_work(runq->queue) : runq_stealable(ops, runq) > 0;
}

/* Life ---------------------------------------------------------------------------------------- */

static inline void runq_init(const struct runq_ops *ops, struct sched *sched)
{
    if (!ops->put || !ops->get || !ops->steal || !ops->length || ops->size == 0)
        fatal("%s: its struct runq_ops lacks put, get, steal, length or size", sched->ops->name);
    struct globq *globq = sched_zalloc(sizeof *globq, "sched");
    globq_init(globq);
    sched->variant = globq;
    sched->look_ns = RUNQ_LOOK_NS;
    if (!ops->stealable)
        sched->keeps = NULL;
    for (int32_t i = 0; i < sched->procs; i++) {
        struct runq *runq = sched_zalloc(sizeof *runq + ops->size, "runq.queue");
        machine_name(&runq->runnext, sizeof runq->runnext, "lrq.runnext");
        sched->allp[i]->variant = runq;
        if (ops->init)
            ops->init(runq->queue);
    }
}

static inline void runq_fini(const struct runq_ops *ops, struct sched *sched)
{
    for (int32_t i = 0; ops->fini && i < sched->procs; i++)
        ops->fini(runq_of(sched->allp[i])->queue);
}

/* Putting ------------------------------------------------------------------------------------- */

/* A full queue: half of it, as get() gives them, and gp move to the global one. */
static inline void runq_overflow(const struct runq_ops *ops, struct m *m, struct runq *runq,
                                 struct g *gp)
{
    struct gfifo moving = {0};
    int64_t n = 0, half = ops->length(runq->queue) / 2;
    for (struct g *old; n < half && (old = ops->get(runq->queue)); n++)
        gfifo_push(&moving, old);
    gfifo_push(&moving, gp);
    globq_put_all(m, runq_globq(m->sched), &moving);
    stat_add(&m->stats, STAT_OVERFLOWS, 1);
    sched_event(m, SCHED_OVERFLOWED, NULL, (int32_t)n + 1, 0);
}

static inline void runq_put(const struct runq_ops *ops, struct m *m, struct g *gp, bool next)
{
    struct runq *runq = runq_of(m->p);
    if (next && runq_knobs_of(m)->runnext) {
        sched_event_g(m, SCHED_PUT, gp, INTO_RUNNEXT, 0);
        gp = atomic_exchange_explicit(&runq->runnext, gp, memory_order_acq_rel); /* R1 */
        if (!gp)
            return;
    }
    if (!ops->put(runq->queue, gp)) {
        runq_overflow(ops, m, runq, gp);
        return;
    }
    sched_event_g(m, SCHED_PUT, gp, INTO_LOCAL, 0);
    stat_max(&m->stats, STAT_DEQUE_MAX, (uint64_t)ops->length(runq->queue));
}

static inline void runq_ready(const struct runq_ops *ops, struct m *m, struct g *gp,
                              enum ready_how how)
{
    if (how == READY_INJECTED || how == READY_PREEMPTED || how == READY_YIELD)
        globq_put(m, runq_globq(m->sched), gp);
    else
        runq_put(ops, m, gp, how == READY_NEW || how == READY_WOKEN);
}

/* Getting ------------------------------------------------------------------------------------- */

static inline struct g *runq_get_own(const struct runq_ops *ops, struct m *m, bool *inherit)
{
    struct runq *runq = runq_of(m->p);
    /* relaxed look: only the owner fills the slot */
    if (atomic_load_explicit(&runq->runnext, memory_order_relaxed)) {
        struct g *gp =
            atomic_exchange_explicit(&runq->runnext, NULL, memory_order_acq_rel); /* R1 */
        if (gp) {
            *inherit = true;
            stat_add(&m->stats, STAT_RUNNEXT_HITS, 1);
            sched_event(m, SCHED_TAKEN, gp, FROM_RUNNEXT, 0);
            return gp;
        }
    }
    struct g *gp = ops->get(runq->queue);
    stat_add(&m->stats, STAT_LOCAL_HITS, gp != NULL);
    sched_event(m, SCHED_TAKEN, gp, FROM_LOCAL, 0);
    return gp;
}

/* A fair share of the global queue: the first runs, the rest goes to the P's own. */
static inline struct g *runq_get_global(const struct runq_ops *ops, struct m *m)
{
    struct globq *globq = runq_globq(m->sched);
    struct runq *runq = runq_of(m->p);
    struct g *more;
    if (globq_is_empty(globq))
        return NULL;
    globq_lock_to_take(m, globq);
    int64_t n = gfifo_size(&globq->fifo) / sched_procs_used(m->sched), moved = 0;
    struct g *gp = gfifo_pop(&globq->fifo);
    /* first: has_work() must not find both empty */
    while (moved < n && moved < RUNQ_BATCH - 1 && (more = gfifo_pop_ahead(m, &globq->fifo))) {
        if (!ops->put(runq->queue, more)) {
            gfifo_push(&globq->fifo, more);
            break;
        }
        moved++;
    }
    globq_publish(globq);
    globq_unlock(m, globq);
    stat_add(&m->stats, STAT_GRQ_HITS, gp != NULL);
    if (moved > 0)
        sched_event(m, SCHED_MOVED, NULL, (int32_t)moved, 0);
    sched_event(m, SCHED_TAKEN, gp, FROM_GLOBAL, 0);
    return gp;
}

static inline struct g *runq_pick(const struct runq_ops *ops, struct m *m, bool *inherit)
{
    struct globq *globq = runq_globq(m->sched);
    uint32_t tick = (uint32_t)runq_knobs_of(m)->tick;
    struct g *gp;
    if (tick > 0 && p_schedtick(m->p) % tick == 0 && (gp = globq_get(m, globq))) {
        stat_add(&m->stats, STAT_TICK_POLLS, 1);
        stat_add(&m->stats, STAT_GRQ_HITS, 1);
        sched_event(m, SCHED_TAKEN, gp, FROM_TICK, 0);
        return gp;
    }
    gp = runq_get_own(ops, m, inherit);
    return gp ? gp : runq_get_global(ops, m);
}

/* Stealing ------------------------------------------------------------------------------------ */

static inline struct g *runq_steal_next(struct m *m, struct runq *victim, bool victim_runs)
{
    struct g *gp = atomic_load_explicit(&victim->runnext, memory_order_acquire); /* R1 */
    if (!gp)
        return NULL;
    if (victim_runs)
        machine_sleep(RUNQ_BACKOFF_NS); /* its owner is about to run it */
    if (!atomic_compare_exchange_strong_explicit(&victim->runnext, &gp, NULL, memory_order_acq_rel,
                                                 memory_order_relaxed)) /* R1 */
        return NULL;
    stat_add(&m->stats, STAT_RUNNEXT_STEALS, 1);
    stat_add(&m->stats, STAT_STOLEN, 1);
    sched_event(m, SCHED_STOLEN, NULL, 1, true);
    return gp;
}

/* Half of the victim's, rounded up. */
static inline struct g *runq_steal_from(const struct runq_ops *ops, struct m *m,
                                        struct runq *victim)
{
    struct g *taken[RUNQ_BATCH];
    struct runq *mine = runq_of(m->p);
    int64_t length = runq_stealable(ops, victim), most = length - length / 2;
    stat_add(&m->stats, STAT_VICTIM_PROBES, 1);
    if (length <= 0)
        return NULL;
    int64_t n = ops->steal(victim->queue, taken, most < RUNQ_BATCH ? most : RUNQ_BATCH);
    INVARIANT(n >= 0 && n <= RUNQ_BATCH);
    if (n == 0)
        return NULL;
    for (int64_t i = 0; i < n - 1; i++)
        if (!ops->put(mine->queue, taken[i]))
            globq_put(m, runq_globq(m->sched), taken[i]);
    stat_add(&m->stats, STAT_STOLEN, (uint64_t)n);
    sched_event(m, SCHED_STOLEN, NULL, (int32_t)n, false);
    return taken[n - 1];
}

static inline uint32_t runq_gcd(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static inline struct g *runq_steal_pass(const struct runq_ops *ops, struct m *m, bool last)
{
    struct sched *sched = m->sched;
    uint32_t n = (uint32_t)sched->procs, at = (uint32_t)(m_random(m) >> 32) % n, step;
    do {
        step = 1 + (uint32_t)(m_random(m) >> 32) % n;
    } while (runq_gcd(step, n) != 1);
    for (uint32_t i = 0; i < n; i++, at = (at + step) % n) {
        struct p *p = sched->allp[at];
        if (p == m->p)
            continue;
        /* relaxed: only whether there is one; an idle P has nothing */
        struct m *owner = atomic_load_explicit(&p->m, memory_order_relaxed);
        struct g *gp = last && timers_run_of(m, p) ? runq_pick(ops, m, &(bool){false}) : NULL;
        if (gp)
            return gp;
        if (owner)
            gp = runq_steal_from(ops, m, runq_of(p));
        if (!gp && owner && last)
            gp = runq_steal_next(m, runq_of(p), !p_in_call(p));
        if (gp) {
            stat_add(&m->stats, STAT_STEALS, 1);
            m_count_far(m, (int32_t)at);
            sched_event(m, SCHED_TAKEN, gp, FROM_VICTIM, (int32_t)at);
            return gp;
        }
    }
    return NULL;
}

static inline struct g *runq_steal(const struct runq_ops *ops, struct m *m)
{
    for (int pass = 1; pass <= RUNQ_PASSES; pass++) {
        struct g *gp = runq_steal_pass(ops, m, pass == RUNQ_PASSES);
        if (gp)
            return gp;
    }
    stat_add(&m->stats, STAT_STEALS_FAILED, 1);
    sched_event(m, SCHED_FOUND_NOTHING, NULL, 0, 0);
    return NULL;
}

/* The rest ------------------------------------------------------------------------------------ */

static inline bool runq_has_work(const struct runq_ops *ops, struct sched *sched)
{
    if (!globq_is_empty(runq_globq(sched)))
        return true;
    for (int32_t i = 0; i < sched->procs; i++) {
        struct runq *runq = runq_of(sched->allp[i]);
        /* a G moves from runnext to the queue, and never back: so the queue is asked twice */
        if (runq_any(ops, runq) ||
            atomic_load_explicit(&runq->runnext, memory_order_acquire) || /* R1 */
            runq_any(ops, runq))
            return true;
    }
    return false;
}

/* For a queue with stealable(). m runs what its queue keeps to its owner itself: a worker that
 * were woken for it would find nothing. */
static inline bool runq_keeps(const struct runq_ops *ops, struct m *m)
{
    return m->p && !atomic_load_explicit(&runq_of(m->p)->runnext, memory_order_acquire) && /* R1 */
           !runq_any(ops, runq_of(m->p)) && globq_is_empty(runq_globq(m->sched));
}

/* Nobody else uses p's queue. */
static inline bool runq_drain(const struct runq_ops *ops, struct m *m, struct p *p)
{
    if (!p)
        return false; /* an M has none of its own */
    struct runq *runq = runq_of(p);
    struct g *gp;
    while ((gp = ops->get(runq->queue)))
        globq_put(m, runq_globq(m->sched), gp);
    if ((gp = atomic_exchange_explicit(&runq->runnext, NULL, memory_order_acq_rel))) /* R1 */
        globq_put(m, runq_globq(m->sched), gp);
    return false;
}

static inline int64_t runq_queued(const struct runq_ops *ops, struct sched *sched, struct p *p)
{
    return p ? ops->length(runq_of(p)->queue) : globq_size(runq_globq(sched));
}

/* Defines NAME_ops over the queue OPS, a struct runq_ops of this file. */
#define RUNQ_VARIANT(name_, ops_, idea_, source_)                                                  \
    static const char *const name_##_off_on[] = {"off", "on", NULL};                               \
    static const struct param name_##_knobs[] = {                                                  \
        PARAM_WORD(struct runq_knobs, runnext, name_##_off_on, 1, "Go 1.26 proc.go runqput",       \
                   "whether the newest goroutine has a slot of its own, and runs next"),           \
        PARAM_NUMBER(struct runq_knobs, tick, 61, 0, 1024, "dispatches",                           \
                     "Go 1.26 proc.go findRunnable",                                               \
                     "every how many dispatches a worker looks at the global queue first"),        \
        RUNTIME_KNOBS_WATCHED(struct runq_knobs, runtime, WATCH_SYSMON),                           \
        {0},                                                                                       \
    };                                                                                             \
    static const struct param_moot name_##_moot[] = {RUNTIME_MOOT, {0}};                           \
    static void name_##_init_(struct sched *sched)                                                 \
    {                                                                                              \
        runq_init(&(ops_), sched);                                                                 \
    }                                                                                              \
    static void name_##_fini_(struct sched *sched)                                                 \
    {                                                                                              \
        runq_fini(&(ops_), sched);                                                                 \
    }                                                                                              \
    static void name_##_ready_(struct m *m, struct g *gp, enum ready_how how)                      \
    {                                                                                              \
        runq_ready(&(ops_), m, gp, how);                                                           \
    }                                                                                              \
    static struct g *name_##_pick_(struct m *m, bool *inherit)                                     \
    {                                                                                              \
        return runq_pick(&(ops_), m, inherit);                                                     \
    }                                                                                              \
    static struct g *name_##_steal_(struct m *m)                                                   \
    {                                                                                              \
        return runq_steal(&(ops_), m);                                                             \
    }                                                                                              \
    static bool name_##_has_work_(struct sched *sched)                                             \
    {                                                                                              \
        return runq_has_work(&(ops_), sched);                                                      \
    }                                                                                              \
    static bool name_##_keeps_(struct m *m)                                                        \
    {                                                                                              \
        return runq_keeps(&(ops_), m);                                                             \
    }                                                                                              \
    static bool name_##_drain_(struct m *m, struct p *p)                                           \
    {                                                                                              \
        return runq_drain(&(ops_), m, p);                                                          \
    }                                                                                              \
    static int64_t name_##_queued_(struct sched *sched, struct p *p)                               \
    {                                                                                              \
        return runq_queued(&(ops_), sched, p);                                                     \
    }                                                                                              \
    extern const struct runq_ops *const name_##_runq; /* `schedlab micro` times it alone */        \
    const struct runq_ops *const name_##_runq = &(ops_);                                           \
    const struct sched_ops name_##_ops = {                                                         \
        .name = #name_,                                                                            \
        .idea = (idea_),                                                                           \
        .source = (source_),                                                                       \
        .knobs = name_##_knobs,                                                                    \
        .knobs_size = sizeof(struct runq_knobs),                                                   \
        .moot = name_##_moot,                                                                      \
        .forkjoin = FJ_GO,                                                                         \
        .init = name_##_init_,                                                                     \
        .ready = name_##_ready_,                                                                   \
        .pick = name_##_pick_,                                                                     \
        .steal = name_##_steal_,                                                                   \
        .has_work = name_##_has_work_,                                                             \
        .keeps = name_##_keeps_,                                                                   \
        .drain = name_##_drain_,                                                                   \
        .queued = name_##_queued_,                                                                 \
        .fini = name_##_fini_,                                                                     \
    }

#endif
