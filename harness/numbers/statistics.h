/* statistics.h - what is said about samples: medians and ratios with bootstrap intervals, whether
 * two sets differ and by how much, where a series settles, how small a task may be.
 *
 * Callers: tables.c, compare.c, report_verdict.c, audit.c for results; warmup.c for the warm-up.
 * Nothing here reads files or keeps state, and only number_put() and interval_put() print: the same
 * numbers and the same seed give the same answer to the last bit.
 *
 * The intervals are bootstrap intervals at 95 %, of STATISTICS_RESAMPLES resamples. They reach from
 * one expanded percentile to another, further out the fewer samples there are. For a ratio, the
 * samples of the side that scatters more decide. Source: [Hesterberg15]
 *
 * Their promise depends on n. A resampled median lies between the extremes of the samples, and
 * these cover the true median in 1 - 2 * 0.5^n of all cases:
 *   n = 5   93.75 %: no interval of samples covers 95 %, so there is none, and lo and hi are NAN.
 *   n = 6   96.9 %: the fewest, STATISTICS_INTERVAL_MIN.
 *   n = 7   98.4 %. From here on 93.5 to 99 %, and nearer to 95 % the larger n is.
 * Intervals of ratios of two sets that scatter alike cover 97 to 99 %.
 *
 * Rejected: percentiles at 2.5 and 97.5 %, which cover 87.5 % at n = 7 and 92 % at n = 8. Order
 * statistics by the binomial distribution, which never cover less than they say, but have no
 * counterpart for ratios.
 */
#ifndef SCHEDLAB_STATISTICS_H
#define SCHEDLAB_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { STATISTICS_RESAMPLES = 2000, STATISTICS_INTERVAL_MIN = 6 };

/* The seed of all resampling for tables, reports and comparisons: the same records give the same
 * digits. */
#define STATISTICS_SEED UINT64_C(1)

struct interval {
    double median;
    double lo, hi; /* 95 %, lo <= median <= hi; both NAN with too few samples, see above */
    size_t n;      /* samples behind it; of the smaller side for a ratio */
};

/* Write fields of a table, the number or NA and then `end`; of an interval median, lo and hi. */
void number_put(FILE *to, double value, char end);
void interval_put(FILE *to, struct interval interval, char end);

/* The median of x[0..n) and its interval. n == 0 gives NAN in all three numbers. Values must be
 * finite. */
struct interval statistics_median(const double *x, size_t n, uint64_t seed);

/* The median without an interval, in a small part of the time. */
double statistics_median_alone(const double *x, size_t n);

/* True if there is an interval: lo and hi are numbers. */
bool statistics_has_interval(struct interval interval);

/* True if there is a number, but of too few samples for an interval. */
bool statistics_has_too_few(struct interval interval);

/* median(x) / median(y), both sides resampled independently. Too few samples on either side are too
 * few for an interval. NAN where a side is empty or y has a value that is not positive. Where both
 * sides are positive, the interval of y to x is the mirror of that of x to y. */
struct interval statistics_ratio(const double *x, size_t nx, const double *y, size_t ny,
                                 uint64_t seed);

/* The median of x[i] / y[i], of samples that belong together in pairs, such as those of one seed
 * on two simulated machines, or of one block on one machine. Their common causes drop out. NAN
 * without pairs or if a y is not positive. */
struct interval statistics_paired_ratio(const double *x, const double *y, size_t n, uint64_t seed);

/* The two sets of samples behind one ratio of medians. */
struct ratio_samples {
    const double *over, *under;
    size_t over_count, under_count;
};

/* The geometric mean of the ratios of medians of n pairs, and its interval. Every resample draws
 * all sets of all pairs anew. So the interval holds the noise of measuring, and says nothing about
 * workloads that were not measured. The geometric mean is used because it alone gives the same
 * answer whichever side is the baseline (Source: [Fleming86]). `median` holds the point estimate, n
 * of the interval is the number of pairs. NAN without pairs, or if a set is empty or has a value
 * that is not positive. Too few samples in any set are too few for an interval. */
struct interval statistics_geomean_ratio(const struct ratio_samples *pairs, size_t n,
                                         uint64_t seed);

/* Differences (statistics_rank.c) ------------------------------------------------------------ */

/* The p of the two-sided Mann-Whitney test that x and y come from one distribution. Exact where
 * nx + ny <= 50 and no two values are equal; else normal with the correction for ties and for
 * continuity. NAN if a side is empty; 1 if all values are equal. Values must be finite.
 * Source: [Mann47] */
double statistics_mann_whitney(const double *x, size_t nx, const double *y, size_t ny);

/* The smallest p that the test above can give for so many samples without ties, which is that of
 * two sets that do not overlap. NAN if a side is empty. */
double statistics_mann_whitney_least(size_t nx, size_t ny);

/* P(X > Y) + P(X = Y) / 2: how often a value of x is larger than one of y. 0.5 shows no difference,
 * 1 and 0 sets that do not overlap; Vargha and Delaney call 0.56, 0.64 and 0.71 a small, medium and
 * large effect. NAN if a side is empty. Source: [Vargha00] */
double statistics_superiority(const double *x, size_t nx, const double *y, size_t ny);

/* Replaces the p of n tests by Holm's adjusted ones. Each may be compared with the level that holds
 * for all n together. NAN stays, and does not count as a test. Source: [Holm79] */
void statistics_holm(double *p, size_t n);

/* Two regimes (statistics_regimes.c) --------------------------------------------------------- */

/* Samples that lie in two groups with nothing between them: a run met the one or the other. */
struct regimes {
    size_t low, high; /* how many lie in each */
    double low_median, high_median;
    double border; /* between the two */
};

/* True if the values, all positive, are of two regimes. Each has two of them or more, the gap
 * between the two is 2.5 times as wide as both together, on a logarithmic scale, and the medians
 * are 1.15 times apart. Samples of one regime, normal on that scale, are taken for two in 0.6 % of
 * all cases at n = 6, in 0.2 % at 7 and more seldom the more there are (test_statistics). False
 * below STATISTICS_INTERVAL_MIN values. */
bool statistics_regimes(const double *x, size_t n, struct regimes *regimes);

/* The warm-up (statistics_change.c) ---------------------------------------------------------- */

/* How many of the last values of x hold one level, that of the very last stretch between changes.
 * 0 for fewer than 4 values. */
size_t statistics_steady_tail(const double *x, size_t n);

/* The smallest task (statistics_metg.c) ------------------------------------------------------ */

struct metg_point {
    double task_ns;    /* workers * time / tasks: the work and what it costs to schedule it */
    double efficiency; /* speed-up / workers */
};

enum metg_where {
    METG_BETWEEN, /* interpolated, or measured exactly */
    METG_BELOW,   /* even the smallest task is efficient enough */
    METG_ABOVE,   /* even the largest is not */
    METG_NONE,    /* no points */
};

/* The minimum effective task granularity: the smallest task_ns at which the efficiency is still at
 * least `share`. Coming down from the largest task, the first point below the share ends the
 * search; between it and the one before, log(task_ns) is interpolated. *where says if there is such
 * a task among those measured; if not, the result is NAN: nothing is extrapolated. Points may come
 * in any order; those that are not positive and finite are left out.
 * Source: [Slaughter20] s.4 */
double statistics_metg(const struct metg_point *points, size_t n, double share,
                       enum metg_where *where);

#endif
