/* catalogue.h - the experiments as pages for readers: docs/EXPERIMENTS.md and docs/experiments/.
 *
 * Callers: cmd_repro.c, and repro_explain.c for a page on a terminal. Everything comes from the
 * experiments' files and claims.yaml and, where there is one, from a reference reproduction; the
 * same files give the same pages to the last byte, on any machine. catalogue.c writes the files and
 * the index, catalogue_page.c an experiment's page, catalogue_table.c tables of exact values in it,
 * catalogue_figure.c the figures, disputes.c the page of disputes.
 */
#ifndef SCHEDLAB_CATALOGUE_H
#define SCHEDLAB_CATALOGUE_H

#include "harness/base/error.h"
#include "harness/doc/doc.h"
#include "harness/repro/experiment.h"
#include "harness/repro/popular_claims.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct catalogue_pages {
    struct experiment *const *experiments; /* in the order of the index */
    size_t count;
    const struct claims *claims;  /* NULL: there are none */
    const char *folder;           /* receives EXPERIMENTS.md and experiments/ID.md */
    const char *reference_folder; /* of a reproduction; may hold no runs */
    const json_t *reference;      /* its repro.json (repro_file.h); NULL: there is none */
};

/* Writes all pages, and the figures of those runs of the reference that are there. Older figures of
 * other runs stay. False and one line in error. */
bool catalogue_write(const struct catalogue_pages *pages, struct error *error);

/* Writes folder/DISPUTES.md of experiments that are disputes; nothing else in the folder changes.
 * False and one line in error. disputes.c */
bool disputes_write(const struct catalogue_pages *pages, struct error *error);

/* Parts ---------------------------------------------------------------------------------------- */

/* Writes the page of an experiment. pages: NULL leaves out what records found, links, commands of
 * single parts, and questions for a course. */
void catalogue_page_write(struct doc *to, const struct catalogue_pages *pages,
                          const struct experiment *experiment);

/* Writes items of a list: the thread, the number that it claims, and our prediction. disputes.c */
void catalogue_dispute_write(struct doc *to, const struct experiment_dispute *dispute);

/* Writes the table that begins with the part's i-th expectation (expect_table.h) as one row of
 * expectations. Returns how many it stands for; 0, and nothing written, if no table begins there.
 * Parts are as in repro.json. */
size_t catalogue_table_row(struct doc *to, const json_t *part, size_t i);

/* Writes all tables of the part, cell by cell, with the values that the reference measured
 * differently. reference: its entry of the experiment, or NULL. */
void catalogue_tables_write(struct doc *to, const json_t *reference, const json_t *part);

/* Writes the measured values likewise; place has the part. */
size_t catalogue_table_measured(struct doc *to, const json_t *place, const json_t *part, size_t i);

/* "E3-hog-native.svg": a figure's file beside the pages. free() it. */
char *catalogue_figure_name(const char *experiment, const char *group, const json_t *place);

/* Makes the figures' files from those of the reference's runs that are there. False and one line in
 * error if one cannot be written. */
bool catalogue_figures_make(const struct catalogue_pages *pages, struct error *error);

#endif
