/* event_site.h - which line of the workload each of a simulated scheduler's events comes from.
 *
 * Callers: cmd_sample.c, with --sched-sites. A site is a place in the workload's code from which
 * the runtime was called. An event of the scheduler's own (in g0, in sysmon) has none.
 *
 * Stacks are walked as for --flame, outside virtual time: a run is the same with and without.
 */
#ifndef SCHEDLAB_EVENT_SITE_H
#define SCHEDLAB_EVENT_SITE_H

#include <stdio.h>

/* Notes the site of each event that is kept from now on. Natively none is. */
void event_sites_begin(void);

/* Writes a line for each site, in the order of their numbers, as sched_trace.h has them. */
void event_sites_write(FILE *to);

#endif
