/* processes.h - processes that execute, and what they share with their parent.
 *
 * Callers: jobs.c, parts.c. A process that cannot be made ends the hunt, with one line.
 */
#ifndef SCHEDLAB_HUNT_PROCESSES_H
#define SCHEDLAB_HUNT_PROCESSES_H

#include <stddef.h>
#include <sys/types.h>

/* Zeroed, for munmap(). */
void *shared_new(size_t size);

/* As fork(), with nothing left in the buffers of streams. */
pid_t process_new(void);

/* Waits for it, -1: any. Returns which; *status is as of waitpid(). */
pid_t process_wait(pid_t pid, int *status);

/* A line, with its end, that says how a process died. */
void process_death_text(int status, char *text, size_t size);

enum { JOBS_MAX = 256 };

/* jobs, or for 0 as many as there are processors for this process. */
int processes_of(int jobs);

#endif
