/* cache_why.c - counters; why a line was not there, and whose it was.
 *
 * Cold, then lost to a write, then capacity or conflict. The last two are told apart by what a
 * fully associative LRU cache of the same size would have done with the same accesses.
 *
 * L2 and L3 see few enough accesses to run such a cache beside them, as a list (cache_level.c). For
 * L1 that would cost every hit. There the stamps that hits leave anyway are enough. A cache of C
 * lines holds the C lines whose last access is the latest. So a line that was last accessed at t
 * has left it when C others have later stamps. These others are in L1, or L1 has replaced them
 * since. Replaced lines are kept, with their stamps, in the history. Counting through both costs as
 * much as C accesses and is seldom needed, for three bounds:
 *
 *   fewer than C accesses since t                  a conflict: too few for C lines
 *   n others are later than t, and n < C           a conflict, now and for C - n accesses, from t
 *   n others are later than t, and n >= C          capacity, now and ever, up to t + n - C: one
 *                                                  access has one stamp, so each step of t takes at
 *                                                  most one from n; history.floor keeps that
 *
 * The history has room for 2 C lines. When it is full, the C-th latest stamp of all becomes the
 * floor. Lines that are not above it go; at most C stay.
 *
 * So capacity is exact as long as no line is lost to a write: lost lines leave L1, and do not count
 * as later lines from then on. A conflict is exact to a quarter of C. The second bound is used for
 * C/4 accesses more than is certain, because each miss would have to be counted where every miss is
 * close to the limit. A miss that is called a conflict would not have happened in an associative
 * cache of 5/4 C.
 *
 * True or false sharing: a unit that lost a line to a write has a mask of the words that others
 * have written since. Hits only add to the mask of the writer's slot. cache_fold() hands it on when
 * another unit looks at the line, which happens before another unit can write it.
 * Derived from: Dubois, Skeppstedt, Ricciulli, Ramamurthy, Stenstrom, "The detection and
 * elimination of useless misses in multiprocessors", ISCA 1993. Differs: only the access that
 * misses decides, not the later ones of the same stay, so that a miss has its kind at once.
 */
#include "cache_impl.h"

#include <stdlib.h>
#include <string.h>

/* History of L1 -------------------------------------------------------------------------------- */

enum { HISTORY_ROOM = 16 };

void cache_history_init(struct cache_history *history, uint32_t lines)
{
    *history = (struct cache_history){
        .sets = cache_pool_alloc(cache.l1_sets, sizeof *history->sets),
        .size = 2 * lines,
    };
    for (uint32_t i = 0; i < cache.l1_sets; i++) {
        struct cache_history_set *set = &history->sets[i];
        set->room = HISTORY_ROOM;
        set->lines = cache_pool_alloc(HISTORY_ROOM, sizeof(struct cache_line *));
        set->stamps = cache_pool_alloc(HISTORY_ROOM, sizeof *set->stamps);
    }
}

static struct cache_history_set *history_set(const struct cache_history *history,
                                             const struct cache_line *line)
{
    return &history->sets[line->number & (cache.l1_sets - 1)];
}

void cache_history_ahead(const struct cache_history *history, const struct cache_line *line)
{
    const struct cache_history_set *set = history_set(history, line);
    __builtin_prefetch(set->lines);
    __builtin_prefetch(set->stamps);
}

/* The last of the set takes its place. */
static void history_free(struct cache_history *history, struct cache_history_set *set, uint32_t i)
{
    INVARIANT(history->used > 0);
    set->used--;
    set->lines[i] = set->lines[set->used];
    set->stamps[i] = set->stamps[set->used];
    history->used--;
}

/* Outgrown arrays stay in the pool. */
static void history_set_grow(struct cache_history_set *set)
{
    const struct cache_line **lines = cache_pool_alloc((size_t)2 * set->room, sizeof *lines);
    uint64_t *stamps = cache_pool_alloc((size_t)2 * set->room, sizeof *stamps);
    memcpy(lines, set->lines, set->used * sizeof *lines);
    memcpy(stamps, set->stamps, set->used * sizeof *stamps);
    set->lines = lines;
    set->stamps = stamps;
    set->room *= 2;
}

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t old = *a;
    *a = *b;
    *b = old;
}

/* The k-th largest of n values, k from 1; reorders them. They differ. */
static uint64_t kth_largest(uint64_t *values, size_t n, size_t k)
{
    while (n > 1) {
        size_t larger = 0;
        swap(&values[n / 2], &values[n - 1]);
        for (size_t i = 0; i < n - 1; i++)
            if (values[i] > values[n - 1])
                swap(&values[i], &values[larger++]);
        swap(&values[larger], &values[n - 1]);
        if (k == larger + 1)
            return values[larger];
        if (k <= larger) {
            n = larger;
        } else {
            values += larger + 1;
            n -= larger + 1;
            k -= larger + 1;
        }
    }
    return *values;
}

/* The history is full: makes room. */
static void history_purge(struct cache_unit *unit)
{
    struct cache_history *history = &unit->history;
    struct cache_history_set *end = history->sets + cache.l1_sets;
    uint64_t *stamps = cache_zalloc(history->size + unit->slots, sizeof *stamps);
    size_t n = 0;
    for (uint32_t i = 0; i < unit->slots; i++)
        if (unit->front.slots[i].key)
            stamps[n++] = unit->front.slots[i].use >> CACHE_USE_SHIFT;
    for (struct cache_history_set *set = history->sets; set < end; set++)
        for (uint32_t i = 0; i < set->used; i++)
            stamps[n++] = set->stamps[i];
    uint64_t floor = kth_largest(stamps, n, unit->slots) - 1;
    free(stamps);
    if (floor > history->floor)
        history->floor = floor;
    for (struct cache_history_set *set = history->sets; set < end; set++)
        for (uint32_t i = set->used; i-- > 0;)
            if (set->stamps[i] <= history->floor)
                history_free(history, set, i);
}

void cache_history_add(struct cache_unit *unit, struct cache_line *line, uint32_t slot)
{
    struct cache_history *history = &unit->history;
    struct cache_history_set *set = &history->sets[slot / (uint32_t)cache.model.l1.ways];
    INVARIANT(slot < unit->slots);
    INVARIANT(unit->lines[slot] == line);
    uint64_t stamp = unit->front.slots[slot].use >> CACHE_USE_SHIFT;
    if (stamp <= history->floor)
        return;
    if (history->used == history->size)
        history_purge(unit);
    if (set->used == set->room)
        history_set_grow(set);
    set->lines[set->used] = line;
    set->stamps[set->used++] = stamp;
    history->used++;
    INVARIANT(set->used <= set->room);
    INVARIANT(history->used <= history->size);
}

/* By how many accesses more than is certain a ceiling is used: C/4; a cache so small that
 * counting is cheap does without. */
static uint32_t slack(uint32_t lines)
{
    return lines / 128 * 32;
}

static uint32_t later_lines(const struct cache_unit *unit, uint64_t stamp)
{
    const struct cache_slot *slots = unit->front.slots;
    uint64_t use = (stamp + 1) << CACHE_USE_SHIFT; /* of empty ones it is 0 */
    uint32_t count = unit->slots, n = 0, even = 0;
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        n += slots[i].use >= use;
        even += slots[i + 1].use >= use;
    }
    n += even + (count % 2 && slots[count - 1].use >= use);
    for (uint32_t s = 0; s < cache.l1_sets; s++) {
        const struct cache_history_set *set = &unit->history.sets[s];
        const uint64_t *stamps = set->stamps, *end = stamps + set->used;
        for (; stamps < end; stamps++)
            n += *stamps > stamp;
    }
    return n;
}

bool cache_history_capacity(struct cache_unit *unit, const struct cache_line *line)
{
    struct cache_history *history = &unit->history;
    struct cache_history_set *set = history_set(history, line);
    uint32_t i = 0;
    while (i < set->used && set->lines[i] != line)
        i++;
    if (i == set->used)
        return true;
    uint64_t stamp = set->stamps[i];
    history_free(history, set, i);
    if (stamp <= history->floor)
        return true;
    if (unit->front.clock - stamp <= unit->slots) /* this access is one of them */
        return false;
    if (stamp >= history->ceiling && unit->front.clock < history->ceiling_until)
        return false;
    uint32_t later = later_lines(unit, stamp);
    if (later < unit->slots) {
        if (unit->front.clock >= history->ceiling_until || stamp < history->ceiling) {
            history->ceiling = stamp;
            history->ceiling_until = unit->front.clock + unit->slots - later + slack(unit->slots);
        }
        return false;
    }
    history->floor = stamp + later - unit->slots;
    return true;
}

/* Sharing -------------------------------------------------------------------------------------- */

/* The bytes of lost_words, eight at a time: a hand-over of a line goes through all of them. */
static size_t lost_words_count(void)
{
    return (size_t)(cache.units + cache.groups + 7) / 8;
}

void cache_fold(struct cache_line *line)
{
    INVARIANT(!line->written || line->writer < cache.units);
    if (line->written && line->lost_words) {
        int writer = line->writer, group = cache.unit[writer].group;
        uint8_t *lost = (uint8_t *)line->lost_words;
        uint8_t own = lost[writer], groups_own = lost[cache.units + group];
        uint64_t written = line->written * (UINT64_MAX / UINT8_MAX);
        for (size_t i = 0; i < lost_words_count(); i++)
            line->lost_words[i] |= written;
        lost[writer] = own;
        lost[cache.units + group] = groups_own;
    }
    line->written = 0;
}

void cache_lose(struct cache_line *line, int i)
{
    INVARIANT(i >= 0 && i < cache.units + cache.groups);
    if (!line->lost_words)
        line->lost_words = cache_pool_alloc(lost_words_count(), sizeof *line->lost_words);
    ((uint8_t *)line->lost_words)[i] = 0;
}

static enum cache_kind sharing(const struct cache_line *line, int i, uint8_t words)
{
    INVARIANT(line->lost_words); /* each line that was lost has them */
    return ((const uint8_t *)line->lost_words)[i] & words ? CACHE_TRUE : CACHE_FALSE;
}

enum cache_kind cache_why_l1(struct cache_unit *unit, struct cache_line *line, uint8_t words)
{
    if (!cache_bit(cache_set(line, CACHE_TOUCHED), unit->index))
        return CACHE_COLD;
    if (cache_bit(cache_set(line, CACHE_L1_LOST), unit->index))
        return sharing(line, unit->index, words);
    return cache_history_capacity(unit, line) ? CACHE_CAPACITY : CACHE_CONFLICT;
}

enum cache_kind cache_why_l2(const struct cache_unit *unit, struct cache_line *line, uint8_t words,
                             bool in_shadow)
{
    if (!cache_bit(cache_set(line, CACHE_TOUCHED), unit->index))
        return CACHE_COLD;
    if (cache_bit(cache_set(line, CACHE_L2_LOST), unit->index))
        return sharing(line, unit->index, words);
    return in_shadow ? CACHE_CONFLICT : CACHE_CAPACITY;
}

enum cache_kind cache_why_l3(const struct cache_unit *unit, struct cache_line *line, uint8_t words,
                             bool in_shadow)
{
    if (!cache_bit(cache_group_set(line, CACHE_L3_TOUCHED), unit->group))
        return CACHE_COLD;
    if (cache_bit(cache_group_set(line, CACHE_L3_LOST), unit->group))
        return sharing(line, cache.units + unit->group, words);
    return in_shadow ? CACHE_CONFLICT : CACHE_CAPACITY;
}

/* Tallies -------------------------------------------------------------------------------------- */

struct entry {
    struct cache_site site;
    bool used;
};

static struct {
    struct entry *entries; /* by pc and name: open addressing, power of two, at most half full */
    size_t size, used;
    bool stopped;
    struct cache_tally nobodys; /* takes what comes while they are stopped */
} tallies;

void cache_why_init(void)
{
    tallies.used = 0;
    tallies.stopped = false;
    tallies.size = 1024;
    tallies.entries = cache_zalloc(tallies.size, sizeof *tallies.entries);
}

void cache_why_fini(void)
{
    free(tallies.entries);
    tallies.entries = NULL;
}

static struct entry *entry_place(uintptr_t pc, int name)
{
    size_t i = (pc * CACHE_NAMES_MAX + (uintptr_t)name) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    struct entry *entry = &tallies.entries[i % tallies.size];
    while (entry->used && (entry->site.pc != pc || entry->site.name != name))
        entry = &tallies.entries[++i % tallies.size];
    return entry;
}

static void entries_grow(void)
{
    struct entry *old = tallies.entries;
    size_t size = tallies.size;
    tallies.size *= 2;
    tallies.entries = cache_zalloc(tallies.size, sizeof *tallies.entries);
    for (size_t i = 0; i < size; i++)
        if (old[i].used)
            *entry_place(old[i].site.pc, old[i].site.name) = old[i];
    free(old);
}

void cache_tallies_run(bool run)
{
    tallies.stopped = !run;
}

struct cache_tally *cache_tally_of(uintptr_t pc, int name)
{
    if (tallies.stopped)
        return &tallies.nobodys;
    struct entry *entry = entry_place(pc, name);
    if (!entry->used) {
        if (++tallies.used * 2 > tallies.size) {
            entries_grow();
            entry = entry_place(pc, name);
        }
        entry->used = true;
        entry->site.pc = pc;
        entry->site.name = name;
    }
    return &entry->site.tally;
}

void (*cache_on_stall)(uintptr_t pc, int name, uint64_t ps);

void cache_stalled(uintptr_t pc, int name, uint64_t ps)
{
    if (cache_on_stall && !tallies.stopped)
        cache_on_stall(pc, name, ps);
}

void cache_tallies_reset(void)
{
    bool stopped = tallies.stopped;
    cache_why_fini();
    cache_why_init();
    tallies.stopped = stopped;
}

static void tally_add(struct cache_tally *sum, const struct cache_tally *tally)
{
    for (int depth = 0; depth < CACHE_DEPTHS; depth++)
        for (int kind = 0; kind < CACHE_KINDS; kind++)
            sum->misses[depth][kind] += tally->misses[depth][kind];
    sum->upgrades += tally->upgrades;
    sum->stall_ps += tally->stall_ps;
}

static int by_stall(const void *a, const void *b)
{
    const struct cache_site *one = a, *other = b;
    if (one->tally.stall_ps != other->tally.stall_ps)
        return one->tally.stall_ps > other->tally.stall_ps ? -1 : 1;
    if (one->name != other->name)
        return strcmp(cache_name_text(one->name), cache_name_text(other->name));
    return one->pc < other->pc ? -1 : one->pc > other->pc;
}

size_t cache_sites(enum cache_by by, struct cache_site **sites)
{
    static const struct cache_tally none;
    size_t n = 0, most = tallies.used > CACHE_NAMES_MAX ? tallies.used : CACHE_NAMES_MAX;
    struct cache_site *list = cache_zalloc(most, sizeof *list);
    for (size_t i = 0; i < tallies.size; i++) {
        const struct cache_site *site = &tallies.entries[i].site;
        if (!tallies.entries[i].used)
            continue;
        if (by == CACHE_BY_PC) {
            list[n++] = *site;
        } else {
            list[site->name].name = site->name;
            tally_add(&list[site->name].tally, &site->tally);
        }
    }
    for (int name = 0; by == CACHE_BY_NAME && name < CACHE_NAMES_MAX; name++)
        if (memcmp(&list[name].tally, &none, sizeof none) != 0)
            list[n++] = list[name];
    qsort(list, n, sizeof *list, by_stall);
    *sites = list;
    return n;
}

/* Counters ------------------------------------------------------------------------------------- */

const char *const cache_counter_names[CACHE_COUNTERS] = {
#define NAME(name, help) #name,
    CACHE_COUNTER_LIST(NAME)
#undef NAME
};

const char *const cache_counter_helps[CACHE_COUNTERS] = {
#define HELP(name, help) help,
    CACHE_COUNTER_LIST(HELP)
#undef HELP
};

void cache_counters_read(int core, struct cache_counters *counters)
{
    INVARIANT(core < cache.model.cores);
    memset(counters, 0, sizeof *counters);
    uint64_t *sum = counters->count;
    for (int i = core < 0 ? 0 : core; i < (core < 0 ? cache.model.cores : core + 1); i++)
        for (int counter = 0; counter < CACHE_COUNTERS; counter++)
            sum[counter] += cache_cores[i].count[counter];
    sum[CACHE_L1D_HIT] = sum[CACHE_READS] + sum[CACHE_WRITES] - sum[CACHE_L1D_MISS];
}

void cache_counters_reset(void)
{
    for (int i = 0; i < cache.model.cores; i++)
        memset(cache_cores[i].count, 0, sizeof cache_cores[i].count);
    cache_tallies_reset();
}
