/* threads.c - the kernel's calls: waiting and waking, futexes, threads, interrupts, time; and the
 * beginning and end of a simulated machine. */
#include "cache.h"
#include "kernel.h"
#include "lockstep.h"
#include "machine.h"
#include "waste.h"

#include <errno.h>
#include <stdlib.h>

static int thread_count;

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
    for (int i = 0; i < sim_cpu_count; i++) {
        struct sim_core *core = &sim_cores[sim_cpu_ids[i]];
        if (!core->running && (!found || distance(core->index, thread->core->index) <
                                             distance(found->index, thread->core->index)))
            found = core;
    }
    return found;
}

static struct sim_core *core_shortest(const struct sim_thread *thread)
{
    struct sim_core *found = thread->core->allowed ? thread->core : &sim_cores[sim_cpu_ids[0]];
    for (int i = 0; i < sim_cpu_count; i++)
        if (sim_cores[sim_cpu_ids[i]].ready_count < found->ready_count)
            found = &sim_cores[sim_cpu_ids[i]];
    return found;
}

/* Up to an eighth longer than the model says, evenly: so that another seed is another schedule also
 * where nothing else is random. */
static int64_t wakeup_draw(void)
{
    uint64_t most = (uint64_t)sim_model.wakeup_ps / 8;
    return sim_model.wakeup_ps + (int64_t)(sim_random() % (most + 1));
}

static int64_t interrupts;

int64_t sim_interrupts(void)
{
    return interrupts;
}

/* Whoever got idle cores to run somebody, since there were `before` interrupts, pays for it. */
static void interrupts_pay(int64_t before)
{
    if (interrupts > before)
        sim_pass((interrupts - before) * sim_model.wake_ps);
}

/* It has slept, or is new: an idle core takes it, or it waits for a busy one, at once if it is
 * owed the time. */
static void thread_runnable(struct sim_thread *thread)
{
    struct sim_core *core =
        thread->pinned >= 0 ? &sim_cores[thread->pinned] : core_idle_for(thread);
    int64_t now = sim_now();
    if (!core)
        core = core_shortest(thread);
    thread->vruntime_ps += core->vruntime_ps - thread->core->vruntime_ps;
    if (!core->running) {
        int64_t from = core->clock_ps > now ? core->clock_ps : now;
        from += wakeup_draw();
        core->counted[SIM_IDLE_PS] += from - core->idle_since_ps;
        interrupts++;
        if (thread->vruntime_ps < core->vruntime_ps)
            thread->vruntime_ps = core->vruntime_ps;
        sim_core_run(core, thread, from);
    } else {
        sim_spin_stop(core, now); /* who waits here may take the core from it */
        sim_vruntime_charge(core);
        if (thread->vruntime_ps < core->vruntime_ps - sim_model.slice_ps)
            thread->vruntime_ps = core->vruntime_ps - sim_model.slice_ps;
        sim_ready_add(core, thread);
        if (core->running->vruntime_ps - thread->vruntime_ps > sim_model.slice_ps / 3)
            core->slice_end_ps = now;
    }
    if (sim_event_now_ps < 0)
        sim_horizon_set();
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
    struct sim_thread *self = sim_thread_now();
    sim_vruntime_charge(sim_current);
    self->state = THREAD_WAITING;
    self->queue = queue;
    self->asleep_since_ps = *sim_clock;
    TAILQ_INSERT_TAIL(queue, self, link);
    if (timeout_ps >= 0)
        sim_event_set(&self->timeout, *sim_clock + timeout_ps, on_timeout);
    sim_core_next(sim_current);
    sim_go_on(self);
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
    int64_t limit = timeout_ns < 0                           ? -1
                    : timeout_ns > INT64_MAX / 2 / PS_PER_NS ? INT64_MAX / 2
                                                             : timeout_ns * PS_PER_NS + sim_slack();
    sim_thread_now()->word = word;
    int error = sim_queue_wait(&futex->queue, limit);
    sim_thread_now()->word = NULL;
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
    int64_t before = interrupts;
    if (futex)
        sim_queue_wake(&futex->queue, n);
    interrupts_pay(before);
}

/* Threads ------------------------------------------------------------------------------------- */

struct m *machine_self(void)
{
    struct sim_thread *self = sim_current->running;
    return self ? self->m : NULL;
}

void machine_set_self(struct m *m)
{
    sim_thread_now()->m = m;
}

static void thread_main(void)
{
    struct sim_thread *self = sim_thread_now();
    sim_free_ended();
    self->fn(self->arg);
    sim_spend(sim_model.end_ps);
    self->state = THREAD_DONE;
    sim_vruntime_charge(sim_current);
    sim_queue_wake(&self->joiners, INT32_MAX);
    TAILQ_REMOVE(&sim_threads, self, all_link);
    sim_event_clear(&self->interrupt);
    if (self->detached)
        sim_to_free = self;
    sim_core_next(sim_current);
    sim_go_on(self);
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
    thread->slack_ps = sim_model.slack_ps;
    TAILQ_INIT(&thread->joiners);
    TAILQ_INSERT_TAIL(&sim_threads, thread, all_link);
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
    new->core = sim_current;
    new->vruntime_ps = sim_current->vruntime_ps;
    if (cpu >= 0)
        new->pinned = sim_cpu_ids[cpu % sim_cpu_count];
    new->detached = !thread;
    if (thread)
        thread->handle = (uintptr_t) new;
    int64_t before = interrupts;
    thread_runnable(new);
    interrupts_pay(before);
    return 0;
}

void machine_thread_join(struct machine_thread *thread)
{
    struct sim_thread *other = (struct sim_thread *)thread->handle;
    sim_spend(sim_model.call_ps);
    if (other->state != THREAD_DONE)
        sim_queue_wait(&other->joiners, -1);
    sim_thread_free(other);
}

struct machine_thread machine_thread_self(void)
{
    return (struct machine_thread){(uintptr_t)sim_thread_now()};
}

void machine_stack_bounds(char **low, size_t *size)
{
    *low = sim_thread_now()->stack;
    *size = sim_thread_now()->stack_size;
}

/* On its new core at once, if that is not where it is. */
void machine_pin(int cpu)
{
    struct sim_thread *self = sim_thread_now();
    self->pinned = cpu >= 0 ? sim_cpu_ids[cpu % sim_cpu_count] : -1;
    struct sim_core *to = self->pinned >= 0      ? &sim_cores[self->pinned]
                          : sim_current->allowed ? sim_current
                                                 : &sim_cores[sim_cpu_ids[0]];
    sim_spend(sim_model.call_ps);
    if (to == sim_current)
        return;
    sim_vruntime_charge(sim_current);
    int64_t now = *sim_clock;
    sim_core_next(sim_current);
    sim_event_now_ps = now;
    thread_runnable(self);
    sim_event_now_ps = -1;
    sim_go_on(self);
}

int machine_init(const int *cpus, int count)
{
    for (int i = 0; i < count; i++)
        if (cpus[i] < 0 || cpus[i] >= sim_model.cores)
            return -EINVAL;
    for (int i = 0; i < sim_model.cores; i++)
        sim_cores[i].allowed = count == 0;
    sim_cpu_count = 0;
    for (int i = 0; i < (count ? count : sim_model.cores); i++) {
        sim_cpu_ids[sim_cpu_count] = count ? cpus[i] : i;
        sim_cores[sim_cpu_ids[sim_cpu_count++]].allowed = true;
    }
    int64_t now = sim_thread_now() ? sim_now() : 0;
    for (int i = 0; i < sim_model.cores; i++)
        sim_waste_core(i, sim_cores[i].allowed && !sim_cores[i].running, now);
    if (sim_thread_now() && !sim_current->allowed)
        machine_pin(-1);
    return 0;
}

int machine_cpu_count(void)
{
    return sim_cpu_count;
}

/* Interrupts ---------------------------------------------------------------------------------- */

void machine_interrupt_init(bool (*welcome)(uintptr_t pc, uintptr_t sp), void (*take)(void))
{
    sim_welcome = welcome;
    sim_take = take;
}

static void on_interrupt(struct sim_event *event)
{
    struct sim_thread *thread = thread_of(event, interrupt);
    thread->interrupted = true;
    if (thread->state == THREAD_RUNNING)
        sim_spin_stop(thread->core, event->when_ps);
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
    *sim_clock += sim_current->running ? sim_model.clock_ps : 0;
    return *sim_clock / PS_PER_NS;
}

int64_t machine_now_unseen(void)
{
    return *sim_clock / PS_PER_NS;
}

void machine_sleep(int64_t ns)
{
    struct sim_queue nobody_wakes = TAILQ_HEAD_INITIALIZER(nobody_wakes);
    sim_spend(sim_model.call_ps);
    if (ns > 0)
        sim_queue_wait(&nobody_wakes, ns * PS_PER_NS + sim_slack());
}

int64_t sim_slack(void)
{
    return sim_thread_now()->slack_ps;
}

int machine_timer_slack(int64_t ns)
{
    sim_spend(sim_model.call_ps);
    sim_thread_now()->slack_ps = ns ? ns * PS_PER_NS : sim_model.slack_ps;
    return 0;
}

void machine_call(void)
{
    sim_spend(sim_model.call_ps);
}

void machine_yield(void)
{
    sim_spend(sim_model.call_ps);
    sim_turn_wait();
    if (!sim_current->ready_count)
        return;
    struct sim_thread *self = sim_thread_now();
    sim_vruntime_charge(sim_current);
    struct sim_core *core = sim_current;
    struct sim_thread *next = sim_ready_least(core);
    sim_ready_remove(core, next);
    sim_ready_add(core, self);
    sim_core_run(core, next, core->clock_ps + sim_model.switch_ps);
    sim_go_on(self);
}

/* The kernel interrupts the other cores that run the program, and waits for them. Cores that spin
 * have time to lose. */
int machine_fence_all(void)
{
    int64_t wait_ps = 0;
    sim_spend(sim_model.call_ps);
    for (int i = 0; i < sim_model.cores; i++) {
        struct sim_core *core = &sim_cores[i];
        if (core == sim_current || !core->running || core->run_began_ps > *sim_clock)
            continue;
        wait_ps = sim_model.membarrier_ps - sim_model.call_ps;
        if (!core->spins)
            sim_core_delay(core, sim_model.interrupt_ps);
    }
    if (wait_ps > 0)
        sim_pass(wait_ps);
    return 0;
}

/* Counts -------------------------------------------------------------------------------------- */

void sim_note_spin(int64_t ps)
{
    sim_current->counted[SIM_SPIN_PS] += ps;
}

/* The part that is not yet in counted[], which grows only when a thread leaves a core or comes to
 * one. */
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
    if (which == SIM_WASTED_PS)
        return sim_wasted(core);
    if (core >= 0)
        return sim_cores[core].counted[which] + counted_since(&sim_cores[core], which);
    int64_t sum = 0;
    for (int i = 0; i < sim_model.cores; i++)
        sum += sim_counted(i, which);
    return sum;
}

int64_t machine_wasted_ns(void)
{
    return sim_wasted(-1) / PS_PER_NS;
}

/* The whole ----------------------------------------------------------------------------------- */

/* Instrumented code runs before sim_run() too: the constructors that come with instrumentation,
 * and checks at the start. begin() runs before all of them. sim_run() resets the first core, whose
 * predictor has learnt from them: their stacks lie where the harness has them. */
static void begin(void)
{
    cache_init(&sim_model_plain);
    sim_caches = &cache_cores[0];
}
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(void) = begin;

struct run {
    void (*fn)(void *arg);
    void *arg;
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
    if (sim_is_lockstep())
        sim_model_make_free(&sim_model);
    sim_active_init();
    sim_random_state = seed;
    sim_cores[0] = (struct sim_core){0};
    for (int i = 0; i < sim_model.cores; i++) { /* the rest's memory is not touched */
        sim_cores[i].index = i;
        ahead_close(&sim_cores[i].ahead);
        TAILQ_INIT(&sim_cores[i].ready);
    }
    cache_fini();
    cache_init(&sim_model);
    sim_caches = &cache_cores[0];
    cache_on_loss = sim_on_loss;
    cache_now = sim_now;
    cache_random = sim_random;
    sim_waste_begin();
    machine_init(NULL, 0);
    run = (struct run){.fn = fn, .arg = arg};
    struct sim_thread *first = thread_new(FIRST_STACK);
    if (!first)
        machine_die("the simulated machine: its arena cannot be mapped\n", 1);
    first->fn = first_main;
    first->core = &sim_cores[0];
    sim_core_run(&sim_cores[0], first, 0);
    sim_clock = &sim_cores[0].clock_ps;
    sim_current = &sim_cores[0];
    sim_horizon_set();
    sim_switch(&run.host_sp, first->sp);
    sim_clock_before = *sim_clock;
    sim_clock = &sim_clock_before;
    sim_cores[0].running = NULL;
    sim_current = &sim_cores[0];
    sim_caches = &cache_cores[0];
}
