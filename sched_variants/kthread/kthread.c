/* kthread - 1:1: every goroutine is an OS thread, scheduled by the kernel.
 *
 * go() creates a thread; parking sleeps on a futex; readying wakes it; gosched() is sched_yield().
 * The runtime has no queue at all. A thread's M outlives its G only as memory for the next thread.
 *
 * Source: kernel-level threads as in textbooks, [Silberschatz18] ch. 4 (one-to-one).
 *   Departs: the goroutine runs on a stack of the runtime's, as in all variants, not on the
 *            thread's own, which serves the scheduler loop only; so a thread costs one small stack
 *            more.
 */
#include "sched.h"

struct kthread_knobs {
    struct runtime_knobs runtime;
};

static const struct param kthread_knobs[] = {
    SLEEP_KNOBS(struct kthread_knobs, runtime),
    COMMON_KNOBS(struct kthread_knobs, runtime),
    MUTEX_SPIN_KNOB(struct kthread_knobs, runtime),
    {0},
};

/* An M's queue is one slot: its G, when that is runnable.
 * K1: release store in kthread_ready() pairs with the acquire exchange in kthread_pick(). */
struct slot {
    _Atomic(struct g *) gp;
};

static void kthread_m_init(struct sched *sched, struct m *m)
{
    (void)sched;
    m->variant = sched_zalloc(sizeof(struct slot), "slot");
}

static void kthread_ready(struct m *m, struct g *gp, enum ready_how how)
{
    if (how == READY_NEW) {
        m_start_with(m, gp);
        return;
    }
    struct m *owner = gp->last_m;
    INVARIANT(owner);
    struct slot *slot = owner->variant;
    if (how == READY_YIELD || how == READY_STEP_BACK)
        machine_yield();
    INVARIANT(!atomic_load_explicit(&slot->gp, memory_order_relaxed));
    atomic_store_explicit(&slot->gp, gp, memory_order_release); /* K1 */
    if (how == READY_WOKEN)
        m_block_wake(m, owner);
}

static struct g *kthread_pick(struct m *m, bool *inherit)
{
    (void)inherit;
    struct slot *slot = m->variant;
    return atomic_exchange_explicit(&slot->gp, NULL, memory_order_acquire); /* K1 */
}

const struct sched_ops kthread_ops = {
    .name = "kthread",
    .idea = "1:1, every goroutine is an OS thread that the kernel schedules",
    .source = "[Silberschatz18]",
    .knobs = kthread_knobs,
    .knobs_size = sizeof(struct kthread_knobs),
    .forkjoin = FJ_GO,
    .live_gs_max = 8000,
    .limit_reason = "more than 8000 kernel threads at once",
    .thread_per_g = true,
    .blocks = true,
    .m_init = kthread_m_init,
    .ready = kthread_ready,
    .pick = kthread_pick,
};
