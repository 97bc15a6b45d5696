/* catalogue_table.c - a table of exact values, in Markdown. See catalogue.h.
 *
 * The grid holds what is expected. A cell that the reference did not find so says on which machine,
 * and what was there instead.
 */
#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/catalogue/catalogue.h"
#include "harness/catalogue/expect_table.h"
#include "harness/repro/repro_file.h"

#include <stdlib.h>

size_t catalogue_table_row(FILE *to, const struct experiment_part *part, unsigned i)
{
    const struct experiment_expect *first = &part->expect[i];
    struct expect_table table;
    expect_table_of_part(&table, part, i);
    size_t count = table.count;
    if (count > 0) {
        fprintf(to, "| %u to %u | ", table.first, table.first + table.count - 1);
        catalogue_text(to, first->table_says);
        fputs(" | ", to);
        catalogue_code(to, first->metric ? first->metric : part->metric);
        fprintf(to, " of %s | exactly, in the table below | ", counted(count, "cell").s);
        catalogue_text(to, first->source ? first->source : "");
        fputs(" |\n", to);
    }
    expect_table_free(&table);
    return count;
}

/* "61 (**refuted** on native: 60)" */
static void misses_write(FILE *to, const json_t *reference, const char *part, unsigned number)
{
    size_t i;
    const json_t *place;
    json_array_foreach(json_object_get(reference, "machines"), i, place)
    {
        const json_t *cell = repro_file_expectation(repro_file_part(place, part), number);
        enum verdict verdict = repro_file_verdict(cell);
        if (verdict == VERDICT_NONE || verdict == VERDICT_SUPPORTED)
            continue;
        const json_t *effect = json_object_get(repro_file_decisive(cell), "effect");
        const char *text = field_text(effect, "text");
        fputs(" (", to);
        catalogue_verdict(to, verdict);
        fprintf(to, " on %s%s", repro_file_place_name(place), *text ? ": " : "");
        catalogue_text(to, text);
        fputc(')', to);
    }
}

static void grid_write(FILE *to, const json_t *reference, const struct experiment_part *part,
                       const struct expect_table *table)
{
    fputs("| ", to);
    catalogue_code(to, experiment_factor_name(part));
    fputs(" |", to);
    for (unsigned i = 0; i < table->columns; i++) {
        fputc(' ', to);
        catalogue_text(to, *table->heads[i] ? table->heads[i] : "value");
        fputs(" |", to);
    }
    fputs("\n|---|", to);
    for (unsigned i = 0; i < table->columns; i++)
        fputs("---:|", to);
    fputc('\n', to);
    for (unsigned row = 0; row < table->rows; row++) {
        if (!expect_table_has_row(table, row))
            continue;
        fputs("| ", to);
        catalogue_code(to, table->levels[row]);
        fputs(" |", to);
        for (unsigned column = 0; column < table->columns; column++) {
            unsigned number = table->numbers[row * table->columns + column];
            fputc(' ', to);
            catalogue_text(to, number ? part->expect[number - 1].exactly : "\342\200\223");
            if (number)
                misses_write(to, reference, part->id, number);
            fputs(" |", to);
        }
        fputc('\n', to);
    }
}

void catalogue_tables_write(FILE *to, const json_t *reference, const struct experiment_part *part)
{
    for (unsigned i = 0; i < part->expect_count; i++) {
        struct expect_table table;
        expect_table_of_part(&table, part, i);
        if (table.count > 0) {
            fprintf(to, "\n#%u to #%u, ", table.first, table.first + table.count - 1);
            catalogue_text(to, part->expect[i].table_says);
            if (*table.common) {
                fputs("; all with ", to);
                catalogue_code(to, table.common);
            }
            fputs(":\n\n", to);
            grid_write(to, reference, part, &table);
            i += table.count - 1;
        }
        expect_table_free(&table);
    }
}

size_t catalogue_table_measured(FILE *to, const json_t *place, const json_t *part, size_t i)
{
    const json_t *list = json_object_get(part, "expectations"), *first = json_array_get(list, i);
    struct expect_table table;
    enum verdict verdict = VERDICT_NONE;
    size_t supported = 0;
    expect_table_of_json(&table, part, i);
    size_t count = table.count;
    for (size_t k = i; k < i + count; k++) {
        enum verdict one = repro_file_verdict(json_array_get(list, k));
        verdict = verdict_join(verdict, one);
        supported += one == VERDICT_SUPPORTED;
    }
    if (count > 0) {
        long long number = field_integer(first, "number");
        fprintf(to, "| %lld to %lld | %s | ", number, number + (long long)count - 1,
                repro_file_place_name(place));
        catalogue_verdict(to, verdict);
        fprintf(to, " | %zu of %s as expected | |\n", supported, counted(count, "cell").s);
    }
    expect_table_free(&table);
    return count;
}
