/* list_name.h - `schedlab list NAME`: one name whole, in each of its roles.
 *
 * Callers: cmd_list.c. A name is a variant, a preset, a workload, a knob, a parameter, or an event
 * with or without the prefix of the program's own.
 */
#ifndef SCHEDLAB_LIST_NAME_H
#define SCHEDLAB_LIST_NAME_H

#include "harness/base/error.h"
#include "harness/base/suggest.h"
#include "harness/list/list_page.h"

#include <jansson.h>

/* {name, roles: [{role, ...}]}; roles is empty for a name that nothing has. NULL and one line in
 * error if a file that came with the program cannot be read. Owned by the caller. */
json_t *list_name_to_json(const char *name, struct error *error);

/* Prints that object. */
void list_name_print(const struct list_page *page, const json_t *object);

/* Offers every name that list_name_to_json() knows. */
void list_names_offer(struct suggest *suggest);

#endif
