/* sweep_state.h - a sweep that is being measured, for the files that measure it.
 *
 *   sweep_run.c     the loop: blocks, until the stopping rule has enough
 *   sweep_fetch.c   where records come from: the folder of results, an engine, a process
 *   sweep_tell.c    counts, and what people are told
 *
 * Callers: these. Like theirs: false and one line in error if the sweep cannot go on; false and
 * none after a signal.
 */
#ifndef SCHEDLAB_SWEEP_STATE_H
#define SCHEDLAB_SWEEP_STATE_H

#include "harness/base/error.h"
#include "harness/base/progress.h"
#include "harness/plan/stopping_rule.h"
#include "harness/records/records.h"
#include "harness/records/sample_request.h"
#include "harness/sweep/sweep_cells.h"
#include "harness/sweep/sweep_kinds.h"
#include "harness/sweep/sweep_run.h"

struct sweep_state {
    struct sweep_run *run;
    struct stopping_rule rule; /* says which cells a block has to measure */
    struct progress progress;
    struct record_file file;
    struct same_work *work;        /* that each sample should have done, by the records so far */
    struct sample_request request; /* what all samples have in common */
    struct sample_pool *pool;      /* of simulated samples on their way */
    int pool_width;
    struct sweep_cells cells; /* where run->cells is not NULL */
    struct sweep_kinds kinds;
    json_t *machines;    /* that measured (hosts_used.h) */
    const char *unnamed; /* the processor of records read back that name none */
    size_t *order;
    double announced;    /* when a cell was last shown */
    size_t position;     /* of the next record in the whole run */
    unsigned event_sets; /* the most sets that a sample's events fall into, as far as records say */
    struct error *error; /* one line on what went wrong; else "" */
};

/* sweep_fetch.c ------------------------------------------------------------------------------- */

/* Refuses what would mix kinds of processors before it is measured. block: the first with something
 * to measure. */
bool sweep_fetch_foresee(struct sweep_state *state, unsigned block);

/* Has the engine measure what the block needs. */
bool sweep_fetch_block(struct sweep_state *state, unsigned block);

/* Makes state->order that of the block's cells. */
void sweep_fetch_order(struct sweep_state *state, unsigned block);

/* One sample of the block, begun or done. */
bool sweep_fetch_sample(struct sweep_state *state, struct cell *cell, unsigned block);

/* Waits for the simulated samples that are on their way, and keeps their records. */
bool sweep_fetch_rest(struct sweep_state *state, unsigned block);

/* sweep_tell.c -------------------------------------------------------------------------------- */

/* Counts a record. True if it is not ok. */
bool sweep_tell_count(struct sweep_state *state, const json_t *record);

/* Says why a record is not ok. */
void sweep_tell_complaint(struct sweep_state *state, const struct cell *cell, const json_t *record);

/* Tells if there are too few blocks for all sets of events. Blocks count the sets in turn; variants
 * and groups may have unlike numbers of them. */
void sweep_tell_event_sets(struct sweep_state *state, const json_t *record);

/* Shows which cell is next, the i-th of the block. Not more often than people read: the time left
 * is a sum over all cells, of which there may be many. */
void sweep_tell_next(struct sweep_state *state, const struct cell *cell, unsigned block, size_t i);

/* How many samples are certain to come: those of this block and of the first `reps`. */
void sweep_tell_total(struct sweep_state *state, unsigned block);

/* Warns if there are fewer cores than the most workers of the plan, on each of its machines. */
void sweep_tell_workers(struct sweep_state *state);

#endif
