/* qlock.h - the global queue's lock in five algorithms: what a scheduler pays for the one that it
 * has chosen.
 *
 *   ttas    test and test-and-set, then give the core away: lock.h, and the default
 *   ticket  who comes takes a number and waits for it: first come, first served
 *   mcs     waiters form a list, each waits for a word of its own. Source:
 *           Mellor-Crummey and Scott, ACM TOCS 9(1), 1991, algorithm 5
 *   futex   free, held, or held with sleepers: spins a little, then sleeps in the kernel. Source:
 *           Go 1.23 runtime/lock_futex.go lock2, unlock2. Same: states, four rounds of 30 pauses,
 *           one yield, then sleep.
 *   spinbit likewise, but one waiter spins at most, all others sleep at once, and a release wakes
 *           one of them only if none spins. Source: Go 1.24 runtime/lock_spinbit.go lock2, unlock2.
 *           Same: the bits, and that one spins at most, for as long. Differs: sleepers share a
 *           futex, and are woken in the kernel's order; Go keeps a list, wakes the newest, and at
 *           each 16th release the oldest. For sched.lock itself Go prefers low latency
 *           (mutexPreferLowLatency): all who want it spin, and each release wakes a sleeper.
 *
 * QL1: acquire at the end of qlock_acquire() pairs with QL2: release in qlock_release(). MCS links:
 * QL3 release store of next pairs with QL4 acquire load. QL5, spinbit: a release takes a sleeper
 * off word and gives a permit, and a sleeper takes one. All of it is relaxed: neither word hands
 * anything over, since a woken sleeper still has to take the lock, by QL1. Each permit is counted
 * by an atomic step of one word, so none is lost or taken twice. machine_wait() looks at permits
 * itself, so nobody sleeps while there is one.
 *
 * Called by: gqueue.h. Never while another one is held by the same M, which has one node.
 */
#ifndef SCHEDLAB_QLOCK_H
#define SCHEDLAB_QLOCK_H

#include "lock.h"

enum qlock_kind { QLOCK_TTAS, QLOCK_TICKET, QLOCK_MCS, QLOCK_FUTEX, QLOCK_SPINBIT };
extern const char *const qlock_words[];

/* An M's own part of the lock. It has the kind of lock, since a look at that must not touch the
 * lock's line, and the M's place in the list of an mcs lock. */
struct qlock_node {
    uint32_t kind; /* enum qlock_kind; constant, and the same of all who use the lock */
    _Atomic(struct qlock_node *) next;
    _Atomic uint32_t waiting;
};

/* All zero is free, of whatever kind. */
struct qlock {
    /* ttas: held; ticket: the next number; futex: 0 free, 1 held, 2 and sleepers; spinbit: bits,
     * and how many sleep */
    lock_t word;
    _Atomic uint32_t serving;          /* ticket: the number that holds it */
    _Atomic uint32_t permits;          /* spinbit: how many sleepers may get up */
    _Atomic(struct qlock_node *) tail; /* mcs: the last in the list, or NULL */
};

/* As lock_acquire(): how many rounds it waited. */
uint32_t qlock_acquire_other(struct qlock *lock, struct qlock_node *node);
void qlock_release_other(struct qlock *lock, struct qlock_node *node);

/* By anybody, whatever its kind: for INVARIANTs of who must hold it. */
static inline bool qlock_is_held(const struct qlock *lock)
{
    return atomic_load_explicit(&lock->word, memory_order_relaxed) !=
               atomic_load_explicit(&lock->serving, memory_order_relaxed) ||
           atomic_load_explicit(&lock->tail, memory_order_relaxed);
}

static inline uint32_t qlock_acquire(struct qlock *lock, struct qlock_node *node)
{
    INVARIANT(node->kind <= QLOCK_SPINBIT);
    if (__builtin_expect(node->kind == QLOCK_TTAS, 1))
        return lock_acquire(&lock->word);
    return qlock_acquire_other(lock, node);
}

static inline void qlock_release(struct qlock *lock, struct qlock_node *node)
{
    INVARIANT(qlock_is_held(lock));
    if (__builtin_expect(node->kind == QLOCK_TTAS, 1))
        lock_release(&lock->word);
    else
        qlock_release_other(lock, node);
}

#endif
