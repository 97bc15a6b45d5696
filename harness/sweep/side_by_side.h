/* side_by_side.h - measures several sides of a sweep interleaved, into a run's folder of its own.
 *
 * Callers: cmd_compare.c for two revisions, cmd_audit.c for one program against itself.
 *
 * The folder is a run as `schedlab sweep` makes it, doctor's findings included: report and compare
 * read it, the latter by RUN:side=NAME. It cannot be resumed.
 */
#ifndef SCHEDLAB_SIDE_BY_SIDE_H
#define SCHEDLAB_SIDE_BY_SIDE_H

#include "harness/base/error.h"
#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIDE_BY_SIDE_FOLDER_SIZE = 2048 };

struct side_by_side {
    const struct sweep_file *sweep;
    const char *sweep_path; /* the file that sweep was read from */
    const struct plan_side *sides;
    size_t sides_count;
    const char *results, *name; /* the folder is results/name-<UTC time> */
    json_t *environment;        /* environment_to_json(), which a process can call only once */
    uint64_t seed;
    bool reverse;

    /* Results. */
    char folder[SIDE_BY_SIDE_FOLDER_SIZE];
};

/* 0; or -1 and one line in error if it was stopped, nothing could be measured, or nothing could be
 * written. Samples measured before that are in the folder. */
int side_by_side_measure(struct side_by_side *run, struct error *error);

#endif
