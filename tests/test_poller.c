/* test_poller.c - descriptors and the poller of machine/native: what becomes ready, and who is
 * told.
 */
#include "machine.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PIPES = 6, LONG_NS = 1000000000, SHORT_NS = 1000000 };

struct seen {
    int count;
    uint64_t tag[64];
    int what[64];
};

static void see(void *arg, uint64_t tag, int what)
{
    struct seen *seen = arg;
    assert_true(seen->count < 64);
    seen->tag[seen->count] = tag;
    seen->what[seen->count++] = what;
}

static struct seen look(struct machine_poller *poller, int batch, int64_t timeout_ns)
{
    struct seen seen = {0};
    int told = machine_poller_wait(poller, batch, timeout_ns, see, &seen);
    assert_int_equal(told, seen.count);
    return seen;
}

static struct machine_poller *poller_make(void)
{
    struct machine_poller *poller;
    assert_int_equal(machine_poller_new(&poller), 0);
    return poller;
}

static void pipe_make(int ends[2])
{
    assert_int_equal(machine_fd_pipe(ends, false), 0);
}

static void put(int fd)
{
    assert_int_equal(machine_fd_write(fd, "x", 1), 1);
}

static void pipe_close(int ends[2])
{
    machine_fd_close(ends[0]);
    machine_fd_close(ends[1]);
}

/* With edge, readiness is told once, and anew after more has come. */
static void edge_tells_of_changes(void **state)
{
    (void)state;
    struct machine_poller *poller = poller_make();
    int ends[2];
    char byte;
    pipe_make(ends);
    assert_int_equal(machine_poller_add(poller, ends[0], true, 7), 0);
    assert_int_equal(look(poller, 8, 0).count, 0);
    put(ends[1]);
    struct seen seen = look(poller, 8, LONG_NS);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.tag[0], 7);
    assert_int_equal(seen.what[0], MACHINE_READ);
    assert_int_equal(look(poller, 8, 0).count, 0); /* still readable, and no change */
    put(ends[1]);
    assert_int_equal(look(poller, 8, LONG_NS).count, 1);
    assert_int_equal(machine_fd_read(ends[0], &byte, 1), 1);
    assert_int_equal(machine_fd_read(ends[0], &byte, 1), 1);
    assert_int_equal(machine_fd_read(ends[0], &byte, 1), -EAGAIN);
    machine_fd_close(ends[1]);
    seen = look(poller, 8, LONG_NS);
    assert_int_equal(seen.count, 1);
    assert_true(seen.what[0] & MACHINE_READ);
    assert_int_equal(machine_fd_read(ends[0], &byte, 1), 0);
    machine_fd_close(ends[0]);
    machine_poller_free(poller);
}

/* Without it nothing is told before it is asked for, then what is there, and once per asking. */
static void level_tells_of_states_when_armed(void **state)
{
    (void)state;
    struct machine_poller *poller = poller_make();
    int ends[2];
    pipe_make(ends);
    put(ends[1]);
    assert_int_equal(machine_poller_add(poller, ends[0], false, 9), 0);
    assert_int_equal(look(poller, 8, 0).count, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(machine_poller_arm(poller, ends[0], MACHINE_READ, 9), 0);
        struct seen seen = look(poller, 8, LONG_NS);
        assert_int_equal(seen.count, 1);
        assert_int_equal(seen.tag[0], 9);
        assert_int_equal(look(poller, 8, 0).count, 0);
    }
    assert_int_equal(machine_poller_remove(poller, ends[0]), 0);
    assert_int_equal(machine_poller_arm(poller, ends[0], MACHINE_READ, 9), -ENOENT);
    pipe_close(ends);
    machine_poller_free(poller);
}

/* One event per look finds them all as well, in as many looks. */
static void a_batch_is_the_most_a_look_takes(void **state)
{
    (void)state;
    for (int batch = 1; batch <= PIPES; batch *= 2) {
        struct machine_poller *poller = poller_make();
        int ends[PIPES][2], looks = 0, found = 0;
        for (int i = 0; i < PIPES; i++) {
            pipe_make(ends[i]);
            assert_int_equal(machine_poller_add(poller, ends[i][0], true, (uint64_t)i), 0);
            put(ends[i][1]);
        }
        for (struct seen seen; (seen = look(poller, batch, 0)).count > 0; looks++) {
            assert_true(seen.count <= batch);
            for (int i = 0; i < seen.count; i++)
                assert_int_equal(seen.tag[i], found++);
        }
        assert_int_equal(found, PIPES);
        assert_int_equal(looks, (PIPES + batch - 1) / batch);
        for (int i = 0; i < PIPES; i++)
            pipe_close(ends[i]);
        machine_poller_free(poller);
    }
}

static void a_wait_ends_by_its_time(void **state)
{
    (void)state;
    struct machine_poller *poller = poller_make();
    int64_t start = machine_now();
    assert_int_equal(look(poller, 8, SHORT_NS + 1).count, 0);
    assert_true(machine_now() - start > SHORT_NS);
    machine_poller_free(poller);
}

struct waiter {
    struct machine_poller *poller;
    _Atomic uint32_t returned;
};

static void wait_for_ever(void *arg)
{
    struct waiter *self = arg;
    look(self->poller, 8, -1);
    atomic_fetch_add(&self->returned, 1);
}

/* Each of two breaks ends a wait, whether it comes before or during it; two in a row are one. */
static void a_break_ends_a_wait(void **state)
{
    (void)state;
    struct waiter waiter = {.poller = poller_make()};
    for (uint32_t round = 0; round < 50; round++) {
        struct machine_thread thread;
        if (round % 2) {
            machine_poller_break(waiter.poller);
            machine_poller_break(waiter.poller);
            assert_int_equal(look(waiter.poller, 1, 0).count, 0); /* a look leaves it */
        }
        assert_int_equal(machine_thread_start(&thread, wait_for_ever, &waiter, (size_t)1 << 20, -1),
                         0);
        if (!(round % 2))
            machine_poller_break(waiter.poller);
        machine_thread_join(&thread);
        assert_int_equal(atomic_load(&waiter.returned), round + 1);
        assert_int_equal(look(waiter.poller, 8, 1).count, 0); /* none is left: this one times out */
    }
    machine_poller_free(waiter.poller);
}

static void an_eventfd_adds_up(void **state)
{
    (void)state;
    struct machine_poller *poller = poller_make();
    int fd = machine_fd_eventfd(false);
    uint64_t value = 3;
    assert_true(fd >= 0);
    assert_int_equal(machine_fd_read(fd, &value, sizeof value), -EAGAIN);
    assert_int_equal(machine_poller_add(poller, fd, true, 1), 0);
    assert_int_equal(look(poller, 8, LONG_NS).what[0], MACHINE_WRITE);
    assert_int_equal(machine_fd_write(fd, &value, sizeof value), sizeof value);
    assert_int_equal(machine_fd_write(fd, &value, sizeof value), sizeof value);
    assert_true(look(poller, 8, LONG_NS).what[0] & MACHINE_READ);
    assert_int_equal(machine_fd_read(fd, &value, sizeof value), sizeof value);
    assert_int_equal(value, 6);
    machine_fd_close(fd);
    machine_poller_free(poller);
}

/* Until accept and dial are through, both without waiting. */
static void connect_pair(struct machine_poller *poller, int listener, int ends[2])
{
    ends[0] = machine_fd_dial(machine_fd_port(listener), false);
    assert_true(ends[0] >= 0);
    assert_int_equal(machine_poller_add(poller, ends[0], true, 1), 0);
    while ((ends[1] = machine_fd_accept(listener, false)) == -EAGAIN)
        look(poller, 8, LONG_NS);
    assert_true(ends[1] >= 0);
    int error;
    while ((error = machine_fd_dialled(ends[0])) == -EAGAIN)
        look(poller, 8, LONG_NS);
    assert_int_equal(error, 0);
}

static void tcp_connects_ends_and_resets(void **state)
{
    (void)state;
    struct machine_poller *poller = poller_make();
    int listener = machine_fd_listen(false), ends[2];
    char byte;
    assert_true(listener >= 0);
    assert_in_range(machine_fd_port(listener), 1, 65535);
    assert_int_equal(machine_fd_accept(listener, false), -EAGAIN);
    assert_int_equal(machine_poller_add(poller, listener, true, 0), 0);
    connect_pair(poller, listener, ends);
    assert_int_equal(machine_fd_read(ends[1], &byte, 1), -EAGAIN);
    put(ends[0]);
    assert_int_equal(machine_fd_shutdown(ends[0], false), 0);
    assert_int_equal(machine_fd_read(ends[1], &byte, 1), 1);
    assert_int_equal(machine_fd_read(ends[1], &byte, 1), 0);
    pipe_close(ends);
    connect_pair(poller, listener, ends);
    put(ends[1]);
    machine_fd_close(ends[0]); /* with a byte that was not read: a reset */
    assert_int_equal(machine_fd_read(ends[1], &byte, 1), -ECONNRESET);
    machine_fd_close(ends[1]);
    int port = machine_fd_port(listener);
    machine_fd_close(listener);
    assert_int_equal(machine_fd_dial(port, true), -ECONNREFUSED);
    machine_poller_free(poller);
}

static void writing_to_nobody_is_an_error_and_no_signal(void **state)
{
    (void)state;
    int ends[2];
    pipe_make(ends);
    machine_fd_close(ends[0]);
    assert_int_equal(machine_fd_write(ends[1], "x", 1), -EPIPE);
    machine_fd_close(ends[1]);
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
        cmocka_unit_test(edge_tells_of_changes),
        cmocka_unit_test(level_tells_of_states_when_armed),
        cmocka_unit_test(a_batch_is_the_most_a_look_takes),
        cmocka_unit_test(a_wait_ends_by_its_time),
        cmocka_unit_test(a_break_ends_a_wait),
        cmocka_unit_test(an_eventfd_adds_up),
        cmocka_unit_test(tcp_connects_ends_and_resets),
        cmocka_unit_test(writing_to_nobody_is_an_error_and_no_signal),
        cmocka_unit_test(a_full_table_is_an_error),
        cmocka_unit_test(io_uring_is_detected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
