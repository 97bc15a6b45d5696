/* test_queues.c - the run queues of the variants, called by hand: no worker runs, and one thread
 * plays them all. So what a thief takes, what a visit to the global queue takes, and what is told
 * of a queue is exact at any number of Ps.
 *
 * Some of it holds between any two instructions: a G is in its slot before an index says so, and
 * has_work() sees what moves from one queue to the other. There the processor stops after each
 * instruction (x86-64, no sanitizer), and the test looks.
 */
#include "runtime/lrq.h"
#include "runtime/timer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/runtime/stage.h"

/* Thieves ------------------------------------------------------------------------------------- */

/* A thief takes the older half of n, rounded up, and runs the youngest of those. */
static void a_thief_takes_half_rounded_up(void **state)
{
    (void)state;
    static const char *const variants[] = {"gmp", "perm"};
    for (size_t v = 0; v < 2; v++)
        for (uint32_t n = 1; n <= 256; n = n < 10 ? n + 1 : 2 * n - n % 2) {
            struct stage stage = stage_make(variants[v], "tick=0", 2);
            uint32_t half = (n + 1) / 2;
            ready(&stage, 1, 0, n, READY_POLLED);
            const struct g *gp = stage.ops->steal(stage.m[0]);
            assert_non_null(gp);
            assert_int_equal(gp->id, half - 1);
            assert_int_equal(stat_now(&stage, STAT_STOLEN), half);
            assert_int_equal(stat_now(&stage, STAT_STEALS), 1);
            expect_picks(&stage, 0, 0, half - 1);
            expect_picks(&stage, 1, half, n - half);
            stage_free(&stage);
        }
}

/* The other shares, of queues of 1, 5 and 8. */
static void a_thief_takes_the_share_that_the_knob_says(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        uint32_t of_1, of_5, of_8;
    } rows[] = {{"steal=one", 1, 1, 1},
                {"steal=quarter", 1, 2, 2},
                {"steal=half", 1, 3, 4},
                {"steal=threequarters", 1, 4, 6},
                {"steal=all", 1, 5, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint32_t sizes[] = {1, 5, 8}, shares[] = {rows[i].of_1, rows[i].of_5, rows[i].of_8};
        for (size_t k = 0; k < 3; k++) {
            struct stage stage = stage_make("gmp", rows[i].settings, 2);
            ready(&stage, 1, 0, sizes[k], READY_POLLED);
            assert_non_null(stage.ops->steal(stage.m[0]));
            assert_int_equal(stat_now(&stage, STAT_STOLEN), shares[k]);
            assert_int_equal(queued(&stage, 0), shares[k] - 1);
            assert_int_equal(queued(&stage, 1), sizes[k] - shares[k]);
            stage_free(&stage);
        }
    }
}

/* Whichever of four has it, the others find it. */
static void a_thief_comes_to_every_victim(void **state)
{
    (void)state;
    static const char *const variants[] = {"gmp", "perm", "permits", "tasksteal", "contsteal"};
    for (size_t v = 0; v < 5; v++)
        for (int victim = 0; victim < PS_MAX; victim++)
            for (int thief = 0; thief < PS_MAX; thief++) {
                if (thief == victim)
                    continue; /* who has work does not steal */
                bool rings = support_takes(support_variant(variants[v])->knobs, "passes");
                struct stage stage = stage_make(variants[v], rings ? "passes=1" : "", PS_MAX);
                machine_set_self(stage.m[thief]);
                ready(&stage, victim, 0, 1, READY_POLLED);
                assert_ptr_equal(stage.ops->steal(stage.m[thief]), &stage.g[0]);
                stage_free(&stage);
            }
}

/* Two of four Ps each share a cache. A near victim is robbed before a far one, and of thefts the
 * far ones are counted. */
static void a_near_victim_is_robbed_first(void **state)
{
    (void)state;
    static const char *const variants[] = {"gmp", "perm"};
    static const int32_t pairs[PS_MAX] = {0, 0, 1, 1};
    for (int round = 0; round < 64; round++) {
        int thief = round % 4, near = thief ^ 1, far = (thief < 2 ? 2 : 0) + round / 4 % 2;
        struct stage stage = stage_make(variants[round / 8 % 2], "victim=near,passes=1", 4);
        stage.sched->groups = pairs;
        for (int i = 0; i < 4; i++)
            atomic_store(&stage.m[i]->core, i);
        machine_set_self(stage.m[thief]);
        ready(&stage, far, 0, 1, READY_POLLED);
        ready(&stage, near, 1, 1, READY_POLLED);
        assert_ptr_equal(stage.ops->steal(stage.m[thief]), &stage.g[1]);
        assert_int_equal(stat_now(&stage, STAT_STEALS_FAR), 0);
        assert_ptr_equal(stage.ops->steal(stage.m[thief]), &stage.g[0]);
        assert_int_equal(stat_now(&stage, STAT_STEALS_FAR), 1);
        assert_null(stage.ops->steal(stage.m[thief]));
        stage_free(&stage);
    }
}

static void thefts_from_far_are_counted(void **state)
{
    (void)state;
    static const char *const variants[] = {"gmp", "perm", "tasksteal", "contsteal"};
    static const int32_t pairs[PS_MAX] = {0, 0, 1, 1};
    for (int round = 0; round < 16; round++) {
        int victim = 1 + round % 3;
        struct stage stage = stage_make(variants[round / 4], "", 4);
        stage.sched->groups = round % 2 ? pairs : NULL;
        for (int i = 0; i < 4; i++)
            atomic_store(&stage.m[i]->core, i);
        ready(&stage, victim, 0, 1, READY_POLLED);
        assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[0]);
        assert_int_equal(stat_now(&stage, STAT_STEALS), 1);
        assert_int_equal(stat_now(&stage, STAT_STEALS_FAR), round % 2 && victim > 1);
        stage_free(&stage);
    }
}

/* Two of four Ps each have a global queue. Their own is what they take from; others' come last. */
static void an_own_global_queue_comes_first(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "globals=2,tick=0,take=one", 4);
    ready(&stage, 3, 0, 1, READY_PREEMPTED);
    ready(&stage, 0, 1, 2, READY_YIELD);
    assert_int_equal(queued_globally(&stage), 3);
    assert_ptr_equal(pick(&stage, 1), &stage.g[1]);
    assert_ptr_equal(pick(&stage, 2), &stage.g[0]);
    assert_int_equal(stat_now(&stage, STAT_GRQ_FAR), 0);
    assert_null(pick(&stage, 2));
    assert_true(stage.ops->has_work(stage.sched));
    assert_true(stage.sched->picks_last);
    assert_ptr_equal(stage.ops->steal(stage.m[2]), &stage.g[2]);
    assert_int_equal(stat_now(&stage, STAT_GRQ_FAR), 1);
    assert_int_equal(stat_now(&stage, STAT_GRQ_HITS), 3);
    assert_false(stage.ops->has_work(stage.sched));
    stage_free(&stage);
}

/* A spinner asks its victims first, one that may not search asks the global queue alone. */
static void a_search_comes_before_the_global_queue(void **state)
{
    (void)state;
    static const char *const variants[] = {"gmp", "perm"};
    for (int i = 0; i < 2; i++) {
        struct stage stage = stage_make(variants[i], "search=steal,tick=0,take=one", 2);
        ready(&stage, 1, 0, 2, READY_POLLED);
        ready(&stage, 0, 2, 2, READY_YIELD);
        assert_null(pick(&stage, 0));
        assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[2]);
        assert_int_equal(stat_now(&stage, STAT_VICTIM_PROBES), 0);
        stage.m[0]->spinning = true;
        assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[0]);
        assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[1]);
        assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[3]);
        assert_null(stage.ops->steal(stage.m[0]));
        stage_free(&stage);
    }
}

/* Whatever the own queue has, each other one is first at some tick. */
static void no_global_queue_waits_for_its_own_ps(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "globals=4,tick=1", 4);
    for (int i = 0; i < 4; i++)
        ready(&stage, i, (uint32_t)i * 10, 10, READY_YIELD);
    int taken[4] = {0};
    for (uint32_t tick = 0; tick < 12; tick++) {
        atomic_store(&stage.m[0]->p->schedtick, tick);
        taken[pick(&stage, 0)->id / 10]++;
    }
    assert_int_equal(taken[0], 6);
    for (int i = 1; i < 4; i++)
        assert_int_equal(taken[i], 2);
    assert_int_equal(stat_now(&stage, STAT_GRQ_FAR), 6);
    stage_free(&stage);
}

/* Sixteen of a group's queue are shared by the two Ps of the group; of another's by all four. */
static void a_share_is_of_those_who_share_the_queue(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "globals=2,tick=0", 4);
    ready(&stage, 0, 0, 16, READY_YIELD);
    assert_ptr_equal(pick(&stage, 1), &stage.g[0]);
    assert_int_equal(queued(&stage, 1), 8);
    assert_ptr_equal(stage.ops->steal(stage.m[3]), &stage.g[9]);
    assert_int_equal(queued(&stage, 3), 1);
    stage_free(&stage);
}

/* Groups that the machine has; a thread without a P puts where the P of the call was. */
static void groups_are_those_of_the_machine(void **state)
{
    (void)state;
    static const int32_t groups[PS_MAX] = {0, 1, 1, 0};
    struct stage one = stage_make("gmp", "globals=group", 4);
    assert_ptr_equal(one.ops, support_variant("gmp"));
    stage_free(&one);
    struct stage stage = stage_of("gmp", "globals=group,tick=0", 4, groups);
    ready(&stage, 3, 0, 1, READY_YIELD);
    assert_ptr_equal(pick(&stage, 0), &stage.g[0]);
    struct m caller = {.sched = stage.sched, .ops = stage.ops, .old_p = stage.m[2]->p};
    stage.ops->ready(&caller, &stage.g[1], READY_INJECTED);
    assert_null(pick(&stage, 0));
    assert_ptr_equal(pick(&stage, 1), &stage.g[1]);
    stage_free(&stage);
}

/* Deques are robbed at the other end than the one at which their owners take. */
static void a_thief_takes_the_oldest_of_a_deque(void **state)
{
    (void)state;
    static const char *const variants[] = {"tasksteal", "contsteal"};
    for (size_t v = 0; v < 2; v++) {
        struct stage stage = stage_make(variants[v], "", 2);
        ready(&stage, 1, 0, 3, READY_WOKEN);
        assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[0]);
        assert_ptr_equal(pick(&stage, 1), &stage.g[2]);
        assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[1]);
        assert_null(stage.ops->steal(stage.m[0]));
        assert_null(pick(&stage, 1));
        assert_int_equal(stat_now(&stage, STAT_STEALS), 2);
        assert_int_equal(stat_now(&stage, STAT_STEALS_FAILED), 1);
        stage_free(&stage);
    }
}

/* The thief naps before it takes the newest of one that runs, and of no other. Here the C library's
 * function is this one, which counts and returns at once. */
static int naps;

int(nanosleep)(const struct timespec *time, struct timespec *left)
{
    (void)time, (void)left;
    naps++;
    return 0;
}

static void expect_naps(const char *variant, const char *settings, bool in_call, int expected)
{
    struct stage stage = stage_make(variant, settings, 2);
    struct m *victim = stage.m[1];
    ready(&stage, 1, 0, 1, READY_NEW);
    if (in_call) { /* as enter_marked() does */
        atomic_store(&victim->p->call, 1);
        atomic_store(&victim->call_p, victim->p);
    }
    naps = 0;
    assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[0]);
    assert_int_equal(stat_now(&stage, STAT_RUNNEXT_STEALS), 1);
    assert_int_equal(naps, expected);
    atomic_store(&victim->call_p, NULL);
    stage_free(&stage);
}

static void a_thief_backs_off_from_who_runs(void **state)
{
    (void)state;
    expect_naps("gmp", "", false, 1);
    expect_naps("perm", "", false, 1);
    expect_naps("gmp", "backoff_ns=0", false, 0);
}

static void a_thief_does_not_back_off_from_who_is_in_a_call(void **state)
{
    (void)state;
    expect_naps("gmp", "", true, 0);
    expect_naps("perm", "", true, 0);
}

/* With a private slot there is nothing to steal; perm's is private only to who is in no call. */
static void a_private_newest_is_not_stolen(void **state)
{
    (void)state;
    static const char *const variants[] = {"gmp", "perm"};
    for (size_t v = 0; v < 2; v++) {
        struct stage stage = stage_make(variants[v], "backoff_ns=never", 2);
        ready(&stage, 1, 0, 1, READY_NEW);
        assert_null(stage.ops->steal(stage.m[0]));
        assert_false(stage.ops->has_work(stage.sched));
        assert_ptr_equal(pick(&stage, 1), &stage.g[0]);
        stage_free(&stage);
    }
}

/* The global queue -------------------------------------------------------------------------------
 */

/* A visit takes 1/P of them and one more, half a ring at most. */
static void a_visit_takes_its_share_and_one_more(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 4, 7, 100, 126, 127, 128, 255, 509, 600};
    for (int procs = 1; procs <= PS_MAX; procs++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct stage stage = stage_make("gmp", "tick=0", procs);
            uint32_t n = sizes[i], batch = n / (uint32_t)procs + 1;
            batch = batch < n ? batch : n;
            batch = batch < 128 ? batch : 128;
            ready(&stage, 0, 0, n, READY_INJECTED);
            assert_ptr_equal(pick(&stage, 0), &stage.g[0]);
            assert_int_equal(queued(&stage, 0), batch - 1);
            assert_int_equal(queued_globally(&stage), n - batch);
            stage_free(&stage);
        }
}

static void a_visit_takes_what_the_knob_says(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        int64_t taken; /* of 100, by one of two Ps with a ring of 64 */
    } rows[] = {{"take=one", 1},  {"take=batch", 32}, {"take=half", 26},
                {"take=all", 64}, {"take=40", 40},    {"take=1000", 64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char settings[64] = "tick=0,ring=64,";
        struct stage stage = stage_make("gmp", strcat(settings, rows[i].settings), 2);
        ready(&stage, 0, 0, 100, READY_INJECTED);
        assert_ptr_equal(pick(&stage, 0), &stage.g[0]);
        assert_int_equal(queued_globally(&stage), 100 - rows[i].taken);
        assert_int_equal(queued(&stage, 0), rows[i].taken - 1);
        stage_free(&stage);
    }
}

/* It comes first whenever schedtick is a multiple of the tick, and then gives one. */
static void the_tick_takes_one(void **state)
{
    (void)state;
    static const char *const variants[] = {"gmp", "perm", "tasksteal", "contsteal"};
    for (size_t v = 0; v < 4; v++)
        for (uint32_t tick = 0; tick < 130; tick++) {
            struct stage stage = stage_make(variants[v], "tick=61", 1);
            struct p *p = stage.m[0]->p;
            ready(&stage, 0, 0, 2, READY_INJECTED);
            ready(&stage, 0, 2, 1, READY_POLLED);
            atomic_store(&p->schedtick, tick);
            assert_ptr_equal(pick(&stage, 0), &stage.g[tick % 61 == 0 ? 0 : 2]);
            assert_int_equal(queued_globally(&stage), tick % 61 == 0 ? 1 : 2);
            stage_free(&stage);
        }
}

/* Places in queues ---------------------------------------------------------------------------- */

/* A yielder goes behind all: with yield=local behind what its worker has, else where all look. */
static void a_yielder_is_not_the_next(void **state)
{
    (void)state;
    static const char *const variants[] = {"gmp", "perm"};
    for (size_t v = 0; v < 2; v++) {
        struct stage stage = stage_make(variants[v], "tick=0,yield=local", 2);
        ready(&stage, 0, 0, 3, READY_POLLED);
        ready(&stage, 0, 3, 1, READY_YIELD);
        assert_int_equal(queued(&stage, 0), 4);
        expect_picks(&stage, 0, 0, 4);
        assert_int_equal(stat_now(&stage, STAT_RUNNEXT_HITS), 0);
        stage_free(&stage);
        stage = stage_make(variants[v], "tick=0", 2);
        ready(&stage, 0, 0, 1, READY_YIELD);
        assert_int_equal(queued_globally(&stage), 1);
        stage_free(&stage);
    }
}

/* A G that yields, or was polled, goes behind those of its worker. One that was preempted, or comes
 * back from a call, goes where all look. */
static void only_the_new_and_the_woken_are_next(void **state)
{
    (void)state;
    static const enum ready_how nexts[] = {READY_NEW, READY_WOKEN};
    static const enum ready_how behind[] = {READY_STEP_BACK, READY_POLLED};
    static const enum ready_how global[] = {READY_PREEMPTED, READY_INJECTED};
    static const char *const variants[] = {"gmp", "perm"};
    for (size_t v = 0; v < 2; v++)
        for (size_t i = 0; i < 2; i++) {
            struct stage stage = stage_make(variants[v], "tick=0", 1);
            ready(&stage, 0, 0, 1, READY_POLLED);
            ready(&stage, 0, 1, 1, behind[i]);
            ready(&stage, 0, 2, 1, nexts[i]);
            ready(&stage, 0, 3, 1, global[i]);
            assert_int_equal(queued_globally(&stage), 1);
            assert_ptr_equal(pick(&stage, 0), &stage.g[2]);
            assert_ptr_equal(pick(&stage, 0), &stage.g[0]);
            assert_ptr_equal(pick(&stage, 0), &stage.g[1]);
            assert_ptr_equal(pick(&stage, 0), &stage.g[3]);
            stage_free(&stage);
        }
}

/* A G that yields does not get the deque's newest place: the next pop would return it at once. */
static void a_deque_takes_no_yielder(void **state)
{
    (void)state;
    static const enum ready_how global[] = {READY_YIELD, READY_STEP_BACK, READY_PREEMPTED,
                                            READY_INJECTED};
    static const enum ready_how local[] = {READY_NEW, READY_WOKEN, READY_PARENT, READY_POLLED};
    static const char *const variants[] = {"tasksteal", "contsteal"};
    for (size_t v = 0; v < 2; v++)
        for (size_t i = 0; i < 4; i++) {
            struct stage stage = stage_make(variants[v], "", 1);
            ready(&stage, 0, 0, 1, global[i]);
            assert_int_equal(queued_globally(&stage), 1);
            ready(&stage, 0, 1, 1, local[i]);
            assert_int_equal(queued_globally(&stage), 1);
            assert_int_equal(queued(&stage, 0), 1);
            stage_free(&stage);
        }
}

/* A full ring gives half away, the oldest, and the one that did not fit. */
static void a_full_ring_gives_half_and_one_away(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        int64_t global;
        uint32_t global_first;
    } rows[] = {{"ring=8", 5, 0},
                {"ring=8,overflow=one", 2, 0},
                {"ring=8,overflow=quarter", 3, 0},
                {"ring=8,overflow=all", 9, 0},
                {"ring=8,overflow_end=newest", 5, 4},
                {"ring=8,overflow_end=new", 1, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stage stage = stage_make("gmp", rows[i].settings, 2);
        ready(&stage, 0, 0, 9, READY_POLLED);
        assert_int_equal(stat_now(&stage, STAT_OVERFLOWS), 1);
        assert_int_equal(queued(&stage, 0), 9 - rows[i].global);
        assert_int_equal(queued_globally(&stage), rows[i].global);
        const struct globq *globq = stage.sched->variant; /* its first field */
        assert_int_equal(globq->fifo.lane[0].head->id, rows[i].global_first);
        stage_free(&stage);
    }
}

/* Gs put one at a time come out in that order, round and round the ring. */
static void a_ring_goes_round(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "tick=0,ring=4", 1);
    for (uint32_t i = 0; i < 40; i++) {
        ready(&stage, 0, i, 3, READY_POLLED);
        expect_picks(&stage, 0, i, 3);
    }
    assert_int_equal(stat_now(&stage, STAT_OVERFLOWS), 0);
    assert_int_equal(stat_now(&stage, STAT_DEQUE_MAX), 3);
    stage_free(&stage);
}

/* static deals to worker 1 first, then to the next, and what it has dealt stays there. */
static void static_deals_in_turn(void **state)
{
    (void)state;
    static const int first[] = {1, 2, 3, 0, 1, 2}, blocks[] = {1, 1, 1, 2, 2, 2};
    struct stage stage = stage_make("static", "", PS_MAX);
    for (uint32_t i = 0; i < 6; i++) {
        ready(&stage, 0, i, 1, READY_NEW);
        assert_int_equal(stage.g[i].tag, first[i]);
        assert_ptr_equal(pick(&stage, first[i]), &stage.g[i]);
        ready(&stage, 3, i, 1, READY_WOKEN);
        assert_ptr_equal(pick(&stage, first[i]), &stage.g[i]);
    }
    stage_free(&stage);
    stage = stage_make("static", "block=3", PS_MAX);
    for (uint32_t i = 0; i < 6; i++) {
        ready(&stage, 0, i, 1, READY_NEW);
        assert_int_equal(stage.g[i].tag, blocks[i]);
    }
    stage_free(&stage);
}

/* has_work() ---------------------------------------------------------------------------------- */

/* It sees what any worker has put anywhere, and nothing when all has been taken. */
static void has_work_sees_every_queue(void **state)
{
    (void)state;
    static const char *const variants[] = {"gmp", "perm", "grq", "tasksteal", "contsteal"};
    for (size_t v = 0; v < 5; v++)
        for (int how = READY_NEW; how <= READY_INJECTED; how++)
            for (int worker = 0; worker < PS_MAX; worker++) {
                struct stage stage = stage_make(variants[v], "", PS_MAX);
                assert_false(stage.ops->has_work(stage.sched));
                ready(&stage, worker, 0, 1, (enum ready_how)how);
                if (!stage.ops->has_work(stage.sched))
                    fail_msg("%s: worker %d, ready_how %d is not seen", variants[v], worker, how);
                assert_ptr_equal(pick(&stage, worker), &stage.g[0]);
                assert_false(stage.ops->has_work(stage.sched));
                stage_free(&stage);
            }
    struct stage stage = stage_make("uthread", "", 1);
    assert_false(stage.ops->has_work(stage.sched));
    ready(&stage, 0, 0, 1, READY_NEW);
    assert_true(stage.ops->has_work(stage.sched));
    expect_picks(&stage, 0, 0, 1);
    stage_free(&stage);
}

/* With runnext_wake=off a worker keeps to itself what it has just readied, if that is all. */
static void a_worker_keeps_its_newest_alone(void **state)
{
    (void)state;
    static const char *const variants[] = {"gmp", "perm"};
    for (size_t v = 0; v < 2; v++) {
        struct stage stage = stage_make(variants[v], "runnext_wake=off", 2);
        struct m *m = stage.m[0];
        assert_false(stage.ops->keeps(m));
        ready(&stage, 0, 0, 1, READY_WOKEN);
        assert_true(stage.ops->keeps(m));
        ready(&stage, 0, 1, 1, READY_INJECTED);
        assert_false(stage.ops->keeps(m));
        stage_free(&stage);
        stage = stage_make(variants[v], "runnext_wake=off", 2);
        ready(&stage, 0, 0, 2, READY_WOKEN);
        assert_false(stage.ops->keeps(stage.m[0]));
        stage_free(&stage);
    }
}

/* A P that is given up ---------------------------------------------------------------------------
 */

/* All that it has goes where every worker looks, the newest last. */
static void a_drained_p_keeps_nothing(void **state)
{
    (void)state;
    static const char *const variants[] = {"gmp", "perm", "tasksteal", "contsteal"};
    for (size_t v = 0; v < 4; v++) {
        struct stage stage = stage_make(variants[v], "tick=0", 2);
        struct p *p = stage.m[0]->p;
        ready(&stage, 0, 0, 5, READY_POLLED);
        ready(&stage, 0, 5, 1, READY_NEW);
        p->retired = true;
        stage.ops->drain(stage.m[0], p);
        p->retired = false;
        assert_int_equal(queued_globally(&stage), 6);
        assert_int_equal(queued(&stage, 0), 0);
        assert_ptr_equal(pick(&stage, 1), &stage.g[0]);
        stage_free(&stage);
    }
}

/* A worker that is to be used no more hands its timers to P 0. */
static void a_retired_p_hands_its_timers_on(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "", 3);
    struct m *m = stage.m[2];
    struct p *p = m->p;
    machine_set_self(m);
    timers_add(m, &stage.g[0], 1000);
    timers_add(m, &stage.g[1], 2000);
    p->retired = true;
    lock_acquire(&stage.sched->lock);
    idle_p_put(m, p);
    lock_release(&stage.sched->lock);
    assert_true(atomic_load(&p->timers->next) == INT64_MAX);
    assert_true(atomic_load(&stage.sched->allp[0]->timers->next) == 1000);
    assert_int_equal(stage.sched->allp[0]->timers->count, 2);
    stage_free(&stage);
}

/* Between any two instructions ---------------------------------------------------------------- */

#if STAGE_WATCHES
/* Each G of the ring is one, and none is there twice. */
static bool rings_are_whole(struct stage *stage)
{
    static bool seen[GS_MAX];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < stage->sched->procs; i++) {
        struct lrq *lrq = stage->sched->allp[i]->variant;
        uint32_t tail = atomic_load(&lrq->tail);
        for (uint32_t at = atomic_load(&lrq->head); at != tail; at++) {
            const struct g *gp = atomic_load(&lrq->slot[at & lrq->mask]);
            if (gp < stage->g || gp >= stage->g + GS_MAX || seen[gp->id])
                return false;
            seen[gp->id] = true;
        }
    }
    return true;
}

static bool there_is_work(struct stage *stage)
{
    return rings_are_whole(stage) && stage->ops->has_work(stage->sched);
}

static void a_slot_is_written_before_the_index(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "tick=0,ring=8", 2);
    watch_begin(&stage, rings_are_whole);
    ready(&stage, 0, 0, 6, READY_POLLED);
    ready(&stage, 0, 6, 2, READY_NEW);
    watch_end();
    watch_begin(&stage, rings_are_whole);
    stage.ops->steal(stage.m[1]);
    watch_end();
    stage_free(&stage);
}

static void an_overflow_leaves_whole_rings(void **state)
{
    (void)state;
    static const char *const settings[] = {"ring=8", "ring=8,overflow_end=newest"};
    for (size_t i = 0; i < 2; i++) {
        struct stage stage = stage_make("gmp", settings[i], 2);
        ready(&stage, 0, 0, 8, READY_POLLED);
        watch_begin(&stage, rings_are_whole);
        ready(&stage, 0, 8, 1, READY_POLLED);
        watch_end();
        assert_int_equal(stat_now(&stage, STAT_OVERFLOWS), 1);
        stage_free(&stage);
    }
}

/* A batch on its way from the global queue to the ring is seen in one of them at any time; and so
 * is one whose place in runnext another one takes. */
static void what_moves_is_seen_all_the_time(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "tick=0", 1);
    ready(&stage, 0, 0, 10, READY_INJECTED);
    watch_begin(&stage, there_is_work);
    pick(&stage, 0);
    watch_end();
    assert_int_equal(queued(&stage, 0), 9);
    stage_free(&stage);
    stage = stage_make("gmp", "tick=0", 1);
    ready(&stage, 0, 0, 1, READY_NEW);
    watch_begin(&stage, there_is_work);
    ready(&stage, 0, 1, 1, READY_NEW);
    watch_end();
    stage_free(&stage);
}

static bool anything_goes(struct stage *stage)
{
    return stage != NULL;
}

/* How many instructions a search takes that finds nothing among so many threads. */
static int search_steps(int ms)
{
    struct stage stage = stage_make("perm", "tick=0", 2);
    for (int i = stage.sched->procs; i < ms; i++) {
        struct m *m = m_new(stage.sched, stage.m[1]->p); /* and lost it in a call */
        m->p = NULL;
    }
    atomic_store(&stage.m[1]->p->m, stage.m[1]);
    watch_begin(&stage, anything_goes);
    stage.ops->steal(stage.m[0]);
    watch_end();
    stage_free(&stage);
    return watch.steps;
}

/* Eight times as many threads cost about eight times as much, and not the square. */
static void a_search_reaches_each_thread_at_once(void **state)
{
    (void)state;
    int few = search_steps(12), many = search_steps(96);
    assert_in_range(many, 4 * few, 12 * few);
}
#endif

static int begin(void **state)
{
    (void)state;
    return machine_init(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thief_takes_half_rounded_up),
        cmocka_unit_test(a_thief_takes_the_share_that_the_knob_says),
        cmocka_unit_test(a_thief_comes_to_every_victim),
        cmocka_unit_test(a_near_victim_is_robbed_first),
        cmocka_unit_test(thefts_from_far_are_counted),
        cmocka_unit_test(an_own_global_queue_comes_first),
        cmocka_unit_test(a_search_comes_before_the_global_queue),
        cmocka_unit_test(no_global_queue_waits_for_its_own_ps),
        cmocka_unit_test(a_share_is_of_those_who_share_the_queue),
        cmocka_unit_test(groups_are_those_of_the_machine),
        cmocka_unit_test(a_thief_takes_the_oldest_of_a_deque),
        cmocka_unit_test(a_thief_backs_off_from_who_runs),
        cmocka_unit_test(a_thief_does_not_back_off_from_who_is_in_a_call),
        cmocka_unit_test(a_private_newest_is_not_stolen),
        cmocka_unit_test(a_visit_takes_its_share_and_one_more),
        cmocka_unit_test(a_visit_takes_what_the_knob_says),
        cmocka_unit_test(the_tick_takes_one),
        cmocka_unit_test(a_yielder_is_not_the_next),
        cmocka_unit_test(only_the_new_and_the_woken_are_next),
        cmocka_unit_test(a_deque_takes_no_yielder),
        cmocka_unit_test(a_full_ring_gives_half_and_one_away),
        cmocka_unit_test(a_ring_goes_round),
        cmocka_unit_test(static_deals_in_turn),
        cmocka_unit_test(has_work_sees_every_queue),
        cmocka_unit_test(a_worker_keeps_its_newest_alone),
        cmocka_unit_test(a_drained_p_keeps_nothing),
        cmocka_unit_test(a_retired_p_hands_its_timers_on),
#if STAGE_WATCHES
        cmocka_unit_test(a_slot_is_written_before_the_index),
        cmocka_unit_test(an_overflow_leaves_whole_rings),
        cmocka_unit_test(what_moves_is_seen_all_the_time),
        cmocka_unit_test(a_search_reaches_each_thread_at_once),
#endif
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
