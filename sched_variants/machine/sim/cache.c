/* cache.c - see cache.h: accesses and coherence.
 *
 * The state machine. A line is, for the directory, in one of four states:
 *
 *   I  no unit holds it           owner NONE, no holders; an L3 may have it
 *   S  units hold it, unchanged   owner NONE, holders
 *   E  one unit alone, unchanged  owner, not modified
 *   M  one unit alone, changed    owner, modified
 *
 * A unit holds a line while its L1 or its L2 has it. Unit u of group g does:
 *
 *   L1 hit, read, or write in M    l1.hit_ps, store_ps
 *   L1 hit, write in E             store_ps; M
 *   L2 hit, read, or write in E/M  l2.hit_ps; write: M
 *   write in S, L1 or L2 has it    upgrade_ps of the farthest that has it as well, units and L3s of
 *                                  other groups, else near; they lose it; M
 *   miss, M at v                   dirty_ps of the distance to v
 *     read                         v writes it back (see below) and keeps it; S
 *     write                        v and the L3 of v's group, if that is not g, lose it; M
 *   miss, L3 of g has it           l3.hit_ps
 *   miss, others have it           clean_ps of the nearest, units and L3s
 *   miss, nobody has it            memory_ps, of the own socket or another
 *     for these three, read        E if no other unit and no other group's L3 has it, else S
 *     write                        all others lose it, but for the L3 of g; M. Costs upgrade_ps of
 *                                  the farthest of them instead, if that is more: both are under
 *                                  way at the same time
 *
 * A unit that has a line in M, or shares one that another sharer writes, works with it until the
 * question arrives, half way; the asking unit waits (is_under_way()). A line that comes from E, L3
 * or memory changes hands at once, and so does a shared line at a write miss.
 *
 * Evictions tell the directory, so holders are exact. A miss puts the line into L3, L2 and L1, in
 * this order, whether or not they are inclusive. If L3 is inclusive, a line that leaves it leaves
 * the units of the group as well. If L2 is, a line that leaves it leaves L1. A unit that so has the
 * line nowhere any more gives it up. In M it writes it back: with L3 into the L3 of its group,
 * without into memory. The L3 takes the line if it has not got it, and then is newer than memory
 * (l3_dirty). If L2 is not inclusive, L1 alone may have a modified line; it goes into L2 when L1
 * replaces it. A hit does not touch the levels below. The copy that L3 has of a line in M is stale,
 * and not used; when it leaves, nothing is written.
 *
 * With prefetch, a miss in L2 also brings the next line of the page into L2 and L3, at no cost,
 * unless the unit has it or another has it in E or M. So a prefetch takes nothing from others.
 *
 * Invariants, held by cache_check.c in debug builds:
 *
 *   owner != NONE   =>  holders = {owner}, and no L3 but that of its group has the line
 *   modified        =>  owner != NONE and l3_dirty = NONE
 *   l3_dirty = g    =>  L3 of g has it
 *   u in holders   <=>  L1 or L2 of u has it; the same for L3s
 *   writable in L1 of u  =>  modified and owner = u
 *   L2 inclusive, L1 of u has it  =>  L2 of u has it; L3 inclusive, likewise for units of its group
 *
 * Rejected: a directory that forgets silent evictions, as real ones do. Its spurious invalidations
 * are a property of one product, and the reference model of the tests could not tell them from
 * mistakes. Rejected: timestamps of writes to tell true from false sharing; they cost every hit.
 */
#include "cache_ahead.h"
#include "cache_impl.h"

#include <string.h>

struct cache_state cache;
struct cache_core *cache_cores;
int64_t cache_price[2];

/* One access to one line, on its way through the levels. */
struct visit {
    struct cache_core *core;
    struct cache_unit *unit;
    struct cache_line *line;
    uint8_t words;
    bool write;
    bool missed[CACHE_DEPTHS];
    enum cache_kind kind[CACHE_DEPTHS];
};

/* Under way ------------------------------------------------------------------------------------ */

struct cache_way cache_way;
static const struct cache_way *arriving; /* of the access that is made; NULL: it has not waited */
static bool never_waits;                 /* nor will it */
static bool is_beside;                   /* an access that nobody waits for */

/* Distances ------------------------------------------------------------------------------------ */

static enum sim_distance distance_unit(const struct cache_unit *a, int unit)
{
    if (cache_bit(a->around->group_units, unit))
        return SIM_NEAR;
    return cache_bit(a->around->socket_units, unit) ? SIM_SOCKET : SIM_REMOTE;
}

/* Adds to a set of distances, as bits, those of the members of a set: of the own group, else of the
 * own socket, else remote. */
static unsigned distances(const uint64_t *set, int words, const uint64_t *group,
                          const uint64_t *socket, unsigned found)
{
    for (int i = 0; i < words; i++) {
        found |= (unsigned)((set[i] & group[i]) != 0) << SIM_NEAR;
        found |= (unsigned)((set[i] & socket[i] & ~group[i]) != 0) << SIM_SOCKET;
        found |= (unsigned)((set[i] & ~socket[i]) != 0) << SIM_REMOTE;
    }
    return found;
}

/* The distances of all that have the line, in L1 and L2 or in an L3. */
static unsigned distances_holders(const struct cache_unit *unit, struct cache_line *line)
{
    const struct cache_around *around = unit->around;
    unsigned found = distances(cache_set(line, CACHE_HOLDS), cache.unit_words, around->group_units,
                               around->socket_units, 0);
    return distances(cache_group_set(line, CACHE_L3_HOLDS), cache.group_words, around->own_group,
                     around->socket_groups, found);
}

/* The first slot of the line's set. */
static uint32_t set_of(const struct cache_line *line)
{
    return (line->number & (cache.l1_sets - 1)) * (uint32_t)cache.model.l1.ways;
}

/* Where the line of an address is; number: of the line, or that of an address whose place in the
 * page decides which set it belongs to. NULL: nowhere. */
static struct cache_slot *slot_at(const struct cache_front *front, uint32_t number,
                                  uintptr_t address)
{
    uint32_t ways = (uint32_t)cache.model.l1.ways;
    struct cache_slot *slot = &front->slots[(number & (cache.l1_sets - 1)) * ways];
    for (struct cache_slot *end = slot + ways; slot < end; slot++)
        if (((slot->key & CACHE_KEY_LINE) ^ address) < SIM_LINE)
            return slot;
    return NULL;
}

static struct cache_slot *slot_find(const struct cache_unit *unit, const struct cache_line *line)
{
    return slot_at(&unit->front, line->number, line->host);
}

/* The words that it wrote are the line's to know. */
static void slot_tell(struct cache_slot *slot, struct cache_line *line)
{
    if (!(uint8_t)slot->use)
        return;
    line->written |= (uint8_t)slot->use;
    slot->use &= -(UINT64_C(1) << CACHE_USE_SHIFT);
}

static void slot_empty(struct cache_slot *slot, struct cache_line *line)
{
    slot_tell(slot, line);
    *slot = (struct cache_slot){0};
}

void cache_line_freed(struct cache_line *line)
{
    CACHE_EACH(u, cache_set(line, CACHE_HOLDS), cache.unit_words)
    {
        struct cache_slot *slot = slot_find(&cache.unit[u], line);
        if (slot)
            slot->key = line->host | CACHE_ASKS;
    }
}

/* Leaving -------------------------------------------------------------------------------------- */

static void l3_insert(struct cache_core *core, int group, struct cache_line *line);

/* The unit's modified line goes one step down. */
static void write_back(struct cache_core *core, const struct cache_unit *unit,
                       struct cache_line *line)
{
    core->count[CACHE_WRITEBACKS]++;
    line->modified = false;
    if (!cache.has_l3) {
        core->count[CACHE_WRITEBACKS_MEMORY]++;
        return;
    }
    if (!cache_bit(cache_group_set(line, CACHE_L3_HOLDS), unit->group))
        l3_insert(core, unit->group, line);
    line->l3_dirty = (uint16_t)unit->group;
}

/* Watching ------------------------------------------------------------------------------------ */

void (*cache_on_loss)(int core);
int64_t (*cache_now)(void);
uint64_t (*cache_random)(void);
static const struct cache_line *watched[SIM_CORES_MAX];

void cache_watch_end(int core)
{
    INVARIANT(core >= 0 && core < cache.model.cores);
    if (!watched[core])
        return;
    watched[core] = NULL;
    ((struct cache_unit *)cache_cores[core].front)->watchers--;
}

bool cache_watch(int core, uintptr_t address)
{
    struct cache_unit *unit = (struct cache_unit *)cache_cores[core].front;
    struct cache_line *line = cache_line_at(address, unit->socket);
    INVARIANT(cache_line_is_valid(line));
    if (!cache_bit(cache_set(line, CACHE_HOLDS), unit->index))
        return false;
    cache_watch_end(core);
    watched[core] = line;
    unit->watchers++;
    return true;
}

static void watchers_tell(const struct cache_unit *unit, const struct cache_line *line)
{
    int smt = cache.model.smt;
    for (int core = unit->index * smt; core < (unit->index + 1) * smt; core++) {
        if (watched[core] != line)
            continue;
        cache_watch_end(core);
        cache_on_loss(core);
    }
}

/* Neither L1 nor L2 of the unit has it any more. */
static void unit_gives_up(struct cache_core *core, const struct cache_unit *unit,
                          struct cache_line *line)
{
    if (unit->watchers)
        watchers_tell(unit, line);
    cache_bit_clear(cache_set(line, CACHE_HOLDS), unit->index);
    if (line->owner == unit->index) {
        line->owner = CACHE_NONE;
        if (line->modified)
            write_back(core, unit, line);
    }
}

/* L1 loses the line because of what happens below. */
static bool l1_drop(struct cache_core *core, struct cache_unit *unit, struct cache_line *line)
{
    struct cache_slot *slot = slot_find(unit, line);
    if (!slot)
        return false;
    cache_history_add(unit, line, (uint32_t)(slot - unit->front.slots));
    slot_empty(slot, line);
    core->count[CACHE_INCLUSION_VICTIMS]++;
    return true;
}

static void l2_replaced(struct cache_core *core, struct cache_unit *unit, struct cache_line *line)
{
    if (cache.model.l2.inclusive)
        l1_drop(core, unit, line);
    else if (slot_find(unit, line))
        return;
    unit_gives_up(core, unit, line);
}

static int l2_insert(struct cache_core *core, struct cache_unit *unit, struct cache_line *line)
{
    int place;
    struct cache_line *victim = cache_level_insert(&unit->l2, line, &place);
    if (victim)
        l2_replaced(core, unit, victim);
    return place;
}

static void l3_replaced(struct cache_core *core, int group, struct cache_line *line)
{
    cache_bit_clear(cache_group_set(line, CACHE_L3_HOLDS), group);
    bool newer = line->l3_dirty == group;
    if (newer)
        line->l3_dirty = CACHE_NONE;
    if (cache.model.l3.inclusive) {
        int per_group = cache.model.group / cache.model.smt;
        for (int u = group * per_group; u < (group + 1) * per_group && u < cache.units; u++) {
            struct cache_unit *unit = &cache.unit[u];
            if (!cache_bit(cache_set(line, CACHE_HOLDS), u))
                continue;
            if (unit->watchers)
                watchers_tell(unit, line);
            l1_drop(core, unit, line);
            int place = cache_level_find(&unit->l2, line);
            if (place >= 0) {
                cache_level_drop(&unit->l2, place);
                core->count[CACHE_INCLUSION_VICTIMS]++;
            }
            cache_bit_clear(cache_set(line, CACHE_HOLDS), u);
            if (line->owner == u) {
                line->owner = CACHE_NONE;
                core->count[CACHE_WRITEBACKS] += line->modified;
                newer |= line->modified;
                line->modified = false;
            }
        }
    }
    core->count[CACHE_WRITEBACKS_MEMORY] += newer;
}

static void l3_insert(struct cache_core *core, int group, struct cache_line *line)
{
    int place;
    struct cache_line *victim = cache_level_insert(&cache.l3[group], line, &place);
    cache_bit_set(cache_group_set(line, CACHE_L3_HOLDS), group);
    if (victim)
        l3_replaced(core, group, victim);
}

/* Losing to a write ---------------------------------------------------------------------------- */

static void unit_loses(struct cache_core *core, int u, struct cache_line *line)
{
    struct cache_unit *unit = &cache.unit[u];
    if (unit->watchers)
        watchers_tell(unit, line);
    struct cache_slot *slot = slot_find(unit, line);
    int place = cache_level_find(&unit->l2, line);
    cache_lose(line, u);
    if (slot) {
        cache_bit_set(cache_set(line, CACHE_L1_LOST), u);
        slot_empty(slot, line);
    }
    if (place >= 0) {
        cache_bit_set(cache_set(line, CACHE_L2_LOST), u);
        cache_level_empty(&unit->l2, place, line);
    }
    cache_bit_clear(cache_set(line, CACHE_HOLDS), u);
    core->count[CACHE_INVALIDATIONS]++;
}

static void l3_loses(int group, struct cache_line *line)
{
    cache_lose(line, cache.units + group);
    cache_bit_set(cache_group_set(line, CACHE_L3_LOST), group);
    cache_level_empty(&cache.l3[group], cache_level_find(&cache.l3[group], line), line);
    cache_bit_clear(cache_group_set(line, CACHE_L3_HOLDS), group);
}

/* All others lose the line, and the unit owns it. Pre: folded. Returns the distance of the farthest
 * that lost it; -1: nobody did. */
static int take(struct visit *visit)
{
    struct cache_line *line = visit->line;
    const struct cache_unit *unit = visit->unit;
    uint64_t *holds = cache_set(line, CACHE_HOLDS);
    uint64_t *l3_holds = cache_group_set(line, CACHE_L3_HOLDS);
    bool own_l3 = cache_bit(l3_holds, unit->group);
    cache_bit_clear(holds, unit->index);
    cache_bit_clear(l3_holds, unit->group);
    unsigned found = distances_holders(unit, line);
    if (found) {
        CACHE_EACH(u, holds, cache.unit_words)
        ahead_of_loss(&cache.unit[u], line);
        CACHE_EACH(g, l3_holds, cache.group_words)
        cache_level_ahead(&cache.l3[g], line->number);
        CACHE_EACH(u, holds, cache.unit_words)
        unit_loses(visit->core, u, line);
        CACHE_EACH(g, l3_holds, cache.group_words)
        l3_loses(g, line);
    }
    cache_bit_set(holds, unit->index);
    if (own_l3)
        cache_bit_set(l3_holds, unit->group);
    line->owner = (uint16_t)unit->index;
    line->modified = true;
    line->l3_dirty = CACHE_NONE;
    return found ? 31 - __builtin_clz(found) : -1;
}

/* The directory answers for a line in the order in which it was asked: one after the other, but for
 * readers of a shared line, which only wait for the asker before them. Returns what it takes with
 * that wait. Without this, n cores that write one word would all do so at the same time. */
static int64_t queue(struct cache_line *line, int64_t ps, bool alone)
{
    if (!cache_now)
        return ps;
    int64_t now = cache_now(), start = line->busy_ps > now ? line->busy_ps : now;
    if (arriving && arriving->done_ps >= now) /* it has its place in that order */
        return arriving->done_ps - now;
    if (alone) {
        line->busy_ps = start + ps;
        line->asker = CACHE_NONE;
    }
    return start - now + ps;
}

/* The price at which the unit gets the line from units that lose it, or lose the right to write it;
 * 0: no unit does. */
static int64_t price_of_taking(const struct cache_unit *unit, struct cache_line *line, bool write)
{
    uint64_t *holds = cache_set(line, CACHE_HOLDS);
    if (line->owner == unit->index)
        return 0;
    if (line->modified)
        return cache.model.dirty_ps[distance_unit(unit, line->owner)];
    if (!write || !cache_bit(holds, unit->index))
        return 0;
    uint64_t *l3_holds = cache_group_set(line, CACHE_L3_HOLDS);
    bool own_l3 = cache_bit(l3_holds, unit->group);
    cache_bit_clear(holds, unit->index);
    cache_bit_clear(l3_holds, unit->group);
    unsigned found = distances_holders(unit, line);
    cache_bit_set(holds, unit->index);
    if (own_l3)
        cache_bit_set(l3_holds, unit->group);
    return found ? cache.model.upgrade_ps[31 - __builtin_clz(found)] : 0;
}

/* Half of the whole, an eighth more or less. Constant times would let two cores that want a line
 * for the same few accesses miss each other for ever. */
static int64_t question_ps(int64_t ps)
{
    return ps * 3 / 8 + (int64_t)(cache_random() % (uint64_t)(ps / 4 + 1));
}

/* A unit that has the line works with it until the question arrives, half way, and then loses it.
 * Without this a core that others ask would never make two accesses in a row. A unit that asks
 * while the line is promised to another gets it from there. The unit that it is promised to, and a
 * reader after a reader, have it once it is there. True if the access has to come again. */
static bool is_under_way(const struct cache_unit *unit, struct cache_line *line, bool write)
{
    if (!cache_now || arriving || never_waits)
        return false;
    if (is_beside)
        return line->busy_ps > cache_now();
    int64_t now = cache_now(), start, ps;
    if (line->asker == CACHE_NONE || line->busy_ps <= now) {
        ps = price_of_taking(unit, line, write);
        start = line->busy_ps > now ? line->busy_ps : now;
    } else if (line->asker == unit->index || (line->asks_to_read && !write)) {
        cache_way = (struct cache_way){line->busy_ps - now, -1};
        return true;
    } else {
        ps = cache.model.dirty_ps[distance_unit(unit, line->asker)];
        start = line->busy_ps;
    }
    if (ps == 0)
        return false;
    line->busy_ps = start + ps;
    line->asker = (uint16_t)unit->index;
    line->asks_to_read = !write;
    cache_way = (struct cache_way){start + question_ps(ps) - now, start + ps};
    return true;
}

/* A write by a unit that holds the line, but not E or M. */
static int64_t upgrade(struct visit *visit)
{
    int farthest = take(visit);
    visit->core->count[CACHE_UPGRADES]++;
    return queue(visit->line, cache.model.upgrade_ps[farthest < 0 ? SIM_NEAR : farthest], true);
}

/* Missing -------------------------------------------------------------------------------------- */

/* The words that others have written, and that no other unit has looked at since, become known. */
static void look(const struct cache_unit *unit, struct cache_line *line)
{
    if (line->owner != CACHE_NONE && line->owner != unit->index) {
        struct cache_slot *slot = slot_find(&cache.unit[line->owner], line);
        if (slot)
            slot_tell(slot, line);
    }
    if (line->writer != unit->index)
        cache_fold(line);
}

/* The owner has looked after the line alone; now others read it too. */
static void share(struct cache_core *core, struct cache_line *line)
{
    struct cache_unit *owner = &cache.unit[line->owner];
    struct cache_slot *slot = slot_find(owner, line);
    if (slot)
        slot->key |= CACHE_READ_ONLY;
    line->owner = CACHE_NONE;
    if (line->modified)
        write_back(core, owner, line);
}

/* Nobody else has it: E. Pre: read by the unit, which is among the holders. */
static void settle(const struct cache_unit *unit, struct cache_line *line)
{
    cache_bit_set(cache_set(line, CACHE_HOLDS), unit->index);
    CACHE_EACH(u, cache_set(line, CACHE_HOLDS), cache.unit_words)
    if (u != unit->index)
        return;
    CACHE_EACH(g, cache_group_set(line, CACHE_L3_HOLDS), cache.group_words)
    if (g != unit->group)
        return;
    line->owner = (uint16_t)unit->index;
}

/* Where the line comes from: counts and price. */
static int64_t source(struct visit *visit, bool *outside)
{
    struct cache_line *line = visit->line;
    const struct cache_unit *unit = visit->unit;
    uint64_t *count = visit->core->count;
    int d;
    *outside = true;
    if (line->modified) {
        d = (int)distance_unit(unit, line->owner);
        count[CACHE_TRANSFERS_DIRTY_NEAR + d]++;
        *outside = d != SIM_NEAR;
        return cache.model.dirty_ps[d];
    }
    if (cache_bit(cache_group_set(line, CACHE_L3_HOLDS), unit->group)) {
        count[CACHE_L3_HIT]++;
        *outside = false;
        return cache.model.l3.hit_ps;
    }
    unsigned found = distances_holders(unit, line);
    if (found) {
        d = __builtin_ctz(found);
        count[CACHE_TRANSFERS_CLEAN_NEAR + d]++;
        *outside = d != SIM_NEAR;
        return cache.model.clean_ps[d];
    }
    bool remote = line->page->home != unit->socket;
    count[CACHE_MEMORY_LOCAL + remote]++;
    return cache.model.memory_ps[remote];
}

/* The line is in the group's L3 now, as a demand or ahead. */
static void l3_fill(struct cache_core *core, const struct cache_unit *unit, struct cache_line *line)
{
    if (!cache.has_l3)
        return;
    cache_bit_clear(cache_group_set(line, CACHE_L3_LOST), unit->group);
    if (cache_bit(cache_group_set(line, CACHE_L3_HOLDS), unit->group))
        cache_level_touch(&cache.l3[unit->group], cache_level_find(&cache.l3[unit->group], line));
    else
        l3_insert(core, unit->group, line);
}

static void prefetch(struct cache_core *core, struct cache_unit *unit, struct cache_line *line)
{
    if (!line || line->owner != CACHE_NONE || cache_bit(cache_set(line, CACHE_HOLDS), unit->index))
        return;
    look(unit, line);
    core->count[CACHE_PREFETCHES]++;
    l3_fill(core, unit, line);
    settle(unit, line);
    cache_bit_clear(cache_set(line, CACHE_L2_LOST), unit->index);
    int place = l2_insert(core, unit, line);
    unit->l2.prefetched[place] = true;
    INVARIANT(cache_line_is_valid(line));
}

/* The unit has the line nowhere. */
static int64_t fetch(struct visit *visit)
{
    struct cache_line *line = visit->line;
    struct cache_unit *unit = visit->unit;
    bool outside, dirty = line->modified;
    bool shared = !dirty && line->owner == CACHE_NONE && distances_holders(unit, line);
    int64_t ps = source(visit, &outside);
    if (cache.has_l3) {
        bool in_shadow = cache_shadow_access(&cache.l3[unit->group].shadow, line);
        visit->missed[CACHE_L3] = outside;
        if (outside)
            visit->kind[CACHE_L3] = cache_why_l3(unit, line, visit->words, in_shadow);
        cache_bit_set(cache_group_set(line, CACHE_L3_TOUCHED), unit->group);
    }
    if (visit->write) {
        int farthest = take(visit);
        if (!dirty && farthest >= 0 && cache.model.upgrade_ps[farthest] > ps)
            ps = cache.model.upgrade_ps[farthest];
    } else {
        if (line->owner != CACHE_NONE)
            share(visit->core, line);
        settle(unit, line);
    }
    l3_fill(visit->core, unit, line);
    return queue(line, ps, visit->write || !shared);
}

/* L1 has missed. */
static int64_t l2_access(struct visit *visit)
{
    struct cache_line *line = visit->line;
    struct cache_unit *unit = visit->unit;
    int place = cache_level_find(&unit->l2, line);
    bool in_shadow = cache_shadow_access(&unit->l2.shadow, line);
    if (place >= 0) {
        visit->core->count[CACHE_L2_HIT]++;
        if (cache.model.prefetch) {
            visit->core->count[CACHE_PREFETCHES_USEFUL] += unit->l2.prefetched[place];
            unit->l2.prefetched[place] = false;
        }
        cache_level_touch(&unit->l2, place);
        if (visit->write && line->owner != unit->index)
            return upgrade(visit);
        return cache.model.l2.hit_ps;
    }
    cache_level_victim_ahead(&unit->l2, line);
    visit->missed[CACHE_L2] = true;
    visit->kind[CACHE_L2] = cache_why_l2(unit, line, visit->words, in_shadow);
    int64_t ps = fetch(visit);
    cache_bit_clear(cache_set(line, CACHE_L2_LOST), unit->index);
    l2_insert(visit->core, unit, line);
    return ps;
}

/* The place that is to leave L1, if none has left the set before then. The host fetches its line
 * meanwhile. */
static int l1_victim(const struct cache_unit *unit, const struct cache_line *line)
{
    uint32_t first = set_of(line);
    const struct cache_slot *set = &unit->front.slots[first];
    int ways = cache.model.l1.ways;
    uint64_t uses[CACHE_WAYS_MAX];
    for (int i = 0; i < ways; i++)
        uses[i] = set[i].use;
    int victim = cache_victim(uses, ways, cache.model.l1.replacement);
    __builtin_prefetch(unit->lines[first + (uint32_t)victim], 1);
    return victim;
}

/* The line gets a place in L1. */
static struct cache_slot *l1_fill(struct visit *visit, int chosen)
{
    struct cache_unit *unit = visit->unit;
    int ways = cache.model.l1.ways;
    uint32_t first = set_of(visit->line);
    struct cache_slot *set = &unit->front.slots[first], *slot = set;
    struct cache_line **lines = &unit->lines[first], *victim = NULL;
    while (slot < set + ways && slot->key)
        slot++;
    if (slot == set + ways) {
        slot = set + chosen;
        victim = lines[chosen];
        cache_history_add(unit, victim, (uint32_t)(slot - unit->front.slots));
        slot_empty(slot, victim);
    }
    slot->key = visit->line->host;
    lines[slot - set] = visit->line;
    cache_bit_clear(cache_set(visit->line, CACHE_L1_LOST), unit->index);
    cache_bit_set(cache_set(visit->line, CACHE_TOUCHED), unit->index);
    if (victim && !cache.model.l2.inclusive && cache_level_find(&unit->l2, victim) < 0) {
        if (victim->owner == unit->index && victim->modified)
            l2_insert(visit->core, unit, victim);
        else
            unit_gives_up(visit->core, unit, victim);
    }
    return slot;
}

static int64_t l1_miss(struct visit *visit, struct cache_slot **slot)
{
    int victim = l1_victim(visit->unit, visit->line);
    look(visit->unit, visit->line);
    visit->missed[CACHE_L1] = true;
    visit->kind[CACHE_L1] = cache_why_l1(visit->unit, visit->line, visit->words);
    int64_t ps = l2_access(visit);
    *slot = l1_fill(visit, victim);
    return ps;
}

/* Accesses ------------------------------------------------------------------------------------- */

/* The unit writes the line, which its L1 has, and owns. */
static void write_words(struct visit *visit, struct cache_slot *slot)
{
    struct cache_line *line = visit->line;
    if (line->writer != visit->unit->index) {
        cache_fold(line);
        line->writer = (uint16_t)visit->unit->index;
    }
    line->modified = true;
    line->l3_dirty = CACHE_NONE;
    slot->use |= visit->words;
}

static void count(const struct visit *visit, uintptr_t pc, uintptr_t address, int64_t ps,
                  bool upgraded)
{
    static const enum cache_counter first[] = {CACHE_L1D_MISS, CACHE_L2_MISS, CACHE_L3_MISS};
    int name = cache_name_at(address);
    struct cache_tally *tally = cache_tally_of(pc, name);
    for (int depth = 0; depth < CACHE_DEPTHS; depth++) {
        if (!visit->missed[depth])
            continue;
        visit->core->count[first[depth]]++;
        visit->core->count[first[depth] + 1 + visit->kind[depth]]++;
        tally->misses[depth][visit->kind[depth]]++;
    }
    tally->upgrades += upgraded;
    tally->stall_ps += (uint64_t)ps;
    visit->core->count[CACHE_STALL_PS] += (uint64_t)ps;
    cache_stalled(pc, name, (uint64_t)ps);
}

/* slot: where L1 has the line; NULL: nowhere, or nobody has looked. */
static __attribute__((noinline)) int64_t access_line(struct cache_core *core,
                                                     struct cache_slot *slot, uintptr_t address,
                                                     size_t size, enum sim_access access,
                                                     uintptr_t pc)
{
    struct cache_unit *unit = (struct cache_unit *)core->front;
    struct cache_line *line = cache_line_at(address, unit->socket);
    uint64_t upgrades = core->count[CACHE_UPGRADES];
    int64_t ps = cache_price[access];
    INVARIANT(size > 0 && address % SIM_LINE + size <= SIM_LINE);
    if (__builtin_expect(line->has_free, 0) && cache_name_is_free(cache_name_at(address))) {
        core->count[access == SIM_WRITE ? CACHE_WRITES : CACHE_READS]++;
        return ps;
    }
    struct visit visit = {.core = core,
                          .unit = unit,
                          .line = line,
                          .words = cache_words(address, size),
                          .write = access == SIM_WRITE};
    if (is_under_way(unit, line, visit.write))
        return CACHE_UNDER_WAY;
    int64_t waited = arriving ? arriving->wait_ps : 0;
    core->count[access == SIM_WRITE ? CACHE_WRITES : CACHE_READS]++;
    unit->front.clock++;
    if (!slot && !cache.l1_by_address)
        slot = slot_find(unit, line);
    if (!slot) {
        cache_history_ahead(&unit->history, line);
        __builtin_prefetch(line->lost_words);
        if (cache.model.prefetch && !cache_bit(cache_set(line, CACHE_HOLDS), unit->index))
            ahead_of_prefetch(unit, line);
        ps = l1_miss(&visit, &slot);
    } else if (visit.write && line->owner != unit->index) {
        look(unit, line);
        ps = upgrade(&visit);
    }
    slot->use = unit->front.clock << CACHE_USE_SHIFT | (uint8_t)slot->use;
    if (visit.write)
        write_words(&visit, slot);
    bool writable = line->modified && line->owner == unit->index;
    slot->key = line->host | (line->has_free ? CACHE_ASKS : writable ? 0 : CACHE_READ_ONLY);
    unit->front.hints[cache_hint(address)] = (uint16_t)(slot - unit->front.slots);
    bool upgraded = core->count[CACHE_UPGRADES] != upgrades;
    if (is_beside) {
        ps = cache_price[access];
        core->count[CACHE_OVERLAPPED] += visit.missed[CACHE_L1] || upgraded;
    }
    if (visit.missed[CACHE_L1] || upgraded || waited)
        count(&visit, pc, address, waited + ps, upgraded);
    if (visit.missed[CACHE_L2] && cache.model.prefetch)
        prefetch(core, unit, cache_line_next(line));
    INVARIANT(cache_line_is_valid(line));
    return ps;
}

static __attribute__((noinline)) int64_t access_two(struct cache_core *self, uintptr_t address,
                                                    size_t size, enum sim_access access,
                                                    uintptr_t pc)
{
    size_t room = SIM_LINE - address % SIM_LINE;
    never_waits = true; /* one price for both, and few of them */
    int64_t ps = cache_access_by(self, address, room, access, pc);
    ps += cache_access_by(self, address + room, size - room, access, pc);
    never_waits = false;
    return ps;
}

int64_t cache_access_slow(struct cache_core *self, uintptr_t address, size_t size,
                          enum sim_access access, uintptr_t pc)
{
    if (address % SIM_LINE + size > SIM_LINE)
        return access_two(self, address, size, access, pc);
    struct cache_front *front = self->front;
    ahead_of_access((const struct cache_unit *)front, address);
    if (!cache.l1_by_address)
        return access_line(self, NULL, address, size, access, pc);
    struct cache_slot *slot = slot_at(front, (uint32_t)(address / SIM_LINE), address);
    if (!slot || !cache_slot_serves(slot, address, size, access))
        return access_line(self, slot, address, size, access, pc);
    /* The hint was wrong, which is all that is amiss with most accesses that come here. */
    front->hints[cache_hint(address)] = (uint16_t)(slot - front->slots);
    return cache_hit(self, slot, address, size, access);
}

int64_t cache_access_again(struct cache_core *self, uintptr_t address, size_t size,
                           enum sim_access access, uintptr_t pc, const struct cache_way *way)
{
    arriving = way;
    int64_t ps = cache_access_slow(self, address, size, access, pc);
    arriving = NULL;
    return ps;
}

int64_t cache_access_beside(struct cache_core *self, uintptr_t address, size_t size,
                            enum sim_access access, uintptr_t pc)
{
    is_beside = true;
    int64_t ps = cache_access_slow(self, address, size, access, pc);
    is_beside = false;
    return ps;
}
