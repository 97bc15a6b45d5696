/* conform_workloads.c - every workload under every variant: it ends, verifies, counts alike in two
 * runs, and leaves the digest that it leaves under any other variant and number of workers. The
 * workloads of a variant and number of workers run one after another in one process.
 */
#include "conform_lines.h"
#include "harness/spec/promises.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each workload runs with these settings. One that is not here runs at its defaults. */
struct workload_row {
    const char *name, *settings;
};

static const struct workload_row workload_rows[] = {
    {"fib", "n=11"},
    {"fib", "n=9,spawn=both"},
    {"fib", "n=8,spawn=chain"},
    {"fib", "n=7,spawn=channels"},
    {"nqueens", "n=5"},
    {"skynet", "children=4,leaves=64"},
    {"uts", "tree=tiny_binomial"},
    {"mergesort", "n=20000,cutoff=1024"},
    {"mergesort", "n=5000,cutoff=256,merge=serial"},
    {"matmul", "n=64,cutoff=16"},
    {"locality", "bytes=4096,pairs=32"},
    {"locality", "bytes=1024,pairs=64,shape=loop"},
    {"uneven", "tasks=100,rounds=200"},
    {"uneven", "tasks=100,rounds=100,dist=pareto,shape=tree"},
    {"uneven", "tasks=100,rounds=100,dist=rising"},
    {"depend", "tasks=100,waiting=50,rounds=100"},
    {"spawn", "n=200"},
    {"spawn", "n=100,mode=one"},
    {"spawn", "n=160,creators=4"},
    {"crowd", "n=150"},
    {"crowd", "n=60,wait=waitgroup"},
    {"crowd", "n=60,wait=broadcast"},
    {"crowd", "n=60,wait=sleep"},
    {"yield", "n=4000,yielders=4"},
    {"pingpong", "rounds=60,pairs=3,locked=both"},
    {"pingpong", "rounds=500,pairs=2"},
    {"pingpong", "rounds=200,pairs=3,capacity=1,latency=on"},
    {"ring", "n=50,hops=1000"},
    {"prodcons", "messages=2000,buffer=16"},
    {"prodcons", "messages=500,buffer=0,work=10"},
    {"mpmc", "messages=2000,buffer=8"},
    {"mpmc", "messages=500,producers=3,consumers=5,buffer=0"},
    {"select", "messages=1000"},
    {"select", "messages=500,channels=12,senders=3,receivers=7,buffer=2,work=10"},
    {"select", "messages=300,channels=1,senders=2,receivers=2"},
    {"select", "messages=500,channels=3,senders=3,receivers=2,latency=on"},
    {"echo", "connections=8,messages=20,size=300"},
    {"echo", "connections=4,messages=20,rate=10000"},
    {"sieve", "primes=40"},
    {"mutex", "n=4000"},
    {"mutex", "n=1000,goroutines=5,work=20,think=20,latency=on"},
    {"rwmutex", "n=4000,ratio=10"},
    {"rwmutex", "n=1000,goroutines=5,ratio=3,work=20,think=20"},
    {"rwmutex", "n=1000,ratio=0"},
    {"hog", "hogs=3,chunks=200,rounds=1000,n=20,period_ns=100000,work=100"},
    {"hog", "hogs=2,chunks=200,rounds=1000,n=10,period_ns=100000,work=100,calls=chan"},
    {"hog", "hogs=2,chunks=200,rounds=1000,n=10,period_ns=100000,work=100,calls=check"},
    {"hog", "hogs=2,chunks=100,rounds=1000,n=10,period_ns=100000,work=100,calls=call"},
    {"slice", "hogs=3,chunks=1000,rounds=100"},
    {"calls", "n=40,callers=4,sleep_ns=20000,beside=2,rounds=1000,beside_max=2000"},
    {"calls", "n=500,callers=2,sleep_ns=0,beside=1,rounds=1000,yields=on"},
    {"calls", "n=12,callers=3,sleep_ns=200000,measure=handoff,before=idle,before_ns=100000"},
    {"calls", "n=12,callers=2,sleep_ns=100000,measure=handoff,before=busy,before_ns=100000"},
    {"calls", "n=12,callers=2,sleep_ns=100000,measure=ring"},
    {"calls", "n=12,callers=2,sleep_ns=100000,measure=handoff,during=work"},
    {"calls", "n=100,callers=3,sleep_ns=0,long_ns=1000000,long_every=9,beside=1,rounds=1000"},
    {"calls", "n=20,callers=2,sleep_ns=1000,long_ns=200000,long_every=4,measure=handoff"},
    {"chain", "n=100,rounds=100"},
    {"chain", "n=150,rounds=0,victims=50"},
    {"bursts", "n=20,b=20,period_ns=50000,rounds=100"},
    {"bursts", "n=50,b=7,period_ns=0,rounds=10"},
    {"lockskew", "n=8,takers=2,hold_ns=20000,pause_ns=10000"},
    {"lockskew", "n=6,hold=spin,hold_ns=20000,gap_ns=5000,pause_ns=10000,holds_max=200"},
    {"periodic", "k=5,turns=200"},
    {"periodic", "k=4,turns=100,yielders=1,latency=on"},
    {"beat", "n=4,every=5,beats=3,k=3"},
    {"beat", "n=3,every=7,beats=2,phase=4,k=1"},
    {"drain", "n=40"},
    {"drain", "n=30,pullers=2,rounds=100"},
    {"pingpong", "rounds=20,hogs=2,hog_chunks=50"},
    {"pingpong", "rounds=20,pairs=2,victims=5,latency=victims"},
    {"pingpong", "rounds=20,pairs=2,victims=5,queue=global,latency=victims"},
    {"chain", "n=80,rounds=50,queue=global"},
    {"periodic", "k=8,turns=50,yielders=0"},
    {"files", "size=40000,block=4096,readers=3,passes=2"},
    {"files", "size=40000,block=1000,readers=5,passes=2,share=one"},
    {"procs", "n=6,chunks=300,period_ns=50000"},
    {"procs", "n=6,chunks=100,period_ns=0"},
    {"inject", "n=500,submitters=3"},
    {"pipes", "n=60,settle_ns=1000000"},
    {"pipes", "n=20,mode=block,settle_ns=1000000"},
    {"pipes", "n=60,mode=shared,settle_ns=1000000"},
    {"timers", "n=200,ns=1000000,spread_ns=1000000"},
    {"timers", "n=200,mode=func,ns=1000000,spread_ns=500000,stop=40,reset=30"},
    {"timers", "n=200,mode=func,ns=100000,stop=100"},
    {"wakers", "n=10,connections=5,sleepers=6,together=3,period_ns=300000,rounds=100"},
    {"wakers", "n=5,connections=3,sleepers=1,period_ns=1000,rounds=1000"},
    {"arrivals", "n=100,rate=50000,rounds=100"},
    {"arrivals", "n=100,rate=100000,burst=10,rounds=100,wait=yield"},
    {"arrivals", "n=100,rate=50000,rounds=100,bytes=4096"},
    {"replay", "file=demo"},
    {"replay", "copies=5,scale=10,rate=1000"},
    {"order", "n=20"},
    {"order", "n=20,mode=close"},
    {"order", "n=20,mode=broadcast"},
    {"order", "n=20,mode=waitgroup"},
    {"order", "n=20,mode=yield,yields=3"},
    {"order", "n=20,mode=sleep"},
    {"order", "n=20,mode=pipes"},
};

enum { ROWS = sizeof workload_rows / sizeof *workload_rows };
_Static_assert(ROWS + 256 <= DIGESTS, "a digest for each row, and for each of 256 workloads");

/* A workload in one form. The child reports both outcomes here, and the verdict on the second. */
struct workload_run {
    const struct workload *workload;
    const char *settings;
    uint64_t seed;
    struct line line;
    _Atomic uint64_t *digest; /* of the run that was first, 0 before */
    /* the child's */
    void *params, *state;
    struct outcome out[2];
    char wrong[256];
};

/* A cell's runs, in memory of the children too. */
struct cell_runs {
    const struct conform_cell *cell;
    int count;
    struct workload_run of[DIGESTS];
};

static void workload_before(void *arg)
{
    struct workload_run *self = arg;
    self->params = calloc(1, self->workload->params_size);
    support_set(self->params, self->workload->params, self->settings);
    self->state = self->workload->init(self->params, self->seed);
}

static void workload_main(void *arg)
{
    struct workload_run *self = arg;
    workload_run(self->workload, self->state, &self->out[0]);
    workload_run(self->workload, self->state, &self->out[1]);
}

static void workload_after(void *arg)
{
    struct workload_run *self = arg;
    const struct workload *workload = self->workload;
    char why[200];
    const char *wrong = workload->verify(self->state, &self->out[1], why, sizeof why);
    bool has_latency = workload->has_latency && workload->has_latency(self->params);
    if (!wrong && has_latency != (self->out[1].latency != NULL))
        wrong =
            has_latency ? "run() has no latencies" : "run() has latencies, of which nobody knows";
    if (wrong)
        snprintf(self->wrong, sizeof self->wrong, "%s", wrong);
    workload->fini(self->state);
    free(self->params);
}

/* NULL, or what is wrong. */
static const char *workload_judge(const struct workload_run *self,
                                  const struct support_report *report)
{
    const struct outcome *out = self->out;
    uint64_t first = 0;
    if (report->status != 0)
        return "did not end with status 0";
    if (*self->wrong)
        return self->wrong;
    if (out[0].ops == 0 || out[0].ops != out[1].ops)
        return "two calls of run() differ in operations";
    if (out[0].digest != out[1].digest)
        return "two calls of run() differ in their digests";
    if (report->live != 0)
        return "Gs are alive at the end";
    bool is_first = atomic_compare_exchange_strong(self->digest, &first, out[0].digest);
    return is_first || first == out[0].digest ? NULL : "the digest is not that of other variants";
}

/* NULL, or why the cell cannot run it. */
static const char *workload_misfit(const struct workload *workload, const char *settings,
                                   const struct conform_cell *cell)
{
    const struct sched_ops *ops = cell->ops;
    void *params = calloc(1, workload->params_size);
    support_set(params, workload->params, settings);
    uint64_t live = workload->live_gs_max(params);
    void *knobs = calloc(1, ops->knobs_size);
    support_set(knobs, ops->knobs, cell->settings);
    struct promises promises = promises_of(ops, knobs);
    const char *misfit = promises_misfit(&promises, workload, params);
    free(knobs);
    free(params);
    if (ops->live_gs_max && live > ops->live_gs_max)
        return ops->limit_reason;
    return misfit;
}

/* Adds the line to those that the cell runs, if it is to run. */
static void conform_every_workload_small(struct cell_runs *runs, const struct workload *workload,
                                         const char *settings, _Atomic uint64_t *digest)
{
    const struct conform_cell *cell = runs->cell;
    struct workload_run *self = &runs->of[runs->count];
    char name[128];
    snprintf(name, sizeof name, "%s %s%s%s", __func__, workload->name, settings ? "," : "",
             settings ? settings : "");
    line_name(&self->line, name, cell);
    if (!workload_is_due(cell) || !line_begin(&self->line, cell->workers))
        return;
    const char *misfit = workload_misfit(workload, settings, cell);
    if (misfit) {
        line_skip(&self->line, misfit);
        return;
    }
    self->workload = workload;
    self->settings = settings;
    self->seed = suite.seed; /* one seed for all cells, whose digests must agree */
    self->digest = digest;
    runs->count++;
}

static void workload_find(struct cell_runs *runs, size_t w)
{
    _Atomic uint64_t *digests = suite.shared->digests;
    bool found = false;
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(workload_rows[i].name, workloads[w]->name) != 0)
            continue;
        found = true;
        conform_every_workload_small(runs, workloads[w], workload_rows[i].settings, &digests[i]);
    }
    if (!found)
        conform_every_workload_small(runs, workloads[w], NULL, &digests[ROWS + w]);
}

static void workload_told(void *arg, int i, const struct support_report *report)
{
    struct cell_runs *runs = arg;
    struct workload_run *self = &runs->of[i];
    line_print(&self->line, runs->cell, workload_judge(self, report), report);
}

void workloads_run(const struct conform_cell *cell)
{
    static struct support_run children[DIGESTS];
    struct cell_runs *runs = support_shared(sizeof *runs);
    runs->cell = cell;
    for (size_t w = 0; workloads[w]; w++)
        workload_find(runs, w);
    for (int i = 0; i < runs->count; i++) {
        children[i] = run_of(cell, workload_main, &runs->of[i]);
        children[i].before = workload_before;
        children[i].after = workload_after;
    }
    if (runs->count > 0)
        support_run_each(children, runs->count, workload_told, runs);
    support_unshare(runs, sizeof *runs);
}
