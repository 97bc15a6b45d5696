/* popular_claims.h - claims of popular accounts about Go's scheduler, held against Go's source,
 * against experiments, and against Go itself.
 *
 * Callers: repro. harness/experiments/claims.yaml is a list:
 *
 *     - id: "1.2"                     # digits and points, and no experiment's
 *       degree: wrong                 # right, imprecise, outdated or wrong, by Go's source
 *       who: a blog post of 2023      # who says it
 *       says: The local queue is executed last in, first out.
 *       go: A FIFO ring and a slot for the newest; runqget in proc.go   # what Go's source does
 *       shown_by: [E3/spawn-10]       # EXPERIMENT/PART, or EXPERIMENT/PART#N, its N-th
 *                                     # expectation: supported where Go's way is right
 *       # or not_shown: why no experiment with gmp can show it
 *       go_itself: [G1/ten]           # likewise, of parts with peer:go; may be left out
 *       costs: [A1/lifo-starves#1]    # expectations about that design as a knob; may be left out
 *       replay: loop                  # the account's own example, of `trace --replay`; likewise
 *
 * The degree is read off Go's source and is nobody's measurement. Beside it stand two answers: that
 * of shown_by, where cells of peers are left out, and that of go_itself, where nothing else
 * counts. Each says what was measured about Go's way, as the source has it:
 *
 *     agrees         each part is supported on some machine and refuted on none; beside it stands
 *                    which of its machines are undecided
 *     differs        one is refuted
 *     undecided      else, if one is undecided
 *     not run        else: a part is not of this run, or its peer is not built
 *     not measured   there is no part for it
 *
 * So what agrees bears a claim out that is right, and tells against one that is not.
 */
#ifndef SCHEDLAB_POPULAR_CLAIMS_H
#define SCHEDLAB_POPULAR_CLAIMS_H

#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct claim {
    char *id, *degree, *who, *says, *go;
    char **shown_by, **go_itself, **costs;
    unsigned shown_by_count, go_itself_count, costs_count;
    char *not_shown; /* NULL exactly if there is shown_by */
    char *replay;    /* NULL: no example of it is replayed */
};

struct claims {
    struct claim *list;
    unsigned count;
    char *path; /* of the file */
};

struct experiment;

/* Reads and checks the file at path; each reference must be to a part of these experiments, if
 * there are any. NULL and one line in error, "PATH:LINE: ...", if anything about it is wrong. */
struct claims *claims_load(const char *path, struct experiment *const *experiments, size_t count,
                           struct error *error);
void claims_free(struct claims *claims);

/* Splits "E3/hog#2" into its parts; number is 0 if there is none. False if text is no such
 * reference. */
bool claim_reference_split(const char *text, char *experiment, char *part, size_t size,
                           unsigned *number);

/* The claims as repro.json has them, judged by the experiments in it. Only claims that one of the
 * experiments is about; all claims if `all`. The caller's. */
json_t *claims_judge(const struct claims *claims, const json_t *experiments, bool all);

/* The degree of a claim in repro.json, and what was measured on a side of it, "gmp" or "itself".
 * Files of earlier versions have a degree alone. */
const char *claim_degree(const json_t *claim);
const char *claim_agreement(const json_t *claim, const char *side);

/* The machines that leave open what others support, "E3/hog on native"; "" if there are none. To be
 * freed. */
char *claim_undecided(const json_t *claim, const char *side);

/* True if no part at all is about it. */
bool claim_is_not_measured(const json_t *claim);

/* The name and version of the Go that was run, "Go 1.19.8", of the first claim that tells them, or
 * else "Go itself". */
const char *claims_runtime(const json_t *claims);

/* "120 claims: 58 right, 15 imprecise, 2 outdated, 45 wrong", and which of the answers were how
 * often; to be freed. */
char *claims_sum_text(const json_t *claims);

/* How many of a list, of that degree, agree and so on. NULL for either: any. */
size_t claims_count(const json_t *claims, const char *degree, const char *side,
                    const char *agreement);

/* The versions whose source the degrees are read off, in a sentence. */
extern const char claims_source[];

/* The words, ended by NULL. */
extern const char *const claim_degrees[], *const claim_agreements[];

#endif
