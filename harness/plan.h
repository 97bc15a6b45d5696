/* plan.h - the cells of a sweep and the order in which they are measured.
 *
 * Who calls: sweep. A cell is one variant, workload and number of workers. The plan is the union of
 * the groups' cells: what two groups ask for is measured once and belongs to both.
 *
 * Cells are measured in blocks. Every block holds each cell once, in an order of its own, so that
 * whatever drifts during a sweep (heat, neighbours, the kernel's memory) hits all cells alike.
 */
#ifndef SCHEDLAB_PLAN_H
#define SCHEDLAB_PLAN_H

#include "harness/records.h"
#include "harness/sweep_file.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell {
    const char *variant, *workload; /* canonical; of the sweep file */
    json_t *groups;                 /* ids of the groups that hold it, in the order of the file */
    int workers;
    char id[CELL_ID_SIZE];

    /* What the sweep has seen of it. */
    bool given_up; /* not measured again: skipped, or timed out too often */
    unsigned timeouts;
    unsigned samples;
    double seconds; /* all samples together, process start included */
};

struct plan {
    struct cell *cells; /* group by group, workload by workload, in the order of the file */
    size_t count;
};

/* sweep must outlive the plan. */
struct plan *plan_make(const struct sweep_file *sweep, const char *machine);
void plan_free(struct plan *plan);

/* Writes the order of one block, a permutation of 0..count-1 that depends on seed and block
 * only. */
void plan_shuffle(const struct plan *plan, uint64_t seed, unsigned block, size_t *order);

/* Seconds until the end: the rest of this block, from order[next] on, and `blocks` more; from
 * what the samples so far took. NAN before the first. */
double plan_seconds_left(const struct plan *plan, const size_t *order, size_t next,
                         unsigned blocks);

#endif
