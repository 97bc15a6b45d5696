/* stacks.h - what the stack of an event of a trace says: the goroutine's function, the place that
 * sleeps, the kind of call. Callers: learn.c, import.c. */
#ifndef SCHEDLAB_STACKS_H
#define SCHEDLAB_STACKS_H

#include "harness/gotrace/gotrace.h"

enum call_kind {
    CALL_OTHER,
    CALL_READ,    /* of a descriptor */
    CALL_WRITE,   /* likewise; a reader elsewhere may go on */
    CALL_CONNECT, /* somebody who accepts may go on */
    CALL_ACCEPT,
};

/* The kinds of the calls of this generation's stacks, found once each. All zero is ready. */
struct call_kinds {
    uint8_t *kind_of_stack; /* 1 + enum call_kind, 0: not found yet */
    size_t count;
    uint64_t generation;
};
enum call_kind stacks_call(struct call_kinds *kinds, const struct gotrace *trace, uint64_t stack);
void call_kinds_free(struct call_kinds *kinds);

/* True if a function of the innermost `most` frames has the word in its name. */
bool stacks_has(const struct gotrace *trace, uint64_t stack, size_t most, const char *word);

/* The word for a wait whose reason is Go's "sync", as the stack tells: "mutex", "rwmutex-read",
 * "rwmutex-write", "waitgroup", "cond"; NULL: it does not. */
const char *stacks_sync(const struct gotrace *trace, uint64_t stack);

/* The innermost function that is none of Go's own packages; else the innermost one. Not terminated;
 * *size is 0 if it is unknown. Valid until gotrace_close(). */
const char *stacks_own(const struct gotrace *trace, uint64_t stack, size_t *size);

/* The function that called that one, which is among the innermost. Likewise; *size is 0 if that one
 * is not there. */
const char *stacks_caller(const struct gotrace *trace, uint64_t stack, const char *function,
                          size_t *size);

/* A number for the place in the program, equal in all generations. */
uint64_t stacks_place(const struct gotrace *trace, uint64_t stack);

/* A text of a trace as a word for a program file; to be freed. NULL if it is empty. */
char *stacks_word(const char *text, size_t size);

/* The name of the function that a goroutine began with, as a word for a program file; to be freed.
 * outermost: of an event's stack; else of the stack that a goroutine is made with. NULL: unknown.
 */
char *stacks_name(const struct gotrace *trace, uint64_t stack, bool outermost);

/* True for a goroutine of Go's runtime or of its tracer. */
bool stacks_is_system(const char *name);

/* True for one of these that marks, sweeps or gives memory back. */
bool stacks_is_collector(const char *name);

#endif
