/* plan.c - see plan.h. The shuffle is GSL's, a Fisher-Yates. */
#include "harness/plan/plan.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "harness/spec/spec.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>

json_t *plan_json_cells(const json_t *plan)
{
    json_t *cells = json_object();
    json_each(cell, json_object_get(plan, "cells"))
        json_object_set(cells, field_text(cell, "cell"), cell);
    return cells;
}

const char *plan_json_stop(const json_t *cells, const char *id)
{
    return field_text(json_object_get(cells, id), "stop");
}

static struct cell *cell_at(const struct plan *plan, const json_t *number)
{
    return number ? &plan->cells[json_integer_value(number)] : NULL;
}

struct cell *plan_find(const struct plan *plan, const char *id)
{
    return cell_at(plan, json_object_get(plan->by_id, id));
}

void plan_index(struct plan *plan)
{
    json_decref(plan->by_id);
    plan->by_id = json_object();
    for (size_t i = 0; i < plan->count; i++)
        json_object_set_new(plan->by_id, plan->cells[i].id, json_integer((json_int_t)i));
}

static void plan_grow(struct plan *plan, size_t count)
{
    if (plan->cells && count <= plan->room)
        return;
    plan->room = count > 2 * plan->room ? count : 2 * plan->room;
    plan->cells = xrealloc(plan->cells, plan->room * sizeof *plan->cells);
}

static struct cell *cell_add(struct plan *plan, const struct cell *cell)
{
    plan_grow(plan, plan->count + 1);
    plan->cells[plan->count] = *cell;
    json_object_set_new(plan->by_id, cell->id, json_integer((json_int_t)plan->count));
    return &plan->cells[plan->count++];
}

/* Sets that are being joined: parent[s] is a set that s became a part of, or s. */
static size_t set_root(size_t *parent, size_t set)
{
    while (parent[set] != set) {
        parent[set] = parent[parent[set]];
        set = parent[set];
    }
    return set;
}

/* Makes all of the cell's set members of `set`. */
static void set_join(size_t *parent, const struct cell *cell, size_t set)
{
    parent[set_root(parent, cell->set)] = set_root(parent, set);
}

/* Cells that differ only in the events they count are compared with one another too. partners: the
 * first cell of each variant, workload, number of workers and machine. */
static void partners_join(const struct plan *plan, size_t *parent, json_t *partners,
                          const struct cell *cell)
{
    char id[CELL_ID_SIZE];
    record_cell_id(id, cell->variant, cell->workload, cell->workers, cell->machine);
    const struct cell *partner = cell_at(plan, json_object_get(partners, id));
    if (partner)
        set_join(parent, partner, cell->set);
    else
        json_object_set_new(partners, id, json_integer((json_int_t)(cell - plan->cells)));
}

void plan_name_cell(struct cell *cell)
{
    char *where = text_format("%s%s%s%s%s", cell->machine, cell->side ? "@" : "",
                              cell->side ? cell->side->name : "", cell->events ? " counting " : "",
                              cell->events ? cell->events : "");
    record_cell_id(cell->id, cell->variant, cell->workload, cell->workers, where);
    free(where);
}

/* While a plan is made. */
struct making {
    struct plan *plan;
    size_t *parent, sets; /* see set_root() */
    json_t *partners;     /* see partners_join() */
};

/* The one that the variant asks for; if that is wrong, the sample will complain. */
static enum allocator allocator_of(const char *variant)
{
    struct error unused;
    const struct variant_spec *spec = variant_spec_kept(variant, &unused);
    return spec ? (enum allocator)spec->common.malloc : ALLOCATOR_JEMALLOC;
}

/* Adds the cells of one group, workload and number of workers; they are one set, the newest.
 * suffix: behind the group's id. */
static void plan_add(struct making *making, const struct sweep_group *group, const char *suffix,
                     const char *workload, int workers, const char *machine)
{
    struct plan *plan = making->plan;
    size_t set = making->sets;
    for (unsigned v = 0; v < group->variants_count; v++) {
        struct cell new = {
            .variant = group->variants[v], .workload = workload, .workers = workers, .set = set};
        new.machine = machine;
        new.allocator = allocator_of(group->variants[v]);
        new.events = text_join(group->events, group->events_count);
        plan_name_cell(&new);
        struct cell *cell = plan_find(plan, new.id);
        if (cell) {
            free(new.events);
        } else {
            new.groups = json_array();
            cell = cell_add(plan, &new);
        }
        set_join(making->parent, cell, set);
        json_array_append_new(cell->groups, json_sprintf("%s%s", group->id, suffix));
        partners_join(plan, making->parent, making->partners, cell);
    }
}

/* NULL: the group has no what_if. */
static const char *what_if_machine(struct plan *plan, const struct sweep_file *sweep,
                                   const struct sweep_group *group)
{
    struct error unused;
    const char *settings = sweep_group_what_if(sweep, group);
    char *machine = settings
                        ? machine_spec_what_if(sweep_group_machine(sweep, group), settings, &unused)
                        : NULL;
    if (!machine)
        return NULL;
    return array_add(plan->machines, plan->machines_count) = machine;
}

static void making_begin(struct making *making, const struct sweep_file *sweep)
{
    size_t sets = 0;
    for (unsigned g = 0; g < sweep->groups_count; g++)
        sets += (size_t)sweep->groups[g].workloads_count * sweep->groups[g].workers_count;
    *making = (struct making){.plan = xcalloc(1, sizeof *making->plan),
                              .parent = xcalloc(sets + 1, sizeof *making->parent),
                              .partners = json_object()};
    for (size_t i = 0; i < sets; i++)
        making->parent[i] = i;
    plan_index(making->plan);
}

static struct plan *making_end(struct making *making)
{
    struct plan *plan = making->plan;
    for (size_t i = 0; i < plan->count; i++)
        plan->cells[i].set = set_root(making->parent, plan->cells[i].set);
    for (size_t i = 0; i < plan->count && plan_is_native(plan); i++)
        plan->cells[i].one_call = machine_text_is_simulated(plan->cells[i].machine);
    free(making->parent);
    json_decref(making->partners);
    return plan;
}

struct plan *plan_make(const struct sweep_file *sweep)
{
    struct making making;
    making_begin(&making, sweep);
    for (unsigned g = 0; g < sweep->groups_count; g++) {
        const struct sweep_group *group = &sweep->groups[g];
        const char *machine = sweep_group_machine(sweep, group);
        const char *other = what_if_machine(making.plan, sweep, group);
        for (unsigned w = 0; w < group->workloads_count; w++)
            for (unsigned p = 0; p < group->workers_count; p++) {
                const char *workload = group->workloads[w];
                int workers = (int)group->workers[p];
                plan_add(&making, group, "", workload, workers, machine);
                if (other)
                    plan_add(&making, group, PLAN_WHAT_IF, workload, workers, other);
                making.sets++;
            }
    }
    return making_end(&making);
}

bool plan_is_simulated(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (machine_text_is_simulated(plan->cells[i].machine))
            return true;
    return false;
}

bool plan_is_native(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (!machine_text_is_simulated(plan->cells[i].machine))
            return true;
    return false;
}

void plan_free(struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        json_decref(plan->cells[i].groups);
        free(plan->cells[i].notes);
        free(plan->cells[i].events);
    }
    free(plan->cells);
    texts_free(plan->machines, plan->machines_count);
    json_decref(plan->by_id);
    free(plan);
}

void plan_shuffle(size_t count, uint64_t seed, unsigned block, size_t *order)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    /* All bits of the seed and the block count, and neighbouring blocks get unlike streams. */
    uint64_t mixed = (seed ^ (seed >> 32)) * UINT64_C(0x9e3779b97f4a7c15) + block;
    mixed = (mixed ^ (mixed >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, (unsigned long)(mixed >> 32));
    gsl_ran_shuffle(rng, order, count, sizeof *order);
    gsl_rng_free(rng);
}

/* Seconds that one more sample of the cell will take. mean is used for a cell that was not measured
 * yet. */
static double cell_seconds(const struct cell *cell, double mean)
{
    if (cell->given_up)
        return 0;
    return cell->timed > 0 ? cell->seconds / cell->timed : mean;
}

double plan_seconds_left(const struct plan *plan, const size_t *order, size_t next, unsigned blocks)
{
    double seconds = 0, block_seconds = 0, rest_seconds = 0;
    unsigned samples = 0;
    for (size_t i = 0; i < plan->count; i++) {
        seconds += plan->cells[i].seconds;
        samples += plan->cells[i].timed;
    }
    if (samples == 0)
        return NAN;
    for (size_t i = 0; i < plan->count; i++) {
        double cell = cell_seconds(&plan->cells[order[i]], seconds / samples);
        block_seconds += cell;
        if (i >= next && plan->cells[order[i]].why != WHY_NONE)
            rest_seconds += cell;
    }
    return rest_seconds + block_seconds * blocks;
}
