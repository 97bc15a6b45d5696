/* test_sweep_file.c - what a sweep file may say, what it then means, and that every mistake is one
 * line that names the file, the line and what is valid. */
#include "harness/plan/sweep_file.h"
#include "harness/records/sample_request.h"

#include "harness/numbers/statistics.h"
#include "harness/sample/child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Seven lines; groups of further tests begin on line 4. */
#define GROUP                                                                                      \
    "  - id: one\n"                                                                                \
    "    question: Which?\n"                                                                       \
    "    baseline: gmp\n"                                                                          \
    "    variants: [gmp, grq]\n"                                                                   \
    "    workloads: [fib]\n"                                                                       \
    "    workers: [1, 2]\n"
#define HEAD                                                                                       \
    "name: test\n"                                                                                 \
    "title: A test\n"                                                                              \
    "groups:\n"

static char file_path[64];

static int file_make(void **state)
{
    (void)state;
    snprintf(file_path, sizeof file_path, "/tmp/test_sweep_file.XXXXXX");
    int fd = mkstemp(file_path);
    return fd < 0 || close(fd) < 0 ? -1 : 0;
}

static int file_remove(void **state)
{
    (void)state;
    return unlink(file_path);
}

static struct sweep_file *load(const char *text, struct error *error)
{
    FILE *to = fopen(file_path, "w");
    if (!to)
        abort();
    fputs(text, to);
    fclose(to);
    return sweep_file_load(file_path, error);
}

static struct sweep_file *load_valid(const char *text)
{
    struct error error = {0};
    struct sweep_file *sweep = load(text, &error);
    if (!sweep)
        fail_msg("%s", error.text);
    return sweep;
}

/* The text is wrong on this line, and the message holds both parts (NULL: any). */
static void expect_error(const char *text, int line, const char *part, const char *other)
{
    char place[128];
    struct error error = {0};
    struct sweep_file *sweep = load(text, &error);
    if (sweep)
        fail_msg("accepted: %s", text);
    snprintf(place, sizeof place, "%s:%d: ", file_path, line);
    if (strncmp(error.text, place, strlen(place)) != 0 || (part && !strstr(error.text, part)) ||
        (other && !strstr(error.text, other)) || strchr(error.text, '\n'))
        fail_msg("expected line %d, \"%s\" and \"%s\"; got \"%s\"", line, part, other, error.text);
}

static void all_mistakes_are_told_at_once(void **state)
{
    (void)state;
    char expected[256];
    struct error error = {0};
    FILE *to = fopen(file_path, "w");
    assert_non_null(to);
    fputs("name: test\ntitle: A test\nrep: 5\ngroups:\n" /* lines 1 to 4 */
          "  - id: one\n    question: Which?\n    baseline: gmp\n"
          "    variants: [gmp, grk]\n    workloads: [fib, fub]\n    workers: [1]\n"
          "  - id: two\n    question: Which?\n    baseline: gmq\n"
          "    variants: [gmp]\n    workloads: [fib]\n    workers: [0]\n",
          to);
    fclose(to);
    assert_null(sweep_file_load(file_path, &error));
    static const struct {
        int line;
        const char *part;
    } mistakes[] = {
        {3, "no key \"rep\""}, {8, "grk"}, {9, "fub"}, {13, "gmq"}, {16, "workers is 0"}};
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        snprintf(expected, sizeof expected, "%s:%d: ", file_path, mistakes[i].line);
        const char *at = strstr(error.text, expected);
        if (!at || !strstr(at, mistakes[i].part))
            fail_msg("no \"%s\" on line %d in:\n%s", mistakes[i].part, mistakes[i].line,
                     error.text);
    }
    assert_true(error.text[strlen(error.text) - 1] != '\n');
}

static void unknown_keys_of_every_mapping_are_told(void **state)
{
    (void)state;
    char expected[2048];
    struct error error = {0};
    FILE *to = fopen(file_path, "w");
    assert_non_null(to);
    fputs("rep: 5\ncolour: red\n" HEAD /* of three lines */
          "  - {id: a, nam: x, question: q, baseline: gmp, variants: [gmp], workloads: [fib],\n"
          "     worker: [1], workers: [1]}\n" GROUP "    knobs: 1\n",
          to);
    fclose(to);
    assert_null(sweep_file_load(file_path, &error));
    static const struct {
        int line;
        const char *what;
    } mistakes[] = {{1, "a sweep has no key \"rep\"; "},
                    {2, "a sweep has no key \"colour\"; "},
                    {6, "a group has no key \"nam\"; "},
                    {7, "a group has no key \"worker\"; "},
                    {14, "a group has no key \"knobs\"; "}};
    const char *at = error.text;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        snprintf(expected, sizeof expected, "%s:%d: %s", file_path, mistakes[i].line,
                 mistakes[i].what);
        if (!at || strncmp(at, expected, strlen(expected)) != 0)
            fail_msg("no \"%s\" at its place in:\n%s", expected, error.text);
        at = strchr(at, '\n');
        at += at != NULL;
    }
    assert_null(at); /* told once each */
}

/* A file with that many unknown variants; their names have at least so many digits. */
static void load_unknown(int count, int digits, struct error *error)
{
    FILE *to = fopen(file_path, "w");
    assert_non_null(to);
    fputs(HEAD "  - id: one\n    question: Which?\n    baseline: gmp\n"
               "    workloads: [fib]\n    workers: [1]\n    variants: [gmp",
          to);
    for (int i = 0; i < count; i++)
        fprintf(to, ", gmq%0*d", digits, i);
    fputs("]\n", to);
    fclose(to);
    assert_null(sweep_file_load(file_path, error));
}

static void many_mistakes_are_bounded(void **state)
{
    (void)state;
    struct error error = {0};
    load_unknown(30, 1, &error);
    int lines = 1;
    for (const char *at = error.text; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 21);
    assert_non_null(strstr(error.text, ": more mistakes"));
}

static void mistakes_without_room_are_left_out_whole(void **state)
{
    (void)state;
    struct error error = {0};
    load_unknown(20, 1500, &error);
    const char *last = strrchr(error.text, '\n');
    assert_non_null(last);
    assert_int_equal(strlen(last), strchr(error.text, '\n') + 1 - error.text);
}

static void least_file_gets_the_defaults(void **state)
{
    (void)state;
    struct sweep_file *sweep = load_valid(HEAD GROUP);
    assert_string_equal(sweep->name, "test");
    assert_string_equal(sweep->title, "A test");
    assert_int_equal(sweep->reps, 8);
    assert_true(sweep->reps >= STATISTICS_INTERVAL_MIN); /* or medians would have no interval */
    assert_int_equal(sweep->reps_max, 8);
    assert_int_equal(sweep->width, 0);
    assert_int_equal(sweep->timeout_s, 20);
    assert_int_equal(sweep->min_time_ms, 100);
    assert_int_equal(sweep->iterations, 1);
    assert_int_equal(sweep->warmup, WARMUP_AUTO);
    assert_int_equal(sweep->steal_max, 1);
    assert_int_equal(sweep->repeat_disturbed, 0);
    assert_int_equal(sweep->class_min, 0);
    assert_int_equal(sweep->class_each, 0);
    assert_int_equal(sweep->seed, -1);
    assert_false(sweep->pin);
    assert_int_equal(sweep->events_count, 0);
    assert_int_equal(sweep->groups_count, 1);
    assert_int_equal(sweep->groups[0].figure, SWEEP_FIGURE_THROUGHPUT);
    assert_null(sweep->groups[0].knob);
    assert_int_equal(sweep->groups[0].workers[1], 2);
    sweep_file_free(sweep);
}

/* Calls of a simulated machine take their time from the first on, and no clock is coarse. */
static void simulated_sweeps_have_other_defaults(void **state)
{
    (void)state;
    struct sweep_file *sweep = load_valid("machine: sim:desktop8\n" HEAD GROUP);
    assert_int_equal(sweep->reps, 3);
    assert_int_equal(sweep->warmup, 1);
    assert_int_equal(sweep->min_time_ms, 0);
    sweep_file_set_machine(sweep, "native");
    assert_int_equal(sweep->warmup, WARMUP_AUTO);
    sweep_file_free(sweep);
    sweep = load_valid("warmup: 3\n" HEAD GROUP);
    sweep_file_set_machine(sweep, "sim:desktop8");
    assert_int_equal(sweep->warmup, 3);
    sweep_file_free(sweep);
}

static void every_key_is_read(void **state)
{
    (void)state;
    struct sweep_file *sweep = load_valid(
        "reps: 2\nreps_max: 9\nwidth: 4\ntimeout_s: 3\nmin_time_ms: 0\nwarmup: 0\nseed: 0\n"
        "iterations: 4\npin: true\nsteal_max: 2\nrepeat_disturbed: true\nclass_min: 3\n"
        "class_each: true\n"
        "events: [perf::PAGE-FAULTS, sde:::schedlab::STEALS]\n" HEAD GROUP "    figure: speedup\n"
        "    events: [none]\n");
    assert_int_equal(sweep->reps, 2);
    assert_int_equal(sweep->reps_max, 9);
    assert_int_equal(sweep->width, 4);
    assert_int_equal(sweep->timeout_s, 3);
    assert_int_equal(sweep->min_time_ms, 0);
    assert_int_equal(sweep->iterations, 4);
    assert_int_equal(sweep->warmup, 0);
    assert_int_equal(sweep->steal_max, 2);
    assert_int_equal(sweep->repeat_disturbed, 1);
    assert_int_equal(sweep->class_min, 3);
    assert_int_equal(sweep->class_each, 1);
    assert_int_equal(sweep->seed, 0);
    assert_true(sweep->pin);
    assert_int_equal(sweep->events_count, 2);
    assert_string_equal(sweep->events[1], "sde:::schedlab::STEALS");
    assert_int_equal(sweep->groups[0].figure, SWEEP_FIGURE_SPEEDUP);
    assert_int_equal(sweep->groups[0].events_count, 1);
    assert_string_equal(sweep->groups[0].events[0], "none");
    sweep_file_free(sweep);
}

static void warmup_may_be_automatic(void **state)
{
    (void)state;
    struct sweep_file *sweep = load_valid("warmup: auto\nrepeat_disturbed: false\n" HEAD GROUP);
    assert_int_equal(sweep->warmup, WARMUP_AUTO);
    assert_int_equal(sweep->repeat_disturbed, 0);
    sweep_file_free(sweep);
}

#define LISTS(variants, workloads, events)                                                         \
    HEAD "  - id: one\n"                                                                           \
         "    question: Which?\n"                                                                  \
         "    baseline: \"gmp,tick=64\"\n"                                                         \
         "    variants: [" variants "]\n"                                                          \
         "    workloads: [" workloads "]\n"                                                        \
         "    workers: [1]\n"                                                                      \
         "    events: [" events "]\n"

static void specifications_become_canonical(void **state)
{
    (void)state;
    struct sweep_file *sweep =
        load_valid(LISTS("\"gmp,tick=61\", \"gmp,tick=0064\"", "\"fib,n=0020\"", "none"));
    const struct sweep_group *group = &sweep->groups[0];
    assert_int_equal(group->variants_count, 2);
    assert_string_equal(group->variants[0], "gmp");
    assert_string_equal(group->variants[1], "gmp,tick=64");
    assert_int_equal(group->workloads_count, 1);
    assert_string_equal(group->workloads[0], "fib,n=20");
    sweep_file_free(sweep);
}

static void what_a_list_has_twice_is_named(void **state)
{
    (void)state;
    expect_error(LISTS("\"gmp,tick=64\", gmp,\n\"gmp,tick=61\"", "fib", "none"), 8,
                 "gmp is given twice", NULL);
    expect_error(LISTS("\"gmp,tick=64\"", "\"fib,n=0020\",\n\"fib,n=20\"", "none"), 9,
                 "fib,n=20 is given twice", NULL);
    expect_error(LISTS("\"gmp,tick=64\"", "fib", "perf::PAGE-FAULTS,\nperf::PAGE-FAULTS"), 11,
                 "perf::PAGE-FAULTS is given twice", NULL);
    expect_error(LISTS("\"gmp,tick=64\"", "fib", "STEALS,\n\"sde:::schedlab::STEALS\""), 11,
                 "sde:::schedlab::STEALS is given twice", NULL);
}

static void file_is_one_document(void **state)
{
    (void)state;
    sweep_file_free(load_valid("---\n" HEAD GROUP "...\n"));
    expect_error(HEAD GROUP "---\nreps: 9\n", 10, "a second YAML document", "valid: one a file");
    expect_error(HEAD GROUP "---\n[\n", 12, "not valid YAML", NULL);
}

#define KNOB_GROUP(knob, more)                                                                     \
    HEAD "  - id: ticks\n"                                                                         \
         "    question: Which?\n"                                                                  \
         "    baseline: gmp\n"                                                                     \
         "    variants: [gmp, \"gmp,runnext=off\"]\n"                                              \
         "    workloads: [fib]\n"                                                                  \
         "    workers: [1]\n"                                                                      \
         "    knob: " knob "\n" more

static void knob_expands_every_variant(void **state)
{
    (void)state;
    struct sweep_file *sweep =
        load_valid(KNOB_GROUP("{name: tick, values: [1, 61, 64]}", "    figure: knob\n"));
    const struct sweep_group *group = &sweep->groups[0];
    assert_int_equal(group->variants_count, 6);
    assert_string_equal(group->variants[0], "gmp,tick=1");
    assert_string_equal(group->variants[1], "gmp");
    assert_string_equal(group->variants[2], "gmp,tick=64");
    assert_non_null(strstr(group->variants[3], "tick=1"));
    assert_non_null(strstr(group->variants[3], "runnext=off"));
    assert_string_equal(group->knob->name, "tick");
    assert_int_equal(group->knob->values_count, 3);
    sweep_file_free(sweep);
}

#define MAP_GROUP(knob, knob2, more) KNOB_GROUP(knob, "    knob2: " knob2 "\n" more)
#define RING_KNOB "{name: ring, values: [16, 256]}"
#define TICK_KNOB "{name: tick, values: [1, 61, 64]}"

static void two_knobs_expand_to_each_with_each(void **state)
{
    (void)state;
    struct sweep_file *sweep = load_valid(MAP_GROUP(RING_KNOB, TICK_KNOB, "    figure: heatmap\n"));
    const struct sweep_group *group = &sweep->groups[0];
    assert_int_equal(group->figure, SWEEP_FIGURE_HEATMAP);
    assert_int_equal(group->variants_count, 12);
    assert_string_equal(group->variants[0], "gmp,tick=1,ring=16");
    assert_string_equal(group->variants[1], "gmp,ring=16");
    assert_string_equal(group->variants[3], "gmp,tick=1");
    assert_string_equal(group->variants[4], "gmp");
    assert_non_null(strstr(group->variants[11], "runnext=off"));
    assert_string_equal(group->knob->name, "ring");
    assert_string_equal(group->knob2->name, "tick");
    assert_int_equal(group->knob2->values_count, 3);
    sweep_file_free(sweep);
}

static void knobs_must_fit_the_figure(void **state)
{
    (void)state;
    expect_error(MAP_GROUP(RING_KNOB, TICK_KNOB, ""), 4, "knob2", "all or none");
    expect_error(MAP_GROUP(RING_KNOB, TICK_KNOB, "    figure: knob\n"), 4, "heatmap", NULL);
    expect_error(KNOB_GROUP(RING_KNOB, "    figure: heatmap\n"), 4, "knob2", "all or none");
    expect_error(MAP_GROUP(RING_KNOB, RING_KNOB, "    figure: heatmap\n"), 11, "\"ring\"",
                 "another knob");
    expect_error(MAP_GROUP(RING_KNOB, "{name: tick, values: [-1]}", "    figure: heatmap\n"), 11,
                 "tick", "-1");
    expect_error(MAP_GROUP(RING_KNOB, "{nam: tick, values: [1]}", ""), 11, "a knob has no key",
                 "\"name\"");
}

static void aliases_repeat_a_list(void **state)
{
    (void)state;
    struct sweep_file *sweep = load_valid(HEAD "  - id: one\n"
                                               "    question: Which?\n"
                                               "    baseline: gmp\n"
                                               "    variants: [gmp]\n"
                                               "    workloads: &all [fib, spawn]\n"
                                               "    workers: [1]\n"
                                               "  - id: two\n"
                                               "    question: Which?\n"
                                               "    baseline: grq\n"
                                               "    variants: [grq]\n"
                                               "    workloads: *all\n"
                                               "    workers: [1]\n");
    assert_int_equal(sweep->groups[1].workloads_count, 2);
    assert_string_equal(sweep->groups[1].workloads[1], "spawn");
    sweep_file_free(sweep);
}

static void syntax_errors_name_their_line(void **state)
{
    (void)state;
    expect_error("name: test\ntitle: [a, b\n", 3, "not valid YAML", NULL);
    expect_error("name: test\n\ttitle: b\n", 2, "not valid YAML", "tab");
    expect_error("title: b\nname: \"test\n", 3, "not valid YAML", "from line 2 on");
    expect_error("name: test\ntitle: \xff\xfe\n", 2, "not valid YAML", "UTF-8");
    expect_error("", 1, "empty", NULL);
    expect_error("# nothing\n", 1, "empty", NULL);
}

static void unknown_keys_name_the_nearest(void **state)
{
    (void)state;
    expect_error("rep: 3\n" HEAD GROUP, 1, "\"rep\"", "\"reps\"");
    expect_error("colour: 3\n" HEAD GROUP, 1, "\"colour\"", "valid: name, title, reps, ");
    expect_error(HEAD GROUP "    figures: knob\n", 10, "\"figures\"", "\"figure\"");
    expect_error(KNOB_GROUP("{nam: tick, values: [1]}", ""), 10, "\"nam\"", "\"name\"");
    expect_error(HEAD "  - ID: one\n    question: Q\n", 4, "\"ID\"", "\"id\"");
}

static void keys_that_lack_or_repeat_are_named(void **state)
{
    (void)state;
    expect_error("name: test\ngroups:\n" GROUP, 1, "lacks", "\"title\"");
    expect_error(HEAD "  - id: one\n    question: Which?\n    baseline: gmp\n"
                      "    variants: [gmp]\n    workers: [1]\n",
                 4, "a group lacks", "\"workloads\"");
    expect_error("name: a\n" HEAD GROUP, 2, "name", "twice");
    expect_error(HEAD GROUP "    id: again\n", 10, "id", "twice");
}

static void wrong_types_say_what_is_valid(void **state)
{
    (void)state;
    expect_error("- a\n- b\n", 1, "must have keys", NULL);
    expect_error("name: a\ntitle: b\ngroups: none\n", 3, "groups must be a list", NULL);
    expect_error("name: [a]\ntitle: b\ngroups:\n" GROUP, 1, "name must be a single value", NULL);
    expect_error("reps: many\n" HEAD GROUP, 1, "reps is many", "1 to 1000 repetitions");
    expect_error("reps: 3.5\n" HEAD GROUP, 1, "reps is 3.5", "1 to 1000 repetitions");
    expect_error("reps: 3x\n" HEAD GROUP, 1, "reps is 3x", "1 to 1000 repetitions");
    expect_error("reps:\n" HEAD GROUP, 1, "reps is empty", "1 to 1000 repetitions");
    expect_error("pin: perhaps\n" HEAD GROUP, 1, "\"perhaps\"", "true, false");
    expect_error("name: \"\"\ntitle: b\ngroups:\n" GROUP, 1, "name is empty", NULL);
    expect_error("name: a\ntitle: b\ngroups: []\n", 3, "groups is empty", NULL);
}

static void numbers_out_of_range_name_the_range(void **state)
{
    (void)state;
    expect_error("reps: 0\n" HEAD GROUP, 1, "reps is 0", "1 to 1000 repetitions");
    expect_error("reps: 6\nreps_max: 5\n" HEAD GROUP, 2, "reps_max is 5", "6 to 1000");
    expect_error("width: 101\n" HEAD GROUP, 1, "width is 101", "0 to 100 percent");
    expect_error("reps: 5\nwidth: 5\n" HEAD GROUP, 2, "a reps_max of 6 to 1000", "it is 5");
    expect_error("\nwarmup: -1\n" HEAD GROUP, 2, "warmup is -1", "0 to 1000");
    expect_error("warmup: automatic\n" HEAD GROUP, 1, "warmup is automatic",
                 "0 to 1000 calls or auto");
    expect_error("warmup: [1]\n" HEAD GROUP, 1, "warmup must be a single value", NULL);
    expect_error("warmup: 1\nwarmup: 1\n" HEAD GROUP, 2, "warmup is given twice", NULL);
    expect_error("repeat_disturbed: 1\n" HEAD GROUP, 1, "repeat_disturbed is 1", "false, true");
    expect_error("\nsteal_max: 101\n" HEAD GROUP, 2, "steal_max is 101", "0 to 100 percent");
    expect_error("class_min: 3\nclass_each: 3\n" HEAD GROUP, 2, "class_each is 3", "false, true");
    expect_error("class_each: true\n" HEAD GROUP, 1, "class_each takes class_min",
                 "1 to 1000 samples");
    expect_error("class_min: few\n" HEAD GROUP, 1, "class_min is few", "0 to 1000 samples");
    expect_error("timeout_s: 99999999999\n" HEAD GROUP, 1, "timeout_s is 99999999999", "86400 s");
    expect_error("seed: -1\n" HEAD GROUP, 1, "seed is -1", "0 to");
    expect_error(HEAD "  - {id: a, question: q, baseline: gmp, variants: [gmp], workloads: [fib],\n"
                      "     workers: [1,\n"
                      "               0]}\n",
                 6, "workers is 0", "1 to ");
    expect_error(HEAD "  - {id: a, question: q, baseline: gmp, variants: [gmp], workloads: [fib],\n"
                      "     workers: [2, 2]}\n",
                 5, "workers 2 is given twice", NULL);
}

static void workloads_get_as_many_workers_as_they_take(void **state)
{
    (void)state;
    expect_error(HEAD "  - {id: a, question: q, baseline: gmp, variants: [gmp], workers: [2,\n"
                      "     1], workloads: [fib, \"order,mode=steal\"]}\n",
                 5, "order,mode=steal on 1 worker ", "valid: 2 workers or more");
}

static void unknown_names_name_the_nearest(void **state)
{
    (void)state;
    const char *format = HEAD "  - id: a\n"
                              "    question: q\n"
                              "    baseline: %s\n"
                              "    variants: [kthread, grq,\n"
                              "               \"%s\"]\n"
                              "    workloads: [spawn,\n"
                              "                \"%s\"]\n"
                              "    workers: [1]\n";
    static const struct {
        const char *baseline, *variant, *workload;
        int line;
        const char *bad, *near;
    } cases[] = {
        {"gmp", "gpm", "fib", 8, "\"gpm\"", "\"gmp\""},
        {"gmp", "gmp,tik=3", "fib", 8, "\"tik\"", "\"tick\""},
        {"gmp", "gmp,tick=-3", "fib", 8, "tick", "1024"},
        {"gmp", "gmp", "fibb", 10, "\"fibb\"", "\"fib\""},
        {"gmp", "gmp", "fib,m=3", 10, "\"m\"", "valid: n"},
        {"gmp", "gizmo", "fib", 8, "\"gizmo\"", "valid: kthread, "},
        {"gmp", "gmp", "zzz", 10, "\"zzz\"", "valid: fib, "},
        {"gmp", "tick=3", "fib", 8, "\"tick=3\"", "in quotes"},
        {"gmp", "x\\ny z", "fib", 8, "unknown variant", "valid: kthread, "},
        {"contsteal", "gmp", "fib", 6, "contsteal is not one of", "valid: kthread, grq, gmp"},
        {"gpm", "gmp", "fib", 6, "\"gpm\"", "\"gmp\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text, format, cases[i].baseline, cases[i].variant, cases[i].workload);
        expect_error(text, cases[i].line, cases[i].bad, cases[i].near);
    }
    expect_error(HEAD GROUP "    figure: speed\n", 10, "\"speed\"", "\"speedup\"");
    expect_error("events: [perf::PAGE-FAULTS,\n  sde:::schedlab::STEEL]\n" HEAD GROUP, 2, "STEEL",
                 "STEALS");
    expect_error(HEAD GROUP "    events: [sde:::schedlab::STEEL]\n", 10, "STEEL", "STEALS");
    expect_error(HEAD GROUP "    events: [perf::PAGE-FAULTS, none]\n", 10, "none", "[none]");
}

static void names_that_make_bad_paths_are_refused(void **state)
{
    (void)state;
    expect_error("name: a/b\ntitle: t\ngroups:\n" GROUP, 1, "a/b", "letters");
    expect_error("name: ..\ntitle: t\ngroups:\n" GROUP, 1, "..", "letters");
    expect_error(HEAD "  - {id: \"a b\", question: q, baseline: gmp, variants: [gmp],\n"
                      "     workloads: [fib], workers: [1]}\n",
                 4, "a b", "letters");
    expect_error(HEAD GROUP GROUP, 10, "two groups have the id \"one\"", NULL);
}

static void knobs_are_checked_where_they_stand(void **state)
{
    (void)state;
    expect_error(KNOB_GROUP("{name: tick, values: [1]}", ""), 4, "knob", "both or none");
    expect_error(HEAD GROUP "    figure: knob\n", 4, "knob", "both or none");
    expect_error(KNOB_GROUP("{name: tick,\n      values: [1,\n 5000]}", "    figure: knob\n"), 12,
                 "tick", "1024");
    expect_error(KNOB_GROUP("{name: tick,\n      values: [61, 1,\n 01]}", "    figure: knob\n"), 12,
                 "gmp,tick=1 is given twice", NULL);
    expect_error(MAP_GROUP(RING_KNOB, "{name: tick, values: [61, 61]}", "    figure: heatmap\n"),
                 11, "gmp,ring=16 is given twice", NULL);
    expect_error(KNOB_GROUP("{name: tock, values: [1]}", "    figure: knob\n"), 10, "\"tock\"",
                 "\"tick\"");
    expect_error(KNOB_GROUP("{name: tick, values: [1]}", "    figure: knob\n"), 6,
                 "gmp is not one of", NULL);
}

#define EXPECT_GROUP(workloads, workers, more)                                                     \
    HEAD "  - {id: a, question: q, baseline: gmp, variants: [grq, gmp],\n"                         \
         "     workloads: [" workloads "], workers: [" workers "], events: [PARKS],\n"             \
         "     expect: [\n"                                                                        \
         "       {" more "}]}\n"

static void expectations_are_filled_in(void **state)
{
    (void)state;
    struct sweep_file *sweep = load_valid(
        EXPECT_GROUP("calls", "2",
                     "metric: p50, value: 84 us, within: 1.5, source: elsewhere},\n"
                     "       {variant: \"grq,spinners=half\", workload: \"calls,n=200\", "
                     "workers: 2, metric: PARKS, value: 0.5, within: 1, source: b},\n"
                     "       {metric: throughput, value: 2e3/s, within: 1000, source: c"));
    const struct sweep_group *group = &sweep->groups[0];
    assert_int_equal(group->expect_count, 3);
    const struct sweep_expect *expect = group->expect;
    assert_string_equal(expect[0].variant, "gmp");
    assert_string_equal(expect[0].workload, "calls");
    assert_int_equal(expect[0].workers, 2);
    assert_string_equal(expect[0].source, "elsewhere");
    assert_true(expect[0].value == 84000 && expect[0].within == 1.5);
    assert_string_equal(expect[1].variant, "grq");
    assert_string_equal(expect[1].workload, "calls");
    assert_true(expect[1].value == 0.5 && expect[1].within == 1);
    assert_true(expect[2].value == 2000 && expect[2].within == 1000);
    sweep_file_free(sweep);
}

static void expectations_are_checked_where_they_stand(void **state)
{
    (void)state;
    static const struct {
        const char *metric, *value, *within, *more, *what, *valid;
    } cases[] = {
        {"p50", "84", "2", "", "value is 84;", "as in 84 us"},
        {"p50", "84 m", "2", "", "value is 84 m;", "ns, us, ms or s"},
        {"p50", "-1 us", "2", "", "value is -1 us;", "above 0"},
        {"p50", "us", "2", "", "value is us;", "above 0"},
        {"PARKS", "5 us", "2", "", "value is 5 us;", "as in 5"},
        {"throughput", "5", "2", "", "value is 5;", "as in 1000000 /s"},
        {"p50", "1 s", "0.5", "", "within is 0.5;", "1 to 1000"},
        {"p50", "1 s", "2x", "", "within is 2x;", "1 to 1000"},
        {"p0", "1 s", "2", "", "p0", "p1 to p99.99"},
        {"p51", "1 s", "2", "", "metric is p51;", "p50, p90"},
        {"PARK", "1", "2", "", "no number \"PARK\"", "the nearest is \"PARKS\""},
        {"STEALS", "1", "2", "", "no number \"STEALS\"", "PARKS"},
        {"p50", "1 s", "2", ", workload: \"fib,n=5\"", "p50, but fib,n=5 records no latencies",
         NULL},
        {"p50", "1 s", "2", ", workload: fob", "unknown workload \"fob\"", "fib"},
        {"p50", "1 s", "2", ", workload: \"fib,n=6\"", "no workload \"fib,n=6\"", "fib,n=5"},
        {"p50", "1 s", "2", ", variant: perm", "no variant \"perm\"", "gmp"},
        {"p50", "1 s", "2", ", variant: gpm", "unknown variant \"gpm\"", "gmp"},
        {"p50", "1 s", "2", ", workers: 3", "workers is 3;", "\"a\" has"},
        {"p50", "1 s", "2", ", workers: 1x", "workers is 1x;", "\"a\" has"},
        {"p50", "1 s", "2", ", worker: 1", "an expectation has no key \"worker\"", "\"workers\""},
        {"p50", "1 s", "2", ", metric: p99", "metric is given twice", NULL},
    };
    char text[1024];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool workload = strstr(cases[i].more, "workload:"),
             workers = strstr(cases[i].more, "workers:");
        snprintf(text, sizeof text,
                 EXPECT_GROUP("calls, \"fib,n=5\"", "1, 2",
                              "metric: %s, value: %s, within: %s, source: s%s%s%s"),
                 cases[i].metric, cases[i].value, cases[i].within, cases[i].more,
                 workload ? "" : ", workload: calls", workers ? "" : ", workers: 1");
        expect_error(text, 7, cases[i].what, cases[i].valid);
    }
    expect_error(EXPECT_GROUP("calls, fib", "1", "metric: p50, value: 1 s, within: 2, source: s"),
                 7, "lacks the key \"workload\"", "groups of one workload");
    expect_error(EXPECT_GROUP("calls", "1, 2", "metric: p50, value: 1 s, within: 2, source: s"), 7,
                 "lacks the key \"workers\"", "groups of one number");
    expect_error(EXPECT_GROUP("calls", "1", "metric: p50, value: 1 s, within: 2"), 7,
                 "an expectation lacks the key \"source\"", NULL);
    expect_error(HEAD GROUP "    expect: {metric: p50}\n", 10, "expect must be a list", NULL);
}

static void figures_that_cannot_be_drawn_are_refused(void **state)
{
    (void)state;
    const char *format = HEAD "  - {id: a, question: q, baseline: gmp, variants: [gmp],\n"
                              "     workers: [%s], workloads: [%s], events: [%s],\n"
                              "     figure: %s}\n";
    static const struct {
        const char *workers, *workload, *events, *figure, *what, *valid;
    } cases[] = {
        {"1", "fib", "perf::PAGE-FAULTS", "speedup", "over the run on 1 worker", "[1, 2]"},
        {"2, 3", "fib", "perf::PAGE-FAULTS", "speedup", "over the run on 1 worker", "[1, 2]"},
        {"2", "fib, pingpong", "perf::PAGE-FAULTS", "latency", "no workload", "latency=on"},
        {"2", "fib", "none", "events", "counts none", "other than [none]"},
        {"1, 2", "fib", "none", "speedup", NULL, NULL},
        {"2", "\"fib\", \"mutex,latency=on\"", "none", "latency", NULL, NULL},
        {"2", "arrivals", "none", "latency", NULL, NULL},
        {"1", "fib", "perf::PAGE-FAULTS", "events", NULL, NULL},
        {"1", "fib", "none", "throughput", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text, format, cases[i].workers, cases[i].workload, cases[i].events,
                 cases[i].figure);
        if (cases[i].what)
            expect_error(text, 6, cases[i].what, cases[i].valid);
        else
            sweep_file_free(load_valid(text));
    }
    expect_error("events: [none]\n" HEAD GROUP "    figure: events\n", 11, "counts none", NULL);
    expect_error(HEAD GROUP "    figure: metric\n", 4, "only one of metric and figure", "both");
    expect_error(HEAD GROUP "    metric: p50\n", 4, "only one of metric and figure", "both");
    expect_error(HEAD GROUP "    figure: metric\n    metric: victims\n", 11, "a workload finds",
                 "throughput");
    expect_error(HEAD GROUP "    figure: metric\n    metric: p50\n", 10, "no workload",
                 "latency=on");
    expect_error("events: [none]\n" HEAD GROUP "    figure: metric\n    metric: STEALS\n", 11,
                 "counts none", NULL);
    struct sweep_file *sweep = load_valid(HEAD GROUP "    figure: metric\n    metric: STEALS\n");
    assert_string_equal(sweep->groups[0].metric, "STEALS");
    sweep_file_free(sweep);
}

#define SURFACE_GROUP(variants, workloads, more)                                                   \
    HEAD "  - {id: a, question: q, baseline: gmp, workers: [1, 2],\n"                              \
         "     variants: [" variants "], workloads: [" workloads "],\n"                            \
         "     figure: surface" more "}\n"

static void a_surface_has_a_parameter_of_all_workloads(void **state)
{
    (void)state;
    const char *both = "only one of parameter and figure";
    expect_error(SURFACE_GROUP("gmp, grq", "uneven", ""), 4, both, "both or none");
    expect_error(HEAD GROUP "    parameter: n\n", 4, both, "both or none");
    expect_error(SURFACE_GROUP("gmp", "uneven", ",\n     parameter: rounds"), 5,
                 "over the baseline", "another variant");
    expect_error(SURFACE_GROUP("gmp, grq", "uneven, fib", ",\n     parameter: rounds"), 7,
                 "fib has no number for rounds", "a number in each workload");
    expect_error(SURFACE_GROUP("gmp, grq", "uneven", ",\n     parameter: shape"), 7,
                 "uneven has no number for shape", "a number in each workload");
    expect_error(SURFACE_GROUP("gmp, grq", "\"uneven,tasks=9/worker\"", ",\n     parameter: tasks"),
                 7, "has no number for tasks", NULL);
    struct sweep_file *sweep = load_valid(
        SURFACE_GROUP("gmp, grq", "uneven, \"uneven,rounds=10\"", ",\n     parameter: rounds"));
    assert_int_equal(sweep->groups[0].figure, SWEEP_FIGURE_SURFACE);
    assert_string_equal(sweep->groups[0].parameter, "rounds");
    sweep_file_free(sweep);
}

static void pairs_of_which_one_is_moot_are_left_out(void **state)
{
    (void)state;
    const char *cap = "{name: runnext_cap, values: [0, 3, 10]}", *head = HEAD;
    char text[2048];
    snprintf(text, sizeof text, "%s%s", head,
             "  - {id: a, question: q, baseline: gmp, variants: [gmp], workers: [1],\n"
             "     workloads: [fib], figure: heatmap,\n"
             "     knob: {name: runnext, values: [on, off]},\n     knob2: ");
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s}\n", cap);
    struct sweep_file *sweep = load_valid(text);
    assert_int_equal(sweep->groups[0].variants_count, 4);
    assert_string_equal(sweep->groups[0].variants[3], "gmp,runnext=off");
    assert_non_null(strstr(sweep->groups[0].left_out, "2 of 6 pairs of runnext and runnext_cap"));
    assert_non_null(strstr(sweep->groups[0].left_out, "runnext_cap=3 changes nothing with"));
    sweep_file_free(sweep);
    expect_error(HEAD "  - {id: a, question: q, baseline: gmp, variants: [gmp], workers: [1],\n"
                      "     workloads: [fib], figure: heatmap,\n"
                      "     knob: {name: runnext, values: [off]},\n"
                      "     knob2: {name: runnext_cap, values: [3]}}\n",
                 7, "no pair of runnext and runnext_cap is left",
                 "changes nothing with runnext=off");
}

static void files_that_cannot_be_read_say_why(void **state)
{
    (void)state;
    struct error error = {0};
    assert_null(sweep_file_load("/nonexistent/sweep.yaml", &error));
    assert_non_null(strstr(error.text, "/nonexistent/sweep.yaml"));
    assert_non_null(strstr(error.text, "No such file"));
    assert_null(sweep_file_load("/tmp", &error));
    assert_non_null(strstr(error.text, "Is a directory"));
}

/* libyaml would take the square of their number. */
static void brackets_without_end_are_refused(void **state)
{
    (void)state;
    enum { BRACKETS = 100000 };
    static char text[BRACKETS + 64];
    int at = snprintf(text, sizeof text, "name: test\ntitle: ");
    memset(text + at, '[', BRACKETS);
    expect_error(text, 2, "more than 100 brackets", NULL);
    for (int i = 0; i < 50; i++)
        snprintf(text + at + 2 * i, 3, "{a"); /* as many as are borne, and still wrong */
    expect_error(text, 2, "not valid YAML", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_mistakes_are_told_at_once),
        cmocka_unit_test(unknown_keys_of_every_mapping_are_told),
        cmocka_unit_test(many_mistakes_are_bounded),
        cmocka_unit_test(mistakes_without_room_are_left_out_whole),
        cmocka_unit_test(least_file_gets_the_defaults),
        cmocka_unit_test(simulated_sweeps_have_other_defaults),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(warmup_may_be_automatic),
        cmocka_unit_test(specifications_become_canonical),
        cmocka_unit_test(what_a_list_has_twice_is_named),
        cmocka_unit_test(file_is_one_document),
        cmocka_unit_test(knob_expands_every_variant),
        cmocka_unit_test(two_knobs_expand_to_each_with_each),
        cmocka_unit_test(knobs_must_fit_the_figure),
        cmocka_unit_test(aliases_repeat_a_list),
        cmocka_unit_test(syntax_errors_name_their_line),
        cmocka_unit_test(unknown_keys_name_the_nearest),
        cmocka_unit_test(keys_that_lack_or_repeat_are_named),
        cmocka_unit_test(wrong_types_say_what_is_valid),
        cmocka_unit_test(numbers_out_of_range_name_the_range),
        cmocka_unit_test(workloads_get_as_many_workers_as_they_take),
        cmocka_unit_test(unknown_names_name_the_nearest),
        cmocka_unit_test(names_that_make_bad_paths_are_refused),
        cmocka_unit_test(knobs_are_checked_where_they_stand),
        cmocka_unit_test(expectations_are_filled_in),
        cmocka_unit_test(expectations_are_checked_where_they_stand),
        cmocka_unit_test(figures_that_cannot_be_drawn_are_refused),
        cmocka_unit_test(a_surface_has_a_parameter_of_all_workloads),
        cmocka_unit_test(pairs_of_which_one_is_moot_are_left_out),
        cmocka_unit_test(files_that_cannot_be_read_say_why),
        cmocka_unit_test(brackets_without_end_are_refused),
    };
    return cmocka_run_group_tests_name("sweep_file", tests, file_make, file_remove);
}
