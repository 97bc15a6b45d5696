/* memory.c - the arena of the simulated machine.
 *
 * Addresses decide things: which lock is taken first, which bucket a word falls into, which lines
 * share a set. So all memory that instrumented code may touch lies at the same addresses in every
 * run, on every host. The program's own data do, because it is linked at fixed addresses. So does
 * this arena: it begins where no kernel puts anything by itself.
 *
 * malloc() of instrumented code comes here too. A block lies in a chunk of blocks of one size. A
 * freed block goes to the list of the core that freed it and is the next of its size there, as with
 * an allocator that has a cache per thread. The allocator's own data are outside the simulated
 * memory: it is the same for all variants, and their use of memory is what is measured.
 */
#include "internal.h"
#include "machine.h"
#include "size_class.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_BASE ((uintptr_t)1 << 44)
#define ARENA_SIZE ((size_t)1 << 42)

enum {
    CHUNK_SHIFT = 16, /* of blocks of one size */
    CHUNK = 1 << CHUNK_SHIFT,
    SMALL_MAX = CHUNK / 2,
    EXTENTS = 64, /* unmapped ranges are kept by the logarithm of their size */
    MALLOC_ALIGN = 16,
};

static uintptr_t arena_next = ARENA_BASE;

struct free_range {
    struct free_range *next;
    uintptr_t start;
    size_t size;
};
static struct free_range *free_ranges[EXTENTS];
static struct free_range *unused_ranges;

/* The use of each chunk of the arena, by (address - ARENA_BASE) >> CHUNK_SHIFT: 0 pages; a class +
 * 1; a negative number: a large block of so many pages begins here. */
static int32_t *chunk_use;

struct free_block {
    struct free_block *next;
};
static struct free_block *free_blocks[SIM_CORES_MAX][CLASSES];
static uintptr_t fresh[CLASSES], fresh_end[CLASSES];

/* Pages --------------------------------------------------------------------------------------- */

/* A range that was unmapped before, of this very size. */
static uintptr_t range_take(size_t size, size_t align)
{
    for (struct free_range **at = &free_ranges[size_log(size)]; *at; at = &(*at)->next) {
        struct free_range *range = *at;
        if (range->size != size || range->start & (align - 1))
            continue;
        *at = range->next;
        range->next = unused_ranges;
        unused_ranges = range;
        return range->start;
    }
    return 0;
}

void *sim_pages_map(size_t size, size_t align)
{
    size = (size + SIM_PAGE - 1) & ~(size_t)(SIM_PAGE - 1);
    if (align < CHUNK)
        align = CHUNK;
    uintptr_t start = range_take(size, align);
    if (!start) {
        start = (arena_next + align - 1) & ~(uintptr_t)(align - 1);
        if (size > ARENA_SIZE || start + size > ARENA_BASE + ARENA_SIZE)
            return NULL;
        arena_next = start + size;
    }
    void *pages = mmap((void *)start, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    return pages == (void *)start ? pages : NULL;
}

void sim_pages_unmap(void *pages, size_t size)
{
    size = (size + SIM_PAGE - 1) & ~(size_t)(SIM_PAGE - 1);
    munmap(pages, size);
    struct free_range *range = unused_ranges;
    if (range)
        unused_ranges = range->next;
    else
        range = sim_host_alloc(sizeof *range);
    *range = (struct free_range){free_ranges[size_log(size)], (uintptr_t)pages, size};
    free_ranges[size_log(size)] = range;
}

/* Blocks -------------------------------------------------------------------------------------- */

static int32_t *use_of(uintptr_t address)
{
    return &chunk_use[(address - ARENA_BASE) >> CHUNK_SHIFT];
}

static bool uses_ready(void)
{
    size_t size = (ARENA_SIZE >> CHUNK_SHIFT) * sizeof *chunk_use;
    if (!chunk_use) {
        chunk_use = mmap(NULL, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (chunk_use == MAP_FAILED)
            chunk_use = NULL;
    }
    return chunk_use != NULL;
}

static void *large_alloc(size_t size, size_t align)
{
    void *pages = sim_pages_map(size, align);
    if (pages)
        *use_of((uintptr_t)pages) = -(int32_t)((size + SIM_PAGE - 1) / SIM_PAGE);
    return pages;
}

static void *small_alloc(int class)
{
    struct free_block **list = &free_blocks[sim_core_index()][class], *block = *list;
    if (block) {
        *list = block->next;
        return block;
    }
    size_t size = class_size(class);
    if (fresh[class] + size > fresh_end[class]) {
        void *chunk = sim_pages_map(CHUNK, CHUNK);
        if (!chunk)
            return NULL;
        *use_of((uintptr_t)chunk) = class + 1;
        fresh[class] = (uintptr_t)chunk;
        fresh_end[class] = fresh[class] + CHUNK;
    }
    block = (void *)fresh[class];
    fresh[class] += size;
    return block;
}

/* A power of two is aligned to itself, since chunks are aligned. */
static size_t size_for(size_t size, size_t align)
{
    if (align <= MALLOC_ALIGN)
        return size;
    size_t power = align;
    while (power < size)
        power *= 2;
    return power;
}

void *machine_alloc(size_t size, size_t align)
{
    if (!uses_ready() || size > ARENA_SIZE)
        return NULL;
    size = size_for(size, align);
    void *ptr = size > SMALL_MAX ? large_alloc(size, align) : small_alloc(class_of(size));
    if (ptr)
        machine_name(ptr, size, "runtime");
    return ptr;
}

void machine_free(void *ptr)
{
    if (!ptr)
        return;
    int32_t use = *use_of((uintptr_t)ptr);
    if (use <= 0) {
        *use_of((uintptr_t)ptr) = 0;
        sim_pages_unmap(ptr, (size_t)-use * SIM_PAGE);
        return;
    }
    struct free_block **list = &free_blocks[sim_core_index()][use - 1], *block = ptr;
    block->next = *list;
    *list = block;
}

static size_t block_size(const void *ptr)
{
    int32_t use = *use_of((uintptr_t)ptr);
    return use > 0 ? class_size(use - 1) : (size_t)-use * SIM_PAGE;
}

/* Instrumented code calls these in place of the C library's (the Makefile renames the symbols). The
 * runtime calls machine_alloc(), so only workloads come here. */

void *sim_malloc(size_t size);
void *sim_calloc(size_t count, size_t size);
void sim_free(void *ptr);
void *sim_realloc(void *ptr, size_t size);
void *sim_aligned_alloc(size_t align, size_t size);
int sim_posix_memalign(void **ptr, size_t align, size_t size);

static void *workload_alloc(size_t size, size_t align)
{
    void *ptr = machine_alloc(size, align);
    if (ptr)
        machine_name(ptr, size, "workload");
    return ptr;
}

void *sim_malloc(size_t size)
{
    return workload_alloc(size, MALLOC_ALIGN);
}

void *sim_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *ptr = workload_alloc(bytes, MALLOC_ALIGN);
    if (ptr) {
        memset(ptr, 0, bytes);
        if (bytes <= SMALL_MAX) /* pages come zeroed */
            sim_touch(ptr, bytes, true);
    }
    return ptr;
}

void sim_free(void *ptr)
{
    machine_free(ptr);
}

void *sim_realloc(void *ptr, size_t size)
{
    if (ptr && size <= block_size(ptr))
        return ptr;
    void *grown = workload_alloc(size, MALLOC_ALIGN);
    if (!grown || !ptr)
        return grown;
    size_t kept = block_size(ptr) < size ? block_size(ptr) : size;
    sim_touch(ptr, kept, false);
    sim_touch(grown, kept, true);
    memcpy(grown, ptr, kept);
    machine_free(ptr);
    return grown;
}

void *sim_aligned_alloc(size_t align, size_t size)
{
    return workload_alloc(size, align);
}

int sim_posix_memalign(void **ptr, size_t align, size_t size)
{
    *ptr = workload_alloc(size, align);
    return *ptr ? 0 : ENOMEM;
}

/* machine.h ----------------------------------------------------------------------------------- */

void *machine_block_map(size_t size)
{
    return sim_pages_map(size, size);
}

void machine_block_unmap(void *block, size_t size)
{
    sim_pages_unmap(block, size);
}

size_t machine_page_size(void)
{
    return SIM_PAGE;
}

/* Guard regions without a mapping of their own, Linux 6.13. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/* Before that, each guard splits a mapping, of which a process may have 65530: later stacks go
 * without. */
enum { SPLITS_MAX = 16384 };

static bool guard_install(char *low, size_t guard)
{
    static int splits;
    if (madvise(low, guard, MADV_GUARD_INSTALL) == 0)
        return true;
    return splits < SPLITS_MAX && ++splits && mprotect(low, guard, PROT_NONE) == 0;
}

void *machine_stacks_map(size_t count, size_t size, size_t guard, size_t *guarded)
{
    char *base = sim_pages_map(count * size, SIM_PAGE);
    if (!base)
        return NULL;
    madvise(base, count * size, MADV_NOHUGEPAGE);
    *guarded = 0;
    for (size_t i = 0; i < count; i++)
        *guarded += guard_install(base + i * size, guard);
    return base;
}

void machine_stacks_unmap(void *base, size_t count, size_t size)
{
    sim_pages_unmap(base, count * size);
}

void machine_stacks_drop(void *base, size_t count, size_t size)
{
    madvise(base, count * size, MADV_DONTNEED);
}
