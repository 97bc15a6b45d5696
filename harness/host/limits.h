/* limits.h - how much memory and how many threads this process may still take.
 *
 * Callers: sample.c, to skip a cell before it harms the machine; environment.c; doctor_cgroup.c.
 * Reads /proc and the cgroup files, both versions, from the process's own group up to the root; a
 * file that cannot be read sets no limit.
 */
#ifndef SCHEDLAB_LIMITS_H
#define SCHEDLAB_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct limit {
    uint64_t left;    /* UINT64_MAX: none found */
    const char *name; /* what sets it: "the cgroup's memory.max", "kernel.threads-max" */
    uint64_t most;    /* what that is */
};

/* Bytes that can be had without swapping or being killed. */
struct limit limits_memory(void);

/* Calls visit() for each control group of this process, from its own up to the root, in the
 * hierarchies of both versions. directory is below root, which is "" but for tests. Inside a
 * container it may be above the mount, and not exist. False if the kernel does not tell. */
typedef void group_visit(void *arg, const char *root, const char *directory);
bool limits_each_group(const char *root, group_visit *visit, void *arg);

/* A visit() that takes a group's limit of memory into a struct limit, if it leaves less. */
void limits_take_memory(void *arg, const char *root, const char *directory);

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
