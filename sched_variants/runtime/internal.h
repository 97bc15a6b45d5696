/* internal.h - what the files of the runtime offer each other, and nobody else. */
#ifndef SCHEDLAB_INTERNAL_H
#define SCHEDLAB_INTERNAL_H

#include "g.h"
#include "sched.h"

enum {
    STACK_SIZE_DEFAULT = 64 << 10,
    STACK_SIZE_DEEP = 1 << 20,   /* FJ_HELP, FJ_LINKED call children on their parent's stack */
    STACK_SIZE_MAIN = 16 << 20,  /* the main goroutine may recurse like a plain C main */
    STACK_SIZE_THREAD = 1 << 20, /* g0 runs only the scheduler */
    STACK_SIZE_THREAD_PER_G = 32 << 10,
};

/* Limits of what ended Gs leave behind, beside the caches of the Ms, once a worker has been idle.
 * Free Gs take up to 64 MiB. So do free stacks that have memory, if each has touched one page. With
 * ThreadSanitizer each stack also has a fiber of hundreds of KB, and there can be 8128 fibers. */
enum {
#if defined(SCHEDLAB_TSAN)
    GS_KEPT = 1 << 12, /* so that a test needs no more to see the rest go */
    STACKS_KEPT = 1 << 8,
#else
    GS_KEPT = 1 << 19,
    STACKS_KEPT = 1 << 14,
#endif
};

/* Each x_is_valid(), here and in the headers of single structures, says what holds between two
 * operations. This one is for whoever gp belongs to: its M, or who has taken it from a queue. */
static inline bool g_is_valid(const struct g *gp)
{
    return HOLDS(gp->alive) &&
           HOLDS(__atomic_load_n(&gp->wait_reason, __ATOMIC_RELAXED) <= WAIT_WRITE_LOCK) &&
           HOLDS(gp->locked == (gp->locked_m != NULL)) && HOLDS(gp->locked == (gp->locks > 0));
}

/* By the M that holds it, outside of calls. */
static inline bool p_is_valid(const struct p *p)
{
    int64_t most = atomic_load_explicit(&p->live_max, memory_order_relaxed); /* own word */
    return HOLDS(p->timers) && HOLDS(p->id >= -1) && HOLDS(most >= 0) && HOLDS(p->live <= most) &&
           HOLDS(p->unstarted >= 0) && HOLDS(!p_in_call(p));
}

/* By m itself, on any stack, outside of calls. */
static inline bool m_is_valid(const struct m *m)
{
    return HOLDS(m->ops == m->sched->ops) && HOLDS(m->fj.m == m) &&
           HOLDS(m->lock_node.kind == m->sched->globq_lock) &&
           HOLDS(!m->p || atomic_load_explicit(&m->p->m, memory_order_relaxed) == m) &&
           HOLDS(!m->spinning || (m->p && !m->curg)) &&
           HOLDS(!m->locked_g || m->locked_g->locked_m == m) &&
           HOLDS((m->cache.gs == NULL) == (m->cache.gs_count == 0)) &&
           HOLDS((m->cache.stacks == NULL) == (m->cache.stacks_count == 0));
}

/* galloc.c: Gs. m's own cache first, then a magazine that another has filled, then the slabs. */
struct g *g_alloc(struct m *m);         /* alive, counted, without a stack */
struct g *g_take(struct m *m);          /* likewise, not counted: m may hold no P */
void g_free(struct m *m, struct g *gp); /* pre: its stack is gone */

/* stacks.c: likewise */
void g_bind_stack(struct m *m, struct g *gp); /* first run: a stack, ready to be switched to */
void g_release_stack(struct m *m,
                     struct g *gp); /* may still be the current one: see proc.c g_exit */
void **g_ended_sp(const struct sched *sched,
                  char *stack); /* ThreadSanitizer builds, see stacks.c */
/* Keeps the `keep` newest in m's cache: the newest may be the stack this very call runs on. */
void stacks_spill(struct m *m, uint32_t keep);
size_t stack_guard_size(size_t stack_size); /* bytes at its low end that may not be touched */
void stacks_fini(struct sched *sched);      /* pre: no M runs, all have flushed */
static inline size_t g_stack_size(const struct sched *sched, const struct g *gp)
{
    return gp->big_stack ? (size_t)STACK_SIZE_MAIN : sched->stack_size;
}

/* A step towards giving what is kept in excess back to the kernel: for an M without work, which
 * then looks for some again. A step gives one slab back, in tens of microseconds, or puts half a
 * cache of stacks or of Gs into their slabs, which with a large gs_cache takes longer. False if
 * there is no excess, all that is left is in use, or another M is at it. */
bool galloc_give_back(struct m *m);
bool stacks_give_back(struct sched *sched); /* of stacks only */
/* p is to idle: its magazines go to the depots of all. Pre: the caller holds p, or nobody does;
 * g_lock and stack_lock are not held. */
void p_depots_empty(struct sched *sched, struct p *p);
void stacks_depot_empty(struct sched *sched, struct p *p); /* of stacks only */

void m_cache_flush(struct m *m); /* hands caches and counts to the global lists */
void m_magazines_free(struct m *m);
void live_hand_in(struct sched *sched, struct p *p); /* pre: the caller holds p, or nobody does */
uint64_t sched_live_peak(struct sched *sched);
void galloc_fini(struct sched *sched);
/* Every G that has not ended. Only while nothing else runs; or with g_lock held, and visit() takes
 * what it sees for what it was. */
void sched_each_g(struct sched *sched, void (*visit)(struct g *gp, void *arg), void *arg);

/* proc.c */
void m_run(struct m *m);                          /* the scheduler loop on g0, until the M stops */
void g_spawn(struct m *m, struct g *gp);          /* a new G through the variant */
_Noreturn void g_entry(struct g *prev);           /* what the context of a fresh G runs */
void g_yield_as(struct m *m, enum ready_how how); /* the current G stays runnable, others run */
/* m has no P any more, but had `old` before the call: queues its G; returns when it runs. */
void g_inject_self(struct m *m, struct p *old);
void g_off_stack(struct g *prev); /* O1: the stack that was just left is at rest */
/* fn(arg) as a new G that runs later, whatever the variant's go() does. Also on g0. */
void g_spawn_queued(struct m *m, void (*fn)(void *), void *arg);
/* FJ_LINKED: leave the current stack, gp's, at a place that nothing returns to. Either gp runs
 * again from what its sp is set to. Or gp ends, and `next` (may be NULL) runs. Both return
 * never. */
_Noreturn void g_forsake_stack(struct m *m, struct g *gp);
_Noreturn void g_abandon(struct m *m, struct g *gp, struct g *next);

/* idle.c */
void m_idle(struct m *m);          /* gives up the P, sleeps; has a P again unless stopping */
void sched_start_all(struct m *m); /* a thread for every idle P */
void m_block_uncount(struct sched *sched); /* an M of a `blocks` variant sleeps or ends */
void m_acquire_p(struct m *m, struct p *p);
void procs_use(struct sched *sched, int32_t n); /* so many Ps may be held */
void idle_p_put(struct m *m, struct p *p);      /* to the idle list, or that of retired ones; pre:
                                              sched->lock */
/* fence.c: S2 and I3 of idle.c. fence_sleeper_comes() with I1, under sched->lock. */
void fence_init(struct sched *sched);
void fence_sleeper_comes(struct m *m);             /* says which fence m owes */
void fence_sleeper(struct m *m);                   /* I3 */
void fence_cores(struct m *m);                     /* a counted machine_fence_all() */
void fence_look(struct sched *sched, int64_t now); /* sysmon's */
/* S4, by the policy. */
void wake_now(struct m *m, enum wake_policy policy);
struct g *m_wait_locked(struct m *m); /* sleeps until its G is runnable; NULL: the run is over */
void m_start_locked(struct m *m, struct g *gp); /* gives m's P to the M that gp is locked to */
struct p *idle_p_take(struct sched *sched);     /* one of the idle list, or NULL */
void p_release(struct m *self, struct p *p);    /* p's M is in a call: others may have it */
/* A timer at `when` is the next of a heap: whoever sleeps until the next of all looks again. */
void sched_timer_is_earlier(struct m *m, int64_t when);

/* m is about to give its P up, or has, and to sleep until others want it: its queue is for all. */
void m_leave_queue(struct m *m);

/* wakelater.c: with wake_delay_ns S4 is put off. */
void wake_later_init(struct sched *sched);         /* after the variant's init() */
void wake_later(struct m *m, int32_t idle_ps);     /* in place of S4 */
int64_t wake_later_look(struct m *m, int64_t now); /* sysmon's: in how many ns to look again */
static MACHINE_TAKES_NO_TIME bool wakes_later(const struct sched *sched)
{
    return sched->wake_later;
}

/* width.c: with width=load fewer Ps may be awake than there are. idle_ps: so many are not. */
bool width_is_full(const struct sched *sched, int32_t idle_ps); /* no more may be woken */
bool width_may_look(struct m *m);                               /* not at the clock each time */
bool width_is_over_now(const struct sched *sched);
void width_grow(struct m *m);
/* Once a window is over, and `late` ns more: shrinks if the load asks for it. True if those that
 * may be awake were busy in it. */
bool width_look(struct m *m, int64_t now, int64_t late);
void width_fini(struct sched *sched);
int32_t width_now(const struct sched *sched);
bool width_goes_on(struct m *m); /* wakelater.c: else the wake-up is put off */

/* Are more awake than may be? */
static MACHINE_TAKES_NO_TIME bool width_is_over(const struct sched *sched)
{
    return sched->width && width_is_over_now(sched);
}

/* I4 of m has seen work: may it take a P back? */
static MACHINE_TAKES_NO_TIME bool may_go_on(struct m *m)
{
    return !m->sched->width || width_goes_on(m);
}

/* sched.c */
void m_init_common(struct sched *sched, struct m *m, int32_t id); /* all but the variant's part */
struct m *m_new(struct sched *sched, struct p *p);                /* holds p; no thread yet */
void sched_stop(struct m *self); /* main returned: all Ms leave their loops */
void m_start(struct m *m);       /* its thread; dies with a message if refused */
void m_enter(struct m *m);       /* first and last on the M's thread */
void m_leave(struct m *m);
/* p, which the caller holds or has just taken away, has a goroutine from now on, or has none: for
 * STAT_BUSY_NS. Neither does anything if that is known. */
static MACHINE_TAKES_NO_TIME void p_works(struct p *p)
{
    int64_t busy = atomic_load_explicit(&p->busy, memory_order_relaxed);
    if (busy >= 0)
        atomic_store_explicit(&p->busy, busy - machine_now_unseen() - 1, memory_order_relaxed);
}

static MACHINE_TAKES_NO_TIME void p_rests(struct p *p)
{
    int64_t busy = atomic_load_explicit(&p->busy, memory_order_relaxed);
    if (busy < 0)
        atomic_store_explicit(&p->busy, busy + machine_now_unseen() + 1, memory_order_relaxed);
}

struct p *p_new(struct sched *sched, int32_t id);
void p_free(struct p *p);
void m_start_server(struct m *self, struct p *p); /* 1:1: an M with p that never has a G */

/* syscall.c */
void calls_init(struct sched *sched);
void calls_fini(struct sched *sched);
/* p is in a call, and its word was `seen`: true if it is the caller's now. */
bool p_take(struct p *p, uint32_t seen);
/* As blocking_enter(), on behalf of the function that was called from `site`: CALL_SITE there. */
void blocking_enter_at(uintptr_t site);
#define CALL_SITE ((uintptr_t)__builtin_return_address(0))

/* sysmon.c */
void sysmon_start(struct sched *sched); /* on M 0, before anything runs */
void sysmon_stop(struct sched *sched);  /* pre: sched->stopping */
void sysmon_join(struct sched *sched);
uint64_t sysmon_stat(const struct sched *sched, enum stat_id which);
void sysmon_wake_slow(struct sched *sched);
static inline void sysmon_wake(struct sched *sched)
{
    /* relaxed: Y1 of sysmon.c */
    if (__builtin_expect(atomic_load_explicit(&sched->sysmon_deep, memory_order_relaxed), 0))
        sysmon_wake_slow(sched);
}

/* beat.c: promote=beat. As sysmon's: on M 0; pre: sched->stopping; any thread. */
void beat_start(struct sched *sched);
void beat_stop(struct sched *sched);
void beat_join(struct sched *sched);

/* trace.c */
void schedtrace(struct sched *sched, int64_t since_start_ns, bool detailed); /* sysmon */

/* thread.c */
void g_unlock(struct m *m, struct g *gp);
void p_retire_if_asked(struct m *m); /* gives m's P up if there are to be fewer */

/* preempt.c */
void preempt_init(struct sched *sched);
void preempt_request(struct m *self, struct m *m); /* m shall let another G run; any M */
void preempt_self(struct m *m);                    /* the current G yields, if it may */

/* The current G yields here if its slice is over. Goroutine stack, nothing held. Returns the M that
 * it then runs on. */
static inline struct m *preempt_point(void)
{
    struct m *m = machine_self();
    /* relaxed: it says only that somebody asked */
    if (__builtin_expect(atomic_load_explicit(&m->preempt, memory_order_relaxed), 0)) {
        preempt_self(m);
        m = machine_self();
    }
    return m;
}

/* netpoll.c; netpoll.h has what descriptors need. Any thread, with or without a P. */

/* The kind of look at descriptors in this run: the knob's, or NETPOLL_CALL where each G is a
 * thread. Workers call netpoll() only with NETPOLL_POLL. */
enum netpoll_by netpoll_by(const struct sched *sched);

/* Gs made ready by I/O, linked through g->link, the last event's first; NULL if
 * none. They are in no queue yet: the caller readies them. delay_ns 0 looks, < 0 waits for ever,
 * else that long; it may return early. One caller at a time may wait. Without a descriptor yet it
 * returns at once. */
struct g *netpoll(struct sched *sched, int64_t delay_ns);
/* Makes a list of netpoll()'s runnable, on an M with a P: knob netpoll_place. Returns the G that is
 * to run at once, in no queue, or NULL. */
struct g *netpoll_put(struct m *m, struct g *list);
void start_idle_p(struct m *m); /* an M for an idle P, if there is one (idle.c) */
/* One for an idle P if no idle M watches the timers; m may be without a P. */
void start_unwatched_p(struct m *m);
void netpoll_break(struct sched *sched); /* the caller that waits, or the next one, returns */
void netpoll_stop(struct sched *sched);  /* main has returned: ends the thread of netpoll=thread */
void netpoll_fini(struct sched *sched);
uint64_t netpoll_stat(struct sched *sched, enum stat_id which);

/* How many Gs wait for a descriptor. One counts from before it parks until it runs again, so that
 * the number is not 0 while a ready one lies between the poller and a queue. */
static inline int32_t netpoll_waiters(struct sched *sched)
{
    /* relaxed: an M that goes idle sees the G that it parked itself; sched->lock does the rest */
    return atomic_load_explicit(&sched->io_waiters, memory_order_relaxed);
}
static inline bool netpoll_has_waiters(struct sched *sched)
{
    return netpoll_waiters(sched) > 0;
}

/* inject.c: makes the Gs of the list, linked through link, runnable, and wakes workers. For callers
 * whose M (machine_self()) holds no P. */
void sched_inject(struct sched *sched, struct g *list);
void g_inject_new(struct m *m, struct g *gp); /* a G that has never run, likewise */

/* outside.c: threads that are no workers */
bool outside_is_busy(const struct sched *sched); /* a go_outside() is under way */
void outside_stop(struct sched *sched);          /* main has returned: ends the threads */
uint64_t outside_stat(const struct sched *sched, enum stat_id which); /* pre: there are some */
static MACHINE_TAKES_NO_TIME bool any_outside(const struct sched *sched)
{
    return atomic_load_explicit(&sched->outside, memory_order_acquire); /* OT8 of outside.c */
}
void outside_fini(struct sched *sched);

/* forkjoin.c */
void fj_child_done(struct fj_frame *frame); /* a child counted in frame->spawned has returned */
void fj_took_back(struct fj_worker *w);     /* the owner has popped from its public part */
void fj_request_all(struct sched *sched);   /* an M is about to sleep */
void fj_beat(struct sched *sched);          /* each worker is to promote a child */
void fj_worker_init(struct fj_worker *w, const struct sched *sched); /* all but w->m */
uint64_t fj_depth_max(const struct fj_worker *w);                    /* for STAT_DEQUE_MAX */

static MACHINE_TAKES_NO_TIME void fj_count_published(struct m *m, int64_t n)
{
    stat_add(&m->stats, STAT_TASKS_PUBLISHED, (uint64_t)n);
}

/* How many of a worker's children or frames stay private when it publishes: half, or all that there
 * is no room for. */
int64_t fj_keep(struct deque *dq, int64_t count);

/* joins.c: the knob join */
void fj_join_fork(struct m *m, struct fj_frame *frame, bool first);
void fj_join_taken(struct m *m, struct fj_frame *frame);
void fj_join_came_back(struct fj_frame *frame);
bool fj_join_child(struct m *m, struct fj_frame *frame);
bool fj_join_owner(struct m *m, struct fj_frame *frame, enum fj_join join, int32_t spawned);

/* linked.c */
bool linked_publish(struct m *m, struct fj_frame *newest); /* false: there was nothing private */

/* deadlock.c; the first two under sched->lock */
bool all_ms_rest(const struct sched *sched);
bool is_deadlock(struct sched *sched, struct m *m); /* m sleeps, and nothing can wake anybody */
_Noreturn void deadlock_report(struct sched *sched);
void fault_report(const void *address); /* returns if the fault is no stack overflow */

#endif
