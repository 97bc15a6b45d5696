/* engine.h - has the cells of a sweep measured on other machines, as jobs of a cluster's scheduler.
 *
 * Callers: sweep_fetch.c, before each block, with the samples that are not in the folder of results
 * yet. When engine_measure() returns they are there, and the sweep takes them as if it had measured
 * them. So all else is as on one machine, from the order of records to when a sweep ends.
 *
 * A job is `schedlab run --list FILE --sweep RUN`: idempotent, and independent of the others. Its
 * files are in RUN/jobs/: ROUND-KIND-N.list, the ids; .begun, those that it began; .log, what it
 * said. A sample counts as measured if its record is in the folder, whatever the cluster
 * says. Its scheduler only tells when there is nothing left to wait for.
 *
 *     round   all samples that lack a record become jobs; wait until none of these is left, or
 *             every record is there
 *     lost    a sample that a job began and left without a record: its node or its process died.
 *             It gets a job of its own in the next round; lost ENGINE_TRIES times, it is recorded
 *             as failed
 *     stuck   a round in which no job began anything: after ENGINE_TRIES in a row, an error
 *
 * So every round brings a record or a loss, or is stuck. Each sample is lost at most ENGINE_TRIES
 * times, so there is no endless loop.
 */
#ifndef SCHEDLAB_ENGINE_H
#define SCHEDLAB_ENGINE_H

#include "harness/base/error.h"
#include "harness/base/progress.h"
#include "harness/plan/cell_id.h"

#include <stdbool.h>
#include <stddef.h>

enum { ENGINE_TRIES = 3, ENGINE_JOB_SECONDS = 300, ENGINE_PATH_SIZE = 4096 };

/* A sample that has to be measured. */
struct engine_sample {
    char id[CELL_BLOCK_ID_SIZE];
    const struct cell *of;
    unsigned block;
    double seconds; /* that it will take; a guess where nothing is known */
    unsigned lost;  /* how often a job began it without a record */
    bool there;     /* its record */
    size_t job;     /* of the round at hand, from 0 among those of its kind */
};

/* Jobs that are submitted together: natively measured or simulated ones. */
struct engine_batch {
    const char *kind; /* "native" or "simulated" */
    bool native;
    unsigned round;
    size_t count; /* of jobs */
};

struct engine;

/* Operations that each cluster's scheduler has in its own way. All: false, and one line in error,
 * if it cannot. */
struct engine_ops {
    const char *name;
    /* True if its programs are here and, with `answer`, if the program that runs the jobs
     * answers. */
    bool (*check)(bool answer, struct error *error);
    bool (*submit)(struct engine *engine, const struct engine_batch *batch, struct error *error);
    /* How many of the engine's jobs have not ended, in *waiting and *running. False: that is
     * unknown now. */
    bool (*look)(struct engine *engine, size_t *waiting, size_t *running);
    /* Ends all jobs, also after process_interrupt(). */
    bool (*cancel)(struct engine *engine, struct error *error);
    bool lingers; /* look() may count jobs that have done all they do: not waited for without
                     need */
};

extern const struct engine_ops engine_slurm, engine_parallel;

struct engine {
    const struct engine_ops *ops;
    const char *folder;         /* of the run */
    const char *cells;          /* folder of results */
    const char *const *options; /* for sbatch, of the user; NULL-terminated */
    const char *hosts;          /* sshloginfile of parallel */
    bool mix_machines;
    double job_seconds; /* that a job shall take */

    /* Fields that engine.c and the ops set. */
    char run_path[ENGINE_PATH_SIZE], cells_path[ENGINE_PATH_SIZE]; /* absolute */
    char program[ENGINE_PATH_SIZE];
    char name[128]; /* of the jobs */
    unsigned round;
    bool may_have_jobs;        /* handed in, left from before, or unknown */
    bool idle_told;            /* the log of a job that began nothing was shown */
    struct progress *progress; /* for messages of ops */
    char why[64]; /* of slurm: that no job runs, in its own word; "": it does not say */
    int pid;      /* of parallel; 0: none runs */
    struct engine_batch later[2]; /* what parallel runs after that */
    size_t later_count;
};

/* Fills in the other fields. folder and cells must be set. */
bool engine_begin(struct engine *engine, struct error *error);

/* Has native samples measured on this processor only; without this call, on that of the first job.
 * False and one line in error if the run's jobs have measured on another one. */
bool engine_kind_set(const struct engine *engine, const char *cpu, struct error *error);

/* Measures samples that have no record yet. False with "" in error after process_interrupt(), when
 * all jobs were cancelled; or with one line if it cannot go on. */
bool engine_measure(struct engine *engine, struct engine_sample *samples, size_t count,
                    struct progress *progress, struct error *error);

/* For ops: path of a file of a batch, RUN/jobs/ROUND-KINDsuffix. */
void engine_path(const struct engine *engine, const struct engine_batch *batch, const char *suffix,
                 char path[ENGINE_PATH_SIZE]);

/* For ops: the command of a job, quoted for a shell, in which number stands for the job's; free()
 * it. */
char *engine_command(const struct engine *engine, const struct engine_batch *batch,
                     const char *number);

/* engine_jobs.c: gives each sample without a record a job. Sets counts to the numbers of jobs of
 * each kind, natively measured ones first.
 *
 * Jobs take job_seconds. Natively, the samples of one comparison set in one block are in one job,
 * in the order of the block. So cells that are compared are measured on one node, side by side. A
 * sample that was lost has a job of its own. */
void engine_jobs_make(struct engine_sample *samples, size_t count, double job_seconds,
                      size_t counts[2]);

#endif
