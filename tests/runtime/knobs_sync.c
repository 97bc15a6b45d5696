/* knobs_sync.c - the knobs of mutexes, idle workers and the caches of goroutines; see
 * test_knobs.c. */
#include "gqueue.h"
#include "knob_scenes.h"
#include "width.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { STATE_STARVING = 4, STATE_WAITER_SHIFT = 3 };

/* A mutex, and who wants it. */
struct contest {
    struct trace *trace;
    struct mutex mu;
    _Atomic int64_t wanted_ns;
    int taken; /* by contenders; protected by mu */
};

static uint32_t contest_waiters(struct contest *self)
{
    return atomic_load(&self->mu.state) >> STATE_WAITER_SHIFT;
}

static void contender_g(void *arg)
{
    struct contest *self = arg;
    mutex_lock(&self->mu);
    self->taken++;
    mutex_unlock(&self->mu);
    wg_done(&self->trace->done);
}

/* True, with the mutex taken, if it was free and its contender had not had it yet. */
static bool contest_barge(struct contest *self, int taken)
{
    if (!mutex_try_lock(&self->mu))
        return false;
    if (self->taken == taken)
        return true;
    mutex_unlock(&self->mu);
    return false;
}

static void contest_await_waiter(struct contest *self)
{
    AWAIT((gosched(), contest_waiters(self) > 0));
}

static int64_t contest_is_starving(struct contest *self)
{
    return (atomic_load(&self->mu.state) & STATE_STARVING) != 0;
}

/* found[0]: is who has just queued to be handed the mutex? n > 0, found[1]: and who lost it to
 * another after 2 ms and has queued again? Threads may be fast enough not to lose: then anew. */
static void scene_starve(void *arg)
{
    struct trace *self = arg;
    struct contest contest = {.trace = self};
    bool lost = false;
    while (!lost) {
        mutex_lock(&contest.mu);
        wg_add(&self->done, 1);
        go(contender_g, &contest);
        contest_await_waiter(&contest);
        int taken = contest.taken;
        self->found[0] = contest_is_starving(&contest);
        int64_t start = go_now();
        while (go_now() < start + 2000000)
            go_work(64);
        mutex_unlock(&contest.mu);
        lost = self->n == 0 || contest_barge(&contest, taken);
        if (!lost)
            wg_wait(&self->done);
    }
    if (self->n > 0) {
        contest_await_waiter(&contest);
        self->found[1] = contest_is_starving(&contest);
        mutex_unlock(&contest.mu);
    }
    wg_wait(&self->done);
}

enum { CROWD = 8, CROWD_LOCKS = 500 };

static void crowd_g(void *arg)
{
    struct contest *self = arg;
    for (int i = 0; i < CROWD_LOCKS; i++) {
        mutex_lock(&self->mu);
        self->taken++;
        go_work(20);
        mutex_unlock(&self->mu);
        go_work(20);
    }
    wg_done(&self->trace->done);
}

/* found[0]: how often the members of a crowd had the mutex. */
static void scene_crowd(void *arg)
{
    struct trace *self = arg;
    struct contest contest = {.trace = self};
    wg_add(&self->done, CROWD);
    for (int i = 0; i < CROWD; i++)
        go(crowd_g, &contest);
    wg_wait(&self->done);
    self->found[0] = contest.taken;
}

/* Handed over or not, by any mixture of who is awake and who is handed it, nobody is left out. */
static void expect_crowd_served(const char *variant, const char *settings)
{
    scene_finds(variant, settings, 4, 0, scene_crowd, CROWD * CROWD_LOCKS);
}

void knob_starve_ns(const char *variant)
{
    expect_crowd_served(variant, "starve_ns=0");
    expect_crowd_served(variant, "starve_ns=1000");
    expect_crowd_served(variant, "starve_ns=never");
    scene_finds(variant, "starve_ns=0", 1, 0, scene_starve, 1);
    scene_finds(variant, "starve_ns=1000000", 1, 1, scene_starve, 0);
    assert_int_equal(trace->found[1], 1);
    scene_finds(variant, "starve_ns=never", 1, 1, scene_starve, 0);
    assert_int_equal(trace->found[1], 0);
}

static void late_contender_g(void *arg)
{
    struct contest *self = arg;
    atomic_store(&self->trace->ran[0], true);
    AWAIT(atomic_load(&self->trace->release[0]));
    int64_t nobody = 0;
    atomic_compare_exchange_strong(&self->wanted_ns, &nobody, go_now());
    contender_g(self);
}

/* found[0]: how long the mutex was wanted before a contender queued, counted from the first that
 * wanted it: a second one may come to it only when the first has queued. A variant that deals its
 * goroutines out needs one for each worker, lest the only one be main's. */
static void scene_contend(void *arg)
{
    struct trace *self = arg;
    struct contest contest = {.trace = self};
    mutex_lock(&contest.mu);
    for (int i = 0; i < (this_sched()->ops->blocks ? 2 : 1); i++) {
        wg_add(&self->done, 1);
        go(late_contender_g, &contest);
    }
    AWAIT(atomic_load(&self->ran[0]));
    atomic_store(&self->release[0], true);
    AWAIT(contest_waiters(&contest) > 0);
    self->found[0] = go_now() - atomic_load(&contest.wanted_ns);
    mutex_unlock(&contest.mu);
    wg_wait(&self->done);
}

/* 300,000 pauses of at least two cycles each, at less than 6 GHz. */
void knob_mutex_spin(const char *variant)
{
    scene_run(variant, "mutex_spin=0", 2, 0, scene_contend);
    scene_run(variant, "mutex_spin=10000", 2, 0, scene_contend);
    assert_true(trace->found[0] >= 100000);
}

enum { IDLERS = 3 };

static void idler_g(void *arg)
{
    struct timed *self = arg;
    self->trace->id[self->i] = machine_self()->p->id;
    atomic_store(&self->trace->ran[self->i], true);
    AWAIT(atomic_load(&self->trace->release[self->i]));
    wg_done(&self->trace->done);
}

/* Three workers go idle one after the other, id[0..2], and one is woken for a goroutine: id[3], or
 * where the child runs first for main, which is then elsewhere than before. */
static void scene_idle_order(void *arg)
{
    struct trace *self = arg;
    struct timed timed[IDLERS + 1];
    wg_add(&self->done, IDLERS + 1);
    for (int i = 0; i < IDLERS; i++) {
        timed[i] = (struct timed){self, i};
        go(idler_g, &timed[i]);
        AWAIT(atomic_load(&self->ran[i]));
    }
    for (int i = 0; i < IDLERS; i++) {
        uint64_t sleeps = stat_now(STAT_SLEEPS);
        atomic_store(&self->release[i], true);
        await_spinning_and_idle(0, i + 1);
        AWAIT(stat_now(STAT_SLEEPS) > sleeps); /* else it may find the next goroutine itself */
    }
    int before = machine_self()->p->id;
    timed[IDLERS] = (struct timed){self, IDLERS};
    go(idler_g, &timed[IDLERS]);
    AWAIT(atomic_load(&self->ran[IDLERS]));
    if (machine_self()->p->id != before)
        self->id[IDLERS] = machine_self()->p->id;
    atomic_store(&self->release[IDLERS], true);
    wg_wait(&self->done);
}

void knob_idle(const char *variant)
{
    scene_run(variant, "idle=lifo", IDLERS + 1, 0, scene_idle_order);
    assert_int_equal(trace->id[IDLERS], trace->id[IDLERS - 1]);
    scene_run(variant, "idle=fifo", IDLERS + 1, 0, scene_idle_order);
    assert_int_equal(trace->id[IDLERS], trace->id[0]);
}

/* found[0]: how often n goroutines that all live at once made their starter ask for free ones. */
static void scene_all_alive(void *arg)
{
    struct trace *self = arg;
    struct contest contest = {.trace = self};
    mutex_lock(&contest.mu);
    wg_add(&self->done, self->n);
    uint64_t before = stat_now(STAT_GS_LOCKS);
    for (int i = 0; i < self->n; i++)
        go(contender_g, &contest);
    self->found[0] = (int64_t)(stat_now(STAT_GS_LOCKS) - before);
    mutex_unlock(&contest.mu);
    wg_wait(&self->done);
}

void knob_gs_cache(const char *variant)
{
    scene_finds(variant, "gs_cache=2", 1, 64, scene_all_alive, 64);
    scene_run(variant, "gs_cache=16", 1, 64, scene_all_alive);
    assert_in_range(trace->found[0], 7, 8);
    scene_finds(variant, "gs_cache=256", 1, 64, scene_all_alive, 0);
}

enum { YIELDERS = 8, YIELDS = 500 };

static void yielder_g(void *arg)
{
    struct trace *self = arg;
    for (int i = 0; i < YIELDS; i++) {
        gosched();
        atomic_fetch_add(&self->count, 1);
    }
    wg_done(&self->done);
}

/* found[0]: which lock it is; found[1]: how many tickets it has served. */
static void scene_lock(void *arg)
{
    struct trace *self = arg;
    struct globq *globq = this_sched()->variant;
    wg_add(&self->done, YIELDERS);
    for (int i = 0; i < YIELDERS; i++)
        go(yielder_g, self);
    wg_wait(&self->done);
    self->found[0] = machine_self()->lock_node.kind;
    self->found[1] = atomic_load(&globq->lock.serving);
}

/* Each algorithm serves all of a crowd on four workers, and is the one that was asked for: tickets
 * are counted. */
void knob_lock(const char *variant)
{
    for (int kind = 0; qlock_words[kind]; kind++) {
        char settings[32];
        snprintf(settings, sizeof settings, "lock=%s", qlock_words[kind]);
        scene_run(variant, settings, 4, 0, scene_lock);
        assert_int_equal(trace->count, YIELDERS * YIELDS);
        assert_int_equal(trace->found[0], kind);
        if (kind == QLOCK_TICKET)
            assert_true(trace->found[1] >= YIELDERS * YIELDS);
        else
            assert_int_equal(trace->found[1], 0);
    }
}

/* Queued while a worker is on its way to sleep ------------------------------------------------ */

enum { DAWDLE_NS = 20000000 };

static void go_elsewhere(struct trace *self, struct timed *timed)
{
    atomic_store(&self->ran[timed->i], false);
    wg_add(&self->done, 1);
    go_global(scene_ran_g, timed);
}

static void work_for(int64_t ns)
{
    for (int64_t start = go_now(); go_now() < start + ns;)
        go_work(64);
}

/* A sleeper has left the second G lying. A worker that it woke is not idle, or has run it. */
static bool is_lost(struct trace *self, uint64_t sleeps)
{
    return stat_now(STAT_SLEEPS) > sleeps && atomic_load(&this_sched()->idle_ps) == 1 &&
           !atomic_load(&self->ran[1]);
}

/* Two workers. Main keeps its own, the other one runs a G, finds nothing more, and dawdles; then
 * there is a second G. n times; found[0]: how often it was lost. Whoever is too late wakes the
 * sleeper, and loses nothing. */
static void scene_queue_behind_dawdler(void *arg)
{
    struct trace *self = arg;
    struct timed timed[2] = {{self, 0}, {self, 1}};
    for (int i = 0; i < self->n && self->found[0] == 0; i++) {
        await_spinning_and_idle(0, 1); /* so that it is woken for the first one */
        go_elsewhere(self, &timed[0]);
        AWAIT(atomic_load(&self->ran[0]));
        work_for(DAWDLE_NS / 4);
        uint64_t sleeps = stat_now(STAT_SLEEPS);
        go_elsewhere(self, &timed[1]);
        AWAIT(atomic_load(&self->ran[1]) || is_lost(self, sleeps));
        self->found[0] += !atomic_load(&self->ran[1]);
        wg_wait(&self->done);
    }
}

void knob_recheck(const char *variant)
{
    scene_finds(variant, "recheck=after,dawdle_ns=20000000", 2, 5, scene_queue_behind_dawdler, 0);
    scene_finds(variant, "recheck=before,dawdle_ns=20000000", 2, 100, scene_queue_behind_dawdler,
                1);
    scene_finds(variant, "recheck=none,dawdle_ns=20000000", 2, 100, scene_queue_behind_dawdler, 1);
}

/* Wake-ups that are put off ------------------------------------------------------------------- */

/* Two workers, one of which is idle. With n main keeps its own, so only the other can run the G;
 * found[0]: how late. Without n main gives way, and its own worker runs the G. */
static void scene_queue_beside_idle_worker(void *arg)
{
    struct trace *self = arg;
    struct timed timed = {self, 0};
    await_spinning_and_idle(0, 1);
    int64_t start = go_now();
    go_elsewhere(self, &timed);
    if (self->n > 0)
        AWAIT(atomic_load(&self->ran[0]));
    self->found[0] = go_now() - start;
    wg_wait(&self->done);
    while (self->n == 0 && stat_now(STAT_WAKES_DROPPED) == 0)
        go_sleep(1000000);
}

void knob_wake_delay_ns(const char *variant)
{
    scene_run(variant, "wake_delay_ns=0", 2, 1, scene_queue_beside_idle_worker);
    assert_int_equal(stat_of(STAT_WAKES_DELAYED), 0);
    scene_run(variant, "wake_delay_ns=20000000", 2, 1, scene_queue_beside_idle_worker);
    assert_true(trace->found[0] >= 20000000);
    assert_true(stat_of(STAT_WAKES_DELAYED) >= 1);
    scene_run(variant, "wake_delay_ns=1000000000", 2, 0, scene_queue_beside_idle_worker);
    assert_true(stat_of(STAT_WAKES_DELAYED) >= stat_of(STAT_WAKES_DROPPED));
}

/* Two workers. Main keeps its own, so that only the other one can run the G. Then there is hardly
 * any load, until the width is one again. */
static void scene_load_comes_and_goes(void *arg)
{
    struct trace *self = arg;
    self->n = 1;
    scene_queue_beside_idle_worker(arg);
    while (stat_now(STAT_WIDTH_SHRUNK) == 0)
        go_sleep(1000000);
}

void knob_width(const char *variant)
{
    scene_run(variant, "width=all", 2, 1, scene_queue_beside_idle_worker);
    assert_int_equal(stat_of(STAT_WAKES_DELAYED), 0);
    assert_int_equal(stat_of(STAT_WIDTH_GROWN), 0);
    scene_run(variant, "width=load", 2, 1, scene_load_comes_and_goes);
    assert_true(trace->found[0] >= WIDTH_WAIT_NS);
    assert_true(stat_of(STAT_WIDTH_GROWN) >= 1 && stat_of(STAT_WIDTH_SHRUNK) >= 1);
    assert_true(stat_of(STAT_WAKES_DELAYED) >= 1);
}
