/* cache_shadow.c - see cache_impl.h: what a fully associative LRU cache would hold.
 *
 * A log of accesses, and for each line that is held, the place of its last one there: places
 * where a line is not any more are skipped when the earliest line has to leave, and thrown out when
 * the log is full. So an access touches one entry and the end of the log, where a list in order of
 * access would touch the neighbours as well: host caches that miss are most of what a simulated
 * miss costs. Both grow with what is held, since few cores use all of their L2.
 *
 * Outgrown tables stay in the pool: together they are no larger than the last.
 *
 * used <= room / 2, and the log has room for 2 room accesses.
 */
#include "cache_impl.h"

#include <string.h>

enum { ROOM_MIN_BITS = 6 };

/* Open addressing. */
struct cache_shadow_entry {
    uint32_t tag; /* number of the line, and 1; 0: empty */
    uint32_t last;
};

static uint32_t home(const struct cache_shadow *shadow, uint32_t line)
{
    return line * UINT32_C(2654435769) >> shadow->shift;
}

/* The line's entry, or the empty one where it belongs. */
static struct cache_shadow_entry *find(const struct cache_shadow *shadow, uint32_t line)
{
    uint32_t i = home(shadow, line);
    while (shadow->entries[i].tag && shadow->entries[i].tag != line + 1)
        i = (i + 1) & (shadow->room - 1);
    return &shadow->entries[i];
}

static void make_room(struct cache_shadow *shadow, int bits)
{
    shadow->room = UINT32_C(1) << bits;
    shadow->shift = 32 - bits;
    shadow->entries = cache_pool_alloc(shadow->room, sizeof *shadow->entries);
}

void cache_shadow_init(struct cache_shadow *shadow, uint32_t lines)
{
    *shadow = (struct cache_shadow){.size = lines};
    make_room(shadow, ROOM_MIN_BITS);
    shadow->log = cache_pool_alloc((size_t)2 * shadow->room, sizeof *shadow->log);
}

static void grow(struct cache_shadow *shadow)
{
    struct cache_shadow_entry *old = shadow->entries;
    uint32_t room = shadow->room;
    make_room(shadow, 33 - shadow->shift);
    for (uint32_t i = 0; i < room; i++)
        if (old[i].tag)
            *find(shadow, old[i].tag - 1) = old[i];
    uint32_t *log = cache_pool_alloc((size_t)2 * shadow->room, sizeof *log);
    memcpy(log, shadow->log, (size_t)2 * room * sizeof *log);
    shadow->log = log;
}

/* Keeps of the log what is some line's last access. */
static void compact(struct cache_shadow *shadow)
{
    uint32_t end = 0;
    for (uint32_t i = shadow->first; i < shadow->end; i++) {
        uint32_t line = shadow->log[i];
        struct cache_shadow_entry *entry = find(shadow, line);
        if (!entry->tag || entry->last != i)
            continue;
        entry->last = end;
        shadow->log[end++] = line;
    }
    shadow->first = 0;
    shadow->end = end;
}

/* Empties the entry; those behind it that it was in the way of move up. */
static void empty(struct cache_shadow *shadow, struct cache_shadow_entry *entry)
{
    uint32_t mask = shadow->room - 1, hole = (uint32_t)(entry - shadow->entries);
    for (uint32_t i = (hole + 1) & mask; shadow->entries[i].tag; i = (i + 1) & mask) {
        uint32_t wanted = home(shadow, shadow->entries[i].tag - 1);
        if (((i - wanted) & mask) < ((i - hole) & mask))
            continue;
        shadow->entries[hole] = shadow->entries[i];
        hole = i;
    }
    shadow->entries[hole].tag = 0;
    shadow->used--;
}

/* The line whose last access is the earliest leaves. */
static void replace(struct cache_shadow *shadow)
{
    struct cache_shadow_entry *entry;
    uint32_t at;
    do {
        at = shadow->first++;
        entry = find(shadow, shadow->log[at]);
    } while (!entry->tag || entry->last != at);
    empty(shadow, entry);
}

void cache_shadow_ahead(const struct cache_shadow *shadow, uint32_t line)
{
    __builtin_prefetch(&shadow->entries[home(shadow, line)]);
    __builtin_prefetch(&shadow->log[shadow->end]);
}

bool cache_shadow_access(struct cache_shadow *shadow, uint32_t line)
{
    if (shadow->end == 2 * shadow->room)
        compact(shadow);
    struct cache_shadow_entry *entry = find(shadow, line);
    bool there = entry->tag;
    if (!there) {
        if (shadow->used == shadow->size)
            replace(shadow);
        if (2 * (shadow->used + 1) > shadow->room)
            grow(shadow);
        entry = find(shadow, line);
        entry->tag = line + 1;
        shadow->used++;
    }
    entry->last = shadow->end;
    shadow->log[shadow->end++] = line;
    return there;
}

void cache_shadow_forget(struct cache_shadow *shadow, uint32_t line)
{
    struct cache_shadow_entry *entry = find(shadow, line);
    if (entry->tag)
        empty(shadow, entry);
}
