/* events.h - what a scheduler does, one event each, for machines that keep record of it
 * (sched_event() in g.h). Natively an event is nothing, not even an instruction.
 *
 * Each has an M, the P that the M holds if any, the G that it is about if any, and up to two
 * arguments. A G's number may serve another G after it has ended.
 */
#ifndef SCHEDLAB_EVENTS_H
#define SCHEDLAB_EVENTS_H

/* X(NAME, what the M does, first argument, second one). "": there is none. First those about a G:
 * without one they do not happen. */
#define SCHED_EVENTS_OF_GS(X)                                                                      \
    X(CREATED, "creates", "", "")                                                                  \
    X(READIED, "readies", "how", "")                                                               \
    X(TAKEN, "takes", "from", "victim")                                                            \
    X(DISPATCHED, "runs", "inherit", "")                                                           \
    X(PARKED, "parks", "why", "")                                                                  \
    X(ENDED, "ends", "", "")                                                                       \
    X(CALL_BEGUN, "blocks", "", "")                                                                \
    X(CALL_OVER, "returns", "", "")                                                                \
    X(STALLED, "stalls", "", "")

/* X(NAME, what the M does, first argument, second one) */
#define SCHED_EVENTS_OF_MS(X)                                                                      \
    X(STOLEN, "steals", "gs", "runnext")                                                           \
    X(MOVED, "moves in", "gs", "")                                                                 \
    X(OVERFLOWED, "moves out", "gs", "")                                                           \
    X(SPUN, "spins", "", "")                                                                       \
    X(FOUND_NOTHING, "finds none", "", "")                                                         \
    X(SLEPT, "sleeps", "", "")                                                                     \
    X(WOKEN, "wakes", "m", "")                                                                     \
    X(THREAD_STARTED, "starts", "m", "")                                                           \
    X(P_TAKEN, "gets", "p", "")                                                                    \
    X(P_IDLED, "idles", "p", "")                                                                   \
    X(P_HANDED_OFF, "hands off", "p", "")                                                          \
    X(PREEMPT_ASKED, "preempts", "m", "")                                                          \
    X(TASKS_PUBLISHED, "publishes", "tasks", "")                                                   \
    X(TASK_TAKEN_BACK, "takes back", "", "")                                                       \
    X(TASK_STOLEN, "steals task", "victim", "")

enum sched_event {
#define SCHED_EVENT_ID(name, does, first, second) SCHED_##name,
    SCHED_EVENTS_OF_GS(SCHED_EVENT_ID) SCHED_EVENTS_OF_MS(SCHED_EVENT_ID)
#undef SCHED_EVENT_ID
        SCHED_EVENT_COUNT,
    SCHED_EVENT_FIRST_OF_MS = SCHED_STOLEN
};

/* Where a G is taken from. X(NAME, word) */
#define SCHED_SOURCES(X)                                                                           \
    X(RUNNEXT, "runnext")                                                                          \
    X(LOCAL, "its own queue")                                                                      \
    X(GLOBAL, "the global queue")                                                                  \
    X(TICK, "the global queue, because schedtick said so")                                         \
    X(VICTIM, "another's queue")

enum sched_source {
#define SCHED_SOURCE_ID(name, word) FROM_##name,
    SCHED_SOURCES(SCHED_SOURCE_ID)
#undef SCHED_SOURCE_ID
        SCHED_SOURCE_COUNT
};

#endif
