/* sample_server.h - a process that runs simulated samples one after the other, each in a copy of
 * itself.
 *
 * Callers: sample_pool.c starts servers and asks them; main.c serves, in the program that runs
 * simulated machines.
 *
 * Starting that program takes longer than a short sample: it is linked, checks its registries and
 * reads its debug information. A server has done so before it forks. A sample's result does not
 * depend on that, because simulated memory lies at fixed addresses and a copy finds it untouched.
 * Native samples inherit nothing (child.h), so there is no server of them.
 */
#ifndef SCHEDLAB_SAMPLE_SERVER_H
#define SCHEDLAB_SAMPLE_SERVER_H

#include "harness/base/process.h"
#include "harness/records/sample_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sample_server {
    pid_t pid;    /* 0: there is none */
    int to, from; /* questions, answers */
    char *answer; /* as much of it as has come */
    size_t size;
};

/* Starts one, of the program that runs simulated machines. False if there can be no process for it.
 */
bool sample_server_start(struct sample_server *server);
void sample_server_end(struct sample_server *server); /* kills it, and its sample */

/* False if not all of the data can be written. */
bool sample_server_write(int to, const void *data, size_t size);

/* Has it run a sample. False if it is gone. pre: it runs none. */
bool sample_server_ask(struct sample_server *server, const struct sample_request *request);

enum sample_server_read {
    SAMPLE_SERVER_MORE, /* the answer is not whole */
    SAMPLE_SERVER_DONE,
    SAMPLE_SERVER_GONE, /* there will be none */
};

/* Reads once from server->from. When done, *error is that of process_run(), and *result is to be
 * freed if it is 0. */
enum sample_server_read sample_server_read(struct sample_server *server, int *error,
                                           struct process_result *result);

/* True if these arguments, of a program that runs simulated machines, are those of a server. */
bool sample_server_is_meant(int argc, char **argv);

/* Answers questions from standard input until it ends. run() gets the arguments of a program's
 * command, is called in a copy of this process, and returns the exit status. */
int sample_server_serve(int (*run)(int argc, char **argv));

#endif
