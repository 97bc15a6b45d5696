/* calibrate_memory.c - see calibrate.h: hits by level, and what code costs that hits L1. */
#include "harness/calibrate/calibrate.h"

#include "harness/base/memory.h"
#include "harness/numbers/statistics.h"
#include "machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LINE = SIM_LINE,
    SIZES_MAX = 32,
    CHASE_SAMPLES = 9,
    CHASE_STEPS = 20000,
    CURVES = 3,            /* of each working set the one counts that was disturbed least */
    CHASE_MAX = 256 << 20, /* bytes; more takes too long to fill */
    CHASE_QUICK_MAX = 64 << 20,
    HUGE_PAGE = 2 << 20,
};

/* Clock --------------------------------------------------------------------------------------- */

/* Additions that depend on each other: one a cycle on every core that this runs on. They add a
 * register, since some cores add up constants while decoding. */
static void add_loop(void *arg, int64_t n)
{
    uint64_t x = 1, y = (uint64_t)(uintptr_t)arg;
    for (int64_t i = 0; i < n; i++) {
#define ADD                                                                                        \
    __asm__ volatile("" : "+r"(x), "+r"(y));                                                       \
    x += y;
        ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD
#undef ADD
    }
    __asm__ volatile("" ::"r"(x));
}

static void measure_clock(struct calibrate *to)
{
    enum { ADDS = 16 };
    calibrate_loop(to, "16 additions", add_loop, NULL);
    to->cycle_ns = calibrate_median(to, "16 additions") / ADDS;
}

/* Chasing pointers ---------------------------------------------------------------------------- */

struct line {
    struct line *next;
    char pad[LINE - sizeof(struct line *)];
};

/* xorshift64*, Source: Vigna. */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

void calibrate_order(uint32_t *order, size_t count)
{
    uint64_t seed = 88172645463325252;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = count - 1; i > 0; i--) {
        size_t k = random_next(&seed) % i;
        uint32_t other = order[k];
        order[k] = order[i];
        order[i] = other;
    }
}

/* One cycle through all lines. */
static void cycle_make(struct line *lines, size_t count, uint32_t *order)
{
    calibrate_order(order, count);
    for (size_t i = 0; i < count; i++)
        lines[order[i]].next = &lines[order[(i + 1) % count]];
}

static struct line *chase(struct line *at, int64_t steps)
{
    for (int64_t i = 0; i < steps; i += 8)
        at = at->next->next->next->next->next->next->next->next;
    return at;
}

/* ns a load, by the median of short chases, after one round through all. */
static double chase_measure(struct line *lines, size_t count, double samples[CHASE_SAMPLES])
{
    struct line *volatile at = chase(lines, (int64_t)count);
    for (int i = 0; i < CHASE_SAMPLES; i++) {
        int64_t start = machine_now();
        at = chase(at, CHASE_STEPS);
        samples[i] = (double)(machine_now() - start) / CHASE_STEPS;
    }
    return statistics_median_alone(samples, CHASE_SAMPLES);
}

/* Working sets, growing by half a power of two. */
struct curve {
    int64_t bytes[SIZES_MAX];
    double ns[SIZES_MAX];
    double samples[SIZES_MAX][CHASE_SAMPLES];
    int count;
};

/* Measures one working set, and keeps the samples if their median is the smallest so far. */
static void curve_point(struct curve *curve, int i, struct line *buffer, uint32_t *order)
{
    double samples[CHASE_SAMPLES];
    size_t count = (size_t)curve->bytes[i] / LINE;
    cycle_make(buffer, count, order);
    double ns = chase_measure(buffer, count, samples);
    if (curve->ns[i] > 0 && ns >= curve->ns[i])
        return;
    curve->ns[i] = ns;
    memcpy(curve->samples[i], samples, sizeof samples);
}

/* Quick: powers of two only, once each. */
static void curve_measure(struct curve *curve, struct line *buffer, int64_t most, bool quick)
{
    uint32_t *order = xmalloc((size_t)(most / LINE) * sizeof *order);
    *curve = (struct curve){.count = 0};
    for (int64_t size = 8 << 10; size <= most && curve->count < SIZES_MAX - 1; size *= 2) {
        curve->bytes[curve->count++] = size;
        if (!quick && size + size / 2 <= most)
            curve->bytes[curve->count++] = size + size / 2;
    }
    for (int round = 0; round < (quick ? 1 : CURVES); round++)
        for (int i = 0; i < curve->count; i++)
            curve_point(curve, i, buffer, order);
    free(order);
}

/* The working set between two sizes that has the smallest latency: others share the caches, and
 * lines that they push out are not hit. -1: there is none. */
static int plateau(const struct curve *curve, int64_t from, int64_t to)
{
    int best = -1;
    for (int i = 0; i < curve->count; i++)
        if (curve->bytes[i] >= from && curve->bytes[i] <= to &&
            (best < 0 || curve->ns[i] < curve->ns[best]))
            best = i;
    return best;
}

/* The largest working set which, as all smaller ones, is nearer to this level's latency, by ratio,
 * than to the next one's: how much of the level there is to use. 0: not even the smallest. */
static int64_t reach_of(const struct curve *curve, double here, double above)
{
    double between = sqrt(here * above);
    int i = 0;
    while (i < curve->count && curve->ns[i] < between)
        i++;
    return i > 0 ? curve->bytes[i - 1] : 0;
}

/* The size of the last of so many caches that there is; 0: there is none. */
static int64_t last_of(const struct calibrate *to, int levels)
{
    while (levels > 0 && !to->shape.cache[levels - 1].bytes)
        levels--;
    return levels > 0 ? to->shape.cache[levels - 1].bytes : 0;
}

/* A level's plateau lies where a working set fits well into it and badly into the one below. */
static void add_level(struct calibrate *to, const struct curve *curve, const char *name, int level)
{
    double samples[CHASE_SAMPLES];
    int64_t size = level < 3 ? to->shape.cache[level].bytes : INT64_MAX / 4;
    int64_t below = last_of(to, level);
    if (!size) {
        calibrate_absent(to, name, "Linux reports no such cache");
        return;
    }
    /* memory: where even the caches of others hold little of it */
    int64_t from = level == 0 ? 0 : level == 3 ? 3 * below : below * 2;
    int at = plateau(curve, from, level == 3 ? INT64_MAX : size / 2);
    if (at < 0) {
        calibrate_absent(to, name, "no working set fits into it and not into the level below");
        return;
    }
    memcpy(samples, curve->samples[at], sizeof samples);
    calibrate_add(to, name, samples, CHASE_SAMPLES);
}

/* Virtual machines are told of caches that they have a part of, and others use them too. */
static void compare_sizes(struct calibrate *to, const struct curve *curve)
{
    static const char *const names[] = {"L1 latency", "l2.hit", "l3.hit", "memory.local"};
    for (int level = 0; level < 3; level++) {
        double here = calibrate_median(to, names[level]);
        double above = calibrate_median(to, names[level + 1]);
        int64_t reported = to->shape.cache[level].bytes;
        int64_t reach = isnan(here) || isnan(above) ? 0 : reach_of(curve, here, above);
        if (reach && reach * 2 < reported) {
            calibrate_note(to, "Linux reports an L%d of %lld KiB, but no more than %lld KiB hit it",
                           level + 1, (long long)reported >> 10, (long long)reach >> 10);
            to->reach[level] = reach;
        }
    }
}

static void measure_levels(struct calibrate *to)
{
    static struct curve curve;
    int64_t last = last_of(to, 3), most = to->quick ? CHASE_QUICK_MAX : CHASE_MAX;
    if (last && 4 * last < most)
        most = 4 * last;
    void *buffer = mmap(NULL, (size_t)most + HUGE_PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED) {
        calibrate_note(to, "no memory of %lld MiB, so no hits were measured",
                       (long long)most >> 20);
        return;
    }
    char *aligned = (char *)(((uintptr_t)buffer + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    madvise(aligned, (size_t)most, MADV_HUGEPAGE); /* else misses in the TLB count as well */
    curve_measure(&curve, (struct line *)aligned, most, to->quick);
    munmap(buffer, (size_t)most + HUGE_PAGE);
    add_level(to, &curve, "L1 latency", 0);
    add_level(to, &curve, "l2.hit", 1);
    add_level(to, &curve, "l3.hit", 2);
    add_level(to, &curve, "memory.local", 3);
    compare_sizes(to, &curve);
}

/* Single instructions ------------------------------------------------------------------------- */

static void cas_loop(void *arg, int64_t n)
{
    _Atomic uint64_t *word = arg;
    uint64_t value = atomic_load_explicit(word, memory_order_relaxed);
    for (int64_t i = 0; i < n; i++)
        if (atomic_compare_exchange_strong_explicit(word, &value, value + 1, memory_order_acq_rel,
                                                    memory_order_acquire))
            value++;
}

/* A lock that nobody else wants, taken and let go: two of n. Neither waits for the value of the one
 * before, as each does in a loop that counts. */
static void lock_loop(void *arg, int64_t n)
{
    _Atomic uint64_t *word = arg;
    for (int64_t i = 0; i < n; i += 2) {
        uint64_t nobody = 0;
        if (atomic_compare_exchange_strong_explicit(word, &nobody, 1, memory_order_acquire,
                                                    memory_order_relaxed))
            atomic_fetch_sub_explicit(word, 1, memory_order_release);
    }
}

static void exchange_loop(void *arg, int64_t n)
{
    _Atomic uint64_t *word = arg;
    uint64_t value = 0;
    for (int64_t i = 0; i < n; i++)
        value = atomic_exchange_explicit(word, value, memory_order_acq_rel);
}

static void fence_loop(void *arg, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        machine_fence(arg);
}

static void relax_loop(void *arg, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        machine_relax(arg, 1);
}

static void now_loop(void *arg, int64_t n)
{
    (void)arg;
    for (int64_t i = 0; i < n; i++)
        machine_now();
}

void calibrate_memory(struct calibrate *to)
{
    static _Alignas(64) _Atomic uint64_t word, lock;
    static _Alignas(64) _Atomic uint32_t scratch;
    measure_clock(to);
    measure_levels(to);
    calibrate_loop(to, "atomic", lock_loop, &lock);
    calibrate_loop(to, "compare-and-swap", cas_loop, &word);
    calibrate_loop(to, "atomic exchange", exchange_loop, &word);
    calibrate_loop(to, "fence", fence_loop, &scratch);
    calibrate_loop(to, "relax", relax_loop, &scratch);
    calibrate_loop(to, "now", now_loop, NULL);
}
