/* cell_remarks.h - remarks on samples of one cell that their numbers do not show.
 *
 * Callers: run_table.c, tables_cells.c, compare.c, report_remarks.c, and verdict.c.
 */
#ifndef SCHEDLAB_CELL_REMARKS_H
#define SCHEDLAB_CELL_REMARKS_H

#include "harness/numbers/statistics.h"

#include <jansson.h>
#include <stdbool.h>

enum { CELL_REMARK_SIZE = 512, CELL_REMARKS_SIZE = 4 * CELL_REMARK_SIZE + 6 };

/* Each: the remark on the samples in the array that are ok, or "" if there is none; false then.
 *
 * If less was served of a load (rate=) than asked for, latencies are of a queue that grows.
 *
 * Sysmon stays quick as long as it takes Ps away. Once it is slow it sees no short call twice,
 * takes nothing away, and stays slow. So a cell may have two kinds of samples: those in which it
 * slept at its longest most of the time, and others. The remark is made if there are both.
 *
 * Samples may be of two regimes (statistics.h). Which of them a run meets is chance, and a median
 * is of the more frequent one. Only samples without marks of the most common core distance are
 * asked. The remark says how many lie in each, and which two numbers tell them apart best.
 *
 * A scheduler leaves cores idle beside work that waits. The remark is made where that is more than
 * a tenth of the cores' time on a simulated machine, or of sysmon's looks on real threads. */
bool cell_remark_load(const json_t *records, char text[CELL_REMARK_SIZE]);
bool cell_remark_sysmon(const json_t *records, char text[CELL_REMARK_SIZE]);
bool cell_remark_regimes(const json_t *records, char text[CELL_REMARK_SIZE]);
bool cell_remark_wasted(const json_t *records, char text[CELL_REMARK_SIZE]);

/* "STEALS 0.31 and 12.4": the two counts at most that tell values of two regimes
 * apart best, by the sample behind each value; "" if none does. The one that the values are of, by
 * its name, is not told. */
void cell_regimes_differ(const json_t **records, double *values, size_t count,
                         const struct regimes *regimes, const char *name,
                         char text[CELL_REMARK_SIZE]);

/* Work that waited beside idle cores: means over the samples that are ok, but for the longest wait
 * of all. False if none of them tells. */
struct cell_waste {
    double wasted_ns, share;       /* per operation; of the time of all cores in use */
    double p50_ns, p99_ns, max_ns; /* of waits while a core was idle */
};
bool cell_waste(const json_t *records, struct cell_waste *waste);

/* All remarks on the cell, parted by "; ". False if there is none. */
bool cell_remarks(const json_t *records, char text[CELL_REMARKS_SIZE]);

#endif
