/* progress.c - see progress.h. */
#include "harness/base/progress.h"

#include "harness/base/monotonic.h"
#include "harness/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { LINE_EVERY_S = 10, WIDTH_DEFAULT = 80, LINE_MAX_SIZE = 512 };

/* To the first column, and clear from there to the end of the line. */
static const char LINE_CLEAR[] = "\r\033[K";

void progress_begin(struct progress *progress, FILE *to, size_t total)
{
    *progress = (struct progress){
        .to = to,
        .terminal = isatty(fileno(to)),
        .last_ns = monotonic_ns(),
        .total = total,
        .noun = "sample",
    };
}

char *progress_duration(double seconds, char text[32])
{
    long whole = lround(seconds);
    if (whole < 60)
        snprintf(text, 32, "%ld s", whole);
    else if (whole < 3600)
        snprintf(text, 32, "%ld min %ld s", whole / 60, whole % 60);
    else
        snprintf(text, 32, "%ld h %ld min", whole / 3600, whole % 3600 / 60);
    return text;
}

static void line_make(const struct progress *progress, const char *cell, double seconds_left,
                      char *line, size_t size)
{
    char left[32] = "?", failed[32] = "", skipped[32] = "";
    if (isfinite(seconds_left))
        progress_duration(seconds_left, left);
    if (progress->failed > 0)
        snprintf(failed, sizeof failed, ", %zu failed", progress->failed);
    if (progress->skipped > 0)
        snprintf(skipped, sizeof skipped, ", %zu skipped", progress->skipped);
    snprintf(line, size, "%zu of %s%s%s, %s left: %s", progress->done,
             counted(progress->total, progress->noun).s, failed, skipped, left, cell);
}

static size_t terminal_width(const struct progress *progress)
{
    struct winsize window;
    if (ioctl(fileno(progress->to), TIOCGWINSZ, &window) < 0 || window.ws_col == 0)
        return WIDTH_DEFAULT;
    return window.ws_col;
}

void progress_show(struct progress *progress, const char *cell, double seconds_left)
{
    char line[LINE_MAX_SIZE];
    line_make(progress, cell, seconds_left, line, sizeof line);
    if (progress->terminal) {
        /* A line that wraps could not be cleared; the last column wraps on some terminals. */
        int width = (int)terminal_width(progress) - 1;
        fprintf(progress->to, "%s%.*s", LINE_CLEAR, width, line);
        progress->line_is_open = true;
    } else if (monotonic_ns() - progress->last_ns >= INT64_C(1000000000) * LINE_EVERY_S) {
        fprintf(progress->to, "%s\n", line);
        progress->last_ns = monotonic_ns();
    }
    fflush(progress->to);
}

void progress_message(struct progress *progress, const char *format, ...)
{
    progress_end(progress);
    va_list args;
    va_start(args, format);
    vfprintf(progress->to, format, args);
    va_end(args);
    fputc('\n', progress->to);
    fflush(progress->to);
}

void progress_end(struct progress *progress)
{
    if (progress->line_is_open)
        fputs(LINE_CLEAR, progress->to);
    progress->line_is_open = false;
    fflush(progress->to);
}
