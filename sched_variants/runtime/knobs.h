/* knobs.h - the knobs of the runtime: their values, and rows for the knob tables of variants.
 *
 * Callers: g.h, whose struct sched holds the values; and the variants' knob tables. The rows say
 * what `schedlab list` shows: meaning, default, range, source, group, the events that a knob moves,
 * and an example in which it does (param.h).
 */
#ifndef SCHEDLAB_KNOBS_H
#define SCHEDLAB_KNOBS_H

#include <stdint.h>

enum spinners { SPINNERS_NONE, SPINNERS_HALF, SPINNERS_ALL };
enum recheck { RECHECK_AFTER, RECHECK_BEFORE, RECHECK_NONE };
/* WAKE_LATER: no word; in sched->runtime with wake_delay_ns (wakelater.c). */
enum wake_policy { WAKE_CHAIN, WAKE_ALL, WAKE_NONE, WAKE_LATER };
enum preempt { PREEMPT_NONE, PREEMPT_COOP, PREEMPT_SIGNAL };
enum calls { CALLS_NONE, CALLS_SYSMON, CALLS_IMMEDIATE, CALLS_ADAPTIVE };
enum returns { RETURNS_IDLE, RETURNS_QUEUE };
enum timers_where { TIMERS_PERP, TIMERS_GLOBAL };
enum poll_round { POLL_ROUND_NS, POLL_ROUND_MS };
enum watch { WATCH_HANDOVER, WATCH_SYSMON };
enum fence { FENCE_SUBMITTER, FENCE_SLEEPER, FENCE_ADAPTIVE };
enum idle_order { IDLE_LIFO, IDLE_FIFO };
enum { SLACK_KERNEL = 0 };
enum netpoll_by { NETPOLL_POLL, NETPOLL_THREAD, NETPOLL_CALL };
enum netpoll_trigger { TRIGGER_EDGE, TRIGGER_LEVEL };
enum netpoll_place { PLACE_FIRST, PLACE_GLOBAL, PLACE_LOCAL };

/* Knobs of the runtime; the first member of every variant's knobs. */
struct runtime_knobs {
    int64_t spinners;   /* enum spinners */
    int64_t spin_ns;    /* how long a spinner searches again before it gives up; 0: one search */
    int64_t wake;       /* enum wake_policy */
    int64_t recheck;    /* enum recheck */
    int64_t dawdle_ns;  /* before an M that found nothing gives its P up */
    int64_t timers;     /* enum timers_where */
    int64_t poll_round; /* enum poll_round */
    int64_t slack_ns;   /* of the worker threads, or SLACK_KERNEL */
    int64_t sysmon;     /* 0, 1 */
    int64_t sysmon_ns, sysmon_rounds, sysmon_max_ns;
    int64_t preempt; /* enum preempt */
    int64_t slice_ns;
    int64_t calls; /* enum calls */
    int64_t call_long_ns, lenient_ns;
    int64_t returns; /* enum returns */
    int64_t threads_max;
    int64_t netpoll;         /* enum netpoll_by */
    int64_t netpoll_trigger; /* enum netpoll_trigger */
    int64_t netpoll_batch;   /* events; 0, where there is no such knob: NETPOLL_BATCH */
    int64_t netpoll_place;   /* enum netpoll_place */
    int64_t idle;            /* enum idle_order */
    int64_t watch;           /* enum watch */
    int64_t fence;           /* enum fence; 0, where there is no such knob: nobody sleeps by I3 */
    int64_t fence_often_ns;
    int64_t gs_cache;   /* free Gs in an M's cache at which it gives half of them away */
    int64_t starve_ns;  /* or STARVE_NEVER */
    int64_t mutex_spin; /* rounds; 0, where there is no such knob */
};
enum { NETPOLL_BATCH = 128, STARVE_NEVER = -1 };

extern const char *const spinners_words[];
extern const char *const wake_words[];
extern const char *const recheck_words[];
extern const char *const timers_words[];
extern const char *const poll_round_words[];
extern const char *const slack_words[];
extern const char *const idle_words[];
extern const char *const watch_words[];
extern const char *const fence_words[];
extern const char *const starve_words[];
extern const char *const sysmon_words[];
extern const char *const preempt_words[];
extern const char *const calls_words[];
extern const char *const returns_words[];
extern const char *const netpoll_words[];
extern const char *const netpoll_trigger_words[];
extern const char *const netpoll_place_words[];

/* For the knob table of every variant whose Gs share threads: the watcher and the slice. f is the
 * struct runtime_knobs inside the owner o. */
#define WATCH_KNOBS(o, f)                                                                          \
    PARAM_WORD(o, f.sysmon, sysmon_words, 1, "Go 1.26 proc.go sysmon",                             \
               "whether a thread watches slices and blocking calls",                               \
               .detail = "off: no slice ends by itself, and no P is taken from a blocking call.",  \
               KNOB_FINE(SLICES, "SYSMON_ROUNDS HANDOFFS", "sysmon=off calls,n=100 1")),           \
        PARAM_NUMBER(o, f.sysmon_ns, 20000, 1000, 1000000000, "ns", "Go 1.26 proc.go sysmon",      \
                     "how long sysmon sleeps between two looks at first",                          \
                     KNOB_FINE(SLICES, "SYSMON_ROUNDS HANDOFFS", "sysmon_ns=1ms calls,n=100 1")),  \
        PARAM_NUMBER(o, f.sysmon_rounds, 50, 0, 1000000, "looks", "Go 1.26 proc.go sysmon",        \
                     "looks in vain after which sysmon's sleep doubles each time",                 \
                     KNOB_FINE(SLICES, "SYSMON_ROUNDS", "sysmon_rounds=1 hog 1")),                 \
        PARAM_NUMBER(                                                                              \
            o, f.sysmon_max_ns, 10000000, 1000, 1000000000, "ns", "Go 1.26 proc.go sysmon",        \
            "sysmon's longest sleep while a worker is busy",                                       \
            KNOB_FINE(SLICES, "SYSMON_ROUNDS SYSMON_LONG_NS", "sysmon_max_ns=1ms hog 1")),         \
        PARAM_WORD(o, f.preempt, preempt_words, PREEMPT_SIGNAL, "Go 1.26 proc.go preemptone",      \
                   "how a goroutine is stopped when its slice is over",                            \
                   .detail = "none: not at all. coop: at the next call that checks (go, a spawn, " \
                             "the end of a blocking call, go_preempt_point). signal: anywhere in " \
                             "the workload's code, by a signal.",                                  \
                   KNOB_DECISIVE(SLICES, "PREEMPTS PREEMPTS_SIGNAL", "preempt=none hog 1")),       \
        PARAM_NUMBER(o, f.slice_ns, 10000000, 10000, 1000000000, "ns",                             \
                     "Go 1.26 proc.go forcePreemptNS",                                             \
                     "how long a worker runs one slice before the goroutine is asked to stop",     \
                     KNOB_DECISIVE(SLICES, "PREEMPTS PREEMPT_REQUESTS", "slice_ns=1ms hog 1"))

/* For every variant: free Gs, and who gets a mutex. */
#define COMMON_KNOBS(o, f)                                                                         \
    PARAM_NUMBER(o, f.gs_cache, 64, 2, 65536, "Gs", "Go 1.26 proc.go gfput, gfget",                \
                 "how many ended goroutines a thread keeps for reuse",                             \
                 .detail = "A thread that has so many gives half of them on, and takes as many "   \
                           "when it has none: to and from a store of its worker, if there are "    \
                           "several, and one for all beyond that. GS_LOCKS counts visits to the "  \
                           "latter.",                                                              \
                 KNOB_FINE(MEMORY, "GS_LOCKS", "gs_cache=2 spawn,n=2000 1")),                      \
        PARAM_NUMBER_OR(                                                                           \
            o, f.starve_ns, 1000000, 0, 1000000000, starve_words, STARVE_NEVER, "ns",              \
            "Go 1.26 internal/sync/mutex.go starvationThresholdNs",                                \
            "how long a waiter may lose a mutex to others before it is handed over",               \
            .detail = "0: every waiter is handed the mutex. never: none is.",                      \
            KNOB_DECISIVE(LOCKS, "PARKS READIES", "starve_ns=0 mutex,n=2000,work=1000 4"))

/* For every variant with several threads. */
#define MUTEX_SPIN_KNOB(o, f)                                                                      \
    PARAM_NUMBER(o, f.mutex_spin, 4, 0, 10000, "rounds",                                           \
                 "Go 1.26 runtime/proc.go internal_sync_runtime_canSpin",                          \
                 "rounds that a goroutine waits for a taken mutex before it parks",                \
                 .detail =                                                                         \
                     "A round is 30 pause instructions, and then a look at the mutex. 0: the "     \
                     "goroutine parks at once.",                                                   \
                 KNOB_FINE(LOCKS, "PARKS READIES", "mutex_spin=1000 mutex,n=2000,work=1000 4"))

/* For every variant. */
#define SLEEP_KNOBS(o, f)                                                                          \
    PARAM_WORD(o, f.poll_round, poll_round_words, POLL_ROUND_NS,                                   \
               "machine; Go 1.26 netpoll_epoll.go netpoll rounds to ms",                           \
               "how exactly an idle worker sleeps until the next timer",                           \
               .detail =                                                                           \
                   "ns: until its very nanosecond. ms: whole milliseconds, at least one, as "      \
                   "Go does; a worker that wakes too early sleeps again.",                         \
               KNOB_FINE(TIMERS, "SLEEPS POLLS", "poll_round=ms wakers,n=20 2")),                  \
        PARAM_NUMBER_OR(                                                                           \
            o, f.slack_ns, SLACK_KERNEL, 1, 1000000000, slack_words, SLACK_KERNEL, "ns",           \
            "Linux prctl PR_SET_TIMERSLACK",                                                       \
            "how much longer the kernel may let a worker thread sleep",                            \
            .detail = "1: as little as it can. kernel: what the process has, usually "             \
                      "50000.",                                                                    \
            KNOB_FINE(TIMERS, "SLEEPS WAKEUPS", "slack_ns=1 timers,n=200,spread_ns=10ms 2"))

/* For the knob table of a variant with several workers and the runtime's idle protocol; f, here and
 * above, is the struct runtime_knobs inside the owner o. RUNTIME_KNOBS_WATCHED names the default of
 * `watch`. */
#define RUNTIME_KNOBS(o, f) RUNTIME_KNOBS_WATCHED(o, f, WATCH_HANDOVER)
#define RUNTIME_KNOBS_WATCHED(o, f, watch_)                                                        \
    WAKE_KNOBS(o, f, watch_), NETPOLL_KNOBS(o, f),                                                 \
        PARAM_WORD(o, f.timers, timers_words, TIMERS_PERP, "Go 1.26 time.go",                      \
                   "where timers wait: a heap per P, or one for all",                              \
                   .detail = "perp: each P has a heap. global: one heap behind one lock.",         \
                   KNOB_DECISIVE(TIMERS, "SLEEPS SPINS", "timers=global wakers,n=20 4")),          \
        COMMON_KNOBS(o, f), MUTEX_SPIN_KNOB(o, f), SLEEP_KNOBS(o, f), WATCH_KNOBS(o, f),           \
        CALL_KNOBS(o, f)

/* Parts of RUNTIME_KNOBS: who searches, who sleeps, who is woken. */
#define WAKE_KNOBS(o, f, watch_)                                                                   \
    PARAM_WORD(o, f.spinners, spinners_words, SPINNERS_HALF, "Go 1.26 proc.go findRunnable",       \
               "how many workers without work may search at once",                                 \
               .detail = "half: at most half as many as are busy. all: every one. none: only "     \
                         "workers that were woken, or that see work on their way to sleep.",       \
               KNOB_DECISIVE(WAKING, "SPINS SLEEPS", "spinners=none bursts,n=20 4")),              \
        PARAM_NUMBER(o, f.spin_ns, 0, 0, 1000000000, "ns", "Go 1.26 proc.go findRunnable",         \
                     "how long a worker goes on searching before it sleeps",                       \
                     .detail = "0: it searches once.",                                             \
                     KNOB_FINE(WAKING, "SPIN_ROUNDS SLEEPS", "spin_ns=1ms arrivals,n=200 4")),     \
        PARAM_WORD(                                                                                \
            o, f.wake, wake_words, WAKE_CHAIN, "Go 1.26 proc.go wakep", "whom new work wakes",     \
            .detail = "chain: one idle worker, which wakes the next one when it finds work. "      \
                      "all: every idle worker. none: nobody; sleepers look for themselves "        \
                      "every millisecond.",                                                        \
            KNOB_DECISIVE(WAKING, "WAKEUPS SLEEPS", "wake=all bursts,n=50,b=4 8")),                \
        PARAM_WORD(o, f.recheck, recheck_words, RECHECK_AFTER, "Go 1.26 proc.go findRunnable",     \
                   "when a worker looks into all queues a last time before it sleeps",             \
                   .detail =                                                                       \
                       "Submitters wake nobody while a worker is counted as searching. after: "    \
                       "it looks once it is no longer counted, so that no work is missed. "        \
                       "before: it looks while it is still counted; work that comes between "      \
                       "look and sleep lies until somebody else finds it. none: it does not "      \
                       "look. The last two are wrong on purpose, to show what the look is "        \
                       "for.",                                                                     \
                   KNOB_FINE(WAKING, "SLEEPS",                                                     \
                             "dawdle_ns=100us,recheck=none arrivals,n=400,rate=50000 4")),         \
        PARAM_NUMBER(o, f.dawdle_ns, 0, 0, 1000000000, "ns", "schedlab",                           \
                     "a delay before a worker that found nothing gives its P up",                  \
                     .detail =                                                                     \
                         "It widens the moment in which new work can be missed, so that rare "     \
                         "races with `recheck` become frequent. A tool for experiments; 0 "        \
                         "otherwise.",                                                             \
                     KNOB_FINE(WAKING, "SLEEPS", "dawdle_ns=1ms wakers,n=20 4")),                  \
        PARAM_WORD(o, f.idle, idle_words, IDLE_LIFO, "Go 1.26 proc.go pidleget, mget",             \
                   "which idle worker is woken first",                                             \
                   .detail =                                                                       \
                       "lifo: the one that went idle last, whose caches are warm. fifo: the "      \
                       "one that has been idle longest. Idle threads likewise.",                   \
                   KNOB_FINE(WAKING, "SIM_L2_MISS",                                                \
                             "idle=fifo bursts,n=50,b=4,period_ns=100000,rounds=20000 8")),        \
        PARAM_WORD(o, f.watch, watch_words, watch_, "schedlab; Go 1.26 proc.go findRunnable",      \
                   "who waits for I/O and timers after the idle worker that did finds work",       \
                   .detail =                                                                       \
                       "handover: it wakes another idle worker for that, if a P is idle. "         \
                       "sysmon: the next worker that idles, and until then sysmon looks, as "      \
                       "in Go.",                                                                   \
                   KNOB_FINE(WAKING, "WAKEUPS",                                                    \
                             "watch=handover wakers,n=200,connections=4,sleepers=4 4")),           \
        PARAM_WORD(                                                                                \
            o, f.fence, fence_words, FENCE_ADAPTIVE, "schedlab; Go 1.26 proc.go wakep",            \
            "who fences so that new work and a worker going to sleep do not miss each other",      \
            .detail =                                                                              \
                "submitter: whoever makes work visible, each time, as in Go. sleeper: the "        \
                "worker that goes to sleep; it makes all cores fence, which interrupts them. "     \
                "adaptive: submitters at first and while workers sleep often, else sleepers.",     \
            KNOB_DECISIVE(WAKING, "FENCES_ALL", "fence=sleeper bursts,n=20 4")),                   \
        PARAM_NUMBER(o, f.fence_often_ns, 100000, 0, 1000000000, "ns", "schedlab",                 \
                     "with fence=adaptive: submitters fence where sleeps follow sooner than this", \
                     .detail =                                                                     \
                         "In the mean over 32 sleeps, of all workers. Sleepers fence again where " \
                         "it is four times as long.",                                              \
                     KNOB_FINE(WAKING, "FENCES_ALL", "fence_often_ns=0 bursts,n=200 4"))

#define NETPOLL_KNOBS(o, f)                                                                        \
    PARAM_WORD(o, f.netpoll, netpoll_words, NETPOLL_POLL, "Go 1.26 netpoll.go",                    \
               "who finds out which descriptors are ready",                                        \
               .detail =                                                                           \
                   "poll: workers without work ask epoll. thread: a thread of its own does. "      \
                   "call: nobody; each read and write blocks its thread. io_uring is not "         \
                   "offered.",                                                                     \
               KNOB_DECISIVE(DESCRIPTORS, "CALLS POLLS",                                           \
                             "netpoll=call echo,connections=8,messages=20 2")),                    \
        PARAM_WORD(o, f.netpoll_trigger, netpoll_trigger_words, TRIGGER_EDGE,                      \
                   "Go 1.26 netpoll_epoll.go netpollopen",                                         \
                   "how a descriptor is registered with the poller",                               \
                   .detail =                                                                       \
                       "edge: once, and changes are reported. level: anew for each wait, and "     \
                       "the state is reported.",                                                   \
                   KNOB_FINE(DESCRIPTORS, "POLL_CTLS",                                             \
                             "netpoll_trigger=level echo,connections=8,messages=20 2")),           \
        PARAM_NUMBER(o, f.netpoll_batch, NETPOLL_BATCH, 1, 1024, "events",                         \
                     "Go 1.26 netpoll_epoll.go netpoll",                                           \
                     "most events that one look at the descriptors takes",                         \
                     KNOB_FINE(DESCRIPTORS, "POLLS LOCAL_HITS",                                    \
                               "netpoll_batch=1 echo,connections=32,messages=20 2")),              \
        PARAM_WORD(                                                                                \
            o, f.netpoll_place, netpoll_place_words, PLACE_FIRST, "Go 1.26 proc.go injectglist",   \
            "where a worker puts goroutines whose descriptors are ready",                          \
            .detail = "first: it runs the first; as many as there are idle workers go to the "     \
                      "global queue, the rest to its own. global: all to the global queue. "       \
                      "local: all to its own.",                                                    \
            KNOB_FINE(DESCRIPTORS, "GRQ_LOCKS LOCAL_HITS",                                         \
                      "netpoll_place=local echo,connections=8,messages=20 4"))

#define CALL_KNOBS(o, f)                                                                           \
    PARAM_WORD(o, f.calls, calls_words, CALLS_SYSMON, "Go 1.26 proc.go entersyscall",              \
               "who hands the P on while a goroutine is in a blocking call",                       \
               .detail =                                                                           \
                   "none: nobody, the P waits. sysmon: sysmon, when it sees the call a second "    \
                   "time. immediate: the goroutine itself, before the call. adaptive: the "        \
                   "goroutine itself, if calls from that place in the program were long.",         \
               KNOB_DECISIVE(CALLS, "HANDOFFS CALLS_QUEUED",                                       \
                             "calls=none calls,n=100,callers=4,beside=1,yields=on 2")),            \
        PARAM_NUMBER(o, f.call_long_ns, 20000, 0, 1000000000, "ns", "Go 1.26 proc.go sysmon",      \
                     "with calls=adaptive: a longer call makes its place give the P up at once",   \
                     KNOB_FINE(CALLS, "HANDOFFS",                                                  \
                               "calls=adaptive,sysmon=off,call_long_ns=1ms calls,n=100 1")),       \
        PARAM_NUMBER(o, f.lenient_ns, 10000000, 0, 1000000000, "ns", "Go 1.26 proc.go retake",     \
                     "how long sysmon leaves a P with a call while nobody needs the P",            \
                     .detail = "Nobody needs it while nothing is queued and other Ps are idle.",   \
                     KNOB_FINE(CALLS, "HANDOFFS", "lenient_ns=0 calls,n=100 2")),                  \
        PARAM_WORD(o, f.returns, returns_words, RETURNS_IDLE, "Go 1.26 proc.go exitsyscall",       \
                   "what a goroutine does after a call during which its P was taken",              \
                   .detail =                                                                       \
                       "idle: it takes an idle P if there is one, else it is queued. queue: "      \
                       "it is always queued.",                                                     \
                   KNOB_FINE(CALLS, "CALLS_QUEUED MIGRATIONS",                                     \
                             "returns=queue calls,n=20,sleep_ns=5000000,beside=1 2")),             \
        PARAM_NUMBER(o, f.threads_max, 10000, 1, 1000000, "threads",                               \
                     "Go 1.26 proc.go checkmcount",                                                \
                     "most threads that blocking calls may start; more end the run",               \
                     KNOB_FINE(CALLS, "", "threads_max=100 calls,n=100,callers=4 2"))

/* Rows of sched_ops.moot for all that has WATCH_KNOBS, and for what has RUNTIME_KNOBS. */
#define WATCH_MOOT                                                                                 \
    {                                                                                              \
        "sysmon_ns sysmon_rounds sysmon_max_ns slice_ns preempt=coop", "sysmon=off",               \
            "where nobody watches"                                                                 \
    }
#define NOBODY_SEARCHES "spinners=none,wake=none,recheck=before|none", "where no worker searches"
#define RUNTIME_MOOT                                                                               \
    WATCH_MOOT, {"spin_ns recheck=before", NOBODY_SEARCHES},                                       \
        {"netpoll_trigger netpoll_batch netpoll_place", "netpoll=call",                            \
         "where each call blocks its thread"},                                                     \
        {"watch", "wake=none", "where each worker wakes by itself"},                               \
        {"fence_often_ns", "fence=submitter|sleeper",                                              \
         "where it does not matter how often one sleeps"},                                         \
        {"netpoll_place", "netpoll=thread", "where all that is ready goes to the global queue"},   \
        {"call_long_ns", "calls=none|sysmon|immediate", "where a call has no history"},            \
        {"lenient_ns", "calls=none|immediate", "where sysmon takes no P from a call"},             \
        {"lenient_ns returns", "calls=sysmon,sysmon=off", "where a call keeps its P"},             \
        {"lenient_ns", "sysmon=off", "where nobody watches"},                                      \
        {"returns", "calls=none", "where a call keeps its P"},                                     \
        {"slice_ns", "preempt=none,calls=none|immediate", "where sysmon looks at no slice"},       \
    {                                                                                              \
        "sysmon_ns sysmon_rounds sysmon_max_ns",                                                   \
            "preempt=none,calls=none|immediate,netpoll=thread|call",                               \
            "where sysmon has nothing to watch"                                                    \
    }

#endif
