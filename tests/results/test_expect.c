/* test_expect.c - when a run agrees with what was measured elsewhere. */
#include "harness/report/report_expect.h"
#include "tests/support/report_cell.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_judged(double measured, double expected, double within,
                          enum expect_outcome outcome, double times)
{
    struct expect_verdict verdict = expect_judge(measured, expected, within);
    assert_int_equal(verdict.outcome, outcome);
    assert_true(isnan(times) ? isnan(verdict.times) : fabs(verdict.times - times) < 1e-12);
}

static void what_is_within_the_factor_agrees_in_both_directions(void **state)
{
    (void)state;
    assert_judged(10, 10, 1, EXPECT_AGREES, 1);
    assert_judged(15, 10, 1.5, EXPECT_AGREES, 1.5);
    assert_judged(10, 15, 1.5, EXPECT_AGREES, 10.0 / 15);
    assert_judged(1.1 * 3, 3, 1.1, EXPECT_AGREES, 1.1); /* what is rounded differs by no more */
    assert_judged(3, 1.1 * 3, 1.1, EXPECT_AGREES, 1 / 1.1);
}

static void what_is_beyond_it_differs_by_its_multiple(void **state)
{
    (void)state;
    assert_judged(15.1, 10, 1.5, EXPECT_DIFFERS, 1.51);
    assert_judged(10, 15.1, 1.5, EXPECT_DIFFERS, 10 / 15.1);
    assert_judged(11, 10, 1, EXPECT_DIFFERS, 1.1);
    assert_judged(0, 10, 1000, EXPECT_DIFFERS, 0);
}

static void without_a_number_nothing_is_judged(void **state)
{
    (void)state;
    assert_judged(NAN, 10, 1.5, EXPECT_NOT_MEASURED, NAN);
    assert_judged(INFINITY, 10, 1.5, EXPECT_NOT_MEASURED, NAN);
}

static void the_metric_says_which_number_of_the_cell_it_is(void **state)
{
    (void)state;
    struct report_event events[] = {
        {.name = "sde:::schedlab::PARKS", .per_op = {2, 1, 3, CELL_SAMPLES}, .value = 200},
        {.name = "sde:::schedlab::PROCESS_THREADS", .per_op = {NAN, NAN, NAN, 0}, .value = 5},
        {.name = "perf::FAULTS", .absent = "none here", .per_op = {1, 1, 1, 1}, .value = 1}};
    struct report_cell one = cell("a", 1, 90, 110);
    one.events = events;
    one.events_count = sizeof events / sizeof events[0];
    struct report_latency latency = {.group = "g", .id = "a", .quantile = 0.5, .ns = {7, 6, 8, 9}};
    one.latencies = &latency;
    one.latencies_count = 1;
    const struct {
        char *metric;
        double number;
    } cases[] = {
        {"throughput", 100},   {"p50", 7},     {"p99", NAN}, {"PARKS", 2}, {"PROCESS_THREADS", 5},
        {"perf::FAULTS", NAN}, {"STEALS", NAN}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sweep_expect expect = {.metric = cases[i].metric};
        double number = expect_measured(&one, &expect).median;
        assert_true(isnan(cases[i].number) ? isnan(number) : number == cases[i].number);
    }
    struct sweep_expect expect = {.metric = "throughput"};
    one.status = "failed";
    assert_true(isnan(expect_measured(&one, &expect).median));
    assert_true(isnan(expect_measured(NULL, &expect).median));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_within_the_factor_agrees_in_both_directions),
        cmocka_unit_test(what_is_beyond_it_differs_by_its_multiple),
        cmocka_unit_test(without_a_number_nothing_is_judged),
        cmocka_unit_test(the_metric_says_which_number_of_the_cell_it_is),
    };
    return cmocka_run_group_tests_name("expect", tests, NULL, NULL);
}
