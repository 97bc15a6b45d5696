/* conformance.c - what every variant owes to every workload: one suite over all variants and
 * numbers of workers.
 *
 *     conformance [--short [--every N]] [--workers N] [--jobs N] [--seed N] [--case GLOB]
 *         [--machine MACHINE] [--outside] [--list] [WORD...]
 *
 * Prints TAP, one line per case, variant and number of workers. --list prints the names of these
 * lines and runs nothing. --outside takes the variants from outside the tree alone. These choose
 * among the lines, and status 2 means that none is left:
 *   WORD         lines that contain all words
 *   --case GLOB  lines of which GLOB matches VARIANT[,SETTINGS]/CASE, or the same with /workers=N
 *                at its end. CASE=GLOB in the environment does the same.
 *   --workers N  this number of workers only
 *   --short      one number of workers for each case of each variant (case_is_due())
 *   --every N    of these, each case under one of N variants, each workload under one of 2N, and
 *                half of that with settings: where a line is slow, and the variants share what is
 *                looked for
 *
 * --jobs N: line i is run by process i mod N. Lines keep their numbers and may change places.
 * --machine sim:MODEL[,KEY=VALUE]...: only the build for simulated machines takes it, and without
 * it the machine is a plain one, of no file.
 *
 * A variant from outside the tree also runs the cases of goroutines, threads and fork/join under
 * each value of each knob of its own. There each case has one number of workers. A range is tried
 * at its ends.
 *
 * Cases run in processes of their own (support.h): those of a table under one variant and number of
 * workers one after another in one, and the workloads likewise. Each ends with no G alive. Counts
 * are bounded and nothing depends on speed: where a case has to wait, it waits for an event, and
 * the watchdog turns a lost wake-up into a failure.
 *
 * Cases proper are in conform_*.c, workloads in conform_workloads.c, what the options do in
 * conform_lines.c. Here are cases that end their child on purpose, and the loop. No third-party
 * library on real threads, so that the cross build can run it on another architecture.
 */
#include "conform_lines.h"
#include "harness/spec/outside.h"
#include "harness/spec/registry_check.h"
#include "workloads/workload.h"

#if defined(SCHEDLAB_SIM)
#include "harness/models/machine_spec.h"
#include "harness/models/machine_start.h"
#include "sim/sim.h"
#endif

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
    struct line line;
};

/* A table's cases that a cell runs, one after another in one process. */
enum { CASES = 128 };
struct cell_cases {
    int count;
    struct case_run of[CASES];
    struct support_run runs[CASES];
};

static void case_main(void *arg)
{
    const struct case_run *self = arg;
    self->tables->of[fj_policy()][self->index].fn(self->cell);
}

static void case_told(void *arg, int i, const struct support_report *report)
{
    const struct cell_cases *cases = arg;
    char problem[128] = "";
    if (report->status != 0)
        line_end_text(report, problem, sizeof problem);
    else if (report->live != 0)
        snprintf(problem, sizeof problem, "%" PRId64 " Gs are alive at the end", report->live);
    line_print(&cases->of[i].line, cases->of[i].cell, problem, report);
}

/* May the variant have these settings? If not, says why: its knob of that name may be another. */
static bool settings_fit(const struct sched_ops *ops, const char *settings, char *why, size_t size)
{
    void *knobs = calloc(1, ops->knobs_size);
    const char *wrong = NULL;
    bool fit = support_read(knobs, ops->knobs, settings, why, size);
    if (fit && ops->check && (wrong = ops->check(knobs)))
        snprintf(why, size, "%s", wrong);
    free(knobs);
    return fit && !wrong;
}

/* Adds the case to those that the cell runs, if it is to run. */
static void case_add(struct cell_cases *cases, const struct case_tables *tables, size_t index,
                     struct conform_cell *cell)
{
    const struct conform_case *of = &tables->of[FJ_GO][index];
    const char *settings = of->settings;
    char name[128], problem[128] = "";
    struct case_run *self = &cases->of[cases->count];
    if (of->alone ? cell->workers != 1 : !case_is_due(cell, settings != NULL, of->steals))
        return;
    if (settings && (cell->settings || !support_takes(cell->ops->knobs, settings)))
        return;
    snprintf(name, sizeof name, "%s%s%s", of->name, settings ? "," : "", settings ? settings : "");
    line_name(&self->line, name, cell);
    if (!line_begin(&self->line, cell->workers))
        return;
    if (settings && !settings_fit(cell->ops, settings, problem, sizeof problem)) {
        line_skip(&self->line, problem);
        return;
    }
    self->tables = tables;
    self->index = index;
    self->cell = cell;
    cases->runs[cases->count] = run_of(cell, case_main, self);
    if (settings)
        cases->runs[cases->count].settings = settings;
    if (++cases->count == CASES)
        support_fail(__FILE__, __LINE__, "a table has more than %d cases", CASES - 1);
}

static void cases_run(const struct case_tables *tables, struct conform_cell *cell)
{
    static struct cell_cases cases;
    cases.count = 0;
    for (size_t i = 0; tables->of[FJ_GO][i].name; i++)
        case_add(&cases, tables, i, cell);
    if (cases.count > 0)
        support_run_each(cases.runs, cases.count, case_told, &cases);
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
    char problem[128] = "";
    struct line line;
    line_name(&line, __func__, cell);
    if (!case_is_due(cell, false, false) || !line_begin(&line, cell->workers))
        return;
    int rounds = 2 * cell->scale;
    uint64_t created = (uint64_t)rounds * LIVE_GS + 1;
    struct support_run run = run_of(cell, live_main, &rounds);
    support_run(&run, &report);
    uint64_t peak = report.stat[STAT_LIVE_GS_PEAK];
    if (report.status != 0)
        line_end_text(&report, problem, sizeof problem);
    else if (report.live != 0)
        snprintf(problem, sizeof problem, "%" PRId64 " Gs are alive at the end", report.live);
    else if (report.stat[STAT_GS_CREATED] != created)
        snprintf(problem, sizeof problem, "%" PRIu64 " Gs created, not %" PRIu64,
                 report.stat[STAT_GS_CREATED], created);
    else if (cell->workers == 1 && (peak < 2 || (peak > LIVE_GS + 1 && !cell->ops->thread_per_g)))
        snprintf(problem, sizeof problem, "peak of live Gs is %" PRIu64, peak);
    line_print(&line, cell, problem, &report);
}

/* Children that are meant to fail ----------------------------------------------------------- */

static void fails_run(const char *name, struct conform_cell *cell, void (*fn)(void *),
                      const char *const *expected)
{
    static struct support_report report;
    char problem[256] = "";
    struct line line;
    line_name(&line, name, cell);
    if (!case_is_due(cell, false, false) || !line_begin(&line, cell->workers))
        return;
    struct support_run run = run_of(cell, fn, cell);
    support_run(&run, &report);
    if (report.status != 70)
        snprintf(problem, sizeof problem, "ended with status %d, not 70", report.status);
    for (; *expected && !*problem; expected++)
        if (!strstr(report.output, *expected))
            snprintf(problem, sizeof problem, "message lacks \"%s\"", *expected);
    line_print(&line, cell, problem, &report);
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

static void deadlock_on_no_send(void *arg)
{
    (void)arg;
    unsigned char value = 0;
    chan_send(NULL, &value);
}

static void deadlock_on_no_receive(void *arg)
{
    (void)arg;
    chan_recv(NULL, NULL);
}

/* Leaves a sleep that is over and a timer that was stopped: neither can wake anybody. */
static void timers_pass(void)
{
    struct gotimer *timer = timer_after(INT64_C(3600) * 1000000000);
    go_sleep(1000);
    timer_stop(timer);
    timer_free(timer);
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
    go(deadlock_on_no_send, NULL);
    go(deadlock_on_no_receive, NULL);
    timers_pass();
    chan_recv(ch, NULL);
}

static void conform_deadlock_is_reported(struct conform_cell *cell)
{
    const char *const expected[] = {
        "deadlock", cell->ops->name,     "(main) waits for chan receive", "wait group", "mutex",
        "select",   "chan send of none", "chan receive of none",          NULL};
    fails_run(__func__, cell, deadlock_main, expected);
}

/* Recursion without end, in frames that touch little of themselves. The second on a stack of 64 KiB
 * begins well above the guard of 8 KiB and ends well below it: without -fstack-clash-protection
 * nothing touches the guard. The condition is there for the compiler, the last line against a tail
 * call. */
static void overflow_g(void *arg)
{
    volatile char pages[40000];
    pages[0] = 1;
    if (pages[0])
        overflow_g(arg);
    pages[0] = pages[1];
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

#if defined(SCHEDLAB_SIM)

static void call_without_end(void *started)
{
    static _Atomic uint32_t never;
    wg_done(started);
    blocking_enter();
    while (atomic_load(&never) == 0)
        machine_wait(&never, 0, -1);
    blocking_exit();
}

static void left_behind_main(void *arg)
{
    (void)arg;
    struct waitgroup *started = go_alloc_zeroed(sizeof *started);
    wg_add(started, 1);
    go(call_without_end, started);
    wg_wait(started);
    go_sleep(1000000);
}

/* On a simulated machine, where 30 s pass quickly, and under a variant where main goes on while
 * another goroutine is in a call. */
static void conform_left_behind_is_not_waited_for_without_end(struct conform_cell *cell)
{
    static const char *const expected[] = {"main has returned", "on 1 thread after 30 s", NULL};
    if (strcmp(cell->ops->name, "gmp") == 0 && !cell->settings)
        fails_run(__func__, cell, left_behind_main, expected);
}
#endif

/* The loop ---------------------------------------------------------------------------------- */

static void cell_run(struct conform_cell *cell)
{
    suite.row = 0;
    cases_run(&goroutine_cases, cell);
    cases_run(&thread_cases, cell);
    if (suite.whole->own) {
        cases_run(&mixed_cases, cell);
        return;
    }
    cases_run(&timer_cases, cell);
    cases_run(&select_cases, cell);
    cases_run(&lock_cases, cell);
    cases_run(&io_cases, cell);
    cases_run(&preempt_cases, cell);
    cases_run(&mixed_cases, cell);
    conform_live_gs_zero_after(cell);
    conform_deadlock_is_reported(cell);
    conform_misuse_is_fatal(cell);
#if defined(SCHEDLAB_SIM)
    conform_left_behind_is_not_waited_for_without_end(cell);
#endif
    if (!SUPPORT_SANITIZED) /* a sanitizer has its own report, and needs more stack than there is */
        conform_stack_overflow_is_reported(cell);
    if (!SUPPORT_SANITIZED && cell->settings && strstr(cell->settings, "preempt=signal"))
        conform_stack_overflow_after_stops_is_reported(cell);
    workloads_run(cell);
}

/* The defaults; frames=pooled, where fork/join code is another; and slices so short that goroutines
 * are stopped wherever they happen to be. */
static const struct whole_run whole_runs[] = {
    {NULL, 1, 16, false, 1, false},
    {"frames=pooled", 1, 16, true, 1, false},
    {"preempt=signal,slice_ns=50000,sysmon_ns=20000,sysmon_max_ns=20000", 1, 2, true, 4, false},
};

static void variant_run_at(const struct sched_ops *ops, int workers)
{
    struct conform_cell cell = {
        .ops = ops, .workers = workers, .settings = suite.whole->settings, .seed = suite.seed};
    cell.scale = suite.brief || strcmp(ops->name, "kthread") == 0 ? 1 : 4;
    cell_run(&cell);
}

static void variant_run(const struct sched_ops *ops)
{
    if (suite.workers) {
        variant_run_at(ops, suite.workers);
        return;
    }
    for (int i = 0; i < WORKER_COUNTS && worker_counts[i] <= suite.whole->workers_max; i++)
        variant_run_at(ops, worker_counts[i]);
}

/* Under the settings of suite.whole, if the variant has them. */
static void variant_run_whole(const struct sched_ops *ops)
{
    const char *settings = suite.whole->settings;
    char why[128];
    if (settings && !support_takes(ops->knobs, settings))
        return;
    if (!settings || settings_fit(ops, settings, why, sizeof why))
        variant_run(ops);
    else if (!suite.list && suite.job == 0)
        printf("# %s: no lines under %s: %s\n", ops->name, settings, why);
}

/* A variant per fork/join policy where submitters fence, and some where who does changes often. */
static void fences_run(void)
{
    static const struct whole_run whole = {NULL, 2, 2, true, 4, false};
    static const struct {
        const char *variant, *settings;
    } rows[] = {
        {"gmp", "fence=submitter"},
        {"tasksteal", "fence=submitter"},
        {"contsteal", "fence=submitter"},
        {"contsteal", "frames=pooled,fence=submitter"},
        {"gmp", "fence=adaptive,fence_often_ns=20000"},
        {"grq", "fence=adaptive,fence_often_ns=20000"},
        {"contsteal", "fence=adaptive,fence_often_ns=20000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct conform_cell cell = {.ops = support_variant(rows[i].variant),
                                    .workers = suite.workers ? suite.workers : 2,
                                    .settings = rows[i].settings,
                                    .seed = suite.seed,
                                    .scale = suite.brief ? 1 : 4};
        suite.whole = &whole;
        suite.column = (int)i;
        suite.row = 0;
        cases_run(&goroutine_cases, &cell);
        cases_run(&thread_cases, &cell);
        cases_run(&mixed_cases, &cell);
    }
}

static void registries_check(void)
{
    const struct registry registry = {.variants = sched_variants,
                                      .variant_words = sched_variant_words,
                                      .workloads = workloads,
                                      .workload_words = workload_words};
    const struct registry outside = {.variants = outside_variants,
                                     .variant_words = outside_words,
                                     .workloads = outside_workloads,
                                     .workload_words = outside_workload_words,
                                     .from = outside_origins,
                                     .workloads_from = outside_workload_origins,
                                     .queue = outside_queue,
                                     .forks = outside_workload_forks};
    struct error error;
    if (registry_check(&registry, &error) && registry_check(&outside, &error))
        return;
    fprintf(stderr, "conformance: %s\n", error.text);
    exit(1);
}

static void variants_run(const struct sched_ops *const *variants)
{
    for (size_t v = 0; variants[v]; v++)
        for (size_t i = 0; i < sizeof whole_runs / sizeof *whole_runs; i++) {
            suite.whole = &whole_runs[i];
            suite.column = (int)(v + i);
            variant_run_whole(variants[v]);
        }
}

/* Under one value of a knob, if it is not the default, as all lines above are. */
static void value_run(const struct sched_ops *ops, const struct param *param, int64_t value)
{
    static char settings[128];
    const char *word = param_word(param, value);
    if (value == param->def)
        return;
    if (word)
        snprintf(settings, sizeof settings, "%s=%s", param_key(param), word);
    else
        snprintf(settings, sizeof settings, "%s=%" PRId64, param_key(param), value);
    static struct whole_run whole;
    whole = (struct whole_run){settings, 1, 4, true, 1, .own = true};
    suite.whole = &whole;
    variant_run_whole(ops);
}

/* All words of a knob, and the ends of its range. */
static void values_run(const struct sched_ops *ops, const struct param *param)
{
    suite.column = 0;
    for (int64_t i = 0; param->words && param->words[i]; i++, suite.column++)
        value_run(ops, param, param->words_base + i);
    if (!param_takes_numbers(param))
        return;
    value_run(ops, param, param->min);
    suite.column++;
    if (param->max != param->min)
        value_run(ops, param, param->max);
}

/* The runtime's knobs are the tree's to try. */
static void own_knobs_run(void)
{
    for (size_t v = 0; outside_variants[v]; v++)
        for (const struct param *param = outside_variants[v]->knobs; param->name; param++)
            if (param->offset >= sizeof(struct runtime_knobs))
                values_run(outside_variants[v], param);
}

/* This process's lines, in order. */
static void lines_run(void)
{
    if (!suite.outside)
        variants_run(sched_variants);
    variants_run(outside_variants);
    own_knobs_run();
    if (!suite.outside)
        fences_run();
    atomic_store(&suite.shared->lines, suite.lines);
}

/* Runs the lines in suite.jobs processes. One that ends early counts as a failure. */
static void jobs_run(void)
{
    fflush(stdout);
    for (suite.job = 0; suite.job < suite.jobs; suite.job++) {
        pid_t child = fork();
        if (child < 0)
            support_fail(__FILE__, __LINE__, "fork: %s", strerror(errno));
        if (child == 0) {
            lines_run();
            fflush(stdout);
            _exit(0);
        }
    }
    int status;
    for (pid_t child; (child = wait(&status)) > 0 || errno == EINTR;) {
        if (child < 0 || status == 0)
            continue;
        fprintf(stderr, "conformance: process %d of --jobs ended with wait status %#x\n",
                (int)child, (unsigned)status);
        atomic_fetch_add(&suite.shared->failures, 1);
    }
    suite.lines = atomic_load(&suite.shared->lines);
}

static void suite_run(void *unused)
{
    (void)unused;
    registries_check();
    suite.shared = support_shared(sizeof *suite.shared);
    if (suite.jobs > 1 && !suite.list)
        jobs_run();
    else
        lines_run();
    if (suite.lines == 0)
        suite_misuse();
    if (!suite.list)
        printf("1..%d\n", suite.lines);
}

#if defined(SCHEDLAB_SIM)

static void suite_start(void)
{
    static struct machine_spec spec;
    struct error error;
    suite.jobs = 1; /* the simulated machine is one process */
    if (!suite.machine)
        sim_run(&sim_model_plain, 1, suite_run, NULL);
    else if (!machine_spec_parse(&spec, suite.machine, &error) ||
             !machine_start(&spec, 1, suite_run, NULL, &error))
        suite_wrong(error.text);
    machine_spec_free(&spec);
}

#else

static void suite_start(void)
{
    if (suite.machine)
        suite_wrong("--machine is for the program of simulated machines, "
                    "build/sim/tests/conformance");
    suite_run(NULL);
}
#endif

int main(int argc, char **argv)
{
    support_outside = outside_variants;
    suite_parse(argc, argv);
    support_landing_pads();
    suite_start();
    return atomic_load(&suite.shared->failures) > 0;
}
