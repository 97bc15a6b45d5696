/* test_compare.c - comparisons of made-up runs, whose every number is known: which cells are
 * paired, and what is then said. Which samples are compared is in test_compare_distances.c. */
#include "harness/base/json_fields.h"
#include "harness/tables/compare_print.h"
#include "tests/support/compare_runs.h"

#include <math.h>

static void refused(const char *text, const char *part)
{
    struct compare_side loaded;
    char full[PATH_SIZE];
    struct error error = {0};
    snprintf(full, sizeof full, "%s/%s", folder, text);
    assert_false(compare_side_load(&loaded, full, &error));
    if (!strstr(error.text, part) || strchr(error.text, '\n'))
        fail_msg("%s: expected one line with \"%s\", found \"%s\"", text, part, error.text);
}

/* Pairing -------------------------------------------------------------------------------------- */

/* Two variants, one with a knob too, on two workloads. */
static void run_of_variants(void)
{
    FILE *to = run_open("a", NULL);
    cell(to, "gmp", "fib,n=20", 2, 100, 1, "");
    cell(to, "gmp,tick=7", "fib,n=20", 2, 200, 1, "");
    cell(to, "grq", "fib,n=20", 2, 50, 1, "");
    cell(to, "gmp", "fib,n=22", 2, 100, 1, "");
    cell(to, "grq", "fib,n=22", 2, 150, 1, "");
    cell(to, "gmp", "fib,n=20", 1, 70, 1, "");
    fclose(to);
}

static void two_variants_of_a_run_are_paired_on_each_workload(void **state)
{
    (void)state;
    run_of_variants();
    struct both *both = compare("a:variant=gmp", "a:variant=grq");
    assert_int_equal(both->comparison.count, 2);
    assert_int_equal(both->comparison.only_a, 1); /* at one worker */
    assert_int_equal(both->comparison.only_b, 0);
    const struct compare_pair *pair = both->comparison.pairs;
    assert_string_equal(pair[0].a->workload, "fib,n=20");
    assert_string_equal(pair[0].b->variant, "grq");
    assert_true(pair[0].median_a == 103 && pair[0].median_b == 53);
    assert_int_equal(pair[0].verdict, COMPARE_SLOWER);
    assert_int_equal(pair[1].verdict, COMPARE_FASTER);
    assert_true(pair[1].superiority == 1 && pair[0].superiority == 0);
    both_free(both);
}

static void two_settings_of_a_knob_are_paired(void **state)
{
    (void)state;
    run_of_variants();
    struct both *both = compare("a:variant=gmp", "a:variant=gmp,tick=7");
    assert_int_equal(both->comparison.count, 1);
    assert_string_equal(both->comparison.pairs->b->variant, "gmp,tick=7");
    both_free(both);
    both = compare("a:tick=61/variant_name=gmp", "a:tick=7");
    assert_int_equal(both->comparison.count, 1);
    assert_string_equal(both->comparison.pairs->a->variant, "gmp");
    both_free(both);
}

static void what_both_name_may_differ(void **state)
{
    (void)state;
    run_of_variants();
    struct both *both = compare("a:workers=1", "a:workers=2/variant=gmp");
    assert_int_equal(both->comparison.count, 1);
    assert_int_equal(both->comparison.pairs->b->workers, 2);
    both_free(both);
    both = compare("a:workload=fib,n=20", "a:workload=fib,n=22");
    assert_int_equal(both->comparison.count, 2);
    assert_string_equal(both->comparison.pairs->b->workload, "fib,n=22");
    both_free(both);
    both = compare("a:workload=fib", "a:group=g");
    assert_int_equal(both->comparison.count, 6);
    assert_int_equal(both->comparison.verdicts[COMPARE_SAME], 6);
    both_free(both);
}

static void one_key_twice_means_either(void **state)
{
    (void)state;
    run_of_variants();
    struct compare_side loaded = side("a:variant=grq/variant=gmp,tick=7/workers=2");
    assert_int_equal(loaded.count, 3);
    compare_side_free(&loaded);
}

static void allocators_that_both_name_may_differ(void **state)
{
    (void)state;
    FILE *to = run_open("a", NULL);
    cell(to, "gmp,runnext=off", "fib,n=20", 1, 100, 1, ",\"allocator\":\"jemalloc\"");
    cell(to, "gmp,runnext=off,malloc=glibc", "fib,n=20", 1, 200, 1, ",\"allocator\":\"glibc\"");
    fclose(to);
    struct both *both = compare("a:allocator=jemalloc", "a:allocator=glibc");
    assert_int_equal(both->comparison.count, 1);
    assert_true(both->comparison.pairs->median_b == 203);
    both_free(both);
}

/* Two cells that differ in what they count alone: in run b in the other order. */
static void cells_of_other_events_are_not_one(void **state)
{
    (void)state;
    static const char more[] = ",\"cell\":\"0\",\"events\":[{\"name\":\"E\"}]";
    static const char many[] = ",\"cell\":\"1\",\"events\":[{\"name\":\"E\"},{\"name\":\"F\"}]";
    FILE *to = run_open("a", NULL);
    cell(to, "gmp", "fib,n=20", 1, 100, 1, more);
    cell(to, "gmp", "fib,n=20", 1, 10, 1, many);
    fclose(to);
    to = run_open("b", NULL);
    cell(to, "gmp", "fib,n=20", 1, 10, 1, many);
    cell(to, "gmp", "fib,n=20", 1, 200, 1, more);
    fclose(to);
    struct both *both = compare("a", "b");
    assert_int_equal(both->comparison.count, 2);
    assert_true(both->comparison.pairs[0].median_a == 103);
    assert_true(both->comparison.pairs[0].median_b == 203);
    assert_int_equal(both->comparison.pairs[1].verdict, COMPARE_SAME);
    both_free(both);
    to = run_open("b", NULL);
    cell(to, "gmp", "fib,n=20", 1, 200, 1, ",\"events\":[{\"name\":\"G\"}]");
    fclose(to);
    both = compare("a:cell=0", "b");
    assert_int_equal(both->comparison.count, 1); /* as long as it is the only one */
    both_free(both);
}

static void two_partners_of_one_cell_are_refused(void **state)
{
    (void)state;
    run_of_variants();
    struct compare_side a = side("a:workers=1/workers=2"), b = side("a:workers=2");
    struct error error = {0};
    assert_false(compare_sides_pair(&a, &b, false, &error));
    assert_non_null(strstr(error.text, "filter one of them out"));
    compare_side_free(&a);
    compare_side_free(&b);
}

static void mistakes_name_what_is_nearest(void **state)
{
    (void)state;
    run_of_variants();
    refused("a:varian=gmp", "no record has a key \"varian\"; the nearest is \"variant\"");
    refused("a:variant=gqr", "no cell is left: none has variant=gqr; the nearest is \"grq\"");
    refused("a:variant=far_off", "none has variant=far_off; valid: gmp, gmp,tick=7, grq");
    refused("a:nothing_like_it=1", "no record has a key \"nothing_like_it\"; valid: group, tick, ");
    refused("a:workers=3", "none has workers=3; valid: 2, 1");
    refused("a:group=h", "none has group=h; valid: g");
    refused("a:variant=grq/workers=1",
            "none that the terms before it keep has workers=1; valid: 2");
    refused("a:workers=2/variant=gmp/variant=grq/tick=62",
            "none that the terms before it keep has tick=62; valid: 61");
    refused("a:variant", "\"variant\" is not KEY=VALUE");
    refused("a:", "\"\" is not KEY=VALUE");
    refused("a:workers=2/", "\"\" is not KEY=VALUE");
    refused("c", "is not a run");
    refused("c:variant=gmp", "is not a run");
}

/* Verdicts ------------------------------------------------------------------------------------- */

static void run_against_itself_shows_nothing(void **state)
{
    (void)state;
    run_of_variants();
    struct both *both = compare("a", "a");
    assert_int_equal(both->comparison.count, 6);
    assert_int_equal(both->comparison.verdicts[COMPARE_SAME], 6);
    assert_true(both->comparison.geomean.median == 1);
    both_free(both);
}

static void run_two(double first_b, double step_b)
{
    FILE *to = run_open("a", NULL);
    cell(to, "gmp", "fib,n=20", 2, 100, 1, "");
    fclose(to);
    to = run_open("b", NULL);
    cell(to, "gmp", "fib,n=20", 2, first_b, step_b, "");
    fclose(to);
}

static void ratio_is_b_over_a_and_swapping_inverts_it(void **state)
{
    (void)state;
    run_two(204, 2);
    struct both *ab = compare("a", "b"), *ba = compare("b", "a");
    const struct compare_pair *there = ab->comparison.pairs, *back = ba->comparison.pairs;
    assert_true(fabs(there->ratio.median - 210.0 / 103) < 1e-12);
    assert_true(fabs(there->ratio.median * back->ratio.median - 1) < 1e-12);
    assert_true(there->p == back->p);
    assert_int_equal(there->verdict, COMPARE_FASTER);
    assert_int_equal(back->verdict, COMPARE_SLOWER);
    assert_true(there->superiority + back->superiority == 1);
    assert_true(fabs(ab->comparison.geomean.median * ba->comparison.geomean.median - 1) < 1e-12);
    both_free(ab);
    both_free(ba);
}

static void least_effect_and_level_are_obeyed(void **state)
{
    (void)state;
    run_two(108, 1); /* 111 over 103: 7.8 % */
    struct compare_options options = usual;
    options.min_effect = 0.05;
    struct both *both = compare_with("a", "b", &options);
    assert_int_equal(both->comparison.pairs->verdict, COMPARE_FASTER);
    both_free(both);
    options.min_effect = 0.10;
    both = compare_with("a", "b", &options);
    assert_int_equal(both->comparison.pairs->verdict, COMPARE_SAME);
    both_free(both);
    run_two(101.5, 1); /* mixes with A, though its median is above */
    both = compare("a", "b");
    assert_int_equal(both->comparison.pairs->verdict, COMPARE_SAME);
    assert_true(both->comparison.pairs->p > 0.05);
    both_free(both);
    run_two(200, 1); /* 7 and 7 that do not overlap have p = 2 / 3432 */
    options = (struct compare_options){.alpha = 2.0 / 3432, .seed = 1};
    both = compare_with("a", "b", &options);
    assert_int_equal(both->comparison.pairs->verdict, COMPARE_FEW);
    assert_int_equal(json_array_size(both->comparison.warnings), 3);
    both_free(both);
}

/* 7 of 8 pairs are equal, and the p of the other counts eightfold. */
static void p_is_adjusted_over_the_whole_comparison(void **state)
{
    (void)state;
    FILE *a = run_open("a", NULL), *b = run_open("b", NULL);
    for (int i = 0; i < 8; i++) {
        char workload[24];
        snprintf(workload, sizeof workload, "fib,n=%d", i);
        cell(a, "gmp", workload, 2, 100, 1, "");
        cell(b, "gmp", workload, 2, i == 3 ? 200 : 100, 1, "");
    }
    fclose(a);
    fclose(b);
    struct both *both = compare("a", "b");
    const struct compare_pair *pair = &both->comparison.pairs[3];
    assert_string_equal(pair->a->workload, "fib,n=3");
    assert_true(fabs(pair->p - 2.0 / 3432) < 1e-12);
    assert_true(fabs(pair->p_adjusted - 16.0 / 3432) < 1e-12);
    assert_int_equal(both->comparison.verdicts[COMPARE_FASTER], 1);
    assert_int_equal(both->comparison.verdicts[COMPARE_SAME], 7);
    assert_true(fabs(both->comparison.geomean.median - pow(203.0 / 103, 1.0 / 8)) < 1e-12);
    both_free(both);
}

static void failed_cell_is_a_pair_without_numbers(void **state)
{
    (void)state;
    run_two(200, 1);
    char path[PATH_SIZE];
    path_of(path, "b", "samples.jsonl");
    FILE *to = fopen(path, "a");
    fputs("{\"schema\":2,\"cell\":\"gmp.fib,n=20.2\",\"variant\":\"gmp\",\"workload\":\"fib,n=20\","
          "\"workers\":"
          "2,\"machine\":\"native\","
          "\"status\":\"failed\",\"reason\":\"killed\"}\n",
          to);
    fclose(to);
    struct both *both = compare("a", "b");
    assert_int_equal(both->comparison.count, 1);
    assert_int_equal(both->comparison.pairs->verdict, COMPARE_NONE);
    assert_string_equal(both->comparison.pairs->reason, "B failed: killed");
    assert_true(isnan(both->comparison.geomean.median));
    both_free(both);
}

/* Output --------------------------------------------------------------------------------------- */

static char *printed(const struct comparison *comparison,
                     void (*print)(const struct comparison *, FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    print(comparison, to);
    fclose(to);
    return text;
}

/* 7 of 8 pairs are equal and have so many samples that they could be told apart at this level. The
 * other one does not overlap and has fewer; its p counts eightfold, and shows nothing. */
static void sets_apart_that_are_not_told_apart_are_too_few(void **state)
{
    (void)state;
    FILE *a = run_open("a", NULL), *b = run_open("b", NULL);
    for (int i = 0; i < 8; i++) {
        char workload[24];
        snprintf(workload, sizeof workload, "fib,n=%d", i);
        cell(a, "gmp", workload, 2, 100, 1, "");
        cell(b, "gmp", workload, 2, i == 3 ? 200 : 100, 1, "");
        if (i != 3) {
            cell(a, "gmp", workload, 2, 100.5, 1, "");
            cell(b, "gmp", workload, 2, 100.5, 1, "");
        }
    }
    fclose(a);
    fclose(b);
    struct compare_options options = usual;
    options.alpha = 0.001;
    struct both *both = compare_with("a", "b", &options);
    const struct comparison *comparison = &both->comparison;
    assert_true(comparison->pairs[3].superiority == 1);
    assert_true(fabs(comparison->pairs[3].p_adjusted - 16.0 / 3432) < 1e-12);
    assert_int_equal(comparison->pairs[3].verdict, COMPARE_FEW);
    assert_int_equal(comparison->verdicts[COMPARE_SAME], 7);
    /* 8 of 8 that do not overlap have p = 2 / 12870, which 8 times is more than alpha. */
    const json_t *warnings = comparison->warnings;
    assert_non_null(strstr(
        json_string_value(json_array_get(warnings, json_array_size(warnings) - 1)), "; 9 of each"));
    char *text = printed(comparison, compare_print_table);
    assert_non_null(strstr(text, "  few\n"));
    free(text);
    text = printed(comparison, compare_print_markdown);
    assert_non_null(strstr(text, ": too few |"));
    free(text);
    json_t *json = compare_to_json(comparison);
    const json_t *pair = json_array_get(json_object_get(json, "pairs"), 3);
    assert_string_equal(field_text(pair, "verdict"), "few");
    json_decref(json);
    both_free(both);
    options.min_effect = 2; /* whatever more samples would show, it would not matter */
    both = compare_with("a", "b", &options);
    assert_int_equal(both->comparison.pairs[3].verdict, COMPARE_SAME);
    both_free(both);
}

/* Columns of a UTF-8 text are the bytes that begin a character. */
static void table_fits_100_columns(void **state)
{
    (void)state;
    FILE *to = run_open("a", NULL);
    cell(to, "gmp", "fib,n=20", 2, 123456.7, 1e5, "");
    cell(to, "gmp,tick=1024", "uneven,tasks=2000,dist=constant,rounds=100000", 2, 1e12, 9e12, "");
    fclose(to);
    struct both *both = compare("a", "a");
    char *text = printed(&both->comparison, compare_print_table);
    size_t columns = 0;
    for (const char *at = text; *at; at++) {
        columns = *at == '\n' ? 0 : columns + ((*at & 0xc0) != 0x80);
        assert_true(columns <= 100);
    }
    assert_non_null(strstr(text, "fib,n=20, 2 workers\n  gmp "));
    assert_non_null(strstr(text, "\n  gmp,tick=1024 "));
    assert_non_null(strstr(text, "geometric mean of B / A over 2 pairs: 1.00"));
    assert_non_null(strstr(text, "2 no difference shown"));
    free(text);
    text = printed(&both->comparison, compare_print_markdown);
    assert_non_null(strstr(text, "| fib,n=20, 2 workers | gmp | "));
    free(text);
    both_free(both);
}

/* As latencies may be of one workload among many. Holm's correction counts what was tested. */
static void summary_counts_what_was_tested(void **state)
{
    (void)state;
    static const char latency[] = ",\"latency\":{\"count\":1000,\"p99_ns\":5}";
    FILE *to = run_open("a", NULL);
    cell(to, "gmp", "fib,n=20", 2, 100, 1, "");
    cell(to, "gmp", "fib,n=30", 2, 100, 1, latency);
    fclose(to);
    struct compare_options options = usual;
    struct error error = {0};
    assert_true(metric_parse(&options.metric, "p99", &error));
    struct both *both = compare_with("a", "a", &options);
    char *text = printed(&both->comparison, compare_print_table);
    assert_non_null(strstr(text, "1 no difference shown, 1 without numbers (alpha 0.05, Holm over "
                                 "1 pair)"));
    free(text);
    both_free(both);
}

static void json_holds_every_pair(void **state)
{
    (void)state;
    run_two(204, 2);
    struct both *both = compare("a", "b");
    json_t *json = compare_to_json(&both->comparison);
    const json_t *pair = json_array_get(json_object_get(json, "pairs"), 0);
    assert_string_equal(json_string_value(json_object_get(pair, "verdict")), "faster");
    assert_int_equal(json_integer_value(json_object_get(pair, "n_b")), SAMPLES);
    const json_t *ratio = json_object_get(json_object_get(pair, "ratio"), "ratio");
    assert_true(json_real_value(ratio) == both->comparison.pairs->ratio.median);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(json, "verdicts"), "faster")), 1);
    assert_non_null(json_object_get(json, "geomean"));
    json_decref(json);
    both_free(both);
}

/* Other numbers -------------------------------------------------------------------------------- */

static struct both *compare_by(const char *name)
{
    struct compare_options options = usual;
    struct error error = {0};
    assert_true(metric_parse(&options.metric, name, &error));
    return compare_with("a", "b", &options);
}

/* A run of one cell, of which only these numbers differ from the other's. */
static void run_with_numbers(const char *run, int p50_ns, int p99_ns, double steals)
{
    char text[1024];
    snprintf(text, sizeof text,
             ",\"latency\":{\"count\":1000,\"p50_ns\":%d,\"p99_ns\":%d,\"p999_ns\":1,"
             "\"max_ns\":9000,\"buckets\":[[10,950],[500,50]]},"
             "\"events\":[{\"name\":\"sde:::schedlab::STEALS\",\"value\":10,\"per_op\":%g},"
             "{\"name\":\"sde:::schedlab::LIVE_GS_PEAK\",\"value\":7}]",
             p50_ns, p99_ns, steals);
    FILE *to = run_open(run, NULL);
    cell(to, "gmp", "arrivals", 2, 100, 1, text);
    fclose(to);
}

static void runs_with_numbers(void)
{
    run_with_numbers("a", 100, 5000, 0);
    run_with_numbers("b", 50, 8000, 0.5);
}

static void lower_latencies_are_faster(void **state)
{
    (void)state;
    runs_with_numbers();
    struct both *both = compare_by("p50");
    assert_int_equal(both->comparison.pairs->verdict, COMPARE_FASTER);
    assert_true(both->comparison.pairs->median_a == 100);
    assert_true(both->comparison.pairs->ratio.median == 0.5);
    both_free(both);
    both = compare_by("p99");
    assert_int_equal(both->comparison.pairs->verdict, COMPARE_SLOWER);
    both_free(both);
    both = compare_by("p95"); /* from the buckets */
    assert_true(both->comparison.pairs->median_a == 10);
    both_free(both);
    both = compare_by("p99.99"); /* none of 1000 lies beyond it */
    assert_int_equal(both->comparison.pairs->verdict, COMPARE_NONE);
    assert_string_equal(both->comparison.pairs->reason, "no sample has a p99.99");
    both_free(both);
}

static void events_are_higher_or_lower(void **state)
{
    (void)state;
    runs_with_numbers();
    struct both *both = compare_by("STEALS");
    const struct compare_pair *pair = both->comparison.pairs;
    assert_true(pair->median_a == 0 && pair->median_b == 0.5);
    assert_true(isnan(pair->ratio.median)); /* over nothing */
    assert_string_equal(compare_verdict_text(&both->comparison, pair->verdict), "higher");
    both_free(both);
    both = compare_by("sde:::schedlab::LIVE_GS_PEAK");
    assert_true(both->comparison.pairs->median_a == 7);
    assert_int_equal(both->comparison.pairs->verdict, COMPARE_SAME);
    both_free(both);
}

static void metric_that_no_sample_has_is_told(void **state)
{
    (void)state;
    struct metric metric;
    char text[128];
    struct error error = {0};
    runs_with_numbers();
    struct compare_side a = side("a");
    assert_true(metric_parse(&metric, "STEAL", &error));
    assert_false(metric_is_known(&metric, a.records, &error));
    assert_non_null(strstr(error.text, "the nearest is \"STEALS\""));
    assert_false(metric_parse(&metric, "p101", &error));
    assert_true(metric_parse(&metric, "max", &error));
    assert_true(metric_is_known(&metric, a.records, &error));
    metric_describe(&metric, text, sizeof text);
    assert_string_equal(text, "max of the latencies");
    compare_side_free(&a);
    run_of_variants();
    a = side("a");
    assert_false(metric_is_known(&metric, a.records, &error));
    assert_non_null(strstr(error.text, "has no latencies"));
    compare_side_free(&a);
}

static void findings_of_workloads_are_metrics(void **state)
{
    (void)state;
    struct metric metric;
    char text[128];
    struct error error = {0};
    assert_true(metric_is_finding("wait_max"));
    assert_false(metric_is_finding("max"));
    assert_false(metric_is_finding("throughput"));
    assert_false(metric_is_finding("p50"));
    assert_false(metric_is_finding("STEALS"));
    FILE *to = run_open("a", NULL);
    cell(to, "gmp", "periodic", 1, 100, 1, ",\"found\":{\"victims\":3,\"waits\":0.5}");
    fclose(to);
    struct compare_side a = side("a");
    assert_true(metric_parse(&metric, "victims", &error));
    assert_true(metric_is_known(&metric, a.records, &error));
    assert_true(metric_of(&metric, json_array_get(a.records, 0)) == 3);
    metric_describe(&metric, text, sizeof text);
    assert_string_equal(text, "victims, as the workload found");
    assert_true(metric_parse(&metric, "victim", &error));
    assert_false(metric_is_known(&metric, a.records, &error));
    assert_non_null(strstr(error.text, "the nearest is \"victims\""));
    compare_side_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_of_workloads_are_metrics),
        cmocka_unit_test(two_variants_of_a_run_are_paired_on_each_workload),
        cmocka_unit_test(two_settings_of_a_knob_are_paired),
        cmocka_unit_test(lower_latencies_are_faster),
        cmocka_unit_test(events_are_higher_or_lower),
        cmocka_unit_test(metric_that_no_sample_has_is_told),
        cmocka_unit_test(what_both_name_may_differ),
        cmocka_unit_test(one_key_twice_means_either),
        cmocka_unit_test(allocators_that_both_name_may_differ),
        cmocka_unit_test(cells_of_other_events_are_not_one),
        cmocka_unit_test(two_partners_of_one_cell_are_refused),
        cmocka_unit_test(mistakes_name_what_is_nearest),
        cmocka_unit_test(run_against_itself_shows_nothing),
        cmocka_unit_test(ratio_is_b_over_a_and_swapping_inverts_it),
        cmocka_unit_test(least_effect_and_level_are_obeyed),
        cmocka_unit_test(p_is_adjusted_over_the_whole_comparison),
        cmocka_unit_test(sets_apart_that_are_not_told_apart_are_too_few),
        cmocka_unit_test(failed_cell_is_a_pair_without_numbers),
        cmocka_unit_test(table_fits_100_columns),
        cmocka_unit_test(summary_counts_what_was_tested),
        cmocka_unit_test(json_holds_every_pair),
    };
    return cmocka_run_group_tests_name("compare", tests, folder_make, folder_remove);
}
