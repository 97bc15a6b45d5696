/* width.c - the knob width: with `load` so many Ps are kept awake as the load asks for.
 *
 * Go wakes a P for new work as long as one is idle. Where the load is a fraction of what the Ps can
 * do, each of them sleeps and is woken all the time. With width=load there is a number, the width,
 * from 1 to the number of Ps, and it begins at 1. While so many Ps are awake, S4 of idle.c wakes
 * none: the wake-up is put off, as with wake_delay_ns (wakelater.c), for WIDTH_WAIT_NS. A P awake
 * is one that is held: it runs, searches, or is in a call from which nobody has taken it.
 *
 *   grows by 1    (to one more than are awake, if these are more than the width)
 *                 when a wake-up is due that was put off, and there is work: no worker that picks
 *                 has seen all queues empty for WIDTH_WAIT_NS. The wake-up is made then.
 *                 Before it is due, if there is work and the Ps have been busy for BUSY_PERCENT of
 *                 the last window and of what the width allows.
 *   shrinks by 1  at the end of a window in which one P fewer would have been busy for less than
 *                 SLACK_PERCENT. So what ran fits, and does not make it grow again at once.
 *
 * A window lasts WIDTH_WINDOW_NS, or longer if nobody looks. It begins anew when the width grows.
 * Busy is what STAT_BUSY_NS counts.
 *
 * A P awake beyond the width is not stopped. It runs what it has in its own queue or in global
 * ones, and steals nothing. I5 is left out: if its M sees work on its way to sleep, it puts a
 * wake-up off, and sleeps.
 * This is as safe as S4 that is put off, for the same reason, and the last P awake never does it.
 * The width limits wake-ups for work in queues only. Timers, descriptors and calls take a P as
 * ever, so more may be awake for a while.
 *
 * Nothing waits for ever. While the width is less than the number of Ps, a G in a queue has a
 * wake-up on its way, or one that is put off. A worker makes it at its next pick once it is due.
 * Only each LOOK_EVERY-th pick out of runnext looks, since the clock costs as much as such a pick.
 * If no worker does, a submitter or sysmon makes it WIDTH_WAIT_NS later: for them a G may wait that
 * has just come. sysmon sleeps for one window at most while a P is awake. So the width grows within
 * 2 * WIDTH_WAIT_NS + WIDTH_WINDOW_NS of each wake-up that was put off, if there is work still. If
 * the kernel runs sysmon late, that comes on top. Once the width is the number of Ps, new work
 * wakes whom it can, as in Go.
 *
 * Rejected: growth by busy time alone. A pair of goroutines that wake each other keeps one P busy,
 *   and a second one would be woken and find nothing, as in Go.
 * Rejected: shrinking below a mark of the Ps awake. At two of them, each busy for a little less
 *   than half, one cannot do the work, and the width would grow and shrink without end.
 * Rejected: sysmon as the one who decides all. In 1 ms a worker runs a thousand short goroutines.
 *
 * Source: golang/go#54622, golang/go#32113 (too many wake-ups where the load is low);
 * ClickHouse/silk #127, whose width this is.
 *   Same:    a queue that is not empty for one window makes it grow, low utilisation shrink.
 *   Differs: silk's width is a prefix of its processors, and it stops the last one after three
 *            windows below 25 %. Here any P may be idle. The numbers below are schedlab's.
 */
#include "width.h"
#include "internal.h"

enum { BUSY_PERCENT = 90, SLACK_PERCENT = 60, LOOK_EVERY = 8 };

int32_t width_now(const struct sched *sched)
{
    return atomic_load_explicit(&sched->width->ps, memory_order_relaxed);
}

bool width_is_full(const struct sched *sched, int32_t idle_ps)
{
    return sched_procs_used(sched) - idle_ps >= width_now(sched);
}

bool width_may_look(struct m *m)
{
    return !m->p || ++m->sched->width->turns[m->p->id].count % LOOK_EVERY == 0;
}

bool width_is_over_now(const struct sched *sched)
{
    /* relaxed: who is misled sleeps, and its I4 looks again; or runs one G more */
    int32_t idle_ps = atomic_load_explicit(&sched->idle_ps, memory_order_relaxed);
    return sched_procs_used(sched) - idle_ps > width_now(sched);
}

/* Pre: lock. */
static void width_set(struct sched *sched, int32_t ps)
{
    INVARIANT(ps >= 1 && ps <= sched->procs);
    atomic_store_explicit(&sched->width->ps, ps, memory_order_relaxed);
}

/* Pre: lock. */
static void window_begin(struct sched *sched, int64_t now, uint64_t busy)
{
    struct width *width = sched->width;
    INVARIANT(now >= width->since);
    width->since = now;
    width->busy = busy;
    atomic_store_explicit(&width->end, now + WIDTH_WINDOW_NS, memory_order_relaxed);
}

void width_grow(struct m *m)
{
    struct sched *sched = m->sched;
    struct width *width = sched->width;
    lock_acquire(&width->lock);
    /* relaxed: a hint. Timers and descriptors may have woken more than the width */
    int32_t idle_ps = atomic_load_explicit(&sched->idle_ps, memory_order_relaxed);
    int32_t awake = sched_procs_used(sched) - idle_ps, ps = width_now(sched);
    if (ps < sched->procs) {
        ps = awake > ps ? awake : ps;
        width_set(sched, ps < sched->procs ? ps + 1 : ps);
        window_begin(sched, machine_now(), sched_busy_ns(sched, NULL, 0));
        stat_add(&m->stats, STAT_WIDTH_GROWN, 1);
    }
    lock_release(&width->lock);
}

/* Pre: lock. True if those that may be awake were busy. */
static bool window_end(struct m *m, int64_t now)
{
    struct sched *sched = m->sched;
    struct width *width = sched->width;
    uint64_t busy = sched_busy_ns(sched, NULL, 0);
    int32_t ps = width_now(sched);
    double share = (double)(int64_t)(busy - width->busy) * 100 / (double)(now - width->since);
    if (ps > 1 && share < SLACK_PERCENT * (ps - 1)) {
        width_set(sched, ps - 1);
        stat_add(&m->stats, STAT_WIDTH_SHRUNK, 1);
    }
    window_begin(sched, now, busy);
    return share >= BUSY_PERCENT * ps;
}

bool width_look(struct m *m, int64_t now, int64_t late)
{
    struct width *width = m->sched->width;
    if (now < atomic_load_explicit(&width->end, memory_order_relaxed) + late ||
        !lock_try(&width->lock))
        return false;
    bool busy =
        now >= atomic_load_explicit(&width->end, memory_order_relaxed) + late && window_end(m, now);
    lock_release(&width->lock);
    return busy;
}

void width_init(struct sched *sched)
{
    struct width *width = sched->width = sched_zalloc(sizeof *width, "sched");
    width->turns = sched_zalloc((size_t)sched->procs * sizeof *width->turns, "sched");
    sched->wake_delay_ns = WIDTH_WAIT_NS;
    lock_acquire(&width->lock);
    width_set(sched, 1);
    width->since = machine_now();
    window_begin(sched, width->since, 0);
    lock_release(&width->lock);
}

void width_fini(struct sched *sched)
{
    if (sched->width)
        machine_free(sched->width->turns);
    machine_free(sched->width);
}
