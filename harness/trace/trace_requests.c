/* trace_requests.c - the requests of a program that is replayed, in its own words: see trace.h. */
#include "harness/base/json_fields.h"
#include "harness/trace/trace.h"

enum { SHOWN_MAX = 24 };

/* Where what is shown begins and ends, whatever events --only leaves of it. */
static void window_find(const struct trace_page *page, double *first_us, double *last_us)
{
    const struct sched_trace *trace = &page->trace;
    *first_us = (double)page->from_ps / 1e6;
    if (page->startup > 0 && page->startup < trace->count)
        *first_us = (double)trace->event[page->startup].when_ps / 1e6;
    *last_us = (double)page->to_ps / 1e6;
    if (page->to_ps == 0 && trace->count > page->check)
        *last_us = (double)trace->event[trace->count - page->check - 1].when_ps / 1e6;
}

json_t *trace_requests_to_json(const struct trace_page *page)
{
    const json_t *requests = json_object_get(page->record, "requests");
    double first_us, last_us;
    if (!requests)
        return NULL;
    json_t *array = json_array();
    window_find(page, &first_us, &last_us);
    json_each(request, requests) {
        double from_us = (double)(field_integer(request, "from_ns") - page->first_ns) / 1e3;
        double to_us = (double)(field_integer(request, "to_ns") - page->first_ns) / 1e3;
        if (to_us < first_us || from_us > last_us)
            continue;
        json_t *shown = json_pack("{ss ss ss}", "name", field_text(request, "name"), "goroutine",
                                  field_text(request, "goroutine"), "function",
                                  field_text(request, "function"));
        json_object_set_new(shown, "from_us", json_real(from_us));
        json_object_set_new(shown, "to_us", json_real(to_us));
        json_array_append_new(array, shown);
    }
    return array;
}

void trace_requests_print(const struct trace_page *page, FILE *to)
{
    json_t *requests = trace_requests_to_json(page);
    size_t shown = 0, count = json_array_size(requests);
    if (count > 0)
        fprintf(to, "\nRequests, us:\n  %12s %12s  goroutine, and the name of the request\n",
                "from", "to");
    json_each(request, requests) {
        if (shown++ == SHOWN_MAX)
            break;
        const char *name = field_text(request, "name");
        fprintf(to, "  %12.3f %12.3f  %s (%s)%s%s\n", field_number(request, "from_us"),
                field_number(request, "to_us"), field_text(request, "goroutine"),
                field_text(request, "function"), *name ? ": " : "", name);
    }
    if (count > SHOWN_MAX)
        fprintf(to, "  and %zu more with --format json\n", count - SHOWN_MAX);
    json_decref(requests);
}
