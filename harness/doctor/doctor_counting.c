/* doctor_counting.c - see doctor.h: which kinds of events can be counted, and what stands in the
 * way of the others.
 *
 * PAPI lists what its tables know of this processor, whether or not the kernel will count it. So
 * the kernel is asked by itself, with one event of the hardware and one of its own; its error
 * number and a few files tell a missing PMU from a missing permission.
 */
#include "harness/base/json_fields.h"
#include "harness/doctor/doctor_internal.h"

#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"
#include "harness/host/sysfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PRESETS, NATIVES, SOFTWARE, SDE };
enum { PAPI_NAME_SIZE = 1024 };

/* The canonical ones; libpfm lists short names of the same events beside them. */
#define SOFTWARE_PREFIX "perf::PERF_COUNT_SW_"

static void obstacle(struct doctor_kind *kind, const char *reason, const char *change)
{
    snprintf(kind->reason, sizeof kind->reason, "%.*s", (int)sizeof kind->reason - 1, reason);
    snprintf(kind->change, sizeof kind->change, "%.*s", (int)sizeof kind->change - 1, change);
    look_make_printable(kind->reason);
}

/* PAPI's lists --------------------------------------------------------------------------------- */

struct listed {
    int presets, presets_here, natives, software;
    char *software_list; /* "a,b,c"; owned */
    const char *fault;   /* why PAPI cannot count on threads at all, or NULL */
};

static int count_presets(const struct papi_api *papi)
{
    int code = PAPI_PRESET_MASK, n = 0;
    if (papi->enum_event(&code, PAPI_ENUM_FIRST) != PAPI_OK)
        return 0;
    do
        n++;
    while (papi->enum_event(&code, PAPI_ENUM_EVENTS) == PAPI_OK);
    return n;
}

/* Lists events of the core's own PMU that PAPI can name, and the kernel's software events. */
static void list_natives(const struct papi_api *papi, int component, struct listed *listed)
{
    int code = PAPI_NATIVE_MASK;
    char name[PAPI_NAME_SIZE];
    FILE *list = memory_stream(&listed->software_list, NULL);
    bool more = papi->enum_cmp_event(&code, PAPI_ENUM_FIRST, component) == PAPI_OK;
    for (; more; more = papi->enum_cmp_event(&code, PAPI_ENUM_EVENTS, component) == PAPI_OK) {
        if (papi->event_code_to_name(code, name) != PAPI_OK)
            continue;
        if (strncmp(name, SOFTWARE_PREFIX, strlen(SOFTWARE_PREFIX)) == 0)
            fprintf(list, "%s%s", listed->software++ ? "," : "", name);
        else if (strncmp(name, "perf", 4) != 0)
            listed->natives++;
    }
    fclose(list);
}

static struct listed listed_make(const struct papi_api *papi)
{
    struct listed listed = {.presets = -1, .natives = -1, .software = -1};
    if (papi->library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) {
        listed.fault = "PAPI does not start";
        return listed;
    }
    int component = papi->get_component_index("perf_event");
    const PAPI_component_info_t *info = component >= 0 ? papi->get_component_info(component) : NULL;
    listed.presets = count_presets(papi);
    if (!info) {
        listed.fault = "this PAPI was built without its component perf_event";
    } else if (info->disabled != PAPI_OK) {
        listed.fault = *info->disabled_reason ? info->disabled_reason
                                              : "PAPI disabled its component perf_event";
    } else {
        listed.presets_here = info->num_preset_events;
        listed.natives = listed.software = 0;
        list_natives(papi, component, &listed);
    }
    return listed;
}

/* Obstacles in the kernel ---------------------------------------------------------------------- */

static bool has_seccomp_filter(const char *root)
{
    int64_t mode;
    return sysfs_key(root, &mode, "Seccomp", "proc/self/status") && mode == 2;
}

static void obstacle_permission(const struct look *look, struct doctor_kind *kind)
{
    int64_t paranoid;
    char reason[128];
    if (sysfs_number(look->root, &paranoid, "proc/sys/kernel/perf_event_paranoid"))
        snprintf(reason, sizeof reason,
                 "kernel.perf_event_paranoid is %lld, and this user is not root",
                 (long long)paranoid);
    else
        snprintf(reason, sizeof reason, "this user may not count");
    obstacle(kind, reason, "sysctl -w kernel.perf_event_paranoid=1");
}

static void obstacle_no_pmu(const struct look *look, struct doctor_kind *kind)
{
    if (look->virtual)
        obstacle(kind, "this virtual machine has no PMU",
                 "let the hypervisor pass it on (QEMU: -cpu host,pmu=on), or use real hardware");
    else
        obstacle(kind, "the kernel has no driver for this processor's PMU",
                 "a newer kernel; dmesg | grep -i pmu says more");
}

/* Explains why the kernel would not count; false if it would. */
static bool obstacle_of_kernel(const struct look *look, enum doctor_perf what,
                               struct doctor_kind *kind)
{
    char text[64];
    int error = -look->request->machine->perf_open(what);
    bool has_perf =
        sysfs_text(look->root, text, sizeof text, "proc/sys/kernel/perf_event_paranoid");
    if (error == 0)
        return false;
    if ((error == EPERM || error == ENOSYS) && has_seccomp_filter(look->root))
        obstacle(kind, "a seccomp filter forbids perf_event_open()",
                 "docker run --security-opt seccomp=unconfined --cap-add PERFMON");
    else if (error == ENOSYS || !has_perf)
        obstacle(kind, "this kernel has no perf events", "a kernel with CONFIG_PERF_EVENTS=y");
    else if (error == EACCES || error == EPERM)
        obstacle_permission(look, kind);
    else if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP)
        obstacle_no_pmu(look, kind);
    else if (error == EBUSY)
        obstacle(kind, "somebody else holds the PMU", "end the other session of perf");
    else
        obstacle(kind, strerror(error), "");
    return true;
}

/* The default list's events -------------------------------------------------------------------- */

static int kind_of(const json_t *event)
{
    const char *source = field_text(event, "source");
    if (strcmp(source, "sde") == 0)
        return SDE;
    if (strcmp(source, "soft") == 0)
        return SOFTWARE;
    return strncmp(field_text(event, "name"), "PAPI_", 5) == 0 ? PRESETS : NATIVES;
}

/* absent[kind]: the first reason of each. False if nothing is known. */
static bool wanted_count(const json_t *counting, struct doctor *doctor,
                         const char *absent[DOCTOR_KINDS])
{
    const json_t *events = json_object_get(counting, "events");
    json_each(event, events) {
        int kind = kind_of(event);
        const char *why = field_text(event, "absent");
        doctor->kinds[kind].wanted++;
        doctor->kinds[kind].wanted_available += !*why;
        if (*why && !absent[kind])
            absent[kind] = why;
    }
    return json_is_array(events);
}

static int describe_available(const struct doctor_machine *machine, const char *list)
{
    json_t *counting = machine->describe(list);
    int n = 0;
    json_each(event, json_object_get(counting, "events"))
        n += !json_object_get(event, "absent");
    json_decref(counting);
    return n;
}

/* Together ------------------------------------------------------------------------------------- */

static void judge_hardware(const struct look *look, const struct listed *listed,
                           struct doctor_kind *presets, struct doctor_kind *natives)
{
    bool blocked = obstacle_of_kernel(look, DOCTOR_PERF_HARDWARE, presets);
    presets->listed = listed->presets;
    natives->listed = listed->natives;
    presets->available = blocked ? 0 : listed->presets_here;
    natives->available = blocked || listed->natives < 0 ? 0 : listed->natives;
    if (!blocked && listed->fault)
        obstacle(presets, listed->fault, "papi_component_avail says more");
    else if (!blocked && listed->presets_here == 0)
        obstacle(presets, "the PMU counts, but PAPI has no table for this processor",
                 "a newer libpapi; papi_component_avail says more");
    if (natives->available == 0)
        obstacle(natives, presets->reason, presets->change);
}

/* Events inside the kernel then need root, others do not. */
static bool is_paranoid(const char *root)
{
    int64_t paranoid;
    return sysfs_number(root, &paranoid, "proc/sys/kernel/perf_event_paranoid") && paranoid > 1;
}

static void judge_software(const struct look *look, const struct listed *listed, const char *absent,
                           struct doctor_kind *kind)
{
    bool blocked = obstacle_of_kernel(look, DOCTOR_PERF_SOFTWARE, kind);
    kind->listed = listed->software;
    if (!blocked && listed->software > 0)
        kind->available = describe_available(look->request->machine, listed->software_list);
    if (blocked || kind->available == kind->listed)
        return;
    if (listed->fault)
        obstacle(kind, listed->fault, "papi_component_avail says more");
    else
        obstacle(kind, absent ? absent : "this kernel lacks the others",
                 absent && is_paranoid(look->root) ? "sysctl -w kernel.perf_event_paranoid=1" : "");
}

/* The NMI watchdog keeps one counter of each core for itself. */
static void look_at_watchdog(struct look *look, bool pmu)
{
    static const char why[] = "it keeps one hardware counter of each core, so fewer events fit "
                              "together";
    static const char path[] = "proc/sys/kernel/nmi_watchdog";
    int64_t on;
    if (!pmu)
        look_add(look, "watchdog", DOCTOR_OK, why, NULL, "there are no hardware counters to take");
    else if (!sysfs_number(look->root, &on, "%s", path))
        look_unreadable(look, "watchdog", why, path);
    else
        look_add(look, "watchdog", on ? DOCTOR_NOTE : DOCTOR_OK, why,
                 on ? "sysctl -w kernel.nmi_watchdog=0" : NULL, on ? "on" : "off");
}

void look_at_counting(struct look *look)
{
    struct doctor_kind *kinds = look->doctor->kinds;
    const struct doctor_machine *machine = look->request->machine;
    const char *absent[DOCTOR_KINDS] = {NULL};
    kinds[PRESETS] = (struct doctor_kind){.id = "presets", .name = "PAPI presets"};
    kinds[NATIVES] = (struct doctor_kind){.id = "natives", .name = "native events"};
    kinds[SOFTWARE] = (struct doctor_kind){.id = "software", .name = "software events (perf::)"};
    kinds[SDE] = (struct doctor_kind){.id = "sde", .name = "schedlab's own (sde:::)"};

    const json_t *counting = look->request->counting;
    struct listed listed = listed_make(machine->papi);
    if (!wanted_count(counting, look->doctor, absent))
        for (int i = 0; i < DOCTOR_KINDS; i++)
            kinds[i].wanted = kinds[i].wanted_available = -1;
    judge_hardware(look, &listed, &kinds[PRESETS], &kinds[NATIVES]);
    judge_software(look, &listed, absent[SOFTWARE], &kinds[SOFTWARE]);
    /* all of them are wanted */
    kinds[SDE].listed = kinds[SDE].wanted;
    kinds[SDE].available = kinds[SDE].wanted_available;
    if (kinds[SDE].wanted < 0)
        obstacle(&kinds[SDE], field_text(counting, "absent"), "");
    else if (absent[SDE])
        obstacle(&kinds[SDE], absent[SDE], "");
    look_at_watchdog(look, machine->perf_open(DOCTOR_PERF_HARDWARE) == 0);
    free(listed.software_list);
}
