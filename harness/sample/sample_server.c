/* sample_server.c - see sample_server.h.
 *
 * A question is its head and the arguments, each with its NUL; an answer is its head, what the
 * sample wrote to standard output, and the end of what it wrote to standard error. Both sides are
 * of one build.
 */
#include "harness/sample/sample_server.h"

#include "harness/base/memory.h"
#include "harness/models/machine_start.h"
#include "harness/sample/why.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static const char server_option[] = "--serve"; /* of `schedlab sample` */

struct question {
    double timeout_s;
    size_t size; /* of the arguments */
};

struct answer {
    int error, end, status;
    size_t output_size, messages_size;
};

/* Pipes --------------------------------------------------------------------------------------- */

bool sample_server_write(int to, const void *data, size_t size)
{
    for (const char *at = data; size > 0;) {
        ssize_t n = write(to, at, size);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool read_whole(int from, void *data, size_t size)
{
    for (char *at = data; size > 0;) {
        ssize_t n = read(from, at, size);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Asking -------------------------------------------------------------------------------------- */

/* A process group of its own: Ctrl-C reaches the sweep alone, which then kills its servers. */
static _Noreturn void server_exec(const char *path, pid_t parent, int from, int to)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent && dup2(from, STDIN_FILENO) >= 0 && dup2(to, STDOUT_FILENO) >= 0)
        execl(path, "schedlab", "sample", server_option, (char *)NULL);
    _exit(127);
}

bool sample_server_start(struct sample_server *server)
{
    char path[PATH_SIZE];
    struct error error;
    int question[2], answer[2];
    *server = (struct sample_server){.pid = 0};
    if (!machine_sim_program(NULL, path, sizeof path, &error) || pipe2(question, O_CLOEXEC) < 0)
        return false;
    bool piped = pipe2(answer, O_CLOEXEC) == 0;
    pid_t parent = getpid(), pid = piped ? fork() : -1;
    if (pid == 0)
        server_exec(path, parent, question[0], answer[1]);
    close(question[0]);
    if (piped)
        close(answer[1]);
    if (pid < 0) {
        close(question[1]);
        if (piped)
            close(answer[0]);
        return false;
    }
    *server = (struct sample_server){.pid = pid, .to = question[1], .from = answer[0]};
    return true;
}

void sample_server_end(struct sample_server *server)
{
    if (server->pid == 0)
        return;
    kill(server->pid, SIGKILL);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(server->to);
    close(server->from);
    free(server->answer);
    *server = (struct sample_server){.pid = 0};
}

bool sample_server_ask(struct sample_server *server, const struct sample_request *request)
{
    struct sample_arguments arguments;
    struct question question = {.timeout_s = request->timeout_s};
    sample_request_arguments(&arguments, request);
    for (int i = 0; i < arguments.argc; i++)
        question.size += strlen(arguments.argv[i]) + 1;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGPIPE, &ignore, &before);
    bool ok = sample_server_write(server->to, &question, sizeof question);
    for (int i = 0; ok && i < arguments.argc; i++)
        ok = sample_server_write(server->to, arguments.argv[i], strlen(arguments.argv[i]) + 1);
    sigaction(SIGPIPE, &before, NULL);
    return ok;
}

static char *part_take(const char *data, size_t size)
{
    char *part = xmalloc(size + 1);
    memcpy(part, data, size);
    part[size] = '\0';
    return part;
}

enum sample_server_read sample_server_read(struct sample_server *server, int *error,
                                           struct process_result *result)
{
    char data[65536];
    struct answer answer;
    ssize_t n = read(server->from, data, sizeof data);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return SAMPLE_SERVER_MORE;
    if (n <= 0)
        return SAMPLE_SERVER_GONE;
    server->answer = xrealloc(server->answer, server->size + (size_t)n);
    memcpy(server->answer + server->size, data, (size_t)n);
    server->size += (size_t)n;
    if (server->size < sizeof answer)
        return SAMPLE_SERVER_MORE;
    memcpy(&answer, server->answer, sizeof answer);
    if (server->size < sizeof answer + answer.output_size + answer.messages_size)
        return SAMPLE_SERVER_MORE;
    const char *output = server->answer + sizeof answer;
    *error = answer.error;
    if (!answer.error)
        *result = (struct process_result){
            .end = (enum process_end)answer.end,
            .status = answer.status,
            .output = part_take(output, answer.output_size),
            .output_size = answer.output_size,
            .messages = part_take(output + answer.output_size, answer.messages_size),
            .messages_size = answer.messages_size,
        };
    server->size = 0;
    return SAMPLE_SERVER_DONE;
}

/* Answering ----------------------------------------------------------------------------------- */

struct call {
    int (*run)(int argc, char **argv);
    char *argv[SAMPLE_ARGUMENTS_MAX];
    int argc;
};

/* In the copy: the arguments are those of the program, and run() is one of its commands. */
static int call_make(void *call_void)
{
    struct call *call = call_void;
    static char name[] = "schedlab sample";
    call->argv[1] = name;
    return call->run(call->argc - 1, call->argv + 1);
}

static bool answer_write(int error, struct process_result *result)
{
    struct answer answer = {.error = error};
    if (error)
        return sample_server_write(STDOUT_FILENO, &answer, sizeof answer);
    answer.end = (int)result->end;
    answer.status = result->status;
    answer.output_size = result->output_size;
    answer.messages_size = result->messages_size;
    bool ok = sample_server_write(STDOUT_FILENO, &answer, sizeof answer) &&
              sample_server_write(STDOUT_FILENO, result->output, result->output_size) &&
              sample_server_write(STDOUT_FILENO, result->messages, result->messages_size);
    process_result_free(result);
    return ok;
}

/* False if no question has come, or its answer does not go. */
static bool question_answer(int (*run)(int argc, char **argv))
{
    struct question question;
    struct process_result result;
    struct call call = {.run = run};
    if (!read_whole(STDIN_FILENO, &question, sizeof question))
        return false;
    char *words = xmalloc(question.size);
    bool ok = read_whole(STDIN_FILENO, words, question.size);
    for (char *word = words; ok && word < words + question.size; word += strlen(word) + 1)
        call.argv[call.argc++] = word;
    int error = ok ? process_call(call_make, &call, question.timeout_s, &result) : 0;
    ok = ok && answer_write(error, &result);
    free(words);
    return ok;
}

bool sample_server_is_meant(int argc, char **argv)
{
    return argc == 3 && strcmp(argv[1], "sample") == 0 && strcmp(argv[2], server_option) == 0 &&
           machine_is_simulated();
}

int sample_server_serve(int (*run)(int argc, char **argv))
{
    why_prepare();
    while (question_answer(run))
        ;
    return EXIT_SUCCESS;
}
