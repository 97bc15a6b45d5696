/* import.c - see import.h.
 *
 * A trace is read twice: learn.c says what has to be known beforehand. The second time each
 * goroutine's steps are written into its own text, which goes to the file when it ends. Until then
 * most of it is in a file of its own (traced.h).
 *
 * A goroutine that waits for the network, and has a peer in the trace, waits for a wake by it. At
 * each call of the peer that writes, a line is left free in its text. If the reader takes what was
 * written, the line becomes the wake; else it stays empty. So it is with reads that found something
 * at once: another scheduler may be earlier, and has to wait there.
 */
#include "harness/programs/import.h"

#include "harness/base/memory.h"
#include "harness/gotrace/gotrace.h"
#include "harness/gotrace/idmap.h"
#include "harness/numbers/units.h"
#include "harness/programs/learn.h"
#include "harness/programs/sections.h"
#include "harness/programs/stacks.h"
#include "harness/programs/traced.h"
#include "harness/programs/waits.h"
#include "workloads/program.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_NS_LEAST = 1000 };
#define CONNECTIONS UINT64_MAX /* the queue of those that nobody accepted yet */

/* A free line of somebody who wrote. */
struct written {
    struct traced *by;
    size_t line;
    int64_t ns, path_ns;
};

struct queue {
    struct written *of;
    size_t first, count, max;
};

struct importer {
    struct gotrace *trace;
    struct learned *learned;
    const struct import_options *options;
    struct import_facts *facts;
    FILE *to;
    struct call_kinds kinds;
    struct idmap queues; /* of readers, struct queue * */
    struct idmap seen;   /* goroutines: how often */
    struct traced_store store;
    int64_t stopped_since_ns;
    uint64_t written; /* goroutines */
};

/* Steps --------------------------------------------------------------------------------------- */

static bool is_within(const struct importer *self, int64_t ns)
{
    return ns >= self->options->from_ns && ns <= self->options->to_ns;
}

/* The part of the time that lies within. */
static int64_t within(const struct importer *self, int64_t from_ns, int64_t to_ns)
{
    if (from_ns < self->options->from_ns)
        from_ns = self->options->from_ns;
    if (to_ns > self->options->to_ns)
        to_ns = self->options->to_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* True if a step at that time goes into the file; what was computed before it is written then. */
static bool begin_step(const struct importer *self, struct traced *traced, int64_t ns)
{
    if (traced->is_cut || !is_within(self, ns))
        return false;
    if (traced->run_ns > 0)
        traced_add_time(traced, "run", traced->run_ns);
    traced->run_ns = 0;
    traced->is_needed = true;
    return true;
}

/* Writes an ended goroutine whose lines nobody can fill any more. */
static void finish(struct importer *self, struct traced *traced)
{
    if (!traced->is_cut && traced->is_needed) {
        self->written++;
        fprintf(self->to, "goroutine %" PRIu64 "%s%s\n", traced->id, traced->name ? " " : "",
                traced->name ? traced->name : "");
        traced_write(traced, self->to);
        fputs("end\n", self->to);
    }
    traced_free(traced);
}

/* Goroutines ---------------------------------------------------------------------------------- */

/* The filter is for goroutines of the program. */
static enum import_segment segment_of(const struct importer *self, const char *name)
{
    if (stacks_is_system(name))
        return stacks_is_collector(name) ? SEGMENT_COLLECTOR : SEGMENT_RUNTIME;
    const char *filter = self->options->filter;
    return filter && fnmatch(filter, name ? name : "", 0) != 0 ? SEGMENT_FILTER : SEGMENT_PROGRAM;
}

static struct import_part *part_of(struct importer *self, enum import_segment segment)
{
    return &self->facts->parts[segment];
}

static bool is_of_runtime(const struct traced *traced)
{
    return traced->segment == SEGMENT_RUNTIME || traced->segment == SEGMENT_COLLECTOR;
}

static struct traced *traced_of(struct importer *self, struct gotrace_g *g, int64_t ns)
{
    struct traced *traced = g->data;
    if (traced)
        return traced;
    g->data = traced = xcalloc(1, sizeof *traced);
    traced->id = g->id;
    traced->store = &self->store;
    traced->name = learned_name(self->learned, g->id);
    uint64_t *times = idmap_put(&self->seen, g->id + 1);
    traced->segment = segment_of(self, traced->name);
    bool is_kept = part_of(self, traced->segment)->is_kept;
    traced->is_cut = !is_kept || ++*times > 1; /* a broken trace has it again */
    traced->since_ns = ns;
    traced->ready_ns = -1;
    traced->marks = sections_of(learned_sections(self->learned), g->id, &traced->marks_count);
    snprintf(traced->reason, sizeof traced->reason, "unknown");
    self->facts->goroutines += !traced->is_cut;
    self->facts->goroutines_cut += traced->is_cut;
    part_of(self, traced->segment)->count++;
    return traced;
}

static void run_up_to(struct importer *self, struct traced *traced, int64_t ns)
{
    int64_t ran_ns = within(self, traced->since_ns, ns);
    traced->run_ns += ran_ns;
    traced->since_ns = ns;
    *(traced->is_cut ? &self->facts->run_cut_ns : &self->facts->run_ns) += ran_ns;
    part_of(self, traced->segment)->ns += ran_ns;
}

static void unlock(struct traced *traced)
{
    if (traced->held)
        traced_add(traced, "unlock %s\n", traced->held);
    traced->held = NULL;
}

/* A section begins or ends. One of which the end alone lies within the window is none. */
static void mark(struct importer *self, struct traced *traced, const struct section_mark *of,
                 int64_t ns)
{
    if (!begin_step(self, traced, ns))
        return;
    if (of->ends) {
        unlock(traced);
        return;
    }
    traced->held = sections_name(learned_sections(self->learned), of->lock);
    traced_add(traced, "lock %s\n", traced->held);
    self->facts->sections++;
}

/* It ran, up to now. */
static void run_until(struct importer *self, struct traced *traced, int64_t ns)
{
    for (; traced->marks_done < traced->marks_count; traced->marks_done++) {
        const struct section_mark *of = &traced->marks[traced->marks_done];
        if (of->ns > ns)
            break;
        run_up_to(self, traced, of->ns > traced->since_ns ? of->ns : traced->since_ns);
        mark(self, traced, of, traced->since_ns);
    }
    run_up_to(self, traced, ns);
}

static void make_ready(struct traced *traced, int64_t ns, enum import_ready ready)
{
    traced->ready_ns = ns;
    traced->ready = ready;
}

static void end(struct importer *self, struct gotrace_g *g, int64_t ns)
{
    struct traced *traced = g->data;
    if (!traced)
        return;
    g->data = NULL;
    traced->has_ended = true;
    if (traced->regions > 0 &&
        begin_step(self, traced, ns < self->options->to_ns ? ns : self->options->to_ns))
        traced_add(traced, "done\n");
    if (traced->run_ns > 0 && !traced->is_cut) {
        traced_add_time(traced, "run", traced->run_ns);
        traced->is_needed = true;
    }
    unlock(traced);
    if (self->facts->critical_ns < traced->path_ns)
        self->facts->critical_ns = traced->path_ns;
    self->facts->work_ns += traced->work_ns;
    if (traced->free_lines == 0)
        finish(self, traced);
}

/* Writes that were not read yet ---------------------------------------------------------------- */

static struct queue *queue_of(struct importer *self, uint64_t reader)
{
    uint64_t *value = idmap_put(&self->queues, reader);
    if (*value == 0)
        *value = (uint64_t)(uintptr_t)xcalloc(1, sizeof(struct queue));
    return (struct queue *)(uintptr_t)*value;
}

static void push(struct importer *self, uint64_t reader, struct traced *by, int64_t ns)
{
    struct queue *queue = queue_of(self, reader);
    if (!begin_step(self, by, ns))
        return;
    if (queue->first + queue->count == queue->max) {
        if (queue->count > 0)
            memmove(queue->of, queue->of + queue->first, queue->count * sizeof *queue->of);
        queue->first = 0;
        if (2 * queue->count >= queue->max) {
            queue->max = queue->max ? 2 * queue->max : 4;
            queue->of = xrealloc(queue->of, queue->max * sizeof *queue->of);
        }
    }
    queue->of[queue->first + queue->count++] =
        (struct written){by, traced_add_free_line(by), ns, by->path_ns};
    by->free_lines++;
}

/* The oldest line, which is the queue's no more. */
static struct written pull(struct queue *queue)
{
    queue->count--;
    return queue->of[queue->first++];
}

static void let_go(struct importer *self, struct traced *by)
{
    if (--by->free_lines == 0 && by->has_ended)
        finish(self, by);
}

/* The reader takes what was written since then, the oldest first; false if nothing was. */
static bool take(struct importer *self, struct traced *reader, uint64_t queue_id, int64_t since_ns)
{
    const uint64_t *value = idmap_get(&self->queues, queue_id);
    struct queue *queue = value ? (struct queue *)(uintptr_t)*value : NULL;
    while (queue && queue->count > 0) {
        struct written written = pull(queue);
        bool is_old = written.ns < since_ns;
        if (!is_old) {
            char wake[TRACED_FREE_LINE];
            snprintf(wake, sizeof wake, "wake %" PRIu64 " %" PRIu32, reader->id, reader->waits + 1);
            traced_fill_line(written.by, written.line, wake);
            traced_path_at_least(reader, written.path_ns);
            reader->told_ns = written.ns;
        }
        let_go(self, written.by);
        if (!is_old)
            return true;
    }
    return false;
}

/* A call that reads came back, and the next event of the goroutine says whether with something. */
static void read_resolve(struct importer *self, struct traced *traced, bool waits_for_network)
{
    size_t line = traced->read_line;
    traced->read_line = 0;
    if (line == 0 || waits_for_network)
        return;
    bool was_told = traced->was_told;
    traced->was_told = false;
    if (was_told)
        return;
    uint64_t queue = traced->call == CALL_ACCEPT ? CONNECTIONS : traced->id;
    if (take(self, traced, queue, INT64_MIN)) {
        traced_fill_line(traced, line, "wait network");
        traced->waits++;
        self->facts->waits_peers++;
    }
}

/* Waits --------------------------------------------------------------------------------------- */

static void reason_count(struct importer *self, const struct traced *traced, int64_t ns)
{
    if (!traced->is_cut)
        waits_count(self->facts, traced->reason, traced->function,
                    within(self, traced->since_ns, ns));
}

/* "chan receive" as one word of the file; "sync" says less than the stack. */
static void reason_read(struct importer *self, struct traced *traced, uint64_t string,
                        uint64_t stack)
{
    size_t size, length = 0;
    const char *reason = stacks_own(self->trace, stack, &size);
    snprintf(traced->function, sizeof traced->function, "%.*s", (int)size, size ? reason : "");
    reason = gotrace_string(self->trace, string, &size);
    const char *word =
        size >= 4 && memcmp(reason, "sync", 4) == 0 ? stacks_sync(self->trace, stack) : NULL;
    if (word) {
        reason = word;
        size = strlen(word);
    }
    for (; length < size && length + 1 < IMPORT_REASON_SIZE; length++)
        traced->reason[length] = isalnum((unsigned char)reason[length]) ? reason[length] : '-';
    traced->reason[length] = '\0';
    if (length == 0)
        snprintf(traced->reason, sizeof traced->reason, "unknown");
}

static void block(struct importer *self, const struct gotrace_event *event)
{
    struct traced *traced = event->on->data;
    uint64_t stack = event->args[1];
    reason_read(self, traced, event->args[0], stack);
    traced->kind = WAIT_OTHER;
    if (strcmp(traced->reason, "sleep") == 0)
        traced->kind = WAIT_SLEEP;
    else if (strcmp(traced->reason, "network") == 0)
        traced->kind = stacks_has(self->trace, stack, 4, ".Accept") ? WAIT_ACCEPT
                       : stacks_has(self->trace, stack, 4, ".Read") ? WAIT_READ
                                                                    : WAIT_NETWORK;
    else if (strncmp(traced->reason, "GC", 2) == 0 || strstr(traced->reason, "GC-cycle"))
        traced->kind = WAIT_COLLECTOR;
    traced->place = stacks_place(self->trace, stack);
    read_resolve(self, traced, traced->kind == WAIT_READ || traced->kind == WAIT_ACCEPT);
    run_until(self, traced, event->ns);
}

static void add_poll(const struct importer *self, struct traced *traced, int64_t ns)
{
    traced_add(traced, "poll at %" PRId64 "\n", ns - self->options->from_ns);
    traced_path_at_least(traced, ns - self->options->from_ns);
}

/* Something came from outside of the program. */
static void outside(struct importer *self, struct traced *traced, int64_t ns)
{
    int64_t waited_ns = within(self, traced->since_ns, ns);
    bool is_own = traced->kind == WAIT_NETWORK; /* it asked for it itself, as who connects does */
    self->facts->waits_outside++;
    if (!begin_step(self, traced, ns))
        return;
    if (self->options->closed || is_own)
        traced_add_time(traced, "poll after", waited_ns);
    else
        add_poll(self, traced, ns);
}

static void wake(struct importer *self, struct traced *by, struct traced *traced, int64_t ns)
{
    if (!begin_step(self, by, ns) || !begin_step(self, traced, ns))
        return;
    traced_add(traced, "wait %s\n", traced->reason);
    traced_add(by, "wake %" PRIu64 " %" PRIu32 "\n", traced->id, ++traced->waits);
    traced_path_at_least(traced, by->path_ns);
}

/* The wait of a goroutine for the network is over. */
static void network(struct importer *self, struct traced *traced, int64_t ns)
{
    uint64_t queue = traced->kind == WAIT_ACCEPT ? CONNECTIONS : traced->id;
    traced->was_told = true;
    if (traced->kind != WAIT_NETWORK && !traced->is_cut && is_within(self, ns) &&
        take(self, traced, queue, traced->kind == WAIT_ACCEPT ? INT64_MIN : traced->read_ns)) {
        begin_step(self, traced, ns);
        traced_add(traced, "wait network\n");
        traced->waits++;
        self->facts->waits_peers++;
        return;
    }
    outside(self, traced, ns);
}

/* True if locks make it wait as long: both sections lie in the window. */
static bool is_lock(const struct importer *self, const struct traced *traced, int64_t ns)
{
    return !traced->is_cut && is_within(self, traced->since_ns) && is_within(self, ns) &&
           sections_replace(learned_sections(self->learned), traced->id, ns);
}

/* A wait for the collector is over. by: as unblock() has it. */
static void collector(struct importer *self, struct traced *by, struct traced *traced, int64_t ns)
{
    if (!is_of_runtime(traced) && !traced->is_cut && is_within(self, ns)) {
        part_of(self, SEGMENT_WAITS)->count++;
        part_of(self, SEGMENT_WAITS)->ns += within(self, traced->since_ns, ns);
    }
    if (!part_of(self, SEGMENT_WAITS)->is_kept)
        return;
    if (by && !by->is_cut)
        wake(self, by, traced, ns);
    else
        outside(self, traced, ns);
}

/* by: NULL if it is the runtime. */
static void unblock(struct importer *self, struct traced *by, struct traced *traced, int64_t ns)
{
    reason_count(self, traced, ns);
    int64_t waited_ns = within(self, traced->since_ns, ns);
    uint64_t told = self->facts->waits_peers, locks = self->facts->waits_locks;
    switch (traced->kind) {
    case WAIT_SLEEP:
        if (begin_step(self, traced, ns))
            traced_add_time(traced, "sleep",
                            learned_sleep(self->learned, traced->place, waited_ns));
        break;
    case WAIT_READ:
    case WAIT_ACCEPT:
    case WAIT_NETWORK:
        if (by && !by->is_cut) /* it closed what the other one reads */
            wake(self, by, traced, ns);
        else
            network(self, traced, ns);
        break;
    case WAIT_COLLECTOR:
        collector(self, by, traced, ns);
        break;
    case WAIT_OTHER:
        if (by && !by->is_cut && is_lock(self, traced, ns))
            self->facts->waits_locks++;
        else if (by && !by->is_cut)
            wake(self, by, traced, ns);
        else if (by || is_of_runtime(traced)) /* its scheduler wakes the latter */
            outside(self, traced, ns);
        else if (begin_step(self, traced, ns)) /* a timer of its own */
            traced_add_time(traced, "sleep",
                            learned_sleep(self->learned, traced->place, waited_ns));
        break;
    }
    traced->since_ns = ns;
    bool is_told = self->facts->waits_peers > told;
    make_ready(traced, is_told ? traced->told_ns : ns,
               self->facts->waits_locks > locks ? READY_LOCK
               : by                             ? READY_WOKEN
               : is_told                        ? READY_PEER
                                                : READY_RUNTIME);
}

/* Events -------------------------------------------------------------------------------------- */

static void create(struct importer *self, const struct gotrace_event *event)
{
    struct traced *by = event->on ? event->on->data : NULL;
    if (event->of->data) /* a broken trace makes it again */
        return;
    struct traced *traced = traced_of(self, event->of, event->ns);
    make_ready(traced, event->ns, READY_CREATED);
    traced->since_ns = event->ns;
    if (event->kind == GOTRACE_CREATE_BLOCKED) {
        traced->ready_ns = -1;
        snprintf(traced->reason, sizeof traced->reason, "coroutine");
        traced->function[0] = '\0';
    }
    if (traced->is_cut || !is_within(self, event->ns))
        return;
    traced->is_needed = true;
    if (by && begin_step(self, by, event->ns)) {
        traced_add(by, "go %" PRIu64 "\n", traced->id);
        traced_path_at_least(traced, by->path_ns);
    } else {
        add_poll(self, traced, event->ns);
    }
}

static void start(struct importer *self, struct traced *traced, int64_t ns)
{
    if (traced->ready_ns >= 0 && !traced->is_cut && is_within(self, traced->ready_ns))
        histogram_record(&self->facts->late[traced->ready], ns - traced->ready_ns);
    traced->ready_ns = -1;
    traced->since_ns = ns;
}

static void call_begin(struct importer *self, struct traced *traced,
                       const struct gotrace_event *event)
{
    run_until(self, traced, event->ns);
    traced->call = stacks_call(&self->kinds, self->trace, event->args[1]);
    if (traced->call == CALL_READ)
        traced->read_ns = event->ns;
    uint64_t reader = learned_reader(self->learned, traced->id);
    if (traced->call == CALL_WRITE && reader)
        push(self, reader, traced, event->ns);
    if (traced->call == CALL_CONNECT)
        push(self, CONNECTIONS, traced, event->ns);
}

static void call_end(struct importer *self, struct traced *traced,
                     const struct gotrace_event *event)
{
    int64_t ns = within(self, traced->since_ns, event->ns);
    bool has_blocked = event->kind == GOTRACE_SYSCALL_END_BLOCKED;
    traced->since_ns = event->ns;
    if (!has_blocked && ns < CALL_NS_LEAST)
        traced->run_ns += ns;
    else if (begin_step(self, traced, event->ns))
        traced_add_time(traced, has_blocked ? "call" : "call cpu", ns);
    bool may_be_told = traced->call == CALL_ACCEPT || learned_peer(self->learned, traced->id);
    if ((traced->call == CALL_READ || traced->call == CALL_ACCEPT) && may_be_told &&
        begin_step(self, traced, event->ns)) {
        if (traced->chunks_count == 0)
            traced_add(traced, " \n"); /* so that no free line is at 0 */
        traced->read_line = traced_add_free_line(traced);
    }
    if (has_blocked)
        make_ready(traced, event->ns, READY_STOPPED);
}

static void stop(struct importer *self, struct traced *traced, const struct gotrace_event *event)
{
    size_t size;
    const char *reason = gotrace_string(self->trace, event->args[0], &size);
    run_until(self, traced, event->ns);
    if (memmem(reason, size, "Gosched", 7) && begin_step(self, traced, event->ns))
        traced_add(traced, "yield\n");
    make_ready(traced, event->ns, READY_STOPPED);
}

/* The request that a region or task is; its name is a word of Go's program. */
static void begin_request(struct importer *self, struct traced *traced,
                          const struct gotrace_event *event)
{
    size_t size;
    uint64_t string = event->args[event->kind == GOTRACE_TASK_BEGIN ? 2 : 1];
    const char *text = gotrace_string(self->trace, string, &size);
    char *name = stacks_word(text, size);
    traced_add(traced, "begin%s%s\n", name ? " " : "", name ? name : "");
    free(name);
}

/* A region, or a task that its goroutine ends. Within another one it is no request. */
static void region(struct importer *self, struct traced *traced, const struct gotrace_event *event)
{
    bool begins = event->kind == GOTRACE_REGION_BEGIN || event->kind == GOTRACE_TASK_BEGIN;
    bool is_outermost = traced->regions == (begins ? 0 : 1);
    if (!begins && traced->regions == 0)
        return;
    run_until(self, traced, event->ns);
    traced->regions += begins ? 1 : -1;
    if (!is_outermost || !begin_step(self, traced, event->ns))
        return;
    if (begins)
        begin_request(self, traced, event);
    else
        traced_add(traced, "done\n");
}

/* One goroutine hands its processor to another, as iterators do. */
static void switch_to(struct importer *self, struct traced *by, struct traced *traced, int64_t ns)
{
    if (by) {
        run_until(self, by, ns);
        reason_count(self, traced, ns);
        wake(self, by, traced, ns);
        by->kind = WAIT_OTHER;
        snprintf(by->reason, sizeof by->reason, "coroutine");
        by->function[0] = '\0';
    }
    start(self, traced, ns);
}

/* Changes the goroutine that the thread of the event ran. */
static void event_on(struct importer *self, const struct gotrace_event *event)
{
    struct traced *on = traced_of(self, event->on, event->ns);
    if (event->kind != GOTRACE_BLOCK)
        read_resolve(self, on, false);
    switch (event->kind) {
    case GOTRACE_BLOCK:
        block(self, event);
        break;
    case GOTRACE_STOP:
        stop(self, on, event);
        break;
    case GOTRACE_SYSCALL_BEGIN:
        call_begin(self, on, event);
        break;
    case GOTRACE_SYSCALL_END:
    case GOTRACE_SYSCALL_END_BLOCKED:
        call_end(self, on, event);
        break;
    case GOTRACE_DESTROY:
        run_until(self, on, event->ns);
        end(self, event->on, event->ns);
        break;
    case GOTRACE_DESTROY_SYSCALL:
        end(self, event->on, event->ns);
        break;
    case GOTRACE_REGION_BEGIN:
    case GOTRACE_REGION_END:
        region(self, on, event);
        break;
    case GOTRACE_TASK_BEGIN:
    case GOTRACE_TASK_END:
        if (learned_task_is_own(self->learned, event->args[0]))
            region(self, on, event);
        break;
    case GOTRACE_CREATE:
    case GOTRACE_CREATE_BLOCKED:
    case GOTRACE_UNBLOCK:
        run_until(self, on, event->ns);
        break;
    default:
        break;
    }
}

static void event_take(struct importer *self, const struct gotrace_event *event)
{
    if (event->on)
        event_on(self, event);
    struct traced *by = event->on && event->on != event->of ? event->on->data : NULL;
    switch (event->kind) {
    case GOTRACE_CREATE:
    case GOTRACE_CREATE_BLOCKED:
        create(self, event);
        break;
    case GOTRACE_CREATE_SYSCALL:
    case GOTRACE_STATUS:
    case GOTRACE_STATUS_STACK:
        traced_of(self, event->of, event->ns);
        break;
    case GOTRACE_START:
        start(self, traced_of(self, event->of, event->ns), event->ns);
        break;
    case GOTRACE_UNBLOCK:
        unblock(self, by, traced_of(self, event->of, event->ns), event->ns);
        break;
    case GOTRACE_SWITCH:
    case GOTRACE_SWITCH_DESTROY:
        switch_to(self, by, traced_of(self, event->of, event->ns), event->ns);
        if (event->kind == GOTRACE_SWITCH_DESTROY && event->on)
            end(self, event->on, event->ns);
        break;
    case GOTRACE_PROCS:
        self->facts->processors = (int64_t)event->args[0];
        break;
    case GOTRACE_STW_BEGIN:
        self->stopped_since_ns = event->ns;
        break;
    case GOTRACE_STW_END:
        part_of(self, SEGMENT_STOPS)->ns += within(self, self->stopped_since_ns, event->ns);
        part_of(self, SEGMENT_STOPS)->count += is_within(self, event->ns);
        break;
    default:
        break;
    }
}

/* The end ------------------------------------------------------------------------------------- */

struct last {
    struct importer *self;
    int64_t ns;
};

static void end_live(struct gotrace_g *g, void *arg)
{
    const struct last *last = arg;
    struct traced *traced = g->data;
    if (traced && (g->status == GOTRACE_RUNNING))
        run_until(last->self, traced, last->ns);
    if (traced)
        read_resolve(last->self, traced, true);
    end(last->self, g, last->ns);
}

/* Lines that nobody filled stay empty. */
static void queues_free(struct importer *self)
{
    for (size_t i = 0; self->queues.slots && i <= self->queues.mask; i++) {
        struct queue *queue = (struct queue *)(uintptr_t)self->queues.slots[i].value;
        while (queue && queue->count > 0)
            let_go(self, pull(queue).by);
        if (queue)
            free(queue->of);
        free(queue);
    }
    idmap_free(&self->queues);
}

static void parts_choose(const struct importer *self)
{
    struct import_part *parts = self->facts->parts;
    const bool *keeps = self->options->keeps;
    parts[SEGMENT_PROGRAM].is_kept = true;
    parts[SEGMENT_RUNTIME].is_kept = keeps[SEGMENT_RUNTIME];
    parts[SEGMENT_COLLECTOR].is_kept = keeps[SEGMENT_COLLECTOR];
    parts[SEGMENT_WAITS].is_kept = keeps[SEGMENT_COLLECTOR];
    parts[SEGMENT_STOPS].is_kept = true; /* as computing of who stopped the others */
}

/* Where it is torn, why, and what happened last before that; "" if it is whole. */
static void torn_tell(const struct importer *self, char text[IMPORT_TORN_SIZE])
{
    const char *torn = gotrace_torn(self->trace);
    struct gotrace_mark last = gotrace_before_tear(self->trace);
    int size = snprintf(text, IMPORT_TORN_SIZE, "%s", torn ? torn : "");
    if (!torn || !last.what)
        return;
    const char *name = learned_name(self->learned, last.g);
    snprintf(text + size, IMPORT_TORN_SIZE - (size_t)size,
             "; the last event of a goroutine before it: %s of %" PRIu64 "%s%.80s%s, at %s",
             last.what, last.g, name ? " (" : "", name ? name : "", name ? ")" : "",
             text_time((double)last.ns).s);
}

bool import_trace(const char *path, const struct import_options *options, FILE *to,
                  struct import_facts *facts, struct error *error)
{
    struct importer self = {.options = options, .facts = facts, .to = to};
    struct gotrace_event event = {.ns = 0};
    *facts = (struct import_facts){.events = 0};
    self.trace = gotrace_open(path, error);
    if (!self.trace)
        return false;
    parts_choose(&self);
    traced_store_open(&self.store);
    self.learned = learn(self.trace);
    fprintf(to, PROGRAM_HEAD " %d\n# from a trace of Go %s\n", PROGRAM_VERSION,
            gotrace_version(self.trace));
    while (gotrace_next(self.trace, &event))
        event_take(&self, &event);
    struct last last = {&self, event.ns};
    gotrace_each(self.trace, end_live, &last);
    queues_free(&self);
    traced_store_close(&self.store);
    idmap_free(&self.seen);
    facts->events = learned_events(self.learned);
    facts->readers = learned_readers(self.learned).told;
    facts->readers_chosen = learned_readers(self.learned).chosen;
    facts->disorder = gotrace_disorder(self.trace);
    facts->span_ns = within(&self, 0, event.ns);
    snprintf(facts->version, sizeof facts->version, "%s", gotrace_version(self.trace));
    torn_tell(&self, facts->torn);
    gotrace_close(self.trace, traced_free);
    learned_free(self.learned);
    call_kinds_free(&self.kinds);
    if (self.store.error)
        return error_quote(error, "%s: the file for its steps in $TMPDIR or /var/tmp is lost: %s",
                           path, strerror(self.store.error));
    return self.written > 0 ||
           error_quote(error,
                       "%s: no goroutine of the program did anything in it%s%s; left out: "
                       "%" PRIu64 " goroutines",
                       path, *facts->torn ? " up to its tear, " : "", facts->torn,
                       facts->goroutines_cut);
}
