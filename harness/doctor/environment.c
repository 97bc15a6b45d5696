/* environment.c - see environment.h. */
#include "harness/doctor/environment.h"

#include "harness/base/build_info.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"
#include "harness/counters/counters.h"
#include "harness/host/limits.h"
#include "harness/host/sysfs.h"
#include "harness/host/topology.h"
#include "harness/spec/outside.h"

#include <gnu/libc-version.h>
#include <gsl/gsl_version.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Weak: builds with a sanitizer have another allocator. */
int mallctl(const char *name, void *old, size_t *old_size, void *new_value, size_t new_size)
    __attribute__((weak));

static json_t *absent(const char *reason)
{
    return json_pack("{ss}", "absent", reason);
}

/* The first line of a file, by its path without the slash before it. */
static json_t *file_text(const char *path)
{
    char text[512], reason[600];
    if (sysfs_text("", text, sizeof text, "%s", path))
        return json_string(text);
    snprintf(reason, sizeof reason, "cannot read /%s", path);
    return absent(reason);
}

static json_t *number_or_absent(uint64_t value, const char *reason)
{
    return value == UINT64_MAX ? absent(reason) : json_integer((json_int_t)value);
}

static json_t *kernel_to_json(void)
{
    struct utsname name;
    if (uname(&name) != 0)
        return absent("uname failed");
    return json_pack("{ss ss ss ss}", "name", name.sysname, "release", name.release, "version",
                     name.version, "architecture", name.machine);
}

static json_t *memory_to_json(void)
{
    struct limit limit = limits_memory();
    uint64_t total = limits_read_key("/proc/meminfo", "MemTotal", UINT64_MAX);
    return json_pack("{so so ss}", "total_bytes",
                     number_or_absent(total, "cannot read /proc/meminfo"), "available_bytes",
                     number_or_absent(limit.left, "cannot read /proc/meminfo"), "limited_by",
                     limit.name);
}

static json_t *transparent_huge_pages(void)
{
    static const char path[] = "sys/kernel/mm/transparent_hugepage/enabled";
    char chosen[64];
    return sysfs_chosen("", chosen, sizeof chosen, "%s", path) ? json_string(chosen)
                                                               : file_text(path);
}

static json_t *turbo(void)
{
    uint64_t boost = limits_read_number("/sys/devices/system/cpu/cpufreq/boost", UINT64_MAX);
    uint64_t no_turbo =
        limits_read_number("/sys/devices/system/cpu/intel_pstate/no_turbo", UINT64_MAX);
    if (boost != UINT64_MAX)
        return json_string(boost ? "on" : "off");
    if (no_turbo != UINT64_MAX)
        return json_string(no_turbo ? "off" : "on");
    return absent("the kernel shows neither cpufreq/boost nor intel_pstate/no_turbo");
}

static json_t *hypervisor(void)
{
#if defined(__x86_64__)
    unsigned eax, ebx, ecx, edx;
    char vendor[13] = "";
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & (1u << 31)))
        return json_string("none");
    __cpuid(0x40000000, eax, ebx, ecx, edx);
    memcpy(vendor, &ebx, 4);
    memcpy(vendor + 4, &ecx, 4);
    memcpy(vendor + 8, &edx, 4);
    json_t *name = json_string(vendor);
    return name ? name : json_string("unknown");
#else
    return file_text("sys/hypervisor/type");
#endif
}

static json_t *settings_to_json(void)
{
    return json_pack("{so so so so so so so so}", "governor",
                     file_text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), "turbo",
                     turbo(), "transparent_huge_pages", transparent_huge_pages(),
                     "address_space_randomization", file_text("proc/sys/kernel/randomize_va_space"),
                     "perf_event_paranoid", file_text("proc/sys/kernel/perf_event_paranoid"),
                     "threads_max", file_text("proc/sys/kernel/threads-max"), "pid_max",
                     file_text("proc/sys/kernel/pid_max"), "max_map_count",
                     file_text("proc/sys/vm/max_map_count"));
}

static json_t *build_to_json(void)
{
#ifdef SCHEDLAB_DEBUG
    const char *checks = "on";
#else
    const char *checks = "off";
#endif
    json_t *outside = json_array();
    for (const char *const *origin = outside_origins; *origin; origin++)
        json_array_append_new(outside, json_string(*origin));
    for (const char *const *origin = outside_workload_origins; *origin; origin++)
        json_array_append_new(outside, json_string(*origin));
    json_t *build = json_pack("{ss ss ss ss ss so}", "version", build_version(), "compiler",
                              build_compiler(), "flags", build_flags(), "revision",
                              build_revision(), "invariant_checks", checks, "outside", outside);
    char *with = outside_with_text();
    if (*with)
        json_object_set_new(build, "with", json_string(with + 1)); /* without the space */
    free(with);
    return build;
}

/* Allocators -------------------------------------------------------------------------------- */

static uint64_t jemalloc_allocated(void)
{
    uint64_t bytes = 0;
    size_t size = sizeof bytes;
    return mallctl("thread.allocated", &bytes, &size, NULL, 0) == 0 ? bytes : 0;
}

/* Linked is not used: another library may have come first. Memory from malloc() must show in
 * jemalloc's own books. */
static bool malloc_is_jemalloc(void)
{
    uint64_t before = jemalloc_allocated();
    void *volatile probe = malloc(5000); /* volatile: the compiler may not leave the pair out */
    uint64_t after = jemalloc_allocated();
    free(probe);
    return after - before >= 5000;
}

static json_t *jemalloc_version(void)
{
    const char *version = NULL;
    size_t size = sizeof version;
    if (!mallctl)
        return absent("not linked in this build");
    if (mallctl("version", &version, &size, NULL, 0) != 0)
        return absent("mallctl(\"version\") failed");
    return json_string(version);
}

static const char *allocator_name(void)
{
    if (!mallctl)
        return "the C library's, or a sanitizer's";
    return malloc_is_jemalloc() ? "jemalloc" : "not jemalloc, though it is linked";
}

static json_t *libraries_to_json(void)
{
    char papi[32];
    int version = PAPI_get_opt(PAPI_LIB_VERSION, NULL);
    snprintf(papi, sizeof papi, "%d.%d.%d", PAPI_VERSION_MAJOR(version),
             PAPI_VERSION_MINOR(version), PAPI_VERSION_REVISION(version));
    return json_pack("{ss ss ss ss ss so}", "papi", papi, "jansson", jansson_version_str(), "gsl",
                     gsl_version, "hwloc", HWLOC_VERSION, "glibc", gnu_get_libc_version(),
                     "jemalloc", jemalloc_version());
}

/* Counting ------------------------------------------------------------------------------------ */

static uint64_t no_stat(void *arg, enum stat_id which)
{
    (void)arg;
    (void)which;
    return 0;
}

static const char *no_absence(void *arg, enum stat_id which)
{
    (void)arg;
    (void)which;
    return NULL;
}

/* "A,B": the events of threads that can be counted; NULL if there is none. To be freed. */
static char *threads_events(const json_t *events)
{
    char *names = NULL;
    size_t size = 0;
    FILE *to = memory_stream(&names, &size);
    json_each(event, events) {
        const char *name = json_string_value(json_object_get(event, "name"));
        if (counter_sde_find(name) < 0 && !json_object_get(event, "absent"))
            fprintf(to, "%s%s", ftell(to) > 0 ? "," : "", name);
    }
    fclose(to);
    if (size > 0)
        return names;
    free(names);
    return NULL;
}

/* Tries in earnest what a variant with a thread per goroutine asks for. */
static void inheritance_describe(json_t *events)
{
    struct error error;
    char *names = threads_events(events);
    struct counters *counters =
        names ? counters_new(&papi_api_native, names, COUNTERS_INHERITED, &error) : NULL;
    free(names);
    if (!counters)
        return;
    json_t *inherited = counters_describe(counters);
    json_each(other, inherited) {
        json_t *why = json_object_get(other, "absent");
        json_each(event, events) {
            if (why && json_equal(json_object_get(event, "name"), json_object_get(other, "name")))
                json_object_set(event, "absent_inherited", why);
        }
    }
    json_decref(inherited);
    counters_free(counters);
}

json_t *environment_counting_of(const char *events)
{
    static const struct counters_source source = {.read = no_stat, .absent = no_absence};
    struct error error;
    struct counters *counters = counters_new(&papi_api_native, events, COUNTERS_PER_THREAD, &error);
    if (!counters)
        return absent(error.text);
    counters_bind(counters, &source);
    json_t *object =
        json_pack("{ss so}", "domain", counters_count_kernel(counters) ? "user and kernel" : "user",
                  "events", counters_describe(counters));
    counters_free(counters);
    inheritance_describe(json_object_get(object, "events"));
    return object;
}

json_t *environment_counting_to_json(void)
{
    return environment_counting_of(NULL);
}

json_t *environment_to_json(void)
{
    char now[32];
    time_t clock = time(NULL);
    struct tm utc;
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&clock, &utc));
    json_t *counting = environment_counting_to_json(); /* before PAPI is asked for its version */
    return json_pack("{si ss so so so so so so so ss so}", "schema", 1, "taken", now, "cpu",
                     topology_to_json(), "memory", memory_to_json(), "kernel", kernel_to_json(),
                     "settings", settings_to_json(), "hypervisor", hypervisor(), "build",
                     build_to_json(), "libraries", libraries_to_json(), "allocator",
                     allocator_name(), "counting", counting);
}
