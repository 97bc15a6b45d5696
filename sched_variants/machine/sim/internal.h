/* internal.h - what kernel.c, hooks.c and memory.c share beside sim.h. */
#ifndef SCHEDLAB_SIM_INTERNAL_H
#define SCHEDLAB_SIM_INTERNAL_H

#include "sim.h"

/* Memory of the simulator's own, from the host; ends the process if there is none. */
void *sim_host_alloc(size_t size);

int sim_core_index(void); /* the current core; 0 before sim_run() */

/* The current core spins for up to so many rounds, each a hint, a hit and a look, until it loses
 * the line of that address. Returns how many it was; 0, at once, if it has lost the line before. */
uint32_t sim_spin(uintptr_t address, uint32_t rounds);

/* The current core has spent that much in a spin loop. */
void sim_note_spin(int64_t ps);

/* The current core's caches, set whenever sim_current is. */
struct cache_core;
extern struct cache_core *sim_caches;

/* The current core's clock, and how far it may go before sim_preempt() must look who is next. */
extern int64_t *sim_clock;
extern int64_t sim_horizon;

/* From now on the current thread alone runs: the process is about to end, on a stack that nobody
 * can come back to. */
void sim_freeze(void);

/* The horizon has been passed, at pc in instrumented code: others run first, and an interrupt that
 * is due is delivered. */
void sim_preempt(uintptr_t pc);

#endif
