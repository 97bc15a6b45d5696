/* trace_crop.c - see trace.h: what of a run is its program, without start-up and the check.
 *
 * A run has more than the program that a reader asked for. Before main's first own event the
 * runtime starts, and calls to warm up are made. When the answer is there, main checks it, which
 * is plain computing, and returns. No event says that the check begins, so it follows from what a
 * check cannot do: it starts, wakes and waits for nobody, and main can only be preempted in it. If
 * main is preempted at the end of its own work, that is taken for the check's.
 */
#include "harness/trace/trace.h"
#include "sched.h"

#include <inttypes.h>

enum { MAIN = 1 };

static bool is_of_task(const struct sched_trace_event *event)
{
    return event->kind >= SCHED_EVENT_FIRST_OF_TASKS;
}

static bool is_of_main(const struct sched_trace_event *event)
{
    return event->g == MAIN && !is_of_task(event);
}

/* The first event of any goroutine or task after main has begun, in the call that was asked for;
 * count if there is none. */
static size_t first_own(const struct trace_page *page)
{
    const struct sched_trace *trace = &page->trace;
    bool begun = false;
    for (size_t i = 0; i < trace->count; i++) {
        const struct sched_trace_event *event = &trace->event[i];
        bool in_call = event->when_ps - trace->event[0].when_ps >= page->call_ps;
        if (begun && in_call && event->g)
            return i;
        begun = begun || (is_of_main(event) && event->kind == SCHED_DISPATCHED);
    }
    return trace->count;
}

/* The last event that no check can have, up to main's return; 0 if main has not returned. */
static size_t last_own(const struct sched_trace *trace)
{
    bool preempted = false;
    size_t last = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct sched_trace_event *event = &trace->event[i];
        if (!is_of_main(event)) {
            last = event->g ? i : last;
            continue;
        }
        if (event->kind == SCHED_RETURNED)
            return last;
        preempted = preempted || (event->kind == SCHED_READIED && event->a == READY_PREEMPTED);
        last = preempted ? last : i;
        preempted = preempted && event->kind != SCHED_DISPATCHED;
    }
    return 0;
}

void trace_crop(struct trace_page *page)
{
    size_t first = first_own(page), last = last_own(&page->trace);
    page->startup = first < page->trace.count ? first : 0;
    page->check = last > page->startup ? page->trace.count - 1 - last : 0;
}

char *trace_left_out(const struct trace_page *page, char *text, size_t size)
{
    *text = '\0';
    if (page->startup + page->check > 0)
        snprintf(text, size,
                 "Left out: %zu event%s of start-up%s, %zu of the check; --whole shows them.",
                 page->startup, page->startup == 1 ? "" : "s",
                 page->call_ps > 0 ? " and warming up" : "", page->check);
    return text;
}
