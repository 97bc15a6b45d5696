/* diff_words.c - see diff.h: what an event says. */
#include "harness/base/text.h"
#include "harness/trace/diff.h"
#include "sched.h"

#include <inttypes.h>
#include <string.h>

static const char *word_of(const char *const *words, size_t count, int32_t which)
{
    return which >= 0 && (size_t)which < count ? words[which] : "?";
}
#define WORD_OF(words, which) word_of(words, sizeof words / sizeof words[0], which)

static const char *const how_words[] = {
    [READY_NEW] = "new",          [READY_WOKEN] = "woken",       [READY_YIELD] = "yields",
    [READY_STEP_BACK] = "yields", [READY_PARENT] = "parent",     [READY_PREEMPTED] = "preempted",
    [READY_POLLED] = "I/O",       [READY_INJECTED] = "injected",
};

static const char *const queue_words[] = {
    [INTO_RUNNEXT] = "runnext",
    [INTO_LOCAL] = "local",
    [INTO_GLOBAL] = "global",
    [INTO_WORKER] = "worker",
};

static const char *const source_words[] = {
    [FROM_RUNNEXT] = "runnext", [FROM_LOCAL] = "local",   [FROM_GLOBAL] = "global",
    [FROM_TICK] = "tick",       [FROM_VICTIM] = "victim",
};

static const char *const as_words[] = {
    [AS_OWN] = "own",
    [AS_STOLEN] = "stolen",
    [AS_CLAIMED] = "claimed",
};

static const char *const why_words[] = {
    [WAIT_NONE] = "?",
    [WAIT_CHAN_SEND] = "chan send",
    [WAIT_CHAN_RECV] = "chan receive",
    [WAIT_WAITGROUP] = "wait group",
    [WAIT_MUTEX] = "mutex",
    [WAIT_COND] = "cond",
    [WAIT_JOIN] = "join",
    [WAIT_SYNC] = "sync",
    [WAIT_SLEEP] = "sleep",
    [WAIT_IO_READ] = "reading",
    [WAIT_IO_WRITE] = "writing",
    [WAIT_IO_TURN] = "I/O",
    [WAIT_IO_CLOSE] = "close",
    [WAIT_CHILD] = "child",
    [WAIT_SELECT] = "select",
    [WAIT_SEM] = "semaphore",
    [WAIT_READ_LOCK] = "read lock",
    [WAIT_WRITE_LOCK] = "write lock",
};

/* Queues are those of Ps, or of Ms where no thread holds a P. */
static char letter_of(const struct sched_trace_event *event)
{
    return event->p >= 0 ? 'P' : 'M';
}

static void text_of_taken(const struct sched_trace_event *event, const char *g, bool brief,
                          char *text, size_t size)
{
    static const char *const brief_words[] = {
        [FROM_RUNNEXT] = "runnext",   [FROM_LOCAL] = "own queue", [FROM_GLOBAL] = "global queue",
        [FROM_TICK] = "global, tick", [FROM_VICTIM] = "queue of",
    };
    static const char *const words[] = {
        [FROM_RUNNEXT] = "runnext",         [FROM_LOCAL] = "its own queue",
        [FROM_GLOBAL] = "the global queue", [FROM_TICK] = "the global queue because schedtick was",
        [FROM_VICTIM] = "the queue of",
    };
    snprintf(text, size, "took %s%s%s", g, brief ? ": " : " from ",
             brief ? WORD_OF(brief_words, event->a) : WORD_OF(words, event->a));
    if (event->a == FROM_TICK)
        text_add(text, size, " %u", event->tick);
    else if (event->a == FROM_VICTIM)
        text_add(text, size, " %c%" PRId32, letter_of(event), event->b);
}

static void text_of_put(const struct sched_trace_event *event, const char *g, char *text,
                        size_t size)
{
    static const char *const words[] = {
        [INTO_RUNNEXT] = "runnext",
        [INTO_LOCAL] = "its own queue",
        [INTO_GLOBAL] = "the global queue",
        [INTO_WORKER] = "the queue of",
    };
    snprintf(text, size, "put %s into %s", g, WORD_OF(words, event->a));
    if (event->a == INTO_WORKER)
        text_add(text, size, " %c%" PRId32, letter_of(event), event->b);
}

/* The text of an event: the first %s is whom or how many it is about, the second more_of(). */
static const char *const sentences[SCHED_EVENT_COUNT] = {
    [SCHED_CREATED] = "created %s",
    [SCHED_READIED] = "readied %s (%s)",
    [SCHED_DISPATCHED] = "ran %s%s",
    [SCHED_PARKED] = "parked %s (%s)",
    [SCHED_ENDED] = "ended %s",
    [SCHED_CALL_BEGUN] = "began a call in %s",
    [SCHED_CALL_OVER] = "ended a call in %s",
    [SCHED_CALLED] = "called a child in %s",
    [SCHED_CALL_RETURNED] = "returned from the call of a child in %s",
    [SCHED_SYNCED] = "came to a sync in %s",
    [SCHED_RETURNED] = "returned from %s",
    [SCHED_JOINED] = "joined all children in %s",
    [SCHED_STALLED] = "stalled at a sync in %s",
    [SCHED_SPUN] = "began to spin",
    [SCHED_FOUND_NOTHING] = "found nothing to steal",
    [SCHED_SLEPT] = "went to sleep",
    [SCHED_WOKEN] = "woke M%s",
    [SCHED_THREAD_STARTED] = "started M%s",
    [SCHED_P_TAKEN] = "got P%s",
    [SCHED_P_IDLED] = "left P%s idle",
    [SCHED_P_HANDED_OFF] = "handed off P%s",
    [SCHED_PREEMPT_ASKED] = "asked M%s to end its slice",
    [SCHED_STOLEN] = "stole %s%s",
    [SCHED_MOVED] = "moved %s more from the global queue",
    [SCHED_OVERFLOWED] = "moved %s to the global queue",
    [SCHED_TASKS_PUBLISHED] = "published %s",
    [SCHED_TASK_TAKEN_BACK] = "took a task back",
    [SCHED_TASK_STOLEN] = "stole a task of M%s",
    [SCHED_TASK_SPAWNED] = "spawned %s",
    [SCHED_TASK_BEGUN] = "began %s%s",
    [SCHED_TASK_DONE] = "was done with %s",
    [SCHED_TASK_RETURNED] = "returned from %s",
};

static const char *more_of(const struct sched_trace_event *event)
{
    static const char *const as[] = {
        [AS_OWN] = "", [AS_STOLEN] = ", stolen", [AS_CLAIMED] = " as a call"};
    switch (event->kind) {
    case SCHED_READIED:
        return WORD_OF(how_words, event->a);
    case SCHED_PARKED:
        return WORD_OF(why_words, event->a);
    case SCHED_DISPATCHED:
        return event->a ? " in the same slice" : "";
    case SCHED_STOLEN:
        return event->b ? " out of runnext" : "";
    default: /* SCHED_TASK_BEGUN, of those that ask */
        return WORD_OF(as, event->a);
    }
}

/* The number that an event of an M is about: of an M or a P, or a count with its noun. */
static struct counted number_of(const struct sched_trace_event *event)
{
    bool gs = event->kind == SCHED_STOLEN || event->kind == SCHED_MOVED ||
              event->kind == SCHED_OVERFLOWED;
    struct counted number;
    if (gs || event->kind == SCHED_TASKS_PUBLISHED)
        return counted((uint64_t)event->a, gs ? "G" : "task");
    snprintf(number.s, sizeof number.s, "%" PRId32, event->a);
    return number;
}

char *diff_event_text(const struct sched_trace *trace, const struct sched_trace_event *event,
                      bool brief, char *text, size_t size)
{
    char name[SCHED_TRACE_NAME];
    bool of_m = event->kind >= SCHED_EVENT_FIRST_OF_MS && event->kind < SCHED_EVENT_FIRST_OF_TASKS;
    sched_trace_name(trace, event->g, event->kind >= SCHED_EVENT_FIRST_OF_TASKS, name);
    if (event->kind == SCHED_PUT)
        text_of_put(event, name, text, size);
    else if (event->kind == SCHED_TAKEN)
        text_of_taken(event, name, brief, text, size);
    else
        snprintf(text, size, sentences[event->kind], of_m ? number_of(event).s : name,
                 more_of(event));
    return text;
}

/* JSON ---------------------------------------------------------------------------------------- */

static void json_set_argument(json_t *object, const char *name, int32_t value)
{
#define ARGUMENT(name, words)                                                                      \
    {                                                                                              \
        name, words, sizeof words / sizeof words[0]                                                \
    }
    static const struct {
        const char *name, *const *words;
        size_t count;
    } worded[] = {ARGUMENT("how", how_words), ARGUMENT("into", queue_words),
                  ARGUMENT("from", source_words), ARGUMENT("as", as_words),
                  ARGUMENT("why", why_words)};
#undef ARGUMENT
    json_t *json = NULL;
    if (*name == '\0')
        return;
    for (size_t i = 0; i < sizeof worded / sizeof worded[0] && !json; i++)
        if (strcmp(name, worded[i].name) == 0)
            json = json_string(word_of(worded[i].words, worded[i].count, value));
    json_object_set_new(object, name, json ? json : json_integer(value));
}

json_t *diff_event_to_json(const struct sched_trace *trace, const struct sched_trace_event *event,
                           size_t index)
{
    static const char *const arguments[SCHED_EVENT_COUNT][2] = {
#define ARGUMENTS(name, first, second) {first, second},
        SCHED_EVENTS_OF_GS(ARGUMENTS) SCHED_EVENTS_OF_MS(ARGUMENTS) SCHED_EVENTS_OF_TASKS(ARGUMENTS)
#undef ARGUMENTS
    };
    char text[128], name[SCHED_TRACE_NAME];
    bool is_task = event->kind >= SCHED_EVENT_FIRST_OF_TASKS;
    json_t *object = json_pack("{sI sI si si ss}", "index", (json_int_t)index, "when_ps",
                               (json_int_t)event->when_ps, "core", event->core, "m_self", event->m,
                               "event", sched_trace_names[event->kind]);
    if (event->p >= 0)
        json_object_set_new(object, "p_self", json_integer(event->p));
    if (event->g > 0)
        json_object_set_new(object, is_task ? "task" : "g",
                            json_string(sched_trace_name(trace, event->g, is_task, name)));
    json_set_argument(object, arguments[event->kind][0], event->a);
    if ((event->kind != SCHED_TAKEN || event->a == FROM_VICTIM) &&
        (event->kind != SCHED_PUT || event->a == INTO_WORKER))
        json_set_argument(object, arguments[event->kind][1], event->b);
    if (event->kind == SCHED_TAKEN)
        json_object_set_new(object, "schedtick", json_integer(event->tick));
    json_object_set_new(object, "text",
                        json_string(diff_event_text(trace, event, false, text, sizeof text)));
    return object;
}
