/* report_extra.h - files of other commands in a run's folder, which the report shows if they are
 * there.
 *
 * Callers: report_data.c loads and frees; report_compare.c, report_audit.c and report_tables.c
 * show.
 *
 *   comparisons/NAME.json  what `schedlab compare --format json` printed
 *   audit.json             what `schedlab audit` found; that of the folder around the run also
 *                          serves, if it was made on the same machine
 *   outside.tsv            medians from inside and from outside the process beside each other
 *   metg.tsv               the smallest task at which a variant is still efficient
 *   scale.tsv              time and memory of a goroutine over their number
 *   structures.tsv         on which structures simulated cores stalled
 *
 * A file that is not there is no problem; one that cannot be understood is one line in the report's
 * problems, and is then treated as not there.
 */
#ifndef SCHEDLAB_REPORT_EXTRA_H
#define SCHEDLAB_REPORT_EXTRA_H

#include "harness/answers/report_tsv.h"

#include <jansson.h>
#include <stddef.h>

struct report_comparison {
    char *name;   /* of the file, without .json */
    json_t *json; /* has a list "pairs" of objects that name workload, workers, variants, verdict */
};

struct report_extra {
    struct report_comparison *comparisons; /* by name */
    size_t comparisons_count;
    json_t *audit; /* has "false_positives" with its counts; NULL if there is none */
    struct tsv outside, metg, scale, structures; /* no rows if there is none */
};

/* Adds to problems, an array of strings, one for each file that is not understood. */
void report_extra_load(struct report_extra *extra, const char *run_dir, const json_t *environment,
                       json_t *problems);
void report_extra_free(struct report_extra *extra);

#endif
