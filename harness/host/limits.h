/* limits.h - how much memory and how many threads this process may still take.
 *
 * Callers: sample.c, to skip a cell before it harms the machine, and environment.c. Reads /proc and
 * the cgroup files, both versions, from the process's own group up to the root; a file that cannot
 * be read sets no limit.
 */
#ifndef SCHEDLAB_LIMITS_H
#define SCHEDLAB_LIMITS_H

#include <stdint.h>

struct limit {
    uint64_t left; /* UINT64_MAX: none found */
    const char
        *name; /* what sets it: "MemAvailable", "cgroup memory limit", "kernel.threads-max" */
};

/* Bytes that can be had without swapping or being killed. */
struct limit limits_memory(void);

/* Threads that can be started. */
struct limit limits_threads(void);

/* Descriptors of this process: open now, and how many there may be when it has raised its limit. */
struct limits_descriptors {
    uint64_t open, allowed;
};

struct limits_descriptors limits_descriptors(void);

/* The first number in a file; def if there is none. "max" is UINT64_MAX. */
uint64_t limits_read_number(const char *path, uint64_t def);

/* The number after "key" in a file of lines "key value" or "key: value kB" (then in bytes); def if
 * there is none. */
uint64_t limits_read_key(const char *path, const char *key, uint64_t def);

#endif
