/* sample_request.h - the settings of one sample, also as arguments of the process that measures it.
 *
 * Callers: run, sweep and trace make requests; child.c starts processes of them; cmd_sample.c
 * reads them back. One table, sample_fields[], writes and reads.
 */
#ifndef SCHEDLAB_SAMPLE_REQUEST_H
#define SCHEDLAB_SAMPLE_REQUEST_H

#include "harness/base/error.h"
#include "harness/host/allocator.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SAMPLE_WORKERS_MAX = 1024,
    SAMPLE_ITERATIONS_MAX = 1000000,
    STEAL_MAX_DEFAULT_PERCENT = 1,
    WARMUP_AUTO = -1, /* as many calls as it takes: warmup.h */
    WARMUP_SIMULATED = 1,
};

#define SIM_SEED_UNSET UINT64_MAX

/* Each member has a row in sample_fields[], except the first five. The process gets variant and
 * workload as plain arguments; program, timeout_s and allocator are for its parent. */
struct sample_request {
    const char *program;            /* of another revision, to run in place of this one; or NULL */
    const char *variant, *workload; /* specifications, as typed or canonical */
    double timeout_s;               /* of wall time, the start of the process included; 0: none */
    enum allocator allocator;       /* that the variant asks for (spec.h); natively */
    const char *events;             /* comma-separated; NULL: the default set */
    const char *machine;            /* canonical; NULL: "native" */
    const char *flame;     /* on a simulated machine: where folded stacks go; NULL: nowhere */
    const char *lock_step; /* on a simulated machine: machine_lock_step(); NULL: time passes */
    uint64_t seed;
    uint64_t sim_seed;        /* on a simulated machine: its own, and the scheduler's on it */
    int64_t min_time_ns;      /* of timed calls; 0: no minimum */
    int64_t brief_ns;         /* of wall time: very short calls need no more; 0: no such limit */
    size_t stack_bytes;       /* per goroutine; 0: the default */
    size_t sched_events_max;  /* at most so many; 0: all */
    size_t sched_events_kept; /* and on real threads so many are recorded, for where the time of
                               * requests goes; 0: as many as are written */
    int64_t schedtrace_ns;    /* write a line about the scheduler that often; 0: none */
    int workers;
    int iterations; /* timed calls of run() at least; 0: as many as min_time_ns needs */
    int warmup;     /* untimed calls before them, or WARMUP_AUTO */
    int event_set;  /* which set of events counts, of those that do not fit together: the number of
                     * the block; taken modulo how many sets there are */
    int steal_max_percent; /* a sample that lost more of its time to the hypervisor is marked */
    int injected_percent;  /* busy time added to each timed call, of its own time: to test whether
                            * a slowdown of that size is found; 0: none */
    int sched_events_fd; /* where what its scheduler does is written, one by one: a descriptor that
                            * its process inherits; natively by schedlab-trace; 0: nowhere */
    int schedtrace_fd;   /* where schedtrace_ns writes, likewise */
    bool sched_sites;    /* and from which line of the workload each of these events comes */
    bool scheddetail;    /* and a line about each P and M */
    bool pin;            /* one core per worker */
    bool no_calls;       /* do all that a sample does but call run(): what a process costs */
};

enum { SAMPLE_FIELDS = 24 };

struct sample_field {
    const char *option; /* "--workers" */
    char letter;        /* 'w'; 0: it has only that name */
    size_t offset;
    enum sample_field_type { FIELD_FLAG, FIELD_INT, FIELD_LONG, FIELD_TEXT } type;
    int64_t usual, min, max; /* usual: without the option; a text is NULL then */
    const char *unit;        /* "bytes", "ns"; "": a number */
    const char *word;        /* that stands for -1 */
    enum {
        FIELD_OF_RUN = 1,    /* `run` has the option from here */
        FIELD_SHOWN = 2,     /* of the command that repeats the sample */
        FIELD_ALWAYS = 4,    /* written even if it is as usual */
        FIELD_SIMULATED = 8, /* on simulated machines only */
        FIELD_NATIVE = 16,   /* on others only */
    } flags;
    const char *value, *help; /* value: as the help names it; NULL: it takes none */
};

/* In the order in which they are written. */
extern const struct sample_field sample_fields[SAMPLE_FIELDS];

/* The request without any option. Its sim_seed is SIM_SEED_UNSET. */
struct sample_request sample_request_usual(void);

/* Reads the value of an option into its member; a text member points to text. False and one line in
 * error if it is not valid. text is unused if the option takes none. */
bool sample_field_read(const struct sample_field *field, struct sample_request *request,
                       const char *text, struct error *error);

enum { SAMPLE_ARGUMENTS_MAX = 8 + 2 * SAMPLE_FIELDS, SAMPLE_ARGUMENT_SIZE = 32 };

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

/* The name of this program in commands that people are shown. */
#define SAMPLE_PROGRAM_SHOWN "build/schedlab"

/* The command that repeats the sample, quoted for a shell; free() it. */
char *sample_request_command(const struct sample_request *request);

/* "PROGRAM ARGUMENT...", quoted for a shell; free() it. */
char *sample_command_text(const char *program, const char *const *arguments);

#endif
