/* test_diff.c - traces of schedulers: reading them, and where two of them part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "harness/base/error.h"
#include "harness/trace/diff.h"

enum { TEXT = 512 };

static struct sched_trace read_text(const char *text)
{
    struct sched_trace trace;
    struct error error;
    FILE *from = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(from);
    if (!sched_trace_read(&trace, from, &error))
        fail_msg("%s", error.text);
    fclose(from);
    return trace;
}

static struct diff diff_of(struct sched_trace *a, struct sched_trace *b)
{
    struct diff diff;
    diff_number(a, b);
    diff_find(&diff, a, b);
    return diff;
}

/* Reading ------------------------------------------------------------------------------------- */

static void a_place_serves_gs_of_different_numbers(void **unused)
{
    (void)unused;
    struct sched_trace trace = read_text("# 7 events\n"
                                         "10\t0\t0\t0\tCREATED\t31\t0\t0\n"
                                         "20\t0\t0\t0\tDISPATCHED\t31\t0\t0\n"
                                         "30\t0\t0\t0\tCREATED\t30\t0\t0\n"
                                         "40\t0\t0\t0\tENDED\t30\t0\t0\n"
                                         "50\t0\t0\t0\tCREATED\t30\t0\t0\n"
                                         "60\t1\t1\t-1\tSLEPT\t-1\t0\t0\n"
                                         "70\t0\t0\t0\tTAKEN\t31\t3\t0\n");
    assert_int_equal(trace.count, 7);
    assert_int_equal(trace.happened, 7);
    assert_int_equal(trace.event[0].g, 1);
    assert_int_equal(trace.event[2].g, 2);
    assert_int_equal(trace.event[3].g_key, trace.event[2].g_key);
    assert_int_equal(trace.event[4].g, 3);
    assert_int_not_equal(trace.event[4].g_key, trace.event[2].g_key);
    assert_int_equal(trace.event[5].g, 0);
    assert_int_equal(trace.event[5].p, -1);
    assert_int_equal(trace.event[6].g, 1);
    assert_int_equal(trace.event[6].when_ps, 70);
    sched_trace_free(&trace);
}

static void schedtick_counts_what_does_not_inherit(void **unused)
{
    (void)unused;
    struct sched_trace trace = read_text("# 5 events\n"
                                         "1\t0\t0\t0\tCREATED\t0\t0\t0\n"
                                         "2\t0\t0\t0\tDISPATCHED\t0\t0\t0\n"
                                         "3\t0\t0\t0\tDISPATCHED\t0\t1\t0\n"
                                         "4\t0\t1\t1\tDISPATCHED\t0\t0\t0\n"
                                         "5\t0\t0\t0\tTAKEN\t0\t3\t0\n");
    char text[TEXT];
    assert_int_equal(trace.event[1].tick, 0);
    assert_int_equal(trace.event[4].tick, 1);
    assert_string_equal(diff_event_text(&trace, &trace.event[4], false, text, sizeof text),
                        "took main from the global queue because schedtick was 1");
    assert_string_equal(diff_event_text(&trace, &trace.event[4], true, text, sizeof text),
                        "took main: global, tick 1");
    sched_trace_free(&trace);
}

#define MADE(parent, child)                                                                        \
    "1\t0\t0\t0\tDISPATCHED\t" #parent "\t0\t0\n2\t0\t0\t0\tCREATED\t" #child "\t0\t0\n"

static void goroutines_are_named_by_who_made_them(void **unused)
{
    static const char *const names[] = {
        "",     "main",     "G0",         "G1",           "G0.0",           "G0.0.0",
        "G0.1", "G0.0.0.0", "G0.0.0.0.0", "G0.0.0.0.0.0", "G0.0.0.0.0.0.0", "G0.0.0.0.0.0.0.0",
        "G#12",
    };
    struct sched_trace trace = read_text(
        "# 99 events\n1\t0\t0\t0\tCREATED\t0\t0\t0\n" MADE(0, 1) MADE(0, 2) MADE(1, 3) MADE(3, 4)
            MADE(1, 5) MADE(4, 6) MADE(6, 7) MADE(7, 8) MADE(8, 9) MADE(9, 10) MADE(10, 11));
    char name[SCHED_TRACE_NAME];
    (void)unused;
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_string_equal(sched_trace_name(&trace, i, false, name), names[i]);
    assert_string_equal(sched_trace_name(NULL, 7, false, name), "G 0");
    assert_string_equal(sched_trace_name(NULL, 7, true, name), "T 0");
    sched_trace_free(&trace);
}

static void events_may_have_a_place_in_the_workload(void **unused)
{
    (void)unused;
    struct sched_trace trace = read_text("# 3 events\n"
                                         "1\t0\t0\t0\tCREATED\t0\t0\t0\t1\n"
                                         "2\t0\t0\t0\tDISPATCHED\t0\t0\t0\n"
                                         "3\t0\t0\t0\tENDED\t0\t0\t0\t2\n"
                                         "@\t47\t40\tworkloads/order.c\torder_run\n");
    assert_int_equal(trace.sites, 1);
    assert_int_equal(trace.site[0].line, 47);
    assert_int_equal(trace.site[0].first, 40);
    assert_string_equal(trace.site[0].file, "workloads/order.c");
    assert_string_equal(trace.site[0].function, "order_run");
    assert_int_equal(trace.event[0].site, 1);
    assert_int_equal(trace.event[1].site, 0);
    assert_int_equal(trace.event[2].site, 0); /* nothing is known of site 2 */
    sched_trace_free(&trace);
}

static void what_is_no_trace_is_refused_with_its_line(void **unused)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"nonsense\n", "line 2 of the scheduler's events is none: \"nonsense\""},
        {"# 1 events\n1\t0\t0\t0\tDANCED\t0\t0\t0\n",
         "line 2 of the scheduler's events is none: \"1"},
        {"# 2 events\n1\t0\t0\t0\tSLEPT\t-1\t0\t0\n1\t0\t0\n", "line 3 of"},
        {"# 1 events\n1\t0\t0\t0\tSLEPT\t-1\t0", "line 2 of"},
        {"# 1 events\n1\t0\t0\t0\tTAKEN\t0\t99\t0\n", "line 2 of"},
        {"# 1 events\n1\t0\t0\t0\tSLEPT\t-1\t0\t0\tx\n", "line 2 of"},
        {"# 1 events\n1\t0\t0\t0\tSLEPT\t-1\t0\t0\t1\t1\n", "line 2 of"},
        {"# 1 events\n1\t0\t0\t0\tSLEPT\t-1\t0\t0\t1\n@\t1\n", "line 3 of"},
        {"# 1 events\n1\t0\t-9\t0\tSLEPT\t-1\t0\t0\n", "line 2 of"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sched_trace trace;
        struct error error;
        FILE *from = fmemopen((void *)(uintptr_t)cases[i].text, strlen(cases[i].text), "r");
        assert_false(sched_trace_read(&trace, from, &error));
        if (strncmp(error.text, cases[i].error, strlen(cases[i].error)) != 0)
            fail_msg("\"%s\" in place of \"%s\"", error.text, cases[i].error);
        fclose(from);
    }
}

/* Parting ------------------------------------------------------------------------------------- */

#define MAIN "1\t0\t0\t0\tCREATED\t9\t0\t0\n2\t0\t0\t0\tDISPATCHED\t9\t0\t0\n"

static void the_same_events_have_no_difference(void **unused)
{
    (void)unused;
    struct sched_trace a = read_text("# 2 events\n" MAIN), b = read_text("# 2 events\n" MAIN);
    struct diff diff = diff_of(&a, &b);
    assert_int_equal(diff.at, DIFF_NONE);
    assert_int_equal(diff.time_at, DIFF_NONE);
    assert_int_equal(diff.compared, 2);
    sched_trace_free(&a);
    sched_trace_free(&b);
}

static void times_part_apart_from_events(void **unused)
{
    (void)unused;
    struct sched_trace a = read_text("# 3 events\n" MAIN "3\t0\t0\t0\tSPUN\t-1\t0\t0\n"),
                       b = read_text("# 3 events\n" MAIN "4\t0\t0\t0\tSPUN\t-1\t0\t0\n");
    struct diff diff = diff_of(&a, &b);
    assert_int_equal(diff.at, DIFF_NONE);
    assert_int_equal(diff.time_at, 2);
    sched_trace_free(&a);
    sched_trace_free(&b);
}

/* Kind, G, P, arguments: each alone makes another event; the core and the M do not. */
static void an_event_is_another_one_by_each_of_its_parts(void **unused)
{
    static const struct {
        const char *other;
        bool same;
    } cases[] = {
        {"# 3 events\n" MAIN "3\t0\t0\t0\tTAKEN\t9\t1\t0\n", true},
        {"# 3 events\n" MAIN "3\t5\t7\t0\tTAKEN\t9\t1\t0\n", true},
        {"# 3 events\n" MAIN "3\t0\t0\t0\tPUT\t9\t1\t0\n", false},
        {"# 3 events\n" MAIN "3\t0\t0\t1\tTAKEN\t9\t1\t0\n", false},
        {"# 3 events\n" MAIN "3\t0\t0\t0\tTAKEN\t8\t1\t0\n", false},
        {"# 3 events\n" MAIN "3\t0\t0\t0\tTAKEN\t9\t2\t0\n", false},
        {"# 3 events\n" MAIN "3\t0\t0\t0\tTAKEN\t9\t1\t1\n", false},
        {"# 2 events\n" MAIN, false},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sched_trace a = read_text("# 3 events\n" MAIN "3\t0\t0\t0\tTAKEN\t9\t1\t0\n"),
                           b = read_text(cases[i].other);
        struct diff diff = diff_of(&a, &b);
        assert_int_equal(diff.at, cases[i].same ? DIFF_NONE : 2);
        assert_int_equal(diff.worker_at[0], cases[i].same ? DIFF_NONE : 2);
        sched_trace_free(&a);
        sched_trace_free(&b);
    }
}

/* Two workers that each create a G, in two orders: the Gs are the same ones all the same. */
static void order_between_workers_is_told_from_what_they_do(void **unused)
{
    (void)unused;
    struct sched_trace a = read_text("# 6 events\n" MAIN "3\t0\t0\t0\tCREATED\t1\t0\t0\n"
                                     "4\t1\t1\t1\tCREATED\t2\t0\t0\n"
                                     "5\t0\t0\t0\tPUT\t1\t0\t0\n"
                                     "6\t1\t1\t1\tPUT\t2\t0\t0\n");
    struct sched_trace b = read_text("# 6 events\n" MAIN "3\t1\t1\t1\tCREATED\t1\t0\t0\n"
                                     "4\t0\t0\t0\tCREATED\t2\t0\t0\n"
                                     "5\t0\t0\t0\tPUT\t2\t0\t0\n"
                                     "6\t1\t1\t1\tPUT\t1\t0\t0\n");
    struct diff diff = diff_of(&a, &b);
    assert_int_equal(diff.at, 2);
    assert_int_equal(diff.worker_at[0], DIFF_NONE);
    assert_int_equal(diff.worker_at[1], DIFF_NONE);
    assert_int_equal(a.event[5].g, 3);
    assert_int_equal(b.event[2].g, 3);
    assert_int_equal(b.event[5].g, 3); /* by the number that it has in A */
    sched_trace_free(&a);
    sched_trace_free(&b);
}

static void a_worker_that_does_something_else_is_found_behind_another_order(void **unused)
{
    (void)unused;
    struct sched_trace a = read_text("# 6 events\n" MAIN "3\t0\t0\t0\tSPUN\t-1\t0\t0\n"
                                     "4\t1\t1\t1\tSPUN\t-1\t0\t0\n"
                                     "5\t1\t1\t1\tSLEPT\t-1\t0\t0\n"
                                     "6\t0\t0\t0\tSLEPT\t-1\t0\t0\n");
    struct sched_trace b = read_text("# 6 events\n" MAIN "3\t1\t1\t1\tSPUN\t-1\t0\t0\n"
                                     "4\t0\t0\t0\tSPUN\t-1\t0\t0\n"
                                     "5\t0\t0\t0\tSLEPT\t-1\t0\t0\n"
                                     "6\t1\t1\t1\tSTOLEN\t-1\t4\t0\n");
    struct diff diff = diff_of(&a, &b);
    assert_int_equal(diff.at, 2);
    assert_int_equal(diff.worker_at[0], 4);
    assert_int_equal(diff.worker_at[1], 5);
    sched_trace_free(&a);
    sched_trace_free(&b);
}

static void what_only_b_does_is_found(void **unused)
{
    (void)unused;
    struct sched_trace a = read_text("# 2 events\n" MAIN),
                       b = read_text("# 3 events\n" MAIN "3\t0\t2\t2\tSPUN\t-1\t0\t0\n");
    struct diff diff = diff_of(&a, &b);
    assert_int_equal(diff.at, 2);
    assert_int_equal(diff.worker_at[0], DIFF_NONE);
    assert_int_equal(diff.worker_at[1], 2);
    sched_trace_free(&a);
    sched_trace_free(&b);
}

static void where_events_were_not_kept_nothing_is_claimed(void **unused)
{
    (void)unused;
    struct sched_trace a = read_text("# 900 events\n" MAIN),
                       b = read_text("# 3 events\n" MAIN "3\t0\t2\t2\tSPUN\t-1\t0\t0\n");
    struct diff diff = diff_of(&a, &b);
    assert_int_equal(diff.at, DIFF_NONE);
    assert_int_equal(diff.compared, 2);
    sched_trace_free(&a);
    sched_trace_free(&b);
}

static void totals_are_of_what_follows(void **unused)
{
    (void)unused;
    int64_t totals[DIFF_TOTALS];
    struct sched_trace trace = read_text("# 6 events\n" MAIN "3000\t0\t0\t0\tSTOLEN\t-1\t5\t0\n"
                                         "4000\t0\t0\t0\tTAKEN\t9\t4\t1\n"
                                         "5000\t0\t0\t0\tDISPATCHED\t9\t0\t0\n"
                                         "6000\t0\t0\t0\tREADIED\t9\t0\t0\n");
    diff_totals(&trace, 2, totals);
    assert_int_equal(totals[DIFF_STOLEN], 5);
    assert_int_equal(totals[DIFF_VICTIM], 1);
    assert_int_equal(totals[DIFF_DISPATCHES], 1);
    assert_int_equal(totals[DIFF_CREATED], 0);
    assert_int_equal(totals[DIFF_EVENTS], 4);
    assert_int_equal(totals[DIFF_TIME_NS], 3);
    diff_totals(&trace, 6, totals);
    assert_int_equal(totals[DIFF_EVENTS], 0);
    sched_trace_free(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_serves_gs_of_different_numbers),
        cmocka_unit_test(schedtick_counts_what_does_not_inherit),
        cmocka_unit_test(goroutines_are_named_by_who_made_them),
        cmocka_unit_test(events_may_have_a_place_in_the_workload),
        cmocka_unit_test(what_is_no_trace_is_refused_with_its_line),
        cmocka_unit_test(the_same_events_have_no_difference),
        cmocka_unit_test(times_part_apart_from_events),
        cmocka_unit_test(an_event_is_another_one_by_each_of_its_parts),
        cmocka_unit_test(order_between_workers_is_told_from_what_they_do),
        cmocka_unit_test(a_worker_that_does_something_else_is_found_behind_another_order),
        cmocka_unit_test(what_only_b_does_is_found),
        cmocka_unit_test(where_events_were_not_kept_nothing_is_claimed),
        cmocka_unit_test(totals_are_of_what_follows),
    };
    return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
