/* test_counters.c - counting through a fake PAPI: what is summed, over which windows, what not. */
#include "harness/counters/counter_names.h"
#include "harness/counters/counters.h"
#include "tests/support/fake_papi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A run --------------------------------------------------------------------------------------- */

static uint64_t fake_stats[STAT_COUNT];

static uint64_t stat_read(void *arg, enum stat_id which)
{
    (void)arg;
    return fake_stats[which];
}

static const char *stat_absent(void *arg, enum stat_id which)
{
    (void)arg;
    return which == STAT_TASKS_LIVE_PEAK ? "not in this build" : NULL;
}

/* Ms that split the steals between them. */
static uint64_t steals_of_m[COUNTERS_PER_M_MAX + 1];
static size_t ms;

static size_t stat_read_each(void *arg, enum stat_id which, uint64_t *values, size_t max)
{
    (void)arg;
    for (size_t m = 0; m < ms && m < max; m++)
        values[m] = which == STAT_STEALS ? steals_of_m[m] : 0;
    return ms;
}

static const struct counters_source stat_source = {
    .read = stat_read, .absent = stat_absent, .read_each = stat_read_each};
static int thread_keys[8];

static struct counters *counters_make(const char *events, enum counters_threads threads)
{
    struct error error;
    struct counters *counters = counters_new(&fake_api, events, threads, &error);
    assert_non_null(counters);
    counters_bind(counters, &stat_source);
    return counters;
}

static void thread_start(struct counters *counters, int thread)
{
    fake.thread = thread;
    counters_thread_started(counters, &thread_keys[thread]);
    fake.thread = 0;
}

static void thread_stop(struct counters *counters, int thread)
{
    fake.thread = thread;
    counters_thread_stopping(counters, &thread_keys[thread]);
    fake.thread = 0;
}

/* On the given thread, n events of that name happen. */
static void happen(int thread, const char *name, long long n)
{
    for (int i = 0; i < SETS_MAX; i++) {
        struct fake_set *set = &fake.set[i];
        for (int k = 0; set->running && k < set->count; k++)
            if ((set->thread == thread || set->inherits) && strcmp(set->name[k], name) == 0)
                set->value[k] += n;
    }
}

static const json_t *event_of(const json_t *array, const char *name)
{
    size_t i;
    json_t *event;
    json_array_foreach(array, i,
                       event) if (strcmp(json_string_value(json_object_get(event, "name")), name) ==
                                  0) return event;
    fail_msg("%s is not in the record", name);
    return NULL;
}

static void assert_value(const struct counters *counters, const char *name, long long value)
{
    json_t *array = counters_to_json(counters, 10);
    const json_t *event = event_of(array, name);
    assert_null(json_object_get(event, "absent"));
    assert_int_equal(json_integer_value(json_object_get(event, "value")), value);
    assert_float_equal(json_real_value(json_object_get(event, "per_op")), (double)value / 10, 1e-9);
    json_decref(array);
}

static void assert_absent(const struct counters *counters, const char *name, const char *reason)
{
    json_t *array = counters_to_json(counters, 10);
    const json_t *event = event_of(array, name);
    const char *absent = json_string_value(json_object_get(event, "absent"));
    assert_null(json_object_get(event, "value"));
    assert_null(json_object_get(event, "per_op"));
    if (!absent || !strstr(absent, reason))
        fail_msg("%s: \"%s\" should say \"%s\"", name, absent ? absent : "a value", reason);
    json_decref(array);
}

/* expected: "[1,2]", or NULL where there are none. */
static void assert_per_m(const struct counters *counters, const char *name, const char *expected)
{
    json_t *array = counters_to_json(counters, 10);
    json_t *per_m = json_object_get(event_of(array, name), "per_m");
    char *text = per_m ? json_dumps(per_m, JSON_COMPACT) : NULL;
    if (expected)
        assert_string_equal(text, expected);
    else
        assert_null(text);
    free(text);
    json_decref(array);
}

/* Frees, and nothing is left behind in PAPI. */
static void counters_drop(struct counters *counters)
{
    counters_free(counters);
    for (int i = 0; i < SETS_MAX; i++)
        assert_false(fake.set[i].used || fake.set[i].running);
    for (int i = 0; i < fake.sde_count; i++)
        assert_null(fake.sde[i].read);
    assert_int_equal(fake.threads_registered, 0);
}

/* Threads ------------------------------------------------------------------------------------- */

static void presets_are_summed_over_threads(void **state)
{
    (void)state;
    fake_reset();
    struct counters *counters = counters_make("PAPI_L1_DCM,PAPI_TOT_INS", COUNTERS_PER_THREAD);
    thread_start(counters, 0);
    thread_start(counters, 1);
    counters_begin(counters);
    happen(0, "PAPI_L1_DCM", 3);
    happen(1, "PAPI_L1_DCM", 40);
    happen(1, "PAPI_TOT_INS", 500);
    counters_end(counters);
    thread_stop(counters, 1);
    thread_stop(counters, 0);
    assert_value(counters, "PAPI_L1_DCM", 43);
    assert_value(counters, "PAPI_TOT_INS", 500);
    counters_drop(counters);
}

static void only_what_happens_in_windows_counts(void **state)
{
    (void)state;
    fake_reset();
    struct counters *counters = counters_make("PAPI_L1_DCM", COUNTERS_PER_THREAD);
    thread_start(counters, 0);
    happen(0, "PAPI_L1_DCM", 1000);
    for (int i = 0; i < 3; i++) {
        counters_begin(counters);
        happen(0, "PAPI_L1_DCM", 5);
        counters_end(counters);
        happen(0, "PAPI_L1_DCM", 1000);
    }
    thread_stop(counters, 0);
    assert_value(counters, "PAPI_L1_DCM", 15);
    counters_drop(counters);
}

static void threads_may_start_and_stop_inside_a_window(void **state)
{
    (void)state;
    fake_reset();
    struct counters *counters = counters_make("PAPI_L1_DCM", COUNTERS_PER_THREAD);
    thread_start(counters, 0);
    thread_start(counters, 1);
    happen(1, "PAPI_L1_DCM", 1000);
    counters_begin(counters);
    happen(1, "PAPI_L1_DCM", 1);
    thread_stop(counters, 1);
    thread_start(counters, 2);
    happen(2, "PAPI_L1_DCM", 20);
    counters_end(counters);
    thread_stop(counters, 2);
    thread_start(counters, 1);
    counters_begin(counters);
    happen(1, "PAPI_L1_DCM", 300);
    counters_end(counters);
    thread_stop(counters, 1);
    thread_stop(counters, 0);
    assert_value(counters, "PAPI_L1_DCM", 321);
    counters_drop(counters);
}

static void one_inherited_set_serves_threads_that_come_and_go(void **state)
{
    (void)state;
    fake_reset();
    struct counters *counters = counters_make("PAPI_L1_DCM", COUNTERS_INHERITED);
    thread_start(counters, 1);
    int sets = 0;
    for (int i = 0; i < SETS_MAX; i++)
        sets += fake.set[i].running && fake.set[i].inherits;
    assert_int_equal(sets, 1);
    counters_begin(counters);
    happen(1, "PAPI_L1_DCM", 7);
    thread_stop(counters, 1);
    happen(2, "PAPI_L1_DCM", 8);
    counters_end(counters);
    assert_value(counters, "PAPI_L1_DCM", 15);
    counters_drop(counters);
}

static void no_inheritance_is_absence(void **state)
{
    (void)state;
    fake_reset();
    fake.inherit_error = PAPI_ENOEVNT;
    struct counters *counters =
        counters_make("PAPI_L1_DCM,perf::PAGE-FAULTS,sde:::schedlab::PARKS", COUNTERS_INHERITED);
    counters_begin(counters);
    fake_stats[STAT_PARKS] += 4;
    counters_end(counters);
    assert_absent(counters, "PAPI_L1_DCM", "PAPI_set_opt(PAPI_INHERIT): Event does not exist");
    assert_absent(counters, "perf::PAGE-FAULTS", "PAPI_INHERIT");
    assert_value(counters, "sde:::schedlab::PARKS", 4);
    counters_drop(counters);
}

static void reading_goes_through_the_kernel(void **state)
{
    (void)state;
    fake_reset();
    struct counters *counters = counters_make("PAPI_L1_DCM", COUNTERS_PER_THREAD);
    assert_int_equal(fake.component[COMPONENT_PERF].fast_counter_read, 0);
    counters_drop(counters);
}

/* Per M --------------------------------------------------------------------------------------- */

static void values_of_ms_stand_beside_the_sum(void **state)
{
    (void)state;
    fake_reset();
    struct counters *counters = counters_make("PAPI_L1_DCM", COUNTERS_PER_THREAD);
    thread_start(counters, 0);
    thread_start(counters, 1);
    counters_begin(counters);
    happen(0, "PAPI_L1_DCM", 3);
    happen(1, "PAPI_L1_DCM", 40);
    thread_stop(counters, 1);
    thread_start(counters, 2);
    happen(2, "PAPI_L1_DCM", 500);
    counters_end(counters);
    thread_stop(counters, 2);
    thread_stop(counters, 0);
    assert_value(counters, "PAPI_L1_DCM", 543);
    assert_per_m(counters, "PAPI_L1_DCM", "[3,40,500]");
    counters_drop(counters);
}

static void own_events_have_them_too(void **state)
{
    (void)state;
    fake_reset();
    memset(steals_of_m, 0, sizeof steals_of_m);
    struct counters *counters =
        counters_make("sde:::schedlab::STEALS,sde:::schedlab::DEQUE_MAX", COUNTERS_PER_THREAD);
    ms = 2;
    steals_of_m[0] = 100;
    for (int i = 0; i < 2; i++) {
        counters_begin(counters);
        steals_of_m[0] += 1;
        steals_of_m[1] += 20;
        ms = 3; /* the third M starts in the first window */
        steals_of_m[2] += 7;
        fake_stats[STAT_STEALS] += 99; /* read at another moment: not the sum of the Ms */
        counters_end(counters);
        steals_of_m[1] += 1000;
    }
    assert_value(counters, "sde:::schedlab::STEALS", 56);
    assert_per_m(counters, "sde:::schedlab::STEALS", "[2,40,14]");
    assert_per_m(counters, "sde:::schedlab::DEQUE_MAX", NULL); /* a peak */
    counters_drop(counters);
}

static void ms_that_are_no_workers_have_no_values(void **state)
{
    (void)state;
    fake_reset();
    struct counters *counters =
        counters_make("PAPI_L1_DCM,sde:::schedlab::STEALS", COUNTERS_INHERITED);
    ms = 0;
    counters_begin(counters);
    counters_end(counters);
    assert_per_m(counters, "PAPI_L1_DCM", NULL);
    assert_per_m(counters, "sde:::schedlab::STEALS", NULL);
    counters_begin(counters);
    ms = COUNTERS_PER_M_MAX + 1;
    fake_stats[STAT_STEALS] += 5;
    counters_end(counters);
    assert_value(counters, "sde:::schedlab::STEALS", 5);
    assert_per_m(counters, "sde:::schedlab::STEALS", NULL);
    counters_drop(counters);
}

/* Absence ------------------------------------------------------------------------------------- */

static void an_event_that_cannot_be_added_is_absent(void **state)
{
    (void)state;
    fake_reset();
    fake.broken = "PAPI_L1_DCM";
    struct counters *counters = counters_make("PAPI_L1_DCM,PAPI_TOT_INS", COUNTERS_PER_THREAD);
    thread_start(counters, 0);
    counters_begin(counters);
    happen(0, "PAPI_TOT_INS", 9);
    counters_end(counters);
    thread_stop(counters, 0);
    assert_absent(counters, "PAPI_L1_DCM", "PAPI_add_named_event: Event does not exist");
    assert_value(counters, "PAPI_TOT_INS", 9);
    counters_drop(counters);
}

/* With two counters: the first two presets in one set, the third in another; what needs no counter
 * joins the first. */
static const char three_presets[] =
    "PAPI_L1_DCM,PAPI_TOT_CYC,PAPI_TOT_INS,perf::PAGE-FAULTS,sde:::schedlab::PARKS";

static struct counters *counters_of_set(size_t number)
{
    struct error error;
    fake_reset();
    fake.pmu_counters = 2;
    struct counters *counters = counters_new(&fake_api, three_presets, COUNTERS_PER_THREAD, &error);
    assert_int_equal(counters_set_count(counters), 2);
    counters_choose_set(counters, number);
    counters_bind(counters, &stat_source);
    thread_start(counters, 0);
    counters_begin(counters);
    happen(0, "PAPI_TOT_CYC", 1);
    happen(0, "PAPI_TOT_INS", 3);
    happen(0, "perf::PAGE-FAULTS", 2);
    fake_stats[STAT_PARKS] += 4;
    counters_end(counters);
    thread_stop(counters, 0);
    assert_value(counters, "sde:::schedlab::PARKS", 4); /* of the process: in every sample */
    return counters;
}

static void events_that_do_not_fit_are_counted_in_turns(void **state)
{
    (void)state;
    for (size_t block = 0; block < 4; block++) {
        struct counters *counters = counters_of_set(block);
        assert_int_equal(counters_chosen_set(counters), block % 2);
        if (block % 2 == 0) {
            assert_value(counters, "PAPI_L1_DCM", 0);
            assert_value(counters, "PAPI_TOT_CYC", 1);
            assert_value(counters, "perf::PAGE-FAULTS", 2);
            assert_absent(counters, "PAPI_TOT_INS", COUNTERS_ELSEWHERE);
        } else {
            assert_absent(counters, "PAPI_L1_DCM", COUNTERS_ELSEWHERE);
            assert_absent(counters, "PAPI_TOT_CYC", COUNTERS_ELSEWHERE);
            assert_absent(counters, "perf::PAGE-FAULTS", COUNTERS_ELSEWHERE);
            assert_value(counters, "PAPI_TOT_INS", 3);
        }
        counters_drop(counters);
    }
}

static void descriptors_of_counting_are_known(void **state)
{
    (void)state;
    fake_reset();
    const char *events = "PAPI_L1_DCM,perf::PAGE-FAULTS,sde:::schedlab::PARKS";
    struct counters *counters = counters_make(events, COUNTERS_PER_THREAD);
    assert_int_equal(counters_descriptors(counters, 3), 2 * 3);
    counters_drop(counters);
    counters = counters_make(events, COUNTERS_INHERITED);
    assert_int_equal(counters_descriptors(counters, 3), 2);
    counters_drop(counters);
    counters = counters_make("sde:::schedlab::PARKS", COUNTERS_PER_THREAD);
    assert_int_equal(counters_descriptors(counters, 3), 0);
    counters_drop(counters);
}

static void events_that_fit_are_one_set(void **state)
{
    (void)state;
    fake_reset();
    struct counters *counters = counters_make(three_presets, COUNTERS_PER_THREAD);
    assert_int_equal(counters_set_count(counters), 1);
    counters_drop(counters);
    counters = counters_make("sde:::schedlab::PARKS", COUNTERS_PER_THREAD);
    assert_int_equal(counters_set_count(counters), 0);
    counters_drop(counters);
}

/* It can be had, if not in this sample. */
static void another_set_is_no_absence_from_the_machine(void **state)
{
    (void)state;
    struct counters *counters = counters_of_set(0);
    json_t *array = counters_describe(counters);
    assert_null(json_object_get(event_of(array, "PAPI_TOT_INS"), "absent"));
    json_decref(array);
    counters_drop(counters);
}

/* An event that cannot be counted even alone takes no turn. */
static void broken_events_have_no_set(void **state)
{
    (void)state;
    fake_reset();
    fake.pmu_counters = 1;
    fake.broken = "PAPI_TOT_CYC";
    struct counters *counters =
        counters_make("PAPI_L1_DCM,PAPI_TOT_CYC,PAPI_TOT_INS", COUNTERS_PER_THREAD);
    assert_int_equal(counters_set_count(counters), 2);
    assert_absent(counters, "PAPI_TOT_CYC", "PAPI_add_named_event: Event does not exist");
    assert_absent(counters, "PAPI_TOT_INS", COUNTERS_ELSEWHERE);
    counters_drop(counters);
}

static void a_machine_without_pmu_counts_the_rest(void **state)
{
    (void)state;
    fake_reset();
    fake.pmu_counters = 0;
    struct counters *counters = counters_make(NULL, COUNTERS_PER_THREAD);
    thread_start(counters, 0);
    counters_begin(counters);
    happen(0, "perf::CONTEXT-SWITCHES", 2);
    counters_end(counters);
    thread_stop(counters, 0);
    assert_absent(counters, "PAPI_L1_DCM", "Event does not exist");
    assert_value(counters, "perf::CONTEXT-SWITCHES", 2);
    counters_drop(counters);
}

static void a_start_that_fails_in_the_trial_is_absence(void **state)
{
    (void)state;
    fake_reset();
    fake.start_fails_on = 0;
    struct counters *counters = counters_make("PAPI_L1_DCM", COUNTERS_PER_THREAD);
    assert_absent(counters, "PAPI_L1_DCM", "PAPI_start: Permission level");
    counters_drop(counters);
}

/* A sum without one thread would look like a smaller number of events. */
static void one_failing_thread_makes_all_absent(void **state)
{
    (void)state;
    fake_reset();
    fake.start_fails_on = 1;
    struct counters *counters =
        counters_make("PAPI_L1_DCM,sde:::schedlab::PARKS", COUNTERS_PER_THREAD);
    thread_start(counters, 0);
    thread_start(counters, 1);
    counters_begin(counters);
    happen(0, "PAPI_L1_DCM", 5);
    counters_end(counters);
    thread_stop(counters, 1);
    thread_stop(counters, 0);
    assert_absent(counters, "PAPI_L1_DCM", "PAPI_start: Permission level");
    assert_value(counters, "sde:::schedlab::PARKS", 0);
    counters_drop(counters);
}

static void a_thread_that_cannot_register_makes_all_absent(void **state)
{
    (void)state;
    fake_reset();
    fake.register_fails_on = 1;
    struct counters *counters = counters_make("PAPI_L1_DCM", COUNTERS_PER_THREAD);
    thread_start(counters, 1);
    thread_stop(counters, 1);
    assert_absent(counters, "PAPI_L1_DCM", "PAPI_register_thread: Insufficient memory");
    counters_drop(counters);
}

static void a_read_that_fails_is_absence(void **state)
{
    (void)state;
    fake_reset();
    struct counters *counters = counters_make("PAPI_L1_DCM", COUNTERS_PER_THREAD);
    thread_start(counters, 1);
    counters_begin(counters);
    happen(1, "PAPI_L1_DCM", 5);
    fake.read_fails_on = 1;
    counters_end(counters);
    thread_stop(counters, 1);
    assert_absent(counters, "PAPI_L1_DCM", "PAPI_read: Permission level");
    counters_drop(counters);
}

static void no_papi_at_all_makes_everything_absent(void **state)
{
    (void)state;
    fake_reset();
    fake.version = PAPI_ENOMEM;
    struct counters *counters = counters_make(NULL, COUNTERS_PER_THREAD);
    thread_start(counters, 0);
    counters_begin(counters);
    counters_end(counters);
    thread_stop(counters, 0);
    assert_absent(counters, "PAPI_L1_DCM", "PAPI_library_init: Insufficient memory");
    assert_absent(counters, "perf::PAGE-FAULTS", "PAPI_library_init");
    assert_absent(counters, "sde:::schedlab::PARKS", "PAPI_library_init");
    counters_drop(counters);
}

static void another_version_of_papi_is_told(void **state)
{
    (void)state;
    fake_reset();
    fake.version = PAPI_VERSION_NUMBER(5, 1, 0, 0);
    struct counters *counters = counters_make("PAPI_L1_DCM", COUNTERS_PER_THREAD);
    assert_absent(counters, "PAPI_L1_DCM", "version 5.1, built for");
    counters_drop(counters);
}

static void a_disabled_component_gives_its_reason(void **state)
{
    (void)state;
    fake_reset();
    fake.component[COMPONENT_PERF].disabled = PAPI_ECMP;
    snprintf(fake.component[COMPONENT_PERF].disabled_reason, NAME_SIZE, "paranoid=3");
    struct counters *counters =
        counters_make("PAPI_L1_DCM,sde:::schedlab::PARKS", COUNTERS_PER_THREAD);
    assert_absent(counters, "PAPI_L1_DCM", "paranoid=3");
    assert_value(counters, "sde:::schedlab::PARKS", 0);
    counters_drop(counters);
}

/* Counted for user code alone, a context switch never happens: that zero would be false. */
static void kernel_events_need_the_kernel_domain(void **state)
{
    (void)state;
    fake_reset();
    struct counters *counters =
        counters_make("perf::CONTEXT-SWITCHES,perf::PAGE-FAULTS", COUNTERS_PER_THREAD);
    assert_true(counters_count_kernel(counters));
    assert_true(fake.default_domain & PAPI_DOM_KERNEL);
    counters_drop(counters);

    fake_reset();
    fake.component[COMPONENT_PERF].available_domains = PAPI_DOM_USER;
    counters = counters_make("perf::CONTEXT-SWITCHES,perf::PAGE-FAULTS", COUNTERS_PER_THREAD);
    assert_false(counters_count_kernel(counters));
    assert_absent(counters, "perf::CONTEXT-SWITCHES", "perf_event_paranoid");
    assert_value(counters, "perf::PAGE-FAULTS", 0);
    counters_drop(counters);
}

/* The program's own events -------------------------------------------------------------------- */

static void own_sums_are_differences_and_peaks_are_values(void **state)
{
    (void)state;
    fake_reset();
    memset(fake_stats, 0, sizeof fake_stats);
    struct counters *counters = counters_make(
        "sde:::schedlab::STEALS,sde:::schedlab::LIVE_GS_PEAK,sde:::schedlab::TASKS_LIVE_PEAK",
        COUNTERS_PER_THREAD);
    fake_stats[STAT_STEALS] = 100;
    fake_stats[STAT_LIVE_GS_PEAK] = 8;
    for (int i = 0; i < 2; i++) {
        counters_begin(counters);
        fake_stats[STAT_STEALS] += 5;
        counters_end(counters);
        fake_stats[STAT_STEALS] += 100;
    }
    assert_value(counters, "sde:::schedlab::STEALS", 10);
    assert_absent(counters, "sde:::schedlab::TASKS_LIVE_PEAK", "not in this build");
    json_t *array = counters_to_json(counters, 10);
    const json_t *peak = event_of(array, "sde:::schedlab::LIVE_GS_PEAK");
    assert_int_equal(json_integer_value(json_object_get(peak, "value")), 8);
    assert_null(json_object_get(peak, "per_op"));
    json_decref(array);
    counters_drop(counters);
}

/* More than PAPI reads at once: no event is lost for it, nor left out of a window. */
static void own_events_may_take_several_sets(void **state)
{
    (void)state;
    fake_reset();
    fake.sde_counters = 2;
    memset(fake_stats, 0, sizeof fake_stats);
    struct counters *counters =
        counters_make("sde:::schedlab::STEALS,sde:::schedlab::LIVE_GS_PEAK,sde:::schedlab::PARKS,"
                      "sde:::schedlab::SPINS,sde:::schedlab::SLEEPS",
                      COUNTERS_PER_THREAD);
    for (int i = 0; i < 2; i++) {
        counters_begin(counters);
        fake_stats[STAT_STEALS] += 5;
        fake_stats[STAT_PARKS] += 6;
        fake_stats[STAT_SPINS] += 7;
        fake_stats[STAT_SLEEPS] += 8;
        counters_end(counters);
        fake_stats[STAT_SLEEPS] += 100;
    }
    assert_value(counters, "sde:::schedlab::STEALS", 10);
    assert_value(counters, "sde:::schedlab::PARKS", 12);
    assert_value(counters, "sde:::schedlab::SPINS", 14);
    assert_value(counters, "sde:::schedlab::SLEEPS", 16);
    counters_drop(counters);
}

static void an_own_event_that_cannot_be_added_is_absent_alone(void **state)
{
    (void)state;
    fake_reset();
    fake.broken = "sde:::schedlab::PARKS";
    struct counters *counters =
        counters_make("sde:::schedlab::STEALS,sde:::schedlab::PARKS", COUNTERS_PER_THREAD);
    counters_begin(counters);
    fake_stats[STAT_STEALS] += 5;
    counters_end(counters);
    assert_value(counters, "sde:::schedlab::STEALS", 5);
    assert_absent(counters, "sde:::schedlab::PARKS", "PAPI_add_named_event");
    counters_drop(counters);
}

static void sample_that_never_ran_counted_nothing(void **state)
{
    struct error error;
    (void)state;
    fake_reset();
    struct counters *counters =
        counters_new(&fake_api, "PROCESS_MEMORY_PER_G", COUNTERS_PER_THREAD, &error);
    counters_finish(counters, 0);
    assert_absent(counters, "sde:::schedlab::PROCESS_MEMORY_PER_G", "before anything ran");
    counters_drop(counters);
}

static void without_a_scheduler_its_events_are_absent(void **state)
{
    struct error error;
    (void)state;
    fake_reset();
    struct counters *counters =
        counters_new(&fake_api, "sde:::schedlab::STEALS,sde:::schedlab::PROCESS_CPU_NS",
                     COUNTERS_PER_THREAD, &error);
    counters_bind(counters, NULL);
    counters_begin(counters);
    counters_end(counters);
    assert_absent(counters, "sde:::schedlab::STEALS", "no scheduler");
    json_t *array = counters_to_json(counters, 1);
    assert_non_null(json_object_get(event_of(array, "sde:::schedlab::PROCESS_CPU_NS"), "value"));
    json_decref(array);
    counters_drop(counters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_are_summed_over_threads),
        cmocka_unit_test(only_what_happens_in_windows_counts),
        cmocka_unit_test(threads_may_start_and_stop_inside_a_window),
        cmocka_unit_test(one_inherited_set_serves_threads_that_come_and_go),
        cmocka_unit_test(no_inheritance_is_absence),
        cmocka_unit_test(reading_goes_through_the_kernel),
        cmocka_unit_test(values_of_ms_stand_beside_the_sum),
        cmocka_unit_test(own_events_have_them_too),
        cmocka_unit_test(ms_that_are_no_workers_have_no_values),
        cmocka_unit_test(an_event_that_cannot_be_added_is_absent),
        cmocka_unit_test(events_that_do_not_fit_are_counted_in_turns),
        cmocka_unit_test(descriptors_of_counting_are_known),
        cmocka_unit_test(events_that_fit_are_one_set),
        cmocka_unit_test(another_set_is_no_absence_from_the_machine),
        cmocka_unit_test(broken_events_have_no_set),
        cmocka_unit_test(a_machine_without_pmu_counts_the_rest),
        cmocka_unit_test(a_start_that_fails_in_the_trial_is_absence),
        cmocka_unit_test(one_failing_thread_makes_all_absent),
        cmocka_unit_test(a_thread_that_cannot_register_makes_all_absent),
        cmocka_unit_test(a_read_that_fails_is_absence),
        cmocka_unit_test(no_papi_at_all_makes_everything_absent),
        cmocka_unit_test(another_version_of_papi_is_told),
        cmocka_unit_test(a_disabled_component_gives_its_reason),
        cmocka_unit_test(kernel_events_need_the_kernel_domain),
        cmocka_unit_test(own_sums_are_differences_and_peaks_are_values),
        cmocka_unit_test(own_events_may_take_several_sets),
        cmocka_unit_test(an_own_event_that_cannot_be_added_is_absent_alone),
        cmocka_unit_test(sample_that_never_ran_counted_nothing),
        cmocka_unit_test(without_a_scheduler_its_events_are_absent),
    };
    return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
