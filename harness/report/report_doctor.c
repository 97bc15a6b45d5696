/* report_doctor.c - what doctor found before the run: the section of the page. See report_page.h.
 *
 * Reads environment.json's key `doctor` and nothing else. Runs from before there was one say so.
 */
#include "harness/base/json_fields.h"
#include "harness/report/report_page.h"

#include "harness/doc/doc.h"
#include "harness/doc/html.h"

#include <string.h>

/* Text, then the command in its own type. */
static void td_command(FILE *to, const char *text, const char *command)
{
    html_put(to, "<td>%s", text);
    if (*text && *command)
        html_put(to, ": ");
    if (*command)
        html_put(to, "<code>%s</code>", command);
    html_put(to, "</td>");
}

/* Findings ------------------------------------------------------------------------------------ */

static bool is_level(const json_t *finding, const char *level)
{
    return strcmp(field_text(finding, "level"), level) == 0;
}

static size_t findings_with(const json_t *findings, const char *level)
{
    size_t n = 0;
    json_each(finding, findings)
        n += is_level(finding, level);
    return n;
}

static void finding_row(FILE *to, const json_t *finding)
{
    html_put(to, "<tr><th scope='row'>%s</th><td class='%s'>%s</td>", field_text(finding, "id"),
             is_level(finding, "warn") ? "failed" : "range", field_text(finding, "level"));
    td_command(to, field_text(finding, "fact"), "");
    td_command(to, field_text(finding, "why"), "");
    td_command(to, "", field_text(finding, "change"));
    html_put(to, "</tr>");
}

static void findings_write(FILE *to, const json_t *findings)
{
    static const char *const names[] = {
        "what", "level", "found", "what it does to results", "what changes it", NULL};
    if (findings_with(findings, "ok") == json_array_size(findings))
        return;
    html_table_begin(to, "What disturbed, or could not be seen", "stack", names);
    json_each(finding, findings) {
        if (!is_level(finding, "ok"))
            finding_row(to, finding);
    }
    html_table_end(to);
}

static void well_write(FILE *to, const json_t *findings)
{
    const char *separator = "";
    if (findings_with(findings, "ok") == 0)
        return;
    html_put(to, "<p class='note'>Found well: ");
    json_each(finding, findings) {
        if (!is_level(finding, "ok"))
            continue;
        html_put(to, "%s%s (%s)", separator, field_text(finding, "id"),
                 field_text(finding, "fact"));
        separator = ", ";
    }
    html_put(to, ".</p>");
}

/* Events -------------------------------------------------------------------------------------- */

/* "5 of 108"; a count that is not known is "-". */
static void td_counts(FILE *to, const json_t *kind, const char *part, const char *whole)
{
    const char *const keys[] = {part, whole};
    html_put(to, "<td class='number'>");
    for (int i = 0; i < 2; i++) {
        const json_t *count = json_object_get(kind, keys[i]);
        html_put(to, "%s", i ? " of " : "");
        if (json_is_integer(count))
            html_put(to, "%lld", json_integer_value(count));
        else
            html_put(to, "-");
    }
    html_put(to, "</td>");
}

static void counting_write(FILE *to, const json_t *kinds)
{
    static const char *const names[] = {"events", "can be counted", "of the default list",
                                        "what stands in the way", NULL};
    if (json_array_size(kinds) == 0)
        return;
    html_table_begin(to, "What the machine could count", "stack", names);
    json_each(kind, kinds) {
        html_put(to, "<tr><th scope='row'>%s</th>", field_text(kind, "name"));
        td_counts(to, kind, "available", "listed");
        td_counts(to, kind, "wanted_available", "wanted");
        td_command(to, field_text(kind, "reason"), field_text(kind, "change"));
        html_put(to, "</tr>");
    }
    html_table_end(to);
}

/* Together ------------------------------------------------------------------------------------ */

void report_doctor_write(FILE *to, const struct report *report)
{
    const json_t *doctor = json_object_get(report->environment, "doctor");
    const json_t *findings = json_object_get(doctor, "findings");
    html_put(to, "<section id='doctor'><h2>What disturbed measuring</h2>");
    if (json_array_size(findings) == 0) {
        html_put(to, "<p>The run did not record what doctor finds on the machine.</p>");
    } else {
        html_put(to,
                 "<p>schedlab doctor, before the first sample: %zu warn, %zu note, %zu unknown, "
                 "%zu ok.</p>",
                 findings_with(findings, "warn"), findings_with(findings, "note"),
                 findings_with(findings, "unknown"), findings_with(findings, "ok"));
        findings_write(to, findings);
        well_write(to, findings);
        counting_write(to, json_object_get(doctor, "counting"));
    }
    html_put(to, "</section>");
}
