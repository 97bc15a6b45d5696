/* machine.h - the whole world as the runtime sees it.
 *
 * Everything above machine/ touches threads, clocks, sleeping and pages through these functions
 * only, so that the same scheduler source runs on real threads (machine/native) and on simulated
 * cores. Common rules: any thread may call; nothing here knows what a G or a P is; failures return
 * -errno and change nothing.
 */
#ifndef SCHEDLAB_MACHINE_H
#define SCHEDLAB_MACHINE_H

#include "machine/invariant.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A round of go_work() on its state, see machine_work(). */
#define MACHINE_WORK_FACTOR UINT64_C(6364136223846793005)
#define MACHINE_WORK_TERM UINT64_C(1442695040888963407)

#if defined(SCHEDLAB_SIM)
#include "sim/self.h"
#else
#include "native/self.h"
#endif

struct m;

/* struct m *machine_self(void), defined in self.h: the M that runs the caller; NULL on a thread
 * without one. Asked anew at each call: a goroutine may go on on another thread after any switch.
 */
void machine_set_self(struct m *m); /* pre: once per thread, before its first machine_self() */

/* Threads. stack_size is in bytes and includes what the system needs. cpu is the index of a
 * worker's core, counted in the set given by machine_init(), or -1 for any core of that set. thread
 * is NULL for one that nobody waits for. */
struct machine_thread {
    uintptr_t handle;
};
int machine_thread_start(struct machine_thread *thread, void (*fn)(void *), void *arg,
                         size_t stack_size, int cpu);
void machine_pin(int cpu);                               /* the calling thread; cpu as above */
void machine_thread_join(struct machine_thread *thread); /* pre: started, joined once */

/* The calling thread, for machine_interrupt(). */
struct machine_thread machine_thread_self(void);

/* Interrupts. machine_interrupt(thread) stops a running thread somewhere between two of its
 * instructions. The thread calls welcome(pc, sp) on a stack of its own. If that returns true, it
 * calls welcome() again on the stack that it was on. If that returns true too, it calls take()
 * right there, and afterwards goes on with all its registers as they were. take() may switch
 * stacks, and come back on another thread, on the same stack. Both functions are set once, before
 * any thread is started. Source: Go's SIGURG. -ENOSYS: this build has no interrupts
 * (ThreadSanitizer, which delays signals). */
void machine_interrupt_init(bool (*welcome)(uintptr_t pc, uintptr_t sp), void (*take)(void));
int machine_interrupt(const struct machine_thread *thread);

/* Sleeps while *word == value, until a wake or timeout_ns (< 0: no timeout) passes. May wake
 * without reason. Returns -ETIMEDOUT after a timeout, 0 otherwise. */
int machine_wait(_Atomic uint32_t *word, uint32_t value, int64_t timeout_ns);

/* Wakes up to n threads that sleep on word. */
void machine_wake(_Atomic uint32_t *word, int n);

/* Core time so far that was idle beside work that waited, in ns; -1 where MACHINE_KNOWS_WASTE is 0.
 */
int64_t machine_wasted_ns(void);

/* Monotonic nanoseconds. */
int64_t machine_now(void);
void machine_sleep(int64_t ns);

/* By how much the kernel may prolong the calling thread's sleeps, to wake several threads together;
 * 0: what the thread began with. Linux only (prctl PR_SET_TIMERSLACK, where it is 50000 ns unless
 * the process was started with another value), -ENOSYS elsewhere. */
int machine_timer_slack(int64_t ns);
/* Goes into the kernel and comes back: the shortest call there is. */
void machine_call(void);

/* In the machine's self.h too, since they are part of what calls them:
 *
 *   uint32_t machine_relax(const volatile void *word, uint32_t rounds)
 *     in a spin loop that has just looked at *word, and would only look at it again in its next
 *     rounds (1 at least): waits a little, or for up to so many rounds as long as the word's line
 *     does not change; returns how many rounds it stood for
 *   void machine_pause(uint32_t rounds)
 *     so many times as long as the shortest such wait, whatever changes
 *   uint64_t machine_work(uint64_t state, uint32_t rounds)
 *     makes so many rounds of go_work(), of which each makes state * MACHINE_WORK_FACTOR +
 *     MACHINE_WORK_TERM of the state; or takes their time and jumps to what they lead to, on
 *     machines on which instructions alone take no time
 *   void machine_fence(_Atomic uint32_t *scratch)
 *     a full fence between the caller's earlier stores and later loads
 *   void machine_touch(const void *start, size_t size, bool write)
 *     what inline assembly reads or writes, for machines that see no other way
 *   void machine_touch_stack(size_t size)
 *     likewise, what it writes at the end of the caller's stack
 *   void machine_blocks(uint32_t count)
 *     likewise, the time of so many basic blocks
 *   machine_prefetch(const void *start)
 *     orders the line there, which the caller will soon write, and does not wait for it; on
 *     machines whose cores order nothing ahead it is nothing, and start is not looked at
 *   void machine_name(const void *start, size_t size, const char *name)
 *     what lies there from now on, "lrq.head", for machines that say where misses are; a name is a
 *     string literal. A block of machine_alloc() has none at first, and loses its names when freed
 *   void machine_event(unsigned kind, int32_t m, int32_t p, int64_t g, int32_t a, int32_t b)
 *     what a scheduler does, as numbers of the caller's that mean nothing here, for machines that
 *     keep record of it; takes no time
 *   machine_step(const char *name)
 *     "S1" to "S6" or "I1" to "I6": the calling thread has just made that step of one of two sides
 *     (runtime/idle.c), for machines that count how the sides' steps cross; else it is nothing
 *   MACHINE_KEEPS_EVENTS
 *     whether this one does: 0 or 1
 *   MACHINE_KNOWS_WASTE
 *     whether it counts core time that is idle beside work that waits: 0 or 1
 *   int64_t machine_now_unseen(void)
 *     machine_now(), for what is counted only: it takes no time where machine_now() takes some of
 *     the machine's own
 *   MACHINE_TAKES_NO_TIME
 *     before a small static function that makes up such numbers: what it reads costs nothing */

/* Gives the core to another runnable thread, if there is one. */
void machine_yield(void);

/* Makes every running thread of the process pass a full fence before it returns; lets the other
 * side of a store-load pairing do without a fence of its own. -ENOSYS where the kernel cannot. */
int machine_fence_all(void);

/* Memory from the process's allocator; NULL when there is none. align is a power of two. */
void *machine_alloc(size_t size, size_t align);
void machine_free(void *ptr);

/* Zeroed memory of its own pages, which goes back to the kernel at once when it is unmapped. size:
 * a power of two and a multiple of the page size; the address is a multiple of it. NULL: none. */
void *machine_block_map(size_t size);
void machine_block_unmap(void *block, size_t size);

/* Stacks: maps `count` stacks of `size` bytes each (a multiple of the page size) side by side,
 * committed by touch, the lowest `guard` bytes of each (likewise) out of bounds. Sets *guarded to
 * how many guards could be installed (the map limit may end them on kernels without guard regions).
 * NULL: no address space. */
void *machine_stacks_map(size_t count, size_t size, size_t guard, size_t *guarded);
void machine_stacks_unmap(void *base, size_t count, size_t size);

/* Gives the memory of `count` mapped stacks back to the kernel: what is read there next is zero.
 * They stay mapped, and their guards in place. */
void machine_stacks_drop(void *base, size_t count, size_t size);
size_t machine_page_size(void); /* bytes */

/* The calling thread's own stack: its lowest address and its size. */
void machine_stack_bounds(char **low, size_t *size);

/* The cores to use, ids as the kernel numbers them; called once, before any thread is started.
 * Restricts the process to them (inherited by all threads). count 0: whatever the process may use.
 * */
int machine_init(const int *cpus, int count);
int machine_cpu_count(void); /* cores the process may use */

/* Descriptors: files, pipes, eventfds and TCP on the loopback interface. A descriptor that was made
 * with `wait` makes its calls wait in the kernel; without it they return -EAGAIN where they would
 * have waited. All are closed on exec. Calls go on after signals, and a write to what nobody reads
 * any more returns -EPIPE and raises nothing. The first one raises the limit of open descriptors to
 * what the system grants the process. */
int machine_fd_open(const char *path, bool write); /* write: empties the file, or makes it */
int machine_fd_pipe(int ends[2], bool wait);       /* ends[0] is read, ends[1] written */
int machine_fd_eventfd(bool wait); /* reads and writes are of 8 bytes; a read takes the sum */
int machine_fd_listen(bool wait);  /* on a port that the machine chooses */
int machine_fd_port(int fd);       /* of a listener */
int machine_fd_accept(int fd, bool wait);
/* To a listener's port. Without `wait` it may not be connected yet: machine_fd_dialled() is 0 when
 * it is, -EAGAIN while that is open (the descriptor becomes writable then), else why it failed. */
int machine_fd_dial(int port, bool wait);
int machine_fd_dialled(int fd);
int64_t machine_fd_read(int fd, void *buffer, size_t size); /* 0: the end */
int64_t machine_fd_write(int fd, const void *data, size_t size);
/* Both ends see the end of what the caller sent; `both`: nothing more comes in either, and calls
 * that wait in the kernel return. */
int machine_fd_shutdown(int fd, bool both);
void machine_fd_close(int fd);

/* A poller tells which of many descriptors have become ready. Each is registered once, with a tag
 * that its events carry. With `edge` it is told of both directions whenever one becomes ready, and
 * not again until it was not. Otherwise it is told of nothing until machine_poller_arm() asks, once
 * per asking, and also of what was ready before. Closing the descriptor ends the registration. */
enum { MACHINE_READ = 1, MACHINE_WRITE = 2, MACHINE_EVENTS_MAX = 1024 };
struct machine_poller;
int machine_poller_new(struct machine_poller **poller);
void machine_poller_free(struct machine_poller *poller);
int machine_poller_add(struct machine_poller *poller, int fd, bool edge, uint64_t tag);
int machine_poller_arm(struct machine_poller *poller, int fd, int directions, uint64_t tag);
int machine_poller_remove(struct machine_poller *poller, int fd);

/* Calls fn(arg, tag, what) for up to `batch` (1..MACHINE_EVENTS_MAX) events, what being a set of
 * MACHINE_READ and MACHINE_WRITE; errors, and that both ends are closed, make both ready. Waits
 * for the first one: timeout_ns 0 not at all, < 0 for ever. Returns how many there were; 0 after
 * the timeout, after machine_poller_break(), or without a reason. Any number of threads may look;
 * one at a time may wait. */
int machine_poller_wait(struct machine_poller *poller, int batch, int64_t timeout_ns,
                        void (*fn)(void *arg, uint64_t tag, int what), void *arg);

/* The thread that waits, or the next one that does, returns. */
void machine_poller_break(struct machine_poller *poller);

/* True if the kernel offers io_uring to this process. Nothing here uses it. */
bool machine_has_uring(void);

/* Called on a memory fault, on a signal stack, with the address: ends the process with
 * machine_die() if it knows the reason, returns otherwise. Set once, before threads start. */
extern void (*machine_on_fault)(const void *fault_address);

/* Every thread that runs goroutines calls these first and last: the signal stack for the above. */
void machine_thread_enter(void);
void machine_thread_leave(void);

/* Writes to a descriptor; any stack. */
void machine_print(int fd, const char *text, size_t size);

/* Writes text to standard error and ends the process with status, without running exit handlers;
 * safe on any stack, in any state. */
_Noreturn void machine_die(const char *text, int status);

#endif
