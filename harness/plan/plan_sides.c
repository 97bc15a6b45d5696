/* plan_sides.c - see plan_multiply() in plan.h. */
#include "harness/base/json_fields.h"
#include "harness/plan/plan.h"

#include "harness/base/memory.h"

#include <stdlib.h>

static json_t *groups_of_side(const json_t *groups, const char *side)
{
    json_t *renamed = json_array();
    json_each(group, groups)
        json_array_append_new(renamed, json_sprintf("%s@%s", json_string_value(group), side));
    return renamed;
}

static struct cell cell_of_side(const struct cell *cell, const struct plan_side *side)
{
    struct cell copy = *cell;
    if (cell->events)
        copy.events = xstrdup(cell->events);
    copy.groups = groups_of_side(cell->groups, side->name);
    copy.side = side;
    plan_name_cell(&copy);
    return copy;
}

void plan_multiply(struct plan *plan, const struct plan_side *sides, size_t count)
{
    struct cell *cells = xcalloc(plan->count * count + 1, sizeof *cells);
    for (size_t i = 0; i < plan->count; i++)
        for (size_t k = 0; k < count; k++)
            cells[i * count + k] = cell_of_side(&plan->cells[i], &sides[k]);
    for (size_t i = 0; i < plan->count; i++) {
        json_decref(plan->cells[i].groups);
        free(plan->cells[i].events);
    }
    free(plan->cells);
    plan->cells = cells;
    plan->count *= count;
    plan->room = plan->count;
    plan_index(plan);
}
