/* hunt_perfetto.h - the schedule of an execution as a file for ui.perfetto.dev, as `schedlab trace`
 * writes one: tracks of workers, what they ran, steals, wake-ups, lengths of queues. */
#ifndef SCHEDLAB_HUNT_PERFETTO_H
#define SCHEDLAB_HUNT_PERFETTO_H

#include "harness/commands/hunt_what.h"

/* Texts are canonical. */
struct hunt_shown {
    const char *command;
    const struct variant_spec *variant;
    const struct workload_spec *workload;
    int64_t seed;
};

/* False and one line in error if events do not tell what the variant does. */
bool hunt_perfetto_can_show(const struct variant_spec *variant, char *error, size_t error_size);

/* Makes the execution of campaign->plan once more, and prints its schedule on standard output.
 * False, and one line on standard error, if it does not end as it did before. */
bool hunt_perfetto_print(const struct hunt_shown *shown, struct campaign *campaign);

#endif
