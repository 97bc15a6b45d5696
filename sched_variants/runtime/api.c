/* api.c - the small functions of runtime.h: clock, workers, randomness, work, memory, and fatal().
 * */
#include "internal.h"
#include "machine/no_memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int64_t go_now(void)
{
    return machine_now();
}

#if defined(SCHEDLAB_SIM) || defined(SCHEDLAB_TRACE)
MACHINE_TAKES_NO_TIME void go_request(int32_t kind, int64_t due_ns, int64_t end_ns)
{
    machine_request(kind, due_ns, end_ns);
}

MACHINE_TAKES_NO_TIME void go_name_lock(const void *lock, const char *name)
{
    machine_lock_name(lock, name);
}
#endif

int go_workers(void)
{
    INVARIANT(machine_self());
    return machine_self()->sched->workers;
}

int go_worker_index(void)
{
    INVARIANT(machine_self());
    return machine_self()->id;
}

/* xoroshiro128+. Source: [BV18]. */
uint64_t m_random(struct m *m)
{
    INVARIANT(m->rng[0] | m->rng[1]); /* all zeros would stay zeros */
    uint64_t s0 = m->rng[0], s1 = m->rng[1], result = s0 + s1;
    s1 ^= s0;
    m->rng[0] = ((s0 << 24) | (s0 >> 40)) ^ s1 ^ (s1 << 16);
    m->rng[1] = (s1 << 37) | (s1 >> 27);
    return result;
}

uint64_t go_random(void)
{
    return m_random(machine_self());
}

enum { WORK_PART = 64 }; /* rounds that are told to the machine together */

/* Its price is that of the rounds, not of their blocks. */
#if defined(__clang__)
#define WITHOUT_BLOCKS __attribute__((no_sanitize("coverage")))
#elif defined(__GNUC__) && __GNUC__ >= 12
#define WITHOUT_BLOCKS __attribute__((no_sanitize_coverage))
#else
#define WITHOUT_BLOCKS
#endif

/* Work of a goroutine's own, and so a place where it may be stopped (preempt.c). */
WITHOUT_BLOCKS __attribute__((section("workload_text"))) uint64_t go_work(uint64_t n)
{
    uint64_t state = n;
    while (n > 0) {
        uint32_t part = n < WORK_PART ? (uint32_t)n : WORK_PART;
        state = machine_work(state, part);
        n -= part;
    }
    return state;
}

void *go_alloc(size_t size)
{
    void *ptr = machine_alloc(size ? size : 1, 16);
    if (!ptr)
        fatal_env(ENOMEM, "no memory for %zu bytes of workload data", size);
    machine_name(ptr, size, "workload");
    return ptr;
}

void *go_alloc_zeroed(size_t size)
{
    return memset(go_alloc(size), 0, size ? size : 1);
}

void go_free(void *ptr)
{
    machine_free(ptr);
}

/* The text is built on the current stack, which may be a goroutine's: vsnprintf of short texts
 * fits. */
void fatal(const char *format, ...)
{
    char text[512];
    size_t at = (size_t)snprintf(text, sizeof text, "schedlab: fatal: ");
    va_list args;
    va_start(args, format);
    vsnprintf(text + at, sizeof text - at - 1, format, args);
    va_end(args);
    strcat(text, "\n");
    machine_die(text, EXIT_INVARIANT);
}

void fatal_env(int error, const char *format, ...)
{
    char text[512];
    size_t at = (size_t)snprintf(text, sizeof text, "schedlab: fatal: ");
    va_list args;
    va_start(args, format);
    vsnprintf(text + at, sizeof text - at - 128, format, args);
    va_end(args);
    at = strlen(text);
    snprintf(text + at, sizeof text - at, ": %s\n", strerror(error));
    machine_die(text, EXIT_ENVIRONMENT);
}
