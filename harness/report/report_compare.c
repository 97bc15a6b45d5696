/* report_compare.c - the section on comparisons with other runs. See report_page.h, and
 * report_extra.h for where they come from. */
#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/numbers/units.h"
#include "harness/report/report_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_UNFOLDED = 40, COLUMNS_OF_NUMBERS = 7 };

static struct interval ratio_of(const json_t *object)
{
    return (struct interval){field_number(object, "ratio"), field_number(object, "lo"),
                             field_number(object, "hi"), 0};
}

/* Comparisons ---------------------------------------------------------------------------------- */

/* "grq of results/x, revision 0123": whatever of it there is. */
static void side_write(FILE *to, const char *letter, const json_t *side)
{
    const char *what = field_text(side, "side"), *run = field_text(side, "run");
    const char *revision = field_text(side, "revision");
    html_put(to, "<dt>%s</dt><dd>%s", letter, *what ? what : *run ? run : "not known");
    if (*what && *run && strcmp(what, run) != 0)
        html_put(to, ", run %s", run);
    if (*revision)
        html_put(to, ", revision %s", revision);
    html_put(to, "</dd>");
}

/* NULL: one of the two is faster, slower, lower or higher. */
static const char *no_winner_text(const char *verdict)
{
    static const char *const words[][2] = {
        {"~", "no difference shown"},
        {"few", "too few samples to say"},
        {"distances", "not comparable"},
        {"moods", "not comparable"}, /* as earlier versions called it */
        {"none", "no numbers"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(verdict, words[i][0]) == 0)
            return words[i][1];
    return NULL;
}

/* A value as the kind of number that the comparison is about. */
static struct text number_text(const json_t *metric, double value)
{
    const char *kind = field_text(metric, "kind");
    return strcmp(kind, "latency") == 0 ? text_time(value)
           : strcmp(kind, "event") == 0 ? text_count(value)
                                        : text_si(value);
}

static void pair_numbers(FILE *to, const json_t *metric, const json_t *pair)
{
    char superiority[32] = "-";
    struct interval ratio = ratio_of(json_object_get(pair, "ratio"));
    double above = field_number(pair, "superiority");
    if (isfinite(above))
        snprintf(superiority, sizeof superiority, "%.2f", above);
    html_put(to,
             "<td class='number'>%s</td><td class='number'>%s</td><td class='number'>%s</td><td "
             "class='range'>%s</td><td class='number'>%s</td><td class='number'>%s</td>",
             number_text(metric, field_number(pair, "median_a")).s,
             number_text(metric, field_number(pair, "median_b")).s, text_ratio(ratio.median).s,
             text_ratio_interval(ratio).s, superiority, text_p(field_number(pair, "p_adjusted")).s);
    html_put(to, "<td>%s</td>", *field_text(pair, "class") ? field_text(pair, "class") : "-");
}

static void pair_row(FILE *to, const json_t *metric, const json_t *pair)
{
    const char *verdict = field_text(pair, "verdict"), *reason = field_text(pair, "reason");
    const char *no_winner = no_winner_text(verdict);
    html_put(to, "<tr><th scope='row'>%s</th><td class='number'>%lld</td><td>%s",
             field_text(pair, "workload"), field_integer(pair, "workers"),
             field_text(pair, "variant_a"));
    if (strcmp(field_text(pair, "variant_a"), field_text(pair, "variant_b")) != 0)
        html_put(to, " / %s", field_text(pair, "variant_b"));
    html_put(to, "</td>");
    if (*reason)
        html_put(to, "<td colspan='%d' class='failed'>%s</td>", COLUMNS_OF_NUMBERS, reason);
    else
        pair_numbers(to, metric, pair);
    html_put(to, "<td class='%s'>%s</td></tr>", no_winner ? "tie" : "winner",
             no_winner ? no_winner : verdict);
}

static void comparison_about(FILE *to, const json_t *json)
{
    const json_t *mean = json_object_get(json, "geomean");
    struct interval ratio = ratio_of(mean);
    html_put(to, "<dl>");
    side_write(to, "A", json_object_get(json, "a"));
    side_write(to, "B", json_object_get(json, "b"));
    if (isfinite(ratio.median)) {
        html_put(to, "<dt>Geometric mean of B / A</dt><dd><b>%s</b> (%s)",
                 text_ratio(ratio.median).s, text_ratio_interval(ratio).s);
        if (isfinite(field_number(mean, "n")))
            html_put(to, " over %s", counted((uint64_t)field_number(mean, "n"), "pair").s);
        html_put(to, "</dd>");
    }
    html_put(to, "</dl>");
    json_each(warning, json_object_get(json, "warnings")) {
        html_put(to, "<p class='problem'>%s</p>", json_string_value(warning));
    }
}

static void comparison_write(FILE *to, const struct report_comparison *comparison)
{
    static const char *const names[] = {"workload",  "workers",  "variant",       "#A",
                                        "#B",        "#B / A",   "95 % interval", "#P(B > A)",
                                        "#p (Holm)", "distance", "B is",          NULL};
    char label[256];
    const json_t *pairs = json_object_get(comparison->json, "pairs");
    const json_t *metric = json_object_get(comparison->json, "metric");
    const char *what = field_text(metric, "text");
    html_put(to, "<h3>%s</h3>", comparison->name);
    comparison_about(to, comparison->json);
    snprintf(label, sizeof label, "%.120s: %.120s of A and B", comparison->name,
             *what ? what : "operations a second");
    html_put(to, json_array_size(pairs) <= ROWS_UNFOLDED ? "<details class='print' open=''>"
                                                         : "<details class='print'>");
    html_put(to, "<summary>%s of cells</summary>", counted(json_array_size(pairs), "pair").s);
    html_table_begin(to, label, "numbers", names);
    for (size_t i = 0; i < json_array_size(pairs); i++)
        pair_row(to, metric, json_array_get(pairs, i));
    html_table_end(to);
    html_put(to, "</details>");
}

void report_comparisons_write(FILE *to, const struct report *report)
{
    if (report->extra.comparisons_count == 0)
        return;
    html_put(to,
             "<section id='comparisons'><h2>Compared with</h2><p>"
             "B / A above 1: B is faster; of latencies, below 1. P(B %s A): how often a sample "
             "of B has more than one of A. p: Mann-Whitney, adjusted by Holm over the "
             "comparison. No difference shown does not "
             "mean that there is none.</p>",
             ">");
    for (size_t i = 0; i < report->extra.comparisons_count; i++)
        comparison_write(to, &report->extra.comparisons[i]);
    html_put(to, "</section>");
}
