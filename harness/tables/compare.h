/* compare.h - compares two sets of cells: which is faster where, by how much, and whether that is
 * shown.
 *
 * Callers: cmd_compare.c, audit.c. Side A is the baseline. Ratios are B / A of throughputs: above
 * 1, B is faster. They may be of another metric (metric.h): of latencies, where below 1 B is
 * faster, or of an event, where below 1 B is lower. For each pair of cells it tells:
 *
 *   - which samples are compared: those of one core distance without marked ones, if both cells
 *     have CLASS_MIN of them in a class (the class of which the smaller side has more); else all,
 *     and where these are of several distances, the two cannot be compared. A cell without
 *     distances, whose workers share a core, has the same samples at each, and meets those of the
 *     other's most common one;
 *   - the medians, their ratio with its bootstrap interval, and the effect: how often a sample of B
 *     beats one of A;
 *   - the p of the Mann-Whitney test, adjusted by Holm over all pairs of the comparison;
 *   - the verdict: faster or slower if p < alpha and the ratio is at least min_effect from 1, in
 *     the direction in which the effect lies too; else no difference is shown; but too few samples
 *     if not even sets that do not overlap would give such a p, or if these do not and have none.
 *
 * There is a warning if one side was measured before the other, not interleaved with it.
 *
 * The ratios are summarized by their geometric mean over the pairs that are compared.
 */
#ifndef SCHEDLAB_COMPARE_H
#define SCHEDLAB_COMPARE_H

#include "harness/evidence/comparable.h"
#include "harness/evidence/metric.h"
#include "harness/numbers/statistics.h"
#include "harness/tables/compare_side.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum compare_verdict {
    COMPARE_FASTER, /* lower, if the metric is an event */
    COMPARE_SLOWER, /* higher, likewise */
    COMPARE_SAME,   /* no difference shown */
    COMPARE_FEW,    /* too few samples to show one */
    COMPARE_UNLIKE, /* no core distance has enough samples of both, see reason */
    COMPARE_NONE,   /* a cell has no numbers, see reason */
    COMPARE_VERDICTS
};

struct compare_options {
    double alpha;      /* such as 0.05 */
    double min_effect; /* 0.02: a ratio from 1/1.02 to 1.02 is none that matters; 0: all matter */
    uint64_t seed;     /* of the bootstrap */
    bool each;         /* a cell of A meets each of its partners in B, but for itself */
    struct metric metric;
};

struct compare_pair {
    const struct compare_cell *a, *b;
    enum cell_class chosen;
    enum cell_class class_a, class_b; /* chosen; on a side without distances, undisturbed ones */
    bool distances_mixed;             /* it has distances, and samples of all are compared */
    bool distances_partial;           /* only one side has distances */
    bool distances_unlike; /* mixed, and of more than one: the verdict is COMPARE_UNLIKE */
    double *samples_a, *samples_b;
    size_t count_a, count_b;
    double median_a, median_b; /* NAN without samples */
    struct interval ratio;     /* B / A; NAN where a sample of A is zero */
    double superiority;        /* of B over A */
    double p, p_adjusted;      /* NAN without samples, or where distances_unlike */
    enum compare_verdict verdict;
    char reason[512]; /* why they are not compared; "" if they are */
};

struct comparison {
    const struct compare_side *a, *b;
    struct compare_options options;
    struct compare_pair *pairs;
    size_t count;
    size_t verdicts[COMPARE_VERDICTS]; /* how many pairs of each */
    struct interval geomean;           /* n pairs; NAN if none has numbers */
    size_t only_a, only_b;             /* cells without a partner */
    json_t *warnings;                  /* array of strings */
};

/* Compares two sides that compare_sides_pair() has given keys; both must outlive the comparison. It
 * has no pairs if they have nothing in common. */
void compare_make(struct comparison *comparison, const struct compare_side *a,
                  const struct compare_side *b, const struct compare_options *options);
void compare_free(struct comparison *comparison);

/* "faster", "slower", "~", "few", "distances", "none"; of an event "lower" and "higher" in
 * place of the first two. */
const char *compare_verdict_text(const struct comparison *comparison, enum compare_verdict verdict);

#endif
