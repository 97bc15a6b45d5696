/* hunt_switches.h - the switches of an execution, with the places in the source of both sides. */
#ifndef SCHEDLAB_HUNT_SWITCHES_H
#define SCHEDLAB_HUNT_SWITCHES_H

#include "harness/sample/source_line.h"
#include "hunt/hunt.h"

#include <jansson.h>
#include <stdio.h>

/* One line; lines may be NULL, and then it has no places. */
void hunt_switch_print(FILE *to, struct source_lines *lines, const struct hunt_switch *at);

/* The same as an object, owned by the caller. */
json_t *hunt_switch_to_json(struct source_lines *lines, const struct hunt_switch *at);

/* All switches of a failure. */
void hunt_switches_print(const struct hunt_outcome *failure);

#endif
