/* report_data.h - everything a report shows, read from a run's folder.
 *
 * Callers: report.c loads and frees; figures.c, report_page.c and its parts, report_json.c read.
 * All texts belong to struct report. A number that is not there is NAN, a text NULL.
 */
#ifndef SCHEDLAB_REPORT_DATA_H
#define SCHEDLAB_REPORT_DATA_H

#include "harness/answers/report_extra.h"
#include "harness/answers/report_samples.h"
#include "harness/answers/report_tsv.h"
#include "harness/base/error.h"
#include "harness/evidence/comparable.h"
#include "harness/numbers/statistics.h"
#include "harness/plan/sweep_file.h"
#include "harness/records/records.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct report_event;
struct report_latency;

/* One row of cells.tsv: a cell in one of its groups. */
struct report_cell {
    const char *group, *variant, *workload, *op, *id, *status, *reason;
    const char *stop;    /* why measuring ended; NULL: unknown */
    const char *machine; /* canonical */
    int workers;
    int cores;    /* of a simulated machine; else 0 */
    size_t n_all; /* samples that are ok, those behind its numbers (throughput.n) or not */
    struct interval throughput, speedup;
    double efficiency; /* speed-up against the serial run, else its own, over workers; NAN: none */
    struct interval
        to_baseline;            /* multiple of the group's baseline on the same workload, workers */
    struct class_choice beside; /* what of both was compared for that; without a ratio if unlike */
    enum cell_class chosen;     /* the samples behind its numbers, see comparable.h */
    double *samples;            /* their throughputs */
    size_t samples_count;
    struct class_counts counts; /* its samples that are ok by class and distance */
    double *of_class[CLASSES];  /* their throughputs; that of `chosen` is `samples` */
    size_t of_class_count[CLASSES];
    const struct report_event *events; /* its rows of events.tsv */
    size_t events_count;
    const struct report_latency *latencies; /* and of latency.tsv */
    size_t latencies_count;
    bool is_first; /* of its rows, one for each of its groups */
};

struct report_event {
    const char *group, *variant, *workload, *id, *name, *source, *absent;
    int workers;
    struct interval per_op;
    double value; /* over the whole sample: what a peak has in place of a value per operation */
};

struct report_latency {
    const char *group, *variant, *workload, *id;
    int workers;
    double quantile;
    struct interval ns;
};

/* One run of cells that stand together: ordered by workload, workers, variant in catalogue order.
 * */
struct report_group {
    const char *id;
    const char *question, *baseline; /* NULL: the sweep file does not say */
    int baseline_workers;            /* of the baseline's cells; 0: as many as the cell beside it */
    enum sweep_figure figure;
    const char *metric, *parameter;        /* of the figure; NULL where it has none */
    const struct sweep_knob *knob, *knob2; /* those of the figure; NULL where it has none */
    const char *left_out; /* one sentence on missing pairs of their values; NULL: none */
    const struct sweep_expect *expect; /* what the sweep file compares with */
    size_t expect_count;
    struct report_cell *cells;
    size_t count;
};

struct report {
    const char *run_dir;
    const char *name;  /* of the folder */
    const char *title; /* the sweep's, else the name */
    struct report_cell *cells;
    struct report_event *events;
    struct report_latency *latencies;
    struct report_group *groups;
    struct report_samples samples;
    struct report_extra extra;
    size_t cells_count, events_count, latencies_count, groups_count;
    struct sweep_file *sweep; /* NULL if there is none that can be read */
    json_t *environment;      /* an object, empty if there is no such file or a broken one */
    bool environment_is_broken;
    json_t *records; /* every sample, in the order of measuring */
    json_t *by_cell; /* fields_group() of them */
    struct record_flaws flaws;
    json_t *problems; /* strings: causes of missing parts of the page */
    json_t *warnings; /* strings: facts that may make the page misleading, though it is whole */
    char *name_text;
    struct tsv tables[4];
};

/* Reads the files that tables_write() and sweep left in run_dir. False and one line in error if the
 * page cannot be made. report->problems has the causes of missing parts: an unreadable sweep.yaml
 * or environment.json, or a file of report_extra.h. Parts that do not fit together are in
 * report->warnings. */
bool report_load(struct report *report, const char *run_dir, struct error *error);
void report_free(struct report *report);

/* A quantile of a cell's latencies, in ns; NAN in all numbers if it was not measured. */
struct interval report_latency_ns(const struct report_cell *cell, double quantile);

/* An event of the cell, by its name with or without the prefix; NULL if it was not asked for. */
const struct report_event *report_event_find(const struct report_cell *cell, const char *name);

/* True if the group has latencies of the workload or, if that is NULL, of any. */
bool report_has_latencies(const struct report *report, const struct report_group *group,
                          const char *workload);

/* The cell of a group; NULL if it was not to be measured. */
const struct report_cell *report_cell_find(const struct report_group *group, const char *variant,
                                           const char *workload, int workers);

/* The throughputs of a cell's samples within a comparison, see class_within(); *count of them. */
const double *report_cell_samples(const struct report_cell *cell, enum cell_class chosen,
                                  size_t *count);

/* Adds one sample that is ok; of_class must have room. report_cell_choose() then sets the class of
 * the cell's numbers. */
void report_cell_add_sample(struct report_cell *cell, double throughput,
                            enum core_distance distance, bool marked);
void report_cell_choose(struct report_cell *cell, enum cell_class chosen);

/* The class in which these cells are compared: that of their own numbers if possible. */
struct class_choice report_choose_class(const struct report_cell *const *cells, size_t count);

/* How many hardware threads the cell could use, or cores of its simulated machine; 0 if
 * environment.json does not say. */
int report_cores(const struct report *report, const struct report_cell *cell);

/* True if the cell had more workers than the run could use hardware threads. The kernel then had
 * them take turns. */
bool report_cell_is_crowded(const struct report *report, const struct report_cell *cell);

/* True for a measured cell, not a failed or skipped one. */
bool report_cell_ok(const struct report_cell *cell);

/* The largest count of workers that the group ran this workload with: what figures and summary
 * show. */
int report_workers_max(const struct report_group *group, const char *workload);

/* The figure that fits the group's question: THROUGHPUT, LATENCY or EVENTS if the sweep file names
 * a metric, else the figure that it asks for. */
enum sweep_figure report_subject(const struct report_group *group);

/* The first record of a cell; NULL if there is none. */
const json_t *report_record(const struct report *report, const char *cell);

/* The group with another baseline: its cells' to_baseline and beside are of that. workers: those of
 * the baseline's cells; 0: as many as the cell beside it has. free() the cells, whose texts and
 * samples are the report's. */
struct report_group report_group_pinned(const struct report_group *group, const char *baseline,
                                        int workers);

/* The cells of one workload of a group, from the first one to that before the end. */
struct report_span {
    const char *workload;
    size_t first, end;
};

/* Steps over the workloads of a group; all zero at first. False after the last one. */
bool report_next_workload(const struct report_group *group, struct report_span *span);

/* Adds lines to report->warnings, at the end of report_load() (report_fit.c). There is one line
 * each if sweep.yaml is not the one that was measured, if records are of variants that this program
 * does not know, and if there is no environment.json. */
void report_fit_check(struct report *report);

#endif
