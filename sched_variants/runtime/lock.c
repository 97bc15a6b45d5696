/* lock.c - waiting for a short lock; see lock.h. */
#include "lock.h"

enum { LOCK_SPINS = 128 };

uint32_t lock_acquire_slow(lock_t *lock)
{
    uint32_t rounds = 0, spins = 1;
    do {
        /* relaxed: only the exchange in lock_try() acquires */
        while (atomic_load_explicit(lock, memory_order_relaxed)) {
            uint32_t waited = 1;
            if (spins == LOCK_SPINS)
                machine_yield();
            else
                waited = machine_relax(lock, LOCK_SPINS - spins);
            spins = spins == LOCK_SPINS ? 1 : spins + waited;
            rounds += waited;
        }
    } while (!lock_try(lock));
    return rounds + 1;
}
