/* gotrace_tables.h - the strings and stacks of one generation of a trace of Go, or of a text.
 * Callers: gotrace.c, gotext.c. */
#ifndef SCHEDLAB_GOTRACE_TABLES_H
#define SCHEDLAB_GOTRACE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gotrace_text {
    const char *start; /* in the trace; NULL: there is none of that number */
    size_t size;
};

struct gotrace_stack {
    size_t first, count; /* frames */
};

/* All zero is empty. Numbers of strings and stacks begin at 1, and Go leaves hardly any out. */
struct gotrace_tables {
    struct gotrace_text *strings;
    struct gotrace_stack *stacks;
    uint32_t *frames; /* strings: the names of functions */
    size_t strings_count, strings_max, stacks_count, stacks_max, frames_count, frames_max;
};

/* A batch of strings, or of stacks; false if it is not whole. */
bool gotrace_tables_strings(struct gotrace_tables *tables, const uint8_t *at, const uint8_t *end);
bool gotrace_tables_stacks(struct gotrace_tables *tables, const uint8_t *at, const uint8_t *end);

/* One more string, whose bytes stay the caller's, or stack, of the names of its functions. They
 * return its number. */
uint64_t gotrace_tables_add(struct gotrace_tables *tables, const char *start, size_t size);
uint64_t gotrace_tables_add_stack(struct gotrace_tables *tables, const uint32_t *functions,
                                  size_t count);

/* *size is 0 if there is no such string. */
const char *gotrace_tables_string(const struct gotrace_tables *tables, uint64_t id, size_t *size);

size_t gotrace_tables_frames(const struct gotrace_tables *tables, uint64_t stack);
uint64_t gotrace_tables_frame(const struct gotrace_tables *tables, uint64_t stack, size_t frame);

void gotrace_tables_clear(struct gotrace_tables *tables);
void gotrace_tables_free(struct gotrace_tables *tables);

/* A number of seven bits a byte, least first. False if the bytes end before it does. */
bool gotrace_varint(const uint8_t **at, const uint8_t *end, uint64_t *value);

#endif
