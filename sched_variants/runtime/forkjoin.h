/* forkjoin.h - spawn and sync, the fork/join half of the public header.
 *
 *     struct fib { struct fj_task task; long n, result; };
 *
 *     static void fib(struct fj_worker *w, void *arg)
 *     {
 *         struct fib *self = arg;
 *         if (self->n < 2) { self->result = self->n; return; }
 *         struct fib x = {.n = self->n - 1}, y = {.n = self->n - 2};
 *         struct fj_frame frame;
 *         fj_open(&frame, w);
 *         fj_spawn(&frame, &x.task, fib, &x);   // may run in parallel from here on
 *         fj_call(&frame, fib, &y);             // an ordinary call
 *         fj_sync(&frame);                      // all spawned children have returned
 *         self->result = x.result + y.result;
 *     }
 *
 * One source, three policies; the variant chooses, the workload cannot tell:
 *
 *   FJ_GO    a child is a goroutine (kthread, uthread, static, grq, perm, gmp)
 *   FJ_HELP  help-first: the child is queued and can be stolen, the parent goes on; at the sync the
 *            parent runs its own queued children as plain calls, newest first (tasksteal)
 *   FJ_WORK  work-first: the child runs at once, and the parent's continuation is queued and can be
 *            stolen (contsteal)
 *
 * Rules. Task and argument live until the sync returns. A function started by fj_spawn(), and any
 * function between its fj_spawn() and its fj_sync(), must not park (no channels, locks, sleeps),
 * nor wait for anything but its sync: whoever waits for it holds a worker, and its queued children
 * belong to the worker it is on. It may start goroutines, and yield; under FJ_HELP gosched()
 * returns at once there, since the worker cannot be left. After a spawn, a call or a sync the
 * function may be on another worker: hand on frame.w, never the w it got. Whoever parks or yields
 * elsewhere, where it may, gets its worker from fj_self() and opens its frame again before it
 * spawns. Every frame that spawned must sync before its function returns.
 */
#ifndef SCHEDLAB_FORKJOIN_H
#define SCHEDLAB_FORKJOIN_H

#include "deque.h"

#include <stdatomic.h>
#include <stdint.h>

struct g;
struct m;
struct fj_worker;
struct fj_frame;

typedef void fj_fn(struct fj_worker *w, void *arg);

enum fj_policy { FJ_GO, FJ_HELP, FJ_WORK };

/* A child. Opaque to workloads; they only provide the memory. */
struct fj_task {
    fj_fn *fn;
    void *arg;
    struct fj_frame *frame;
};

/* A worker as fork/join code sees it; each M has one. */
struct fj_worker {
    enum fj_policy policy; /* constant during a run */
    struct m *m;
    const _Atomic int32_t *idle_ps; /* workers asleep or about to be */
    /* FJ_HELP: the frame that keeps the current G on this worker, from its first spawn to its sync;
     * NULL: none */
    struct fj_frame *outermost;
    int64_t live; /* debug builds: children queued or running here */
    _Atomic int64_t live_max;
    struct deque tasks; /* FJ_HELP: queued children; empty otherwise */
};

/* One activation that spawns. Lives on the stack of the function.
 *
 * Joining: `spawned` counts children that the owner has not seen return: FJ_HELP all that it has
 * not run itself, FJ_WORK those that did not come back to a parent at rest where they had left it,
 * FJ_GO all. A child that somebody else finished subtracts one from `pending`; an owner that must
 * wait, and parks, adds `spawned` to it. So
 *     pending < 0   children finished, owner not yet waiting
 *     pending > 0   owner waits for that many
 * and the child whose subtraction makes it 0 from 1 wakes the owner. Under FJ_HELP the owner never
 * parks and adds nothing: it helps others until pending is -spawned. Under FJ_HELP and FJ_WORK no
 * atomic operation happens for a child that was not stolen.
 */
struct fj_frame {
    struct fj_worker *w; /* the worker the owner is on now */
    int32_t spawned;     /* owner only */
    _Atomic int32_t pending;
    _Atomic(struct g *)
        owner; /* set by the first spawn; relaxed, children know of it by the spawn */
};

/* The worker that the caller runs on, to open a first frame with. */
struct fj_worker *fj_self(void);

/* Slow paths, forkjoin.c; not for workloads. */
void fj_spawn_slow(struct fj_frame *frame, fj_fn *fn, void *arg);
void fj_sync_slow(struct fj_frame *frame);
void fj_wake(struct fj_worker *w);

#ifdef SCHEDLAB_DEBUG
/* relaxed: a statistic */
#define FJ_COUNT_LIVE(w, n)                                                                        \
    do {                                                                                           \
        (w)->live += (n);                                                                          \
        if ((w)->live > atomic_load_explicit(&(w)->live_max, memory_order_relaxed))                \
            atomic_store_explicit(&(w)->live_max, (w)->live, memory_order_relaxed);                \
    } while (0)
void fj_check_worker(const struct fj_frame *frame);
#else
#define FJ_COUNT_LIVE(w, n) ((void)0)
static inline void fj_check_worker(const struct fj_frame *frame)
{
    (void)frame;
}
#endif

static inline void fj_open(struct fj_frame *frame, struct fj_worker *w)
{
    frame->w = w;
    frame->spawned = 0;
    atomic_init(&frame->pending, 0);
}

/* Starts fn(w, arg) as a child of frame; *task is the memory for its record. */
static inline void fj_spawn(struct fj_frame *frame, struct fj_task *task, fj_fn *fn, void *arg)
{
    if (frame->w->policy == FJ_HELP) {
        fj_check_worker(frame);
        task->fn = fn;
        task->arg = arg;
        task->frame = frame;
        frame->spawned++;
        if (!frame->w->outermost)
            frame->w->outermost = frame;
        FJ_COUNT_LIVE(frame->w, 1);
        deque_push(&frame->w->tasks, task);
        /* relaxed: a worker that goes to sleep makes all cores fence (idle.c, I3), so that here the
         * order of the instructions is enough: either it sees the task or this load sees it */
        atomic_signal_fence(memory_order_seq_cst);
        if (__builtin_expect(atomic_load_explicit(frame->w->idle_ps, memory_order_relaxed) > 0, 0))
            fj_wake(frame->w);
    } else {
        fj_spawn_slow(frame, fn, arg);
    }
}

/* Calls fn(w, arg) as a plain function, on the right worker. */
static inline void fj_call(struct fj_frame *frame, fj_fn *fn, void *arg)
{
    fn(frame->w, arg);
}

/* Returns once all children spawned on frame have returned; the frame may then spawn again. */
static inline void fj_sync(struct fj_frame *frame)
{
    if (frame->w->policy == FJ_HELP) {
        while (frame->spawned > 0) {
            struct fj_task *task = deque_pop(&frame->w->tasks);
            if (!task)
                break;
            frame->spawned--;
            task->fn(frame->w, task->arg);
            FJ_COUNT_LIVE(frame->w, -1);
        }
    }
    if (frame->spawned > 0)
        fj_sync_slow(frame);
    if (frame->w->outermost == frame)
        frame->w->outermost = NULL;
}

#endif
