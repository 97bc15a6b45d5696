/* bench_simulator.c - see bench.h: how much slower the simulated machine is than this one. */
#include "harness/audit/bench.h"
#include "harness/base/json_fields.h"
#include "harness/records/sample_request.h"

#include "harness/base/memory.h"
#include "harness/base/progress.h"
#include "harness/plan/plan.h"
#include "harness/sample/child.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define MODEL "sim:server64"

enum { MANY = 64, TIMEOUT_S = 120 };

/* Each takes half a second or more simulated: long beside the start of a process. */
static const struct work {
    const char *variant, *workload;
    bool one_core; /* more would have nothing to do */
} works[] = {
    {"serial", "fib,n=36", true},
    {"gmp", "fib,n=26", false},
    {"gmp", "pingpong,rounds=500000", true},
    {"gmp", "mergesort,n=400000", false},
    {"gmp", "skynet,leaves=100000", false},
};

/* The same work on one worker here, on one simulated core and on many. */
enum place { HERE, ONE_CORE, MANY_CORES, PLACES };

enum { WORKS = sizeof works / sizeof works[0] };

struct times {
    double *op_ns, *access_ns; /* access_ns: of simulated ones */
    size_t n;
};

static double children_cpu_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

/* Simulated time costs nothing, so the whole time of the process is compared. */
static bool measure(const struct work *work, enum place place, uint64_t seed, struct times *to,
                    struct error *error)
{
    struct sample_request request = {
        .variant = work->variant,
        .workload = work->workload,
        .workers = place == MANY_CORES ? MANY : 1,
        .seed = 1,
        .sim_seed = seed,
        .iterations = 1,
        .warmup = place == HERE ? 1 : 0,
        .min_time_ns = place == HERE ? 50000000 : 0,
        .events = place == HERE ? "none" : "SIM_READS,SIM_WRITES",
        .pin = true,
        .timeout_s = TIMEOUT_S,
        .machine = place == HERE ? NULL : MODEL,
    };
    double before = children_cpu_ns();
    json_t *record = child_run_sample(&request);
    double cpu_ns = children_cpu_ns() - before, ops = field_number(record, "ops");
    double accesses = ops * (record_event_value(record_event(record, "SIM_READS")) +
                             record_event_value(record_event(record, "SIM_WRITES")));
    bool ok = record_is(record, "ok");
    if (!ok)
        error_print(error, "%s %s: %s: %s", work->variant, work->workload,
                    field_text(record, "status"), field_text(record, "reason"));
    to->op_ns[to->n] = (place == HERE ? field_number(record, "time_ns") : cpu_ns) / ops;
    to->access_ns[to->n] = cpu_ns / accesses;
    to->n += ok;
    json_decref(record);
    return ok;
}

/* All places of all works, in an order of its own. */
static bool block_measure(struct times times[WORKS][PLACES], unsigned block,
                          struct progress *progress, struct error *error)
{
    size_t order[WORKS * PLACES];
    plan_shuffle(WORKS * PLACES, STATISTICS_SEED, block, order);
    for (size_t i = 0; i < WORKS * PLACES; i++) {
        const struct work *work = &works[order[i] / PLACES];
        enum place place = (enum place)(order[i] % PLACES);
        if (place == MANY_CORES && work->one_core)
            continue;
        progress_show(progress, work->workload, NAN);
        if (!measure(work, place, block + 1, &times[order[i] / PLACES][place], error))
            return false;
        progress->done++;
    }
    return true;
}

static void row_add(json_t *rows, const struct work *work, const char *what, const char *over,
                    struct interval ratio)
{
    char name[128];
    snprintf(name, sizeof name, "%s %s%s", work->variant, work->workload, what);
    json_array_append_new(rows, bench_row(name, over, ratio));
}

static struct interval ratio_of(const double *x, size_t nx, const double *y, size_t ny)
{
    return statistics_ratio(x, nx, y, ny, STATISTICS_SEED);
}

static json_t *rows_make(struct times times[WORKS][PLACES])
{
    json_t *rows = json_array();
    for (size_t i = 0; i < WORKS; i++) {
        const struct times *here = &times[i][HERE], *one = &times[i][ONE_CORE],
                           *many = &times[i][MANY_CORES];
        row_add(rows, &works[i], ", 1 core", "this machine, per operation",
                ratio_of(one->op_ns, one->n, here->op_ns, here->n));
        if (works[i].one_core)
            continue;
        row_add(rows, &works[i], ", 64 cores", "this machine's one core, per operation",
                ratio_of(many->op_ns, many->n, here->op_ns, here->n));
        row_add(rows, &works[i], ", 64 cores", "1 simulated core, per access",
                ratio_of(many->access_ns, many->n, one->access_ns, one->n));
    }
    return rows;
}

json_t *bench_simulator(unsigned blocks, struct error *error)
{
    static struct times times[WORKS][PLACES];
    struct progress progress;
    size_t samples = 0;
    for (size_t i = 0; i < WORKS; i++) {
        samples += blocks * (works[i].one_core ? PLACES - 1 : PLACES);
        for (size_t p = 0; p < PLACES; p++) {
            times[i][p].op_ns = xcalloc(blocks, sizeof(double));
            times[i][p].access_ns = xcalloc(blocks, sizeof(double));
        }
    }
    progress_begin(&progress, stderr, samples);
    bool ok = true;
    for (unsigned block = 0; block < blocks && ok; block++)
        ok = block_measure(times, block, &progress, error);
    progress_end(&progress);
    json_t *rows = ok ? rows_make(times) : NULL;
    for (size_t i = 0; i < WORKS * PLACES; i++) {
        free(times[i / PLACES][i % PLACES].op_ns);
        free(times[i / PLACES][i % PLACES].access_ns);
    }
    return rows;
}
