/* caches.c - what an access costs on the model of the caches that simulated runs go through.
 *
 * Cores take turns of TURN accesses, as they do where a core may run ahead of the others a little.
 * Every function checks the model's own counts.
 */
#include "harness/micro/micro.h"

#include "machine/sim/cache.h"

enum { TURN = 40, REACH = 16 << 10, ROOM = 256 << 10 };

static const int64_t one_and_many[] = {1, 64, 0};

/* Each core has its own memory; it is never read, only its addresses count. */
struct caches {
    int cores;
    uintptr_t base;
    uint64_t random;
};

static void caches_make(struct caches *caches, int cores)
{
    struct sim_model model = {
        .cores = cores,
        .smt = 1,
        .group = 8,
        .socket = 64,
        .l1 = {.size = 32 << 10, .ways = 8, .hit_ps = 1000},
        .l2 = {.size = 1 << 20, .ways = 8, .hit_ps = 4000, .inclusive = true},
        .l3 = {.size = 32 << 20, .ways = 16, .hit_ps = 12000},
        .clean_ps = {15000, 40000, 100000},
        .dirty_ps = {20000, 50000, 120000},
        .upgrade_ps = {10000, 20000, 50000},
        .memory_ps = {90000, 140000},
        .store_ps = 500,
    };
    cache_init(&model);
    *caches = (struct caches){.cores = cores, .base = 1 << 30, .random = 88172645463325252};
}

static uint64_t counted(enum cache_counter counter)
{
    struct cache_counters sum;
    cache_counters_read(-1, &sum);
    return sum.count[counter];
}

/* Reads and, once in four times, a write at random within so many bytes of the core's own. */
static void turn(struct caches *caches, int core, uint64_t reach)
{
    uintptr_t base = caches->base + (uintptr_t)core * ROOM;
    uint64_t random = caches->random;
    for (int i = 0; i < TURN; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        cache_access(core, base + (random & (reach - 1) & ~UINT64_C(7)), 8, i % 4 == 0, 1);
    }
    caches->random = random;
}

/* how: the bytes that each core reaches, a power of two. */
static void turns(struct micro *micro)
{
    uint64_t reach = (uint64_t)micro->op->how;
    struct caches caches;
    int core = 0;
    caches_make(&caches, (int)micro->arg);
    for (int i = 0; i < caches.cores; i++)
        for (uint64_t at = 0; at < reach; at += SIM_LINE)
            cache_access(i, caches.base + (uintptr_t)i * ROOM + at, 8, SIM_WRITE, 1);
    cache_counters_reset();
    while (micro_more(micro, MICRO_BATCH)) {
        for (int i = 0; i < MICRO_BATCH / TURN; i++) {
            turn(&caches, core, reach);
            core = core + 1 == caches.cores ? 0 : core + 1;
        }
    }
    micro_expect(micro, "accesses", counted(CACHE_READS) + counted(CACHE_WRITES),
                 micro_done(micro));
    if (reach <= REACH)
        micro_expect(micro, "misses", counted(CACHE_L1D_MISS), 0);
    cache_fini();
}

/* A line that all cores write in turn. */
static void ping_pong(struct micro *micro)
{
    struct caches caches;
    int core = 0;
    caches_make(&caches, (int)micro->arg);
    while (micro_more(micro, MICRO_BATCH)) {
        for (int i = 0; i < MICRO_BATCH; i++) {
            cache_access(core, caches.base, 8, SIM_WRITE, 1);
            core = core + 1 == caches.cores ? 0 : core + 1;
        }
    }
    micro_expect(micro, "invalidations", counted(CACHE_INVALIDATIONS), micro_done(micro) - 1);
    cache_fini();
}

static const int64_t two_and_many[] = {2, 64, 0};

const struct micro_op micro_caches[] = {
    /* half of L1; and twice L1, where every second access misses */
    {"sim/cache/hit", NULL, MICRO_LOOP, turns, "cores", one_and_many, .how = REACH},
    {"sim/cache/half_miss", NULL, MICRO_LOOP, turns, "cores", one_and_many, .how = 4 * REACH},
    {.name = "sim/cache/ping_pong", .run = ping_pong, .arg_name = "cores", .args = two_and_many},
    {0},
};
