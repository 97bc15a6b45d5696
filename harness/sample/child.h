/* child.h - one sample in a process of its own.
 *
 * Callers: sweep and run, on the main thread of a process with no other threads. A sample must not
 * inherit anything from the one before it: allocator, page tables, threads, a crash. So each runs
 * in a new process, `/proc/self/exe sample VARIANT WORKLOAD ...`. On a simulated machine it is the
 * program beside this one (machine_start.h), or a copy of its process that has measured nothing
 * (sample_server.h). It prints one record on standard output, a JSON object as results/README.md
 * describes it.
 *
 * How it is run and stopped is process.h; after process_interrupt() a record says "interrupted".
 */
#ifndef SCHEDLAB_CHILD_H
#define SCHEDLAB_CHILD_H

#include "harness/base/error.h"
#include "harness/base/process.h"
#include "harness/models/sched_trace.h"
#include "harness/records/sample_request.h"

#include <jansson.h>
#include <stdbool.h>

/* A sample that is also timed from outside. */
struct sample_outside {
    const char *hyperfine; /* path of the program */
    const char *json_path; /* where its own record goes */
};

/* Runs one sample and returns its record; never NULL, owned by the caller. Anything that happens to
 * the child becomes a record: `ok` and `skipped` as the child reports them, or `failed`. A failed
 * record has the reason, and the last 4 KiB of standard error as `output`. The reason is the
 * child's own, or one of: no answer within the limit, killed by a signal, exit status, output that
 * is not a record. */
json_t *child_run_sample(const struct sample_request *request);

/* The same with what its scheduler did, in *trace: the request's sched_events_fd is not looked at.
 * NULL, nothing to free and one line in error if the sample is not ok or its events cannot be
 * read. */
json_t *child_run_traced(const struct sample_request *request, struct sched_trace *trace,
                         struct error *error);

/* The same, timed by hyperfine as well: the record has `outside`. If the sample is ok, a second
 * process of the same request without calls of run() is timed for its start-up; a peer's program
 * has no such thing. */
json_t *child_run_sample_timed(const struct sample_request *request,
                               const struct sample_outside *outside);

/* The record of a sample whose process has ended so; error: -errno of process_run(), or 0. */
json_t *child_record(const struct sample_request *request, int error,
                     const struct process_result *result);

/* The record of a sample that gave no answer: `failed` for this reason. */
json_t *child_record_lost(const struct sample_request *request, const char *reason);

/* True if a record is `failed` because the time limit passed. */
bool child_record_timed_out(const json_t *record);

/* True if a record is `failed` because the program that measures cannot be executed: all samples
 * after it will fail likewise. */
bool child_record_has_no_program(const json_t *record);

/* True if a record is `failed` because there were too few descriptors or processes for it. */
bool child_record_lacks_process(const json_t *record);

/* True if a record is `failed` because of a signal that the sample does not send itself: somebody
 * stopped it and may be about to stop its parent too, or memory was short. */
bool child_record_stopped(const json_t *record);

/* For tests: the program to run in place of /proc/self/exe. The string must stay valid. */
void child_set_program(const char *path);

#endif
