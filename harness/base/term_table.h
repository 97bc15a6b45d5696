/* term_table.h - a table for a terminal: each column is as wide as its widest cell.
 *
 * Callers: all that print tables for people, in any room.
 *
 *     struct term_table *table = term_table_new(
 *         (struct term_layout){.indent = 2, .gap = 1}, TERM_COLUMNS({"name", -16}, {"ns", 9}));
 *     term_table_row(table, name, text_count(ns).s, NULL);
 *     term_table_print(table, stdout);
 *
 * Cells are UTF-8: characters count, not bytes. No line ends with blanks. Without any heading there
 * is no line of headings.
 */
#ifndef SCHEDLAB_TERM_TABLE_H
#define SCHEDLAB_TERM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How a table fits the terminal. Without fold and repeat, rows may be wider than it. */
struct term_layout {
    int indent;
    int gap;        /* blanks between columns */
    int width;      /* of the terminal; 0: no limit */
    int first_most; /* a wider cell of the first column has a line of its own; 0: no limit */
    size_t fold;    /* where rows are too wide, the column that begins a second line; 0: none */
    bool repeat;    /* columns that do not fit follow below, beside the first one again */
};

/* width: as of printf(), its least one; negative: cells begin at the left; 0: no column, but the
 * heading of the rows' texts. */
struct term_column {
    const char *heading;
    int width;
};

#define TERM_COLUMNS(...) ((const struct term_column[]){__VA_ARGS__, {NULL, 0}})

struct term_table;

/* columns: TERM_COLUMNS(), or NULL; more of them may be added before the first row. */
struct term_table *term_table_new(struct term_layout layout, const struct term_column *columns);
void term_table_column(struct term_table *table, const char *heading, int width);

/* Begins a row with these cells, up to NULL. A row may end early. */
void term_table_row(struct term_table *table, ...) __attribute__((sentinel));

/* Adds one more cell to the last row. */
void term_table_cell(struct term_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds to the row's text, which stands two blanks behind its last cell. The text may go on over the
 * columns that are left, and in further lines below itself. In a row without cells it is a line of
 * its own, not indented. */
void term_table_text(struct term_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Colours the last row; "" does not. */
void term_table_colour(struct term_table *table, const char *escape);

/* Prints the table and frees it. */
void term_table_print(struct term_table *table, FILE *to);

#endif
