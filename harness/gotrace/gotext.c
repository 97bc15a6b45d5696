/* gotext.c - see gotext.h.
 *
 * An event is a line: M=1 P=0 G=7 StateTransition Time=123 Resource=Goroutine(7) Reason="sync"
 * GoID=7 Running->Waiting. Up to two stacks follow it. "TransitionStack=" is that of the goroutine
 * that changes, "Stack=" that of the one which the thread ran. A frame is two lines, which begin
 * with tabs. An empty line ends a stack. So an event is whole when the next one begins.
 *
 * A goroutine may hand its thread to another one (coroswitch). This is one event in the trace, and
 * three in the text, a nanosecond apart. It unblocks the other one, without a stack. It ends, or
 * blocks without a reason. The other one starts. They become that one event again.
 */
#include "harness/gotrace/gotext.h"

#include "harness/base/fnv1a.h"
#include "harness/base/memory.h"
#include "harness/gotrace/idmap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES_MAX = 1024, HELD_MAX = 2, CHUNK = 1 << 16 };

/* Texts of strings, one behind the other. */
struct chunk {
    struct chunk *next;
    size_t used;
    char text[CHUNK];
};

struct gotext {
    FILE *events;
    char torn[160];
    struct chunk *chunks;
    int64_t read_ns; /* of the last event that was read back */
};

/* The event of which lines still come. */
struct pending {
    bool is_there, is_bare; /* bare: without a stack */
    struct gotext_event event;
    uint64_t g, reason, stacks[2]; /* which the event is of; of the transition, of the event */
};

struct reader {
    struct gotext *text;
    FILE *from;
    struct gotrace_tables *tables;
    struct idmap strings, stacks; /* their numbers, by hash */
    char *line;
    size_t line_max, length;
    uint64_t number; /* of the line */
    bool has_zero;
    int64_t zero_ns, last_ns, written_ns;
    struct pending pending;
    int in_stack; /* -1: no */
    uint32_t frames[FRAMES_MAX];
    size_t frames_count;
    struct pending held[HELD_MAX]; /* perhaps a hand-over */
    int held_count;
};

FILE *gotext_draft(void)
{
    const char *folder = getenv("TMPDIR");
    char *path = text_format("%s/schedlab-import-XXXXXX", folder ? folder : "/var/tmp");
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
    int error = errno;
    if (fd >= 0)
        unlink(path);
    free(path);
    errno = error;
    return file;
}

static bool tear(struct reader *self, const char *why)
{
    snprintf(self->text->torn, sizeof self->text->torn, "line %" PRIu64 ": %s", self->number, why);
    return false;
}

/* Strings and stacks --------------------------------------------------------------------------- */

static const char *text_keep(struct gotext *text, const char *start, size_t size)
{
    if (!text->chunks || text->chunks->used + size > CHUNK) {
        struct chunk *chunk = xmalloc(sizeof *chunk);
        *chunk = (struct chunk){.next = text->chunks};
        text->chunks = chunk;
    }
    char *kept = text->chunks->text + text->chunks->used;
    memcpy(kept, start, size);
    text->chunks->used += size;
    return kept;
}

static uint64_t string_of(struct reader *self, const char *start, size_t size)
{
    size = size < CHUNK ? size : CHUNK;
    uint64_t *number = idmap_put(&self->strings, fnv1a(FNV1A_SEED, start, size) | 1);
    if (*number == 0)
        *number = gotrace_tables_add(self->tables, text_keep(self->text, start, size), size);
    return *number;
}

static uint64_t stack_of(struct reader *self)
{
    size_t size = self->frames_count * sizeof self->frames[0];
    uint64_t *number =
        idmap_put(&self->stacks, fnv1a(FNV1A_SEED, (const char *)self->frames, size) | 1);
    if (*number == 0)
        *number = gotrace_tables_add_stack(self->tables, self->frames, self->frames_count);
    return *number;
}

/* Events to the file --------------------------------------------------------------------------- */

static void number_write(uint64_t value, FILE *to)
{
    for (; value >= 128; value >>= 7)
        putc((int)(value & 127) | 128, to);
    putc((int)value, to);
}

static bool number_read(FILE *from, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0, byte = 128; byte >= 128 && shift < 64; shift += 7) {
        int next = getc(from);
        if (next == EOF)
            return false;
        byte = (unsigned)next;
        *value |= (uint64_t)(byte & 127) << shift;
    }
    return true;
}

static void event_write(struct reader *self, const struct gotext_event *event)
{
    FILE *to = self->text->events;
    number_write(event->kind, to);
    number_write((uint64_t)(event->ns - self->written_ns), to);
    number_write(event->on + 1, to); /* GOTEXT_NONE is 0 */
    for (int i = 0; i < GOTRACE_ARGS; i++)
        number_write(event->args[i], to);
    self->written_ns = event->ns;
}

bool gotext_next(struct gotext *text, struct gotext_event *event)
{
    uint64_t kind, after_ns, on;
    if (!number_read(text->events, &kind) || !number_read(text->events, &after_ns) ||
        !number_read(text->events, &on))
        return false;
    text->read_ns += (int64_t)after_ns;
    *event = (struct gotext_event){(unsigned)kind, text->read_ns, on - 1, {0}};
    for (int i = 0; i < GOTRACE_ARGS; i++)
        if (!number_read(text->events, &event->args[i]))
            return false;
    return true;
}

void gotext_rewind(struct gotext *text)
{
    rewind(text->events);
    text->read_ns = 0;
}

/* Hand-overs ----------------------------------------------------------------------------------- */

static void held_write(struct reader *self)
{
    for (int i = 0; i < self->held_count; i++)
        event_write(self, &self->held[i].event);
    self->held_count = 0;
}

/* True if it may be the next of the three events. */
static bool is_next_of_hand_over(const struct reader *self, const struct pending *next)
{
    const struct gotext_event *event = &next->event, *first = &self->held[0].event;
    if (!next->is_bare)
        return false;
    if (self->held_count == 0)
        return event->kind == GOTRACE_UNBLOCK && event->on != GOTEXT_NONE;
    if (event->ns != first->ns + self->held_count)
        return false;
    if (self->held_count == 1)
        return event->on == first->on && (event->kind == GOTRACE_DESTROY ||
                                          (event->kind == GOTRACE_BLOCK && next->reason == 0));
    return event->kind == GOTRACE_START && event->args[0] == first->args[0];
}

static void pending_take(struct reader *self, const struct pending *next)
{
    bool is_next = is_next_of_hand_over(self, next);
    if (!is_next && self->held_count > 0) {
        held_write(self);
        is_next = is_next_of_hand_over(self, next);
    }
    if (is_next && self->held_count == HELD_MAX) {
        struct gotext_event *first = &self->held[0].event;
        bool ends = self->held[1].event.kind == GOTRACE_DESTROY;
        first->kind = ends ? GOTRACE_SWITCH_DESTROY : GOTRACE_SWITCH;
        self->held_count = 0;
        event_write(self, first);
    } else if (is_next) {
        self->held[self->held_count++] = *next;
    } else {
        event_write(self, &next->event);
    }
}

/* Lines ---------------------------------------------------------------------------------------- */

/* The number behind that word in the line; false if there is none. */
static bool field_number(const char *line, const char *word, int64_t *value)
{
    const char *at = strstr(line, word);
    char *end;
    if (!at)
        return false;
    at += strlen(word);
    errno = 0;
    uint64_t number = *at == '-' ? (uint64_t)strtoll(at, &end, 10) : strtoull(at, &end, 10);
    *value = (int64_t)number;
    return end > at && errno == 0;
}

/* One character of a string in quotes as Go's %q has it; returns its bytes. */
static size_t character_read(const char **at, char *to)
{
    static const char letters[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
    const char *start = *at;
    *at += 1;
    if (*start != '\\') {
        *to = *start;
        return 1;
    }
    const char *letter = **at ? strchr(letters, **at) : NULL;
    *at += **at != '\0';
    char *end = NULL;
    unsigned long code = 0;
    int digits = start[1] == 'x' ? 2 : start[1] == 'u' ? 4 : start[1] == 'U' ? 8 : 0;
    if (digits > 0) {
        char hex[9] = "";
        memcpy(hex, *at, strnlen(*at, (size_t)digits));
        code = strtoul(hex, &end, 16);
        *at += strnlen(*at, (size_t)digits);
    }
    *to = digits == 0                 ? (letter ? values[letter - letters] : start[1])
          : digits == 2 || code < 128 ? (char)code
                                      : '?';
    return 1;
}

/* The number of the string in quotes behind that word; 0: none, or an empty one. */
static uint64_t field_string(struct reader *self, const char *word)
{
    const char *at = strstr(self->line, word);
    if (!at)
        return 0;
    at += strlen(word);
    char *copy = xmalloc(strlen(at) + 1);
    size_t size = 0;
    while (*at && *at != '"')
        size += character_read(&at, copy + size);
    uint64_t number = size > 0 ? string_of(self, copy, size) : 0;
    free(copy);
    return number;
}

static enum gotrace_status status_of(const char *word)
{
    static const struct {
        const char *word;
        enum gotrace_status status;
    } states[] = {
        {"Runnable", GOTRACE_RUNNABLE},
        {"Running", GOTRACE_RUNNING},
        {"Syscall", GOTRACE_SYSCALL},
        {"Waiting", GOTRACE_WAITING},
    };
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(word, states[i].word) == 0)
            return states[i].status;
    return GOTRACE_UNKNOWN;
}

/* "Running", "Waiting": a goroutine blocks. */
static unsigned transition_kind(const char *from, const char *to)
{
    static const uint8_t kinds[GOTRACE_WAITING + 1][GOTRACE_WAITING + 1] = {
        /* UNKNOWN stands for NotExist */
        [GOTRACE_UNKNOWN] = {[GOTRACE_RUNNABLE] = GOTRACE_CREATE,
                             [GOTRACE_WAITING] = GOTRACE_CREATE_BLOCKED,
                             [GOTRACE_SYSCALL] = GOTRACE_CREATE_SYSCALL},
        [GOTRACE_RUNNABLE] = {[GOTRACE_RUNNING] = GOTRACE_START},
        [GOTRACE_RUNNING] = {[GOTRACE_UNKNOWN] = GOTRACE_DESTROY,
                             [GOTRACE_RUNNABLE] = GOTRACE_STOP,
                             [GOTRACE_WAITING] = GOTRACE_BLOCK,
                             [GOTRACE_SYSCALL] = GOTRACE_SYSCALL_BEGIN},
        [GOTRACE_SYSCALL] = {[GOTRACE_UNKNOWN] = GOTRACE_DESTROY_SYSCALL,
                             [GOTRACE_RUNNING] = GOTRACE_SYSCALL_END,
                             [GOTRACE_RUNNABLE] = GOTRACE_SYSCALL_END_BLOCKED},
        [GOTRACE_WAITING] = {[GOTRACE_RUNNABLE] = GOTRACE_UNBLOCK},
    };
    bool is_told = strcmp(from, "Undetermined") == 0 || strcmp(from, to) == 0;
    return is_told ? GOTRACE_STATUS : kinds[status_of(from)][status_of(to)];
}

static bool transition_read(struct reader *self)
{
    struct pending *pending = &self->pending;
    char from[16], to[16];
    int64_t g;
    const char *at = strstr(self->line, " GoID=");
    if (!at) /* of a processor */
        return true;
    if (!field_number(at, " GoID=", &g) ||
        sscanf(at, " GoID=%*d %15[A-Za-z]->%15[A-Za-z]", from, to) != 2)
        return false;
    pending->g = (uint64_t)g;
    pending->reason = field_string(self, " Reason=\"");
    pending->event.kind = transition_kind(from, to);
    if (pending->event.kind == GOTRACE_STATUS)
        pending->event.args[2] = status_of(to);
    return true;
}

static bool range_read(struct reader *self, unsigned kind)
{
    if (strstr(self->line, " Name=\"stop-the-world"))
        self->pending.event.kind = kind;
    return true;
}

static bool metric_read(struct reader *self)
{
    int64_t value;
    if (!strstr(self->line, " Name=\"/sched/gomaxprocs:threads\" Value="))
        return true;
    self->pending.event.kind = GOTRACE_PROCS;
    if (!field_number(self->line, "Uint64(", &value))
        return false;
    self->pending.event.args[0] = (uint64_t)value;
    return true;
}

/* A region or a task: the word before its number, and the argument that is its type. */
static bool task_read(struct reader *self, unsigned kind, const char *word, size_t type)
{
    int64_t task;
    self->pending.event.kind = kind;
    if (!field_number(self->line, word, &task))
        return false;
    self->pending.event.args[0] = (uint64_t)task;
    self->pending.event.args[type] = field_string(self, " Type=\"");
    return true;
}

static bool details_read(struct reader *self, const char *kind)
{
    if (strcmp(kind, "StateTransition") == 0)
        return transition_read(self);
    if (strcmp(kind, "RegionBegin") == 0)
        return task_read(self, GOTRACE_REGION_BEGIN, " Task=", 1);
    if (strcmp(kind, "RegionEnd") == 0)
        return task_read(self, GOTRACE_REGION_END, " Task=", 1);
    if (strcmp(kind, "TaskBegin") == 0)
        return task_read(self, GOTRACE_TASK_BEGIN, " ID=", 2);
    if (strcmp(kind, "TaskEnd") == 0)
        return task_read(self, GOTRACE_TASK_END, " ID=", 2);
    if (strcmp(kind, "RangeBegin") == 0)
        return range_read(self, GOTRACE_STW_BEGIN);
    if (strcmp(kind, "RangeEnd") == 0)
        return range_read(self, GOTRACE_STW_END);
    return strcmp(kind, "Metric") != 0 || metric_read(self);
}

/* All lines of the event were read: its arguments go where the trace has them. */
static void pending_end(struct reader *self)
{
    struct pending *pending = &self->pending;
    uint64_t *args = pending->event.args, stack = pending->stacks[1];
    if (!pending->is_there)
        return;
    pending->is_bare = pending->stacks[0] == 0 && stack == 0;
    switch (pending->event.kind) {
    case GOTRACE_STATUS:
        args[3] = stack;
        args[1] = UINT64_MAX; /* no thread */
        pending->event.kind = stack ? GOTRACE_STATUS_STACK : GOTRACE_STATUS;
        args[0] = pending->g;
        break;
    case GOTRACE_CREATE:
    case GOTRACE_CREATE_BLOCKED:
        args[1] = pending->stacks[0];
        args[2] = stack;
        args[0] = pending->g;
        break;
    case GOTRACE_CREATE_SYSCALL:
    case GOTRACE_START:
    case GOTRACE_UNBLOCK:
        args[0] = pending->g;
        args[2] = stack;
        break;
    case GOTRACE_STOP:
    case GOTRACE_BLOCK:
    case GOTRACE_SYSCALL_BEGIN:
        args[0] = pending->reason;
        args[1] = stack;
        break;
    case GOTRACE_REGION_BEGIN:
    case GOTRACE_REGION_END:
        args[2] = stack;
        break;
    default:
        break;
    }
    pending_take(self, pending);
    pending->is_there = false;
}

/* "M=1 P=0 G=7 KIND Time=123 ..." begins an event. */
static bool event_begin(struct reader *self)
{
    char kind[32];
    int64_t m, on, ns;
    int read = sscanf(self->line, "M=%" SCNd64 " P=%*d G=%" SCNd64 " %31[A-Za-z] Time=%" SCNd64, &m,
                      &on, kind, &ns);
    if (read != 4)
        return tear(self, "this is no event of a trace");
    bool is_sync = strcmp(kind, "Sync") == 0;
    if (!self->has_zero && ns > 1) { /* Go 1.22 to 1.24 have 1 in the first one */
        self->zero_ns = is_sync ? ns - 1 : ns;
        self->has_zero = true;
    }
    self->pending = (struct pending){.event = {.on = (uint64_t)on}};
    if (is_sync || strcmp(kind, "StackSample") == 0)
        return true;
    int64_t after_ns = ns - self->zero_ns;
    self->pending.is_there = true;
    self->last_ns =
        after_ns > self->last_ns ? after_ns : self->last_ns; /* Go's reader sees to it */
    self->pending.event.ns = self->last_ns;
    return details_read(self, kind) || tear(self, "this event is not whole");
}

static void stack_end(struct reader *self)
{
    if (self->in_stack >= 0)
        self->pending.stacks[self->in_stack] = stack_of(self);
    self->in_stack = -1;
}

static void stack_begin(struct reader *self, int which)
{
    stack_end(self);
    self->in_stack = which;
    self->frames_count = 0;
}

/* "\tmain.f @ 0x4a1b2c", and the file and line of it in the next line. */
static bool frame_read(struct reader *self)
{
    const char *name = self->line + 1, *end = strstr(name, " @ 0x");
    if (self->in_stack < 0)
        return tear(self, "a frame of no stack");
    if (*name == '\t' || self->frames_count == FRAMES_MAX)
        return true;
    if (!end)
        return tear(self, "a frame of a stack is not whole");
    self->frames[self->frames_count++] = (uint32_t)string_of(self, name, (size_t)(end - name));
    return true;
}

static bool line_take(struct reader *self)
{
    const char *line = self->line;
    if (*line == '\t')
        return frame_read(self);
    if (*line == '\0') {
        stack_end(self);
        return true;
    }
    if (strcmp(line, "TransitionStack=") == 0 || strcmp(line, "Stack=") == 0) {
        stack_begin(self, *line == 'T' ? 0 : 1);
        return true;
    }
    if (self->in_stack >= 0)
        return tear(self, "a stack ends without an empty line");
    pending_end(self);
    return event_begin(self);
}

/* The next line without its end; false behind the last one, or if that one is not whole. */
static bool line_next(struct reader *self)
{
    ssize_t length = getline(&self->line, &self->line_max, self->from);
    if (length <= 0)
        return self->in_stack >= 0 && tear(self, "the text ends within a stack");
    self->number++;
    if (self->line[length - 1] != '\n') {
        if (*self->line == 'M' && self->in_stack < 0) /* so the one before it is whole */
            pending_end(self);
        return tear(self, "the text ends within this line");
    }
    self->line[length - 1 - (length > 1 && self->line[length - 2] == '\r')] = '\0';
    return true;
}

/* Reads all lines up to a tear, behind which an event is not whole. */
static void lines_read(struct reader *self)
{
    while (line_next(self))
        if (!line_take(self))
            break;
    if (*self->text->torn)
        self->pending.is_there = false;
    pending_end(self);
    held_write(self);
}

struct gotext *gotext_read(FILE *from, struct gotrace_tables *tables)
{
    struct gotext *text = xcalloc(1, sizeof *text);
    struct reader *self = xcalloc(1, sizeof *self);
    *self = (struct reader){.text = text, .from = from, .tables = tables, .in_stack = -1};
    text->events = gotext_draft();
    int error = text->events ? 0 : errno;
    if (text->events) {
        lines_read(self);
        bool is_written = fflush(text->events) == 0 && !ferror(text->events);
        error = is_written ? 0 : errno;
    }
    bool is_text = error == 0 && !(*text->torn && self->number <= 1);
    free(self->line);
    idmap_free(&self->strings);
    idmap_free(&self->stacks);
    free(self);
    if (is_text) {
        gotext_rewind(text);
        return text;
    }
    gotext_close(text);
    errno = error;
    return NULL;
}

const char *gotext_torn(const struct gotext *text)
{
    return *text->torn ? text->torn : NULL;
}

void gotext_close(struct gotext *text)
{
    if (text->events)
        fclose(text->events);
    for (struct chunk *chunk = text->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(text);
}
