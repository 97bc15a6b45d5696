/* claims.h - what a run found, as claims that another run can be held against.
 *
 * Callers: cmd_artifact.c, pack.c. Claims of a run are a JSON array. Two runs of one sweep file, or
 * of the same experiments, have claims of the same ids, so that a new run is held against an old
 * one claim by claim. A claim has
 *
 *     id       "scaling: gmp fib,n=20 on 4 workers of sim:desktop8", the same in each run
 *     run      the name of the run without its time: "scaling"
 *     kind     exact: simulated, or in another way the same each time; it is held to the byte
 *              ratio: native; it is held by its interval
 *              verdict: of an experiment on a machine
 *     samples  exact: the hash of each sample in the order of blocks
 *     value    what was found, with lo and hi, where it is a number; verdict, where there is one
 */
#ifndef SCHEDLAB_CLAIMS_H
#define SCHEDLAB_CLAIMS_H

#include "harness/base/error.h"

#include <jansson.h>

/* The claims of the run or reproduction in folder, for the caller to free. NULL and one line in
 * error if it is neither, or cannot be read. */
json_t *claims_of(const char *folder, struct error *error);

/* The name of a run's folder without its path and time; free() it. */
char *claims_run_name(const char *folder);

/* Outcome of a claim in another run. */
enum claim_outcome {
    CLAIM_EQUAL,   /* to the byte, in each sample that both have */
    CLAIM_WITHIN,  /* the intervals meet, with the tolerance, and no verdict is turned round */
    CLAIM_DIFFERS, /* they do not */
    CLAIM_OPEN,    /* the other run has too few samples to say, or a verdict is undecided there */
    CLAIM_MISSING, /* the other run has no such claim */
    CLAIM_OUTCOMES
};
extern const char *const claim_outcome_words[CLAIM_OUTCOMES];

/* Holds a claim against the one of the same id in another run; NULL: it has none. tolerance: 0.1
 * makes the interval of a ratio wider by a tenth at both ends. One line of why goes to reason, ""
 * if it holds. */
enum claim_outcome claim_hold(const json_t *claim, const json_t *other, double tolerance,
                              struct error *reason);

#endif
