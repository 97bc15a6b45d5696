/* knobs_fence.c - the knobs of who fences: tests of test_knobs.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "internal.h"
#include "knob_scenes.h"

enum { SLEEPS = 200, TURNED = 1, STAYED = 0 };

static bool submitters_fence(void)
{
    return atomic_load(&this_sched()->submitters_fence);
}

/* Two workers, and main keeps its own: the other one runs a G and goes to sleep again, so often. */
static void sleep_often(struct trace *self, int times)
{
    struct timed timed = {self, 0};
    for (int i = 0; i < times; i++) {
        await_spinning_and_idle(0, 1);
        atomic_store(&self->ran[0], false);
        wg_add(&self->done, 1);
        go(scene_ran_g, &timed);
        AWAIT(atomic_load(&self->ran[0]));
        wg_wait(&self->done);
    }
    await_spinning_and_idle(0, 1);
}

/* found[0]: do submitters fence afterwards; found[1]: how often all cores were made to from then
 * on. A worker counts its fence after it is on the idle list, so the last one may be missing. */
static void scene_fences(void *arg)
{
    struct trace *self = arg;
    sleep_often(self, SLEEPS);
    self->found[0] = submitters_fence() ? TURNED : STAYED;
    uint64_t before = stat_now(STAT_FENCES_ALL);
    sleep_often(self, SLEEPS);
    self->found[1] = (int64_t)(stat_now(STAT_FENCES_ALL) - before);
}

/* From now on a sleep is rare that comes later than this. */
static void be_often(int64_t ns)
{
    struct sched *sched = this_sched();
    lock_acquire(&sched->lock);
    sched->runtime->fence_often_ns = ns;
    lock_release(&sched->lock);
}

/* The one worker goes to sleep often, and then as often, which is rare. */
static void scene_naps_alone(void *arg)
{
    struct trace *self = arg;
    for (int i = 0; i < SLEEPS; i++)
        go_sleep(1000);
    self->found[0] = submitters_fence() ? TURNED : STAYED;
    be_often(0);
    for (int i = 0; i < SLEEPS; i++)
        go_sleep(1000);
}

void knob_fence(const char *variant)
{
    scene_run(variant, "fence=submitter", 2, 0, scene_fences);
    assert_int_equal(trace->found[0], TURNED);
    assert_int_equal(stat_of(STAT_FENCES_ALL), 0);
    scene_run(variant, "fence=sleeper", 2, 0, scene_fences);
    assert_int_equal(trace->found[0], STAYED);
    assert_true(trace->found[1] >= SLEEPS - 1);
    /* one worker has nobody to make fence, and nothing to judge */
    scene_run(variant, "fence=sleeper", 1, 0, scene_all_nap);
    assert_int_equal(stat_of(STAT_FENCES_ALL), 0);
    scene_run(variant, "fence=adaptive,fence_often_ns=1000000000", 1, 0, scene_naps_alone);
    assert_int_equal(trace->found[0], STAYED);
    assert_int_equal(stat_of(STAT_FENCES_ALL), 0);
}

/* Sleeps that were often until now are rare: sleepers fence at the next ones. Then they are often
 * again. found[2]: did sleepers fence in between. */
static void scene_turns_twice(void *arg)
{
    struct trace *self = arg;
    sleep_often(self, SLEEPS);
    be_often(0);
    sleep_often(self, SLEEPS);
    self->found[2] = submitters_fence() ? STAYED : TURNED;
    be_often(INT64_C(1000000000));
    sleep_often(self, SLEEPS);
    scene_fences(self);
}

/* Sleeps were often, and nobody goes to sleep any more. */
static void scene_sysmon_turns_back(void *arg)
{
    struct trace *self = arg;
    scene_fences(self);
    be_often(0);
    AWAIT(!submitters_fence());
}

void knob_fence_often_ns(const char *variant)
{
    scene_run(variant, "fence=adaptive,fence_often_ns=0", 2, 0, scene_fences);
    assert_int_equal(trace->found[0], STAYED);
    assert_true(trace->found[1] >= SLEEPS - 1);
    scene_run(variant, "fence=adaptive,fence_often_ns=1000000000,sysmon=off", 2, 0,
              scene_turns_twice);
    assert_int_equal(trace->found[0], TURNED);
    assert_int_equal(trace->found[1], 0);
    assert_int_equal(trace->found[2], TURNED);
    scene_run(variant, "fence=adaptive,fence_often_ns=1000000000", 2, 0, scene_sysmon_turns_back);
    assert_int_equal(trace->found[0], TURNED);
}
