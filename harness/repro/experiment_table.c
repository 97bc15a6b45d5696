/* experiment_table.c - an expectation with a table stands for one per cell of it. See
 * experiment_schema.h. */
#include "harness/base/memory.h"
#include "harness/repro/experiment.h"
#include "harness/repro/experiment_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_SIZE = 128 };

/* One table being read. */
struct table {
    const struct yaml_reader *reader;
    const struct experiment_part *part;
    const struct experiment_expect *from;
    char place[PLACE_SIZE]; /* parts/0/expect/1 */
    struct experiment_expect *to;
    unsigned count;
};

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

/* The value of a level in a column. */
static void cell_append(struct table *table, const char *level, unsigned column, const char *value)
{
    const struct experiment_expect *from = table->from;
    const struct experiment_part *part = table->part;
    struct experiment_column at = experiment_column(part, column);
    struct experiment_expect *cell = &array_add(table->to, table->count);
    *cell = (struct experiment_expect){
        .source = copy(from->source),
        .role = from->role,
        .level = copy(level),
        .over = copy(from->over),
        .exactly = copy(value),
        .machine = copy(from->machine),
        .metric = copy(from->metric),
        .in_file = from->in_file,
        .table_says = copy(from->says),
        .column = column,
    };
    if (part->factor != FACTOR_VARIANT && part->variants_count > 1)
        cell->variant = copy(part->variants[at.variant]);
    if (part->factor != FACTOR_WORKLOAD && part->workloads_count > 1)
        cell->workload = copy(part->workloads[at.workload]);
    if (part->factor != FACTOR_WORKERS && part->workers_count > 1)
        cell->workers = part->workers[at.workers];
    char workers[32] = "";
    if (cell->workers)
        snprintf(workers, sizeof workers, ", %lld workers", (long long)cell->workers);
    cell->says =
        text_format("%s: %s %s%s%s%s%s%s", from->says, experiment_factor_name(part), level,
                    cell->variant ? ", " : "", cell->variant ? cell->variant : "",
                    cell->workload ? ", " : "", cell->workload ? cell->workload : "", workers);
}

/* "61: 1 1 7"; a - expects nothing. */
static bool row_read(struct table *table, unsigned i)
{
    unsigned columns = experiment_columns(table->part), column = 0;
    char place[PLACE_SIZE + 32], *rest = copy(table->from->table[i]);
    char *colon = strrchr(rest, ':'), *save = NULL;
    snprintf(place, sizeof place, "%s/table/%u", table->place, i);
    if (colon) {
        *colon = '\0';
        for (char *value = strtok_r(colon + 1, " ", &save); value;
             value = strtok_r(NULL, " ", &save), column++)
            if (column < columns && strcmp(value, "-") != 0)
                cell_append(table, rest, column, value);
    }
    free(rest);
    return column == columns ||
           yaml_complain(
               table->reader, yaml_place_line(table->reader->place, place),
               "the row \"%s\" has %u values; valid: \"LEVEL: VALUE ...\" with %u, one "
               "for each variant, workload and number of workers that is held fixed, or -",
               table->from->table[i], column, columns);
}

static bool table_read(struct table *table)
{
    const struct experiment_expect *from = table->from;
    char place[PLACE_SIZE + 16];
    snprintf(place, sizeof place, "%s/workers", table->place);
    if (from->level || from->variant || from->workload || from->at_least || from->at_most ||
        from->exactly || from->between || from->resolution_text ||
        yaml_place_exists(table->reader->place, place))
        return yaml_complain(table->reader, yaml_place_line(table->reader->place, table->place),
                             "an expectation has a table, and what is in its rows besides; valid "
                             "beside table: says, role, over, machine, metric, source");
    for (unsigned i = 0; i < from->table_count; i++)
        if (!row_read(table, i))
            return false;
    return true;
}

bool experiment_tables_expand(const struct yaml_reader *reader, struct experiment_part *part,
                              unsigned p)
{
    struct table table = {.reader = reader, .part = part};
    bool ok = true;
    for (unsigned i = 0; i < part->expect_count; i++) {
        part->expect[i].in_file = i;
        table.from = &part->expect[i];
        snprintf(table.place, sizeof table.place, "parts/%u/expect/%u", p, i);
        if (table.from->table) {
            ok = ok && table_read(&table);
            continue;
        }
        array_add(table.to, table.count) = part->expect[i];
        part->expect[i] = (struct experiment_expect){.says = NULL};
    }
    experiment_expects_free(part->expect, part->expect_count);
    part->expect = table.to;
    part->expect_count = table.count;
    return ok;
}
