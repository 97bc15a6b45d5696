/* gotrace.c - see gotrace.h. */
#include "harness/gotrace/gotrace.h"

#include "harness/base/memory.h"
#include "harness/gotrace/gotext.h"
#include "harness/gotrace/gotrace_source.h"
#include "harness/gotrace/gotrace_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    EVENT_BATCH = 1,
    EVENT_STACKS = 2,
    EVENT_STRINGS = 4,
    EVENT_CPU_SAMPLES = 6,
    EVENT_FREQUENCY = 8,
    EVENT_EXPERIMENT = 49,
    EVENT_SYNC = 50,
    EVENT_GENERATION_END = 52, /* Go 1.26 and later write it between batches */
    BATCH_MAX = 1 << 24,
    G_BUCKETS = 1 << 16,
    NONE = -1
};

/* How many arguments an event has, the time among them; 0: there is no such event in a batch. */
static const uint8_t args_of[256] = {
    [9] = 3,   [10] = 3,  [11] = 1,  [12] = 4,  [13] = 3,  [14] = 4,  [15] = 2,  [16] = 3,
    [17] = 1,  [18] = 1,  [19] = 3,  [20] = 3,  [21] = 4,  [22] = 3,  [23] = 1,  [24] = 1,
    [25] = 4,  [26] = 3,  [27] = 1,  [28] = 2,  [29] = 3,  [30] = 2,  [31] = 2,  [32] = 2,
    [33] = 3,  [34] = 2,  [35] = 2,  [36] = 1,  [37] = 2,  [38] = 2,  [39] = 2,  [40] = 5,
    [41] = 3,  [42] = 4,  [43] = 4,  [44] = 5,  [45] = 3,  [46] = 3,  [47] = 4,  [48] = 5,
    [51] = 4,  [128] = 4, [129] = 4, [130] = 2, [131] = 3, [132] = 3, [133] = 2, [134] = 3,
    [135] = 3, [136] = 2,
};

/* Events of goroutines, in Go's words. */
static const char *const names[256] = {
    [GOTRACE_CREATE] = "GoCreate",
    [GOTRACE_CREATE_SYSCALL] = "GoCreateSyscall",
    [GOTRACE_START] = "GoStart",
    [GOTRACE_DESTROY] = "GoDestroy",
    [GOTRACE_DESTROY_SYSCALL] = "GoDestroySyscall",
    [GOTRACE_STOP] = "GoStop",
    [GOTRACE_BLOCK] = "GoBlock",
    [GOTRACE_UNBLOCK] = "GoUnblock",
    [GOTRACE_SYSCALL_BEGIN] = "GoSyscallBegin",
    [GOTRACE_SYSCALL_END] = "GoSyscallEnd",
    [GOTRACE_SYSCALL_END_BLOCKED] = "GoSyscallEndBlocked",
    [GOTRACE_STATUS] = "GoStatus",
    [GOTRACE_TASK_BEGIN] = "UserTaskBegin",
    [GOTRACE_TASK_END] = "UserTaskEnd",
    [GOTRACE_REGION_BEGIN] = "UserRegionBegin",
    [GOTRACE_REGION_END] = "UserRegionEnd",
    [GOTRACE_SWITCH] = "GoSwitch",
    [GOTRACE_SWITCH_DESTROY] = "GoSwitchDestroy",
    [GOTRACE_CREATE_BLOCKED] = "GoCreateBlocked",
    [GOTRACE_STATUS_STACK] = "GoStatusStack",
};

struct batch {
    const uint8_t *at, *end;
    uint64_t ticks;
    int64_t next; /* of the same thread; NONE */
};

/* A thread of the program, and where its events are read. */
struct thread {
    uint64_t id;
    struct gotrace_g *on;
    int64_t first, last; /* batches of this generation */
    struct batch now;
    bool has_event;
    uint8_t kind;
    uint64_t ticks, args[GOTRACE_ARGS];
};

struct gotrace {
    struct gotrace_source source;
    const uint8_t *bytes; /* the source's */
    size_t size;
    char torn[160];
    struct gotrace_mark last; /* of the events that were taken */
    bool is_marked;           /* it is the one before the tear: later ones are of other threads */
    size_t at;                /* of the next batch */
    uint64_t generation, frequency, first_ticks;
    bool has_begun; /* a generation was read */
    struct batch *batches;
    size_t batches_count, batches_max;
    struct thread *threads;
    size_t threads_count, threads_max;
    struct gotrace_tables tables;
    struct gotrace_g **buckets;
    struct gotrace_g *ended;
    uint64_t disorder;
};

static bool tear(struct gotrace *trace, const uint8_t *at, const char *why)
{
    if (!*trace->torn)
        snprintf(trace->torn, sizeof trace->torn, "byte %zu: %s", (size_t)(at - trace->bytes), why);
    return false;
}

/* Opening ------------------------------------------------------------------------------------- */

struct gotrace *gotrace_open(const char *path, struct error *error)
{
    struct gotrace *trace = xcalloc(1, sizeof *trace);
    trace->buckets = xcalloc(G_BUCKETS, sizeof(struct gotrace_g *));
    if (gotrace_source_open(path, &trace->source, &trace->tables, error)) {
        trace->bytes = trace->source.bytes;
        trace->size = trace->source.size;
        trace->at = GOTRACE_HEAD_SIZE;
        trace->generation = trace->source.text ? 1 : 0;
        return trace;
    }
    gotrace_close(trace, NULL);
    return NULL;
}

/* Goroutines ---------------------------------------------------------------------------------- */

static struct gotrace_g **bucket_of(const struct gotrace *trace, uint64_t id)
{
    return &trace->buckets[(id * UINT64_C(0x9e3779b97f4a7c15)) >> 48];
}

static struct gotrace_g *g_find(const struct gotrace *trace, uint64_t id)
{
    struct gotrace_g *g = *bucket_of(trace, id);
    while (g && g->id != id)
        g = g->next;
    return g;
}

static struct gotrace_g *g_make(struct gotrace *trace, uint64_t id)
{
    struct gotrace_g *g = g_find(trace, id), **bucket = bucket_of(trace, id);
    if (g)
        return g;
    g = xcalloc(1, sizeof *g);
    g->id = id;
    g->next = *bucket;
    *bucket = g;
    return g;
}

/* Its memory stays until the next event. */
static void g_end(struct gotrace *trace, struct gotrace_g *g)
{
    struct gotrace_g **at = bucket_of(trace, g->id);
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    trace->ended = g;
    for (size_t i = 0; i < trace->threads_count; i++)
        if (trace->threads[i].on == g)
            trace->threads[i].on = NULL;
}

void gotrace_each(struct gotrace *trace, void (*visit)(struct gotrace_g *g, void *arg), void *arg)
{
    for (size_t i = 0; i < G_BUCKETS; i++)
        for (struct gotrace_g *g = trace->buckets[i]; g; g = g->next)
            visit(g, arg);
}

/* Generations --------------------------------------------------------------------------------- */

static struct thread *thread_of(struct gotrace *trace, uint64_t id)
{
    for (size_t i = 0; i < trace->threads_count; i++)
        if (trace->threads[i].id == id)
            return &trace->threads[i];
    array_push(trace->threads, trace->threads_count, trace->threads_max) =
        (struct thread){.id = id, .first = NONE, .last = NONE};
    return &trace->threads[trace->threads_count - 1];
}

static void batch_add(struct gotrace *trace, uint64_t thread_id, struct batch batch)
{
    struct thread *thread = thread_of(trace, thread_id);
    batch.next = NONE;
    if (thread->last != NONE)
        trace->batches[thread->last].next = (int64_t)trace->batches_count;
    else
        thread->first = (int64_t)trace->batches_count;
    thread->last = (int64_t)trace->batches_count;
    array_push(trace->batches, trace->batches_count, trace->batches_max) = batch;
    if (!trace->has_begun && (trace->batches_count == 1 || batch.ticks < trace->first_ticks))
        trace->first_ticks = batch.ticks;
}

static bool frequency_read(struct gotrace *trace, const uint8_t *at, const uint8_t *end)
{
    uint64_t frequency;
    at += *at == EVENT_SYNC;
    if (at < end && *at++ == EVENT_FREQUENCY && gotrace_varint(&at, end, &frequency) && frequency)
        trace->frequency = frequency;
    return true;
}

/* One batch of the generation that is read. Its kind is that of its first event. */
static bool batch_take(struct gotrace *trace, uint64_t thread, struct batch batch)
{
    switch (*batch.at) {
    case EVENT_STRINGS:
        return gotrace_tables_strings(&trace->tables, batch.at, batch.end) ||
               tear(trace, batch.at, "a table of strings cannot be read");
    case EVENT_STACKS:
        return gotrace_tables_stacks(&trace->tables, batch.at, batch.end) ||
               tear(trace, batch.at, "a table of stacks cannot be read");
    case EVENT_FREQUENCY:
    case EVENT_SYNC:
        return frequency_read(trace, batch.at, batch.end);
    case EVENT_CPU_SAMPLES:
        return true;
    default:
        batch_add(trace, thread, batch);
        return true;
    }
}

/* The head of a batch, and where its bytes lie. False where the trace ends or is torn. */
static bool batch_head(struct gotrace *trace, uint64_t *generation, uint64_t *thread,
                       struct batch *batch, bool *is_experiment)
{
    const uint8_t *start = trace->bytes + trace->at, *end = trace->bytes + trace->size;
    uint64_t size;
    while (start < end && *start == EVENT_GENERATION_END)
        start = trace->bytes + ++trace->at;
    const uint8_t *at = start;
    if (at == end)
        return false;
    *is_experiment = *at == EVENT_EXPERIMENT;
    if (*at != EVENT_BATCH && !*is_experiment)
        return tear(trace, start, "no batch of events begins here");
    at += 1 + *is_experiment;
    if (at > end || !gotrace_varint(&at, end, generation) || !gotrace_varint(&at, end, thread) ||
        !gotrace_varint(&at, end, &batch->ticks) || !gotrace_varint(&at, end, &size))
        return tear(trace, start, "the file ends within the head of a batch");
    if (size > BATCH_MAX)
        return tear(trace, start, "a batch is larger than any that Go writes");
    if (size > (size_t)(end - at))
        return tear(trace, start, "the file ends within a batch");
    batch->at = at;
    batch->end = at + size;
    return true;
}

/* Pages of generations that are over are read anew by who asks for one of their strings. */
static void generation_begin(struct gotrace *trace)
{
    size_t pages = trace->at & ~((size_t)sysconf(_SC_PAGESIZE) - 1);
    if (pages > 0)
        madvise((void *)(uintptr_t)trace->bytes, pages, MADV_DONTNEED);
    trace->batches_count = 0;
    gotrace_tables_clear(&trace->tables);
    for (size_t i = 0; i < trace->threads_count; i++)
        trace->threads[i].first = trace->threads[i].last = NONE;
}

/* The next event of the thread, or has_event is false. */
static void thread_advance(struct gotrace *trace, struct thread *thread)
{
    thread->has_event = false;
    while (thread->now.at == thread->now.end) {
        if (thread->now.next == NONE)
            return;
        thread->now = trace->batches[thread->now.next];
        thread->ticks = thread->now.ticks;
    }
    const uint8_t *start = thread->now.at;
    uint64_t delta = 0;
    thread->kind = *thread->now.at++;
    bool is_whole = args_of[thread->kind] > 0;
    for (int i = 0; is_whole && i < args_of[thread->kind]; i++)
        is_whole = gotrace_varint(&thread->now.at, thread->now.end,
                                  i == 0 ? &delta : &thread->args[i - 1]);
    if (!is_whole) {
        char why[64];
        snprintf(why, sizeof why, "event %u is not known or not whole", thread->kind);
        trace->is_marked |= !*trace->torn;
        tear(trace, start, why);
        thread->now = (struct batch){.next = NONE};
        return;
    }
    thread->ticks += delta;
    thread->has_event = true;
}

/* Reads the batches of the next generation. False if there is none. */
static bool generation_read(struct gotrace *trace)
{
    uint64_t generation = 0, thread;
    struct batch batch;
    bool is_experiment;
    if (*trace->torn)
        return false;
    generation_begin(trace);
    for (bool is_first = true; batch_head(trace, &generation, &thread, &batch, &is_experiment);
         is_first = false) {
        if (is_first)
            trace->generation = generation;
        if (generation != trace->generation)
            break;
        trace->at = (size_t)(batch.end - trace->bytes);
        if (batch.at < batch.end && !is_experiment && !batch_take(trace, thread, batch))
            break;
    }
    if (trace->frequency == 0 && trace->batches_count > 0) {
        tear(trace, trace->bytes + trace->at, "the file ends before the clock's frequency");
        trace->batches_count = 0;
        return false;
    }
    for (size_t i = 0; i < trace->threads_count; i++) {
        struct thread *at = &trace->threads[i];
        at->now = (struct batch){.next = at->first};
        thread_advance(trace, at);
    }
    trace->has_begun |= trace->batches_count > 0;
    return trace->batches_count > 0 || (!*trace->torn && trace->at < trace->size);
}

/* Order --------------------------------------------------------------------------------------- */

static bool succeeds(const struct gotrace *trace, const struct gotrace_g *g, uint64_t sequence)
{
    return g->generation == trace->generation && sequence == g->sequence + 1;
}

/* True if nothing that another thread has still to tell comes before it. */
static bool may_come(const struct gotrace *trace, const struct thread *thread)
{
    const struct gotrace_g *g;
    switch (thread->kind) {
    case GOTRACE_START:
        g = g_find(trace, thread->args[0]);
        return g && g->status == GOTRACE_RUNNABLE && succeeds(trace, g, thread->args[1]);
    case GOTRACE_UNBLOCK:
    case GOTRACE_SWITCH:
    case GOTRACE_SWITCH_DESTROY:
        g = g_find(trace, thread->args[0]);
        return g && g->status == GOTRACE_WAITING && succeeds(trace, g, thread->args[1]);
    case GOTRACE_STATUS:
    case GOTRACE_STATUS_STACK:
        g = g_find(trace, thread->args[0]);
        return !g || g->status == (enum gotrace_status)thread->args[2];
    default:
        return true;
    }
}

/* The thread whose event is next; NULL: none has one. */
static struct thread *thread_choose(struct gotrace *trace)
{
    struct thread *best = NULL, *first = NULL;
    for (size_t i = 0; i < trace->threads_count; i++) {
        struct thread *thread = &trace->threads[i];
        if (!thread->has_event)
            continue;
        if (!first || thread->ticks < first->ticks)
            first = thread;
        if ((!best || thread->ticks < best->ticks) && may_come(trace, thread))
            best = thread;
    }
    trace->disorder += !best && first;
    return best ? best : first;
}

static void bind(struct gotrace *trace, struct thread *thread, struct gotrace_g *g)
{
    for (size_t i = 0; i < trace->threads_count; i++)
        if (trace->threads[i].on == g)
            trace->threads[i].on = NULL;
    thread->on = g;
}

/* The goroutine of the event, which has this status now. */
static struct gotrace_g *g_become(struct gotrace *trace, struct gotrace_event *event,
                                  enum gotrace_status status, uint64_t sequence)
{
    event->of = g_make(trace, event->args[0]);
    event->of->status = status;
    event->of->generation = trace->generation;
    event->of->sequence = sequence;
    return event->of;
}

static void status_apply(struct gotrace *trace, struct thread *thread, struct gotrace_event *event)
{
    uint64_t status = event->args[2];
    struct gotrace_g *g = g_become(
        trace, event, status <= GOTRACE_WAITING ? (enum gotrace_status)status : GOTRACE_UNKNOWN, 0);
    if (g->status == GOTRACE_RUNNING ||
        (g->status == GOTRACE_SYSCALL && event->args[1] == thread->id))
        bind(trace, thread, g);
    else if (g->status == GOTRACE_SYSCALL && event->args[1] != UINT64_MAX)
        bind(trace, thread_of(trace, event->args[1]), g);
}

static void stop_apply(struct gotrace *trace, struct thread *thread, struct gotrace_event *event)
{
    static const enum gotrace_status status_of[] = {
        [GOTRACE_STOP] = GOTRACE_RUNNABLE,
        [GOTRACE_BLOCK] = GOTRACE_WAITING,
        [GOTRACE_SYSCALL_END_BLOCKED] = GOTRACE_RUNNABLE,
        [GOTRACE_SWITCH] = GOTRACE_WAITING,
    };
    bool ends = event->kind == GOTRACE_DESTROY || event->kind == GOTRACE_DESTROY_SYSCALL ||
                event->kind == GOTRACE_SWITCH_DESTROY;
    if (!thread->on)
        return;
    if (ends)
        g_end(trace, thread->on);
    else
        thread->on->status = status_of[event->kind];
    thread->on = NULL;
}

/* Changes goroutines and the thread as the event says. */
static void event_apply(struct gotrace *trace, struct thread *thread, struct gotrace_event *event)
{
    switch (event->kind) {
    case GOTRACE_CREATE:
    case GOTRACE_CREATE_BLOCKED:
        g_become(trace, event, event->kind == GOTRACE_CREATE ? GOTRACE_RUNNABLE : GOTRACE_WAITING,
                 0);
        break;
    case GOTRACE_CREATE_SYSCALL:
        bind(trace, thread, g_become(trace, event, GOTRACE_SYSCALL, 0));
        break;
    case GOTRACE_SWITCH:
    case GOTRACE_SWITCH_DESTROY:
        stop_apply(trace, thread, event); /* and then START */
        /* fall through */
    case GOTRACE_START:
        bind(trace, thread, g_become(trace, event, GOTRACE_RUNNING, event->args[1]));
        break;
    case GOTRACE_UNBLOCK:
        g_become(trace, event, GOTRACE_RUNNABLE, event->args[1]);
        break;
    case GOTRACE_SYSCALL_BEGIN:
    case GOTRACE_SYSCALL_END:
        if (thread->on)
            thread->on->status =
                event->kind == GOTRACE_SYSCALL_END ? GOTRACE_RUNNING : GOTRACE_SYSCALL;
        break;
    case GOTRACE_STATUS:
    case GOTRACE_STATUS_STACK:
        status_apply(trace, thread, event);
        break;
    case GOTRACE_DESTROY:
    case GOTRACE_DESTROY_SYSCALL:
    case GOTRACE_STOP:
    case GOTRACE_BLOCK:
    case GOTRACE_SYSCALL_END_BLOCKED:
        stop_apply(trace, thread, event);
        break;
    default:
        break;
    }
}

/* Its goroutine is the one that it names, else the one that its thread ran. */
static void event_mark(struct gotrace *trace, const struct gotrace_event *event)
{
    const struct gotrace_g *g = event->of ? event->of : event->on;
    const char *what = names[event->kind & 255];
    if (what && g && !trace->is_marked)
        trace->last = (struct gotrace_mark){what, g->id, event->ns};
}

/* A text has its events in order, and says whom each thread ran. */
static bool text_next(struct gotrace *trace, struct gotrace_event *event)
{
    struct gotext_event told;
    if (!gotext_next(trace->source.text, &told))
        return false;
    *event = (struct gotrace_event){
        .kind = (enum gotrace_kind)told.kind,
        .ns = told.ns,
        .on = told.on == GOTEXT_NONE ? NULL : g_make(trace, told.on),
    };
    memcpy(event->args, told.args, sizeof event->args);
    struct thread thread = {.on = event->on};
    event_apply(trace, &thread, event);
    event_mark(trace, event);
    return true;
}

bool gotrace_next(struct gotrace *trace, struct gotrace_event *event)
{
    free(trace->ended);
    trace->ended = NULL;
    if (trace->source.text)
        return text_next(trace, event);
    struct thread *thread;
    while (!(thread = thread_choose(trace)))
        if (!generation_read(trace))
            return false;
    uint64_t ticks = thread->ticks > trace->first_ticks ? thread->ticks - trace->first_ticks : 0;
    *event = (struct gotrace_event){
        .kind = (enum gotrace_kind)thread->kind,
        .ns = (int64_t)((double)ticks / (double)trace->frequency * 1e9 + 0.5),
        .on = thread->on,
    };
    memcpy(event->args, thread->args, sizeof event->args);
    size_t number = (size_t)(thread - trace->threads);
    event_apply(trace, thread, event);
    event_mark(trace, event);
    thread_advance(trace, &trace->threads[number]); /* threads may lie elsewhere now */
    return true;
}

/* The rest ------------------------------------------------------------------------------------ */

static void gs_free(struct gotrace *trace, void (*free_data)(void *data))
{
    free(trace->ended);
    trace->ended = NULL;
    for (size_t i = 0; i < G_BUCKETS; i++) {
        for (struct gotrace_g *g = trace->buckets[i], *next; g; g = next) {
            next = g->next;
            if (g->data && free_data)
                free_data(g->data);
            free(g);
        }
        trace->buckets[i] = NULL;
    }
}

void gotrace_rewind(struct gotrace *trace, void (*free_data)(void *data))
{
    gs_free(trace, free_data);
    if (trace->source.text)
        gotext_rewind(trace->source.text);
    trace->at = GOTRACE_HEAD_SIZE;
    trace->threads_count = trace->batches_count = 0;
    trace->torn[0] = '\0';
    trace->last = (struct gotrace_mark){NULL, 0, 0};
    trace->is_marked = false;
    trace->disorder = 0;
    trace->has_begun = false;
}

void gotrace_close(struct gotrace *trace, void (*free_data)(void *data))
{
    gs_free(trace, free_data);
    gotrace_source_close(&trace->source);
    gotrace_tables_free(&trace->tables);
    free(trace->buckets);
    free(trace->batches);
    free(trace->threads);
    free(trace);
}

const char *gotrace_torn(const struct gotrace *trace)
{
    if (trace->source.text)
        return gotext_torn(trace->source.text);
    return *trace->torn ? trace->torn : NULL;
}

struct gotrace_mark gotrace_before_tear(const struct gotrace *trace)
{
    return trace->last;
}

const char *gotrace_version(const struct gotrace *trace)
{
    return trace->source.version;
}

uint64_t gotrace_generation(const struct gotrace *trace)
{
    return trace->generation;
}

uint64_t gotrace_disorder(const struct gotrace *trace)
{
    return trace->disorder;
}

const char *gotrace_string(const struct gotrace *trace, uint64_t id, size_t *size)
{
    return gotrace_tables_string(&trace->tables, id, size);
}

size_t gotrace_frames(const struct gotrace *trace, uint64_t stack)
{
    return gotrace_tables_frames(&trace->tables, stack);
}

const char *gotrace_function(const struct gotrace *trace, uint64_t stack, size_t frame,
                             size_t *size)
{
    return gotrace_tables_string(&trace->tables, gotrace_tables_frame(&trace->tables, stack, frame),
                                 size);
}
