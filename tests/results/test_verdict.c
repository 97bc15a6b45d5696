/* test_verdict.c - who is said to be fastest, over whom, and when nobody is. */
#include "harness/answers/report_baseline.h"
#include "harness/answers/report_tsv.h"
#include "harness/answers/report_verdict.h"
#include "harness/base/json_fields.h"
#include "harness/records/records.h"
#include "harness/report/report_json.h"
#include "harness/summary/report_answers.h"
#include "harness/tables/tables.h"
#include "tests/support/report_cell.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct verdict *verdict_of(struct report_cell *cells, size_t count)
{
    struct report_group group = {.id = "g", .cells = cells, .count = count};
    size_t verdicts;
    struct verdict *verdict = verdicts_make(&group, &verdicts);
    assert_int_equal(verdicts, 1);
    return verdict;
}

static void who_is_shown_to_be_faster_than_all_wins(void **state)
{
    (void)state;
    struct report_cell cells[] = {cell("a", 2, 90, 110), cell("b", 2, 190, 210)};
    struct verdict *verdict = verdict_of(cells, 2);
    assert_int_equal(verdict->outcome, VERDICT_WON);
    assert_string_equal(verdict->best->variant, "b");
    assert_string_equal(verdict->next->variant, "a");
    assert_int_equal(verdict->tied_count, 0);
    assert_int_equal(verdict->slower_count, 1);
    assert_true(verdict->slower[0].times.median == verdict->over_next.median);
    assert_true(verdict->over_next.median == 2);
    assert_true(verdict->over_next.lo <= 2 && verdict->over_next.hi >= 2);
    assert_true(verdict->superiority == 1);
    assert_true(fabs(verdict->p - 2.0 / 12870) < 1e-12); /* 16 over 8 */
    verdicts_free(verdict, 1);
}

static void samples_that_mix_show_no_difference(void **state)
{
    (void)state;
    struct report_cell cells[] = {cell("a", 2, 90, 110.1), cell("b", 2, 95, 116),
                                  cell("c", 2, 10, 30)};
    struct verdict *verdict = verdict_of(cells, 3);
    assert_int_equal(verdict->outcome, VERDICT_TIED);
    assert_string_equal(verdict->best->variant, "b");
    assert_int_equal(verdict->tied_count, 1);
    assert_string_equal(verdict->tied[0]->variant, "a");
    assert_int_equal(verdict->slower_count, 1);
    assert_string_equal(verdict->slower[0].cell->variant, "c");
    assert_true(fabs(verdict->slower[0].times.median - 105.5 / 20) < 1e-9);
    assert_true(verdict->slower[0].times.lo > 1);
    assert_true(verdict->p > VERDICT_ALPHA);
    assert_true(verdict->superiority > 0.5 && verdict->superiority < 1);
    verdicts_free(verdict, 1);
}

/* As many samples of b as `low` are at `at`, and the others around 200. */
static enum verdict_outcome outcome_of_regimes(int low, double at)
{
    enum { SAMPLES = 12 };
    struct report_cell cells[] = {cell("a", 2, 90, 110), cell("b", 2, 190, 210)};
    double of_b[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        of_b[i] = i < low ? at + i : 195 + i;
    cells[1].samples = cells[1].of_class[CLASS_ALL] = of_b;
    cells[1].samples_count = cells[1].of_class_count[CLASS_ALL] = SAMPLES;
    struct verdict *verdict = verdict_of(cells, 2);
    enum verdict_outcome outcome = verdict->outcome;
    bool is_open = outcome == VERDICT_OPEN;
    assert_int_equal(verdict->open_count, is_open);
    assert_int_equal(verdict->slower_count, !is_open);
    if (is_open) {
        assert_string_equal(verdict->open[0]->variant, "a");
        assert_string_equal(verdict->regimes.cell->variant, "b");
        assert_int_equal(verdict->regimes.of.low, low);
    }
    verdicts_free(verdict, 1);
    return outcome;
}

static void a_lead_in_one_regime_alone_is_open(void **state)
{
    (void)state;
    assert_int_equal(outcome_of_regimes(0, 0), VERDICT_WON);
    assert_int_equal(outcome_of_regimes(2, 60), VERDICT_OPEN);
    assert_int_equal(outcome_of_regimes(2, 130), VERDICT_WON); /* it leads in both */
    assert_int_equal(outcome_of_regimes(1, 60), VERDICT_WON);  /* an outlier */
}

static void too_few_samples_decide_nothing(void **state)
{
    (void)state;
    struct report_cell cells[] = {cell("a", 2, 90, 110), cell("b", 2, 190, 210)};
    cells[0].samples_count = 2;
    struct verdict *verdict = verdict_of(cells, 2);
    assert_int_equal(verdict->outcome, VERDICT_FEW);
    assert_string_equal(verdict->best->variant, "b");
    verdicts_free(verdict, 1);
}

/* 4 against 4 have p = 2 / 70 at least: enough for one test, too little for three together, of
 * which the two that are told are those of the one that the same samples call the fastest. */
static void tests_of_a_question_are_corrected_together(void **state)
{
    (void)state;
    struct report_cell cells[] = {cell("a", 2, 90, 110), cell("b", 2, 190, 210),
                                  cell("c", 2, 10, 30)};
    for (int i = 0; i < 3; i++)
        cells[i].samples_count = 4;
    struct verdict *two = verdict_of(cells, 2);
    assert_int_equal(two->outcome, VERDICT_WON);
    verdicts_free(two, 1);
    struct verdict *three = verdict_of(cells, 3);
    assert_int_equal(three->outcome, VERDICT_FEW);
    assert_true(fabs(three->p - 6.0 / 70) < 1e-12);
    verdicts_free(three, 1);
}

/* Questions about eight variants that are all alike: how many have one that is called slower.
 * Against the fastest alone, corrected for seven tests, 8 to 9 % would. */
static void among_equals_false_claims_are_as_rare_as_alpha_says(void **state)
{
    (void)state;
    enum { QUESTIONS = 1000, VARIANTS = 8 };
    static const char *const names[VARIANTS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t false_claims = 0;
    for (size_t i = 0; i < QUESTIONS; i++) {
        struct report_cell cells[VARIANTS];
        double samples[VARIANTS][CELL_SAMPLES];
        for (size_t k = 0; k < VARIANTS; k++) {
            cells[k] = cell(names[k], 2, 1, 2);
            for (size_t n = 0; n < CELL_SAMPLES; n++)
                samples[k][n] = 100 + gsl_ran_gaussian(rng, 5);
            cells[k].samples = samples[k];
            cells[k].of_class[CLASS_ALL] = samples[k];
            cells[k].throughput.median = statistics_median_alone(samples[k], CELL_SAMPLES);
        }
        struct verdict *verdict = verdict_of(cells, VARIANTS);
        false_claims += verdict->slower_count > 0;
        verdicts_free(verdict, 1);
    }
    gsl_rng_free(rng);
    assert_true(false_claims > 0); /* or nothing was tested */
    assert_true((double)false_claims <= VERDICT_ALPHA * QUESTIONS);
}

static void floors_failed_and_smaller_runs_do_not_compete(void **state)
{
    (void)state;
    struct report_cell cells[] = {cell("a", 1, 900, 1100), cell("serial", 2, 800, 1000),
                                  cell("b", 2, NAN, NAN), cell("floor:core", 2, 8000, 9000)};
    struct verdict *verdict = verdict_of(cells, 4);
    assert_int_equal(verdict->outcome, VERDICT_NONE);
    assert_int_equal(verdict->workers, 2);
    assert_int_equal(verdict->competitors, 0);
    assert_null(verdict->best);
    assert_null(verdict->next);
    verdicts_free(verdict, 1);
}

/* With samples of each distance, all alike; its numbers are those of `chosen`. */
struct near_and_far {
    double samples[CLASSES][2 * CELL_SAMPLES];
};

static struct report_cell near_and_far_cell(struct near_and_far *near_and_far, const char *variant,
                                            size_t near, double near_speed, size_t far,
                                            double far_speed)
{
    struct report_cell cell = {.group = "g",
                               .variant = variant,
                               .workload = "w",
                               .id = variant,
                               .status = "ok",
                               .workers = 2,
                               .chosen = near >= CLASS_MIN ? CLASS_NEAR : CLASS_ALL};
    for (size_t i = 0; i < near + far; i++) {
        enum core_distance distance = i < near ? DISTANCE_NEAR : DISTANCE_FAR;
        double speed = (i < near ? near_speed : far_speed) + (double)i;
        class_count_add(&cell.counts, distance, false);
        for (enum cell_class which = CLASS_ALL; which < CLASSES; which++)
            if (class_holds(which, distance, false))
                near_and_far->samples[which][cell.of_class_count[which]++] = speed;
    }
    for (enum cell_class which = CLASS_ALL; which < CLASSES; which++)
        cell.of_class[which] = near_and_far->samples[which];
    cell.samples = cell.of_class[cell.chosen];
    cell.samples_count = cell.of_class_count[cell.chosen];
    cell.throughput = statistics_median(cell.samples, cell.samples_count, 1);
    return cell;
}

/* As fast as one another at each distance; but B was near only twice, so its median is lower. */
static void no_verdict_across_distances(void **state)
{
    (void)state;
    struct near_and_far a, b;
    struct report_cell cells[] = {near_and_far_cell(&a, "a", 8, 200, 0, 100),
                                  near_and_far_cell(&b, "b", 2, 200, 8, 100)};
    struct verdict *verdict = verdict_of(cells, 2);
    assert_int_equal(verdict->outcome, VERDICT_UNLIKE);
    assert_null(verdict->best);
    assert_int_equal(verdict->tied_count, 2);
    assert_true(isnan(verdict->p) && isnan(verdict->over_next.median));
    verdicts_free(verdict, 1);
}

static void verdict_is_at_the_distance_that_all_have(void **state)
{
    (void)state;
    struct near_and_far a, b;
    struct report_cell cells[] = {near_and_far_cell(&a, "a", 8, 200, 8, 100),
                                  near_and_far_cell(&b, "b", 2, 200, 8, 140)};
    struct verdict *verdict = verdict_of(cells, 2);
    assert_int_equal(verdict->outcome, VERDICT_WON);
    assert_int_equal(verdict->chosen, CLASS_FAR);
    assert_string_equal(verdict->best->variant, "b");
    assert_true(verdict->superiority == 1);
    verdicts_free(verdict, 1);
}

static void cell_without_distances_meets_one_distance_of_the_others(void **state)
{
    (void)state;
    struct near_and_far a;
    struct report_cell cells[] = {near_and_far_cell(&a, "a", 8, 200, 8, 100),
                                  cell("b", 2, 120, 130)};
    struct verdict *verdict = verdict_of(cells, 2);
    assert_int_equal(verdict->outcome, VERDICT_WON);
    assert_int_equal(verdict->chosen, CLASS_NEAR);
    assert_string_equal(verdict->best->variant, "a");
    verdicts_free(verdict, 1);
}

static void file_write(const char *folder, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
}

/* Appends a sample; line_ns 0: its workers share a core, so that there was nothing to probe. */
static void record_write(char *records, size_t size, const char *variant, int block, int throughput,
                         int line_ns)
{
    size_t used = strlen(records);
    snprintf(
        records + used, size - used,
        "{\"schema\":2,\"cell\":\"%s\",\"variant\":\"%s\",\"variant_name\":\"%s\",\"workload\":"
        "\"fib,n=9\","
        "\"workload_name\":\"fib\",\"workers\":2,\"groups\":[\"g\"],\"block\":%d,\"seed\":1,"
        "\"status\":\"ok\",\"answer\":\"1\",\"digest\":\"1\",\"throughput\":%d",
        variant, variant, variant, block, throughput);
    used = strlen(records);
    if (line_ns > 0)
        snprintf(records + used, size - used,
                 ",\"probe\":{\"before\":{\"line_ns\":%d},\"after\":{\"line_ns\":%d}}", line_ns,
                 line_ns);
    strncat(records, "}\n", size - strlen(records) - 1);
}

/* A run whose variants were both near, or at distances that have not three samples of both; and
 * one variant without distances. */
static void run_write(const char *folder, bool unlike)
{
    char records[8192] = "";
    struct error error = {0};
    for (int block = 0; block < 5; block++) {
        int line_ns = unlike && block > 1 ? 350 : 50;
        record_write(records, sizeof records, "gmp", block, 200, 50);
        record_write(records, sizeof records, "grq", block, line_ns == 50 ? 200 : 100, line_ns);
        record_write(records, sizeof records, "uthread", block, 300, 0);
    }
    file_write(folder, "samples.jsonl", records);
    file_write(folder, "sweep.yaml",
               "name: t\ntitle: t\ngroups:\n  - {id: g, question: q, baseline: gmp, variants: "
               "[gmp, grq, uthread], workloads: [\"fib,n=9\"], workers: [2]}\n");
    if (tables_write(folder, &error) != 0)
        fail_msg("%s", error.text);
}

static void folder_remove(const char *folder)
{
    static const char *const files[] = {"samples.jsonl", "sweep.yaml",    "samples.tsv",
                                        "cells.tsv",     "events.tsv",    "latency.tsv",
                                        "classes.tsv",   "metg.tsv",      "scale.tsv",
                                        "baseline.tsv",  "structures.tsv"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* The answers on the page of a report; the caller frees them. */
static char *answers_of(const struct report *report)
{
    char *page = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&page, &size);
    assert_non_null(to);
    report_answers_write(to, report);
    fclose(to);
    return page;
}

static void baseline_is_compared_at_one_distance_or_not_at_all(void **state)
{
    (void)state;
    for (int unlike = 0; unlike <= 1; unlike++) {
        char folder[] = "/tmp/schedlab-test-XXXXXX", path[128];
        struct error error = {0};
        struct report report;
        struct tsv tsv;
        assert_non_null(mkdtemp(folder));
        run_write(folder, unlike);
        assert_true(report_load(&report, folder, &error));
        const struct report_cell *grq = report_cell_find(&report.groups[0], "grq", "fib,n=9", 2);
        assert_int_equal(grq->beside.unlike, unlike);
        assert_int_equal(isnan(grq->to_baseline.median), unlike);
        assert_true(report_baseline_write(&report, &error));
        snprintf(path, sizeof path, "%s/baseline.tsv", folder);
        assert_true(tsv_load(&tsv, path, &error));
        size_t row = 0;
        while (strcmp(tsv_text(&tsv, row, "variant"), "grq") != 0)
            row++;
        assert_string_equal(tsv_text(&tsv, row, "shown"), unlike ? "distances" : "none");
        if (!unlike)
            assert_string_equal(tsv_text(&tsv, row, "class"), "near");
        tsv_free(&tsv);
        report_free(&report);
        folder_remove(folder);
    }
}

/* The answers name variants that lack samples at one distance; uthread cannot. */
static void answers_name_those_that_have_distances(void **state)
{
    (void)state;
    char folder[] = "/tmp/schedlab-test-XXXXXX";
    struct error error = {0};
    struct report report;
    assert_non_null(mkdtemp(folder));
    run_write(folder, true);
    assert_true(report_load(&report, folder, &error));
    char *page = answers_of(&report);
    assert_non_null(strstr(page, "gmp</span> 5 near, 0 far"));
    assert_non_null(strstr(page, "grq</span> 2 near, 3 far"));
    const char *rows = strstr(page, "In numbers");
    assert_non_null(rows);
    assert_null(strstr(rows, "uthread"));
    free(page);
    report_free(&report);
    folder_remove(folder);
}

static void difference_from_the_baseline_is_tested(void **state)
{
    (void)state;
    struct report_cell cells[] = {cell("a", 2, 900, 1100), cell("b", 2, 1200, 1300),
                                  cell("c", 2, 905, 1095)};
    for (int i = 0; i < 3; i++)
        cells[i].to_baseline = (struct interval){cells[i].throughput.median / 1000, 0, 9, 8};
    struct report_group group = {.id = "g", .baseline = "a", .cells = cells, .count = 3};
    const char **shown = verdicts_over_baseline(&group);
    assert_string_equal(shown[0], "none");
    assert_string_equal(shown[1], "faster");
    assert_string_equal(shown[2], "none");
    free(shown);
    group.baseline = "b";
    shown = verdicts_over_baseline(&group);
    assert_string_equal(shown[0], "slower");
    free(shown);
    cells[0].samples_count = 3;
    cells[2].samples_count = 2;
    shown = verdicts_over_baseline(&group);
    assert_string_equal(shown[0], "slower");
    assert_string_equal(shown[2], "few");
    free(shown);
    cells[1].samples_count = 3; /* 3 beside 3: 0.1 at least */
    shown = verdicts_over_baseline(&group);
    assert_string_equal(shown[0], "few");
    free(shown);
    cells[0].status = "failed";
    cells[2].to_baseline.median = NAN;
    shown = verdicts_over_baseline(&group);
    assert_null(shown[0]);
    assert_null(shown[2]);
    free(shown);
}

/* 4 beside 4 have p = 2 / 70 at least: enough for one test, too little for two together. */
static void cells_of_other_counts_of_workers_cost_no_power(void **state)
{
    (void)state;
    struct report_cell cells[] = {cell("a", 1, 90, 110), cell("b", 1, 190, 210),
                                  cell("a", 2, 90, 110), cell("b", 2, 190, 210)};
    for (int i = 0; i < 4; i++) {
        cells[i].samples_count = 4;
        cells[i].to_baseline = (struct interval){2, 1, 3, 4};
    }
    struct report_group group = {.id = "g", .baseline = "a", .cells = cells, .count = 4};
    const char **shown = verdicts_over_baseline(&group);
    assert_string_equal(shown[1], "faster");
    assert_string_equal(shown[3], "faster");
    free(shown);
}

/* 8 beside 4 have p = 2 / 495 at least: shown among 12 tests, and not if a 13th counts. */
static void apart_and_yet_not_shown_is_too_few(void **state)
{
    (void)state;
    enum { FAR = 12, ALL = FAR + 2 };
    static char names[FAR][16];
    struct report_cell far = cell("", 2, 190, 210);
    struct report_cell cells[ALL] = {cell("a", 2, 90, 110), cell("b", 2, 91, 111)};
    far.samples_count = 4;
    for (int i = 0; i < FAR; i++) {
        snprintf(names[i], sizeof names[i], "c%d", i);
        cells[2 + i] = far;
        cells[2 + i].variant = names[i];
    }
    for (int i = 0; i < ALL; i++)
        cells[i].to_baseline = (struct interval){2, 1, 3, 4};
    struct report_group group = {.id = "g", .baseline = "a", .cells = cells, .count = ALL};
    const char **shown = verdicts_over_baseline(&group);
    assert_string_equal(shown[1], "none");
    for (int i = 2; i < ALL; i++)
        assert_string_equal(shown[i], "few");
    free(shown);
}

/* B is faster while both are near; over all its samples it is not. */
static void difference_from_the_baseline_is_tested_at_one_distance(void **state)
{
    (void)state;
    struct near_and_far a, b;
    struct report_cell cells[] = {near_and_far_cell(&a, "a", 8, 200, 0, 100),
                                  near_and_far_cell(&b, "b", 8, 300, 8, 100)};
    for (int i = 0; i < 2; i++) {
        cells[i].to_baseline = (struct interval){1, 1, 1, 8};
        cells[i].beside.chosen = CLASS_NEAR;
    }
    struct report_group group = {.id = "g", .baseline = "a", .cells = cells, .count = 2};
    cells[1].chosen = CLASS_ALL;
    cells[1].samples = cells[1].of_class[CLASS_ALL];
    cells[1].samples_count = cells[1].of_class_count[CLASS_ALL];
    const char **shown = verdicts_over_baseline(&group);
    assert_string_equal(shown[1], "faster");
    free(shown);
    cells[1].beside.unlike = true;
    cells[1].to_baseline.median = NAN;
    shown = verdicts_over_baseline(&group);
    assert_string_equal(shown[1], "distances");
    free(shown);
}

/* One record of a cell whose every latency is about ns. */
static json_t *latency_record(const char *id, int i, int ns)
{
    return json_pack("{ss ss si s{si si}}", "cell", id, "status", "ok", "workers", 2, "latency",
                     "count", 1000, "p99_ns", ns + i);
}

static void latencies_have_the_verdicts_of_throughputs(void **state)
{
    (void)state;
    struct report_cell cells[] = {cell("a", 2, 900, 1100), cell("b", 2, 1200, 1300),
                                  cell("c", 2, 905, 1095)};
    struct report_group group = {.id = "g", .cells = cells, .count = 3};
    struct report report = {.records = json_array()};
    for (int i = 0; i < CELL_SAMPLES; i++) {
        json_array_append_new(report.records, latency_record("a", i, 1000));
        json_array_append_new(report.records, latency_record("b", i, 2000));
    }
    size_t count;
    struct report_group tails = report_tails_make(&report, &group, 0.99);
    struct verdict *verdict = verdicts_make(&tails, &count);
    assert_int_equal(count, 1);
    assert_int_equal(verdict->outcome, VERDICT_WON);
    assert_string_equal(verdict->best->variant, "a");
    assert_int_equal(verdict->competitors, 2); /* c has none */
    verdicts_free(verdict, count);
    report_tails_free(&tails);
    json_decref(report.records);
}

static void programs_are_told_the_answer_to_the_question(void **state)
{
    (void)state;
    struct report_cell cells[] = {cell("a", 2, 900, 1100), cell("b", 2, 1200, 1300)};
    struct report_group group = {.id = "g", .cells = cells, .count = 2};
    struct report_latency tail = {
        .group = "g", .id = "a", .quantile = 0.99, .ns = {1003, NAN, NAN, 0}};
    struct report report = {.records = json_array(),
                            .groups = &group,
                            .groups_count = 1,
                            .run_dir = "r",
                            .name = "r",
                            .title = "t"};
    cells[0].latencies = &tail;
    cells[0].latencies_count = 1;
    struct figures figures = {.count = 0};
    static const struct {
        enum sweep_figure figure;
        const char *metric, *fastest;
    } expected[] = {{SWEEP_FIGURE_LATENCY, "p99 latency", "a"},
                    {SWEEP_FIGURE_THROUGHPUT, "throughput", "b"},
                    {SWEEP_FIGURE_EVENTS, "events", ""},
                    {SWEEP_FIGURE_SCALE, "scale", ""}};
    for (int i = 0; i < CELL_SAMPLES; i++) {
        json_array_append_new(report.records, latency_record("a", i, 1000));
        json_array_append_new(report.records, latency_record("b", i, 2000));
    }
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        group.figure = expected[i].figure;
        json_t *json = report_to_json(&report, &figures);
        json_t *first = json_array_get(json_object_get(json, "groups"), 0);
        json_t *answer = json_array_get(json_object_get(first, "answers"), 0);
        json_t *tail_of_a =
            json_object_get(json_array_get(json_object_get(first, "cells"), 0), "p99");
        assert_string_equal(field_text(first, "metric"), expected[i].metric);
        assert_string_equal(field_text(answer, "fastest"), expected[i].fastest);
        assert_true(field_number(tail_of_a, "ns") == 1003);
        assert_null(json_object_get(tail_of_a, "lo"));
        assert_true(*field_text(json_object_get(tail_of_a, "interval"), "absent") != 0);
        json_decref(json);
    }
    json_decref(report.records);
}

/* Serial code does not compete, so no test stands behind the winner's multiple of it. */
static void what_is_not_tested_is_not_set_off(void **state)
{
    (void)state;
    struct report_cell cells[] = {cell("a", 2, 190, 210), cell("b", 2, 90, 110),
                                  cell("serial", 2, 40, 60)};
    cells[0].to_baseline = (struct interval){4, 3.5, 4.5, CELL_SAMPLES};
    struct report_group group = {.id = "g",
                                 .cells = cells,
                                 .count = 3,
                                 .baseline = "serial",
                                 .figure = SWEEP_FIGURE_THROUGHPUT};
    struct report report = {
        .groups = &group, .groups_count = 1, .run_dir = "r", .name = "r", .title = "t"};
    char *page = answers_of(&report);
    assert_non_null(strstr(page, "<b>2.00\303\227</b> b"));
    assert_non_null(strstr(page, "<span>4.00\303\227</span> serial"));
    free(page);
}

static void who_is_slower_than_a_tie_is_told(void **state)
{
    (void)state;
    struct report_cell cells[] = {cell("a", 2, 90, 110.1), cell("b", 2, 95, 116),
                                  cell("c", 2, 10, 30)};
    struct report_group group = {
        .id = "g", .cells = cells, .count = 3, .figure = SWEEP_FIGURE_THROUGHPUT};
    struct report report = {
        .groups = &group, .groups_count = 1, .run_dir = "r", .name = "r", .title = "t"};
    struct figures figures = {.count = 0};
    char *page = answers_of(&report);
    assert_non_null(strstr(page, "several not told apart"));
    assert_non_null(strstr(page, "b over the slower: 5.28\303\227 c"));
    assert_null(strstr(page, "no difference shown"));
    free(page);
    json_t *json = report_to_json(&report, &figures);
    json_t *answer = json_array_get(
        json_object_get(json_array_get(json_object_get(json, "groups"), 0), "answers"), 0);
    json_t *slower = json_object_get(answer, "slower");
    assert_string_equal(field_text(answer, "outcome"), "several not told apart");
    assert_int_equal(json_array_size(slower), 1);
    assert_string_equal(field_text(json_array_get(slower, 0), "variant"), "c");
    assert_true(field_number(json_array_get(slower, 0), "ratio") > 5);
    json_decref(json);
    group.count = 2;
    json = report_to_json(&report, &figures);
    answer = json_array_get(
        json_object_get(json_array_get(json_object_get(json, "groups"), 0), "answers"), 0);
    assert_string_equal(field_text(answer, "outcome"), "no difference shown");
    assert_int_equal(json_array_size(json_object_get(answer, "slower")), 0);
    json_decref(json);
}

/* A is shorter for 99 % of the operations; for half of them B is, or neither. */
static void median_latency_is_told_where_it_disagrees(void **state)
{
    (void)state;
    for (int median_of_b = 500; median_of_b <= 1500; median_of_b += 500) {
        struct report_cell cells[] = {cell("a", 2, 900, 1100), cell("b", 2, 900, 1100)};
        struct report_group group = {
            .id = "g", .cells = cells, .count = 2, .figure = SWEEP_FIGURE_LATENCY};
        struct report report = {.records = json_array(), .groups = &group, .groups_count = 1};
        for (int i = 0; i < CELL_SAMPLES; i++) {
            json_t *a = latency_record("a", i, 10000), *b = latency_record("b", i, 20000);
            json_object_set_new(json_object_get(a, "latency"), "p50_ns", json_integer(1000 + i));
            json_object_set_new(json_object_get(b, "latency"), "p50_ns",
                                json_integer(median_of_b + i));
            json_array_append_new(report.records, a);
            json_array_append_new(report.records, b);
        }
        char *page = answers_of(&report);
        assert_int_equal(strstr(page, "But half of them, shown to be the shortest") != NULL,
                         median_of_b == 500);
        assert_int_equal(strstr(page, "But half of them, not told apart") != NULL,
                         median_of_b == 1000);
        free(page);
        json_decref(report.records);
    }
}

/* B's samples have too few latencies for a tail: medians are compared, which both have. */
static void median_latency_answers_where_some_have_no_tail(void **state)
{
    (void)state;
    struct report_cell cells[] = {cell("a", 2, 900, 1100), cell("b", 2, 900, 1100)};
    struct report_group group = {
        .id = "g", .cells = cells, .count = 2, .figure = SWEEP_FIGURE_LATENCY};
    struct report report = {.records = json_array(), .groups = &group, .groups_count = 1};
    for (int i = 0; i < CELL_SAMPLES; i++) {
        json_t *a = latency_record("a", i, 10000), *b = latency_record("b", i, 20000);
        json_object_set_new(json_object_get(a, "latency"), "p50_ns", json_integer(1000 + i));
        json_object_set_new(json_object_get(b, "latency"), "p50_ns", json_integer(500 + i));
        json_object_del(json_object_get(b, "latency"), "p99_ns");
        json_array_append_new(report.records, a);
        json_array_append_new(report.records, b);
    }
    char *page = answers_of(&report);
    assert_non_null(strstr(page, "too few of them to tell 99 %"));
    assert_non_null(strstr(page, "<td class=\"winner\">b</td>"));
    assert_null(strstr(page, "99 % of operations within"));
    assert_null(strstr(page, "nothing to compare"));
    assert_null(strstr(page, "But half of them"));
    free(page);
    json_decref(report.records);
}

/* A latency of about ns, measured between probes of line_ns. */
static void add_latency_at_distance(json_t *records, const char *id, int ns, int line_ns)
{
    json_array_append_new(records, json_pack("{ss ss si s{si si} s{s{si} s{si}}}", "cell", id,
                                             "status", "ok", "workers", 2, "latency", "count", 1000,
                                             "p99_ns", ns, "probe", "before", "line_ns", line_ns,
                                             "after", "line_ns", line_ns));
}

static void latencies_are_judged_at_the_distance_that_all_have(void **state)
{
    (void)state;
    for (int far = 0; far <= CELL_SAMPLES; far += CELL_SAMPLES) {
        struct report_cell cells[] = {cell("a", 2, 900, 1100), cell("b", 2, 900, 1100)};
        struct report_group group = {.id = "g", .cells = cells, .count = 2};
        struct report report = {.records = json_array()};
        for (int i = 0; i < CELL_SAMPLES; i++)
            add_latency_at_distance(report.records, "a", 1000 + i, 50);
        for (int i = 0; i < far; i++)
            add_latency_at_distance(report.records, "a", 3000 + i, 350);
        for (int i = 0; i < CELL_SAMPLES; i++)
            add_latency_at_distance(report.records, "b", 2000 + i, 350);
        size_t count;
        struct report_group tails = report_tails_make(&report, &group, 0.99);
        struct verdict *verdict = verdicts_make(&tails, &count);
        assert_int_equal(count, 1);
        assert_int_equal(verdict->outcome, far ? VERDICT_WON : VERDICT_UNLIKE);
        if (far) {
            assert_int_equal(verdict->chosen, CLASS_FAR);
            assert_string_equal(verdict->best->variant, "b");
        }
        verdicts_free(verdict, count);
        report_tails_free(&tails);
        json_decref(report.records);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_shown_to_be_faster_than_all_wins),
        cmocka_unit_test(samples_that_mix_show_no_difference),
        cmocka_unit_test(a_lead_in_one_regime_alone_is_open),
        cmocka_unit_test(too_few_samples_decide_nothing),
        cmocka_unit_test(tests_of_a_question_are_corrected_together),
        cmocka_unit_test(among_equals_false_claims_are_as_rare_as_alpha_says),
        cmocka_unit_test(floors_failed_and_smaller_runs_do_not_compete),
        cmocka_unit_test(no_verdict_across_distances),
        cmocka_unit_test(verdict_is_at_the_distance_that_all_have),
        cmocka_unit_test(cell_without_distances_meets_one_distance_of_the_others),
        cmocka_unit_test(baseline_is_compared_at_one_distance_or_not_at_all),
        cmocka_unit_test(answers_name_those_that_have_distances),
        cmocka_unit_test(difference_from_the_baseline_is_tested),
        cmocka_unit_test(cells_of_other_counts_of_workers_cost_no_power),
        cmocka_unit_test(apart_and_yet_not_shown_is_too_few),
        cmocka_unit_test(difference_from_the_baseline_is_tested_at_one_distance),
        cmocka_unit_test(latencies_have_the_verdicts_of_throughputs),
        cmocka_unit_test(programs_are_told_the_answer_to_the_question),
        cmocka_unit_test(median_latency_is_told_where_it_disagrees),
        cmocka_unit_test(median_latency_answers_where_some_have_no_tail),
        cmocka_unit_test(what_is_not_tested_is_not_set_off),
        cmocka_unit_test(who_is_slower_than_a_tie_is_told),
        cmocka_unit_test(latencies_are_judged_at_the_distance_that_all_have),
    };
    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
