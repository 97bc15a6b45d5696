/* note.h - the note of an M: how it sleeps, alone or in netpoll(), and how another M wakes it.
 *
 * Callers: idle.c and block.c, parts of which this is; nobody else includes it.
 *
 * Order labels:
 *   N1  release exchange in m_note_wake()     pairs with  N2  acquire exchange in m_note_sleep(),
 *       m_note_prepare(), m_note_poll() (what the waker wrote into the M is visible to it)
 */
#ifndef SCHEDLAB_NOTE_H
#define SCHEDLAB_NOTE_H

#include "internal.h"

/* True if it was woken. Pre: note has become `sleeping` by m. */
static bool m_note_sleep(struct m *m, uint32_t sleeping, int64_t timeout_ns)
{
    stat_add(&m->stats, STAT_SLEEPS, 1);
    sched_event(m, SCHED_SLEPT, NULL, 0, 0);
    int64_t end = timeout_ns < 0 ? -1 : machine_now() + timeout_ns;
    while (atomic_load_explicit(&m->note, memory_order_relaxed) == sleeping) { /* N2 follows */
        int64_t left = end < 0 ? -1 : end - machine_now();
        if (end >= 0 && left <= 0)
            break;
        machine_wait(&m->note, sleeping, left);
    }
    return atomic_exchange_explicit(&m->note, NOTE_NONE, memory_order_acquire) ==
           NOTE_WOKEN; /* N2 */
}

/* False, with the wake consumed, if there already was one. */
static bool m_note_prepare(struct m *m, uint32_t sleeping)
{
    uint32_t none = NOTE_NONE;
    /* relaxed: who succeeds hands nothing over, who fails goes on to N2 */
    if (atomic_compare_exchange_strong_explicit(&m->note, &none, sleeping, memory_order_relaxed,
                                                memory_order_relaxed))
        return true;
    atomic_exchange_explicit(&m->note, NOTE_NONE, memory_order_acquire); /* N2 */
    return false;
}

/* As m_note_sleep(), in netpoll(): the Gs that have become ready. *woken: by another M. */
static struct g *m_note_poll(struct m *m, int64_t timeout_ns, bool *woken)
{
    struct sched *sched = m->sched;
    stat_add(&m->stats, STAT_SLEEPS, 1);
    sched_event(m, SCHED_SLEPT, NULL, 0, 0);
    atomic_store_explicit(&sched->polled_at, POLLED_NOW, memory_order_relaxed); /* a hint */
    struct g *list = netpoll(sched, timeout_ns);
    atomic_store_explicit(&sched->polled_at, machine_now(), memory_order_relaxed);
    *woken =
        atomic_exchange_explicit(&m->note, NOTE_NONE, memory_order_acquire) == NOTE_WOKEN; /* N2 */
    return list;
}

/* True if it was asleep. The sleeper is counted as active before it can run: counted later, it
 * might run, sleep again and find the count at 0 while its waker still runs. */
static bool m_note_wake(struct m *m)
{
    struct sched *sched = m->sched;
    atomic_fetch_add_explicit(&sched->active, 1, memory_order_relaxed); /* ordered by N1 */
    uint32_t old = atomic_exchange_explicit(&m->note, NOTE_WOKEN, memory_order_release); /* N1 */
    if (old != NOTE_SLEEPING) /* relaxed: the caller is active itself, so this does not reach 0 */
        atomic_fetch_sub_explicit(&sched->active, 1, memory_order_relaxed);
    if (old == NOTE_POLLING)
        netpoll_break(sched);
    else if (old == NOTE_SLEEPING || old == NOTE_SLEEPING_TIMED)
        machine_wake(&m->note, 1);
    else
        return false;
    return true;
}

#endif
