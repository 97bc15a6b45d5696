/* import_facts.h - what an import finds out about a trace. Callers: import.c, waits.c, facts.c. */
#ifndef SCHEDLAB_IMPORT_FACTS_H
#define SCHEDLAB_IMPORT_FACTS_H

#include "workloads/histogram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ways in which a goroutine became runnable that then waited for a processor. */
enum import_ready {
    READY_CREATED,
    READY_WOKEN, /* by a goroutine */
    READY_LOCK,  /* likewise, from a wait that the program has as one for a lock */
    READY_PEER,  /* by the poller, after a goroutine wrote: since then */
    READY_RUNTIME,
    READY_STOPPED,
    READY_KINDS
};

/* The parts of a trace that a program may have or lack. */
enum import_segment {
    SEGMENT_PROGRAM,
    SEGMENT_RUNTIME, /* its goroutines and the tracer's, but for the next ones */
    SEGMENT_COLLECTOR,
    SEGMENT_FILTER, /* goroutines that the filter excludes */
    SEGMENT_WAITS,  /* of the program for the collector */
    SEGMENT_STOPS,  /* of the world; their time is computing of who stopped it */
    SEGMENTS
};

/* How many goroutines, waits or stops these were, and how long they ran or took. */
struct import_part {
    uint64_t count;
    int64_t ns;
    bool is_kept;
};

enum {
    IMPORT_REASONS_MAX = 32,
    IMPORT_REASON_SIZE = 40,
    IMPORT_PLACES_MAX = 256, /* the last one stands for all others */
    IMPORT_FUNCTION_SIZE = 80,
    IMPORT_TORN_SIZE = 400,
};

struct import_reason {
    char word[IMPORT_REASON_SIZE];
    uint64_t count;
    int64_t ns;
};

/* Waits for one thing in one function. */
struct import_place {
    char word[IMPORT_REASON_SIZE];
    char function[IMPORT_FUNCTION_SIZE]; /* the innermost one that is not Go's own */
    uint64_t count;
    int64_t ns;
};

struct import_facts {
    char version[16];            /* "1.26", of Go */
    char torn[IMPORT_TORN_SIZE]; /* where and why, and the event before; empty: it is whole */
    uint64_t events, disorder, goroutines, goroutines_cut, waits_outside, waits_peers;
    uint64_t readers, readers_chosen; /* that have a writer; of which it may be another one */
    uint64_t sections, waits_locks;   /* under locks; waits that became one for a lock */
    int64_t span_ns, run_ns, run_cut_ns;
    struct import_part parts[SEGMENTS];
    int64_t work_ns, critical_ns; /* of the program: computing, and the longest chain of steps */
    int64_t processors;           /* 0: not told */
    struct import_reason reasons[IMPORT_REASONS_MAX];
    size_t reasons_count;
    struct import_place places[IMPORT_PLACES_MAX];
    size_t places_count;
    struct histogram late[READY_KINDS]; /* runnable to running */
};

#endif
