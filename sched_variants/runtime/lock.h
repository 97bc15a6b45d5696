/* lock.h - the short lock of the runtime: test-and-test-and-set, then give the core away.
 *
 * For critical sections of some tens of instructions that never park a G and never sleep. Releasing
 * is a plain release store: nobody sleeps on the lock, so nobody has to be woken. A waiter looks
 * LOCK_LOOKS times, LOCK_RELAXES pauses apart, and then gives its core away once, so that a holder
 * that lost its core gets it back.
 *
 * They are so far apart for this reason: a waiter that looks all the time takes the line from the
 * holder just when it wants to release. Then the lock changes hands, with all it guards, at each
 * use. Meanwhile a holder that soon comes again finds all of it in its own cache: yields through
 * the global queue on two cores are 1.5 to 2.9 times as fast.
 *
 * Rejected: a futex lock. Its release needs an atomic exchange to see sleepers, which would
 * double the price of every uncontended channel operation.
 *
 * L1: acquire exchange in lock_acquire() pairs with L2: release store in lock_release().
 */
#ifndef SCHEDLAB_LOCK_H
#define SCHEDLAB_LOCK_H

#include "machine.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef _Atomic uint32_t lock_t; /* 0 free, 1 held; all zero is ready */

enum {
    LOCK_LOOKS = 4,    /* Go 1.26 lock_futex.go, lock_spinbit.go active_spin */
    LOCK_RELAXES = 30, /* active_spin_cnt */
};

uint32_t lock_acquire_slow(lock_t *lock);

static inline bool lock_try(lock_t *lock)
{
    return atomic_exchange_explicit(lock, 1, memory_order_acquire) == 0; /* L1 */
}

/* Returns how many rounds it waited, 0 if the lock was free. */
static inline uint32_t lock_acquire(lock_t *lock)
{
    return __builtin_expect(lock_try(lock), 1) ? 0 : lock_acquire_slow(lock);
}

/* By anybody: for INVARIANTs of who must hold it. */
static inline bool lock_is_held(const lock_t *lock)
{
    return atomic_load_explicit(lock, memory_order_relaxed) != 0;
}

static inline void lock_release(lock_t *lock)
{
    INVARIANT(lock_is_held(lock));
    atomic_store_explicit(lock, 0, memory_order_release); /* L2 */
}

#endif
