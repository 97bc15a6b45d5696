/* processes.h - processes that execute, and what they share with their parent.
 *
 * Callers: jobs.c, parts.c. A process that cannot be made ends the hunt, with one line.
 */
#ifndef SCHEDLAB_HUNT_PROCESSES_H
#define SCHEDLAB_HUNT_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Zeroed, for munmap(). */
void *shared_new(size_t size);

/* As fork(), with nothing left in the buffers of streams. The child dies with its parent. */
pid_t process_new(void);

/* Waits for it, -1: any. Returns which; *status is as of waitpid(). */
pid_t process_wait(pid_t pid, int *status);

/* True if somebody else has ended it: a user, a batch system, the kernel at a limit or without
 * memory. Such an end says nothing of the execution. Faults of the program's own are no such end.
 */
bool process_was_ended(int status);

/* How a process died, as process_end_text() has it: "killed by SIGTRAP". */
void process_death_text(int status, char *text, size_t size);

enum { JOBS_MAX = 256 };

/* jobs, or for 0 as many as there are processors for this process. */
int processes_of(int jobs);

#endif
