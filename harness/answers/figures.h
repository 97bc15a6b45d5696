/* figures.h - which figures a run has, and drawing them with gnuplot.
 *
 * Callers: report.c plans and draws; report_page.c, report_section.c and report_json.c show. A
 * figure is three files, RUN_DIR/figures/NAME.{svg,pdf,png}, made by one call of plots/KIND.gp,
 * which reads the run's .tsv files only. A group has the figure its sweep file asks for, first, and
 * then each other kind that has something to show.
 */
#ifndef SCHEDLAB_FIGURES_H
#define SCHEDLAB_FIGURES_H

#include "harness/answers/report_data.h"
#include "harness/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct figure {
    const struct report_group *group;
    enum sweep_figure kind;
    char name[2 * SWEEP_NAME_MAX]; /* GROUP-KIND */
    char *svg;                     /* path */
    char *events;                  /* for the events: which, separated by spaces */
    char *knob_default;            /* for a knob curve; "" if no cell has the default */
    char *knob_values;             /* separated by spaces; for a heat map the default comes first */
    char *knob2_values;            /* for a heat map, likewise */
    char *parameter_values;        /* for a surface: of each workload, separated by spaces */
    char *caption;                 /* machine and run */
    bool drawn;                    /* its SVG is there and whole */
};

struct figures {
    struct figure *figures;
    size_t count;
};

struct figures figures_plan(const struct report *report);
void figures_free(struct figures *figures);

/* How figures are drawn for a paper, without title, prose and caption. */
struct figures_paper {
    double column_mm;
    const char *font; /* NULL: sans-serif */
    bool grey, latex; /* latex: NAME-latex.tex and NAME-latex.pdf too */
};

/* Draws all figures, and marks those that are there. 0, or -1 and one line in error: why the first
 * figure that failed could not be drawn. The others are drawn nevertheless, unless gnuplot or the
 * scripts are missing. Beside them it writes draw.sh, the commands that draw them. paper: NULL, or
 * they go to RUN_DIR/paper in place of RUN_DIR/figures, drawn like that. */
int figures_draw(struct figures *figures, const struct report *report,
                 const struct figures_paper *paper, struct error *error);

/* figures_paper.c ------------------------------------------------------------------------------ */

/* The settings of gnuplot; returns text. */
char *figures_paper_settings(const struct figures_paper *paper, char *text, size_t size);

/* A figure that is higher than a page of a paper allows goes on in NAME-2, NAME-3 and so on. Writes
 * the name of a page, from 1; returns text. */
char *figures_page_name(const char *name, unsigned page, char *text, size_t size);

/* How many pages of the figure are in the folder, from their SVGs. */
unsigned figures_pages(const char *folder, const char *name);

/* Removes the pages but the first, which an earlier drawing has left. */
void figures_pages_remove(const char *folder, const char *name);

/* Makes NAME-latex.tex of each page in the folder one that LaTeX takes: names with underscores,
 * text of 7 pt, and a path of its picture that needs no folder. False and one line in error if it
 * cannot. */
bool figures_latex_mend(const char *folder, const char *name, struct error *error);

/* Marks those that an earlier report drew. */
void figures_find(struct figures *figures);

/* Another group that is about events and shows those of all this group's cells; NULL if there is
 * none. Then the events of this one need not be shown again. */
const struct report_group *figures_events_group(const struct report *report,
                                                const struct report_group *group);

/* "CPU, kernel, machine. Run NAME, 6 to 7 samples a cell.": the line under each figure of the
 * group, or of the whole report if that is NULL. free() it. */
char *figures_caption(const struct report *report, const struct report_group *group);

#endif
