/* cache.h - caches and their coherence: what each access costs, and why it missed. */
#ifndef SCHEDLAB_SIM_CACHE_H
#define SCHEDLAB_SIM_CACHE_H

#include "model.h"

#include <stddef.h>

enum sim_access { SIM_READ, SIM_WRITE }; /* a failed compare-and-swap is a write all the same */

/* Makes the caches of a machine; once. */
void cache_init(const struct sim_model *model);

/* Picoseconds that it takes `core` to read or write `size` bytes (1..64, may cross into the next
 * line); pc: of the instruction, for the attribution of misses. */
int64_t cache_access(int core, uintptr_t address, size_t size, enum sim_access access, uintptr_t pc);

#endif
