/* audit.h - whether the pipeline of measuring and comparing can be believed: it is set on cells
 * whose truth is known.
 *
 * Who calls: cmd_audit.c. The cells of a sweep are measured under five labels, all interleaved:
 * twice as they are, and slowed down by 2, 5 and 10 % (`run --inject-slowdown`). A first run has
 * its blocks in shuffled order, a second one each block in the opposite order. Both are compared by
 * compare_make(), as any two runs are:
 *
 *   - false positives: as it is against as it is, in rounds of `samples` blocks. The share of
 *     comparisons with p < alpha may not be larger than what alpha allows by chance;
 *   - verdicts: as it is under both labels, as the report would judge it: of all cells of a round
 *     together, since it corrects over them, the share in which it names a winner;
 *   - power: as it is against slowed down, likewise: the share that is found. An audit that does
 *     not find the largest slowdown says nothing;
 *   - order: all blocks together, once of each run. No cell may be faster in one order and slower
 *     in the other. That a difference is shown in one order only is counted, and is no fault: a
 *     test of limited power decides so. Swapping the sides must mirror every verdict exactly.
 */
#ifndef SCHEDLAB_AUDIT_H
#define SCHEDLAB_AUDIT_H

#include "harness/statistics.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { AUDIT_SLOWDOWNS = 3, AUDIT_SIDES = 2 + AUDIT_SLOWDOWNS };

/* The sides of the two runs, in this order: "a", "b", "slow2", "slow5", "slow10". */
struct audit_side {
    const char *name;
    int slowdown_percent;
};
extern const struct audit_side audit_sides[AUDIT_SIDES];

/* What comparisons with one truth came to. */
struct audit_tally {
    size_t comparisons;
    size_t too_few;        /* left out: of so few samples in one mood that p < alpha cannot be */
    size_t found;          /* p < alpha, each for itself; of slowed down ones only if slower */
    size_t found_adjusted; /* and also with Holm's correction over the cells of a round */
    double lo, hi;         /* of the share found: 95 %, by Clopper and Pearson */
    struct interval ratio; /* geometric mean over the cells, of all blocks of the first run */
};

struct audit {
    double alpha;
    unsigned samples; /* a side and comparison */
    size_t cells;
    struct audit_tally same, slower[AUDIT_SLOWDOWNS];
    size_t allowed; /* most false positives that chance explains, in all but 1 % of audits */
    struct audit_tally verdicts; /* of rounds, found: with a winner among equals */
    size_t verdicts_allowed;
    size_t order_comparisons, order_reversed; /* see above */
    size_t order_decided, order_undecided;    /* shown in both orders; in one only */
    size_t swap_comparisons, swap_changed;
};

/* Judges the records of the two runs; rounds of `samples` blocks that are not whole are left out.
 */
void audit_judge(struct audit *audit, json_t *forward, json_t *backward, unsigned samples,
                 double alpha);

/* The parts that can fail; an audit of nothing holds nothing. */
bool audit_false_positives_hold(const struct audit *audit);
bool audit_verdicts_hold(const struct audit *audit);
bool audit_order_holds(const struct audit *audit);

/* What the audit came to. It says nothing if no part fails, and yet the largest slowdown is found
 * in fewer than AUDIT_POWER_MIN of the comparisons: where nothing can be found, that nothing is
 * found among equals does not speak for the pipeline. */
#define AUDIT_POWER_MIN 0.5
enum audit_outcome { AUDIT_HOLDS, AUDIT_FAILS, AUDIT_SAYS_NOTHING };
enum audit_outcome audit_outcome(const struct audit *audit);

/* "holds", "does not hold", "says nothing" */
const char *audit_outcome_text(enum audit_outcome outcome);

/* For audit.c: adds a round, the comparison of both equal sides, to the tally of verdicts. */
struct comparison;
void audit_report_round(struct audit_tally *tally, const struct comparison *comparison,
                        const json_t *records);

/* The content of audit.json, as results/README.md describes it; owned by the caller. environment is
 * that of the runs. */
json_t *audit_to_json(const struct audit *audit, const json_t *environment);

void audit_print(const struct audit *audit, FILE *to);

#endif
