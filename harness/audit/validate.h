/* validate.h - compares the simulated machine with formulas, other simulators and this machine.
 *
 * Callers: cmd_validate.c. Each function reads what one part of `make validate` has measured and
 * returns its claims. They are an array of {what, source, expected, measured, holds}, owned by the
 * caller; all are texts but `holds`. NULL and one line in error if it cannot be read. Tables for
 * the figures go into folder.
 */
#ifndef SCHEDLAB_VALIDATE_H
#define SCHEDLAB_VALIDATE_H

#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* The claims of the formulas, from the file that tests/sim/sim_formulas.c wrote. */
json_t *validate_formulas(const char *path, const char *folder, struct error *error);

/* The table of validate_cachegrind.sh: misses within 5 %. */
json_t *validate_misses(const char *path, const char *folder, struct error *error);

/* Runs of validate.yaml on this machine, and on its model: the median error per number of workers,
 * and for each workload whether the variants are ranked alike. Samples with marks do not count. */
json_t *validate_native(const char *native_run, const char *simulated_run, const char *folder,
                        struct error *error);

/* A run of validate-curves.yaml. */
json_t *validate_curves(const char *run, const char *folder, struct error *error);

/* The repro.json of harness/audit/outside.yaml: a claim for each expectation. */
json_t *validate_outside(const char *path, const char *folder, struct error *error);

/* The repro.json of experiments with tables of exact numbers: the verdicts of each part on
 * simulated machines. */
json_t *validate_tables(const char *path, const char *folder, struct error *error);

/* Adds a claim; source: where it is from. */
void validate_claim(json_t *claims, const char *what, const char *source, const char *expected,
                    const char *measured, bool holds);

/* As a table. */
void validate_print(FILE *to, const char *title, const json_t *claims);

#endif
