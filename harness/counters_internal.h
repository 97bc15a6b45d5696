/* counters_internal.h - what counters.c and counters_setup.c share, and nobody else. */
#ifndef SCHEDLAB_COUNTERS_INTERNAL_H
#define SCHEDLAB_COUNTERS_INTERNAL_H

#include "harness/counters.h"
#include "lock.h"

struct counter {
    char *name;
    const char *source;
    char *absent; /* why there is no value, or NULL */
    int sde;      /* its index among the program's own events, -1: of the threads */
    size_t set;   /* of the threads' sets; where it has one */
    long long total;
    struct each_m *each_m; /* NULL: not counted per M */
    struct counters *counters;
};

/* An event of the scheduler over its Ms, in the order of their start. */
struct each_m {
    size_t count;
    uint64_t base[COUNTERS_PER_M_MAX];
    long long sum[COUNTERS_PER_M_MAX];
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

struct counters {
    const struct papi_api *api;
    size_t count;
    struct counter *list;
    bool inherited;
    bool kernel;
    int perf_component;
    const struct counters_source *source;

    size_t set_count, chosen; /* sets that fit, and the one that counts */
    size_t *slot;             /* of every thread's set, of the chosen one */
    size_t slot_count;
    struct event_set own; /* the process's set; count 0: none */
    papi_handle_t sde;

    lock_t lock; /* protects what follows against Ms that start and stop */
    bool in_window;
    struct thread_set *threads;
    char *thread_failure; /* the first one; makes all events of threads absent */
};

/* counters.c: EventSets and reasons, for the making of counters. */

/* "PAPI_start: text of the error"; free() it. */
char *counters_reason(const struct counters *counters, const char *call, int error);

/* The first reason of a counter stays. */
void counter_lose(struct counter *counter, const char *reason);
void counters_lose_all(struct counters *counters, bool of_threads, const char *reason);

/* Makes and starts a set of count events; 0, or PAPI's error and in *call what failed. */
int counters_set_start(const struct counters *counters, const size_t *slot, size_t count,
                       bool of_threads, int *id, const char **call);
void counters_set_destroy(const struct counters *counters, int id);

void event_set_init(struct event_set *events, int id, size_t *slot, size_t count);
void event_set_free(struct event_set *events);
void event_set_stop(const struct counters *counters, struct event_set *events);

#endif
