/* hunt_machine.c - the machine that looks for wrong schedules: finds the known ones, takes no right
 * program for wrong, and does again what it did. A program of CONFIG=hunt. */
#include "hunt/explore.h"
#include "hunt/hunt.h"
#include "tests/hunt/hunt_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ENOUGH = 2000, SEEDS = 200, POINTS = 2000, ETIMEDOUT_NEGATED = -110 };
enum { LITMUS_DEPTH = 6, LITMUS_SC = 100, LITMUS_SEEKS = 20000, LITMUS_TRIES = 500 };
enum { RANDOM, PCT, POS, SURW, DELAY, ALGORITHMS };

static struct kernel_result result;
struct kernel_result *kernel_result = &result;

static struct hunt_plan plan_of(int algorithm, uint64_t seed)
{
    return (struct hunt_plan){
        .algorithm = algorithm,
        .seed = seed * UINT64_C(0x9e3779b97f4a7c15),
        .depth = 3,
        .points_max = POINTS,
        .points_expected = 40,
        .oracles = ~0u,
    };
}

static const struct hunt_outcome *run(int algorithm, uint64_t seed, void (*fn)(void *), void *arg)
{
    const struct hunt_plan plan = plan_of(algorithm, seed);
    return hunt_execute(&plan, fn, arg);
}

/* Words become shared only once they are accessed, so that first accesses are no points before. */
static void learn(void (*fn)(void *), void *arg)
{
    hunt_learn(true);
    for (uint64_t seed = 0; seed < 32; seed++)
        run(RANDOM, seed, fn, arg);
    hunt_learn(false);
}

/* The first seed whose execution ends so; ENOUGH: none. */
static uint64_t first_end(int algorithm, void (*fn)(void *), enum hunt_end end)
{
    uint64_t seed = 0;
    learn(fn, NULL);
    while (seed < ENOUGH && run(algorithm, seed, fn, NULL)->end != end)
        seed++;
    return seed;
}

static uint64_t first_sum_not_2(int algorithm, bool locked)
{
    uint64_t seed = 0;
    learn(kernel_lost_update, &locked);
    while (seed < ENOUGH) {
        const struct hunt_outcome *outcome = run(algorithm, seed, kernel_lost_update, &locked);
        assert_int_equal(outcome->end, HUNT_DONE);
        if (result.sum != 2)
            break;
        seed++;
    }
    return seed;
}

static void a_lost_update_is_found(void **state)
{
    (void)state;
    for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++)
        assert_in_range(first_sum_not_2(algorithm, false), 0, ENOUGH - 1);
}

static void a_lock_loses_no_update(void **state)
{
    (void)state;
    for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++)
        assert_int_equal(first_sum_not_2(algorithm, true), ENOUGH);
}

/* The first seed by which the outcome of a litmus test comes; `most`: it comes by none below. */
static uint64_t first_outcome(const struct litmus *litmus, int algorithm, enum hunt_memory memory,
                              uint64_t most)
{
    uint64_t seed = 0;
    for (; seed < most; seed++) {
        struct hunt_plan plan = plan_of(algorithm, seed);
        plan.memory = memory;
        plan.depth = LITMUS_DEPTH;
        assert_int_equal(hunt_execute(&plan, kernel_litmus, (void *)litmus)->end, HUNT_DONE);
        if (result.weak)
            break;
    }
    return seed;
}

/* By each model, in few executions where an outcome is rarely sought. */
static int litmus_offences(const struct litmus *litmus, enum hunt_memory memory)
{
    static const char *const wrong[] = {"came", "never came"};
    bool allowed = litmus->models >> memory & 1;
    uint64_t most = memory == HUNT_SC ? LITMUS_SC : allowed ? LITMUS_SEEKS : LITMUS_TRIES;
    int offences = 0;
    for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++) {
        bool came = first_outcome(litmus, algorithm, memory, most) < most;
        if (came == allowed)
            continue;
        print_error("%s, %s: %s by algorithm %s\n", litmus->name, hunt_memory_words[memory],
                    wrong[allowed], hunt_algorithm_words[algorithm]);
        offences++;
    }
    return offences;
}

static void an_outcome_comes_where_a_model_allows_it(void **state)
{
    int offences = 0;
    (void)state;
    for (int i = 0; i < litmus_count; i++) {
        learn(kernel_litmus, (void *)&litmus_table[i]);
        for (enum hunt_memory memory = HUNT_SC; memory <= HUNT_WEAK; memory++)
            offences += litmus_offences(&litmus_table[i], memory);
    }
    assert_int_equal(offences, 0);
}

static void a_crash_is_found(void **state)
{
    (void)state;
    for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++)
        assert_in_range(first_end(algorithm, kernel_late_pointer, HUNT_CRASH), 0, ENOUGH - 1);
}

static void a_lost_wake_up_is_found(void **state)
{
    (void)state;
    for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++)
        assert_in_range(first_end(algorithm, kernel_lost_wake, HUNT_STUCK), 0, ENOUGH - 1);
}

static void each_wait_without_an_end_is_found(void **state)
{
    (void)state;
    assert_int_equal(run(RANDOM, 1, kernel_no_end, NULL)->end, HUNT_ENDLESS);
    assert_int_equal(run(PCT, 1, kernel_no_end, NULL)->end, HUNT_ENDLESS);
    assert_int_equal(run(RANDOM, 1, kernel_no_point, NULL)->end, HUNT_ENDLESS);
}

static void time_is_a_jump(void **state)
{
    (void)state;
    assert_int_equal(run(RANDOM, 1, kernel_time, NULL)->end, HUNT_DONE);
    assert_in_range(result.slept_ns, 5000000, 6000000);
    assert_int_equal(result.error, ETIMEDOUT_NEGATED);
}

static void an_interrupt_waits_until_another_was_answered(void **state)
{
    (void)state;
    bool inside = false;
    learn(kernel_interrupted, &inside);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        assert_int_equal(run(RANDOM, seed, kernel_interrupted, &inside)->end, HUNT_DONE);
        assert_int_equal(result.sum, 0);
    }
}

static void an_interrupt_within_another_breaks_an_invariant(void **state)
{
    (void)state;
    bool inside = true;
    const struct hunt_outcome *outcome;
    learn(kernel_interrupted, &inside);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        outcome = run(RANDOM, seed, kernel_interrupted, &inside);
        if (outcome->end == HUNT_FATAL)
            break;
    }
    assert_non_null(strstr(outcome->text, "hunt_interrupt_deliver: invariant broken"));
}

/* The most points of executions that have all ended well. */
static uint64_t most_points(int algorithm, void (*fn)(void *))
{
    uint64_t most = 0;
    learn(fn, NULL);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct hunt_outcome *outcome = run(algorithm, seed, fn, NULL);
        assert_int_equal(outcome->end, HUNT_DONE);
        most = outcome->points > most ? outcome->points : most;
    }
    return most;
}

static void an_unfair_algorithm_becomes_fair(void **state)
{
    (void)state;
    for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++)
        most_points(algorithm, kernel_busy);
    assert_in_range(most_points(DELAY, kernel_busy), POINTS / 2, POINTS);
}

static void time_goes_on_where_all_spin(void **state)
{
    (void)state;
    for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++)
        assert_in_range(most_points(algorithm, kernel_awaits_time), 1, POINTS / 2 - 1);
}

static void memory_is_the_same_each_time(void **state)
{
    (void)state;
    for (size_t size = 1000; size < 1 << 28; size *= 8) {
        void *block = NULL;
        for (uint64_t seed = 0; seed < 4; seed++) {
            assert_int_equal(run(RANDOM, seed, kernel_memory, &size)->end, HUNT_DONE);
            assert_int_equal(result.sum, 0); /* fresh blocks are zero */
            assert_true(seed == 0 || result.block == block);
            block = result.block;
        }
    }
}

static void an_execution_is_a_function_of_its_plan(void **state)
{
    (void)state;
    bool locked = true;
    learn(kernel_lost_update, &locked);
    for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++) {
        for (uint64_t seed = 0; seed < 50; seed++) {
            struct hunt_outcome first = *run(algorithm, seed, kernel_lost_update, &locked);
            run(RANDOM, 100 + seed, kernel_lost_wake, NULL);
            const struct hunt_outcome *again = run(algorithm, seed, kernel_lost_update, &locked);
            assert_int_equal(first.points, again->points);
            assert_int_equal(first.order, again->order);
            assert_int_equal(first.switch_count, again->switch_count);
        }
    }
}

static void switches_alone_replay_an_execution(void **state)
{
    (void)state;
    bool locked = false;
    for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++) {
        uint64_t seed = first_sum_not_2(algorithm, locked);
        struct hunt_plan plan = plan_of(algorithm, seed);
        const struct hunt_outcome *outcome = hunt_execute(&plan, kernel_lost_update, &locked);
        uint64_t order = outcome->order, sum = result.sum;
        struct hunt_switch switches[64];
        assert_in_range(outcome->switch_count, 0, 64);
        memcpy(switches, outcome->switches, outcome->switch_count * sizeof switches[0]);
        plan.algorithm = -1;
        plan.switches = switches;
        plan.switch_count = outcome->switch_count;
        assert_int_equal(hunt_execute(&plan, kernel_lost_update, &locked)->order, order);
        assert_int_equal(result.sum, sum);
    }
}

static int ended_with[4]; /* executions, by the sum; cut ones have none: 0 */

static void sum_count(void)
{
    ended_with[result.sum]++;
    result.sum = 0;
}

static struct explore_result explore_all(void (*fn)(void *), bool locked)
{
    static const struct explore_watcher watcher = {.executes = sum_count};
    result.sum = 0;
    memset(ended_with, 0, sizeof ended_with);
    struct explore_result explored = explore_run(fn, &locked, &watcher, UINT64_MAX);
    sum_count();
    assert_true(explored.complete);
    assert_null(explored.failure);
    return explored;
}

static void all_executions_have_every_outcome(void **state)
{
    (void)state;
    explore_all(kernel_lost_update, false);
    assert_int_not_equal(ended_with[1], 0);
    assert_int_not_equal(ended_with[2], 0);
    explore_all(kernel_lost_update, true);
    assert_int_equal(ended_with[1], 0);
    assert_int_not_equal(ended_with[2], 0);
}

/* Words that are only accessed under the lock need no points, unless one thread does without. */
static void a_lock_that_is_named_hides_nothing(void **state)
{
    (void)state;
    struct explore_result guarded = explore_all(kernel_guarded, true);
    assert_int_equal(ended_with[1] + ended_with[2], 0);
    assert_true(ended_with[3] > 0);
    struct explore_result broken = explore_all(kernel_guarded, false);
    assert_true(ended_with[1] > 0 && ended_with[2] > 0 && ended_with[3] > 0);
    assert_true(broken.points > guarded.points);
}

static void threads_that_are_alike_have_fewer_executions(void **state)
{
    (void)state;
    struct explore_result all = explore_all(kernel_alike, false);
    assert_true(ended_with[1] > 0 && ended_with[2] > 0);
    struct explore_result alike = explore_all(kernel_alike, true);
    assert_true(ended_with[1] > 0 && ended_with[2] > 0);
    assert_true(alike.executions < all.executions);
}

static void others_come_before_a_check(void **state)
{
    (void)state;
    static const struct explore_watcher none;
    struct explore_result explored = explore_run(kernel_checked, NULL, &none, UINT64_MAX);
    assert_non_null(explored.failure);
    assert_int_equal(explored.failure->end, HUNT_FATAL);
}

static void who_goes_on_after_another_has_ended_has_a_state(void **state)
{
    (void)state;
    explore_all(kernel_late_reader, false);
    assert_true(ended_with[1] > 0);
}

static void all_executions_have_a_lost_wake_up(void **state)
{
    (void)state;
    static const struct explore_watcher none;
    struct explore_result explored = explore_run(kernel_lost_wake, NULL, &none, UINT64_MAX);
    assert_non_null(explored.failure);
    assert_int_equal(explored.failure->end, HUNT_STUCK);
    explored = explore_run(kernel_no_end, NULL, &none, UINT64_MAX);
    assert_non_null(explored.failure);
    assert_int_equal(explored.failure->end, HUNT_STUCK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_update_is_found),
        cmocka_unit_test(a_lock_loses_no_update),
        cmocka_unit_test(an_outcome_comes_where_a_model_allows_it),
        cmocka_unit_test(a_crash_is_found),
        cmocka_unit_test(a_lost_wake_up_is_found),
        cmocka_unit_test(each_wait_without_an_end_is_found),
        cmocka_unit_test(time_is_a_jump),
        cmocka_unit_test(an_interrupt_waits_until_another_was_answered),
        cmocka_unit_test(an_interrupt_within_another_breaks_an_invariant),
        cmocka_unit_test(an_unfair_algorithm_becomes_fair),
        cmocka_unit_test(time_goes_on_where_all_spin),
        cmocka_unit_test(memory_is_the_same_each_time),
        cmocka_unit_test(an_execution_is_a_function_of_its_plan),
        cmocka_unit_test(switches_alone_replay_an_execution),
        cmocka_unit_test(all_executions_have_every_outcome),
        cmocka_unit_test(a_lock_that_is_named_hides_nothing),
        cmocka_unit_test(threads_that_are_alike_have_fewer_executions),
        cmocka_unit_test(others_come_before_a_check),
        cmocka_unit_test(who_goes_on_after_another_has_ended_has_a_state),
        cmocka_unit_test(all_executions_have_a_lost_wake_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
