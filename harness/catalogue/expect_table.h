/* expect_table.h - a table of exact values (experiment.h): levels by fixed values.
 *
 * Callers: files that show expectations to people: blocks.c, repro_page_table.c, catalogue_table.c.
 * A cell is the number of its expectation in the part, from 1.
 */
#ifndef SCHEDLAB_EXPECT_TABLE_H
#define SCHEDLAB_EXPECT_TABLE_H

#include "harness/repro/verdict.h"

#include <jansson.h>

struct expect_table {
    char **levels; /* of all rows, also those without a cell */
    char **heads;  /* of the columns: only the differences between them, "every=16"; "default" if
                    * nothing is left, "" if there is one column */
    char *common;  /* the part that they share, "beat,n=122"; "" if they differ even in the name */
    unsigned rows, columns;
    unsigned *numbers; /* [row * columns + column]; 0: nothing is expected there */
    unsigned first, last, count;
    enum verdict verdict; /* of all cells; NONE where they are not judged */
    const char *told;     /* how they came out (outcome.h); of the record */
    unsigned supported;   /* how many cells are */
};

/* Makes the table that begins with the part's i-th expectation, from 0; count is 0 if none begins
 * there. The part is as in repro.json (repro_file.h), judged or not. expect_table_free() it in any
 * case. */
void expect_table_make(struct expect_table *table, const json_t *part, size_t i);
void expect_table_free(struct expect_table *table);

/* True if the row has a cell. */
bool expect_table_has_row(const struct expect_table *table, unsigned row);

#endif
