/* report_fit.h - whether the sweep file, the records and this program belong together.
 *
 * Who calls: report_load(), when sweep.yaml, environment.json and the records are read.
 */
#ifndef SCHEDLAB_REPORT_FIT_H
#define SCHEDLAB_REPORT_FIT_H

#include "harness/report_data.h"

/* Adds a line each to report->warnings if sweep.yaml is not the one that was measured, if records
 * are of variants that this program does not know, or if there is no environment.json. */
void report_fit_check(struct report *report);

#endif
