/* engine_parallel.c - the engine for machines that share a folder and nothing else: GNU parallel,
 * which runs the jobs over ssh on those that a file names.
 *
 * Source: parallel(1), 20221122. Simulated samples take a core each, native ones a machine each;
 * the two batches of a round run one after the other, so that no native one has company.
 *
 * A machine that goes away in a round takes the jobs that it runs, and fails those that it is given
 * afterwards; the next round leaves it out (--filter-hosts). Where parallel ends, its part on the
 * other machines notices that within a second and ends what it started there; so nothing goes on
 * after an interruption, or after this process is killed.
 */
#include "harness/sweep/engine.h"

#include "harness/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How parallel calls ssh, unless the user says how in $PARALLEL_SSH: nobody is there to type a
 * password, a login banner is no answer, and a machine without power does not hang up. */
static const char SSH[] = "ssh -o BatchMode=yes -o LogLevel=ERROR -o ConnectTimeout=10 "
                          "-o ServerAliveInterval=10 -o ServerAliveCountMax=3";

/* The jobs' commands, which parallel runs as they are: where it is given one command for all, it
 * replaces {} and more in it, also in the paths of the user's folders. */
static bool commands_write(const char *path, const struct engine *engine,
                           const struct engine_batch *batch)
{
    FILE *to = fopen(path, "we");
    if (!to)
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        char number[32];
        snprintf(number, sizeof number, "%zu", i);
        char *command = engine_command(engine, batch, number);
        fwrite(command, strlen(command) + 1, 1, to); /* paths may have newlines, but no zero */
        free(command);
    }
    return fclose(to) == 0;
}

static _Noreturn void parallel_exec(const char *program, const char *const *arguments,
                                    const char *log, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0); /* Ctrl-C is the sweep's, which cancels */
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    int nothing = open("/dev/null", O_RDONLY);
    if (getppid() != parent || fd < 0 || nothing < 0)
        _exit(127);
    dup2(nothing, STDIN_FILENO);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    execv(program, (char *const *)arguments);
    _exit(127);
}

/* Its path, or one line in error. */
static bool parallel_find(char program[ENGINE_PATH_SIZE], struct error *error)
{
    if (process_find("parallel", program, ENGINE_PATH_SIZE))
        return true;
    return error_set(error, "parallel (GNU parallel) is not in PATH");
}

static bool batch_start(struct engine *engine, const struct engine_batch *batch,
                        struct error *error)
{
    char program[ENGINE_PATH_SIZE], commands[ENGINE_PATH_SIZE], log[ENGINE_PATH_SIZE];
    engine_path(engine, batch, "-jobs", commands);
    engine_path(engine, batch, "-0.log", log);
    if (!parallel_find(program, error))
        return false;
    if (!commands_write(commands, engine, batch))
        return error_set(error, "cannot write %s: %s", commands, strerror(errno));
    const char *ssh = getenv("PARALLEL_SSH");
    const char *arguments[] = {"parallel",
                               "--will-cite",
                               "--ssh",
                               ssh && *ssh ? ssh : SSH,
                               "--filter-hosts",
                               "--sshloginfile",
                               engine->hosts,
                               "--jobs",
                               batch->native ? "1" : "100%",
                               "--null",
                               "-a",
                               commands,
                               NULL};
    pid_t parent = getpid();
    engine->pid = fork();
    if (engine->pid == 0)
        parallel_exec(program, arguments, log, parent);
    engine->may_have_jobs |= engine->pid > 0;
    if (engine->pid > 0)
        return true;
    error_print(error, "cannot start parallel: %s", strerror(errno));
    engine->pid = 0;
    return false;
}

static bool parallel_submit(struct engine *engine, const struct engine_batch *batch,
                            struct error *error)
{
    if (engine->pid == 0)
        return batch_start(engine, batch, error);
    engine->later[engine->later_count++] = *batch;
    return true;
}

/* Takes note of the end of parallel; also where nobody can tell how it ended. */
static void end_look(struct engine *engine)
{
    pid_t ended = engine->pid ? waitpid(engine->pid, NULL, WNOHANG) : 0;
    if (ended > 0 || (ended < 0 && errno != EINTR))
        engine->pid = 0;
}

/* parallel does not say which jobs wait: all count as running until it ends. */
static bool parallel_look(struct engine *engine, size_t *waiting, size_t *running)
{
    struct error error;
    *waiting = *running = 0;
    end_look(engine);
    if (engine->pid == 0 && engine->later_count > 0) {
        struct engine_batch next = engine->later[--engine->later_count];
        if (!batch_start(engine, &next, &error))
            fprintf(stderr, "%s\n", error.text);
    }
    *running = engine->pid != 0;
    return true;
}

/* parallel ends the jobs that run, and itself. Before it starts the first one it does not hear. */
static bool parallel_cancel(struct engine *engine, struct error *error)
{
    (void)error;
    engine->later_count = 0;
    while (engine->pid != 0) {
        kill(engine->pid, SIGTERM);
        for (int i = 0; i < 20 && engine->pid != 0; i++) {
            nanosleep(&(struct timespec){0, 100000000}, NULL);
            end_look(engine);
        }
    }
    return true;
}

/* Looks for the program only: each round asks anew whether the machines answer (--filter-hosts). */
static bool parallel_check(bool answer, struct error *error)
{
    char program[ENGINE_PATH_SIZE];
    (void)answer;
    return parallel_find(program, error);
}

const struct engine_ops engine_parallel = {"parallel",    parallel_check,  parallel_submit,
                                           parallel_look, parallel_cancel, false};
