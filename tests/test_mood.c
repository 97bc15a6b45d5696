/* test_mood.c - the machine's mood: when probes fall into two classes, and which samples lie in
 * which. */
#include "harness/mood.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.15g, expected %.15g", found, expected);
}

static void two_moods_are_told_apart(void **state)
{
    (void)state;
    const double probes[] = {50, 360, 52, 48, 355, 51, 365};
    struct moods moods;
    moods_learn(&moods, probes, 7);
    near(moods.near_ns, exp((log(50) + log(52) + log(48) + log(51)) / 4));
    near(moods.far_ns, exp((log(360) + log(355) + log(365)) / 3));
    near(moods.threshold_ns, sqrt(moods.near_ns * moods.far_ns));
    assert_int_equal(moods.count[MOOD_NEAR], 4);
    assert_int_equal(moods.count[MOOD_FAR], 3);
    assert_int_equal(moods.count[MOOD_NONE], 0);
    assert_int_equal(mood_of(&moods, 55, 60), MOOD_NEAR);
    assert_int_equal(mood_of(&moods, 300, 400), MOOD_FAR);
    assert_int_equal(mood_of(&moods, 55, 300), MOOD_MIXED);
    assert_int_equal(mood_of(&moods, 300, 55), MOOD_MIXED);
}

static void noise_of_one_mood_is_one_class(void **state)
{
    (void)state;
    const double probes[] = {50, 60, 52, 65, 55, 58, 62};
    struct moods moods;
    moods_learn(&moods, probes, 7);
    assert_true(isnan(moods.threshold_ns) && isnan(moods.far_ns));
    assert_true(moods.near_ns > 50 && moods.near_ns < 65);
    assert_int_equal(moods.count[MOOD_NEAR], 7);
    assert_int_equal(moods.count[MOOD_FAR], 0);
    assert_int_equal(mood_of(&moods, 50, 5000), MOOD_NEAR);
}

static void centres_differ_by_half_at_least(void **state)
{
    (void)state;
    const double apart[] = {100, 100, 151}, together[] = {100, 100, 149};
    struct moods moods;
    moods_learn(&moods, apart, 3);
    assert_int_equal(moods.count[MOOD_FAR], 1);
    moods_learn(&moods, together, 3);
    assert_int_equal(moods.count[MOOD_FAR], 0);
}

static void missing_probes_teach_nothing(void **state)
{
    (void)state;
    const double probes[] = {NAN, 50, 0, -1, 350, NAN};
    struct moods moods;
    moods_learn(&moods, probes, 6);
    assert_int_equal(moods.count[MOOD_NONE], 4);
    assert_int_equal(moods.count[MOOD_NEAR], 1);
    assert_int_equal(moods.count[MOOD_FAR], 1);
    assert_int_equal(mood_of(&moods, NAN, NAN), MOOD_NONE);
    assert_int_equal(mood_of(&moods, NAN, 340), MOOD_FAR);
    assert_int_equal(mood_of(&moods, 51, NAN), MOOD_NEAR);
    moods_learn(&moods, NULL, 0);
    assert_true(isnan(moods.near_ns) && isnan(moods.threshold_ns));
    assert_int_equal(mood_of(&moods, NAN, NAN), MOOD_NONE);
    const double one[] = {50};
    moods_learn(&moods, one, 1);
    near(moods.near_ns, 50);
    assert_int_equal(moods.count[MOOD_NEAR], 1);
}

static void moods_have_names(void **state)
{
    (void)state;
    assert_string_equal(mood_text(MOOD_NONE), "-");
    assert_string_equal(mood_text(MOOD_NEAR), "near");
    assert_string_equal(mood_text(MOOD_FAR), "far");
    assert_string_equal(mood_text(MOOD_MIXED), "mixed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_moods_are_told_apart),
        cmocka_unit_test(noise_of_one_mood_is_one_class),
        cmocka_unit_test(centres_differ_by_half_at_least),
        cmocka_unit_test(missing_probes_teach_nothing),
        cmocka_unit_test(moods_have_names),
    };
    return cmocka_run_group_tests_name("mood", tests, NULL, NULL);
}
