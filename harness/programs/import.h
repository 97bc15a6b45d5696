/* import.h - the program that a trace of Go holds: as a program file, and facts about it.
 *
 * Callers: cmd_import.c. docs/PROGRAMS.md says what a step of the file stands for, and what is left
 * out.
 */
#ifndef SCHEDLAB_IMPORT_H
#define SCHEDLAB_IMPORT_H

#include "harness/base/error.h"
#include "harness/programs/import_facts.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct import_options {
    int64_t from_ns, to_ns; /* of the trace; only what lies between becomes part of the program */
    const char *filter;     /* functions of goroutines, as in file names ("main.*"); NULL: all */
    bool closed;            /* what comes from outside comes so long after somebody waited for it */
    bool keeps[SEGMENTS];   /* of SEGMENT_RUNTIME and SEGMENT_COLLECTOR; the others are not asked */
};

/* Writes the program to `to`. False, and one line in error, if the file is no trace. */
bool import_trace(const char *path, const struct import_options *options, FILE *to,
                  struct import_facts *facts, struct error *error);

#endif
