/* sweep_kinds.h - holds each comparison of a sweep to one kind of processor.
 *
 * Callers: sweep_run.c, with each native record that it reads back; sweep_fetch.c, with each that
 * it takes from a folder of results. Before it measures anything, that calls with all that such a
 * folder has and lacks; then before it measures a native cell itself. merge.c calls with each
 * record that it joins.
 *
 * Numbers of two kinds of processors are not compared with one another. If native samples of one
 * comparison come, or would come, from unlike ones, that is an error, unless `mix` allows it. A
 * comparison is all of a group, and of the groups that share a comparison set (plan.h) with it. A
 * set has one number of workers, but speed-up and efficiency divide by one worker, so they lie
 * across sets.
 */
#ifndef SCHEDLAB_SWEEP_KINDS_H
#define SCHEDLAB_SWEEP_KINDS_H

#include "harness/base/error.h"
#include "harness/plan/plan.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct sweep_kinds {
    bool mix;
    size_t sets;
    size_t *comparison; /* of each set: a set that stands for its comparison, the same for all */
    const char **known; /* of each comparison: the processor of its native samples; NULL: none */
    const struct cell **lacking; /* of each: a native cell to be measured; NULL: none is */
    json_t *names;               /* those of processors, as keys */
};

void sweep_kinds_begin(struct sweep_kinds *kinds, const struct plan *plan, bool mix);
void sweep_kinds_end(struct sweep_kinds *kinds);

/* Notes a sample of the cell. False, and one line in error, if it is of another kind than those of
 * its comparison before. unnamed is the processor of samples that name none (sweep_origin_cpu());
 * with "" or "unknown" they do not count, and records without a sample do not either. */
bool sweep_kinds_note(struct sweep_kinds *kinds, const struct cell *cell, const json_t *record,
                      const char *unnamed, struct error *error);

/* True if this machine may measure the native cell; else one line in error. */
bool sweep_kinds_may_measure(struct sweep_kinds *kinds, const struct cell *cell,
                             struct error *error);

/* Notes that a sample of the native cell is still to be measured. */
void sweep_kinds_lack(struct sweep_kinds *kinds, const struct cell *cell);

/* True if the missing samples can come from the kind of processor that their comparison's samples
 * come from. With `here` that is this machine; else *kind names it, NULL if any will do. Missing
 * samples that are compared with none so far come from the kind of all samples, if that is one.
 * Else one line in error. */
bool sweep_kinds_foresee(struct sweep_kinds *kinds, bool here, const char **kind,
                         struct error *error);

#endif
