/* run_table.h - what `schedlab run` shows people: tables of throughputs, of latencies where the
 * workload has them, and of events; notes.
 *
 * Callers: cmd_run.c, after all repetitions and run_table_sort(). Tables go to `to`, remarks on the
 * repetitions to `messages`, one line each.
 */
#ifndef SCHEDLAB_RUN_TABLE_H
#define SCHEDLAB_RUN_TABLE_H

#include "harness/run/run_answer.h"

#include <stdio.h>

/* answer: the first of run_answers_make(). */
void run_table_print(const struct run_table *table, const struct run_answer *answer, FILE *to,
                     FILE *messages);

#endif
