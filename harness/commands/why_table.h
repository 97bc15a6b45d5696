/* why_table.h - what `schedlab run --why` prints: where the misses of each variant were.
 *
 * Callers: cmd_run.c, after the usual tables. All numbers are sums over a variant's repetitions,
 * so that those of its structures add up to its whole.
 */
#ifndef SCHEDLAB_WHY_TABLE_H
#define SCHEDLAB_WHY_TABLE_H

#include "harness/commands/run_rows.h"

#include <stdio.h>

/* Per variant the structures with most stall time, and the lines of the source. */
void why_table_print(const struct run_table *table, FILE *to);

#endif
