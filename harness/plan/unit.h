/* unit.h - the single samples of a sweep: each repetition of each cell, with a name of its own.
 *
 * Callers: sweep --plan and run --cell; sweep_run.c and the engines, which look for results that
 * are there already.
 *
 * A unit is one sample that a sweep will need: a cell (plan.h) in a block. Its id is a hash of all
 * facts that its result depends on and that are known before. These are revision, compiler and
 * flags of the program, variant with knobs, workload with parameters, workers, machine (of a
 * simulated one all values of its model), seed, repetition, and every setting of the request. The
 * id is the same on any machine, and in any sweep file, group and order. So a unit that was
 * measured under an id need not be measured again.
 *
 * If the tree has changes that are in no revision, its revision ends in "-dirty", which says too
 * little. Then the bytes of both programs are in the id too, and builds of two folders have ids of
 * their own.
 */
#ifndef SCHEDLAB_UNIT_H
#define SCHEDLAB_UNIT_H

#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"

#include <stdbool.h>
#include <stdint.h>

enum { UNIT_ID_SIZE = 17 };

struct units {
    struct plan *plan;
    unsigned blocks; /* that hold each cell: `reps` of the sweep */
    struct sample_request common;
    char *events;    /* of common */
    uint64_t origin; /* hash of the program */
    json_t *models;  /* canonical machine -> hash of its model, of those asked for */
};

/* The units of a sweep. sweep and plan must outlive them. */
void units_begin(struct units *units, const struct sweep_file *sweep, struct plan *plan);
void units_end(struct units *units);

/* The id of the cell's unit in a block: 16 hex digits. */
void unit_id(struct units *units, const struct cell *cell, unsigned block, char id[UNIT_ID_SIZE]);

/* True if text could be an id. */
bool unit_id_is_valid(const char *text);

/* Calls fn for each unit of the first `blocks` blocks, in the order in which a sweep measures them,
 * until fn returns false. True if it never did. */
bool units_each(struct units *units, bool (*fn)(void *arg, struct cell *cell, unsigned block),
                void *arg);

#endif
