/* hunt_table.c - see hunt_table.h. */
#include "harness/hunter/hunt_table.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/term_table.h"
#include "harness/base/text.h"
#include "harness/hunt/orders.h"
#include "harness/hunter/hunt_coverage.h"
#include "harness/options/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {HUNT_LOG_CELL_TEXTS};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* A cell's parts, joined. */
struct sum {
    json_t *row; /* the cell, and what it had in all */
    struct orders *orders;
    json_int_t executions, accesses, points, first_number;
    double seconds;
    json_t *failures;
    const json_t *first; /* the failure of the lowest number; NULL: none */
};

static void orders_sum(struct orders *orders, const json_t *json)
{
    const char *hash;
    json_t *times, *all = json_object_get(json, "times");
    size_t count = 0;
    struct order *kept = xcalloc(json_object_size(all) + 1, sizeof *kept);
    json_object_foreach(all, hash, times) kept[count++] =
        (struct order){strtoull(hash, NULL, 16), (uint64_t)json_integer_value(times)};
    orders_join(orders, kept, count, (int)field_integer(json, "level"));
    free(kept);
}

static void part_sum(struct sum *sum, const json_t *part)
{
    const char *end;
    json_t *count;
    const json_t *first = json_object_get(part, "first");
    sum->executions += field_integer(part, "executions");
    sum->accesses += field_integer(part, "accesses");
    sum->points += field_integer(part, "points");
    sum->seconds += field_number(part, "seconds");
    orders_sum(sum->orders, json_object_get(part, "orders"));
    json_object_foreach(json_object_get(part, "failures"), end, count) json_object_set_new(
        sum->failures, end,
        json_integer(field_integer(sum->failures, end) + json_integer_value(count)));
    if (first && (!sum->first || field_integer(first, "number") < sum->first_number)) {
        sum->first = first;
        sum->first_number = field_integer(first, "number");
    }
}

/* The row of a cell, of all seeds. Several seeds have several first failures: one is shown. */
static json_t *row_of(const json_t *cell, const json_t *index)
{
    struct sum sum = {.orders = orders_new(), .failures = json_object()};
    char *name = hunt_log_cell_text(cell);
    json_each(part, json_object_get(index, name))
        part_sum(&sum, part);
    free(name);
    /* an estimate may be more than there can be */
    json_int_t orders = (json_int_t)orders_count(sum.orders);
    if (orders > sum.executions)
        orders = sum.executions;
    json_t *row = json_copy((json_t *)(uintptr_t)cell);
    json_t *found =
        json_pack("{sI sf sI sI sI sf so}", "executions", sum.executions, "seconds", sum.seconds,
                  "accesses", sum.accesses, "points", sum.points, "orders", orders, "unseen",
                  orders_unseen(sum.orders), "failures", sum.failures);
    json_object_update(row, found);
    json_decref(found);
    if (sum.first)
        json_object_set(row, "first", (json_t *)(uintptr_t)sum.first);
    orders_free(sum.orders);
    return row;
}

/* The parts of each cell, by the cell as text. */
static json_t *index_of(const struct hunt_log *log)
{
    json_t *index = json_object();
    json_each(part, log->parts) {
        char *name = hunt_log_cell_text(part);
        fields_group_add(index, name, part);
        free(name);
    }
    return index;
}

static json_t *rows_of(const struct hunt_log *log)
{
    json_t *index = index_of(log), *rows = json_array();
    json_each(cell, json_object_get(log->header, "cells"))
        json_array_append_new(rows, row_of(cell, index));
    json_decref(index);
    return rows;
}

static bool any_failed(const json_t *rows)
{
    json_each(row, rows)
        if (json_object_get(row, "first"))
            return true;
    return false;
}

/* Sums up all cells. The pairs are to be freed. */
static struct coverage coverage_sum(const struct hunt_log *log)
{
    struct coverage coverage = coverage_new();
    json_each(part, log->parts)
        hunt_coverage_add(&coverage, json_object_get(part, "coverage"));
    return coverage;
}

bool hunt_table_json(const struct hunt_log *log)
{
    json_t *rows = rows_of(log);
    bool failed = any_failed(rows);
    json_t *json = json_copy(log->header);
    json_object_set_new(json, "cells", rows);
    if (hunt_log_covers(log)) {
        struct coverage coverage = coverage_sum(log);
        json_object_set_new(json, "coverage", hunt_coverage_to_json(&coverage));
        free(coverage.pairs);
    }
    cli_print_json(json, 6);
    return failed;
}

/* Text ---------------------------------------------------------------------------------------- */

static void row_add(struct term_table *table, const json_t *row)
{
    const char *end, *before = "";
    json_t *count;
    term_table_row(table, NULL);
    for (size_t i = 0; i < COLUMNS; i++)
        term_table_cell(table, "%s", field_text(row, columns[i]));
    term_table_cell(table, "%" JSON_INTEGER_FORMAT, field_integer(row, "executions"));
    term_table_cell(table, "%" JSON_INTEGER_FORMAT, field_integer(row, "orders"));
    term_table_cell(table, "%.1f %%", 100 * field_number(row, "unseen"));
    json_object_foreach(json_object_get(row, "failures"), end, count)
    {
        term_table_text(table, "%s%" JSON_INTEGER_FORMAT " %s", before, json_integer_value(count),
                        end);
        before = ", ";
    }
    if (!*before)
        term_table_text(table, "-");
}

static struct term_table *table_new(void)
{
    struct term_table *table =
        term_table_new((struct term_layout){.gap = 2}, TERM_COLUMNS({"failures", 0}));
    for (size_t i = 0; i < COLUMNS; i++)
        term_table_column(table, columns[i], -1);
    term_table_column(table, "executions", 10);
    term_table_column(table, "orders", 10);
    term_table_column(table, "unseen", 7);
    return table;
}

static void failure_print(FILE *to, const struct hunt_log *log, const json_t *row)
{
    const json_t *first = json_object_get(row, "first");
    fprintf(to, "failed: %s: %s", field_text(first, "end"), field_text(first, "text"));
    const char *with = field_text(log->header, "with");
    fprintf(to,
            "replay: schedlab%s%s hunt %s %s --workers %" JSON_INTEGER_FORMAT
            " --memory %s --replay %s\n",
            *with ? " " : "", with, field_text(row, "variant"), field_text(row, "workload"),
            field_integer(row, "workers"), field_text(row, "memory"), field_text(first, "replay"));
}

bool hunt_table_print(const struct hunt_log *log)
{
    struct term_table *table = table_new();
    json_t *rows = rows_of(log);
    json_int_t executions = 0, failing = 0;
    size_t cells = json_array_size(rows);
    json_each(row, rows) {
        row_add(table, row);
        executions += field_integer(row, "executions");
        failing += json_object_get(row, "first") != NULL;
    }
    term_table_print(table, stdout);
    json_each(row, rows)
        if (json_object_get(row, "first"))
            failure_print(stdout, log, row);
    size_t seeds = json_array_size(json_object_get(log->header, "seeds"));
    json_int_t wanted = field_integer(log->header, "executions") * (json_int_t)(cells * seeds);
    printf("%" JSON_INTEGER_FORMAT " executions of %s, %.0f %% of the campaign; %s failed\n",
           executions, counted(cells, "cell").s, 100 * (double)executions / (double)wanted,
           counted((uint64_t)failing, "cell").s);
    if (hunt_log_covers(log)) {
        struct coverage coverage = coverage_sum(log);
        hunt_coverage_print(&coverage);
        free(coverage.pairs);
    }
    json_decref(rows);
    return failing > 0;
}

/* Page ---------------------------------------------------------------------------------------- */

bool hunt_table_page(const struct hunt_log *log, const char *folder)
{
    char *failures = NULL;
    FILE *to = memory_stream(&failures, NULL);
    json_t *rows = rows_of(log);
    json_each(row, rows)
        if (json_object_get(row, "first"))
            failure_print(to, log, row);
    fclose(to);
    bool failed = any_failed(rows);
    struct coverage coverage = coverage_sum(log);
    hunt_coverage_page(&coverage, folder, failures);
    free(coverage.pairs);
    free(failures);
    json_decref(rows);
    return failed;
}
