/* record.c - see record.h. */
#include "native/record.h"

#include "machine.h"

#if MACHINE_KEEPS_EVENTS
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

/* A thread's first chunk is small, and every thread gets one: goroutines may be threads. */
enum { FIRST_BYTES = 1 << 12, CHUNK_BYTES = 1 << 16 };

struct chunk {
    struct chunk *older; /* of the same thread */
    size_t count, room;
    struct native_event event[];
};
enum { CHUNK_EVENTS = (CHUNK_BYTES - sizeof(struct chunk)) / sizeof(struct native_event) };

/* A thread's; written by it alone. It stays when the thread has ended. */
struct writer {
    struct writer *link;
    struct chunk *newest;
    uint32_t thread;
    uint64_t recorded, happened; /* happened: without notes */
    int64_t dropped_ns;          /* the time of the first one that was; 0: none */
};

static bool keeps;                     /* written before there are other threads */
static int64_t (*ask)(unsigned kind);  /* likewise */
static _Atomic int64_t chunks_left;    /* of all threads, first ones not counted */
static _Atomic(struct writer *) first; /* EV1: release push pairs with the acquire of who reads */
static _Atomic uint32_t threads;
static _Thread_local struct writer *mine;

/* Not malloc(): this runs on a goroutine's small stack, and allocators are what is measured. */
static void *pages_map(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void native_events_keep(size_t most)
{
    /* relaxed: before other threads */
    atomic_store_explicit(&chunks_left, (int64_t)(most / CHUNK_EVENTS) + 1, memory_order_relaxed);
    keeps = true;
}

void native_events_ask(int64_t (*about)(unsigned kind))
{
    ask = about;
}

static struct writer *writer_begin(void)
{
    struct writer *writer = pages_map(sizeof *writer);
    if (!writer)
        machine_die("no memory to record events\n", 1);
    /* relaxed: only a number */
    writer->thread = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
    writer->link = atomic_load_explicit(&first, memory_order_relaxed); /* by EV1 */
    while (!atomic_compare_exchange_weak_explicit(&first, &writer->link, writer,
                                                  memory_order_release, memory_order_relaxed))
        continue; /* EV1 */
    mine = writer;
    return writer;
}

static struct chunk *chunk_begin(struct writer *writer)
{
    size_t bytes = writer->newest ? CHUNK_BYTES : FIRST_BYTES;
    /* relaxed: a bound, no data behind it */
    if (writer->newest && atomic_fetch_sub_explicit(&chunks_left, 1, memory_order_relaxed) <= 0)
        return NULL;
    struct chunk *chunk = pages_map(bytes);
    if (!chunk)
        return NULL;
    chunk->room = (bytes - sizeof *chunk) / sizeof chunk->event[0];
    chunk->older = writer->newest;
    writer->newest = chunk;
    return chunk;
}

/* Room for one more, of which all is set that is not the caller's; NULL: it is dropped. */
static struct native_event *record(unsigned kind)
{
    struct writer *writer = mine ? mine : writer_begin();
    struct chunk *chunk = writer->newest;
    int64_t now = machine_now();
    uint64_t number = writer->recorded++;
    writer->happened += kind < NATIVE_NOTES;
    if (writer->dropped_ns)
        return NULL;
    if (!chunk || chunk->count == chunk->room)
        chunk = chunk_begin(writer);
    if (!chunk) {
        writer->dropped_ns = now;
        return NULL;
    }
    struct native_event *event = &chunk->event[chunk->count++];
    *event = (struct native_event){.when_ns = now,
                                   .about = ask ? ask(kind) : 0,
                                   .number = number,
                                   .thread = writer->thread,
                                   .kind = (uint8_t)kind,
                                   .core = (uint8_t)sched_getcpu()};
    return event;
}

void machine_event(unsigned kind, int32_t m, int32_t p, int64_t g, int32_t a, int32_t b)
{
    struct native_event *event = keeps ? record(kind) : NULL;
    if (!event)
        return;
    event->g = g;
    event->m = m;
    event->p = p;
    event->a = a;
    event->b = b;
}

void native_note(unsigned kind, int64_t g, int64_t first_number, int64_t second)
{
    struct native_event *event = keeps ? record(kind) : NULL;
    if (!event)
        return;
    event->g = g;
    event->note[0] = first_number;
    event->note[1] = second;
}

void machine_request(int32_t kind, int64_t due_ns, int64_t end_ns)
{
    native_note(NATIVE_REQUEST, kind, due_ns, end_ns);
}

void machine_lock_name(const void *lock, const char *name)
{
    native_note(NATIVE_LOCK_NAME, 0, (int64_t)(intptr_t)lock, (int64_t)(intptr_t)name);
}

static int event_compare(const void *a_, const void *b_)
{
    const struct native_event *a = a_, *b = b_;
    if (a->when_ns != b->when_ns)
        return a->when_ns < b->when_ns ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* A thread's own but those from limit_ns on, in whatever order; where they end. */
static struct native_event *writer_copy(const struct writer *writer, int64_t limit_ns,
                                        struct native_event *to)
{
    for (const struct chunk *chunk = writer->newest; chunk; chunk = chunk->older)
        for (size_t i = 0; i < chunk->count && chunk->event[i].when_ns < limit_ns; i++)
            *to++ = chunk->event[i];
    return to;
}

struct native_event *native_events_take(size_t *count, uint64_t *happened, bool *is_cut)
{
    int64_t limit_ns = INT64_MAX;
    size_t all = 0;
    *happened = 0;
    struct writer *newest = atomic_load_explicit(&first, memory_order_acquire); /* EV1 */
    for (struct writer *writer = newest; writer; writer = writer->link) {
        *happened += writer->happened;
        if (writer->dropped_ns && writer->dropped_ns < limit_ns)
            limit_ns = writer->dropped_ns;
        for (const struct chunk *chunk = writer->newest; chunk; chunk = chunk->older)
            all += chunk->count;
    }
    struct native_event *events = malloc((all + 1) * sizeof *events), *to = events;
    if (!events)
        machine_die("no memory to sort events\n", 1);
    for (struct writer *writer = newest; writer; writer = writer->link)
        to = writer_copy(writer, limit_ns, to);
    *count = (size_t)(to - events);
    *is_cut = limit_ns != INT64_MAX;
    qsort(events, *count, sizeof *events, event_compare);
    return events;
}
#else
_Static_assert(sizeof(struct native_event) > 0, "events are for programs that trace");
#endif
