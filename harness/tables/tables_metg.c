/* tables_metg.c - see tables_internal.h: metg.tsv, the smallest task that is still efficient.
 *
 * A series is the cells of one group, variant and number of workers whose workload differs in one
 * parameter alone, and that parameter is a task's work: its unit is rounds (of go_work()). The task
 * of a point is what Task Bench calls its granularity, workers * time / operations: the work and
 * what it cost to schedule it.
 * Source: [Slaughter20] s.4. Differs: the efficiency is a speed-up over workers, against the serial
 * run where there is one and else the variant itself at one worker, in place of a share of the
 * machine's peak.
 */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/spec/spec.h"
#include "harness/tables/tables_internal.h"
#include "workloads/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char WORK_UNIT[] = "rounds";
static const double METG_SHARE = 0.5;

struct series {
    struct metg_point *points;
    size_t count;
    double smallest_ns, largest_ns;
    bool against_serial; /* all points */
};

const struct param *series_params(const char *name)
{
    struct error unused;
    const struct workload_spec *spec = workload_spec_kept(name, &unused);
    return spec ? spec->workload->params : NULL;
}

json_t *series_key(const struct cell_rows *cell, const char *parameter)
{
    const json_t *record = cell->rows[0].record;
    json_t *others = json_deep_copy(json_object_get(record, "params"));
    json_object_del(others, parameter);
    json_t *key = json_pack("[s s s s I o]", cell->rows[0].group, field_text(record, "variant"),
                            field_text(record, "workload_name"), field_text(record, "side"),
                            field_integer(record, "workers"), others ? others : json_null());
    if (!key)
        abort();
    return key;
}

bool series_holds(const struct cell_rows *cell, const char *parameter, const json_t *key)
{
    const char *workload = field_text(cell->rows[0].record, "workload_name");
    if (strcmp(workload, json_string_value(json_array_get(key, 2))) != 0)
        return false;
    json_t *own = series_key(cell, parameter);
    bool same = json_equal(own, key);
    json_decref(own);
    return same;
}

/* A cell that has no efficiency is no point. */
static void series_add(struct series *series, const struct table *table,
                       const struct cell_rows *cell)
{
    struct values values = cell_throughputs(table, cell);
    struct cell_speed speed = cell_speed(table, cell, &values);
    double throughput = statistics_median_alone(values.x, values.n);
    double workers = (double)field_integer(cell->rows[0].record, "workers");
    free(values.x);
    if (!isfinite(speed.efficiency) || !(throughput > 0))
        return;
    double task_ns = workers * 1e9 / throughput;
    series->points[series->count++] = (struct metg_point){task_ns, speed.efficiency};
    series->smallest_ns = fmin(series->smallest_ns, task_ns);
    series->largest_ns = fmax(series->largest_ns, task_ns);
    series->against_serial = series->against_serial && speed.against_serial;
}

static void series_write(FILE *to, const struct series *series, const struct cell_rows *first,
                         const char *parameter)
{
    static const char *const words[] = {[METG_BETWEEN] = "measured",
                                        [METG_BELOW] = "below the smallest measured",
                                        [METG_ABOVE] = "above the largest measured",
                                        [METG_NONE] = "nothing measured"};
    enum metg_where where;
    double metg = statistics_metg(series->points, series->count, METG_SHARE, &where);
    const json_t *record = first->rows[0].record;
    put_names(to, first->rows);
    put_integer(to, record, "workers", '\t');
    put_text(to, parameter, '\t');
    put_text(to, series->against_serial ? "serial" : "own", '\t');
    fprintf(to, "%zu\t", series->count);
    number_put(to, metg, '\t');
    put_text(to, words[where], '\t');
    number_put(to, series->smallest_ns, '\t');
    number_put(to, series->largest_ns, '\n');
}

/* The series whose first cell is table->cells[first]; nothing if that stands in an earlier one, or
 * if the parameter does not vary. */
static void series_make(const struct table *table, size_t first, const char *parameter, FILE *to)
{
    json_t *key = series_key(&table->cells[first], parameter);
    size_t members = 0;
    struct series series = {.points = xcalloc(table->cells_count, sizeof *series.points),
                            .smallest_ns = INFINITY,
                            .largest_ns = -INFINITY,
                            .against_serial = true};
    bool begins = true;
    for (size_t at = 0; at < table->cells_count && begins; at++) {
        if (!series_holds(&table->cells[at], parameter, key))
            continue;
        begins = at >= first;
        members++;
        series_add(&series, table, &table->cells[at]);
    }
    json_int_t workers = field_integer(table->cells[first].rows[0].record, "workers");
    /* One worker is as efficient as itself, whatever the task. */
    bool says_something = series.against_serial || workers > 1;
    if (begins && members > 1 && series.count > 0 && says_something)
        series_write(to, &series, &table->cells[first], parameter);
    free(series.points);
    json_decref(key);
}

void metg_write(const struct table *table, FILE *to)
{
    fputs("group\tvariant\tvariant_name\tworkload\tworkload_name\tworkers\tparameter\tagainst\t"
          "points\tmetg_ns\twhere\tsmallest_ns\tlargest_ns\n",
          to);
    for (size_t at = 0; at < table->cells_count; at++) {
        const json_t *record = table->cells[at].rows[0].record;
        const struct param *param = series_params(field_text(record, "workload_name"));
        bool serial = strcmp(field_text(record, "variant_name"), "serial") == 0;
        for (; param && param->name && !serial; param++)
            if (strcmp(param->unit, WORK_UNIT) == 0)
                series_make(table, at, param_key(param), to);
    }
}
