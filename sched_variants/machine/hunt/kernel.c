/* kernel.c - threads, points and time; the beginning and the end of an execution.
 *
 * Threads are host stacks. The current one runs until it comes to a point, rests or waits. Then
 * choose.c says who goes on, of all that can, or that time does. A thread that rests in a spin loop
 * is left out until another one has come to a point, so that loops end.
 */
#include "kernel.h"
#include "machine.h"
#include "sim/hook_keep.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A point takes 1, 8, 64 or 512 ns in an execution. */
enum { PACES = 4, PACE_SHIFT = 3, ROUND_POINTS = 8 };
enum { SIGNAL_STACK = 64 << 10, FIRST_NS = 1000000 };

/* As kernel.h of the simulated machine has it: sim/switch.c. */
void sim_switch(void **save, void *to);
#if defined(__x86_64__)
enum { SWITCH_WORDS = 8, SWITCH_PC = 6 }; /* and one to align */
#else
enum { SWITCH_WORDS = 20, SWITCH_PC = 1 };
#endif

const char *const hunt_end_words[] = {
#define HUNT_END_WORD(name, word, help) word,
    HUNT_ENDS(HUNT_END_WORD)
#undef HUNT_END_WORD
        NULL};
const char *const hunt_end_helps[] = {
#define HUNT_END_HELP(name, word, help) help,
    HUNT_ENDS(HUNT_END_HELP)
#undef HUNT_END_HELP
        NULL};

struct hunt_machine hunt;
struct hunt_plan hunt_plan;
struct sim_model sim_model;
static void *host_sp;

/* The data of instrumented code, as the program began with them. */
extern char data_start[] __asm__("__start_simulated_data"), data_end[] __asm__(
                                                                "__stop_simulated_data");
extern char bss_start[] __asm__("__start_simulated_bss"), bss_end[] __asm__("__stop_simulated_bss");
static char *data_copy;

uint64_t hunt_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Time ---------------------------------------------------------------------------------------- */

int64_t sim_now(void)
{
    return hunt.now_ns * PS_PER_NS;
}

uint64_t sim_random(void)
{
    return hunt_random(&hunt.random);
}

int64_t sim_latency(const struct sim_latency *latency)
{
    (void)latency;
    return INT64_C(5000) * PS_PER_NS;
}

static bool event_is_later(const struct sim_event *a, const struct sim_event *b)
{
    return a->when_ps != b->when_ps ? a->when_ps > b->when_ps : a->order > b->order;
}

void sim_event_clear(struct sim_event *event)
{
    if (!event->place)
        return;
    size_t at = 0;
    while (hunt.events[at] != event)
        at++;
    hunt.event_count--;
    memmove(&hunt.events[at], &hunt.events[at + 1],
            (hunt.event_count - at) * sizeof(struct sim_event *));
    event->place = 0;
}

void sim_event_set(struct sim_event *event, int64_t when_ps, void (*fn)(struct sim_event *event))
{
    static uint64_t order;
    sim_event_clear(event);
    if (hunt.event_count == EVENTS_MAX)
        hunt_fail(HUNT_UNFIT, "more timers of the kernel at one time than there is room for\n");
    event->when_ps = when_ps > sim_now() ? when_ps : sim_now();
    event->order = order++;
    event->fn = fn;
    event->place = 1;
    size_t at = hunt.event_count++;
    for (; at > 0 && event_is_later(event, hunt.events[at - 1]); at--)
        hunt.events[at] = hunt.events[at - 1];
    hunt.events[at] = event;
}

static struct sim_event *event_first(void)
{
    return hunt.event_count ? hunt.events[hunt.event_count - 1] : NULL;
}

/* Time goes on to the first event, which happens. */
static void event_happens(void)
{
    struct sim_event *event = event_first();
    if (event->when_ps > sim_now())
        hunt.now_ns = (event->when_ps + PS_PER_NS - 1) / PS_PER_NS;
    sim_event_clear(event);
    event->fn(event);
}

/* Going on ------------------------------------------------------------------------------------ */

static struct sim_thread *next_thread(void)
{
    for (;;) {
        struct sim_event *event = event_first();
        if (event && event->when_ps <= sim_now()) {
            event_happens();
            continue;
        }
        if (!hunt.ready) {
            if (!event)
                oracle_fail(HUNT_STUCK, "nothing can run, and something waits");
            oracle_all_wait();
            event_happens();
            continue;
        }
        uint64_t ready = hunt.ready & ~hunt.resting;
        bool all_rest = !ready;
        if (all_rest) {
            hunt.resting = 0;
            ready = hunt.ready;
        }
        bool clock = event && event->when_ps - sim_now() <= HUNT_JUMP_NS * (int64_t)PS_PER_NS;
        int next = choose_next(ready, clock, all_rest);
        if (next != HUNT_CLOCK)
            return &hunt.thread[next];
        event_happens();
    }
}

void memory_fence(void)
{
    if (hunt_buffers)
        buffer_empty();
    if (hunt_weak)
        weak_fence(ORDER_SEQ_CST);
}

static void go_on(void)
{
    struct sim_thread *from = hunt.self, *to = next_thread();
    if (to == from)
        return;
    if (hunt_buffers) {
        buffer_leaves(from);
        buffer_comes(to);
    }
    hunt.self = to;
    hunt_tag = (uint8_t)(to->index + 1);
    sim_switch(&from->sp, to->sp);
}

void hunt_leave(void)
{
    hunt.self->at++;
    hunt.ready &= ~thread_bit(hunt.self);
    go_on();
}

/* Adds to the hash that this thread has come next to that word. */
static void order_mix(uintptr_t address, const struct sim_thread *thread, enum sim_access access)
{
    uint64_t *last = &hunt.last[seen_place(address) % HUNT_LAST];
    uint64_t state = *last ^ (uint64_t)(thread->index * 2 + (int)access + 1) ^ address << 8;
    uint64_t next = hunt_random(&state);
    hunt.order += next - *last;
    *last = next;
}

void hunt_point(uintptr_t address, enum sim_access access, uintptr_t pc)
{
    struct sim_thread *self = hunt.self;
    if (++hunt.points > hunt_plan.points_max)
        hunt_fail(HUNT_ENDLESS,
                  "more points than an execution may have, though all threads go on\n");
    self->at++;
    self->address = address;
    self->access = access;
    self->pc = pc;
    hunt.resting = 0;
    hunt.now_ns += hunt.pace_ns;
    oracle_point();
    if (hunt_plan.measures)
        choose_measure();
    if (hunt_buffers)
        buffer_point(false);
    go_on();
    if (hunt_plan.explores)
        explore_goes_on(address);
    if (!address) /* in the kernel */
        memory_fence();
    if (address) {
        order_mix(address, self, access);
        cover_access(address, access, pc);
    }
    if (self->interrupted && !self->answers && pc)
        hunt_interrupt_deliver(pc);
}

void hunt_rest(uint32_t rounds, uintptr_t pc)
{
    struct sim_thread *self = hunt.self;
    if (++hunt.points > hunt_plan.points_max)
        hunt_fail(HUNT_ENDLESS,
                  "more points than an execution may have, though all threads go on\n");
    self->at++;
    self->address = 0;
    self->pc = pc;
    hunt.now_ns += rounds * hunt.pace_ns * ROUND_POINTS;
    hunt.resting |= thread_bit(self);
    oracle_point();
    if (hunt_buffers)
        buffer_point(true);
    choose_rests(self->index);
    if (hunt_plan.explores)
        explore_rests(pc);
    go_on();
    if (self->interrupted && !self->answers && pc)
        hunt_interrupt_deliver(pc);
}

/* Threads ------------------------------------------------------------------------------------- */

static void thread_main(void)
{
    struct sim_thread *self = hunt.self;
    self->fn(self->arg);
    if (self->index == 0) /* the execution is over */
        sim_switch(&self->sp, host_sp);
    hunt_point(0, SIM_WRITE, 0);
    self->state = THREAD_DONE;
    sim_queue_wake(&self->joiners, INT32_MAX);
    if (self->detached)
        hunt_thread_free(self);
    hunt_leave();
    abort(); /* nobody switches back to who is done */
}

struct sim_thread *hunt_thread_new(void (*fn)(void *arg), void *arg)
{
    int i = 0;
    while (i < HUNT_THREADS_MAX && hunt.thread[i].state != THREAD_FREE)
        i++;
    if (i == HUNT_THREADS_MAX)
        hunt_fail(HUNT_UNFIT, "more than 64 threads at one time\n");
    struct sim_thread *thread = &hunt.thread[i];
    uint32_t at = thread->at;
    *thread =
        (struct sim_thread){.index = i, .state = THREAD_READY, .fn = fn, .arg = arg, .at = at};
    thread->stack = memory_stack();
    void **sp = (void **)(void *)(thread->stack + THREAD_STACK) - SWITCH_WORDS - 2;
    memset(sp, 0, SWITCH_WORDS * sizeof *sp);
    sp[SWITCH_PC] = (void *)thread_main;
    thread->sp = sp;
    TAILQ_INIT(&thread->joiners);
    hunt.ready |= thread_bit(thread);
    oracle_thread(thread);
    if (hunt_weak)
        weak_thread(thread);
    if (++hunt.threads > hunt.outcome.threads)
        hunt.outcome.threads = hunt.threads;
    return thread;
}

/* Its stack stays in use until the next switch, and is given to nobody before. */
void hunt_thread_free(struct sim_thread *thread)
{
    memory_stack_free(thread->stack);
    thread->state = THREAD_FREE;
    hunt.threads--;
}

/* An execution -------------------------------------------------------------------------------- */

_Noreturn void hunt_fail(enum hunt_end end, const char *text)
{
    void *nowhere;
    hunt.outcome.end = end;
    snprintf(hunt.outcome.text, sizeof hunt.outcome.text, "%s", text);
    sim_switch(&nowhere, host_sp);
    abort();
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    char text[HUNT_TEXT_SIZE];
    (void)context;
    if (!hunt.self) { /* not of the program under test */
        signal(number, SIG_DFL);
        return;
    }
    if (machine_on_fault && (number == SIGSEGV || number == SIGBUS))
        machine_on_fault(info->si_addr);
    if (number == SIGABRT)
        snprintf(text, sizeof text, "%s\n", strsignal(number));
    else
        snprintf(text, sizeof text, "%s at address %p\n", strsignal(number), info->si_addr);
    hunt_fail(HUNT_CRASH, text);
}

static void signals_catch(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    static char *stack;
    if (!stack)
        stack = malloc(SIGNAL_STACK);
    stack_t on = {.ss_sp = stack, .ss_size = SIGNAL_STACK};
    sigaltstack(&on, NULL);
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}

void hunt_learn(bool learns)
{
    signals_catch(); /* others may have taken them meanwhile */
    hunt_learns = learns;
    if (!learns)
        seen_take_learnt();
}

static void data_reset(void)
{
    size_t data = (size_t)(data_end - data_start), bss = (size_t)(bss_end - bss_start);
    if (!data_copy) {
        data_copy = malloc(data + bss);
        memcpy(data_copy, data_start, data);
        memcpy(data_copy + data, bss_start, bss);
    }
    memcpy(data_start, data_copy, data);
    memcpy(bss_start, data_copy + data, bss);
}

static void machine_clear(void)
{
    size_t used = (size_t)hunt.outcome.threads;
    memset(&hunt, 0, offsetof(struct hunt_machine, thread));
    memset(hunt.thread, 0, used * sizeof hunt.thread[0]);
    TAILQ_INIT(&hunt.futexes);
}

const struct hunt_outcome *hunt_execute(const struct hunt_plan *plan, void (*fn)(void *arg),
                                        void *arg)
{
    if (!data_copy)
        signals_catch();
    hunt_plan = *plan;
    machine_clear();
    hunt.random = plan->seed;
    hunt.now_ns = FIRST_NS;
    hunt.pace_ns = INT64_C(1) << PACE_SHIFT * (hunt_random(&hunt.random) % PACES);
    hunt_accesses = 0;
    hunt_blocks_left = BLOCKS_MAX;
    seen_begin();
    hunt_buffers = plan->memory == HUNT_TSO;
    hunt_weak = plan->memory == HUNT_WEAK;
    if (hunt_weak)
        weak_begin();
    data_reset();
    memory_begin();
    events_begin();
    choose_begin();
    cover_begin();
    struct sim_thread *first = hunt_thread_new(fn, arg);
    hunt.self = first;
    hunt_tag = 1;
    sim_switch(&host_sp, first->sp);
    hunt.self = NULL;
    steps_end();
    hunt_buffers = false;
    hunt_weak = false;
    hunt_tag = 0;
    hunt_blocks_left = INT64_MAX;
    hunt.outcome.points = hunt.points;
    hunt.outcome.accesses = hunt_accesses;
    hunt.outcome.order = hunt.order;
    hunt.outcome.clock_ns = hunt.now_ns - FIRST_NS;
    hunt.outcome.memory = memory_used();
    return &hunt.outcome;
}
