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
    struct cache_line *line;
    uint32_t earlier, later; /* by access */
    uint32_t chain;
};

static uint64_t latest(const char *stamps, size_t stride, int n)
{
    uint64_t max = 0;
    for (int i = 0; i < n; i++) {
        uint64_t stamp = *(const uint64_t *)(const void *)(stamps + i * stride);
        max = stamp > max ? stamp : max;
    }
    return max;
}

int cache_victim(const uint64_t *stamps, size_t stride, int n, enum sim_replacement replacement)
{
    const char *base = (const char *)stamps;
    int victim = 0;
    if (replacement == SIM_LRU) {
        uint64_t min = UINT64_MAX;
        for (int i = 0; i < n; i++) {
            uint64_t stamp = *(const uint64_t *)(const void *)(base + i * stride);
            victim = stamp < min ? i : victim;
            min = stamp < min ? stamp : min;
        }
        return victim;
    }
    while (n > 1) {
        int half = (n + 1) / 2;
        const char *left = base + victim * stride;
        if (latest(left, stride, half) <= latest(left + half * stride, stride, n - half)) {
            n = half;
        } else {
            victim += half;
            n -= half;
        }
    }
    return victim;
}

/* Shadow --------------------------------------------------------------------------------------- */

static uint32_t *shadow_chain(struct cache_shadow *shadow, const struct cache_line *line)
{
    return &shadow->heads[line->number * UINT32_C(2654435769) >> shadow->shift];
}

/* The link that leads to the line's node, or to 0. */
static uint32_t *shadow_find(struct cache_shadow *shadow, const struct cache_line *line)
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

bool cache_shadow_access(struct cache_shadow *shadow, struct cache_line *line)
{
    uint32_t i = *shadow_find(shadow, line);
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
    uint32_t *head = shadow_chain(shadow, line);
    shadow->nodes[i].line = line;
    shadow->nodes[i].chain = *head;
    *head = i;
    shadow_append(shadow, i);
    return false;
}

static void shadow_forget(struct cache_shadow *shadow, const struct cache_line *line)
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
        .tags = cache_zalloc(lines, sizeof *level->tags),
        .stamps = cache_zalloc(lines, sizeof *level->stamps),
        .prefetched = cache_zalloc(lines, sizeof *level->prefetched),
        .shadow = {.nodes = cache_zalloc(lines + 1, sizeof *level->shadow.nodes),
                   .heads = cache_zalloc((size_t)1 << bits, sizeof *level->shadow.heads),
                   .size = (uint32_t)lines,
                   .shift = 32 - bits},
    };
}

void cache_level_fini(struct cache_level *level)
{
    free(level->tags);
    free(level->stamps);
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
        if (level->tags[i] == line)
            return (int)i;
    return -1;
}

void cache_level_touch(struct cache_level *level, int place)
{
    level->stamps[place] = ++level->clock;
}

struct cache_line *cache_level_insert(struct cache_level *level, struct cache_line *line,
                                      int *place)
{
    uint32_t first = set_of(level, line), way = 0;
    while (way < level->ways && level->tags[first + way])
        way++;
    if (way == level->ways)
        way = (uint32_t)cache_victim(&level->stamps[first], sizeof *level->stamps, (int)level->ways,
                                     level->replacement);
    struct cache_line *victim = level->tags[first + way];
    *place = (int)(first + way);
    level->tags[*place] = line;
    level->prefetched[*place] = false;
    cache_level_touch(level, *place);
    return victim;
}

void cache_level_drop(struct cache_level *level, int place)
{
    level->tags[place] = NULL;
}

void cache_level_empty(struct cache_level *level, int place)
{
    shadow_forget(&level->shadow, level->tags[place]);
    cache_level_drop(level, place);
}
