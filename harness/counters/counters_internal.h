/* counters_internal.h - declarations that only the files counters*.c share. */
#ifndef SCHEDLAB_COUNTERS_INTERNAL_H
#define SCHEDLAB_COUNTERS_INTERNAL_H

#include "harness/counters/counters.h"
#include "lock.h"

struct counter {
    char *name;
    const char *source;
    char *absent;    /* why there is no value, or NULL */
    int sde;         /* its index among the program's own events, -1: of the threads */
    bool registered; /* with PAPI, as a software-defined event */
    size_t set;      /* of the threads' sets; where it has one */
    long long total;
    long long run_base;    /* of a COUNTER_RUN */
    struct each_m *each_m; /* NULL: not counted per M, or per core of a simulated machine */
    struct counters *counters;
};

/* An event of the scheduler over its Ms, in the order of their start; of a simulated machine over
 * its cores. */
struct each_m {
    size_t count;
    uint64_t base[COUNTERS_PER_M_MAX];
    long long sum[COUNTERS_PER_M_MAX];
    uint64_t rest_base; /* of what is counted beside them */
    long long window;   /* of all, in the window that ended last */
};

/* A running EventSet. slot[i] is the counter that its i-th value belongs to. */
struct event_set {
    int id;
    size_t count;
    size_t *slot; /* the owner's */
    long long *base, *now;
};

/* One M. Kept after its thread has ended, so that its sums stay. */
struct thread_set {
    const void *key;
    struct event_set events;
    long long *sum;
    bool alive;
    struct thread_set *next;
};

/* The place where an M's thread counts the bytes that it has allocated. */
struct thread_bytes {
    const void *key;
    const uint64_t *now; /* NULL: the thread has ended */
    uint64_t base, sum;  /* at its start; between start and end, once it has ended */
    struct thread_bytes *next;
};

/* The sets of the process. */
struct own {
    struct event_set *set;
    size_t count;
    size_t *slot;       /* of all of them */
    long long *scratch; /* what PAPI_stop() returns and nobody reads */
};

struct counters {
    const struct papi_api *api;
    size_t count;
    struct counter *list;
    bool inherited;
    bool kernel;
    int perf_component;
    const struct counters_source *source;
    bool bound; /* counters_bind() was called */

    size_t set_count, chosen; /* sets that fit, and the one that counts */
    size_t *slot;             /* of every thread's set, of the chosen one */
    size_t slot_count;
    struct own own;
    uint64_t run_ops;               /* of all calls, once it has finished */
    bool wants_malloc, wants_bytes; /* some event of malloc's; that of threads' bytes */
    int64_t memory_base;            /* of a COUNTER_RUN_PEAK */
    papi_handle_t sde;

    lock_t lock; /* protects what follows against Ms that start and stop */
    bool in_window;
    struct thread_set *threads;
    struct thread_bytes *bytes;
    char *thread_failure; /* the first one; makes all events of threads absent */
};

/* counters.c: EventSets and reasons, for the making of counters. */

/* "PAPI_start: text of the error"; free() it. */
char *counters_reason(const struct counters *counters, const char *call, int error);

/* The first reason of a counter stays. */
void counter_lose(struct counter *counter, const char *reason);
/* So many of a list of slots, for PAPI's error of that call. */
void counters_lose(struct counters *counters, const size_t *slot, size_t count, const char *call,
                   int error);
void counters_lose_all(struct counters *counters, bool of_threads, const char *reason);

/* Makes and starts a set of count events; 0, or PAPI's error and in *call what failed. */
int counters_set_start(const struct counters *counters, const size_t *slot, size_t count,
                       bool of_threads, int *id, const char **call);
void counters_set_destroy(const struct counters *counters, int id);

/* Makes and starts the calling thread's set, or that of all threads to come where it is inherited;
 * a failure is counters->thread_failure. */
void counters_thread_add(struct counters *counters, const void *key);

void event_set_init(struct event_set *events, int id, size_t *slot, size_t count);
void event_set_free(struct event_set *events);
void event_set_stop(const struct counters *counters, struct event_set *events);

/* counters_setup.c, for counters_own.c: whether an event of this kind can still be had, and why a
 * component does not work, "" if it does. */
bool counters_want(const struct counters *counters, bool of_threads);
const char *counters_component_fault(const struct counters *counters, const char *name, int *index);

/* counters_own.c: the program's own events, at each step of the life in counters.h. */
void counters_own_prepare(struct counters *counters);
void counters_own_start(struct counters *counters);
void counters_own_begin(struct counters *counters);
void counters_own_end(struct counters *counters);
void counters_own_free(struct counters *counters);

/* counters_malloc.c: what is special about malloc's events. */

/* Makes the events absent that cannot be counted here. */
void counters_malloc_prepare(struct counters *counters);
void counters_malloc_started(struct counters *counters, const void *key);
void counters_malloc_stopping(struct counters *counters, const void *key);
void counters_malloc_free(struct counters *counters);

/* Bytes that Ms have allocated since their start. */
long long counters_malloc_bytes(struct counters *counters);

#endif
