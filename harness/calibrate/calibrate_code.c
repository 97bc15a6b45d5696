/* calibrate_code.c - see calibrate.h: what a basic block, a load and a store cost that hit L1, and
 * a mispredicted branch.
 *
 * A real core overlaps them, the simulated one does one after the other, so these are no latencies
 * that could be measured alone. They are fitted: to the times that small loops take here, of which
 * it is known how many blocks they enter, and how many words they load and store. Schedulers and
 * workloads consist of such loops; the fit weighs them alike, and its residuals say how far a
 * program can be off that is one of them only. Their branches are ones that a processor predicts:
 * what it costs if it does not is measured apart.
 */
#include "harness/calibrate/calibrate.h"

#include "runtime/runtime.h"

#include <gsl/gsl_multifit.h>
#include <math.h>
#include <string.h>

enum { WORDS = 512, RING = 256, RECORDS = 16, UNKNOWN = 3 };
static const int64_t MEASURE_NS = 4000000000, MEASURE_QUICK_NS = 200000000;

static struct node {
    struct node *next;
    uint64_t value;
} nodes[WORDS];
static uint64_t words[WORDS];
static struct {
    uint32_t head, tail;
    uint64_t slot[RING];
} ring;
static struct record {
    _Alignas(64) struct node *first;
    uint64_t count, due, last;
    void *owner;
    uint8_t reason;
    bool alive;
} records[RECORDS];
static struct node *put_first(struct record *record, struct node *node);
static struct node *take_first(struct record *record, struct node *node);
static struct node *(*volatile const policy[])(struct record *, struct node *) = {put_first,
                                                                                  take_first};
static struct worker {
    _Alignas(64) uint64_t starts, stops, moves, ticks;
    struct record *current;
    bool tracing, asked;
} worker;
static volatile uint64_t sink;

/* Keeps a loop from being vectorized or unrolled, so that the counts below are right. */
#define KEEP(i) __asm__ volatile("" : "+r"(i)::"memory")

static void work_loop(void *arg, int64_t n)
{
    (void)arg;
    sink = go_work((uint64_t)n);
}

/* Steps of 3x + 1, the same 111 again and again. */
static void branch_loop(void *arg, int64_t n)
{
    (void)arg;
    uint64_t x = 27, odd = 0;
    for (int64_t i = 0; i < n; i++) {
        KEEP(i);
        if (x & 1) {
            x = x * 3 + 1;
            odd++;
            KEEP(odd);
        } else {
            x /= 2;
        }
        if (x == 1)
            x = 27;
    }
    sink = odd;
}

/* Adds up all eight words of a line, of n lines. */
static void sum_loop(void *arg, int64_t n)
{
    (void)arg;
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        KEEP(i);
        const uint64_t *line = &words[i * 8 % WORDS];
        sum += line[0] + line[1] + line[2] + line[3] + line[4] + line[5] + line[6] + line[7];
    }
    sink = sum;
}

static void fill_loop(void *arg, int64_t n)
{
    (void)arg;
    for (int64_t i = 0; i < n; i++) {
        KEEP(i);
        uint64_t *line = &words[i * 8 % WORDS], value = (uint64_t)i;
        line[0] = value;
        line[1] = ++value;
        line[2] = ++value;
        line[3] = ++value;
        line[4] = ++value;
        line[5] = ++value;
        line[6] = ++value;
        line[7] = ++value;
    }
}

static void list_loop(void *arg, int64_t n)
{
    (void)arg;
    uint64_t sum = 0;
    struct node *at = &nodes[0];
    for (int64_t i = 0; i < n; i++) {
        KEEP(i);
        sum += at->value;
        at = at->next;
    }
    sink = sum;
}

/* A queue: one in, one out. */
static void ring_loop(void *arg, int64_t n)
{
    (void)arg;
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        KEEP(i);
        if (ring.tail - ring.head < RING) {
            ring.slot[ring.tail % RING] = (uint64_t)i;
            KEEP(i);
            ring.tail++;
        }
        KEEP(i);
        if (ring.tail != ring.head) {
            sum += ring.slot[ring.head % RING];
            KEEP(i);
            ring.head++;
        }
    }
    sink = sum;
}

/* Tosses of a coin, or of one with tails on both sides: *sides is 1 or 0. Each 64 are known long
 * before they are asked for. */
static void coin_loop(void *sides, int64_t n)
{
    static uint64_t seed = 1; /* goes on, so that no toss is met again */
    uint64_t heads = 0, side = *(const uint64_t *)sides, tosses = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i % 64 == 0) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            tosses = (seed ^ seed >> 31) * 0xbf58476d1ce4e5b9u;
            tosses ^= tosses >> 29;
        }
        if (tosses >> i % 64 & side) {
            heads++;
            KEEP(heads);
        }
    }
    sink = heads;
}

/* Records that have nothing to do with each other: their fields are read and written while those of
 * the ones before still are. */
static void record_loop(void *arg, int64_t n)
{
    (void)arg;
    uint64_t late = 0;
    for (int64_t i = 0; i < n; i++) {
        KEEP(i);
        struct record *record = &records[i % RECORDS];
        if (!record->alive)
            continue;
        if (record->due > (uint64_t)i)
            late++;
        record->last = (uint64_t)i;
        record->owner = &ring;
        record->reason = 0;
        KEEP(late);
    }
    sink = late;
}

__attribute__((noinline)) static struct node *put_first(struct record *record, struct node *node)
{
    node->next = record->first;
    record->first = node;
    record->count++;
    return node;
}

__attribute__((noinline)) static struct node *take_first(struct record *record, struct node *node)
{
    struct node *first = record->first;
    if (!first)
        return node;
    record->first = first->next;
    record->count--;
    return first;
}

/* Policies behind a table of functions, as a scheduler calls them. */
static void call_loop(void *arg, int64_t n)
{
    (void)arg;
    static struct node node;
    struct node *at = &node;
    for (int64_t i = 0; i < n; i++) {
        struct record *record = &records[i % RECORDS];
        at = policy[0](record, at);
        at = policy[1](record, at);
        KEEP(at);
    }
    sink = at->value;
}

__attribute__((noinline)) static void worker_stop(struct worker *self, struct record *record)
{
    self->stops++;
    record->reason = 1;
    record->last = self->ticks;
    if (self->tracing)
        sink++;
}

__attribute__((noinline)) static void worker_start(struct worker *self, struct record *record)
{
    self->starts++;
    if (record->owner != self) {
        record->owner = self;
        self->moves++;
    }
    record->reason = 0;
    self->current = record;
    if (self->asked)
        self->asked = false;
}

/* The bookkeeping of a worker about what it runs: counters and fields, which do not wait for one
 * another. */
static void worker_loop(void *arg, int64_t n)
{
    (void)arg;
    for (int64_t i = 0; i < n; i++) {
        worker_stop(&worker, &records[i % RECORDS]);
        if (++worker.ticks % 61 == 0)
            worker.asked = true;
        worker_start(&worker, &records[(i + 1) % RECORDS]);
    }
}

/* Counted by compiling this file for the simulator, with gcc 12. */
static const struct code {
    const char *name;
    void (*loop)(void *arg, int64_t n);
    double blocks, loads, stores; /* of one of n */
} codes[] = {
    {"code: branches", branch_loop, 4, 0, 0}, {"code: sum", sum_loop, 1, 8, 0},
    {"code: fill", fill_loop, 1, 0, 8},       {"code: list", list_loop, 1, 2, 0},
    {"code: queue", ring_loop, 5, 7, 3},      {"code: records", record_loop, 4, 2, 3},
    {"code: calls", call_loop, 5, 5, 7},      {"code: worker", worker_loop, 7, 7, 9},
};

enum { CODES = sizeof codes / sizeof codes[0] };

static const char *const fitted[UNKNOWN] = {"block", "l1.hit", "store"};

static double count_of(const struct code *code, int unknown)
{
    return unknown == 0 ? code->blocks : unknown == 1 ? code->loads : code->stores;
}

static double modelled(const struct code *code, const double cost[UNKNOWN])
{
    double ns = 0;
    for (int u = 0; u < UNKNOWN; u++)
        ns += count_of(code, u) * cost[u];
    return ns;
}

/* Least squares over the unknowns that are used; a loop's error counts as a part of scale[i]. */
static void fit(const double ns[CODES], const double scale[CODES], const bool used[UNKNOWN],
                double cost[UNKNOWN])
{
    size_t count = 0;
    for (int u = 0; u < UNKNOWN; u++)
        count += used[u];
    gsl_matrix *counts = gsl_matrix_alloc(CODES, count), *spread = gsl_matrix_alloc(count, count);
    gsl_vector *times = gsl_vector_alloc(CODES), *result = gsl_vector_alloc(count);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(CODES, count);
    double residual;
    for (size_t i = 0; i < CODES; i++) {
        size_t column = 0;
        gsl_vector_set(times, i, ns[i] / scale[i]);
        for (int u = 0; u < UNKNOWN; u++)
            if (used[u])
                gsl_matrix_set(counts, i, column++, count_of(&codes[i], u) / scale[i]);
    }
    gsl_multifit_linear(counts, times, result, spread, &residual, work);
    size_t column = 0;
    for (int u = 0; u < UNKNOWN; u++)
        cost[u] = used[u] ? gsl_vector_get(result, column++) : 0;
    gsl_multifit_linear_free(work);
    gsl_vector_free(result);
    gsl_vector_free(times);
    gsl_matrix_free(spread);
    gsl_matrix_free(counts);
}

/* Fits costs that are not negative: a negative one becomes zero, and the rest is fitted again. The
 * scale is the geometric mean of time and model, so that twice too long is as wrong as twice too
 * short. */
static void fit_positive(const double ns[CODES], double cost[UNKNOWN])
{
    enum { FITS = 20 };
    bool used[UNKNOWN] = {true, true, true};
    double scale[CODES];
    memcpy(scale, ns, sizeof scale);
    for (int round = 0; round < FITS; round++) {
        fit(ns, scale, used, cost);
        for (int u = 1; u < UNKNOWN; u++) /* each loop enters blocks, so these cost something */
            if (used[u] && cost[u] < 0) {
                used[u] = false;
                fit(ns, scale, used, cost);
            }
        for (int i = 0; i < CODES; i++)
            scale[i] = sqrt(ns[i] * modelled(&codes[i], cost));
    }
}

/* Keeps the samples that were disturbed least, of each loop by itself. */
static void keep_least(double best[CALIBRATE_SAMPLES], const double samples[CALIBRATE_SAMPLES])
{
    enum { MEDIAN = CALIBRATE_SAMPLES / 2 };
    if (samples[MEDIAN] < best[MEDIAN])
        memcpy(best, samples, CALIBRATE_SAMPLES * sizeof *best);
}

/* Runs all loops in turn, until the core has been alone for a while. Other guests may share it for
 * tenths of a second to seconds, in which independent instructions take up to 1.8 times as long.
 * coin: with tosses that are all alike, and with ones that nobody can predict. */
static void codes_measure(int64_t budget_ns, double best[CODES][CALIBRATE_SAMPLES],
                          double coin[2][CALIBRATE_SAMPLES])
{
    uint64_t sides[] = {0, 1};
    double samples[CALIBRATE_SAMPLES];
    for (int64_t until = machine_now() + budget_ns; machine_now() < until;) {
        for (int i = 0; i < CODES; i++) {
            calibrate_samples(codes[i].loop, NULL, samples);
            keep_least(best[i], samples);
        }
        for (int kind = 0; kind < 2; kind++) {
            calibrate_samples(coin_loop, &sides[kind], samples);
            keep_least(coin[kind], samples);
        }
    }
}

/* Half of the tosses are mispredicted, and none of those that are all alike. */
static void branch_add(struct calibrate *to, double coin[2][CALIBRATE_SAMPLES])
{
    double samples[CALIBRATE_SAMPLES];
    for (int i = 0; i < CALIBRATE_SAMPLES; i++)
        samples[i] = fmax(0, 2 * (coin[1][i] - coin[0][i]));
    calibrate_add(to, "branch", samples, CALIBRATE_SAMPLES);
    calibrate_absent(to, "window", "how much a core holds while it waits is not measured");
}

void calibrate_code(struct calibrate *to)
{
    calibrate_loop(to, "work", work_loop, NULL); /* each round waits for the one before */
    static double best[CODES][CALIBRATE_SAMPLES], coin[2][CALIBRATE_SAMPLES];
    double ns[CODES], cost[UNKNOWN], worst = 1;
    const char *worst_name = "";
    for (int i = 0; i < WORDS; i++)
        nodes[i] = (struct node){&nodes[(i + 1) % WORDS], (uint64_t)i};
    for (int i = 0; i < RECORDS; i++)
        records[i].alive = true;
    for (int i = 0; i < CODES; i++)
        best[i][CALIBRATE_SAMPLES / 2] = INFINITY;
    for (int kind = 0; kind < 2; kind++)
        coin[kind][CALIBRATE_SAMPLES / 2] = INFINITY;
    codes_measure(to->quick ? MEASURE_QUICK_NS : MEASURE_NS, best, coin);
    branch_add(to, coin);
    for (int i = 0; i < CODES; i++) {
        calibrate_add(to, codes[i].name, best[i], CALIBRATE_SAMPLES);
        ns[i] = calibrate_median(to, codes[i].name);
    }
    fit_positive(ns, cost);
    for (int u = 0; u < UNKNOWN; u++)
        calibrate_add(to, fitted[u], &cost[u], 1);
    for (int i = 0; i < CODES; i++) {
        double model = modelled(&codes[i], cost);
        double off = model > ns[i] ? model / ns[i] : ns[i] / model;
        if (off > worst) {
            worst = off;
            worst_name = codes[i].name;
        }
    }
    calibrate_note(to,
                   "block, l1.hit and store are effective costs, fitted to %d loops; worst: "
                   "\"%s\", off by a factor of %.1f",
                   (int)CODES, worst_name, worst);
}
