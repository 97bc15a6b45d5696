/* test_gbench.c - Google Benchmark from C: instances, clocks, counters, failures, as its own JSON
 * shows them.
 *
 * The library runs once in a process, so one run of several benchmarks serves all tests.
 */
#include "harness/micro/gbench.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { BATCH = 7, MANUAL_NS = 250, CPU_NS = 70, PEAK = 42 };

static json_t *results;
static enum gbench_end end;
static uint64_t loops, loops_done;

/* Benchmarks --------------------------------------------------------------------------------- */

static void loop(struct gbench_state *state, void *arg)
{
    uint64_t *turns = arg;
    *turns = 0;
    while (gbench_keep_running_batch(state, BATCH))
        *turns += BATCH;
    loops_done = gbench_done(state);
}

static void counted(struct gbench_state *state, void *arg)
{
    int64_t factor = gbench_argument(state, 0) * gbench_argument(state, 1);
    (void)arg;
    while (gbench_keep_running_batch(state, 1)) {
        gbench_pause(state);
        gbench_resume(state);
    }
    gbench_count(state, "total", (double)factor * (double)gbench_done(state), GBENCH_COUNTER_TOTAL);
    gbench_count(state, "rate", (double)gbench_done(state), GBENCH_COUNTER_RATE);
    gbench_count(state, "peak", PEAK, GBENCH_COUNTER_FIGURE);
    gbench_label(state, "labelled");
}

static void manual(struct gbench_state *state, void *arg)
{
    uint64_t n = gbench_planned(state);
    (void)arg;
    while (gbench_keep_running_batch(state, n))
        gbench_set_time_ns(state, (double)n * MANUAL_NS);
    gbench_set_cpu_ns(state, (double)n * CPU_NS);
}

/* 100, 200, 300 ns of CPU time in its three repetitions. */
static void repeated(struct gbench_state *state, void *arg)
{
    int *repetition = arg;
    ++*repetition;
    while (gbench_keep_running_batch(state, BATCH))
        gbench_set_time_ns(state, BATCH * MANUAL_NS);
    gbench_set_cpu_ns(state, 100.0 * *repetition * BATCH);
}

static void fails(struct gbench_state *state, void *arg)
{
    (void)arg;
    while (gbench_keep_running_batch(state, 1))
        gbench_fail(state, "2 + 2 was 5");
}

static void skips(struct gbench_state *state, void *arg)
{
    (void)arg;
    while (gbench_keep_running_batch(state, 1))
        gbench_skip(state, "no such hardware");
}

static void never(struct gbench_state *state, void *arg)
{
    (void)state;
    (void)arg;
    fail_msg("the filter leaves this one out");
}

static void register_all(void)
{
    static const char *const names[] = {"rows", "columns"};
    static const int64_t pairs[][2] = {{2, 3}, {4, 5}};
    gbench_register("loop", loop, &loops);
    struct gbench *bench = gbench_register("counted", counted, NULL);
    gbench_name_args(bench, names, 2);
    gbench_add_args(bench, pairs[0], 2);
    gbench_add_args(bench, pairs[1], 2);
    gbench_use_time(bench, GBENCH_REAL_TIME);
    bench = gbench_register("manual", manual, NULL);
    gbench_add_range(bench, 1, 100, 10);
    gbench_use_process_cpu(bench);
    gbench_use_time(bench, GBENCH_MANUAL_TIME);
    gbench_fix_iterations(gbench_register("fixed", loop, &loops), 10);
    static int repetitions;
    bench = gbench_register("repeated", repeated, &repetitions);
    gbench_use_time(bench, GBENCH_MANUAL_TIME);
    gbench_fix_iterations(bench, BATCH);
    gbench_register("fails", fails, NULL);
    gbench_register("skips", skips, NULL);
    gbench_register("never", never, NULL);
}

static int run_all(void **state)
{
    char path[] = "/tmp/test_gbench.XXXXXX", out[64];
    struct error error = {0};
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    snprintf(out, sizeof out, "--benchmark_out=%s", path);
    const char *flags[] = {"--benchmark_filter=-^never", "--benchmark_min_time=0.0001s",
                           "--benchmark_repetitions=3", out, NULL};
    register_all();
    gbench_context("who", "test");
    end = gbench_run("test_gbench", flags, false, &error);
    results = json_load_file(path, 0, NULL);
    unlink(path);
    return results ? 0 : -1;
}

static int free_all(void **state)
{
    (void)state;
    json_decref(results);
    return 0;
}

/* Tests -------------------------------------------------------------------------------------- */

static const json_t *find(const char *name)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(results, "benchmarks"), i, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "name")), name) == 0)
            return entry;
    }
    fail_msg("no benchmark is called %s", name);
    return NULL;
}

static double number(const json_t *entry, const char *key)
{
    const json_t *value = json_object_get(entry, key);
    if (!json_is_number(value))
        fail_msg("%s is no number", key);
    return json_number_value(value);
}

static void gbench_counts_whole_batches(void **state)
{
    (void)state;
    assert_int_equal(loops, loops_done);
    assert_int_equal((uint64_t)number(find("loop"), "iterations") % BATCH, 0);
    assert_int_equal((uint64_t)number(find("fixed/iterations:10"), "iterations"), 2 * BATCH);
}

static void gbench_makes_an_instance_per_argument(void **state)
{
    (void)state;
    find("counted/rows:2/columns:3/real_time");
    find("counted/rows:4/columns:5/real_time");
    find("manual/1/process_time/manual_time");
    find("manual/10/process_time/manual_time");
    find("manual/100/process_time/manual_time");
}

static void gbench_flags_counters_right(void **state)
{
    (void)state;
    const json_t *entry = find("counted/rows:4/columns:5/real_time");
    double seconds = number(entry, "real_time") * number(entry, "iterations") * 1e-9;
    assert_true(number(entry, "total") == 20);
    assert_true(number(entry, "peak") == PEAK);
    assert_float_equal(number(entry, "rate") * seconds / number(entry, "iterations"), 1, 1e-3);
    assert_string_equal(json_string_value(json_object_get(entry, "label")), "labelled");
}

static void gbench_takes_manual_time(void **state)
{
    (void)state;
    const json_t *entry = find("manual/10/process_time/manual_time");
    assert_float_equal(number(entry, "real_time"), MANUAL_NS, 1e-3);
    assert_string_equal(json_string_value(json_object_get(entry, "time_unit")), "ns");
}

static void gbench_takes_cpu_time(void **state)
{
    (void)state;
    const json_t *entry = find("manual/10/process_time/manual_time");
    assert_float_equal(number(entry, "cpu_time"), CPU_NS, 1e-3);
    assert_null(json_object_get(entry, "CPU time in ns"));
    entry = find("repeated/iterations:7/manual_time_median");
    assert_float_equal(number(entry, "cpu_time"), 200, 1e-3);
    assert_float_equal(number(find("repeated/iterations:7/manual_time_stddev"), "cpu_time"), 100,
                       1e-3);
    assert_float_equal(number(find("repeated/iterations:7/manual_time_cv"), "cpu_time"), 0.5, 1e-3);
    assert_null(json_object_get(entry, "CPU time in ns"));
}

static void gbench_tells_failed_from_skipped(void **state)
{
    (void)state;
    assert_int_equal(end, GBENCH_FAILED);
    const json_t *failed = find("fails"), *skipped = find("skips");
    assert_string_equal(json_string_value(json_object_get(failed, "error_message")), "2 + 2 was 5");
    const json_t *why = json_object_get(skipped, "skip_message"); /* since 1.8 */
    if (!why)
        why = json_object_get(skipped, "error_message");
    assert_string_equal(json_string_value(why), "no such hardware");
}

static void gbench_adds_context(void **state)
{
    (void)state;
    const json_t *context = json_object_get(results, "context");
    assert_string_equal(json_string_value(json_object_get(context, "who")), "test");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gbench_counts_whole_batches),
        cmocka_unit_test(gbench_makes_an_instance_per_argument),
        cmocka_unit_test(gbench_flags_counters_right),
        cmocka_unit_test(gbench_takes_manual_time),
        cmocka_unit_test(gbench_takes_cpu_time),
        cmocka_unit_test(gbench_tells_failed_from_skipped),
        cmocka_unit_test(gbench_adds_context),
    };
    return cmocka_run_group_tests(tests, run_all, free_all);
}
