/* test_limits.c - a run ends, and says why, where it has more goroutines than its variant bears. */
#include "internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/support.h"

static struct support_report report;

static void run(const char *variant, const char *settings, void (*fn)(void *))
{
    struct support_run run = {.variant = variant, .settings = settings, .workers = 1, .fn = fn};
    support_run(&run, &report);
}

static void ends_with(int status, const char *words)
{
    if (report.status != status || !strstr(report.output, words))
        fail_msg("status %d:\n%s", report.status, report.output);
}

enum { PARENTS_MAX = 1 << 16, LEFT = 1000 }; /* PARENTS_MAX as in proc.c */

/* The bound is for sixty thousand stacks; a worker that has as many parents already but LEFT meets
 * it with a thousand. */
static void be_near_the_bound(void)
{
    machine_self()->parents = PARENTS_MAX - LEFT;
}

/* Each starts the next one and ends: no more than two need be alive at once. */
static void link_of_chain(void *left)
{
    if (left)
        go(link_of_chain, (char *)left - 1);
}

static void chain_of(intptr_t links)
{
    be_near_the_bound();
    link_of_chain((void *)links);
    CHECK(machine_self()->parents == PARENTS_MAX - LEFT);
}

static void chain_that_ends_in_time(void *arg)
{
    (void)arg;
    chain_of(LEFT);
}

static void chain_too_long(void *arg)
{
    (void)arg;
    chain_of(LEFT + 1);
}

static void a_chain_of_go_is_bounded_where_parents_rest(void **state)
{
    (void)state;
    /* a link whose slice ends would go to the back, and its parents would end before it went on */
    run("contsteal", "preempt=none", chain_that_ends_in_time);
    assert_int_equal(report.status, 0);
    run("contsteal", "preempt=none", chain_too_long);
    ends_with(70, "more than 65536 parents at rest on one thread");
}

static void blocked(void *gate)
{
    wg_wait(gate);
}

static void nothing(void *arg)
{
    (void)arg;
}

/* All of them are in one deque when main starts another. */
static void crowd_that_is_woken(void *arg)
{
    (void)arg;
    static struct waitgroup gate;
    be_near_the_bound();
    wg_add(&gate, 1);
    for (int i = 0; i < 2 * LEFT; i++)
        go(blocked, &gate);
    wg_done(&gate);
    go(nothing, NULL);
}

static void those_that_were_woken_are_no_parents(void **state)
{
    (void)state;
    run("contsteal", "preempt=none", crowd_that_is_woken);
    assert_int_equal(report.status, 0);
    assert_true(report.stat[STAT_DEQUE_MAX] >= 2 * LEFT);
}

static void awaits(void *stolen)
{
    AWAIT(atomic_load((_Atomic bool *)stolen));
}

static void parent_that_is_stolen(void *arg)
{
    struct sched *sched = this_sched();
    (void)arg;
    for (int i = 0; i < 20; i++) {
        _Atomic bool stolen = false;
        struct join join;
        join_go(&join, awaits, (void *)&stolen);
        atomic_store(&stolen, true);
        join_wait(&join);
    }
    for (struct m *m = sched_first_m(sched); m; m = m->all_link)
        CHECK(m->parents == atomic_load(&m->parents_taken));
}

static void a_stolen_parent_leaves_the_count(void **state)
{
    (void)state;
    struct support_run two = {.variant = "contsteal", .workers = 2, .fn = parent_that_is_stolen};
    support_run(&two, &report);
    assert_int_equal(report.status, 0);
}

static void crowd(void *arg)
{
    (void)arg;
    struct waitgroup *gate = go_alloc_zeroed(sizeof *gate);
    wg_add(gate, 1);
    for (uint64_t i = 0; i <= support_variant("kthread")->live_gs_max; i++)
        go(blocked, gate);
    wg_done(gate);
}

static void more_threads_than_the_variant_bears_are_refused(void **state)
{
    (void)state;
    if (SUPPORT_SANITIZED)
        skip(); /* eight thousand threads */
    run("kthread", NULL, crowd);
    if (report.status == 71)
        skip(); /* nor does this machine grant them */
    ends_with(70, "more than 8000 kernel threads at once");
}

static bool a_thread_has_ended(struct sched *sched)
{
    lock_acquire(&sched->lock);
    bool ended = sched->dead_m;
    lock_release(&sched->lock);
    return ended;
}

static void threads_one_by_one(void *arg)
{
    struct sched *sched = this_sched();
    (void)arg;
    for (int i = 0; i < 8; i++) {
        struct join join;
        join_go(&join, nothing, NULL);
        join_wait(&join);
        AWAIT(!sched->ops->thread_per_g || a_thread_has_ended(sched));
    }
}

/* A thread that was started in place of one that has ended is one more start, not one more. */
static void threads_at_once_are_told_from_threads_started(void **state)
{
    (void)state;
    run("kthread", NULL, threads_one_by_one);
    assert_int_equal(report.stat[STAT_THREADS], 1 + 8);
    assert_int_equal(report.stat[STAT_THREADS_PEAK], 2);
    run("gmp", NULL, threads_one_by_one);
    assert_int_equal(report.stat[STAT_THREADS_PEAK], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_go_is_bounded_where_parents_rest),
        cmocka_unit_test(those_that_were_woken_are_no_parents),
        cmocka_unit_test(a_stolen_parent_leaves_the_count),
        cmocka_unit_test(threads_at_once_are_told_from_threads_started),
        cmocka_unit_test(more_threads_than_the_variant_bears_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
