/* fence.c - who pays for the order between new work and an M that goes to sleep: S2 and I3 of
 * idle.c, one of which has to be a full fence on the submitter's core.
 *
 *   submitter   Whoever makes work visible fences itself each time, as in Go. A sleeper fences
 *               itself too.
 *   sleeper     An M that goes to sleep fences all cores, which interrupts those that work.
 *               Submitters do not fence while no P is idle.
 *   adaptive    Sleepers pay while sleeps are rare, submitters where they are not, and at first.
 *               The Ms count, under sched->lock, how often a P is given up. Each FENCE_SLEEPS times
 *               the clock says how long one took in the mean. If less than fence_often_ns,
 *               submitters pay from then on; if more than FENCE_HYSTERESIS times as long, sleepers
 *               do. sysmon looks too: perhaps nobody goes to sleep any more.
 *
 * Two flags say who pays. Both parties pay while a change is under way:
 *
 *   to submitters   F1  submitters_fence = true, under sched->lock
 *                   F2  the M that said so fences all cores, as the sleeper that it is
 *                   F3  sleepers_fence_all = false
 *       A submitter that has not seen F1 has done S1 before F2. So a sleeper that sees F3 sees the
 *       work.
 *   to sleepers     F4  sleepers_fence_all = true, under sched->lock
 *                   F5  submitters_fence = false
 *       A sleeper reads the flag under that lock, at I1. If it did so before F4, a submitter that
 *       sees F5 sees its I1 too.
 *
 * Order labels:
 *   F3  release store           pairs with  I1, which reads it by an acquire load
 *   F5  release store           pairs with  S3, which reads it by an acquire load before idle_ps
 *
 * Source: Go 1.26 runtime/proc.go resetspinning, wakep; Linux membarrier(2), whose man page has the
 * idea of the fence that only the rare side pays.
 */
#include "internal.h"

#include <errno.h>

enum { FENCE_SLEEPS = 32, FENCE_HYSTERESIS = 4 };

const char *const fence_words[] = {"submitter", "sleeper", "adaptive", NULL};

void fence_init(struct sched *sched)
{
    int64_t who = sched->runtime->fence;
    /* with one P its holder was the only submitter that does not fence itself: all sleepers fence
     * themselves, and nobody judges */
    if (sched->procs == 1) {
        sched->runtime->fence = FENCE_SUBMITTER;
        return;
    }
    /* this registers while there is one thread: later it takes milliseconds */
    if (who != FENCE_SUBMITTER && machine_fence_all() != 0)
        who = sched->runtime->fence = FENCE_SUBMITTER;
    /* relaxed: one thread yet */
    atomic_store_explicit(&sched->submitters_fence, who != FENCE_SLEEPER, memory_order_relaxed);
    atomic_store_explicit(&sched->sleepers_fence_all, who == FENCE_SLEEPER, memory_order_relaxed);
    sched->fence_since = machine_now();
}

static void to_sleepers(struct sched *sched)
{
    /* relaxed: sched->lock */
    atomic_store_explicit(&sched->sleepers_fence_all, true, memory_order_relaxed); /* F4 */
    atomic_store_explicit(&sched->submitters_fence, false, memory_order_release);  /* F5 */
}

/* FENCE_SLEEPS have come since fence_since, or fewer. True: submitters are to pay, who did not
 * until now. */
static bool fence_judge(struct sched *sched, int64_t now)
{
    int64_t took_ns = now - sched->fence_since;
    int64_t often_ns = FENCE_SLEEPS * sched->runtime->fence_often_ns;
    /* relaxed: written under sched->lock, or by F3 */
    bool sleepers = atomic_load_explicit(&sched->sleepers_fence_all, memory_order_relaxed);
    bool submitters = atomic_load_explicit(&sched->submitters_fence, memory_order_relaxed);
    INVARIANT(sleepers || submitters);
    if (submitters && !sleepers && took_ns > FENCE_HYSTERESIS * often_ns)
        to_sleepers(sched);
    if (submitters || took_ns >= often_ns)
        return false;
    atomic_store_explicit(&sched->submitters_fence, true, memory_order_relaxed); /* F1 */
    return true;
}

void fence_sleeper_comes(struct m *m)
{
    struct sched *sched = m->sched;
    INVARIANT(lock_is_held(&sched->lock));
    m->fence_turns = false;
    if (sched->runtime->fence == FENCE_ADAPTIVE && ++sched->fence_sleeps >= FENCE_SLEEPS) {
        int64_t now = machine_now();
        m->fence_turns = fence_judge(sched, now);
        sched->fence_sleeps = 0;
        sched->fence_since = now;
    }
    m->fences_all = atomic_load_explicit(&sched->sleepers_fence_all, memory_order_acquire); /* F3 */
}

void fence_cores(struct m *m)
{
    stat_add(&m->stats, STAT_FENCES_ALL, 1);
    if (machine_fence_all() != 0)
        fatal_env(EPERM, "the fence on all cores, which worked when the run began, fails now");
}

void fence_sleeper(struct m *m)
{
    struct sched *sched = m->sched;
    if (!m->fences_all) {
        machine_fence(&m->fence_scratch);
        return;
    }
    fence_cores(m); /* F2 */
    if (m->fence_turns)
        atomic_store_explicit(&sched->sleepers_fence_all, false, memory_order_release); /* F3 */
}

void fence_look(struct sched *sched, int64_t now)
{
    /* relaxed: it is looked at again under the lock */
    if (sched->runtime->fence != FENCE_ADAPTIVE ||
        !atomic_load_explicit(&sched->submitters_fence, memory_order_relaxed))
        return;
    lock_acquire(&sched->lock);
    if (atomic_load_explicit(&sched->submitters_fence, memory_order_relaxed))
        fence_judge(sched, now);
    lock_release(&sched->lock);
}
