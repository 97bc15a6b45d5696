/* repro_page_experiment.c - the section of an experiment. See repro_page.h.
 *
 * repro.json has machines, parts and expectations in this order; the page asks part by part, and
 * has the machines below each other, so that they can be held against each other.
 */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/catalogue/repro_mark.h"
#include "harness/catalogue/repro_page.h"
#include "harness/doc/html.h"
#include "harness/numbers/units.h"
#include "harness/report/report_page.h"
#include "harness/repro/repro_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, NAME_SIZE = 256 };

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

/* told: how the cell came out; NULL: it is what another one is held against. */
static void cell_row(struct doc *to, const char *metric, const json_t *side, const char *told)
{
    double lo = field_number(side, "lo"), hi = field_number(side, "hi");
    doc_put(to,
            "<tr><th scope='row'>`%s`</th><td>`%s`</td><td class='number'>%lld</td>"
            "<td class='number'>%lld</td><td class='number'>",
            field_text(side, "variant"), field_text(side, "workload"),
            field_integer(side, "workers"), field_integer(side, "n"));
    if (json_object_get(side, "order"))
        doc_put(to, "`%s`", field_text(side, "order"));
    else
        doc_put(to, "%s", number_text(metric, field_number(side, "median")).s);
    if (!json_object_get(side, "order") && isfinite(lo) && isfinite(hi) && lo < hi)
        doc_put(to, "<span class='range'> (%s to %s)</span>", number_text(metric, lo).s,
                number_text(metric, hi).s);
    doc_put(to, "</td><td>");
    if (told)
        block_mark(to, told, "");
    doc_put(to, "</td></tr>");
}

/* Everything that an expectation was judged by on one machine, folded. */
static void cells_write(struct doc *to, const json_t *expectation)
{
    static const char *const names[] = {"variant", "workload", "#workers", "#samples",
                                        "#median", "verdict",  NULL};
    const char *metric = field_text(expectation, "metric");
    bool claim = repro_file_is_claim(expectation);
    doc_put(to, "<details><summary>cells</summary>");
    html_table_begin(to->to, "The cells behind it: medians with 95 % intervals", "cells-behind",
                     names);
    json_each(column, json_object_get(expectation, "columns")) {
        const json_t *over = json_object_get(column, "over");
        const char *verdict = field_text(column, "verdict");
        cell_row(to, metric, json_object_get(column, "level"),
                 claim                                             ? verdict
                 : repro_file_verdict(column) == VERDICT_SUPPORTED ? "as expected"
                 : repro_file_verdict(column) == VERDICT_REFUTED   ? "otherwise"
                                                                   : verdict);
        if (over)
            cell_row(to, metric, over, NULL);
        char *regimes = repro_file_regimes(column);
        if (regimes)
            doc_put(to, "<tr><td colspan='6' class='note'>%s</td></tr>", regimes);
        free(regimes);
    }
    html_table_end(to->to);
    doc_put(to, "</details>");
}

/* Expectations --------------------------------------------------------------------------------- */

/* The shares of two regimes, and the dots. */
static void regimes_write(struct doc *to, const json_t *column)
{
    const json_t *regimes = json_object_get(column, "regimes");
    const json_t *values = json_object_get(regimes, "values");
    bool ratios = strcmp(field_text(regimes, "of"), "ratios") == 0;
    size_t count = json_array_size(values);
    char *text = repro_file_regimes(column);
    double *numbers = xcalloc(count + 1, sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = json_number_value(json_array_get(values, i));
    if (text)
        doc_put(to, "<p class='note'>%s</p>", text);
    if (count > 0)
        report_strip_write(to->to, ratios ? "Ratios of blocks" : "Samples", numbers, count);
    free(numbers);
    free(text);
}

static void lacks_write(struct doc *to, const json_t *expectation, const json_t *column)
{
    size_t columns = json_array_size(json_object_get(expectation, "columns"));
    const json_t *level = json_object_get(column, "level");
    const char *lacks = field_text(column, "lacks");
    doc_put(to, "<td class='lacks'>");
    if (repro_file_verdict(expectation) == VERDICT_NOT_RUN)
        doc_put(to, "Not run: %s", field_text(column, "reason"));
    else if (repro_file_lacks(expectation))
        doc_put(to, "%s%s%s%s", *lacks ? "Lacks " : "", lacks, *lacks ? ": " : "",
                field_text(column, "reason"));
    if (*field_text(column, "why"))
        doc_put(to, "<p class='note'>`%s`: %s</p>", repro_file_slower(expectation, column),
                field_text(column, "why"));
    regimes_write(to, column);
    if (columns > 1)
        doc_put(to, "<p class='note'>It must hold in each of %zu: here `%s`, %lld workers.</p>",
                columns, field_text(level, "workload"), field_integer(level, "workers"));
    cells_write(to, expectation);
    doc_put(to, "</td>");
}

static void measured_row(struct doc *to, const json_t *place, const json_t *expectation)
{
    const json_t *column = repro_file_decisive(expectation);
    doc_put(to, "<tr><th scope='row' class='share'>%s</th><td class='place'>",
            repro_file_place_name(place));
    block_mark(to, repro_file_told(expectation), "");
    doc_put(to, "</td><td class='effect'>");
    repro_effect_write(to, column);
    doc_put(to, "</td><td class='drawn'>");
    repro_strip_write(to, expectation, column);
    doc_put(to, "</td>");
    lacks_write(to, expectation, column);
    doc_put(to, "</tr>");
}

/* Writes the expectation, above a row for each machine. */
static void expectation_write(struct doc *to, const json_t *experiment, const char *part_id,
                              const json_t *expectation)
{
    const char *source = field_text(expectation, "source");
    doc_put(to, "<tbody><tr class='says'><th scope='rowgroup' colspan='5'>%s<span class='wanted'>",
            field_text(expectation, "says"));
    doc_put(to, "%s: ", repro_file_role(expectation));
    block_number(to, expectation);
    doc_put(to, ", expected %s%s%s</span></th></tr>", field_text(expectation, "expected"),
            *source ? "; source: " : "", source);
    json_each(place, json_object_get(experiment, "machines")) {
        const json_t *here = repro_file_expectation(repro_file_part(place, part_id),
                                                    field_integer(expectation, "number"));
        if (here)
            measured_row(to, place, here);
    }
    doc_put(to, "</tbody>");
}

/* Figures -------------------------------------------------------------------------------------- */

static void figure_write(struct doc *to, const struct repro_page *page, const json_t *experiment,
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
    doc_put(to, "<figure><div class='sheet' role='region' tabindex='0' aria-label='%s'>",
            repro_file_place_name(place));
    html_svg(to->to, path, prefix, label);
    doc_put(to,
            "</div><figcaption>%s: <a href='%s/report.html'>all figures and numbers of this run"
            "</a></figcaption></figure>",
            repro_file_place_name(place), folder);
}

static void figures_write(struct doc *to, const struct repro_page *page, const json_t *experiment,
                          const char *part_id)
{
    doc_put(to, "<div class='figures'>");
    json_each(place, json_object_get(experiment, "machines")) {
        const json_t *part = repro_file_part(place, part_id);
        if (!part || !repro_file_is_drawn(part))
            continue;
        json_t *groups = repro_file_groups(part);
        json_each(group, groups)
            figure_write(to, page, experiment, place, part, json_string_value(group));
        json_decref(groups);
    }
    doc_put(to, "</div>");
}

/* Parts ---------------------------------------------------------------------------------------- */

static void part_write(struct doc *to, const struct repro_page *page, const json_t *experiment,
                       const json_t *part)
{
    static const char *const names[] = {
        "machine", "outcome", "measured", "against what was expected", "", NULL};
    const char *id = field_text(part, "id");
    size_t i;
    const json_t *expectation;
    doc_put(to, "<h3>%s<span class='part'> %s/%s</span></h3><ul class='design note'>",
            field_text(part, "question"), field_text(experiment, "id"), id);
    block_design(to, part);
    doc_put(to, "</ul>");
    html_table_open(to->to, "What was expected, and what was measured", "expectations");
    html_thead(to->to, names);
    json_array_foreach(json_object_get(part, "expectations"), i, expectation)
    {
        size_t cells = repro_page_table_write(to, experiment, part, i);
        if (cells > 0)
            i += cells - 1;
        else
            expectation_write(to, experiment, id, expectation);
    }
    html_table_close(to->to);
    figures_write(to, page, experiment, id);
}

/* True if a machine before the i-th had the part. */
static bool told_before(const json_t *experiment, size_t i, const char *part)
{
    const json_t *places = json_object_get(experiment, "machines");
    for (size_t k = 0; k < i; k++)
        if (repro_file_part(json_array_get(places, k), part))
            return true;
    return false;
}

static void parts_write(struct doc *to, const struct repro_page *page, const json_t *experiment)
{
    size_t i;
    const json_t *place;
    json_array_foreach(json_object_get(experiment, "machines"), i, place)
    {
        json_each(part, json_object_get(place, "parts")) {
            if (json_array_size(json_object_get(part, "expectations")) > 0 &&
                !told_before(experiment, i, field_text(part, "id")))
                part_write(to, page, experiment, part);
        }
    }
}

/* The whole ------------------------------------------------------------------------------------ */

void repro_page_disturbed_write(struct doc *to, const json_t *object)
{
    char *disturbed = repro_file_disturbed(object);
    if (disturbed)
        doc_put(to, "<p class='note'>%s.</p>", disturbed);
    free(disturbed);
}

static void machines_write(struct doc *to, const json_t *experiment)
{
    doc_put(to, "<p class='marks'>");
    json_each(place, json_object_get(experiment, "machines")) {
        doc_put(to, "<span>%s ", repro_file_place_name(place));
        block_mark(to, field_text(place, "verdict"), "no claim measured");
        doc_put(to, "</span> ");
    }
    doc_put(to, "</p><p class='said'>%s</p>", repro_file_said(experiment));
    repro_page_disturbed_write(to, experiment);
    block_lesson(to, experiment);
}

void repro_page_experiment_write(struct doc *to, const struct repro_page *page,
                                 const json_t *experiment)
{
    const char *id = field_text(experiment, "id");
    doc_put(to,
            "<section id='%s' class='experiment'><h2><span class='number'>%s</span> %s</h2>"
            "<p class='claim'>%s</p><p class='note'>Claimed by: %s</p>",
            id, id, field_text(experiment, "title"), field_text(experiment, "claim"),
            field_text(experiment, "source"));
    machines_write(to, experiment);
    block_guests(to, experiment);
    doc_put(to,
            "<details class='print'><summary>The reasoning, and what would refute it</summary>");
    doc_paragraphs(to, field_text(experiment, "why"));
    doc_put(to, "<p><b>Refuted by: </b>%s</p></details>", field_text(experiment, "refuted"));
    parts_write(to, page, experiment);
    repro_page_command_write(to, page, experiment);
    doc_put(to, "</section>");
}
