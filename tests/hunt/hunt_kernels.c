/* hunt_kernels.c - see hunt_kernels.h. */
#include "tests/hunt/hunt_kernels.h"

#include "machine.h"

#include <stddef.h>

enum { STACK = 64 << 10, BLOCK = 100 };

static uint64_t counter;
static _Atomic uint32_t lock, x, y, word;
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

#define LOAD(word) atomic_load_explicit(&(word), memory_order_relaxed)
#define STORE(word, value) atomic_store_explicit(&(word), value, memory_order_relaxed)
static _Atomic uint32_t scratch;
static enum litmus shape;

static void litmus_first(void *unused)
{
    uint32_t *read = kernel_result->read;
    (void)unused;
    switch (shape) {
    case LITMUS_SB:
    case LITMUS_SB_FENCED:
        STORE(x, 1);
        if (shape == LITMUS_SB_FENCED)
            machine_fence(&scratch);
        read[0] = LOAD(y);
        break;
    case LITMUS_MP:
        STORE(x, 1);
        STORE(y, 1);
        break;
    case LITMUS_LB:
        read[0] = LOAD(x);
        STORE(y, 1);
        break;
    case LITMUS_2_2W:
        STORE(x, 1);
        STORE(y, 2);
        break;
    default:
        STORE(x, 1);
    }
}

static void litmus_second(void *unused)
{
    uint32_t *read = kernel_result->read;
    (void)unused;
    switch (shape) {
    case LITMUS_SB:
    case LITMUS_SB_FENCED:
        STORE(y, 1);
        if (shape == LITMUS_SB_FENCED)
            machine_fence(&scratch);
        read[1] = LOAD(x);
        break;
    case LITMUS_MP:
        read[0] = LOAD(y);
        read[1] = LOAD(x);
        break;
    case LITMUS_LB:
        read[1] = LOAD(y);
        STORE(x, 1);
        break;
    case LITMUS_2_2W:
        STORE(y, 1);
        STORE(x, 2);
        break;
    default:
        STORE(y, 1);
    }
}

static void read_x_y(void *unused)
{
    (void)unused;
    kernel_result->read[0] = LOAD(x);
    kernel_result->read[1] = LOAD(y);
}

static void read_y_x(void *unused)
{
    (void)unused;
    kernel_result->read[2] = LOAD(y);
    kernel_result->read[3] = LOAD(x);
}

static void litmus_all(void)
{
    struct machine_thread threads[2];
    if (shape != LITMUS_IRIW) {
        two(litmus_first, litmus_second);
        return;
    }
    machine_thread_start(&threads[0], read_x_y, NULL, STACK, -1);
    machine_thread_start(&threads[1], read_y_x, NULL, STACK, -1);
    two(litmus_first, litmus_second);
    machine_thread_join(&threads[0]);
    machine_thread_join(&threads[1]);
}

void kernel_litmus(void *given)
{
    const uint32_t *r = kernel_result->read;
    shape = *(enum litmus *)given;
    litmus_all();
    bool weak[LITMUSES] = {
        [LITMUS_SB] = !r[0] && !r[1],
        [LITMUS_SB_FENCED] = !r[0] && !r[1],
        [LITMUS_MP] = r[0] && !r[1],
        [LITMUS_LB] = r[0] && r[1],
        [LITMUS_2_2W] = LOAD(x) == 1 && LOAD(y) == 1,
        [LITMUS_IRIW] = r[0] && !r[1] && r[2] && !r[3],
    };
    kernel_result->weak = weak[shape];
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
        machine_wait(&word, 0, -1);
}

/* Sets x, but not the word that the sleeper sleeps on. */
static void waker(void *unused)
{
    (void)unused;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    machine_wake(&word, 1);
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
    kernel_result->error = machine_wait(&word, 0, INT64_C(5000000));
    kernel_result->slept_ns = machine_now() - began;
}

/* The last block of three, of which one was freed. */
void kernel_memory(void *unused)
{
    (void)unused;
    char *first = machine_alloc(BLOCK, 64), *second = machine_alloc(BLOCK, 64);
    kernel_result->sum = 0;
    for (int i = 0; i < BLOCK; i++)
        kernel_result->sum += first[i] != 0;
    for (int i = 0; i < BLOCK; i++)
        first[i] = second[i] = 1;
    machine_free(first);
    kernel_result->block = machine_alloc(BLOCK, 64);
}
