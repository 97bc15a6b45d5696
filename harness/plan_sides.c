/* plan_sides.c - see plan_multiply() in plan.h. */
#define _GNU_SOURCE
#include "harness/plan.h"

#include <stdio.h>
#include <stdlib.h>

static json_t *groups_of_side(const json_t *groups, const char *side)
{
    json_t *renamed = json_array();
    size_t i;
    const json_t *group;
    json_array_foreach(groups, i, group)
        json_array_append_new(renamed, json_sprintf("%s@%s", json_string_value(group), side));
    return renamed;
}

static struct cell cell_of_side(const struct cell *cell, const struct plan_side *side,
                                const char *machine)
{
    struct cell copy = *cell;
    char place[256];
    snprintf(place, sizeof place, "%s@%s", machine, side->name);
    record_cell_id(copy.id, cell->variant, cell->workload, cell->workers, place);
    copy.groups = groups_of_side(cell->groups, side->name);
    copy.side = side;
    return copy;
}

void plan_multiply(struct plan *plan, const struct plan_side *sides, size_t count,
                   const char *machine)
{
    struct cell *cells = calloc(plan->count * count + 1, sizeof *cells);
    if (!cells)
        abort();
    for (size_t i = 0; i < plan->count; i++)
        for (size_t k = 0; k < count; k++)
            cells[i * count + k] = cell_of_side(&plan->cells[i], &sides[k], machine);
    for (size_t i = 0; i < plan->count; i++)
        json_decref(plan->cells[i].groups);
    free(plan->cells);
    plan->cells = cells;
    plan->count *= count;
}
