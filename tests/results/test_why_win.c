/* test_why_win.c - the time that one cell's cores took more than another's, and what for. */
#include "harness/evidence/why_event.h"
#include "harness/evidence/why_latency.h"
#include "harness/evidence/why_structures.h"
#include "harness/evidence/why_win.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { OPS = 1000 };

/* Two samples on so many cores. Times are ns per operation and core time. */
struct cell {
    int workers, cores;
    double time, busy, spin, wasted;
    const char *names[2]; /* structures, and the stalls on them */
    double stalls[2];
};

static json_t *records_of(const struct cell *cell)
{
    json_t *records = json_array();
    for (int i = 0; i < 2; i++) {
        json_t *structures = json_array();
        for (int k = 0; k < 2 && cell->names[k]; k++)
            json_array_append_new(structures, json_pack("{ss sf}", "name", cell->names[k],
                                                        "stall_ns", cell->stalls[k] * OPS));
        json_t *time =
            json_pack("{sf sf sf sf}", "elapsed_ns", cell->time * OPS, "busy_ns", cell->busy * OPS,
                      "spin_ns", cell->spin * OPS, "wasted_ns", cell->wasted * OPS);
        json_array_append_new(records, json_pack("{ss si si si sf so so}", "status", "ok",
                                                 "workers", cell->workers, "cores", cell->cores,
                                                 "ops", OPS, "throughput", 1.0, "structures",
                                                 structures, "core_time", time));
    }
    return records;
}

static const struct cell fast = {.workers = 4,
                                 .cores = 8,
                                 .time = 100, /* 400 of core time */
                                 .busy = 350,
                                 .spin = 20,
                                 .wasted = 10,
                                 .names = {"g", "stack"},
                                 .stalls = {100, 50}};
static const struct cell slow = {.workers = 4,
                                 .cores = 8,
                                 .time = 600,
                                 .busy = 2300,
                                 .spin = 1020,
                                 .wasted = 60,
                                 .names = {"grq.lock", "g"},
                                 .stalls = {900, 110}};

static void parts_add_up_to_the_whole(void **state)
{
    (void)state;
    struct why_win win;
    double faster = 0, slower = 0;
    json_t *a = records_of(&fast), *b = records_of(&slow);
    assert_true(why_win_make(&win, a, b));
    assert_true(fabs(win.faster_ns - 400) < 1e-6 && fabs(win.slower_ns - 2400) < 1e-6);
    for (size_t i = 0; i < win.count; i++) {
        faster += win.parts[i].faster;
        slower += win.parts[i].slower;
        if (i > 0)
            assert_true(win.parts[i].slower - win.parts[i].faster <=
                        win.parts[i - 1].slower - win.parts[i - 1].faster);
    }
    assert_true(fabs(faster - 400) < 1e-6 && fabs(slower - 2400) < 1e-6);
    assert_string_equal(win.parts[0].name, "in spin loops");
    assert_true(win.parts[1].stalled && strcmp(win.parts[1].name, "grq.lock") == 0);
    why_win_free(&win);
    json_decref(a);
    json_decref(b);
}

static void the_largest_parts_are_told(void **state)
{
    (void)state;
    json_t *a = records_of(&fast), *b = records_of(&slow);
    char *text = why_win_of(a, b);
    assert_string_equal(text, "2.00 \302\265s more core time an operation: 1.00 \302\265s in spin "
                              "loops, 900 ns stalled on grq.lock");
    free(text);
    assert_null(why_win_of(b, a)); /* it is the slower one */
    json_decref(a);
    json_decref(b);
}

static void workers_that_share_cores_have_only_these(void **state)
{
    (void)state;
    struct why_win win;
    struct cell crowded = fast;
    crowded.workers = 64;
    json_t *a = records_of(&crowded), *b = records_of(&slow);
    assert_true(why_win_make(&win, a, b));
    assert_true(fabs(win.faster_ns - 800) < 1e-6); /* of eight cores */
    why_win_free(&win);
    json_decref(a);
    json_decref(b);
}

/* Two samples on two workers. Times are ns per operation. */
static json_t *native_of(double time, double cpu, double locks, double parks)
{
    json_t *records = json_array();
    for (int i = 0; i < 2; i++) {
        json_t *events =
            json_pack("[{ss sf} {ss sf} {ss ss}]", "name", "sde:::schedlab::GRQ_LOCKS", "per_op",
                      locks, "name", "sde:::schedlab::PARKS", "per_op", parks, "name",
                      "sde:::schedlab::WAKEUPS", "absent", "not published");
        json_array_append_new(records,
                              json_pack("{ss si si sf sf sf so}", "status", "ok", "workers", 2,
                                        "ops", OPS, "throughput", 1.0, "time_ns", time * OPS,
                                        "cpu_ns", cpu * OPS, "events", events));
    }
    return records;
}

static void real_threads_tell_times_and_likely_counts(void **state)
{
    (void)state;
    json_t *a = native_of(100, 190, 0, 1), *b = native_of(200, 300, 2.5, 1.5);
    char *text = why_win_of(a, b);
    assert_string_equal(text, "200 ns more core time an operation: 110 ns of processor time, "
                              "90.0 ns without a thread; counted GRQ_LOCKS 2.50 against 0");
    free(text); /* half a park more is 5 ns of 200 */
    assert_null(why_win_of(b, a));
    json_decref(b);
    b = native_of(110, 220, 0, 1);
    text = why_win_of(a, b);
    assert_string_equal(text, "20.0 ns more core time an operation: 30.0 ns of processor time, "
                              "less 10.0 ns without a thread; no counter tells why");
    free(text);
    json_decref(b);
    b = native_of(110, 210, 0, 1);
    text = why_win_of(a, b);
    assert_string_equal(text, "20.0 ns more core time an operation: 20.0 ns of processor time; "
                              "no counter tells why");
    free(text);
    json_decref(a);
    json_decref(b);
}

/* Adds BUSY_NS to what native_of() has made. */
static json_t *busy_for(json_t *records, double ns)
{
    for (size_t i = 0; i < json_array_size(records); i++) {
        json_t *busy = json_pack("{ss sf}", "name", "sde:::schedlab::BUSY_NS", "per_op", ns);
        json_array_append_new(json_object_get(json_array_get(records, i), "events"), busy);
    }
    return records;
}

static void busy_time_parts_work_from_searching(void **state)
{
    (void)state;
    json_t *a = busy_for(native_of(100, 190, 0, 1), 150);
    json_t *b = busy_for(native_of(200, 300, 0, 1), 180);
    char *text = why_win_of(a, b);
    assert_string_equal(text,
                        "200 ns more core time an operation: 90.0 ns without a thread, 80.0 "
                        "ns in search of one, 30.0 ns with a goroutine; no counter tells why");
    free(text);
    json_decref(b);
    b = busy_for(native_of(200, 300, 0, 1), 350); /* some had no core */
    text = why_win_of(a, b);
    assert_string_equal(text,
                        "200 ns more core time an operation: 200 ns with a goroutine, 40.0 "
                        "ns without a thread, less 40.0 ns in search of one; no counter tells why");
    free(text);
    json_decref(b);
    b = native_of(200, 300, 0, 1); /* only one of the two tells */
    text = why_win_of(a, b);
    assert_string_equal(text, "200 ns more core time an operation: 110 ns of processor time, 90.0 "
                              "ns without a thread; no counter tells why");
    free(text);
    json_decref(a);
    json_decref(b);
}

static void without_counts_nothing_is_said_of_them(void **state)
{
    (void)state;
    json_t *a = native_of(100, 190, 0, 0.5), *b = native_of(200, 300, 20, 1.5);
    for (size_t i = 0; i < 2; i++)
        json_object_del(json_array_get(b, i), "events");
    char *text = why_win_of(a, b);
    assert_string_equal(text, "200 ns more core time an operation: 110 ns of processor time, "
                              "90.0 ns without a thread");
    free(text);
    assert_null(why_latency_of(0.99, a, b));
    json_decref(a);
    json_decref(b);
}

static void counts_too_cheap_for_the_time_are_told_as_differing(void **state)
{
    (void)state;
    json_t *a = native_of(100, 190, 0, 0.5), *b = native_of(200, 300, 0.005, 1.5);
    char *text = why_win_of(a, b);
    assert_string_equal(
        text, "200 ns more core time an operation: 110 ns of processor time, "
              "90.0 ns without a thread; no count is large enough to explain it; "
              "these differ: PARKS 1.50 against 0.50"); /* five locks in all may be chance */
    free(text);
    json_decref(a);
    json_decref(b);
}

/* Adds where the time of requests went, in us at p50 and p99. */
static json_t *parted(json_t *records, double runnable_us, double called_us)
{
    for (size_t i = 0; i < json_array_size(records); i++)
        json_object_set_new(json_array_get(records, i), "request_parts",
                            json_pack("{s[{ss sf sf}{ss sf sf}{ss sf sf}]}", "parts", "part",
                                      "running", "p50_us", 1.0, "p99_us", 4.0, "part", "runnable",
                                      "p50_us", runnable_us, "p99_us", 10 * runnable_us, "part",
                                      "in a call", "p50_us", called_us, "p99_us", called_us));
    return records;
}

static void latencies_are_told_by_parts_of_requests(void **state)
{
    (void)state;
    json_t *a = parted(native_of(100, 190, 0, 1), 2, 0.5);
    json_t *b = parted(native_of(100, 190, 0, 1), 10, 1.5);
    char *text = why_latency_of(0.5, a, b);
    assert_string_equal(text, "9.00 \302\265s longer at p50: 8.00 \302\265s runnable, 1.00 "
                              "\302\265s in a call");
    free(text);
    text = why_latency_of(0.99, a, b);
    assert_string_equal(text, "81.0 \302\265s longer at p99: 80.0 \302\265s runnable");
    free(text);
    text = why_latency_of(0.9, a, b);
    assert_string_equal(text, "at p99, whose parts are known, 81.0 \302\265s longer: 80.0 "
                              "\302\265s runnable");
    free(text);
    text = why_latency_of(0.99, b, a);
    assert_string_equal(text, "requests take no longer at p99; no counter differs");
    free(text);
    json_decref(b);
    b = parted(native_of(100, 190, 0, 1), 12, 95.5);
    json_decref(a);
    a = parted(native_of(100, 190, 0, 1), 2, 145.5);
    text = why_latency_of(0.99, a, b);
    assert_string_equal(text, "50.0 \302\265s longer at p99: 100 \302\265s runnable, less 50.0 "
                              "\302\265s in a call");
    free(text);
    json_decref(a);
    json_decref(b);
}

static void latencies_without_parts_are_told_by_counts(void **state)
{
    (void)state;
    json_t *a = native_of(100, 190, 0.01, 3), *b = native_of(100, 190, 0, 4);
    char *text = why_latency_of(0.99, a, b);
    assert_string_equal(text, "an operation has GRQ_LOCKS 0 against 0.010");
    free(text);
    json_decref(b);
    b = native_of(100, 190, 0.01, 4);
    text = why_latency_of(0.99, a, b);
    assert_string_equal(text, "no counter differs");
    free(text);
    json_decref(a);
    json_decref(b);
    a = native_of(100, 190, 0, 4), b = native_of(100, 190, 0.0005, 4);
    for (size_t i = 0; i < 2; i++) {
        json_object_set_new(json_array_get(a, i), "ops", json_integer(100 * OPS));
        json_object_set_new(json_array_get(b, i), "ops", json_integer(100 * OPS));
    }
    text = why_latency_of(0.99, a, b);
    assert_string_equal(text, "an operation has GRQ_LOCKS 1 in 2.00 k against 0");
    free(text);
    json_decref(a);
    json_decref(b);
}

static void expect_event(const char *name, json_t *less, json_t *more, const char *expected)
{
    struct metric metric = {.kind = METRIC_EVENT, .name = name};
    char *text = why_event_of(&metric, less, more);
    assert_string_equal(text, expected);
    free(text);
    json_decref(less);
    json_decref(more);
}

static void events_are_told_per_operation(void **state)
{
    (void)state;
    expect_event("GRQ_LOCKS", native_of(100, 190, 1.25, 1), native_of(200, 300, 20, 1),
                 "20.0 an operation against 1.25 an operation: times the global queue's lock was "
                 "taken; with 110 ns more processor time an operation");
    expect_event("GRQ_LOCKS", native_of(100, 190, 0, 1), native_of(200, 190, 0.02, 1),
                 "1 in 50.0 operations against none: times the global queue's lock was taken");
    expect_event("GRQ_LOCKS", native_of(100, 190, 0.01, 1), native_of(200, 150, 2, 1),
                 "2.00 an operation against 1 in 100 operations: times the global queue's lock was "
                 "taken; with 40.0 ns less processor time an operation");
}

/* Two samples with that event alone. */
static json_t *counted_of(const char *name, double per_op)
{
    json_t *records = json_array();
    for (int i = 0; i < 2; i++)
        json_array_append_new(records,
                              json_pack("{ss si sf s[{ss sf}]}", "status", "ok", "ops", OPS,
                                        "cpu_ns", 1e6, "events", "name", name, "per_op", per_op));
    return records;
}

static void events_have_their_whole_help(void **state)
{
    (void)state;
    const char *hits = "sde:::schedlab::LOCAL_HITS", *tasks = "sde:::schedlab::TASKS_STOLEN";
    expect_event("LOCAL_HITS", counted_of(hits, 1), counted_of(hits, 3),
                 "3.00 an operation against 1.00 an operation: dispatches from the worker's own "
                 "queue, without those from runnext");
    expect_event("TASKS_STOLEN", counted_of(tasks, 0), counted_of(tasks, 2),
                 "2.00 an operation against none: tasks, or parents resting in a spawn, taken by a "
                 "thief");
}

static void simulated_and_real_ones_are_not_compared(void **state)
{
    (void)state;
    json_t *simulated = records_of(&fast);
    json_t *native = json_pack("[{ss si sf}]", "status", "ok", "workers", 4, "throughput", 1e6);
    assert_null(why_win_of(simulated, native));
    assert_null(why_win_of(native, simulated));
    json_decref(native);
    json_decref(simulated);
}

/* One sample with misses of L2 and L1 on two structures. */
static json_t *records_of_misses(double lock, double stack, double list)
{
    return json_pack("[{ss si s[{ss s{s{sf}s{sf}}}{ss s{s{sf sf}}}{ss s{s{sf}}}]}]", "status", "ok",
                     "ops", OPS, "structures", "name", "grq.lock", "misses", "l2", "true_sharing",
                     lock * OPS, "l1", "true_sharing", 9.0 * OPS, "name", "stack", "misses", "l2",
                     "true_sharing", stack * OPS / 2, "capacity", stack * OPS / 2, "name", "list",
                     "misses", "l2", "cold", list * OPS);
}

static void misses_are_told_by_structure(void **state)
{
    (void)state;
    json_t *few = records_of_misses(0.5, 1, 1), *many = records_of_misses(10.5, 3, 0.5);
    char *why = why_misses_of(few, many, 1);
    assert_string_equal(why, "11.5 more misses an operation: 10.0 on grq.lock, 2.00 on stack");
    free(why);
    assert_null(why_misses_of(many, few, 1));
    json_t *none = json_pack("[{ss si}]", "status", "ok", "ops", OPS);
    assert_null(why_misses_of(none, many, 1));
    json_decref(none);
    json_decref(few);
    json_decref(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_add_up_to_the_whole),
        cmocka_unit_test(the_largest_parts_are_told),
        cmocka_unit_test(workers_that_share_cores_have_only_these),
        cmocka_unit_test(real_threads_tell_times_and_likely_counts),
        cmocka_unit_test(busy_time_parts_work_from_searching),
        cmocka_unit_test(without_counts_nothing_is_said_of_them),
        cmocka_unit_test(counts_too_cheap_for_the_time_are_told_as_differing),
        cmocka_unit_test(latencies_are_told_by_parts_of_requests),
        cmocka_unit_test(latencies_without_parts_are_told_by_counts),
        cmocka_unit_test(events_are_told_per_operation),
        cmocka_unit_test(events_have_their_whole_help),
        cmocka_unit_test(simulated_and_real_ones_are_not_compared),
        cmocka_unit_test(misses_are_told_by_structure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
