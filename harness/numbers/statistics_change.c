/* statistics_change.c - see statistics.h: where a series of timings has settled.
 *
 * The series is cut into stretches of one level each: of all cuts, the one with the least sum of
 *
 *     squared distances from the stretch's mean  +  PENALTY * noise^2 * log(n) per stretch
 *
 * found exactly by dynamic programming. noise is that of neighbouring values, of which a change of
 * level spoils only one.
 * Source: [Killick12] s.2, optimal partitioning. Differs: no pruning, since a sample has at most
 * some hundred calls, and the noise is taken from the median, which slow first calls do not move.
 *
 * The steady level is that of the last stretch, together with those before it that have the same
 * level: the warm-up may end once that has lasted.
 *
 * Rejected: a test by ranks, such as Pettitt's, cannot show a warm-up of one or two calls, however
 * slow they are, and these are the most common ones.
 */
#include "harness/numbers/statistics.h"

#include "harness/base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { VALUES_MIN = 4 };

static const double PENALTY = 3;
/* The median distance of two draws from a normal distribution, in its standard deviations. */
static const double MEDIAN_DISTANCE = 0.9539;
/* Levels nearer to the steady one than this share of it are the same for a benchmark's purposes. */
static const double LEVEL_TOLERANCE = 0.02;

/* Sums of the values and of their squares before each place, so that any stretch costs O(1). */
struct sums {
    double *values, *squares;
};

static double noise_of(const double *x, size_t n)
{
    double *steps = xcalloc(n, sizeof(double));
    for (size_t i = 0; i + 1 < n; i++)
        steps[i] = fabs(x[i + 1] - x[i]);
    double noise = statistics_median_alone(steps, n - 1) / MEDIAN_DISTANCE;
    free(steps);
    return noise;
}

/* Values are taken relative to the median, or squares would eat the digits. */
static struct sums sums_make(const double *x, size_t n)
{
    struct sums sums = {xcalloc(n + 1, sizeof(double)), xcalloc(n + 1, sizeof(double))};
    double middle = statistics_median_alone(x, n);
    for (size_t i = 0; i < n; i++) {
        double value = x[i] - middle;
        sums.values[i + 1] = sums.values[i] + value;
        sums.squares[i + 1] = sums.squares[i] + value * value;
    }
    return sums;
}

static double stretch_mean(const struct sums *sums, size_t begin, size_t end)
{
    return (sums->values[end] - sums->values[begin]) / (double)(end - begin);
}

static double stretch_cost(const struct sums *sums, size_t begin, size_t end)
{
    double sum = sums->values[end] - sums->values[begin];
    return sums->squares[end] - sums->squares[begin] - sum * sum / (double)(end - begin);
}

/* start[end]: where the last stretch of the best cut of x[0..end) begins. */
static void cut(const struct sums *sums, size_t n, double penalty, size_t *start)
{
    double *best = xcalloc(n + 1, sizeof(double));
    for (size_t end = 1; end <= n; end++) {
        best[end] = INFINITY;
        for (size_t begin = 0; begin < end; begin++) {
            double cost = best[begin] + stretch_cost(sums, begin, end) + penalty;
            if (cost < best[end]) {
                best[end] = cost;
                start[end] = begin;
            }
        }
    }
    free(best);
}

/* The best cut of x into stretches, to be freed: start[end] is where the stretch that ends at `end`
 * begins. *tolerance: levels no further apart count as one. */
static size_t *cut_make(const struct sums *sums, const double *x, size_t n, double *tolerance)
{
    size_t *start = xcalloc(n + 1, sizeof *start);
    double noise = noise_of(x, n), middle = statistics_median_alone(x, n);
    cut(sums, n, PENALTY * noise * noise * log((double)n), start);
    *tolerance = fmax(noise, LEVEL_TOLERANCE * fabs(middle));
    return start;
}

static void cut_free(size_t *start, struct sums *sums)
{
    free(sums->values);
    free(sums->squares);
    free(start);
}

size_t statistics_steady_tail(const double *x, size_t n)
{
    if (n < VALUES_MIN)
        return 0;
    double tolerance;
    struct sums sums = sums_make(x, n);
    size_t *start = cut_make(&sums, x, n, &tolerance);
    size_t begin = start[n];
    double level = stretch_mean(&sums, begin, n);
    while (begin > 0 && fabs(stretch_mean(&sums, start[begin], begin) - level) <= tolerance)
        begin = start[begin];
    cut_free(start, &sums);
    return n - begin;
}
