/* error.h - one line about what went wrong, or a line for each mistake of a file.
 *
 * A function that may fail takes a struct error as its last parameter; its caller has room for the
 * text on its stack and decides where it is printed. It holds twenty mistakes of a YAML file,
 * unless they quote long texts; a line that has no room is left out whole. No goroutine's stack
 * holds one.
 *
 * Callers: nearly all rooms.
 */
#ifndef SCHEDLAB_ERROR_H
#define SCHEDLAB_ERROR_H

#include <stdbool.h>
#include <stddef.h>

struct error {
    char text[16384];
};

/* Prints into it as printf() does, as far as there is room. */
void error_print(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Say why a function failed; are false or NULL. Macros, so that a compiler sees that: results are
 * not set then. reason_set() is true, and says why something is so. */
#define error_set(error, ...) (error_print(error, __VA_ARGS__), false)
#define error_null(error, ...) (error_print(error, __VA_ARGS__), NULL)
#define reason_set(error, ...) (error_print(error, __VA_ARGS__), true)

/* error_set() for a line that quotes a user's words: control characters become "?". */
bool error_quote(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
