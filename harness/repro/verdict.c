/* verdict.c - see verdict.h. */
#include "harness/repro/verdict.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/evidence/cell_remarks.h"
#include "harness/evidence/comparable.h"
#include "harness/evidence/why_event.h"
#include "harness/evidence/why_latency.h"
#include "harness/evidence/why_structures.h"
#include "harness/evidence/why_win.h"
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "harness/numbers/units.h"
#include "harness/records/records.h"
#include "harness/spec/peer_table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The samples of one cell. */
struct cell_samples {
    const json_t **records; /* those that are ok */
    size_t count, failed, skipped;
    const char *reason; /* of the first that is not ok */
    struct class_counts counts;
    double *values;    /* of those that count */
    const json_t **of; /* the record of each value */
    int64_t *blocks;   /* and in which block it was measured; -1: not told */
    size_t values_count;
};

/* One column being judged. */
struct judging {
    const struct experiment_part *part;
    const struct experiment_expect *expect;
    const json_t *records;
    const struct comparable *classes;
    struct verdict_column *column;
};

/* A ratio nearer to 1 than by this factor has no reason worth telling. */
static const double WHY_EFFECT_MIN = 0.02;

/* The share of the samples of the smaller side that must be in pairs for a ratio by pairs. */
static const double PAIRS_MIN = 0.75;

/* A range of ratios that is told as 1.00 to 1.00 expects no change. */
static const double UNCHANGED = 0.005;

enum verdict verdict_join(enum verdict a, enum verdict b)
{
    return a > b ? a : b;
}

enum verdict verdict_of_machines(const unsigned count[VERDICTS])
{
    return count[VERDICT_REFUTED] > 0
               ? count[VERDICT_SUPPORTED] > 0 ? VERDICT_DISAGREE : VERDICT_REFUTED
           : count[VERDICT_UNDECIDED] > 0 ? VERDICT_UNDECIDED
           : count[VERDICT_NOT_RUN] > 0   ? VERDICT_NOT_RUN
           : count[VERDICT_SUPPORTED] > 0 ? VERDICT_SUPPORTED
                                          : VERDICT_NONE;
}

static const char *const verdict_texts[] = {
    [VERDICT_NONE] = "none",       [VERDICT_SUPPORTED] = "supported",
    [VERDICT_NOT_RUN] = "not run", [VERDICT_UNDECIDED] = "undecided",
    [VERDICT_REFUTED] = "refuted", [VERDICT_DISAGREE] = "machines disagree"};

const char *verdict_text(enum verdict verdict)
{
    return verdict_texts[verdict];
}

enum verdict verdict_of_text(const char *text)
{
    for (enum verdict i = VERDICT_SUPPORTED; i <= VERDICT_DISAGREE; i++)
        if (strcmp(verdict_texts[i], text) == 0)
            return i;
    return VERDICT_NONE;
}

const char *verdict_lack_text(enum verdict_lack lack)
{
    static const char *const texts[] = {
        [LACK_NOTHING] = NULL,      [LACK_CORES] = "cores",     [LACK_COUNTERS] = "counters",
        [LACK_SAMPLES] = "samples", [LACK_WIDTH] = "width",     [LACK_CELL] = "cell",
        [LACK_NUMBER] = "number",   [LACK_REGIMES] = "regimes", [LACK_PEER] = "peer",
        [LACK_SAME] = "same"};
    return texts[lack];
}

/* Always false: there is no verdict but this one. */
static bool __attribute__((format(printf, 3, 4)))
lack(struct verdict_column *column, enum verdict_lack what, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(column->reason, sizeof column->reason, format, args);
    va_end(args);
    column->verdict = VERDICT_UNDECIDED;
    column->lack = what;
    return false;
}

/* Samples -------------------------------------------------------------------------------------- */

static bool is_in_group(const json_t *record, const char *group)
{
    json_each(name, json_object_get(record, "groups")) {
        if (strcmp(json_string_value(name), group) == 0)
            return true;
    }
    return false;
}

static bool is_of_cell(const json_t *record, const struct experiment_cell *cell)
{
    return field_integer(record, "workers") == cell->workers &&
           strcmp(field_text(record, "variant"), cell->variant) == 0 &&
           strcmp(field_text(record, "workload"), cell->workload) == 0 &&
           strcmp(field_text(record, "machine"), cell->machine) == 0 &&
           is_in_group(record, cell->group);
}

static void samples_collect(struct cell_samples *samples, const struct judging *self,
                            const struct experiment_cell *cell)
{
    size_t all = json_array_size(self->records);
    *samples = (struct cell_samples){.reason = ""};
    samples->records = xcalloc(all + 1, sizeof *samples->records);
    samples->values = xcalloc(all + 1, sizeof *samples->values);
    samples->of = xcalloc(all + 1, sizeof *samples->of);
    samples->blocks = xcalloc(all + 1, sizeof *samples->blocks);
    json_each(record, self->records) {
        if (!is_of_cell(record, cell))
            continue;
        if (record_is(record, "ok")) {
            samples->records[samples->count++] = record;
            class_count_add(&samples->counts, comparable_distance(self->classes, record),
                            comparable_is_marked(record));
            continue;
        }
        if (samples->failed + samples->skipped == 0)
            samples->reason = field_text(record, "reason");
        samples->skipped += record_is(record, "skipped");
        samples->failed += record_is(record, "failed");
    }
}

static void samples_free(struct cell_samples *samples)
{
    free(samples->records);
    free(samples->values);
    free(samples->of);
    free(samples->blocks);
}

/* "gmp on fib, 2 workers" */
static void cell_name(const struct experiment_cell *cell, char *text, size_t size)
{
    snprintf(text, size, "%s on %s, %s", cell->variant, cell->workload,
             counted((uint64_t)cell->workers, "worker").s);
}

/* True if the cell was measured, and never failed. */
static bool samples_are_sound(const struct judging *self, const struct cell_samples *samples,
                              const struct experiment_cell *cell)
{
    char name[VERDICT_REASON_SIZE / 2];
    cell_name(cell, name, sizeof name);
    if (samples->failed > 0)
        return lack(self->column, LACK_CELL, "%zu of %s of %s failed: %s", samples->failed,
                    counted(samples->count + samples->failed, "sample").s, name, samples->reason);
    if (samples->skipped > 0 && peer_is_name(cell->variant)) {
        lack(self->column, LACK_PEER, "%s", samples->reason);
        self->column->verdict = VERDICT_NOT_RUN;
        return false;
    }
    if (samples->skipped > 0)
        return lack(self->column, LACK_CELL, "%s was skipped: %s", name, samples->reason);
    if (samples->count == 0)
        return lack(self->column, LACK_CELL, "%s was not measured", name);
    return true;
}

/* Why a sample has no such number. */
static bool lack_number(const struct judging *self, const json_t *record)
{
    const struct metric *metric = &self->expect->measured;
    const char *name = metric_name(metric);
    if (metric->kind == METRIC_LATENCY)
        return lack(self->column, LACK_SAMPLES, "a sample has too few latencies for %s", name);
    const char *absent = field_text(record_event(record, name), "absent");
    return lack(self->column, LACK_COUNTERS, "%s cannot be had: %s", name,
                *absent ? absent : "it was not counted");
}

/* The numbers of the samples of that class. Where sets of events are counted in turn, those of
 * another set have none, and that is no flaw. */
static bool samples_read(const struct judging *self, struct cell_samples *samples,
                         enum cell_class class)
{
    const json_t *without = NULL;
    for (size_t i = 0; i < samples->count; i++) {
        const json_t *record = samples->records[i];
        if (!class_holds(class, comparable_distance(self->classes, record),
                         comparable_is_marked(record)))
            continue;
        double value = metric_of(&self->expect->measured, record);
        const json_t *block = json_object_get(record, "block");
        samples->blocks[samples->values_count] = block ? json_integer_value(block) : -1;
        samples->of[samples->values_count] = record;
        if (isfinite(value))
            samples->values[samples->values_count++] = value;
        else if (self->expect->measured.kind != METRIC_EVENT ||
                 !json_object_get(record, "event_set"))
            return lack_number(self, record);
        else
            without = record;
    }
    return samples->values_count > 0 || lack_number(self, without);
}

static bool is_constant(const double *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (values[i] != values[0])
            return false;
    return count >= 2;
}

static void side_fill(struct verdict_side *side, const struct cell_samples *samples)
{
    side->value = statistics_median(samples->values, samples->values_count, STATISTICS_SEED);
    side->constant = is_constant(samples->values, samples->values_count);
}

/* Same runs ------------------------------------------------------------------------------------ */

/* True if two samples have the same seed, and did the same in the same time. */
static bool is_same_sample(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"sim_seed", "throughput", "time_ns", "events",
                                       "latency",  "found",      "order",   NULL};
    if (!json_object_get(a, keys[0]) || !machine_text_is_simulated(field_text(a, "machine")))
        return false;
    for (size_t i = 0; keys[i]; i++) {
        const json_t *of_a = json_object_get(a, keys[i]), *of_b = json_object_get(b, keys[i]);
        if (of_a != of_b && !json_equal(of_a, of_b))
            return false;
    }
    return true;
}

static bool has_same_sample(const struct cell_samples *samples, const json_t *record)
{
    for (size_t i = 0; i < samples->count; i++)
        if (is_same_sample(samples->records[i], record))
            return true;
    return false;
}

/* True if each sample of one side is found on the other one. */
static bool is_same_run(const struct cell_samples *level, const struct cell_samples *over)
{
    if (level->count != over->count)
        return false;
    for (size_t i = 0; i < level->count; i++)
        if (!has_same_sample(over, level->records[i]))
            return false;
    return true;
}

/* Ranges --------------------------------------------------------------------------------------- */

/* Judges a value without an interval. */
static void judge_exact(const struct judging *self, double value)
{
    const struct experiment_expect *expect = self->expect;
    struct verdict_column *column = self->column;
    column->exact = true;
    bool inside = value >= expect->lo && value <= expect->hi;
    column->verdict = inside ? VERDICT_SUPPORTED : VERDICT_REFUTED;
    if (!inside)
        snprintf(column->reason, sizeof column->reason, "it is %s, and %s was expected",
                 experiment_number_text(expect, value).s, expect->wanted);
}

static void judge_interval(const struct judging *self)
{
    const struct experiment_expect *expect = self->expect;
    struct verdict_column *column = self->column;
    struct interval effect = column->effect;
    if (!statistics_has_interval(effect)) {
        lack(column, LACK_SAMPLES, "%s: a 95 %% interval takes %d", counted(effect.n, "sample").s,
             STATISTICS_INTERVAL_MIN);
        return;
    }
    struct text lo = experiment_number_text(expect, effect.lo);
    struct text hi = experiment_number_text(expect, effect.hi);
    if (effect.lo >= expect->lo && effect.hi <= expect->hi) {
        column->verdict = VERDICT_SUPPORTED;
    } else if (effect.hi < expect->lo || effect.lo > expect->hi) {
        column->verdict = VERDICT_REFUTED;
        snprintf(column->reason, sizeof column->reason, "it is %s to %s, and %s was expected", lo.s,
                 hi.s, expect->wanted);
    } else {
        lack(column, LACK_WIDTH, "the interval %s to %s reaches over the end of: %s", lo.s, hi.s,
             expect->wanted);
    }
}

/* `exactly`, where samples differ. */
static void judge_unequal(const struct judging *self)
{
    self->column->verdict = VERDICT_REFUTED;
    snprintf(self->column->reason, sizeof self->column->reason,
             "samples differ, and %s was expected of each", self->expect->wanted);
}

static bool has_zero(const struct cell_samples *samples)
{
    for (size_t i = 0; i < samples->values_count; i++)
        if (samples->values[i] == 0)
            return true;
    return false;
}

/* A ratio over samples that are all zero is without bound, or is none. */
static void judge_over_zero(const struct judging *self, const struct cell_samples *level)
{
    struct verdict_column *column = self->column;
    const char *name = metric_name(&self->expect->measured);
    if (!column->over.constant || has_zero(level)) {
        lack(column, LACK_NUMBER, "%s is 0 in samples of %s, so there is no ratio", name,
             self->expect->over);
        return;
    }
    column->infinite = column->exact = true;
    column->verdict = isinf(self->expect->hi) ? VERDICT_SUPPORTED : VERDICT_REFUTED;
    if (column->verdict == VERDICT_REFUTED)
        snprintf(column->reason, sizeof column->reason,
                 "%s is 0 of %s alone, and a ratio of %s was expected", name, self->expect->over,
                 self->expect->wanted);
}

/* A run beside itself bears out that nothing changes, and nothing else. */
static void judge_same(const struct judging *self)
{
    const struct experiment_expect *expect = self->expect;
    if (expect->lo < 1 - UNCHANGED || expect->hi > 1 + UNCHANGED) {
        lack(self->column, LACK_SAME,
             "both sides are the same run: what is varied does not act here");
        return;
    }
    self->column->effect = (struct interval){1, NAN, NAN, self->column->level.value.n};
    judge_exact(self, 1);
}

/* Regimes -------------------------------------------------------------------------------------- */

/* "3 of 16 samples of gmp on fib, 2 workers, at 103, 13 at 159", or "ratios of blocks"; to be
 * freed. */
static char *regimes_text(const struct judging *self, const char *of, const struct regimes *found)
{
    const struct verdict_column *column = self->column;
    enum metric_kind kind = self->expect->measured.kind;
    const struct experiment_cell *level = &column->level.cell, *over = &column->over.cell;
    size_t count = found->low + found->high;
    double low = found->low_median, high = found->high_median;
    if (strcmp(of, "ratios") == 0)
        return text_format("%zu of %zu ratios of blocks at %s, %zu at %s", found->low, count,
                           text_ratio(low).s, found->high, text_ratio(high).s);
    char name[VERDICT_REASON_SIZE / 2];
    bool elsewhere = self->expect->over && strcmp(level->machine, over->machine) != 0;
    const struct experiment_cell *cell = strcmp(of, "over") == 0 ? over : level;
    cell_name(cell, name, sizeof name);
    return text_format("%zu of %zu samples of %s%s%s, at %s, %zu at %s", found->low, count, name,
                       elsewhere ? " on " : "", elsewhere ? cell->machine : "",
                       metric_text(kind, low).s, found->high, metric_text(kind, high).s);
}

/* Puts the events of the second side behind those of the first one, which it takes. */
static char *differ_join(const struct judging *self, char *first, const char *second)
{
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    if (*first)
        fprintf(to, "%s (%s)%s", first, self->expect->level, *second ? ", " : "");
    if (*second)
        fprintf(to, "%s (%s)", second, self->expect->over);
    fclose(to);
    free(first);
    return text;
}

/* Notes that the values are of two regimes, and what tells these apart; false if they are not.
 * The second side's come behind the first one's. */
static bool regimes_note(const struct judging *self, const char *of, double *values,
                         const json_t **records, size_t count)
{
    struct verdict_regimes *regimes = &self->column->regimes;
    struct regimes found;
    char differ[CELL_REMARK_SIZE];
    if (!statistics_regimes(values, count, &found))
        return false;
    cell_regimes_differ(records, values, count, &found, metric_name(&self->expect->measured),
                        differ);
    char *text = regimes_text(self, of, &found);
    if (regimes->of) {
        char *both = text_format("%s; %s", regimes->text, text);
        free(regimes->text);
        free(text);
        regimes->text = both;
        regimes->differ = differ_join(self, regimes->differ, differ);
        return true;
    }
    *regimes = (struct verdict_regimes){
        .of = of, .found = found, .count = count, .text = text, .differ = xstrdup(differ)};
    regimes->values = xcalloc(count, sizeof *values);
    memcpy(regimes->values, values, count * sizeof *values);
    return true;
}

/* The medians of a cell's regimes; how many, one or two. */
static size_t regimes_of(const struct cell_samples *samples, double medians[2])
{
    struct regimes regimes;
    medians[0] = statistics_median_alone(samples->values, samples->values_count);
    if (!statistics_regimes(samples->values, samples->values_count, &regimes))
        return 1;
    medians[0] = regimes.low_median;
    medians[1] = regimes.high_median;
    return 2;
}

/* Takes the verdict back where some of the regimes' numbers are inside the range, and some not. */
static void regimes_take_back(const struct judging *self, size_t inside, size_t all)
{
    struct verdict_column *column = self->column;
    if (inside == 0 || inside == all || column->exact || column->verdict == VERDICT_UNDECIDED)
        return;
    lack(column, LACK_REGIMES, "two regimes: %s, and %s inside the range", column->regimes.text,
         all > 2 ? "some of their ratios are" : "one is");
}

static bool is_inside(const struct judging *self, double value)
{
    return value >= self->expect->lo && value <= self->expect->hi;
}

/* over: NULL: no ratio. */
static void regimes_judge(const struct judging *self, const struct cell_samples *level,
                          const struct cell_samples *over)
{
    double of_level[2], of_over[2] = {1};
    size_t levels = regimes_of(level, of_level), overs = over ? regimes_of(over, of_over) : 1;
    size_t inside = 0;
    for (size_t i = 0; i < levels; i++)
        for (size_t k = 0; k < overs; k++)
            inside += is_inside(self, of_level[i] / of_over[k]);
    regimes_note(self, "level", level->values, level->of, level->values_count);
    if (over)
        regimes_note(self, "over", over->values, over->of, over->values_count);
    regimes_take_back(self, inside, levels * overs);
}

/* Blocks --------------------------------------------------------------------------------------- */

/* Values of both sides from the same blocks. */
struct pairs {
    double *level, *over;
    const json_t **of_level, **of_over; /* the samples */
    size_t count;
};

static struct pairs pairs_read(const struct cell_samples *level, const struct cell_samples *over)
{
    size_t most = level->values_count + 1;
    struct pairs pairs = {.level = xcalloc(most, sizeof *pairs.level),
                          .over = xcalloc(most, sizeof *pairs.over),
                          .of_level = xcalloc(most, sizeof *pairs.of_level),
                          .of_over = xcalloc(most, sizeof *pairs.of_over)};
    for (size_t i = 0; i < level->values_count; i++) {
        for (size_t k = 0; k < over->values_count && level->blocks[i] >= 0; k++) {
            if (over->blocks[k] != level->blocks[i])
                continue;
            pairs.level[pairs.count] = level->values[i];
            pairs.of_level[pairs.count] = level->of[i];
            pairs.over[pairs.count] = over->values[k];
            pairs.of_over[pairs.count++] = over->of[k];
            break; /* a cell has one sample of a block at most */
        }
    }
    return pairs;
}

static void pairs_free(struct pairs *pairs)
{
    free(pairs->level);
    free(pairs->over);
    free(pairs->of_level);
    free(pairs->of_over);
}

/* True if they are enough for a ratio by blocks. */
static bool pairs_suffice(const struct pairs *pairs, const struct cell_samples *level,
                          const struct cell_samples *over)
{
    size_t fewer =
        level->values_count < over->values_count ? level->values_count : over->values_count;
    return pairs->count >= STATISTICS_INTERVAL_MIN &&
           (double)pairs->count >= PAIRS_MIN * (double)fewer;
}

/* Likewise of the ratios of blocks, which take the place of the pairs' values. */
static void regimes_judge_ratios(const struct judging *self, struct pairs *pairs)
{
    const struct regimes *found = &self->column->regimes.found;
    for (size_t i = 0; i < pairs->count; i++)
        pairs->level[i] /= pairs->over[i];
    if (!regimes_note(self, "ratios", pairs->level, pairs->of_level, pairs->count))
        return;
    if (!*self->column->regimes.differ) {
        char differ[CELL_REMARK_SIZE];
        cell_regimes_differ(pairs->of_over, pairs->level, pairs->count, found,
                            metric_name(&self->expect->measured), differ);
        free(self->column->regimes.differ);
        self->column->regimes.differ = xstrdup(differ);
    }
    regimes_take_back(self,
                      is_inside(self, found->low_median) + is_inside(self, found->high_median), 2);
}

/* The samples of a block are of one time of the machine, so what disturbed them both drops out. */
static void judge_ratio(const struct judging *self, const struct cell_samples *level,
                        const struct cell_samples *over)
{
    struct verdict_column *column = self->column;
    if (is_same_run(level, over)) {
        judge_same(self);
        return;
    }
    if (has_zero(over)) {
        judge_over_zero(self, level);
        return;
    }
    struct pairs pairs = pairs_read(level, over);
    bool by_blocks = pairs_suffice(&pairs, level, over);
    column->effect =
        by_blocks ? statistics_paired_ratio(pairs.level, pairs.over, pairs.count, STATISTICS_SEED)
                  : statistics_ratio(level->values, level->values_count, over->values,
                                     over->values_count, STATISTICS_SEED);
    if (column->level.constant && column->over.constant)
        judge_exact(self, column->effect.median);
    else if (self->expect->exactly)
        judge_unequal(self);
    else
        judge_interval(self);
    if (by_blocks)
        regimes_judge_ratios(self, &pairs);
    else
        regimes_judge(self, level, over);
    pairs_free(&pairs);
}

static void judge_value(const struct judging *self, const struct cell_samples *level)
{
    struct verdict_column *column = self->column;
    column->effect = column->level.value;
    if (column->level.constant)
        judge_exact(self, column->effect.median);
    else if (self->expect->exactly && column->effect.n > 1)
        judge_unequal(self);
    else
        judge_interval(self);
    regimes_judge(self, level, NULL);
}

/* Text ----------------------------------------------------------------------------------------- */

static void judge_order(const struct judging *self, const struct cell_samples *samples)
{
    struct verdict_column *column = self->column;
    column->exact = true;
    column->verdict = VERDICT_SUPPORTED;
    column->level.value.n = samples->count;
    for (size_t i = 0; i < samples->count; i++) {
        const char *text = field_text(samples->records[i], "order");
        column->level.text = i == 0 ? text : column->level.text;
        if (!*text) {
            lack(column, LACK_NUMBER, "a sample has no order");
            return;
        }
        if (strcmp(text, self->expect->exactly) != 0) {
            column->verdict = VERDICT_REFUTED;
            column->level.text = text;
            snprintf(column->reason, sizeof column->reason, "it is %.200s", text);
            return;
        }
    }
    if (samples->count < 2)
        lack(column, LACK_SAMPLES, "one sample: it takes two to be equal");
}

/* Columns -------------------------------------------------------------------------------------- */

static bool has_cores(const struct judging *self, const struct experiment_cell *cell,
                      const struct experiment_form *form)
{
    if (experiment_takes_workers(self->part, cell->workers, cell->machine, form))
        return true;
    return lack(self->column, LACK_CORES, "%s take as many cores, and %s has %d",
                counted((uint64_t)cell->workers, "worker").s, cell->machine,
                experiment_cores(cell->machine, form));
}

/* Reads both sides in the class in which they can be compared. */
static bool sides_read(const struct judging *self, struct cell_samples *level,
                       struct cell_samples *over)
{
    struct verdict_column *column = self->column;
    bool ratio = self->expect->over != NULL;
    struct class_counts counts[2] = {level->counts, over->counts};
    struct class_choice choice = class_choose(counts, ratio ? 2 : 1, self->classes->common);
    if (choice.unlike)
        return lack(column, LACK_SAMPLES,
                    "the cores were at several distances, and none has enough samples");
    if (!samples_read(self, level, class_within(choice.chosen, &level->counts)) ||
        (ratio && !samples_read(self, over, class_within(choice.chosen, &over->counts))))
        return false;
    side_fill(&column->level, level);
    if (ratio)
        side_fill(&column->over, over);
    return true;
}

static void judge_samples(const struct judging *self, struct cell_samples *level,
                          struct cell_samples *over)
{
    const struct verdict_column *column = self->column;
    bool ratio = self->expect->over != NULL;
    if (!samples_are_sound(self, level, &column->level.cell) ||
        (ratio && !samples_are_sound(self, over, &column->over.cell)))
        return;
    if (self->expect->is_order)
        judge_order(self, level);
    else if (!sides_read(self, level, over))
        return;
    else if (ratio)
        judge_ratio(self, level, over);
    else
        judge_value(self, level);
}

/* The name and version that a peer told in the first sample. */
static const json_t *runtime_of(const struct cell_samples *samples)
{
    return samples->count > 0 ? json_object_get(samples->records[0], "runtime") : NULL;
}

/* The samples that the verdict is about. */
static json_t *records_of(const struct cell_samples *samples)
{
    json_t *records = json_array();
    for (size_t i = 0; i < samples->values_count; i++)
        json_array_append(records, (json_t *)samples->of[i]);
    return records;
}

/* The level of a count of misses, 0 to 2 for L1 to L3; -1: it is none. */
static int miss_level(const struct metric *metric)
{
    static const char *const names[] = {"SIM_L1_MISS", "SIM_L2_MISS", "SIM_L3_MISS"};
    for (int i = 0; i < 3; i++)
        if (strcmp(metric_name(metric), names[i]) == 0)
            return i;
    return -1;
}

/* The sentence behind the side with more; of throughputs, behind the slower one. To be freed. */
static char *why_of(const struct metric *metric, const json_t *less, const json_t *more)
{
    int misses = miss_level(metric);
    return metric->kind == METRIC_THROUGHPUT ? why_win_of(more, less)
           : metric->kind == METRIC_LATENCY  ? why_latency_of(metric->quantile, less, more)
           : misses >= 0                     ? why_misses_of(less, more, misses)
                                             : why_event_of(metric, less, more);
}

/* The sentence behind a ratio; NULL if there is none, or if it would depend on the regime that was
 * met. To be freed. */
static char *why_make(const struct judging *self, const struct cell_samples *level,
                      const struct cell_samples *over)
{
    double ratio = self->column->infinite ? INFINITY : self->column->effect.median;
    if (!self->expect->over || self->expect->is_order || isnan(ratio) ||
        fabs(log(ratio)) < WHY_EFFECT_MIN || self->column->lack == LACK_REGIMES)
        return NULL;
    json_t *more = records_of(ratio > 1 ? level : over),
           *less = records_of(ratio > 1 ? over : level);
    char *why = why_of(&self->expect->measured, less, more);
    json_decref(more);
    json_decref(less);
    return why;
}

static void column_judge(const struct judging *self, struct experiment_column at,
                         const char *machine, const struct experiment_form *form)
{
    const struct experiment_expect *expect = self->expect;
    const struct interval none = {NAN, NAN, NAN, 0};
    struct verdict_column *column = self->column;
    struct cell_samples level, over = {.count = 0};
    column->effect = column->level.value = column->over.value = none;
    column->level.cell = experiment_cell(self->part, expect->level_index, at, machine);
    if (expect->over)
        column->over.cell = experiment_cell(self->part, expect->over_index, at, machine);
    if (!has_cores(self, &column->level.cell, form) ||
        (expect->over && !has_cores(self, &column->over.cell, form)))
        return;
    samples_collect(&level, self, &column->level.cell);
    column->level.runtime = runtime_of(&level);
    if (expect->over) {
        samples_collect(&over, self, &column->over.cell);
        column->over.runtime = runtime_of(&over);
    }
    judge_samples(self, &level, &over);
    column->why = why_make(self, &level, &over);
    samples_free(&level);
    samples_free(&over);
}

/* How far a supported column is from an end of its range, in multiples of that. */
static double margin(const struct judged *judged, const struct verdict_column *column)
{
    const struct experiment_expect *expect = judged->expect;
    bool exact = column->exact;
    double lo = exact ? column->effect.median : column->effect.lo;
    double hi = exact ? column->effect.median : column->effect.hi;
    double below = isfinite(expect->lo) && expect->lo > 0 ? lo / expect->lo : INFINITY;
    double above = isfinite(expect->hi) && hi > 0 ? expect->hi / hi : INFINITY;
    return isnan(lo) ? INFINITY : fmin(below, above);
}

/* Finds the column that stands for all. */
static void decisive_find(struct judged *judged)
{
    for (unsigned i = 0; i < judged->count; i++) {
        const struct verdict_column *new = &judged->columns[i];
        const struct verdict_column *old = &judged->columns[judged->decisive];
        if (new->verdict > old->verdict ||
            (new->verdict == old->verdict &&new->verdict ==
             VERDICT_SUPPORTED &&margin(judged, new) < margin(judged, old)))
            judged->decisive = i;
    }
}

void judged_make(struct judged *judged, const struct experiment_part *part, unsigned i,
                 const char *machine, const json_t *records, const struct experiment_form *form)
{
    struct comparable classes;
    unsigned columns = experiment_columns(part);
    const char *named = part->expect[i].machine;
    bool guest = form->guests && named && machine_spec_is_guest_of(machine, named);
    *judged = (struct judged){.part = part, .expect = &part->expect[i], .number = i + 1};
    judged->columns = xcalloc(columns, sizeof *judged->columns);
    comparable_learn(&classes, records);
    for (unsigned c = 0; c < columns; c++) {
        struct experiment_column at = experiment_column(part, c);
        if (!experiment_expects(part, judged->expect, at, guest ? named : machine))
            continue;
        struct verdict_column *column = &judged->columns[judged->count++];
        struct judging self = {part, judged->expect, records, &classes, column};
        column_judge(&self, at, machine, form);
        judged->verdict = verdict_join(judged->verdict, column->verdict);
    }
    decisive_find(judged);
}

void judged_free(struct judged *judged)
{
    for (unsigned i = 0; i < judged->count; i++) {
        free(judged->columns[i].regimes.values);
        free(judged->columns[i].regimes.text);
        free(judged->columns[i].regimes.differ);
        free(judged->columns[i].why);
    }
    free(judged->columns);
    *judged = (struct judged){.count = 0};
}
