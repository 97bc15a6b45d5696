/* popular_claims.h - claims of popular accounts about Go's scheduler, and the experiments that
 * judge them.
 *
 * Callers: repro. harness/experiments/claims.yaml is a list:
 *
 *     - id: "1.2"                     # digits and points, and no experiment's
 *       kind: wrong                   # wrong, outdated or imprecise
 *       who: a blog post of 2023      # who says it
 *       says: The local queue is executed last in, first out.
 *       go: A FIFO ring and a slot for the newest; runqget in proc.go   # what Go's source does
 *       shown_by: [E3/spawn-10]       # EXPERIMENT/PART, or EXPERIMENT/PART#N, its N-th
 *                                     # expectation: supported where Go's way is right
 *       # or not_shown: why nothing can be run for it
 *
 * A claim is refuted if each part that shows it is supported on some machine and refuted on none,
 * supported if one is refuted, and else undecided.
 */
#ifndef SCHEDLAB_POPULAR_CLAIMS_H
#define SCHEDLAB_POPULAR_CLAIMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct claim {
    char *id, *kind, *who, *says, *go;
    char **shown_by;
    unsigned shown_by_count;
    char *not_shown; /* NULL exactly if there is shown_by */
};

struct claims {
    struct claim *list;
    unsigned count;
    char *path; /* of the file */
};

struct experiment;

/* Reads and checks the file at path; each shown_by must be a part of these experiments, if there
 * are any. NULL and one line in error, "PATH:LINE: ...", if anything about it is wrong. */
struct claims *claims_load(const char *path, struct experiment *const *experiments, size_t count,
                           char *error, size_t error_size);
void claims_free(struct claims *claims);

/* Splits "E3/hog#2" into its parts; number is 0 if there is none. False if text is no such
 * reference. */
bool claim_reference_split(const char *text, char *experiment, char *part, size_t size,
                           unsigned *number);

/* The claims as repro.json has them, judged by the experiments in it. Only claims that one of the
 * experiments is about; all claims if `all`. The caller's. */
json_t *claims_judge(const struct claims *claims, const json_t *experiments, bool all);

#endif
