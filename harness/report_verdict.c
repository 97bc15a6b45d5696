/* report_verdict.c - see report_verdict.h. */
#include "harness/report_verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t BOOTSTRAP_SEED = 1;

static int faster_first(const void *a_void, const void *b_void)
{
    const struct report_cell *const *a = a_void, *const *b = b_void;
    double x = (*a)->throughput.median, y = (*b)->throughput.median;
    return (x < y) - (x > y);
}

static bool competes(const struct report_cell *cell, const char *workload, int workers)
{
    return cell->workers == workers && report_cell_ok(cell) && isfinite(cell->throughput.median) &&
           strcmp(cell->workload, workload) == 0 && strcmp(cell->variant, "serial") != 0;
}

/* Of a field with the highest median first. */
static enum verdict_outcome field_outcome(const struct report_cell *const *field, size_t count)
{
    enum verdict_outcome outcome = count < 2 ? VERDICT_NONE : VERDICT_WON;
    for (size_t i = 1; i < count; i++) {
        if (field[i]->samples_count < VERDICT_SAMPLES_MIN ||
            field[0]->samples_count < VERDICT_SAMPLES_MIN)
            return VERDICT_FEW;
        if (field[i]->throughput.hi >= field[0]->throughput.lo)
            outcome = VERDICT_TIED;
    }
    return outcome;
}

/* The field without its first, and without those whose intervals do not reach the first one's. */
static size_t keep_tied(const struct report_cell **field, size_t count)
{
    const struct report_cell *best = field[0];
    size_t kept = 0;
    for (size_t i = 1; i < count; i++)
        if (field[i]->throughput.hi >= best->throughput.lo)
            field[kept++] = field[i];
    return kept;
}

static struct verdict verdict_make(const struct report_group *group, const char *workload)
{
    struct verdict verdict = {.workload = workload,
                              .workers = report_workers_max(group, workload),
                              .over_next = {NAN, NAN, NAN, 0}};
    const struct report_cell **field = calloc(group->count, sizeof *field);
    if (!field)
        abort();
    for (size_t i = 0; i < group->count; i++)
        if (competes(&group->cells[i], workload, verdict.workers))
            field[verdict.competitors++] = &group->cells[i];
    qsort(field, verdict.competitors, sizeof(*field), faster_first);
    verdict.best = verdict.competitors > 0 ? field[0] : NULL;
    verdict.next = verdict.competitors > 1 ? field[1] : NULL;
    if (verdict.competitors > 1)
        verdict.over_next =
            statistics_ratio(verdict.best->samples, verdict.best->samples_count,
                             verdict.next->samples, verdict.next->samples_count, BOOTSTRAP_SEED);
    verdict.outcome = field_outcome(field, verdict.competitors);
    verdict.tied = field;
    if (verdict.competitors > 0)
        verdict.tied_count = keep_tied(field, verdict.competitors);
    return verdict;
}

struct verdict *verdicts_make(const struct report_group *group, size_t *count)
{
    struct verdict *verdicts = calloc(group->count + 1, sizeof *verdicts);
    if (!verdicts)
        abort();
    const char *workload;
    size_t at = 0;
    *count = 0;
    while ((workload = report_next_workload(group, &at)) != NULL)
        verdicts[(*count)++] = verdict_make(group, workload);
    return verdicts;
}

void verdicts_free(struct verdict *verdicts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(verdicts[i].tied);
    free(verdicts);
}
