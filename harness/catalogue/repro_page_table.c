/* repro_page_table.c - a table of exact values, asked and measured. See repro_page.h.
 *
 * A cell that is as expected shows that one value. Any other cell shows both values behind a sign,
 * so that readers need not compare.
 */
#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/catalogue/repro_page.h"
#include "harness/doc/html.h"
#include "harness/repro/repro_file.h"

/* Cells ---------------------------------------------------------------------------------------- */

static void cell_write(struct doc *to, const void *part, unsigned number)
{
    const json_t *cell = number ? repro_file_expectation(part, number) : NULL;
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

/* "36 of 36 cells as expected; all with beat,n=122." over the grid. */
static void grid_write(struct doc *to, const struct expect_table *table, const json_t *part)
{
    doc_put(to, "<p class='note'>%u of %s as expected", table->supported,
            counted(table->count, "cell").s);
    if (*table->common)
        doc_put(to, "; all with `%s`", table->common);
    doc_put(to, ".</p>");
    html_table_open(to->to, "Each cell: what was expected and measured; where these differ, both",
                    "grid");
    block_grid(to, table, field_text(part, "factor"), cell_write, part);
    html_table_close(to->to);
}

/* The reasons why cells are undecided: each once, with the number of cells that have it. */
static void lacks_write(struct doc *to, const struct expect_table *table, const json_t *part)
{
    json_t *reasons = json_object(), *count;
    const char *reason;
    for (unsigned i = 0; i < table->rows * table->columns; i++) {
        const json_t *cell = repro_file_expectation(part, table->numbers[i]);
        if (!repro_file_lacks(cell))
            continue;
        reason = field_text(repro_file_decisive(cell), "reason");
        json_int_t before = field_integer(reasons, reason);
        json_object_set_new(reasons, reason, json_integer(before + 1));
    }
    json_object_foreach(reasons, reason, count)
        doc_put(to, "<p class='note'>%s: %s</p>",
                counted((uint64_t)json_integer_value(count), "cell").s, reason);
    json_decref(reasons);
}

/* Tables --------------------------------------------------------------------------------------- */

static void says_row(struct doc *to, const json_t *first, const struct expect_table *table)
{
    const char *source = field_text(first, "source");
    doc_put(to,
            "<tbody><tr class='says'><th scope='rowgroup' colspan='5'>%s<span class='wanted'>%s: "
            "`%s`, #%u to #%u, each exactly%s%s</span></th></tr>",
            field_text(json_object_get(first, "table"), "says"), repro_file_role(first),
            field_text(first, "metric"), table->first, table->last, *source ? "; source: " : "",
            source);
}

static void measured_row(struct doc *to, const json_t *place, const json_t *part,
                         const struct expect_table *table)
{
    doc_put(to, "<tr><th scope='row' class='share'>%s</th><td class='place'>",
            repro_file_place_name(place));
    block_mark(to, table->told, "");
    doc_put(to, "</td><td colspan='3' class='wide'>");
    grid_write(to, table, part);
    lacks_write(to, table, part);
    doc_put(to, "</td></tr>");
}

/* The place of the expectation with that number in the part's list; the list's size if there is
 * none. */
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
    const json_t *first = json_array_get(json_object_get(part, "expectations"), i);
    struct expect_table table;
    size_t count = 0;
    json_each(place, json_object_get(experiment, "machines")) {
        const json_t *there = repro_file_part(place, field_text(part, "id"));
        expect_table_make(&table, there, index_of(there, field_integer(first, "number")));
        if (table.count > 0 && count == 0) {
            count = table.count;
            says_row(to, first, &table);
        }
        if (table.count > 0)
            measured_row(to, place, there, &table);
        expect_table_free(&table);
    }
    if (count > 0)
        doc_put(to, "</tbody>");
    return count;
}
