/* test_record.c - events that real threads record: machine/native/record.h. Builds that record none
 * have nothing to test here. */
#include "machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#if MACHINE_KEEPS_EVENTS && !defined(SCHEDLAB_SIM)
#include "native/record.h"

enum { WRITERS = 4, EACH = 5000, MOST = 8000 };

static void writer_run(void *arg)
{
    int32_t self = *(const int32_t *)arg;
    for (int32_t i = 0; i < EACH; i++)
        machine_event(1, self, -1, i, 0, 0);
}

/* Several threads write more than may be kept; what is there has no holes. */
static void what_is_kept_is_each_threads_beginning(void **state)
{
    (void)state;
    struct machine_thread thread[WRITERS];
    int32_t self[WRITERS];
    int64_t next[WRITERS] = {0};
    uint64_t happened;
    size_t count;
    bool is_cut;
    native_events_keep(MOST);
    for (int32_t i = 0; i < WRITERS; i++) {
        self[i] = i;
        assert_int_equal(machine_thread_start(&thread[i], writer_run, &self[i], 1 << 20, -1), 0);
    }
    for (int32_t i = 0; i < WRITERS; i++)
        machine_thread_join(&thread[i]);
    struct native_event *events = native_events_take(&count, &happened, &is_cut);
    assert_true(is_cut);
    assert_int_equal(happened, WRITERS * EACH);
    assert_true(count > 0 && count < WRITERS * EACH);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || events[i - 1].when_ns <= events[i].when_ns);
        assert_int_equal(events[i].g, next[events[i].m]++);
    }
    free(events);
}
#else
static void what_is_kept_is_each_threads_beginning(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_each_threads_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
