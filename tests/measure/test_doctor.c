/* test_doctor.c - doctor on machines that do not exist (fake_machine.h), and on this one.
 *
 * quiet_machine() makes a tree on which nothing disturbs; each test spoils one thing in it and
 * looks for the one finding that has to change.
 */
#include "tests/support/fake_machine.h"

#include <stdlib.h>

/* Looking ------------------------------------------------------------------------------------- */

static struct doctor doctor;

static void look_at(int cpus_count, bool names)
{
    static const int cpus[] = {0, 1, 2, 3};
    const struct doctor_machine machine = fake_machine(root, fake_wait_ms);
    json_t *counting = fake_counting();
    const struct doctor_request request = {
        .machine = &machine,
        .cpus = cpus,
        .cpus_count = cpus_count,
        .counting = counting,
        .line_cores = CPUS,
        .window_ms = 200,
        .results = "somewhere",
        .names = names,
    };
    doctor_look(&doctor, &request);
    json_decref(counting);
}

static const struct doctor_finding *finding(const char *id)
{
    const struct doctor_finding *found = NULL;
    for (size_t i = 0; i < doctor.findings_count; i++) {
        if (strcmp(doctor.findings[i].id, id) != 0)
            continue;
        assert_null(found); /* told twice */
        found = &doctor.findings[i];
    }
    if (!found)
        fail_msg("nothing is said of %s", id);
    return found;
}

static void check(const char *id, enum doctor_level level, const char *fact, const char *change)
{
    const struct doctor_finding *found = finding(id);
    if (found->level != level || !strstr(found->fact, fact) || !strstr(found->change, change) ||
        (!*change && *found->change))
        fail_msg("%s: %s, \"%s\", \"%s\"; expected %s, \"%s\", \"%s\"", id,
                 doctor_level_text(found->level), found->fact, found->change,
                 doctor_level_text(level), fact, change);
}

/* Looks at the machine as it is now, and at one finding. */
static void expect(const char *id, enum doctor_level level, const char *fact, const char *change)
{
    look_at(CPUS, true);
    check(id, level, fact, change);
    doctor_free(&doctor);
}

/* Tests --------------------------------------------------------------------------------------- */

static void quiet_machine_has_no_warning(void **state)
{
    (void)state;
    look_at(CPUS, true);
    for (size_t i = 0; i < doctor.findings_count; i++)
        if (doctor.findings[i].level != DOCTOR_OK &&
            strcmp(doctor.findings[i].id, "isolation") != 0)
            fail_msg("%s: %s", doctor.findings[i].id, doctor.findings[i].fact);
    check("isolation", DOCTOR_NOTE, "no usable core is isolated", "isolcpus");
    assert_int_equal(doctor_count(&doctor, DOCTOR_OK), doctor.findings_count - 1);
    doctor_free(&doctor);
}

static void governor_that_follows_load_is_a_warning(void **state)
{
    (void)state;
    put_cpu(1, "cpufreq/scaling_governor", "powersave\n");
    put_cpu(3, "cpufreq/scaling_governor", "powersave\n");
    expect("governor", DOCTOR_WARN, "powersave on 2 of 4 cores", "scaling_governor");
}

static void boost_is_found_in_either_file(void **state)
{
    (void)state;
    put("sys/devices/system/cpu/cpufreq/boost", "1\n");
    expect("boost", DOCTOR_WARN, "on", "echo 0 > /sys/devices/system/cpu/cpufreq/boost");
    drop("sys/devices/system/cpu/cpufreq/boost");
    put("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    expect("boost", DOCTOR_WARN, "on", "echo 1 > ");
    put("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    expect("boost", DOCTOR_OK, "off", "");
}

static void smt_siblings_are_counted(void **state)
{
    (void)state;
    for (int cpu = 0; cpu < CPUS; cpu++)
        put_cpu(cpu, "topology/thread_siblings_list", cpu < 2 ? "0-1\n" : "2,3\n");
    expect("smt", DOCTOR_NOTE, "4 hardware threads on 2 cores; from 3 workers on", "echo off");
    put_cpu(0, "topology/thread_siblings_list", "0,8\n");
    put_cpu(1, "topology/thread_siblings_list", "1,9\n");
    expect("smt", DOCTOR_WARN, "2 siblings", "echo off");
}

static void isolated_cores_want_pinned_workers(void **state)
{
    (void)state;
    put("sys/devices/system/cpu/isolated", "2-3\n");
    put("sys/devices/system/cpu/nohz_full", "3\n");
    expect("isolation", DOCTOR_WARN, "2 of 4 usable cores are isolated (isolcpus), 1 without",
           "--pin");
    put("sys/devices/system/cpu/isolated", "0-3\n");
    put("sys/devices/system/cpu/nohz_full", " (null)\n");
    expect("isolation", DOCTOR_NOTE, "4 of 4", "--pin");
}

static void cpuset_is_told(void **state)
{
    (void)state;
    look_at(2, true);
    check("cpuset", DOCTOR_NOTE, "2 of 4", "");
    doctor_free(&doctor);
}

static void deep_idle_states_count_if_enabled(void **state)
{
    (void)state;
    put_cpu(0, "cpuidle/state1/latency", "133\n");
    put_cpu(0, "cpuidle/state1/name", "C6\n");
    expect("idle-states", DOCTOR_WARN, "(C6) takes 133 us", "cpupower");
    put_cpu(0, "cpuidle/state1/disable", "1\n");
    expect("idle-states", DOCTOR_OK, "(POLL) takes 0 us", "");
    put_cpu(3, "cpuidle/state1/latency", "40\n"); /* any usable core may be the late one */
    put_cpu(3, "cpuidle/state1/name", "C1E\n");
    expect("idle-states", DOCTOR_NOTE, "(C1E) takes 40 us", "cpupower");
}

/* A guest's idle states do not tell what its host does with the core. */
static void idle_states_of_a_guest_say_nothing_of_its_host(void **state)
{
    (void)state;
    put("sys/hypervisor/type", "xen\n");
    put_cpu(0, "cpuidle/state1/latency", "1\n");
    put_cpu(0, "cpuidle/state1/name", "haltpoll\n");
    expect("idle-states", DOCTOR_UNKNOWN, "(haltpoll) takes 1 us to leave; how deep the host", "");
    put_cpu(0, "cpuidle/state1/latency", "133\n");
    expect("idle-states", DOCTOR_WARN, "133 us", "cpupower");
}

static void slow_clock_is_a_warning(void **state)
{
    (void)state;
    put("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    expect("clock", DOCTOR_WARN, "hpet", "echo tsc >");
    put("sys/devices/system/clocksource/clocksource0/available_clocksource", "hpet acpi_pm\n");
    expect("clock", DOCTOR_WARN, "hpet", "");
}

static void heat_is_judged_by_its_limit(void **state)
{
    (void)state;
    put("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n");
    put("sys/class/thermal/thermal_zone0/temp", "91000\n");
    put("sys/class/thermal/thermal_zone0/trip_point_0_type", "critical\n");
    put("sys/class/thermal/thermal_zone0/trip_point_0_temp", "100000\n");
    expect("temperature", DOCTOR_WARN, "91 degrees C of at most 100", "");
    drop("sys/class/thermal/thermal_zone0/trip_point_0_temp");
    expect("temperature", DOCTOR_UNKNOWN, "its limit is not shown", "");
}

static void memory_settings_are_judged(void **state)
{
    (void)state;
    put("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    put("proc/sys/kernel/numa_balancing", "1\n");
    put("proc/sys/kernel/randomize_va_space", "0\n");
    put("proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 2048 1024 -2\n");
    put("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 100000 kB\n");
    put("proc/self/timerslack_ns", "1000000\n");
    fake.disk_bytes = 50 << 20;
    look_at(CPUS, true);
    check("huge-pages", DOCTOR_WARN, "always", "echo madvise >");
    check("numa-balancing", DOCTOR_WARN, "on, with 2 memory nodes", "numa_balancing=0");
    check("aslr", DOCTOR_NOTE, "off", "randomize_va_space=2");
    check("swap", DOCTOR_WARN, "1 MiB of 2 MiB", "swapoff");
    check("memory", DOCTOR_WARN, "97.7 MiB", "");
    check("timer-slack", DOCTOR_NOTE, "1000 us", "timerslack_ns");
    check("disk", DOCTOR_WARN, "50 MiB free for somewhere", "");
    doctor_free(&doctor);
}

static void one_node_has_nothing_to_balance(void **state)
{
    (void)state;
    put("sys/devices/system/node/online", "0\n");
    put("proc/sys/kernel/numa_balancing", "1\n");
    expect("numa-balancing", DOCTOR_OK, "one memory node", "");
}

static void quota_of_any_level_is_found(void **state)
{
    (void)state;
    put("proc/self/cgroup", "0::/a/b\n");
    put("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("sys/fs/cgroup/a/cpu.stat", "usage_usec 5\nnr_throttled 34\n");
    put("sys/fs/cgroup/a/b/memory.max", "1073741824\n");
    put("sys/fs/cgroup/a/b/memory.current", "805306368\n");
    look_at(CPUS, true);
    check("quota", DOCTOR_WARN, "1.50 cores a period for 4 usable ones, throttled 34 times",
          "echo max > /sys/fs/cgroup/a/cpu.max");
    check("memory-limit", DOCTOR_NOTE, "256 MiB left of the 1 GiB", "");
    doctor_free(&doctor);
}

static void warnings_are_lines_without_the_load(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    put("proc/self/cgroup", "0::/\n");
    put("sys/fs/cgroup/cpu.max", "150000 100000\n");
    put("proc/loadavg", "99.00 1.00 1.00 1/100 5\n");
    moment.running = 4;
    look_at(CPUS, true);
    check("load", DOCTOR_WARN, "99.00 threads", "");
    json_t *json = doctor_to_json(&doctor);
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    doctor_warn(json, "schedlab run", to);
    fclose(to);
    assert_string_equal(text,
                        "schedlab run: warning: 3.0 other threads want to run, usable cores are 0 "
                        "% busy: they take cores from the workers, and not from all samples alike\n"
                        "schedlab run: warning: 1.50 cores a period for 4 usable ones: when the "
                        "quota of a period is used up, all workers stop until the next one\n");
    free(text);
    json_decref(json);
    doctor_free(&doctor);
}

static void quota_of_version_1_is_found(void **state)
{
    (void)state;
    put("proc/self/cgroup", "5:cpu,cpuacct:/docker/x\n4:memory:/\n1:name=systemd:/\n");
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "800000\n");
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n");
    look_at(CPUS, true);
    check("quota", DOCTOR_NOTE, "8.00 cores a period for 4",
          "echo -1 > /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us");
    check("memory-limit", DOCTOR_OK, "none", "");
    doctor_free(&doctor);
}

static void steal_within_the_window_is_a_warning(void **state)
{
    (void)state;
    put("proc/cpuinfo", "flags\t\t: fpu hypervisor tsc\n");
    put("sys/class/dmi/id/sys_vendor", "QEMU\n");
    look_at(CPUS, true);
    check("hypervisor", DOCTOR_NOTE, "a virtual machine (QEMU)", "");
    check("steal", DOCTOR_UNKNOWN, "never tell", "");
    check("smt", DOCTOR_UNKNOWN, "may show siblings", "");
    doctor_free(&doctor);
    moment.steal = 1;
    put_times(moment.waits);
    expect("steal", DOCTOR_WARN, "33.3 % over 200 ms", "");
}

static void times_that_stand_still_say_nothing(void **state)
{
    (void)state;
    moment.idle = 0;
    look_at(CPUS, true);
    check("steal", DOCTOR_UNKNOWN, "do not advance", "");
    check("others", DOCTOR_UNKNOWN, "do not advance", "");
    doctor_free(&doctor);
}

static void others_are_counted_and_named(void **state)
{
    (void)state;
    moment.running = 3;
    moment.busy = moment.idle = 1;
    moment.process_ticks = 1;
    moment.process = "a) \033[31m(b";
    look_at(CPUS, true);
    check("others", DOCTOR_WARN, "2.0 other threads want to run, usable cores are 50 % busy", "");
    check("others", DOCTOR_WARN, "busiest: a) ?[31m(b (50 %)", "");
    doctor_free(&doctor);
    look_at(CPUS, false);
    assert_null(strstr(finding("others")->fact, "busiest"));
    check("disk", DOCTOR_OK, "free for results", "");
    doctor_free(&doctor);
}

static void load_is_judged_per_core(void **state)
{
    (void)state;
    put("proc/loadavg", "1.00 1 1 1/1 1\n");
    expect("load", DOCTOR_NOTE, "1.00 threads", "");
    put("proc/loadavg", "3.50 1 1 1/1 1\n");
    expect("load", DOCTOR_WARN, "3.50 threads", "");
}

static void throttling_now_is_worse_than_before(void **state)
{
    (void)state;
    expect("throttle", DOCTOR_OK, "0 times since the boot", "");
    moment.throttles_before = 3;
    put_times(0);
    expect("throttle", DOCTOR_NOTE, "3 times since the boot, none within 200 ms", "");
    moment.throttles = 1;
    put_times(moment.waits);
    expect("throttle", DOCTOR_WARN, "10 times within 200 ms", "");
}

static void line_distances_are_compared(void **state)
{
    (void)state;
    fake.line[0][2] = fake.line[1][2] = fake.line[1][3] = fake.line[0][3] = 360;
    fake.line[2][3] = 40;
    look_at(CPUS, true);
    assert_int_equal(doctor.lines_count, 6);
    check("lines", DOCTOR_NOTE, "6 pairs", "taskset -c 2,3");
    check("lines", DOCTOR_NOTE, "40 ns (cores 2 and 3) to 360 ns", "taskset");
    doctor_free(&doctor);
    look_at(1, true);
    check("lines", DOCTOR_UNKNOWN, "fewer than two usable cores", "");
    assert_int_equal(doctor.lines_count, 0);
    doctor_free(&doctor);
    fake.line_error = -EINVAL;
    expect("lines", DOCTOR_UNKNOWN, "no pair could be measured: Invalid argument", "");
}

/* Counting ------------------------------------------------------------------------------------ */

static void check_kind(int kind, int available, int listed, int wanted_available, int wanted,
                       const char *reason, const char *change)
{
    const struct doctor_kind *found = &doctor.kinds[kind];
    assert_int_equal(found->available, available);
    assert_int_equal(found->listed, listed);
    assert_int_equal(found->wanted_available, wanted_available);
    assert_int_equal(found->wanted, wanted);
    if (!strstr(found->reason, reason) || (!*reason && *found->reason) ||
        !strstr(found->change, change) || (!*change && *found->change))
        fail_msg("%s: \"%s\", \"%s\"", found->id, found->reason, found->change);
}

static void whole_pmu_is_counted(void **state)
{
    (void)state;
    look_at(CPUS, true);
    check_kind(0, 5, PRESETS, 1, 1, "", "");
    check_kind(1, 2, 2, 0, 0, "", "");
    check_kind(2, 2, 2, 1, 1, "", "");
    check_kind(3, 1, 1, 1, 1, "", "");
    doctor_free(&doctor);
}

static void expect_no_hardware(const char *reason, const char *change)
{
    fake.absent = "PAPI: Event does not exist";
    look_at(CPUS, true);
    check_kind(0, 0, PRESETS, 0, 1, reason, change);
    check_kind(1, 0, 2, 0, 0, reason, change);
    doctor_free(&doctor);
}

static void each_error_of_the_kernel_has_its_reason(void **state)
{
    (void)state;
    put("proc/sys/kernel/perf_event_paranoid", "3\n");
    fake.hardware = -EACCES;
    expect_no_hardware("perf_event_paranoid is 3", "perf_event_paranoid=1");
    fake.hardware = -EPERM;
    expect_no_hardware("perf_event_paranoid is 3", "perf_event_paranoid=1");
    put("proc/self/status", "Seccomp:\t2\n");
    expect_no_hardware("a seccomp filter", "seccomp=unconfined");
    fake.hardware = -ENOENT;
    expect_no_hardware("no driver for this processor's PMU", "dmesg");
    fake.hardware = -EBUSY;
    expect_no_hardware("somebody else", "perf");
    put("proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
    fake.hardware = -ENOENT;
    expect_no_hardware("virtual machine has no PMU", "-cpu host,pmu=on");
    drop("proc/sys/kernel/perf_event_paranoid");
    expect_no_hardware("this kernel has no perf events", "CONFIG_PERF_EVENTS");
}

static void software_events_fail_by_themselves(void **state)
{
    (void)state;
    fake.software = -EACCES;
    look_at(CPUS, true);
    check_kind(0, 5, PRESETS, 1, 1, "", "");
    check_kind(2, 0, 2, 1, 1, "perf_event_paranoid is 2", "perf_event_paranoid=1");
    doctor_free(&doctor);
}

static void kernel_events_need_permission(void **state)
{
    (void)state;
    fake.software_absent = "inside the kernel";
    look_at(CPUS, true);
    check_kind(2, 1, 2, 0, 1, "inside the kernel", "perf_event_paranoid=1");
    doctor_free(&doctor);
    put("proc/sys/kernel/perf_event_paranoid", "1\n");
    look_at(CPUS, true);
    check_kind(2, 1, 2, 0, 1, "inside the kernel", "");
    doctor_free(&doctor);
}

static void papi_without_tables_is_told(void **state)
{
    (void)state;
    fake.presets_here = 0;
    look_at(CPUS, true);
    check_kind(0, 0, PRESETS, 1, 1, "no table for this processor", "libpapi");
    doctor_free(&doctor);
    fake.component.disabled = PAPI_ENOCMP;
    snprintf(fake.component.disabled_reason, sizeof fake.component.disabled_reason, "broken today");
    look_at(CPUS, true);
    check_kind(0, 0, PRESETS, 1, 1, "broken today", "papi_component_avail");
    check_kind(2, 0, -1, 1, 1, "broken today", "papi_component_avail");
    doctor_free(&doctor);
    fake.papi_version = PAPI_EINVAL;
    look_at(CPUS, true);
    check_kind(0, 0, -1, 1, 1, "PAPI does not start", "papi_component_avail");
    json_t *json = doctor_to_json(&doctor);
    json_t *kind = json_array_get(json_object_get(json, "counting"), 0);
    assert_non_null(json_object_get(json_object_get(kind, "listed"), "absent"));
    json_decref(json);
    doctor_free(&doctor);
}

static void unknown_wishes_are_not_none(void **state)
{
    (void)state;
    fake.counts_nothing = true;
    look_at(CPUS, true);
    check_kind(0, 5, PRESETS, -1, -1, "", "");
    check_kind(3, -1, -1, -1, -1, "no list", "");
    doctor_free(&doctor);
}

static void watchdog_takes_a_counter(void **state)
{
    (void)state;
    put("proc/sys/kernel/nmi_watchdog", "1\n");
    expect("watchdog", DOCTOR_NOTE, "on", "nmi_watchdog=0");
    fake.hardware = -ENOENT;
    expect("watchdog", DOCTOR_OK, "no hardware counters", "");
}

/* Missing and malformed ------------------------------------------------------------------------ */

static const char *const from_files[] = {
    "governor",    "boost", "smt",         "isolation",   "cpuset",
    "idle-states", "clock", "aslr",        "huge-pages",  "numa-balancing",
    "memory",      "swap",  "timer-slack", "quota",       "steal",
    "others",      "load",  "hypervisor",  "temperature", NULL,
};

static void fake_wait_nothing(int ms)
{
    (void)ms;
}

static void look_at_nothing(const char *where)
{
    static const int cpus[] = {0, 1};
    const struct doctor_machine machine = fake_machine(where, fake_wait_nothing);
    json_t *counting = fake_counting();
    const struct doctor_request request = {.machine = &machine,
                                           .cpus = cpus,
                                           .cpus_count = 2,
                                           .counting = counting,
                                           .window_ms = 200,
                                           .results = "somewhere"};
    doctor_look(&doctor, &request);
    json_decref(counting);
}

static void what_is_missing_is_unknown_not_well(void **state)
{
    (void)state;
    fake.disk_error = -EACCES;
    look_at_nothing("/nowhere/at/all");
    for (int i = 0; from_files[i]; i++)
        if (finding(from_files[i])->level != DOCTOR_UNKNOWN)
            fail_msg("%s is %s: %s", from_files[i],
                     doctor_level_text(finding(from_files[i])->level),
                     finding(from_files[i])->fact);
    check("disk", DOCTOR_UNKNOWN, "Permission denied", "");
    check("throttle", DOCTOR_UNKNOWN, "no count", "");
    doctor_free(&doctor);
}

static int garble(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    (void)info, (void)ftw;
    if (type != FTW_F)
        return 0;
    FILE *to = fopen(path, "w");
    fputs("\xff\033[1;5 [\n", to);
    return fclose(to);
}

/* Whatever a file holds, nothing is made up, and both outputs stay whole. */
static void what_is_malformed_is_unknown_too(void **state)
{
    (void)state;
    nftw(root, garble, 16, FTW_PHYS);
    look_at_nothing(root);
    for (int i = 0; from_files[i]; i++) {
        const struct doctor_finding *found = finding(from_files[i]);
        bool any_word = strcmp(found->id, "governor") == 0 || strcmp(found->id, "clock") == 0 ||
                        strcmp(found->id, "hypervisor") == 0;
        if (!any_word && found->level != DOCTOR_UNKNOWN)
            fail_msg("%s is %s: %s", found->id, doctor_level_text(found->level), found->fact);
        for (const char *at = found->fact; *at; at++)
            assert_true(*at >= ' ' && *at <= '~');
    }
    json_t *json = doctor_to_json(&doctor);
    assert_non_null(json);
    json_decref(json);
    doctor_free(&doctor);
}

static void empty_files_are_unknown(void **state)
{
    (void)state;
    put("proc/loadavg", "");
    expect("load", DOCTOR_UNKNOWN, "cannot read /proc/loadavg", "");
    put("proc/sys/kernel/randomize_va_space", "99999999999999999999\n");
    expect("aslr", DOCTOR_UNKNOWN, "cannot make sense of \"99999999999999999999\"", "");
    put("sys/kernel/mm/transparent_hugepage/enabled", "always madvise never\n");
    expect("huge-pages", DOCTOR_UNKNOWN, "cannot make sense of", "");
    put("proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition\n");
    expect("swap", DOCTOR_UNKNOWN, "/proc/swaps", "");
    put("sys/devices/system/cpu/isolated", "one,two\n");
    expect("isolation", DOCTOR_UNKNOWN, "\"one,two\"", "");
}

/* Output -------------------------------------------------------------------------------------- */

/* To be freed. */
static char *printed(bool colour)
{
    char *text = calloc(1, TEXT_SIZE);
    FILE *to = fmemopen(text, TEXT_SIZE, "w");
    doctor_print(&doctor, to, colour);
    assert_int_equal(fclose(to), 0);
    return text;
}

static void table_is_worst_first_and_narrow(void **state)
{
    (void)state;
    put_cpu(1, "cpufreq/scaling_governor", "powersave\n");
    drop("proc/loadavg");
    put("proc/self/cgroup",
        "0::/a-name-without-a-blank-that-is-longer-than-the-rest-of-a-line-which-"
        "must-be-cut-so-that-it-fits-into-the-table\n");
    put("sys/fs/cgroup/a-name-without-a-blank-that-is-longer-than-the-rest-of-a-line-which-"
        "must-be-cut-so-that-it-fits-into-the-table/cpu.max",
        "100000 100000\n");
    look_at(CPUS, true);
    char *text = printed(false), *colourful = printed(true);
    const char *warn = strstr(text, "\nwarn"), *note = strstr(text, "\nnote");
    const char *unknown = strstr(text, "\nunknown"), *ok = strstr(text, "\nok");
    assert_true(warn && note && unknown && ok && warn < note && note < unknown && unknown < ok);
    assert_non_null(strstr(text, "2 warn, 1 note, 1 unknown"));
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(colourful, "\033[1;31mwarn"));
    assert_non_null(strstr(text, "PAPI presets                5 of    7    1 of    1"));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 100);
    free(text);
    free(colourful);
    doctor_free(&doctor);
}

static void json_holds_all_of_it(void **state)
{
    (void)state;
    put_cpu(1, "cpufreq/scaling_governor", "powersave\n");
    look_at(CPUS, true);
    json_t *json = doctor_to_json(&doctor);
    const char *id, *level, *fact, *why, *change;
    int warn, ok;
    double line_ns;
    assert_int_equal(json_unpack(json, "{s{si si} s[{ss ss ss ss ss}]}", "summary", "warn", &warn,
                                 "ok", &ok, "findings", "id", &id, "level", &level, "fact", &fact,
                                 "why", &why, "change", &change),
                     0);
    assert_string_equal(id, "governor");
    assert_string_equal(level, "warn");
    assert_true(*why && strstr(change, "performance") && strstr(fact, "powersave"));
    assert_int_equal(warn, 1);
    assert_int_equal(ok, doctor_count(&doctor, DOCTOR_OK));
    assert_int_equal(json_array_size(json_object_get(json, "findings")), doctor.findings_count);
    assert_int_equal(json_array_size(json_object_get(json, "counting")), DOCTOR_KINDS);
    assert_int_equal(json_unpack(json, "{s[{sf}]}", "lines", "line_ns", &line_ns), 0);
    assert_true(line_ns == 50);
    json_decref(json);
    doctor_free(&doctor);
}

static void programs_are_found_or_not(void **state)
{
    (void)state;
    expect("gnuplot", DOCTOR_OK, "/bin/gnuplot", "");
    static const char *const names[] = {"gnuplot", "hyperfine", "git", "make"};
    for (size_t i = 0; i < 4; i++) {
        fake.missing_program = names[i];
        expect(names[i], DOCTOR_NOTE, "not found", "apt-get install ");
    }
    fake.missing_program = NULL;
    look_at(CPUS, false);
    check("gnuplot", DOCTOR_OK, "found", "");
    assert_null(strstr(finding("git")->fact, "/bin"));
    doctor_free(&doctor);
}

/* This machine, whatever it is: that it answers, not what. */
static void native_machine_answers(void **state)
{
    (void)state;
    uint64_t bytes = 0;
    assert_int_equal(doctor_machine_native.disk_free("/tmp/not/there/yet", &bytes), 0);
    assert_true(bytes > 0);
    json_t *counting = fake_counting(), *json = doctor_for_run("results", counting);
    json_t *one, *findings = json_object_get(json, "findings");
    size_t i;
    assert_true(json_array_size(findings) > 15);
    json_array_foreach(findings, i, one)
    {
        assert_true(json_string_length(json_object_get(one, "fact")) > 0);
        assert_true(json_string_length(json_object_get(one, "why")) > 0);
    }
    json_array_foreach(json_object_get(json, "lines"), i, one)
        assert_true(json_real_value(json_object_get(one, "line_ns")) > 0);
    json_decref(json);
    json_decref(counting);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, quiet_machine, machine_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(quiet_machine_has_no_warning),
        TEST(governor_that_follows_load_is_a_warning),
        TEST(boost_is_found_in_either_file),
        TEST(smt_siblings_are_counted),
        TEST(isolated_cores_want_pinned_workers),
        TEST(cpuset_is_told),
        TEST(deep_idle_states_count_if_enabled),
        TEST(idle_states_of_a_guest_say_nothing_of_its_host),
        TEST(slow_clock_is_a_warning),
        TEST(heat_is_judged_by_its_limit),
        TEST(memory_settings_are_judged),
        TEST(one_node_has_nothing_to_balance),
        TEST(quota_of_any_level_is_found),
        TEST(warnings_are_lines_without_the_load),
        TEST(quota_of_version_1_is_found),
        TEST(steal_within_the_window_is_a_warning),
        TEST(times_that_stand_still_say_nothing),
        TEST(others_are_counted_and_named),
        TEST(load_is_judged_per_core),
        TEST(throttling_now_is_worse_than_before),
        TEST(line_distances_are_compared),
        TEST(whole_pmu_is_counted),
        TEST(each_error_of_the_kernel_has_its_reason),
        TEST(software_events_fail_by_themselves),
        TEST(kernel_events_need_permission),
        TEST(papi_without_tables_is_told),
        TEST(unknown_wishes_are_not_none),
        TEST(watchdog_takes_a_counter),
        TEST(what_is_missing_is_unknown_not_well),
        TEST(what_is_malformed_is_unknown_too),
        TEST(empty_files_are_unknown),
        TEST(table_is_worst_first_and_narrow),
        TEST(json_holds_all_of_it),
        TEST(programs_are_found_or_not),
        TEST(native_machine_answers),
    };
    return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
