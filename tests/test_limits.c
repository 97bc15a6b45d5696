/* test_limits.c - a run ends, and says why, where it has more goroutines than its variant bears. */
#include "internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

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

static void blocked(void *gate)
{
    wg_wait(gate);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_threads_than_the_variant_bears_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
