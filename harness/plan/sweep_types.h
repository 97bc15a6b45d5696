/* sweep_types.h - a sweep in memory; sweep_file.h describes the file.
 *
 * Callers: the readers of sweep files and everybody who runs, plans or reports one.
 */
#ifndef SCHEDLAB_SWEEP_TYPES_H
#define SCHEDLAB_SWEEP_TYPES_H

#include "param.h"

#include <stdbool.h>
#include <stdint.h>

#define SWEEP_NAME_RULE "up to 64 letters, digits, \"-\", \"_\", \".\", the first a letter or digit"
enum { SWEEP_NAME_MAX = 64 };

enum sweep_figure {
    SWEEP_FIGURE_THROUGHPUT, /* the default */
    SWEEP_FIGURE_SPEEDUP,    /* over workers */
    SWEEP_FIGURE_EVENTS,     /* per operation */
    SWEEP_FIGURE_LATENCY,    /* quantiles */
    SWEEP_FIGURE_KNOB,       /* throughput over the values of group->knob */
    SWEEP_FIGURE_HEATMAP,    /* multiples of the baseline over those of knob and knob2 */
    SWEEP_FIGURE_SCALE,      /* ns and bytes of a goroutine over their number; see scale.tsv */
    SWEEP_FIGURE_STALLS,     /* of a simulated machine's cores, by structure */
    SWEEP_FIGURE_METRIC,     /* group->metric of every cell */
    SWEEP_FIGURE_SURFACE,    /* multiples of the baseline over workers and group->parameter */
    SWEEP_FIGURES,
};

struct sweep_knob {
    char *name;
    char **values; /* as in the file */
    unsigned values_count;
};

struct sweep_expect {
    char *variant, *workload; /* canonical; of the group's */
    int64_t workers;
    char *metric;                   /* of an event without the prefix of the program's own */
    char *value_text, *within_text; /* as in the file */
    char *source;
    double value;  /* ns, operations a second or a count; above 0 */
    double within; /* 1 or more */
};

struct sweep_group {
    char *id;
    char *question;
    char *baseline; /* canonical; one of variants */

    /* How many pairs of values of knob and knob2 are not among variants, and why: one of the two
     * changes nothing beside the other. One sentence; NULL if there are none. */
    char *left_out;

    /* Canonical, in the order of the file, and expanded over the knobs: each variant of the file
     * with the first value of knob and all of knob2, and so on. Nothing is there twice. */
    char **variants;
    char **workloads; /* canonical, nothing twice */
    int64_t *workers;
    unsigned variants_count, workloads_count, workers_count;

    char **events; /* none: those of the sweep */
    unsigned events_count;
    char *machine; /* canonical; NULL: that of the sweep */
    char *what_if; /* likewise */

    struct sweep_expect *expect;
    unsigned expect_count;

    enum sweep_figure figure;
    char *metric;             /* metric.h; there exactly if figure is METRIC, else NULL */
    char *parameter;          /* of all workloads; there exactly if figure is SURFACE, else NULL */
    struct sweep_knob *knob;  /* there exactly if figure is KNOB or HEATMAP, else NULL */
    struct sweep_knob *knob2; /* there exactly if figure is HEATMAP, else NULL */
};

struct sweep_file {
    char *name, *title;
    int64_t reps, reps_max, width, timeout_s, min_time_ms, iterations;
    int64_t warmup; /* WARMUP_AUTO: auto */
    int64_t steal_max, repeat_disturbed, class_min, class_each;
    /* As in the file, for words are no numbers there. */
    char *warmup_text, *repeat_disturbed_text, *class_each_text;
    int64_t seed; /* -1: none given */
    bool pin;
    char *machine; /* canonical; NULL: native */
    char *what_if; /* "KEY=VALUE,...": each cell is measured on the machine with these as well */
    char **events; /* none: the default set */
    unsigned events_count;
    bool reps_given, reps_max_given, min_time_given, warmup_given; /* not left out */
    struct sweep_group *groups;
    unsigned groups_count;
};

/* The numbers: key, default, range, unit and meaning, of fields of struct sweep_file.
 * sweep_schema.c */
extern const struct param sweep_file_params[];

/* Frees it with all that it holds. sweep_schema.c */
void sweep_file_free(struct sweep_file *sweep);

/* "throughput" ... sweep_schema.c */
const char *sweep_figure_name(enum sweep_figure figure);

#endif
