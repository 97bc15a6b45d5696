/* test_stopping_rule.c - what a block holds follows from the samples before it: the least
 * repetitions, then whole comparison sets until every interval is narrow enough, or the limit. */
#include "harness/base/error.h"
#include "harness/numbers/statistics.h"
#include "harness/plan/stopping_rule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { REPS = 6, REPS_MAX = 10, BLOCKS_MAX = 64 };

/* Stands in for the program under measurement: a sample of this cell in this block. */
typedef json_t *sampler(const struct cell *cell, unsigned block);

static char *variants[] = {"gmp", "grq"};
static char *workloads[] = {"fib", "spawn"};
static int64_t workers[] = {1, 2};

static struct sweep_group group = {.id = "one",
                                   .variants = variants,
                                   .variants_count = 2,
                                   .workloads = workloads,
                                   .workloads_count = 2,
                                   .workers = workers,
                                   .workers_count = 2};

static struct sweep_file sweep_make(int64_t width)
{
    return (struct sweep_file){
        .reps = REPS, .reps_max = REPS_MAX, .width = width, .groups = &group, .groups_count = 1};
}

static json_t *record_make(const char *status, double throughput)
{
    return json_pack("{ss sf}", "status", status, "throughput", throughput);
}

static void note(struct cell *cell, unsigned block, json_t *record)
{
    json_object_set_new(record, "block", json_integer(block));
    json_object_set_new(record, "why", json_string(why_text(cell->why)));
    assert_true(stopping_rule_note(cell, record));
    json_decref(record);
}

/* Measures blocks `from` to `to`, or to the end; the block after the last one. */
static unsigned measure(struct stopping_rule *rule, unsigned from, unsigned to, sampler *sample)
{
    unsigned block = from;
    while (block < to && stopping_rule_next(rule, block) > 0) {
        for (size_t i = 0; i < rule->plan->count; i++) {
            struct cell *cell = &rule->plan->cells[i];
            if (cell->why != WHY_NONE)
                note(cell, block, sample(cell, block));
        }
        block++;
        assert_true(block < BLOCKS_MAX);
    }
    return block;
}

static bool is(const struct cell *cell, const char *variant, const char *workload, int cell_workers)
{
    return strcmp(cell->variant, variant) == 0 && strcmp(cell->workload, workload) == 0 &&
           cell->workers == cell_workers;
}

static void expect_stop(const struct stopping_rule *rule, const struct cell *cell, size_t samples,
                        const char *stop)
{
    if (cell->notes_count != samples || strcmp(stopping_rule_stop(rule, cell), stop) != 0)
        fail_msg("%s on %s, %d workers: %zu samples, %s; expected %zu, %s", cell->variant,
                 cell->workload, cell->workers, cell->notes_count, stopping_rule_stop(rule, cell),
                 samples, stop);
}

/* Samplers ------------------------------------------------------------------------------------ */

static json_t *steady(const struct cell *cell, unsigned block)
{
    (void)cell;
    return record_make("ok", 1000 + block % 2);
}

static json_t *noisy(const struct cell *cell, unsigned block)
{
    (void)cell;
    return record_make("ok", block % 2 ? 1000 : 2000);
}

static json_t *grq_on_spawn_with_two_is_noisy(const struct cell *cell, unsigned block)
{
    return is(cell, "grq", "spawn", 2) ? noisy(cell, block) : steady(cell, block);
}

static json_t *gmp_on_fib_with_one_settles(const struct cell *cell, unsigned block)
{
    return is(cell, "gmp", "fib", 1) && block < 2 ? record_make("ok", 2000) : steady(cell, block);
}

static json_t *grq_fails_once_else_noisy(const struct cell *cell, unsigned block)
{
    bool fails = strcmp(cell->variant, "grq") == 0 && block == 1;
    return fails ? record_make("failed", 0)
                 : (strcmp(cell->variant, "grq") == 0 ? noisy : steady)(cell, block);
}

static json_t *grq_is_skipped(const struct cell *cell, unsigned block)
{
    return strcmp(cell->variant, "grq") == 0 ? record_make("skipped", 0) : steady(cell, block);
}

static json_t *grq_hangs(const struct cell *cell, unsigned block)
{
    if (strcmp(cell->variant, "grq") != 0)
        return steady(cell, block);
    json_t *record = record_make("failed", 0);
    json_object_set_new(record, "reason", json_string("no answer within 1 s"));
    return record;
}

/* A probe that says near, 50 ns, or far, 350 ns; none with one worker. */
static json_t *probed(const struct cell *cell, unsigned block, bool far)
{
    json_t *record = steady(cell, block);
    double line_ns = far ? 350 : 50;
    if (cell->workers > 1)
        json_object_set_new(
            record, "probe",
            json_pack("{s{sf} s{sf}}", "before", "line_ns", line_ns, "after", "line_ns", line_ns));
    return record;
}

/* Far is the common distance; the cells of fib see it too late. */
static json_t *fib_is_near_for_long(const struct cell *cell, unsigned block)
{
    bool fib = strcmp(cell->workload, "fib") == 0;
    return probed(cell, block, !fib || block == 0 || block > REPS + 2);
}

static json_t *fib_is_never_far(const struct cell *cell, unsigned block)
{
    return probed(cell, block, strcmp(cell->workload, "fib") != 0);
}

/* In the blocks, of which only the first two are not disturbed; later samples are not. */
static json_t *blocks_are_disturbed(const struct cell *cell, unsigned block)
{
    json_t *record = probed(cell, block, false);
    if (block >= 2 && block < REPS)
        json_object_set_new(record, "marks", json_pack("[s]", "steal"));
    return record;
}

/* All that do not bear a mark are noisy; those that do, three of four, are not. */
static json_t *unmarked_ones_are_noisy(const struct cell *cell, unsigned block)
{
    json_t *record = probed(cell, block, false);
    if (block % 4 == 0)
        json_object_set_new(record, "throughput", json_real(block % 8 ? 700 : 1400));
    else
        json_object_set_new(record, "marks", json_pack("[s]", "steal"));
    return record;
}

/* Near in the first four blocks and far in the others, where all is noise. */
static json_t *noisy_when_far(const struct cell *cell, unsigned block)
{
    json_t *record = probed(cell, block, block >= 4);
    if (block >= 4 && cell->workers > 1)
        json_object_set_new(record, "throughput", json_real(block % 2 ? 700 : 1400));
    return record;
}

/* As much as there can be of everything. */
static json_t *all_is_noise_and_disturbed(const struct cell *cell, unsigned block)
{
    json_t *record = probed(cell, block, block % 2);
    json_object_set_new(record, "throughput", json_real(block % 2 ? 700 : 1400));
    json_object_set_new(record, "marks", json_pack("[s]", "steal"));
    return record;
}

/* And so is the first repetition. */
static json_t *second_block_is_disturbed(const struct cell *cell, unsigned block)
{
    json_t *record = steady(cell, block);
    if ((block == 1 || block == REPS) && strcmp(cell->variant, "gmp") == 0)
        json_object_set_new(record, "marks", json_pack("[s]", "steal"));
    return record;
}

/* Runs a whole sweep; the caller frees rule and plan. */
static unsigned run(struct stopping_rule *rule, struct sweep_file *sweep, sampler *sample)
{
    struct plan *plan = plan_make(sweep);
    stopping_rule_begin(rule, sweep, plan);
    return measure(rule, 0, BLOCKS_MAX, sample);
}

static void finish(struct stopping_rule *rule)
{
    struct plan *plan = rule->plan;
    stopping_rule_end(rule);
    plan_free(plan);
}

/* Tests --------------------------------------------------------------------------------------- */

static void without_width_each_cell_has_the_least(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(0);
    assert_int_equal(run(&rule, &sweep, noisy), REPS);
    for (size_t i = 0; i < rule.plan->count; i++)
        expect_stop(&rule, &rule.plan->cells[i], REPS, "reps");
    finish(&rule);
}

static void narrow_intervals_end_at_the_least(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(5);
    assert_int_equal(run(&rule, &sweep, steady), REPS);
    for (size_t i = 0; i < rule.plan->count; i++) {
        expect_stop(&rule, &rule.plan->cells[i], REPS, "width");
        assert_true(stopping_rule_width(&rule, &rule.plan->cells[i]) < 5);
    }
    finish(&rule);
}

static void one_wide_interval_keeps_its_whole_set_and_no_other(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(5);
    assert_int_equal(run(&rule, &sweep, grq_on_spawn_with_two_is_noisy), REPS_MAX);
    for (size_t i = 0; i < rule.plan->count; i++) {
        const struct cell *cell = &rule.plan->cells[i];
        if (is(cell, "grq", "spawn", 2))
            expect_stop(&rule, cell, REPS_MAX, "limit");
        else
            expect_stop(&rule, cell, is(cell, "gmp", "spawn", 2) ? REPS_MAX : REPS, "width");
    }
    finish(&rule);
}

/* A cell's own width counts in place of the sweep's. A cell that takes any keeps no set open. */
static void cells_may_have_a_width_of_their_own(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(5);
    struct plan *plan = plan_make(&sweep);
    for (size_t i = 0; i < plan->count; i++) {
        bool grq = strcmp(plan->cells[i].variant, "grq") == 0;
        plan->cells[i].own_widths = true;
        plan->cells[i].widths[0].percent = grq && plan->cells[i].workers == 1 ? 0.01 : 0;
    }
    stopping_rule_begin(&rule, &sweep, plan);
    measure(&rule, 0, BLOCKS_MAX, steady);
    for (size_t i = 0; i < plan->count; i++) {
        const struct cell *cell = &plan->cells[i];
        if (cell->workers == 1)
            expect_stop(&rule, cell, REPS_MAX, cell->widths[0].percent == 0 ? "reps" : "limit");
        else
            expect_stop(&rule, cell, REPS, "reps");
    }
    finish(&rule);
}

/* The workload finds zeros with gmp, unlike numbers with grq on fib, and none with grq on spawn. */
static json_t *steady_with_findings(const struct cell *cell, unsigned block)
{
    json_t *record = steady(cell, block);
    bool grq = strcmp(cell->variant, "grq") == 0;
    if (!grq || strcmp(cell->workload, "fib") == 0)
        json_object_set_new(record, "found",
                            json_pack("{si}", "waits_distinct", grq ? 10 + 10 * (block % 2) : 0));
    return record;
}

/* Numbers that are equal or missing are not narrowed by more samples. */
static void each_metric_has_to_be_narrow(void **state)
{
    (void)state;
    struct error error;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(5);
    struct plan *plan = plan_make(&sweep);
    for (size_t i = 0; i < plan->count; i++) {
        struct cell *cell = &plan->cells[i];
        cell->own_widths = true;
        cell->widths[0].percent = cell->widths[1].percent = 5; /* throughputs are narrow enough */
        assert_true(metric_parse(&cell->widths[1].metric, "waits_distinct", &error));
    }
    stopping_rule_begin(&rule, &sweep, plan);
    measure(&rule, 0, BLOCKS_MAX, steady_with_findings);
    for (size_t i = 0; i < plan->count; i++)
        expect_stop(&rule, &plan->cells[i],
                    strcmp(plan->cells[i].workload, "fib") == 0 ? REPS_MAX : REPS,
                    is(&plan->cells[i], "grq", "fib", plan->cells[i].workers) ? "limit" : "width");
    finish(&rule);
}

static void set_ends_when_its_widest_interval_is_narrow(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(5);
    sweep.reps_max = 40;
    unsigned blocks = run(&rule, &sweep, gmp_on_fib_with_one_settles);
    assert_in_range(blocks, REPS + 1, 39);
    for (size_t i = 0; i < rule.plan->count; i++) {
        const struct cell *cell = &rule.plan->cells[i];
        bool of_set = strcmp(cell->workload, "fib") == 0 && cell->workers == 1;
        expect_stop(&rule, cell, of_set ? blocks : REPS, "width");
    }
    finish(&rule);
}

static void width_is_that_of_the_samples_behind_the_numbers(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(5);
    sweep.reps = 12;
    sweep.reps_max = 40;
    run(&rule, &sweep, unmarked_ones_are_noisy);
    for (size_t i = 0; i < rule.plan->count; i++) {
        expect_stop(&rule, &rule.plan->cells[i], 40, "limit");
        assert_true(stopping_rule_width(&rule, &rule.plan->cells[i]) > 5);
    }
    finish(&rule);
}

static void no_interval_counts_with_too_few_samples(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(5);
    sweep.reps = 2;
    assert_int_equal(run(&rule, &sweep, steady), STATISTICS_INTERVAL_MIN);
    finish(&rule);
}

static void cell_without_a_median_holds_no_set(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(5);
    assert_int_equal(run(&rule, &sweep, grq_fails_once_else_noisy), REPS);
    for (size_t i = 0; i < rule.plan->count; i++) {
        const struct cell *cell = &rule.plan->cells[i];
        bool failed = strcmp(cell->variant, "grq") == 0;
        expect_stop(&rule, cell, REPS, failed ? "given-up" : "width");
        assert_true(failed == isnan(stopping_rule_width(&rule, cell)));
    }
    finish(&rule);
}

static void given_up_cells_are_in_no_block(void **state)
{
    (void)state;
    static const struct {
        sampler *sample;
        size_t samples;
    } cases[] = {{grq_is_skipped, 1}, {grq_hangs, 2}};
    for (size_t c = 0; c < 2; c++) {
        struct stopping_rule rule;
        struct sweep_file sweep = sweep_make(5);
        assert_int_equal(run(&rule, &sweep, cases[c].sample), REPS);
        for (size_t i = 0; i < rule.plan->count; i++) {
            const struct cell *cell = &rule.plan->cells[i];
            bool grq = strcmp(cell->variant, "grq") == 0;
            expect_stop(&rule, cell, grq ? cases[c].samples : REPS, grq ? "given-up" : "width");
        }
        finish(&rule);
    }
}

static void cell_that_had_not_ended_is_interrupted(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(5);
    struct plan *plan = plan_make(&sweep);
    stopping_rule_begin(&rule, &sweep, plan);
    measure(&rule, 0, REPS + 1, grq_on_spawn_with_two_is_noisy);
    for (size_t i = 0; i < plan->count; i++)
        assert_string_equal(stopping_rule_stop(&rule, &plan->cells[i]),
                            is(&plan->cells[i], "grq", "spawn", 2) ? "interrupted" : "width");
    finish(&rule);
}

/* Copies the first n notes of all cells together, in the order of measuring, to another plan, as
 * reading back the records of an interrupted sweep does. */
static void copy_notes(const struct plan *from, struct plan *to, unsigned blocks, size_t more,
                       sampler *sample)
{
    for (unsigned block = 0; block <= blocks; block++) {
        for (size_t i = 0; i < from->count; i++) {
            for (size_t k = 0; k < from->cells[i].notes_count; k++) {
                if (from->cells[i].notes[k].block != block || (block == blocks && more == 0))
                    continue;
                more -= block == blocks;
                to->cells[i].why = from->cells[i].notes[k].why;
                note(&to->cells[i], block, sample(&to->cells[i], block));
            }
        }
    }
}

static void sweep_goes_on_after_any_interruption_as_if_there_had_been_none(void **state)
{
    (void)state;
    static sampler *const samplers[] = {noisy,
                                        grq_on_spawn_with_two_is_noisy,
                                        gmp_on_fib_with_one_settles,
                                        grq_hangs,
                                        grq_is_skipped,
                                        fib_is_near_for_long,
                                        second_block_is_disturbed,
                                        noisy_when_far,
                                        unmarked_ones_are_noisy};
    for (size_t s = 0; s < sizeof samplers / sizeof samplers[0]; s++) {
        struct stopping_rule whole;
        struct sweep_file sweep = sweep_make(5);
        sweep.class_min = 3;
        sweep.repeat_disturbed = true;
        unsigned blocks = run(&whole, &sweep, samplers[s]);
        for (unsigned block = 0; block < blocks; block++) {
            /* each third place of a block, which ones changes with block and sampler */
            for (size_t more = (block + s) % 3; more < whole.plan->count; more += 3) {
                struct stopping_rule rule;
                struct plan *plan = plan_make(&sweep);
                stopping_rule_begin(&rule, &sweep, plan);
                copy_notes(whole.plan, plan, block, more, samplers[s]);
                assert_int_equal(measure(&rule, 0, BLOCKS_MAX, samplers[s]), blocks);
                for (size_t i = 0; i < plan->count; i++)
                    expect_stop(&rule, &plan->cells[i], whole.plan->cells[i].notes_count,
                                stopping_rule_stop(&whole, &whole.plan->cells[i]));
                finish(&rule);
            }
        }
        finish(&whole);
    }
}

/* Core distances and marks -------------------------------------------------------------------- */

static void cells_with_few_samples_of_the_common_distance_get_more(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(0);
    sweep.class_min = 3;
    run(&rule, &sweep, fib_is_near_for_long);
    assert_int_equal(rule.class, DISTANCE_FAR);
    /* One of the six is far, then three are not, then two are. */
    for (size_t i = 0; i < rule.plan->count; i++) {
        const struct cell *cell = &rule.plan->cells[i];
        bool rare = strcmp(cell->workload, "fib") == 0 && cell->workers == 2;
        expect_stop(&rule, cell, rare ? REPS + 3 + 2 : REPS, "reps");
        for (size_t k = 0; k < cell->notes_count; k++)
            assert_int_equal(cell->notes[k].why, k < REPS ? WHY_BLOCK : WHY_TOP_UP);
    }
    finish(&rule);
}

static void disturbed_samples_are_none_of_the_class(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(0);
    sweep.class_min = 5;
    run(&rule, &sweep, blocks_are_disturbed);
    for (size_t i = 0; i < rule.plan->count; i++) {
        const struct cell *cell = &rule.plan->cells[i];
        expect_stop(&rule, cell, REPS + (cell->workers == 2 ? 3 : 0), "reps");
    }
    finish(&rule);
}

static void top_ups_end_where_the_distance_does_not_come(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(0);
    sweep.class_min = 3;
    /* Both distances are as common, so one workload has too little of the one that is chosen. */
    run(&rule, &sweep, fib_is_never_far);
    bool far = rule.class == DISTANCE_FAR;
    for (size_t i = 0; i < rule.plan->count; i++) {
        const struct cell *cell = &rule.plan->cells[i];
        bool rare = cell->workers == 2 && (strcmp(cell->workload, "fib") == 0) == far;
        expect_stop(&rule, cell, REPS + (rare ? REPS_MAX : 0), rare ? "class-limit" : "reps");
    }
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    stopping_rule_tell(&rule, to);
    fclose(to);
    assert_non_null(strstr(text, "2 cells with fewer than 3 samples at core distance"));
    free(text);
    finish(&rule);
}

static void sweeps_end_with_the_last_block_that_is_told(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct stopping_rule rule;
        struct sweep_file sweep = sweep_make(i & 1 ? 5 : 0);
        sweep.repeat_disturbed = i & 2;
        sweep.class_min = i & 4 ? 3 : 0;
        assert_int_equal(run(&rule, &sweep, all_is_noise_and_disturbed),
                         stopping_rule_blocks_max(&sweep));
        finish(&rule);
    }
}

/* The workloads that are always far get all top-ups, and fib as many as for far alone. */
static void each_distance_may_be_topped_up(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(0);
    sweep.class_min = 3;
    sweep.class_each = true;
    run(&rule, &sweep, fib_is_near_for_long);
    for (size_t i = 0; i < rule.plan->count; i++) {
        const struct cell *cell = &rule.plan->cells[i];
        bool fib = strcmp(cell->workload, "fib") == 0;
        if (cell->workers == 1)
            expect_stop(&rule, cell, REPS, "reps");
        else
            expect_stop(&rule, cell, REPS + (fib ? 3 + 2 : REPS_MAX), fib ? "reps" : "class-limit");
    }
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    stopping_rule_tell(&rule, to);
    fclose(to);
    assert_non_null(strstr(text, "2 cells with fewer than 3 samples at each core distance"));
    free(text);
    finish(&rule);
}

static void one_distance_is_each_distance(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(0);
    sweep.class_min = 5;
    sweep.class_each = true;
    run(&rule, &sweep, blocks_are_disturbed);
    for (size_t i = 0; i < rule.plan->count; i++) {
        const struct cell *cell = &rule.plan->cells[i];
        expect_stop(&rule, cell, REPS + (cell->workers == 2 ? 3 : 0), "reps");
    }
    finish(&rule);
}

static void no_distances_no_top_ups(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(0);
    sweep.class_min = 1000;
    assert_int_equal(run(&rule, &sweep, steady), REPS);
    assert_int_equal(rule.class, DISTANCE_NONE);
    finish(&rule);
}

static void disturbed_samples_are_repeated_until_there_are_as_many_without(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(0);
    sweep.repeat_disturbed = true;
    assert_int_equal(run(&rule, &sweep, second_block_is_disturbed), REPS + 2);
    for (size_t i = 0; i < rule.plan->count; i++) {
        const struct cell *cell = &rule.plan->cells[i];
        bool gmp = strcmp(cell->variant, "gmp") == 0;
        expect_stop(&rule, cell, REPS + (gmp ? 2 : 0), "reps");
        if (gmp)
            assert_int_equal(cell->notes[REPS + 1].why, WHY_REPEAT);
    }
    finish(&rule);
}

static void disturbed_samples_stay_without_being_asked(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(0);
    assert_int_equal(run(&rule, &sweep, second_block_is_disturbed), REPS);
    finish(&rule);
}

static void second_sample_of_a_block_is_refused(void **state)
{
    (void)state;
    struct cell cell;
    memset(&cell, 0, sizeof cell);
    cell.why = WHY_BLOCK;
    note(&cell, 0, record_make("ok", 1));
    json_t *again = json_pack("{ss sf si}", "status", "ok", "throughput", 1.0, "block", 0);
    assert_false(stopping_rule_note(&cell, again));
    assert_int_equal(cell.notes_count, 1);
    json_decref(again);
    free(cell.notes);
}

static void plan_file_tells_why_each_cell_ended(void **state)
{
    (void)state;
    struct stopping_rule rule;
    struct sweep_file sweep = sweep_make(5);
    run(&rule, &sweep, grq_fails_once_else_noisy);
    json_t *object = stopping_rule_to_json(&rule);
    json_t *cells = json_object_get(object, "cells");
    assert_int_equal(json_array_size(cells), rule.plan->count);
    for (size_t i = 0; i < rule.plan->count; i++) {
        const json_t *cell = json_array_get(cells, i);
        bool grq = strcmp(rule.plan->cells[i].variant, "grq") == 0;
        assert_string_equal(json_string_value(json_object_get(cell, "cell")),
                            rule.plan->cells[i].id);
        assert_string_equal(json_string_value(json_object_get(cell, "stop")),
                            grq ? "given-up" : "width");
        assert_int_equal(json_integer_value(json_object_get(cell, "samples")), REPS);
        const json_t *width = json_object_get(cell, "width_percent");
        assert_true(grq ? json_object_get(width, "absent") != NULL : json_is_real(width));
    }
    json_decref(object);
    finish(&rule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_width_each_cell_has_the_least),
        cmocka_unit_test(narrow_intervals_end_at_the_least),
        cmocka_unit_test(one_wide_interval_keeps_its_whole_set_and_no_other),
        cmocka_unit_test(cells_may_have_a_width_of_their_own),
        cmocka_unit_test(each_metric_has_to_be_narrow),
        cmocka_unit_test(set_ends_when_its_widest_interval_is_narrow),
        cmocka_unit_test(width_is_that_of_the_samples_behind_the_numbers),
        cmocka_unit_test(no_interval_counts_with_too_few_samples),
        cmocka_unit_test(cell_without_a_median_holds_no_set),
        cmocka_unit_test(given_up_cells_are_in_no_block),
        cmocka_unit_test(cell_that_had_not_ended_is_interrupted),
        cmocka_unit_test(sweep_goes_on_after_any_interruption_as_if_there_had_been_none),
        cmocka_unit_test(cells_with_few_samples_of_the_common_distance_get_more),
        cmocka_unit_test(disturbed_samples_are_none_of_the_class),
        cmocka_unit_test(top_ups_end_where_the_distance_does_not_come),
        cmocka_unit_test(each_distance_may_be_topped_up),
        cmocka_unit_test(one_distance_is_each_distance),
        cmocka_unit_test(no_distances_no_top_ups),
        cmocka_unit_test(disturbed_samples_are_repeated_until_there_are_as_many_without),
        cmocka_unit_test(sweeps_end_with_the_last_block_that_is_told),
        cmocka_unit_test(disturbed_samples_stay_without_being_asked),
        cmocka_unit_test(second_sample_of_a_block_is_refused),
        cmocka_unit_test(plan_file_tells_why_each_cell_ended),
    };
    return cmocka_run_group_tests_name("needs", tests, NULL, NULL);
}
