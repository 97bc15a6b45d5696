/* repro_page.h - repro.html: one page with all of a reproduction in it.
 *
 * Callers: repro_report.c. Like report.html (report_page.h) the page is HTML 5 with its style and
 * its figures inside, fetches nothing and needs no script to be read. repro_page.c writes the frame
 * and the table on top. The other parts are in repro_page_experiment.c (each experiment),
 * repro_page_table.c (tables of exact values) and repro_page_claims.c (popular accounts).
 * repro_mark.h has measured values; repro_style.c has the style that report_style.c lacks.
 */
#ifndef SCHEDLAB_REPRO_PAGE_H
#define SCHEDLAB_REPRO_PAGE_H

#include "harness/catalogue/blocks.h"
#include "harness/repro/verdict.h"

#include <jansson.h>
#include <stdio.h>

/* All that the page is made of. */
struct repro_page {
    const char *folder;        /* of the reproduction: figures are read below it */
    const json_t *repro;       /* repro_file.h */
    const json_t *environment; /* an object; empty if there is no such file or a broken one */
    const json_t *problems;    /* texts: causes of missing parts of the page */
    const json_t *catalogue;   /* an object with the ids of the experiments that come with the
                                  program */
};

/* Errors show in ferror(to). */
void repro_page_write(FILE *to, const struct repro_page *page);

/* Parts ---------------------------------------------------------------------------------------- */

extern const char repro_style[];

/* Writes the section of an experiment, with its id, parts, expectations and figures. */
void repro_page_experiment_write(struct doc *to, const struct repro_page *page,
                                 const json_t *experiment);

/* Writes the table of exact values that begins with the part's i-th expectation, in place of its
 * single cells: its claim, and a grid per machine. Returns how many of the part's expectations are
 * in it; 0, and nothing written, if no table begins there. */
size_t repro_page_table_write(struct doc *to, const json_t *experiment, const json_t *part,
                              size_t i);

/* Writes the claims of popular accounts, with their degrees and what was measured; nothing if there
 * are none. */
void repro_page_claims_write(struct doc *to, const struct repro_page *page);

/* Writes the command that repeats the experiment. */
void repro_page_command_write(struct doc *to, const struct repro_page *page,
                              const json_t *experiment);

/* Writes how many samples of the whole, or of an experiment, were disturbed; nothing if none could
 * be. */
void repro_page_disturbed_write(struct doc *to, const json_t *object);

#endif
