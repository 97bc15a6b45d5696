/* test_malloc_stats.c - memory as events: levels, bytes of the timed calls, blocks of the whole
 * run. */
#include "harness/counters/counters.h"
#include "harness/host/malloc_stats.h"
#include "tests/support/fake_papi.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LEVEL_EVENT "sde:::schedlab::MALLOC_ALLOCATED"
#define COUNT_EVENT "sde:::schedlab::MALLOC_ALLOCATIONS"
#define BYTES_EVENT "sde:::schedlab::MALLOC_BYTES"

enum { EVENTS = 3 };
static const char *const names[EVENTS] = {LEVEL_EVENT, COUNT_EVENT, BYTES_EVENT};

/* In front of jemalloc's: it forgets one name. */
static const char *forgotten;

int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size);

int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size)
{
    int (*real)(const char *, void *, size_t *, void *, size_t);
    *(void **)&real = dlsym(RTLD_NEXT, "mallctl");
    if (!real || (forgotten && strcmp(name, forgotten) == 0))
        return ENOENT;
    return real(name, old, old_size, new, new_size);
}

static uint64_t no_stat(void *arg, enum stat_id which)
{
    (void)arg;
    (void)which;
    return 0;
}

static const char *no_absence(void *arg, enum stat_id which)
{
    (void)arg;
    (void)which;
    return NULL;
}

static const struct counters_source no_source = {.read = no_stat, .absent = no_absence};

static struct counters *counters_make(enum counters_threads threads)
{
    struct error error;
    struct counters *counters =
        counters_new(&fake_api, LEVEL_EVENT "," COUNT_EVENT "," BYTES_EVENT, threads, &error);
    assert_non_null(counters);
    counters_bind(counters, &no_source);
    return counters;
}

static const json_t *event_of(const json_t *array, const char *name)
{
    size_t i = 0;
    while (i < EVENTS && strcmp(names[i], name) != 0)
        i++;
    return json_array_get(array, i);
}

static void assert_absent(const struct counters *counters, const char *name, const char *reason)
{
    json_t *array = counters_to_json(counters, 1);
    const json_t *event = event_of(array, name);
    assert_null(json_object_get(event, "value"));
    assert_non_null(strstr(json_string_value(json_object_get(event, "absent")), reason));
    json_decref(array);
}

enum { BLOCKS = 1000, BLOCK_SIZE = 1024 };

static void *blocks[BLOCKS];

static void blocks_allocate(void)
{
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(BLOCK_SIZE);
}

static void blocks_free(void)
{
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

static long long value_of(const struct counters *counters, const char *name, double *per_op)
{
    json_t *array = counters_to_json(counters, BLOCKS);
    const json_t *event = event_of(array, name);
    const json_t *value = json_object_get(event, "value");
    assert_non_null(value);
    long long number = json_integer_value(value);
    *per_op = json_real_value(json_object_get(event, "per_op"));
    json_decref(array);
    return number;
}

/* One window of two in which the blocks are allocated: bytes are of the windows, blocks of all the
 * run. */
static void memory_is_counted_by_jemalloc(void **state)
{
    (void)state;
    if (malloc_stats_absent())
        skip();
    fake_reset();
    double per_op;
    struct counters *counters = counters_make(COUNTERS_PER_THREAD);
    counters_thread_started(counters, counters);
    blocks_allocate();
    blocks_free();
    counters_begin(counters);
    blocks_allocate();
    counters_end(counters);
    blocks_free();
    counters_thread_stopping(counters, counters);
    counters_finish(counters, 4 * BLOCKS);

    long long bytes = value_of(counters, BYTES_EVENT, &per_op);
    assert_int_equal(bytes, BLOCKS * BLOCK_SIZE);
    assert_float_equal(per_op, BLOCK_SIZE, 1e-9);
    long long level = value_of(counters, LEVEL_EVENT, &per_op);
    assert_true(level >= BLOCKS * BLOCK_SIZE);
    assert_float_equal(per_op, 0, 0); /* there is none */
    long long count = value_of(counters, COUNT_EVENT, &per_op);
    assert_in_range(count, 2 * BLOCKS, 2 * BLOCKS + 100);
    assert_float_equal(per_op, (double)count / (4 * BLOCKS), 1e-9);
    counters_free(counters);
}

static void another_malloc_counts_nothing(void **state)
{
    (void)state;
    const char *absent = malloc_stats_absent();
    if (!absent)
        skip();
    fake_reset();
    struct counters *counters = counters_make(COUNTERS_PER_THREAD);
    for (int i = 0; i < EVENTS; i++)
        assert_absent(counters, names[i], absent);
    counters_free(counters);
}

static void a_name_that_jemalloc_does_not_know_is_absence_not_zero(void **state)
{
    (void)state;
    static const char *const wanted[] = {
        "stats.allocated",
        "stats.mapped",
        "stats.arenas.4096.small.nrequests",
        "stats.arenas.4096.large.nrequests",
        "thread.allocatedp",
    };
    if (malloc_stats_absent())
        skip();
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        forgotten = wanted[i];
        const char *absent = malloc_stats_absent();
        forgotten = NULL;
        assert_non_null(absent);
        assert_non_null(strstr(absent, "by name"));
    }
    assert_null(malloc_stats_absent());
}

static void threads_that_come_and_go_have_no_memory_counts(void **state)
{
    (void)state;
    if (malloc_stats_absent())
        skip();
    fake_reset();
    double per_op;
    struct counters *counters = counters_make(COUNTERS_INHERITED);
    counters_begin(counters);
    counters_end(counters);
    assert_true(value_of(counters, LEVEL_EVENT, &per_op) > 0);
    assert_absent(counters, COUNT_EVENT, "threads come and go");
    assert_absent(counters, BYTES_EVENT, "threads come and go");
    counters_free(counters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_counted_by_jemalloc),
        cmocka_unit_test(another_malloc_counts_nothing),
        cmocka_unit_test(a_name_that_jemalloc_does_not_know_is_absence_not_zero),
        cmocka_unit_test(threads_that_come_and_go_have_no_memory_counts),
    };
    return cmocka_run_group_tests_name("malloc_stats", tests, NULL, NULL);
}
