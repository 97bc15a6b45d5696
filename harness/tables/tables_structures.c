/* tables_structures.c - see tables_internal.h: structures.tsv, where simulated samples missed.
 *
 * Sums over the samples behind a cell's numbers, so that its structures add up to its whole.
 */
#include "harness/evidence/why_structures.h"
#include "harness/tables/tables_internal.h"

#include <stdlib.h>
#include <string.h>

static void structure_write(FILE *to, const struct cell_rows *cell,
                            const struct why_structure *structure, double total_ns)
{
    put_cell_key(to, cell);
    put_text(to, structure->name, '\t');
    number_put(to, structure->stall_ns, '\t');
    number_put(to, total_ns > 0 ? structure->stall_ns / total_ns : 0, '\t');
    for (int level = 0; level < 3; level++)
        number_put(to, structure->misses[level], '\t');
    number_put(to, structure->true_sharing, '\t');
    number_put(to, structure->false_sharing, '\t');
    number_put(to, structure->upgrades, '\n');
}

void structures_write(const struct table *table, FILE *to)
{
    fputs(
        "group\tvariant\tvariant_name\tworkload\tworkload_name\tworkers\tcell\tstructure\t"
        "stall_ns\tshare\tl1_misses\tl2_misses\tl3_misses\ttrue_sharing\tfalse_sharing\tupgrades\n",
        to);
    for (size_t at = 0; at < table->cells_count; at++) {
        const struct cell_rows *cell = &table->cells[at];
        struct why_structure *list;
        double total_ns;
        json_t *records = json_array();
        for (size_t i = 0; strcmp(cell_status(cell), "ok") == 0 && i < cell->count; i++)
            if (cell_uses(table, cell, i))
                json_array_append(records, cell->rows[i].record);
        size_t count = why_structures(records, &list, &total_ns);
        for (size_t i = 0; i < count; i++)
            structure_write(to, cell, &list[i], total_ns);
        free(list);
        json_decref(records);
    }
}
