/* test_request_follow.c - goroutines are followed by their events, also where time stamps of
 * threads are slightly out of order. */
#include "harness/sample/request_follow.h"

#include "sched.h"
#include "workloads/request_parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { US = 1000000, CLIENT = 0, SERVER = 1 };
static const int lock;

static void told(double us, int32_t m, unsigned kind, int64_t g, int32_t a)
{
    const struct request_event event = {
        .when_ps = (int64_t)(us * US), .g = g, .m = m, .a = a, .kind = kind, .lock = &lock};
    request_follow_event(&event);
}

/* The client runs on M 0; it has made the server, which runs on M 1. */
static void scene_begin(void)
{
    request_follow_name(&lock, "table");
    request_follow_begin(0, CLIENT, 0);
    told(0, 0, SCHED_CREATED, SERVER, 0);
    told(0, 0, SCHED_READIED, SERVER, READY_NEW);
    told(1, 1, SCHED_DISPATCHED, SERVER, 0);
}

/* The client's request, from 10 us to 50 us. Its parts add up. */
static struct request_parts scene_end(void)
{
    struct request_parts parts;
    request_follow_request(CLIENT, 0, 10 * US, 50 * US);
    request_follow_parts(0, &parts);
    request_follow_end();
    double sum = 0;
    for (int part = 0; part < REQUEST_PARTS; part++)
        sum += parts.us[part][0];
    for (int i = 0; i < REQUEST_LOCKS; i++)
        sum += parts.lock[i].us[0];
    assert_int_equal(parts.count, 1);
    assert_true(fabs(parts.latency_us[0] - 40) < 1e-6);
    assert_true(fabs(sum - 40) < 1e-6);
    return parts;
}

#define ASSERT_US(value, us) assert_true(fabs((value) - (us)) < 1e-6)

static void a_lock_is_waited_for_until_its_owner_wakes(void **state)
{
    (void)state;
    scene_begin();
    told(20, 0, SCHED_PARKED, CLIENT, WAIT_MUTEX);
    told(35, 1, SCHED_READIED, CLIENT, READY_WOKEN);
    told(40, 0, SCHED_DISPATCHED, CLIENT, 0);
    struct request_parts parts = scene_end();
    assert_string_equal(parts.lock[0].name, "table");
    ASSERT_US(parts.lock[0].us[0], 15);
    ASSERT_US(parts.us[PART_RUNNABLE][0], 5);
    ASSERT_US(parts.us[PART_RUNNING][0], 20);
}

/* By the stamps the client runs before the server wakes it, and by the order it was woken once. */
static void a_waking_that_is_stamped_late_is_of_the_wait_before(void **state)
{
    (void)state;
    scene_begin();
    told(20, 0, SCHED_PARKED, CLIENT, WAIT_CHAN_RECV);
    told(30, 0, SCHED_DISPATCHED, CLIENT, 0);
    told(31, 1, SCHED_READIED, CLIENT, READY_WOKEN);
    told(35, 0, SCHED_PARKED, CLIENT, WAIT_MUTEX);
    told(45, 1, SCHED_READIED, CLIENT, READY_WOKEN);
    told(45, 0, SCHED_DISPATCHED, CLIENT, 0);
    struct request_parts parts = scene_end();
    ASSERT_US(parts.lock[0].us[0], 10);
    ASSERT_US(parts.us[PART_WAITING][0], 0); /* the server is known to have woken it */
    ASSERT_US(parts.us[PART_RUNNING][0], 30);
}

/* By the stamps the client parks on M 0 when it runs on M 2. */
static void a_parking_that_is_stamped_late_is_none(void **state)
{
    (void)state;
    scene_begin();
    told(20, 1, SCHED_READIED, CLIENT, READY_WOKEN);
    told(21, 2, SCHED_DISPATCHED, CLIENT, 0);
    told(22, 0, SCHED_PARKED, CLIENT, WAIT_MUTEX);
    told(40, 2, SCHED_PARKED, CLIENT, WAIT_SLEEP);
    told(45, 2, SCHED_READIED, CLIENT, READY_WOKEN);
    told(45, 2, SCHED_DISPATCHED, CLIENT, 0);
    struct request_parts parts = scene_end();
    ASSERT_US(parts.lock[0].us[0], 0);
    ASSERT_US(parts.us[PART_ASLEEP][0], 5);
    ASSERT_US(parts.us[PART_RUNNING][0], 35);
}

static void what_comes_before_a_call_or_behind_it_is_not_followed(void **state)
{
    struct request_parts parts;
    (void)state;
    told(0, 0, SCHED_CREATED, SERVER, 0);
    request_follow_request(SERVER, 0, 0, US);
    request_follow_begin(0, CLIENT, 0);
    request_follow_parts(0, &parts);
    assert_int_equal(parts.count, 0);
    request_follow_request(CLIENT, 0, 0, US);
    request_follow_parts(0, &parts);
    assert_int_equal(parts.count, 0);
    request_follow_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_is_waited_for_until_its_owner_wakes),
        cmocka_unit_test(a_waking_that_is_stamped_late_is_of_the_wait_before),
        cmocka_unit_test(a_parking_that_is_stamped_late_is_none),
        cmocka_unit_test(what_comes_before_a_call_or_behind_it_is_not_followed),
    };
    return cmocka_run_group_tests_name("request_follow", tests, NULL, NULL);
}
