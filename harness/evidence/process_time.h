/* process_time.h - the times that samples report, beside those that hyperfine measures.
 *
 * Callers: tables.c; sweep_fetch.c and merge.c, for hyperfine's files. A sample's own times are
 * those of its calls, timed and untimed, and of what lies between them. The process around them
 * costs start-up. Start-up is measured from outside too, by a process that does all but run the
 * workload. It is not taken as the difference of the two sides: that would agree with any inside
 * clock, however wrong. Time that neither accounts for is the rest. A cell whose process takes more
 * or less than both together is flagged `disagree`: its clock is wrong, or there is time that its
 * numbers do not show. It is `unknown` where start-up was not measured, or where too few samples
 * lie too far apart to say. It is also `unknown` where start-up is so much of the whole that a
 * clock wrong by a factor of two would not show.
 */
#ifndef SCHEDLAB_PROCESS_TIME_H
#define SCHEDLAB_PROCESS_TIME_H

#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if any record was timed from outside, so that there is something to write. */
bool process_time_is_known(const json_t *records);

/* Writes run_dir/outside.tsv, complete or not at all. 0, or -1 and one line in error. */
int process_time_write(const char *run_dir, const json_t *records, struct error *error);

/* The file in RUN_DIR/hyperfine that keeps hyperfine's own JSON of a sample: CELL-SEED-BLOCK.json,
 * so that runs of one sweep can be merged. False if the path is too long. */
bool process_time_json_path(char *path, size_t size, const char *run_dir, const char *cell,
                            int64_t seed, int64_t block);

#endif
