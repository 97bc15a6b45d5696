/* test_robbed.c - samples that other programs robbed, beside earlier ones of their cell. */
#include "harness/evidence/comparable.h"
#include "harness/evidence/robbed.h"
#include "harness/run/run_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const double share[] = {0.98, 1.00, 0.60, 1.01}, preempted[] = {90, 100, 110, 500};

static json_t *record_make(double cpu_share, double preempted_per_s)
{
    return json_pack("{ss sf sf}", "status", "ok", "cpu_share", cpu_share, "preempted_per_s",
                     preempted_per_s);
}

static void expect(double cpu_share, double preempted_per_s, size_t earlier, bool robbed)
{
    json_t *record = record_make(cpu_share, preempted_per_s);
    assert_int_equal(robbed_mark(record, share, preempted, earlier), robbed);
    assert_int_equal(comparable_is_marked(record), robbed);
    json_decref(record);
}

static void less_time_and_more_preemptions_are_a_robbery(void **state)
{
    (void)state;
    expect(0.90, 300, 3, true);
    expect(0.90, 210, 3, false); /* as often as usual, nearly */
    expect(0.95, 300, 3, false);
    expect(0.90, 300, 2, false); /* nothing is usual yet */
    expect(0.90, 300, 4, true);
}

static void other_marks_stay(void **state)
{
    (void)state;
    json_t *record = record_make(0.5, 900);
    json_object_set_new(record, "marks", json_pack("[s]", "others"));
    assert_true(robbed_mark(record, share, preempted, 4));
    assert_int_equal(json_array_size(json_object_get(record, "marks")), 2);
    json_decref(record);
}

static void what_does_not_tell_is_not_robbed(void **state)
{
    (void)state;
    json_t *simulated = json_pack("{ss}", "status", "ok"), *failed = record_make(0.5, 900);
    json_object_set_new(failed, "status", json_string("failed"));
    assert_false(robbed_mark(simulated, share, preempted, 4));
    assert_false(robbed_mark(failed, share, preempted, 4));
    json_decref(simulated);
    json_decref(failed);
}

/* As `run` keeps them: the fourth has three before it, and those that do not tell are none. */
static void a_row_marks_what_was_robbed(void **state)
{
    (void)state;
    struct run_row row = {.records = json_array()};
    run_row_add(&row, json_pack("{ss}", "status", "ok"));
    for (int i = 0; i < 3; i++)
        run_row_add(&row, record_make(share[i], preempted[i]));
    assert_false(comparable_is_marked(json_array_get(row.records, 3)));
    run_row_add(&row, record_make(0.8, 400));
    assert_true(comparable_is_marked(json_array_get(row.records, 4)));
    assert_true(run_row_wants_repeat(&row, 6));
    json_decref(row.records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(less_time_and_more_preemptions_are_a_robbery),
        cmocka_unit_test(other_marks_stay),
        cmocka_unit_test(what_does_not_tell_is_not_robbed),
        cmocka_unit_test(a_row_marks_what_was_robbed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
