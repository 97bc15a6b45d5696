/* compare_print.c - see compare_print.h. */
#include "harness/tables/compare_print.h"

#include "harness/base/json_fields.h"
#include "harness/base/term_table.h"
#include "harness/base/text.h"
#include "harness/models/machine_start.h"
#include "harness/numbers/units.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { LABEL_WIDTH = 17, LABEL_SIZE = 512, NUMBER_SIZE = 48 };

/* Texts ---------------------------------------------------------------------------------------- */

/* "Operations a second. B / A above 1: B is faster." */
static void what_is_compared(const struct comparison *comparison, FILE *to)
{
    char text[LABEL_SIZE];
    enum metric_kind kind = comparison->options.metric.kind;
    metric_describe(&comparison->options.metric, text, sizeof text);
    fprintf(to, "%c%s. B / A %s 1: B is %s.", toupper((unsigned char)text[0]), text + 1,
            kind == METRIC_THROUGHPUT ? "above" : "below",
            kind == METRIC_EVENT ? "lower" : "faster");
}

/* "gmp", or "gmp / grq" where the sides differ. */
static void two_texts(char *text, size_t size, const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        snprintf(text, size, "%s", a);
    else
        snprintf(text, size, "%s / %s", a, b);
}

/* The facts that the rows below have in common: "fib,n=30, 2 workers". */
static void heading(const struct compare_pair *pair, char text[LABEL_SIZE])
{
    char machines[LABEL_SIZE / 4], workload[LABEL_SIZE / 2], workers_a[16], workers_b[16],
        workers[48];
    two_texts(workload, sizeof workload, pair->a->workload, pair->b->workload);
    snprintf(workers_a, sizeof workers_a, "%d", pair->a->workers);
    snprintf(workers_b, sizeof workers_b, "%d", pair->b->workers);
    two_texts(workers, sizeof workers, workers_a, workers_b);
    const char *a = pair->a->machine, *b = pair->b->machine;
    bool native = !machine_text_is_simulated(a) && !machine_text_is_simulated(b);
    two_texts(machines, sizeof machines, a, b);
    snprintf(text, LABEL_SIZE, "%s, %s worker%s%s%s%s", workload, workers,
             strcmp(workers, "1") == 0 ? "" : "s", native ? "" : ", on ", native ? "" : machines,
             native ? "" : " (virtual time)");
}

/* A sample says of which revision it is if its run held several. */
static const char *side_revision(const struct compare_side *side)
{
    const json_t *build = json_object_get(side->environment, "build");
    const char *of_run = json_string_value(json_object_get(build, "revision"));
    const char *of_sample =
        json_string_value(json_object_get(json_array_get(side->records, 0), "revision"));
    return of_sample ? of_sample : of_run ? of_run : "not known";
}

/* "5 faster, 2 slower, ..."; only what there is. */
static void tally(const struct comparison *comparison, FILE *to)
{
    const char *words[COMPARE_VERDICTS] = {compare_verdict_text(comparison, COMPARE_FASTER),
                                           compare_verdict_text(comparison, COMPARE_SLOWER),
                                           "no difference shown",
                                           "too few samples",
                                           "not comparable",
                                           "without numbers"};
    const char *separator = "";
    for (int i = 0; i < COMPARE_VERDICTS; i++) {
        if (comparison->verdicts[i] == 0)
            continue;
        fprintf(to, "%s%zu %s", separator, comparison->verdicts[i], words[i]);
        separator = ", ";
    }
}

/* A pair without numbers, or with too few samples of each core distance, has no p to adjust. */
static size_t tested(const struct comparison *comparison)
{
    return comparison->count - comparison->verdicts[COMPARE_NONE] -
           comparison->verdicts[COMPARE_UNLIKE];
}

static void summary(const struct comparison *comparison, FILE *to, const char *end)
{
    struct interval mean = comparison->geomean;
    fputs("B beside A: ", to);
    tally(comparison, to);
    fprintf(to, " (alpha %g, Holm over %s", comparison->options.alpha,
            counted(tested(comparison), "pair").s);
    if (comparison->options.min_effect > 0)
        fprintf(to, ", %g %% at least", comparison->options.min_effect * 100);
    fprintf(to, ")%s", end);
    if (isfinite(mean.median))
        fprintf(to, "geometric mean of B / A over %s: %s (%s)%s", counted(mean.n, "pair").s,
                text_ratio(mean.median).s, text_ratio_interval(mean).s, end);
    if (comparison->only_a + comparison->only_b > 0)
        fprintf(to, "without a partner: %s of A, %zu of B%s", counted(comparison->only_a, "cell").s,
                comparison->only_b, end);
}

/* True for pairs of which only the reason is shown. */
static bool is_left_out(const struct compare_pair *pair)
{
    return pair->verdict == COMPARE_NONE || pair->verdict == COMPARE_UNLIKE;
}

/* True if a side has one sample: nothing is known of how it spreads, so a p would say nothing. */
static bool is_single(const struct compare_pair *pair)
{
    return pair->count_a == 1 || pair->count_b == 1;
}

static struct text p_text(const struct compare_pair *pair)
{
    return is_single(pair) ? (struct text){"-"} : text_p(pair->p_adjusted);
}

/* "0.97", P(B>A). */
static struct text superiority_text(const struct compare_pair *pair)
{
    struct text text = {"-"};
    if (!is_single(pair))
        snprintf(text.s, sizeof text.s, "%.2f", pair->superiority);
    return text;
}

/* Table ---------------------------------------------------------------------------------------- */

static void table_row(const struct comparison *comparison, const struct compare_pair *pair,
                      struct term_table *table)
{
    char label[LABEL_SIZE], count[NUMBER_SIZE];
    two_texts(label, sizeof label, pair->a->variant, pair->b->variant);
    if (is_left_out(pair)) {
        term_table_row(table, label, NULL);
        term_table_text(table, "%.78s", pair->reason);
        return;
    }
    snprintf(count, sizeof count, "%zu+%zu", pair->count_a, pair->count_b);
    enum metric_kind kind = comparison->options.metric.kind;
    term_table_row(table, label, metric_text(kind, pair->median_a).s,
                   metric_text(kind, pair->median_b).s, text_ratio(pair->ratio.median).s,
                   text_ratio_interval(pair->ratio).s, superiority_text(pair).s, p_text(pair).s,
                   class_text(pair->chosen), count, NULL);
    term_table_text(table, "%s",
                    is_single(pair) ? "one sample"
                                    : compare_verdict_text(comparison, pair->verdict));
}

void compare_print_table(const struct comparison *comparison, FILE *to)
{
    const struct compare_side *a = comparison->a, *b = comparison->b;
    fprintf(to, "A  %s (revision %s)\nB  %s (revision %s)\n", a->label, side_revision(a), b->label,
            side_revision(b));
    what_is_compared(comparison, to);
    fputs("\nP(B>A): how often a sample of B has more than one of A. p: Mann-Whitney, adjusted by\n"
          "Holm. ~: no difference shown; few: too few samples to show one.\n\n",
          to);
    struct term_table *table = term_table_new(
        (struct term_layout){.indent = 2, .gap = 1, .first_most = LABEL_WIDTH},
        TERM_COLUMNS({"", -LABEL_WIDTH}, {"A", 8}, {"B", 8}, {"B / A", 6}, {"95 % interval", 16},
                     {"P(B>A)", 6}, {"p", 6}, {"distance", -8}, {"n", 7}, {"B is", 0}));
    char last[LABEL_SIZE] = "", text[LABEL_SIZE];
    for (size_t i = 0; i < comparison->count; i++) {
        heading(&comparison->pairs[i], text);
        if (strcmp(text, last) != 0) {
            term_table_row(table, NULL);
            term_table_text(table, "%s", text);
        }
        snprintf(last, sizeof last, "%s", text);
        table_row(comparison, &comparison->pairs[i], table);
    }
    term_table_print(table, to);
    fputc('\n', to);
    summary(comparison, to, "\n");
}

/* Markdown ------------------------------------------------------------------------------------- */

/* A bar would end the cell. */
static void markdown_text(FILE *to, const char *text)
{
    for (; *text; text++)
        fputs(*text == '|' ? "\\|" : (char[]){*text, '\0'}, to);
}

static void markdown_row(const struct comparison *comparison, const struct compare_pair *pair,
                         FILE *to)
{
    char where[LABEL_SIZE], label[LABEL_SIZE];
    enum metric_kind kind = comparison->options.metric.kind;
    heading(pair, where);
    two_texts(label, sizeof label, pair->a->variant, pair->b->variant);
    fputs("| ", to);
    markdown_text(to, where);
    fputs(" | ", to);
    markdown_text(to, label);
    if (is_left_out(pair)) {
        fputs(" | | | | | | | | ", to);
        markdown_text(to, pair->reason);
        fputs(" |\n", to);
        return;
    }
    fprintf(to, " | %s | %s | %s | %s | %s | %s | %s | %zu + %zu: %s |\n",
            metric_text(kind, pair->median_a).s, metric_text(kind, pair->median_b).s,
            text_ratio(pair->ratio.median).s, text_ratio_interval(pair->ratio).s,
            superiority_text(pair).s, p_text(pair).s, class_text(pair->chosen), pair->count_a,
            pair->count_b,
            is_single(pair)                 ? "one sample"
            : pair->verdict == COMPARE_SAME ? "no difference shown"
            : pair->verdict == COMPARE_FEW  ? "too few"
                                            : compare_verdict_text(comparison, pair->verdict));
}

void compare_print_markdown(const struct comparison *comparison, FILE *to)
{
    const struct compare_side *sides[] = {comparison->a, comparison->b};
    for (int side = 0; side < 2; side++)
        fprintf(to, "- %c: `%s`, revision %s\n", 'A' + side, sides[side]->label,
                side_revision(sides[side]));
    fputc('\n', to);
    what_is_compared(comparison, to);
    fputs(
        "\n\n| workload | variant | A | B | B / A | 95 % interval | P(B>A) | p (Holm) | distance | "
        "samples: B is |\n|---|---|---:|---:|---:|---|---:|---:|---|---|\n",
        to);
    for (size_t k = 0; k < comparison->count; k++)
        markdown_row(comparison, &comparison->pairs[k], to);
    fputc('\n', to);
    summary(comparison, to, "\n\n");
    json_each(warning, comparison->warnings)
        fprintf(to, "- Warning: %s\n", json_string_value(warning));
}

/* JSON ----------------------------------------------------------------------------------------- */

static json_t *side_to_json(const struct compare_side *side)
{
    json_t *object = json_pack("{ss ss}", "side", side->label, "revision", side_revision(side));
    if (side->run_dir)
        json_object_set_new(object, "run", json_string(side->run_dir));
    return object;
}

static json_t *pair_to_json(const struct comparison *comparison, const struct compare_pair *pair)
{
    json_t *object =
        json_pack("{ss si ss ss ss sb sI sI ss}", "workload", pair->a->workload, "workers",
                  pair->a->workers, "variant_a", pair->a->variant, "variant_b", pair->b->variant,
                  "class", class_text(pair->chosen), "distances_mixed", pair->distances_mixed,
                  "n_a", (json_int_t)pair->count_a, "n_b", (json_int_t)pair->count_b, "verdict",
                  compare_verdict_text(comparison, pair->verdict));
    if (strcmp(pair->a->workload, pair->b->workload) != 0)
        json_object_set_new(object, "workload_b", json_string(pair->b->workload));
    if (pair->a->workers != pair->b->workers)
        json_object_set_new(object, "workers_b", json_integer(pair->b->workers));
    if (strcmp(pair->a->machine, pair->b->machine) != 0)
        json_object_set_new(object, "machine_b", json_string(pair->b->machine));
    if (machine_text_is_simulated(pair->a->machine) || json_object_get(object, "machine_b"))
        json_object_set_new(object, "machine", json_string(pair->a->machine));
    number_into_json(object, "median_a", pair->median_a);
    number_into_json(object, "median_b", pair->median_b);
    if (!is_single(pair)) {
        number_into_json(object, "p", pair->p);
        number_into_json(object, "p_adjusted", pair->p_adjusted);
    }
    if (!is_left_out(pair) && !is_single(pair))
        number_into_json(object, "superiority", pair->superiority);
    if (!is_left_out(pair) && isfinite(pair->ratio.median))
        json_object_set_new(object, "ratio", ratio_to_json(pair->ratio));
    if (*pair->reason)
        json_object_set_new(object, "reason", json_string(pair->reason));
    return object;
}

static json_t *metric_to_json(const struct metric *metric)
{
    static const char *const kinds[] = {
        [METRIC_THROUGHPUT] = "throughput", [METRIC_LATENCY] = "latency", [METRIC_EVENT] = "event"};
    static const char *const better[] = {
        [METRIC_THROUGHPUT] = "more", [METRIC_LATENCY] = "less", [METRIC_EVENT] = "neither"};
    char text[LABEL_SIZE];
    metric_describe(metric, text, sizeof text);
    return json_pack("{ss ss ss ss}", "name", metric_name(metric), "kind", kinds[metric->kind],
                     "text", text, "better", better[metric->kind]);
}

json_t *compare_to_json(const struct comparison *comparison)
{
    json_t *pairs = json_array(), *verdicts = json_object();
    for (size_t i = 0; i < comparison->count; i++)
        json_array_append_new(pairs, pair_to_json(comparison, &comparison->pairs[i]));
    for (int i = 0; i < COMPARE_VERDICTS; i++)
        json_object_set_new(verdicts, compare_verdict_text(comparison, (enum compare_verdict)i),
                            json_integer((json_int_t)comparison->verdicts[i]));
    json_t *object =
        json_pack("{si so so sf sf sO so so sI sI}", "schema", 1, "a", side_to_json(comparison->a),
                  "b", side_to_json(comparison->b), "alpha", comparison->options.alpha,
                  "min_effect_percent", comparison->options.min_effect * 100, "warnings",
                  comparison->warnings, "pairs", pairs, "verdicts", verdicts, "only_a",
                  (json_int_t)comparison->only_a, "only_b", (json_int_t)comparison->only_b);
    json_object_set_new(object, "metric", metric_to_json(&comparison->options.metric));
    if (isfinite(comparison->geomean.median)) {
        json_t *mean = ratio_to_json(comparison->geomean);
        json_object_set_new(mean, "n", json_integer((json_int_t)comparison->geomean.n));
        json_object_set_new(object, "geomean", mean);
    }
    return object;
}
