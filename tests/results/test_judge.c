/* test_judge.c - verdicts of experiments, from records made by hand, and claims made of them. */
#include "harness/base/json_fields.h"
#include "harness/records/records.h"
#include "harness/repro/outcome.h"
#include "harness/repro/popular_claims.h"
#include "harness/repro/repro.h"
#include "harness/repro/verdict.h"
#include "harness/repro/verdict_json.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct experiment_form form = {.native_cores = 2};

/* A part of two levels on fib and order, with what the test expects of it. */
#define HEAD                                                                                       \
    "id: T1\ntitle: A test\nclaim: x\nsource: x\nwhy: x\nrefuted: x\n"                             \
    "machines: [native, \"sim:desktop8\"]\nparts:\n"                                               \
    "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off, on]\n"
#define RATIO                                                                                      \
    HEAD "    workload: fib\n    expect:\n      - says: x\n        level: on\n        over: off\n"
#define VALUE HEAD "    workload: fib\n    expect:\n      - says: x\n        level: on\n"
#define ORDER HEAD "    workload: order\n    metric: order\n    expect:\n      - says: x\n"

static struct experiment *load(const char *format, ...) __attribute__((format(printf, 1, 2)));

static struct experiment *load(const char *format, ...)
{
    char path[] = "/tmp/test_judge.XXXXXX";
    struct error error = {0};
    FILE *to = fdopen(mkstemp(path), "w");
    va_list args;
    va_start(args, format);
    vfprintf(to, format, args);
    va_end(args);
    fclose(to);
    struct experiment *experiment = experiment_load(path, &error);
    unlink(path);
    if (!experiment)
        fail_msg("%s", error.text);
    return experiment;
}

static json_t *record_make(const char *variant, const char *workload, int workers, double number)
{
    return json_pack("{ss ss ss si ss s[s] sf}", "status", "ok", "variant", variant, "workload",
                     workload, "workers", workers, "machine", "native", "groups", "one",
                     "throughput", number);
}

/* Adds n samples of runnext=on or off, `from`, from + step and so on. */
static void add(json_t *records, bool on, int n, double from, double step)
{
    for (int i = 0; i < n; i++)
        json_array_append_new(
            records, record_make(on ? "gmp" : "gmp,runnext=off", "fib", 1, from + step * i));
}

/* The verdict of the first expectation on these records, which it takes. */
static enum verdict judge(const struct experiment *experiment, json_t *records,
                          enum verdict_lack *lack, char *reason)
{
    struct judged judged;
    judged_make(&judged, &experiment->parts[0], 0, "native", records, &form);
    assert_true(judged.count > 0);
    const struct verdict_column *column = &judged.columns[judged.decisive];
    *lack = column->lack;
    snprintf(reason, VERDICT_REASON_SIZE, "%s", column->reason);
    assert_int_equal(column->verdict, judged.verdict);
    assert_true((judged.verdict == VERDICT_UNDECIDED) == (column->lack != LACK_NOTHING));
    assert_true((judged.verdict == VERDICT_SUPPORTED) == (*reason == '\0'));
    enum verdict verdict = judged.verdict;
    judged_free(&judged);
    json_decref(records);
    return verdict;
}

/* The same of an expectation of a ratio in that range. */
static enum verdict judge_ratio(const char *range, json_t *records, enum verdict_lack *lack,
                                char *reason)
{
    struct experiment *experiment = load(RATIO "        %s\n", range);
    enum verdict found = judge(experiment, records, lack, reason);
    experiment_free(experiment);
    return found;
}

/* Samples around `on` and around 100. */
static json_t *records_of_ratio(double on)
{
    json_t *records = json_array();
    add(records, true, 8, on, 1);
    add(records, false, 8, 97, 1);
    return records;
}

/* Expects the verdict on the ratio of these. */
static void expect_ratio(const char *range, double on, enum verdict verdict, const char *part)
{
    char reason[VERDICT_REASON_SIZE];
    enum verdict_lack lack;
    enum verdict found = judge_ratio(range, records_of_ratio(on), &lack, reason);
    if (found != verdict || !strstr(reason, part))
        fail_msg("%s, %g: %s, \"%s\"", range, on, verdict_text(found), reason);
}

static void intervals_are_held_against_ranges(void **state)
{
    (void)state;
    expect_ratio("at_least: 2", 300, VERDICT_SUPPORTED, "");
    expect_ratio("at_least: 2", 150, VERDICT_REFUTED, "and at least 2.00\303\227 was expected");
    expect_ratio("at_least: 2", 198, VERDICT_UNDECIDED, "reaches over the end of");
    expect_ratio("at_most: 2", 150, VERDICT_SUPPORTED, "");
    expect_ratio("at_most: 2", 300, VERDICT_REFUTED, "at most");
    expect_ratio("at_most: 2", 198, VERDICT_UNDECIDED, "at most");
    expect_ratio("between: [1.9, 2.2]", 202, VERDICT_SUPPORTED, "");
    expect_ratio("between: [1.9, 2.2]", 150, VERDICT_REFUTED, "1.90\303\227 to 2.20\303\227");
    expect_ratio("between: [1.9, 2.0]", 198, VERDICT_UNDECIDED, "reaches over");
    expect_ratio("exactly: 2", 200, VERDICT_REFUTED, "samples differ");
}

/* Eight samples of each side, from a machine with such a speed in each block; one side is `gain`
 * times as fast. The last `apart` of it are of other blocks; first 0: the records do not tell any.
 */
static enum verdict judge_by_blocks(const double speed[8], double gain, int first, int apart,
                                    enum verdict_lack *lack)
{
    char reason[VERDICT_REASON_SIZE];
    json_t *records = json_array();
    for (int i = 0; i < 8; i++) {
        for (int on = 0; on < 2; on++) {
            int block = i + first + (on && i >= 8 - apart ? 8 : 0);
            add(records, on, 1, speed[i] * (on ? gain : 1), 0);
            json_t *last = json_array_get(records, json_array_size(records) - 1);
            if (first > 0)
                json_object_set_new(last, "block", json_integer(block));
        }
    }
    return judge_ratio("at_least: 1.2", records, lack, reason);
}

static void what_slows_a_block_drops_out_of_a_ratio(void **state)
{
    (void)state;
    enum verdict_lack lack;
    static const double speed[] = {100, 52, 97, 60, 103, 55, 80, 99};
    static const double two_speeds[] = {100, 101, 102, 99, 50, 51, 49, 50};
    assert_int_equal(judge_by_blocks(speed, 1.3, 1, 0, &lack), VERDICT_SUPPORTED);
    assert_int_equal(judge_by_blocks(speed, 1.3, 1, 2, &lack), VERDICT_SUPPORTED);
    assert_int_equal(judge_by_blocks(speed, 1.3, 1, 3, &lack), VERDICT_UNDECIDED);
    assert_int_equal(lack, LACK_WIDTH);
    assert_int_equal(judge_by_blocks(speed, 1.3, 0, 0, &lack), VERDICT_UNDECIDED);
    assert_int_equal(lack, LACK_WIDTH);
    assert_int_equal(judge_by_blocks(two_speeds, 1.3, 1, 0, &lack), VERDICT_SUPPORTED);
}

/* A value of the throughput, over samples from, from + step and so on. */
static void expect_plain(const char *range, int n, double from, double step, enum verdict verdict,
                         enum verdict_lack lack)
{
    char reason[VERDICT_REASON_SIZE];
    enum verdict_lack found_lack;
    struct experiment *experiment = load(VALUE "        %s\n", range);
    json_t *records = json_array();
    add(records, true, n, from, step);
    enum verdict found = judge(experiment, records, &found_lack, reason);
    if (found != verdict || found_lack != lack)
        fail_msg("%s, %d from %g by %g: %s, \"%s\"", range, n, from, step, verdict_text(found),
                 reason);
    experiment_free(experiment);
}

static void equal_samples_need_no_interval(void **state)
{
    (void)state;
    expect_plain("at_least: 5", 2, 5, 0, VERDICT_SUPPORTED, LACK_NOTHING);
    expect_plain("at_least: 6", 2, 5, 0, VERDICT_REFUTED, LACK_NOTHING);
    expect_plain("exactly: 5", 2, 5, 0, VERDICT_SUPPORTED, LACK_NOTHING);
    expect_plain("exactly: 5", 6, 5, 0.1, VERDICT_REFUTED, LACK_NOTHING);
    expect_plain("exactly: 5", 1, 5, 0, VERDICT_UNDECIDED, LACK_SAMPLES);
    expect_plain("at_least: 5", 1, 5, 0, VERDICT_UNDECIDED, LACK_SAMPLES);
    expect_plain("at_least: 5", 5, 7, 0.1, VERDICT_UNDECIDED, LACK_SAMPLES);
    expect_plain("at_least: 5", 6, 7, 0.1, VERDICT_SUPPORTED, LACK_NOTHING);
    expect_plain("at_least: 5", 0, 7, 0.1, VERDICT_UNDECIDED, LACK_CELL);
}

static void a_failed_sample_leaves_no_verdict(void **state)
{
    (void)state;
    char reason[VERDICT_REASON_SIZE];
    enum verdict_lack lack;
    struct experiment *experiment = load(RATIO "        at_least: 2\n");
    json_t *records = json_array(), *failed = record_make("gmp,runnext=off", "fib", 1, 1);
    add(records, true, 8, 300, 1);
    add(records, false, 7, 97, 1);
    json_array_append_new(records, failed);
    record_fail(failed, "wrong answer");
    assert_int_equal(judge(experiment, records, &lack, reason), VERDICT_UNDECIDED);
    assert_int_equal(lack, LACK_CELL);
    assert_string_equal(reason,
                        "1 of 8 samples of gmp,runnext=off on fib, 1 worker failed: wrong answer");

    records = json_array();
    add(records, true, 8, 300, 1);
    add(records, false, 1, 97, 1);
    json_object_set_new(json_array_get(records, 8), "status", json_string("skipped"));
    json_object_set_new(json_array_get(records, 8), "reason", json_string("too large"));
    assert_int_equal(judge(experiment, records, &lack, reason), VERDICT_UNDECIDED);
    assert_string_equal(reason, "gmp,runnext=off on fib, 1 worker was skipped: too large");
    experiment_free(experiment);
}

/* Samples of other groups, workers and machines are not those of the cell. */
static void only_the_cell_counts(void **state)
{
    (void)state;
    char reason[VERDICT_REASON_SIZE];
    enum verdict_lack lack;
    struct experiment *experiment = load(VALUE "        exactly: 5\n");
    json_t *records = json_array();
    add(records, true, 6, 5, 0);
    add(records, false, 6, 9, 0);
    json_array_append_new(records, record_make("gmp", "fib", 2, 9));
    json_array_append_new(records, record_make("gmp", "ring", 1, 9));
    json_t *other = record_make("gmp", "fib", 1, 9), *simulated = record_make("gmp", "fib", 1, 9);
    json_object_set_new(other, "groups", json_pack("[s]", "two"));
    json_object_set_new(simulated, "machine", json_string("sim:desktop8"));
    json_array_append_new(records, other);
    json_array_append_new(records, simulated);
    assert_int_equal(judge(experiment, records, &lack, reason), VERDICT_SUPPORTED);
    experiment_free(experiment);
}

static void cores_are_told_before_samples(void **state)
{
    (void)state;
    char reason[VERDICT_REASON_SIZE];
    enum verdict_lack lack;
    struct experiment *experiment =
        load(HEAD "    workload: fib\n    workers: [1, 4]\n    expect:\n      - says: x\n"
                  "        level: on\n        at_least: 5\n");
    json_t *records = json_array();
    add(records, true, 6, 7, 0.1);
    assert_int_equal(judge(experiment, records, &lack, reason), VERDICT_UNDECIDED);
    assert_int_equal(lack, LACK_CORES);
    assert_string_equal(reason, "4 workers take as many cores, and native has 2");
    experiment_free(experiment);
}

static void an_event_may_be_absent(void **state)
{
    (void)state;
    char reason[VERDICT_REASON_SIZE];
    enum verdict_lack lack;
    struct experiment *experiment =
        load(VALUE "        metric: PAPI_L1_DCM\n        at_least: 5\n");
    json_t *records = json_array(), *record;
    size_t i;
    add(records, true, 6, 7, 0.1);
    json_array_foreach(records, i, record) json_object_set_new(
        record, "events",
        json_pack("[{ss ss ss}]", "name", "PAPI_L1_DCM", "source", "pmu", "absent", "no PMU"));
    assert_int_equal(judge(experiment, records, &lack, reason), VERDICT_UNDECIDED);
    assert_int_equal(lack, LACK_COUNTERS);
    assert_string_equal(reason, "PAPI_L1_DCM cannot be had: no PMU");
    experiment_free(experiment);
}

/* Samples of a ratio that has only zeros below. */
static void expect_over_zero(const char *range, double on, enum verdict verdict)
{
    char reason[VERDICT_REASON_SIZE];
    enum verdict_lack lack;
    json_t *records = json_array();
    add(records, true, 6, on, 1);
    add(records, false, 6, 0, 0);
    assert_int_equal(judge_ratio(range, records, &lack, reason), verdict);
}

static void a_ratio_over_zero_is_without_bound(void **state)
{
    (void)state;
    expect_over_zero("at_least: 2", 5, VERDICT_SUPPORTED);
    expect_over_zero("at_most: 2", 5, VERDICT_REFUTED);
    expect_over_zero("at_least: 2", 0, VERDICT_UNDECIDED);
}

static void expect_order(const char *found, const char *last, enum verdict verdict,
                         const char *part)
{
    char reason[VERDICT_REASON_SIZE];
    enum verdict_lack lack;
    struct experiment *experiment = load(ORDER "        level: on\n        exactly: 9 0-8\n");
    json_t *records = json_array();
    for (int i = 0; i < 3; i++) {
        json_t *record = record_make("gmp", "order", 1, 1);
        json_object_set_new(record, "order", json_string(i < 2 ? found : last));
        json_array_append_new(records, record);
    }
    assert_int_equal(judge(experiment, records, &lack, reason), verdict);
    if (!strstr(reason, part))
        fail_msg("\"%s\"", reason);
    experiment_free(experiment);
}

/* Twelve samples of runnext=on at 190 and two at `other`, over 100. */
static void expect_of_regimes(const char *range, double other, enum verdict verdict,
                              enum verdict_lack wanted)
{
    char reason[VERDICT_REASON_SIZE];
    enum verdict_lack lack;
    json_t *records = json_array();
    add(records, true, 12, 190, 1);
    add(records, true, 2, other, 1);
    add(records, false, 8, 97, 1);
    assert_int_equal(judge_ratio(range, records, &lack, reason), verdict);
    assert_int_equal(lack, wanted);
    assert_true((lack == LACK_REGIMES) == (strstr(reason, "two regimes") != NULL));
}

static void nothing_is_claimed_that_depends_on_the_regime(void **state)
{
    (void)state;
    expect_of_regimes("at_least: 0.3", 60, VERDICT_SUPPORTED, LACK_NOTHING); /* in either */
    expect_of_regimes("at_least: 9", 60, VERDICT_REFUTED, LACK_NOTHING);     /* in neither */
    expect_of_regimes("at_least: 1.1", 60, VERDICT_UNDECIDED, LACK_REGIMES);
}

/* Eight simulated samples of either side. With runnext=on there are `more` more steals. */
static void expect_of_twins(const char *range, int more, enum verdict verdict,
                            enum verdict_lack wanted)
{
    struct judged judged;
    struct experiment *experiment = load(RATIO "        %s\n", range);
    json_t *records = json_array();
    for (int i = 0; i < 16; i++) {
        int seed = i / 2;
        json_t *record = record_make(i % 2 ? "gmp" : "gmp,runnext=off", "fib", 1, 100 + seed);
        json_object_set_new(record, "machine", json_string("sim:desktop8"));
        json_object_set_new(record, "sim_seed", json_integer(seed));
        json_object_set_new(
            record, "events",
            json_pack("[{ss ss si}]", "name", "STEALS", "source", "sde", "value", i % 2 * more));
        json_array_append_new(records, record);
    }
    judged_make(&judged, &experiment->parts[0], 0, "sim:desktop8", records, &form);
    assert_int_equal(judged.verdict, verdict);
    assert_int_equal(judged.columns[0].lack, wanted);
    assert_true((wanted == LACK_SAME) == (strstr(judged.columns[0].reason, "same run") != NULL));
    assert_true((wanted == LACK_SAME) == isnan(judged.columns[0].effect.median));
    judged_free(&judged);
    json_decref(records);
    experiment_free(experiment);
}

static void a_run_beside_itself_tests_nothing(void **state)
{
    (void)state;
    expect_of_twins("between: [0.5, 2]", 1, VERDICT_SUPPORTED, LACK_NOTHING);
    expect_of_twins("between: [0.5, 2]", 0, VERDICT_UNDECIDED, LACK_SAME);
    expect_of_twins("at_least: 2", 0, VERDICT_UNDECIDED, LACK_SAME);
    expect_of_twins("between: [0.999, 1.001]", 0, VERDICT_SUPPORTED, LACK_NOTHING);
    expect_of_twins("between: [0.999, 1.001]", 1, VERDICT_UNDECIDED, LACK_WIDTH);
}

/* Expects how it is told that samples around `on` were held against the range, over 100. */
static void expect_told(const char *role, const char *range, double on, const char *told)
{
    struct judged judged;
    struct experiment *experiment =
        load(RATIO "        role: %s\n        %s\n      - {says: x, level: on, at_least: 1}\n",
             role, range);
    json_t *records = records_of_ratio(on);
    judged_make(&judged, &experiment->parts[0], 0, "native", records, &form);
    if (strcmp(outcome_told(&judged), told) != 0)
        fail_msg("%s, %s, %g: %s, not %s", role, range, on, outcome_told(&judged), told);
    judged_free(&judged);
    json_decref(records);
    experiment_free(experiment);
}

static void each_role_has_its_words(void **state)
{
    (void)state;
    expect_told("claim", "at_least: 2", 300, "supported");
    expect_told("claim", "at_least: 2", 150, "refuted");
    expect_told("claim", "at_least: 2", 198, "undecided");
    expect_told("size", "between: [1.9, 2.2]", 200, "as expected");
    expect_told("size", "between: [1.9, 2.2]", 150, "smaller");
    expect_told("size", "between: [1.9, 2.2]", 300, "larger");
    expect_told("size", "at_least: 2", 198, "undecided");
    expect_told("size", "exactly: 2", 200, "larger");
    expect_told("price", "at_most: 2", 300, "larger");
    expect_told("check", "at_most: 2", 300, "not held");
    expect_told("check", "at_most: 2", 150, "held");
    expect_told("check", "at_most: 2", 198, "undecided");
}

/* Nothing is known of a runtime that is not built, which is neither for it nor against it. */
static void a_peer_that_is_skipped_is_not_run(void **state)
{
    (void)state;
    char reason[VERDICT_REASON_SIZE];
    enum verdict_lack lack;
    struct experiment *experiment =
        load("id: T1\ntitle: x\nclaim: x\nsource: x\nwhy: x\nrefuted: x\nparts:\n  - id: one\n"
             "    factor: variant\n    levels: [gmp, \"peer:go\"]\n    workload: order\n"
             "    metric: order\n    expect:\n      - says: x\n        level: \"peer:go\"\n"
             "        exactly: 9 0-8\n      - says: x\n        exactly: 9 0-8\n");
    const struct experiment_part *part = &experiment->parts[0];
    assert_false(experiment_is_deterministic(part, &part->expect[0], "native"));
    assert_true(experiment_is_deterministic(part, &part->expect[1], "native"));
    json_t *record = record_make("peer:go", "order", 1, 0), *records = json_pack("[o]", record);
    json_object_set_new(record, "status", json_string("skipped"));
    json_object_set_new(record, "reason", json_string("peer:go is not built here"));
    struct judged judged;
    judged_make(&judged, part, 0, "native", records, &form);
    assert_int_equal(judged.verdict, VERDICT_NOT_RUN);
    assert_int_equal(judged.columns[0].lack, LACK_PEER);
    assert_string_equal(judged.columns[0].reason, "peer:go is not built here");
    judged_free(&judged);
    json_decref(records);
    records = json_array();
    for (int i = 0; i < 2; i++) {
        record = record_make("peer:go", "order", 1, 0);
        json_object_set_new(record, "order", json_string("9 0-8"));
        json_array_append_new(records, record);
    }
    assert_int_equal(judge(experiment, records, &lack, reason), VERDICT_SUPPORTED);
    experiment_free(experiment);
    assert_int_equal(verdict_join(VERDICT_SUPPORTED, VERDICT_NOT_RUN), VERDICT_NOT_RUN);
    assert_int_equal(verdict_join(VERDICT_NOT_RUN, VERDICT_UNDECIDED), VERDICT_UNDECIDED);
}

static void machines_disagree_only_on_what_is_decided(void **state)
{
    (void)state;
    static const struct {
        unsigned supported, undecided, refuted, not_run;
        enum verdict of_all;
    } cases[] = {
        {0, 0, 0, 0, VERDICT_NONE},      {2, 0, 0, 0, VERDICT_SUPPORTED},
        {1, 1, 0, 0, VERDICT_UNDECIDED}, {0, 1, 1, 0, VERDICT_REFUTED},
        {0, 0, 2, 0, VERDICT_REFUTED},   {1, 0, 1, 0, VERDICT_DISAGREE},
        {1, 1, 1, 0, VERDICT_DISAGREE},  {1, 0, 0, 1, VERDICT_NOT_RUN},
        {0, 1, 0, 1, VERDICT_UNDECIDED}, {0, 0, 1, 1, VERDICT_REFUTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned count[VERDICTS] = {[VERDICT_NONE] = 1,
                                    [VERDICT_SUPPORTED] = cases[i].supported,
                                    [VERDICT_UNDECIDED] = cases[i].undecided,
                                    [VERDICT_NOT_RUN] = cases[i].not_run,
                                    [VERDICT_REFUTED] = cases[i].refuted};
        assert_int_equal(verdict_of_machines(count), cases[i].of_all);
    }
}

/* Expects what is said of a tally, given as JSON, that is added to itself. */
static void expect_said(const char *verdict, const char *tally, const char *wanted)
{
    json_t *sum = json_object(), *once = json_loads(tally, 0, NULL);
    outcome_tally_add(sum, once);
    outcome_tally_add(sum, once);
    char *said = outcome_said(verdict, sum);
    assert_string_equal(said, wanted);
    free(said);
    json_decref(once);
    json_decref(sum);
}

static void a_tally_is_said_in_a_line(void **state)
{
    (void)state;
    expect_said("none", "{}", "no claim measured");
    expect_said("supported", "{\"claim\": {\"supported\": 1}}", "claim supported");
    expect_said("refuted", "{\"size\": {\"as expected\": 2, \"larger\": 1}}",
                "claim refuted; 4 of 6 sizes as expected");
    expect_said("supported", "{\"price\": {\"as expected\": 1, \"undecided\": 2}}",
                "claim supported; 2 of 6 prices as expected, 4 undecided");
    expect_said("machines disagree",
                "{\"price\": {\"smaller\": 1}, \"check\": {\"held\": 1, \"not held\": 1}}",
                "machines disagree on the claim; 0 of 2 prices as expected; 2 of 4 checks held");
}

static void orders_are_texts(void **state)
{
    (void)state;
    expect_order("9 0-8", "9 0-8", VERDICT_SUPPORTED, "");
    expect_order("9 0-8", "0-9", VERDICT_REFUTED, "it is 0-9");
    expect_order("0-9", "0-9", VERDICT_REFUTED, "it is 0-9");
    expect_order("", "", VERDICT_UNDECIDED, "no order");
}

/* It must hold on each column; the one that decides is shown. */
static void the_worst_column_decides(void **state)
{
    (void)state;
    struct judged judged;
    struct experiment *experiment =
        load(HEAD "    workload: fib\n    workers: [1, 2]\n    expect:\n      - says: x\n"
                  "        level: on\n        at_least: 5\n");
    json_t *records = json_array();
    add(records, true, 2, 9, 0);
    for (int i = 0; i < 2; i++)
        json_array_append_new(records, record_make("gmp", "fib", 2, 6));
    judged_make(&judged, &experiment->parts[0], 0, "native", records, &form);
    assert_int_equal(judged.verdict, VERDICT_SUPPORTED);
    assert_int_equal(judged.decisive, 1); /* nearer to 5 */
    judged_free(&judged);
    json_object_set_new(json_array_get(records, 0), "throughput", json_real(4));
    json_object_set_new(json_array_get(records, 1), "throughput", json_real(4));
    judged_make(&judged, &experiment->parts[0], 0, "native", records, &form);
    assert_int_equal(judged.verdict, VERDICT_REFUTED);
    assert_int_equal(judged.decisive, 0);
    json_t *first = judged_to_json(&judged, "native"), *second = judged_to_json(&judged, "native");
    assert_true(json_equal(first, second));
    assert_false(json_is_true(json_object_get(first, "deterministic")));
    json_decref(first);
    json_decref(second);
    judged_free(&judged);
    json_decref(records);
    experiment_free(experiment);
}

static void expectations_may_be_of_one_machine(void **state)
{
    (void)state;
    struct judged judged;
    struct experiment *experiment =
        load(VALUE "        machine: sim:desktop8\n        at_least: 5\n");
    json_t *records = json_array();
    judged_make(&judged, &experiment->parts[0], 0, "native", records, &form);
    assert_int_equal(judged.verdict, VERDICT_NONE);
    judged_free(&judged);
    judged_make(&judged, &experiment->parts[0], 0, "sim:desktop8", records, &form);
    assert_int_equal(judged.verdict, VERDICT_UNDECIDED);
    judged_free(&judged);
    json_decref(records);
    experiment_free(experiment);
}

/* Claims -------------------------------------------------------------------------------------- */

/* An experiment with a part on one machine, as repro.json has it: a column of gmp, and one of Go,
 * unless that is NULL. */
static json_t *place_of(const char *machine, const char *gmp, const char *peer)
{
    json_t *columns = json_pack("[{ss s{ss}}]", "verdict", gmp, "level", "variant", "gmp,ring=8");
    if (peer)
        json_array_append_new(columns,
                              json_pack("{ss ss s{ss s{ss ss}}}", "verdict", peer, "reason",
                                        "it is so", "level", "variant", "peer:go", "runtime",
                                        "name", "Go", "version", "1.19.8"));
    return json_pack("{ss s[{ss s[{si ss so}]}]}", "machine", machine, "parts", "id", "one",
                     "expectations", "number", 1, "verdict", "undecided", "columns", columns);
}

static json_t *experiment_of(const char *id, json_t *native, json_t *simulated)
{
    json_t *places = json_pack("[o]", native);
    if (simulated)
        json_array_append_new(places, simulated);
    return json_pack("{ss so}", "id", id, "machines", places);
}

/* A claim that so many expectations show. */
static struct claim claim_of(char **shown_by, unsigned count)
{
    static char id[] = "1.1", degree[] = "right", x[] = "x";
    return (struct claim){.id = id,
                          .degree = degree,
                          .who = x,
                          .says = x,
                          .go = x,
                          .shown_by = shown_by,
                          .shown_by_count = count};
}

/* Takes the experiment; the answers of a claim that it is about on both sides. */
static void expect_answers(json_t *experiment, const char *gmp, const char *itself)
{
    char *shown[] = {(char[]){"T1/one#1"}};
    struct claim claim = claim_of(shown, 1);
    claim.go_itself = shown;
    claim.go_itself_count = itself ? 1 : 0;
    struct claims claims = {.list = &claim, .count = 1};
    json_t *experiments = json_pack("[o]", experiment);
    json_t *judged = claims_judge(&claims, experiments, true);
    const json_t *one = json_array_get(judged, 0);
    assert_string_equal(claim_degree(one), "right");
    assert_string_equal(claim_agreement(one, "gmp"), gmp);
    assert_string_equal(claim_agreement(one, "itself"), itself ? itself : "not measured");
    assert_int_equal(claims_count(judged, "right", "gmp", gmp), 1);
    assert_int_equal(claims_count(judged, "wrong", NULL, NULL), 0);
    json_decref(judged);
    judged = claims_judge(&claims, experiments, false);
    bool is_about = strcmp(field_text(json_array_get(experiments, 0), "id"), "T1") == 0;
    assert_int_equal(json_array_size(judged), is_about); /* else nothing that it is about was run */
    json_decref(judged);
    json_decref(experiments);
}

static void a_claim_has_an_answer_of_each_side(void **state)
{
    (void)state;
    expect_answers(experiment_of("T1", place_of("native", "supported", NULL),
                                 place_of("sim:desktop8", "supported", NULL)),
                   "agrees", NULL);
    expect_answers(experiment_of("T1", place_of("native", "supported", NULL),
                                 place_of("sim:desktop8", "undecided", NULL)),
                   "agrees", NULL);
    expect_answers(experiment_of("T1", place_of("native", "supported", NULL),
                                 place_of("sim:desktop8", "refuted", NULL)),
                   "differs", NULL);
    expect_answers(experiment_of("T1", place_of("native", "undecided", NULL), NULL), "undecided",
                   NULL);
    expect_answers(experiment_of("T1", place_of("native", "supported", "refuted"), NULL), "agrees",
                   "differs");
    expect_answers(experiment_of("T1", place_of("native", "refuted", "supported"), NULL), "differs",
                   "agrees");
    expect_answers(experiment_of("T1", place_of("native", "supported", "not run"), NULL), "agrees",
                   "not run");
    expect_answers(experiment_of("T1", place_of("native", "supported", "undecided"), NULL),
                   "agrees", "undecided");
    expect_answers(experiment_of("T2", place_of("native", "supported", "supported"), NULL),
                   "not run", "not run");
}

static void a_claim_names_the_machines_that_bear_it_out(void **state)
{
    (void)state;
    char *shown[] = {(char[]){"T1/one#1"}};
    struct claim claim = claim_of(shown, 1);
    struct claims claims = {.list = &claim, .count = 1};
    json_t *experiments =
        json_pack("[o]", experiment_of("T1", place_of("native", "undecided", NULL),
                                       place_of("sim:desktop8", "supported", NULL)));
    json_t *judged = claims_judge(&claims, experiments, true);
    const json_t *one = json_array_get(judged, 0);
    const json_t *part = json_array_get(json_object_get(json_object_get(one, "gmp"), "parts"), 0);
    assert_string_equal(field_text(part, "verdict"), "supported");
    assert_string_equal(field_text(part, "machines"), "sim:desktop8");
    assert_string_equal(field_text(part, "undecided"), "native");
    char *undecided = claim_undecided(one, "gmp");
    assert_string_equal(undecided, "T1/one#1 on native");
    free(undecided);
    json_decref(judged);
    json_decref(experiments);
}

static void claims_say_why_and_by_which_go(void **state)
{
    (void)state;
    char *shown[] = {(char[]){"T1/one"}, (char[]){"T2/one"}};
    struct claim claim[] = {claim_of(NULL, 0), claim_of(shown, 2), claim_of(NULL, 0)};
    claim[0].not_shown = (char[]){"no such knob"};
    claim[0].go_itself = shown;
    claim[0].go_itself_count = 1;
    claim[1].degree = (char[]){"wrong"};
    claim[2].degree = (char[]){"outdated"};
    claim[2].not_shown = (char[]){"it is gone"};
    struct claims claims = {.list = claim, .count = 3};
    json_t *experiments =
        json_pack("[o]", experiment_of("T1", place_of("native", "supported", "supported"), NULL));
    json_t *judged = claims_judge(&claims, experiments, true);
    assert_string_equal(claims_runtime(judged), "Go 1.19.8");
    const json_t *second = json_object_get(json_array_get(judged, 1), "gmp");
    assert_string_equal(field_text(second, "agreement"), "not run"); /* half of it is */
    assert_string_equal(field_text(second, "reason"), "T2/one: not of this run");
    assert_false(claim_is_not_measured(json_array_get(judged, 0)));
    assert_true(claim_is_not_measured(json_array_get(judged, 2)));
    char *sum = claims_sum_text(judged);
    assert_string_equal(sum, "3 claims: 1 right, 0 imprecise, 1 outdated, 1 wrong; gmp is not run "
                             "on 1; Go 1.19.8 agrees with Go's source on 1; nothing measures 1");
    free(sum);
    json_decref(judged);
    json_decref(experiments);
}

/* Between jobs --------------------------------------------------------------------------------- */

/* A signal that comes as the next job is told: no job measures then, and none has begun to. */
static ssize_t told(void *cookie, const char *text, size_t size)
{
    (void)cookie;
    if (memmem(text, size, " of 1 job,", strlen(" of 1 job,")))
        raise(SIGTERM);
    return (ssize_t)size;
}

/* The signal that measuring ended by, in a process that keeps it in mind. */
static int measure_in_child(struct repro *repro)
{
    struct error error = {0};
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        FILE *messages = fopencookie(NULL, "w", (cookie_io_functions_t){.write = told});
        setvbuf(messages, NULL, _IOLBF, 0);
        _exit(repro_measure(repro, messages, &error));
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_signal_between_jobs_leaves_verdicts(void **state)
{
    (void)state;
    char folder[] = "/tmp/test_judge.XXXXXX", path[sizeof folder + 16];
    struct experiment *experiment = load(VALUE "        machine: native\n        at_least: 1\n");
    struct experiment *experiments[] = {experiment};
    char *machines[] = {"native"};
    struct repro repro = {.experiments = experiments,
                          .count = 1,
                          .form = form,
                          .which = REPRO_GIVEN,
                          .machines = machines,
                          .machines_count = 1};
    assert_non_null(mkdtemp(folder));
    snprintf(repro.folder, sizeof repro.folder, "%s", folder);
    repro_plan(&repro);
    repro_settle(&repro);
    assert_int_equal(repro.jobs_count, 1);
    assert_int_equal(measure_in_child(&repro), SIGTERM);
    snprintf(path, sizeof path, "%s/repro.json", folder);
    json_t *json = json_load_file(path, 0, NULL);
    assert_true(json_is_false(json_object_get(json, "finished")));
    json_decref(json);
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* no run has begun */
    free(repro.jobs->sweep_text);
    free(repro.jobs);
    experiment_free(experiment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_are_held_against_ranges),
        cmocka_unit_test(what_slows_a_block_drops_out_of_a_ratio),
        cmocka_unit_test(equal_samples_need_no_interval),
        cmocka_unit_test(a_failed_sample_leaves_no_verdict),
        cmocka_unit_test(only_the_cell_counts),
        cmocka_unit_test(cores_are_told_before_samples),
        cmocka_unit_test(an_event_may_be_absent),
        cmocka_unit_test(a_ratio_over_zero_is_without_bound),
        cmocka_unit_test(nothing_is_claimed_that_depends_on_the_regime),
        cmocka_unit_test(a_run_beside_itself_tests_nothing),
        cmocka_unit_test(each_role_has_its_words),
        cmocka_unit_test(a_peer_that_is_skipped_is_not_run),
        cmocka_unit_test(machines_disagree_only_on_what_is_decided),
        cmocka_unit_test(a_tally_is_said_in_a_line),
        cmocka_unit_test(orders_are_texts),
        cmocka_unit_test(the_worst_column_decides),
        cmocka_unit_test(expectations_may_be_of_one_machine),
        cmocka_unit_test(a_claim_has_an_answer_of_each_side),
        cmocka_unit_test(a_claim_names_the_machines_that_bear_it_out),
        cmocka_unit_test(claims_say_why_and_by_which_go),
        cmocka_unit_test(a_signal_between_jobs_leaves_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
