/* report_remarks.h - what of the records a reader should know before believing a number.
 *
 * Callers: report_page.c, in the section on what was run; report.c, when all is written.
 */
#ifndef SCHEDLAB_REPORT_REMARKS_H
#define SCHEDLAB_REPORT_REMARKS_H

#include "harness/answers/report_data.h"

#include <stdio.h>

/* A paragraph for each, of samples that are ok: those that ended before their calls took the time
 * that was asked for; those with more workers than cores; those whose warm-up ended at its limit;
 * those whose steal is not known; and cell_remarks.h of each cell. Nothing where there are none. */
void report_remarks_write(FILE *to, const struct report *report);

/* Prints the remarks of cell_remarks.h, a line each for a terminal. */
void report_remarks_print(FILE *to, const struct report *report);

#endif
