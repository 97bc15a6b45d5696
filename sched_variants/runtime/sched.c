/* sched.c - makes, starts and ends a scheduler: Ps, Ms and their threads, the main goroutine. */
#include "ctx.h"
#include "depot.h"
#include "internal.h"
#include "timer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

const struct stat_info stat_info[STAT_COUNT] = {
#define STAT_INFO(name, merge, help) {#name, STAT_MERGE_##merge, help},
    STATS(STAT_INFO)
#undef STAT_INFO
};

void *sched_zalloc(size_t size, const char *name)
{
    INVARIANT(size > 0);
    INVARIANT(name);
    size = (size + 63) & ~(size_t)63; /* nothing else on its last line */
    void *ptr = machine_alloc(size, 64);
    if (!ptr)
        fatal_env(ENOMEM, "no memory for the scheduler");
    machine_name(ptr, size, name);
    return memset(ptr, 0, size);
}

struct p *p_new(struct sched *sched, int32_t id)
{
    struct p *p = sched_zalloc(sizeof *p, "p");
    p->id = id;
    timers_give(sched, p);
    depot_init(&p->g_depot, depot_room_p(sched), "g.free");
    depot_init(&p->stack_depot, depot_room_p(sched), "stack.free");
    return p;
}

void p_free(struct p *p)
{
    INVARIANT(p->timers);
    machine_free(p->variant);
    depot_fini(&p->g_depot);
    depot_fini(&p->stack_depot);
    machine_free(p);
}

/* splitmix64, to spread a seed over the generators. Source: [Steele14]. */
static uint64_t mix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void m_init_common(struct sched *sched, struct m *m, int32_t id)
{
    m->id = id;
    m->sched = sched;
    m->ops = sched->ops;
    m->lock_node.kind = sched->globq_lock;
    uint64_t state = sched->seed ^ ((uint64_t)id << 32);
    m->rng[0] = mix(&state);
    m->rng[1] = mix(&state) | 1;
}

static void m_init(struct sched *sched, struct m *m, int32_t id)
{
    machine_name(m, sizeof *m, "m");
    machine_name(&m->stats, sizeof m->stats, "stats");
    m_init_common(sched, m, id);
    m->fj.m = m;
    fj_worker_init(&m->fj, sched);
    if (sched->ops->m_init)
        sched->ops->m_init(sched, m);
}

/* Reuses the M of a thread that has ended, for 1:1 variants, whose threads come and go. */
static struct m *m_reuse(struct sched *sched)
{
    lock_acquire(&sched->lock);
    struct m *m = sched->dead_m;
    if (m)
        sched->dead_m = m->idle_link;
    lock_release(&sched->lock);
    if (m)
        m->one_g_done = false;
    return m;
}

struct m *m_new(struct sched *sched, struct p *p)
{
    struct m *m = m_reuse(sched);
    if (!m) {
        m = sched_zalloc(sizeof *m, "m");
        /* relaxed: ids need only differ */
        m_init(sched, m, atomic_fetch_add_explicit(&sched->ms_made, 1, memory_order_relaxed));
        /* A1: release, pairs with A2 in sched_first_m(): the M is complete, and so are those after
         * it in the list. relaxed: the older ones are only linked to here */
        m->all_link = atomic_load_explicit(&sched->allm, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&sched->allm, &m->all_link, m,
                                                      memory_order_release, memory_order_relaxed))
            continue;
    }
    m_acquire_p(m, p);
    /* relaxed: counted before its thread exists, and so before it can idle, block or end */
    atomic_fetch_add_explicit(&sched->ms, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&sched->active, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&sched->running, 1, memory_order_relaxed);
    return m;
}

static void m_set_slack(int64_t ns)
{
    int error = machine_timer_slack(ns);
    if (error)
        fatal_env(-error, "slack_ns=%" PRId64 ": the kernel refuses", ns);
}

void m_enter(struct m *m)
{
    INVARIANT(m->p);
    INVARIANT(!m->curg);
    machine_set_self(m);
    machine_thread_enter();
    if (m->sched->runtime->slack_ns != SLACK_KERNEL)
        m_set_slack(m->sched->runtime->slack_ns);
    machine_stack_bounds(&m->g0.stack, &m->g0_stack_size);
    m->self = machine_thread_self();
    atomic_store_explicit(&m->has_self, true, memory_order_release); /* V1 */
#if defined(CTX_TSAN)
    m->g0.fiber = __tsan_get_current_fiber();
#endif
    if (m->sched->m_started)
        m->sched->m_started(m, m->sched->hook_arg);
}

void m_leave(struct m *m)
{
    INVARIANT(m == machine_self());
    INVARIANT(!m->curg);
    if (m->sched->m_stopping)
        m->sched->m_stopping(m, m->sched->hook_arg);
    m_cache_flush(m);
    if (m->sched->runtime->slack_ns != SLACK_KERNEL)
        m_set_slack(0); /* M 0's thread goes on without a scheduler */
    machine_thread_leave();
}

/* Pre: sched->lock. 1:1 only: the P that was made for the thread serves the next one. */
static void m_give_p_back(struct sched *sched, struct m *m)
{
    m->p->idle_link = sched->idle_p;
    sched->idle_p = m->p;
    m->p = NULL;
}

enum { STOP_SECONDS = 30 };
static const int64_t STOP_NS = STOP_SECONDS * INT64_C(1000000000);

/* Until no more than so many threads are there. A goroutine that main has left behind may run for
 * ever, or rest in a call. Nobody can stop it, and nobody should wait for it without an end or a
 * word. */
static void wait_running(struct sched *sched, uint32_t most)
{
    int64_t end = machine_now() + STOP_NS, rest = STOP_NS;
    uint32_t left;
    while ((left = atomic_load_explicit(&sched->running, memory_order_acquire)) > most) { /* R2 */
        if (rest <= 0)
            fatal("main has returned, and what it left behind still runs, or is in a call, on %u "
                  "thread%s after %d s",
                  left - most, left - most == 1 ? "" : "s", STOP_SECONDS);
        machine_wait(&sched->running, left, rest);
        rest = end - machine_now();
    }
}

/* R1: release, pairs with R2 in wait_running(); the thread's last touch of sched, but for the wake.
 * The thread on which main returned may wait for the last but one, M 0's for all. */
static void running_uncount(struct sched *sched)
{
    INVARIANT(atomic_load_explicit(&sched->running, memory_order_relaxed) > 0);
    if (atomic_fetch_sub_explicit(&sched->running, 1, memory_order_release) <= 2)
        machine_wake(&sched->running, 2);
}

static void m_thread(void *arg)
{
    struct m *m = arg;
    struct sched *sched = m->sched;
    m_enter(m);
    m_run(m);
    bool ends_main = !sched->ops->thread_per_g && sched->main_ended_on == m; /* E2 came before */
    m_leave(m);
    if (sched->ops->thread_per_g) {
        m_block_uncount(sched);
        lock_acquire(&sched->lock);
        m_give_p_back(sched, m);
        m->idle_link = sched->dead_m;
        sched->dead_m = m;
        lock_release(&sched->lock);
    }
    if (ends_main)
        wait_running(sched, 1); /* M 0's thread cannot look after itself */
    running_uncount(sched);
}

void m_start(struct m *m)
{
    INVARIANT(m->p);
    struct sched *sched = m->sched;
    bool alone = sched->ops->thread_per_g;
    int cpu = sched->pin && !alone ? m->p->id : -1;
    atomic_store_explicit(&m->core, cpu, memory_order_relaxed); /* a hint to others */
    /* alone: it may end, and its M be another thread's, before this function does */
    int error = machine_thread_start(alone ? NULL : &m->thread, m_thread, m,
                                     alone ? STACK_SIZE_THREAD_PER_G : STACK_SIZE_THREAD, cpu);
    if (error)
        fatal_env(-error, "cannot start thread %d", m->id + 1);
}

void m_start_with(struct m *self, struct g *gp)
{
    INVARIANT(gp);
    INVARIANT(self->ops->thread_per_g);
    struct sched *sched = self->sched;
    lock_acquire(&sched->lock);
    struct p *p = sched->idle_p;
    if (p)
        sched->idle_p = p->idle_link;
    lock_release(&sched->lock);
    if (!p)
        p = p_new(sched, -1);
    struct m *m = m_new(sched, p);
    m->next = gp;
    m->next_inherit = false;
    stat_add(&self->stats, STAT_THREADS, 1);
    sched_event_m(self, SCHED_THREAD_STARTED, m);
    m_start(m);
}

void m_start_server(struct m *self, struct p *p)
{
    INVARIANT(self->ops->thread_per_g);
    INVARIANT(p->timers->server == p);
    struct m *m = m_new(self->sched, p);
    stat_add(&self->stats, STAT_THREADS, 1);
    sched_event_m(self, SCHED_THREAD_STARTED, m);
    m_start(m);
}

/* From one field up to another, which has another name or is on other lines. */
#define NAME_FIELDS(sched, from, up_to, name)                                                      \
    machine_name(&(sched)->from, offsetof(struct sched, up_to) - offsetof(struct sched, from), name)

static void sched_name(struct sched *sched)
{
    machine_name(sched, sizeof *sched, "sched");
    NAME_FIELDS(sched, spinning, lock, "sched.spinning");
    NAME_FIELDS(sched, lock, allm, "sched.lock"); /* and the lists under it */
    NAME_FIELDS(sched, g_lock, stack_lock, "g.free");
    NAME_FIELDS(sched, stack_lock, live_gs, "stack.free");
    NAME_FIELDS(sched, live_gs, io_waiters, "sched.live");
    NAME_FIELDS(sched, io_waiters, timers, "poll");
}

static void ps_make(struct sched *sched)
{
    sched->allp = sched_zalloc(sizeof *sched->allp * (size_t)sched->procs, "sched");
    for (int32_t i = sched->procs - 1; i >= 0; i--) {
        struct p *p = sched->allp[i] = p_new(sched, i);
        p->idle_link = sched->idle_p;
        sched->idle_p = p;
    }
}

struct sched *sched_new(const struct sched_config *config, int *error)
{
    INVARIANT(config->ops && config->knobs);
    INVARIANT(config->workers > 0);
    INVARIANT(config->stack_size % machine_page_size() == 0);
    struct sched *sched = machine_alloc(sizeof *sched, 64);
    if (!sched) {
        *error = -ENOMEM;
        return NULL;
    }
    sched_name(sched);
    memset(sched, 0, sizeof *sched);
    *error = 0;
    sched->ops = config->ops;
    sched->knobs = config->knobs;
    sched->runtime = config->knobs;
    sched->forkjoin = config->ops->forkjoin;
    sched->keeps = config->ops->keeps;
    sched->procs = config->ops->single_threaded || config->ops->thread_per_g ? 1 : config->workers;
    sched->live_step = config->ops->thread_per_g ? 1 : config->workers > 1 ? 64 : INT64_MAX;
    sched->exact = sched->procs == 1 && !config->ops->thread_per_g;
    sched->workers = config->workers;
    sched->pin = config->pin;
    sched->groups = config->groups;
    sched->seed = config->seed;
    sched->schedtrace_ns = config->schedtrace_ns;
    sched->scheddetail = config->scheddetail;
    sched->schedtrace_fd = config->schedtrace_fd;
    sched->stack_size = config->stack_size ? config->stack_size : STACK_SIZE_DEFAULT;
    sched->m_started = config->m_started;
    sched->m_stopping = config->m_stopping;
    sched->hook_arg = config->hook_arg;
    timers_init(sched);
    calls_init(sched);
    fence_init(sched);
    depot_init(&sched->g_depot, depot_room(sched), "g.free");
    depot_init(&sched->stack_depot, depot_room(sched), "stack.free");
    ps_make(sched);
    if (sched->ops->init)
        sched->ops->init(sched);
    if ((sched->forkjoin == FJ_HELP || sched->forkjoin == FJ_LINKED) &&
        sched->stack_size < STACK_SIZE_DEEP)
        sched->stack_size = STACK_SIZE_DEEP;
    sched->guard_size = stack_guard_size(sched->stack_size);
    wake_later_init(sched);
    preempt_init(sched);
    procs_use(sched, sched->procs);
    atomic_store_explicit(&sched->idle_ps, sched->procs, memory_order_relaxed); /* one thread yet */
    return sched;
}

/* M 0 is the calling thread and takes P 0. */
static struct m *sched_first(struct sched *sched)
{
    struct p *p = sched->idle_p;
    sched->idle_p = p->idle_link;
    atomic_fetch_sub_explicit(&sched->idle_ps, 1, memory_order_relaxed); /* one thread yet */
    struct m *m = m_new(sched, p);
    stat_add(&m->stats, STAT_THREADS, 1);
    return m;
}

static void sched_wait_threads(struct sched *sched)
{
    wait_running(sched, 0);
    if (sched->ops->thread_per_g)
        return;
    for (struct m *m = sched_first_m(sched); m; m = m->all_link)
        if (m->id != 0)
            machine_thread_join(&m->thread);
}

void sched_stop(struct m *self)
{
    struct sched *sched = self->sched;
    INVARIANT(!sched->main_ended_on);
    sched->main_ended_on = self;
    atomic_store_explicit(&sched->stopping, 1, memory_order_release); /* E1: idle.c */
    /* An M whose turn with the lock in m_sleep() comes after this one sees `stopping`; any other
     * one is among those below. */
    lock_acquire(&sched->lock);
    lock_release(&sched->lock);
    for (struct m *m = sched_first_m(sched); m; m = m->all_link)
        m_block_wake(self, m);
    sysmon_stop(sched);
}

/* The end of main ----------------------------------------------------------------------------
 *
 * A signal may stop a G after its last word, a wg_done(), and before it returns. Nobody waits for
 * such a G, and it would lie in a queue when main returns and the Ms stop. So main waits for each G
 * that can still return by itself. It leaves behind each G that waits for something, and after
 * LINGER_NS one that runs for ever.
 *   Rejected: to run what is queued once main has returned: what never ends would never stop.
 *   Rejected: a count of Gs that signals have stopped: one may be stopped anew after the last look.
 */
enum { LINGER_NAP_NS = 10000, LINGER_NAP_NS_MAX = 1000000 };
static const int64_t LINGER_NS = 10 * INT64_C(1000000000);

struct main_call {
    void (*fn)(void *);
    void *arg;
    struct sched *sched;
};

/* Not for ThreadSanitizer, as in sched_each_g(). */
__attribute__((no_sanitize("thread"))) static void count_if_can_run(struct g *gp, void *arg)
{
    int64_t *count = arg;
    *count += gp->wait_reason == WAIT_NONE;
}

static bool others_can_run(struct sched *sched)
{
    int64_t count = 0;
    lock_acquire(&sched->g_lock);
    sched_each_g(sched, count_if_can_run, &count);
    lock_release(&sched->g_lock);
    return count > 1;
}

static void main_call(void *arg)
{
    const struct main_call *call = arg;
    call->fn(call->arg);
    if (call->sched->runtime->preempt != PREEMPT_SIGNAL)
        return;
    int64_t end = 0;
    for (int64_t nap = LINGER_NAP_NS; others_can_run(call->sched); nap *= 2) {
        int64_t now = machine_now();
        end = end ? end : now + LINGER_NS;
        if (now >= end)
            return;
        nap = nap < LINGER_NAP_NS_MAX ? nap : LINGER_NAP_NS_MAX;
        go_sleep(nap);
    }
}

int64_t sched_run(struct sched *sched, void (*main_fn)(void *), void *arg)
{
    INVARIANT(main_fn);
    INVARIANT(!sched_first_m(sched)); /* a scheduler runs once */
    struct main_call call = {main_fn, arg, sched};
    machine_on_fault = fault_report;
    struct m *m = sched_first(sched);
    m_enter(m);
    if (sched->pin && !sched->ops->thread_per_g)
        machine_pin(0);
    struct g *main_g = g_alloc(m);
    main_g->big_stack = true;
    main_g->fn = main_call;
    main_g->arg = &call;
    m->next = main_g;
#ifdef SCHEDLAB_DEBUG
    atomic_store_explicit(&main_g->queued, 1, memory_order_relaxed); /* one thread yet */
#endif
    /* workers that nobody would ever wake have to be there from the start */
    if ((sched->ops->blocks && !sched->ops->thread_per_g) || sched->runtime->wake == WAKE_NONE)
        sched_start_all(m);
    sysmon_start(sched);
    beat_start(sched);
    m_run(m);
    m_leave(m);
    running_uncount(sched);
    beat_join(sched);
    sysmon_join(sched);  /* before the threads, since it starts Ms as well */
    netpoll_stop(sched); /* likewise */
    outside_stop(sched);
    sched_wait_threads(sched);
    if (sched->ops->thread_per_g)
        m_give_p_back(sched, m);
    for (int32_t i = 0; i < sched->procs; i++)
        live_hand_in(sched, sched->allp[i]);
    if (sched->pin)
        machine_pin(-1);
    machine_set_self(NULL);
    return atomic_load_explicit(&sched->live_gs, memory_order_relaxed); /* all have handed in: R2 */
}

uint64_t sched_stat_rest(struct sched *sched, enum stat_id which)
{
    return sysmon_stat(sched, which) + netpoll_stat(sched, which) +
           (any_outside(sched) ? outside_stat(sched, which) : 0);
}

uint64_t sched_busy_ns(struct sched *sched, uint64_t *each, size_t max)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < sched->procs; i++) {
        int64_t busy = atomic_load_explicit(&sched->allp[i]->busy, memory_order_relaxed);
        if (busy < 0)
            busy += machine_now_unseen() + 1;
        if ((size_t)i < max)
            each[i] = (uint64_t)busy;
        sum += busy;
    }
    return (uint64_t)sum;
}

uint64_t sched_stat(struct sched *sched, enum stat_id which)
{
    INVARIANT(which < STAT_COUNT);
    uint64_t merged = 0;
    for (struct m *m = sched_first_m(sched); m; m = m->all_link) {
        /* relaxed: see stats.h */
        uint64_t value = atomic_load_explicit(&m->stats.value[which], memory_order_relaxed);
        if (which == STAT_DEQUE_MAX && fj_depth_max(&m->fj) > value)
            value = fj_depth_max(&m->fj);
        if (which == STAT_TASKS_LIVE_PEAK)
            value = (uint64_t)atomic_load_explicit(&m->fj.live_max, memory_order_relaxed);
        if (stat_info[which].merge == STAT_MERGE_SUM)
            merged += value;
        else if (value > merged)
            merged = value;
    }
    if (stat_info[which].merge == STAT_MERGE_SUM) /* they see no queue's length */
        merged += sched_stat_rest(sched, which);
    if (which == STAT_BUSY_NS)
        return sched_busy_ns(sched, NULL, 0);
    if (which == STAT_LIVE_GS_PEAK)
        return sched_live_peak(sched);
    if (which == STAT_STACKS_PEAK) /* relaxed: a statistic */
        return atomic_load_explicit(&sched->stacks_out_peak, memory_order_relaxed);
    /* relaxed: likewise. One whose thread has ended is taken before another is made. */
    if (which == STAT_THREADS_PEAK)
        return (uint64_t)atomic_load_explicit(&sched->ms_made, memory_order_relaxed);
    return merged;
}

void sched_free(struct sched *sched)
{
    struct m *next;
    if (sched->ops->fini)
        sched->ops->fini(sched);
    for (struct m *m = sched_first_m(sched); m; m = next) {
        next = m->all_link;
        deque_fini(&m->fj.tasks);
        machine_free(m->variant);
        m_magazines_free(m);
        machine_free(m);
    }
    if (sched->ops->thread_per_g) {
        for (struct p *p = sched->idle_p, *next_p; p; p = next_p) {
            next_p = p->idle_link;
            p_free(p);
        }
    } else {
        for (int32_t i = 0; i < sched->procs; i++)
            p_free(sched->allp[i]);
    }
    machine_free(sched->variant);
    calls_fini(sched);
    machine_free(sched->sysmon);
    machine_free(sched->beat);
    netpoll_fini(sched);
    outside_fini(sched);
    timers_fini(sched);
    stacks_fini(sched);
    galloc_fini(sched);
    machine_free(sched->allp);
    machine_free(sched->wake_later); /* had the hooks */
    width_fini(sched);
    machine_free(sched);
}
