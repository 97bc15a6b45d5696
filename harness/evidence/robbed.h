/* robbed.h - whether other programs robbed a sample, by what earlier samples of its cell had.
 *
 * Callers: stopping_rule.c and run_rows.c, before a record is kept. CPU time over wall time is low
 * for workers without work, too, and threads of the process preempt one another. So both count,
 * beside what is usual in the cell. A sample is robbed if it had a twentieth less CPU time than the
 * median of earlier ones, and more than twice their preemptions and 20 a second. It takes three
 * earlier ones. By the CPU time and the preemptions that native samples of results/reference
 * counted, it finds 25 of 1522. 15 of them were marked for another reason, and the other ten had
 * 0.94 of their cells' throughput.
 *
 * Rejected: either measure alone. 49 samples had little CPU time and few preemptions; 63 had many
 * preemptions and all their CPU time.
 */
#ifndef SCHEDLAB_ROBBED_H
#define SCHEDLAB_ROBBED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Adds "robbed" to `marks` of the record if it was, by its own `cpu_share` and `preempted_per_s`
 * and those of `count` earlier samples. A record without them, as a simulated one, is not. */
bool robbed_mark(json_t *record, const double *cpu_share, const double *preempted_per_s,
                 size_t count);

#endif
