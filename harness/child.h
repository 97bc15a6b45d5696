/* child.h - one sample in a process of its own.
 *
 * Who calls: sweep and run, on the main thread of a process with no other threads. A sample must
 * not inherit anything from the one before it (allocator, page tables, threads, a crash), so it is
 * this program again, or on a simulated machine the one beside it (machine_start.h):
 * `/proc/self/exe run --sample VARIANT WORKLOAD ...`, which prints one record, a JSON object as
 * results/README.md describes it, on standard output.
 *
 * How it is run and stopped is process.h; after process_interrupt() a record says "interrupted".
 */
#ifndef SCHEDLAB_CHILD_H
#define SCHEDLAB_CHILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STEAL_MAX_DEFAULT_PERCENT = 1,
    WARMUP_AUTO = -1, /* as many calls as it takes: warmup.h */
};

struct sample_request {
    const char *program;            /* to run; NULL: this one */
    const char *variant, *workload; /* specifications, as typed or canonical */
    int workers;
    uint64_t seed;
    uint64_t sim_seed;   /* on a simulated machine: its own, and the scheduler's on it */
    int iterations;      /* timed calls of run() at least; 0: as many as min_time_ns needs */
    int warmup;          /* untimed calls before them, or WARMUP_AUTO */
    int64_t min_time_ns; /* of timed calls; 0: no minimum */
    const char *events;  /* comma-separated; NULL: the default set */
    int event_set; /* which set of events counts, of those that do not fit together: the number of
                    * the block; taken modulo how many sets there are */
    bool pin;      /* one core per worker */
    size_t stack_bytes;    /* per goroutine; 0: the default */
    double timeout_s;      /* of wall time, the start of the process included; 0: none */
    const char *flame;     /* on a simulated machine: where folded stacks go; NULL: nowhere */
    const char *machine;   /* canonical; NULL: "native" */
    int steal_max_percent; /* a sample that lost more of its time to the hypervisor is marked */
    int injected_percent;  /* busy time added to each timed call, of its own time: to test whether
                           * a slowdown of that size is found; 0: none */
    int64_t schedtrace_ns; /* write a line about the scheduler that often; 0: none */
    bool scheddetail;      /* and one about each P and M */
    int schedtrace_fd;     /* where: a descriptor that the sample's process inherits */
    int sched_events_fd;   /* where what its scheduler does is written, one by one, a descriptor as
                            * above; natively by schedlab-trace; 0: nowhere */
    size_t sched_events_max; /* at most so many */
    const char *lock_step;   /* on a simulated machine: machine_lock_step(); NULL: time passes */
    bool no_calls;           /* do all that a sample does but call run(): what a process costs */
};

/* A sample that is also timed from outside. */
struct sample_outside {
    const char *hyperfine; /* path of the program */
    const char *json_path; /* where its own record goes */
};

/* Runs one sample and returns its record; never NULL, owned by the caller. Whatever happens to the
 * child becomes a record: `ok` and `skipped` as the child reports them, `failed` with the reason
 * (its own, or: no answer within the limit, killed by a signal, exit status, output that is not a
 * record) and the last 4 KiB of its standard error as `output`. */
json_t *child_run_sample(const struct sample_request *request);

/* The same, timed by hyperfine as well: the record has `outside`. If the sample is ok, a second
 * process of the same request without calls of run() is timed for its start-up; a peer's program
 * has no such thing. */
json_t *child_run_sample_timed(const struct sample_request *request,
                               const struct sample_outside *outside);

/* The record of a sample of which nothing was heard: `failed` for this reason. */
json_t *child_record_lost(const struct sample_request *request, const char *reason);

/* Whether a record is `failed` because the time limit passed. */
bool child_record_timed_out(const json_t *record);

/* Whether a record is `failed` because a signal ended the sample that the sample does not send
 * itself: somebody stopped it and may be about to stop its parent too, or memory was short. */
bool child_record_stopped(const json_t *record);

/* The command that repeats the sample, quoted for a shell; free() it. */
char *sample_request_command(const struct sample_request *request);

/* For tests: the program to run in place of /proc/self/exe. The string must stay valid. */
void child_set_program(const char *path);

#endif
