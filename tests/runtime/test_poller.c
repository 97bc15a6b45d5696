/* test_poller.c - descriptors and the poller of machine/native: what becomes ready, and who is
 * told.
 */
#include "descriptor_scenes.h"
#include "tests/support/refuse_call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Linux hands on within the call that sends, or queues; a connection comes after what was sent. */
static void settle(void)
{
    int listener = machine_fd_listen(true), ends[2];
    ends[0] = machine_fd_dial(machine_fd_port(listener), true);
    ends[1] = machine_fd_accept(listener, true);
    assert_true(ends[0] >= 0 && ends[1] >= 0);
    pair_close(ends);
    machine_fd_close(listener);
}

static void a_full_table_is_an_error(void **state)
{
    (void)state;
    struct rlimit limit, none;
    struct machine_poller *poller;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    int listener = machine_fd_listen(false), ends[2];
    none = (struct rlimit){0, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int pipe_error = machine_fd_pipe(ends, false), event = machine_fd_eventfd(false);
    int dialled = machine_fd_dial(1, false), opened = machine_fd_open("/dev/null", false);
    int accepted = machine_fd_accept(listener, false), polled = machine_poller_new(&poller);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    machine_fd_close(listener);
    assert_int_equal(pipe_error, -EMFILE);
    assert_int_equal(event, -EMFILE);
    assert_int_equal(dialled, -EMFILE);
    assert_int_equal(opened, -EMFILE);
    assert_int_equal(accepted, -EMFILE);
    assert_int_equal(polled, -EMFILE);
}

static void limit_main(void *arg)
{
    struct rlimit limit;
    (void)arg;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max / 2;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    machine_fd_close(machine_fd_eventfd(false));
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(limit.rlim_cur == limit.rlim_max);
}

/* A process that has made a descriptor may have as many as the system grants it. */
static void the_limit_is_raised(void **state)
{
    (void)state;
    struct support_report report;
    struct support_run run = {.variant = "gmp", .workers = 1, .fn = limit_main};
    support_run(&run, &report);
    if (report.status != 0)
        fail_msg("status %d:\n%s", report.status, report.output);
}

static void a_file_keeps_what_is_written(void **state)
{
    (void)state;
    char path[] = "/tmp/schedlab-test-poller-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    files_keep_what_is_written(path);
    unlink(path);
}

/* The filter of a container that does not know epoll_pwait2. */
static void refuse_epoll_pwait2(void *arg)
{
    (void)arg;
    refuse_call(SYS_epoll_pwait2);
}

static void wait_a_while(void *arg)
{
    struct machine_poller *poller;
    (void)arg;
    CHECK(machine_poller_new(&poller) == 0);
    int64_t before = machine_now();
    CHECK(machine_poller_wait(poller, 1, 1500000, NULL, NULL) == 0);
    CHECK(machine_now() - before >= 1500000);
    machine_poller_free(poller);
}

static void waits_are_waits_where_epoll_pwait2_is_refused(void **state)
{
    (void)state;
    /* A goroutine that has used its slice up is signalled again and again, which ends waits. */
    struct support_run run = {.variant = "uthread",
                              .settings = "preempt=none",
                              .workers = 1,
                              .before = refuse_epoll_pwait2,
                              .fn = wait_a_while};
    struct support_report report;
    support_run(&run, &report);
    if (report.status != 0)
        fail_msg("status %d:\n%s", report.status, report.output);
}

/* Nothing depends on the answer; it has to come. */
static void io_uring_is_detected(void **state)
{
    (void)state;
    print_message("# io_uring: %s\n", machine_has_uring() ? "offered" : "not offered");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_is_raised), /* first: its child has to make the first one */
        DESCRIPTOR_SCENES(cmocka_unit_test),
        cmocka_unit_test(a_file_keeps_what_is_written),
        cmocka_unit_test(a_full_table_is_an_error),
        cmocka_unit_test(io_uring_is_detected),
        cmocka_unit_test(waits_are_waits_where_epoll_pwait2_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
