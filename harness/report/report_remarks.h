/* report_remarks.h - remarks on the records that a reader should know before believing a number.
 *
 * Callers: report_page.c, in the section on what was run; report.c, when all is written.
 */
#ifndef SCHEDLAB_REPORT_REMARKS_H
#define SCHEDLAB_REPORT_REMARKS_H

#include "harness/answers/report_data.h"

#include <stdio.h>

/* Writes a paragraph for each kind of remark on samples that are ok; nothing where there are none.
 * Remarks tell of samples that ended before their calls took the time that was asked for, that had
 * more workers than cores, whose warm-up ended at its limit, or whose steal is not known. The
 * remarks of cell_remarks.h follow for each cell. */
void report_remarks_write(FILE *to, const struct report *report);

/* Prints the remarks of cell_remarks.h, a line each for a terminal. */
void report_remarks_print(FILE *to, const struct report *report);

#endif
