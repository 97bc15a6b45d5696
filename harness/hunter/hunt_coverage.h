/* hunt_coverage.h - tells which pairs of memory-order labels a hunt has met (hunt/coverage.h).
 *
 * Callers: hunt_main.c, and of campaigns hunt_campaign.c and hunt_table.c.
 */
#ifndef SCHEDLAB_HUNT_COVERAGE_TABLE_H
#define SCHEDLAB_HUNT_COVERAGE_TABLE_H

#include "harness/hunt/coverage.h"

#include <jansson.h>

/* Before a hunt with coverage: one line with the command before it ends the process if the program
 * has no debug information. */
void hunt_coverage_begin(void);

/* Reads what was met. The pairs are to be freed. Ends the process as above. */
struct coverage hunt_coverage_read(const struct hunt_cover *cover);

/* Prints a table of the pairs that were met, and the names of the others. */
void hunt_coverage_print(const struct coverage *coverage);

/* Prints a page in HTML with all of them, which needs no other file. Title and failures are text;
 * failures: "" if none was found, else lines. */
void hunt_coverage_page(const struct coverage *coverage, const char *title, const char *failures);

/* An object with all of them, for users. */
json_t *hunt_coverage_to_json(const struct coverage *coverage);

/* An object with those that were met, for a log; adds what such an object has. Texts in it must
 * stay as long as the coverage does. */
json_t *hunt_coverage_to_log(const struct coverage *coverage);
void hunt_coverage_add(struct coverage *coverage, const json_t *logged);

#endif
