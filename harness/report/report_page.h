/* report_page.h - report.html: one page with everything in it.
 *
 * Callers: report.c. The page is HTML 5 with its style and its figures inside, fetches nothing and
 * needs no script to be read (one line of script unfolds parts for printing, or the target of a
 * link). report_page.c writes the parts that a run has once, report_section.c those of each group,
 * report_cells.c those of each cell, report_style.c the style. The first screen is a room of its
 * own: report_answers.h.
 */
#ifndef SCHEDLAB_REPORT_PAGE_H
#define SCHEDLAB_REPORT_PAGE_H

#include "harness/answers/figures.h"
#include "harness/answers/report_data.h"

#include <stdio.h>

/* Errors show in ferror(to). */
void report_page_write(FILE *to, const struct report *report, const struct figures *figures);

/* Parts ---------------------------------------------------------------------------------------- */

extern const char report_style[];

/* Writes the program and the machine of the run, from environment.json; and any JSON object as a
 * table of two columns. */
void report_environment_write(FILE *to, const struct report *report);
void report_facts_write(FILE *to, const char *label, const json_t *facts);

/* Writes the findings of doctor on the machine before the run. */
void report_doctor_write(FILE *to, const struct report *report);

/* Writes question, figures and tables of one group. */
void report_section_write(FILE *to, const struct report *report, const struct report_group *group,
                          const struct figures *figures);

/* Writes where the misses of a group's cells were (report_misses.c); nothing if no machine tells
 * misses. */
void report_misses_write(FILE *to, const struct report *report, const struct report_group *group);

/* Writes the misses of each level of cache of a simulated group, those that this machine counted
 * for the same work, and how far both agree (report_levels.c). */
void report_levels_write(FILE *to, const struct report *report, const struct report_group *group);

/* Writes the gain that another machine would bring (report_what_if.c); nothing without what_if. */
void report_what_if_write(FILE *to, const struct report *report, const struct report_group *group);

/* Each group's multiples with each of its variants as the baseline, of the same workers or of one
 * count of them: {"run", "groups": {group: {"cells", "pins": {variant: {workers: entries}}}}}
 * (report_pins.c). The caller's. */
json_t *report_pins_to_json(const struct report *report);

/* Draws numbers that have no place in the run as the strip of a cell: dots in their order, about
 * their median. what: "Samples" or the like, for those who cannot see it. */
void report_strip_write(FILE *to, const char *what, const double *values, size_t count);

/* Writes each cell by itself, folded by workload. Has the ids "cell-ID". */
void report_cells_write(FILE *to, const struct report *report);

/* Writes the commands of a cell, and where its counters are (report_commands.c). */
void report_commands_write(FILE *to, const struct report *report, const struct report_cell *cell);

/* Writes the audit of the pipeline, or how to have one. */
void report_audit_write(FILE *to, const struct report *report);

/* Each writes nothing if the run has none of it: comparisons with other runs (report_compare.c);
 * core distances, times from outside, the smallest efficient tasks (report_tables.c). */
void report_comparisons_write(FILE *to, const struct report *report);
void report_distances_write(FILE *to, const struct report *report);
void report_outside_write(FILE *to, const struct report *report);
void report_metg_write(FILE *to, const struct report *report);

/* True if any sample's core distance is known. */
bool report_has_distances(const struct report *report);

#endif
