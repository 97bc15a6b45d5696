/* cache_level.c - see cache_impl.h: L2 and L3.
 *
 * Stamps alone decide on replacement. LRU: the smallest leaves. Tree-PLRU: a bit of the tree points
 * away from the half whose access was the later one. So following the bits means to go, from the
 * root, into the half whose latest stamp is the smaller. This needs no bits, and a hit stores a
 * stamp under both policies. Places that empty keep their stamps, as bits would stay. If the ways
 * are no power of two, the left half is the larger.
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

static uint64_t max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The victim of eight places: most sets have eight, or two halves of eight. Looks at no stamp
 * twice, and has no jump. */
static int plru_victim_of_eight(const uint64_t *stamps)
{
    uint64_t a = max(stamps[0], stamps[1]), b = max(stamps[2], stamps[3]);
    uint64_t c = max(stamps[4], stamps[5]), d = max(stamps[6], stamps[7]);
    int half = max(a, b) > max(c, d);
    int left = a > b, right = c > d, i = 4 * half + 2 * (half ? right : left);
    return i + (stamps[i] > stamps[i + 1]);
}

int cache_victim(const uint64_t *stamps, int n, enum sim_replacement replacement)
{
    int victim = 0;
    INVARIANT(n > 0);
    if (replacement == SIM_LRU) {
        for (int i = 1; i < n; i++)
            victim = stamps[i] < stamps[victim] ? i : victim;
        return victim;
    }
    while (n > 1) {
        if (n == 8)
            return victim + plru_victim_of_eight(stamps + victim);
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
    INVARIANT(model->ways > 0 && model->ways <= CACHE_WAYS_MAX);
    INVARIANT(lines % (size_t)model->ways == 0);
    *level = (struct cache_level){
        .sets = (uint32_t)(lines / (size_t)model->ways),
        .ways = (uint32_t)model->ways,
        .replacement = model->replacement,
        .places = cache_pool_alloc(lines, sizeof *level->places),
        .prefetched = cache_pool_alloc(cache.model.prefetch ? lines : 0, sizeof *level->prefetched),
    };
    cache_shadow_init(&level->shadow, (uint32_t)lines, word + (uint32_t)index / 64, index % 64);
}

static uint32_t set_of(const struct cache_level *level, uint32_t number)
{
    return (number & (level->sets - 1)) * level->ways;
}

void cache_level_ahead(const struct cache_level *level, uint32_t number)
{
    const struct cache_place *set = &level->places[set_of(level, number)];
    for (uint32_t i = 0; i < level->ways; i += SIM_LINE / sizeof *set)
        __builtin_prefetch(&set[i]);
    cache_shadow_ahead(&level->shadow, number);
}

int cache_level_find(const struct cache_level *level, const struct cache_line *line)
{
    uint32_t first = set_of(level, line->number);
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

/* After an access of the line there: it is in its set, once. */
static bool cache_level_is_valid(const struct cache_level *level, int place)
{
    uint32_t at = (uint32_t)place, first = at / level->ways * level->ways, count = 0;
    if (!HOLDS(place >= 0 && at < level->sets * level->ways))
        return false;
    for (uint32_t i = first; i < first + level->ways; i++)
        count += level->places[i].tag == level->places[at].tag;
    return HOLDS(level->places[at].tag) && HOLDS(count == 1);
}

void cache_level_touch(struct cache_level *level, int place)
{
    if (level->clock == UINT32_MAX)
        stamps_rank(level);
    level->places[place].stamp = ++level->clock;
    INVARIANT(cache_level_is_valid(level, place));
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

void cache_level_victim_ahead(const struct cache_level *level, const struct cache_line *line)
{
    uint32_t victim = level->places[set_victim(level, set_of(level, line->number))].tag;
    if (victim)
        __builtin_prefetch(cache_line_numbered(victim - 1));
}

struct cache_line *cache_level_insert(struct cache_level *level, struct cache_line *line,
                                      int *place)
{
    uint32_t i = set_victim(level, set_of(level, line->number)), victim = level->places[i].tag;
    INVARIANT(cache_level_find(level, line) < 0);
    *place = (int)i;
    level->places[i].tag = line->number + 1;
    if (cache.model.prefetch)
        level->prefetched[i] = false;
    cache_level_touch(level, *place);
    return victim ? cache_line_numbered(victim - 1) : NULL;
}

void cache_level_drop(struct cache_level *level, int place)
{
    INVARIANT(level->places[place].tag);
    level->places[place].tag = 0;
}

void cache_level_empty(struct cache_level *level, int place, struct cache_line *line)
{
    INVARIANT(place >= 0);
    INVARIANT(level->places[place].tag == line->number + 1);
    cache_shadow_forget(&level->shadow, line);
    cache_level_drop(level, place);
}
