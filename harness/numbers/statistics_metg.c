/* statistics_metg.c - see statistics.h: the smallest task at which a scheduler is still efficient.
 */
#include "harness/numbers/statistics.h"

#include "harness/base/memory.h"

#include <math.h>
#include <stdlib.h>

static int larger_first(const void *a_void, const void *b_void)
{
    const struct metg_point *a = a_void, *b = b_void;
    return (a->task_ns < b->task_ns) - (a->task_ns > b->task_ns);
}

static double interpolate(const struct metg_point *large, const struct metg_point *small,
                          double share)
{
    double part = (large->efficiency - share) / (large->efficiency - small->efficiency);
    return exp(log(large->task_ns) + part * (log(small->task_ns) - log(large->task_ns)));
}

double statistics_metg(const struct metg_point *points, size_t n, double share,
                       enum metg_where *where)
{
    struct metg_point *sorted = xcalloc(n + 1, sizeof *sorted);
    size_t count = 0, i = 0;
    double metg = NAN;
    for (size_t k = 0; k < n; k++)
        if (isfinite(points[k].task_ns) && points[k].task_ns > 0 && isfinite(points[k].efficiency))
            sorted[count++] = points[k];
    qsort(sorted, count, sizeof *sorted, larger_first);
    while (i < count && sorted[i].efficiency >= share)
        i++;
    *where = METG_BETWEEN;
    if (count == 0)
        *where = METG_NONE;
    else if (i == 0)
        *where = METG_ABOVE;
    else if (i == count && sorted[i - 1].efficiency == share)
        metg = sorted[i - 1].task_ns;
    else if (i == count)
        *where = METG_BELOW;
    else
        metg = interpolate(&sorted[i - 1], &sorted[i], share);
    free(sorted);
    return metg;
}
