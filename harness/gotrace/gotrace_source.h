/* gotrace_source.h - where a trace of Go comes from: a file, standard input or a pipe; the wire
 * format or the text of it. Callers: gotrace.c. */
#ifndef SCHEDLAB_GOTRACE_SOURCE_H
#define SCHEDLAB_GOTRACE_SOURCE_H

#include "harness/base/error.h"
#include "harness/gotrace/gotext.h"

#include <stddef.h>
#include <stdint.h>

enum { GOTRACE_HEAD_SIZE = 16 };

/* Mapped bytes that begin with a head of a trace, or a text. */
struct gotrace_source {
    const uint8_t *bytes;
    size_t size;
    struct gotext *text;
    char version[16]; /* of Go */
};

/* "-" is standard input. A text fills tables. False, and one line that says what the file is. */
bool gotrace_source_open(const char *path, struct gotrace_source *source,
                         struct gotrace_tables *tables, struct error *to);

void gotrace_source_close(struct gotrace_source *source);

#endif
