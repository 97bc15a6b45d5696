/* cache_make.c - see cache_impl.h: the caches of a machine are made from its model. */
#include "cache_impl.h"

#include <stdio.h>
#include <stdlib.h>

#define EIGHT(words) words, words, words, words, words, words, words, words
const uint8_t cache_words_from[SIM_LINE] = {
    EIGHT(0xff), EIGHT(0xfe), EIGHT(0xfc), EIGHT(0xf8),
    EIGHT(0xf0), EIGHT(0xe0), EIGHT(0xc0), EIGHT(0x80),
};
const uint8_t cache_words_to[SIM_LINE] = {
    EIGHT(0x01), EIGHT(0x03), EIGHT(0x07), EIGHT(0x0f),
    EIGHT(0x1f), EIGHT(0x3f), EIGHT(0x7f), EIGHT(0xff),
};

static void check_level(const char *name, const struct sim_cache_model *model)
{
    if (model->ways < 1 || model->ways > CACHE_WAYS_MAX || model->size < 1 ||
        model->size % (model->ways * SIM_LINE) || model->size / SIM_LINE > 1 << 30) {
        fprintf(stderr,
                "sim: %s has %lld bytes and %d ways; valid: 1 to %d ways, bytes a "
                "multiple of ways x %d, at most 64 GiB\n",
                name, (long long)model->size, model->ways, CACHE_WAYS_MAX, SIM_LINE);
        exit(2);
    }
    int64_t sets = model->size / SIM_LINE / model->ways;
    if (sets & (sets - 1)) {
        fprintf(stderr, "sim: %s has %lld sets; valid: powers of two\n", name, (long long)sets);
        exit(2);
    }
}

static void check_model(const struct sim_model *model)
{
    check_level("L1", &model->l1);
    check_level("L2", &model->l2);
    if (model->l3.size)
        check_level("L3", &model->l3);
    if (model->l1.size / SIM_LINE > UINT16_MAX) {
        fprintf(stderr, "sim: L1 has %lld bytes; at most 4194240\n", (long long)model->l1.size);
        exit(2);
    }
    if (model->cores < 1 || model->cores > SIM_CORES_MAX || model->smt < 1 ||
        model->group < model->smt || model->group % model->smt || model->socket < model->group ||
        model->socket % model->group) {
        fprintf(stderr,
                "sim: cores=%d smt=%d group=%d socket=%d; valid: 1 to %d cores, group a multiple "
                "of smt, socket a multiple of group\n",
                model->cores, model->smt, model->group, model->socket, SIM_CORES_MAX);
        exit(2);
    }
}

static void around_init(struct cache_around *around, int group)
{
    const struct sim_model *model = &cache.model;
    int socket = group * model->group / model->socket;
    for (int u = 0; u < cache.units; u++) {
        if (u * model->smt / model->group == group)
            cache_bit_set(around->group_units, u);
        if (u * model->smt / model->socket == socket)
            cache_bit_set(around->socket_units, u);
    }
    cache_bit_set(around->own_group, group);
    for (int g = 0; g < cache.groups; g++)
        if (g * model->group / model->socket == socket)
            cache_bit_set(around->socket_groups, g);
}

void cache_init(const struct sim_model *model)
{
    check_model(model);
    cache = (struct cache_state){
        .model = *model,
        .units = (model->cores + model->smt - 1) / model->smt,
        .groups = (model->cores + model->group - 1) / model->group,
        .l1_sets = (uint32_t)(model->l1.size / SIM_LINE / model->l1.ways),
        .has_l3 = model->l3.size > 0,
    };
    cache.l1_by_address = cache.l1_sets <= CACHE_PAGE_LINES;
    cache.unit_words = (cache.units + 63) / 64;
    cache.group_words = (cache.groups + 63) / 64;
    cache.unit = cache_pool_alloc((size_t)cache.units, sizeof *cache.unit);
    cache.around = cache_pool_alloc((size_t)cache.groups, sizeof *cache.around);
    for (int g = 0; g < cache.groups; g++)
        around_init(&cache.around[g], g);
    for (int u = 0; u < cache.units; u++) {
        struct cache_unit *unit = &cache.unit[u];
        unit->index = u;
        unit->group = u * model->smt / model->group;
        unit->socket = u * model->smt / model->socket;
        unit->around = &cache.around[unit->group];
        unit->slots = (uint32_t)(model->l1.size / SIM_LINE);
        unit->front.slots = cache_pool_alloc(unit->slots, sizeof *unit->front.slots);
        unit->lines = cache_pool_alloc(unit->slots, sizeof *unit->lines);
        cache_level_init(&unit->l2, &model->l2, cache_set_word(CACHE_L2_SHADOW), u);
        cache_history_init(&unit->history, unit->slots);
    }
    cache.l3 = cache_pool_alloc((size_t)cache.groups, sizeof *cache.l3);
    for (int g = 0; cache.has_l3 && g < cache.groups; g++)
        cache_level_init(&cache.l3[g], &model->l3, cache_group_set_word(CACHE_L3_SHADOW), g);
    cache_cores = cache_pool_alloc((size_t)model->cores, sizeof *cache_cores);
    for (int i = 0; i < model->cores; i++)
        cache_cores[i].front = &cache.unit[i / model->smt].front;
    cache_price[SIM_READ] = model->l1.hit_ps;
    cache_price[SIM_WRITE] = model->store_ps;
    cache_map_init();
    cache_why_init();
}

void cache_fini(void)
{
    cache_map_fini();
    cache_why_fini();
    cache_shadow_fini();
    cache_pool_fini();
}
