/* hunt_table.h - what a campaign has found, by cells. Each returns true if an execution failed. */
#ifndef SCHEDLAB_HUNT_TABLE_H
#define SCHEDLAB_HUNT_TABLE_H

#include "harness/records/hunt_log.h"

#include <stdbool.h>

bool hunt_table_print(const struct hunt_log *log);
bool hunt_table_json(const struct hunt_log *log);
bool hunt_table_page(const struct hunt_log *log,
                     const char *folder); /* its coverage and failures, in HTML */

#endif
