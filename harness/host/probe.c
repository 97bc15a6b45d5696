/* probe.c - see probe.h.
 *
 * The line: one word on a line of its own. The first thread makes it odd, the second even; each
 * waits by reading, without a pause instruction, whose length differs between cores by more than
 * what is measured. The first one looks at the clock from time to time and gives up at the hard
 * limit; the second ends when the first says so.
 */
#include "harness/host/probe.h"

#include "harness/numbers/statistics.h"
#include "runtime/runtime.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum {
    BATCHES_MAX = 512,
    BATCH_TRIPS = 100,     /* 5 us where the cores share a cache */
    READS_PER_LOOK = 4096, /* of the word, before the clock is looked at */
    LINE_PARTS = 6,        /* tenths of the budget; the rest is for computing and for threads */
    COMPUTE_PARTS = 2,
    WIDE_PARTS = 1,
    HARD_LIMIT_FACTOR = 10, /* how often the budget may be used up if the cores are not ours */
    HARD_LIMIT_MIN_NS = 20000000, /* some turns of another program */
};

/* Batches of one kind. */
struct batches {
    double ns[BATCHES_MAX];
    size_t count;
};

/* One measurement; the code that starts the threads sets the budget. */
struct pair {
    _Alignas(128) _Atomic uint32_t word; /* odd: the second thread's turn */
    _Alignas(128) _Atomic bool over;
    _Atomic bool second_is_there;
    int64_t budget_ns;
    struct batches batches; /* the first thread's */
};

/* When a thread that is there at last has used up its budget, or others have. */
struct limits {
    int64_t soft, hard; /* of go_now() */
};

static struct limits limits_begin(const struct pair *pair)
{
    int64_t now = go_now(), hard_ns = pair->budget_ns * HARD_LIMIT_FACTOR;
    if (pair->budget_ns > 0 && hard_ns < HARD_LIMIT_MIN_NS)
        hard_ns = HARD_LIMIT_MIN_NS;
    return (struct limits){now + pair->budget_ns, now + hard_ns};
}

/* Enough batches, or time is up. */
static bool batches_done(const struct pair *pair, struct limits limits)
{
    int64_t now = go_now();
    return pair->batches.count == BATCHES_MAX || now >= limits.hard ||
           (now >= limits.soft && pair->batches.count >= PROBE_BATCHES_MIN);
}

/* The line ------------------------------------------------------------------------------------ */

/* False if it is over, or after the limit. acquire: pairs with the release of whoever wrote the
 * value. Never yields: where other programs run too, two that yield to these whenever the partner
 * is away would hardly ever run at the same time. */
static bool word_wait(struct pair *pair, uint32_t value, int64_t limit)
{
    for (;;) {
        for (int i = 0; i < READS_PER_LOOK; i++)
            if (atomic_load_explicit(&pair->word, memory_order_acquire) == value)
                return true;
        if (atomic_load_explicit(&pair->over, memory_order_relaxed) || go_now() >= limit)
            return false;
    }
}

static void *second_main(void *arg)
{
    struct pair *pair = arg;
    /* relaxed: only the word orders anything */
    atomic_store_explicit(&pair->second_is_there, true, memory_order_relaxed);
    for (uint32_t value = 1; word_wait(pair, value, INT64_MAX); value += 2)
        atomic_store_explicit(&pair->word, value + 1, memory_order_release);
    return NULL;
}

static void *first_main(void *arg)
{
    struct pair *pair = arg;
    uint32_t value = 0;
    bool alive = true;
    struct limits limits = limits_begin(pair);
    while (!atomic_load_explicit(&pair->second_is_there, memory_order_relaxed) &&
           go_now() < limits.hard)
        continue;
    /* The other thread's start is not to be paid from the budget. */
    limits = limits_begin(pair);
    while (alive && !batches_done(pair, limits)) {
        int64_t start = go_now();
        for (int trip = 0; trip < BATCH_TRIPS && alive; trip++) {
            atomic_store_explicit(&pair->word, value + 1, memory_order_release);
            value += 2;
            alive = word_wait(pair, value, limits.hard);
        }
        if (alive)
            pair->batches.ns[pair->batches.count++] = (double)(go_now() - start) / BATCH_TRIPS;
    }
    atomic_store_explicit(&pair->over, true, memory_order_relaxed);
    return NULL;
}

/* Computing ----------------------------------------------------------------------------------- */

static void *compute_main(void *arg)
{
    struct pair *pair = arg;
    struct limits limits = limits_begin(pair);
    while (!batches_done(pair, limits)) {
        int64_t start = go_now();
        go_work(PROBE_COMPUTE_ROUNDS);
        pair->batches.ns[pair->batches.count++] = (double)(go_now() - start);
    }
    return NULL;
}

/* The compiler may not add several at once. */
#define STEP(x)                                                                                    \
    do {                                                                                           \
        (x)++;                                                                                     \
        __asm__ volatile("" : "+r"(x));                                                            \
    } while (0)

static uint64_t wide(int rounds)
{
    uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    for (int i = 0; i < rounds; i++) {
        STEP(a);
        STEP(b);
        STEP(c);
        STEP(d);
        STEP(e);
        STEP(f);
        STEP(g);
        STEP(h);
    }
    return a + b + c + d + e + f + g + h;
}

static void *wide_main(void *arg)
{
    struct pair *pair = arg;
    struct limits limits = limits_begin(pair);
    while (!batches_done(pair, limits)) {
        int64_t start = go_now();
        (void)wide(PROBE_WIDE_ROUNDS);
        pair->batches.ns[pair->batches.count++] = (double)(go_now() - start);
    }
    return NULL;
}

/* Threads ------------------------------------------------------------------------------------- */

/* On that core, and before other programs, from its first instruction; 0 or an error number. Both
 * threads should be on their cores at the same time where others want these too; for the length of
 * a probe that costs those little. Users who may not go first have to be lucky. */
static int thread_start(pthread_t *thread, int cpu, void *(*main_fn)(void *), struct pair *pair)
{
    pthread_attr_t attr;
    size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);
    cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
    if (!set)
        return ENOMEM;
    CPU_ZERO_S(size, set);
    CPU_SET_S((size_t)cpu, size, set);
    pthread_attr_init(&attr);
    int error = pthread_attr_setaffinity_np(&attr, size, set);
    int priority = getpriority(PRIO_PROCESS, 0); /* of this thread; the new one inherits it */
    setpriority(PRIO_PROCESS, 0, -20);
    if (!error)
        error = pthread_create(thread, &attr, main_fn, pair);
    setpriority(PRIO_PROCESS, 0, priority);
    pthread_attr_destroy(&attr);
    CPU_FREE(set);
    return error;
}

static void pair_begin(struct pair *pair, int64_t budget_ns)
{
    memset(pair, 0, sizeof *pair);
    pair->budget_ns = budget_ns;
}

/* Both leave the batches in *pair; 0, or the error number of a thread that did not start. */
static int line_measure(struct pair *pair, int cpu_a, int cpu_b, int64_t budget_ns)
{
    pthread_t first, second;
    pair_begin(pair, budget_ns);
    int error = thread_start(&second, cpu_b, second_main, pair);
    if (error)
        return error;
    error = thread_start(&first, cpu_a, first_main, pair);
    if (error)
        atomic_store_explicit(&pair->over, true, memory_order_relaxed);
    else
        pthread_join(first, NULL);
    pthread_join(second, NULL);
    return error;
}

static int core_measure(struct pair *pair, int cpu, void *(*main_fn)(void *), int64_t budget_ns)
{
    pthread_t thread;
    pair_begin(pair, budget_ns);
    int error = thread_start(&thread, cpu, main_fn, pair);
    if (!error)
        pthread_join(thread, NULL);
    return error;
}

/* Results ------------------------------------------------------------------------------------- */

static struct pair the_pair; /* 4 KiB: too much for some stacks */

/* NAN if there is none, for a reason that is then in absent. */
static double result(int error, char *absent, size_t size)
{
    const struct batches *batches = &the_pair.batches;
    if (error)
        snprintf(absent, size, "cannot start a thread on the core: %s", strerror(error));
    else if (batches->count < PROBE_BATCHES_MIN)
        snprintf(absent, size, "the cores were busy: %zu of %d batches in time", batches->count,
                 PROBE_BATCHES_MIN);
    else
        return statistics_median_alone(batches->ns, batches->count);
    return NAN;
}

int probe_line(int cpu_a, int cpu_b, double *line_ns)
{
    char absent[PROBE_ABSENT_SIZE];
    int error = line_measure(&the_pair, cpu_a, cpu_b, PROBE_NS);
    double ns = result(error, absent, sizeof absent);
    if (!isnan(ns))
        *line_ns = ns;
    return isnan(ns) && !error ? -ETIMEDOUT : -error;
}

int64_t probe_budget_ns(int64_t min_time_ns)
{
    int64_t ns = min_time_ns / PROBE_SHARE;
    return ns < PROBE_MIN_NS ? PROBE_MIN_NS : ns > PROBE_NS ? PROBE_NS : ns;
}

int probe_pick_others(const int *cpus, int count, int others[PROBE_PAIRS_MAX])
{
    int left = count - 1, pairs = left < PROBE_PAIRS_MAX ? left : PROBE_PAIRS_MAX;
    for (int i = 0; i < pairs; i++)
        others[i] = cpus[1 + (pairs > 1 ? i * (left - 1) / (pairs - 1) : 0)];
    return pairs > 0 ? pairs : 0;
}

struct probe_pairs probe_pairs_of(const struct probe *probe)
{
    struct probe_pairs all = {.median_ns = NAN, .worst_ns = NAN, .worst = -1};
    double ns[PROBE_PAIRS_MAX];
    size_t count = 0;
    for (int i = 0; i < probe->pairs; i++) {
        if (isnan(probe->pair_ns[i]))
            continue;
        ns[count++] = probe->pair_ns[i];
        if (all.worst < 0 || probe->pair_ns[i] > all.worst_ns) {
            all.worst_ns = probe->pair_ns[i];
            all.worst = probe->others[i];
        }
    }
    if (count > 0)
        all.median_ns = statistics_median_alone(ns, count);
    return all;
}

static void lines_run(struct probe *probe, const int *cpus, int count, int64_t budget_ns)
{
    char unused[PROBE_ABSENT_SIZE];
    probe->pairs = probe_pick_others(cpus, count, probe->others);
    for (int i = 0; i < probe->pairs; i++)
        probe->pair_ns[i] =
            result(line_measure(&the_pair, cpus[0], probe->others[i], budget_ns / probe->pairs),
                   i == 0 ? probe->line_absent : unused, PROBE_ABSENT_SIZE);
    probe->line_ns = probe->pair_ns[0];
}

void probe_run(struct probe *probe, const int *cpus, int count, int threads, int64_t budget_ns)
{
    const char *alone = threads < 2 ? "one worker" : count < 2 ? "one core" : "";
    *probe = (struct probe){.line_ns = NAN};
    snprintf(probe->line_absent, sizeof probe->line_absent, "%s", alone);
    if (!*alone)
        lines_run(probe, cpus, count, budget_ns * LINE_PARTS / 10);
    int error =
        count < 1 ? ENODEV
                  : core_measure(&the_pair, cpus[0], compute_main, budget_ns * COMPUTE_PARTS / 10);
    probe->compute_ns = result(error, probe->compute_absent, sizeof probe->compute_absent);
    error = count < 1 ? ENODEV
                      : core_measure(&the_pair, cpus[0], wide_main, budget_ns * WIDE_PARTS / 10);
    probe->wide_ns = result(error, probe->wide_absent, sizeof probe->wide_absent);
}

/* Records ------------------------------------------------------------------------------------- */

static json_t *value_to_json(double value, const char *absent)
{
    return isnan(value) ? json_pack("{ss}", "absent", absent) : json_real(value);
}

static json_t *pairs_to_json(const struct probe *probe, int first)
{
    struct probe_pairs all = probe_pairs_of(probe);
    static const char busy[] = "the cores were busy";
    json_t *others = json_array();
    for (int i = 0; i < probe->pairs; i++)
        json_array_append_new(others, json_integer(probe->others[i]));
    json_t *json = json_pack("{so so so}", "median_ns", value_to_json(all.median_ns, busy),
                             "worst_ns", value_to_json(all.worst_ns, busy), "others", others);
    if (all.worst >= 0)
        json_object_set_new(json, "worst", json_pack("[i,i]", first, all.worst));
    return json;
}

static json_t *one_to_json(const struct probe *probe, int first)
{
    json_t *json =
        json_pack("{so so so}", "line_ns", value_to_json(probe->line_ns, probe->line_absent),
                  "compute_ns", value_to_json(probe->compute_ns, probe->compute_absent), "wide_ns",
                  value_to_json(probe->wide_ns, probe->wide_absent));
    if (probe->pairs > 1)
        json_object_set_new(json, "pairs", pairs_to_json(probe, first));
    return json;
}

json_t *probe_to_json(const struct probe *before, const struct probe *after, const int *cpus,
                      int count)
{
    json_t *cores = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(cores, json_integer(cpus[i]));
    json_t *record =
        json_pack("{so so so}", "before", one_to_json(before, count > 0 ? cpus[0] : -1), "after",
                  one_to_json(after, count > 0 ? cpus[0] : -1), "cores", cores);
    if (count > 1)
        json_object_set_new(record, "line_cores", json_pack("[i,i]", cpus[0], cpus[1]));
    return record;
}
