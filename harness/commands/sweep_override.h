/* sweep_override.h - what the command line says in place of a sweep file: --reps and its like.
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

/* The value of --option, in the range of the file's key. Outside of it: cli_misuse(). */
int64_t sweep_override_number(const char *command, const char *option, const char *key,
                              const char *text);

/* Puts it into the sweep. reps without reps_max is both. No more samples of the most common mood
 * are asked for than reps, so that fewer are measured where fewer are wanted. A seed is drawn if
 * neither side has one. Numbers that contradict one another: cli_misuse(). */
void sweep_file_override(const char *command, const struct sweep_override *override,
                         struct sweep_file *sweep);

#endif
