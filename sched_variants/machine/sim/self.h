/* self.h - what of the simulated machine is part of its callers: nothing. These are functions that
 * no instrumentation sees; all simulated threads share one thread of the host. */
#ifndef SCHEDLAB_SIM_SELF_H
#define SCHEDLAB_SIM_SELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct m;

struct m *machine_self(void);
uint32_t machine_relax(const volatile void *word, uint32_t rounds);
void machine_pause(uint32_t rounds);
void machine_fence(_Atomic uint32_t *scratch);
void machine_touch(const void *start, size_t size, bool write);
void machine_touch_stack(size_t size);
void machine_name(const void *start, size_t size, const char *name);

#endif
