/* repro_page.c - see repro_page.h. */
#include "harness/catalogue/repro_page.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/report/html.h"
#include "harness/report/report_page.h"
#include "harness/repro/repro_file.h"

#include <stdlib.h>
#include <string.h>

enum { LINK_SIZE = 256 };

/* Sums ----------------------------------------------------------------------------------------- */

static void sum_row(FILE *to, const char *what, const char *link, const json_t *list)
{
    static const enum verdict verdicts[] = {VERDICT_SUPPORTED, VERDICT_REFUTED, VERDICT_UNDECIDED,
                                            VERDICT_NONE};
    struct repro_sum sum = repro_file_sum(list);
    html_open(to, "tr", NULL);
    html_open(to, "th", "scope", "row", NULL);
    if (link)
        html_element(to, "a", what, "href", link, NULL);
    else
        html_text(to, what);
    html_close(to, "th");
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
        char number[32];
        snprintf(number, sizeof number, "%zu", sum.of[verdicts[i]]);
        html_td(to, sum.of[verdicts[i]] ? "number" : "number range", number);
    }
    html_close(to, "tr");
}

/* Places by machine: {"native": [place, ...]}; and all expectations, of all machines. */
static void gather(const json_t *repro, json_t *machines, json_t *expectations)
{
    size_t i, k, p;
    json_t *experiment, *place, *part;
    json_array_foreach(json_object_get(repro, "experiments"), i, experiment)
    {
        json_array_foreach(json_object_get(experiment, "machines"), k, place)
        {
            const char *name = repro_file_place_name(place);
            if (!json_object_get(machines, name))
                json_object_set_new(machines, name, json_array());
            json_array_append(json_object_get(machines, name), place);
            json_array_foreach(json_object_get(place, "parts"), p, part)
                json_array_extend(expectations, json_object_get(part, "expectations"));
        }
    }
}

/* Claims by who makes them: {"a blog post of 2023": [claim, ...]}, in the order of the claims. */
static json_t *claims_by_account(const json_t *repro)
{
    json_t *accounts = json_object(), *claim;
    size_t i;
    json_array_foreach(json_object_get(repro, "claims"), i, claim)
    {
        const char *who = field_text(claim, "who");
        if (!json_object_get(accounts, who))
            json_object_set_new(accounts, who, json_array());
        json_array_append(json_object_get(accounts, who), claim);
    }
    return accounts;
}

static void member_rows(FILE *to, const char *before, const char *link, json_t *lists)
{
    const char *name;
    json_t *list;
    json_object_foreach(lists, name, list)
    {
        char *text;
        text = text_format("%s%s", before, name);
        sum_row(to, text, link, list);
        free(text);
    }
}

static void sums_write(FILE *to, const json_t *repro)
{
    static const char *const names[] = {"",           "#supported", "#refuted",
                                        "#undecided", "#not run",   NULL};
    json_t *machines = json_object(), *expectations = json_array();
    json_t *accounts = claims_by_account(repro);
    gather(repro, machines, expectations);
    html_table_open(to, "How many of each", "sums");
    html_thead(to, names);
    html_open(to, "tbody", NULL);
    sum_row(to, "Experiments", "#experiments", json_object_get(repro, "experiments"));
    if (json_object_size(machines) > 1)
        member_rows(to, "on ", NULL, machines);
    sum_row(to, "Single expectations", NULL, expectations);
    html_close(to, "tbody");
    if (json_object_size(accounts) > 0) {
        html_open(to, "tbody", NULL);
        sum_row(to, "Claims of popular accounts", "#claims", json_object_get(repro, "claims"));
        if (json_object_size(accounts) > 1)
            member_rows(to, "of ", NULL, accounts);
        html_close(to, "tbody");
    }
    html_table_close(to);
    json_decref(accounts);
    json_decref(machines);
    json_decref(expectations);
}

/* The table on top ----------------------------------------------------------------------------- */

static void agree_write(FILE *to, const json_t *experiment, size_t rows)
{
    const json_t *agree = json_object_get(experiment, "agree");
    char span[24];
    snprintf(span, sizeof span, "%zu", rows);
    html_open(to, "td", "class", json_is_false(agree) ? "agree failed" : "agree", "rowspan", span,
              NULL);
    if (json_is_boolean(agree)) {
        html_text(to, json_is_true(agree) ? "machines agree" : "machines disagree");
        html_element(to, "span", "where two decide", "class", "wanted", NULL);
    } else
        html_element(to, "span", rows > 1 ? "nothing in common" : "one machine", "class", "range",
                     NULL);
    html_close(to, "td");
}

static void effect_write(FILE *to, const json_t *place)
{
    const json_t *part, *expectation = repro_file_main(place, &part);
    if (!expectation) {
        html_element(to, "td", "", "class", "effect", NULL);
        html_element(to, "td", "", NULL);
        return;
    }
    const json_t *column = repro_file_decisive(expectation);
    html_open(to, "td", "class", "effect", NULL);
    repro_effect_write(to, column);
    html_open(to, "span", "class", "wanted", NULL);
    html_format(to, "expected %s", field_text(expectation, "expected"));
    html_close(to, "span");
    html_close(to, "td");
    html_open(to, "td", NULL);
    repro_strip_write(to, expectation, column);
    html_open(to, "span", "class", "wanted", NULL);
    html_prose(to, field_text(expectation, "says"));
    html_close(to, "span");
    html_close(to, "td");
}

static void experiment_rows(FILE *to, const json_t *experiment)
{
    const json_t *place, *places = json_object_get(experiment, "machines");
    char link[LINK_SIZE], span[24];
    size_t i, rows = json_array_size(places);
    snprintf(link, sizeof link, "#%s", field_text(experiment, "id"));
    snprintf(span, sizeof span, "%zu", rows);
    html_open(to, "tbody", NULL);
    json_array_foreach(places, i, place)
    {
        html_open(to, "tr", NULL);
        if (i == 0) {
            html_open(to, "th", "scope", "rowgroup", "rowspan", span, "class", "title", NULL);
            html_element(to, "a", field_text(experiment, "id"), "href", link, "class", "id", NULL);
            html_format(to, " %s", field_text(experiment, "title"));
            html_close(to, "th");
        }
        html_open(to, "td", "class", "place", NULL);
        html_text(to, repro_file_place_name(place));
        html_close(to, "td");
        html_open(to, "td", NULL);
        repro_mark_write(to, repro_file_verdict(place), "none");
        html_close(to, "td");
        effect_write(to, place);
        if (i == 0)
            agree_write(to, experiment, rows);
        html_close(to, "tr");
    }
    html_close(to, "tbody");
}

static void summary_write(FILE *to, const struct repro_page *page)
{
    static const char *const names[] = {
        "experiment", "machine", "verdict", "main effect", "measured against expected",
        "agreement",  NULL};
    const json_t *experiment, *experiments = json_object_get(page->repro, "experiments");
    size_t i;
    html_open(to, "section", "id", "answers", NULL);
    html_element(to, "h2", "Verdicts", NULL);
    sums_write(to, page->repro);
    html_open(to, "p", "id", "experiments", "class", "note", NULL);
    html_text(to, "The main effect is the one that refutes the claim there or leaves it undecided, "
                  "else the first. Dot and line: median and 95 % interval; band: what was "
                  "expected; the dashed edge is where that begins or ends.");
    html_close(to, "p");
    html_table_open(to, counted(json_array_size(experiments), "experiment").s, "summary");
    html_thead(to, names);
    json_array_foreach(experiments, i, experiment) experiment_rows(to, experiment);
    html_table_close(to);
    html_close(to, "section");
}

/* Environment and method ----------------------------------------------------------------------- */

static void environment_write(FILE *to, const struct repro_page *page)
{
    static const char *const parts[][2] = {
        {"cpu", "CPU"},           {"memory", "Memory"}, {"kernel", "Kernel"},
        {"settings", "Settings"}, {"build", "Build"},   {"libraries", "Libraries"},
    };
    html_open(to, "section", "id", "where", NULL);
    html_element(to, "h2", "Where it was measured", NULL);
    if (json_object_size(page->environment) == 0)
        html_element(to, "p",
                     "There is no environment.json that can be read, so the machine is not known.",
                     "class", "problem", NULL);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        report_facts_write(to, parts[i][1], json_object_get(page->environment, parts[i][0]));
    html_close(to, "section");
}

static void method_write(FILE *to)
{
    static const char *const steps[] = {
        "Each part changes one thing, the factor, and holds the rest fixed. Its levels are "
        "measured "
        "side by side: a sample is a fresh process, and samples come in blocks, each of which "
        "holds every cell once, in shuffled order.",
        "An expectation is a range, stated with its source before anything was measured. It is "
        "held against the median of a level, or the ratio of the medians of two levels, with a "
        "95 % bootstrap interval: inside is supported, outside refuted, neither undecided.",
        "What is simulated, or an order, is the same each time: the value itself counts.",
        "An experiment is refuted on a machine if one of its expectations is, else undecided if "
        "one is, else supported. A verdict is a result: a refuted claim is not an error, "
        "and the exit status of the program says nothing about it.",
        "Machines agree if every expectation that is decided on two of them is decided alike.",
    };
    html_open(to, "section", "id", "method", NULL);
    html_element(to, "h2", "How verdicts are made", NULL);
    html_open(to, "ul", NULL);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        html_element(to, "li", steps[i], NULL);
    html_close(to, "ul");
    html_element(to, "p",
                 "Everything on this page comes from repro.json beside it and from the runs in the "
                 "folders ID@MACHINE; results/README.md of schedlab has the schema.",
                 "class", "note", NULL);
    html_close(to, "section");
}

/* Frame ---------------------------------------------------------------------------------------- */

static const char *form_option(const json_t *repro)
{
    const char *form = field_text(json_object_get(repro, "run"), "form");
    return strcmp(form, "quick") == 0 ? " --quick" : strcmp(form, "held") == 0 ? " --held" : "";
}

/* " --machine sim", of what the reproduction was asked for. */
static void machines_option(FILE *to, const json_t *repro)
{
    const json_t *machine, *run = json_object_get(repro, "run");
    size_t i;
    if (strcmp(field_text(run, "which"), "simulated") == 0)
        html_text(to, " --machine sim");
    if (strcmp(field_text(run, "which"), "given") != 0)
        return;
    json_array_foreach(json_object_get(run, "machines"), i, machine)
        html_format(to, " --machine %s", json_string_value(machine));
}

void repro_page_command_write(FILE *to, const struct repro_page *page, const json_t *experiment)
{
    const char *id = field_text(experiment, "id");
    bool ours = json_object_get(page->catalogue, id) != NULL;
    html_open(to, "p", "class", "again", NULL);
    html_text(to, "Again: ");
    html_open(to, "code", NULL);
    html_text(to, "schedlab repro ");
    if (ours)
        html_text(to, id);
    else
        html_format(to, "%s/experiments/%s.yaml", page->folder, id);
    html_text(to, form_option(page->repro));
    machines_option(to, page->repro);
    html_close(to, "code");
    html_close(to, "p");
}

static void head_write(FILE *to, const char *title)
{
    fputs("<!DOCTYPE html>\n", to);
    html_open(to, "html", "lang", "en", NULL);
    html_open(to, "head", NULL);
    html_open(to, "meta", "charset", "utf-8", NULL);
    html_open(to, "meta", "name", "viewport", "content", "width=device-width, initial-scale=1",
              NULL);
    html_element(to, "title", title, NULL);
    fprintf(to, "\n<style>\n%s%s</style>\n", report_style, repro_style);
    /* What is folded would be missing on paper. */
    fputs("<script>addEventListener('beforeprint',()=>document.querySelectorAll('details.print')"
          ".forEach(d=>d.open=true))</script>\n",
          to);
    html_close(to, "head");
}

static void nav_link(FILE *to, const char *id, const char *text)
{
    char link[LINK_SIZE];
    snprintf(link, sizeof link, "#%s", id);
    html_open(to, "li", NULL);
    html_element(to, "a", text, "href", link, NULL);
    html_close(to, "li");
}

static void nav_write(FILE *to, const json_t *repro)
{
    size_t i;
    const json_t *experiment;
    html_open(to, "nav", "aria-label", "Parts of this page", NULL);
    html_open(to, "ul", NULL);
    nav_link(to, "answers", "Verdicts");
    json_array_foreach(json_object_get(repro, "experiments"), i, experiment)
    {
        const char *id = field_text(experiment, "id");
        nav_link(to, id, id);
    }
    if (json_array_size(json_object_get(repro, "claims")) > 0)
        nav_link(to, "claims", "Claims");
    nav_link(to, "where", "Where");
    nav_link(to, "method", "Method");
    html_close(to, "ul");
    html_close(to, "nav");
}

static void header_write(FILE *to, const struct repro_page *page)
{
    const json_t *repro = page->repro, *problem;
    const json_t *cpu = json_object_get(page->environment, "cpu");
    const char *model = field_text(cpu, "model");
    bool whole = json_is_true(json_object_get(repro, "finished"));
    size_t i;
    html_open(to, "header", NULL);
    html_element(to, "h1", "Design decisions of schedulers, reproduced", NULL);
    html_open(to, "p", "class", "where", NULL);
    html_format(to, "%s, %s, revision %s, on %s with %s. Made by ", field_text(repro, "name"),
                field_text(repro, "began"), field_text(repro, "revision"),
                *model ? model : "an unknown CPU",
                counted((uint64_t)field_integer(cpu, "usable_threads"), "hardware thread").s);
    html_open(to, "code", NULL);
    html_text(to, "schedlab repro");
    const json_t *id, *run = json_object_get(repro, "run");
    if (!json_is_true(json_object_get(run, "all")))
        json_array_foreach(json_object_get(run, "experiments"), i, id)
            html_format(to, " %s", json_string_value(id));
    html_text(to, form_option(repro));
    machines_option(to, repro);
    html_close(to, "code");
    html_text(to, ".");
    html_close(to, "p");
    if (!whole)
        html_element(to, "p",
                     "The reproduction was stopped before its end: what it did not come to is "
                     "undecided. `schedlab repro --resume` goes on.",
                     "class", "problem", NULL);
    json_array_foreach(page->problems, i, problem)
    {
        html_open(to, "p", "class", "problem", NULL);
        html_prose(to, json_string_value(problem));
        html_close(to, "p");
    }
    nav_write(to, repro);
    html_close(to, "header");
}

void repro_page_write(FILE *to, const struct repro_page *page)
{
    size_t i;
    const json_t *experiment;
    head_write(to, field_text(page->repro, "name"));
    html_open(to, "body", NULL);
    header_write(to, page);
    html_open(to, "main", NULL);
    summary_write(to, page);
    json_array_foreach(json_object_get(page->repro, "experiments"), i, experiment)
        repro_page_experiment_write(to, page, experiment);
    repro_page_claims_write(to, page);
    environment_write(to, page);
    method_write(to);
    html_close(to, "main");
    html_close(to, "body");
    html_close(to, "html");
}
