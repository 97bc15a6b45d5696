/* latency_view.h - a group that asks about latency, as its card and its pins show it.
 *
 * Callers: report_answers.c and report_pins.c.
 */
#ifndef SCHEDLAB_LATENCY_VIEW_H
#define SCHEDLAB_LATENCY_VIEW_H

#include "harness/answers/report_verdict.h"

struct latency_view {
    struct report_group tails, middles;
    struct verdict *of_tails, *of_middles;
    size_t count; /* of each */
    bool is_tail; /* the tails are shown; else the middles: some variant has too few for a tail */
};

/* latency_view_free() it. */
struct latency_view latency_view_make(const struct report *report,
                                      const struct report_group *group);
void latency_view_free(struct latency_view *view);

/* The group that is shown, and its verdicts. */
const struct report_group *latency_view_group(const struct latency_view *view);
const struct verdict *latency_view_verdicts(const struct latency_view *view);

/* Makes the multiples of a pinned group of inverse latencies those of latencies, as `schedlab
 * compare --metric p99` has them. */
void latency_view_multiples(struct report_group *pinned);

#endif
