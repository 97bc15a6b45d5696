/* test_core_distance.c - when probes fall into two classes, near and far, and which samples lie
 * in which. */
#include "harness/evidence/cell_remarks.h"
#include "harness/evidence/core_distance.h"
#include "harness/run/run_answer.h"
#include "harness/run/run_table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.15g, expected %.15g", found, expected);
}

static void two_distances_are_told_apart(void **state)
{
    (void)state;
    const double probes[] = {50, 360, 52, 48, 355, 51, 365};
    struct core_distances distances;
    core_distances_learn(&distances, probes, 7);
    near(distances.near_ns, exp((log(50) + log(52) + log(48) + log(51)) / 4));
    near(distances.far_ns, exp((log(360) + log(355) + log(365)) / 3));
    near(distances.threshold_ns, sqrt(distances.near_ns * distances.far_ns));
    assert_int_equal(distances.count[DISTANCE_NEAR], 4);
    assert_int_equal(distances.count[DISTANCE_FAR], 3);
    assert_int_equal(distances.count[DISTANCE_NONE], 0);
    assert_int_equal(core_distance_of(&distances, 55, 60), DISTANCE_NEAR);
    assert_int_equal(core_distance_of(&distances, 300, 400), DISTANCE_FAR);
    assert_int_equal(core_distance_of(&distances, 55, 300), DISTANCE_MIXED);
    assert_int_equal(core_distance_of(&distances, 300, 55), DISTANCE_MIXED);
}

static void one_odd_probe_is_no_distance(void **state)
{
    (void)state;
    const double one[] = {50, 52, 9000, 48, 51, 55}, two[] = {9000, 50, 125, 52, 130, 128, 51};
    const double few[] = {50, 52, 9000, 48}, low[] = {2, 52, 49, 48, 51, 55};
    struct core_distances distances;
    core_distances_learn(&distances, one, 6);
    assert_true(isnan(distances.threshold_ns) && isnan(distances.far_ns));
    near(distances.near_ns, exp((log(50) + log(52) + log(48) + log(51) + log(55)) / 5));
    assert_int_equal(distances.count[DISTANCE_NEAR], 6);
    core_distances_learn(&distances, two, 7);
    near(distances.far_ns, exp((log(125) + log(130) + log(128)) / 3));
    assert_int_equal(distances.count[DISTANCE_NEAR], 3);
    assert_int_equal(distances.count[DISTANCE_FAR], 4);
    core_distances_learn(&distances, few, 4);
    assert_int_equal(distances.count[DISTANCE_FAR], 1);
    core_distances_learn(&distances, low, 6);
    assert_true(isnan(distances.threshold_ns));
    assert_true(distances.near_ns > 48 && distances.near_ns < 55);
}

static void noise_of_one_distance_is_one_class(void **state)
{
    (void)state;
    const double probes[] = {50, 60, 52, 65, 55, 58, 62};
    struct core_distances distances;
    core_distances_learn(&distances, probes, 7);
    assert_true(isnan(distances.threshold_ns) && isnan(distances.far_ns));
    assert_true(distances.near_ns > 50 && distances.near_ns < 65);
    assert_int_equal(distances.count[DISTANCE_NEAR], 7);
    assert_int_equal(distances.count[DISTANCE_FAR], 0);
    assert_int_equal(core_distance_of(&distances, 50, 5000), DISTANCE_NEAR);
}

static void centres_differ_by_half_at_least(void **state)
{
    (void)state;
    const double apart[] = {100, 100, 151}, together[] = {100, 100, 149};
    struct core_distances distances;
    core_distances_learn(&distances, apart, 3);
    assert_int_equal(distances.count[DISTANCE_FAR], 1);
    core_distances_learn(&distances, together, 3);
    assert_int_equal(distances.count[DISTANCE_FAR], 0);
}

static void missing_probes_teach_nothing(void **state)
{
    (void)state;
    const double probes[] = {NAN, 50, 0, -1, 350, NAN};
    struct core_distances distances;
    core_distances_learn(&distances, probes, 6);
    assert_int_equal(distances.count[DISTANCE_NONE], 4);
    assert_int_equal(distances.count[DISTANCE_NEAR], 1);
    assert_int_equal(distances.count[DISTANCE_FAR], 1);
    assert_int_equal(core_distance_of(&distances, NAN, NAN), DISTANCE_NONE);
    assert_int_equal(core_distance_of(&distances, NAN, 340), DISTANCE_FAR);
    assert_int_equal(core_distance_of(&distances, 51, NAN), DISTANCE_NEAR);
    core_distances_learn(&distances, NULL, 0);
    assert_true(isnan(distances.near_ns) && isnan(distances.threshold_ns));
    assert_int_equal(core_distance_of(&distances, NAN, NAN), DISTANCE_NONE);
    const double one[] = {50};
    core_distances_learn(&distances, one, 1);
    near(distances.near_ns, 50);
    assert_int_equal(distances.count[DISTANCE_NEAR], 1);
}

static void distances_have_names(void **state)
{
    (void)state;
    assert_string_equal(core_distance_text(DISTANCE_NONE), "-");
    assert_string_equal(core_distance_text(DISTANCE_NEAR), "near");
    assert_string_equal(core_distance_text(DISTANCE_FAR), "far");
    assert_string_equal(core_distance_text(DISTANCE_MIXED), "mixed");
}

static void print(const struct run_table *table, FILE *to, FILE *messages)
{
    struct run_answers answers;
    run_answers_make(&answers, table);
    run_table_print(table, &answers.of[0], to, messages);
    run_answers_free(&answers);
}

/* The remarks of `schedlab run` on three samples, the first two near and the last one at far_ns. */
static void remarks_on(double far_ns, char *messages, size_t size)
{
    const double line_ns[] = {50, 52, far_ns};
    struct run_row row = {.variant = "gmp", .label = "gmp", .records = json_array()};
    struct run_table table = {
        .workload = "fib", .op = "task", .workers = 2, .rows = &row, .count = 1, .seed = 1};
    for (size_t i = 0; i < 3; i++)
        json_array_append_new(row.records,
                              json_pack("{ss si sf s{s{sf} s{sf}}}", "status", "ok", "workers", 2,
                                        "throughput", 1e6, "probe", "before", "line_ns", line_ns[i],
                                        "after", "line_ns", line_ns[i]));
    memset(messages, 0, size);
    FILE *to = fopen("/dev/null", "w"), *remarks = fmemopen(messages, size, "w");
    if (!to || !remarks)
        abort();
    print(&table, to, remarks);
    fclose(to);
    fclose(remarks);
    json_decref(row.records);
}

static void run_says_that_its_samples_were_disturbed(void **state)
{
    (void)state;
    char messages[1024] = "";
    struct run_row row = {.variant = "gmp", .label = "gmp", .records = json_array()};
    struct run_table table = {
        .workload = "fib", .op = "task", .workers = 1, .rows = &row, .count = 1, .seed = 1};
    for (size_t i = 0; i < 3; i++)
        json_array_append_new(
            row.records, json_pack("{ss si sf}", "status", "ok", "workers", 1, "throughput", 1e6));
    json_object_set_new(json_array_get(row.records, 1), "marks", json_pack("[s]", "steal"));
    char table_text[1024] = "";
    FILE *to = fmemopen(table_text, sizeof table_text, "w");
    FILE *remarks = fmemopen(messages, sizeof messages, "w");
    print(&table, to, remarks);
    fclose(to);
    fclose(remarks);
    json_decref(row.records);
    assert_non_null(strstr(messages, "1 of 3 repetitions lost time"));
    assert_non_null(strstr(table_text, "too few"));
}

static void run_says_that_its_cores_were_at_several_distances(void **state)
{
    (void)state;
    char messages[1024] = "";
    remarks_on(350, messages, sizeof messages);
    assert_non_null(strstr(messages, "2 near (51 ns from core to core and back), 1 far (350 ns)"));
    remarks_on(54, messages, sizeof messages);
    assert_null(strstr(messages, "distances"));
}

/* Its remarks on two samples in which sysmon slept at its longest for so many of 1000 ns. */
static void remarks_on_sysmon(double first, double second, double calls, char *messages,
                              size_t size)
{
    const double long_ns[] = {first, second};
    struct run_row row = {.variant = "gmp", .label = "gmp", .records = json_array()};
    struct run_table table = {
        .workload = "calls", .op = "call", .workers = 2, .rows = &row, .count = 1, .seed = 1};
    for (size_t i = 0; i < 2; i++)
        json_array_append_new(row.records,
                              json_pack("{ss si sf s[{ss sf} {ss sf}]}", "status", "ok", "workers",
                                        2, "throughput", 1e6, "events", "name",
                                        "sde:::schedlab::SYSMON_LONG_NS", "per_op", long_ns[i],
                                        "name", "sde:::schedlab::CALLS", "per_op", calls));
    memset(messages, 0, size);
    FILE *to = fopen("/dev/null", "w"), *remarks = fmemopen(messages, size, "w");
    if (!to || !remarks)
        abort();
    print(&table, to, remarks);
    fclose(to);
    fclose(remarks);
    /* and of tables, reports and comparisons */
    char text[CELL_REMARKS_SIZE];
    assert_int_equal(cell_remarks(row.records, text), strstr(messages, "sysmon") != NULL);
    json_decref(row.records);
}

static void run_says_that_sysmon_was_slow_in_some_samples(void **state)
{
    (void)state;
    char messages[1024] = "";
    remarks_on_sysmon(900, 10, 1, messages, sizeof messages);
    assert_non_null(
        strstr(messages, "gmp: sysmon slept at its longest most of the time in 1 of 2"));
    remarks_on_sysmon(900, 800, 1, messages, sizeof messages);
    assert_null(strstr(messages, "sysmon"));
    remarks_on_sysmon(900, 10, 0, messages, sizeof messages); /* it had nothing to take away */
    assert_null(strstr(messages, "sysmon"));
}

/* A record of a cell with 4 workers and 1 us of time an operation. */
static json_t *record_of_waste(int cores, double wasted_ns, int64_t longest_ns)
{
    return json_pack("{ss si si sf s{sI sI sI} s[{ss sf}]}", "status", "ok", "workers", 4, "cores",
                     cores, "throughput", 1e6, "waits", "p50_ns", (json_int_t)1, "p99_ns",
                     (json_int_t)2, "longest_ns", (json_int_t)longest_ns, "events", "name",
                     "sde:::schedlab::SIM_WASTED_NS", "per_op", wasted_ns);
}

static bool remark_is(json_t *records, const char *expected)
{
    char text[CELL_REMARK_SIZE];
    bool made = cell_remark_wasted(records, text);
    json_decref(records);
    return expected ? made && strstr(text, expected) : !made && !*text;
}

static void cores_idle_beside_work_are_remarked_on(void **state)
{
    (void)state;
    json_t *both = json_pack("[oo]", record_of_waste(8, 600, 3000), record_of_waste(8, 1400, 5000));
    assert_true(
        remark_is(both, "for 25 % of their time (SIM_WASTED_NS); the longest wait took 5.00"));
    assert_true(remark_is(json_pack("[o]", record_of_waste(8, 399, 3000)), NULL));
    /* of two cores there are no four */
    assert_true(remark_is(json_pack("[o]", record_of_waste(2, 399, 3000)), "for 20 % of"));
}

/* Six samples, two of them slow; STEALS tells the two apart and SPINS does not. */
static json_t *records_of_regimes(double slow)
{
    static const double steals[] = {0.001, 0.5, 0.002, 0.6, 0.001, 0.002};
    json_t *records = json_array();
    for (int i = 0; i < 6; i++)
        json_array_append_new(
            records, json_pack("{ss si sf s[{ss sf}{ss sf}]}", "status", "ok", "workers", 1,
                               "throughput", (i % 2 && i < 4 ? slow : 60e6) + 1e5 * i, "events",
                               "name", "sde:::schedlab::SPINS", "per_op", 1.0 + i, "name",
                               "sde:::schedlab::STEALS", "per_op", steals[i]));
    return records;
}

static void two_regimes_are_remarked_on(void **state)
{
    (void)state;
    char text[CELL_REMARK_SIZE];
    json_t *records = records_of_regimes(20e6);
    assert_true(cell_remark_regimes(records, text));
    assert_non_null(strstr(text, "two regimes: 2 of 6 samples at 20.2 M/s, 4 at 60.3 M/s"));
    assert_non_null(strstr(text, "; they differ in STEALS 0.55 and 0.0015"));
    assert_null(strstr(text, "SPINS"));
    json_decref(records);
    records = records_of_regimes(59e6);
    assert_false(cell_remark_regimes(records, text));
    assert_string_equal(text, "");
    json_decref(records);
}

static json_t *record_of_looks(int64_t looks, int64_t wasted)
{
    return json_pack("[{ss s[{ss sI} {ss sI}]}]", "status", "ok", "events", "name",
                     "sde:::schedlab::SYSMON_ROUNDS", "value", (json_int_t)looks, "name",
                     "sde:::schedlab::WASTED_SAMPLES", "value", (json_int_t)wasted);
}

static void sysmons_looks_are_an_estimate_of_it(void **state)
{
    (void)state;
    assert_true(remark_is(record_of_looks(1000, 250), "25 % of sysmon's looks found a P idle"));
    assert_true(remark_is(record_of_looks(1000, 99), NULL));
    assert_true(remark_is(record_of_looks(999, 250), NULL)); /* too few looks */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_distances_are_told_apart),
        cmocka_unit_test(one_odd_probe_is_no_distance),
        cmocka_unit_test(noise_of_one_distance_is_one_class),
        cmocka_unit_test(centres_differ_by_half_at_least),
        cmocka_unit_test(missing_probes_teach_nothing),
        cmocka_unit_test(distances_have_names),
        cmocka_unit_test(run_says_that_its_samples_were_disturbed),
        cmocka_unit_test(run_says_that_sysmon_was_slow_in_some_samples),
        cmocka_unit_test(cores_idle_beside_work_are_remarked_on),
        cmocka_unit_test(two_regimes_are_remarked_on),
        cmocka_unit_test(sysmons_looks_are_an_estimate_of_it),
        cmocka_unit_test(run_says_that_its_cores_were_at_several_distances),
    };
    return cmocka_run_group_tests_name("core_distance", tests, NULL, NULL);
}
