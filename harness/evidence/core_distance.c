/* core_distance.c - see core_distance.h. The sort is GSL's. */
#include "harness/evidence/core_distance.h"

#include "harness/base/memory.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static const double FACTOR_MIN = 1.5;
enum { ENOUGH = 5 }; /* probes, that one of them alone is no class */

static bool is_time(double ns)
{
    return isfinite(ns) && ns > 0;
}

/* The logarithms of the probes that are times, ascending; free() them. */
static double *logs_make(const double *line_ns, size_t n, size_t *count)
{
    double *logs = xcalloc(n + 1, sizeof *logs);
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (is_time(line_ns[i]))
            logs[(*count)++] = log(line_ns[i]);
    gsl_sort(logs, 1, *count);
    return logs;
}

/* How many values belong to the lower cluster. Minimizing the squares within the clusters is
 * maximizing sum^2 / count of both. */
static size_t split(const double *logs, size_t count, double *low, double *high)
{
    double total = 0, sum = 0, best = -INFINITY;
    size_t best_size = 0;
    for (size_t i = 0; i < count; i++)
        total += logs[i];
    for (size_t size = 1; size < count; size++) {
        double rest = (double)(count - size);
        sum += logs[size - 1];
        double score = sum * sum / (double)size + (total - sum) * (total - sum) / rest;
        if (score <= best)
            continue;
        best = score;
        best_size = size;
        *low = sum / (double)size;
        *high = (total - sum) / rest;
    }
    return best_size;
}

static double mean(const double *logs, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += logs[i];
    return count > 0 ? sum / (double)count : NAN;
}

void core_distances_learn(struct core_distances *distances, const double *line_ns, size_t n)
{
    size_t count, first = 0, end, near;
    double *logs = logs_make(line_ns, n, &count), low = 0, high = 0;
    *distances = (struct core_distances){.threshold_ns = NAN, .near_ns = NAN, .far_ns = NAN};
    distances->count[DISTANCE_NONE] = n - count;
    for (end = count; (near = split(logs + first, end - first, &low, &high)) > 0;) {
        if (high - low < log(FACTOR_MIN)) {
            near = 0;
            break;
        }
        if (end - first < ENOUGH || (near > 1 && near < end - first - 1))
            break;
        first += near == 1;
        end -= near != 1;
    }
    distances->near_ns = exp(near > 0 ? low : mean(logs + first, end - first));
    if (near > 0) {
        distances->far_ns = exp(high);
        distances->threshold_ns = exp((low + high) / 2);
    }
    for (size_t i = 0; i < count; i++)
        distances->count[near > 0 && logs[i] >= (low + high) / 2 ? DISTANCE_FAR : DISTANCE_NEAR]++;
    free(logs);
}

static enum core_distance distance_of_one(const struct core_distances *distances, double ns)
{
    if (!is_time(ns))
        return DISTANCE_NONE;
    /* Without a threshold no time lies beyond it. */
    return ns >= distances->threshold_ns ? DISTANCE_FAR : DISTANCE_NEAR;
}

enum core_distance core_distance_of(const struct core_distances *distances, double before_ns,
                                    double after_ns)
{
    enum core_distance before = distance_of_one(distances, before_ns),
                       after = distance_of_one(distances, after_ns);
    if (before == DISTANCE_NONE)
        return after;
    if (after == DISTANCE_NONE || after == before)
        return before;
    return DISTANCE_MIXED;
}

enum core_distance core_distance_common(size_t near, size_t far)
{
    return far > near ? DISTANCE_FAR : near > 0 ? DISTANCE_NEAR : DISTANCE_NONE;
}

const char *core_distance_text(enum core_distance distance)
{
    static const char *const texts[] = {"-", "near", "far", "mixed"};
    return texts[distance];
}
