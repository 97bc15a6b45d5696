/* runtime.h - everything a workload may call: the one public header of the runtime.
 *
 * A workload is written once against these functions and runs unchanged on every variant and on
 * every machine. Two styles:
 *
 *   goroutines  go(), gosched(), go_sleep(), channels, wait groups, mutexes, join
 *   fork/join   fj_spawn(), fj_sync() (forkjoin.h, included at the end)
 *
 * Goroutines read and write descriptors through io.h, included at the end as well.
 *
 * Unless a function says otherwise, it may be called only on a goroutine's stack, that is from
 * inside workload->run() or from a function started by go() or fj_spawn().
 *
 * Nothing here returns an error: running out of memory for a G or a stack ends the process with
 * one line on standard error, and the harness records a failed cell. Misuse (unlocking a free
 * mutex, sending on a closed channel) is a broken invariant and ends the process likewise.
 */
#ifndef SCHEDLAB_RUNTIME_H
#define SCHEDLAB_RUNTIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct g;

/* Goroutines ------------------------------------------------------------------------------- */

/* Starts fn(arg) as a new goroutine. arg must stay valid for as long as fn uses it. Which of the
 * two runs first, and where, is what the variants differ in. */
void go(void (*fn)(void *), void *arg);

/* As go(), but the new goroutine waits where every worker looks, not with the caller's worker, and
 * the caller runs on: what a thread without a worker starts lies there too. Where workers have
 * nothing in common (kthread, uthread, static) it is go(). Source: Go 1.26 injectglist. */
void go_global(void (*fn)(void *), void *arg);

/* Calls fn(arg, i) for each i below n, at most OUTSIDE_MAX, on a thread of its own that is no
 * worker, all at the same time. The caller waits until all have returned. The threads stay for the
 * next call. One call at a time. fn may call go_from_outside(), go_now() and go_work(), and no
 * other function of these. Returns 0; -ENOTSUP where a goroutine has to begin with a worker
 * (kthread, uthread, static). */
enum { OUTSIDE_MAX = 256 };
int go_outside(int n, void (*fn)(void *arg, int i), void *arg);

/* As go(), for such a thread. The new goroutine waits where every worker looks. Any number of
 * threads. Source: Tokio's Handle::spawn() outside of its runtime. */
void go_from_outside(void (*fn)(void *), void *arg);

/* Lets other goroutines run; the caller becomes runnable again at once (Go: runtime.Gosched). A
 * caller that cannot leave its worker, between spawn and sync, goes on at once: see forkjoin.h. */
void gosched(void);

/* Before and after a call that may put the thread to sleep: a file, foreign code. In between the
 * caller may call nothing of the runtime, and others may get its worker: the knob `calls`.
 * Afterwards it may be on another worker, after a wait for one. Do not nest. Source: Go 1.26
 * entersyscall. */
void blocking_enter(void);
void blocking_exit(void);

/* Two calls that block, with the two above around them: the thread sleeps in the kernel for at
 * least ns nanoseconds, or just goes there and comes back. They return when the kernel's part was
 * over, by go_now(): from then until they return, the caller waited for a worker. */
int64_t blocking_sleep(int64_t ns);
int64_t blocking_nop(void);

/* Locks the calling goroutine to its thread: it runs on no other, and nothing else on that thread.
 * Nests; ends with the last unlock, or with the goroutine. Unlocking what is not locked is fatal,
 * and so is fork/join while it is locked: a stolen continuation is another's thread's. Without
 * effect where goroutines never leave their threads (kthread, uthread, static). Source: Go 1.26
 * runtime.LockOSThread. */
void go_lock_thread(void);
void go_unlock_thread(void);

/* Uses n workers from here on, 1 <= n <= go_workers(); 0 only asks. Returns how many it was, or
 * -ENOTSUP where workers are not interchangeable (kthread, uthread, static). A worker too many goes
 * when its goroutine stops, or is preempted. Source: Go 1.26 runtime.GOMAXPROCS. */
int go_set_workers(int n);

/* For long loops: lets others run if the caller's slice is over (knobs slice_ns, preempt); some
 * instructions if not. */
void go_preempt_point(void);

/* Parks the caller for at least ns nanoseconds; ns <= 0 is gosched(). */
void go_sleep(int64_t ns);

/* Nanoseconds of a clock that never goes back. Any stack. */
int64_t go_now(void);

#if defined(SCHEDLAB_SIM) || defined(SCHEDLAB_TRACE)
/* The caller has served a request that was due at due_ns and served at end_ns, by go_now().
 * Simulated machines tell where its time went, and take no time for it. Programs that trace real
 * threads record it in tens of nanoseconds; in those that measure it is nothing. `kind` tells apart
 * what one workload may measure: see request_kind in workload.h. */
void go_request(int32_t kind, int64_t due_ns, int64_t end_ns);

/* Likewise, what to call a mutex: a string literal. */
void go_name_lock(const void *lock, const char *name);
#else
static inline void go_request(int32_t kind, int64_t due_ns, int64_t end_ns)
{
    (void)kind;
    (void)due_ns;
    (void)end_ns;
}

static inline void go_name_lock(const void *lock, const char *name)
{
    (void)lock;
    (void)name;
}
#endif

/* How many workers (cores) the run may use; constant during a run. Any stack. */
int go_workers(void);

/* A small number that names the worker (M) running the caller, 0 <= index. May be stale as soon as
 * it returns. */
int go_worker_index(void);

/* 64 pseudo-random bits from the calling worker's own generator; seeded from the run's seed, but
 * which worker asks is a matter of scheduling: use it for jitter, never for answers. */
uint64_t go_random(void);

/* Burns CPU without calling the runtime: n rounds of a dependent integer recurrence of a few cycles
 * each. Returns the last state, so that the compiler cannot drop it. Any stack. */
uint64_t go_work(uint64_t n);

/* Join: wait for one goroutine. The caller owns *join until join_wait() returned. */
struct join {
    _Atomic(uintptr_t) state; /* 0 running, 1 finished, else the waiting G */
    void (*fn)(void *);
    void *arg;
};

/* As go(), and *join can be waited for, exactly once. */
void join_go(struct join *join, void (*fn)(void *), void *arg);

/* Parks until the goroutine of join has returned. */
void join_wait(struct join *join);

/* Channels --------------------------------------------------------------------------------- */

/* A typed-by-size FIFO between goroutines. Source: Go 1.26 runtime/chan.go. */
struct chan;

/* A channel of elements of elem_size bytes (1..1024) that buffers capacity of them; capacity 0 is
 * unbuffered: a send waits for its receiver. Free with chan_free(). */
struct chan *chan_make(size_t elem_size, size_t capacity);

/* Frees a channel on which nobody waits and that nobody will use again, or NULL. A select uses all
 * its channels until it returns. */
void chan_free(struct chan *ch);

/* Sends *elem (copied); parks while the buffer is full, for ever if ch is NULL. Sending on a closed
 * channel is fatal. */
void chan_send(struct chan *ch, const void *elem);

/* Receives into *elem (NULL: discards); parks while there is nothing. False once the channel is
 * closed and drained; *elem is then all zero. Parks for ever if ch is NULL. */
bool chan_recv(struct chan *ch, void *elem);

/* As above, but return false at once instead of parking, also if ch is NULL. chan_try_recv sets
 * *closed (may be NULL) to whether the channel is closed and drained. */
bool chan_try_send(struct chan *ch, const void *elem);
bool chan_try_recv(struct chan *ch, void *elem, bool *closed);

/* Closes: parked receivers wake with false, in Go's order. Closing twice is fatal; so is closing
 * NULL, and closing while a sender, or a select with a case that sends on it, is parked on it. */
void chan_close(struct chan *ch);

/* Elements buffered now; a snapshot. None are in NULL. */
size_t chan_len(struct chan *ch);

/* Select: the first that can go ahead of several sends and receives, and only that one. If several
 * can, one of them at random, each as likely as the others. Source: Go 1.26 runtime/select.go. */
enum select_op { SELECT_RECV, SELECT_SEND };
enum { SELECT_CASES_MAX = 65536, SELECT_NONE = -1 };

/* One channel may be in any number of cases, to send and to receive. */
struct select_case {
    struct chan *ch;   /* NULL: a case that never can go ahead */
    void *elem;        /* as in chan_recv(), chan_send() */
    enum select_op op; /* a send reads *elem and changes nothing */
};

static inline struct select_case select_recv(struct chan *ch, void *elem)
{
    return (struct select_case){ch, elem, SELECT_RECV};
}

static inline struct select_case select_send(struct chan *ch, const void *elem)
{
    return (struct select_case){ch, (void *)(uintptr_t)elem, SELECT_SEND};
}

/* Does what one of the cases says and returns its index; parks until one can go ahead, with no case
 * but of NULL channels for ever. *ok (may be NULL): for a receive what chan_recv() returns, for a
 * send true. cases is the caller's, read until the call returns. Fatal: a send on a closed channel
 * that was chosen, more than SELECT_CASES_MAX cases. There are no timeouts: receive from the
 * channel of a timer. */
int chan_select(const struct select_case *cases, size_t count, bool *ok);

/* As above, but returns SELECT_NONE at once if no case can go ahead (Go: default). */
int chan_try_select(const struct select_case *cases, size_t count, bool *ok);

/* Wait groups, mutexes, condition variables ------------------------------------------------ */

/* A counter that goroutines wait on until it is zero. Source: Go 1.26 sync/waitgroup.go.
 * WG_INIT, or all zero, is a ready one. */
struct waitgroup {
    _Atomic uint64_t state; /* counter << 32 | waiters */
    _Atomic uint32_t lock;
    struct g *head, *tail; /* waiting Gs, FIFO; protected by lock */
};
#define WG_INIT                                                                                    \
    {                                                                                              \
        0                                                                                          \
    }

void wg_add(struct waitgroup *wg, int32_t delta); /* counter += delta; below zero is fatal */
void wg_done(struct waitgroup *wg);               /* wg_add(wg, -1) */
void wg_wait(struct waitgroup *wg);               /* parks until the counter is zero */

/* A mutual exclusion lock with a FIFO queue of waiters; a waiter that waited over 1 ms is handed
 * the lock directly (starving mode). Source: Go 1.26 internal/sync/mutex.go. All zero is unlocked.
 * */
struct mutex {
    _Atomic uint32_t state; /* locked, woken, starving, waiters << 3 */
    _Atomic uint32_t lock;
    struct g *head, *tail; /* waiting Gs; protected by lock */
};
#define MUTEX_INIT                                                                                 \
    {                                                                                              \
        0                                                                                          \
    }

void mutex_lock(struct mutex *mu);
bool mutex_try_lock(struct mutex *mu);
void mutex_unlock(struct mutex *mu); /* unlocking an unlocked mutex is fatal; the unlocker may still
                                      * touch *mu after another has locked and unlocked it */

/* A condition variable. Source: Go 1.26 sync.Cond (ticket list, FIFO). All zero is ready. */
struct cond {
    _Atomic uint32_t lock;
    struct g *head, *tail;
};
#define COND_INIT                                                                                  \
    {                                                                                              \
        0                                                                                          \
    }

void cond_wait(struct cond *cond, struct mutex *mu); /* mu is held on entry and on return */
void cond_signal(struct cond *cond);                 /* wakes the longest waiter, if any */
void cond_broadcast(struct cond *cond);              /* wakes all, longest first */

/* Semaphores, once, read-write mutexes ------------------------------------------------------- */

/* Permits, taken and given by anybody. Source: Go 1.26 runtime/sema.go. SEM_INIT(n), or all zero,
 * is a ready one with n permits, or none. It may be freed by who knows that no sem_release() is
 * under way, which may still touch it after another has taken its permit. */
struct sem {
    _Atomic uint64_t state; /* waiters << 32 | permits */
    _Atomic uint32_t lock;
    struct g *head, *tail; /* waiting Gs; protected by lock */
};
#define SEM_INIT(permits)                                                                          \
    {                                                                                              \
        .state = (permits)                                                                         \
    }

/* Takes a permit; parks while there is none, behind all who wait. Whoever is woken and finds that
 * another took the permit parks again, behind all. */
void sem_acquire(struct sem *sem);

/* As above, but parks in front of all who wait, each time (Go: lifo). */
void sem_acquire_front(struct sem *sem);

/* Takes a permit if there is one. */
bool sem_try_acquire(struct sem *sem);

/* Gives a permit, and wakes the first who waits, if any. Without handoff that one competes for the
 * permit with everybody else. With handoff it gets the permit before it runs, if the permit is
 * still there, and the caller lets it run at once (what that means is the variant's), as by
 * gosched(). More than 2^32 - 1 permits are fatal. */
void sem_release(struct sem *sem, bool handoff);

/* Something done once, however many ask. Source: Go 1.26 sync/once.go. All zero is ready. */
struct once {
    _Atomic uint32_t done;
    struct mutex mu;
};
#define ONCE_INIT                                                                                  \
    {                                                                                              \
        0                                                                                          \
    }

/* The first call for *once calls fn(arg); all others return after that has returned, and see what
 * it did. fn may park. A call for *once from inside fn never returns. */
void once_do(struct once *once, void (*fn)(void *), void *arg);

/* A lock held by one writer or by any number of readers. A writer that waits keeps new readers out;
 * its unlock lets in all readers that came meanwhile, before the next writer. Not recursive, for
 * readers neither: a writer may have come in between. Source: Go 1.26 sync/rwmutex.go. All zero is
 * unlocked. May be freed as a struct sem may. */
struct rwmutex {
    struct mutex writers;      /* the writer's, and that of the one that waits for readers */
    struct sem writer, reader; /* what these wait on */
    _Atomic int32_t readers;   /* who read or want to; minus 2^30 while a writer is here */
    _Atomic int32_t leaving;   /* readers that the writer waits for */
};
#define RWMUTEX_INIT                                                                               \
    {                                                                                              \
        .readers = 0                                                                               \
    }

void rwmutex_lock(struct rwmutex *rw);
bool rwmutex_try_lock(struct rwmutex *rw);
void rwmutex_unlock(struct rwmutex *rw); /* of one that is not locked for writing: fatal */

void rwmutex_read_lock(struct rwmutex *rw);
bool rwmutex_try_read_lock(struct rwmutex *rw);
void rwmutex_read_unlock(struct rwmutex *rw); /* of one that nobody reads: fatal */

/* Timers ------------------------------------------------------------------------------------ */

/* Something that happens later, once or again and again. The one who made it owns it and frees it
 * with timer_free(). Any goroutines may stop and reset it at the same time. Times are nanoseconds
 * of go_now(); what happens, happens then or later, never before. Source: Go 1.26 time. */
struct gotimer;

/* In ns (<= 0: at once), sends the time to timer_chan() (Go: time.NewTimer, time.After). */
struct gotimer *timer_after(int64_t ns);

/* In ns (<= 0: at once), starts fn(arg) as a goroutine (Go: time.AfterFunc). A stop does not wait
 * for fn to return. */
struct gotimer *timer_func(int64_t ns, void (*fn)(void *), void *arg);

/* Every period_ns (> 0) from now on, sends the time to timer_chan() (Go: time.NewTicker). A time is
 * dropped if the one before it has not been received. */
struct gotimer *ticker_start(int64_t period_ns);

/* Where to receive the times, int64_t each: a channel that holds one, the timer's, to be neither
 * closed nor sent on. NULL for timer_func(). */
struct chan *timer_chan(struct gotimer *timer);

/* A timer that has not happened yet does not happen. A time that lies in the channel is taken out,
 * so that none from before the stop is received after it. True if the timer was still to happen, or
 * its time had not been received. */
bool timer_stop(struct gotimer *timer);

/* timer_stop(), and then the timer happens in ns from now; a ticker every ns (> 0) from now on.
 * True as for timer_stop(). */
bool timer_reset(struct gotimer *timer, int64_t ns);

/* timer_stop(), and frees it and its channel, on which nobody may wait. fn of timer_func() may free
 * its own timer. */
void timer_free(struct gotimer *timer);

/* Memory ------------------------------------------------------------------------------------ */

/* Memory for workload data, from the same allocator for all variants. Never NULL. Any stack. */
void *go_alloc(size_t size);
void *go_alloc_zeroed(size_t size);
void go_free(void *ptr);

#include "forkjoin.h"
#include "io.h"

#endif
