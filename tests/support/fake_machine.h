/* fake_machine.h - machines for the tests of doctor: a tree of files in place of /proc and /sys,
 * and a PAPI, a kernel, cores and a disk that say what the test wants.
 *
 * quiet_machine() makes one on which nothing disturbs, machine_remove() removes it. put() and
 * drop() change its files, `fake` its answers, `moment` what happens while doctor watches.
 */
#ifndef SCHEDLAB_TESTS_FAKE_MACHINE_H
#define SCHEDLAB_TESTS_FAKE_MACHINE_H

#include "harness/doctor/doctor.h"

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_SIZE = 256, TEXT_SIZE = 16384, CPUS = 4 };

static char root[64];

/* Files --------------------------------------------------------------------------------------- */

/* Writes ROOT/PATH with its folders. */
static void put(const char *path, const char *text)
{
    char whole[PATH_SIZE];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        assert_true(mkdir(whole, 0777) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *to = fopen(whole, "w");
    assert_non_null(to);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
}

static void put_cpu(int cpu, const char *name, const char *text)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/%s", cpu, name);
    put(path, text);
}

static void drop(const char *path)
{
    char whole[PATH_SIZE];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    assert_int_equal(unlink(whole), 0);
}

static int drop_any(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    (void)info, (void)type, (void)ftw;
    return remove(path);
}

/* Times of the machine ------------------------------------------------------------------------ */

/* Events within the window, per core in ticks, and facts that are true throughout. */
static struct {
    int idle, busy, steal;
    int running;
    int throttles_before, throttles, waits;
    int process_ticks;
    const char *process;
} moment;

static void put_times(int waits)
{
    char text[TEXT_SIZE];
    int at = snprintf(text, sizeof text, "cpu  1 2 3\n");
    for (int cpu = 0; cpu < CPUS; cpu++)
        at += snprintf(text + at, sizeof text - (size_t)at, "cpu%d %d 0 0 %d 0 0 0 %d 0 0\n", cpu,
                       1000 + waits * moment.busy, 100000 + waits * moment.idle,
                       waits * moment.steal);
    snprintf(text + at, sizeof text - (size_t)at, "ctxt 5\nprocs_running %d\nprocs_blocked 0\n",
             moment.running);
    put("proc/stat", text);
    snprintf(text, sizeof text, "%d\n", moment.throttles_before + waits * moment.throttles);
    put_cpu(0, "thermal_throttle/core_throttle_count", text);
    snprintf(text, sizeof text, "77 (%s) R 1 2 3 4 5 6 7 8 9 10 %d 0 0 0 20 0 1 0 5\n",
             moment.process, 50 + waits * moment.process_ticks);
    put("proc/77/stat", text);
}

/* The machine --------------------------------------------------------------------------------- */

static struct {
    int hardware, software; /* what perf_open() returns */
    int disk_error;
    const char *missing_program;
    uint64_t disk_bytes;
    double line[CPUS][CPUS];
    int line_error;
    int papi_version, presets_here;
    PAPI_component_info_t component;
    const char *absent;          /* of PAPI_L1_DCM */
    const char *software_absent; /* of the second software event, and of the one that is wanted */
    bool counts_nothing;
} fake;

static const char *const natives[] = {"perf::PERF_COUNT_SW_CPU_CLOCK", "perf::CPU-CLOCK",
                                      "perf::PERF_COUNT_SW_PAGE_FAULTS", "zen::RETIRED", "zen::L2"};
enum { NATIVES = sizeof natives / sizeof natives[0], PRESETS = 7 };

static int fake_library_init(int version)
{
    (void)version;
    return fake.papi_version;
}

static int fake_component_index(const char *name)
{
    return strcmp(name, "perf_event") == 0 ? 3 : PAPI_ENOCMP;
}

static const PAPI_component_info_t *fake_component_info(int component)
{
    assert_int_equal(component, 3);
    fake.component.num_preset_events = fake.presets_here;
    return &fake.component;
}

static int fake_enum_event(int *code, int modifier)
{
    *code = modifier == PAPI_ENUM_FIRST ? 0 : *code + 1;
    return *code < PRESETS ? PAPI_OK : PAPI_ENOEVNT;
}

static int fake_enum_cmp_event(int *code, int modifier, int component)
{
    assert_int_equal(component, 3);
    *code = modifier == PAPI_ENUM_FIRST ? 0 : *code + 1;
    return *code < NATIVES ? PAPI_OK : PAPI_ENOEVNT;
}

static int fake_code_to_name(int code, char *name)
{
    snprintf(name, 64, "%s", natives[code]);
    return PAPI_OK;
}

static const struct papi_api fake_papi = {
    .library_init = fake_library_init,
    .get_component_index = fake_component_index,
    .get_component_info = fake_component_info,
    .enum_event = fake_enum_event,
    .enum_cmp_event = fake_enum_cmp_event,
    .event_code_to_name = fake_code_to_name,
};

static json_t *fake_describe(const char *events)
{
    assert_string_equal(events, "perf::PERF_COUNT_SW_CPU_CLOCK,perf::PERF_COUNT_SW_PAGE_FAULTS");
    return json_pack("{s[{ss}{ss ss*}]}", "events", "name", "a", "name", "b", "absent",
                     fake.software_absent);
}

/* The default list: to be freed. */
static json_t *fake_counting(void)
{
    if (fake.counts_nothing)
        return json_pack("{ss}", "absent", "no list");
    json_t *l1 = json_pack("{ss ss}", "name", "PAPI_L1_DCM", "source", "pmu");
    if (fake.absent)
        json_object_set_new(l1, "absent", json_string(fake.absent));
    return json_pack("{s[o{ss ss ss*}{ss ss}]}", "events", l1, "name", "perf::PAGE-FAULTS",
                     "source", "soft", "absent", fake.software_absent, "name",
                     "sde:::schedlab::STEALS", "source", "sde");
}

static int fake_perf_open(enum doctor_perf what)
{
    return what == DOCTOR_PERF_HARDWARE ? fake.hardware : fake.software;
}

static int fake_line(int cpu_a, int cpu_b, double *line_ns)
{
    assert_true(cpu_a < cpu_b && cpu_b < CPUS);
    *line_ns = fake.line[cpu_a][cpu_b];
    return fake.line_error;
}

static int fake_disk_free(const char *folder, uint64_t *bytes)
{
    assert_string_equal(folder, "somewhere");
    *bytes = fake.disk_bytes;
    return fake.disk_error;
}

static bool fake_find_program(const char *name, char *path, size_t path_size)
{
    snprintf(path, path_size, "/bin/%s", name);
    return !fake.missing_program || strcmp(name, fake.missing_program) != 0;
}

static void fake_wait_ms(int ms)
{
    assert_true(ms > 0);
    put_times(++moment.waits);
}

static struct doctor_machine fake_machine(const char *where, void (*wait_ms)(int ms))
{
    return (struct doctor_machine){
        .root = where,
        .papi = &fake_papi,
        .describe = fake_describe,
        .perf_open = fake_perf_open,
        .line = fake_line,
        .disk_free = fake_disk_free,
        .find_program = fake_find_program,
        .wait_ms = wait_ms,
    };
}

/* A quiet machine ----------------------------------------------------------------------------- */

static void quiet_cpus(void)
{
    for (int cpu = 0; cpu < CPUS; cpu++) {
        char self[16];
        snprintf(self, sizeof self, "%d\n", cpu);
        put_cpu(cpu, "cpufreq/scaling_governor", "performance\n");
        put_cpu(cpu, "topology/thread_siblings_list", self);
    }
    put_cpu(0, "cpuidle/state0/latency", "0\n");
    put_cpu(0, "cpuidle/state0/name", "POLL\n");
    put("sys/devices/system/cpu/cpufreq/boost", "0\n");
    put("sys/devices/system/cpu/online", "0-3\n");
    put("sys/devices/system/cpu/isolated", "\n");
    put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    put("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet \n");
    put("sys/class/hwmon/hwmon0/name", "k10temp\n");
    put("sys/class/hwmon/hwmon0/temp1_input", "45000\n");
    put("sys/class/hwmon/hwmon0/temp1_crit", "95000\n");
    put("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc nohypervisorhere\n");
}

static void quiet_system(void)
{
    put("proc/sys/kernel/randomize_va_space", "2\n");
    put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    put("sys/devices/system/node/online", "0-1\n");
    put("proc/sys/kernel/numa_balancing", "0\n");
    put("proc/meminfo", "MemTotal:       16000000 kB\nMemAvailable:   15000000 kB\n");
    put("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
    put("proc/self/timerslack_ns", "50000\n");
    put("proc/self/cgroup", "0::/user.slice\n");
    put("proc/self/status", "Name:\tx\nSeccomp:\t0\n");
    put("proc/loadavg", "0.05 0.10 0.20 1/300 4711\n");
    put("proc/sys/kernel/perf_event_paranoid", "2\n");
    put("proc/sys/kernel/nmi_watchdog", "0\n");
}

static int quiet_machine(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/test_doctor.XXXXXX");
    if (!mkdtemp(root))
        return -1;
    memset(&fake, 0, sizeof fake);
    memset(&moment, 0, sizeof moment);
    moment.idle = 2;
    moment.running = 1;
    moment.process = "init";
    fake.disk_bytes = 1ULL << 40;
    fake.papi_version = PAPI_VER_CURRENT;
    fake.presets_here = 5;
    for (int a = 0; a < CPUS; a++)
        for (int b = 0; b < CPUS; b++)
            fake.line[a][b] = 50;
    quiet_cpus();
    quiet_system();
    put_times(0);
    return 0;
}

static int machine_remove(void **state)
{
    (void)state;
    return nftw(root, drop_any, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
