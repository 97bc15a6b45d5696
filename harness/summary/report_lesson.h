/* report_lesson.h - the answer to one question in a sentence, and how sure it is.
 *
 * Callers: report_answers.c. Both are counted from the verdicts of the group, and test nothing.
 */
#ifndef SCHEDLAB_REPORT_LESSON_H
#define SCHEDLAB_REPORT_LESSON_H

#include "harness/answers/report_verdict.h"

#include <stdio.h>

/* Writes which design wins, on how many workloads and by how much, and which is most often behind.
 * best: the word for a winner, as in "the fastest". baseline: named first among equals. */
void report_lesson_write(FILE *to, const struct verdict *verdicts, size_t count, const char *best,
                         const char *baseline);

/* The same in one short sentence, for the folded question: who wins on how many workloads. */
void report_lesson_line_write(FILE *to, const struct verdict *verdicts, size_t count,
                              const char *best, const char *baseline);

/* Writes each variant's multiples of the baseline over the workloads, at the largest number of
 * workers: for a baseline that does not compete, as plain C. */
void report_lesson_multiples_write(FILE *to, const struct report_group *group);

/* Writes a square for each workload by what is shown there, and what stands behind it: the largest
 * p of a winner, samples and workers. */
void report_sureness_write(FILE *to, const struct report_group *group,
                           const struct verdict *verdicts, size_t count);

#endif
