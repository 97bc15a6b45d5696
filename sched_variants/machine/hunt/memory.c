/* memory.c - memory that is the same in each execution: as much of it, at the same addresses, with
 * the same contents.
 *
 * Addresses decide things: which lock is taken first, in which bucket a word is. So blocks come
 * from an arena at a fixed address, which is empty again when an execution begins, and zeroed
 * where it was used. Stacks have arenas of their own, which are not zeroed: nobody may read there
 * before writing. Guards of stacks stay in place as long as the mappings of executions are alike,
 * as they usually are.
 *
 * A freed block is overwritten, so that who uses it on finds out, and is the next of its size.
 */
#include "kernel.h"
#include "machine.h"
#include "sim/size_class.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BLOCKS_BASE ((uintptr_t)1 << 44)
#define STACKS_BASE (BLOCKS_BASE + ((uintptr_t)1 << 36))
#define THREADS_BASE (STACKS_BASE + ((uintptr_t)1 << 40))
#define BLOCKS_SIZE ((size_t)1 << 32)
#define STACKS_SIZE ((size_t)1 << 38)
#define THREADS_SIZE ((size_t)(HUNT_THREADS_MAX + 1) * THREAD_STACK)

enum { HEAD = 64, POISON = 0xdd, POISON_MOST = 512, DROP_FROM = 8 << 20, MAPPINGS = 64 };

/* A class for each size up to half of the arena, the largest block that is given out. */
enum { BLOCK_CLASSES = 4 + 4 * (31 - 6) };
_Static_assert(BLOCKS_SIZE / 2 == (size_t)1 << 31, "BLOCK_CLASSES are as many as there are");

/* Before each block, in the last words of a line. */
struct head {
    size_t size;
};
struct free_block {
    struct free_block *next;
};

static uintptr_t blocks_next, stacks_next, threads_next;
static struct free_block *free_blocks[BLOCK_CLASSES], *free_large;
static void *free_stacks[HUNT_THREADS_MAX];
static int free_stack_count;

/* The mappings of stacks in the last executions, in order. */
struct mapping {
    uintptr_t base;
    size_t count, size, guard;
};
static struct mapping mappings[MAPPINGS];
static int mapping_count, mappings_known;

static void area_map(uintptr_t base, size_t size)
{
    void *area = mmap((void *)base, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (area != (void *)base)
        machine_die("schedlab hunt: its memory cannot be mapped\n", 1);
    madvise(area, size, MADV_NOHUGEPAGE);
}

void memory_begin(void)
{
    size_t used = blocks_next - BLOCKS_BASE;
    if (!blocks_next) {
        area_map(BLOCKS_BASE, BLOCKS_SIZE);
        area_map(STACKS_BASE, STACKS_SIZE);
        area_map(THREADS_BASE, THREADS_SIZE);
    } else if (used > DROP_FROM) {
        madvise((void *)BLOCKS_BASE, used, MADV_DONTNEED);
    } else {
        memset((void *)BLOCKS_BASE, 0, used);
    }
    blocks_next = BLOCKS_BASE;
    stacks_next = STACKS_BASE;
    threads_next = THREADS_BASE;
    memset(free_blocks, 0, sizeof free_blocks);
    free_large = NULL;
    free_stack_count = 0;
    mapping_count = 0;
}

size_t memory_used(void)
{
    return blocks_next - BLOCKS_BASE;
}

static void *area_take(uintptr_t *next, uintptr_t end, size_t size, size_t align, size_t before)
{
    uintptr_t start = (*next + before + align - 1) & ~(uintptr_t)(align - 1);
    if (size > end - *next || start + size > end)
        return NULL;
    *next = start + size;
    return (void *)start;
}

static size_t block_size(const void *block)
{
    return ((const struct head *)block)[-1].size;
}

/* Between executions, for what outlives them: from the host. */
static bool is_of_host(const void *ptr)
{
    return (uintptr_t)ptr < BLOCKS_BASE || (uintptr_t)ptr >= BLOCKS_BASE + BLOCKS_SIZE;
}

void *machine_alloc(size_t size, size_t align)
{
    if (!hunt.self)
        return aligned_alloc(align, (size + align - 1) & ~(align - 1));
    if (size > BLOCKS_SIZE / 2)
        return NULL;
    int class = class_of(size);
    size = class_size(class);
    if (align <= HEAD && free_blocks[class]) {
        struct free_block *block = free_blocks[class];
        free_blocks[class] = block->next;
        return block;
    }
    void *block = area_take(&blocks_next, BLOCKS_BASE + BLOCKS_SIZE, size,
                            align < HEAD ? HEAD : align, sizeof(struct head));
    if (block)
        ((struct head *)block)[-1].size = size;
    return block;
}

/* A block is freed, and about to be written here. */
static void memory_leaves(const void *block, size_t size)
{
    buffer_empty();
    if (hunt_weak)
        weak_forget((uintptr_t)block, size);
}

void machine_free(void *ptr)
{
    if (!ptr)
        return;
    if (is_of_host(ptr)) {
        free(ptr);
        return;
    }
    size_t size = block_size(ptr);
    memory_leaves(ptr, size);
    struct free_block *block = ptr, **list = &free_blocks[class_of(size)];
    memset(ptr, POISON, size < POISON_MOST ? size : POISON_MOST);
    block->next = *list;
    *list = block;
}

/* The calls of workloads, which the Makefile renames. */
void *sim_malloc(size_t size);
void *sim_calloc(size_t count, size_t size);
void sim_free(void *ptr);
void *sim_realloc(void *ptr, size_t size);
void *sim_aligned_alloc(size_t align, size_t size);
int sim_posix_memalign(void **ptr, size_t align, size_t size);

void *sim_malloc(size_t size)
{
    return machine_alloc(size, HEAD);
}

void *sim_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *ptr = machine_alloc(bytes, HEAD);
    return ptr ? memset(ptr, 0, bytes) : NULL;
}

void sim_free(void *ptr)
{
    machine_free(ptr);
}

void *sim_realloc(void *ptr, size_t size)
{
    if (ptr && size <= block_size(ptr))
        return ptr;
    void *grown = machine_alloc(size, HEAD);
    if (grown && ptr) {
        memcpy(grown, ptr, block_size(ptr));
        machine_free(ptr);
    }
    return grown;
}

void *sim_aligned_alloc(size_t align, size_t size)
{
    return machine_alloc(size, align);
}

int sim_posix_memalign(void **ptr, size_t align, size_t size)
{
    *ptr = machine_alloc(size, align);
    return *ptr ? 0 : ENOMEM;
}

/* Slabs of one size that come and go: Gs. */
void *machine_block_map(size_t size)
{
    if (free_large) {
        void *block = free_large;
        free_large = free_large->next;
        return memset(block, 0, size);
    }
    return area_take(&blocks_next, BLOCKS_BASE + BLOCKS_SIZE, size, size, 0);
}

void machine_block_unmap(void *block, size_t size)
{
    struct free_block *free = block;
    memory_leaves(block, size);
    memset(block, POISON, size < POISON_MOST ? size : POISON_MOST);
    free->next = free_large;
    free_large = free;
}

size_t machine_page_size(void)
{
    return SIM_PAGE;
}

/* Stacks -------------------------------------------------------------------------------------- */

/* True if the last execution had this mapping in this place. Else all that it had from here on is
 * void. */
static bool mapping_is_known(const struct mapping *mapping)
{
    struct mapping *known = &mappings[mapping_count];
    bool same = mapping_count < mappings_known && known->base == mapping->base &&
                known->count == mapping->count && known->size == mapping->size &&
                known->guard == mapping->guard;
    if (!same)
        mappings_known = mapping_count;
    return same;
}

void *machine_stacks_map(size_t count, size_t size, size_t guard, size_t *guarded)
{
    void *base = area_take(&stacks_next, STACKS_BASE + STACKS_SIZE, count * size, SIM_PAGE, 0);
    const struct mapping mapping = {(uintptr_t)base, count, size, guard};
    if (!base || mapping_count == MAPPINGS)
        return NULL;
    *guarded = count;
    if (!mapping_is_known(&mapping)) {
        mprotect(base, count * size, PROT_READ | PROT_WRITE);
        for (size_t i = 0; i < count; i++)
            mprotect((char *)base + i * size, guard, PROT_NONE);
        mappings[mapping_count] = mapping;
        mappings_known = mapping_count + 1;
    }
    mapping_count++;
    return base;
}

void machine_stacks_unmap(void *base, size_t count, size_t size)
{
    (void)base;
    (void)count;
    (void)size;
}

/* Only warm stacks are read again before they are written. */
void machine_stacks_drop(void *base, size_t count, size_t size)
{
    (void)base;
    (void)count;
    (void)size;
}

bool memory_is_stack(uintptr_t address)
{
    return address >= STACKS_BASE && address < THREADS_BASE + THREADS_SIZE;
}

void *memory_stack(void)
{
    if (free_stack_count)
        return free_stacks[--free_stack_count];
    return area_take(&threads_next, THREADS_BASE + THREADS_SIZE, THREAD_STACK, SIM_PAGE, 0);
}

void memory_stack_free(void *stack)
{
    free_stacks[free_stack_count++] = stack;
}
