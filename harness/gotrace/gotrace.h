/* gotrace.h - execution traces of Go 1.22 and later, or the text of one: their events in order,
 * with the goroutine that each thread ran.
 *
 * Source: Go 1.26 internal/trace/tracev2 events.go (the events and their arguments), internal/trace
 *         order.go (which event of another thread has to come first).
 * Differs: events of threads are merged by time, and sequence numbers of goroutines decide only
 *          which one has to wait; processors are not followed.
 * Why: an importer asks what goroutines did, and a trace that is not quite in order still has that.
 *
 * The file is mapped. Beside it a reader needs memory for the threads, the live goroutines and one
 * generation's table of stacks, which Go writes about once a second. Strings of a generation lie at
 * its end, so a torn one may be without names. gotext.h has it for a text.
 */
#ifndef SCHEDLAB_GOTRACE_H
#define SCHEDLAB_GOTRACE_H

#include "harness/base/error.h"
#include "harness/gotrace/gotrace_kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gotrace_g {
    uint64_t id;
    enum gotrace_status status; /* after the event */
    uint64_t generation, sequence;
    void *data; /* the caller's, NULL at first */
    struct gotrace_g *next;
};

struct gotrace_event {
    enum gotrace_kind kind;      /* or another number, of an event that changes no goroutine */
    int64_t ns;                  /* since the first batch of the trace */
    uint64_t args[GOTRACE_ARGS]; /* in the order of the wire format, without the time */
    struct gotrace_g *on;        /* that the event's thread ran before it; NULL: none */
    struct gotrace_g *of;        /* that it names; NULL: none */
};

struct gotrace;

/* "-" is standard input. NULL, and one line in error that says what the file is instead. */
struct gotrace *gotrace_open(const char *path, struct error *error);

/* The next event; false at the end, or where the trace is torn. Goroutines of an event that ends
 * them are valid until the next call. */
bool gotrace_next(struct gotrace *trace, struct gotrace_event *event);

/* From the beginning again, without goroutines. free_data is called with each data that is not
 * NULL; so it is by gotrace_close(). */
void gotrace_rewind(struct gotrace *trace, void (*free_data)(void *data));
void gotrace_close(struct gotrace *trace, void (*free_data)(void *data));

/* Calls visit() for each live goroutine. */
void gotrace_each(struct gotrace *trace, void (*visit)(struct gotrace_g *g, void *arg), void *arg);

/* NULL, or where the trace is torn and why: "byte 123: a batch of 65000 bytes ends early". A text
 * has lines. */
const char *gotrace_torn(const struct gotrace *trace);

/* The last event of a goroutine before the tear. */
struct gotrace_mark {
    const char *what; /* "GoBlock", as Go's sources have it; NULL: there was none */
    uint64_t g;
    int64_t ns;
};
struct gotrace_mark gotrace_before_tear(const struct gotrace *trace);

/* "1.26", of Go; "1.22 or later" of a text. */
const char *gotrace_version(const struct gotrace *trace);

/* The string of that number in the event's generation, not terminated; *size is 0 if it is not
 * known. Valid until gotrace_close(). */
const char *gotrace_string(const struct gotrace *trace, uint64_t id, size_t *size);

/* How many frames the stack has, and the function of one, innermost first, as gotrace_string(). */
size_t gotrace_frames(const struct gotrace *trace, uint64_t stack);
const char *gotrace_function(const struct gotrace *trace, uint64_t stack, size_t frame,
                             size_t *size);

/* The part of the trace whose strings and stacks are known now. */
uint64_t gotrace_generation(const struct gotrace *trace);

/* How many events had to be taken before others that should come first. */
uint64_t gotrace_disorder(const struct gotrace *trace);

#endif
