/* netpoll.c - goroutines that wait for descriptors: who is parked at which one, and who is ready.
 *
 * Source: Go 1.26 runtime/netpoll.go, netpoll_epoll.go.
 *   Same:    a word per descriptor and direction; a call is tried first and parks only after
 *            -EAGAIN; the list of ready Gs is a stack, so that the last event's comes first; events
 *            carry a generation, so that late ones do not reach the next descriptor; deadlines are
 *            timers.
 *   Differs: (1) a G publishes itself in one step; (2) a waiting G counts itself, in and out;
 *            (3) knobs for who polls, edge or level, and the batch.
 *   Why:     (1) below; (2) a ready G counts until it runs, so who readies has nothing to report.
 *
 * The word of a side:
 *   POLL_NONE    nobody waits, and nothing has become ready since poll_prepare()
 *   POLL_READY   became ready; the next to wait need not
 *   a G          parked, or about to
 *
 * At most one G is at a side, so only it turns NONE or READY into itself. Whoever turns a G into
 * something else has that G, and readies it exactly once.
 *
 * Waiting. The G races events, the close and its deadline:
 *
 *   the G                                       who wants it to stop (evict, deadline)
 *   PD1  CAS word: NONE -> itself               PD3  sets its bit in pd->info
 *   PD2  reads pd->info                         PD4  reads the word, and takes a G that is there
 *   no bit: parks
 *   a bit: takes itself off the word again,
 *       or parks if it was taken already
 *
 * All four are seq_cst, so PD2 sees the bit or PD4 sees the G. An event needs no bit: it leaves
 * READY behind in the word itself, and PD1 fails if that came first. Go marks the word as "wait" at
 * PD1 and puts the G in after the switch, since a G there may be readied only once it is off its
 * stack. Here it may be readied at any time (g.h, "off-stack"), so one step does, and who is taken
 * between PD1 and g_park() finds itself runnable.
 *   NP1  the release half of the CAS that takes a G or leaves READY pairs with NP2, the
 *        acquiring exchange of the G that goes on: what was seen of the descriptor before is
 *        visible
 *
 * Level. The registration is armed for the sides that somebody waits at (pd->armed, under
 * pd->lock), and an event disarms it. An event takes its sides out of `armed` before it touches
 * the words: a G that arms in between is in for a word of READY, and asks again.
 *
 * Memory of struct poll_desc is used again and never freed during a run, so that an event may look
 * at what it was registered with at any time. A tag is index << 32 | generation; poll_close()
 * counts the generation on. An event that looked before and goes on after may mark the next
 * descriptor as ready: then a call is tried in vain, and waits.
 *   PG1  releasing store of a block, pairs with PG2, the acquiring load of who has a tag
 *   PG3  releasing count of the generation, pairs with PG4, acquire: whoever sees the old one may
 *       touch what the new one is about to use, and does so only by atomics and under pd->lock
 *   PI1  releasing CAS of sched->netpoll, pairs with PI2, acquiring loads: it is complete
 */
#include "netpoll.h"

#include "internal.h"
#include "sched.h"
#include "timer.h"

#include <errno.h>

enum { SIDES = 2, BLOCK_DESCS = 128, BLOCKS = 8192 };
enum { POLL_NONE = 0, POLL_READY = 1 };      /* else a struct g * */
enum { INFO_EVICTED = 1, INFO_EXPIRED = 2 }; /* INFO_EXPIRED << side */

const char *const netpoll_words[] = {"poll", "thread", "call", NULL};
const char *const netpoll_trigger_words[] = {"edge", "level", NULL};

struct poll_desc {
    _Alignas(64) _Atomic(uintptr_t) word[SIDES];
    _Atomic uint32_t info;
    _Atomic uint32_t generation;
    struct netpoll *netpoll; /* constant, as is index */
    uint32_t index;
    int fd;    /* the owner's */
    int armed; /* level: MACHINE_READ | MACHINE_WRITE; protected by lock */
    lock_t lock;
    struct poll_desc *free_link; /* protected by netpoll->desc_lock */
    struct timer deadline[SIDES];
};

struct netpoll {
    struct sched *sched;
    struct machine_poller *machine;
    int batch;
    bool edge;

    struct machine_thread thread; /* of netpoll=thread */
    struct m *thread_m;           /* its M, without a P; on no list */
    _Atomic uint32_t stopping;    /* relaxed: the break that follows orders it */

    _Alignas(64) lock_t desc_lock; /* protects free_desc and descs */
    struct poll_desc *free_desc;
    uint32_t descs; /* made so far */
    _Atomic(struct poll_desc *) block[BLOCKS];

    _Atomic uint64_t polls, events, ctls; /* relaxed: statistics */
};

enum netpoll_by netpoll_by(const struct sched *sched)
{
    return sched->ops->thread_per_g ? NETPOLL_CALL : (enum netpoll_by)sched->runtime->netpoll;
}

/* The poller's life -------------------------------------------------------------------------- */

static struct netpoll *netpoll_of(struct sched *sched)
{
    return atomic_load_explicit(&sched->netpoll, memory_order_acquire); /* PI2 */
}

static void count(_Atomic uint64_t *counter, uint64_t n)
{
    if (n)
        atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static void netpoll_thread(void *arg)
{
    struct netpoll *np = arg;
    machine_set_self(np->thread_m);
    machine_thread_enter();
    while (!atomic_load_explicit(&np->stopping, memory_order_relaxed))
        sched_inject(np->sched, netpoll(np->sched, -1));
    machine_thread_leave();
}

static struct m *thread_m_new(struct sched *sched)
{
    struct m *m = sched_zalloc(sizeof *m, "m");
    m_init_common(sched, m, -1); /* it queues, and so takes the lock of the global queue */
    return m;
}

static void thread_start(struct netpoll *np)
{
    int error = machine_thread_start(&np->thread, netpoll_thread, np, STACK_SIZE_THREAD, -1);
    if (error)
        fatal_env(-error, "cannot start the thread of netpoll=thread");
}

static void netpoll_free(struct netpoll *np)
{
    machine_poller_free(np->machine);
    /* relaxed: nobody else uses it any more, or yet */
    struct poll_desc *block;
    for (int i = 0; i < BLOCKS; i++)
        if ((block = atomic_load_explicit(&np->block[i], memory_order_relaxed)))
            machine_free(block);
    machine_free(np->thread_m);
    machine_free(np);
}

/* Makes the poller. Several may come at once: one of theirs stays. */
static int netpoll_make(struct sched *sched)
{
    const struct runtime_knobs *knobs = sched->runtime;
    struct netpoll *np = sched_zalloc(sizeof *np, "poll"), *none = NULL;
    int error = machine_poller_new(&np->machine);
    if (error) {
        netpoll_free(np);
        return error;
    }
    np->sched = sched;
    np->batch = knobs->netpoll_batch ? (int)knobs->netpoll_batch : NETPOLL_BATCH;
    np->edge = knobs->netpoll_trigger == TRIGGER_EDGE;
    np->thread_m = netpoll_by(sched) == NETPOLL_THREAD ? thread_m_new(sched) : NULL;
    if (!atomic_compare_exchange_strong_explicit(&sched->netpoll, &none, np,
                                                 memory_order_release,  /* PI1 */
                                                 memory_order_relaxed)) /* who uses it: PI2 */
        netpoll_free(np);
    else if (np->thread_m)
        thread_start(np);
    return 0;
}

void netpoll_stop(struct sched *sched)
{
    struct netpoll *np = netpoll_of(sched);
    if (!np || !np->thread_m)
        return;
    atomic_store_explicit(&np->stopping, 1, memory_order_relaxed);
    machine_poller_break(np->machine);
    machine_thread_join(&np->thread);
}

void netpoll_fini(struct sched *sched)
{
    struct netpoll *np = netpoll_of(sched);
    if (np)
        netpoll_free(np);
}

void netpoll_break(struct sched *sched)
{
    struct netpoll *np = netpoll_of(sched);
    if (np)
        machine_poller_break(np->machine);
}

uint64_t netpoll_stat(struct sched *sched, enum stat_id which)
{
    struct netpoll *np = netpoll_of(sched);
    if (!np)
        return 0;
    if (which == STAT_POLLS)
        return atomic_load_explicit(&np->polls, memory_order_relaxed);
    if (which == STAT_POLL_EVENTS)
        return atomic_load_explicit(&np->events, memory_order_relaxed);
    if (which == STAT_POLL_CTLS)
        return atomic_load_explicit(&np->ctls, memory_order_relaxed);
    if (!np->thread_m)
        return 0;
    return atomic_load_explicit(&np->thread_m->stats.value[which], memory_order_relaxed);
}

/* Descriptors' records ----------------------------------------------------------------------- */

static void deadline_fires(struct timer *timer, int64_t now);

/* Pre: desc_lock. Makes a block of records and puts them on the free list; false: no room. */
static bool descs_make(struct netpoll *np)
{
    if (np->descs == BLOCKS * BLOCK_DESCS)
        return false;
    struct poll_desc *block = sched_zalloc(BLOCK_DESCS * sizeof *block, "poll.desc");
    for (uint32_t i = BLOCK_DESCS; i-- > 0;) {
        struct poll_desc *pd = &block[i];
        pd->netpoll = np;
        pd->index = np->descs + i;
        for (int side = 0; side < SIDES; side++)
            timer_init(&pd->deadline[side], deadline_fires, pd);
        pd->free_link = np->free_desc;
        np->free_desc = pd;
    }
    atomic_store_explicit(&np->block[np->descs / BLOCK_DESCS], block,
                          memory_order_release); /* PG1 */
    np->descs += BLOCK_DESCS;
    return true;
}

static struct poll_desc *desc_alloc(struct netpoll *np)
{
    struct poll_desc *pd = NULL;
    lock_acquire(&np->desc_lock);
    if (np->free_desc || descs_make(np)) {
        pd = np->free_desc;
        np->free_desc = pd->free_link;
    }
    lock_release(&np->desc_lock);
    return pd;
}

static void desc_free(struct poll_desc *pd)
{
    struct netpoll *np = pd->netpoll;
    atomic_fetch_add_explicit(&pd->generation, 1, memory_order_release); /* PG3 */
    lock_acquire(&np->desc_lock);
    pd->free_link = np->free_desc;
    np->free_desc = pd;
    lock_release(&np->desc_lock);
}

uint64_t poll_tag(struct poll_desc *pd)
{
    /* relaxed: the owner asks; nobody else changes it */
    uint32_t generation = atomic_load_explicit(&pd->generation, memory_order_relaxed);
    return (uint64_t)pd->index << 32 | generation;
}

/* NULL if the tag is of an earlier generation. */
static struct poll_desc *desc_of_tag(struct netpoll *np, uint64_t tag)
{
    uint32_t index = (uint32_t)(tag >> 32);
    struct poll_desc *block =
        atomic_load_explicit(&np->block[index / BLOCK_DESCS], memory_order_acquire); /* PG2 */
    struct poll_desc *pd = &block[index % BLOCK_DESCS];
    uint32_t generation = atomic_load_explicit(&pd->generation, memory_order_acquire); /* PG4 */
    return generation == (uint32_t)tag ? pd : NULL;
}

int poll_open(struct sched *sched, int fd, struct poll_desc **pd)
{
    int error = netpoll_of(sched) ? 0 : netpoll_make(sched);
    if (error)
        return error;
    struct netpoll *np = netpoll_of(sched);
    struct poll_desc *self = desc_alloc(np);
    if (!self)
        return -ENFILE;
    /* relaxed: late events of the generation before are all that may look at it now */
    for (int side = 0; side < SIDES; side++)
        atomic_store_explicit(&self->word[side], POLL_NONE, memory_order_relaxed);
    atomic_store_explicit(&self->info, 0, memory_order_relaxed);
    self->fd = fd;
    count(&np->ctls, 1);
    error = machine_poller_add(np->machine, fd, np->edge, poll_tag(self));
    if (error) {
        desc_free(self);
        return error;
    }
    *pd = self;
    return 0;
}

/* Waiting ------------------------------------------------------------------------------------ */

static int poll_error(struct poll_desc *pd, enum poll_side side)
{
    uint32_t info = atomic_load_explicit(&pd->info, memory_order_seq_cst); /* PD2 */
    if (info & INFO_EVICTED)
        return -EBADF;
    return info & (uint32_t)INFO_EXPIRED << side ? -ETIMEDOUT : 0;
}

int poll_prepare(struct poll_desc *pd, enum poll_side side)
{
    int error = poll_error(pd, side);
    if (!error) /* relaxed: the call that follows asks the kernel */
        atomic_store_explicit(&pd->word[side], POLL_NONE, memory_order_relaxed);
    return error;
}

/* Takes the G of a side, if there is one. `left` stays in the word in its place, and READY in place
 * of NONE too; a READY that is there stays, since only the G itself may use it up. */
static struct g *poll_take(struct poll_desc *pd, enum poll_side side, uintptr_t left)
{
    _Atomic(uintptr_t) *word = &pd->word[side];
    uintptr_t seen = atomic_load_explicit(word, memory_order_seq_cst); /* PD4 */
    do {
        if (seen == POLL_READY || (seen == POLL_NONE && left == POLL_NONE))
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(word, &seen, left,
                                                    memory_order_seq_cst,   /* PD4, NP1 */
                                                    memory_order_seq_cst)); /* PD4 */
    return seen == POLL_NONE ? NULL : (struct g *)seen;
}

/* Level: the registration shall tell of this side. */
static int poll_arm(struct poll_desc *pd, enum poll_side side)
{
    struct netpoll *np = pd->netpoll;
    lock_acquire(&pd->lock);
    pd->armed |= side == POLL_READ ? MACHINE_READ : MACHINE_WRITE;
    int error = machine_poller_arm(np->machine, pd->fd, pd->armed, poll_tag(pd));
    lock_release(&pd->lock);
    count(&np->ctls, 1);
    return error;
}

/* The caller is about to park for a descriptor, or goes on. Ms with `blocks` that all sleep are a
 * deadlock if nobody else is active; a waiter stands for the kernel. Relaxed: the caller's M is
 * active itself, so that the count does not reach 0 here. */
static void waiter_count(struct sched *sched, int32_t change)
{
    atomic_fetch_add_explicit(&sched->io_waiters, change, memory_order_relaxed);
    if (sched->ops->blocks)
        atomic_fetch_add_explicit(&sched->active, change, memory_order_relaxed);
}

/* Publishes the caller in the word and parks it. True: the descriptor became ready. */
static bool poll_park(struct poll_desc *pd, enum poll_side side)
{
    _Atomic(uintptr_t) *word = &pd->word[side];
    struct sched *sched = pd->netpoll->sched;
    struct g *gp = machine_self()->curg;
    uintptr_t seen = POLL_NONE, self = (uintptr_t)gp;
    gp->wait_reason = side == POLL_READ ? WAIT_IO_READ : WAIT_IO_WRITE;
    gp->wait_on = pd;
    waiter_count(sched, 1);
    if (atomic_compare_exchange_strong_explicit(word, &seen, self, memory_order_seq_cst, /* PD1 */
                                                memory_order_relaxed)) { /* NP2 follows */
        /* relaxed: nobody has touched the caller if it succeeds; if not, somebody readies it */
        if (!poll_error(pd, side) ||
            !atomic_compare_exchange_strong_explicit(word, &self, POLL_NONE, memory_order_relaxed,
                                                     memory_order_relaxed))
            g_park();
    } else if (seen != POLL_READY) {
        fatal("netpoll: two goroutines wait at one side of descriptor %d", pd->fd);
    }
    gp->wait_reason = WAIT_NONE;
    waiter_count(sched, -1);
    return atomic_exchange_explicit(word, POLL_NONE, memory_order_acquire) == POLL_READY; /* NP2 */
}

int poll_wait(struct poll_desc *pd, enum poll_side side)
{
    for (;;) {
        int error = poll_error(pd, side);
        if (!error && !pd->netpoll->edge)
            error = poll_arm(pd, side);
        if (error)
            return error;
        if (poll_park(pd, side))
            return 0;
        /* woken by a deadline that has been moved since: wait on */
    }
}

/* Deadlines ---------------------------------------------------------------------------------- */

/* PD3, PD4: the G that it interrupts, or NULL. */
static struct g *deadline_expire(struct poll_desc *pd, enum poll_side side)
{
    atomic_fetch_or_explicit(&pd->info, (uint32_t)INFO_EXPIRED << side,
                             memory_order_seq_cst); /* PD3 */
    return poll_take(pd, side, POLL_NONE);
}

static void deadline_fires(struct timer *timer, int64_t now)
{
    struct poll_desc *pd = timer->arg;
    struct g *gp = deadline_expire(pd, timer == &pd->deadline[POLL_READ] ? POLL_READ : POLL_WRITE);
    (void)now;
    if (gp)
        g_ready(gp);
}

struct g *poll_set_deadline(struct poll_desc *pd, enum poll_side side, int64_t when)
{
    timer_disarm_wait(&pd->deadline[side]);
    /* relaxed: a G that the old deadline has interrupted asks again, and either answer is right */
    atomic_fetch_and_explicit(&pd->info, ~((uint32_t)INFO_EXPIRED << side), memory_order_relaxed);
    if (when != 0 && when <= machine_now())
        return deadline_expire(pd, side);
    if (when != 0)
        timer_arm(machine_self(), &pd->deadline[side], when, 0);
    return NULL;
}

/* Events ------------------------------------------------------------------------------------- */

struct look {
    struct netpoll *np;
    struct g *ready;
};

static void look_push(struct look *look, struct g *gp)
{
    if (!gp)
        return;
    gp->link = look->ready;
    look->ready = gp;
}

/* The registration has told of `what` and is disarmed: arm it for who else waits. */
static void event_disarms(struct netpoll *np, struct poll_desc *pd, uint64_t tag, int what)
{
    lock_acquire(&pd->lock);
    /* relaxed: poll_close() takes the lock before it counts on */
    if (atomic_load_explicit(&pd->generation, memory_order_relaxed) == (uint32_t)tag) {
        pd->armed &= ~what;
        if (pd->armed) {
            count(&np->ctls, 1);
            machine_poller_arm(np->machine, pd->fd, pd->armed, tag);
        }
    }
    lock_release(&pd->lock);
}

static void look_at_event(void *arg, uint64_t tag, int what)
{
    struct look *look = arg;
    struct poll_desc *pd = desc_of_tag(look->np, tag);
    if (!pd)
        return;
    if (!look->np->edge)
        event_disarms(look->np, pd, tag, what);
    if (what & MACHINE_READ)
        look_push(look, poll_take(pd, POLL_READ, POLL_READY));
    if (what & MACHINE_WRITE)
        look_push(look, poll_take(pd, POLL_WRITE, POLL_READY));
}

struct g *netpoll_event(struct sched *sched, uint64_t tag, int what)
{
    struct look look = {netpoll_of(sched), NULL};
    look_at_event(&look, tag, what);
    return look.ready;
}

struct g *netpoll(struct sched *sched, int64_t delay_ns)
{
    struct look look = {netpoll_of(sched), NULL};
    struct netpoll *np = look.np;
    if (!np)
        return NULL;
    int events = machine_poller_wait(np->machine, np->batch, delay_ns, look_at_event, &look);
    count(&np->polls, 1);
    count(&np->events, (uint64_t)events);
    return look.ready;
}

/* Closing ------------------------------------------------------------------------------------ */

void poll_evict(struct poll_desc *pd)
{
    atomic_fetch_or_explicit(&pd->info, INFO_EVICTED, memory_order_seq_cst); /* PD3 */
    for (int side = 0; side < SIDES; side++) {
        struct g *gp = poll_take(pd, (enum poll_side)side, POLL_NONE);
        if (gp)
            g_ready(gp);
    }
}

void poll_close(struct poll_desc *pd)
{
    for (int side = 0; side < SIDES; side++)
        timer_disarm_wait(&pd->deadline[side]);
    lock_acquire(&pd->lock); /* an event that is about to arm does so before, or not at all */
    pd->armed = 0;
    machine_poller_remove(pd->netpoll->machine, pd->fd);
    lock_release(&pd->lock);
    desc_free(pd);
}
