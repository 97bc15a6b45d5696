/* presets.c - see preset.h; sched_variants/README.md says more of what the presets leave out.
 *
 * A preset has three settings or more, so that few specifications are one by chance.
 */
#include "preset.h"

#include <stddef.h>

/* Go's ways where gmp departs from Go: sched_variants/README.md. In 1.14 thieves looked at each P,
 * idle or not. In 1.1 nothing ended a slice, all timers had one heap, and thieves looked at twice
 * as many random Ps as there are. */
#define GO "look_ns=0,fence=submitter,poll_round=ms"

/* Tokio's multi-threaded scheduler has gmp's structure. A ring of 256 overflows by half, and a slot
 * holds the newest task. An injection queue comes first every 61st time and otherwise gives len / P
 * + 1. Thieves take half. At most half as many workers search as there are. The knobs below say
 * what differs from gmp's defaults. The slot's tasks run three times in a row at the most. Thieves
 * go once round all workers, from a random one on. Yielding tasks, and tasks that I/O makes ready,
 * queue locally. block_in_place() hands the worker on at once. Nothing ends a slice. */
#define TOKIO                                                                                      \
    "runnext_cap=3,victim=rotate,passes=1,yield=local,netpoll_place=local,calls=immediate,"        \
    "preempt=none"

/* A pool for fork/join: any number of workers search, nobody watches slices or calls, there is no
 * poller, and tasks from outside never come first. */
#define POOL "spinners=all,tick=0,preempt=none,calls=none,netpoll=call"

const struct preset presets[] = {
    {"go1.1", "gmp",
     GO ",runnext=off,idle_mask=off,victim=random,passes=2,timers=global,preempt=none",
     "Go 1.1: the first with Ps, without runnext and without an end of a slice", "[Vyukov12]",
     "A ring that grows; it is 256 here. A thread for timers. A stop of the world"},
    {"go1.14", "gmp", GO ",idle_mask=off",
     "Go 1.14: signals end slices, timers are the Ps', thieves look at idle Ps", "[Go1.14]",
     "Timers that are marked when they change, and moved later. Sleeps of sysmon between 1.14 and "
     "1.26 differ in detail"},
    {"go1.26", "gmp", GO, "Go 1.26: gmp with Go's ways where the two differ", "[Go1.26]",
     "The departures of gmp from Go that have no knob (sched_variants/README.md), the collector"},
    {"tokio-1.50", "gmp", TOKIO ",backoff_ns=never,runnext_wake=off",
     "Tokio up to 1.50: a private LIFO slot, which wakes nobody", "[Tokio5712] [Tokio7431]",
     "A look at the queue for all whose distance is tuned, a budget of operations for a poll, "
     "yields that wait for the driver"},
    {"tokio-1.51", "gmp", TOKIO ",backoff_ns=0",
     "Tokio 1.51.0: thieves may take the LIFO slot, and are woken for it",
     "[Tokio5712] [Tokio7431]", "As of tokio-1.50"},
    {"rayon", "tasksteal", POOL, "Rayon: join() queues one half, and helps while it waits",
     "[Rayon]",
     "Steals before a look at tasks from outside. A count of jobs that says when to sleep. One "
     "deque for all kinds of tasks. At most 32 rounds of search"},
    {"cilk5", "contsteal", POOL ",wake=all,spin_ns=1000000000,deque=the,join=lock",
     "Cilk-5: the child runs, its parent can be stolen, workers search for ever", "[Frigo98]",
     "Frames in the heap, and a fast and a slow clone of each function"},
    {"kotlin", "permits", "spinners=all,calls=immediate,returns=queue,preempt=none",
     "Kotlin's CoroutineScheduler: calls give their permit away at once and queue for another",
     "[Kotlin]",
     "Tasks that are known to block before they begin, their queue for all, and thieves without a "
     "permit that take these alone: the hunt's scenario `cpu_permits` has them. A signal for each "
     "task, "
     "whoever searches. Threads that end after a minute without work"},
    {"beam", "gmp",
     "runnext=off,ring=65536,yield=local,steal=one,spinners=all,preempt=coop,slice_ns=1000000",
     "BEAM: a run queue per scheduler, and slices that end where code counts", "[BEAM]",
     "Reductions, for which a slice of 1 ms stands. Priorities, migration by a balancer, dirty "
     "schedulers for calls that block, heaps of their own for processes"},
    {"percore", "static", "mailbox=mpsc,deal=main,preempt=none",
     "a thread per core: mailboxes between cores, nothing is stolen, tasks run to their end",
     "[Enberg19]",
     "A ring with a bound for each pair of cores. Cores that poll: these sleep. Data of a core's "
     "own, and messages in place of locks: workloads are as they are"},
    {"swift", "grq", "calls=none,preempt=none,timers=global,netpoll=thread",
     "Swift's cooperative pool: one queue, as many threads as cores, whatever blocks", "[Swift]",
     "Priorities, each with a queue. Actors, whose jobs run in turn. Threads that dispatch adds "
     "outside of the pool"},
    {"tbb", "tasksteal", POOL ",wake=all",
     "oneTBB: new work asks for all workers, who steal the oldest task", "[TBB]",
     "Arenas and their shares of workers, mailboxes for affinity, priorities, critical tasks. "
     "Deques that have a lock for thieves"},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};
