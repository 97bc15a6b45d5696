/* hunt_coverage.h - tells which pairs of memory-order labels a hunt has met (hunt/coverage.h).
 *
 * Callers: hunt_main.c. Both end the process with one line if the program has no debug information;
 * command stands before it.
 */
#ifndef SCHEDLAB_HUNT_COVERAGE_TABLE_H
#define SCHEDLAB_HUNT_COVERAGE_TABLE_H

#include "harness/hunt/coverage.h"

#include <jansson.h>

/* Prints a table of the pairs that were met, and the names of the others. */
void hunt_coverage_print(const struct hunt_cover *cover, const char *command);

/* An object with all of them. */
json_t *hunt_coverage_to_json(const struct hunt_cover *cover, const char *command);

#endif
