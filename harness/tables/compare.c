/* compare.c - see compare.h. */
#include "harness/tables/compare.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/evidence/cell_remarks.h"
#include "harness/records/hosts_used.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REMARKS_MAX = 5 };

const char *compare_verdict_text(const struct comparison *comparison, enum compare_verdict verdict)
{
    static const char *const texts[COMPARE_VERDICTS] = {"faster", "slower",    "~",
                                                        "few",    "distances", "none"};
    if (comparison->options.metric.kind == METRIC_EVENT && verdict <= COMPARE_SLOWER)
        return verdict == COMPARE_FASTER ? "lower" : "higher";
    return texts[verdict];
}

/* Core distances ------------------------------------------------------------------------------- */

/* The classes of both sides: learnt together if it is one machine, since then near means the same
 * to both. */
struct side_classes {
    struct comparable a, b;
};

static const json_t *environment_field(const struct compare_side *side, const char *part,
                                       const char *key)
{
    return json_object_get(json_object_get(side->environment, part), key);
}

/* The processors of a side's native samples, also of nodes that its environment does not describe;
 * free() it. */
static char *side_processors(const struct compare_side *side)
{
    json_t *machines = json_object();
    const char *cpu = json_string_value(environment_field(side, "cpu", "model"));
    json_each(record, side->records)
        hosts_used_note(machines, record, cpu ? cpu : "");
    char *text = hosts_used_processors(machines);
    json_decref(machines);
    return text;
}

/* True if a record says where it was measured. */
static bool names_machines(const struct compare_side *side)
{
    json_each(record, side->records)
        if (*field_text(record, "cpu"))
            return true;
    return false;
}

static bool same_processors(const struct compare_side *a, const struct compare_side *b)
{
    char *text_a = side_processors(a), *text_b = side_processors(b);
    bool same = strcmp(text_a, text_b) == 0;
    free(text_a);
    free(text_b);
    return same;
}

static bool same_cpu(const struct compare_side *a, const struct compare_side *b)
{
    if (names_machines(a) || names_machines(b))
        return same_processors(a, b);
    return json_equal(json_object_get(a->environment, "cpu"),
                      json_object_get(b->environment, "cpu")) ||
           json_object_size(a->environment) + json_object_size(b->environment) == 0;
}

static struct side_classes classes_of(const struct compare_side *a, const struct compare_side *b)
{
    struct side_classes classes;
    if (!same_cpu(a, b)) {
        comparable_learn(&classes.a, a->records);
        comparable_learn(&classes.b, b->records);
        return classes;
    }
    json_t *both = json_copy(a->records);
    json_array_extend(both, b->records);
    comparable_learn(&classes.a, both);
    classes.b = classes.a;
    json_decref(both);
    return classes;
}

static struct class_counts counts_of(const struct compare_cell *cell,
                                     const struct comparable *classes)
{
    struct class_counts counts = {0};
    json_each(record, cell->records) {
        if (strcmp(field_text(record, "status"), "ok") == 0)
            class_count_add(&counts, comparable_distance(classes, record),
                            comparable_is_marked(record));
    }
    return counts;
}

/* The class of which the smaller side has the most samples; with distances on one side only, the
 * most common one there. */
static void pair_choose(struct compare_pair *pair, const struct side_classes *classes)
{
    const struct class_counts counts[] = {counts_of(pair->a, &classes->a),
                                          counts_of(pair->b, &classes->b)};
    struct class_choice choice = class_choose(counts, 2, DISTANCE_NONE);
    bool a = class_counts_have_distances(&counts[0]), b = class_counts_have_distances(&counts[1]);
    pair->distances_partial = choice.partial;
    if (choice.partial)
        choice = class_choose(counts, 2, a ? classes->a.common : classes->b.common);
    pair->chosen = choice.chosen;
    pair->class_a = class_within(pair->chosen, &counts[0]);
    pair->class_b = class_within(pair->chosen, &counts[1]);
    pair->distances_mixed = (a || b) && pair->chosen == CLASS_ALL;
    pair->distances_unlike = choice.unlike;
}

/* Pairs ---------------------------------------------------------------------------------------- */

static double *samples_make(const struct compare_cell *cell, const struct comparable *classes,
                            enum cell_class which, const struct metric *metric, size_t *count)
{
    double *samples = xcalloc(json_array_size(cell->records), sizeof *samples);
    *count = 0;
    json_each(record, cell->records) {
        double value = metric_of(metric, record);
        bool is_there = metric->kind == METRIC_EVENT ? isfinite(value) : value > 0;
        if (is_there &&
            class_holds(which, comparable_distance(classes, record), comparable_is_marked(record)))
            samples[(*count)++] = value;
    }
    return samples;
}

static bool cell_is_ok(const struct compare_cell *cell)
{
    return strcmp(cell->status, "ok") == 0;
}

static void pair_explain(struct compare_pair *pair)
{
    const struct compare_cell *bad = cell_is_ok(pair->a) ? pair->b : pair->a;
    json_each(record, bad->records) {
        if (strcmp(field_text(record, "status"), bad->status) != 0)
            continue;
        snprintf(pair->reason, sizeof pair->reason, "%s %s: %s", bad == pair->a ? "A" : "B",
                 bad->status, field_text(record, "reason"));
        return;
    }
}

static void pair_measure(struct compare_pair *pair, const struct side_classes *classes,
                         const struct compare_options *options)
{
    pair->median_a = pair->median_b = pair->superiority = pair->p = pair->p_adjusted = NAN;
    pair->ratio = (struct interval){NAN, NAN, NAN, 0};
    pair->verdict = COMPARE_NONE;
    if (!cell_is_ok(pair->a) || !cell_is_ok(pair->b)) {
        pair_explain(pair);
        return;
    }
    pair_choose(pair, classes);
    pair->samples_a =
        samples_make(pair->a, &classes->a, pair->class_a, &options->metric, &pair->count_a);
    pair->samples_b =
        samples_make(pair->b, &classes->b, pair->class_b, &options->metric, &pair->count_b);
    const double *a = pair->samples_a, *b = pair->samples_b;
    pair->median_a = statistics_median_alone(a, pair->count_a);
    pair->median_b = statistics_median_alone(b, pair->count_b);
    pair->ratio = statistics_ratio(b, pair->count_b, a, pair->count_a, options->seed);
    pair->superiority = statistics_superiority(b, pair->count_b, a, pair->count_a);
    pair->p = pair->p_adjusted = statistics_mann_whitney(b, pair->count_b, a, pair->count_a);
    if (isnan(pair->p)) {
        pair->distances_unlike = false;
        snprintf(pair->reason, sizeof pair->reason, "no sample has a %s",
                 metric_name(&options->metric));
    } else if (pair->distances_unlike) {
        pair->p = pair->p_adjusted = NAN;
        snprintf(pair->reason, sizeof pair->reason,
                 "not comparable: no core distance has %d samples of both", CLASS_MIN);
    }
}

/* least is the adjusted p of sets of these sizes that do not overlap. */
static enum compare_verdict pair_judge(const struct compare_pair *pair, double least,
                                       const struct compare_options *options)
{
    if (isnan(pair->p))
        return pair->distances_unlike ? COMPARE_UNLIKE : COMPARE_NONE;
    if (pair->count_a < CLASS_MIN || pair->count_b < CLASS_MIN || !(least < options->alpha))
        return COMPARE_FEW;
    double ratio = pair->ratio.median, larger = fmax(ratio, 1 / ratio);
    if (larger < 1 + options->min_effect)
        return COMPARE_SAME;
    if (!(pair->p_adjusted < options->alpha)) /* without an overlap more samples would show more */
        return pair->superiority == 0 || pair->superiority == 1 ? COMPARE_FEW : COMPARE_SAME;
    bool more = pair->median_b > pair->median_a && pair->superiority > 0.5;
    bool less = pair->median_b < pair->median_a && pair->superiority < 0.5;
    bool more_is_better = options->metric.kind == METRIC_THROUGHPUT;
    if (!more && !less)
        return COMPARE_SAME;
    return more == more_is_better ? COMPARE_FASTER : COMPARE_SLOWER;
}

static void pairs_judge(struct comparison *comparison)
{
    double *p = xcalloc(comparison->count, sizeof *p);
    double *least = xcalloc(comparison->count, sizeof *least);
    for (size_t i = 0; i < comparison->count; i++) {
        const struct compare_pair *pair = &comparison->pairs[i];
        p[i] = pair->p;
        least[i] =
            isnan(pair->p) ? NAN : statistics_mann_whitney_least(pair->count_a, pair->count_b);
    }
    statistics_holm(p, comparison->count);
    statistics_holm(least, comparison->count);
    for (size_t i = 0; i < comparison->count; i++) {
        struct compare_pair *pair = &comparison->pairs[i];
        pair->p_adjusted = p[i];
        pair->verdict = pair_judge(pair, least[i], &comparison->options);
        comparison->verdicts[pair->verdict]++;
    }
    free(p);
    free(least);
}

static const struct compare_cell *partner(const struct compare_side *side, const char *key)
{
    for (size_t i = 0; i < side->count; i++)
        if (strcmp(side->cells[i].key, key) == 0)
            return &side->cells[i];
    return NULL;
}

static int pair_compare(const void *a_void, const void *b_void)
{
    const struct compare_pair *a = a_void, *b = b_void;
    int order = strcmp(a->a->workload, b->a->workload);
    if (!order)
        order = (a->a->workers > b->a->workers) - (a->a->workers < b->a->workers);
    if (!order)
        order = strcmp(a->a->variant, b->a->variant);
    if (!order)
        order = (a->b->workers > b->b->workers) - (a->b->workers < b->b->workers);
    return order ? order : strcmp(a->b->variant, b->b->variant);
}

/* One cell of one run, on both sides. */
static bool is_itself(const struct compare_pair *pair)
{
    return json_equal(pair->a->records, pair->b->records);
}

static size_t cells_without(const struct compare_side *side, const struct compare_side *other)
{
    size_t n = 0;
    for (size_t i = 0; i < side->count; i++)
        n += !partner(other, side->cells[i].key);
    return n;
}

static void pairs_make(struct comparison *comparison)
{
    const struct compare_side *a = comparison->a, *b = comparison->b;
    comparison->pairs = xcalloc(b->count + 1, sizeof *comparison->pairs);
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++) {
            struct compare_pair pair = {.a = &a->cells[i], .b = &b->cells[k]};
            bool are_partners = strcmp(pair.a->key, pair.b->key) == 0;
            if (are_partners && !(comparison->options.each && is_itself(&pair)))
                comparison->pairs[comparison->count++] = pair;
        }
    comparison->only_a = cells_without(a, b);
    comparison->only_b = cells_without(b, a);
    if (comparison->count > 0)
        qsort(comparison->pairs, comparison->count, sizeof *comparison->pairs, pair_compare);
}

static struct interval geomean_of(const struct comparison *comparison)
{
    struct ratio_samples *ratios = xcalloc(comparison->count, sizeof *ratios);
    size_t n = 0;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct compare_pair *pair = &comparison->pairs[i];
        if (pair->verdict != COMPARE_UNLIKE && isfinite(pair->ratio.median) &&
            pair->ratio.median > 0)
            ratios[n++] = (struct ratio_samples){pair->samples_b, pair->samples_a, pair->count_b,
                                                 pair->count_a};
    }
    struct interval mean = statistics_geomean_ratio(ratios, n, comparison->options.seed);
    free(ratios);
    return mean;
}

/* Warnings ------------------------------------------------------------------------------------- */

static void warn(struct comparison *comparison, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void warn(struct comparison *comparison, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_array_append_new(comparison->warnings, json_vsprintf(format, args));
    va_end(args);
}

static void warn_of_difference(struct comparison *comparison, const char *part, const char *key,
                               const char *what)
{
    const json_t *a = environment_field(comparison->a, part, key);
    const json_t *b = environment_field(comparison->b, part, key);
    if (!a || !b || json_equal(a, b))
        return;
    char *text_a = json_dumps(a, JSON_ENCODE_ANY), *text_b = json_dumps(b, JSON_ENCODE_ANY);
    warn(comparison, "%s differ: %s in A, %s in B", what, text_a, text_b);
    free(text_a);
    free(text_b);
}

static void warn_of_processors(struct comparison *comparison)
{
    char *a = side_processors(comparison->a), *b = side_processors(comparison->b);
    if (*a && *b && strcmp(a, b) != 0)
        warn(comparison, "machines differ: \"%s\" in A, \"%s\" in B", a, b);
    free(a);
    free(b);
}

static void warn_of_environments(struct comparison *comparison)
{
    static const char *const facts[][3] = {
        {"cpu", "usable_threads", "machines: usable threads"},
        {"kernel", "release", "kernels"},
        {"build", "compiler", "compilers"},
        {"build", "flags", "compiler flags"},
        {"build", "invariant_checks", "invariant checks"},
        {"settings", "governor", "frequency governors"},
        {"settings", "turbo", "turbo settings"},
        {"settings", "transparent_huge_pages", "settings of huge pages"},
        {"settings", "address_space_randomization", "settings of address space randomization"},
        {"sweep", "min_time_ms", "milliseconds a sample"},
        {"sweep", "iterations", "least calls a sample"},
        {"sweep", "warmup", "warm-ups"},
    };
    const struct compare_side *sides[] = {comparison->a, comparison->b};
    for (int i = 0; i < 2; i++) {
        const char *problem = sides[i]->environment_problem;
        bool told = i > 0 && problem && sides[0]->environment_problem &&
                    strcmp(problem, sides[0]->environment_problem) == 0;
        if (problem && !told)
            warn(comparison, "%s, so the machine is not known", problem);
    }
    warn_of_processors(comparison);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        warn_of_difference(comparison, facts[i][0], facts[i][1], facts[i][2]);
}

static size_t count_pinned(const struct compare_side *side)
{
    size_t pinned = 0;
    json_each(record, side->records)
        pinned += json_is_true(json_object_get(record, "pin"));
    return pinned;
}

/* A cell is the same with pinned workers. */
static void warn_of_pins(struct comparison *comparison)
{
    size_t a = count_pinned(comparison->a), all_a = json_array_size(comparison->a->records);
    size_t b = count_pinned(comparison->b), all_b = json_array_size(comparison->b->records);
    if (a * all_b != b * all_a)
        warn(comparison,
             "workers were pinned to cores in %zu of %zu samples of A and %zu of %zu of B", a,
             all_a, b, all_b);
}

/* When the first and the last sample of a side began, as text that sorts by time; NULL where no
 * record says so. */
static void span_of(const struct compare_side *side, const char **first, const char **last)
{
    *first = *last = NULL;
    json_each(record, side->records) {
        const char *started = field_text(record, "started");
        if (!*started)
            continue;
        *first = !*first || strcmp(started, *first) < 0 ? started : *first;
        *last = !*last || strcmp(started, *last) > 0 ? started : *last;
    }
}

/* Warns if the sides were not interleaved: the difference may only be the time of day. */
static void warn_of_hours(struct comparison *comparison)
{
    const char *first_a, *last_a, *first_b, *last_b;
    span_of(comparison->a, &first_a, &last_a);
    span_of(comparison->b, &first_b, &last_b);
    if (!first_a || !first_b || (strcmp(last_a, first_b) >= 0 && strcmp(last_b, first_a) >= 0))
        return;
    bool a_first = strcmp(last_a, first_b) < 0;
    warn(comparison,
         "%s, up to %s, was measured before %s, from %s on: what changed on the machine in between "
         "is in the difference; one sweep, or --git, measures interleaved",
         a_first ? "A" : "B", a_first ? last_a : last_b, a_first ? "B" : "A",
         a_first ? first_b : first_a);
}

static void warn_of_steal(struct comparison *comparison)
{
    const struct compare_side *sides[] = {comparison->a, comparison->b};
    for (int i = 0; i < 2; i++) {
        size_t unknown = 0;
        json_each(record, sides[i]->records)
            unknown += comparable_steal_is_unknown(record);
        if (unknown > 0)
            warn(comparison,
                 "steal is not known of %zu of %zu samples of %s, so none of these is left out for "
                 "it",
                 unknown, json_array_size(sides[i]->records), i == 0 ? "A" : "B");
    }
}

/* Samples that each side of every pair needs. With as many, sets that do not overlap show a
 * difference by Holm's correction even where no other pair does. */
static size_t samples_enough(const struct comparison *comparison)
{
    size_t n = CLASS_MIN, tests = comparison->count - comparison->verdicts[COMPARE_NONE] -
                                  comparison->verdicts[COMPARE_UNLIKE];
    while (!(statistics_mann_whitney_least(n, n) * (double)tests < comparison->options.alpha))
        n++;
    return n;
}

static void warn_of_pairs(struct comparison *comparison)
{
    size_t mixed = 0, partial = 0, same = 0, few = comparison->verdicts[COMPARE_FEW],
           unlike = comparison->verdicts[COMPARE_UNLIKE];
    for (size_t i = 0; i < comparison->count; i++) {
        mixed += comparison->pairs[i].distances_mixed && !comparison->pairs[i].distances_unlike;
        partial += comparison->pairs[i].distances_partial;
        same += json_equal(comparison->pairs[i].a->records, comparison->pairs[i].b->records);
    }
    if (same > 0)
        warn(comparison,
             "%zu of %zu pairs have the same samples on both sides, and say nothing of any "
             "difference",
             same, comparison->count);
    if (partial > 0)
        warn(comparison,
             "%zu of %zu pairs have core distances on one side only: its samples of one distance "
             "meet all undisturbed ones of the other side",
             partial, comparison->count);
    if (unlike > 0)
        warn(comparison,
             "%zu of %zu pairs are not compared: no core distance has %d samples of both "
             "sides, and across distances one compares what the machine did",
             unlike, comparison->count, CLASS_MIN);
    if (mixed > 0)
        warn(comparison,
             "%zu of %zu pairs have fewer than %d samples at one core distance on each side "
             "and compare samples of all distances",
             mixed, comparison->count, CLASS_MIN);
    if (few > 0)
        warn(comparison,
             "%zu of %zu pairs have too few samples: with so many pairs, sets that do not overlap "
             "show no difference at alpha %g; %zu of each would be enough",
             few, comparison->count, comparison->options.alpha, samples_enough(comparison));
}

static void warn_of_remarks_on(struct comparison *comparison, char side,
                               const struct compare_cell *cell, size_t *told)
{
    char text[CELL_REMARKS_SIZE];
    if (!cell_remarks(cell->records, text) || (*told)++ >= REMARKS_MAX)
        return;
    warn(comparison, "%c: %s, %s, %s: %s", side, cell->variant, cell->workload,
         counted((uint64_t)cell->workers, "worker").s, text);
}

static void warn_of_remarks(struct comparison *comparison)
{
    size_t told = 0;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct compare_pair *pair = &comparison->pairs[i];
        warn_of_remarks_on(comparison, 'A', pair->a, &told);
        warn_of_remarks_on(comparison, 'B', pair->b, &told);
    }
    if (told > REMARKS_MAX)
        warn(comparison, "such remarks on %zu more cells", told - REMARKS_MAX);
}

/* All ------------------------------------------------------------------------------------------ */

void compare_make(struct comparison *comparison, const struct compare_side *a,
                  const struct compare_side *b, const struct compare_options *options)
{
    *comparison =
        (struct comparison){.a = a, .b = b, .options = *options, .warnings = json_array()};
    struct side_classes classes = classes_of(a, b);
    pairs_make(comparison);
    for (size_t i = 0; i < comparison->count; i++)
        pair_measure(&comparison->pairs[i], &classes, options);
    pairs_judge(comparison);
    comparison->geomean = geomean_of(comparison);
    warn_of_environments(comparison);
    warn_of_pins(comparison);
    warn_of_hours(comparison);
    warn_of_steal(comparison);
    warn_of_pairs(comparison);
    warn_of_remarks(comparison);
}

void compare_free(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->count; i++) {
        free(comparison->pairs[i].samples_a);
        free(comparison->pairs[i].samples_b);
    }
    free(comparison->pairs);
    json_decref(comparison->warnings);
    *comparison = (struct comparison){0};
}
