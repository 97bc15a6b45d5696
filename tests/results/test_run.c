/* test_run.c - the answer with which `schedlab run` ends, and the events that it shows. */
#include "harness/base/memory.h"
#include "harness/run/run_answer.h"
#include "harness/run/run_events.h"
#include "harness/run/run_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VARIANTS = 3, TEXT_SIZE = 4096 };

static struct run_row rows[VARIANTS];
static struct run_table table;

/* A table of so many variants, a, b and c, on which nothing has run. */
static void begin(size_t count)
{
    static const char *const names[VARIANTS] = {"a", "b", "c"};
    table = (struct run_table){
        .workload = "fib", .op = "task", .workers = 1, .rows = rows, .count = count, .seed = 1};
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct run_row){.variant = names[i], .label = names[i], .records = json_array()};
}

static void end(void)
{
    for (size_t i = 0; i < table.count; i++)
        json_decref(rows[i].records);
}

static void add(size_t row, json_t *record)
{
    json_array_append_new(rows[row].records, record);
}

/* So many repetitions with throughputs of `from` and a little more each time. */
static void add_throughputs(size_t row, double from, int reps)
{
    for (int i = 0; i < reps; i++)
        add(row, json_pack("{ss si sf}", "status", "ok", "workers", 1, "throughput",
                           from * (1 + 0.01 * i)));
}

/* The lines of the answer as they are printed; to be freed. */
static char *answer(void)
{
    char *text = NULL;
    size_t size = 0;
    struct run_answers answers;
    run_table_sort(&table);
    run_answers_make(&answers, &table);
    FILE *to = memory_stream(&text, &size);
    run_answers_print(&answers, false, to);
    fclose(to);
    run_answers_free(&answers);
    return text;
}

static void answers(const char *expected)
{
    char *text = answer();
    assert_string_equal(text, expected);
    free(text);
}

static void the_best_is_told_with_its_ratio_and_p(void **state)
{
    (void)state;
    begin(2);
    add_throughputs(0, 1e6, 7);
    add_throughputs(1, 2e6, 7);
    answers("\nbest: b, 2.00× a (shown, p <0.001)\n");
    end();
}

static void no_line_ends_between_a_ratio_and_its_name(void **state)
{
    (void)state;
    begin(3);
    rows[0].variant = rows[0].label = "gmp,runnext=off,tick=1,ring=16,steal=on";
    add_throughputs(0, 1e6, 7);
    add_throughputs(1, 2e6, 7);
    add_throughputs(2, 4e6, 7);
    answers("\nbest: c, 2.00× b (shown, p 0.002),\n"
            "  4.00× gmp,runnext=off,tick=1,ring=16,steal=on, the slowest\n");
    end();
}

static void of_more_than_two_the_slowest_is_told_too(void **state)
{
    (void)state;
    begin(3);
    add_throughputs(0, 1e6, 7);
    add_throughputs(1, 2e6, 7);
    add_throughputs(2, 4e6, 7);
    answers("\nbest: c, 2.00× b (shown, p 0.002), 4.00× a, the slowest\n");
    end();
}

static void without_a_difference_that_is_said_and_who_is_slower(void **state)
{
    (void)state;
    begin(3);
    add_throughputs(0, 1e6, 7);
    add_throughputs(1, 1.005e6, 7);
    add_throughputs(2, 0.5e6, 7);
    answers("\n~ no difference shown between b and a; slower: c by 2.01×\n");
    end();
}

static void the_best_is_open_where_it_leads_in_one_regime_alone(void **state)
{
    (void)state;
    begin(3);
    add_throughputs(0, 1e6, 12);
    add_throughputs(1, 2e6, 10);
    add_throughputs(1, 0.9e6, 2);
    add_throughputs(2, 0.5e6, 12);
    answers("\nopen: samples of b are of two regimes, 904 k and 2.09 M ops/s; which one is met\n"
            "  decides whether b is ahead of a; slower: c by 3.92×\n");
    end();
}

static void add_marked(size_t row, double throughput, int reps)
{
    for (int i = 0; i < reps; i++)
        add(row, json_pack("{ss si sf s[s]}", "status", "ok", "workers", 1, "throughput",
                           throughput, "marks", "steal"));
}

static void disturbed_repetitions_are_measured_again_and_left_out(void **state)
{
    (void)state;
    enum { REPS = 7 };
    begin(2);
    add_throughputs(0, 1e6, REPS);
    add_throughputs(1, 2e6, REPS - 3);
    assert_false(run_row_wants_repeat(&rows[0], REPS));
    assert_false(run_row_wants_repeat(&rows[1], REPS)); /* it has not lost any to others */
    add_marked(1, 5e3, 3);
    assert_true(run_row_wants_repeat(&rows[1], REPS));
    add_throughputs(1, 2.04e6, 3);
    assert_false(run_row_wants_repeat(&rows[1], REPS));
    answers("\nbest: b, 1.98× a (shown, p 0.002)\n");
    end();
    begin(1); /* all are disturbed */
    add_marked(0, 2e6, 2 * REPS - 1);
    assert_true(run_row_wants_repeat(&rows[0], REPS));
    add_marked(0, 2e6, 1);
    assert_false(run_row_wants_repeat(&rows[0], REPS));
    assert_false(run_row_wants_repeat(&rows[0], 5)); /* these show nothing anyway */
    answers("\na: 2.00 M ops/s, 95 % interval 2.00 M to 2.00 M\n");
    end();
}

static void five_repetitions_are_too_few(void **state)
{
    (void)state;
    begin(2);
    add_throughputs(0, 1e6, 5);
    add_throughputs(1, 2e6, 5);
    answers("\ntoo few: it takes 6 repetitions to show a difference; best so far: b, 2.00× a\n");
    end();
}

static void more_variants_take_more_repetitions(void **state)
{
    (void)state;
    assert_int_equal(run_answer_reps_min(0), 6);
    assert_int_equal(run_answer_reps_min(2), 6);
    assert_int_equal(run_answer_reps_min(7), 6);
    assert_int_equal(run_answer_reps_min(8), 7);
}

static void one_repetition_on_a_simulated_machine_is_exact(void **state)
{
    (void)state;
    begin(2);
    table.machine = "sim:server64";
    add_throughputs(0, 3e6, 1);
    add_throughputs(1, 2e6, 1);
    answers("\nbest: a, 1.50× b (the same each time with this seed)\n");
    end();
}

static void equal_numbers_of_one_seed_are_no_victory(void **state)
{
    (void)state;
    begin(2);
    table.machine = "sim:server64";
    add_throughputs(0, 2e6, 1);
    add_throughputs(1, 2e6, 1);
    answers("\n~ as good as equal: a and b (the same each time with this seed)\n");
    end();
}

static void a_floor_with_few_repetitions_takes_no_answer_away(void **state)
{
    (void)state;
    begin(3);
    rows[0].variant = rows[0].label = "serial";
    add_throughputs(0, 8e6, 1);
    add_throughputs(1, 1e6, 7);
    add_throughputs(2, 2e6, 7);
    answers("\nbest: c, 2.00× b (shown, p <0.001)\n");
    end();
}

static void add_failure(size_t row)
{
    add(row, json_pack("{ss ss}", "status", "failed", "reason", "wrong"));
}

static void what_fails_once_buys_nothing(void **state)
{
    (void)state;
    begin(2);
    table.what_if = "grq.lock=free";
    add_throughputs(0, 1e6, 6);
    add_throughputs(1, 2e6, 6);
    answers("\ngrq.lock=free would buy a 2.00× (shown, 95 % interval 2.00 to 2.00)\n");
    add_failure(1);
    answers("");
    end();
}

static void one_variant_has_its_number_and_interval(void **state)
{
    (void)state;
    begin(2);
    add_throughputs(0, 1e6, 7);
    add(1, json_pack("{ss ss}", "status", "skipped", "reason", "too many"));
    answers("\na: 1.03 M ops/s, 95 % interval 1.00 M to 1.06 M\n");
    end();
}

static void nobody_is_the_best_of_none(void **state)
{
    (void)state;
    begin(1);
    add(0, json_pack("{ss ss}", "status", "failed", "reason", "wrong"));
    answers("");
    end();
}

/* Ten thousand latencies, of which the quantiles are of so many ns. */
static void add_latencies(size_t row, int ns, int reps)
{
    for (int i = 0; i < reps; i++)
        add(row, json_pack("{ss si sf s{si si si}}", "status", "ok", "workers", 1, "throughput",
                           1e6, "latency", "count", 10000, "p50_ns", ns, "p99_ns", ns + i));
}

static void a_paced_workload_is_answered_by_its_latencies(void **state)
{
    (void)state;
    begin(2);
    table.is_paced = true;
    add_latencies(0, 2000, 7);
    add_latencies(1, 1000, 7);
    char *text = answer();
    assert_non_null(strstr(text, "\nbest p99: b, 2.00× shorter than a (shown, p <0.001)\n"));
    assert_null(strstr(text, "best:"));
    assert_string_equal(rows[0].label, "b");
    free(text);
    end();
}

static void rows_stand_by_speed_and_those_without_numbers_last(void **state)
{
    (void)state;
    begin(3);
    add(0, json_pack("{ss ss}", "status", "skipped", "reason", "too many"));
    add_throughputs(1, 1e6, 2);
    add_throughputs(2, 2e6, 2);
    run_table_sort(&table);
    assert_string_equal(rows[0].label, "c");
    assert_string_equal(rows[1].label, "b");
    assert_string_equal(rows[2].label, "a");
    end();
}

static void shown_results_keep_their_order(void **state)
{
    (void)state;
    begin(2);
    table.is_shown = true;
    add_throughputs(0, 1e6, 1);
    add_throughputs(1, 2e6, 1);
    run_table_sort(&table);
    assert_string_equal(rows[0].label, "a");
    end();
}

static void a_long_name_has_a_line_of_its_own(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];
    struct run_answers answers;
    begin(2);
    rows[0].label = "gmp,runnext=off,tick=64,steal=one";
    add_throughputs(0, 1e6, 7);
    add_throughputs(1, 2e6, 7);
    run_table_sort(&table);
    run_answers_make(&answers, &table);
    FILE *to = fmemopen(text, sizeof text, "w");
    run_table_print(&table, &answers.of[0], to, to);
    fclose(to);
    run_answers_free(&answers);
    assert_non_null(strstr(text, "\nb          2.06 M      2.00 M to 2.12 M    7\n"));
    assert_non_null(strstr(text, "\ngmp,runnext=off,tick=64,steal=one\n           1.03 M  "));
    assert_null(strstr(text, " \n"));
    end();
}

/* One repetition of a workload whose result is what it prints. */
static void add_shown(size_t row, const char *shown)
{
    add(row, json_pack("{ss si ss}", "status", "ok", "workers", 2, "print", shown));
}

static void it_is_counted_how_many_repetitions_show_another_result(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];
    struct run_answers answers;
    begin(2);
    table.is_shown = true;
    for (int i = 0; i < 7; i++) {
        add_shown(0, i == 3 ? "ran: 1 0" : "ran: 0 1");
        add_shown(1, i > 4 ? "ran: 1 0" : "ran: 0 1");
    }
    run_answers_make(&answers, &table);
    FILE *to = fmemopen(text, sizeof text, "w");
    run_table_print(&table, &answers.of[0], to, to);
    fclose(to);
    run_answers_free(&answers);
    assert_non_null(
        strstr(text, "\na, the first of 7 repetitions (1 differs from it):\nran: 0 1\n"));
    assert_non_null(
        strstr(text, "\nb, the first of 7 repetitions (2 differ from it):\nran: 0 1\n"));
    end();
}

/* One repetition with these numbers of events per operation. */
static void add_events(size_t row, double cpu_ns, double parks, double steals, double locks,
                       double wakeups)
{
    add(row, json_pack("{ss si sf s[{ss sf} {ss sf} {ss sf} {ss sf} {ss sf}]}", "status", "ok",
                       "workers", 1, "throughput", 1e6, "events", "name",
                       "sde:::schedlab::PROCESS_CPU_NS", "per_op", cpu_ns, "name",
                       "sde:::schedlab::PARKS", "per_op", parks, "name", "sde:::schedlab::STEALS",
                       "per_op", steals, "name", "sde:::schedlab::GRQ_LOCKS", "per_op", locks,
                       "name", "sde:::schedlab::WAKEUPS", "per_op", wakeups));
}

static char *events(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = memory_stream(&text, &size);
    run_events_print(&table, to, to);
    fclose(to);
    return text;
}

static void three_events_are_shown_that_differ_most(void **state)
{
    (void)state;
    begin(2);
    add_events(0, 100, 0.5, 0.0005, 2, 0.3);
    add_events(1, 110, 0.5, 0, 0.1, 0.1);
    char *text = events();
    assert_non_null(strstr(text, "GRQ_LOCKS"));
    assert_non_null(strstr(text, "WAKEUPS"));
    assert_non_null(strstr(text, "PROCESS_CPU_NS"));
    assert_null(strstr(text, "PARKS"));  /* the same in both */
    assert_null(strstr(text, "STEALS")); /* too few to matter */
    assert_non_null(strstr(text, "and 2 more with --all-events\n"));
    free(text);
    end();
}

static void of_one_variant_three_that_are_always_the_same(void **state)
{
    (void)state;
    begin(1);
    add_events(0, 100, 0.5, 0, 2, 0.3);
    char *text = events();
    assert_non_null(strstr(text, "PROCESS_CPU_NS"));
    assert_non_null(strstr(text, "PARKS"));
    assert_non_null(strstr(text, "STEALS"));
    assert_null(strstr(text, "GRQ_LOCKS"));
    free(text);
    table.events = RUN_EVENTS_ALL;
    text = events();
    assert_null(strstr(text, "STEALS")); /* 0 */
    assert_non_null(strstr(text, "GRQ_LOCKS"));
    assert_null(strstr(text, "--all-events"));
    free(text);
    end();
}

static void a_row_that_failed_once_has_no_events(void **state)
{
    (void)state;
    begin(2);
    add_events(0, 100, 0.5, 0, 2, 0.3);
    add_events(1, 100, 0.5, 0, 9, 0.3);
    add_failure(1);
    char *text = events();
    assert_null(strstr(text, " b\n"));
    assert_null(strstr(text, "GRQ_LOCKS")); /* which differs from b alone */
    free(text);
    end();
}

static void add_absent(size_t row, const char *one, const char *other)
{
    json_t *list = json_pack("[{ss ss ss}]", "name", one, "source", "pmu", "absent", "no PMU");
    if (other)
        json_array_append_new(
            list, json_pack("{ss ss ss}", "name", other, "source", "pmu", "absent", "no PMU"));
    add(row, json_pack("{ss si sf so}", "status", "ok", "workers", 1, "throughput", 1e6, "events",
                       list));
}

static void what_was_not_counted_is_told_with_its_variants(void **state)
{
    (void)state;
    begin(2);
    table.events = RUN_EVENTS_ALL;
    add_absent(0, "X", "Y");
    add_absent(1, "X", NULL);
    char *text = events();
    assert_string_equal(text, "schedlab run: not counted: X, Y in a (no PMU)\n");
    free(text);
    end();
    begin(2);
    table.events = RUN_EVENTS_ALL;
    add_absent(0, "Y", "X");
    add_absent(1, "X", NULL);
    text = events();
    assert_string_equal(text, "schedlab run: not counted: Y in a, X (no PMU)\n");
    free(text);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_is_told_with_its_ratio_and_p),
        cmocka_unit_test(of_more_than_two_the_slowest_is_told_too),
        cmocka_unit_test(no_line_ends_between_a_ratio_and_its_name),
        cmocka_unit_test(without_a_difference_that_is_said_and_who_is_slower),
        cmocka_unit_test(the_best_is_open_where_it_leads_in_one_regime_alone),
        cmocka_unit_test(disturbed_repetitions_are_measured_again_and_left_out),
        cmocka_unit_test(five_repetitions_are_too_few),
        cmocka_unit_test(more_variants_take_more_repetitions),
        cmocka_unit_test(one_repetition_on_a_simulated_machine_is_exact),
        cmocka_unit_test(equal_numbers_of_one_seed_are_no_victory),
        cmocka_unit_test(a_floor_with_few_repetitions_takes_no_answer_away),
        cmocka_unit_test(what_fails_once_buys_nothing),
        cmocka_unit_test(one_variant_has_its_number_and_interval),
        cmocka_unit_test(nobody_is_the_best_of_none),
        cmocka_unit_test(a_paced_workload_is_answered_by_its_latencies),
        cmocka_unit_test(rows_stand_by_speed_and_those_without_numbers_last),
        cmocka_unit_test(shown_results_keep_their_order),
        cmocka_unit_test(a_long_name_has_a_line_of_its_own),
        cmocka_unit_test(it_is_counted_how_many_repetitions_show_another_result),
        cmocka_unit_test(three_events_are_shown_that_differ_most),
        cmocka_unit_test(of_one_variant_three_that_are_always_the_same),
        cmocka_unit_test(a_row_that_failed_once_has_no_events),
        cmocka_unit_test(what_was_not_counted_is_told_with_its_variants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
