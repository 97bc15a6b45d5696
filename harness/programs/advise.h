/* advise.h - what matters for a program: how many workers, and which decisions of a scheduler.
 *
 * Callers: cmd_advise.c. The program is replayed on a simulated machine, with 1, 2, 4 and more
 * workers until more take nothing off its time. There, each decision is changed alone. Every case
 * runs with several seeds; a change counts if it is larger than what the seeds alone change.
 */
#ifndef SCHEDLAB_ADVISE_H
#define SCHEDLAB_ADVISE_H

#include "workloads/program.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { ADVISE_SEEDS = 3, ADVISE_LADDER_MAX = 8, ADVISE_CHANGES_MAX = 16 };

struct advise_case {
    const char *variant; /* "gmp,runnext=off" */
    const char *meaning; /* "without a slot for the newest goroutine" */
    int workers;
    bool is_there; /* it ran with all seeds */
    char why[256]; /* if not */
    /* medians over the seeds */
    double makespan_ns, p50_ns, p99_ns, late_ns, lock_ns; /* p99: of few latencies the longest */
    double makespan_spread, p99_spread;                   /* largest over smallest, less 1 */
};

struct advice {
    const char *file, *machine;
    const struct program *program;
    struct advise_case ladder[ADVISE_LADDER_MAX], changes[ADVISE_CHANGES_MAX];
    size_t ladder_count, changes_count;
    size_t knee;     /* in ladder: more workers take less than a twentieth off its time */
    double chance;   /* changes up to this share are as large as what seeds change */
    int64_t last_ns; /* when the last thing comes from outside; 0: nothing does */
};

/* workers: more are not tried. False, and one line in error, if the program does not run. */
bool advise(struct advice *advice, const char *file, const struct program *program,
            const char *machine, int workers, char *error, size_t error_size);

void advice_print(const struct advice *advice, FILE *to);
json_t *advice_to_json(const struct advice *advice); /* owned by the caller */

#endif
