/* counter_names.c - see counter_names.h. */
#include "harness/counters/counter_names.h"

#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/counters/sim_events.h"
#include "harness/host/malloc_stats.h"
#include "harness/models/machine_start.h"
#include "stats.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

/* Presets and kernel events of the default list, in its order, and other names of the latter. */
static const struct known_event {
    const char *name;
    const char *help;
    bool by_default, soft, kernel_only;
} known_events[] = {
    {"PAPI_L1_DCM", "level 1 data cache misses", true, false, false},
    {"PAPI_L2_TCM", "level 2 cache misses", true, false, false},
    {"PAPI_L3_TCM", "level 3 cache misses", true, false, false},
    {"PAPI_TOT_CYC", "cycles", true, false, false},
    {"PAPI_TOT_INS", "instructions completed", true, false, false},
    {"perf::TASK-CLOCK", "ns on a core", true, true, false},
    {"perf::CONTEXT-SWITCHES", "times the kernel switched a thread out", true, true, true},
    {"perf::CPU-MIGRATIONS", "times the kernel moved a thread to another core", true, true, true},
    {"perf::PAGE-FAULTS", "page faults", true, true, false},
    {"perf::CPU-CLOCK", "ns on a core", false, true, false},
    {"perf::CS", "times the kernel switched a thread out", false, true, true},
    {"perf::MIGRATIONS", "times the kernel moved a thread to another core", false, true, true},
    {"perf::CGROUP-SWITCHES", "thread switches to another cgroup", false, true, true},
    {"perf::FAULTS", "page faults", false, true, false},
    {"perf::MINOR-FAULTS", "page faults served from memory", false, true, false},
    {"perf::MAJOR-FAULTS", "page faults served from a disk", false, true, false},
    {"perf::ALIGNMENT-FAULTS", "accesses that the kernel aligned", false, true, false},
    {"perf::EMULATION-FAULTS", "instructions that the kernel emulated", false, true, false},
    {"perf::PERF_COUNT_SW_CPU_CLOCK", "ns on a core", false, true, false},
    {"perf::PERF_COUNT_SW_TASK_CLOCK", "ns on a core", false, true, false},
    {"perf::PERF_COUNT_SW_PAGE_FAULTS", "page faults", false, true, false},
    {"perf::PERF_COUNT_SW_PAGE_FAULTS_MIN", "page faults from memory", false, true, false},
    {"perf::PERF_COUNT_SW_PAGE_FAULTS_MAJ", "page faults from a disk", false, true, false},
    {"perf::PERF_COUNT_SW_CONTEXT_SWITCHES", "thread switches", false, true, true},
    {"perf::PERF_COUNT_SW_CPU_MIGRATIONS", "moves to another core", false, true, true},
    {"perf::PERF_COUNT_SW_CGROUP_SWITCHES", "switches of cgroup", false, true, true},
};

enum { KNOWN_EVENTS = sizeof known_events / sizeof known_events[0] };

static size_t base_length(const char *name)
{
    const char *pmu_end = strstr(name, "::");
    const char *mask = strchr(pmu_end ? pmu_end + 2 : name, ':');
    return mask ? (size_t)(mask - name) : strlen(name);
}

/* Ignores masks and modifiers (":u=0"). */
static const struct known_event *known_event_find(const char *name)
{
    size_t length = base_length(name);
    for (int i = 0; i < KNOWN_EVENTS; i++)
        if (strlen(known_events[i].name) == length &&
            strncasecmp(known_events[i].name, name, length) == 0)
            return &known_events[i];
    return NULL;
}

/* The program's own events -------------------------------------------------------------------- */

/* Events that the kernel accounts to the whole process, its ended threads included. Unlike perf::
 * events they need no permission, cost nothing while counting, and serve thread-per-goroutine
 * variants. */
enum {
    PROCESS_CPU_NS,
    PROCESS_SWITCHES,
    PROCESS_PREEMPTIONS,
    PROCESS_PAGE_FAULTS,
    PROCESS_MEMORY_PEAK,
    PROCESS_MEMORY_PER_G,
    PROCESS_THREADS,
    PROCESS_COUNT
};

struct own_event {
    const char *name, *help;
    enum counter_kind kind;
};

static const struct own_event process_events[PROCESS_COUNT] = {
    [PROCESS_CPU_NS] = {"PROCESS_CPU_NS", "ns on a core, all threads (getrusage)", COUNTER_SUM},
    [PROCESS_SWITCHES] = {"PROCESS_SWITCHES", "times a thread gave up its core (getrusage)",
                          COUNTER_SUM},
    [PROCESS_PREEMPTIONS] = {"PROCESS_PREEMPTIONS",
                             "times the kernel took the core from a thread (getrusage)",
                             COUNTER_SUM},
    [PROCESS_PAGE_FAULTS] = {"PROCESS_PAGE_FAULTS", "page faults, all threads (getrusage)",
                             COUNTER_SUM},
    [PROCESS_MEMORY_PEAK] = {"PROCESS_MEMORY_PEAK",
                             "bytes of memory and page tables, at the most, beyond those before "
                             "the scheduler started; untimed calls included",
                             COUNTER_RUN_PEAK},
    [PROCESS_MEMORY_PER_G] = {"PROCESS_MEMORY_PER_G",
                              "PROCESS_MEMORY_PEAK over LIVE_GS_PEAK: what a goroutine takes, "
                              "where there are a thousand or more",
                              COUNTER_RUN_PEAK},
    [PROCESS_THREADS] = {COUNTER_THREADS, "threads that the process has at the end", COUNTER_LEVEL},
};

const char *counter_stand_in(const char *name)
{
    static const char *const pairs[][2] = {
        {"perf::TASK-CLOCK", COUNTER_SDE_PREFIX "PROCESS_CPU_NS"},
        {"perf::CPU-CLOCK", COUNTER_SDE_PREFIX "PROCESS_CPU_NS"},
        {"perf::CONTEXT-SWITCHES", COUNTER_SDE_PREFIX "PROCESS_SWITCHES and _PREEMPTIONS"},
        {"perf::CS", COUNTER_SDE_PREFIX "PROCESS_SWITCHES and _PREEMPTIONS"},
        {"perf::PAGE-FAULTS", COUNTER_SDE_PREFIX "PROCESS_PAGE_FAULTS"},
        {"perf::FAULTS", COUNTER_SDE_PREFIX "PROCESS_PAGE_FAULTS"},
    };
    const struct known_event *event = known_event_find(name);
    for (size_t i = 0; event && i < sizeof pairs / sizeof pairs[0]; i++)
        if (strcmp(event->name, pairs[i][0]) == 0)
            return pairs[i][1];
    return NULL;
}

/* Events that jemalloc counts; absent under another malloc. */
enum { MALLOC_BYTES = MALLOC_STAT_REQUESTS + 1, MALLOC_COUNT };

static const struct own_event malloc_events[MALLOC_COUNT] = {
    [MALLOC_STAT_ALLOCATED] = {"MALLOC_ALLOCATED",
                               "bytes in allocated blocks at the end (jemalloc)", COUNTER_LEVEL},
    [MALLOC_STAT_ACTIVE] = {"MALLOC_ACTIVE",
                            "bytes in pages with such blocks at the end (jemalloc)", COUNTER_LEVEL},
    [MALLOC_STAT_RESIDENT] = {"MALLOC_RESIDENT",
                              "bytes of memory that malloc occupies at the end (jemalloc)",
                              COUNTER_LEVEL},
    [MALLOC_STAT_MAPPED] = {"MALLOC_MAPPED", "bytes that malloc has mapped at the end (jemalloc)",
                            COUNTER_LEVEL},
    [MALLOC_STAT_REQUESTS] = {"MALLOC_ALLOCATIONS",
                              "blocks allocated, start and end of threads, untimed calls and their "
                              "checks included; per operation of all calls (jemalloc)",
                              COUNTER_RUN},
    [MALLOC_BYTES] = {"MALLOC_BYTES",
                      "bytes allocated by the workers in the timed calls (jemalloc)", COUNTER_SUM},
};

enum { MALLOC_FIRST = STAT_COUNT + PROCESS_COUNT, SIM_FIRST = MALLOC_FIRST + MALLOC_COUNT };

int counter_sde_count(void)
{
    return SIM_FIRST + sim_event_count();
}

bool counter_sde_is_malloc(int index)
{
    return index >= MALLOC_FIRST && index < SIM_FIRST;
}

int counter_sde_sim_event(int index)
{
    return index >= SIM_FIRST ? index - SIM_FIRST : -1;
}

bool counter_sde_is_per_g(int index)
{
    return index == STAT_COUNT + PROCESS_MEMORY_PER_G;
}

bool counter_sde_is_by_thread(int index)
{
    return index == MALLOC_FIRST + MALLOC_BYTES;
}

static struct own_event own_event(int index)
{
    if (index >= SIM_FIRST)
        return (struct own_event){sim_event_name(index - SIM_FIRST),
                                  sim_event_help(index - SIM_FIRST), COUNTER_SUM};
    if (counter_sde_is_malloc(index))
        return malloc_events[index - MALLOC_FIRST];
    if (index >= STAT_COUNT)
        return process_events[index - STAT_COUNT];
    return (struct own_event){stat_info[index].name, stat_info[index].help,
                              stat_info[index].merge == STAT_MERGE_MAX ? COUNTER_PEAK
                                                                       : COUNTER_SUM};
}

const char *counter_sde_name(int index)
{
    return own_event(index).name;
}

const char *counter_sde_help(int index)
{
    return own_event(index).help;
}

enum counter_kind counter_sde_kind(int index)
{
    return own_event(index).kind;
}

int counter_sde_find(const char *name)
{
    if (strncmp(name, COUNTER_SDE_PREFIX, strlen(COUNTER_SDE_PREFIX)) != 0)
        return -1;
    for (int i = 0; i < counter_sde_count(); i++)
        if (strcmp(counter_sde_name(i), name + strlen(COUNTER_SDE_PREFIX)) == 0)
            return i;
    return -1;
}

const char *counter_short_name(const char *name)
{
    size_t length = strlen(COUNTER_SDE_PREFIX);
    return strncasecmp(name, COUNTER_SDE_PREFIX, length) == 0 ? name + length : name;
}

static long long timeval_ns(struct timeval time)
{
    return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL;
}

/* num_threads of proc(5), which comes 18th after the name, itself in parentheses and free to hold
 * anything. Allocates nothing: what is allocated is counted too. */
static long long threads_now(void)
{
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[size > 0 ? size : 0] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 0; at && field < 18; field++)
        at = strchr(at + 1, ' ');
    return at ? atoll(at) : 0;
}

long long counter_process_read(int index)
{
    if (index >= SIM_FIRST)
        return sim_event_read(index - SIM_FIRST, -1);
    if (counter_sde_is_malloc(index))
        return (long long)malloc_stats_read((enum malloc_stat)(index - MALLOC_FIRST));
    if (index == STAT_COUNT + PROCESS_THREADS)
        return threads_now();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    switch (index - STAT_COUNT) {
    case PROCESS_CPU_NS:
        return timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
    case PROCESS_SWITCHES:
        return usage.ru_nvcsw;
    case PROCESS_PREEMPTIONS:
        return usage.ru_nivcsw;
    default:
        return usage.ru_minflt + usage.ru_majflt;
    }
}

/* Facts about a name --------------------------------------------------------------------------- */

bool counter_list_check(const char *events, struct error *error)
{
    struct counter_names names;
    bool ok = counter_names_split(&names, events, error) &&
              counter_names_check(&papi_api_native, &names, error);
    counter_names_free(&names);
    return ok;
}

const char *counter_source(const char *name)
{
    if (strncmp(name, COUNTER_SDE_PREFIX "SIM_", sizeof COUNTER_SDE_PREFIX "SIM_" - 1) == 0)
        return "sim";
    if (strncmp(name, "sde:::", 6) == 0)
        return "sde";
    const struct known_event *known = known_event_find(name);
    return known && known->soft ? "soft" : "pmu";
}

const char *counter_help(const char *name)
{
    int index = counter_sde_find(name);
    if (index >= 0)
        return counter_sde_help(index);
    const struct known_event *known = known_event_find(name);
    return known ? known->help : "";
}

bool counter_is_kernel_only(const char *name)
{
    const struct known_event *known = known_event_find(name);
    return known && known->kernel_only;
}

/* Lists --------------------------------------------------------------------------------------- */

/* Takes name. */
static void names_add(struct counter_names *names, char *name)
{
    array_add(names->name, names->count) = name;
}

static char *own_name(int index)
{
    char name[128];
    snprintf(name, sizeof name, COUNTER_SDE_PREFIX "%s", counter_sde_name(index));
    return xstrdup(name);
}

/* The program's own events go without their prefix too. */
static char *whole_name(const char *name, size_t length)
{
    for (int i = 0; i < counter_sde_count(); i++)
        if (strlen(counter_sde_name(i)) == length &&
            strncmp(counter_sde_name(i), name, length) == 0)
            return own_name(i);
    return xstrndup(name, length);
}

static void names_add_default(struct counter_names *names)
{
    bool simulated = machine_is_simulated();
    for (int i = 0; i < KNOWN_EVENTS && !simulated; i++)
        if (known_events[i].by_default)
            names_add(names, xstrdup(known_events[i].name));
    for (int i = 0; i < sim_event_count() && simulated; i++)
        if (sim_event_is_by_default(i))
            names_add(names, own_name(SIM_FIRST + i));
    for (int i = 0; i < SIM_FIRST; i++)
        names_add(names, own_name(i));
}

bool counter_is_by_default(const char *name)
{
    for (int i = 0; i < KNOWN_EVENTS; i++)
        if (strcmp(known_events[i].name, name) == 0)
            return known_events[i].by_default;
    for (int i = 0; i < counter_sde_count(); i++)
        if (strcmp(counter_sde_name(i), counter_short_name(name)) == 0)
            return i < SIM_FIRST || sim_event_is_by_default(i - SIM_FIRST);
    return false;
}

bool counter_names_split(struct counter_names *names, const char *events, struct error *error)
{
    *names = (struct counter_names){0};
    if (!events)
        names_add_default(names);
    if (!events || strcmp(events, "none") == 0)
        return true;
    for (const char *at = events; at;) {
        size_t length = strcspn(at, ",");
        if (length == 0)
            return error_set(error, "events: empty name in \"%s\"; write NAME,NAME,... or none",
                             events);
        if (length == 4 && strncmp(at, "none", 4) == 0)
            return error_set(error,
                             "events: none stands beside other events in \"%s\"; valid: none "
                             "alone, or NAME,NAME,...",
                             events);
        names_add(names, whole_name(at, length));
        if (text_is_among(names->name[names->count - 1], names->name, names->count - 1))
            return error_set(error, "events: %.*s is given twice", (int)length, at);
        at = at[length] ? at + length + 1 : NULL;
    }
    return true;
}

void counter_names_free(struct counter_names *names)
{
    texts_free(names->name, names->count);
    *names = (struct counter_names){0};
}

/* Typing errors -------------------------------------------------------------------------------- */

enum { PAPI_NAME_SIZE = 1024 };

/* Walks all presets, then all native events of the core's PMUs. */
static void each_papi_name(const struct papi_api *api, void (*visit)(void *arg, const char *name),
                           void *arg)
{
    char name[PAPI_NAME_SIZE];
    int code = (int)PAPI_PRESET_MASK;
    for (int next = PAPI_ENUM_FIRST; api->enum_event(&code, next) == PAPI_OK;
         next = PAPI_ENUM_EVENTS)
        if (api->event_code_to_name(code, name) == PAPI_OK)
            visit(arg, name);
    int component = api->get_component_index("perf_event");
    code = (int)PAPI_NATIVE_MASK;
    for (int next = PAPI_ENUM_FIRST;
         component >= 0 && api->enum_cmp_event(&code, next, component) == PAPI_OK;
         next = PAPI_ENUM_EVENTS)
        if (api->event_code_to_name(code, name) == PAPI_OK)
            visit(arg, name);
}

struct search {
    const char *wanted;
    size_t distance;
    char best[PAPI_NAME_SIZE];
    bool near;        /* best may be what was meant */
    bool pmu_is_here; /* some event has the same "PMU::" before its name */
    bool exists;
};

static const char *after_prefix(const char *name)
{
    const char *colons = strstr(name, "::");
    return colons ? colons + 2 + (colons[2] == ':') : name;
}

/* Without "perf::", "sde:::schedlab::" or "PAPI_". */
static const char *bare_name(const char *name)
{
    for (const char *colons; (colons = strstr(name, "::"));)
        name = colons + 2;
    return strncasecmp(name, "PAPI_", 5) == 0 ? name + 5 : name;
}

/* Whoever forgets the prefix shall be told it, so the bare name counts too; and a prefix that two
 * names share makes neither of them near. */
static void search_visit(void *arg, const char *name)
{
    struct search *search = arg;
    size_t prefix = (size_t)(after_prefix(name) - name);
    if (prefix > 0 && strncasecmp(name, search->wanted, prefix) == 0)
        search->pmu_is_here = true;
    if (strlen(name) == base_length(search->wanted) &&
        strncasecmp(name, search->wanted, strlen(name)) == 0)
        search->exists = true;
    size_t distance = suggest_distance(search->wanted, name);
    const char *bare_wanted = bare_name(search->wanted), *bare = bare_name(name);
    size_t bare_distance = suggest_distance(bare_wanted, bare) + 1;
    bool near = suggest_is_near(bare_wanted, bare);
    if (bare_distance < distance)
        distance = bare_distance;
    if (near > search->near || (near == search->near && distance < search->distance)) {
        search->distance = distance;
        search->near = near;
        snprintf(search->best, sizeof search->best, "%s", name);
    }
}

static void search_own_names(struct search *search)
{
    char name[PAPI_NAME_SIZE];
    for (int i = 0; i < KNOWN_EVENTS; i++)
        search_visit(search, known_events[i].name);
    for (int i = 0; i < counter_sde_count(); i++) {
        snprintf(name, sizeof name, COUNTER_SDE_PREFIX "%s", counter_sde_name(i));
        search_visit(search, name);
    }
    search->pmu_is_here = false; /* only what PAPI itself lists proves that */
}

/* May name be an event, here or on another machine? Fills *search for the message if not. */
static bool name_is_possible(const struct papi_api *api, bool have_papi, const char *name,
                             struct search *search)
{
    *search = (struct search){.wanted = name, .distance = (size_t)-1};
    bool ours = strncmp(name, "sde:", 4) == 0;
    int code;
    if (ours && counter_sde_find(name) >= 0)
        return true;
    if (!ours && have_papi && api->event_name_to_code(name, &code) == PAPI_OK)
        return true;
    search_own_names(search);
    if (ours)
        return false;
    if (!have_papi)
        return strncmp(name, "PAPI_", 5) == 0 || strstr(name, "::") || search->exists;
    each_papi_name(api, search_visit, search);
    bool other_pmu = strstr(name, "::") && !search->pmu_is_here;
    return search->exists || other_pmu;
}

static void complain_of_name(const struct search *search, struct error *error)
{
    bool ours = strncmp(search->wanted, "sde:", 4) == 0;
    if (search->near)
        error_print(error, "unknown event \"%s\"; the nearest is \"%s\" (schedlab list events)",
                    search->wanted, search->best);
    else
        error_print(error, "unknown event \"%s\"; valid: those of `schedlab list events`%s",
                    search->wanted, ours ? "" : ", papi_avail and papi_native_avail, or none");
}

bool counter_names_check(const struct papi_api *api, const struct counter_names *names,
                         struct error *error)
{
    bool have_papi = names->count > 0 && api->library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT;
    for (size_t i = 0; i < names->count; i++) {
        struct search search;
        if (!name_is_possible(api, have_papi, names->name[i], &search)) {
            complain_of_name(&search, error);
            return false;
        }
    }
    return true;
}
