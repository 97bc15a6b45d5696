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

static void cell_write(struct doc *to, const json_t *cell)
{
    const char *wanted = field_text(json_object_get(cell, "table"), "wanted");
    const char *effect = field_text(json_object_get(repro_file_decisive(cell), "effect"), "text");
    bool refuted = repro_file_verdict(cell) == VERDICT_REFUTED;
    if (!cell)
        doc_put(to, "<td class='number range'>\342\200\223</td>");
    else if (repro_file_verdict(cell) == VERDICT_SUPPORTED)
        doc_put(to, "<td class='number'>%s</td>", wanted);
    else
        doc_put(to, "<td class='number %s'>%s %s%s<span>asked %s</span></td>",
                refuted ? "refuted" : "undecided", refuted ? "\342\234\227" : "?", effect,
                *effect ? " " : "", wanted);
}

static void grid_write(struct doc *to, const struct grid *grid)
{
    const struct expect_table *table = &grid->table;
    /* "36 of 36 cells as expected; all with beat,n=122." */
    doc_put(to, "<p class='note'>%u of %s as expected", grid->supported,
            counted(table->count, "cell").s);
    if (*table->common)
        doc_put(to, "; all with `%s`", table->common);
    doc_put(to, ".</p>");
    html_table_open(to->to, "Each cell: what was expected and measured; where these differ, both",
                    "grid");
    doc_put(to, "<thead><tr><th scope='col'>%s</th>", field_text(grid->part, "factor"));
    for (unsigned i = 0; i < table->columns; i++)
        doc_put(to, "<th scope='col'>%s</th>", *table->heads[i] ? table->heads[i] : "value");
    doc_put(to, "</tr></thead><tbody>");
    for (unsigned row = 0; row < table->rows; row++) {
        if (!expect_table_has_row(table, row))
            continue;
        doc_put(to, "<tr><th scope='row'>`%s`</th>", table->levels[row]);
        for (unsigned column = 0; column < table->columns; column++)
            cell_write(to, cell_of(grid, row * table->columns + column));
        doc_put(to, "</tr>");
    }
    doc_put(to, "</tbody>");
    html_table_close(to->to);
}

/* What undecided cells lack: each reason once, with how many of them have it. */
static void lacks_write(struct doc *to, const struct grid *grid)
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
        doc_put(to, "<p class='note'>%s: %s</p>",
                counted((uint64_t)json_integer_value(count), "cell").s, reason);
    json_decref(reasons);
}

/* Tables --------------------------------------------------------------------------------------- */

static void measured_row(struct doc *to, const json_t *place, const struct grid *grid)
{
    doc_put(to, "<tr><th scope='row' class='share'>%s</th><td class='place'>",
            repro_file_place_name(place));
    repro_mark_write(to, grid->verdict, "");
    doc_put(to, "</td><td colspan='3' class='wide'>");
    grid_write(to, grid);
    lacks_write(to, grid);
    doc_put(to, "</td></tr>");
}

static void says_row(struct doc *to, const json_t *first, unsigned count)
{
    const char *source = field_text(first, "source");
    json_int_t number = field_integer(first, "number");
    doc_put(to,
            "<tbody><tr class='says'><th scope='rowgroup' colspan='5'>%s<span class='wanted'>%s, "
            "#%lld to #%lld, each exactly%s%s</span></th></tr>",
            field_text(json_object_get(first, "table"), "says"), field_text(first, "metric"),
            number, number + count - 1, *source ? "; source: " : "", source);
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

size_t repro_page_table_write(struct doc *to, const json_t *experiment, const json_t *part,
                              size_t i)
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
            says_row(to, first, grid.table.count);
        }
        if (grid.table.count > 0)
            measured_row(to, place, &grid);
        expect_table_free(&grid.table);
    }
    if (count > 0)
        doc_put(to, "</tbody>");
    return count;
}
