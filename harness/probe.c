/* probe.c - see probe.h.
 *
 * The line: one word on a line of its own. The first thread makes it odd, the second even; each
 * waits by reading, without a pause instruction, whose length differs between cores by more than
 * what is measured. Whoever waits for a partner that is not on its core looks at the clock from
 * time to time and gives up at the hard limit.
 */
#define _GNU_SOURCE
#include "harness/probe.h"

#include "harness/statistics.h"
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
#include <unistd.h>

enum {
    BATCHES_MAX = 512,
    BATCH_TRIPS = 100,     /* 5 us where the cores share a cache */
    READS_PER_LOOK = 4096, /* of the word, before the clock is looked at */
    LINE_PARTS = 6,        /* tenths of the budget; the rest is for computing and for threads */
    COMPUTE_PARTS = 3,
    HARD_LIMIT_FACTOR = 10, /* how often the budget may be used up if the cores are not ours */
};

/* Batches of one kind. */
struct batches {
    double ns[BATCHES_MAX];
    size_t count;
};

struct pair {
    _Alignas(128) _Atomic uint32_t word; /* odd: the second thread's turn */
    _Alignas(128) _Atomic bool over;
    _Atomic bool second_is_there;
    int64_t soft_limit, hard_limit; /* of go_now() */
    struct batches line, compute;   /* the first thread's */
    int64_t compute_ns;
};

/* Enough batches, or time is up. */
static bool batches_done(const struct batches *batches, int64_t soft_limit, int64_t hard_limit)
{
    int64_t now = go_now();
    return batches->count == BATCHES_MAX || now >= hard_limit ||
           (now >= soft_limit && batches->count >= PROBE_BATCHES_MIN);
}

/* The line ------------------------------------------------------------------------------------ */

/* False at the hard limit. acquire: pairs with the release of whoever wrote the value. Never
 * yields: where other programs run too, two that yield to these whenever the partner is away would
 * hardly ever run at the same time. */
static bool word_wait(struct pair *pair, uint32_t value)
{
    for (;;) {
        for (int i = 0; i < READS_PER_LOOK; i++)
            if (atomic_load_explicit(&pair->word, memory_order_acquire) == value)
                return true;
        if (atomic_load_explicit(&pair->over, memory_order_relaxed) || go_now() >= pair->hard_limit)
            return false;
    }
}

/* So that both threads are on their cores at the same time where other programs want these too; for
 * the length of a probe that costs them little. Users who may not do so have to be lucky. */
static void go_first(void)
{
    setpriority(PRIO_PROCESS, (id_t)gettid(), -20);
}

static void *second_main(void *arg)
{
    struct pair *pair = arg;
    go_first();
    /* relaxed: only the word orders anything */
    atomic_store_explicit(&pair->second_is_there, true, memory_order_relaxed);
    for (uint32_t value = 1; word_wait(pair, value); value += 2)
        atomic_store_explicit(&pair->word, value + 1, memory_order_release);
    return NULL;
}

static void line_measure(struct pair *pair)
{
    uint32_t value = 0;
    bool alive = true;
    while (!atomic_load_explicit(&pair->second_is_there, memory_order_relaxed) &&
           go_now() < pair->hard_limit)
        continue;
    while (alive && !batches_done(&pair->line, pair->soft_limit, pair->hard_limit)) {
        int64_t start = go_now();
        for (int trip = 0; trip < BATCH_TRIPS && alive; trip++) {
            atomic_store_explicit(&pair->word, value + 1, memory_order_release);
            value += 2;
            alive = word_wait(pair, value);
        }
        if (alive)
            pair->line.ns[pair->line.count++] = (double)(go_now() - start) / BATCH_TRIPS;
    }
    atomic_store_explicit(&pair->over, true, memory_order_relaxed);
}

/* Computing ----------------------------------------------------------------------------------- */

static void compute_measure(struct pair *pair)
{
    int64_t began = go_now();
    int64_t soft_limit = began + pair->compute_ns;
    int64_t hard_limit = began + pair->compute_ns * HARD_LIMIT_FACTOR;
    while (!batches_done(&pair->compute, soft_limit, hard_limit)) {
        int64_t start = go_now();
        go_work(PROBE_COMPUTE_ROUNDS);
        pair->compute.ns[pair->compute.count++] = (double)(go_now() - start);
    }
}

/* Threads ------------------------------------------------------------------------------------- */

static void *first_main(void *arg)
{
    go_first();
    compute_measure(arg);
    return NULL;
}

static void *first_of_two_main(void *arg)
{
    go_first();
    line_measure(arg);
    compute_measure(arg);
    return NULL;
}

/* On that core from its first instruction; 0 or an error number. */
static int thread_start(pthread_t *thread, int cpu, void *(*main_fn)(void *), struct pair *pair)
{
    pthread_attr_t attr;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_attr_init(&attr);
    int error = pthread_attr_setaffinity_np(&attr, sizeof set, &set);
    if (!error)
        error = pthread_create(thread, &attr, main_fn, pair);
    pthread_attr_destroy(&attr);
    return error;
}

static void absent_because(char *absent, size_t size, int error)
{
    snprintf(absent, size, "cannot start a thread on the core: %s", strerror(error));
}

static double batches_median(const struct batches *batches, char *absent, size_t size)
{
    if (batches->count >= PROBE_BATCHES_MIN)
        return statistics_median_alone(batches->ns, batches->count);
    if (!*absent)
        snprintf(absent, size, "the cores were busy: %zu of %d batches in time", batches->count,
                 PROBE_BATCHES_MIN);
    return NAN;
}

void probe_run(struct probe *probe, const int *cpus, int count, int threads, int64_t budget_ns)
{
    static struct pair pair; /* 8 KiB: too much for some stacks */
    memset(&pair, 0, sizeof pair);
    memset(probe, 0, sizeof *probe);
    int64_t now = go_now(), line_ns = budget_ns * LINE_PARTS / 10;
    pair.soft_limit = now + line_ns;
    pair.hard_limit = now + line_ns * HARD_LIMIT_FACTOR;
    pair.compute_ns = budget_ns * COMPUTE_PARTS / 10;

    pthread_t first, second;
    const char *alone = threads < 2 ? "one worker" : count < 2 ? "one core" : "";
    snprintf(probe->line_absent, sizeof probe->line_absent, "%s", alone);
    bool two = *alone == '\0';
    int error = two ? thread_start(&second, cpus[1], second_main, &pair) : 0;
    if (error) {
        absent_because(probe->line_absent, sizeof probe->line_absent, error);
        two = false;
    }
    error = count < 1 ? ENODEV
                      : thread_start(&first, cpus[0], two ? first_of_two_main : first_main, &pair);
    if (error) {
        absent_because(probe->compute_absent, sizeof probe->compute_absent, error);
        if (two)
            absent_because(probe->line_absent, sizeof probe->line_absent, error);
        atomic_store_explicit(&pair.over, true, memory_order_relaxed);
    } else {
        pthread_join(first, NULL);
    }
    if (two)
        pthread_join(second, NULL);
    probe->line_ns = batches_median(&pair.line, probe->line_absent, sizeof probe->line_absent);
    probe->compute_ns =
        batches_median(&pair.compute, probe->compute_absent, sizeof probe->compute_absent);
}

/* Records ------------------------------------------------------------------------------------- */

static json_t *value_to_json(double value, const char *absent)
{
    return isnan(value) ? json_pack("{ss}", "absent", absent) : json_real(value);
}

static json_t *one_to_json(const struct probe *probe)
{
    return json_pack("{so so}", "line_ns", value_to_json(probe->line_ns, probe->line_absent),
                     "compute_ns", value_to_json(probe->compute_ns, probe->compute_absent));
}

json_t *probe_to_json(const struct probe *before, const struct probe *after, const int *cpus,
                      int count)
{
    json_t *cores = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(cores, json_integer(cpus[i]));
    return json_pack("{so so so}", "before", one_to_json(before), "after", one_to_json(after),
                     "cores", cores);
}
