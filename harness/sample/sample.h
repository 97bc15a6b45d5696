/* sample.h - one sample, measured in this process.
 *
 * Callers: `schedlab sample` (cmd_sample.c), once in the life of the process, on its first
 * thread. A broken invariant or a crash ends the process; child.c, the parent, makes a record of
 * that.
 */
#ifndef SCHEDLAB_SAMPLE_H
#define SCHEDLAB_SAMPLE_H

#include "harness/base/error.h"
#include "harness/records/sample_request.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    /* Reading counters and checking answers may take far longer than the calls themselves. After so
     * many times min_time_ns of wall time, min_time_ns is given up, and the record says so. */
    SAMPLE_LIMIT_FACTOR = 20,
    /* With brief_ns it is given up sooner, after so many calls that took less than a half of it. */
    SAMPLE_BRIEF_CALLS = 1000,
    SAMPLE_BETWEEN_PERCENT = 2, /* see sample_counts_whole() */
};

/* True if events are read once around all timed calls, not around each. warmup_ns is the time of
 * the untimed calls, between_ns the time between them. Reading counters takes tens of microseconds,
 * in which the other workers fall asleep; waking them is part of the next call. So events are read
 * once if almost nothing lies between calls. Otherwise they are read around each call, so that
 * checks of answers are not counted. */
bool sample_counts_whole(int64_t warmup_ns, int64_t between_ns);

/* Measures and returns the whole record: status ok, failed or skipped. request must hold valid
 * specifications; NULL and one line in error if it does not. */
json_t *sample_measure(const struct sample_request *request, struct error *error);

#endif
