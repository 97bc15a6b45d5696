/* crew.h - threads of a floor, one per core, that begin together and are timed together.
 *
 * Callers: floor_core.c, floor_pair.c, from their first thread, which is one of the crew.
 */
#ifndef SCHEDLAB_PEER_CREW_H
#define SCHEDLAB_PEER_CREW_H

#include "peer.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { CREW_MAX = 64 };

struct crew {
    void (*fn)(void *arg, int index);
    void *arg;
    cpu_set_t cores; /* of the process; each thread is bound to one of them */
    bool shared;     /* fewer cores than threads: a thread that waits lets the others run */
    _Alignas(64) atomic_int ready;
    _Alignas(64) atomic_bool open; /* release: what the first thread wrote before is seen */
    _Alignas(64) atomic_int done;  /* release: what the threads wrote is seen by the first */
};

struct crew_member {
    struct crew *crew;
    int index;
    pthread_t thread;
};

static inline void crew_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline void crew_wait(const struct crew *crew)
{
    if (crew->shared)
        sched_yield();
    else
        crew_relax();
}

/* Binds this thread to the index-th of the cores in the set, so that the kernel does not put two on
 * one. */
static inline void crew_bind(const cpu_set_t *cores, int index)
{
    cpu_set_t one;
    int seen = 0, cpu = 0;
    while (cpu < CPU_SETSIZE && !(CPU_ISSET(cpu, cores) && seen++ == index % CPU_COUNT(cores)))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (pthread_setaffinity_np(pthread_self(), sizeof one, &one))
        peer_fail("cannot bind a thread to core %d", cpu);
}

static inline void *crew_main(void *arg)
{
    struct crew_member *member = (struct crew_member *)arg;
    struct crew *crew = member->crew;
    crew_bind(&crew->cores, member->index);
    atomic_fetch_add_explicit(&crew->ready, 1, memory_order_relaxed); /* it hands nothing over */
    while (!atomic_load_explicit(&crew->open, memory_order_acquire))
        crew_wait(crew);
    crew->fn(crew->arg, member->index);
    atomic_fetch_add_explicit(&crew->done, 1, memory_order_release);
    return NULL;
}

/* Calls fn(arg, i) for i from 0 to count - 1 at the same time, the first on this thread. Returns
 * the time from when all threads were there. */
static inline int64_t crew_run(int count, void (*fn)(void *arg, int index), void *arg)
{
    struct crew crew = {.fn = fn, .arg = arg};
    struct crew_member members[CREW_MAX];
    if (count > CREW_MAX)
        peer_unsupported("%d threads; at most %d", count, CREW_MAX);
    if (sched_getaffinity(0, sizeof crew.cores, &crew.cores))
        peer_fail("cannot read the cores of this process");
    crew.shared = CPU_COUNT(&crew.cores) < count;
    for (int i = 1; i < count; i++) {
        members[i] = (struct crew_member){.crew = &crew, .index = i};
        if (pthread_create(&members[i].thread, NULL, crew_main, &members[i]))
            peer_fail("cannot start a thread");
    }
    crew_bind(&crew.cores, 0);
    while (atomic_load_explicit(&crew.ready, memory_order_relaxed) < count - 1)
        crew_wait(&crew);
    int64_t start = peer_now();
    atomic_store_explicit(&crew.open, true, memory_order_release);
    fn(arg, 0);
    while (atomic_load_explicit(&crew.done, memory_order_acquire) < count - 1)
        crew_wait(&crew);
    int64_t time_ns = peer_now() - start;
    for (int i = 1; i < count; i++)
        pthread_join(members[i].thread, NULL);
    if (sched_setaffinity(0, sizeof crew.cores, &crew.cores))
        peer_fail("cannot give this thread its cores back");
    return time_ns;
}

#endif
