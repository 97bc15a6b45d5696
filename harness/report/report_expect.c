/* report_expect.c - see report_expect.h. */
#include "harness/report/report_expect.h"

#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/evidence/metric.h"
#include "harness/numbers/units.h"
#include "harness/spec/peer_table.h"

#include <math.h>
#include <string.h>

/* A factor of exactly `within` agrees, whatever a division makes of it. */
static const double ROUNDING = 1e-9;

static const double COUNTED_MAX = 99999; /* whole numbers up to here have all their digits */

struct expect_verdict expect_judge(double measured, double expected, double within)
{
    if (!isfinite(measured))
        return (struct expect_verdict){EXPECT_NOT_MEASURED, NAN};
    double times = measured / expected, limit = within * (1 + ROUNDING);
    bool agrees = times <= limit && times * limit >= 1;
    return (struct expect_verdict){agrees ? EXPECT_AGREES : EXPECT_DIFFERS, times};
}

static struct metric metric_of_expect(const struct sweep_expect *expect)
{
    struct metric metric;
    struct error error;
    metric_parse(&metric, expect->metric, &error); /* sweep_expect.c has checked it */
    return metric;
}

/* An event's count per operation, or its value at the end or at the most. */
static struct interval event_of(const struct report_cell *cell, const char *name)
{
    const struct report_event *event = report_event_find(cell, name);
    if (!event || event->absent)
        return (struct interval){NAN, NAN, NAN, 0};
    if (isfinite(event->per_op.median))
        return event->per_op;
    return (struct interval){event->value, NAN, NAN, 0};
}

struct interval expect_measured(const struct report_cell *cell, const struct sweep_expect *expect)
{
    struct metric metric = metric_of_expect(expect);
    if (!cell || !report_cell_ok(cell))
        return (struct interval){NAN, NAN, NAN, 0};
    if (metric.kind == METRIC_LATENCY)
        return report_latency_ns(cell, metric.quantile);
    return metric.kind == METRIC_EVENT ? event_of(cell, expect->metric) : cell->throughput;
}

/* One expectation and its number here. */
struct line {
    const struct report *report;
    const struct report_group *group;
    const struct sweep_expect *expect;
    const struct report_cell *cell; /* NULL: the run has no such cell */
    struct interval measured;
    struct expect_verdict verdict;
};

static struct line line_make(const struct report *report, const struct report_group *group,
                             const struct sweep_expect *expect)
{
    struct line line = {.report = report, .group = group, .expect = expect};
    line.cell = report_cell_find(group, expect->variant, expect->workload, (int)expect->workers);
    line.measured = expect_measured(line.cell, expect);
    line.verdict = expect_judge(line.measured.median, expect->value, expect->within);
    return line;
}

/* Steps over the cells of other runtimes beside the line's; NULL after the last one. */
static const struct report_cell *next_peer(const struct line *line, size_t *at)
{
    while (*at < line->group->count) {
        const struct report_cell *cell = &line->group->cells[(*at)++];
        if (peer_is_name(cell->variant) && cell != line->cell &&
            cell->workers == (int)line->expect->workers &&
            strcmp(cell->workload, line->expect->workload) == 0)
            return cell;
    }
    return NULL;
}

/* The line's number over that of a runtime that ran here. */
static struct expect_verdict beside_judge(const struct line *line, const struct report_cell *peer)
{
    double beside = expect_measured(peer, line->expect).median;
    if (!(beside > 0))
        return (struct expect_verdict){EXPECT_NOT_MEASURED, NAN};
    return expect_judge(line->measured.median, beside, line->expect->within);
}

bool report_expect_any(const struct report *report)
{
    for (size_t i = 0; i < report->groups_count; i++)
        if (report->groups[i].expect_count > 0)
            return true;
    return false;
}

/* Page ---------------------------------------------------------------------------------------- */

static struct text number_text(const struct sweep_expect *expect, double number)
{
    enum metric_kind kind = metric_of_expect(expect).kind;
    struct text text = metric_text(kind, number);
    if (kind == METRIC_EVENT && number == floor(number) && number <= COUNTED_MAX)
        snprintf(text.s, sizeof text.s, "%.0f", number);
    return text;
}

static void where_write(FILE *to, const struct line *line)
{
    html_put(to,
             "<th scope='row'><a href='#group-%s'>%s</a><br><span class='name'>%s</span><br><span "
             "class='range'>%s of %s, %lld "
             "worker%s</span></th>",
             line->group->id, line->group->id, line->expect->workload, line->expect->metric,
             line->expect->variant, (long long)line->expect->workers,
             line->expect->workers == 1 ? "" : "s");
}

static void here_write(FILE *to, const struct line *line)
{
    html_put(to, "<td class='number'>%s", number_text(line->expect, line->measured.median).s);
    if (statistics_has_interval(line->measured)) {
        html_put(to, "<br><span class='range share'>%s to %s</span>",
                 number_text(line->expect, line->measured.lo).s,
                 number_text(line->expect, line->measured.hi).s);
    }
    html_put(to, "</td>");
}

/* A line for each, with its number or why it has none. */
static void peers_write(FILE *to, const struct line *line)
{
    const struct report_cell *cell;
    size_t written = 0;
    html_put(to, "<td class='number'>");
    for (size_t at = 0; (cell = next_peer(line, &at)) != NULL; written++) {
        double number = expect_measured(cell, line->expect).median;
        if (written > 0)
            html_put(to, "<br>");
        html_put(to, "%s<br><span class='range'>%s</span>",
                 isfinite(number)       ? number_text(line->expect, number).s
                 : report_cell_ok(cell) ? "no number"
                                        : cell->status,
                 cell->variant);
    }
    if (written == 0)
        html_put(to, "-");
    html_put(to, "</td>");
}

static void expected_write(FILE *to, const struct line *line)
{
    html_put(to, "<td class='number'>%s<br><span class='range share'>within %s\303\227</span></td>",
             number_text(line->expect, line->expect->value).s, line->expect->within_text);
}

/* "2.01x more", "1.30x less" */
static struct text times_text(double times)
{
    struct text text;
    bool more = times > 1;
    snprintf(text.s, sizeof text.s, "%.40s %s", text_ratio(more ? times : 1 / times).s,
             more ? "more" : "less");
    return text;
}

/* The same verdict over each runtime that ran here. */
static void beside_write(FILE *to, const struct line *line)
{
    const struct report_cell *cell;
    for (size_t at = 0; (cell = next_peer(line, &at)) != NULL;) {
        struct expect_verdict verdict = beside_judge(line, cell);
        if (verdict.outcome == EXPECT_NOT_MEASURED)
            continue;
        html_put(to, "<br><span class='range share'>%s here: %s</span>", cell->variant,
                 verdict.outcome == EXPECT_AGREES ? "agrees" : times_text(verdict.times).s);
    }
}

static void verdict_write(FILE *to, const struct line *line)
{
    struct expect_verdict verdict = line->verdict;
    html_put(to, "<td>");
    if (verdict.outcome == EXPECT_AGREES) {
        html_put(to, "<strong>agrees</strong>");
    } else if (verdict.outcome == EXPECT_DIFFERS) {
        html_put(to, "<span class='failed share'>differs: %s</span>", times_text(verdict.times).s);
    } else {
        html_put(to, "not measured here");
        if (line->cell && line->cell->reason) {
            html_put(to, ": %s", line->cell->reason);
        }
    }
    beside_write(to, line);
    html_put(to, "</td>");
}

static void line_write(FILE *to, const struct line *line)
{
    html_put(to, "<tr>");
    where_write(to, line);
    here_write(to, line);
    peers_write(to, line);
    expected_write(to, line);
    verdict_write(to, line);
    html_put(to, "<td class='range'>%s</td></tr>", line->expect->source);
}

void report_expect_write(FILE *to, const struct report *report)
{
    static const char *const names[] = {"group, cell, number",
                                        "#here",
                                        "#other runtimes here",
                                        "#expected",
                                        "verdict",
                                        "source",
                                        NULL};
    if (!report_expect_any(report))
        return;
    html_put(
        to,
        "<section id='expected'><h2>Beside what was measured elsewhere</h2><p>The sweep file names "
        "numbers from other measurements, with their sources. The median here agrees if it is at "
        "most the given factor away from them, in either direction. Other machines and other "
        "versions differ by themselves: where another runtime ran here on the same workload, the "
        "verdict over that one stands below, by the same factor, and weighs more.</p>");
    html_table_begin(to, "What was expected and what was measured", "stack", names);
    for (size_t i = 0; i < report->groups_count; i++) {
        const struct report_group *group = &report->groups[i];
        for (size_t k = 0; k < group->expect_count; k++) {
            struct line line = line_make(report, group, &group->expect[k]);
            line_write(to, &line);
        }
    }
    html_table_end(to);
    html_put(to, "</section>");
}

/* JSON ---------------------------------------------------------------------------------------- */

static const char *outcome_text(enum expect_outcome outcome)
{
    static const char *const texts[] = {[EXPECT_AGREES] = "agrees",
                                        [EXPECT_DIFFERS] = "differs",
                                        [EXPECT_NOT_MEASURED] = "not measured"};
    return texts[outcome];
}

static void verdict_into_json(json_t *object, double measured, struct expect_verdict verdict)
{
    json_object_set_new(object, "outcome", json_string(outcome_text(verdict.outcome)));
    number_into_json(object, "measured", measured);
    number_into_json(object, "times", verdict.times);
}

static json_t *peers_to_json(const struct line *line)
{
    json_t *peers = json_array();
    const struct report_cell *cell;
    const struct sweep_expect *expect = line->expect;
    for (size_t at = 0; (cell = next_peer(line, &at)) != NULL;) {
        json_t *peer = json_pack("{ss}", "variant", cell->variant);
        double measured = expect_measured(cell, expect).median;
        verdict_into_json(peer, measured, expect_judge(measured, expect->value, expect->within));
        struct expect_verdict beside = beside_judge(line, cell);
        json_t *over = json_pack("{ss}", "outcome", outcome_text(beside.outcome));
        number_into_json(over, "times", beside.times);
        json_object_set_new(peer, "over", over);
        json_array_append_new(peers, peer);
    }
    return peers;
}

static json_t *line_to_json(const struct line *line)
{
    const struct sweep_expect *expect = line->expect;
    json_t *object =
        json_pack("{ss ss ss sI ss sf sf ss so}", "group", line->group->id, "variant",
                  expect->variant, "workload", expect->workload, "workers",
                  (json_int_t)expect->workers, "metric", expect->metric, "expected", expect->value,
                  "within", expect->within, "source", expect->source, "peers", peers_to_json(line));
    verdict_into_json(object, line->measured.median, line->verdict);
    if (statistics_has_interval(line->measured))
        interval_into_json(object, line->measured);
    if (line->cell && line->cell->reason)
        json_object_set_new(object, "reason", json_string(line->cell->reason));
    return object;
}

json_t *report_expect_to_json(const struct report *report)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < report->groups_count; i++) {
        const struct report_group *group = &report->groups[i];
        for (size_t k = 0; k < group->expect_count; k++) {
            struct line line = line_make(report, group, &group->expect[k]);
            json_array_append_new(lines, line_to_json(&line));
        }
    }
    return lines;
}
