/* report_answers.h - the first screen of a page: each question with its answer in a sentence, how
 * sure it is, and a chart.
 *
 * Callers: report_page.c. report_lesson.h has the sentence, report_chart.h the chart.
 */
#ifndef SCHEDLAB_REPORT_ANSWERS_H
#define SCHEDLAB_REPORT_ANSWERS_H

#include "harness/answers/report_data.h"

#include <stdio.h>

/* Writes the first screen, and folded all comparisons. */
void report_answers_write(FILE *to, const struct report *report);

/* Writes a line on each variant and workload of the run (report_words.c). */
void report_words_write(FILE *to, const struct report *report);

#endif
