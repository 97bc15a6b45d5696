/* jobs.h - processes that share the executions of a campaign.
 *
 * Job j of N takes the executions j, j + N, j + 2N... Each tells its parent about every one, and
 * the parent goes through them in the order of their numbers, up to the first that failed. So
 * counts, and which execution is the one that failed, do not depend on N.
 *
 * A job learns for itself which words are shared: an execution is then the same in every job. If
 * one dies, that is how the execution ended on which it was.
 *
 * Callers: harness/hunter/hunt_main.c, on the process's own stack.
 */
#ifndef SCHEDLAB_HUNT_JOBS_H
#define SCHEDLAB_HUNT_JOBS_H

#include "harness/hunt/campaign.h"

#include <stdio.h>

/* Runs until something fails or a limit is reached. jobs 0: one for each processor. */
void jobs_run(struct campaign *campaign, int jobs);

/* The execution of campaign->plan alone. failure is NULL if it ended well. */
void jobs_replay(struct campaign *campaign);

/* campaign_minimise(), in a process of its own: nothing has changed if that dies. */
bool jobs_minimise(struct campaign *campaign, int most);

/* Makes the execution of campaign->plan once more, in a process of its own, which calls tell()
 * behind it: the machine has kept the scheduler's events. Returns what that wrote, to be closed;
 * NULL if the process died, or the execution did not end as campaign->failure did. */
FILE *jobs_tell(struct campaign *campaign,
                void (*tell)(FILE *to, const struct hunt_outcome *outcome));

#endif
