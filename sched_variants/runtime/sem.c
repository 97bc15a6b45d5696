/* sem.c - semaphores, and what is made of them: once and read-write mutexes.
 *
 * Called on goroutine stacks only. How a waiter and its waker part: waitq.h.
 */
#include "sched.h"
#include "waitq.h"

/* Semaphores ---------------------------------------------------------------------------------
 *
 * Source: Go 1.26 runtime/sema.go semacquire1, semrelease1, cansemacquire.
 *   Same:    a release adds a permit and wakes the first waiter, which competes for it; who loses
 *            queues again, behind all or in front of all as it did before. With hand-off the
 *            releaser takes the permit back for the waiter, if it is still there, readies it and
 *            steps back.
 *   Differs: (1) permits and the number of waiters are one word, and a waiter counts itself and
 *            joins the list in one critical section; (2) the list is in the semaphore, Go finds it
 *            by the address in a table of treaps; (3) wake_handed is Go's ticket.
 *   Why:     (1) whoever adds a permit learns in the same operation whether somebody waits, so
 *            neither side needs a full fence; (2) Go's semaphore is a word inside other objects.
 *
 * Invariant, while the lock is free: list length = waiters.
 *
 *   SE1  sem_release(): releasing addition   pairs with   SE2  acquiring CAS of whoever takes a
 *       permit (what was done before any sem_release() so far is visible to him: all other changes
 *       of the word are RMWs too and continue the release sequence; who was handed a permit is
 *       ordered by its releaser's SE2 and g_ready())
 */
#define SEM_WAITER (UINT64_C(1) << 32)

static inline uint32_t sem_permits(uint64_t state)
{
    return (uint32_t)state;
}

/* Pre: the lock. */
static bool sem_is_valid(const struct sem *sem)
{
    /* relaxed: waiters change under the lock only */
    uint64_t state = atomic_load_explicit(&sem->state, memory_order_relaxed);
    return waitq_is_valid(sem->head, sem->tail) &&
           waitq_has(sem->head, (uint32_t)(state / SEM_WAITER));
}

bool sem_try_acquire(struct sem *sem)
{
    /* relaxed: the CAS checks it; without a permit nothing is acquired */
    uint64_t state = atomic_load_explicit(&sem->state, memory_order_relaxed);
    while (sem_permits(state) > 0)
        if (atomic_compare_exchange_weak_explicit(&sem->state, &state, state - 1,
                                                  memory_order_acquire, /* SE2 */
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* True: gp is on the list, and the lock is released. False: it has a permit instead. */
static bool sem_enqueue(struct sem *sem, struct g *gp, bool front)
{
    lock_acquire(&sem->lock);
    uint64_t state = atomic_load_explicit(&sem->state, memory_order_relaxed), new_state;
    do { /* relaxed: as in sem_try_acquire() */
        new_state = sem_permits(state) > 0 ? state - 1 : state + SEM_WAITER;
    } while (!atomic_compare_exchange_weak_explicit(&sem->state, &state, new_state,
                                                    memory_order_acquire, /* SE2 */
                                                    memory_order_relaxed));
    bool waits = new_state > state;
    gp->wake_handed = false;
    if (waits && front)
        waitq_push_front(&sem->head, &sem->tail, gp);
    else if (waits)
        waitq_push(&sem->head, &sem->tail, gp);
    INVARIANT(sem_is_valid(sem));
    lock_release(&sem->lock);
    return waits;
}

/* reason, object: what the deadlock report says. */
static __attribute__((noinline)) void sem_wait_for(struct sem *sem, bool front,
                                                   enum wait_reason reason, void *object)
{
    struct g *gp = machine_self()->curg;
    do {
        gp->wait_reason = (uint8_t)reason;
        gp->wait_on = object;
        if (!sem_enqueue(sem, gp, front)) {
            gp->wait_reason = WAIT_NONE;
            return;
        }
        g_park();
    } while (!gp->wake_handed && !sem_try_acquire(sem));
}

void sem_acquire(struct sem *sem)
{
    if (!sem_try_acquire(sem))
        sem_wait_for(sem, false, WAIT_SEM, sem);
}

void sem_acquire_front(struct sem *sem)
{
    if (!sem_try_acquire(sem))
        sem_wait_for(sem, true, WAIT_SEM, sem);
}

/* A permit has been added, and somebody waited then. True if it was handed over. */
static __attribute__((noinline)) bool sem_wake(struct sem *sem, bool handoff)
{
    lock_acquire(&sem->lock);
    INVARIANT(sem_is_valid(sem));
    struct g *gp = waitq_pop(&sem->head);
    if (gp) /* relaxed: the lock orders it */
        atomic_fetch_sub_explicit(&sem->state, SEM_WAITER, memory_order_relaxed);
    bool handed = gp && handoff && sem_try_acquire(sem);
    lock_release(&sem->lock);
    if (gp) {
        gp->wake_handed = handed;
        g_ready(gp);
    }
    return handed;
}

void sem_release(struct sem *sem, bool handoff)
{
    uint64_t old = atomic_fetch_add_explicit(&sem->state, 1, memory_order_release); /* SE1 */
    if (sem_permits(old) == UINT32_MAX)
        fatal("sem_release: more than %u permits", UINT32_MAX);
    /* The new holder lies where the caller's worker looks next. */
    if (old >= SEM_WAITER && sem_wake(sem, handoff))
        g_step_back();
}

/* Once ---------------------------------------------------------------------------------------
 *
 * Source: Go 1.26 sync/once.go Do, doSlow.
 *
 *   OC1  once_do_slow(): release store   pairs with   OC2  once_do(): acquire load (what fn did is
 *       visible to who does not call it; those that waited for the mutex are ordered by that)
 */
static __attribute__((noinline)) void once_do_slow(struct once *once, void (*fn)(void *), void *arg)
{
    mutex_lock(&once->mu);
    /* relaxed: written under the mutex only */
    if (!atomic_load_explicit(&once->done, memory_order_relaxed)) {
        fn(arg);
        atomic_store_explicit(&once->done, 1, memory_order_release); /* OC1 */
    }
    mutex_unlock(&once->mu);
}

void once_do(struct once *once, void (*fn)(void *), void *arg)
{
    INVARIANT(fn);
    if (!atomic_load_explicit(&once->done, memory_order_acquire)) /* OC2 */
        once_do_slow(once, fn, arg);
}

/* Read-write mutexes -------------------------------------------------------------------------
 *
 * Source: Go 1.26 sync/rwmutex.go RLock, RUnlock, rUnlockSlow, Lock, Unlock, TryLock, TryRLock.
 *   Same:    A writer locks out other writers, then announces itself by a large negative number in
 *            `readers`, and waits for as many as read at that moment: each that leaves counts
 *            `leaving` down, the last one wakes it. Readers that come meanwhile wait; unlock takes
 *            the number back, gives each of them a permit, the longest waiter first, and only then
 *            lets in the next writer.
 *
 * readers = who read, or want to, - RWMUTEX_WRITER while a writer holds the lock or waits for it
 * leaving = readers that the announced writer has to wait for, less those that have left; they may
 *           leave before it has added them, so it is negative for a moment
 *
 *   RW1  rwmutex_read_unlock(), release; and, where a writer waits, of `leaving` too
 *        pairs with   RW2  rwmutex_lock(), acquire of both (what readers read is not written over)
 *   RW3  rwmutex_unlock(), release   pairs with   RW4  rwmutex_read_lock(), acquire (readers see
 *        what was written; those that waited by SE1 and SE2)
 * All are RMWs of the same words, and so continue each other's release sequences.
 */
enum { RWMUTEX_WRITER = 1 << 30 };

void rwmutex_read_lock(struct rwmutex *rw)
{
    if (atomic_fetch_add_explicit(&rw->readers, 1, memory_order_acquire) + 1 < 0 && /* RW4 */
        !sem_try_acquire(&rw->reader))
        sem_wait_for(&rw->reader, false, WAIT_READ_LOCK, rw);
}

bool rwmutex_try_read_lock(struct rwmutex *rw)
{
    int32_t readers = atomic_load_explicit(&rw->readers, memory_order_relaxed); /* checked below */
    while (readers >= 0)
        if (atomic_compare_exchange_weak_explicit(&rw->readers, &readers, readers + 1,
                                                  memory_order_acquire, /* RW4 */
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* readers: what was left of them. */
static __attribute__((noinline)) void rwmutex_read_unlock_slow(struct rwmutex *rw, int32_t readers)
{
    if (readers == -1 || readers == -RWMUTEX_WRITER - 1)
        fatal("rwmutex_read_unlock: nobody reads");
    INVARIANT(readers >= -RWMUTEX_WRITER);
    /* RW1; acquire: who wakes the writer passes on what the others before it did */
    if (atomic_fetch_sub_explicit(&rw->leaving, 1, memory_order_acq_rel) == 1)
        sem_release(&rw->writer, false);
}

void rwmutex_read_unlock(struct rwmutex *rw)
{
    int32_t readers =
        atomic_fetch_sub_explicit(&rw->readers, 1, memory_order_release) - 1; /* RW1 */
    if (__builtin_expect(readers < 0, 0))
        rwmutex_read_unlock_slow(rw, readers);
}

void rwmutex_lock(struct rwmutex *rw)
{
    mutex_lock(&rw->writers);
    int32_t reading =
        atomic_fetch_sub_explicit(&rw->readers, RWMUTEX_WRITER, memory_order_acquire); /* RW2 */
    INVARIANT(reading >= 0);
    if (reading != 0 &&
        atomic_fetch_add_explicit(&rw->leaving, reading, memory_order_acquire) + reading != 0 &&
        !sem_try_acquire(&rw->writer)) /* RW2 */
        sem_wait_for(&rw->writer, false, WAIT_WRITE_LOCK, rw);
}

bool rwmutex_try_lock(struct rwmutex *rw)
{
    if (!mutex_try_lock(&rw->writers))
        return false;
    int32_t nobody = 0;
    if (atomic_compare_exchange_strong_explicit(&rw->readers, &nobody, -RWMUTEX_WRITER,
                                                memory_order_acquire, /* RW2 */
                                                memory_order_relaxed))
        return true;
    mutex_unlock(&rw->writers);
    return false;
}

void rwmutex_unlock(struct rwmutex *rw)
{
    int32_t waiting =
        atomic_fetch_add_explicit(&rw->readers, RWMUTEX_WRITER, memory_order_release) + /* RW3 */
        RWMUTEX_WRITER;
    if (waiting >= RWMUTEX_WRITER)
        fatal("rwmutex_unlock: the lock is not held for writing");
    for (int32_t i = 0; i < waiting; i++)
        sem_release(&rw->reader, false);
    mutex_unlock(&rw->writers);
}
