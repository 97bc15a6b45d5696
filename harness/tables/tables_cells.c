/* tables_cells.c - see tables_internal.h: cells.tsv and classes.tsv, the medians. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/evidence/cell_remarks.h"
#include "harness/plan/plan.h"
#include "harness/records/records.h"
#include "harness/tables/tables_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Why a cell has no numbers; "" if it has. */
static void cell_reason(const struct cell_rows *cell, char *reason, size_t size)
{
    const char *status = cell_status(cell);
    reason[0] = '\0';
    for (size_t i = 0; i < cell->count && strcmp(status, "ok") != 0; i++) {
        if (!record_is(cell->rows[i].record, status))
            continue;
        const char *why = field_text(cell->rows[i].record, "reason");
        if (strcmp(status, "failed") == 0)
            snprintf(reason, size, "%zu of %s failed: %s", cell_count(cell, status),
                     counted(cell->count, "sample").s, why);
        else
            snprintf(reason, size, "%s", why);
        return;
    }
}

/* Speed-up ------------------------------------------------------------------------------------- */

/* The key of the cells that a cell is compared with: same workload and events, for with others it
 * had other work to do. variant may be that of another cell. free() it. */
static char *alone_key(const struct cell_rows *cell, const char *variant)
{
    size_t i = 0; /* a sample that crashed does not say what it counts */
    const json_t *record = cell->rows[0].record;
    while (i + 1 < cell->count && !json_object_get(cell->rows[i].record, "events"))
        i++;
    char *events = record_event_names(cell->rows[i].record, ",");
    char *key =
        text_format("%s\n%s\n%s\n%s\n%s", field_text(record, "workload"),
                    field_text(record, "machine"), field_text(record, "side"), variant, events);
    free(events);
    return key;
}

void cells_alone_index(struct table *table)
{
    table->alone = json_object();
    for (size_t at = 0; at < table->cells_count; at++) {
        const json_t *record = table->cells[at].rows[0].record;
        if (field_integer(record, "workers") != 1)
            continue;
        char *key = alone_key(&table->cells[at], field_text(record, "variant"));
        if (!json_object_get(table->alone, key)) /* the first one, wherever in the run it stands */
            json_object_set_new(table->alone, key, json_integer((json_int_t)at));
        free(key);
    }
}

/* The same workload at one worker, counting the same: of the same variant, or of the variant named
 * `variant` if that is not NULL. */
static const struct cell_rows *cell_find_alone(const struct table *table,
                                               const struct cell_rows *cell, const char *variant)
{
    char *key = alone_key(cell, variant ? variant : field_text(cell->rows[0].record, "variant"));
    const json_t *at = json_object_get(table->alone, key);
    free(key);
    return at ? &table->cells[json_integer_value(at)] : NULL;
}

static struct interval multiple(const struct table *table, const struct values *values,
                                const struct cell_rows *cell, const struct cell_rows *base)
{
    struct interval ratio = {NAN, NAN, NAN, 0};
    if (!base)
        return ratio;
    struct values under = cell_throughputs(table, base);
    bool itself = strcmp(field_text(cell->rows[0].record, "cell"),
                         field_text(base->rows[0].record, "cell")) == 0;
    if (itself && values->n > 0)
        ratio = (struct interval){1, 1, 1, values->n}; /* by definition, so without an error */
    else
        ratio = statistics_ratio(values->x, values->n, under.x, under.n, STATISTICS_SEED);
    free(under.x);
    return ratio;
}

struct cell_speed cell_speed(const struct table *table, const struct cell_rows *cell,
                             const struct values *values)
{
    struct cell_speed speed = {
        .own = multiple(table, values, cell, cell_find_alone(table, cell, NULL)),
        .serial = multiple(table, values, cell, cell_find_alone(table, cell, "serial")),
    };
    speed.against_serial = isfinite(speed.serial.median);
    double times = speed.against_serial ? speed.serial.median : speed.own.median;
    speed.efficiency = times / (double)field_integer(cell->rows[0].record, "workers");
    return speed;
}

/* cells.tsv ------------------------------------------------------------------------------------ */

static void put_remarks(FILE *to, const struct cell_rows *cell)
{
    char text[CELL_REMARKS_SIZE];
    json_t *records = json_array();
    for (size_t i = 0; i < cell->count; i++)
        json_array_append(records, cell->rows[i].record);
    cell_remarks(records, text);
    json_decref(records);
    put_text(to, text, '\n');
}

static void cell_write(const struct table *table, const struct cell_rows *cell, FILE *to)
{
    const json_t *record = cell->rows[0].record;
    struct values values = cell_throughputs(table, cell);
    struct cell_speed speed = cell_speed(table, cell, &values);
    bool ok = strcmp(cell_status(cell), "ok") == 0;
    char reason[TABLE_REASON_SIZE];
    cell_reason(cell, reason, sizeof reason);
    put_names(to, cell->rows);
    put_text(to, field_text(record, "op"), '\t');
    put_integer(to, record, "workers", '\t');
    put_text(to, field_text(record, "cell"), '\t');
    put_text(to, cell_status(cell), '\t');
    fprintf(to, "%zu\t", ok ? values.n : cell_count(cell, "ok"));
    interval_put(to, statistics_median(values.x, values.n, STATISTICS_SEED), '\t');
    interval_put(to, speed.own, '\t');
    put_text(to, reason, '\t');
    put_text(to, ok ? class_text(cell->chosen) : "", '\t');
    fprintf(to, "%zu\t", cell_count(cell, "ok"));
    put_text(to, plan_json_stop(table->plan, field_text(record, "cell")), '\t');
    interval_put(to, speed.serial, '\t');
    number_put(to, speed.efficiency, '\t');
    put_text(to, field_text(record, "machine"), '\t');
    put_integer(to, record, "cores", '\t');
    put_remarks(to, cell);
    free(values.x);
}

void cells_write(const struct table *table, FILE *to)
{
    fputs("group\tvariant\tvariant_name\tworkload\tworkload_name\top\tworkers\tcell\tstatus\tn\t"
          "median\tlo\thi\tspeedup\tspeedup_lo\tspeedup_hi\treason\tclass\tn_all\tstop\t"
          "vs_serial\tvs_serial_lo\tvs_serial_hi\tefficiency\t"
          "machine\tcores\tremarks\n",
          to);
    for (size_t at = 0; at < table->cells_count; at++)
        cell_write(table, &table->cells[at], to);
}

/* classes.tsv ---------------------------------------------------------------------------------- */

static void class_write(const struct table *table, const struct cell_rows *cell,
                        enum core_distance distance, FILE *to)
{
    struct values values = values_make(cell);
    size_t n = 0, marked = 0;
    for (size_t i = 0; i < cell->count; i++) {
        const json_t *record = cell->rows[i].record;
        if (!record_is(record, "ok") || comparable_distance(&table->classes, record) != distance)
            continue;
        n++;
        if (comparable_is_marked(record))
            marked++;
        else
            values_add(&values, field_number(record, "throughput"));
    }
    if (n > 0) {
        struct interval median = statistics_median(values.x, values.n, STATISTICS_SEED);
        put_cell_key(to, cell);
        put_text(to, core_distance_text(distance), '\t');
        fprintf(to, "%zu\t%zu\t", n, marked);
        interval_put(to, median, '\n');
    }
    free(values.x);
}

void classes_write(const struct table *table, FILE *to)
{
    fputs("group\tvariant\tvariant_name\tworkload\tworkload_name\tworkers\tcell\tclass\tn\tmarked\t"
          "median\tlo\thi\n",
          to);
    for (size_t at = 0; at < table->cells_count; at++)
        for (enum core_distance distance = DISTANCE_NONE; distance <= DISTANCE_MIXED; distance++)
            if (strcmp(cell_status(&table->cells[at]), "ok") == 0)
                class_write(table, &table->cells[at], distance, to);
}
