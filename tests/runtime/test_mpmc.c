/* test_mpmc.c - the ring without a lock, called by one thread, and grq and gmp on top of it. */
#include "runtime/mpmc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/runtime/stage.h"

static struct mpmc ring;

static int empty_ring(void **state)
{
    (void)state;
    memset(&ring, 0, sizeof ring);
    return 0;
}

static bool is_put(struct stage *stage, uint32_t g)
{
    return mpmc_put(stage->m[0], &ring, &stage->g[g], true) != MPMC_FULL;
}

/* Puts n of the stage's Gs, round and round from the first one, until there is no room. */
static uint32_t put_all(struct stage *stage, uint32_t n)
{
    uint32_t put = 0;
    while (put < n && is_put(stage, put % GS_MAX))
        put++;
    return put;
}

static void expect_all(struct stage *stage, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        assert_ptr_equal(mpmc_get(&ring), &stage->g[i % GS_MAX]);
    assert_null(mpmc_get(&ring));
    assert_true(mpmc_is_empty(&ring));
}

/* In any lap, at any place, with any number of them. */
static void it_gives_in_the_order_of_its_tickets(void **state)
{
    (void)state;
    struct stage stage = stage_make("grq", "", 1);
    expect_all(&stage, 0);
    for (uint32_t n = 1; n <= MPMC_CELLS; n = 3 * n + 1) {
        assert_int_equal(put_all(&stage, n), n);
        assert_int_equal(mpmc_size(&ring), n);
        expect_all(&stage, n);
    }
    stage_free(&stage);
}

static void it_has_room_for_as_many_as_it_says(void **state)
{
    (void)state;
    struct stage stage = stage_make("grq", "", 1);
    for (int lap = 0; lap < 3; lap++) {
        assert_int_equal(put_all(&stage, 2 * MPMC_CELLS), MPMC_CELLS);
        assert_ptr_equal(mpmc_get(&ring), &stage.g[0]);
        assert_true(is_put(&stage, 7)); /* where that one was */
        assert_false(is_put(&stage, 8));
        for (uint32_t i = 1; i < MPMC_CELLS; i++)
            assert_ptr_equal(mpmc_get(&ring), &stage.g[i % GS_MAX]);
        assert_ptr_equal(mpmc_get(&ring), &stage.g[7]);
        assert_null(mpmc_get(&ring));
    }
    stage_free(&stage);
}

/* A writer that has a ticket and has not written yet. */
static void it_is_not_empty_while_somebody_writes(void **state)
{
    (void)state;
    struct stage stage = stage_make("grq", "", 1);
    atomic_store(&ring.tail, 1);
    assert_true(is_put(&stage, 1)); /* behind it */
    assert_null(mpmc_get(&ring));
    assert_false(mpmc_is_empty(&ring));
    ring.cells[0].gp = &stage.g[0];
    atomic_store(&ring.cells[0].turn, 1);
    expect_all(&stage, 2);
    stage_free(&stage);
}

/* A G for which there is no room waits behind the others, and so does who comes later. */
static void a_list_has_what_the_ring_has_no_room_for(void **state)
{
    (void)state;
    struct stage stage = stage_make("grq", "queue=mpmc", 2);
    for (uint32_t i = 0; i < MPMC_CELLS; i++)
        ready(&stage, 0, i % 10, 1, READY_NEW); /* the ring alone holds a G more than once */
    assert_int_equal(stat_now(&stage, STAT_GRQ_LOCKS), 0);
    assert_int_equal(queued_globally(&stage), MPMC_CELLS);
    ready(&stage, 1, 10, 3, READY_NEW);
    assert_int_equal(stat_now(&stage, STAT_GRQ_LOCKS), 3);
    assert_int_equal(queued_globally(&stage), MPMC_CELLS + 3);
    assert_int_equal(pick(&stage, 1)->id, 0);
    ready(&stage, 0, 13, 1, READY_NEW); /* there is room, and others came before */
    for (uint32_t i = 1; i < MPMC_CELLS; i++)
        assert_int_equal(pick(&stage, 0)->id, i % 10);
    assert_true(stage.ops->has_work(stage.sched));
    expect_picks(&stage, 1, 10, 4);
    assert_false(stage.ops->has_work(stage.sched));
    ready(&stage, 0, 14, 1, READY_NEW);
    assert_true(stage.ops->has_work(stage.sched));
    expect_picks(&stage, 1, 14, 1);
    stage_free(&stage);
}

/* A worker does something by chance. told: the G that it got, and how many wait globally. */
enum { ACTS = 400 };
static void act(struct stage *stage, unsigned *random, struct g *free[GS_MAX], uint32_t *frees,
                uint32_t told[2])
{
    uint32_t who = (uint32_t)rand_r(random) % 2, what = (uint32_t)rand_r(random) % 8;
    struct g *gp = NULL;
    if (what < 4 && *frees > 0) {
        static const enum ready_how hows[] = {READY_NEW, READY_YIELD, READY_WOKEN, READY_INJECTED};
        stage->ops->ready(stage->m[who], free[--*frees], hows[what]);
    } else if (what < 7) {
        gp = pick(stage, who);
    } else if (queued(stage, (int)who) == 0) { /* who has work steals none */
        gp = stage->ops->steal(stage->m[who]);
    }
    if (gp)
        free[(*frees)++] = gp;
    told[0] = gp ? (uint32_t)gp->id : UINT32_MAX;
    told[1] = (uint32_t)queued_globally(stage);
}

static void acts(const char *variant, const char *settings, unsigned seed, uint32_t told[ACTS][2])
{
    struct stage stage = stage_make(variant, settings, 2);
    struct g *free[GS_MAX];
    uint32_t frees = 0;
    for (; frees < GS_MAX; frees++)
        free[frees] = &stage.g[frees];
    for (int i = 0; i < ACTS; i++)
        act(&stage, &seed, free, &frees, told[i]);
    stage_free(&stage);
}

/* Overflows, batches and the tick included. */
static void a_ring_for_all_gives_what_the_list_gives(void **state)
{
    static const char *const variants[] = {"gmp", "perm"};
    static uint32_t told[2][ACTS][2];
    (void)state;
    for (unsigned seed = 1; seed <= 50; seed++) {
        const char *variant = variants[seed % 2];
        acts(variant, "ring=4,tick=7,wake=none", seed, told[0]);
        acts(variant, "ring=4,tick=7,wake=none,globq=mpmc", seed, told[1]);
        for (int i = 0; i < ACTS; i++)
            if (told[0][i][0] != told[1][i][0] || told[0][i][1] != told[1][i][1])
                fail_msg("%s, seed %u, act %d: G %u of %u, and without a lock G %u of %u", variant,
                         seed, i, told[0][i][0], told[0][i][1], told[1][i][0], told[1][i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_gives_in_the_order_of_its_tickets, empty_ring),
        cmocka_unit_test_setup(it_has_room_for_as_many_as_it_says, empty_ring),
        cmocka_unit_test_setup(it_is_not_empty_while_somebody_writes, empty_ring),
        cmocka_unit_test_setup(a_list_has_what_the_ring_has_no_room_for, empty_ring),
        cmocka_unit_test(a_ring_for_all_gives_what_the_list_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
