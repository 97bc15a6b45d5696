/* test_audit.c - audits of made-up runs: what holds and what does not, and how often things are
 * found whose truth is known. */
#include "harness/audit/audit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 20, SAMPLES = 10, CELLS = 4 };

/* Cells of a sweep whose rounds have SAMPLES blocks, whatever they show. */
static char *variants[] = {"gmp"};
static char *workloads[CELLS] = {"fib,n=1", "fib,n=2", "fib,n=3", "fib,n=4"};
static int64_t workers_alone[] = {1}, workers_two[] = {2};
static struct sweep_group group = {.id = "cells",
                                   .variants = variants,
                                   .variants_count = 1,
                                   .workloads = workloads,
                                   .workloads_count = CELLS,
                                   .workers = workers_alone,
                                   .workers_count = 1};
static const struct sweep_file fixed = {
    .reps = SAMPLES, .reps_max = SAMPLES, .groups = &group, .groups_count = 1};

/* Noise from 0 to 1. */
static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* How fast a side of a cell is, beside 1 for side a. */
struct world {
    double speed[AUDIT_SIDES];
    double noise; /* a throughput is up to this share higher */
    uint64_t seed;
};

static int blocks = BLOCKS; /* of each order */

static json_t *record_of(const struct cell *cell, int block, double throughput)
{
    json_t *record = json_pack("{ss ss ss ss si ss ss ss si sf}", "cell", cell->id, "variant",
                               cell->variant, "workload", cell->workload, "machine", "native",
                               "workers", cell->workers, "status", "ok", "digest", "1", "side",
                               cell->side->name, "block", block, "throughput", throughput);
    assert_non_null(record);
    return record;
}

static json_t *records_of(const struct world *world)
{
    json_t *records = json_array();
    uint64_t random = world->seed;
    struct plan *plan = audit_plan(&fixed);
    for (int block = 0; block < blocks; block++)
        for (size_t i = 0; i < plan->count; i++) {
            const struct cell *cell = &plan->cells[i];
            double speed = world->speed[cell->side - audit_sides];
            json_array_append_new(
                records,
                record_of(cell, block, 1000 * speed * (1 + world->noise * uniform(&random))));
        }
    plan_free(plan);
    return records;
}

static struct audit audit_by(const struct sweep_file *rule, const struct world *forward,
                             const struct world *backward)
{
    struct audit audit;
    json_t *first = records_of(forward), *second = records_of(backward);
    audit_judge(&audit, rule, first, second, 0.05);
    json_decref(first);
    json_decref(second);
    return audit;
}

static struct audit audit_of(const struct world *forward, const struct world *backward)
{
    return audit_by(&fixed, forward, backward);
}

#define SLOWER                                                                                     \
    {                                                                                              \
        1, 1, 1 / 1.02, 1 / 1.05, 1 / 1.10                                                         \
    }

static void quiet_machine_passes_and_finds_slowdowns(void **state)
{
    (void)state;
    const struct world forward = {SLOWER, 0.03, 1}, backward = {SLOWER, 0.03, 2};
    struct audit audit = audit_of(&forward, &backward);
    assert_int_equal(audit.cells, CELLS);
    /* Two rounds a run, two runs. */
    assert_int_equal(audit.same.comparisons, 2 * 2 * CELLS);
    assert_int_equal(audit.slower[2].comparisons, 2 * 2 * CELLS);
    assert_int_equal(audit.slower[2].found, audit.slower[2].comparisons);
    assert_int_equal(audit.slower[1].found, audit.slower[1].comparisons);
    assert_true(audit.slower[0].found <= audit.slower[1].found);
    assert_true(audit.slower[0].found > audit.same.found);
    assert_true(audit.slower[2].found_adjusted <= audit.slower[2].found);
    assert_true(fabs(audit.slower[2].ratio.median - 1 / 1.10) < 0.01);
    assert_int_equal(audit_outcome(&audit), AUDIT_HOLDS);
    assert_int_equal(audit.order_comparisons, (AUDIT_SIDES - 1) * CELLS);
    assert_true(audit.order_decided >= 2 * CELLS);
    assert_int_equal(audit.order_reversed, 0);
    assert_int_equal(audit.swap_comparisons, (AUDIT_SIDES - 1) * CELLS);
    assert_int_equal(audit.swap_changed, 0);
    assert_int_equal(audit.verdicts.comparisons, 4);
    assert_true(audit_verdicts_hold(&audit));
    /* A promise that no comparison supports does not hold. */
    audit.verdicts.comparisons = audit.verdicts.found = 0;
    assert_false(audit_verdicts_hold(&audit));
    assert_int_equal(audit_outcome(&audit), AUDIT_FAILS);
}

static void difference_between_equal_labels_does_not_pass(void **state)
{
    (void)state;
    const struct world biased = {{1, 1.05, 1, 1, 1}, 0.03, 1};
    struct audit audit = audit_of(&biased, &biased);
    assert_int_equal(audit.same.found, audit.same.comparisons);
    assert_true(audit.same.found > audit.allowed);
    assert_false(audit_false_positives_hold(&audit));
    /* Two rounds a run, two runs: the report would name a winner in each. */
    assert_int_equal(audit.verdicts.comparisons, 4);
    assert_int_equal(audit.verdicts.found, 4);
    assert_false(audit_verdicts_hold(&audit));
    assert_true(audit_order_holds(&audit));
    assert_int_equal(audit_outcome(&audit), AUDIT_FAILS);
}

static void order_that_turns_verdicts_around_does_not_pass(void **state)
{
    (void)state;
    const struct world forward = {{1, 1, 1, 1, 0.9}, 0.03, 1};
    const struct world backward = {{1, 1, 1, 1, 1.1}, 0.03, 2};
    struct audit audit = audit_of(&forward, &backward);
    assert_int_equal(audit.order_reversed, CELLS);
    assert_false(audit_order_holds(&audit));
    assert_int_equal(audit_outcome(&audit), AUDIT_FAILS);
    /* Faster than it should be is not found to be slower. */
    assert_int_equal(audit.slower[2].found, audit.slower[2].comparisons / 2);
}

static void audit_that_finds_nothing_says_nothing(void **state)
{
    (void)state;
    const struct world forward = {SLOWER, 5, 1}, backward = {SLOWER, 5, 2};
    struct audit audit = audit_of(&forward, &backward);
    assert_true(audit.slower[2].found < audit.slower[2].comparisons / 2);
    assert_true(audit_false_positives_hold(&audit) && audit_order_holds(&audit));
    assert_int_equal(audit_outcome(&audit), AUDIT_SAYS_NOTHING);
    json_t *json = audit_to_json(&audit, NULL);
    assert_true(json_is_false(json_object_get(json, "holds")));
    assert_string_equal(json_string_value(json_object_get(json, "outcome")), "says nothing");
    json_decref(json);
}

/* With 7 of 10 samples marked, 3 against 3 remain, whose p is 0.1 at least. */
static void pairs_too_small_to_differ_are_no_tests_of_equals_and_find_nothing(void **state)
{
    (void)state;
    const struct world world = {SLOWER, 0.03, 1};
    struct audit audit;
    json_t *first = records_of(&world), *second = records_of(&world), *record;
    size_t i;
    json_array_foreach(first, i, record)
    {
        if (json_integer_value(json_object_get(record, "block")) % 10 >= 3)
            json_object_set_new(record, "marks", json_pack("[s]", "steal"));
    }
    audit_judge(&audit, &fixed, first, second, 0.05);
    assert_int_equal(audit.same.comparisons, 2 * CELLS);
    assert_int_equal(audit.same.too_few, 2 * CELLS);
    /* A slowdown that cannot be shown is one that is not found. */
    assert_int_equal(audit.slower[2].too_few, 2 * CELLS);
    assert_int_equal(audit.slower[2].comparisons, 4 * CELLS);
    assert_true(audit.slower[2].found <= 2 * CELLS);
    json_decref(first);
    json_decref(second);
}

/* More than 3 of 16 tests at 5 % are false in 0.7 % of all cases, more than 2 in 4.3 %: the
 * binomial distribution. Clopper and Pearson's interval of none of 16 ends at 1 - 0.025^(1/16). */
static void allowance_and_interval_are_binomial(void **state)
{
    (void)state;
    const struct world quiet = {{1, 1, 1, 1, 1}, 0, 1};
    struct audit audit = audit_of(&quiet, &quiet);
    assert_int_equal(audit.same.comparisons, 16);
    assert_int_equal(audit.same.found, 0);
    assert_int_equal(audit.allowed, 3);
    assert_true(audit.same.lo == 0);
    assert_true(fabs(audit.same.hi - (1 - pow(0.025, 1.0 / 16))) < 1e-9);
}

/* Rounds that go on until intervals are narrow look at their samples before they end. Noise is such
 * that some end early and some at the limit. */
static void stopping_by_width_keeps_the_promise_and_the_power(void **state)
{
    (void)state;
    struct sweep_file rule = fixed;
    rule.reps = 6;
    rule.reps_max = 18;
    rule.width = 5;
    const struct world forward = {SLOWER, 0.08, 1}, backward = {SLOWER, 0.08, 2};
    blocks = 90;
    struct audit audit = audit_by(&rule, &forward, &backward);
    blocks = BLOCKS;
    assert_int_equal(audit.samples, 6);
    assert_true(audit.rounds.blocks_least < audit.rounds.blocks_most);
    assert_int_equal(audit.rounds.blocks_most, 18);
    assert_true(audit.rounds.by_width > 0 && audit.rounds.at_limit > 0);
    assert_int_equal(audit.rounds.by_width + audit.rounds.at_limit,
                     audit.rounds.count * CELLS * AUDIT_SIDES);
    assert_int_equal(audit.same.comparisons, audit.rounds.count * CELLS);
    assert_true(audit.same.comparisons > 36);
    assert_true(audit_false_positives_hold(&audit));
    assert_true(audit_verdicts_hold(&audit));
    assert_true(audit.same.lo < 0.05);
    assert_int_equal(audit.slower[2].found, audit.slower[2].comparisons);
    assert_true(audit.slower[1].found > audit.slower[1].comparisons * 8 / 10);
    assert_int_equal(audit_outcome(&audit), AUDIT_HOLDS);
}

/* In a round of 6 blocks where each other sample is disturbed, 3 of a cell are to be repeated, and
 * each other one of these. */
static void rounds_repeat_what_was_disturbed(void **state)
{
    (void)state;
    struct sweep_file rule = fixed;
    rule.reps = rule.reps_max = 6;
    rule.repeat_disturbed = 1;
    const struct world world = {SLOWER, 0.03, 1};
    struct audit audit;
    json_t *records = records_of(&world), *none = json_array(), *record;
    size_t i;
    json_array_foreach(records, i, record)
    {
        if (json_integer_value(json_object_get(record, "block")) % 2 == 0)
            json_object_set_new(record, "marks", json_pack("[s]", "steal"));
    }
    audit_judge(&audit, &rule, records, none, 0.05);
    /* 6 clean samples are in the first 12 blocks; the 8 that are left do not make a second. */
    assert_int_equal(audit.rounds.count, 1);
    assert_int_equal(audit.rounds.blocks_most, 12);
    assert_int_equal(audit.rounds.after_blocks, 6 * CELLS * AUDIT_SIDES);
    json_decref(records);
    json_decref(none);
}

/* Near for three blocks in four: 6 of a round of 8, and 8 are wanted. The first round finds them in
 * the next two blocks, the second in the next three. */
static void rounds_top_up_the_common_distance(void **state)
{
    (void)state;
    struct sweep_file rule = fixed;
    rule.reps = rule.reps_max = 8;
    rule.class_min = 8;
    group.workers = workers_two;
    blocks = 24;
    const struct world world = {SLOWER, 0.03, 1};
    struct audit audit;
    json_t *records = records_of(&world), *none = json_array(), *record;
    size_t i;
    json_array_foreach(records, i, record)
    {
        double ns = json_integer_value(json_object_get(record, "block")) % 4 == 3 ? 360 : 60;
        json_object_set_new(
            record, "probe",
            json_pack("{s{sf} s{sf}}", "before", "line_ns", ns, "after", "line_ns", ns));
    }
    audit_judge(&audit, &rule, records, none, 0.05);
    group.workers = workers_alone;
    blocks = BLOCKS;
    assert_int_equal(audit.rounds.count, 2);
    assert_int_equal(audit.rounds.blocks_least, 10);
    assert_int_equal(audit.rounds.blocks_most, 11);
    assert_int_equal(audit.rounds.after_blocks, (2 + 3) * CELLS * AUDIT_SIDES);
    assert_int_equal(audit.slower[2].found, 2 * CELLS);
    json_decref(records);
    json_decref(none);
}

static void nothing_measured_does_not_pass(void **state)
{
    (void)state;
    struct audit audit;
    json_t *none = json_array();
    audit_judge(&audit, &fixed, none, none, 0.05);
    assert_int_equal(audit_outcome(&audit), AUDIT_FAILS);
    json_t *json = audit_to_json(&audit, NULL);
    assert_true(json_is_false(json_object_get(json, "holds")));
    assert_null(json_object_get(json_object_get(json, "false_positives"), "share"));
    json_decref(json);
    json_decref(none);
}

static void result_is_the_same_as_json_and_as_a_table(void **state)
{
    (void)state;
    const struct world forward = {SLOWER, 0.03, 1}, backward = {SLOWER, 0.03, 2};
    struct audit audit = audit_of(&forward, &backward);
    json_t *environment = json_pack("{s{ss}}", "cpu", "model", "x");
    json_t *json = audit_to_json(&audit, environment);
    const json_t *ten = json_array_get(json_object_get(json, "power"), 2);
    assert_int_equal(json_integer_value(json_object_get(ten, "slowdown_percent")), 10);
    assert_int_equal(json_integer_value(json_object_get(ten, "found")), audit.slower[2].found);
    assert_true(json_is_true(json_object_get(json, "holds")));
    assert_non_null(json_object_get(json, "cpu"));
    json_decref(json);
    json_decref(environment);
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    audit_print(&audit, to);
    fclose(to);
    assert_non_null(strstr(text, "\n  slowed down by 10 %     16     16  100 %"));
    assert_non_null(strstr(text, "0.909"));
    size_t columns = 0;
    for (const char *at = text; *at; at++) {
        columns = *at == '\n' ? 0 : columns + ((*at & 0xc0) != 0x80);
        assert_true(columns <= 100);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quiet_machine_passes_and_finds_slowdowns),
        cmocka_unit_test(difference_between_equal_labels_does_not_pass),
        cmocka_unit_test(order_that_turns_verdicts_around_does_not_pass),
        cmocka_unit_test(audit_that_finds_nothing_says_nothing),
        cmocka_unit_test(pairs_too_small_to_differ_are_no_tests_of_equals_and_find_nothing),
        cmocka_unit_test(allowance_and_interval_are_binomial),
        cmocka_unit_test(stopping_by_width_keeps_the_promise_and_the_power),
        cmocka_unit_test(rounds_repeat_what_was_disturbed),
        cmocka_unit_test(rounds_top_up_the_common_distance),
        cmocka_unit_test(nothing_measured_does_not_pass),
        cmocka_unit_test(result_is_the_same_as_json_and_as_a_table),
    };
    return cmocka_run_group_tests_name("audit", tests, NULL, NULL);
}
