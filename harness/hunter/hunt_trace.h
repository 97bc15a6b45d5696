/* hunt_trace.h - an execution made once more, as a trace: what its scheduler said, and the switches
 * between. */
#ifndef SCHEDLAB_HUNT_TRACE_H
#define SCHEDLAB_HUNT_TRACE_H

#include "harness/base/error.h"
#include "harness/hunter/hunt_what.h"
#include "harness/trace/trace.h"

/* Texts are canonical. */
struct hunt_shown {
    const struct variant_spec *variant;
    const struct workload_spec *workload;
    int64_t seed;
};

struct hunt_trace {
    struct trace_page page;
    struct hunt_switch *switches;
    size_t switch_count;
    char *machine; /* of the page */
};

/* False if events do not tell what the variant does. */
bool hunt_trace_can_show(const struct variant_spec *variant);

/* Makes the execution of campaign->plan; free it. False and one line in error if it does not end
 * as it did before. */
bool hunt_trace_make(struct hunt_trace *trace, const struct hunt_shown *shown,
                     struct campaign *campaign, struct error *error);
void hunt_trace_free(struct hunt_trace *trace);

#endif
