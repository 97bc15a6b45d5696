/* test_warmup.c - untimed calls go on until their times are steady, or a limit is reached. */
#include "harness/records/sample_request.h"
#include "harness/sample/warmup.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Between 0 and 1, the same on every run. */
static double noise(size_t i)
{
    uint64_t x = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) + 1;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)(x >> 11) / (double)(UINT64_C(1) << 53);
}

/* Makes calls that take time(i), a tick of the clock each; how many it took. */
static size_t calls_until(struct warmup *warmup, int wanted, double (*time)(size_t),
                          int64_t tick_ns, int64_t timed_ns)
{
    int64_t now = 1000;
    warmup_begin(warmup, wanted, timed_ns, now);
    for (size_t i = 0; warmup_wants_more(warmup, now); i++) {
        warmup_add(warmup, time(i));
        now += tick_ns;
    }
    return warmup->count;
}

static size_t calls_until_steady(struct warmup *warmup, int wanted, double (*time)(size_t),
                                 int64_t tick_ns)
{
    return calls_until(warmup, wanted, time, tick_ns, 0);
}

static double time_flat(size_t i)
{
    return 100 + noise(i);
}

static double time_settles_at_9(size_t i)
{
    return (i < 9 ? 200 : 100) + noise(i);
}

static double time_falls(size_t i)
{
    return 1e6 * pow(0.97, (double)i) + noise(i);
}

static double time_with_outliers(size_t i)
{
    return i % 9 == 4 ? 5000 : 100 + noise(i);
}

static void a_fixed_number_is_just_that(void **state)
{
    struct warmup warmup;
    (void)state;
    assert_int_equal(calls_until_steady(&warmup, 0, time_falls, 1), 0);
    assert_string_equal(warmup.rule, "fixed");
    assert_int_equal(calls_until_steady(&warmup, 1000, time_falls, INT64_C(1000000000)), 1000);
    assert_string_equal(warmup.rule, "fixed");
}

static void steady_times_end_at_once(void **state)
{
    struct warmup warmup;
    (void)state;
    assert_int_equal(calls_until_steady(&warmup, WARMUP_AUTO, time_flat, 1), WARMUP_CALLS_MIN);
    assert_string_equal(warmup.rule, "change-point");
    assert_int_equal(calls_until_steady(&warmup, WARMUP_AUTO, time_with_outliers, 1),
                     WARMUP_CALLS_MIN);
    assert_string_equal(warmup.rule, "change-point");
}

/* Half of the newest half is slow when the least calls are made; the slow ones have to leave it. */
static void a_change_of_level_is_waited_out(void **state)
{
    struct warmup warmup;
    (void)state;
    size_t calls = calls_until_steady(&warmup, WARMUP_AUTO, time_settles_at_9, 1);
    assert_string_equal(warmup.rule, "change-point");
    assert_true(warmup_is_steady(warmup.call_ns, calls));
    assert_true(calls > WARMUP_CALLS_MIN && calls <= 20);
}

static void a_trend_goes_on_to_the_limit_of_calls(void **state)
{
    struct warmup warmup;
    (void)state;
    assert_int_equal(calls_until_steady(&warmup, WARMUP_AUTO, time_falls, 1), WARMUP_CALLS_MAX);
    assert_string_equal(warmup.rule, "limit");
}

static void long_calls_meet_the_limit_of_time(void **state)
{
    struct warmup warmup;
    (void)state;
    assert_int_equal(calls_until_steady(&warmup, WARMUP_AUTO, time_flat, WARMUP_TIME_MAX_NS / 4),
                     4);
    assert_string_equal(warmup.rule, "limit");
    assert_int_equal(calls_until(&warmup, WARMUP_AUTO, time_flat, 10, 70), 7);
    assert_string_equal(warmup.rule, "limit");
    assert_int_equal(calls_until(&warmup, 9, time_flat, 10, 70), 9); /* asked for */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fixed_number_is_just_that),
        cmocka_unit_test(steady_times_end_at_once),
        cmocka_unit_test(a_change_of_level_is_waited_out),
        cmocka_unit_test(a_trend_goes_on_to_the_limit_of_calls),
        cmocka_unit_test(long_calls_meet_the_limit_of_time),
    };
    return cmocka_run_group_tests_name("warmup", tests, NULL, NULL);
}
