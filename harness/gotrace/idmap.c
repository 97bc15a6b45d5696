/* idmap.c - see idmap.h. */
#include "harness/gotrace/idmap.h"

#include "harness/base/memory.h"

#include <stdlib.h>

enum { SLOTS_FIRST = 64 };

static struct idmap_slot *slot_of(const struct idmap *map, uint64_t key)
{
    size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & map->mask;
    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & map->mask;
    return &map->slots[at];
}

uint64_t *idmap_get(const struct idmap *map, uint64_t key)
{
    struct idmap_slot *slot = map->slots ? slot_of(map, key) : NULL;
    return slot && slot->key ? &slot->value : NULL;
}

static void grow(struct idmap *map)
{
    struct idmap old = *map;
    map->mask = old.slots ? 2 * old.mask + 1 : SLOTS_FIRST - 1;
    map->slots = xcalloc(map->mask + 1, sizeof *map->slots);
    for (size_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].key)
            *slot_of(map, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

uint64_t *idmap_put(struct idmap *map, uint64_t key)
{
    if (!map->slots || 2 * map->count > map->mask)
        grow(map);
    struct idmap_slot *slot = slot_of(map, key);
    map->count += slot->key == 0;
    slot->key = key;
    return &slot->value;
}

void idmap_free(struct idmap *map)
{
    free(map->slots);
    *map = (struct idmap){.slots = NULL};
}
