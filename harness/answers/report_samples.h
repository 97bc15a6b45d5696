/* report_samples.h - the samples of each cell in the order of the run.
 *
 * Callers: report_data.c makes and frees, report_cells.c and report_tables.c read. samples.tsv has
 * a row per sample and group; here each sample is there once.
 */
#ifndef SCHEDLAB_REPORT_SAMPLES_H
#define SCHEDLAB_REPORT_SAMPLES_H

#include "harness/answers/report_tsv.h"

#include <stddef.h>

/* Texts belong to the table. Columns that the table has not are NULL here. */
struct report_sample {
    const char *cell, *status;
    const char *distance; /* "near", "far", "mixed", "-" */
    const char *marks;    /* what disturbed it: "steal", "steal,throttle"; NULL or "-": nothing */
    double seed;          /* of its run: one that was merged has several; NAN if not known */
    double position;   /* place in the run; NAN outside sweeps. The runs of a merged one stand one
                        * after the other, by seed. */
    double throughput; /* NAN unless ok */
    double line_ns;    /* the round trip between its cores; NAN where there was no probe */
};

struct report_samples {
    struct report_sample *samples; /* by cell, then seed and position */
    size_t count;
};

/* The samples in samples.tsv, which must outlive them. */
struct report_samples report_samples_make(const struct tsv *tsv);
void report_samples_free(struct report_samples *samples);

/* The samples of one cell; *count is 0 if there are none. */
const struct report_sample *report_samples_of(const struct report_samples *samples,
                                              const char *cell, size_t *count);

#endif
