/* why_structures.h - where the misses of simulated samples were, summed by structure.
 *
 * Callers: why_table.c, tables_structures.c and verdict.c.
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

/* "11.8 more misses an operation: 10.3 on grq.lock, 0.9 on grq.list", of level 0 to 2 for L1 to L3,
 * to be freed: as many structures as make up nine tenths, three at most. NULL if no machine told,
 * or if the second cell has no more of them. */
char *why_misses_of(const json_t *fewer, const json_t *more, int level);

#endif
