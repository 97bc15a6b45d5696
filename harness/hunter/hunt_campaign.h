/* hunt_campaign.h - `schedlab hunt --campaign`: cells of variants, workloads, memory models and
 * algorithms, a log of what was done, and its table. */
#ifndef SCHEDLAB_HUNT_CAMPAIGN_H
#define SCHEDLAB_HUNT_CAMPAIGN_H

#include "harness/options/cli.h"

#include <stdbool.h>
#include <stdint.h>

struct hunt_campaign {
    struct cli_list words; /* variants and workloads, in any order; of either kind none: all */
    int workers, algorithm, memory; /* algorithm, memory: -1: all */
    int depth;                      /* 0: the default */
    int64_t seed, executions;       /* of each cell; 0: the default */
    int64_t time_ns;                /* 0: no limit */
    int jobs;
    const char *shard;          /* "I/N"; NULL: all */
    const char *results, *name; /* NULL: the defaults */
    const char *resume, *show;  /* folder; NULL: a new one */
    bool coverage;              /* a new one records it; what is shown must have it */
    bool json, page;            /* page: with show and coverage */
};

/* Does it. The exit status; misuse ends the process. */
int hunt_campaign(const struct hunt_campaign *wanted);

#endif
