/* traced.c - see traced.h. */
#include "harness/programs/traced.h"

#include "harness/base/memory.h"
#include "harness/gotrace/gotext.h"
#include "workloads/program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 64 << 10 };

/* The store ------------------------------------------------------------------------------------ */

void traced_store_open(struct traced_store *store)
{
    *store = (struct traced_store){.file = gotext_draft()};
}

void traced_store_close(struct traced_store *store)
{
    if (store->file)
        fclose(store->file);
    store->file = NULL;
}

/* True if the chunk is in the store; its text is the caller's then. */
static bool chunk_store(struct traced_store *store, struct traced_chunk *chunk)
{
    if (!store->file)
        return false;
    ssize_t written = pwrite(fileno(store->file), chunk->text, chunk->size, store->end);
    if (written != (ssize_t)chunk->size)
        return false;
    chunk->at = store->end;
    chunk->text = NULL;
    store->end += (int64_t)chunk->size;
    return true;
}

/* done: of so many bytes. */
static void store_check(struct traced_store *store, ssize_t done, size_t size)
{
    if (done != (ssize_t)size && store->error == 0)
        store->error = done < 0 ? errno : EIO;
}

/* Steps ---------------------------------------------------------------------------------------- */

/* The chunk that has room for so many bytes more. */
static struct traced_chunk *chunk_with(struct traced *self, size_t length)
{
    struct traced_chunk *last = NULL;
    if (self->chunks_count > 0)
        last = &self->chunks[self->chunks_count - 1];
    if (!last || last->size + length > CHUNK) {
        struct traced_chunk next = {0};
        char *text = last ? last->text : NULL;
        if (last && chunk_store(self->store, last))
            next = (struct traced_chunk){.text = text, .room = last->room};
        last = &array_add(self->chunks, self->chunks_count);
        *last = next;
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
    const struct traced_chunk *chunk = &traced->chunks[at / CHUNK];
    struct traced_store *store = traced->store;
    size_t size = strlen(text), within = at % CHUNK;
    if (chunk->text)
        memcpy(chunk->text + within, text, size);
    else
        store_check(store, pwrite(fileno(store->file), text, size, chunk->at + (int64_t)within),
                    size);
}

void traced_free(void *data)
{
    struct traced *traced = data;
    for (size_t i = 0; i < traced->chunks_count; i++)
        free(traced->chunks[i].text);
    free(traced->chunks);
    free(traced);
}

/* *run_ns: computed before these lines, and after them. */
static void lines_write(const char *text, size_t size, int64_t *run_ns, FILE *to)
{
    const char *end = text + size;
    for (const char *line = text, *next; line < end; line = next) {
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

static void chunk_write(struct traced_store *store, const struct traced_chunk *chunk,
                        int64_t *run_ns, FILE *to)
{
    if (chunk->text) {
        lines_write(chunk->text, chunk->size, run_ns, to);
        return;
    }
    char *copy = xmalloc(chunk->size);
    store_check(store, pread(fileno(store->file), copy, chunk->size, chunk->at), chunk->size);
    if (store->error == 0)
        lines_write(copy, chunk->size, run_ns, to);
    free(copy);
}

void traced_write(const struct traced *traced, FILE *to)
{
    int64_t run_ns = 0;
    for (size_t i = 0; i < traced->chunks_count; i++)
        chunk_write(traced->store, &traced->chunks[i], &run_ns, to);
    if (run_ns > 0)
        fprintf(to, "run %" PRId64 "\n", run_ns);
}
