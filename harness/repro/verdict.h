/* verdict.h - judges by records whether an experiment's expectations hold.
 *
 * Callers: repro_judge.c. Pure: the same records give the same verdicts to the last digit.
 *
 * An expectation is judged in each of its part's columns (experiment.h) by itself. In a column the
 * number is the median of the level's samples, or the median of ratios of two, with its 95 %
 * interval (statistics.h):
 *
 *     supported   the interval lies inside the range
 *     refuted     it lies outside
 *     undecided   it does neither, or there is none; the reason says what is lacking
 *
 * A ratio is one of samples of the same block (plan.h), which were measured one after the other:
 * what made the machine slower for a while made both sides slower. Where less than three quarters
 * of the side with fewer samples have a partner, or fewer than six, it is the ratio of the two
 * medians. Regimes are looked for in the same numbers.
 *
 * If all samples of a cell are equal, as deterministic ones are, there is no uncertainty, and the
 * value itself counts. The value itself also counts for `exactly`, which any other value refutes.
 * It takes two samples to be equal.
 *
 * A simulated machine repeats itself. If what is varied does not act, both sides of a ratio are the
 * same run, to the last event of each sample. Such a ratio tests nothing and is undecided, unless
 * 1.00 to 1.00 is expected: then it was meant that nothing changes.
 *
 * Samples count as in tables and comparisons (comparable.h): unmarked ones of one
 * core distance, and the same one for both sides of a ratio. The verdicts of several columns or
 * claims become one: refuted if any is, else undecided if any is, else not run if any is, else
 * supported. Machines disagree if one supports and another one refutes. Not run are those about a
 * peer (peer_table.h) that is not built here, or does not support the workload.
 */
#ifndef SCHEDLAB_VERDICT_H
#define SCHEDLAB_VERDICT_H

#include "harness/numbers/statistics.h"
#include "harness/repro/experiment.h"

#include <jansson.h>
#include <stdbool.h>

/* In ascending order of weight; NONE: nothing was expected. */
enum verdict {
    VERDICT_NONE,
    VERDICT_SUPPORTED,
    VERDICT_NOT_RUN, /* of a peer that is not built, or does not support it */
    VERDICT_UNDECIDED,
    VERDICT_REFUTED,
    VERDICT_DISAGREE, /* of machines */
};

enum { VERDICTS = VERDICT_DISAGREE + 1 };

/* The reason why there is no verdict. */
enum verdict_lack {
    LACK_NOTHING,
    LACK_CORES,    /* fewer than workers */
    LACK_COUNTERS, /* the event cannot be had there */
    LACK_SAMPLES,  /* too few, or of unlike core distances */
    LACK_WIDTH,    /* the interval reaches over an end of the range */
    LACK_REGIMES,  /* samples are of two regimes, of which one is inside the range and one is not */
    LACK_CELL,     /* it failed, was skipped or was not measured */
    LACK_PEER,     /* the level is another runtime, which was skipped: not run */
    LACK_NUMBER,   /* a sample has no such number, or a ratio has a zero below */
    LACK_SAME,     /* both sides of a ratio are the same run, sample by sample */
};

enum { VERDICT_REASON_SIZE = 512 };

struct verdict_side {
    struct experiment_cell cell;
    struct interval value; /* of the metric; NAN without samples */
    bool constant;         /* all samples are equal, and at least two */
    const char *text;      /* of an order: the first sample's; of the records */
    const json_t *runtime; /* of a peer: its name and version; of the records; NULL: none told */
};

/* Numbers behind a column that are of two regimes (statistics.h). */
struct verdict_regimes {
    const char *of; /* "ratios" of blocks, or samples of "level" or "over"; NULL: there are none */
    struct regimes found;
    double *values; /* in the order of the run */
    size_t count;
    char *text;   /* "7 of 12 ratios of blocks at 1.02x, 5 at 1.48x"; samples: of each such side */
    char *differ; /* "STEALS 0.31 and 12.4": what tells them apart; or "" */
};

struct verdict_column {
    enum verdict verdict;
    enum verdict_lack lack;
    char reason[VERDICT_REASON_SIZE]; /* "" if supported; else why not */
    struct interval effect;           /* ratio or value; lo and hi are NAN where it is exact */
    bool exact;
    bool infinite; /* all values below the line are zeros, and some above are not */
    struct verdict_side level, over;
    struct verdict_regimes regimes;
    char *why; /* the sentence behind a ratio, about the side that is slower or has more: why_win.h,
                * why_latency.h, why_structures.h of misses, why_event.h; NULL: there is none */
};

struct judged {
    const struct experiment_part *part;
    const struct experiment_expect *expect;
    unsigned number;      /* of the expectation in its part, from 1 */
    enum verdict verdict; /* NONE: it is not about that machine */
    unsigned decisive;    /* the column that made it so, or is nearest to an end of the range */
    struct verdict_column *columns;
    unsigned count;
};

/* Judges the i-th expectation of a part on a machine by an array of records of a run. form: how
 * much was measured. judged_free() it. */
void judged_make(struct judged *judged, const struct experiment_part *part, unsigned i,
                 const char *machine, const json_t *records, const struct experiment_form *form);
void judged_free(struct judged *judged);

/* The verdict of greater weight. */
enum verdict verdict_join(enum verdict a, enum verdict b);

/* The verdict of several machines, by how many of them have which. */
enum verdict verdict_of_machines(const unsigned count[VERDICTS]);

/* "supported" ...; "none". And the other way round. */
const char *verdict_text(enum verdict verdict);
enum verdict verdict_of_text(const char *text);

/* "cores" ...; NULL for nothing. */
const char *verdict_lack_text(enum verdict_lack lack);

#endif
