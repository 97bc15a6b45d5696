/* hunt_perfetto.h - the schedule of an execution as a file for ui.perfetto.dev, as `schedlab trace`
 * writes one: tracks of workers, what they ran, steals, wake-ups, lengths of queues. */
#ifndef SCHEDLAB_HUNT_PERFETTO_H
#define SCHEDLAB_HUNT_PERFETTO_H

#include "harness/hunter/hunt_trace.h"

/* Makes the execution of campaign->plan once more, and prints its schedule on standard output.
 * False, and one line on standard error, if it does not end as it did before. */
bool hunt_perfetto_print(const struct hunt_shown *shown, struct campaign *campaign);

#endif
