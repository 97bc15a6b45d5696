/* pack_commands.c - how a packed run is measured again, and how long that takes; see pack.h.
 *
 * The full form is what was measured. The quick form of a sweep has fewer blocks if the run took
 * longer than QUICK_S. The quick form of a reproduction then leaves out what is not the same each
 * time. A command is written for reproduce.sh, which sets $root.
 */
#include "harness/artifact/pack_internal.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUICK_S = 300, BLOCKS_FEW = 6, BLOCKS_LEAST = 3 }; /* an interval takes 6 samples */

static void put_text(FILE *to, const char *option, const char *text)
{
    if (!*text)
        return;
    fprintf(to, " --%s ", option);
    shell_word_print(to, text);
}

/* Sweeps --------------------------------------------------------------------------------------- */

static json_t *file_of(const struct packed_run *run, const char *name, char *error,
                       size_t error_size)
{
    char path[PACK_PATH_SIZE];
    json_error_t flaw;
    snprintf(path, sizeof path, "%s/%s", run->folder, name);
    json_t *json = json_load_file(path, 0, &flaw);
    if (!json)
        snprintf(error, error_size, "%s: %s", path, flaw.text);
    return json;
}

/* Seconds that the samples took; 0 if the run has no timings.json, as older ones have none. */
static double seconds_of(const struct packed_run *run)
{
    char unread[PACK_PATH_SIZE + 512];
    json_t *timings = file_of(run, "timings.json", unread, sizeof unread);
    double sum = 0;
    const char *id;
    json_t *cell;
    json_object_foreach(json_object_get(timings, "cells"), id, cell) sum +=
        field_number(cell, "seconds");
    json_decref(timings);
    return isfinite(sum) ? sum : 0;
}

/* The options that the run was begun with, as environment.json keeps them. */
static char *sweep_command(const struct packed_run *run, json_int_t reps, json_int_t reps_max)
{
    const json_t *sweep = json_object_get(run->environment, "sweep");
    char *text;
    size_t size;
    FILE *to = memory_stream(&text, &size);
    fprintf(to, "sweep \"$root\"/runs/");
    shell_word_print(to, run->name);
    fprintf(to, "/sweep.yaml");
    put_text(to, "name", run->name);
    fprintf(to, " --reps %" JSON_INTEGER_FORMAT " --reps-max %" JSON_INTEGER_FORMAT, reps,
            reps_max);
    static const char *const numbers[][2] = {
        {"seed", "seed"}, {"width", "width"}, {"timeout", "timeout_s"}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        fprintf(to, " --%s %" JSON_INTEGER_FORMAT, numbers[i][0],
                field_integer(sweep, numbers[i][1]));
    put_text(to, "timer", field_text(sweep, "timer"));
    put_text(to, "machine", field_text(sweep, "machine"));
    put_text(to, "what-if", field_text(sweep, "what_if"));
    fprintf(to, "\n");
    fclose(to);
    return text;
}

static bool sweep_commands(struct packed_run *run, char *error, size_t error_size)
{
    const json_t *sweep = json_object_get(run->environment, "sweep");
    if (!json_object_get(sweep, "seed")) {
        snprintf(error, error_size,
                 "%s: has no seed of its own, as a merge of several runs; pack one of them",
                 run->folder);
        return false;
    }
    json_int_t reps = field_integer(sweep, "reps"), quick = reps;
    json_int_t reps_max = field_integer(sweep, "reps_max");
    run->full_seconds = seconds_of(run);
    if (run->full_seconds > QUICK_S && quick > BLOCKS_FEW)
        quick = BLOCKS_FEW;
    if (run->full_seconds * (double)quick / (double)reps > QUICK_S && quick > BLOCKS_LEAST)
        quick = BLOCKS_LEAST;
    run->quick_seconds = run->full_seconds * (double)quick / (double)(reps > 0 ? reps : 1);
    run->full = sweep_command(run, reps, reps_max);
    run->quick = sweep_command(run, quick, quick < reps ? quick : reps_max);
    return true;
}

/* Reproductions -------------------------------------------------------------------------------- */

static double experiment_seconds(const json_t *experiment)
{
    double sum = 0;
    static const char *const kinds[] = {"machines", "guests"};
    for (int i = 0; i < 2; i++)
        json_each(machine, json_object_get(experiment, kinds[i])) {
            double seconds = field_number(machine, "seconds");
            sum += isfinite(seconds) ? seconds : 0;
        }
    return sum;
}

/* Seconds of simulated machines without guests: the part that is the same each time. */
static double simulated_seconds(const json_t *experiment)
{
    double sum = 0;
    json_each(machine, json_object_get(experiment, "machines"))
        if (strcmp(field_text(machine, "machine"), "native") != 0)
            sum += field_number(machine, "seconds");
    return isfinite(sum) ? sum : 0;
}

static char *repro_command(const struct packed_run *run, const json_t *ran, bool part)
{
    char *text;
    size_t size;
    FILE *to = memory_stream(&text, &size);
    fprintf(to, "repro");
    json_each(id, json_object_get(ran, "experiments"))
        fprintf(to, " %s", json_string_value(id));
    put_text(to, "name", run->name);
    fprintf(to, " --%s", field_text(ran, "form"));
    if (part || json_is_true(json_object_get(ran, "deterministic")))
        fprintf(to, " --deterministic");
    if (!part && json_is_true(json_object_get(ran, "guests")))
        fprintf(to, " --guests");
    if (part || strcmp(field_text(ran, "which"), "simulated") == 0)
        fprintf(to, " --machine sim");
    json_each(machine, part ? NULL : json_object_get(ran, "machines")) {
        put_text(to, "machine", json_string_value(machine));
    }
    fprintf(to, "\n");
    fclose(to);
    return text;
}

static bool repro_commands(struct packed_run *run, char *error, size_t error_size)
{
    json_t *repro = file_of(run, "repro.json", error, error_size);
    if (!repro)
        return false;
    const json_t *ran = json_object_get(repro, "run");
    double simulated = 0;
    json_each(experiment, json_object_get(repro, "experiments")) {
        run->full_seconds += experiment_seconds(experiment);
        simulated += simulated_seconds(experiment);
    }
    bool part = run->full_seconds > QUICK_S;
    run->quick_seconds = part ? simulated : run->full_seconds;
    run->full = repro_command(run, ran, false);
    run->quick = repro_command(run, ran, part);
    json_decref(repro);
    return true;
}

bool packed_run_commands(struct packed_run *run, char *error, size_t error_size)
{
    char path[PACK_PATH_SIZE];
    snprintf(path, sizeof path, "%s/repro.json", run->folder);
    return access(path, F_OK) == 0 ? repro_commands(run, error, error_size)
                                   : sweep_commands(run, error, error_size);
}

void packed_run_free(struct packed_run *run)
{
    free(run->name);
    free(run->quick);
    free(run->full);
    json_decref(run->claims);
    json_decref(run->environment);
}
