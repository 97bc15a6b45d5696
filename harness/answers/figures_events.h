/* figures_events.h - chooses the counted events that a figure shows.
 *
 * Callers: figures.c.
 */
#ifndef SCHEDLAB_FIGURES_EVENTS_H
#define SCHEDLAB_FIGURES_EVENTS_H

#include "harness/answers/report_data.h"

/* The names of the events for the figure of a group, separated by spaces. Counters of the knobs
 * that the group's specifications name come first; if the group asks for counts, so do those of its
 * variants. Other events follow in the order of the file. NULL if no event is worth a figure.
 * free() it. */
char *figures_events_choose(const struct report *report, const struct report_group *group);

/* The names of the scheduler's own counters, separated by spaces, in which a knob, a setting
 * common to all variants, or a variant acts first; NULL if it is not known. */
const char *figures_own_counters(const char *name);

#endif
