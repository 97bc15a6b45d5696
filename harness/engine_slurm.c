/* engine_slurm.c - the engine for clusters with Slurm: job arrays by sbatch, followed by squeue.
 *
 * Source: sbatch(1), squeue(1), scancel(1) of Slurm 22.05. Only these three are needed: sacct takes
 * a database that not every cluster has, and whether a cell was measured its file says.
 *
 * Jobs are known by their name, which no other run has, and not by their numbers: so a sweep that
 * is resumed finds those that it left, and a restarted controller is one that does not answer for a
 * while. --no-requeue, because what a lost node took with it is the engine's to count.
 */
#define _GNU_SOURCE
#include "harness/engine.h"

#include "harness/files.h"
#include "harness/process.h"

#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ARRAY_MAX = 1000, /* Slurm's MaxArraySize is 1001 where it was not set */
    SUBMIT_TRIES = 24,
    SUBMIT_WAIT_S = 5,
    ANSWER_S = 60,
    ARGUMENTS = 16,
};

/* Writes the script that all jobs of the batch run. */
static bool script_write(const struct engine *engine, const struct engine_batch *batch,
                         size_t first, char path[ENGINE_PATH_SIZE], char *error, size_t error_size)
{
    char number[64], suffix[64], *text = NULL;
    snprintf(number, sizeof number, "$((SLURM_ARRAY_TASK_ID + %zu))", first);
    char *command = engine_command(engine, batch, number);
    if (asprintf(&text, "#!/bin/sh\nexec %s\n", command) < 0)
        abort();
    snprintf(suffix, sizeof suffix, "-%zu.sh", first);
    engine_path(engine, batch, suffix, path);
    bool ok = file_replace(path, text, strlen(text), error, error_size);
    free(command);
    free(text);
    return ok;
}

/* Whether trying again may help: the controller is being restarted. */
static bool may_pass(const struct process_result *result)
{
    return strstr(result->messages, "contact slurm controller") ||
           strstr(result->messages, "timed out") || strstr(result->messages, "try again") ||
           strstr(result->messages, "Connection refused");
}

static bool sbatch(const char *const *arguments, char *error, size_t error_size)
{
    char program[ENGINE_PATH_SIZE], why[1024];
    if (!process_find("sbatch", program, sizeof program)) {
        snprintf(error, error_size,
                 "sbatch is not in PATH; --engine=slurm takes a machine that may submit jobs");
        return false;
    }
    for (int i = 0; i < SUBMIT_TRIES && !process_interrupted(); i++) {
        struct process_result result;
        int failed = process_run(program, arguments, ANSWER_S, &result);
        if (failed) {
            snprintf(error, error_size, "cannot run sbatch: %s", strerror(-failed));
            return false;
        }
        bool done = result.end == PROCESS_ENDED && result.status == 0;
        bool again = result.end == PROCESS_TIMED_OUT || may_pass(&result);
        process_end_text(&result, why, sizeof why);
        process_result_free(&result);
        if (done)
            return true;
        snprintf(error, error_size, "sbatch: %s", *why ? why : "no answer");
        if (!again)
            return false;
        nanosleep(&(struct timespec){SUBMIT_WAIT_S, 0}, NULL);
    }
    return false;
}

/* One array: jobs first .. first + count - 1. */
static bool array_submit(struct engine *engine, const struct engine_batch *batch, size_t first,
                         size_t count, char *error, size_t error_size)
{
    char script[ENGINE_PATH_SIZE], log[ENGINE_PATH_SIZE], name[192], array[64],
        output[2 * ENGINE_PATH_SIZE];
    char suffix[64];
    size_t options = 0, n = 0;
    if (!script_write(engine, batch, first, script, error, error_size))
        return false;
    if (first > 0)
        snprintf(suffix, sizeof suffix, "-%zu+%%a.log", first);
    else
        snprintf(suffix, sizeof suffix, "-%%a.log");
    engine_path(engine, batch, suffix, log);
    snprintf(output, sizeof output, "--output=%s", log);
    snprintf(name, sizeof name, "--job-name=%s", engine->name);
    snprintf(array, sizeof array, "--array=0-%zu", count - 1);
    while (engine->options && engine->options[options])
        options++;
    const char **arguments = calloc(ARGUMENTS + options, sizeof *arguments);
    if (!arguments)
        abort();
    arguments[n++] = "sbatch";
    arguments[n++] = "--parsable";
    arguments[n++] = "--no-requeue";
    arguments[n++] = name;
    arguments[n++] = array;
    arguments[n++] = output;
    arguments[n++] = "--nodes=1";
    arguments[n++] = "--ntasks=1";
    /* Natively all cores of a node and nobody beside; simulated ones a core each. */
    arguments[n++] = batch->native ? "--exclusive" : "--cpus-per-task=1";
    for (size_t i = 0; i < options; i++)
        arguments[n++] = engine->options[i];
    arguments[n++] = script;
    bool ok = sbatch(arguments, error, error_size);
    free(arguments);
    return ok;
}

static bool slurm_submit(struct engine *engine, const struct engine_batch *batch, char *error,
                         size_t error_size)
{
    bool ok = true;
    for (size_t first = 0; ok && first < batch->count; first += ARRAY_MAX) {
        size_t count = batch->count - first < ARRAY_MAX ? batch->count - first : ARRAY_MAX;
        ok = array_submit(engine, batch, first, count, error, error_size);
    }
    return ok;
}

static bool slurm_look(struct engine *engine, size_t *waiting, size_t *running)
{
    char program[ENGINE_PATH_SIZE], name[192];
    struct process_result result;
    snprintf(name, sizeof name, "--name=%s", engine->name);
    const char *arguments[] = {"squeue", "--noheader", "--array", name, "--format=%T", NULL};
    if (!process_find("squeue", program, sizeof program) ||
        process_run(program, arguments, ANSWER_S, &result) != 0)
        return false;
    bool known = result.end == PROCESS_ENDED && result.status == 0;
    if (known)
        *waiting = *running = 0;
    char *rest = NULL;
    for (char *line = known ? strtok_r(result.output, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        ++*(strcmp(line, "PENDING") == 0 ? waiting : running);
    process_result_free(&result);
    return known;
}

/* Not by process_run(), which starts nothing any more after an interruption. */
static void slurm_cancel(struct engine *engine)
{
    char name[192];
    pid_t pid;
    snprintf(name, sizeof name, "--name=%s", engine->name);
    char *arguments[] = {"scancel", name, NULL};
    if (posix_spawnp(&pid, "scancel", NULL, NULL, arguments, environ) == 0)
        while (waitpid(pid, NULL, 0) < 0)
            ;
}

const struct engine_ops engine_slurm = {"slurm", slurm_submit, slurm_look, slurm_cancel};
