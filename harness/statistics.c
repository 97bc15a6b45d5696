/* statistics.c - see statistics.h. The generator, the sort and the quantiles are GSL's. */
#include "statistics.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double INTERVAL_LOW = 0.025, INTERVAL_HIGH = 0.975;

/* A generator whose stream depends on all 64 bits of seed: GSL's take 32. */
static gsl_rng *rng_make(uint64_t seed)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    seed ^= seed >> 33;
    seed *= UINT64_C(0xff51afd7ed558ccd);
    seed ^= seed >> 33;
    gsl_rng_set(rng, (unsigned long)(seed & UINT32_MAX));
    return rng;
}

static double *copy_sorted(const double *x, size_t n)
{
    double *sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        abort();
    memcpy(sorted, x, n * sizeof *sorted);
    gsl_sort(sorted, 1, n);
    return sorted;
}

/* The median of one resample of x, drawn with replacement. x is sorted, so that counting how often
 * each index was drawn takes the place of sorting the resample; times has n entries. */
static double resampled_median(gsl_rng *rng, const double *x, size_t n, unsigned *times)
{
    memset(times, 0, n * sizeof *times);
    for (size_t i = 0; i < n; i++)
        times[gsl_rng_uniform_int(rng, n)]++;
    size_t drawn = 0, i = 0;
    while ((drawn += times[i]) < (n + 1) / 2)
        i++;
    double lower = x[i];
    if (n % 2 == 1 || drawn > n / 2)
        return lower;
    do {
        i++;
    } while (times[i] == 0);
    return (lower + x[i]) / 2;
}

/* Narrows interval from the extremes to the percentiles of resampled medians of x, or of their
 * quotients with resampled medians of y if there is a y. Both are sorted, which changes nothing. */
static void interval_bootstrap(struct interval *interval, const double *x, size_t nx,
                               const double *y, size_t ny, uint64_t seed)
{
    /* Equal samples, as counters often are, resample to themselves. */
    if (interval->n < 3 || interval->lo == interval->hi)
        return;
    double resamples[STATISTICS_RESAMPLES];
    unsigned *times = calloc(nx > ny ? nx : ny, sizeof *times);
    if (!times)
        abort();
    gsl_rng *rng = rng_make(seed);
    for (size_t i = 0; i < STATISTICS_RESAMPLES; i++) {
        resamples[i] = resampled_median(rng, x, nx, times);
        if (y)
            resamples[i] /= resampled_median(rng, y, ny, times);
    }
    gsl_rng_free(rng);
    free(times);
    gsl_sort(resamples, 1, STATISTICS_RESAMPLES);
    double lo =
        gsl_stats_quantile_from_sorted_data(resamples, 1, STATISTICS_RESAMPLES, INTERVAL_LOW);
    double hi =
        gsl_stats_quantile_from_sorted_data(resamples, 1, STATISTICS_RESAMPLES, INTERVAL_HIGH);
    /* A skewed resampling distribution may leave the point estimate just outside. */
    interval->lo = fmin(lo, interval->median);
    interval->hi = fmax(hi, interval->median);
}

struct interval statistics_median(const double *x, size_t n, uint64_t seed)
{
    struct interval interval = {NAN, NAN, NAN, n};
    if (n == 0)
        return interval;
    double *sorted = copy_sorted(x, n);
    interval.median = gsl_stats_median_from_sorted_data(sorted, 1, n);
    interval.lo = sorted[0];
    interval.hi = sorted[n - 1];
    interval_bootstrap(&interval, sorted, n, NULL, 0, seed);
    free(sorted);
    return interval;
}

double statistics_median_alone(const double *x, size_t n)
{
    if (n == 0)
        return NAN;
    double *sorted = copy_sorted(x, n);
    double median = gsl_stats_median_from_sorted_data(sorted, 1, n);
    free(sorted);
    return median;
}

struct interval statistics_ratio(const double *x, size_t nx, const double *y, size_t ny,
                                 uint64_t seed)
{
    struct interval interval = {NAN, NAN, NAN, nx < ny ? nx : ny};
    if (interval.n == 0)
        return interval;
    double *over = copy_sorted(x, nx), *under = copy_sorted(y, ny);
    if (under[0] > 0) {
        interval.median = gsl_stats_median_from_sorted_data(over, 1, nx) /
                          gsl_stats_median_from_sorted_data(under, 1, ny);
        interval.lo = over[0] / under[ny - 1];
        interval.hi = over[nx - 1] / under[0];
        interval_bootstrap(&interval, over, nx, under, ny, seed);
    }
    free(over);
    free(under);
    return interval;
}
