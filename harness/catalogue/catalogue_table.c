/* catalogue_table.c - a table of exact values. See catalogue.h.
 *
 * The grid holds what is expected. A cell that the reference did not find so says on which machine,
 * and what was there instead.
 */
#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/catalogue/blocks.h"
#include "harness/catalogue/catalogue.h"
#include "harness/repro/repro_file.h"

size_t catalogue_table_row(struct doc *to, const json_t *part, size_t i)
{
    const json_t *first = json_array_get(json_object_get(part, "expectations"), i);
    struct expect_table table;
    expect_table_make(&table, part, i);
    size_t count = table.count;
    if (count > 0)
        doc_put(to,
                "<tr><td>%u to %u</td><td>%s</td><td>%s</td><td>`%s` of %s</td>"
                "<td>exactly, in the table below</td><td>%s</td></tr>",
                table.first, table.last, repro_file_role(first),
                field_text(json_object_get(first, "table"), "says"), field_text(first, "metric"),
                counted(count, "cell").s, field_text(first, "source"));
    expect_table_free(&table);
    return count;
}

struct grid {
    const json_t *reference, *part;
};

/* "61 (**refuted** on native: 60)" */
static void cell_write(struct doc *to, const void *arg, unsigned number)
{
    const struct grid *grid = arg;
    const json_t *expected = repro_file_expectation(grid->part, number);
    doc_put(to, "<td>%s",
            expected ? field_text(json_object_get(expected, "table"), "wanted") : "\342\200\223");
    json_each(place, json_object_get(grid->reference, "machines")) {
        const json_t *there = repro_file_part(place, field_text(grid->part, "id"));
        const json_t *cell = repro_file_expectation(there, number);
        enum verdict verdict = repro_file_verdict(cell);
        if (verdict == VERDICT_NONE || verdict == VERDICT_SUPPORTED)
            continue;
        const json_t *effect = json_object_get(repro_file_decisive(cell), "effect");
        const char *text = field_text(effect, "text");
        doc_put(to, " (");
        block_mark(to, repro_file_told(cell), "");
        doc_put(to, " on %s%s%s)", repro_file_place_name(place), *text ? ": " : "", text);
    }
    doc_put(to, "</td>");
}

void catalogue_tables_write(struct doc *to, const json_t *reference, const json_t *part)
{
    const json_t *expectations = json_object_get(part, "expectations");
    const struct grid grid = {reference, part};
    for (size_t i = 0; i < json_array_size(expectations); i++) {
        const json_t *first = json_object_get(json_array_get(expectations, i), "table");
        struct expect_table table;
        expect_table_make(&table, part, i);
        if (table.count > 0) {
            doc_put(to, "\n#%u to #%u, %s", table.first, table.last, field_text(first, "says"));
            if (*table.common)
                doc_put(to, "; all with `%s`", table.common);
            doc_put(to, ":\n\n");
            block_grid(to, &table, field_text(part, "factor"), cell_write, &grid);
            i += table.count - 1;
        }
        expect_table_free(&table);
    }
}

size_t catalogue_table_measured(struct doc *to, const json_t *place, const json_t *part, size_t i)
{
    struct expect_table table;
    expect_table_make(&table, part, i);
    size_t count = table.count;
    if (count > 0) {
        doc_put(to, "| %u to %u | %s | ", table.first, table.last, repro_file_place_name(place));
        block_mark(to, table.told, "");
        doc_put(to, " | %u of %s as expected | |\n", table.supported, counted(count, "cell").s);
    }
    expect_table_free(&table);
    return count;
}
