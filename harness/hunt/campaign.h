/* campaign.h - many executions of one variant and one workload, each another schedule, until one
 * fails or a limit is reached.
 *
 * Callers: jobs.c, in processes of their own, on the process's own stack.
 */
#ifndef SCHEDLAB_CAMPAIGN_H
#define SCHEDLAB_CAMPAIGN_H

#include "harness/base/error.h"

#include "hunt/hunt.h"

#include <stdbool.h>
#include <stdint.h>

struct sched_ops;
struct workload;

struct campaign {
    const struct sched_ops *ops;
    const void *knobs;
    const struct workload *workload;
    const void *params;
    int workers;
    int algorithm; /* of hunt_algorithm_words */
    int depth;
    uint64_t seed;
    int64_t executions_max;   /* 0: no limit */
    int64_t time_ns;          /* likewise */
    uint64_t points_max;      /* 0: 50 times as many as there usually are, 100,000 at least */
    struct hunt_cover *cover; /* what is met is added here, when all is done; NULL: it is not */

    /* Results. */
    int64_t executions, took_ns;
    uint64_t points, accesses;    /* sums */
    uint64_t orders;              /* different orders of accesses, an estimate */
    double unseen;                /* the chance that one execution more has a new one */
    struct hunt_plan plan;        /* of the execution that failed */
    struct hunt_outcome *failure; /* NULL: none did */
};

/* True if the algorithm has a depth, 1 to HUNT_DEPTH_MAX. */
bool campaign_has_depth(int algorithm);

/* Learns which words are shared, in some executions. Before the others. */
void campaign_learn(struct campaign *campaign);

/* Makes campaign->plan that of the i-th execution, from 0. */
void campaign_plan(struct campaign *campaign, int64_t i);

/* One execution; the outcome stays until the next. */
const struct hunt_outcome *campaign_execute(const struct campaign *campaign,
                                            const struct hunt_plan *plan);

/* A copy that stays; to be freed with its switches. */
struct hunt_outcome *outcome_copy(const struct hunt_outcome *outcome);

/* Makes the failure's plan one of switches, as few as lead to the same end, by `most` executions
 * at most. False, and nothing has changed, if its switches do not lead there. */
bool campaign_minimise(struct campaign *campaign, int most);

/* "random:SEED@PROGRAM", "pct:SEED:DEPTH@PROGRAM", "schedule:SEED:1.57-2,2.3-c@PROGRAM"; to be
 * freed. */
char *replay_text(const struct hunt_plan *plan);

/* A hash of the code of schedulers and workloads: an execution is one of it. */
uint32_t replay_program(void);

/* False, and one line in error, if it is none, or another program's. The switches are allocated. */
bool replay_parse(struct hunt_plan *plan, const char *text, struct error *error);

#endif
