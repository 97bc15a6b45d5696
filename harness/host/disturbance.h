/* disturbance.h - how much a sample lost its cores, or had them slowed: by the hypervisor, other
 * programs, heat.
 *
 * Callers: sample.c, before and after the calls of a sample.
 *
 *   steal      /proc/stat, the cores in use: time in which a virtual core could have run and the
 *              hypervisor ran another. Counted in ticks (10 ms), so a short sample sees it
 *              coarsely: one tick is 5 % of 100 ms on two cores. A hypervisor that does not tell
 *              leaves the column at 0 for ever: a virtual machine that lost nothing since its boot,
 *              on no core, is taken for one that is not told.
 *   others     /proc/stat, the cores in use, less the CPU time of this process and of its children
 *              that have ended: what all other programs had. As coarse.
 *   own        CPU time of this process over that of its cores, and how often the kernel took
 *              a core from one of its threads. Neither says by itself that others did, so a
 *              sample is held against the cell's earlier ones (robbed.h).
 *   throttled  thermal_throttle of sysfs: events of the cores in use and, as each core sees them,
 *              of its package.
 */
#ifndef SCHEDLAB_DISTURBANCE_H
#define SCHEDLAB_DISTURBANCE_H

#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct disturbance {
    int64_t time_ns;
    uint64_t steal_ticks, busy_ticks, throttles;
    int64_t own_ns;      /* CPU time of this process, and of children that have ended */
    int64_t preemptions; /* of the same */
    bool steal_silent;   /* on a virtual machine, and none on any core since the boot */
    char steal_absent[128], throttle_absent[128]; /* why there is no number, or "" */
};

/* Sums over these cores in the text of /proc/stat: of the steal column, and of those in which a
 * program or an interrupt ran. False, and the reason in why. */
bool disturbance_parse_stat(const char *text, const int *cpus, int count, uint64_t *steal,
                            uint64_t *busy, struct error *why);

/* Reads the counts up to now. root is put before /proc and /sys: "" but for tests. */
void disturbance_read(struct disturbance *now, const char *root, const int *cpus, int count);

/* Adds `cpu_share` and `preempted_per_s` of the time between the two. */
void disturbance_record_own(json_t *record, const struct disturbance *before,
                            const struct disturbance *after, int count);

/* Adds `steal_share`, `others_share`, `throttled` and, if any, `marks` to a record, as
 * results/README.md says. steal_max_percent: a larger share is marked. */
void disturbance_record(json_t *record, const struct disturbance *before,
                        const struct disturbance *after, int count, int steal_max_percent);

#endif
