/* audit.h - checks whether measuring and comparing can be believed, on cells whose truth is known.
 *
 * Callers: cmd_audit.c. The cells of a sweep are measured under five labels, all interleaved:
 * twice as they are, and slowed down by 2, 5 and 10 % (`run --inject-slowdown`). A first run has
 * its blocks in shuffled order, a second one each block in the opposite order. Both are compared by
 * compare_make(), as any two runs are:
 *
 * A sweep decides while it runs how much it measures: until intervals are narrow, again if it was
 * disturbed, more if the core distance was another. This decision is audited too. So the runs hold
 * many blocks of everything. stopping_rule.c, which decides in sweeps, takes from them the samples
 * that a sweep beginning there would have measured: a round. The next round begins with the block
 * after it.
 *
 *   - false positives: as it is against as it is, round by round. The share of comparisons with
 *     p < alpha may not be larger than what alpha allows by chance;
 *   - verdicts: as it is under both labels, as the report would judge it: of all cells of a round
 *     together, since it corrects over them, the share in which it names a winner;
 *   - power: as it is against slowed down, likewise: the share that is found. An audit that does
 *     not find the largest slowdown says nothing;
 *   - order: all blocks together, once of each run. No cell may be faster in one order and slower
 *     in the other. A difference that is shown in one order only is counted, and is no fault: a
 *     test of limited power decides so. Swapping the sides must mirror every verdict exactly.
 */
#ifndef SCHEDLAB_AUDIT_H
#define SCHEDLAB_AUDIT_H

#include "harness/numbers/statistics.h"
#include "harness/plan/plan.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/audit_outcome.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { AUDIT_SLOWDOWNS = 3, AUDIT_SIDES = 2 + AUDIT_SLOWDOWNS };

/* The sides of the two runs, in this order: "a", "b", "slow2", "slow5", "slow10". */
extern const struct plan_side audit_sides[AUDIT_SIDES];

/* The cells of the sweep, each once a side; plan_free() it. sweep must outlive it. */
struct plan *audit_plan(const struct sweep_file *sweep);

/* Results of comparisons of which the truth is the same. */
struct audit_tally {
    size_t comparisons;
    size_t too_few;        /* so few samples at one core distance that p < alpha is impossible:
                            * slowed down ones count as not found, and equal ones are left out of
                            * the comparisons */
    size_t found;          /* p < alpha, each for itself; of slowed down ones only if slower */
    size_t found_adjusted; /* and also with Holm's correction over the cells of a round */
    double lo, hi;         /* of the share found: 95 %, by Clopper and Pearson */
    struct interval ratio; /* geometric mean over the cells, of all blocks of the first run */
};

/* How the rounds of both runs ended. Cells are counted once a round and side. */
struct audit_rounds {
    size_t count;
    unsigned blocks_least, blocks_most; /* that a round took */
    size_t by_width, at_limit;          /* cells, see stopping_rule_stop() */
    size_t after_blocks;                /* samples that are top-ups or repeats */
};

struct audit {
    double alpha;
    unsigned samples; /* a side and comparison, at least */
    size_t cells;
    struct audit_rounds rounds;
    struct audit_tally same, slower[AUDIT_SLOWDOWNS];
    size_t allowed; /* most false positives that chance explains, in all but 1 % of audits */
    struct audit_tally verdicts; /* of rounds, found: with a winner among equals */
    size_t verdicts_allowed;
    size_t order_comparisons, order_reversed; /* see above */
    size_t order_decided, order_undecided;    /* shown in both orders; in one only */
    size_t swap_comparisons, swap_changed;
};

/* Judges the records of the two runs. sweep is the rule by which a round ends: its reps, reps_max,
 * width, class_min and repeat_disturbed. A round for which the records do not suffice is left
 * out. */
void audit_judge(struct audit *audit, const struct sweep_file *sweep, json_t *forward,
                 json_t *backward, double alpha);

/* The parts that can fail; an audit of nothing holds nothing. */
bool audit_false_positives_hold(const struct audit *audit);
bool audit_verdicts_hold(const struct audit *audit);
bool audit_order_holds(const struct audit *audit);

/* Judges the audit as a whole. */
enum audit_outcome audit_outcome(const struct audit *audit);

/* For audit.c: the records of one run, by cell and block. */
struct audit_pool {
    json_t *records;
    json_int_t blocks, next; /* next: where the next round begins */
};
void audit_pool_make(struct audit_pool *pool, const json_t *records);
void audit_pool_free(struct audit_pool *pool);

/* The records of the next round, as if its sweep had begun with block 0 there; owned by the caller.
 * NULL if the pool ends before the round does. Adds to rounds. */
json_t *audit_round_next(const struct sweep_file *sweep, struct audit_pool *pool,
                         struct audit_rounds *rounds);

/* For audit.c: adds a round, the comparison of both equal sides, to the tally of verdicts. */
struct comparison;
void audit_report_round(struct audit_tally *tally, const struct comparison *comparison,
                        const json_t *records);

/* The content of audit.json, as results/README.md describes it; owned by the caller. environment is
 * that of the runs. */
json_t *audit_to_json(const struct audit *audit, const json_t *environment);

void audit_print(const struct audit *audit, FILE *to);

#endif
