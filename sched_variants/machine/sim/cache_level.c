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

struct cache_shadow_node {
    uint32_t line;           /* its number */
    uint32_t earlier, later; /* by access */
    uint32_t chain;
};

static uint64_t latest(const uint64_t *stamps, int n)
{
    uint64_t max = 0;
    for (int i = 0; i < n; i++)
        max = stamps[i] > max ? stamps[i] : max;
    return max;
}

int cache_victim(const uint64_t *stamps, int n, enum sim_replacement replacement)
{
    int victim = 0;
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

/* Shadow --------------------------------------------------------------------------------------- */

static uint32_t *shadow_chain(struct cache_shadow *shadow, uint32_t line)
{
    return &shadow->heads[line * UINT32_C(2654435769) >> shadow->shift];
}

/* The link that leads to the line's node, or to 0. */
static uint32_t *shadow_find(struct cache_shadow *shadow, uint32_t line)
{
    uint32_t *link = shadow_chain(shadow, line);
    while (*link && shadow->nodes[*link].line != line)
        link = &shadow->nodes[*link].chain;
    return link;
}

static void shadow_unlink(struct cache_shadow *shadow, uint32_t i)
{
    struct cache_shadow_node *node = &shadow->nodes[i];
    *(node->earlier ? &shadow->nodes[node->earlier].later : &shadow->first) = node->later;
    *(node->later ? &shadow->nodes[node->later].earlier : &shadow->last) = node->earlier;
}

static void shadow_append(struct cache_shadow *shadow, uint32_t i)
{
    struct cache_shadow_node *node = &shadow->nodes[i];
    node->earlier = shadow->last;
    node->later = 0;
    *(shadow->last ? &shadow->nodes[shadow->last].later : &shadow->first) = i;
    shadow->last = i;
}

static uint32_t shadow_remove(struct cache_shadow *shadow, uint32_t *link)
{
    uint32_t i = *link;
    *link = shadow->nodes[i].chain;
    shadow_unlink(shadow, i);
    return i;
}

bool cache_shadow_access(struct cache_shadow *shadow, const struct cache_line *line)
{
    uint32_t i = *shadow_find(shadow, line->number);
    if (i) {
        if (i != shadow->last) {
            shadow_unlink(shadow, i);
            shadow_append(shadow, i);
        }
        return true;
    }
    if (shadow->free) {
        i = shadow->free;
        shadow->free = shadow->nodes[i].chain;
    } else if (shadow->used < shadow->size) {
        i = ++shadow->used;
    } else {
        i = shadow_remove(shadow, shadow_find(shadow, shadow->nodes[shadow->first].line));
    }
    uint32_t *head = shadow_chain(shadow, line->number);
    shadow->nodes[i].line = line->number;
    shadow->nodes[i].chain = *head;
    *head = i;
    shadow_append(shadow, i);
    return false;
}

static void shadow_forget(struct cache_shadow *shadow, uint32_t line)
{
    uint32_t *link = shadow_find(shadow, line);
    if (!*link)
        return;
    uint32_t i = shadow_remove(shadow, link);
    shadow->nodes[i].chain = shadow->free;
    shadow->free = i;
}

/* Level ---------------------------------------------------------------------------------------- */

void cache_level_init(struct cache_level *level, const struct sim_cache_model *model)
{
    size_t lines = (size_t)model->size / SIM_LINE;
    int bits = 1;
    while ((size_t)1 << bits < lines)
        bits++;
    *level = (struct cache_level){
        .sets = (uint32_t)(lines / (size_t)model->ways),
        .ways = (uint32_t)model->ways,
        .replacement = model->replacement,
        .places = cache_aligned_zalloc(lines, sizeof *level->places),
        .prefetched = cache_zalloc(lines, sizeof *level->prefetched),
        .shadow = {.nodes = cache_zalloc(lines + 1, sizeof *level->shadow.nodes),
                   .heads = cache_zalloc((size_t)1 << bits, sizeof *level->shadow.heads),
                   .size = (uint32_t)lines,
                   .shift = 32 - bits},
    };
}

void cache_level_fini(struct cache_level *level)
{
    cache_aligned_free(level->places);
    free(level->prefetched);
    free(level->shadow.nodes);
    free(level->shadow.heads);
}

static uint32_t set_of(const struct cache_level *level, const struct cache_line *line)
{
    return line->number % level->sets * level->ways;
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

void cache_level_empty(struct cache_level *level, int place)
{
    shadow_forget(&level->shadow, level->places[place].tag - 1);
    cache_level_drop(level, place);
}
