/* facts.h - what is in an imported trace, for people and for programs.
 *
 * Callers: cmd_import.c.
 */
#ifndef SCHEDLAB_FACTS_H
#define SCHEDLAB_FACTS_H

#include "harness/programs/import.h"

#include <jansson.h>
#include <stdio.h>

void facts_print(const struct import_facts *facts, FILE *to);

/* Owned by the caller. */
json_t *facts_to_json(const struct import_facts *facts);

#endif
