/* gnuplot.h - finds gnuplot and the plot scripts, and runs one of them.
 *
 * Callers: figures.c, terminal_figure.c.
 */
#ifndef SCHEDLAB_GNUPLOT_H
#define SCHEDLAB_GNUPLOT_H

#include "harness/base/error.h"

#include <stdbool.h>

struct gnuplot {
    char program[4096];
    char plots[4096];   /* the folder of the scripts */
    char settings[512]; /* commands of gnuplot before a script, "" for none */
};

/* False and one line in error, which names the Debian package, if there is no gnuplot in PATH or
 * there are no scripts beside the sources or the program. */
bool gnuplot_find(struct gnuplot *gnuplot, struct error *error);

/* Runs plots/SCRIPT.gp with these arguments, NULL-terminated. False and one line in error if it
 * fails. */
bool gnuplot_run(const struct gnuplot *gnuplot, const char *script, const char *const *arguments,
                 struct error *error);

/* The same for a script that writes text to standard output; *text is to be freed. */
bool gnuplot_run_text(const struct gnuplot *gnuplot, const char *script,
                      const char *const *arguments, char **text, struct error *error);

#endif
