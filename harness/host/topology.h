/* topology.h - cores, hardware threads and caches, by hwloc.
 *
 * Callers: sample.c (which cores to use), run (the default number of workers), environment.c,
 * calibrate.c; the commands that measure, for a warning.
 */
#ifndef SCHEDLAB_TOPOLOGY_H
#define SCHEDLAB_TOPOLOGY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The machine is read once per process. This has the next call read it again, for tests. */
void topology_forget(void);

/* Hardware threads this process may use: by cgroup and by affinity. */
int topology_cpu_count(void);

/* True if so many workers do not have a core each of that many (which may be hardware threads).
 * Then text is a warning that says what becomes of them. */
bool topology_is_crowded(int64_t workers, int cores, bool pin, char *text, size_t text_size);

/* Fills cpus with the kernel's ids of up to max hardware threads the process may use, in the order
 * in which workers should take them: one per core first, neighbours first. Returns how many. */
int topology_pick_cpus(int *cpus, int max);

/* The arrangement of the hardware threads, for a model of the machine; 0 is unknown. */
struct topology_cache {
    int64_t bytes;
    int ways;
    bool inclusive;
};
struct topology_shape {
    int threads;                    /* all that hwloc shows */
    int smt, group, socket;         /* threads that share a core, the last cache, a package */
    struct topology_cache cache[3]; /* of data: L1, L2, L3 */
};
void topology_shape(struct topology_shape *shape);

/* Between two hardware threads, by the kernel's ids: 0 they share an L3 and no core, 1 a package, 2
 * neither; -1: they are one core, or hwloc does not know one of them. */
int topology_distance(int cpu_a, int cpu_b);

/* Sets groups[i] to the number, from 0 on, of the last cache (L3, or the package where there is
 * none) that cpus[i] shares. Returns how many different ones there are. */
int topology_groups(const int *cpus, int count, int32_t *groups);

bool topology_may_use(int cpu); /* whether this process may run there */

/* The processor's name as it reports it; returns text. */
char *topology_processor(char *text, size_t text_size);

/* {model, packages, cores, threads, smt, usable_threads, numa_nodes, caches: [...]} */
json_t *topology_to_json(void);

#endif
