/* stopping_rule.h - which cells the next block of a sweep has to measure, and why measuring a cell
 * ended.
 *
 * Callers: sweep_run.c; audit_replay.c, which asks what a sweep would have measured;
 * cmd_run_cell.c, which asks how far one may come.
 *
 *     blocks 0 .. reps-1          hold every cell, but those that take fewer blocks (cell->reps,
 *                                 cell->until_equal)
 *     blocks reps .. reps_max-1   hold the comparison sets (plan.h) in which a cell still has an
 *                                 interval of its median wider than `width` percent of it, over
 *                                 the samples that the tables would take (comparable.h)
 *
 * and after these, each holding only the cells that need it,
 *
 *     repeats   while a cell has fewer samples without marks than blocks, reps_max at most
 *     top-ups   while a cell has fewer than class_min samples without marks of the run's most
 *               common mood, or with class_each of any of its moods, reps_max at most
 *
 * What moods there are, and which is the most common one, is learnt from the samples of blocks: of
 * the others there are most where the machine was in another mood. A block that changes which mood
 * is the most common one can open a set again, whose numbers are then of other samples.
 *
 * A set is in a block as a whole: if a variant dropped out when its own interval is narrow, the
 * others' later samples would see another hour of the machine than its do. A cell that was given up
 * is in no block; it and cells with failed samples, which have no median, hold no set.
 *
 * What block b holds follows from the samples of the blocks before b alone. So a sweep that was
 * interrupted and read its records back goes on as if it had not been.
 */
#ifndef SCHEDLAB_STOPPING_RULE_H
#define SCHEDLAB_STOPPING_RULE_H

#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/mood.h"

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
    struct moods moods;
    enum mood class; /* the most common mood; MOOD_NONE without probes */
};

/* sweep and plan must outlive needs. */
void stopping_rule_begin(struct stopping_rule *needs, const struct sweep_file *sweep,
                         struct plan *plan);
void stopping_rule_end(struct stopping_rule *needs);

/* How many blocks there are at most, those of repeats and top-ups included. */
unsigned stopping_rule_blocks_max(const struct sweep_file *sweep);

/* "block" ..., as in records. */
const char *why_text(enum why why);

/* Takes note of a record of the cell, in the order in which they were measured. False, and nothing
 * noted, if the cell has a sample of that block already. */
bool stopping_rule_note(struct cell *cell, const json_t *record);

/* Sets `why` of all cells for this block; how many it holds, measured already or not. After the
 * first block with none, there is nothing left to measure. */
size_t stopping_rule_next(struct stopping_rule *needs, unsigned block);

/* How wide the interval of the cell's median is over the samples behind its numbers in the tables,
 * in percent of the median. NAN with too few samples for an interval, or a failed one. After
 * stopping_rule_conclude(), or once all sets are closed. */
double stopping_rule_width(const struct stopping_rule *needs, const struct cell *cell);

/* Why measuring the cell ended: "width", "limit", "reps", "given-up", "class-limit" if all top-ups
 * were measured and fewer than class_min are of a mood that is needed; or, where it had not ended,
 * "interrupted". */
const char *stopping_rule_stop(const struct stopping_rule *needs, const struct cell *cell);

/* Learns the moods of what there is, if an interruption came before stopping_rule_next() could.
 * Before the next two. */
void stopping_rule_conclude(struct stopping_rule *needs);

/* The content of plan.json, as results/README.md describes it; owned by the caller. */
json_t *stopping_rule_to_json(const struct stopping_rule *needs);

/* Says in a few lines how far the samples went. */
void stopping_rule_tell(const struct stopping_rule *needs, FILE *to);

#endif
