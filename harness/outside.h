/* outside.h - what samples say about their time, beside what hyperfine says.
 *
 * Who calls: tables.c. A sample's own time is that of its calls; the process around them costs
 * start-up, much the same for all cells. A cell whose process takes more or less than both is
 * flagged: there is time that its numbers do not show.
 */
#ifndef SCHEDLAB_OUTSIDE_H
#define SCHEDLAB_OUTSIDE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether any record was timed from outside, so that there is something to write. */
bool outside_is_known(const json_t *records);

/* Writes run_dir/outside.tsv, complete or not at all. 0, or -1 and one line in error. */
int outside_write(const char *run_dir, const json_t *records, char *error, size_t error_size);

#endif
