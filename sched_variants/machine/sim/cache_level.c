/* cache_level.c - see cache_impl.h: L2 and L3.
 *
 * Replacement by stamps alone. LRU: the smallest leaves. Tree-PLRU: a bit of the tree points away
 * from the half whose access was the later one, so following the bits is going, from the root, into
 * the half whose latest stamp is the smaller; that needs no bits, and a hit is the same store of a
 * stamp for both policies. Stamps of places that empty are kept, as bits would be. Ways that are no
 * power of two: the left half is the larger.
 */
#include "cache_impl.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t latest(const uint64_t *stamps, int n)
{
    uint64_t max = 0;
    for (int i = 0; i < n; i++)
        max = stamps[i] > max ? stamps[i] : max;
    return max;
}

/* Of a power of two: the latest stamp below each node of the tree, from the leaves up, so that no
 * stamp is looked at more than once; then down. Node i has 2 i and 2 i + 1. */
static int plru_victim(const uint64_t *stamps, int n)
{
    uint64_t node[CACHE_WAYS_MAX];
    for (int i = n - 1; i >= 2; i--) {
        uint64_t a = 2 * i < n ? node[2 * i] : stamps[2 * i - n];
        uint64_t b = 2 * i < n ? node[2 * i + 1] : stamps[2 * i + 1 - n];
        node[i] = a > b ? a : b;
    }
    int i = 1;
    while (2 * i < n)
        i = 2 * i + (node[2 * i] > node[2 * i + 1]);
    return 2 * i + (stamps[2 * i - n] > stamps[2 * i + 1 - n]) - n;
}

int cache_victim(const uint64_t *stamps, int n, enum sim_replacement replacement)
{
    int victim = 0;
    if (replacement == SIM_PLRU && n > 1 && (n & (n - 1)) == 0)
        return plru_victim(stamps, n);
    for (int i = 1; replacement == SIM_LRU && i < n; i++)
        victim = stamps[i] < stamps[victim] ? i : victim;
    while (replacement == SIM_PLRU && n > 1) {
        int half = (n + 1) / 2;
        if (latest(stamps + victim, half) <= latest(stamps + victim + half, n - half)) {
            n = half;
        } else {
            victim += half;
            n -= half;
        }
    }
    return victim;
}

/* Level ---------------------------------------------------------------------------------------- */

void cache_level_init(struct cache_level *level, const struct sim_cache_model *model, uint32_t word,
                      int index)
{
    size_t lines = (size_t)model->size / SIM_LINE;
    *level = (struct cache_level){
        .sets = (uint32_t)(lines / (size_t)model->ways),
        .ways = (uint32_t)model->ways,
        .replacement = model->replacement,
        .places = cache_pool_alloc(lines, sizeof *level->places),
        .prefetched = cache_pool_alloc(cache.model.prefetch ? lines : 0, sizeof *level->prefetched),
    };
    cache_shadow_init(&level->shadow, (uint32_t)lines, word + (uint32_t)index / 64, index % 64);
}

static uint32_t set_of(const struct cache_level *level, const struct cache_line *line)
{
    return (line->number & (level->sets - 1)) * level->ways;
}

void cache_level_ahead(const struct cache_level *level, const struct cache_line *line)
{
    const struct cache_place *set = &level->places[set_of(level, line)];
    for (uint32_t i = 0; i < level->ways; i += SIM_LINE / sizeof *set)
        __builtin_prefetch(&set[i]);
    cache_shadow_ahead(&level->shadow, line->number);
}

int cache_level_find(const struct cache_level *level, const struct cache_line *line)
{
    uint32_t first = set_of(level, line);
    for (uint32_t i = first; i < first + level->ways; i++)
        if (level->places[i].tag == line->number + 1)
            return (int)i;
    return -1;
}

/* The clock is about to overflow: all stamps become small. Only their order within a set counts. */
static void stamps_rank(struct cache_level *level)
{
    struct cache_place *set = level->places, *end = set + level->sets * level->ways;
    for (; set < end; set += level->ways) {
        uint32_t ranks[CACHE_WAYS_MAX];
        for (uint32_t i = 0; i < level->ways; i++) {
            ranks[i] = 0;
            for (uint32_t j = 0; j < level->ways; j++)
                ranks[i] += set[j].stamp < set[i].stamp;
        }
        for (uint32_t i = 0; i < level->ways; i++)
            set[i].stamp = ranks[i];
    }
    level->clock = level->ways;
}

void cache_level_touch(struct cache_level *level, int place)
{
    if (level->clock == UINT32_MAX)
        stamps_rank(level);
    level->places[place].stamp = ++level->clock;
}

static uint32_t set_victim(const struct cache_level *level, uint32_t first)
{
    uint64_t stamps[CACHE_WAYS_MAX];
    for (uint32_t i = 0; i < level->ways; i++) {
        if (!level->places[first + i].tag)
            return first + i;
        stamps[i] = level->places[first + i].stamp;
    }
    return first + (uint32_t)cache_victim(stamps, (int)level->ways, level->replacement);
}

struct cache_line *cache_level_insert(struct cache_level *level, struct cache_line *line,
                                      int *place)
{
    uint32_t i = set_victim(level, set_of(level, line)), victim = level->places[i].tag;
    *place = (int)i;
    level->places[i].tag = line->number + 1;
    if (cache.model.prefetch)
        level->prefetched[i] = false;
    cache_level_touch(level, *place);
    return victim ? cache_line_numbered(victim - 1) : NULL;
}

void cache_level_drop(struct cache_level *level, int place)
{
    level->places[place].tag = 0;
}

void cache_level_empty(struct cache_level *level, int place, struct cache_line *line)
{
    cache_shadow_forget(&level->shadow, line);
    cache_level_drop(level, place);
}
