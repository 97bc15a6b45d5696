/* test_cache.c - the caches of the simulated machine: each transition with its price, random
 * accesses against a reference (cache_reference.h), and what closed formulas say.
 *
 * The memory is never read or written: only its addresses count. A seed is printed.
 */
#include "tests/sim/cache_reference.h"

#include "machine/sim/cache_impl.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { SEED = 20260119, BLOCK = 1 << 20 };
enum { L1_HIT = 1, STORE = 2, L2_HIT = 10, L3_HIT = 40, MEMORY = 300, MEMORY_REMOTE = 500 };

static uint64_t rng_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* 8 cores, groups of 2, sockets of 4; L1 8 lines, L2 32, L3 128. */
static struct sim_model small_model(void)
{
    return (struct sim_model){
        .cores = 8,
        .smt = 1,
        .group = 2,
        .socket = 4,
        .l1 = {.size = 8 * SIM_LINE, .ways = 2, .hit_ps = L1_HIT},
        .l2 = {.size = 32 * SIM_LINE, .ways = 4, .hit_ps = L2_HIT, .inclusive = true},
        .l3 = {.size = 128 * SIM_LINE, .ways = 8, .hit_ps = L3_HIT},
        .clean_ps = {61, 62, 63},
        .dirty_ps = {71, 72, 73},
        .upgrade_ps = {51, 52, 53},
        .memory_ps = {MEMORY, MEMORY_REMOTE},
        .store_ps = STORE,
    };
}

/* A usual core's. */
static struct sim_model usual_model(int cores)
{
    struct sim_model model = small_model();
    model.cores = cores;
    model.group = 8;
    model.socket = 64;
    model.l1.size = 32 << 10;
    model.l1.ways = 8;
    model.l2.size = 256 << 10;
    model.l2.ways = 8;
    model.l3.size = 2 << 20;
    model.l3.ways = 16;
    return model;
}

/* A socket's worth of lines: page-aligned memory. */
static char *block_new(void)
{
    return aligned_alloc(SIM_PAGE, BLOCK);
}

static uint64_t counted(enum cache_counter counter)
{
    struct cache_counters sum;
    cache_counters_read(-1, &sum);
    return sum.count[counter];
}

static int64_t at(int core, const char *address, enum sim_access access)
{
    int64_t ps = cache_access(core, (uintptr_t)address, 8, access, 0x1000);
    cache_check_all();
    return ps;
}

static int64_t rd(int core, const char *address)
{
    return at(core, address, SIM_READ);
}

static int64_t wr(int core, const char *address)
{
    return at(core, address, SIM_WRITE);
}

#define EXPECT(counter, n) assert_int_equal(counted(CACHE_##counter), n)

/* Transitions ---------------------------------------------------------------------------------- */

static void a_line_of_ones_own_is_written_silently(void **state)
{
    (void)state;
    struct sim_model model = small_model();
    char *block = block_new();
    cache_init(&model);
    assert_int_equal(rd(0, block), MEMORY); /* I -> E */
    assert_int_equal(rd(0, block + 8), L1_HIT);
    assert_int_equal(wr(0, block), STORE); /* E -> M */
    assert_int_equal(wr(0, block + 56), STORE);
    assert_int_equal(rd(0, block), L1_HIT);
    assert_int_equal(wr(0, block + 64), MEMORY); /* I -> M */
    EXPECT(READS, 3);
    EXPECT(WRITES, 3);
    EXPECT(L1D_HIT, 4);
    EXPECT(L1D_MISS_COLD, 2);
    EXPECT(L2_MISS_COLD, 2);
    EXPECT(L3_MISS_COLD, 2);
    EXPECT(MEMORY_LOCAL, 2);
    EXPECT(UPGRADES, 0);
    EXPECT(STALL_PS, 2 * MEMORY);
    cache_fini();
    free(block);
}

static void a_modified_line_costs_by_distance(void **state)
{
    (void)state;
    static const int reader[] = {1, 2, 4};
    for (int d = 0; d < SIM_DISTANCES; d++) {
        struct sim_model model = small_model();
        char *block = block_new();
        cache_init(&model);
        wr(0, block);
        assert_int_equal(rd(reader[d], block), 71 + d); /* M -> S, I -> S */
        assert_int_equal(counted(CACHE_TRANSFERS_DIRTY_NEAR + d), 1);
        EXPECT(WRITEBACKS, 1);
        assert_int_equal(rd(0, block), L1_HIT);
        assert_int_equal(wr(0, block), 51 + d); /* S -> M, S -> I */
        EXPECT(UPGRADES, 1);
        EXPECT(INVALIDATIONS, 1);
        assert_int_equal(wr(reader[d], block), 71 + d); /* M -> I, I -> M */
        assert_int_equal(counted(CACHE_TRANSFERS_DIRTY_NEAR + d), 2);
        EXPECT(WRITEBACKS, 1);
        EXPECT(INVALIDATIONS, 2);
        EXPECT(L1D_MISS_TRUE_SHARING, 1);
        cache_fini();
        free(block);
    }
}

static void an_unmodified_line_comes_from_the_nearest(void **state)
{
    (void)state;
    struct sim_model model = small_model();
    char *block = block_new();
    cache_init(&model);
    rd(0, block);
    assert_int_equal(rd(4, block), 63); /* E -> S: another socket */
    EXPECT(TRANSFERS_CLEAN_REMOTE, 1);
    assert_int_equal(rd(2, block), 62); /* the same socket is nearer */
    EXPECT(TRANSFERS_CLEAN_SOCKET, 1);
    assert_int_equal(rd(1, block), L3_HIT); /* core 0's L3 is core 1's */
    EXPECT(L3_HIT, 1);
    assert_int_equal(wr(6, block),
                     62); /* core 4 is nearest; fetching costs more than taking away */
    EXPECT(INVALIDATIONS, 4);
    cache_fini();
    model.l3.size = 0;
    cache_init(&model);
    rd(0, block);
    assert_int_equal(rd(1, block), 61);
    EXPECT(TRANSFERS_CLEAN_NEAR, 1);
    EXPECT(L3_MISS, 0);
    wr(2, block + SIM_PAGE);
    rd(3, block + SIM_PAGE);
    EXPECT(WRITEBACKS_MEMORY, 1);
    cache_fini();
    free(block);
}

static void a_write_waits_for_the_farthest(void **state)
{
    (void)state;
    struct sim_model model = small_model();
    char *block = block_new();
    model.upgrade_ps[SIM_REMOTE] = 1000;
    cache_init(&model);
    rd(0, block);
    rd(1, block);
    assert_int_equal(wr(0, block), 51);
    rd(2, block);
    rd(1, block);
    assert_int_equal(wr(1, block), 52); /* cores 0 and 2 */
    rd(4, block);
    rd(0, block);
    assert_int_equal(wr(3, block), 1000); /* a miss: L3 of core 2's group lost it, core 4 is far */
    cache_fini();
    free(block);
}

static void memory_is_at_home_where_it_was_first_touched(void **state)
{
    (void)state;
    struct sim_model model = small_model();
    char *block = block_new();
    cache_init(&model);
    assert_int_equal(rd(5, block), MEMORY);
    assert_int_equal(rd(0, block + SIM_LINE), MEMORY_REMOTE);
    assert_int_equal(rd(0, block + SIM_PAGE), MEMORY);
    EXPECT(MEMORY_LOCAL, 2);
    EXPECT(MEMORY_REMOTE, 1);
    cache_fini();
    free(block);
}

static void siblings_share_their_caches(void **state)
{
    (void)state;
    struct sim_model model = small_model();
    char *block = block_new();
    model.smt = 2;
    cache_init(&model);
    rd(0, block);
    assert_int_equal(rd(1, block), L1_HIT);
    assert_int_equal(wr(1, block), STORE);
    assert_int_equal(wr(0, block), STORE);
    struct cache_counters one;
    cache_counters_read(1, &one);
    assert_int_equal(one.count[CACHE_L1D_HIT], 2);
    assert_int_equal(one.count[CACHE_L1D_MISS], 0);
    EXPECT(TRANSFERS_DIRTY_NEAR, 0);
    cache_fini();
    free(block);
}

static void an_access_may_cross_into_the_next_line(void **state)
{
    (void)state;
    struct sim_model model = small_model();
    char *block = block_new();
    cache_init(&model);
    assert_int_equal(cache_access(0, (uintptr_t)block + 60, 8, SIM_READ, 1), 2 * MEMORY);
    EXPECT(READS, 2);
    assert_int_equal(cache_access(0, (uintptr_t)block + 60, 8, SIM_READ, 1), 2 * L1_HIT);
    assert_int_equal(cache_access(0, (uintptr_t)block, 64, SIM_WRITE, 1), STORE);
    cache_fini();
    free(block);
}

/* Against the reference ------------------------------------------------------------------------ */

static void compare(const struct ref *ref, const char *what)
{
    struct cache_counters sum;
    cache_counters_read(-1, &sum);
    if (ref->units > 1) { /* told apart by a rule that lost lines make inexact */
        sum.count[CACHE_L1D_MISS_CAPACITY] += sum.count[CACHE_L1D_MISS_CONFLICT];
        sum.count[CACHE_L1D_MISS_CONFLICT] = ref->sum.count[CACHE_L1D_MISS_CONFLICT];
        sum.count[CACHE_L1D_MISS_CAPACITY] -= sum.count[CACHE_L1D_MISS_CONFLICT];
    }
    for (int i = 0; i < CACHE_COUNTERS; i++)
        if (sum.count[i] != ref->sum.count[i])
            fail_msg("%s: %s is %" PRIu64 ", the reference says %" PRIu64, what,
                     cache_counter_names[i], sum.count[i], ref->sum.count[i]);
}

/* Each line's state, as the reference sees it. */
static void compare_states(const struct ref *ref, const char *block, const char *what)
{
    for (int i = 0; i < REF_LINES; i++) {
        if (ref->page_number[i / 64] < 0)
            continue;
        struct cache_line *line = cache_line_at((uintptr_t)block + (uintptr_t)i * SIM_LINE, 0);
        for (int u = 0; u < ref->units; u++) {
            enum ref_state has = REF_I;
            if (cache_bit(cache_set(line, CACHE_HOLDS), u))
                has = line->owner != u ? REF_S : line->modified ? REF_M : REF_E;
            if (has != ref->state[u][i])
                fail_msg("%s: unit %d has line %d in state %d, the reference in %d", what, u, i,
                         has, ref->state[u][i]);
        }
    }
}

static void random_accesses(const struct sim_model *model, const char *block, uint64_t seed,
                            const char *what)
{
    struct ref *ref = ref_new(model);
    uint64_t rng = seed;
    cache_init(model);
    for (int i = 0; i < 4000; i++) {
        uint64_t r = rng_next(&rng);
        int core = (int)(r % (uint64_t)model->cores), reach = r >> 8 & 1 ? 12 : 64;
        int line = (int)((r >> 10 & 3) * 64 + (r >> 12) % (uint64_t)reach);
        bool write = (r >> 24) % 4 == 0;
        uint64_t offset = (r >> 32) % 8 * 8;
        uintptr_t address = (uintptr_t)block + (uintptr_t)line * SIM_LINE + offset;
        int64_t ps = cache_access(core, address, 8, write, 1);
        int64_t wanted = ref_access(ref, core, line, (uint8_t)(1 << offset / 8), write);
        if (ps != wanted)
            fail_msg("%s: access %d, core %d, line %d, %s: %" PRId64 " ps, the reference %" PRId64,
                     what, i, core, line, write ? "write" : "read", ps, wanted);
        if (i % 256 == 0) {
            cache_check_all();
            compare_states(ref, block, what);
        }
    }
    compare(ref, what);
    cache_fini();
    free(ref);
}

static void random_accesses_agree_with_the_reference(void **state)
{
    (void)state;
    char *block = block_new(), what[128];
    print_message("seed %d\n", SEED);
    for (int bits = 0; bits < 1 << 9; bits++) {
        struct sim_model model = small_model();
        model.l1.replacement = bits & 1 ? SIM_PLRU : SIM_LRU;
        model.l2.replacement = model.l3.replacement = bits & 2 ? SIM_PLRU : SIM_LRU;
        model.l2.inclusive = bits & 4;
        model.l3.inclusive = bits & 8;
        model.prefetch = bits & 16;
        model.smt = bits & 32 ? 2 : 1;
        model.l3.size = bits & 64 ? 0 : 64 * SIM_LINE;
        model.l2.size = (bits & 128 ? 32 : 24) * SIM_LINE;
        model.l2.ways = bits & 128 ? 4 : 3; /* no power of two */
        model.cores = bits & 256 ? 8 : model.smt;
        snprintf(what, sizeof what,
                 "cores=%d smt=%d plru=%d,%d inclusive=%d,%d prefetch=%d l3=%d l2.ways=%d",
                 model.cores, model.smt, model.l1.replacement, model.l2.replacement,
                 model.l2.inclusive, model.l3.inclusive, model.prefetch, model.l3.size > 0,
                 model.l2.ways);
        random_accesses(&model, block, SEED + (uint64_t)bits, what);
    }
    free(block);
}

/* Closed formulas ------------------------------------------------------------------------------ */

static void touch(int core, const char *address, enum sim_access access)
{
    cache_access(core, (uintptr_t)address, 8, access, 0x1000);
}

static void a_stream_misses_once_per_line(void **state)
{
    (void)state;
    struct sim_model model = usual_model(1);
    char *block = block_new();
    enum { LINES = BLOCK / SIM_LINE };
    for (int prefetch = 0; prefetch < 2; prefetch++) {
        model.prefetch = prefetch;
        cache_init(&model);
        for (int i = 0; i < BLOCK; i += 8)
            touch(0, block + i, SIM_READ);
        EXPECT(READS, BLOCK / 8);
        EXPECT(L1D_MISS, LINES);
        EXPECT(L1D_MISS_COLD, LINES);
        EXPECT(L2_MISS, prefetch ? LINES / 2 : LINES);
        EXPECT(L3_MISS, prefetch ? LINES / 2 : LINES);
        EXPECT(PREFETCHES, prefetch ? LINES / 2 : 0);
        EXPECT(PREFETCHES_USEFUL, prefetch ? LINES / 2 : 0);
        cache_fini();
    }
    free(block);
}

static void a_stride_misses_once_per_line_it_touches(void **state)
{
    (void)state;
    struct sim_model model = usual_model(1);
    char *block = block_new();
    for (int stride = 8; stride <= 512; stride *= 2) {
        cache_init(&model);
        for (int i = 0; i < BLOCK; i += stride)
            touch(0, block + i, SIM_WRITE);
        EXPECT(L1D_MISS, BLOCK / (stride < SIM_LINE ? SIM_LINE : stride));
        cache_fini();
    }
    free(block);
}

/* A cyclic sweep over twice the cache is the worst that LRU can be given; over the cache itself,
 * once it is warm, the best. */
static void a_sweep_over_twice_the_capacity_misses_always(void **state)
{
    (void)state;
    struct sim_model model = usual_model(1);
    char *block = block_new();
    for (int64_t times = 1; times <= 2; times++) {
        int64_t lines = times * model.l1.size / SIM_LINE;
        cache_init(&model);
        for (int sweep = 0; sweep < 11; sweep++)
            for (int64_t i = 0; i < lines; i++)
                touch(0, block + i * SIM_LINE, SIM_READ);
        EXPECT(L1D_MISS_COLD, lines);
        EXPECT(L1D_MISS_CAPACITY, times == 1 ? 0 : 10 * lines);
        EXPECT(L1D_MISS_CONFLICT, 0);
        EXPECT(L2_MISS, lines);
        cache_fini();
        lines = times * model.l2.size / SIM_LINE;
        cache_init(&model);
        for (int sweep = 0; sweep < 4; sweep++)
            for (int64_t i = 0; i < lines; i++)
                touch(0, block + i * SIM_LINE, SIM_READ);
        EXPECT(L2_MISS_CAPACITY, times == 1 ? 0 : 3 * lines);
        EXPECT(L2_MISS_CONFLICT, 0);
        cache_fini();
    }
    free(block);
}

/* As many lines as two sets have places, all of one set. */
static void lines_of_one_set_conflict(void **state)
{
    (void)state;
    struct sim_model model = usual_model(1);
    char *block = block_new();
    int64_t stride = model.l1.size / model.l1.ways;
    cache_init(&model);
    for (int sweep = 0; sweep < 11; sweep++)
        for (int i = 0; i < 16; i++)
            touch(0, block + i * stride, SIM_READ);
    EXPECT(L1D_MISS_COLD, 16);
    EXPECT(L1D_MISS_CONFLICT, 160);
    EXPECT(L1D_MISS_CAPACITY, 0);
    cache_fini();
    stride = model.l2.size / model.l2.ways;
    model.l2.inclusive = false;
    cache_init(&model);
    for (int i = 0; i < BLOCK; i += SIM_PAGE) /* numbers the pages in this order */
        touch(0, block + i + SIM_LINE, SIM_READ);
    cache_counters_reset();
    for (int sweep = 0; sweep < 11; sweep++)
        for (int i = 0; i < 16; i++)
            touch(0, block + i * stride, SIM_READ);
    EXPECT(L2_MISS_COLD, 16);
    EXPECT(L2_MISS_CONFLICT, 160);
    EXPECT(L2_MISS_CAPACITY, 0);
    cache_fini();
    free(block);
}

/* If W lines are used at random, a cache of C holds C: a share of 1 - C/W misses. */
static void random_lines_miss_by_the_share_that_does_not_fit(void **state)
{
    (void)state;
    static const int quarters[] = {2, 5, 6, 8, 16}; /* of the capacity */
    char *block = block_new();
    print_message("seed %d\n", SEED);
    for (int policy = 0; policy < 2; policy++) {
        for (size_t i = 0; i < sizeof quarters / sizeof quarters[0]; i++) {
            struct sim_model model = usual_model(1);
            uint64_t rng = SEED, lines = (uint64_t)(model.l1.size / SIM_LINE * quarters[i] / 4);
            enum { WARM = 20000, ACCESSES = 200000 };
            model.l1.replacement = (enum sim_replacement)policy;
            cache_init(&model);
            for (int n = 0; n < WARM + ACCESSES; n++) {
                if (n == WARM)
                    cache_counters_reset();
                touch(0, block + rng_next(&rng) % lines * SIM_LINE, SIM_READ);
            }
            double share = (double)counted(CACHE_L1D_MISS) / ACCESSES;
            double formula = quarters[i] > 4 ? 1 - 4.0 / quarters[i] : 0;
            assert_true(share > formula - 0.01 && share < formula + 0.01);
            cache_fini();
        }
    }
    free(block);
}

static void ping_pong_of_a_word_is_true_sharing(void **state)
{
    (void)state;
    struct sim_model model = small_model();
    char *block = block_new();
    cache_init(&model);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(wr(i % 2 * 4, block), i ? 73 : MEMORY);
    EXPECT(TRANSFERS_DIRTY_REMOTE, 999);
    EXPECT(INVALIDATIONS, 999);
    EXPECT(L1D_MISS_COLD, 2);
    EXPECT(L1D_MISS_TRUE_SHARING, 998);
    EXPECT(L2_MISS_TRUE_SHARING, 998);
    EXPECT(L3_MISS_TRUE_SHARING, 998);
    EXPECT(WRITEBACKS, 0);
    cache_fini();
    free(block);
}

static void ping_pong_of_two_words_is_false_sharing(void **state)
{
    (void)state;
    struct sim_model model = small_model();
    char *block = block_new();
    cache_init(&model);
    for (int i = 0; i < 1000; i++)
        wr(i % 2 * 4, block + i % 2 * 8);
    EXPECT(TRANSFERS_DIRTY_REMOTE, 999);
    EXPECT(L1D_MISS_FALSE_SHARING, 998);
    EXPECT(L1D_MISS_TRUE_SHARING, 0);
    EXPECT(L3_MISS_FALSE_SHARING, 998);
    rd(0, block + 8); /* what core 4 has written last */
    EXPECT(L1D_MISS_TRUE_SHARING, 1);
    cache_fini();
    free(block);
}

/* n cores take turns: each finds the line with its predecessor and loses it to its successor. */
static void a_lock_handed_round_is_one_transfer_each(void **state)
{
    (void)state;
    for (int cores = 2; cores <= 256; cores *= 2) {
        struct sim_model model = usual_model(cores);
        char *block = block_new();
        model.l1.size = model.l2.size = 8 << 10;
        model.l3.size = 64 << 10;
        cache_init(&model);
        for (int i = 0; i < 10 * cores; i++)
            touch(i % cores, block, SIM_WRITE);
        uint64_t moved = 0;
        for (int d = 0; d < SIM_DISTANCES; d++)
            moved += counted(CACHE_TRANSFERS_DIRTY_NEAR + d);
        assert_int_equal(moved, 10 * cores - 1);
        EXPECT(L1D_MISS_COLD, cores);
        EXPECT(L1D_MISS_TRUE_SHARING, 9 * cores);
        cache_check_all();
        cache_fini();
        free(block);
    }
}

static void one_write_takes_a_line_from_255_others(void **state)
{
    (void)state;
    struct sim_model model = usual_model(SIM_CORES_MAX);
    char *block = block_new();
    model.socket = 128;
    model.l1.size = model.l2.size = 8 << 10;
    model.l3.size = 64 << 10;
    cache_init(&model);
    for (int core = 0; core < SIM_CORES_MAX; core++)
        touch(core, block, SIM_READ);
    EXPECT(L3_HIT, SIM_CORES_MAX - SIM_CORES_MAX / 8);
    assert_int_equal(wr(77, block), 53);
    EXPECT(INVALIDATIONS, 255);
    for (int core = 0; core < SIM_CORES_MAX; core++)
        touch(core, block, SIM_READ);
    EXPECT(L1D_MISS_TRUE_SHARING, 255);
    EXPECT(TRANSFERS_DIRTY_NEAR, 0);
    EXPECT(TRANSFERS_DIRTY_SOCKET, 1); /* core 0; then it is in L3s */
    cache_check_all();
    cache_fini();
    free(block);
}

/* Names ---------------------------------------------------------------------------------------- */

static void misses_belong_to_what_is_named(void **state)
{
    (void)state;
    struct sim_model model = small_model();
    char *block = block_new();
    struct cache_site *sites;
    cache_init(&model);
    int head = cache_name_id("ring.head"), slots = cache_name_id("ring.slots");
    assert_int_equal(cache_name_id("ring.head"), head);
    cache_name(block, 8, head);
    cache_name(block + 8, 2 * SIM_PAGE, slots); /* into the third page */
    for (int i = 0; i < 3; i++)
        cache_access(0, (uintptr_t)block + i * SIM_LINE, 8, SIM_READ, i == 2 ? 0x20 : 0x10);
    cache_access(4, (uintptr_t)block, 8, SIM_WRITE, 0x30);
    cache_access(0, (uintptr_t)block + 2 * SIM_PAGE, 8, SIM_READ, 0x40);
    cache_access(0, (uintptr_t)block + 2 * SIM_PAGE + SIM_LINE, 8, SIM_READ, 0x50);
    assert_int_equal(cache_sites(CACHE_BY_NAME, &sites), 3);
    assert_string_equal(cache_name_text(sites[0].name), "ring.slots");
    assert_int_equal(sites[0].tally.misses[CACHE_L1][CACHE_COLD], 3);
    assert_int_equal(sites[0].tally.stall_ps, 3 * MEMORY);
    assert_int_equal(sites[1].name, head);
    assert_int_equal(sites[1].tally.stall_ps, MEMORY + 63);
    assert_int_equal(sites[2].name, CACHE_UNNAMED);
    free(sites);
    assert_int_equal(cache_sites(CACHE_BY_PC, &sites), 6);
    assert_int_equal(sites[0].pc, 0x50); /* equal: "(unnamed)" is first */
    assert_int_equal(sites[1].pc, 0x10);
    assert_int_equal(sites[1].name, head);
    assert_int_equal(sites[5].pc, 0x30);
    free(sites);
    cache_counters_reset();
    assert_int_equal(cache_sites(CACHE_BY_PC, &sites), 0);
    free(sites);
    EXPECT(READS, 0);
    assert_int_equal(rd(4, block), L1_HIT); /* the caches stay */
    cache_fini();
    free(block);
}

static void a_free_structure_costs_a_hit_and_changes_nothing(void **state)
{
    (void)state;
    struct sim_model model = small_model();
    char *block = block_new();
    cache_init(&model);
    int lock = cache_name_id("lock");
    assert_false(cache_free_name(lock + 1));
    assert_false(cache_free_name(CACHE_UNNAMED));
    cache_name(block + 8, 8, lock);
    assert_int_equal(wr(0, block), MEMORY); /* may be written without asking ... */
    assert_true(cache_free_name(lock));
    assert_int_equal(wr(4, block + 8), STORE); /* ... and is not taken away */
    assert_int_equal(rd(4, block + 8), L1_HIT);
    EXPECT(INVALIDATIONS, 0);
    assert_int_equal(wr(0, block), STORE);
    assert_int_equal(wr(4, block), 73); /* the line's other words cost as ever */
    assert_int_equal(rd(0, block + 8), L1_HIT);
    cache_name(block + SIM_LINE, 8, lock); /* named after it became free, and not touched yet */
    assert_int_equal(rd(0, block + SIM_LINE), L1_HIT);
    assert_int_equal(rd(0, block + SIM_LINE + 8), MEMORY);
    assert_int_equal(rd(0, block + 2 * SIM_LINE), MEMORY);
    cache_name(block + 2 * SIM_LINE, 8, lock); /* and touched already */
    wr(4, block + 2 * SIM_LINE);
    assert_int_equal(rd(0, block + 2 * SIM_LINE + 8), L1_HIT);
    cache_name(block + 2 * SIM_LINE, 8, CACHE_UNNAMED);
    assert_int_equal(wr(4, block + 2 * SIM_LINE), 63);
    cache_fini();
    free(block);
}

/* The same accesses, with pages elsewhere: equal counters and costs, whatever was named. */
static void addresses_of_the_host_do_not_count(void **state)
{
    (void)state;
    struct cache_counters sums[2];
    int64_t ps[2] = {0, 0};
    print_message("seed %d\n", SEED);
    for (int way = 0; way < 2; way++) {
        struct sim_model model = small_model();
        char *block = block_new(), *page[16];
        uint64_t rng = SEED;
        model.prefetch = true;
        cache_init(&model);
        for (int i = 0; i < 16; i++)
            page[i] = block + (way ? (15 - i) * 7 : i) * SIM_PAGE;
        if (way)
            cache_name(block + 64, BLOCK - 64, cache_name_id("all"));
        for (int i = 0; i < 100000; i++) {
            uint64_t r = rng_next(&rng);
            const char *address = page[r % 16] + (r >> 8) % (SIM_PAGE / 8) * 8;
            ps[way] +=
                cache_access((int)((r >> 32) % 8), (uintptr_t)address, 8, (r >> 40) % 3 == 0, 1);
        }
        cache_counters_read(-1, &sums[way]);
        cache_fini();
        free(block);
    }
    assert_int_equal(ps[0], ps[1]);
    assert_memory_equal(&sums[0], &sums[1], sizeof sums[0]);
}

/* The sums that cache.h promises, core by core. */
static void counters_add_up(void **state)
{
    (void)state;
    char *block = block_new();
    uint64_t rng = SEED;
    print_message("seed %d\n", SEED);
    for (int l3 = 0; l3 < 2; l3++) {
        struct sim_model model = small_model();
        model.l3.size *= l3;
        cache_init(&model);
        for (int i = 0; i < 50000; i++) {
            uint64_t r = rng_next(&rng);
            touch((int)(r % 8), block + (r >> 8) % 4096 * 8, (r >> 40) % 3 == 0);
        }
        for (int core = 0; core < model.cores; core++) {
            struct cache_counters self;
            const uint64_t *n = self.count;
            cache_counters_read(core, &self);
            uint64_t near = n[CACHE_TRANSFERS_CLEAN_NEAR] + n[CACHE_TRANSFERS_DIRTY_NEAR];
            uint64_t far = n[CACHE_TRANSFERS_CLEAN_SOCKET] + n[CACHE_TRANSFERS_CLEAN_REMOTE] +
                           n[CACHE_TRANSFERS_DIRTY_SOCKET] + n[CACHE_TRANSFERS_DIRTY_REMOTE] +
                           n[CACHE_MEMORY_LOCAL] + n[CACHE_MEMORY_REMOTE];
            assert_int_equal(n[CACHE_READS] + n[CACHE_WRITES],
                             n[CACHE_L1D_HIT] + n[CACHE_L1D_MISS]);
            assert_int_equal(n[CACHE_L1D_MISS], n[CACHE_L2_HIT] + n[CACHE_L2_MISS]);
            assert_int_equal(n[CACHE_L2_MISS], near + far + n[CACHE_L3_HIT]);
            assert_int_equal(n[CACHE_L3_MISS], l3 ? far : 0);
        }
        cache_fini();
    }
    free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_ones_own_is_written_silently),
        cmocka_unit_test(a_modified_line_costs_by_distance),
        cmocka_unit_test(an_unmodified_line_comes_from_the_nearest),
        cmocka_unit_test(a_write_waits_for_the_farthest),
        cmocka_unit_test(memory_is_at_home_where_it_was_first_touched),
        cmocka_unit_test(siblings_share_their_caches),
        cmocka_unit_test(an_access_may_cross_into_the_next_line),
        cmocka_unit_test(random_accesses_agree_with_the_reference),
        cmocka_unit_test(a_stream_misses_once_per_line),
        cmocka_unit_test(a_stride_misses_once_per_line_it_touches),
        cmocka_unit_test(a_sweep_over_twice_the_capacity_misses_always),
        cmocka_unit_test(lines_of_one_set_conflict),
        cmocka_unit_test(random_lines_miss_by_the_share_that_does_not_fit),
        cmocka_unit_test(ping_pong_of_a_word_is_true_sharing),
        cmocka_unit_test(ping_pong_of_two_words_is_false_sharing),
        cmocka_unit_test(a_lock_handed_round_is_one_transfer_each),
        cmocka_unit_test(one_write_takes_a_line_from_255_others),
        cmocka_unit_test(misses_belong_to_what_is_named),
        cmocka_unit_test(a_free_structure_costs_a_hit_and_changes_nothing),
        cmocka_unit_test(addresses_of_the_host_do_not_count),
        cmocka_unit_test(counters_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
