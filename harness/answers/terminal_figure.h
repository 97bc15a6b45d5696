/* terminal_figure.h - a sweep's main figure as text: throughput by variant of its first group.
 *
 * Callers: cmd_sweep.c, after the report, whose tables it reads. Drawn by gnuplot's `dumb`
 * terminal.
 */
#ifndef SCHEDLAB_TERMINAL_FIGURE_H
#define SCHEDLAB_TERMINAL_FIGURE_H

#include "harness/base/error.h"
#include "harness/plan/sweep_file.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes the figure of the run, as wide as the terminal behind `to` and at most as high, but one
 * workload at least; 100 columns, and all workloads, where that is no terminal. False and one line
 * in error if gnuplot cannot draw it. */
bool terminal_figure_write(FILE *to, const char *run_dir, const struct sweep_group *group,
                           struct error *error);

#endif
