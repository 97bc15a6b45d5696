/* trace.h - one small run as a table of steps, a timeline, a file for Perfetto.
 *
 *   trace_state.c     what each worker runs and holds, brought forward event by event
 *   trace_only.c      which events are shown: those that --only names
 *   trace_crop.c      and those between start-up and the check of the answer
 *   trace_services.c  what an event says of timers, the poller and sysmon
 *   trace_words.c     what the words of events mean
 *   trace_story.c     who ran when, who stole from whom, how long queues were: from all events
 *   trace_steps.c     the step table, and the same as JSON
 *   trace_timeline.c  the figure, and its form for a terminal
 *   trace_perfetto.c  the Chrome JSON trace format
 *   trace_play.c      one event after the other on a terminal
 *   trace_functions.c  the functions of goroutines, where the workload tells them
 *   trace_requests.c  the requests of a program, in its own words
 *   trace_source.c    the lines of the workload that events come from
 *   trace_html.c      a page to look around in, with its data and its script (harness/viewer/)
 *
 * All of it is made from a sched_trace, the events that the scheduler told, on any machine. A lane
 * is a worker as its variant sees it: a P where queues hang on Ps, an M where they hang on Ms
 * (perm) or each goroutine has its own (kthread).
 *
 * Contents of queues follow from the events. They are exact on a simulated machine; natively they
 * are as exact as the order of the threads' clocks.
 */
#ifndef SCHEDLAB_TRACE_H
#define SCHEDLAB_TRACE_H

#include "harness/base/error.h"
#include "harness/models/sched_trace.h"

#include <jansson.h>

/* A G, or a task (a child that is no G): something that can run, and be in a queue. 0: none. */
typedef uint32_t trace_id;
#define TRACE_TASK UINT32_C(0x80000000)

/* As sched_trace_name(); returns text. */
char *trace_id_text(const struct sched_trace *trace, trace_id id, char text[SCHED_TRACE_NAME]);

/* A queue, head first. */
struct trace_queue {
    trace_id *id;
    size_t count, room;
    int32_t number; /* 0: the global one; from 1: of lanes; behind these, of the Ms' tasks */
};

/* One change of the state. Each can be undone, so that a viewer can go back. */
enum trace_change_kind {
    CHANGE_PUSHED,  /* queue, id: behind the last */
    CHANGE_REMOVED, /* queue, id, its place */
    CHANGE_NEXT,    /* lane, the old and the new one in its runnext */
    CHANGE_RUNS,    /* M, the old and the new G */
    CHANGE_P,       /* M, its old and new P; -1: none */
    CHANGE_FLAGS,   /* M, old and new: 1 in a call, 2 spins, 4 sleeps */
    CHANGE_BEGAN,   /* M, a task: on top of its stack */
    CHANGE_ENDED    /* M, a task: off the top */
};

struct trace_change {
    enum trace_change_kind kind;
    int32_t where;
    uint32_t a, b;
};

struct trace_changes {
    struct trace_change *change;
    size_t count, room;
};

/* The stack of an M: tasks, each on top of the one that waits for it. */
struct trace_stack {
    trace_id *id;
    bool *stalled; /* it is in its sync */
    size_t count, room;
};

struct trace_m {
    int32_t p;  /* that it holds; -1 */
    trace_id g; /* that it runs; 0 */
    bool in_call, spins, sleeps;
    struct trace_queue tasks; /* its children that can be stolen */
    struct trace_stack stack;
    trace_id pending; /* it was readied, or thrown out of runnext, and is in no queue yet */
};

struct trace_lane {
    int32_t m; /* the M that works for it; -1 */
    trace_id next;
    struct trace_queue queue;
};

/* The state of a G. */
struct trace_g {
    bool made, begun, ended, waits;
    int32_t why;               /* it waits: enum wait_reason */
    int32_t parked_on;         /* it waits: the lane of the worker on which it ran */
    struct trace_queue *queue; /* it is in, NULL; */
    trace_id *slot;            /* or the runnext that it is in */
};

struct trace_state {
    bool by_m; /* lanes are Ms */
    struct trace_m *m;
    struct trace_lane *lane;
    struct trace_g *g; /* by number */
    int32_t ms, lanes;
    uint32_t gs;
    struct trace_queue global;
    struct trace_changes *changes;   /* who uses the state may have them noted here; NULL: not */
    const struct sched_trace *trace; /* all of it */
    uint64_t odd;                    /* events that fit badly to those before */
    char odd_text[160];              /* the first of them */
};

/* Makes room for everything that the trace names; free it. by_m: lanes are Ms, else Ps. lanes: the
 * least number of them. */
void trace_state_init(struct trace_state *state, const struct sched_trace *trace, bool by_m,
                      int32_t lanes);
/* event: the next one of the trace, among those behind it. */
void trace_state_apply(struct trace_state *state, const struct sched_trace_event *event);
void trace_state_free(struct trace_state *state);

/* An event in words, before it is applied: as diff_event_text() has it, and of a theft how many of
 * how many are taken. Returns text. */
char *trace_event_text(const struct trace_state *state, const struct sched_trace_event *event,
                       char *text, size_t size);

/* The same, with "G 0" or "T 0" where the name stands. */
char *trace_event_nameless(const struct trace_state *state, const struct sched_trace_event *event,
                           char *text, size_t size);

/* Lets no event be earlier than the one before it. Events are in the order of their effects, and a
 * simulated core's clock may be ahead of another's by the model's lookahead. */
void trace_times_rise(struct sched_trace *trace);

/* The lane of an event; -1: of none, its M holds no P. */
int32_t trace_lane_of(const struct trace_state *state, const struct sched_trace_event *event);

/* Names the one who does it: "P0", or "M1" where that M holds no P or lanes are Ms, or "sysmon",
 * which is no M. Returns text. */
char *trace_who(const struct trace_state *state, const struct sched_trace_event *event, char *text,
                size_t size);

/* The newest task of lane i's M, else its G; 0: nothing. */
trace_id trace_lane_runs(const struct trace_state *state, int32_t i);

/* The number of Gs and tasks that can be taken from lane i: its queue, runnext, and its M's
 * tasks. */
size_t trace_lane_length(const struct trace_state *state, int32_t i);

/* trace_only.c -------------------------------------------------------------------------------- */

struct trace_only;

/* Reads a list with commas of kinds ("stolen", as in events.h), goroutines ("G3.1") and workers
 * ("P0", "M1", "sysmon"). NULL and one line in error if a word is none of these. */
struct trace_only *trace_only_parse(const char *text, struct error *error);
void trace_only_free(struct trace_only *only);
const char *trace_only_text(const struct trace_only *only);

/* True if the event is of one of the kinds, about one of the goroutines, and done by one of the
 * workers; a list without any of a sort lets all of that sort pass. */
bool trace_only_has(const struct trace_only *only, const struct sched_trace *trace,
                    const struct sched_trace_event *event);

/* Leaves those events, as if no other ones had happened. */
void trace_only_keep(const struct trace_only *only, struct sched_trace *trace);

/* One run, with all data that a page shows. */
struct trace_page {
    const char *variant, *workload, *machine; /* canonical */
    int workers;
    uint64_t seed;
    bool by_m;
    const json_t *record;
    struct sched_trace trace;
    int64_t first_ns;       /* when the first event came, by the clock of the record */
    json_t *functions;      /* of goroutines by their names, or NULL: trace_functions_to_json() */
    int64_t from_ps, to_ps; /* what is shown, counted from the first event; to_ps 0: to the end */
    int64_t call_ps; /* when the call after those of --warmup begins, likewise; 0: it has none */
    size_t before;   /* events before that call, where two runs are compared from it on */
    bool whole;      /* start-up and the check are asked for; a page opens on all of it */
    size_t startup;  /* else so many events at the beginning are not shown, */
    size_t check;    /* and so many at the end: trace_crop() */
    const struct trace_only *only; /* and which of it; NULL: all */
    const char *lead;              /* words above it on a page, and */
    const json_t *stops;           /* where that stops, as trace_html.c has them; NULL: none */
    json_t *names; /* [[G or task, "fib(3)"]], for a page; NULL: they are named by who made them */
};

/* True if the event, which is one of the page's, is within what is shown. */
bool trace_shows(const struct trace_page *page, const struct sched_trace_event *event);

/* trace_crop.c -------------------------------------------------------------------------------- */

/* Sets startup and check: the first event shown is main's first step, or the first in the call that
 * was asked for; the last one is where the answer is there. Both stay 0 where no event says so.
 * Numbers of steps and times do not change. */
void trace_crop(struct trace_page *page);

/* "Left out: 2 events of start-up, 2 of the check; --whole shows them." Returns text, "" if nothing
 * is left out. */
char *trace_left_out(const struct trace_page *page, char *text, size_t size);

/* trace_services.c ---------------------------------------------------------------------------- */

enum trace_service_id { TRACE_TIMERS, TRACE_POLLER, TRACE_SYSMON, TRACE_SERVICES };
enum { TRACE_MARK_KINDS = 4, TRACE_SERVICE_MARKS = 2 };

/* Something that serves goroutines and is no worker, in words. */
struct trace_service {
    const char *name;
    const char *count; /* of what it has a number, "" if of nothing */
    const char *marks[TRACE_MARK_KINDS];
    const char *missing; /* the events that traces do not have */
};
extern const struct trace_service trace_services[TRACE_SERVICES];

struct trace_service_mark {
    enum trace_service_id service;
    int mark;     /* index in its marks */
    int change;   /* of its number */
    int32_t lane; /* that it is done to; -1: none */
};

/* The marks of an event, before it is applied; returns how many. */
size_t trace_service_marks(const struct trace_state *state, const struct sched_trace_event *event,
                           struct trace_service_mark marks[TRACE_SERVICE_MARKS]);

/* Meanings of the words of these events, each once: {"parked": "a goroutine waits ..."}. Owned by
 * the caller. */
json_t *trace_words_to_json(const struct sched_trace *trace);

/* trace_story.c ------------------------------------------------------------------------------- */

enum trace_slice_kind { SLICE_G, SLICE_TASK, SLICE_CALL };

struct trace_slice {
    int64_t begin_ps, end_ps;
    trace_id id;
    int32_t m, p; /* -1: no P */
    enum trace_slice_kind kind;
    uint32_t depth; /* of a task: how many are below it on this M */
    bool covered;   /* a task began on top of it */
};

/* Something that goes from one M to another, or from lane to lane. */
struct trace_arrow {
    int64_t from_ps, to_ps;
    int32_t from_m, to_m, from_lane, to_lane; /* -1: unknown */
    trace_id id;
    bool steal; /* else a wake-up */
};

struct trace_length {
    int64_t when_ps;
    int32_t lane; /* -1: the global queue */
    uint32_t length;
};

struct trace_story {
    const struct sched_trace *trace;
    struct trace_slice *slice;
    struct trace_arrow *arrow;
    struct trace_length *length; /* changes, in order of time */
    size_t slices, arrows, lengths;
    int32_t lanes, ms, ps;
    bool by_m;
    int64_t begin_ps, end_ps;
    uint64_t odd;
    char odd_text[160];
};

void trace_story_make(struct trace_story *story, const struct trace_page *page);
void trace_story_free(struct trace_story *story);

/* "G3", or "G3 main.serve" where the page has a function for it; returns text. */
enum { TRACE_NAME_SIZE = 512 };
const char *trace_function_text(const struct trace_page *page, trace_id id,
                                char text[TRACE_NAME_SIZE]);

/* Printing ------------------------------------------------------------------------------------- */

/* Prints the table in lines of `width` columns: a row per event, with all workers if they fit. Else
 * it has the worker of the event, and rows below it have the others that changed with it. */
void trace_steps_print(const struct trace_page *page, int width, FILE *to);

/* "gmp fib,n=8 on sim:desktop8, 4 workers, seed 1", and what is shown if not all is; free() it. */
char *trace_title(const struct trace_page *page);
/* The table as JSON, owned by the caller. A queue has its length and its first 300 places. */
json_t *trace_steps_to_json(const struct trace_page *page);

/* Prints a line about events that are not shown or do not fit, or nothing. */
void trace_print_limits(const struct trace_page *page, uint64_t odd, const char *odd_text,
                        FILE *to);

/* Prints the figure for a terminal of so many columns. */
void trace_timeline_print(const struct trace_page *page, int width, FILE *to);

/* Draws the figure by gnuplot, as svg, png or pdf by the ending of path. False and one line in
 * error if that is impossible. */
bool trace_timeline_draw(const struct trace_page *page, const char *path, struct error *error);

json_t *trace_perfetto_to_json(const struct trace_page *page); /* owned by the caller */

enum { TRACE_PLAY_ROWS = 5 }; /* at least: title, event, two of the worker, keys */

/* Shows one event after the other, by keys from the terminal `in`, which is put right at the end.
 * Pre: trace_shows() at least one, height >= TRACE_PLAY_ROWS. */
void trace_play(const struct trace_page *page, int width, int height, int in, FILE *to);

/* The functions of the workload that called the scheduler, with their text, and each site's place
 * among them: {"sites": [[line, function]], "functions": [{name, file, first, text}]}. A text is ""
 * if the source is not there. Where no event has a line, the one function is the workload's run().
 * Owned by the caller. */
json_t *trace_source_to_json(const struct trace_page *page);

/* Where two runs part: the first event in which they differ, counted from 0, and how. */
struct trace_parting {
    int64_t at;
    const char *sentence;
};

/* Writes one HTML file with these runs, one below the other. parting: NULL if there is none. False
 * and one line in error if the viewer's own files cannot be read. */
bool trace_html_write(const struct trace_page *const *pages, size_t count,
                      const struct trace_parting *parting, FILE *to, struct error *error);

/* The functions of goroutines, by their names ("G3.1"), where the workload tells them; the
 * caller's, or NULL. */
struct workload_spec;
json_t *trace_functions_to_json(const struct sched_trace *trace, const struct workload_spec *spec);

/* The first ones as lines. */
void trace_functions_print(json_t *functions, FILE *to);

/* The requests of the last call that lie within what is shown, where the workload tells them:
 * {"name", "goroutine", "function", "from_us", "to_us"}, from the first event on. Owned by the
 * caller; NULL: it does not. */
json_t *trace_requests_to_json(const struct trace_page *page);

/* The first ones as lines. */
void trace_requests_print(const struct trace_page *page, FILE *to);

#endif
