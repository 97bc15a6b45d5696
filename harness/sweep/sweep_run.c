/* sweep_run.c - see sweep_run.h: the loop over blocks, from the run's folder as it is found to the
 * files of the end.
 */
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
#include "harness/records/run_folder.h"
#include "harness/records/same_work.h"
#include "harness/sample/sample_pool.h"
#include "harness/sweep/engine.h"
#include "harness/sweep/sweep_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

static bool block_measure(struct sweep_state *state, unsigned block)
{
    if (!sweep_fetch_block(state, block))
        return false;
    struct plan *plan = state->run->plan;
    sweep_fetch_order(state, block);
    for (size_t i = 0; i < plan->count && !stop_signal(); i++) {
        struct cell *cell = &plan->cells[state->order[i]];
        if (cell->why == WHY_NONE)
            continue;
        sweep_tell_next(state, cell, block, i);
        if (!sweep_fetch_sample(state, cell, block))
            return false;
    }
    return !stop_signal() && sweep_fetch_rest(state, block) && !stop_signal();
}

/* Error is "" where nothing went wrong. */
static void blocks_measure(struct sweep_state *state)
{
    bool going_on = true, foreseen = false;
    size_t held, held_before = 0;
    for (unsigned block = 0; going_on && (held = stopping_rule_next(&state->rule, block)) > 0;
         block++) {
        sweep_tell_total(state, block);
        if (block >= (unsigned)state->run->sweep->reps && held != held_before)
            progress_message(&state->progress, "from block %u on: %zu of %s, for %s", block + 1,
                             held, counted(state->run->plan->count, "cell").s,
                             block < state->rule.blocks
                                 ? "narrower intervals"
                                 : "few samples at the common core distance, or disturbed ones");
        held_before = held;
        going_on = foreseen || sweep_fetch_foresee(state, block);
        foreseen = true;
        going_on = going_on && block_measure(state, block);
    }
    int result = record_file_close(&state->file);
    if (result && !*state->error->text)
        error_print(state->error, "cannot write %s: %s", state->file.path, strerror(-result));
}

/* Reading back -------------------------------------------------------------------------------- */

/* One record of before the interruption. */
static bool record_take(struct sweep_state *state, const struct record_reader *reader,
                        json_t *record, size_t *strangers)
{
    struct cell *cell = plan_find(state->run->plan, field_text(record, "cell"));
    const json_t *position = json_object_get(record, "position");
    if (json_is_integer(position))
        state->position = (size_t)json_integer_value(position) + 1;
    same_work_add(state->work, record);
    sweep_tell_event_sets(state, record);
    *strangers += !cell;
    if (cell && !stopping_rule_note(cell, record))
        return error_set(state->error,
                         "%s:%zu: cell %s is in block %lld a second time, or after a later one",
                         reader->path, reader->number, cell->id, field_integer(record, "block"));
    hosts_used_note(state->machines, record, "");
    if (cell)
        sweep_tell_count(state, record);
    return !cell || sweep_kinds_note(&state->kinds, cell, record, state->unnamed, state->error);
}

/* Takes note of all whole records and cuts off what follows them. */
static bool records_take(struct sweep_state *state, struct record_reader *reader)
{
    json_t *record;
    enum record_read read;
    size_t strangers = 0;
    bool ok = true;
    while (ok && (read = record_reader_next(reader, &record, state->error)) == RECORD_READ) {
        ok = record_take(state, reader, record, &strangers);
        json_decref(record);
    }
    if (!ok || read == RECORD_READ_BAD)
        return false;
    state->error->text[0] = '\0'; /* a torn last line is none */
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
        error_print(state->error, "cannot write %s: %s", reader->path, strerror(-result));
    return !result;
}

static bool read_back(struct sweep_state *state)
{
    struct record_reader reader;
    int result = record_reader_open(&reader, state->file.path);
    if (result)
        return error_set(state->error, "%s: %s", state->file.path, strerror(-result));
    json_t *environment = run_folder_environment(state->run->folder, state->error);
    /* With force on another machine, the user was told that it is another one. */
    if (!*state->error->text && (state->run->engine || !state->run->elsewhere))
        state->unnamed = sweep_origin_cpu(environment, (json_int_t)state->run->seed);
    bool ok = !*state->error->text && records_take(state, &reader);
    json_decref(environment);
    record_reader_close(&reader);
    if (ok)
        progress_message(&state->progress, "resumed after %s",
                         counted(state->progress.done, "sample").s);
    return ok;
}

/* The whole ----------------------------------------------------------------------------------- */

/* Writes the files of the end. If the sweep was stopped before, the message about that is kept. */
static int outcome_write(const struct sweep_state *state)
{
    char path[PATH_SIZE];
    struct error problem;
    snprintf(path, sizeof path, "%s/plan.json", state->run->folder);
    json_t *plan = stopping_rule_to_json(&state->rule);
    bool ok = file_replace_json(path, plan, &problem);
    json_decref(plan);
    ok = ok && cell_times_write(state->run->folder, state->run->plan, &problem) &&
         hosts_used_write(state->run->folder, state->machines, &problem);
    if (!ok && !*state->error->text)
        error_print(state->error, "%s", problem.text);
    return *state->error->text ? -1 : 0;
}

static int run_measure(struct sweep_state *state, FILE *messages)
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
    sweep_tell_workers(state);
    if (run->engine && !run->sweep->pin && plan_is_native(run->plan))
        progress_message(&state->progress, "native cells: nothing pins workers to cores of their "
                                           "nodes; `pin: true` in the sweep file does");
    double started = monotonic_seconds();
    state->error->text[0] = '\0';
    int result = -1;
    if ((!run->resume || read_back(state)) &&
        (!run->begin || run->begin(run->begin_arg, state->error))) {
        blocks_measure(state);
        stopping_rule_conclude(&state->rule);
        result = outcome_write(state);
    }
    run->seconds = monotonic_seconds() - started;
    run->stopped_by = stop_signal();
    progress_end(&state->progress);
    if (!result)
        stopping_rule_tell(&state->rule, messages);
    if (!result && run->cut_short > 0)
        fprintf(messages,
                "%zu of %zu samples ended before their calls took the %" PRId64
                " ms of min_time_ms: the calls are very short\n",
                run->cut_short, run->ok, run->sweep->min_time_ms);
    stop_end(&stop);
    return result;
}

static bool file_open(struct sweep_state *state)
{
    bool resume = state->run->resume;
    char path[sizeof state->file.path];
    snprintf(path, sizeof path, "%s/samples.jsonl", state->run->folder);
    int result =
        resume ? record_file_open(&state->file, path) : record_file_create(&state->file, path);
    if (result == -EWOULDBLOCK)
        error_print(state->error, "%s: another process is measuring into it", path);
    else if (result)
        error_print(state->error, "cannot %s %s: %s", resume ? "open" : "create", path,
                    strerror(-result));
    return !result;
}

/* Makes the folder for hyperfine's own records. */
static bool outside_folder_make(const struct sweep_run *run, struct error *error)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/hyperfine", run->folder);
    return !run->hyperfine || folder_make(path, error);
}

int sweep_run_measure(struct sweep_run *run, FILE *messages, struct error *error)
{
    struct sweep_state state = {.run = run, .event_sets = 1, .unnamed = "", .error = error};
    if ((run->cells && !cell_store_make(run->cells, error)) || !outside_folder_make(run, error) ||
        !file_open(&state))
        return -1;
    char *events = text_join(run->sweep->events, run->sweep->events_count);
    if (run->engine && !engine_begin(run->engine, error)) {
        record_file_close(&state.file);
        free(events);
        return -1;
    }
    state.request = sweep_request_common(run->sweep, run->seed, events);
    state.work = same_work_make();
    state.order = xcalloc(run->plan->count + 1, sizeof *state.order);
    stopping_rule_begin(&state.rule, run->sweep, run->plan);
    if (run->cells)
        sweep_cells_begin(&state.cells, run->sweep, run->plan, run->cells);
    sweep_kinds_begin(&state.kinds, run->plan, run->mix_machines);
    state.machines = json_object();
    state.pool_width = topology_cpu_count();
    state.pool = sample_pool_make(state.pool_width);
    int result = run_measure(&state, messages);
    sample_pool_free(state.pool);
    record_file_close(&state.file); /* where it was not reached before */
    stopping_rule_end(&state.rule);
    if (run->cells)
        sweep_cells_end(&state.cells);
    sweep_kinds_end(&state.kinds);
    json_decref(state.machines);
    same_work_free(state.work);
    free(state.order);
    free(events);
    return result;
}
