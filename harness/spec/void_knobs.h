/* void_knobs.h - knobs that change nothing while others have certain values (struct param_moot).
 *
 * Callers: spec.c, which refuses such knobs, and registry_check.c. No library but C's.
 */
#ifndef SCHEDLAB_VOID_KNOBS_H
#define SCHEDLAB_VOID_KNOBS_H

#include "param.h"

#include <stdbool.h>
#include <stddef.h>

/* A knob that differs from its default but changes nothing, and why; param NULL: there is none. */
struct void_knob {
    const struct param *param;
    const struct param_moot *row;
};

/* The first one among the values at owner, which the table describes. rows may be NULL. */
struct void_knob void_knob_find(const struct param_moot *rows, const struct param *table,
                                void *owner);

/* "runnext=off", as it is at owner: the setting with which row's knobs change nothing; returns
 * text. */
char *void_knob_when_text(const struct param_moot *row, const struct param *table, void *owner,
                          char *text, size_t text_size);

/* True if the table has all keys and words that the row names. If not, lacks has the first missing
 * one, as "key" or "key=word". */
bool void_knob_row_fits(const struct param_moot *row, const struct param *table, char *lacks,
                        size_t lacks_size);

#endif
