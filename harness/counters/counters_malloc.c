/* counters_malloc.c - see counters.h: malloc's events, and the bytes that Ms allocate.
 *
 * An M's thread counts its bytes itself, in jemalloc; here is a list of where, so that any thread
 * can add them up while the Ms run. A thread's sum is kept when it ends.
 */
#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"
#include "harness/counters/counters_internal.h"
#include "harness/host/malloc_stats.h"

#include <stdlib.h>

void counters_malloc_prepare(struct counters *counters)
{
    const char *absent = malloc_stats_absent();
    for (size_t i = 0; i < counters->count; i++) {
        struct counter *counter = &counters->list[i];
        if (counter->sde < 0 || !counter_sde_is_malloc(counter->sde))
            continue;
        bool needs_threads = counter_sde_kind(counter->sde) != COUNTER_LEVEL;
        if (absent)
            counter_lose(counter, absent);
        else if (needs_threads && counters->inherited)
            counter_lose(counter, "threads come and go here; jemalloc counts by thread");
        if (counter->absent)
            continue;
        counters->wants_malloc = true;
        if (counter_sde_is_by_thread(counter->sde))
            counters->wants_bytes = true;
    }
}

void counters_malloc_started(struct counters *counters, const void *key)
{
    if (!counters->wants_bytes)
        return;
    struct thread_bytes *bytes = xcalloc(1, sizeof *bytes);
    bytes->key = key;
    bytes->now = malloc_stats_thread_bytes();
    bytes->base = bytes->now ? *bytes->now : 0;
    lock_acquire(&counters->lock);
    bytes->next = counters->bytes;
    counters->bytes = bytes;
    lock_release(&counters->lock);
}

void counters_malloc_stopping(struct counters *counters, const void *key)
{
    lock_acquire(&counters->lock);
    for (struct thread_bytes *bytes = counters->bytes; bytes; bytes = bytes->next) {
        if (bytes->now && bytes->key == key) {
            bytes->sum = *bytes->now - bytes->base;
            bytes->now = NULL;
        }
    }
    lock_release(&counters->lock);
}

/* Another thread's count is read while it may be written: a word of 64 bits, never torn. */
static uint64_t thread_bytes_read(const struct thread_bytes *bytes)
{
    if (!bytes->now)
        return bytes->sum;
    return __atomic_load_n(bytes->now, __ATOMIC_RELAXED) - bytes->base;
}

long long counters_malloc_bytes(struct counters *counters)
{
    uint64_t sum = 0;
    lock_acquire(&counters->lock);
    for (const struct thread_bytes *bytes = counters->bytes; bytes; bytes = bytes->next)
        sum += thread_bytes_read(bytes);
    lock_release(&counters->lock);
    return (long long)sum;
}

void counters_malloc_free(struct counters *counters)
{
    while (counters->bytes) {
        struct thread_bytes *bytes = counters->bytes;
        counters->bytes = bytes->next;
        free(bytes);
    }
}
