/* machine_start.h - on which machine a sample runs: this one, or the simulated one, which is
 * another program built from the same sources (CONFIG=sim). */
#ifndef SCHEDLAB_MACHINE_START_H
#define SCHEDLAB_MACHINE_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is this program the one that runs samples on the simulated machine? */
bool machine_is_simulated(void);

/* Runs fn(arg) on the machine: natively, here; else as the first thread of the simulated machine
 * that spec describes ("sim:MODEL[,...]"). False and one line in error if there is no such machine
 * or this program is not for it. Once in the life of the process. */
bool machine_start(const char *spec, uint64_t seed, void (*fn)(void *arg), void *arg, char *error,
                   size_t error_size);

/* Fills cpus with the ids of up to max cores, in the order in which workers should take them. */
int machine_pick_cpus(int *cpus, int max);

#endif
