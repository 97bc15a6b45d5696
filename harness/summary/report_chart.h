/* report_chart.h - a question's small chart on the first screen: multiples with their intervals.
 *
 * Callers: report_answers.c. A chart is a table with a row for each workload, or for each variant
 * where there is one workload, and a small SVG in each row. An SVG's x is in percent of its width,
 * so that it fits a desk and a phone. The page's script moves its marks (harness/viewer/report.js).
 */
#ifndef SCHEDLAB_REPORT_CHART_H
#define SCHEDLAB_REPORT_CHART_H

#include "harness/answers/report_verdict.h"

#include <stdio.h>

struct chart {
    const struct report_group *group; /* its to_baseline are the multiples, its verdicts' too */
    const struct verdict *verdicts;   /* one per workload; NULL: values of an event */
    const char **shown;               /* verdicts_over_baseline(); NULL: values of an event */
    const char *event;                /* NULL: multiples */
    double per;                       /* counts of so many operations: 1 or a million */
    const char *about;                /* the subject of the numbers, for the caption */
    bool less_is_better;              /* right is less, so that right is better */
};

/* Writes the chart; a sentence in its place if nothing of it has a number. */
void report_chart_write(FILE *to, const struct chart *chart);

/* Writes the chart at a glance, for the folded question. It has a row with a short name for each of
 * the first twelve workloads, with each variant's mark and interval, and the line at 1. Nothing if
 * there is no number. */
void report_chart_glance_write(FILE *to, const struct chart *chart);

/* Writes the shapes of all charts, once. */
void report_chart_shapes_write(FILE *to);

/* Writes which shape is which variant's, for both charts; nothing where rows are variants. */
void report_chart_key_write(FILE *to, const struct report_group *group);

#endif
