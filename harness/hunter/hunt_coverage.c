/* hunt_coverage.c - see hunt_coverage.h. */
#include "harness/hunter/hunt_coverage.h"

#include "harness/base/json_fields.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/options/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void hunt_coverage_begin(void)
{
    const char *error;
    if (!coverage_can_tell(&error))
        cli_give_up("%s", error);
}

struct coverage hunt_coverage_read(const struct hunt_cover *cover)
{
    const char *error;
    struct coverage coverage;
    if (!coverage_of(&coverage, cover, &error))
        cli_give_up("%s", error);
    return coverage;
}

static bool is_of(const struct coverage_pair *pair, enum coverage_kind kind)
{
    return !pair->is_of_steps && coverage_kind(pair) == kind;
}

/* Pairs of labels of that kind. */
static size_t count_of(const struct coverage *coverage, enum coverage_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < coverage->count; i++)
        count += is_of(&coverage->pairs[i], kind);
    return count;
}

/* The first pair of steps; all others follow, as coverage_new() has them. */
static const struct coverage_pair *steps_of(const struct coverage *coverage)
{
    const struct coverage_pair *pair = coverage->pairs;
    while (!pair->is_of_steps)
        pair++;
    return pair;
}

static size_t steps_met(const struct coverage *coverage, enum coverage_kind kind)
{
    const struct coverage_pair *pair = steps_of(coverage);
    size_t count = 0;
    for (int i = 0; i < HUNT_SUBMIT_STEPS * HUNT_STEPS; i++)
        count += coverage_kind(&pair[i]) == kind;
    return count;
}

static const char *orders_word(const struct coverage_pair *pair)
{
    if (coverage_kind(pair) != COVERAGE_ONE)
        return coverage_words[coverage_kind(pair)];
    return pair->forth ? "before" : "after";
}

/* A row per step of a submitter, and where it came: before or after each of a sleeper, or both. */
static void steps_print(const struct coverage *coverage)
{
    const struct coverage_pair *pair = steps_of(coverage);
    printf("steps of a submitter and a sleeper that crossed (idle.c): of %d pairs %zu in both "
           "orders, %zu in one, %zu never\n    ",
           HUNT_SUBMIT_STEPS * HUNT_STEPS, steps_met(coverage, COVERAGE_BOTH),
           steps_met(coverage, COVERAGE_ONE), steps_met(coverage, COVERAGE_NEVER));
    for (int k = 0; k < HUNT_STEPS; k++)
        printf("  %6s", pair[k].label[1]);
    for (int i = 0; i < HUNT_SUBMIT_STEPS; i++) {
        printf("\n  %s", pair->label[0]);
        for (int k = 0; k < HUNT_STEPS; k++, pair++)
            printf("  %6s", orders_word(pair));
    }
    putchar('\n');
}

/* The pairs of a kind, by file, in lines. */
static void names_print(const struct coverage *coverage, enum coverage_kind kind, const char *title)
{
    const char *file = "";
    if (count_of(coverage, kind) == 0)
        return;
    printf("%s", title);
    for (size_t i = 0; i < coverage->count; i++) {
        const struct coverage_pair *pair = &coverage->pairs[i];
        if (!is_of(pair, kind))
            continue;
        if (strcmp(pair->file, file) != 0)
            printf("\n  %s:", pair->file);
        file = pair->file;
        printf(" %s-%s", pair->label[0], pair->label[1]);
    }
    putchar('\n');
}

void hunt_coverage_print(const struct coverage *coverage)
{
    size_t never = count_of(coverage, COVERAGE_NEVER);
    size_t countable = never + count_of(coverage, COVERAGE_BOTH) + count_of(coverage, COVERAGE_ONE);
    printf("coverage: of %zu pairs of labels %zu were met in both orders, %zu in one, %zu never\n",
           countable, count_of(coverage, COVERAGE_BOTH), count_of(coverage, COVERAGE_ONE), never);
    if (never < countable)
        printf("%-40s  %5s %-5s  %14s  %14s  %s\n", "file", "label", "label", "first before",
               "second before", "orders");
    for (size_t i = 0; i < coverage->count; i++) {
        const struct coverage_pair *pair = &coverage->pairs[i];
        if (!pair->is_of_steps && (pair->forth || pair->back))
            printf("%-40s  %5s %-5s  %14" PRIu64 "  %14" PRIu64 "  %s\n", pair->file,
                   pair->label[0], pair->label[1], pair->forth, pair->back,
                   coverage_words[coverage_kind(pair)]);
    }
    names_print(coverage, COVERAGE_NEVER, "never met:");
    names_print(coverage, COVERAGE_FENCE,
                "not counted, because no access carries one of the labels:");
    steps_print(coverage);
    if (coverage->left_out)
        printf("%" PRIu64 " meetings had no room and were not counted\n", coverage->left_out);
}

/* A cell says how often the submitter's step came before the sleeper's, and after it. */
static void steps_page(const struct coverage *coverage)
{
    static const char *const columns[] = {"step", "#I1", "#I2", "#I3", "#I4", "#I5", "#I6", NULL};
    const struct coverage_pair *pair = steps_of(coverage);
    html_put(stdout,
             "<h2>A submitter and a sleeper on their way at one time</h2>\n"
             "<p>S1 puts a goroutine into a queue, S2 is the fence, S3 reads how many Ps are idle, "
             "S4 takes one and wakes an M. I1 puts a P on the idle list, I2 is no spinner any "
             "more, I3 is the fence, I4 looks into all queues, I5 takes a P back, I6 sleeps. A "
             "cell has how often the step S came before the step I, and after it: %zu pairs came "
             "in both orders, %zu in one, %zu never.</p>\n",
             steps_met(coverage, COVERAGE_BOTH), steps_met(coverage, COVERAGE_ONE),
             steps_met(coverage, COVERAGE_NEVER));
    html_table_begin(stdout, "Steps of idle.c that crossed", "steps", columns);
    for (int i = 0; i < HUNT_SUBMIT_STEPS; i++) {
        html_put(stdout, "<tr><td>%s</td>", pair->label[0]);
        for (int k = 0; k < HUNT_STEPS; k++, pair++)
            html_put(stdout, "<td class=\"number %s\">%lld before<br>%lld after</td>",
                     coverage_words[coverage_kind(pair)], (long long)pair->forth,
                     (long long)pair->back);
        fputs("</tr>\n", stdout);
    }
    html_table_end(stdout);
}

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>:root{color-scheme:light dark}body{font:1rem/1.5 "
    "sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}td,th{padding:.1rem "
    ".7rem;text-align:left}.number{text-align:right}.scroll{overflow-x:auto}.one{background:#"
    "e6a70033}.never{background:#d0402033}</style>\n";

void hunt_coverage_page(const struct coverage *coverage, const char *title, const char *failures)
{
    static const char *const columns[] = {
        "orders", "file", "first label", "second label", "#first before", "#second before", NULL};
    fputs(page_head, stdout);
    html_put(stdout, "<title>Coverage: %s</title>\n<h1>Coverage: %s</h1>\n", title, title);
    if (*failures)
        html_put(stdout, "<h2>Executions failed</h2>\n<pre class=\"scroll\">%s</pre>\n", failures);
    else
        fputs("<p>No execution failed.</p>\n", stdout);
    html_put(stdout,
             "<p>Pairs of memory-order labels: %zu were met in both orders, %zu in one, %zu never. "
             "Of %zu no access carries one of the labels, so they are not counted. %lld meetings "
             "had no room.</p>\n",
             count_of(coverage, COVERAGE_BOTH), count_of(coverage, COVERAGE_ONE),
             count_of(coverage, COVERAGE_NEVER), count_of(coverage, COVERAGE_FENCE),
             (long long)coverage->left_out);
    html_table_begin(stdout, "Pairs of labels", "pairs", columns);
    for (int kind = 0; kind < COVERAGE_KIND_COUNT; kind++)
        for (size_t i = 0; i < coverage->count; i++) {
            const struct coverage_pair *pair = &coverage->pairs[i];
            if (is_of(pair, (enum coverage_kind)kind))
                html_put(stdout,
                         "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td "
                         "class=\"number\">%lld</td><td class=\"number\">%lld</td></tr>\n",
                         coverage_words[kind], pair->file, pair->label[0], pair->label[1],
                         (long long)pair->forth, (long long)pair->back);
        }
    html_table_end(stdout);
    steps_page(coverage);
    fputs("</html>\n", stdout);
}

json_t *hunt_coverage_to_json(const struct coverage *coverage)
{
    json_t *pairs = json_array(), *steps = json_array(), *json = json_object();
    for (size_t i = 0; i < coverage->count; i++) {
        const struct coverage_pair *pair = &coverage->pairs[i];
        json_array_append_new(
            pair->is_of_steps ? steps : pairs,
            json_pack("{ss s[ss] sI sI ss}", "file", pair->file, "labels", pair->label[0],
                      pair->label[1], "first_before", (json_int_t)pair->forth, "second_before",
                      (json_int_t)pair->back, "orders", coverage_words[coverage_kind(pair)]));
    }
    for (int kind = 0; kind < COVERAGE_KIND_COUNT; kind++)
        json_object_set_new(json, coverage_words[kind],
                            json_integer((json_int_t)count_of(coverage, (enum coverage_kind)kind)));
    json_object_set_new(json, "left_out", json_integer((json_int_t)coverage->left_out));
    json_object_set_new(json, "pairs", pairs);
    json_object_set_new(json, "steps", steps);
    return json;
}

json_t *hunt_coverage_to_log(const struct coverage *coverage)
{
    json_t *met = json_array();
    for (size_t i = 0; i < coverage->count; i++) {
        const struct coverage_pair *pair = &coverage->pairs[i];
        if (pair->forth || pair->back)
            json_array_append_new(met,
                                  json_pack("[sssII]", pair->file, pair->label[0], pair->label[1],
                                            (json_int_t)pair->forth, (json_int_t)pair->back));
    }
    return json_pack("{sI so}", "left_out", (json_int_t)coverage->left_out, "met", met);
}

void hunt_coverage_add(struct coverage *coverage, const json_t *logged)
{
    coverage->left_out += (uint64_t)field_integer(logged, "left_out");
    json_each(one, json_object_get(logged, "met")) {
        json_int_t forth, back;
        struct coverage_pair met = {.has_accesses = true};
        if (json_unpack(one, "[sssII]", &met.file, &met.label[0], &met.label[1], &forth, &back))
            continue;
        met.forth = (uint64_t)forth;
        met.back = (uint64_t)back;
        coverage_add(coverage, &met);
    }
}
