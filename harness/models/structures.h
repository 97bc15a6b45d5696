/* structures.h - the names of the structures for which a simulated machine counts misses.
 *
 * Callers: machine_spec.c, for which "NAME=free" is a key; list. The names are those that the
 * runtime and the variants give to machine_name() and sched_zalloc(); a test compares.
 */
#ifndef SCHEDLAB_STRUCTURES_H
#define SCHEDLAB_STRUCTURES_H

#include <stddef.h>

struct structure {
    const char *name, *what;
};

extern const struct structure structures[]; /* sorted by name; the last one's name is NULL */

enum { STRUCTURES_MAX = 64 }; /* so that a set of them is a word */

/* The index of a name; -1: there is no such structure. */
int structure_find(const char *name, size_t length);

#endif
