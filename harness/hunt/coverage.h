/* coverage.h - which pairs of memory-order labels were met, and in which order.
 *
 * A comment of a scheduler's source says that label X "pairs with" label Y. Such a pair is met if
 * an access that carries X is followed by one of another thread that carries Y, on the same word,
 * or the other way round. Both are counted; hunt.h has the exact meaning. Labels are those of the
 * sources that were compiled (labels.awk).
 *
 * The steps of submitters and sleepers (runtime/idle.c) are pairs too, each of the one with each of
 * the other. Such a pair is met where a submitter and a sleeper were on their way at one time.
 *
 * Callers: harness/hunter/hunt_coverage.c; jobs.c joins.
 */
#ifndef SCHEDLAB_HUNT_COVERAGE_H
#define SCHEDLAB_HUNT_COVERAGE_H

#include "hunt/hunt.h"

/* X(NAME, word) */
#define COVERAGE_KINDS(X)                                                                          \
    X(BOTH, "both")                                                                                \
    X(ONE, "one")                                                                                  \
    X(NEVER, "never")                                                                              \
    X(FENCE, "fence") /* no access carries one of the labels: a fence or a helper does */

enum coverage_kind {
#define COVERAGE_ID(name, word) COVERAGE_##name,
    COVERAGE_KINDS(COVERAGE_ID)
#undef COVERAGE_ID
        COVERAGE_KIND_COUNT
};
extern const char *const coverage_words[];

struct coverage_pair {
    const char *file;     /* whose comment pairs them; seen from the folder of the sources */
    const char *label[2]; /* as there */
    uint64_t forth, back; /* first before second, second before first */
    bool has_accesses;    /* of both labels */
    bool is_of_steps;     /* labels are a submitter's step and a sleeper's */
};

enum coverage_kind coverage_kind(const struct coverage_pair *pair);

struct coverage {
    struct coverage_pair *pairs; /* to be freed */
    size_t count;
    uint64_t left_out; /* meetings that were not counted */
};

/* False, and the reason in error, if the program has no debug information. It is read once, and
 * kept: before a hunt, so that none ends without a result for the lack of it. */
bool coverage_can_tell(const char **error);

/* The first label that a statement at that line carries; NULL: none. */
const char *coverage_label_at(const char *file, int line);

/* All pairs of the sources, each once; met by nobody so far. */
struct coverage coverage_new(void);

/* The same, with what was met. False, and the reason in error, if the program has no debug
 * information. */
bool coverage_of(struct coverage *coverage, const struct hunt_cover *cover, const char **error);

/* Adds what was met of a pair, which is added too if the sources have no such one. Texts stay the
 * caller's. */
void coverage_add(struct coverage *coverage, const struct coverage_pair *met);

/* Adds what another process has met. */
void coverage_join(struct hunt_cover *cover, const struct hunt_cover *other);

#endif
