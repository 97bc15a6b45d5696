/* stats.h - what the scheduler counts about itself, published as PAPI events sde:::schedlab::NAME.
 *
 * Each M has its own array and is its only writer; readers add the arrays up. Relaxed loads and
 * stores are enough: a counter orders nothing, and a sum is exact once the Ms rest.
 */
#ifndef SCHEDLAB_STATS_H
#define SCHEDLAB_STATS_H

#include <stdatomic.h>
#include <stdint.h>

/* X(NAME, how to merge over Ms: SUM or MAX, help) */
#define STATS(X)                                                                                   \
    X(GS_CREATED, SUM, "goroutines created")                                                       \
    X(GS_LOCKS, SUM, "visits to the list of ended goroutines that all threads share")              \
    X(DISPATCHES, SUM, "times a goroutine was put on a worker")                                    \
    X(LOCAL_HITS, SUM, "dispatches from the worker's own queue, without those from runnext")       \
    X(RUNNEXT_HITS, SUM, "dispatches from runnext")                                                \
    X(GRQ_HITS, SUM, "dispatches straight from the global queue")                                  \
    X(TICK_POLLS, SUM, "dispatches from the global queue because the knob tick said so")           \
    X(GRQ_LOCKS, SUM, "times the global queue's lock was taken")                                   \
    X(GRQ_LOCK_WAITS, SUM, "times the global queue's lock was found held")                         \
    X(GRQ_LOCK_SPINS, SUM, "rounds spent waiting for the global queue's lock")                     \
    X(OVERFLOWS, SUM, "times a local queue was full, and goroutines moved to the global queue")    \
    X(STEALS, SUM, "searches that found work in another's queue")                                  \
    X(STEALS_FAILED, SUM, "searches through all victims that found nothing")                       \
    X(STOLEN, SUM, "goroutines and tasks taken from others' queues")                               \
    X(VICTIM_PROBES, SUM, "others' queues looked into")                                            \
    X(VICTIMS_MISSED, SUM,                                                                         \
      "workers that a search in vain never looked at; only victim=random can miss one")            \
    X(RUNNEXT_STEALS, SUM, "goroutines stolen from another's runnext")                             \
    X(PARKS, SUM, "times a goroutine parked")                                                      \
    X(READIES, SUM, "times a parked goroutine was made runnable")                                  \
    X(YIELDS, SUM, "calls of gosched()")                                                           \
    X(MIGRATIONS, SUM, "dispatches on another worker (M) than the last time")                      \
    X(SPINS, SUM, "times an M began to spin in search of work")                                    \
    X(SPIN_ROUNDS, SUM, "searches made while spinning")                                            \
    X(BUSY_NS, SUM,                                                                                \
      "ns that workers (Ps) had a goroutine, in a blocking call too until the P is taken; the "    \
      "rest of their time they searched or had no M")                                              \
    X(SLEEPS, SUM, "times an M went to sleep")                                                     \
    X(WAKEUPS, SUM, "times a sleeping M was woken")                                                \
    X(FENCES_ALL, SUM,                                                                             \
      "times an M made all cores fence: to go to sleep, or to steal from a runnext")               \
    X(CALLS, SUM, "blocking calls")                                                                \
    X(CALLS_QUEUED, SUM, "blocking calls after which the goroutine found no P and was queued")     \
    X(HANDOFFS, SUM, "Ps taken or given away because of a blocking call")                          \
    X(LOCKED_STARTS, SUM, "times a goroutine locked to its thread was handed to it")               \
    X(SYSMON_ROUNDS, SUM, "looks of sysmon at all workers")                                        \
    X(SYSMON_LONG_NS, SUM, "ns that sysmon slept in its longest sleeps")                           \
    X(WASTED_SAMPLES, SUM,                                                                         \
      "looks of sysmon that found a P idle beside work that waits, of SYSMON_ROUNDS: an estimate " \
      "of SIM_WASTED_NS, on real threads")                                                         \
    X(PREEMPT_REQUESTS, SUM, "times a goroutine was asked to end its slice")                       \
    X(PREEMPTS, SUM, "slices ended by request")                                                    \
    X(PREEMPTS_SIGNAL, SUM, "slices ended by a signal")                                            \
    X(PREEMPTS_UNSAFE, SUM, "signals that found the goroutine at no safe point")                   \
    X(THREADS, SUM, "threads started for Ms, without those of the warm-up")                        \
    X(THREADS_PEAK, MAX, "most threads of Ms at once, with the first and those of the warm-up")    \
    X(POLLS, SUM, "looks at which descriptors have become ready")                                  \
    X(POLL_EVENTS, SUM, "events that these looks found")                                           \
    X(POLL_CTLS, SUM, "times a descriptor was registered with the poller or armed")                \
    X(TIMERS_ADDED, SUM, "sleeps, deadlines and timers put into a heap")                           \
    X(JOINS_STALLED, SUM, "fork/join syncs that found a child unfinished and waited")              \
    X(TASKS_STOLEN, SUM, "tasks, or parents resting in a spawn, taken by a thief")                 \
    X(DEQUE_MAX, MAX,                                                                              \
      "longest deque or ring, or else list; with fork/join tasks that are stolen and not yet "     \
      "joined")                                                                                    \
    X(LIVE_GS_PEAK, MAX,                                                                           \
      "most goroutines alive at once; exact at one worker, else up to 64 per worker off")          \
    X(UNSTARTED_GS_PEAK, MAX,                                                                      \
      "most goroutines created but not yet run at once; counted at one worker only")               \
    X(TASKS_LIVE_PEAK, MAX,                                                                        \
      "most fork/join tasks queued or running on a worker at once; debug builds only")             \
    X(STACKS_PEAK, MAX, "most goroutine stacks in use or in a worker's cache at once")             \
    X(STEALS_FAR, SUM,                                                                             \
      "of STEALS, those from a worker whose core shares no last cache (L3) with the thief's; 0 "   \
      "where workers are not pinned")                                                              \
    X(GRQ_FAR, SUM, "of GRQ_HITS, those from the global queue of another group (knob globals)")    \
    X(DEQUE_LOCKS, SUM, "times a deque's lock was taken: deque=the and deque=half")                \
    X(GS_OUTSIDE, SUM, "of GS_CREATED, those that threads which are no workers have started")      \
    X(WAKES_DELAYED, SUM,                                                                          \
      "times the wake-up of a worker was put off (knobs wake_delay_ns, width)")                    \
    X(WAKES_DROPPED, SUM,                                                                          \
      "of WAKES_DELAYED, those that were not made: all work was taken before they were due")       \
    X(TASKS_PUBLISHED, SUM,                                                                        \
      "fork/join tasks, or parents resting in a spawn, put where thieves can take them")           \
    X(JOIN_ADDS, SUM,                                                                              \
      "children added to frames' counts, before thieves may see their parent: join=counter")       \
    X(JOIN_LOCKS, SUM, "times the lock of a frame's count was taken: join=lock")                   \
    X(JOIN_LOCK_WAITS, SUM, "of JOIN_LOCKS, those that found the lock held")                       \
    X(BLOCKS_GRANTED, SUM,                                                                         \
      "blocks of a local queue left to thieves when they were full: queue=bwos")                   \
    X(BLOCKS_TAKEN_BACK, SUM,                                                                      \
      "of BLOCKS_GRANTED, those of which thieves had left some when their owner came there")       \
    X(WIDTH_GROWN, SUM, "times one worker more might be awake: width=load")                        \
    X(WIDTH_SHRUNK, SUM, "times one worker fewer might be awake: width=load")

enum stat_id {
#define STAT_ENUM(name, merge, help) STAT_##name,
    STATS(STAT_ENUM)
#undef STAT_ENUM
        STAT_COUNT
};

enum stat_merge { STAT_MERGE_SUM, STAT_MERGE_MAX };

struct stat_info {
    const char *name;
    enum stat_merge merge;
    const char *help;
};
extern const struct stat_info stat_info[STAT_COUNT];

struct stats {
    _Atomic uint64_t value[STAT_COUNT];
};

/* Owner only. */
static inline void stat_add(struct stats *stats, enum stat_id which, uint64_t n)
{
    uint64_t old = atomic_load_explicit(&stats->value[which], memory_order_relaxed);
    atomic_store_explicit(&stats->value[which], old + n, memory_order_relaxed);
}

static inline void stat_max(struct stats *stats, enum stat_id which, uint64_t value)
{
    if (value > atomic_load_explicit(&stats->value[which], memory_order_relaxed))
        atomic_store_explicit(&stats->value[which], value, memory_order_relaxed);
}

#endif
