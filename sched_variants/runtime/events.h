/* events.h - what a scheduler does, one event each, for machines that keep record of it
 * (sched_event() in g.h). Natively an event is nothing, not even an instruction.
 *
 * Each has an M, the P that the M holds if any, the G that it is about if any, and up to two
 * arguments. A G's number may serve another G after it has ended.
 */
#ifndef SCHEDLAB_EVENTS_H
#define SCHEDLAB_EVENTS_H

/* X(NAME, first argument, second one); "": there is none. First those about a G: without one they
 * do not happen. */
#define SCHED_EVENTS_OF_GS(X)                                                                      \
    X(CREATED, "", "")                                                                             \
    X(READIED, "how", "")        /* enum ready_how */                                              \
    X(PUT, "into", "worker")     /* into a queue: enum sched_queue, and whose if another's */      \
    X(TAKEN, "from", "victim")   /* out of one: enum sched_source, and whose */                    \
    X(DISPATCHED, "inherit", "") /* 1: in the slice of the G before, so that schedtick stays */    \
    X(PARKED, "why", "")         /* enum wait_reason */                                            \
    X(ENDED, "", "")                                                                               \
    X(CALL_BEGUN, "", "") /* a blocking one */                                                     \
    X(CALL_OVER, "", "")                                                                           \
    X(CALLED, "", "")        /* a child as a function: fj_call() */                                \
    X(CALL_RETURNED, "", "") /* the newest of these */                                             \
    X(STALLED, "", "")       /* at a sync, for a child that has not returned */                    \
    X(SYNCED, "", "")        /* it comes to a sync, where it may have to wait */                   \
    X(RETURNED, "", "")      /* from its function */                                               \
    X(JOINED, "", "") /* it leaves the region in which it forked: all children have returned */

#define SCHED_EVENTS_OF_MS(X)                                                                      \
    X(STOLEN, "gs", "runnext") /* so many; 1: out of another's runnext */                          \
    X(MOVED, "gs", "")         /* so many more from the global queue into its own */               \
    X(OVERFLOWED, "gs", "")    /* so many from its full one to the global; b: 1: the newest */     \
    X(SPUN, "", "")            /* began to search */                                               \
    X(FOUND_NOTHING, "", "")   /* in a search through all others' queues */                        \
    X(SLEPT, "", "")           /* is about to */                                                   \
    X(WOKEN, "m", "")          /* another M, by this one */                                        \
    X(THREAD_STARTED, "m", "") /* of another M */                                                  \
    X(P_TAKEN, "p", "")        /* the M has it now */                                              \
    X(P_IDLED, "p", "")        /* nobody has it now */                                             \
    X(P_HANDED_OFF, "p", "")   /* its M is in a call: others may have it */                        \
    X(PREEMPT_ASKED, "m", "")  /* another M, to end its G's slice */                               \
    X(TASKS_PUBLISHED, "tasks", "") /* so many, for thieves: forkjoin.h */                         \
    X(TASK_TAKEN_BACK, "", "")      /* a public one, by its owner */                               \
    X(TASK_STOLEN, "victim", "")    /* or a linked frame, of that M */

/* Events about a child that is no G (FJ_HELP). In place of a G they have its record's address,
 * which serves another child after this one has returned. */
#define SCHED_EVENTS_OF_TASKS(X)                                                                   \
    X(TASK_SPAWNED, "", "")                                                                        \
    X(TASK_BEGUN, "as", "") /* enum sched_task: a claimed one does not return by an event */       \
    X(TASK_RETURNED, "", "")                                                                       \
    X(TASK_DONE, "", "") /* and its parent has been told */

enum sched_event {
#define SCHED_EVENT_ID(name, first, second) SCHED_##name,
    SCHED_EVENTS_OF_GS(SCHED_EVENT_ID) SCHED_EVENTS_OF_MS(SCHED_EVENT_ID)
        SCHED_EVENTS_OF_TASKS(SCHED_EVENT_ID)
#undef SCHED_EVENT_ID
            SCHED_EVENT_COUNT,
    SCHED_EVENT_FIRST_OF_MS = SCHED_STOLEN,
    SCHED_EVENT_FIRST_OF_TASKS = SCHED_TASK_SPAWNED
};

/* Where a G is put. */
enum sched_queue { INTO_RUNNEXT, INTO_LOCAL, INTO_GLOBAL, INTO_WORKER };

/* Where a G is taken from. FROM_TICK: the global queue, because schedtick said so. */
enum sched_source { FROM_RUNNEXT, FROM_LOCAL, FROM_GLOBAL, FROM_TICK, FROM_VICTIM };

/* As what a task begins: its parent runs it, a thief does, or it was claimed (fj_claim()). */
enum sched_task { AS_OWN, AS_STOLEN, AS_CLAIMED };

#endif
