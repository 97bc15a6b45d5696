/* sim_kernels.c - see sim_kernels.h. */
#include "tests/sim/sim_kernels.h"

#include <stdatomic.h>

/* Inlined, so that it is no frame. */
static inline __attribute__((always_inline)) uint64_t load(const char *at)
{
    return *(const volatile uint64_t *)(const volatile void *)at;
}

uint64_t kernel_read(const char *start, size_t size, size_t stride, int passes)
{
    uint64_t sum = 0;
    for (int pass = 0; pass < passes; pass++)
        for (size_t at = 0; at < size; at += stride)
            sum += load(start + at);
    return sum;
}

void kernel_write(char *start, size_t size, size_t stride, int passes)
{
    for (int pass = 0; pass < passes; pass++)
        for (size_t at = 0; at < size; at += stride)
            *(volatile uint64_t *)(volatile void *)(start + at) = at;
}

uint64_t kernel_random(const char *start, uint64_t lines, int loads, uint64_t seed)
{
    uint64_t sum = 0;
    for (int i = 0; i < loads; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        sum += load(start + (seed >> 16) % lines * 64);
    }
    return sum;
}

void kernel_hand_over(_Atomic uint64_t *token, volatile uint64_t *counter, uint64_t me,
                      uint64_t players, uint64_t turns)
{
    for (uint64_t turn = 0; turn < turns; turn++) {
        uint64_t mine = turn * players + me;
        while (atomic_load_explicit(token, memory_order_acquire) != mine)
            continue;
        if (counter)
            *counter += 1;
        atomic_store_explicit(token, mine + 1, memory_order_release);
    }
}

static __attribute__((noinline)) uintptr_t deepest(int depth)
{
    uintptr_t end = depth > 0 ? deepest(depth - 1) : (uintptr_t)__builtin_frame_address(0);
    __asm__ volatile("" : "+r"(end)); /* no jump */
    return end;
}

size_t kernel_recurse(int depth)
{
    return (uintptr_t)__builtin_frame_address(0) - deepest(depth);
}

void kernel_add(_Atomic uint64_t *word, int n)
{
    for (int i = 0; i < n; i++)
        atomic_fetch_add_explicit(word, 1, memory_order_relaxed);
}

void kernel_add_lines(char *start, size_t size, int passes)
{
    for (int pass = 0; pass < passes; pass++)
        for (size_t at = 0; at < size; at += 64)
            atomic_fetch_add_explicit((_Atomic uint64_t *)(void *)(start + at), 1,
                                      memory_order_relaxed);
}

uint64_t kernel_toss(const uint8_t *tosses, uint64_t n)
{
    uint64_t heads = 0;
    for (uint64_t i = 0; i < n; i++)
        if (tosses[i]) {
            heads++;
            __asm__ volatile("" : "+r"(heads));
        }
    return heads;
}

uint64_t kernel_read_fenced(const char *start, size_t size)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < size; at += 64) {
        sum += load(start + at);
        atomic_thread_fence(memory_order_seq_cst);
    }
    return sum;
}

void kernel_publish(char *start, size_t size)
{
    for (size_t at = 0; at < size; at += 64)
        atomic_store_explicit((_Atomic uint64_t *)(void *)(start + at), at, memory_order_seq_cst);
}

uint64_t kernel_read_beside(const char *start, size_t size, const char *one, const char *other)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < size; at += 64) {
        sum += load(start + at);
        for (int i = 0; i < 8; i++)
            sum += load(one) + load(other);
    }
    return sum;
}

uint64_t kernel_read_adding(const char *start, size_t size, char *one, char *other)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < size; at += 64) {
        sum += load(start + at);
        atomic_fetch_add((_Atomic uint64_t *)(void *)one, 1);
        atomic_fetch_add((_Atomic uint64_t *)(void *)other, 1);
    }
    return sum;
}

uint64_t kernel_read_and_tell(const char *start, size_t size, volatile uint64_t *word)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < size; at += 64) {
        sum += load(start + at);
        *word = sum;
    }
    return sum;
}

const void *kernel_chase(const void *const *first, uint64_t n)
{
    const void *const *at = first;
    for (uint64_t i = 0; i < n; i++)
        at = *(const void *const volatile *)at;
    return at;
}

void kernel_nothing(void)
{
}
