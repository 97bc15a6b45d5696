/* machine_memory.h - memory of the harness that code on the machine reads or writes.
 *
 * Callers: spec.c for settings, sample.c for histograms.
 */
#ifndef SCHEDLAB_MACHINE_MEMORY_H
#define SCHEDLAB_MACHINE_MEMORY_H

#include <stddef.h>

/* Zeroed memory for what code that runs on the machine reads or writes: on a simulated one at an
 * address that no host decides. Ends the process if there is none; machine_free() it. */
void *machine_zalloc(size_t size);

#endif
