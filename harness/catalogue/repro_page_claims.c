/* repro_page_claims.c - what popular accounts say, with verdicts. See repro_page.h. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/catalogue/repro_page.h"
#include "harness/report/html.h"
#include "harness/repro/repro_file.h"

#include <stdlib.h>
#include <string.h>

/* Links a claim to the experiment of each part that it was held against, if that was run. */
static void shown_by_write(struct doc *to, const struct repro_page *page, const json_t *claim)
{
    size_t i;
    const json_t *shown;
    json_array_foreach(json_object_get(claim, "shown_by"), i, shown)
    {
        const char *reference = field_text(shown, "expectation");
        const char *machines = field_text(shown, "machines");
        char *id = xstrndup(reference, strcspn(reference, "/"));
        doc_put(to, i > 0 ? "<br>" : "");
        if (repro_file_entry(page->repro, "experiments", id))
            doc_put(to, "<a class='id' href='#%s'>%s</a>", id, reference);
        else
            doc_put(to, "<a class='id'>%s</a>", reference);
        doc_put(to, "<span class='range'> %s%s%s</span>", field_text(shown, "verdict"),
                *machines ? " on " : "", machines);
        free(id);
    }
    if (json_object_get(claim, "not_shown"))
        doc_put(to, "Nothing is run: %s", field_text(claim, "not_shown"));
}

static void claim_row(struct doc *to, const struct repro_page *page, const json_t *claim)
{
    bool not_shown = json_object_get(claim, "not_shown") != NULL;
    doc_put(to, "<tr><th scope='row' class='share'>%s</th><td>", field_text(claim, "id"));
    block_mark(to, not_shown ? "none" : field_text(claim, "verdict"), "not run");
    doc_put(to,
            "<br><span class='range'>%s</span></td><td>%s<br><span class='range'>%s</span></td>"
            "<td>%s</td><td>",
            field_text(claim, "kind"), field_text(claim, "says"), field_text(claim, "who"),
            field_text(claim, "go"));
    shown_by_write(to, page, claim);
    if (*field_text(claim, "reason"))
        doc_put(to, "<p class='note'>Lacks: %s</p>", field_text(claim, "reason"));
    doc_put(to, "</td></tr>");
}

void repro_page_claims_write(struct doc *to, const struct repro_page *page)
{
    static const char *const names[] = {
        "claim", "verdict", "what it says", "what Go's source does", "held against", NULL};
    const json_t *claims = json_object_get(page->repro, "claims");
    if (json_array_size(claims) == 0)
        return;
    doc_put(to, "<section id='claims'><h2>What popular accounts say</h2><p>Each claim was held "
                "against Go's source, and against experiments here that come out differently if "
                "it is right. It is refuted where all of these support Go's way, and supported, "
                "so that the account is right after all, where one refutes it.</p>");
    html_table_begin(to->to, counted(json_array_size(claims), "claim").s, "claims stack", names);
    json_each(claim, claims)
        claim_row(to, page, claim);
    html_table_end(to->to);
    doc_put(to, "</section>");
}
