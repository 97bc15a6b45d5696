/* doctor_cpu.c - see doctor.h: the processor's clock, siblings, isolation, idle states and heat. */
#include "harness/base/text.h"
#include "harness/doctor/doctor_internal.h"

#include "harness/host/sysfs.h"

#include <string.h>

#define CPU_ROOT "sys/devices/system/cpu"

enum { WORD_SIZE = 64, PATH_SIZE = 256, IDLE_STATES = 16, SENSORS = 64, TRIPS = 16 };
enum { MARGIN_MILLIDEGREES = 10000, IDLE_US_NOTE = 10, IDLE_US_WARN = 100 };

/* Hypervisor ---------------------------------------------------------------------------------- */

void look_at_hypervisor(struct look *look)
{
    static const char why[] = "the host may take a core away, or move it, at any time";
    static const char *const names[] = {"sys/hypervisor/type", "sys/class/dmi/id/sys_vendor",
                                        "proc/device-tree/hypervisor/compatible"};
    char name[WORD_SIZE] = "";
    look->virtual = sysfs_is_virtual(look->root);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !*name; i++)
        if (!sysfs_text(look->root, name, sizeof name, "%s", names[i]))
            *name = '\0';
    FILE *cpuinfo = tree_open(look->root, "proc/cpuinfo");
    if (cpuinfo)
        fclose(cpuinfo);
    if (look->virtual)
        look_add(look, "hypervisor", DOCTOR_NOTE, why, NULL, "a virtual machine%s%s%s",
                 *name ? " (" : "", name, *name ? ")" : "");
    else if (!cpuinfo)
        look_unreadable(look, "hypervisor", why, "proc/cpuinfo");
    else
        look_add(look, "hypervisor", DOCTOR_OK, why, NULL, "none");
}

/* Clock rate ---------------------------------------------------------------------------------- */

static void look_at_governor(struct look *look)
{
    static const char why[] = "the clock rate follows the load, so a sample depends on what ran "
                              "before it";
    char governor[WORD_SIZE], other[WORD_SIZE] = "", path[PATH_SIZE];
    int known = 0, others = 0;
    const struct doctor_request *request = look->request;
    for (int i = 0; i < request->cpus_count; i++) {
        if (!sysfs_text(look->root, governor, sizeof governor,
                        CPU_ROOT "/cpu%d/cpufreq/scaling_governor", request->cpus[i]))
            continue;
        known++;
        if (strcmp(governor, "performance") == 0)
            continue;
        others++;
        snprintf(other, sizeof other, "%s", governor);
    }
    if (known == 0) {
        snprintf(path, sizeof path, CPU_ROOT "/cpu%d/cpufreq/scaling_governor",
                 request->cpus_count > 0 ? request->cpus[0] : 0);
        look_unreadable(look, "governor", why, path);
    } else if (others > 0) {
        look_add(look, "governor", DOCTOR_WARN, why,
                 "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
                 "%s on %d of %d cores", other, others, request->cpus_count);
    } else {
        look_add(look, "governor", known == request->cpus_count ? DOCTOR_OK : DOCTOR_UNKNOWN, why,
                 NULL, "performance on %d of %d cores", known, request->cpus_count);
    }
}

static void look_at_boost(struct look *look)
{
    static const char why[] = "the clock rate depends on heat and on how many cores are busy, so "
                              "speed-ups look too small";
    int64_t boost, no_turbo;
    bool on;
    const char *off;
    if (sysfs_number(look->root, &boost, CPU_ROOT "/cpufreq/boost")) {
        on = boost != 0;
        off = "echo 0 > /sys/devices/system/cpu/cpufreq/boost";
    } else if (sysfs_number(look->root, &no_turbo, CPU_ROOT "/intel_pstate/no_turbo")) {
        on = no_turbo == 0;
        off = "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo";
    } else {
        look_unreadable(look, "boost", why, CPU_ROOT "/cpufreq/boost");
        return;
    }
    if (on)
        look_add(look, "boost", DOCTOR_WARN, why, off, "on");
    else
        look_add(look, "boost", DOCTOR_OK, why, NULL, "off");
}

struct idle {
    int64_t latency_us; /* of waking from the deepest state; below 0: not shown */
    char name[WORD_SIZE];
};

/* The deepest enabled state of a core, if it is deeper than what is known already. */
static void idle_take(struct idle *idle, const char *root, int cpu)
{
    int64_t latency_us, disabled;
    for (int i = 0; i < IDLE_STATES; i++) {
        if (!sysfs_number(root, &latency_us, CPU_ROOT "/cpu%d/cpuidle/state%d/latency", cpu, i) ||
            (sysfs_number(root, &disabled, CPU_ROOT "/cpu%d/cpuidle/state%d/disable", cpu, i) &&
             disabled != 0) ||
            latency_us <= idle->latency_us)
            continue;
        idle->latency_us = latency_us;
        if (!sysfs_text(root, idle->name, sizeof idle->name, CPU_ROOT "/cpu%d/cpuidle/state%d/name",
                        cpu, i))
            snprintf(idle->name, sizeof idle->name, "state%d", i);
    }
}

static void look_at_idle_states(struct look *look)
{
    static const char why[] = "a core that slept deeply is late, so wake-ups cost more the rarer "
                              "they are";
    const struct doctor_request *request = look->request;
    struct idle deepest = {.latency_us = -1};
    for (int i = 0; i < request->cpus_count; i++)
        idle_take(&deepest, look->root, request->cpus[i]);
    if (deepest.latency_us < 0) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, CPU_ROOT "/cpu%d/cpuidle/state0/latency",
                 request->cpus_count > 0 ? request->cpus[0] : 0);
        look_unreadable(look, "idle-states", why, path);
        return;
    }
    bool deep = deepest.latency_us > IDLE_US_NOTE;
    enum doctor_level level = look->virtual ? DOCTOR_UNKNOWN : DOCTOR_OK;
    if (deep)
        level = deepest.latency_us > IDLE_US_WARN ? DOCTOR_WARN : DOCTOR_NOTE;
    look_add(look, "idle-states", level, why, deep ? "cpupower idle-set -D 10" : NULL,
             "the deepest enabled one (%s) takes %lld us to leave%s", deepest.name,
             (long long)deepest.latency_us,
             level == DOCTOR_UNKNOWN ? "; how deep the host lets the core sleep is not shown" : "");
}

/* The cores ----------------------------------------------------------------------------------- */

static hwloc_bitmap_t usable_set(const struct look *look)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    for (int i = 0; i < look->request->cpus_count; i++)
        hwloc_bitmap_set(set, (unsigned)look->request->cpus[i]);
    return set;
}

struct siblings {
    int cores;   /* that the usable threads lie on */
    int outside; /* siblings of usable threads that are not usable themselves */
    bool known;
};

static struct siblings siblings_count(const struct look *look)
{
    struct siblings siblings = {.known = look->request->cpus_count > 0};
    hwloc_bitmap_t usable = usable_set(look), seen = hwloc_bitmap_alloc();
    for (int i = 0; i < look->request->cpus_count && siblings.known; i++) {
        int cpu = look->request->cpus[i];
        hwloc_bitmap_t set =
            sysfs_cpus(look->root, CPU_ROOT "/cpu%d/topology/thread_siblings_list", cpu);
        siblings.known = set && hwloc_bitmap_isset(set, (unsigned)cpu);
        if (siblings.known && !hwloc_bitmap_isset(seen, (unsigned)cpu)) {
            siblings.cores++;
            hwloc_bitmap_or(seen, seen, set);
            hwloc_bitmap_andnot(set, set, usable);
            siblings.outside += hwloc_bitmap_weight(set);
        }
        if (set)
            hwloc_bitmap_free(set);
    }
    hwloc_bitmap_free(seen);
    hwloc_bitmap_free(usable);
    return siblings;
}

static void look_at_smt(struct look *look)
{
    static const char why[] = "two threads of one core share its units and its first caches";
    static const char off[] = "echo off > /sys/devices/system/cpu/smt/control";
    struct siblings siblings = siblings_count(look);
    int usable = look->request->cpus_count;
    char path[PATH_SIZE];
    if (!siblings.known) {
        snprintf(path, sizeof path, CPU_ROOT "/cpu%d/topology/thread_siblings_list",
                 usable > 0 ? look->request->cpus[0] : 0);
        look_unreadable(look, "smt", why, path);
    } else if (siblings.outside > 0) {
        look_add(look, "smt", DOCTOR_WARN, why, off,
                 "%d siblings of the %d usable hardware threads are others' to use",
                 siblings.outside, usable);
    } else if (siblings.cores < usable) {
        look_add(look, "smt", DOCTOR_NOTE, why, off, "on: %s on %s; from %s on, two share a core",
                 counted((uint64_t)usable, "hardware thread").s,
                 counted((uint64_t)siblings.cores, "core").s,
                 counted((uint64_t)siblings.cores + 1, "worker").s);
    } else if (look->virtual) {
        look_add(look, "smt", DOCTOR_UNKNOWN, why, NULL,
                 "one thread a core is shown, but a hypervisor may show siblings of the host as "
                 "cores");
    } else {
        look_add(look, "smt", DOCTOR_OK, why, NULL, "each usable hardware thread has its own core");
    }
}

static void look_at_cpuset(struct look *look)
{
    static const char why[] = "what others run on the remaining cores shares caches and memory";
    hwloc_bitmap_t online = sysfs_cpus(look->root, CPU_ROOT "/online");
    int usable = look->request->cpus_count, all = online ? hwloc_bitmap_weight(online) : 0;
    if (!online || all == 0)
        look_unreadable(look, "cpuset", why, CPU_ROOT "/online");
    else if (usable < all)
        look_add(look, "cpuset", DOCTOR_NOTE, why, NULL,
                 "%d of %d online hardware threads may be used (cpuset or affinity)", usable, all);
    else
        look_add(look, "cpuset", DOCTOR_OK, why, NULL, "all %d online hardware threads may be used",
                 all);
    if (online)
        hwloc_bitmap_free(online);
}

/* Isolated cores are quiet, but the kernel does not balance between them: threads that are not
 * pinned all stay on the one where they began. */
static void look_at_isolation(struct look *look)
{
    static const char why[] = "the kernel's own work and other programs interrupt the workers";
    static const char unbalanced[] = "the kernel balances no threads over isolated cores: unpinned "
                                     "workers stay where they begin";
    hwloc_bitmap_t isolated = sysfs_cpus(look->root, CPU_ROOT "/isolated");
    hwloc_bitmap_t tickless = sysfs_cpus(look->root, CPU_ROOT "/nohz_full");
    hwloc_bitmap_t usable = usable_set(look);
    if (!isolated) {
        look_unreadable(look, "isolation", why, CPU_ROOT "/isolated");
    } else {
        int all = hwloc_bitmap_weight(usable);
        hwloc_bitmap_and(isolated, isolated, usable);
        int quiet = hwloc_bitmap_weight(isolated);
        if (tickless)
            hwloc_bitmap_and(tickless, tickless, usable);
        int silent = tickless ? hwloc_bitmap_weight(tickless) : 0;
        if (quiet == 0)
            look_add(look, "isolation", DOCTOR_NOTE, why,
                     "boot with isolcpus=LIST nohz_full=LIST, then: taskset -c LIST schedlab ...",
                     "no usable core is isolated (isolcpus), %d are without ticks (nohz_full)",
                     silent);
        else
            look_add(look, "isolation", quiet < all ? DOCTOR_WARN : DOCTOR_NOTE, unbalanced,
                     "run with --pin",
                     "%d of %d usable cores are isolated (isolcpus), %d without ticks (nohz_full)",
                     quiet, all, silent);
        hwloc_bitmap_free(isolated);
    }
    if (tickless)
        hwloc_bitmap_free(tickless);
    hwloc_bitmap_free(usable);
}

/* Clock and heat ------------------------------------------------------------------------------ */

static void look_at_clock(struct look *look)
{
    static const char why[] = "reading the time costs a system call or worse, and latencies "
                              "contain it";
    static const char *const cheap[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
                                        "arch_sys_counter"};
    static const char path[] = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    char clock[WORD_SIZE], available[4 * WORD_SIZE] = "";
    if (!sysfs_text(look->root, clock, sizeof clock, "%s", path) || !*clock) {
        look_unreadable(look, "clock", why, path);
        return;
    }
    for (size_t i = 0; i < sizeof cheap / sizeof cheap[0]; i++) {
        if (strcmp(clock, cheap[i]) == 0) {
            look_add(look, "clock", DOCTOR_OK, why, NULL, "%s", clock);
            return;
        }
    }
    sysfs_text(look->root, available, sizeof available,
               "sys/devices/system/clocksource/clocksource0/available_clocksource");
    look_add(look, "clock", DOCTOR_WARN, why,
             strncmp(available, "tsc", 3) == 0 || strstr(available, " tsc")
                 ? "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"
                 : NULL,
             "%s", clock);
}

struct heat {
    int64_t millidegrees, limit; /* of the hottest sensor; below 0: not shown */
};

static void heat_take(struct heat *heat, int64_t millidegrees, int64_t limit)
{
    if (millidegrees > heat->millidegrees)
        *heat = (struct heat){millidegrees, limit};
}

static bool has_any(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strstr(text, *words))
            return true;
    return false;
}

/* The lowest temperature at which the kernel or the hardware acts. */
static int64_t zone_limit(const char *root, int zone)
{
    static const char *const kinds[] = {"passive", "hot", "critical", NULL};
    char kind[WORD_SIZE];
    int64_t trip, limit = -1;
    for (int i = 0; i < TRIPS; i++)
        if (sysfs_text(root, kind, sizeof kind,
                       "sys/class/thermal/thermal_zone%d/trip_point_%d_type", zone, i) &&
            has_any(kind, kinds) &&
            sysfs_number(root, &trip, "sys/class/thermal/thermal_zone%d/trip_point_%d_temp", zone,
                         i) &&
            trip > 0 && (limit < 0 || trip < limit))
            limit = trip;
    return limit;
}

static struct heat heat_read(const char *root)
{
    static const char *const zones[] = {"cpu", "pkg", "soc", "acpitz", NULL};
    static const char *const chips[] = {"coretemp", "k10temp", "zenpower", "cpu", NULL};
    struct heat heat = {-1, -1};
    char name[WORD_SIZE];
    int64_t now, limit;
    for (int i = 0; i < SENSORS; i++) {
        if (sysfs_text(root, name, sizeof name, "sys/class/thermal/thermal_zone%d/type", i) &&
            has_any(name, zones) &&
            sysfs_number(root, &now, "sys/class/thermal/thermal_zone%d/temp", i))
            heat_take(&heat, now, zone_limit(root, i));
        if (!sysfs_text(root, name, sizeof name, "sys/class/hwmon/hwmon%d/name", i) ||
            !has_any(name, chips))
            continue;
        for (int k = 1; k < SENSORS; k++) {
            if (!sysfs_number(root, &now, "sys/class/hwmon/hwmon%d/temp%d_input", i, k))
                continue;
            if (!sysfs_number(root, &limit, "sys/class/hwmon/hwmon%d/temp%d_max", i, k) &&
                !sysfs_number(root, &limit, "sys/class/hwmon/hwmon%d/temp%d_crit", i, k))
                limit = -1;
            heat_take(&heat, now, limit);
        }
    }
    return heat;
}

static void look_at_temperature(struct look *look)
{
    static const char why[] = "a processor near its limit lowers its clock rate";
    struct heat heat = heat_read(look->root);
    if (heat.millidegrees < 0)
        look_add(look, "temperature", DOCTOR_UNKNOWN, why, NULL, "no sensor of the processor%s",
                 look->virtual ? "; a hypervisor hides it" : " below /sys");
    else if (heat.limit < 0)
        look_add(look, "temperature", DOCTOR_UNKNOWN, why, NULL,
                 "%.0f degrees C; its limit is not shown", (double)heat.millidegrees / 1000);
    else
        look_add(look, "temperature",
                 heat.millidegrees > heat.limit - MARGIN_MILLIDEGREES ? DOCTOR_WARN : DOCTOR_OK,
                 why, NULL, "%.0f degrees C of at most %.0f", (double)heat.millidegrees / 1000,
                 (double)heat.limit / 1000);
}

void look_at_cpus(struct look *look)
{
    look_at_governor(look);
    look_at_boost(look);
    look_at_smt(look);
    look_at_isolation(look);
    look_at_cpuset(look);
    look_at_idle_states(look);
    look_at_clock(look);
    look_at_temperature(look);
}
