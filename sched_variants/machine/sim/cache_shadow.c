/* cache_shadow.c - see cache_impl.h: what a fully associative LRU cache would hold.
 *
 * A log of accesses keeps their order. Until the cache is full for the first time nothing has to
 * leave, so order does not matter yet. A bit of the line then says that it is held, and an access
 * only writes the end of the log. Most caches never get further: few programs touch as many lines
 * as there are in L2, and hardly any as many as in L3. Only each line's last access counts in the
 * log; the others are thrown out from time to time.
 *
 * Once the cache is full, and from then on, each line that is held has an entry in a hash table.
 * The entry has the place of the line's last access in the log. When the earliest line has to
 * leave, places that a line has left are skipped; when the log is full, they are thrown out. So an
 * access touches one entry and the end of the log. A list in order of access would touch the
 * neighbours as well. Misses in the host's caches are most of what a simulated miss costs.
 *
 * Outgrown logs stay in the pool: together they are no larger than the last.
 */
#include "cache_impl.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_MIN = 64 };

/* Open addressing; at most half are in use, and the log has room for two accesses to each. */
struct cache_shadow_entry {
    uint32_t tag; /* number of the line, and 1; 0: empty */
    uint32_t last;
};

static struct {
    uint64_t *lines; /* a bit for each, a word for each page: is later in the log; 0 between uses */
    uint32_t pages;
} seen;

void cache_shadow_init(struct cache_shadow *shadow, uint32_t lines, uint32_t word, int bit)
{
    *shadow = (struct cache_shadow){
        .size = lines, .word = word, .mask = UINT64_C(1) << bit, .log_room = LOG_MIN};
    shadow->log = cache_pool_alloc(LOG_MIN, sizeof *shadow->log);
}

void cache_shadow_fini(void)
{
    free(seen.lines);
    seen.lines = NULL;
    seen.pages = 0;
}

static bool shadow_is_valid(const struct cache_shadow *shadow)
{
    return HOLDS(shadow->used <= shadow->size) && HOLDS(shadow->first <= shadow->end) &&
           HOLDS(shadow->end <= shadow->log_room);
}

/* Until it is full ---------------------------------------------------------------------------- */

static bool held(const struct cache_shadow *shadow, const struct cache_line *line)
{
    return line->sets[shadow->word] & shadow->mask;
}

/* Keeps of the log each line's last access. */
static void log_tidy(struct cache_shadow *shadow)
{
    uint32_t at = shadow->end;
    if (cache_page_count() > seen.pages) {
        free(seen.lines);
        seen.pages = 2 * cache_page_count();
        seen.lines = cache_zalloc(seen.pages, sizeof *seen.lines);
    }
    for (uint32_t i = shadow->end; i-- > 0;) {
        uint32_t line = shadow->log[i];
        uint64_t bit = UINT64_C(1) << line % CACHE_PAGE_LINES;
        if (seen.lines[line / CACHE_PAGE_LINES] & bit)
            continue;
        seen.lines[line / CACHE_PAGE_LINES] |= bit;
        shadow->log[--at] = line;
    }
    shadow->end -= at;
    memmove(shadow->log, shadow->log + at, shadow->end * sizeof *shadow->log);
    for (uint32_t i = 0; i < shadow->end; i++)
        seen.lines[shadow->log[i] / CACHE_PAGE_LINES] = 0;
}

/* Keeps of a tidy log the lines that are held. */
static void log_filter(struct cache_shadow *shadow)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < shadow->end; i++) {
        uint32_t line = shadow->log[i];
        shadow->log[end] = line;
        end += held(shadow, cache_line_numbered(line));
    }
    shadow->end = end;
}

static void log_move(struct cache_shadow *shadow, uint32_t room)
{
    uint32_t *log = cache_pool_alloc(room, sizeof *log);
    memcpy(log, shadow->log, shadow->end * sizeof *log);
    shadow->log = log;
    shadow->log_room = room;
}

static void log_full(struct cache_shadow *shadow)
{
    log_tidy(shadow);
    if (shadow->end <= shadow->log_room / 4)
        return;
    log_filter(shadow);
    if (shadow->end > shadow->log_room / 4)
        log_move(shadow, 2 * shadow->log_room);
}

static void log_add(struct cache_shadow *shadow, uint32_t line)
{
    if (shadow->end == shadow->log_room)
        log_full(shadow);
    shadow->log[shadow->end++] = line;
}

/* Once it is full ----------------------------------------------------------------------------- */

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

static void entries_make(struct cache_shadow *shadow)
{
    int bits = 1;
    while (UINT32_C(1) << bits < 2 * (shadow->size + 1))
        bits++;
    log_tidy(shadow);
    log_filter(shadow);
    shadow->room = UINT32_C(1) << bits;
    shadow->shift = 32 - bits;
    shadow->entries = cache_pool_alloc(shadow->room, sizeof *shadow->entries);
    for (uint32_t i = 0; i < shadow->end; i++)
        *find(shadow, shadow->log[i]) = (struct cache_shadow_entry){shadow->log[i] + 1, i};
    log_move(shadow, 2 * shadow->room);
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

static bool entries_access(struct cache_shadow *shadow, uint32_t line)
{
    if (shadow->end == shadow->log_room)
        compact(shadow);
    struct cache_shadow_entry *entry = find(shadow, line);
    bool there = entry->tag;
    if (!there) {
        if (shadow->used == shadow->size)
            replace(shadow);
        entry = find(shadow, line);
        entry->tag = line + 1;
        shadow->used++;
    }
    entry->last = shadow->end;
    shadow->log[shadow->end++] = line;
    return there;
}

/* Both ---------------------------------------------------------------------------------------- */

void cache_shadow_ahead(const struct cache_shadow *shadow, uint32_t line)
{
    if (shadow->entries)
        __builtin_prefetch(&shadow->entries[home(shadow, line)]);
    __builtin_prefetch(&shadow->log[shadow->end]);
}

bool cache_shadow_access(struct cache_shadow *shadow, struct cache_line *line)
{
    INVARIANT(shadow_is_valid(shadow));
    if (!shadow->entries && shadow->used == shadow->size && !held(shadow, line))
        entries_make(shadow);
    if (shadow->entries)
        return entries_access(shadow, line->number);
    bool there = held(shadow, line);
    line->sets[shadow->word] |= shadow->mask;
    shadow->used += !there;
    log_add(shadow, line->number);
    return there;
}

void cache_shadow_forget(struct cache_shadow *shadow, struct cache_line *line)
{
    if (shadow->entries) {
        struct cache_shadow_entry *entry = find(shadow, line->number);
        if (entry->tag)
            empty(shadow, entry);
    } else {
        INVARIANT(shadow->used > 0 || !held(shadow, line));
        shadow->used -= held(shadow, line);
        line->sets[shadow->word] &= ~shadow->mask;
    }
}
