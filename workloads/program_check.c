/* program_check.c - see program_check.h.
 *
 * The program is run without clocks: each goroutine goes on until it comes to a wait that was not
 * woken yet, and whoever wakes it has it go on. Goroutines that are left over wait for each other.
 * Each step's end is the later one of the step's before it and, of a wait, the wake's. So the last
 * end of all is the length of the longest chain: with enough workers nothing takes less. Locks and
 * channels are left out of this, because who comes first is not the program's to say.
 */
#include "program_check.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCKS_HELD_MAX = 64, SHOWN = 40 };

struct check {
    const struct program_draft *draft;
    struct program *program;
    uint32_t *first_wait; /* of each goroutine, and behind them the count of all */
    size_t *wait_step;    /* of each wait: the step */
    size_t *wake_step;    /* of each wait: the step that wakes it, steps_count: none */
    /* the run without clocks */
    size_t *at;         /* of each goroutine: its next step */
    int64_t *end_ns;    /* of each goroutine: when the step before that ended */
    int64_t *wake_ns;   /* of each wait, -1: not yet */
    uint32_t *runnable; /* a stack of goroutines */
    size_t runnable_count;
    bool *is_waiting;  /* of each goroutine */
    int64_t *messages; /* of each channel: sent, not received yet */
    uint32_t *first;   /* of each channel: 1 + a goroutine that waits for a message, 0: none does */
    uint32_t *next;    /* of each goroutine: likewise, the one behind it */
};

static bool __attribute__((format(printf, 3, 4)))
refuse(const struct check *self, size_t step, const char *format, ...)
{
    const struct program_draft *draft = self->draft;
    int length =
        snprintf(draft->why, draft->why_size, "%s:%" PRIu32 ": ", draft->name, draft->lines[step]);
    va_list args;
    va_start(args, format);
    if (length >= 0 && (size_t)length < draft->why_size)
        vsnprintf(draft->why + length, draft->why_size - (size_t)length, format, args);
    va_end(args);
    for (char *at = draft->why; *at; at++)
        if (iscntrl((unsigned char)*at))
            *at = '?';
    return false;
}

static void *make(size_t count, size_t size)
{
    void *made = calloc(count + 1, size);
    if (!made)
        abort();
    return made;
}

static const char *id_of(const struct check *self, uint32_t goroutine)
{
    return self->program->goroutines[goroutine].id;
}

/* Steps of one goroutine ----------------------------------------------------------------------- */

struct held {
    uint32_t lock[LOCKS_HELD_MAX];
    size_t count;
    bool in_request;
};

static bool lock_check(const struct check *self, size_t i, struct held *held)
{
    const struct program_step *step = &self->program->steps[i];
    const char *lock = self->program->locks[step->target];
    size_t place = 0;
    while (place < held->count && held->lock[place] != step->target)
        place++;
    if (step->kind == PROGRAM_UNLOCK) {
        if (place == held->count)
            return refuse(self, i, "unlock of \"%.*s\", which this goroutine does not hold", SHOWN,
                          lock);
        held->lock[place] = held->lock[--held->count];
        return true;
    }
    if (place < held->count)
        return refuse(self, i, "lock of \"%.*s\", which this goroutine holds already", SHOWN, lock);
    if (held->count == LOCKS_HELD_MAX)
        return refuse(self, i, "a goroutine holds %d locks at one time at most", LOCKS_HELD_MAX);
    held->lock[held->count++] = step->target;
    return true;
}

static bool start_check(const struct check *self, size_t i, uint32_t starter)
{
    uint32_t started = self->program->steps[i].target;
    struct program_goroutine *goroutine = &self->program->goroutines[started];
    if (goroutine->started_by != PROGRAM_NONE)
        return refuse(self, i, "goroutine %s is started twice, here and by goroutine %s",
                      goroutine->id, id_of(self, goroutine->started_by));
    goroutine->started_by = starter;
    return true;
}

static bool step_check(struct check *self, size_t i, uint32_t goroutine, struct held *held)
{
    struct program *program = self->program;
    struct program_step *step = &program->steps[i];
    switch ((enum program_kind)step->kind) {
    case PROGRAM_RUN:
    case PROGRAM_BUSY:
        program->work_ns += step->ns;
        return true;
    case PROGRAM_GO:
        return start_check(self, i, goroutine);
    case PROGRAM_WAIT:
        self->wait_step[program->waits_count] = i;
        step->target = (uint32_t)program->waits_count++;
        program->waits[step->target] =
            (struct program_wait){goroutine, PROGRAM_NONE, step->reason == 0};
        program->goroutines[goroutine].is_polled |= step->reason == 0;
        return true;
    case PROGRAM_LOCK:
    case PROGRAM_UNLOCK:
        return lock_check(self, i, held);
    case PROGRAM_BEGIN:
    case PROGRAM_DONE:
        if (held->in_request == (step->kind == PROGRAM_BEGIN))
            return refuse(self, i, "%s",
                          held->in_request ? "begin within a request; valid after done"
                                           : "done without a begin before it");
        held->in_request = step->kind == PROGRAM_BEGIN;
        if (held->in_request)
            program->request_class[program->requests_count++] = step->target;
        step->target = (uint32_t)program->requests_count - 1;
        return true;
    case PROGRAM_END:
        if (held->in_request)
            return refuse(self, i, "the goroutine ends within a request; write \"done\" first");
        if (held->count > 0)
            return refuse(self, i, "the goroutine ends and holds lock \"%.*s\"; write \"unlock\"",
                          SHOWN, program->locks[held->lock[0]]);
        return true;
    default:
        return true;
    }
}

static bool goroutines_check(struct check *self)
{
    struct program *program = self->program;
    for (uint32_t g = 0; g < program->goroutines_count; g++) {
        const struct program_goroutine *goroutine = &program->goroutines[g];
        struct held held = {.count = 0};
        self->first_wait[g] = (uint32_t)program->waits_count;
        for (size_t i = goroutine->first; i < goroutine->first + goroutine->count; i++)
            if (!step_check(self, i, g, &held))
                return false;
    }
    self->first_wait[program->goroutines_count] = (uint32_t)program->waits_count;
    return true;
}

/* Wakes ---------------------------------------------------------------------------------------- */

static bool wake_give(const struct check *self, size_t i, uint32_t waker, uint32_t wait)
{
    struct program_step *step = &self->program->steps[i];
    if (self->wake_step[wait] < self->program->steps_count)
        return refuse(self, i,
                      "wait %" PRId64 " of goroutine %s is woken twice, here and in line "
                      "%" PRIu32,
                      step->ns, id_of(self, step->target),
                      self->draft->lines[self->wake_step[wait]]);
    self->wake_step[wait] = i;
    self->program->waits[wait].wakes = waker;
    step->target = wait;
    step->ns = 0;
    return true;
}

/* One wake: that of a named wait, or that of the next one which no other wake names. next: of each
 * goroutine the first wait that may be free. */
static bool wake_check(const struct check *self, size_t i, uint32_t waker, uint32_t *next)
{
    const struct program_step *step = &self->program->steps[i];
    uint32_t woken = step->target, first = self->first_wait[woken];
    uint32_t count = self->first_wait[woken + 1] - first;
    if (step->ns > count)
        return refuse(self, i, "goroutine %s has no wait %" PRId64 "; it has %" PRIu32,
                      id_of(self, woken), step->ns, count);
    if (step->ns > 0)
        return wake_give(self, i, waker, first + (uint32_t)step->ns - 1);
    while (next[woken] < count && self->wake_step[first + next[woken]] < self->program->steps_count)
        next[woken]++;
    if (next[woken] == count)
        return refuse(self, i, "a wake too many: goroutine %s waits %" PRIu32 " times",
                      id_of(self, woken), count);
    return wake_give(self, i, waker, first + next[woken]);
}

/* Wakes that name a wait come first. */
static bool wakes_check(struct check *self)
{
    struct program *program = self->program;
    uint32_t *next = make(program->goroutines_count, sizeof *next);
    unsigned char *is_named = make(program->steps_count, 1);
    bool is_right = true;
    for (size_t i = 0; i < program->steps_count; i++)
        is_named[i] = program->steps[i].kind == PROGRAM_WAKE && program->steps[i].ns > 0;
    for (int named = 1; named >= 0; named--) {
        for (uint32_t g = 0; is_right && g < program->goroutines_count; g++) {
            size_t first = program->goroutines[g].first, count = program->goroutines[g].count;
            for (size_t i = first; is_right && i < first + count; i++)
                if (program->steps[i].kind == PROGRAM_WAKE && is_named[i] == named)
                    is_right = wake_check(self, i, g, next);
        }
    }
    free(is_named);
    free(next);
    for (size_t wait = 0; is_right && wait < program->waits_count; wait++)
        if (self->wake_step[wait] == program->steps_count)
            return refuse(self, self->wait_step[wait],
                          "a wait that nobody wakes: goroutine %s; write \"wake %s\" in another",
                          id_of(self, program->waits[wait].waits),
                          id_of(self, program->waits[wait].waits));
    return is_right;
}

/* The run without clocks ----------------------------------------------------------------------- */

static void push(struct check *self, uint32_t goroutine, int64_t at_ns)
{
    if (self->end_ns[goroutine] < at_ns)
        self->end_ns[goroutine] = at_ns;
    self->runnable[self->runnable_count++] = goroutine;
}

/* False if it has to wait for a message. */
static bool receive(struct check *self, uint32_t goroutine, uint32_t channel)
{
    self->is_waiting[goroutine] = self->messages[channel] == 0;
    if (self->is_waiting[goroutine]) {
        self->next[goroutine] = self->first[channel];
        self->first[channel] = goroutine + 1;
        return false;
    }
    self->messages[channel]--;
    return true;
}

static void send(struct check *self, uint32_t channel)
{
    uint32_t waits = self->first[channel];
    self->messages[channel]++;
    if (waits == 0)
        return;
    self->first[channel] = self->next[waits - 1];
    self->is_waiting[waits - 1] = false;
    push(self, waits - 1, 0);
}

/* Goes on until the goroutine ends, or waits for a wake that did not come yet. */
static void proceed(struct check *self, uint32_t goroutine)
{
    struct program *program = self->program;
    int64_t *end_ns = &self->end_ns[goroutine];
    for (;; self->at[goroutine]++) {
        const struct program_step *step = &program->steps[self->at[goroutine]];
        switch ((enum program_kind)step->kind) {
        case PROGRAM_GO:
            push(self, step->target, *end_ns);
            break;
        case PROGRAM_WAKE:
            self->wake_ns[step->target] = *end_ns;
            if (self->is_waiting[program->waits[step->target].waits] &&
                self->at[program->waits[step->target].waits] == self->wait_step[step->target]) {
                self->is_waiting[program->waits[step->target].waits] = false;
                push(self, program->waits[step->target].waits, *end_ns);
            }
            break;
        case PROGRAM_WAIT:
            self->is_waiting[goroutine] = self->wake_ns[step->target] < 0;
            if (self->is_waiting[goroutine])
                return;
            if (*end_ns < self->wake_ns[step->target])
                *end_ns = self->wake_ns[step->target];
            break;
        case PROGRAM_SEND:
            send(self, step->target);
            break;
        case PROGRAM_RECEIVE:
            if (!receive(self, goroutine, step->target))
                return;
            break;
        case PROGRAM_AT:
            *end_ns = *end_ns < step->ns ? step->ns : *end_ns;
            break;
        case PROGRAM_END:
            if (program->critical_ns < *end_ns)
                program->critical_ns = *end_ns;
            return;
        default:
            *end_ns += step->ns;
        }
    }
}

/* Why one of the goroutines that are left over waits. */
static bool complain_of_circle(const struct check *self)
{
    const struct program *program = self->program;
    for (uint32_t g = 0; g < program->goroutines_count; g++) {
        if (!self->is_waiting[g])
            continue;
        const struct program_step *step = &program->steps[self->at[g]];
        if (step->kind == PROGRAM_RECEIVE)
            return refuse(self, self->at[g],
                          "goroutine %s waits for ever for a message on \"%.*s\"; each is "
                          "received by others, or sent after this",
                          id_of(self, g), SHOWN, program->channels[step->target]);
    }
    for (uint32_t g = 0; g < program->goroutines_count; g++) {
        if (!self->is_waiting[g])
            continue;
        size_t wake = self->wake_step[program->steps[self->at[g]].target];
        return refuse(self, self->at[g],
                      "goroutine %s waits for ever: its wake, in line %" PRIu32
                      ", comes only after this wait",
                      id_of(self, g), self->draft->lines[wake]);
    }
    for (uint32_t g = 0; g < program->goroutines_count; g++)
        if (self->at[g] == program->goroutines[g].first && program->goroutines[g].started_by == g)
            return refuse(self, self->at[g], "goroutine %s is started by itself alone",
                          id_of(self, g));
    return refuse(self, program->goroutines[0].first,
                  "goroutines start each other in a circle; one has to be there from the start");
}

static bool run_check(struct check *self)
{
    const struct program *program = self->program;
    size_t ended = 0;
    for (size_t wait = 0; wait < program->waits_count; wait++)
        self->wake_ns[wait] = -1;
    for (uint32_t g = 0; g < program->goroutines_count; g++)
        self->at[g] = program->goroutines[g].first;
    for (uint32_t g = 0; g < program->goroutines_count; g++)
        if (program->goroutines[g].started_by == PROGRAM_NONE)
            push(self, g, 0);
    while (self->runnable_count > 0) {
        uint32_t g = self->runnable[--self->runnable_count];
        proceed(self, g);
        ended += !self->is_waiting[g];
    }
    return ended == program->goroutines_count || complain_of_circle(self);
}

bool program_check(const struct program_draft *draft)
{
    struct program *program = draft->program;
    size_t goroutines = program->goroutines_count, waits = 0, requests = 0;
    for (size_t i = 0; i < program->steps_count; i++) {
        waits += program->steps[i].kind == PROGRAM_WAIT;
        requests += program->steps[i].kind == PROGRAM_BEGIN;
    }
    program->waits = make(waits, sizeof *program->waits);
    program->request_class = make(requests, sizeof *program->request_class);
    struct check self = {
        .draft = draft,
        .program = program,
        .first_wait = make(goroutines + 1, sizeof *self.first_wait),
        .wait_step = make(waits, sizeof *self.wait_step),
        .wake_step = make(waits, sizeof *self.wake_step),
        .at = make(goroutines, sizeof *self.at),
        .end_ns = make(goroutines, sizeof *self.end_ns),
        .wake_ns = make(waits, sizeof *self.wake_ns),
        .runnable = make(goroutines, sizeof *self.runnable),
        .is_waiting = make(goroutines, sizeof *self.is_waiting),
        .messages = make(program->channels_count, sizeof *self.messages),
        .first = make(program->channels_count, sizeof *self.first),
        .next = make(goroutines, sizeof *self.next),
    };
    for (size_t wait = 0; wait < waits; wait++)
        self.wake_step[wait] = program->steps_count;
    bool is_right = goroutines_check(&self) && wakes_check(&self) && run_check(&self);
    free(self.first_wait);
    free(self.wait_step);
    free(self.wake_step);
    free(self.at);
    free(self.end_ns);
    free(self.wake_ns);
    free(self.runnable);
    free(self.is_waiting);
    free(self.messages);
    free(self.first);
    free(self.next);
    return is_right;
}
