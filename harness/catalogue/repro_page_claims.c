/* repro_page_claims.c - what popular accounts say, with verdicts. See repro_page.h. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/catalogue/repro_page.h"
#include "harness/report/html.h"
#include "harness/report/report_page.h"
#include "harness/repro/repro_file.h"

#include <stdlib.h>
#include <string.h>

/* What it was held against: a link to each part's experiment, if that was run. */
static void shown_by_write(FILE *to, const struct repro_page *page, const json_t *claim)
{
    size_t i;
    const json_t *shown;
    json_array_foreach(json_object_get(claim, "shown_by"), i, shown)
    {
        const char *reference = field_text(shown, "expectation");
        const char *machines = field_text(shown, "machines");
        char *id = xstrndup(reference, strcspn(reference, "/"));
        char *link = text_format("#%s", id);
        if (i > 0)
            html_open(to, "br", NULL);
        html_element(to, "a", reference, "class", "id", "href",
                     repro_file_entry(page->repro, "experiments", id) ? link : NULL, NULL);
        html_open(to, "span", "class", "range", NULL);
        html_format(to, " %s%s%s", field_text(shown, "verdict"), *machines ? " on " : "", machines);
        html_close(to, "span");
        free(id);
        free(link);
    }
    if (json_object_get(claim, "not_shown")) {
        html_text(to, "Nothing is run: ");
        html_prose(to, field_text(claim, "not_shown"));
    }
}

static void claim_row(FILE *to, const struct repro_page *page, const json_t *claim)
{
    bool not_shown = json_object_get(claim, "not_shown") != NULL;
    html_open(to, "tr", NULL);
    html_element(to, "th", field_text(claim, "id"), "scope", "row", "class", "share", NULL);
    html_open(to, "td", NULL);
    repro_mark_write(to, not_shown ? VERDICT_NONE : repro_file_verdict(claim), "not run");
    html_open(to, "br", NULL);
    html_element(to, "span", field_text(claim, "kind"), "class", "range", NULL);
    html_close(to, "td");
    html_open(to, "td", NULL);
    html_prose(to, field_text(claim, "says"));
    html_open(to, "br", NULL);
    html_element(to, "span", field_text(claim, "who"), "class", "range", NULL);
    html_close(to, "td");
    html_open(to, "td", NULL);
    html_prose(to, field_text(claim, "go"));
    html_close(to, "td");
    html_open(to, "td", NULL);
    shown_by_write(to, page, claim);
    if (*field_text(claim, "reason")) {
        html_open(to, "p", "class", "note", NULL);
        html_format(to, "Lacks: %s", field_text(claim, "reason"));
        html_close(to, "p");
    }
    html_close(to, "td");
    html_close(to, "tr");
}

void repro_page_claims_write(FILE *to, const struct repro_page *page)
{
    static const char *const names[] = {
        "claim", "verdict", "what it says", "what Go's source does", "held against", NULL};
    const json_t *claim, *claims = json_object_get(page->repro, "claims");
    size_t i;
    if (json_array_size(claims) == 0)
        return;
    html_open(to, "section", "id", "claims", NULL);
    html_element(to, "h2", "What popular accounts say", NULL);
    html_element(
        to, "p",
        "Each claim was held against Go's source, and against experiments here that come "
        "out differently if it is right. It is refuted where all of these support Go's "
        "way, and supported, so that the account is right after all, where one refutes it.",
        NULL);
    html_table_open(to, counted(json_array_size(claims), "claim").s, "claims stack");
    html_thead(to, names);
    html_open(to, "tbody", NULL);
    json_array_foreach(claims, i, claim) claim_row(to, page, claim);
    html_close(to, "tbody");
    html_table_close(to);
    html_close(to, "section");
}
