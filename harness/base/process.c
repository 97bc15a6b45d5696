/* process.c - see process.h.
 *
 * The order of ends matters. The parent reads both pipes until the child closes them, then waits.
 * The group is killed while its leader is still unreaped, so that the number of the group cannot
 * belong to anybody else yet. Signals stay blocked except inside ppoll(): an interrupt between
 * looking at the flag and sleeping would otherwise be slept through.
 */
#include "harness/base/process.h"

#include "harness/base/memory.h"
#include "harness/base/monotonic.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REAP_POLL_NS = 1000000 };

static volatile sig_atomic_t interrupted;

void process_interrupt(void)
{
    interrupted = 1;
}

bool process_interrupted(void)
{
    return interrupted;
}

/* The output that came from one pipe: its first or its last `max` bytes. */
struct stream {
    int fd; /* -1 once it has ended */
    size_t max;
    bool keep_last;
    char *data; /* always ends in a NUL beyond size */
    size_t size;
};

static void stream_add(struct stream *stream, const char *data, size_t size)
{
    if (!stream->keep_last && size > stream->max - stream->size)
        size = stream->max - stream->size;
    stream->data = xrealloc(stream->data, stream->size + size + 1);
    memcpy(stream->data + stream->size, data, size);
    stream->size += size;
    if (stream->size > stream->max) {
        memmove(stream->data, stream->data + (stream->size - stream->max), stream->max);
        stream->size = stream->max;
    }
    stream->data[stream->size] = '\0';
}

/* Reads what there is without waiting; closes at the end. */
static void stream_read(struct stream *stream)
{
    char data[65536];
    while (stream->fd >= 0) {
        ssize_t n = read(stream->fd, data, sizeof data);
        if (n > 0) {
            stream_add(stream, data, (size_t)n);
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else {
            close(stream->fd);
            stream->fd = -1;
        }
    }
}

/* Closes, and hands what was collected to the caller. */
static char *stream_finish(struct stream *stream, size_t *size)
{
    if (stream->fd >= 0)
        close(stream->fd);
    stream_add(stream, "", 0); /* so that there is a NUL even if nothing came */
    *size = stream->size;
    return stream->data;
}

struct child {
    pid_t pid;
    struct stream output, messages;
    int64_t deadline; /* of CLOCK_MONOTONIC; INT64_MAX: none */
    sigset_t signals; /* the caller's mask */
    enum process_end end;
    int status;
};

/* The child's standard input, and both ends of the pipes of the other two; -1: not open. */
struct ends {
    int input, output[2], messages[2];
};

/* Executed in the child: a program with its arguments, or, NULL, a function. */
struct work {
    const char *program;
    const char *const *argv;
    int (*fn)(void *arg);
    void *arg;
};

/* The child's side of fork(). Only async-signal-safe calls before a program. */
static _Noreturn void child_work(const struct child *child, pid_t parent, const struct ends *ends,
                                 const struct work *work)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* The parent may have died before the line above could tie us to it. */
    if (getppid() != parent || dup2(ends->input, STDIN_FILENO) < 0 ||
        dup2(ends->output[1], STDOUT_FILENO) < 0 || dup2(ends->messages[1], STDERR_FILENO) < 0)
        _exit(126);
    sigprocmask(SIG_SETMASK, &child->signals, NULL);
    if (!work->program)
        exit(work->fn ? work->fn(work->arg) : 126);
    execv(work->program, (char *const *)(uintptr_t)work->argv);
    static const char cannot[] = PROCESS_CANNOT_EXECUTE;
    const char *why = strerrordesc_np(errno);
    if (write(STDERR_FILENO, cannot, sizeof cannot - 1) < 0 ||
        write(STDERR_FILENO, why, strlen(why)) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
        _exit(126);
    _exit(127);
}

/* 0 or -errno; all before the fork, so that too few descriptors are no failure of the child. */
static int ends_open(struct ends *ends)
{
    ends->input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return ends->input < 0 || pipe2(ends->output, O_CLOEXEC) < 0 ||
                   pipe2(ends->messages, O_CLOEXEC) < 0
               ? -errno
               : 0;
}

static void end_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* 0 or -errno; on success both streams are open. */
static int child_start(struct child *child, const struct work *work)
{
    struct ends ends = {-1, {-1, -1}, {-1, -1}};
    pid_t parent = getpid();
    int error = ends_open(&ends);
    if (!error) {
        child->pid = fork();
        error = child->pid < 0 ? -errno : 0;
        if (child->pid == 0)
            child_work(child, parent, &ends, work);
    }
    end_close(ends.input);
    end_close(ends.output[1]);
    end_close(ends.messages[1]);
    if (error) {
        end_close(ends.output[0]);
        end_close(ends.messages[0]);
        return error;
    }
    setpgid(child->pid, child->pid); /* whichever of the two comes first */
    child->output.fd = ends.output[0];
    child->messages.fd = ends.messages[0];
    fcntl(child->output.fd, F_SETFL, O_NONBLOCK);
    fcntl(child->messages.fd, F_SETFL, O_NONBLOCK);
    return 0;
}

/* True if the child must be stopped now; says why in child->end. */
static bool child_is_over(struct child *child)
{
    if (interrupted)
        child->end = PROCESS_INTERRUPTED;
    else if (monotonic_ns() >= child->deadline)
        child->end = PROCESS_TIMED_OUT;
    return child->end != PROCESS_ENDED;
}

/* Sleeps until a signal, the deadline or input on the pipes that are still open. */
static void child_sleep(struct child *child, int64_t at_most_ns)
{
    struct pollfd pipes[2] = {{.fd = child->output.fd, .events = POLLIN},
                              {.fd = child->messages.fd, .events = POLLIN}};
    int64_t left = child->deadline == INT64_MAX ? INT64_MAX : child->deadline - monotonic_ns();
    if (left > at_most_ns)
        left = at_most_ns;
    if (left < 0)
        left = 0;
    struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    ppoll(pipes, 2, &timeout, &child->signals);
}

/* Collects output until the child has ended, or must; then reaps it and kills what is left of
 * its group. */
static void child_finish(struct child *child)
{
    const int64_t hour_ns = INT64_C(3600) * 1000000000;
    while ((child->output.fd >= 0 || child->messages.fd >= 0) && !child_is_over(child)) {
        child_sleep(child, hour_ns);
        stream_read(&child->output);
        stream_read(&child->messages);
    }
    siginfo_t info = {.si_pid = 0};
    while (child->end == PROCESS_ENDED) {
        int error = waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT | WNOHANG);
        if ((error == 0 && info.si_pid == child->pid) || (error < 0 && errno != EINTR) ||
            child_is_over(child))
            break;
        child_sleep(child, REAP_POLL_NS);
    }
    kill(-child->pid, SIGKILL);
    while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
        ;
    stream_read(&child->output);
    stream_read(&child->messages);
}

static int work_run(const struct work *work, double timeout_s, struct process_result *result)
{
    struct child child = {.output = {.fd = -1, .max = PROCESS_OUTPUT_MAX},
                          .messages = {.fd = -1, .max = PROCESS_MESSAGES_MAX, .keep_last = true}};
    child.deadline = timeout_s > 0 ? monotonic_ns() + (int64_t)(timeout_s * 1e9) : INT64_MAX;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &child.signals);
    int error = child_start(&child, work);
    if (!error) {
        child_finish(&child);
        *result = (struct process_result){.end = child.end, .status = child.status};
        result->output = stream_finish(&child.output, &result->output_size);
        result->messages = stream_finish(&child.messages, &result->messages_size);
    }
    sigprocmask(SIG_SETMASK, &child.signals, NULL);
    return error;
}

int process_run(const char *program, const char *const *argv, double timeout_s,
                struct process_result *result)
{
    return work_run(&(struct work){.program = program, .argv = argv}, timeout_s, result);
}

int process_call(int (*fn)(void *arg), void *arg, double timeout_s, struct process_result *result)
{
    return work_run(&(struct work){.fn = fn, .arg = arg}, timeout_s, result);
}

void process_result_free(struct process_result *result)
{
    free(result->output);
    free(result->messages);
}

bool process_find(const char *name, char *path, size_t path_size)
{
    const char *folders = getenv("PATH");
    for (; folders && *folders; folders += strspn(folders, ":")) {
        int length = (int)strcspn(folders, ":");
        int needed = snprintf(path, path_size, "%.*s/%s", length, folders, name);
        if ((size_t)needed < path_size && access(path, X_OK) == 0)
            return true;
        folders += length;
    }
    return false;
}

/* The line in which a dying program says why: after "schedlab: fatal: ", which more lines may
 * follow, or the last line with anything on it. */
static void telling_line(const char *text, char *line, size_t size)
{
    const char *fatal = strstr(text, "schedlab: fatal: ");
    if (fatal) {
        snprintf(line, size, "%.*s", (int)strcspn(fatal, "\r\n"), fatal);
        return;
    }
    size_t end = strlen(text);
    while (end > 0 && strchr(" \t\r\n", text[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    snprintf(line, size, "%.*s", (int)(end - start), text + start);
}

void process_end_text(const struct process_result *result, char *text, size_t size)
{
    char line[512];
    telling_line(result->messages, line, sizeof line);
    const char *colon = *line ? ": " : "";
    text[0] = '\0';
    if (WIFSIGNALED(result->status))
        snprintf(text, size, "killed by SIG%s%s%s", sigabbrev_np(WTERMSIG(result->status)), colon,
                 line);
    else if (WEXITSTATUS(result->status) != 0)
        snprintf(text, size, "exit status %d%s%s", WEXITSTATUS(result->status), colon, line);
}
