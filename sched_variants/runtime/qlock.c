/* qlock.c - tickets, lists, futexes and spin bits; see qlock.h. */
#include "qlock.h"

enum { SPINS = 128 }; /* looks at a word that is the waiter's turn, before the core is given away */

enum { FUTEX_FREE, FUTEX_HELD, FUTEX_SLEEPING };
enum { SPINBIT_HELD = 1, SPINBIT_SPINNING = 2, SPINBIT_SLEEPER = 4 /* times how many */ };

const char *const qlock_words[] = {"ttas", "ticket", "mcs", "futex", "spinbit", NULL};

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
    INVARIANT(qlock_is_held(lock));
    /* relaxed load: only the holder writes it */
    uint32_t mine = atomic_load_explicit(&lock->serving, memory_order_relaxed);
    atomic_store_explicit(&lock->serving, mine + 1, memory_order_release); /* QL2 */
}

static uint32_t mcs_acquire(struct qlock *lock, struct qlock_node *node)
{
    INVARIANT(atomic_load_explicit(&lock->tail, memory_order_relaxed) != node); /* held already */
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
    INVARIANT(atomic_load_explicit(&lock->tail, memory_order_relaxed));
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
        for (int i = 0; i < LOCK_LOOKS; i++, rounds++) {
            if (futex_try(lock, held))
                return rounds + 1;
            machine_pause(LOCK_RELAXES);
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
    INVARIANT(lock_is_held(&lock->word));
    if (atomic_exchange_explicit(&lock->word, FUTEX_FREE, memory_order_release) == /* QL2 */
        FUTEX_SLEEPING)
        machine_wake(&lock->word, 1);
}

/* The caller has counted itself as a sleeper, and is one until a release lets one of them up. */
static void spinbit_sleep(struct qlock *lock)
{
    for (;;) {
        uint32_t permits = atomic_load_explicit(&lock->permits, memory_order_relaxed); /* QL5 */
        if (permits == 0)
            machine_wait(&lock->permits, 0, -1);
        /* QL5 */
        else if (atomic_compare_exchange_weak_explicit(&lock->permits, &permits, permits - 1,
                                                       memory_order_relaxed, memory_order_relaxed))
            return;
    }
}

/* For the one that spins: takes the lock, and gives the bit back, if the lock is free. */
static bool spinbit_try(struct qlock *lock)
{
    uint32_t seen = atomic_load_explicit(&lock->word, memory_order_relaxed);
    return !(seen & SPINBIT_HELD) &&
           atomic_compare_exchange_strong_explicit(
               &lock->word, &seen, (seen & ~(uint32_t)SPINBIT_SPINNING) | SPINBIT_HELD,
               memory_order_acquire, memory_order_relaxed); /* QL1 */
}

/* Takes the lock if it is free (true), or counts the caller as a sleeper: in one step, so that
 * whoever holds it then sees that. */
static bool spinbit_try_or_count(struct qlock *lock, bool spins)
{
    uint32_t seen = atomic_load_explicit(&lock->word, memory_order_relaxed), next;
    do {
        next = spins ? seen & ~(uint32_t)SPINBIT_SPINNING : seen;
        next = seen & SPINBIT_HELD ? next + SPINBIT_SLEEPER : next | SPINBIT_HELD;
    } while (!atomic_compare_exchange_weak_explicit(&lock->word, &seen, next, memory_order_acquire,
                                                    memory_order_relaxed)); /* QL1 */
    return !(seen & SPINBIT_HELD);
}

static bool spinbit_may_spin(struct qlock *lock)
{
    /* relaxed: nothing goes with the bit */
    return !(atomic_load_explicit(&lock->word, memory_order_relaxed) & SPINBIT_SPINNING) &&
           !(atomic_fetch_or_explicit(&lock->word, SPINBIT_SPINNING, memory_order_relaxed) &
             SPINBIT_SPINNING);
}

static uint32_t spinbit_acquire(struct qlock *lock)
{
    uint32_t rounds = 0;
    if (!(atomic_fetch_or_explicit(&lock->word, SPINBIT_HELD, memory_order_acquire) & /* QL1 */
          SPINBIT_HELD))
        return 0;
    for (;;) {
        bool spins = spinbit_may_spin(lock);
        for (int i = 0; spins && i <= LOCK_LOOKS; i++) {
            rounds++;
            if (spinbit_try(lock))
                return rounds;
            if (i < LOCK_LOOKS)
                machine_pause(LOCK_RELAXES);
            else
                machine_yield();
        }
        rounds++;
        if (spinbit_try_or_count(lock, spins))
            return rounds;
        spinbit_sleep(lock);
    }
}

static void spinbit_release(struct qlock *lock)
{
    uint32_t held = SPINBIT_HELD;
    INVARIANT(atomic_load_explicit(&lock->word, memory_order_relaxed) & SPINBIT_HELD);
    uint32_t seen =
        atomic_fetch_and_explicit(&lock->word, ~held, memory_order_release) & ~held; /* QL2 */
    /* An M that holds it by now, or spins and will hold it, wakes a sleeper in its turn. */
    while (seen >= SPINBIT_SLEEPER && !(seen & (SPINBIT_HELD | SPINBIT_SPINNING))) {
        if (!atomic_compare_exchange_weak_explicit(&lock->word, &seen, seen - SPINBIT_SLEEPER,
                                                   memory_order_relaxed,
                                                   memory_order_relaxed)) /* QL5 */
            continue;
        atomic_fetch_add_explicit(&lock->permits, 1, memory_order_relaxed); /* QL5 */
        machine_wake(&lock->permits, 1);
        return;
    }
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
    case QLOCK_SPINBIT:
        return spinbit_acquire(lock);
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
    case QLOCK_SPINBIT:
        spinbit_release(lock);
        break;
    case QLOCK_TTAS:
        lock_release(&lock->word);
        break;
    }
}
