/* trace_steps.c - see trace.h: the table of steps, and the same as JSON. */
#include "harness/base/text.h"
#include "harness/trace/trace.h"

#include "harness/base/memory.h"
#include "harness/base/wrap.h"
#include "harness/records/records.h"
#include "harness/trace/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_WIDTH = 18, LANE_WIDTH = 4, EVENT_WIDTH = 30, GAP = 2 };
enum { QUEUE_SHOWN = 8, QUEUE_IN_JSON = 300 };

/* The text of a cell. */
struct cell {
    char text[256];
};

static void cell_add_id(struct cell *cell, const struct trace_state *state, trace_id id,
                        const char *after)
{
    char text[SCHED_TRACE_NAME];
    text_add(cell->text, sizeof cell->text, "%s%s%s", *cell->text ? " " : "",
             trace_id_text(state->trace, id, text), after);
}

static void cell_add_queue(struct cell *cell, const struct trace_state *state,
                           const struct trace_queue *queue)
{
    for (size_t i = 0; i < queue->count && i < QUEUE_SHOWN; i++)
        cell_add_id(cell, state, queue->id[i], "");
    if (queue->count > QUEUE_SHOWN)
        text_add(cell->text, sizeof cell->text, " +%zu", queue->count - QUEUE_SHOWN);
}

/* The tasks on the stack of the lane's M, the oldest first. */
static struct cell cell_of_run(const struct trace_state *state, int32_t i)
{
    struct cell cell = {""};
    int32_t m = state->lane[i].m;
    if (m < 0)
        return (struct cell){"-"};
    const struct trace_m *who = &state->m[m];
    if (!who->g)
        return who->sleeps ? (struct cell){"sleeps"} : who->spins ? (struct cell){"spins"} : cell;
    cell_add_id(&cell, state, who->g, who->stack.count ? "*" : who->in_call ? " call" : "");
    for (size_t k = 0; k < who->stack.count; k++)
        cell_add_id(&cell, state, who->stack.id[k], who->stack.stalled[k] ? "*" : "");
    return cell;
}

static struct cell cell_of_queue(const struct trace_state *state, int32_t i)
{
    struct cell cell = {""};
    const struct trace_lane *lane = &state->lane[i];
    char text[SCHED_TRACE_NAME];
    if (lane->next)
        snprintf(cell.text, sizeof cell.text, "(%s)",
                 trace_id_text(state->trace, lane->next, text));
    cell_add_queue(&cell, state, &lane->queue);
    if (lane->m >= 0)
        cell_add_queue(&cell, state, &state->m[lane->m].tasks);
    return cell;
}

static struct cell cell_of_global(const struct trace_state *state)
{
    struct cell cell = {""};
    cell_add_queue(&cell, state, &state->global);
    return cell;
}

/* Columns ------------------------------------------------------------------------------------- */

/* How wide each column has to be: per lane what it runs and its queue, then the global queue. */
struct columns {
    int *run, *queue;
    int who, event, global, lanes;
    int width; /* of all */
    bool wide; /* all lanes in each row; else the lane of the event, and below it what changed */
};

static void widen(int *width, const char *text)
{
    if ((int)strlen(text) > *width)
        *width = (int)strlen(text);
}

static void columns_measure(struct columns *columns, const struct trace_page *page, int width)
{
    struct trace_state state;
    trace_state_init(&state, &page->trace, page->by_m, page->workers);
    columns->lanes = state.lanes;
    columns->run = xcalloc((size_t)state.lanes, sizeof(int));
    columns->queue = xcalloc((size_t)state.lanes, sizeof(int));
    columns->global = (int)strlen("global");
    columns->who = LANE_WIDTH;
    columns->event = (int)strlen("event");
    columns->width = width;
    for (int32_t i = 0; i < state.lanes; i++) {
        columns->run[i] = (int)strlen("P0 runs");
        columns->queue[i] = (int)strlen("queue");
    }
    for (size_t k = 0; k < page->trace.count; k++) {
        const struct sched_trace_event *event = &page->trace.event[k];
        char text[128];
        trace_state_apply(&state, event);
        if (!trace_shows(page, event))
            continue;
        widen(&columns->who, trace_who(&state, event, text, sizeof text));
        widen(&columns->event, diff_event_text(&page->trace, event, true, text, sizeof text));
        for (int32_t i = 0; i < state.lanes; i++) {
            widen(&columns->run[i], cell_of_run(&state, i).text);
            widen(&columns->queue[i], cell_of_queue(&state, i).text);
        }
        widen(&columns->global, cell_of_global(&state).text);
    }
    int total = STEP_WIDTH + columns->who + EVENT_WIDTH + columns->global + GAP;
    for (int32_t i = 0; i < state.lanes; i++)
        total += columns->run[i] + columns->queue[i] + 2 * GAP;
    columns->wide = total <= width;
    if (columns->wide)
        columns->event = EVENT_WIDTH;
    trace_state_free(&state);
}

static void lane_name(char text[16], bool by_m, int32_t i)
{
    snprintf(text, 16, "%c%" PRId32, by_m ? 'M' : 'P', i);
}

/* Blanks are owed until something follows: rows end without. */
static void put_cell(FILE *to, const char *text, int width, int *blanks)
{
    int length = (int)strlen(text);
    if (length)
        fprintf(to, "%*s%s", *blanks, "", text);
    *blanks = (length ? 0 : *blanks) + width - length + GAP;
}

static void head_print(const struct columns *columns, bool by_m, FILE *to)
{
    char name[32], lane[16];
    int blanks = 0;
    fprintf(to, "%5s %10s  ", "step", "us");
    put_cell(to, by_m ? "M" : "P", columns->who, &blanks);
    put_cell(to, "event", columns->event, &blanks);
    for (int32_t i = 0; columns->wide && i < columns->lanes; i++) {
        lane_name(lane, by_m, i);
        snprintf(name, sizeof name, "%s runs", lane);
        put_cell(to, name, columns->run[i], &blanks);
        put_cell(to, "queue", columns->queue[i], &blanks);
    }
    put_cell(to, columns->wide ? "global" : "runs | queue | global", columns->global, &blanks);
    fputc('\n', to);
}

static void row_begin(const struct columns *columns, const struct trace_state *state,
                      const struct trace_page *page, size_t index, int *blanks, FILE *to)
{
    const struct sched_trace_event *event = &page->trace.event[index];
    char text[128], who[16];
    fprintf(to, "%5zu %10.3f  ", index + 1,
            (double)(event->when_ps - page->trace.event[0].when_ps) / 1e6);
    put_cell(to, trace_who(state, event, who, sizeof who), columns->who, blanks);
    put_cell(to, diff_event_text(&page->trace, event, true, text, sizeof text), columns->event,
             blanks);
}

static void row_print(const struct columns *columns, const struct trace_state *state,
                      const struct trace_page *page, size_t index, FILE *to)
{
    int blanks = 0;
    row_begin(columns, state, page, index, &blanks, to);
    for (int32_t i = 0; i < columns->lanes; i++) {
        put_cell(to, cell_of_run(state, i).text, columns->run[i], &blanks);
        put_cell(to, cell_of_queue(state, i).text, columns->queue[i], &blanks);
    }
    put_cell(to, cell_of_global(state).text, columns->global, &blanks);
    fputc('\n', to);
}

/* Narrow tables ------------------------------------------------------------------------------- */

enum { LANE_SIZE = 2 * sizeof(struct cell) + 2 };

/* The lanes as the rows above have them. */
struct shown {
    char (*lane)[LANE_SIZE];
};

/* "RUNS | QUEUE" of a lane, and true if no row above has it. */
static bool lane_changed(struct shown *shown, const struct trace_state *state, int32_t i)
{
    char text[LANE_SIZE];
    struct cell queue = cell_of_queue(state, i);
    snprintf(text, sizeof text, "%s%s%s", cell_of_run(state, i).text, *queue.text ? " | " : "",
             queue.text);
    bool changed = strcmp(text, shown->lane[i]) != 0;
    snprintf(shown->lane[i], LANE_SIZE, "%s", text);
    return changed;
}

static struct shown shown_at_first(const struct trace_state *state)
{
    struct shown shown = {xcalloc((size_t)state->lanes, sizeof *shown.lane)};
    for (int32_t i = 0; i < state->lanes; i++)
        lane_changed(&shown, state, i);
    return shown;
}

/* The lane of the event, and a row for each other one that has changed with it. */
static void rows_print(const struct columns *columns, const struct trace_state *state,
                       const struct trace_page *page, size_t index, struct shown *shown, FILE *to)
{
    int32_t own = trace_lane_of(state, &page->trace.event[index]);
    int at = STEP_WIDTH + columns->who + GAP + columns->event + GAP, blanks = 0;
    struct cell global = cell_of_global(state);
    char text[LANE_SIZE + sizeof global], lane[16];
    row_begin(columns, state, page, index, &blanks, to);
    if (own >= 0)
        lane_changed(shown, state, own);
    const char *queues = own >= 0 ? shown->lane[own] : "";
    snprintf(text, sizeof text, "%s%s%s", queues,
             !*global.text         ? ""
             : strchr(queues, '|') ? " | "
                                   : " | | ",
             global.text);
    if (*text)
        fprintf(to, "%*s", blanks, "");
    text_wrap(to, at, at, columns->width, text);
    for (int32_t i = 0; i < state->lanes; i++) {
        if (i == own || !lane_changed(shown, state, i))
            continue;
        lane_name(lane, state->by_m, i);
        fprintf(to, "%*s%-*s", STEP_WIDTH, "", *shown->lane[i] ? at - STEP_WIDTH : 0, lane);
        text_wrap(to, at, at, columns->width, shown->lane[i]);
    }
}

/* The table ----------------------------------------------------------------------------------- */

void trace_print_limits(const struct trace_page *page, uint64_t odd, const char *odd_text, FILE *to)
{
    if (page->trace.happened > page->trace.count)
        fprintf(to, "Of %" PRIu64 " events the first %zu were kept (--most).\n",
                page->trace.happened, page->trace.count);
    char left_out[128];
    if (!page->only && *trace_left_out(page, left_out, sizeof left_out))
        fprintf(to, "%s\n", left_out);
    if (odd)
        fprintf(to, "%s not fit those before, the first: %s\n",
                counted(odd, odd == 1 ? "event does" : "event do").s, odd_text);
}

bool trace_shows(const struct trace_page *page, const struct sched_trace_event *event)
{
    int64_t at_ps = event->when_ps - page->trace.event[0].when_ps;
    size_t index = (size_t)(event - page->trace.event);
    if (index < page->startup || index >= page->trace.count - page->check)
        return false;
    if (page->only && !trace_only_has(page->only, &page->trace, event))
        return false;
    return at_ps >= page->from_ps && (page->to_ps == 0 || at_ps <= page->to_ps);
}

char *trace_title(const struct trace_page *page)
{
    char shown[64] = "";
    if (page->to_ps > 0)
        snprintf(shown, sizeof shown, ", %g to %g us of it", (double)page->from_ps / 1e6,
                 (double)page->to_ps / 1e6);
    else if (page->from_ps > 0)
        snprintf(shown, sizeof shown, ", from %g us on", (double)page->from_ps / 1e6);
    return text_format("%s %s on %s, %s, seed %" PRIu64 "%s%s%s", page->variant, page->workload,
                       page->machine, counted((uint64_t)page->workers, "worker").s, page->seed,
                       shown, page->only ? ", only " : "",
                       page->only ? trace_only_text(page->only) : "");
}

void trace_steps_print(const struct trace_page *page, int width, FILE *to)
{
    struct columns columns;
    struct trace_state state;
    columns_measure(&columns, page, width);
    trace_state_init(&state, &page->trace, page->by_m, page->workers);
    char *title = trace_title(page);
    text_wrap(to, 0, 2, width, title);
    free(title);
    fputc('\n', to);
    head_print(&columns, page->by_m, to);
    struct shown shown = shown_at_first(&state);
    for (size_t i = 0; i < page->trace.count; i++) {
        trace_state_apply(&state, &page->trace.event[i]);
        if (!trace_shows(page, &page->trace.event[i]))
            continue;
        if (columns.wide)
            row_print(&columns, &state, page, i, to);
        else
            rows_print(&columns, &state, page, i, &shown, to);
    }
    free(shown.lane);
    fputc('\n', to);
    text_wrap(to, 0, 0, width,
              "Queues from head to tail; (G): runnext; T: a child that is no goroutine; *: waits "
              "for what is right of it; -: nobody has this P.");
    trace_print_limits(page, state.odd, state.odd_text, to);
    trace_state_free(&state);
    free(columns.run);
    free(columns.queue);
}

/* JSON ---------------------------------------------------------------------------------------- */

static json_t *id_to_json(const struct trace_state *state, trace_id id)
{
    char text[SCHED_TRACE_NAME];
    return id ? json_string(trace_id_text(state->trace, id, text)) : json_null();
}

/* Its first ones: a whole long queue in every step would fill the memory. */
static json_t *queue_to_json(const struct trace_state *state, const struct trace_queue *queue)
{
    json_t *array = json_array();
    for (size_t i = 0; i < queue->count && i < QUEUE_IN_JSON; i++)
        json_array_append_new(array, id_to_json(state, queue->id[i]));
    return array;
}

static json_t *lane_to_json(const struct trace_state *state, int32_t i)
{
    const struct trace_lane *lane = &state->lane[i];
    json_t *object =
        json_pack("{so so so sI}", "runs", id_to_json(state, trace_lane_runs(state, i)), "runnext",
                  id_to_json(state, lane->next), "queue", queue_to_json(state, &lane->queue),
                  "length", (json_int_t)trace_lane_length(state, i));
    if (lane->m >= 0) {
        const struct trace_m *m = &state->m[lane->m];
        const struct trace_queue stack = {.id = m->stack.id, .count = m->stack.count};
        json_object_set_new(object, "m", json_integer(lane->m));
        json_object_set_new(object, "tasks", queue_to_json(state, &m->tasks));
        json_object_set_new(object, "stack", queue_to_json(state, &stack));
    }
    return object;
}

json_t *trace_steps_to_json(const struct trace_page *page)
{
    struct trace_state state;
    json_t *steps = json_array();
    trace_state_init(&state, &page->trace, page->by_m, page->workers);
    for (size_t i = 0; i < page->trace.count; i++) {
        char text[128];
        trace_event_text(&state, &page->trace.event[i], text, sizeof text);
        trace_state_apply(&state, &page->trace.event[i]);
        if (!trace_shows(page, &page->trace.event[i]))
            continue;
        json_t *step = diff_event_to_json(&page->trace, &page->trace.event[i], i);
        json_object_set_new(step, "text", json_string(text));
        trace_who(&state, &page->trace.event[i], text, sizeof text);
        json_object_set_new(step, "who", json_string(text));
        json_t *lanes = json_array();
        for (int32_t k = 0; k < state.lanes; k++)
            json_array_append_new(lanes, lane_to_json(&state, k));
        json_object_set_new(step, "lanes", lanes);
        json_object_set_new(step, "global", queue_to_json(&state, &state.global));
        json_object_set_new(step, "global_length", json_integer((json_int_t)state.global.count));
        json_array_append_new(steps, step);
    }
    json_t *object =
        json_pack("{si ss ss ss si sI ss sI sI so sO}", "schema", RECORD_SCHEMA, "variant",
                  page->variant, "workload", page->workload, "machine", page->machine, "workers",
                  page->workers, "seed", (json_int_t)page->seed, "lane", page->by_m ? "M" : "P",
                  "happened", (json_int_t)page->trace.happened, "odd", (json_int_t)state.odd,
                  "steps", steps, "record", page->record);
    json_object_set_new(object, "left_out",
                        json_pack("{sI sI}", "startup", (json_int_t)page->startup, "check",
                                  (json_int_t)page->check));
    if (state.odd)
        json_object_set_new(object, "first_odd", json_string(state.odd_text));
    trace_state_free(&state);
    return object;
}
