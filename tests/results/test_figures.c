/* test_figures.c - which events a figure shows. */
#include "harness/answers/figures_events.h"
#include "harness/spec/spec.h"
#include "sched.h"
#include "sched_variants/runtime/stats.h"
#include "tests/support/report_cell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One that tells the two variants apart by as much as `spread`, from 0 to 1. */
static void event_add(struct report_event *events, size_t *count, const char *name, double spread)
{
    static const char *const variants[] = {"gmp", "gmp,tick=64"};
    for (int i = 0; i < 2; i++)
        events[(*count)++] = (struct report_event){.group = "g",
                                                   .variant = variants[i],
                                                   .workload = "w",
                                                   .id = variants[i],
                                                   .name = name,
                                                   .source = "sde",
                                                   .workers = 2,
                                                   .per_op = {i ? 1 : 1 - spread, NAN, NAN, 3}};
}

static char *events_chosen(const char *one, const char *other, double spread_of_polls)
{
    static const char *const noisy[] = {"A", "B", "C", "D", "E", "F", "G", "H", "I"};
    struct report_event events[32];
    struct report_cell cells[] = {cell(one, 2, 90, 110), cell(other, 2, 50, 60)};
    struct report_group group = {.id = "g", .cells = cells, .count = 2};
    size_t count = 0;
    for (size_t i = 0; i < sizeof noisy / sizeof noisy[0]; i++)
        event_add(events, &count, noisy[i], 0.9);
    event_add(events, &count, "sde:::schedlab::NOT_TICK_POLLS", 0.01);
    event_add(events, &count, "sde:::schedlab::TICK_POLLS", spread_of_polls);
    struct report report = {.events = events, .events_count = count};
    return figures_events_choose(&report, &group);
}

static void counters_of_the_knob_come_first_however_little_they_differ(void **state)
{
    (void)state;
    const double spreads[] = {0, 0.05, 1};
    for (size_t i = 0; i < sizeof spreads / sizeof spreads[0]; i++) {
        char *names = events_chosen("gmp", "gmp,tick=64", spreads[i]);
        assert_string_equal(names, "sde:::schedlab::TICK_POLLS A B C D E F G");
        free(names);
    }
}

static void counters_of_other_knobs_have_to_differ(void **state)
{
    (void)state;
    char *names = events_chosen("gmp", "gmp,steal=one", 0.05);
    assert_string_equal(names, "A B C D E F G H");
    free(names);
}

/* Once in ten thousand operations, and alike in both. */
static void counts_of_stealing_are_shown_where_they_are_asked_for(void **state)
{
    (void)state;
    static const char *const variants[] = {"tasksteal", "contsteal"};
    struct report_cell cells[] = {cell("tasksteal", 2, 90, 110), cell("contsteal", 2, 50, 60)};
    struct report_event events[2] = {0};
    struct report_group group = {.id = "g", .cells = cells, .count = 2};
    struct report report = {.events = events, .events_count = 2};
    for (int i = 0; i < 2; i++)
        events[i] = (struct report_event){.group = "g",
                                          .variant = variants[i],
                                          .workload = "w",
                                          .id = variants[i],
                                          .name = "sde:::schedlab::STEALS",
                                          .source = "sde",
                                          .workers = 2,
                                          .per_op = {1e-4, NAN, NAN, 3}};
    assert_null(figures_events_choose(&report, &group));
    group.figure = SWEEP_FIGURE_EVENTS;
    char *names = figures_events_choose(&report, &group);
    assert_string_equal(names, "sde:::schedlab::STEALS");
    free(names);
}

static bool is_counter(const char *name, size_t length)
{
    for (int i = 0; i < STAT_COUNT; i++)
        if (strlen(stat_info[i].name) == length && strncmp(stat_info[i].name, name, length) == 0)
            return true;
    return strncmp(name, "MALLOC_BYTES", length) == 0 || strncmp(name, "SIM_L2_MISS", length) == 0;
}

/* A knob without counters of its own would be forgotten in the figure about it. */
static void every_knob_has_counters_that_exist(void **state)
{
    (void)state;
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)) != NULL; i++)
        for (const struct param *knob = ops->knobs; knob && knob->name; knob++) {
            const char *at = figures_own_counters(param_key(knob));
            if (!at)
                fail_msg("knob %s of %s has no counters", param_key(knob), ops->name);
            for (; *at; at += strspn(at, " ")) {
                size_t length = strcspn(at, " ");
                if (!is_counter(at, length))
                    fail_msg("knob %s: no counter %s", param_key(knob), at);
                at += length;
            }
        }
    assert_non_null(figures_own_counters(param_key(&variant_common_params[0])));
    assert_null(figures_own_counters("no such knob"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_of_the_knob_come_first_however_little_they_differ),
        cmocka_unit_test(counters_of_other_knobs_have_to_differ),
        cmocka_unit_test(counts_of_stealing_are_shown_where_they_are_asked_for),
        cmocka_unit_test(every_knob_has_counters_that_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
