/* conformance.c - what every variant owes to every workload: one suite over all variants and
 * numbers of workers.
 *
 *     conformance [--short] [--seed N] [--list] [WORD...]
 *
 * Prints TAP, one line per case, variant and number of workers; with WORDs only the lines that
 * contain all of them, and status 2 if there is none. --list prints these lines and runs nothing.
 * Every case is a process of its own (support.h) and ends with no G alive. Counts are bounded and
 * nothing depends on speed: where a case has to wait, it waits for an event, and the watchdog turns
 * a lost wake-up into a failure.
 *
 * Cases proper are in conform_*.c. Here are those that end their child on purpose, the workloads,
 * and the loop. No third-party library, so that the cross build can run it on another architecture.
 */
#define _GNU_SOURCE
#include "conform.h"
#include "harness/registry_check.h"
#include "harness/suggest.h"
#include "support.h"
#include "workloads/workload.h"

#if defined(SCHEDLAB_SIM)
#include "sim/sim.h"
#endif

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int worker_counts[] = {1, 2, 4, 16};

static struct {
    bool brief, list;
    uint64_t seed;
    char **words;
    int words_count;
    uint64_t words_found; /* bit i: some line has words[i] */
    int lines, failures;  /* lines: also those that were listed */
} suite = {.seed = 20260101};

/* Reporting --------------------------------------------------------------------------------- */

static void line_name(char *text, size_t size, const char *name, const struct conform_cell *cell)
{
    snprintf(text, size, "%s %s%s%s workers=%d%s", name, cell->ops->name, cell->settings ? "," : "",
             cell->settings ? cell->settings : "", cell->workers,
             cell->no_fence_all ? " no_fence_all" : "");
}

/* Whether to run it; a list has it instead. */
static bool line_wanted(const char *line)
{
    bool wanted = true;
    for (int i = 0; i < suite.words_count; i++) {
        bool found = strstr(line, suite.words[i]) != NULL;
        suite.words_found |= (uint64_t)found << (i & 63);
        wanted = wanted && found;
    }
    if (!wanted || !suite.list)
        return wanted;
    puts(line);
    suite.lines++;
    return false;
}

static void print_output(const char *text)
{
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = strchrnul(text, '\n');
        printf("#   %.*s\n", (int)(end - text), text);
    }
}

/* problem NULL or empty: passed. */
static void line_print(const char *line, const struct conform_cell *cell, const char *problem,
                       const struct support_report *report)
{
    bool failed = problem && *problem;
    suite.lines++;
    suite.failures += failed;
    printf("%sok %d - %s\n", failed ? "not " : "", suite.lines, line);
    if (failed) {
        printf("#   %s; seed %" PRIu64 "\n", problem, cell->seed);
        print_output(report->output);
    }
    fflush(stdout);
}

static void line_skip(const char *line, const char *why)
{
    printf("ok %d - %s # SKIP %s\n", ++suite.lines, line, why);
}

static struct support_run run_of(const struct conform_cell *cell, void (*fn)(void *), void *arg)
{
    return (struct support_run){.variant = cell->ops->name,
                                .settings = cell->settings,
                                .workers = cell->workers,
                                .no_fence_all = cell->no_fence_all,
                                .seed = cell->seed,
                                .fn = fn,
                                .arg = arg};
}

/* Ordinary cases ---------------------------------------------------------------------------- */

/* The same cases as each policy's code has them. */
struct case_tables {
    const struct conform_case *of[FJ_LINKED + 1];
};

static const struct case_tables goroutine_cases = {
    {conform_goroutine_cases, conform_goroutine_cases, conform_goroutine_cases,
     conform_goroutine_cases}};
static const struct case_tables thread_cases = {
    {conform_thread_cases, conform_thread_cases, conform_thread_cases, conform_thread_cases}};
static const struct case_tables timer_cases = {
    {conform_timer_cases, conform_timer_cases, conform_timer_cases, conform_timer_cases}};
static const struct case_tables select_cases = {
    {conform_select_cases, conform_select_cases, conform_select_cases, conform_select_cases}};
static const struct case_tables lock_cases = {
    {conform_lock_cases, conform_lock_cases, conform_lock_cases, conform_lock_cases}};
static const struct case_tables io_cases = {
    {conform_io_cases, conform_io_cases, conform_io_cases, conform_io_cases}};
static const struct case_tables preempt_cases = {
    {conform_preempt_cases, conform_preempt_cases, conform_preempt_cases, conform_preempt_cases}};
static const struct case_tables mixed_cases = {
    {conform_mixed_cases_FJ_GO, conform_mixed_cases_FJ_HELP, conform_mixed_cases_FJ_WORK,
     conform_mixed_cases_FJ_LINKED}};

struct case_run {
    const struct case_tables *tables;
    size_t index;
    struct conform_cell *cell;
};

static void case_main(void *arg)
{
    const struct case_run *self = arg;
    self->tables->of[fj_policy()][self->index].fn(self->cell);
}

/* Has the variant such a knob, and may it have this value? */
static bool settings_fit(const struct sched_ops *ops, const char *settings)
{
    if (!support_takes(ops->knobs, settings))
        return false;
    void *knobs = calloc(1, ops->knobs_size);
    support_set(knobs, ops->knobs, settings);
    bool fit = !ops->check || !ops->check(knobs);
    free(knobs);
    return fit;
}

static void cases_run(const struct case_tables *tables, struct conform_cell *cell)
{
    static struct support_report report;
    const struct conform_case *first = tables->of[FJ_GO];
    for (const struct conform_case *cases = first; cases->name; cases++) {
        char name[128], line[256], problem[128] = "";
        const char *settings = cases->settings;
        if (settings && (cell->settings || !settings_fit(cell->ops, settings)))
            continue;
        if (cases->steals && (cell->workers == 1 || cell->ops->forkjoin == FJ_GO))
            continue;
        snprintf(name, sizeof name, "%s%s%s", cases->name, settings ? "," : "",
                 settings ? settings : "");
        line_name(line, sizeof line, name, cell);
        if (!line_wanted(line))
            continue;
        struct case_run self = {tables, (size_t)(cases - first), cell};
        struct support_run run = run_of(cell, case_main, &self);
        if (settings)
            run.settings = settings;
        support_run(&run, &report);
        if (report.status != 0)
            snprintf(problem, sizeof problem, "ended with status %d", report.status);
        else if (report.live != 0)
            snprintf(problem, sizeof problem, "%" PRId64 " Gs are alive at the end", report.live);
        line_print(line, cell, problem, &report);
    }
}

/* Live Gs ----------------------------------------------------------------------------------- */

enum { LIVE_GS = 64 };

static void live_child(void *arg)
{
    wg_done(arg);
}

static void live_main(void *arg)
{
    struct waitgroup *wg = go_alloc_zeroed(sizeof *wg);
    int rounds = *(int *)arg;
    for (int round = 0; round < rounds; round++) {
        wg_add(wg, LIVE_GS);
        for (int i = 0; i < LIVE_GS; i++)
            go(live_child, wg);
        wg_wait(wg);
    }
    go_free(wg);
}

/* All Gs are counted, all are gone in the end, and few of them ever were alive at once: where one
 * worker runs one after the other, no more than a round has. */
static void conform_live_gs_zero_after(struct conform_cell *cell)
{
    static struct support_report report;
    char line[128], problem[128] = "";
    line_name(line, sizeof line, __func__, cell);
    if (!line_wanted(line))
        return;
    int rounds = 5 * cell->scale;
    uint64_t created = (uint64_t)rounds * LIVE_GS + 1;
    struct support_run run = run_of(cell, live_main, &rounds);
    support_run(&run, &report);
    uint64_t peak = report.stat[STAT_LIVE_GS_PEAK];
    if (report.status != 0)
        snprintf(problem, sizeof problem, "ended with status %d", report.status);
    else if (report.live != 0)
        snprintf(problem, sizeof problem, "%" PRId64 " Gs are alive at the end", report.live);
    else if (report.stat[STAT_GS_CREATED] != created)
        snprintf(problem, sizeof problem, "%" PRIu64 " Gs created, not %" PRIu64,
                 report.stat[STAT_GS_CREATED], created);
    else if (cell->workers == 1 && (peak < 2 || (peak > LIVE_GS + 1 && !cell->ops->thread_per_g)))
        snprintf(problem, sizeof problem, "peak of live Gs is %" PRIu64, peak);
    line_print(line, cell, problem, &report);
}

/* Children that are meant to fail ----------------------------------------------------------- */

static void fails_run(const char *name, struct conform_cell *cell, void (*fn)(void *),
                      const char *const *expected)
{
    static struct support_report report;
    char line[128], problem[256] = "";
    line_name(line, sizeof line, name, cell);
    if (!line_wanted(line))
        return;
    struct support_run run = run_of(cell, fn, cell);
    support_run(&run, &report);
    if (report.status != 70)
        snprintf(problem, sizeof problem, "ended with status %d, not 70", report.status);
    for (; *expected && !*problem; expected++)
        if (!strstr(report.output, *expected))
            snprintf(problem, sizeof problem, "message lacks \"%s\"", *expected);
    line_print(line, cell, problem, &report);
}

static void deadlock_on_mutex(void *arg)
{
    mutex_lock(arg);
}

static void deadlock_on_waitgroup(void *arg)
{
    wg_wait(arg);
}

static void deadlock_on_select(void *arg)
{
    unsigned char value = 0;
    const struct select_case cases[] = {select_recv(arg, NULL), select_send(arg, &value)};
    chan_select(cases, 2, NULL);
}

static void deadlock_main(void *arg)
{
    (void)arg;
    struct mutex *mu = go_alloc_zeroed(sizeof *mu);
    struct waitgroup *wg = go_alloc_zeroed(sizeof *wg);
    struct chan *ch = chan_make(1, 0);
    mutex_lock(mu);
    wg_add(wg, 1);
    go(deadlock_on_mutex, mu);
    go(deadlock_on_waitgroup, wg);
    go(deadlock_on_select, chan_make(1, 0));
    go_sleep(1000); /* a timer that has run out is no way out of a deadlock */
    chan_recv(ch, NULL);
}

static void conform_deadlock_is_reported(struct conform_cell *cell)
{
    const char *const expected[] = {"deadlock",   cell->ops->name, "(main) waits for chan receive",
                                    "wait group", "mutex",         "select",
                                    NULL};
    fails_run(__func__, cell, deadlock_main, expected);
}

/* Recursion without end; the condition is there for the compiler, the last line against a tail
 * call. */
static void overflow_g(void *arg)
{
    volatile char page[1024];
    memset((char *)page, 1, sizeof page);
    if (page[5])
        overflow_g(arg);
    page[0] = page[1];
}

static void overflow_main(void *arg)
{
    go(overflow_g, arg);
    chan_recv(chan_make(1, 0), NULL);
}

static void conform_stack_overflow_is_reported(struct conform_cell *cell)
{
    static const char *const expected[] = {"stack overflow", "goroutine", NULL};
    fails_run(__func__, cell, overflow_main, expected);
}

/* Likewise after goroutines have been stopped by signals, and have moved. */
enum { STOPS = 100, STOPPED = 4 };

static void stopped_g(void *arg)
{
    struct sched *sched = machine_self()->sched;
    AWAIT((go_work(5000), sched_stat(sched, STAT_PREEMPTS_SIGNAL) >= STOPS));
    overflow_g(arg);
}

static void stopped_overflow_main(void *arg)
{
    for (int i = 0; i < STOPPED; i++)
        go(stopped_g, arg);
    chan_recv(chan_make(1, 0), NULL);
}

static void conform_stack_overflow_after_stops_is_reported(struct conform_cell *cell)
{
    static const char *const expected[] = {"stack overflow", "goroutine", NULL};
    fails_run(__func__, cell, stopped_overflow_main, expected);
}

static void misuse_main(void *arg)
{
    (void)arg;
    struct mutex *mu = go_alloc_zeroed(sizeof *mu);
    mutex_unlock(mu);
}

static void conform_misuse_is_fatal(struct conform_cell *cell)
{
    static const char *const expected[] = {"schedlab: fatal: ", "mutex", NULL};
    fails_run(__func__, cell, misuse_main, expected);
}

/* Workloads --------------------------------------------------------------------------------- */

/* What is run of each workload. One that is not here runs at its defaults. */
struct workload_row {
    const char *name, *settings;
};

static const struct workload_row workload_rows[] = {
    {"fib", "n=12"},
    {"fib", "n=10,spawn=both"},
    {"fib", "n=8,spawn=chain"},
    {"nqueens", "n=6"},
    {"skynet", "children=4,leaves=256"},
    {"uts", "tree=tiny"},
    {"mergesort", "n=20000,cutoff=512"},
    {"mergesort", "n=5000,cutoff=256,merge=serial"},
    {"matmul", "n=64,cutoff=16"},
    {"locality", "bytes=4096,pairs=64"},
    {"locality", "bytes=1024,pairs=64,shape=loop"},
    {"uneven", "tasks=200,rounds=200"},
    {"uneven", "tasks=200,rounds=100,dist=pareto,shape=tree"},
    {"uneven", "tasks=200,rounds=100,dist=rising"},
    {"depend", "tasks=200,waiting=100,rounds=100"},
    {"spawn", "n=500"},
    {"spawn", "n=200,mode=one"},
    {"spawn", "n=500,creators=4"},
    {"crowd", "n=300"},
    {"crowd", "n=60,wait=waitgroup"},
    {"crowd", "n=60,wait=broadcast"},
    {"crowd", "n=60,wait=sleep"},
    {"yield", "n=4000,yielders=4"},
    {"pingpong", "rounds=200,pairs=3,locked=both"},
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
    {"chain", "n=300,rounds=100"},
    {"chain", "n=500,rounds=0,victims=50"},
    {"bursts", "n=20,b=20,period_ns=50000,rounds=100"},
    {"bursts", "n=50,b=7,period_ns=0,rounds=10"},
    {"lockskew", "n=8,takers=2,hold_ns=20000,pause_ns=10000"},
    {"lockskew", "n=6,hold=spin,hold_ns=20000,gap_ns=5000,pause_ns=10000,holds_max=200"},
    {"periodic", "k=5,turns=200"},
    {"periodic", "k=4,turns=100,yielders=1,latency=on"},
    {"beat", "n=4,every=5,beats=3,k=3"},
    {"beat", "n=3,every=7,beats=2,phase=4,k=1"},
    {"drain", "n=200"},
    {"drain", "n=100,pullers=2,rounds=100"},
    {"pingpong", "rounds=20,hogs=2,hog_chunks=50"},
    {"pingpong", "rounds=20,pairs=2,victims=5,latency=victims"},
    {"pingpong", "rounds=20,pairs=2,victims=5,queue=global,latency=victims"},
    {"chain", "n=200,rounds=50,queue=global"},
    {"periodic", "k=8,turns=50,yielders=0"},
    {"files", "size=40000,block=4096,readers=3,passes=2"},
    {"files", "size=40000,block=1000,readers=5,passes=2,share=one"},
    {"pipes", "n=60,settle_ns=1000000"},
    {"pipes", "n=20,mode=block,settle_ns=1000000"},
    {"pipes", "n=60,mode=shared,settle_ns=1000000"},
    {"timers", "n=500,ns=1000000,spread_ns=1000000"},
    {"timers", "n=500,mode=func,ns=1000000,spread_ns=500000,stop=40,reset=30"},
    {"timers", "n=200,mode=func,ns=100000,stop=100"},
    {"wakers", "n=10,connections=5,sleepers=6,together=3,period_ns=300000,rounds=100"},
    {"wakers", "n=5,connections=3,sleepers=1,period_ns=1000,rounds=1000"},
    {"arrivals", "n=200,rate=50000,rounds=100"},
    {"arrivals", "n=200,rate=100000,burst=10,rounds=100,wait=yield"},
    {"arrivals", "n=200,rate=50000,rounds=100,bytes=4096"},
    {"order", "n=20"},
    {"order", "n=20,mode=close"},
    {"order", "n=20,mode=broadcast"},
    {"order", "n=20,mode=waitgroup"},
    {"order", "n=20,mode=yield,yields=3"},
    {"order", "n=20,mode=sleep"},
    {"order", "n=20,mode=pipes"},
};

enum { ROWS = sizeof workload_rows / sizeof *workload_rows };

/* What the child tells: both outcomes, and the verdict on the second. */
struct workload_run {
    const struct workload *workload;
    const char *settings;
    uint64_t seed;
    /* the child's */
    void *params, *state;
    struct outcome out[2];
    char wrong[256];
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

/* NULL, or what is wrong; *digest is that of the cells before, 0 if there was none. */
static const char *workload_judge(const struct workload_run *self,
                                  const struct support_report *report, uint64_t *digest)
{
    const struct outcome *out = self->out;
    uint64_t before = *digest;
    *digest = out[0].digest;
    if (report->status != 0)
        return "did not end with status 0";
    if (*self->wrong)
        return self->wrong;
    if (out[0].ops == 0 || out[0].ops != out[1].ops)
        return "two calls of run() differ in operations";
    if (out[0].digest != out[1].digest)
        return "two calls of run() differ in their digests";
    if (before && before != out[0].digest)
        return "the digest is not that of the variants before";
    return report->live == 0 ? NULL : "Gs are alive at the end";
}

/* NULL, or why the cell cannot run it. */
static const char *workload_misfit(const struct workload *workload, const char *settings,
                                   const struct conform_cell *cell)
{
    const struct sched_ops *ops = cell->ops;
    void *params = calloc(1, workload->params_size);
    support_set(params, workload->params, settings);
    uint64_t live = workload->live_gs_max(params);
    bool handoff = workload->needs_handoff && workload->needs_handoff(params);
    free(params);
    if (ops->live_gs_max && live > ops->live_gs_max)
        return ops->limit_reason;
    if (handoff && !ops->thread_per_g && (ops->single_threaded || ops->blocks))
        return "a goroutine in a blocking call keeps its worker";
    return NULL;
}

static void conform_every_workload_small(const struct workload *workload, const char *settings,
                                         struct conform_cell *cell, uint64_t *digest)
{
    static struct support_report report;
    char name[128], line[192];
    snprintf(name, sizeof name, "%s %s%s%s", __func__, workload->name, settings ? "," : "",
             settings ? settings : "");
    line_name(line, sizeof line, name, cell);
    if (!line_wanted(line))
        return;
    const char *misfit = workload_misfit(workload, settings, cell);
    if (misfit) {
        line_skip(line, misfit);
        return;
    }
    struct workload_run *self = support_shared(sizeof *self);
    self->workload = workload;
    self->settings = settings;
    self->seed = suite.seed; /* one seed for all cells, whose digests must agree */
    struct support_run run = run_of(cell, workload_main, self);
    run.before = workload_before;
    run.after = workload_after;
    support_run(&run, &report);
    line_print(line, cell, workload_judge(self, &report, digest), &report);
    support_unshare(self, sizeof *self);
}

static void workload_run_rows(size_t w, struct conform_cell *cell)
{
    static uint64_t digests[ROWS], digests_at_defaults[256];
    bool found = false;
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(workload_rows[i].name, workloads[w]->name) != 0)
            continue;
        found = true;
        conform_every_workload_small(workloads[w], workload_rows[i].settings, cell, &digests[i]);
    }
    if (!found)
        conform_every_workload_small(workloads[w], NULL, cell, &digests_at_defaults[w]);
}

/* The loop ---------------------------------------------------------------------------------- */

static void cell_run(struct conform_cell *cell)
{
    cases_run(&goroutine_cases, cell);
    cases_run(&thread_cases, cell);
    cases_run(&timer_cases, cell);
    cases_run(&select_cases, cell);
    cases_run(&lock_cases, cell);
    cases_run(&io_cases, cell);
    cases_run(&preempt_cases, cell);
    cases_run(&mixed_cases, cell);
    conform_live_gs_zero_after(cell);
    conform_deadlock_is_reported(cell);
    conform_misuse_is_fatal(cell);
    if (!SUPPORT_SANITIZED) /* a sanitizer has its own report, and needs more stack than there is */
        conform_stack_overflow_is_reported(cell);
    if (!SUPPORT_SANITIZED && cell->settings && strstr(cell->settings, "preempt=signal"))
        conform_stack_overflow_after_stops_is_reported(cell);
    for (size_t w = 0; workloads[w]; w++)
        workload_run_rows(w, cell);
}

/* What the whole suite runs under: the defaults; frames=pooled, where fork/join code is another;
 * and slices so short that goroutines are stopped wherever they happen to be. */
static const struct whole_run {
    const char *settings; /* of variants that have the first knob */
    int workers_max;
    int workers_min_brief;
} whole_runs[] = {
    {NULL, 16, 1},
    {"frames=pooled", 16, 1},
    {"preempt=signal,slice_ns=50000,sysmon_ns=20000,sysmon_max_ns=20000", 2, 2},
};

static _Noreturn void misuse(const char *wrong)
{
    fprintf(stderr, "conformance: %s\n", wrong);
    exit(2);
}

static void offer_cases(struct suggest *near, const struct conform_case *cases)
{
    for (; cases->name; cases++)
        suggest_offer(near, cases->name);
}

/* Names the first word that no line has, and what it may have meant. */
static _Noreturn void misuse_words(void)
{
    static const char *const counts[] = {"workers=1", "workers=2", "workers=4", "workers=16"};
    char wrong[2 * SUGGEST_TEXT_SIZE], text[SUGGEST_TEXT_SIZE];
    int i = 0;
    while (i < suite.words_count && (suite.words_found >> (i & 63) & 1))
        i++;
    if (i == suite.words_count)
        misuse("no line has all these words; each is in some, which --list prints");
    struct suggest near = suggest_for(suite.words[i] + strspn(suite.words[i], " "));
    for (size_t v = 0; sched_variants[v]; v++)
        suggest_offer(&near, sched_variants[v]->name);
    for (size_t w = 0; w < sizeof counts / sizeof *counts; w++)
        suggest_offer(&near, counts[w]);
    for (size_t w = 0; workloads[w]; w++)
        suggest_offer(&near, workloads[w]->name);
    offer_cases(&near, conform_goroutine_cases);
    offer_cases(&near, conform_thread_cases);
    offer_cases(&near, conform_timer_cases);
    offer_cases(&near, conform_select_cases);
    offer_cases(&near, conform_lock_cases);
    offer_cases(&near, conform_io_cases);
    offer_cases(&near, conform_preempt_cases);
    offer_cases(&near, conform_mixed_cases_FJ_GO);
    snprintf(wrong, sizeof wrong, "no line has \"%s\"; %s", suite.words[i],
             suggest_text(&near, "", "--list", text, sizeof text));
    misuse(wrong);
}

static void options_parse(int argc, char **argv)
{
    static const struct option options[] = {{"short", no_argument, NULL, 's'},
                                            {"seed", required_argument, NULL, 'r'},
                                            {"list", no_argument, NULL, 'l'},
                                            {0}};
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        char *end = NULL;
        if (c == 's')
            suite.brief = true;
        else if (c == 'l')
            suite.list = true;
        else if (c == 'r')
            suite.seed = strtoull(optarg, &end, 0);
        if (c == '?' || (end && (*end || end == optarg)))
            misuse("valid options: --short, --seed N (a number), --list");
    }
    suite.words = argv + optind;
    suite.words_count = argc - optind;
}

/* --short, for builds in which all takes longer, leaves out what another number of workers shows: 2
 * and 16 show what 4 do; slices end alike on one worker and on two; and where the number of threads
 * is not that of the workers, one number shows it all. */
static bool is_left_out(const struct sched_ops *ops, const struct whole_run *whole, int workers)
{
    if (!suite.brief)
        return false;
    if (ops->single_threaded || ops->thread_per_g)
        return workers != 2;
    return workers == 4 || workers < whole->workers_min_brief;
}

static void variant_run(const struct sched_ops *ops, const struct whole_run *whole)
{
    for (size_t w = 0; w < sizeof worker_counts / sizeof *worker_counts; w++) {
        if (worker_counts[w] > whole->workers_max)
            break;
        if (is_left_out(ops, whole, worker_counts[w]))
            continue;
        struct conform_cell cell = {.ops = ops,
                                    .workers = worker_counts[w],
                                    .settings = whole->settings,
                                    .seed = suite.seed};
        cell.scale = suite.brief || strcmp(ops->name, "kthread") == 0 ? 1 : 4;
        cell_run(&cell);
    }
}

/* A variant per fork/join policy, on a machine where the sleeping dance fences on both sides. */
static void no_fence_all_run(void)
{
    static const struct {
        const char *variant, *settings;
    } rows[] = {
        {"gmp", NULL}, {"tasksteal", NULL}, {"contsteal", NULL}, {"contsteal", "frames=pooled"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct conform_cell cell = {.ops = support_variant(rows[i].variant),
                                    .workers = 2,
                                    .settings = rows[i].settings,
                                    .no_fence_all = true,
                                    .seed = suite.seed,
                                    .scale = suite.brief ? 1 : 4};
        cases_run(&goroutine_cases, &cell);
        cases_run(&thread_cases, &cell);
        cases_run(&mixed_cases, &cell);
    }
}

static void registries_check(void)
{
    const struct registry registry = {sched_variants, sched_variant_words, workloads,
                                      workload_words, NULL};
    char error[1024];
    if (registry_check(&registry, error, sizeof error))
        return;
    fprintf(stderr, "conformance: %s\n", error);
    exit(1);
}

static void suite_run(void *unused)
{
    (void)unused;
    registries_check();
    for (size_t v = 0; sched_variants[v]; v++) {
        for (size_t i = 0; i < sizeof whole_runs / sizeof *whole_runs; i++)
            if (!whole_runs[i].settings ||
                support_takes(sched_variants[v]->knobs, whole_runs[i].settings))
                variant_run(sched_variants[v], &whole_runs[i]);
    }
    no_fence_all_run();
    if (suite.lines == 0)
        misuse_words();
    if (!suite.list)
        printf("1..%d\n", suite.lines);
}

int main(int argc, char **argv)
{
    options_parse(argc, argv);
#if defined(SCHEDLAB_SIM)
    sim_run(&sim_model_plain, 1, suite_run, NULL);
#else
    suite_run(NULL);
#endif
    return suite.failures > 0;
}
