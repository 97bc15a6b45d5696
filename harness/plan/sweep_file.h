/* sweep_file.h - the file of a sweep: the variants to compare, the workloads and machines, and how
 * often.
 *
 * Callers: sweep, and report for the copy in a run's folder. The file is YAML:
 *
 *     name: queues                  # of the folder: letters, digits, "-", "_", "."
 *     title: One queue or many      # of the report
 *     reps: 8                       # blocks at least; a block measures each cell once; 8 if
 *                                   # left out, or 3 on simulated machines: an interval of the
 *                                   # median takes 6 samples, and some may be disturbed
 *     reps_max: 20                  # blocks at most; left out: as many as reps
 *     width: 5                      # percent of the median that its 95 % interval may span; a set
 *                                   # of cells is measured until all of its are that narrow, or
 *                                   # reps_max times; 0: reps times
 *     timeout_s: 20                 # per sample
 *     min_time_ms: 100              # of timed calls per sample; simulated cells beside native
 *                                   # ones take one call after another one, whose time is virtual
 *     iterations: 1                 # of them at least
 *     warmup: auto                  # untimed calls before them: until their times are level, or a
 *                                   # number; left out: auto, or 1 on simulated machines
 *     steal_max: 1                  # percent of a sample's time that the hypervisor may take away;
 *                                   # a sample that lost more is marked as disturbed
 *     repeat_disturbed: true        # measure marked samples again, reps_max times a cell at most
 *     class_min: 5                  # cells on several workers get samples, up to reps_max more,
 *                                   # until so many are of the run's most common core
 *                                   # distance (core_distance.h)
 *     class_each: true              # or of each of its distances, if there are two; default false
 *     seed: 7                       # of the shuffling and the samples; left out: a new one
 *     pin: true                     # one core per worker
 *     machine: native               # or a simulated one, sim:MODEL[,KEY=VALUE]...; see
 *                                   # docs/SIMULATOR.md for what is different there
 *     events: [PAPI_L1_DCM]         # left out: the default set
 *     groups:
 *       - id: grq-perm-gmp          # letters, digits, "-", "_"; plot and table key
 *         question: Does a queue per worker pay?
 *         figure: throughput        # throughput, speedup (workers hold 1 and more), events,
 *                                   # latency (a workload records them), knob,
 *                                   # heatmap, scale, stalls, metric or surface
 *         baseline: gmp             # one of the variants
 *         variants: [grq, perm, gmp]
 *         workloads: ["spawn,n=100000", "ring,n=503"]   # "spawn,n=100000/worker": 200000 on two
 *         workers: [1, 2]
 *         events: [none]            # of this group; left out: those of the sweep
 *         machine: sim:server64     # likewise
 *         what_if: grq.lock=free    # and with these settings of the machine; for a sweep, too
 *         expect:                   # what was measured elsewhere, for the report to compare with
 *           - variant: gmp          # of which cell: left out, the baseline
 *             workload: ring,n=503  # left out: the group's only one
 *             workers: 1            # left out: the group's only one
 *             metric: p50           # throughput, p50, p90, p99, p99.9, max, or a counted event
 *             value: 20 ms          # of latencies a time, of throughput as in 1000 /s, else plain
 *             within: 1.5           # the factor up to which both agree
 *             source: Go 1.26, one thread   # where the value is from
 *       - id: tick
 *         question: Where is the best tick?
 *         figure: knob
 *         baseline: gmp
 *         variants: [gmp]
 *         knob: {name: tick, values: [0, 16, 61, 64, 1024]}   # gmp,tick=0 gmp,tick=16 ...
 *         workloads: ["spawn,n=100000"]
 *         workers: [2]
 *       - id: ring-tick
 *         question: Which ring goes with which tick?
 *         figure: heatmap
 *         baseline: gmp
 *         variants: [gmp]
 *         knob: {name: ring, values: [16, 256, 4096]}         # across
 *         knob2: {name: tick, values: [1, 61, 1024]}          # up; each with each: 9 variants,
 *                                   # less the pairs of which one changes nothing beside the other
 *         workloads: ["spawn,n=100000"]
 *         workers: [2]
 *
 *       - id: threads
 *         question: How many threads does it take?
 *         figure: metric
 *         metric: PROCESS_THREADS   # throughput, p50 or another percentage, max, or an event: one
 *         baseline: gmp             # number of each cell
 *         variants: [gmp]
 *         workloads: ["pipes,mode=block", "pipes,mode=poll"]
 *         workers: [2]
 *
 *       - id: lengths
 *         question: Where is a queue per worker faster?
 *         figure: surface           # multiples of the baseline, with a line where they cross 1:
 *         parameter: rounds         # over workers, and this parameter of the workloads upwards
 *         baseline: grq
 *         variants: [grq, gmp]
 *         workloads: ["uneven,rounds=10", "uneven,rounds=100"]
 *         workers: [1, 2]
 *
 * Only name, title and groups must be there; in a group id, question, baseline, variants, workloads
 * and workers; and in an expectation metric, value, within and source. YAML's anchors and aliases
 * work.
 */
#ifndef SCHEDLAB_SWEEP_FILE_H
#define SCHEDLAB_SWEEP_FILE_H

#include "harness/base/error.h"
#include "harness/plan/sweep_types.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads, checks and expands the file at path. NULL if anything about it is wrong; then error has a
 * line "PATH:LINE: what, and what is valid" for each mistake, without a newline at its end. */
struct sweep_file *sweep_file_load(const char *path, struct error *error);

/* The same of a text, which messages call path. */
struct sweep_file *sweep_file_parse(const char *path, const char *text, size_t size,
                                    struct error *error);

/* The machine on which the group is measured: canonical, "native" at least. */
const char *sweep_group_machine(const struct sweep_file *sweep, const struct sweep_group *group);

/* Has all groups measured on this machine, whatever the file says. pre: machine is canonical. */
void sweep_file_set_machine(struct sweep_file *sweep, const char *machine);

/* The other settings of its machine with which the group is measured as well; NULL: none. */
const char *sweep_group_what_if(const struct sweep_file *sweep, const struct sweep_group *group);

/* Sets them for all groups, whatever the file says. */
void sweep_file_set_what_if(struct sweep_file *sweep, const char *settings);

/* False and one line in error if a group's machine cannot have such settings, or cannot give the
 * data of its figure. Call it before plan_make(), after all options. */
bool sweep_file_check_machines(const struct sweep_file *sweep, struct error *error);

/* True if name is valid for a sweep, a group or a run's folder. */
bool sweep_name_is_valid(const char *name);

#endif
