/* report_audit.c - what the last audit of this machine found, beside the results that it vouches
 * for. See report_page.h. */
#include "harness/base/json_fields.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/records/audit_outcome.h"
#include "harness/report/report_page.h"

#include <stdio.h>
#include <string.h>

static void row_write(FILE *to, const char *what, const json_t *tally)
{
    const json_t *share = json_object_get(tally, "share");
    html_put(to, "<tr><th scope='row'>%s</th><td>%lld of %lld</td>", what,
             field_integer(tally, "found"), field_integer(tally, "comparisons"));
    if (share)
        html_put(to, "<td>%.0f %%</td><td>%.0f to %.0f %%</td>", json_number_value(share) * 100,
                 json_number_value(json_object_get(tally, "lo")) * 100,
                 json_number_value(json_object_get(tally, "hi")) * 100);
    else
        html_put(to, "<td>-</td><td>-</td>");
    if (json_object_get(tally, "found_adjusted"))
        html_put(to, "<td>%lld</td></tr>", field_integer(tally, "found_adjusted"));
    else
        html_put(to, "<td>-</td></tr>");
}

static void table_write(FILE *to, const json_t *audit)
{
    static const char *const heads[] = {"Compared",      "Found different",        "Share",
                                        "95 % interval", "With Holm's correction", NULL};
    html_table_begin(to, "How often a difference is found", "audit", heads);
    row_write(to, "the same program twice", json_object_get(audit, "false_positives"));
    json_each(tally, json_object_get(audit, "power")) {
        char what[64];
        snprintf(what, sizeof what, "slowed down by %lld %%",
                 field_integer(tally, "slowdown_percent"));
        row_write(to, what, tally);
    }
    html_table_end(to);
}

/* Writes why an audit speaks neither for the pipeline nor against it; audit.json has only the
 * shares. */
static void silence_write(FILE *to, const json_t *audit)
{
    const json_t *power = json_object_get(audit, "power");
    const json_t *largest = json_array_get(power, json_array_size(power) - 1);
    if (strcmp(field_text(audit, "outcome"), audit_outcome_text(AUDIT_SAYS_NOTHING)) != 0)
        return;
    html_put(to,
             " Fewer than %.0f %% of the slowdowns by %lld %% were found: where nothing can be "
             "found, that nothing is found among equals says nothing.",
             AUDIT_POWER_MIN * 100, field_integer(largest, "slowdown_percent"));
}

static void too_few_write(FILE *to, const json_t *audit)
{
    json_int_t slowed = 0,
               same = field_integer(json_object_get(audit, "false_positives"), "too_few");
    json_each(tally, json_object_get(audit, "power"))
        slowed += field_integer(tally, "too_few");
    if (same + slowed > 0)
        html_put(to,
                 "Too few samples at one core distance to show any difference had %lld comparisons "
                 "of equals, which are left out, and %lld of slowdowns, which count as not found. ",
                 same, slowed);
}

/* The audit's result where cells are judged together, as on this page. */
static void verdicts_write(FILE *to, const json_t *audit)
{
    const json_t *verdicts = json_object_get(audit, "verdicts");
    if (!verdicts)
        return;
    html_put(to,
             "Judged as this page judges, %lld of %lld rounds of all cells name a winner among "
             "equals; chance explains up to %lld. ",
             field_integer(verdicts, "found"), field_integer(verdicts, "comparisons"),
             field_integer(verdicts, "allowed"));
}

static void sentences_write(FILE *to, const json_t *audit)
{
    const json_t *same = json_object_get(audit, "false_positives");
    const json_t *order = json_object_get(audit, "order");
    const char *revision = field_text(json_object_get(audit, "build"), "revision");
    const char *outcome = field_text(audit, "outcome");
    html_put(to, "<p>");
    html_put(to,
             "Audit of %s, revision %s, on %lld cells of its own with at least %lld samples a side "
             "and alpha %g: it %s.",
             field_text(audit, "taken"), revision, field_integer(audit, "cells"),
             field_integer(audit, "samples"), json_number_value(json_object_get(audit, "alpha")),
             *outcome                                        ? outcome
             : json_is_true(json_object_get(audit, "holds")) ? "holds"
                                                             : "does not hold");
    silence_write(to, audit);
    html_put(to, "</p>");
    table_write(to, audit);
    html_put(to, "<p class='note'>");
    html_put(to,
             "Verdicts have Holm's correction, here over the cells of a round. A difference of a "
             "size that is seldom found can be there and not be shown, so that ~ says little "
             "about it. Chance explains up to %lld differences between equals. ",
             field_integer(same, "allowed"));
    too_few_write(to, audit);
    verdicts_write(to, audit);
    html_put(to,
             "With the order of the cells reversed, of %lld verdicts %lld were shown in both "
             "orders and %lld of these turned around; with the sides swapped, %lld changed.",
             field_integer(order, "comparisons"), field_integer(order, "decided"),
             field_integer(order, "reversed"), field_integer(order, "swapped_changed"));
    html_put(to, "</p>");
}

void report_audit_write(FILE *to, const struct report *report)
{
    const json_t *audit = report->extra.audit;
    html_put(to, "<section id='audit'><h2>Can the comparisons be believed?</h2>");
    if (audit) {
        sentences_write(to, audit);
    } else {
        html_put(
            to,
            "<p class='note'>No audit of this machine is beside this run, so how far its "
            "comparisons can be believed is not known. `schedlab audit` makes one in 12 minutes, "
            "with `--quick` a first look in one: how often a difference is found where there is "
            "none, and a slowdown where there is one. `schedlab report` then shows it here.</p>");
    }
    html_put(to, "</section>");
}
