/* test_compare_distances.c - which samples of two made-up runs are like enough to be
 * compared, and of what compare warns. */
#include "harness/base/json_fields.h"
#include "harness/tables/compare_print.h"
#include "tests/support/compare_runs.h"

#include <math.h>

/* Core distances ------------------------------------------------------------------------------- */

#define NEAR ",\"probe\":{\"before\":{\"line_ns\":50},\"after\":{\"line_ns\":51}}"
#define FAR ",\"probe\":{\"before\":{\"line_ns\":350},\"after\":{\"line_ns\":351}}"

/* A is near for most of its time, B far: as a whole B looks slower, at one distance it is not. */
static void samples_are_compared_at_one_distance(void **state)
{
    (void)state;
    FILE *to = run_open("a", NULL);
    cell(to, "gmp", "ring,n=9", 2, 300, 1, NEAR);
    cell(to, "gmp", "ring,n=9", 2, 301, 1, NEAR);
    cell(to, "gmp", "ring,n=9", 2, 100, 1, FAR);
    fclose(to);
    to = run_open("b", NULL);
    cell(to, "gmp", "ring,n=9", 2, 100, 1, FAR);
    fclose(to);
    struct both *both = compare("a", "b");
    const struct compare_pair *pair = both->comparison.pairs;
    assert_int_equal(pair->chosen, CLASS_FAR);
    assert_int_equal(pair->count_a, SAMPLES);
    assert_int_equal(pair->verdict, COMPARE_SAME);
    assert_false(pair->distances_mixed);
    both_free(both);
}

static const char *warning_with(const struct comparison *comparison, const char *part)
{
    size_t i;
    const json_t *warning;
    json_array_foreach(comparison->warnings, i, warning)
    {
        if (strstr(json_string_value(warning), part))
            return json_string_value(warning);
    }
    return NULL;
}

static void steal_that_nobody_told_is_warned_of(void **state)
{
    (void)state;
    FILE *to = run_open("a", NULL);
    cell(to, "gmp", "ring,n=9", 2, 300, 1, ",\"steal_share\":0.0");
    fclose(to);
    to = run_open("b", NULL);
    cell(to, "gmp", "ring,n=9", 2, 300, 1, ",\"steal_share\":{\"absent\":\"not known\"}");
    fclose(to);
    struct both *both = compare("a", "b");
    assert_non_null(warning_with(&both->comparison, "steal is not known of 7 of 7 samples of B"));
    assert_null(warning_with(&both->comparison, "samples of A, so none"));
    both_free(both);
}

/* However clear the numbers look. */
static void distances_without_partner_are_not_compared(void **state)
{
    (void)state;
    FILE *to = run_open("a", NULL);
    cell(to, "gmp", "ring,n=9", 2, 300, 1, NEAR);
    fclose(to);
    to = run_open("b", NULL);
    cell(to, "gmp", "ring,n=9", 2, 100, 1, FAR);
    fclose(to);
    struct both *both = compare("a", "b");
    assert_int_equal(both->comparison.pairs->chosen, CLASS_ALL);
    assert_true(both->comparison.pairs->distances_mixed &&
                both->comparison.pairs->distances_unlike);
    assert_int_equal(both->comparison.pairs->verdict, COMPARE_UNLIKE);
    assert_non_null(strstr(both->comparison.pairs->reason, "not comparable: no core distance"));
    assert_true(isnan(both->comparison.geomean.median));
    assert_non_null(warning_with(&both->comparison, "1 of 1 pairs are not compared"));
    json_t *json = compare_to_json(&both->comparison);
    const json_t *pair = json_array_get(json_object_get(json, "pairs"), 0);
    assert_string_equal(field_text(pair, "verdict"), "distances");
    assert_null(json_object_get(pair, "ratio"));
    assert_null(json_object_get(pair, "p"));
    assert_true(field_number(pair, "median_a") == 303);
    json_decref(json);
    both_free(both);
}

/* B has its workers on one core; A was near as often as far, and near elsewhere. */
static void side_with_distances_is_judged_at_the_common_one(void **state)
{
    (void)state;
    FILE *to = run_open("a", NULL);
    cell(to, "gmp", "ring,n=9", 2, 300, 1, NEAR);
    cell(to, "gmp", "ring,n=9", 2, 100, 1, FAR);
    cell(to, "gmp", "ring,n=9", 2, 110, 1, FAR);
    cell(to, "gmp", "fib,n=9", 2, 300, 1, NEAR);
    cell(to, "gmp", "fib,n=9", 2, 300, 1, NEAR);
    fclose(to);
    to = run_open("b", NULL);
    cell(to, "gmp", "ring,n=9", 2, 200, 1, "");
    cell(to, "gmp", "ring,n=9", 2, 1, 0.1, ",\"marks\":[\"steal\"]");
    fclose(to);
    struct both *both = compare("a", "b");
    const struct compare_pair *pair = both->comparison.pairs;
    assert_int_equal(both->comparison.count, 1);
    assert_int_equal(pair->chosen, CLASS_NEAR);
    assert_int_equal(pair->count_a, SAMPLES);
    assert_int_equal(pair->count_b, SAMPLES);
    assert_true(pair->median_a == 303 && pair->median_b == 203);
    assert_true(pair->distances_partial && !pair->distances_mixed);
    assert_non_null(warning_with(&both->comparison, "on one side only"));
    both_free(both);
    both = compare("a:workload=fib,n=9", "a:workload=ring,n=9");
    assert_null(warning_with(&both->comparison, "on one side only"));
    both_free(both);
}

static void marked_samples_are_left_out(void **state)
{
    (void)state;
    FILE *to = run_open("a", NULL);
    cell(to, "gmp", "ring,n=9", 1, 100, 1, "");
    cell(to, "gmp", "ring,n=9", 1, 1, 0.1, ",\"marks\":[\"steal\"]");
    fclose(to);
    struct both *both = compare("a", "a");
    assert_int_equal(both->comparison.pairs->chosen, CLASS_QUIET);
    assert_int_equal(both->comparison.pairs->count_a, SAMPLES);
    assert_true(both->comparison.pairs->median_a == 103);
    both_free(both);
}

/* Warnings ------------------------------------------------------------------------------------- */

#define MACHINE(model, compiler)                                                                   \
    "{\"cpu\":{\"model\":\"" model "\"},\"build\":{\"compiler\":\"" compiler                       \
    "\",\"revision\":\"r1\"}}"

static void other_machines_and_compilers_are_warned_of(void **state)
{
    (void)state;
    FILE *to = run_open("a", MACHINE("fast", "gcc"));
    cell(to, "gmp", "fib,n=20", 2, 100, 1, "");
    fclose(to);
    to = run_open("b", MACHINE("slow", "clang"));
    cell(to, "gmp", "fib,n=20", 2, 100, 2, "");
    fclose(to);
    struct both *both = compare("a", "b");
    const json_t *warnings = both->comparison.warnings;
    assert_int_equal(json_array_size(warnings), 2);
    assert_string_equal(json_string_value(json_array_get(warnings, 0)),
                        "machines differ: \"fast\" in A, \"slow\" in B");
    assert_string_equal(json_string_value(json_array_get(warnings, 1)),
                        "compilers differ: \"gcc\" in A, \"clang\" in B");
    both_free(both);
    to = run_open("b", MACHINE("fast", "gcc"));
    cell(to, "gmp", "fib,n=20", 2, 100, 2, "");
    fclose(to);
    both = compare("a", "b");
    assert_int_equal(json_array_size(both->comparison.warnings), 0);
    both_free(both);
}

static void other_ways_to_measure_are_warned_of(void **state)
{
    (void)state;
    static const char environment[] =
        "{\"settings\":{\"transparent_huge_pages\":\"%s\"},\"sweep\":{\"warmup\":%s}}";
    char text[256];
    snprintf(text, sizeof text, environment, "always", "1");
    FILE *to = run_open("a", text);
    cell(to, "gmp", "fib,n=20", 2, 100, 1, ",\"pin\":true");
    fclose(to);
    snprintf(text, sizeof text, environment, "madvise", "\"auto\"");
    to = run_open("b", text);
    cell(to, "gmp", "fib,n=20", 2, 100, 1, ",\"pin\":false");
    fclose(to);
    struct both *both = compare("a", "b");
    assert_non_null(warning_with(&both->comparison, "\"always\" in A, \"madvise\" in B"));
    assert_non_null(warning_with(&both->comparison, "warm-ups differ: 1 in A, \"auto\" in B"));
    assert_non_null(warning_with(&both->comparison, "in 7 of 7 samples of A and 0 of 7 of B"));
    both_free(both);
    both = compare("a", "a");
    assert_null(warning_with(&both->comparison, "differ:"));
    assert_null(warning_with(&both->comparison, "pinned"));
    both_free(both);
}

/* Jobs run on nodes, and environment.json is of the machine that handed them in. */
static void machines_are_those_that_samples_name(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        FILE *to = run_open("a", MACHINE("login", "gcc"));
        cell(to, "gmp", "fib,n=20", 2, 100, 1, ",\"cpu\":\"node\"");
        fclose(to);
        to = run_open("b", i ? MACHINE("login", "gcc") : MACHINE("desk", "gcc"));
        cell(to, "gmp", "fib,n=20", 2, 100, 2, i ? ",\"cpu\":\"other\"" : ",\"cpu\":\"node\"");
        fclose(to);
        struct both *both = compare("a", "b");
        assert_int_equal(json_array_size(both->comparison.warnings), i);
        assert_true(!i == !warning_with(&both->comparison, "\"node\" in A, \"other\" in B"));
        both_free(both);
    }
}

static void same_samples_on_both_sides_are_warned_of(void **state)
{
    (void)state;
    FILE *to = run_open("a", MACHINE("fast", "gcc"));
    cell(to, "gmp", "fib,n=20", 2, 100, 1, "");
    cell(to, "grq", "fib,n=20", 2, 100, 1, "");
    fclose(to);
    struct both *both = compare("a", "a:variant=gmp");
    const json_t *warnings = both->comparison.warnings;
    assert_int_equal(json_array_size(warnings), 1);
    assert_string_equal(json_string_value(json_array_get(warnings, 0)),
                        "1 of 1 pairs have the same samples on both sides, and say nothing of any "
                        "difference");
    assert_int_equal(both->comparison.pairs->verdict, COMPARE_SAME);
    both_free(both);
    both = compare("a:variant=gmp", "a:variant=grq");
    assert_int_equal(json_array_size(both->comparison.warnings), 0);
    both_free(both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_compared_at_one_distance),
        cmocka_unit_test(steal_that_nobody_told_is_warned_of),
        cmocka_unit_test(distances_without_partner_are_not_compared),
        cmocka_unit_test(side_with_distances_is_judged_at_the_common_one),
        cmocka_unit_test(marked_samples_are_left_out),
        cmocka_unit_test(other_machines_and_compilers_are_warned_of),
        cmocka_unit_test(other_ways_to_measure_are_warned_of),
        cmocka_unit_test(machines_are_those_that_samples_name),
        cmocka_unit_test(same_samples_on_both_sides_are_warned_of),
    };
    return cmocka_run_group_tests_name("compare_distances", tests, folder_make, folder_remove);
}
