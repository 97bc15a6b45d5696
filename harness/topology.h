/* topology.h - cores, hardware threads and caches, by hwloc.
 *
 * Who calls: sample.c (which cores to use), run (the default number of workers), environment.c; who
 * measures, for a warning.
 */
#ifndef SCHEDLAB_TOPOLOGY_H
#define SCHEDLAB_TOPOLOGY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Hardware threads this process may use: by cgroup and by affinity. */
int topology_cpu_count(void);

/* False if so many workers have a core each of that many (which may be hardware threads). If not,
 * text is a warning that says what becomes of them. */
bool topology_is_crowded(int64_t workers, int cores, bool pin, char *text, size_t text_size);

/* Fills cpus with the kernel's ids of up to max hardware threads the process may use, in the order
 * in which workers should take them: one per core first, neighbours first. Returns how many. */
int topology_pick_cpus(int *cpus, int max);

/* {model, packages, cores, threads, smt, usable_threads, numa_nodes, caches: [...]} */
json_t *topology_to_json(void);

#endif
