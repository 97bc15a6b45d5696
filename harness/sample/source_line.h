/* source_line.h - which line of the source an instruction of this program comes from.
 *
 * Callers: why.c, in the program that runs simulated machines, which lies at fixed addresses and
 * is built with libdw (elfutils).
 */
#ifndef SCHEDLAB_SOURCE_LINE_H
#define SCHEDLAB_SOURCE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOURCE_TEXT = 128, SOURCE_INLINED_MAX = 16 };

struct source_line {
    char function[SOURCE_TEXT]; /* of the source, not the one it was inlined into, */
    char inside[SOURCE_TEXT];   /* which is this one; "" if it was inlined nowhere */
    char file[SOURCE_TEXT];     /* seen from the folder of the sources */
    int line;
    int first; /* of the function in that file; only of source_line_outside() */
};

/* Opens this program's debug information. NULL: it cannot be read. */
struct source_lines;
struct source_lines *source_lines_open(void);
void source_lines_close(struct source_lines *lines); /* NULL is fine */

/* Reads all debug information about simulated code, so that copies of this process need not. NULL
 * is fine. */
void source_lines_read(struct source_lines *lines);

/* The code that was compiled from files of that folder, in order of addresses; returns how many
 * ranges. *ranges is the caller's. */
struct source_range {
    uintptr_t begin, end;
};
size_t source_ranges(struct source_lines *lines, const char *folder, struct source_range **ranges);

/* Finds the line of the instruction that holds the byte at pc. False, and both texts "(unknown)",
 * if it is unknown. */
bool source_line_find(struct source_lines *lines, uintptr_t pc, struct source_line *found);

/* The innermost place of the instruction that is not in a file of that folder: functions from there
 * may have been inlined into it. `function` is the one that has the line. False as above. */
bool source_line_outside(struct source_lines *lines, uintptr_t pc, const char *folder,
                         struct source_line *found);

/* The functions that the instruction is in: the innermost inlined one first, the one that was
 * compiled last. Returns how many, at most SOURCE_INLINED_MAX; 0: they are unknown. */
size_t source_functions(struct source_lines *lines, uintptr_t pc,
                        char functions[SOURCE_INLINED_MAX][SOURCE_TEXT]);

#endif
