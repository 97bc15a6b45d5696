/* why_table.h - prints where the misses of each variant were, for `schedlab run --why`.
 *
 * Callers: cmd_run.c, after the usual tables. All numbers are sums over a variant's repetitions,
 * so that those of its structures add up to its whole.
 */
#ifndef SCHEDLAB_WHY_TABLE_H
#define SCHEDLAB_WHY_TABLE_H

#include "harness/run/run_rows.h"

#include <stdio.h>

/* Prints for each variant the structures with most stall time, and the lines of the source. */
void why_table_print(const struct run_table *table, FILE *to);

#endif
