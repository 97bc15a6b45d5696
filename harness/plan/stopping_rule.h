/* stopping_rule.h - which cells the next block of a sweep has to measure, and why measuring a cell
 * ended.
 *
 * Callers: sweep_run.c and sweep_fetch.c; audit_replay.c, to find out what a sweep would have
 * measured; cmd_run_cell.c, for the most blocks that there may be.
 *
 *     blocks 0 .. reps-1          hold every cell, but those that take fewer blocks (cell->reps,
 *                                 cell->until_equal)
 *     blocks reps .. reps_max-1   hold the comparison sets (plan.h) in which a cell still has an
 *                                 interval of its median wider than `width` percent of it, or
 *                                 than the cell's own width, over the samples that the tables
 *                                 would take (comparable.h)
 *
 * and after these, each holding only the cells that need it,
 *
 *     repeats   while a cell has fewer samples without marks than blocks, reps_max at most
 *     top-ups   while a cell has fewer than class_min samples without marks of the run's most
 *               common core distance, or with class_each of any of its distances, reps_max at
 *               most
 *
 * Distances, and the most common one, are learnt from the samples of blocks only, since most other
 * samples were taken because the cores were at another distance. A block may change which distance
 * is the most common one. Then a set's numbers are of other samples, so the set may open again.
 *
 * A set is in a block as a whole. If a variant dropped out when its own interval is narrow, later
 * samples of the others would be from another hour of the machine. A cell that was given up is in
 * no block. It keeps no set open, nor do cells with failed samples, which have no median.
 *
 * The content of block b depends only on samples of blocks before b. So a sweep that was
 * interrupted and reads its records back goes on as if it had not been.
 */
#ifndef SCHEDLAB_STOPPING_RULE_H
#define SCHEDLAB_STOPPING_RULE_H

#include "harness/evidence/core_distance.h"
#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct stopping_rule {
    const struct sweep_file *sweep; /* reps, reps_max, width, class_min, class_each,
                                     * repeat_disturbed */
    struct plan *plan;
    bool *open; /* by number of set: a cell of it needs another sample */

    /* Once all sets are closed: */
    unsigned blocks; /* how many blocks there were; UINT_MAX before */
    struct core_distances distances;
    enum core_distance class; /* the most common one; DISTANCE_NONE without probes */
};

/* sweep and plan must outlive rule. */
void stopping_rule_begin(struct stopping_rule *rule, const struct sweep_file *sweep,
                         struct plan *plan);
void stopping_rule_end(struct stopping_rule *rule);

/* The most blocks that there may be, those of repeats and top-ups included. */
unsigned stopping_rule_blocks_max(const struct sweep_file *sweep);

/* "block" ..., as in records. */
const char *why_text(enum why why);

/* Notes a record of the cell, in the order in which they were measured. False, and nothing noted,
 * if the cell has a sample of that block already. */
bool stopping_rule_note(struct cell *cell, const json_t *record);

/* Marks a record of the cell that other programs robbed, beside those noted before (robbed.h). */
void stopping_rule_mark(const struct cell *cell, json_t *record);

/* Sets `why` of all cells for this block. Returns how many it holds, measured already or not. After
 * the first block with none, there is nothing left to measure. */
size_t stopping_rule_next(struct stopping_rule *rule, unsigned block);

/* The width of the interval of the cell's median, in percent of the median, over the samples behind
 * its numbers in the tables. NAN with too few samples for an interval, or a failed one. After
 * stopping_rule_conclude(), or once all sets are closed. */
double stopping_rule_width(const struct stopping_rule *rule, const struct cell *cell);

/* The reason why measuring the cell ended: "width", "limit", "reps", "given-up" or "class-limit";
 * or, if it had not ended, "interrupted". "class-limit" means that all top-ups were measured and
 * fewer than class_min are of a core distance that is needed. */
const char *stopping_rule_stop(const struct stopping_rule *rule, const struct cell *cell);

/* Learns the distances from the samples there are, if an interruption came before
 * stopping_rule_next() could. Call it before the next two. */
void stopping_rule_conclude(struct stopping_rule *rule);

/* The content of plan.json, as results/README.md describes it; owned by the caller. */
json_t *stopping_rule_to_json(const struct stopping_rule *rule);

/* Prints in a few lines how far the samples went. */
void stopping_rule_tell(const struct stopping_rule *rule, FILE *to);

#endif
