/* merge.h - joins runs of one sweep into one run.
 *
 * Callers: cmd_merge.c. A sample is known by the seed of its run and its position in it:
 *
 *     runs of different seeds   were measured separately; their samples add up
 *     runs of one seed          are parts or copies of one run; a sample that several have counts
 *                               once, and must be the same in all of them
 *
 * Records are copied byte for byte, sorted by seed and position. So runs may be merged in any order
 * and grouping, with the same samples as a result. Each run's records are in this order already;
 * they are read side by side, so memory does not grow with their number.
 *
 * The runs must be of one sweep file and one revision of this program. If compiler, machine or
 * options differ, a warning says so, and the environment of the result keeps it: such samples
 * differ for more than one cause. Unlike processors in one comparison are refused, unless asked for
 * (sweep_kinds.h).
 */
#ifndef SCHEDLAB_MERGE_H
#define SCHEDLAB_MERGE_H

#include "harness/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct merge {
    const char *out;         /* a folder that is not there yet */
    const char *const *runs; /* folders */
    size_t count;
    bool mix_machines; /* also samples of one comparison from unlike processors */

    /* Results. */
    size_t samples;  /* in out */
    size_t repeated; /* that more than one run had */
};

enum merge_result {
    MERGE_DONE,
    MERGE_REFUSED, /* the runs do not fit together, or are none */
    MERGE_FAILED,  /* a file could not be written */
};

/* Makes out, with sweep.yaml, environment.json, samples.jsonl, plan.json and copies of the
 * hyperfine files of the samples in it; warnings go to messages. Unless it is MERGE_DONE there is
 * one line in error and no out. */
enum merge_result merge_runs(struct merge *merge, FILE *messages, struct error *error);

/* Joins folders of results of single cells (cell_store.h) in place of runs: OUT has each cell once.
 * Copies of a cell must agree. Memory does not grow with their number. `samples` counts cells. */
enum merge_result merge_cells(struct merge *merge, struct error *error);

/* Joins campaigns of `schedlab hunt` (hunt_log.h): shards and copies of one, and those of other
 * seeds. They must be of one program and of the same cells. Copies of a part must agree. `samples`
 * counts parts. */
enum merge_result merge_hunts(struct merge *merge, struct error *error);

#endif
