/* sched_trace.c - see sched_trace.h. */
#include "harness/models/sched_trace.h"

#include "harness/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const sched_trace_names[SCHED_EVENT_COUNT] = {
#define EVENT_NAME(name, first, second) #name,
    SCHED_EVENTS_OF_GS(EVENT_NAME) SCHED_EVENTS_OF_MS(EVENT_NAME) SCHED_EVENTS_OF_TASKS(EVENT_NAME)
#undef EVENT_NAME
};

enum { NUMBER_MAX = 1 << 30 };

/* Names of Gs --------------------------------------------------------------------------------- */

/* A place of the runtime's, which serves one G or task after the other. */
struct g_place {
    uint64_t key;
    uint32_t number, children;
};

/* Births of Gs or tasks, by number. */
struct births {
    struct sched_trace_birth *birth;
    size_t count, room;
};

/* A task's, found by the address of its record. */
struct task_place {
    int64_t address; /* 0: none is here */
    int64_t below;   /* address of the task on which it runs, on the same M; 0: none */
    struct g_place place;
};

/* State while a trace is read. Tables grow to the largest number seen. */
struct reader {
    struct g_place *gs;
    int64_t *running;   /* by M: the place of its G; -1 */
    uint32_t *children; /* by M: Gs made by no G */
    uint32_t *ticks;    /* by P */
    int64_t *task;      /* by M: the address of the newest task on its stack; 0: none */
    size_t gs_count, ms_count, ps_count;
    uint32_t last_number;
    struct task_place *tasks; /* a power of two of them, at most half of them in use */
    size_t tasks_count, tasks_room;
    uint32_t last_task;
    struct births g_births, task_births;
};

static void *grow(void *table, size_t *count, size_t needed, size_t size)
{
    size_t old = *count;
    if (needed <= old)
        return table;
    *count = 2 * needed;
    char *larger = xrealloc(table, *count * size);
    memset(larger + old * size, 0, (*count - old) * size);
    return larger;
}

/* For events of no M or P too: -1, and so the sums below wrap to 1. */
static void reader_make_room(struct reader *reader, const struct sched_trace_event *event,
                             int64_t place)
{
    size_t ms = reader->ms_count, m = (size_t)event->m + 2, p = (size_t)event->p + 2;
    reader->children = grow(reader->children, &ms, m, sizeof reader->children[0]);
    ms = reader->ms_count;
    reader->running = grow(reader->running, &ms, m, sizeof reader->running[0]);
    for (size_t i = reader->ms_count; i < ms; i++)
        reader->running[i] = -1;
    ms = reader->ms_count;
    reader->task = grow(reader->task, &ms, m, sizeof reader->task[0]);
    reader->ms_count = ms;
    reader->ticks = grow(reader->ticks, &reader->ps_count, p, sizeof reader->ticks[0]);
    reader->gs = grow(reader->gs, &reader->gs_count, (size_t)(place + 1), sizeof reader->gs[0]);
}

/* Source: the finalizer of splitmix64. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static struct task_place *task_find(const struct reader *reader, int64_t address)
{
    size_t at = mix((uint64_t)address) & (reader->tasks_room - 1);
    while (reader->tasks[at].address && reader->tasks[at].address != address)
        at = (at + 1) & (reader->tasks_room - 1);
    return &reader->tasks[at];
}

/* The place for a task's record, made if there is none. */
static struct task_place *task_place(struct reader *reader, int64_t address)
{
    if (2 * reader->tasks_count >= reader->tasks_room) {
        struct reader old = *reader;
        reader->tasks_room = old.tasks_room ? 2 * old.tasks_room : 64;
        reader->tasks = xcalloc(reader->tasks_room, sizeof reader->tasks[0]);
        for (size_t i = 0; i < old.tasks_room; i++)
            if (old.tasks[i].address)
                *task_find(reader, old.tasks[i].address) = old.tasks[i];
        free(old.tasks);
    }
    struct task_place *task = task_find(reader, address);
    reader->tasks_count += !task->address;
    task->address = address;
    return task;
}

static void births_add(struct births *births, uint32_t number, struct sched_trace_birth birth)
{
    births->birth = grow(births->birth, &births->room, (size_t)number + 1, sizeof birth);
    births->birth[number] = birth;
    births->count = (size_t)number + 1;
}

/* The place of a new child, made by the task, G or M that runs on the event's M now. Numbers the
 * child. */
static struct g_place child_of(struct reader *reader, const struct sched_trace_event *event,
                               uint32_t *last_number, struct births *births)
{
    int64_t running = reader->running[event->m + 1], task = reader->task[event->m + 1];
    uint64_t of = (uint64_t)event->m + 1;
    uint32_t *children = &reader->children[event->m + 1];
    bool by_task = reader->tasks && task;
    struct g_place *parent = by_task        ? &task_find(reader, task)->place
                             : running >= 0 ? &reader->gs[running]
                                            : NULL;
    if (parent) {
        of = parent->key;
        children = &parent->children;
    }
    births_add(births, ++*last_number,
               (struct sched_trace_birth){parent ? parent->number : 0, *children, by_task});
    uint64_t key = mix(mix(of + UINT64_C(0x9e3779b97f4a7c15)) + ++*children);
    return (struct g_place){key, *last_number, 0};
}

static void reader_name_task(struct reader *reader, struct sched_trace_event *event,
                             int64_t address)
{
    reader_make_room(reader, event, -1);
    task_place(reader, address); /* before others are pointed at */
    if (event->kind == SCHED_TASK_SPAWNED) {
        struct g_place child = child_of(reader, event, &reader->last_task, &reader->task_births);
        task_find(reader, address)->place = child;
    }
    struct task_place *task = task_find(reader, address);
    int64_t *newest = &reader->task[event->m + 1];
    if (event->kind == SCHED_TASK_BEGUN && event->a != AS_CLAIMED) {
        task->below = *newest;
        *newest = address;
    } else if (event->kind == SCHED_TASK_RETURNED && *newest == address) {
        *newest = task->below;
    }
    event->tick = reader->ticks[event->p + 1];
    event->g = task->place.number;
    event->g_key = task->place.key;
}

static void reader_name(struct reader *reader, struct sched_trace_event *event, int64_t place)
{
    if (event->kind >= SCHED_EVENT_FIRST_OF_TASKS) {
        reader_name_task(reader, event, place);
        return;
    }
    reader_make_room(reader, event, place);
    if (event->kind == SCHED_CREATED)
        reader->gs[place] = child_of(reader, event, &reader->last_number, &reader->g_births);
    event->tick = reader->ticks[event->p + 1];
    if (place >= 0) {
        event->g = reader->gs[place].number;
        event->g_key = reader->gs[place].key;
    }
    if (event->kind == SCHED_DISPATCHED) {
        reader->running[event->m + 1] = place;
        reader->ticks[event->p + 1] += !event->a;
    } else if ((event->kind == SCHED_PARKED || event->kind == SCHED_ENDED) &&
               reader->running[event->m + 1] == place) {
        reader->running[event->m + 1] = -1; /* who ends may do so when the next one runs already */
    }
}

/* Reading ------------------------------------------------------------------------------------- */

static int kind_find(const char *name)
{
    for (int kind = 0; kind < SCHED_EVENT_COUNT; kind++)
        if (strcmp(name, sched_trace_names[kind]) == 0)
            return kind;
    return -1;
}

static bool event_parse(struct sched_trace_event *event, int64_t *place, char *line)
{
    int64_t number[8] = {0};
    char *at = line, *name = NULL;
    *event = (struct sched_trace_event){.when_ps = 0};
    for (int i = 0; i < 8 && (i < 7 || at[-1] == '\t'); i++) {
        if (i == 4) {
            name = at;
            at += strcspn(at, "\t");
            if (*at != '\t')
                return false;
            *at++ = '\0';
        }
        char *end;
        number[i] = strtoll(at, &end, 10);
        bool fits = (*end == '\t' && i < 7) || (*end == '\n' && i >= 6);
        if (end == at || !fits)
            return false;
        at = end + 1;
    }
    int kind = kind_find(name);
    if (kind == SCHED_TAKEN && (number[5] < 0 || number[5] > FROM_VICTIM))
        return false;
    if (kind < 0 || number[2] < -1 || number[3] < -1 || number[4] < -1 || number[2] > NUMBER_MAX ||
        number[3] > NUMBER_MAX ||
        (kind < SCHED_EVENT_FIRST_OF_TASKS ? number[4] > NUMBER_MAX : number[4] <= 0))
        return false;
    event->when_ps = number[0];
    event->core = (uint8_t)number[1];
    event->m = (int32_t)number[2];
    event->p = (int32_t)number[3];
    *place = number[4];
    event->a = (int32_t)number[5];
    event->b = (int32_t)number[6];
    event->kind = (uint8_t)kind;
    event->site = number[7] > 0 && number[7] <= UINT16_MAX ? (uint16_t)number[7] : 0;
    return true;
}

static bool site_add(struct sched_trace *trace, const char *line)
{
    struct sched_trace_site site;
    if (sscanf(line, "@\t%d\t%d\t%127[^\t\n]\t%127[^\t\n]", &site.line, &site.first, site.file,
               site.function) != 4)
        return false;
    array_add(trace->site, trace->sites) = site;
    return true;
}

bool sched_trace_read(struct sched_trace *trace, FILE *from, struct error *error)
{
    struct reader reader = {.last_number = 0};
    struct sched_trace_event event;
    char line[512] = "";
    size_t room = 0;
    int64_t place;
    *trace = (struct sched_trace){.count = 0};
    bool ok = fgets(line, sizeof line, from) && sscanf(line, "# %" SCNu64 " events since %" SCNd64,
                                                       &trace->happened, &trace->since_ns) >= 1;
    while (ok && fgets(line, sizeof line, from)) {
        if (*line == '@') {
            ok = site_add(trace, line);
            continue;
        }
        ok = event_parse(&event, &place, line);
        if (!ok)
            break;
        reader_name(&reader, &event, place);
        array_push(trace->event, trace->count, room) = event;
    }
    trace->g = reader.g_births.birth;
    trace->gs = reader.g_births.count;
    trace->task = reader.task_births.birth;
    trace->tasks = reader.task_births.count;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->event[i].site > trace->sites)
            trace->event[i].site = 0;
    if (!ok) {
        line[strcspn(line, "\n")] = '\0';
        error_print(error, "line %zu of the scheduler's events is none: \"%s\"", trace->count + 2,
                    line);
        sched_trace_free(trace);
    }
    free(reader.gs);
    free(reader.running);
    free(reader.children);
    free(reader.ticks);
    free(reader.task);
    free(reader.tasks);
    return ok;
}

void sched_trace_from_first(struct sched_trace *trace)
{
    for (size_t i = trace->count; i-- > 0;)
        trace->event[i].when_ps -= trace->event[0].when_ps;
}

/* Names --------------------------------------------------------------------------------------- */

enum { LEVELS_MAX = 8 };

char *sched_trace_name(const struct sched_trace *trace, uint32_t number, bool is_task,
                       char text[SCHED_TRACE_NAME])
{
    uint32_t child[LEVELS_MAX], at = number;
    int levels = 0, length;
    bool of_task = is_task;
    char letter = is_task ? 'T' : 'G';
    *text = '\0';
    if (!trace)
        snprintf(text, SCHED_TRACE_NAME, "%c 0", letter);
    if (!trace || number == 0)
        return text;
    while (levels < LEVELS_MAX && at < (of_task ? trace->tasks : trace->gs)) {
        struct sched_trace_birth birth = (of_task ? trace->task : trace->g)[at];
        if (birth.parent == 0)
            break;
        child[levels++] = birth.child;
        at = birth.parent;
        of_task = birth.by_task;
    }
    bool of_main = !of_task && at == 1;
    if (levels == 0 && of_main)
        return strcpy(text, "main");
    length = snprintf(text, SCHED_TRACE_NAME, "%c", letter);
    for (int i = levels; i-- > 0 && length < SCHED_TRACE_NAME;)
        length += snprintf(text + length, (size_t)(SCHED_TRACE_NAME - length), "%" PRIu32 "%s",
                           child[i], i ? "." : "");
    if (!of_main || length >= SCHED_TRACE_NAME)
        snprintf(text, SCHED_TRACE_NAME, "%c#%" PRIu32, letter, number);
    return text;
}

void sched_trace_free(struct sched_trace *trace)
{
    free(trace->event);
    free(trace->site);
    free(trace->g);
    free(trace->task);
    *trace = (struct sched_trace){.count = 0};
}
