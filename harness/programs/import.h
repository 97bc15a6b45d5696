/* import.h - the program that a trace of Go holds: as a program file, and facts about it.
 *
 * Callers: cmd_import.c. docs/PROGRAMS.md says what a step of the file stands for, and what is left
 * out.
 */
#ifndef SCHEDLAB_IMPORT_H
#define SCHEDLAB_IMPORT_H

#include "workloads/histogram.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct import_options {
    int64_t from_ns, to_ns; /* of the trace; only what lies between becomes part of the program */
    const char *filter;     /* functions of goroutines, as in file names ("main.*"); NULL: all */
    bool closed;            /* what comes from outside comes so long after somebody waited for it */
};

/* The ways in which a goroutine became runnable that then waited for a processor. */
enum import_ready {
    READY_CREATED,
    READY_WOKEN, /* by a goroutine */
    READY_PEER,  /* by the poller, after a goroutine wrote: since then */
    READY_RUNTIME,
    READY_STOPPED,
    READY_KINDS
};

enum { IMPORT_REASONS_MAX = 32, IMPORT_REASON_SIZE = 40 };

struct import_reason {
    char word[IMPORT_REASON_SIZE];
    uint64_t count;
    int64_t ns;
};

struct import_facts {
    char version[16]; /* "1.26", of Go */
    char torn[160];   /* empty: it is whole */
    uint64_t events, disorder, goroutines, goroutines_cut, waits_outside, waits_peers;
    int64_t span_ns, run_ns, run_cut_ns, stopped_ns;
    int64_t work_ns, critical_ns; /* of the program: computing, and the longest chain of steps */
    int64_t processors;           /* 0: not told */
    struct import_reason reasons[IMPORT_REASONS_MAX];
    size_t reasons_count;
    struct histogram late[READY_KINDS]; /* runnable to running */
};

/* Writes the program to `to`. False, and one line in error, if the file is no trace. */
bool import_trace(const char *path, const struct import_options *options, FILE *to,
                  struct import_facts *facts, char *error, size_t error_size);

#endif
