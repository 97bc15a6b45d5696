/* sweep_cells.h - a sweep's samples from, and into, a folder of results (cell_store.h).
 *
 * Callers: sweep_fetch.c, which takes results that are there in place of measuring; the engines,
 * which have the missing ones measured elsewhere.
 */
#ifndef SCHEDLAB_SWEEP_CELLS_H
#define SCHEDLAB_SWEEP_CELLS_H

#include "harness/base/error.h"
#include "harness/plan/cell_id.h"

#include <jansson.h>
#include <stdbool.h>

struct sweep_cells {
    const char *folder;
    struct cell_ids ids;
};

/* sweep, plan and folder must outlive cells. */
void sweep_cells_begin(struct sweep_cells *cells, const struct sweep_file *sweep, struct plan *plan,
                       const char *folder);
void sweep_cells_end(struct sweep_cells *cells);

/* The record of the cell's sample in that block, and the time it took; the caller's. Native ones
 * say where they were measured: `host`, `cpu`. NULL, with "" in error if there is none, or one line
 * if it cannot be taken. */
json_t *sweep_cells_take(struct sweep_cells *cells, const struct cell *cell, unsigned block,
                         double *seconds, struct error *error);

/* Keeps a sample that this machine measured. Afterwards *record, and where a native one was
 * measured, are as in the folder: another process's, if that was the first. */
bool sweep_cells_put(struct sweep_cells *cells, const struct cell *cell, unsigned block,
                     json_t *record, double seconds, struct error *error);

#endif
