/* counters.c - see counters.h: EventSets, the windows in which they count, and the sums. */
#include "harness/counters/counters_internal.h"

#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"

#include <stdlib.h>
#include <string.h>

/* Reasons ------------------------------------------------------------------------------------- */

char *counters_reason(const struct counters *counters, const char *call, int error)
{
    const char *text = counters->api->strerror(error);
    return text_format("%s: %s", call, text ? text : "unknown error");
}

void counter_lose(struct counter *counter, const char *reason)
{
    if (!counter->absent)
        counter->absent = xstrdup(reason);
}

void counters_lose(struct counters *counters, const size_t *slot, size_t count, const char *call,
                   int error)
{
    char *reason = counters_reason(counters, call, error);
    for (size_t i = 0; i < count; i++)
        counter_lose(&counters->list[slot[i]], reason);
    free(reason);
}

void counters_lose_all(struct counters *counters, bool of_threads, const char *reason)
{
    for (size_t i = 0; i < counters->count; i++)
        if ((counters->list[i].sde < 0) == of_threads)
            counter_lose(&counters->list[i], reason);
}

/* EventSets ----------------------------------------------------------------------------------- */

void counters_set_destroy(const struct counters *counters, int id)
{
    counters->api->cleanup_eventset(id);
    counters->api->destroy_eventset(&id);
}

static int set_inherit(const struct counters *counters, int id)
{
    PAPI_option_t option;
    memset(&option, 0, sizeof option);
    option.inherit.eventset = id;
    option.inherit.inherit = PAPI_INHERIT_ALL;
    return counters->api->set_opt(PAPI_INHERIT, &option);
}

int counters_set_start(const struct counters *counters, const size_t *slot, size_t count,
                       bool of_threads, int *id, const char **call)
{
    const struct papi_api *api = counters->api;
    *id = PAPI_NULL;
    *call = "PAPI_create_eventset";
    int error = api->create_eventset(id);
    if (error != PAPI_OK)
        return error;
    if (of_threads && counters->inherited) {
        *call = "PAPI_set_opt(PAPI_INHERIT)";
        error = api->assign_eventset_component(*id, counters->perf_component);
        if (error == PAPI_OK)
            error = set_inherit(counters, *id);
    }
    for (size_t i = 0; i < count && error == PAPI_OK; i++) {
        *call = "PAPI_add_named_event";
        error = api->add_named_event(*id, counters->list[slot[i]].name);
    }
    if (error == PAPI_OK) {
        *call = "PAPI_start";
        error = api->start(*id);
    }
    if (error != PAPI_OK)
        counters_set_destroy(counters, *id);
    return error;
}

void event_set_init(struct event_set *events, int id, size_t *slot, size_t count)
{
    *events = (struct event_set){.id = id, .count = count};
    events->slot = slot;
    events->base = xcalloc(count, sizeof *events->base);
    events->now = xcalloc(count, sizeof *events->now);
}

void event_set_free(struct event_set *events)
{
    free(events->base);
    free(events->now);
}

void event_set_stop(const struct counters *counters, struct event_set *events)
{
    counters->api->stop(events->id, events->now);
    counters_set_destroy(counters, events->id);
}

/* Ms ------------------------------------------------------------------------------------------ */

/* Pre: counters->lock. */
static void threads_fail(struct counters *counters, const char *call, int error)
{
    if (!counters->thread_failure)
        counters->thread_failure = counters_reason(counters, call, error);
}

void counters_thread_add(struct counters *counters, const void *key)
{
    struct thread_set *thread = xcalloc(1, sizeof *thread);
    const char *call = "PAPI_register_thread";
    int id = PAPI_NULL;
    int error = counters->inherited ? PAPI_OK : counters->api->register_thread();
    if (error == PAPI_OK) {
        error =
            counters_set_start(counters, counters->slot, counters->slot_count, true, &id, &call);
        if (error != PAPI_OK && !counters->inherited)
            counters->api->unregister_thread();
    }
    if (error == PAPI_OK)
        event_set_init(&thread->events, id, counters->slot, counters->slot_count);
    thread->sum = xcalloc(counters->slot_count, sizeof *thread->sum);
    thread->key = key;
    thread->alive = error == PAPI_OK;
    lock_acquire(&counters->lock);
    if (error != PAPI_OK)
        threads_fail(counters, call, error);
    thread->next = counters->threads;
    counters->threads = thread;
    lock_release(&counters->lock);
}

void counters_thread_started(struct counters *counters, const void *key)
{
    counters_malloc_started(counters, key);
    if (!counters->inherited && counters->slot_count > 0)
        counters_thread_add(counters, key);
}

/* Pre: counters->lock. */
static bool thread_read(struct counters *counters, struct thread_set *thread, long long *values)
{
    int error = counters->api->read(thread->events.id, values);
    if (error != PAPI_OK)
        threads_fail(counters, "PAPI_read", error);
    return error == PAPI_OK;
}

/* Pre: counters->lock. Adds what was counted since base. */
static void thread_account(struct counters *counters, struct thread_set *thread)
{
    struct event_set *events = &thread->events;
    if (!thread_read(counters, thread, events->now))
        return;
    for (size_t i = 0; i < events->count; i++)
        thread->sum[i] += events->now[i] - events->base[i];
}

void counters_thread_stopping(struct counters *counters, const void *key)
{
    counters_malloc_stopping(counters, key);
    if (counters->inherited || counters->slot_count == 0)
        return;
    lock_acquire(&counters->lock);
    struct thread_set *thread = counters->threads;
    while (thread && !(thread->alive && thread->key == key))
        thread = thread->next;
    if (thread && counters->in_window)
        thread_account(counters, thread);
    if (thread)
        thread->alive = false;
    lock_release(&counters->lock);
    if (thread) {
        event_set_stop(counters, &thread->events);
        counters->api->unregister_thread();
    }
}

/* Windows ------------------------------------------------------------------------------------- */

void counters_begin(struct counters *counters)
{
    counters_own_begin(counters);
    lock_acquire(&counters->lock);
    for (struct thread_set *thread = counters->threads; thread; thread = thread->next)
        if (thread->alive)
            thread_read(counters, thread, thread->events.base);
    counters->in_window = true;
    lock_release(&counters->lock);
}

void counters_end(struct counters *counters)
{
    lock_acquire(&counters->lock);
    for (struct thread_set *thread = counters->threads; thread; thread = thread->next)
        if (thread->alive)
            thread_account(counters, thread);
    counters->in_window = false;
    lock_release(&counters->lock);
    counters_own_end(counters);
}

/* Results ------------------------------------------------------------------------------------- */

/* The reason of a counter without a value, or NULL. */
static const char *counter_absence(const struct counters *counters, const struct counter *counter)
{
    if (counter->absent)
        return counter->absent;
    return counter->sde < 0 ? counters->thread_failure : NULL;
}

static long long counter_value(const struct counters *counters, size_t which)
{
    long long value = counters->list[which].total;
    for (const struct thread_set *thread = counters->threads; thread; thread = thread->next)
        for (size_t i = 0; i < counters->slot_count; i++)
            if (counters->slot[i] == which)
                value += thread->sum[i];
    return value;
}

/* By the order of start; NULL where the event is not counted per M. */
static json_t *counter_per_m(const struct counters *counters, size_t which)
{
    const struct counter *counter = &counters->list[which];
    json_t *array = json_array();
    size_t count = 0, place = 0;
    if (counter->each_m && counter->each_m->count <= COUNTERS_PER_M_MAX) {
        count = counter->each_m->count;
        for (size_t m = 0; m < count; m++)
            json_array_append_new(array, json_integer(counter->each_m->sum[m]));
    } else if (counter->sde < 0 && !counters->inherited) {
        while (place < counters->slot_count && counters->slot[place] != which)
            place++;
        const struct thread_set *thread;
        for (thread = counters->threads; thread; thread = thread->next, count++)
            json_array_insert_new(array, 0, json_integer(thread->sum[place])); /* newest first */
    }
    if (count > 0 && count <= COUNTERS_PER_M_MAX)
        return array;
    json_decref(array);
    return NULL;
}

static void counter_to_json(const struct counters *counters, size_t which, uint64_t ops,
                            json_t *event)
{
    const struct counter *counter = &counters->list[which];
    long long value = counter_value(counters, which);
    json_object_set_new(event, "value", json_integer(value));
    enum counter_kind kind = counter->sde < 0 ? COUNTER_SUM : counter_sde_kind(counter->sde);
    if (kind == COUNTER_RUN)
        ops = counters->run_ops;
    if (ops > 0 && (kind == COUNTER_SUM || kind == COUNTER_RUN))
        json_object_set_new(event, "per_op", json_real((double)value / (double)ops));
    json_t *per_m = counter_per_m(counters, which);
    bool by_core = counter_sde_sim_event(counter->sde) >= 0;
    if (per_m)
        json_object_set_new(event, by_core ? "per_core" : "per_m", per_m);
}

json_t *counters_to_json(const struct counters *counters, uint64_t ops)
{
    json_t *array = json_array();
    for (size_t i = 0; i < counters->count; i++) {
        const struct counter *counter = &counters->list[i];
        json_t *event = json_pack("{ss ss}", "name", counter->name, "source", counter->source);
        const char *absent = counter_absence(counters, counter);
        if (absent)
            json_object_set_new(event, "absent", json_string(absent));
        else
            counter_to_json(counters, i, ops, event);
        json_array_append_new(array, event);
    }
    return array;
}

json_t *counters_describe(const struct counters *counters)
{
    json_t *array = json_array();
    for (size_t i = 0; i < counters->count; i++) {
        const struct counter *counter = &counters->list[i];
        json_t *event = json_pack("{ss ss ss}", "name", counter->name, "source", counter->source,
                                  "help", counter_help(counter->name));
        const char *absent = counter_absence(counters, counter);
        if (absent && strcmp(absent, COUNTERS_ELSEWHERE) != 0)
            json_object_set_new(event, "absent", json_string(absent));
        json_array_append_new(array, event);
    }
    return array;
}

bool counters_count_kernel(const struct counters *counters)
{
    return counters->kernel;
}
