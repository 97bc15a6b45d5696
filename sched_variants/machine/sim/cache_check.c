/* cache_check.c - see cache.c: the invariants, for debug builds and tests. */
#include "cache_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* PART: of what has to hold, for unit or group `who`. If it does not, says so, and is false. */
static bool told(const struct cache_line *line, int who, const char *what)
{
    fprintf(stderr, "sim: cache line %" PRIu32 ", unit or group %d: %s\n", line->number, who, what);
    return false;
}
#define PART(x, what) (HOLDS(x) || told(line, who, what))

/* The first slot of the unit's L1 that has the line, NULL if none has; *count of them do. */
static const struct cache_slot *slot_of(const struct cache_unit *unit,
                                        const struct cache_line *line, int *count)
{
    const struct cache_slot *found = NULL;
    *count = 0;
    for (uint32_t i = 0; i < unit->slots; i++) {
        const struct cache_slot *slot = &unit->front.slots[i];
        if (!slot->key || unit->lines[i] != line)
            continue;
        found = found ? found : slot;
        ++*count;
    }
    return found;
}

static bool slot_is_valid(const struct cache_slot *slot, const struct cache_line *line, int who)
{
    bool mine = line->modified && line->owner == who;
    return PART((slot->key & CACHE_KEY_LINE) == line->host, "has a wrong key") &&
           PART(slot->key & ~CACHE_KEY_LINE || mine, "is writable without being owned") &&
           PART(!(uint8_t)slot->use || mine, "was written without being owned");
}

static bool is_valid_in_unit(struct cache_line *line, int who)
{
    const struct cache_unit *unit = &cache.unit[who];
    int slots;
    const struct cache_slot *slot = slot_of(unit, line, &slots);
    bool in_l2 = cache_level_find(&unit->l2, line) >= 0;
    bool in_l3 = cache_bit(cache_group_set(line, CACHE_L3_HOLDS), unit->group);
    bool holds = cache_bit(cache_set(line, CACHE_HOLDS), who);
    return PART(slots <= 1, "is in L1 twice") &&
           PART(holds == (slot || in_l2), "the directory and the tags disagree") &&
           PART(!slot || in_l2 || !cache.model.l2.inclusive, "is in L1 without inclusive L2") &&
           PART(!holds || in_l3 || !cache.has_l3 || !cache.model.l3.inclusive,
                "is held without inclusive L3") &&
           PART(line->owner == CACHE_NONE || holds == (line->owner == who),
                "is held beside an owner, or not by its owner") &&
           (!slot || slot_is_valid(slot, line, who));
}

static bool is_valid_in_group(struct cache_line *line, int who)
{
    bool holds = cache_bit(cache_group_set(line, CACHE_L3_HOLDS), who);
    return PART(holds == (cache.has_l3 && cache_level_find(&cache.l3[who], line) >= 0),
                "the directory and the tags of L3 disagree") &&
           PART(!holds || line->owner == CACHE_NONE || cache.unit[line->owner].group == who,
                "is in L3 of another group than its owner's") &&
           PART(line->l3_dirty != who || holds, "is newer in an L3 that lacks it");
}

bool cache_line_is_valid(struct cache_line *line)
{
    int who = line->owner;
    for (int u = 0; u < cache.units; u++)
        if (!is_valid_in_unit(line, u))
            return false;
    for (int g = 0; g < cache.groups; g++)
        if (!is_valid_in_group(line, g))
            return false;
    return PART(!line->modified || line->owner != CACHE_NONE, "is modified by nobody") &&
           PART(!line->modified || line->l3_dirty == CACHE_NONE,
                "is modified, and newer in an L3 as well");
}

static void line_check(struct cache_line *line)
{
    if (!cache_line_is_valid(line))
        abort();
}

void cache_check_all(void)
{
    cache_map_each_line(line_check);
}
