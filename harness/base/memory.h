/* memory.h - memory for the harness, or the end of the program.
 *
 * Callers: every room, never from a G. The result is the caller's, to be freed with free(). No
 * function returns NULL: without memory the program writes one line and ends (machine/no_memory.h).
 */
#ifndef SCHEDLAB_MEMORY_H
#define SCHEDLAB_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

_Noreturn void memory_die(void);

/* Zeroed; an array of no elements is a pointer like others. */
void *xcalloc(size_t count, size_t size);

void *xmalloc(size_t size);
void *xrealloc(void *memory, size_t size);

/* The new last element, to be set, of an array that is malloc()'s and holds so many:
 * array_add(list->name, list->count) = name. */
#define array_add(array, count)                                                                    \
    (*((array) = xrealloc((array), ((size_t)(count) + 1) * sizeof *(array)), &(array)[(count)++]))

/* The same of an array that may get long, and has room for so many. */
#define array_push(array, count, room)                                                             \
    (*((array) = array_room((array), &(room), (count), sizeof *(array)), &(array)[(count)++]))

/* Room for one more element behind so many: the array, or a larger one of twice as many; of 64 if
 * there is none yet. */
void *array_room(void *array, size_t *room, size_t count, size_t size);

char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t most);

/* The text that printf() would print. */
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *text_format_list(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* A stream into memory, as open_memstream() has it: *text and *size, which may be NULL, hold from
 * fclose() on. memory_stream_close() does that, and dies if there was no memory for a long text. */
FILE *memory_stream(char **text, size_t *size);
void memory_stream_close(FILE *to);

#endif
