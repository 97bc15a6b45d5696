/* thread.c - goroutines that want one thread for themselves, and fewer or more Ps while the run
 * goes on.
 *
 * A locked G runs on one M, and that M runs nothing else. When the G stops, its M gives up the P
 * and sleeps. Whichever M then takes the G from a queue hands it to its own M, together with the P,
 * and looks for another P itself (idle.c, m_wait_locked(), m_start_locked()). So each stop and
 * start of a locked G costs two switches of threads. It is the two-level model: a few bound threads
 * among many goroutines that are not.
 *
 * The Ps with the highest numbers are retired first. An idle one leaves the idle list at once. One
 * that is held leaves when its M comes to a scheduling point and finds m->detour set. Its queue
 * goes where every worker looks. A retired P waits on sched->retired_p until there are to be more.
 *
 * Both need workers that are interchangeable. In kthread, uthread and static a G never leaves its
 * thread anyhow, and the number of workers stays.
 *
 * Source: Go 1.26 runtime/proc.go LockOSThread, startlockedm, stoplockedm, procresize.
 *   Same:    locking nests, and the last unlock ends it; what is queued at a P that goes is put
 *            where all look.
 *   Differs: a G that ends while locked leaves the thread to others, where Go ends it. Nothing
 *            stops the world to change the number of Ps: a P that is held goes when its M can let
 *            it go, and there are never more than the run began with.
 */
#include "internal.h"
#include "timer.h"

#include <errno.h>

static bool threads_are_shared(const struct sched *sched)
{
    return !sched->ops->blocks && !sched->ops->single_threaded;
}

void go_lock_thread(void)
{
    struct m *m = machine_self();
    struct g *gp = m->curg;
    if (!threads_are_shared(m->sched))
        return;
    if (m->fj.held)
        fatal("go_lock_thread: between fj_begin() and fj_end()");
    INVARIANT(g_is_valid(gp));
    INVARIANT(!m->locked_g || m->locked_g == gp);
    gp->locks++;
    gp->locked = true;
    gp->locked_m = m;
    m->locked_g = gp;
    /* relaxed: its own scheduling point reads it */
    atomic_fetch_or_explicit(&m->detour, DETOUR_LOCKED, memory_order_relaxed);
}

void g_unlock(struct m *m, struct g *gp)
{
    INVARIANT(gp->locked_m == m);
    INVARIANT(m->locked_g == gp);
    gp->locks = 0;
    gp->locked = false;
    gp->locked_m = NULL;
    m->locked_g = NULL;
    atomic_fetch_and_explicit(&m->detour, ~(uint32_t)DETOUR_LOCKED, memory_order_relaxed);
}

void go_unlock_thread(void)
{
    struct m *m = machine_self();
    struct g *gp = m->curg;
    if (!threads_are_shared(m->sched))
        return;
    if (!gp->locked)
        fatal("go_unlock_thread: the goroutine is not locked to its thread");
    if (--gp->locks == 0)
        g_unlock(m, gp);
}

/* Pre: sched->lock. Puts each P of the idle and the retired list on the one where it belongs now:
 * idle if its id is below `used`, else retired. */
static void lists_sort(struct sched *sched, int32_t used)
{
    struct p *all = sched->idle_p, *p;
    struct p **end = &all;
    while (*end)
        end = &(*end)->idle_link;
    *end = sched->retired_p;
    sched->idle_p = sched->retired_p = NULL;
    int32_t idle = 0;
    while ((p = all)) {
        all = p->idle_link;
        struct p **list = p->id < used ? &sched->idle_p : &sched->retired_p;
        if (p->id >= used)
            timers_move(p->timers, sched->allp[0]->timers); /* P 0 stays */
        p->idle_link = *list;
        *list = p;
        idle += p->id < used;
    }
    /* I1 of idle.c */
    atomic_store_explicit(&sched->idle_ps, idle, memory_order_release);
}

int go_set_workers(int n)
{
    struct m *m = machine_self();
    struct sched *sched = m->sched;
    if (!threads_are_shared(sched))
        return -ENOTSUP;
    if (n < 0 || n > sched->procs)
        fatal("go_set_workers: %d; valid are 1 to %d, or 0 to ask", n, sched->procs);
    lock_acquire(&sched->lock);
    int before = sched_procs_used(sched);
    if (n > 0) {
        procs_use(sched, n);
        for (int32_t i = 0; i < sched->procs; i++)
            sched->allp[i]->retired = i >= n;
        lists_sort(sched, n);
    }
    lock_release(&sched->lock);
    machine_fence(&m->fence_scratch); /* Z1: pairs with Z2 in m_acquire_p() */
    for (int32_t i = n; n > 0 && i < sched->procs; i++) {
        struct m *holder = atomic_load_explicit(&sched->allp[i]->m, memory_order_acquire); /* P2 */
        if (!holder)
            continue;
        atomic_fetch_or_explicit(&holder->detour, DETOUR_RETIRED, memory_order_relaxed);
        preempt_request(m, holder);
    }
    if (n > before)
        wakep_slow(m);
    return before;
}

void p_retire_if_asked(struct m *m)
{
    struct sched *sched = m->sched;
    INVARIANT(!m->curg);
    uint32_t detour =
        atomic_fetch_and_explicit(&m->detour, ~(uint32_t)DETOUR_RETIRED, memory_order_relaxed);
    if (!(detour & DETOUR_RETIRED) || !m->p)
        return;
    p_depots_empty(sched, m->p);
    lock_acquire(&sched->lock);
    bool retired = m->p->retired;
    if (retired) {
        idle_p_put(m, m->p);
        m->p = NULL;
    }
    lock_release(&sched->lock);
    if (!retired)
        return;
    if (m->spinning) {
        m->spinning = false;
        /* W2 of idle.c; relaxed: ordered by S2 in wakep_slow() */
        atomic_fetch_sub_explicit(&sched->spinning, 1, memory_order_relaxed);
    }
    wakep_slow(m); /* for what was queued there, and for whom the count misled */
}
