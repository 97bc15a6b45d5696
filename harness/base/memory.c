/* memory.c - see memory.h. */
#include "harness/base/memory.h"

#include "machine/no_memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void memory_die(void)
{
    ssize_t written = write(STDERR_FILENO, NO_MEMORY_TEXT, sizeof NO_MEMORY_TEXT - 1);
    (void)written;
    _exit(EXIT_ENVIRONMENT);
}

static void *have(void *memory)
{
    if (!memory)
        memory_die();
    return memory;
}

void *xcalloc(size_t count, size_t size)
{
    return have(calloc(count ? count : 1, size ? size : 1));
}

void *xmalloc(size_t size)
{
    return have(malloc(size ? size : 1));
}

void *xrealloc(void *memory, size_t size)
{
    return have(realloc(memory, size ? size : 1));
}

void *array_room(void *array, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return array;
    *room = *room ? 2 * *room : 64;
    return xrealloc(array, *room * size);
}

char *xstrdup(const char *text)
{
    return have(strdup(text));
}

char *xstrndup(const char *text, size_t most)
{
    return have(strndup(text, most));
}

char *text_format_list(const char *format, va_list arguments)
{
    char *text = NULL;
    return vasprintf(&text, format, arguments) < 0 ? have(NULL) : text;
}

char *text_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_format_list(format, arguments);
    va_end(arguments);
    return text;
}

FILE *memory_stream(char **text, size_t *size)
{
    static size_t nobodys;
    return have(open_memstream(text, size ? size : &nobodys));
}

void memory_stream_close(FILE *to)
{
    if (fclose(to) != 0)
        memory_die();
}
