/* disputes.c - the page of disputes, docs/DISPUTES.md. See catalogue.h.
 *
 * A dispute is an experiment whose claim was made in a public thread. Its file says what we
 * predicted, and where a first run changed the claim or its setting. Verdicts come from the
 * reference alone, and so does the count of predictions that came true.
 *
 * The page goes by interest: first where we were wrong, then where the thread's claim is not what
 * was found, then where it is, and last what is not decided. Within each of these, disputes that
 * were open upstream come first, and the order is that of their numbers.
 */
#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/catalogue/blocks.h"
#include "harness/catalogue/catalogue.h"
#include "harness/repro/repro_file.h"

enum { PATH_SIZE = 4096 };

static const char intro[] =
    "<!-- Made by `make docs` of harness/experiments/disputes/ and its committed records. -->\n\n"
    "# Disputes of today\n\n"
    "Developers of runtimes dispute designs in public threads, with a number in hand from a "
    "machine "
    "that few have. Each dispute below is such a thread as an experiment. It names the claim, the "
    "claimed number, and our prediction with its date: is the claim supported or refuted here? "
    "Then "
    "comes what was measured. The form is that of the [catalogue](EXPERIMENTS.md), whose count "
    "does not include these.\n\n"
    "A verdict is about this testbed: its schedulers, its workloads, and its simulated machines "
    "([docs/SIMULATOR.md](SIMULATOR.md)). It says whether the mechanism behind a claim is enough "
    "to "
    "give its effect. It does not say that a thread's authors measured wrongly. **Hit** and "
    "**miss** are of the prediction; a refuted claim that was predicted to be refuted is a hit. "
    "Predictions were written before the runs that decide, but not before all runs. Where a first "
    "run changed the words of a claim, the size of its work or a design, its text says so (X2, "
    "X23, X43); the "
    "counts include these. The order is that of interest: first where we were wrong; within a "
    "table, what was open upstream comes first.\n\n"
    "```sh\n"
    "build/schedlab repro --list disputes        # this list\n"
    "build/schedlab repro --explain X1           # one of them in full\n"
    "build/schedlab repro disputes --quick       # all of them: some minutes on two cores\n"
    "```\n";

/* How a prediction came out. */
enum prediction { PREDICTION_HIT, PREDICTION_MISS, PREDICTION_OPEN, PREDICTIONS };

static const json_t *entry_of(const struct catalogue_pages *pages,
                              const struct experiment *experiment)
{
    return repro_file_entry(pages->reference, "experiments", experiment->id);
}

static enum prediction prediction_of(const struct experiment *experiment, const json_t *entry)
{
    enum verdict verdict = repro_file_verdict(entry);
    if (verdict != VERDICT_SUPPORTED && verdict != VERDICT_REFUTED)
        return PREDICTION_OPEN;
    return (verdict == VERDICT_SUPPORTED) == experiment->dispute->claim_holds ? PREDICTION_HIT
                                                                              : PREDICTION_MISS;
}

static void prediction_write(struct doc *to, enum prediction prediction)
{
    if (prediction == PREDICTION_OPEN)
        doc_put(to, "not decided");
    else
        doc_put(to, prediction == PREDICTION_HIT ? "**hit**" : "**miss**");
}

/* Why a dispute is of interest, the most first. */
enum interest { MISSED, NOT_AS_CLAIMED, AS_CLAIMED, NOT_DECIDED, INTERESTS };

static const struct {
    const char *title, *about;
} groups[INTERESTS] = {
    [MISSED] = {"Where we were wrong", "The prediction missed, so there is the most to learn."},
    [NOT_AS_CLAIMED] = {"Where the claim does not hold here",
                        "The claim was predicted to be refuted, and is."},
    [AS_CLAIMED] = {"Where the claim holds", "The claim was predicted to be supported, and is."},
    [NOT_DECIDED] = {"Not decided", "No verdict, or machines disagree."},
};

static enum interest interest_of(const struct experiment *experiment, const json_t *entry)
{
    switch (prediction_of(experiment, entry)) {
    case PREDICTION_MISS:
        return MISSED;
    case PREDICTION_HIT:
        return experiment->dispute->claim_holds ? AS_CLAIMED : NOT_AS_CLAIMED;
    default:
        return NOT_DECIDED;
    }
}

/* "supported" */
static const char *predicted_word(const struct experiment_dispute *dispute)
{
    return dispute->claim_holds ? "supported" : "refuted";
}

/* Sums ----------------------------------------------------------------------------------------- */

static void reference_write(struct doc *to, const struct catalogue_pages *pages)
{
    size_t of[PREDICTIONS] = {0}, open = 0;
    if (!pages->reference) {
        doc_put(to, "<p>No reference of disputes is committed yet, so there are no verdicts on "
                    "this page.</p>");
        return;
    }
    for (size_t i = 0; i < pages->count; i++) {
        of[prediction_of(pages->experiments[i], entry_of(pages, pages->experiments[i]))]++;
        open += pages->experiments[i]->dispute->open;
    }
    struct repro_sum sum = repro_file_sum(json_object_get(pages->reference, "experiments"));
    doc_put(to,
            "<p>The verdicts are those of the committed records, begun on %s, in the %s form; some "
            "were "
            "measured later (results/README.md). The claims of "
            "%zu disputes are supported, of %zu refuted, of %zu undecided; of %zu machines "
            "disagree. Of our predictions %zu came true, %zu missed, and %zu are not decided. %s "
            "had no decision upstream when they were predicted.</p>",
            field_text(pages->reference, "began"),
            field_text(json_object_get(pages->reference, "run"), "form"), sum.of[VERDICT_SUPPORTED],
            sum.of[VERDICT_REFUTED], sum.of[VERDICT_UNDECIDED], sum.of[VERDICT_DISAGREE],
            of[PREDICTION_HIT], of[PREDICTION_MISS], of[PREDICTION_OPEN],
            counted(open, "dispute").s);
}

static void index_row(struct doc *to, const struct catalogue_pages *pages,
                      const struct experiment *experiment)
{
    const json_t *entry = entry_of(pages, experiment);
    doc_put(to, "| %s | **%s**: %s | %s | ", experiment->id, experiment->title, experiment->claim,
            predicted_word(experiment->dispute));
    block_mark(to, field_text(entry, "verdict"), "not measured");
    doc_put(to, ": ");
    prediction_write(to, prediction_of(experiment, entry));
    doc_put(to, " | ");
    block_numbers(to, entry, true, false);
    doc_put(to, " |\n");
}

/* One of them ---------------------------------------------------------------------------------- */

/* One expectation on one machine. */
static void measured_row(struct doc *to, const json_t *place, const json_t *part,
                         const json_t *expectation)
{
    doc_put(to, "| %s | %s | %s | ", field_text(part, "id"), repro_file_role(expectation),
            field_text(expectation, "says"));
    block_number(to, expectation);
    doc_put(to, " | %s | %s: %s | ", field_text(expectation, "expected"),
            repro_file_place_name(place), block_effect(repro_file_decisive(expectation)));
    block_mark(to, repro_file_told(expectation), "");
    doc_put(to, " |\n");
}

static void measured_write(struct doc *to, const json_t *entry)
{
    doc_put(to, "\n| part | role | expectation | number | expected | found | |\n"
                "|---|---|---|---|---|---|---|\n");
    json_each(place, json_object_get(entry, "machines")) {
        json_each(part, json_object_get(place, "parts")) {
            json_each(expectation, json_object_get(part, "expectations")) {
                measured_row(to, place, part, expectation);
            }
        }
    }
}

/* The file's lesson of that verdict; where machines disagree, the record's. */
static const char *lesson_of(const struct experiment *experiment, const json_t *entry)
{
    const struct experiment_lesson *lesson = experiment->lesson;
    enum verdict verdict = repro_file_verdict(entry);
    if (lesson && verdict == VERDICT_SUPPORTED)
        return lesson->supported;
    if (lesson && verdict == VERDICT_REFUTED)
        return lesson->refuted;
    return field_text(entry, "lesson");
}

static void verdict_write(struct doc *to, const struct experiment *experiment, const json_t *entry)
{
    if (!entry) {
        doc_put(to, "<li>**Found**: not measured</li></ul>");
        return;
    }
    doc_put(to, "<li>**Found**: ");
    block_numbers(to, entry, false, false);
    doc_put(to, "</li><li>**Verdict**: ");
    block_mark(to, field_text(entry, "verdict"), "no claim measured");
    doc_put(to, " (%s). The prediction: ", repro_file_said(entry));
    prediction_write(to, prediction_of(experiment, entry));
    doc_put(to, "</li><li>**Lesson**: %s</li></ul>", lesson_of(experiment, entry));
    measured_write(to, entry);
}

void catalogue_dispute_write(struct doc *to, const struct experiment_dispute *dispute)
{
    doc_put(to,
            "<li><b>Thread</b>: %s%s</li><li><b>Claimed number</b>: %s</li>"
            "<li><b>Predicted</b> on %s: %s. %s</li>",
            dispute->thread, dispute->open ? ". Not decided upstream" : "", dispute->number,
            dispute->predicted, predicted_word(dispute), dispute->prediction);
}

static void dispute_write(struct doc *to, const struct catalogue_pages *pages,
                          const struct experiment *experiment)
{
    doc_put(to, "<h2>%s: %s</h2><blockquote>%s</blockquote><ul>", experiment->id, experiment->title,
            experiment->claim);
    catalogue_dispute_write(to, experiment->dispute);
    doc_put(to, "<li>**Would refute it**: %s</li>", experiment->refuted);
    verdict_write(to, experiment, entry_of(pages, experiment));
    doc_paragraphs(to, experiment->why);
}

/* The whole page ------------------------------------------------------------------------------- */

typedef void write_one(struct doc *to, const struct catalogue_pages *pages,
                       const struct experiment *experiment);

/* Each dispute of that interest, those that were open upstream first. */
static void group_write(struct doc *to, const struct catalogue_pages *pages, enum interest interest,
                        write_one *write)
{
    for (size_t i = 0; i < 2 * pages->count; i++) {
        const struct experiment *experiment = pages->experiments[i % pages->count];
        if (experiment->dispute->open == (i < pages->count) &&
            interest_of(experiment, entry_of(pages, experiment)) == interest)
            write(to, pages, experiment);
    }
}

static size_t group_size(const struct catalogue_pages *pages, enum interest interest)
{
    size_t size = 0;
    for (size_t i = 0; i < pages->count; i++)
        size +=
            interest_of(pages->experiments[i], entry_of(pages, pages->experiments[i])) == interest;
    return size;
}

static void index_write(struct doc *to, const struct catalogue_pages *pages, enum interest interest)
{
    if (group_size(pages, interest) == 0)
        return;
    doc_put(to, "<h2>%s</h2><p>%s</p>", groups[interest].title, groups[interest].about);
    doc_put(to, "\n| | claim | predicted | verdict | number |\n|---|---|---|---|---|\n");
    group_write(to, pages, interest, index_row);
}

static void page_write(FILE *file, const void *arg)
{
    struct doc page = {.to = file, .format = DOC_MARKDOWN}, *to = &page;
    const struct catalogue_pages *pages = arg;
    fputs(intro, file);
    reference_write(to, pages);
    for (enum interest of = 0; of < INTERESTS; of++)
        index_write(to, pages, of);
    for (enum interest of = 0; of < INTERESTS; of++)
        group_write(to, pages, of, dispute_write);
}

bool disputes_write(const struct catalogue_pages *pages, struct error *error)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/DISPUTES.md", pages->folder);
    return folder_make(pages->folder, error) && file_replace_by(path, page_write, pages, error);
}
