/* events.h - what schedulers say they do, machine_event(), as the simulated machine records it.
 *
 * A hash of all events and their times is always made: two runs that are the same to the last
 * picosecond have the same one. The events themselves are kept if somebody asks before sim_run().
 */
#ifndef SCHEDLAB_SIM_EVENTS_H
#define SCHEDLAB_SIM_EVENTS_H

#include <stddef.h>
#include <stdint.h>

struct sim_sched_event {
    int64_t when_ps; /* virtual time */
    int64_t g;       /* this and those below as machine_event() got them */
    int32_t m, p, a, b;
    uint32_t site; /* as sim_event_site() said; 0: none */
    uint8_t kind, core;
};

/* Says where an event that is kept comes from, by a number of the caller's; called on the stack of
 * whoever does it, outside virtual time. NULL: nobody asks. Set before sim_run(). */
extern uint32_t (*sim_event_site)(void);

/* Hears of each event, of requests and of names of locks, on the stack of whoever tells, outside
 * virtual time. */
struct sim_listener {
    void (*event)(const struct sim_sched_event *event);
    void (*request)(int32_t kind, int64_t due_ns, int64_t end_ns); /* of the running goroutine */
    void (*lock_name)(const void *lock, const char *name);
};
void sim_events_listen(const struct sim_listener *listener); /* NULL: nobody does */

/* Keep the first `most` events from now on; the memory is the host's and grows as they come. Once
 * in the life of the process; it never forgets them. */
void sim_events_keep(size_t most);

/* The events kept, in the order in which they happened on the host, which is that of virtual time
 * but for the lookahead; *count is how many. NULL if there are none. */
const struct sim_sched_event *sim_events_kept(size_t *count);

uint64_t sim_events_count(void); /* of all, kept or not */
uint64_t sim_events_hash(void);  /* of all, kept or not */

#endif
