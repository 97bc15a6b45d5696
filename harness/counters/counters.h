/* counters.h - counts events over the timed iterations of one sample, through PAPI alone.
 *
 * Callers: sample.c. In this order:
 *
 *   counters_new()             first thread, before any M exists
 *   counters_bind()            once the scheduler exists
 *   counters_thread_started()  each M's thread, before its first G; and _stopping() at its end
 *   counters_begin() ... counters_end()   around each timed iteration, or around all of them; any
 *                              thread, main goroutine
 *   counters_finish()          after the last M has ended, on the first thread
 *   counters_to_json()         thereafter
 *
 * Limits of PAPI, and their consequences
 *   - A thread can run one EventSet per component. Attaching sets to other threads does not help,
 *     since the limit is on the thread that created the set. So each M creates and starts its own.
 *   - Any thread can read any EventSet, as long as PAPI reads by system call. With rdpmc, PAPI
 *     would read the reader's own registers instead, so fast reading is switched off.
 *   - Software-defined events are of the process: on the first thread, in one EventSet if they fit.
 *   - Event counts of one set form one group of the kernel, which is on the PMU as a whole or
 *     fails. Nothing is multiplexed: a trial at the start finds how to part the events into sets
 *     that fit, each event into the first set with room, and a sample counts one of the sets. The
 *     events of the others are absent in it, with the reason COUNTERS_ELSEWHERE; other samples of
 *     the cell have them.
 *   - Threads that come and go (thread per G) would pay for their own sets, so there one set of the
 *     first thread is inherited by all its descendants.
 *   - Setting the domain or the inheritance of a set makes PAPI open a hardware event as a trial.
 *     The domain is therefore set for the whole component; but without a PMU nothing can be
 *     inherited.
 *
 * count(event) = sum over threads and iterations of (value at end - value at begin), where a thread
 * that starts inside an iteration has 0 at begin. An event that failed anywhere is absent: there
 * are no partial sums.
 */
#ifndef SCHEDLAB_COUNTERS_H
#define SCHEDLAB_COUNTERS_H

#include "harness/base/error.h"
#include "harness/counters/papi_api.h"
#include "stats.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counters;

/* The reason of an event that is in another set than the one this sample counts. */
#define COUNTERS_ELSEWHERE "counted in another sample of this cell"

enum { COUNTERS_PER_M_MAX = 64 }; /* with more Ms, their values are not kept beside the sum */

/* The source from which the scheduler's own events are read. */
struct counters_source {
    uint64_t (*read)(void *arg, enum stat_id which); /* any thread; from counters_bind() on */
    /* Why this one is not counted in this run, or NULL. Static storage. */
    const char *(*absent)(void *arg, enum stat_id which);
    /* Optional. Writes the values of the first `max` Ms, in the order of their start, and returns
     * how many Ms there are; 0 where Ms are not workers. */
    size_t (*read_each)(void *arg, enum stat_id which, uint64_t *values, size_t max);
    /* With read_each: the counts of threads that are no Ms. */
    uint64_t (*read_rest)(void *arg, enum stat_id which);
    void *arg;
};

enum counters_threads {
    COUNTERS_PER_THREAD, /* each M has an EventSet */
    COUNTERS_INHERITED,  /* one EventSet, inherited by every thread */
};

/* events: see counter_names_split(). NULL and one line in error only for a malformed list; an event
 * that cannot be counted becomes absent, also if there is no PAPI at all. */
struct counters *counters_new(const struct papi_api *api, const char *events,
                              enum counters_threads threads, struct error *error);
void counters_free(struct counters *counters);

/* How many sets the events of threads are parted into; 1 if they fit together, 0 if there are
 * none. */
size_t counters_set_count(const struct counters *counters);

/* Chooses the set that counts: number modulo how many there are. Before counters_bind(); 0 by
 * default. */
void counters_choose_set(struct counters *counters, size_t number);
size_t counters_chosen_set(const struct counters *counters);

/* The least number of descriptors that so many threads have open for the chosen set. */
uint64_t counters_descriptors(const struct counters *counters, int threads);

/* source NULL: there is no scheduler, its events are absent. source must outlive the counters. */
void counters_bind(struct counters *counters, const struct counters_source *source);

/* key tells threads apart (the M); unique among those alive. */
void counters_thread_started(struct counters *counters, const void *key);
void counters_thread_stopping(struct counters *counters, const void *key);

void counters_begin(struct counters *counters);
void counters_end(struct counters *counters);

/* Reads the counts that threads give only when they end (COUNTER_RUN). ops: of all calls, the
 * untimed ones included. Without counters_bind() before it, all events are absent. */
void counters_finish(struct counters *counters, uint64_t ops);

/* [{name, source, value, per_op, per_m} or {name, source, absent}], in the order of the list. A
 * peak has no per_op. An event that is not counted per M has no per_m; one of a simulated machine
 * has per_core in its place. */
json_t *counters_to_json(const struct counters *counters, uint64_t ops);

/* [{name, source, help} or {name, source, help, absent}]: the events that can be counted on the
 * calling thread, though perhaps not all at once. */
json_t *counters_describe(const struct counters *counters);

/* True if events inside the kernel are counted too; false without PAPI. */
bool counters_count_kernel(const struct counters *counters);

#endif
