/* expect_table.c - see expect_table.h. */
#include "harness/catalogue/expect_table.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>

/* The axes of a part in the order of its columns (experiment_column()); the factor's has one value,
 * NULL, which no head names. */
enum { AXES = 3 };
struct axis {
    char **values;
    unsigned count;
};

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static char **list_make(unsigned count)
{
    char **list = xcalloc(count + 1, sizeof *list);
    return list;
}

static void list_free(char **list, unsigned count)
{
    for (unsigned i = 0; list && i < count; i++)
        free(list[i]);
    free(list);
}

static struct axis axis_of_json(const json_t *part, const char *list, const char *factor)
{
    const json_t *values = json_object_get(part, list);
    bool is_factor = strcmp(field_text(part, "factor"), factor) == 0;
    unsigned count = is_factor ? 0 : (unsigned)json_array_size(values);
    struct axis axis = {.values = list_make(count), .count = count ? count : 1};
    for (unsigned i = 0; i < count; i++) {
        const json_t *value = json_array_get(values, i);
        axis.values[i] = json_is_integer(value)
                             ? copy(counted((uint64_t)json_integer_value(value), "worker").s)
                             : copy(json_is_string(value) ? json_string_value(value) : "");
    }
    return axis;
}

static struct axis axis_of_texts(char *const *values, unsigned count, bool is_factor)
{
    struct axis axis = {.values = list_make(count), .count = is_factor ? 1 : count};
    for (unsigned i = 0; !is_factor && i < count; i++)
        axis.values[i] = copy(values[i]);
    return axis;
}

static struct axis axis_of_workers(const struct experiment_part *part)
{
    bool is_factor = part->factor == FACTOR_WORKERS;
    struct axis axis = {.values = list_make(part->workers_count),
                        .count = is_factor ? 1 : part->workers_count};
    for (unsigned i = 0; !is_factor && i < axis.count; i++)
        axis.values[i] = copy(counted((uint64_t)part->workers[i], "worker").s);
    return axis;
}

/* Heads ---------------------------------------------------------------------------------------- */

/* Whether the text has that piece between commas. */
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

/* Those pieces of a value that all values have, or those that not all have. */
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
    size_t size;
    table->columns = axes[0].count * axes[1].count * axes[2].count;
    table->heads = list_make(table->columns);
    for (unsigned i = 0; i <= table->columns; i++) {
        char **text = i < table->columns ? &table->heads[i] : &table->common;
        FILE *to = memory_stream(text, &size);
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
    *table = (struct expect_table){.levels = levels.values, .rows = levels.count};
    heads_make(table, axes);
    for (unsigned a = 0; a < AXES; a++)
        list_free(axes[a].values, axes[a].count);
    table->numbers = xcalloc((size_t)table->rows * table->columns + 1, sizeof *table->numbers);
}

/* Tables --------------------------------------------------------------------------------------- */

static void cell_set(struct expect_table *table, unsigned row, unsigned column, unsigned number)
{
    if (row >= table->rows || column >= table->columns)
        return;
    table->numbers[row * table->columns + column] = number;
    table->first = table->first ? table->first : number;
    table->count++;
}

void expect_table_of_part(struct expect_table *table, const struct experiment_part *part,
                          unsigned i)
{
    struct axis axes[AXES] = {
        axis_of_texts(part->variants, part->variants_count, part->factor == FACTOR_VARIANT),
        axis_of_texts(part->workloads, part->workloads_count, part->factor == FACTOR_WORKLOAD),
        axis_of_workers(part),
    };
    const struct experiment_expect *of = &part->expect[i];
    table_make(table, axis_of_texts(part->levels, part->levels_count, false), axes);
    for (; of->table_says && i < part->expect_count; i++) {
        const struct experiment_expect *cell = &part->expect[i];
        if (cell->table_says && cell->in_file == of->in_file)
            cell_set(table, cell->level_index, cell->column, i + 1);
    }
}

static unsigned row_of(const struct expect_table *table, const char *level)
{
    unsigned row = 0;
    while (row < table->rows && strcmp(table->levels[row], level) != 0)
        row++;
    return row;
}

void expect_table_of_json(struct expect_table *table, const json_t *part, size_t i)
{
    struct axis axes[AXES] = {
        axis_of_json(part, "variants", "variant"),
        axis_of_json(part, "workloads", "workload"),
        axis_of_json(part, "workers", "workers"),
    };
    const json_t *expectations = json_object_get(part, "expectations");
    const json_t *of = json_object_get(json_array_get(expectations, i), "table");
    table_make(table, axis_of_json(part, "levels", ""), axes);
    for (; of && i < json_array_size(expectations); i++) {
        const json_t *expectation = json_array_get(expectations, i);
        const json_t *cell = json_object_get(expectation, "table");
        if (cell && field_integer(cell, "number") == field_integer(of, "number"))
            cell_set(table, row_of(table, field_text(expectation, "level")),
                     (unsigned)field_integer(cell, "column"),
                     (unsigned)field_integer(expectation, "number"));
    }
}

void expect_table_free(struct expect_table *table)
{
    list_free(table->levels, table->rows);
    list_free(table->heads, table->columns);
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
