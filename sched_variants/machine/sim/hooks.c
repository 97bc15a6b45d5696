/* hooks.c - what instrumented code calls: the compilers' ThreadSanitizer interface, and a call for
 * each basic block.
 *
 * Each hook first lets the access take its time, which may run other cores. Then the access is
 * made: an atomic here, a plain load or store by the caller after the hook. The host runs one
 * simulated thread at a time, so atomics need not be atomic for the host. Other cores see a
 * sequentially consistent order, whatever the memory order of an atomic is (a fence and an atomic
 * still take time).
 */
#include "cache.h"
#include "hook_keep.h"
#include "kernel.h"
#include "lockstep.h"
#include "machine.h"
#include "work.h"

#include <string.h>

static SLOW void preempt(uintptr_t pc)
{
    struct kept kept;
    kept_save(&kept);
    sim_preempt(pc);
    kept_restore(&kept);
}

/* A macro, since pc is loaded only if others have their turn. ps first: it may change sim_clock. */
#define spend(ps, pc)                                                                              \
    do {                                                                                           \
        int64_t spent_ps = (ps);                                                                   \
        *sim_clock += spent_ps;                                                                    \
        if (__builtin_expect(*sim_clock > sim_horizon, 0))                                         \
            preempt(pc);                                                                           \
    } while (0)

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

uint64_t machine_work(uint64_t state, uint32_t rounds)
{
    spend(rounds * sim_model.work_ps, PC);
    return work_after(state, rounds);
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

/* The price of a block that was not foreseen. All callers of the harness count as one block, so
 * that its addresses do not matter. */
static int64_t block_price(struct sim_core *core, bool same_frame, uintptr_t pc)
{
    uint32_t block = pc < (uintptr_t)simulated_start ? 0 : (uint32_t)pc;
    if (!sim_model.branch_ps || !ahead_block(&core->ahead, block) || !same_frame)
        return sim_model.block_ps;
    core->counted[SIM_BRANCH_MISSES]++;
    ahead_close(&core->ahead);
    return sim_model.block_ps + sim_model.branch_ps;
}

static __attribute__((noinline)) void block_slow(int64_t ps, bool same_frame, uintptr_t pc)
{
    ps += block_price(sim_current, same_frame, pc);
    spend(ps, pc);
}

/* Takes the time of entering this block, with that of a misprediction, and ps. */
static inline void block_enter(int64_t ps, bool same_frame, uintptr_t end, uintptr_t pc)
{
    struct sim_core *core = sim_current;
    if (__builtin_expect(pc >= (uintptr_t)simulated_start, 1) &&
        ahead_block_is_foreseen(&core->ahead, (uint32_t)pc))
        spend(ps + sim_model.block_ps, PC_AT(end, pc));
    else
        block_slow(ps, same_frame, PC_AT(end, pc));
}

/* The second half of block_elsewhere(), a function of its own so that neither needs more registers
 * than a hook may use without saving them. */
static __attribute__((noinline)) void block_pay(int64_t ps, uintptr_t end, uintptr_t pc)
{
    block_enter(ps, false, end, PC_AT(end, pc));
}

static __attribute__((noinline)) void block_after_access(uintptr_t end, uintptr_t pc)
{
    access_by(end, sizeof(void *), SIM_WRITE, pc);
    block_pay(0, end, pc);
}

/* A block of another frame than the last one's. One addition to the clock is enough if nobody has
 * a turn between the access and the block. */
static __attribute__((noinline)) void block_elsewhere(uintptr_t end, uintptr_t pc)
{
    struct cache_slot *slot = cache_ready(sim_caches, end, sizeof(void *), SIM_WRITE);
    if (__builtin_expect(slot && *sim_clock + cache_price[SIM_WRITE] <= sim_horizon, 1))
        block_pay(cache_hit(sim_caches, slot, end, sizeof(void *), SIM_WRITE), end, pc);
    else
        block_after_access(end, PC_AT(end, pc));
}

/* A function whose last block ends with the hook jumps to the hook, and PC is then an address of
 * its caller. */
void HOOK_BLOCK(void)
{
    uintptr_t end = (uintptr_t)__builtin_dwarf_cfa();
    if (end == sim_current->stack_end) {
        block_enter(0, true, end, PC);
    } else {
        sim_current->stack_end = end;
        block_elsewhere(end, PC);
    }
}

void __tsan_init(void);
void __tsan_init(void)
{
}

/* Atomics ------------------------------------------------------------------------------------- */

/* Nothing before or after it is under way while it waits. If L1 has the line after all, the core
 * has not waited. */
static inline void rmw(volatile void *address, size_t size, morder order, uintptr_t pc)
{
    (void)order;
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

/* A sequentially consistent one is an exchange on x86. */
#define UPDATES(at, order, writes)
#define STORED(at, value, order) value
#define STORE_BY(at, order)                                                                        \
    if (order == ORDER_SEQ_CST)                                                                    \
        rmw(at, sizeof *at, order, PC);                                                            \
    else                                                                                           \
        access_by((uintptr_t)at, sizeof *at, SIM_WRITE, PC);

void HOOK(atomic_thread_fence)(morder order);
void HOOK(atomic_thread_fence)(morder order)
{
    if (order != ORDER_SEQ_CST)
        return;
    ahead_close(&sim_current->ahead);
    spend(sim_model.fence_ps, PC);
}

/* A load that hits gives what the line holds now. While its time passes another core may write, and
 * then the core has lost the line. A load that misses gives what the line holds at the end. */
#define LOAD(bits, type)                                                                           \
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
    }

#include "hook_table.h"
