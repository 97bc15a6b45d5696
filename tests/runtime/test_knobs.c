/* test_knobs.c - every knob changes what it says it changes, seen in counters or in an order.
 *
 * Scenes with one worker are exact. Scenes with more wait for events, never for time to pass, and
 * compare only what holds on any machine: a lower bound of a time, a count that cannot differ. A
 * scene that waits in vain fails and says for what (AWAIT).
 */
#include "harness/spec/spec.h"
#include "knob_scenes.h"
#include "tests/support/support.h"
#include "workloads/order.h"
#include "workloads/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct trace *trace;
struct support_report report;

void scene_try(const char *variant, const char *settings, int workers, int n, void (*scene)(void *))
{
    char all[512];
    bool slices = strstr(settings, "preempt=") ||
                  !support_takes(support_variant(variant)->knobs, "preempt=none");
    snprintf(all, sizeof all, "%s%s", settings, slices ? "" : ",preempt=none");
    if (!trace)
        trace = support_shared(sizeof *trace);
    memset(trace, 0, sizeof *trace);
    trace->n = n;
    struct support_run run = {.variant = variant,
                              .settings = all,
                              .workers = workers,
                              .seed = 7,
                              .fn = scene,
                              .arg = trace};
    support_run(&run, &report);
}

void scene_run(const char *variant, const char *settings, int workers, int n, void (*scene)(void *))
{
    scene_try(variant, settings, workers, n, scene);
    if (report.status != 0 || report.live != 0)
        fail_msg("%s,%s: status %d, %d Gs alive\n%s", variant, settings, report.status,
                 (int)report.live, report.output);
}

void scene_finds(const char *variant, const char *settings, int workers, int n,
                 void (*scene)(void *), int64_t found)
{
    scene_run(variant, settings, workers, n, scene);
    if (trace->found[0] != found)
        fail_msg("%s,%s: found %lld, not %lld", variant, settings, (long long)trace->found[0],
                 (long long)found);
}

void scene_ran_g(void *arg)
{
    struct timed *self = arg;
    atomic_store(&self->trace->ran[self->i], true);
    wg_done(&self->trace->done);
}

static int32_t idle_ps_now(void)
{
    return atomic_load(&this_sched()->idle_ps);
}

/* One worker: orders ------------------------------------------------------------------------ */

struct numbered {
    struct trace *trace;
    int id;
};

void numbered_g(void *arg)
{
    struct numbered *self = arg;
    self->trace->id[self->trace->length++] = self->id;
    wg_done(&self->trace->done);
    go_free(self);
}

void numbered_go(struct trace *self, int id, void (*fn)(void *))
{
    struct numbered *g = go_alloc(sizeof *g);
    *g = (struct numbered){self, id};
    wg_add(&self->done, 1);
    go(fn, g);
}

static void scene_spawn(void *arg)
{
    struct trace *self = arg;
    for (int i = 0; i < self->n; i++)
        numbered_go(self, i, numbered_g);
    wg_wait(&self->done);
}

static void knob_runnext(const char *variant)
{
    scene_run(variant, "runnext=off", 1, 10, scene_spawn);
    for (int i = 0; i < 10; i++)
        assert_int_equal(trace->id[i], i);
    assert_int_equal(stat_of(STAT_RUNNEXT_HITS), 0);
    scene_run(variant, "runnext=on", 1, 10, scene_spawn);
    assert_int_equal(trace->id[0], 9);
    assert_int_equal(trace->id[1], 0);
    assert_true(stat_of(STAT_RUNNEXT_HITS) > 0);
}

static void knob_ring(const char *variant)
{
    scene_run(variant, "ring=16", 1, 64, scene_spawn);
    assert_int_equal(stat_of(STAT_DEQUE_MAX), 16);
    assert_true(stat_of(STAT_OVERFLOWS) > 0);
    scene_run(variant, "ring=64", 1, 64, scene_spawn);
    assert_int_equal(stat_of(STAT_DEQUE_MAX), 63);
    assert_int_equal(stat_of(STAT_OVERFLOWS), 0);
}

/* 63 Gs beside the one in runnext, in blocks of 8: all are left but the first and the last. */
static void knob_queue_of_ps(const char *variant)
{
    int ids[64];
    scene_run(variant, "queue=ring,ring=64", 1, 64, scene_spawn);
    assert_int_equal(stat_of(STAT_BLOCKS_GRANTED), 0);
    memcpy(ids, trace->id, sizeof ids);
    scene_run(variant, "queue=bwos,ring=64", 1, 64, scene_spawn);
    assert_int_equal(stat_of(STAT_BLOCKS_GRANTED), 6);
    assert_int_equal(stat_of(STAT_BLOCKS_TAKEN_BACK), 6);
    assert_memory_equal(ids, trace->id, sizeof ids);
}

/* 18 Gs: one in runnext, 16 in the ring, and one that does not fit and goes with those that move.
 * */
static void knob_overflow(const char *variant)
{
    static const struct {
        const char *share;
        uint64_t moved;
    } rows[] = {{"one", 1}, {"quarter", 4}, {"half", 8}, {"threequarters", 12}, {"all", 16}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char settings[64];
        snprintf(settings, sizeof settings, "ring=16,tick=0,take=one,overflow=%s", rows[i].share);
        scene_run(variant, settings, 1, 18, scene_spawn);
        assert_int_equal(stat_of(STAT_OVERFLOWS), 1);
        assert_int_equal(stat_of(STAT_GRQ_HITS), rows[i].moved + 1);
    }
}

/* A chain of n Gs, each of which starts the next one; *count says how many ran. */
static void chain_g(void *arg)
{
    struct trace *self = arg;
    if (atomic_fetch_add(&self->count, 1) + 1 < self->n) {
        wg_add(&self->done, 1);
        go(chain_g, self);
    }
    wg_done(&self->done);
}

static void bystander_g(void *arg)
{
    struct trace *self = arg;
    self->found[0] = atomic_load(&self->count);
    wg_done(&self->done);
}

/* A bystander in the ring, and a chain that goes from runnext to runnext. */
static void scene_chain_past_ring(void *arg)
{
    struct trace *self = arg;
    wg_add(&self->done, 2);
    go(bystander_g, self);
    go(chain_g, self);
    wg_wait(&self->done);
}

static void knob_runnext_cap(const char *variant)
{
    scene_finds(variant, "runnext_cap=0", 1, 200, scene_chain_past_ring, 200);
    scene_finds(variant, "runnext_cap=4", 1, 200, scene_chain_past_ring, 4);
    scene_finds(variant, "runnext_cap=1", 1, 200, scene_chain_past_ring, 1);
}

static void yielding_bystander_g(void *arg)
{
    struct trace *self = arg;
    wg_add(&self->done, 1);
    go(chain_g, self);
    gosched();
    bystander_g(self);
}

/* A bystander in the global queue, and a chain that never lets the worker run out of work. Main is
 * dispatched at schedtick 1, the bystander at 2, and the links, if they do not inherit, from 3 on.
 * */
static void scene_chain_past_global(void *arg)
{
    struct trace *self = arg;
    wg_add(&self->done, 1);
    go(yielding_bystander_g, self);
    wg_wait(&self->done);
}

static void knob_inherit(const char *variant)
{
    scene_finds(variant, "inherit=on", 1, 200, scene_chain_past_global, 200);
    assert_int_equal(stat_of(STAT_TICK_POLLS), 0);
    scene_finds(variant, "inherit=off", 1, 200, scene_chain_past_global, 61 - 2);
    assert_int_equal(stat_of(STAT_TICK_POLLS), 1);
}

static void expect_tick(const char *variant, const char *settings, int64_t links)
{
    scene_finds(variant, settings, 1, 200, scene_chain_past_global, links);
    assert_int_equal(stat_of(STAT_TICK_POLLS), links < 200);
}

static void knob_tick(const char *variant)
{
    expect_tick(variant, "runnext=off,tick=61", 61 - 2);
    expect_tick(variant, "runnext=off,tick=64", 64 - 2);
    expect_tick(variant, "runnext=off,tick=8", 8 - 2);
    expect_tick(variant, "runnext=off,tick=1", 0);
    expect_tick(variant, "runnext=off,tick=0", 200);
    scene_run(variant, "runnext=off,tick=random", 1, IDS, scene_chain_past_global);
    assert_int_equal(stat_of(STAT_TICK_POLLS), 1);
    assert_true(trace->found[0] < IDS);
}

static void knob_take(const char *variant)
{
    scene_run(variant, "tick=0,take=batch", 1, 20, scene_all_yield);
    assert_int_equal(stat_of(STAT_GRQ_HITS), 1);
    scene_run(variant, "tick=0,take=one", 1, 20, scene_all_yield);
    assert_int_equal(stat_of(STAT_GRQ_HITS), 20);
    scene_run(variant, "tick=0,take=8", 1, 20, scene_all_yield);
    assert_int_equal(stat_of(STAT_GRQ_HITS), 3); /* 8 8 4 */
    scene_run(variant, "tick=0,take=half", 1, 20, scene_all_yield);
    assert_int_equal(stat_of(STAT_GRQ_HITS), 4); /* 11 5 3 1 */
    scene_run(variant, "tick=0,take=all", 1, 20, scene_all_yield);
    assert_int_equal(stat_of(STAT_GRQ_HITS), 1);
    scene_run(variant, "tick=0,take=all,runnext=off,ring=16,overflow=all", 1, 16, scene_all_yield);
    assert_int_equal(stat_of(STAT_GRQ_HITS), 1); /* as many as a ring holds */
}

static void knob_yield(const char *variant)
{
    scene_run(variant, "yield=global", 1, 20, scene_all_yield);
    assert_true(stat_of(STAT_GRQ_HITS) > 0);
    scene_run(variant, "yield=local", 1, 20, scene_all_yield);
    assert_int_equal(stat_of(STAT_GRQ_HITS), 0);
    assert_int_equal(stat_of(STAT_GRQ_LOCKS), 0);
}

/* Deque variants ---------------------------------------------------------------------------- */

static void expect_order(const char *variant, const char *settings, void (*scene)(void *), int n,
                         const int *expected)
{
    scene_run(variant, settings, 1, n, scene);
    for (int i = 0; i < n; i++)
        assert_int_equal(trace->id[i], expected[i]);
}

static void nested_g(void *arg)
{
    struct numbered *self = arg;
    if (self->id > 0)
        numbered_go(self->trace, self->id - 1, nested_g);
    numbered_g(self);
}

/* G2 starts G1, which starts G0: three continuations in one deque, where continuations are queued.
 * */
static void scene_nested(void *arg)
{
    struct trace *self = arg;
    numbered_go(self, self->n - 1, nested_g);
    wg_wait(&self->done);
}

static void knob_owner_of_children(const char *variant)
{
    knob_owner_number(variant);
    expect_order(variant, "owner=lifo", scene_spawn, 4, (const int[]){3, 2, 1, 0});
    expect_order(variant, "owner=fifo", scene_spawn, 4, (const int[]){0, 1, 2, 3});
}

static void knob_owner_of_continuations(const char *variant)
{
    knob_owner_number(variant);
    expect_order(variant, "owner=lifo", scene_nested, 4, (const int[]){0, 1, 2, 3});
    expect_order(variant, "owner=fifo", scene_nested, 4, (const int[]){0, 3, 2, 1});
}

static void counting_g(void *arg)
{
    struct trace *self = arg;
    atomic_fetch_add(&self->count, 1);
    wg_done(&self->done);
}

static void yielding_alone_g(void *arg)
{
    gosched();
    bystander_g(arg);
}

/* Main starts so many others that the yielder waits in the global queue meanwhile. */
static void scene_flood(void *arg)
{
    struct trace *self = arg;
    wg_add(&self->done, self->n + 1);
    for (int i = 0; i <= self->n; i++)
        go(i == self->n / 2 ? yielding_alone_g : counting_g, self);
    wg_wait(&self->done);
}

static void knob_tick_of_deques(const char *variant)
{
    scene_run(variant, "tick=0", 1, 400, scene_flood);
    assert_int_equal(stat_of(STAT_TICK_POLLS), 0);
    assert_int_equal(trace->found[0], 400);
    scene_run(variant, "tick=8", 1, 400, scene_flood);
    assert_int_equal(stat_of(STAT_TICK_POLLS), 1);
    assert_in_range(trace->found[0], 200, 200 + 8);
}

/* Two workers: stealing --------------------------------------------------------------------- */

extern const struct workload workload_order;

/* The order workload's mode=steal: main keeps its worker busy while another takes all nine. */
static void scene_steal_nine(void *arg)
{
    struct trace *self = arg;
    void *params = calloc(1, workload_order.params_size);
    support_set(params, workload_order.params, "n=9,mode=steal");
    void *state = workload_order.init(params, 1);
    struct outcome out = {0};
    char why[200];
    workload_order.run(state, &out);
    if (workload_order.verify(state, &out, why, sizeof why))
        support_fail(__FILE__, __LINE__, "%s", why);
    snprintf((char *)self->id, sizeof self->id, "%s", order_text(state));
    workload_order.fini(state);
    free(params);
}

static void knob_steal(const char *variant)
{
    static const char *const rows[][2] = {{"steal=one", "0-8"},
                                          {"steal=quarter", "1 0 3 2 4-8"},
                                          {"steal=half", "3 0-2 5 4 6-8"},
                                          {"steal=threequarters", "5 0-4 7 6 8"},
                                          {"steal=all", "7 0-6 8"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        scene_run(variant, rows[i][0], 2, 0, scene_steal_nine);
        assert_string_equal((char *)trace->id, rows[i][1]);
    }
}

static void flag_g(void *arg)
{
    struct timed *self = arg;
    self->trace->found[self->i] = go_now();
    scene_ran_g(self);
}

/* The first G lies in the ring, the second in runnext; main's worker stays busy. */
static void two_for_a_thief(struct trace *self, struct timed *timed)
{
    for (int i = 0; i < 2; i++)
        timed[i] = (struct timed){self, i};
    wg_add(&self->done, 2);
    go(flag_g, &timed[0]);
    self->found[2] = go_now();
    go(flag_g, &timed[1]);
    AWAIT(atomic_load(&self->ran[0]));
}

static void scene_runnext_is_stolen(void *arg)
{
    struct trace *self = arg;
    struct timed timed[2];
    two_for_a_thief(self, timed);
    AWAIT(atomic_load(&self->ran[1]));
    wg_wait(&self->done);
}

static void scene_runnext_is_private(void *arg)
{
    struct trace *self = arg;
    struct timed timed[2];
    two_for_a_thief(self, timed);
    AWAIT(idle_ps_now() > 0); /* the thief has searched, and given up */
    self->found[3] = atomic_load(&self->ran[1]);
    wg_wait(&self->done);
}

/* All that there is to run lies in main's runnext, where the thief must not take it. found[0]: how
 * often it began to search until it had slept for a while. */
static void scene_thief_sleeps(void *arg)
{
    struct trace *self = arg;
    struct timed timed[2];
    uint64_t spins = stat_now(STAT_SPINS);
    two_for_a_thief(self, timed);
    AWAIT(stat_now(STAT_SLEEPS) > stat_now(STAT_WAKEUPS)); /* it sleeps now */
    go_work(1000000);
    self->found[0] = (int64_t)(stat_now(STAT_SPINS) - spins);
    self->found[3] = atomic_load(&self->ran[1]);
    wg_wait(&self->done);
}

/* With fence=submitter nobody but a thief of runnext makes all cores fence. */
static void knob_runnext_owner(const char *variant)
{
    scene_run(variant, "runnext_owner=atomic,fence=submitter,backoff_ns=0", 2, 0,
              scene_runnext_is_stolen);
    assert_true(stat_of(STAT_RUNNEXT_STEALS) >= 1);
    assert_int_equal(stat_of(STAT_FENCES_ALL), 0);
    scene_run(variant, "runnext_owner=plain,fence=submitter,backoff_ns=0", 2, 0,
              scene_runnext_is_stolen);
    assert_true(stat_of(STAT_RUNNEXT_STEALS) >= 1);
    assert_true(stat_of(STAT_FENCES_ALL) >= stat_of(STAT_RUNNEXT_STEALS));
}

static void knob_backoff_ns(const char *variant)
{
    scene_run(variant, "backoff_ns=0", 2, 0, scene_runnext_is_stolen);
    assert_true(stat_of(STAT_RUNNEXT_STEALS) >= 1);
    scene_run(variant, "backoff_ns=20000000", 2, 0, scene_runnext_is_stolen);
    assert_true(stat_of(STAT_RUNNEXT_STEALS) >= 1);
    assert_true(trace->found[1] - trace->found[2] >= 20000000);
    scene_run(variant, "backoff_ns=never", 2, 0, scene_runnext_is_private);
    assert_int_equal(stat_of(STAT_RUNNEXT_STEALS), 0);
    assert_int_equal(trace->found[3], 0);
    scene_run(variant, "backoff_ns=never", 2, 0, scene_thief_sleeps);
    assert_int_equal(stat_of(STAT_RUNNEXT_STEALS), 0);
    assert_int_equal(trace->found[3], 0);
    assert_in_range(trace->found[0], 1, 8); /* to take the first G, and before each sleep */
}

static void scene_steal_one_by_one(void *arg)
{
    struct trace *self = arg;
    struct timed timed = {self, 0};
    for (int i = 0; i < self->n; i++) {
        atomic_store(&self->ran[0], false);
        wg_add(&self->done, 1);
        go(flag_g, &timed);
        AWAIT(atomic_load(&self->ran[0]));
    }
    wg_wait(&self->done);
}

/* One victim, and what it has is in runnext: each search looks there once a pass. */
static void expect_passes(const char *variant, const char *settings, uint64_t passes)
{
    scene_run(variant, settings, 2, 5, scene_steal_one_by_one);
    uint64_t searches = stat_of(STAT_STEALS) + stat_of(STAT_STEALS_FAILED);
    assert_true(stat_of(STAT_STEALS) >= 5);
    assert_in_range(stat_of(STAT_VICTIM_PROBES), passes * (searches - 1), passes * searches);
}

static void knob_passes(const char *variant)
{
    expect_passes(variant, "passes=1", 1);
    expect_passes(variant, "passes=4", 4);
    expect_passes(variant, "passes=9", 9);
}

/* The runtime: spinning and waking ---------------------------------------------------------- */

static void held_g(void *arg)
{
    struct timed *self = arg;
    atomic_store(&self->trace->ran[self->i], true);
    AWAIT(atomic_load(&self->trace->release[self->i]));
    wg_done(&self->trace->done);
}

/* Others that spin, besides the i-th worker that runs out of work: of 4, 3 and 2 busy workers 2, 1
 * and 1 are half, less than half and half. */
static const int32_t others_spin[3] = {2, 1, 1};

/* Four workers, all busy; three of them run out of work one after the other, while main counts
 * itself as the others that spin. found[i]: has the i-th one spun? */
static void scene_run_out_of_work(void *arg)
{
    struct trace *self = arg;
    struct sched *sched = this_sched();
    struct timed held[3];
    wg_add(&self->done, 3);
    for (int i = 0; i < 3; i++) {
        held[i] = (struct timed){self, i};
        go(held_g, &held[i]);
        AWAIT(atomic_load(&self->ran[i]));
    }
    await_spinning_and_idle(0, 0);
    for (int i = 0; i < 3; i++) {
        uint64_t spins = stat_now(STAT_SPINS);
        atomic_fetch_add(&sched->spinning, others_spin[i]);
        atomic_store(&self->release[i], true);
        await_spinning_and_idle(others_spin[i], i + 1);
        self->found[i] = stat_now(STAT_SPINS) > spins;
        atomic_fetch_sub(&sched->spinning, others_spin[i]);
    }
    wg_wait(&self->done);
}

static void knob_spinners(const char *variant)
{
    static const struct {
        const char *settings;
        int64_t spun[3];
    } rows[] = {
        {"spinners=none", {0, 0, 0}}, {"spinners=half", {0, 1, 0}}, {"spinners=all", {1, 1, 1}}};
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        scene_run(variant, rows[row].settings, 4, 0, scene_run_out_of_work);
        for (int i = 0; i < 3; i++)
            assert_int_equal(trace->found[i], rows[row].spun[i]);
    }
}

/* Two workers, both busy; one runs out of work. found[0]: when; found[1]: when it went to sleep. */
static void scene_spin_then_sleep(void *arg)
{
    struct trace *self = arg;
    struct timed held = {self, 0};
    wg_add(&self->done, 1);
    go(held_g, &held);
    AWAIT(atomic_load(&self->ran[0]));
    self->found[2] = (int64_t)stat_now(STAT_SPIN_ROUNDS);
    self->found[0] = go_now();
    atomic_store(&self->release[0], true);
    AWAIT(stat_now(STAT_SLEEPS) > 0);
    self->found[1] = go_now();
    self->found[3] = (int64_t)stat_now(STAT_SPIN_ROUNDS);
    wg_wait(&self->done);
}

static void knob_spin_ns(const char *variant)
{
    scene_run(variant, "spin_ns=0", 2, 0, scene_spin_then_sleep);
    assert_in_range(trace->found[3] - trace->found[2], 0, 4);
    scene_run(variant, "spin_ns=20000000", 2, 0, scene_spin_then_sleep);
    assert_true(trace->found[1] - trace->found[0] >= 20000000);
}

static void knob_look_ns(const char *variant)
{
    scene_run(variant, "look_ns=20000000", 2, 0, scene_spin_then_sleep);
    assert_true(trace->found[1] - trace->found[0] >= 20000000);
    assert_in_range(trace->found[3] - trace->found[2], 0, 4);
}

static void knob_dawdle_ns(const char *variant)
{
    scene_run(variant, "dawdle_ns=20000000", 2, 0, scene_spin_then_sleep);
    assert_true(trace->found[1] - trace->found[0] >= 20000000);
    assert_in_range(trace->found[3] - trace->found[2], 0, 4);
}

enum { WAKE_WORKERS = 8, WAKE_OTHERS = WAKE_WORKERS - 2 };

/* A G begins elsewhere, and all workers but its and main's go idle again, or for the first time.
 * found[0]: threads started and workers woken until then; found[1]: searches begun until then;
 * found[2]: workers woken by that G and one more. */
static void scene_wake(void *arg)
{
    struct trace *self = arg;
    struct timed held[2] = {{self, 0}, {self, 1}};
    uint64_t wakeups = stat_now(STAT_WAKEUPS);
    wg_add(&self->done, 2);
    go(held_g, &held[0]);
    AWAIT(atomic_load(&self->ran[0]));
    await_spinning_and_idle(0, WAKE_OTHERS);
    self->found[0] = (int64_t)(stat_now(STAT_THREADS) + stat_now(STAT_WAKEUPS) - wakeups);
    self->found[1] = (int64_t)stat_now(STAT_SPINS);
    go(held_g, &held[1]);
    AWAIT(atomic_load(&self->ran[1]));
    self->found[2] = (int64_t)(stat_now(STAT_WAKEUPS) - wakeups);
    atomic_store(&self->release[0], true);
    atomic_store(&self->release[1], true);
    wg_wait(&self->done);
}

enum { NAPS = 4 };

static void napping_g(void *arg)
{
    struct timed *self = arg;
    int64_t ns = 1000000 * (self->i + 1), start = go_now();
    go_sleep(ns);
    CHECK(go_now() - start >= ns);
    wg_done(&self->trace->done);
}

/* All that there is sleeps, and so does every worker, until a timer is due; n times at least, and
 * until a worker has indeed slept. */
void scene_all_nap(void *arg)
{
    struct trace *self = arg;
    struct timed timed[NAPS];
    for (int round = 0; round < self->n || stat_now(STAT_SLEEPS) == 0; round++) {
        wg_add(&self->done, NAPS);
        for (int i = 0; i < NAPS; i++) {
            timed[i] = (struct timed){self, i};
            go(napping_g, &timed[i]);
        }
        wg_wait(&self->done);
    }
}

/* A chain starts one worker for the G, and that one starts one more. Whoever is woken together with
 * all others and finds nothing begins to search once; not each need have slept, or be a new thread,
 * since one may be woken twice before the last one is. */
static void knob_wake(const char *variant)
{
    scene_run(variant, "wake=chain", WAKE_WORKERS, 0, scene_wake);
    assert_in_range(trace->found[0], 2, 4);
    scene_run(variant, "wake=all,spinners=all", WAKE_WORKERS, 0, scene_wake);
    assert_true(trace->found[1] >= WAKE_OTHERS);
    scene_finds(variant, "wake=none", WAKE_WORKERS, 0, scene_wake, WAKE_WORKERS);
    assert_int_equal(trace->found[2], 0);
    for (int workers = 1; workers <= 4; workers *= 2)
        scene_run(variant, "wake=none", workers, 4, scene_all_nap);
}

#include "knobs_io.h"

/* Every knob of every variant --------------------------------------------------------------- */

/* variant NULL: of any; RUNTIME: what the knob does is the runtime's, in the same code for all;
 * QUEUE: the local queue's, which gmp and perm share. The first row that fits is the test. */
static const char RUNTIME[] = "runtime", QUEUE[] = "queue";
static const struct knob_test {
    const char *knob, *variant;
    void (*test)(const char *variant);
} knob_tests[] = {
    {"runnext", NULL, knob_runnext},
    {"runnext_cap", QUEUE, knob_runnext_cap},
    {"runnext_owner", QUEUE, knob_runnext_owner},
    {"inherit", QUEUE, knob_inherit},
    {"runnext_wake", NULL, knob_runnext_wake},
    {"tick", "tasksteal", knob_tick_of_deques},
    {"tick", "contsteal", knob_tick_of_deques},
    {"tick", NULL, knob_tick},
    {"take", QUEUE, knob_take},
    {"ring", QUEUE, knob_ring},
    {"ring_order", QUEUE, knob_ring_order},
    {"globq", QUEUE, knob_globq},
    {"overflow", QUEUE, knob_overflow},
    {"overflow_end", QUEUE, knob_overflow_end},
    {"steal", NULL, knob_steal},
    {"search", NULL, knob_search},
    {"steal_age_ns", NULL, knob_steal_age_ns},
    {"slot_age_ns", "permits", knob_slot_age_ns},
    {"victim", "gmp", knob_victim_of_ps},
    {"victim", NULL, knob_victim},
    {"idle_mask", "gmp", knob_idle_mask},
    {"globals", "gmp", knob_globals},
    {"inject", "gmp", knob_inject},
    {"passes", NULL, knob_passes},
    {"backoff_ns", NULL, knob_backoff_ns},
    {"yield", NULL, knob_yield},
    {"deque", NULL, knob_deque},
    {"owner", "tasksteal", knob_owner_of_children},
    {"promote", "tasksteal", knob_promote},
    {"beat_ns", "tasksteal", knob_beat_ns},
    {"frames", "contsteal", knob_frames},
    {"join", "contsteal", knob_join},
    {"owner", "contsteal", knob_owner_of_continuations},
    {"spinners", RUNTIME, knob_spinners},
    {"spin_ns", RUNTIME, knob_spin_ns},
    {"wake", RUNTIME, knob_wake},
    {"recheck", RUNTIME, knob_recheck},
    {"wake_delay_ns", NULL, knob_wake_delay_ns},
    {"width", NULL, knob_width},
    {"look_ns", RUNTIME, knob_look_ns},
    {"dawdle_ns", RUNTIME, knob_dawdle_ns},
    {"idle", RUNTIME, knob_idle},
    {"gs_cache", RUNTIME, knob_gs_cache},
    {"lock", "grq", knob_lock},
    {"queue", "grq", knob_queue},
    {"queue", "gmp", knob_queue_of_ps},
    {"relax", "grq", knob_relax},
    {"block", "static", knob_block},
    {"wait", "static", knob_wait},
    {"mailbox", "static", knob_mailbox},
    {"deal", "static", knob_deal},
    {"starve_ns", RUNTIME, knob_starve_ns},
    {"mutex_spin", RUNTIME, knob_mutex_spin},
    {"sysmon", RUNTIME, knob_sysmon},
    {"sysmon_ns", RUNTIME, knob_sysmon_ns},
    {"sysmon_rounds", RUNTIME, knob_sysmon_rounds},
    {"sysmon_max_ns", RUNTIME, knob_sysmon_max_ns},
    {"preempt", RUNTIME, knob_preempt},
    {"slice_ns", RUNTIME, knob_slice_ns},
    {"calls", RUNTIME, knob_calls},
    {"call_long_ns", RUNTIME, knob_call_long_ns},
    {"lenient_ns", RUNTIME, knob_lenient_ns},
    {"returns", RUNTIME, knob_returns},
    {"returns_to", "gmp", knob_returns_to},
    {"threads_max", RUNTIME, knob_threads_max},
    {"timers", RUNTIME, knob_timers},
    {"poll_round", RUNTIME, knob_poll_round},
    {"slack_ns", RUNTIME, knob_slack_ns},
    {"netpoll", RUNTIME, knob_netpoll},
    {"netpoll_trigger", RUNTIME, knob_netpoll_trigger},
    {"netpoll_batch", RUNTIME, knob_netpoll_batch},
    {"netpoll_place", RUNTIME, knob_netpoll_place},
    {"watch", RUNTIME, knob_watch},
    {"fence", RUNTIME, knob_fence},
    {"fence_often_ns", RUNTIME, knob_fence_often_ns},
    {NULL, NULL, NULL},
};

struct knob_case {
    char name[64];
    const char *variant;
    const struct knob_test *test;
};

static const struct knob_test *knob_test_of(const char *knob, const char *variant)
{
    for (const struct knob_test *row = knob_tests; row->knob; row++)
        if (strcmp(row->knob, knob) == 0 &&
            (!row->variant || row->variant == RUNTIME || row->variant == QUEUE ||
             strcmp(row->variant, variant) == 0))
            return row;
    return NULL;
}

/* Shows a knob of the queue under gmp; one of the runtime under gmp, and by turns under one of
 * the others. */
static bool knob_is_due(const struct knob_test *test, const struct sched_ops *ops)
{
    size_t others = 0, place = 0;
    bool is_gmp = strcmp(ops->name, "gmp") == 0;
    if (test->variant == QUEUE)
        return is_gmp;
    if (test->variant != RUNTIME || is_gmp)
        return true;
    for (size_t v = 0; sched_variants[v]; v++) {
        const struct sched_ops *other = sched_variants[v];
        if (strcmp(other->name, "gmp") == 0 || !support_takes(other->knobs, test->knob))
            continue;
        if (other == ops)
            place = others;
        others++;
    }
    return others > 0 && (size_t)(test - knob_tests) % others == place;
}

/* A knob without a test is a knob that nobody has shown to do anything. */
static void knob_case_run(void **state)
{
    const struct knob_case *self = *state;
    if (!self->test)
        fail_msg("%s has no test", self->name);
    self->test->test(self->variant);
}

int main(void)
{
    enum { CASES_MAX = 512 };
    static struct knob_case cases[CASES_MAX];
    static struct CMUnitTest tests[CASES_MAX];
    size_t n = 0;
    for (size_t v = 0; sched_variants[v]; v++)
        for (const struct param *knob = sched_variants[v]->knobs; knob->name && n < CASES_MAX;
             knob++) {
            const char *variant = sched_variants[v]->name;
            const struct knob_test *test = knob_test_of(param_key(knob), variant);
            if (test && !knob_is_due(test, sched_variants[v]))
                continue;
            struct knob_case *self = &cases[n];
            self->variant = variant;
            self->test = test;
            snprintf(self->name, sizeof self->name, "knob_%s of %s", param_key(knob),
                     self->variant);
            tests[n++] = (struct CMUnitTest){
                .name = self->name, .test_func = knob_case_run, .initial_state = self};
        }
    return _cmocka_run_group_tests("knobs", tests, n, NULL, NULL);
}
