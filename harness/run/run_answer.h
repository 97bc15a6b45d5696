/* run_answer.h - the answer with which `schedlab run` ends: who is best, by how much, and whether
 * that is shown.
 *
 * Callers: cmd_run.c; run_table.c for the last column. The rule and the tests are those of
 * report_verdict.h: the variant with the highest median against each other one, by Mann-Whitney
 * with Holm's correction over all pairs, at 0.05. All repetitions are compared, as in the table. In
 * addition it takes STATISTICS_INTERVAL_MIN repetitions of each, so that what is shown has an
 * interval. One repetition on a simulated machine is exact for its seed and needs no test.
 *
 * Other settings of the machine are shown to buy something if the interval of the ratio leaves 1
 * out, and one variant ran.
 *
 * The throughput is compared, unless the workload is paced. Where there are latencies their p99 is,
 * or the p50 if they are too few for a tail.
 */
#ifndef SCHEDLAB_RUN_ANSWER_H
#define SCHEDLAB_RUN_ANSWER_H

#include "harness/answers/report_verdict.h"
#include "harness/run/run_rows.h"

enum run_outcome {
    RUN_WON,   /* shown to be better than each other one */
    RUN_TIED,  /* not told apart from some */
    RUN_OPEN,  /* better than some in one of two regimes, and not in the other */
    RUN_FEW,   /* too few repetitions to show a difference */
    RUN_EXACT, /* one repetition of each on a simulated machine */
    RUN_ALONE, /* one variant has a number */
    RUN_NONE,  /* none has */
};

struct run_answer {
    struct metric metric;
    enum run_outcome outcome;
    struct report_group group; /* a cell for each row that has numbers */
    struct verdict *verdict;   /* of it; NULL if it is empty */
    size_t verdict_count;
    char *text; /* "" if there is none */
    char *why;  /* A line for each slower variant, three at most. It says what its cores did in the
                * time that the best did not need (why_win.h), or which part of a request takes
                * longer (why_latency.h). "" where nothing is told. */
};

enum { RUN_ANSWERS_MAX = 2 };

/* The answers to a table. The first is that of the throughputs, RUN_NONE if these are not compared.
 * The rows must outlive them. */
struct run_answers {
    struct run_answer of[RUN_ANSWERS_MAX];
    size_t count;
};

void run_answers_make(struct run_answers *answers, const struct run_table *table);
void run_answers_free(struct run_answers *answers);

/* The lines that are told, of RUN_COLUMNS at most. */
void run_answers_print(const struct run_answers *answers, bool colour, FILE *to);

/* [{metric, outcome, best, next, ratio: {ratio, lo, hi}, p, tied: [variant], open: [variant],
 * slower: [{variant, ratio, lo, hi}], text, why}]; what is not there is left out. */
json_t *run_answers_to_json(const struct run_answers *answers);

/* True if it has several that compete. */
bool run_answer_competes(const struct run_answer *answer);

/* The best over this row, with a mark if no difference is shown; "" for the best itself and for a
 * row that does not compete. */
struct text run_answer_beside(const struct run_answer *answer, const struct run_row *row);

/* True if the row is that of a variant shown to be best. */
bool run_answer_is_best(const struct run_answer *answer, const struct run_row *row);

/* How many repetitions of each it takes to show a difference between so many variants. */
int run_answer_reps_min(size_t variants);

#endif
