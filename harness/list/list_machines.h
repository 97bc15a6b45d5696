/* list_machines.h - what `schedlab list` says of simulated machines.
 *
 * Callers: cmd_list.c.
 */
#ifndef SCHEDLAB_LIST_MACHINES_H
#define SCHEDLAB_LIST_MACHINES_H

#include "harness/base/error.h"
#include "harness/list/list_page.h"

#include <jansson.h>
#include <stdbool.h>

/* All models of harness/machines; false, and one line in error, if one cannot be read.
 * The array is owned by the caller; NULL likewise. */
bool list_machines_print(struct list_page *page, struct error *error);
json_t *list_machines_to_json(struct error *error);

/* One machine, by its specification: each key with its value, and where that is from. */
bool list_machine_print(const struct list_page *page, const char *spec, struct error *error);
json_t *list_machine_to_json(const char *spec, struct error *error);

#endif
