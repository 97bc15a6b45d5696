/* statistics_regimes.c - samples of two regimes. See statistics.h. */
#include "harness/base/memory.h"
#include "harness/numbers/statistics.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The gap between two regimes is so many times as wide as both of them together. */
static const double GAP_MIN = 2.5;

/* Regimes whose medians are nearer to each other than by this factor are of no interest. */
static const double FACTOR_MIN = 1.15;

/* A lone sample is an outlier and no regime. */
enum { SAMPLES_MIN = 2 };

/* Where the sorted values part: the index of the first one of the upper regime; 0: nowhere. */
static size_t parting_of(const double *x, size_t n)
{
    size_t found = 0;
    double widest = GAP_MIN;
    for (size_t k = SAMPLES_MIN; k + SAMPLES_MIN <= n; k++) {
        double gap = log(x[k] / x[k - 1]);
        double inside = log(x[k - 1] / x[0]) + log(x[n - 1] / x[k]);
        if (gap > widest * inside && gap > 0) {
            widest = inside > 0 ? gap / inside : INFINITY;
            found = k;
        }
    }
    return found;
}

bool statistics_regimes(const double *x, size_t n, struct regimes *regimes)
{
    *regimes = (struct regimes){.low = 0};
    if (n < STATISTICS_INTERVAL_MIN)
        return false;
    double *sorted = xcalloc(n, sizeof *sorted);
    memcpy(sorted, x, n * sizeof *sorted);
    gsl_sort(sorted, 1, n);
    size_t k = sorted[0] > 0 ? parting_of(sorted, n) : 0;
    bool found = false;
    if (k > 0) {
        *regimes = (struct regimes){
            .low = k,
            .high = n - k,
            .low_median = statistics_median_alone(sorted, k),
            .high_median = statistics_median_alone(sorted + k, n - k),
            .border = sqrt(sorted[k - 1] * sorted[k]),
        };
        found = regimes->high_median >= FACTOR_MIN * regimes->low_median;
    }
    free(sorted);
    return found;
}
