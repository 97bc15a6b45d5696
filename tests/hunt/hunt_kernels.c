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

static void store_x_load_y(void *unused)
{
    (void)unused;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    kernel_result->read[0] = (int)atomic_load_explicit(&y, memory_order_relaxed);
}

static void store_y_load_x(void *unused)
{
    (void)unused;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    kernel_result->read[1] = (int)atomic_load_explicit(&x, memory_order_relaxed);
}

void kernel_store_buffer(void *unused)
{
    (void)unused;
    two(store_x_load_y, store_y_load_x);
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
