/* kernel.c - cores, threads and virtual time.
 *
 * Each core has a clock. A core that runs a thread is active; the active cores are a tree, the
 * earliest at its root. The current thread, on the current core, runs until its clock has passed
 * that of the earliest other active core by more than the lookahead. The next event stops it as
 * soon as its clock has passed the event. hooks.c compares with sim_horizon after each access. Then
 * sim_preempt() goes on with the earliest core.
 *
 * A core whose thread waits takes the next one from its queue, or from the longest queue of another
 * core. Else it becomes idle: its clock stands still, and waking sets it forward.
 *
 * Threads share a core as under Linux's fair scheduler, reduced to what one sees of it from
 * outside. The thread that has run least runs next, for a slice. A thread that has slept is owed at
 * most a slice. It takes the core from the running thread if that one is ahead of it by a third of
 * a slice.
 *
 * Equal clocks: the core with the smaller index first; equal events: the first set. There is no
 * other choice anywhere, so a run is a function of program, model and seed.
 *
 * Context switches between simulated threads are host stacks changing hands; the goroutines' own
 * switches (runtime/ctx.h) go on below, as on a real thread.
 */
#include "kernel.h"
#include "cache.h"
#include "lockstep.h"
#include "machine.h"
#include "waste.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_model sim_model;

struct sim_core sim_cores[SIM_CORES_MAX];

/* The active cores: a tree with a leaf for each core. A leaf is the core's clock times 256 plus the
 * core, so that one comparison does: for ten hours of virtual time; NOBODY: it is not active. A
 * node, 1 is the root, is the lesser of those below it, 2 i and 2 i + 1. Any change takes the same
 * way to the root, on which nothing is decided that the host would have to guess. */
#define NOBODY UINT64_MAX
static uint64_t active[2 * SIM_CORES_MAX];
static size_t leaves; /* where they begin */
static bool frozen;   /* sim_freeze() */
struct sim_core *sim_current = &sim_cores[0];
int64_t sim_event_now_ps = -1;    /* while an event runs: its time */
static struct sim_event **events; /* a heap, root at 1 */
static size_t event_count, event_room;
static uint64_t event_order;
uint64_t sim_random_state;
struct sim_thread_list sim_threads = TAILQ_HEAD_INITIALIZER(sim_threads);
int sim_cpu_ids[SIM_CORES_MAX], sim_cpu_count;
struct sim_thread *sim_to_free; /* has ended; its stack was in use until the switch */

bool (*sim_welcome)(uintptr_t pc, uintptr_t sp);
void (*sim_take)(void);

int64_t sim_clock_before; /* what the clock is before sim_run() */
int64_t *sim_clock = &sim_clock_before;
struct cache_core *sim_caches;
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
    return sim_current->index;
}

int64_t sim_now(void)
{
    return sim_event_now_ps >= 0 ? sim_event_now_ps : *sim_clock;
}

uint64_t sim_random(void)
{
    uint64_t z = sim_random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* base^(exponent / 1024), by nothing but products, quotients and square roots, which every
 * processor and library rounds alike, as they need not round exp() and log(). */
static double power_1024(double base, int64_t exponent)
{
    double power = 1;
    for (int i = 0; i < 10; i++)
        base = sqrt(base);
    for (uint64_t left = (uint64_t)(exponent < 0 ? -exponent : exponent); left; left >>= 1) {
        power *= left & 1 ? base : 1;
        base *= base;
    }
    return exponent < 0 ? 1 / power : power;
}

/* Log-normal: 2.326 standard deviations lie between the median and the 99th percentile. The sum of
 * twelve uniform numbers stands for the normal one. */
int64_t sim_latency(const struct sim_latency *latency)
{
    if (latency->p99_ps <= latency->median_ps || latency->median_ps <= 0)
        return latency->median_ps;
    double normal = -6;
    for (int i = 0; i < 12; i++)
        normal += (double)(sim_random() >> 11) * 0x1p-53;
    double ratio = (double)latency->p99_ps / (double)latency->median_ps;
    return (int64_t)((double)latency->median_ps *
                     power_1024(ratio, (int64_t)(normal * 1024 / 2.326)));
}

/* Active cores -------------------------------------------------------------------------------- */

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void sim_active_init(void)
{
    for (leaves = 1; leaves < (size_t)sim_model.cores; leaves *= 2) {
    }
    for (size_t i = 0; i < 2 * leaves; i++)
        active[i] = NOBODY;
}

static void active_set(const struct sim_core *core, uint64_t key)
{
    size_t at = leaves + (size_t)core->index;
    for (active[at] = key; at > 1; active[at] = key) {
        key = lesser(key, active[at ^ 1]);
        at /= 2;
    }
}

/* The earliest of all others. */
static uint64_t active_other(const struct sim_core *core)
{
    uint64_t key = NOBODY;
    for (size_t at = leaves + (size_t)core->index; at > 1; at /= 2)
        key = lesser(key, active[at ^ 1]);
    return key;
}

/* The core's clock has changed, or it has just come. */
static void active_settle(const struct sim_core *core)
{
    active_set(core, (uint64_t)core->clock_ps << 8 | (uint64_t)core->index);
}

void sim_core_delay(struct sim_core *core, int64_t ps)
{
    core->clock_ps += ps;
    active_settle(core);
}

/* Events -------------------------------------------------------------------------------------- */

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
    sim_horizon_set();
}

/* The next core -------------------------------------------------------------------------------- */

void sim_horizon_set(void)
{
    int64_t horizon = INT64_MAX;
    if (frozen)
        sim_horizon = horizon;
    if (frozen || !sim_current->running)
        return;
    uint64_t other = active_other(sim_current);
    if (other != NOBODY)
        horizon = (int64_t)(other >> 8) + sim_model.lookahead_ps;
    if (event_count && events[1]->when_ps < horizon)
        horizon = events[1]->when_ps;
    if (sim_current->ready_count && sim_current->slice_end_ps < horizon)
        horizon = sim_current->slice_end_ps;
    if (sim_thread_now()->interrupted)
        horizon = INT64_MIN;
    sim_horizon = horizon;
}

void sim_vruntime_charge(struct sim_core *core)
{
    struct sim_thread *thread = core->running;
    thread->vruntime_ps += core->clock_ps - core->run_began_ps;
    core->counted[SIM_BUSY_PS] += core->clock_ps - core->run_began_ps;
    core->run_began_ps = core->clock_ps;
    if (thread->vruntime_ps > core->vruntime_ps)
        core->vruntime_ps = thread->vruntime_ps;
}

/* The ready thread that has run least, the first of equals. */
struct sim_thread *sim_ready_least(const struct sim_core *core)
{
    struct sim_thread *thread, *least = TAILQ_FIRST(&core->ready);
    TAILQ_FOREACH(thread, &core->ready, link)
    {
        if (thread->vruntime_ps < least->vruntime_ps)
            least = thread;
    }
    return least;
}

void sim_ready_add(struct sim_core *core, struct sim_thread *thread)
{
    thread->state = THREAD_QUEUED;
    thread->core = core;
    TAILQ_INSERT_TAIL(&core->ready, thread, link);
    core->ready_count++;
}

void sim_ready_remove(struct sim_core *core, struct sim_thread *thread)
{
    TAILQ_REMOVE(&core->ready, thread, link);
    core->ready_count--;
}

/* From the longest queue of another core, a thread that may run here. */
static struct sim_thread *ready_pull(const struct sim_core *to)
{
    struct sim_core *longest = NULL;
    struct sim_thread *thread, *found = NULL;
    for (int i = 0; i < sim_cpu_count; i++) {
        struct sim_core *core = &sim_cores[sim_cpu_ids[i]];
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
        sim_ready_remove(longest, found);
        found->vruntime_ps += to->vruntime_ps - longest->vruntime_ps;
    }
    return found;
}

int64_t sim_earliest(void)
{
    int64_t earliest = active[1] != NOBODY ? (int64_t)(active[1] >> 8) : INT64_MAX;
    if (event_count && events[1]->when_ps < earliest)
        earliest = events[1]->when_ps;
    return sim_now() < earliest ? sim_now() : earliest;
}

void sim_core_run(struct sim_core *core, struct sim_thread *thread, int64_t from_ps)
{
    from_ps = sim_turn_from(core->index, from_ps);
    sim_waste_core(core->index, false, from_ps);
    core->clock_ps = from_ps;
    core->running = thread;
    core->run_began_ps = from_ps;
    core->slice_end_ps = from_ps + sim_model.slice_ps;
    core->counted[SIM_SWITCHES]++;
    thread->core = core;
    thread->state = THREAD_RUNNING;
    active_settle(core);
}

/* The core has nobody: the next of its queue, another core's, or it becomes idle. */
void sim_core_next(struct sim_core *core)
{
    struct sim_thread *thread = NULL;
    core->running = NULL;
    if (core->ready_count) {
        thread = sim_ready_least(core);
        sim_ready_remove(core, thread);
    } else {
        thread = ready_pull(core);
    }
    if (thread) {
        sim_core_run(core, thread, core->clock_ps + sim_model.switch_ps);
        return;
    }
    core->idle_since_ps = core->clock_ps;
    sim_waste_core(core->index, core->allowed, core->clock_ps);
    active_set(core, NOBODY);
}

static _Noreturn void deadlock(void)
{
    struct sim_thread *thread;
    char line[160];
    snprintf(line, sizeof line,
             "the simulated machine: at %.3f us nothing can run and something waits\n",
             (double)sim_now() / 1e6);
    machine_print(2, line, strlen(line));
    TAILQ_FOREACH(thread, &sim_threads, all_link)
    {
        char place[40] = "something else than a futex";
        if (thread->word)
            snprintf(place, sizeof place, "the futex at %p", thread->word);
        snprintf(line, sizeof line, "  thread %d, core %d: waits for %s since %.3f us\n",
                 thread->number, thread->core->index, place, (double)thread->asleep_since_ps / 1e6);
        machine_print(2, line, strlen(line));
    }
    machine_die("every thread of the simulated machine waits\n", 1);
}

/* Runs the events that are due and returns the earliest core. */
static struct sim_core *core_pick(void)
{
    for (;;) {
        struct sim_core *first = active[1] != NOBODY ? &sim_cores[active[1] % SIM_CORES_MAX] : NULL;
        if (!event_count && !first)
            deadlock();
        if (first && (!event_count || events[1]->when_ps > first->clock_ps))
            return first;
        struct sim_event *event = events[1];
        sim_event_clear(event);
        sim_event_now_ps = event->when_ps;
        event->fn(event);
        sim_event_now_ps = -1;
    }
}

/* Switching ----------------------------------------------------------------------------------- */

void sim_thread_free(struct sim_thread *thread)
{
    if (thread->stack)
        sim_pages_unmap(thread->stack, thread->stack_size);
    free(thread);
}

enum { SWITCH_ROOM = 512 }; /* more than what is called below takes */

/* The host's caches may get ready for the core that has its turn next, as far as is known. */
static void turn_ahead(void)
{
    uint64_t key = active_other(sim_current);
    if (key == NOBODY)
        return;
    const struct sim_core *core = &sim_cores[key % SIM_CORES_MAX];
    const struct cache_core *caches = &cache_cores[core->index];
    __builtin_prefetch(&core->ahead);
    __builtin_prefetch(caches->count);
    __builtin_prefetch(caches->front);
    __builtin_prefetch(core->running->sp);
    __builtin_prefetch((const char *)core->running->sp + SIM_LINE);
}

/* Switches from the current thread, which may be on no core now, to that of the earliest core. */
void sim_go_on(struct sim_thread *from)
{
    struct sim_core *core = core_pick();
    volatile char room[SWITCH_ROOM];
    *(volatile char *)room = 0; /* a stack that ends here does so while its owner is current */
    sim_current = core;
    sim_clock = &core->clock_ps;
    sim_caches = &cache_cores[core->index];
    sim_horizon_set();
    turn_ahead();
    if (core->running == from)
        return;
    sim_switch(&from->sp, core->running->sp);
    sim_free_ended();
}

void sim_free_ended(void)
{
    if (sim_to_free)
        sim_thread_free(sim_to_free);
    sim_to_free = NULL;
}

/* The current thread's slice is over, and others wait for its core. */
static void slice_ends(struct sim_core *core)
{
    struct sim_thread *thread = core->running;
    sim_vruntime_charge(core);
    struct sim_thread *next = sim_ready_least(core);
    if (next->vruntime_ps > thread->vruntime_ps) {
        core->slice_end_ps = core->clock_ps + sim_model.slice_ps;
        return;
    }
    sim_ready_add(core, thread);
    sim_core_next(core);
}

/* Spinning ------------------------------------------------------------------------------------
 *
 * A core that waits for a word to change is not simulated round by round. It is not active until
 * another core takes the line from it, or its rounds are over. Its clock is then set to the end of
 * the round in which that happens. It wakes at the end of the write, whose time is known only after
 * the caches have said what the write costs. So losses are noted, and sim_preempt() handles them.
 * The spinner's clock is then past the writer's, so the writer stores before the spinner looks.
 */

static struct sim_core *losers[SIM_CORES_MAX];
static int loser_count;

static int64_t spin_round_ps(void)
{
    return sim_model.relax_ps + sim_model.l1.hit_ps + 2 * sim_model.block_ps;
}

void sim_spin_stop(struct sim_core *core, int64_t now)
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
    active_settle(core);
}

void sim_on_loss(int index)
{
    losers[loser_count++] = &sim_cores[index];
    sim_horizon = INT64_MIN; /* the access that takes the line ends in sim_preempt() */
}

static void losers_stop(void)
{
    for (int i = 0; i < loser_count; i++)
        sim_spin_stop(losers[i], *sim_clock);
    loser_count = 0;
}

static void on_spin_end(struct sim_event *event)
{
    struct sim_core *core =
        (struct sim_core *)(void *)((char *)event - offsetof(struct sim_core, spin_end));
    sim_spin_stop(core, INT64_MAX / 2);
}

uint32_t sim_spin(uintptr_t address, uint32_t rounds)
{
    struct sim_core *core = sim_current;
    struct sim_thread *self = core->running;
    if (self->interrupted || !cache_watch(core->index, address))
        return 0;
    int64_t end = core->clock_ps + rounds * spin_round_ps();
    if (core->ready_count && core->slice_end_ps < end) {
        cache_watch_end(core->index);
        return 0;
    }
    active_set(core, NOBODY);
    core->spins = true;
    core->spin_began_ps = core->clock_ps;
    core->spin_rounds = rounds;
    sim_event_set(&core->spin_end, end, on_spin_end);
    sim_go_on(self);
    sim_note_spin(core->spin_rounds * spin_round_ps());
    return core->spin_rounds;
}

void sim_freeze(void)
{
    frozen = true;
    sim_horizon_set();
}

static void look_round(void)
{
    if (frozen)
        return;
    losers_stop();
    struct sim_thread *self = sim_current->running;
    active_settle(sim_current);
    if (sim_current->ready_count && sim_current->clock_ps >= sim_current->slice_end_ps)
        slice_ends(sim_current);
    sim_go_on(self);
}

static void interrupt_deliver(uintptr_t pc)
{
    char here;
    if (!sim_thread_now()->interrupted)
        return;
    sim_thread_now()->interrupted = false;
    *sim_clock += sim_model.signal_ps / 2; /* the other half was the way here */
    sim_horizon_set();
    if (sim_welcome && sim_welcome(pc, (uintptr_t)&here))
        sim_take();
}

void sim_preempt(uintptr_t pc)
{
    look_round();
    interrupt_deliver(pc);
}

void sim_pass(int64_t ps)
{
    *sim_clock += ps;
    look_round();
}

void sim_spend(int64_t ps)
{
    sim_current->counted[SIM_CALLS]++;
    sim_pass(ps);
}
