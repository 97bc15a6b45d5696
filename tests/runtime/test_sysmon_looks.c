/* test_sysmon_looks.c - what sysmon does at each look, which the test makes in its place: no thread
 * runs, and the time of a look is what the test says. So it is exact which look takes a P away.
 *
 * sysmon.c is included, for the functions that it keeps to itself; those that it offers have other
 * names here.
 */
#define sysmon_words looks_words
#define sysmon_wake_slow looks_wake_slow
#define sysmon_start looks_start
#define sysmon_stop looks_stop
#define sysmon_join looks_join
#define sysmon_stat looks_stat
#include "runtime/sysmon.c" /* NOLINT(bugprone-suspicious-include) */

#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SLICE_NS = 1000000, LENIENT_NS = 5000000, LOOK_NS = 100000 };

#define SETTINGS                                                                                   \
    "preempt=coop,slice_ns=1000000,lenient_ns=5000000,sysmon_ns=1000,sysmon_rounds=3,"             \
    "sysmon_max_ns=16000"

/* Two Ps; M 0 holds P 0. P 1 is idle, and so is a third M, which gets what is given away. */
struct stage {
    struct sched *sched;
    struct sysmon *sysmon;
    void *knobs;
    struct m *m, *taker;
    struct p *p;
    int64_t now;
};

static struct stage stage_make(const char *settings)
{
    const struct sched_ops *ops = support_variant("gmp");
    struct stage stage = {.knobs = calloc(1, ops->knobs_size), .now = 1000};
    int error = 0;
    support_set(stage.knobs, ops->knobs, settings);
    struct sched_config config = {.ops = ops, .knobs = stage.knobs, .workers = 2, .seed = 1};
    stage.sched = sched_new(&config, &error);
    assert_non_null(stage.sched);
    stage.p = idle_p_take(stage.sched);
    stage.m = m_new(stage.sched, stage.p);
    struct p *other = idle_p_take(stage.sched);
    stage.taker = m_new(stage.sched, other);
    stage.taker->p = NULL;
    lock_acquire(&stage.sched->lock);
    idle_p_put(stage.m, other);
    lock_release(&stage.sched->lock);
    stage.sched->idle_m = stage.taker;
    stage.sched->idle_ms = 1;
    stage.sysmon = sched_zalloc(sizeof *stage.sysmon + 2 * sizeof stage.sysmon->seen[0], "sysmon");
    m_init_common(stage.sched, &stage.sysmon->m, -1);
    for (int i = 0; i < 2; i++)
        stage.sysmon->seen[i].schedtick_since = stage.sysmon->seen[i].call_since = stage.now;
    machine_set_self(&stage.sysmon->m);
    return stage;
}

static void stage_free(struct stage *stage)
{
    machine_set_self(NULL);
    stage->taker->nextp = NULL;
    machine_free(stage->sysmon);
    sched_free(stage->sched);
    free(stage->knobs);
}

/* As enter_marked() does, and as blocking_exit(). */
static void call_begins(struct stage *stage)
{
    atomic_fetch_add(&stage->p->call, 1);
}

static void call_ends(struct stage *stage)
{
    atomic_fetch_add(&stage->p->call, 1);
}

/* The P's M goes on with another G, whose slice is a new one. */
static void next_slice(struct stage *stage)
{
    atomic_fetch_add(&stage->p->schedtick, 1);
}

/* A look so long after the last one: how many Ps it has taken. */
static int look_after(struct stage *stage, int64_t ns)
{
    bool ran;
    stage->now += ns;
    return retake(stage->sysmon, stage->now, &ran);
}

/* Somebody waits for a P: a G that no P holds. */
static void put_work(struct stage *stage, struct g *gp)
{
    stage->sched->ops->ready(stage->m, gp, READY_INJECTED);
}

static void a_call_is_seen_twice(void **state)
{
    (void)state;
    static struct g gp;
    struct stage stage = stage_make(SETTINGS);
    put_work(&stage, &gp);
    next_slice(&stage);
    assert_int_equal(look_after(&stage, LOOK_NS), 0);
    call_begins(&stage);
    assert_int_equal(look_after(&stage, LOOK_NS), 0);
    call_ends(&stage);
    call_begins(&stage); /* another one: it begins anew */
    assert_int_equal(look_after(&stage, LOOK_NS), 0);
    assert_int_equal(look_after(&stage, LOOK_NS), 1);
    assert_ptr_equal(stage.taker->nextp, stage.p);
    assert_int_equal(atomic_load(&stage.p->call), 4);
    assert_int_equal(atomic_load(&stage.sysmon->m.stats.value[STAT_HANDOFFS]), 1);
    stage_free(&stage);
}

/* P 1 is idle at first. */
static void an_idle_p_beside_work_is_counted(void **state)
{
    (void)state;
    static struct g gp;
    struct stage stage = stage_make(SETTINGS);
    _Atomic uint64_t *samples = &stage.sysmon->m.stats.value[STAT_WASTED_SAMPLES];
    waste_look(stage.sysmon);
    assert_int_equal(atomic_load(samples), 0);
    put_work(&stage, &gp);
    waste_look(stage.sysmon);
    assert_int_equal(atomic_load(samples), 1);
    struct p *other = idle_p_take(stage.sched);
    waste_look(stage.sysmon);
    assert_int_equal(atomic_load(samples), 1);
    lock_acquire(&stage.sched->lock);
    idle_p_put(stage.m, other);
    lock_release(&stage.sched->lock);
    waste_look(stage.sysmon);
    assert_int_equal(atomic_load(samples), 2);
    stage_free(&stage);
}

/* At the first look that sees the call, if the slice is over by then; not a moment before. */
static void a_long_slice_is_seen_once(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        int taken;
    } rows[] = {{SLICE_NS - 1, 0}, {SLICE_NS, 1}};
    for (size_t i = 0; i < 2; i++) {
        struct stage stage = stage_make(SETTINGS);
        next_slice(&stage);
        assert_int_equal(look_after(&stage, LOOK_NS), 0);
        call_begins(&stage);
        assert_int_equal(look_after(&stage, rows[i].ns), rows[i].taken);
        stage_free(&stage);
    }
}

/* For a while, where another P is idle and there is nothing to do for this one. */
static void a_call_keeps_its_p_where_nobody_needs_it(void **state)
{
    (void)state;
    static struct g gp;
    struct stage stage = stage_make("preempt=coop,slice_ns=100000000,lenient_ns=5000000");
    call_begins(&stage);
    assert_int_equal(look_after(&stage, LOOK_NS), 0);
    assert_int_equal(look_after(&stage, LENIENT_NS - 1), 0);
    assert_int_equal(look_after(&stage, 1), 1);
    stage_free(&stage);
    stage = stage_make("preempt=coop,slice_ns=100000000,lenient_ns=5000000");
    call_begins(&stage);
    assert_int_equal(look_after(&stage, LOOK_NS), 0);
    assert_int_equal(look_after(&stage, LOOK_NS), 0);
    put_work(&stage, &gp);
    assert_int_equal(look_after(&stage, LOOK_NS), 1);
    stage_free(&stage);
    stage = stage_make("preempt=coop,slice_ns=100000000,lenient_ns=5000000");
    assert_non_null(idle_p_take(stage.sched)); /* no other P is idle */
    call_begins(&stage);
    assert_int_equal(look_after(&stage, LOOK_NS), 0);
    assert_int_equal(look_after(&stage, LOOK_NS), 1);
    stage_free(&stage);
}

static bool is_asked(const struct stage *stage)
{
    return atomic_load(&stage->m->preempt);
}

/* It counts from the look that saw its dispatch first, and only outside of calls. */
static void a_slice_ends_a_slice_after_it_was_seen(void **state)
{
    (void)state;
    struct stage stage = stage_make(SETTINGS);
    look_after(&stage, 10 * SLICE_NS); /* it has seen tick 0 since the beginning */
    assert_true(is_asked(&stage));
    atomic_store(&stage.m->preempt, false);
    next_slice(&stage);
    look_after(&stage, 10 * SLICE_NS);
    assert_false(is_asked(&stage));
    look_after(&stage, SLICE_NS - 1);
    assert_false(is_asked(&stage));
    call_begins(&stage);
    look_after(&stage, 1);
    assert_false(is_asked(&stage));
    stage_free(&stage);
    stage = stage_make(SETTINGS);
    next_slice(&stage);
    look_after(&stage, 1);
    look_after(&stage, SLICE_NS);
    assert_true(is_asked(&stage));
    stage_free(&stage);
}

/* sysmon_rounds looks in vain at the shortest, then each twice as long as the one before. */
static void the_sleep_doubles_after_looks_in_vain(void **state)
{
    (void)state;
    static const int64_t expected[] = {1000, 1000, 1000, 1000, 2000, 4000, 8000, 16000, 16000};
    struct stage stage = stage_make(SETTINGS);
    int64_t delay = 0;
    for (int64_t idle = 0; idle < 9; idle++) {
        delay = next_delay(stage.sched->runtime, delay, idle);
        assert_int_equal(delay, expected[idle]);
    }
    assert_int_equal(next_delay(stage.sched->runtime, delay, 0), 1000);
    stage_free(&stage);
}

/* Only where nobody has looked for 10 ms, and nobody waits in the poller now. */
static void a_look_polls_where_nobody_has_for_long(void **state)
{
    (void)state;
    static const struct {
        int64_t last, now;
        bool polls;
    } rows[] = {
        {1, POLL_AGE_NS, false}, {1, POLL_AGE_NS + 1, true}, {POLLED_NOW, 10 * POLL_AGE_NS, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stage stage = stage_make(SETTINGS);
        atomic_store(&stage.sched->io_waiters, 1);
        atomic_store(&stage.sched->polled_at, rows[i].last);
        poll_if_long_ago(stage.sysmon, rows[i].now);
        int64_t expected = rows[i].polls ? rows[i].now : rows[i].last;
        assert_int_equal(atomic_load(&stage.sched->polled_at), expected);
        atomic_store(&stage.sched->io_waiters, 0);
        stage_free(&stage);
    }
}

static int begin(void **state)
{
    (void)state;
    return machine_init(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_seen_twice),
        cmocka_unit_test(a_long_slice_is_seen_once),
        cmocka_unit_test(a_call_keeps_its_p_where_nobody_needs_it),
        cmocka_unit_test(a_slice_ends_a_slice_after_it_was_seen),
        cmocka_unit_test(the_sleep_doubles_after_looks_in_vain),
        cmocka_unit_test(an_idle_p_beside_work_is_counted),
        cmocka_unit_test(a_look_polls_where_nobody_has_for_long),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
