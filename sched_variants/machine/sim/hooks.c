/* hooks.c - what instrumented code calls: the compilers' ThreadSanitizer interface, and a call for
 * each basic block.
 *
 * Each hook first lets the access take its time, which may run other cores. Then the access is
 * made: an atomic here, a plain load or store by the caller after the hook. The host runs one
 * simulated thread at a time, so atomics need not be atomic for the host. Other cores see a
 * sequentially consistent order, whatever the memory order of an atomic is (a fence and an atomic
 * still take time).
 *   Source: gcc's and LLVM's tsan_interface_atomic.h, for the names.
 */
#include "cache.h"
#include "kernel.h"
#include "lockstep.h"
#include "machine.h"

#include <string.h>

/* Hooks that hook_calls.h leads to are named HOOK, and preserve what is promised there: this file
 * is compiled so that no function uses those registers (Makefile). Functions of other files do, so
 * where hooks call them they are SLOW: such a function saves those registers, and aligns the stack,
 * since who calls a hook need not. */
#if defined(HOOKS_KEEP)
#define HOOK(name) hook_##name
#define HOOK_BLOCK hook_block
#define SLOW __attribute__((noinline, cold, force_align_arg_pointer))
struct kept {
    uint64_t general[4];
    unsigned __int128 vector[16];
};
#define EACH_GENERAL(X) X(0, 8) X(1, 9) X(2, 10) X(3, 11)
#define EACH_VECTOR(X)                                                                             \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define SAVE(i, n) "movq %%r" #n ", 8*" #i "(%0)\n\t"
#define RESTORE(i, n) "movq 8*" #i "(%0), %%r" #n "\n\t"
#define SAVE_VECTOR(n) "movups %%xmm" #n ", 16*" #n "(%1)\n\t"
#define RESTORE_VECTOR(n) "movups 16*" #n "(%1), %%xmm" #n "\n\t"
static inline __attribute__((always_inline)) void kept_save(struct kept *kept)
{
    __asm__ volatile(EACH_GENERAL(SAVE) EACH_VECTOR(SAVE_VECTOR)
                     :
                     : "r"(kept->general), "r"(kept->vector)
                     : "memory");
}
static inline __attribute__((always_inline)) void kept_restore(const struct kept *kept)
{
    __asm__ volatile(EACH_GENERAL(RESTORE) EACH_VECTOR(RESTORE_VECTOR)
                     :
                     : "r"(kept->general), "r"(kept->vector)
                     : "memory");
}
#else
#define HOOK(name) __tsan_##name
#define HOOK_BLOCK __sanitizer_cov_trace_pc
#define SLOW __attribute__((noinline, cold))
struct kept {
    char nothing;
};
static inline void kept_save(struct kept *kept)
{
    (void)kept;
}
static inline void kept_restore(const struct kept *kept)
{
    (void)kept;
}
#endif

static SLOW void preempt(uintptr_t pc)
{
    struct kept kept;
    kept_save(&kept);
    sim_preempt(pc);
    kept_restore(&kept);
}

static inline void spend(int64_t ps, uintptr_t pc)
{
    *sim_clock += ps;
    if (__builtin_expect(*sim_clock > sim_horizon, 0))
        preempt(pc);
}

/* A miss that the core waits for; as miss_by(). */
static int64_t miss_alone(uintptr_t address, size_t size, enum sim_access access, uintptr_t pc)
{
    int64_t began_ps = *sim_clock, waited_ps = -cache_price[access];
    int64_t ps = cache_access_slow(sim_caches, address, size, access, pc);
    if (ps == CACHE_UNDER_WAY) {
        struct cache_way way = cache_way;
        spend(way.wait_ps, pc);
        waited_ps += way.wait_ps;
        ps = cache_access_again(sim_caches, address, size, access, pc, &way);
    }
    waited_ps += ps;
    if (waited_ps > 0) {
        uint64_t loaded = 0;
        if (access == SIM_READ && size == sizeof loaded)
            memcpy(&loaded, (void *)address, sizeof loaded);
        ahead_waited(&sim_current->ahead, began_ps, waited_ps, address, loaded);
    }
    return ps;
}

/* Makes the access; returns the time that is left to pay. Others have their turn while its line is
 * asked for. */
static SLOW int64_t miss_by(uintptr_t address, size_t size, enum sim_access access, uintptr_t pc)
{
    struct kept kept;
    kept_save(&kept);
    struct sim_ahead *ahead = &sim_current->ahead;
    int64_t ps = CACHE_UNDER_WAY;
    if (ahead_would_overlap(ahead, sim_model.window_ps, *sim_clock, address) &&
        address % SIM_LINE + size <= SIM_LINE) {
        uint64_t overlapped = sim_caches->count[CACHE_OVERLAPPED];
        ps = cache_access_beside(sim_caches, address, size, access, pc);
        if (sim_caches->count[CACHE_OVERLAPPED] != overlapped) /* else L1 had it after all */
            ahead_overlapped(ahead, address);
    }
    if (ps == CACHE_UNDER_WAY)
        ps = miss_alone(address, size, access, pc);
    kept_restore(&kept);
    return ps;
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

void machine_blocks(uint32_t count)
{
    spend(count * sim_model.block_ps, PC);
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

/* Two rounds are one round with another factor and term; so are 4, 8 and so on. */
static uint64_t state_after(uint64_t state, uint32_t rounds)
{
    uint64_t factor = MACHINE_WORK_FACTOR, term = MACHINE_WORK_TERM;
    for (; rounds > 0; rounds >>= 1) {
        if (rounds & 1)
            state = state * factor + term;
        term *= factor + 1;
        factor *= factor;
    }
    return state;
}

uint64_t machine_work(uint64_t state, uint32_t rounds)
{
    spend(rounds * sim_model.work_ps, PC);
    return state_after(state, rounds);
}

void machine_fence(_Atomic uint32_t *scratch)
{
    (void)scratch;
    ahead_close(&sim_current->ahead);
    spend(sim_model.fence_ps, PC);
}

/* Blocks -------------------------------------------------------------------------------------- */

/* Compilers report no call, but a call writes to the stack: its return address, and registers that
 * are kept there. Spawning and stealing differ in who touches whose stack. So a block that finds
 * another end of the stack than the last one did touches it. */
void HOOK_BLOCK(void);

/* Simulated code begins here, at a fixed address; all other code lies before it (Makefile). */
extern const char simulated_start[] __asm__("__start_simulated_text");

/* Returns the price of entering this block, which is that of a misprediction or 0. A function whose
 * last block ends with the hook jumps to the hook, and pc is then an address of its caller. All
 * callers of the harness count as one block, so that its addresses do not matter. */
static inline int64_t branch(uintptr_t pc, bool same_frame)
{
    struct sim_core *core = sim_current;
    uint32_t block = pc < (uintptr_t)simulated_start ? 0 : (uint32_t)pc;
    bool wrong = ahead_block(&core->ahead, block, same_frame);
    core->counted[SIM_BRANCH_MISSES] += wrong;
    core->ahead.opened_ps = wrong ? AHEAD_CLOSED : core->ahead.opened_ps;
    return wrong ? sim_model.branch_ps : 0;
}

void HOOK_BLOCK(void)
{
    uintptr_t end = (uintptr_t)__builtin_dwarf_cfa();
    bool same_frame = end == sim_current->stack_end;
    if (__builtin_expect(!same_frame, 0)) {
        sim_current->stack_end = end;
        access_by(end, sizeof(void *), SIM_WRITE, PC);
    }
    int64_t ps = sim_model.block_ps;
    if (sim_model.branch_ps)
        ps += branch(PC, same_frame);
    spend(ps, PC);
}

void __tsan_init(void);
void __tsan_init(void)
{
}

/* Plain loads and stores ---------------------------------------------------------------------- */

#define ACCESS(name, size, access)                                                                 \
    void HOOK(name)(const void *address);                                                          \
    void HOOK(name)(const void *address)                                                           \
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
    void HOOK(read_write##size)(const void *address);                                              \
    void HOOK(read_write##size)(const void *address)                                               \
    {                                                                                              \
        access_by((uintptr_t)address, size, SIM_READ, PC);                                         \
        access_by((uintptr_t)address, size, SIM_WRITE, PC);                                        \
    }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void HOOK(read_range)(const void *start, size_t size);
void HOOK(read_range)(const void *start, size_t size)
{
    range(start, size, SIM_READ, PC);
}

void HOOK(write_range)(const void *start, size_t size);
void HOOK(write_range)(const void *start, size_t size)
{
    range(start, size, SIM_WRITE, PC);
}

/* Atomics ------------------------------------------------------------------------------------- */

typedef int morder;
enum { ORDER_SEQ_CST = 5 };

/* Nothing before or after it is under way while it waits. If L1 has the line after all, the core
 * has not waited. */
static inline void rmw(volatile void *address, size_t size, uintptr_t pc)
{
    spend(sim_model.atomic_ps, pc);
    struct cache_slot *slot = cache_ready(sim_caches, (uintptr_t)address, size, SIM_WRITE);
    if (slot) {
        spend(cache_hit(sim_caches, slot, (uintptr_t)address, size, SIM_WRITE), pc);
        return;
    }
    struct sim_ahead *ahead = &sim_current->ahead;
    int64_t opened_ps = ahead->opened_ps;
    ahead_close(ahead);
    access_slow((uintptr_t)address, size, SIM_WRITE, pc);
    ahead->opened_ps = ahead->opened_ps == AHEAD_CLOSED ? opened_ps : AHEAD_CLOSED;
}

#define FETCH(bits, type, name, expression)                                                        \
    type HOOK(atomic##bits##_##name)(volatile type * at, type value, morder order);                \
    type HOOK(atomic##bits##_##name)(volatile type * at, type value, morder order)                 \
    {                                                                                              \
        (void)order;                                                                               \
        rmw(at, sizeof *at, PC);                                                                   \
        type old = *at;                                                                            \
        *at = (type)(expression);                                                                  \
        return old;                                                                                \
    }
#define COMPARE(bits, type, name)                                                                  \
    int HOOK(atomic##bits##_##name)(volatile type * at, type * expected, type value, morder order, \
                                    morder failed);                                                \
    int HOOK(atomic##bits##_##name)(volatile type * at, type * expected, type value, morder order, \
                                    morder failed)                                                 \
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
/* A load that hits gives what the line holds now. While its time passes another core may write, and
 * then the core has lost the line. A load that misses gives what the line holds at the end. */
#define ATOMICS(bits, type)                                                                        \
    type HOOK(atomic##bits##_load)(const volatile type *at, morder order);                         \
    type HOOK(atomic##bits##_load)(const volatile type *at, morder order)                          \
    {                                                                                              \
        (void)order;                                                                               \
        struct cache_slot *slot = cache_ready(sim_caches, (uintptr_t)at, sizeof *at, SIM_READ);    \
        int64_t ps = slot ? cache_hit(sim_caches, slot, (uintptr_t)at, sizeof *at, SIM_READ)       \
                          : miss_by((uintptr_t)at, sizeof *at, SIM_READ, PC);                      \
        type hit = *at;                                                                            \
        spend(ps, PC);                                                                             \
        return ps > cache_price[SIM_READ] ? *at : hit;                                             \
    }                                                                                              \
    void HOOK(atomic##bits##_store)(volatile type * at, type value, morder order);                 \
    void HOOK(atomic##bits##_store)(volatile type * at, type value, morder order)                  \
    {                                                                                              \
        if (order == ORDER_SEQ_CST) /* on x86 an exchange */                                       \
            rmw(at, sizeof *at, PC);                                                               \
        else                                                                                       \
            access_by((uintptr_t)at, sizeof *at, SIM_WRITE, PC);                                   \
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
    type HOOK(atomic##bits##_compare_exchange_val)(volatile type * at, type expected, type value,  \
                                                   morder order, morder failed);                   \
    type HOOK(atomic##bits##_compare_exchange_val)(volatile type * at, type expected, type value,  \
                                                   morder order, morder failed)                    \
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

void HOOK(atomic_thread_fence)(morder order);
void HOOK(atomic_thread_fence)(morder order)
{
    if (order != ORDER_SEQ_CST)
        return;
    ahead_close(&sim_current->ahead);
    spend(sim_model.fence_ps, PC);
}

void HOOK(atomic_signal_fence)(morder order);
void HOOK(atomic_signal_fence)(morder order)
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
