/* knobs.h - the knobs over all variants: who has one, and to which group it belongs.
 *
 * Callers: figures, list and sample.c. Nothing is owned by the caller.
 */
#ifndef SCHEDLAB_SPEC_KNOBS_H
#define SCHEDLAB_SPEC_KNOBS_H

#include "harness/base/error.h"

#include "sched.h"

/* The variant that shows the knob, or the setting common to all variants, best: the one with most
 * knobs beside it; NULL if no variant has it. */
const struct sched_ops *knob_owner(const char *key);

/* The knob as its owner has it, or a setting common to all variants; NULL if there is none. */
const struct param *knob_find(const char *key);

/* True, and the reason, if a setting goes by the places of workers, which only pinned ones have. */
bool knob_by_place(const struct param *table, const void *knobs, struct error *why);

/* "queues" */
const char *knob_group_name(enum knob_group group);

#endif
