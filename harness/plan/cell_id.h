/* cell_id.h - the single samples of a sweep: each repetition of each cell, with a name of its own.
 *
 * Callers: sweep --plan and run --cell; sweep_fetch.c and the engines, which look for results that
 * are there already.
 *
 * A cell (plan.h) in a block is one sample that a sweep will need. Its id is a hash of all facts
 * that its result depends on and that are known before. These are revision, compiler and flags of
 * the program, variant with knobs, workload with parameters, workers, machine (of a simulated one
 * all values of its model), seed, repetition, and every setting of the request. The id is the same
 * on any machine, and in any sweep file, group and order. So what was measured under an id need not
 * be measured again. This is not the id that a cell has in plan.h, the same in all blocks.
 *
 * If the tree has changes that are in no revision, its revision ends in "-dirty", which says too
 * little. Then the bytes of both programs are in the id too, and builds of two folders have ids of
 * their own.
 */
#ifndef SCHEDLAB_CELL_ID_H
#define SCHEDLAB_CELL_ID_H

#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"

#include <stdbool.h>
#include <stdint.h>

enum { CELL_BLOCK_ID_SIZE = 17 };

struct cell_ids {
    struct plan *plan;
    unsigned blocks; /* that hold each cell: `reps` of the sweep */
    struct sample_request common;
    char *events;    /* of common */
    uint64_t origin; /* hash of the program */
    json_t *models;  /* canonical machine -> hash of its model, of those asked for */
};

/* The ids of a sweep. sweep and plan must outlive them. */
void cell_ids_begin(struct cell_ids *ids, const struct sweep_file *sweep, struct plan *plan);
void cell_ids_end(struct cell_ids *ids);

/* The id of the cell in a block: 16 hex digits. */
void cell_id_of(struct cell_ids *ids, const struct cell *cell, unsigned block,
                char id[CELL_BLOCK_ID_SIZE]);

/* True if text could be an id. */
bool cell_id_is_valid(const char *text);

/* Calls fn for each sample of the first `blocks` blocks, in the order in which a sweep measures
 * them, until fn returns false. True if it never did. */
bool cell_ids_each(struct cell_ids *ids, bool (*fn)(void *arg, struct cell *cell, unsigned block),
                   void *arg);

#endif
