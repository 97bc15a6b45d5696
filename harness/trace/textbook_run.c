/* textbook_run.c - see textbook.h: the real rows, read off the events of a run in lock step. */
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/records/records.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"
#include "harness/trace/textbook.h"
#include "harness/trace/trace.h"
#include "sched.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAIN = -1, UNKNOWN = -2, CALLS_MAX = 24, TICK_PS = 1000000, TIMEOUT_S = 60 };

/* A G or a task: an activation of fib(n), or main. */
struct activation {
    int n;
    int children;
    bool begun, returned;
    int stalled_at; /* where a join of it stalled, from 1; 0: none does */
    struct {
        int n, children;
    } call[CALLS_MAX]; /* activations that it calls (fj_call()), the newest last */
    int calls;
};

struct replayer {
    const struct textbook *replay;
    struct textbook_table *table;
    struct trace_state state;
    struct activation *g, *task;
    uint32_t tasks;
    bool too_deep; /* more calls in one activation than CALLS_MAX: what is shown would be wrong */
    int returned_n[REPLAY_PROCESSORS_MAX]; /* fib(n) in the turn just made, by processor */
    int64_t returned_ps[REPLAY_PROCESSORS_MAX];
    int64_t turn_ps[REPLAY_PROCESSORS_MAX]; /* the newest turn */
    int32_t doer;                           /* whose deed was noted last */
    bool main_joined;
    int main_joined_at;
};

static struct activation *activation_of(struct replayer *replayer, trace_id id)
{
    return id & TRACE_TASK ? &replayer->task[id & ~TRACE_TASK] : &replayer->g[id];
}

static uint64_t fib(int n)
{
    return n <= 2 ? n > 0 : fib(n - 1) + fib(n - 2);
}

/* Events -------------------------------------------------------------------------------------- */

/* The n that the next child computes: main's is the whole, the kth of fib(n) is fib(n - k). */
static int child_n(const struct replayer *replayer, struct activation *up)
{
    int *children = up->calls ? &up->call[up->calls - 1].children : &up->children;
    int n = up->calls ? up->call[up->calls - 1].n : up->n;
    return n == MAIN ? replayer->replay->n : n - ++*children;
}

static void child_begin(struct replayer *replayer, int32_t m, trace_id child)
{
    const struct trace_m *who = &replayer->state.m[m];
    trace_id parent = who->stack.count ? who->stack.id[who->stack.count - 1] : who->g;
    struct activation *self = activation_of(replayer, child);
    if (!parent) { /* main's is the first of all, a thief's own goroutine computes nothing itself */
        *self = (struct activation){.n = child == 1 ? MAIN : UNKNOWN};
        return;
    }
    *self = (struct activation){.n = child_n(replayer, activation_of(replayer, parent))};
}

static void call_begin(struct replayer *replayer, struct activation *self)
{
    int n = child_n(replayer, self);
    replayer->table->has_calls = true;
    replayer->too_deep |= self->calls == CALLS_MAX;
    if (self->calls == CALLS_MAX)
        return;
    self->call[self->calls].n = n;
    self->call[self->calls++].children = 0;
}

static void note_returned(struct replayer *replayer, const struct sched_trace_event *event, int n)
{
    replayer->returned_n[event->m] = n;
    replayer->returned_ps[event->m] = event->when_ps;
}

static void replayer_apply(struct replayer *replayer, const struct sched_trace_event *event)
{
    trace_id id = event->kind >= SCHED_EVENT_FIRST_OF_TASKS ? event->g | TRACE_TASK : event->g;
    struct activation *self = id ? activation_of(replayer, id) : NULL;
    bool known = event->m >= 0 && event->m < replayer->table->processors;
    switch (self ? event->kind : SCHED_EVENT_COUNT) {
    case SCHED_CREATED:
    case SCHED_TASK_SPAWNED:
        child_begin(replayer, event->m, id);
        break;
    case SCHED_READIED:
        if (event->a == READY_WOKEN)
            self->stalled_at = 0;
        break;
    case SCHED_STALLED:
        self->stalled_at = event->m + 1;
        break;
    case SCHED_RETURNED:
    case SCHED_TASK_RETURNED:
        self->returned = true;
        if (known && self->n != UNKNOWN && self->n != MAIN)
            note_returned(replayer, event, self->n);
        break;
    case SCHED_CALLED:
        call_begin(replayer, self);
        break;
    case SCHED_CALL_RETURNED:
        if (known && self->calls > 0)
            note_returned(replayer, event, self->call[--self->calls].n);
        break;
    case SCHED_JOINED:
        if (self->n == MAIN) {
            replayer->main_joined = true;
            replayer->main_joined_at = event->m;
        }
        break;
    default:
        break;
    }
    trace_state_apply(&replayer->state, event);
}

/* Rows ---------------------------------------------------------------------------------------- */

static void __attribute__((format(printf, 2, 3)))
cell_add(char cell[REPLAY_CELL], const char *format, ...)
{
    size_t at = strlen(cell);
    va_list args;
    if (at > 0)
        at += (size_t)snprintf(cell + at, REPLAY_CELL - at, ", ");
    va_start(args, format);
    vsnprintf(cell + at, REPLAY_CELL - at, format, args);
    va_end(args);
}

/* "main", "fib(3)", "c(fib(3))"; returns text. */
static const char *name_of(struct replayer *replayer, trace_id id, bool continuation, char text[32])
{
    char inner[16] = "main";
    int n = activation_of(replayer, id)->n;
    if (n != MAIN)
        snprintf(inner, sizeof inner, "fib(%d)", n);
    snprintf(text, 32, continuation ? "c(%s)" : "%s", inner);
    return text;
}

static void queue_show(struct replayer *replayer, char cell[REPLAY_CELL],
                       const struct trace_queue *queue, bool continuations)
{
    char name[32];
    for (size_t i = 0; i < queue->count; i++)
        cell_add(cell, "%s", name_of(replayer, queue->id[i], continuations, name));
}

/* Tasks lie on the stack of the worker that runs them, above what waits for them. */
static void help_show(struct replayer *replayer, struct textbook_cell *cell, int i, bool returned)
{
    const struct trace_m *m = &replayer->state.m[i];
    char name[32];
    if (m->g == 1 && !replayer->main_joined)
        cell_add(cell->stack, "main%s", m->stack.count || returned ? "*" : "");
    for (size_t k = 0; k < m->stack.count; k++)
        cell_add(cell->stack, "%s%s", name_of(replayer, m->stack.id[k], false, name),
                 m->stack.stalled[k] ? "*" : "");
    queue_show(replayer, cell->deque, &m->tasks, false);
}

/* Each activation is a goroutine, or called by one, whose place it takes; one whose join stalled
 * waits, and is shown where it did. */
static void work_show(struct replayer *replayer, struct textbook_cell *cell, int i, bool returned)
{
    const struct trace_m *m = &replayer->state.m[i];
    char name[32];
    for (trace_id id = 1; id < replayer->state.gs; id++)
        if (replayer->g[id].stalled_at == i + 1)
            cell_add(cell->stack, "%s*", name_of(replayer, id, true, name));
    struct activation *self = m->g && !returned ? &replayer->g[m->g] : NULL;
    if (self && !self->returned && !self->stalled_at && !(m->g == 1 && replayer->main_joined)) {
        if (self->calls)
            cell_add(cell->stack, "fib(%d)", self->call[self->calls - 1].n);
        else
            cell_add(cell->stack, "%s", name_of(replayer, m->g, self->begun, name));
    }
    if (i < replayer->state.lanes)
        queue_show(replayer, cell->deque, &replayer->state.lane[i].queue, true);
}

static void row_show(struct replayer *replayer, struct textbook_row *row)
{
    bool help = strcmp(replayer->table->steps, "help") == 0;
    for (int i = 0; i < replayer->table->processors && i < replayer->state.ms; i++) {
        struct textbook_cell *cell = &row->real[i];
        bool returned =
            replayer->returned_ps[i] && replayer->returned_ps[i] == replayer->turn_ps[i];
        (help ? help_show : work_show)(replayer, cell, i, returned);
        if (returned && !replayer->main_joined)
            cell_add(cell->stack, "%d!", (int)fib(replayer->returned_n[i]));
        if (replayer->main_joined && replayer->main_joined_at == i)
            cell_add(cell->stack, "main %d!", (int)fib(replayer->replay->n));
    }
}

/* Goroutines that have run are continuations when they run again. */
static void note_begun(struct replayer *replayer, const struct sched_trace_event *event)
{
    if (event->kind == SCHED_READIED)
        replayer->g[event->g].begun = event->a != READY_NEW;
}

/* Deeds of a worker to an activation, or to its continuation. */
static const struct {
    const char *words;
    bool continuation;
} deeds[SCHED_EVENT_FIRST_OF_MS] = {
    [SCHED_CREATED] = {"spawned", false},
    [SCHED_PUT] = {"pushed", true},
    [SCHED_TAKEN] = {"popped", true},
    [SCHED_STALLED] = {"stalled in", false},
    [SCHED_RETURNED] = {"returned from", false},
    [SCHED_READIED] = {"went on with", true},
    [SCHED_JOINED] = {"joined in", false},
};

/* Puts the event in words, after it has been applied: names are known then. */
static void deed_note(struct replayer *replayer, struct textbook_row *row,
                      const struct sched_trace_event *event)
{
    char name[32];
    if (!event->g || event->kind >= SCHED_EVENT_FIRST_OF_MS || !deeds[event->kind].words ||
        (event->kind == SCHED_READIED && event->a != READY_WOKEN) ||
        activation_of(replayer, event->g)->n == UNKNOWN)
        return;
    bool stole = event->kind == SCHED_TAKEN && event->a == FROM_VICTIM;
    if (!*row->deeds || event->m != replayer->doer) /* who stands before the first of its deeds */
        text_add(row->deeds, REPLAY_DEEDS, "%sT%d ", *row->deeds ? "; " : "", event->m + 1);
    else
        text_add(row->deeds, REPLAY_DEEDS, ", ");
    replayer->doer = event->m;
    text_add(row->deeds, REPLAY_DEEDS, "%s %s", stole ? "stole" : deeds[event->kind].words,
             name_of(replayer, event->g, deeds[event->kind].continuation, name));
}

/* Applies what happens up to the end of the row's last turn; before the first turn, what it takes
 * until main runs. Returns the next event. */
static size_t row_apply(struct replayer *replayer, const struct sched_trace *trace, size_t at,
                        struct textbook_row *row, int64_t *tick)
{
    const char *turns = row->turns;
    if (!*turns) {
        bool begun = false;
        for (; at < trace->count && !begun; at++) {
            begun = trace->event[at].kind == SCHED_DISPATCHED;
            replayer_apply(replayer, &trace->event[at]);
        }
        return at;
    }
    for (const char *turn = turns; turn; turn = strchr(turn, ',')) {
        turn += *turn == ',';
        replayer->turn_ps[atoi(turn)] = ++*tick * TICK_PS;
        for (; at < trace->count && trace->event[at].when_ps <= *tick * TICK_PS; at++) {
            note_begun(replayer, &trace->event[at]);
            replayer_apply(replayer, &trace->event[at]);
            deed_note(replayer, row, &trace->event[at]);
        }
    }
    return at;
}

/* Steps that are left after the last row: returns, since each activation ends with one. */
static size_t rows_missing(struct replayer *replayer, const struct sched_trace *trace, size_t at)
{
    size_t missing = 0;
    for (; at < trace->count; at++) {
        const struct sched_trace_event *event = &trace->event[at];
        trace_id id = event->kind == SCHED_TASK_RETURNED ? event->g | TRACE_TASK : event->g;
        bool returns = event->kind == SCHED_TASK_RETURNED || event->kind == SCHED_RETURNED;
        int n = returns && id ? activation_of(replayer, id)->n : UNKNOWN;
        missing += n != UNKNOWN && n != MAIN;
    }
    return missing;
}

/* Tasks dealt out in advance ------------------------------------------------------------------
 *
 * Time passes as on any simulated machine. A row is what runs once a task has returned ("2"), or
 * has stalled ("2*"), and workers have gone on, who may have to be woken; the first one, once the
 * first two tasks run. Task k is goroutine k + 1, since main is the first; T1 is the worker that
 * gets the first task. */

enum { GOES_ON_PS = 100000000 };

static void dealt_note(struct replayer *replayer, const struct sched_trace_event *event)
{
    replayer_apply(replayer, event);
    if (event->kind == SCHED_PARKED && event->g > 1)
        replayer->g[event->g].stalled_at = event->m + 1;
}

/* Applies all up to a little after the kind of event for that task; returns the next event. */
static size_t dealt_apply(struct replayer *replayer, const struct sched_trace *trace, size_t at,
                          uint32_t task, enum sched_event kind)
{
    bool found = false;
    for (; at < trace->count && !found; at++) {
        found = trace->event[at].kind == kind && trace->event[at].g == task + 1;
        dealt_note(replayer, &trace->event[at]);
    }
    int64_t until = at > 0 ? trace->event[at - 1].when_ps + GOES_ON_PS : 0;
    for (; at < trace->count && trace->event[at].when_ps <= until; at++)
        dealt_note(replayer, &trace->event[at]);
    return at;
}

/* True if a task waits that began on this worker. */
static bool dealt_waits(const struct replayer *replayer, int worker)
{
    for (trace_id g = 2; g < replayer->state.gs; g++)
        if (replayer->g[g].stalled_at == worker + 1)
            return true;
    return false;
}

static void dealt_show(const struct replayer *replayer, struct textbook_row *row)
{
    int processors = replayer->table->processors;
    for (int i = 0; i < processors; i++) {
        int worker = (i + 1) % processors;
        trace_id g = trace_lane_runs(&replayer->state, worker);
        if (g > 1)
            cell_add(row->real[i].stack, "T%u", g - 1);
        else
            cell_add(row->real[i].stack, dealt_waits(replayer, worker) ? "blocked" : "idle");
    }
}

static void dealt_rows(struct replayer *replayer, const struct sched_trace *trace)
{
    size_t at = dealt_apply(replayer, trace, 0, 1, SCHED_DISPATCHED);
    for (size_t i = 0; i < replayer->table->rows; i++) {
        struct textbook_row *row = &replayer->table->row[i];
        bool stalls = strchr(row->turns, '*') != NULL;
        if (*row->turns)
            at = dealt_apply(replayer, trace, at, (uint32_t)atoi(row->turns),
                             stalls ? SCHED_PARKED : SCHED_RETURNED);
        dealt_show(replayer, row);
    }
}

/* Statistics ---------------------------------------------------------------------------------- */

static size_t items_of(const char *cell)
{
    size_t items = *cell != '\0';
    for (; *cell; cell++)
        items += *cell == ',';
    return items;
}

/* Joins that ever stalled: each name with a star once. */
static size_t stalled_count(const struct textbook_table *table)
{
    char seen[REPLAY_ROWS_MAX][32];
    size_t count = 0;
    for (size_t row = 0; row < table->rows; row++) {
        for (int i = 0; i < table->processors; i++) {
            char text[REPLAY_CELL], *rest = text, *name;
            snprintf(text, sizeof text, "%s", table->row[row].real[i].stack);
            while ((name = strsep(&rest, ",")) != NULL) {
                size_t k = 0;
                name += *name == ' ';
                while (k < count && strcmp(seen[k], name) != 0)
                    k++;
                if (k == count && strchr(name, '*') && count < REPLAY_ROWS_MAX)
                    snprintf(seen[count++], sizeof seen[0], "%.31s", name);
            }
        }
    }
    return count;
}

/* A count of the scheduler itself. */
static size_t counter_of(const json_t *record, const char *name)
{
    double value = field_number(record_event(record, name), "value");
    return isfinite(value) ? (size_t)value : 0;
}

/* missing: rows that the book does not have. */
static void statistics_make(struct textbook_table *table, size_t missing, const json_t *record)
{
    struct textbook_statistics *real = &table->real;
    real->steps = table->rows + missing;
    for (size_t row = 0; row < table->rows; row++) {
        size_t all = 0;
        for (int i = 0; i < table->processors; i++) {
            size_t stack = items_of(table->row[row].real[i].stack);
            all += items_of(table->row[row].real[i].deque);
            real->stack = stack > real->stack ? stack : real->stack;
        }
        real->deques = all > real->deques ? all : real->deques;
    }
    real->deque = counter_of(record, "sde:::schedlab::DEQUE_MAX");
    real->stalled = stalled_count(table);
    real->waited = counter_of(record, "sde:::schedlab::JOINS_STALLED");
    real->stolen = counter_of(record, "sde:::schedlab::TASKS_STOLEN");
    real->parked = counter_of(record, "sde:::schedlab::PARKS");
}

/* Names --------------------------------------------------------------------------------------- */

/* A thief's own goroutine computes nothing, and keeps its number. */
static void names_add(struct replayer *replayer, trace_id first, size_t count)
{
    char name[32];
    for (size_t i = 0; i < count; i++) {
        trace_id id = (trace_id)(first + i);
        int n = activation_of(replayer, id)->n;
        if (n == MAIN || n > 0)
            json_array_append_new(
                replayer->table->names,
                json_pack("[Is]", (json_int_t)id, name_of(replayer, id, false, name)));
    }
}

static void names_make(struct replayer *replayer)
{
    json_decref(replayer->table->names);
    replayer->table->names = json_array();
    names_add(replayer, 1, replayer->state.gs);
    names_add(replayer, TRACE_TASK | 1, replayer->tasks);
}

/* Running ------------------------------------------------------------------------------------- */

/* The record of the run, the caller's, and its events; NULL and one line in error. */
static json_t *events_make(const struct textbook *replay, const struct textbook_table *table,
                           bool with_sites, struct sched_trace *trace, struct error *error)
{
    char *schedule = NULL;
    FILE *to = memory_stream(&schedule, NULL);
    fprintf(to, "%s:", table->steps);
    bool first = true;
    for (size_t i = 0; i < table->rows; i++) {
        if (*table->row[i].turns)
            fprintf(to, "%s%s", first ? "" : ",", table->row[i].turns);
        first = first && !*table->row[i].turns;
    }
    fclose(to);
    struct sample_request request = {
        .variant = table->variant,
        .workload = table->workload ? table->workload : replay->workload,
        .workers = table->processors,
        .seed = table->seed,
        .sim_seed = table->seed,
        .iterations = 1,
        .events = "sde:::schedlab::DEQUE_MAX,sde:::schedlab::JOINS_STALLED,"
                  "sde:::schedlab::TASKS_STOLEN,sde:::schedlab::PARKS",
        .pin = !textbook_is_dealt(table),
        .machine = "sim:desktop8",
        .timeout_s = TIMEOUT_S,
        .steal_max_percent = STEAL_MAX_DEFAULT_PERCENT,
        .sched_events_max = 100000,
        .sched_sites = with_sites,
        .lock_step = textbook_is_dealt(table) ? NULL : schedule,
    };
    struct error why;
    json_t *record = child_run_traced(&request, trace, &why);
    if (!record)
        error_print(error, "%s: %s", table->variant, why.text);
    free(schedule);
    return record;
}

bool textbook_run(const struct textbook *replay, struct textbook_table *table,
                  struct sched_trace *wanted, struct error *error)
{
    struct sched_trace trace;
    struct replayer replayer = {.replay = replay, .table = table};
    json_t *record = events_make(replay, table, wanted != NULL, &trace, error);
    if (!record)
        return false;
    for (size_t i = 0; i < trace.count; i++)
        if (trace.event[i].kind >= SCHED_EVENT_FIRST_OF_TASKS && trace.event[i].g > replayer.tasks)
            replayer.tasks = trace.event[i].g;
    trace_state_init(&replayer.state, &trace, false, table->processors);
    replayer.g = xcalloc((size_t)replayer.state.gs + 1, sizeof replayer.g[0]);
    replayer.task = xcalloc((size_t)replayer.tasks + 1, sizeof replayer.task[0]);
    size_t at = 0, missing = 0;
    int64_t tick = 0;
    if (textbook_is_dealt(table))
        dealt_rows(&replayer, &trace);
    for (size_t i = 0; i < table->rows && !textbook_is_dealt(table); i++) {
        at = row_apply(&replayer, &trace, at, &table->row[i], &tick);
        row_show(&replayer, &table->row[i]);
        table->row[i].event = at > 0 ? at - 1 : 0;
    }
    if (!textbook_is_dealt(table)) {
        missing = rows_missing(&replayer, &trace, at);
        names_make(&replayer);
    }
    statistics_make(table, missing, record);
    json_decref(record);
    trace_state_free(&replayer.state);
    free(replayer.g);
    free(replayer.task);
    if (wanted)
        *wanted = trace;
    else
        sched_trace_free(&trace);
    if (replayer.too_deep)
        error_print(error, "%s: an activation of %s calls others %d deep; valid: up to %d",
                    table->variant, table->workload ? table->workload : replay->workload,
                    CALLS_MAX + 1, CALLS_MAX);
    return !replayer.too_deep;
}
