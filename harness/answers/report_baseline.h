/* report_baseline.h - baseline.tsv: every cell as a multiple of its group's baseline.
 *
 * Callers: report.c, before the figures are drawn, because plots/heatmap.gp reads it. The
 * baseline of a group stands in the sweep file, which the statistics stage does not read; so this
 * table is made here. Its columns are in results/README.md.
 *
 * `shown` is the word of verdicts_over_baseline() for the cell; NA for a cell without a ratio.
 */
#ifndef SCHEDLAB_REPORT_BASELINE_H
#define SCHEDLAB_REPORT_BASELINE_H

#include "harness/answers/report_data.h"
#include "harness/base/error.h"

#include <stdbool.h>

/* Writes RUN_DIR/baseline.tsv, complete or not at all, with the groups that have a baseline. False
 * and one line in error if it cannot. */
bool report_baseline_write(const struct report *report, struct error *error);

#endif
