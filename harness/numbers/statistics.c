/* statistics.c - see statistics.h. The generator, the sort and the quantiles are GSL's. */
#include "statistics.h"

#include "harness/base/memory.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void number_put(FILE *to, double value, char end)
{
    if (isfinite(value))
        fprintf(to, "%.12g%c", value, end);
    else
        fprintf(to, "NA%c", end);
}

void interval_put(FILE *to, struct interval interval, char end)
{
    number_put(to, interval.median, '\t');
    number_put(to, interval.lo, '\t');
    number_put(to, interval.hi, end);
}

static const double TAIL = 0.025; /* beyond each end of a 95 % interval */

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
    double *sorted = xmalloc((n + 1) * sizeof *sorted);
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

/* The medians of STATISTICS_RESAMPLES resamples of x, which is sorted. */
static void resample_medians(gsl_rng *rng, const double *x, size_t n, unsigned *times,
                             double *medians)
{
    for (size_t i = 0; i < STATISTICS_RESAMPLES; i++)
        medians[i] = resampled_median(rng, x, n, times);
}

/* Sums for the degrees of freedom that replace n - 1 where several sets scatter. The result is near
 * n - 1 of the set that scatters most. Source: [Welch47] */
struct freedom {
    double variance, squares;
};

static void freedom_add(struct freedom *freedom, double variance, size_t n)
{
    freedom->variance += variance;
    freedom->squares += variance * variance / (double)(n - 1);
}

/* How many resamples an interval leaves out at each end. Percentiles of resamples are too narrow by
 * as much as a normal interval is that takes a variance over n for the known one, and the remedy is
 * the same: Student's quantile. Source: [Hesterberg15] */
static double tail_share(const struct freedom *freedom)
{
    if (!(freedom->squares > 0))
        return TAIL;
    double degrees = freedom->variance * freedom->variance / freedom->squares;
    double quantile = gsl_cdf_tdist_Pinv(TAIL, degrees);
    return gsl_cdf_ugaussian_P(sqrt((degrees + 1) / degrees) * quantile);
}

/* The percentiles of STATISTICS_RESAMPLES resamples, which are sorted here. */
static void interval_narrow(struct interval *interval, double *resamples,
                            const struct freedom *freedom)
{
    double tail = tail_share(freedom);
    gsl_sort(resamples, 1, STATISTICS_RESAMPLES);
    double lo = gsl_stats_quantile_from_sorted_data(resamples, 1, STATISTICS_RESAMPLES, tail);
    double hi = gsl_stats_quantile_from_sorted_data(resamples, 1, STATISTICS_RESAMPLES, 1 - tail);
    /* A skewed resampling distribution may leave the point estimate just outside. */
    interval->lo = fmin(lo, interval->median);
    interval->hi = fmax(hi, interval->median);
}

static double variance_of(const double *medians)
{
    return gsl_stats_variance(medians, 1, STATISTICS_RESAMPLES);
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
    double over[STATISTICS_RESAMPLES], under[STATISTICS_RESAMPLES];
    struct freedom freedom = {0};
    unsigned *times = xcalloc((nx > ny ? nx : ny) + 1, sizeof *times);
    gsl_rng *rng = rng_make(seed);
    resample_medians(rng, x, nx, times, over);
    freedom_add(&freedom, variance_of(over), nx);
    if (y) {
        resample_medians(rng, y, ny, times, under);
        /* The quotient scatters by that of y times its own square. */
        freedom_add(&freedom, interval->median * interval->median * variance_of(under), ny);
        for (size_t i = 0; i < STATISTICS_RESAMPLES; i++)
            over[i] /= under[i];
    }
    gsl_rng_free(rng);
    free(times);
    interval_narrow(interval, over, &freedom);
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

/* True if x comes before y, in an order that holds all pairs of different sets; both are sorted. */
static bool comes_first(const double *x, size_t nx, const double *y, size_t ny)
{
    size_t i = 0;
    while (i < nx && i < ny && x[i] == y[i])
        i++;
    return i < nx && i < ny ? x[i] < y[i] : nx < ny;
}

/* Resamples only one of x / y and y / x, so that the other one is its mirror. */
static void ratio_bootstrap(struct interval *ratio, const double *over, size_t nx,
                            const double *under, size_t ny, uint64_t seed)
{
    bool bare = ratio->n < STATISTICS_INTERVAL_MIN || ratio->lo == ratio->hi;
    if (bare || over[0] <= 0 || comes_first(over, nx, under, ny)) {
        interval_bootstrap(ratio, over, nx, under, ny, seed);
        return;
    }
    struct interval mirror = {1 / ratio->median, 1 / ratio->hi, 1 / ratio->lo, ratio->n};
    interval_bootstrap(&mirror, under, ny, over, nx, seed);
    ratio->lo = fmin(1 / mirror.hi, ratio->median);
    ratio->hi = fmax(1 / mirror.lo, ratio->median);
}

struct interval statistics_ratio(const double *x, size_t nx, const double *y, size_t ny,
                                 uint64_t seed)
{
    struct interval ratio = {NAN, NAN, NAN, nx < ny ? nx : ny};
    if (ratio.n == 0)
        return ratio;
    double *over = copy_sorted(x, nx), *under = copy_sorted(y, ny);
    if (under[0] > 0) {
        ratio.median = gsl_stats_median_from_sorted_data(over, 1, nx) /
                       gsl_stats_median_from_sorted_data(under, 1, ny);
        ratio.lo = over[0] / under[ny - 1];
        ratio.hi = over[nx - 1] / under[0];
        ratio_bootstrap(&ratio, over, nx, under, ny, seed);
    }
    free(over);
    free(under);
    return ratio;
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

/* Adds the logarithms of resampled medians of x, `sign` times, to sums. */
static void logs_add(double *sums, double sign, gsl_rng *rng, const double *x, size_t n,
                     unsigned *times, struct freedom *freedom)
{
    double logs[STATISTICS_RESAMPLES];
    resample_medians(rng, x, n, times, logs);
    for (size_t i = 0; i < STATISTICS_RESAMPLES; i++) {
        logs[i] = log(logs[i]);
        sums[i] += sign * logs[i];
    }
    freedom_add(freedom, variance_of(logs), n);
}

static void geomean_bootstrap(struct interval *interval, const struct sorted_pair *pairs, size_t n,
                              size_t largest, uint64_t seed)
{
    double sums[STATISTICS_RESAMPLES] = {0};
    struct freedom freedom = {0};
    unsigned *times = xcalloc(largest + 1, sizeof *times);
    gsl_rng *rng = rng_make(seed);
    for (size_t k = 0; k < n; k++) {
        const struct sorted_pair *p = &pairs[k];
        logs_add(sums, 1, rng, p->over, p->over_count, times, &freedom);
        logs_add(sums, -1, rng, p->under, p->under_count, times, &freedom);
    }
    gsl_rng_free(rng);
    free(times);
    for (size_t i = 0; i < STATISTICS_RESAMPLES; i++)
        sums[i] = exp(sums[i] / (double)n);
    interval_narrow(interval, sums, &freedom);
}

struct interval statistics_paired_ratio(const double *x, const double *y, size_t n, uint64_t seed)
{
    double *ratios = xcalloc(n + 1, sizeof *ratios);
    size_t count = 0;
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
    struct sorted_pair *sorted = xcalloc(n + 1, sizeof *sorted);
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
