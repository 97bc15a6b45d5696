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
#include "harness/host/data_folder.h"
#include "harness/numbers/statistics.h"
#include "harness/plan/sweep_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUICK_S = 300 };

/* Sweeps --------------------------------------------------------------------------------------- */

static json_t *file_of(const struct packed_run *run, const char *name, struct error *to)
{
    char path[PACK_PATH_SIZE];
    json_error_t flaw;
    snprintf(path, sizeof path, "%s/%s", run->folder, name);
    json_t *json = json_load_file(path, 0, &flaw);
    if (!json)
        error_quote(to, "%s: %s", path, flaw.text);
    return json;
}

/* Seconds that the samples took; 0 if the run has no timings.json, as older ones have none. */
static double seconds_of(const struct packed_run *run)
{
    struct error unread;
    json_t *timings = file_of(run, "timings.json", &unread);
    double sum = 0;
    const char *id;
    json_t *cell;
    json_object_foreach(json_object_get(timings, "cells"), id, cell) sum +=
        field_number(cell, "seconds");
    json_decref(timings);
    return isfinite(sum) ? sum : 0;
}

/* The options that the run was begun with, as environment.json keeps them. blocks: so many of them,
 * whatever the width of intervals; 0: as the run had. */
static char *sweep_command(const struct packed_run *run, json_int_t blocks)
{
    const json_t *sweep = json_object_get(run->environment, "sweep");
    char *text;
    FILE *to = memory_stream(&text, NULL);
    fprintf(to, "sweep \"$root\"/runs/");
    shell_word_print(to, run->name);
    fprintf(to, "/sweep.yaml");
    shell_option_print(to, "--name", run->name);
    static const char *const numbers[][2] = {{"reps", "reps"},
                                             {"reps-max", "reps_max"},
                                             {"width", "width"},
                                             {"seed", "seed"},
                                             {"timeout", "timeout_s"}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        bool is_width = strcmp(numbers[i][0], "width") == 0;
        bool is_fewer = blocks > 0 && (is_width || strncmp(numbers[i][0], "reps", 4) == 0);
        fprintf(to, " --%s %" JSON_INTEGER_FORMAT, numbers[i][0],
                is_fewer ? (is_width ? 0 : blocks) : field_integer(sweep, numbers[i][1]));
    }
    shell_option_print(to, "--timer", field_text(sweep, "timer"));
    shell_option_print(to, "--machine", field_text(sweep, "machine"));
    shell_option_print(to, "--what-if", field_text(sweep, "what_if"));
    fprintf(to, "\n");
    fclose(to);
    return text;
}

/* `sweep --quick` has another number of calls than the file, and shows only that cells run. */
static bool is_as_the_file_says(const struct packed_run *run, const json_t *ran, struct error *to)
{
    char path[PACK_PATH_SIZE];
    snprintf(path, sizeof path, "%s/sweep.yaml", run->folder);
    struct sweep_file *sweep = sweep_file_load(path, to);
    if (!sweep)
        return false;
    bool same = sweep->iterations == field_integer(ran, "iterations") &&
                sweep->min_time_ms == field_integer(ran, "min_time_ms");
    sweep_file_free(sweep);
    return same || error_quote(to,
                               "%s: was measured with --quick, which shows only that all cells "
                               "run; measure it without",
                               run->folder);
}

static bool sweep_commands(struct packed_run *run, struct error *to)
{
    const json_t *sweep = json_object_get(run->environment, "sweep");
    if (!json_object_get(sweep, "seed"))
        return error_quote(
            to, "%s: has no seed of its own, as a merge of several runs; pack one of them",
            run->folder);
    if (!is_as_the_file_says(run, sweep, to))
        return false;
    json_int_t reps = field_integer(sweep, "reps");
    run->full_seconds = run->quick_seconds = seconds_of(run);
    run->full = sweep_command(run, 0);
    if (run->full_seconds > QUICK_S && reps > STATISTICS_INTERVAL_MIN) {
        run->quick_seconds *= (double)STATISTICS_INTERVAL_MIN / (double)reps;
        run->quick = sweep_command(run, STATISTICS_INTERVAL_MIN);
    } else {
        run->quick = xstrdup(run->full);
    }
    return true;
}

/* Reproductions -------------------------------------------------------------------------------- */

/* Seconds that it took. part: only those of simulated machines, without guests. */
static double experiment_seconds(const json_t *experiment, bool part)
{
    double sum = 0;
    static const char *const kinds[] = {"machines", "guests"};
    for (int i = 0; i < (part ? 1 : 2); i++)
        json_each(machine, json_object_get(experiment, kinds[i])) {
            double seconds = field_number(machine, "seconds");
            bool native = strcmp(field_text(machine, "machine"), "native") == 0;
            sum += isfinite(seconds) && !(part && native) ? seconds : 0;
        }
    return sum;
}

/* True if that file of the run is one of the program's own, which has an ID there. */
static bool is_of_the_tree(const char *path, const char *folder)
{
    char name[PACK_NAME_SIZE], place[PACK_PATH_SIZE];
    struct error unread;
    char **names = data_folder_names(folder, &unread);
    char *text = file_read(path, NULL, &unread);
    bool found = false;
    for (size_t i = 0; text && names && names[i] && !found; i++) {
        snprintf(name, sizeof name, "harness/%s/%s.yaml", folder, names[i]);
        char *own = data_find(name, place, sizeof place) ? file_read(place, NULL, &unread) : NULL;
        found = own && strcmp(own, text) == 0;
        free(own);
    }
    data_folder_names_free(names);
    free(text);
    return found;
}

/* The ID, or the run's copy of an experiment that the user wrote. */
static void experiment_print(FILE *to, const struct packed_run *run, const char *id)
{
    char path[PACK_PATH_SIZE];
    snprintf(path, sizeof path, "%s/experiments/%s.yaml", run->folder, id);
    if (is_of_the_tree(path, "experiments") || is_of_the_tree(path, "experiments/disputes")) {
        fprintf(to, " %s", id);
        return;
    }
    fprintf(to, " \"$root\"/runs/");
    shell_word_print(to, run->name);
    fprintf(to, "/experiments/%s.yaml", id);
}

/* Prints what the user named, or the simulated ones of the experiments. */
static void machines_print(FILE *to, const json_t *ran, bool part)
{
    bool given = strcmp(field_text(ran, "which"), "given") == 0;
    json_each(machine, json_object_get(ran, "machines"))
        if (!part || strcmp(json_string_value(machine), "native") != 0)
            shell_option_print(to, "--machine", json_string_value(machine));
    if (!given && (part || strcmp(field_text(ran, "which"), "simulated") == 0))
        fprintf(to, " --machine sim");
}

static char *repro_command(const struct packed_run *run, const json_t *ran, bool part)
{
    char *text;
    FILE *to = memory_stream(&text, NULL);
    fprintf(to, "repro");
    json_each(id, json_object_get(ran, "experiments"))
        experiment_print(to, run, json_string_value(id));
    shell_option_print(to, "--name", run->name);
    fprintf(to, " --%s", field_text(ran, "form"));
    if (part || json_is_true(json_object_get(ran, "deterministic")))
        fprintf(to, " --deterministic");
    if (!part && json_is_true(json_object_get(ran, "guests")))
        fprintf(to, " --guests");
    machines_print(to, ran, part);
    fprintf(to, "\n");
    fclose(to);
    return text;
}

static bool repro_commands(struct packed_run *run, struct error *to)
{
    json_t *repro = file_of(run, "repro.json", to);
    if (!repro)
        return false;
    const json_t *ran = json_object_get(repro, "run");
    double simulated = 0;
    json_each(experiment, json_object_get(repro, "experiments")) {
        run->full_seconds += experiment_seconds(experiment, false);
        simulated += experiment_seconds(experiment, true);
    }
    bool part = run->full_seconds > QUICK_S && simulated > 0;
    run->quick_seconds = part ? simulated : run->full_seconds;
    run->full = repro_command(run, ran, false);
    run->quick = repro_command(run, ran, part);
    json_decref(repro);
    return true;
}

bool packed_run_commands(struct packed_run *run, struct error *to)
{
    char path[PACK_PATH_SIZE];
    snprintf(path, sizeof path, "%s/repro.json", run->folder);
    return access(path, F_OK) == 0 ? repro_commands(run, to) : sweep_commands(run, to);
}

void packed_run_free(struct packed_run *run)
{
    free(run->name);
    free(run->quick);
    free(run->full);
    json_decref(run->claims);
    json_decref(run->environment);
}
