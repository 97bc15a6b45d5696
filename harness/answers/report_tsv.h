/* report_tsv.h - reads the run's .tsv files.
 *
 * Callers: report_data.c. A table is read whole; its texts are valid until tsv_free().
 */
#ifndef SCHEDLAB_REPORT_TSV_H
#define SCHEDLAB_REPORT_TSV_H

#include "harness/base/error.h"
#include "harness/numbers/statistics.h"

#include <stdbool.h>
#include <stddef.h>

struct tsv {
    char *text; /* of all cells */
    char **cells;
    size_t columns, rows; /* the header is row 0 */
};

/* False, nothing to free and one line in error if the file cannot be read, or a row has not as many
 * cells as the header. */
bool tsv_load(struct tsv *tsv, const char *path, struct error *error);
void tsv_free(struct tsv *tsv);

/* The cell of a row from 1 on, by the name of its column; NULL for NA and for a column that is not
 * there. */
const char *tsv_text(const struct tsv *tsv, size_t row, const char *column);
/* The same, and other in place of NULL. */
const char *tsv_text_or(const struct tsv *tsv, size_t row, const char *column, const char *other);

/* True if a row has the text in that column. */
bool tsv_has(const struct tsv *tsv, const char *column, const char *text);

/* The number of a cell; NAN if it is none. */
double tsv_number(const struct tsv *tsv, size_t row, const char *column);

/* A median and its interval from three columns; n from column "n" where there is one. */
struct interval tsv_interval(const struct tsv *tsv, size_t row, const char *median, const char *lo,
                             const char *hi);

#endif
