/* stopping_rule.c - see stopping_rule.h. */
#include "harness/plan/stopping_rule.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/evidence/comparable.h"
#include "harness/evidence/robbed.h"
#include "harness/numbers/statistics.h"
#include "harness/sample/child.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUTS_MAX = 2 };

static const char *const why_words[] = {
    [WHY_BLOCK] = "block", [WHY_TOP_UP] = "top-up", [WHY_REPEAT] = "repeat"};

enum { WHYS = sizeof why_words / sizeof why_words[0] };

const char *why_text(enum why why)
{
    return why_words[why];
}

void stopping_rule_begin(struct stopping_rule *rule, const struct sweep_file *sweep,
                         struct plan *plan)
{
    size_t sets = 0;
    for (size_t i = 0; i < plan->count; i++)
        sets = plan->cells[i].set >= sets ? plan->cells[i].set + 1 : sets;
    *rule = (struct stopping_rule){.sweep = sweep, .plan = plan, .blocks = UINT_MAX};
    rule->open = xcalloc(sets + 1, sizeof *rule->open);
}

void stopping_rule_end(struct stopping_rule *rule)
{
    free(rule->open);
}

/* Notes --------------------------------------------------------------------------------------- */

/* Records without `why` are of blocks: there was nothing else when they were made. */
static enum why why_of_record(const json_t *record)
{
    const char *text = field_text(record, "why");
    for (int why = WHY_BLOCK; why < WHYS; why++)
        if (strcmp(text, why_words[why]) == 0)
            return (enum why)why;
    return WHY_BLOCK;
}

bool stopping_rule_note(struct cell *cell, const json_t *record)
{
    const char *status = field_text(record, "status");
    struct note note = {
        .block = (unsigned)field_integer(record, "block"),
        .why = why_of_record(record),
        .ok = strcmp(status, "ok") == 0,
        .marked = comparable_is_marked(record),
        .steal_unknown = comparable_steal_is_unknown(record),
        .of_set = json_object_get(record, "event_set") != NULL,
        .line_before_ns = comparable_probe_ns(record, "before"),
        .line_after_ns = comparable_probe_ns(record, "after"),
        .cpu_share = field_number(record, "cpu_share"),
        .preempted_per_s = field_number(record, "preempted_per_s"),
    };
    for (size_t i = 0; i < CELL_WIDTHS; i++)
        note.value[i] = note.ok ? metric_of(&cell->widths[i].metric, record) : NAN;
    note.events_hash = strtoull(field_text(record, "events_hash"), NULL, 16);
    if (cell->notes_count > 0 && cell->notes[cell->notes_count - 1].block >= note.block)
        return false;
    array_add(cell->notes, cell->notes_count) = note;
    cell->timeouts += child_record_timed_out(record);
    cell->given_up = strcmp(status, "skipped") == 0 || cell->timeouts >= TIMEOUTS_MAX;
    return true;
}

void stopping_rule_mark(const struct cell *cell, json_t *record)
{
    double *cpu_share = xcalloc(cell->notes_count + 1, sizeof *cpu_share);
    double *preempted = xcalloc(cell->notes_count + 1, sizeof *preempted);
    size_t count = 0;
    for (size_t i = 0; i < cell->notes_count; i++) {
        const struct note *note = &cell->notes[i];
        if (!note->ok || isnan(note->cpu_share) || isnan(note->preempted_per_s))
            continue;
        cpu_share[count] = note->cpu_share;
        preempted[count++] = note->preempted_per_s;
    }
    robbed_mark(record, cpu_share, preempted, count);
    free(cpu_share);
    free(preempted);
}

/* A cell as it was before a block: its notes of earlier blocks only. */
struct past {
    const struct note *notes;
    size_t count;
    bool given_up;
    bool failed; /* has a sample that is not ok, so no median */
};

static struct past past_of(const struct cell *cell, unsigned block)
{
    struct past past = {.notes = cell->notes, .count = cell->notes_count};
    while (past.count > 0 && cell->notes[past.count - 1].block >= block)
        past.count--;
    past.given_up = cell->given_up && past.count == cell->notes_count;
    for (size_t i = 0; i < past.count; i++)
        past.failed = past.failed || !past.notes[i].ok;
    return past;
}

/* Core distances ------------------------------------------------------------------------------ */

static enum core_distance note_distance(const struct stopping_rule *rule, const struct note *note)
{
    return core_distance_of(&rule->distances, note->line_before_ns, note->line_after_ns);
}

/* True if distances are learnt from the sample: an ok one of a block before this one. */
static bool note_teaches(const struct note *note, unsigned block)
{
    return note->ok && note->why == WHY_BLOCK && note->block < block;
}

/* The probes of all samples of blocks before this one; free() them. */
static double *probes_of_blocks(const struct plan *plan, unsigned block, size_t *count)
{
    size_t notes = 0;
    for (size_t i = 0; i < plan->count; i++)
        notes += plan->cells[i].notes_count;
    double *line_ns = xcalloc(2 * notes + 1, sizeof *line_ns);
    *count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        for (size_t k = 0; k < plan->cells[i].notes_count; k++) {
            const struct note *note = &plan->cells[i].notes[k];
            if (note_teaches(note, block) && isfinite(note->line_before_ns))
                line_ns[(*count)++] = note->line_before_ns;
            if (note_teaches(note, block) && isfinite(note->line_after_ns))
                line_ns[(*count)++] = note->line_after_ns;
        }
    }
    return line_ns;
}

static void distances_learn_of_blocks(struct stopping_rule *rule, unsigned block)
{
    size_t count, samples[DISTANCE_MIXED + 1] = {0};
    double *line_ns = probes_of_blocks(rule->plan, block, &count);
    core_distances_learn(&rule->distances, line_ns, count);
    free(line_ns);
    for (size_t i = 0; i < rule->plan->count; i++) {
        const struct cell *cell = &rule->plan->cells[i];
        for (size_t k = 0; k < cell->notes_count; k++)
            samples[note_distance(rule, &cell->notes[k])] += note_teaches(&cell->notes[k], block);
    }
    rule->class = core_distance_common(samples[DISTANCE_NEAR], samples[DISTANCE_FAR]);
}

void stopping_rule_conclude(struct stopping_rule *rule)
{
    if (rule->blocks == UINT_MAX)
        distances_learn_of_blocks(rule, UINT_MAX);
}

/* Width --------------------------------------------------------------------------------------- */

/* The width over the samples that tables would take if there were no others: comparable.h. */
static double past_width(const struct stopping_rule *rule, const struct past *past, size_t metric)
{
    struct class_counts counts = {0};
    double *x = xcalloc(past->count + 1, sizeof *x);
    size_t n = 0;
    bool lacks = false; /* a sample has no such number */
    for (size_t i = 0; i < past->count; i++)
        if (past->notes[i].ok)
            class_count_add(&counts, note_distance(rule, &past->notes[i]), past->notes[i].marked);
    enum cell_class chosen = class_of_cell(&counts, rule->class);
    for (size_t i = 0; i < past->count; i++) {
        const struct note *note = &past->notes[i];
        if (!note->ok || !class_holds(chosen, note_distance(rule, note), note->marked))
            continue;
        lacks |= isnan(note->value[metric]) && !note->of_set;
        if (!isnan(note->value[metric]))
            x[n++] = note->value[metric];
    }
    double width = NAN;
    if (lacks)
        width = 0; /* more samples would lack it too */
    else if (!past->failed && n >= STATISTICS_INTERVAL_MIN) {
        struct interval interval = statistics_median(x, n, STATISTICS_SEED);
        /* Equal values may all be zero. */
        width = interval.hi > interval.lo ? 100 * (interval.hi - interval.lo) / interval.median : 0;
    }
    free(x);
    return width;
}

double stopping_rule_width(const struct stopping_rule *rule, const struct cell *cell)
{
    struct past past = past_of(cell, UINT_MAX);
    return past_width(rule, &past, 0);
}

/* The width that the interval of the cell's i-th metric may have; 0: any. */
static double wanted_width(const struct stopping_rule *rule, const struct cell *cell, size_t i)
{
    return cell->own_widths ? cell->widths[i].percent : i == 0 ? (double)rule->sweep->width : 0;
}

static bool wants_width(const struct stopping_rule *rule, const struct cell *cell)
{
    return wanted_width(rule, cell, 0) > 0;
}

/* True if each interval is as narrow as wanted. */
static bool is_narrow(const struct stopping_rule *rule, const struct cell *cell,
                      const struct past *past)
{
    for (size_t i = 0; i < CELL_WIDTHS && wanted_width(rule, cell, i) > 0; i++)
        if (!(past_width(rule, past, i) < wanted_width(rule, cell, i))) /* also without any */
            return false;
    return true;
}

/* Blocks -------------------------------------------------------------------------------------- */

/* True if there are two samples or more, and all were the same to the picosecond. */
static bool past_is_equal(const struct past *past)
{
    for (size_t i = 1; i < past->count; i++)
        if (past->notes[i].events_hash != past->notes[0].events_hash)
            return false;
    return past->count >= 2 && past->notes[0].events_hash != 0 && !past->failed;
}

/* True if so many blocks are enough for the cell, whatever the rest of its set takes. */
static bool cell_has_enough(const struct cell *cell, unsigned block)
{
    return cell->reps > 0 && block >= cell->reps;
}

/* True if the cell's own samples before the block are not enough yet. */
static bool cell_needs_block(const struct stopping_rule *rule, const struct cell *cell,
                             unsigned block)
{
    const struct sweep_file *sweep = rule->sweep;
    struct past past = past_of(cell, block);
    if (past.given_up || block >= (unsigned)sweep->reps_max)
        return false;
    if (block < (unsigned)sweep->reps)
        return !cell_has_enough(cell, block) && !(cell->until_equal && past_is_equal(&past));
    if (!wants_width(rule, cell) || past.failed)
        return false;
    return !is_narrow(rule, cell, &past);
}

/* Sets the cell's `why` for the block if it is in it, for this reason; whether it is. */
static bool cell_put(struct cell *cell, unsigned block, enum why why)
{
    struct past past = past_of(cell, block);
    bool done = cell->given_up || cell->notes_count > past.count;
    if (past.given_up)
        why = WHY_NONE;
    cell->why = done ? WHY_NONE : why;
    return why != WHY_NONE;
}

static size_t block_of_sets(struct stopping_rule *rule, unsigned block)
{
    struct plan *plan = rule->plan;
    size_t held = 0;
    if (rule->sweep->width > 0 && block >= (unsigned)rule->sweep->reps)
        distances_learn_of_blocks(rule, block);
    for (size_t i = 0; i < plan->count; i++)
        rule->open[plan->cells[i].set] = false;
    for (size_t i = 0; i < plan->count; i++)
        if (!rule->open[plan->cells[i].set])
            rule->open[plan->cells[i].set] = cell_needs_block(rule, &plan->cells[i], block);
    for (size_t i = 0; i < plan->count; i++) {
        struct cell *cell = &plan->cells[i];
        bool open = rule->open[cell->set] && !cell_has_enough(cell, block);
        held += cell_put(cell, block, open ? WHY_BLOCK : WHY_NONE);
    }
    return held;
}

/* After the blocks ---------------------------------------------------------------------------- */

/* Numbers of a cell's ok samples by kind. */
struct tally {
    int64_t blocks, clean; /* of blocks; without marks, of blocks and repeats */
    int64_t repeats, top_ups;
    int64_t at_distance[DISTANCE_MIXED + 1]; /* without marks */
    int64_t probed;
};

static struct tally past_tally(const struct stopping_rule *rule, const struct past *past)
{
    struct tally tally = {0};
    for (size_t i = 0; i < past->count; i++) {
        const struct note *note = &past->notes[i];
        enum core_distance distance = note_distance(rule, note);
        tally.blocks += note->why == WHY_BLOCK;
        tally.clean += note->why != WHY_TOP_UP && !note->marked;
        tally.repeats += note->why == WHY_REPEAT;
        tally.top_ups += note->why == WHY_TOP_UP;
        tally.probed += distance != DISTANCE_NONE;
        tally.at_distance[distance] += !note->marked;
    }
    return tally;
}

/* True if a cell has too few samples of a distance that it needs. One without probes needs none. */
static bool lacks_distance(const struct stopping_rule *rule, const struct tally *tally)
{
    const struct sweep_file *sweep = rule->sweep;
    if (tally->probed == 0)
        return false;
    if (!sweep->class_each || isnan(rule->distances.threshold_ns))
        return tally->at_distance[rule->class] < sweep->class_min;
    return tally->at_distance[DISTANCE_NEAR] < sweep->class_min ||
           tally->at_distance[DISTANCE_FAR] < sweep->class_min;
}

/* Pre: the blocks are over. A cell without a median would not get one by more samples, and one
 * whose samples cannot be probed would get no distance. */
static enum why cell_needs_more(const struct stopping_rule *rule, const struct cell *cell,
                                unsigned block)
{
    const struct sweep_file *sweep = rule->sweep;
    struct past past = past_of(cell, block);
    if (past.given_up || past.failed)
        return WHY_NONE;
    struct tally tally = past_tally(rule, &past);
    if (sweep->repeat_disturbed && tally.clean < tally.blocks && tally.repeats < sweep->reps_max)
        return WHY_REPEAT;
    if (lacks_distance(rule, &tally) && tally.top_ups < sweep->reps_max)
        return WHY_TOP_UP;
    return WHY_NONE;
}

size_t stopping_rule_next(struct stopping_rule *rule, unsigned block)
{
    size_t held = 0;
    if (block < rule->blocks) {
        held = block_of_sets(rule, block);
        if (held > 0)
            return held;
        rule->blocks = block;
        distances_learn_of_blocks(rule, block);
    }
    for (size_t i = 0; i < rule->plan->count; i++) {
        struct cell *cell = &rule->plan->cells[i];
        held += cell_put(cell, block, cell_needs_more(rule, cell, block));
    }
    return held;
}

unsigned stopping_rule_blocks_max(const struct sweep_file *sweep)
{
    int64_t blocks = sweep->width > 0 ? sweep->reps_max : sweep->reps;
    if (sweep->repeat_disturbed)
        blocks += sweep->reps_max;
    if (sweep->class_min > 0)
        blocks += sweep->reps_max;
    return (unsigned)blocks;
}

/* The end ------------------------------------------------------------------------------------- */

static unsigned cell_count(const struct cell *cell, enum why why)
{
    unsigned n = 0;
    for (size_t i = 0; i < cell->notes_count; i++)
        n += cell->notes[i].why == why;
    return n;
}

/* The block after the cell's last one. */
static unsigned cell_block_next(const struct cell *cell)
{
    return cell->notes_count > 0 ? cell->notes[cell->notes_count - 1].block + 1 : 0;
}

/* True if all top-ups were measured and a distance that is needed still came too rarely. */
static bool lacks_class(const struct stopping_rule *rule, const struct cell *cell)
{
    struct past past = past_of(cell, UINT_MAX);
    struct tally tally = past_tally(rule, &past);
    return !past.failed && lacks_distance(rule, &tally);
}

const char *stopping_rule_stop(const struct stopping_rule *rule, const struct cell *cell)
{
    if (cell->given_up)
        return "given-up";
    unsigned next = cell_block_next(cell);
    bool blocks = rule->blocks == UINT_MAX;
    if (blocks ? cell_needs_block(rule, cell, next) : cell_needs_more(rule, cell, next) != WHY_NONE)
        return "interrupted";
    if (!blocks && lacks_class(rule, cell))
        return "class-limit";
    if (!wants_width(rule, cell))
        return "reps";
    struct past past = past_of(cell, UINT_MAX);
    return past.failed ? "given-up" : is_narrow(rule, cell, &past) ? "width" : "limit";
}

static json_t *number_or_absent(double value, const char *reason)
{
    return isnan(value) ? json_pack("{ss}", "absent", reason) : json_real(value);
}

static json_t *cell_to_json(const struct stopping_rule *rule, const struct cell *cell)
{
    return json_pack(
        "{ss ss ss si si si si si ss so}", "cell", cell->id, "variant", cell->variant, "workload",
        cell->workload, "workers", cell->workers, "samples", (int)cell->notes_count, "blocks",
        (int)cell_count(cell, WHY_BLOCK), "top_ups", (int)cell_count(cell, WHY_TOP_UP), "repeats",
        (int)cell_count(cell, WHY_REPEAT), "stop", stopping_rule_stop(rule, cell), "width_percent",
        number_or_absent(stopping_rule_width(rule, cell), "too few samples, or failed ones"));
}

/* All ok samples, those after the blocks included. */
struct totals {
    size_t ok, marked, steal_unknown, distances[DISTANCE_MIXED + 1];
    size_t top_ups, repeats;
};

static struct totals totals_of(const struct stopping_rule *rule)
{
    struct totals totals = {.ok = 0};
    for (size_t i = 0; i < rule->plan->count; i++) {
        const struct cell *cell = &rule->plan->cells[i];
        totals.top_ups += cell_count(cell, WHY_TOP_UP);
        totals.repeats += cell_count(cell, WHY_REPEAT);
        for (size_t k = 0; k < cell->notes_count; k++) {
            const struct note *note = &cell->notes[k];
            totals.ok += note->ok;
            totals.marked += note->ok && note->marked;
            totals.steal_unknown += note->ok && note->steal_unknown;
            totals.distances[note_distance(rule, note)] += note->ok;
        }
    }
    return totals;
}

static json_t *distances_to_json(const struct stopping_rule *rule, const struct totals *totals)
{
    static const char one_class[] = "there is no such class";
    return json_pack("{ss so so so s{sI sI sI sI}}", "class", core_distance_text(rule->class),
                     "threshold_ns", number_or_absent(rule->distances.threshold_ns, one_class),
                     "near_ns", number_or_absent(rule->distances.near_ns, one_class), "far_ns",
                     number_or_absent(rule->distances.far_ns, one_class), "samples", "near",
                     (json_int_t)totals->distances[DISTANCE_NEAR], "far",
                     (json_int_t)totals->distances[DISTANCE_FAR], "mixed",
                     (json_int_t)totals->distances[DISTANCE_MIXED], "none",
                     (json_int_t)totals->distances[DISTANCE_NONE]);
}

json_t *stopping_rule_to_json(const struct stopping_rule *rule)
{
    const struct sweep_file *sweep = rule->sweep;
    struct totals totals = totals_of(rule);
    json_t *cells = json_array();
    for (size_t i = 0; i < rule->plan->count; i++)
        json_array_append_new(cells, cell_to_json(rule, &rule->plan->cells[i]));
    return json_pack("{si sI sI sI sI sb sb sI so so}", "schema", 1, "reps",
                     (json_int_t)sweep->reps, "reps_max", (json_int_t)sweep->reps_max, "width",
                     (json_int_t)sweep->width, "class_min", (json_int_t)sweep->class_min,
                     "class_each", (int)sweep->class_each, "repeat_disturbed",
                     (int)sweep->repeat_disturbed, "marked", (json_int_t)totals.marked, "distances",
                     distances_to_json(rule, &totals), "cells", cells);
}

static size_t count_stops(const struct stopping_rule *rule, const char *stop)
{
    size_t count = 0;
    for (size_t i = 0; i < rule->plan->count; i++)
        count += strcmp(stopping_rule_stop(rule, &rule->plan->cells[i]), stop) == 0;
    return count;
}

static void tell_width(const struct stopping_rule *rule, FILE *to)
{
    bool own = false, any = false;
    char wanted[64];
    for (size_t i = 0; i < rule->plan->count; i++) {
        own = own || rule->plan->cells[i].own_widths;
        any = any || wants_width(rule, &rule->plan->cells[i]);
    }
    if (!any)
        return;
    snprintf(wanted, sizeof wanted, "narrower than %" PRId64 " %%", rule->sweep->width);
    fprintf(to, "%s with an interval %s, %zu stopped at %" PRId64 " samples without\n",
            counted(count_stops(rule, "width"), "cell").s,
            own ? "as narrow as its claims need it" : wanted, count_stops(rule, "limit"),
            rule->sweep->reps_max);
}

/* The core distance at which top-ups are wanted, in words: "core distance near" or "far", or "each
 * core distance". */
static const char *wanted_distance(const struct stopping_rule *rule)
{
    if (rule->sweep->class_each && isfinite(rule->distances.threshold_ns))
        return "each core distance";
    static const char *const distances[] = {"core distance -", "core distance near",
                                            "core distance far"};
    return distances[rule->class];
}

static void tell_class(const struct stopping_rule *rule, FILE *to)
{
    size_t short_of = count_stops(rule, "class-limit");
    if (short_of > 0)
        fprintf(to, "%s with fewer than %" PRId64 " samples at %s after all top-ups\n",
                counted(short_of, "cell").s, rule->sweep->class_min, wanted_distance(rule));
}

/* "near 81 % (52 ns)" */
static void tell_distance(const struct totals *totals, enum core_distance distance, double ns,
                          FILE *to)
{
    size_t probed = totals->ok - totals->distances[DISTANCE_NONE];
    fprintf(to, "%s %.0f %%", core_distance_text(distance),
            100 * (double)totals->distances[distance] / (double)probed);
    if (isfinite(ns))
        fprintf(to, " (%.0f ns)", ns);
}

static void tell_distances(const struct stopping_rule *rule, const struct totals *totals, FILE *to)
{
    size_t probed = totals->ok - totals->distances[DISTANCE_NONE];
    if (probed == 0)
        return;
    if (isnan(rule->distances.threshold_ns)) {
        fprintf(to, "one core distance: %.0f ns from core to core and back\n",
                rule->distances.near_ns);
        return;
    }
    fprintf(to, "core distance of %s on several workers: ", counted(probed, "sample").s);
    tell_distance(totals, DISTANCE_NEAR, rule->distances.near_ns, to);
    fputs(", ", to);
    tell_distance(totals, DISTANCE_FAR, rule->distances.far_ns, to);
    fputs(", ", to);
    tell_distance(totals, DISTANCE_MIXED, NAN, to);
    fputs("\n", to);
}

/* Tells how many cells have a median without an interval. */
static void tell_few(const struct stopping_rule *rule, FILE *to)
{
    size_t few = 0;
    for (size_t i = 0; i < rule->plan->count; i++) {
        const struct cell *cell = &rule->plan->cells[i];
        few += cell->notes_count > 0 && !cell->given_up && !past_of(cell, UINT_MAX).failed &&
               isnan(stopping_rule_width(rule, cell));
    }
    if (few > 0)
        fprintf(to, "%s without an interval of the median, which takes %d samples\n",
                counted(few, "cell").s, STATISTICS_INTERVAL_MIN);
}

void stopping_rule_tell(const struct stopping_rule *rule, FILE *to)
{
    struct totals totals = totals_of(rule);
    tell_few(rule, to);
    if (rule->sweep->width > 0)
        tell_width(rule, to);
    tell_distances(rule, &totals, to);
    if (totals.marked > 0)
        fprintf(to, "%zu of %s marked as disturbed\n", totals.marked,
                counted(totals.ok, "sample").s);
    if (totals.steal_unknown > 0)
        fprintf(to, "steal is not known of %zu of %s: the hypervisor does not tell\n",
                totals.steal_unknown, counted(totals.ok, "sample").s);
    if (totals.top_ups + totals.repeats > 0)
        fprintf(to, "after the blocks: %s for cells with few at %s, %zu repeated\n",
                counted(totals.top_ups, "sample").s, wanted_distance(rule), totals.repeats);
    tell_class(rule, to);
}
