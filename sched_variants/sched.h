/* sched.h - THE contract of a variant: one const struct sched_ops.
 *
 * A variant decides where runnable Gs wait and who may take them from where. Everything else is the
 * runtime (runtime/) and the same for all variants: the life of Gs and Ms, parking, waking,
 * spinning, timers, channels. So two variants differ in the decision under test alone.
 *
 * Counting is the variant's part where it decides: STEALS, STEALS_FAILED, STOLEN, VICTIM_PROBES,
 * LOCAL_HITS, RUNNEXT_HITS, GRQ_HITS and the like (runtime/stats.h). So is telling where it puts
 * a G and takes one from: sched_event() with SCHED_PUT and SCHED_TAKEN (runtime/events.h).
 *
 * A G's way:   go() -> ready(NEW) -> pick()/steal() -> runs -> parks -> ready(WOKEN) -> pick() ...
 *
 * Stacks and locks. ready() and pick() are called on a goroutine's stack or on a scheduler stack
 * (g0), on an M that holds a P, but for READY_INJECTED; steal() runs on g0 only. The runtime
 * holds no lock during these calls (waitq.h, "parting"). A variant takes only its own locks, and
 * calls nothing that parks. It keeps no thread-local and no global variables: its state hangs off
 * sched->variant, p->variant and m->variant.
 */
#ifndef SCHEDLAB_SCHED_H
#define SCHEDLAB_SCHED_H

#include "param.h"
#include "runtime/g.h"

/* Why a G becomes runnable: what a variant may base its placement on. */
enum ready_how {
    READY_NEW,       /* go(): the child */
    READY_WOKEN,     /* a channel, lock, wait group, join or timer released it */
    READY_YIELD,     /* gosched(): the caller itself, still on its stack */
    READY_STEP_BACK, /* it handed a lock to a waiter and lets that one run; else as READY_YIELD */
    READY_PARENT,    /* FJ_WORK: the parent whose child starts now, still on its stack */
    READY_PREEMPTED, /* its slice is over; still on its stack */
    READY_POLLED,    /* I/O has made it ready: behind all that this worker has */
    READY_INJECTED,  /* to where every worker looks: m may hold no P (sysmon, a poller, a blocking
                        call that is over); a G whose call is over is still on its stack */
};

struct sched_ops {
    const char *name;   /* one word: folder, command line, plot key */
    const char *idea;   /* one line for `schedlab list` */
    const char *source; /* where the design comes from: keys of docs/PAPERS.md */

    /* Knobs. The struct at sched->knobs has knobs_size bytes, begins with struct runtime_knobs, and
     * is filled from the table before init(). A knob not in the table does not exist for this
     * variant. */
    const struct param *knobs;
    size_t knobs_size;

    /* FJ_GO: children are goroutines. FJ_HELP, FJ_WORK: see runtime/forkjoin.h. With FJ_WORK go()
     * too runs the child at once and readies the parent; there init() may set sched->forkjoin to
     * FJ_LINKED. */
    enum fj_policy forkjoin;

    /* Most Gs that may be alive at one time; 0 = bounded by memory only. Cells whose workload says
     * it may need more are skipped, with limit_reason. */
    uint64_t live_gs_max;
    const char *limit_reason;

    /* One thread whatever the number of workers (N:1). */
    bool single_threaded;

    /* Optional. Which knobs change nothing beside which values of others. */
    const struct param_moot *moot;

    /* Optional. Check what ranges cannot say; NULL or one line saying what is wrong and what is
     * valid. */
    const char *(*check)(const void *knobs);

    /* Optional. init(): once, when all Ps of sched->allp are there (with thread_per_g others come
     * later, and have none), and before the first M. m_init(): for each M before it runs its first
     * G, on the thread that creates it; traces take a variant that has it for one whose queues are
     * the threads'. fini(): once, when nothing runs any more; all Ps and Ms are there yet. After
     * that the runtime frees sched->variant, p->variant and m->variant: NULL, or each of its own
     * by sched_zalloc(). fini() frees what hangs off them. Errors end the process through fatal().
     * init() may set sched->ops to another table of the variant's, which differs in the hooks
     * behind m_init. */
    void (*init)(struct sched *sched);
    void (*m_init)(struct sched *sched, struct m *m);
    void (*fini)(struct sched *sched);

    /* Required. gp is runnable: put it where it will be found. `how` says why. Wakes nobody: the
     * runtime calls wakep() after it (gosched included), which does nothing for a variant with
     * `blocks`, whose ready() itself wakes the M that shall run gp. With READY_YIELD,
     * READY_STEP_BACK, READY_PARENT, READY_PREEMPTED and at times READY_INJECTED gp is still on its
     * stack; who takes it then, waits (g.h, "off-stack"). */
    void (*ready)(struct m *m, struct g *gp, enum ready_how how);

    /* Optional. Asked by wakep() after ready() or a batch of them, where a worker is idle: does m
     * keep to itself all that can be had, so that nobody need be woken? Not asked if init() has set
     * sched->keeps to NULL, since by the knobs nobody ever does. Default: no. */
    bool (*keeps)(struct m *m);

    /* Required. The next G for this M's P from what it may take without looking at other Ps' queues
     * (own queue, global queue); NULL if there is none. Never waits. Sets *inherit if gp goes on in
     * the slice of the G before it, so that schedtick stays. */
    struct g *(*pick)(struct m *m, bool *inherit);

    /* Optional. One search through the others' queues; NULL if nothing was found. Called only while
     * m->spinning. Default: nothing to steal.
     * With sched->picks_last, which init() may set, pick() leaves some queues alone until others'
     * have been searched. Then steal() takes from these last. It is called while m is not spinning
     * too, does not search then, and takes from these at once. A look at descriptors comes after
     * it, and not before. */
    struct g *(*steal)(struct m *m);

    /* Optional. gp has returned on m, which holds its P, and is readied no more; called on gp's
     * stack, before m picks another. Default: nothing. */
    void (*ended)(struct m *m, struct g *gp);

    /* Required unless `blocks`. Is there work that a P about to go idle could get by pick() or
     * steal()? An M that is about to sleep calls it without a P, and once more under
     * sched->lock before a deadlock is reported. A mutex that is about to spin calls it with a P.
     * Takes no lock. May err towards true, never towards false. */
    bool (*has_work)(struct sched *sched);

    /* Required if queues are the workers' or the threads'. Moves Gs to where every worker looks
     * (READY_INJECTED). With a p those of p: it either is m's and is to be used no more
     * (p->retired), or was that of an M in a call and is to become idle. With NULL those of m,
     * which is about to sleep until others want it; then the result is true if there were any.
     * Default: nothing is theirs. */
    bool (*drain)(struct m *m, struct p *p);

    /* Optional, for schedtrace: how many Gs are queued for p; NULL: for all. A hint; any thread.
     * Default: 0. */
    int64_t (*queued)(struct sched *sched, struct p *p);

    /* Workers are not interchangeable: no idle protocol, an M for which pick() found nothing sleeps
     * in m_block() until ready() wakes exactly it with m_block_wake(). */
    bool blocks;

    /* 1:1: every M runs one G in its life and ends with it; sleeps are the kernel's. */
    bool thread_per_g;
};

/* All variants, NULL-terminated, in the order of design documents (registry.c). */
extern const struct sched_ops *const sched_variants[];

/* The names in the registry, in the same order: a folder's name, to which .name has to be equal. */
extern const char *const sched_variant_words[];

#endif
