/* sweep_expect.h - the key `expect` of a group: numbers that were measured elsewhere, to compare
 * with.
 *
 * Callers: sweep_file.c.
 */
#ifndef SCHEDLAB_SWEEP_EXPECT_H
#define SCHEDLAB_SWEEP_EXPECT_H

#include "harness/plan/sweep_schema.h"

/* Checks the group's expectations, fills in keys that are left out, and makes numbers of the texts.
 * pre: the group's variants, workloads and events are canonical. False after a complaint. */
bool sweep_expect_check(const struct yaml_reader *reader, const struct sweep_file *sweep,
                        unsigned g);

#endif
