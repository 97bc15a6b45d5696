/* processes.c - see processes.h. */
#include "harness/hunt/processes.h"

#include "harness/base/memory.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        fprintf(stderr, "schedlab hunt: no process can be made: %s\n", strerror(errno));
        exit(EXIT_FAILURE);
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

void process_death_text(int status, char *text, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(text, size, "its process was ended by signal %d (%s)\n", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "its process ended with exit status %d\n", WEXITSTATUS(status));
}

int processes_of(int jobs)
{
    cpu_set_t set;
    if (jobs > 0)
        return jobs;
    int processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return processors < JOBS_MAX ? processors : JOBS_MAX;
}
