/* trace_story.c - see trace.h: who ran when, who stole from whom, who woke whom, queue lengths. */
#include "harness/trace/trace.h"

#include "harness/base/memory.h"
#include "sched.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

/* The slices that are open on an M while the events are gone through, as indices. */
struct open_m {
    ssize_t g, call;
    ssize_t *task;
    size_t tasks, room;
    int64_t woken_ps; /* by whom, when; until it does something */
    int32_t woken_by, woken_by_lane;
};

struct teller {
    struct trace_story *story;
    struct trace_state state;
    struct open_m *m;
    size_t slice_room, arrow_room, length_room;
    uint32_t *length; /* by lane, the last one told; behind them that of the global queue */
};

static ssize_t slice_open(struct teller *teller, const struct sched_trace_event *event, trace_id id,
                          enum trace_slice_kind kind, size_t depth)
{
    struct trace_story *story = teller->story;
    array_push(story->slice, story->slices, teller->slice_room) =
        (struct trace_slice){.begin_ps = event->when_ps,
                             .end_ps = -1,
                             .id = id,
                             .m = event->m,
                             .p = event->p,
                             .kind = kind,
                             .depth = (uint32_t)depth};
    return (ssize_t)story->slices - 1;
}

static void slice_close(struct teller *teller, ssize_t *slice, int64_t when_ps)
{
    if (*slice != NONE)
        teller->story->slice[*slice].end_ps = when_ps;
    *slice = NONE;
}

static void arrow_add(struct teller *teller, const struct trace_arrow *arrow)
{
    struct trace_story *story = teller->story;
    array_push(story->arrow, story->arrows, teller->arrow_room) = *arrow;
}

static void m_stops(struct teller *teller, const struct sched_trace_event *event)
{
    slice_close(teller, &teller->m[event->m].call, event->when_ps);
    slice_close(teller, &teller->m[event->m].g, event->when_ps);
}

/* True if the G of the event leaves the M on which it ran. */
static bool leaves(const struct teller *teller, const struct sched_trace_event *event)
{
    ssize_t open = teller->m[event->m].g;
    if (open == NONE || teller->story->slice[open].id != event->g)
        return false;
    if (event->kind == SCHED_READIED)
        return event->a == READY_YIELD || event->a == READY_STEP_BACK ||
               event->a == READY_PREEMPTED || event->a == READY_PARENT ||
               event->a == READY_INJECTED;
    return event->kind == SCHED_PARKED || event->kind == SCHED_RETURNED ||
           event->kind == SCHED_ENDED;
}

static void tell_g(struct teller *teller, const struct sched_trace_event *event)
{
    struct open_m *m = &teller->m[event->m];
    if (leaves(teller, event))
        m_stops(teller, event);
    switch (event->kind) {
    case SCHED_DISPATCHED:
        m_stops(teller, event);
        m->g = slice_open(teller, event, event->g, SLICE_G, 0);
        break;
    case SCHED_CALL_BEGUN:
        m->call = slice_open(teller, event, event->g, SLICE_CALL, 0);
        break;
    case SCHED_CALL_OVER:
        slice_close(teller, &m->call, event->when_ps);
        break;
    default:
        break;
    }
}

static void tell_task(struct teller *teller, const struct sched_trace_event *event)
{
    struct open_m *m = &teller->m[event->m];
    if (event->kind == SCHED_TASK_BEGUN && event->a != AS_CLAIMED) {
        ssize_t below = m->tasks > 0 ? m->task[m->tasks - 1] : m->g;
        if (below != NONE)
            teller->story->slice[below].covered = true;
        ssize_t slice = slice_open(teller, event, event->g | TRACE_TASK, SLICE_TASK, m->tasks);
        array_push(m->task, m->tasks, m->room) = slice;
    } else if (event->kind == SCHED_TASK_RETURNED && m->tasks > 0) {
        slice_close(teller, &m->task[--m->tasks], event->when_ps);
    }
}

/* Pre: the state is that before the event. */
static void tell_steal(struct teller *teller, const struct sched_trace_event *event)
{
    const struct trace_state *state = &teller->state;
    struct trace_arrow arrow = {.from_ps = event->when_ps,
                                .to_ps = event->when_ps,
                                .from_m = NONE,
                                .to_m = event->m,
                                .from_lane = event->a,
                                .to_lane = trace_lane_of(state, event),
                                .steal = true};
    if (event->kind == SCHED_TASK_STOLEN) {
        arrow.from_m = event->a;
        arrow.from_lane = state->by_m ? event->a : state->m[event->a].p;
        if (state->m[event->a].tasks.count > 0)
            arrow.id = state->m[event->a].tasks.id[0];
    } else if (event->kind == SCHED_TAKEN && event->a == FROM_VICTIM) {
        arrow.id = event->g;
        arrow.from_lane = event->b;
        arrow.from_m = event->b < state->lanes ? state->lane[event->b].m : NONE;
    } else {
        return;
    }
    arrow_add(teller, &arrow);
}

static void tell_wake(struct teller *teller, const struct sched_trace_event *event)
{
    struct open_m *self = &teller->m[event->m];
    if (event->kind == SCHED_WOKEN || event->kind == SCHED_THREAD_STARTED) {
        struct open_m *other = &teller->m[event->a];
        other->woken_by = event->m;
        other->woken_by_lane = trace_lane_of(&teller->state, event);
        other->woken_ps = event->when_ps;
        return;
    }
    /* Whoever wakes an M gives it its P first, in the M's name. */
    if (self->woken_by == NONE || event->kind == SCHED_P_TAKEN)
        return;
    const struct trace_arrow arrow = {.from_ps = self->woken_ps,
                                      .to_ps = event->when_ps,
                                      .from_m = self->woken_by,
                                      .to_m = event->m,
                                      .from_lane = self->woken_by_lane,
                                      .to_lane = trace_lane_of(&teller->state, event)};
    self->woken_by = NONE;
    arrow_add(teller, &arrow);
}

static void length_tell(struct teller *teller, int64_t when_ps, int32_t lane, size_t length)
{
    struct trace_story *story = teller->story;
    uint32_t *last = &teller->length[lane < 0 ? teller->state.lanes : lane];
    if (*last == length)
        return;
    *last = (uint32_t)length;
    array_push(story->length, story->lengths, teller->length_room) =
        (struct trace_length){when_ps, lane, (uint32_t)length};
}

static void lengths_tell(struct teller *teller, int64_t when_ps)
{
    for (int32_t i = 0; i < teller->state.lanes; i++)
        length_tell(teller, when_ps, i, trace_lane_length(&teller->state, i));
    length_tell(teller, when_ps, -1, teller->state.global.count);
}

static void teller_begin(struct teller *teller, struct trace_story *story,
                         const struct trace_page *page)
{
    *teller = (struct teller){.story = story};
    trace_state_init(&teller->state, &page->trace, page->by_m, page->workers);
    teller->m = xcalloc((size_t)teller->state.ms, sizeof teller->m[0]);
    teller->length = xcalloc((size_t)teller->state.lanes + 1, sizeof teller->length[0]);
    for (int32_t i = 0; i < teller->state.ms; i++)
        teller->m[i] = (struct open_m){.g = NONE, .call = NONE, .woken_by = NONE};
}

static void teller_end(struct teller *teller, int64_t when_ps)
{
    struct trace_story *story = teller->story;
    for (size_t i = 0; i < story->slices; i++)
        if (story->slice[i].end_ps < 0)
            story->slice[i].end_ps = when_ps;
    for (int32_t i = 0; i < teller->state.ms; i++)
        free(teller->m[i].task);
    story->odd = teller->state.odd;
    memcpy(story->odd_text, teller->state.odd_text, sizeof story->odd_text);
    trace_state_free(&teller->state);
    free(teller->m);
    free(teller->length);
}

/* The last length of each queue before `from` is the first that is left. */
static void lengths_crop(struct trace_story *story, int64_t from_ps, int64_t to_ps)
{
    size_t kept = 0,
           *first = xcalloc((size_t)story->lanes + 1, sizeof *first); /* 1 more; 0: none */
    for (size_t i = 0; i < story->lengths; i++) {
        struct trace_length length = story->length[i];
        size_t *at = &first[length.lane + 1]; /* -1: the global queue */
        if (length.when_ps > to_ps)
            continue;
        if (length.when_ps >= from_ps) {
            story->length[kept++] = length;
            continue;
        }
        length.when_ps = from_ps;
        *at = *at ? *at : ++kept;
        story->length[*at - 1] = length;
    }
    story->lengths = kept;
    free(first);
}

/* Leaves what is shown. Slices that reach beyond are cut. */
static void crop(struct trace_story *story, const struct trace_page *page, int64_t origin_ps)
{
    const struct sched_trace *trace = &page->trace;
    int64_t from = origin_ps + page->from_ps;
    int64_t to = page->to_ps > 0 ? origin_ps + page->to_ps : story->end_ps;
    size_t kept = 0;
    if (page->startup > 0)
        from = trace->event[page->startup].when_ps;
    if (page->check > 0)
        to = trace->event[trace->count - 1 - page->check].when_ps;
    story->begin_ps = from;
    story->end_ps = to < story->end_ps ? to : story->end_ps;
    for (size_t i = 0; i < story->slices; i++) {
        struct trace_slice slice = story->slice[i];
        if (slice.end_ps < from || slice.begin_ps > to)
            continue;
        slice.begin_ps = slice.begin_ps < from ? from : slice.begin_ps;
        slice.end_ps = slice.end_ps > to ? to : slice.end_ps;
        story->slice[kept++] = slice;
    }
    story->slices = kept;
    kept = 0;
    for (size_t i = 0; i < story->arrows; i++)
        if (story->arrow[i].from_ps >= from && story->arrow[i].to_ps <= to)
            story->arrow[kept++] = story->arrow[i];
    story->arrows = kept;
    lengths_crop(story, from, to);
}

static bool story_has(const struct trace_page *page, enum sched_event kind, trace_id id, int32_t m,
                      int32_t p)
{
    if (id & TRACE_TASK)
        kind = kind == SCHED_STOLEN ? SCHED_TASK_STOLEN : SCHED_TASK_BEGUN;
    struct sched_trace_event event = {.kind = (uint8_t)kind, .g = id & ~TRACE_TASK, .m = m, .p = p};
    return trace_only_has(page->only, &page->trace, &event);
}

/* Leaves what --only names: of slices what begins them counts, of arrows the theft or the waking.
 * Queues are nobody's, and stay if no goroutine or kind is named that they are not of. */
static void choose(struct trace_story *story, const struct trace_page *page)
{
    size_t kept = 0;
    for (size_t i = 0; i < story->slices; i++) {
        const struct trace_slice *slice = &story->slice[i];
        enum sched_event kind = slice->kind == SLICE_CALL ? SCHED_CALL_BEGUN : SCHED_DISPATCHED;
        if (story_has(page, kind, slice->id, slice->m, slice->p))
            story->slice[kept++] = *slice;
    }
    story->slices = kept;
    kept = 0;
    for (size_t i = 0; i < story->arrows; i++) {
        const struct trace_arrow *arrow = &story->arrow[i];
        int32_t m = arrow->steal ? arrow->to_m : arrow->from_m;
        int32_t lane = arrow->steal ? arrow->to_lane : arrow->from_lane;
        if (story_has(page, arrow->steal ? SCHED_STOLEN : SCHED_WOKEN, arrow->id, m,
                      story->by_m ? -1 : lane))
            story->arrow[kept++] = *arrow;
    }
    story->arrows = kept;
    kept = 0;
    for (size_t i = 0; i < story->lengths; i++) {
        const struct trace_length *length = &story->length[i];
        if (story_has(page, SCHED_PUT, 0, story->by_m ? length->lane : -1,
                      story->by_m ? -1 : length->lane))
            story->length[kept++] = *length;
    }
    story->lengths = kept;
}

void trace_story_make(struct trace_story *story, const struct trace_page *page)
{
    const struct sched_trace *trace = &page->trace;
    struct teller teller;
    *story = (struct trace_story){.trace = &page->trace, .by_m = page->by_m};
    teller_begin(&teller, story, page);
    story->lanes = teller.state.lanes;
    story->ms = teller.state.ms;
    story->begin_ps = trace->count ? trace->event[0].when_ps : 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct sched_trace_event *event = &trace->event[i];
        story->end_ps = event->when_ps > story->end_ps ? event->when_ps : story->end_ps;
        if (event->m < 0)
            continue;
        if (event->p >= story->ps)
            story->ps = event->p + 1;
        tell_wake(&teller, event);
        tell_steal(&teller, event);
        if (event->kind >= SCHED_EVENT_FIRST_OF_TASKS)
            tell_task(&teller, event);
        else if (event->kind < SCHED_EVENT_FIRST_OF_MS)
            tell_g(&teller, event);
        trace_state_apply(&teller.state, event);
        lengths_tell(&teller, event->when_ps);
    }
    teller_end(&teller, story->end_ps);
    if (page->from_ps > 0 || page->to_ps > 0 || page->startup + page->check > 0)
        crop(story, page, story->begin_ps);
    if (page->only)
        choose(story, page);
}

void trace_story_free(struct trace_story *story)
{
    free(story->slice);
    free(story->arrow);
    free(story->length);
    *story = (struct trace_story){.slices = 0};
}

const char *trace_function_text(const struct trace_page *page, trace_id id,
                                char text[TRACE_NAME_SIZE])
{
    char name[SCHED_TRACE_NAME];
    trace_id_text(&page->trace, id, name);
    const char *function = json_string_value(json_object_get(page->functions, name));
    snprintf(text, TRACE_NAME_SIZE, "%s%s%s", name, function ? " " : "", function ? function : "");
    return text;
}
