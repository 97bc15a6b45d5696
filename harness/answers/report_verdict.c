/* report_verdict.c - see report_verdict.h. */
#include "harness/answers/report_verdict.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/numbers/units.h"
#include "harness/records/records.h"
#include "harness/spec/peer_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SIZE = 1024 };

static double *numbers_make(size_t count)
{
    return xcalloc(count + 1, sizeof(double));
}

/* One that competes, with its samples of the class that all are compared in. */
struct runner {
    const struct report_cell *cell;
    const double *x;
    size_t n;
    double median;
};

/* The runners of one workload, the highest median first. */
struct field {
    struct runner *runners;
    size_t count;
    struct class_choice choice;
};

static int faster_first(const void *a_void, const void *b_void)
{
    const struct runner *a = a_void, *b = b_void;
    return (a->median < b->median) - (a->median > b->median);
}

static bool competes(const struct report_cell *cell, const char *workload, int workers)
{
    return cell->workers == workers && report_cell_ok(cell) && isfinite(cell->throughput.median) &&
           strcmp(cell->workload, workload) == 0 && !peer_is_floor_name(cell->variant);
}

static struct class_choice choose(const struct field *field)
{
    const struct report_cell **cells = xcalloc(field->count + 1, sizeof *cells);
    for (size_t i = 0; i < field->count; i++)
        cells[i] = field->runners[i].cell;
    struct class_choice choice = report_choose_class(cells, field->count);
    free(cells);
    return choice;
}

static struct field field_make(const struct report_group *group, const char *workload, int workers)
{
    struct field field = {.runners = xcalloc(group->count, sizeof *field.runners)};
    for (size_t i = 0; i < group->count; i++)
        if (competes(&group->cells[i], workload, workers))
            field.runners[field.count++].cell = &group->cells[i];
    field.choice = choose(&field);
    for (size_t i = 0; i < field.count; i++) {
        struct runner *runner = &field.runners[i];
        const struct report_cell *cell = runner->cell;
        runner->x = report_cell_samples(cell, field.choice.chosen, &runner->n);
        bool own = class_within(field.choice.chosen, &cell->counts) == cell->chosen;
        runner->median =
            own ? cell->throughput.median : statistics_median_alone(runner->x, runner->n);
    }
    qsort(field.runners, field.count, sizeof *field.runners, faster_first);
    return field;
}

/* How many tests it takes: each against each other one, none among the unlike. Only those of the
 * best are told, but the samples that are tested have also named it: it might have been any. */
static size_t field_tests(const struct field *field)
{
    return field->choice.unlike ? 0 : field->count * (field->count - 1) / 2;
}

/* The p of each test of a field, and the least that so many samples could give; the best against
 * each other one first. All fields of a group stand together, so that Holm's correction sees them
 * together. */
struct tests {
    double *p, *least;
    size_t count;
};

static void tests_add(struct tests *tests, const struct field *field)
{
    for (size_t i = 0; i < field->count && !field->choice.unlike; i++) {
        const struct runner *a = &field->runners[i];
        for (size_t k = i + 1; k < field->count; k++) {
            const struct runner *b = &field->runners[k];
            tests->p[tests->count] = statistics_mann_whitney(a->x, a->n, b->x, b->n);
            tests->least[tests->count++] = statistics_mann_whitney_least(a->n, b->n);
        }
    }
}

/* The regimes of a runner; without two of them both medians are that of all. */
static struct verdict_regimes regimes_of(const struct runner *runner)
{
    struct verdict_regimes regimes = {.cell = runner->cell};
    if (!statistics_regimes(runner->x, runner->n, &regimes.of)) {
        regimes.cell = NULL;
        regimes.of.low_median = regimes.of.high_median = runner->median;
    }
    return regimes;
}

/* True, and the regimes that decide, if the best would not lead had the others been met. */
static bool is_open(const struct runner *best, const struct runner *other,
                    struct verdict_regimes *regimes)
{
    struct verdict_regimes of_best = regimes_of(best), of_other = regimes_of(other);
    bool of_other_alone = !of_best.cell || of_best.of.low_median > other->median;
    *regimes = of_other_alone && of_other.cell ? of_other : of_best;
    return regimes->cell && of_best.of.low_median <= of_other.of.high_median;
}

/* Parts the others of the field into those that its first is shown to be faster than, those that it
 * is faster than in one regime, and those that it is not. p is of the second and so on. A higher
 * median with as many pairs that speak against it shows nothing. */
static void part(struct verdict *verdict, const struct field *field, const double *p)
{
    const struct runner *best = &field->runners[0];
    for (size_t i = 1; i < field->count; i++) {
        const struct runner *other = &field->runners[i];
        struct verdict_regimes regimes;
        double superiority = statistics_superiority(best->x, best->n, other->x, other->n);
        if (!(p[i - 1] < VERDICT_ALPHA) || superiority <= 0.5) {
            verdict->tied[verdict->tied_count++] = other->cell;
        } else if (is_open(best, other, &regimes)) {
            verdict->regimes = verdict->open_count == 0 ? regimes : verdict->regimes;
            verdict->open[verdict->open_count++] = other->cell;
        } else {
            verdict->slower[verdict->slower_count++] =
                (struct verdict_slower){other->cell, statistics_ratio(best->x, best->n, other->x,
                                                                      other->n, STATISTICS_SEED)};
        }
    }
}

static bool too_few(const struct field *field, const double *least)
{
    bool few = field->runners[0].n < VERDICT_SAMPLES_MIN;
    for (size_t i = 1; i < field->count; i++)
        few = few || field->runners[i].n < VERDICT_SAMPLES_MIN || !(least[i - 1] < VERDICT_ALPHA);
    return few;
}

/* The parts of a verdict that are known before the tests are adjusted. */
static struct verdict verdict_begin(const struct field *field, const char *workload, int workers)
{
    struct verdict verdict = {.outcome = VERDICT_NONE,
                              .workload = workload,
                              .workers = workers,
                              .competitors = field->count,
                              .chosen = field->choice.chosen,
                              .over_next = {NAN, NAN, NAN, 0},
                              .superiority = NAN,
                              .p = NAN};
    verdict.tied = xcalloc(field->count + 1, sizeof *verdict.tied);
    verdict.slower = xcalloc(field->count + 1, sizeof *verdict.slower);
    verdict.open = xcalloc(field->count + 1, sizeof *verdict.open);
    if (field->choice.unlike) {
        verdict.outcome = VERDICT_UNLIKE;
        for (size_t i = 0; i < field->count; i++)
            verdict.tied[verdict.tied_count++] = field->runners[i].cell;
        return verdict;
    }
    verdict.best = field->count > 0 ? field->runners[0].cell : NULL;
    verdict.next = field->count > 1 ? field->runners[1].cell : NULL;
    return verdict;
}

/* p and least are adjusted, and of this field. */
static void verdict_decide(struct verdict *verdict, const struct field *field, const double *p,
                           const double *least)
{
    if (!verdict->next)
        return;
    const struct runner *best = &field->runners[0], *next = &field->runners[1];
    verdict->over_next = statistics_ratio(best->x, best->n, next->x, next->n, STATISTICS_SEED);
    verdict->superiority = statistics_superiority(best->x, best->n, next->x, next->n);
    verdict->p = p[0];
    part(verdict, field, p);
    verdict->outcome = too_few(field, least)     ? VERDICT_FEW
                       : verdict->open_count > 0 ? VERDICT_OPEN
                       : verdict->tied_count > 0 ? VERDICT_TIED
                                                 : VERDICT_WON;
}

/* Adjusts the tests of all fields together, and decides. */
static void verdicts_decide(struct verdict *verdicts, const struct field *fields, size_t count,
                            struct tests *tests)
{
    size_t test = 0;
    statistics_holm(tests->p, tests->count);
    statistics_holm(tests->least, tests->count);
    for (size_t i = 0; i < count; i++) {
        verdict_decide(&verdicts[i], &fields[i], tests->p + test, tests->least + test);
        test += field_tests(&fields[i]);
    }
}

struct verdict *verdicts_make(const struct report_group *group, size_t *count)
{
    struct verdict *verdicts = xcalloc(group->count + 1, sizeof *verdicts);
    struct field *fields = xcalloc(group->count + 1, sizeof *fields);
    struct report_span span = {0};
    size_t pairs = 0;
    *count = 0;
    while (report_next_workload(group, &span)) {
        int workers = report_workers_max(group, span.workload);
        struct field *field = &fields[*count];
        *field = field_make(group, span.workload, workers);
        verdicts[(*count)++] = verdict_begin(field, span.workload, workers);
        pairs += field_tests(field);
    }
    struct tests tests = {numbers_make(pairs), numbers_make(pairs), 0};
    for (size_t i = 0; i < *count; i++)
        tests_add(&tests, &fields[i]);
    verdicts_decide(verdicts, fields, *count, &tests);
    for (size_t i = 0; i < *count; i++)
        free(fields[i].runners);
    free(fields);
    free(tests.p);
    free(tests.least);
    return verdicts;
}

void verdicts_free(struct verdict *verdicts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(verdicts[i].tied);
        free(verdicts[i].slower);
        free(verdicts[i].open);
    }
    free(verdicts);
}

/* Beside the baseline ------------------------------------------------------------------------- */

static const char *place_key(const struct report_cell *cell, int workers, char key[KEY_SIZE])
{
    snprintf(key, KEY_SIZE, "%d %s", workers, cell->workload);
    return key;
}

/* The baseline of each cell, or NULL, on its workload; to be freed. */
static const struct report_cell **baselines_of(const struct report_group *group)
{
    char key[KEY_SIZE];
    const struct report_cell **bases = xcalloc(group->count + 1, sizeof(struct report_cell *));
    json_t *index = json_object(); /* place_key() -> number of the baseline's cell */
    for (size_t i = group->baseline ? group->count : 0; i-- > 0;)
        if (strcmp(group->cells[i].variant, group->baseline) == 0)
            json_object_set_new(index, place_key(&group->cells[i], group->cells[i].workers, key),
                                json_integer((json_int_t)i));
    for (size_t i = 0; i < group->count; i++) {
        int workers = group->baseline_workers ? group->baseline_workers : group->cells[i].workers;
        const json_t *number = json_object_get(index, place_key(&group->cells[i], workers, key));
        bases[i] = number ? &group->cells[json_integer_value(number)] : NULL;
    }
    json_decref(index);
    return bases;
}

/* The samples of a cell and of its baseline of the class in which both are compared. */
struct beside {
    const double *x, *y;
    size_t n, m;
};

static struct beside beside_make(const struct report_cell *cell, const struct report_cell *base)
{
    struct beside beside;
    beside.x = report_cell_samples(cell, cell->beside.chosen, &beside.n);
    beside.y = report_cell_samples(base, cell->beside.chosen, &beside.m);
    return beside;
}

static const char *shown_of(const struct report_cell *cell, const struct report_cell *base,
                            double p, double least)
{
    struct beside both = beside_make(cell, base);
    double superiority = statistics_superiority(both.x, both.n, both.y, both.m);
    if (both.n < VERDICT_SAMPLES_MIN || both.m < VERDICT_SAMPLES_MIN)
        return "few";
    if (cell == base)
        return "none";
    if (!(least < VERDICT_ALPHA))
        return "few";
    if (!(p < VERDICT_ALPHA)) /* without an overlap only more samples could show more */
        return superiority == 0 || superiority == 1 ? "few" : "none";
    if (superiority == 0.5)
        return "none";
    return superiority > 0.5 ? "faster" : "slower";
}

/* Holm's correction over the cells of each count of workers by themselves: figures and answers show
 * one count, and the tests of another must not cost these their power. */
static void holm_by_workers(const struct report_group *group, double *p)
{
    double *family = numbers_make(group->count);
    json_t *done = json_object();
    for (size_t i = 0; i < group->count; i++) {
        char workers[32];
        snprintf(workers, sizeof workers, "%d", group->cells[i].workers);
        if (json_object_get(done, workers))
            continue;
        json_object_set_new(done, workers, json_true());
        for (size_t k = 0; k < group->count; k++)
            family[k] = group->cells[k].workers == group->cells[i].workers ? p[k] : NAN;
        statistics_holm(family, group->count);
        for (size_t k = 0; k < group->count; k++)
            p[k] = isnan(family[k]) ? p[k] : family[k];
    }
    json_decref(done);
    free(family);
}

/* Tests each cell against its baseline; NAN where there is nothing to test. */
static void baseline_tests(const struct report_group *group, const struct report_cell **bases,
                           double *p, double *least)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct report_cell *cell = &group->cells[i], *base = bases[i];
        p[i] = least[i] = NAN;
        if (!base || base == cell || !report_cell_ok(cell) || !report_cell_ok(base) ||
            cell->beside.unlike)
            continue;
        struct beside both = beside_make(cell, base);
        p[i] = statistics_mann_whitney(both.x, both.n, both.y, both.m);
        least[i] = statistics_mann_whitney_least(both.n, both.m);
    }
    holm_by_workers(group, p);
    holm_by_workers(group, least);
}

const char **verdicts_over_baseline(const struct report_group *group)
{
    const char **shown = xcalloc(group->count + 1, sizeof *shown);
    double *p = numbers_make(group->count), *least = numbers_make(group->count);
    const struct report_cell **bases = baselines_of(group);
    baseline_tests(group, bases, p, least);
    for (size_t i = 0; i < group->count; i++) {
        const struct report_cell *cell = &group->cells[i], *base = bases[i];
        if (!base || !report_cell_ok(cell))
            continue;
        if (cell->beside.unlike)
            shown[i] = "distances";
        else if (isfinite(cell->to_baseline.median))
            shown[i] = shown_of(cell, base, p[i], least[i]);
    }
    free(bases);
    free(p);
    free(least);
    return shown;
}

/* Latencies ----------------------------------------------------------------------------------- */

/* Puts the tails in the place of the cell's throughputs, class by class. */
static void tail_make(struct report_cell *cell, const json_t *records,
                      const struct comparable *classes, double quantile)
{
    cell->counts = (struct class_counts){0};
    for (enum cell_class which = CLASS_ALL; which < CLASSES; which++) {
        cell->of_class[which] = numbers_make(json_array_size(records));
        cell->of_class_count[which] = 0;
    }
    cell->to_baseline = (struct interval){NAN, NAN, NAN, 0};
    json_each(record, records) {
        bool ok = report_cell_ok(cell) && record_is(record, "ok");
        double ns = ok ? record_latency_ns(record, quantile) : NAN;
        if (ns > 0)
            report_cell_add_sample(cell, 1 / ns, comparable_distance(classes, record),
                                   comparable_is_marked(record));
    }
    report_cell_choose(cell, cell->chosen);
    cell->throughput = statistics_median(cell->samples, cell->samples_count, STATISTICS_SEED);
}

struct report_group report_tails_make(const struct report *report, const struct report_group *group,
                                      double quantile)
{
    struct report_group tails = *group;
    struct comparable classes;
    comparable_learn(&classes, report->records);
    tails.cells = xcalloc(group->count + 1, sizeof *tails.cells);
    json_t *by_cell = fields_group(report->records, "cell");
    for (size_t i = 0; i < group->count; i++) {
        tails.cells[i] = group->cells[i];
        tail_make(&tails.cells[i], json_object_get(by_cell, tails.cells[i].id), &classes, quantile);
    }
    json_decref(by_cell);
    return tails;
}

void report_tails_free(struct report_group *tails)
{
    for (size_t i = 0; i < tails->count; i++)
        for (int which = 0; which < CLASSES; which++)
            free(tails->cells[i].of_class[which]);
    free(tails->cells);
    tails->cells = NULL;
}

/* JSON ---------------------------------------------------------------------------------------- */

static json_t *variants_to_json(const struct report_cell *const *cells, size_t count)
{
    json_t *variants = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(variants, json_string(cells[i]->variant));
    return variants;
}

void verdict_lists_into_json(json_t *object, const struct verdict *verdict)
{
    json_t *slower = json_array();
    for (size_t i = 0; i < verdict->slower_count; i++) {
        json_t *one = ratio_to_json(verdict->slower[i].times);
        json_object_set_new(one, "variant", json_string(verdict->slower[i].cell->variant));
        json_array_append_new(slower, one);
    }
    json_object_set_new(object, "tied", variants_to_json(verdict->tied, verdict->tied_count));
    if (verdict->open_count > 0)
        json_object_set_new(object, "open", variants_to_json(verdict->open, verdict->open_count));
    json_object_set_new(object, "slower", slower);
}
