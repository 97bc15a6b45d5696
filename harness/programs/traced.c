/* traced.c - see traced.h. */
#include "harness/programs/traced.h"

#include "harness/base/memory.h"
#include "workloads/program.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void traced_add(struct traced *self, const char *format, ...)
{
    char line[PROGRAM_WORD_MAX + 64];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (self->size + (size_t)length + 1 > self->max) {
        self->max = 2 * self->max + (size_t)length + 64;
        self->text = xrealloc(self->text, self->max);
    }
    memcpy(self->text + self->size, line, (size_t)length + 1);
    self->size += (size_t)length;
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
    size_t at = traced->size;
    traced_add(traced, "%*s\n", TRACED_FREE_LINE - 1, "");
    return at;
}

void traced_fill_line(struct traced *traced, size_t at, const char *text)
{
    memcpy(traced->text + at, text, strlen(text));
}

void traced_free(void *data)
{
    struct traced *traced = data;
    free(traced->text);
    free(traced);
}

void traced_write(const struct traced *traced, FILE *to)
{
    int64_t run_ns = 0;
    const char *end = traced->text + traced->size;
    for (const char *line = traced->text, *next; line && line < end; line = next) {
        const char *last = memchr(line, '\n', (size_t)(end - line));
        next = last + 1;
        while (last > line && last[-1] == ' ')
            last--;
        bool is_run = strncmp(line, "run ", 4) == 0;
        run_ns += is_run ? strtoll(line + 4, NULL, 10) : 0;
        if (is_run || last == line)
            continue;
        if (run_ns > 0)
            fprintf(to, "run %" PRId64 "\n", run_ns);
        run_ns = 0;
        fprintf(to, "%.*s\n", (int)(last - line), line);
    }
    if (run_ns > 0)
        fprintf(to, "run %" PRId64 "\n", run_ns);
}
