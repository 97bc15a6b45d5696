/* repro_page.c - see repro_page.h. */
#include "harness/catalogue/repro_page.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/catalogue/repro_mark.h"
#include "harness/doc/html.h"
#include "harness/records/run_folder.h"
#include "harness/report/report_page.h"
#include "harness/repro/repro_file.h"

#include <stdlib.h>
#include <string.h>

/* Sums ----------------------------------------------------------------------------------------- */

/* before: what stands before the name, "on ". */
static void sum_row(struct doc *to, const char *before, const char *name, const char *link,
                    const json_t *list)
{
    static const enum verdict verdicts[] = {VERDICT_SUPPORTED, VERDICT_REFUTED, VERDICT_DISAGREE,
                                            VERDICT_UNDECIDED, VERDICT_NONE};
    struct repro_sum sum = repro_file_sum(list);
    sum.of[VERDICT_NONE] += sum.of[VERDICT_NOT_RUN];
    doc_put(to, "<tr><th scope='row'>");
    if (link)
        doc_put(to, "<a href='%s'>%s</a></th>", link, name);
    else
        doc_put(to, "%s%s</th>", before, name);
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++)
        doc_put(to, "<td class='number%s'>%zu</td>", sum.of[verdicts[i]] ? "" : " range",
                sum.of[verdicts[i]]);
    doc_put(to, "</tr>");
}

/* Adds those that carry a claim. */
static void claims_extend(json_t *claims, const json_t *expectations)
{
    json_each(one, expectations) {
        if (repro_file_is_claim(one))
            json_array_append(claims, one);
    }
}

/* Places by machine: {"native": [place, ...]}; and all single claims, of all machines. */
static void gather(const json_t *repro, json_t *machines, json_t *expectations)
{
    json_each(experiment, json_object_get(repro, "experiments")) {
        json_each(place, json_object_get(experiment, "machines")) {
            fields_group_add(machines, repro_file_place_name(place), place);
            json_each(part, json_object_get(place, "parts"))
                claims_extend(expectations, json_object_get(part, "expectations"));
        }
    }
}

static void member_rows(struct doc *to, const char *before, json_t *lists)
{
    const char *name;
    json_t *list;
    if (json_object_size(lists) > 1)
        json_object_foreach(lists, name, list) sum_row(to, before, name, NULL, list);
}

static void sums_write(struct doc *to, const json_t *repro)
{
    static const char *const names[] = {
        "", "#supported", "#refuted", "#machines disagree", "#undecided", "#not run", NULL};
    json_t *machines = json_object(), *expectations = json_array();
    gather(repro, machines, expectations);
    html_table_begin(to->to, "How many of each", "sums", names);
    sum_row(to, "", "Experiments", "#experiments", json_object_get(repro, "experiments"));
    member_rows(to, "on ", machines);
    sum_row(to, "", "Single claims", NULL, expectations);
    html_table_end(to->to);
    json_decref(machines);
    json_decref(expectations);
}

/* The table on top ----------------------------------------------------------------------------- */

static void effect_write(struct doc *to, const json_t *place)
{
    const json_t *part, *expectation = repro_file_main(place, &part);
    if (!expectation) {
        doc_put(to, "<td class='effect'></td><td></td>");
        return;
    }
    const json_t *column = repro_file_decisive(expectation);
    doc_put(to, "<td class='effect'>");
    repro_effect_write(to, column);
    doc_put(to, "<span class='wanted'>expected %s</span></td><td>",
            field_text(expectation, "expected"));
    repro_strip_write(to, expectation, column);
    doc_put(to, "<span class='wanted'>%s</span></td>", field_text(expectation, "says"));
}

/* The decision, what to take from it, and the verdict of all machines. */
static void decision_write(struct doc *to, const json_t *experiment, size_t rows)
{
    const char *id = field_text(experiment, "id");
    doc_put(to,
            "<th scope='rowgroup' rowspan='%zu' class='title'><a href='#%s' class='id'>%s</a> "
            "%s</th><td rowspan='%zu' class='verdict'>",
            rows, id, id, field_text(experiment, "title"), rows);
    block_mark(to, field_text(experiment, "verdict"), "no claim measured");
    block_lesson(to, experiment);
    doc_put(to, "<span class='wanted'>%s</span></td>", repro_file_said(experiment));
}

static void experiment_rows(struct doc *to, const json_t *experiment)
{
    const json_t *place, *places = json_object_get(experiment, "machines");
    size_t i, rows = json_array_size(places);
    doc_put(to, "<tbody>");
    json_array_foreach(places, i, place)
    {
        doc_put(to, "<tr>");
        if (i == 0)
            decision_write(to, experiment, rows);
        doc_put(to, "<td class='place'>%s<br>", repro_file_place_name(place));
        block_mark(to, field_text(place, "verdict"), "no claim");
        doc_put(to, "</td>");
        effect_write(to, place);
        doc_put(to, "</tr>");
    }
    doc_put(to, "</tbody>");
}

static void summary_write(struct doc *to, const struct repro_page *page)
{
    static const char *const names[] = {
        "decision", "lesson", "machine", "strongest number", "measured against expected", NULL};
    const json_t *experiments = json_object_get(page->repro, "experiments");
    doc_put(to, "<section id='answers'><h2>Verdicts</h2>");
    sums_write(to, page->repro);
    repro_page_disturbed_write(to, page->repro);
    doc_put(to, "<p id='experiments' class='note'>The number is the claim's that is refuted there "
                "or undecided, else the strongest one. Dot and line: median and 95 %% interval; "
                "band: what was expected; the dashed edge is where that begins or ends.</p>");
    html_table_open(to->to, counted(json_array_size(experiments), "experiment").s, "summary");
    html_thead(to->to, names);
    json_each(experiment, experiments)
        experiment_rows(to, experiment);
    html_table_close(to->to);
    doc_put(to, "</section>");
}

/* Environment and method ----------------------------------------------------------------------- */

static void environment_write(struct doc *to, const struct repro_page *page)
{
    static const char *const parts[][2] = {
        {"cpu", "CPU"},           {"memory", "Memory"}, {"kernel", "Kernel"},
        {"settings", "Settings"}, {"build", "Build"},   {"libraries", "Libraries"},
    };
    doc_put(to, "<section id='where'><h2>Where it was measured</h2>");
    if (json_object_size(page->environment) == 0)
        doc_put(to, "<p class='problem'>There is no environment.json that can be read, so the "
                    "machine is not known.</p>");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        report_facts_write(to->to, parts[i][1], json_object_get(page->environment, parts[i][0]));
    doc_put(to, "</section>");
}

static void method_write(struct doc *to)
{
    static const char *const steps[] = {
        "Each part changes one thing, the factor, and holds the rest fixed. Its levels are "
        "measured side by side: a sample is a fresh process, and samples come in blocks, each of "
        "which holds every cell once, in shuffled order.",
        "An expectation is a range with its source. Where it was set or changed after a first "
        "measurement, the source or the reasoning says so. It is held against the median of a "
        "level, or the median of ratios of two, with a 95 % bootstrap interval: inside is "
        "supported, outside refuted, neither undecided.",
        "A ratio is of two samples of one block, so what slows a block down drops out. It need "
        "not be that of the two medians beside it.",
        "What is simulated, or an order, is the same each time: the value itself counts.",
        "An expectation is a claim, a size, a price or a check. Claims carry the experiment's "
        "sentence. Sizes say how much, prices what it costs elsewhere, and checks that the run did "
        "what it was meant to do.",
        "The verdict comes from the claims alone. An experiment is refuted on a machine if one of "
        "its claims is, else undecided if one is, else supported. Machines disagree if one "
        "supports and another one refutes. A refuted claim is a result, not an error, and the exit "
        "status of the program says nothing about it.",
        "A level may be another runtime, as peer:go. Where that is not built, what is expected of "
        "it is not run, and neither is the experiment, unless something else of it is refuted or "
        "undecided.",
    };
    doc_put(to, "<section id='method'><h2>How verdicts are made</h2><ul>");
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        doc_put(to, "<li>%s</li>", steps[i]);
    doc_put(to, "</ul><p class='note'>Everything on this page comes from repro.json beside it and "
                "from the runs in the folders ID@MACHINE; results/README.md of schedlab has the "
                "schema.</p></section>");
}

/* Frame ---------------------------------------------------------------------------------------- */

static const char *form_option(const json_t *repro)
{
    const char *form = field_text(json_object_get(repro, "run"), "form");
    return strcmp(form, "quick") == 0 ? " --quick" : strcmp(form, "held") == 0 ? " --held" : "";
}

/* Writes the options of the reproduction: " --quick --machine sim". */
static void options_write(struct doc *to, const json_t *repro)
{
    const json_t *run = json_object_get(repro, "run");
    const char *which = field_text(run, "which");
    doc_put(to, "%s%s%s", form_option(repro),
            strcmp(which, "simulated") == 0 ? " --machine sim" : "",
            json_is_true(json_object_get(run, "guests")) ? " --guests" : "");
    if (strcmp(which, "given") == 0)
        json_each(machine, json_object_get(run, "machines"))
            doc_put(to, " --machine %s", json_string_value(machine));
    doc_put(to, "</code>");
}

/* "repro", behind the files from outside the tree that it needs. */
static void repro_write(struct doc *to, const struct repro_page *page)
{
    char *with = run_folder_with(page->environment);
    doc_put(to, "schedlab%s repro", with);
    free(with);
}

/* A path in the folder as a word of a command. */
static void path_write(struct doc *to, const struct repro_page *page, const char *below)
{
    char *word, *path = text_format("%s%s", page->folder, below);
    FILE *words = memory_stream(&word, NULL);
    shell_word_print(words, path);
    fclose(words);
    doc_put(to, " %s", word);
    free(word);
    free(path);
}

void repro_page_command_write(struct doc *to, const struct repro_page *page,
                              const json_t *experiment)
{
    const char *id = field_text(experiment, "id");
    char *below = text_format("/experiments/%s.yaml", id);
    doc_put(to, "<p class='again'>Again: <code>");
    repro_write(to, page);
    if (json_object_get(page->catalogue, id))
        doc_put(to, " %s", id);
    else
        path_write(to, page, below);
    free(below);
    options_write(to, page->repro);
    doc_put(to, "</p>");
}

static void head_write(struct doc *to, const char *title)
{
    doc_put(to,
            "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
            "<meta name='viewport' content='width=device-width, initial-scale=1'>"
            "<title>%s</title>",
            title);
    fprintf(to->to, "\n<style>\n%s%s</style>\n", report_style, repro_style);
    /* Folded parts would be missing on paper. */
    fputs("<script>addEventListener('beforeprint',()=>document.querySelectorAll('details.print')"
          ".forEach(d=>d.open=true))</script>\n",
          to->to);
    doc_put(to, "</head>");
}

static void nav_write(struct doc *to, const json_t *repro)
{
    doc_put(to,
            "<nav aria-label='Parts of this page'><ul><li><a href='#answers'>Verdicts</a></li>");
    json_each(experiment, json_object_get(repro, "experiments")) {
        const char *id = field_text(experiment, "id");
        doc_put(to, "<li><a href='#%s'>%s</a></li>", id, id);
    }
    if (json_array_size(json_object_get(repro, "claims")) > 0)
        doc_put(to, "<li><a href='#claims'>Claims</a></li>");
    doc_put(to, "<li><a href='#where'>Where</a></li><li><a href='#method'>Method</a></li></ul>"
                "</nav>");
}

static void header_write(struct doc *to, const struct repro_page *page)
{
    const json_t *repro = page->repro, *run = json_object_get(repro, "run");
    const json_t *cpu = json_object_get(page->environment, "cpu");
    const char *model = field_text(cpu, "model");
    doc_put(to,
            "<header><h1>Design decisions of schedulers, reproduced</h1><p class='where'>%s, %s, "
            "revision %s, on %s with %s. Made by <code>",
            field_text(repro, "name"), field_text(repro, "began"), field_text(repro, "revision"),
            *model ? model : "an unknown CPU",
            counted((uint64_t)field_integer(cpu, "usable_threads"), "hardware thread").s);
    repro_write(to, page);
    if (!json_is_true(json_object_get(run, "all")))
        json_each(id, json_object_get(run, "experiments"))
            doc_put(to, " %s", json_string_value(id));
    options_write(to, repro);
    doc_put(to, ".</p>");
    if (!json_is_true(json_object_get(repro, "finished"))) {
        doc_put(to, "<p class='problem'>The reproduction was stopped before its end: what it did "
                    "not come to is undecided. <code>");
        repro_write(to, page);
        doc_put(to, " --resume");
        path_write(to, page, "");
        doc_put(to, "</code> goes on.</p>");
    }
    json_each(problem, page->problems)
        doc_put(to, "<p class='problem'>%s</p>", json_string_value(problem));
    nav_write(to, repro);
    doc_put(to, "</header>");
}

void repro_page_write(FILE *file, const struct repro_page *page)
{
    struct doc html = {.to = file, .format = DOC_HTML}, *to = &html;
    head_write(to, field_text(page->repro, "name"));
    doc_put(to, "<body>");
    header_write(to, page);
    doc_put(to, "<main>");
    summary_write(to, page);
    json_each(experiment, json_object_get(page->repro, "experiments"))
        repro_page_experiment_write(to, page, experiment);
    repro_page_claims_write(to, page);
    environment_write(to, page);
    method_write(to);
    doc_put(to, "</main></body></html>");
}
