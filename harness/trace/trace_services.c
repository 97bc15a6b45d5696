/* trace_services.c - see trace.h: what an event says of timers, of the poller and of sysmon.
 *
 * None of the three has events of its own. A sleep begins when a goroutine parks for it, and is
 * over when a worker readies that goroutine. The poller found what is readied "(I/O)". Whatever is
 * done without an M is done by sysmon.
 */
#include "harness/trace/trace.h"

#include "sched.h"

const struct trace_service trace_services[TRACE_SERVICES] = {
    [TRACE_TIMERS] = {"timers",
                      "how many sleep",
                      {"a sleep begins", "it is over", "it is over, found by another worker",
                       "it is over before the goroutine has parked"},
                      "Timers that are no sleeps leave no event. Nor does a trace have when a "
                      "sleep was due, so it does not show how late one is."},
    [TRACE_POLLER] = {"poller",
                      "how many wait for I/O",
                      {"a goroutine waits for I/O", "the poller finds it ready",
                       "its wait ends otherwise: by a deadline, or a close",
                       "it is ready before the goroutine has parked"},
                      "A poll that finds nothing leaves no event."},
    [TRACE_SYSMON] = {"sysmon",
                      "",
                      {"it starts or wakes a thread", "it readies what I/O made ready",
                       "it takes a P from a call", "it asks a thread to let another goroutine run"},
                      "A look that changes nothing leaves no event."},
};

/* The row that shows waits of that kind; TRACE_SERVICES: none does. */
static enum trace_service_id row_of_wait(int32_t why)
{
    switch (why) {
    case WAIT_SLEEP:
        return TRACE_TIMERS;
    case WAIT_IO_READ:
    case WAIT_IO_WRITE:
        return TRACE_POLLER;
    default:
        return TRACE_SERVICES;
    }
}

/* The mark of the end of a wait. */
static int end_of_wait(const struct trace_state *state, const struct sched_trace_event *event,
                       enum trace_service_id row)
{
    enum { OVER = 1, OTHERWISE = 2, EARLY = 3 };
    if (event->kind != SCHED_READIED)
        return EARLY;
    if (row == TRACE_POLLER)
        return event->a == READY_POLLED || event->a == READY_INJECTED ? OVER : OTHERWISE;
    return state->g[event->g].parked_on == trace_lane_of(state, event) ? OVER : OTHERWISE;
}

static size_t add(struct trace_service_mark *marks, size_t count, enum trace_service_id row,
                  int mark, int change, int32_t lane)
{
    marks[count] = (struct trace_service_mark){row, mark, change, lane};
    return count + 1;
}

/* The lane of an M; -1: it has none. */
static int32_t lane_of_m(const struct trace_state *state, int32_t m)
{
    if (m < 0 || m >= state->ms)
        return -1;
    return state->by_m ? m : state->m[m].p;
}

static size_t add_sysmon(const struct trace_state *state, const struct sched_trace_event *event,
                         struct trace_service_mark *marks, size_t count)
{
    enum { STARTS = 0, READIES = 1, TAKES = 2, ASKS = 3 };
    switch (event->kind) {
    case SCHED_PREEMPT_ASKED:
        return add(marks, count, TRACE_SYSMON, ASKS, 0, lane_of_m(state, event->a));
    case SCHED_P_HANDED_OFF:
    case SCHED_P_IDLED:
        return add(marks, count, TRACE_SYSMON, TAKES, 0, state->by_m ? -1 : event->a);
    case SCHED_READIED:
        return add(marks, count, TRACE_SYSMON, READIES, 0, -1);
    case SCHED_WOKEN:
    case SCHED_THREAD_STARTED:
        return add(marks, count, TRACE_SYSMON, STARTS, 0, -1);
    default:
        return count;
    }
}

size_t trace_service_marks(const struct trace_state *state, const struct sched_trace_event *event,
                           struct trace_service_mark marks[TRACE_SERVICE_MARKS])
{
    size_t count = 0;
    bool of_g = event->kind < SCHED_EVENT_FIRST_OF_MS && event->g > 0;
    if (of_g && event->kind == SCHED_PARKED) {
        enum trace_service_id row = row_of_wait(event->a);
        if (row != TRACE_SERVICES)
            count = add(marks, count, row, 0, 1, -1);
    } else if (of_g && state->g[event->g].waits &&
               (event->kind == SCHED_READIED || event->kind == SCHED_DISPATCHED)) {
        enum trace_service_id row = row_of_wait(state->g[event->g].why);
        if (row != TRACE_SERVICES)
            count = add(marks, count, row, end_of_wait(state, event, row), -1, -1);
    }
    return event->m < 0 ? add_sysmon(state, event, marks, count) : count;
}
