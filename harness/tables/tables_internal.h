/* tables_internal.h - declarations that the writers of the run's tables share. See tables.h.
 *
 * Callers: tables.c, which reads the records and writes most tables; tables_cells.c,
 * tables_metg.c, tables_scale.c and tables_structures.c, the writers of the others. A row is one
 * record in one of its groups; sorted, the rows of a cell stand together. Everything belongs to
 * struct table.
 */
#ifndef SCHEDLAB_TABLES_INTERNAL_H
#define SCHEDLAB_TABLES_INTERNAL_H

#include "harness/evidence/comparable.h"
#include "harness/numbers/statistics.h"
#include "param.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { TABLE_REASON_SIZE = 1024 };

struct row {
    const char *group;
    json_t *record;
};

/* The rows of one cell in one group. */
struct cell_rows {
    const struct row *rows;
    size_t count;
    enum cell_class chosen; /* the samples behind its numbers */
};

struct table {
    struct row *rows;
    size_t count, rows_room;
    struct cell_rows *cells;
    size_t cells_count;
    struct comparable classes;
    json_t *plan;  /* what plan.json says of the cells (plan.h) */
    json_t *alone; /* those on one worker: key (tables_cells.c) -> number of the cell */
};

/* Fields: each ends in `end`. A missing one is NA. */
void put_text(FILE *to, const char *text, char end);
void put_integer(FILE *to, const json_t *record, const char *key, char end);
/* group variant variant_name workload workload_name */
void put_names(FILE *to, const struct row *row);

/* The same, workers cell */
void put_cell_key(FILE *to, const struct cell_rows *cell);

/* The status of a whole cell: "failed" if one sample did, else "ok" if one is, else "skipped". */
const char *cell_status(const struct cell_rows *cell);
size_t cell_count(const struct cell_rows *cell, const char *status);

/* True if the i-th sample is one of those behind the cell's numbers. */
bool cell_uses(const struct table *table, const struct cell_rows *cell, size_t i);

/* Values of one kind over samples of a cell; free() x. */
struct values {
    double *x;
    size_t n;
};
struct values values_make(const struct cell_rows *cell);
void values_add(struct values *values, double x); /* leaves out what is not finite */

/* The throughputs behind the cell's numbers. Empty unless the cell is ok: a failed cell has no
 * numbers. */
struct values cell_throughputs(const struct table *table, const struct cell_rows *cell);

/* Fills in `alone` (tables_cells.c). */
void cells_alone_index(struct table *table);

/* The speed of a cell beside one worker (tables_cells.c); NAN if there is nothing to compare
 * with. */
struct cell_speed {
    struct interval own;    /* multiple of the same variant's median at one worker */
    struct interval serial; /* multiple of the serial run's, where the run has one */
    double efficiency;      /* serial, else own, over the number of workers */
    bool against_serial;
};
struct cell_speed cell_speed(const struct table *table, const struct cell_rows *cell,
                             const struct values *values);

/* A series is the cells of one group, variant and number of workers whose workload differs in one
 * parameter alone (tables_metg.c). */

/* The properties that all of its cells have in common, the first one given; json_decref() it. */
json_t *series_key(const struct cell_rows *cell, const char *parameter);
bool series_holds(const struct cell_rows *cell, const char *parameter, const json_t *key);

/* The parameters of a workload by its name; NULL if there is none of that name here. */
const struct param *series_params(const char *name);

/* Writers of whole tables. */
void cells_write(const struct table *table, FILE *to);
void classes_write(const struct table *table, FILE *to);
void metg_write(const struct table *table, FILE *to);
void scale_write(const struct table *table, FILE *to);
void structures_write(const struct table *table, FILE *to);

#endif
