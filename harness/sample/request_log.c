/* request_log.c - see request_log.h. */
#include "harness/sample/request_log.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/evidence/request_table.h"
#include "harness/sample/request_follow.h"
#include "harness/spec/outside.h"
#include "harness/spec/spec.h"
#include "machine.h"
#include "sched.h"
#include "workloads/request_parts.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <stdlib.h>

static bool listens, is_followed; /* the last call: by a scheduler, which has goroutines */

#if defined(SCHEDLAB_SIM)
#include "machine/sim/events.h"
#include "machine/sim/sim.h"

/* Follows it at once. */
static void on_event(const struct sim_sched_event *event)
{
    const struct request_event told = {
        .when_ps = event->when_ps,
        .g = event->g,
        .m = event->m,
        .a = event->a,
        .kind = event->kind,
        .lock = event->kind == SCHED_PARKED ? machine_self()->curg->wait_on : NULL,
    };
    request_follow_event(&told);
}

static void on_request(int32_t kind, int64_t due_ns, int64_t end_ns)
{
    const struct m *m = machine_self();
    if (m && m->curg)
        request_follow_request(m->curg->id, kind, due_ns * PS_PER_NS, end_ns * PS_PER_NS);
}

static void log_listen(void)
{
    static const struct sim_listener listener = {on_event, on_request, request_follow_name};
    sim_events_listen(&listener);
    listens = true;
}

static void call_begin(const struct m *m)
{
    request_follow_begin(m->id, m->curg->id, sim_now());
}

static bool parts_read(const json_t *record, char **why)
{
    (void)record;
    (void)why;
    return true;
}

static void log_end(void)
{
    sim_events_listen(NULL);
}
#elif MACHINE_KEEPS_EVENTS
#include "native/record.h"

_Static_assert((int)SCHED_EVENT_COUNT <= NATIVE_NOTES, "notes have numbers of their own");

/* On the thread that does it: the object for which its goroutine parks, else the goroutine. */
static int64_t about(unsigned kind)
{
    const struct m *m = machine_self();
    if (!m || !m->curg)
        return -1;
    return kind == SCHED_PARKED ? (int64_t)(intptr_t)m->curg->wait_on : (int64_t)m->curg->id;
}

static void log_listen(void)
{
    native_events_ask(about);
    listens = true;
}

static void call_begin(const struct m *m)
{
    native_note(NATIVE_CALL, m->id, 0, 0);
}

/* Follows one event after the other, with times since began_ns. */
static void event_follow(const struct native_event *event, int64_t began_ns)
{
    const struct request_event told = {
        .when_ps = (event->when_ns - began_ns) * 1000,
        .g = event->g,
        .m = event->m,
        .a = event->a,
        .kind = event->kind,
        .lock = (const void *)(intptr_t)event->about,
    };
    switch (event->kind) {
    case NATIVE_CALL:
        request_follow_begin((int32_t)event->g, event->about, told.when_ps);
        break;
    case NATIVE_REQUEST:
        if (event->about >= 0)
            request_follow_request(event->about, (int32_t)event->g,
                                   (event->note[0] - began_ns) * 1000,
                                   (event->note[1] - began_ns) * 1000);
        break;
    case NATIVE_LOCK_NAME:
        request_follow_name((const void *)(intptr_t)event->note[0],
                            (const char *)(intptr_t)event->note[1]);
        break;
    default:
        request_follow_event(&told);
    }
}

/* Reads what was recorded, after the threads have ended. */
static bool parts_read(const json_t *record, char **why)
{
    size_t count;
    uint64_t happened;
    bool is_cut;
    (void)record;
    struct native_event *events = native_events_take(&count, &happened, &is_cut);
    for (size_t i = 0; i < count && !is_cut; i++)
        event_follow(&events[i], events[0].when_ns);
    free(events);
    if (happened == 0)
        *why = text_format("no event was recorded");
    if (is_cut)
        *why = text_format("only the beginning was kept; --most keeps more");
    return !*why;
}

static void log_end(void)
{
}
#else
static void log_listen(void)
{
    listens = true;
}

static void call_begin(const struct m *m)
{
    (void)m;
}

/* Programs that measure record no events. */
static bool parts_read(const json_t *record, char **why)
{
    FILE *to = memory_stream(why, NULL);
    const char *variant = field_text(record, "variant"), *workload = field_text(record, "workload");
    fputs("real threads tell of no goroutine's steps while they are measured; schedlab", to);
    if (outside_is_named(variant) || outside_is_named(workload))
        outside_with_print(to);
    fputs(" trace ", to);
    shell_word_print(to, variant);
    fputc(' ', to);
    shell_word_print(to, workload);
    fprintf(to, " --workers %lld --machine native --most 1000000 --only main tells",
            field_integer(record, "workers"));
    fclose(to);
    return false;
}

static void log_end(void)
{
}
#endif

void request_log_begin(void)
{
    const struct m *m = machine_self();
    is_followed = listens && m && m->curg;
    if (is_followed)
        call_begin(m);
}

void request_log_end(void)
{
    log_end();
    request_follow_end();
    listens = is_followed = false;
}

static bool has_latency(const struct workload_spec *spec)
{
    return spec->workload->has_latency && spec->workload->has_latency(spec->params);
}

void request_log_listen(const struct workload_spec *spec)
{
    if (has_latency(spec) && !spec->workload->parts)
        log_listen();
}

void request_log_record(json_t *record, const struct workload_spec *spec, void *state)
{
    const struct workload *workload = spec->workload;
    struct request_parts parts[1 + REQUEST_CLASSES] = {{0}};
    size_t count = 1;
    char *why = NULL;
    if (!has_latency(spec))
        return;
    if (workload->parts)
        count = workload->parts(state, parts);
    else if (!is_followed)
        why = text_format("plain C has no goroutines to follow");
    else if (parts_read(record, &why))
        request_follow_parts(workload->request_kind ? workload->request_kind(spec->params) : 0,
                             parts);
    json_object_set_new(record, "request_parts", request_parts_to_json(parts, count, why));
    free(why);
}

static void request_add(const struct workload_request *request, void *arg)
{
    char copy[32] = "";
    if (request->copy > 0)
        snprintf(copy, sizeof copy, ", copy %" PRIu32, request->copy);
    char *goroutine = text_format("%s%s", request->goroutine, copy);
    /* a name that is no UTF-8 is none: the rest is told all the same */
    json_array_append_new(arg, json_pack("{so* so* so* sI sI}", "name", json_string(request->name),
                                         "goroutine", json_string(goroutine), "function",
                                         json_string(request->function), "from_ns",
                                         (json_int_t)request->from_ns, "to_ns",
                                         (json_int_t)request->to_ns));
    free(goroutine);
}

void request_log_list(json_t *record, const struct workload_spec *spec, void *state)
{
    if (!spec->workload->requests)
        return;
    json_t *requests = json_array();
    spec->workload->requests(state, request_add, requests);
    json_object_set_new(record, "requests", requests);
}
