/* sweep_fetch.c - see sweep_state.h: where the records of a block come from. Each is in the folder
 * of results already, or an engine had its sample measured, or a process of our own measures it:
 * natively one after the other, simulated ones side by side.
 */
#include "harness/sweep/sweep_state.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/monotonic.h"
#include "harness/base/stop.h"
#include "harness/base/text.h"
#include "harness/evidence/process_time.h"
#include "harness/models/machine_start.h"
#include "harness/plan/cell_store.h"
#include "harness/plan/cell_time.h"
#include "harness/plan/stopping_rule.h"
#include "harness/plan/sweep_request.h"
#include "harness/records/hosts_used.h"
#include "harness/records/same_work.h"
#include "harness/sample/child.h"
#include "harness/sample/sample_pool.h"
#include "harness/sweep/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A guess for simulated cells of which nothing is known, that only decides how many jobs there are:
 * one that was given too much leaves the rest. */
enum { SECONDS_UNKNOWN = 2 };

enum { REASON_SIZE = 1024, PATH_SIZE = 4096 };

/* Takes note of the record. If the cell has now run into the time limit too often, the record says
 * that it is not tried again. */
static void cell_note(struct cell *cell, json_t *record)
{
    stopping_rule_mark(cell, record);
    stopping_rule_note(cell, record);
    if (!cell->given_up || !child_record_timed_out(record))
        return;
    char reason[REASON_SIZE];
    snprintf(reason, sizeof reason, "%s, for the second time; the cell is not tried again",
             field_text(record, "reason"));
    record_fail(record, reason);
}

/* Adds what only the sweep knows of a sample. */
static void record_complete(const struct sweep_state *state, const struct cell *cell,
                            unsigned block, json_t *record)
{
    json_object_set_new(record, "cell", json_string(cell->id));
    json_object_set_new(record, "block", json_integer(block));
    json_object_set_new(record, "position", json_integer((json_int_t)state->position));
    json_object_set_new(record, "why", json_string(why_text(cell->why)));
    json_object_set(record, "groups", cell->groups);
    if (cell->side)
        json_object_set_new(record, "side", json_string(cell->side->name));
    if (cell->side && cell->side->revision)
        json_object_set_new(record, "revision", json_string(cell->side->revision));
}

static json_t *cell_sample(struct sweep_state *state, struct cell *cell, unsigned block)
{
    struct sample_request request = sweep_request_cell(&state->request, cell, block);
    double before = monotonic_seconds();
    json_t *record;
    if (state->run->hyperfine) {
        char path[PATH_SIZE];
        process_time_json_path(path, sizeof path, state->run->folder, cell->id,
                               (int64_t)state->run->seed, block);
        record = child_run_sample_timed(
            &request,
            &(struct sample_outside){.hyperfine = state->run->hyperfine, .json_path = path});
    } else {
        record = child_run_sample(&request);
    }
    double seconds = monotonic_seconds() - before;
    cell->seconds += seconds;
    cell->timed++;
    cell->processes++;
    cell->process_seconds += seconds;
    return record;
}

static bool written(const struct sweep_state *state, int result)
{
    if (result)
        error_print(state->error, "cannot write %s: %s; in it: %s", state->file.path,
                    strerror(-result), counted(state->position, "sample").s);
    return !result;
}

static bool room_reserve(struct sweep_state *state)
{
    return written(state, record_file_reserve(&state->file));
}

/* False if the program that measures is no longer there. Its records would say nothing about their
 * cells, which are measured when the sweep is resumed. */
static bool program_ran(const struct sweep_state *state, const json_t *record)
{
    if (!child_record_has_no_program(record))
        return true;
    return error_set(
        state->error,
        "no sample can be started, %s; in %s: %s; `schedlab sweep --resume` goes on once the "
        "program is back",
        field_text(record, "reason"), state->file.path, counted(state->position, "sample").s);
}

/* Completes and judges the record, and puts it into the file. Takes it. */
static bool record_keep(struct sweep_state *state, struct cell *cell, unsigned block,
                        json_t *record)
{
    struct error reason;
    record_complete(state, cell, block, record);
    same_work_add(state->work, record);
    if (same_work_judge(state->work, record, false, &reason))
        record_fail(record, reason.text);
    hosts_used_note(state->machines, record, "");
    cell_note(cell, record);
    sweep_tell_event_sets(state, record);
    state->file.safe_elsewhere = cell->stored;
    int result = record_file_append(&state->file, record);
    if (!result) {
        state->position++;
        if (sweep_tell_count(state, record))
            sweep_tell_complaint(state, cell, record);
    }
    json_decref(record);
    cell->why = WHY_NONE;
    return written(state, result);
}

/* Puts a sample that was measured here into the folder of results, if there is one. */
static bool result_keep(struct sweep_state *state, const struct cell *cell, unsigned block,
                        json_t *record, double seconds)
{
    if (!state->run->cells && !state->run->elsewhere)
        return true;
    if (state->run->cells &&
        !sweep_cells_put(&state->cells, cell, block, record, seconds, state->error))
        return false;
    if (!state->run->cells && !machine_text_is_simulated(cell->machine))
        hosts_used_mark(record);
    return sweep_kinds_note(&state->kinds, cell, record, "", state->error);
}

/* One sample, from the reservation on the disk to the record. False if the sweep cannot go on. */
static bool cell_measure(struct sweep_state *state, struct cell *cell, unsigned block)
{
    if (!sweep_kinds_may_measure(&state->kinds, cell, state->error) || !room_reserve(state))
        return false;
    double before = cell->process_seconds;
    json_t *record = cell_sample(state, cell, block);
    if (!stop_signal() && program_ran(state, record) &&
        result_keep(state, cell, block, record, cell->process_seconds - before))
        return record_keep(state, cell, block, record);
    json_decref(record);
    return false;
}

/* Keeps the records of those that have ended, in the order in which they were started. */
static bool pool_keep(struct sweep_state *state, unsigned block)
{
    void *tag;
    double seconds;
    json_t *record;
    while ((record = sample_pool_take(state->pool, &tag, &seconds))) {
        struct cell *cell = tag;
        if (!cell->stored) {
            cell->seconds += seconds / state->pool_width; /* so many go on at once */
            cell->timed++;
            cell->processes++;
            cell->process_seconds += seconds;
        }
        if (!program_ran(state, record) || !room_reserve(state) ||
            (!cell->stored && !result_keep(state, cell, block, record, seconds))) {
            json_decref(record);
            return false;
        }
        if (!record_keep(state, cell, block, record))
            return false;
    }
    return true;
}

/* Waits until there is room for another one or, with `all`, until none is left. */
static bool pool_wait(struct sweep_state *state, unsigned block, bool all)
{
    while (all ? sample_pool_count(state->pool) > 0 : !sample_pool_has_room(state->pool)) {
        if (!sample_pool_wait(state->pool) || stop_signal() || !pool_keep(state, block))
            return false;
    }
    return true;
}

bool sweep_fetch_rest(struct sweep_state *state, unsigned block)
{
    return pool_wait(state, block, true);
}

static bool cell_start(struct sweep_state *state, struct cell *cell, unsigned block)
{
    if (!pool_wait(state, block, false) || !room_reserve(state))
        return false;
    struct sample_request request = sweep_request_cell(&state->request, cell, block);
    sample_pool_start(state->pool, &request, cell);
    return true;
}

/* The cell's record of the block, if it is in the folder of results. False if the sweep cannot go
 * on. */
static bool result_take(struct sweep_state *state, struct cell *cell, unsigned block,
                        json_t **record)
{
    double seconds;
    *record = NULL;
    if (state->run->cells)
        *record = sweep_cells_take(&state->cells, cell, block, &seconds, state->error);
    cell->stored = *record != NULL;
    if (cell->stored) {
        cell->processes++;
        cell->process_seconds += seconds;
    }
    if (*record && !sweep_kinds_note(&state->kinds, cell, *record, "", state->error)) {
        json_decref(*record);
        *record = NULL;
    }
    return *record || !state->run->cells || !*state->error->text;
}

/* A record that was there, in its place among those that are being measured. Takes it. */
static bool stored_add(struct sweep_state *state, struct cell *cell, unsigned block, json_t *record)
{
    if (!pool_wait(state, block, false)) {
        json_decref(record);
        return false;
    }
    sample_pool_add(state->pool, record, cell);
    return pool_keep(state, block);
}

bool sweep_fetch_sample(struct sweep_state *state, struct cell *cell, unsigned block)
{
    json_t *record;
    if (!result_take(state, cell, block, &record))
        return false;
    if (record)
        return stored_add(state, cell, block, record);
    if (machine_text_is_simulated(cell->machine))
        return cell_start(state, cell, block);
    return sweep_fetch_rest(state, block) && !stop_signal() && cell_measure(state, cell, block);
}

void sweep_fetch_order(struct sweep_state *state, unsigned block)
{
    size_t count = state->run->plan->count, *order = state->order;
    plan_shuffle(state->run->plan->count, state->run->seed, block, order);
    for (size_t i = 0; state->run->reverse && i < count / 2; i++) {
        size_t swap = order[i];
        order[i] = order[count - 1 - i];
        order[count - 1 - i] = swap;
    }
}

/* True if the cell will be measured in the block `later`, which may be the one at hand. */
static bool cell_follows(const struct sweep_state *state, const struct cell *cell, unsigned block,
                         unsigned later)
{
    if (later == block)
        return cell->why != WHY_NONE;
    bool known = cell->notes_count > 0 && cell->notes[cell->notes_count - 1].block >= later;
    return later < (unsigned)state->run->sweep->reps && !cell->given_up && !known;
}

/* Samples that the folder of results lacks, of this block and of those that hold every cell, in the
 * order of measuring; *count of them, to be freed. */
static struct engine_sample *samples_lacking(struct sweep_state *state, unsigned block,
                                             size_t *count)
{
    struct plan *plan = state->run->plan;
    unsigned reps = (unsigned)state->run->sweep->reps, end = block + 1 > reps ? block + 1 : reps;
    struct engine_sample *samples = xcalloc(plan->count * (end - block) + 1, sizeof *samples);
    struct cell_times times;
    char results[PATH_SIZE];
    *count = 0;
    snprintf(results, sizeof results, "%s/..", state->run->folder);
    json_t *seen = json_object();
    cell_times_begin(&times, state->run->sweep, plan, results);
    for (unsigned later = block; later < end; later++) {
        sweep_fetch_order(state, later);
        for (size_t i = 0; i < plan->count; i++) {
            const struct cell *cell = &plan->cells[state->order[i]];
            struct engine_sample *next = &samples[*count];
            if (!cell_follows(state, cell, block, later))
                continue;
            double seconds = cell_times_of(&times, cell).seconds;
            *next = (struct engine_sample){.of = cell, .block = later};
            next->seconds = isnan(seconds) ? SECONDS_UNKNOWN : seconds;
            cell_id_of(&state->cells.ids, cell, later, next->id);
            /* cells of two groups may be the same */
            if (json_object_get(seen, next->id) || cell_store_has(state->run->cells, next->id))
                continue;
            json_object_set_new(seen, next->id, json_true());
            ++*count;
        }
    }
    cell_times_end(&times);
    json_decref(seen);
    return samples;
}

/* Takes note of all native samples that the folder of results has and lacks, from this block on. */
static bool kinds_look(struct sweep_state *state, unsigned block)
{
    const struct plan *plan = state->run->plan;
    unsigned reps = (unsigned)state->run->sweep->reps, end = block + 1 > reps ? block + 1 : reps;
    double seconds;
    for (unsigned later = block; later < end; later++) {
        for (size_t i = 0; i < plan->count && !stop_signal(); i++) {
            const struct cell *cell = &plan->cells[i];
            if (machine_text_is_simulated(cell->machine) ||
                !cell_follows(state, cell, block, later))
                continue;
            json_t *record = sweep_cells_take(&state->cells, cell, later, &seconds, state->error);
            if (!record && *state->error->text)
                return false;
            bool fits = !record || sweep_kinds_note(&state->kinds, cell, record, "", state->error);
            if (!record)
                sweep_kinds_lack(&state->kinds, cell);
            json_decref(record);
            if (!fits)
                return false;
        }
    }
    return true;
}

bool sweep_fetch_foresee(struct sweep_state *state, unsigned block)
{
    struct engine *engine = state->run->engine;
    const char *kind;
    if (!state->run->cells || state->run->mix_machines)
        return true;
    return kinds_look(state, block) &&
           sweep_kinds_foresee(&state->kinds, !engine, &kind, state->error) &&
           (!engine || !kind || engine_kind_set(engine, kind, state->error));
}

bool sweep_fetch_block(struct sweep_state *state, unsigned block)
{
    if (!state->run->engine)
        return true;
    size_t count;
    struct engine_sample *samples = samples_lacking(state, block, &count);
    bool ok = count == 0 ||
              engine_measure(state->run->engine, samples, count, &state->progress, state->error);
    free(samples);
    return ok && !stop_signal();
}
