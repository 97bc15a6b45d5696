/* test_sample_pool.c - samples side by side, under few descriptors too. */
#include "harness/base/json_fields.h"
#include "harness/records/sample_request.h"
#include "harness/sample/child.h"
#include "harness/sample/sample_pool.h"
#include "tests/support/fake_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { CORES = 256, LIMIT = 64, FEW = 16, NONE = 3 };

static char script[64];

static int script_make(void **state)
{
    (void)state;
    snprintf(script, sizeof script, "/tmp/test_sample_pool.XXXXXX");
    int fd = mkstemp(script);
    if (fd < 0)
        return -1;
    FILE *to = fdopen(fd, "w");
    if (!to || fputs(fake_sample_script, to) < 0 || fchmod(fd, 0700) < 0 || fclose(to) != 0)
        return -1;
    child_set_program(script);
    return 0;
}

static int script_remove(void **state)
{
    (void)state;
    return unlink(script);
}

static const struct sample_request request = {
    .variant = "gmp", .workload = "fib,n=10", .workers = 1, .seed = 1, .timeout_s = 600};

static void limit_set(rlim_t most)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = most;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Takes the records of ended samples from the front, and checks their status. Returns how many. */
static size_t records_take(struct sample_pool *pool, const char *status)
{
    size_t taken = 0;
    void *tag;
    double seconds;
    for (json_t *record; (record = sample_pool_take(pool, &tag, &seconds)); taken++) {
        if (strcmp(field_text(record, "status"), status) != 0)
            fail_msg("%s, not %s: %s", field_text(record, "status"), status,
                     field_text(record, "reason"));
        json_decref(record);
    }
    return taken;
}

/* A machine may have more cores than the process may have descriptors. Here more places are in use
 * than poll() takes, most of them by samples that have ended. */
static void places_may_be_more_than_descriptors(void **state)
{
    (void)state;
    limit_set(LIMIT);
    struct sample_pool *pool = sample_pool_make(CORES);
    size_t added = 0, taken = 0;
    sample_pool_start(pool, &request, NULL);
    for (; added < 2 * LIMIT && sample_pool_has_room(pool); added++)
        sample_pool_add(pool, json_pack("{ss}", "status", "ok"), NULL);
    while (sample_pool_count(pool) > 0) {
        size_t ended = records_take(pool, "ok");
        if (ended == 0)
            assert_true(sample_pool_wait(pool));
        taken += ended;
    }
    assert_int_equal(taken, added + 1);
    assert_true(added > LIMIT);
    sample_pool_free(pool);
}

/* The pool starts as many samples as descriptors allow, and all of them come back. */
static void as_many_run_as_descriptors_allow(void **state)
{
    (void)state;
    limit_set(LIMIT);
    struct sample_pool *pool = sample_pool_make(CORES);
    size_t started = 0, taken = 0;
    for (; sample_pool_has_room(pool); started++)
        sample_pool_start(pool, &request, NULL);
    assert_in_range(started, 2, LIMIT - 1);
    while (sample_pool_wait(pool))
        taken += records_take(pool, "ok");
    taken += records_take(pool, "ok");
    assert_int_equal(taken, started);
    sample_pool_free(pool);
}

/* Others may take descriptors after the pool was made. Samples that found none are started again,
 * fewer at once. */
static void too_few_descriptors_fail_no_sample(void **state)
{
    (void)state;
    limit_set(CORES);
    struct sample_pool *pool = sample_pool_make(LIMIT);
    size_t started = 0, taken = 0;
    limit_set(FEW);
    for (; started < LIMIT / 2; started++) {
        while (!sample_pool_has_room(pool)) {
            assert_true(sample_pool_wait(pool));
            taken += records_take(pool, "ok");
        }
        sample_pool_start(pool, &request, NULL);
    }
    while (sample_pool_wait(pool))
        taken += records_take(pool, "ok");
    assert_int_equal(taken, started);
    limit_set(NONE);
    sample_pool_start(pool, &request, NULL);
    assert_true(sample_pool_wait(pool) || sample_pool_count(pool) == 1);
    assert_int_equal(records_take(pool, "failed"), 1);
    sample_pool_free(pool);
    limit_set(LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_may_be_more_than_descriptors),
        cmocka_unit_test(too_few_descriptors_fail_no_sample),
        cmocka_unit_test(as_many_run_as_descriptors_allow),
    };
    return cmocka_run_group_tests(tests, script_make, script_remove);
}
