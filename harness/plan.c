/* plan.c - see plan.h. The shuffle is GSL's, a Fisher-Yates. */
#define _GNU_SOURCE
#include "harness/plan.h"

#include "harness/machine_spec.h"
#include "harness/machine_start.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cell *plan_find(const struct plan *plan, const char *id)
{
    for (size_t i = 0; i < plan->count; i++)
        if (strcmp(plan->cells[i].id, id) == 0)
            return &plan->cells[i];
    return NULL;
}

const char *plan_json_stop(const json_t *plan, const char *id)
{
    size_t i;
    const json_t *cell;
    json_array_foreach(json_object_get(plan, "cells"), i, cell)
    {
        if (strcmp(record_text(cell, "cell"), id) == 0)
            return record_text(cell, "stop");
    }
    return "";
}

static struct cell *cell_add(struct plan *plan, const struct cell *cell)
{
    plan->cells = realloc(plan->cells, (plan->count + 1) * sizeof *plan->cells);
    if (!plan->cells)
        abort();
    plan->cells[plan->count] = *cell;
    return &plan->cells[plan->count++];
}

/* Makes all of the cell's set members of `set`. */
static void set_join(struct plan *plan, const struct cell *cell, size_t set)
{
    size_t from = cell->set;
    for (size_t i = 0; i < plan->count; i++)
        if (plan->cells[i].set == from)
            plan->cells[i].set = set;
}

/* What is measured twice, with other events counted, is compared too. */
static void partners_join(struct plan *plan, const struct cell *cell)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct cell *other = &plan->cells[i];
        if (other->set != cell->set && other->workers == cell->workers &&
            strcmp(other->machine, cell->machine) == 0 &&
            strcmp(other->variant, cell->variant) == 0 &&
            strcmp(other->workload, cell->workload) == 0)
            set_join(plan, other, cell->set);
    }
}

void plan_name_cell(struct cell *cell)
{
    char *where = NULL;
    if (asprintf(&where, "%s%s%s%s%s", cell->machine, cell->side ? "@" : "",
                 cell->side ? cell->side->name : "", cell->events ? " counting " : "",
                 cell->events ? cell->events : "") < 0)
        abort();
    record_cell_id(cell->id, cell->variant, cell->workload, cell->workers, where);
    free(where);
}

/* Adds the cells of one group, workload and number of workers; they are one set, of this number.
 * suffix: behind the group's id. */
static void plan_add(struct plan *plan, const struct sweep_group *group, const char *suffix,
                     const char *workload, int workers, size_t set, const char *machine)
{
    for (unsigned v = 0; v < group->variants_count; v++) {
        struct cell new = {
            .variant = group->variants[v], .workload = workload, .workers = workers, .set = set};
        new.machine = machine;
        new.events = sweep_events_join(group->events, group->events_count);
        plan_name_cell(&new);
        struct cell *cell = plan_find(plan, new.id);
        if (cell) {
            free(new.events);
        } else {
            new.groups = json_array();
            cell = cell_add(plan, &new);
        }
        set_join(plan, cell, set);
        json_array_append_new(cell->groups, json_sprintf("%s%s", group->id, suffix));
        partners_join(plan, cell);
    }
}

/* NULL: the group has no what_if. */
static const char *what_if_machine(struct plan *plan, const struct sweep_file *sweep,
                                   const struct sweep_group *group)
{
    char unused[1024];
    const char *settings = sweep_group_what_if(sweep, group);
    char *machine = settings ? machine_spec_what_if(sweep_group_machine(sweep, group), settings,
                                                    unused, sizeof unused)
                             : NULL;
    if (!machine)
        return NULL;
    plan->machines = realloc(plan->machines, (plan->machines_count + 1) * sizeof plan->machines[0]);
    if (!plan->machines)
        abort();
    return plan->machines[plan->machines_count++] = machine;
}

struct plan *plan_make(const struct sweep_file *sweep)
{
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        abort();
    size_t sets = 0;
    for (unsigned g = 0; g < sweep->groups_count; g++) {
        const struct sweep_group *group = &sweep->groups[g];
        const char *machine = sweep_group_machine(sweep, group);
        const char *other = what_if_machine(plan, sweep, group);
        for (unsigned w = 0; w < group->workloads_count; w++)
            for (unsigned p = 0; p < group->workers_count; p++) {
                const char *workload = group->workloads[w];
                int workers = (int)group->workers[p];
                plan_add(plan, group, "", workload, workers, sets, machine);
                if (other)
                    plan_add(plan, group, PLAN_WHAT_IF, workload, workers, sets, other);
                sets++;
            }
    }
    return plan;
}

bool plan_is_simulated(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (machine_text_is_simulated(plan->cells[i].machine))
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
    for (size_t i = 0; i < plan->machines_count; i++)
        free(plan->machines[i]);
    free(plan->machines);
    free(plan);
}

void plan_shuffle(const struct plan *plan, uint64_t seed, unsigned block, size_t *order)
{
    for (size_t i = 0; i < plan->count; i++)
        order[i] = i;
    /* All bits of the seed and the block count, and neighbouring blocks get unlike streams. */
    uint64_t mixed = (seed ^ (seed >> 32)) * UINT64_C(0x9e3779b97f4a7c15) + block;
    mixed = (mixed ^ (mixed >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, (unsigned long)(mixed >> 32));
    gsl_ran_shuffle(rng, order, plan->count, sizeof *order);
    gsl_rng_free(rng);
}

/* What one more sample of the cell will take; mean is used for a cell that was not measured yet. */
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
