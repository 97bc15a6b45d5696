/* sweep_tell.c - see sweep_state.h: counts, and what people are told while a sweep goes on. */
#include "harness/sweep/sweep_state.h"

#include "harness/base/json_fields.h"
#include "harness/base/monotonic.h"
#include "harness/base/progress.h"
#include "harness/base/text.h"
#include "harness/host/topology.h"
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "harness/sweep/engine.h"

#include <inttypes.h>
#include <string.h>

#define ANNOUNCE_SECONDS 0.1

enum { LABEL_SIZE = 256 };

static void cell_label(const struct cell *cell, char label[LABEL_SIZE])
{
    snprintf(label, LABEL_SIZE, "%s on %s, %s%s%s", cell->variant, cell->workload,
             counted((uint64_t)cell->workers, "worker").s, cell->side ? ", side " : "",
             cell->side ? cell->side->name : "");
}

bool sweep_tell_count(struct sweep_state *state, const json_t *record)
{
    const char *status = field_text(record, "status");
    bool ok = strcmp(status, "ok") == 0, failed = strcmp(status, "failed") == 0;
    size_t *count = ok ? &state->run->ok : failed ? &state->run->failed : &state->run->skipped;
    (*count)++;
    state->run->cut_short += ok && json_object_get(record, "short_ns") != NULL;
    state->progress.done++;
    state->progress.failed = state->run->failed;
    state->progress.skipped = state->run->skipped;
    return !ok;
}

void sweep_tell_complaint(struct sweep_state *state, const struct cell *cell, const json_t *record)
{
    char label[LABEL_SIZE];
    cell_label(cell, label);
    progress_message(&state->progress, "%s: %s: %s", field_text(record, "status"), label,
                     field_text(record, "reason"));
}

void sweep_tell_event_sets(struct sweep_state *state, const json_t *record)
{
    json_int_t sets = field_integer(record, "event_sets");
    if (sets <= (json_int_t)state->event_sets)
        return;
    state->event_sets = (unsigned)sets;
    if (sets > (json_int_t)state->run->sweep->reps)
        progress_message(&state->progress,
                         "the events fall into %u sets, counted in turn: %" PRId64
                         " blocks do not reach all of them",
                         state->event_sets, state->run->sweep->reps);
}

void sweep_tell_next(struct sweep_state *state, const struct cell *cell, unsigned block, size_t i)
{
    unsigned reps = (unsigned)state->run->sweep->reps;
    char label[LABEL_SIZE];
    double now = monotonic_seconds();
    if (now < state->announced + ANNOUNCE_SECONDS)
        return;
    state->announced = now;
    cell_label(cell, label);
    progress_show(&state->progress, label,
                  plan_seconds_left(state->run->plan, state->order, i,
                                    block + 1 < reps ? reps - 1 - block : 0));
}

void sweep_tell_total(struct sweep_state *state, unsigned block)
{
    const struct plan *plan = state->run->plan;
    size_t now = 0, later = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct cell *cell = &plan->cells[i];
        size_t reps = cell->reps ? cell->reps : (size_t)state->run->sweep->reps;
        now += cell->why != WHY_NONE;
        if (!cell->given_up && block + 1 < reps)
            later += reps - 1 - block;
    }
    state->progress.total = state->progress.done + now + later;
}

static int cores_of(const char *machine)
{
    return machine_text_is_simulated(machine) ? machine_spec_cores(machine) : topology_cpu_count();
}

void sweep_tell_workers(struct sweep_state *state)
{
    const struct plan *plan = state->run->plan;
    json_t *most = json_object(); /* machine -> workers */
    const char *machine;
    json_t *workers;
    for (size_t i = 0; i < plan->count; i++) {
        const struct cell *cell = &plan->cells[i];
        if (state->run->engine && !machine_text_is_simulated(cell->machine))
            continue; /* not on this one */
        if (cell->workers > json_integer_value(json_object_get(most, cell->machine)))
            json_object_set_new(most, cell->machine, json_integer(cell->workers));
    }
    json_object_foreach(most, machine, workers)
    {
        char text[LABEL_SIZE];
        bool simulated = machine_text_is_simulated(machine);
        if (topology_is_crowded(json_integer_value(workers), cores_of(machine),
                                state->run->sweep->pin, text, sizeof text))
            progress_message(&state->progress, "warning: up to %s%s%s", text,
                             simulated ? ", on " : "", simulated ? machine : "");
    }
    json_decref(most);
}
