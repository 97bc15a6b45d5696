/* report_json.c - see report_json.h. */
#include "harness/report/report_json.h"

#include "harness/answers/report_verdict.h"
#include "harness/numbers/units.h"
#include "harness/report/report_expect.h"
#include "harness/report/report_peers.h"
#include "harness/summary/report_reason.h"

#include <math.h>
#include <stdlib.h>

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text)
        json_object_set_new(object, key, json_string(text));
}

static void set_ratio(json_t *object, const char *key, struct interval ratio)
{
    if (isfinite(ratio.median))
        json_object_set_new(object, key, ratio_to_json(ratio));
}

static json_t *verdict_to_json(const struct verdict *verdict)
{
    static const char *const outcomes[] = {[VERDICT_WON] = "won",
                                           [VERDICT_TIED] = "no difference shown",
                                           [VERDICT_OPEN] = "open: samples of two regimes",
                                           [VERDICT_FEW] = "too few samples",
                                           [VERDICT_UNLIKE] = "samples of different core distances",
                                           [VERDICT_NONE] = "nothing to compare"};
    bool some_are_slower = verdict->outcome == VERDICT_TIED && verdict->slower_count > 0;
    const char *outcome = some_are_slower ? "several not told apart" : outcomes[verdict->outcome];
    json_t *object =
        json_pack("{ss si ss ss}", "workload", verdict->workload, "workers", verdict->workers,
                  "outcome", outcome, "class", class_text(verdict->chosen));
    verdict_lists_into_json(object, verdict);
    if (verdict->best) {
        bool won = verdict->outcome == VERDICT_WON;
        set_text(object, won ? "fastest" : "seen_fastest", verdict->best->variant);
        set_ratio(object, "over_baseline", verdict->best->to_baseline);
    }
    if (verdict->next) {
        set_text(object, "next", verdict->next->variant);
        set_ratio(object, "over_next", verdict->over_next);
        number_into_json(object, "superiority", verdict->superiority);
        number_into_json(object, "p", verdict->p);
    }
    return object;
}

static json_t *cell_to_json(const struct report_cell *cell)
{
    json_t *object = json_pack("{ss ss ss si ss sI}", "cell", cell->id, "variant", cell->variant,
                               "workload", cell->workload, "workers", cell->workers, "status",
                               cell->status, "n", (json_int_t)cell->throughput.n);
    set_text(object, "reason", cell->reason);
    if (report_cell_ok(cell)) {
        set_text(object, "class", class_text(cell->chosen));
        json_object_set_new(object, "n_all", json_integer((json_int_t)cell->n_all));
    }
    set_text(object, "stop", cell->stop);
    number_into_json(object, "median", cell->throughput.median);
    interval_into_json(object, cell->throughput);
    set_ratio(object, "over_baseline", cell->to_baseline);
    set_ratio(object, "speedup", cell->speedup);
    number_into_json(object, "efficiency", cell->efficiency);
    return object;
}

/* quantile: of the latencies that stand for the group's throughputs; NAN: none do. */
static json_t *answers_of(const struct report *report, const struct report_group *group,
                          double quantile)
{
    json_t *answers = json_array();
    size_t count;
    struct verdict *verdicts = verdicts_make(group, &count);
    for (size_t i = 0; i < count; i++) {
        const char *slower;
        json_t *answer = verdict_to_json(&verdicts[i]);
        char *reason = report_reason(report, group, &verdicts[i], quantile, &slower);
        if (reason)
            json_object_set_new(answer, "why",
                                json_pack("{ss ss}", "slower", slower, "text", reason));
        free(reason);
        json_array_append_new(answers, answer);
    }
    verdicts_free(verdicts, count);
    return answers;
}

static json_t *answers_of_latency(const struct report *report, const struct report_group *group,
                                  double quantile)
{
    struct report_group tails = report_tails_make(report, group, quantile);
    json_t *answers = answers_of(report, &tails, quantile);
    report_tails_free(&tails);
    return answers;
}

/* Adds the answers by the group's subject, as on the page: a question about counts or sizes has no
 * winner. */
static void answers_into_json(json_t *object, const struct report *report,
                              const struct report_group *group)
{
    static const char *const unanswered[SWEEP_FIGURES] = {[SWEEP_FIGURE_EVENTS] = "events",
                                                          [SWEEP_FIGURE_SCALE] = "scale",
                                                          [SWEEP_FIGURE_STALLS] = "stalls"};
    enum sweep_figure subject = report_subject(group);
    if (subject == SWEEP_FIGURE_LATENCY) {
        json_object_set_new(object, "answers_p50",
                            answers_of_latency(report, group, VERDICT_MIDDLE));
        set_text(object, "metric", "p99 latency");
        json_object_set_new(object, "answers", answers_of_latency(report, group, VERDICT_TAIL));
        return;
    }
    set_text(object, "metric", unanswered[subject] ? unanswered[subject] : "throughput");
    json_object_set_new(object, "answers",
                        unanswered[subject] ? json_array() : answers_of(report, group, NAN));
}

static void tail_into_json(json_t *object, const struct report_cell *cell)
{
    struct interval ns = report_latency_ns(cell, VERDICT_TAIL);
    if (!isfinite(ns.median))
        return;
    json_t *tail = json_pack("{sf}", "ns", ns.median);
    interval_into_json(tail, ns);
    json_object_set_new(object, "p99", tail);
}

static json_t *group_to_json(const struct report *report, const struct report_group *group,
                             const struct figures *figures)
{
    json_t *object = json_pack("{ss}", "id", group->id);
    set_text(object, "question", group->question);
    set_text(object, "baseline", group->baseline);
    json_t *cells = json_array(), *paths = json_array();
    for (size_t i = 0; i < group->count; i++) {
        json_t *cell = cell_to_json(&group->cells[i]);
        tail_into_json(cell, &group->cells[i]);
        if (report_cell_is_crowded(report, &group->cells[i]))
            json_object_set_new(cell, "more_workers_than_cores", json_true());
        json_array_append_new(cells, cell);
    }
    for (size_t i = 0; i < figures->count; i++)
        if (figures->figures[i].group == group && figures->figures[i].drawn)
            json_array_append_new(paths, json_string(figures->figures[i].svg));
    answers_into_json(object, report, group);
    json_object_set_new(object, "cells", cells);
    json_object_set_new(object, "figures", paths);
    return object;
}

json_t *report_to_json(const struct report *report, const struct figures *figures)
{
    json_t *groups = json_array();
    for (size_t i = 0; i < report->groups_count; i++)
        json_array_append_new(groups, group_to_json(report, &report->groups[i], figures));
    return json_pack("{si ss ss ss+ so so so}", "schema", 1, "run", report->name, "title",
                     report->title, "report", report->run_dir, "/report.html", "groups", groups,
                     "peers", report_peers_to_json(report), "expected",
                     report_expect_to_json(report));
}
