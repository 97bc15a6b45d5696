/* sim_formulas.c - small loops on the whole simulated machine (sim_kernels.h) against what can be
 * written down about them: misses, transfers, and the time that follows from them.
 *
 *     build/sim/tests/sim_formulas [--json FILE]
 *
 * The machine is sim_model_plain. Each claim is a number that the formula gives, by how much the
 * measured one may differ, and why it may at all; FILE has all of them. A loop's own time, without
 * misses, is measured on lines that L1 has, so that no compiler's count of blocks is in a formula.
 */
#include "tests/sim/sim_kernels.h"
#include "tests/sim/wake_formulas.h"

#include "machine.h"
#include "machine/sim/cache.h"
#include "machine/sim/sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINE = SIM_LINE, KI = 1 << 10, MI = 1 << 20, PLAYERS_MAX = 16, STACK = 256 << 10 };

static const struct sim_model *const model = &sim_model_plain;
json_t *claims;

void claim(const char *what, double formula, double bound, double measured)
{
    bool holds = fabs(measured - formula) <= bound;
    json_array_append_new(claims,
                          json_pack("{s:s, s:f, s:f, s:f, s:b}", "what", what, "formula", formula,
                                    "bound", bound, "measured", measured, "holds", holds));
    if (!holds)
        fail_msg("%s: %g by the formula (to within %g), %g measured", what, formula, bound,
                 measured);
}

/* Running ------------------------------------------------------------------------------------- */

struct player {
    int core;
    void (*play)(struct player *self);
    char *start, *other;
    size_t size, stride;
    uint64_t players, turns;
    int passes, warm;
    _Atomic uint64_t *token;
    volatile uint64_t *counter;

    struct machine_thread thread;
    int64_t begin_ps; /* when all have been started */
    int64_t ps;
    uint64_t count[CACHE_COUNTERS]; /* of its core, while it played */
};

static void player_main(void *arg)
{
    struct player *self = arg;
    struct cache_counters before, after;
    if (self->warm) {
        int passes = self->passes;
        self->passes = self->warm;
        self->play(self);
        self->passes = passes;
    }
    if (self->begin_ps > sim_now())
        sim_spend(self->begin_ps - sim_now());
    cache_counters_read(self->core, &before);
    int64_t began = sim_now();
    self->play(self);
    self->ps = sim_now() - began;
    cache_counters_read(self->core, &after);
    for (int i = 0; i < CACHE_COUNTERS; i++)
        self->count[i] = after.count[i] - before.count[i];
}

/* Each on its core, all at once. */
static void play(struct player *players, int count)
{
    int64_t begin_ps = sim_now() + 1000 * (int64_t)1000000;
    for (int i = 0; i < count; i++)
        players[i].begin_ps = begin_ps;
    for (int i = 0; i < count; i++)
        assert_int_equal(machine_thread_start(&players[i].thread, player_main, &players[i], STACK,
                                              players[i].core),
                         0);
    for (int i = 0; i < count; i++)
        machine_thread_join(&players[i].thread);
}

static double sum_of(const struct player *players, int count, enum cache_counter counter)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += players[i].count[counter];
    return (double)sum;
}

/* Until the last one has ended. */
static double together_ns(const struct player *players, int count)
{
    int64_t most = 0;
    for (int i = 0; i < count; i++)
        if (players[i].ps > most)
            most = players[i].ps;
    return (double)most / 1e3;
}

static void reader(struct player *self)
{
    kernel_read(self->start, self->size, self->stride, self->passes);
}

static void writer(struct player *self)
{
    kernel_write(self->start, self->size, self->stride, self->passes);
}

static void random_reader(struct player *self)
{
    kernel_random(self->start, self->size / LINE, self->passes, 88172645463325252);
}

static void hander_over(struct player *self)
{
    kernel_hand_over(self->token, self->counter, (uint64_t)self->core, self->players, self->turns);
}

static void adder(struct player *self)
{
    kernel_add((_Atomic uint64_t *)(void *)self->start, self->passes);
}

static void recurser(struct player *self)
{
    self->size = kernel_recurse(self->passes);
}

static void lines_adder(struct player *self)
{
    kernel_add_lines(self->start, self->size, self->passes);
}

static void tosser(struct player *self)
{
    self->turns = kernel_toss((const uint8_t *)self->start, self->size);
}

static __attribute__((noinline)) void call_here(void)
{
    kernel_nothing();
    __asm__ volatile(""); /* two functions, with a call each */
}

static __attribute__((noinline)) void call_there(void)
{
    kernel_nothing();
    __asm__ volatile("nop");
}

/* The calls are of this file, which is no simulated code. */
static void caller(struct player *self)
{
    for (size_t i = 0; i < self->size; i++)
        (self->start[i] ? call_here : call_there)();
}

static void chaser(struct player *self)
{
    kernel_chase((const void *const *)(const void *)self->start, self->turns);
}

static void fenced_reader(struct player *self)
{
    kernel_read_fenced(self->start, self->size);
}

static void publisher(struct player *self)
{
    kernel_publish(self->start, self->size);
}

static void reader_beside(struct player *self)
{
    kernel_read_beside(self->start, self->size, self->other, self->other + self->stride);
}

static void reader_adding(struct player *self)
{
    kernel_read_adding(self->start, self->size, self->other, self->other + self->stride);
}

static void reader_and_teller(struct player *self)
{
    kernel_read_and_tell(self->start, self->size, self->counter);
}

/* A player alone, on memory of its own. */
static struct player alone(void (*fn)(struct player *self), size_t size, size_t stride, int passes,
                           int warm)
{
    struct player self = {.core = 1,
                          .play = fn,
                          .start = machine_alloc(size, SIM_PAGE),
                          .size = size,
                          .stride = stride,
                          .passes = passes,
                          .warm = warm};
    play(&self, 1);
    machine_free(self.start);
    return self;
}

/* One core ------------------------------------------------------------------------------------ */

/* As many loads as that, all hits. */
static double base_ps(void (*fn)(struct player *self), size_t stride, double accesses)
{
    size_t size = 16 * KI;
    struct player hits = alone(fn, size, stride, 100, 1);
    return (double)hits.ps * accesses / (100.0 * (double)size / (double)stride);
}

/* Working sets of twice a level miss it at each line, those of half of it never: LRU. */
static void streaming(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        int passes;
        double misses[3]; /* of L1, L2, L3 per line */
        const char *name;
    } rows[] = {{16 * KI, 16, {0, 0, 0}, "16 KiB"},
                {64 * KI, 16, {1, 0, 0}, "64 KiB"},
                {2 * MI, 2, {1, 1, 0}, "2 MiB"},
                {64 * MI, 1, {1, 1, 1}, "64 MiB"}};
    char what[160];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int write = 0; write < 2; write++) {
            size_t size = rows[i].size, stride = size > 2 * MI ? LINE : 8;
            double lines = (double)size / LINE * rows[i].passes;
            double accesses = (double)size / (double)stride * rows[i].passes;
            void (*fn)(struct player *) = write ? writer : reader;
            struct player self = alone(fn, size, stride, rows[i].passes, 1);
            static const enum cache_counter misses[] = {CACHE_L1D_MISS, CACHE_L2_MISS,
                                                        CACHE_L3_MISS};
            for (int level = 0; level < 3; level++) {
                snprintf(what, sizeof what, "streaming %ss of %s again and again: L%d misses",
                         write ? "store" : "load", rows[i].name, level + 1);
                claim(what, lines * rows[i].misses[level], 2 * rows[i].passes,
                      (double)self.count[misses[level]]); /* the stack has lines, too */
            }
            int64_t here = write ? model->store_ps : model->l1.hit_ps;
            int64_t line = rows[i].misses[2] > 0   ? model->memory_ps[0]
                           : rows[i].misses[1] > 0 ? model->l3.hit_ps
                           : rows[i].misses[0] > 0 ? model->l2.hit_ps
                                                   : here;
            double ps = base_ps(fn, stride, accesses) + lines * (double)(line - here);
            snprintf(what, sizeof what, "streaming %ss of %s again and again: ns",
                     write ? "store" : "load", rows[i].name);
            claim(what, ps / 1e3, ps / 1e3 * 0.005, (double)self.ps / 1e3);
        }
}

static void strides(void **state)
{
    (void)state;
    char what[160];
    for (size_t stride = 8; stride <= 4096; stride *= 4) {
        size_t step = stride > LINE ? stride : LINE;
        struct player self = {.core = 1,
                              .play = reader,
                              .start = machine_alloc(MI, SIM_PAGE),
                              .size = MI,
                              .stride = stride,
                              .passes = 1};
        play(&self, 1); /* the memory is kept: what is freed may come back, and be known */
        snprintf(what, sizeof what, "a stride of %zu bytes through fresh 1 MiB: cold L1 misses",
                 stride);
        claim(what, (double)MI / (double)step, 0, (double)self.count[CACHE_L1D_MISS_COLD]);
    }
}

/* Each call touches the end of its frame, and so does each return. */
static void frames(void **state)
{
    (void)state;
    struct player fresh = {.core = 1, .play = recurser, .passes = 500};
    play(&fresh, 1);
    claim("500 calls, each in the last: L1 misses", (double)fresh.size / LINE, 2,
          (double)fresh.count[CACHE_L1D_MISS]);
    struct player again = {.core = 1, .play = recurser, .passes = 500, .warm = 500};
    play(&again, 1);
    claim("500 calls, each in the last, again: L1 misses", 0, 0,
          (double)again.count[CACHE_L1D_MISS]);
    claim("500 calls, each in the last, again: stores", 1000, 5, (double)again.count[CACHE_WRITES]);
}

/* Lines one way's size apart: as many as there are ways stay. */
static void conflicts(void **state)
{
    (void)state;
    size_t way1 = (size_t)(model->l1.size / model->l1.ways);
    size_t way2 = (size_t)(model->l2.size / model->l2.ways);
    size_t n1 = (size_t)model->l1.ways, n2 = (size_t)model->l2.ways;
    struct player fits = alone(reader, n1 * way1, way1, 100, 1);
    claim("8 lines of one set of 8 ways, 100 times: L1 misses", 0, 0,
          (double)fits.count[CACHE_L1D_MISS]);
    struct player more = alone(reader, (n1 + 1) * way1, way1, 100, 1);
    claim("9 lines of one set of 8 ways, 100 times: L1 conflict misses", 900, 0,
          (double)more.count[CACHE_L1D_MISS_CONFLICT]);
    claim("9 lines of one set of 8 ways, 100 times: L2 misses", 0, 0,
          (double)more.count[CACHE_L2_MISS]);
    char *all = machine_alloc((n2 + 1) * way2, way2);
    struct player whole = {.core = 1,
                           .play = reader,
                           .start = all,
                           .size = (n2 + 1) * way2,
                           .stride = LINE,
                           .passes = 1}; /* pages get their places in order */
    play(&whole, 1);
    struct player two = {.core = 1,
                         .play = reader,
                         .start = all,
                         .size = (n2 + 1) * way2,
                         .stride = way2,
                         .passes = 100,
                         .warm = 1};
    play(&two, 1);
    claim("9 lines of one set of L2 of 8 ways, 100 times: L2 misses", 900, 0,
          (double)two.count[CACHE_L2_MISS]);
    machine_free(all);
}

/* Lines drawn evenly: any of them is as likely to be there, so the share that fits hits. */
static void random_lines(void **state)
{
    (void)state;
    enum { LOADS = 200000 };
    static const int sizes_ki[] = {16, 64, 128, 1024};
    char what[160];
    for (size_t i = 0; i < sizeof sizes_ki / sizeof sizes_ki[0]; i++) {
        size_t size = (size_t)sizes_ki[i] * KI;
        struct player self = alone(random_reader, size, LINE, LOADS, LOADS);
        double share = fmax(0, 1 - (double)model->l1.size / (double)size);
        snprintf(what, sizeof what, "random loads of lines in %d KiB: L1 misses of %d", sizes_ki[i],
                 LOADS);
        claim(what, LOADS * share, 4 * sqrt(LOADS * share * (1 - share)),
              (double)self.count[CACHE_L1D_MISS]);
    }
    /* Lines that L1 has may be missing in L2 or not: between these two. */
    size_t size = 4 * MI;
    struct player self = alone(random_reader, size, LINE, LOADS, LOADS);
    double l1 = (double)model->l1.size, l2 = (double)model->l2.size, whole = (double)size;
    double least = (whole - l2 - l1) / (whole - l1), most = (whole - l2) / (whole - l1);
    double noise = 4 * sqrt(LOADS * most * (1 - most));
    claim("random loads of lines in 4096 KiB: L2 misses of 200000",
          LOADS * (least + most) / 2 * (1 - l1 / whole),
          LOADS * (most - least) / 2 * (1 - l1 / whole) + noise, (double)self.count[CACHE_L2_MISS]);
}

/* Ahead --------------------------------------------------------------------------------------- */

/* How many blocks are mispredicted in a second run through the tosses; its time, in ps. */
static int64_t toss(void (*fn)(struct player *self), const uint8_t *tosses, size_t n,
                    int64_t *wrong)
{
    struct player self = {.core = 1, .play = fn, .start = (char *)tosses, .size = n};
    play(&self, 1);
    *wrong = -sim_counted(1, SIM_BRANCH_MISSES);
    play(&self, 1);
    *wrong += sim_counted(1, SIM_BRANCH_MISSES);
    return self.ps;
}

/* Repeated patterns are predicted. Half of the random tosses are not, which costs their price. */
static void branches(void **state)
{
    (void)state;
    enum { TOSSES = 20000, PRICE_PS = 4000 };
    static const struct {
        const char *name, *pattern;
    } rows[] = {{"alike", "1"}, {"1, 0, 1, 0, ...", "10"}, {"1, 1, 0, 0, 1, 1, 0, 0, ...", "1100"}};
    uint8_t *tosses = machine_alloc(TOSSES, SIM_PAGE);
    char what[160];
    int64_t wrong, free_wrong;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t period = strlen(rows[i].pattern);
        for (size_t k = 0; k < TOSSES; k++)
            tosses[k] = rows[i].pattern[k % period] == '1';
        sim_model.branch_ps = PRICE_PS;
        toss(tosser, tosses, TOSSES, &wrong);
        snprintf(what, sizeof what, "%d branches that go %s: mispredicted", TOSSES, rows[i].name);
        claim(what, 0, 40, (double)wrong); /* thread and loop end */
    }
    uint64_t x = 88172645463325252;
    for (size_t k = 0; k < TOSSES; k++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        tosses[k] = x >> 40 & 1;
    }
    int64_t ps = toss(tosser, tosses, TOSSES, &wrong);
    claim("20000 tosses of a coin: mispredicted", TOSSES / 2.0, 4 * sqrt(TOSSES / 4.0) + 40,
          (double)wrong);
    int64_t called_wrong;
    toss(caller, tosses, TOSSES, &called_wrong);
    claim("20000 calls from outside, from where a coin says: mispredicted", 0, 40,
          (double)called_wrong);
    sim_model.branch_ps = 0;
    int64_t free_ps = toss(tosser, tosses, TOSSES, &free_wrong);
    claim("20000 tosses of a coin, where mispredictions are free: mispredicted", 0, 0,
          (double)free_wrong);
    claim("20000 tosses of a coin: ns that mispredictions take", (double)wrong * PRICE_PS / 1e3,
          200, (double)(ps - free_ps) / 1e3);
    machine_free(tosses);
}

/* Loads that do not depend on each other share a window; a chain of pointers does not. */
static void windows(void **state)
{
    (void)state;
    static const int64_t windows_ps[] = {4000, 1000000};
    size_t size = 64 * MI;
    double lines = (double)size / LINE, own_ps = base_ps(reader, LINE, lines) / lines;
    double memory_ps = (double)(model->memory_ps[0] - model->l1.hit_ps);
    char what[160];
    for (size_t i = 0; i < sizeof windows_ps / sizeof windows_ps[0]; i++) {
        double held = fmin(ceil((double)windows_ps[i] / own_ps), 12);
        sim_model.window_ps = windows_ps[i];
        struct player self = alone(reader, size, LINE, 1, 1);
        sim_model.window_ps = 0;
        snprintf(what, sizeof what, "a window of %.0f ns, loads of 64 MiB: overlapped",
                 (double)windows_ps[i] / 1e3);
        claim(what, lines * (held - 1) / held, 20, (double)self.count[CACHE_OVERLAPPED]);
        snprintf(what, sizeof what, "a window of %.0f ns, loads of 64 MiB: ns",
                 (double)windows_ps[i] / 1e3);
        double ns = lines * (own_ps + memory_ps / held) / 1e3;
        claim(what, ns, ns * 0.005, (double)self.ps / 1e3);
    }
    enum { STEP = 3 * SIM_PAGE + LINE, NODES = 1000, HOPS = 5000 };
    char *nodes = machine_alloc((size_t)NODES * STEP, SIM_PAGE);
    for (size_t i = 0; i < NODES; i++)
        *(void **)(void *)(nodes + i * STEP) = nodes + (i + 367) % NODES * STEP;
    struct player chase = {
        .core = 1, .play = chaser, .start = nodes, .turns = HOPS, .passes = 1, .warm = 1};
    play(&chase, 1);
    double alone_ns = (double)chase.ps / 1e3;
    sim_model.window_ps = 1000000;
    play(&chase, 1);
    sim_model.window_ps = 0;
    claim("a chain of pointers in a window of 1000 ns: ns", alone_ns, 10, (double)chase.ps / 1e3);
    claim("a chain of pointers in a window of 1000 ns: L1 misses", HOPS, 2,
          (double)chase.count[CACHE_L1D_MISS]);
    machine_free(nodes);
}

/* Neither what a fence parts nor stores that are an exchange overlap. A hit is no miss, even where
 * the cache's hints, which have room for one of two lines, do not lead to it. */
static void windows_hold_misses(void **state)
{
    (void)state;
    enum { LINES = 4 * MI / LINE, HELD = 12 };
    sim_model.window_ps = 1000000;
    struct player self = alone(fenced_reader, 4 * MI, LINE, 1, 0);
    claim("loads with a fence behind each, in a window of 1000 ns: overlapped", 0, 1,
          (double)self.count[CACHE_OVERLAPPED]);
    self = alone(publisher, 4 * MI, LINE, 1, 0);
    claim("sequentially consistent stores in a window of 1000 ns: overlapped", 0, 1,
          (double)self.count[CACHE_OVERLAPPED]);
    size_t apart = LINE;
    char *pair = machine_alloc(MI, SIM_PAGE);
    while (cache_hint((uintptr_t)pair) != cache_hint((uintptr_t)pair + apart))
        apart += LINE;
    assert_true(apart < MI);
    void (*const plays[])(struct player * self) = {reader_beside, reader_adding};
    for (int i = 0; i < 2; i++) {
        self = (struct player){.core = 1, .play = plays[i], .size = 4 * MI, .stride = apart};
        self.other = pair;
        self.start = machine_alloc(self.size, SIM_PAGE);
        play(&self, 1);
        machine_free(self.start);
        claim(i ? "loads beside two words that are added to, in a window of 1000 ns: overlapped"
                : "loads beside two lines that are there, in a window of 1000 ns: overlapped",
              LINES * (HELD - 1.0) / HELD, 20, (double)self.count[CACHE_OVERLAPPED]);
    }
    sim_model.window_ps = 0;
    machine_free(pair);
}

/* Several cores ------------------------------------------------------------------------------- */

/* A line that holds the token, or the word that is counted, alone. */
static char *line_new(void)
{
    char *line = machine_alloc(LINE, LINE);
    memset(line, 0, LINE);
    return line;
}

/* Players 0 to n - 1 take turns; step: how many cores lie between two of them. */
static void hand_round(struct player *players, int n, uint64_t turns, bool counter)
{
    char *token = line_new(), *word = line_new();
    for (int i = 0; i < n; i++)
        players[i] = (struct player){.core = i,
                                     .play = hander_over,
                                     .token = (_Atomic uint64_t *)(void *)token,
                                     .counter = counter ? (volatile uint64_t *)(void *)word : NULL,
                                     .players = (uint64_t)n,
                                     .turns = turns};
    play(players, n);
    if (counter)
        assert_int_equal(*(uint64_t *)(void *)word, (uint64_t)n * turns);
    machine_free(token);
    machine_free(word);
}

/* Each write is seen by the other: it fetches the changed line, and takes it from the writer. */
static void ping_pong(void **state)
{
    (void)state;
    enum { TURNS = 1000, HOPS = 2 * TURNS };
    struct player players[2];
    hand_round(players, 2, TURNS, false);
    claim("ping-pong of one line, 2000 hops: changed lines fetched", HOPS, 2,
          sum_of(players, 2, CACHE_TRANSFERS_DIRTY_NEAR));
    claim("ping-pong of one line, 2000 hops: upgrades", HOPS, 2,
          sum_of(players, 2, CACHE_UPGRADES));
    claim("ping-pong of one line, 2000 hops: L1 misses that are true sharing", HOPS, 4,
          sum_of(players, 2, CACHE_L1D_MISS_TRUE_SHARING));
    double hop = (double)(model->dirty_ps[SIM_NEAR] + model->upgrade_ps[SIM_NEAR]) / 1e3;
    /* beside line and upgrade a hop has a look or two at the token, and the loop around it */
    claim("ping-pong of one line: ns a hop", hop, 0.1 * hop, together_ns(players, 2) / HOPS);
}

/* n players add to words `apart` bytes from each other, N times each. */
static void add_up(struct player *players, int n, size_t apart, int times)
{
    char *lines = machine_alloc((size_t)n * LINE, SIM_PAGE);
    memset(lines, 0, (size_t)n * LINE);
    for (int p = 0; p < n; p++)
        players[p] = (struct player){
            .core = p, .play = adder, .start = lines + (size_t)p * apart, .passes = times};
    play(players, n);
    machine_free(lines);
}

static void sharing(void **state)
{
    (void)state;
    enum { N = 10000 };
    struct player players[PLAYERS_MAX];
    add_up(players, 2, 8, N);
    double misses = sum_of(players, 2, CACHE_L1D_MISS);
    claim("two words of one line, 20000 additions: L1 misses by false sharing", misses, 8,
          sum_of(players, 2, CACHE_L1D_MISS_FALSE_SHARING));
    claim("two words of one line: by true sharing", 0, 0,
          sum_of(players, 2, CACHE_L1D_MISS_TRUE_SHARING));
    add_up(players, 2, LINE, N);
    claim("two words of two lines, 20000 additions: L1 misses", 0, 8,
          sum_of(players, 2, CACHE_L1D_MISS));
    char what[160];
    for (int n = 2; n <= 8; n *= 2) {
        add_up(players, n, 0, N);
        misses = sum_of(players, n, CACHE_L1D_MISS);
        snprintf(what, sizeof what, "one word, %d cores: L1 misses by true sharing", n);
        claim(what, misses - sum_of(players, n, CACHE_L1D_MISS_COLD), 2 * n, /* cold: stacks */
              sum_of(players, n, CACHE_L1D_MISS_TRUE_SHARING));
        /* The line goes from one to the next without a pause, however many wait. With two cores,
         * the one that has just lost it may still be at its last addition when it could have it
         * back. */
        double ns = misses * (double)model->dirty_ps[SIM_NEAR] / 1e3;
        snprintf(what, sizeof what, "one word, %d cores add to it: ns, that is transfers x dirty",
                 n);
        claim(what, ns, (n == 2 ? 0.1 : 0.05) * ns, together_ns(players, n));
        /* half of that time the line is where it was, and its core goes on adding */
        int64_t add_ps = model->atomic_ps + model->store_ps + model->block_ps;
        double adds = 1 + (double)model->dirty_ps[SIM_NEAR] / 2 / (double)add_ps;
        snprintf(what, sizeof what, "one word, %d cores add to it: additions a transfer", n);
        claim(what, adds, 1, n * N / misses);
    }
}

/* Two cores that take lines from each other: in ns. */
static double contend_ns(void (*fn)(struct player *self), size_t size, int64_t window_ps)
{
    enum { PASSES = 2000 };
    char *lines = machine_alloc(size < LINE ? LINE : size, SIM_PAGE);
    struct player players[2];
    for (int i = 0; i < 2; i++)
        players[i] = (struct player){
            .core = i, .play = fn, .start = lines, .size = size, .stride = 8, .passes = PASSES};
    sim_model.window_ps = window_ps;
    play(players, 2);
    sim_model.window_ps = 0;
    machine_free(lines);
    return together_ns(players, 2);
}

/* A line that was lost within a window has to come again, and read-modify-writes do not overlap. */
static void sharing_in_windows(void **state)
{
    (void)state;
    double ns = contend_ns(writer, LINE, 0);
    claim("two cores store to one line, in a window of 1000 ns: ns as without", ns, 0.02 * ns,
          contend_ns(writer, LINE, 1000000));
    ns = contend_ns(lines_adder, (size_t)8 * LINE, 0);
    claim("two cores add to 8 lines in turn, in a window of 1000 ns: ns as without", ns, 0.02 * ns,
          contend_ns(lines_adder, (size_t)8 * LINE, 1000000));
}

/* Eight cores tell each other something while they wait for memory: the line goes to one after the
 * other, though none of them waits for it. */
static void one_word_in_windows(void **state)
{
    (void)state;
    enum { CORES = 8, LINES = 2000 };
    struct player players[CORES];
    char *word = line_new(), *lines = machine_alloc((size_t)CORES * LINES * LINE, SIM_PAGE);
    for (int i = 0; i < CORES; i++)
        players[i] = (struct player){.core = i,
                                     .play = reader_and_teller,
                                     .start = lines + (size_t)i * LINES * LINE,
                                     .size = (size_t)LINES * LINE,
                                     .counter = (volatile uint64_t *)(void *)word};
    sim_model.window_ps = 1000000;
    play(players, CORES);
    sim_model.window_ps = 0;
    machine_free(word);
    machine_free(lines);
    double ns = sum_of(players, CORES, CACHE_TRANSFERS_DIRTY_NEAR) *
                (double)model->dirty_ps[SIM_NEAR] / 1e3;
    claim("eight cores read lines and store to one word, in a window of 1000 ns: ns, transfers x "
          "dirty",
          ns, 0.1 * ns, together_ns(players, CORES));
}

/* A hop moves the token and what the lock protects: each is fetched changed, and then taken from
 * all who have read it. The next may come after other readers of the token. */
static void lock_handed_round(void **state)
{
    (void)state;
    enum { TURNS = 200 };
    struct player players[PLAYERS_MAX];
    char what[160];
    for (int n = 2; n <= 16; n *= 2) {
        double hops = n * TURNS, upgrades = 2 * hops, taken = n * hops;
        hand_round(players, n, TURNS, true);
        snprintf(what, sizeof what, "a lock handed round %d cores, %g hops: upgrades", n, hops);
        claim(what, upgrades, 2 * n, sum_of(players, n, CACHE_UPGRADES));
        snprintf(what, sizeof what, "a lock handed round %d cores, %g hops: copies invalidated", n,
                 hops);
        claim(what, taken, 0.01 * taken, sum_of(players, n, CACHE_INVALIDATIONS));
        snprintf(what, sizeof what, "a lock handed round %d cores, %g hops: changed lines fetched",
                 n, hops);
        claim(what, 2 * hops, 2 * n,
              sum_of(players, n, CACHE_TRANSFERS_DIRTY_NEAR) +
                  sum_of(players, n, CACHE_TRANSFERS_DIRTY_SOCKET));
        if (n > model->group)
            continue;
        double least = 2 * (double)(model->dirty_ps[SIM_NEAR] + model->upgrade_ps[SIM_NEAR]) / 1e3;
        double most = least + (double)(model->l3.hit_ps + model->lookahead_ps) / 1e3;
        snprintf(what, sizeof what, "a lock handed round %d cores: ns a hop", n);
        claim(what, (least + most) / 2, (most - least) / 2, together_ns(players, n) / hops);
    }
}

/* Work ---------------------------------------------------------------------------------------- */

/* The host jumps to the result of all rounds, of which each takes its time. */
static void work(void **state)
{
    (void)state;
    uint64_t made = 1;
    for (uint32_t rounds = 0; rounds <= 100; rounds++) {
        int64_t began = sim_now();
        assert_int_equal(machine_work(1, rounds), made);
        assert_int_equal(sim_now() - began, rounds * model->work_ps);
        made = made * MACHINE_WORK_FACTOR + MACHINE_WORK_TERM;
    }
}

/* The kernel ---------------------------------------------------------------------------------- */

static void ender(void *arg)
{
    (void)arg;
}

/* A thread that does nothing, on core 0 or another one, by a starter on core 0. */
static void threads(void **state)
{
    (void)state;
    struct machine_thread thread;
    machine_pin(0);
    int64_t began = sim_now();
    assert_int_equal(machine_thread_start(&thread, ender, NULL, STACK, 0), 0);
    claim("starting a thread on the own core: ns", (double)model->start_ps / 1e3, 0,
          (double)(sim_now() - began) / 1e3);
    machine_thread_join(&thread);
    int64_t whole = model->start_ps + model->call_ps + 2 * model->switch_ps + model->end_ps;
    claim("its whole life, and waiting for its end: ns", (double)whole / 1e3, 0,
          (double)(sim_now() - began) / 1e3);
    began = sim_now();
    assert_int_equal(machine_thread_start(&thread, ender, NULL, STACK, 1), 0);
    claim("starting a thread on an idle core: ns", (double)(model->start_ps + model->wake_ps) / 1e3,
          0, (double)(sim_now() - began) / 1e3);
    machine_thread_join(&thread);
    machine_pin(-1);
}

static void barrier_player(struct player *self)
{
    for (uint64_t i = 0; i < self->turns; i++)
        machine_fence_all();
}

/* A barrier waits for the core that reads, and takes its time; it is a call where nobody runs. */
static void barriers(void **state)
{
    (void)state;
    enum { BARRIERS = 100, PASSES = 4000 };
    struct player players[] = {
        {.core = 1, .play = barrier_player, .turns = BARRIERS},
        {.core = 2, .play = reader, .size = 16 * KI, .stride = 8, .passes = PASSES, .warm = 1}};
    players[1].start = machine_alloc(players[1].size, SIM_PAGE);
    play(&players[1], 1);
    double calls = -(double)sim_counted(1, SIM_CALLS);
    double alone_ns = (double)players[1].ps / 1e3,
           lost = BARRIERS * (double)model->interrupt_ps / 1e3;
    play(players, 2);
    machine_free(players[1].start);
    calls += (double)sim_counted(1, SIM_CALLS);
    claim("100 barriers beside a core that reads: system calls", BARRIERS, 10, calls);
    claim("100 barriers beside a core that reads: ns",
          BARRIERS * (double)model->membarrier_ps / 1e3, 1, (double)players[0].ps / 1e3);
    claim("what that core loses: ns", lost, 0.001 * lost, (double)players[1].ps / 1e3 - alone_ns);
    play(players, 1);
    claim("100 barriers alone: ns", BARRIERS * (double)model->call_ps / 1e3, 1,
          (double)players[0].ps / 1e3);
}

/* The whole ----------------------------------------------------------------------------------- */

static int failed;

static void all(void *unused)
{
    (void)unused;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streaming),
        cmocka_unit_test(strides),
        cmocka_unit_test(conflicts),
        cmocka_unit_test(random_lines),
        cmocka_unit_test(frames),
        cmocka_unit_test(ping_pong),
        cmocka_unit_test(sharing),
        cmocka_unit_test(lock_handed_round),
        cmocka_unit_test(branches),
        cmocka_unit_test(windows),
        cmocka_unit_test(windows_hold_misses),
        cmocka_unit_test(sharing_in_windows),
        cmocka_unit_test(one_word_in_windows),
        cmocka_unit_test(work),
        cmocka_unit_test(threads),
        cmocka_unit_test(barriers),
    };
    failed += cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    bool json = argc == 3 && strcmp(argv[1], "--json") == 0;
    if (argc > 1 && !json) {
        fprintf(stderr, "sim_formulas: valid: --json FILE\n");
        return 2;
    }
    const char *cases = getenv("CASE");
    bool any = !cases || !*cases, wakes = !any && strncmp(cases, "wake", 4) == 0;
    claims = json_array();
    if (any || wakes)
        failed = wake_formulas() != 0;
    if (!wakes)
        sim_run(&sim_model_plain, 1, all, NULL);
    if (json && json_dump_file(claims, argv[2], JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0) {
        fprintf(stderr, "sim_formulas: cannot write %s\n", argv[2]);
        return 1;
    }
    json_decref(claims);
    return failed > 0;
}
