/* progress.h - tells a person how far a sweep is: one line that changes on a terminal, a line every
 * ten seconds elsewhere.
 *
 * Callers: sweep. Writes between samples only: a clock of its own would take time from the cores
 * that are being measured.
 */
#ifndef SCHEDLAB_PROGRESS_H
#define SCHEDLAB_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    FILE *to;
    bool terminal;
    bool line_is_open; /* the cursor is behind a line that changes */
    int64_t last_ns;   /* when a line was last written, not on a terminal */
    size_t done, total, failed, skipped;
    const char *noun; /* of what is counted; at first "sample" */
};

/* total samples are to come; the caller keeps done, total, failed and skipped up to date. */
void progress_begin(struct progress *progress, FILE *to, size_t total);

/* Shows the state and the cell that is next; seconds_left may be NAN. */
void progress_show(struct progress *progress, const char *cell, double seconds_left);

/* A message that stays, as printf, without the newline. */
void progress_message(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Leaves the cursor at the beginning of a line. */
void progress_end(struct progress *progress);

/* "48 s", "3 min 12 s", "1 h 4 min"; returns text. */
char *progress_duration(double seconds, char text[32]);

#endif
