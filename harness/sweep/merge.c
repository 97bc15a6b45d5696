/* merge.c - see merge.h. */
#include "harness/sweep/merge.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/evidence/process_time.h"
#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"
#include "harness/plan/sweep_origin.h"
#include "harness/records/hosts_used.h"
#include "harness/records/records.h"
#include "harness/records/run_folder.h"
#include "harness/sweep/sweep_kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* A folder with a samples.jsonl is taken for a run, so the file has another name until the rest is
 * there. */
#define SAMPLES_DRAFT "samples.jsonl.merging"

/* One run being read. */
struct source {
    const char *folder;
    json_t *environment;
    char fingerprint[FINGERPRINT_SIZE]; /* of its sweep.yaml */
    struct record_reader reader;
    json_t *record; /* the one at hand; NULL at the end */
    json_int_t seed, position;
    json_t *seeds;    /* all that it has, ascending */
    json_t *machines; /* that measured it (hosts_used.h) */
    size_t samples;
};

/* The sums of one cell over the runs. */
struct tally {
    int samples, blocks, top_ups, repeats;
    const char *stop; /* why measuring it ended, the least final of what the runs say */
    size_t said;      /* number of the run, from 1, that said so last */
};

struct state {
    struct merge *merge;
    struct source *sources;
    struct sweep_file *sweep;
    struct plan *plan;
    struct tally *tallies; /* by cell of the plan */
    struct sweep_kinds kinds;
    json_t *differences; /* lines */
    json_t *machines;    /* that measured what is in out */
    FILE *messages;
    FILE *out;      /* SAMPLES_DRAFT */
    bool unwritten; /* what went wrong is the writing */
    struct error *complaint;
};

static bool path_make(const struct state *state, char path[PATH_SIZE], const char *folder,
                      const char *name)
{
    if (snprintf(path, PATH_SIZE, "%s/%s", folder, name) < PATH_SIZE)
        return true;
    return error_quote(state->complaint, "%.64s...: the path is too long", folder);
}

/* Origins ------------------------------------------------------------------------------------- */

static void differ(struct state *state, const struct source *source, const char *name,
                   const char *value, const char *first)
{
    json_t *line = json_sprintf("%s: %s has %s, %s has %s", name, source->folder, value,
                                state->sources[0].folder, first);
    fprintf(state->messages, "schedlab merge: warning: %s\n", json_string_value(line));
    json_array_append_new(state->differences, line);
}

/* The settings that change samples; the number of samples may differ. */
static void settings_compare(struct state *state, const struct source *source)
{
    static const char *const keys[] = {"min_time_ms", "warmup", "iterations",
                                       "steal_max",   "timer",  "machine"};
    const json_t *first = json_object_get(state->sources[0].environment, "sweep");
    const json_t *other = json_object_get(source->environment, "sweep");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        json_t *a = json_object_get(first, keys[i]), *b = json_object_get(other, keys[i]);
        if (json_equal(a, b) || (!a && !b))
            continue;
        char *was = a ? json_dumps(a, JSON_ENCODE_ANY) : NULL;
        char *is = b ? json_dumps(b, JSON_ENCODE_ANY) : NULL;
        differ(state, source, keys[i], is ? is : "none", was ? was : "none");
        free(was);
        free(is);
    }
}

static bool origin_compare(struct state *state, const struct source *source)
{
    const struct source *first = &state->sources[0];
    if (strcmp(source->fingerprint, first->fingerprint) != 0)
        return error_quote(state->complaint,
                           "%s/sweep.yaml differs from %s/sweep.yaml; valid: runs of one sweep",
                           source->folder, first->folder);
    for (enum origin_part part = 0; part < ORIGIN_PARTS; part++) {
        const char *a = sweep_origin_part(first->environment, part);
        const char *b = sweep_origin_part(source->environment, part);
        if (strcmp(a, b) == 0 || part == ORIGIN_CPU) /* of which the samples know more */
            continue;
        if (part == ORIGIN_REVISION)
            return error_quote(state->complaint,
                               "%s was made by revision %s, %s by %s; valid: runs of one",
                               source->folder, b, first->folder, a);
        differ(state, source, sweep_origin_part_name(part), b, a);
    }
    settings_compare(state, source);
    return true;
}

static bool source_open(struct state *state, struct source *source)
{
    char path[PATH_SIZE];
    source->seeds = json_array();
    source->machines = json_object();
    source->environment = sweep_origin_read(source->folder, state->complaint);
    if (!source->environment || !path_make(state, path, source->folder, "sweep.yaml") ||
        !sweep_origin_fingerprint(path, source->fingerprint, state->complaint) ||
        !origin_compare(state, source) || !path_make(state, path, source->folder, "samples.jsonl"))
        return false;
    int result = record_reader_open(&source->reader, path);
    return !result || error_quote(state->complaint, "%s: %s", path, strerror(-result));
}

static void source_close(struct source *source)
{
    record_reader_close(&source->reader);
    json_decref(source->environment);
    json_decref(source->record);
    json_decref(source->seeds);
    json_decref(source->machines);
}

/* Machines ------------------------------------------------------------------------------------ */

static void machine_note(const struct source *source, json_t *machines)
{
    hosts_used_note(machines, source->record, sweep_origin_cpu(source->environment, source->seed));
}

static void machines_compare(struct state *state)
{
    char *first = hosts_used_processors(state->sources[0].machines);
    for (size_t i = 1; i < state->merge->count; i++) {
        char *other = hosts_used_processors(state->sources[i].machines);
        if (*first && *other && strcmp(first, other) != 0)
            differ(state, &state->sources[i], sweep_origin_part_name(ORIGIN_CPU), other, first);
        free(other);
    }
    free(first);
}

/* Reading side by side ------------------------------------------------------------------------ */

/* Takes seed and position of the record just read, which must lie after the one before. */
static bool source_place(struct state *state, struct source *source)
{
    const json_t *seed = json_object_get(source->record, "seed");
    const json_t *position = json_object_get(source->record, "position");
    if (!json_is_integer(seed) || !json_is_integer(position))
        return error_quote(state->complaint,
                           "%s:%zu: a record without seed or position is of no sweep",
                           source->reader.path, source->reader.number);
    json_int_t s = json_integer_value(seed), p = json_integer_value(position);
    bool first = source->samples == 0;
    if (!first && (s < source->seed || (s == source->seed && p <= source->position)))
        return error_quote(state->complaint, "%s:%zu: not in the order of measuring",
                           source->reader.path, source->reader.number);
    if (first || s != source->seed)
        json_array_append_new(source->seeds, json_integer(s));
    source->seed = s;
    source->position = p;
    source->samples++;
    return true;
}

static bool source_next(struct state *state, struct source *source)
{
    json_decref(source->record);
    source->record = NULL;
    json_t *record;
    switch (record_reader_next(&source->reader, &record, state->complaint)) {
    case RECORD_READ:
        source->record = record;
        if (!source_place(state, source))
            return false;
        machine_note(source, source->machines);
        return true;
    case RECORD_READ_TORN:
    case RECORD_READ_END:
        if (source->samples == 0)
            return error_quote(state->complaint, "%s: it holds no sample", source->reader.path);
        run_folder_tell_flaws(source->folder, &source->reader.flaws, "schedlab merge",
                              state->messages);
        return true;
    default:
        return false;
    }
}

static int source_compare(const struct source *a, const struct source *b)
{
    if (a->seed != b->seed)
        return a->seed < b->seed ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

/* The source whose record comes next; NULL if all are at their end. */
static struct source *source_first(struct state *state)
{
    struct source *first = NULL;
    for (size_t i = 0; i < state->merge->count; i++) {
        struct source *source = &state->sources[i];
        if (source->record && (!first || source_compare(source, first) < 0))
            first = source;
    }
    return first;
}

/* True if the sample may stand beside those before; it counts for its cell then. */
static bool cell_count(struct state *state, const struct source *source)
{
    struct error error;
    const json_t *record = source->record;
    const struct cell *cell = plan_find(state->plan, field_text(record, "cell"));
    if (!cell)
        return true;
    if (!sweep_kinds_note(&state->kinds, cell, record,
                          sweep_origin_cpu(source->environment, source->seed), &error))
        return error_quote(state->complaint, "%s: %s", source->folder, error.text);
    struct tally *tally = &state->tallies[cell - state->plan->cells];
    const char *why = field_text(record, "why");
    tally->samples++;
    if (strcmp(why, "top-up") == 0)
        tally->top_ups++;
    else if (strcmp(why, "repeat") == 0)
        tally->repeats++;
    else
        tally->blocks++;
    return true;
}

/* Other sources that have the same sample must agree, and go on to their next. */
static bool copies_skip(struct state *state, const struct source *first)
{
    for (size_t i = 0; i < state->merge->count; i++) {
        struct source *copy = &state->sources[i];
        if (copy == first || !copy->record || source_compare(copy, first) != 0)
            continue;
        if (copy->reader.length != first->reader.length ||
            memcmp(copy->reader.line, first->reader.line, first->reader.length) != 0)
            return error_quote(
                state->complaint,
                "%s:%zu and %s:%zu contradict each other: both are sample %lld of "
                "seed %lld; runs of one sweep that are to add up take different seeds",
                first->reader.path, first->reader.number, copy->reader.path, copy->reader.number,
                (long long)first->position, (long long)first->seed);
        state->merge->repeated++;
        if (!source_next(state, copy))
            return false;
    }
    return true;
}

/* Copies hyperfine's file about the record at hand, where there is one. */
static bool outside_copy(struct state *state, const struct source *source)
{
    char from[PATH_SIZE], to[PATH_SIZE];
    const char *cell = field_text(source->record, "cell");
    json_int_t block = field_integer(source->record, "block");
    if (strcmp(field_text(source->record, "timer"), "hyperfine") != 0)
        return true;
    if (!path_make(state, to, state->merge->out, "hyperfine"))
        return false;
    if (mkdir(to, 0777) < 0 && errno != EEXIST)
        return error_quote(state->complaint, "cannot make the folder %s: %s", to, strerror(errno));
    if (!process_time_json_path(from, sizeof from, source->folder, cell, source->seed, block) ||
        !process_time_json_path(to, sizeof to, state->merge->out, cell, source->seed, block))
        return error_quote(state->complaint, "%.64s...: the path is too long", source->folder);
    if (access(from, F_OK) == 0)
        return file_copy(from, to, state->complaint);
    fprintf(state->messages,
            "schedlab merge: warning: %s is not there; its sample is kept without it\n", from);
    return true;
}

static bool records_join(struct state *state)
{
    struct source *first;
    for (size_t i = 0; i < state->merge->count; i++)
        if (!source_next(state, &state->sources[i]))
            return false;
    while ((first = source_first(state)) != NULL) {
        if (!copies_skip(state, first) || !cell_count(state, first))
            return false;
        fwrite(first->reader.line, 1, first->reader.length, state->out);
        machine_note(first, state->machines);
        state->merge->samples++;
        state->unwritten = !outside_copy(state, first);
        if (state->unwritten || !source_next(state, first))
            return false;
    }
    return true;
}

/* Writing ------------------------------------------------------------------------------------- */

static bool json_write(const struct state *state, const char *name, json_t *object)
{
    char path[PATH_SIZE];
    bool ok = path_make(state, path, state->merge->out, name) &&
              file_replace_json(path, object, state->complaint);
    json_decref(object);
    return ok;
}

static json_t *source_to_json(const struct source *source)
{
    char *cpu = hosts_used_processors(source->machines);
    json_t *json = json_pack("{ss ss sO sI ss ss ss}", "run", source->folder, "taken",
                             field_text(source->environment, "taken"), "seeds", source->seeds,
                             "samples", (json_int_t)source->samples, "revision",
                             sweep_origin_part(source->environment, ORIGIN_REVISION), "compiler",
                             sweep_origin_part(source->environment, ORIGIN_COMPILER), "cpu",
                             *cpu ? cpu : sweep_origin_part(source->environment, ORIGIN_CPU));
    free(cpu);
    return json;
}

/* The first run's, and of which runs the result consists: of a merged one, those it was made of. */
static json_t *environment_join(const struct state *state)
{
    json_t *environment = json_copy(state->sources[0].environment);
    json_t *merged = json_array();
    for (size_t i = 0; i < state->merge->count; i++) {
        const struct source *source = &state->sources[i];
        json_t *parts = json_object_get(source->environment, "merged");
        if (json_is_array(parts))
            json_array_extend(merged, parts);
        else
            json_array_append_new(merged, source_to_json(source));
    }
    json_t *machines = hosts_used_to_json(state->machines);
    json_object_del(environment, "measured_on");
    if (machines)
        json_object_set_new(environment, "measured_on", machines);
    json_object_set_new(environment, "merged", merged);
    json_object_set(environment, "merge_differences", state->differences);
    return environment;
}

/* True if another run has the same seeds and more samples: then this one is a part of it. */
static bool source_is_part(const struct state *state, size_t which)
{
    const struct source *source = &state->sources[which];
    for (size_t i = 0; i < state->merge->count; i++) {
        const struct source *other = &state->sources[i];
        if (i != which && json_equal(other->seeds, source->seeds) &&
            (other->samples > source->samples || (other->samples == source->samples && i < which)))
            return true;
    }
    return false;
}

/* The least final of two answers; one that is missing is that of a run that was interrupted. */
static const char *stop_worse(const char *a, const char *b)
{
    static const char *const order[] = {"interrupted", "given-up", "class-limit",
                                        "limit",       "reps",     "width"};
    if (!*a || !*b)
        return order[0];
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (strcmp(a, order[i]) == 0 || strcmp(b, order[i]) == 0)
            return order[i];
    }
    return a;
}

/* Takes from a run's plan why its cells ended. Cells without a reason, also of a run that was
 * killed, were interrupted. */
static void stops_take(const struct state *state, size_t run, const json_t *plan)
{
    json_each(said, json_object_get(plan, "cells")) {
        const struct cell *cell = plan_find(state->plan, field_text(said, "cell"));
        if (!cell)
            continue;
        struct tally *tally = &state->tallies[cell - state->plan->cells];
        if (tally->said == run + 1)
            continue;
        tally->stop = stop_worse(tally->stop, field_text(said, "stop"));
        tally->said = run + 1;
    }
    for (size_t c = 0; c < state->plan->count; c++)
        if (state->tallies[c].said != run + 1)
            state->tallies[c].stop = stop_worse(state->tallies[c].stop, "");
}

/* Runs that are parts of others say nothing that those do not. */
static void stops_join(const struct state *state)
{
    for (size_t c = 0; c < state->plan->count; c++)
        state->tallies[c].stop = "width";
    for (size_t i = 0; i < state->merge->count; i++) {
        char path[PATH_SIZE];
        if (source_is_part(state, i) ||
            !path_make(state, path, state->sources[i].folder, "plan.json"))
            continue;
        json_t *plan = json_load_file(path, 0, NULL);
        stops_take(state, i, plan);
        json_decref(plan);
    }
}

static json_t *plan_join(const struct state *state)
{
    json_t *cells = json_array();
    stops_join(state);
    for (size_t c = 0; c < state->plan->count; c++) {
        const struct cell *cell = &state->plan->cells[c];
        const struct tally *tally = &state->tallies[c];
        json_array_append_new(
            cells, json_pack("{ss ss ss si si si si si ss s{ss}}", "cell", cell->id, "variant",
                             cell->variant, "workload", cell->workload, "workers", cell->workers,
                             "samples", tally->samples, "blocks", tally->blocks, "top_ups",
                             tally->top_ups, "repeats", tally->repeats, "stop", tally->stop,
                             "width_percent", "absent", "joined from several runs"));
    }
    return json_pack("{si so}", "schema", 1, "cells", cells);
}

static bool samples_write(struct state *state)
{
    char path[PATH_SIZE];
    if (!path_make(state, path, state->merge->out, SAMPLES_DRAFT))
        return false;
    state->out = fopen(path, "wxe");
    state->unwritten = !state->out;
    if (!state->out)
        return error_quote(state->complaint, "cannot write %s: %s", path, strerror(errno));
    bool joined = records_join(state);
    bool written = fflush(state->out) == 0 && !ferror(state->out) &&
                   (fsync(fileno(state->out)) == 0 || errno == EINVAL);
    int why = errno;
    written = fclose(state->out) == 0 && written;
    if (!joined || written)
        return joined;
    state->unwritten = true;
    return error_quote(state->complaint, "cannot write %s: %s", path, strerror(why));
}

/* The whole ----------------------------------------------------------------------------------- */

static bool sources_open(struct state *state)
{
    for (size_t i = 0; i < state->merge->count; i++) {
        state->sources[i].folder = state->merge->runs[i];
        if (!source_open(state, &state->sources[i]))
            return false;
    }
    char path[PATH_SIZE];
    if (!path_make(state, path, state->merge->runs[0], "sweep.yaml"))
        return false;
    state->sweep = sweep_file_load(path, state->complaint);
    if (!state->sweep)
        return false;
    sweep_origin_apply_machine(state->sources[0].environment, state->sweep);
    state->plan = plan_make(state->sweep);
    sweep_kinds_begin(&state->kinds, state->plan, state->merge->mix_machines);
    state->tallies = xcalloc(state->plan->count + 1, sizeof *state->tallies);
    return true;
}

/* Makes a run of the folder, which is whole now. */
static bool samples_name(const struct state *state)
{
    char from[PATH_SIZE], to[PATH_SIZE];
    if (!path_make(state, from, state->merge->out, SAMPLES_DRAFT) ||
        !path_make(state, to, state->merge->out, "samples.jsonl"))
        return false;
    return rename(from, to) == 0 ||
           error_quote(state->complaint, "cannot rename %s: %s", from, strerror(errno));
}

static enum merge_result out_fill(struct state *state)
{
    char from[PATH_SIZE], to[PATH_SIZE];
    if (!path_make(state, from, state->merge->runs[0], "sweep.yaml") ||
        !path_make(state, to, state->merge->out, "sweep.yaml") ||
        !file_copy(from, to, state->complaint))
        return MERGE_FAILED;
    if (!samples_write(state))
        return state->unwritten ? MERGE_FAILED : MERGE_REFUSED;
    machines_compare(state);
    if (!json_write(state, "environment.json", environment_join(state)) ||
        !json_write(state, "plan.json", plan_join(state)) || !samples_name(state))
        return MERGE_FAILED;
    return MERGE_DONE;
}

static enum merge_result merge_state(struct state *state)
{
    if (!sources_open(state))
        return MERGE_REFUSED;
    if (mkdir(state->merge->out, 0777) < 0) {
        error_quote(state->complaint, "cannot make the folder %s: %s", state->merge->out,
                    strerror(errno));
        return errno == EEXIST ? MERGE_REFUSED : MERGE_FAILED;
    }
    enum merge_result result = out_fill(state);
    if (result != MERGE_DONE)
        run_folder_remove(state->merge->out);
    return result;
}

enum merge_result merge_runs(struct merge *merge, FILE *messages, struct error *error)
{
    struct state state = {.merge = merge, .messages = messages, .complaint = error};
    state.sources = xcalloc(merge->count + 1, sizeof *state.sources);
    state.differences = json_array();
    state.machines = json_object();
    enum merge_result result = merge_state(&state);
    for (size_t i = 0; i < merge->count; i++)
        source_close(&state.sources[i]);
    free(state.sources);
    json_decref(state.differences);
    json_decref(state.machines);
    if (state.plan) {
        sweep_kinds_end(&state.kinds);
        plan_free(state.plan);
    }
    sweep_file_free(state.sweep);
    free(state.tallies);
    return result;
}
