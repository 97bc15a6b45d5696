/* cell_time.h - estimates how long the samples of a sweep take, from the times of earlier runs or
 * from the sweep's settings.
 *
 * Callers: sweep --plan, and the engines, which make jobs of some minutes. sweep_run.c keeps the
 * times of its samples in the run's timings.json:
 *
 *     {"cells": {ID OF THE CELL: {"samples": n, "seconds": of all together}}}
 *
 * They are wall times of whole processes, on whichever machine measured them: good for planning,
 * but no results.
 */
#ifndef SCHEDLAB_CELL_TIME_H
#define SCHEDLAB_CELL_TIME_H

#include "harness/base/error.h"
#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"

#include <jansson.h>
#include <stdbool.h>

enum cell_time_basis {
    CELL_TIME_RECORDS,  /* samples of the cell in earlier runs */
    CELL_TIME_SETTINGS, /* from the sweep's settings, natively: at least so long */
    CELL_TIME_LIKE,     /* the mean of the sweep's simulated cells that earlier runs have */
    CELL_TIME_UNKNOWN,  /* a simulated cell, while none of them is known */
};

struct cell_time {
    double seconds; /* NAN: unknown */
    enum cell_time_basis basis;
};

struct cell_times {
    const struct sweep_file *sweep;
    json_t *known;         /* cell id -> {samples, seconds}, summed over runs */
    double simulated_mean; /* NAN: none is known */
};

/* Reads timings.json of all runs in the folder `results`; missing and unreadable ones do not count.
 * sweep must outlive times. */
void cell_times_begin(struct cell_times *times, const struct sweep_file *sweep,
                      const struct plan *plan, const char *results);
/* Reads that of one run, in its folder. */
void cell_times_take(struct cell_times *times, const struct plan *plan, const char *run);
void cell_times_end(struct cell_times *times);

/* The time that one sample of the cell will take. */
struct cell_time cell_times_of(const struct cell_times *times, const struct cell *cell);

/* "records" ... */
const char *cell_time_basis_text(enum cell_time_basis basis);

/* Writes timings.json into the run's folder, from the processes of the plan's cells; adds to an
 * earlier one. */
bool cell_times_write(const char *folder, const struct plan *plan, struct error *error);

#endif
