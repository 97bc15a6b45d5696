/* report_tsv.c - see report_tsv.h. */
#include "harness/answers/report_tsv.h"

#include "harness/base/files.h"
#include "harness/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_char(const char *text, char wanted)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == wanted;
    return n;
}

/* Cuts the text into cells; false if a row is too short or too long, *row then says which. */
static bool cut(struct tsv *tsv, size_t *row)
{
    char *rest = tsv->text, *line;
    for (*row = 0; (line = strsep(&rest, "\n")) != NULL && (*line || rest); ++*row) {
        size_t column = 0;
        char *cell;
        while ((cell = strsep(&line, "\t")) != NULL) {
            if (column == tsv->columns)
                return false;
            tsv->cells[*row * tsv->columns + column++] = cell;
        }
        if (column < tsv->columns)
            return false;
    }
    tsv->rows = *row;
    return true;
}

bool tsv_load(struct tsv *tsv, const char *path, struct error *error)
{
    *tsv = (struct tsv){.text = file_read(path, NULL, error)};
    if (!tsv->text)
        return false;
    char *first_end = strchrnul(tsv->text, '\n');
    char kept = *first_end;
    *first_end = '\0';
    tsv->columns = count_char(tsv->text, '\t') + 1;
    *first_end = kept;
    size_t lines = count_char(tsv->text, '\n') + 1, row;
    tsv->cells = xcalloc(lines * tsv->columns, sizeof *tsv->cells);
    if (cut(tsv, &row))
        return true;
    error_print(error, "%s:%zu: has not the %zu columns of the header", path, row + 1,
                tsv->columns);
    tsv_free(tsv);
    return false;
}

void tsv_free(struct tsv *tsv)
{
    free(tsv->text);
    free(tsv->cells);
    *tsv = (struct tsv){0};
}

const char *tsv_text(const struct tsv *tsv, size_t row, const char *column)
{
    for (size_t i = 0; i < tsv->columns && tsv->rows > 0; i++) {
        if (strcmp(tsv->cells[i], column) != 0)
            continue;
        const char *text = tsv->cells[row * tsv->columns + i];
        return strcmp(text, "NA") == 0 ? NULL : text;
    }
    return NULL;
}

const char *tsv_text_or(const struct tsv *tsv, size_t row, const char *column, const char *other)
{
    const char *text = tsv_text(tsv, row, column);
    return text ? text : other;
}

bool tsv_has(const struct tsv *tsv, const char *column, const char *text)
{
    for (size_t row = 1; row < tsv->rows; row++)
        if (strcmp(tsv_text_or(tsv, row, column, ""), text) == 0)
            return true;
    return false;
}

double tsv_number(const struct tsv *tsv, size_t row, const char *column)
{
    const char *text = tsv_text(tsv, row, column);
    char *end;
    double number = text ? strtod(text, &end) : NAN;
    return text && *text && !*end ? number : NAN;
}

struct interval tsv_interval(const struct tsv *tsv, size_t row, const char *median, const char *lo,
                             const char *hi)
{
    double n = tsv_number(tsv, row, "n");
    return (struct interval){
        .median = tsv_number(tsv, row, median),
        .lo = tsv_number(tsv, row, lo),
        .hi = tsv_number(tsv, row, hi),
        .n = isfinite(n) && n > 0 ? (size_t)n : 0,
    };
}
