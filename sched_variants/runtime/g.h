/* g.h - G, M, P and the scheduler: the objects that Go's runtime has too, and what the runtime
 * offers a variant.
 *
 *   G  a goroutine: a stack, a saved stack pointer, a state
 *   M  an OS thread; runs one G at a time, or its scheduler loop on g0 (the thread's own stack)
 *   P  the right to run Gs; there are as many as workers. An M holds a P while it runs a G.
 *
 * Source: Go 1.26 runtime/runtime2.go.  Differs: a G is never on two lists; see "off-stack" below.
 *
 * Invariants
 *   every M that runs a G holds a P;  a P is held by one M or is on the idle list
 *   a G in a queue is RUNNABLE and in exactly one queue;  a RUNNING G is some M's curg
 *   Ps = held + idle;   spinning Ms hold a P and run no G
 *
 * Off-stack. A G that parks or yields may be made runnable, and taken by another M, while its own M
 * still runs on its stack to look for the next G. on_cpu tells this: it is 1 from the moment an M
 * decides to run the G until another stack runs on that M. (O1: release store of 0 by the next
 * context, pairs with O2: acquire load by whoever wants to run it.) An M that finds on_cpu == 1
 * first leaves for its own g0, so that it keeps nobody waiting itself, and waits there. Two Ms that
 * each want the other's G therefore cannot wait for each other.
 *   Rejected: Go's way, a commit function that the next context runs after the switch. It has to
 *   hold the channel's lock across the switch, and always goes through g0.
 */
#ifndef SCHEDLAB_G_H
#define SCHEDLAB_G_H

#include "events.h"
#include "forkjoin.h"
#include "knobs.h"
#include "lock.h"
#include "machine.h"
#include "qlock.h"
#include "runtime.h"
#include "stats.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct p;
struct sched;
struct sched_ops;

/* Why a G waits, for the deadlock report. */
enum wait_reason {
    WAIT_NONE,
    WAIT_CHAN_SEND,
    WAIT_CHAN_RECV,
    WAIT_WAITGROUP,
    WAIT_MUTEX,
    WAIT_COND,
    WAIT_JOIN,
    WAIT_SYNC,
    WAIT_SLEEP,
    WAIT_IO_READ,
    WAIT_IO_WRITE,
    WAIT_IO_TURN, /* another G reads from, or writes to, the same descriptor */
    WAIT_IO_CLOSE,
    WAIT_CHILD, /* FJ_WORK: runnable, rests in fj_spawn() of frame wait_on */
    WAIT_SELECT,
    WAIT_SEM,
    WAIT_READ_LOCK,
    WAIT_WRITE_LOCK,
};

/* The first line is all that making, switching, waking and ending a G touch. */
struct g {
    /* the M that runs it */
    _Alignas(64) void *sp; /* saved context (ctx.h) while not running */
    char *stack;           /* lowest address, guard included; NULL until it first runs */
    union {
        void (*fn)(void *); /* until it first runs */
        fj_fn *task_fn;
        void *wait_on; /* while it waits: the object, for the report */
    };
    union {
        void *arg;       /* until it first runs */
        void *wait_elem; /* while it waits on a channel: where the element is, or goes */
    };
    struct fj_frame *frame; /* not NULL: a fork/join child of that frame, task_fn runs */

    /* the queue that holds it, or its waker */
    struct g *link;

    struct m *last_m; /* ran it last; NULL: it has not run yet */
    int32_t tag;      /* the variant's own; 0 in a new G */

    /* shared */
    _Atomic uint8_t on_cpu; /* see "off-stack" */

    /* set by the G before it parks, by its waker before it readies it */
    uint8_t wait_reason;
    union {
        bool wake_ok;     /* the waker's answer: for chan_recv, false = closed */
        bool wake_handed; /* mutex: the lock was handed over */
    };

    bool alive : 1;          /* created and not ended; for the deadlock report */
    bool locked : 1;         /* runs on locked_m only: thread.c */
    bool big_stack : 1;      /* main: a stack of its own size, not from the cache */
    bool child_returned : 1; /* FJ_WORK: resumed by its own child's return; not stolen meanwhile */

    uint32_t id;
    _Atomic uint32_t queued; /* debug builds: 1 from ready() until it is put on a worker */
    int64_t wait_since;      /* mutex: when it began to wait; sleep: when it ends */
    struct m *locked_m;      /* if locked */
    uint32_t locks;          /* how often */

    /* sanitizer builds: the stack's identity to ThreadSanitizer, the fake stack to AddressSanitizer
     * */
    void *fiber;
};
_Static_assert(offsetof(struct g, id) == 64, "what is hot fills one cache line");

/* DETOUR_LOCKED: the M's own; DETOUR_RETIRED: set by others too. */
enum detour { DETOUR_LOCKED = 1, DETOUR_RETIRED = 2 };

/* Free Gs and stacks of an M: caches over the global lists in struct sched. */
struct g_cache {
    struct g *gs;
    char *stacks; /* linked through their topmost word */
    uint32_t gs_count, stacks_count;
};

/* An M's note (idle.c). SLEEPING_TIMED: will wake by itself, so that it counts as active to the
 * deadlock check of m_block(). WOKEN: remembered until it next wants to sleep. POLLING: as
 * SLEEPING_TIMED, in netpoll(). */
enum m_note { NOTE_NONE, NOTE_SLEEPING, NOTE_SLEEPING_TIMED, NOTE_WOKEN, NOTE_POLLING };

struct m {
    struct fj_worker fj; /* first: FJ_LINKED's spawn finds it there; cache line aligned */

    /* the M itself */
    struct p *p;             /* NULL while idle */
    struct g *curg;          /* NULL on g0 */
    _Atomic uint32_t detour; /* enum detour: why the next scheduling point has to go through g0 */
    struct g *locked_g;      /* the only G that it may run; NULL: any */
    struct sched *sched;
    const struct sched_ops *ops;
    struct g_cache cache;
    void *variant;              /* the variant's own */
    _Atomic(struct p *) call_p; /* in a blocking call: the P it may come back to; else NULL */
    uint32_t call_word;         /* what p->call was made by it; 0: it has given the P up */
    _Atomic int32_t core;       /* with sched->pin, the core that its thread runs on */
    uintptr_t call_pc;          /* calls=adaptive: the call's site, and when it began; else 0 */
    int64_t call_since;
    struct g *next;   /* the G that g0 shall run at once, or NULL */
    struct g *polled; /* made ready by I/O, runs first on the P that m has got; or NULL */
    bool next_inherit;
    bool spinning;
    bool watched;    /* it was timer_m or poll_m when it left the idle list; under sched->lock */
    bool one_g_done; /* 1:1: its G has ended, so does the thread */
    bool fences_all, fence_turns; /* fence.c: the fence that it owes, and what follows on it */
    int32_t id;                   /* 0.. in order of creation */
    uint64_t rng[2];
    struct g g0; /* the thread's own stack as a context to switch to */
    size_t g0_stack_size;
    struct machine_thread thread;
    int64_t parents; /* FJ_WORK: that it has put to rest in a spawn; parents_taken to be deducted */
    struct p *old_p; /* for READY_INJECTED: the P of its G before the call; else NULL */
    void **g_magazine, **stack_magazine; /* empty ones, or NULL: depot.h */

    _Alignas(64) struct stats stats; /* written by this M only */

    /* the M before and the one behind it in a list of waiters */
    _Alignas(64) struct qlock_node lock_node;

    /* others, to wake it */
    _Alignas(64) _Atomic uint32_t note; /* idle.c */
    struct p *nextp;                    /* set before note, by who holds the idle M */
    bool next_spinning;
    _Atomic bool preempt;       /* its G has run for a slice: preempt.c */
    struct machine_thread self; /* the thread as it knows itself, to interrupt it */
    _Atomic bool has_self;      /* V1 of preempt.c */
    _Atomic uint32_t fence_scratch;
    struct m *idle_link;           /* protected by sched->lock */
    struct m *all_link;            /* set once */
    _Atomic int64_t parents_taken; /* of its parents: that others have gone on with */
};

/* Full magazines: depot.h. */
struct depot {
    uint32_t full, room;
    void ***magazine; /* so many as there is room for */
};

struct p {
    int32_t id;
    void *variant;
    struct p *idle_link;   /* protected by sched->lock */
    _Atomic(struct m *) m; /* who holds it; NULL when idle */
    bool retired;          /* on sched->retired_p; protected by sched->lock */

    /* written by the M that holds the P; relaxed: others only look whether it changes */
    _Atomic uint32_t schedtick; /* dispatches that did not inherit */
    _Atomic uint32_t call;      /* syscall.c; odd: its M is in a blocking call */

    /* the M that holds the P */
    int64_t live; /* Gs created minus ended since the last hand-in */
    _Atomic int64_t live_max;
    int64_t unstarted;
    struct timers *timers;             /* its heap (timer.h); constant */
    struct depot g_depot, stack_depot; /* empty while nobody holds the P */

    /* STAT_BUSY_NS, written by the P's holder. If >= 0: for how many ns the P had a goroutine; it
     * has none now. Else it has one, and this is those ns, less the time when it got it, less 1.
     * One word, so that who reads it meanwhile finds no half of a change. relaxed: see stats.h */
    _Atomic int64_t busy;
};

static inline uint32_t p_schedtick(const struct p *p)
{
    return atomic_load_explicit(&p->schedtick, memory_order_relaxed);
}

/* Is the M that holds p in a blocking call? A hint. */
static inline bool p_in_call(const struct p *p)
{
    return atomic_load_explicit(&p->call, memory_order_relaxed) & 1;
}

/* m does something with gp, on any stack: see events.h. */
static MACHINE_TAKES_NO_TIME void sched_event_g(const struct m *m, enum sched_event kind,
                                                const struct g *gp, int32_t a, int32_t b)
{
    machine_event(kind, m->id, m->p ? m->p->id : -1, gp->id, a, b);
}

/* Likewise, if there is a gp; or something without one, which is NULL then. */
static MACHINE_TAKES_NO_TIME void sched_event(const struct m *m, enum sched_event kind,
                                              const struct g *gp, int32_t a, int32_t b)
{
    if (gp || kind >= SCHED_EVENT_FIRST_OF_MS)
        machine_event(kind, m->id, m->p ? m->p->id : -1, gp ? (int64_t)gp->id : -1, a, b);
}

/* n times: not at all, or once, so that the caller need not branch. */
static MACHINE_TAKES_NO_TIME void sched_event_if(const struct m *m, enum sched_event kind, bool n)
{
    if (n)
        machine_event(kind, m->id, m->p ? m->p->id : -1, -1, 0, 0);
}

/* Something that m does to another M, or to a P. */
static MACHINE_TAKES_NO_TIME void sched_event_m(const struct m *m, enum sched_event kind,
                                                const struct m *other)
{
    machine_event(kind, m->id, m->p ? m->p->id : -1, -1, other->id, 0);
}

static MACHINE_TAKES_NO_TIME void sched_event_p(const struct m *m, enum sched_event kind,
                                                const struct p *p)
{
    int32_t id = p->id; /* before m->p is looked at, which may be p */
    machine_event(kind, m->id, m->p ? m->p->id : -1, -1, id, 0);
}

/* For the trace: it is readied, and waits for a worker only. Relaxed, here and where it is read: it
 * may still be about to park, and tell why; no data goes with the reason. */
static inline void g_waits_no_more(struct g *gp)
{
    __atomic_store_n(&gp->wait_reason, WAIT_NONE, __ATOMIC_RELAXED);
}

static MACHINE_TAKES_NO_TIME void sched_event_park(const struct m *m)
{
    int32_t reason = __atomic_load_n(&m->curg->wait_reason, __ATOMIC_RELAXED);
    machine_event(SCHED_PARKED, m->id, m->p ? m->p->id : -1, m->curg->id, reason, 0);
}

#define POLLED_NOW INT64_MAX

struct netpoll; /* netpoll.c */
struct timers;
struct sysmon;
struct wake_later;
struct width;
struct outside;
struct beat;
struct call_sites;
struct g_slab;     /* galloc.c */
struct stack_slab; /* stacks.c */
enum { G_SHELVES = 3, STACK_SHELVES = 4 };

struct sched {
    /* constant during a run */
    const struct sched_ops *ops;
    void *knobs; /* begins with struct runtime_knobs */
    struct runtime_knobs *runtime;
    enum fj_policy forkjoin;    /* ops->forkjoin, unless the variant's init() says otherwise */
    enum deque_kind deques;     /* of tasks, and of pdeque.c; likewise */
    bool (*keeps)(struct m *m); /* ops->keeps, unless the variant's init() has set it to NULL */
    void *variant;
    uint32_t globq_lock; /* enum qlock_kind: 0, unless the variant's init() says otherwise */
    int schedtrace_fd;
    int64_t look_ns; /* of a spinner, before it gives up: idle.c; likewise */
    int32_t procs;   /* number of Ps; 1 in 1:1 variants, whose Ps come and go with their threads */
    _Atomic int32_t procs_used; /* those that may be held; written under lock (thread.c) */
    int32_t workers;            /* cores the run may use */
    int64_t live_step;          /* Ms hand in their counts of Gs when they are off by this much */
    bool exact;                 /* one P only: peaks are counted exactly */
    bool pin;                   /* an M runs on the i-th core while it holds P i */
    int64_t schedtrace_ns;      /* 0: no trace */
    bool scheddetail;
    _Atomic int32_t plain_ps; /* Ps from this one on want more than to be taken: m_acquire_p() */
    uint64_t seed;
    size_t stack_size, guard_size;
    struct p **allp;
    void (*m_started)(struct m *m, void *hook_arg); /* on the M's thread, before its first G */
    void (*m_stopping)(struct m *m, void *hook_arg);
    void *hook_arg;
    bool picks_last;         /* ops->steal's; false, unless the variant's init() says otherwise */
    const int32_t *groups;   /* as in struct sched_config */
    int64_t beat_ns;         /* promote=beat; else 0 */
    enum fj_promote promote; /* FJ_HELP's, if the variant's init() says so */
    enum fj_join join;       /* FJ_WORK's and FJ_LINKED's, likewise */
    struct beat *beat;       /* NULL: no promote=beat */

    /* looked at at every scheduling point, written when an M goes idle */
    _Alignas(64) _Atomic int32_t spinning; /* Ms spinning */
    _Atomic int32_t idle_ps;
    _Atomic bool submitters_fence; /* fence.c; false with one P, whose Ms fence themselves */
    _Atomic bool sysmon_deep;      /* sysmon sleeps until a P is taken */

    /* the idle protocol (idle.c) */
    _Alignas(64) lock_t lock;        /* protects the lists below */
    _Atomic bool sleepers_fence_all; /* fence.c, likewise */
    int32_t fence_sleeps;            /* Ps given up since */
    int64_t fence_since;
    struct p *idle_p; /* taken from the head; put there too, unless idle=fifo */
    struct m *idle_m; /* likewise */
    int32_t idle_ms;
    int32_t locked_ms;         /* Ms asleep until their locked G is runnable */
    struct p *retired_p;       /* Ps that may not be held */
    struct m *poll_m;          /* the M that waits in netpoll() */
    struct m *timer_m;         /* the idle M that sleeps until the next timer, */
    int64_t timer_when;        /* which is due then */
    _Atomic bool heap_emptied; /* a heap with a server became empty since the servers were asked */
    struct m *dead_m;          /* Ms whose thread has ended, for reuse (1:1 only) */

    /* Ms */
    _Atomic(struct m *) allm;  /* pushed at the head, never removed during a run */
    _Atomic int32_t ms;        /* Ms that have, or are about to have, a thread */
    _Atomic int32_t ms_made;   /* the next M's id */
    _Atomic int32_t active;    /* Ms not asleep in m_block(), or asleep with an end; for `blocks` */
    _Atomic uint32_t stopping; /* main has returned */
    _Atomic uint32_t running;  /* threads that still use this struct; futex */
    struct m *main_ended_on;   /* written before `stopping`, read after it */

    /* Gs (galloc.c) */
    _Alignas(64) lock_t g_lock; /* alone on its line, which those who wait look at */
    _Alignas(64) LIST_HEAD(, g_slab) g_shelves[G_SHELVES];
    uint32_t next_id;
    _Atomic int64_t gs_free; /* in slabs and g_depot */
    struct depot g_depot;
    _Atomic bool gives_back; /* an M gives Gs or stacks back */

    /* their stacks (stacks.c) */
    _Alignas(64) lock_t stack_lock; /* as g_lock */
    _Alignas(64) LIST_HEAD(, stack_slab) stack_shelves[STACK_SHELVES];
    _Atomic int64_t stacks_warm; /* free with memory: in slabs and stack_depot */
    char *main_stack;
    size_t stacks_out; /* in use, in an M's cache or in a P's depot */
    _Atomic size_t stacks_out_peak;
    struct depot stack_depot;

    /* how many Gs live (galloc.c) */
    _Alignas(64) _Atomic int64_t live_gs, live_gs_peak;

    _Alignas(64) _Atomic int32_t io_waiters; /* Gs that wait for a descriptor */
    _Atomic(struct netpoll *) netpoll;       /* NULL until the first descriptor is polled */
    _Atomic int64_t polled_at;               /* when a worker last looked; POLLED_NOW: one waits */

    struct timers *timers;             /* the heaps; see timer.c */
    int32_t heaps;                     /* how many */
    struct call_sites *call_sites;     /* calls=adaptive */
    struct sysmon *sysmon;             /* NULL: off */
    _Atomic(struct outside *) outside; /* NULL until the first go_outside() */
    int64_t wake_delay_ns;             /* 0, unless the variant's init() says otherwise */
    struct wake_later *wake_later;     /* NULL: new work wakes at once */
    struct width *width;               /* NULL: all Ps may be awake */
    void *main_fiber;                  /* ThreadSanitizer builds: of the main goroutine's stack */
};

void wakep_slow(struct m *m);    /* idle.c */
void wakep_readied(struct m *m); /* likewise, unless m keeps what it has readied to itself */

/* For variants ------------------------------------------------------------------------------ */

/* Random bits from the M's own generator (xoroshiro128+), seeded from sched->seed and m->id. */
uint64_t m_random(struct m *m);

/* All Ms that exist, newest first; they are never freed while the scheduler runs. */
static inline struct m *sched_first_m(struct sched *sched)
{
    return atomic_load_explicit(&sched->allm, memory_order_acquire); /* A2 */
}

static inline uint32_t sched_list_length(const struct m *newest)
{
    uint32_t count = 1;
    INVARIANT(newest);
    while ((newest = newest->all_link))
        count++;
    return count;
}

/* False while the M sleeps. A hint. */
static inline bool m_is_awake(struct m *m)
{
    uint32_t note = atomic_load_explicit(&m->note, memory_order_relaxed);
    return note == NOTE_NONE || note == NOTE_WOKEN;
}

/* The core that m's thread runs on, or ran on last; -1: any. A hint to others. */
static inline int32_t m_core(const struct m *m)
{
    return atomic_load_explicit(&m->core, memory_order_relaxed);
}

/* Does the core of the worker of that number (< 0: nobody knows it) share no last cache with m's?
 * Pre: m has a P. */
static MACHINE_TAKES_NO_TIME bool m_is_far_from(const struct m *m, int32_t worker)
{
    const int32_t *groups = m->sched->groups;
    return groups && worker >= 0 && groups[worker] != groups[m->p->id];
}

/* m has stolen from that worker: STEALS_FAR. */
static MACHINE_TAKES_NO_TIME void m_count_far(struct m *m, int32_t worker)
{
    if (!m_is_far_from(m, worker))
        return;
    _Atomic uint64_t *far = &m->stats.value[STAT_STEALS_FAR];
    atomic_store_explicit(far, atomic_load_explicit(far, memory_order_relaxed) + 1,
                          memory_order_relaxed); /* see stats.h */
}

/* The same where workers are Ms. The victim's line is looked at only if it matters. */
static MACHINE_TAKES_NO_TIME void m_count_far_m(struct m *m, const struct m *victim)
{
    if (m->sched->groups)
        m_count_far(m, m_core(victim));
}

/* How many Ps may be held. A hint. */
static inline int32_t sched_procs_used(const struct sched *sched)
{
    return atomic_load_explicit(&sched->procs_used, memory_order_relaxed);
}

/* Is it in a blocking call? A hint to others. */
static inline bool m_in_call(const struct m *m)
{
    return atomic_load_explicit(&m->call_p, memory_order_relaxed);
}

/* Zeroed, cache-line aligned memory for a variant's state; dies if there is none. name: a literal,
 * under which a simulated machine shows its misses (machine_name(), harness/models/structures.c).
 */
void *sched_zalloc(size_t size, const char *name);

/* Makes gp, a parked G, runnable through the variant, and wakes a worker. Any M; g's stack or g0.
 * */
void g_ready(struct g *gp);

/* The current G has handed something on and steps back behind the one it readied (Go: goyield). */
void g_step_back(void);

/* Parks the current G; somebody readies it, perhaps before this call. The caller has set
 * wait_reason and wait_on and has made itself findable, and holds no lock. */
void g_park(void);

/* For a variant's init(): wake-ups keep so many Ps awake as the load asks for (width.c). */
void width_init(struct sched *sched);

/* True if certainly no P is idle; the caller has made work visible. S2 and S3 of idle.c without a
 * fence, since an M that goes to sleep makes all cores fence (I3). False where submitters fence. */
static inline bool nobody_idles(struct sched *sched)
{
    atomic_signal_fence(memory_order_seq_cst);
    /* the flag first: F5 of fence.c. Relaxed: I3 */
    bool nobody = !atomic_load_explicit(&sched->submitters_fence, memory_order_acquire) &&
                  atomic_load_explicit(&sched->idle_ps, memory_order_relaxed) == 0;
    if (nobody)
        machine_step("S3");
    return nobody;
}

/* New work is in a queue: wake an idle worker if the wake policy says so. */
static inline void wakep(struct m *m)
{
    struct sched *sched = m->sched;
    if (__builtin_expect(!nobody_idles(sched), 0))
        wakep_readied(m);
}

/* For a variant with `blocks`: sleeps until m_block_wake(m), its P's next timer, or the end of the
 * run.
 * A wake before the sleep is remembered once. If all Ms sleep and no timer is set, it reports a
 * deadlock. g0. */
void m_block(struct m *m);
void m_block_wake(struct m *self, struct m *m); /* self: the M that runs the caller */

/* For 1:1 variants: a thread (M with a P of its own) that runs gp and nothing else. */
void m_start_with(struct m *self, struct g *gp);

/* FJ_HELP and FJ_LINKED: the oldest public task or frame of another M, or with `own` of m too.
 * Looks at each M once, from a random start. NULL if there is none; then they have been asked for
 * some. */
void *fj_steal(struct m *m, bool own);
bool fj_has_work(struct sched *sched); /* is anything public? */

/* A fresh G that will run a stolen task and then count it as a finished child of its frame; or that
 * continues a stolen frame. */
struct g *g_new_for_task(struct m *m, struct fj_task *task);
struct g *g_new_for_frame(struct m *m, struct fj_frame *frame);

/* gp goes to an M without a queue in between. */
static inline void g_hand_over(struct g *gp)
{
    INVARIANT(gp);
#ifdef SCHEDLAB_DEBUG
    atomic_store_explicit(&gp->queued, 1, memory_order_relaxed); /* as if from a queue */
#endif
    (void)gp;
}

/* A global queue's lock with its waits counted (GRQ_LOCKS, GRQ_LOCK_WAITS, GRQ_LOCK_SPINS). */
static inline void grq_lock_count(struct m *m, uint32_t rounds)
{
    stat_add(&m->stats, STAT_GRQ_LOCKS, 1);
    if (rounds) {
        stat_add(&m->stats, STAT_GRQ_LOCK_WAITS, 1);
        stat_add(&m->stats, STAT_GRQ_LOCK_SPINS, rounds);
    }
}

static inline void grq_lock(struct m *m, lock_t *lock)
{
    grq_lock_count(m, lock_acquire(lock));
}

/* Ends the process: "schedlab: fatal: ..." on standard error, exit status 70 (broken invariant) or,
 * for fatal_env(), 71 (the environment refused). Any stack. */
_Noreturn void fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void fatal_env(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For the harness ----------------------------------------------------------------------------- */

struct sched_config {
    const struct sched_ops *ops;
    void *knobs; /* filled from ops->knobs; outlives the run */
    int workers;
    uint64_t seed;
    size_t stack_size; /* bytes; 0: 64 KiB */
    bool pin;
    /* By worker: which of them share a last cache, as equal numbers. NULL: all do, or nobody knows.
     * Outlives the run. */
    const int32_t *groups;
    int64_t schedtrace_ns; /* a line of state that often; 0: none */
    bool scheddetail;      /* with it: all Ps and Ms */
    int schedtrace_fd;     /* where to: a descriptor */
    void (*m_started)(struct m *m, void *hook_arg);
    void (*m_stopping)(struct m *m, void *hook_arg);
    void *hook_arg;
};

/* Makes a scheduler with its Ps and first M; start it with sched_run(). NULL with *error set to
 * -errno if memory or threads are refused. */
struct sched *sched_new(const struct sched_config *config, int *error);

/* Runs main_fn(arg) as the main goroutine on the calling thread as M 0; returns when it has
 * returned and all Ms have stopped. Other Gs must have ended by then, or, where signals stop them
 * (preempt=signal), need only to return; the number still alive is returned. */
int64_t sched_run(struct sched *sched, void (*main_fn)(void *), void *arg);

/* The merged value of a counter over all Ms. Any thread, during and after a run. */
uint64_t sched_stat(struct sched *sched, enum stat_id which);

/* STAT_BUSY_NS, and into each[0..max) that of each worker (P). Likewise; 1:1 variants have no
 * workers. */
uint64_t sched_busy_ns(struct sched *sched, uint64_t *each, size_t max);

/* The part of a summed counter that threads without a P have counted: sysmon, the poller. Likewise.
 */
uint64_t sched_stat_rest(struct sched *sched, enum stat_id which);

/* Not 0 while a wake-up is put off (wakelater.c); NULL: none ever is. */
const _Atomic int64_t *sched_wake_due(const struct sched *sched);

void sched_free(struct sched *sched);

#endif
