/* compare_side.h - one side of a comparison: some cells of a run.
 *
 * Callers: compare.c and cmd_compare.c; bench.c and audit.c, with records that they part. A
 * side is written
 *
 *     RUN[:KEY=VALUE[/KEY=VALUE]...]
 *
 * where RUN is a run's folder, and the part behind the colon keeps only the cells for which all of
 * it holds. VALUE may have commas, as specifications do: `RUN:variant=gmp,runnext=off/workers=2`.
 * The same KEY twice means either VALUE. KEY is one of
 *
 *     variant       a canonical specification, the whole of it: gmp is not gmp,tick=64
 *     variant_name  its name alone
 *     workload      a specification; a name alone means any parameters
 *     workers       a number
 *     group         one of the groups that hold the cell
 *     a knob or a parameter, by its name, whether or not it has its default
 *     another key of a record that is a word or a number: side, revision, machine, allocator
 */
#ifndef SCHEDLAB_COMPARE_SIDE_H
#define SCHEDLAB_COMPARE_SIDE_H

#include "harness/base/error.h"
#include "harness/records/records.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct compare_term {
    char *key, *value;
};

/* The measurements of one cell in a run. The texts belong to its records. */
struct compare_cell {
    const char *variant, *workload, *machine, *status;
    int workers;
    json_t *records; /* array, in the order of measuring */
    char *key;       /* what its partner has the same; see compare_sides_pair() */
};

struct compare_side {
    char *label;   /* as the user wrote it */
    char *run_dir; /* NULL if the records came from elsewhere */
    struct compare_term *terms;
    size_t terms_count;
    json_t *records;           /* all that the filter keeps */
    struct record_flaws flaws; /* of the whole run */
    json_t *environment;       /* an object, empty if there is none */
    char *environment_problem; /* why it is empty; NULL if it is not, or was not read from a run */
    struct compare_cell *cells;
    size_t count;
};

/* Reads the side that text names. False, nothing to free and one line in error if there is no such
 * run, the filter is malformed or names a key that no record has, or no cell is left. */
bool compare_side_load(struct compare_side *side, const char *text, struct error *error);

/* A side of the records that have this value at this key; all of them if key is NULL. Never
 * fails; a side may be empty. records and environment stay the caller's too. */
void compare_side_of_records(struct compare_side *side, const char *label, json_t *records,
                             const char *key, const char *value, json_t *environment);

void compare_side_free(struct compare_side *side);

/* Gives all cells their keys: two cells are partners if their keys are equal. A key is variant,
 * workload, workers and machine, without the parts that the filters of both sides name. each:
 * without those that A's filter names, so that a cell of A may have several partners in B. With
 * variant=gmp and variant=grq the user wants to compare the two; likewise, a filter on the
 * allocator takes the setting malloc out of the key. If cells of one side differ only in what they
 * count, the names of their events belong to the keys too. False and one line in error if two cells
 * of one side have the same key. */
bool compare_sides_pair(struct compare_side *a, struct compare_side *b, bool each,
                        struct error *error);

#endif
