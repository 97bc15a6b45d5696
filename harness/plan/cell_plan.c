/* cell_plan.c - see cell_plan.h. Samples in JSON are printed as they come: none is kept. */
#include "harness/plan/cell_plan.h"

#include "harness/base/progress.h"
#include "harness/base/term_table.h"
#include "harness/base/text.h"
#include "harness/plan/cell_id.h"
#include "harness/plan/cell_store.h"
#include "harness/plan/cell_time.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct state {
    const struct cell_plan *plan;
    struct cell_ids ids;
    struct cell_times times;
    struct term_table *table; /* NULL: JSON */
    FILE *to;
    size_t count, done;
    size_t by_basis[CELL_TIME_UNKNOWN + 1]; /* of those that are not done */
    double seconds;                         /* likewise, where known */
};

static json_t *cell_to_json(const struct cell *cell, unsigned block, const char *id,
                            struct cell_time time, bool done)
{
    json_t *object = json_pack("{ss ss si ss ss si ss}", "id", id, "cell", cell->id, "repetition",
                               (int)block, "variant", cell->variant, "workload", cell->workload,
                               "workers", cell->workers, "machine", cell->machine);
    if (cell->events)
        json_object_set_new(object, "events", json_string(cell->events));
    json_object_set(object, "groups", cell->groups);
    json_object_set_new(object, "done", json_boolean(done));
    json_object_set_new(object, "seconds",
                        isnan(time.seconds) ? json_null() : json_real(time.seconds));
    json_object_set_new(object, "seconds_from", json_string(cell_time_basis_text(time.basis)));
    return object;
}

static void seconds_text(struct cell_time time, bool done, char text[32])
{
    if (done)
        snprintf(text, 32, "done");
    else if (isnan(time.seconds))
        snprintf(text, 32, "?");
    else
        snprintf(text, 32, "%s%.2f", time.basis == CELL_TIME_RECORDS ? "" : "~", time.seconds);
}

/* Where it is too wide, the variant, the workload and the machine have a line of their own. */
static struct term_table *table_new(const struct cell_plan *plan)
{
    return term_table_new((struct term_layout){.gap = 2, .width = plan->columns, .fold = 5},
                          TERM_COLUMNS({"id", -16}, {"cell", -12}, {"repetition", 10},
                                       {"seconds", 9}, {"workers", 7}, {"variant", -1},
                                       {"workload", -1}, {"machine", -1}));
}

static bool cell_print(void *state_void, struct cell *cell, unsigned block)
{
    struct state *state = state_void;
    char id[CELL_BLOCK_ID_SIZE], seconds[32];
    cell_id_of(&state->ids, cell, block, id);
    struct cell_time time = cell_times_of(&state->times, cell);
    bool done = state->plan->cells && cell_store_has(state->plan->cells, id);
    seconds_text(time, done, seconds);
    if (state->plan->json) {
        json_t *object = cell_to_json(cell, block, id, time, done);
        fputs(state->count ? ",\n  " : "  ", state->to);
        json_dumpf(object, state->to, JSON_COMPACT);
        json_decref(object);
    } else {
        char repetition[16], workers[16];
        snprintf(repetition, sizeof repetition, "%u", block);
        snprintf(workers, sizeof workers, "%d", cell->workers);
        term_table_row(state->table, id, cell->id, repetition, seconds, workers, cell->variant,
                       cell->workload, cell->machine, NULL);
    }
    state->count++;
    state->done += done;
    if (!done) {
        state->by_basis[time.basis]++;
        state->seconds += isnan(time.seconds) ? 0 : time.seconds;
    }
    return true;
}

/* How good the estimate is. */
static void basis_print(const struct state *state)
{
    static const char *const said[] = {
        [CELL_TIME_RECORDS] = "from earlier runs",
        [CELL_TIME_SETTINGS] = "from min_time_ms and warmup, at least",
        [CELL_TIME_LIKE] = "simulated, as the others on average",
        [CELL_TIME_UNKNOWN] = "simulated, and no earlier run says how long they take"};
    for (int basis = 0; basis <= CELL_TIME_UNKNOWN; basis++)
        if (state->by_basis[basis] > 0)
            fprintf(state->to, "  %8zu %s\n", state->by_basis[basis], said[basis]);
}

static void table_end(const struct state *state)
{
    char all[32], most[32];
    const struct sweep_file *sweep = state->plan->sweep;
    size_t left = state->count - state->done;
    fprintf(state->to, "%s of %s in %s, %zu done\n", counted(state->count, "sample").s,
            counted(state->plan->plan->count, "cell").s, counted(sweep->groups_count, "group").s,
            state->done);
    fprintf(state->to, "one after the other the %zu take %s%s, %s at most\n", left,
            state->by_basis[CELL_TIME_UNKNOWN] ? "an unknown time beyond " : "about ",
            progress_duration(state->seconds, all),
            progress_duration((double)left * (double)sweep->timeout_s, most));
    basis_print(state);
    fprintf(state->to, "seed %" PRId64 "; other seeds, other ids\n", sweep->seed);
}

static void json_begin(const struct state *state)
{
    json_t *file = json_string(state->plan->file);
    fputs("{\"sweep\": ", state->to);
    json_dumpf(file, state->to, JSON_ENCODE_ANY);
    fprintf(state->to, ", \"seed\": %" PRId64 ", \"timeout_s\": %" PRId64 ",\n \"cells\": [\n",
            state->plan->sweep->seed, state->plan->sweep->timeout_s);
    json_decref(file);
}

static void json_end(const struct state *state)
{
    fprintf(state->to,
            "\n ],\n \"count\": %zu, \"done\": %zu, \"seconds\": %.3f, \"unknown\": %zu}\n",
            state->count, state->done, state->seconds, state->by_basis[CELL_TIME_UNKNOWN]);
}

void cell_plan_print(const struct cell_plan *plan, FILE *to)
{
    struct state state = {.plan = plan, .to = to, .table = plan->json ? NULL : table_new(plan)};
    cell_ids_begin(&state.ids, plan->sweep, plan->plan);
    cell_times_begin(&state.times, plan->sweep, plan->plan, plan->results);
    if (plan->json)
        json_begin(&state);
    cell_ids_each(&state.ids, cell_print, &state);
    if (plan->json) {
        json_end(&state);
    } else {
        term_table_print(state.table, to);
        table_end(&state);
    }
    cell_times_end(&state.times);
    cell_ids_end(&state.ids);
}
