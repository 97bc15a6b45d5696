/* test_micro_clock.c - what reading the clock costs is no part of an operation's time. */
#include "harness/micro/micro_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A clock that itself takes COST_NS, shows steps of step_ns, and is once held up. */
enum { COST_NS = 31 };
static int64_t passed_ns, step_ns;
static int readings;

static int64_t fake_now(void)
{
    passed_ns += COST_NS;
    if (++readings == 500)
        passed_ns += 1000000;
    return passed_ns / step_ns * step_ns;
}

static void clock_reset(int64_t step)
{
    passed_ns = readings = 0;
    step_ns = step;
}

static void cost_is_from_one_reading_to_the_next(void **state)
{
    (void)state;
    clock_reset(1);
    assert_float_equal(micro_clock_cost_ns(fake_now), COST_NS, 1e-9);
}

static void coarse_clock_has_its_cost_too(void **state)
{
    (void)state;
    clock_reset(1000);
    assert_float_equal(micro_clock_cost_ns(fake_now), COST_NS, 1);
}

/* Sixteen operations of 4 ns in a section: 64 ns, of which the clock shows 95. */
static void sections_lose_what_their_clock_costs(void **state)
{
    (void)state;
    clock_reset(1);
    double cost_ns = micro_clock_cost_ns(fake_now);
    int64_t ns = 0;
    for (int section = 0; section < 10; section++) {
        int64_t begin = fake_now();
        passed_ns += 64;
        ns += fake_now() - begin;
    }
    assert_int_equal(ns, 10 * (64 + COST_NS));
    assert_float_equal(micro_clock_net_ns(ns, 10, cost_ns), 640, 1e-6);
}

static void what_is_below_the_clock_is_not_zero(void **state)
{
    (void)state;
    assert_float_equal(micro_clock_net_ns(30, 1, COST_NS), 1, 0);
    assert_float_equal(micro_clock_net_ns(30, 0, COST_NS), 30, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cost_is_from_one_reading_to_the_next),
        cmocka_unit_test(coarse_clock_has_its_cost_too),
        cmocka_unit_test(sections_lose_what_their_clock_costs),
        cmocka_unit_test(what_is_below_the_clock_is_not_zero),
    };
    return cmocka_run_group_tests_name("micro_clock", tests, NULL, NULL);
}
