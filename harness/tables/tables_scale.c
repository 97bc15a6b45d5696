/* tables_scale.c - see tables_internal.h: scale.tsv, what a goroutine costs over their number.
 *
 * A series is the cells of one group, variant and number of workers whose workload differs in one
 * parameter alone, and that parameter is a number of goroutines: its unit is Gs.
 *
 * The first call of a sample touches pages that the later ones find warm, at some ten times the
 * price, so a median over both would be of neither. Where nothing was called before the timed calls
 * the first of them stands apart.
 */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/records/records.h"
#include "harness/tables/tables_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char NUMBER_UNIT[] = "Gs";

/* ns per operation of the timed calls [from, to); NAN if there are none. */
static double calls_ns(const json_t *record, size_t from, size_t to)
{
    const json_t *calls = json_object_get(record, "iterations");
    double time_ns = 0, ops = 0;
    for (size_t i = from; i < to && i < json_array_size(calls); i++) {
        time_ns += field_number(json_array_get(calls, i), "time_ns");
        ops += field_number(json_array_get(calls, i), "ops");
    }
    return ops > 0 ? time_ns / ops : NAN;
}

static bool begins_cold(const json_t *record)
{
    return json_object_get(record, "warmup") && field_integer(record, "warmup") == 0;
}

static double first_ns(const json_t *record)
{
    return begins_cold(record) ? calls_ns(record, 0, 1) : NAN;
}

static double later_ns(const json_t *record)
{
    return calls_ns(record, begins_cold(record), SIZE_MAX);
}

static double bytes(const json_t *record)
{
    return record_event_value(record_event(record, "PROCESS_MEMORY_PER_G"));
}

static const struct {
    const char *name;
    double (*of)(const json_t *record);
} measures[] = {{"first_ns", first_ns}, {"later_ns", later_ns}, {"bytes", bytes}};

/* The workload without the parameter: "crowd,wait=sleep" of "crowd,n=1000,wait=sleep". */
static char *series_name(const json_t *record, const char *parameter)
{
    const char *workload = field_text(record, "workload");
    size_t length = strlen(parameter);
    const char *at = workload;
    while ((at = strchr(at, ',')) &&
           !(strncmp(at + 1, parameter, length) == 0 && at[1 + length] == '='))
        at++;
    return at ? text_format("%.*s%s", (int)(at - workload), workload, at + 1 + strcspn(at + 1, ","))
              : text_format("%s", workload);
}

/* Writes one measure; nothing if no sample has it. */
static void measure_write(FILE *to, const struct table *table, const struct cell_rows *cell,
                          const char *parameter, size_t which)
{
    const json_t *record = cell->rows[0].record;
    struct values values = values_make(cell);
    for (size_t i = 0; i < cell->count; i++)
        if (cell_uses(table, cell, i))
            values_add(&values, measures[which].of(cell->rows[i].record));
    struct interval interval = statistics_median(values.x, values.n, STATISTICS_SEED);
    size_t n = values.n;
    free(values.x);
    if (n == 0)
        return;
    char *name = series_name(record, parameter);
    put_text(to, cell->rows[0].group, '\t');
    put_text(to, field_text(record, "variant"), '\t');
    put_text(to, field_text(record, "variant_name"), '\t');
    put_text(to, name, '\t');
    put_text(to, field_text(record, "workload_name"), '\t');
    put_integer(to, record, "workers", '\t');
    put_text(to, field_text(record, "cell"), '\t');
    put_text(to, field_text(record, "op"), '\t');
    put_text(to, parameter, '\t');
    put_integer(to, json_object_get(record, "params"), parameter, '\t');
    put_text(to, measures[which].name, '\t');
    fprintf(to, "%zu\t", n);
    interval_put(to, interval, '\n');
    free(name);
}

static bool has_series(const struct table *table, const struct cell_rows *cell,
                       const char *parameter)
{
    json_t *key = series_key(cell, parameter);
    size_t members = 0;
    for (size_t at = 0; at < table->cells_count && members < 2; at++)
        members += series_holds(&table->cells[at], parameter, key);
    json_decref(key);
    return members > 1;
}

void scale_write(const struct table *table, FILE *to)
{
    fputs("group\tvariant\tvariant_name\tworkload\tworkload_name\tworkers\tcell\top\tparameter\t"
          "number\tmeasure\tn\tmedian\tlo\thi\n",
          to);
    for (size_t at = 0; at < table->cells_count; at++) {
        const struct cell_rows *cell = &table->cells[at];
        const struct param *param =
            series_params(field_text(cell->rows[0].record, "workload_name"));
        if (strcmp(cell_status(cell), "ok") != 0)
            continue;
        for (; param && param->name; param++) {
            if (strcmp(param->unit, NUMBER_UNIT) != 0 || !has_series(table, cell, param_key(param)))
                continue;
            for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
                measure_write(to, table, cell, param_key(param), i);
        }
    }
}
