/* repro_page_table.c - a table of exact values, asked and measured. See repro_page.h.
 *
 * A cell that is as expected is that one value. Of any other both stand there, behind a sign, so
 * that nobody has to compare.
 */
#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/catalogue/expect_table.h"
#include "harness/catalogue/repro_page.h"
#include "harness/report/html.h"
#include "harness/report/report_page.h"
#include "harness/repro/repro_file.h"

#include <stdlib.h>
#include <string.h>

/* One table on one machine. */
struct grid {
    struct expect_table table;
    const json_t *part;
    enum verdict verdict; /* of all cells */
    unsigned supported;
};

static const json_t *cell_of(const struct grid *grid, unsigned i)
{
    unsigned number = grid->table.numbers[i];
    return number ? repro_file_expectation(grid->part, number) : NULL;
}

static void grid_make(struct grid *grid, const json_t *part, size_t i)
{
    *grid = (struct grid){.part = part};
    expect_table_of_json(&grid->table, part, i);
    for (unsigned k = 0; k < grid->table.rows * grid->table.columns; k++) {
        const json_t *cell = cell_of(grid, k);
        if (!cell)
            continue;
        grid->verdict = verdict_join(grid->verdict, repro_file_verdict(cell));
        grid->supported += repro_file_verdict(cell) == VERDICT_SUPPORTED;
    }
}

/* Cells ---------------------------------------------------------------------------------------- */

static void cell_write(FILE *to, const json_t *cell)
{
    if (!cell) {
        html_td(to, "number range", "\342\200\223");
        return;
    }
    const json_t *column = repro_file_decisive(cell);
    const char *wanted = field_text(json_object_get(cell, "table"), "wanted");
    const char *effect = field_text(json_object_get(column, "effect"), "text");
    if (repro_file_verdict(cell) == VERDICT_SUPPORTED) {
        html_td(to, "number", wanted);
        return;
    }
    bool refuted = repro_file_verdict(cell) == VERDICT_REFUTED;
    html_open(to, "td", "class", refuted ? "number refuted" : "number undecided", NULL);
    html_format(to, "%s %s%s", refuted ? "\342\234\227" : "?", effect, *effect ? " " : "");
    html_open(to, "span", NULL);
    html_format(to, "asked %s", wanted);
    html_close(to, "span");
    html_close(to, "td");
}

static void rows_write(FILE *to, const struct grid *grid)
{
    const struct expect_table *table = &grid->table;
    html_open(to, "tbody", NULL);
    for (unsigned row = 0; row < table->rows; row++) {
        if (!expect_table_has_row(table, row))
            continue;
        html_open(to, "tr", NULL);
        html_open(to, "th", "scope", "row", NULL);
        html_element(to, "code", table->levels[row], NULL);
        html_close(to, "th");
        for (unsigned column = 0; column < table->columns; column++)
            cell_write(to, cell_of(grid, row * table->columns + column));
        html_close(to, "tr");
    }
    html_close(to, "tbody");
}

/* "36 of 36 cells as expected; all with beat,n=122." */
static void caption_write(FILE *to, const struct grid *grid)
{
    const struct expect_table *table = &grid->table;
    html_open(to, "p", "class", "note", NULL);
    html_format(to, "%u of %s as expected", grid->supported, counted(table->count, "cell").s);
    if (*table->common) {
        html_text(to, "; all with ");
        html_element(to, "code", table->common, NULL);
    }
    html_text(to, ".");
    html_close(to, "p");
}

static void grid_write(FILE *to, const struct grid *grid)
{
    const struct expect_table *table = &grid->table;
    caption_write(to, grid);
    html_table_open(to, "Each cell: what was expected and measured; where these differ, both",
                    "grid");
    html_open(to, "thead", NULL);
    html_open(to, "tr", NULL);
    html_th(to, "col", field_text(grid->part, "factor"));
    for (unsigned i = 0; i < table->columns; i++)
        html_th(to, "col", *table->heads[i] ? table->heads[i] : "value");
    html_close(to, "tr");
    html_close(to, "thead");
    rows_write(to, grid);
    html_table_close(to);
}

/* What undecided cells lack: each reason once, with how many of them have it. */
static void lacks_write(FILE *to, const struct grid *grid)
{
    json_t *reasons = json_object(), *count;
    const char *reason;
    for (unsigned i = 0; i < grid->table.rows * grid->table.columns; i++) {
        const json_t *cell = cell_of(grid, i);
        if (!cell || repro_file_verdict(cell) != VERDICT_UNDECIDED)
            continue;
        reason = field_text(repro_file_decisive(cell), "reason");
        json_int_t before = json_integer_value(json_object_get(reasons, reason));
        json_object_set_new(reasons, reason, json_integer(before + 1));
    }
    json_object_foreach(reasons, reason, count)
    {
        html_open(to, "p", "class", "note", NULL);
        html_format(to, "%s: ", counted((uint64_t)json_integer_value(count), "cell").s);
        html_prose(to, reason);
        html_close(to, "p");
    }
    json_decref(reasons);
}

/* Tables --------------------------------------------------------------------------------------- */

static void measured_row(FILE *to, const json_t *place, const struct grid *grid)
{
    html_open(to, "tr", NULL);
    html_element(to, "th", repro_file_place_name(place), "scope", "row", "class", "share", NULL);
    html_open(to, "td", "class", "place", NULL);
    repro_mark_write(to, grid->verdict, "");
    html_close(to, "td");
    html_open(to, "td", "colspan", "3", "class", "wide", NULL);
    grid_write(to, grid);
    lacks_write(to, grid);
    html_close(to, "td");
    html_close(to, "tr");
}

static void says_row(FILE *to, const json_t *first, unsigned count)
{
    const char *source = field_text(first, "source");
    long long number = field_integer(first, "number");
    html_open(to, "tr", "class", "says", NULL);
    html_open(to, "th", "scope", "rowgroup", "colspan", "5", NULL);
    html_prose(to, field_text(json_object_get(first, "table"), "says"));
    html_open(to, "span", "class", "wanted", NULL);
    html_format(to, "%s, #%lld to #%lld, each exactly%s%s", field_text(first, "metric"), number,
                number + count - 1, *source ? "; source: " : "", source);
    html_close(to, "span");
    html_close(to, "th");
    html_close(to, "tr");
}

/* Where the expectation of that number is in the part's list; the list's size if nowhere. */
static size_t index_of(const json_t *part, json_int_t number)
{
    size_t i;
    const json_t *one, *list = json_object_get(part, "expectations");
    json_array_foreach(list, i, one)
    {
        if (field_integer(one, "number") == number)
            break;
    }
    return i;
}

size_t repro_page_table_write(FILE *to, const json_t *experiment, const json_t *part, size_t i)
{
    const json_t *first = json_array_get(json_object_get(part, "expectations"), i), *place;
    struct grid grid;
    size_t k, count = 0;
    json_array_foreach(json_object_get(experiment, "machines"), k, place)
    {
        const json_t *there = repro_file_part(place, field_text(part, "id"));
        grid_make(&grid, there, index_of(there, field_integer(first, "number")));
        if (grid.table.count > 0 && count == 0) {
            count = grid.table.count;
            html_open(to, "tbody", NULL);
            says_row(to, first, grid.table.count);
        }
        if (grid.table.count > 0)
            measured_row(to, place, &grid);
        expect_table_free(&grid.table);
    }
    if (count > 0)
        html_close(to, "tbody");
    return count;
}
