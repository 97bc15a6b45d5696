/* experiment.h - an experiment: a claim about a design decision, its measurement and its expected
 * result.
 *
 * Callers: repro. The file is YAML, harness/experiments/NAME.yaml or any other:
 *
 *     id: E3                        # letters, digits, "-", "."
 *     title: FIFO, runnext or LIFO
 *     claim: Beside a CPU hog, runnext makes a hand-off cost nanoseconds   # a sentence
 *     source: golang/go commit e870f06c3f (2015)   # where that was claimed
 *     why: |                        # the reasoning, in plain paragraphs
 *       ...
 *     refuted: what would refute it, in words
 *     lesson:                       # what to take from it, in two sentences each; may be left out
 *       supported: ...              # which design, when, at what price
 *       refuted: ...                # what not to rely on
 *       undecided: ...              # may be left out, as may disagree: if machines disagree, the
 *                                   # two lessons above stand side by side
 *     dispute:                      # of a public thread; left out: it is none
 *       thread: golang/go#67585     # where it is
 *       number: ...                 # the number that is claimed there, in a sentence
 *       predicted: 2026-11-28       # the date of our prediction
 *       verdict: supported          # what we predicted for the claim: supported or refuted
 *       prediction: ...             # why
 *       open: true                  # upstream had not decided then; default false
 *     first: true                   # one that `schedlab repro` offers first; default false
 *     machines: [native, sim:desktop8]   # default [native]; each part runs on each of them
 *     reps: 6                       # as in sweep files (sweep_file.h), as are reps_max, width,
 *                                   # timeout_s, min_time_ms, iterations, warmup and events; the
 *                                   # quick form, too, takes more than 6 where they are given;
 *                                   # min_time_ms is 0 by default where only orders are expected
 *     native_min_time_ms: 50        # in place of min_time_ms and warmup on the native machine,
 *     native_warmup: 1              # where a first short call tells more of the host than of the
 *                                   # scheduler; left out: as on simulated ones
 *     pin: true                     # one core per worker; default false
 *     seed: 1                       # default 1, so that what is simulated is the same each time
 *     parts:
 *       - id: hog                   # letters, digits, "-"
 *         question: What does a hand-off cost beside a hog?   # default: the title
 *         variant: gmp              # what is held fixed; one, or a list
 *         factor: runnext           # what changes: a knob of the variant, or
 *                                   # variant, workload, workers or machine; a variant may be
 *                                   # a peer, "peer:go", of which nothing is run where it is
 *                                   # not built
 *         levels: [off, on]         # its values
 *         baseline: off             # default: the first level
 *         workload: pingpong        # one, or a list
 *         workers: 1                # one, or a list; default 1
 *         metric: throughput        # metric.h; default throughput; or order: the text that
 *                                   # the order workload found in its first call, "9 0-8"
 *         events: [STEALS]          # default those of the experiment; events that are metrics
 *                                   # are counted without being named here
 *         figure: throughput        # default: what fits factor and metric
 *         machines: [native]        # of this part; default those of the experiment
 *         crowded: true             # more workers than cores are meant; default false, and cells
 *                                   # with more are not measured
 *         together: why             # why levels differ in more than one thing, if they do
 *         full: true                # only in the full form; default false
 *         held: pingpong,rounds=60  # what tests measure in place of the workload (repro --held):
 *                                   # less work, to the same verdicts; of several, one for each
 *         expect:
 *           - says: It is at least 50 times as fast    # a sentence
 *             role: size            # claim (the default), size, price or check; the
 *                                   # verdict comes from the claims alone
 *             level: on             # default: the baseline
 *             over: off             # the ratio metric(level) / metric(over); left out: the metric
 *             resolution: 5         # percent from an end of the range that a claim is to be told
 *                                   # from it with power 0.9; default: half the way to a ratio of
 *                                   # 1, a quarter of a range with two ends, else 10, of latencies
 *                                   # 20, of counts 25, which are the coarsest; 2 is the finest
 *             at_least: 50          # or at_most: X, between: [A, B], exactly: X. Latencies may
 *                                   # have units, 20 ms; so may throughputs, 1000 /s
 *             table: ["61: 1 7", "64: 4 8"]   # in place of level and range: for each level, what
 *                                   # it is exactly, in the order of the variants, workloads
 *                                   # and workers held fixed; -: nothing is expected there
 *             variant: gmp          # which of several; left out: it must hold on each
 *             workload: pingpong    # likewise
 *             workers: 1            # likewise
 *             machine: native       # likewise
 *             metric: p99           # default: the part's
 *             source: Go 1.26       # where the number is from
 *
 * One thing changes. `together` is needed if levels are one design with more than one knob
 * different, one workload with more than one parameter different, or several workloads. Each level
 * is compared with the baseline or, if that is another design, with the first level of its own
 * design.
 *
 * A part is measured as one group of a sweep, so that records, resumption and reports are those of
 * sweeps: experiment_sweep_text(). A part whose levels are machines is one group per level.
 */
#ifndef SCHEDLAB_EXPERIMENT_H
#define SCHEDLAB_EXPERIMENT_H

#include "harness/base/error.h"
#include "harness/plan/plan.h"
#include "harness/repro/experiment_types.h"

#include <stdbool.h>
#include <stdint.h>

/* Options that decide how much is measured. */
struct experiment_form {
    bool deterministic; /* only parts all of whose expectations there are deterministic */
    bool quick;         /* EXPERIMENT_QUICK_REPS blocks, or as many as the file asks for if that is
                         * more, and up to EXPERIMENT_QUICK_MORE times as many for claims that need
                         * narrower intervals; no parts that are `full` */
    bool held;          /* the workloads that the experiment names for it, and what is judged */
    bool guests;        /* a simulated machine stands for the same with host=vm too */
    int native_cores;   /* each worker has one of them, of so many; 0: any number */
};

enum {
    EXPERIMENT_QUICK_REPS = 6,
    EXPERIMENT_QUICK_MORE = 3,
    EXPERIMENT_EXACT_REPS = 2,       /* two samples that are equal, where tests hold the verdicts */
    EXPERIMENT_EXACT_QUICK_REPS = 3, /* in the quick form, of cells with nothing but exact values */
    EXPERIMENT_HELD_MS = 10,         /* the most that min_time_ms is in the held form */
    EXPERIMENT_HELD_TIMEOUT_S = 600,
    EXPERIMENT_WIDTH = 3,
    EXPERIMENT_REPS_MAX = 24,
};

/* Reads and checks the file at path. NULL if anything about it is wrong; then error
 * has a line "PATH:LINE: what, and what is valid" for each mistake. */
struct experiment *experiment_load(const char *path, struct error *error);
void experiment_free(struct experiment *experiment);

/* Turns it into the held form, for tests: `held` replaces the workloads. Levels and values held
 * fixed stay only if an expectation is about them. Call once. experiment_hold.c. */
void experiment_hold(struct experiment *experiment);

/* True if two equal samples of that cell decide all of the part's expectations about it: they use
 * only `exactly`, and no ratio. Canonical texts. */
bool experiment_is_exact_of(const struct experiment_part *part, const char *variant,
                            const char *workload, int64_t workers);

/* Adds how narrow the intervals of that cell's metrics have to be, so that the claims about it are
 * decided, to a list of so many that ends with a width of 0. */
void experiment_widths_add(const struct experiment_part *part, const char *variant,
                           const char *workload, int64_t workers,
                           struct cell_width widths[CELL_WIDTHS]);

/* The machines that the experiment is for, its parts' own ones included, in the order in which they
 * are named, EXPERIMENT_MACHINES last; NULL-terminated. free() the list, not the texts. */
const char **experiment_places(const struct experiment *experiment);

/* True if the part runs on that machine, in that form. on_any: the machine need not be one of the
 * experiment's. If the part has machines of its own, it must be one of them. */
bool experiment_part_runs(const struct experiment *experiment, const struct experiment_part *part,
                          const char *machine, const struct experiment_form *form, bool on_any);

/* The number of blocks in the quick form. */
int64_t experiment_quick_reps(const struct experiment *experiment);

/* True if so many workers are measured there: each has a core, or the part is `crowded`. */
bool experiment_takes_workers(const struct experiment_part *part, int64_t workers,
                              const char *machine, const struct experiment_form *form);

/* The number of cores of a machine: those of a model, or of the form. INT_MAX: any number. */
int experiment_cores(const char *machine, const struct experiment_form *form);

/* The sweep file of the parts that run on that machine, to be freed. NULL if none does, for example
 * if all parts take more workers than there are cores. */
char *experiment_sweep_text(const struct experiment *experiment, const char *machine, bool on_any,
                            const struct experiment_form *form);

/* One cell of a part, without its level: indices of the values held fixed, 0 for the factor. */
struct experiment_column {
    unsigned variant, workload, workers;
};

struct experiment_cell {
    const char *variant, *workload, *machine; /* canonical */
    int64_t workers;
    char group[SWEEP_NAME_MAX + 16]; /* of the sweep */
};

/* The number of columns, and the i-th one. */
unsigned experiment_columns(const struct experiment_part *part);
struct experiment_column experiment_column(const struct experiment_part *part, unsigned i);

/* The cell of a level within a column, where the part runs on `machine`. */
struct experiment_cell experiment_cell(const struct experiment_part *part, unsigned level,
                                       struct experiment_column column, const char *machine);

/* True if the expectation is about that column on that machine. */
bool experiment_expects(const struct experiment_part *part, const struct experiment_expect *expect,
                        struct experiment_column column, const char *machine);

/* True if the part's verdict on that machine is the same each time: the machine is simulated, or
 * the verdict is about the text of an order on one worker. Never of peers: another runtime may not
 * be built, and its next version may do otherwise. */
bool experiment_is_deterministic(const struct experiment_part *part,
                                 const struct experiment_expect *expect, const char *machine);

/* "variant", "workload", "workers", "machine"; else the knob. */
const char *experiment_factor_name(const struct experiment_part *part);

/* A number that the expectation is about, for people: "20 ms", "1.2 M/s", of a ratio "2.50x". */
struct text experiment_number_text(const struct experiment_expect *expect, double value);

/* The folders of experiments that come with the program: the catalogue's, and disputes. */
#define EXPERIMENT_FOLDER "experiments"
#define DISPUTE_FOLDER "experiments/disputes"

/* The paths of all experiments in `of`, one of these, by file name; NULL-terminated, to be freed by
 * data_folder_names_free(). NULL and one line in error. */
char **experiment_paths(const char *of, struct error *error);

#endif
