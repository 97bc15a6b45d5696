/* terminal_figure.c - see terminal_figure.h. */
#include "harness/answers/terminal_figure.h"

#include "harness/answers/gnuplot.h"
#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 100, COLUMNS_MIN = 60, COLUMNS_MAX = 160, NUMBER_SIZE = 16 };

struct extent {
    int columns;
    int lines; /* 0: any number */
};

static struct extent extent_of(FILE *to)
{
    struct extent extent = {COLUMNS_DEFAULT, 0};
    struct winsize window;
    if (!isatty(fileno(to)) || ioctl(fileno(to), TIOCGWINSZ, &window) < 0 || window.ws_col == 0)
        return extent;
    extent.columns = window.ws_col - 1; /* the last one wraps on some terminals */
    if (extent.columns < COLUMNS_MIN)
        extent.columns = COLUMNS_MIN;
    if (extent.columns > COLUMNS_MAX)
        extent.columns = COLUMNS_MAX;
    extent.lines = window.ws_row > 2 ? window.ws_row - 2 : 1; /* two for what follows */
    return extent;
}

/* One line of the figure without the spaces and page feeds that gnuplot fills it with. */
static void line_write(FILE *to, const char *line, size_t length)
{
    while (length > 0 && strchr(" \f", line[length - 1]))
        length--;
    size_t skip = strspn(line, "\f");
    if (skip < length)
        fwrite(line + skip, 1, length - skip, to);
    fputc('\n', to);
}

/* All lines; the last one is the number of workloads left out. */
static void figure_write(FILE *to, const char *figure, const char *run_dir)
{
    size_t length;
    const char *line = figure;
    for (; line[length = strcspn(line, "\n")] && line[length + 1]; line += length + 1)
        line_write(to, line, length);
    int left_out = atoi(line);
    if (left_out > 0)
        fprintf(to, "%s in %s/report.html\n", counted((uint64_t)left_out, "more workload").s,
                run_dir);
}

bool terminal_figure_write(FILE *to, const char *run_dir, const struct sweep_group *group,
                           struct error *error)
{
    struct gnuplot gnuplot;
    struct extent extent = extent_of(to);
    char columns[NUMBER_SIZE], lines[NUMBER_SIZE], *figure;
    snprintf(columns, sizeof columns, "%d", extent.columns);
    snprintf(lines, sizeof lines, "%d", extent.lines);
    const char *const arguments[] = {run_dir, group->id, columns, lines, group->baseline, NULL};
    if (!gnuplot_find(&gnuplot, error) ||
        !gnuplot_run_text(&gnuplot, "terminal", arguments, &figure, error))
        return false;
    figure_write(to, figure, run_dir);
    free(figure);
    return true;
}
