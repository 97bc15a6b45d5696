/* repro_page.h - repro.html: one page with all of a reproduction in it.
 *
 * Callers: repro_report.c. Like report.html (report_page.h) the page is HTML 5 with its style and
 * its figures inside, fetches nothing and needs no script to be read. repro_page.c writes the frame
 * and the table on top, repro_page_experiment.c what each experiment has, repro_page_table.c
 * tables of exact values, repro_page_claims.c what popular accounts say, repro_mark.c what was
 * measured, repro_style.c what of the style report_style.c does not have.
 */
#ifndef SCHEDLAB_REPRO_PAGE_H
#define SCHEDLAB_REPRO_PAGE_H

#include "harness/catalogue/blocks.h"
#include "harness/repro/verdict.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* All that the page is made of. */
struct repro_page {
    const char *folder;        /* of the reproduction: figures are read below it */
    const json_t *repro;       /* repro_file.h */
    const json_t *environment; /* an object; empty if there is no such file or a broken one */
    const json_t *problems;    /* texts: what leaves the page poorer than it could be */
    const json_t *catalogue;   /* an object with the ids of the experiments that come with the
                                  program */
};

/* Errors show in ferror(to). */
void repro_page_write(FILE *to, const struct repro_page *page);

/* Parts ---------------------------------------------------------------------------------------- */

extern const char repro_style[];

/* An experiment with its parts, expectations and figures: the section with its id. */
void repro_page_experiment_write(struct doc *to, const struct repro_page *page,
                                 const json_t *experiment);

/* The table of exact values that the part's i-th expectation begins, in place of its cells one by
 * one: what it says, over a grid per machine. How many of the part's expectations are in it; 0, and
 * nothing written, if it begins none. */
size_t repro_page_table_write(struct doc *to, const json_t *experiment, const json_t *part,
                              size_t i);

/* What popular accounts say, with verdicts; nothing if there is nothing of it. */
void repro_page_claims_write(struct doc *to, const struct repro_page *page);

/* The command that repeats the experiment. */
void repro_page_command_write(struct doc *to, const struct repro_page *page,
                              const json_t *experiment);

/* What was measured, in words: the number, and its interval on a line of its own if need be. */
void repro_effect_write(struct doc *to, const json_t *column);

/* What was measured, as a line with a dot, against what was expected, as a band; nothing where one
 * of both is no number. On a scale of its own, logarithmic where the numbers are far apart. */
void repro_strip_write(struct doc *to, const json_t *expectation, const json_t *column);

#endif
