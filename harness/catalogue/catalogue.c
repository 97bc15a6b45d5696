/* catalogue.c - see catalogue.h. */
#include "harness/catalogue/catalogue.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/catalogue/blocks.h"
#include "harness/repro/repro_file.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

/* Index ---------------------------------------------------------------------------------------- */

static const char intro[] =
    "<!-- Made by `make docs` of harness/experiments/ and the committed reference. -->\n\n"
    "# Experiments on design decisions\n\n"
    "Each decision in a scheduler was made for a reason, and somebody said what it would buy. "
    "Each page below states such a claim in one sentence, with its source and the reasoning. It "
    "says what is varied while the rest is held fixed, the range that is expected, and what would "
    "refute the claim. One command measures it and gives a verdict. "
    "A number is as expected where its 95 % interval lies inside the range, and otherwise where it "
    "lies outside; where it does neither, nothing is decided, and the page says what is "
    "lacking.\n\n"
    "Each expectation has a role. A **claim** carries the sentence, as a direction with the least "
    "effect that matters. A **size** says how much, a **price** what it costs elsewhere, and a "
    "**check** that the run did what it was meant to do. The verdict comes from the claims alone: "
    "**supported**, **refuted**, **undecided**, or **machines disagree**. A refuted claim is a "
    "result, not an error.\n\n"
    "```sh\n"
    "build/schedlab repro --list            # this list\n"
    "build/schedlab repro --explain E3      # the reasoning, the sources, the last verdict\n"
    "build/schedlab repro E3 --quick        # six samples a cell, more where a claim needs them\n"
    "make repro                             # all of them, in the quick form\n"
    "```\n\n"
    "Experiments that need more cores than you have run on simulated machines "
    "([docs/SIMULATOR.md](SIMULATOR.md)), and give the same result there each time. A run leaves "
    "`repro.html`, one page with all verdicts and figures. Your own experiment is ten lines of "
    "YAML: [docs/ADDING.md](ADDING.md).\n";

/* Writes the lesson, the verdict of all machines and of each, and the numbers behind them. */
static void verdicts_write(struct doc *to, const json_t *experiment)
{
    doc_put(to, " | %s | ", field_text(experiment, "lesson"));
    if (experiment)
        block_mark(to, field_text(experiment, "verdict"), "no claim measured");
    else
        doc_put(to, "not measured");
    json_each(place, json_object_get(experiment, "machines"))
        doc_put(to, "<br>%s: %s", repro_file_place_name(place), repro_file_said(place));
    doc_put(to, " | ");
    block_numbers(to, experiment, true, true);
}

static void index_row(struct doc *to, const struct catalogue_pages *pages,
                      const struct experiment *experiment)
{
    doc_put(to, "| [%s](experiments/%s.md) | **%s**: %s", experiment->id, experiment->id,
            experiment->title, experiment->claim);
    if (pages->reference)
        verdicts_write(to, repro_file_entry(pages->reference, "experiments", experiment->id));
    doc_put(to, " |\n");
}

static void reference_write(struct doc *to, const struct catalogue_pages *pages)
{
    const json_t *repro = pages->reference;
    if (!repro) {
        doc_put(to, "<p>No reference reproduction is committed yet, so there are no verdicts on "
                    "these pages.</p>");
        return;
    }
    struct repro_sum sum = repro_file_sum(json_object_get(repro, "experiments"));
    doc_put(to,
            "<p>The verdicts are those of the committed reference reproduction, %s, made in the %s "
            "form",
            field_text(repro, "began"), field_text(json_object_get(repro, "run"), "form"));
    json_each(entry, json_object_get(repro, "experiments"))
        if (json_is_true(json_object_get(entry, "later")))
            doc_put(to, "; that of %s is of a later build, measured alone",
                    field_text(entry, "id"));
    doc_put(to,
            ". The claims of %zu experiments are supported, of %zu refuted, of %zu undecided; "
            "of %zu machines disagree.",
            sum.of[VERDICT_SUPPORTED], sum.of[VERDICT_REFUTED], sum.of[VERDICT_UNDECIDED],
            sum.of[VERDICT_DISAGREE]);
    if (sum.of[VERDICT_NOT_RUN] > 0)
        doc_put(to, " Of %zu a peer was not run.", sum.of[VERDICT_NOT_RUN]);
    doc_put(to, " The number is the claim's that is refuted there or undecided, else the strongest "
                "one. Below it \342\226\221 is the expected range, \342\224\200 the interval and "
                "\342\227\217 the median; scales differ.</p>");
}

/* Claims --------------------------------------------------------------------------------------- */

/* The answer of one side and the parts behind it: "✓ **agrees**<br>[E3](experiments/E3.md)/hog". */
static void side_write(struct doc *to, const json_t *judged, const char *side,
                       char *const *references, unsigned count)
{
    const char *agreement = claim_agreement(judged, side);
    doc_put(to, " | ");
    if (judged && count > 0) {
        block_mark(to, agreement, "not measured");
        doc_put(to, "<br>");
    }
    for (unsigned i = 0; i < count; i++) {
        const char *text = references[i];
        int length = (int)strcspn(text, "/");
        doc_put(to, "%s[%.*s](experiments/%.*s.md)%s", i ? ", " : "", length, text, length, text,
                text + length);
    }
    char *undecided = claim_undecided(judged, side);
    if (*undecided)
        doc_put(to, "<br>Undecided: %s.", undecided);
    free(undecided);
}

/* False of what an earlier version has found, which was put to another question. */
static bool has_answers(const json_t *judged)
{
    return json_object_get(judged, "gmp") != NULL;
}

static void claim_row(struct doc *to, const struct catalogue_pages *pages,
                      const struct claim *claim)
{
    const json_t *judged = repro_file_entry(pages->reference, "claims", claim->id);
    judged = has_answers(judged) ? judged : NULL;
    doc_put(to, "| %s | %s: %s | **%s** | %s", claim->id, claim->who, claim->says, claim->degree,
            claim->go);
    json_each(cost, json_object_get(judged, "costs")) {
        const char *reference = field_text(cost, "expectation");
        int length = (int)strcspn(reference, "/");
        doc_put(to, "<br>As the account has it: %s %s on %s, [%.*s](experiments/%.*s.md)%s.",
                field_text(cost, "metric"), field_text(cost, "effect"), field_text(cost, "machine"),
                length, reference, length, reference, reference + length);
    }
    side_write(to, judged, "gmp", claim->shown_by, claim->shown_by_count);
    if (claim->not_shown)
        doc_put(to, "%s: %s", claim->go_itself_count > 0 ? "not measured" : "nothing measures it",
                claim->not_shown);
    side_write(to, judged, "itself", claim->go_itself, claim->go_itself_count);
    doc_put(to, " |\n");
}

static void claims_write(struct doc *to, const struct catalogue_pages *pages)
{
    if (!pages->claims)
        return;
    const json_t *judged = json_object_get(pages->reference, "claims");
    doc_put(to,
            "<h2>What popular accounts say</h2><p>Each claim has a degree by Go's source. Beside "
            "it stand the parts of experiments that ask for the way that the source has it, of "
            "gmp and of Go itself. What agrees bears out a claim that is right, and tells "
            "against one that is not. %s</p>\n",
            claims_source);
    if (has_answers(json_array_get(judged, 0))) {
        char *sum = claims_sum_text(judged);
        doc_put(to, "<p>In the reference: %s.</p>\n", sum);
        free(sum);
    }
    doc_put(to,
            "| claim | what it says | degree | what Go's source does | our gmp | %s |\n"
            "|---|---|---|---|---|---|\n",
            claims_runtime(judged));
    for (unsigned i = 0; i < pages->claims->count; i++)
        claim_row(to, pages, &pages->claims->list[i]);
}

static void index_write(FILE *file, const void *arg)
{
    struct doc index = {.to = file, .format = DOC_MARKDOWN}, *to = &index;
    const struct catalogue_pages *pages = arg;
    fputs(intro, file);
    doc_put(to, "<h2>The catalogue</h2>");
    reference_write(to, pages);
    doc_put(to, pages->reference ? "\n| | claim | lesson | verdict | number |\n"
                                   "|---|---|---|---|---|\n"
                                 : "\n| | claim |\n|---|---|\n");
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
    struct doc doc = {.to = to, .format = DOC_MARKDOWN};
    catalogue_page_write(&doc, page->pages, page->experiment);
}

bool catalogue_write(const struct catalogue_pages *pages, struct error *error)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/experiments", pages->folder);
    if (!folder_make(pages->folder, error) || !folder_make(path, error) ||
        !catalogue_figures_make(pages, error))
        return false;
    for (size_t i = 0; i < pages->count; i++) {
        const struct page page = {pages, pages->experiments[i]};
        snprintf(path, sizeof path, "%s/experiments/%s.md", pages->folder, page.experiment->id);
        if (!file_replace_by(path, page_write, &page, error))
            return false;
    }
    snprintf(path, sizeof path, "%s/EXPERIMENTS.md", pages->folder);
    return file_replace_by(path, index_write, pages, error);
}
