/* unit_time.h - how long the samples of a sweep take, from what earlier runs took, or from what the
 * sweep asks for.
 *
 * Callers: sweep --plan, and the engines, which make jobs of some minutes. sweep_run.c keeps what
 * its samples took in the run's timings.json:
 *
 *     {"cells": {ID OF THE CELL: {"samples": n, "seconds": of all together}}}
 *
 * Wall time of whole processes on whatever machine measured them: good to plan with, no result.
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
    UNIT_TIME_SETTINGS, /* what the sweep asks for at least; natively */
    UNIT_TIME_LIKE,     /* the mean of the sweep's simulated cells that earlier runs have */
    UNIT_TIME_UNKNOWN,  /* a simulated cell, and nothing is known of any */
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

/* Takes what the timings.json in all runs of the folder `results` say; one that is not there, or
 * cannot be read, says nothing. sweep must outlive times. */
void unit_times_begin(struct unit_times *times, const struct sweep_file *sweep,
                      const struct plan *plan, const char *results);
/* The same of one run, in its folder. */
void unit_times_take(struct unit_times *times, const struct plan *plan, const char *run);
void unit_times_end(struct unit_times *times);

/* Takes note of what samples of the cell took together. */
void unit_times_add(struct unit_times *times, const char *cell_id, unsigned samples,
                    double seconds);

/* The time that one sample of the cell will take. */
struct unit_time unit_times_of(const struct unit_times *times, const struct cell *cell);

/* "records" ... */
const char *unit_time_basis_text(enum unit_time_basis basis);

/* Writes timings.json into the run's folder, from the processes of the plan's cells; adds
 * to what is there. */
bool unit_times_write(const char *folder, const struct plan *plan, char *error, size_t error_size);

#endif
