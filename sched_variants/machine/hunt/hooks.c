/* hooks.c - the calls of instrumented code: which accesses are points.
 *
 * A hook comes before the access: an atomic is made here, a plain load or store by the caller
 * afterwards. Nobody else runs between a hook's return and the access. All is sequentially
 * consistent, whatever the memory order of an atomic is, or as x86 has it (buffer.c), or as C11
 * does (weak.c).
 */
#include "kernel.h"
#include "machine.h"
#include "sim/hook_keep.h"
#include "sim/work.h"

#include <string.h>

uint8_t hunt_tag;
bool hunt_learns;
bool hunt_buffers;
uint8_t hunt_learnt[1 << SEEN_BITS];
uint64_t hunt_accesses;
int64_t hunt_blocks_left = INT64_MAX; /* before the first execution */

static uint8_t seen[1 << SEEN_BITS];
static uint8_t wrote[1 << SEEN_BITS]; /* while it learns: atomics that were written */

/* The state in which each execution begins: words that were learnt are shared. */
static uint8_t seen_first[1 << SEEN_BITS];

/* Places that changed since then; there may be more than have room. */
enum { CHANGED_MAX = 1 << 13 };
static uint16_t changed[CHANGED_MAX];
static size_t changed_count;
_Static_assert(SEEN_BITS <= 16, "a place fits");

static inline void note_change(size_t place)
{
    if (changed_count < CHANGED_MAX)
        changed[changed_count] = (uint16_t)place;
    changed_count++;
}

void seen_begin(void)
{
    if (changed_count > CHANGED_MAX) {
        memcpy(seen, seen_first, sizeof seen);
        memset(wrote, 0, sizeof wrote);
    }
    for (size_t i = 0; i < changed_count && changed_count <= CHANGED_MAX; i++) {
        seen[changed[i]] = seen_first[changed[i]];
        wrote[changed[i]] = 0;
    }
    changed_count = 0;
}

void seen_take_learnt(void)
{
    for (size_t i = 0; i < sizeof seen_first; i++)
        seen_first[i] = hunt_learnt[i] ? SEEN_SHARED : 0;
    changed_count = CHANGED_MAX + 1; /* all of them */
}

void seen_share(uintptr_t address)
{
    size_t place = seen_place(address);
    seen[place] = SEEN_SHARED;
    hunt_learnt[place] = 1;
    note_change(place);
}

/* To a word that others have accessed; size 0: of many bytes. */
static void access_buffered(uintptr_t address, size_t size, enum sim_access access)
{
    bool is_stack = memory_is_stack(address);
    if (is_stack)
        buffer_meets(address);
    if (access != SIM_WRITE || size == 0)
        return;
    if (is_stack)
        buffer_beside(address);
    else if (size <= BUFFER_BYTES && seen[seen_place(address)] == SEEN_SHARED)
        buffer_store(address, size);
    else
        buffer_empty();
}

/* The first access by another thread shares the word, if one of the two writes; who was first may
 * only have read, so it counts as a write of neither. */
static SLOW void access_shared(uintptr_t address, size_t size, enum sim_access access, uintptr_t pc)
{
    struct kept kept;
    kept_save(&kept);
    size_t place = seen_place(address);
    uint8_t *who = &seen[place];
    bool first = *who == 0;
    if (hunt_buffers && !first && *who < SEEN_READ)
        buffer_empty_of(*who - 1);
    if (first) {
        *who = hunt_tag;
        note_change(place);
    } else if (*who != SEEN_SHARED) {
        *who = access == SIM_WRITE ? SEEN_SHARED : SEEN_READ;
    }
    if (!first && hunt_learns)
        hunt_learnt[place] |= *who == SEEN_SHARED || wrote[place];
    if (!first && !(hunt_plan.explores && explore_passes(place, address, access)))
        hunt_point(address, access, pc);
    if (hunt_buffers && !first)
        access_buffered(address, size, access);
    if (hunt_buffers && access == SIM_WRITE && size == 0)
        buffer_empty();
    kept_restore(&kept);
}

static inline void access_by(uintptr_t address, size_t size, enum sim_access access, uintptr_t pc)
{
    uint8_t who = seen[seen_place(address)];
    hunt_accesses++;
    if (who == hunt_tag || !hunt_tag || (who == SEEN_READ && access == SIM_READ))
        return;
    access_shared(address, size, access, pc);
}

/* The first word of each line. */
static void range(const void *start, size_t size, enum sim_access access, uintptr_t pc)
{
    uintptr_t at = (uintptr_t)start, end = at + size;
    while (at < end) {
        access_by(at, 0, access, pc); /* not to be buffered */
        at = (at | (SIM_LINE - 1)) + 1;
    }
}

void sim_touch(const void *start, size_t size, bool write)
{
    range(start, size, write ? SIM_WRITE : SIM_READ, 0);
}

void machine_touch(const void *start, size_t size, bool write)
{
    range(start, size, write ? SIM_WRITE : SIM_READ, 0);
}

void machine_touch_stack(size_t size)
{
    (void)size;
}

void machine_blocks(uint32_t count)
{
    (void)count;
}

void machine_name(const void *start, size_t size, const char *name)
{
    (void)start;
    (void)size;
    (void)name;
}

/* Spin loops: others do something first. */

uint32_t machine_relax(const volatile void *word, uint32_t rounds)
{
    (void)word;
    hunt_rest(rounds, PC);
    return rounds;
}

void machine_pause(uint32_t rounds)
{
    hunt_rest(rounds, PC);
}

uint64_t machine_work(uint64_t state, uint32_t rounds)
{
    hunt_rest(rounds, PC);
    return work_after(state, rounds);
}

void machine_fence(_Atomic uint32_t *scratch)
{
    (void)scratch;
    memory_fence();
}

/* As weak.c has it. Only the order of the compilers' counts, not their other bits. */

enum { ORDER_BITS = 7 };

static SLOW void fence_weak(morder order)
{
    struct kept kept;
    kept_save(&kept);
    weak_fence(order & ORDER_BITS);
    kept_restore(&kept);
}

/* Blocks and fences --------------------------------------------------------------------------- */

static SLOW void too_many_blocks(void)
{
    hunt_fail(HUNT_ENDLESS, "a loop that touches no shared word has not ended\n");
}

void HOOK_BLOCK(void);
void HOOK_BLOCK(void)
{
    if (__builtin_expect(--hunt_blocks_left < 0, 0))
        too_many_blocks();
}

void __tsan_init(void);
void __tsan_init(void)
{
}

void HOOK(atomic_thread_fence)(morder order);
void HOOK(atomic_thread_fence)(morder order)
{
    if (order == ORDER_SEQ_CST && hunt_buffers)
        buffer_empty();
    if (hunt_weak)
        fence_weak(order);
}

/* Atomics ------------------------------------------------------------------------------------- */

/* An atomic that is written is shared as soon as another thread reads it, in whatever order: the
 * other order may end the execution. */
static inline void note_write(volatile void *address)
{
    if (__builtin_expect(!hunt_learns, 1))
        return;
    size_t place = seen_place((uintptr_t)address);
    if (!wrote[place])
        note_change(place);
    wrote[place] = 1;
}

static inline void rmw(volatile void *address, size_t size, morder order, uintptr_t pc)
{
    (void)order;
    note_write(address);
    access_by((uintptr_t)address, size, SIM_WRITE, pc);
    if (hunt_buffers)
        buffer_empty();
}

static SLOW uint64_t load_weak(uintptr_t address, size_t size, morder order)
{
    struct kept kept;
    kept_save(&kept);
    uint64_t value = weak_load(address, size, order & ORDER_BITS);
    kept_restore(&kept);
    return value;
}

static SLOW uint64_t store_weak(uintptr_t address, size_t size, uint64_t value, morder order)
{
    struct kept kept;
    kept_save(&kept);
    uint64_t held = weak_store(address, size, value, order & ORDER_BITS);
    kept_restore(&kept);
    return held;
}

static SLOW void update_weak(uintptr_t address, size_t size, morder order, bool writes)
{
    struct kept kept;
    kept_save(&kept);
    weak_update(address, size, order & ORDER_BITS, writes);
    kept_restore(&kept);
}

#define STORED(at, value, order)                                                                   \
    (__builtin_expect(hunt_weak, 0)                                                                \
         ? (__typeof__(value))store_weak((uintptr_t)at, sizeof *at, value, order)                  \
         : value)

#define UPDATES(at, order, writes)                                                                 \
    if (__builtin_expect(hunt_weak, 0))                                                            \
        update_weak((uintptr_t)at, sizeof *at, order, writes);

#define STORE_BY(at, order)                                                                        \
    note_write(at);                                                                                \
    access_by((uintptr_t)at, sizeof *at, SIM_WRITE, PC);                                           \
    if (order == ORDER_SEQ_CST && hunt_buffers)                                                    \
        buffer_empty();

#define LOAD(bits, type)                                                                           \
    type HOOK(atomic##bits##_load)(const volatile type *at, morder order);                         \
    type HOOK(atomic##bits##_load)(const volatile type *at, morder order)                          \
    {                                                                                              \
        access_by((uintptr_t)at, sizeof *at, SIM_READ, PC);                                        \
        if (__builtin_expect(hunt_weak, 0))                                                        \
            return (type)load_weak((uintptr_t)at, sizeof *at, order);                              \
        return *at;                                                                                \
    }

#include "sim/hook_table.h"
