/* cache_ahead.h - tells the host's caches what the model is about to look up, all at once.
 *
 * A simulated miss looks into tables of many units, which are in none of the host's caches. One
 * after the other each would be waited for. Nothing here changes the model.
 */
#ifndef SCHEDLAB_SIM_CACHE_AHEAD_H
#define SCHEDLAB_SIM_CACHE_AHEAD_H

#include "cache_impl.h"

static inline uint32_t ahead_l1_set(uint32_t number)
{
    return number & (cache.l1_sets - 1);
}

/* The line of that number is about to be looked for in L2 and L3. */
static inline void ahead_of_levels(const struct cache_unit *unit, uint32_t number)
{
    cache_level_ahead(&unit->l2, number);
    if (cache.has_l3)
        cache_level_ahead(&cache.l3[unit->group], number);
}

/* An address is about to be accessed that L1 seems to lack. */
static inline void ahead_of_access(const struct cache_unit *unit, uintptr_t address)
{
    uint32_t number;
    const struct cache_line *line = cache_line_known(address, &number);
    if (!line)
        return;
    __builtin_prefetch(line);
    __builtin_prefetch((const char *)line + SIM_LINE);
    __builtin_prefetch(&unit->lines[ahead_l1_set(number) * (uint32_t)cache.model.l1.ways]);
    __builtin_prefetch(&unit->history.sets[ahead_l1_set(number)]);
    ahead_of_levels(unit, number);
}

/* The line behind this one is about to be fetched ahead, too. */
static inline void ahead_of_prefetch(const struct cache_unit *unit, const struct cache_line *line)
{
    uint32_t next = line->number + 1;
    if (next % CACHE_PAGE_LINES == 0)
        return;
    __builtin_prefetch(line->page->lines[next % CACHE_PAGE_LINES]);
    ahead_of_levels(unit, next);
}

/* The unit is about to lose the line to a write. */
static inline void ahead_of_loss(const struct cache_unit *unit, const struct cache_line *line)
{
    uint32_t first = ahead_l1_set(line->number) * (uint32_t)cache.model.l1.ways;
    const struct cache_slot *set = &unit->front.slots[first];
    __builtin_prefetch(set);
    __builtin_prefetch(set + 4);
    cache_level_ahead(&unit->l2, line->number);
}

#endif
