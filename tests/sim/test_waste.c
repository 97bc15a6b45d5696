/* test_waste.c - idle core time beside work that waits: given changes, by hand and at random. */
#include "machine/sim/internal.h"
#include "machine/sim/kernel.h"
#include "machine/sim/waste.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WAITS, TAKEN, OTHER }; /* kinds of events */
enum { US = 1000000 };

/* The rest of the simulated machine. */
static int64_t now_ps, earliest_ps;

int64_t sim_now(void)
{
    return now_ps;
}

int64_t sim_earliest(void)
{
    return earliest_ps;
}

void *sim_host_alloc(size_t size)
{
    void *ptr = calloc(1, size);
    assert_non_null(ptr);
    return ptr;
}

static int64_t longest_ps, waits_over;

static void on_wait(int64_t ps)
{
    longest_ps = ps > longest_ps ? ps : longest_ps;
    waits_over++;
}

static int begin(void **state)
{
    (void)state;
    now_ps = earliest_ps = longest_ps = waits_over = 0;
    sim_waste_kinds(1 << WAITS, 1 << TAKEN);
    sim_waste_on_wait(on_wait);
    sim_waste_begin();
    return 0;
}

static void at(int64_t ps)
{
    now_ps = earliest_ps = ps;
}

static void event_at(int64_t ps, unsigned kind, int64_t about)
{
    now_ps = ps;
    sim_waste_event(kind, about);
}

static void one_that_waits_wastes_one_core(void **state)
{
    (void)state;
    for (int core = 1; core < 4; core++)
        sim_waste_core(core, true, 0);
    event_at(10 * US, WAITS, 1);
    event_at(13 * US, TAKEN, 1);
    at(20 * US);
    assert_int_equal(sim_wasted(-1), 3 * US);
    for (int core = 1; core < 4; core++)
        assert_int_equal(sim_wasted(core), US);
    assert_int_equal(sim_wasted(0), 0);
    assert_int_equal(longest_ps, 3 * US);
}

static void many_that_wait_waste_the_idle_cores(void **state)
{
    (void)state;
    sim_waste_core(1, true, 0);
    sim_waste_core(2, true, 0);
    for (int i = 0; i < 5; i++)
        event_at(0, WAITS, i);
    at(4 * US);
    assert_int_equal(sim_wasted(-1), 8 * US);
    for (int i = 0; i < 5; i++)
        event_at(4 * US, TAKEN, i);
    at(9 * US);
    assert_int_equal(sim_wasted(-1), 8 * US);
}

static void nothing_is_wasted_without_an_idle_core(void **state)
{
    (void)state;
    event_at(0, WAITS, 7);
    event_at(5 * US, TAKEN, 7);
    event_at(6 * US, OTHER, 8);
    at(7 * US);
    assert_int_equal(sim_wasted(-1), 0);
    assert_int_equal(longest_ps, 0);
    assert_int_equal(waits_over, 1);
}

static void woken_core_is_idle_until_it_runs(void **state)
{
    (void)state;
    sim_waste_core(3, true, 0);
    event_at(US, WAITS, 1);
    sim_waste_core(3, false, 4 * US); /* is known at once */
    at(2 * US);
    assert_int_equal(sim_wasted(3), US);
    at(6 * US);
    assert_int_equal(sim_wasted(3), 3 * US);
    assert_int_equal(sim_wasted(-1), 3 * US);
}

static void handed_over_has_not_waited(void **state)
{
    (void)state;
    sim_waste_core(1, true, 0);
    event_at(0, TAKEN, 5);
    event_at(US, WAITS, 5);
    at(2 * US);
    event_at(3 * US, TAKEN, 5);
    at(4 * US);
    assert_int_equal(sim_wasted(-1), 2 * US);
    assert_int_equal(waits_over, 1);
}

static void taker_may_be_behind_the_waker(void **state)
{
    (void)state;
    sim_waste_core(1, true, 0);
    event_at(2 * US, WAITS, 5);
    event_at(US, TAKEN, 5);
    at(4 * US);
    assert_int_equal(sim_wasted(-1), 0);
    assert_int_equal(longest_ps, 0);
    assert_int_equal(waits_over, 1);
}

static void who_asked_hears_of_waits_that_are_over(void **state)
{
    (void)state;
    sim_waste_core(1, true, 0);
    event_at(0, WAITS, 5);
    event_at(3 * US, TAKEN, 5);
    at(4 * US);
    sim_waste_on_wait(NULL);
    assert_int_equal(waits_over, 1);
    assert_int_equal(longest_ps, 3 * US);
}

static void core_told_twice_counts_once(void **state)
{
    (void)state;
    sim_waste_core(1, true, 0);
    sim_waste_core(1, true, 0);
    for (int i = 0; i < 2; i++)
        event_at(0, WAITS, i);
    at(US);
    assert_int_equal(sim_wasted(-1), US);
}

/* At random, against what is summed up tick by tick. Cores are up to LAG ticks behind the first. */
enum { TICKS = 3000, CORES = 8, THINGS = 300, LAG = 5 };

struct thing {
    int from, to; /* waits; to -1: not taken yet */
};

static unsigned random_below(uint32_t *seed, unsigned n)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % n;
}

static void changes_at_random(void **state)
{
    (void)state;
    static bool idle[CORES][TICKS + 2 * LAG];
    static int waiting[TICKS + 2 * LAG];
    struct thing thing[THINGS] = {{0}};
    bool waits[THINGS] = {false}, is_idle[CORES] = {false};
    int changed[CORES] = {0};
    uint32_t seed = 20261126;
    for (int tick = LAG; tick < TICKS; tick++) {
        earliest_ps = (int64_t)(tick - LAG) * US;
        int i = (int)random_below(&seed, THINGS), when = tick - (int)random_below(&seed, LAG);
        event_at((int64_t)when * US, waits[i] ? TAKEN : WAITS, 1000 + i);
        if (!waits[i])
            thing[i].from = when;
        for (int t = thing[i].from; waits[i] && t < when; t++)
            waiting[t]++;
        waits[i] = !waits[i];
        int core = (int)random_below(&seed, CORES);
        when = tick + (int)random_below(&seed, LAG); /* it may be woken for later */
        if (when <= changed[core])
            continue;
        for (int t = changed[core]; t < when; t++)
            idle[core][t] = is_idle[core];
        is_idle[core] = !is_idle[core];
        changed[core] = when;
        sim_waste_core(core, is_idle[core], (int64_t)when * US);
    }
    int64_t ticks = 0, sum = 0;
    for (int core = 0; core < CORES; core++)
        for (int t = changed[core]; t < TICKS; t++)
            idle[core][t] = is_idle[core];
    for (int i = 0; i < THINGS; i++)
        for (int t = thing[i].from; waits[i] && t < TICKS; t++)
            waiting[t]++;
    for (int t = 0; t < TICKS; t++) {
        int cores = 0;
        for (int core = 0; core < CORES; core++)
            cores += idle[core][t];
        ticks += cores < waiting[t] ? cores : waiting[t];
    }
    at((int64_t)TICKS * US);
    assert_true(ticks > TICKS);
    assert_int_equal(sim_wasted(-1), ticks * US);
    for (int core = 0; core < CORES; core++)
        sum += sim_wasted(core);
    assert_in_range(sum, ticks * US - TICKS, ticks * US); /* shares are rounded down */
}

/* The module keeps its memory for the life of a process, which sanitizers would call a leak. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_that_waits_wastes_one_core, begin),
        cmocka_unit_test_setup(many_that_wait_waste_the_idle_cores, begin),
        cmocka_unit_test_setup(nothing_is_wasted_without_an_idle_core, begin),
        cmocka_unit_test_setup(woken_core_is_idle_until_it_runs, begin),
        cmocka_unit_test_setup(handed_over_has_not_waited, begin),
        cmocka_unit_test_setup(taker_may_be_behind_the_waker, begin),
        cmocka_unit_test_setup(who_asked_hears_of_waits_that_are_over, begin),
        cmocka_unit_test_setup(core_told_twice_counts_once, begin),
        cmocka_unit_test_setup(changes_at_random, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
