/* tables.c - see tables.h.
 *
 * samples.jsonl -> records -> rows. A row is one record in one of its groups; sorted, the rows of a
 * cell stand together, and each table is one walk over them.
 */
#include "harness/tables/tables.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/counters/counters.h"
#include "harness/evidence/process_time.h"
#include "harness/plan/plan.h"
#include "harness/records/records.h"
#include "harness/records/same_work.h"
#include "harness/tables/tables_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

/* Fields --------------------------------------------------------------------------------------- */

void put_text(FILE *to, const char *text, char end)
{
    if (!*text)
        fputs("NA", to);
    for (; *text; text++)
        fputc(*text == '\t' || *text == '\n' || *text == '\r' ? ' ' : *text, to);
    fputc(end, to);
}

void put_integer(FILE *to, const json_t *record, const char *key, char end)
{
    if (json_object_get(record, key))
        fprintf(to, "%lld%c", field_integer(record, key), end);
    else
        fprintf(to, "NA%c", end);
}

/* Rows ---------------------------------------------------------------------------------------- */

static int integer_compare(json_int_t a, json_int_t b)
{
    return (a > b) - (a < b);
}

static int cell_compare(const struct row *a, const struct row *b)
{
    int order = strcmp(a->group, b->group);
    if (!order)
        order = strverscmp(field_text(a->record, "workload"), field_text(b->record, "workload"));
    if (!order)
        order = integer_compare(field_integer(a->record, "workers"),
                                field_integer(b->record, "workers"));
    if (!order)
        order = strcmp(field_text(a->record, "variant"), field_text(b->record, "variant"));
    if (!order)
        order = strcmp(field_text(a->record, "cell"), field_text(b->record, "cell"));
    return order;
}

static int row_compare(const void *a_void, const void *b_void)
{
    static const char *const keys[] = {"seed", "block", "position"};
    const struct row *a = a_void, *b = b_void;
    int order = cell_compare(a, b);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !order; i++)
        order =
            integer_compare(field_integer(a->record, keys[i]), field_integer(b->record, keys[i]));
    return order;
}

static void table_add(struct table *table, const char *group, json_t *record)
{
    array_push(table->rows, table->count, table->rows_room) = (struct row){group, record};
}

/* See comparable.h. */
static enum cell_class cell_choose(const struct comparable *classes, const struct cell_rows *cell)
{
    struct class_counts counts = {0};
    for (size_t i = 0; i < cell->count; i++) {
        const json_t *record = cell->rows[i].record;
        if (record_is(record, "ok"))
            class_count_add(&counts, comparable_distance(classes, record),
                            comparable_is_marked(record));
    }
    return class_of_cell(&counts, classes->common);
}

static void cells_make(struct table *table)
{
    table->cells = xcalloc(table->count + 1, sizeof *table->cells);
    for (size_t at = 0, end; at < table->count; at = end) {
        for (end = at + 1;
             end < table->count && cell_compare(&table->rows[at], &table->rows[end]) == 0;)
            end++;
        struct cell_rows *cell = &table->cells[table->cells_count++];
        *cell = (struct cell_rows){&table->rows[at], end - at, CLASS_ALL};
        cell->chosen = cell_choose(&table->classes, cell);
    }
}

static struct table table_make(json_t *records)
{
    struct table table = {.rows = NULL};
    comparable_learn(&table.classes, records);
    json_each(record, records) {
        json_t *groups = json_object_get(record, "groups");
        if (json_array_size(groups) == 0)
            table_add(&table, "-", record);
        json_each(group, groups)
            table_add(&table, json_is_string(group) ? json_string_value(group) : "-", record);
    }
    if (table.count > 0)
        qsort(table.rows, table.count, sizeof *table.rows, row_compare);
    cells_make(&table);
    cells_alone_index(&table);
    return table;
}

size_t cell_count(const struct cell_rows *cell, const char *status)
{
    size_t n = 0;
    for (size_t i = 0; i < cell->count; i++)
        n += record_is(cell->rows[i].record, status);
    return n;
}

/* The status of a whole cell in messages and columns. */
const char *cell_status(const struct cell_rows *cell)
{
    if (cell_count(cell, "failed") > 0)
        return "failed";
    return cell_count(cell, "ok") > 0 ? "ok" : "skipped";
}

bool cell_uses(const struct table *table, const struct cell_rows *cell, size_t i)
{
    const json_t *record = cell->rows[i].record;
    return record_is(record, "ok") &&
           class_holds(cell->chosen, comparable_distance(&table->classes, record),
                       comparable_is_marked(record));
}

struct values values_make(const struct cell_rows *cell)
{
    struct values values = {xcalloc(cell->count, sizeof(double)), 0};
    return values;
}

void values_add(struct values *values, double x)
{
    if (isfinite(x))
        values->x[values->n++] = x;
}

struct values cell_throughputs(const struct table *table, const struct cell_rows *cell)
{
    struct values values = values_make(cell);
    if (strcmp(cell_status(cell), "ok") == 0)
        for (size_t i = 0; i < cell->count; i++)
            if (cell_uses(table, cell, i))
                values_add(&values, field_number(cell->rows[i].record, "throughput"));
    return values;
}

void put_names(FILE *to, const struct row *row)
{
    const json_t *record = row->record;
    put_text(to, row->group, '\t');
    put_text(to, field_text(record, "variant"), '\t');
    put_text(to, field_text(record, "variant_name"), '\t');
    put_text(to, field_text(record, "workload"), '\t');
    put_text(to, field_text(record, "workload_name"), '\t');
}

void put_cell_key(FILE *to, const struct cell_rows *cell)
{
    const json_t *record = cell->rows[0].record;
    put_names(to, cell->rows);
    put_integer(to, record, "workers", '\t');
    put_text(to, field_text(record, "cell"), '\t');
}

/* samples.tsv --------------------------------------------------------------------------------- */

static void put_marks(FILE *to, const json_t *record)
{
    const json_t *marks = json_object_get(record, "marks"), *mark;
    size_t i;
    if (json_array_size(marks) == 0)
        fputs("NA", to);
    json_array_foreach(marks, i, mark)
        fprintf(to, "%s%s", i ? "," : "", json_is_string(mark) ? json_string_value(mark) : "?");
    fputc('\t', to);
}

/* How it was while the sample was measured. */
static void put_circumstances(FILE *to, const struct table *table, const json_t *record)
{
    enum core_distance distance = comparable_distance(&table->classes, record);
    put_text(to, distance == DISTANCE_NONE ? "" : core_distance_text(distance), '\t');
    number_put(to, comparable_line_ns(record), '\t');
    number_put(to, field_number(record, "steal_share"), '\t');
    put_text(to, field_text(record, "allocator"), '\t');
    put_marks(to, record);
    put_text(to, field_text(record, "why"), '\t');
    put_integer(to, record, "seed", '\n');
}

static void samples_write(const struct table *table, FILE *to)
{
    fputs(
        "cell\tblock\tposition\tgroup\tvariant\tvariant_name\tworkload\tworkload_name\tworkers\t"
        "status\tthroughput\ttime_ns\tops\tdistance\tline_ns\tsteal_share\tallocator\tmarks\twhy\t"
        "seed\n",
        to);
    for (size_t i = 0; i < table->count; i++) {
        const json_t *record = table->rows[i].record;
        bool ok = record_is(record, "ok");
        put_text(to, field_text(record, "cell"), '\t');
        put_integer(to, record, "block", '\t');
        put_integer(to, record, "position", '\t');
        put_names(to, &table->rows[i]);
        put_integer(to, record, "workers", '\t');
        put_text(to, field_text(record, "status"), '\t');
        number_put(to, ok ? field_number(record, "throughput") : NAN, '\t');
        number_put(to, ok ? field_number(record, "time_ns") : NAN, '\t');
        number_put(to, ok ? field_number(record, "ops") : NAN, '\t');
        put_circumstances(to, table, record);
    }
}

/* events.tsv ---------------------------------------------------------------------------------- */

/* One event over the ok samples of a cell. Samples that counted other events in turn are left out.
 * Any other sample that lacks the event makes it absent for the cell: a median over the samples
 * that happen to have it would compare unlike things. */
static void event_write(FILE *to, const struct table *table, const struct cell_rows *cell,
                        const char *name, const char *source)
{
    struct values per_op = values_make(cell), whole = values_make(cell);
    char absent[TABLE_REASON_SIZE] = "";
    for (size_t i = 0; i < cell->count; i++) {
        if (!cell_uses(table, cell, i))
            continue;
        const json_t *event = record_event(cell->rows[i].record, name);
        if (json_object_get(event, "value")) {
            values_add(&per_op, field_number(event, "per_op"));
            values_add(&whole, field_number(event, "value"));
            continue;
        }
        const char *why = field_text(event, "absent");
        if (!*absent && strcmp(why, COUNTERS_ELSEWHERE) != 0)
            snprintf(absent, sizeof absent, "%s", *why ? why : "not counted in every sample");
    }
    if (!*absent && whole.n == 0)
        snprintf(absent, sizeof absent, "no sample of this cell counted its set of events");
    if (*absent)
        per_op.n = whole.n = 0;
    else if (per_op.n < whole.n)
        per_op.n = 0;
    struct interval interval = statistics_median(per_op.x, per_op.n, STATISTICS_SEED);
    put_cell_key(to, cell);
    put_text(to, name, '\t');
    put_text(to, source, '\t');
    fprintf(to, "%zu\t", whole.n);
    interval_put(to, interval, '\t');
    put_text(to, absent, '\t');
    number_put(to, statistics_median_alone(whole.x, whole.n), '\n');
    free(per_op.x);
    free(whole.x);
}

static void events_write(const struct table *table, FILE *to)
{
    fputs("group\tvariant\tvariant_name\tworkload\tworkload_name\tworkers\tcell\tevent\tsource\tn\t"
          "per_op\tlo\thi\tabsent\tvalue\n",
          to);
    for (size_t at = 0; at < table->cells_count; at++) {
        const struct cell_rows *cell = &table->cells[at];
        if (strcmp(cell_status(cell), "ok") != 0)
            continue;
        /* All samples of a cell ask for the same events, in the same order. */
        json_each(event, json_object_get(cell->rows[0].record, "events"))
            event_write(to, table, cell, field_text(event, "name"), field_text(event, "source"));
    }
}

/* latency.tsv --------------------------------------------------------------------------------- */

static const double quantiles[] = {0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 1};

enum { QUANTILES = sizeof quantiles / sizeof quantiles[0] };

static void latency_write_cell(FILE *to, const struct table *table, const struct cell_rows *cell)
{
    for (size_t q = 0; q < QUANTILES; q++) {
        struct values values = values_make(cell);
        for (size_t i = 0; i < cell->count; i++) {
            if (cell_uses(table, cell, i))
                values_add(&values, record_latency_ns(cell->rows[i].record, quantiles[q]));
        }
        if (values.n > 0) {
            struct interval interval = statistics_median(values.x, values.n, STATISTICS_SEED);
            put_cell_key(to, cell);
            number_put(to, quantiles[q], '\t');
            interval_put(to, interval, '\n');
        }
        free(values.x);
    }
}

static void latency_write(const struct table *table, FILE *to)
{
    fputs("group\tvariant\tvariant_name\tworkload\tworkload_name\tworkers\tcell\tquantile\tns\tlo\t"
          "hi\n",
          to);
    for (size_t at = 0; at < table->cells_count; at++)
        if (strcmp(cell_status(&table->cells[at]), "ok") == 0)
            latency_write_cell(to, table, &table->cells[at]);
}

/* Files --------------------------------------------------------------------------------------- */

/* A table and its writer. */
struct table_file {
    const struct table *table;
    void (*write)(const struct table *table, FILE *to);
};

static void table_file_write(FILE *to, const void *arg)
{
    const struct table_file *file = arg;
    file->write(file->table, to);
}

static bool file_write(const char *run_dir, const char *name, const struct table *table,
                       void (*write)(const struct table *table, FILE *to), struct error *error)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", run_dir, name);
    return file_replace_by(path, table_file_write, &(struct table_file){table, write}, error);
}

/* plan.json is there for sweeps that came to an end. */
static json_t *plan_read(const char *run_dir)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/plan.json", run_dir);
    json_t *plan = json_load_file(path, 0, NULL), *cells = plan_json_cells(plan);
    json_decref(plan);
    return cells;
}

int tables_write(const char *run_dir, struct error *error)
{
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/samples.jsonl", run_dir) >= (int)sizeof path - 32) {
        error_print(error, "%.64s...: the path is too long", run_dir);
        return -1;
    }
    json_t *records = record_file_read(path, NULL, error);
    if (!records)
        return -1;
    same_work_judge_all(records);
    struct table table = table_make(records);
    table.plan = plan_read(run_dir);
    bool ok = file_write(run_dir, "samples.tsv", &table, samples_write, error) &&
              file_write(run_dir, "cells.tsv", &table, cells_write, error) &&
              file_write(run_dir, "classes.tsv", &table, classes_write, error) &&
              file_write(run_dir, "metg.tsv", &table, metg_write, error) &&
              file_write(run_dir, "scale.tsv", &table, scale_write, error) &&
              file_write(run_dir, "structures.tsv", &table, structures_write, error) &&
              file_write(run_dir, "events.tsv", &table, events_write, error) &&
              file_write(run_dir, "latency.tsv", &table, latency_write, error);
    if (ok && process_time_is_known(records))
        ok = process_time_write(run_dir, records, error) == 0;
    json_decref(table.plan);
    json_decref(table.alone);
    free(table.cells);
    free(table.rows);
    json_decref(records);
    return ok ? 0 : -1;
}
