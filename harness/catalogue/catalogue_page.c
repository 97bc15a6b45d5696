/* catalogue_page.c - the page of an experiment, in Markdown. See catalogue.h. */
#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/catalogue/catalogue.h"

#include "harness/repro/repro_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* What is measured ----------------------------------------------------------------------------- */

static void codes_write(FILE *to, char *const *list, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        fputs(i ? ", " : "", to);
        catalogue_code(to, list[i]);
    }
}

static void machines_write(FILE *to, const struct experiment *experiment)
{
    const char **places = experiment_places(experiment);
    for (size_t i = 0; places[i]; i++) {
        fputs(i ? ", " : "", to);
        if (strcmp(places[i], EXPERIMENT_MACHINES) == 0)
            fputs("several machines beside each other", to);
        else
            catalogue_code(to, places[i]);
    }
    free(places);
}

static void levels_write(FILE *to, const struct experiment_part *part)
{
    for (unsigned i = 0; i < part->levels_count; i++) {
        fputs(i ? ", " : "", to);
        catalogue_code(to, part->levels[i]);
        if (i == part->baseline)
            fputs(" (baseline)", to);
    }
}

static void kept_write(FILE *to, const struct experiment_part *part)
{
    if (part->factor != FACTOR_VARIANT) {
        codes_write(to, part->variants, part->variants_count);
        fputs("; ", to);
    }
    if (part->factor != FACTOR_WORKLOAD) {
        codes_write(to, part->workloads, part->workloads_count);
        fputs(part->factor != FACTOR_WORKERS ? "; " : "", to);
    }
    for (unsigned i = 0; part->factor != FACTOR_WORKERS && i < part->workers_count; i++)
        fprintf(to, "%s%lld", i ? ", " : "workers: ", (long long)part->workers[i]);
}

/* What is varied and what is held fixed. */
static void design_write(FILE *to, const struct experiment_part *part)
{
    fputs("- Changes: ", to);
    catalogue_code(to, experiment_factor_name(part));
    fputs(": ", to);
    levels_write(to, part);
    fputs("\n- Stays: ", to);
    kept_write(to, part);
    fputs("\n- Measured: ", to);
    catalogue_code(to, part->metric);
    fputc('\n', to);
    if (part->machines_count > 0) {
        fputs("- On: ", to);
        codes_write(to, part->machines, part->machines_count);
        fputc('\n', to);
    }
    if (part->together) {
        fputs("- More than one thing changes: ", to);
        catalogue_text(to, part->together);
        fputc('\n', to);
    }
    if (part->full)
        fputs("- It takes long, and is left out with `--quick`\n", to);
}

/* The same cells by hand, where all levels fit into one table of `schedlab run`. */
static void by_hand_write(FILE *to, const struct experiment *experiment,
                          const struct experiment_part *part)
{
    const char *machine = part->machines_count > 0 ? part->machines[0] : experiment->machines[0];
    struct experiment_column column = experiment_column(part, 0);
    if (part->factor != FACTOR_KNOB && part->factor != FACTOR_VARIANT)
        return;
    fputs("\n```sh\nbuild/schedlab run", to);
    for (unsigned i = 0; i < part->levels_count; i++)
        fprintf(to, " %s", experiment_cell(part, i, column, machine).variant);
    struct experiment_cell cell = experiment_cell(part, 0, column, machine);
    fprintf(to, " %s --workers %lld", cell.workload, (long long)cell.workers);
    if (strcmp(machine, "native") != 0)
        fprintf(to, " --machine %s", machine);
    fputs("\n```\n", to);
}

/* What is expected of what: "`p99` of `on` over `off`". */
static void number_write(FILE *to, const struct experiment_part *part,
                         const struct experiment_expect *expect)
{
    catalogue_code(to, expect->metric ? expect->metric : part->metric);
    fputs(" of ", to);
    catalogue_code(to, expect->level);
    if (expect->over) {
        fputs(" over ", to);
        catalogue_code(to, expect->over);
    }
}

static void expected_row(FILE *to, const struct experiment_part *part, unsigned i)
{
    const struct experiment_expect *expect = &part->expect[i];
    fprintf(to, "| %u | ", i + 1);
    catalogue_text(to, expect->says);
    fputs(" | ", to);
    number_write(to, part, expect);
    const char *const one_of[] = {expect->variant, expect->workload};
    for (size_t k = 0; k < 2; k++)
        if (one_of[k]) {
            fputs(", of ", to);
            catalogue_code(to, one_of[k]);
        }
    if (expect->machine) {
        fputs(", on ", to);
        catalogue_code(to, expect->machine);
    }
    if (expect->workers > 0)
        fprintf(to, ", %s", counted((uint64_t)expect->workers, "worker").s);
    fputs(" | ", to);
    catalogue_text(to, expect->wanted);
    fputs(" | ", to);
    catalogue_text(to, expect->source ? expect->source : "");
    fputs(" |\n", to);
}

/* The reference -------------------------------------------------------------------------------- */

static void measured_row(FILE *to, const json_t *place, const json_t *expectation)
{
    const json_t *column = repro_file_decisive(expectation);
    const char *effect = field_text(json_object_get(column, "effect"), "text");
    fprintf(to, "| %" JSON_INTEGER_FORMAT " | %s | ", field_integer(expectation, "number"),
            repro_file_place_name(place));
    catalogue_verdict(to, repro_file_verdict(expectation));
    fputs(" | ", to);
    catalogue_text(to, *effect ? effect : "no number");
    fputs(" | ", to);
    if (repro_file_verdict(expectation) == VERDICT_UNDECIDED)
        catalogue_text(to, field_text(column, "reason"));
    fputs(" |\n", to);
}

/* The figures of a part on a machine: those whose files are there. */
static void figures_write(FILE *to, const struct catalogue_pages *pages, const char *experiment,
                          const json_t *place, const json_t *part)
{
    char path[PATH_SIZE];
    size_t i;
    json_t *group, *groups = repro_file_groups(part);
    json_array_foreach(groups, i, group)
    {
        char *name = catalogue_figure_name(experiment, json_string_value(group), place);
        snprintf(path, sizeof path, "%s/experiments/%s", pages->folder, name);
        if (access(path, R_OK) == 0) {
            fputs("\n![", to);
            catalogue_text(to, field_text(part, "question"));
            fprintf(to, " On %s.](%s)\n", repro_file_place_name(place), name);
        }
        free(name);
    }
    json_decref(groups);
}

/* What the reference says of a part, if it has it. */
static void part_reference_write(FILE *to, const struct catalogue_pages *pages,
                                 const json_t *reference, const struct experiment_part *part)
{
    size_t i, k, rows = 0;
    const json_t *place, *expectation;
    json_array_foreach(json_object_get(reference, "machines"), i, place)
    {
        const json_t *there = repro_file_part(place, part->id);
        json_array_foreach(json_object_get(there, "expectations"), k, expectation)
        {
            if (rows++ == 0)
                fputs("\nMeasured in the reference reproduction:\n\n"
                      "| # | machine | verdict | measured | lacks |\n|---|---|---|---|---|\n",
                      to);
            size_t cells = catalogue_table_measured(to, place, there, k);
            if (cells > 0)
                k += cells - 1;
            else
                measured_row(to, place, expectation);
        }
    }
    json_array_foreach(json_object_get(reference, "machines"), i, place)
    {
        const json_t *there = repro_file_part(place, part->id);
        if (there && repro_file_is_drawn(there))
            figures_write(to, pages, field_text(reference, "id"), place, there);
    }
}

static void part_write(FILE *to, const struct catalogue_pages *pages,
                       const struct experiment *experiment, const json_t *reference,
                       const struct experiment_part *part)
{
    fprintf(to, "\n### %s/%s: ", experiment->id, part->id);
    catalogue_text(to, part->question);
    fputs("\n\n", to);
    design_write(to, part);
    by_hand_write(to, experiment, part);
    fputs("\n| # | expectation | number | expected | source |\n|---|---|---|---|---|\n", to);
    for (unsigned i = 0; i < part->expect_count; i++) {
        size_t cells = catalogue_table_row(to, part, i);
        if (cells > 0)
            i += (unsigned)cells - 1;
        else
            expected_row(to, part, i);
    }
    catalogue_tables_write(to, reference, part);
    part_reference_write(to, pages, reference, part);
}

/* The verdict, in a sentence per machine. */
static void verdict_write(FILE *to, const struct catalogue_pages *pages, const json_t *reference)
{
    size_t i;
    const json_t *place, *part, *agree = json_object_get(reference, "agree");
    fputs("\n## Verdict\n\n", to);
    if (!reference) {
        fputs(pages->reference ? "The committed reference reproduction does not have it.\n"
                               : "No reference reproduction is committed yet, so there is none.\n",
              to);
        return;
    }
    json_array_foreach(json_object_get(reference, "machines"), i, place)
    {
        const json_t *expectation = repro_file_main(place, &part);
        const json_t *column = expectation ? repro_file_decisive(expectation) : NULL;
        const char *effect = field_text(json_object_get(column, "effect"), "text");
        fprintf(to, "- %s: ", repro_file_place_name(place));
        catalogue_verdict(to, repro_file_verdict(place));
        if (*effect) {
            fprintf(to, ", by %s#%" JSON_INTEGER_FORMAT ": ", field_text(part, "id"),
                    field_integer(expectation, "number"));
            catalogue_text(to, effect);
            fputs(", expected ", to);
            catalogue_text(to, field_text(expectation, "expected"));
        }
        fputc('\n', to);
    }
    if (json_is_boolean(agree))
        fprintf(to, "\nWhere two machines decide the same expectation they %s.\n",
                json_is_true(agree) ? "agree" : "do not agree");
}

/* For a course --------------------------------------------------------------------------------- */

static void questions_write(FILE *to, const struct experiment *experiment)
{
    const struct experiment_part *part = &experiment->parts[0];
    const struct experiment_expect *expect = &part->expect[0];
    const char **places = experiment_places(experiment);
    fputs("\n## Questions for a course\n\n1. ", to);
    catalogue_text(to, part->question);
    fputs(" Before you look at any number here, write down what you expect for ", to);
    number_write(to, part, expect);
    fputs(
        ", and the reasoning that gave it. Then run it. Which step of your reasoning was off, and "
        "by how much?\n2. Refuted means here: ",
        to);
    catalogue_text(to, experiment->refuted);
    fputs(" Is that a fair test? Name an observation that would refute the claim and that this "
          "experiment cannot make.\n3. Copy the file, change one thing about it that should leave "
          "the verdict as it is, and one that should turn it over: another workload, more workers, "
          "another machine, another level of ",
          to);
    catalogue_code(to, experiment_factor_name(part));
    fputs(". Run both ([how](../ADDING.md)). What have you learned about when the claim holds?\n",
          to);
    if (places[0] && places[1]) {
        fputs("4. ", to);
        catalogue_code(to, places[0]);
        fputs(" and ", to);
        if (strcmp(places[1], EXPERIMENT_MACHINES) == 0)
            fputs("the simulated machines", to);
        else
            catalogue_code(to, places[1]);
        fputs(
            " do not give the same numbers. For the largest difference: what does the model leave "
            "out, and what disturbs the other one?\n",
            to);
    }
    free(places);
}

/* The page ------------------------------------------------------------------------------------- */

void catalogue_page_write(FILE *to, const struct catalogue_pages *pages,
                          const struct experiment *experiment)
{
    const char *slash = strrchr(experiment->path, '/');
    const char *file = slash ? slash + 1 : experiment->path;
    const json_t *reference = repro_file_entry(pages->reference, "experiments", experiment->id);
    fprintf(to, "<!-- Made by `make docs` of harness/experiments/%s. -->\n\n# %s: ", file,
            experiment->id);
    catalogue_text(to, experiment->title);
    fputs("\n\n> ", to);
    catalogue_text(to, experiment->claim);
    fputs("\n\nClaimed by: ", to);
    catalogue_text(to, experiment->source);
    fprintf(to,
            "\n\n[All experiments](../EXPERIMENTS.md) | [its file](../../harness/experiments/%s)\n",
            file);
    fputs("\n## The reasoning\n\n", to);
    catalogue_paragraphs(to, experiment->why);
    fputs("\n## What would refute it\n\n", to);
    catalogue_paragraphs(to, experiment->refuted);
    verdict_write(to, pages, reference);
    fprintf(to,
            "\n## Run it\n\n```sh\nbuild/schedlab repro %s --quick    # %lld samples a cell\n"
            "build/schedlab repro %s            # until intervals are narrow\n```\n\nMachines: ",
            experiment->id, (long long)experiment_quick_reps(experiment), experiment->id);
    machines_write(to, experiment);
    fputs(".\n\n## What is measured, and what is expected\n", to);
    for (unsigned p = 0; p < experiment->parts_count; p++)
        part_write(to, pages, experiment, reference, &experiment->parts[p]);
    questions_write(to, experiment);
}
