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

/* Best against each other one of its field: the p of the test, and the least that so many samples
 * could give. Of all fields of a group together, so that Holm's correction sees them together. */
struct tests {
    double *p, *least;
    size_t count;
};

static void tests_add(struct tests *tests, const struct report_cell *best,
                      const struct report_cell *other)
{
    size_t n = best->samples_count, m = other->samples_count;
    tests->p[tests->count] = statistics_mann_whitney(best->samples, n, other->samples, m);
    tests->least[tests->count++] = statistics_mann_whitney_least(n, m);
}

/* The field without its first and without those that the first is shown to be faster than. p is of
 * the second and so on. A higher median with as many pairs that speak against it shows nothing. */
static size_t keep_tied(const struct report_cell **field, size_t count, const double *p)
{
    const struct report_cell *best = field[0];
    size_t kept = 0;
    for (size_t i = 1; i < count; i++) {
        double superiority = statistics_superiority(best->samples, best->samples_count,
                                                    field[i]->samples, field[i]->samples_count);
        if (!(p[i - 1] < VERDICT_ALPHA) || superiority <= 0.5)
            field[kept++] = field[i];
    }
    return kept;
}

static bool too_few(const struct report_cell *const *field, size_t count, const double *least)
{
    bool few = field[0]->samples_count < VERDICT_SAMPLES_MIN;
    for (size_t i = 1; i < count; i++)
        few =
            few || field[i]->samples_count < VERDICT_SAMPLES_MIN || !(least[i - 1] < VERDICT_ALPHA);
    return few;
}

/* The field, and its tests; what they say is for verdict_decide(). */
static struct verdict verdict_begin(const struct report_group *group, const char *workload,
                                    struct tests *tests)
{
    struct verdict verdict = {.workload = workload,
                              .workers = report_workers_max(group, workload),
                              .over_next = {NAN, NAN, NAN, 0},
                              .superiority = NAN,
                              .p = NAN};
    const struct report_cell **field = calloc(group->count, sizeof *field);
    if (!field)
        abort();
    for (size_t i = 0; i < group->count; i++)
        if (competes(&group->cells[i], workload, verdict.workers))
            field[verdict.competitors++] = &group->cells[i];
    qsort(field, verdict.competitors, sizeof(*field), faster_first);
    verdict.best = verdict.competitors > 0 ? field[0] : NULL;
    verdict.next = verdict.competitors > 1 ? field[1] : NULL;
    for (size_t i = 1; i < verdict.competitors; i++)
        tests_add(tests, field[0], field[i]);
    verdict.tied = field;
    return verdict;
}

/* p and least are adjusted, and of this field. */
static void verdict_decide(struct verdict *verdict, const double *p, const double *least)
{
    const struct report_cell *best = verdict->best, *next = verdict->next;
    verdict->outcome = VERDICT_NONE;
    if (!next)
        return;
    verdict->over_next = statistics_ratio(best->samples, best->samples_count, next->samples,
                                          next->samples_count, BOOTSTRAP_SEED);
    verdict->superiority = statistics_superiority(best->samples, best->samples_count, next->samples,
                                                  next->samples_count);
    verdict->p = p[0];
    bool few = too_few(verdict->tied, verdict->competitors, least);
    verdict->tied_count = keep_tied(verdict->tied, verdict->competitors, p);
    verdict->outcome = few ? VERDICT_FEW : verdict->tied_count > 0 ? VERDICT_TIED : VERDICT_WON;
}

static double *numbers_make(size_t count)
{
    double *numbers = calloc(count + 1, sizeof *numbers);
    if (!numbers)
        abort();
    return numbers;
}

struct verdict *verdicts_make(const struct report_group *group, size_t *count)
{
    struct verdict *verdicts = calloc(group->count + 1, sizeof *verdicts);
    struct tests tests = {numbers_make(group->count), numbers_make(group->count), 0};
    if (!verdicts)
        abort();
    const char *workload;
    size_t at = 0, test = 0;
    *count = 0;
    while ((workload = report_next_workload(group, &at)) != NULL)
        verdicts[(*count)++] = verdict_begin(group, workload, &tests);
    statistics_holm(tests.p, tests.count);
    statistics_holm(tests.least, tests.count);
    for (size_t i = 0; i < *count; i++) {
        size_t others = verdicts[i].competitors > 0 ? verdicts[i].competitors - 1 : 0;
        verdict_decide(&verdicts[i], tests.p + test, tests.least + test);
        test += others;
    }
    free(tests.p);
    free(tests.least);
    return verdicts;
}

void verdicts_free(struct verdict *verdicts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(verdicts[i].tied);
    free(verdicts);
}
