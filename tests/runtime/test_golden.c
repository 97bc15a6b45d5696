/* test_golden.c - the orders and peaks that Go shows, and those of the queues it is compared with,
 * exactly.
 *
 * Goldens are of Go 1.26: spawn orders at one P, wake orders of six waiters, the steal order at two
 * Ps, and the peaks of a parallel fib at one P. They were measured on Go itself, and follow from
 * its run queue. The run queue has a ring of 256 and runnext. An overflow takes 128 and the G that
 * did not fit, schedtick % 61 == 0 one G from the global queue. Global batches have 128 at most.
 * The G on which that tick falls was measured on Go as well.
 *
 * The phase. A spawn order of more than 257 depends on t = schedtick mod 61 at the time when main
 * parks. Here main's first dispatch makes schedtick 1, each yield of main, alone in the world,
 * goes through the global queue and adds 1, and spawning adds nothing; so yields = (t - 1) mod 61.
 */
#include "internal.h"
#include "tests/support/support.h"
#include "timer.h"
#include "workloads/order.h"
#include "workloads/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/every_variant.h"

enum { TEXT = 4096, TICK = 61 };

/* One call of a workload's run() in a child, and what it left. */
struct golden {
    const struct workload *workload;
    char settings[64];
    struct support_report report;
    char ran[TEXT], parked[TEXT];
    char wrong[256];
    double found[FINDINGS_MAX];
    void *params, *state; /* the child's */
};

static const struct workload *workload_named(const char *name)
{
    for (size_t i = 0; workloads[i]; i++)
        if (strcmp(workloads[i]->name, name) == 0)
            return workloads[i];
    return NULL;
}

static void golden_before(void *arg)
{
    struct golden *self = arg;
    self->params = calloc(1, self->workload->params_size);
    support_set(self->params, self->workload->params, self->settings);
    self->state = self->workload->init(self->params, 1);
}

static void golden_main(void *arg)
{
    struct golden *self = arg;
    struct outcome out = {0};
    workload_run(self->workload, self->state, &out);
    char why[200];
    const char *wrong = self->workload->verify(self->state, &out, why, sizeof why);
    snprintf(self->wrong, sizeof self->wrong, "%s", wrong ? wrong : "");
    if (strcmp(self->workload->name, "order") == 0) {
        snprintf(self->ran, TEXT, "%s", order_text(self->state));
        snprintf(self->parked, TEXT, "%s", order_parked_text(self->state));
    }
}

static void golden_after(void *arg)
{
    struct golden *self = arg;
    if (strcmp(self->workload->name, "periodic") == 0) {
        FILE *to = fmemopen(self->ran, TEXT, "w");
        self->workload->print(self->state, to);
        fclose(to);
    }
    if (self->workload->find)
        self->workload->find(self->state, self->found);
    self->workload->fini(self->state);
    free(self->params);
}

static struct golden *golden_run_with(const char *variant, const char *knobs, int workers,
                                      const char *workload, const char *settings)
{
    static struct golden *golden;
    if (!golden)
        golden = support_shared(sizeof *golden);
    memset(golden, 0, sizeof *golden);
    golden->workload = workload_named(workload);
    assert_non_null(golden->workload);
    snprintf(golden->settings, sizeof golden->settings, "%s", settings);
    char in_turns[128]; /* however slow the machine is, no slice ends */
    snprintf(in_turns, sizeof in_turns, "preempt=none%s%s", knobs ? "," : "", knobs ? knobs : "");
    struct support_run run = {.variant = variant,
                              .settings = in_turns,
                              .workers = workers,
                              .seed = 1,
                              .before = golden_before,
                              .fn = golden_main,
                              .after = golden_after,
                              .arg = golden};
    support_run(&run, &golden->report);
    if (golden->report.status != 0)
        fail_msg("%s %s,%s: status %d\n%s", variant, workload, settings, golden->report.status,
                 golden->report.output);
    assert_string_equal(golden->wrong, "");
    assert_int_equal(golden->report.live, 0);
    return golden;
}

static struct golden *golden_run(const char *variant, int workers, const char *workload,
                                 const char *settings)
{
    return golden_run_with(variant, NULL, workers, workload, settings);
}

/* Spawn ------------------------------------------------------------------------------------- */

static void expect_spawn(const char *variant, int n, int t, const char *expected)
{
    char settings[64];
    snprintf(settings, sizeof settings, "n=%d,yields=%d", n, (t + TICK - 1) % TICK);
    assert_string_equal(golden_run(variant, 1, "order", settings)->ran, expected);
}

static void golden_spawn_gmp_within_the_ring(void **state)
{
    (void)state;
    for (int t = 0; t < TICK; t += 20) {
        expect_spawn("gmp", 5, t, "4 0-3");
        expect_spawn("gmp", 10, t, "9 0-8");
        expect_spawn("gmp", 20, t, "19 0-18");
        expect_spawn("gmp", 257, t, "256 0-255");
    }
}

static void golden_spawn_gmp_258(void **state)
{
    (void)state;
    expect_spawn("gmp", 258, 46, "257 128-142 0 143-202 1 203-255 2-127 256");
}

static void golden_spawn_gmp_300(void **state)
{
    (void)state;
    expect_spawn("gmp", 300, 12, "299 128-176 0 177-236 1 237-255 257-297 2 298 3-127 256");
}

static void golden_spawn_gmp_387(void **state)
{
    (void)state;
    expect_spawn("gmp", 387, 6,
                 "386 257-311 0 312-371 1 372-384 2-48 129 49-108 130 109-127 256 128 131-255 385");
}

static void golden_spawn_gmp_1000(void **state)
{
    (void)state;
    expect_spawn("gmp", 1000, 36,
                 "999 773-797 0 798-857 1 858-900 902-918 2 919-978 3 979-998 4-43 131 44-103 132 "
                 "104-127 256 128-130 133-164 261 165-224 262 225-255 385 257-260 263-286 391 "
                 "287-346 392 347-384 514 386-390 393-408 521 409-468 522 469-513 643 515-520 "
                 "523-530 651 531-590 652 591-642 772 644-650 653-771 901");
}

/* The orders of the other structures with the same program. */
static void golden_spawn_of_the_others(void **state)
{
    (void)state;
    expect_spawn("grq", 300, 12, "0-299");
    expect_spawn("uthread", 300, 12, "0-299");
    expect_spawn("static", 300, 12, "0-299");
    expect_spawn("perm", 300, 12, "299 128-176 0 177-236 1 237-255 257-297 2 298 3-127 256");
    expect_spawn("permits", 10, 12, "9 0-8");
    expect_spawn("tasksteal", 5, 12, "4 3 2 1 0");
    expect_spawn("contsteal", 300, 12, "0-299");
}

/* Wake -------------------------------------------------------------------------------------- */

static void expect_wake(const char *mode, const char *expected)
{
    char settings[64];
    snprintf(settings, sizeof settings, "n=6,mode=%s", mode);
    struct golden *golden = golden_run("gmp", 1, "order", settings);
    assert_string_equal(golden->parked, "0-5");
    assert_string_equal(golden->ran, expected);
}

static void golden_wake_broadcast(void **state)
{
    (void)state;
    expect_wake("broadcast", "5 0-4");
}

static void golden_wake_waitgroup(void **state)
{
    (void)state;
    expect_wake("waitgroup", "5 0-4");
}

/* The waiters are readied newest first, so that the longest waiter ends up in runnext. */
static void golden_wake_close(void **state)
{
    (void)state;
    expect_wake("close", "0 5 4 3 2 1");
}

/* They are readied in the order in which they sleep; the last one ends up in runnext. */
static void golden_wake_sleep(void **state)
{
    (void)state;
    expect_wake("sleep", "5 0-4");
}

enum { SLEEPERS = 100, DEADLINES = 3 };

/* Gs that sleep until one of three times, all of them past, and the order in which they went on. */
struct sleepers {
    struct g *gp[SLEEPERS];
    struct waitgroup done;
    int count;
    int woken[SLEEPERS];
};

struct sleeper {
    struct sleepers *all;
    int id;
};

static void sleeper_main(void *arg)
{
    struct sleeper *self = arg;
    struct sleepers *all = self->all;
    struct g *gp = machine_self()->curg;
    gp->wait_reason = WAIT_SLEEP;
    all->gp[self->id] = gp;
    all->count++;
    g_park();
    all->woken[all->count++] = self->id;
    wg_done(&all->done);
}

/* Main never lets anybody run between the first timer and the last. */
static void sleepers_main(void *arg)
{
    struct sleepers *all = arg;
    struct sleeper sleepers[SLEEPERS];
    int64_t start = go_now() - DEADLINES;
    wg_add(&all->done, SLEEPERS);
    for (int i = 0; i < SLEEPERS; i++) {
        sleepers[i] = (struct sleeper){all, i};
        go(sleeper_main, &sleepers[i]);
    }
    while (all->count < SLEEPERS)
        gosched();
    all->count = 0;
    for (int i = 0; i < SLEEPERS; i++)
        timers_add(machine_self(), all->gp[i], start + i % DEADLINES);
    wg_wait(&all->done);
}

/* Sleeps that end at the same time end in the order in which they began. uthread's list adds
 * nothing to that order. */
static void golden_sleeps_end_in_order(void **state)
{
    (void)state;
    struct sleepers *all = support_shared(sizeof *all);
    struct support_run run = {
        .variant = "uthread", .workers = 1, .seed = 1, .fn = sleepers_main, .arg = all};
    static struct support_report report;
    support_run(&run, &report);
    assert_int_equal(report.status, 0);
    int at = 0;
    for (int deadline = 0; deadline < DEADLINES; deadline++)
        for (int id = deadline; id < SLEEPERS; id += DEADLINES)
            assert_int_equal(all->woken[at++], id);
    support_unshare(all, sizeof *all);
}

/* Six that wait for one object, parked in the order 0..5, and in which order they go on; main logs
 * MAIN_LOGS. Measured on Go 1.19 by programs that do the same. */
enum { WAITERS = 6, MAIN_LOGS = -1, WRITER_LOGS = 100 };

struct wake {
    struct log log;
    struct sem sem;
    struct rwmutex rw;
    struct chan *ch[2];
    struct waitgroup done;
    struct waker {
        struct wake *wake;
        int index;
    } waker[WAITERS + 1];
};

static void waker_logs(struct waker *self)
{
    log_add(&self->wake->log, self->index);
    wg_done(&self->wake->done);
}

static void waker_takes_permit(void *arg)
{
    struct waker *self = arg;
    sem_acquire(&self->wake->sem);
    waker_logs(self);
}

static void waker_reads(void *arg)
{
    struct waker *self = arg;
    rwmutex_read_lock(&self->wake->rw);
    log_add(&self->wake->log, self->index);
    rwmutex_read_unlock(&self->wake->rw);
    wg_done(&self->wake->done);
}

static void waker_writes(void *arg)
{
    struct waker *self = arg;
    rwmutex_lock(&self->wake->rw);
    log_add(&self->wake->log, WRITER_LOGS);
    rwmutex_unlock(&self->wake->rw);
    wg_done(&self->wake->done);
}

static void waker_selects(void *arg)
{
    struct waker *self = arg;
    const struct select_case cases[] = {select_recv(self->wake->ch[0], NULL),
                                        select_recv(self->wake->ch[1], NULL)};
    chan_select(cases, 2, NULL);
    waker_logs(self);
}

static void wake_park(struct wake *wake, int first, int n, void (*fn)(void *))
{
    wg_add(&wake->done, n);
    for (int i = first; i < first + n; i++) {
        wake->waker[i] = (struct waker){wake, i};
        every_start_parked(fn, &wake->waker[i]);
    }
}

/* Main has logged too. */
static void wake_check(struct wake *wake, const int *expected, int count)
{
    log_add(&wake->log, MAIN_LOGS);
    wg_wait(&wake->done);
    log_check(&wake->log, expected, count);
    go_free(wake);
}

static void sem_release_all(bool handoff, const int *expected, int count)
{
    struct wake *wake = go_alloc_zeroed(sizeof *wake);
    wake_park(wake, 0, WAITERS, waker_takes_permit);
    for (int i = 0; i < WAITERS; i++) {
        if (i > 0)
            log_add(&wake->log, MAIN_LOGS);
        sem_release(&wake->sem, handoff);
    }
    wake_check(wake, expected, count);
}

static void sem_fifo_main(void *arg)
{
    static const int expected[] = {-1, -1, -1, -1, -1, -1, 5, 0, 1, 2, 3, 4};
    (void)arg;
    sem_release_all(false, expected, 2 * WAITERS);
}

static void sem_handoff_main(void *arg)
{
    static const int expected[] = {0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1};
    (void)arg;
    sem_release_all(true, expected, 2 * WAITERS);
}

static void golden_wake_semaphore(void **state)
{
    (void)state;
    one_variant("gmp", sem_fifo_main);
}

/* The waiter goes on at once, in the place of the releaser. */
static void golden_wake_semaphore_with_handoff(void **state)
{
    (void)state;
    one_variant("gmp", sem_handoff_main);
}

static void rwmutex_readers_main(void *arg)
{
    static const int expected[] = {-1, 5, 0, 1, 2, 3, 4};
    (void)arg;
    struct wake *wake = go_alloc_zeroed(sizeof *wake);
    rwmutex_lock(&wake->rw);
    wake_park(wake, 0, WAITERS, waker_reads);
    rwmutex_unlock(&wake->rw);
    wake_check(wake, expected, WAITERS + 1);
}

/* A writer waits for main, which reads, and six readers for the writer. */
static void rwmutex_writer_main(void *arg)
{
    static const int expected[] = {-1, WRITER_LOGS, 5, 0, 1, 2, 3, 4};
    (void)arg;
    struct wake *wake = go_alloc_zeroed(sizeof *wake);
    rwmutex_read_lock(&wake->rw);
    wake_park(wake, WAITERS, 1, waker_writes);
    wake_park(wake, 0, WAITERS, waker_reads);
    rwmutex_read_unlock(&wake->rw);
    wake_check(wake, expected, WAITERS + 2);
}

static void golden_wake_rwmutex(void **state)
{
    (void)state;
    one_variant("gmp", rwmutex_readers_main);
    one_variant("gmp", rwmutex_writer_main);
}

static void select_close_main(void *arg)
{
    static const int expected[] = {-1, 0, 5, 4, 3, 2, 1};
    (void)arg;
    struct wake *wake = go_alloc_zeroed(sizeof *wake);
    for (int i = 0; i < 2; i++)
        wake->ch[i] = chan_make(1, 0);
    wake_park(wake, 0, WAITERS, waker_selects);
    chan_close(wake->ch[0]);
    struct chan *ch[] = {wake->ch[0], wake->ch[1]};
    wake_check(wake, expected, WAITERS + 1);
    chan_free(ch[0]);
    chan_free(ch[1]);
}

/* As receivers do. */
static void golden_wake_select_close(void **state)
{
    (void)state;
    one_variant("gmp", select_close_main);
}

/* A select takes each case that can go ahead now and then, so none has precedence. */
enum { SELECTS = 200 };

static void select_ready_main(void *arg)
{
    (void)arg;
    int chosen[2] = {0}, byte = 0;
    struct chan *ch[] = {chan_make(1, SELECTS), chan_make(1, SELECTS)};
    for (int i = 0; i < SELECTS; i++) {
        chan_send(ch[0], &byte);
        chan_send(ch[1], &byte);
    }
    for (int i = 0; i < SELECTS; i++) {
        const struct select_case cases[] = {select_recv(ch[0], NULL), select_recv(ch[1], NULL)};
        chosen[chan_select(cases, 2, NULL)]++;
    }
    CHECK(chosen[0] > SELECTS / 4 && chosen[1] > SELECTS / 4);
    chan_free(ch[0]);
    chan_free(ch[1]);
}

static void golden_select_takes_any_that_is_ready(void **state)
{
    (void)state;
    one_variant("gmp", select_ready_main);
}

/* Gs that have become ready form a stack. */
static void golden_wake_pipes(void **state)
{
    (void)state;
    assert_string_equal(golden_run_with("gmp", "sysmon=off", 1, "order", "n=6,mode=pipes")->ran,
                        "5 4 3 2 1 0"); /* sysmon may look too, at any moment */
}

static void golden_gosched_goes_behind_all(void **state)
{
    (void)state;
    assert_string_equal(golden_run("gmp", 1, "order", "n=5,mode=yield")->ran, "4 0-3 y");
}

/* Steal ------------------------------------------------------------------------------------- */

static void golden_steal_half_and_run_the_youngest(void **state)
{
    (void)state;
    assert_string_equal(golden_run("gmp", 2, "order", "n=9,mode=steal")->ran, "3 0-2 5 4 6-8");
}

/* Main's worker keeps n - 1 in its ring and one in runnext; the thief takes half of the ring,
 * rounded up if it is odd, and runs the youngest of these. */
static void golden_steal_of_an_odd_half(void **state)
{
    (void)state;
    assert_string_equal(golden_run("gmp", 2, "order", "n=8,mode=steal")->ran, "3 0-2 5 4 6-7");
    assert_string_equal(golden_run("gmp", 2, "order", "n=10,mode=steal")->ran, "4 0-3 6 5 7-9");
}

/* The order is: where all workers look, then the poller, then the victim: its queue, then its
 * newest. One of several, since the thread of one of the two may be away so long that the other
 * comes first. */
static void golden_search_order(void **state)
{
    (void)state;
    const char *ran = "";
    for (int i = 0; i < 20 && strcmp(ran, "0-3") != 0; i++)
        ran = golden_run_with("gmp", "sysmon=off", 2, "order", "n=4,mode=search")->ran;
    assert_string_equal(ran, "0-3");
}

/* Fib: peaks -------------------------------------------------------------------------------- */

struct fib_golden {
    int n;
    uint64_t created, gmp_alive, gmp_unstarted, gmp_stalls;
    uint64_t fifo_alive, fifo_queue, lifo_alive, continuations;
};

static const struct fib_golden fibs[] = {
    {4, 5, 4, 2, 2, 5, 3, 4, 3},
    {8, 41, 21, 8, 20, 35, 17, 8, 7},
    {12, 287, 116, 39, 143, 213, 99, 12, 11},
    {16, 1973, 702, 219, 986, 1336, 607, 16, 15},
};

enum { FIBS = sizeof fibs / sizeof *fibs };

static const uint64_t *fib_stats(const char *variant, int n)
{
    char settings[64];
    snprintf(settings, sizeof settings, "n=%d,spawn=both", n);
    return golden_run(variant, 1, "fib", settings)->report.stat;
}

/* The goldens count fib's own goroutines and joins; here main is one more alive, and its join of
 * the root one more that stalls. */
enum { MAIN = 1 };

static void golden_fib_gmp(void **state)
{
    (void)state;
    for (int i = 0; i < FIBS; i++) {
        const uint64_t *stat = fib_stats("gmp", fibs[i].n);
        assert_int_equal(stat[STAT_GS_CREATED], fibs[i].created + MAIN);
        assert_int_equal(stat[STAT_LIVE_GS_PEAK], fibs[i].gmp_alive + MAIN);
        assert_int_equal(stat[STAT_UNSTARTED_GS_PEAK], fibs[i].gmp_unstarted);
        assert_int_equal(stat[STAT_JOINS_STALLED], fibs[i].gmp_stalls + MAIN);
    }
}

static void golden_fib_fifo(void **state)
{
    static const char *const fifos[] = {"grq", "uthread", "static"};
    (void)state;
    for (size_t v = 0; v < sizeof fifos / sizeof *fifos; v++)
        for (int i = 0; i < FIBS; i++) {
            const uint64_t *stat = fib_stats(fifos[v], fibs[i].n);
            assert_int_equal(stat[STAT_GS_CREATED], fibs[i].created + MAIN);
            assert_int_equal(stat[STAT_LIVE_GS_PEAK], fibs[i].fifo_alive + MAIN);
            assert_int_equal(stat[STAT_DEQUE_MAX], fibs[i].fifo_queue);
        }
}

/* Tasks that are no goroutines are counted where INVARIANTs are checked; the depth of their deque
 * always. */
static void golden_fib_lifo_child(void **state)
{
    (void)state;
    for (int i = 0; i < FIBS; i++) {
        const uint64_t *stat = fib_stats("tasksteal", fibs[i].n);
        assert_int_equal(stat[STAT_GS_CREATED], MAIN);
        assert_int_equal(stat[STAT_JOINS_STALLED], 0);
        assert_int_equal(stat[STAT_DEQUE_MAX], fibs[i].n / 2);
#ifdef SCHEDLAB_DEBUG
        assert_int_equal(stat[STAT_TASKS_LIVE_PEAK], fibs[i].lifo_alive);
#endif
    }
}

static void golden_fib_continuation(void **state)
{
    (void)state;
    for (int i = 0; i < FIBS; i++) {
        const uint64_t *stat = fib_stats("contsteal", fibs[i].n);
        assert_int_equal(stat[STAT_GS_CREATED], (FJ_LINKED_WORKS ? 0 : fibs[i].created) + MAIN);
        assert_int_equal(stat[STAT_DEQUE_MAX], fibs[i].continuations);
        assert_int_equal(stat[STAT_UNSTARTED_GS_PEAK], 1);
        assert_int_equal(stat[STAT_JOINS_STALLED], 0);
    }
}

/* The tick ---------------------------------------------------------------------------------- */

/* With one dispatch in `tick` for the global queue, the delay falls on k / gcd(tick - 1, k) of k
 * locals that take turns. */
static void golden_tick_falls_on_the_same_ones(void **state)
{
    (void)state;
    static const struct {
        int tick, k, delayed;
    } rows[] = {{31, 8, 4}, {60, 6, 6},  {60, 8, 8},  {61, 6, 1},  {61, 7, 7},
                {61, 8, 2}, {61, 16, 4}, {63, 12, 6}, {64, 12, 4}, {65, 16, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char knobs[64], settings[64], expected[64];
        snprintf(knobs, sizeof knobs, "runnext=off,tick=%d", rows[i].tick);
        snprintf(settings, sizeof settings, "k=%d,turns=2000", rows[i].k);
        snprintf(expected, sizeof expected, "delayed: %d of %d locals:", rows[i].delayed,
                 rows[i].k);
        struct golden *golden = golden_run_with("gmp", knobs, 1, "periodic", settings);
        golden->ran[strlen(expected)] = 0;
        assert_string_equal(golden->ran, expected);
        assert_true(golden->found[0] == rows[i].delayed);
    }
}

static double found_by(const struct golden *golden, const char *name)
{
    const char *const *finds = golden->workload->finds;
    for (size_t i = 0; finds[i]; i++)
        if (strcmp(finds[i], name) == 0)
            return golden->found[i];
    fail_msg("nothing was found of the name %s", name);
    return 0;
}

/* Arrivals at multiples of `every` dispatches meet tick / gcd(tick, every) phases of the tick, each
 * as often; all of them wait less than a round. */
static void golden_arrivals_meet_the_phases_of_the_tick(void **state)
{
    (void)state;
    static const struct {
        int tick, every, n;
        double distinct, mean; /* 0: one of the phases */
    } rows[] = {
        {61, 8, 122, 61, 30},   {61, 32, 122, 61, 30},   {61, 64, 122, 61, 30},
        {61, 128, 122, 61, 30}, {61, 61, 122, 1, 0},     {61, 122, 122, 1, 0},
        {64, 8, 128, 8, 0},     {64, 16, 128, 4, 0},     {64, 32, 128, 2, 0},
        {64, 64, 128, 1, 0},    {64, 61, 128, 64, 31.5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char knobs[64], settings[64];
        snprintf(knobs, sizeof knobs, "yield=local,tick=%d", rows[i].tick);
        snprintf(settings, sizeof settings, "n=%d,every=%d", rows[i].n, rows[i].every);
        struct golden *golden = golden_run_with("gmp", knobs, 1, "beat", settings);
        assert_true(found_by(golden, "waits_distinct") == rows[i].distinct);
        assert_true(rows[i].mean == 0 || found_by(golden, "wait_mean") == rows[i].mean);
        assert_true(found_by(golden, "wait_max") < rows[i].tick);
    }
}

/* Victims in the shared queue are fetched once, all together, when the pair is done; those in the
 * worker's own are never there. */
static void golden_victims_wait_where_they_are_put(void **state)
{
    (void)state;
    const struct golden *golden =
        golden_run_with("gmp", "tick=0", 1, "pingpong", "rounds=20,victims=5,queue=global");
    assert_int_equal(golden->report.stat[STAT_GRQ_HITS], 1);
    golden = golden_run_with("gmp", "tick=0", 1, "pingpong", "rounds=20,victims=5,queue=local");
    assert_int_equal(golden->report.stat[STAT_GRQ_HITS], 0);
}

/* How often one worker goes to the shared queue for n that lie there, if it takes 1/P of them and
 * one more, 128 at most; and one by one. */
static void golden_batches_empty_the_shared_queue(void **state)
{
    (void)state;
    static const struct {
        const char *take;
        int n, visits;
    } rows[] = {{"batch", 100, 1}, {"batch", 1000, 8}, {"batch", 10000, 79}, {"one", 1000, 1000}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char knobs[64], settings[64];
        snprintf(knobs, sizeof knobs, "tick=0,take=%s", rows[i].take);
        snprintf(settings, sizeof settings, "n=%d", rows[i].n);
        struct golden *golden = golden_run_with("gmp", knobs, 1, "drain", settings);
        assert_int_equal(golden->report.stat[STAT_GRQ_HITS], rows[i].visits);
        assert_true(found_by(golden, "share_max") == 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_spawn_gmp_within_the_ring),
        cmocka_unit_test(golden_spawn_gmp_258),
        cmocka_unit_test(golden_spawn_gmp_300),
        cmocka_unit_test(golden_spawn_gmp_387),
        cmocka_unit_test(golden_spawn_gmp_1000),
        cmocka_unit_test(golden_spawn_of_the_others),
        cmocka_unit_test(golden_wake_broadcast),
        cmocka_unit_test(golden_wake_waitgroup),
        cmocka_unit_test(golden_wake_close),
        cmocka_unit_test(golden_wake_sleep),
        cmocka_unit_test(golden_sleeps_end_in_order),
        cmocka_unit_test(golden_wake_semaphore),
        cmocka_unit_test(golden_wake_semaphore_with_handoff),
        cmocka_unit_test(golden_wake_rwmutex),
        cmocka_unit_test(golden_wake_select_close),
        cmocka_unit_test(golden_select_takes_any_that_is_ready),
        cmocka_unit_test(golden_wake_pipes),
        cmocka_unit_test(golden_search_order),
        cmocka_unit_test(golden_gosched_goes_behind_all),
        cmocka_unit_test(golden_steal_half_and_run_the_youngest),
        cmocka_unit_test(golden_steal_of_an_odd_half),
        cmocka_unit_test(golden_arrivals_meet_the_phases_of_the_tick),
        cmocka_unit_test(golden_victims_wait_where_they_are_put),
        cmocka_unit_test(golden_batches_empty_the_shared_queue),
        cmocka_unit_test(golden_fib_gmp),
        cmocka_unit_test(golden_fib_fifo),
        cmocka_unit_test(golden_fib_lifo_child),
        cmocka_unit_test(golden_fib_continuation),
        cmocka_unit_test(golden_tick_falls_on_the_same_ones),
    };
    return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
