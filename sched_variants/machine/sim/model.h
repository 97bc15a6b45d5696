/* model.h - what a simulated machine looks like: cores, caches, latencies, prices of the kernel.
 *
 * Data only: harness/models/machine_file.c reads it from harness/machines/NAME.yaml, which says
 * for each number where it comes from. Times are picoseconds throughout, so that a cycle of
 * any clock rate is a whole number near enough and sums are exact.
 */
#ifndef SCHEDLAB_SIM_MODEL_H
#define SCHEDLAB_SIM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { SIM_CORES_MAX = 256, SIM_LINE = 64, SIM_PAGE = 4096 };
enum { PS_PER_NS = 1000 };

/* How far apart two cores are. */
enum sim_distance {
    SIM_NEAR,   /* same L3 */
    SIM_SOCKET, /* same socket */
    SIM_REMOTE, /* another socket */
    SIM_DISTANCES
};

enum sim_replacement { SIM_LRU, SIM_PLRU };

struct sim_cache_model {
    int64_t size; /* bytes; 0: there is none (L3 only) */
    int ways;
    int64_t hit_ps;                   /* a load that hits here, beyond what a block costs */
    enum sim_replacement replacement; /* true LRU, or the tree of bits that processors have */
    bool inclusive;                   /* what is evicted here leaves the levels above as well */
};

/* A time with a distribution: median, and the 99th percentile of a log-normal around it. */
struct sim_latency {
    int64_t median_ps, p99_ps;
};

struct sim_model {
    char name[32];
    int64_t clock_khz; /* for counting in cycles; what costs how much is in picoseconds below */

    /* Topology. A core here is what runs a thread: one of `smt` siblings that share L1 and L2.
     * Core i belongs to unit i / smt, that to L3 group i / group and to socket i / socket. */
    int cores, smt, group, socket; /* group, socket: in cores, multiples of smt */

    struct sim_cache_model l1, l2, l3; /* per unit, per unit, per group */
    bool prefetch;                     /* the next line after a miss in L2 */

    /* Coherence: what it takes to get a line ... */
    int64_t clean_ps[SIM_DISTANCES];   /* that another core has, unchanged */
    int64_t dirty_ps[SIM_DISTANCES];   /* that another core has changed */
    int64_t upgrade_ps[SIM_DISTANCES]; /* that is here already, for writing: the farthest sharer */
    int64_t memory_ps[2];              /* from memory of this socket, of another one */

    /* The core. */
    int64_t block_ps;  /* a basic block: the clock of code that touches no memory */
    int64_t store_ps;  /* a store that hits L1, beyond what a block costs */
    int64_t atomic_ps; /* a read-modify-write, beyond getting the line */
    int64_t fence_ps;
    int64_t branch_ps; /* a mispredicted branch: ahead.h */
    int64_t window_ps; /* how far a core runs on past a miss, in its own time: ahead.h */
    int64_t relax_ps;  /* a spin loop's hint */
    int64_t work_ps;   /* a round of go_work() */

    /* The kernel. */
    int64_t clock_ps;  /* reading the clock */
    int64_t call_ps;   /* the shortest system call */
    int64_t wait_ps;   /* going to sleep on a futex, up to the switch */
    int64_t wake_ps;   /* for who wakes a sleeper */
    int64_t wakeup_ps; /* from being woken to running, on an idle core */
    int64_t switch_ps; /* from one thread to another on a core */
    int64_t signal_ps; /* from sending to the handler */
    int64_t start_ps;  /* starting a thread, for who starts it */
    int64_t end_ps;    /* ending one, and its first steps, for itself */
    int64_t slice_ps;  /* what a thread may run while others wait for its core */
    int64_t slack_ps;  /* by how much sleeps are prolonged */
    int64_t membarrier_ps;
    int64_t interrupt_ps; /* to another core, by a membarrier: what its thread loses */

    /* Devices: from one end of the loopback interface to the other (pipes and eventfds take no
     * time); a read or write of a file. */
    struct sim_latency network, file;

    int64_t lookahead_ps; /* by how much a core may run ahead of the others */
};

/* The machine that tests run on: 16 cores in two groups, round numbers. */
extern const struct sim_model sim_model_plain;

#endif
