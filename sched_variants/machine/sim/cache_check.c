/* cache_check.c - see cache.c: the invariants, for debug builds and tests. */
#include "cache_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void hold(bool truth, const struct cache_line *line, int who, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "sim: cache line %" PRIu32 ", unit or group %d: %s\n", line->number, who, what);
    abort();
}

static const struct cache_slot *slot_of(const struct cache_unit *unit,
                                        const struct cache_line *line)
{
    const struct cache_slot *found = NULL;
    for (uint32_t i = 0; i < unit->slots; i++) {
        const struct cache_slot *slot = &unit->front.slots[i];
        if (!slot->key || unit->lines[i] != line)
            continue;
        hold(!found, line, unit->index, "is in L1 twice");
        found = slot;
    }
    return found;
}

static void check_unit(struct cache_line *line, int u)
{
    const struct cache_unit *unit = &cache.unit[u];
    const struct cache_slot *slot = slot_of(unit, line);
    bool in_l2 = cache_level_find(&unit->l2, line) >= 0;
    bool in_l3 = cache_bit(cache_group_set(line, CACHE_L3_HOLDS), unit->group);
    bool holds = cache_bit(cache_set(line, CACHE_HOLDS), u);
    hold(holds == (slot || in_l2), line, u, "the directory and the tags disagree");
    hold(!slot || in_l2 || !cache.model.l2.inclusive, line, u, "is in L1 without inclusive L2");
    hold(!holds || in_l3 || !cache.has_l3 || !cache.model.l3.inclusive, line, u,
         "is held without inclusive L3");
    hold(line->owner == CACHE_NONE || holds == (line->owner == u), line, u,
         "is held beside an owner, or not by its owner");
    if (slot) {
        bool mine = line->modified && line->owner == u;
        hold((slot->key & CACHE_KEY_LINE) == line->host, line, u, "has a wrong key");
        hold(slot->key & ~CACHE_KEY_LINE || mine, line, u, "is writable without being owned");
        hold(!(uint8_t)slot->use || mine, line, u, "was written without being owned");
    }
}

void cache_line_check(struct cache_line *line)
{
    for (int u = 0; u < cache.units; u++)
        check_unit(line, u);
    for (int g = 0; g < cache.groups; g++) {
        bool holds = cache_bit(cache_group_set(line, CACHE_L3_HOLDS), g);
        hold(holds == (cache.has_l3 && cache_level_find(&cache.l3[g], line) >= 0), line, g,
             "the directory and the tags of L3 disagree");
        hold(!holds || line->owner == CACHE_NONE || cache.unit[line->owner].group == g, line, g,
             "is in L3 of another group than its owner's");
        hold(line->l3_dirty != g || holds, line, g, "is newer in an L3 that lacks it");
    }
    hold(!line->modified || line->owner != CACHE_NONE, line, line->owner, "is modified by nobody");
    hold(!line->modified || line->l3_dirty == CACHE_NONE, line, line->owner,
         "is modified, and newer in an L3 as well");
}

void cache_check_all(void)
{
    cache_map_each_line(cache_line_check);
}
