/* report_verdict.h - which variant has the highest throughput on a workload, and by how much.
 *
 * Callers: report_page.c and its parts, report_json.c, report_baseline.c. The rule: the fastest is
 * the variant with the highest median at the group's largest count of workers. It is tested against
 * every other one by Mann-Whitney, over samples of one class (comparable.h) of which all have
 * enough. The same samples name the fastest and are tested, so any pair of variants might have been
 * named. Holm's correction is therefore over all pairs, of all workloads of the group. The fastest
 * wins if it is shown to be faster than each. If it is not told apart from some, others may still
 * be shown to be slower. If even samples that do not overlap could not show a difference, there are
 * too few, and none wins. None wins either if no core distance has enough samples of each: then
 * the machine would decide. Nor does one whose lead depends on chance: if samples are of two
 * regimes (statistics.h) and it leads in one but not in the other, that comparison is open.
 * `serial`, which has no scheduler, does not compete.
 */
#ifndef SCHEDLAB_REPORT_VERDICT_H
#define SCHEDLAB_REPORT_VERDICT_H

#include "harness/answers/report_data.h"

enum { VERDICT_SAMPLES_MIN = 3 }; /* for a test to be made */
#define VERDICT_ALPHA 0.05

enum verdict_outcome {
    VERDICT_WON,    /* best is faster than every other */
    VERDICT_TIED,   /* best is not told apart from some */
    VERDICT_OPEN,   /* best is faster than some in one of two regimes, and not in the other */
    VERDICT_FEW,    /* too few samples to say */
    VERDICT_UNLIKE, /* their samples are of different core distances */
    VERDICT_NONE,   /* fewer than two variants have a number */
};

/* One that the best is shown to be faster than. */
struct verdict_slower {
    const struct report_cell *cell;
    struct interval times; /* best's multiple of it */
};

/* A cell whose samples are of two regimes. */
struct verdict_regimes {
    const struct report_cell *cell; /* NULL: there is none */
    struct regimes of;
};

struct verdict {
    enum verdict_outcome outcome;
    const char *workload;
    int workers;
    size_t competitors;              /* variants with a number */
    enum cell_class chosen;          /* the class of the samples that were compared */
    const struct report_cell *best;  /* NULL if there is none, or if they are unlike */
    const struct report_cell *next;  /* second by its median; NULL if best is alone */
    const struct report_cell **tied; /* not told apart from best, highest median first; all of them
                                      * if they are unlike */
    size_t tied_count;
    const struct report_cell **open; /* slower than best by the test, in one regime alone */
    size_t open_count;
    struct verdict_regimes regimes; /* of the first comparison that is open */
    struct verdict_slower *slower;  /* than best, by the same tests; highest median first */
    size_t slower_count;
    struct interval over_next; /* best's multiple of next */
    double superiority;        /* of best over next, as in statistics.h; NAN without a next */
    double p;                  /* of best against next, adjusted; NAN without a next */
};

/* One per workload of the group; verdicts_free() it. */
struct verdict *verdicts_make(const struct report_group *group, size_t *count);
void verdicts_free(struct verdict *verdicts, size_t count);

/* Sets the lists of a verdict: "tied": [variant], "open" likewise if there are any, and "slower":
 * [{"ratio", "lo", "hi", "variant"}]. */
void verdict_lists_into_json(json_t *object, const struct verdict *verdict);

/* A word for each cell: how it compares with the baseline on the same workload and workers. Tests
 * are the same as above, with Holm's correction over all cells of the group with as many workers.
 * Words are "faster", "slower", "none", "few" and "distances"; NULL without a baseline or numbers.
 * "few" means too few samples: they do not overlap, and still are not told apart. "distances" means
 * that no core distance has enough samples of both. To be freed. */
const char **verdicts_over_baseline(const struct report_group *group);

/* The quantile by which questions about latency are answered: far enough in the tail to tell
 * schedulers apart, and a sample of more than a hundred latencies has some beyond it. */
static const double VERDICT_TAIL = 0.99;

/* The quantile that is told beside it: if it has another answer, the tail is not the whole answer.
 * It stands in place of the tail if some variant has too few latencies for one. */
static const double VERDICT_MIDDLE = 0.5;

/* The group with latencies as throughputs: each cell's is 1 / quantile, in 1 / ns, so that
 * verdicts_make() judges latencies by the same rule. Cells without latencies have no numbers. To be
 * freed by report_tails_free(), after the verdicts. */
struct report_group report_tails_make(const struct report *report, const struct report_group *group,
                                      double quantile);
void report_tails_free(struct report_group *tails);

#endif
