/* processes.c - see processes.h. */
#include "harness/hunt/processes.h"

#include "harness/base/memory.h"
#include "harness/base/process.h"
#include "harness/host/topology.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void *shared_new(size_t size)
{
    void *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED)
        memory_die();
    return shared;
}

pid_t process_new(void)
{
    pid_t parent = getpid();
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        fprintf(stderr, "schedlab hunt: no process can be made: %s\n", strerror(errno));
        exit(EXIT_FAILURE);
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) /* it has died before */
            _exit(EXIT_FAILURE);
    }
    return pid;
}

pid_t process_wait(pid_t pid, int *status)
{
    pid_t which;
    *status = 0;
    do {
        which = waitpid(pid, status, 0);
    } while (which < 0 && errno == EINTR);
    return which;
}

bool process_was_ended(int status)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    if (!WIFSIGNALED(status))
        return false;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (WTERMSIG(status) == faults[i])
            return false;
    return true;
}

void process_death_text(int status, char *text, size_t size)
{
    char none[] = "";
    const struct process_result result = {.status = status, .messages = none};
    process_end_text(&result, text, size);
}

int processes_of(int jobs)
{
    if (jobs > 0)
        return jobs;
    int processors = topology_cpu_count();
    return processors < JOBS_MAX ? processors : JOBS_MAX;
}
