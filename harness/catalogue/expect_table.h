/* expect_table.h - a table of exact values (experiment.h): levels by what is held fixed.
 *
 * Who calls: what shows expectations to people: repro_page_table.c, catalogue_table.c. A cell is
 * the number of its expectation in the part, from 1, so that file and repro.json are asked alike.
 */
#ifndef SCHEDLAB_EXPECT_TABLE_H
#define SCHEDLAB_EXPECT_TABLE_H

#include "harness/repro/experiment.h"

#include <jansson.h>

struct expect_table {
    char **levels; /* of all rows, also those without a cell */
    char **heads;  /* of the columns: only what differs between them, "every=16"; "default" where
                      nothing is left, "" where there is one column */
    char *common;  /* what they share, "beat,n=122"; "" where that is not even the name */
    unsigned rows, columns;
    unsigned *numbers; /* [row * columns + column]; 0: nothing is expected there */
    unsigned first, count;
};

/* The table that the part's i-th expectation begins, from 0; count is 0 if it is of none.
 * expect_table_free() it in any case. */
void expect_table_of_part(struct expect_table *table, const struct experiment_part *part,
                          unsigned i);

/* Likewise of a part in repro.json (repro_file.h); i: in its list of expectations. */
void expect_table_of_json(struct expect_table *table, const json_t *part, size_t i);

void expect_table_free(struct expect_table *table);

/* Whether the row has a cell. */
bool expect_table_has_row(const struct expect_table *table, unsigned row);

#endif
