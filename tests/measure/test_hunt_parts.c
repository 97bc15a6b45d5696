/* test_hunt_parts.c - the process of a part of a campaign may die: no other execution is lost, and
 * an end from outside is no finding. The executions are made up. */
#include "harness/hunt/parts.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { EXECUTIONS = 100, WRONG = 30, DIES = 11, NONE = -1, LEARNING = -2, ORDERS = 7 };

/* A test's. The seed of an execution is its number. */
static struct script {
    int64_t dies[2]; /* at these executions */
    int signal;
    int parts, begun, done;
    struct part part; /* the last one that was done */
} script;
static int *processes; /* that have learnt; shared */

void hunt_cover(struct hunt_cover *cover)
{
    (void)cover;
}

void campaign_learn(struct campaign *campaign)
{
    ++*processes;
    campaign->plan.oracles = ~0u << 1;
    if (script.dies[0] == LEARNING)
        raise(script.signal);
}

void campaign_plan(struct campaign *campaign, int64_t i)
{
    campaign->plan.seed = (uint64_t)i;
}

const struct hunt_outcome *campaign_execute(const struct campaign *campaign,
                                            const struct hunt_plan *plan)
{
    static struct hunt_outcome outcome;
    int64_t number = (int64_t)plan->seed;
    (void)campaign;
    for (int i = 0; i < 2; i++)
        if (number == script.dies[i])
            raise(script.signal);
    outcome.end = number == WRONG ? HUNT_WRONG : HUNT_DONE;
    outcome.points = 10;
    outcome.accesses = 20;
    outcome.order = (plan->seed % ORDERS + 1) << 32;
    return &outcome;
}

static bool next(void *arg, struct part *part)
{
    (void)arg;
    if (script.begun == script.parts)
        return false;
    script.begun++;
    part->executions = EXECUTIONS;
    return true;
}

static bool done(void *arg, struct part *part)
{
    (void)arg;
    script.done++;
    script.part = *part;
    return true;
}

static int run(int64_t first, int64_t second, int signal)
{
    const struct parts parts = {.jobs = 1, .next = next, .done = done};
    memset(&script, 0, sizeof script);
    script.parts = 2;
    script.dies[0] = first;
    script.dies[1] = second;
    script.signal = signal;
    *processes = 0;
    return parts_run(&parts);
}

static void a_part_that_lives_does_all(void **state)
{
    (void)state;
    assert_int_equal(run(NONE, NONE, 0), 0);
    assert_int_equal(script.done, 2);
    assert_int_equal(*processes, 2);
    assert_int_equal(script.part.executions, EXECUTIONS);
    assert_int_equal(script.part.points, EXECUTIONS * 10);
    assert_int_equal(script.part.failures[HUNT_WRONG], 1);
    assert_int_equal(script.part.first, WRONG);
    assert_int_equal(script.part.order_count, ORDERS);
}

static void a_death_costs_one_execution(void **state)
{
    (void)state;
    assert_int_equal(run(DIES, EXECUTIONS - 1, SIGTRAP), 0);
    assert_int_equal(script.done, 2);
    assert_int_equal(*processes, 4); /* nothing is left behind the second death */
    assert_int_equal(script.part.executions, EXECUTIONS);
    assert_int_equal(script.part.points, (EXECUTIONS - 2) * 10);
    assert_int_equal(script.part.accesses, (EXECUTIONS - 2) * 20);
    assert_int_equal(script.part.failures[HUNT_CRASH], 2);
    assert_int_equal(script.part.failures[HUNT_WRONG], 1);
    assert_int_equal(script.part.first, DIES);
    assert_int_equal(script.part.first_end, HUNT_CRASH);
    assert_string_equal(script.part.first_text, "its process ended: killed by SIGTRAP\n");
    uint64_t seen = 0;
    assert_int_equal(script.part.order_count, ORDERS);
    for (size_t i = 0; i < script.part.order_count; i++)
        seen += script.part.orders[i].times;
    assert_int_equal(seen, EXECUTIONS - 2);
}

static void a_death_that_learns_ends_the_part(void **state)
{
    (void)state;
    assert_int_equal(run(LEARNING, NONE, SIGTRAP), 0);
    assert_int_equal(script.done, 2);
    assert_int_equal(*processes, 2);
    assert_int_equal(script.part.executions, 1);
    assert_int_equal(script.part.failures[HUNT_CRASH], 1);
    assert_non_null(strstr(script.part.first_text, "while it learnt"));
}

static void an_end_from_outside_is_no_finding(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGKILL, SIGXCPU};
    (void)state;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        assert_int_equal(run(DIES, NONE, signals[i]), signals[i]);
        assert_int_equal(script.begun, 1);
        assert_int_equal(script.done, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_that_lives_does_all),
        cmocka_unit_test(a_death_costs_one_execution),
        cmocka_unit_test(a_death_that_learns_ends_the_part),
        cmocka_unit_test(an_end_from_outside_is_no_finding),
    };
    processes =
        mmap(NULL, sizeof *processes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return processes == MAP_FAILED ? EXIT_FAILURE : cmocka_run_group_tests(tests, NULL, NULL);
}
