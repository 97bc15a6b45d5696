/* counters_own.c - see counters.h: the program's own events, of the process and not of threads.
 *
 * PAPI reads so many software-defined events in one EventSet and no more (40 in PAPI 7). If they
 * fit into one, it runs all the time. If not, there are several, each started for the moment of a
 * reading: a component runs one set per thread, and what the events count does not depend on being
 * watched.
 */
#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"
#include "harness/counters/counters_internal.h"
#include "harness/counters/sim_events.h"
#include "harness/host/malloc_stats.h"
#include "harness/host/memory_use.h"

#include <stdlib.h>

/* Publishing ---------------------------------------------------------------------------------- */

static long long sde_read(void *arg)
{
    const struct counter *counter = arg;
    const struct counters_source *source = counter->counters->source;
    if (counter_sde_is_by_thread(counter->sde))
        return counters_malloc_bytes(counter->counters);
    if (counter_sde_kind(counter->sde) == COUNTER_RUN_PEAK)
        return counter->total;
    if (counter->sde >= STAT_COUNT)
        return counter_process_read(counter->sde);
    return source ? (long long)source->read(source->arg, (enum stat_id)counter->sde) : 0;
}

static void sde_register(struct counters *counters, size_t slot)
{
    const struct papi_api *api = counters->api;
    struct counter *counter = &counters->list[slot];
    const char *name = counter_sde_name(counter->sde);
    /* The value as it is, not since PAPI_start(): differences are taken here. */
    int error = api->sde_register_counter_cb(counters->sde, name, PAPI_SDE_RO | PAPI_SDE_INSTANT,
                                             PAPI_SDE_long_long, sde_read, counter);
    if (error != SDE_OK) {
        counters_lose(counters, &slot, 1, "papi_sde_register_counter_cb", error);
        return;
    }
    counter->registered = true;
    api->sde_describe_counter(counters->sde, name, counter_sde_help(counter->sde));
}

void counters_own_prepare(struct counters *counters)
{
    int component;
    if (!counters_want(counters, false))
        return;
    const char *fault = counters_component_fault(counters, "sde", &component);
    if (!*fault && !(counters->sde = counters->api->sde_init(COUNTER_SDE_LIBRARY)))
        fault = "papi_sde_init failed";
    if (*fault) {
        counters_lose_all(counters, false, fault);
        return;
    }
    for (size_t i = 0; i < counters->count; i++)
        if (counters->list[i].sde >= 0 && !counters->list[i].absent)
            sde_register(counters, i);
}

/* Sets ---------------------------------------------------------------------------------------- */

/* Into as few sets as fit, found by halves; what cannot be added even alone is absent. */
static void sets_make(struct counters *counters, size_t *slot, size_t count)
{
    struct own *own = &counters->own;
    const char *call;
    int id;
    int error = counters_set_start(counters, slot, count, false, &id, &call);
    if (error == PAPI_OK) {
        struct event_set *set = &array_add(own->set, own->count);
        event_set_init(set, id, slot, count);
        counters->api->stop(id, own->scratch);
    } else if (count > 1) {
        sets_make(counters, slot, count / 2);
        sets_make(counters, slot + count / 2, count - count / 2);
    } else {
        counters_lose(counters, slot, 1, call, error);
    }
}

/* False, and the set's events absent, if it fails. */
static bool set_read(struct counters *counters, struct event_set *set, long long *values)
{
    bool alone = counters->own.count == 1;
    const char *call = "PAPI_start";
    int error = alone ? PAPI_OK : counters->api->start(set->id);
    if (error == PAPI_OK) {
        call = "PAPI_read";
        error = counters->api->read(set->id, values);
        if (!alone)
            counters->api->stop(set->id, counters->own.scratch);
    }
    if (error != PAPI_OK)
        counters_lose(counters, set->slot, set->count, call, error);
    return error == PAPI_OK;
}

/* Makes room for a count per M, or per core of a simulated machine. Sums of the scheduler and
 * events of the machine get it. A peak of the scheduler does not: it is not one M's. */
static void each_m_make(struct counters *counters, struct counter *counter)
{
    bool simulated = counter_sde_sim_event(counter->sde) >= 0;
    if (simulated && sim_event_cores() <= COUNTERS_PER_M_MAX)
        counter->each_m = xcalloc(1, sizeof *counter->each_m);
    if (counters->source && counters->source->read_each && counter->sde >= 0 &&
        counter->sde < STAT_COUNT && counter_sde_kind(counter->sde) == COUNTER_SUM)
        counter->each_m = xcalloc(1, sizeof *counter->each_m);
}

/* One that cannot be read for a part of the run. */
static bool is_of_run(const struct counter *counter, enum counter_kind kind)
{
    return counter->sde >= 0 && !counter->absent && counter_sde_kind(counter->sde) == kind;
}

static void memory_begin(struct counters *counters)
{
    const char *absent = NULL;
    bool started = false;
    for (size_t i = 0; i < counters->count; i++) {
        struct counter *counter = &counters->list[i];
        if (!is_of_run(counter, COUNTER_RUN_PEAK))
            continue;
        if (!started)
            absent = memory_use_start(&counters->memory_base);
        started = true;
        if (absent)
            counter_lose(counter, absent);
    }
}

/* Called before any M has started, so that all events of its life are counted. */
static void run_begin(struct counters *counters)
{
    memory_begin(counters);
    if (!counters->wants_malloc)
        return;
    malloc_stats_flush();
    malloc_stats_refresh();
    for (size_t i = 0; i < counters->count; i++)
        if (is_of_run(&counters->list[i], COUNTER_RUN))
            counters->list[i].run_base = counter_process_read(counters->list[i].sde);
}

/* Why the scheduler does not count this one, or NULL. */
static const char *source_absence(const struct counters *counters, int sde)
{
    const struct counters_source *source = counters->source;
    if (sde >= STAT_COUNT && !(counter_sde_is_per_g(sde) && !source))
        return NULL;
    return source ? source->absent(source->arg, (enum stat_id)sde) : "there is no scheduler";
}

void counters_own_start(struct counters *counters)
{
    struct own *own = &counters->own;
    size_t count = 0;
    own->slot = xcalloc(counters->count + 1, sizeof *own->slot);
    own->scratch = xcalloc(counters->count + 1, sizeof *own->scratch);
    for (size_t i = 0; i < counters->count; i++) {
        struct counter *counter = &counters->list[i];
        if (counter->sde < 0)
            continue;
        const char *why = source_absence(counters, counter->sde);
        if (why)
            counter_lose(counter, why);
        if (!counter->absent) {
            own->slot[count++] = i;
            each_m_make(counters, counter);
        }
    }
    if (count > 0)
        sets_make(counters, own->slot, count);
    int error = own->count == 1 ? counters->api->start(own->set[0].id) : PAPI_OK;
    if (error != PAPI_OK)
        counters_lose(counters, own->set[0].slot, own->set[0].count, "PAPI_start", error);
    run_begin(counters);
}

void counters_own_free(struct counters *counters)
{
    struct own *own = &counters->own;
    for (size_t i = 0; i < own->count; i++) {
        if (own->count == 1)
            counters->api->stop(own->set[i].id, own->scratch);
        counters_set_destroy(counters, own->set[i].id);
        event_set_free(&own->set[i]);
    }
    for (size_t i = 0; i < counters->count; i++)
        if (counters->list[i].registered)
            counters->api->sde_unregister_counter(counters->sde,
                                                  counter_sde_name(counters->list[i].sde));
    free(own->set);
    free(own->slot);
    free(own->scratch);
}

/* Windows ------------------------------------------------------------------------------------- */

/* Reads the counts of each core. The machine runs nothing meanwhile. */
static void each_core_read(const struct counter *counter, bool at_end)
{
    struct each_m *each = counter->each_m;
    each->window = 0;
    each->count = (size_t)sim_event_cores();
    for (size_t core = 0; core < each->count; core++) {
        int64_t now = sim_event_read(counter_sde_sim_event(counter->sde), (int)core);
        long long since = at_end ? now - (long long)each->base[core] : 0;
        each->sum[core] += since;
        each->window += since;
        each->base[core] = (uint64_t)now;
    }
}

/* The scheduler's events of each M. Ms that search for work go on counting meanwhile, so an event
 * that has these takes its value from them, and from no second reading. */
static void each_m_read(struct counters *counters, bool at_end)
{
    const struct counters_source *source = counters->source;
    uint64_t now[COUNTERS_PER_M_MAX];
    for (size_t i = 0; i < counters->count; i++) {
        struct counter *counter = &counters->list[i];
        struct each_m *each = counter->each_m;
        if (each && counter_sde_sim_event(counter->sde) >= 0)
            each_core_read(counter, at_end);
        if (!each || counter_sde_sim_event(counter->sde) >= 0)
            continue;
        enum stat_id which = (enum stat_id)counter->sde;
        uint64_t rest = source->read_rest ? source->read_rest(source->arg, which) : 0;
        each->window = at_end ? (long long)(rest - each->rest_base) : 0;
        each->rest_base = rest;
        each->count = source->read_each(source->arg, which, now, COUNTERS_PER_M_MAX);
        for (size_t m = 0; m < each->count && m < COUNTERS_PER_M_MAX; m++) {
            long long since = at_end ? (long long)(now[m] - each->base[m]) : 0;
            each->sum[m] += since;
            each->window += since;
            each->base[m] = now[m];
        }
    }
}

void counters_own_begin(struct counters *counters)
{
    struct own *own = &counters->own;
    for (size_t i = 0; i < own->count; i++)
        set_read(counters, &own->set[i], own->set[i].base);
    each_m_read(counters, false);
}

/* Every M has its value. */
static bool each_m_is_whole(const struct each_m *each)
{
    return each && each->count > 0 && each->count <= COUNTERS_PER_M_MAX;
}

static void set_account(struct counters *counters, struct event_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        struct counter *counter = &counters->list[set->slot[i]];
        enum counter_kind kind = counter_sde_kind(counter->sde);
        if (kind == COUNTER_SUM && each_m_is_whole(counter->each_m))
            counter->total += counter->each_m->window;
        else if (kind == COUNTER_SUM)
            counter->total += set->now[i] - set->base[i];
        else if (kind != COUNTER_RUN && kind != COUNTER_RUN_PEAK)
            counter->total = set->now[i];
    }
}

void counters_own_end(struct counters *counters)
{
    struct own *own = &counters->own;
    if (counters->wants_malloc)
        malloc_stats_refresh();
    each_m_read(counters, true);
    for (size_t i = 0; i < own->count; i++) {
        struct event_set *set = &own->set[i];
        if (set_read(counters, set, set->now))
            set_account(counters, set);
    }
}

/* Beside few goroutines, other memory is all that would be seen. */
enum { MEMORY_GS_MIN = 1000 };

static void memory_finish(struct counters *counters)
{
    const struct counters_source *source = counters->source;
    for (size_t i = 0; i < counters->count; i++) {
        struct counter *counter = &counters->list[i];
        int64_t most;
        if (!is_of_run(counter, COUNTER_RUN_PEAK))
            continue;
        if (!memory_use_peak(&most)) {
            counter_lose(counter, "/proc/self/status has no VmHWM");
            continue;
        }
        counter->total = most > counters->memory_base ? most - counters->memory_base : 0;
        if (!counter_sde_is_per_g(counter->sde))
            continue;
        int64_t gs = (int64_t)source->read(source->arg, STAT_LIVE_GS_PEAK);
        if (gs < MEMORY_GS_MIN)
            counter_lose(counter, "fewer than 1000 goroutines were alive at once");
        else
            counter->total /= gs;
    }
}

/* Straight from kernel and malloc: by now PAPI has forgotten the first thread and, with it, the
 * process's sets. */
void counters_finish(struct counters *counters, uint64_t ops)
{
    counters->run_ops = ops;
    for (size_t i = 0; !counters->bound && i < counters->count; i++)
        counter_lose(&counters->list[i], "the sample ended before anything ran");
    memory_finish(counters);
    if (!counters->wants_malloc)
        return;
    malloc_stats_flush();
    malloc_stats_refresh();
    for (size_t i = 0; i < counters->count; i++) {
        struct counter *counter = &counters->list[i];
        if (is_of_run(counter, COUNTER_RUN))
            counter->total = counter_process_read(counter->sde) - counter->run_base;
    }
}
