/* sysmon.c - the watcher: a thread without a P that runs no G.
 *
 * It looks round, sleeps, and looks round again. Each look counts if a P is idle beside work, and
 * does five things:
 *   an M that it sees in the same blocking call for the second time loses its P (syscall.c)
 *   a G that has run for a slice is asked to stop (preempt.c)
 *   what I/O has made ready is found, if no worker has looked for 10 ms
 *   a timer is overdue that no idle M watches: an idle P gets an M that serves it
 *   a wake-up is due that was put off (wakelater.c).
 *
 * Its sleep begins at sysmon_ns. After sysmon_rounds looks in a row that took no P away it doubles
 * with each look, up to sysmon_max_ns. So its services are quick where calls block all the time,
 * and late by up to that maximum elsewhere. A slice of 10 ms therefore lasts 10 to 20 ms. When all
 * Ps are idle, and none has run since its last look, it sleeps until one is taken.
 *
 *   Y1  sysmon_deep is written under sched->lock, where all Ps were seen idle; whoever takes one
 *       does so under the same lock, and so sees it and wakes sysmon. Relaxed besides.
 *   Y2  note is set by release after sysmon_deep has been cleared, and taken by acquire: whoever
 *       was woken from its deep sleep sees that it is over, and does not fall asleep again.
 *
 * Source: Go 1.26 runtime/proc.go sysmon, retake, preemptone.
 *   Same:    first sleep, rounds, doubling, second sighting, leniency.
 *   Differs: Go wakes it from its deep sleep at system calls only. A goroutine that runs for long
 *            after a pause could keep its P until then. "Is there work" asks all queues, where Go
 *            asks the P's own: a queue need not be a P's here. Go's does not look at timers (but on
 *            NetBSD): beside I/O that is always ready one can be late without bound there.
 */
#include "internal.h"
#include "timer.h"

#include <string.h>

/* The state in which sysmon saw a P, and since when. */
struct sighting {
    uint32_t schedtick, call;
    int64_t schedtick_since, call_since;
};

struct sysmon {
    struct m m;            /* counts and asks for wake-ups; holds no P, is on no list */
    _Atomic uint32_t note; /* 1: woken from its sleep */
    struct machine_thread thread;
    struct sighting seen[];
};

enum { POLL_AGE_NS = 10000000 };

const char *const sysmon_words[] = {"off", "on", NULL};

/* Does it watch Ps at all? */
static bool sysmon_watches(const struct sched *sched)
{
    const struct runtime_knobs *knobs = sched->runtime;
    return knobs->sysmon && (knobs->calls == CALLS_SYSMON || knobs->calls == CALLS_ADAPTIVE ||
                             knobs->preempt != PREEMPT_NONE || wakes_later(sched) ||
                             (netpoll_by(sched) == NETPOLL_POLL && !sched->ops->single_threaded));
}

/* Asks the M of p to let another G run. Not in a call: what it asked would stay until the M is
 * back, and end a slice that has just begun. */
static void preempt_if_long(struct sysmon *sysmon, struct p *p, struct sighting *seen, int64_t now)
{
    struct sched *sched = sysmon->m.sched;
    uint32_t tick = p_schedtick(p);
    if (seen->schedtick != tick) {
        seen->schedtick = tick;
        seen->schedtick_since = now;
        return;
    }
    /* relaxed: a call may begin or end at any time, before the request or after it */
    bool in_call = atomic_load_explicit(&p->call, memory_order_relaxed) & 1;
    struct m *m = atomic_load_explicit(&p->m, memory_order_acquire); /* P2 */
    if (m && !in_call && sched->runtime->preempt != PREEMPT_NONE &&
        now - seen->schedtick_since >= sched->runtime->slice_ns)
        preempt_request(&sysmon->m, m);
}

/* True if it took the P away from a call. */
static bool retake_call(struct sysmon *sysmon, struct p *p, struct sighting *seen, int64_t now)
{
    struct sched *sched = sysmon->m.sched;
    const struct runtime_knobs *knobs = sched->runtime;
    /* relaxed: the CAS of p_take() checks it */
    uint32_t call = atomic_load_explicit(&p->call, memory_order_relaxed);
    if (!(call & 1) || (knobs->calls != CALLS_SYSMON && knobs->calls != CALLS_ADAPTIVE))
        return false;
    bool long_slice = now - seen->schedtick_since >= knobs->slice_ns && knobs->slice_ns > 0;
    if (seen->call != call && !long_slice) {
        seen->call = call;
        seen->call_since = now;
        return false;
    }
    /* relaxed: hints */
    bool others = atomic_load_explicit(&sched->spinning, memory_order_relaxed) +
                      atomic_load_explicit(&sched->idle_ps, memory_order_relaxed) >
                  0;
    if (seen->call == call && others && now - seen->call_since < knobs->lenient_ns &&
        !sched->ops->has_work(sched))
        return false;
    if (!p_take(p, call))
        return false;
    stat_add(&sysmon->m.stats, STAT_HANDOFFS, 1);
    p_release(&sysmon->m, p);
    return true;
}

/* While all Ps are busy nobody else may have looked for what I/O has made ready. Not for a queue
 * that only its one worker may touch. */
static void poll_if_long_ago(struct sysmon *sysmon, int64_t now)
{
    struct sched *sched = sysmon->m.sched;
    /* relaxed: a hint */
    int64_t last = atomic_load_explicit(&sched->polled_at, memory_order_relaxed);
    if (last == POLLED_NOW || now - last < POLL_AGE_NS || !netpoll_has_waiters(sched) ||
        netpoll_by(sched) != NETPOLL_POLL || sched->ops->single_threaded)
        return;
    atomic_store_explicit(&sched->polled_at, now, memory_order_relaxed);
    sched_inject(sched, netpoll(sched, 0));
}

/* An estimate, for machines that do not know exactly: how often a P is idle beside work. Not of a
 * queue that only its one worker may touch. */
static void waste_look(struct sysmon *sysmon)
{
    struct sched *sched = sysmon->m.sched;
    /* relaxed: both are hints */
    if (!sched->ops->single_threaded &&
        atomic_load_explicit(&sched->idle_ps, memory_order_relaxed) > 0 &&
        sched->ops->has_work(sched))
        stat_add(&sysmon->m.stats, STAT_WASTED_SAMPLES, 1);
}

/* One look at all Ps; the number of those taken away. */
static int retake(struct sysmon *sysmon, int64_t now, bool *ran)
{
    struct sched *sched = sysmon->m.sched;
    int taken = 0;
    *ran = false;
    for (int32_t i = 0; i < sched->procs; i++) {
        struct p *p = sched->allp[i];
        struct sighting *seen = &sysmon->seen[i];
        *ran |= seen->schedtick != p_schedtick(p);
        preempt_if_long(sysmon, p, seen, now);
        taken += retake_call(sysmon, p, seen, now);
    }
    return taken;
}

static bool sysmon_stops(struct sched *sched)
{
    return atomic_load_explicit(&sched->stopping, memory_order_acquire); /* E2 */
}

static void sysmon_sleep(struct sysmon *sysmon, int64_t ns)
{
    struct sched *sched = sysmon->m.sched;
    if (!sysmon_stops(sched))
        machine_wait(&sysmon->note, 0, ns);
    atomic_exchange_explicit(&sysmon->note, 0, memory_order_acquire); /* Y2 */
}

/* Fewer Ps may be held than there were, and a retired one that runs on may have put it off. */
static bool wake_is_put_off(const struct sched *sched)
{
    return wakes_later(sched) &&
           atomic_load_explicit(sched_wake_due(sched), memory_order_relaxed) != 0; /* WL3 */
}

/* Returns true if it slept until a P was taken. */
static bool sysmon_sleep_deep(struct sysmon *sysmon)
{
    struct sched *sched = sysmon->m.sched;
    lock_acquire(&sched->lock);
    bool idle =
        atomic_load_explicit(&sched->idle_ps, memory_order_relaxed) == sched_procs_used(sched) &&
        !wake_is_put_off(sched);
    atomic_store_explicit(&sched->sysmon_deep, idle, memory_order_relaxed); /* Y1 */
    lock_release(&sched->lock);
    if (!idle)
        return false;
    while (atomic_load_explicit(&sched->sysmon_deep, memory_order_relaxed) && !sysmon_stops(sched))
        sysmon_sleep(sysmon, -1);
    return true;
}

/* The sleep before the next look: doubled after `idle` looks without a retake. */
static int64_t next_delay(const struct runtime_knobs *knobs, int64_t delay, int64_t idle)
{
    if (idle == 0)
        delay = knobs->sysmon_ns;
    else if (idle > knobs->sysmon_rounds)
        delay *= 2;
    return delay < knobs->sysmon_max_ns ? delay : knobs->sysmon_max_ns;
}

/* Watches nothing, only tells. */
static void trace_only(struct sysmon *sysmon)
{
    struct sched *sched = sysmon->m.sched;
    int64_t start = machine_now();
    while (!sysmon_stops(sched)) {
        sysmon_sleep(sysmon, sched->schedtrace_ns);
        schedtrace(sched, machine_now() - start, sched->scheddetail);
    }
}

static void sysmon_thread(void *arg)
{
    struct sysmon *sysmon = arg;
    struct sched *sched = sysmon->m.sched;
    const struct runtime_knobs *knobs = sched->runtime;
    machine_set_self(&sysmon->m);
    int64_t delay = 0, idle = 0, start = machine_now(), traced = start, now = start;
    int64_t soon = INT64_MAX; /* until a wake-up that was put off is due */
    bool ran = true;
    for (int32_t i = 0; i < sched->procs; i++)
        sysmon->seen[i] = (struct sighting){.schedtick_since = start, .call_since = start};
    if (!sysmon_watches(sched))
        trace_only(sysmon);
    while (!sysmon_stops(sched)) {
        delay = next_delay(knobs, delay, idle);
        sysmon_sleep(sysmon, delay < soon ? delay : soon);
        /* woken by whoever took a P, it looks at once: a call may have begun */
        bool deep = !sched->schedtrace_ns && !ran && sysmon_sleep_deep(sysmon);
        int64_t last = now;
        now = machine_now();
        stat_add(&sysmon->m.stats, STAT_SYSMON_ROUNDS, 1);
        if (!MACHINE_KNOWS_WASTE)
            waste_look(sysmon);
        if (deep) {
            idle = 0;
            delay = knobs->sysmon_ns;
        } else if (delay == knobs->sysmon_max_ns) {
            stat_add(&sysmon->m.stats, STAT_SYSMON_LONG_NS, (uint64_t)(now - last));
        }
        poll_if_long_ago(sysmon, now);
        fence_look(sched, now);
        if (timers_earliest(sched) < now)
            start_unwatched_p(&sysmon->m);
        idle = retake(sysmon, now, &ran) ? 0 : idle + 1;
        if (wakes_later(sched))
            soon = wake_later_look(&sysmon->m, now);
        if (sched->schedtrace_ns && now - traced >= sched->schedtrace_ns) {
            traced = now;
            schedtrace(sched, now - start, sched->scheddetail);
        }
    }
}

void sysmon_wake_slow(struct sched *sched)
{
    /* relaxed: Y1 */
    if (!atomic_exchange_explicit(&sched->sysmon_deep, false, memory_order_relaxed))
        return;
    atomic_store_explicit(&sched->sysmon->note, 1, memory_order_release); /* Y2 */
    machine_wake(&sched->sysmon->note, 1);
}

void sysmon_start(struct sched *sched)
{
    if (!sysmon_watches(sched) && !sched->schedtrace_ns)
        return;
    size_t size = sizeof(struct sysmon) + (size_t)sched->procs * sizeof(struct sighting);
    struct sysmon *sysmon = sched->sysmon = sched_zalloc(size, "sysmon");
    m_init_common(sched, &sysmon->m, -1);
    int error = machine_thread_start(&sysmon->thread, sysmon_thread, sysmon, STACK_SIZE_THREAD, -1);
    if (error)
        fatal_env(-error, "cannot start the thread of sysmon");
}

void sysmon_stop(struct sched *sched)
{
    if (!sched->sysmon)
        return;
    /* relaxed: `stopping` is set by release; whatever it sleeps on ends the sleep */
    atomic_store_explicit(&sched->sysmon->note, 1, memory_order_relaxed);
    machine_wake(&sched->sysmon->note, 1);
}

void sysmon_join(struct sched *sched)
{
    if (sched->sysmon)
        machine_thread_join(&sched->sysmon->thread);
}

uint64_t sysmon_stat(const struct sched *sched, enum stat_id which)
{
    /* relaxed: see stats.h */
    return sched->sysmon
               ? atomic_load_explicit(&sched->sysmon->m.stats.value[which], memory_order_relaxed)
               : 0;
}
