/* unit_time.h - estimates how long the samples of a sweep take, from the times of earlier runs or
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
#ifndef SCHEDLAB_UNIT_TIME_H
#define SCHEDLAB_UNIT_TIME_H

#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum unit_time_basis {
    UNIT_TIME_RECORDS,  /* samples of the cell in earlier runs */
    UNIT_TIME_SETTINGS, /* from the sweep's settings, natively: at least so long */
    UNIT_TIME_LIKE,     /* the mean of the sweep's simulated cells that earlier runs have */
    UNIT_TIME_UNKNOWN,  /* a simulated cell, while none of them is known */
};

struct unit_time {
    double seconds; /* NAN: unknown */
    enum unit_time_basis basis;
};

struct unit_times {
    const struct sweep_file *sweep;
    json_t *known;         /* cell id -> {samples, seconds}, summed over runs */
    double simulated_mean; /* NAN: none is known */
};

/* Reads timings.json of all runs in the folder `results`; missing and unreadable ones do not count.
 * sweep must outlive times. */
void unit_times_begin(struct unit_times *times, const struct sweep_file *sweep,
                      const struct plan *plan, const char *results);
/* Reads that of one run, in its folder. */
void unit_times_take(struct unit_times *times, const struct plan *plan, const char *run);
void unit_times_end(struct unit_times *times);

/* The time that one sample of the cell will take. */
struct unit_time unit_times_of(const struct unit_times *times, const struct cell *cell);

/* "records" ... */
const char *unit_time_basis_text(enum unit_time_basis basis);

/* Writes timings.json into the run's folder, from the processes of the plan's cells; adds to an
 * earlier one. */
bool unit_times_write(const char *folder, const struct plan *plan, char *error, size_t error_size);

#endif
