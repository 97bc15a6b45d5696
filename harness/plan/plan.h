/* plan.h - the cells of a sweep, their samples so far, and the order in which they are measured.
 *
 * Callers: sweep. A cell is one variant, workload, number of workers, machine and list of events.
 * The plan is the union of the groups' cells: a cell of two groups is measured once and belongs to
 * both.
 *
 * Cells are measured in blocks. Every block holds each cell once, in an order of its own, so that
 * whatever drifts during a sweep (heat, neighbours, the kernel's memory) hits all cells alike.
 *
 * The variants of one group, workload and number of workers are compared with one another: they are
 * a set. Sets that share a cell, or hold it with other events counted, are one set. A block
 * measures a set as a whole or not at all. stopping_rule.h decides which cells need which blocks.
 */
#ifndef SCHEDLAB_PLAN_H
#define SCHEDLAB_PLAN_H

#include "harness/evidence/metric.h"
#include "harness/host/allocator.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/records.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a sample is measured. */
enum why {
    WHY_NONE,
    WHY_BLOCK,
    WHY_TOP_UP, /* its cell has too few samples of a core distance, see stopping_rule.h */
    WHY_REPEAT, /* an earlier one was disturbed */
};

enum { CELL_WIDTHS = 4 };

/* The part of a record that the sweep keeps in memory. */
struct note {
    unsigned block;
    enum why why;
    bool ok;
    bool marked;                          /* as disturbed */
    bool steal_unknown;                   /* the time stolen from it is unknown */
    double value[CELL_WIDTHS];            /* of the cell's metrics; NAN if not ok, or without */
    bool of_set;                          /* events are counted in turn, so some are missing */
    uint64_t events_hash;                 /* 0 if not simulated */
    double line_before_ns, line_after_ns; /* of its probes; NAN where there was none */
    double cpu_share, preempted_per_s;    /* as in the record; NAN where they are not */
};

/* One of several programs, or of several ways to run one, that are measured side by side. */
struct plan_side {
    const char *name;     /* a word, for records and filters */
    const char *program;  /* NULL: this one */
    const char *revision; /* that it was built from; NULL: that of this one */
    int injected_percent; /* see child.h */
};

/* The percentage of its median that the 95 % interval of a metric may span. */
struct cell_width {
    struct metric metric; /* {0}: throughput */
    double percent;
};

struct cell {
    const char *variant, *workload; /* canonical; of the sweep file */
    json_t *groups;                 /* ids of the groups that hold it, in the order of the file */
    char *events; /* "a,b,c", where its group has events of its own, which make it another cell;
                   * NULL: those of the sweep */
    int workers;
    const char *machine;          /* canonical */
    enum allocator allocator;     /* that the variant asks for */
    const struct plan_side *side; /* NULL: there is one only */
    size_t set;       /* the number of its comparison set, the same for all of its cells */
    unsigned reps;    /* how many blocks hold it at most, whatever its set takes; 0: no limit */
    bool until_equal; /* no more of them once there are two samples, the same to the picosecond */
    bool one_call;    /* simulated beside native cells: min_time_ms and warmup are of those */
    /* How narrow which intervals have to be; a width of 0 ends the list. Empty, and own_widths
     * false: the sweep's width, of the throughput. */
    struct cell_width widths[CELL_WIDTHS];
    bool own_widths;
    char id[CELL_ID_SIZE];

    /* The sweep's notes of it; written by stopping_rule.c. */
    struct note *notes; /* block by block */
    size_t notes_count;
    bool given_up; /* not measured again: skipped, or timed out too often */
    unsigned timeouts;

    enum why why; /* why the block at hand still has to measure it; WHY_NONE: it has not */

    /* Samples of this process, for the time that is left. */
    unsigned timed;
    double seconds; /* all of them together, process start included */

    /* Samples of whichever process, for the time that others will take (cell_time.h). */
    unsigned processes;
    double process_seconds;
    bool stored; /* the record at hand was there before the block */
};

struct plan {
    struct cell *cells; /* group by group, workload by workload, in the order of the file */
    size_t count, room;
    char **machines; /* those that what_if makes */
    size_t machines_count;
    json_t *by_id; /* id -> index in cells; see plan_index() */
};

/* Behind the id of a group, for its cells on the machine that what_if makes. */
#define PLAN_WHAT_IF "@what-if"

/* sweep must outlive the plan, and have passed sweep_file_check_machines(). */
struct plan *plan_make(const struct sweep_file *sweep);
void plan_free(struct plan *plan);

/* Fills in the id of a cell: a hash of its specification, machine, side and own events. */
void plan_name_cell(struct cell *cell);

/* Puts each cell into the plan once per side, so that every block holds all sides of all cells,
 * shuffled. The groups of a cell get "@" and the side's name behind theirs: report shows the sides
 * one after the other. All sides of a cell are one set. sides must outlive the plan. */
void plan_multiply(struct plan *plan, const struct plan_side *sides, size_t count);

/* True if any cell is on a simulated machine. */
bool plan_is_simulated(const struct plan *plan);

/* True if any cell is on a real machine. */
bool plan_is_native(const struct plan *plan);

/* Writes the order of one block, a permutation of 0..count-1 that depends on seed and block
 * only. */
void plan_shuffle(size_t count, uint64_t seed, unsigned block, size_t *order);

/* Makes plan_find() find the cells that are there now. For code that puts other cells into a
 * plan. */
void plan_index(struct plan *plan);

/* The cell with this id, or NULL. */
struct cell *plan_find(const struct plan *plan, const char *id);

/* The cells of a plan.json (stopping_rule.h), by their ids; empty if plan is NULL. The caller's. */
json_t *plan_json_cells(const json_t *plan);

/* The reason why measuring the cell ended, from the result of plan_json_cells(); "" if it says
 * none. */
const char *plan_json_stop(const json_t *cells, const char *id);

/* Seconds until the end, as estimated from the samples so far; NAN before the first. Counted are
 * the rest of this block, from order[next] on, and `blocks` more that hold each cell. */
double plan_seconds_left(const struct plan *plan, const size_t *order, size_t next,
                         unsigned blocks);

#endif
