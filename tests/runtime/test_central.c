/* test_central.c - queue=msqueue and queue=faa: called by one thread, by many, and below grq. */
#include "runtime/faaq.h"
#include "runtime/msqueue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/runtime/stage.h"

enum { THREADS = 4, PUTS = SUPPORT_SANITIZED ? 3000 : 20000, BLOCKS = 20 };

static struct stage stage; /* its Ms alone are used, but for the tests of grq */
static struct msqueue msq;
static struct faaq faaq;
static struct g *gs;

/* The two have this in common. */
struct queue {
    const char *setting;
    int64_t (*put)(struct g *gp);
    struct g *(*get)(void);
    int64_t (*size)(void);
    bool (*is_empty)(void);
};

static int64_t put_msq(struct g *gp)
{
    return msq_put(stage.m[0], &msq, gp);
}

static struct g *get_msq(void)
{
    return msq_get(&msq);
}

static int64_t size_msq(void)
{
    return msq_size(&msq);
}

static bool is_msq_empty(void)
{
    return msq_is_empty(&msq);
}

static int64_t put_faa(struct g *gp)
{
    return faaq_put(stage.m[0], &faaq, gp);
}

static struct g *get_faa(void)
{
    return faaq_get(&faaq);
}

static int64_t size_faa(void)
{
    return faaq_size(&faaq);
}

static bool is_faa_empty(void)
{
    return faaq_is_empty(&faaq);
}

static const struct queue queues[] = {
    {"queue=msqueue", put_msq, get_msq, size_msq, is_msq_empty},
    {"queue=faa", put_faa, get_faa, size_faa, is_faa_empty},
};
enum { QUEUES = sizeof queues / sizeof *queues };

static int set_up(void **state)
{
    (void)state;
    stage = stage_make("grq", "", 1);
    memset(&msq, 0, sizeof msq);
    memset(&faaq, 0, sizeof faaq);
    msq_init(&msq);
    faaq_init(&faaq);
    gs = calloc(THREADS * PUTS, sizeof *gs);
    for (uint32_t i = 0; i < THREADS * PUTS; i++)
        gs[i].id = i;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    msq_fini(&msq);
    faaq_fini(&faaq);
    free(gs);
    stage_free(&stage);
    return 0;
}

/* By one thread: whatever their number, and in whatever blocks they lie. */
static void it_gives_in_the_order_of_puts(void **state)
{
    (void)state;
    for (int q = 0; q < QUEUES; q++) {
        const struct queue *queue = &queues[q];
        assert_true(queue->is_empty());
        assert_null(queue->get());
        for (uint32_t n = 1; n <= THREADS * PUTS; n = 3 * n + 1) {
            for (uint32_t i = 0; i < n; i++) {
                int64_t told = queue->put(&gs[i]);
                assert_true(told == 0 || told == i + 1);
                assert_false(queue->is_empty());
            }
            assert_int_equal(queue->size(), n);
            for (uint32_t i = 0; i < n; i++)
                assert_ptr_equal(queue->get(), &gs[i]);
            assert_null(queue->get());
            assert_true(queue->is_empty());
            assert_int_equal(queue->size(), 0);
        }
    }
}

/* Many threads. Each puts Gs of its own, and takes any, until all have been taken. */
static const struct queue *shared;
static _Atomic uint32_t taken[THREADS * PUTS], taken_count;
static _Atomic bool out_of_order;

static void put_and_get(void *arg)
{
    uint32_t self = (uint32_t)(uintptr_t)arg, put = 0, last[THREADS] = {0};
    unsigned random = self + 1;
    while (put < PUTS || atomic_load(&taken_count) < THREADS * PUTS) {
        /* runs of up to 900, so that blocks come and go */
        for (uint32_t n = (uint32_t)rand_r(&random) % 900; n > 0 && put < PUTS; n--) {
            struct g *own = &gs[self * PUTS + put++];
            own->wait_since = put; /* the queue hands it over */
            shared->put(own);
        }
        struct g *gp;
        for (uint32_t n = (uint32_t)rand_r(&random) % 900; n > 0 && (gp = shared->get()); n--) {
            uint32_t from = gp->id / PUTS, number = gp->id % PUTS + 1;
            if (number <= last[from] || gp->wait_since != number)
                atomic_store(&out_of_order, true);
            last[from] = number;
            atomic_fetch_add(&taken[gp->id], 1);
            atomic_fetch_add(&taken_count, 1);
        }
        machine_yield();
    }
}

static void many_threads_lose_none_and_keep_the_order_of_each(void **state)
{
    (void)state;
    for (int q = 0; q < QUEUES; q++) {
        struct machine_thread threads[THREADS];
        shared = &queues[q];
        memset(taken, 0, sizeof taken);
        atomic_store(&taken_count, 0);
        for (uint32_t i = 0; i < THREADS; i++)
            assert_int_equal(
                machine_thread_start(&threads[i], put_and_get, (void *)(uintptr_t)i, 1 << 20, -1),
                0);
        for (uint32_t i = 0; i < THREADS; i++)
            machine_thread_join(&threads[i]);
        for (uint32_t i = 0; i < THREADS * PUTS; i++)
            assert_int_equal(taken[i], 1);
        assert_false(out_of_order);
        assert_true(shared->is_empty());
    }
}

/* Memory: nodes go with Gs and come back, blocks come back ------------------------------------- */

static void there_is_a_node_for_each_g_and_one_more(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 1000; round++) {
        for (uint32_t i = 0; i < 10; i++)
            msq_put(stage.m[0], &msq, &gs[10 * round + i]);
        for (uint32_t i = 0; i < 10; i++) {
            struct g *gp = msq_get(&msq);
            assert_true(gp->tag > 0);
            msq_put(stage.m[0], &msq, gp); /* by the node that it has */
            assert_int_equal(gp->tag, 0);
        }
        for (uint32_t i = 0; i < 10; i++) {
            struct g *gp = msq_get(&msq);
            msq_ended(&msq, gp);
            assert_int_equal(gp->tag, 0);
        }
        msq_ended(&msq, &gs[10 * round + 10]); /* was never put */
    }
    assert_int_equal(msq.made, 1 + 10 + 1); /* the numbers begin with 1 */
    assert_null(msq.block[1]);
}

static uint32_t blocks_made(void)
{
    uint32_t count = 0;
    for (const struct faaq_block *block = faaq.all; block; block = block->all)
        count++;
    return count;
}

static void pass(uint32_t tickets)
{
    for (uint32_t i = 0; i < tickets; i++) {
        faaq_put(stage.m[0], &faaq, &gs[i % 7]);
        assert_ptr_equal(faaq_get(&faaq), &gs[i % 7]);
    }
}

static void few_gs_need_few_blocks(void **state)
{
    (void)state;
    pass(BLOCKS * FAAQ_CELLS);
    assert_int_equal(blocks_made(), 2);
    assert_int_equal(faaq.table->mask + 1, FAAQ_TABLE);
    for (uint32_t i = 0; i < BLOCKS * FAAQ_CELLS; i++)
        faaq_put(stage.m[0], &faaq, &gs[i]);
    assert_true(blocks_made() >= BLOCKS && blocks_made() <= BLOCKS + 2);
    assert_true(faaq.table->mask + 1 >= BLOCKS);
    for (uint32_t i = 0; i < BLOCKS * FAAQ_CELLS; i++)
        assert_ptr_equal(faaq_get(&faaq), &gs[i]);
    uint32_t most = blocks_made();
    pass(3 * BLOCKS * FAAQ_CELLS);
    assert_int_equal(blocks_made(), most);
}

/* A writer has a ticket, and is stopped before it writes. Its block stays, others come and go. */
static void a_stopped_writer_keeps_its_block_alone(void **state)
{
    (void)state;
    uint64_t ticket = atomic_fetch_add(&faaq.tail, 1);
    assert_false(faaq_is_empty(&faaq));
    faaq_put(stage.m[0], &faaq, &gs[1]);
    assert_ptr_equal(faaq_get(&faaq), &gs[1]); /* and a reader spoils the cell */
    struct faaq_block *block = faaq_block(&faaq, 0);
    pass(BLOCKS * FAAQ_CELLS);
    assert_int_equal(blocks_made(), 3);
    assert_ptr_equal(faaq_block(&faaq, 0), block);
    assert_ptr_equal(block->cell[ticket], FAAQ_TAKEN);
    block->cell[ticket] = FAAQ_SPENT;
    pass(BLOCKS * FAAQ_CELLS);
    assert_int_equal(faaq.first, 2 * BLOCKS - 1); /* the readers' when the last was made */
    assert_int_equal(blocks_made(), 3);
    assert_int_not_equal(block->number, 0);
}

/* A writer that makes the next block is stopped before that, while others use it up. */
static void a_late_block_is_not_made(void **state)
{
    (void)state;
    pass(BLOCKS * FAAQ_CELLS);
    uint64_t first = faaq.first;
    uint32_t made = blocks_made();
    assert_true(first > 1);
    for (uint64_t n = 0; n <= BLOCKS; n++)
        faaq_make_ahead(&faaq, n);
    assert_int_equal(faaq.first, first);
    assert_int_equal(blocks_made(), made);
    assert_int_equal(faaq.table->mask + 1, FAAQ_TABLE);
    pass(BLOCKS * FAAQ_CELLS);
    assert_int_equal(blocks_made(), made);
}

/* In the moment before the tail follows. */
static void a_linked_node_is_seen_before_the_tail_moves(void **state)
{
    (void)state;
    msq_put(stage.m[0], &msq, &gs[0]);
    atomic_store(&msq.tail, 1); /* as it was */
    assert_false(msq_is_empty(&msq));
    msq_put(stage.m[0], &msq, &gs[1]);
    assert_ptr_equal(msq_get(&msq), &gs[0]);
    atomic_store(&msq.tail, UINT64_C(1) << 32 | 2);
    assert_ptr_equal(msq_get(&msq), &gs[1]); /* moves the tail before the head */
    assert_true(msq_is_empty(&msq));
    assert_int_equal(msq_size(&msq), 0);
}

/* Below grq ---------------------------------------------------------------------------------- */

static void grq_takes_no_lock_and_tells_what_waits(void **state)
{
    (void)state;
    for (int q = 0; q < QUEUES; q++) {
        struct stage of = stage_make("grq", queues[q].setting, 2);
        assert_false(of.ops->has_work(of.sched));
        ready(&of, 0, 0, 600, READY_NEW);
        ready(&of, 1, 600, 400, READY_INJECTED);
        assert_true(of.ops->has_work(of.sched));
        assert_int_equal(queued_globally(&of), 1000);
        assert_int_equal(queued(&of, 0), 0);
        for (uint32_t i = 0; i < 500; i++)
            assert_int_equal(pick(&of, i % 2)->id, i);
        assert_int_equal(of.ops->steal(of.m[1])->id, 500);
        expect_picks(&of, 1, 501, 499);
        assert_false(of.ops->has_work(of.sched));
        assert_int_equal(queued_globally(&of), 0);
        assert_int_equal(stat_now(&of, STAT_GRQ_LOCKS), 0);
        assert_int_equal(stat_now(&of, STAT_GRQ_HITS), 1000);
        assert_true(stat_now(&of, STAT_DEQUE_MAX) > 900);
        stage_free(&of);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_gives_in_the_order_of_puts),
        TEST(many_threads_lose_none_and_keep_the_order_of_each),
        TEST(there_is_a_node_for_each_g_and_one_more),
        TEST(few_gs_need_few_blocks),
        TEST(a_stopped_writer_keeps_its_block_alone),
        TEST(a_late_block_is_not_made),
        TEST(a_linked_node_is_seen_before_the_tail_moves),
        cmocka_unit_test(grq_takes_no_lock_and_tells_what_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
