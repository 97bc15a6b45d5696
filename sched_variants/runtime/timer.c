/* timer.c - sleeping goroutines and timers: a heap per P, ordered by when they are due.
 *
 * Servers of a heap:
 *   the M that holds its P, whenever it schedules: one look at `next`, on a line of that P's own
 *   an M that found nothing to steal: all heaps, before it gives its P up (timers_run_others());
 *   under gmp already in the last pass of its search, before it takes the newest G of that P
 *   the first idle M sleeps until the earliest of all heaps is due (idle.c)
 * Variants with `blocks` have no idle protocol. `static`: the M of each P serves its heap, and
 * sleeps until its own next; nobody else does. 1:1: a sleep is the kernel's, and there is one heap
 * for timers. A thread with a P of its own that runs no G serves it, and is started when the first
 * timer is armed (timers_serve()). The Ps of all other threads share a heap that stays empty.
 *
 * Source: Go 1.26 runtime/time.go.
 *   Same:    a 4-ary heap per P with a lock of its own; thieves run what is due in others' heaps in
 *            the last pass of a search; a timer armed anew for later stays where it is, and moves
 *            when it comes to the top.
 *   Differs: (1) what is due at the same time in one heap is served in the order in which it was
 *            armed; (2) a stopped timer leaves the heap at once, where Go marks it and purges the
 *            heap when more than a quarter are marked; (3) a sleeper is an entry of the heap and no
 *            timer; (4) sleepers that are due are taken out in batches; (5) timers=global.
 *   Why:     (1) the order of equal ones is the scheduler's to show, not the heap's; (2) there is
 *            no garbage collector, so a mark must not lie in a timer whose owner may free it; and
 *            with its place in hand, taking an entry out costs what adding one costs. No stopped
 *            timer wakes a worker, and memory is bounded by what is armed; (3) a sleep allocates
 *            nothing and cannot be stopped; (4) ten thousand that are due together do not take the
 *            lock ten thousand times.
 *
 * An entry is 24 bytes; a sleeper takes nothing else beside its G. For a timer each move within
 * the heap is also a store into it (timer->at). The array doubles when it is full and is halved
 * when three quarters of it are free, so that ended sleeps leave nothing behind.
 *
 * Invariants, while the lock is free
 *   next == when of the heap's root, INT64_MAX if empty
 *   an entry's when is not after that of any entry below it;  nor after its timer's when
 *   timer->at == 0  or  heap[timer->at - 1] is the timer's entry, and timer->home this heap
 *
 * next is written under the lock and read without it, relaxed at both ends: it hands nothing over.
 * A look that is out of date costs a look at the heap, or a sleep that ends one scheduling point
 * later. sched_timer_is_earlier() sees to it that no M sleeps past a timer; where a heap has a
 * server, its note does (T1: the store of next is before the wake in timers_tell()).
 *
 * Ending a timer. A call runs without the lock, so that it may take others. While it runs, a record
 * on the caller's stack is on the list `firing` of the timer's home, which does not change
 * meanwhile. So timer_disarm() knows under that one lock if the timer is armed, and if it runs. The
 * record and not the timer tells, because the call may have freed the timer.
 */
#include "timer.h"
#include "internal.h"

#include <errno.h>

struct timer_entry {
    int64_t when;
    uint64_t turn;
    uintptr_t what; /* a G, or a timer + 1 */
};

/* A call that runs. */
struct firing {
    struct timer *timer;
    struct firing *next; /* protected by the heap's lock */
};

enum { ARITY = 4, CAPACITY_MIN = 64, BATCH = 32, IS_TIMER = 1 };

const char *const timers_words[] = {"perp", "global", NULL};
const char *const poll_round_words[] = {"ns", "ms", NULL};
const char *const slack_words[] = {"kernel", NULL};

void timers_init(struct sched *sched)
{
    bool one = sched->ops->thread_per_g || sched->runtime->timers == TIMERS_GLOBAL;
    sched->heaps = one ? 1 : sched->procs;
    /* the last one stays empty: 1:1 variants */
    sched->timers = sched_zalloc(sizeof *sched->timers * (size_t)(sched->heaps + 1), "timers");
    for (int32_t i = 0; i <= sched->heaps; i++) {
        atomic_init(&sched->timers[i].next, INT64_MAX);
        sched->timers[i].sched = sched;
    }
}

void timers_fini(struct sched *sched)
{
    for (int32_t i = 0; i < sched->heaps; i++)
        machine_free(sched->timers[i].heap);
    machine_free(sched->timers);
}

void timers_give(struct sched *sched, struct p *p)
{
    if (sched->ops->thread_per_g) {
        p->timers = &sched->timers[sched->heaps];
        return;
    }
    p->timers = &sched->timers[sched->heaps > 1 ? p->id : 0];
    if (sched->ops->blocks)
        p->timers->server = p;
}

struct m *timers_stale_server(struct sched *sched, int32_t heap)
{
    struct timers *timers = &sched->timers[heap];
    lock_acquire(&timers->lock);
    struct p *server = timers->count == 0 ? timers->server : NULL;
    lock_release(&timers->lock);
    return server ? atomic_load_explicit(&server->m, memory_order_acquire) : NULL; /* P2 */
}

int64_t timers_earliest(struct sched *sched)
{
    int64_t earliest = INT64_MAX;
    for (int32_t i = 0; i < sched->heaps; i++) {
        int64_t next = atomic_load_explicit(&sched->timers[i].next, memory_order_relaxed);
        if (next < earliest)
            earliest = next;
    }
    return earliest;
}

/* Source: Go 1.26 runtime/netpoll_epoll.go netpoll: below 1 ms is 1 ms, else whole ones; at most
 * 11.5 days. */
int64_t timers_wait_ns(const struct sched *sched, int64_t when)
{
    const int64_t ms = 1000000, most = ms * 1000000000;
    int64_t left = when - machine_now();
    if (left <= 0)
        return 0;
    if (left > most)
        left = most;
    if (sched->runtime->poll_round == POLL_ROUND_NS)
        return left;
    return left < ms ? ms : left / ms * ms;
}

/* The heap ---------------------------------------------------------------------------------- */

/* Pre, for all here: the lock. */
static void publish_next(struct timers *timers)
{
    int64_t next = timers->count ? timers->heap[0].when : INT64_MAX;
    atomic_store_explicit(&timers->next, next, memory_order_relaxed);
}

static struct timer *timer_of(const struct timer_entry *entry)
{
    return entry->what & IS_TIMER ? (struct timer *)(entry->what - IS_TIMER) : NULL;
}

static struct timer_entry entry_of(const struct timer *timer)
{
    return (struct timer_entry){timer->when, timer->turn, (uintptr_t)timer + IS_TIMER};
}

static bool entry_is_before(const struct timer_entry *a, const struct timer_entry *b)
{
    return a->when != b->when ? a->when < b->when : a->turn < b->turn;
}

/* The first ones of the heap: near the root is where operations meet. */
static bool timers_are_valid(const struct timers *timers)
{
    enum { LOOKS = 64 };
    int64_t next = atomic_load_explicit(&timers->next, memory_order_relaxed);
    if (!HOLDS(timers->count <= timers->capacity) ||
        !HOLDS(next == (timers->count ? timers->heap[0].when : INT64_MAX)))
        return false;
    for (size_t at = 0; at < timers->count && at < LOOKS; at++) {
        const struct timer_entry *entry = &timers->heap[at];
        const struct timer *timer = timer_of(entry);
        if (!HOLDS(at == 0 || !entry_is_before(entry, &timers->heap[(at - 1) / ARITY])))
            return false;
        if (timer && (!HOLDS(timer->at == at + 1) || !HOLDS(entry->when <= timer->when) ||
                      !HOLDS(atomic_load_explicit(&timer->home, memory_order_relaxed) == timers)))
            return false;
    }
    return true;
}

static void heap_resize(struct timers *timers, size_t capacity)
{
    struct timer_entry *heap = machine_alloc(capacity * sizeof *heap, 64);
    if (!heap)
        fatal_env(ENOMEM, "no memory for %zu timers", capacity);
    machine_name(heap, capacity * sizeof *heap, "timers");
    for (size_t i = 0; i < timers->count; i++)
        heap[i] = timers->heap[i];
    machine_free(timers->heap);
    timers->heap = heap;
    timers->capacity = capacity;
}

static inline void heap_set(struct timers *timers, size_t at, struct timer_entry entry)
{
    struct timer *timer = timer_of(&entry);
    timers->heap[at] = entry;
    if (timer)
        timer->at = at + 1;
}

/* Puts entry into the free place `at`, or above it. */
static void heap_sift_up(struct timers *timers, size_t at, struct timer_entry entry)
{
    while (at > 0 && entry_is_before(&entry, &timers->heap[(at - 1) / ARITY])) {
        heap_set(timers, at, timers->heap[(at - 1) / ARITY]);
        at = (at - 1) / ARITY;
    }
    heap_set(timers, at, entry);
}

/* Puts entry into the free place `at`, or below it. */
static void heap_sift_down(struct timers *timers, size_t at, struct timer_entry entry)
{
    for (;;) {
        size_t first = at * ARITY + 1, least_at = at;
        const struct timer_entry *least = &entry;
        for (size_t kid = first; kid < first + ARITY && kid < timers->count; kid++)
            if (entry_is_before(&timers->heap[kid], least)) {
                least = &timers->heap[kid];
                least_at = kid;
            }
        if (least == &entry)
            break;
        heap_set(timers, at, *least);
        at = least_at;
    }
    heap_set(timers, at, entry);
}

static void heap_push(struct timers *timers, struct timer_entry entry)
{
    if (timers->count == timers->capacity)
        heap_resize(timers, timers->capacity ? timers->capacity * 2 : CAPACITY_MIN);
    heap_sift_up(timers, timers->count++, entry);
}

static void heap_remove(struct timers *timers, size_t at)
{
    INVARIANT(at < timers->count);
    struct timer_entry last = timers->heap[--timers->count];
    if (at < timers->count) {
        if (at > 0 && entry_is_before(&last, &timers->heap[(at - 1) / ARITY]))
            heap_sift_up(timers, at, last);
        else
            heap_sift_down(timers, at, last);
    }
    if (timers->count <= timers->capacity / 4 && timers->capacity > CAPACITY_MIN)
        heap_resize(timers, timers->capacity / 2);
}

/* Somebody has to wake earlier ------------------------------------------------------------- */

/* 1:1: the thread that serves the timers. */
static void timers_serve(struct m *m, struct timers *timers)
{
    struct p *p = p_new(m->sched, -1);
    p->timers = timers;
    lock_acquire(&timers->lock);
    bool mine = !timers->server;
    if (mine)
        timers->server = p;
    lock_release(&timers->lock);
    if (mine)
        m_start_server(m, p);
    else
        p_free(p);
}

/* The root of the heap has become earlier, `when`; server is what it was then, under the lock: one
 * that starts later looks at the heap first. */
static void timers_tell(struct m *m, struct timers *timers, struct p *server, int64_t when)
{
    if (!m->ops->blocks) {
        sched_timer_is_earlier(m, when);
    } else if (!server) {
        timers_serve(m, timers);
    } else if (server != m->p) {
        struct m *owner = atomic_load_explicit(&server->m, memory_order_acquire); /* P2 */
        if (owner)
            m_block_wake(m, owner); /* T1 */
    }
}

void timers_add(struct m *m, struct g *gp, int64_t when)
{
    INVARIANT(gp && !((uintptr_t)gp & IS_TIMER));
    struct timers *timers = m->p->timers;
    lock_acquire(&timers->lock);
    bool earliest = !timers->count || when < timers->heap[0].when;
    heap_push(timers, (struct timer_entry){when, timers->turns++, (uintptr_t)gp});
    stat_add(&m->stats, STAT_TIMERS_ADDED, 1);
    if (earliest)
        publish_next(timers);
    INVARIANT(timers_are_valid(timers));
    struct p *server = timers->server;
    lock_release(&timers->lock);
    if (earliest)
        timers_tell(m, timers, server, when);
}

/* Timers ------------------------------------------------------------------------------------ */

/* Locks the timer's home, which must not be NULL. */
static struct timers *timer_lock(struct timer *timer)
{
    for (;;) {
        struct timers *home = atomic_load_explicit(&timer->home, memory_order_acquire); /* H2 */
        lock_acquire(&home->lock);
        /* relaxed: it can change only under the lock that we hold, if it has not yet */
        if (atomic_load_explicit(&timer->home, memory_order_relaxed) == home)
            return home;
        lock_release(&home->lock);
    }
}

/* Pre: the lock. */
static bool timer_runs(const struct timers *home, const struct timer *timer)
{
    for (const struct firing *firing = home->firing; firing; firing = firing->next)
        if (firing->timer == timer)
            return true;
    return false;
}

/* As timer_lock(), for a timer about to be armed by m: one that is at rest moves to m's heap. */
static struct timers *timer_lock_near(struct m *m, struct timer *timer)
{
    struct timers *near = m->ops->thread_per_g ? m->sched->timers : m->p->timers;
    struct timers *none = NULL;
    /* relaxed: who fails goes on to H2 */
    atomic_compare_exchange_strong_explicit(&timer->home, &none, near,
                                            memory_order_release, /* H1 */
                                            memory_order_relaxed);
    struct timers *home = timer_lock(timer);
    if (home == near || timer->at || timer_runs(home, timer))
        return home;
    atomic_store_explicit(&timer->home, near, memory_order_release); /* H1 */
    lock_release(&home->lock);
    return timer_lock(timer); /* near, unless somebody else has been as quick */
}

/* Pre: the lock; timer->when has been set. */
static void timer_enter(struct timers *timers, struct timer *timer)
{
    struct timer_entry entry = entry_of(timer);
    if (!timer->at)
        heap_push(timers, entry);
    else if (entry.when < timers->heap[timer->at - 1].when)
        heap_sift_up(timers, timer->at - 1, entry);
    /* else it is moved when it comes to the top: take_due() */
}

/* Entries whose timers run at this moment stay, since timer_runs() looks where their home is. */
void timers_move(struct timers *from, struct timers *to)
{
    if (from == to)
        return;
    lock_acquire(from < to ? &from->lock : &to->lock);
    lock_acquire(from < to ? &to->lock : &from->lock);
    for (size_t at = from->count; at-- > 0;) {
        struct timer_entry entry = from->heap[at];
        struct timer *timer = timer_of(&entry);
        if (timer && timer_runs(from, timer))
            continue;
        heap_remove(from, at);
        entry.turn = to->turns++;
        if (timer) {
            timer->at = 0;
            timer->turn = entry.turn;
            atomic_store_explicit(&timer->home, to, memory_order_release); /* H1 */
        }
        heap_push(to, entry);
    }
    publish_next(from);
    publish_next(to);
    INVARIANT(timers_are_valid(to));
    lock_release(&from->lock);
    lock_release(&to->lock);
}

bool timer_arm(struct m *m, struct timer *timer, int64_t when, int64_t period)
{
    INVARIANT(m->p);
    INVARIANT(timer->fire && !((uintptr_t)timer & IS_TIMER));
    INVARIANT(period >= 0);
    struct timers *timers = timer_lock_near(m, timer);
    bool was_armed = timer->at != 0;
    int64_t next = timers->count ? timers->heap[0].when : INT64_MAX;
    timer->when = when < INT64_MAX ? when : INT64_MAX - 1;
    timer->period = period;
    timer->turn = timers->turns++;
    timer_enter(timers, timer);
    publish_next(timers);
    stat_add(&m->stats, STAT_TIMERS_ADDED, 1);
    INVARIANT(timers_are_valid(timers));
    bool earlier = when < next;
    struct p *server = timers->server;
    lock_release(&timers->lock);
    if (earlier)
        timers_tell(m, timers, server, when);
    return was_armed;
}

/* Pre: the lock. */
static bool timer_leave(struct timers *timers, struct timer *timer)
{
    if (!timer->at)
        return false;
    heap_remove(timers, timer->at - 1);
    timer->at = 0;
    publish_next(timers);
    /* relaxed: who asks the servers takes this lock */
    if (timers->server && timers->count == 0)
        atomic_store_explicit(&timers->sched->heap_emptied, true, memory_order_relaxed);
    return true;
}

enum timer_disarmed timer_disarm(struct timer *timer)
{
    if (!atomic_load_explicit(&timer->home, memory_order_acquire)) /* H2 */
        return TIMER_IDLE;
    struct timers *timers = timer_lock(timer);
    bool was_armed = timer_leave(timers, timer);
    bool runs = timer_runs(timers, timer);
    INVARIANT(timers_are_valid(timers));
    lock_release(&timers->lock);
    return runs ? TIMER_RUNNING : was_armed ? TIMER_STOPPED : TIMER_IDLE;
}

bool timer_disarm_wait(struct timer *timer)
{
    bool was_armed = false;
    if (!atomic_load_explicit(&timer->home, memory_order_acquire)) /* H2 */
        return false;
    for (int i = 1;; i++) {
        struct timers *timers = timer_lock(timer);
        was_armed |= timer_leave(timers, timer); /* once more: the call may have armed it */
        bool runs = timer_runs(timers, timer);
        INVARIANT(timers_are_valid(timers));
        lock_release(&timers->lock);
        if (!runs)
            return was_armed;
        machine_pause(1);
        if (i % 64 == 0)
            machine_yield();
    }
}

/* Serving a heap -------------------------------------------------------------------------- */

static void firing_begin(struct timers *timers, struct firing *firing, struct timer *timer)
{
    firing->timer = timer;
    firing->next = timers->firing;
    timers->firing = firing;
}

static void firing_end(struct timers *timers, struct firing *firing)
{
    struct firing **at = &timers->firing;
    while (*at != firing)
        at = &(*at)->next;
    *at = firing->next;
    firing->timer = NULL;
}

/* Pre: the lock; timer is the root, and due at now. It leaves, or goes where it is due next. */
static void timer_advance(struct timers *timers, struct timer *timer, int64_t now)
{
    if (timer->period <= 0) {
        timer->at = 0;
        heap_remove(timers, 0);
        return;
    }
    int64_t passed = (now - timer->when) / timer->period * timer->period;
    if (__builtin_add_overflow(timer->when + passed, timer->period, &timer->when))
        timer->when = INT64_MAX - 1;
    timer->turn = timers->turns++;
    heap_sift_down(timers, 0, entry_of(timer));
}

/* Pre: the lock. Takes out sleepers that are due at now, at most BATCH and none after a timer, and
 * returns how many; or the timer, if one is the first. */
static int take_due(struct timers *timers, int64_t now, struct g **batch, struct firing *firing)
{
    int n = 0;
    while (timers->count && timers->heap[0].when <= now && n < BATCH) {
        struct timer *timer = timer_of(&timers->heap[0]);
        if (!timer) {
            batch[n++] = (struct g *)timers->heap[0].what;
            heap_remove(timers, 0);
        } else if (timer->turn != timers->heap[0].turn) { /* was armed for later since */
            heap_sift_down(timers, 0, entry_of(timer));
        } else if (timer->period > 0 && timer_runs(timers, timer)) {
            timer_advance(timers, timer, now); /* this turn is left out */
        } else {
            if (n > 0)
                break;
            timer_advance(timers, timer, now);
            firing_begin(timers, firing, timer);
            break;
        }
    }
    publish_next(timers);
    return n;
}

bool timers_run_heap(struct m *m, struct timers *timers)
{
    struct g *batch[BATCH];
    struct firing firing = {0};
    int64_t now = machine_now();
    bool any = false;
    INVARIANT(m->p);
    (void)m;
    while (firing.timer || atomic_load_explicit(&timers->next, memory_order_relaxed) <= now) {
        lock_acquire(&timers->lock);
        if (firing.timer)
            firing_end(timers, &firing);
        int n = take_due(timers, now, batch, &firing);
        void (*fire)(struct timer *, int64_t) = firing.timer ? firing.timer->fire : NULL;
        INVARIANT(timers_are_valid(timers));
        lock_release(&timers->lock);
        for (int i = 0; i < n; i++)
            g_ready(batch[i]);
        if (fire)
            fire(firing.timer, now);
        any = any || n > 0 || fire;
    }
    return any;
}

bool timers_run_others(struct m *m)
{
    struct sched *sched = m->sched;
    int32_t from = m->p->id;
    bool any = false;
    INVARIANT(!m->ops->blocks);
    for (int32_t i = 1; i < sched->heaps; i++) {
        struct timers *timers = &sched->timers[(from + i) % sched->heaps];
        if (atomic_load_explicit(&timers->next, memory_order_relaxed) != INT64_MAX)
            any |= timers_run_heap(m, timers);
    }
    return any;
}

void go_sleep(int64_t ns)
{
    struct m *m = machine_self();
    if (ns <= 0) {
        gosched();
    } else if (m->ops->thread_per_g) {
        machine_sleep(ns);
    } else {
        struct g *gp = m->curg;
        gp->wait_reason = WAIT_SLEEP;
        gp->wait_on = NULL;
        timers_add(m, gp, timers_when(ns));
        g_park();
    }
}
