/* statistics.c - see statistics.h. The generator, the sort and the quantiles are GSL's. */
#include "statistics.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
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
    double *sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted)
        abort();
    if (n > 0)
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

/* The percentiles of STATISTICS_RESAMPLES resamples, which are sorted here. */
static void interval_narrow(struct interval *interval, double *resamples)
{
    gsl_sort(resamples, 1, STATISTICS_RESAMPLES);
    double lo =
        gsl_stats_quantile_from_sorted_data(resamples, 1, STATISTICS_RESAMPLES, INTERVAL_LOW);
    double hi =
        gsl_stats_quantile_from_sorted_data(resamples, 1, STATISTICS_RESAMPLES, INTERVAL_HIGH);
    /* A skewed resampling distribution may leave the point estimate just outside. */
    interval->lo = fmin(lo, interval->median);
    interval->hi = fmax(hi, interval->median);
}

/* Narrows interval from the extremes to the percentiles of resampled medians of x, or of their
 * quotients with resampled medians of y if there is a y. Both are sorted, which changes nothing. */
static void interval_bootstrap(struct interval *interval, const double *x, size_t nx,
                               const double *y, size_t ny, uint64_t seed)
{
    if (interval->n < STATISTICS_INTERVAL_MIN) {
        interval->lo = interval->hi = NAN;
        return;
    }
    /* Equal samples, as counters often are, resample to themselves. */
    if (interval->lo == interval->hi)
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
    interval_narrow(interval, resamples);
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

bool statistics_has_interval(struct interval interval)
{
    return isfinite(interval.lo) && isfinite(interval.hi);
}

bool statistics_has_too_few(struct interval interval)
{
    return isfinite(interval.median) && !statistics_has_interval(interval);
}

/* Geometric means ------------------------------------------------------------------------------ */

/* Sorted copies, so that resampling can count. */
struct sorted_pair {
    double *over, *under;
    size_t over_count, under_count;
};

static bool pairs_sort(struct sorted_pair *sorted, const struct ratio_samples *pairs, size_t n)
{
    bool positive = n > 0;
    for (size_t i = 0; i < n; i++) {
        const struct ratio_samples *pair = &pairs[i];
        sorted[i] = (struct sorted_pair){copy_sorted(pair->over, pair->over_count),
                                         copy_sorted(pair->under, pair->under_count),
                                         pair->over_count, pair->under_count};
        positive = positive && pair->over_count > 0 && pair->under_count > 0 &&
                   sorted[i].over[0] > 0 && sorted[i].under[0] > 0;
    }
    return positive;
}

/* The point estimate, and the product of the extreme quotients. */
static struct interval geomean_extremes(const struct sorted_pair *pairs, size_t n)
{
    double middle = 0, lo = 0, hi = 0;
    for (size_t i = 0; i < n; i++) {
        const struct sorted_pair *p = &pairs[i];
        middle += log(gsl_stats_median_from_sorted_data(p->over, 1, p->over_count) /
                      gsl_stats_median_from_sorted_data(p->under, 1, p->under_count));
        lo += log(p->over[0] / p->under[p->under_count - 1]);
        hi += log(p->over[p->over_count - 1] / p->under[0]);
    }
    double count = (double)n;
    return (struct interval){exp(middle / count), exp(lo / count), exp(hi / count), n};
}

static size_t largest_set(const struct sorted_pair *pairs, size_t n, bool *enough)
{
    size_t largest = 0;
    *enough = true;
    for (size_t i = 0; i < n; i++) {
        size_t over = pairs[i].over_count, under = pairs[i].under_count;
        *enough = *enough && over >= STATISTICS_INTERVAL_MIN && under >= STATISTICS_INTERVAL_MIN;
        largest = over > largest ? over : largest;
        largest = under > largest ? under : largest;
    }
    return largest;
}

static void geomean_bootstrap(struct interval *interval, const struct sorted_pair *pairs, size_t n,
                              size_t largest, uint64_t seed)
{
    double resamples[STATISTICS_RESAMPLES];
    unsigned *times = calloc(largest + 1, sizeof *times);
    if (!times)
        abort();
    gsl_rng *rng = rng_make(seed);
    for (size_t i = 0; i < STATISTICS_RESAMPLES; i++) {
        double sum = 0;
        for (size_t k = 0; k < n; k++) {
            const struct sorted_pair *p = &pairs[k];
            double over = resampled_median(rng, p->over, p->over_count, times);
            sum += log(over / resampled_median(rng, p->under, p->under_count, times));
        }
        resamples[i] = exp(sum / (double)n);
    }
    gsl_rng_free(rng);
    free(times);
    interval_narrow(interval, resamples);
}

struct interval statistics_paired_ratio(const double *x, const double *y, size_t n, uint64_t seed)
{
    double *ratios = calloc(n + 1, sizeof *ratios);
    size_t count = 0;
    if (!ratios)
        abort();
    while (count < n && y[count] > 0) {
        ratios[count] = x[count] / y[count];
        count++;
    }
    struct interval ratio = statistics_median(ratios, count == n ? n : 0, seed);
    free(ratios);
    return ratio;
}

struct interval statistics_geomean_ratio(const struct ratio_samples *pairs, size_t n, uint64_t seed)
{
    struct interval interval = {NAN, NAN, NAN, n};
    struct sorted_pair *sorted = calloc(n + 1, sizeof *sorted);
    if (!sorted)
        abort();
    if (pairs_sort(sorted, pairs, n)) {
        bool enough;
        size_t largest = largest_set(sorted, n, &enough);
        interval = geomean_extremes(sorted, n);
        if (!enough)
            interval.lo = interval.hi = NAN;
        else if (interval.lo < interval.hi)
            geomean_bootstrap(&interval, sorted, n, largest, seed);
    }
    for (size_t i = 0; i < n; i++) {
        free(sorted[i].over);
        free(sorted[i].under);
    }
    free(sorted);
    return interval;
}
