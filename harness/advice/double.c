/* double.c - see double.h.
 *
 * A request arrives on a connection
 *
 *     at `poll at` with `begin` behind it, or
 *     at `wait network`, if the goroutine that wakes it waits by the clock (`poll at`) and brings
 *     no other request to this connection.
 *
 * One goroutine that brings several requests is a client that waits for replies: then the next
 * request comes after the last one was served, and none waits behind another. Twice the connections
 * of such clients would be twice the load, which is another question.
 *
 * The steps from an arrival to the next one are a request. Every other request goes to a second
 * goroutine, with all of its waits. Requests of one connection share locks and waits with others by
 * name alone, so their steps mean the same elsewhere. A request that begins while a lock is held,
 * or before the last one is done, cannot go: such a goroutine is no connection here.
 */
#include "harness/advice/double.h"

#include "harness/base/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Connections ---------------------------------------------------------------------------------- */

/* A program, and what is found out about it. */
struct doubling {
    const struct program *program;
    bool *comes_by_clock;   /* of goroutines: it waits by the clock before it wakes anybody */
    bool *is_connection;    /* of goroutines */
    uint32_t *brought;      /* of goroutines: the last connection to which it brought a request */
    uint32_t *number;       /* of waits: which one of its goroutine's, from 1 */
    bool *is_second;        /* of waits: in the second goroutine */
    size_t count, replying; /* connections; those whose clients wait for replies */
};

static const struct program_step *steps_of(const struct program *program, size_t g)
{
    return &program->steps[program->goroutines[g].first];
}

static bool comes_by_clock(const struct program *program, size_t g)
{
    const struct program_step *steps = steps_of(program, g);
    for (size_t i = 0; steps[i].kind != PROGRAM_END && steps[i].kind != PROGRAM_WAKE; i++)
        if (steps[i].kind == PROGRAM_AT)
            return true;
    return false;
}

static bool is_network_wait(const struct program *program, const struct program_step *step)
{
    return step->kind == PROGRAM_WAIT && program->waits[step->target].is_polled;
}

/* True if a request comes at that step. */
static bool is_arrival(const struct doubling *self, const struct program_step *step)
{
    if (step->kind == PROGRAM_AT)
        return step[1].kind == PROGRAM_BEGIN;
    return is_network_wait(self->program, step) &&
           self->comes_by_clock[self->program->waits[step->target].wakes];
}

/* False if one goroutine wakes it for several of its waits for the network: a client. */
static bool has_clients_of_their_own(const struct doubling *self, size_t g)
{
    const struct program *program = self->program;
    const struct program_step *steps = steps_of(program, g);
    for (size_t i = 0; steps[i].kind != PROGRAM_END; i++) {
        if (!is_network_wait(program, &steps[i]))
            continue;
        uint32_t *brought = &self->brought[program->waits[steps[i].target].wakes];
        if (*brought == (uint32_t)g)
            return false;
        *brought = (uint32_t)g;
    }
    return true;
}

/* True if it has two arrivals at least, and no request begins within another or under a lock. */
static bool is_connection(const struct doubling *self, size_t g)
{
    const struct program_step *steps = steps_of(self->program, g);
    size_t arrivals = 0;
    int held = 0;
    for (size_t i = 0; steps[i].kind != PROGRAM_END; i++) {
        enum program_kind kind = (enum program_kind)steps[i].kind;
        held += kind == PROGRAM_LOCK || kind == PROGRAM_BEGIN;
        held -= kind == PROGRAM_UNLOCK || kind == PROGRAM_DONE;
        if (!is_arrival(self, &steps[i]))
            continue;
        if (held > 0)
            return false;
        arrivals++;
    }
    return arrivals >= 2;
}

/* doubling_free() it. */
static struct doubling doubling_make(const struct program *program)
{
    size_t goroutines = program->goroutines_count, waits = program->waits_count;
    struct doubling self = {.program = program,
                            .comes_by_clock = xcalloc(goroutines + 1, sizeof(bool)),
                            .is_connection = xcalloc(goroutines + 1, sizeof(bool)),
                            .brought = xcalloc(goroutines + 1, sizeof(uint32_t)),
                            .number = xcalloc(waits + 1, sizeof(uint32_t)),
                            .is_second = xcalloc(waits + 1, sizeof(bool))};
    for (size_t g = 0; g < goroutines; g++) {
        self.comes_by_clock[g] = comes_by_clock(program, g);
        self.brought[g] = PROGRAM_NONE;
    }
    for (size_t g = 0; g < goroutines; g++) {
        bool own = has_clients_of_their_own(&self, g);
        self.replying += !own;
        self.is_connection[g] = own && is_connection(&self, g);
        self.count += self.is_connection[g];
    }
    return self;
}

static void doubling_free(struct doubling *self)
{
    free(self->comes_by_clock);
    free(self->is_connection);
    free(self->brought);
    free(self->number);
    free(self->is_second);
}

size_t double_connections(const struct program *program, char *why, size_t why_size)
{
    struct doubling self = doubling_make(program);
    size_t count = self.count;
    if (count == 0)
        snprintf(why, why_size, "%s",
                 self.replying > 0
                     ? "requests come after replies, so twice as many would be twice the load"
                     : "no goroutine serves several requests that come by the clock");
    doubling_free(&self);
    return count;
}

/* Writing -------------------------------------------------------------------------------------- */

/* How many letters of a step's form are its own words: "poll at" of "poll at TIME". */
static int words_size(const char *form)
{
    int size = (int)strspn(form, "abcdefghijklmnopqrstuvwxyz ");
    while (size > 0 && form[size - 1] == ' ')
        size--;
    return size;
}

/* Calls visit() for the steps of one half of a goroutine, in order. The second half is every other
 * request of a connection, and the end. */
static void half_each(struct doubling *self, size_t g, bool second,
                      void (*visit)(struct doubling *self, const struct program_step *step,
                                    bool second, FILE *to),
                      FILE *to)
{
    const struct program_step *steps = steps_of(self->program, g);
    bool is_second = false, has_begun = false;
    for (size_t i = 0; steps[i].kind != PROGRAM_END; i++) {
        if (self->is_connection[g] && is_arrival(self, &steps[i])) {
            is_second = has_begun && !is_second;
            has_begun = true;
        }
        if (is_second == second)
            visit(self, &steps[i], second, to);
    }
}

static void wait_number(struct doubling *self, const struct program_step *step, bool second,
                        FILE *to)
{
    (void)to;
    if (step->kind != PROGRAM_WAIT)
        return;
    self->is_second[step->target] = second;
    /* [waits_count] counts */
    self->number[step->target] = ++self->number[self->program->waits_count];
}

static void step_write(struct doubling *self, const struct program_step *step, bool second,
                       FILE *to)
{
    const struct program *program = self->program;
    enum program_kind kind = (enum program_kind)step->kind;
    uint32_t target = step->target;
    (void)second;
    const char *form = program_word(kind);
    fprintf(to, "%.*s", words_size(form), form);
    switch (kind) {
    case PROGRAM_GO:
        fprintf(to, " g%" PRIu32, target);
        if (self->is_connection[target])
            fprintf(to, "\ngo g%" PRIu32 "b", target);
        break;
    case PROGRAM_WAKE:
        fprintf(to, " g%" PRIu32 "%s %" PRIu32, program->waits[target].waits,
                self->is_second[target] ? "b" : "", self->number[target]);
        break;
    case PROGRAM_WAIT:
        fprintf(to, " %s", program->reasons[step->reason]);
        break;
    case PROGRAM_LOCK:
    case PROGRAM_UNLOCK:
        fprintf(to, " %s", program->locks[target]);
        break;
    case PROGRAM_SEND:
    case PROGRAM_RECEIVE:
        fprintf(to, " %s", program->channels[target]);
        break;
    case PROGRAM_BEGIN:
        fprintf(to, " %s", program->classes[program->request_class[target]]);
        break;
    case PROGRAM_YIELD:
    case PROGRAM_DONE:
    case PROGRAM_END:
    case PROGRAM_KINDS:
        break;
    default:
        fprintf(to, " %" PRId64, step->ns);
        break;
    }
    fputc('\n', to);
}

void double_write(const struct program *program, FILE *to)
{
    struct doubling self = doubling_make(program);
    for (size_t g = 0; g < program->goroutines_count; g++)
        for (int second = 0; second <= self.is_connection[g]; second++) {
            self.number[program->waits_count] = 0;
            half_each(&self, g, second, wait_number, NULL);
        }
    fprintf(to, PROGRAM_HEAD " %d\n", PROGRAM_VERSION);
    for (size_t g = 0; g < program->goroutines_count; g++)
        for (int second = 0; second <= self.is_connection[g]; second++) {
            fprintf(to, "goroutine g%zu%s %s\n", g, second ? "b" : "", program->goroutines[g].name);
            half_each(&self, g, second, step_write, to);
            fputs("end\n", to);
        }
    doubling_free(&self);
}
