/* test_regimes.c - verdicts of experiments whose numbers are of two regimes, and the sentences
 * behind verdicts. */
#include "harness/repro/repro_file.h"
#include "harness/repro/verdict.h"
#include "harness/repro/verdict_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct experiment_form form = {.native_cores = 2};

/* Runnext on, alone or over off; a number is appended. */
#define VALUE                                                                                      \
    "id: T1\ntitle: A test\nclaim: x\nsource: x\nwhy: x\nrefuted: x\nparts:\n  - id: one\n"        \
    "    variant: gmp\n    factor: runnext\n    levels: [off, on]\n    workload: fib\n"            \
    "    expect:\n      - says: x\n        level: on\n        at_least: "
#define RATIO_AT(number) VALUE number "\n        over: off\n"

/* A sample of one of 16 blocks, with so many steals an operation. */
static void add(json_t *records, bool on, int block, double throughput, double steals)
{
    json_array_append_new(records, json_pack("{ss ss ss si ss s[s] sf si s[{ss sf}]}", "status",
                                             "ok", "variant", on ? "gmp" : "gmp,runnext=off",
                                             "workload", "fib", "workers", 1, "machine", "native",
                                             "groups", "one", "throughput", throughput, "block",
                                             block, "events", "name", "STEALS", "per_op", steals));
}

/* Thirteen blocks in which one side is 1.5 times as fast, and three in which it is not. */
static json_t *records_make(void)
{
    json_t *records = json_array();
    for (int i = 0; i < 16; i++) {
        add(records, false, i, 100 + i, 8);
        add(records, true, i, (100 + i) * (i < 13 ? 1.5 : 0.9), i < 13 ? 0.5 : 8);
    }
    return records;
}

static struct experiment *load(const char *yaml)
{
    char path[] = "/tmp/test_regimes.XXXXXX";
    struct error error = {0};
    FILE *to = fdopen(mkstemp(path), "w");
    fputs(yaml, to);
    fclose(to);
    struct experiment *experiment = experiment_load(path, &error);
    unlink(path);
    if (!experiment)
        fail_msg("%s", error.text);
    return experiment;
}

/* Expects of the only column what is told of its regimes, and the reason of its verdict. */
static void expect_column(const char *yaml, enum verdict verdict, const char *reason,
                          const char *told)
{
    struct judged judged;
    struct experiment *experiment = load(yaml);
    json_t *records = records_make();
    judged_make(&judged, &experiment->parts[0], 0, "native", records, &form);
    assert_int_equal(judged.verdict, verdict);
    assert_string_equal(judged.columns[0].reason, reason);
    json_t *object = judged_to_json(&judged, "native");
    const json_t *column = json_array_get(json_object_get(object, "columns"), 0);
    assert_int_equal(json_array_size(json_object_get(json_object_get(column, "regimes"), "values")),
                     16);
    char *text = repro_file_regimes(column);
    assert_string_equal(text, told);
    free(text);
    json_decref(object);
    judged_free(&judged);
    json_decref(records);
    experiment_free(experiment);
}

#define SHARES "two regimes: 3 of 16 ratios of blocks at 0.90\303\227, 13 at 1.50\303\227"
#define VALUES "two regimes: 3 of 16 samples of gmp on fib, 1 worker, at 103, 13 at 159"

static void ratios_that_decide_by_chance_decide_nothing(void **state)
{
    (void)state;
    expect_column(RATIO_AT("1.2"), VERDICT_UNDECIDED, SHARES ", and one is inside the range",
                  "the regimes differ in STEALS 8 and 0.5");
}

static void regimes_that_decide_nothing_are_told_too(void **state)
{
    (void)state;
    expect_column(RATIO_AT("0.8"), VERDICT_SUPPORTED, "",
                  SHARES "; they differ in STEALS 8 and 0.5");
}

static void values_are_told_likewise(void **state)
{
    (void)state;
    expect_column(VALUE "50\n", VERDICT_SUPPORTED, "", VALUES "; they differ in STEALS 8 and 0.5");
    expect_column(VALUE "140\n", VERDICT_UNDECIDED, VALUES ", and one is inside the range",
                  "the regimes differ in STEALS 8 and 0.5");
}

static void both_sides_of_a_ratio_are_told(void **state)
{
    (void)state;
    struct judged judged;
    struct experiment *experiment = load(RATIO_AT("1.2"));
    json_t *records = json_array();
    for (int i = 0; i < 16; i++) { /* no pairs: it is the ratio of medians */
        add(records, false, i, i < 4 ? 100 : 200, i < 4 ? 2 : 3);
        add(records, true, 100 + i, i < 13 ? 300 : 170, i < 13 ? 0.5 : 8);
    }
    judged_make(&judged, &experiment->parts[0], 0, "native", records, &form);
    const struct verdict_regimes *regimes = &judged.columns[0].regimes;
    assert_string_equal(regimes->of, "level");
    assert_string_equal(regimes->text,
                        "3 of 16 samples of gmp on fib, 1 worker, at 170, 13 at 300; 4 of 16 "
                        "samples of gmp,runnext=off on fib, 1 worker, at 100, 12 at 200");
    assert_string_equal(regimes->differ, "STEALS 8 and 0.5 (on), STEALS 2 and 3 (off)");
    assert_int_equal(judged.columns[0].lack, LACK_REGIMES); /* 170 / 200 is outside */
    assert_non_null(
        strstr(judged.columns[0].reason, ", and some of their ratios are inside the range"));
    judged_free(&judged);
    json_decref(records);
    experiment_free(experiment);
}

#define STEALS_AT(number) RATIO_AT(number) "        metric: STEALS\n"

/* Takes records. */
static void expect_why(const char *yaml, json_t *records, enum verdict_lack lack, const char *why)
{
    struct judged judged;
    struct experiment *experiment = load(yaml);
    judged_make(&judged, &experiment->parts[0], 0, "native", records, &form);
    assert_int_equal(judged.columns[0].lack, lack);
    if (why)
        assert_string_equal(judged.columns[0].why, why);
    else
        assert_null(judged.columns[0].why);
    if (judged.columns[0].regimes.of)
        assert_string_equal(judged.columns[0].regimes.differ, "");
    judged_free(&judged);
    json_decref(records);
    experiment_free(experiment);
}

static void marked_samples_are_not_behind_a_sentence(void **state)
{
    (void)state;
    json_t *records = json_array();
    for (int i = 0; i < 20; i++) {
        add(records, false, i, 100, 1);
        add(records, true, i, 100, i < 8 ? 2 : 50);
        if (i >= 8)
            json_object_set_new(json_array_get(records, json_array_size(records) - 1), "marks",
                                json_pack("[s]", "robbed"));
    }
    expect_why(STEALS_AT("1.2"), records, LACK_NOTHING,
               "2.00 an operation against 1.00 an operation: searches that found work in "
               "another's queue");
}

static void no_sentence_depends_on_the_regime(void **state)
{
    (void)state;
    json_t *records = json_array();
    for (int i = 0; i < 16; i++) { /* by the metric alone, which tells nothing of itself */
        add(records, false, i, 100, 1);
        add(records, true, i, 100, (i < 13 ? 1.5 : 0.9) * (1 + i / 100.0));
    }
    json_incref(records);
    expect_why(STEALS_AT("1.2"), records, LACK_REGIMES, NULL);
    expect_why(STEALS_AT("0.8"), records, LACK_NOTHING,
               "1.57 an operation against 1.00 an operation: searches that found work in "
               "another's queue");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratios_that_decide_by_chance_decide_nothing),
        cmocka_unit_test(regimes_that_decide_nothing_are_told_too),
        cmocka_unit_test(values_are_told_likewise),
        cmocka_unit_test(both_sides_of_a_ratio_are_told),
        cmocka_unit_test(marked_samples_are_not_behind_a_sentence),
        cmocka_unit_test(no_sentence_depends_on_the_regime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
