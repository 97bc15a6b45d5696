/* lock.c - waiting for a short lock; see lock.h. */
#include "lock.h"

enum { LOCK_SPINS = 128 };

uint32_t lock_acquire_slow(lock_t *lock)
{
    uint32_t rounds = 0;
    do {
        /* relaxed: only the exchange in lock_try() acquires */
        while (atomic_load_explicit(lock, memory_order_relaxed)) {
            if (++rounds % LOCK_SPINS == 0)
                machine_yield();
            else
                machine_relax(lock);
        }
    } while (!lock_try(lock));
    return rounds + 1;
}
