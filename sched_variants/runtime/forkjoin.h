/* forkjoin.h - spawn and sync, the fork/join half of the public header.
 *
 *     struct fib_child { struct fj_task task; uint64_t n, result; };
 *
 *     static uint64_t fib(struct fj_frame *up, uint64_t n);
 *
 *     static void fib_child(struct fj_frame *up, struct fj_task *task)
 *     {
 *         struct fib_child *self = FJ_SELF(task, struct fib_child);
 *         self->result = fib(up, self->n);
 *     }
 *
 *     static uint64_t fib(struct fj_frame *up, uint64_t n)
 *     {
 *         if (n < 2)
 *             return n;
 *         struct fib_child x = {.n = n - 1};
 *         struct fj_frame frame;
 *         fj_open(&frame, up);
 *         fj_spawn(&frame, &x.task, fib_child);  // may run in parallel from here on
 *         uint64_t y = fib(&frame, n - 2);       // an ordinary call
 *         fj_sync(&frame);                       // all spawned children have returned
 *         return x.result + y;
 *     }
 *
 *     struct fj_frame root;                      // a goroutine that forks
 *     fj_begin(&root);
 *     answer = fib(&root, n);
 *     fj_end(&root);
 *
 * One source, compiled once per policy (the Makefile does it for every file that has a frame): the
 * variant chooses, the workload cannot tell, and a spawn has nothing to ask.
 *
 *   FJ_GO      a child is a goroutine (kthread, uthread, static, grq, perm, permits, gmp)
 *   FJ_HELP    help-first: the child is queued and can be stolen, the parent goes on; at the sync
 *              the parent runs its own queued children as plain calls, newest first (tasksteal)
 *   FJ_WORK    work-first: the child runs at once, on a stack of its own, and the parent's
 *              continuation is queued and can be stolen (contsteal, frames=pooled)
 *   FJ_LINKED  work-first too, but the child is an ordinary call on the parent's stack; a thief
 *              continues the parent on a fresh one, with the frame where it was (contsteal)
 *   FJ_CALL    the serial elision: the child is an ordinary call, and there is no scheduler; only
 *              workloads have it, and `elision` in a variant's place runs it
 *
 * Rules. Task and argument live until the sync returns. Between fj_begin() and fj_end(), and so in
 * every function that gets a frame, nothing may park (no channels, locks, sleeps) nor wait for
 * anything but its sync: it would hold its worker. The function may start goroutines, and yield.
 * Under FJ_HELP gosched() returns at once there, since queued children belong to the worker. After
 * a spawn, a call or a sync the function may be on another worker. One and the same function opens
 * a frame, spawns on it and syncs it. The newest of the frames that are open together is synced
 * first. A frame that spawned is synced before its function returns. Under FJ_LINKED the stack
 * pointer is not the frame's between spawn and sync. So a function with a frame makes no
 * variable-length array, calls no alloca(), and passes no argument on the stack (structs by value
 * of more than 16 bytes, more than six arguments).
 */
#ifndef SCHEDLAB_FORKJOIN_H
#define SCHEDLAB_FORKJOIN_H

#include "deque.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct g;
struct m;
struct fj_frame;
struct fj_task;

enum fj_policy { FJ_GO, FJ_HELP, FJ_WORK, FJ_LINKED, FJ_CALL };

/* When a private child of FJ_HELP becomes public: knob promote. */
enum fj_promote { FJ_PROMOTE_REQUEST, FJ_PROMOTE_BEAT, FJ_PROMOTE_ALWAYS };

/* How a frame that was taken learns that all its children have ended: knob join, joins.c. */
enum fj_join { FJ_JOIN_WAITFREE, FJ_JOIN_COUNTER, FJ_JOIN_LOCK };

/* The policy that this file is compiled for; fj_begin() checks that it is the scheduler's. */
#ifndef FJ_POLICY
#define FJ_POLICY FJ_GO
#endif

/* A child's function: up is the frame below it, to open its own with; task is the one spawned. */
typedef void fj_fn(struct fj_frame *up, struct fj_task *task);

/* A child. Opaque to workloads; they only provide the memory, as a member of what they hand over.
 */
struct fj_task {
    fj_fn *fn;
    union {
        struct fj_task *older;  /* FJ_HELP, private: the frame's child before this one */
        struct fj_frame *frame; /* FJ_HELP, public: whose child it is */
    };
};

/* The struct of that type that contains the task, as its member `task`. */
#define FJ_SELF(task_, type) ((type *)((char *)(task_)-offsetof(type, task)))

/* A worker as fork/join code sees it; each M has one.
 *
 * Lazy publication. The children that a worker has queued are linked through the frames on its
 * stack. These are the private part, which the owner uses without any atomic operation or fence, as
 * nobody else may look at it. The deque is the public part, and everything in it is older than
 * everything private. A thief that finds a deque empty, or empties it, asks its worker for more by
 * writing FJ_REQUEST into `limit`; so does an M that goes to sleep. The owner compares its queue's
 * length with that word at every spawn (and between the children that a sync runs), so a request
 * costs the owner nothing until it is made. It then moves the older half of the private part to the
 * deque, as far as that has room, and wakes an idle worker.
 *   A request is lost only if the owner never spawns or joins again. Then nothing new is queued,
 *   and what is private waits for the sync. The price is this: a long call without spawns hides
 *   what was queued before it and was not yet asked for.
 *
 * Under FJ_HELP the knob promote has two other ways to make children public. `limit` is FJ_DUE
 * then, or no queue is longer than it, so that thieves and sleepers never write it:
 *   always   FJ_DUE all the time. Each spawn calls fj_poll(), which pushes the child and wakes an
 *            idle worker, as for a goroutine (idle.c, S1 to S4).
 *   beat     FJ_UNASKED, until beat.c writes FJ_DUE, once in beat_ns. The owner's next poll then
 *            moves the oldest private child, and no other, to the deque, and wakes an idle worker.
 *            A beat without a private child stays due.
 * Neither needs F2 and F3. A child that is private is no work that has_work() has to see: its owner
 * runs it at the sync, if nobody else does. A thief may sleep beside it. From the push on it is
 * work in a queue (S1), and the owner's wakep() follows it: so either that sees the sleeper's P
 * idle, or the sleeper's last look sees the deque. Sleepers ask nobody, since the next beat comes
 * anyway. The price of a beat: until then, workers sleep beside what could run.
 *
 *   Source: [Dijk14] Lace's private and shared part of one deque, [Acar13] private deques; beat:
 *       [Acar18], [Rainey21].  Differs: an owner learns of a beat where it spawns or runs a child
 *       of its sync, and not in between. It walks from the newest private child to the oldest,
 *       where [Acar18] keeps a list with two ends: a spawn would pay for that without a beat too.
 *   F2: release store of FJ_REQUEST pairs with F3: acquire exchange in fj_poll(): not needed for
 *       data; it orders a sleeper's I1 (idle.c) before the owner's look at idle_ps. A request that
 *       is there already is not written again: that sleeper is covered by I3 and I4. An owner that
 *       takes a request while a thief empties the deque may publish nothing; it wakes somebody, who
 *       asks again.
 */
struct fj_worker {
    struct deque tasks; /* public: FJ_HELP children, FJ_LINKED frames; empty otherwise */
    /* what a queue must be longer than for fj_poll() to be called: the longest so far; FJ_REQUEST,
     * FJ_DUE: always; FJ_UNASKED: never */
    _Alignas(64) _Atomic int32_t limit;
    /* the longest queue, private and public, of this worker; FJ_BY_RULE: see `deepest` */
    _Atomic int32_t depth_max;
    enum fj_policy policy;   /* constant during a run, as is: */
    enum fj_promote promote; /* FJ_PROMOTE_REQUEST, but for FJ_HELP */
    struct m *m;
    int32_t held;            /* FJ_HELP: regions open on this worker's stack; the G cannot leave */
    _Atomic int32_t deepest; /* promote=always and beat: the longest queue that a poll has seen */
    int64_t live;            /* debug builds: children queued or running here */
    _Atomic int64_t live_max;
    enum fj_join join; /* constant, too; FJ_JOIN_WAITFREE, but for FJ_WORK and FJ_LINKED */
};

enum { FJ_REQUEST = -1, FJ_DUE = -2, FJ_UNASKED = INT32_MAX }; /* limit */
enum { FJ_BY_RULE = -1 };                                      /* depth_max */
#define FJ_PUBLIC ((struct fj_task *)1)

/* One activation that spawns. Lives on the stack of the function.
 *
 * Joining: `spawned` counts children that the owner has not seen return: FJ_GO all, FJ_WORK and
 * FJ_LINKED those whose parent was taken by a thief, FJ_HELP those that were made public. A child
 * that somebody else finished subtracts one from `pending`; an owner that must wait, and parks,
 * adds `spawned` to it. So
 *     pending < 0   children finished, owner not yet waiting
 *     pending > 0   owner waits for that many
 * and the child whose subtraction makes it 0 from 1 wakes the owner. Under FJ_HELP the owner never
 * parks and adds nothing: it helps others until pending is -spawned. The knob join has two other
 * ways for FJ_WORK and FJ_LINKED: joins.c.
 */
struct fj_frame {
    /* The owner writes this word at each spawn. It lies 64 bytes from `pending`, which others take
     * at each end of a child. So neither takes the other's cache line.
     * aligned: so is the stack pointer of the function then, whatever it calls; see linked.h */
    _Alignas(16) int32_t spawned;
    /* FJ_HELP: children queued on this stack, this frame's included; FJ_LINKED: frames queued on it
     * before this one was opened */
    int32_t queued;
    _Atomic(struct g *) owner; /* whom the last child wakes; relaxed: known by the spawn */
    struct fj_frame *up;       /* FJ_HELP, FJ_LINKED: the next frame down this stack; NULL: none */
    /* FJ_HELP: private children, linked by `older`; the list ends with FJ_PUBLIC, and only then
     * are spawned and pending set, if the frame has public ones */
    struct fj_task *newest;
    /* FJ_LINKED: at rest in a spawn: its stack pointer there, + 1 if public; else NULL */
    _Atomic(char *) sp;
    void *pc, *fp; /* FJ_LINKED: where to go on, with which frame pointer */
    char *home;    /* FJ_LINKED: a thief has taken it: its context on the function's own stack */
    _Atomic int32_t pending;
    lock_t lock; /* join=lock: protects pending; set when the frame is first spawned on or public */
};
_Static_assert(offsetof(struct fj_frame, pending) - offsetof(struct fj_frame, spawned) == 64,
               "spawner and children write different lines");

/* The policy of the scheduler that runs the caller, a goroutine. */
enum fj_policy fj_policy(void);

/* Slow paths, forkjoin.c; not for workloads. */
void fj_begin_region(struct fj_frame *root, enum fj_policy policy);
void fj_end_region(const struct fj_frame *root, enum fj_policy policy);
void fj_spawn_go(struct fj_frame *frame, struct fj_task *task, fj_fn *fn);
void fj_spawn_work(struct fj_frame *frame, struct fj_task *task, fj_fn *fn);
void fj_sync_help(struct fj_frame *frame);
void fj_sync_park(struct fj_frame *frame);
void fj_sync_work(struct fj_frame *frame);
void fj_poll(struct fj_frame *frame) __attribute__((used)); /* also called by linked.h */

/* For machines that keep record of it: a task was spawned, or claimed; a child is called, or has
 * returned from that. */
void fj_tell_spawned(const struct fj_task *task);
void fj_tell_claimed(const struct fj_task *task);
void fj_tell_rests(void);
void fj_tell_goes_on(void);
void fj_tell_called(void);
void fj_tell_call_returned(void);

/* Never a function of its own: frame pointer and stack pointer have to be the caller's. */
#define FJ_INLINE __attribute__((always_inline)) static inline

#include "linked.h"

/* The policy of this file. Where linked frames do not work, pooled ones take their
 * place. */
#define FJ_IS_HELP (FJ_POLICY == FJ_HELP)
#define FJ_IS_LINKED (FJ_POLICY == FJ_LINKED && FJ_LINKED_WORKS)
#define FJ_IS_CALL (FJ_POLICY == FJ_CALL)
#define FJ_HAS_GS (!FJ_IS_HELP && !FJ_IS_LINKED && !FJ_IS_CALL)

#ifdef SCHEDLAB_DEBUG
void fj_check_spawn(void);
void fj_count_live(int n);
void fj_check_frame(const struct fj_frame *frame, const void *frame_address);
#else
static inline void fj_check_frame(const struct fj_frame *frame, const void *frame_address)
{
    (void)frame;
    (void)frame_address;
}
static inline void fj_check_spawn(void)
{
}
static inline void fj_count_live(int n)
{
    (void)n;
}
#endif

/* Opens a region in which the calling goroutine forks; *root stays until fj_end(). Regions of one
 * goroutine nest. */
static inline void fj_begin(struct fj_frame *root)
{
    if (!FJ_IS_CALL)
        fj_begin_region(root, FJ_POLICY);
}

/* Pre: all frames below are synced. */
static inline void fj_end(struct fj_frame *root)
{
    if (!FJ_IS_CALL)
        fj_end_region(root, FJ_POLICY);
}

/* Prepares a frame for spawns; up is the one that the function got. No more than some stores. */
FJ_INLINE void fj_open(struct fj_frame *frame, struct fj_frame *up)
{
    if (FJ_IS_HELP || FJ_IS_LINKED)
        frame->up = up;
    if (FJ_IS_HELP) {
        frame->queued = up->queued;
        frame->newest = NULL;
    }
    if (FJ_IS_LINKED) {
        /* relaxed: a frame that a thief has taken may count or not */
        frame->queued = up->queued + (atomic_load_explicit(&up->sp, memory_order_relaxed) != NULL);
        atomic_init(&frame->sp, NULL);
        frame->home = NULL;
        frame->fp = __builtin_frame_address(0);
    }
    if (FJ_HAS_GS) {
        frame->spawned = 0;
        atomic_init(&frame->pending, 0);
    }
}

/* Starts fn(frame, task) as a child of frame; *task is the memory for its record. */
FJ_INLINE void fj_spawn(struct fj_frame *frame, struct fj_task *task, fj_fn *fn)
{
    if (FJ_IS_HELP) {
        fj_check_spawn();
        task->fn = fn;
        task->older = frame->newest;
        frame->newest = task;
        frame->queued++;
        fj_count_live(1);
        if (MACHINE_KEEPS_EVENTS)
            fj_tell_spawned(task);
        /* relaxed: fj_poll() has F3 */
        struct fj_worker *w = (struct fj_worker *)machine_self(); /* its first member */
        if (__builtin_expect(frame->queued > atomic_load_explicit(&w->limit, memory_order_relaxed),
                             0))
            fj_poll(frame);
    } else if (FJ_IS_LINKED) {
        fj_check_frame(frame, __builtin_frame_address(0));
        if (MACHINE_KEEPS_EVENTS)
            fj_tell_rests();
        fj_spawn_linked(frame, task, fn);
        if (MACHINE_KEEPS_EVENTS) /* its owner has it back, or a thief has it */
            fj_tell_goes_on();
    } else if (FJ_POLICY == FJ_WORK || FJ_POLICY == FJ_LINKED) {
        fj_spawn_work(frame, task, fn);
    } else if (FJ_IS_CALL) {
        fn(frame, task);
    } else {
        fj_spawn_go(frame, task, fn);
    }
}

/* Does the work of a child by an ordinary call, which nobody can steal: what is left for the last
 * child, since its parent would only wait for it. A record of the run shows it. */
FJ_INLINE void fj_call(struct fj_frame *frame, struct fj_task *task, fj_fn *fn)
{
    if (MACHINE_KEEPS_EVENTS && !FJ_IS_CALL)
        fj_tell_called();
    fn(frame, task);
    if (MACHINE_KEEPS_EVENTS && !FJ_IS_CALL)
        fj_tell_call_returned();
}

/* Optional, for a child whose call the compiler shall see. task is the newest child of frame. True:
 * it has not been started and is a child no more; the caller does its work by an ordinary call.
 * False: fj_sync() has to wait for it. A frame with no other children then needs no sync. Debug
 * builds always leave the child to the sync, which counts. */
FJ_INLINE bool fj_claim(struct fj_frame *frame, struct fj_task *task)
{
#ifdef SCHEDLAB_DEBUG
    (void)frame;
    (void)task;
    return false;
#else
    if (!FJ_IS_HELP || __builtin_expect(frame->newest != task, 0))
        return false;
    if (MACHINE_KEEPS_EVENTS)
        fj_tell_claimed(task);
    frame->newest = task->older;
    frame->queued--;
    return true;
#endif
}

/* Returns once all children spawned on frame have returned; the frame may then spawn again. */
FJ_INLINE void fj_sync(struct fj_frame *frame)
{
    if (FJ_IS_HELP) {
        if (frame->newest)
            fj_sync_help(frame);
    } else if (FJ_IS_LINKED) {
        fj_check_frame(frame, __builtin_frame_address(0));
        if (__builtin_expect(frame->home != NULL, 0))
            fj_sync_linked(frame);
    } else if (FJ_HAS_GS && frame->spawned > 0) {
        if (FJ_POLICY == FJ_WORK || FJ_POLICY == FJ_LINKED)
            fj_sync_work(frame);
        else
            fj_sync_park(frame);
    }
}

#endif
