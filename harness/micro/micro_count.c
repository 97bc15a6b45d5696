/* micro_count.c - see micro_count.h. */
#include "harness/micro/micro_count.h"

#include "g.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_SIZE = 256 };

static char *thread_events;              /* comma-separated; "none" */
static struct counters *process;         /* NULL: none of its events is asked for */
static const struct micro_count *called; /* the call that is on, for the process's events */
static json_t *absences_told;            /* names of events whose absence has been said */

static uint64_t source_read(void *arg, enum stat_id which)
{
    (void)arg;
    return called && called->sched && *called->sched ? sched_stat(*called->sched, which) : 0;
}

static const char *source_absent(void *arg, enum stat_id which)
{
    (void)arg;
    if (which == STAT_UNSTARTED_GS_PEAK || which == STAT_TASKS_LIVE_PEAK)
        return "not counted for single operations; `schedlab run` may";
    return NULL;
}

/* The list is known to be valid. */
static struct counters *counters_make(const char *events, enum counters_threads threads)
{
    struct error error;
    struct counters *counters = counters_new(&papi_api_native, events, threads, &error);
    if (!counters)
        fatal("counters_make: %s", error.text);
    return counters;
}

/* The names of one of the two kinds, "a,b,c", or "none". */
static char *names_of(const struct counter_names *names, bool of_process)
{
    char *text = NULL;
    const char *comma = "";
    FILE *to = memory_stream(&text, NULL);
    for (size_t i = 0; i < names->count; i++) {
        if ((counter_sde_find(names->name[i]) >= 0) != of_process)
            continue;
        fprintf(to, "%s%s", comma, names->name[i]);
        comma = ",";
    }
    if (!*comma)
        fputs("none", to);
    fclose(to);
    return text;
}

/* where: the variant in which alone it is absent, or NULL. Nothing is said twice. */
static void absence_tell(const char *name, const char *where, const char *reason)
{
    char what[NAME_SIZE];
    const char *stand_in = where ? counter_stand_in(name) : NULL;
    snprintf(what, sizeof what, "%s%s%s", name, where ? " in " : "", where ? where : "");
    if (!absences_told)
        absences_told = json_object();
    if (json_object_get(absences_told, name) || json_object_get(absences_told, what))
        return;
    json_object_set_new(absences_told, what, json_true());
    fprintf(stderr, "not counted: %s: %s%s%s\n", what, reason, stand_in ? "; in its place: " : "",
            stand_in ? stand_in : "");
}

/* Before the first variant of its own makes one of these look like its fault. */
static void absences_of_all_tell(void)
{
    static bool told;
    if (told)
        return;
    told = true;
    struct counters *counters = counters_make(thread_events, COUNTERS_PER_THREAD);
    json_t *list = counters_describe(counters);
    json_each(event, list) {
        const char *absent = json_string_value(json_object_get(event, "absent"));
        if (absent)
            absence_tell(json_string_value(json_object_get(event, "name")), NULL, absent);
    }
    json_decref(list);
    counters_free(counters);
}

void micro_count_list(const char *events)
{
    static const struct counters_source source = {.read = source_read, .absent = source_absent};
    struct counter_names names;
    struct error error;
    if (!counter_names_split(&names, events ? events : "none", &error))
        fatal("micro_count_list: %s", error.text);
    thread_events = names_of(&names, false);
    char *process_events = names_of(&names, true);
    if (strcmp(process_events, "none") != 0) {
        process = counters_make(process_events, COUNTERS_PER_THREAD);
        counters_bind(process, &source);
    }
    free(process_events);
    counter_names_free(&names);
}

void micro_count_open(struct micro_count *count, struct sched *const *sched, const char *come_in)
{
    *count = (struct micro_count){.sched = sched, .come_in = come_in};
    called = count;
    if (process)
        count->before = counters_to_json(process, 1);
    if (strcmp(thread_events, "none") == 0)
        return;
    if (come_in)
        absences_of_all_tell();
    count->threads =
        counters_make(thread_events, come_in ? COUNTERS_INHERITED : COUNTERS_PER_THREAD);
    counters_bind(count->threads, NULL);
}

void micro_count_close(struct micro_count *count)
{
    if (count->threads)
        counters_free(count->threads);
    json_decref(count->before);
    called = NULL;
}

void micro_count_thread(struct micro_count *count, const void *key)
{
    if (process && !count->come_in)
        counters_thread_started(process, key); /* for malloc's bytes */
    if (count->threads)
        counters_thread_started(count->threads, key);
}

/* To PAPI the first thread stays: leaving would take the process's events with it. Its set ends
 * with the call. */
void micro_count_thread_end(struct micro_count *count, const void *key)
{
    if (process && !count->come_in)
        counters_thread_stopping(process, key);
    if (count->threads && gettid() != getpid())
        counters_thread_stopping(count->threads, key);
}

void micro_count_begin(struct micro_count *count)
{
    if (process)
        counters_begin(process);
    if (count->threads)
        counters_begin(count->threads);
}

void micro_count_end(struct micro_count *count)
{
    if (count->threads)
        counters_end(count->threads);
    if (process)
        counters_end(process);
}

/* Results ------------------------------------------------------------------------------------- */

/* Why this call has no value of an event, and where alone that is so; NULL if it has one. */
static const char *event_absence(const struct micro_count *count, const json_t *event, int own,
                                 const char **where)
{
    const char *absent = json_string_value(json_object_get(event, "absent"));
    *where = own < 0 ? count->come_in : NULL;
    if (absent || own < 0)
        return absent;
    if (counter_sde_kind(own) == COUNTER_RUN || counter_sde_kind(own) == COUNTER_RUN_PEAK)
        return "counted over whole runs only; `schedlab run` may";
    *where = count->come_in;
    if (counter_sde_is_by_thread(own) && count->come_in)
        return "its threads come and go, and jemalloc counts by thread";
    return NULL;
}

static double value_of(const json_t *event)
{
    return (double)json_integer_value(json_object_get(event, "value"));
}

/* before: the same list at the beginning of the call, or NULL: it began with zero. */
static void list_show(const struct micro_count *count, const json_t *list, const json_t *before,
                      struct gbench_state *state, double share)
{
    bool has_scheduler = count->sched != NULL;
    size_t i;
    const json_t *event;
    json_array_foreach(list, i, event)
    {
        const char *name = json_string_value(json_object_get(event, "name"));
        int own = counter_sde_find(name);
        const char *where, *absent = event_absence(count, event, own, &where);
        if (absent) {
            absence_tell(name, where, absent);
        } else if (own >= STAT_COUNT || own < 0 || has_scheduler) {
            bool sum = own < 0 || counter_sde_kind(own) == COUNTER_SUM;
            double value = value_of(event);
            if (before && sum)
                value -= value_of(json_array_get(before, i));
            gbench_count(state, own >= 0 ? counter_sde_name(own) : name,
                         sum ? value * share : value,
                         sum ? GBENCH_COUNTER_TOTAL : GBENCH_COUNTER_FIGURE);
        }
    }
}

void micro_count_show(const struct micro_count *count, struct gbench_state *state, double share)
{
    if (process) {
        json_t *list = counters_to_json(process, 1);
        list_show(count, list, count->before, state, share);
        json_decref(list);
    }
    if (count->threads) {
        json_t *list = counters_to_json(count->threads, 1);
        list_show(count, list, NULL, state, share);
        json_decref(list);
    }
}
