/* repro_page_experiment.c - the section of an experiment. See repro_page.h.
 *
 * repro.json has machines, parts and expectations in this order; the page asks part by part, and
 * has the machines below each other, so that they can be held against each other.
 */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/units.h"
#include "harness/catalogue/repro_page.h"
#include "harness/report/html.h"
#include "harness/report/report_page.h"
#include "harness/repro/repro_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, NAME_SIZE = 256 };

/* Text ----------------------------------------------------------------------------------------- */

/* Paragraphs are what stands between blank lines. */
static void paragraphs_write(FILE *to, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        char *paragraph = xstrndup(text, length);
        html_open(to, "p", NULL);
        html_prose(to, paragraph);
        html_close(to, "p");
        free(paragraph);
        text += length;
        text += strspn(text, "\n");
    }
}

/* A list of texts or numbers, "a, b". */
static void list_write(FILE *to, const json_t *list)
{
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one)
    {
        if (i > 0)
            html_text(to, ", ");
        if (json_is_integer(one))
            html_format(to, "%" JSON_INTEGER_FORMAT, json_integer_value(one));
        else
            html_element(to, "code", json_string_value(one), NULL);
    }
}

/* What changes within the part, and what does not. */
static void design_write(FILE *to, const json_t *part)
{
    const char *factor = field_text(part, "factor");
    static const char *const kept[][2] = {{"variant", "variants"}, {"workload", "workloads"}};
    html_open(to, "p", "class", "note", NULL);
    html_text(to, "Changes: ");
    html_element(to, "b", factor, NULL);
    html_text(to, " (");
    list_write(to, json_object_get(part, "levels"));
    html_text(to, "; baseline ");
    html_element(to, "code", field_text(part, "baseline"), NULL);
    html_text(to, "). Stays:");
    for (size_t i = 0; i < 2; i++) {
        if (strcmp(factor, kept[i][0]) == 0)
            continue;
        html_text(to, " ");
        list_write(to, json_object_get(part, kept[i][1]));
        html_text(to, ";");
    }
    if (strcmp(factor, "workers") != 0) {
        html_text(to, " workers: ");
        list_write(to, json_object_get(part, "workers"));
        html_text(to, ";");
    }
    html_format(to, " measured: %s.", field_text(part, "metric"));
    html_close(to, "p");
}

/* Cells ---------------------------------------------------------------------------------------- */

static bool is_latency(const char *metric)
{
    return strcmp(metric, "max") == 0 || (metric[0] == 'p' && metric[1] >= '0' && metric[1] <= '9');
}

static struct text number_text(const char *metric, double number)
{
    return strcmp(metric, "throughput") == 0 ? text_si(number)
           : is_latency(metric)              ? text_time(number)
                                             : text_count(number);
}

static void cell_row(FILE *to, const char *metric, const json_t *side, const json_t *column)
{
    char number[32];
    html_open(to, "tr", NULL);
    html_open(to, "th", "scope", "row", NULL);
    html_element(to, "code", field_text(side, "variant"), NULL);
    html_close(to, "th");
    html_open(to, "td", NULL);
    html_element(to, "code", field_text(side, "workload"), NULL);
    html_close(to, "td");
    snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, field_integer(side, "workers"));
    html_td(to, "number", number);
    snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, field_integer(side, "n"));
    html_td(to, "number", number);
    html_open(to, "td", "class", "number", NULL);
    double lo = field_number(side, "lo"), hi = field_number(side, "hi");
    if (json_object_get(side, "order")) {
        html_element(to, "code", field_text(side, "order"), NULL);
    } else {
        html_text(to, number_text(metric, field_number(side, "median")).s);
        if (isfinite(lo) && isfinite(hi) && lo < hi) {
            html_open(to, "span", "class", "range", NULL);
            html_format(to, " (%s to %s)", number_text(metric, lo).s, number_text(metric, hi).s);
            html_close(to, "span");
        }
    }
    html_close(to, "td");
    html_open(to, "td", NULL);
    if (column)
        repro_mark_write(to, repro_file_verdict(column), "");
    html_close(to, "td");
    html_close(to, "tr");
}

/* Everything that an expectation was judged by on one machine, folded. */
static void cells_write(FILE *to, const json_t *expectation)
{
    static const char *const names[] = {"variant", "workload", "#workers", "#samples",
                                        "#median", "verdict",  NULL};
    const char *metric = field_text(expectation, "metric");
    size_t i;
    const json_t *column;
    html_open(to, "details", NULL);
    html_element(to, "summary", "cells", NULL);
    html_table_open(to, "The cells behind it: medians with 95 % intervals", "cells-behind");
    html_thead(to, names);
    html_open(to, "tbody", NULL);
    json_array_foreach(json_object_get(expectation, "columns"), i, column)
    {
        const json_t *over = json_object_get(column, "over");
        cell_row(to, metric, json_object_get(column, "level"), column);
        if (over)
            cell_row(to, metric, over, NULL);
    }
    html_close(to, "tbody");
    html_table_close(to);
    html_close(to, "details");
}

/* Expectations --------------------------------------------------------------------------------- */

static void lacks_write(FILE *to, const json_t *expectation, const json_t *column)
{
    size_t columns = json_array_size(json_object_get(expectation, "columns"));
    html_open(to, "td", "class", "lacks", NULL);
    if (repro_file_verdict(expectation) == VERDICT_UNDECIDED) {
        const char *lacks = field_text(column, "lacks");
        html_format(to, "%s%s%s", *lacks ? "Lacks " : "", lacks, *lacks ? ": " : "");
        html_prose(to, field_text(column, "reason"));
    }
    if (columns > 1) {
        html_open(to, "p", "class", "note", NULL);
        html_format(to, "It must hold in each of %zu: here ", columns);
        const json_t *level = json_object_get(column, "level");
        html_element(to, "code", field_text(level, "workload"), NULL);
        html_format(to, ", %" JSON_INTEGER_FORMAT " workers.", field_integer(level, "workers"));
        html_close(to, "p");
    }
    cells_write(to, expectation);
    html_close(to, "td");
}

static void measured_row(FILE *to, const json_t *place, const json_t *expectation)
{
    const json_t *column = repro_file_decisive(expectation);
    html_open(to, "tr", NULL);
    html_element(to, "th", repro_file_place_name(place), "scope", "row", "class", "share", NULL);
    html_open(to, "td", "class", "place", NULL);
    repro_mark_write(to, repro_file_verdict(expectation), "");
    html_close(to, "td");
    html_open(to, "td", "class", "effect", NULL);
    repro_effect_write(to, column);
    html_close(to, "td");
    html_open(to, "td", "class", "drawn", NULL);
    repro_strip_write(to, expectation, column);
    html_close(to, "td");
    lacks_write(to, expectation, column);
    html_close(to, "tr");
}

/* What is expected, over a row for each machine. */
static void expectation_write(FILE *to, const json_t *experiment, const char *part_id,
                              const json_t *expectation)
{
    size_t i;
    const json_t *place;
    const char *source = field_text(expectation, "source"), *over = field_text(expectation, "over");
    html_open(to, "tbody", NULL);
    html_open(to, "tr", "class", "says", NULL);
    html_open(to, "th", "scope", "rowgroup", "colspan", "5", NULL);
    html_prose(to, field_text(expectation, "says"));
    html_open(to, "span", "class", "wanted", NULL);
    html_format(to, "%s of ", field_text(expectation, "metric"));
    html_element(to, "code", field_text(expectation, "level"), NULL);
    if (*over) {
        html_text(to, " over ");
        html_element(to, "code", over, NULL);
    }
    html_format(to, ", expected %s", field_text(expectation, "expected"));
    html_format(to, "%s%s", *source ? "; source: " : "", source);
    html_close(to, "span");
    html_close(to, "th");
    html_close(to, "tr");
    json_array_foreach(json_object_get(experiment, "machines"), i, place)
    {
        const json_t *here = repro_file_expectation(repro_file_part(place, part_id),
                                                    field_integer(expectation, "number"));
        if (here)
            measured_row(to, place, here);
    }
    html_close(to, "tbody");
}

/* Figures -------------------------------------------------------------------------------------- */

static void figure_write(FILE *to, const struct repro_page *page, const json_t *experiment,
                         const json_t *place, const json_t *part, const char *group)
{
    const char *folder = field_text(place, "folder");
    char name[NAME_SIZE], path[PATH_SIZE], prefix[2 * NAME_SIZE], label[2 * NAME_SIZE];
    if (!repro_file_figure(page->folder, place, part, group, path, sizeof path))
        return;
    snprintf(name, sizeof name, "%s", strrchr(path, '/') + 1);
    snprintf(prefix, sizeof prefix, "%s-%.100s-", folder, name);
    for (char *at = prefix; *at; at++)
        if (strchr("@:,=", *at))
            *at = '_';
    snprintf(label, sizeof label, "%s on %s: %s The numbers are in the table above.",
             field_text(experiment, "id"), repro_file_place_name(place),
             field_text(part, "question"));
    html_open(to, "figure", NULL);
    html_open(to, "div", "class", "sheet", "role", "region", "tabindex", "0", "aria-label",
              repro_file_place_name(place), NULL);
    html_svg(to, path, prefix, label);
    html_close(to, "div");
    html_open(to, "figcaption", NULL);
    html_format(to, "%s: ", repro_file_place_name(place));
    snprintf(path, sizeof path, "%s/report.html", folder);
    html_element(to, "a", "all figures and numbers of this run", "href", path, NULL);
    html_close(to, "figcaption");
    html_close(to, "figure");
}

static void figures_write(FILE *to, const struct repro_page *page, const json_t *experiment,
                          const char *part_id)
{
    size_t i, k;
    const json_t *place;
    html_open(to, "div", "class", "figures", NULL);
    json_array_foreach(json_object_get(experiment, "machines"), i, place)
    {
        const json_t *part = repro_file_part(place, part_id);
        if (!part || !repro_file_is_drawn(part))
            continue;
        json_t *group, *groups = repro_file_groups(part);
        json_array_foreach(groups, k, group)
            figure_write(to, page, experiment, place, part, json_string_value(group));
        json_decref(groups);
    }
    html_close(to, "div");
}

/* Parts ---------------------------------------------------------------------------------------- */

static void part_write(FILE *to, const struct repro_page *page, const json_t *experiment,
                       const json_t *part)
{
    static const char *const names[] = {
        "machine", "verdict", "measured", "against what was expected", "", NULL};
    const char *id = field_text(part, "id");
    size_t i;
    const json_t *expectation;
    html_open(to, "h3", NULL);
    html_prose(to, field_text(part, "question"));
    html_open(to, "span", "class", "part", NULL);
    html_format(to, " %s/%s", field_text(experiment, "id"), id);
    html_close(to, "span");
    html_close(to, "h3");
    design_write(to, part);
    html_table_open(to, "What was expected, and what was measured", "expectations");
    html_thead(to, names);
    json_array_foreach(json_object_get(part, "expectations"), i, expectation)
    {
        size_t cells = repro_page_table_write(to, experiment, part, i);
        if (cells > 0)
            i += cells - 1;
        else
            expectation_write(to, experiment, id, expectation);
    }
    html_table_close(to);
    figures_write(to, page, experiment, id);
}

/* Whether a machine before the i-th had the part. */
static bool told_before(const json_t *experiment, size_t i, const char *part)
{
    const json_t *places = json_object_get(experiment, "machines");
    for (size_t k = 0; k < i; k++)
        if (repro_file_part(json_array_get(places, k), part))
            return true;
    return false;
}

static void parts_write(FILE *to, const struct repro_page *page, const json_t *experiment)
{
    size_t i, k;
    const json_t *place, *part;
    json_array_foreach(json_object_get(experiment, "machines"), i, place)
    {
        json_array_foreach(json_object_get(place, "parts"), k, part)
        {
            if (json_array_size(json_object_get(part, "expectations")) > 0 &&
                !told_before(experiment, i, field_text(part, "id")))
                part_write(to, page, experiment, part);
        }
    }
}

/* The whole ------------------------------------------------------------------------------------ */

static void machines_write(FILE *to, const json_t *experiment)
{
    size_t i;
    const json_t *place;
    html_open(to, "p", "class", "marks", NULL);
    json_array_foreach(json_object_get(experiment, "machines"), i, place)
    {
        html_open(to, "span", NULL);
        html_format(to, "%s ", repro_file_place_name(place));
        repro_mark_write(to, repro_file_verdict(place), "nothing expected");
        html_close(to, "span");
        html_text(to, " ");
    }
    const json_t *agree = json_object_get(experiment, "agree");
    if (json_is_boolean(agree))
        html_element(to, "span", json_is_true(agree) ? "machines agree" : "machines do not agree",
                     "class", json_is_true(agree) ? "range" : "failed", NULL);
    html_close(to, "p");
}

void repro_page_experiment_write(FILE *to, const struct repro_page *page, const json_t *experiment)
{
    html_open(to, "section", "id", field_text(experiment, "id"), "class", "experiment", NULL);
    html_open(to, "h2", NULL);
    html_element(to, "span", field_text(experiment, "id"), "class", "number", NULL);
    html_format(to, " %s", field_text(experiment, "title"));
    html_close(to, "h2");
    html_open(to, "p", "class", "claim", NULL);
    html_prose(to, field_text(experiment, "claim"));
    html_close(to, "p");
    html_open(to, "p", "class", "note", NULL);
    html_text(to, "Claimed by: ");
    html_prose(to, field_text(experiment, "source"));
    html_close(to, "p");
    machines_write(to, experiment);
    html_open(to, "details", "class", "print", NULL);
    html_element(to, "summary", "The reasoning, and what would refute it", NULL);
    paragraphs_write(to, field_text(experiment, "why"));
    html_open(to, "p", NULL);
    html_element(to, "b", "Refuted by: ", NULL);
    html_prose(to, field_text(experiment, "refuted"));
    html_close(to, "p");
    html_close(to, "details");
    parts_write(to, page, experiment);
    repro_page_command_write(to, page, experiment);
    html_close(to, "section");
}
