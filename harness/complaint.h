/* complaint.h - the one line that a parser of what users wrote leaves behind.
 *
 * Who calls: spec.c, machine_spec.c.
 */
#ifndef SCHEDLAB_COMPLAINT_H
#define SCHEDLAB_COMPLAINT_H

#include <stdbool.h>
#include <stddef.h>

/* Where it goes. */
struct complaint {
    char *text;
    size_t size;
};

/* Prints into it, with control characters replaced; returns false. */
bool complain(const struct complaint *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
