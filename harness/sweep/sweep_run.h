/* sweep_run.h - measures a plan: every sample a fresh process, every record on the disk before
 * the next.
 *
 * Callers: cmd_sweep.c, once. While it runs, SIGINT, SIGTERM and SIGHUP end the measuring after the
 * current child was killed (stop.h); the earlier handlers are put back at the end.
 *
 * Cells of simulated machines (plan.h) are measured side by side, one per core of the host, and
 * never beside native ones; their records are written in the order of the block all the same. Each
 * block has its own seed for them, sim_seed, since a seed has one outcome.
 *
 * A failure stops a cell, but not the sweep. A sample that fails is recorded with its reason and
 * its output. Its cell is tried again in the next block, unless it ran into the time limit twice. A
 * skipped cell is recorded once. stopping_rule.h decides how many blocks there are, and which cells
 * each holds. plan.json says at the end what became of each cell, also if a signal ends the sweep.
 *
 * A sweep that was interrupted, in whatever way, is resumed by measuring into the same folder with
 * `resume`: what its records hold is not measured again.
 */
#ifndef SCHEDLAB_SWEEP_RUN_H
#define SCHEDLAB_SWEEP_RUN_H

#include "harness/base/error.h"
#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"

struct engine; /* engine.h */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sweep_run {
    const struct sweep_file *sweep; /* everything but the groups is used */
    struct plan *plan;
    uint64_t seed;
    const char *hyperfine; /* path of the program that times samples too; NULL: none does */
    bool reverse;          /* every block in the opposite of its order */
    const char *folder;    /* of the run; holds no samples.jsonl yet, unless */
    bool resume;           /* the records in it are to be completed; plan and seed must be theirs */
    const char *cells;     /* folder of results (cell_store.h): what it has is taken and not
                            * measured, and what is measured is kept there too; NULL: none */
    bool mix_machines;     /* also where they come from unlike processors */
    bool elsewhere;        /* this machine's processor is not the one of the run's environment */
    struct engine *engine; /* has what is not in `cells` measured; NULL: this process measures */
    /* Called before the first sample, once the records are locked and read back; may be NULL. False
     * and one line in error: nothing is measured. */
    bool (*begin)(void *arg, struct error *error);
    void *begin_arg;

    /* Results. */
    size_t ok, failed, skipped; /* samples recorded, those of before a resumption included */
    size_t cut_short;           /* of them: before their calls took min_time_ms */
    double seconds;
    int stopped_by; /* a signal, or 0 */
};

/* 0 if it came to the end or was stopped by a signal; -1 and one line in error if the records
 * cannot be written, in which case all samples recorded before are safe. */
int sweep_run_measure(struct sweep_run *run, FILE *messages, struct error *error);

#endif
