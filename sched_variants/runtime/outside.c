/* outside.c - threads that are no workers and start goroutines: they hold no P, and run no G.
 *
 * Source: Go 1.26 runtime/proc.go needm, dropm, for the M of a thread that Go did not make.
 *   Differs: in Go it needs a P for the time of the call, as after a blocking call, and puts what
 *            it starts into that P's queue. Here it stays without, as a thread outside of Tokio's
 *            runtime does. So what it starts lies where all workers look, and it always fences
 *            itself (idle.c, an M without a P).
 *
 * The first go_outside() makes the threads, and they wait for the next one. All threads take part
 * in each round, those that have nothing to do in it too, so that none is late for it.
 *
 *   OT1  release increment of round      pairs with  OT2  acquire load of it (the round's function
 *        is visible to the threads)
 *   OT3  release half of the decrement of left  pairs with  OT4  its acquire half in the last one,
 *        which readies the caller (all that the threads did is visible to it)
 *   OT5  release store of made           pairs with  OT6  acquire load (the thread is complete)
 *   OT7  release store of sched->outside  pairs with  OT8  acquire load (it is zeroed)
 */
#include "internal.h"

#include <errno.h>
#include <limits.h>

enum { LIVE_STEP = 64 }; /* Gs that a thread has made before it counts them for all */

struct outsider {
    struct m m; /* holds no P, is on no list */
    struct outside *outside;
    struct machine_thread thread;
    int index;
    uint32_t seen; /* the last round that it took part in */
    int64_t live;  /* Gs that it has made and not counted for all */
};

struct outside {
    struct sched *sched;
    /* of the round; written before OT1 by its caller, or at the end */
    void (*fn)(void *arg, int i);
    void *arg;
    struct g *caller;
    int n;
    bool stopping;

    _Atomic bool busy; /* relaxed: see outside_is_busy() */
    _Atomic int32_t made;
    struct outsider *all[OUTSIDE_MAX];
    _Alignas(64) _Atomic uint32_t round; /* futex */
    _Alignas(64) _Atomic int32_t left;   /* threads that have not ended the round */
};

/* relaxed: a count, which orders nothing */
static void count_live(struct outsider *self)
{
    atomic_fetch_add_explicit(&self->m.sched->live_gs, self->live, memory_order_relaxed);
    self->live = 0;
}

static void round_end(struct outsider *self)
{
    struct outside *outside = self->outside;
    count_live(self);
    if (atomic_fetch_sub_explicit(&outside->left, 1, memory_order_acq_rel) != 1) /* OT3, OT4 */
        return;
    outside->caller->link = NULL;
    sched_inject(outside->sched, outside->caller);
}

static void outsider_thread(void *arg)
{
    struct outsider *self = arg;
    struct outside *outside = self->outside;
    machine_set_self(&self->m);
    machine_thread_enter();
    for (;;) {
        while (atomic_load_explicit(&outside->round, memory_order_acquire) == self->seen) /* OT2 */
            machine_wait(&outside->round, self->seen, -1);
        self->seen++; /* no round begins before all have ended the last one */
        if (outside->stopping)
            break;
        if (self->index < outside->n)
            outside->fn(outside->arg, self->index);
        round_end(self);
    }
    machine_thread_leave();
}

static void outsider_make(struct outside *outside, int index)
{
    struct outsider *self = sched_zalloc(sizeof *self, "m");
    m_init_common(outside->sched, &self->m, -2 - index); /* for random numbers of its own */
    self->m.id = -1;
    self->outside = outside;
    self->index = index;
    self->seen = atomic_load_explicit(&outside->round, memory_order_relaxed); /* the caller's */
    int error = machine_thread_start(&self->thread, outsider_thread, self, STACK_SIZE_THREAD, -1);
    if (error)
        fatal_env(-error, "cannot start thread %d outside", index + 1);
    outside->all[index] = self;
    atomic_store_explicit(&outside->made, index + 1, memory_order_release); /* OT5 */
}

static int outside_made(const struct outside *outside)
{
    return atomic_load_explicit(&outside->made, memory_order_acquire); /* OT6 */
}

static struct outside *outside_of(const struct sched *sched)
{
    return atomic_load_explicit(&sched->outside, memory_order_acquire); /* OT8 */
}

static struct outside *outside_make(struct sched *sched)
{
    struct outside *outside = sched_zalloc(sizeof *outside, "sched");
    outside->sched = sched;
    atomic_store_explicit(&sched->outside, outside, memory_order_release); /* OT7 */
    return outside;
}

static void round_begin(struct outside *outside)
{
    /* relaxed: OT1 */
    atomic_store_explicit(&outside->left, outside_made(outside), memory_order_relaxed);
    atomic_fetch_add_explicit(&outside->round, 1, memory_order_release); /* OT1 */
    machine_wake(&outside->round, INT_MAX);
}

int go_outside(int n, void (*fn)(void *arg, int i), void *arg)
{
    struct m *m = machine_self();
    struct sched *sched = m->sched;
    if (sched->ops->blocks || sched->ops->single_threaded)
        return -ENOTSUP;
    INVARIANT(n >= 1 && n <= OUTSIDE_MAX);
    INVARIANT(m->curg);
    struct outside *outside = outside_of(sched);
    if (!outside)
        outside = outside_make(sched);
    INVARIANT(!outside_is_busy(sched)); /* one round at a time */
    while (outside_made(outside) < n)
        outsider_make(outside, outside_made(outside));
    outside->fn = fn;
    outside->arg = arg;
    outside->n = n;
    outside->caller = m->curg;
    atomic_store_explicit(&outside->busy, true, memory_order_relaxed);
    m->curg->wait_reason = WAIT_WAITGROUP;
    m->curg->wait_on = NULL;
    round_begin(outside);
    g_park();
    atomic_store_explicit(&outside->busy, false, memory_order_relaxed);
    return 0;
}

void go_from_outside(void (*fn)(void *), void *arg)
{
    struct m *m = machine_self();
    struct outsider *self = (struct outsider *)m;
    INVARIANT(fn);
    INVARIANT(!m->p && !m->curg);
    struct g *gp = g_take(m);
    gp->fn = fn;
    gp->arg = arg;
    gp->last_m = m; /* so that it does not count as one that its P has made */
    stat_add(&m->stats, STAT_GS_OUTSIDE, 1);
    if (++self->live >= LIVE_STEP)
        count_live(self);
    g_inject_new(m, gp);
}

/* relaxed: asked under sched->lock, which the caller's M takes too before it idles */
bool outside_is_busy(const struct sched *sched)
{
    const struct outside *outside = outside_of(sched);
    return outside && atomic_load_explicit(&outside->busy, memory_order_relaxed);
}

void outside_stop(struct sched *sched)
{
    struct outside *outside = outside_of(sched);
    if (!outside)
        return;
    outside->stopping = true;
    round_begin(outside);
    for (int i = 0; i < outside_made(outside); i++)
        machine_thread_join(&outside->all[i]->thread);
}

uint64_t outside_stat(const struct sched *sched, enum stat_id which)
{
    const struct outside *outside = outside_of(sched);
    uint64_t sum = 0;
    for (int i = 0; i < outside_made(outside); i++) /* relaxed: see stats.h */
        sum += atomic_load_explicit(&outside->all[i]->m.stats.value[which], memory_order_relaxed);
    return sum;
}

void outside_fini(struct sched *sched)
{
    struct outside *outside = outside_of(sched);
    for (int i = 0; outside && i < outside_made(outside); i++) {
        m_magazines_free(&outside->all[i]->m);
        machine_free(outside->all[i]);
    }
    machine_free(outside);
}
