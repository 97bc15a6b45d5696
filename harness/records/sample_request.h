/* sample_request.h - what is asked of one sample, and as arguments of the process that measures it.
 *
 * Who calls: run, sweep and trace make requests; child.c and sample_pool.c start processes of them;
 * cmd_run_cell.c reads them back.
 */
#ifndef SCHEDLAB_SAMPLE_REQUEST_H
#define SCHEDLAB_SAMPLE_REQUEST_H

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

enum { SAMPLE_ARGUMENTS_MAX = 40, SAMPLE_ARGUMENT_SIZE = 32 };

/* Arguments of a program, NULL behind the last one. */
struct sample_arguments {
    const char *argv[SAMPLE_ARGUMENTS_MAX];
    int argc;
    char numbers[SAMPLE_ARGUMENTS_MAX][SAMPLE_ARGUMENT_SIZE];
};

/* The arguments with which a program measures the sample and prints its record. They point into
 * *arguments and request. */
void sample_request_arguments(struct sample_arguments *arguments,
                              const struct sample_request *request);

/* How this program is called in commands that people are shown. */
#define SAMPLE_PROGRAM_SHOWN "build/schedlab"

/* The command that repeats the sample, quoted for a shell; free() it. */
char *sample_request_command(const struct sample_request *request);

/* "PROGRAM ARGUMENT...", quoted for a shell; free() it. */
char *sample_command_text(const char *program, const char *const *arguments);

#endif
