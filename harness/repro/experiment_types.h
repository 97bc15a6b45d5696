/* experiment_types.h - an experiment in memory; experiment.h describes the file.
 *
 * Callers: the readers of experiments and everybody who runs, judges or shows one.
 */
#ifndef SCHEDLAB_EXPERIMENT_TYPES_H
#define SCHEDLAB_EXPERIMENT_TYPES_H

#include "harness/evidence/metric.h"
#include "harness/plan/sweep_types.h"

#include <stdbool.h>
#include <stdint.h>

/* The place, instead of a machine, of parts whose levels are machines. */
#define EXPERIMENT_MACHINES "machines"

enum experiment_factor {
    FACTOR_KNOB,
    FACTOR_VARIANT,
    FACTOR_WORKLOAD,
    FACTOR_WORKERS,
    FACTOR_MACHINE,
};

/* Roles of expectations. The experiment's verdict comes from its claims alone. */
enum expect_role {
    ROLE_CLAIM, /* it carries the sentence: a direction, with the least effect that matters */
    ROLE_SIZE,  /* how much: a published or reasoned range */
    ROLE_PRICE, /* what it costs elsewhere */
    ROLE_CHECK, /* the run did what it was meant to do */
};

struct experiment_expect {
    char *says, *source; /* source NULL: not said */
    enum expect_role role;
    char *level, *over; /* over NULL: the metric itself; else as in the part's levels */
    char *at_least, *at_most, *exactly, **between; /* as in the file; all but one are NULL */
    char **table; /* of none that has been read: there is one expectation per cell then */
    unsigned between_count, table_count;
    char *variant, *workload, *machine; /* canonical; NULL: each */
    char *metric;                       /* NULL: the part's */
    char *resolution_text;              /* percent; NULL: not said */

    /* Made of these. */
    unsigned in_file;                 /* which of the part's in the file */
    char *table_says;                 /* of a cell: what its table says; else NULL */
    unsigned column;                  /* of a cell: see experiment_column() */
    unsigned level_index, over_index; /* of the part's levels; over_index counts with over only */
    int64_t workers;                  /* 0: each */
    double lo, hi;                    /* the range; infinite where it is open */
    double resolution;                /* a share, 0.05; 0: not said */
    struct metric measured;           /* unless is_order */
    bool is_order;                    /* `exactly` is the text */
    char *wanted;                     /* "at least 50x", for people */
};

struct experiment_part {
    char *id, *question; /* never NULL */
    char *factor_text, **levels, *baseline_text;
    char *metric; /* never NULL */
    char *together;
    char **events, **machines; /* machines are canonical */
    char *figure_text;
    unsigned levels_count, events_count, machines_count;
    bool full, crowded;
    struct experiment_expect *expect;
    unsigned expect_count;

    /* Made from these. The axis of the factor holds its levels, in their order; the others hold the
     * fixed values. Canonical. */
    enum experiment_factor factor;
    unsigned baseline;
    char **variants, **workloads;
    int64_t *workers;
    unsigned variants_count, workloads_count, workers_count;
    char **held_workloads; /* in the order of workloads; NULL: the same */
    unsigned held_workloads_count;
    char **cell_variants; /* of a knob: [variant * levels_count + level], canonical */
    unsigned cell_variants_count;
    enum sweep_figure figure;
};

/* The lesson of each verdict; NULL: not said. */
struct experiment_lesson {
    char *supported, *refuted, *undecided, *disagree;
};

/* A dispute: what others claim in a public thread, and how we said beforehand that it comes out. */
struct experiment_dispute {
    char *thread, *number; /* the project's, and the number that it names */
    char *predicted;       /* the date of the prediction, YYYY-MM-DD */
    char *prediction;      /* the reasoning behind it */
    bool claim_holds;      /* so it says */
    bool open;             /* upstream had not decided at that date */
};

struct experiment {
    char *id, *title, *claim, *source, *why, *refuted;
    struct experiment_lesson *lesson;   /* NULL: none */
    struct experiment_dispute *dispute; /* NULL: it is none */
    char **machines;                    /* canonical; never empty */
    char **events;
    unsigned machines_count, events_count;
    bool first; /* one of those that are offered first */
    bool pin;   /* one core per worker */
    struct experiment_part *parts;
    unsigned parts_count;
    char *path;               /* of the file */
    struct sweep_file num;    /* reps to seed, as in a sweep file; nothing else of it is set */
    struct sweep_file native; /* min_time_ms, min_time_given and warmup there */
};

#endif
