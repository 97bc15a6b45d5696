/* traced.c - see traced.h. */
#include "harness/programs/traced.h"

#include "harness/base/memory.h"
#include "workloads/program.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10 };

/* The chunk that has room for so many bytes more. */
static struct traced_chunk *chunk_with(struct traced *self, size_t length)
{
    struct traced_chunk *last = NULL;
    if (self->chunks_count > 0)
        last = &self->chunks[self->chunks_count - 1];
    if (!last || last->size + length > CHUNK) {
        last = &array_add(self->chunks, self->chunks_count);
        *last = (struct traced_chunk){0};
    }
    if (!last->text || last->size + length > last->room) {
        size_t room = 2 * last->room + length + 64;
        last->room = room < CHUNK ? room : CHUNK;
        last->text = xrealloc(last->text, last->room);
    }
    return last;
}

void traced_add(struct traced *self, const char *format, ...)
{
    char line[PROGRAM_WORD_MAX + 64];
    va_list args;
    va_start(args, format);
    size_t length = (size_t)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length >= sizeof line) /* a step has one word, of PROGRAM_WORD_MAX at most, and a number */
        abort();
    struct traced_chunk *chunk = chunk_with(self, length);
    memcpy(chunk->text + chunk->size, line, length);
    chunk->size += length;
}

void traced_add_time(struct traced *traced, const char *step, int64_t ns)
{
    traced_add(traced, "%s %" PRId64 "\n", step, ns);
    traced->path_ns += ns;
    traced->work_ns += strcmp(step, "run") == 0 || strcmp(step, "call cpu") == 0 ? ns : 0;
}

void traced_path_at_least(struct traced *traced, int64_t ns)
{
    if (traced->path_ns < ns)
        traced->path_ns = ns;
}

size_t traced_add_free_line(struct traced *traced)
{
    traced_add(traced, "%*s\n", TRACED_FREE_LINE - 1, "");
    size_t last = traced->chunks_count - 1;
    return last * CHUNK + traced->chunks[last].size - TRACED_FREE_LINE;
}

void traced_fill_line(struct traced *traced, size_t at, const char *text)
{
    memcpy(traced->chunks[at / CHUNK].text + at % CHUNK, text, strlen(text));
}

void traced_free(void *data)
{
    struct traced *traced = data;
    for (size_t i = 0; i < traced->chunks_count; i++)
        free(traced->chunks[i].text);
    free(traced->chunks);
    free(traced);
}

/* *run_ns: computed before this chunk, and after it. */
static void chunk_write(const struct traced_chunk *chunk, int64_t *run_ns, FILE *to)
{
    const char *end = chunk->text + chunk->size;
    for (const char *line = chunk->text, *next; line < end; line = next) {
        const char *last = memchr(line, '\n', (size_t)(end - line));
        next = last + 1;
        while (last > line && last[-1] == ' ')
            last--;
        bool is_run = strncmp(line, "run ", 4) == 0;
        *run_ns += is_run ? strtoll(line + 4, NULL, 10) : 0;
        if (is_run || last == line)
            continue;
        if (*run_ns > 0)
            fprintf(to, "run %" PRId64 "\n", *run_ns);
        *run_ns = 0;
        fprintf(to, "%.*s\n", (int)(last - line), line);
    }
}

void traced_write(const struct traced *traced, FILE *to)
{
    int64_t run_ns = 0;
    for (size_t i = 0; i < traced->chunks_count; i++)
        chunk_write(&traced->chunks[i], &run_ns, to);
    if (run_ns > 0)
        fprintf(to, "run %" PRId64 "\n", run_ns);
}
