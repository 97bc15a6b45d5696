/* run_answer.c - see run_answer.h. */
#include "harness/run/run_answer.h"

#include "harness/base/memory.h"
#include "harness/base/wrap.h"
#include "harness/evidence/why_latency.h"
#include "harness/evidence/why_win.h"
#include "harness/models/machine_start.h"
#include "harness/numbers/units.h"
#include "harness/records/records.h"
#include "harness/spec/peer_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char SEED_TEXT[] = "the same each time with this seed";

/* Why a variant is slower is told of so many, and only if it is slower by so much. */
enum { WHY_LINES = 3 };
static const double WHY_TIMES_MIN = 1.02;

int run_answer_reps_min(size_t variants)
{
    size_t n = STATISTICS_INTERVAL_MIN, pairs = variants * (variants - (variants > 0)) / 2;
    while (!(statistics_mann_whitney_least(n, n) * (double)pairs < VERDICT_ALPHA))
        n++;
    return (int)n;
}

/* Deciding ------------------------------------------------------------------------------------- */

/* A latency is the better the shorter it is, and the verdict is on the highest number. */
static double score_of(const struct metric *metric, double value)
{
    return metric->kind == METRIC_LATENCY ? 1 / value : value;
}

static struct report_cell cell_make(const struct run_table *table, const struct run_row *row,
                                    const struct metric *metric)
{
    double *x;
    size_t n = run_row_values(row, metric, &x);
    struct report_cell cell = {.variant = row->label,
                               .workload = table->workload,
                               .workers = table->workers,
                               .status = "ok"};
    for (enum cell_class which = CLASS_ALL; which < CLASSES; which++)
        cell.of_class[which] = xcalloc(n + 1, sizeof *x);
    for (size_t i = 0; i < n; i++)
        report_cell_add_sample(&cell, score_of(metric, x[i]), DISTANCE_NONE, false);
    report_cell_choose(&cell, CLASS_ALL);
    cell.throughput = statistics_median(cell.samples, n, table->seed);
    free(x);
    return cell;
}

static struct report_group group_make(const struct run_table *table, const struct metric *metric)
{
    struct report_group group = {.cells = xcalloc(table->count + 1, sizeof *group.cells)};
    for (size_t i = 0; i < table->count; i++)
        if (run_row_status(&table->rows[i]) == RUN_OK &&
            !isnan(run_row_median(&table->rows[i], metric)))
            group.cells[group.count++] = cell_make(table, &table->rows[i], metric);
    return group;
}

/* The fewest repetitions of those that compete. */
static size_t reps_of(const struct report_group *group)
{
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < group->count; i++)
        if (!peer_is_floor_name(group->cells[i].variant) && group->cells[i].samples_count < least)
            least = group->cells[i].samples_count;
    return least;
}

static enum run_outcome outcome_of(const struct run_table *table, const struct run_answer *answer)
{
    const struct verdict *verdict = answer->verdict;
    size_t reps = reps_of(&answer->group);
    if (answer->group.count == 0)
        return RUN_NONE;
    if (!verdict->next)
        return RUN_ALONE;
    if (reps == 1 && machine_text_is_simulated(table->machine))
        return RUN_EXACT;
    if (reps < STATISTICS_INTERVAL_MIN || verdict->outcome == VERDICT_FEW)
        return RUN_FEW;
    return verdict->outcome == VERDICT_WON    ? RUN_WON
           : verdict->outcome == VERDICT_OPEN ? RUN_OPEN
                                              : RUN_TIED;
}

/* Texts ---------------------------------------------------------------------------------------- */

struct words {
    const char *metric, *beside, *slower_than, *slowest;
};

static struct words words_of(const struct run_answer *answer)
{
    if (answer->metric.kind != METRIC_LATENCY)
        return (struct words){"", "", "slower: ", "slowest"};
    return (struct words){answer->metric.quantile == VERDICT_TAIL ? " p99" : " p50",
                          "shorter than ", "longer: ", "longest"};
}

/* The best's multiple of a cell. */
static double times_of(const struct run_answer *answer, const struct report_cell *cell)
{
    return answer->verdict->best->throughput.median / cell->throughput.median;
}

/* "1.16× bwos"; of latencies, "1.16× shorter than bwos". */
static void times_print(const struct run_answer *answer, const struct report_cell *cell, FILE *to)
{
    fprintf(to, "%s %s%s", text_ratio(times_of(answer, cell)).s, words_of(answer).beside,
            cell->variant);
}

/* "best: gmp, 1.16× bwos" */
static void best_print(const struct run_answer *answer, const char *so_far, FILE *to)
{
    fprintf(to, "best%s%s: %s, ", words_of(answer).metric, so_far, answer->verdict->best->variant);
    times_print(answer, answer->verdict->next, to);
}

/* ", 2.31× static, the slowest", if more than two compete. */
static void slowest_print(const struct run_answer *answer, FILE *to)
{
    const struct report_cell *last = answer->verdict->next;
    for (size_t i = 0; i < answer->group.count; i++) {
        const struct report_cell *cell = &answer->group.cells[i];
        if (!peer_is_floor_name(cell->variant) && cell->throughput.median < last->throughput.median)
            last = cell;
    }
    if (last == answer->verdict->next)
        return;
    fputs(", ", to);
    times_print(answer, last, to);
    fprintf(to, ", the %s", words_of(answer).slowest);
}

/* "; slower: static by 2.31×, kthread by 9.10×" */
static void slower_print(const struct run_answer *answer, FILE *to)
{
    const struct verdict *verdict = answer->verdict;
    for (size_t i = 0; i < verdict->slower_count; i++)
        fprintf(to, "%s%s%s by %s", i > 0 ? ", " : "; ", i > 0 ? "" : words_of(answer).slower_than,
                verdict->slower[i].cell->variant, text_ratio(verdict->slower[i].times.median).s);
}

/* "~ no difference shown between gmp, grq and perm; slower: static by 2.31×" */
static void tied_print(const struct run_answer *answer, FILE *to)
{
    const struct verdict *verdict = answer->verdict;
    struct words words = words_of(answer);
    fprintf(to, "~ no difference shown%s%s between %s", *words.metric ? " in" : "", words.metric,
            verdict->best->variant);
    for (size_t i = 0; i < verdict->tied_count; i++)
        fprintf(to, "%s%s", i + 1 < verdict->tied_count ? ", " : " and ",
                verdict->tied[i]->variant);
    if (verdict->competitors == 2)
        fprintf(to, " (%s, p %s)", text_ratio(times_of(answer, verdict->next)).s,
                text_p(verdict->p).s);
    slower_print(answer, to);
}

/* "open: samples of gmp are of two regimes, 19.2 M and 61.0 M ops/s; which one is met decides
 * whether gmp is ahead of grq; slower: static by 2.31×" */
static void open_print(const struct run_answer *answer, FILE *to)
{
    const struct verdict *verdict = answer->verdict;
    const struct regimes *of = &verdict->regimes.of;
    struct words words = words_of(answer);
    fprintf(to, "open%s%s: samples of %s are of two regimes, ", *words.metric ? " in" : "",
            words.metric, verdict->regimes.cell->variant);
    if (answer->metric.kind == METRIC_LATENCY)
        fprintf(to, "%s and %s", text_time(1 / of->low_median).s, text_time(1 / of->high_median).s);
    else
        fprintf(to, "%s and %s ops/s", text_si(of->low_median).s, text_si(of->high_median).s);
    fprintf(to, "; which one is met decides whether %s is ahead of %s", verdict->best->variant,
            verdict->open[0]->variant);
    if (verdict->open_count > 1)
        fprintf(to, ", and likewise for %zu more", verdict->open_count - 1);
    for (size_t i = 0; i < verdict->tied_count; i++)
        fprintf(to, "%s%s", i == 0 ? "; no difference is shown to " : ", ",
                verdict->tied[i]->variant);
    slower_print(answer, to);
}

/* "gmp: 31.0 M ops/s, 95 % interval 30.2 M to 31.9 M" */
static void alone_print(const struct run_table *table, const struct run_answer *answer, FILE *to)
{
    const struct report_cell *best = answer->verdict->best;
    const struct report_cell *cell = best ? best : &answer->group.cells[0];
    struct interval of = cell->throughput;
    bool latency = answer->metric.kind == METRIC_LATENCY;
    if (latency) /* from 1 / ns back to a time: the ends change places */
        of = (struct interval){1 / of.median, 1 / of.hi, 1 / of.lo, of.n};
    fprintf(to, "%s:%s %s%s", cell->variant, words_of(answer).metric,
            latency ? text_time(of.median).s : text_si(of.median).s, latency ? "" : " ops/s");
    if (of.n == 1 && machine_text_is_simulated(table->machine))
        fprintf(to, " (%s)", SEED_TEXT);
    else if (statistics_has_interval(of))
        fprintf(to, ", 95 %% interval %s",
                latency ? text_time_interval(of).s : text_si_interval(of).s);
    else
        fprintf(to, "; too few for an interval: it takes %d repetitions", STATISTICS_INTERVAL_MIN);
}

static void text_print(const struct run_table *table, const struct run_answer *answer, FILE *to)
{
    switch (answer->outcome) {
    case RUN_WON:
        best_print(answer, "", to);
        fprintf(to, " (shown, p %s)", text_p(answer->verdict->p).s);
        slowest_print(answer, to);
        return;
    case RUN_EXACT:
        if (strcmp(text_ratio(times_of(answer, answer->verdict->next)).s, text_ratio(1).s) == 0)
            fprintf(to, "~ as good as equal%s%s: %s and %s", *words_of(answer).metric ? " in" : "",
                    words_of(answer).metric, answer->verdict->best->variant,
                    answer->verdict->next->variant);
        else
            best_print(answer, "", to);
        slowest_print(answer, to);
        fprintf(to, " (%s)", SEED_TEXT);
        return;
    case RUN_TIED:
        tied_print(answer, to);
        return;
    case RUN_OPEN:
        open_print(answer, to);
        return;
    case RUN_FEW:
        fprintf(to, "too few: it takes %d repetitions to show a difference; ",
                run_answer_reps_min(answer->verdict->competitors));
        best_print(answer, " so far", to);
        return;
    case RUN_ALONE:
        alone_print(table, answer, to);
        return;
    case RUN_NONE:
        return;
    }
}

/* "grq.lock=free would buy most for grq: 1.38×, 1.31 to 1.42". The largest of several ratios is
 * picked by the same samples, so its interval alone shows nothing. */
static void what_if_print(const struct run_table *table, FILE *to)
{
    struct interval most = {NAN, NAN, NAN, 0};
    const char *label = NULL;
    for (size_t i = 0; i + 1 < table->count; i += 2) {
        struct interval ratio = run_table_what_if_ratio(table, i);
        if (isnan(ratio.median) || (label && ratio.median <= most.median))
            continue;
        most = ratio;
        label = table->rows[i].label;
    }
    if (!label)
        return;
    fprintf(to, "%s would buy %s%s%s %s", table->what_if, table->count > 2 ? "most for " : "",
            label, table->count > 2 ? ":" : "", text_ratio(most.median).s);
    if (most.n == 1)
        fprintf(to, " (%s)", SEED_TEXT);
    else if (!statistics_has_interval(most))
        fprintf(to, "; too few to show it: it takes %d repetitions", STATISTICS_INTERVAL_MIN);
    else if (table->count > 2)
        fprintf(to, " (95 %% interval %s, by itself)", text_ratio_interval(most).s);
    else
        fprintf(to, " (%s, 95 %% interval %s)",
                most.lo > 1 || most.hi < 1 ? "shown" : "~ no difference shown",
                text_ratio_interval(most).s);
}

/* Making --------------------------------------------------------------------------------------- */

static void answer_make(struct run_answer *answer, const struct run_table *table,
                        struct metric metric)
{
    *answer = (struct run_answer){.metric = metric};
    answer->group = group_make(table, &metric);
    answer->verdict = verdicts_make(&answer->group, &answer->verdict_count);
    answer->outcome = outcome_of(table, answer);
}

static const struct run_row *row_of(const struct run_table *table, const char *label)
{
    size_t i = 0;
    while (i + 1 < table->count && strcmp(table->rows[i].label, label) != 0)
        i++;
    return &table->rows[i];
}

/* Pre: the metric was compared. */
static char *why_make(const struct run_table *table, const struct run_answer *answer)
{
    char *text = NULL;
    size_t told = 0;
    FILE *to = memory_stream(&text, NULL);
    bool decided = answer->outcome == RUN_WON || answer->outcome == RUN_EXACT;
    for (size_t i = 0; decided && i < answer->group.count && told < WHY_LINES; i++) {
        const struct report_cell *cell = &answer->group.cells[i];
        if (cell == answer->verdict->best || times_of(answer, cell) < WHY_TIMES_MIN)
            continue;
        const json_t *best = row_of(table, answer->verdict->best->variant)->records;
        const json_t *other = row_of(table, cell->variant)->records;
        char *why = answer->metric.kind == METRIC_LATENCY
                        ? why_latency_of(answer->metric.quantile, best, other)
                        : why_win_of(best, other);
        if (why)
            fprintf(to, "%s%s: %s", told++ > 0 ? "\n" : "", cell->variant, why);
        free(why);
    }
    fclose(to);
    return text;
}

static char *text_make(const struct run_table *table, const struct run_answer *answer)
{
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    if (table->what_if)
        what_if_print(table, to);
    else
        text_print(table, answer, to);
    fclose(to);
    return text;
}

void run_answers_make(struct run_answers *answers, const struct run_table *table)
{
    static const struct metric throughput = {.kind = METRIC_THROUGHPUT};
    struct metric latency = run_table_latency(table);
    *answers = (struct run_answers){.count = 1};
    if (table->what_if || table->is_shown || table->is_paced)
        answers->of[0] = (struct run_answer){.outcome = RUN_NONE};
    else
        answer_make(&answers->of[0], table, throughput);
    answers->of[0].text = text_make(table, &answers->of[0]);
    answers->of[0].why = why_make(table, &answers->of[0]);
    if (latency.kind != METRIC_LATENCY || table->what_if || table->is_shown)
        return;
    answer_make(&answers->of[1], table, latency);
    answers->of[1].text = text_make(table, &answers->of[1]);
    answers->of[1].why = why_make(table, &answers->of[1]);
    answers->count = 2;
}

void run_answers_free(struct run_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++) {
        struct run_answer *answer = &answers->of[i];
        verdicts_free(answer->verdict, answer->verdict_count);
        report_tails_free(&answer->group);
        free(answer->text);
        free(answer->why);
    }
}

/* Telling -------------------------------------------------------------------------------------- */

/* A copy in which no line ends between a ratio and the name that it is about, "1.16× bwos"; long
 * names may stand on a line of their own. */
static char *ratios_together(const char *text)
{
    static const char times[] = "×", shorter[] = "shorter than ";
    enum { NAME_MAX_TOGETHER = RUN_COLUMNS / 2 };
    char *copy = xcalloc(1, 2 * strlen(text) + 1), *to = copy;
    const char *together = text; /* up to here */
    for (const char *at = text; *at; at++) {
        if (strncmp(at, "× ", sizeof times) == 0) {
            const char *name = at + sizeof times;
            if (strncmp(name, shorter, sizeof shorter - 1) == 0)
                name += sizeof shorter - 1;
            if (strcspn(name, " ") <= NAME_MAX_TOGETHER)
                together = name;
        }
        if (*at == ' ' && at < together)
            to = stpcpy(to, TEXT_TOGETHER);
        else
            *to++ = *at;
    }
    return copy;
}

/* Each line wrapped. */
static void why_print(const char *why, FILE *to)
{
    for (size_t length; why && *why; why += length + (why[length] != '\0')) {
        length = strcspn(why, "\n");
        char *line = xstrndup(why, length);
        fputs("  ", to);
        text_wrap(to, 2, 4, RUN_COLUMNS, line);
        free(line);
    }
}

void run_answers_print(const struct run_answers *answers, bool colour, FILE *to)
{
    const char *before = "\n";
    for (size_t i = 0; i < answers->count; i++) {
        if (!*answers->of[i].text)
            continue;
        fprintf(to, "%s%s", before, colour ? "\033[1m" : "");
        char *text = ratios_together(answers->of[i].text);
        text_wrap(to, 0, 2, RUN_COLUMNS, text);
        free(text);
        fputs(colour ? "\033[0m" : "", to);
        why_print(answers->of[i].why, to);
        before = "";
    }
    fflush(to);
}

bool run_answer_competes(const struct run_answer *answer)
{
    return answer->outcome != RUN_NONE && answer->outcome != RUN_ALONE;
}

static bool is_tied(const struct run_answer *answer, const struct report_cell *cell)
{
    if (answer->outcome == RUN_FEW)
        return true;
    for (size_t i = 0; i < answer->verdict->tied_count; i++)
        if (answer->verdict->tied[i] == cell)
            return answer->outcome != RUN_EXACT;
    for (size_t i = 0; i < answer->verdict->open_count; i++)
        if (answer->verdict->open[i] == cell)
            return true;
    return false;
}

struct text run_answer_beside(const struct run_answer *answer, const struct run_row *row)
{
    struct text text = {""};
    if (!run_answer_competes(answer) || peer_is_floor_name(row->label))
        return text;
    for (size_t i = 0; i < answer->group.count; i++) {
        const struct report_cell *cell = &answer->group.cells[i];
        if (cell != answer->verdict->best && strcmp(cell->variant, row->label) == 0)
            snprintf(text.s, sizeof text.s, "%s%.80s", is_tied(answer, cell) ? "~ " : "",
                     text_ratio(times_of(answer, cell)).s);
    }
    return text;
}

bool run_answer_is_best(const struct run_answer *answer, const struct run_row *row)
{
    return (answer->outcome == RUN_WON || answer->outcome == RUN_EXACT) &&
           strcmp(answer->verdict->best->variant, row->label) == 0;
}

static void verdict_into_json(json_t *object, const struct verdict *verdict)
{
    json_object_set_new(object, "best", json_string(verdict->best->variant));
    json_object_set_new(object, "next", json_string(verdict->next->variant));
    json_object_set_new(object, "ratio", ratio_to_json(verdict->over_next));
    number_into_json(object, "p", verdict->p);
    verdict_lists_into_json(object, verdict);
}

json_t *run_answers_to_json(const struct run_answers *answers)
{
    static const char *const names[] = {
        [RUN_WON] = "won",     [RUN_TIED] = "tied",   [RUN_OPEN] = "open", [RUN_FEW] = "too few",
        [RUN_EXACT] = "exact", [RUN_ALONE] = "alone", [RUN_NONE] = "none"};
    json_t *array = json_array();
    for (size_t i = 0; i < answers->count; i++) {
        const struct run_answer *answer = &answers->of[i];
        if (!*answer->text)
            continue;
        json_t *object = json_pack("{ss ss ss}", "metric", metric_name(&answer->metric), "outcome",
                                   names[answer->outcome], "text", answer->text);
        if (run_answer_competes(answer))
            verdict_into_json(object, answer->verdict);
        if (answer->why && *answer->why)
            json_object_set_new(object, "why", json_string(answer->why));
        json_array_append_new(array, object);
    }
    return array;
}
