/* qlock.c - tickets, lists and futexes; see qlock.h. */
#include "qlock.h"

enum {
    SPINS = 128,        /* looks before the core is given away, as in lock.c */
    FUTEX_ROUNDS = 4,   /* Go 1.23 lock_futex.go active_spin */
    FUTEX_RELAXES = 30, /* active_spin_cnt */
};

enum { FUTEX_FREE, FUTEX_HELD, FUTEX_SLEEPING };

const char *const qlock_words[] = {"ttas", "ticket", "mcs", "futex", NULL};

/* Waits until *word is no longer, or until it is, value: a holder that lost its core gets it back.
 * Returns the rounds waited. */
static uint32_t wait_for(_Atomic uint32_t *word, uint32_t value, bool equal)
{
    uint32_t rounds = 0, spins = 0;
    /* QL1 */
    while ((atomic_load_explicit(word, memory_order_acquire) == value) != equal) {
        uint32_t waited = 1;
        if (spins >= SPINS)
            machine_yield();
        else
            waited = machine_relax(word, SPINS - spins);
        spins = spins >= SPINS ? 0 : spins + waited;
        rounds += waited;
    }
    return rounds;
}

static uint32_t ticket_acquire(struct qlock *lock)
{
    /* relaxed: the number is the caller's alone; who held the lock before is seen by QL1 */
    uint32_t mine = atomic_fetch_add_explicit(&lock->word, 1, memory_order_relaxed);
    return wait_for(&lock->serving, mine, true);
}

static void ticket_release(struct qlock *lock)
{
    /* relaxed load: only the holder writes it */
    uint32_t mine = atomic_load_explicit(&lock->serving, memory_order_relaxed);
    atomic_store_explicit(&lock->serving, mine + 1, memory_order_release); /* QL2 */
}

static uint32_t mcs_acquire(struct qlock *lock, struct qlock_node *node)
{
    /* relaxed: published by the exchange */
    atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&node->waiting, 1, memory_order_relaxed);
    struct qlock_node *before =
        atomic_exchange_explicit(&lock->tail, node, memory_order_acq_rel); /* QL1, QL3 */
    if (!before)
        return 0;
    atomic_store_explicit(&before->next, node, memory_order_release); /* QL3 */
    return wait_for(&node->waiting, 0, true) + 1;
}

static void mcs_release(struct qlock *lock, struct qlock_node *node)
{
    struct qlock_node *next, *last = node;
    if (!atomic_load_explicit(&node->next, memory_order_acquire) && /* QL4 */
        atomic_compare_exchange_strong_explicit(&lock->tail, &last, NULL,
                                                memory_order_release, /* QL2 */
                                                memory_order_relaxed))
        return;
    /* whoever is behind has made itself the tail and is about to say so */
    while (!(next = atomic_load_explicit(&node->next, memory_order_acquire))) /* QL4 */
        machine_relax(&node->next, 1);
    atomic_store_explicit(&next->waiting, 0, memory_order_release); /* QL2 */
}

/* True if the lock was seen free and taken, with `held` as its state. */
static bool futex_try(struct qlock *lock, uint32_t held)
{
    uint32_t free = FUTEX_FREE;
    return atomic_load_explicit(&lock->word, memory_order_relaxed) == FUTEX_FREE &&
           atomic_compare_exchange_strong_explicit(&lock->word, &free, held,
                                                   memory_order_acquire, /* QL1 */
                                                   memory_order_relaxed);
}

static uint32_t futex_acquire(struct qlock *lock)
{
    uint32_t held = atomic_exchange_explicit(&lock->word, FUTEX_HELD, memory_order_acquire);
    uint32_t rounds = 0;
    if (held == FUTEX_FREE)
        return 0;
    for (;;) {
        for (int i = 0; i < FUTEX_ROUNDS; i++, rounds++) {
            if (futex_try(lock, held))
                return rounds + 1;
            machine_pause(FUTEX_RELAXES);
        }
        if (futex_try(lock, held))
            return rounds + 1;
        machine_yield();
        rounds++;
        if (atomic_exchange_explicit(&lock->word, FUTEX_SLEEPING, memory_order_acquire) ==
            FUTEX_FREE)
            return rounds + 1;
        held = FUTEX_SLEEPING; /* others may sleep too: whoever woke this one wakes no more */
        machine_wait(&lock->word, FUTEX_SLEEPING, -1);
    }
}

static void futex_release(struct qlock *lock)
{
    if (atomic_exchange_explicit(&lock->word, FUTEX_FREE, memory_order_release) == /* QL2 */
        FUTEX_SLEEPING)
        machine_wake(&lock->word, 1);
}

uint32_t qlock_acquire_other(struct qlock *lock, struct qlock_node *node)
{
    switch ((enum qlock_kind)node->kind) {
    case QLOCK_TICKET:
        return ticket_acquire(lock);
    case QLOCK_MCS:
        return mcs_acquire(lock, node);
    case QLOCK_FUTEX:
        return futex_acquire(lock);
    case QLOCK_TTAS:
        break;
    }
    return lock_acquire(&lock->word);
}

void qlock_release_other(struct qlock *lock, struct qlock_node *node)
{
    switch ((enum qlock_kind)node->kind) {
    case QLOCK_TICKET:
        ticket_release(lock);
        break;
    case QLOCK_MCS:
        mcs_release(lock, node);
        break;
    case QLOCK_FUTEX:
        futex_release(lock);
        break;
    case QLOCK_TTAS:
        lock_release(&lock->word);
        break;
    }
}
