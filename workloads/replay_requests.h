/* replay_requests.h - requests of a replayed program, for request_parts.h. Callers: replay.c. */
#ifndef SCHEDLAB_REPLAY_REQUESTS_H
#define SCHEDLAB_REPLAY_REQUESTS_H

#include "program.h"

#include <stdint.h>

/* All copies of the program after they ran. Times are those of go_now(). Steps, waits and
 * goroutines of the second copy come behind those of the first one, and so on. */
struct replay_run {
    const struct program *program;
    size_t copies;
    const int64_t *ends_ns;                                 /* of each step */
    int64_t (*due_ns)(const void *of, int64_t ns);          /* of a `poll at` */
    int64_t (*woken_ns)(const void *of, size_t wait);       /* of a wait */
    int64_t (*made_ns)(const void *of, uint32_t goroutine); /* when it was started */
    const void *of;                                         /* their first argument */
};

/* Fills in the parts of all requests, and then of each class; workload.h has it under `parts`.
 * Without requests, of the lives of goroutines. */
struct request_parts;
struct workload_request;
size_t replay_requests_parts(const struct replay_run *run, struct request_parts *parts);

/* Calls visit() for each request, as workload.h has it. */
void replay_requests_each(const struct replay_run *run,
                          void (*visit)(const struct workload_request *request, void *arg),
                          void *arg);

#endif
