/* trace_html.c - see trace.h: a page to look around in.
 *
 * The page has its events as base64 of numbers of seven bits a byte, lowest first, the eighth bit
 * set on all but the last. An event is the ps since the one before, its text's place in the list of
 * texts, and twice its site, plus 1 if --only does not show it. Then come M + 1, its lane + 1, the
 * G or task, how many changes of the state follow, and these. A change is its kind, where, a and b.
 * Signed ones are folded: 0, -1, 1, -2 are 0, 1, 2, 3. In texts "G 0" or "T 0" stands for the name
 * of the G or task. So the script has neither the scheduler's words nor its rules. Stops are
 * [{"at": event from 0, "says": words}]. "meanings" has those of the texts' words. "names", if
 * there, has names for Gs and tasks; "functions" has the functions of Gs, by the names that these
 * have else. "before" is how many events come before those that two runs are compared by.
 */
#include "harness/base/text.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/evidence/replay_untold.h"
#include "harness/evidence/request_table.h"
#include "harness/trace/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 128 };

/* Base64 --------------------------------------------------------------------------------------- */

struct base64 {
    FILE *to;
    uint32_t bits;
    int count; /* of bytes in bits */
};

static void base64_flush(struct base64 *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = out->bits << 8 * (3 - out->count);
    for (int i = 0; i < 4; i++)
        putc_unlocked(i <= out->count ? digits[bits >> (18 - 6 * i) & 63] : '=', out->to);
    out->bits = 0;
    out->count = 0;
}

static void put_byte(struct base64 *out, uint8_t byte)
{
    out->bits = out->bits << 8 | byte;
    if (++out->count == 3)
        base64_flush(out);
}

static void put_number(struct base64 *out, uint64_t number)
{
    for (; number >= 128; number >>= 7)
        put_byte(out, (uint8_t)(number | 128));
    put_byte(out, (uint8_t)number);
}

static uint64_t folded(int64_t number)
{
    return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

/* Texts ---------------------------------------------------------------------------------------- */

/* The texts of events, each once, in the order in which they are first met. */
struct texts {
    json_t *list, *places;
};

static json_t *marks_to_json(const struct trace_service_mark *marks, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_pack("[iiii]", marks[i].service, marks[i].mark,
                                               marks[i].change, marks[i].lane));
    return array;
}

/* The thread of netpoll=thread has no M, as sysmon has none, and nothing else tells them apart. */
static const char POLLER_THREAD[] =
    " The thread of netpoll=thread has no M either and counts here.";

static json_t *services_to_json(const char *variant)
{
    json_t *array = json_array();
    bool has_thread = strstr(variant, "netpoll=thread") != NULL;
    for (int i = 0; i < TRACE_SERVICES; i++) {
        const struct trace_service *service = &trace_services[i];
        json_t *marks = json_array();
        char missing[TEXT_SIZE * 2];
        snprintf(missing, sizeof missing, "%s%s", service->missing,
                 i == TRACE_SYSMON && has_thread ? POLLER_THREAD : "");
        for (int k = 0; k < TRACE_MARK_KINDS; k++)
            json_array_append_new(marks, json_string(service->marks[k]));
        json_array_append_new(array, json_pack("{ss ss so ss}", "name", service->name, "count",
                                               service->count, "marks", marks, "missing", missing));
    }
    return array;
}

/* state: before the event. */
static uint64_t text_place(struct texts *texts, const struct trace_state *state,
                           const struct sched_trace_event *event)
{
    char text[TEXT_SIZE], key[2 * TEXT_SIZE];
    struct trace_service_mark marks[TRACE_SERVICE_MARKS];
    trace_event_nameless(state, event, text, sizeof text);
    size_t count = trace_service_marks(state, event, marks);
    snprintf(key, sizeof key, "%d %s", event->kind, text);
    for (size_t i = 0; i < count; i++)
        text_add(key, sizeof key, " %d %d %" PRId32, marks[i].service, marks[i].mark,
                 marks[i].lane);
    json_t *place = json_object_get(texts->places, key);
    if (!place) {
        place = json_integer((json_int_t)json_array_size(texts->list));
        json_object_set_new(texts->places, key, place);
        json_array_append_new(texts->list, json_pack("[sso]", sched_trace_names[event->kind], text,
                                                     marks_to_json(marks, count)));
    }
    return (uint64_t)json_integer_value(place);
}

/* Runs ----------------------------------------------------------------------------------------- */

static void changes_write(struct base64 *out, struct trace_changes *changes)
{
    put_number(out, changes->count);
    for (size_t i = 0; i < changes->count; i++) {
        const struct trace_change *change = &changes->change[i];
        put_number(out, change->kind);
        put_number(out, (uint64_t)change->where);
        put_number(out, folded((int32_t)change->a));
        put_number(out, folded((int32_t)change->b));
    }
    changes->count = 0;
}

static void events_write(struct base64 *out, const struct trace_page *page,
                         struct trace_state *state, struct texts *texts)
{
    struct trace_changes changes = {.count = 0};
    const struct trace_only *only = page->only;
    int64_t last_ps = page->trace.count > 0 ? page->trace.event[0].when_ps : 0;
    state->changes = &changes;
    for (size_t i = 0; i < page->trace.count; i++) {
        const struct sched_trace_event *event = &page->trace.event[i];
        bool of_task = event->kind >= SCHED_EVENT_FIRST_OF_TASKS;
        uint64_t text = text_place(texts, state, event);
        trace_state_apply(state, event);
        put_number(out, (uint64_t)(event->when_ps - last_ps));
        put_number(out, text);
        put_number(out, 2 * (uint64_t)event->site +
                            (only && !trace_only_has(only, &page->trace, event)));
        put_number(out, (uint64_t)event->m + 1);
        put_number(out, (uint64_t)trace_lane_of(state, event) + 1);
        put_number(out, folded((int32_t)(event->g | (of_task && event->g ? TRACE_TASK : 0))));
        changes_write(out, &changes);
        last_ps = event->when_ps;
    }
    if (out->count > 0)
        base64_flush(out);
    state->changes = NULL;
    free(changes.change);
}

static void run_write(FILE *to, const struct trace_page *page)
{
    struct trace_state state;
    struct texts texts = {json_array(), json_object()};
    struct base64 out = {.to = to};
    trace_state_init(&state, &page->trace, page->by_m, page->workers);
    fputs("<script type=\"text/plain\" class=\"events\">", to);
    events_write(&out, page, &state, &texts);
    fputs("</script>\n<script type=\"application/json\" class=\"run\">", to);
    json_t *run = json_pack(
        "{ss ss ss si sI sb si si sI sI sO so so so}", "variant", page->variant, "workload",
        page->workload, "machine", page->machine, "workers", page->workers, "seed",
        (json_int_t)page->seed, "by_m", page->by_m, "lanes", state.lanes, "ms", state.ms, "count",
        (json_int_t)page->trace.count, "happened", (json_int_t)page->trace.happened, "texts",
        texts.list, "services", services_to_json(page->variant), "source",
        trace_source_to_json(page), "meanings", trace_words_to_json(&page->trace));
    if (page->from_ps > 0 || page->to_ps > 0 || page->whole)
        json_object_set_new(
            run, "shown",
            json_pack("[II]", (json_int_t)page->from_ps / 1000, (json_int_t)page->to_ps / 1000));
    if (page->call_ps > 0)
        json_object_set_new(run, "call_ps", json_integer((json_int_t)page->call_ps));
    if (page->before > 0)
        json_object_set_new(run, "before", json_integer((json_int_t)page->before));
    if (page->names)
        json_object_set(run, "names", page->names);
    if (page->functions)
        json_object_set(run, "functions", page->functions);
    if (page->only)
        json_object_set_new(run, "only", json_string(trace_only_text(page->only)));
    if (state.odd)
        json_object_set_new(run, "odd", json_string(state.odd_text));
    html_json(to, run);
    fputs("</script>\n", to);
    if (page->stops) {
        fputs("<script type=\"application/json\" class=\"stops\">", to);
        html_json(to, page->stops);
        fputs("</script>\n", to);
    }
    json_decref(run);
    json_decref(texts.list);
    json_decref(texts.places);
    trace_state_free(&state);
}

/* The page ------------------------------------------------------------------------------------- */

static void parts_write(FILE *to, const struct trace_page *page)
{
    char *parts = request_table(page->record);
    if (*parts)
        html_put(to,
                 "<details class='parts'><summary>%s: where a request's time goes</summary>"
                 "<pre>%s</pre></details>\n",
                 page->variant, parts);
    else if (*request_table_absent(page->record))
        html_put(to, "<p class='note parts'>where a request's time goes: absent (%s)</p>\n",
                 request_table_absent(page->record));
    free(parts);
}

bool trace_html_write(const struct trace_page *const *pages, size_t count,
                      const struct trace_parting *parting, FILE *to, struct error *error)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n",
          to);
    char *title = trace_title(pages[0]);
    html_put(to, "<title>%s%s%s</title>", title, count > 1 ? " beside " : "",
             count > 1 ? pages[1]->variant : "");
    free(title);
    fputs("<style>\n", to);
    if (!html_viewer_part(to, "trace.css", error))
        return false;
    fputs("</style></head>\n", to);
    fprintf(to, "<body data-parts=\"%" PRId64 "\">\n", parting ? parting->at : -1);
    if (!html_viewer_part(to, "trace.html", error))
        return false;
    if (pages[0]->lead)
        html_put(to, "<p class='lead note'>%s</p>", pages[0]->lead);
    if (parting)
        html_put(to, "<p id='parting'>They part at event %lld: %s.</p>", (long long)parting->at + 1,
                 parting->sentence);
    else if (count > 1)
        html_put(to, "<p id='parting'>In order and effect both did the same.</p>");
    for (size_t i = 0; i < count; i++) {
        parts_write(to, pages[i]);
        run_write(to, pages[i]);
    }
    if (pages[0]->functions) /* a program that is replayed has functions of its own */
        html_put(to, "<p class='note'>%s</p>\n", REPLAY_UNTOLD);
    fputs("<script>\n", to);
    if (!html_viewer_part(to, "trace_run.js", error) || !html_viewer_part(to, "trace.js", error))
        return false;
    fputs("</script></body></html>\n", to);
    return true;
}
