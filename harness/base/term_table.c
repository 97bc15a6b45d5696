/* term_table.c - see term_table.h. */
#include "harness/base/term_table.h"

#include "harness/base/memory.h"
#include "harness/base/wrap.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_GAP = 2, FOLD_INDENT = 4 };

struct row {
    const char *colour;
    char **cells;
    size_t count;
    char *text; /* behind the cells; NULL: none */
};

struct column {
    int width;
    bool is_left;
};

struct term_table {
    struct term_layout layout;
    struct column *columns;
    size_t count;
    struct row *rows; /* the first one has the headings */
    size_t rows_count, rows_room;
};

static struct row *last(struct term_table *table)
{
    return &table->rows[table->rows_count - 1];
}

static int cell_width(const char *cell)
{
    return text_columns(cell, (int)strlen(cell));
}

/* Takes the text over, and widens its column. */
static void cell_add(struct term_table *table, char *text)
{
    struct row *row = last(table);
    const struct term_layout *layout = &table->layout;
    size_t at = row->count;
    int width = cell_width(text);
    if (at >= table->count)
        abort(); /* a row has no more cells than there are columns */
    bool apart = at == 0 && layout->first_most > 0 && width > layout->first_most;
    array_add(row->cells, row->count) = text;
    if (!apart && width > table->columns[at].width)
        table->columns[at].width = width;
}

struct term_table *term_table_new(struct term_layout layout, const struct term_column *columns)
{
    struct term_table *table = xcalloc(1, sizeof *table);
    table->layout = layout;
    term_table_row(table, NULL);
    for (; columns && columns->heading; columns++)
        term_table_column(table, columns->heading, columns->width);
    return table;
}

void term_table_column(struct term_table *table, const char *heading, int width)
{
    if (width == 0) {
        term_table_text(table, "%s", heading);
        return;
    }
    array_add(table->columns, table->count) = (struct column){abs(width), width < 0};
    cell_add(table, xstrdup(heading));
}

void term_table_row(struct term_table *table, ...)
{
    const char *cell;
    va_list cells;
    array_push(table->rows, table->rows_count, table->rows_room) = (struct row){.colour = ""};
    va_start(cells, table);
    while ((cell = va_arg(cells, const char *)))
        cell_add(table, xstrdup(cell));
    va_end(cells);
}

void term_table_cell(struct term_table *table, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    cell_add(table, text_format_list(format, arguments));
    va_end(arguments);
}

void term_table_text(struct term_table *table, const char *format, ...)
{
    va_list arguments;
    char *before = last(table)->text;
    va_start(arguments, format);
    char *text = text_format_list(format, arguments);
    va_end(arguments);
    last(table)->text = text_format("%s%s", before ? before : "", text);
    free(before);
    free(text);
}

void term_table_colour(struct term_table *table, const char *escape)
{
    last(table)->colour = escape;
}

/* Printing ------------------------------------------------------------------------------------ */

/* A column has been printed up to `at`, and blanks are owed until something follows. */
struct line {
    FILE *to;
    int at, blanks;
    bool owes_newline; /* before what follows */
};

static void line_put(struct line *line, const char *text)
{
    if (!*text)
        return;
    if (line->owes_newline)
        fputc('\n', line->to);
    line->owes_newline = false;
    fprintf(line->to, "%*s%s", line->blanks, "", text);
    line->at += line->blanks + cell_width(text);
    line->blanks = 0;
}

static void line_next(struct line *line, int blanks)
{
    line->owes_newline = true;
    line->at = 0;
    line->blanks = blanks;
}

static void cell_put(struct line *line, const char *cell, const struct column *column)
{
    int rest = column->width - cell_width(cell), before = line->blanks;
    if (rest < 0) { /* it has a line of its own */
        line_put(line, cell);
        line_next(line, before + column->width);
        return;
    }
    line->blanks += column->is_left ? 0 : rest;
    line_put(line, cell);
    line->blanks += column->is_left ? rest : 0;
}

static void text_put(struct line *line, const struct term_table *table, const char *text)
{
    int width = table->layout.width;
    if (width == 0 || !*text) {
        line_put(line, text);
        fputc('\n', line->to);
        return;
    }
    fprintf(line->to, "%s%*s", line->owes_newline ? "\n" : "", line->blanks, "");
    line->at += line->blanks;
    text_wrap(line->to, line->at, line->at, width, text);
}

/* The columns [from, end) of a row, and the first one. */
static void row_print(const struct term_table *table, const struct row *row, size_t from,
                      size_t end, bool is_folded, FILE *to)
{
    const struct term_layout *layout = &table->layout;
    struct line line = {.to = to};
    fputs(row->colour, to);
    for (size_t i = 0; i < row->count && i < end; i++) {
        if (i > 0 && i < from)
            continue;
        line.blanks += i > 0 ? layout->gap : layout->indent;
        if (is_folded && i == layout->fold)
            line_next(&line, FOLD_INDENT);
        cell_put(&line, row->cells[i], &table->columns[i]);
    }
    const char *reset = *row->colour ? "\033[0m" : "";
    if (row->text) {
        line.blanks += row->count > 0 ? TEXT_GAP : 0;
        text_put(&line, table, row->text);
        fputs(reset, to);
    } else {
        fprintf(to, "%s\n", reset);
    }
}

/* The columns from this one on that fit beside the first one, and one at least. */
static size_t block_end(const struct term_table *table, size_t from)
{
    size_t end = from;
    const struct term_layout *layout = &table->layout;
    int width = layout->indent + table->columns[0].width;
    if (!layout->repeat)
        return table->count;
    while (end < table->count) {
        width += layout->gap + table->columns[end].width;
        if (end > from && width > layout->width)
            break;
        end++;
    }
    return end;
}

static bool is_too_wide(const struct term_table *table)
{
    int width = table->layout.indent - table->layout.gap;
    for (size_t i = 0; i < table->count; i++)
        width += table->layout.gap + table->columns[i].width;
    return width > table->layout.width;
}

static bool has_headings(const struct term_table *table)
{
    const struct row *headings = &table->rows[0];
    bool any = headings->text != NULL;
    for (size_t i = 0; i < headings->count; i++)
        any = any || *headings->cells[i];
    return any;
}

static void table_free(struct term_table *table)
{
    for (size_t i = 0; i < table->rows_count; i++) {
        for (size_t k = 0; k < table->rows[i].count; k++)
            free(table->rows[i].cells[k]);
        free(table->rows[i].cells);
        free(table->rows[i].text);
    }
    free(table->rows);
    free(table->columns);
    free(table);
}

void term_table_print(struct term_table *table, FILE *to)
{
    bool is_folded = table->layout.fold > 0 && is_too_wide(table);
    size_t from = 1, end;
    do {
        end = block_end(table, from);
        fputs(from > 1 ? "\n" : "", to);
        for (size_t i = has_headings(table) ? 0 : 1; i < table->rows_count; i++)
            row_print(table, &table->rows[i], from, end, is_folded, to);
        from = end;
    } while (from < table->count);
    table_free(table);
}
