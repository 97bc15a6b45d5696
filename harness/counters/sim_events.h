/* sim_events.h - what a simulated machine counts: SIM_CYCLES, SIM_L1D_MISS and so on, by core.
 *
 * Callers: counter_names.c, for which these are the last of the program's own; counters*.c. The
 * list is that of machine/sim/sim.h and cache.h, in every build; values are there in schedlab-sim
 * alone.
 */
#ifndef SCHEDLAB_SIM_EVENTS_H
#define SCHEDLAB_SIM_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* Why they are absent natively. */
#define SIM_EVENTS_ABSENT "counted on a simulated machine: --machine=sim:MODEL"

int sim_event_count(void);
const char *sim_event_name(int event); /* "SIM_L1D_MISS" */
const char *sim_event_help(int event);
bool sim_event_is_by_default(int event); /* of the default list on a simulated machine */

/* Cores of the simulated machine; 0 where there is none. */
int sim_event_cores(void);

/* The count of one core since the machine was started; core < 0: of all cores. 0 where there is
 * none. */
int64_t sim_event_read(int event, int core);

#endif
