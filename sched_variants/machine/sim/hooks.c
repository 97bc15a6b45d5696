/* hooks.c - what instrumented code calls: the compilers' ThreadSanitizer interface, and a call for
 * each basic block.
 *
 * Each hook first lets the access take its time, which may run other cores, and then does what it
 * has to: plain loads and stores are done by the caller after the hook, atomics here. The host runs
 * one simulated thread at a time, so they need not be atomic for the host; what other cores can see
 * is sequentially consistent, whatever the memory order (a fence and an atomic still take time).
 *   Source: gcc's and LLVM's tsan_interface_atomic.h, for the names.
 */
#include "cache.h"
#include "internal.h"
#include "lockstep.h"
#include "machine.h"

#include <string.h>

static inline void spend(int64_t ps, uintptr_t pc)
{
    *sim_clock += ps;
    if (__builtin_expect(*sim_clock > sim_horizon, 0))
        sim_preempt(pc);
}

/* What is left to pay once the access is made; others have their turn while its line is asked for.
 */
static __attribute__((noinline)) int64_t miss_by(uintptr_t address, size_t size,
                                                 enum sim_access access, uintptr_t pc)
{
    int64_t ps = cache_access_slow(sim_caches, address, size, access, pc);
    if (ps != CACHE_UNDER_WAY)
        return ps;
    struct cache_way way = cache_way;
    spend(way.wait_ps, pc);
    return cache_access_again(sim_caches, address, size, access, pc, &way);
}

static __attribute__((noinline)) void access_slow(uintptr_t address, size_t size,
                                                  enum sim_access access, uintptr_t pc)
{
    spend(miss_by(address, size, access, pc), pc);
}

/* Calls last, if at all, so that what ends with it needs no frame. */
static inline void access_by(uintptr_t address, size_t size, enum sim_access access, uintptr_t pc)
{
    struct cache_slot *slot = cache_ready(sim_caches, address, size, access);
    if (slot)
        spend(cache_hit(sim_caches, slot, address, size, access), pc);
    else
        access_slow(address, size, access, pc);
}

#define PC ((uintptr_t)__builtin_return_address(0))

/* Ranges, also of memory that only the kernel reads or writes. */
static void range(const void *start, size_t size, enum sim_access access, uintptr_t pc)
{
    uintptr_t at = (uintptr_t)start, end = at + size;
    while (at < end) {
        uintptr_t line_end = (at | (SIM_LINE - 1)) + 1;
        size_t part = (line_end < end ? line_end : end) - at;
        access_by(at, part, access, pc);
        at += part;
    }
}

void sim_touch(const void *start, size_t size, bool write)
{
    range(start, size, write ? SIM_WRITE : SIM_READ, PC);
}

void machine_touch(const void *start, size_t size, bool write)
{
    range(start, size, write ? SIM_WRITE : SIM_READ, PC);
}

void machine_touch_stack(size_t size)
{
    const char *end = (const char *)__builtin_frame_address(0) + 2 * sizeof(void *);
    range(end - size, size, SIM_WRITE, PC);
}

void machine_name(const void *start, size_t size, const char *name)
{
    cache_name(start, size, cache_name_id(name));
}

uint32_t machine_relax(const volatile void *word, uint32_t rounds)
{
    uint32_t stood = rounds > 1 && !sim_is_lockstep() ? sim_spin((uintptr_t)word, rounds) : 0;
    if (stood)
        return stood;
    machine_pause(1);
    return 1;
}

void machine_pause(uint32_t rounds)
{
    sim_note_spin(rounds * sim_model.relax_ps);
    sim_turn_wait();
    spend(rounds * sim_model.relax_ps, PC);
}

void machine_work(uint32_t rounds)
{
    spend(rounds * sim_model.work_ps, PC);
}

void machine_fence(_Atomic uint32_t *scratch)
{
    (void)scratch;
    spend(sim_model.fence_ps, PC);
}

/* Blocks and functions ------------------------------------------------------------------------ */

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    spend(sim_model.block_ps, PC);
}

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller);
/* A call writes to the stack: its return address, and registers that are kept there. Compilers do
 * not report that, and who touches whose stack is what spawning and stealing differ in. */
void __tsan_func_entry(void *caller)
{
    (void)caller;
    access_by((uintptr_t)__builtin_dwarf_cfa(), sizeof(void *), SIM_WRITE, PC);
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

/* Plain loads and stores ---------------------------------------------------------------------- */

#define ACCESS(name, size, access)                                                                 \
    void __tsan_##name(const void *address);                                                       \
    void __tsan_##name(const void *address)                                                        \
    {                                                                                              \
        access_by((uintptr_t)address, size, access, PC);                                           \
    }
#define ACCESSES(size)                                                                             \
    ACCESS(read##size, size, SIM_READ)                                                             \
    ACCESS(write##size, size, SIM_WRITE)                                                           \
    ACCESS(volatile_read##size, size, SIM_READ)                                                    \
    ACCESS(volatile_write##size, size, SIM_WRITE)                                                  \
    ACCESS(unaligned_read##size, size, SIM_READ)                                                   \
    ACCESS(unaligned_write##size, size, SIM_WRITE)                                                 \
    ACCESS(unaligned_volatile_read##size, size, SIM_READ)                                          \
    ACCESS(unaligned_volatile_write##size, size, SIM_WRITE)                                        \
    void __tsan_read_write##size(const void *address);                                             \
    void __tsan_read_write##size(const void *address)                                              \
    {                                                                                              \
        access_by((uintptr_t)address, size, SIM_READ, PC);                                         \
        access_by((uintptr_t)address, size, SIM_WRITE, PC);                                        \
    }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_read_range(const void *start, size_t size);
void __tsan_read_range(const void *start, size_t size)
{
    range(start, size, SIM_READ, PC);
}

void __tsan_write_range(const void *start, size_t size);
void __tsan_write_range(const void *start, size_t size)
{
    range(start, size, SIM_WRITE, PC);
}

/* Atomics ------------------------------------------------------------------------------------- */

typedef int morder;
enum { ORDER_SEQ_CST = 5 };

/* On x86 a sequentially consistent store is an exchange. */
static inline void store_order(morder order, uintptr_t pc)
{
    if (order == ORDER_SEQ_CST)
        spend(sim_model.atomic_ps, pc);
}

static inline void rmw(volatile void *address, size_t size, uintptr_t pc)
{
    spend(sim_model.atomic_ps, pc);
    access_by((uintptr_t)address, size, SIM_WRITE, pc);
}

#define FETCH(bits, type, name, expression)                                                        \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, morder order);                \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, morder order)                 \
    {                                                                                              \
        (void)order;                                                                               \
        rmw(at, sizeof *at, PC);                                                                   \
        type old = *at;                                                                            \
        *at = (type)(expression);                                                                  \
        return old;                                                                                \
    }
#define COMPARE(bits, type, name)                                                                  \
    int __tsan_atomic##bits##_##name(volatile type *at, type *expected, type value, morder order,  \
                                     morder failed);                                               \
    int __tsan_atomic##bits##_##name(volatile type *at, type *expected, type value, morder order,  \
                                     morder failed)                                                \
    {                                                                                              \
        (void)order;                                                                               \
        (void)failed;                                                                              \
        rmw(at, sizeof *at, PC);                                                                   \
        if (*at == *expected) {                                                                    \
            *at = value;                                                                           \
            return 1;                                                                              \
        }                                                                                          \
        *expected = *at;                                                                           \
        return 0;                                                                                  \
    }
/* A load that hits gives what the line holds now: while its time passes another core may write, and
 * then it has lost the line. What is fetched is there at the end. */
#define ATOMICS(bits, type)                                                                        \
    type __tsan_atomic##bits##_load(const volatile type *at, morder order);                        \
    type __tsan_atomic##bits##_load(const volatile type *at, morder order)                         \
    {                                                                                              \
        (void)order;                                                                               \
        struct cache_slot *slot = cache_ready(sim_caches, (uintptr_t)at, sizeof *at, SIM_READ);    \
        int64_t ps = slot ? cache_hit(sim_caches, slot, (uintptr_t)at, sizeof *at, SIM_READ)       \
                          : miss_by((uintptr_t)at, sizeof *at, SIM_READ, PC);                      \
        type hit = *at;                                                                            \
        spend(ps, PC);                                                                             \
        return ps > cache_price[SIM_READ] ? *at : hit;                                             \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *at, type value, morder order);                 \
    void __tsan_atomic##bits##_store(volatile type *at, type value, morder order)                  \
    {                                                                                              \
        store_order(order, PC);                                                                    \
        access_by((uintptr_t)at, sizeof *at, SIM_WRITE, PC);                                       \
        *at = value;                                                                               \
    }                                                                                              \
    FETCH(bits, type, exchange, value)                                                             \
    FETCH(bits, type, fetch_add, old + value)                                                      \
    FETCH(bits, type, fetch_sub, old - value)                                                      \
    FETCH(bits, type, fetch_and, old &value)                                                       \
    FETCH(bits, type, fetch_or, old | value)                                                       \
    FETCH(bits, type, fetch_xor, old ^ value)                                                      \
    FETCH(bits, type, fetch_nand, ~(old & value))                                                  \
    COMPARE(bits, type, compare_exchange_strong)                                                   \
    COMPARE(bits, type, compare_exchange_weak)                                                     \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected, type value,  \
                                                    morder order, morder failed);                  \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected, type value,  \
                                                    morder order, morder failed)                   \
    {                                                                                              \
        (void)order;                                                                               \
        (void)failed;                                                                              \
        rmw(at, sizeof *at, PC);                                                                   \
        type old = *at;                                                                            \
        if (old == expected)                                                                       \
            *at = value;                                                                           \
        return old;                                                                                \
    }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
ATOMICS(128, unsigned __int128)

void __tsan_atomic_thread_fence(morder order);
void __tsan_atomic_thread_fence(morder order)
{
    if (order == ORDER_SEQ_CST)
        spend(sim_model.fence_ps, PC);
}

void __tsan_atomic_signal_fence(morder order);
void __tsan_atomic_signal_fence(morder order)
{
    (void)order;
}

/* The C library's functions that touch memory ------------------------------------------------- */

void *sim_memcpy(void *to, const void *from, size_t size);
void *sim_memcpy(void *to, const void *from, size_t size)
{
    range(from, size, SIM_READ, PC);
    range(to, size, SIM_WRITE, PC);
    return memcpy(to, from, size);
}

void *sim_memmove(void *to, const void *from, size_t size);
void *sim_memmove(void *to, const void *from, size_t size)
{
    range(from, size, SIM_READ, PC);
    range(to, size, SIM_WRITE, PC);
    return memmove(to, from, size);
}

void *sim_memset(void *to, int byte, size_t size);
void *sim_memset(void *to, int byte, size_t size)
{
    range(to, size, SIM_WRITE, PC);
    return memset(to, byte, size);
}

int sim_memcmp(const void *a, const void *b, size_t size);
int sim_memcmp(const void *a, const void *b, size_t size)
{
    range(a, size, SIM_READ, PC);
    range(b, size, SIM_READ, PC);
    return memcmp(a, b, size);
}
