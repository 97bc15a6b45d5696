/* comparable.h - which samples of a cell are compared: undisturbed ones of one core distance.
 *
 * Callers: tables.c, compare.c and export.c, with records; stopping_rule.c, with notes of
 * samples; report_data.c, with the words of the tables.
 *
 * A cell with several workers is judged by its samples at the run's most common core distance,
 * without those that are marked as disturbed, if at least CLASS_MIN remain; else by all of them. A
 * cell with one worker, or without probes, has no core distance, and is judged by its unmarked
 * samples likewise. So all cells of a run are compared like with like, or say that they are not.
 */
#ifndef SCHEDLAB_COMPARABLE_H
#define SCHEDLAB_COMPARABLE_H

#include "harness/evidence/core_distance.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { CLASS_MIN = 3 };

enum cell_class {
    CLASS_ALL,
    CLASS_QUIET, /* those without marks */
    CLASS_NEAR,  /* those without marks, measured while the cores were near */
    CLASS_FAR,
    CLASSES
};

struct comparable {
    struct core_distances distances;
    enum core_distance
        common; /* near or far, whichever more samples lie in; DISTANCE_NONE: no probes */
};

/* Learns from an array of records: those that are ok, have several workers, and are samples of
 * blocks, as in stopping_rule.h. So distances are judged here as they were when samples were added.
 * If there are none of blocks, all records count. */
void comparable_learn(struct comparable *classes, const json_t *records);

/* The core distance of a record; DISTANCE_NONE with one worker or without probes. */
enum core_distance comparable_distance(const struct comparable *classes, const json_t *record);

/* True if the record bears a mark: stolen, robbed or throttled beyond the threshold. */
bool comparable_is_marked(const json_t *record);

/* True if the time stolen from the sample is unknown, so that it would bear no mark for it. */
bool comparable_steal_is_unknown(const json_t *record);

/* The round trip of a cache line "before" or "after" the sample; NAN if it was not measured. */
double comparable_probe_ns(const json_t *record, const char *when);

/* The geometric mean of the two probes, or the only one, or NAN. */
double comparable_line_ns(const json_t *record);

/* True if a sample that is ok belongs to the class. */
bool class_holds(enum cell_class which, enum core_distance distance, bool marked);

/* The samples of a cell that are ok: how many each class holds, and how many there are of each
 * core distance, marked or not. All zero at first. */
struct class_counts {
    size_t held[CLASSES];
    size_t distances[DISTANCE_MIXED + 1];
};
void class_count_add(struct class_counts *counts, enum core_distance distance, bool marked);

/* True if at least one sample was near, far or in between. */
bool class_counts_have_distances(const struct class_counts *counts);

/* The class behind the numbers of a cell by itself; `common` is the run's most common distance. */
enum cell_class class_of_cell(const struct class_counts *counts, enum core_distance common);

/* The class in which some cells are compared with one another. */
struct class_choice {
    enum cell_class chosen;
    bool unlike;  /* though each cell has enough samples, they are of several distances, and no
                   * class has enough of each: a comparison would show what the machine did */
    bool partial; /* some have distances and some have none */
};

/* Near or far, if each cell with distances has CLASS_MIN samples there. `preferred` is chosen if
 * possible, unless it is DISTANCE_NONE; else the class whose smallest count is larger. If no cell
 * has distances, the quiet class likewise. Else all. */
struct class_choice class_choose(const struct class_counts *cells, size_t count,
                                 enum core_distance preferred);

/* The class of one cell within the choice: one without distances gives its quiet samples to any. */
enum cell_class class_within(enum cell_class chosen, const struct class_counts *counts);

/* "all", "quiet", "near", "far"; and the other way round, CLASS_ALL for other words and NULL. */
const char *class_text(enum cell_class which);
enum cell_class class_of_text(const char *text);

#endif
