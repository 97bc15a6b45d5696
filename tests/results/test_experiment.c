/* test_experiment.c - what an experiment's file may say, what is then measured, and that every
 * mistake is one line that names the file, the line and what is valid. */
#include "harness/host/data_folder.h"
#include "harness/plan/sweep_file.h"
#include "harness/repro/experiment.h"
#include "harness/repro/popular_claims.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <math.h>

#include <cmocka.h>

/* Parts of a file. HEAD has seven lines, PART the next seven, EXPECT the next two. */
#define HEAD                                                                                       \
    "id: T1\n"                                                                                     \
    "title: A test\n"                                                                              \
    "claim: It is so.\n"                                                                           \
    "source: here\n"                                                                               \
    "why: because\n"                                                                               \
    "refuted: if not\n"                                                                            \
    "parts:\n"
#define PART                                                                                       \
    "  - id: one\n"                                                                                \
    "    variant: gmp\n"                                                                           \
    "    factor: runnext\n"                                                                        \
    "    levels: [off, on]\n"                                                                      \
    "    workload: fib\n"                                                                          \
    "    workers: [1, 2]\n"                                                                        \
    "    expect:\n"
#define EXPECT "      - says: It holds\n        level: on\n"
#define RANGE "        over: off\n        at_least: 2\n"
#define WHOLE HEAD PART EXPECT RANGE

static char file_path[64];

static int file_make(void **state)
{
    (void)state;
    snprintf(file_path, sizeof file_path, "/tmp/test_experiment.XXXXXX");
    int fd = mkstemp(file_path);
    return fd < 0 || close(fd) < 0 ? -1 : 0;
}

static int file_remove(void **state)
{
    (void)state;
    return unlink(file_path);
}

static void file_write(const char *text)
{
    FILE *to = fopen(file_path, "w");
    if (!to)
        abort();
    fputs(text, to);
    fclose(to);
}

static struct experiment *load(const char *text)
{
    struct error error = {0};
    file_write(text);
    struct experiment *experiment = experiment_load(file_path, &error);
    if (!experiment)
        fail_msg("%s", error.text);
    return experiment;
}

static void expect_line(const char *error, int line, const char *part)
{
    char place[128];
    snprintf(place, sizeof place, "%s:%d: ", file_path, line);
    if (strncmp(error, place, strlen(place)) != 0 || !strstr(error, part) || strchr(error, '\n'))
        fail_msg("expected line %d and \"%s\"; got \"%s\"", line, part, error);
}

/* The text is wrong on this line, and the message holds the part. */
static void expect_error(const char *text, int line, const char *part)
{
    struct error error = {0};
    file_write(text);
    if (experiment_load(file_path, &error))
        fail_msg("accepted: %s", text);
    expect_line(error.text, line, part);
}

/* Reading ------------------------------------------------------------------------------------- */

static void least_file_gets_the_defaults(void **state)
{
    (void)state;
    struct experiment *experiment = load(WHOLE);
    const struct experiment_part *part = &experiment->parts[0];
    assert_int_equal(experiment->machines_count, 1);
    assert_string_equal(experiment->machines[0], "native");
    assert_int_equal(experiment->num.seed, 1);
    assert_int_equal(experiment->num.reps, 6);
    assert_string_equal(part->question, "A test");
    assert_string_equal(part->metric, "throughput");
    assert_int_equal(part->factor, FACTOR_KNOB);
    assert_int_equal(part->baseline, 0);
    assert_string_equal(part->cell_variants[0], "gmp,runnext=off");
    assert_string_equal(part->cell_variants[1], "gmp");
    assert_false(part->full || part->crowded);
    assert_int_equal(part->expect[0].level_index, 1);
    assert_int_equal(part->expect[0].over_index, 0);
    assert_true(part->expect[0].lo == 2 && isinf(part->expect[0].hi));
    assert_string_equal(part->expect[0].wanted, "at least 2.00\303\227");
    experiment_free(experiment);
}

/* One expectation whose last lines are these. */
static void expect_range(const char *metric, const char *lines, double lo, double hi,
                         const char *wanted)
{
    char text[2048];
    snprintf(text, sizeof text,
             HEAD "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off, on]\n"
                  "    workload: pingpong,latency=on\n    metric: %s\n    expect:\n      - says: "
                  "so\n%s",
             metric, lines);
    struct experiment *experiment = load(text);
    const struct experiment_expect *expect = &experiment->parts[0].expect[0];
    assert_true(expect->lo == lo || (isinf(lo) && isinf(expect->lo)));
    assert_true(expect->hi == hi || (isinf(hi) && isinf(expect->hi)));
    assert_string_equal(expect->wanted, wanted);
    experiment_free(experiment);
}

/* A table in the part of a knob, two numbers of workers and two workloads. */
#define TABLE(rows, more)                                                                          \
    HEAD "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off, on]\n"             \
         "    workload: [fib, spawn]\n    workers: [1, 2]\n    metric: STEALS\n    expect:\n"      \
         "      - says: so\n        table: " rows "\n" more

static void a_table_is_one_expectation_per_cell(void **state)
{
    (void)state;
    struct experiment *experiment = load(TABLE("[\"on: 1 2 - 4\", \"off: 5 6 7 8\"]",
                                               "        source: here\n"
                                               "      - says: more\n        at_least: 9\n"));
    const struct experiment_part *part = &experiment->parts[0];
    const struct experiment_expect *third = &part->expect[2], *last = &part->expect[7];
    assert_int_equal(part->expect_count, 8);
    assert_string_equal(third->level, "on");
    assert_string_equal(third->workload, "spawn");
    assert_int_equal(third->workers, 2);
    assert_true(third->lo == 4 && third->hi == 4);
    assert_string_equal(third->table_says, "so");
    assert_int_equal(third->column, 3);
    assert_string_equal(third->says, "so: runnext on, spawn, 2 workers");
    assert_string_equal(third->source, "here");
    assert_null(last->table_says);
    assert_true(last->lo == 9);
    experiment_free(experiment);
}

static void tables_are_checked(void **state)
{
    (void)state;
    expect_error(TABLE("[\"on: 1 2 3\"]", ""), 17, "\"on: 1 2 3\" has 3 values; valid: ");
    expect_error(TABLE("[\"on: 1 2 3 4 5\"]", ""), 17, "has 5 values");
    expect_error(TABLE("[\"1 2 3 4\"]", ""), 17, "has 0 values");
    expect_error(TABLE("[\"no: 1 2 3 4\"]", ""), 16, "no level \"no\"");
    expect_error(TABLE("[\"on: 1 2 3 x\"]", ""), 16, "exactly is x; valid: a number");
    expect_error(TABLE("[\"on: 1 2 3 4\"]", "        level: on\n"), 16, "valid beside table");
    expect_error(TABLE("[\"on: 1 2 3 4\"]", "        workers: 1\n"), 16, "valid beside table");
}

static void ranges_have_units(void **state)
{
    (void)state;
    expect_range("p50", "        at_most: 20 ms\n", -INFINITY, 20e6, "at most 20.0 ms");
    expect_range("p50", "        between: [1 us, 2us]\n", 1e3, 2e3,
                 "1.00 \302\265s to 2.00 \302\265s");
    expect_range("throughput", "        at_least: 1000 /s\n", 1000, INFINITY, "at least 1.00 k/s");
    expect_range("STEALS", "        exactly: 0\n", 0, 0, "exactly 0");
    expect_range("STEALS", "        level: on\n        over: off\n        at_most: 0.5\n",
                 -INFINITY, 0.5, "at most 0.50\303\227");
}

static void levels_may_be_written_otherwise(void **state)
{
    (void)state;
    struct experiment *experiment =
        load(HEAD "  - id: one\n    factor: variant\n    levels: [grq, \"gmp,tick=61\"]\n"
                  "    baseline: grq\n    workload: fib\n    expect:\n      - says: so\n"
                  "        level: gmp\n        at_least: 2\n");
    assert_int_equal(experiment->parts[0].expect[0].level_index, 1);
    assert_string_equal(experiment->parts[0].variants[1], "gmp");
    experiment_free(experiment);
}

/* Measuring ----------------------------------------------------------------------------------- */

static struct sweep_file *sweep_of(const struct experiment *experiment, const char *machine,
                                   const struct experiment_form *form)
{
    struct error error;
    char *text = experiment_sweep_text(experiment, machine, false, form);
    if (!text)
        return NULL;
    struct sweep_file *sweep = sweep_file_parse("", text, strlen(text), &error);
    if (!sweep)
        fail_msg("%s in\n%s", error.text, text);
    free(text);
    return sweep;
}

static void a_part_is_a_group(void **state)
{
    (void)state;
    const struct experiment_form quick = {.quick = true, .native_cores = 2};
    const struct experiment_form whole = {.native_cores = 2};
    struct experiment *experiment = load("width: 4\nreps_max: 50\n" WHOLE);
    struct sweep_file *sweep = sweep_of(experiment, "native", &quick);
    assert_int_equal(sweep->reps, 6);
    assert_int_equal(sweep->reps_max, 18);
    assert_int_equal(sweep->width, 4); /* but see repro_job_plan() */
    assert_true(sweep->repeat_disturbed);
    assert_int_equal(sweep->class_min, 6);
    assert_true(sweep->seed == 1 && !sweep->pin);
    assert_int_equal(sweep->groups_count, 1);
    assert_string_equal(sweep->groups[0].id, "one");
    assert_string_equal(sweep->groups[0].baseline, "gmp,runnext=off");
    assert_int_equal(sweep->groups[0].workers_count, 2);
    sweep_file_free(sweep);
    sweep = sweep_of(experiment, "native", &whole);
    assert_int_equal(sweep->width, 4);
    assert_int_equal(sweep->reps_max, 50);
    sweep_file_free(sweep);
    assert_null(sweep_of(experiment, "sim:desktop8", &whole));
    experiment_free(experiment);
}

static void native_samples_may_be_longer_and_all_pinned(void **state)
{
    (void)state;
    const struct experiment_form quick = {.quick = true, .native_cores = 2};
    struct experiment *experiment =
        load("machines: [native, \"sim:desktop8\"]\nmin_time_ms: 1\nwarmup: 0\n"
             "native_min_time_ms: 50\nnative_warmup: 2\npin: true\n" WHOLE);
    struct sweep_file *native = sweep_of(experiment, "native", &quick);
    struct sweep_file *simulated = sweep_of(experiment, "sim:desktop8", &quick);
    assert_true(native->min_time_ms == 50 && native->warmup == 2);
    assert_true(simulated->min_time_ms == 1 && simulated->warmup == 0);
    assert_true(native->pin && simulated->pin);
    sweep_file_free(native);
    sweep_file_free(simulated);
    experiment_free(experiment);
}

/* Fewer than six samples have no interval; more are what the file knows to be needed. */
static void the_quick_form_takes_what_the_file_asks_for(void **state)
{
    (void)state;
    const struct experiment_form quick = {.quick = true, .native_cores = 2};
    const char *const texts[] = {"reps: 2\n" WHOLE, "reps: 12\n" WHOLE};
    const int reps[] = {6, 12};
    for (int i = 0; i < 2; i++) {
        struct experiment *experiment = load(texts[i]);
        struct sweep_file *sweep = sweep_of(experiment, "native", &quick);
        assert_int_equal(sweep->reps, reps[i]);
        assert_int_equal(sweep->reps_max, EXPERIMENT_QUICK_MORE * reps[i]);
        sweep_file_free(sweep);
        experiment_free(experiment);
    }
}

static void a_knob_may_be_an_axis(void **state)
{
    (void)state;
    const struct experiment_form form = {.quick = true};
    struct experiment *experiment =
        load(HEAD "  - id: one\n    variant: [gmp]\n    factor: tick\n    levels: [1, 61, 128]\n"
                  "    baseline: 61\n    workload: fib\n    expect:\n      - says: so\n"
                  "        at_least: 2\n");
    struct sweep_file *sweep = sweep_of(experiment, "native", &form);
    assert_int_equal(sweep->groups[0].figure, SWEEP_FIGURE_KNOB);
    assert_int_equal(sweep->groups[0].variants_count, 3);
    assert_string_equal(sweep->groups[0].baseline, "gmp");
    sweep_file_free(sweep);
    experiment_free(experiment);
}

/* Whatever is compared within a part is to be seen in one figure. */
static void the_figure_shows_the_metric_of_each_level(void **state)
{
    (void)state;
    static const struct {
        const char *part;
        enum sweep_figure figure;
        const char *metric;
    } cases[] = {
        {"factor: workers\n    levels: [1, 2]\n    workload: fib\n", SWEEP_FIGURE_METRIC,
         "throughput"},
        {"factor: workload\n    levels: [\"calls\", \"calls,n=9\"]\n    metric: p50\n",
         SWEEP_FIGURE_METRIC, "p50"},
        {"factor: ring\n    levels: [256, 8]\n    workload: fib\n    metric: DEQUE_MAX\n",
         SWEEP_FIGURE_METRIC, "DEQUE_MAX"},
        {"factor: ring\n    levels: [256, 8]\n    workload: calls\n    metric: p50\n",
         SWEEP_FIGURE_LATENCY, NULL},
        {"factor: ring\n    levels: [256, 8]\n    workload: fib\n    workers: [1, 2]\n",
         SWEEP_FIGURE_METRIC, "throughput"},
        {"factor: ring\n    levels: [256, 8]\n    workload: fib\n", SWEEP_FIGURE_THROUGHPUT, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 HEAD
                 "  - id: one\n    variant: gmp\n    %s    expect: [{says: so, at_least: 1%s}]\n",
                 cases[i].part, strstr(cases[i].part, "p50") ? " ms" : "");
        struct experiment *experiment = load(text);
        const struct experiment_form form = {.quick = true};
        struct sweep_file *sweep = sweep_of(experiment, "native", &form);
        assert_int_equal(sweep->groups[0].figure, cases[i].figure);
        if (cases[i].metric)
            assert_string_equal(sweep->groups[0].metric, cases[i].metric);
        else
            assert_null(sweep->groups[0].metric);
        sweep_file_free(sweep);
        experiment_free(experiment);
    }
}

static void workers_without_a_core_are_not_measured(void **state)
{
    (void)state;
    const struct experiment_form one = {.native_cores = 1};
    struct experiment *experiment = load(WHOLE);
    struct sweep_file *sweep = sweep_of(experiment, "native", &one);
    assert_int_equal(sweep->groups[0].workers_count, 1);
    sweep_file_free(sweep);
    experiment_free(experiment);

    experiment = load(HEAD "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off]\n"
                           "    workload: fib\n    workers: 2\n    expect:\n      - says: so\n"
                           "        at_least: 2\n");
    assert_null(sweep_of(experiment, "native", &one));
    experiment->parts[0].crowded = true;
    sweep = sweep_of(experiment, "native", &one);
    assert_non_null(sweep);
    sweep_file_free(sweep);
    experiment_free(experiment);
}

static void machines_as_levels_are_groups(void **state)
{
    (void)state;
    const struct experiment_form form = {.quick = true};
    struct experiment *experiment =
        load(HEAD "  - id: one\n    variant: gmp\n    factor: machine\n"
                  "    levels: [\"sim:desktop8\", native]\n    workload: fib\n    expect:\n"
                  "      - says: so\n        at_least: 2\n");
    const char **places = experiment_places(experiment);
    assert_string_equal(places[0], "native");
    assert_string_equal(places[1], EXPERIMENT_MACHINES);
    assert_null(places[2]);
    free(places);
    assert_null(sweep_of(experiment, "native", &form));
    struct sweep_file *sweep = sweep_of(experiment, EXPERIMENT_MACHINES, &form);
    assert_int_equal(sweep->groups_count, 2);
    assert_string_equal(sweep->groups[0].machine, "sim:desktop8");
    assert_string_equal(sweep->groups[1].id, "one.2");
    sweep_file_free(sweep);
    experiment_free(experiment);
}

static void events_that_are_metrics_are_counted(void **state)
{
    (void)state;
    const struct experiment_form form = {.quick = true};
    struct experiment *experiment =
        load("events: [perf::PAGE-FAULTS]\n" WHOLE "      - says: few\n        metric: STEALS\n"
             "        at_most: 5\n");
    struct sweep_file *sweep = sweep_of(experiment, "native", &form);
    assert_string_equal(sweep->groups[0].events[1], "sde:::schedlab::STEALS");
    assert_string_equal(sweep->groups[0].events[2], "sde:::schedlab::SLEEPS"); /* it may tell why */
    assert_int_equal(sweep->groups[0].events_count, 32);
    sweep_file_free(sweep);
    experiment_free(experiment);
    experiment = load(WHOLE "      - says: few\n        metric: STEALS\n        at_most: 5\n");
    sweep = sweep_of(experiment, "native", &form);
    assert_int_equal(sweep->groups[0].events_count, 0); /* the default set has it */
    sweep_file_free(sweep);
    experiment_free(experiment);
}

/* Expects the width that the interval of a cell's throughput may have; 0: any. */
static void expect_width(const char *lines, const char *variant, double width)
{
    char text[2048];
    struct cell_width widths[CELL_WIDTHS] = {{.percent = 0}};
    snprintf(text, sizeof text, HEAD PART EXPECT "%s      - {says: x, at_least: 1}\n", lines);
    struct experiment *experiment = load(text);
    experiment->parts[0].expect_count--; /* so that a lone size may be asked about */
    experiment_widths_add(&experiment->parts[0], variant, "fib", 2, widths);
    experiment->parts[0].expect_count++;
    if (fabs(widths[0].percent - width) > 0.05)
        fail_msg("%s%s: %g %%, not %g", lines, variant, widths[0].percent, width);
    assert_true(widths[1].percent == 0);
    experiment_free(experiment);
}

static void each_metric_has_a_width(void **state)
{
    (void)state;
    struct cell_width widths[CELL_WIDTHS] = {{.percent = 3}};
    struct experiment *experiment =
        load(WHOLE "      - {says: x, level: on, metric: STEALS, at_least: 1}\n"
                   "      - {says: x, level: on, metric: STEALS, resolution: 5, at_least: 2}\n");
    experiment_widths_add(&experiment->parts[0], "gmp", "fib", 2, widths);
    assert_true(widths[0].percent == 3); /* was narrower than the claim needs it */
    assert_true(fabs(widths[1].percent - 6.05) < 0.05);
    assert_string_equal(metric_name(&widths[1].metric), "STEALS");
    assert_true(widths[2].percent == 0);
    experiment_free(experiment);
}

/* With power 0.9 the truth is told from an end of the range that it is one resolution away from:
 * 3.24 standard errors, where half an interval is 1.96. A ratio has the errors of both sides. */
static void intervals_are_as_narrow_as_claims_need_them(void **state)
{
    (void)state;
    expect_width("        over: off\n        at_least: 1.1\n", "gmp", 4.08);
    expect_width("        over: off\n        at_least: 1.1\n", "gmp,runnext=off", 4.08);
    expect_width("        over: off\n        at_least: 1.1\n", "grq", 0);
    expect_width("        over: off\n        at_most: 0.5\n", "gmp", 8.56);   /* 10 % at most */
    expect_width("        over: off\n        at_least: 1.01\n", "gmp", 1.71); /* 2 % at least */
    expect_width("        over: off\n        between: [0.9, 1.1]\n", "gmp", 4.29);
    expect_width("        at_least: 5\n", "gmp", 12.1);
    expect_width("        at_least: 5\n        resolution: 20\n", "gmp", 24.2);
    expect_width("        exactly: 5\n", "gmp", 0);
    expect_width("        role: size\n        at_least: 5\n", "gmp", 0);
}

static void full_parts_are_for_the_full_form(void **state)
{
    (void)state;
    const struct experiment_form quick = {.quick = true}, whole = {.quick = false};
    struct experiment *experiment =
        load(HEAD "  - id: one\n    full: true\n    variant: gmp\n    factor: runnext\n"
                  "    levels: [off]\n    workload: fib\n    expect:\n      - says: so\n"
                  "        at_least: 2\n");
    assert_null(sweep_of(experiment, "native", &quick));
    struct sweep_file *sweep = sweep_of(experiment, "native", &whole);
    assert_non_null(sweep);
    sweep_file_free(sweep);
    experiment_free(experiment);
}

/* Tests measure less: smaller workloads, and no level, workload or worker without a verdict. */
static void the_held_form_is_what_is_judged(void **state)
{
    (void)state;
    const struct experiment_form form = {.quick = true, .deterministic = true, .held = true};
    struct experiment *experiment =
        load("machines: [\"sim:desktop8\"]\nreps: 12\nmin_time_ms: 50\n" HEAD
             "  - id: one\n    variant: gmp\n    factor: tick\n    levels: [61, 1, 128, 4]\n"
             "    workload: [\"fib,n=20\", \"fib,n=21\"]\n    held: [\"fib,n=10\", \"fib,n=11\"]\n"
             "    workers: [1, 2, 4]\n    expect:\n      - says: so\n        level: 4\n"
             "        over: 128\n        workload: fib,n=21\n        workers: 2\n"
             "        at_least: 2\n      - says: so\n        table: [\"1: - - - - - 7\"]\n");
    struct experiment_part *part = experiment->parts;
    experiment_hold(experiment);
    assert_true(experiment_is_exact_of(part, "gmp,tick=1", "fib,n=11", 4));
    assert_false(experiment_is_exact_of(part, "gmp,tick=128", "fib,n=11", 2));
    assert_false(experiment_is_exact_of(part, "gmp,tick=4", "fib,n=11", 2));
    struct sweep_file *sweep = sweep_of(experiment, "sim:desktop8", &form);
    assert_int_equal(sweep->reps, 6);
    assert_int_equal(sweep->min_time_ms, 10);
    const struct sweep_group *group = &sweep->groups[0];
    assert_int_equal(group->variants_count, 3);
    assert_string_equal(group->variants[0], "gmp,tick=1");
    assert_string_equal(group->baseline, "gmp,tick=1");
    assert_int_equal(group->workloads_count, 1);
    assert_string_equal(group->workloads[0], "fib,n=11");
    assert_int_equal(group->workers_count, 2);
    assert_int_equal(group->workers[0], 2);
    sweep_file_free(sweep);
    assert_string_equal(part->expect[0].workload, "fib,n=11");
    struct experiment_column column = experiment_column(part, 0);
    assert_string_equal(experiment_cell(part, part->expect[0].level_index, column, "").variant,
                        "gmp,tick=4");
    assert_string_equal(experiment_cell(part, part->expect[0].over_index, column, "").variant,
                        "gmp,tick=128");
    assert_int_equal(part->expect[1].level_index, 0);
    assert_int_equal(part->expect[1].column, 1);
    experiment_free(experiment);
}

static void held_workloads_may_be_the_levels(void **state)
{
    (void)state;
    struct experiment *experiment =
        load(HEAD "  - id: one\n    variant: gmp\n    factor: workload\n"
                  "    levels: [\"fib,n=20\", \"fib,n=21\", \"fib,n=22\"]\n    baseline: fib,n=22\n"
                  "    held: [\"fib,n=8\", \"fib,n=9\", fib]\n    expect:\n      - says: so\n"
                  "        over: fib,n=21\n        exactly: 2\n");
    struct experiment_part *part = experiment->parts;
    experiment_hold(experiment);
    assert_int_equal(part->levels_count, 2);
    assert_string_equal(part->levels[part->baseline], part->workloads[1]);
    assert_string_equal(part->levels[0], "fib,n=9");
    assert_string_equal(part->expect[0].over, "fib,n=9");
    assert_int_equal(part->expect[0].over_index, 0);
    assert_int_equal(part->expect[0].level_index, 1);
    experiment_free(experiment);
}

/* Mistakes ------------------------------------------------------------------------------------ */

static void keys_are_known_and_there(void **state)
{
    (void)state;
    expect_error("tilte: x\n" WHOLE, 1, "an experiment has no key \"tilte\"; the nearest is");
    expect_error(HEAD "  - id: one\n    fator: x\n", 9, "a part has no key \"fator\"");
    expect_error(HEAD PART "      - sys: x\n", 15, "an expectation has no key \"sys\"");
    expect_error(HEAD PART "      - level: on\n" RANGE, 15, "lacks the key \"says\"");
    expect_error("id: T1\n" WHOLE, 2, "id is given twice");
    expect_error(WHOLE "        full: maybe\n", 19, "an expectation has no key \"full\"");
    expect_error(WHOLE "    full: maybe\n", 19, "full is \"maybe\"; valid: false, true");
    expect_error(WHOLE "    question: [a]\n", 19, "question must be a single value");
    expect_error(HEAD PART "  x", 16, "not valid YAML");
    expect_error("", 1, "the file is empty");
    struct error error;
    assert_null(experiment_load("/nowhere.yaml", &error));
    assert_string_equal(error.text, "cannot read /nowhere.yaml: No such file or directory");
}

static void heads_are_checked(void **state)
{
    (void)state;
    expect_error("reps: 6x\n" WHOLE, 1, "reps is 6x; valid: 1 to 1000");
    expect_error("reps: 8\nreps_max: 7\n" WHOLE, 2, "reps_max is 7, less than reps");
    expect_error("machines: [sim:dekstop8]\n" WHOLE, 1, "the nearest is \"desktop8\"");
    expect_error("machines: [native, native]\n" WHOLE, 1, "native is given twice");
    expect_error("events: [sde:::schedlab::STEELS]\n" WHOLE, 1, "STEALS");
    expect_error("warmup: often\n" WHOLE, 1, "warmup is often");
    expect_error("native_warmup: often\n" WHOLE, 1, "native_warmup is often");
    expect_error("pin: perhaps\n" WHOLE, 1, "pin is \"perhaps\"; valid: false, true");
}

static void parts_are_checked(void **state)
{
    (void)state;
    expect_error(HEAD "  - id: o.ne\n    variant: gmp\n    factor: runnext\n    levels: [off]\n"
                      "    workload: fib\n    expect: [{says: x, at_least: 1}]\n",
                 8, "id is \"o.ne\"; valid");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off]\n"
                      "    workload: fib\n    held: [\"fib,n=2\", \"fib,n=3\"]\n"
                      "    expect: [{says: x, at_least: 1}]\n",
                 13, "held has 2 workloads, and part \"one\" has 1; valid: one for each");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off]\n"
                      "    workload: fib,n=9\n    held: spawn\n"
                      "    expect: [{says: x, at_least: 1}]\n",
                 13, "spawn is held in place of fib,n=9; valid: fib with other parameters");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off]\n"
                      "    workload: fib\n    held: fib,m=9\n"
                      "    expect: [{says: x, at_least: 1}]\n",
                 13, "\"m\"");
    expect_error(WHOLE "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off]\n"
                       "    workload: fib\n    expect: [{says: x, at_least: 1}]\n",
                 19, "two parts have the id \"one\"");
    expect_error(HEAD "  - id: one\n    variant: gpm\n    factor: runnext\n    levels: [off]\n"
                      "    workload: fib\n    expect: [{says: x, at_least: 1}]\n",
                 9, "the nearest is \"gmp\"");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: runxnet\n    levels: [off]\n"
                      "    workload: fib\n    expect: [{says: x, at_least: 1}]\n",
                 10, "unknown knob \"runxnet\"");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off, of]\n"
                      "    workload: fib\n    expect: [{says: x, at_least: 1}]\n",
                 11, "valid: off, on");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: tick\n    levels: [64, 64]\n"
                      "    workload: fib\n    expect: [{says: x, at_least: 1}]\n",
                 11, "gmp,tick=64 is given twice");
    expect_error(HEAD "  - id: one\n    factor: runnext\n    levels: [off]\n    workload: fib\n"
                      "    expect: [{says: x, at_least: 1}]\n",
                 8, "part \"one\" lacks the key \"variant\"");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: variant\n    levels: [gmp]\n"
                      "    workload: fib\n    expect: [{says: x, at_least: 1}]\n",
                 9, "beside factor: variant");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off]\n"
                      "    baseline: on\n    workload: fib\n"
                      "    expect: [{says: x, at_least: 1}]\n",
                 12, "the baseline on is not one of the part's levels");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: workers\n    levels: [1, x]\n"
                      "    workload: fib\n    expect: [{says: x, at_least: 1}]\n",
                 11, "workers is x; valid: 1 to 1024");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off]\n"
                      "    figure: pie\n    workload: fib\n"
                      "    expect: [{says: x, at_least: 1}]\n",
                 12, "unknown figure \"pie\"");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: workers\n    levels: [1, 2]\n"
                      "    figure: knob\n    workload: fib\n"
                      "    expect: [{says: x, at_least: 1}]\n",
                 12, "the factor is workers");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off]\n"
                      "    figure: speedup\n    workload: fib\n"
                      "    expect: [{says: x, at_least: 1}]\n",
                 8, "part \"one\": figure speedup is over the run on 1 worker");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off]\n"
                      "    workload: \"order,mode=steal\"\n"
                      "    expect: [{says: x, at_least: 1}]\n",
                 8, "2 workers or more");
}

static void one_thing_changes(void **state)
{
    (void)state;
#define VARIANTS(levels, more)                                                                     \
    HEAD "  - id: one\n    factor: variant\n    levels: [" levels "]\n    workload: fib\n" more    \
         "    expect: [{says: x, at_least: 1}]\n"
    expect_error(VARIANTS("gmp, \"gmp,runnext=off,tick=0\"", ""), 10,
                 "gmp and gmp,runnext=off,tick=0 differ in more than one knob");
    expect_error(VARIANTS("grq, gmp, \"gmp,runnext=off,tick=0\"", ""), 10, "more than one knob");
    experiment_free(load(VARIANTS("gmp, \"gmp,runnext=off\", \"gmp,tick=0\"", "")));
    experiment_free(load(VARIANTS("grq, gmp, perm", "")));
    experiment_free(
        load(VARIANTS("gmp, \"gmp,runnext=off,tick=0\"", "    together: they belong\n")));
#define WORKLOADS(levels)                                                                          \
    HEAD "  - id: one\n    variant: gmp\n    factor: workload\n    levels: [" levels "]\n"         \
         "    expect: [{says: x, at_least: 1}]\n"
    expect_error(WORKLOADS("\"ring,n=5\", fib"), 11, "differ in the workload itself");
    expect_error(WORKLOADS("pingpong, \"pingpong,rounds=5,pairs=2\""), 11,
                 "more than one parameter");
    experiment_free(load(WORKLOADS("\"ring,n=5\", \"ring,n=7\"")));
}

static void expectations_are_checked(void **state)
{
    (void)state;
    expect_error(HEAD PART EXPECT, 15, "no range; valid: one of at_least");
    expect_error(WHOLE "        at_most: 3\n", 15, "several ranges");
    expect_error(WHOLE "        resolution: 0\n", 19, "resolution is 0; valid: 0.1 to 100");
    expect_error(WHOLE "        resolution: 5\n        role: size\n", 19,
                 "resolution beside another role than claim");
    expect_error(WHOLE "        role: clam\n", 19, "role is \"clam\"; the nearest is \"claim\"");
    expect_error(WHOLE "        role: size\n", 8, "no expectation carries the claim");
    expect_error("lesson: {supported: x}\n" WHOLE, 1, "a lesson lacks the key \"refuted\"");
    expect_error("lesson: {supported: x, refuted: x, refused: x}\n" WHOLE, 1,
                 "a lesson has no key \"refused\"");
    expect_error(HEAD PART "      - says: x\n        level: onn\n        at_least: 1\n", 16,
                 "part \"one\" has no level \"onn\"");
    expect_error(HEAD PART EXPECT "        over: on\n        at_least: 1\n", 17,
                 "level and over are both on");
    expect_error(HEAD PART EXPECT "        at_least: 2 ms\n", 17, "at_least is 2 ms; valid");
    expect_error(HEAD PART EXPECT "        over: off\n        at_least: 2 /s\n", 18,
                 "valid: a ratio");
    expect_error(HEAD PART EXPECT "        between: [1]\n", 17, "valid: two, as in [1, 2]");
    expect_error(HEAD PART EXPECT "        between: [2, 1]\n", 17, "the smaller value first");
    expect_error(HEAD PART EXPECT "        metric: p50\n        at_most: 1 ms\n", 17,
                 "fib records no latencies");
    expect_error(HEAD PART EXPECT "        metric: p101\n        at_most: 1 ms\n", 17,
                 "no share of the latencies");
    expect_error(HEAD PART EXPECT "        metric: sde:::schedlab::STEELS\n        at_most: 1\n",
                 17, "STEALS");
    expect_error(HEAD PART EXPECT "        metric: order\n        exactly: 0-9\n", 17,
                 "fib finds none; valid: the workload order");
    expect_error(HEAD PART EXPECT "        workers: 3\n        at_least: 1\n", 17,
                 "workers is 3; valid: one that part");
    expect_error(HEAD PART EXPECT "        workload: ring\n        at_least: 1\n", 17,
                 "part \"one\" has no workload");
    expect_error(HEAD PART EXPECT "        variant: grq\n        at_least: 1\n", 17,
                 "part \"one\" has no variant \"grq\"");
    expect_error(HEAD PART EXPECT "        machine: sim:desktop8\n        at_least: 1\n", 17,
                 "part \"one\" has no machine");
    expect_error(HEAD "  - id: one\n    factor: variant\n    levels: [gmp]\n    workload: fib\n"
                      "    expect: [{says: x, variant: gmp, at_least: 1}]\n",
                 12, "the levels of part \"one\" are its variants; valid: level");
    expect_error(HEAD "  - id: one\n    variant: gmp\n    factor: runnext\n    levels: [off]\n"
                      "    workload: order\n    metric: order\n"
                      "    expect: [{says: x, at_least: 1}]\n",
                 14, "metric is order, a text; valid: exactly");
}

/* Claims -------------------------------------------------------------------------------------- */

#define CLAIM                                                                                      \
    "- id: \"1.2\"\n  degree: wrong\n  who: a post\n  says: this\n  go: that\n  shown_by: "        \
    "[T1/one]\n"

static void expect_claim_error(const char *text, int line, const char *part)
{
    struct error error = {0};
    struct experiment *experiment = load(WHOLE);
    file_write(text);
    struct claims *claims = claims_load(file_path, &experiment, 1, &error);
    if (claims)
        fail_msg("accepted: %s", text);
    expect_line(error.text, line, part);
    experiment_free(experiment);
}

static void claims_name_what_shows_them(void **state)
{
    (void)state;
    struct error error = {0};
    struct experiment *experiment = load(WHOLE);
    file_write(CLAIM);
    struct claims *claims = claims_load(file_path, &experiment, 1, &error);
    assert_non_null(claims);
    assert_int_equal(claims->count, 1);
    claims_free(claims);
    experiment_free(experiment);
    expect_claim_error(CLAIM CLAIM, 7, "two claims have the id \"1.2\"");
    expect_claim_error("- id: a\n  degree: lie\n  who: x\n  says: x\n  go: x\n  not_shown: x\n", 2,
                       "degree is \"lie\"; valid: right, imprecise, outdated, wrong");
    expect_claim_error("- id: a\n  degree: wrong\n  who: x\n  says: x\n  go: x\n", 1,
                       "claim a has neither; valid: one of shown_by and not_shown");
    expect_claim_error(CLAIM "  not_shown: x\n", 1, "claim 1.2 has both");
    expect_claim_error("- id: a\n  degree: wrong\n  who: x\n  says: x\n  go: x\n"
                       "  shown_by: [T1/two]\n",
                       6, "experiment T1 has no part \"two\"; valid: one");
    expect_claim_error("- id: a\n  degree: wrong\n  who: x\n  says: x\n  go: x\n"
                       "  shown_by: [T2/one]\n",
                       6, "there is no experiment \"T2\"");
    expect_claim_error("- id: a\n  degree: wrong\n  who: x\n  says: x\n  go: x\n"
                       "  shown_by: [T1/one#2]\n",
                       6, "part T1/one has 1 expectations; valid: #1 to #1");
    expect_claim_error("- id: a\n  degree: wrong\n  who: x\n  says: x\n  go: x\n"
                       "  shown_by: [\"T1\"]\n",
                       6, "valid: EXPERIMENT/PART");
    expect_claim_error("- id: a\n  degree: right\n  who: x\n  says: x\n  go: x\n"
                       "  not_shown: x\n  go_itself: [T1/one]\n",
                       7, "part T1/one has no peer; valid in go_itself: one with peer:go");
    expect_claim_error("- id: a\n  degree: right\n  who: x\n  says: x\n  go: x\n"
                       "  not_shown: x\n  go_itself: [\"T1\"]\n",
                       7, "go_itself has \"T1\"; valid: EXPERIMENT/PART");
    expect_claim_error("- id: T1\n  degree: wrong\n  who: x\n  says: x\n  go: x\n"
                       "  not_shown: x\n",
                       1, "an experiment has the id \"T1\" too");
    expect_claim_error("- idd: a\n", 1, "a claim has no key \"idd\"");
}

/* The experiments that come with the program are right, and know each other. */
static void the_catalogue_is_right(void **state)
{
    (void)state;
    enum { MOST = 256 };
    char path[4096];
    struct error error = {0};
    struct experiment *experiments[MOST];
    size_t count = 0;
    char **paths = experiment_paths(EXPERIMENT_FOLDER, &error);
    for (; paths && paths[count]; count++) {
        assert_true(count < MOST);
        experiments[count] = experiment_load(paths[count], &error);
        if (!experiments[count])
            fail_msg("%s", error.text);
    }
    assert_true(data_folder_find("experiments", path, sizeof path, &error));
    strcat(path, "/claims.yaml");
    struct claims *claims = claims_load(path, experiments, count, &error);
    if (!claims && access(path, F_OK) == 0)
        fail_msg("%s", error.text);
    claims_free(claims);
    for (size_t i = 0; i < count; i++)
        experiment_free(experiments[i]);
    data_folder_names_free(paths);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least_file_gets_the_defaults),
        cmocka_unit_test(a_table_is_one_expectation_per_cell),
        cmocka_unit_test(tables_are_checked),
        cmocka_unit_test(ranges_have_units),
        cmocka_unit_test(levels_may_be_written_otherwise),
        cmocka_unit_test(a_part_is_a_group),
        cmocka_unit_test(native_samples_may_be_longer_and_all_pinned),
        cmocka_unit_test(the_quick_form_takes_what_the_file_asks_for),
        cmocka_unit_test(a_knob_may_be_an_axis),
        cmocka_unit_test(the_figure_shows_the_metric_of_each_level),
        cmocka_unit_test(workers_without_a_core_are_not_measured),
        cmocka_unit_test(machines_as_levels_are_groups),
        cmocka_unit_test(events_that_are_metrics_are_counted),
        cmocka_unit_test(intervals_are_as_narrow_as_claims_need_them),
        cmocka_unit_test(each_metric_has_a_width),
        cmocka_unit_test(full_parts_are_for_the_full_form),
        cmocka_unit_test(the_held_form_is_what_is_judged),
        cmocka_unit_test(held_workloads_may_be_the_levels),
        cmocka_unit_test(keys_are_known_and_there),
        cmocka_unit_test(heads_are_checked),
        cmocka_unit_test(parts_are_checked),
        cmocka_unit_test(one_thing_changes),
        cmocka_unit_test(expectations_are_checked),
        cmocka_unit_test(claims_name_what_shows_them),
        cmocka_unit_test(the_catalogue_is_right),
    };
    return cmocka_run_group_tests(tests, file_make, file_remove);
}
