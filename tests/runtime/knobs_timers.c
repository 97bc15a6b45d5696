/* knobs_timers.c - the knobs of timers and of sleeping workers; see test_knobs.c. */
#include "knob_scenes.h"
#include "timer.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include <cmocka.h>

enum { HOUR_S = 3600, SECOND_NS = 1000000000 };

static void far_timer(struct timer *timer, int64_t now)
{
    (void)timer;
    (void)now;
    support_fail(__FILE__, __LINE__, "an hour has passed");
}

/* Runs beside main, on another worker, and arms a timer there. */
static void arming_g(void *arg)
{
    struct trace *self = arg;
    struct timer timer;
    timer_init(&timer, far_timer, NULL);
    atomic_store(&self->ran[0], true);
    AWAIT(atomic_load(&self->release[0]));
    timer_arm(machine_self(), &timer, go_now() + HOUR_S * (int64_t)SECOND_NS, 0);
    atomic_store(&self->ran[1], true);
    AWAIT(atomic_load(&self->release[1]));
    CHECK(timer_disarm(&timer) == TIMER_STOPPED);
    wg_done(&self->done);
}

/* found[0]: main's worker has timers, found[1]: some worker has. */
static void scene_timer_elsewhere(void *arg)
{
    struct trace *self = arg;
    wg_add(&self->done, 1);
    go(arming_g, self);
    AWAIT(atomic_load(&self->ran[0]));
    atomic_store(&self->release[0], true);
    AWAIT(atomic_load(&self->ran[1]));
    self->found[0] = timers_any(machine_self());
    self->found[1] = timers_earliest(this_sched()) != INT64_MAX;
    atomic_store(&self->release[1], true);
    wg_wait(&self->done);
    CHECK(timers_earliest(this_sched()) == INT64_MAX);
}

void knob_timers(const char *variant)
{
    scene_finds(variant, "timers=perp", 2, 0, scene_timer_elsewhere, 0);
    assert_int_equal(trace->found[1], 1);
    scene_finds(variant, "timers=global", 2, 0, scene_timer_elsewhere, 1);
    assert_int_equal(trace->found[1], 1);
    scene_run(variant, "timers=perp", 4, 4, scene_all_nap);
    scene_run(variant, "timers=global", 4, 4, scene_all_nap);
}

static void ready_main(struct timer *timer, int64_t now)
{
    (void)now;
    g_ready(timer->arg);
}

/* A sleep by a timer, for in 1:1 variants go_sleep() is the kernel's. True if it took a
 * millisecond. */
static bool half_ms_takes_one(void)
{
    struct m *m = machine_self();
    struct timer timer;
    int64_t start = go_now();
    timer_init(&timer, ready_main, m->curg);
    m->curg->wait_reason = WAIT_SLEEP;
    timer_arm(m, &timer, start + 500000, 0);
    g_park();
    int64_t took = go_now() - start;
    timer_disarm_wait(&timer); /* its call may not have ended yet */
    CHECK(took >= 500000);
    return took >= 1000000;
}

/* n sleeps, or, if n is 0, until some took less than one millisecond. */
static void scene_short_sleeps(void *arg)
{
    struct trace *self = arg;
    struct support_wait wait = {0};
    for (int i = 0; self->n ? i < self->n : self->found[0] < 4; i++) {
        self->found[half_ms_takes_one()]++;
        if (support_waited_in_vain(&wait))
            support_fail(__FILE__, __LINE__, "waited in vain for sleeps of less than 1 ms");
    }
}

/* Only a thread that loses its core for the other half between two readings of the clock finds less
 * than one millisecond left to sleep. */
void knob_poll_round(const char *variant)
{
    scene_run(variant, "poll_round=ns", 1, 0, scene_short_sleeps);
    scene_run(variant, "poll_round=ms", 1, 31, scene_short_sleeps);
    assert_true(trace->found[1] > trace->found[0]);
}

static void slack_g(void *arg)
{
    struct timed *self = arg;
    self->trace->found[self->i] = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    atomic_store(&self->trace->ran[self->i], true);
    AWAIT(atomic_load(&self->trace->ran[!self->i]));
    wg_done(&self->trace->done);
}

/* Main goes on to sleep, so that each G has a worker of its own if there are two. */
static void scene_slack(void *arg)
{
    struct trace *self = arg;
    struct timed timed[2];
    for (int i = 0; i < 2; i++)
        timed[i] = (struct timed){self, i};
    atomic_store(&self->ran[1], self->n == 1);
    wg_add(&self->done, self->n);
    for (int i = 0; i < self->n; i++)
        go(slack_g, &timed[i]);
    wg_wait(&self->done);
}

void knob_slack_ns(const char *variant)
{
    int n = strcmp(variant, "uthread") == 0 ? 1 : 2;
    int64_t before = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    for (int64_t slack = 1; slack < 1000000; slack = slack * 700) {
        char settings[64];
        snprintf(settings, sizeof settings, "slack_ns=%" PRId64, slack);
        scene_run(variant, settings, n, n, scene_slack);
        for (int i = 0; i < n; i++)
            assert_int_equal(trace->found[i], slack);
    }
    scene_run(variant, "slack_ns=kernel", n, n, scene_slack);
    for (int i = 0; i < n; i++)
        assert_int_equal(trace->found[i], before);
}
