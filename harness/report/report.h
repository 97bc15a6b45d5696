/* report.h - the last stages of a run: tables, figures, report.html.
 *
 * Callers: report and sweep, on the main thread. Reads samples.jsonl, sweep.yaml and
 * environment.json of the run's folder, writes the .tsv files, figures/ and report.html into it,
 * and can be run again at any time.
 */
#ifndef SCHEDLAB_REPORT_H
#define SCHEDLAB_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Makes everything of run_dir. 0; or 1 after one line on messages about the failure. If only the
 * figures are missing, the page is written nevertheless. */
int report_make(const char *run_dir, FILE *messages);

/* Draws the figures of run_dir for a paper, and nothing else; prints the path of each on `to`.
 * 0; or 1 after one line on messages about the failure. */
struct figures_paper;
int report_paper(const char *run_dir, const struct figures_paper *paper, FILE *to, FILE *messages);

/* The same with options. Without draw, the page keeps the figures that are there. summary, if not
 * NULL, receives the result of report_to_json(), or NULL if there is no page. */
int report_make_with(const char *run_dir, bool draw, json_t **summary, FILE *messages);

#endif
