/* trace_state.c - see trace.h: what each worker runs and holds, event by event. */
#include "harness/trace/trace.h"

#include "harness/base/memory.h"
#include "harness/trace/diff.h"
#include "sched.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

char *trace_id_text(const struct sched_trace *trace, trace_id id, char text[SCHED_TRACE_NAME])
{
    return sched_trace_name(trace, id & ~TRACE_TASK, id & TRACE_TASK, text);
}

/* Queues -------------------------------------------------------------------------------------- */

static void note(struct trace_state *state, enum trace_change_kind kind, int32_t where, uint32_t a,
                 uint32_t b)
{
    struct trace_changes *changes = state->changes;
    if (changes)
        array_push(changes->change, changes->count, changes->room) =
            (struct trace_change){kind, where, a, b};
}

static void queue_push(struct trace_state *state, struct trace_queue *queue, trace_id id)
{
    array_push(queue->id, queue->count, queue->room) = id;
    note(state, CHANGE_PUSHED, queue->number, id, 0);
}

/* The place of the id in the queue; queue->count if it is not there. */
static size_t queue_find(const struct trace_queue *queue, trace_id id)
{
    size_t at = 0;
    while (at < queue->count && queue->id[at] != id)
        at++;
    return at;
}

static bool queue_remove(struct trace_state *state, struct trace_queue *queue, trace_id id)
{
    size_t at = queue_find(queue, id);
    if (at == queue->count)
        return false;
    note(state, CHANGE_REMOVED, queue->number, id, (uint32_t)at);
    memmove(&queue->id[at], &queue->id[at + 1], (--queue->count - at) * sizeof queue->id[0]);
    return true;
}

static void odd(struct trace_state *state, const struct sched_trace_event *event, const char *what)
{
    char text[100];
    if (state->odd++ == 0)
        snprintf(state->odd_text, sizeof state->odd_text, "%s: %s",
                 diff_event_text(state->trace, event, true, text, sizeof text), what);
}

/* Gs ------------------------------------------------------------------------------------------ */

static void next_set(struct trace_state *state, trace_id *slot, trace_id id)
{
    const struct trace_lane *lane =
        (const struct trace_lane *)((const char *)slot - offsetof(struct trace_lane, next));
    note(state, CHANGE_NEXT, (int32_t)(lane - state->lane), *slot, id);
    *slot = id;
}

static void g_leave(struct trace_state *state, trace_id id)
{
    struct trace_g *g = &state->g[id];
    if (g->queue)
        queue_remove(state, g->queue, id);
    if (g->slot && *g->slot == id)
        next_set(state, g->slot, 0);
    g->queue = NULL;
    g->slot = NULL;
}

static void g_enter(struct trace_state *state, trace_id id, struct trace_queue *queue)
{
    g_leave(state, id);
    queue_push(state, queue, id);
    state->g[id].queue = queue;
}

/* The first n of one queue go behind another one's last. */
static void gs_move(struct trace_state *state, struct trace_queue *from, struct trace_queue *to,
                    size_t n)
{
    while (n-- > 0 && from->count > 0)
        g_enter(state, from->id[0], to);
}

static void on_put(struct trace_state *state, const struct sched_trace_event *event, int32_t lane)
{
    struct trace_m *m = event->m >= 0 ? &state->m[event->m] : NULL;
    int32_t at = event->a == INTO_WORKER ? event->b : lane;
    if (m && m->pending == event->g)
        m->pending = 0;
    if (event->a == INTO_GLOBAL) {
        g_enter(state, event->g, &state->global);
        return;
    }
    if (at < 0 || at >= state->lanes) {
        odd(state, event, "no worker's queue is known");
        return;
    }
    if (event->a != INTO_RUNNEXT) {
        g_enter(state, event->g, &state->lane[at].queue);
        return;
    }
    trace_id *slot = &state->lane[at].next;
    g_leave(state, event->g);
    if (*slot && m) {
        m->pending = *slot; /* thrown out, and about to be put somewhere else */
        state->g[*slot].slot = NULL;
    }
    next_set(state, slot, event->g);
    state->g[event->g].slot = slot;
}

/* The event that says which of the stolen is run; NULL: they do not tell. */
static const struct sched_trace_event *taken_after(const struct trace_state *state,
                                                   const struct sched_trace_event *event)
{
    const struct sched_trace_event *taken = event + 1;
    const struct sched_trace_event *end = state->trace->event + state->trace->count;
    while (taken < end && taken->m != event->m)
        taken++;
    bool told = taken < end && taken->kind == SCHED_TAKEN && taken->a == FROM_VICTIM;
    return told ? taken : NULL;
}

/* Says that a sleep is what is over, and on whom it began if that is not who readies it. */
static void text_add_sleep(const struct trace_state *state, const struct sched_trace_event *event,
                           char *text, size_t size)
{
    const struct trace_g *g = event->kind == SCHED_READIED ? &state->g[event->g] : NULL;
    size_t length = strlen(text);
    if (!g || !g->waits || g->why != WAIT_SLEEP)
        return;
    text += length - 1; /* the bracket */
    size -= length - 1;
    if (g->parked_on >= 0 && g->parked_on != trace_lane_of(state, event))
        snprintf(text, size, ": its sleep, which began on %c%" PRId32 ", is over)",
                 state->by_m ? 'M' : 'P', g->parked_on);
    else
        snprintf(text, size, ": its sleep is over)");
}

static char *event_text(const struct trace_state *state, const struct sched_trace_event *event,
                        bool nameless, char *text, size_t size)
{
    const struct sched_trace_event *taken =
        event->kind == SCHED_STOLEN ? taken_after(state, event) : NULL;
    char letter = state->by_m ? 'M' : 'P';
    diff_event_text(nameless ? NULL : state->trace, event, false, text, size);
    text_add_sleep(state, event, text, size);
    if (!taken || taken->b < 0 || taken->b >= state->lanes)
        return text;
    if (event->b)
        snprintf(text, size, "stole what was in the runnext of %c%d", letter, (int)taken->b);
    else
        snprintf(text, size, "stole %d of the %zu in the queue of %c%d", (int)event->a,
                 state->lane[taken->b].queue.count, letter, (int)taken->b);
    return text;
}

char *trace_event_text(const struct trace_state *state, const struct sched_trace_event *event,
                       char *text, size_t size)
{
    return event_text(state, event, false, text, size);
}

char *trace_event_nameless(const struct trace_state *state, const struct sched_trace_event *event,
                           char *text, size_t size)
{
    return event_text(state, event, true, text, size);
}

/* The one to be run is the last of a stolen batch, and is said to be taken next; those before it
 * come along. */
static void on_stolen(struct trace_state *state, const struct sched_trace_event *event,
                      int32_t lane)
{
    const struct sched_trace_event *taken = taken_after(state, event);
    if (!taken)
        return;
    struct trace_queue *from = state->g[taken->g].queue;
    if (from && event->a > 1 && lane >= 0) {
        size_t before = queue_find(from, taken->g);
        size_t most = (size_t)event->a - 1;
        gs_move(state, from, &state->lane[lane].queue, before < most ? before : most);
    }
    if (from || state->g[taken->g].slot)
        state->m[event->m].pending = taken->g;
    g_leave(state, taken->g);
}

static void on_taken(struct trace_state *state, const struct sched_trace_event *event)
{
    struct trace_g *g = &state->g[event->g];
    if (!g->queue && !g->slot && event->g != state->m[event->m].pending)
        odd(state, event, "it is in no queue");
    g_leave(state, event->g);
}

/* The oldest of the own queue, or the newest, and last what was to be put there. */
static void on_overflow(struct trace_state *state, const struct sched_trace_event *event,
                        int32_t lane)
{
    struct trace_m *m = &state->m[event->m];
    if (lane >= 0) {
        struct trace_queue *queue = &state->lane[lane].queue;
        size_t n = (size_t)event->a - 1;
        if (event->b && n < queue->count)
            gs_move(state, queue, queue, queue->count - n); /* those that stay, to the end */
        gs_move(state, queue, &state->global, n);
    }
    if (m->pending)
        g_enter(state, m->pending, &state->global);
    m->pending = 0;
}

static void on_dispatch(struct trace_state *state, const struct sched_trace_event *event)
{
    struct trace_g *g = &state->g[event->g];
    struct trace_m *m = &state->m[event->m];
    if (!g->made)
        odd(state, event, "it was never made");
    if (g->ended)
        odd(state, event, "it has ended");
    g_leave(state, event->g);
    g->begun = true;
    g->waits = false;
    m->g = event->g;
    m->spins = m->sleeps = false;
    if (m->pending == event->g)
        m->pending = 0;
}

static void on_ready(struct trace_state *state, const struct sched_trace_event *event)
{
    struct trace_m *m = &state->m[event->m];
    state->g[event->g].waits = false;
    m->pending = event->g;
    bool leaves = event->a == READY_YIELD || event->a == READY_STEP_BACK ||
                  event->a == READY_PREEMPTED || event->a == READY_PARENT;
    if (leaves && m->g == event->g)
        m->g = 0;
}

static void on_end(struct trace_state *state, const struct sched_trace_event *event)
{
    struct trace_g *g = &state->g[event->g];
    struct trace_m *m = &state->m[event->m];
    if (!g->begun)
        odd(state, event, "it never began");
    g->ended = true;
    if (m->g == event->g)
        m->g = 0;
}

static void of_g(struct trace_state *state, const struct sched_trace_event *event, int32_t lane)
{
    struct trace_m *m = &state->m[event->m];
    struct trace_g *g = &state->g[event->g];
    switch (event->kind) {
    case SCHED_CREATED:
        *g = (struct trace_g){.made = true};
        break;
    case SCHED_READIED:
        on_ready(state, event);
        break;
    case SCHED_PUT:
        on_put(state, event, lane);
        break;
    case SCHED_TAKEN:
        on_taken(state, event);
        break;
    case SCHED_DISPATCHED:
        on_dispatch(state, event);
        break;
    case SCHED_PARKED:
        g->waits = true;
        g->why = event->a;
        g->parked_on = lane;
        if (m->g == event->g)
            m->g = 0;
        break;
    case SCHED_ENDED:
        on_end(state, event);
        break;
    case SCHED_CALL_BEGUN:
    case SCHED_CALL_OVER:
        m->in_call = event->kind == SCHED_CALL_BEGUN;
        break;
    default: /* RETURNED, JOINED, STALLED: it is told by what follows */
        break;
    }
}

/* Tasks --------------------------------------------------------------------------------------- */

static void task_begins(struct trace_state *state, const struct sched_trace_event *event)
{
    trace_id id = event->g | TRACE_TASK;
    struct trace_m *m = &state->m[event->m];
    bool found = false;
    for (int32_t i = 0; i < state->ms && !found; i++)
        found = queue_remove(state, &state->m[i].tasks, id);
    if (!found)
        odd(state, event, "nobody has spawned it");
    if (event->a == AS_CLAIMED)
        return;
    struct trace_stack *stack = &m->stack;
    size_t room = stack->room, count = stack->count;
    if (count)
        stack->stalled[count - 1] = true;
    array_push(stack->stalled, count, room) = false;
    array_push(stack->id, stack->count, stack->room) = id;
    note(state, CHANGE_BEGAN, event->m, id, 0);
}

static void of_task(struct trace_state *state, const struct sched_trace_event *event)
{
    struct trace_m *m = &state->m[event->m];
    switch (event->kind) {
    case SCHED_TASK_SPAWNED:
        queue_push(state, &m->tasks, event->g | TRACE_TASK);
        break;
    case SCHED_TASK_BEGUN:
        task_begins(state, event);
        break;
    case SCHED_TASK_DONE:
        break;
    default: /* SCHED_TASK_RETURNED */
        if (m->stack.count == 0 || m->stack.id[m->stack.count - 1] != (event->g | TRACE_TASK))
            odd(state, event, "it does not run there");
        else {
            m->stack.count--;
            note(state, CHANGE_ENDED, event->m, event->g | TRACE_TASK, 0);
        }
    }
}

/* Ms and Ps ----------------------------------------------------------------------------------- */

static void p_set(struct trace_state *state, int32_t m, int32_t p)
{
    if (state->m[m].p != p)
        note(state, CHANGE_P, m, (uint32_t)state->m[m].p, (uint32_t)p);
    state->m[m].p = p;
}

/* Nobody works for the P, and the M that did holds none. */
static void p_leave(struct trace_state *state, int32_t p)
{
    for (int32_t i = 0; i < state->ms; i++)
        if (state->m[i].p == p)
            p_set(state, i, -1);
    if (!state->by_m && p >= 0 && p < state->lanes)
        state->lane[p].m = -1;
}

static void p_take(struct trace_state *state, int32_t m, int32_t p)
{
    if (state->m[m].p == p)
        return;
    p_leave(state, p);
    if (!state->by_m && state->m[m].p >= 0)
        state->lane[state->m[m].p].m = -1;
    p_set(state, m, p);
    if (!state->by_m && p < state->lanes)
        state->lane[p].m = m;
}

static void of_m(struct trace_state *state, const struct sched_trace_event *event, int32_t lane)
{
    struct trace_m *m = &state->m[event->m];
    switch (event->kind) {
    case SCHED_STOLEN:
        on_stolen(state, event, lane);
        break;
    case SCHED_MOVED:
        /* the one to be run is still the first, and is said to be taken next */
        if (lane >= 0 && state->global.count > 0) {
            trace_id first = state->global.id[0];
            queue_remove(state, &state->global, first);
            gs_move(state, &state->global, &state->lane[lane].queue, (size_t)event->a);
            state->g[first].queue = NULL;
            m->pending = first;
        }
        break;
    case SCHED_OVERFLOWED:
        on_overflow(state, event, lane);
        break;
    case SCHED_SPUN:
        m->spins = true;
        break;
    case SCHED_SLEPT:
        m->spins = false;
        m->sleeps = true;
        m->g = 0;
        break;
    case SCHED_P_TAKEN:
        m->sleeps = false;
        break;
    case SCHED_P_IDLED:
    case SCHED_P_HANDED_OFF:
        p_leave(state, event->a);
        break;
    default: /* nothing that a queue or a worker shows */
        break;
    }
}

/* True if the M comes back from a call to a P that others have now. */
static bool lost_p(const struct trace_state *state, const struct sched_trace_event *event)
{
    return event->kind == SCHED_CALL_OVER && !state->by_m && event->m >= 0 &&
           state->m[event->m].p != event->p;
}

int32_t trace_lane_of(const struct trace_state *state, const struct sched_trace_event *event)
{
    int32_t lane = state->by_m ? event->m : event->p;
    if (lost_p(state, event))
        return -1;
    return lane >= 0 && lane < state->lanes ? lane : -1;
}

char *trace_who(const struct trace_state *state, const struct sched_trace_event *event, char *text,
                size_t size)
{
    int32_t lane = trace_lane_of(state, event);
    if (lane >= 0)
        snprintf(text, size, "%c%" PRId32, state->by_m ? 'M' : 'P', lane);
    else if (event->m >= 0)
        snprintf(text, size, "M%" PRId32, event->m);
    else
        snprintf(text, size, "sysmon");
    return text;
}

static uint32_t flags_of(const struct trace_m *m)
{
    return (uint32_t)m->in_call | (uint32_t)m->spins << 1 | (uint32_t)m->sleeps << 2;
}

static void apply(struct trace_state *state, const struct sched_trace_event *event)
{
    if (event->kind == SCHED_P_TAKEN)
        p_take(state, event->m, event->a);
    else if (event->p >= 0 && event->kind != SCHED_P_IDLED && event->kind != SCHED_P_HANDED_OFF &&
             !lost_p(state, event))
        p_take(state, event->m, event->p);
    int32_t lane = trace_lane_of(state, event);
    if (event->kind >= SCHED_EVENT_FIRST_OF_TASKS)
        of_task(state, event);
    else if (event->kind >= SCHED_EVENT_FIRST_OF_MS)
        of_m(state, event, lane);
    else
        of_g(state, event, lane);
}

/* Applies an event of sysmon, or of another thread that is no M. */
static void apply_of_no_m(struct trace_state *state, const struct sched_trace_event *event)
{
    switch (event->kind) {
    case SCHED_READIED:
        state->g[event->g].waits = false;
        break;
    case SCHED_PUT:
        on_put(state, event, -1);
        break;
    case SCHED_P_IDLED:
    case SCHED_P_HANDED_OFF:
        p_leave(state, event->a);
        break;
    default: /* it asks, wakes or starts others, whose own events follow */
        break;
    }
}

void trace_state_apply(struct trace_state *state, const struct sched_trace_event *event)
{
    if (event->m < 0) {
        apply_of_no_m(state, event);
        return;
    }
    struct trace_m *m = &state->m[event->m];
    uint32_t g = m->g, flags = flags_of(m);
    apply(state, event);
    if (m->g != g)
        note(state, CHANGE_RUNS, event->m, g, m->g);
    if (flags_of(m) != flags)
        note(state, CHANGE_FLAGS, event->m, flags, flags_of(m));
}

void trace_times_rise(struct sched_trace *trace)
{
    for (size_t i = 1; i < trace->count; i++)
        if (trace->event[i].when_ps < trace->event[i - 1].when_ps)
            trace->event[i].when_ps = trace->event[i - 1].when_ps;
}

/* The whole ----------------------------------------------------------------------------------- */

static int32_t at_least(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

void trace_state_init(struct trace_state *state, const struct sched_trace *trace, bool by_m,
                      int32_t lanes)
{
    *state = (struct trace_state){.by_m = by_m, .trace = trace};
    int32_t ms = 1, ps = 1;
    for (size_t i = 0; i < trace->count; i++) {
        const struct sched_trace_event *event = &trace->event[i];
        bool of_m = event->kind == SCHED_WOKEN || event->kind == SCHED_THREAD_STARTED;
        ms = at_least(ms, at_least(event->m, of_m ? event->a : 0) + 1);
        ps = at_least(ps, at_least(event->p, event->kind == SCHED_P_TAKEN ? event->a : 0) + 1);
        if (event->kind < SCHED_EVENT_FIRST_OF_MS && event->g >= state->gs)
            state->gs = event->g + 1;
    }
    state->ms = ms;
    state->lanes = by_m ? ms : at_least(ps, lanes);
    state->m = xcalloc((size_t)ms, sizeof state->m[0]);
    state->lane = xcalloc((size_t)state->lanes, sizeof state->lane[0]);
    state->g = xcalloc((size_t)state->gs + 1, sizeof state->g[0]);
    for (int32_t i = 0; i < ms; i++) {
        state->m[i].p = -1;
        state->m[i].tasks.number = 1 + state->lanes + i;
    }
    for (int32_t i = 0; i < state->lanes; i++) {
        state->lane[i].m = by_m ? i : -1;
        state->lane[i].queue.number = 1 + i;
    }
}

void trace_state_free(struct trace_state *state)
{
    for (int32_t i = 0; i < state->ms; i++) {
        free(state->m[i].tasks.id);
        free(state->m[i].stack.id);
        free(state->m[i].stack.stalled);
    }
    for (int32_t i = 0; i < state->lanes; i++)
        free(state->lane[i].queue.id);
    free(state->global.id);
    free(state->m);
    free(state->lane);
    free(state->g);
}

trace_id trace_lane_runs(const struct trace_state *state, int32_t i)
{
    if (state->lane[i].m < 0)
        return 0;
    const struct trace_m *m = &state->m[state->lane[i].m];
    return m->g && m->stack.count ? m->stack.id[m->stack.count - 1] : m->g;
}

size_t trace_lane_length(const struct trace_state *state, int32_t i)
{
    const struct trace_lane *lane = &state->lane[i];
    size_t tasks = lane->m >= 0 ? state->m[lane->m].tasks.count : 0;
    return lane->queue.count + (lane->next != 0) + tasks;
}
