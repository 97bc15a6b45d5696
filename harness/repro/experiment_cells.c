/* experiment_cells.c - what the expectations about a cell need of its samples. See experiment.h. */
#include "harness/repro/experiment.h"

#include <math.h>
#include <string.h>

static bool is_cell(const struct experiment_cell *cell, const char *variant, const char *workload,
                    int64_t workers)
{
    return cell->workers == workers && strcmp(cell->variant, variant) == 0 &&
           strcmp(cell->workload, workload) == 0;
}

/* True if the expectation is about that cell, on one side or the other. */
static bool is_about(const struct experiment_part *part, const struct experiment_expect *expect,
                     const char *variant, const char *workload, int64_t workers)
{
    const char *machine = expect->machine ? expect->machine : "";
    for (unsigned c = 0; c < experiment_columns(part); c++) {
        struct experiment_column at = experiment_column(part, c);
        struct experiment_cell level = experiment_cell(part, expect->level_index, at, machine);
        struct experiment_cell over = experiment_cell(part, expect->over_index, at, machine);
        if (experiment_expects(part, expect, at, machine) &&
            (is_cell(&level, variant, workload, workers) ||
             (expect->over && is_cell(&over, variant, workload, workers))))
            return true;
    }
    return false;
}

bool experiment_is_exact_of(const struct experiment_part *part, const char *variant,
                            const char *workload, int64_t workers)
{
    for (unsigned e = 0; e < part->expect_count; e++) {
        const struct experiment_expect *expect = &part->expect[e];
        if (!(expect->exactly && !expect->over) &&
            is_about(part, expect, variant, workload, workers))
            return false;
    }
    return true;
}

/* Width --------------------------------------------------------------------------------------- */

/* Resolutions for ranges that do not state one are within these. Latencies and counts scatter more
 * than throughputs, and effects on them are larger. */
static const double FINEST = 0.02;
static const double COARSEST[] = {
    [METRIC_THROUGHPUT] = 0.1, [METRIC_LATENCY] = 0.2, [METRIC_EVENT] = 0.25};

/* Half the width of a 95 % interval, in standard errors; and the distance from an end of a range
 * that is found on its side with power 0.9. */
static const double INTERVAL_ERRORS = 1.96, POWER_ERRORS = 1.96 + 1.28;

/* How far from an end of its range, by a factor of 1 + that, the truth has to be told from it; 0 of
 * exact values and texts. */
static double resolution_of(const struct experiment_expect *expect)
{
    double lo = expect->lo, hi = expect->hi, coarsest = COARSEST[expect->measured.kind];
    double scale = coarsest;
    if (expect->is_order || expect->exactly)
        return 0;
    if (expect->resolution > 0)
        return expect->resolution;
    if (isfinite(lo) && isfinite(hi) && lo > 0)
        scale = log(hi / lo) / 4; /* what lies in the middle is told from both ends */
    else if (expect->over && isfinite(lo) && lo > 0 && lo != 1)
        scale = fabs(log(lo)) / 2; /* a ratio of 1 is told from the least effect that matters */
    else if (expect->over && isfinite(hi) && hi > 0 && hi != 1)
        scale = fabs(log(hi)) / 2;
    return fmin(fmax(scale, FINEST), coarsest);
}

/* Narrows what is there of that metric, or adds it. */
static void width_add(struct cell_width widths[CELL_WIDTHS], const struct metric *metric,
                      double percent)
{
    size_t i = 0;
    while (i < CELL_WIDTHS && widths[i].percent > 0 &&
           strcmp(metric_name(&widths[i].metric), metric_name(metric)) != 0)
        i++;
    if (i < CELL_WIDTHS && (widths[i].percent == 0 || percent < widths[i].percent))
        widths[i] = (struct cell_width){*metric, percent};
}

void experiment_widths_add(const struct experiment_part *part, const char *variant,
                           const char *workload, int64_t workers,
                           struct cell_width widths[CELL_WIDTHS])
{
    for (unsigned e = 0; e < part->expect_count; e++) {
        const struct experiment_expect *expect = &part->expect[e];
        double resolution = resolution_of(expect);
        if (expect->role != ROLE_CLAIM || resolution == 0 ||
            !is_about(part, expect, variant, workload, workers))
            continue;
        /* The errors of a ratio's sides add up as squares. */
        double half = resolution * INTERVAL_ERRORS / POWER_ERRORS / (expect->over ? sqrt(2) : 1);
        width_add(widths, &expect->measured, 100 * 2 * half);
    }
}
