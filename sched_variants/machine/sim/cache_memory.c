/* cache_memory.c - see cache_impl.h: memory of the cache model.
 *
 * One simulated core after the other looks up random places in the tables of many units. Huge pages
 * of the host make that half as slow. So all tables are next to each other in a pool that asks for
 * huge pages. Pages that are never touched cost nothing.
 */
#include "cache_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, BLOCK = 32 << 20 };

struct block {
    struct block *next;
    void *mapped;
    size_t mapped_size, used, size; /* used, size: from the block on */
};

static struct block *blocks;

static _Noreturn void no_memory(void)
{
    fprintf(stderr, "sim: no memory left for the model of the caches\n");
    exit(1);
}

void *cache_zalloc(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        no_memory();
    return memory;
}

static void block_add(size_t least)
{
    size_t size = least + SIM_LINE > BLOCK ? least + SIM_LINE : BLOCK;
    size_t mapped_size = size + HUGE_PAGE;
    char *mapped = mmap(NULL, mapped_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        no_memory();
    struct block *block = (void *)(mapped + (-(uintptr_t)mapped & (HUGE_PAGE - 1)));
    madvise(block, size, MADV_HUGEPAGE); /* where there are none, small ones do */
    *block = (struct block){blocks, mapped, mapped_size, SIM_LINE, size};
    blocks = block;
}

void *cache_pool_alloc(size_t count, size_t size)
{
    size_t bytes = count * size, align = bytes < SIM_LINE ? 16 : SIM_LINE;
    size_t skip = blocks ? -blocks->used & (align - 1) : 0;
    if (!blocks || blocks->size - blocks->used < bytes + skip) {
        block_add(bytes);
        skip = 0;
    }
    void *memory = (char *)blocks + blocks->used + skip;
    blocks->used += skip + bytes;
    return memory;
}

void cache_pool_fini(void)
{
    while (blocks) {
        struct block *next = blocks->next;
        munmap(blocks->mapped, blocks->mapped_size);
        blocks = next;
    }
}
