/* test_bwos.c - the queue of blocks: alone, its thieves played by hand, and as gmp's queue. */
#include "runtime/bwos.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/lrq.h"
#include "tests/runtime/stage.h"

/* Alone --------------------------------------------------------------------------------------- */

enum { ENTRIES = 4, ALL = BWOS_BLOCKS * ENTRIES };

static struct bwos *bwos;
static struct g gs[10 * ALL];

static int new_bwos(void **state)
{
    (void)state;
    size_t size = (bwos_size(ENTRIES) + 63) & ~(size_t)63;
    bwos = aligned_alloc(64, size);
    memset(bwos, 0, size);
    bwos_init(bwos, ENTRIES);
    return 0;
}

static int free_bwos(void **state)
{
    (void)state;
    free(bwos);
    return 0;
}

/* Puts n from `first` on until there is no room; how many. */
static int put(int first, int n)
{
    int done = 0;
    for (bool grants; done < n && bwos_make_room(bwos, &grants); done++)
        bwos_put(bwos, &gs[first + done]);
    return done;
}

static void expect(int first, int n)
{
    uint64_t takeovers = 0;
    for (int i = 0; i < n; i++)
        assert_ptr_equal(bwos_get(bwos, &takeovers), &gs[first + i]);
}

static void expect_empty(void)
{
    assert_null(bwos_get(bwos, &(uint64_t){0}));
    assert_int_equal(bwos_length(bwos), 0);
}

/* Any number of them, from any place on. */
static void it_gives_the_oldest_first(void **state)
{
    (void)state;
    for (int n = 0; n <= ALL - ENTRIES; n++) {
        assert_int_equal(put(0, n), n);
        assert_int_equal(bwos_length(bwos), n);
        expect(0, n);
        expect_empty();
    }
}

static void it_has_room_for_as_many_as_it_says(void **state)
{
    (void)state;
    assert_int_equal(put(0, 2 * ALL), ALL);
    assert_int_equal(bwos_length(bwos), ALL);
    expect(0, ENTRIES);
    assert_int_equal(put(ALL, 1), 0); /* the owner has not left the block yet */
    expect(ENTRIES, 1);
    assert_int_equal(bwos_room(bwos), ENTRIES);
    assert_int_equal(put(ALL, ALL), ENTRIES);
    assert_int_equal(bwos_room(bwos), 0);
    expect(ENTRIES + 1, ALL - 1);
    expect_empty();
}

/* With n in it, all can be stolen but those in its owner's two blocks. */
static void thieves_take_between_the_two_blocks_of_the_owner(void **state)
{
    (void)state;
    struct g *taken[ALL];
    for (int n = 1; n <= ALL; n++) {
        int blocks = (n + ENTRIES - 1) / ENTRIES, granted = blocks > 2 ? blocks - 2 : 0;
        assert_int_equal(put(0, n), n);
        assert_int_equal(bwos_stealable(bwos), granted * ENTRIES);
        for (int i = 0; i < granted * ENTRIES; i++) {
            assert_int_equal(bwos_steal(bwos, taken, 1), 1);
            assert_ptr_equal(taken[0], &gs[ENTRIES + i]);
        }
        assert_int_equal(bwos_steal(bwos, taken, 1), 0);
        expect(0, n < ENTRIES ? n : ENTRIES);
        expect(granted ? ENTRIES + granted * ENTRIES : ENTRIES, n - granted * ENTRIES - ENTRIES);
        expect_empty();
        free_bwos(NULL);
        new_bwos(NULL);
    }
}

/* A batch is as many as were asked for, of one block. */
static void a_thief_takes_a_batch_of_one_block(void **state)
{
    (void)state;
    struct g *taken[ALL];
    put(0, ALL);
    assert_int_equal(bwos_steal(bwos, taken, ENTRIES - 1), ENTRIES - 1);
    assert_int_equal(bwos_steal(bwos, taken, ALL), 1);
    assert_ptr_equal(taken[0], &gs[2 * ENTRIES - 1]);
    assert_int_equal(bwos_steal(bwos, taken, ALL), ENTRIES);
    for (int i = 0; i < ENTRIES; i++)
        assert_ptr_equal(taken[i], &gs[2 * ENTRIES + i]);
}

/* The rest of a block that thieves have left is its owner's when it comes there. */
static void the_owner_takes_over_what_is_left(void **state)
{
    (void)state;
    struct g *taken[ALL];
    uint64_t takeovers = 0;
    put(0, 3 * ENTRIES + 1);
    assert_int_equal(bwos_steal(bwos, taken, 1), 1);
    expect(0, ENTRIES);
    assert_ptr_equal(bwos_get(bwos, &takeovers), &gs[ENTRIES + 1]);
    assert_int_equal(takeovers, 1);
    assert_int_equal(bwos_stealable(bwos), ENTRIES);
    assert_int_equal(bwos_steal(bwos, taken, ALL), ENTRIES);
    assert_ptr_equal(taken[0], &gs[2 * ENTRIES]);
    expect(ENTRIES + 2, ENTRIES - 2);
    assert_ptr_equal(bwos_get(bwos, &takeovers), &gs[3 * ENTRIES]);
    assert_int_equal(takeovers, 1); /* nothing was left of the second one */
    expect_empty();
}

/* A thief has lowered the ticket, and has not read yet. */
static void a_block_is_not_used_again_before_it_is_read(void **state)
{
    (void)state;
    put(0, 3 * ENTRIES + 1);
    atomic_fetch_sub(&bwos_block(bwos, 1)->ticket, 1);
    expect(0, ENTRIES);
    expect(ENTRIES + 1, 2 * ENTRIES);
    expect_empty();
    assert_int_equal(put(0, 2 * ALL), (BWOS_BLOCKS - 2) * ENTRIES - 1); /* up to that block */
    atomic_fetch_add(&bwos_block(bwos, 1)->read, 1);
    assert_int_equal(put(0, ENTRIES), ENTRIES);
}

/* A ticket that a thief has seen is worth nothing once its block is another one. */
static void an_old_number_takes_nothing(void **state)
{
    (void)state;
    struct g *taken[ALL];
    put(0, ALL);
    expect(0, ALL - 1);
    put(0, ALL - ENTRIES);
    assert_true(bwos_stealable(bwos) > 0);
    for (uint64_t k = 0; k < BWOS_BLOCKS; k++)
        assert_int_equal(bwos_steal_block(bwos, k, taken, 1), 0);
}

/* Owner and thief, by turns, many times round. */
static void each_comes_out_once(void **state)
{
    (void)state;
    enum { N = 10 * ALL };
    static bool seen[N];
    struct g *taken[ALL];
    int in = 0, out = 0;
    memset(seen, 0, sizeof seen);
    for (unsigned step = 1; out < N; step = step * 5 + 1) {
        in += put(in, (int)(step / 7 % 9) < N - in ? (int)(step / 7 % 9) : N - in);
        int64_t n = bwos_steal(bwos, taken, 1 + step / 3 % 6);
        for (unsigned i = 0; i < step / 11 % 6 && (taken[n] = bwos_get(bwos, &(uint64_t){0})); i++)
            n++;
        for (int64_t i = 0; i < n; i++) {
            assert_false(seen[taken[i] - gs]);
            seen[taken[i] - gs] = true;
            out++;
        }
    }
    expect_empty();
}

/* As gmp's ------------------------------------------------------------------------------------ */

/* Nobody else may take what is in two blocks, so it is no work for others. */
static void a_share_is_of_what_can_be_stolen(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "tick=0,queue=bwos,ring=64", 2);
    ready(&stage, 1, 0, 16, READY_POLLED);
    assert_null(stage.ops->steal(stage.m[0]));
    assert_false(stage.ops->has_work(stage.sched));
    ready(&stage, 1, 16, 1, READY_POLLED);
    assert_int_equal(stat_now(&stage, STAT_BLOCKS_GRANTED), 1);
    assert_true(stage.ops->has_work(stage.sched));
    assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[11]);
    assert_int_equal(stat_now(&stage, STAT_STOLEN), 4);
    expect_picks(&stage, 0, 8, 3);
    assert_int_equal(queued(&stage, 1), 13);
    for (uint32_t i = 0; i < 8; i++)
        assert_ptr_equal(pick(&stage, 1), &stage.g[i]);
    expect_picks(&stage, 1, 12, 5);
    assert_int_equal(stat_now(&stage, STAT_BLOCKS_TAKEN_BACK), 1);
    stage_free(&stage);
}

/* The newest is stolen as with a ring, where nothing else can be. */
static void runnext_is_stolen_last(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "tick=0,queue=bwos,ring=8,backoff_ns=0", 2);
    ready(&stage, 1, 0, 3, READY_NEW);
    assert_true(stage.ops->has_work(stage.sched));
    assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[2]);
    assert_int_equal(stat_now(&stage, STAT_RUNNEXT_STEALS), 1);
    assert_false(stage.ops->has_work(stage.sched));
    expect_picks(&stage, 1, 0, 2);
    stage_free(&stage);
}

/* Nobody need be woken for what nobody else may take. */
static void a_worker_keeps_what_is_in_its_blocks(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "tick=0,queue=bwos,ring=64", 2);
    struct m *m = stage.m[0];
    ready(&stage, 0, 0, 16, READY_POLLED);
    assert_true(stage.ops->keeps(m));
    ready(&stage, 0, 16, 1, READY_POLLED);
    assert_false(stage.ops->keeps(m));
    expect_picks(&stage, 0, 0, 17);
    ready(&stage, 0, 17, 1, READY_NEW);
    assert_false(stage.ops->keeps(m));
    expect_picks(&stage, 0, 17, 1);
    ready(&stage, 0, 18, 1, READY_POLLED);
    ready(&stage, 0, 19, 1, READY_INJECTED);
    assert_false(stage.ops->keeps(m));
    stage_free(&stage);
}

/* A thief takes no more than its own blocks have room for. */
static void a_thief_leaves_what_it_has_no_room_for(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "tick=0,queue=bwos,ring=64,steal=all", 2);
    struct bwos *own = lrq_blocks(stage.m[0]->p->variant);
    ready(&stage, 0, 900, 6, READY_POLLED);
    expect_picks(&stage, 0, 900, 6);
    bwos_block(own, 1)->stolen = 1; /* as if a thief had not read it yet */
    ready(&stage, 1, 0, 64, READY_POLLED);
    assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[10]);
    assert_int_equal(stat_now(&stage, STAT_STOLEN), 3);
    bwos_block(own, 1)->stolen = 0;
    expect_picks(&stage, 0, 8, 2);
    stage_free(&stage);
}

static void full_blocks_give_a_share_and_one_away(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        uint32_t moved;
    } rows[] = {{"tick=0,queue=bwos,ring=16", 8},
                {"tick=0,queue=bwos,ring=16,overflow=one", 1},
                {"tick=0,queue=bwos,ring=16,overflow=all", 16},
                {"tick=0,queue=bwos,ring=16,overflow_end=new", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stage stage = stage_make("gmp", rows[i].settings, 2);
        ready(&stage, 0, 0, 17, READY_POLLED);
        assert_int_equal(stat_now(&stage, STAT_OVERFLOWS), 1);
        assert_int_equal(queued(&stage, 0), 16 - rows[i].moved);
        assert_int_equal(queued_globally(&stage), rows[i].moved + 1);
        for (uint32_t g = rows[i].moved; g < 16; g++)
            assert_ptr_equal(pick(&stage, 0), &stage.g[g]);
        stage_free(&stage);
    }
}

/* A visit takes what the blocks have room for, by list and by ring; the rest stays. */
static void a_visit_leaves_what_has_no_room(void **state)
{
    (void)state;
    static const char *const globqs[] = {"tick=0,queue=bwos,ring=16,take=all",
                                         "tick=0,queue=bwos,ring=16,take=all,globq=mpmc"};
    for (size_t i = 0; i < 2; i++) {
        struct stage stage = stage_make("gmp", globqs[i], 1);
        ready(&stage, 0, 900, 1, READY_POLLED);
        expect_picks(&stage, 0, 900, 1);
        ready(&stage, 0, 0, 30, READY_INJECTED);
        assert_ptr_equal(pick(&stage, 0), &stage.g[0]);
        assert_int_equal(queued(&stage, 0), 15);
        assert_int_equal(queued_globally(&stage), 14);
        expect_picks(&stage, 0, 1, 29);
        stage_free(&stage);
    }
}

/* All that it has goes where every worker looks. */
static void a_drained_p_keeps_nothing(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "tick=0,queue=bwos", 2);
    ready(&stage, 0, 0, 200, READY_POLLED);
    ready(&stage, 0, 200, 1, READY_NEW);
    stage.ops->drain(stage.m[0], stage.m[0]->p);
    assert_int_equal(queued_globally(&stage), 201);
    assert_int_equal(queued(&stage, 0), 0);
    expect_picks(&stage, 1, 0, 201);
    stage_free(&stage);
}

int main(void)
{
#define ALONE(test) cmocka_unit_test_setup_teardown(test, new_bwos, free_bwos)
    const struct CMUnitTest tests[] = {
        ALONE(it_gives_the_oldest_first),
        ALONE(it_has_room_for_as_many_as_it_says),
        ALONE(thieves_take_between_the_two_blocks_of_the_owner),
        ALONE(a_thief_takes_a_batch_of_one_block),
        ALONE(the_owner_takes_over_what_is_left),
        ALONE(a_block_is_not_used_again_before_it_is_read),
        ALONE(an_old_number_takes_nothing),
        ALONE(each_comes_out_once),
        cmocka_unit_test(a_share_is_of_what_can_be_stolen),
        cmocka_unit_test(runnext_is_stolen_last),
        cmocka_unit_test(a_worker_keeps_what_is_in_its_blocks),
        cmocka_unit_test(a_thief_leaves_what_it_has_no_room_for),
        cmocka_unit_test(full_blocks_give_a_share_and_one_away),
        cmocka_unit_test(a_visit_leaves_what_has_no_room),
        cmocka_unit_test(a_drained_p_keeps_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
