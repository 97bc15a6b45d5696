/* probe.h - how fast the machine's cores talk to each other and compute, right now.
 *
 * Callers: sample.c, before and after the calls of a sample, while no M runs; doctor_native.c.
 * One thread at a time.
 *
 * Two cores of a virtual machine may run on hardware threads that share a cache, or on ones that do
 * not. The host moves them, and leaves them there for seconds to minutes. This changes several
 * times over what goroutines pay for a word passed from one worker to another. Samples of unlike
 * core distances are not comparable, so each record says at which one it was taken:
 *
 *   line_ns     one cache line goes from the first core in use to the second and back
 *   pairs       the same between the first core and up to PROBE_PAIRS_MAX others in use
 *   compute_ns  PROBE_COMPUTE_ROUNDS rounds of a dependent integer recurrence on the first core
 *   wide_ns     there, PROBE_WIDE_ROUNDS rounds of eight additions that do not wait for each other
 *
 * The other hardware thread of a core may be busy, perhaps for a guest that nobody sees. Then the
 * core computes a chain as fast as ever, but has only half of its units for independent operations.
 * wide_ns shows that, by a factor of 1.75 where it was tried.
 *
 * line_ns is of one pair, always the same, because the core distance is told by it. With more than
 * two cores in use the time for the line is shared among several pairs. Each has the first core;
 * the others are spread evenly over all in use, so that a core that the host has moved away shows
 * in the worst pair. Going round all pairs would leave each too few batches for a median in the
 * time that a probe may take.
 *
 * All are medians over short batches, so that one interruption, which hits one batch, changes
 * nothing. A probe takes what it is given. Where other programs hold the cores it takes up to ten
 * times that, but 20 ms for each of its parts; or twice that if its threads cannot start.
 */
#ifndef SCHEDLAB_PROBE_H
#define SCHEDLAB_PROBE_H

#include <jansson.h>
#include <stdint.h>

enum {
    PROBE_NS = 10000000,         /* of long samples */
    PROBE_MIN_NS = 1000000,      /* enough for some ten batches of each kind */
    PROBE_SHARE = 10,            /* of --min-time each probe of a sample gets this part */
    PROBE_COMPUTE_ROUNDS = 4096, /* of go_work() */
    PROBE_WIDE_ROUNDS = 4000,
    PROBE_BATCHES_MIN = 5, /* a median of fewer is not taken */
    PROBE_ABSENT_SIZE = 96,
    PROBE_PAIRS_MAX = 4,
};

struct probe {
    double line_ns, compute_ns, wide_ns; /* NAN: absent */
    char line_absent[PROBE_ABSENT_SIZE]; /* why, or "" */
    char compute_absent[PROBE_ABSENT_SIZE], wide_absent[PROBE_ABSENT_SIZE];
    int others[PROBE_PAIRS_MAX];     /* the other core of each pair; the first: of line_ns */
    double pair_ns[PROBE_PAIRS_MAX]; /* NAN: absent */
    int pairs;                       /* 0 where there is no line */
};

/* The median and the worst of the pairs that have a value; NAN and worst -1 if none has. */
struct probe_pairs {
    double median_ns, worst_ns;
    int worst; /* the other core of the worst pair */
};
struct probe_pairs probe_pairs_of(const struct probe *probe);

/* The time for a probe beside a sample that measures for so long. */
int64_t probe_budget_ns(int64_t min_time_ns);

/* Picks the cores that make a pair with cpus[0]: cpus[1], then others up to PROBE_PAIRS_MAX, spread
 * evenly up to the last. Returns how many. */
int probe_pick_others(const int *cpus, int count, int others[PROBE_PAIRS_MAX]);

/* Measures on cpus[0], cpus[1] and some of the others, within about budget_ns. cpus are the
 * kernel's ids of hardware threads that this process may use. Its own threads are gone when it
 * returns. threads is how many threads of the sample run at a time: with one of them, or one core,
 * there is no line to pass. */
void probe_run(struct probe *probe, const int *cpus, int count, int threads, int64_t budget_ns);

/* The line alone, between any two cores, within about PROBE_NS. 0; -EINVAL if a core may not be
 * used; -ETIMEDOUT if others hold the cores; or another -errno. pre: cpu_a != cpu_b. */
int probe_line(int cpu_a, int cpu_b, double *line_ns);

/* {"before": {"line_ns", "compute_ns", "pairs": {"median_ns", "worst_ns", "worst": [a, b],
 * "others": [b, ...]} where there are several}, "after": likewise, "cores": cpus, "line_cores":
 * the two between which the line of line_ns goes, where there are two}; owned by the caller. */
json_t *probe_to_json(const struct probe *before, const struct probe *after, const int *cpus,
                      int count);

#endif
