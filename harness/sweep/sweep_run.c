/* sweep_run.c - see sweep_run.h. */
#include "harness/sweep/sweep_run.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/monotonic.h"
#include "harness/base/progress.h"
#include "harness/base/stop.h"
#include "harness/base/text.h"
#include "harness/host/topology.h"
#include "harness/plan/cell_store.h"
#include "harness/plan/cell_time.h"
#include "harness/plan/stopping_rule.h"
#include "harness/plan/sweep_origin.h"
#include "harness/plan/sweep_request.h"
#include "harness/records/hosts_used.h"
#include "harness/records/process_time.h"
#include "harness/records/records.h"
#include "harness/records/run_folder.h"
#include "harness/records/same_work.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"
#include "harness/sample/sample_pool.h"
#include "harness/spec/machine_spec.h"
#include "harness/spec/machine_start.h"
#include "harness/sweep/engine.h"
#include "harness/sweep/sweep_cells.h"
#include "harness/sweep/sweep_kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A guess for simulated cells of which nothing is known, that only decides how many jobs there are:
 * one that was given too much leaves the rest. */
enum { SECONDS_UNKNOWN = 2 };

#define ANNOUNCE_SECONDS 0.1

enum { REASON_SIZE = 1024, LABEL_SIZE = 256, PATH_SIZE = 4096, ERROR_SIZE = 4096 };

/* Measuring ----------------------------------------------------------------------------------- */

struct state {
    struct sweep_run *run;
    struct stopping_rule needs;
    struct progress progress;
    struct record_file file;
    struct same_work *digests;
    struct sample_request request; /* what all samples have in common */
    struct sample_pool *pool;      /* of simulated samples on their way */
    int pool_width;
    struct sweep_cells cells; /* where run->cells is not NULL */
    struct sweep_kinds kinds;
    json_t *machines;    /* that measured (hosts_used.h) */
    const char *unnamed; /* the processor of records read back that name none */
    size_t *order;
    double announced;    /* when a cell was last shown */
    size_t position;     /* of the next record in the whole run */
    unsigned event_sets; /* the most sets that a sample's events fall into, as far as records say */
    char *error;         /* one line on what went wrong; else "" */
    size_t error_size;
};

/* Takes note of the record. If the cell has now run into the time limit too often, the record says
 * that it is not tried again. */
static void cell_note(struct cell *cell, json_t *record)
{
    stopping_rule_note(cell, record);
    if (!cell->given_up || !child_record_timed_out(record))
        return;
    char reason[REASON_SIZE];
    snprintf(reason, sizeof reason, "%s, for the second time; the cell is not tried again",
             field_text(record, "reason"));
    record_fail(record, reason);
}

/* Adds what only the sweep knows of a sample. */
static void record_complete(const struct state *state, const struct cell *cell, unsigned block,
                            json_t *record)
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

static void cell_label(const struct cell *cell, char label[LABEL_SIZE])
{
    snprintf(label, LABEL_SIZE, "%s on %s, %s%s%s", cell->variant, cell->workload,
             counted((uint64_t)cell->workers, "worker").s, cell->side ? ", side " : "",
             cell->side ? cell->side->name : "");
}

/* True if the record is not ok. */
static bool record_count(struct state *state, const json_t *record)
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

static void record_complain(struct state *state, const struct cell *cell, const json_t *record)
{
    char label[LABEL_SIZE];
    cell_label(cell, label);
    progress_message(&state->progress, "%s: %s: %s", field_text(record, "status"), label,
                     field_text(record, "reason"));
}

static json_t *cell_sample(struct state *state, struct cell *cell, unsigned block)
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

/* Blocks count the sets of events in turn; variants and groups may have unlike numbers of them. */
static void event_sets_learn(struct state *state, const json_t *record)
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

static bool written(const struct state *state, int result)
{
    if (result)
        snprintf(state->error, state->error_size, "cannot write %s: %s; in it: %s",
                 state->file.path, strerror(-result), counted(state->position, "sample").s);
    return !result;
}

static bool room_reserve(struct state *state)
{
    return written(state, record_file_reserve(&state->file));
}

/* False if the program that measures is no longer there. Its records would say nothing about their
 * cells, which are measured when the sweep is resumed. */
static bool program_ran(const struct state *state, const json_t *record)
{
    if (!child_record_has_no_program(record))
        return true;
    return error_set(
        state->error, state->error_size,
        "no sample can be started, %s; in %s: %s; `schedlab sweep --resume` goes on once the "
        "program is back",
        field_text(record, "reason"), state->file.path, counted(state->position, "sample").s);
}

/* Completes and judges the record, and puts it into the file. Takes it. */
static bool record_keep(struct state *state, struct cell *cell, unsigned block, json_t *record)
{
    char reason[REASON_SIZE];
    record_complete(state, cell, block, record);
    same_work_add(state->digests, record);
    if (same_work_judge(state->digests, record, false, reason, sizeof reason))
        record_fail(record, reason);
    hosts_used_note(state->machines, record, "");
    cell_note(cell, record);
    event_sets_learn(state, record);
    state->file.safe_elsewhere = cell->stored;
    int result = record_file_append(&state->file, record);
    if (!result) {
        state->position++;
        if (record_count(state, record))
            record_complain(state, cell, record);
    }
    json_decref(record);
    cell->why = WHY_NONE;
    return written(state, result);
}

/* Puts a sample that was measured here into the folder of results, if there is one. */
static bool result_keep(struct state *state, const struct cell *cell, unsigned block,
                        json_t *record, double seconds)
{
    if (!state->run->cells && !state->run->elsewhere)
        return true;
    if (state->run->cells && !sweep_cells_put(&state->cells, cell, block, record, seconds,
                                              state->error, state->error_size))
        return false;
    if (!state->run->cells && !machine_text_is_simulated(cell->machine))
        hosts_used_mark(record);
    return sweep_kinds_note(&state->kinds, cell, record, "", state->error, state->error_size);
}

/* One sample, from the reservation on the disk to the record. False if the sweep cannot go on. */
static bool cell_measure(struct state *state, struct cell *cell, unsigned block)
{
    if (!sweep_kinds_may_measure(&state->kinds, cell, state->error, state->error_size) ||
        !room_reserve(state))
        return false;
    double before = cell->process_seconds;
    json_t *record = cell_sample(state, cell, block);
    if (!stop_signal() && program_ran(state, record) &&
        result_keep(state, cell, block, record, cell->process_seconds - before))
        return record_keep(state, cell, block, record);
    json_decref(record);
    return false;
}

/* Simulated samples ---------------------------------------------------------------------------- */

/* Keeps the records of those that have ended, in the order in which they were started. */
static bool pool_keep(struct state *state, unsigned block)
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
static bool pool_wait(struct state *state, unsigned block, bool all)
{
    while (all ? sample_pool_count(state->pool) > 0 : !sample_pool_has_room(state->pool)) {
        if (!sample_pool_wait(state->pool) || stop_signal() || !pool_keep(state, block))
            return false;
    }
    return true;
}

static bool pool_drain(struct state *state, unsigned block)
{
    return pool_wait(state, block, true);
}

static bool cell_start(struct state *state, struct cell *cell, unsigned block)
{
    if (!pool_wait(state, block, false) || !room_reserve(state))
        return false;
    struct sample_request request = sweep_request_cell(&state->request, cell, block);
    sample_pool_start(state->pool, &request, cell);
    return true;
}

/* The cell's record of the block, if it is in the folder of results. False if the sweep cannot go
 * on. */
static bool result_take(struct state *state, struct cell *cell, unsigned block, json_t **record)
{
    double seconds;
    *record = NULL;
    if (state->run->cells)
        *record =
            sweep_cells_take(&state->cells, cell, block, &seconds, state->error, state->error_size);
    cell->stored = *record != NULL;
    if (cell->stored) {
        cell->processes++;
        cell->process_seconds += seconds;
    }
    if (*record &&
        !sweep_kinds_note(&state->kinds, cell, *record, "", state->error, state->error_size)) {
        json_decref(*record);
        *record = NULL;
    }
    return *record || !state->run->cells || !*state->error;
}

/* A record that was there, in its place among those that are being measured. Takes it. */
static bool stored_add(struct state *state, struct cell *cell, unsigned block, json_t *record)
{
    if (!pool_wait(state, block, false)) {
        json_decref(record);
        return false;
    }
    sample_pool_add(state->pool, record, cell);
    return pool_keep(state, block);
}

/* One sample of the block, begun or done. */
static bool cell_take_turn(struct state *state, struct cell *cell, unsigned block)
{
    json_t *record;
    if (!result_take(state, cell, block, &record))
        return false;
    if (record)
        return stored_add(state, cell, block, record);
    if (machine_text_is_simulated(cell->machine))
        return cell_start(state, cell, block);
    return pool_drain(state, block) && !stop_signal() && cell_measure(state, cell, block);
}

static void block_order(struct state *state, unsigned block)
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
static bool cell_follows(const struct state *state, const struct cell *cell, unsigned block,
                         unsigned later)
{
    if (later == block)
        return cell->why != WHY_NONE;
    bool known = cell->notes_count > 0 && cell->notes[cell->notes_count - 1].block >= later;
    return later < (unsigned)state->run->sweep->reps && !cell->given_up && !known;
}

/* Units that the folder of results lacks, of this block and of those that hold every cell, in the
 * order of measuring; *count of them, to be freed. */
static struct engine_cell *cells_lacking(struct state *state, unsigned block, size_t *count)
{
    struct plan *plan = state->run->plan;
    unsigned reps = (unsigned)state->run->sweep->reps, end = block + 1 > reps ? block + 1 : reps;
    struct engine_cell *cells = xcalloc(plan->count * (end - block) + 1, sizeof *cells);
    struct cell_times times;
    char results[PATH_SIZE];
    *count = 0;
    snprintf(results, sizeof results, "%s/..", state->run->folder);
    json_t *seen = json_object();
    cell_times_begin(&times, state->run->sweep, plan, results);
    for (unsigned later = block; later < end; later++) {
        block_order(state, later);
        for (size_t i = 0; i < plan->count; i++) {
            const struct cell *cell = &plan->cells[state->order[i]];
            struct engine_cell *next = &cells[*count];
            if (!cell_follows(state, cell, block, later))
                continue;
            double seconds = cell_times_of(&times, cell).seconds;
            *next = (struct engine_cell){.of = cell, .block = later};
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
    return cells;
}

/* Takes note of all native samples that the folder of results has and lacks, from this block on. */
static bool kinds_look(struct state *state, unsigned block)
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
            json_t *record = sweep_cells_take(&state->cells, cell, later, &seconds, state->error,
                                              state->error_size);
            if (!record && *state->error)
                return false;
            bool fits = !record || sweep_kinds_note(&state->kinds, cell, record, "", state->error,
                                                    state->error_size);
            if (!record)
                sweep_kinds_lack(&state->kinds, cell);
            json_decref(record);
            if (!fits)
                return false;
        }
    }
    return true;
}

/* Refuses what would mix kinds of processors before it is measured. block: the first with something
 * to measure. */
static bool kinds_foresee(struct state *state, unsigned block)
{
    struct engine *engine = state->run->engine;
    const char *kind;
    if (!state->run->cells || state->run->mix_machines)
        return true;
    return kinds_look(state, block) &&
           sweep_kinds_foresee(&state->kinds, !engine, &kind, state->error, state->error_size) &&
           (!engine || !kind || engine_kind_set(engine, kind, state->error, state->error_size));
}

/* Has the engine measure what the block needs. */
static bool block_fetch(struct state *state, unsigned block)
{
    if (!state->run->engine)
        return true;
    size_t count;
    struct engine_cell *cells = cells_lacking(state, block, &count);
    bool ok = count == 0 || engine_measure(state->run->engine, cells, count, &state->progress,
                                           state->error, state->error_size);
    free(cells);
    return ok && !stop_signal();
}

/* Shows which cell is next, the i-th of the block. Not more often than people read: the time left
 * is a sum over all cells, of which there may be many. */
static void cell_announce(struct state *state, const struct cell *cell, unsigned block, size_t i)
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

static bool block_measure(struct state *state, unsigned block)
{
    if (!block_fetch(state, block))
        return false;
    struct plan *plan = state->run->plan;
    block_order(state, block);
    for (size_t i = 0; i < plan->count && !stop_signal(); i++) {
        struct cell *cell = &plan->cells[state->order[i]];
        if (cell->why == WHY_NONE)
            continue;
        cell_announce(state, cell, block, i);
        if (!cell_take_turn(state, cell, block))
            return false;
    }
    return !stop_signal() && pool_drain(state, block) && !stop_signal();
}

/* How many samples are certain to come: those of this block and of the first `reps`. */
static void total_update(struct state *state, unsigned block)
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

/* Error is "" where nothing went wrong. */
static void blocks_measure(struct state *state)
{
    bool going_on = true, foreseen = false;
    size_t held, held_before = 0;
    for (unsigned block = 0; going_on && (held = stopping_rule_next(&state->needs, block)) > 0;
         block++) {
        total_update(state, block);
        if (block >= (unsigned)state->run->sweep->reps && held != held_before)
            progress_message(&state->progress, "from block %u on: %zu of %s, for %s", block + 1,
                             held, counted(state->run->plan->count, "cell").s,
                             block < state->needs.blocks
                                 ? "narrower intervals"
                                 : "few samples at the common core distance, or disturbed ones");
        held_before = held;
        going_on = foreseen || kinds_foresee(state, block);
        foreseen = true;
        going_on = going_on && block_measure(state, block);
    }
    int result = record_file_close(&state->file);
    if (result && !*state->error)
        snprintf(state->error, state->error_size, "cannot write %s: %s", state->file.path,
                 strerror(-result));
}

/* Reading back -------------------------------------------------------------------------------- */

/* One record of before the interruption. */
static bool record_take(struct state *state, const struct record_reader *reader, json_t *record,
                        size_t *strangers)
{
    struct cell *cell = plan_find(state->run->plan, field_text(record, "cell"));
    const json_t *position = json_object_get(record, "position");
    if (json_is_integer(position))
        state->position = (size_t)json_integer_value(position) + 1;
    same_work_add(state->digests, record);
    event_sets_learn(state, record);
    *strangers += !cell;
    if (cell && !stopping_rule_note(cell, record))
        return error_set(state->error, state->error_size,
                         "%s:%zu: cell %s is in block %lld a second time, or after a later one",
                         reader->path, reader->number, cell->id, field_integer(record, "block"));
    hosts_used_note(state->machines, record, "");
    if (cell)
        record_count(state, record);
    return !cell || sweep_kinds_note(&state->kinds, cell, record, state->unnamed, state->error,
                                     state->error_size);
}

/* Takes note of all whole records and cuts off what follows them. */
static bool records_take(struct state *state, struct record_reader *reader)
{
    json_t *record;
    enum record_read read;
    size_t strangers = 0;
    bool ok = true;
    while (ok && (read = record_reader_next(reader, &record, state->error, state->error_size)) ==
                     RECORD_READ) {
        ok = record_take(state, reader, record, &strangers);
        json_decref(record);
    }
    if (!ok || read == RECORD_READ_BAD)
        return false;
    state->error[0] = '\0'; /* a torn last line is none */
    if (read == RECORD_READ_TORN)
        progress_message(&state->progress, "%s: its last line is not whole; cut off %s",
                         reader->path, counted(reader->length, "byte").s);
    if (reader->flaws.doubled > 0)
        progress_message(&state->progress, "%s: lines that were there before, left out: %zu",
                         reader->path, reader->flaws.doubled);
    if (strangers > 0)
        progress_message(&state->progress, "%s of cells that the sweep does not have kept",
                         counted(strangers, "record").s);
    int result = record_file_cut(&state->file, reader->whole);
    if (result)
        snprintf(state->error, state->error_size, "cannot write %s: %s", reader->path,
                 strerror(-result));
    return !result;
}

static bool read_back(struct state *state)
{
    struct record_reader reader;
    int result = record_reader_open(&reader, state->file.path);
    if (result)
        return error_set(state->error, state->error_size, "%s: %s", state->file.path,
                         strerror(-result));
    json_t *environment =
        run_folder_environment(state->run->folder, state->error, state->error_size);
    /* With force on another machine, the user was told that it is another one. */
    if (!*state->error && (state->run->engine || !state->run->elsewhere))
        state->unnamed = sweep_origin_cpu(environment, (json_int_t)state->run->seed);
    bool ok = !*state->error && records_take(state, &reader);
    json_decref(environment);
    record_reader_close(&reader);
    if (ok)
        progress_message(&state->progress, "resumed after %s",
                         counted(state->progress.done, "sample").s);
    return ok;
}

/* The whole ----------------------------------------------------------------------------------- */

/* Writes the files of the end. If the sweep was stopped before, the message about that is kept. */
static int outcome_write(const struct state *state)
{
    char path[PATH_SIZE], problem[ERROR_SIZE];
    snprintf(path, sizeof path, "%s/plan.json", state->run->folder);
    json_t *plan = stopping_rule_to_json(&state->needs);
    bool ok = file_replace_json(path, plan, problem, sizeof problem);
    json_decref(plan);
    ok = ok && cell_times_write(state->run->folder, state->run->plan, problem, sizeof problem) &&
         hosts_used_write(state->run->folder, state->machines, problem, sizeof problem);
    if (!ok && !*state->error)
        snprintf(state->error, state->error_size, "%s", problem);
    return *state->error ? -1 : 0;
}

static int cores_of(const char *machine)
{
    struct machine_spec spec;
    char error[ERROR_SIZE];
    if (!machine_text_is_simulated(machine))
        return topology_cpu_count();
    int cores = machine_spec_parse(&spec, machine, error, sizeof error) ? spec.model.cores : 0;
    machine_spec_free(&spec);
    return cores;
}

/* Warns if there are fewer cores than the most workers of the plan, on each of its machines. */
static void warn_of_workers(struct state *state)
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

static int run_measure(struct state *state, FILE *messages)
{
    struct sweep_run *run = state->run;
    struct stop stop;
    stop_begin(&stop);
    progress_begin(&state->progress, messages, run->plan->count * (size_t)run->sweep->reps);
    char blocks[64] = "";
    if (run->sweep->reps_max > run->sweep->reps && run->sweep->width > 0)
        snprintf(blocks, sizeof blocks, " to %" PRId64, run->sweep->reps_max);
    progress_message(&state->progress, "%s in %" PRId64 "%s block%s, seed %" PRIu64 ", into %s",
                     counted(run->plan->count, "cell").s, run->sweep->reps, blocks,
                     run->sweep->reps == 1 && !*blocks ? "" : "s", run->seed, run->folder);
    warn_of_workers(state);
    if (run->engine && !run->sweep->pin && plan_is_native(run->plan))
        progress_message(&state->progress, "native cells: nothing pins workers to cores of their "
                                           "nodes; `pin: true` in the sweep file does");
    double started = monotonic_seconds();
    state->error[0] = '\0';
    int result = -1;
    if ((!run->resume || read_back(state)) &&
        (!run->begin || run->begin(run->begin_arg, state->error, state->error_size))) {
        blocks_measure(state);
        stopping_rule_conclude(&state->needs);
        result = outcome_write(state);
    }
    run->seconds = monotonic_seconds() - started;
    run->stopped_by = stop_signal();
    progress_end(&state->progress);
    if (!result)
        stopping_rule_tell(&state->needs, messages);
    if (!result && run->cut_short > 0)
        fprintf(messages,
                "%zu of %zu samples ended before their calls took the %" PRId64
                " ms of min_time_ms: the calls are very short\n",
                run->cut_short, run->ok, run->sweep->min_time_ms);
    stop_end(&stop);
    return result;
}

static bool file_open(struct state *state)
{
    bool resume = state->run->resume;
    char path[sizeof state->file.path];
    snprintf(path, sizeof path, "%s/samples.jsonl", state->run->folder);
    int result =
        resume ? record_file_open(&state->file, path) : record_file_create(&state->file, path);
    if (result == -EWOULDBLOCK)
        snprintf(state->error, state->error_size, "%s: another process is measuring into it", path);
    else if (result)
        snprintf(state->error, state->error_size, "cannot %s %s: %s", resume ? "open" : "create",
                 path, strerror(-result));
    return !result;
}

/* Makes the folder for hyperfine's own records. */
static bool outside_folder_make(const struct sweep_run *run, char *error, size_t error_size)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/hyperfine", run->folder);
    return !run->hyperfine || folder_make(path, error, error_size);
}

int sweep_run_measure(struct sweep_run *run, FILE *messages, char *error, size_t error_size)
{
    struct state state = {
        .run = run, .event_sets = 1, .unnamed = "", .error = error, .error_size = error_size};
    if ((run->cells && !cell_store_make(run->cells, error, error_size)) ||
        !outside_folder_make(run, error, error_size) || !file_open(&state))
        return -1;
    char *events = text_join(run->sweep->events, run->sweep->events_count);
    if (run->engine && !engine_begin(run->engine, error, error_size)) {
        record_file_close(&state.file);
        free(events);
        return -1;
    }
    state.request = sweep_request_common(run->sweep, run->seed, events);
    state.digests = same_work_make();
    state.order = xcalloc(run->plan->count + 1, sizeof *state.order);
    stopping_rule_begin(&state.needs, run->sweep, run->plan);
    if (run->cells)
        sweep_cells_begin(&state.cells, run->sweep, run->plan, run->cells);
    sweep_kinds_begin(&state.kinds, run->plan, run->mix_machines);
    state.machines = json_object();
    state.pool_width = topology_cpu_count();
    state.pool = sample_pool_make(state.pool_width);
    int result = run_measure(&state, messages);
    sample_pool_free(state.pool);
    record_file_close(&state.file); /* where it was not reached before */
    stopping_rule_end(&state.needs);
    if (run->cells)
        sweep_cells_end(&state.cells);
    sweep_kinds_end(&state.kinds);
    json_decref(state.machines);
    same_work_free(state.digests);
    free(state.order);
    free(events);
    return result;
}
