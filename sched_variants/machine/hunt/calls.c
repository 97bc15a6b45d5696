/* calls.c - the kernel's calls: waiting and waking, threads, interrupts, time, messages, and what
 * the scheduler says that it does. Each is a point. */
#include "kernel.h"
#include "machine.h"
#include "sim/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void sim_spend(int64_t ps)
{
    (void)ps;
    hunt_point(0, SIM_WRITE, 0);
}

/* Waiting ------------------------------------------------------------------------------------- */

static void thread_wake(struct sim_thread *thread, bool woken)
{
    TAILQ_REMOVE(thread->queue, thread, link);
    sim_event_clear(&thread->timeout);
    thread->queue = NULL;
    thread->woken = woken;
    thread->state = THREAD_READY;
    hunt.ready |= thread_bit(thread);
}

#define thread_of(event)                                                                           \
    ((struct sim_thread *)(void *)((char *)(event)-offsetof(struct sim_thread, timeout)))

static void on_timeout(struct sim_event *event)
{
    thread_wake(thread_of(event), false);
}

int sim_queue_wait(struct sim_queue *queue, int64_t timeout_ps)
{
    struct sim_thread *self = hunt.self;
    self->state = THREAD_WAITING;
    self->queue = queue;
    TAILQ_INSERT_TAIL(queue, self, link);
    if (timeout_ps >= 0)
        sim_event_set(&self->timeout, sim_now() + timeout_ps, on_timeout);
    hunt_leave();
    memory_fence();
    return self->woken ? 0 : -ETIMEDOUT;
}

int sim_queue_wake(struct sim_queue *queue, int n)
{
    int woken = 0;
    for (; woken < n && !TAILQ_EMPTY(queue); woken++)
        thread_wake(TAILQ_FIRST(queue), true);
    return woken;
}

int64_t sim_interrupts(void)
{
    return 0;
}

int64_t sim_slack(void)
{
    return 0;
}

static int64_t timeout_ps(int64_t ns)
{
    return ns < 0 ? -1 : ns > INT64_MAX / 4 / PS_PER_NS ? INT64_MAX / 4 : ns * PS_PER_NS;
}

int machine_wait(_Atomic uint32_t *word, uint32_t value, int64_t timeout_ns)
{
    hunt_point((uintptr_t)word, SIM_READ, 0);
    memory_fence();
    if (atomic_load_explicit(word, memory_order_relaxed) != value) /* one thread of the host */
        return 0;
    hunt.self->word = word;
    int error = sim_queue_wait(&hunt.futexes, timeout_ps(timeout_ns));
    hunt.self->word = NULL;
    return error;
}

void machine_wake(_Atomic uint32_t *word, int n)
{
    struct sim_thread *thread, *next;
    hunt_point((uintptr_t)word, SIM_WRITE, 0);
    memory_fence();
    for (thread = TAILQ_FIRST(&hunt.futexes); thread && n > 0; thread = next) {
        next = TAILQ_NEXT(thread, link);
        if (thread->word != word)
            continue;
        thread_wake(thread, true);
        n--;
    }
}

/* Threads ------------------------------------------------------------------------------------- */

struct m *machine_self(void)
{
    return hunt.self ? hunt.self->m : NULL;
}

void machine_set_self(struct m *m)
{
    hunt.self->m = m;
}

int machine_thread_start(struct machine_thread *thread, void (*fn)(void *), void *arg,
                         size_t stack_size, int cpu)
{
    (void)stack_size;
    (void)cpu;
    hunt_point(0, SIM_WRITE, 0);
    struct sim_thread *new = hunt_thread_new(fn, arg);
    new->detached = !thread;
    if (thread)
        thread->handle = (uintptr_t) new;
    return 0;
}

void machine_thread_join(struct machine_thread *thread)
{
    struct sim_thread *other = (struct sim_thread *)thread->handle;
    hunt_point(0, SIM_WRITE, 0);
    if (other->state != THREAD_DONE)
        sim_queue_wait(&other->joiners, -1);
    hunt_thread_free(other);
}

struct machine_thread machine_thread_self(void)
{
    return (struct machine_thread){(uintptr_t)hunt.self};
}

void machine_stack_bounds(char **low, size_t *size)
{
    *low = hunt.self->stack;
    *size = THREAD_STACK;
}

void machine_pin(int cpu)
{
    (void)cpu;
}

int machine_init(const int *cpus, int count)
{
    (void)cpus;
    (void)count;
    return 0;
}

int machine_cpu_count(void)
{
    return HUNT_THREADS_MAX;
}

void machine_yield(void)
{
    memory_fence();
    hunt_rest(1, 0);
}

/* Interrupts ---------------------------------------------------------------------------------- */

static bool (*welcome)(uintptr_t pc, uintptr_t sp);
static void (*take)(void);

void machine_interrupt_init(bool (*new_welcome)(uintptr_t pc, uintptr_t sp), void (*new_take)(void))
{
    welcome = new_welcome;
    take = new_take;
}

/* At the thread's next point: between two points nobody could tell where it was. */
int machine_interrupt(const struct machine_thread *thread)
{
    struct sim_thread *other = (struct sim_thread *)thread->handle;
    hunt_point(0, SIM_WRITE, 0);
    other->interrupted = true;
    return 0;
}

void hunt_interrupt_deliver(uintptr_t pc)
{
    char here;
    struct sim_thread *self = hunt.self;
    INVARIANT(!self->answers);
    self->interrupted = false;
    memory_fence();
    self->answers = true;
    bool taken = welcome && welcome(pc, (uintptr_t)&here);
    self->answers = false;
    if (taken) /* on the G's stack, and with signals, as it may come back on another thread */
        take();
}

/* Time ---------------------------------------------------------------------------------------- */

int64_t machine_now(void)
{
    return hunt.self ? hunt.now_ns += hunt.pace_ns : 0;
}

int64_t machine_now_unseen(void)
{
    return hunt.now_ns;
}

void machine_sleep(int64_t ns)
{
    struct sim_queue nobody_wakes = TAILQ_HEAD_INITIALIZER(nobody_wakes);
    hunt_point(0, SIM_WRITE, 0);
    if (ns <= 0)
        return;
    hunt.naps |= thread_bit(hunt.self);
    sim_queue_wait(&nobody_wakes, timeout_ps(ns));
    hunt.naps &= ~thread_bit(hunt.self);
}

int machine_timer_slack(int64_t ns)
{
    (void)ns;
    return 0;
}

void machine_call(void)
{
    hunt_point(0, SIM_WRITE, 0);
}

int machine_fence_all(void)
{
    hunt_point(0, SIM_WRITE, 0);
    buffer_empty_all();
    if (hunt_weak)
        weak_fence_all();
    return 0;
}

int64_t machine_wasted_ns(void)
{
    return 0;
}

/* Events of the scheduler --------------------------------------------------------------------- */

static struct sim_sched_event *kept;
static size_t kept_count, kept_room;

void events_begin(void)
{
    kept_count = 0;
}

uint32_t events_so_far(void)
{
    return (uint32_t)kept_count;
}

const struct sim_sched_event *hunt_events(size_t *count)
{
    *count = kept_count;
    return kept;
}

static void keep(const struct sim_sched_event *event)
{
    if (kept_count == kept_room) {
        kept_room = kept_room ? 2 * kept_room : 4096;
        kept = realloc(kept, kept_room * sizeof *kept);
        if (!kept)
            machine_die("no memory to keep events\n", 1);
    }
    kept[kept_count++] = *event;
}

void machine_event(unsigned kind, int32_t m, int32_t p, int64_t g, int32_t a, int32_t b)
{
    oracle_event(kind, g, a);
    if (!hunt_plan.keeps_events)
        return;
    const struct sim_sched_event event = {
        .when_ps = sim_now(),
        .g = g,
        .m = m,
        .p = p,
        .a = a,
        .b = b,
        .kind = (uint8_t)kind,
        .core = (uint8_t)hunt.self->index,
    };
    keep(&event);
}

void machine_request(int32_t kind, int64_t due_ns, int64_t end_ns)
{
    (void)kind;
    (void)due_ns;
    (void)end_ns;
}

void machine_lock_name(const void *lock, const char *name)
{
    (void)lock;
    (void)name;
}

/* The end ------------------------------------------------------------------------------------- */

/* The word of the machine that instrumented code writes lies with that code's data. */
__attribute__((section("simulated_data"))) void (*machine_on_fault)(const void *fault_address);

void machine_thread_enter(void)
{
}

void machine_thread_leave(void)
{
}

void machine_print(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t done = write(fd, text, size);
        if (done <= 0)
            return;
        text += done;
        size -= (size_t)done;
    }
}

_Noreturn void machine_die(const char *text, int status)
{
    if (hunt.self)
        hunt_fail(HUNT_FATAL, text);
    machine_print(STDERR_FILENO, text, strlen(text));
    _exit(status);
}
