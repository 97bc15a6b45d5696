/* report_latex.h - a run's throughputs as LaTeX tables.
 *
 * Callers: cmd_export.c. A table for each question: medians with 95 % intervals, multiples of the
 * baseline with theirs, and a mark where a difference is shown, all as in report.html. They need
 * the package booktabs. The caption has the question and the command that measures it again.
 */
#ifndef SCHEDLAB_REPORT_LATEX_H
#define SCHEDLAB_REPORT_LATEX_H

#include "harness/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Makes the run's .tsv files anew, as report does. *samples: that are behind the numbers. False and
 * one line in error if the run cannot be read; errors of `to` are in ferror(). */
bool report_latex_write(const char *folder, FILE *to, size_t *samples, struct error *error);

#endif
