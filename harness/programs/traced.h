/* traced.h - a goroutine of a trace while its steps are collected, and the text of these.
 *
 * Callers: import.c, which knows what the events mean. A text is lines of a program file; docs/
 * PROGRAMS.md has the steps.
 */
#ifndef SCHEDLAB_TRACED_H
#define SCHEDLAB_TRACED_H

#include "harness/programs/import_facts.h"
#include "harness/programs/stacks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TRACED_FREE_LINE = 44 }; /* bytes, the newline among them */

struct section_mark;

/* Some lines of a goroutine's steps. Steps are in many chunks, since one text that grows is there
 * twice at times. All but the last one go to the store. */
struct traced_chunk {
    char *text; /* NULL: it is in the store, at */
    size_t size, room;
    int64_t at;
};

/* A file without a name for steps of goroutines that go on, so that memory is bounded by how many
 * there are of these. Where it cannot be written steps stay in memory. */
struct traced_store {
    FILE *file; /* NULL: there is none */
    int64_t end;
    int error; /* errno, if what it had could not be read or changed; 0: none */
};

/* Without a file, the store takes nothing. */
void traced_store_open(struct traced_store *store);
void traced_store_close(struct traced_store *store);

enum wait_kind { WAIT_OTHER, WAIT_SLEEP, WAIT_READ, WAIT_ACCEPT, WAIT_NETWORK, WAIT_COLLECTOR };

/* One goroutine. */
struct traced {
    uint64_t id;
    const char *name;
    enum import_segment segment;
    bool is_cut, is_needed, has_ended; /* needed: the file names it */
    struct traced_store *store;        /* of all goroutines */
    struct traced_chunk *chunks;       /* its steps */
    size_t chunks_count;
    int64_t since_ns, run_ns; /* when its present state began; computed and not written yet */
    int64_t work_ns, path_ns; /* of what is written: computing, the longest chain of steps */
    uint32_t waits, free_lines;
    unsigned regions;
    const struct section_mark *marks; /* where its sections under locks begin and end */
    size_t marks_count, marks_done;
    const char *held; /* the lock; or NULL */
    /* its wait */
    enum wait_kind kind;
    char reason[IMPORT_REASON_SIZE];
    char function[IMPORT_FUNCTION_SIZE]; /* that waits */
    uint64_t place;
    int64_t ready_ns; /* -1: it does not wait for a processor */
    enum import_ready ready;
    /* its calls */
    enum call_kind call;
    int64_t read_ns;
    size_t read_line; /* a free line at which it read, perhaps; 0: none */
    bool was_told;    /* what it reads next is what it waited for */
    int64_t told_ns;  /* when that was written */
};

/* A line or more, which end with newlines. */
void traced_add(struct traced *self, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A step that takes that long. */
void traced_add_time(struct traced *traced, const char *step, int64_t ns);

/* Its next step begins no earlier than that on the longest chain. */
void traced_path_at_least(struct traced *traced, int64_t ns);

/* An empty line that may be filled later, with TRACED_FREE_LINE - 1 bytes at most; its place. */
size_t traced_add_free_line(struct traced *traced);
void traced_fill_line(struct traced *traced, size_t at, const char *text);

/* Writes its steps, without empty lines and with one `run` for those that only these kept apart. */
void traced_write(const struct traced *traced, FILE *to);

/* data: a struct traced, as gotrace_close() has it. */
void traced_free(void *data);

#endif
