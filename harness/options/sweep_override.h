/* sweep_override.h - options that replace settings of a sweep file, such as --reps.
 *
 * Callers: sweep, audit and compare, which all read a sweep file.
 */
#ifndef SCHEDLAB_SWEEP_OVERRIDE_H
#define SCHEDLAB_SWEEP_OVERRIDE_H

#include "harness/plan/sweep_file.h"

#include <stdint.h>

/* In the units of struct sweep_file; -1: as the file says. */
struct sweep_override {
    int64_t reps, reps_max, width, timeout_s, seed;
};

#define SWEEP_OVERRIDE_NONE                                                                        \
    {                                                                                              \
        .reps = -1, .reps_max = -1, .width = -1, .timeout_s = -1, .seed = -1                       \
    }

/* Puts the options into the sweep. reps without reps_max sets both. class_min becomes reps at most,
 * so that fewer samples are measured if fewer are wanted. A seed is drawn if neither side has one.
 * Numbers that contradict one another: cli_misuse(). */
void sweep_file_override(const struct sweep_override *override, struct sweep_file *sweep);

#endif
