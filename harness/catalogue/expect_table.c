/* expect_table.c - see expect_table.h. */
#include "harness/catalogue/expect_table.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/repro/repro_file.h"

#include <stdlib.h>
#include <string.h>

/* The axes of a part in the order of its columns (experiment_column()); the factor's has one value,
 * NULL, which no head names. */
enum { AXES = 3 };
struct axis {
    char **values;
    unsigned count;
};

/* factor: the axis's name as one; its values are then none of a column. */
static struct axis axis_of(const json_t *part, const char *list, const char *factor)
{
    const json_t *values = json_object_get(part, list);
    bool is_factor = strcmp(field_text(part, "factor"), factor) == 0;
    unsigned count = is_factor ? 0 : (unsigned)json_array_size(values);
    struct axis axis = {.values = xcalloc(count + 1, sizeof(char *)), .count = count ? count : 1};
    for (unsigned i = 0; i < count; i++) {
        const json_t *value = json_array_get(values, i);
        const char *text = json_string_value(value);
        axis.values[i] = xstrdup(json_is_integer(value)
                                     ? counted((uint64_t)json_integer_value(value), "worker").s
                                 : text ? text
                                        : "");
    }
    return axis;
}

/* Heads ---------------------------------------------------------------------------------------- */

/* True if the text has that piece between commas. */
static bool has_piece(const char *text, const char *piece, size_t length)
{
    while (text) {
        if (strncmp(text, piece, length) == 0 && (text[length] == ',' || !text[length]))
            return true;
        text = strchr(text, ',');
        text += text != NULL;
    }
    return false;
}

static bool all_have_piece(const struct axis *axis, const char *piece, size_t length)
{
    for (unsigned i = 0; i < axis->count; i++)
        if (!has_piece(axis->values[i], piece, length))
            return false;
    return true;
}

/* Writes the pieces of a value that all values have in common, or else the other ones. */
static void pieces_write(FILE *to, const struct axis *axis, const char *value, bool common)
{
    bool any = false;
    while (*value) {
        size_t length = strcspn(value, ",");
        if (all_have_piece(axis, value, length) == common) {
            fprintf(to, "%s%.*s", any ? "," : "", (int)length, value);
            any = true;
        }
        value += length;
        value += *value == ',';
    }
    if (!any && !common)
        fputs("default", to);
}

static void head_write(FILE *to, const struct axis axes[AXES], unsigned column)
{
    unsigned at[AXES];
    const char *separator = "";
    for (unsigned a = AXES; a-- > 0; column /= axes[a].count)
        at[a] = column % axes[a].count;
    for (unsigned a = 0; a < AXES; a++) {
        if (axes[a].count < 2)
            continue;
        fputs(separator, to);
        pieces_write(to, &axes[a], axes[a].values[at[a]], false);
        separator = ", ";
    }
}

static void common_write(FILE *to, const struct axis axes[AXES])
{
    const char *separator = "";
    for (unsigned a = 0; a < AXES; a++) {
        const char *first = axes[a].values[0];
        if (axes[a].count < 2 || !all_have_piece(&axes[a], first, strcspn(first, ",")))
            continue;
        fputs(separator, to);
        pieces_write(to, &axes[a], first, true);
        separator = "; ";
    }
}

static void heads_make(struct expect_table *table, const struct axis axes[AXES])
{
    table->columns = axes[0].count * axes[1].count * axes[2].count;
    table->heads = xcalloc(table->columns, sizeof *table->heads);
    for (unsigned i = 0; i <= table->columns; i++) {
        char **text = i < table->columns ? &table->heads[i] : &table->common;
        FILE *to = memory_stream(text, NULL);
        if (i < table->columns)
            head_write(to, axes, i);
        else
            common_write(to, axes);
        fclose(to);
    }
}

/* Takes the levels and the axes over. */
static void table_make(struct expect_table *table, struct axis levels, struct axis axes[AXES])
{
    *table = (struct expect_table){.levels = levels.values, .rows = levels.count, .told = ""};
    heads_make(table, axes);
    for (unsigned a = 0; a < AXES; a++)
        texts_free(axes[a].values, axes[a].count);
    table->numbers = xcalloc((size_t)table->rows * table->columns + 1, sizeof *table->numbers);
}

/* Tables --------------------------------------------------------------------------------------- */

static unsigned row_of(const struct expect_table *table, const char *level)
{
    unsigned row = 0;
    while (row < table->rows && strcmp(table->levels[row], level) != 0)
        row++;
    return row;
}

static void cell_set(struct expect_table *table, const json_t *expectation, unsigned column)
{
    unsigned row = row_of(table, field_text(expectation, "level"));
    unsigned number = (unsigned)field_integer(expectation, "number");
    enum verdict verdict = verdict_of_text(field_text(expectation, "verdict"));
    if (row >= table->rows || column >= table->columns)
        return;
    table->numbers[row * table->columns + column] = number;
    table->first = table->first ? table->first : number;
    table->last = number;
    table->count++;
    if (verdict > table->verdict)
        table->told = repro_file_told(expectation);
    table->verdict = verdict_join(table->verdict, verdict);
    table->supported += verdict == VERDICT_SUPPORTED;
}

void expect_table_make(struct expect_table *table, const json_t *part, size_t i)
{
    struct axis axes[AXES] = {
        axis_of(part, "variants", "variant"),
        axis_of(part, "workloads", "workload"),
        axis_of(part, "workers", "workers"),
    };
    const json_t *expectations = json_object_get(part, "expectations");
    const json_t *of = json_object_get(json_array_get(expectations, i), "table");
    table_make(table, axis_of(part, "levels", ""), axes);
    for (; of && i < json_array_size(expectations); i++) {
        const json_t *expectation = json_array_get(expectations, i);
        const json_t *cell = json_object_get(expectation, "table");
        if (cell && field_integer(cell, "number") == field_integer(of, "number"))
            cell_set(table, expectation, (unsigned)field_integer(cell, "column"));
    }
}

void expect_table_free(struct expect_table *table)
{
    texts_free(table->levels, table->rows);
    texts_free(table->heads, table->columns);
    free(table->common);
    free(table->numbers);
    *table = (struct expect_table){.levels = NULL};
}

bool expect_table_has_row(const struct expect_table *table, unsigned row)
{
    for (unsigned i = 0; i < table->columns; i++)
        if (table->numbers[row * table->columns + i])
            return true;
    return false;
}
