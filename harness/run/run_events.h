/* run_events.h - the events that `schedlab run` counted, a row each and a column per variant.
 *
 * Callers: run_table.c. Which events have a row, table->events says:
 *
 *   RUN_EVENTS_TELLING  the three that differ most between the variants, by the ratio of the
 *                       largest median to the smallest. Less than 0.001 an operation counts as
 *                       0.001. One variant has CPU time (simulated: cycles), parks and steals.
 *   RUN_EVENTS_NAMED    all that were counted
 *   RUN_EVENTS_ALL      all that are not zero in each variant
 *
 * Events that were not counted are told with their reasons only if events were asked for.
 */
#ifndef SCHEDLAB_RUN_EVENTS_H
#define SCHEDLAB_RUN_EVENTS_H

#include "harness/run/run_rows.h"

void run_events_print(const struct run_table *table, FILE *to, FILE *messages);

#endif
