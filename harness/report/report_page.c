/* report_page.c - see report_page.h. */
#include "harness/report/report_page.h"

#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/numbers/units.h"
#include "harness/report/report_expect.h"
#include "harness/report/report_peers.h"
#include "harness/summary/report_answers.h"

#include <stdlib.h>
#include <string.h>

/* Failures ------------------------------------------------------------------------------------- */

static size_t cells_with(const struct report *report, const char *status)
{
    size_t n = 0;
    for (size_t i = 0; i < report->cells_count; i++)
        n += (!status || strcmp(report->cells[i].status, status) == 0) && report->cells[i].is_first;
    return n;
}

/* The output of the first failed sample of a cell that wrote anything; NULL if none did. */
static const char *failed_output(const struct report *report, const char *id)
{
    json_each(record, json_object_get(report->by_cell, id)) {
        if (*field_text(record, "output"))
            return field_text(record, "output");
    }
    return NULL;
}

static void failure_row(FILE *to, const struct report *report, const struct report_cell *cell)
{
    html_put(to,
             "<tr><th scope='row'><a href='#cell-%s' class='id'>%s</a></th><td "
             "class='%s'>%s</td><td>%s</td><td>%s</td><td class='number'>%d</td><td>%s",
             cell->id, cell->id, strcmp(cell->status, "failed") == 0 ? "failed" : "range",
             cell->status, cell->variant, cell->workload, cell->workers,
             cell->reason ? cell->reason : "no reason recorded");
    const char *output = failed_output(report, cell->id);
    if (output) {
        html_put(to, "<details><summary>what it wrote</summary><pre>%s</pre></details>", output);
    }
    html_put(to, "</td></tr>");
}

static void failures_write(FILE *to, const struct report *report)
{
    static const char *const names[] = {"cell",    "status", "variant", "workload",
                                        "workers", "reason", NULL};
    html_put(to, "<section id='failures'><h2>Failed and skipped</h2>");
    if (cells_with(report, "failed") + cells_with(report, "skipped") == 0) {
        html_put(to, "<p>Every cell was measured.</p>");
    } else {
        html_put(to, "<p>A failed cell hung, crashed or answered wrongly; it has no number, "
                     "however fast it was. A skipped one could not be served by its variant "
                     "without harm to the machine.</p>");
        html_table_begin(to, "Cells without a number, and why", "stack", names);
        static const char *const kinds[] = {"failed", "skipped"};
        for (int kind = 0; kind < 2; kind++)
            for (size_t i = 0; i < report->cells_count; i++)
                if (strcmp(report->cells[i].status, kinds[kind]) == 0 && report->cells[i].is_first)
                    failure_row(to, report, &report->cells[i]);
        html_table_end(to);
    }
    html_put(to, "</section>");
}

/* Absent events -------------------------------------------------------------------------------- */

static bool same_absence(const struct report_event *a, const struct report_event *b)
{
    return a->absent && b->absent && strcmp(a->absent, b->absent) == 0 &&
           strcmp(a->source, b->source) == 0;
}

/* In which cells: of all events of the row, of which `names` is the set. */
static void absence_extent(FILE *to, const struct report *report, const struct report_event *event,
                           const json_t *names)
{
    size_t here = 0, absent = 0, all = 0;
    for (size_t i = 0; i < report->events_count; i++) {
        const struct report_event *other = &report->events[i];
        if (!json_object_get(names, other->name))
            continue;
        all++;
        absent += other->absent != NULL;
        here += same_absence(event, other);
    }
    html_put(to, "<td>%s</td>",
             here == all     ? "in all cells"
             : absent == all ? "in some cells, for other reasons in all others"
                             : "in some cells");
}

/* All events that are absent for one reason. */
static void absence_row(FILE *to, const struct report *report, const struct report_event *event)
{
    const char *separator = "";
    json_t *names = json_object();
    html_put(to, "<tr><th scope='row'>");
    for (size_t i = 0; i < report->events_count; i++) {
        const struct report_event *other = &report->events[i];
        if (!same_absence(event, other) || json_object_get(names, other->name))
            continue;
        json_object_set_new(names, other->name, json_true());
        html_put(to, "%s%s", separator, other->name);
        separator = ", ";
    }
    html_put(to, "</th><td>%s</td>", event->source);
    absence_extent(to, report, event, names);
    json_decref(names);
    html_put(to, "<td>%s</td></tr>", event->absent);
}

static bool told_before(const struct report *report, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_absence(&report->events[k], &report->events[i]))
            return true;
    return false;
}

static void absences_table(FILE *to, const struct report *report)
{
    static const char *const names[] = {"events", "source", "absent", "reason", NULL};
    size_t written = 0;
    for (size_t i = 0; i < report->events_count; i++) {
        if (!report->events[i].absent || told_before(report, i))
            continue;
        if (written++ == 0) {
            html_table_begin(to, "Events without a value, and why", "stack", names);
        }
        absence_row(to, report, &report->events[i]);
    }
    if (written == 0) {
        html_put(to, "<p>Every event that was asked for was counted.</p>");
        return;
    }
    html_table_end(to);
}

static void absences_write(FILE *to, const struct report *report)
{
    html_put(to, "<section id='absent'><h2>Events: sources, and what could not be "
                 "counted</h2><p>All events are read through PAPI. Source pmu: the processor's "
                 "counters; soft: counted by the kernel; sde: counted by schedlab itself; sim: "
                 "counted by the simulated caches. What cannot be had is absent, never zero.</p>");
    absences_table(to, report);
    html_put(to, "</section>");
}

/* Method --------------------------------------------------------------------------------------- */

/* How often was measured, for people: other units stand in the names of their keys. Owned by the
 * caller; NULL if it is not known. */
static json_t *settings_make(const json_t *environment)
{
    const json_t *of_run = json_object_get(environment, "sweep");
    json_t *settings = json_copy(
        (json_t *)(uintptr_t)(of_run ? of_run : json_object_get(environment, "side_by_side")));
    for (const struct param *param = sweep_file_params; param->name; param++) {
        const json_t *value = json_object_get(settings, param->name);
        if (strcmp(param->unit, "percent") == 0 && json_is_integer(value))
            json_object_set_new(settings, param->name,
                                json_sprintf("%lld %%", json_integer_value(value)));
    }
    return settings;
}

static void method_write(FILE *to, const struct report *report)
{
    json_t *settings = settings_make(report->environment);
    json_int_t blocks = 0;
    size_t i;
    json_each(record, report->records) {
        json_int_t block = field_integer(record, "block");
        blocks = block + 1 > blocks ? block + 1 : blocks;
    }
    const char *started = field_text(json_array_get(report->records, 0), "started");
    if (!*started) /* a simulated sample does not say */
        started = field_text(report->environment, "taken");
    html_put(to,
             "<section id='method'><h2>How the numbers were made</h2><dl><dt>Samples</dt><dd>%zu "
             "of %s, in %s, the first at %s</dd></dl>",
             json_array_size(report->records), counted(cells_with(report, NULL), "cell").s,
             counted((uint64_t)blocks, "block").s, *started ? started : "an unknown time");
    report_facts_write(to, "Settings of the sweep", settings);
    json_decref(settings);
    static const char *const steps[] = {
        "A sample is a fresh process: it calls the workload untimed to warm up, then times one "
        "call after the other, checks the answer of each, and ends.",
        "Samples come in blocks. Each block measures every cell once, in an order shuffled by the "
        "seed, so that heat and neighbours hit all cells alike.",
        "Throughput is operations over time, of all timed calls of a sample. What the tables give "
        "is the median over samples; the 95 % interval lies between expanded percentiles of 2000 "
        "bootstrap resamples. It takes 6 samples: of 5 even the range from the least to the most "
        "holds the true median in 94 % of all cases only, so fewer are too few for an interval.",
        "The digest of the work done must be equal for all variants of a workload; a cell with a "
        "wrong one is failed.",
    };
    html_put(to, "<ul>");
    for (i = 0; i < sizeof steps / sizeof steps[0]; i++)
        html_put(to, "<li>%s</li>", steps[i]);
    html_put(
        to, "</ul><p class='note'>Everything on this page comes from the .tsv files beside it, and "
            "those from samples.jsonl. The schema is results/README.md of schedlab.</p></section>");
}

/* Frame ---------------------------------------------------------------------------------------- */

static void head_write(FILE *to, const struct report *report)
{
    fputs("<!DOCTYPE html>\n", to);
    html_put(to,
             "<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
             "content='width=device-width, initial-scale=1'><title>%s</title>",
             report->title);
    fprintf(to, "\n<style>\n%s</style>\n", report_style);
    /* Folded tables would be missing on paper; those of all events would be most of it. And a link
     * into something folded unfolds it, which not every browser does by itself. */
    fputs("<script>addEventListener('beforeprint',()=>document.querySelectorAll('details.print')"
          ".forEach(d=>d.open=true));addEventListener('hashchange',()=>{const at=document"
          ".getElementById(location.hash.slice(1)),d=at&&at.closest('details');"
          "if(d&&!d.open){d.open=true;at.scrollIntoView()}})</script>\n",
          to);
    html_put(to, "</head>");
}

static void nav_link(FILE *to, const char *link, const char *text)
{
    html_put(to, "<li><a href='%s'>%s</a></li>", link, text);
}

static void nav_write(FILE *to, const struct report *report)
{
    const struct report_extra *extra = &report->extra;
    const struct {
        const char *link, *text;
        bool there;
    } parts[] = {
        {"#distances", "Core distance", report_has_distances(report)},
        {"#audit", "Audit", true},
        {"#comparisons", "Compared", extra->comparisons_count > 0},
        {"#metg", "Smallest task", extra->metg.rows > 1},
        {"#outside", "From outside", extra->outside.rows > 1},
        {"#failures", "Failed, skipped", true},
        {"#absent", "Event sources", true},
        {"#cells", "Cell by cell", true},
        {"#method", "Method", true},
    };
    html_put(to, "<nav aria-label='Parts of this page'><ul>");
    nav_link(to, "#answers", "Answers");
    if (report_expect_any(report))
        nav_link(to, "#expected", "Measured elsewhere");
    if (report_peers_any(report))
        nav_link(to, "#peers", "Other runtimes");
    nav_link(to, "#where", "Where");
    nav_link(to, "#doctor", "Disturbances");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].there)
            nav_link(to, parts[i].link, parts[i].text);
    html_put(to, "</ul></nav>");
}

static void problems_write(FILE *to, const json_t *problems)
{
    json_each(problem, problems) {
        html_put(to, "<p class='problem'>%s</p>", json_string_value(problem));
    }
}

static void header_write(FILE *to, const struct report *report)
{
    char *caption = figures_caption(report, NULL);
    html_put(
        to, "<header><h1>%s</h1><p class='where'>%s %s: %zu measured, %zu failed, %zu skipped.</p>",
        report->title, caption, counted(cells_with(report, NULL), "cell").s,
        cells_with(report, "ok"), cells_with(report, "failed"), cells_with(report, "skipped"));
    problems_write(to, report->problems);
    problems_write(to, report->warnings);
    if (!report->sweep)
        html_put(to, "<p class='problem'>Without a sweep.yaml that can be read it is unknown what "
                     "the groups ask, what their baselines are, and which figure answers. "
                     "Multiples of a baseline, the curves and maps of knobs and the titles are "
                     "missing, and each group is answered by its throughput.</p>");
    nav_write(to, report);
    html_put(to, "</header>");
    free(caption);
}

/* Without it the page can be read all the same. */
static void script_write(FILE *to, const struct report *report)
{
    struct error error;
    json_t *pins = report_pins_to_json(report);
    fputs("<script type=\"application/json\" id=\"pins\">", to);
    html_json(to, pins);
    fputs("</script>\n<script>\n", to);
    bool whole = html_viewer_part(to, "report.js", &error);
    fputs("</script>\n", to);
    if (!whole)
        html_put(to, "<p class='problem'>Rows cannot be filtered, nor baselines changed: %s</p>",
                 error.text);
    json_decref(pins);
}

void report_page_write(FILE *to, const struct report *report, const struct figures *figures)
{
    head_write(to, report);
    html_put(to, "<body>");
    header_write(to, report);
    html_put(to, "<main>");
    report_answers_write(to, report);
    report_expect_write(to, report);
    report_peers_write(to, report);
    for (size_t i = 0; i < report->groups_count; i++)
        report_section_write(to, report, &report->groups[i], figures);
    report_environment_write(to, report);
    report_doctor_write(to, report);
    report_distances_write(to, report);
    report_audit_write(to, report);
    report_comparisons_write(to, report);
    report_metg_write(to, report);
    report_outside_write(to, report);
    failures_write(to, report);
    absences_write(to, report);
    report_cells_write(to, report);
    method_write(to, report);
    html_put(to, "</main>");
    script_write(to, report);
    html_put(to, "</body></html>");
}
