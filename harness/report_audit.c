/* report_audit.c - what the last audit of this machine found, beside the results that it vouches
 * for. See report_page.h. */
#include "harness/html.h"
#include "harness/records.h"
#include "harness/report_page.h"

#include <stdio.h>

static void row_write(FILE *to, const char *what, const json_t *tally)
{
    html_open(to, "tr", NULL);
    html_th(to, "row", what);
    char text[64];
    snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT,
             json_integer_value(json_object_get(tally, "found")),
             json_integer_value(json_object_get(tally, "comparisons")));
    html_td(to, NULL, text);
    const json_t *share = json_object_get(tally, "share");
    snprintf(text, sizeof text, "%.0f %%", json_number_value(share) * 100);
    html_td(to, NULL, share ? text : "-");
    snprintf(text, sizeof text, "%.0f to %.0f %%",
             json_number_value(json_object_get(tally, "lo")) * 100,
             json_number_value(json_object_get(tally, "hi")) * 100);
    html_td(to, NULL, share ? text : "-");
    html_close(to, "tr");
}

static void table_write(FILE *to, const json_t *audit)
{
    static const char *const heads[] = {"Compared", "Found different", "Share", "95 % interval",
                                        NULL};
    report_table_open(to, "How often a difference is found", "audit");
    html_thead(to, heads);
    html_open(to, "tbody", NULL);
    row_write(to, "the same program twice", json_object_get(audit, "false_positives"));
    size_t i;
    const json_t *tally;
    json_array_foreach(json_object_get(audit, "power"), i, tally)
    {
        char what[64];
        snprintf(what, sizeof what, "slowed down by %" JSON_INTEGER_FORMAT " %%",
                 json_integer_value(json_object_get(tally, "slowdown_percent")));
        row_write(to, what, tally);
    }
    html_close(to, "tbody");
    report_table_close(to);
}

static json_int_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void sentences_write(FILE *to, const json_t *audit)
{
    const json_t *same = json_object_get(audit, "false_positives");
    const json_t *order = json_object_get(audit, "order");
    const char *revision = record_text(json_object_get(audit, "build"), "revision");
    const char *outcome = record_text(audit, "outcome");
    html_open(to, "p", NULL);
    html_format(to,
                "Audit of %s, revision %s, with at least %" JSON_INTEGER_FORMAT
                " samples a side and alpha %g: it %s.",
                record_text(audit, "taken"), revision, number(audit, "samples"),
                json_number_value(json_object_get(audit, "alpha")),
                *outcome                                        ? outcome
                : json_is_true(json_object_get(audit, "holds")) ? "holds"
                                                                : "does not hold");
    html_close(to, "p");
    table_write(to, audit);
    html_open(to, "p", "class", "note", NULL);
    html_format(to,
                "Chance explains up to %" JSON_INTEGER_FORMAT
                " differences between equals. With the order of the cells reversed, of "
                "%" JSON_INTEGER_FORMAT " verdicts %" JSON_INTEGER_FORMAT
                " were shown in both orders and %" JSON_INTEGER_FORMAT
                " of these turned around; with the sides swapped, %" JSON_INTEGER_FORMAT
                " changed.",
                number(same, "allowed"), number(order, "comparisons"), number(order, "decided"),
                number(order, "reversed"), number(order, "swapped_changed"));
    html_close(to, "p");
}

void report_audit_write(FILE *to, const struct report *report)
{
    const json_t *audit = report->extra.audit;
    html_open(to, "section", "id", "audit", NULL);
    html_element(to, "h2", "Can the comparisons be believed?", NULL);
    if (audit) {
        sentences_write(to, audit);
    } else {
        html_open(to, "p", "class", "note", NULL);
        html_prose(to,
                   "No audit of this machine is beside this run; `schedlab audit` makes one: how "
                   "often a difference is found where there is none, and a slowdown where there "
                   "is one.");
        html_close(to, "p");
    }
    html_close(to, "section");
}
