/* test_ring.c - the local queue's other designs, which Go has not: an owner that takes the newest,
 * goroutines that are too young for thieves, and those that others put there. Called by hand
 * (stage.h), against a model, and raced.
 *
 * Races use real threads with bounded counts. Which thread gets a G is up to the machine; that each
 * is taken exactly once is not.
 */
#include "runtime/lrq.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/runtime/stage.h"

static const char *const variants[] = {"gmp", "perm"};

/* The worker has these, the newest first, and no more. */
static void expect_picks_back(struct stage *stage, int worker, uint32_t first, uint32_t n)
{
    while (n-- > 0)
        assert_ptr_equal(pick(stage, worker), &stage->g[first + n]);
    assert_null(pick(stage, worker));
}

static struct lrq *ring_of(struct stage *stage, int worker)
{
    return stage->m[worker]->p->variant; /* gmp's */
}

/* ring_order=lifo ----------------------------------------------------------------------------- */

static void a_lifo_owner_takes_the_newest(void **state)
{
    (void)state;
    for (size_t v = 0; v < 2; v++) {
        struct stage stage = stage_make(variants[v], "tick=0,ring_order=lifo", 1);
        ready(&stage, 0, 0, 5, READY_POLLED);
        expect_picks_back(&stage, 0, 0, 5);
        ready(&stage, 0, 0, 1, READY_POLLED);
        expect_picks_back(&stage, 0, 0, 1);
        stage_free(&stage);
    }
}

/* A thief takes the older half, rounded up, and runs the youngest of those, as from Go's ring. */
static void a_lifo_ring_loses_its_oldest_half(void **state)
{
    (void)state;
    for (size_t v = 0; v < 2; v++)
        for (uint32_t n = 1; n <= 20; n++) {
            struct stage stage = stage_make(variants[v], "tick=0,ring_order=lifo", 2);
            uint32_t half = (n + 1) / 2;
            ready(&stage, 1, 0, n, READY_POLLED);
            assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[half - 1]);
            assert_int_equal(stat_now(&stage, STAT_STOLEN), half);
            expect_picks_back(&stage, 0, 0, half - 1);
            expect_picks_back(&stage, 1, half, n - half);
            assert_null(stage.ops->steal(stage.m[0]));
            assert_false(stage.ops->has_work(stage.sched));
            stage_free(&stage);
        }
}

/* Random puts, takes and thefts against an array with two ends, round and round a ring that also
 * overflows. */
static void a_lifo_ring_equals_its_model(void **state)
{
    (void)state;
    enum { RING = 8, STEPS = 20000 };
    struct stage stage = stage_make("gmp", "tick=0,ring=8,steal=one,ring_order=lifo", 2);
    uint32_t model[RING + 1], length = 0, next = 0;
    for (int step = 0; step < STEPS; step++) {
        uint64_t dice = m_random(stage.m[0]) % 8;
        struct g *gp = NULL;
        if (dice < 4) {
            struct g *put = &stage.g[next++ % GS_MAX];
            stage.ops->ready(stage.m[1], put, READY_POLLED);
            model[length++] = put->id;
            if (length == RING + 1) { /* the oldest half and the new one are in the global queue */
                for (int i = 0; i < RING / 2 + 1; i++)
                    globq_get(stage.m[0], stage.sched->variant);
                length = RING / 2;
                memmove(model, model + RING / 2, length * sizeof *model);
            }
        } else if (dice < 6) {
            gp = pick(&stage, 1);
            assert_int_equal(gp ? gp->id : GS_MAX, length ? model[length - 1] : GS_MAX);
            length -= gp != NULL;
        } else {
            gp = stage.ops->steal(stage.m[0]);
            assert_int_equal(gp ? gp->id : GS_MAX, length ? model[0] : GS_MAX);
            length -= gp != NULL;
            memmove(model, model + 1, length * sizeof *model);
        }
        assert_int_equal(queued(&stage, 1), length);
    }
    stage_free(&stage);
}

/* steal_age_ns -------------------------------------------------------------------------------- */

#define AGE "steal_age_ns=1000000000,tick=0"

/* The first `old` in the owner's ring have been there for long. */
static void ring_ages(struct stage *stage, int worker, uint32_t old)
{
    struct lrq *ring = ring_of(stage, worker);
    for (uint32_t i = 0; i < old; i++)
        atomic_store(&ring->since[(atomic_load(&ring->head) + i) & ring->mask], 1);
}

/* A thief takes of its share what is old enough; the rest is work for all the same. */
static void young_ones_are_left_alone(void **state)
{
    (void)state;
    enum { N = 8 };
    static const char *const settings[] = {AGE, AGE ",ring_order=lifo"};
    for (size_t i = 0; i < 2; i++)
        for (uint32_t old = 0; old <= N; old++) {
            struct stage stage = stage_make("gmp", settings[i], 2);
            uint32_t taken = old < N / 2 ? old : N / 2;
            ready(&stage, 1, 0, N, READY_POLLED);
            ring_ages(&stage, 1, old);
            const struct g *gp = stage.ops->steal(stage.m[0]);
            assert_ptr_equal(gp, taken ? &stage.g[taken - 1] : NULL);
            assert_int_equal(queued(&stage, 1), N - taken);
            assert_true(stage.ops->has_work(stage.sched));
            stage_free(&stage);
        }
}

/* In runnext it is no older than there; pushed out of it, it is as old as it was. */
static void the_newest_is_young_too(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", AGE ",backoff_ns=0", 2);
    struct lrq *ring = ring_of(&stage, 1);
    ready(&stage, 1, 0, 1, READY_NEW);
    assert_null(stage.ops->steal(stage.m[0]));
    atomic_store(&ring->next_since, 1);
    ready(&stage, 1, 1, 1, READY_NEW);
    assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[0]);
    assert_null(stage.ops->steal(stage.m[0]));
    atomic_store(&ring->next_since, 1);
    assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[1]);
    assert_int_equal(stat_now(&stage, STAT_RUNNEXT_STEALS), 1);
    stage_free(&stage);
}

/* A stolen one is as old at the thief's, and one from the global queue may be taken at once. */
static void age_goes_along(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", AGE, 3);
    ready(&stage, 1, 0, 4, READY_POLLED);
    ring_ages(&stage, 1, 4);
    assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[1]);
    assert_ptr_equal(lrq_steal(stage.m[2], ring_of(&stage, 2), ring_of(&stage, 0), false, true),
                     &stage.g[0]);
    expect_picks(&stage, 1, 2, 2);
    ready(&stage, 1, 4, 9, READY_POLLED);
    expect_picks(&stage, 1, 4, 9);
    ready(&stage, 1, 20, 6, READY_INJECTED);
    assert_ptr_equal(pick(&stage, 1), &stage.g[20]);
    assert_int_equal(queued(&stage, 1), 2);
    assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[21]);
    stage_free(&stage);
}

/* An overflow that puts some back leaves them as old as before. */
static void an_overflow_leaves_ages_alone(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", AGE ",ring=8,overflow_end=newest", 2);
    ready(&stage, 1, 0, 8, READY_POLLED);
    ring_ages(&stage, 1, 3);
    ready(&stage, 1, 8, 1, READY_POLLED);
    assert_int_equal(queued(&stage, 1), 4);
    assert_ptr_equal(lrq_steal(stage.m[0], ring_of(&stage, 0), ring_of(&stage, 1), false, true),
                     &stage.g[1]);
    assert_ptr_equal(pick(&stage, 0), &stage.g[0]);
    assert_ptr_equal(lrq_steal(stage.m[0], ring_of(&stage, 0), ring_of(&stage, 1), false, true),
                     &stage.g[2]);
    assert_null(lrq_steal(stage.m[0], ring_of(&stage, 0), ring_of(&stage, 1), false, true));
    stage_free(&stage);
}

/* returns_to=own ------------------------------------------------------------------------------ */

/* n whose calls are over on an M that had `worker`'s P before. */
static void come_back(struct stage *stage, int worker, uint32_t first, uint32_t n)
{
    struct m *m = stage->m[!worker];
    m->old_p = stage->m[worker]->p;
    ready(stage, !worker, first, n, READY_INJECTED);
    m->old_p = NULL;
}

/* They come behind all that the P has, and no other queue has them. */
static void who_comes_back_is_the_last(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "tick=0,returns_to=own", 2);
    ready(&stage, 1, 0, 2, READY_POLLED);
    come_back(&stage, 1, 2, 3);
    assert_int_equal(queued(&stage, 1), 5);
    assert_int_equal(queued(&stage, 0), 0);
    assert_int_equal(queued_globally(&stage), 0);
    expect_picks(&stage, 1, 0, 5);
    assert_false(stage.ops->has_work(stage.sched));
    ready(&stage, 1, 5, 1, READY_INJECTED); /* nothing that was in a call */
    assert_int_equal(queued_globally(&stage), 1);
    stage_free(&stage);
    stage = stage_make("gmp", "tick=0", 2);
    come_back(&stage, 1, 0, 1);
    assert_int_equal(queued_globally(&stage), 1);
    stage_free(&stage);
}

/* Even if nobody holds the P, whose ring thieves pass by. */
static void thieves_take_who_came_back(void **state)
{
    (void)state;
    for (int idle = 0; idle < 2; idle++) {
        struct stage stage = stage_make("gmp", "tick=0,returns_to=own", 2);
        struct p *p = stage.m[1]->p;
        come_back(&stage, 1, 0, 2);
        atomic_store(&p->m, idle ? NULL : stage.m[1]);
        for (uint32_t i = 0; i < 2; i++) {
            assert_true(stage.ops->has_work(stage.sched));
            assert_ptr_equal(stage.ops->steal(stage.m[0]), &stage.g[i]);
        }
        assert_false(stage.ops->has_work(stage.sched));
        assert_int_equal(stat_now(&stage, STAT_STEALS), 2);
        assert_int_equal(stat_now(&stage, STAT_STOLEN), 2);
        atomic_store(&p->m, stage.m[1]);
        stage_free(&stage);
    }
}

static void a_full_ring_has_room_for_who_comes_back(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "tick=0,ring=4,returns_to=own", 2);
    ready(&stage, 1, 0, 4, READY_POLLED);
    come_back(&stage, 1, 4, 2);
    assert_ptr_equal(pick(&stage, 1), &stage.g[2]);
    assert_int_equal(queued_globally(&stage), 3); /* the older half, and the first that came */
    assert_ptr_equal(pick(&stage, 1), &stage.g[3]);
    assert_ptr_equal(pick(&stage, 1), &stage.g[5]);
    stage_free(&stage);
}

static void a_drained_p_keeps_nobody_who_came_back(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "tick=0,returns_to=own", 2);
    ready(&stage, 1, 0, 1, READY_POLLED);
    come_back(&stage, 1, 1, 2);
    stage.ops->drain(stage.m[0], stage.m[1]->p);
    assert_int_equal(queued(&stage, 1), 0);
    assert_int_equal(queued_globally(&stage), 3);
    stage_free(&stage);
}

/* Between any two instructions ---------------------------------------------------------------- */

#if STAGE_WATCHES
static bool there_is_work(struct stage *stage)
{
    return stage->ops->has_work(stage->sched);
}

/* On their way into the ring, or into the global queue if that is full. */
static void who_came_back_is_seen_all_the_time(void **state)
{
    (void)state;
    static const char *const settings[] = {"tick=0,returns_to=own", "tick=0,returns_to=own,ring=4"};
    for (size_t i = 0; i < 2; i++) {
        struct stage stage = stage_make("gmp", settings[i], 2);
        come_back(&stage, 1, 0, 7);
        watch_begin(&stage, there_is_work);
        pick(&stage, 1);
        watch_end();
        stage_free(&stage);
    }
}

enum { WORKERS = 2, CUT_GS = 3 };

/* While one worker takes, another one does, at one of its instructions. */
static struct {
    int at;            /* the instruction */
    int worker, takes; /* who comes between, and how often */
    int taken[CUT_GS]; /* how often each G was */
} cut;

static void cut_note(const struct stage *stage, const struct g *gp)
{
    if (gp)
        cut.taken[gp - stage->g]++;
}

/* Worker 1 is the owner, worker 0 a thief. */
static void cut_take(struct stage *stage, int worker)
{
    struct m *m = stage->m[worker];
    struct lrq *mine = ring_of(stage, worker), *owner = ring_of(stage, 1);
    cut_note(stage, worker == 1 ? lrq_get(m, mine, &(bool){false})
                                : lrq_steal(m, mine, owner, true, false));
}

static bool cut_in(struct stage *stage)
{
    for (int i = 0; watch.steps == cut.at && i < cut.takes; i++)
        cut_take(stage, cut.worker);
    return true;
}

/* Each of n in the owner's ring is taken once, wherever `takes` takes by `worker` come between. */
static void expect_each_once(struct stage *stage, uint32_t n, enum ready_how how, int worker,
                             int takes)
{
    int steps = 1;
    for (int at = 1; at <= steps; at++) {
        cut.at = at;
        cut.worker = worker;
        cut.takes = takes;
        memset(cut.taken, 0, sizeof cut.taken);
        ready(stage, 1, 0, n, how);
        watch_begin(stage, cut_in);
        cut_take(stage, !worker);
        watch_end();
        steps = watch.steps > steps ? watch.steps : steps;
        for (int i = 0; i < WORKERS; i++)
            for (const struct g *gp; (gp = pick(stage, i));)
                cut_note(stage, gp);
        for (uint32_t i = 0; i < n; i++)
            if (cut.taken[i] != 1)
                fail_msg("of %u, %d takes by worker %d at instruction %d: %u was taken %d times", n,
                         takes, worker, at, i, cut.taken[i]);
    }
}

static void a_lifo_ring_gives_each_once(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "tick=0,ring=8,ring_order=lifo", WORKERS);
    for (uint32_t n = 1; n <= CUT_GS; n++) {
        expect_each_once(&stage, n, READY_POLLED, 0, 1);
        for (int takes = 1; takes <= (int)n; takes++)
            expect_each_once(&stage, n, READY_POLLED, 1, takes);
    }
    stage_free(&stage);
}

/* The newest lies in runnext, which owner and thief take by different means. */
static void a_plain_runnext_gives_each_once(void **state)
{
    (void)state;
    struct stage stage = stage_make("gmp", "tick=0,runnext_owner=plain,backoff_ns=0", WORKERS);
    for (uint32_t n = 1; n <= 2; n++)
        for (int worker = 0; worker < WORKERS; worker++)
            expect_each_once(&stage, n, READY_NEW, worker, 1);
    stage_free(&stage);
}
#endif

/* Races --------------------------------------------------------------------------------------- */

enum { RACE_GS = 100000, THIEVES = 2 };

struct race {
    struct stage *stage;
    struct g *g;
    _Atomic int taken[RACE_GS]; /* how often each was */
    _Atomic int begun;
    _Atomic bool over;
};

struct thief {
    struct race *race;
    int worker;
};

static void race_note(struct race *race, const struct g *gp)
{
    atomic_fetch_add(&race->taken[gp - race->g], 1);
}

static void race_thief(void *arg)
{
    const struct thief *self = arg;
    struct race *race = self->race;
    struct m *m = race->stage->m[self->worker];
    bool over;
    atomic_fetch_add(&race->begun, 1);
    do {
        over = atomic_load(&race->over);
        struct g *gp = lrq_steal(m, m->p->variant, ring_of(race->stage, 0), true, false);
        for (; gp; gp = lrq_get(m, m->p->variant, &(bool){false}))
            race_note(race, gp);
    } while (!over);
}

/* The owner keeps at most `depth`, so that it meets thieves at the last one when that is 1. */
static void race_run(const char *settings, uint64_t depth, int gs)
{
    struct stage stage = stage_make("gmp", settings, 1 + THIEVES);
    struct race *race = calloc(1, sizeof *race);
    struct lrq *ring = ring_of(&stage, 0);
    struct machine_thread threads[THIEVES];
    struct thief thieves[THIEVES];
    race->stage = &stage;
    race->g = aligned_alloc(64, RACE_GS * sizeof *race->g);
    memset(race->g, 0, RACE_GS * sizeof *race->g);
    for (int i = 0; i < THIEVES; i++) {
        thieves[i] = (struct thief){race, 1 + i};
        machine_thread_start(&threads[i], race_thief, &thieves[i], 1 << 18, -1);
    }
    while (atomic_load(&race->begun) < THIEVES)
        machine_yield();
    for (int i = 0; i < gs;) {
        for (uint64_t n = m_random(stage.m[0]) % depth + 1; n > 0 && i < gs; n--)
            lrq_put(stage.m[0], ring, stage.sched->variant, &race->g[i++], n == 2);
        for (uint64_t n = m_random(stage.m[0]) % depth + 1; n > 0; n--) {
            const struct g *gp = lrq_get(stage.m[0], ring, &(bool){false});
            if (gp)
                race_note(race, gp);
        }
    }
    atomic_store(&race->over, true);
    for (int i = 0; i < THIEVES; i++)
        machine_thread_join(&threads[i]);
    for (const struct g *gp; (gp = lrq_get(stage.m[0], ring, &(bool){false}));)
        race_note(race, gp);
    for (const struct g *gp; (gp = globq_get(stage.m[0], stage.sched->variant));)
        race_note(race, gp);
    for (int i = 0; i < gs; i++)
        assert_int_equal(race->taken[i], 1);
    free(race->g);
    free(race);
    stage_free(&stage);
}

static void a_lifo_owner_races_thieves_for_the_last(void **state)
{
    (void)state;
    race_run("tick=0,ring_order=lifo", 1, RACE_GS);
    race_run("tick=0,ring_order=lifo", 2, RACE_GS);
}

static void a_lifo_ring_overflows_beside_thieves(void **state)
{
    (void)state;
    race_run("tick=0,ring=4,ring_order=lifo", 9, RACE_GS);
    race_run("tick=0,ring=4,ring_order=lifo,overflow_end=newest", 9, RACE_GS);
    race_run("tick=0,ring=4,ring_order=lifo,overflow_end=new", 9, RACE_GS);
}

/* Few: each theft is a call of the kernel that interrupts the others. */
static void an_owner_races_thieves_for_a_plain_runnext(void **state)
{
    (void)state;
    race_run("tick=0,runnext_owner=plain,backoff_ns=0", 2, RACE_GS / 20);
    race_run("tick=0,runnext_owner=plain,backoff_ns=0", 4, RACE_GS / 20);
}

static int begin(void **state)
{
    (void)state;
    return machine_init(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lifo_owner_takes_the_newest),
        cmocka_unit_test(a_lifo_ring_loses_its_oldest_half),
        cmocka_unit_test(a_lifo_ring_equals_its_model),
        cmocka_unit_test(young_ones_are_left_alone),
        cmocka_unit_test(the_newest_is_young_too),
        cmocka_unit_test(age_goes_along),
        cmocka_unit_test(an_overflow_leaves_ages_alone),
        cmocka_unit_test(who_comes_back_is_the_last),
        cmocka_unit_test(thieves_take_who_came_back),
        cmocka_unit_test(a_full_ring_has_room_for_who_comes_back),
        cmocka_unit_test(a_drained_p_keeps_nobody_who_came_back),
#if STAGE_WATCHES
        cmocka_unit_test(who_came_back_is_seen_all_the_time),
        cmocka_unit_test(a_lifo_ring_gives_each_once),
        cmocka_unit_test(a_plain_runnext_gives_each_once),
#endif
        cmocka_unit_test(a_lifo_owner_races_thieves_for_the_last),
        cmocka_unit_test(a_lifo_ring_overflows_beside_thieves),
        cmocka_unit_test(an_owner_races_thieves_for_a_plain_runnext),
    };
    return cmocka_run_group_tests_name("ring", tests, begin, NULL);
}
