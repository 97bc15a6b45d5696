/* statistics.h - medians and ratios of medians with bootstrap intervals.
 *
 * Who calls: tables.c, and whatever compares two sets of samples. Nothing here reads files, prints
 * or keeps state: the same numbers and the same seed give the same interval to the last bit.
 *
 * The intervals are percentile bootstrap intervals at 95 %, of STATISTICS_RESAMPLES resamples.
 * What they can promise depends on n:
 *   n < 3   lo and hi are the extremes that were seen, not an interval of any stated coverage.
 *   n = 5   a resampled median is always one of the five samples, so even the widest interval,
 *           minimum to maximum, covers the true median in 1 - 2 * 0.5^5 = 93.75 % of all cases.
 *   n >= 8  the stated 95 % is near the truth.
 */
#ifndef SCHEDLAB_STATISTICS_H
#define SCHEDLAB_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

enum { STATISTICS_RESAMPLES = 2000 };

struct interval {
    double median;
    double lo, hi; /* 95 %, see above; lo <= median <= hi */
    size_t n;      /* samples behind it; of the smaller side for a ratio */
};

/* The median of x[0..n) and its interval. n == 0 gives NAN in all three numbers. Values must be
 * finite. */
struct interval statistics_median(const double *x, size_t n, uint64_t seed);

/* The median without an interval, in a small part of the time. */
double statistics_median_alone(const double *x, size_t n);

/* median(x) / median(y), both sides resampled independently. With n < 3 on either side lo and hi
 * are the extreme quotients. NAN where a side is empty or y has a value that is not positive. */
struct interval statistics_ratio(const double *x, size_t nx, const double *y, size_t ny,
                                 uint64_t seed);

#endif
