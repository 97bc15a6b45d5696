/* breaks_cache.c - ways to break the invariants of the simulated machine's caches; see breaks.h. */
#include "breaks.h"
#include "machine/sim/cache_impl.h"

/* 4 cores, two of a group; L1 8 lines, L2 32, L3 128. */
static struct sim_model model = {
    .cores = 4,
    .smt = 1,
    .group = 2,
    .socket = 4,
    .l1 = {.size = 8 * SIM_LINE, .ways = 2, .hit_ps = 1},
    .l2 = {.size = 32 * SIM_LINE, .ways = 4, .hit_ps = 10, .inclusive = true},
    .l3 = {.size = 128 * SIM_LINE, .ways = 8, .hit_ps = 40},
    .memory_ps = {300, 500},
    .store_ps = 2,
};

enum { PLACE = 1 << 20 }; /* an address: the memory is never touched */

static struct cache_line *line_at(uintptr_t address)
{
    return cache_line_at(address, 0);
}

/* The line after an access by core 0, which has it in L1, L2 and L3. */
static struct cache_line *line_after(enum sim_access access)
{
    cache_init(&model);
    cache_access(0, PLACE, 8, access, 1);
    return line_at(PLACE);
}

static struct cache_slot *slot_of(const struct cache_line *line)
{
    uint32_t i = 0;
    while (cache.unit->lines[i] != line || !cache.unit->front.slots[i].key)
        i++;
    return &cache.unit->front.slots[i];
}

static void look(void)
{
    cache_watch(0, PLACE);
}

/* Lines --------------------------------------------------------------------------------------- */

BREAK(line_in_l1_twice)
{
    struct cache_line *line = line_after(SIM_WRITE);
    uint32_t i = 0;
    while (cache.unit->front.slots[i].key)
        i++;
    cache.unit->lines[i] = line;
    cache.unit->front.slots[i] = *slot_of(line);
    look();
}

BREAK(line_that_the_directory_has_forgotten)
{
    cache_bit_clear(cache_set(line_after(SIM_WRITE), CACHE_HOLDS), 0);
    look();
}

BREAK(line_without_inclusive_l2)
{
    struct cache_line *line = line_after(SIM_WRITE);
    cache_level_drop(&cache.unit->l2, cache_level_find(&cache.unit->l2, line));
    look();
}

BREAK(line_without_inclusive_l3)
{
    model.l3.inclusive = true;
    struct cache_line *line = line_after(SIM_WRITE);
    cache_level_drop(cache.l3, cache_level_find(cache.l3, line));
    cache_bit_clear(cache_group_set(line, CACHE_L3_HOLDS), 0);
    look();
}

BREAK(line_beside_its_owner)
{
    line_after(SIM_WRITE)->owner = 1;
    look();
}

BREAK(line_of_a_wrong_key)
{
    slot_of(line_after(SIM_WRITE))->key ^= SIM_LINE;
    look();
}

BREAK(line_writable_but_not_owned)
{
    struct cache_line *line = line_after(SIM_READ);
    slot_of(line)->key = line->host;
    look();
}

BREAK(line_written_but_not_owned)
{
    slot_of(line_after(SIM_READ))->use |= 1;
    look();
}

BREAK(line_in_an_l3_that_the_directory_has_forgotten)
{
    cache_bit_clear(cache_group_set(line_after(SIM_WRITE), CACHE_L3_HOLDS), 0);
    look();
}

BREAK(line_in_the_l3_of_others)
{
    struct cache_line *line = line_after(SIM_WRITE);
    int place;
    cache_level_insert(&cache.l3[1], line, &place);
    cache_bit_set(cache_group_set(line, CACHE_L3_HOLDS), 1);
    look();
}

BREAK(line_newer_where_it_is_not)
{
    line_after(SIM_READ)->l3_dirty = 1;
    cache_access(1, PLACE, 8, SIM_READ, 1);
}

BREAK(line_modified_by_nobody)
{
    cache_init(&model);
    line_at(PLACE)->modified = true;
    look();
}

BREAK(line_modified_and_newer)
{
    line_after(SIM_WRITE)->l3_dirty = 0;
    look();
}

BREAK(line_prefetched_wrong)
{
    model.prefetch = true;
    cache_init(&model);
    line_at(PLACE + SIM_LINE)->l3_dirty = 1;
    cache_access(0, PLACE, 8, SIM_READ, 1);
}

BREAK(line_lost_by_an_l3_that_has_it_not)
{
    struct cache_line *line = line_after(SIM_READ);
    cache_access(2, PLACE, 8, SIM_READ, 1);
    cache_level_drop(cache.l3, cache_level_find(cache.l3, line));
    cache_access(2, PLACE, 8, SIM_WRITE, 1);
}

/* Accesses ------------------------------------------------------------------------------------ */

BREAK(access_of_nothing)
{
    cache_init(&model);
    cache_access_slow(cache_cores, PLACE, 0, SIM_READ, 1);
}

BREAK(watch_ended_by_no_core)
{
    cache_init(&model);
    cache_watch_end(-1);
}

BREAK(counters_of_no_core)
{
    struct cache_counters counters;
    cache_init(&model);
    cache_counters_read(99, &counters);
}

/* Levels -------------------------------------------------------------------------------------- */

BREAK(victim_among_none)
{
    cache_victim(NULL, 0, SIM_LRU);
}

BREAK(level_of_no_ways)
{
    struct cache_level level;
    cache_level_init(&level, &(struct sim_cache_model){.size = SIM_LINE}, 0, 0);
}

BREAK(level_of_ways_that_do_not_fit)
{
    struct cache_level level;
    cache_level_init(&level, &(struct sim_cache_model){.size = 3 * SIM_LINE, .ways = 2}, 0, 0);
}

BREAK(level_place_out_of_it)
{
    struct cache_place places[64] = {{0}};
    struct cache_level level = {.sets = 1, .ways = 4, .places = places};
    cache_level_touch(&level, 50);
}

BREAK(level_place_of_nothing)
{
    struct cache_place places[4] = {{0}};
    struct cache_level level = {.sets = 1, .ways = 4, .places = places};
    cache_level_touch(&level, 0);
}

BREAK(level_has_a_line_twice)
{
    struct cache_place places[4] = {{.tag = 1}, {.tag = 1}};
    struct cache_level level = {.sets = 1, .ways = 4, .places = places};
    cache_level_touch(&level, 0);
}

BREAK(level_gets_what_it_has)
{
    struct cache_line *line = line_after(SIM_READ);
    int place;
    cache_level_insert(&cache.unit->l2, line, &place);
}

BREAK(level_drops_nothing)
{
    cache_init(&model);
    cache_level_drop(&cache.unit->l2, 0);
}

BREAK(level_empties_anothers_place)
{
    struct cache_line *line = line_after(SIM_READ);
    int place = cache_level_find(&cache.unit->l2, line);
    cache_level_empty(&cache.unit->l2, place ^ 1, line);
}

/* Shadows and histories ----------------------------------------------------------------------- */

static struct cache_shadow *shadow(void)
{
    return &cache.unit->l2.shadow;
}

BREAK(shadow_holds_more_than_it_can)
{
    struct cache_line *line = line_after(SIM_READ);
    shadow()->used = 1000;
    cache_shadow_access(shadow(), line);
}

BREAK(shadow_log_begins_behind_its_end)
{
    struct cache_line *line = line_after(SIM_READ);
    shadow()->first = 1000;
    cache_shadow_access(shadow(), line);
}

BREAK(shadow_log_ends_behind_its_room)
{
    struct cache_line *line = line_after(SIM_READ);
    shadow()->end = 1000;
    cache_shadow_access(shadow(), line);
}

BREAK(shadow_forgets_more_than_it_holds)
{
    struct cache_line *line = line_after(SIM_READ);
    shadow()->used = 0;
    cache_shadow_forget(shadow(), line);
}

BREAK(history_of_no_slot)
{
    cache_history_add(cache.unit, line_after(SIM_READ), 5000);
}

BREAK(history_of_another_line)
{
    line_after(SIM_READ);
    cache_history_add(cache.unit, line_at(PLACE + 4096), 0);
}

/* The line has been replaced in L1. */
static struct cache_line *replaced(void)
{
    struct cache_line *line = line_after(SIM_READ);
    for (uintptr_t i = 1; i <= 2; i++)
        cache_access(0, PLACE + 4 * i * SIM_LINE, 8, SIM_READ, 1);
    return line;
}

BREAK(history_counts_fewer_than_it_has)
{
    struct cache_line *line = replaced();
    cache.unit->history.used = 0;
    cache_history_capacity(cache.unit, line);
}

BREAK(history_set_of_no_room)
{
    line_after(SIM_READ);
    cache.unit->history.sets[0].room = 0;
    cache.unit->history.sets[0].used = 1;
    cache_access(0, PLACE + 4 * SIM_LINE, 8, SIM_READ, 1);
    cache_access(0, PLACE + 8 * SIM_LINE, 8, SIM_READ, 1);
}

BREAK(history_holds_more_than_it_can)
{
    line_after(SIM_READ);
    cache.unit->history.used = cache.unit->history.size + 9;
    cache_access(0, PLACE + 4 * SIM_LINE, 8, SIM_READ, 1);
    cache_access(0, PLACE + 8 * SIM_LINE, 8, SIM_READ, 1);
}

/* Sharing and names --------------------------------------------------------------------------- */

BREAK(fold_of_words_that_nobody_wrote)
{
    struct cache_line *line = line_after(SIM_READ);
    line->written = 1;
    cache_fold(line);
}

BREAK(line_lost_by_nobody)
{
    cache_lose(line_after(SIM_READ), 1000);
}

BREAK(line_lost_to_no_write)
{
    struct cache_line *line = line_after(SIM_READ);
    cache_bit_set(cache_set(line, CACHE_L1_LOST), 0);
    cache_why_l1(cache.unit, line, 1);
}

BREAK(line_of_a_page_that_was_not_made)
{
    cache_init(&model);
    cache_line_numbered(100000);
}

BREAK(line_that_was_not_made)
{
    cache_line_numbered(line_after(SIM_READ)->number + 7);
}

BREAK(name_that_is_none)
{
    cache_init(&model);
    cache_name_text(5);
}

BREAK(name_given_that_is_none)
{
    cache_init(&model);
    cache_name(&model, 8, 5);
}

BREAK(name_free_that_is_none)
{
    cache_init(&model);
    cache_name_is_free(-1);
}

BREAK(name_of_no_text)
{
    cache_init(&model);
    cache_name_id(NULL);
}
