/* counters_setup.c - see counters.h: finds out what can be counted here, before anything runs. */
#include "harness/counters/counters_internal.h"

#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"
#include "harness/counters/sim_events.h"
#include "harness/models/machine_start.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool counters_want(const struct counters *counters, bool of_threads)
{
    for (size_t i = 0; i < counters->count; i++)
        if ((counters->list[i].sde < 0) == of_threads && !counters->list[i].absent)
            return true;
    return false;
}

/* Availability on threads --------------------------------------------------------------------- */

/* Can these be counted together? Counts nothing, but reads once, since a group that the kernel
 * accepted may still find no room on the PMU. */
static int slots_try(const struct counters *counters, const size_t *slot, size_t count,
                     const char **call)
{
    int id;
    int error = counters_set_start(counters, slot, count, true, &id, call);
    if (error != PAPI_OK)
        return error;
    long long *values = xcalloc(count, sizeof *values);
    *call = "PAPI_read";
    error = counters->api->read(id, values);
    counters->api->stop(id, values);
    counters_set_destroy(counters, id);
    free(values);
    return error;
}

/* The members of a set found so far, into slot; returns how many. */
static size_t set_members(const struct counters *counters, size_t set, size_t before, size_t *slot)
{
    size_t count = 0;
    for (size_t i = 0; i < before; i++)
        if (counters->list[i].sde < 0 && !counters->list[i].absent && counters->list[i].set == set)
            slot[count++] = i;
    return count;
}

/* Takes the counter into the first set with room, a new one if none has, or says why it cannot be
 * counted even alone. */
static void set_find(struct counters *counters, size_t which)
{
    const char *call;
    int error = PAPI_OK;
    size_t *slot = counters->slot;
    for (size_t set = 0; set <= counters->set_count; set++) {
        size_t count = set_members(counters, set, which, slot);
        slot[count] = which;
        error = slots_try(counters, slot, count + 1, &call);
        if (error != PAPI_OK)
            continue;
        counters->list[which].set = set;
        if (set == counters->set_count)
            counters->set_count++;
        return;
    }
    counters_lose(counters, &which, 1, call, error); /* of the last trial, which was alone */
}

static void lose_kernel_only(struct counters *counters)
{
    for (size_t i = 0; i < counters->count; i++)
        if (counters->list[i].sde < 0 && counter_is_kernel_only(counters->list[i].name))
            counter_lose(
                &counters->list[i],
                "happens inside the kernel, which this user may not count; be root, or set "
                "kernel.perf_event_paranoid to 1 or less");
}

const char *counters_component_fault(const struct counters *counters, const char *name, int *index)
{
    *index = counters->api->get_component_index(name);
    if (*index < 0)
        return "this PAPI was built without the component that counts it";
    const PAPI_component_info_t *info = counters->api->get_component_info(*index);
    if (!info || info->disabled != PAPI_OK)
        return info && *info->disabled_reason ? info->disabled_reason
                                              : "PAPI disabled its component";
    return "";
}

/* See the head of counters.h for why the two settings are the component's. */
static void perf_component_prepare(struct counters *counters)
{
    int component = counters->perf_component;
    PAPI_option_t option;
    memset(&option, 0, sizeof option);
    if (counters->api->get_cmp_opt(PAPI_COMPONENTINFO, &option, component) == PAPI_OK &&
        option.cmp_info)
        option.cmp_info->fast_counter_read = 0;
    const PAPI_component_info_t *info = counters->api->get_component_info(component);
    counters->kernel = (info->available_domains & PAPI_DOM_KERNEL) &&
                       counters->api->set_cmp_domain(PAPI_DOM_ALL, component) == PAPI_OK;
}

static void threads_prepare(struct counters *counters)
{
    if (!counters_want(counters, true))
        return;
    const char *fault = counters_component_fault(counters, "perf_event", &counters->perf_component);
    if (*fault) {
        counters_lose_all(counters, true, fault);
        return;
    }
    perf_component_prepare(counters);
    if (!counters->kernel)
        lose_kernel_only(counters);
    for (size_t i = 0; i < counters->count; i++)
        if (counters->list[i].sde < 0 && !counters->list[i].absent)
            set_find(counters, i);
}

size_t counters_set_count(const struct counters *counters)
{
    return counters->set_count;
}

void counters_choose_set(struct counters *counters, size_t number)
{
    counters->chosen = counters->set_count ? number % counters->set_count : 0;
}

size_t counters_chosen_set(const struct counters *counters)
{
    return counters->chosen;
}

uint64_t counters_descriptors(const struct counters *counters, int threads)
{
    uint64_t events = 0;
    for (size_t i = 0; i < counters->count; i++) {
        const struct counter *counter = &counters->list[i];
        events += counter->sde < 0 && !counter->absent && counter->set == counters->chosen;
    }
    return counters->inherited ? events : events * (uint64_t)threads;
}

/* From here on the other sets' events are absent. */
static void chosen_take(struct counters *counters)
{
    counters->slot_count = set_members(counters, counters->chosen, counters->count, counters->slot);
    for (size_t i = 0; i < counters->count; i++)
        if (counters->list[i].sde < 0 && counters->list[i].set != counters->chosen)
            counter_lose(&counters->list[i], COUNTERS_ELSEWHERE);
}

void counters_bind(struct counters *counters, const struct counters_source *source)
{
    counters->source = source;
    counters->bound = true;
    chosen_take(counters);
    if (counters->inherited && counters->slot_count > 0) /* before the first thread is there */
        counters_thread_add(counters, NULL);
    counters_own_start(counters);
}

/* Making -------------------------------------------------------------------------------------- */

static unsigned long thread_id(void)
{
    return (unsigned long)gettid();
}

/* A simulated machine has events of software alone, and most simulated samples are short: PAPI
 * starts sooner if it does not look for what this machine counts. */
static void leave_out_hardware(const struct papi_api *api)
{
    static const char *const components[] = {"perf_event", "perf_event_uncore"};
    for (size_t i = 0; i < sizeof components / sizeof components[0]; i++)
        api->disable_component_by_name(components[i]);
}

static bool papi_start(struct counters *counters)
{
    if (machine_is_simulated())
        leave_out_hardware(counters->api);
    int version = counters->api->library_init(PAPI_VER_CURRENT);
    char *reason = NULL;
    if (version != PAPI_VER_CURRENT) {
        if (version < 0)
            reason = counters_reason(counters, "PAPI_library_init", version);
        else
            reason = text_format("PAPI_library_init: the library is version %d.%d, built for %d.%d",
                                 PAPI_VERSION_MAJOR(version), PAPI_VERSION_MINOR(version),
                                 PAPI_VERSION_MAJOR(PAPI_VER_CURRENT),
                                 PAPI_VERSION_MINOR(PAPI_VER_CURRENT));
    } else {
        int error = counters->api->thread_init(thread_id);
        if (error != PAPI_OK)
            reason = counters_reason(counters, "PAPI_thread_init", error);
    }
    if (!reason)
        return true;
    counters_lose_all(counters, true, reason);
    counters_lose_all(counters, false, reason);
    free(reason);
    return false;
}

/* Loses events that belong to another kind of machine, native or simulated, than the one
 * measured. */
static void lose_of_other_machine(struct counters *counters)
{
    for (size_t i = 0; i < counters->count; i++) {
        struct counter *counter = &counters->list[i];
        bool simulated = counter_sde_sim_event(counter->sde) >= 0;
        bool scheduler = counter->sde >= 0 && counter->sde < STAT_COUNT;
        if (simulated && !machine_is_simulated())
            counter_lose(counter, SIM_EVENTS_ABSENT);
        else if (!simulated && !scheduler && machine_is_simulated())
            counter_lose(counter, MACHINE_SIMULATED_ABSENT);
        else if (counter->sde == STAT_WASTED_SAMPLES && machine_is_simulated())
            counter_lose(counter, "an estimate; on simulated machines SIM_WASTED_NS is exact");
    }
}

struct counters *counters_new(const struct papi_api *api, const char *events,
                              enum counters_threads threads, struct error *error)
{
    struct counter_names names;
    if (!counter_names_split(&names, events, error)) {
        counter_names_free(&names);
        return NULL;
    }
    struct counters *counters = xcalloc(1, sizeof *counters);
    counters->api = api;
    counters->count = names.count;
    counters->inherited = threads == COUNTERS_INHERITED;
    counters->list = xcalloc(names.count + 1, sizeof *counters->list);
    counters->slot = xcalloc(names.count + 1, sizeof *counters->slot);
    for (size_t i = 0; i < names.count; i++)
        counters->list[i] = (struct counter){
            .name = xstrdup(names.name[i]),
            .source = counter_source(names.name[i]),
            .sde = counter_sde_find(names.name[i]),
            .counters = counters,
        };
    counter_names_free(&names);
    lose_of_other_machine(counters);
    if (counters->count > 0 && papi_start(counters)) {
        threads_prepare(counters);
        counters_malloc_prepare(counters);
        counters_own_prepare(counters);
    }
    return counters;
}

void counters_free(struct counters *counters)
{
    while (counters->threads) {
        struct thread_set *thread = counters->threads;
        counters->threads = thread->next;
        if (thread->alive)
            event_set_stop(counters, &thread->events);
        event_set_free(&thread->events);
        free(thread->sum);
        free(thread);
    }
    counters_malloc_free(counters);
    counters_own_free(counters);
    for (size_t i = 0; i < counters->count; i++) {
        free(counters->list[i].each_m);
        free(counters->list[i].name);
        free(counters->list[i].absent);
    }
    free(counters->slot);
    free(counters->list);
    free(counters->thread_failure);
    free(counters);
}
