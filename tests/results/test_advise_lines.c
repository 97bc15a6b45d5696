/* test_advise_lines.c - the lines of an advice: which decisions are shown, and which one is named
 * in the end. */
#include "harness/advice/advise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct program program = {.goroutines_count = 1, .work_ns = 100, .critical_ns = 100};

/* A decision, and what p99 and time are with it; both are 100 as Go decides. */
struct decision {
    const char *name;
    double p99_ns, makespan_ns;
};

static struct advise_case case_of(const struct decision *decision)
{
    return (struct advise_case){.variant = decision->name,
                                .name = decision->name,
                                .meaning = decision->name,
                                .workers = 2,
                                .is_there = decision->p99_ns > 0,
                                .p99_ns = decision->p99_ns,
                                .makespan_ns = decision->makespan_ns};
}

/* last_ns: when the last thing comes from outside; 0: nothing does. */
static struct advice advice_of(const struct decision *decisions, int64_t last_ns)
{
    const struct decision go = {"gmp", 100, 100};
    struct advice advice = {.file = "a.slp",
                            .machine = "sim:desktop8",
                            .program = &program,
                            .last_ns = last_ns,
                            .ladder_count = 1};
    advice.ladder[0] = case_of(&go);
    for (; decisions->name; decisions++)
        advice.changes[advice.changes_count++] = case_of(decisions);
    advice_changes_sort(&advice);
    return advice;
}

/* The names of the changes in their order, then those of them that lines show, then the last line.
 */
static void assert_told(const struct advice *advice, const char *order, const char *shown,
                        const char *last)
{
    struct advice_lines lines;
    char names[256] = "", told[256] = "";
    advice_lines_make(advice, &lines);
    for (size_t i = 0; i < advice->changes_count; i++) {
        strcat(strcat(names, i ? " " : ""), advice->changes[i].name);
        for (size_t k = 0; k < lines.count; k++)
            if (strcmp(lines.of[k].name, advice->changes[i].name) == 0)
                strcat(strcat(told, *told ? " " : ""), lines.of[k].name);
    }
    assert_string_equal(names, order);
    assert_string_equal(told, shown);
    assert_string_equal(lines.of[lines.count - 1].text, last);
}

static void what_helps_comes_before_what_hurts(void **state)
{
    static const struct decision decisions[] = {
        {"worst", 400, 100}, {"bad", 300, 100},   {"absent", 0, 0},  {"worse", 350, 100},
        {"good", 80, 100},   {"better", 60, 100}, {"even", 101, 99}, {0}};
    struct advice advice = advice_of(decisions, 50);
    (void)state;
    assert_told(&advice, "better good worst worse bad even absent", "better good worst",
                "better takes 40 % off the p99, more than any other decision; 2 more changes with "
                "--format json");
}

static void the_time_counts_where_nothing_comes_by_the_clock(void **state)
{
    static const struct decision decisions[] = {
        {"slow", 60, 150}, {"fast", 400, 90}, {"even", 100, 101}, {0}};
    struct advice advice = advice_of(decisions, 0);
    (void)state;
    assert_told(&advice, "fast slow even", "fast slow",
                "fast takes 10 % off the time, more than any other decision");
}

static void the_other_figure_is_told_where_none_helps(void **state)
{
    static const struct decision decisions[] = {
        {"hurts", 100, 120}, {"even", 100, 100}, {"late", 50, 100}, {0}};
    struct advice advice = advice_of(decisions, 0);
    (void)state;
    assert_told(&advice, "hurts late even", "hurts late",
                "late takes 50 % off the p99; no decision takes more than 3 % off the time");
}

static void hurting_alone_is_no_problem_of_the_scheduler(void **state)
{
    static const struct decision decisions[] = {
        {"a", 110, 110}, {"b", 120, 120}, {"c", 130, 130}, {"d", 140, 140}, {0}};
    struct advice advice = advice_of(decisions, 50);
    (void)state;
    assert_told(&advice, "d c b a", "d c b",
                "no decision takes more than 3 % off: the scheduler is not the problem; 1 more "
                "change with --format json");
}

static void connections_are_told_beside_the_best_decision(void **state)
{
    static const struct decision decisions[] = {{"good", 88, 100}, {0}};
    static const struct decision twice = {"connections", 30, 100};
    struct advice advice = advice_of(decisions, 50);
    (void)state;
    advice.connections = 2;
    advice.loads[advice.loads_count++] = case_of(&twice);
    assert_told(&advice, "good", "good",
                "twice the connections take 70 % off the p99, more than the best decision: good "
                "takes 12 %");
}

static void json_has_the_same_order_and_the_best(void **state)
{
    static const struct decision decisions[] = {
        {"worst", 400, 100}, {"good", 80, 100}, {"absent", 0, 0}, {0}};
    struct advice advice = advice_of(decisions, 50);
    json_t *json = advice_to_json(&advice), *changes = json_object_get(json, "changes");
    (void)state;
    assert_string_equal(json_string_value(json_object_get(json, "counts")), "p99_ns");
    assert_string_equal(json_string_value(json_object_get(json, "best")), "good");
    static const char *const effects[] = {"helps", "hurts"};
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(
            json_string_value(json_object_get(json_array_get(changes, i), "effect")), effects[i]);
    assert_null(json_object_get(json_array_get(changes, 2), "effect"));
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_helps_comes_before_what_hurts),
        cmocka_unit_test(the_time_counts_where_nothing_comes_by_the_clock),
        cmocka_unit_test(the_other_figure_is_told_where_none_helps),
        cmocka_unit_test(hurting_alone_is_no_problem_of_the_scheduler),
        cmocka_unit_test(connections_are_told_beside_the_best_decision),
        cmocka_unit_test(json_has_the_same_order_and_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
