/* test_permits.c - the queue of permits: what it pushes out, what thieves may take and when, and
 * how often the global queue comes first. Called by hand (stage.h), and against a model.
 */
#include "permits/workq.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/runtime/stage.h"

#define AGE "slot_age_ns=1000000000"

static struct workq *workq_of(struct stage *stage, int worker)
{
    return stage->m[worker]->variant;
}

static void the_newest_runs_first_then_the_oldest(void **state)
{
    (void)state;
    struct stage stage = stage_make("permits", "", 1);
    ready(&stage, 0, 0, 5, READY_NEW);
    assert_ptr_equal(pick(&stage, 0), &stage.g[4]);
    expect_picks(&stage, 0, 0, 4);
    ready(&stage, 0, 0, 1, READY_WOKEN);
    ready(&stage, 0, 1, 1, READY_YIELD);
    ready(&stage, 0, 2, 1, READY_POLLED);
    expect_picks(&stage, 0, 0, 3);
    stage_free(&stage);
}

/* One in the slot, 127 in the ring; each one more pushes one out to the global queue. */
static void a_full_ring_gives_away_one_at_a_time(void **state)
{
    (void)state;
    enum { FULL = RING, MORE = 5 };
    struct stage stage = stage_make("permits", "", 2);
    ready(&stage, 0, 0, FULL, READY_NEW);
    assert_int_equal(queued(&stage, 0), FULL);
    assert_int_equal(queued_globally(&stage), 0);
    for (uint32_t i = 0; i < MORE; i++) {
        ready(&stage, 0, FULL + i, 1, READY_NEW);
        assert_int_equal(queued(&stage, 0), FULL);
        assert_int_equal(queued_globally(&stage), i + 1);
    }
    assert_int_equal(stat_now(&stage, STAT_OVERFLOWS), MORE);
    for (uint32_t i = 0; i < MORE; i++)
        assert_ptr_equal(pick(&stage, 1), &stage.g[FULL - 1 + i]);
    assert_null(pick(&stage, 1));
    stage_free(&stage);
}

/* A thief takes the oldest of the ring, one by one and at any age, and the newest only when old. */
static void thieves_leave_a_young_newest_alone(void **state)
{
    (void)state;
    struct stage stage = stage_make("permits", AGE, 2);
    ready(&stage, 1, 0, 3, READY_NEW);
    for (uint32_t i = 0; i < 2; i++) {
        assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[i]);
        assert_int_equal(queued(&stage, 0), 0);
    }
    assert_null(stage.ops->steal(stage.m[0]));
    assert_true(stage.ops->has_work(stage.sched));
    assert_int_equal(stat_now(&stage, STAT_RUNNEXT_STEALS), 0);
    atomic_store(&workq_of(&stage, 1)->since, 1);
    assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[2]);
    assert_int_equal(stat_now(&stage, STAT_RUNNEXT_STEALS), 1);
    assert_int_equal(stat_now(&stage, STAT_STOLEN), 3);
    assert_false(stage.ops->has_work(stage.sched));
    stage_free(&stage);
}

/* One victim's young G does not keep a thief from another's. */
static void a_thief_passes_by_young_ones(void **state)
{
    (void)state;
    for (int young = 1; young < 4; young++) {
        struct stage stage = stage_make("permits", AGE, 4);
        int old = young % 3 + 1;
        ready(&stage, young, 0, 1, READY_NEW);
        ready(&stage, old, 1, 1, READY_NEW);
        atomic_store(&workq_of(&stage, old)->since, 1);
        assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[1]);
        assert_null(stage.ops->steal(stage.m[0]));
        stage_free(&stage);
    }
}

/* Once in 2 P times the global queue comes before a worker's own. The bound is four standard
 * deviations of 4,096 draws, and the seed is fixed. */
static void the_global_queue_comes_first_by_lot(void **state)
{
    (void)state;
    enum { DRAWS = 4096 };
    for (int procs = 1; procs <= PS_MAX; procs++) {
        struct stage stage = stage_make("permits", "", procs);
        ready(&stage, 0, 0, 1, READY_INJECTED);
        for (int i = 0; i < DRAWS; i++) {
            ready(&stage, 0, 1, 1, READY_YIELD);
            struct g *gp = pick(&stage, 0);
            if (gp != &stage.g[0])
                continue;
            stage.ops->ready(stage.m[0], gp, READY_INJECTED);
            assert_ptr_equal(ring_take(workq_of(&stage, 0)), &stage.g[1]);
        }
        int64_t polls = (int64_t)stat_now(&stage, STAT_TICK_POLLS);
        assert_in_range(polls, DRAWS / (2 * procs) - 128, DRAWS / (2 * procs) + 128);
        stage_free(&stage);
    }
}

/* A thread that sleeps without a permit keeps nothing to itself: oldest first. */
static void a_thread_that_sleeps_leaves_its_queue(void **state)
{
    (void)state;
    struct stage stage = stage_make("permits", AGE, 2);
    ready(&stage, 1, 0, 3, READY_NEW);
    assert_true(stage.ops->drain(stage.m[1], NULL));
    assert_false(stage.ops->drain(stage.m[1], NULL));
    assert_int_equal(queued_globally(&stage), 3);
    expect_picks(&stage, 0, 0, 3);
    struct p *p = stage.m[1]->p;
    ready(&stage, 1, 0, 2, READY_NEW);
    stage.ops->drain(stage.m[1], p); /* given up in a call: the queue is the thread's */
    assert_int_equal(queued(&stage, 1), 2);
    p->retired = true;
    stage.ops->drain(stage.m[1], p);
    p->retired = false;
    assert_int_equal(queued(&stage, 1), 0);
    expect_picks(&stage, 0, 0, 2);
    stage_free(&stage);
}

/* Random puts, takes and thefts against an array, round and round the ring. */
static void it_equals_its_model(void **state)
{
    enum { STEPS = 20000 };
    static uint32_t model[RING + 1];
    (void)state;
    struct stage stage = stage_make("permits", "", 2);
    struct workq *workq = workq_of(&stage, 1);
    uint32_t length = 0, next = 0, newest = GS_MAX;
    for (int step = 0; step < STEPS; step++) {
        uint64_t dice = m_random(stage.m[0]) % 8;
        struct g *gp;
        if (dice < 5) {
            struct g *put = &stage.g[next++ % GS_MAX];
            bool fair = dice == 0;
            uint32_t pushed = fair ? put->id : newest;
            gp = fair ? put : newest_put(stage.m[1], workq, put);
            assert_int_equal(gp ? gp->id : GS_MAX, pushed);
            newest = fair ? newest : put->id;
            if (!gp)
                continue;
            assert_int_equal(ring_put(stage.m[1], workq, gp), length < RING - 1);
            if (length < RING - 1)
                model[length++] = gp->id;
        } else if (dice == 5) {
            gp = newest_take(workq);
            assert_int_equal(gp ? gp->id : GS_MAX, newest);
            newest = GS_MAX;
        } else {
            gp = ring_take(workq);
            assert_int_equal(gp ? gp->id : GS_MAX, length ? model[0] : GS_MAX);
            length -= gp != NULL;
            memmove(model, model + 1, length * sizeof *model);
        }
        assert_int_equal(workq_length(workq), length + (newest != GS_MAX));
        assert_int_equal(workq_has_work(workq), length > 0 || newest != GS_MAX);
    }
    stage_free(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_runs_first_then_the_oldest),
        cmocka_unit_test(a_full_ring_gives_away_one_at_a_time),
        cmocka_unit_test(thieves_leave_a_young_newest_alone),
        cmocka_unit_test(a_thief_passes_by_young_ones),
        cmocka_unit_test(the_global_queue_comes_first_by_lot),
        cmocka_unit_test(a_thread_that_sleeps_leaves_its_queue),
        cmocka_unit_test(it_equals_its_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
