/* lrq.h - Go's local run queue: a bounded ring, one slot for the newest G (runnext), overflow to
 * the GRQ.
 *
 * Source: Go 1.26 runtime/proc.go runqput, runqputslow, runqget, runqgrab, runqsteal,
 * globrunqgetbatch.
 *   Same:    owner and thieves take from the head, the owner puts at the tail; a full ring moves
 *            its oldest half and the G that did not fit to the global queue; a thief takes half
 *            rounded up, runs the youngest of them and queues the rest; runnext may be stolen last,
 *            after a back-off.
 *   Differs: every number is a knob; who owns the queue (a P or an M) is the variant's choice.
 *
 * Invariants: 0 <= tail - head <= capacity (32-bit, wrapping);  slots [head, tail) hold runnable
 *             Gs; tail and slots are written by the owner only;  head moves by compare-and-swap
 *             only. With ring_order=lifo, while the owner takes the last one: tail = head - 1.
 * Order labels:
 *   Q1  put: release store of tail   pairs with  Q2  grab: acquire load of tail (the slot is
 *   visible)
 *   Q3  get/grab: release CAS of head  pairs with  Q4  put/get/grab: acquire load of head (the slot
 *       has been read before it is written again)
 *   Q5  runnext: release store, acq_rel exchange and CAS; the G that is handed over is visible
 *   Q6  take_tail: fence between store of tail and load of head   pairs with
 *   Q7  grab_each: fence between load of head and load of tail
 *       (of an owner and a thief after the last one at least one sees the other)
 *   Q8  take_tail, grab_each: seq_cst CAS of head: exactly one gets the last; its release half is
 *       Q3's
 *   Q9  next_swap: store of next_held before the load of next_thieves   pairs with
 *   Q10 next_claim: add to next_thieves, a fence on all cores, load of next_held
 *       (of an owner and a thief at least one sees the other; the owner orders its two by the
 *       compiler alone, as the thief's fence does the rest)
 *   Q11 next_swap: release store of next_held   pairs with  Q12  next_claim: acquire load of
 *       next_held (a thief that finds it 0 finds in runnext what the owner left)
 *   Q13 next_claim: release subtraction from next_thieves   pairs with  Q14  next_swap: acquire
 *       load of next_thieves (an owner that finds it 0 finds in runnext what the thief left)
 *
 * runnext_owner=plain. A locked instruction waits for the stores before it, and the owner of
 * runnext has one per dispatch, though thieves seldom come. So the owner takes it by a plain load
 * and a plain store, between two stores of next_held. A thief counts itself in next_thieves and
 * makes all cores pass a fence. Then either it sees next_held, and gives up, or the owner sees
 * next_thieves from then on, and uses an exchange until the thief has gone. Nobody waits, but an
 * owner that loses its core in between keeps runnext from thieves. Puts into an empty runnext have
 * always been plain stores: no thief's CAS takes a NULL.
 *
 * ring_order=lifo. The owner takes at the tail, without a CAS unless it takes the last one. So a
 * thief must not take several by one CAS: the owner could have taken some of them meanwhile, which
 * the head does not tell. It takes one after the other, each as from the deque (deque.h), and both
 * sides fence. Beside the order the price is a fence for each take, and a CAS for each theft.
 *   Rejected: to let the owner take by a CAS of one word that has both head and tail: Go's thieves
 *   and puts would have to pay for it too.
 *
 * steal_age_ns. Beside each slot, and beside runnext, stands since when its G is in a local queue;
 * stolen ones keep that, and those from the global queue have 0. The owner writes it before Q1 or
 * Q5, so a thief that has read a G by Q2 or Q5 reads its time too. Q3 or Q8 throws away what was
 * read too late; only of runnext it may be a later one's, and the thief then waits too long.
 * has_work() counts the young ones too. It must, since an M that slept would not be woken when they
 * are old enough. So the price, beside a look at the clock for each put, is that whoever is idle
 * searches until they are.
 *
 * queue=bwos. Blocks take the ring's place (bwos.h). The ring then is one place that is always
 * full, so that the usual put and get have no more to ask than before: mask = 0, head = 0, tail =
 * 1. runnext, batches and shares are as with the ring. Gs in the owner's own blocks are
 * no work for has_work(), and wake nobody, as nobody else may take them. Their owner takes them
 * before it searches, and a P that is given up in a call is drained.
 */
#ifndef SCHEDLAB_LRQ_H
#define SCHEDLAB_LRQ_H

#include "bwos.h"
#include "gqueue.h"
#include "inbox.h"

enum take { TAKE_ONE = -4, TAKE_BATCH, TAKE_HALF, TAKE_ALL }; /* or a number above 0 */
enum share { SHARE_ONE, SHARE_QUARTER, SHARE_HALF, SHARE_THREE_QUARTERS, SHARE_ALL };
enum victim_order {
    VICTIM_COPRIME,
    VICTIM_FIXED,
    VICTIM_LAST,
    VICTIM_ZERO,
    VICTIM_ROTATE,
    VICTIM_RANDOM,
    VICTIM_NEAR
};
enum overflow_end { OVERFLOW_OLDEST, OVERFLOW_NEWEST, OVERFLOW_NEW };
enum yield_to { YIELD_GLOBAL, YIELD_LOCAL };
enum search { SEARCH_GLOBAL, SEARCH_STEAL };
enum ring_order { RING_FIFO, RING_LIFO };
enum lrq_queue { QUEUE_RING, QUEUE_BWOS };
enum runnext_owner { RUNNEXT_ATOMIC, RUNNEXT_PLAIN };
enum lrq_width { WIDTH_ALL, WIDTH_LOAD };
enum { TICK_RANDOM = -1, BACKOFF_NEVER = -1 };

/* The knobs of variants with such a queue; the variant's struct begins with it. */
struct lrq_knobs {
    struct runtime_knobs runtime;
    int64_t runnext;       /* 0 off, 1 on */
    int64_t runnext_cap;   /* consecutive runs from runnext; 0: no cap */
    int64_t inherit;       /* 0 off, 1 on */
    int64_t runnext_wake;  /* 0 off, 1 on */
    int64_t runnext_owner; /* enum runnext_owner */
    int64_t tick;          /* poll the GRQ first every that many dispatches; 0 never, TICK_RANDOM */
    int64_t take;          /* enum take, or how many */
    int64_t ring;          /* capacity, a power of two */
    int64_t overflow;      /* enum share */
    int64_t overflow_end;  /* enum overflow_end */
    int64_t steal;         /* enum share */
    int64_t victim;        /* enum victim_order */
    int64_t passes;
    int64_t look_ns;    /* of a spinner that got nothing, before it gives up */
    int64_t backoff_ns; /* before runnext is stolen from a running owner; 0 none; BACKOFF_NEVER */
    int64_t yield;      /* enum yield_to */
    int64_t search;     /* enum search */
    int64_t steal_age_ns;
    int64_t ring_order; /* enum ring_order */
    int64_t globq;      /* enum globq_kind */
    int64_t wake_delay_ns;
    int64_t width; /* enum lrq_width */
    int64_t queue; /* enum lrq_queue; only where queues are the Ps' */
};

extern const char *const lrq_off_on[];
extern const char *const lrq_tick_words[];
extern const char *const lrq_take_words[];
extern const char *const lrq_share_words[];
extern const char *const lrq_end_words[];
extern const char *const lrq_victim_words[];
extern const char *const lrq_backoff_words[];
extern const char *const lrq_yield_words[];
extern const char *const lrq_search_words[];
extern const char *const lrq_order_words[];
extern const char *const lrq_queue_words[];
extern const char *const lrq_width_words[];
extern const char *const lrq_owner_words[];

/* The knob table's rows for all of the above but the runtime's. */
#define LRQ_KNOBS(o)                                                                               \
    PARAM_WORD(                                                                                    \
        o, lrq.runnext, lrq_off_on, 1, "Go 1.26 proc.go runqput",                                  \
        "whether the newest goroutine has a slot of its own, and runs next",                       \
        .detail = "on: a goroutine that is readied takes the slot, and pushes the one before "     \
                  "it into the ring. off: it goes to the ring's tail.",                            \
        KNOB_DECISIVE(QUEUES, "RUNNEXT_HITS LOCAL_HITS", "runnext=off pingpong,rounds=1000 1")),   \
        PARAM_NUMBER(o, lrq.runnext_cap, 0, 0, 1024, "runs", "[Tokio5712]",                        \
                     "most dispatches from runnext in a row before the ring has a turn",           \
                     .detail = "0: no limit.",                                                     \
                     KNOB_FINE(QUEUES, "RUNNEXT_HITS LOCAL_HITS",                                  \
                               "runnext_cap=1 pingpong,rounds=1000,pairs=8 1")),                   \
        PARAM_WORD(                                                                                \
            o, lrq.inherit, lrq_off_on, 1, "Go 1.26 proc.go runqget, execute",                     \
            "whether a goroutine from runnext goes on in the slice of its waker",                  \
            .detail = "on: it inherits what is left of the slice, and the dispatch does not "      \
                      "count for `tick`. off: it begins a slice of its own.",                      \
            KNOB_FINE(QUEUES, "TICK_POLLS GRQ_HITS", "inherit=off chain,n=2000,queue=global 1")),  \
        PARAM_WORD(o, lrq.runnext_wake, lrq_off_on, 1, "Go 1.26 proc.go ready; off: [Tokio7431]",  \
                   "whether a goroutine put into runnext wakes an idle worker",                    \
                   .detail =                                                                       \
                       "on: as any other goroutine does. off: not while it is the only work.",     \
                   KNOB_FINE(WAKING, "WAKEUPS SLEEPS", "runnext_wake=off wakers,n=20 4")),         \
        PARAM_WORD(o, lrq.runnext_owner, lrq_owner_words, RUNNEXT_ATOMIC,                          \
                   "Go 1.26 proc.go runqget; plain: schedlab",                                     \
                   "how a worker takes the goroutine in its own runnext",                          \
                   .detail = "atomic: by a locked instruction each time, as in Go. plain: by a "   \
                             "load and a store; each thief of a runnext interrupts all busy "      \
                             "cores by a fence.",                                                  \
                   KNOB_FINE(QUEUES, "FENCES_ALL", "runnext_owner=plain prodcons 4")),             \
        PARAM_NUMBER_OR(o, lrq.tick, 61, 0, 1024, lrq_tick_words, TICK_RANDOM, "dispatches",       \
                        "Go 1.26 proc.go findRunnable",                                            \
                        "every how many dispatches a worker looks at the global queue first",      \
                        .detail = "1: each time. 0: never first, so that the global queue can "    \
                                  "starve. random: each time with probability 1/61.",              \
                        KNOB_DECISIVE(QUEUES, "TICK_POLLS GRQ_HITS", "tick=1 spawn,n=5000 2")),    \
        PARAM_NUMBER_OR(                                                                           \
            o, lrq.take, TAKE_BATCH, 1, 65536, lrq_take_words, TAKE_ONE, "Gs",                     \
            "Go 1.26 proc.go globrunqgetbatch",                                                    \
            "most goroutines that one visit takes from the global queue",                          \
            .detail = "one: 1. batch: a fair share, which is the queue's length divided "          \
                      "by the number of Ps, and 1 more, but at most half a ring. half: "           \
                      "half such a share, and 1 more. all: as many as a ring holds. A "            \
                      "number: so many, but at most as many as a ring holds. The first "           \
                      "of them runs, the others go to the worker's ring.",                         \
            KNOB_FINE(QUEUES, "GRQ_HITS GRQ_LOCKS", "take=one yield,n=2000,yielders=50 1")),       \
        PARAM_NUMBER(o, lrq.ring, 256, 2, 65536, "Gs", "Go 1.26 runtime2.go p.runq",               \
                     "how many goroutines a local queue holds; a power of two",                    \
                     KNOB_DECISIVE(QUEUES, "OVERFLOWS GRQ_HITS", "ring=16 spawn,n=2000 1")),       \
        PARAM_WORD(o, lrq.ring_order, lrq_order_words, RING_FIFO, "Go 1.26 proc.go runqget",       \
                   "which end of its ring a worker takes from",                                    \
                   .detail =                                                                       \
                       "fifo: the oldest first. lifo: the newest first, so that old ones can "     \
                       "starve. Thieves take the oldest either way, with lifo one by one.",        \
                   KNOB_DECISIVE(QUEUES, "DEQUE_MAX LIVE_GS_PEAK", "ring_order=lifo skynet 2")),   \
        PARAM_WORD(o, lrq.globq, globq_words, GLOBQ_LOCKED,                                        \
                   "Go 1.26 proc.go globrunqput; mpmc: [Vyukov10]",                                \
                   "whether the global queue has a lock",                                          \
                   .detail =                                                                       \
                       "locked: a list behind a lock. mpmc: a ring of 16384 without one; what it " \
                       "has no room for waits in the list, and those who come later behind that.", \
                   KNOB_DECISIVE(QUEUES, "GRQ_LOCKS", "globq=mpmc yield,n=2000,yielders=50 2")),   \
        PARAM_WORD(o, lrq.overflow, lrq_share_words, SHARE_HALF, "Go 1.26 proc.go runqputslow",    \
                   "how much of a full ring moves to the global queue",                            \
                   .detail = "The goroutine that does not fit moves with it.",                     \
                   KNOB_FINE(QUEUES, "OVERFLOWS GRQ_LOCKS", "overflow=all spawn,n=5000 1")),       \
        PARAM_WORD(                                                                                \
            o, lrq.overflow_end, lrq_end_words, OVERFLOW_OLDEST, "Go 1.26 proc.go runqputslow",    \
            "which goroutines of a full ring move to the global queue",                            \
            .detail = "oldest: those that have waited longest. newest: those that came last. "     \
                      "new: only the goroutine that does not fit.",                                \
            KNOB_FINE(QUEUES, "OVERFLOWS GRQ_LOCKS", "overflow_end=new spawn,n=5000 1")),          \
        PARAM_WORD(o, lrq.steal, lrq_share_words, SHARE_HALF, "Go 1.26 proc.go runqgrab",          \
                   "how much of a victim's ring a thief takes",                                    \
                   KNOB_DECISIVE(STEALING, "STOLEN STEALS", "steal=one uneven,tasks=2000 4")),     \
        PARAM_WORD(o, lrq.victim, lrq_victim_words, VICTIM_COPRIME, "Go 1.26 proc.go randomOrder", \
                   "in which order a thief visits the others",                                     \
                   .detail =                                                                       \
                       "coprime: each once, from a random one on in random steps, which are "      \
                       "coprime to their number. fixed: one after the other, from its "            \
                       "neighbour on. last: from the last one on that had something. zero: "       \
                       "from the first one on. rotate: from a random one on. random: as many "     \
                       "as there are, each drawn anew, so that some may be missed; Go did so "     \
                       "before ea0386f85f. near: those whose core shares the thief's last cache "  \
                       "(L3) first, then the others, as coprime among either; only with --pin.",   \
                   KNOB_DECISIVE(STEALING, "VICTIMS_MISSED",                                       \
                                 "victim=random chain,n=1000,victims=1,rounds=5000 8")),           \
        PARAM_NUMBER(o, lrq.passes, 4, 1, 64, "passes", "Go 1.26 proc.go stealWork",               \
                     "how often one search goes through all victims",                              \
                     .detail = "Only the last pass may take from a victim's runnext.",             \
                     KNOB_FINE(STEALING, "VICTIM_PROBES", "passes=1 arrivals,n=200 4")),           \
        PARAM_NUMBER_OR(                                                                           \
            o, lrq.backoff_ns, 3000, 0, 1000000000, lrq_backoff_words, BACKOFF_NEVER, "ns",        \
            "Go 1.26 proc.go runqgrab",                                                            \
            "how long a thief waits before it takes runnext from a busy worker",                   \
            .detail = "The worker will usually run it within that time. never: runnext "           \
                      "is private; a worker that is woken for it searches in vain, over "          \
                      "and over, unless runnext_wake=off.",                                        \
            KNOB_FINE(STEALING, "RUNNEXT_STEALS STEALS", "backoff_ns=0 pingpong,rounds=1000 2")),  \
        PARAM_NUMBER(o, lrq.steal_age_ns, 0, 0, 1000000000, "ns", "Go 1.26 proc.go runqgrab",      \
                     "how long a goroutine stays in a queue before thieves may take it",           \
                     .detail =                                                                     \
                         "From when it was readied, or started; not if it came from the global "   \
                         "queue. Idle workers search until then. 0: no time, as in Go, but for "   \
                         "`backoff_ns`.",                                                          \
                     KNOB_DECISIVE(STEALING, "SPIN_ROUNDS STOLEN",                                 \
                                   "steal_age_ns=100us uneven,tasks=500 4")),                      \
        PARAM_NUMBER(o, lrq.look_ns, 10000, 0, 1000000000, "ns", "schedlab; Go 1.26: 0",           \
                     "how long a worker whose search failed watches the queues before it sleeps",  \
                     .detail =                                                                     \
                         "If something appears meanwhile, it searches again. A worker about "      \
                         "to sleep interrupts all busy cores by a fence; to watch for about "      \
                         "as long as a wake-up takes spares them that. 0: it does not watch, "     \
                         "as in Go.",                                                              \
                     KNOB_FINE(WAKING, "SPINS SLEEPS", "look_ns=200us arrivals,n=200 4")),         \
        PARAM_WORD(o, lrq.yield, lrq_yield_words, YIELD_GLOBAL, "Go 1.26 proc.go goschedImpl",     \
                   "where gosched() puts its caller",                                              \
                   .detail =                                                                       \
                       "global: at the tail of the global queue. local: at the ring's tail.",      \
                   KNOB_FINE(QUEUES, "GRQ_HITS LOCAL_HITS", "yield=local yield,n=2000 1")),        \
        PARAM_WORD(o, lrq.search, lrq_search_words, SEARCH_GLOBAL, "Go 1.26 proc.go findRunnable", \
                   "where a worker with an empty queue looks first",                               \
                   .detail = "global: in the global queue, then for ready descriptors, then with " \
                             "victims. steal: with victims, if it may search; then in the global " \
                             "queue, then for ready descriptors. `tick` comes before either.",     \
                   KNOB_DECISIVE(STEALING, "GRQ_HITS STEALS",                                      \
                                 "search=steal echo,connections=32,messages=20 4")),               \
        PARAM_NUMBER(                                                                              \
            o, lrq.wake_delay_ns, 0, 0, 1000000000, "ns", "golang/go#54622; ClickHouse/silk#127",  \
            "how long work waits before it wakes an idle worker",                                  \
            .detail = "0: it wakes one at once, as in Go. While another worker runs, one is left " \
                      "asleep for that long after new work, and woken if there is work then and "  \
                      "has been since; each further one after as long again.",                     \
            KNOB_DECISIVE(WAKING, "WAKES_DELAYED WAKES_DROPPED WAKEUPS",                           \
                          "wake_delay_ns=50us bursts,n=50,b=4 8")),                                \
        PARAM_WORD(o, lrq.width, lrq_width_words, WIDTH_ALL,                                       \
                   "golang/go#54622; golang/go#32113; ClickHouse/silk#127; marks: schedlab",       \
                   "how many workers new work may keep awake at once",                             \
                   .detail =                                                                       \
                       "all: all of them, as in Go. load: as many as are busy. From one on it "    \
                       "grows by one when work has waited for 50 us, or waits while those awake "  \
                       "are busy for 90 % of 1 ms; and shrinks by one when one fewer would have "  \
                       "been busy for less than 60 %. Needs sysmon=on.",                           \
                   KNOB_DECISIVE(WAKING, "WIDTH_GROWN WIDTH_SHRUNK WAKEUPS",                       \
                                 "width=load arrivals,n=2000,rate=100000 8"))

/* Rows of sched_ops.moot: the above's, and the runtime's. */
#define LRQ_MOOT                                                                                   \
    RUNTIME_MOOT,                                                                                  \
        {"runnext_cap inherit runnext_wake runnext_owner backoff_ns", "runnext=off",               \
         "where the newest has no slot of its own"},                                               \
        {"runnext_wake wake_delay_ns width", "wake=none", "where nobody is woken"},                \
        {"overflow", "overflow_end=new", "where no part of the ring moves"},                       \
        {"overflow_end", "overflow=all", "where the whole ring moves"},                            \
    {                                                                                              \
        "steal victim passes backoff_ns look_ns search steal_age_ns", NOBODY_SEARCHES              \
    }

struct lrq {
    /* written by the owner */
    _Alignas(64) _Atomic uint32_t tail;
    uint32_t mask;
    uint32_t next_runs;  /* consecutive runs from runnext; counted if there is a cap */
    int32_t last_victim; /* index of the victim that last had something */
    /* constant: the knobs that every put and pick asks, beside what those touch anyway */
    uint32_t runnext_cap;
    int16_t tick;
    uint8_t yield;                    /* enum yield_to */
    bool runnext_on : 1, inherit : 1; /* runnext_on: puts need look at nothing else for it */
    bool global_last : 1;             /* search=steal */
    bool lifo : 1;
    bool near : 1;        /* victim=near, and not all workers are near */
    bool special : 1;     /* the owner takes otherwise than Go's: a cap, lifo, an inbox, blocks */
    uint64_t tick_factor; /* see tick_is_due() */

    _Atomic int64_t *since; /* steal_age_ns: beside each slot, see above; else NULL */
    struct g **taken;       /* scratch of the overflow: as many as the ring holds */
    uint32_t walk_n;        /* the number of victims that the array below is for */
    uint32_t walk_steps;    /* how many numbers up to walk_n are coprime to it, or are near */
    union {
        uint32_t *coprimes; /* victim=coprime: these */
        uint32_t *order;    /* near: all victims, so many near ones first */
        uint64_t *met;      /* victim=random, bit i: the search has come to the i-th victim */
    };
    /* written by owner and thieves */
    _Alignas(64) _Atomic uint32_t head;
    _Atomic(struct g *) runnext;
    _Atomic int64_t next_since;    /* of runnext; steal_age_ns */
    struct inbox *inbox;           /* constant; NULL: others put nothing here */
    bool plain_next;               /* constant: runnext_owner=plain, which thieves have to ask */
    _Atomic uint32_t next_held;    /* plain_next: 1 while the owner swaps runnext */
    _Atomic uint32_t next_thieves; /* likewise: how many thieves are at Q10 to Q13 */
    _Alignas(64) _Atomic(struct g *) slot[]; /* or a struct bwos */
};
_Static_assert(offsetof(struct lrq, head) == 64, "what only the owner writes fills one line");

/* For sched_ops.init: what the runtime has to know of the knobs; a global queue as they want it. */
void lrq_init(struct sched *sched);

static inline void lrq_globq_init(const struct lrq_knobs *knobs, struct globq *globq)
{
    globq_init(globq);
    if (knobs->globq == GLOBQ_MPMC)
        globq_add_ring(globq);
}

struct lrq *lrq_new(const struct lrq_knobs *knobs);
void lrq_fini(struct lrq *lrq);       /* frees what hangs off it */
void lrq_free(struct lrq *lrq);       /* and the queue itself */
void lrq_make_inbox(struct lrq *lrq); /* pre: nobody uses it yet */

/* Have blocks taken the ring's place? Any thread: mask is constant. */
static inline bool lrq_has_blocks(const struct lrq *lrq)
{
    return lrq->mask == 0;
}

static inline struct bwos *lrq_blocks(struct lrq *lrq)
{
    return (void *)lrq->slot;
}

/* NULL, or what is wrong with the knobs; serves as sched_ops.check. */
const char *lrq_check(const void *knobs);

bool lrq_blocks_are_valid(struct lrq *lrq);

/* Owner, between operations. Thieves may take meanwhile: head moves up to tail and no further. */
static inline bool lrq_is_valid(struct lrq *lrq)
{
    uint32_t head = atomic_load_explicit(&lrq->head, memory_order_acquire);
    uint32_t tail = atomic_load_explicit(&lrq->tail, memory_order_relaxed); /* own word */
    return HOLDS((lrq->mask & (lrq->mask + 1)) == 0) && HOLDS(tail - head <= lrq->mask + 1) &&
           HOLDS(head == tail || lrq_has_blocks(lrq) ||
                 atomic_load_explicit(&lrq->slot[(tail - 1) & lrq->mask], memory_order_relaxed)) &&
           HOLDS(lrq->runnext_on || lrq->since ||
                 !atomic_load_explicit(&lrq->runnext, memory_order_relaxed)) &&
           HOLDS(lrq->special ==
                 (lrq->lifo || lrq->runnext_cap > 0 || lrq->inbox || lrq_has_blocks(lrq))) &&
           HOLDS(lrq->next_runs <= lrq->runnext_cap) && HOLDS(lrq->walk_steps <= lrq->walk_n) &&
           HOLDS(lrq->taken) && (!lrq_has_blocks(lrq) || lrq_blocks_are_valid(lrq));
}

/* Owner: puts gp into runnext (next, if the knob is on) or at the tail. */
void lrq_put(struct m *m, struct lrq *lrq, struct globq *globq, struct g *gp, bool next);

/* Can it be that lrq_keeps()? If not, init() says so in sched->keeps. */
static inline bool lrq_may_keep(const struct lrq_knobs *knobs)
{
    return (knobs->runnext && !knobs->runnext_wake) || knobs->queue == QUEUE_BWOS;
}

/* Owner, on any stack, with lrq_may_keep(): is what it has in runnext, or in blocks of its own, all
 * that there is? For sched_ops.keeps. */
bool lrq_keeps(const struct m *m, struct lrq *lrq, struct globq *globq);

/* Owner: runnext, else the head, or with lifo the tail, else NULL. */
struct g *lrq_get(struct m *m, struct lrq *lrq, bool *inherit);

/* Owner, with nothing of its own, whatever `search` says: a batch from the global queue for one of
 * `procs` Ps; the first is returned. */
struct g *lrq_get_global(struct m *m, struct lrq *lrq, struct globq *globq, int32_t procs);

/* Go's findRunnable up to stealing: 1 in tick from the global queue, own queue, global queue. With
 * search=steal the last is left for when others were searched: lrq_get_global(). */
struct g *lrq_pick(struct m *m, struct lrq *lrq, struct globq *globq, bool *inherit);

/* The same without the 1 in tick, where `procs` Ps share the global queue. */
struct g *lrq_pick_of(struct m *m, struct lrq *lrq, struct globq *globq, int32_t procs,
                      bool *inherit);

/* Is it, by `tick`, the global queue's turn? With tick=random it asks the generator. */
bool lrq_tick_is_due(struct m *m, const struct lrq *lrq);

/* With backoff_ns=never runnext is private; for how long is the variant's to say. */
static inline bool lrq_has_private_next(const struct lrq_knobs *knobs)
{
    return knobs->backoff_ns == BACKOFF_NEVER;
}

/* Thief: moves a share of victim's ring to mine (empty) and returns the youngest of it, or runnext
 * if the ring is empty and steal_next. victim_runs: its owner runs a G now. g0. */
struct g *lrq_steal(struct m *m, struct lrq *mine, struct lrq *victim, bool steal_next,
                    bool victim_runs);

/* Nobody uses it but the caller, and others' puts into the inbox: moves all to the global queue,
 * oldest first, then runnext, then the inbox. */
void lrq_drain(struct m *m, struct lrq *lrq, struct globq *globq);

/* How many Gs it holds, without those of its inbox. A hint; any thread. */
int64_t lrq_length(struct lrq *lrq);

/* Is there something that another M may take, from runnext only if that is not private? For
 * has_work(); any thread. */
bool lrq_has_work(struct lrq *lrq, bool private_next);

/* The walk through n victims: start and step of one pass. Source: Go 1.26 proc.go randomOrder:
 * start and step are independent, and a step coprime to n visits each exactly once. With
 * victim=random each is drawn anew, so that some are met twice and others not at all; only then
 * is it written down who has been met. With victim=near it is two such walks, one behind the other:
 * through n victims that are near, then through n that are not. */
struct walk {
    uint32_t at, step, left, n;
    struct m *draws; /* whose generator each step, or the second walk, asks; NULL: no more draws */
    struct lrq *mine;
};

/* Owner: the pass-th walk of a search, from 0, by the self-th of n. g0. */
struct walk walk_start(struct m *m, struct lrq *mine, uint32_t n, uint32_t self, int64_t pass);

/* Counts a search whose walks are over and have found nothing, and, with victim=random, how many
 * of those that its first walk was through none of them came to (VICTIMS_MISSED). g0. */
void lrq_found_nothing(struct m *m, const struct lrq *mine);

/* The search has come to the i-th victim. */
static MACHINE_TAKES_NO_TIME void lrq_search_meets(struct lrq *mine, uint32_t i)
{
    INVARIANT(mine->met || mine->walk_n == 0);
    if (i < mine->walk_n) /* an M that has come since the beginning is none of them */
        mine->met[i / 64] |= UINT64_C(1) << i % 64;
}

/* With `near`: walk_next(), while some are left. */
void walk_next_near(struct walk *walk, uint32_t *victim);

static inline bool walk_next(struct walk *walk, uint32_t *victim)
{
    INVARIANT(walk->at < walk->n);
    if (walk->left == 0)
        return false;
    walk->left--;
    if (walk->draws) {
        if (walk->mine->near) {
            walk_next_near(walk, victim);
            return true;
        }
        walk->at = (uint32_t)((m_random(walk->draws) >> 32) % walk->n);
        lrq_search_meets(walk->mine, walk->at);
    }
    *victim = walk->at;
    walk->at = (walk->at + walk->step) % walk->n;
    return true;
}

#endif
