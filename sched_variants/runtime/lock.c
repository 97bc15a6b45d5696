/* lock.c - waiting for a short lock; see lock.h. */
#include "lock.h"

uint32_t lock_acquire_slow(lock_t *lock)
{
    uint32_t rounds = 0, looks = 0;
    do {
        /* relaxed: only the exchange in lock_try() acquires */
        do {
            if (looks++ < LOCK_LOOKS) {
                machine_pause(LOCK_RELAXES);
                rounds += LOCK_RELAXES;
            } else {
                machine_yield();
                looks = 0;
                rounds++;
            }
        } while (atomic_load_explicit(lock, memory_order_relaxed));
    } while (!lock_try(lock));
    return rounds;
}
