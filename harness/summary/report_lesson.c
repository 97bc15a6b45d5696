/* report_lesson.c - see report_lesson.h. */
#include "harness/summary/report_lesson.h"

#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/doc/doc.h"
#include "harness/numbers/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 4, LINE_NAMES = 3 };

/* From the least to the most of some multiples; n of them. */
struct range {
    double least, most;
    size_t n;
};

/* A variant's places over the workloads that are decided. */
struct tally {
    const char *variant;
    size_t level;        /* not told apart from others, and nobody is faster */
    struct range won;    /* its multiples of the next */
    struct range behind; /* the fastest's multiples of it */
};

struct tallies {
    const char *baseline;
    struct tally *of;
    size_t count, decided, alone; /* workloads: with one or several ahead; with one */
};

static void range_add(struct range *range, double multiple)
{
    range->least = range->n == 0 ? multiple : fmin(range->least, multiple);
    range->most = range->n == 0 ? multiple : fmax(range->most, multiple);
    range->n++;
}

static struct tally *tally_of(struct tallies *tallies, const char *variant)
{
    for (size_t i = 0; i < tallies->count; i++)
        if (strcmp(tallies->of[i].variant, variant) == 0)
            return &tallies->of[i];
    array_add(tallies->of, tallies->count) = (struct tally){.variant = variant};
    return &tallies->of[tallies->count - 1];
}

static bool is_decided(const struct verdict *verdict)
{
    return verdict->outcome == VERDICT_WON || verdict->outcome == VERDICT_TIED;
}

static void tallies_add(struct tallies *tallies, const struct verdict *verdict)
{
    tallies->decided++;
    tallies->alone += verdict->outcome == VERDICT_WON;
    if (verdict->outcome == VERDICT_WON)
        range_add(&tally_of(tallies, verdict->best->variant)->won, verdict->over_next.median);
    else
        tally_of(tallies, verdict->best->variant)->level++;
    for (size_t i = 0; i < verdict->tied_count; i++)
        tally_of(tallies, verdict->tied[i]->variant)->level++;
    for (size_t i = 0; i < verdict->slower_count; i++)
        range_add(&tally_of(tallies, verdict->slower[i].cell->variant)->behind,
                  verdict->slower[i].times.median);
}

/* Winners first, then by how often nobody is faster. */
static int most_ahead_first(const void *a_void, const void *b_void)
{
    const struct tally *a = a_void, *b = b_void;
    int order = (a->won.n < b->won.n) - (a->won.n > b->won.n);
    if (!order && a->won.n > 0)
        order = (a->won.most < b->won.most) - (a->won.most > b->won.most);
    return order ? order : (a->level < b->level) - (a->level > b->level);
}

/* Puts the baseline before those that are as often ahead as it. */
static void baseline_first(struct tallies *tallies)
{
    for (size_t i = tallies->count; i-- > 1;) {
        struct tally *tally = &tallies->of[i], *before = tally - 1;
        if (strcmp(tally->variant, tallies->baseline) != 0 || tally->won.n != before->won.n ||
            tally->level != before->level)
            continue;
        struct tally moved = *tally;
        *tally = *before;
        *before = moved;
    }
}

static struct tallies tallies_make(const struct verdict *verdicts, size_t count,
                                   const char *baseline)
{
    struct tallies tallies = {.baseline = baseline};
    for (size_t i = 0; i < count; i++)
        if (is_decided(&verdicts[i]))
            tallies_add(&tallies, &verdicts[i]);
    if (tallies.count > 0)
        qsort(tallies.of, tallies.count, sizeof *tallies.of, most_ahead_first);
    baseline_first(&tallies);
    return tallies;
}

/* " (1.34× to 1.62× the next)" */
static void range_write(FILE *to, const char *before, struct range range, const char *after)
{
    html_put(to, "%s%s", before, text_ratio(range.least).s);
    if (strcmp(text_ratio(range.least).s, text_ratio(range.most).s) != 0)
        html_put(to, " to %s", text_ratio(range.most).s);
    html_put(to, "%s", after);
}

static void name_write(FILE *to, const char *variant)
{
    html_put(to, "<b class='name'>%s</b>", variant);
}

/* "a, b and c": all for which `is` holds, or the first few and how many more. Returns how many. */
static size_t names_write(FILE *to, const struct tallies *tallies,
                          bool (*is)(const struct tallies *, const struct tally *))
{
    size_t all = 0, written = 0;
    for (size_t i = 0; i < tallies->count; i++)
        all += is(tallies, &tallies->of[i]);
    size_t shown = all > NAMES_MAX ? NAMES_MAX - 1 : all;
    for (size_t i = 0; i < tallies->count && written < shown; i++) {
        if (!is(tallies, &tallies->of[i]))
            continue;
        html_put(to, "%s", written == 0 ? "" : written + 1 == all ? " and " : ", ");
        name_write(to, tallies->of[i].variant);
        written++;
    }
    if (all > shown)
        html_put(to, " and %zu more", all - shown);
    return all;
}

/* True if nobody is shown to be faster on any workload. */
static bool leads_everywhere(const struct tallies *tallies, const struct tally *tally)
{
    return tally->won.n + tally->level == tallies->decided;
}

static bool anybody_is_behind(const struct tallies *tallies)
{
    for (size_t i = 0; i < tallies->count; i++)
        if (tallies->of[i].behind.n > 0)
            return true;
    return false;
}

/* "on all 5 workloads", "on fib" */
static void everywhere_write(FILE *to, const struct verdict *verdicts, size_t count, size_t decided)
{
    if (decided > 1)
        html_put(to, " on %s %zu workloads", decided == count ? "all" : "the", decided);
    for (size_t i = 0; i < count && decided == 1; i++)
        if (is_decided(&verdicts[i]))
            html_put(to, " on <span class='name'>%s</span>", verdicts[i].workload);
}

/* The part on those that nobody beats anywhere. False, nothing written, if there are none. */
static bool leaders_write(FILE *to, const struct tallies *tallies, const struct verdict *verdicts,
                          size_t count, const char *best)
{
    const struct tally *first = &tallies->of[0];
    size_t leaders = 0;
    for (size_t i = 0; i < tallies->count; i++)
        leaders += leads_everywhere(tallies, &tallies->of[i]);
    if (leaders == 0)
        return false;
    bool differ = anybody_is_behind(tallies);
    html_put(to, "%s", differ ? "" : "No difference is shown between ");
    names_write(to, tallies, leads_everywhere);
    if (first->won.n == tallies->decided)
        html_put(to, " is %s", best);
    else if (differ)
        html_put(to, leaders == 1 ? " is among %s" : " are %s, and not told apart,", best);
    everywhere_write(to, verdicts, count, tallies->decided);
    if (first->won.n > 0 && first->won.n < tallies->decided)
        html_put(to, ", alone on %zu of them", first->won.n);
    if (first->won.n > 0) {
        range_write(to, ", by ", first->won, " over ");
        html_put(to, "%s.", tallies->count == 2 ? tallies->of[1].variant : "the next");
    } else {
        html_put(to, ".");
    }
    return true;
}

/* The part on those that win somewhere, where none leads everywhere. */
static void winners_write(FILE *to, const struct tallies *tallies, const char *best)
{
    size_t level = tallies->decided - tallies->alone;
    html_put(to, "None is %s everywhere", best);
    for (size_t i = 0; i < tallies->count && tallies->of[i].won.n > 0; i++) {
        html_put(to, "%s", i == 0 ? ": " : ", ");
        name_write(to, tallies->of[i].variant);
        html_put(to, " on %zu", tallies->of[i].won.n);
        if (i == 0)
            html_put(to, " of %zu workloads", tallies->decided);
        range_write(to, " (", tallies->of[i].won, i == 0 ? " the next)" : ")");
    }
    if (level > 0 && tallies->alone > 0)
        html_put(to, "; on %zu several are not told apart", level);
    html_put(to, ".");
    for (size_t i = 0; i < tallies->count && tallies->alone == 0 && i < 2; i++) {
        html_put(to, "%s", i == 0 ? " Most often ahead: " : ", ");
        name_write(to, tallies->of[i].variant);
        html_put(to, " on %zu", tallies->of[i].level);
        if (i == 0)
            html_put(to, " of %zu workloads", tallies->decided);
    }
    html_put(to, tallies->alone == 0 ? "." : "");
}

/* The one that is most often behind, if it is not the one that stands ahead of all. */
static void behind_write(FILE *to, const struct tallies *tallies)
{
    const struct tally *last = NULL;
    for (size_t i = 0; i < tallies->count; i++) {
        const struct tally *tally = &tallies->of[i];
        if (tally->behind.n > 0 &&
            (!last || tally->behind.n > last->behind.n ||
             (tally->behind.n == last->behind.n && tally->behind.most > last->behind.most)))
            last = tally;
    }
    if (!last || (tallies->count == 2 && last->behind.n == tallies->decided))
        return; /* of two, the winner's multiple is told already */
    html_put(to, " %s", tallies->decided > 1 ? "Most often behind: " : "Farthest behind: ");
    name_write(to, last->variant);
    if (tallies->decided > 1)
        html_put(to, " on %zu", last->behind.n);
    range_write(to, ", by ", last->behind, ".");
}

static size_t outcomes_count(const struct verdict *verdicts, size_t count,
                             enum verdict_outcome outcome)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += verdicts[i].outcome == outcome;
    return n;
}

/* The workloads that decide nothing, and why. */
static void undecided_write(FILE *to, const struct verdict *verdicts, size_t count)
{
    static const struct {
        enum verdict_outcome outcome;
        const char *why;
    } kinds[] = {{VERDICT_OPEN, "samples are of two regimes, and the one that is met decides"},
                 {VERDICT_FEW, "too few samples to say"},
                 {VERDICT_UNLIKE, "the variants met different core distances"},
                 {VERDICT_NONE, "fewer than two variants have a number"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t n = outcomes_count(verdicts, count, kinds[i].outcome);
        if (n > 0)
            html_put(to, " On %s: %s.", counted(n, "workload").s, kinds[i].why);
    }
}

void report_lesson_write(FILE *to, const struct verdict *verdicts, size_t count, const char *best,
                         const char *baseline)
{
    struct tallies tallies = tallies_make(verdicts, count, baseline);
    html_put(to, "<p class='says'>");
    if (tallies.decided == 0)
        html_put(to, "Nothing is decided.");
    else if (!leaders_write(to, &tallies, verdicts, count, best))
        winners_write(to, &tallies, best);
    if (tallies.decided > 0)
        behind_write(to, &tallies);
    undecided_write(to, verdicts, count);
    html_put(to, "</p>");
    free(tallies.of);
}

/* "None is the fastest everywhere: uthread on 2 of 9 workloads, tasksteal on 1" */
static void winners_line(FILE *to, const struct tallies *tallies, const char *best)
{
    size_t winners = 0;
    for (size_t i = 0; i < tallies->count; i++)
        winners += tallies->alone > 0 ? tallies->of[i].won.n > 0 : tallies->of[i].level > 0;
    html_put(to, "None is %s everywhere%s: ", best, tallies->alone > 0 ? "" : "; not behind");
    for (size_t i = 0; i < winners && i < LINE_NAMES; i++) {
        html_put(to, "%s", i > 0 ? ", " : "");
        name_write(to, tallies->of[i].variant);
        html_put(to, " on %zu", tallies->alone > 0 ? tallies->of[i].won.n : tallies->of[i].level);
        if (i == 0)
            html_put(to, " of %zu workloads", tallies->decided);
    }
    if (winners > LINE_NAMES)
        html_put(to, " and %zu more", winners - LINE_NAMES);
    html_put(to, ".");
}

void report_lesson_line_write(FILE *to, const struct verdict *verdicts, size_t count,
                              const char *best, const char *baseline)
{
    struct tallies tallies = tallies_make(verdicts, count, baseline);
    html_put(to, "<span class='line'>");
    if (tallies.decided == 0)
        html_put(to, "Nothing is decided.");
    else if (!leaders_write(to, &tallies, verdicts, count, best))
        winners_line(to, &tallies, best);
    html_put(to, "</span>");
    free(tallies.of);
}

void report_lesson_multiples_write(FILE *to, const struct report_group *group)
{
    struct tallies tallies = {.baseline = group->baseline};
    for (size_t i = 0; i < group->count; i++) {
        const struct report_cell *cell = &group->cells[i];
        if (isfinite(cell->to_baseline.median) && strcmp(cell->variant, group->baseline) != 0 &&
            cell->workers == report_workers_max(group, cell->workload))
            range_add(&tally_of(&tallies, cell->variant)->won, cell->to_baseline.median);
    }
    html_put(to, "<p class='says'>Beside <b class='name'>%s</b>: ", group->baseline);
    for (size_t i = 0; i < tallies.count; i++) {
        html_put(to, "%s", i > 0 ? ", " : "");
        name_write(to, tallies.of[i].variant);
        range_write(to, " ", tallies.of[i].won, "");
    }
    html_put(to, "%s</p>", tallies.count > 0 ? "." : "nothing has a number.");
    free(tallies.of);
}

/* Sureness ------------------------------------------------------------------------------------- */

static void squares_write(FILE *to, const char *square, size_t n, const char *meaning)
{
    if (n == 0)
        return;
    html_put(to, "<span class='squares'><span aria-hidden='true'>");
    for (size_t i = 0; i < n; i++)
        html_put(to, "%s", square);
    html_put(to, "</span> %zu %s</span> ", n, meaning);
}

/* "7 to 8 samples a cell, 2 workers": of the cells that were judged. */
static void samples_write(FILE *to, const struct report_group *group,
                          const struct verdict *verdicts, size_t count)
{
    size_t least = SIZE_MAX, most = 0;
    int workers = 0;
    bool several = false;
    for (size_t i = 0; i < count; i++) {
        several = several || (workers && workers != verdicts[i].workers);
        workers = verdicts[i].workers;
        for (size_t k = 0; k < group->count; k++) {
            const struct report_cell *cell = &group->cells[k];
            if (cell->workers != workers || !report_cell_ok(cell) ||
                strcmp(cell->workload, verdicts[i].workload) != 0)
                continue;
            least = cell->throughput.n < least ? cell->throughput.n : least;
            most = cell->throughput.n > most ? cell->throughput.n : most;
        }
    }
    if (most > least)
        html_put(to, "%zu to ", least);
    html_put(to, "%s a cell", counted(most, "sample").s);
    if (several)
        html_put(to, ", the most workers of each");
    else if (workers)
        html_put(to, ", %s", counted((uint64_t)workers, "worker").s);
}

void report_sureness_write(FILE *to, const struct report_group *group,
                           const struct verdict *verdicts, size_t count)
{
    size_t part = 0;
    double p = 0;
    for (size_t i = 0; i < count; i++) {
        part += verdicts[i].outcome == VERDICT_TIED && verdicts[i].slower_count > 0;
        p = verdicts[i].outcome == VERDICT_WON ? fmax(p, verdicts[i].p) : p;
    }
    size_t won = outcomes_count(verdicts, count, VERDICT_WON);
    size_t tied = outcomes_count(verdicts, count, VERDICT_TIED);
    html_put(to, "<span class='sure'>How sure: ");
    squares_write(to, "\342\226\240", won, "with one winner");
    squares_write(to, "\342\227\252", part, "with several ahead of others");
    squares_write(to, "\342\226\241", tied - part, "with no difference shown");
    squares_write(to, "?", count - won - tied, "undecided");
    html_put(to, "<span class='note'>");
    if (won > 0)
        html_put(to,
                 p < 0.001 ? "p %s after Holm's correction, "
                           : "p \342\211\244 %s after Holm's correction, ",
                 text_p(p).s);
    samples_write(to, group, verdicts, count);
    html_put(to, "</span></span>");
}
