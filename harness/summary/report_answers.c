/* report_answers.c - see report_answers.h. Folded behind each sentence: who wins on what, by how
 * much. */
#include "harness/summary/report_answers.h"

#include "harness/answers/figures_events.h"
#include "harness/answers/report_verdict.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/counters/counter_names.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/numbers/units.h"
#include "harness/spec/peer_table.h"
#include "harness/summary/latency_view.h"
#include "harness/summary/report_chart.h"
#include "harness/summary/report_lesson.h"
#include "harness/summary/report_reason.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 3, SLOWER_MAX = 7 };

/* "1.95x tasksteal (1.90 to 2.01)"; set off if it is shown. */
static void multiple_write(FILE *to, struct interval ratio, const char *of, bool shown)
{
    html_put(to, shown ? "<b>%s</b> %s (%s%s)" : "<span>%s</span> %s (%s%s)",
             text_ratio(ratio.median).s, of, text_ratio_interval(ratio).s,
             statistics_has_too_few(ratio) ? " samples for an interval" : "");
}

static bool is_baseline(const struct report_group *group, const struct report_cell *cell)
{
    return group->baseline && strcmp(group->baseline, cell->variant) == 0;
}

/* How often a sample of the fastest beats one of the next, beside the p of that. */
static void effect_write(FILE *to, const struct verdict *verdict)
{
    html_put(to, " [A %.2f, ", verdict->superiority);
    if (verdict->p < 0.001)
        html_put(to, "%s", "p < 0.001]");
    else
        html_put(to, "p = %.3f]", verdict->p);
}

/* True if a row names the cell already: as the next or as the baseline. */
static bool is_named(const struct report_group *group, const struct verdict *verdict,
                     const struct report_cell *cell)
{
    return (verdict->outcome == VERDICT_WON && cell == verdict->next) ||
           (is_baseline(group, cell) && isfinite(verdict->best->to_baseline.median));
}

/* The best's multiples of all others that it is shown to be faster than. */
static void slower_write(FILE *to, const struct report_group *group, const struct verdict *verdict)
{
    size_t written = 0;
    bool several = verdict->outcome == VERDICT_TIED || verdict->outcome == VERDICT_OPEN;
    if (!verdict->best || (verdict->outcome != VERDICT_WON && !several))
        return;
    for (size_t i = 0; i < verdict->slower_count; i++) {
        const struct verdict_slower *slower = &verdict->slower[i];
        if (is_named(group, verdict, slower->cell))
            continue;
        if (written == 0 && several)
            html_put(to, "; %s over the slower: ", verdict->best->variant);
        else if (written < SLOWER_MAX)
            html_put(to, "%s", written == 0 ? "; " : " \302\267 ");
        if (written++ < SLOWER_MAX)
            html_put(to, "%s %s", text_ratio(slower->times.median).s, slower->cell->variant);
    }
    if (written > SLOWER_MAX)
        html_put(to, " and %zu more", written - SLOWER_MAX);
}

/* Never true of who does not compete, as `serial`: those are not tested here. */
static bool is_slower(const struct verdict *verdict, const char *variant)
{
    for (size_t i = 0; i < verdict->slower_count; i++)
        if (strcmp(verdict->slower[i].cell->variant, variant) == 0)
            return true;
    return false;
}

/* The sentence behind a win, below it. */
static void reason_write(FILE *to, const struct report *report, const struct report_group *group,
                         const struct verdict *verdict, double quantile)
{
    const char *slower;
    char *reason = report_reason(report, group, verdict, quantile, &slower);
    if (reason)
        html_put(to, "<div class='why'>%s: %s</div>", slower, reason);
    free(reason);
}

/* The fastest on one workload, over the next and over the baseline; with its name where it has not
 * won. */
static void win_write(FILE *to, const struct report_group *group, const struct verdict *verdict,
                      bool name)
{
    html_put(to, ": ");
    if (name)
        html_put(to, "%s seen at ", verdict->best->variant);
    multiple_write(to, verdict->over_next, verdict->next->variant, !name);
    effect_write(to, verdict);
    if (!is_baseline(group, verdict->best) && !is_baseline(group, verdict->next) &&
        isfinite(verdict->best->to_baseline.median)) {
        html_put(to, ", ");
        multiple_write(to, verdict->best->to_baseline, group->baseline,
                       !name && is_slower(verdict, group->baseline));
    }
}

/* The i-th of those that are not told apart, the fastest first. */
static const struct report_cell *contender(const struct verdict *verdict, size_t i)
{
    return i == 0 ? verdict->best : verdict->tied[i - 1];
}

/* Up to NAMES_MAX of them, and how many more there are. True if the baseline is one of them. */
static bool contenders_write(FILE *to, const struct report_group *group,
                             const struct verdict *verdict)
{
    bool baseline = false, named = false;
    size_t count = verdict->tied_count + 1;
    for (size_t i = 0; i < count; i++) {
        baseline = baseline || is_baseline(group, contender(verdict, i));
        if (i >= NAMES_MAX)
            continue;
        /* Specifications have commas of their own. */
        html_put(to, "%s<span class='name'>%s</span>", i > 0 ? " \302\267 " : ": ",
                 contender(verdict, i)->variant);
        named = baseline;
    }
    if (count > NAMES_MAX)
        html_put(to, " and %zu more of %zu", count - NAMES_MAX, verdict->competitors);
    if (baseline && !named)
        html_put(to, ", the baseline %s among them", group->baseline);
    return baseline;
}

/* A workload on which the fastest are not told apart. */
static void tie_write(FILE *to, const struct report_group *group, const struct verdict *verdict)
{
    bool baseline = contenders_write(to, group, verdict);
    if (!baseline && group->baseline && isfinite(verdict->best->to_baseline.median)) {
        html_put(to, "; %s ", verdict->best->variant);
        multiple_write(to, verdict->best->to_baseline, group->baseline,
                       is_slower(verdict, group->baseline));
    }
}

/* For a workload on which too few samples were measured at one core distance. A variant that keeps
 * to one core has no core distance, and is not named. */
static void unlike_write(FILE *to, const struct verdict *verdict)
{
    size_t named = 0;
    html_put(to, ": fewer than 3 samples of each at one core distance");
    for (size_t i = 0; i < verdict->tied_count && named < NAMES_MAX; i++) {
        const struct report_cell *cell = verdict->tied[i];
        if (!class_counts_have_distances(&cell->counts))
            continue;
        html_put(to, "%s<span class='name'>%s</span> %zu near, %zu far",
                 named++ > 0 ? " \302\267 " : ": ", cell->variant, cell->of_class_count[CLASS_NEAR],
                 cell->of_class_count[CLASS_FAR]);
    }
}

/* Which regimes leave open whether the best is ahead of whom. The samples of latencies are their
 * inverse. */
static void open_write(FILE *to, const struct verdict *verdict, bool latency)
{
    const struct regimes *of = &verdict->regimes.of;
    html_put(to, ": samples of <span class='name'>%s</span> are of two regimes, ",
             verdict->regimes.cell->variant);
    if (latency)
        html_put(to, "%s and %s", text_time(1 / of->low_median).s,
                 text_time(1 / of->high_median).s);
    else
        html_put(to, "%s/s and %s/s", text_si(of->low_median).s, text_si(of->high_median).s);
    html_put(to,
             "; whether <span class='name'>%s</span> is ahead of <span class='name'>%s</span> "
             "depends on the one that is met",
             verdict->best->variant, verdict->open[0]->variant);
    if (verdict->open_count > 1)
        html_put(to, ", and likewise for %zu more", verdict->open_count - 1);
}

/* True if two workloads belong in one row. */
static bool same_answer(const struct verdict *a, const struct verdict *b)
{
    if (a->outcome == VERDICT_TIED)
        return b->outcome == VERDICT_TIED && (a->slower_count == 0) == (b->slower_count == 0);
    return a->outcome == b->outcome &&
           (a->outcome != VERDICT_WON || strcmp(a->best->variant, b->best->variant) == 0);
}

static bool starts_row(const struct verdict *verdicts, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_answer(&verdicts[k], &verdicts[i]))
            return false;
    return true;
}

static void workload_write(FILE *to, const struct report *report, const struct report_group *group,
                           const struct verdict *verdict)
{
    html_put(to, "<li data-workload='%s'><span class='name'>%s</span>", verdict->workload,
             verdict->workload);
    if (verdict->outcome == VERDICT_WON || verdict->outcome == VERDICT_FEW)
        win_write(to, group, verdict, verdict->outcome == VERDICT_FEW);
    else if (verdict->outcome == VERDICT_TIED)
        tie_write(to, group, verdict);
    else if (verdict->outcome == VERDICT_OPEN)
        open_write(to, verdict, false);
    else if (verdict->outcome == VERDICT_UNLIKE)
        unlike_write(to, verdict);
    else if (verdict->best)
        html_put(to, ": only %s has a number", verdict->best->variant);
    slower_write(to, group, verdict);
    reason_write(to, report, group, verdict, NAN);
    html_put(to, "</li>");
}

static void outcome_write(FILE *to, const struct verdict *verdict)
{
    static const char *const labels[] = {[VERDICT_TIED] = "no difference shown",
                                         [VERDICT_OPEN] = "open: samples of two regimes",
                                         [VERDICT_FEW] = "too few samples to say",
                                         [VERDICT_UNLIKE] = "measured at different core distances",
                                         [VERDICT_NONE] = "nothing to compare"};
    if (verdict->outcome == VERDICT_TIED && verdict->slower_count > 0)
        html_put(to, "<td class='tie'>several not told apart</td>");
    else if (verdict->outcome == VERDICT_WON)
        html_put(to, "<td class='winner'>%s</td>", verdict->best->variant);
    else
        html_put(to, "<td class='tie'>%s</td>", labels[verdict->outcome]);
}

/* All workloads with the same answer as the first. */
static void row_write(FILE *to, const struct report *report, const struct report_group *group,
                      const struct verdict *verdicts, size_t count, size_t first)
{
    outcome_write(to, &verdicts[first]);
    html_put(to, "<td><ul class='wins'>");
    for (size_t i = first; i < count; i++)
        if (same_answer(&verdicts[first], &verdicts[i]))
            workload_write(to, report, group, &verdicts[i]);
    html_put(to, "</ul></td></tr>");
}

/* Wins first, ties then, so that the answer says its most important thing first. */
static void throughput_write(FILE *to, const struct report *report,
                             const struct report_group *group, const struct verdict *verdicts,
                             size_t count)
{
    for (int kind = VERDICT_WON; kind <= VERDICT_NONE; kind++) {
        for (size_t i = 0; i < count; i++) {
            if (verdicts[i].outcome != (enum verdict_outcome)kind || !starts_row(verdicts, i))
                continue;
            html_put(to, "<tr>");
            row_write(to, report, group, verdicts, count, i);
        }
    }
}

/* Latency -------------------------------------------------------------------------------------- */

static void quantile_write(FILE *to, const struct report_cell *cell, double quantile, bool won)
{
    struct interval ns = report_latency_ns(cell, quantile);
    html_put(to,
             won ? "<span class='name'>%s</span> <b>%s</b> (%s%s)"
                 : "<span class='name'>%s</span> <span>%s</span> (%s%s)",
             cell->variant, text_time(ns.median).s, text_time_interval(ns).s,
             statistics_has_too_few(ns) ? " samples for an interval" : "");
}

/* Within how long the best and the next did a quantile of their operations. */
static void within_write(FILE *to, const struct report_group *tails, const struct verdict *verdict,
                         double quantile)
{
    if (verdict->best)
        quantile_write(to, verdict->best, quantile, verdict->outcome == VERDICT_WON);
    if (verdict->next) {
        html_put(to, ", next ");
        quantile_write(to, verdict->next, quantile, false);
        effect_write(to, verdict);
    }
    slower_write(to, tails, verdict);
}

/* True if the two quantiles have different answers, so that one alone would hide the other. */
static bool disagree(const struct verdict *tail, const struct verdict *middle)
{
    if (!tail->next || !middle->next || middle->competitors > tail->competitors)
        return false;
    return tail->outcome != middle->outcome || is_slower(tail, middle->best->variant) ||
           is_slower(middle, tail->best->variant);
}

static void middle_write(FILE *to, const struct report_group *middles, const struct verdict *middle)
{
    html_put(to, "<br>But half of them, %s: within ",
             middle->outcome == VERDICT_WON    ? "shown to be the shortest"
             : middle->outcome == VERDICT_TIED ? "not told apart from all others"
             : middle->outcome == VERDICT_OPEN ? "open, since samples are of two regimes"
                                               : "too few samples to say");
    within_write(to, middles, middle, VERDICT_MIDDLE);
}

/* group: with that quantile in the place of throughputs. */
static void latency_row(FILE *to, const struct report *report, const struct report_group *group,
                        const struct verdict *verdict, double quantile)
{
    outcome_write(to, verdict);
    html_put(to, "<td><span class='name'>%s</span>", verdict->workload);
    if (verdict->outcome == VERDICT_UNLIKE)
        unlike_write(to, verdict);
    if (verdict->outcome == VERDICT_OPEN)
        open_write(to, verdict, true);
    if (verdict->best)
        html_put(to, "%s",
                 quantile == VERDICT_TAIL
                     ? ": 99 % of operations within "
                     : ": half of operations (too few of them to tell 99 %) within ");
    within_write(to, group, verdict, quantile);
    reason_write(to, report, group, verdict, quantile);
}

static void latency_write(FILE *to, const struct report *report, const struct latency_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct verdict *tail = &view->of_tails[i], *middle = &view->of_middles[i];
        html_put(to, "<tr data-workload='%s'>", tail->workload);
        /* a sample with few latencies has a median and no tail */
        if (middle->competitors > tail->competitors)
            latency_row(to, report, &view->middles, middle, VERDICT_MIDDLE);
        else
            latency_row(to, report, &view->tails, tail, VERDICT_TAIL);
        if (disagree(tail, middle))
            middle_write(to, &view->middles, middle);
        html_put(to, "</td></tr>");
    }
}

/* Cards ---------------------------------------------------------------------------------------- */

static void card_open(FILE *to, const struct report_group *group)
{
    html_put(to,
             "<article class='answer' id='answer-%s' data-group='%s'><details class='print card'>"
             "<summary><h3>%s</h3>",
             group->id, group->id, group->question ? group->question : group->id);
}

/* The summary ends here, and what it folds begins: the sentences beside the chart. */
static void card_unfold(FILE *to, const struct report_group *group)
{
    html_put(to,
             "</summary><div class='unfolded'><div class='lesson'><p><a href='#group-%s'>Figures "
             "and tables</a></p>",
             group->id);
}

static void rows_open(FILE *to)
{
    html_put(to, "<details class='print'><summary>In numbers, and why</summary>");
    html_table_begin(to, "Who is fastest on what, by how much", "answers",
                     (const char *const[]){"Fastest", "On what, by how much", NULL});
}

static void rows_close(FILE *to)
{
    html_table_end(to);
    html_put(to, "</details>");
}

/* The baseline of the sweep file; without one the first variant, so that there is a chart. */
static const char *baseline_of(const struct report_group *group)
{
    return group->baseline ? group->baseline : group->cells[0].variant;
}

/* Sentence, sureness and chart stand between the question and the rows. */
static void story_write(FILE *to, const struct chart *chart, size_t count, const char *best)
{
    report_chart_glance_write(to, chart);
    report_lesson_line_write(to, chart->verdicts, count, best, chart->group->baseline);
    report_sureness_write(to, chart->group, chart->verdicts, count);
    report_chart_key_write(to, chart->group);
    card_unfold(to, chart->group);
    if (peer_is_floor_name(chart->group->baseline))
        report_lesson_multiples_write(to, chart->group);
    report_lesson_write(to, chart->verdicts, count, best, chart->group->baseline);
    html_put(to, "<div class='pins'></div></div>"); /* the page's script fills it */
    report_chart_write(to, chart);
}

static void throughput_card(FILE *to, const struct report *report, const struct report_group *group)
{
    size_t count;
    struct report_group pinned = report_group_pinned(group, baseline_of(group), 0);
    struct verdict *verdicts = verdicts_make(group, &count);
    const char **shown = verdicts_over_baseline(&pinned);
    struct chart chart = {
        .group = &pinned, .verdicts = verdicts, .shown = shown, .about = "Throughput"};
    card_open(to, group);
    story_write(to, &chart, count, "the fastest");
    rows_open(to);
    throughput_write(to, report, group, verdicts, count);
    rows_close(to);
    free(shown);
    verdicts_free(verdicts, count);
    free(pinned.cells);
}

static void latency_story(FILE *to, const struct latency_view *view)
{
    const struct report_group *group = latency_view_group(view);
    struct report_group pinned = report_group_pinned(group, baseline_of(group), 0);
    const char **shown = verdicts_over_baseline(&pinned);
    latency_view_multiples(&pinned);
    const char *about =
        view->is_tail ? "Time of 99 % of operations at most" : "Time of half of the operations";
    struct chart chart = {.group = &pinned,
                          .verdicts = latency_view_verdicts(view),
                          .shown = shown,
                          .about = about,
                          .less_is_better = true};
    story_write(to, &chart, view->count,
                view->is_tail ? "the quickest for 99 % of operations"
                              : "the quickest for half of its operations");
    free(shown);
    free(pinned.cells);
}

static void latency_card(FILE *to, const struct report *report, const struct report_group *group)
{
    struct latency_view view = latency_view_make(report, group);
    card_open(to, group);
    latency_story(to, &view);
    rows_open(to);
    latency_write(to, report, &view);
    rows_close(to);
    latency_view_free(&view);
}

/* The event in the chart of a question that asks what happened. free() it; NULL if nothing was
 * counted. Stalls come of misses; else it is the first of the figure of events. */
static char *event_of(const struct report *report, const struct report_group *group)
{
    const struct report_event *misses = report_event_find(group->cells, "SIM_L1D_MISS");
    if (group->figure == SWEEP_FIGURE_STALLS && misses)
        return xstrdup(misses->name);
    char *names = figures_events_choose(report, group);
    if (names)
        names[strcspn(names, " ")] = '\0';
    return names;
}

/* From the least to the most that the cells of a variant count, or those of all if it is NULL; at
 * the largest number of workers. NAN: it was not counted. */
static void counts_range(const struct report_group *group, const char *variant, const char *event,
                         double *least, double *most)
{
    *least = *most = NAN;
    for (size_t i = 0; i < group->count; i++) {
        const struct report_cell *cell = &group->cells[i];
        const struct report_event *counted = report_event_find(cell, event);
        if ((variant && strcmp(cell->variant, variant) != 0) || !counted ||
            cell->workers != report_workers_max(group, cell->workload))
            continue;
        *least = fmin(*least, counted->per_op.median);
        *most = fmax(*most, counted->per_op.median);
    }
}

/* "grq 0 to 12.3": the variant's counts over the workloads. */
static void counts_of_write(FILE *to, const struct chart *chart, const char *variant)
{
    double least, most;
    counts_range(chart->group, variant, chart->event, &least, &most);
    struct text low = text_count(least * chart->per), high = text_count(most * chart->per);
    html_put(to, "<b class='name'>%s</b> ", variant);
    if (isnan(most))
        html_put(to, "not counted");
    else if (strcmp(low.s, high.s) == 0)
        html_put(to, "%s", high.s);
    else
        html_put(to, "%s to %s", low.s, high.s);
}

/* The variants of the first workload are those of all. */
static void counts_write(FILE *to, const struct chart *chart)
{
    const struct report_group *group = chart->group;
    size_t written = 0;
    struct report_span span = {0};
    report_next_workload(group, &span);
    html_put(to, "<p class='says'>%s per %s: ", chart->about,
             chart->per > 1 ? "million operations" : "operation");
    for (size_t i = 0; i < span.end; i++) {
        if (group->cells[i].workers != group->cells[span.end - 1].workers)
            continue;
        html_put(to, "%s", written++ > 0 ? ", " : "");
        counts_of_write(to, chart, group->cells[i].variant);
    }
    html_put(to, ".</p><p class='note'>%s: %s.</p>", chart->about, counter_help(chart->event));
}

/* "GRQ_HITS per operation: from gmp 0.0241 to grq 2.00", by the most of each over the workloads. */
static void counts_line(FILE *to, const struct chart *chart)
{
    const struct report_group *group = chart->group;
    const char *low = NULL, *high = NULL;
    double least, most, lowest = INFINITY, highest = -INFINITY;
    for (size_t i = 0; i < group->count; i++) {
        const char *variant = group->cells[i].variant;
        counts_range(group, variant, chart->event, &least, &most);
        if (most < lowest) {
            lowest = most;
            low = variant;
        }
        if (most > highest) {
            highest = most;
            high = variant;
        }
    }
    html_put(to, "<span class='line'>%s per %s: ", chart->about,
             chart->per > 1 ? "million operations" : "operation");
    if (!high)
        html_put(to, "not counted");
    else if (low != high)
        html_put(to,
                 "from at most %s with <b class='name'>%s</b> to %s with <b class='name'>%s</b>",
                 text_count(lowest * chart->per).s, low, text_count(highest * chart->per).s, high);
    else
        html_put(to, "%s at the most", text_count(highest * chart->per).s);
    html_put(to, ".</span>");
}

/* A question that does not ask which variant is faster. Less than one in a thousand operations is
 * counted by the million, as in its figure. */
static void counts_card(FILE *to, const struct report *report, const struct report_group *group,
                        const char *text)
{
    double least, most;
    char *event = event_of(report, group);
    card_open(to, group);
    if (!event) {
        html_put(to, "<span class='line'>Nothing was counted.</span>");
        card_unfold(to, group);
        html_put(to, "<p class='note'>%s</p></div>", text);
        return;
    }
    counts_range(group, NULL, event, &least, &most);
    struct chart chart = {.group = group,
                          .event = event,
                          .per = most < 0.001 ? 1e6 : 1,
                          .about = counter_short_name(event)};
    report_chart_glance_write(to, &chart);
    counts_line(to, &chart);
    report_chart_key_write(to, group);
    card_unfold(to, group);
    counts_write(to, &chart);
    html_put(to, "<p class='note'>%s</p></div>", text);
    report_chart_write(to, &chart);
    free(event);
}

/* "gmp 40.2 ns to 52.1 ns": one operation at the first and at the last workload. */
static void sizes_of_write(FILE *to, const struct report_group *group, const char *variant)
{
    const char *ends[] = {group->cells[0].workload, group->cells[group->count - 1].workload};
    html_put(to, "<b class='name'>%s</b> ", variant);
    for (int i = 0; i < 2; i++) {
        const struct report_cell *cell =
            report_cell_find(group, variant, ends[i], report_workers_max(group, ends[i]));
        bool known = cell && report_cell_ok(cell) && isfinite(cell->throughput.median);
        html_put(to, "%s%s", i > 0 ? " to " : "",
                 known  ? text_time(1e9 / cell->throughput.median).s
                 : cell ? cell->status
                        : "not measured");
    }
}

/* A question that asks what one of many costs: from few to many. */
static void sizes_card(FILE *to, const struct report_group *group)
{
    size_t written = 0;
    struct report_span span = {0};
    report_next_workload(group, &span);
    card_open(to, group);
    html_put(to, "<span class='line'>Time of one operation, from few to many: ");
    sizes_of_write(to, group, group->cells[0].variant);
    html_put(to, ".</span>");
    card_unfold(to, group);
    html_put(to, "<p class='says'>Time of one operation, all calls together, from %s to %s: ",
             group->cells[0].workload, group->cells[group->count - 1].workload);
    for (size_t i = 0; i < span.end; i++) {
        if (group->cells[i].workers != group->cells[span.end - 1].workers)
            continue;
        html_put(to, "%s", written++ > 0 ? ", " : "");
        sizes_of_write(to, group, group->cells[i].variant);
    }
    html_put(to, ".</p><p class='note'>This asks what one of many costs, not who is faster: see "
                 "its figure, which has the first round and later ones apart.</p></div>");
}

static void card_write(FILE *to, const struct report *report, const struct report_group *group)
{
    switch (report_subject(group)) {
    case SWEEP_FIGURE_EVENTS:
        counts_card(to, report, group,
                    "This asks what happened, not who is faster: see its figure.");
        break;
    case SWEEP_FIGURE_SCALE:
        sizes_card(to, group);
        break;
    case SWEEP_FIGURE_STALLS:
        counts_card(to, report, group,
                    "This asks where cores stalled, not who is faster: see its figure.");
        break;
    case SWEEP_FIGURE_LATENCY:
        latency_card(to, report, group);
        break;
    default:
        throughput_card(to, report, group);
        break;
    }
    html_put(to, "</div></details></article>");
}

/* All ------------------------------------------------------------------------------------------ */

void report_answers_write(FILE *to, const struct report *report)
{
    html_put(
        to, "<section id='answers'><h2>Answers</h2><p class='note'>A question unfolds by a click. "
            "Its small chart has a row for each workload: a mark is a variant's median beside that "
            "of the baseline, its bar the 95 %% interval; hollow: no difference is shown.</p>");
    report_words_write(to, report);
    report_chart_shapes_write(to);
    for (size_t i = 0; i < report->groups_count; i++)
        card_write(to, report, &report->groups[i]);
    html_put(
        to,
        "<details class='print'><summary>How to read the answers</summary><p class='note'>"
        "Each row of an unfolded chart is a workload, each mark a median, each bar its 95 %% "
        "interval. A hollow mark is not shown to differ from the baseline. ~ stands before those "
        "that are not told apart. "
        "Throughput, or latency where the question is about it, at the largest "
        "number of workers of each group. 1.95× grq means 1.95 times the median of grq, with the "
        "95 %% bootstrap interval of that ratio in brackets. The first is the next fastest, a "
        "second the baseline; all others that are shown to be slower follow without brackets. "
        "Latencies are judged by what 99 %% of the operations took at most, and the median is "
        "given where it has another answer. A is how often a sample of the fastest beats one of "
        "the next, ties counting half: 0.5 is no difference. A variant wins if the Mann-Whitney "
        "test shows it to be faster than every other at 5 %%. Holm's correction is over all pairs "
        "of a question, since any variant might have come out as the fastest. Otherwise it is not "
        "told apart from some, which does not mean that there is no difference. Figures test "
        "against the baseline alone, which is named beforehand and takes fewer tests. So a figure "
        "may show a difference from the baseline that no answer claims. Ranks are tested, and "
        "intervals are of medians: the interval of a shown difference may reach a little over 1. "
        "A question has no answer if its variants have too few samples to show any difference. It "
        "has none either if no core distance has enough undisturbed samples of each. It is open if "
        "samples are of two regimes, and the fastest leads in one but not in the other.</p>"
        "</details></section>");
}
