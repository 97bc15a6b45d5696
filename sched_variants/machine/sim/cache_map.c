/* cache_map.c - see cache_impl.h: pages and lines by address, and what they are called.
 *
 * Two steps: a chunk of 2 MiB by hash, then its page. A page gets its number when it is first
 * touched: 0, 1, 2, ... Names are beside the pages, not in them, since naming is no touch: a page
 * has one name, or an array of one per word.
 */
#include "cache_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 2 << 20, CHUNK_PAGES = CHUNK / SIM_PAGE, PAGE_WORDS = SIM_PAGE / 8, RECENT = 64 };

struct chunk {
    uintptr_t number; /* address / CHUNK */
    struct cache_page *pages[CHUNK_PAGES];
    uint16_t name[CHUNK_PAGES];
    uint16_t *names[CHUNK_PAGES]; /* NULL: all words have the one name */
};

static struct {
    struct chunk **chunks; /* open addressing, power of two, at most half full */
    size_t size, used;
    struct chunk *recent[RECENT];
    struct cache_page **pages; /* by number */
    uint32_t page_count, page_room;
    char names[CACHE_NAMES_MAX][CACHE_NAME_SIZE];
    bool free[CACHE_NAMES_MAX], any_free;
    int name_count;
} map;

void cache_map_init(void)
{
    memset(&map, 0, sizeof map);
    map.size = 64;
    map.chunks = cache_zalloc(map.size, sizeof(struct chunk *));
    map.name_count = 1;
    strcpy(map.names[CACHE_UNNAMED], "(unnamed)");
}

void cache_map_fini(void)
{
    for (size_t i = 0; i < map.size; i++) {
        for (int page = 0; map.chunks[i] && page < CHUNK_PAGES; page++)
            free(map.chunks[i]->names[page]);
    }
    free(map.chunks);
}

/* Pages and lines ------------------------------------------------------------------------------ */

/* The place of a chunk in the table, or the empty one where it belongs. */
static struct chunk **chunk_place(uintptr_t number)
{
    size_t i = number * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    while (map.chunks[i % map.size] && map.chunks[i % map.size]->number != number)
        i++;
    return &map.chunks[i % map.size];
}

static void chunks_grow(void)
{
    struct chunk **old = map.chunks;
    size_t size = map.size;
    map.size *= 2;
    map.chunks = cache_zalloc(map.size, sizeof *map.chunks);
    for (size_t i = 0; i < size; i++)
        if (old[i])
            *chunk_place(old[i]->number) = old[i];
    free(old);
}

static __attribute__((noinline)) struct chunk *chunk_search(uintptr_t number, bool make)
{
    struct chunk **place = chunk_place(number);
    if (!*place) {
        if (!make)
            return NULL;
        if (++map.used * 2 > map.size) {
            chunks_grow();
            place = chunk_place(number);
        }
        *place = cache_pool_alloc(1, sizeof **place);
        (*place)->number = number;
    }
    map.recent[number % RECENT] = *place;
    return *place;
}

static struct chunk *chunk_at(uintptr_t address, bool make)
{
    uintptr_t number = address / CHUNK;
    struct chunk *chunk = map.recent[number % RECENT];
    return chunk && chunk->number == number ? chunk : chunk_search(number, make);
}

static bool has_free_word(const struct chunk *chunk, uintptr_t address)
{
    size_t page = address % CHUNK / SIM_PAGE;
    if (!chunk->names[page])
        return map.free[chunk->name[page]];
    for (int i = 0; i < SIM_LINE / 8; i++)
        if (map.free[chunk->names[page][address % SIM_PAGE / 8 + i]])
            return true;
    return false;
}

static __attribute__((noinline)) struct cache_line *
line_make(struct cache_page *page, const struct chunk *chunk, uintptr_t address)
{
    int i = address % SIM_PAGE / SIM_LINE;
    struct cache_line *line = cache_pool_alloc(
        1, sizeof *line + sizeof line->sets[0] * (size_t)(CACHE_UNIT_SETS * cache.unit_words +
                                                          CACHE_GROUP_SETS * cache.group_words));
    line->number = page->number * CACHE_PAGE_LINES + (uint32_t)i;
    line->owner = line->l3_dirty = line->writer = line->asker = CACHE_NONE;
    line->page = page;
    line->host = address & -(uintptr_t)SIM_LINE;
    line->has_free = has_free_word(chunk, line->host);
    page->lines[i] = line;
    return line;
}

static __attribute__((noinline)) struct cache_page *page_make(struct chunk *chunk, int i,
                                                              int socket)
{
    struct cache_page *page = cache_pool_alloc(1, sizeof *page);
    if (map.page_count == map.page_room) {
        map.page_room = map.page_room ? 2 * map.page_room : 1024;
        struct cache_page **pages = cache_pool_alloc(map.page_room, sizeof *pages);
        if (map.page_count)
            memcpy(pages, map.pages, map.page_count * sizeof *pages);
        map.pages = pages;
    }
    page->number = map.page_count++;
    map.pages[page->number] = page;
    page->home = (uint16_t)socket;
    chunk->pages[i] = page;
    return page;
}

struct cache_line *cache_line_at(uintptr_t address, int socket)
{
    struct chunk *chunk = chunk_at(address, true);
    int i = address % CHUNK / SIM_PAGE;
    struct cache_page *page = chunk->pages[i];
    if (!page)
        page = page_make(chunk, i, socket);
    struct cache_line *line = page->lines[address % SIM_PAGE / SIM_LINE];
    return line ? line : line_make(page, chunk, address);
}

const struct cache_line *cache_line_known(uintptr_t address, uint32_t *number)
{
    const struct chunk *chunk = map.recent[address / CHUNK % RECENT];
    if (!chunk || chunk->number != address / CHUNK)
        return NULL;
    const struct cache_page *page = chunk->pages[address % CHUNK / SIM_PAGE];
    if (!page)
        return NULL;
    *number = page->number * CACHE_PAGE_LINES + address % SIM_PAGE / SIM_LINE;
    return page->lines[address % SIM_PAGE / SIM_LINE];
}

uint32_t cache_page_count(void)
{
    return map.page_count;
}

struct cache_line *cache_line_numbered(uint32_t number)
{
    INVARIANT(number / CACHE_PAGE_LINES < map.page_count);
    INVARIANT(map.pages[number / CACHE_PAGE_LINES]->lines[number % CACHE_PAGE_LINES]);
    return map.pages[number / CACHE_PAGE_LINES]->lines[number % CACHE_PAGE_LINES];
}

struct cache_line *cache_line_next(struct cache_line *line)
{
    uint32_t i = line->number % CACHE_PAGE_LINES + 1;
    if (i == CACHE_PAGE_LINES)
        return NULL;
    struct cache_line *next = line->page->lines[i];
    uintptr_t address = line->host + SIM_LINE;
    return next ? next : line_make(line->page, chunk_at(address, true), address);
}

void cache_map_each_line(void (*visit)(struct cache_line *line))
{
    for (size_t i = 0; i < map.size; i++)
        for (int page = 0; map.chunks[i] && page < CHUNK_PAGES; page++)
            for (int l = 0; map.chunks[i]->pages[page] && l < CACHE_PAGE_LINES; l++)
                if (map.chunks[i]->pages[page]->lines[l])
                    visit(map.chunks[i]->pages[page]->lines[l]);
}

/* Names ---------------------------------------------------------------------------------------- */

int cache_name_id(const char *text)
{
    INVARIANT(text);
    char cut[CACHE_NAME_SIZE];
    snprintf(cut, sizeof cut, "%s", text);
    for (int i = 0; i < map.name_count; i++)
        if (!strcmp(map.names[i], cut))
            return i;
    if (map.name_count == CACHE_NAMES_MAX)
        return -1;
    strcpy(map.names[map.name_count], cut);
    return map.name_count++;
}

const char *cache_name_text(int name)
{
    INVARIANT(name >= 0 && name < map.name_count);
    return map.names[name];
}

bool cache_name_is_free(int name)
{
    INVARIANT(name >= 0 && name < map.name_count);
    return map.free[name];
}

int cache_name_at(uintptr_t address)
{
    const struct chunk *chunk = chunk_at(address, false);
    if (!chunk)
        return CACHE_UNNAMED;
    size_t page = address % CHUNK / SIM_PAGE;
    return chunk->names[page] ? chunk->names[page][address % SIM_PAGE / 8] : chunk->name[page];
}

/* Looks again if a word of the line is free, after a word may have got another name. */
static void line_renamed(const struct chunk *chunk, struct cache_line *line)
{
    line->has_free = has_free_word(chunk, line->host);
    if (line->has_free)
        cache_line_freed(line);
}

/* Words first to last of a page. */
static void page_name(struct chunk *chunk, size_t page, size_t first, size_t last, int name)
{
    uint16_t **names = &chunk->names[page];
    if (first == 0 && last == PAGE_WORDS - 1) {
        free(*names);
        *names = NULL;
        chunk->name[page] = (uint16_t)name;
    } else if (*names || chunk->name[page] != name) {
        if (!*names) {
            *names = cache_zalloc(PAGE_WORDS, sizeof **names);
            for (int i = 0; i < PAGE_WORDS; i++)
                (*names)[i] = chunk->name[page];
        }
        for (size_t i = first; i <= last; i++)
            (*names)[i] = (uint16_t)name;
    }
    for (size_t i = first / 8; map.any_free && chunk->pages[page] && i <= last / 8; i++)
        if (chunk->pages[page]->lines[i])
            line_renamed(chunk, chunk->pages[page]->lines[i]);
}

void cache_name(const void *start, size_t size, int name)
{
    uintptr_t at = (uintptr_t)start, end = at + size;
    INVARIANT(name >= 0 && name < map.name_count);
    while (at < end) {
        uintptr_t next = (at | (SIM_PAGE - 1)) + 1;
        uintptr_t last = (next < end ? next : end) - 1;
        page_name(chunk_at(at, true), at % CHUNK / SIM_PAGE, at % SIM_PAGE / 8, last % SIM_PAGE / 8,
                  name);
        at = next;
    }
}

bool cache_free_name(int name)
{
    if (name <= CACHE_UNNAMED || name >= map.name_count)
        return false;
    map.free[name] = map.any_free = true;
    for (size_t i = 0; i < map.size; i++)
        for (int page = 0; map.chunks[i] && page < CHUNK_PAGES; page++)
            for (int l = 0; map.chunks[i]->pages[page] && l < CACHE_PAGE_LINES; l++)
                if (map.chunks[i]->pages[page]->lines[l])
                    line_renamed(map.chunks[i], map.chunks[i]->pages[page]->lines[l]);
    return true;
}
