/* process.h - runs one program and collects its output, within a time limit.
 *
 * Callers: code that runs a program, on the main thread of a process with no other threads; the
 * signal handler of stop.c, which interrupts it. The program leads a process group of its own,
 * gets an empty standard input, and dies with its parent. Past the limit, and on
 * process_interrupt(), the whole group is killed.
 */
#ifndef SCHEDLAB_PROCESS_H
#define SCHEDLAB_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/* How standard error of a program that cannot be executed begins. */
#define PROCESS_CANNOT_EXECUTE "cannot execute the program: "

enum process_end { PROCESS_ENDED, PROCESS_TIMED_OUT, PROCESS_INTERRUPTED };

struct process_result {
    enum process_end end;
    int status;   /* as of waitpid() */
    char *output; /* standard output, at most PROCESS_OUTPUT_MAX bytes of it, and a NUL */
    size_t output_size;
    char *messages; /* the last PROCESS_MESSAGES_MAX bytes of standard error, and a NUL */
    size_t messages_size;
};

enum { PROCESS_OUTPUT_MAX = 64 << 20, PROCESS_MESSAGES_MAX = 4096 };

/* Runs program with argv (argv[0] included, NULL-terminated) and waits for it; timeout_s 0 is no
 * limit. 0, and *result is to be freed; or -errno if no process could be made. If the program
 * cannot be executed, it ends with status 127 and says so on standard error. */
int process_run(const char *program, const char *const *argv, double timeout_s,
                struct process_result *result);

/* The same for a function in a copy of this process; the exit status is what fn returns. pre: no
 * output waits in the buffers of standard output. */
int process_call(int (*fn)(void *arg), void *arg, double timeout_s, struct process_result *result);

void process_result_free(struct process_result *result);

/* The path of a program in PATH; false if there is none that can be executed. */
bool process_find(const char *name, char *path, size_t path_size);

/* How a process that ended by itself did so: "killed by SIGSEGV" or "exit status 3". A colon and a
 * reason follow: the line on standard error that it called fatal, or else the last one. Empty after
 * exit status 0. */
void process_end_text(const struct process_result *result, char *text, size_t size);

/* Makes the running process_run(), and all later ones, kill and return at once. Async-signal-
 * safe. */
void process_interrupt(void);
bool process_interrupted(void);

#endif
