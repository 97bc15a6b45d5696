/* test_timers.c - the heaps of timers and struct timer: orders, what disarming tells, memory.
 *
 * Scenes run in a child (support.h). With one worker nothing is served before main parks or yields,
 * so orders are exact.
 */
#include "internal.h"
#include "tests/support/support.h"
#include "timer.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MANY = 200, DEADLINES = 5, STORM = 100000, SPACE_MIN = 64 };

static const int64_t hour = INT64_C(3600) * 1000000000;

static void scene_run_with(const char *variant, const char *settings, int workers,
                           void (*scene)(void *))
{
    static struct support_report report;
    struct support_run run = {
        .variant = variant, .settings = settings, .workers = workers, .seed = 11, .fn = scene};
    support_run(&run, &report);
    if (report.status != 0 || report.live != 0)
        fail_msg("%s, %d workers: status %d, %" PRId64 " Gs alive\n%s", variant, workers,
                 report.status, report.live, report.output);
}

static void scene_run(const char *variant, int workers, void (*scene)(void *))
{
    scene_run_with(variant, NULL, workers, scene);
}

static const char *without_slices(const char *variant)
{
    return support_takes(support_variant(variant)->knobs, "preempt") ? "preempt=none" : NULL;
}

static uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Order ------------------------------------------------------------------------------------- */

/* A timer that was armed, and its place in the order in which they happened. */
struct listed {
    struct timer timer;
    int64_t when, turn; /* turn -1: not armed */
    int place;          /* -1: has not happened */
};

static struct {
    struct listed timer[MANY];
    int64_t turns;
    int happened;
} list;

static void list_happens(struct timer *timer, int64_t now)
{
    struct listed *self = timer->arg;
    CHECK(self->turn >= 0 && self->place < 0 && now >= self->when);
    self->place = list.happened++;
}

static void list_arm(struct listed *self, int64_t when)
{
    bool was_armed = timer_arm(machine_self(), &self->timer, when, 0);
    CHECK(was_armed == (self->turn >= 0));
    self->when = when;
    self->turn = list.turns++;
}

static void list_disarm(struct listed *self)
{
    CHECK(timer_disarm(&self->timer) == (self->turn >= 0 ? TIMER_STOPPED : TIMER_IDLE));
    self->turn = -1;
}

static bool is_before(const struct listed *a, const struct listed *b)
{
    return a->when != b->when ? a->when < b->when : a->turn < b->turn;
}

static void list_check(void)
{
    for (int i = 0; i < MANY; i++)
        CHECK((list.timer[i].place >= 0) == (list.timer[i].turn >= 0));
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < MANY; k++)
            if (list.timer[i].place >= 0 && list.timer[k].place >= 0)
                CHECK(i == k || is_before(&list.timer[i], &list.timer[k]) ==
                                    (list.timer[i].place < list.timer[k].place));
}

/* Armed, armed again for sooner and for later, and disarmed, at random; then all at once. */
static void order_main(void *arg)
{
    (void)arg;
    uint64_t rng = 5;
    for (int round = 0; round < 20; round++) {
        int64_t base = go_now() - 1000;
        list.happened = 0;
        for (int i = 0; i < MANY; i++) {
            list.timer[i].turn = list.timer[i].place = -1;
            timer_init(&list.timer[i].timer, list_happens, &list.timer[i]);
        }
        for (int step = 0; step < 6 * MANY; step++) {
            uint64_t dice = random_next(&rng);
            struct listed *one = &list.timer[dice % MANY];
            if (dice / MANY % 4 == 0)
                list_disarm(one);
            else
                list_arm(one, base + (int64_t)(dice / MANY / 4 % (uint64_t)(round * 10 + 1)));
        }
        gosched();
        list_check();
    }
    CHECK(!timers_any(machine_self()));
}

static void timers_happen_in_the_order_of_time_and_arming(void **state)
{
    (void)state;
    scene_run("uthread", 1, order_main);
    scene_run("gmp", 1, order_main);
    scene_run("static", 1, order_main);
}

struct mixed {
    struct timer timer;
    struct waitgroup done;
    struct g *gp;
    int at, order[4];
};

static void mixed_call(struct timer *timer, int64_t now)
{
    struct mixed *self = timer->arg;
    (void)now;
    self->order[self->at++] = 2;
}

static void mixed_sleeper(void *arg)
{
    struct mixed *self = arg;
    self->gp = machine_self()->curg;
    self->gp->wait_reason = WAIT_SLEEP;
    g_park();
    self->order[self->at++] = 1;
    wg_done(&self->done);
}

/* A timer between two sleepers; the sleeper before it has been readied when it is called, and that
 * after it has not. */
static void mixed_main(void *arg)
{
    (void)arg;
    struct mixed *self = go_alloc_zeroed(sizeof *self);
    struct m *m = machine_self();
    struct g *gp[2];
    int64_t due = go_now() - 1;
    timer_init(&self->timer, mixed_call, self);
    wg_add(&self->done, 2);
    for (int i = 0; i < 2; i++) {
        self->gp = NULL;
        go(mixed_sleeper, self);
        while (!self->gp)
            gosched();
        gp[i] = self->gp;
    }
    timers_add(m, gp[0], due);
    timer_arm(m, &self->timer, due, 0);
    timers_add(m, gp[1], due);
    wg_wait(&self->done);
    CHECK(self->at == 3 && self->order[0] == 2 && self->order[1] == 1 && self->order[2] == 1);
    go_free(self);
}

static void timers_and_sleepers_share_a_heap(void **state)
{
    (void)state;
    scene_run("uthread", 1, mixed_main);
}

/* Ending a timer ---------------------------------------------------------------------------- */

struct held {
    struct timer timer;
    _Atomic bool runs, release, returned;
    _Atomic int calls;
};

static void held_call(struct timer *timer, int64_t now)
{
    struct held *self = timer->arg;
    (void)now;
    atomic_fetch_add(&self->calls, 1);
    atomic_store(&self->runs, true);
    AWAIT(atomic_load(&self->release));
    atomic_store(&self->returned, true);
}

/* Main's worker is busy, so the other one serves its heap; unless main's slice ends meanwhile, so
 * there are none. */
static void running_main(void *arg)
{
    (void)arg;
    struct held *self = go_alloc_zeroed(sizeof *self);
    struct m *m = machine_self();
    timer_init(&self->timer, held_call, self);
    CHECK(timer_disarm(&self->timer) == TIMER_IDLE);
    CHECK(!timer_arm(m, &self->timer, go_now() + hour, 0));
    CHECK(timer_disarm(&self->timer) == TIMER_STOPPED);
    CHECK(!timer_arm(m, &self->timer, go_now(), 1000));
    AWAIT(atomic_load(&self->runs));
    CHECK(timer_disarm(&self->timer) == TIMER_RUNNING); /* it had a period */
    CHECK(timer_disarm(&self->timer) == TIMER_RUNNING);
    CHECK(!timer_arm(m, &self->timer, go_now() + hour, 0));
    CHECK(timer_disarm(&self->timer) == TIMER_RUNNING);
    atomic_store(&self->release, true);
    CHECK(!timer_disarm_wait(&self->timer));
    CHECK(atomic_load(&self->returned) && atomic_load(&self->calls) == 1);
    CHECK(timer_disarm(&self->timer) == TIMER_IDLE);
    go_free(self);
}

/* No slice ends main's turn, or its own worker might serve the heap, and hold main up for ever. */
static void disarming_tells_of_a_call_that_runs(void **state)
{
    static const char *const variants[] = {"grq",       "gmp",       "perm",
                                           "tasksteal", "contsteal", "kthread"};
    (void)state;
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        scene_run_with(variants[v], without_slices(variants[v]), 2, running_main);
}

static void freeing_call(struct timer *timer, int64_t now)
{
    (void)now;
    *(bool *)timer->arg = true;
    machine_free(timer);
}

static void again_call(struct timer *timer, int64_t now)
{
    int *left = timer->arg;
    if (--*left > 0)
        timer_arm(machine_self(), timer, now + 1, 0);
}

/* A call may free its timer, or arm it again. */
static void own_timer_main(void *arg)
{
    (void)arg;
    bool called = false;
    int left = 10;
    struct timer *gone = machine_alloc(sizeof *gone, 64), again;
    timer_init(gone, freeing_call, &called);
    timer_init(&again, again_call, &left);
    timer_arm(machine_self(), gone, go_now(), 0);
    timer_arm(machine_self(), &again, go_now(), 0);
    while (!called || left > 0)
        gosched();
    CHECK(timer_disarm(&again) == TIMER_IDLE);
}

static void a_call_may_free_or_arm_its_timer(void **state)
{
    (void)state;
    scene_run("gmp", 1, own_timer_main);
    scene_run("uthread", 1, own_timer_main);
}

/* Memory ------------------------------------------------------------------------------------ */

static void never(struct timer *timer, int64_t now)
{
    (void)now;
    support_fail(__FILE__, __LINE__, "timer %p was called", (void *)timer);
}

/* Disarmed in an order of their own. Stopped timers leave neither entries nor room for them. */
static void storm_main(void *arg)
{
    (void)arg;
    struct timers *timers = machine_self()->p->timers;
    struct timer *storm = go_alloc(STORM * sizeof *storm);
    uint64_t rng = 3;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < STORM; i++) {
            timer_init(&storm[i], never, NULL);
            timer_arm(machine_self(), &storm[i], go_now() + hour + (int64_t)random_next(&rng), 0);
        }
        CHECK(timers->count == STORM && timers->capacity < 4 * STORM);
        for (int i = 0; i < STORM; i++) {
            struct timer *one = &storm[(uint64_t)i * 7919 % STORM];
            CHECK(timer_disarm(one) == TIMER_STOPPED);
            one->arg = one; /* the runtime does not look */
        }
        CHECK(timers->count == 0 && timers->capacity <= SPACE_MIN);
        CHECK(!timers_any(machine_self()));
    }
    go_free(storm);
}

static void cancelled_storm_leaves_no_memory(void **state)
{
    (void)state;
    scene_run("gmp", 1, storm_main);
}

/* Armed again and again for later, a timer has one entry, and no work is done for it. */
static void deadline_main(void *arg)
{
    (void)arg;
    struct timers *timers = machine_self()->p->timers;
    struct timer timer;
    int64_t first = go_now() + hour;
    timer_init(&timer, never, NULL);
    for (int i = 0; i < 1000; i++) {
        timer_arm(machine_self(), &timer, first + i, 0);
        CHECK(timers->count == 1 && timers->next == first);
    }
    timer_arm(machine_self(), &timer, first - 1, 0);
    CHECK(timers->count == 1 && timers->next == first - 1);
    CHECK(timer_disarm(&timer) == TIMER_STOPPED && timers->next == INT64_MAX);
}

static void a_deadline_moves_in_place(void **state)
{
    (void)state;
    scene_run("gmp", 1, deadline_main);
}

/* Periods ----------------------------------------------------------------------------------- */

/* A ticker of the past misses what has passed, and keeps its phase. */
static void phase_call(struct timer *timer, int64_t now)
{
    int64_t *due = timer->arg;
    CHECK(now >= *due);
    *due += (1 + (now - *due) / 1000) * 1000;
    CHECK(timer->when == *due);
}

static void phase_main(void *arg)
{
    (void)arg;
    struct timer timer;
    int64_t start = go_now() - 500500, due = start;
    timer_init(&timer, phase_call, &due);
    timer_arm(machine_self(), &timer, start, 1000);
    while (due < start + 2000000)
        gosched();
    CHECK(timer_disarm(&timer) == TIMER_STOPPED);
}

static void a_period_keeps_its_phase(void **state)
{
    (void)state;
    scene_run("gmp", 1, phase_main);
}

/* Channels ---------------------------------------------------------------------------------- */

static size_t in_heaps(void)
{
    struct sched *sched = this_sched();
    size_t count = 0;
    for (int32_t i = 0; i < sched->heaps; i++) {
        lock_acquire(&sched->timers[i].lock);
        count += sched->timers[i].count;
        lock_release(&sched->timers[i].lock);
    }
    return count;
}

struct waits {
    struct gotimer *timer;
    struct chan *other;
    struct waitgroup done;
};

static void waits_for_timer_g(void *arg)
{
    struct waits *self = arg;
    CHECK(chan_recv(timer_chan(self->timer), NULL));
    wg_done(&self->done);
}

static void waits_for_other_g(void *arg)
{
    struct waits *self = arg;
    struct select_case cases[] = {select_recv(timer_chan(self->timer), NULL),
                                  select_recv(self->other, NULL)};
    CHECK(chan_select(cases, 2, NULL) == 1);
    wg_done(&self->done);
}

/* One that waits, until it does: with one worker it has run when main goes on. */
static void waits_go(struct waits *self, void (*fn)(void *))
{
    wg_add(&self->done, 1);
    go(fn, self);
    gosched();
}

/* A timer of a channel is in a heap only while somebody waits to receive from it. */
static void channel_timers_main(void *arg)
{
    (void)arg;
    struct waits *self = go_alloc_zeroed(sizeof *self);
    self->other = chan_make(1, 0);
    self->timer = timer_after(hour);
    CHECK(in_heaps() == 0);
    waits_go(self, waits_for_other_g);
    waits_go(self, waits_for_other_g);
    CHECK(in_heaps() == 1);
    chan_send(self->other, "");
    chan_send(self->other, "");
    wg_wait(&self->done);
    CHECK(in_heaps() == 0);
    waits_go(self, waits_for_timer_g);
    CHECK(in_heaps() == 1 && timer_stop(self->timer) && in_heaps() == 0);
    CHECK(!timer_reset(self->timer, hour) && in_heaps() == 1);
    CHECK(timer_reset(self->timer, 0));
    wg_wait(&self->done);
    CHECK(in_heaps() == 0 && !timer_stop(self->timer));
    timer_free(self->timer);
    self->timer = ticker_start(1);
    AWAIT(chan_len(timer_chan(self->timer)) == 1);
    CHECK(in_heaps() == 0 && chan_try_recv(timer_chan(self->timer), NULL, NULL));
    CHECK(timer_reset(self->timer, hour));
    waits_go(self, waits_for_other_g);
    CHECK(in_heaps() == 1);
    chan_send(self->other, "");
    wg_wait(&self->done);
    CHECK(in_heaps() == 0);
    timer_free(self->timer);
    chan_free(self->other);
    go_free(self);
}

static void channel_timers_are_in_a_heap_while_one_waits(void **state)
{
    static const char *const variants[] = {"gmp", "uthread", "static"};
    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        scene_run_with(variants[i], without_slices(variants[i]), 1, channel_timers_main);
}

/* Thieves ----------------------------------------------------------------------------------- */

/* The turns in which the thief ran a timer of main's worker that was due, and the newest G in its
 * queue. */
struct robbed {
    _Atomic bool thief_runs, thief_ends;
    _Atomic int count;
    int timer_place, newest_place;
    struct waitgroup done;
};

static void thief_g(void *arg)
{
    struct robbed *self = arg;
    atomic_store(&self->thief_runs, true);
    AWAIT(atomic_load(&self->thief_ends));
    wg_done(&self->done);
}

static void of_timer_g(void *arg)
{
    struct robbed *self = arg;
    self->timer_place = atomic_fetch_add(&self->count, 1);
    wg_done(&self->done);
}

static void newest_g(void *arg)
{
    struct robbed *self = arg;
    self->newest_place = atomic_fetch_add(&self->count, 1);
    wg_done(&self->done);
}

/* Main keeps its worker while the other one becomes a thief, who finds both there at once. */
static void robbed_main(void *arg)
{
    (void)arg;
    struct robbed *self = go_alloc_zeroed(sizeof *self);
    wg_add(&self->done, 3);
    go(thief_g, self);
    AWAIT(atomic_load(&self->thief_runs));
    struct gotimer *timer = timer_func(1, of_timer_g, self);
    int64_t armed = go_now();
    AWAIT(go_now() > armed);
    go(newest_g, self);
    atomic_store(&self->thief_ends, true);
    AWAIT(atomic_load(&self->count) == 2);
    wg_wait(&self->done);
    CHECK(self->timer_place == 0 && self->newest_place == 1);
    timer_free(timer);
    go_free(self);
}

static void thieves_run_timers_before_they_take_the_newest(void **state)
{
    (void)state;
    scene_run_with("gmp", "preempt=none,sysmon=off,backoff_ns=0", 2, robbed_main);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_happen_in_the_order_of_time_and_arming),
        cmocka_unit_test(timers_and_sleepers_share_a_heap),
        cmocka_unit_test(disarming_tells_of_a_call_that_runs),
        cmocka_unit_test(a_call_may_free_or_arm_its_timer),
        cmocka_unit_test(cancelled_storm_leaves_no_memory),
        cmocka_unit_test(a_deadline_moves_in_place),
        cmocka_unit_test(a_period_keeps_its_phase),
        cmocka_unit_test(channel_timers_are_in_a_heap_while_one_waits),
        cmocka_unit_test(thieves_run_timers_before_they_take_the_newest),
    };
    return cmocka_run_group_tests_name("timers", tests, NULL, NULL);
}
