/* test_statistics.c - medians, ratios and their intervals: exact where an answer is known, and the
 * stated coverage where it is not. All seeds are fixed. */
#include "harness/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { TRIALS = 400, TRIAL_N = 15 };

static void median_of_odd_and_even_counts(void **state)
{
    (void)state;
    const double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2};
    assert_true(statistics_median(odd, 3, 1).median == 3);
    assert_true(statistics_median(even, 4, 1).median == 2.5);
}

static void median_leaves_its_input_alone(void **state)
{
    (void)state;
    const double x[] = {5, 1, 3, 9, 7};
    statistics_median(x, 5, 1);
    assert_true(x[0] == 5 && x[1] == 1 && x[2] == 3 && x[3] == 9 && x[4] == 7);
}

static void no_samples_give_no_numbers(void **state)
{
    (void)state;
    struct interval interval = statistics_median(NULL, 0, 1);
    assert_true(isnan(interval.median) && isnan(interval.lo) && isnan(interval.hi));
    assert_int_equal(interval.n, 0);
    const double one[] = {1};
    assert_true(isnan(statistics_ratio(one, 1, NULL, 0, 1).median));
}

static void one_or_two_samples_give_their_extremes(void **state)
{
    (void)state;
    const double x[] = {4, 2};
    struct interval one = statistics_median(x, 1, 1), two = statistics_median(x, 2, 1);
    assert_true(one.lo == 4 && one.median == 4 && one.hi == 4);
    assert_true(two.lo == 2 && two.median == 3 && two.hi == 4);
    struct interval ratio = statistics_ratio(x, 2, x, 2, 1);
    assert_true(ratio.lo == 0.5 && ratio.median == 1 && ratio.hi == 2);
}

static void equal_samples_have_an_interval_of_no_width(void **state)
{
    (void)state;
    const double x[] = {7, 7, 7, 7, 7};
    struct interval interval = statistics_median(x, 5, 1);
    assert_true(interval.lo == 7 && interval.median == 7 && interval.hi == 7);
    assert_int_equal(interval.n, 5);
}

static void interval_depends_on_the_seed_and_nothing_else(void **state)
{
    (void)state;
    double x[64];
    for (int i = 0; i < 64; i++)
        x[i] = i * i % 97 + i * 0.01;
    struct interval a = statistics_median(x, 64, 5), b = statistics_median(x, 64, 5);
    assert_true(a.lo == b.lo && a.hi == b.hi);
    int differ = 0;
    for (uint64_t seed = 0; seed < 8; seed++)
        differ += statistics_median(x, 64, seed << 32).lo != a.lo ||
                  statistics_median(x, 64, seed << 32).hi != a.hi;
    assert_true(differ > 0);
}

static void interval_lies_within_the_samples_and_holds_the_median(void **state)
{
    (void)state;
    const double x[] = {10, 11, 12, 13, 1000};
    struct interval interval = statistics_median(x, 5, 3);
    assert_true(interval.lo >= 10 && interval.lo <= interval.median);
    assert_true(interval.hi <= 1000 && interval.hi >= interval.median);
    assert_true(interval.median == 12);
}

/* A value that is below its median in half of all cases: uniform on 0..1. */
static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

static void interval_covers_the_true_median_about_as_often_as_it_says(void **state)
{
    (void)state;
    uint64_t random = 42;
    int covered = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double x[TRIAL_N];
        for (int i = 0; i < TRIAL_N; i++)
            x[i] = uniform(&random);
        struct interval interval = statistics_median(x, TRIAL_N, (uint64_t)trial);
        covered += interval.lo <= 0.5 && 0.5 <= interval.hi;
    }
    assert_in_range(covered, TRIALS * 90 / 100, TRIALS * 99 / 100);
}

static void ratio_is_of_the_medians(void **state)
{
    (void)state;
    const double x[] = {20, 19, 21, 20, 20}, y[] = {10, 10, 11, 9, 10};
    struct interval ratio = statistics_ratio(x, 5, y, 5, 1);
    assert_true(ratio.median == 2);
    assert_true(ratio.lo < 2 && ratio.lo > 1.7);
    assert_true(ratio.hi > 2 && ratio.hi < 2.4);
}

static void ratio_to_nothing_is_no_number(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3}, zero[] = {1, 0, 1};
    assert_true(isnan(statistics_ratio(x, 3, zero, 3, 1).median));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_of_odd_and_even_counts),
        cmocka_unit_test(median_leaves_its_input_alone),
        cmocka_unit_test(no_samples_give_no_numbers),
        cmocka_unit_test(one_or_two_samples_give_their_extremes),
        cmocka_unit_test(equal_samples_have_an_interval_of_no_width),
        cmocka_unit_test(interval_depends_on_the_seed_and_nothing_else),
        cmocka_unit_test(interval_lies_within_the_samples_and_holds_the_median),
        cmocka_unit_test(interval_covers_the_true_median_about_as_often_as_it_says),
        cmocka_unit_test(ratio_is_of_the_medians),
        cmocka_unit_test(ratio_to_nothing_is_no_number),
    };
    return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
