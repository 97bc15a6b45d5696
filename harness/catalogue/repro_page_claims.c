/* repro_page_claims.c - what popular accounts say, by Go's source and by what was measured. See
 * repro_page.h. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/catalogue/repro_page.h"
#include "harness/doc/html.h"
#include "harness/repro/popular_claims.h"
#include "harness/repro/repro_file.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_SIZE = 128 };

/* Sums ----------------------------------------------------------------------------------------- */

static void count_put(struct doc *to, size_t count)
{
    doc_put(to, "<td class='number%s'>%zu</td>", count ? "" : " range", count);
}

static void sum_row(struct doc *to, const char *name, const json_t *claims)
{
    size_t unmeasured = 0;
    doc_put(to, "<tr><th scope='row'>%s</th>", name);
    for (size_t i = 0; claim_degrees[i]; i++)
        count_put(to, claims_count(claims, claim_degrees[i], NULL, NULL));
    count_put(to, claims_count(claims, NULL, "gmp", "agrees"));
    count_put(to, claims_count(claims, NULL, "gmp", "differs"));
    count_put(to, claims_count(claims, NULL, "itself", "agrees"));
    count_put(to, claims_count(claims, NULL, "itself", "differs"));
    json_each(claim, claims)
        unmeasured += claim_is_not_measured(claim);
    count_put(to, unmeasured);
    doc_put(to, "</tr>");
}

static void sums_write(struct doc *to, const json_t *claims)
{
    char agrees[HEAD_SIZE], differs[HEAD_SIZE];
    const char *const names[] = {"",
                                 "#right",
                                 "#imprecise",
                                 "#outdated",
                                 "#wrong",
                                 "#gmp agrees",
                                 "#gmp differs",
                                 agrees,
                                 differs,
                                 "#nothing measures it",
                                 NULL};
    const char *who;
    json_t *accounts = fields_group(claims, "who"), *of;
    snprintf(agrees, sizeof agrees, "#%s agrees", claims_runtime(claims));
    snprintf(differs, sizeof differs, "#%s differs", claims_runtime(claims));
    html_table_begin(to->to, "How many of each", "sums", names);
    sum_row(to, "All", claims);
    if (json_object_size(accounts) > 1)
        json_object_foreach(accounts, who, of) sum_row(to, who, of);
    html_table_end(to->to);
    json_decref(accounts);
}

/* Rows ----------------------------------------------------------------------------------------- */

/* Writes the answer of one side. Links each part to its experiment, if that was run. */
static void side_write(struct doc *to, const struct repro_page *page, const json_t *claim,
                       const char *side)
{
    const json_t *of = json_object_get(claim, side);
    doc_put(to, "<td>");
    block_mark(to, claim_agreement(claim, side), "not measured");
    json_each(part, json_object_get(of, "parts")) {
        const char *reference = field_text(part, "expectation");
        const char *machines = field_text(part, "machines"), *open = field_text(part, "undecided");
        char *id = xstrndup(reference, strcspn(reference, "/"));
        doc_put(to, "<br>");
        if (repro_file_entry(page->repro, "experiments", id))
            doc_put(to, "<a class='id' href='#%s'>%s</a>", id, reference);
        else
            doc_put(to, "<a class='id'>%s</a>", reference);
        doc_put(to, "<span class='range'> %s%s%s%s%s</span>", field_text(part, "verdict"),
                *machines ? " on " : "", machines, *open ? ", undecided on " : "", open);
        free(id);
    }
    if (*field_text(of, "reason"))
        doc_put(to, "<p class='note'>%s</p>", field_text(of, "reason"));
    if (strcmp(side, "gmp") == 0 && *field_text(claim, "not_shown"))
        doc_put(to, "<p class='note'>%s: %s</p>",
                claim_is_not_measured(claim) ? "Nothing measures it" : "Nothing is run of gmp",
                field_text(claim, "not_shown"));
    doc_put(to, "</td>");
}

static void claim_row(struct doc *to, const struct repro_page *page, const json_t *claim)
{
    doc_put(to,
            "<tr><th scope='row' class='share'>%s</th><td>%s<br><span class='range'>%s</span></td>"
            "<td><strong>%s</strong></td><td>%s",
            field_text(claim, "id"), field_text(claim, "says"), field_text(claim, "who"),
            claim_degree(claim), field_text(claim, "go"));
    json_each(cost, json_object_get(claim, "costs")) {
        const char *reference = field_text(cost, "expectation");
        char *id = xstrndup(reference, strcspn(reference, "/"));
        doc_put(to,
                "<p class='note'>As the account has it: %s %s on %s (<a class='id' "
                "href='#%s'>%s</a>)</p>",
                field_text(cost, "metric"), field_text(cost, "effect"), field_text(cost, "machine"),
                id, reference);
        free(id);
    }
    doc_put(to, "</td>");
    side_write(to, page, claim, "gmp");
    side_write(to, page, claim, "itself");
    doc_put(to, "</tr>");
}

void repro_page_claims_write(struct doc *to, const struct repro_page *page)
{
    const json_t *claims = json_object_get(page->repro, "claims");
    const char *const names[] = {
        "claim",   "what it says",         "degree", "what Go's source does",
        "our gmp", claims_runtime(claims), NULL};
    if (json_array_size(claims) == 0)
        return;
    doc_put(to,
            "<section id='claims'><h2>What popular accounts say</h2><p>Each claim has a degree "
            "by Go's source: right, imprecise, outdated or wrong. Beside it stands what was "
            "measured of the way that the source has it: whether gmp goes that way, and "
            "whether Go itself does. What agrees bears out a claim that is right, and tells "
            "against one that is not. What differs says that the source was misread, or that "
            "this version does otherwise. %s</p>",
            claims_source);
    sums_write(to, claims);
    html_table_begin(to->to, counted(json_array_size(claims), "claim").s, "claims stack", names);
    json_each(claim, claims)
        claim_row(to, page, claim);
    html_table_end(to->to);
    doc_put(to, "</section>");
}
