/* test_sample.c - whether the events of a sample are read around all calls or around each. */
#include "harness/sample/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void calls_are_counted_together_where_little_lies_between(void **state)
{
    (void)state;
    assert_true(sample_counts_whole(1000000, 0));
    assert_true(sample_counts_whole(1000000, 20000));
    assert_false(sample_counts_whole(1000000, 20001));
    assert_false(sample_counts_whole(1000, 50000));
}

static void calls_are_counted_one_by_one_where_nothing_is_known(void **state)
{
    (void)state;
    assert_false(sample_counts_whole(0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_counted_together_where_little_lies_between),
        cmocka_unit_test(calls_are_counted_one_by_one_where_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
