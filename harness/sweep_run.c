/* sweep_run.c - see sweep_run.h. */
#define _GNU_SOURCE
#include "harness/sweep_run.h"

#include "harness/child.h"
#include "harness/digests.h"
#include "harness/process.h"
#include "harness/progress.h"
#include "harness/records.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMEOUTS_MAX = 2, REASON_SIZE = 1024, LABEL_SIZE = 256 };

/* Signals ------------------------------------------------------------------------------------- */

static volatile sig_atomic_t stopped_by;

static void on_stop(int signal)
{
    stopped_by = signal;
    process_interrupt();
}

static void on_nothing(int signal)
{
    (void)signal;
}

/* SIGXFSZ would end the process where write() should say that the file may not grow; a handler,
 * unlike SIG_IGN, is not inherited by the samples. */
static const struct {
    int signal;
    void (*handler)(int);
} handled[] = {{SIGINT, on_stop}, {SIGTERM, on_stop}, {SIGHUP, on_stop}, {SIGXFSZ, on_nothing}};

enum { HANDLED = sizeof handled / sizeof handled[0] };

static void signals_take(struct sigaction before[HANDLED])
{
    for (int i = 0; i < HANDLED; i++) {
        struct sigaction action = {.sa_handler = handled[i].handler};
        sigemptyset(&action.sa_mask);
        sigaction(handled[i].signal, NULL, &before[i]);
        /* nohup and background jobs of some shells ignore signals on purpose. */
        if (before[i].sa_handler != SIG_IGN)
            sigaction(handled[i].signal, &action, NULL);
    }
}

static void signals_give_back(const struct sigaction before[HANDLED])
{
    for (int i = 0; i < HANDLED; i++)
        sigaction(handled[i].signal, &before[i], NULL);
}

/* Measuring ----------------------------------------------------------------------------------- */

struct state {
    struct sweep_run *run;
    struct progress progress;
    struct record_file file;
    struct digest_book *digests;
    struct sample_request request; /* what all samples have in common */
    size_t *order;
    size_t position; /* of the next record in the whole run */
};

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* "a,b,c", or NULL for an empty list. */
static char *events_join(const struct sweep_file *sweep)
{
    char *text = NULL;
    size_t size = 0;
    if (sweep->events_count == 0)
        return NULL;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        abort();
    for (unsigned i = 0; i < sweep->events_count; i++)
        fprintf(to, "%s%s", i ? "," : "", sweep->events[i]);
    fclose(to);
    return text;
}

/* Whether the cell is measured again in the remaining `blocks` blocks; if not, they are not to
 * come. */
static void cell_judge(struct state *state, struct cell *cell, json_t *record, unsigned blocks)
{
    bool skipped = strcmp(record_text(record, "status"), "skipped") == 0;
    cell->timeouts += child_record_timed_out(record);
    if (!skipped && cell->timeouts < TIMEOUTS_MAX)
        return;
    cell->given_up = true;
    state->progress.total -= blocks;
    if (!skipped && blocks > 0) {
        char reason[REASON_SIZE];
        snprintf(reason, sizeof reason, "%s, for the second time; the cell is not tried again",
                 record_text(record, "reason"));
        record_fail(record, reason);
    }
}

/* Adds what only the sweep knows of a sample. */
static void record_complete(const struct state *state, const struct cell *cell, unsigned block,
                            json_t *record)
{
    json_object_set_new(record, "cell", json_string(cell->id));
    json_object_set_new(record, "block", json_integer(block));
    json_object_set_new(record, "position", json_integer((json_int_t)state->position));
    json_object_set(record, "groups", cell->groups);
}

static void cell_label(const struct cell *cell, char label[LABEL_SIZE])
{
    snprintf(label, LABEL_SIZE, "%s on %s, %d worker%s", cell->variant, cell->workload,
             cell->workers, cell->workers == 1 ? "" : "s");
}

static void record_count(struct state *state, const struct cell *cell, const json_t *record)
{
    const char *status = record_text(record, "status");
    state->progress.done++;
    state->position++;
    if (strcmp(status, "ok") == 0) {
        state->run->ok++;
        return;
    }
    bool failed = strcmp(status, "failed") == 0;
    size_t *count = failed ? &state->run->failed : &state->run->skipped;
    (*count)++;
    state->progress.failed = state->run->failed;
    state->progress.skipped = state->run->skipped;
    char label[LABEL_SIZE];
    cell_label(cell, label);
    progress_message(&state->progress, "%s: %s: %s", status, label, record_text(record, "reason"));
}

static json_t *cell_sample(struct state *state, struct cell *cell)
{
    struct sample_request request = state->request;
    request.variant = cell->variant;
    request.workload = cell->workload;
    request.workers = cell->workers;
    double before = clock_seconds();
    json_t *record = child_run_sample(&request);
    cell->seconds += clock_seconds() - before;
    cell->samples++;
    return record;
}

/* One sample, from the reservation on the disk to the record. False if the sweep cannot go on. */
static bool cell_measure(struct state *state, struct cell *cell, unsigned block, char *error,
                         size_t error_size)
{
    struct sweep_run *run = state->run;
    int result = record_file_reserve(&state->file);
    if (!result) {
        json_t *record = cell_sample(state, cell);
        if (stopped_by) {
            json_decref(record);
            return false;
        }
        char reason[REASON_SIZE];
        cell_judge(state, cell, record, (unsigned)run->sweep->reps - 1 - block);
        digest_book_add(state->digests, record);
        if (digest_book_judge(state->digests, record, false, reason, sizeof reason))
            record_fail(record, reason);
        record_complete(state, cell, block, record);
        result = record_file_append(&state->file, record);
        if (!result)
            record_count(state, cell, record);
        json_decref(record);
    }
    if (result)
        snprintf(error, error_size, "cannot write %s: %s; the %zu samples before are in it",
                 state->file.path, strerror(-result), state->position);
    return !result;
}

static bool block_measure(struct state *state, unsigned block, char *error, size_t error_size)
{
    struct plan *plan = state->run->plan;
    plan_shuffle(plan, state->run->seed, block, state->order);
    state->request.event_set = (int)block;
    for (size_t i = 0; i < plan->count && !stopped_by; i++) {
        struct cell *cell = &plan->cells[state->order[i]];
        char label[LABEL_SIZE];
        if (cell->given_up)
            continue;
        cell_label(cell, label);
        progress_show(&state->progress, label,
                      plan_seconds_left(plan, state->order, i,
                                        (unsigned)state->run->sweep->reps - 1 - block));
        if (!cell_measure(state, cell, block, error, error_size))
            return false;
    }
    return !stopped_by;
}

static int blocks_measure(struct state *state, char *error, size_t error_size)
{
    error[0] = '\0';
    bool going_on = true;
    for (unsigned block = 0; going_on && block < (unsigned)state->run->sweep->reps; block++)
        going_on = block_measure(state, block, error, error_size);
    int result = record_file_close(&state->file);
    if (result && !*error)
        snprintf(error, error_size, "cannot write %s: %s", state->file.path, strerror(-result));
    return *error ? -1 : 0;
}

int sweep_run_measure(struct sweep_run *run, FILE *messages, char *error, size_t error_size)
{
    struct state state = {.run = run};
    char path[sizeof state.file.path];
    snprintf(path, sizeof path, "%s/samples.jsonl", run->folder);
    int result = record_file_create(&state.file, path);
    if (result) {
        snprintf(error, error_size, "cannot create %s: %s", path, strerror(-result));
        return -1;
    }
    char *events = events_join(run->sweep);
    state.request = (struct sample_request){
        .seed = run->seed,
        .iterations = run->iterations,
        .warmup = (int)run->sweep->warmup,
        .min_time_ns = run->sweep->min_time_ms * 1000000,
        .events = events,
        .pin = run->sweep->pin,
        .timeout_s = (double)run->sweep->timeout_s,
        .machine = run->machine,
        .steal_max_percent = STEAL_MAX_DEFAULT_PERCENT,
    };
    state.digests = digest_book_make();
    state.order = calloc(run->plan->count, sizeof *state.order);
    if (!state.order)
        abort();
    struct sigaction before[HANDLED];
    signals_take(before);
    progress_begin(&state.progress, messages, run->plan->count * (size_t)run->sweep->reps);
    progress_message(&state.progress, "%zu cells in %" PRId64 " blocks, seed %" PRIu64 ", into %s",
                     run->plan->count, run->sweep->reps, run->seed, run->folder);
    double started = clock_seconds();
    result = blocks_measure(&state, error, error_size);
    run->seconds = clock_seconds() - started;
    run->stopped_by = stopped_by;
    progress_end(&state.progress);
    signals_give_back(before);
    digest_book_free(state.digests);
    free(state.order);
    free(events);
    return result;
}
