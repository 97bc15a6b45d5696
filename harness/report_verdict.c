/* report_verdict.c - see report_verdict.h. */
#include "harness/report_verdict.h"

#include "harness/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t BOOTSTRAP_SEED = 1;

static double *numbers_make(size_t count)
{
    double *numbers = calloc(count + 1, sizeof *numbers);
    if (!numbers)
        abort();
    return numbers;
}

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

/* Beside the baseline ------------------------------------------------------------------------- */

static const struct report_cell *baseline_of(const struct report_group *group,
                                             const struct report_cell *cell)
{
    return group->baseline ? report_cell_find(group, group->baseline, cell->workload, cell->workers)
                           : NULL;
}

static const char *shown_of(const struct report_cell *cell, const struct report_cell *base,
                            double p, double least)
{
    size_t n = cell->samples_count, m = base->samples_count;
    double superiority = statistics_superiority(cell->samples, n, base->samples, m);
    if (n < VERDICT_SAMPLES_MIN || m < VERDICT_SAMPLES_MIN)
        return "few";
    if (cell == base)
        return "none";
    if (!(least < VERDICT_ALPHA))
        return "few";
    if (!(p < VERDICT_ALPHA) || superiority == 0.5)
        return "none";
    return superiority > 0.5 ? "faster" : "slower";
}

const char **verdicts_over_baseline(const struct report_group *group)
{
    const char **shown = calloc(group->count + 1, sizeof *shown);
    double *p = numbers_make(group->count), *least = numbers_make(group->count);
    if (!shown)
        abort();
    for (size_t i = 0; i < group->count; i++) {
        const struct report_cell *cell = &group->cells[i], *base = baseline_of(group, cell);
        p[i] = least[i] = NAN;
        if (!base || base == cell || !report_cell_ok(cell) || !report_cell_ok(base))
            continue;
        size_t n = cell->samples_count, m = base->samples_count;
        p[i] = statistics_mann_whitney(cell->samples, n, base->samples, m);
        least[i] = statistics_mann_whitney_least(n, m);
    }
    statistics_holm(p, group->count);
    statistics_holm(least, group->count);
    for (size_t i = 0; i < group->count; i++) {
        const struct report_cell *cell = &group->cells[i], *base = baseline_of(group, cell);
        if (base && report_cell_ok(cell) && isfinite(cell->to_baseline.median))
            shown[i] = shown_of(cell, base, p[i], least[i]);
    }
    free(p);
    free(least);
    return shown;
}

/* Latencies ----------------------------------------------------------------------------------- */

/* Whether the record is one of those behind the cell's numbers. */
static bool record_counts(const struct classes *classes, const json_t *record,
                          const struct report_cell *cell)
{
    return record_is(record, "ok") && strcmp(record_text(record, "cell"), cell->id) == 0 &&
           class_holds(cell->chosen, classes_mood(classes, record), classes_is_marked(record));
}

static void tail_make(struct report_cell *cell, const json_t *records,
                      const struct classes *classes, double quantile)
{
    size_t i;
    const json_t *record;
    cell->samples = numbers_make(json_array_size(records));
    cell->samples_count = 0;
    cell->to_baseline = (struct interval){NAN, NAN, NAN, 0};
    json_array_foreach(records, i, record)
    {
        double ns = report_cell_ok(cell) && record_counts(classes, record, cell)
                        ? record_latency_ns(record, quantile)
                        : NAN;
        if (ns > 0)
            cell->samples[cell->samples_count++] = 1 / ns;
    }
    cell->throughput = statistics_median(cell->samples, cell->samples_count, BOOTSTRAP_SEED);
}

struct report_group report_tails_make(const struct report *report, const struct report_group *group,
                                      double quantile)
{
    struct report_group tails = *group;
    struct classes classes;
    classes_learn(&classes, report->records);
    tails.cells = calloc(group->count + 1, sizeof *tails.cells);
    if (!tails.cells)
        abort();
    for (size_t i = 0; i < group->count; i++) {
        tails.cells[i] = group->cells[i];
        tail_make(&tails.cells[i], report->records, &classes, quantile);
    }
    return tails;
}

void report_tails_free(struct report_group *tails)
{
    for (size_t i = 0; i < tails->count; i++)
        free(tails->cells[i].samples);
    free(tails->cells);
    tails->cells = NULL;
}
