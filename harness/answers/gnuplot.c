/* gnuplot.c - see gnuplot.h. */
#include "harness/answers/gnuplot.h"

#include "harness/base/memory.h"
#include "harness/base/process.h"
#include "harness/host/data_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { ARGUMENTS_MAX = 16, PATH_SIZE = 4096 };

/* Much longer than any figure takes; a gnuplot that waits for somebody must not stop a report. */
static const double TIMEOUT_S = 120;

bool gnuplot_find(struct gnuplot *gnuplot, struct error *error)
{
    char style[PATH_SIZE];
    *gnuplot->settings = '\0';
    if (!data_find("plots/style.gp", style, sizeof style))
        return error_set(error, "no plot script %s, nor one beside the program", style);
    snprintf(gnuplot->plots, sizeof gnuplot->plots, "%.*s", (int)(strrchr(style, '/') - style),
             style);
    if (!process_find("gnuplot", gnuplot->program, sizeof gnuplot->program))
        return error_set(error, "gnuplot is missing; the Debian package gnuplot-nox has it");
    return true;
}

/* The last line that is not a mere warning says what stopped the script. */
static const char *last_complaint(char *messages)
{
    const char *last = "it said nothing";
    char *rest = messages, *line;
    while ((line = strsep(&rest, "\n")) != NULL)
        if (line[strspn(line, " \t^")] && !strstr(line, "warning:"))
            last = line;
    return last;
}

bool gnuplot_run_text(const struct gnuplot *gnuplot, const char *script,
                      const char *const *arguments, char **text, struct error *error)
{
    char path[PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s.gp", gnuplot->plots, script);
    /* -d: the settings of the user's own gnuplotrc are not the figure's. */
    const char *argv[ARGUMENTS_MAX] = {"gnuplot", "-d"};
    size_t count = 2;
    if (*gnuplot->settings) {
        argv[count++] = "-e";
        argv[count++] = gnuplot->settings;
    }
    argv[count++] = "-c";
    argv[count++] = path;
    while (*arguments && count < ARGUMENTS_MAX - 1)
        argv[count++] = *arguments++;
    struct process_result result;
    int started = process_run(gnuplot->program, argv, TIMEOUT_S, &result);
    if (started < 0)
        return error_set(error, "cannot run gnuplot: %s", strerror(-started));
    bool ok =
        result.end == PROCESS_ENDED && WIFEXITED(result.status) && WEXITSTATUS(result.status) == 0;
    if (result.end == PROCESS_TIMED_OUT)
        error_print(error, "gnuplot %s.gp: not done within %.0f s", script, TIMEOUT_S);
    else if (!ok)
        error_print(error, "gnuplot %s.gp: %s", script, last_complaint(result.messages));
    *text = ok ? xstrdup(result.output) : NULL;
    process_result_free(&result);
    return ok;
}

bool gnuplot_run(const struct gnuplot *gnuplot, const char *script, const char *const *arguments,
                 struct error *error)
{
    char *text;
    bool ok = gnuplot_run_text(gnuplot, script, arguments, &text, error);
    free(ok ? text : NULL);
    return ok;
}
