/* test_probe.c - what is said of the machine around a sample: how fast its cores
 * talk to each other, and who took its time. */
#include "harness/host/disturbance.h"
#include "harness/host/probe.h"
#include "harness/host/topology.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { BUDGET_NS = 2000000 };

/* The probe ----------------------------------------------------------------------------------- */

/* A value may be absent if others hold the cores, but then it says so. */
static void assert_value_or_busy(double ns, const char *absent)
{
    if (isnan(ns))
        assert_non_null(strstr(absent, "the cores were busy"));
    else
        assert_true(ns > 0 && !*absent);
}

static void two_cores_have_a_line_between_them(void **state)
{
    (void)state;
    int cpus[2];
    struct probe probe;
    if (topology_pick_cpus(cpus, 2) < 2)
        skip();
    probe_run(&probe, cpus, 2, 2, BUDGET_NS);
    assert_value_or_busy(probe.line_ns, probe.line_absent);
    assert_value_or_busy(probe.compute_ns, probe.compute_absent);
    assert_value_or_busy(probe.wide_ns, probe.wide_absent);
}

/* Machines that hwloc makes up. */
static void cores_that_share_a_cache_are_a_group(void **state)
{
    (void)state;
    static const int cpus[] = {0, 1, 2, 3, 7, 4};
    static const struct {
        const char *machine;
        int32_t groups[6];
        int count;
    } rows[] = {
        {"pack:2 l3:2 core:2 pu:1", {0, 0, 1, 1, 2, 3}, 4},
        {"pack:2 core:4 pu:1", {0, 0, 0, 0, 1, 1}, 2},
        {"pack:1 l3:1 core:8 pu:1", {0, 0, 0, 0, 0, 0}, 1},
    };
    int32_t groups[6];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        setenv("HWLOC_SYNTHETIC", rows[i].machine, 1);
        topology_forget();
        assert_int_equal(topology_groups(cpus, 6, groups), rows[i].count);
        assert_memory_equal(groups, rows[i].groups, sizeof groups);
    }
    unsetenv("HWLOC_SYNTHETIC");
    topology_forget();
}

static void one_worker_or_one_core_has_no_line(void **state)
{
    (void)state;
    int cpus[2];
    struct probe probe;
    int count = topology_pick_cpus(cpus, 2);
    assert_true(count >= 1);
    probe_run(&probe, cpus, count, 1, BUDGET_NS);
    assert_true(isnan(probe.line_ns));
    assert_string_equal(probe.line_absent, "one worker");
    assert_value_or_busy(probe.compute_ns, probe.compute_absent);
    assert_value_or_busy(probe.wide_ns, probe.wide_absent);
    probe_run(&probe, cpus, 1, 4, BUDGET_NS);
    assert_true(isnan(probe.line_ns));
    assert_string_equal(probe.line_absent, "one core");
    assert_value_or_busy(probe.compute_ns, probe.compute_absent);
    assert_value_or_busy(probe.wide_ns, probe.wide_absent);
}

static void a_probe_takes_a_tenth_of_what_is_measured(void **state)
{
    (void)state;
    assert_int_equal(probe_budget_ns(0), 1000000);
    assert_int_equal(probe_budget_ns(50000000), 5000000);
    assert_int_equal(probe_budget_ns(1000000000), 10000000);
}

static void pairs_are_spread_over_the_cores_in_use(void **state)
{
    (void)state;
    static const int cpus[] = {3, 5, 7, 11, 13, 17, 19, 23, 29};
    static const struct {
        int count, pairs, others[PROBE_PAIRS_MAX];
    } cases[] = {
        {1, 0, {0}},
        {2, 1, {5}},
        {3, 2, {5, 7}},
        {5, 4, {5, 7, 11, 13}},
        {6, 4, {5, 7, 11, 17}},
        {9, 4, {5, 11, 17, 29}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int others[PROBE_PAIRS_MAX];
        assert_int_equal(probe_pick_others(cpus, cases[i].count, others), cases[i].pairs);
        for (int k = 0; k < cases[i].pairs; k++)
            assert_int_equal(others[k], cases[i].others[k]);
    }
}

static void median_and_worst_are_of_the_pairs_that_were_measured(void **state)
{
    (void)state;
    struct probe probe = {
        .pairs = 4, .others = {5, 7, 11, 13}, .pair_ns = {50, NAN, 360, 60}, .line_ns = 50};
    struct probe_pairs all = probe_pairs_of(&probe);
    assert_true(all.median_ns == 60 && all.worst_ns == 360);
    assert_int_equal(all.worst, 11);
    static const int cpus[] = {3, 5, 7, 11, 13};
    json_t *json = probe_to_json(&probe, &probe, cpus, 5);
    char *text = json_dumps(json_object_get(json, "after"), JSON_COMPACT);
    assert_non_null(strstr(text, "\"pairs\":{\"median_ns\":60.0,\"worst_ns\":360.0,"
                                 "\"others\":[5,7,11,13],\"worst\":[3,11]}"));
    free(text);
    json_decref(json);
    probe = (struct probe){.pairs = 2, .others = {5, 7}, .pair_ns = {NAN, NAN}};
    all = probe_pairs_of(&probe);
    assert_true(isnan(all.median_ns) && isnan(all.worst_ns) && all.worst == -1);
}

/* No time at all stands for partners that never come. */
static void without_enough_batches_there_is_no_median(void **state)
{
    (void)state;
    int cpus[2];
    struct probe probe;
    int count = topology_pick_cpus(cpus, 2);
    probe_run(&probe, cpus, count, 2, 0);
    assert_true(isnan(probe.compute_ns) && isnan(probe.wide_ns) && isnan(probe.line_ns));
    assert_non_null(strstr(probe.compute_absent, "0 of 5 batches"));
    assert_non_null(strstr(probe.wide_absent, "0 of 5 batches"));
    assert_non_null(strstr(probe.line_absent, count < 2 ? "one core" : "0 of 5 batches"));
}

static void a_core_that_is_not_ours_is_told(void **state)
{
    (void)state;
    static const int cpus[2] = {1022, 1023};
    struct probe probe;
    probe_run(&probe, cpus, 2, 2, BUDGET_NS);
    assert_true(isnan(probe.line_ns) && isnan(probe.compute_ns));
    assert_non_null(strstr(probe.line_absent, "cannot start a thread"));
    assert_non_null(strstr(probe.compute_absent, "cannot start a thread"));
    assert_non_null(strstr(probe.wide_absent, "cannot start a thread"));
}

static void line_alone_is_that_of_any_two_cores(void **state)
{
    (void)state;
    int cpus[2];
    double ns = -1;
    assert_int_equal(probe_line(1022, 1023, &ns), -EINVAL);
    assert_true(ns == -1);
    if (topology_pick_cpus(cpus, 2) < 2)
        skip();
    int result = probe_line(cpus[1], cpus[0], &ns);
    assert_true(result == 0 ? ns > 0 : result == -ETIMEDOUT && ns == -1);
}

static void record_has_values_or_reasons(void **state)
{
    (void)state;
    static const int cpus[3] = {3, 5, 7};
    const struct probe before = {.line_ns = 60.5, .compute_ns = 4000, .wide_ns = 2464};
    struct probe after = {.line_ns = NAN, .compute_ns = 4100, .wide_ns = 4300};
    snprintf(after.line_absent, sizeof after.line_absent, "the cores were busy");
    json_t *probe = probe_to_json(&before, &after, cpus, 3);
    char *text = json_dumps(probe, JSON_COMPACT);
    assert_string_equal(text,
                        "{\"before\":{\"line_ns\":60.5,\"compute_ns\":4000.0,\"wide_ns\":2464.0},"
                        "\"after\":{\"line_ns\":{\"absent\":\"the cores were busy\"},"
                        "\"compute_ns\":4100.0,\"wide_ns\":4300.0},"
                        "\"cores\":[3,5,7],\"line_cores\":[3,5]}");
    free(text);
    json_decref(probe);
    probe = probe_to_json(&before, &after, cpus, 1);
    assert_null(json_object_get(probe, "line_cores"));
    json_decref(probe);
}

/* Steal --------------------------------------------------------------------------------------- */

static const char stat_text[] = "cpu  100 2 30 4000 5 6 7 88 9 0\n"
                                "cpu0 10 0 3 400 0 0 0 8 0 0\n"
                                "cpu1 10 0 3 400 0 0 0 80 0 0\n"
                                "cpu10 1 1 1 1 1 1 1 1000 1 1\n"
                                "cpu11 1 1 1 1\n"
                                "intr 1 2 3\n";

static void columns_are_summed_over_the_cores_in_use(void **state)
{
    static const int cpus[] = {1, 0, 10};
    uint64_t steal, busy;
    struct error why = {0};
    (void)state;
    assert_true(disturbance_parse_stat(stat_text, cpus, 1, &steal, &busy, &why));
    assert_int_equal(steal, 80);
    assert_int_equal(busy, 13); /* neither idle nor iowait, and no guest's time twice */
    assert_true(disturbance_parse_stat(stat_text, cpus, 3, &steal, &busy, &why));
    assert_int_equal(steal, 1088);
    assert_int_equal(busy, 13 + 13 + 5);
    assert_string_equal(why.text, "");
}

static void steal_that_is_not_there_has_a_reason(void **state)
{
    static const int missing = 2, old = 11;
    uint64_t steal, busy;
    struct error why = {0};
    (void)state;
    assert_false(disturbance_parse_stat(stat_text, &missing, 1, &steal, &busy, &why));
    assert_string_equal(why.text, "/proc/stat has no line of cpu2");
    assert_false(disturbance_parse_stat(stat_text, &old, 1, &steal, &busy, &why));
    assert_string_equal(why.text, "/proc/stat has no steal column for cpu11");
}

/* The folders of a machine -------------------------------------------------------------------- */

static char root[64];

static void file_write(const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *to = fopen(whole, "w");
    assert_non_null(to);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
}

static void throttle_write(int cpu, const char *core, const char *package)
{
    char path[256];
    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count", cpu);
    file_write(path, core);
    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu%d/thermal_throttle/package_throttle_count", cpu);
    file_write(path, package);
}

static int root_make(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/test_probe.XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int root_remove(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

static void what_the_kernel_counts_is_read(void **state)
{
    static const int cpus[] = {0, 1};
    struct disturbance now;
    (void)state;
    disturbance_read(&now, root, cpus, 2);
    assert_string_equal(now.steal_absent, "/proc/stat cannot be read");
    assert_string_equal(now.throttle_absent, "the kernel shows no thermal_throttle for cpu0");
    file_write("/proc/stat", stat_text);
    throttle_write(0, "5\n", "100\n");
    disturbance_read(&now, root, cpus, 2);
    assert_string_equal(now.throttle_absent, "the kernel shows no thermal_throttle for cpu1");
    throttle_write(1, "7\n", "100\n");
    disturbance_read(&now, root, cpus, 2);
    assert_string_equal(now.steal_absent, "");
    assert_string_equal(now.throttle_absent, "");
    assert_int_equal(now.steal_ticks, 88);
    assert_int_equal(now.throttles, 212);
}

/* All of a virtual machine's cores lost nothing since its boot, or some did. */
static void a_hypervisor_that_never_told_of_any_is_not_believed(void **state)
{
    static const int cpus[] = {0};
    static const char none[] = "cpu  20 0 6 800 0 0 0 0 0 0\ncpu0 10 0 3 400 0 0 0 0 0 0\n"
                               "cpu1 10 0 3 400 0 0 0 0 0 0\n";
    static const char other[] = "cpu  20 0 6 800 0 0 0 1 0 0\ncpu0 10 0 3 400 0 0 0 0 0 0\n"
                                "cpu1 10 0 3 400 0 0 0 1 0 0\n";
    struct disturbance now;
    (void)state;
    file_write("/proc/stat", none);
    file_write("/proc/cpuinfo", "flags\t\t: fpu tsc\n");
    disturbance_read(&now, root, cpus, 1);
    assert_string_equal(now.steal_absent, "");
    assert_false(now.steal_silent);
    file_write("/proc/cpuinfo", "flags\t\t: fpu hypervisor tsc\n");
    disturbance_read(&now, root, cpus, 1);
    assert_true(now.steal_silent);
    file_write("/proc/stat", other);
    disturbance_read(&now, root, cpus, 1);
    assert_false(now.steal_silent);
    assert_int_equal(now.steal_ticks, 0);
}

/* In a record --------------------------------------------------------------------------------- */

static char *recorded(const struct disturbance *before, const struct disturbance *after,
                      int steal_max_percent)
{
    json_t *record = json_object();
    disturbance_record(record, before, after, 2, steal_max_percent);
    char *text = json_dumps(record, JSON_COMPACT);
    json_decref(record);
    return text;
}

static void expect_record(const struct disturbance *before, const struct disturbance *after,
                          int steal_max_percent, const char *expected)
{
    char *text = recorded(before, after, steal_max_percent);
    assert_string_equal(text, expected);
    free(text);
}

static void marks_are_what_is_above_the_threshold(void **state)
{
    (void)state;
    const struct disturbance before = {.steal_ticks = 10, .throttles = 3};
    struct disturbance after = before;
    after.time_ns = 1000000000;
    expect_record(&before, &after, 0, "{\"steal_share\":0.0,\"others_share\":0.0,\"throttled\":0}");
    after.steal_ticks += (uint64_t)sysconf(_SC_CLK_TCK) / 2; /* a quarter of two cores' second */
    expect_record(&before, &after, 25,
                  "{\"steal_share\":0.25,\"others_share\":0.0,\"throttled\":0}");
    expect_record(
        &before, &after, 24,
        "{\"steal_share\":0.25,\"others_share\":0.0,\"throttled\":0,\"marks\":[\"steal\"]}");
    after.throttles++;
    expect_record(&before, &after, 24,
                  "{\"steal_share\":0.25,\"others_share\":0.0,\"throttled\":1,\"marks\":[\"steal\","
                  "\"throttle\"]}");
    after.steal_ticks += 100000; /* never more than all of it */
    expect_record(
        &before, &after, 100,
        "{\"steal_share\":1.0,\"others_share\":0.0,\"throttled\":1,\"marks\":[\"throttle\"]}");
}

static void time_of_others_is_marked(void **state)
{
    (void)state;
    uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK);
    struct disturbance before = {.busy_ticks = 7, .own_ns = 5}, after = before;
    after.time_ns = 1000000000;
    after.busy_ticks += second; /* of two cores' second */
    after.own_ns += 875000000;
    expect_record(&before, &after, 0,
                  "{\"steal_share\":0.0,\"others_share\":0.0625,\"throttled\":0}");
    after.own_ns -= 375000000;
    expect_record(
        &before, &after, 0,
        "{\"steal_share\":0.0,\"others_share\":0.25,\"throttled\":0,\"marks\":[\"others\"]}");
    /* as much as the hypervisor may have */
    expect_record(&before, &after, 25,
                  "{\"steal_share\":0.0,\"others_share\":0.25,\"throttled\":0}");
    after.own_ns +=
        900000000; /* the kernel's ticks are samples: others cannot have less than none */
    expect_record(&before, &after, 0, "{\"steal_share\":0.0,\"others_share\":0.0,\"throttled\":0}");
    /* Three ticks are all of a short sample, and may be one tick put down wrongly on each core. */
    after = before;
    after.time_ns = 20000000;
    after.busy_ticks += 3;
    expect_record(&before, &after, 0,
                  "{\"steal_share\":0.0,\"others_share\":0.75,\"throttled\":0}");
}

static void what_cannot_be_read_is_absent_and_no_mark(void **state)
{
    (void)state;
    struct disturbance before = {.steal_ticks = 0}, after = {.time_ns = 1, .throttles = 9};
    snprintf(before.steal_absent, sizeof before.steal_absent, "no column");
    snprintf(after.throttle_absent, sizeof after.throttle_absent, "gone");
    expect_record(
        &before, &after, 0,
        "{\"steal_share\":{\"absent\":\"no column\"},\"others_share\":{\"absent\":\"no column\"},"
        "\"throttled\":{\"absent\":\"gone\"}}");
}

static void steal_that_no_hypervisor_tells_of_is_no_zero(void **state)
{
    (void)state;
    struct disturbance before = {.steal_silent = true}, after = before;
    after.time_ns = 1000000000;
    expect_record(&before, &after, 0,
                  "{\"steal_share\":{\"absent\":\"not known: none since the boot, and some "
                  "hypervisors never tell\"},\"others_share\":0.0,\"throttled\":0}");
    after.steal_silent = false; /* the first since the boot */
    after.steal_ticks = (uint64_t)sysconf(_SC_CLK_TCK);
    expect_record(
        &before, &after, 49,
        "{\"steal_share\":0.5,\"others_share\":0.0,\"throttled\":0,\"marks\":[\"steal\"]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_cores_have_a_line_between_them),
        cmocka_unit_test(cores_that_share_a_cache_are_a_group),
        cmocka_unit_test(one_worker_or_one_core_has_no_line),
        cmocka_unit_test(a_probe_takes_a_tenth_of_what_is_measured),
        cmocka_unit_test(pairs_are_spread_over_the_cores_in_use),
        cmocka_unit_test(median_and_worst_are_of_the_pairs_that_were_measured),
        cmocka_unit_test(without_enough_batches_there_is_no_median),
        cmocka_unit_test(a_core_that_is_not_ours_is_told),
        cmocka_unit_test(line_alone_is_that_of_any_two_cores),
        cmocka_unit_test(record_has_values_or_reasons),
        cmocka_unit_test(columns_are_summed_over_the_cores_in_use),
        cmocka_unit_test(steal_that_is_not_there_has_a_reason),
        cmocka_unit_test_setup_teardown(what_the_kernel_counts_is_read, root_make, root_remove),
        cmocka_unit_test_setup_teardown(a_hypervisor_that_never_told_of_any_is_not_believed,
                                        root_make, root_remove),
        cmocka_unit_test(steal_that_no_hypervisor_tells_of_is_no_zero),
        cmocka_unit_test(marks_are_what_is_above_the_threshold),
        cmocka_unit_test(time_of_others_is_marked),
        cmocka_unit_test(what_cannot_be_read_is_absent_and_no_mark),
    };
    return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
