/* hunt_kernels.c - see hunt_kernels.h. */
#include "tests/hunt/hunt_kernels.h"

#include "hunt/explore.h"
#include "hunt/kernel.h"
#include "machine.h"

#include <stddef.h>
#include <string.h>

enum { STACK = 64 << 10, BLOCK_LOOKS = 1000, SLEEP_NS = 5000000, INTERRUPTS = 3 };

static uint64_t counter;
static _Atomic uint32_t lock, x, futex;
static bool with_lock;
static uint64_t *_Atomic pointer;

static void two(void (*first)(void *), void (*second)(void *))
{
    struct machine_thread threads[2];
    machine_thread_start(&threads[0], first, NULL, STACK, -1);
    machine_thread_start(&threads[1], second, NULL, STACK, -1);
    machine_thread_join(&threads[0]);
    machine_thread_join(&threads[1]);
}

static void add_one(void *unused)
{
    (void)unused;
    while (with_lock && atomic_exchange_explicit(&lock, 1, memory_order_acquire))
        machine_pause(1);
    counter = counter + 1;
    atomic_store_explicit(&lock, 0, memory_order_release);
}

void kernel_lost_update(void *locked)
{
    with_lock = *(bool *)locked;
    two(add_one, add_one);
    kernel_result->sum = counter;
}

/* Searched by explore.h: all that is shared is in one piece of memory. */

static struct {
    _Atomic uint32_t lock, ready;
    volatile uint64_t pair[2]; /* each access is made */
    uint64_t result;
} searched;

static void search(int count, void (*const *fns)(void *))
{
    struct machine_thread threads[3];
    explore_memory(&searched, sizeof searched);
    explore_others(true);
    for (int i = 0; i < count; i++)
        machine_thread_start(&threads[i], fns[i], NULL, STACK, -1);
    for (int i = 0; i < count; i++)
        machine_thread_join(&threads[i]);
    explore_others(false);
    kernel_result->sum = searched.result;
}

static void take_searched(void)
{
    while (atomic_exchange_explicit(&searched.lock, 1, memory_order_acquire))
        machine_pause(1);
}

static void write_both(void *unused)
{
    (void)unused;
    take_searched();
    searched.pair[0] = 1;
    searched.pair[1] = 1;
    atomic_store_explicit(&searched.lock, 0, memory_order_release);
}

static void read_both(void *unused)
{
    (void)unused;
    if (with_lock)
        take_searched();
    uint64_t first = searched.pair[0];
    searched.result = first | searched.pair[1] << 1;
    if (with_lock)
        atomic_store_explicit(&searched.lock, 0, memory_order_release);
}

void kernel_guarded(void *reads_locked)
{
    with_lock = *(bool *)reads_locked;
    explore_lock(&searched.lock);
    search(2, (void (*const[])(void *)){write_both, read_both});
}

static void get_ready(void *unused)
{
    (void)unused;
    atomic_store_explicit(&searched.ready, 1, memory_order_relaxed);
}

static void read_when_ready(void *unused)
{
    (void)unused;
    while (!atomic_load_explicit(&searched.ready, memory_order_relaxed))
        machine_pause(1);
    uint64_t read = searched.pair[0];
    searched.pair[1] = 1; /* a point in between */
    searched.result = read;
}

static void write_and_take_back(void *unused)
{
    (void)unused;
    searched.pair[0] = 1;
    searched.pair[0] = 0;
}

void kernel_late_reader(void *unused)
{
    (void)unused;
    search(3, (void (*const[])(void *)){get_ready, read_when_ready, write_and_take_back});
}

static void add_to_result(void *unused)
{
    (void)unused;
    searched.pair[0] = searched.pair[0] + 1;
    searched.result = searched.pair[0];
}

void kernel_alike(void *named)
{
    if (*(bool *)named)
        explore_alike(1, 2);
    search(2, (void (*const[])(void *)){add_to_result, add_to_result});
}

static void write_and_check(void *unused)
{
    (void)unused;
    searched.pair[0] = 1;
    INVARIANT(searched.pair[0] == 1 && searched.pair[1] == 0);
}

static void change_when_seen(void *unused)
{
    (void)unused;
    while (!searched.pair[0])
        machine_pause(1);
    searched.pair[1] = 1;
}

void kernel_checked(void *unused)
{
    (void)unused;
    search(2, (void (*const[])(void *)){write_and_check, change_when_seen});
}

/* Litmus tests. A compiler knows the order of an atomic only where it is a constant. */

static struct {
    _Alignas(64) _Atomic uint32_t word;
} litmus_word[LITMUS_WORDS];
static _Atomic uint32_t scratch;
static const struct litmus *litmus;

static uint32_t litmus_load(_Atomic uint32_t *word, int order)
{
    if (order == memory_order_seq_cst)
        return atomic_load_explicit(word, memory_order_seq_cst);
    if (order == memory_order_acquire)
        return atomic_load_explicit(word, memory_order_acquire);
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void litmus_store(_Atomic uint32_t *word, uint32_t value, int order)
{
    if (order == memory_order_seq_cst)
        atomic_store_explicit(word, value, memory_order_seq_cst);
    else if (order == memory_order_release)
        atomic_store_explicit(word, value, memory_order_release);
    else
        atomic_store_explicit(word, value, memory_order_relaxed);
}

static void litmus_add(_Atomic uint32_t *word, uint32_t value, int order)
{
    if (order == memory_order_seq_cst)
        atomic_fetch_add_explicit(word, value, memory_order_seq_cst);
    else
        atomic_fetch_add_explicit(word, value, memory_order_relaxed);
}

/* ThreadSanitizer knows no fences, this machine does. */
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif
static void litmus_fence(int order)
{
    if (order == memory_order_seq_cst)
        atomic_thread_fence(memory_order_seq_cst);
    else if (order == memory_order_acquire)
        atomic_thread_fence(memory_order_acquire);
    else
        atomic_thread_fence(memory_order_release);
}

static void litmus_step(const struct litmus_step *step, uint32_t *read)
{
    _Atomic uint32_t *word = &litmus_word[step->word].word;
    switch (step->act) {
    case LITMUS_STORE:
        litmus_store(word, (uint32_t)step->value, step->order);
        break;
    case LITMUS_LOAD:
        read[step->value] = litmus_load(word, step->order);
        break;
    case LITMUS_ADD:
        litmus_add(word, (uint32_t)step->value, step->order);
        break;
    case LITMUS_FENCE:
        litmus_fence(step->order);
        break;
    case LITMUS_FULL:
        machine_fence(&scratch);
        break;
    case LITMUS_FENCE_ALL:
        machine_fence_all();
        break;
    case LITMUS_CALL:
        machine_call();
        break;
    case LITMUS_END:
        break;
    }
}

/* Works on copies: what others have not seen either empties no store buffers in between. */
static void litmus_steps(void *thread)
{
    struct litmus_step step[LITMUS_STEPS];
    uint32_t read[LITMUS_READS] = {0};
    memcpy(step, thread, sizeof step);
    for (int i = 0; i < LITMUS_STEPS; i++)
        litmus_step(&step[i], read);
    for (int i = 0; i < LITMUS_STEPS; i++)
        if (step[i].act == LITMUS_LOAD)
            kernel_result->read[step[i].value] = read[step[i].value];
}

static bool is_litmus_outcome(void)
{
    bool is_it = true;
    for (int i = 0; i < LITMUS_READS; i++)
        is_it &=
            litmus->read[i] == LITMUS_ANY || kernel_result->read[i] == (uint32_t)litmus->read[i];
    for (int i = 0; i < LITMUS_WORDS; i++)
        is_it &=
            litmus->last[i] == LITMUS_ANY ||
            litmus_load(&litmus_word[i].word, memory_order_relaxed) == (uint32_t)litmus->last[i];
    return is_it;
}

void kernel_litmus(void *given)
{
    struct machine_thread threads[LITMUS_THREADS];
    int count = 0;
    litmus = given;
    for (; count < LITMUS_THREADS && litmus->thread[count][0].act != LITMUS_END; count++)
        machine_thread_start(&threads[count], litmus_steps, (void *)litmus->thread[count], STACK,
                             -1);
    for (int i = 0; i < count; i++)
        machine_thread_join(&threads[i]);
    kernel_result->weak = is_litmus_outcome();
}

static void publish(void *unused)
{
    (void)unused;
    atomic_store_explicit(&pointer, &counter, memory_order_release);
}

static void use(void *unused)
{
    (void)unused;
    counter += *atomic_load_explicit(&pointer, memory_order_acquire);
}

void kernel_late_pointer(void *unused)
{
    (void)unused;
    two(publish, use);
}

static void sleeper(void *unused)
{
    (void)unused;
    if (atomic_load_explicit(&x, memory_order_relaxed) == 0)
        machine_wait(&futex, 0, -1);
}

/* Sets x, but not the word that the sleeper sleeps on. */
static void waker(void *unused)
{
    (void)unused;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    machine_wake(&futex, 1);
}

void kernel_lost_wake(void *unused)
{
    (void)unused;
    two(sleeper, waker);
}

static void wait_for_x(void *unused)
{
    (void)unused;
    while (!atomic_load_explicit(&x, memory_order_relaxed))
        machine_pause(1);
}

void kernel_no_end(void *unused)
{
    (void)unused;
    two(wait_for_x, wait_for_x);
}

static void access_until_x(void *unused)
{
    (void)unused;
    while (!atomic_load_explicit(&x, memory_order_relaxed))
        atomic_fetch_add_explicit(&futex, 1, memory_order_relaxed);
}

static void set_x(void *unused)
{
    (void)unused;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
}

void kernel_busy(void *unused)
{
    (void)unused;
    two(access_until_x, set_x);
}

static void sleep_and_set_x(void *unused)
{
    machine_wait(&futex, 0, SLEEP_NS);
    set_x(unused);
}

void kernel_awaits_time(void *unused)
{
    (void)unused;
    two(wait_for_x, sleep_and_set_x);
}

static bool inside, answers;

static bool answer(uintptr_t pc, uintptr_t sp)
{
    (void)sp;
    kernel_result->sum += answers;
    answers = true;
    atomic_load_explicit(&x, memory_order_relaxed); /* others go on here */
    if (inside)
        hunt_interrupt_deliver(pc);
    answers = false;
    return false;
}

void kernel_interrupted(void *answers_inside)
{
    struct machine_thread thread;
    inside = *(bool *)answers_inside;
    kernel_result->sum = 0;
    machine_interrupt_init(answer, NULL);
    machine_thread_start(&thread, access_until_x, NULL, STACK, -1);
    for (int i = 0; i < INTERRUPTS; i++)
        machine_interrupt(&thread);
    set_x(NULL);
    machine_thread_join(&thread);
    machine_interrupt_init(NULL, NULL);
}

void kernel_no_point(void *unused)
{
    (void)unused;
    for (volatile bool ends = false; !ends;)
        continue;
}

void kernel_time(void *unused)
{
    (void)unused;
    int64_t began = machine_now();
    kernel_result->error = machine_wait(&futex, 0, SLEEP_NS);
    kernel_result->slept_ns = machine_now() - began;
}

/* The last block of three, of which one was freed. */
void kernel_memory(void *block_size)
{
    size_t size = *(size_t *)block_size;
    char *first = machine_alloc(size, 64), *second = machine_alloc(size, 64);
    kernel_result->sum = 0;
    for (size_t i = 0; i < size; i += size / BLOCK_LOOKS)
        kernel_result->sum += first[i] != 0;
    for (size_t i = 0; i < size; i += size / BLOCK_LOOKS)
        first[i] = second[i] = 1;
    machine_free(first);
    kernel_result->block = machine_alloc(size, 64);
}
