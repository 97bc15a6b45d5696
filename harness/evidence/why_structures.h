/* why_structures.h - where the misses of simulated samples were, summed by structure.
 *
 * Callers: why_table.c and tables_structures.c.
 */
#ifndef SCHEDLAB_WHY_STRUCTURES_H
#define SCHEDLAB_WHY_STRUCTURES_H

#include <jansson.h>
#include <stddef.h>

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

#endif
