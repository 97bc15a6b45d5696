/* trace_crop.c - see trace.h: finds the part of a run that is its program, without start-up and the
 * check.
 *
 * Before main runs the runtime starts, and calls to warm up may be made. When the answer is there,
 * main checks it, which is plain computing, and returns. No event says that the check begins. A
 * check starts, wakes and waits for nobody, and main can only be preempted in it. So it is taken to
 * begin after the last event that cannot be of a check. If main computes or is preempted at the end
 * of its own work, that is taken for the check's. Where main has no event of its own at all,
 * nothing tells its work from the check, and both are shown.
 */
#include "harness/trace/trace.h"
#include "sched.h"

enum { MAIN = 1 };

static bool is_of_main(const struct sched_trace_event *event)
{
    return event->g == MAIN && event->kind < SCHED_EVENT_FIRST_OF_TASKS;
}

/* Main's first step, or the first event in the call that was asked for; count if there is none. */
static size_t first_own(const struct trace_page *page)
{
    const struct sched_trace *trace = &page->trace;
    bool begun = false;
    for (size_t i = 0; i < trace->count; i++) {
        const struct sched_trace_event *event = &trace->event[i];
        begun = begun || (is_of_main(event) && event->kind == SCHED_DISPATCHED);
        if (begun && event->when_ps - trace->event[0].when_ps >= page->call_ps)
            return i;
    }
    return trace->count;
}

/* The last event that no check can have; 0 if main has not returned. Natively other goroutines may
 * end after it. */
static size_t last_own(const struct sched_trace *trace)
{
    bool preempted = false, returned = false;
    size_t last = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct sched_trace_event *event = &trace->event[i];
        if (!is_of_main(event)) {
            last = event->g ? i : last;
            continue;
        }
        returned = returned || event->kind == SCHED_RETURNED;
        preempted = preempted || (event->kind == SCHED_READIED && event->a == READY_PREEMPTED);
        last = preempted || returned ? last : i;
        preempted = preempted && event->kind != SCHED_DISPATCHED;
    }
    return returned ? last : 0;
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
