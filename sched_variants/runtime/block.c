/* block.c - the sleep of variants with `blocks`, whose Ms keep their P and no idle list.
 *
 * Order labels:
 *   B1  m_block_uncount(): the release half of the decrement of active   pairs with   B2  the
 *       acquire half of the one that reaches 0 (all that the sleepers did is visible to the
 *       deadlock report; increments are RMWs and continue the release sequence)
 *   E2  acquire load of stopping: idle.c, E1
 *   N1, N2: note.h
 */
#include "internal.h"
#include "note.h"
#include "timer.h"

/* True if m waited for I/O instead: nobody else did. */
static bool m_block_polls(struct m *m, int64_t limit)
{
    struct sched *sched = m->sched;
    if (netpoll_by(sched) != NETPOLL_POLL || !netpoll_has_waiters(sched))
        return false;
    lock_acquire(&sched->lock);
    bool mine = !sched->poll_m;
    if (mine)
        sched->poll_m = m;
    lock_release(&sched->lock);
    if (!mine)
        return false;
    struct g *list = NULL;
    bool woken;
    if (m_note_prepare(m, NOTE_POLLING))
        list = m_note_poll(m, limit, &woken);
    lock_acquire(&sched->lock);
    sched->poll_m = NULL;
    lock_release(&sched->lock);
    sched_inject(sched, list);
    return true;
}

void m_block(struct m *m)
{
    struct sched *sched = m->sched;
    INVARIANT(m->ops->blocks);
    INVARIANT(m->p);
    /* relaxed: whoever else makes it earlier wakes m afterwards (timer.c, T1, by N1 and N2) */
    int64_t next = atomic_load_explicit(&m->p->timers->next, memory_order_relaxed);
    uint32_t sleeping = next == INT64_MAX ? NOTE_SLEEPING : NOTE_SLEEPING_TIMED;
    int64_t limit = next == INT64_MAX ? -1 : timers_wait_ns(sched, next);
    if (m_block_polls(m, limit))
        return;
    if (!m_note_prepare(m, sleeping))
        return;
    /* The waker of an M that sleeps uncounted counts it again, before that M runs: so the count
     * reaches 0 only when all sleep and nobody is on the way. */
    if (sleeping == NOTE_SLEEPING)
        m_block_uncount(sched);
    m_note_sleep(m, sleeping, limit);
}

/* A server whose last timer was stopped sleeps, counted, until that would have been due. It is
 * woken to sleep without an end, or it would hide a deadlock. */
static void wake_stale_servers(struct sched *sched)
{
    /* relaxed: the locks of the heaps order it */
    if (!atomic_exchange_explicit(&sched->heap_emptied, false, memory_order_relaxed))
        return;
    for (int32_t i = 0; i < sched->heaps; i++) {
        struct m *m = timers_stale_server(sched, i);
        if (m && atomic_load_explicit(&m->note, memory_order_relaxed) == NOTE_SLEEPING_TIMED)
            m_note_wake(m);
    }
}

void m_block_uncount(struct sched *sched)
{
    INVARIANT(atomic_load_explicit(&sched->active, memory_order_relaxed) > 0);
    if (__builtin_expect(atomic_load_explicit(&sched->heap_emptied, memory_order_relaxed), 0))
        wake_stale_servers(sched);
    if (atomic_fetch_sub_explicit(&sched->active, 1, memory_order_acq_rel) == 1 && /* B1, B2 */
        !atomic_load_explicit(&sched->stopping, memory_order_acquire))             /* E2 */
        deadlock_report(sched);
}

void m_block_wake(struct m *self, struct m *m)
{
    INVARIANT(m);
    INVARIANT(self->sched == m->sched);
    if (m_note_wake(m)) {
        stat_add(&self->stats, STAT_WAKEUPS, 1);
        sched_event_m(self, SCHED_WOKEN, m);
    }
}
