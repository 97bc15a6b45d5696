/* sweep_cells.c - see sweep_cells.h. */
#define _GNU_SOURCE
#include "harness/sweep_cells.h"

#include "harness/machine_start.h"
#include "harness/records.h"
#include "harness/unit_store.h"

#include <stdlib.h>
#include <string.h>

void sweep_cells_begin(struct sweep_cells *cells, const struct sweep_file *sweep, struct plan *plan,
                       const char *folder, bool mix)
{
    *cells = (struct sweep_cells){.folder = folder, .mix = mix, .processors = json_object()};
    units_begin(&cells->units, sweep, plan);
    for (size_t i = 0; i < plan->count; i++)
        cells->sets = plan->cells[i].set >= cells->sets ? plan->cells[i].set + 1 : cells->sets;
    cells->kinds = calloc(cells->sets + 1, sizeof *cells->kinds);
    if (!cells->kinds)
        abort();
}

void sweep_cells_end(struct sweep_cells *cells)
{
    units_end(&cells->units);
    json_decref(cells->processors);
    free(cells->kinds);
}

bool sweep_cells_has(struct sweep_cells *cells, const struct cell *cell, unsigned block)
{
    char id[UNIT_ID_SIZE];
    unit_id(&cells->units, cell, block, id);
    return unit_store_has(cells->folder, id);
}

/* A lasting copy of the processor's name. */
static const char *processor_name(struct sweep_cells *cells, const char *cpu)
{
    if (!json_object_get(cells->processors, cpu))
        json_object_set_new(cells->processors, cpu, json_string(cpu));
    return json_string_value(json_object_get(cells->processors, cpu));
}

/* Whether a native sample of the cell may come from there. */
static bool kind_check(struct sweep_cells *cells, const struct cell *cell, const json_t *result,
                       char *error, size_t error_size)
{
    const char *cpu = processor_name(cells, record_text(result, "cpu"));
    const char **kind = &cells->kinds[cell->set];
    if (!*kind)
        *kind = cpu;
    if (cells->mix || strcmp(*kind, cpu) == 0)
        return true;
    snprintf(error, error_size,
             "%s on %s with %d worker%s was measured on %s with the processor \"%s\", and what it "
             "is compared with on \"%s\"; --mix-machines takes both nevertheless",
             cell->variant, cell->workload, cell->workers, cell->workers == 1 ? "" : "s",
             record_text(result, "host"), cpu, *kind);
    return false;
}

static bool result_place(struct sweep_cells *cells, const struct cell *cell, const json_t *result,
                         json_t *record, char *error, size_t error_size)
{
    if (machine_text_is_simulated(cell->machine))
        return true;
    json_object_set(record, "host", json_object_get(result, "host"));
    json_object_set(record, "cpu", json_object_get(result, "cpu"));
    return kind_check(cells, cell, result, error, error_size);
}

json_t *sweep_cells_take(struct sweep_cells *cells, const struct cell *cell, unsigned block,
                         double *seconds, char *error, size_t error_size)
{
    char id[UNIT_ID_SIZE];
    unit_id(&cells->units, cell, block, id);
    json_t *result = unit_store_get(cells->folder, id, error, error_size);
    if (!result)
        return NULL;
    *seconds = record_number(result, "seconds");
    json_t *record = json_incref(json_object_get(result, "record"));
    if (!result_place(cells, cell, result, record, error, error_size)) {
        json_decref(record);
        record = NULL;
    }
    json_decref(result);
    return record;
}

bool sweep_cells_put(struct sweep_cells *cells, const struct cell *cell, unsigned block,
                     json_t *record, double seconds, char *error, size_t error_size)
{
    char id[UNIT_ID_SIZE];
    unit_id(&cells->units, cell, block, id);
    if (!unit_store_put(cells->folder, id, record, seconds, error, error_size))
        return false;
    json_t *result = unit_store_get(cells->folder, id, error, error_size);
    bool ok = result && result_place(cells, cell, result, record, error, error_size);
    json_decref(result);
    return ok;
}
