/* wakelater.c - the knob wake_delay_ns: an idle P is left asleep until work has waited that long.
 *
 * Go's scheduler conserves work: new work wakes an idle P at once. To wake one costs more than a
 * short goroutine takes, and the worker that made the work is often free before the other is there.
 * With a delay S4 of idle.c is put off. The first submitter that would wake a P writes down when
 * the wake-up is due. It is done then if there is work, and dropped as soon as a worker sees none.
 * So fewer Ps run than could, and another one comes when queues have not been empty for the delay.
 * Each further P waits as long again. Ps leave as ever: who finds nothing sleeps.
 *
 * Not put off: a wake-up while all Ps are idle, since nobody would come for the work; and a spinner
 * that is on its way. One P that runs is enough, because work is never forgotten:
 *
 *   submitter (S1 to S3 of idle.c,           who drops it
 *   and no spinner)                          WL3  due = 0, if nobody else has changed it
 *   WL1  reads due, behind S2; if it is 0:   WL4  full fence
 *   WL2  due = now + delay                   WL5  has_work(): due is what it was, or the wake-up
 *                                                 is made
 *
 * By S2 and WL4 either WL1 sees the 0, and the submitter writes a time of its own, or WL5 sees the
 * work. So a P that is idle beside work has a spinner on its way, or a due that is not 0, unless
 * somebody stands between S1 and WL2, or between WL3 and the end of WL5. If all Ps are idle, I4 of
 * the last one has seen the work, or S3 has seen all of them idle.
 *
 * Whoever looks at due: a submitter, at S4; a worker at each pick(), which sees the end of all work
 * too; and sysmon at its looks, for workers that do not schedule. sysmon sleeps no longer than
 * until a wake-up that it knows to be due. One that was put off during its sleep can be late by
 * that sleep, sysmon_max_ns at most. So the knob is refused with sysmon=off.
 *   Rejected: a timer. An idle M watches the timers, and would be woken to be told of it.
 *   Rejected: so many Ps as the queues are long. Work behind one long goroutine is a short queue,
 *   and waits for as long as that takes unless there is a delay, too.
 *
 * With width=load wake-ups are put off while as many Ps are awake as may be, also by an M that sees
 * work at I4 (idle.c). width.c says how many may be, and who looks at due then.
 *
 * All of this is behind hooks of its own. Without the knob nothing of it is there.
 *
 * Source: golang/go#54622 (to give up work conservation for a short time); ClickHouse/silk #127,
 * where a queue that is not empty for one window starts the next processor.
 *   Differs: silk's processors stop by their utilisation, and sleep by a clock before that.
 */
#include "internal.h"
#include "width.h"

struct wake_later {
    /* constant during a run */
    struct sched_ops ops;       /* the variant's, with a pick() that looks at due */
    struct runtime_knobs knobs; /* with wake=WAKE_LATER */
    struct g *(*pick)(struct m *m, bool *inherit);
    struct g *(*steal)(struct m *m);
    enum wake_policy wake; /* how, once it is due */

    /* When a wake-up that was put off is due; 0: there is none. It hands nothing over, so that
     * relaxed is enough for all but the order of WL1 and WL3 beside S2 and WL4. */
    _Alignas(64) _Atomic int64_t due;
};

/* True if it is the caller who has dropped it. */
static bool drop(struct m *m, int64_t due)
{
    struct wake_later *later = m->sched->wake_later;
    /* WL3; relaxed: WL4 */
    if (!atomic_compare_exchange_strong_explicit(&later->due, &due, 0, memory_order_relaxed,
                                                 memory_order_relaxed))
        return false;
    machine_fence(&m->fence_scratch); /* WL4 */
    return true;
}

/* A wake-up is due. */
static __attribute__((noinline)) void wake_if_work(struct m *m, int64_t due)
{
    if (!drop(m, due))
        return;
    if (m->sched->ops->has_work(m->sched)) { /* WL5 */
        if (m->sched->width)
            width_grow(m);
        wake_now(m, m->sched->wake_later->wake);
    } else {
        stat_add(&m->stats, STAT_WAKES_DROPPED, 1);
    }
}

/* m finds nothing to pick. */
static __attribute__((noinline)) void drop_if_no_work(struct m *m, int64_t due)
{
    struct wake_later *later = m->sched->wake_later;
    int64_t none = 0;
    if (!drop(m, due))
        return;
    /* put off again if there is work, unless another one was meanwhile */
    bool again = m->sched->ops->has_work(m->sched) && /* WL5; relaxed: WL2 */
                 atomic_compare_exchange_strong_explicit(
                     &later->due, &none, due, memory_order_relaxed, memory_order_relaxed);
    if (!again)
        stat_add(&m->stats, STAT_WAKES_DROPPED, 1);
}

/* From when a wake-up that is due is made by others than those that pick. With width=load these
 * come first: who has just made work sees that it waits, but not for how long. */
static int64_t overdue(const struct sched *sched, int64_t due)
{
    return sched->width ? due + WIDTH_WAIT_NS : due;
}

/* Writes down when a wake-up is due. Pre: the fence behind the work. */
static void put_off(struct m *m)
{
    struct sched *sched = m->sched;
    struct wake_later *later = sched->wake_later;
    int64_t due = atomic_load_explicit(&later->due, memory_order_relaxed); /* WL1; relaxed: S2 */
    if (due != 0 && sched->width && !width_may_look(m))
        return;
    int64_t now = machine_now();
    if (due != 0) {
        if (now >= overdue(sched, due))
            wake_if_work(m, due);
        return;
    }
    /* WL2; relaxed: whoever was first has put one off for this work too */
    if (atomic_compare_exchange_strong_explicit(&later->due, &due, now + sched->wake_delay_ns,
                                                memory_order_relaxed, memory_order_relaxed))
        stat_add(&m->stats, STAT_WAKES_DELAYED, 1);
}

void wake_later(struct m *m, int32_t idle_ps)
{
    struct sched *sched = m->sched;
    /* W1; relaxed: S2 */
    if (atomic_load_explicit(&sched->spinning, memory_order_relaxed) > 0)
        return;
    if (idle_ps >= sched_procs_used(sched) || (sched->width && !width_is_full(sched, idle_ps)))
        wake_now(m, sched->wake_later->wake);
    else
        put_off(m);
}

bool width_goes_on(struct m *m)
{
    struct sched *sched = m->sched;
    int32_t idle_ps = atomic_load_explicit(&sched->idle_ps, memory_order_acquire); /* S3 */
    bool full = idle_ps < sched_procs_used(sched) && width_is_full(sched, idle_ps);
    if (full)
        put_off(m);
    return !full;
}

static struct g *pick_and_look(struct m *m, bool *inherit)
{
    struct wake_later *later = m->sched->wake_later;
    struct g *gp = later->pick(m, inherit);
    int64_t due = atomic_load_explicit(&later->due, memory_order_relaxed); /* relaxed: WL3 */
    if (due == 0)
        return gp;
    if (!gp) {
        drop_if_no_work(m, due);
        return NULL;
    }
    if (m->sched->width && *inherit && !width_may_look(m))
        return gp;
    int64_t now = machine_now();
    if (now >= due || (m->sched->width && width_look(m, now, 0)))
        wake_if_work(m, due);
    return gp;
}

/* If m is one too many it runs what it has of its own, or in global queues, and then sleeps. */
static struct g *steal_unless_over(struct m *m)
{
    bool over = width_is_over(m->sched), spinning = m->spinning;
    if (over && !m->sched->picks_last)
        return NULL;
    m->spinning = spinning && !over; /* steal() searches only then */
    struct g *gp = m->sched->wake_later->steal(m);
    m->spinning = spinning;
    return gp;
}

int64_t wake_later_look(struct m *m, int64_t now)
{
    struct wake_later *later = m->sched->wake_later;
    int64_t due = atomic_load_explicit(&later->due, memory_order_relaxed); /* relaxed: WL3 */
    int64_t rest = INT64_MAX;
    if (m->sched->width) {
        width_look(m, now, WIDTH_WINDOW_NS);
        rest = WIDTH_WINDOW_NS;
    }
    if (due == 0)
        return rest;
    int64_t left = overdue(m->sched, due) - now;
    if (left > 0)
        return left < rest ? left : rest;
    wake_if_work(m, due);
    return rest;
}

const _Atomic int64_t *sched_wake_due(const struct sched *sched)
{
    return sched->wake_later ? &sched->wake_later->due : NULL;
}

void wake_later_init(struct sched *sched)
{
    if (sched->wake_delay_ns == 0 || sched->runtime->wake == WAKE_NONE)
        return;
    struct wake_later *later = sched->wake_later = sched_zalloc(sizeof *later, "sched");
    later->ops = *sched->ops;
    later->pick = later->ops.pick;
    later->ops.pick = pick_and_look;
    later->steal = later->ops.steal;
    if (sched->width)
        later->ops.steal = steal_unless_over;
    sched->ops = &later->ops;
    later->knobs = *sched->runtime;
    later->wake = (enum wake_policy)later->knobs.wake;
    later->knobs.wake = WAKE_LATER;
    sched->runtime = &later->knobs;
}
