/* learn.c - see learn.h.
 *
 * Peers. A trace tells that a goroutine waited for the network, and not what came. But whoever sent
 * it made a call that writes while this one waited, each time. So after each wait only those stay
 * candidates that wrote meanwhile; one that is left alone after all waits is the peer. Where what
 * comes is sent from elsewhere, nobody of the trace writes each time, and soon none is left. Where
 * goroutines take turns in step, several are left. A peer is nobody else's, and of two that both
 * read each is the other's: this leaves one of most. The rest get those whose writes were followed
 * soonest.
 *
 * Sleeps, and other waits that a timer ends. Timers are late, and later where few processors are
 * busy with long computing. Where those of one place in the program are nearly equal, as those of a
 * constant or of a ticker are, none was asked to be longer than the short ones. Others stay what
 * they were.
 */
#include "harness/programs/learn.h"

#include "harness/base/fnv1a.h"
#include "harness/base/memory.h"
#include "harness/gotrace/idmap.h"
#include "harness/programs/sections.h"
#include "harness/programs/stacks.h"

#include <stdlib.h>
#include <string.h>

enum {
    WRITES = 4096, /* the latest are remembered */
    CANDIDATES_MAX = 256,
    SAMPLES_MAX = 512, /* of a place that sleeps */
    PEERS_MAX = 16,    /* candidates that are kept of a goroutine that ended */
    SAMPLES_LEAST = 10,
    MISSES_SHARE = 20, /* a peer may have been missed in one wait of so many */
};

#define TASK_OWN UINT64_MAX /* it was ended by who began it */

struct candidate {
    uint64_t g;
    uint32_t hits;
    int64_t gap_ns; /* from its writes to the ends of the waits, in all */
};

/* A goroutine that waited for the network. */
struct reader {
    uint64_t g;
    struct candidate of[PEERS_MAX];
    size_t count;
};

/* One goroutine while it lives. */
struct learning {
    int64_t wait_ns; /* when its wait began */
    uint64_t place;  /* where it waits */
    bool may_sleep;  /* a timer may end its wait */
    bool reads_network;
    int64_t read_ns; /* when its last call that reads began */
    uint32_t waits;  /* for the network */
    struct candidate *candidates;
    size_t candidates_count;
};

struct place {
    int64_t ns[SAMPLES_MAX];
    size_t count;
    int64_t asked_ns; /* 0: sleeps are what they were */
};

struct learned {
    struct idmap names, peers, readers, places, texts; /* values: char *, ids, ids, struct place *,
                                                          char * */
    struct idmap tasks; /* 1 + a task: the goroutine that began it, and then TASK_OWN */
    struct sections *sections;
    uint64_t events;
    struct learned_readers readers_count;
};

struct learner {
    struct learned *learned;
    struct gotrace *trace;
    struct call_kinds kinds;
    struct {
        int64_t ns;
        uint64_t g;
    } writes[WRITES];
    uint64_t writes_count;
    struct reader *readers;
    size_t readers_count, readers_max;
    struct idmap reader_of; /* 1 + its place in readers */
};

static struct learning *of(struct gotrace_g *g)
{
    if (!g->data)
        g->data = xcalloc(1, sizeof(struct learning));
    return g->data;
}

static void learning_free(void *data)
{
    struct learning *learning = data;
    free(learning->candidates);
    free(learning);
}

/* Names --------------------------------------------------------------------------------------- */

/* Many goroutines have one name. */
static void name_learn(struct learner *self, const struct gotrace_g *g, uint64_t stack,
                       bool outermost)
{
    uint64_t *name = idmap_put(&self->learned->names, g->id);
    char *made = *name == 0 ? stacks_name(self->trace, stack, outermost) : NULL;
    if (!made)
        return;
    uint64_t *text = idmap_put(&self->learned->texts, fnv1a(FNV1A_SEED, made, strlen(made)) | 1);
    if (*text == 0)
        *text = (uint64_t)(uintptr_t)made;
    else
        free(made);
    *name = *text;
}

/* Sleeps -------------------------------------------------------------------------------------- */

static void sleep_learn(struct learner *self, const struct learning *learning, int64_t ns)
{
    uint64_t *value = idmap_put(&self->learned->places, learning->place | 1);
    if (*value == 0)
        *value = (uint64_t)(uintptr_t)xcalloc(1, sizeof(struct place));
    struct place *place = (struct place *)(uintptr_t)*value;
    size_t at = place->count < SAMPLES_MAX ? place->count : place->count % SAMPLES_MAX;
    place->ns[at] = ns;
    place->count++;
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Nearly equal: the middle one is at most half longer than the tenth part's longest. */
static void place_judge(struct place *place)
{
    size_t count = place->count < SAMPLES_MAX ? place->count : SAMPLES_MAX;
    qsort(place->ns, count, sizeof place->ns[0], compare_ns);
    int64_t low_ns = place->ns[count / 10], middle_ns = place->ns[count / 2];
    if (count >= SAMPLES_LEAST && middle_ns <= low_ns + low_ns / 2)
        place->asked_ns = low_ns;
}

/* Peers --------------------------------------------------------------------------------------- */

static void write_note(struct learner *self, int64_t ns, uint64_t g)
{
    size_t at = self->writes_count++ % WRITES;
    self->writes[at].ns = ns;
    self->writes[at].g = g;
}

/* A write that may be what somebody waited for. */
struct writer {
    uint64_t g;
    int64_t ns;
};

/* The goroutines that wrote since then, latest first, each once. */
static size_t writers_since(const struct learner *self, int64_t ns, struct writer *writers)
{
    size_t count = 0;
    for (uint64_t i = 0; i < WRITES && i < self->writes_count && count < CANDIDATES_MAX; i++) {
        size_t at = (self->writes_count - 1 - i) % WRITES, known = 0;
        if (self->writes[at].ns < ns)
            break;
        while (known < count && writers[known].g != self->writes[at].g)
            known++;
        if (known == count)
            writers[count++] = (struct writer){self->writes[at].g, self->writes[at].ns};
    }
    return count;
}

static const struct writer *writer_find(const struct writer *writers, size_t count, uint64_t g)
{
    for (size_t i = 0; i < count; i++)
        if (writers[i].g == g)
            return &writers[i];
    return NULL;
}

/* A wait for the network is over. */
static void peers_learn(struct learner *self, struct learning *learning, uint64_t g, int64_t ns)
{
    struct writer writers[CANDIDATES_MAX];
    size_t count = writers_since(self, learning->read_ns, writers), kept = 0;
    if (learning->waits++ == 0) {
        learning->candidates = xcalloc(count, sizeof *learning->candidates);
        for (size_t i = 0; i < count; i++)
            if (writers[i].g != g)
                learning->candidates[learning->candidates_count++].g = writers[i].g;
    }
    for (size_t i = 0; i < learning->candidates_count; i++) {
        struct candidate candidate = learning->candidates[i];
        const struct writer *writer = writer_find(writers, count, candidate.g);
        candidate.hits += writer != NULL;
        candidate.gap_ns += writer ? ns - writer->ns : 0;
        if (candidate.hits + learning->waits / MISSES_SHARE >= learning->waits)
            learning->candidates[kept++] = candidate;
    }
    learning->candidates_count = kept;
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->hits != y->hits)
        return x->hits < y->hits ? 1 : -1;
    return (x->gap_ns > y->gap_ns) - (x->gap_ns < y->gap_ns);
}

/* Keeps the candidates that wrote most often, those whose writes were followed soonest first. */
static void reader_keep(struct learner *self, const struct gotrace_g *g)
{
    const struct learning *learning = g->data;
    if (!learning || learning->candidates_count == 0)
        return;
    qsort(learning->candidates, learning->candidates_count, sizeof *learning->candidates,
          compare_candidates);
    struct reader *reader = &array_push(self->readers, self->readers_count, self->readers_max);
    *reader = (struct reader){.g = g->id};
    for (size_t i = 0; i < learning->candidates_count && i < PEERS_MAX &&
                       learning->candidates[i].hits == learning->candidates[0].hits;
         i++)
        reader->of[reader->count++] = learning->candidates[i];
    *idmap_put(&self->reader_of, g->id) = self->readers_count;
}

/* True unless it reads itself, what others write. */
static bool is_mutual(const struct learner *self, uint64_t writer, uint64_t reader)
{
    uint64_t peer = learned_peer(self->learned, writer);
    if (peer)
        return peer == reader;
    const uint64_t *place = idmap_get(&self->reader_of, writer);
    const struct reader *other = place ? &self->readers[*place - 1] : NULL;
    for (size_t i = 0; other && i < other->count; i++)
        if (other->of[i].g == reader)
            return true;
    return !other || other->count == 0;
}

/* Leaves the candidates that may still be the peer. */
static void reader_narrow(const struct learner *self, struct reader *reader)
{
    size_t kept = 0;
    for (size_t i = 0; i < reader->count; i++)
        if (!idmap_get(&self->learned->readers, reader->of[i].g) &&
            is_mutual(self, reader->of[i].g, reader->g))
            reader->of[kept++] = reader->of[i];
    reader->count = kept;
}

static void peer_choose(struct learner *self, struct reader *reader)
{
    *idmap_put(&self->learned->peers, reader->g) = reader->of[0].g;
    *idmap_put(&self->learned->readers, reader->of[0].g) = reader->g;
    self->learned->readers_count.told++;
    self->learned->readers_count.chosen += reader->count > 1;
    reader->count = 0;
}

/* Readers with one candidate come first, until there is none left; then those with several. */
static void peers_judge(struct learner *self)
{
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < self->readers_count; i++) {
            struct reader *reader = &self->readers[i];
            reader_narrow(self, reader);
            again |= reader->count == 1;
            if (reader->count == 1)
                peer_choose(self, reader);
        }
    }
    for (size_t i = 0; i < self->readers_count; i++) {
        reader_narrow(self, &self->readers[i]);
        if (self->readers[i].count > 0)
            peer_choose(self, &self->readers[i]);
    }
}

/* Events -------------------------------------------------------------------------------------- */

static bool reason_is(const struct gotrace *trace, uint64_t string, const char *word)
{
    size_t size;
    const char *reason = gotrace_string(trace, string, &size);
    return size == strlen(word) && memcmp(reason, word, size) == 0;
}

static void block_learn(struct learner *self, const struct gotrace_event *event)
{
    struct learning *learning = of(event->on);
    learning->wait_ns = event->ns;
    learning->reads_network = reason_is(self->trace, event->args[0], "network") &&
                              stacks_has(self->trace, event->args[1], 4, ".Read");
    learning->place = stacks_place(self->trace, event->args[1]);
    /* waits without a stack are not all one place */
    learning->may_sleep = event->args[1] && !reason_is(self->trace, event->args[0], "network");
    sections_block(self->learned->sections, self->trace, event->on->id, event->ns, event->args[1]);
    name_learn(self, event->on, event->args[1], true);
}

static void unblock_learn(struct learner *self, const struct gotrace_event *event)
{
    struct learning *learning = of(event->of);
    sections_unblock(self->learned->sections, self->trace, event->on ? event->on->id : 0,
                     event->of->id, event->ns, event->args[2]);
    if (event->on)
        return;
    if (learning->may_sleep)
        sleep_learn(self, learning, event->ns - learning->wait_ns);
    if (learning->reads_network)
        peers_learn(self, learning, event->of->id, event->ns);
    learning->may_sleep = learning->reads_network = false;
}

static void call_learn(struct learner *self, const struct gotrace_event *event)
{
    enum call_kind kind = stacks_call(&self->kinds, self->trace, event->args[1]);
    if (kind == CALL_WRITE)
        write_note(self, event->ns, event->on->id);
    if (kind == CALL_READ)
        of(event->on)->read_ns = event->ns;
    if (kind == CALL_READ || kind == CALL_ACCEPT)
        sections_call(self->learned->sections, event->on->id, event->ns);
    name_learn(self, event->on, event->args[1], true);
}

/* Numbers of tasks begin at 1; 0 is the task of whoever has none. */
static void task_learn(struct learner *self, const struct gotrace_event *event)
{
    uint64_t task = event->args[0] + 1;
    if (task <= 1)
        return;
    if (event->kind == GOTRACE_TASK_BEGIN) {
        *idmap_put(&self->learned->tasks, task) = event->on->id;
        return;
    }
    uint64_t *by = idmap_get(&self->learned->tasks, task);
    if (by && *by == event->on->id)
        *by = TASK_OWN;
}

/* One goroutine hands its processor to another, or a processor takes one. */
static void start_learn(struct learner *self, const struct gotrace_event *event)
{
    if (event->kind != GOTRACE_START && event->on)
        sections_block(self->learned->sections, self->trace, event->on->id, event->ns, 0);
    sections_start(self->learned->sections, event->of->id, event->ns);
}

static void event_learn(struct learner *self, const struct gotrace_event *event)
{
    if (event->kind == GOTRACE_START || event->kind == GOTRACE_SWITCH ||
        event->kind == GOTRACE_SWITCH_DESTROY)
        start_learn(self, event);
    switch (event->kind) {
    case GOTRACE_STATUS_STACK:
        name_learn(self, event->of, event->args[3], true);
        break;
    case GOTRACE_CREATE:
    case GOTRACE_CREATE_BLOCKED:
        name_learn(self, event->of, event->args[1], false);
        break;
    case GOTRACE_BLOCK:
        if (event->on)
            block_learn(self, event);
        break;
    case GOTRACE_UNBLOCK:
        unblock_learn(self, event);
        break;
    case GOTRACE_SYSCALL_BEGIN:
        if (event->on)
            call_learn(self, event);
        break;
    case GOTRACE_TASK_BEGIN:
    case GOTRACE_TASK_END:
        if (event->on)
            task_learn(self, event);
        break;
    case GOTRACE_DESTROY:
    case GOTRACE_DESTROY_SYSCALL:
    case GOTRACE_SWITCH_DESTROY:
        if (event->on && event->on->data) {
            reader_keep(self, event->on);
            learning_free(event->on->data);
            event->on->data = NULL;
        }
        break;
    default:
        break;
    }
}

static void keep_live(struct gotrace_g *g, void *arg)
{
    reader_keep(arg, g);
}

struct learned *learn(struct gotrace *trace)
{
    struct learned *learned = xcalloc(1, sizeof *learned);
    struct learner *self = xcalloc(1, sizeof *self);
    struct gotrace_event event;
    self->learned = learned;
    self->trace = trace;
    learned->sections = sections_new();
    while (gotrace_next(trace, &event)) {
        learned->events++;
        event_learn(self, &event);
    }
    gotrace_each(trace, keep_live, self);
    peers_judge(self);
    sections_judge(learned->sections);
    gotrace_rewind(trace, learning_free);
    for (size_t i = 0; learned->places.slots && i <= learned->places.mask; i++)
        if (learned->places.slots[i].key)
            place_judge((struct place *)(uintptr_t)learned->places.slots[i].value);
    call_kinds_free(&self->kinds);
    idmap_free(&self->reader_of);
    free(self->readers);
    free(self);
    return learned;
}

const char *learned_name(const struct learned *learned, uint64_t g)
{
    const uint64_t *name = idmap_get(&learned->names, g);
    return name ? (const char *)(uintptr_t)*name : NULL;
}

uint64_t learned_peer(const struct learned *learned, uint64_t g)
{
    const uint64_t *peer = idmap_get(&learned->peers, g);
    return peer ? *peer : 0;
}

uint64_t learned_reader(const struct learned *learned, uint64_t g)
{
    const uint64_t *reader = idmap_get(&learned->readers, g);
    return reader ? *reader : 0;
}

struct learned_readers learned_readers(const struct learned *learned)
{
    return learned->readers_count;
}

bool learned_task_is_own(const struct learned *learned, uint64_t task)
{
    const uint64_t *by = idmap_get(&learned->tasks, task + 1);
    return by && *by == TASK_OWN;
}

int64_t learned_sleep(const struct learned *learned, uint64_t place, int64_t ns)
{
    const uint64_t *value = idmap_get(&learned->places, place | 1);
    int64_t asked_ns = value ? ((const struct place *)(uintptr_t)*value)->asked_ns : 0;
    return asked_ns > 0 && asked_ns < ns ? asked_ns : ns;
}

const struct sections *learned_sections(const struct learned *learned)
{
    return learned->sections;
}

uint64_t learned_events(const struct learned *learned)
{
    return learned->events;
}

static void values_free(struct idmap *map)
{
    for (size_t i = 0; map->slots && i <= map->mask; i++)
        free((void *)(uintptr_t)map->slots[i].value);
    idmap_free(map);
}

void learned_free(struct learned *learned)
{
    sections_free(learned->sections);
    values_free(&learned->texts);
    values_free(&learned->places);
    idmap_free(&learned->tasks);
    idmap_free(&learned->names);
    idmap_free(&learned->peers);
    idmap_free(&learned->readers);
    free(learned);
}
