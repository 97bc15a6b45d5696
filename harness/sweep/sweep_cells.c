/* sweep_cells.c - see sweep_cells.h. */
#include "harness/sweep/sweep_cells.h"

#include "harness/base/json_fields.h"
#include "harness/models/machine_start.h"
#include "harness/plan/cell_store.h"

void sweep_cells_begin(struct sweep_cells *cells, const struct sweep_file *sweep, struct plan *plan,
                       const char *folder)
{
    *cells = (struct sweep_cells){.folder = folder};
    cell_ids_begin(&cells->ids, sweep, plan);
}

void sweep_cells_end(struct sweep_cells *cells)
{
    cell_ids_end(&cells->ids);
}

json_t *sweep_cells_take(struct sweep_cells *cells, const struct cell *cell, unsigned block,
                         double *seconds, struct error *error)
{
    char id[CELL_BLOCK_ID_SIZE];
    cell_id_of(&cells->ids, cell, block, id);
    json_t *result = cell_store_get(cells->folder, id, error);
    if (!result)
        return NULL;
    *seconds = field_number(result, "seconds");
    json_t *record = json_incref(json_object_get(result, "record"));
    if (!machine_text_is_simulated(cell->machine) && json_object_get(result, "cpu")) {
        json_object_set(record, "host", json_object_get(result, "host"));
        json_object_set(record, "cpu", json_object_get(result, "cpu"));
    }
    json_decref(result);
    return record;
}

bool sweep_cells_put(struct sweep_cells *cells, const struct cell *cell, unsigned block,
                     json_t *record, double seconds, struct error *error)
{
    char id[CELL_BLOCK_ID_SIZE];
    cell_id_of(&cells->ids, cell, block, id);
    if (!cell_store_put(cells->folder, id, record, seconds, true, error))
        return false;
    json_t *kept = sweep_cells_take(cells, cell, block, &seconds, error);
    if (kept) {
        json_object_clear(record);
        json_object_update(record, kept);
    }
    json_decref(kept);
    return kept != NULL;
}
