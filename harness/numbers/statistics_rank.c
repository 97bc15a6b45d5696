/* statistics_rank.c - see statistics.h: differences between two sets of samples, by ranks. The sort
 * and the normal distribution are GSL's.
 */
#include "harness/numbers/statistics.h"

#include "harness/base/memory.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counting all assignments of ranks grows with the fourth power of it, and beyond it the normal
 * approximation is good to three digits. */
enum { EXACT_MAX = 50 };

/* U ------------------------------------------------------------------------------------------- */

/* U of x: over all pairs, how often x is larger, ties counting one half. ties: the sum of t^3 - t
 * over groups of t equal values, 0 if there are none. */
static double u_statistic(const double *x, size_t nx, const double *y, size_t ny, double *ties)
{
    size_t n = nx + ny;
    double *all = xcalloc(n, sizeof *all), ranks = 0;
    size_t *order = xcalloc(n, sizeof *order);
    memcpy(all, x, nx * sizeof *x);
    memcpy(all + nx, y, ny * sizeof *y);
    gsl_sort_index(order, all, 1, n);
    *ties = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && all[order[end]] == all[order[i]];)
            end++;
        double same = (double)(end - i), rank = (double)(i + 1 + end) / 2;
        *ties += same * same * same - same;
        for (size_t k = i; k < end; k++)
            ranks += order[k] < nx ? rank : 0;
    }
    free(order);
    free(all);
    return ranks - (double)nx * ((double)nx + 1) / 2;
}

/* The probability that U <= u where all assignments of nx + ny ranks are equally likely. With i
 * values of x and j of y, the largest of all is one of x, which then exceeds all j of y, or it is
 * one of y:
 *
 *     ways(i, j, u) = ways(i - 1, j, u - j) + ways(i, j - 1, u)
 *
 * Kept as probabilities, which needs no large numbers: the largest is one of x in i of i + j cases.
 */
static double u_probability(size_t nx, size_t ny, size_t u)
{
    size_t width = nx * ny + 1;
    /* Row j of the previous and of this i. */
    double *before = xcalloc((ny + 1) * width, sizeof *before);
    double *now = xcalloc((ny + 1) * width, sizeof *now);
    for (size_t j = 0; j <= ny; j++)
        before[j * width] = 1; /* none of x: U is 0 */
    for (size_t i = 1; i <= nx; i++) {
        memset(now, 0, (ny + 1) * width * sizeof *now);
        now[0] = 1;
        for (size_t j = 1; j <= ny; j++) {
            double share = (double)i / (double)(i + j);
            for (size_t k = 0; k <= i * j; k++)
                now[j * width + k] = (k >= j ? share * before[j * width + k - j] : 0) +
                                     (1 - share) * now[(j - 1) * width + k];
        }
        double *swap = before;
        before = now;
        now = swap;
    }
    double sum = 0;
    for (size_t k = 0; k <= u; k++)
        sum += before[ny * width + k];
    free(before);
    free(now);
    return sum;
}

/* u is the smaller of the two sides' U. */
static double u_exact(size_t nx, size_t ny, double u)
{
    return fmin(1, 2 * u_probability(nx, ny, (size_t)u));
}

static double u_normal(double nx, double ny, double u, double ties)
{
    double n = nx + ny;
    double variance = nx * ny / 12 * (n + 1 - ties / (n * (n - 1)));
    double distance = fmax(0, nx * ny / 2 - u - 0.5);
    return variance > 0 ? 2 * gsl_cdf_ugaussian_Q(distance / sqrt(variance)) : 1;
}

double statistics_mann_whitney(const double *x, size_t nx, const double *y, size_t ny)
{
    if (nx == 0 || ny == 0)
        return NAN;
    double ties, u = u_statistic(x, nx, y, ny, &ties);
    u = fmin(u, (double)nx * (double)ny - u);
    if (ties == 0 && nx + ny <= EXACT_MAX)
        return u_exact(nx, ny, u);
    return fmin(1, u_normal((double)nx, (double)ny, u, ties));
}

double statistics_mann_whitney_least(size_t nx, size_t ny)
{
    if (nx == 0 || ny == 0)
        return NAN;
    if (nx + ny <= EXACT_MAX)
        return u_exact(nx, ny, 0);
    return u_normal((double)nx, (double)ny, 0, 0);
}

double statistics_superiority(const double *x, size_t nx, const double *y, size_t ny)
{
    if (nx == 0 || ny == 0)
        return NAN;
    double ties;
    return u_statistic(x, nx, y, ny, &ties) / ((double)nx * (double)ny);
}

/* Many tests ---------------------------------------------------------------------------------- */

void statistics_holm(double *p, size_t n)
{
    double *known = xcalloc(n, sizeof *known);
    size_t *place = xcalloc(n, sizeof *place), *order = xcalloc(n, sizeof *order), count = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(p[i]))
            continue;
        known[count] = p[i];
        place[count++] = i;
    }
    if (count > 0)
        gsl_sort_index(order, known, 1, count);
    double least = 0;
    for (size_t i = 0; i < count; i++) {
        least = fmin(1, fmax(least, known[order[i]] * (double)(count - i)));
        p[place[order[i]]] = least;
    }
    free(order);
    free(place);
    free(known);
}
