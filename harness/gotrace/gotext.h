/* gotext.h - the text that `go tool trace -d=parsed` prints of a trace, as events of the trace.
 *
 * Source: Go 1.26 internal/trace event.go Event.String, which prints as it did in Go 1.22.
 *
 * Callers: gotrace.c. A text is read once, as it comes, and its events go to a file without a name,
 * some ten bytes each, where they can be read twice. In memory there are the names of functions and
 * the stacks, each once.
 */
#ifndef SCHEDLAB_GOTEXT_H
#define SCHEDLAB_GOTEXT_H

#include "harness/gotrace/gotrace_kinds.h"
#include "harness/gotrace/gotrace_tables.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define GOTEXT_NONE UINT64_MAX /* no goroutine */

struct gotext;

struct gotext_event {
    unsigned kind;               /* enum gotrace_kind; 0: it changes no goroutine */
    int64_t ns;                  /* since the trace began */
    uint64_t on;                 /* the goroutine that the thread ran before it, or GOTEXT_NONE */
    uint64_t args[GOTRACE_ARGS]; /* as in the wire format, without sequence numbers and threads */
};

/* A file that is gone when it is closed, in $TMPDIR or /var/tmp; NULL, and errno. */
FILE *gotext_draft(void);

/* Reads a text to its end. Strings and stacks go into tables, whose strings it owns. NULL, and
 * errno; 0 if the first line is none of such a text. */
struct gotext *gotext_read(FILE *from, struct gotrace_tables *tables);

/* The next event; false behind the last. */
bool gotext_next(struct gotext *text, struct gotext_event *event);
void gotext_rewind(struct gotext *text);

/* NULL, or where the text is torn and why: "line 123: the text ends within a stack". */
const char *gotext_torn(const struct gotext *text);

void gotext_close(struct gotext *text);

#endif
