/* cache_reference.h - the cache model of machine/sim once more, slow and obviously right.
 *
 * Written from the table at the head of cache.c, with none of its structures. Every cache is an
 * array of lines with their last access, tree-PLRU has its bits, and a fully associative cache is a
 * list that is shifted. There is no directory: to find the caches that have a line, all are asked.
 * Lines are 0 .. REF_LINES - 1, in pages of 64.
 */
#ifndef SCHEDLAB_TESTS_CACHE_REFERENCE_H
#define SCHEDLAB_TESTS_CACHE_REFERENCE_H

#include "machine/sim/cache.h"

#include <stdlib.h>
#include <string.h>

enum { REF_UNITS = 8, REF_PAGES = 4, REF_LINES = REF_PAGES * 64, REF_PLACES = 64, REF_WAYS = 8 };

struct ref_level {
    const struct sim_cache_model *model;
    int sets, ways, lines;
    int line[REF_PLACES]; /* -1: empty */
    bool ahead[REF_PLACES];
    long last[REF_PLACES];
    bool bit[REF_PLACES][2 * REF_WAYS]; /* of the tree, true: the right half is the next to go */
    int list[REF_PLACES], listed;       /* fully associative, the latest first */
};

enum ref_state { REF_I, REF_S, REF_E, REF_M };

struct ref {
    struct sim_model model;
    int units, groups;
    long now;
    struct ref_level l1[REF_UNITS], l2[REF_UNITS], l3[REF_UNITS];
    enum ref_state state[REF_UNITS][REF_LINES];
    bool newer[REF_UNITS][REF_LINES]; /* L3 of the group has it newer than memory */
    bool touched[REF_UNITS][REF_LINES], l3_touched[REF_UNITS][REF_LINES];
    bool lost[3][REF_UNITS][REF_LINES];
    uint8_t unit_words[REF_UNITS][REF_LINES], group_words[REF_UNITS][REF_LINES];
    int page_number[REF_PAGES], home[REF_PAGES], pages;
    struct cache_counters sum;
};

static void ref_level_init(struct ref_level *level, const struct sim_cache_model *model)
{
    level->model = model;
    level->ways = model->ways;
    level->lines = (int)(model->size / SIM_LINE);
    level->sets = level->lines / level->ways;
    for (int i = 0; i < REF_PLACES; i++)
        level->line[i] = -1;
}

static struct ref *ref_new(const struct sim_model *model)
{
    struct ref *ref = calloc(1, sizeof *ref);
    ref->model = *model;
    ref->units = model->cores / model->smt;
    ref->groups = (model->cores + model->group - 1) / model->group;
    for (int u = 0; u < ref->units; u++) {
        ref_level_init(&ref->l1[u], &ref->model.l1);
        ref_level_init(&ref->l2[u], &ref->model.l2);
    }
    for (int g = 0; g < ref->groups; g++)
        ref_level_init(&ref->l3[g], &ref->model.l3);
    memset(ref->page_number, -1, sizeof ref->page_number);
    return ref;
}

static int ref_group(const struct ref *ref, int unit)
{
    return unit * ref->model.smt / ref->model.group;
}

static int ref_distance(const struct ref *ref, int unit, int group)
{
    if (ref_group(ref, unit) == group)
        return SIM_NEAR;
    int per_socket = ref->model.socket / ref->model.group;
    return ref_group(ref, unit) / per_socket == group / per_socket ? SIM_SOCKET : SIM_REMOTE;
}

static int ref_set(const struct ref *ref, const struct ref_level *level, int line)
{
    return (ref->page_number[line / 64] * 64 + line % 64) % level->sets * level->ways;
}

static int ref_find(const struct ref_level *level, int line)
{
    for (int i = 0; i < level->lines; i++)
        if (level->line[i] == line)
            return i;
    return -1;
}

/* Every node from the root to the place points to the other half from now on. */
static void ref_point(bool *bit, int node, int n, int way)
{
    if (n == 1)
        return;
    int half = (n + 1) / 2;
    bit[node] = way < half;
    if (way < half)
        ref_point(bit, 2 * node + 1, half, way);
    else
        ref_point(bit, 2 * node + 2, n - half, way - half);
}

static int ref_pointed(const bool *bit, int node, int n)
{
    if (n == 1)
        return 0;
    int half = (n + 1) / 2;
    return bit[node] ? half + ref_pointed(bit, 2 * node + 2, n - half)
                     : ref_pointed(bit, 2 * node + 1, half);
}

static void ref_touch(struct ref *ref, struct ref_level *level, int place)
{
    level->last[place] = ++ref->now;
    ref_point(level->bit[place / level->ways], 0, level->ways, place % level->ways);
}

static int ref_place(const struct ref_level *level, int first)
{
    int oldest = first;
    for (int i = first; i < first + level->ways; i++)
        if (level->line[i] < 0)
            return i;
    if (level->model->replacement == SIM_PLRU)
        return first + ref_pointed(level->bit[first / level->ways], 0, level->ways);
    for (int i = first; i < first + level->ways; i++)
        if (level->last[i] < level->last[oldest])
            oldest = i;
    return oldest;
}

/* Returns the line that left, -1: none. */
static int ref_put(struct ref *ref, struct ref_level *level, int line)
{
    int place = ref_place(level, ref_set(ref, level, line)), victim = level->line[place];
    level->line[place] = line;
    level->ahead[place] = false;
    ref_touch(ref, level, place);
    return victim;
}

/* Fully associative: forgets the line; true if it was there. */
static bool ref_unlist(struct ref_level *level, int line)
{
    for (int i = 0; i < level->listed; i++) {
        if (level->list[i] == line) {
            memmove(&level->list[i], &level->list[i + 1],
                    sizeof level->list[0] * (size_t)(--level->listed - i));
            return true;
        }
    }
    return false;
}

static bool ref_list(struct ref_level *level, int line)
{
    bool was = ref_unlist(level, line);
    if (level->listed == level->lines)
        level->listed--;
    memmove(&level->list[1], &level->list[0], sizeof level->list[0] * (size_t)level->listed++);
    level->list[0] = line;
    return was;
}

/* Leaving -------------------------------------------------------------------------------------- */

static void ref_l3_put(struct ref *ref, int group, int line);

static void ref_write_back(struct ref *ref, int unit, int line)
{
    int group = ref_group(ref, unit);
    ref->sum.count[CACHE_WRITEBACKS]++;
    if (!ref->model.l3.size) {
        ref->sum.count[CACHE_WRITEBACKS_MEMORY]++;
        return;
    }
    if (ref_find(&ref->l3[group], line) < 0)
        ref_l3_put(ref, group, line);
    ref->newer[group][line] = true;
}

static void ref_left_unit(struct ref *ref, int unit, int line)
{
    if (ref_find(&ref->l1[unit], line) >= 0 || ref_find(&ref->l2[unit], line) >= 0)
        return;
    enum ref_state was = ref->state[unit][line];
    ref->state[unit][line] = REF_I;
    if (was == REF_M)
        ref_write_back(ref, unit, line);
}

static bool ref_drop(struct ref *ref, struct ref_level *level, int line)
{
    int place = ref_find(level, line);
    if (place >= 0)
        level->line[place] = -1;
    ref->sum.count[CACHE_INCLUSION_VICTIMS] += place >= 0;
    return place >= 0;
}

static void ref_l2_put(struct ref *ref, int unit, int line, bool ahead)
{
    int victim = ref_put(ref, &ref->l2[unit], line);
    ref->l2[unit].ahead[ref_find(&ref->l2[unit], line)] = ahead;
    if (victim < 0)
        return;
    if (ref->model.l2.inclusive)
        ref_drop(ref, &ref->l1[unit], victim);
    ref_left_unit(ref, unit, victim);
}

static void ref_l3_put(struct ref *ref, int group, int line)
{
    int victim = ref_put(ref, &ref->l3[group], line);
    if (victim < 0)
        return;
    bool newer = ref->newer[group][victim];
    ref->newer[group][victim] = false;
    for (int u = 0; u < ref->units && ref->model.l3.inclusive; u++) {
        if (ref_group(ref, u) != group)
            continue;
        ref_drop(ref, &ref->l1[u], victim);
        ref_drop(ref, &ref->l2[u], victim);
        ref->sum.count[CACHE_WRITEBACKS] += ref->state[u][victim] == REF_M;
        newer |= ref->state[u][victim] == REF_M;
        ref->state[u][victim] = REF_I;
    }
    ref->sum.count[CACHE_WRITEBACKS_MEMORY] += newer;
}

/* All but the unit lose the line. Returns the farthest distance, -1: nobody had it. */
static int ref_take(struct ref *ref, int unit, int line)
{
    int farthest = -1;
    for (int v = 0; v < ref->units; v++) {
        int place[2] = {ref_find(&ref->l1[v], line), ref_find(&ref->l2[v], line)}, d;
        if (v == unit || ref->state[v][line] == REF_I)
            continue;
        d = ref_distance(ref, unit, ref_group(ref, v));
        farthest = d > farthest ? d : farthest;
        ref->state[v][line] = REF_I;
        ref->unit_words[v][line] = 0;
        ref->sum.count[CACHE_INVALIDATIONS]++;
        if (place[0] >= 0) {
            ref->l1[v].line[place[0]] = -1;
            ref->lost[CACHE_L1][v][line] = true;
        }
        if (place[1] >= 0) {
            ref->l2[v].line[place[1]] = -1;
            ref_unlist(&ref->l2[v], line);
            ref->lost[CACHE_L2][v][line] = true;
        }
    }
    for (int g = 0; g < ref->groups; g++) {
        int place = ref_find(&ref->l3[g], line), d = ref_distance(ref, unit, g);
        ref->newer[g][line] = false;
        if (g == ref_group(ref, unit) || place < 0)
            continue;
        farthest = d > farthest ? d : farthest;
        ref->l3[g].line[place] = -1;
        ref_unlist(&ref->l3[g], line);
        ref->lost[CACHE_L3][g][line] = true;
        ref->group_words[g][line] = 0;
    }
    return farthest;
}

/* Accesses ------------------------------------------------------------------------------------- */

static void ref_miss(struct ref *ref, enum cache_counter first, bool touched, bool lost,
                     uint8_t both, bool listed)
{
    enum cache_kind kind = listed ? CACHE_CONFLICT : CACHE_CAPACITY;
    if (!touched)
        kind = CACHE_COLD;
    else if (lost)
        kind = both ? CACHE_TRUE : CACHE_FALSE;
    ref->sum.count[first]++;
    ref->sum.count[first + 1 + kind]++;
}

static void ref_l3_fill(struct ref *ref, int unit, int line)
{
    int group = ref_group(ref, unit), place = ref_find(&ref->l3[group], line);
    if (!ref->model.l3.size)
        return;
    ref->lost[CACHE_L3][group][line] = false;
    if (place >= 0)
        ref_touch(ref, &ref->l3[group], place);
    else
        ref_l3_put(ref, group, line);
}

/* The state of a unit that has just read the line. */
static enum ref_state ref_settled(const struct ref *ref, int unit, int line)
{
    for (int v = 0; v < ref->units; v++)
        if (v != unit && ref->state[v][line] != REF_I)
            return REF_S;
    for (int g = 0; g < ref->groups; g++)
        if (g != ref_group(ref, unit) && ref_find(&ref->l3[g], line) >= 0)
            return REF_S;
    return REF_E;
}

/* The source of a line that the unit has nowhere. */
static int64_t ref_source(struct ref *ref, int unit, int line, bool *outside, bool *dirty)
{
    int nearest = SIM_DISTANCES, d;
    uint64_t *count = ref->sum.count;
    *dirty = false;
    for (int v = 0; v < ref->units; v++) {
        d = ref_distance(ref, unit, ref_group(ref, v));
        nearest = ref->state[v][line] != REF_I && d < nearest ? d : nearest;
        if (ref->state[v][line] == REF_M) {
            *dirty = true;
            *outside = d != SIM_NEAR;
            count[CACHE_TRANSFERS_DIRTY_NEAR + d]++;
            return ref->model.dirty_ps[d];
        }
    }
    *outside = false;
    if (ref_find(&ref->l3[ref_group(ref, unit)], line) >= 0) {
        count[CACHE_L3_HIT]++;
        return ref->model.l3.hit_ps;
    }
    for (int g = 0; g < ref->groups; g++) {
        d = ref_distance(ref, unit, g);
        nearest = ref_find(&ref->l3[g], line) >= 0 && d < nearest ? d : nearest;
    }
    *outside = nearest != SIM_NEAR;
    if (nearest < SIM_DISTANCES) {
        count[CACHE_TRANSFERS_CLEAN_NEAR + nearest]++;
        return ref->model.clean_ps[nearest];
    }
    bool remote = ref->home[line / 64] != unit * ref->model.smt / ref->model.socket;
    count[CACHE_MEMORY_LOCAL + remote]++;
    return ref->model.memory_ps[remote];
}

static int64_t ref_fetch(struct ref *ref, int unit, int line, uint8_t words, bool write)
{
    int group = ref_group(ref, unit);
    bool outside, dirty;
    int64_t ps = ref_source(ref, unit, line, &outside, &dirty);
    if (ref->model.l3.size) {
        bool listed = ref_list(&ref->l3[group], line);
        if (outside)
            ref_miss(ref, CACHE_L3_MISS, ref->l3_touched[group][line],
                     ref->lost[CACHE_L3][group][line], ref->group_words[group][line] & words,
                     listed);
        ref->l3_touched[group][line] = true;
    }
    if (write) {
        int farthest = ref_take(ref, unit, line);
        if (!dirty && farthest >= 0 && ref->model.upgrade_ps[farthest] > ps)
            ps = ref->model.upgrade_ps[farthest];
        ref->state[unit][line] = REF_M;
    } else {
        for (int v = 0; v < ref->units; v++) {
            if (ref->state[v][line] == REF_M)
                ref_write_back(ref, v, line);
            if (ref->state[v][line] != REF_I)
                ref->state[v][line] = REF_S;
        }
        ref->state[unit][line] = ref_settled(ref, unit, line);
    }
    ref_l3_fill(ref, unit, line);
    return ps;
}

static int64_t ref_upgrade(struct ref *ref, int unit, int line)
{
    int farthest = ref_take(ref, unit, line);
    ref->sum.count[CACHE_UPGRADES]++;
    ref->state[unit][line] = REF_M;
    return ref->model.upgrade_ps[farthest < 0 ? SIM_NEAR : farthest];
}

static void ref_prefetch(struct ref *ref, int unit, int line)
{
    if (!ref->model.prefetch || line % 64 == 0)
        return;
    for (int v = 0; v < ref->units; v++)
        if (ref->state[v][line] >= REF_E || (v == unit && ref->state[v][line] != REF_I))
            return;
    ref->sum.count[CACHE_PREFETCHES]++;
    ref_l3_fill(ref, unit, line);
    ref->state[unit][line] = ref_settled(ref, unit, line);
    ref->lost[CACHE_L2][unit][line] = false;
    ref_l2_put(ref, unit, line, true);
}

/* L1 has missed; *fetched: L2 as well. */
static int64_t ref_l1_miss(struct ref *ref, int unit, int line, uint8_t words, bool write,
                           bool *fetched)
{
    struct ref_level *l1 = &ref->l1[unit], *l2 = &ref->l2[unit];
    int place = ref_find(l2, line);
    bool listed = ref_list(l2, line), known = ref->touched[unit][line];
    uint8_t both = ref->unit_words[unit][line] & words;
    int64_t ps = ref->model.l2.hit_ps;
    *fetched = place < 0;
    if (place >= 0) {
        ref->sum.count[CACHE_L2_HIT]++;
        ref->sum.count[CACHE_PREFETCHES_USEFUL] += l2->ahead[place];
        l2->ahead[place] = false;
        ref_touch(ref, l2, place);
        if (write && ref->state[unit][line] == REF_S)
            ps = ref_upgrade(ref, unit, line);
    } else {
        ref_miss(ref, CACHE_L2_MISS, known, ref->lost[CACHE_L2][unit][line], both, listed);
        ps = ref_fetch(ref, unit, line, words, write);
        ref->lost[CACHE_L2][unit][line] = false;
        ref_l2_put(ref, unit, line, false);
    }
    ref->touched[unit][line] = true;
    ref->lost[CACHE_L1][unit][line] = false;
    int victim = ref_put(ref, l1, line);
    if (victim >= 0 && ref->state[unit][victim] == REF_M && ref_find(l2, victim) < 0)
        ref_l2_put(ref, unit, victim, false);
    else if (victim >= 0)
        ref_left_unit(ref, unit, victim);
    return ps;
}

/* One access within one line. */
static int64_t ref_access(struct ref *ref, int core, int line, uint8_t words, bool write)
{
    int unit = core / ref->model.smt, page = line / 64;
    int64_t ps = write ? ref->model.store_ps : ref->model.l1.hit_ps;
    struct ref_level *l1 = &ref->l1[unit];
    bool fetched = false, stalled = false;
    if (ref->page_number[page] < 0) {
        ref->page_number[page] = ref->pages++;
        ref->home[page] = core / ref->model.socket;
    }
    ref->sum.count[write ? CACHE_WRITES : CACHE_READS]++;
    bool listed = ref_list(l1, line);
    if (ref_find(l1, line) >= 0) {
        ref->sum.count[CACHE_L1D_HIT]++;
        stalled = write && ref->state[unit][line] == REF_S;
        if (stalled)
            ps = ref_upgrade(ref, unit, line);
    } else {
        stalled = true;
        ref_miss(ref, CACHE_L1D_MISS, ref->touched[unit][line], ref->lost[CACHE_L1][unit][line],
                 ref->unit_words[unit][line] & words, listed);
        ps = ref_l1_miss(ref, unit, line, words, write, &fetched);
    }
    ref_touch(ref, l1, ref_find(l1, line));
    ref->sum.count[CACHE_STALL_PS] += stalled ? (uint64_t)ps : 0;
    for (int g = 0; write && g < ref->groups; g++)
        ref->newer[g][line] = false;
    if (write)
        ref->state[unit][line] = REF_M;
    for (int v = 0; write && v < ref->units; v++)
        ref->unit_words[v][line] |= v == unit ? 0 : words;
    for (int g = 0; write && g < ref->groups; g++)
        ref->group_words[g][line] |= g == ref_group(ref, unit) ? 0 : words;
    if (fetched)
        ref_prefetch(ref, unit, line + 1);
    return ps;
}

#endif
