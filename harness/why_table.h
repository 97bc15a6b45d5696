/* why_table.h - what `schedlab run --why` prints: where the misses of each variant were.
 *
 * Who calls: cmd_run.c, after the usual tables. All numbers are sums over a variant's repetitions,
 * so that those of its structures add up to its whole.
 */
#ifndef SCHEDLAB_WHY_TABLE_H
#define SCHEDLAB_WHY_TABLE_H

#include "harness/run_table.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* One structure, of some records together. */
struct why_structure {
    const char *name;                   /* of a record */
    double misses[3];                   /* L1, L2, L3; per operation, as all that follows */
    double true_sharing, false_sharing; /* of those of L1 */
    double upgrades, stall_ns;
};

/* The structures of all records that are ok, the most stalled first; *list is to be freed. Returns
 * how many; 0 where no machine told. *total_ns: stall per operation, of all of them. */
size_t why_structures(const json_t *records, struct why_structure **list, double *total_ns);

/* Per variant the structures with most stall time, and the lines of the source. */
void why_table_print(const struct run_table *table, FILE *to);

#endif
