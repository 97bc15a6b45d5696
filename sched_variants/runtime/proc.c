/* proc.c - the life of a G on an M: spawn, run, park, yield, end, and the M's loop on g0.
 *
 * Source: Go 1.26 runtime/proc.go newproc, gopark, goready, Gosched, goexit, schedule, execute.
 *   Same:    states and order of steps; schedtick counts dispatches that do not inherit.
 *   Differs: a G that stops asks pick() for the next one on its own stack and switches to it
 *            directly; g0 is entered only when there is nothing to pick, or when the next G is
 *            still on another M's cpu. g.h ("off-stack") says why that is safe.
 *   Why:     one switch per hand-over in place of two.
 */
#include "ctx.h"
#include "internal.h"
#include "timer.h"

static void g_has_moved(struct m *m, struct g *gp)
{
    if (gp->last_m)
        stat_add(&m->stats, STAT_MIGRATIONS, 1);
    else if (m->sched->exact)
        m->p->unstarted--;
    gp->last_m = m;
}

/* Bookkeeping of putting gp on m; the caller then switches to it. */
static inline void g_put_on(struct m *m, struct g *gp, bool inherit)
{
    INVARIANT(g_is_valid(gp));
#ifdef SCHEDLAB_DEBUG
    /* relaxed: the queue has handed gp over already */
    INVARIANT(atomic_exchange_explicit(&gp->queued, 0, memory_order_relaxed) == 1);
#endif
    /* relaxed: see struct p */
    atomic_store_explicit(&m->p->schedtick, p_schedtick(m->p) + !inherit, memory_order_relaxed);
    stat_add(&m->stats, STAT_DISPATCHES, 1);
    sched_event_g(m, SCHED_DISPATCHED, gp, inherit, 0);
    if (gp->last_m != m)
        g_has_moved(m, gp);
    gp->wait_reason = WAIT_NONE;
    atomic_store_explicit(&m->preempt, false, memory_order_relaxed); /* it was for the G before */
    /* relaxed: ours alone since it left its queue; the next queue hands it on */
    atomic_store_explicit(&gp->on_cpu, 1, memory_order_relaxed);
}

/* m is about to put gp into a queue. */
static inline void g_mark_queued(struct m *m, struct g *gp, enum ready_how how)
{
    sched_event_g(m, SCHED_READIED, gp, how, 0);
    INVARIANT(g_is_valid(gp));
#ifdef SCHEDLAB_DEBUG
    /* A G in two queues, or readied twice, would run on two Ms. relaxed: the queue hands gp over */
    INVARIANT(atomic_exchange_explicit(&gp->queued, 1, memory_order_relaxed) == 0);
#endif
}

/* The stack of from is at rest: whoever waits to run it may go on. O1, pairs with O2. */
void g_off_stack(struct g *prev)
{
    INVARIANT(prev);
    atomic_store_explicit(&prev->on_cpu, 0, memory_order_release); /* O1 */
}

static inline void switch_to_g(struct m *m, struct g *from, struct g *gp)
{
    if (__builtin_expect(!gp->stack, 0))
        g_bind_stack(m, gp);
    m->curg = gp;
    size_t guard = m->sched->guard_size;
    g_off_stack(ctx_switch(from, &from->sp, gp, gp->stack + guard,
                           g_stack_size(m->sched, gp) - guard, false));
}

static void switch_to_g0(struct m *m, struct g *from)
{
    m->curg = NULL;
    g_off_stack(ctx_switch(from, &from->sp, &m->g0, m->g0.stack, m->g0_stack_size, false));
}

/* Leaves the stack of gp, which has ended, for next's, or for g0 if next is NULL. */
static void switch_from_ended(struct m *m, struct g *gp, char *stack, struct g *next)
{
    size_t guard = m->sched->guard_size;
    void **save = &gp->sp; /* never read again */
#if defined(CTX_TSAN)
    if (!gp->big_stack)
        save = g_ended_sp(m->sched, stack);
#endif
    (void)stack;
    m->curg = next;
    if (next)
        g_off_stack(ctx_switch(gp, save, next, next->stack + guard,
                               g_stack_size(m->sched, next) - guard, true));
    else
        g_off_stack(ctx_switch(gp, save, &m->g0, m->g0.stack, m->g0_stack_size, true));
}

static inline bool m_has_detour(const struct m *m)
{
    /* relaxed: who asks for one is served at the next scheduling point, or the one after */
    return __builtin_expect(atomic_load_explicit(&m->detour, memory_order_relaxed), 0);
}

/* m's current G stops: go on with what pick() finds. Returns when `from` runs again. */
static inline void schedule_from(struct m *m, struct g *from)
{
    INVARIANT(!m->fj.held); /* nothing parks in a region */
    INVARIANT(m->p);
    INVARIANT(m_is_valid(m));
    if (m_has_detour(m)) {
        m->next = NULL;
        switch_to_g0(m, from);
        return;
    }
    timers_check(m);
    bool inherit = false;
    struct g *gp = m->ops->pick(m, &inherit);
    if (gp == from) {
        g_put_on(m, gp, inherit);
        return;
    }
    if (gp && !gp->locked && !atomic_load_explicit(&gp->on_cpu, memory_order_acquire)) { /* O2 */
        g_put_on(m, gp, inherit);
        switch_to_g(m, from, gp);
        return;
    }
    m->next = gp;
    m->next_inherit = inherit;
    switch_to_g0(m, from);
}

void g_park(void)
{
    struct m *m = machine_self();
    INVARIANT(m->curg);
    INVARIANT(m->curg->stack);
    stat_add(&m->stats, STAT_PARKS, 1);
    sched_event_park(m);
    schedule_from(m, m->curg);
}

void g_ready(struct g *gp)
{
    struct m *m = machine_self();
    INVARIANT(m->p);
    INVARIANT(gp);
    INVARIANT(gp->stack && gp->last_m); /* it has run, and parked */
    stat_add(&m->stats, STAT_READIES, 1);
    g_waits_no_more(gp);
    g_mark_queued(m, gp, READY_WOKEN);
    m->ops->ready(m, gp, READY_WOKEN);
    wakep(m);
}

void g_yield_as(struct m *m, enum ready_how how)
{
    struct g *gp = m->curg;
    INVARIANT(gp);
    INVARIANT(m->p);
    if (m->fj.held)
        return; /* FJ_HELP, in a region: what it has queued belongs to this worker */
    g_mark_queued(m, gp, how);
    m->ops->ready(m, gp, how);
    wakep(m);
    schedule_from(m, gp);
}

void gosched(void)
{
    struct m *m = machine_self();
    stat_add(&m->stats, STAT_YIELDS, 1);
    g_yield_as(m, READY_YIELD);
}

void g_step_back(void)
{
    g_yield_as(machine_self(), READY_STEP_BACK);
}

void g_inject_self(struct m *m, struct p *old)
{
    struct g *gp = m->curg;
    INVARIANT(gp);
    INVARIANT(!m->p && !m->fj.held);
    g_mark_queued(m, gp, READY_INJECTED);
    m->old_p = old;
    m->ops->ready(m, gp, READY_INJECTED);
    m->old_p = NULL;
    m_leave_queue(m);
    wakep_slow(m); /* without a P its fence is its own: idle.c */
    m->next = NULL;
    switch_to_g0(m, gp);
}

/* Spawning ---------------------------------------------------------------------------------- */

/* With a page of stack each: 256 MiB. Woken Gs lie in the same queue, and may be many more. */
enum { PARENTS_MAX = 1 << 16 };

/* A bound for the memory of the process, and no part of the variant: it takes no simulated time. */
static MACHINE_TAKES_NO_TIME void parent_rests(struct m *m)
{
    INVARIANT(m->parents >= 0);
    if (__builtin_expect(++m->parents <= PARENTS_MAX, 1))
        return;
    /* relaxed: nothing goes with the count */
    m->parents -= atomic_exchange_explicit(&m->parents_taken, 0, memory_order_relaxed);
    if (m->parents > PARENTS_MAX)
        fatal("more than %d parents at rest on one thread: each has started a goroutine that has "
              "not ended, and keeps its stack; tasksteal would have queued the children",
              PARENTS_MAX);
}

/* m is the one that put it to rest. */
static MACHINE_TAKES_NO_TIME void parent_goes_on(struct m *m)
{
    if (m == machine_self())
        m->parents--;
    else /* relaxed: as above */
        atomic_fetch_add_explicit(&m->parents_taken, 1, memory_order_relaxed);
}

/* Work-first: the current G becomes findable, the new one runs. Returns when the current one runs
 * again. */
static void g_run_child(struct m *m, struct g *gp)
{
    struct g *parent = m->curg;
    parent_rests(m);
    g_mark_queued(m, parent, READY_PARENT);
    m->ops->ready(m, parent, READY_PARENT);
    wakep(m);
    g_put_on(m, gp, false);
    switch_to_g(m, parent, gp);
    parent_goes_on(m);
}

void g_spawn(struct m *m, struct g *gp)
{
    INVARIANT(m->curg);
    INVARIANT(gp->fn);
    INVARIANT(!gp->stack && !gp->last_m);
    g_mark_queued(m, gp, READY_NEW);
    /* a G that is locked to its thread must not leave it to its child */
    if (m->ops->forkjoin == FJ_WORK && !m->locked_g) {
        g_run_child(m, gp);
        return;
    }
    m->curg->wait_reason = WAIT_NONE; /* it does not rest in a spawn */
    m->ops->ready(m, gp, READY_NEW);
    wakep(m);
}

void g_spawn_queued(struct m *m, void (*fn)(void *), void *arg)
{
    INVARIANT(fn);
    INVARIANT(m->p);
    struct g *gp = g_alloc(m);
    gp->fn = fn;
    gp->arg = arg;
    g_mark_queued(m, gp, READY_NEW);
    m->ops->ready(m, gp, READY_NEW);
    wakep(m);
}

void go(void (*fn)(void *), void *arg)
{
    struct m *m = preempt_point();
    INVARIANT(fn);
    struct g *gp = g_alloc(m);
    gp->fn = fn;
    gp->arg = arg;
    g_spawn(m, gp);
}

void go_global(void (*fn)(void *), void *arg)
{
    struct m *m = preempt_point();
    INVARIANT(fn);
    struct g *gp = g_alloc(m);
    gp->fn = fn;
    gp->arg = arg;
    if (m->ops->blocks) { /* also where each G has a thread: new ones have no worker yet */
        g_spawn(m, gp);
        return;
    }
    g_mark_queued(m, gp, READY_INJECTED);
    m->ops->ready(m, gp, READY_INJECTED);
    wakep(m);
}

/* Ending ------------------------------------------------------------------------------------ */

/* gp's function has returned. Tells its frame; returns the G to run next, if that is already clear.
 * */
static struct g *g_end(struct m *m, struct g *gp)
{
    struct fj_frame *frame = gp->frame;
    struct g *next = NULL;
    if (!frame)
        return NULL;
    if (m->ops->forkjoin == FJ_WORK && !m_has_detour(m)) {
        bool inherit;
        next = m->ops->pick(m, &inherit);
        /* The owner may be runnable for other reasons than that it rests in its fj_spawn().
         * relaxed: see struct fj_frame */
        if (next && next == atomic_load_explicit(&frame->owner, memory_order_relaxed) &&
            next->wait_reason == WAIT_CHILD && next->wait_on == frame) {
            next->child_returned = true;
            return next;
        }
    }
    if (m->ops->forkjoin != FJ_WORK)
        fj_child_done(frame);
    else if (fj_join_child(m, frame))
        g_ready(atomic_load_explicit(&frame->owner, memory_order_relaxed));
    return next;
}

/* Ends the current G. Returns a fresh G that is to run on this very stack, or not at all.
 * ThreadSanitizer builds return for every G that gets this stack later: see stacks.c. */
static struct g *g_exit(struct m *m, struct g *gp)
{
    INVARIANT(m->curg == gp);
    INVARIANT(!m->fj.held); /* all regions are closed */
    INVARIANT(m->p);
    INVARIANT(gp->stack);
    if (gp->big_stack) {
        sched_stop(m);
        beat_stop(m->sched);
    }
    if (gp->locked)
        g_unlock(m, gp);
    m->one_g_done = m->ops->thread_per_g;
    if (m->ops->ended)
        m->ops->ended(m, gp);
    bool inherit = false;
    struct g *next = g_end(m, gp);
    if (!next && !timers_any(m) && !gp->big_stack && !m->ops->thread_per_g && !m_has_detour(m))
        next = m->ops->pick(m, &inherit);
    bool ready = next && !next->locked &&
                 !atomic_load_explicit(&next->on_cpu, memory_order_acquire); /* O2 */
    if (ready && !next->stack && !next->big_stack && !gp->big_stack) {
        next->stack = gp->stack;
        next->fiber = gp->fiber;
        gp->stack = NULL;
        m->curg = next;
        g_put_on(m, next, inherit);
        g_free(m, gp);
        return next;
    }
    /* The stack goes to this M's cache while we are still on it: nothing takes it from there before
     * the switch below, since whoever needs a stack on this M runs after it. A G without a stack
     * that is to be switched to is bound first for that reason. */
    if (ready && !next->stack)
        g_bind_stack(m, next);
    char *stack = gp->stack;
    g_release_stack(m, gp);
    g_free(m, gp);
    if (ready) {
        g_put_on(m, next, inherit);
    } else {
        m->next = next;
        m->next_inherit = inherit;
    }
    switch_from_ended(m, gp, stack, ready ? next : NULL);
#if defined(CTX_TSAN)
    return machine_self()->curg; /* the stack serves another G now */
#else
    __builtin_unreachable();
#endif
}

void g_forsake_stack(struct m *m, struct g *gp)
{
    m->curg = NULL;
    ctx_switch(gp, &gp->sp, &m->g0, m->g0.stack, m->g0_stack_size, true); /* saves nothing */
    __builtin_unreachable();
}

void g_abandon(struct m *m, struct g *gp, struct g *next)
{
    char *stack = gp->stack;
    g_release_stack(m, gp);
    g_free(m, gp);
    m->next = next;
    m->next_inherit = false;
    switch_from_ended(m, gp, stack, NULL);
    __builtin_unreachable();
}

_Noreturn void g_entry(struct g *prev)
{
    struct m *m = machine_self();
    struct g *gp = m->curg;
#if defined(CTX_ASAN)
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
    g_off_stack(prev);
    for (;;) {
        if (gp->frame)
            gp->task_fn(NULL, gp->arg); /* FJ_GO, FJ_WORK: frames are not linked */
        else
            gp->fn(gp->arg);
        m = machine_self(); /* the function may have parked and gone on elsewhere */
        sched_event_g(m, SCHED_RETURNED, gp, 0, 0);
        gp = g_exit(m, gp);
    }
}

/* The M's loop ------------------------------------------------------------------------------ */

/* May one more M search others' queues? Source: Go 1.26 proc.go findRunnable: 2*spinning < busy. */
static bool m_may_spin(const struct m *m)
{
    struct sched *sched = m->sched;
    switch (m->sched->runtime->spinners) {
    case SPINNERS_NONE:
        return m->spinning;
    case SPINNERS_ALL:
        return true;
    default:
        break;
    }
    /* relaxed: a limit that is off by one for a moment costs a search, not work */
    int32_t spinning = atomic_load_explicit(&sched->spinning, memory_order_relaxed);
    int32_t idle = atomic_load_explicit(&sched->idle_ps, memory_order_relaxed);
    return m->spinning || 2 * spinning < sched_procs_used(sched) - idle;
}

enum { ON_CPU_SPINS = 64 };

static struct g *m_spin(struct m *m, bool *inherit)
{
    struct sched *sched = m->sched;
    if (!m->spinning) {
        m->spinning = true;
        /* relaxed: a W1 (idle.c) that misses it wakes one M more */
        atomic_fetch_add_explicit(&sched->spinning, 1, memory_order_relaxed);
        stat_add(&m->stats, STAT_SPINS, 1);
        sched_event(m, SCHED_SPUN, NULL, 0, 0);
    }
    int64_t deadline = sched->runtime->spin_ns ? machine_now() + sched->runtime->spin_ns : 0;
    for (;;) {
        stat_add(&m->stats, STAT_SPIN_ROUNDS, 1);
        struct g *gp = m->ops->steal(m);
        *inherit = false;
        if (!gp && deadline)
            gp = m->ops->pick(m, inherit);
        /* relaxed: who leaves here looks again */
        if (gp || !deadline || machine_now() >= deadline ||
            atomic_load_explicit(&sched->stopping, memory_order_relaxed))
            return gp;
        machine_pause(32);
    }
}

/* A spinner has found work: one spinner fewer, and the next one is woken, or all are. */
static void m_stop_spinning(struct m *m)
{
    m->spinning = false;
    INVARIANT(atomic_load_explicit(&m->sched->spinning, memory_order_relaxed) > 0);
    /* W2 of idle.c; relaxed: ordered by S2 in wakep_slow() */
    atomic_fetch_sub_explicit(&m->sched->spinning, 1, memory_order_relaxed);
    wakep_slow(m);
}

/* With picks_last, what pick() has left. A spinner's search has ended with that. */
static struct g *steal_last(struct m *m)
{
    return m->spinning || !m->ops->steal ? NULL : m->ops->steal(m);
}

/* A look at who I/O has made ready, unless another M waits for that. */
static struct g *m_poll(struct m *m)
{
    struct sched *sched = m->sched;
    /* relaxed: hints */
    if (!netpoll_has_waiters(sched) ||
        atomic_load_explicit(&sched->polled_at, memory_order_relaxed) == POLLED_NOW ||
        netpoll_by(sched) != NETPOLL_POLL)
        return NULL;
    atomic_store_explicit(&sched->polled_at, machine_now(), memory_order_relaxed);
    struct g *gp = netpoll_put(m, netpoll(sched, 0));
    if (!gp)
        gp = m->ops->pick(m, &(bool){false});
    return gp || !sched->picks_last ? gp : steal_last(m);
}

/* Where the global queue and the poller come after the search. */
static struct g *m_look_last(struct m *m)
{
    struct g *gp = steal_last(m);
    return gp ? gp : m_poll(m);
}

static struct g *m_find_runnable(struct m *m, bool *inherit)
{
    while (!atomic_load_explicit(&m->sched->stopping, memory_order_acquire)) { /* E2 */
        *inherit = false;
        if (m->polled) {
            struct g *polled = m->polled;
            m->polled = NULL;
            return polled;
        }
        if (m_has_detour(m))
            p_retire_if_asked(m);
        if (!m->p) { /* lost in a blocking call, given to a locked G's M, or retired */
            m_idle(m);
            continue;
        }
        timers_check(m);
        struct g *gp = m->ops->pick(m, inherit);
        if (gp)
            return gp;
        p_rests(m->p);
        /* sysmon=off: nobody else serves the timers of an idle P while I/O is always ready */
        if (!m->sched->runtime->sysmon && !m->ops->blocks && timers_run_others(m))
            continue;
        if (!m->sched->picks_last && (gp = m_poll(m)))
            return gp;
        if (m->ops->blocks) {
            if (!galloc_give_back(m))
                m_block(m);
            continue;
        }
        if (m->ops->steal && m_may_spin(m) && (gp = m_spin(m, inherit)))
            return gp;
        if (m->sched->picks_last && (gp = m_look_last(m)))
            return gp;
        if (timers_run_others(m))
            continue; /* what they readied is in a queue of this P's or M's */
        if (!galloc_give_back(m))
            m_idle(m);
    }
    return NULL;
}

void m_run(struct m *m)
{
    INVARIANT(!m->curg);
    INVARIANT(m == machine_self());
    for (;;) {
        struct g *gp = m->next;
        bool inherit = gp && m->next_inherit;
        INVARIANT(m_is_valid(m));
        m->next = NULL;
        if (!gp && m->one_g_done)
            return;
        if (!gp)
            gp = m->locked_g ? m_wait_locked(m) : m_find_runnable(m, &inherit);
        if (!gp)
            return;
        if (m->spinning)
            m_stop_spinning(m);
        if (gp->locked && gp->locked_m != m) {
            m_start_locked(m, gp);
            continue;
        }
        uint32_t spins = 0;
        while (atomic_load_explicit(&gp->on_cpu, memory_order_acquire)) { /* O2 */
            spins += machine_relax(&gp->on_cpu, ON_CPU_SPINS - spins);
            if (spins == ON_CPU_SPINS) {
                machine_yield();
                spins = 0;
            }
        }
        p_works(m->p);
        g_put_on(m, gp, inherit);
        switch_to_g(m, &m->g0, gp);
    }
}
