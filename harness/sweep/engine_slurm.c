/* engine_slurm.c - the engine for clusters with Slurm: job arrays by sbatch, followed by squeue.
 *
 * Source: sbatch(1), squeue(1), scancel(1), scontrol(1) of Slurm 22.05. sacct is not needed: it
 * takes a database that not every cluster has, and whether a sample was measured its file says.
 *
 * Jobs are known by their name, which no other run has, and not by their numbers. So a sweep that
 * is resumed finds the jobs that it left, and a restarted controller is just one that does not
 * answer for a while. --no-requeue, because the engine itself counts the samples that a lost node
 * took with it.
 *
 * Each array runs a script of its own, whose path tells it from all others. A controller that does
 * not answer may have taken the array all the same; so before sbatch is called again, squeue is
 * asked for a job that runs this script.
 */
#include "harness/base/text.h"
#include "harness/sweep/engine.h"

#include "harness/base/files.h"
#include "harness/base/memory.h"
#include "harness/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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
    SUBMIT_WAIT_S = 5, /* at most, before each of them */
    CANCEL_TRIES = 5,
    CANCEL_WAIT_S = 1,
    CANCEL_ANSWER_S = 10,
    ANSWER_S = 60,
    ARGUMENTS = 16,
};

/* States of jobs that have not ended. */
static const char states_live[] =
    "--states=PENDING,CONFIGURING,RUNNING,SUSPENDED,STOPPED,COMPLETING,RESIZING,REQUEUED,"
    "REQUEUE_HOLD,REQUEUE_FED,RESV_DEL_HOLD,SPECIAL_EXIT,SIGNALING,STAGE_OUT";

/* Writes the script that all jobs of the batch run. */
static bool script_write(const struct engine *engine, const struct engine_batch *batch,
                         size_t first, char path[ENGINE_PATH_SIZE], struct error *error)
{
    char number[64], suffix[64], *text = NULL;
    snprintf(number, sizeof number, "$((SLURM_ARRAY_TASK_ID + %zu))", first);
    char *command = engine_command(engine, batch, number);
    text = text_format("#!/bin/sh\nexec %s\n", command);
    snprintf(suffix, sizeof suffix, "-%zu.sh", first);
    engine_path(engine, batch, suffix, path);
    bool ok = file_replace(path, text, strlen(text), error);
    free(command);
    free(text);
    return ok;
}

/* True if trying again may help: the controller is being restarted. */
static bool may_pass(const struct process_result *result)
{
    return strstr(result->messages, "contact slurm controller") ||
           strstr(result->messages, "timed out") || strstr(result->messages, "try again") ||
           strstr(result->messages, "Connection refused");
}

/* The messages of a program of Slurm, in one line. All of them: the last one often tells less than
 * those before. */
static void complaint_print(const struct process_result *result, const char *program,
                            struct error *error)
{
    char text[PROCESS_MESSAGES_MAX + 1], prefix[64], *rest = NULL;
    const char *separator = "";
    snprintf(prefix, sizeof prefix, "%s: ", program);
    error_print(error, "%s", prefix);
    snprintf(text, sizeof text, "%s", result->messages);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        line += strncmp(line, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
        line += strncmp(line, "error: ", 7) == 0 ? 7 : 0;
        text_add(error->text, sizeof error->text, "%s%s", separator, line);
        separator = "; ";
    }
    if (!*separator)
        text_add(error->text, sizeof error->text, "no answer");
}

/* The answers of sbatch and squeue about an array. */
enum answer { ANSWER_YES, ANSWER_NO, ANSWER_NONE };

/* --parsable prints the number. Options of the user may have sbatch print something else and hand
 * nothing in. */
static bool job_has_number(const char *output)
{
    for (const char *line = output; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line >= '0' && *line <= '9')
            return true;
    }
    return false;
}

/* YES if sbatch took the array; NONE if it may have. One line in error unless it did. */
static enum answer array_hand_in(const char *const *arguments, struct error *error)
{
    char program[ENGINE_PATH_SIZE];
    struct process_result result;
    int failed = process_find("sbatch", program, sizeof program)
                     ? process_run(program, arguments, ANSWER_S, &result)
                     : -ENOENT;
    if (failed) {
        error_print(error, "cannot run sbatch: %s", strerror(-failed));
        return ANSWER_NO;
    }
    enum answer answer = result.end == PROCESS_ENDED && result.status == 0  ? ANSWER_YES
                         : result.end != PROCESS_ENDED || may_pass(&result) ? ANSWER_NONE
                                                                            : ANSWER_NO;
    if (answer != ANSWER_YES) {
        complaint_print(&result, "sbatch", error);
    } else if (!job_has_number(result.output)) {
        answer = ANSWER_NO;
        error_print(error,
                    "sbatch handed no job in and called that no error; one of the options given by "
                    "--sbatch is not for a job that runs");
    }
    process_result_free(&result);
    return answer;
}

/* Runs squeue for the engine's jobs in these states, those of hidden partitions too: a job that is
 * not seen counts as ended, and its samples are handed in again. True if it answered; then *lines
 * is its output, to be freed. */
static bool squeue(const struct engine *engine, const char *states, const char *format,
                   char **lines)
{
    char program[ENGINE_PATH_SIZE], name[192];
    struct process_result result;
    snprintf(name, sizeof name, "--name=%s", engine->name);
    const char *arguments[] = {"squeue", "--noheader", "--all", "--array",
                               states,   name,         format,  NULL};
    if (!process_find("squeue", program, sizeof program) ||
        process_run(program, arguments, ANSWER_S, &result) != 0)
        return false;
    bool known = result.end == PROCESS_ENDED && result.status == 0;
    if (known) {
        *lines = result.output;
        result.output = NULL;
    }
    process_result_free(&result);
    return known;
}

/* YES if there is an array that runs this script, even if all its jobs have ended just now. */
static enum answer array_look(const struct engine *engine, const char *script)
{
    char *lines, *rest = NULL;
    if (!squeue(engine, "--states=all", "--format=%o", &lines))
        return ANSWER_NONE;
    enum answer answer = ANSWER_NO;
    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (strcmp(line, script) == 0)
            answer = ANSWER_YES;
    free(lines);
    return answer;
}

/* Hands the array in once, however often it takes to hear that it is there. */
static bool sbatch(struct engine *engine, const char *const *arguments, const char *script,
                   struct error *error)
{
    enum answer there = ANSWER_NO; /* unless NO, sbatch is not to be called */
    for (int i = 0; i < SUBMIT_TRIES && !process_interrupted(); i++) {
        if (there == ANSWER_NO) {
            enum answer answer = array_hand_in(arguments, error);
            engine->may_have_jobs |= answer != ANSWER_NO;
            if (answer != ANSWER_NONE)
                return answer == ANSWER_YES;
            if (i == 0)
                progress_message(engine->progress, "%s; trying again", error->text);
        }
        nanosleep(&(struct timespec){i < SUBMIT_WAIT_S ? i + 1 : SUBMIT_WAIT_S, 0}, NULL);
        there = array_look(engine, script);
        if (there == ANSWER_YES)
            return true;
    }
    return false;
}

/* How many jobs an array may have. */
static size_t array_max(void)
{
    static const char key[] = "\nMaxArraySize";
    char program[ENGINE_PATH_SIZE];
    const char *arguments[] = {"scontrol", "show", "config", NULL};
    struct process_result result;
    size_t most = ARRAY_MAX;
    if (!process_find("scontrol", program, sizeof program) ||
        process_run(program, arguments, ANSWER_S, &result) != 0)
        return most;
    const char *line = strstr(result.output, key);
    unsigned long size = 0;
    if (line && sscanf(line + sizeof key - 1, " = %lu", &size) == 1 && size < most)
        most = size > 0 ? size : 1;
    process_result_free(&result);
    return most;
}

/* One array: jobs first .. first + count - 1. */
static bool array_submit(struct engine *engine, const struct engine_batch *batch, size_t first,
                         size_t count, struct error *error)
{
    char script[ENGINE_PATH_SIZE], log[ENGINE_PATH_SIZE], name[192], array[64],
        output[2 * ENGINE_PATH_SIZE];
    char suffix[64];
    size_t options = 0, n = 0;
    if (!script_write(engine, batch, first, script, error))
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
    const char **arguments = xcalloc(ARGUMENTS + options, sizeof *arguments);
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
    bool ok = sbatch(engine, arguments, script, error);
    free(arguments);
    return ok;
}

static bool slurm_submit(struct engine *engine, const struct engine_batch *batch,
                         struct error *error)
{
    bool ok = true;
    size_t most = batch->count > 1 ? array_max() : 1;
    for (size_t first = 0; ok && first < batch->count; first += most) {
        size_t count = batch->count - first < most ? batch->count - first : most;
        ok = array_submit(engine, batch, first, count, error);
    }
    return ok;
}

static bool slurm_look(struct engine *engine, size_t *waiting, size_t *running)
{
    static const char pending[] = "PENDING ", cluster[] = "CLUSTER: ";
    char *lines, *rest = NULL;
    if (!squeue(engine, states_live, "--format=%T %r", &lines))
        return false;
    *waiting = *running = 0;
    engine->why[0] = '\0';
    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, cluster, strlen(cluster)) == 0) /* a heading, with SLURM_CLUSTERS */
            continue;
        bool waits = strncmp(line, pending, strlen(pending)) == 0;
        ++*(waits ? waiting : running);
        if (waits && strcmp(line + strlen(pending), "None") != 0)
            snprintf(engine->why, sizeof engine->why, "%.60s", line + strlen(pending));
    }
    if (*running > 0)
        engine->why[0] = '\0';
    free(lines);
    return true;
}

/* True if the process ended by itself, and well, within so many seconds. */
static bool ends_well(pid_t pid, int seconds)
{
    int status;
    for (int i = 0; i < seconds * 50; i++) {
        pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid)
            return status == 0;
        if (ended < 0 && errno != EINTR)
            return false;
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return false;
}

/* Does not use process_run(), which starts nothing more after an interruption. */
static bool slurm_cancel(struct engine *engine, struct error *error)
{
    char name[192];
    pid_t pid;
    snprintf(name, sizeof name, "--name=%s", engine->name);
    char *arguments[] = {"scancel", name, NULL};
    posix_spawn_file_actions_t silent; /* but the last: what it says each time is the same */
    posix_spawn_file_actions_init(&silent);
    posix_spawn_file_actions_addopen(&silent, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    bool done = false;
    for (int i = 0; i < CANCEL_TRIES && !done; i++) {
        if (i > 0)
            nanosleep(&(struct timespec){CANCEL_WAIT_S, 0}, NULL);
        done = posix_spawnp(&pid, "scancel", i < CANCEL_TRIES - 1 ? &silent : NULL, NULL, arguments,
                            environ) == 0 &&
               ends_well(pid, CANCEL_ANSWER_S);
    }
    posix_spawn_file_actions_destroy(&silent);
    if (done)
        return true;
    return error_set(
        error, "the jobs could not be cancelled; once Slurm answers, `scancel %s` does that", name);
}

/* Forgets the user's settings for squeue and scancel. They say what the user wants to see and to
 * spare, but the engine means all of its jobs. The user's settings for sbatch stay. */
static void wishes_forget(void)
{
    char name[256];
    for (size_t i = 0; environ[i];) {
        bool hides =
            strncmp(environ[i], "SQUEUE_", 7) == 0 || strncmp(environ[i], "SCANCEL_", 8) == 0;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(environ[i], "="), environ[i]);
        if (!hides || unsetenv(name) != 0)
            i++;
        else
            i = 0; /* the others have moved */
    }
}

static bool slurm_check(bool answer, struct error *error)
{
    static const char *const programs[] = {"sbatch", "scancel", "squeue"};
    static const char *const arguments[] = {"squeue", "--noheader", "--name=schedlab", NULL};
    char program[ENGINE_PATH_SIZE];
    struct process_result result;
    wishes_forget();
    if (getenv("SBATCH_CLUSTERS"))
        return error_set(
            error,
            "SBATCH_CLUSTERS is set, which squeue does not obey; valid: SLURM_CLUSTERS, which "
            "all programs of Slurm do");
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (!process_find(programs[i], program, sizeof program))
            return error_set(
                error, "%s is not in PATH; --engine=slurm takes a machine that may submit jobs",
                programs[i]);
    if (!answer)
        return true;
    int failed = process_run(program, arguments, ANSWER_S, &result); /* squeue */
    if (failed)
        return error_set(error, "cannot run squeue: %s", strerror(-failed));
    bool answers = result.end == PROCESS_ENDED && result.status == 0;
    if (!answers)
        complaint_print(&result, "squeue", error);
    process_result_free(&result);
    return answers;
}

const struct engine_ops engine_slurm = {"slurm",    slurm_check,  slurm_submit,
                                        slurm_look, slurm_cancel, true};
