/* sim.h - the parts of the simulated machine, to each other.
 *
 *   hooks.c   what instrumented code calls: each load, store, atomic and basic block
 *   cache.c   caches and their coherence: what an access costs, and why
 *   kernel.c  cores and virtual time: who runs next
 *   threads.c the kernel's calls: waiting, waking, threads, interrupts, time
 *   switch.c  from one simulated thread's host stack to another's
 *   memory.c  the arena: every byte that instrumented code may touch lies at a fixed address
 *   events.c  what the scheduler says that it does, kept and hashed
 *   waste.c   core time that was idle while work waited
 *   fd.c      descriptors, of pipe.c, socket.c and file.c, and poll.c, which waits for them
 *
 * All cores share one thread of the host. A simulated thread is a host stack and a place in it. The
 * current one runs until its core's clock has passed that of another active core by more than the
 * lookahead, or that of the next event. Nothing here is instrumented, so only sim_spend() makes
 * code here cost virtual time. No locks: code here is never interrupted by other code here, except
 * in sim_queue_wait() and sim_spend().
 */
#ifndef SCHEDLAB_SIM_H
#define SCHEDLAB_SIM_H

#include "model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct sim_thread;

/* The machine that is being simulated. Set once, before anything runs. */
extern struct sim_model sim_model;

/* Runs fn(arg) as the first thread of the machine; returns when fn does. Host stack, once in the
 * life of the process. */
void sim_run(const struct sim_model *model, uint64_t seed, void (*fn)(void *arg), void *arg);

/* Virtual time of the current core, in picoseconds since sim_run(). */
int64_t sim_now(void);

/* The current core is busy for that long in the kernel; then, when no other core and no event is
 * behind it, this returns. So what a system call changes, it changes in order of virtual time. */
void sim_spend(int64_t ps);

/* Something that happens at a time, on no core: a timer, an arriving packet. fn runs on whatever
 * host stack; it may wake, and must not wait. The event is the caller's, and must stay until
 * then. */
struct sim_event {
    int64_t when_ps;
    uint64_t order; /* of events of one time: first set, first run */
    void (*fn)(struct sim_event *event);
    size_t place; /* in the heap, from 1; 0: not set */
};
void sim_event_set(struct sim_event *event, int64_t when_ps, void (*fn)(struct sim_event *event));
void sim_event_clear(struct sim_event *event); /* no matter whether it is set */

/* The kernel's counts of each core since sim_run(). X(NAME, help) */
#define SIM_COUNTED_LIST(X)                                                                        \
    X(BUSY_PS, "picoseconds that threads were on a core, calls into the kernel included")          \
    X(IDLE_PS, "picoseconds that a core in use had no thread, waking up included")                 \
    X(WASTED_PS, "picoseconds that a core was idle while work waited: waste.h")                    \
    X(SPIN_PS, "picoseconds of hints in spin loops: machine_relax()")                              \
    X(SWITCHES, "times that a core began to run a thread, another one or after it was idle")       \
    X(CALLS, "calls into the kernel")                                                              \
    X(BRANCH_MISSES, "mispredicted branches: blocks other than the predicted one")

enum sim_counted {
#define SIM_COUNTED_ID(name, help) SIM_##name,
    SIM_COUNTED_LIST(SIM_COUNTED_ID)
#undef SIM_COUNTED_ID
        SIM_COUNTED
};

/* Up to now, of one core; core < 0: the sum of all. Any host stack. */
int64_t sim_counted(int core, enum sim_counted which);

/* Threads that wait for something in the kernel, first come, first served. All zero but for
 * TAILQ_INIT is ready. */
TAILQ_HEAD(sim_queue, sim_thread);

/* The current thread leaves its core and waits; after timeout_ps (< 0: none) -ETIMEDOUT, else 0.
 * An interrupt does not end it. Costs what a switch costs; the call's own price is the caller's. */
int sim_queue_wait(struct sim_queue *queue, int64_t timeout_ps);

/* Wakes the first n; returns how many there were. They become runnable now, and run when their core
 * has woken up. Costs the caller nothing by itself. */
int sim_queue_wake(struct sim_queue *queue, int n);

/* The number of idle cores that were interrupted so far to run woken threads: most of the price of
 * waking. Each caller pays sim_model.wake_ps for each one that it added. */
int64_t sim_interrupts(void);

/* By how much the kernel prolongs the current thread's timed waits; callers of sim_queue_wait() add
 * it, in picoseconds. */
int64_t sim_slack(void);

/* The current thread accesses memory that no instrumented code does: what a system call copies,
 * what a context switch saves. One access to each line. */
void sim_touch(const void *start, size_t size, bool write);

/* A sample of a latency, from the machine's own random numbers. */
int64_t sim_latency(const struct sim_latency *latency);
uint64_t sim_random(void);

/* Memory at addresses that are the same in every run, from the arena; zeroed. NULL: none left.
 * align: a power of two. Whole pages can be unmapped, so that their memory goes back. */
void *sim_pages_map(size_t size, size_t align);
void sim_pages_unmap(void *pages, size_t size);

#endif
