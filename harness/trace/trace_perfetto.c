/* trace_perfetto.c - see trace.h: the Chrome JSON trace format, which ui.perfetto.dev opens.
 *
 * Process 1 has a track per M, process 2 one per P; the same slices are on both. Steals and
 * wake-ups are flow arrows between the tracks of Ms, whose ends are slices of their own, since
 * Perfetto binds an arrow to the slice around it. Lengths of queues are counters of process 2.
 * Requests of a program that is replayed are asynchronous slices of process 3, since a request may
 * come while its goroutine serves another.
 *
 * Source: Google, "Trace Event Format"; times are microseconds, with decimals.
 */
#include "harness/base/json_fields.h"
#include "harness/trace/trace.h"

#include <inttypes.h>

enum { PROCESS_MS = 1, PROCESS_PS = 2, PROCESS_REQUESTS = 3 };

static double us(int64_t ps)
{
    return (double)ps / 1e6;
}

static void add_names(json_t *events, int process, const char *name, char letter, int32_t tracks)
{
    json_array_append_new(events, json_pack("{ss ss si s{ss}}", "ph", "M", "name", "process_name",
                                            "pid", process, "args", "name", name));
    for (int32_t i = 0; i < tracks; i++) {
        char track[16];
        snprintf(track, sizeof track, "%c%" PRId32, letter, i);
        json_array_append_new(events,
                              json_pack("{ss ss si si s{ss}}", "ph", "M", "name", "thread_name",
                                        "pid", process, "tid", (int)i, "args", "name", track));
    }
}

static void add_slice(json_t *events, const char *name, const struct trace_slice *slice,
                      int process, int32_t track)
{
    static const char *const categories[] = {"goroutine", "task", "call"};
    if (track < 0)
        return;
    json_array_append_new(events, json_pack("{ss ss ss si si sf sf s{si si}}", "ph", "X", "name",
                                            name, "cat", categories[slice->kind], "pid", process,
                                            "tid", (int)track, "ts", us(slice->begin_ps), "dur",
                                            (double)(slice->end_ps - slice->begin_ps) / 1e6, "args",
                                            "m", (int)slice->m, "p", (int)slice->p));
}

/* One end of an arrow, and the slice it is bound to. */
static void add_flow(json_t *events, const char *phase, const char *name, size_t id, int32_t m,
                     double at_us)
{
    json_array_append_new(events, json_pack("{ss ss ss si si sf sf}", "ph", "X", "name", name,
                                            "cat", "arrow", "pid", PROCESS_MS, "tid", (int)m, "ts",
                                            at_us, "dur", 0.0));
    json_t *flow = json_pack("{ss ss ss sI si si sf}", "ph", phase, "name", name, "cat", "arrow",
                             "id", (json_int_t)id, "pid", PROCESS_MS, "tid", (int)m, "ts", at_us);
    if (*phase == 'f')
        json_object_set_new(flow, "bp", json_string("e"));
    json_array_append_new(events, flow);
}

static void add_arrows(json_t *events, const struct trace_story *story)
{
    for (size_t i = 0; i < story->arrows; i++) {
        const struct trace_arrow *arrow = &story->arrow[i];
        const char *name = arrow->steal ? "steal" : "wake-up";
        if (arrow->from_m < 0 || arrow->to_m < 0)
            continue;
        add_flow(events, "s", name, i + 1, arrow->from_m, us(arrow->from_ps));
        add_flow(events, "f", name, i + 1, arrow->to_m, us(arrow->to_ps));
    }
}

static void add_lengths(json_t *events, const struct trace_story *story)
{
    for (size_t i = 0; i < story->lengths; i++) {
        const struct trace_length *length = &story->length[i];
        char name[32] = "global queue";
        if (length->lane >= 0)
            snprintf(name, sizeof name, "queue of %c%" PRId32, story->by_m ? 'M' : 'P',
                     length->lane);
        json_array_append_new(events, json_pack("{ss ss si sf s{si}}", "ph", "C", "name", name,
                                                "pid", PROCESS_PS, "ts", us(length->when_ps),
                                                "args", "length", (int)length->length));
    }
}

static void add_request(json_t *events, const json_t *request, size_t id)
{
    const char *name = field_text(request, "name");
    for (int end = 0; end < 2; end++)
        json_array_append_new(events,
                              json_pack("{ss ss ss sI si si sf s{ss ss}}", "ph", end ? "e" : "b",
                                        "name", *name ? name : "request", "cat", "request", "id",
                                        (json_int_t)id, "pid", PROCESS_REQUESTS, "tid", 0, "ts",
                                        field_number(request, end ? "to_us" : "from_us"), "args",
                                        "goroutine", field_text(request, "goroutine"), "function",
                                        field_text(request, "function")));
}

static void add_requests(json_t *events, const struct trace_page *page)
{
    json_t *requests = trace_requests_to_json(page);
    size_t id = 0;
    if (json_array_size(requests) > 0)
        add_names(events, PROCESS_REQUESTS, "requests", ' ', 0);
    json_each(request, requests)
        add_request(events, request, ++id);
    json_decref(requests);
}

json_t *trace_perfetto_to_json(const struct trace_page *page)
{
    char text[TRACE_NAME_SIZE];
    struct trace_story story;
    trace_story_make(&story, page);
    json_t *events = json_array();
    add_names(events, PROCESS_MS, "threads (M)", 'M', story.ms);
    add_names(events, PROCESS_PS, "processors (P)", 'P', story.ps);
    for (size_t i = 0; i < story.slices; i++) {
        const struct trace_slice *slice = &story.slice[i];
        const char *name = slice->kind == SLICE_CALL ? "blocking call"
                                                     : trace_function_text(page, slice->id, text);
        add_slice(events, name, slice, PROCESS_MS, slice->m);
        add_slice(events, name, slice, PROCESS_PS, slice->p);
    }
    add_requests(events, page);
    add_arrows(events, &story);
    add_lengths(events, &story);
    json_t *object =
        json_pack("{so ss s{ss ss ss si sI sI sI}}", "traceEvents", events, "displayTimeUnit", "ns",
                  "otherData", "variant", page->variant, "workload", page->workload, "machine",
                  page->machine, "workers", page->workers, "seed", (json_int_t)page->seed, "events",
                  (json_int_t)page->trace.count, "not_kept",
                  (json_int_t)(page->trace.happened - page->trace.count));
    char left_out[128];
    if (*trace_left_out(page, left_out, sizeof left_out))
        json_object_set_new(json_object_get(object, "otherData"), "left_out",
                            json_string(left_out));
    trace_story_free(&story);
    return object;
}
