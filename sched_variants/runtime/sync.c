/* sync.c - join, wait groups, mutexes and condition variables.
 *
 * Called on goroutine stacks only. How a waiter and its waker part: waitq.h.
 */
#include "internal.h"
#include "waitq.h"

/* Join ---------------------------------------------------------------------------------------
 *
 * One word: 0 -> JOIN_FINISHED, or 0 -> the waiting G -> JOIN_FINISHED. Whoever comes second sees
 * who came first. The exchange is the last that the joined goroutine does with *join.
 *   J1  join_run(): releasing exchange   pairs with   J2  join_wait(): acquiring load or failed
 *       CAS (what the goroutine did is visible to who waited for it)
 *   J3  join_wait(): releasing CAS       pairs with   J4  join_run(): acquiring exchange (the
 *       waiter's fields are visible to who readies it)
 */
enum { JOIN_RUNNING = 0, JOIN_FINISHED = 1 };

static void join_run(void *arg)
{
    struct join *join = arg;
    join->fn(join->arg);
    uintptr_t waiter =
        atomic_exchange_explicit(&join->state, JOIN_FINISHED, memory_order_acq_rel); /* J1, J4 */
    INVARIANT(waiter != JOIN_FINISHED);
    if (waiter != JOIN_RUNNING)
        g_ready((struct g *)waiter);
}

void join_go(struct join *join, void (*fn)(void *), void *arg)
{
    INVARIANT(fn);
    atomic_init(&join->state, JOIN_RUNNING);
    join->fn = fn;
    join->arg = arg;
    go(join_run, join);
}

void join_wait(struct join *join)
{
    if (atomic_load_explicit(&join->state, memory_order_acquire) == JOIN_FINISHED) /* J2 */
        return;
    struct g *gp = machine_self()->curg;
    gp->wait_reason = WAIT_JOIN;
    gp->wait_on = join;
    uintptr_t running = JOIN_RUNNING;
    if (atomic_compare_exchange_strong_explicit(&join->state, &running, (uintptr_t)gp,
                                                memory_order_release,  /* J3 */
                                                memory_order_acquire)) /* J2 */
        g_park();
    else
        gp->wait_reason = WAIT_NONE;
    INVARIANT(running == JOIN_RUNNING || running == JOIN_FINISHED); /* nobody else waits */
}

/* Wait groups --------------------------------------------------------------------------------
 *
 * Source: Go 1.26 sync/waitgroup.go Add, Wait.
 *   Same:    counter and number of waiters in one word; whoever brings the counter to zero while
 *            somebody waits sets the word to 0 and readies all, longest waiter first; misuse that
 *            Go detects is detected.
 *   Differs: a waiter counts itself and joins the list in one critical section.
 *   Why:     Go's semaphore remembers permits for waiters that are counted and not yet queued. With
 *            one lock around both, the list holds exactly the counted ones, and none are needed.
 *
 * Invariant, while the lock is free: list length = waiters (0 from the reset on).
 *
 *   WG1  wg_add(): releasing RMW   pairs with   WG2  wg_wait(): acquiring load or CAS, and the
 *       acquire half of the RMW that reaches zero (all that was done before any wg_done() is
 *       visible to the waiters; RMWs continue each other's release sequence)
 */
#define WG_ONE (UINT64_C(1) << 32)

static inline int32_t wg_counter(uint64_t state)
{
    return (int32_t)(uint32_t)(state >> 32);
}

/* Pre: the lock. */
static bool waitgroup_is_valid(struct waitgroup *wg)
{
    /* relaxed: waiters change under the lock only */
    uint64_t state = atomic_load_explicit(&wg->state, memory_order_relaxed);
    return waitq_is_valid(wg->head, wg->tail) && waitq_has(wg->head, (uint32_t)state);
}

/* The counter is zero and somebody waits, or the caller did what it must not. */
static __attribute__((noinline)) void wg_add_slow(struct waitgroup *wg, uint64_t state)
{
    if (wg_counter(state) < 0)
        fatal("wg_add: the counter is negative: %d", wg_counter(state));
    if (wg_counter(state) > 0)
        fatal("wg_add: added to while the waiters of the round before are being woken");
    lock_acquire(&wg->lock);
    INVARIANT(waitgroup_is_valid(wg));
    /* relaxed: WG1 has ordered what is before, the lock and g_ready() what follows */
    if (!atomic_compare_exchange_strong_explicit(&wg->state, &state, 0, memory_order_relaxed,
                                                 memory_order_relaxed))
        fatal("wg_add: added to while the waiters of the round before are being woken");
    struct g *waiting = waitq_take(&wg->head);
    lock_release(&wg->lock);
    waitq_ready(waiting);
}

static inline void wg_add_inline(struct waitgroup *wg, int32_t delta)
{
    uint64_t add = (uint64_t)(uint32_t)delta << 32;
    uint64_t state =
        atomic_fetch_add_explicit(&wg->state, add, memory_order_acq_rel) + add; /* WG1 */
    int32_t counter = wg_counter(state);
    uint32_t waiters = (uint32_t)state;
    /* counter == delta: it was zero before, and then nobody may wait */
    if (counter >= 0 && (waiters == 0 || (counter > 0 && counter != delta)))
        return;
    wg_add_slow(wg, state);
}

void wg_add(struct waitgroup *wg, int32_t delta)
{
    wg_add_inline(wg, delta);
}

void wg_done(struct waitgroup *wg)
{
    wg_add_inline(wg, -1);
}

void wg_wait(struct waitgroup *wg)
{
    if (wg_counter(atomic_load_explicit(&wg->state, memory_order_acquire)) == 0) /* WG2 */
        return;
    struct g *gp = machine_self()->curg;
    lock_acquire(&wg->lock);
    uint64_t state = atomic_load_explicit(&wg->state, memory_order_acquire); /* WG2 */
    do {
        if (wg_counter(state) == 0) {
            lock_release(&wg->lock);
            return;
        }
    } while (!atomic_compare_exchange_weak_explicit(&wg->state, &state, state + 1,
                                                    memory_order_acquire,   /* WG2 */
                                                    memory_order_acquire)); /* WG2 */
    gp->wait_reason = WAIT_WAITGROUP;
    gp->wait_on = wg;
    waitq_push(&wg->head, &wg->tail, gp);
    INVARIANT(waitgroup_is_valid(wg));
    lock_release(&wg->lock);
    g_park();
}

/* Mutexes ------------------------------------------------------------------------------------
 *
 * Source: Go 1.26 internal/sync/mutex.go Lock, lockSlow, Unlock, unlockSlow; runtime/proc.go
 *         internal_sync_runtime_canSpin, doSpin; runtime/sema.go semrelease1.
 *   Same:    Normal mode: unlock wakes the longest waiter, which competes with newcomers and, when
 *            it loses, queues at the front. Starving mode, set by a woken waiter that lost after
 *            over 1 ms: the lock goes from owner to longest waiter, newcomers queue at the back; it
 *            ends when the waiter is the last or waited less. A few rounds of spinning before.
 *   Knobs:   starve_ns for the 1 ms: 0 hands over to every waiter, `never` to none; mutex_spin.
 *   Differs: (1) a waiter counts itself and joins the list in one critical section; (2) wake_handed
 *            tells the waiter that it was handed the lock; (3) spinning stops as soon as there is
 *            work for an idle worker anywhere, Go looks into the worker's own queue; (4) after a
 *            hand-over the variant says what stepping back is (Go: the own ring's tail).
 *   Why:     (1), (2) no semaphore that remembers permits and tickets; (3), (4) the runtime does
 *            not know a variant's queues.
 *
 * state = LOCKED | WOKEN | STARVING | waiters << 3. WOKEN: one waiter is awake and competes, so no
 * other is woken. Invariant, while the lock of the list is free:
 *   list length = waiters + unlocks that have counted a waiter off and not yet taken it
 *               - waiters that were handed the mutex and have not yet counted themselves off
 *
 *   M1  mutex_cas_acquire() of whoever takes the mutex   pairs with   M2  releasing subtraction in
 *       mutex_release() (all other changes of state are RMWs too and continue the release sequence,
 *       so they may be relaxed; an owner who was handed the mutex is ordered by g_ready())
 *
 * An unlock with waiters looks at the mutex again after it has given it up, as in Go. So, unlike a
 * join or a wait group, a mutex may be freed only by who knows that no mutex_unlock() is under way.
 */
enum {
    MUTEX_LOCKED = 1,
    MUTEX_WOKEN = 2,
    MUTEX_STARVING = 4,
    MUTEX_WAITER = 8,
    MUTEX_WAITER_SHIFT = 3,
    MUTEX_SPIN_RELAXES = 30,
};

const char *const starve_words[] = {"never", NULL};

/* One call of mutex_lock() that found the mutex taken. */
struct mutex_attempt {
    int64_t since; /* when it first queued; 0: not yet */
    int rounds;    /* spun since it last woke */
    bool awoke;    /* WOKEN is ours */
    bool starving; /* waited too long */
};

/* Relaxed: a hint, or followed by a CAS that checks it. */
static inline uint32_t mutex_state(struct mutex *mu)
{
    return atomic_load_explicit(&mu->state, memory_order_relaxed);
}

static inline bool mutex_cas_relaxed(struct mutex *mu, uint32_t old, uint32_t new_state)
{
    return atomic_compare_exchange_strong_explicit(&mu->state, &old, new_state,
                                                   memory_order_relaxed, memory_order_relaxed);
}

static inline bool mutex_cas_acquire(struct mutex *mu, uint32_t old, uint32_t new_state)
{
    return atomic_compare_exchange_strong_explicit(&mu->state, &old, new_state,
                                                   memory_order_acquire, /* M1 */
                                                   memory_order_relaxed);
}

/* Holds of any state that somebody sees. */
static bool mutex_state_is_valid(uint32_t state)
{
    return HOLDS(!(state & MUTEX_STARVING) || state >> MUTEX_WAITER_SHIFT != 0) &&
           HOLDS(!(state & MUTEX_STARVING) || !(state & MUTEX_WOKEN));
}

/* Spinning pays if the owner runs meanwhile and nobody else could use this worker. */
static bool mutex_may_spin(struct m *m, const struct mutex_attempt *attempt)
{
    struct sched *sched = m->sched;
    if (attempt->rounds >= sched->runtime->mutex_spin || sched->workers <= 1 ||
        m->ops->single_threaded)
        return false;
    if (m->ops->blocks)
        return true; /* its workers are not interchangeable: nobody counts who rests */
    /* relaxed: a wrong guess costs some hundred nanoseconds */
    int32_t resting = atomic_load_explicit(&sched->idle_ps, memory_order_relaxed) +
                      atomic_load_explicit(&sched->spinning, memory_order_relaxed);
    return sched->procs > resting + 1 && !m->ops->has_work(sched);
}

/* Waits a little for the owner, holding off wake-ups meanwhile. Returns a fresh state. A G that
 * starves from the start, with starve_ns=0, does not hold off the hand-over to the waiters before
 * it. */
static uint32_t mutex_spin(struct mutex *mu, struct mutex_attempt *attempt)
{
    struct m *m = machine_self();
    uint32_t old = mutex_state(mu);
    while ((old & (MUTEX_LOCKED | MUTEX_STARVING)) == MUTEX_LOCKED && mutex_may_spin(m, attempt)) {
        if (!attempt->awoke && !attempt->starving && !(old & MUTEX_WOKEN) &&
            old >> MUTEX_WAITER_SHIFT != 0 && mutex_cas_relaxed(mu, old, old | MUTEX_WOKEN))
            attempt->awoke = true;
        machine_pause(MUTEX_SPIN_RELAXES);
        attempt->rounds++;
        old = mutex_state(mu);
    }
    return old;
}

/* Puts gp on the list; false if the mutex has become free in the meantime. Nobody is handed the
 * mutex while another one is awake and competes for it: STARVING is not set beside WOKEN. */
static bool mutex_enqueue(struct mutex *mu, struct mutex_attempt *attempt, struct g *gp)
{
    int64_t since = attempt->since ? attempt->since : machine_now();
    lock_acquire(&mu->lock);
    uint32_t old, new_state;
    do {
        old = mutex_state(mu);
        INVARIANT(mutex_state_is_valid(old));
        if (!(old & (MUTEX_LOCKED | MUTEX_STARVING))) {
            lock_release(&mu->lock);
            return false;
        }
        new_state = old + MUTEX_WAITER;
        if (attempt->starving && (old & MUTEX_LOCKED) && (attempt->awoke || !(old & MUTEX_WOKEN)))
            new_state |= MUTEX_STARVING;
        if (attempt->awoke)
            new_state &= ~(uint32_t)MUTEX_WOKEN;
        INVARIANT(new_state > old); /* waiters have room in the word */
    } while (!mutex_cas_relaxed(mu, old, new_state));
    gp->wait_reason = WAIT_MUTEX;
    gp->wait_on = mu;
    gp->wait_since = since;
    gp->wake_handed = false;
    if (attempt->since)
        waitq_push_front(&mu->head, &mu->tail, gp);
    else
        waitq_push(&mu->head, &mu->tail, gp);
    attempt->since = since;
    lock_release(&mu->lock);
    return true;
}

/* The caller was handed the mutex: nobody else can take it, only count themselves as waiters. */
static void mutex_take_handed(struct mutex *mu, bool starving)
{
    uint32_t old = mutex_state(mu);
    uint32_t waiters = old >> MUTEX_WAITER_SHIFT;
    if ((old & (MUTEX_LOCKED | MUTEX_WOKEN)) || !(old & MUTEX_STARVING) || waiters == 0)
        fatal("mutex_lock: inconsistent state %#x after a hand-over", old);
    uint32_t add = MUTEX_LOCKED - MUTEX_WAITER;
    if (!starving || waiters == 1)
        add -= MUTEX_STARVING;
    /* relaxed: g_ready() has already ordered what the owner before did */
    atomic_fetch_add_explicit(&mu->state, add, memory_order_relaxed);
}

static __attribute__((noinline)) void mutex_lock_slow(struct mutex *mu)
{
    struct g *gp = machine_self()->curg;
    int64_t starve_ns = machine_self()->sched->runtime->starve_ns;
    struct mutex_attempt attempt = {.starving = starve_ns == 0};
    for (;;) {
        uint32_t old = mutex_spin(mu, &attempt);
        if (!(old & (MUTEX_LOCKED | MUTEX_STARVING))) {
            uint32_t clear = attempt.awoke ? MUTEX_WOKEN : 0;
            if (mutex_cas_acquire(mu, old, (old | MUTEX_LOCKED) & ~clear))
                return;
            continue;
        }
        if (!mutex_enqueue(mu, &attempt, gp))
            continue;
        g_park();
        if (starve_ns != STARVE_NEVER && machine_now() - attempt.since > starve_ns)
            attempt.starving = true;
        if (gp->wake_handed) {
            mutex_take_handed(mu, attempt.starving);
            return;
        }
        attempt.awoke = true;
        attempt.rounds = 0;
    }
}

bool mutex_try_lock(struct mutex *mu)
{
    uint32_t old = mutex_state(mu);
    if (old & (MUTEX_LOCKED | MUTEX_STARVING))
        return false;
    return mutex_cas_acquire(mu, old, old | MUTEX_LOCKED);
}

void mutex_lock(struct mutex *mu)
{
    preempt_point();
    if (__builtin_expect(!mutex_cas_acquire(mu, 0, MUTEX_LOCKED), 0))
        mutex_lock_slow(mu);
}

/* The longest waiter; there is one, because the caller's change of state has claimed it. */
static struct g *mutex_dequeue(struct mutex *mu)
{
    lock_acquire(&mu->lock);
    struct g *gp = waitq_pop(&mu->head);
    lock_release(&mu->lock);
    if (!gp)
        fatal("mutex_unlock: a waiter is counted and not on the list");
    return gp;
}

/* state: after the caller has cleared LOCKED. Returns true if the mutex was handed over. */
static __attribute__((noinline)) bool mutex_release_slow(struct mutex *mu, uint32_t state)
{
    if (!((state + MUTEX_LOCKED) & MUTEX_LOCKED))
        fatal("mutex_unlock: the mutex is not locked");
    INVARIANT(mutex_state_is_valid(state));
    if (state & MUTEX_STARVING) {
        struct g *gp = mutex_dequeue(mu);
        gp->wake_handed = true;
        g_ready(gp);
        return true;
    }
    /* Whoever has locked it meanwhile, or is awake and will, also wakes the next. */
    while (state >> MUTEX_WAITER_SHIFT != 0 &&
           !(state & (MUTEX_LOCKED | MUTEX_WOKEN | MUTEX_STARVING))) {
        if (mutex_cas_relaxed(mu, state, (state - MUTEX_WAITER) | MUTEX_WOKEN)) {
            g_ready(mutex_dequeue(mu));
            break;
        }
        state = mutex_state(mu);
    }
    return false;
}

/* As mutex_unlock(), without giving way after a hand-over; tells whether there was one. */
static inline bool mutex_release(struct mutex *mu)
{
    uint32_t state =
        atomic_fetch_sub_explicit(&mu->state, MUTEX_LOCKED, memory_order_release) - /* M2 */
        MUTEX_LOCKED;
    return __builtin_expect(state != 0, 0) && mutex_release_slow(mu, state);
}

void mutex_unlock(struct mutex *mu)
{
    /* The new owner lies where the caller's worker looks next: let it run before the caller goes
     * on and comes back to queue behind it. */
    if (mutex_release(mu))
        g_step_back();
}

/* Condition variables ------------------------------------------------------------------------
 *
 * Source: Go 1.26 sync/cond.go; runtime/sema.go notifyListAdd, notifyListWait, notifyListNotifyOne,
 *         notifyListNotifyAll.
 *   Same:    waiters queue in the order in which they call cond_wait() under the mutex; signal
 *            wakes the longest waiter, broadcast all, longest first.
 *   Differs: the list itself in place of tickets.
 *   Why:     Go's ticket stands for a G that will queue itself after it has released the mutex.
 *            Here the G queues itself before, and may be readied before it has parked.
 *
 * From the push until it parks a waiter is on the list of the condition variable, so it must not
 * yield: mutex_release() and not mutex_unlock(). It parks at once, so a new owner loses nothing.
 */
void cond_wait(struct cond *cond, struct mutex *mu)
{
    struct g *gp = machine_self()->curg;
    INVARIANT(mutex_state(mu) & MUTEX_LOCKED);
    gp->wait_reason = WAIT_COND;
    gp->wait_on = cond;
    lock_acquire(&cond->lock);
    waitq_push(&cond->head, &cond->tail, gp);
    lock_release(&cond->lock);
    mutex_release(mu);
    g_park();
    mutex_lock(mu);
}

void cond_signal(struct cond *cond)
{
    lock_acquire(&cond->lock);
    struct g *gp = waitq_pop(&cond->head);
    lock_release(&cond->lock);
    if (gp)
        g_ready(gp);
}

void cond_broadcast(struct cond *cond)
{
    lock_acquire(&cond->lock);
    struct g *waiting = waitq_take(&cond->head);
    lock_release(&cond->lock);
    waitq_ready(waiting);
}
