/* cell_plan.h - prints the samples of a sweep, and their ids: `schedlab sweep --plan`.
 *
 * Callers: cmd_sweep.c.
 */
#ifndef SCHEDLAB_CELL_PLAN_H
#define SCHEDLAB_CELL_PLAN_H

#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"

#include <stdbool.h>
#include <stdio.h>

/* The plan to be printed. */
struct cell_plan {
    const struct sweep_file *sweep;
    struct plan *plan;
    const char *file;    /* the sweep file, or the run's folder */
    const char *results; /* where earlier runs are, for the estimate of time */
    const char *cells;   /* folder of results: those that it has are "done"; NULL: none */
    bool json;
    int columns; /* of a table's lines: a longer row takes two */
};

/* Prints the samples in the order in which they are measured, as a table or as JSON, and the time
 * that they take together. */
void cell_plan_print(const struct cell_plan *plan, FILE *to);

#endif
