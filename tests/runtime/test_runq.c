/* test_runq.c - what runq.h makes of a queue: which of its goroutines are work for others. */
#include "runtime/runq.h"
#include "sched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/runtime/stage.h"

enum { BOX = 8, OWN = 2 };

/* A FIFO whose first two are the owner's alone. */
struct box {
    struct g *g[BOX];
    int64_t n;
};

static bool box_put(void *queue, struct g *gp)
{
    struct box *box = queue;
    if (box->n == BOX)
        return false;
    box->g[box->n++] = gp;
    return true;
}

static struct g *box_get(void *queue)
{
    struct box *box = queue;
    struct g *gp = box->g[0];
    if (box->n == 0)
        return NULL;
    memmove(box->g, box->g + 1, (size_t)--box->n * sizeof box->g[0]);
    return gp;
}

static int64_t box_steal(void *queue, struct g **taken, int64_t most)
{
    struct box *box = queue;
    if (box->n <= OWN || most < 1)
        return 0;
    *taken = box->g[--box->n];
    return 1;
}

static int64_t box_length(void *queue)
{
    return ((struct box *)queue)->n;
}

static int64_t box_stealable(void *queue)
{
    int64_t n = box_length(queue);
    return n > OWN ? n - OWN : 0;
}

static const struct runq_ops keeping = {
    .size = sizeof(struct box),
    .put = box_put,
    .get = box_get,
    .steal = box_steal,
    .length = box_length,
    .stealable = box_stealable,
};
static const struct runq_ops sharing = {
    .size = sizeof(struct box),
    .put = box_put,
    .get = box_get,
    .steal = box_steal,
    .length = box_length,
};
RUNQ_VARIANT(keeps, keeping, "a queue that keeps two to its owner", "schedlab");
RUNQ_VARIANT(shares, sharing, "a queue that keeps none", "schedlab");

static struct stage stage;

static bool keeps_all(void)
{
    return stage.sched->keeps(stage.m[0]);
}

static bool has_work(void)
{
    return stage.ops->has_work(stage.sched);
}

static void what_is_the_owners_alone_is_no_work_for_others(void **state)
{
    (void)state;
    stage = stage_with(&keeps_ops, "", 2, NULL);
    assert_non_null(stage.sched->keeps);
    ready(&stage, 0, 0, OWN, READY_POLLED);
    assert_true(keeps_all() && !has_work());
    assert_null(stage.ops->steal(stage.m[1]));
    ready(&stage, 0, OWN, 1, READY_POLLED);
    assert_true(!keeps_all() && has_work());
    assert_ptr_equal(stage.ops->steal(stage.m[1]), &stage.g[OWN]);
    assert_true(keeps_all() && !has_work());
    stage_free(&stage);
}

static void runnext_and_the_global_queue_are_for_all(void **state)
{
    (void)state;
    stage = stage_with(&keeps_ops, "", 2, NULL);
    ready(&stage, 0, 0, 1, READY_WOKEN);
    assert_true(!keeps_all() && has_work());
    assert_ptr_equal(pick(&stage, 0), &stage.g[0]);
    ready(&stage, 0, 1, 1, READY_PREEMPTED);
    assert_true(!keeps_all() && has_work());
    assert_ptr_equal(pick(&stage, 0), &stage.g[1]);
    assert_true(keeps_all() && !has_work());
    stage_free(&stage);
}

static void a_p_that_is_given_up_keeps_nothing(void **state)
{
    (void)state;
    stage = stage_with(&keeps_ops, "", 2, NULL);
    ready(&stage, 0, 0, OWN, READY_POLLED);
    assert_false(stage.ops->drain(stage.m[0], NULL)); /* a thread has none of its own */
    assert_int_equal(queued(&stage, 0), OWN);
    stage.ops->drain(stage.m[0], stage.m[0]->p);
    assert_int_equal(queued(&stage, 0), 0);
    assert_true(has_work());
    expect_picks(&stage, 1, 0, OWN);
    stage_free(&stage);
}

static void a_queue_that_keeps_none_is_not_asked(void **state)
{
    (void)state;
    stage = stage_with(&shares_ops, "", 2, NULL);
    assert_null(stage.sched->keeps);
    ready(&stage, 0, 0, 1, READY_POLLED);
    assert_true(has_work());
    assert_ptr_equal(pick(&stage, 0), &stage.g[0]);
    stage_free(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_the_owners_alone_is_no_work_for_others),
        cmocka_unit_test(runnext_and_the_global_queue_are_for_all),
        cmocka_unit_test(a_p_that_is_given_up_keeps_nothing),
        cmocka_unit_test(a_queue_that_keeps_none_is_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
