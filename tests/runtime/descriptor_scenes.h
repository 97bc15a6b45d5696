/* descriptor_scenes.h - what machine.h promises of descriptors and pollers, as tests that run on
 * each machine: test_poller.c on the real one, test_sim_fd.c on the simulated one.
 *
 * Whoever includes this defines settle(): it returns when everything that was sent on the loopback
 * interface has arrived. Where virtual time allows it, threads that were started wait by then.
 */
#ifndef SCHEDLAB_TESTS_DESCRIPTOR_SCENES_H
#define SCHEDLAB_TESTS_DESCRIPTOR_SCENES_H

#include "machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

enum { PIPES = 6, LONG_NS = 1000000000, SHORT_NS = 1000000, STACK = 1 << 20 };

static void settle(void);

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

static void pair_close(int ends[2])
{
    machine_fd_close(ends[0]);
    machine_fd_close(ends[1]);
}

static int64_t read_one(int fd)
{
    char byte;
    return machine_fd_read(fd, &byte, 1);
}

/* The operations that a descriptor is ready for. */
static int state_of(int fd)
{
    struct machine_poller *poller = poller_make();
    assert_int_equal(machine_poller_add(poller, fd, true, 1), 0);
    struct seen seen = look(poller, 1, 0);
    machine_poller_free(poller);
    return seen.count ? seen.what[0] : 0;
}

enum { BOTH = MACHINE_READ | MACHINE_WRITE };

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
        put(ends[1]);
        assert_int_equal(look(poller, 8, 0).count, 0);
    }
    assert_int_equal(machine_poller_remove(poller, ends[0]), 0);
    assert_int_equal(machine_poller_arm(poller, ends[0], MACHINE_READ, 9), -ENOENT);
    pair_close(ends);
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
            pair_close(ends[i]);
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
    settle();
    assert_int_equal(machine_fd_read(ends[1], &byte, 1), 1);
    assert_int_equal(machine_fd_read(ends[1], &byte, 1), 0);
    pair_close(ends);
    connect_pair(poller, listener, ends);
    put(ends[1]);
    settle();
    machine_fd_close(ends[0]); /* with a byte that was not read: a reset */
    settle();
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

/* Threads that wait in the kernel ------------------------------------------------------------- */

struct caller {
    int fd;
    bool write;
    size_t size;
    char *bytes;
    int64_t result;
    struct machine_thread thread;
    _Atomic uint32_t done;
};

static void caller_main(void *arg)
{
    struct caller *self = arg;
    self->result = self->write ? machine_fd_write(self->fd, self->bytes, self->size)
                               : machine_fd_read(self->fd, self->bytes, self->size);
    atomic_store(&self->done, 1);
}

static void caller_start(struct caller *self)
{
    assert_int_equal(machine_thread_start(&self->thread, caller_main, self, STACK, -1), 0);
}

static void a_read_waits_for_a_write(void **state)
{
    (void)state;
    int ends[2];
    char bytes[8] = "";
    assert_int_equal(machine_fd_pipe(ends, true), 0);
    struct caller reader = {.fd = ends[0], .size = sizeof bytes, .bytes = bytes};
    caller_start(&reader);
    settle();
    assert_int_equal(atomic_load(&reader.done), 0);
    assert_int_equal(machine_fd_write(ends[1], "abc", 3), 3);
    machine_thread_join(&reader.thread);
    assert_int_equal(reader.result, 3);
    assert_string_equal(bytes, "abc");
    caller_start(&reader);
    settle();
    machine_fd_close(ends[1]);
    machine_thread_join(&reader.thread);
    assert_int_equal(reader.result, 0);
    machine_fd_close(ends[0]);
}

enum { MUCH = 700001 };

/* A write that waits ends when all is written, in order; several readers get all of it. */
static void transfer(int from, int to)
{
    static char sent[MUCH], came[MUCH];
    for (int i = 0; i < MUCH; i++) {
        sent[i] = (char)(i * 7 + i / 251);
        came[i] = 0;
    }
    struct caller writer = {.fd = from, .write = true, .size = MUCH, .bytes = sent};
    caller_start(&writer);
    int64_t got = 0, n;
    for (int64_t piece = 1; got < MUCH; got += n, piece = piece * 3 % 65521) {
        n = machine_fd_read(to, came + got, (size_t)(piece < MUCH - got ? piece : MUCH - got));
        assert_true(n > 0);
    }
    machine_thread_join(&writer.thread);
    assert_int_equal(writer.result, MUCH);
    assert_memory_equal(sent, came, MUCH);
}

static void a_write_waits_until_all_is_written(void **state)
{
    (void)state;
    int ends[2], listener = machine_fd_listen(true);
    assert_int_equal(machine_fd_pipe(ends, true), 0);
    transfer(ends[1], ends[0]);
    pair_close(ends);
    ends[0] = machine_fd_dial(machine_fd_port(listener), true);
    ends[1] = machine_fd_accept(listener, true);
    assert_true(ends[0] >= 0 && ends[1] >= 0);
    transfer(ends[1], ends[0]);
    transfer(ends[0], ends[1]);
    pair_close(ends);
    machine_fd_close(listener);
}

/* Each of many readers of one pipe gets a byte of one write. */
static void sleeping_readers_pass_the_turn_on(void **state)
{
    (void)state;
    struct caller reader[PIPES];
    char byte[PIPES];
    int ends[2];
    assert_int_equal(machine_fd_pipe(ends, true), 0);
    for (int i = 0; i < PIPES; i++) {
        reader[i] = (struct caller){.fd = ends[0], .size = 1, .bytes = &byte[i]};
        caller_start(&reader[i]);
    }
    settle();
    assert_int_equal(machine_fd_write(ends[1], "abcdefgh", PIPES), PIPES);
    for (int i = 0; i < PIPES; i++) {
        machine_thread_join(&reader[i].thread);
        assert_int_equal(reader[i].result, 1);
    }
    pair_close(ends);
}

static void accept_main(void *arg)
{
    struct caller *self = arg;
    self->result = machine_fd_accept(self->fd, true);
    atomic_store(&self->done, 1);
}

/* A listener's accept, and a socket's read: both return. */
static void shutting_down_ends_calls_that_wait(void **state)
{
    (void)state;
    int listener = machine_fd_listen(true);
    int fd = machine_fd_dial(machine_fd_port(listener), true);
    int peer = machine_fd_accept(listener, true);
    char byte;
    struct caller reader = {.fd = fd, .size = 1, .bytes = &byte}, acceptor = {.fd = listener};
    caller_start(&reader);
    assert_int_equal(machine_thread_start(&acceptor.thread, accept_main, &acceptor, STACK, -1), 0);
    settle();
    assert_int_equal(atomic_load(&reader.done) + atomic_load(&acceptor.done), 0);
    assert_int_equal(machine_fd_shutdown(fd, true), 0);
    assert_int_equal(machine_fd_shutdown(listener, true), 0);
    machine_thread_join(&reader.thread);
    machine_thread_join(&acceptor.thread);
    assert_int_equal(reader.result, 0);
    assert_int_equal(acceptor.result, -EINVAL);
    machine_fd_close(fd);
    machine_fd_close(peer);
    machine_fd_close(listener);
}

static void a_poller_wakes_who_waits(void **state)
{
    (void)state;
    int ends[2];
    struct machine_poller *poller = poller_make();
    assert_int_equal(machine_fd_pipe(ends, true), 0);
    assert_int_equal(machine_poller_add(poller, ends[0], true, 5), 0);
    char byte = 'z';
    struct caller writer = {.fd = ends[1], .write = true, .size = 1, .bytes = &byte};
    caller_start(&writer);
    struct seen seen = look(poller, 8, -1);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.tag[0], 5);
    machine_thread_join(&writer.thread);
    machine_fd_close(ends[0]);
    assert_int_equal(look(poller, 8, 0).count, 0);
    machine_fd_close(ends[1]);
    machine_poller_free(poller);
}

/* TCP ----------------------------------------------------------------------------------------- */

/* A connected pair that does not wait. */
static void connected(int listener, int ends[2])
{
    ends[0] = machine_fd_dial(machine_fd_port(listener), false);
    assert_true(ends[0] >= 0);
    settle();
    ends[1] = machine_fd_accept(listener, false);
    assert_true(ends[1] >= 0);
    assert_int_equal(machine_fd_dialled(ends[0]), 0);
    assert_int_equal(machine_fd_dialled(ends[1]), 0);
}

static void half_closing_keeps_the_other_way(void **state)
{
    (void)state;
    int listener = machine_fd_listen(false), ends[2];
    connected(listener, ends);
    assert_int_equal(state_of(ends[0]), MACHINE_WRITE);
    assert_int_equal(machine_fd_shutdown(ends[0], false), 0);
    assert_int_equal(machine_fd_write(ends[0], "x", 1), -EPIPE);
    settle();
    assert_int_equal(read_one(ends[1]), 0);
    assert_int_equal(state_of(ends[1]), BOTH);
    put(ends[1]);
    settle();
    assert_int_equal(read_one(ends[0]), 1);
    assert_int_equal(read_one(ends[0]), -EAGAIN);
    assert_int_equal(machine_fd_shutdown(ends[1], false), 0);
    settle();
    assert_int_equal(read_one(ends[0]), 0);
    assert_int_equal(machine_fd_shutdown(ends[0], true), -ENOTCONN);
    assert_int_equal(machine_fd_shutdown(ends[1], false), -ENOTCONN);
    pair_close(ends);
    machine_fd_close(listener);
}

/* Bytes that had come can be read, then the reset, once; then nothing more, and writing fails. */
static void a_reset_is_told_once(void **state)
{
    (void)state;
    int listener = machine_fd_listen(false), ends[2];
    connected(listener, ends);
    assert_int_equal(machine_fd_write(ends[0], "ab", 2), 2);
    put(ends[1]);
    settle();
    machine_fd_close(ends[0]);
    settle();
    assert_int_equal(state_of(ends[1]), BOTH);
    assert_int_equal(read_one(ends[1]), 1);
    assert_int_equal(read_one(ends[1]), 1);
    assert_int_equal(read_one(ends[1]), -ECONNRESET);
    assert_int_equal(read_one(ends[1]), 0);
    assert_int_equal(machine_fd_write(ends[1], "x", 1), -EPIPE);
    assert_int_equal(machine_fd_dialled(ends[1]), -EAGAIN);
    machine_fd_close(ends[1]);
    connected(listener, ends);
    machine_fd_close(ends[0]);
    settle();
    put(ends[1]); /* to nobody: the next one hears of it */
    settle();
    assert_int_equal(machine_fd_write(ends[1], "x", 1), -EPIPE);
    assert_int_equal(read_one(ends[1]), 0);
    assert_int_equal(machine_fd_shutdown(ends[1], true), -ENOTCONN);
    machine_fd_close(ends[1]);
    machine_fd_close(listener);
}

static void data_for_who_reads_no_more_reset(void **state)
{
    (void)state;
    int listener = machine_fd_listen(false), ends[2];
    connected(listener, ends);
    assert_int_equal(machine_fd_shutdown(ends[0], true), 0);
    assert_int_equal(state_of(ends[0]), BOTH);
    settle();
    assert_int_equal(read_one(ends[1]), 0);
    put(ends[1]);
    settle();
    assert_int_equal(read_one(ends[0]), -ECONNRESET);
    assert_int_equal(read_one(ends[0]), 0);
    assert_int_equal(machine_fd_write(ends[1], "x", 1), -EPIPE);
    assert_int_equal(machine_fd_write(ends[0], "x", 1), -EPIPE);
    pair_close(ends);
    machine_fd_close(listener);
}

static void a_listener_that_goes_refuses(void **state)
{
    (void)state;
    int listener = machine_fd_listen(false), port = machine_fd_port(listener);
    assert_int_equal(read_one(listener), -ENOTCONN);
    assert_int_equal(machine_fd_write(listener, "x", 1), -EPIPE);
    assert_int_equal(machine_fd_shutdown(listener, false), 0);
    assert_int_equal(state_of(listener), 0);
    int waiting = machine_fd_dial(port, false);
    settle();
    assert_int_equal(machine_fd_dialled(waiting), 0);
    assert_int_equal(state_of(listener), MACHINE_READ);
    assert_int_equal(machine_fd_shutdown(listener, true), 0);
    assert_int_equal(machine_fd_accept(listener, false), -EINVAL);
    assert_int_equal(machine_fd_shutdown(listener, true), -ENOTCONN);
    settle();
    assert_int_equal(read_one(waiting), -ECONNRESET);
    int late = machine_fd_dial(port, false);
    settle();
    assert_int_equal(state_of(late), BOTH);
    assert_int_equal(machine_fd_dialled(late), -ECONNREFUSED);
    assert_int_equal(machine_fd_dialled(late), -EAGAIN);
    assert_int_equal(read_one(late), 0);
    assert_int_equal(machine_fd_dial(port, true), -ECONNREFUSED);
    machine_fd_close(waiting);
    machine_fd_close(late);
    machine_fd_close(listener);
}

/* Until it would wait; then it can be written again only after a good part was read. */
static void a_full_socket_is_writable_when_there_is_room(void **state)
{
    (void)state;
    static char much[1 << 20];
    struct machine_poller *poller = poller_make();
    int listener = machine_fd_listen(false), ends[2];
    connected(listener, ends);
    assert_int_equal(machine_poller_add(poller, ends[0], true, 3), 0);
    assert_int_equal(look(poller, 8, 0).what[0], MACHINE_WRITE);
    int64_t sent = 0, came = 0, n;
    while ((n = machine_fd_write(ends[0], much, sizeof much)) > 0)
        sent += n;
    assert_int_equal(n, -EAGAIN);
    assert_true(sent > 4096);
    while (came < sent) {
        n = machine_fd_read(ends[1], much, sizeof much);
        assert_true(n > 0 || n == -EAGAIN);
        came += n > 0 ? n : 0;
    }
    struct seen seen = look(poller, 8, LONG_NS);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.what[0], MACHINE_WRITE);
    put(ends[0]);
    pair_close(ends);
    machine_fd_close(listener);
    machine_poller_free(poller);
}

/* Pipes, files and errors --------------------------------------------------------------------- */

/* 16 pages; what fits into a page is written whole or not at all. */
static void a_pipe_has_pages(void **state)
{
    (void)state;
    static char much[100000];
    int ends[2];
    pipe_make(ends);
    assert_int_equal(machine_fd_write(ends[1], much, 0), 0);
    assert_int_equal(machine_fd_write(ends[1], much, 100), 100);
    assert_int_equal(machine_fd_write(ends[1], much, 4000), 4000); /* a page of its own */
    assert_int_equal(machine_fd_write(ends[1], much, 96), 96);     /* into that one */
    assert_int_equal(machine_fd_write(ends[1], much, sizeof much), 14 * 4096);
    assert_int_equal(machine_fd_write(ends[1], much, 4096), -EAGAIN);
    pair_close(ends);
}

static void a_full_pipe_is_writable_with_a_free_page(void **state)
{
    (void)state;
    static char much[100000];
    struct machine_poller *poller = poller_make();
    int ends[2];
    pipe_make(ends);
    assert_int_equal(machine_fd_write(ends[1], much, sizeof much), 65536);
    assert_int_equal(machine_poller_add(poller, ends[1], true, 4), 0);
    assert_int_equal(machine_fd_read(ends[0], much, 4095), 4095);
    assert_int_equal(machine_fd_write(ends[1], much, 1), -EAGAIN);
    assert_int_equal(look(poller, 8, 0).count, 0);
    assert_int_equal(read_one(ends[0]), 1);
    assert_int_equal(look(poller, 8, 0).what[0], MACHINE_WRITE);
    assert_int_equal(machine_fd_write(ends[1], much, 5000), 4096);
    machine_fd_close(ends[0]);
    assert_int_equal(look(poller, 8, 0).what[0], BOTH);
    machine_fd_close(ends[1]);
    machine_poller_free(poller);
}

static void wrong_calls_are_errors(void **state)
{
    (void)state;
    struct machine_poller *poller = poller_make();
    int ends[2], event = machine_fd_eventfd(false), listener = machine_fd_listen(false);
    uint64_t value = UINT64_MAX;
    pipe_make(ends);
    assert_int_equal(read_one(ends[1]), -EBADF);
    assert_int_equal(machine_fd_write(ends[0], "x", 1), -EBADF);
    assert_int_equal(read_one(99999), -EBADF);
    assert_int_equal(machine_fd_shutdown(ends[0], true), -ENOTSOCK);
    assert_int_equal(machine_fd_accept(ends[0], true), -ENOTSOCK);
    assert_int_equal(machine_fd_dialled(ends[0]), -ENOTSOCK);
    assert_int_equal(machine_fd_port(ends[0]), -ENOTSOCK);
    assert_int_equal(machine_fd_shutdown(99999, true), -EBADF);
    assert_int_equal(machine_fd_accept(99999, true), -EBADF);
    assert_int_equal(machine_fd_dialled(listener), -EAGAIN);
    assert_int_equal(machine_fd_write(event, &value, sizeof value), -EINVAL);
    assert_int_equal(machine_fd_write(event, &value, 7), -EINVAL);
    assert_int_equal(machine_fd_read(event, &value, 7), -EINVAL);
    value = UINT64_MAX - 1;
    assert_int_equal(machine_fd_write(event, &value, sizeof value), sizeof value);
    assert_int_equal(state_of(event), MACHINE_READ);
    value = 1;
    assert_int_equal(machine_fd_write(event, &value, sizeof value), -EAGAIN);
    assert_int_equal(machine_poller_add(poller, event, true, 1), 0);
    assert_int_equal(machine_poller_add(poller, event, true, 1), -EEXIST);
    assert_int_equal(machine_poller_add(poller, 99999, true, 1), -EBADF);
    assert_int_equal(machine_poller_arm(poller, 99999, MACHINE_READ, 1), -EBADF);
    assert_int_equal(machine_poller_remove(poller, ends[0]), -ENOENT);
    assert_int_equal(machine_fd_open("/nonexistent/x", true), -ENOENT);
    assert_int_equal(machine_fd_open("/nonexistent", false), -ENOENT);
    assert_int_equal(machine_fd_open("/etc", true), -EISDIR);
    assert_int_equal(machine_fd_open("/etc/passwd/x", true), -ENOTDIR);
    assert_int_equal(machine_fd_open("", true), -ENOENT);
    assert_int_equal(machine_fd_open("", false), -ENOENT);
    pair_close(ends);
    machine_fd_close(event);
    machine_fd_close(listener);
    machine_poller_free(poller);
}

/* Bytes written to path can be read, from the beginning after each opening. */
static void files_keep_what_is_written(const char *path)
{
    char text[16] = "";
    struct machine_poller *poller = poller_make();
    int fd = machine_fd_open(path, true);
    assert_true(fd >= 0);
    assert_int_equal(machine_fd_write(fd, "test", 4), 4);
    assert_int_equal(machine_fd_write(fd, "bed", 3), 3);
    assert_int_equal(machine_fd_read(fd, text, 1), -EBADF);
    assert_int_equal(machine_poller_add(poller, fd, true, 1), -EPERM);
    machine_fd_close(fd);
    int first = machine_fd_open(path, false), second = machine_fd_open(path, false);
    assert_int_equal(machine_fd_read(first, text, 5), 5);
    assert_string_equal(text, "testb");
    assert_int_equal(machine_fd_read(first, text, sizeof text), 2);
    assert_int_equal(machine_fd_read(first, text, sizeof text), 0);
    assert_int_equal(machine_fd_read(second, text, sizeof text), 7);
    assert_memory_equal(text, "testbed", 7);
    assert_int_equal(machine_fd_write(second, "x", 1), -EBADF);
    machine_fd_close(first);
    fd = machine_fd_open(path, true); /* empties it */
    assert_int_equal(machine_fd_read(second, text, sizeof text), 0);
    machine_fd_close(second);
    machine_fd_close(fd);
    machine_poller_free(poller);
}

/* All of them; test(name) makes one for cmocka. */
#define DESCRIPTOR_SCENES(test)                                                                    \
    test(edge_tells_of_changes), test(level_tells_of_states_when_armed),                           \
        test(a_batch_is_the_most_a_look_takes), test(a_wait_ends_by_its_time),                     \
        test(a_break_ends_a_wait), test(an_eventfd_adds_up), test(tcp_connects_ends_and_resets),   \
        test(writing_to_nobody_is_an_error_and_no_signal), test(a_read_waits_for_a_write),         \
        test(a_write_waits_until_all_is_written), test(sleeping_readers_pass_the_turn_on),         \
        test(shutting_down_ends_calls_that_wait), test(a_poller_wakes_who_waits),                  \
        test(half_closing_keeps_the_other_way), test(a_reset_is_told_once),                        \
        test(data_for_who_reads_no_more_reset), test(a_listener_that_goes_refuses),                \
        test(a_full_socket_is_writable_when_there_is_room), test(a_pipe_has_pages),                \
        test(a_full_pipe_is_writable_with_a_free_page), test(wrong_calls_are_errors)

#endif
