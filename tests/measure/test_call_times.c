/* test_call_times.c - the list of call times keeps sums and order, however many calls there are. */
#include "harness/peers/call_times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void begin(struct call_times *times, size_t max)
{
    if (!call_times_begin(times, max))
        fail();
}

static void few_calls_have_an_entry_each(void **state)
{
    (void)state;
    struct call_times times;
    begin(&times, 4);
    for (int i = 1; i <= 4; i++)
        call_times_add(&times, 10 * i, 3);
    assert_int_equal(times.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(times.entry[i].time_ns, 10 * (i + 1));
        assert_int_equal(times.entry[i].ops, 3);
        assert_int_equal(times.entry[i].calls, 1);
    }
    call_times_end(&times);
}

static void neighbours_become_one_when_all_entries_are_taken(void **state)
{
    (void)state;
    struct call_times times;
    begin(&times, 4);
    for (int i = 1; i <= 5; i++)
        call_times_add(&times, i, 1);
    assert_int_equal(times.count, 3);
    assert_int_equal(times.entry[0].time_ns, 1 + 2);
    assert_int_equal(times.entry[1].time_ns, 3 + 4);
    assert_int_equal(times.entry[2].time_ns, 5);
    call_times_add(&times, 6, 1);
    assert_int_equal(times.count, 3);
    assert_int_equal(times.entry[2].time_ns, 5 + 6);
    assert_int_equal(times.entry[2].calls, 2);
    call_times_end(&times);
}

/* All but the last entry are full, and nothing is lost, whatever the numbers are. */
static void sums_are_those_of_all_calls(void **state)
{
    (void)state;
    for (size_t max = 2; max <= 7; max++) {
        struct call_times times;
        begin(&times, max);
        for (int64_t calls = 1; calls <= 300; calls++) {
            call_times_add(&times, calls, 2);
            int64_t time_ns = 0;
            uint64_t ops = 0, all = 0;
            for (size_t i = 0; i < times.count; i++) {
                if (i + 1 < times.count)
                    assert_int_equal(times.entry[i].calls, times.each);
                assert_in_range(times.entry[i].calls, 1, times.each);
                time_ns += times.entry[i].time_ns;
                ops += times.entry[i].ops;
                all += times.entry[i].calls;
            }
            assert_in_range(times.count, 1, max);
            assert_int_equal(time_ns, calls * (calls + 1) / 2);
            assert_int_equal(ops, 2 * calls);
            assert_int_equal(all, calls);
            assert_int_equal(times.time_ns, time_ns);
            assert_int_equal(times.ops, ops);
            assert_int_equal(times.calls, all);
        }
        call_times_end(&times);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_calls_have_an_entry_each),
        cmocka_unit_test(neighbours_become_one_when_all_entries_are_taken),
        cmocka_unit_test(sums_are_those_of_all_calls),
    };
    return cmocka_run_group_tests_name("call_times", tests, NULL, NULL);
}
