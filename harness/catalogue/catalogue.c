/* catalogue.c - see catalogue.h. */
#include "harness/catalogue/catalogue.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/repro/repro_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 4096 };

/* Index ---------------------------------------------------------------------------------------- */

static const char intro[] =
    "<!-- Made by `make docs` of harness/experiments/ and the committed reference. -->\n\n"
    "# Experiments on design decisions\n\n"
    "Each decision in a scheduler was made for a reason, and somebody said what it would buy. Each "
    "page below states such a claim in one sentence, with where it was made, the reasoning, what "
    "is "
    "varied while the rest is held fixed, the range that is expected before anything is measured, "
    "and what would refute it. One command measures it and gives a verdict: **supported** where "
    "the 95 % interval of the effect lies inside the range, **refuted** where it lies outside, "
    "**undecided** where it does neither, and then it says what is lacking. A refuted claim is a "
    "result, not an error.\n\n"
    "```sh\n"
    "build/schedlab repro --list            # this list\n"
    "build/schedlab repro --explain E3      # the reasoning, the sources, the last verdict\n"
    "build/schedlab repro E3 --quick        # six samples a cell\n"
    "make repro                             # all of them, in the quick form\n"
    "```\n\n"
    "What needs more cores than you have runs on simulated machines ([docs/SIMULATOR.md]"
    "(SIMULATOR.md)), and is the same there each time. A run leaves `repro.html`, one page with "
    "all "
    "verdicts and figures. Your own experiment is ten lines of YAML: "
    "[docs/ADDING.md](ADDING.md).\n";

/* Verdicts by machine, or what there is in their place. */
static void verdicts_write(FILE *to, const json_t *experiment)
{
    size_t i;
    const json_t *place;
    if (!experiment)
        fputs("not measured", to);
    json_array_foreach(json_object_get(experiment, "machines"), i, place)
    {
        fprintf(to, "%s%s: ", i ? "<br>" : "", repro_file_place_name(place));
        catalogue_verdict(to, repro_file_verdict(place));
    }
}

static void effects_write(FILE *to, const json_t *experiment)
{
    size_t i;
    const json_t *place, *part;
    json_array_foreach(json_object_get(experiment, "machines"), i, place)
    {
        const json_t *expectation = repro_file_main(place, &part);
        const json_t *column = expectation ? repro_file_decisive(expectation) : NULL;
        const char *effect = field_text(json_object_get(column, "effect"), "text");
        fputs(i ? "<br>" : "", to);
        catalogue_text(to, *effect ? effect : "no number");
        if (expectation) {
            fputs(", expected ", to);
            catalogue_text(to, field_text(expectation, "expected"));
        }
    }
}

static void index_row(FILE *to, const struct catalogue_pages *pages,
                      const struct experiment *experiment)
{
    const json_t *measured = repro_file_entry(pages->reference, "experiments", experiment->id);
    fprintf(to, "| [%s](experiments/%s.md) | **", experiment->id, experiment->id);
    catalogue_text(to, experiment->title);
    fputs("**: ", to);
    catalogue_text(to, experiment->claim);
    if (pages->reference) {
        fputs(" | ", to);
        verdicts_write(to, measured);
        fputs(" | ", to);
        effects_write(to, measured);
    }
    fputs(" |\n", to);
}

static void reference_write(FILE *to, const struct catalogue_pages *pages)
{
    const json_t *repro = pages->reference;
    if (!repro) {
        fputs("\nNo reference reproduction is committed yet, so there are no verdicts on these "
              "pages.\n",
              to);
        return;
    }
    struct repro_sum sum = repro_file_sum(json_object_get(repro, "experiments"));
    fprintf(to,
            "\nThe verdicts are those of the committed reference reproduction, %s, made in the %s "
            "form: %zu experiments supported, %zu refuted, %zu undecided. The effect is the one "
            "that refutes the claim or leaves it undecided, else the first.\n",
            field_text(repro, "began"), field_text(json_object_get(repro, "run"), "form"),
            sum.of[VERDICT_SUPPORTED], sum.of[VERDICT_REFUTED], sum.of[VERDICT_UNDECIDED]);
}

/* Claims --------------------------------------------------------------------------------------- */

/* "[E3](experiments/E3.md)/hog" */
static void shown_by_write(FILE *to, const struct claim *claim)
{
    for (unsigned i = 0; i < claim->shown_by_count; i++) {
        const char *text = claim->shown_by[i];
        int length = (int)strcspn(text, "/");
        fprintf(to, "%s[%.*s](experiments/%.*s.md)", i ? ", " : "", length, text, length, text);
        catalogue_text(to, text + length);
    }
    if (claim->not_shown) {
        fputs("nothing is run: ", to);
        catalogue_text(to, claim->not_shown);
    }
}

static void claim_row(FILE *to, const struct catalogue_pages *pages, const struct claim *claim)
{
    const json_t *judged = repro_file_entry(pages->reference, "claims", claim->id);
    fprintf(to, "| %s | ", claim->id);
    catalogue_text(to, claim->who);
    fprintf(to, " (%s) | ", claim->kind);
    catalogue_text(to, claim->says);
    fputs(" | ", to);
    catalogue_text(to, claim->go);
    fputs(" | ", to);
    shown_by_write(to, claim);
    if (pages->reference) {
        fputs(" | ", to);
        if (claim->not_shown || !judged)
            fputs(claim->not_shown ? "not run" : "not measured", to);
        else
            catalogue_verdict(to, repro_file_verdict(judged));
    }
    fputs(" |\n", to);
}

static void claims_write(FILE *to, const struct catalogue_pages *pages)
{
    if (!pages->claims)
        return;
    fputs("\n## What popular accounts say\n\n"
          "Claims held against Go's source, and against experiments that come out differently if "
          "they are right. One is refuted where all of these support Go's way.\n\n"
          "| claim | who | what it says | what Go's source does | held against |",
          to);
    fputs(pages->reference ? " verdict |\n|---|---|---|---|---|---|\n"
                           : "\n|---|---|---|---|---|\n",
          to);
    for (unsigned i = 0; i < pages->claims->count; i++)
        claim_row(to, pages, &pages->claims->list[i]);
}

static void index_write(FILE *to, const void *arg)
{
    const struct catalogue_pages *pages = arg;
    fputs(intro, to);
    fputs("\n## The catalogue\n", to);
    reference_write(to, pages);
    fputs(pages->reference ? "\n| | claim | verdict | effect |\n|---|---|---|---|\n"
                           : "\n| | claim |\n|---|---|\n",
          to);
    for (size_t i = 0; i < pages->count; i++)
        index_row(to, pages, pages->experiments[i]);
    claims_write(to, pages);
}

/* Files ---------------------------------------------------------------------------------------- */

struct page {
    const struct catalogue_pages *pages;
    const struct experiment *experiment;
};

static void page_write(FILE *to, const void *arg)
{
    const struct page *page = arg;
    catalogue_page_write(to, page->pages, page->experiment);
}

static bool folder_make(const char *path, char *error, size_t error_size)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    snprintf(error, error_size, "cannot make the folder %s: %s", path, strerror(errno));
    return false;
}

bool catalogue_write(const struct catalogue_pages *pages, char *error, size_t error_size)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/experiments", pages->folder);
    if (!folder_make(pages->folder, error, error_size) || !folder_make(path, error, error_size) ||
        !catalogue_figures_make(pages, error, error_size))
        return false;
    for (size_t i = 0; i < pages->count; i++) {
        const struct page page = {pages, pages->experiments[i]};
        snprintf(path, sizeof path, "%s/experiments/%s.md", pages->folder, page.experiment->id);
        if (!file_replace_by(path, page_write, &page, error, error_size))
            return false;
    }
    snprintf(path, sizeof path, "%s/EXPERIMENTS.md", pages->folder);
    return file_replace_by(path, index_write, pages, error, error_size);
}
