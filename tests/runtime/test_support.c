/* test_support.c - several runs in one process: one that goes wrong is no other's matter. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/support.h"

enum { RUNS = 6 };

struct told {
    int count;
    struct support_report of[RUNS];
};

static void fn_counts(void *runs)
{
    ++*(int *)runs;
}

static void fn_fails(void *arg)
{
    (void)arg;
    support_fail("here", 7, "the cause");
}

static void fn_leaves(void *arg)
{
    (void)arg;
    _exit(0);
}

static void fn_is_killed(void *arg)
{
    (void)arg;
    kill(getpid(), SIGKILL);
}

static void on_told(void *arg, int i, const struct support_report *report)
{
    struct told *told = arg;
    assert_int_equal(i, told->count);
    told->of[told->count++] = *report;
}

static void test_a_run_that_ends_the_process_is_no_other_runs_matter(void **state)
{
    (void)state;
    static struct told told;
    void (*const fns[RUNS])(void *) = {fn_counts, fn_fails,     fn_counts,
                                       fn_leaves, fn_is_killed, fn_counts};
    struct support_run runs[RUNS];
    int *counted = support_shared(sizeof *counted);
    for (int i = 0; i < RUNS; i++)
        runs[i] = (struct support_run){.variant = i % 2 ? "grq" : "gmp",
                                       .workers = 2,
                                       .seed = 1,
                                       .fn = fns[i],
                                       .arg = counted};
    support_run_each(runs, RUNS, on_told, &told);
    assert_int_equal(told.count, RUNS);
    assert_int_equal(*counted, 3);
    for (int i = 0; i < RUNS; i++) {
        assert_int_equal(strstr(told.of[i].output, "here:7: the cause") != NULL, i == 1);
        assert_int_equal(told.of[i].stat[STAT_GS_CREATED] > 0, fns[i] == fn_counts);
        if (fns[i] == fn_counts)
            assert_int_equal(told.of[i].status, 0);
    }
    assert_int_equal(told.of[1].status, 1);
    assert_int_equal(told.of[3].status, SUPPORT_LEFT);
    assert_int_equal(told.of[4].status, -SIGKILL);
    support_unshare(counted, sizeof *counted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run_that_ends_the_process_is_no_other_runs_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
