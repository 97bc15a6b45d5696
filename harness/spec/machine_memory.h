/* machine_memory.h - memory of the harness that code on the machine reads or writes.
 *
 * Callers: spec.c for settings, sample.c for histograms.
 */
#ifndef SCHEDLAB_MACHINE_MEMORY_H
#define SCHEDLAB_MACHINE_MEMORY_H

#include <stddef.h>

/* Zeroed memory that code on the machine reads or writes. On a simulated machine its address does
 * not depend on the host. Ends the process if there is none; machine_free() it. */
void *machine_zalloc(size_t size);

#endif
