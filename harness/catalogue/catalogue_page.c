/* catalogue_page.c - the page of an experiment. See catalogue.h. */
#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/catalogue/blocks.h"
#include "harness/catalogue/catalogue.h"
#include "harness/repro/repro_file.h"
#include "harness/repro/verdict_json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* Design --------------------------------------------------------------------------------------- */

static void machines_write(struct doc *to, const struct experiment *experiment)
{
    const char **places = experiment_places(experiment);
    for (size_t i = 0; places[i]; i++)
        if (strcmp(places[i], EXPERIMENT_MACHINES) == 0)
            doc_put(to, "%sseveral machines beside each other", i ? ", " : "");
        else
            doc_put(to, "%s`%s`", i ? ", " : "", places[i]);
    free(places);
}

/* Writes which factors vary and which are held fixed. */
static void design_write(struct doc *to, const struct experiment_part *part, const json_t *json)
{
    doc_put(to, "<ul>");
    block_design(to, json);
    for (unsigned i = 0; i < part->machines_count; i++)
        doc_put(to, i ? ", `%s`" : "<li>On: `%s`", part->machines[i]);
    doc_put(to, part->machines_count > 0 ? "</li>" : "");
    if (part->together)
        doc_put(to, "<li>More than one thing changes: %s</li>", part->together);
    if (part->full)
        doc_put(to, "<li>It takes long, and is left out with `--quick`</li>");
    doc_put(to, "</ul>");
}

/* Writes the options by which `schedlab run` makes the calls that the file asks for. An order is
 * shown of one call unless calls are asked for. */
static void calls_write(struct doc *to, const struct experiment *experiment,
                        const struct experiment_part *part, const char *machine)
{
    bool native = strcmp(machine, "native") == 0;
    const struct sweep_file *num = native ? &experiment->native : &experiment->num;
    if (strcmp(part->metric, "order") == 0)
        return;
    if (num->warmup >= 0)
        doc_put(to, " --warmup %lld", (long long)num->warmup);
    doc_put(to, " --iterations %lld", (long long)num->iterations);
    if (num->min_time_given && num->min_time_ms > 0)
        doc_put(to, " --min-time %lldms", (long long)num->min_time_ms);
}

/* The same cells by hand, where all levels fit into one table of `schedlab run`. */
static void by_hand_write(struct doc *to, const struct experiment *experiment,
                          const struct experiment_part *part)
{
    const char *machine = part->machines_count > 0 ? part->machines[0] : experiment->machines[0];
    struct experiment_column column = experiment_column(part, 0);
    if (part->factor != FACTOR_KNOB && part->factor != FACTOR_VARIANT)
        return;
    doc_put(to, "\n```sh\nbuild/schedlab run");
    for (unsigned i = 0; i < part->levels_count; i++)
        doc_put(to, " %s", experiment_cell(part, i, column, machine).variant);
    struct experiment_cell cell = experiment_cell(part, 0, column, machine);
    doc_put(to, " %s --workers %lld", cell.workload, (long long)cell.workers);
    if (strcmp(machine, "native") != 0)
        doc_put(to, " --machine %s", machine);
    calls_write(to, experiment, part, machine);
    doc_put(to, "%s\n```\n", experiment->pin ? " --pin" : "");
}

static void expected_row(struct doc *to, const struct experiment_expect *expect, const json_t *json)
{
    doc_put(to, "<tr><td>%lld</td><td>%s</td><td>%s</td><td>", field_integer(json, "number"),
            repro_file_role(json), expect->says);
    block_number(to, json);
    if (expect->variant)
        doc_put(to, ", of `%s`", expect->variant);
    if (expect->workload)
        doc_put(to, ", of `%s`", expect->workload);
    if (expect->machine)
        doc_put(to, ", on `%s`", expect->machine);
    if (expect->workers > 0)
        doc_put(to, ", %s", counted((uint64_t)expect->workers, "worker").s);
    doc_put(to, "</td><td>%s</td><td>%s</td></tr>", expect->wanted, expect->source);
}

/* The reference -------------------------------------------------------------------------------- */

/* The last column says what a verdict lacks, of which regimes its numbers are, and why one side of
 * a ratio is slower. */
static void measured_row(struct doc *to, const json_t *place, const json_t *expectation)
{
    const json_t *column = repro_file_decisive(expectation);
    const char *lacking = repro_file_lacks(expectation) ? field_text(column, "reason") : "";
    char *regimes = repro_file_regimes(column);
    doc_put(to, "| %lld | %s | ", field_integer(expectation, "number"),
            repro_file_place_name(place));
    block_mark(to, repro_file_told(expectation), "");
    doc_put(to, " | %s | %s", block_effect(column), lacking);
    if (regimes)
        doc_put(to, *lacking ? "<br>%s" : "%s", regimes);
    if (*field_text(column, "why"))
        doc_put(to, *lacking || regimes ? "<br>`%s`: %s" : "`%s`: %s",
                repro_file_slower(expectation, column), field_text(column, "why"));
    doc_put(to, " |\n");
    free(regimes);
}

/* The figures of a part on a machine: those whose files are there. */
static void figures_write(struct doc *to, const struct catalogue_pages *pages,
                          const char *experiment, const json_t *place, const json_t *part)
{
    char path[PATH_SIZE];
    json_t *groups = repro_file_groups(part);
    json_each(group, groups) {
        char *name = catalogue_figure_name(experiment, json_string_value(group), place);
        snprintf(path, sizeof path, "%s/experiments/%s", pages->folder, name);
        if (access(path, R_OK) == 0) {
            doc_put(to, "\n![%s On %s.](", field_text(part, "question"),
                    repro_file_place_name(place));
            fprintf(to->to, "%s)\n", name);
        }
        free(name);
    }
    json_decref(groups);
}

/* The reference's result for a part, if it has one. */
static void part_reference_write(struct doc *to, const struct catalogue_pages *pages,
                                 const json_t *reference, const struct experiment_part *part)
{
    size_t k, rows = 0;
    const json_t *expectation;
    json_each(place, json_object_get(reference, "machines")) {
        const json_t *there = repro_file_part(place, part->id);
        json_array_foreach(json_object_get(there, "expectations"), k, expectation)
        {
            if (rows++ == 0)
                doc_put(to, "<p>Measured in the reference reproduction:</p>\n"
                            "| # | machine | outcome | measured | why |\n|---|---|---|---|---|\n");
            size_t cells = catalogue_table_measured(to, place, there, k);
            if (cells > 0)
                k += cells - 1;
            else
                measured_row(to, place, expectation);
        }
    }
    json_each(place, json_object_get(reference, "machines")) {
        const json_t *there = repro_file_part(place, part->id);
        if (there && repro_file_is_drawn(there))
            figures_write(to, pages, field_text(reference, "id"), place, there);
    }
}

static void part_write(struct doc *to, const struct catalogue_pages *pages,
                       const struct experiment *experiment, const json_t *reference,
                       const struct experiment_part *part)
{
    json_t *json = part_to_json(part);
    doc_put(to, "<h3>%s/%s: %s</h3>", experiment->id, part->id, part->question);
    design_write(to, part, json);
    if (pages)
        by_hand_write(to, experiment, part);
    doc_put(to, "\n<thead><tr><th>#</th><th>role</th><th>expectation</th><th>number</th>"
                "<th>expected</th><th>source</th></tr></thead><tbody>");
    for (unsigned i = 0; i < part->expect_count; i++) {
        size_t cells = catalogue_table_row(to, json, i);
        if (cells > 0)
            i += (unsigned)cells - 1;
        else
            expected_row(to, &part->expect[i],
                         json_array_get(json_object_get(json, "expectations"), i));
    }
    doc_put(to, "</tbody>");
    catalogue_tables_write(to, reference, json);
    if (pages)
        part_reference_write(to, pages, reference, part);
    json_decref(json);
}

/* The verdict, in a sentence per machine. */
static void verdict_write(struct doc *to, const struct catalogue_pages *pages,
                          const json_t *reference)
{
    const json_t *part;
    doc_put(to, "<h2>Verdict</h2>\n");
    if (!reference)
        doc_put(to, pages->reference
                        ? "The committed reference reproduction does not have it.\n"
                        : "No reference reproduction is committed yet, so there is none.\n");
    if (reference) {
        doc_put(to, "All in all: %s.\n\n", repro_file_said(reference));
        block_lesson(to, reference);
    }
    json_each(place, json_object_get(reference, "machines")) {
        const json_t *expectation = repro_file_main(place, &part);
        const json_t *effect = json_object_get(repro_file_decisive(expectation), "effect");
        doc_put(to, "- %s: ", repro_file_place_name(place));
        block_mark(to, field_text(place, "verdict"), "no claim measured");
        if (*field_text(effect, "text"))
            doc_put(to, ", %s#%lld: %s, expected %s", field_text(part, "id"),
                    field_integer(expectation, "number"), field_text(effect, "text"),
                    field_text(expectation, "expected"));
        doc_put(to, "\n");
    }
    block_guests(to, reference);
}

/* For a course --------------------------------------------------------------------------------- */

static void questions_write(struct doc *to, const struct experiment *experiment,
                            const json_t *expectation)
{
    const struct experiment_part *part = &experiment->parts[0];
    const char **places = experiment_places(experiment);
    doc_put(to,
            "<h2>Questions for a course</h2>\n1. %s Before you look at any number here, write down "
            "what you expect for ",
            part->question);
    block_number(to, expectation);
    doc_put(to,
            ", and the reasoning that gave it. Then run it. Which step of your reasoning was off, "
            "and by how much?\n2. Refuted means here: %s Is that a fair test? Name an observation "
            "that would refute the claim and that this experiment cannot make.\n3. Copy the file, "
            "change one thing about it that should leave the verdict as it is, and one that should "
            "turn it over: another workload, more workers, another machine, another level of `%s`. "
            "Run both ([how](../ADDING.md)). What have you learned about when the claim holds?\n",
            experiment->refuted, experiment_factor_name(part));
    if (places[0] && places[1]) {
        doc_put(to, "4. `%s` and ", places[0]);
        doc_put(to, strcmp(places[1], EXPERIMENT_MACHINES) == 0 ? "the simulated machines" : "`%s`",
                places[1]);
        doc_put(to, " do not give the same numbers. For the largest difference: what does the "
                    "model leave out, and what disturbs the other one?\n");
    }
    free(places);
}

/* The page ------------------------------------------------------------------------------------- */

void catalogue_page_write(struct doc *to, const struct catalogue_pages *pages,
                          const struct experiment *experiment)
{
    const char *file = text_base_name(experiment->path), *id = experiment->id;
    const json_t *reference = pages ? repro_file_entry(pages->reference, "experiments", id) : NULL;
    json_t *first = part_to_json(&experiment->parts[0]);
    if (pages)
        fprintf(to->to, "<!-- Made by `make docs` of harness/experiments/%s. -->\n", file);
    doc_put(to, "<h1>%s: %s</h1><blockquote>%s</blockquote><p>Claimed by: %s</p>", id,
            experiment->title, experiment->claim, experiment->source);
    if (pages)
        fprintf(to->to,
                "\n[All experiments](../EXPERIMENTS.md) | "
                "[its file](../../harness/experiments/%s)\n",
                file);
    if (experiment->dispute) {
        doc_put(to, "<ul>");
        catalogue_dispute_write(to, experiment->dispute);
        doc_put(to, "</ul>");
    }
    doc_put(to, "<h2>The reasoning</h2>");
    doc_paragraphs(to, experiment->why);
    doc_put(to, "<h2>What would refute it</h2>");
    doc_paragraphs(to, experiment->refuted);
    if (pages)
        verdict_write(to, pages, reference);
    doc_put(to,
            "<h2>Run it</h2><pre>build/schedlab repro %s --quick    # %lld samples a cell or more\n"
            "build/schedlab repro %s            # until intervals are narrow\n</pre>\nMachines: ",
            id, (long long)experiment_quick_reps(experiment), id);
    machines_write(to, experiment);
    doc_put(to, ".\n<h2>What is measured, and what is expected</h2>");
    for (unsigned p = 0; p < experiment->parts_count; p++)
        part_write(to, pages, experiment, reference, &experiment->parts[p]);
    if (pages)
        questions_write(to, experiment, json_array_get(json_object_get(first, "expectations"), 0));
    json_decref(first);
}
