/* permits - M:N with CPU permits, as in Kotlin's CoroutineScheduler: a queue per worker thread, and
 * a slot for its newest G that thieves must leave alone for a while.
 *
 * There are more threads than permits. A permit is a P: a thread needs one to run Gs, and a call
 * gives it away. A thread keeps its queue without a permit, as in perm. The queue is a slot for the
 * newest G, and behind it a ring. An M that has a permit looks, in this order:
 *
 *   1  by lot, once in 2 P times: one G from the global queue, so that it cannot starve
 *   2  the slot, then the ring's head
 *   3  one G from the global queue
 *   4  the other Ms from a random one on: one G from the ring's head, at any age; only where the
 *      ring is empty that of the slot, if it is slot_age_ns old
 *
 * The slot pushes its old G to the ring's tail. If the ring is full, that G goes to the global
 * queue, alone: no batch ever moves. perm's knobs can say much of this, but not 1 and 4. A thief of
 * perm waits at a victim until it may take runnext, or may take nothing that is young. Here it goes
 * on to the others.
 *
 * A thief that has seen young Gs only looks again after NAP_NS, and keeps its permit.
 *   Rejected: Kotlin's way, to give the permit back and sleep until the first is old. A signal for
 *   other work wakes other threads there. Here new work is left to who searches (idle.c, W1).
 *
 * Order labels, beside those of workq.h:
 *   PM1 release stores of ms      pairs with  PM2 acquire loads (the M and its queue are complete)
 *
 * Source: [Kotlin] CoroutineScheduler.kt findAnyTask, trySteal; WorkQueue.kt add, pollBuffer,
 *         tryStealLastScheduled.
 *   Same:    all above; a place is claimed before it is emptied, so a put may wait for a taker.
 *   Differs: no tasks that are known to block before they begin, so no queue and no thieves for
 *            these alone. Threads sleep and wake by idle.c. A G of a thread that sleeps without a
 *            permit goes to the global queue, and so does one whose slice is over.
 */
#include "runtime/gqueue.h"
#include "workq.h"

/* As gmp: how long a worker whose search failed watches the queues before it sleeps. */
enum { NAP_NS = 3000, LOOK_NS = 10000, MS_SPARE = 64 };

struct permits_knobs {
    struct runtime_knobs runtime;
    int64_t slot_age_ns;
};

struct permits {
    struct globq globq;
    _Atomic(struct m *) *ms; /* by number; NULL: not made yet */
    size_t ms_max;
};

static const struct param permits_knobs[] = {
    PARAM_NUMBER(struct permits_knobs, slot_age_ns, 100000, 0, 1000000000, "ns",
                 "[Kotlin] Tasks.kt WORK_STEALING_TIME_RESOLUTION_NS",
                 "how old the newest goroutine of a worker must be before thieves take it",
                 .detail = "From when it was readied or started. Only the slot for the newest is "
                           "kept from thieves, the ring behind it is not. 0: no time.",
                 KNOB_DECISIVE(STEALING, "RUNNEXT_STEALS STEALS",
                               "slot_age_ns=0 pingpong,rounds=1000,pairs=4 4")),
    RUNTIME_KNOBS(struct permits_knobs, runtime),
    {0},
};

static const struct param_moot permits_moot[] = {
    RUNTIME_MOOT, {"slot_age_ns", NOBODY_SEARCHES}, {0}};

static struct globq *globq_of(const struct sched *sched)
{
    return &((struct permits *)sched->variant)->globq;
}

static void permits_init(struct sched *sched)
{
    struct permits *permits = sched->variant = sched_zalloc(sizeof *permits, "sched");
    globq_init(&permits->globq);
    permits->ms_max = (size_t)sched->runtime->threads_max + MS_SPARE;
    permits->ms = sched_zalloc(permits->ms_max * sizeof *permits->ms, "ms");
    sched->look_ns = LOOK_NS;
}

static void permits_fini(struct sched *sched)
{
    machine_free(((struct permits *)sched->variant)->ms);
}

static void permits_m_init(struct sched *sched, struct m *m)
{
    struct workq *workq = m->variant = sched_zalloc(sizeof *workq, "lrq.tail");
    struct permits *permits = sched->variant;
    machine_name(&workq->taken, sizeof workq->taken, "lrq.head");
    machine_name(&workq->newest, sizeof workq->newest + sizeof workq->since, "lrq.runnext");
    machine_name(workq->place, sizeof workq->place, "lrq.slots");
    if ((size_t)m->id >= permits->ms_max)
        fatal("more than %zu threads (knob threads_max)", permits->ms_max);
    atomic_store_explicit(&permits->ms[m->id], m, memory_order_release); /* PM1 */
}

static void permits_ready(struct m *m, struct g *gp, enum ready_how how)
{
    struct workq *workq = m->variant;
    INVARIANT(workq || how == READY_INJECTED);
    if (how == READY_PREEMPTED || how == READY_INJECTED) {
        globq_put(m, globq_of(m->sched), gp);
        return;
    }
    if (how == READY_NEW || how == READY_WOKEN)
        gp = newest_put(m, workq, gp);
    if (gp && !ring_put(m, workq, gp)) {
        globq_put(m, globq_of(m->sched), gp);
        stat_add(&m->stats, STAT_OVERFLOWS, 1);
        sched_event(m, SCHED_OVERFLOWED, NULL, 1, false);
    }
}

static struct g *pick_global(struct m *m, bool lot)
{
    struct g *gp = globq_get(m, globq_of(m->sched));
    if (gp) {
        stat_add(&m->stats, STAT_GRQ_HITS, 1);
        stat_add(&m->stats, STAT_TICK_POLLS, lot);
        sched_event(m, SCHED_TAKEN, gp, lot ? FROM_TICK : FROM_GLOBAL, 0);
    }
    return gp;
}

/* *inherit as in gmp, so that two who ready each other do not begin a slice each time. */
static struct g *permits_pick(struct m *m, bool *inherit)
{
    struct workq *workq = m->variant;
    struct g *gp;
    bool lot = !globq_is_empty(globq_of(m->sched)) &&
               (m_random(m) >> 32) % (2 * (uint64_t)sched_procs_used(m->sched)) == 0;
    if (lot && (gp = pick_global(m, true)))
        return gp;
    if ((gp = newest_take(workq))) {
        *inherit = true;
        stat_add(&m->stats, STAT_RUNNEXT_HITS, 1);
        sched_event(m, SCHED_TAKEN, gp, FROM_RUNNEXT, 0);
        return gp;
    }
    if ((gp = ring_take(workq))) {
        stat_add(&m->stats, STAT_LOCAL_HITS, 1);
        sched_event(m, SCHED_TAKEN, gp, FROM_LOCAL, 0);
        return gp;
    }
    return pick_global(m, false);
}

static struct g *steal_from(struct m *m, struct m *victim, bool *young)
{
    const struct permits_knobs *knobs = m->sched->knobs;
    stat_add(&m->stats, STAT_VICTIM_PROBES, 1);
    struct g *gp = ring_take(victim->variant);
    bool newest = !gp;
    if (!gp && !(gp = newest_steal(victim->variant, knobs->slot_age_ns, young)))
        return NULL;
    stat_add(&m->stats, STAT_RUNNEXT_STEALS, newest);
    stat_add(&m->stats, STAT_STEALS, 1);
    stat_add(&m->stats, STAT_STOLEN, 1);
    m_count_far_m(m, victim);
    sched_event(m, SCHED_STOLEN, NULL, 1, newest);
    sched_event(m, SCHED_TAKEN, gp, FROM_VICTIM, victim->id);
    return gp;
}

static struct g *permits_steal(struct m *m)
{
    const struct permits *permits = m->sched->variant;
    /* relaxed: PM2 says which of them are complete */
    uint32_t count = (uint32_t)atomic_load_explicit(&m->sched->ms_made, memory_order_relaxed);
    uint32_t first = (uint32_t)(m_random(m) >> 32) % count;
    bool young = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (first + i) % count;
        struct m *victim = at < permits->ms_max
                               ? atomic_load_explicit(&permits->ms[at], memory_order_acquire)
                               : NULL; /* PM2 */
        struct g *gp = victim && victim != m ? steal_from(m, victim, &young) : NULL;
        if (gp)
            return gp;
    }
    stat_add(&m->stats, STAT_STEALS_FAILED, 1);
    sched_event(m, SCHED_FOUND_NOTHING, NULL, 0, 0);
    if (young)
        machine_sleep(NAP_NS);
    return NULL;
}

static bool permits_has_work(struct sched *sched)
{
    if (!globq_is_empty(globq_of(sched)))
        return true;
    for (struct m *m = sched_first_m(sched); m; m = m->all_link)
        if (workq_has_work(m->variant))
            return true;
    return false;
}

/* As perm's: a thread without a P may sleep for ever, and those that go on need never steal. */
static bool permits_drain(struct m *m, struct p *p)
{
    if (p && (m->p != p || !p->retired))
        return false;
    bool any = workq_has_work(m->variant);
    struct g *gp;
    while ((gp = ring_take(m->variant)) || (gp = newest_take(m->variant)))
        globq_put(m, globq_of(m->sched), gp);
    return any;
}

static int64_t permits_queued(struct sched *sched, struct p *p)
{
    if (!p)
        return globq_size(globq_of(sched));
    struct m *m = atomic_load_explicit(&p->m, memory_order_acquire); /* P2 */
    return m ? workq_length(m->variant) : 0;
}

const struct sched_ops permits_ops = {
    .name = "permits",
    .idea = "M:N as in Kotlin: CPU permits, and a slot closed to thieves",
    .source = "[Kotlin]",
    .knobs = permits_knobs,
    .knobs_size = sizeof(struct permits_knobs),
    .moot = permits_moot,
    .forkjoin = FJ_GO,
    .init = permits_init,
    .m_init = permits_m_init,
    .ready = permits_ready,
    .pick = permits_pick,
    .steal = permits_steal,
    .has_work = permits_has_work,
    .drain = permits_drain,
    .queued = permits_queued,
    .fini = permits_fini,
};
