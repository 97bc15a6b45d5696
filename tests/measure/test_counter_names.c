/* test_counter_names.c - which events a list names, and what is said of those that do not exist. */
#include "harness/counters/counter_names.h"
#include "tests/support/fake_papi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void the_default_asks_for_cache_misses_first(void **state)
{
    struct counter_names names;
    struct error error;
    (void)state;
    assert_true(counter_names_split(&names, NULL, &error));
    assert_string_equal(names.name[0], "PAPI_L1_DCM");
    for (size_t i = 1; i < names.count; i++) /* pmu, soft, sde: each kind together */
        assert_true(strcmp(counter_source(names.name[i - 1]), "sde") != 0 ||
                    strcmp(counter_source(names.name[i]), "sde") == 0);
    for (int i = 0; i < counter_sde_count(); i++)
        assert_true(*counter_sde_help(i));
    counter_names_free(&names);
}

static void lists_are_split_and_checked(void **state)
{
    struct counter_names names;
    struct error error;
    (void)state;
    assert_true(counter_names_split(&names, "none", &error));
    assert_int_equal(names.count, 0);
    counter_names_free(&names);
    assert_true(counter_names_split(&names, "STEALS,STEAL", &error));
    assert_string_equal(names.name[0], "sde:::schedlab::STEALS");
    assert_string_equal(names.name[1], "STEAL");
    counter_names_free(&names);
    static const char *const wrong[] = {"", "a,,b", "a,", "a,b,a", "STEALS,sde:::schedlab::STEALS"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(counter_names_split(&names, wrong[i], &error));
        assert_null(strchr(error.text, '\n'));
        counter_names_free(&names);
    }
}

static bool check_name(const char *name, struct error *error)
{
    struct counter_names names;
    assert_true(counter_names_split(&names, name, error));
    bool ok = counter_names_check(&fake_api, &names, error);
    counter_names_free(&names);
    return ok;
}

static void typing_errors_get_the_nearest_event(void **state)
{
    static const char *const cases[][2] = {
        {"PAPI_L1_DCN", "\"PAPI_L1_DCM\""},
        {"perf::CONTEXT-SWITCHS", "\"perf::CONTEXT-SWITCHES\""},
        {"sde:::schedlab::STEAL", "\"sde:::schedlab::STEALS\""},
        {"sde:::other::STEALS", "\"sde:::schedlab::STEALS\""},
        {"STEAL", "\"sde:::schedlab::STEALS\""},
        {"CONTEXT-SWITCHES", "\"perf::CONTEXT-SWITCHES\""},
    };
    struct error error;
    (void)state;
    fake_reset();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (check_name(cases[i][0], &error) || !strstr(error.text, cases[i][1]))
            fail_msg("%s: \"%s\" should name %s", cases[i][0], error.text, cases[i][1]);
        assert_null(strchr(error.text, '\n'));
    }
}

static void events_far_off_name_the_lists(void **state)
{
    static const char *const names[] = {"bogus", "sde:::schedlab::BOGUS", "perf::ZEBRA",
                                        "PAPI_ZEBRA"};
    struct error error;
    (void)state;
    fake_reset();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_false(check_name(names[i], &error));
        if (!strstr(error.text, "schedlab list events") || strstr(error.text, "nearest"))
            fail_msg("%s: \"%s\" should name lists and nothing near", names[i], error.text);
        assert_null(strchr(error.text, '\n'));
    }
}

static void events_of_other_machines_are_no_errors(void **state)
{
    static const char *const names[] = {"PAPI_L1_DCM", "perf::CYCLES", "skx::INST_RETIRED:ANY_P",
                                        "sde:::schedlab::PROCESS_SWITCHES"};
    struct error error;
    (void)state;
    fake_reset();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_true(check_name(names[i], &error));
    fake.version = PAPI_ENOMEM; /* without PAPI nobody knows the presets */
    assert_true(check_name("PAPI_ANYTHING", &error));
    assert_false(check_name("sde:::schedlab::NOPE", &error));
}

static void sources_follow_from_names(void **state)
{
    (void)state;
    assert_string_equal(counter_source("PAPI_TOT_INS"), "pmu");
    assert_string_equal(counter_source("perf::CYCLES"), "pmu");
    assert_string_equal(counter_source("perf::PAGE-FAULTS"), "soft");
    assert_string_equal(counter_source("perf::CONTEXT-SWITCHES:u=0"), "soft");
    assert_string_equal(counter_source("sde:::schedlab::PARKS"), "sde");
    assert_true(counter_is_kernel_only("perf::CONTEXT-SWITCHES:u=0:k=1"));
    assert_false(counter_is_kernel_only("perf::PAGE-FAULTS"));
    assert_string_equal(counter_stand_in("perf::task-clock:u=0"), "sde:::schedlab::PROCESS_CPU_NS");
    assert_null(counter_stand_in("perf::CPU-MIGRATIONS"));
    assert_null(counter_stand_in("PAPI_L1_DCM"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_asks_for_cache_misses_first),
        cmocka_unit_test(lists_are_split_and_checked),
        cmocka_unit_test(typing_errors_get_the_nearest_event),
        cmocka_unit_test(events_far_off_name_the_lists),
        cmocka_unit_test(events_of_other_machines_are_no_errors),
        cmocka_unit_test(sources_follow_from_names),
    };
    return cmocka_run_group_tests_name("counter_names", tests, NULL, NULL);
}
