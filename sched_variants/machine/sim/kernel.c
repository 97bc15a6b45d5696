/* kernel.c - cores, threads and virtual time.
 *
 * Each core has a clock. A core that runs a thread is active; the active cores are a heap, the
 * earliest at its root. The current thread, on the current core, runs until its clock has passed
 * that of every other active core, and of the next event, by more than the lookahead (events: by
 * anything at all); hooks.c compares with sim_horizon after each access. Then sim_preempt() goes on
 * with the earliest.
 *
 * A core whose thread waits takes the next one from its queue, or from the longest queue of another
 * core, or becomes idle: its clock stands still, and waking sets it forward.
 *
 * Threads share a core as under Linux's fair scheduler, reduced to what one sees of it from
 * outside: who has run least runs next, for a slice; who has slept is owed at most a slice, and
 * takes the core from who runs if that one is ahead of it by a third of a slice.
 *
 * Equal clocks: the core with the smaller index first; equal events: the first set. There is no
 * other choice anywhere, so a run is a function of program, model and seed.
 *
 * Context switches between simulated threads are host stacks changing hands; the goroutines' own
 * switches (runtime/ctx.h) go on below, as on a real thread.
 */
#include "cache.h"
#include "internal.h"
#include "machine.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum thread_state { THREAD_NEW, THREAD_QUEUED, THREAD_RUNNING, THREAD_WAITING, THREAD_DONE };

struct sim_thread {
    void *sp;    /* of the host, while it does not run */
    struct m *m; /* machine_self() */
    struct sim_core *core;
    enum thread_state state;
    int pinned; /* to that core; -1: any allowed one */
    int number; /* in order of start, for reports */
    bool woken, interrupted, detached;
    int64_t vruntime_ps;
    int64_t asleep_since_ps;
    struct sim_queue *queue; /* that it waits in */
    TAILQ_ENTRY(sim_thread) link;
    struct sim_event timeout, interrupt;
    struct sim_queue joiners;
    void (*fn)(void *arg);
    void *arg;
    char *stack;
    size_t stack_size;
    const void *waits_for; /* for the report of a deadlock */
    TAILQ_ENTRY(sim_thread) all_link;
};

struct sim_core {
    int64_t clock_ps; /* first: sim_clock points here */
    int index;
    bool allowed;
    struct sim_thread *running;
    struct sim_queue ready;
    int ready_count;
    size_t place; /* in the heap of active cores, from 1; 0: idle */
    int64_t slice_end_ps, run_began_ps, vruntime_ps;

    /* its thread looks at a word again and again, and nothing else happens: sim_spin() */
    bool spins;
    int64_t spin_began_ps;
    uint32_t spin_rounds; /* at most; afterwards, how many it was */
    struct sim_event spin_end;
    int64_t idle_since_ps;
    int64_t counted[SIM_COUNTED]; /* SIM_BUSY_PS: until run_began_ps */
};

struct sim_model sim_model;

static struct sim_core cores[SIM_CORES_MAX];
static struct sim_core *active[SIM_CORES_MAX + 1]; /* a heap, root at 1 */
static size_t active_count;
static struct sim_core *current = &cores[0];
static int64_t event_now_ps = -1; /* while an event runs: its time */
static struct sim_event **events; /* a heap, root at 1 */
static size_t event_count, event_room;
static uint64_t event_order;
static uint64_t random_state;
static TAILQ_HEAD(, sim_thread) threads = TAILQ_HEAD_INITIALIZER(threads);
static int thread_count;
static int cpu_ids[SIM_CORES_MAX], cpu_count;
static struct sim_thread *to_free; /* has ended; its stack was in use until the switch */

static bool (*interrupt_welcome)(uintptr_t pc, uintptr_t sp);
static void (*interrupt_take)(void);

static int64_t clock_before; /* what the clock is before sim_run() */
int64_t *sim_clock = &clock_before;
int64_t sim_horizon = INT64_MAX;

void *sim_host_alloc(size_t size)
{
    void *ptr = calloc(1, size);
    if (!ptr)
        machine_die("the simulated machine: out of memory\n", 1);
    return ptr;
}

int sim_core_index(void)
{
    return current->index;
}

int64_t sim_now(void)
{
    return event_now_ps >= 0 ? event_now_ps : *sim_clock;
}

uint64_t sim_random(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Log-normal: 2.326 standard deviations lie between the median and the 99th percentile. The sum of
 * twelve uniform numbers stands for the normal one: only additions, the same on every processor. */
int64_t sim_latency(const struct sim_latency *latency)
{
    if (latency->p99_ps <= latency->median_ps || latency->median_ps <= 0)
        return latency->median_ps;
    double normal = -6;
    for (int i = 0; i < 12; i++)
        normal += (double)(sim_random() >> 11) * 0x1p-53;
    double sigma = log((double)latency->p99_ps / (double)latency->median_ps) / 2.326;
    return (int64_t)((double)latency->median_ps * exp(sigma * normal));
}

/* Heaps --------------------------------------------------------------------------------------- */

static bool core_before(const struct sim_core *a, const struct sim_core *b)
{
    return a->clock_ps != b->clock_ps ? a->clock_ps < b->clock_ps : a->index < b->index;
}

static void active_place(struct sim_core *core, size_t place)
{
    active[place] = core;
    core->place = place;
}

/* The core's clock has changed, or it has just come. */
static void active_settle(struct sim_core *core)
{
    size_t at = core->place;
    while (at > 1 && core_before(core, active[at / 2])) {
        active_place(active[at / 2], at);
        at /= 2;
    }
    for (size_t child; (child = 2 * at) <= active_count; at = child) {
        if (child < active_count && core_before(active[child + 1], active[child]))
            child++;
        if (!core_before(active[child], core))
            break;
        active_place(active[child], at);
    }
    active_place(core, at);
}

/* The current core's clock runs on while it stands in the heap where it was. */
static void active_settle_current(void)
{
    if (current->place)
        active_settle(current);
}

static void active_add(struct sim_core *core)
{
    active_settle_current();
    active_place(core, ++active_count);
    active_settle(core);
}

static void active_remove(struct sim_core *core)
{
    active_settle_current();
    size_t hole = core->place;
    struct sim_core *last = active[active_count--];
    core->place = 0;
    if (last == core)
        return;
    active_place(last, hole);
    active_settle(last);
}

static bool event_before(const struct sim_event *a, const struct sim_event *b)
{
    return a->when_ps != b->when_ps ? a->when_ps < b->when_ps : a->order < b->order;
}

static void event_place(struct sim_event *event, size_t place)
{
    events[place] = event;
    event->place = place;
}

static void event_settle(struct sim_event *event)
{
    size_t at = event->place;
    while (at > 1 && event_before(event, events[at / 2])) {
        event_place(events[at / 2], at);
        at /= 2;
    }
    for (size_t child; (child = 2 * at) <= event_count; at = child) {
        if (child < event_count && event_before(events[child + 1], events[child]))
            child++;
        if (!event_before(events[child], event))
            break;
        event_place(events[child], at);
    }
    event_place(event, at);
}

void sim_event_clear(struct sim_event *event)
{
    size_t hole = event->place;
    if (!hole)
        return;
    struct sim_event *last = events[event_count--];
    event->place = 0;
    if (last == event)
        return;
    event_place(last, hole);
    event_settle(last);
}

static void horizon_set(void);

void sim_event_set(struct sim_event *event, int64_t when_ps, void (*fn)(struct sim_event *event))
{
    sim_event_clear(event);
    if (event_count + 2 > event_room) {
        event_room = event_room ? 2 * event_room : 1024;
        events = realloc(events, event_room * sizeof(struct sim_event *));
        if (!events)
            machine_die("the simulated machine: out of memory\n", 1);
    }
    event->when_ps = when_ps > sim_now() ? when_ps : sim_now();
    event->order = event_order++;
    event->fn = fn;
    event_place(event, ++event_count);
    event_settle(event);
    horizon_set();
}

/* Who is next --------------------------------------------------------------------------------- */

static struct sim_thread *thread_now(void)
{
    return current->running;
}

/* Pre: the current core is at its place in the heap. */
static void horizon_set(void)
{
    int64_t horizon = INT64_MAX;
    if (!current->running)
        return;
    for (size_t child = 2; child <= 3 && child <= active_count; child++)
        if (active[child]->clock_ps < horizon - sim_model.lookahead_ps)
            horizon = active[child]->clock_ps + sim_model.lookahead_ps;
    if (current->place != 1 && active_count > 0)
        horizon = active[1]->clock_ps + sim_model.lookahead_ps;
    if (event_count && events[1]->when_ps < horizon)
        horizon = events[1]->when_ps;
    if (current->ready_count && current->slice_end_ps < horizon)
        horizon = current->slice_end_ps;
    if (thread_now()->interrupted)
        horizon = INT64_MIN;
    sim_horizon = horizon;
}

static void vruntime_charge(struct sim_core *core)
{
    struct sim_thread *thread = core->running;
    thread->vruntime_ps += core->clock_ps - core->run_began_ps;
    core->counted[SIM_BUSY_PS] += core->clock_ps - core->run_began_ps;
    core->run_began_ps = core->clock_ps;
    if (thread->vruntime_ps > core->vruntime_ps)
        core->vruntime_ps = thread->vruntime_ps;
}

/* Who has run least, the first of equals. */
static struct sim_thread *ready_least(const struct sim_core *core)
{
    struct sim_thread *thread, *least = TAILQ_FIRST(&core->ready);
    TAILQ_FOREACH(thread, &core->ready, link)
    {
        if (thread->vruntime_ps < least->vruntime_ps)
            least = thread;
    }
    return least;
}

static void ready_add(struct sim_core *core, struct sim_thread *thread)
{
    thread->state = THREAD_QUEUED;
    thread->core = core;
    TAILQ_INSERT_TAIL(&core->ready, thread, link);
    core->ready_count++;
}

static void ready_remove(struct sim_core *core, struct sim_thread *thread)
{
    TAILQ_REMOVE(&core->ready, thread, link);
    core->ready_count--;
}

/* From the longest queue of another core, a thread that may run here. */
static struct sim_thread *ready_pull(const struct sim_core *to)
{
    struct sim_core *longest = NULL;
    struct sim_thread *thread, *found = NULL;
    for (int i = 0; i < cpu_count; i++) {
        struct sim_core *core = &cores[cpu_ids[i]];
        if (core->ready_count == 0 || (longest && core->ready_count <= longest->ready_count))
            continue;
        TAILQ_FOREACH(thread, &core->ready, link)
        {
            if (thread->pinned < 0 && to->allowed) {
                longest = core;
                found = thread;
                break;
            }
        }
    }
    if (found) {
        ready_remove(longest, found);
        found->vruntime_ps += to->vruntime_ps - longest->vruntime_ps;
    }
    return found;
}

static void core_run(struct sim_core *core, struct sim_thread *thread, int64_t from_ps)
{
    core->clock_ps = from_ps;
    core->running = thread;
    core->run_began_ps = from_ps;
    core->slice_end_ps = from_ps + sim_model.slice_ps;
    core->counted[SIM_SWITCHES]++;
    thread->core = core;
    thread->state = THREAD_RUNNING;
    active_settle_current();
    if (core->place)
        active_settle(core);
    else
        active_add(core);
}

/* The core has nobody: the next of its queue, another core's, or it becomes idle. */
static void core_next(struct sim_core *core)
{
    struct sim_thread *thread = NULL;
    core->running = NULL;
    if (core->ready_count) {
        thread = ready_least(core);
        ready_remove(core, thread);
    } else {
        thread = ready_pull(core);
    }
    if (thread) {
        core_run(core, thread, core->clock_ps + sim_model.switch_ps);
        return;
    }
    core->idle_since_ps = core->clock_ps;
    if (core->place)
        active_remove(core);
}

static _Noreturn void deadlock(void)
{
    struct sim_thread *thread;
    char line[160];
    snprintf(line, sizeof line,
             "the simulated machine: at %.3f us nothing can run and something waits\n",
             (double)sim_now() / 1e6);
    machine_print(2, line, strlen(line));
    TAILQ_FOREACH(thread, &threads, all_link)
    {
        snprintf(line, sizeof line, "  thread %d, core %d: waits for %p since %.3f us\n",
                 thread->number, thread->core->index, thread->waits_for,
                 (double)thread->asleep_since_ps / 1e6);
        machine_print(2, line, strlen(line));
    }
    machine_die("every thread of the simulated machine waits\n", 1);
}

/* Runs the events that are due and returns the earliest core. */
static struct sim_core *core_pick(void)
{
    for (;;) {
        struct sim_core *first = active_count ? active[1] : NULL;
        if (!event_count && !first)
            deadlock();
        if (first && (!event_count || events[1]->when_ps > first->clock_ps))
            return first;
        struct sim_event *event = events[1];
        sim_event_clear(event);
        event_now_ps = event->when_ps;
        event->fn(event);
        event_now_ps = -1;
    }
}

/* Switching ----------------------------------------------------------------------------------- */

void sim_switch(void **save, void *to);
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl sim_switch\n"
        ".type sim_switch, @function\n"
        "sim_switch:\n\t"
        "pushq %rbp\n\t"
        "pushq %rbx\n\t"
        "pushq %r12\n\t"
        "pushq %r13\n\t"
        "pushq %r14\n\t"
        "pushq %r15\n\t"
        "movq %rsp, (%rdi)\n\t"
        "movq %rsi, %rsp\n\t"
        "popq %r15\n\t"
        "popq %r14\n\t"
        "popq %r13\n\t"
        "popq %r12\n\t"
        "popq %rbx\n\t"
        "popq %rbp\n\t"
        "ret\n"
        ".size sim_switch, . - sim_switch\n");
enum { SWITCH_WORDS = 8, SWITCH_PC = 6 }; /* and one to align */
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl sim_switch\n"
        ".type sim_switch, %function\n"
        "sim_switch:\n\t"
        "stp x29, x30, [sp, #-160]!\n\t"
        "stp x19, x20, [sp, #16]\n\t"
        "stp x21, x22, [sp, #32]\n\t"
        "stp x23, x24, [sp, #48]\n\t"
        "stp x25, x26, [sp, #64]\n\t"
        "stp x27, x28, [sp, #80]\n\t"
        "stp d8, d9, [sp, #96]\n\t"
        "stp d10, d11, [sp, #112]\n\t"
        "stp d12, d13, [sp, #128]\n\t"
        "stp d14, d15, [sp, #144]\n\t"
        "mov x9, sp\n\t"
        "str x9, [x0]\n\t"
        "mov sp, x1\n\t"
        "ldp x19, x20, [sp, #16]\n\t"
        "ldp x21, x22, [sp, #32]\n\t"
        "ldp x23, x24, [sp, #48]\n\t"
        "ldp x25, x26, [sp, #64]\n\t"
        "ldp x27, x28, [sp, #80]\n\t"
        "ldp d8, d9, [sp, #96]\n\t"
        "ldp d10, d11, [sp, #112]\n\t"
        "ldp d12, d13, [sp, #128]\n\t"
        "ldp d14, d15, [sp, #144]\n\t"
        "ldp x29, x30, [sp], #160\n\t"
        "ret\n"
        ".size sim_switch, . - sim_switch\n");
enum { SWITCH_WORDS = 20, SWITCH_PC = 1 };
#else
#error "no context switch for this architecture"
#endif

static void thread_free(struct sim_thread *thread)
{
    if (thread->stack)
        sim_pages_unmap(thread->stack, thread->stack_size);
    free(thread);
}

/* From the current thread, which may be none of any core now, to that of the earliest core. */
static void go_on(struct sim_thread *from)
{
    struct sim_core *core = core_pick();
    current = core;
    sim_clock = &core->clock_ps;
    horizon_set();
    if (core->running == from)
        return;
    sim_switch(&from->sp, core->running->sp);
    if (to_free) {
        thread_free(to_free);
        to_free = NULL;
    }
}

/* The current thread's slice is over, and others wait for its core. */
static void slice_ends(struct sim_core *core)
{
    struct sim_thread *thread = core->running;
    vruntime_charge(core);
    struct sim_thread *next = ready_least(core);
    if (next->vruntime_ps > thread->vruntime_ps) {
        core->slice_end_ps = core->clock_ps + sim_model.slice_ps;
        return;
    }
    ready_add(core, thread);
    core_next(core);
}

/* Spinning ------------------------------------------------------------------------------------
 *
 * A core that waits for a word to change is not simulated round by round: it leaves the heap until
 * another one takes the line from it, or its rounds are over, and its clock is then set to the end
 * of the round in which that is. What wakes it is the end of the write, whose time is known only
 * after the caches have said what it costs; so losses are noted, and seen to in sim_preempt(). The
 * spinner's clock is then past the writer's, who therefore stores before the spinner looks.
 */

static struct sim_core *losers[SIM_CORES_MAX];
static int loser_count;

static int64_t spin_round_ps(void)
{
    return sim_model.relax_ps + sim_model.l1.hit_ps + 2 * sim_model.block_ps;
}

static void spin_stop(struct sim_core *core, int64_t now)
{
    if (!core->spins)
        return;
    int64_t round = spin_round_ps(), rounds = (now - core->spin_began_ps) / round + 1;
    if (rounds < 1)
        rounds = 1;
    if (rounds < core->spin_rounds)
        core->spin_rounds = (uint32_t)rounds;
    core->spins = false;
    core->clock_ps = core->spin_began_ps + core->spin_rounds * round;
    sim_event_clear(&core->spin_end);
    cache_watch_end(core->index);
    active_add(core);
}

static void on_loss(int index)
{
    losers[loser_count++] = &cores[index];
    sim_horizon = INT64_MIN; /* the access that takes the line ends in sim_preempt() */
}

static void losers_stop(void)
{
    for (int i = 0; i < loser_count; i++)
        spin_stop(losers[i], *sim_clock);
    loser_count = 0;
}

static void on_spin_end(struct sim_event *event)
{
    struct sim_core *core =
        (struct sim_core *)(void *)((char *)event - offsetof(struct sim_core, spin_end));
    spin_stop(core, INT64_MAX / 2);
}

uint32_t sim_spin(uintptr_t address, uint32_t rounds)
{
    struct sim_core *core = current;
    struct sim_thread *self = core->running;
    if (self->interrupted || !cache_watch(core->index, address))
        return 0;
    int64_t end = core->clock_ps + rounds * spin_round_ps();
    if (core->ready_count && core->slice_end_ps < end) {
        cache_watch_end(core->index);
        return 0;
    }
    active_remove(core);
    core->spins = true;
    core->spin_began_ps = core->clock_ps;
    core->spin_rounds = rounds;
    sim_event_set(&core->spin_end, end, on_spin_end);
    go_on(self);
    sim_note_spin(core->spin_rounds * spin_round_ps());
    return core->spin_rounds;
}

static void look_round(void)
{
    losers_stop();
    struct sim_thread *self = current->running;
    active_settle(current);
    if (current->ready_count && current->clock_ps >= current->slice_end_ps)
        slice_ends(current);
    go_on(self);
}

static void interrupt_deliver(uintptr_t pc)
{
    char here;
    if (!thread_now()->interrupted)
        return;
    thread_now()->interrupted = false;
    *sim_clock += sim_model.signal_ps / 2; /* the other half was the way here */
    horizon_set();
    if (interrupt_welcome && interrupt_welcome(pc, (uintptr_t)&here))
        interrupt_take();
}

void sim_preempt(uintptr_t pc)
{
    look_round();
    interrupt_deliver(pc);
}

static void spend(int64_t ps)
{
    *sim_clock += ps;
    look_round();
}

void sim_spend(int64_t ps)
{
    current->counted[SIM_CALLS]++;
    spend(ps);
}

/* Waiting ------------------------------------------------------------------------------------- */

static int distance(int a, int b)
{
    return a / sim_model.group == b / sim_model.group     ? SIM_NEAR
           : a / sim_model.socket == b / sim_model.socket ? SIM_SOCKET
                                                          : SIM_REMOTE;
}

/* The idle core nearest to where it ran, or NULL. */
static struct sim_core *core_idle_for(const struct sim_thread *thread)
{
    struct sim_core *found = NULL;
    if (thread->core->allowed && !thread->core->running)
        return thread->core;
    for (int i = 0; i < cpu_count; i++) {
        struct sim_core *core = &cores[cpu_ids[i]];
        if (!core->running && (!found || distance(core->index, thread->core->index) <
                                             distance(found->index, thread->core->index)))
            found = core;
    }
    return found;
}

static struct sim_core *core_shortest(const struct sim_thread *thread)
{
    struct sim_core *found = thread->core->allowed ? thread->core : &cores[cpu_ids[0]];
    for (int i = 0; i < cpu_count; i++)
        if (cores[cpu_ids[i]].ready_count < found->ready_count)
            found = &cores[cpu_ids[i]];
    return found;
}

/* Up to an eighth longer than the model says, evenly: so that another seed is another schedule also
 * where nothing else is random. */
static int64_t wakeup_draw(void)
{
    uint64_t most = (uint64_t)sim_model.wakeup_ps / 8;
    return sim_model.wakeup_ps + (int64_t)(sim_random() % (most + 1));
}

/* It has slept, or is new: an idle core takes it, or it waits for a busy one, at once if it is
 * owed the time. */
static void spin_stop(struct sim_core *core, int64_t now);

static void thread_runnable(struct sim_thread *thread)
{
    struct sim_core *core = thread->pinned >= 0 ? &cores[thread->pinned] : core_idle_for(thread);
    int64_t now = sim_now();
    if (!core)
        core = core_shortest(thread);
    thread->vruntime_ps += core->vruntime_ps - thread->core->vruntime_ps;
    if (!core->running) {
        int64_t from = core->clock_ps > now ? core->clock_ps : now;
        from += wakeup_draw();
        core->counted[SIM_IDLE_PS] += from - core->idle_since_ps;
        if (thread->vruntime_ps < core->vruntime_ps)
            thread->vruntime_ps = core->vruntime_ps;
        core_run(core, thread, from);
    } else {
        spin_stop(core, now); /* who waits here may take the core from it */
        vruntime_charge(core);
        if (thread->vruntime_ps < core->vruntime_ps - sim_model.slice_ps)
            thread->vruntime_ps = core->vruntime_ps - sim_model.slice_ps;
        ready_add(core, thread);
        if (core->running->vruntime_ps - thread->vruntime_ps > sim_model.slice_ps / 3)
            core->slice_end_ps = now;
    }
    if (event_now_ps < 0)
        horizon_set();
}

static void thread_wake(struct sim_thread *thread, bool woken)
{
    TAILQ_REMOVE(thread->queue, thread, link);
    sim_event_clear(&thread->timeout);
    thread->queue = NULL;
    thread->woken = woken;
    thread_runnable(thread);
}

#define thread_of(event, member)                                                                   \
    ((struct sim_thread *)(void *)((char *)(event)-offsetof(struct sim_thread, member)))

static void on_timeout(struct sim_event *event)
{
    thread_wake(thread_of(event, timeout), false);
}

int sim_queue_wait(struct sim_queue *queue, int64_t timeout_ps)
{
    struct sim_thread *self = thread_now();
    vruntime_charge(current);
    self->state = THREAD_WAITING;
    self->queue = queue;
    self->waits_for = queue;
    self->asleep_since_ps = *sim_clock;
    TAILQ_INSERT_TAIL(queue, self, link);
    if (timeout_ps >= 0)
        sim_event_set(&self->timeout, *sim_clock + timeout_ps, on_timeout);
    core_next(current);
    go_on(self);
    return self->woken ? 0 : -ETIMEDOUT;
}

int sim_queue_wake(struct sim_queue *queue, int n)
{
    int woken = 0;
    for (; woken < n && !TAILQ_EMPTY(queue); woken++)
        thread_wake(TAILQ_FIRST(queue), true);
    return woken;
}

/* Futexes: a queue per word in use, by address. The table is walked by bucket only, and an
 * address is the same in every run. */

enum { FUTEX_BUCKETS = 4096 };

struct futex {
    struct futex *next;
    _Atomic uint32_t *word;
    struct sim_queue queue;
    int users;
};
static struct futex *futexes[FUTEX_BUCKETS];

static struct futex **futex_find(_Atomic uint32_t *word)
{
    struct futex **at = &futexes[(((uintptr_t)word >> 2) * UINT64_C(0x9e3779b97f4a7c15)) >> 52 &
                                 (FUTEX_BUCKETS - 1)];
    while (*at && (*at)->word != word)
        at = &(*at)->next;
    return at;
}

int machine_wait(_Atomic uint32_t *word, uint32_t value, int64_t timeout_ns)
{
    sim_touch(word, sizeof *word, false);
    sim_spend(sim_model.wait_ps);
    if (atomic_load_explicit(word, memory_order_relaxed) != value) /* one thread of the host */
        return 0;
    struct futex **at = futex_find(word), *futex = *at;
    if (!futex) {
        *at = futex = sim_host_alloc(sizeof *futex);
        futex->word = word;
        TAILQ_INIT(&futex->queue);
    }
    futex->users++;
    int64_t limit = timeout_ns < 0 ? -1
                    : timeout_ns > INT64_MAX / 2 / PS_PER_NS
                        ? INT64_MAX / 2
                        : timeout_ns * PS_PER_NS + sim_model.slack_ps;
    int error = sim_queue_wait(&futex->queue, limit);
    if (--futex->users == 0) {
        at = futex_find(word);
        *at = futex->next;
        free(futex);
    }
    return error;
}

void machine_wake(_Atomic uint32_t *word, int n)
{
    sim_spend(sim_model.call_ps);
    struct futex *futex = *futex_find(word);
    if (futex && sim_queue_wake(&futex->queue, n) > 0)
        spend(sim_model.wake_ps);
}

/* Threads ------------------------------------------------------------------------------------- */

struct m *machine_self(void)
{
    struct sim_thread *self = current->running;
    return self ? self->m : NULL;
}

void machine_set_self(struct m *m)
{
    thread_now()->m = m;
}

static void thread_main(void)
{
    struct sim_thread *self = thread_now();
    if (to_free) {
        thread_free(to_free);
        to_free = NULL;
    }
    self->fn(self->arg);
    self->state = THREAD_DONE;
    vruntime_charge(current);
    sim_queue_wake(&self->joiners, INT32_MAX);
    TAILQ_REMOVE(&threads, self, all_link);
    sim_event_clear(&self->interrupt);
    if (self->detached)
        to_free = self;
    core_next(current);
    go_on(self);
    abort(); /* nobody switches back to who is done */
}

static struct sim_thread *thread_new(size_t stack_size)
{
    struct sim_thread *thread = sim_host_alloc(sizeof *thread);
    thread->stack_size = stack_size;
    thread->stack = sim_pages_map(stack_size, SIM_PAGE);
    if (!thread->stack) {
        free(thread);
        return NULL;
    }
    machine_name(thread->stack, stack_size, "thread.stack");
    void **sp = (void **)(void *)(thread->stack + stack_size) - SWITCH_WORDS - 2;
    sp[SWITCH_PC] = (void *)thread_main;
    thread->sp = sp;
    thread->number = thread_count++;
    thread->pinned = -1;
    TAILQ_INIT(&thread->joiners);
    TAILQ_INSERT_TAIL(&threads, thread, all_link);
    return thread;
}

enum { THREAD_STACK_MIN = 256 << 10 }; /* what the simulator itself needs on it */

int machine_thread_start(struct machine_thread *thread, void (*fn)(void *), void *arg,
                         size_t stack_size, int cpu)
{
    sim_spend(sim_model.start_ps);
    if (stack_size < THREAD_STACK_MIN)
        stack_size = THREAD_STACK_MIN;
    struct sim_thread *new = thread_new((stack_size + SIM_PAGE - 1) & ~(size_t)(SIM_PAGE - 1));
    if (!new)
        return -ENOMEM;
    new->fn = fn;
    new->arg = arg;
    new->core = current;
    new->vruntime_ps = current->vruntime_ps;
    if (cpu >= 0)
        new->pinned = cpu_ids[cpu % cpu_count];
    thread->handle = (uintptr_t) new;
    thread_runnable(new);
    return 0;
}

void machine_thread_join(struct machine_thread *thread)
{
    struct sim_thread *other = (struct sim_thread *)thread->handle;
    sim_spend(sim_model.call_ps);
    if (other->state != THREAD_DONE)
        sim_queue_wait(&other->joiners, -1);
    thread_free(other);
}

void machine_thread_detach(struct machine_thread *thread)
{
    struct sim_thread *other = (struct sim_thread *)thread->handle;
    if (other->state == THREAD_DONE)
        thread_free(other);
    else
        other->detached = true;
}

struct machine_thread machine_thread_self(void)
{
    return (struct machine_thread){(uintptr_t)thread_now()};
}

void machine_stack_bounds(char **low, size_t *size)
{
    *low = thread_now()->stack;
    *size = thread_now()->stack_size;
}

/* On its new core at once, if that is not where it is. */
void machine_pin(int cpu)
{
    struct sim_thread *self = thread_now();
    self->pinned = cpu >= 0 ? cpu_ids[cpu % cpu_count] : -1;
    struct sim_core *to = self->pinned >= 0  ? &cores[self->pinned]
                          : current->allowed ? current
                                             : &cores[cpu_ids[0]];
    sim_spend(sim_model.call_ps);
    if (to == current)
        return;
    vruntime_charge(current);
    int64_t now = *sim_clock;
    core_next(current);
    event_now_ps = now;
    thread_runnable(self);
    event_now_ps = -1;
    go_on(self);
}

int machine_init(const int *cpus, int count)
{
    for (int i = 0; i < count; i++)
        if (cpus[i] < 0 || cpus[i] >= sim_model.cores)
            return -EINVAL;
    for (int i = 0; i < SIM_CORES_MAX; i++)
        cores[i].allowed = count == 0 && i < sim_model.cores;
    cpu_count = 0;
    for (int i = 0; i < (count ? count : sim_model.cores); i++) {
        cpu_ids[cpu_count] = count ? cpus[i] : i;
        cores[cpu_ids[cpu_count++]].allowed = true;
    }
    if (thread_now() && !current->allowed)
        machine_pin(-1);
    return 0;
}

int machine_cpu_count(void)
{
    return cpu_count;
}

/* Interrupts ---------------------------------------------------------------------------------- */

void machine_interrupt_init(bool (*welcome)(uintptr_t pc, uintptr_t sp), void (*take)(void))
{
    interrupt_welcome = welcome;
    interrupt_take = take;
}

static void on_interrupt(struct sim_event *event)
{
    struct sim_thread *thread = thread_of(event, interrupt);
    thread->interrupted = true;
    if (thread->state == THREAD_RUNNING)
        spin_stop(thread->core, event->when_ps);
}

int machine_interrupt(const struct machine_thread *thread)
{
    struct sim_thread *other = (struct sim_thread *)thread->handle;
    sim_spend(sim_model.call_ps);
    if (!other->interrupt.place)
        sim_event_set(&other->interrupt, *sim_clock + sim_model.signal_ps / 2, on_interrupt);
    return 0;
}

/* Time ---------------------------------------------------------------------------------------- */

int64_t machine_now(void)
{
    *sim_clock += current->running ? sim_model.clock_ps : 0;
    return *sim_clock / PS_PER_NS;
}

void machine_sleep(int64_t ns)
{
    struct sim_queue nobody_wakes = TAILQ_HEAD_INITIALIZER(nobody_wakes);
    sim_spend(sim_model.call_ps);
    if (ns > 0)
        sim_queue_wait(&nobody_wakes, ns * PS_PER_NS + sim_model.slack_ps);
}

int machine_timer_slack(int64_t ns)
{
    (void)ns;
    return -ENOSYS;
}

void machine_call(void)
{
    sim_spend(sim_model.call_ps);
}

void machine_yield(void)
{
    sim_spend(sim_model.call_ps);
    if (!current->ready_count)
        return;
    struct sim_thread *self = thread_now();
    vruntime_charge(current);
    struct sim_core *core = current;
    struct sim_thread *next = ready_least(core);
    ready_remove(core, next);
    ready_add(core, self);
    core_run(core, next, core->clock_ps + sim_model.switch_ps);
    go_on(self);
}

int machine_fence_all(void)
{
    sim_spend(sim_model.membarrier_ps);
    return 0;
}

/* Counts -------------------------------------------------------------------------------------- */

void sim_note_spin(int64_t ps)
{
    current->counted[SIM_SPIN_PS] += ps;
}

/* What has not been added yet: cores are added to when a thread leaves or comes. */
static int64_t counted_since(const struct sim_core *core, enum sim_counted which)
{
    if (which == SIM_BUSY_PS && core->running && core->clock_ps > core->run_began_ps)
        return core->clock_ps - core->run_began_ps;
    if (which == SIM_IDLE_PS && !core->running && core->allowed && sim_now() > core->idle_since_ps)
        return sim_now() - core->idle_since_ps;
    return 0;
}

int64_t sim_counted(int core, enum sim_counted which)
{
    if (core >= 0)
        return cores[core].counted[which] + counted_since(&cores[core], which);
    int64_t sum = 0;
    for (int i = 0; i < sim_model.cores; i++)
        sum += sim_counted(i, which);
    return sum;
}

/* The whole ----------------------------------------------------------------------------------- */

/* Instrumented code runs before sim_run() too: the constructors that come with instrumentation,
 * and checks at the start. This is before all of them. */
static void begin(void)
{
    cache_init(&sim_model_plain);
}
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(void) = begin;

struct run {
    void (*fn)(void *arg);
    void *arg;
    bool done;
    void *host_sp;
};
static struct run run;

static void first_main(void *arg)
{
    void *unused;
    (void)arg;
    run.fn(run.arg);
    sim_switch(&unused, run.host_sp);
}

enum { FIRST_STACK = 8 << 20 };

void sim_run(const struct sim_model *model, uint64_t seed, void (*fn)(void *arg), void *arg)
{
    sim_model = *model;
    random_state = seed;
    for (int i = 0; i < SIM_CORES_MAX; i++) {
        cores[i].index = i;
        TAILQ_INIT(&cores[i].ready);
    }
    cache_fini();
    cache_init(&sim_model);
    cache_on_loss = on_loss;
    machine_init(NULL, 0);
    run = (struct run){.fn = fn, .arg = arg};
    struct sim_thread *first = thread_new(FIRST_STACK);
    if (!first)
        machine_die("the simulated machine: its arena cannot be mapped\n", 1);
    first->fn = first_main;
    first->core = &cores[0];
    core_run(&cores[0], first, 0);
    sim_clock = &cores[0].clock_ps;
    current = &cores[0];
    horizon_set();
    sim_switch(&run.host_sp, first->sp);
    clock_before = *sim_clock;
    sim_clock = &clock_before;
    cores[0].running = NULL;
    current = &cores[0];
}
