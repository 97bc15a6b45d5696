/* test_io.c - descriptors as goroutines use them: pipes, TCP, files, turns, closing, deadlines and
 * errors, with a poller's thread and with calls that block.
 *
 * Scenes in which goroutines block their threads get more workers than there are such goroutines.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/every_variant.h"

enum { WORKERS = 6 };

/* Each setting under gmp and grq, of three numbers of workers one; and one way to wait under each
 * other variant. Which one, changes from scene to scene, so that in the end all have met all. */
static void run_polled(void (*fn)(void *))
{
    static const char *const settings[] = {"netpoll=poll", "netpoll=poll,netpoll_trigger=level",
                                           "netpoll=thread", "netpoll=thread,netpoll_trigger=level",
                                           "netpoll=thread,netpoll_batch=1"};
    size_t turn = every_turn();
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        run_scene("gmp", settings[i], 1 << (turn + i) % 3, fn);
        run_scene("grq", settings[i], 1 << (turn + i + 1) % 3, fn);
    }
    static const char *const others[] = {"perm", "tasksteal", "contsteal"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        run_scene(others[i], (turn + i) % 2 ? "netpoll=poll" : "netpoll=thread", 2, fn);
    run_scene("uthread", NULL, 1, fn); /* these two have one way only: poll */
    run_scene("static", NULL, 2, fn);
}

static void run_called(void (*fn)(void *))
{
    run_scene("gmp", "netpoll=call", WORKERS, fn);
    run_scene("grq", "netpoll=call", WORKERS, fn);
    run_scene("kthread", NULL, WORKERS, fn);
}

static void run_both(void (*fn)(void *))
{
    run_polled(fn);
    run_called(fn);
}

static uint64_t stat_now(enum stat_id which)
{
    return sched_stat(this_sched(), which);
}

/* How many descriptors are open. */
static int fds_now(void)
{
    int n = 0;
    for (int fd = 0; fd < 4096; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Pipes -------------------------------------------------------------------------------------- */

enum { BYTES = 300000, PIECE = 7000 };

static unsigned char pattern(size_t i)
{
    return (unsigned char)(i * 31 + i / 251);
}

static void pour_g(void *arg)
{
    struct io *writer = arg;
    unsigned char piece[PIECE];
    for (size_t at = 0; at < BYTES; at += PIECE) {
        size_t size = BYTES - at < PIECE ? BYTES - at : PIECE;
        for (size_t i = 0; i < size; i++)
            piece[i] = pattern(at + i);
        CHECK(io_write_all(writer, piece, size) == (int64_t)size);
    }
    CHECK(io_close(writer) == 0);
}

/* More than a pipe holds, so that both ends wait. */
static void scene_pipe(void *arg)
{
    (void)arg;
    struct io *reader, *writer;
    struct join join;
    unsigned char piece[1000];
    CHECK(io_pipe(&reader, &writer, IO_POLLED) == 0);
    join_go(&join, pour_g, writer);
    size_t at = 0;
    for (int64_t n; (n = io_read(reader, piece, sizeof piece)) != 0; at += (size_t)n) {
        CHECK(n > 0);
        for (size_t i = 0; i < (size_t)n; i++)
            CHECK(piece[i] == pattern(at + i));
    }
    CHECK(at == BYTES);
    join_wait(&join);
    CHECK(io_write(writer, "x", 1) == -EBADF && io_close(writer) == -EBADF);
    io_free(reader);
    io_free(writer);
    io_free(NULL);
}

static void a_pipe_carries_all(void **state)
{
    (void)state;
    run_both(scene_pipe);
}

static void scene_pipe_errors(void *arg)
{
    (void)arg;
    struct io *reader, *writer;
    char byte;
    CHECK(io_pipe(&reader, &writer, IO_POLLED) == 0);
    CHECK(io_write_all(writer, "abc", 3) == 3 && io_close(writer) == 0);
    CHECK(io_read_full(reader, &byte, 1) == 1 && byte == 'a');
    char rest[8];
    CHECK(io_read_full(reader, rest, sizeof rest) == 2);
    CHECK(io_read(reader, &byte, 1) == 0);
    CHECK(io_shutdown(reader) == -ENOTSOCK);
    io_free(writer);
    io_free(reader);
    CHECK(io_pipe(&reader, &writer, IO_POLLED) == 0);
    CHECK(io_close(reader) == 0);
    CHECK(io_write(writer, "x", 1) == -EPIPE);
    io_free(writer);
    io_free(reader);
    uint64_t value = 5;
    CHECK(io_eventfd(&reader, IO_POLLED) == 0);
    CHECK(io_write(reader, &value, sizeof value) == sizeof value);
    CHECK(io_write(reader, &value, sizeof value) == sizeof value);
    CHECK(io_read(reader, &value, sizeof value) == sizeof value && value == 10);
    io_free(reader);
}

static void ends_and_errors_are_told(void **state)
{
    (void)state;
    run_both(scene_pipe_errors);
}

/* TCP ---------------------------------------------------------------------------------------- */

enum { CLIENTS = 2, MESSAGES = 40, MESSAGE = 3000 };

struct echo {
    struct io *listener;
    int port;
    struct waitgroup served;
};

static void serve_g(void *arg)
{
    struct echo *echo = ((void **)arg)[0];
    struct io *io = ((void **)arg)[1];
    char buffer[MESSAGE];
    go_free(arg);
    for (int64_t n; (n = io_read(io, buffer, sizeof buffer)) != 0;)
        CHECK(n > 0 && io_write_all(io, buffer, (size_t)n) == n);
    io_free(io);
    wg_done(&echo->served);
}

static void accept_g(void *arg)
{
    struct echo *echo = arg;
    struct io *io;
    int error;
    while ((error = io_accept(echo->listener, &io)) == 0) {
        void **both = go_alloc(2 * sizeof *both);
        both[0] = echo;
        both[1] = io;
        wg_add(&echo->served, 1);
        go(serve_g, both);
    }
    CHECK(error == -EBADF && io == NULL);
}

static void client_g(void *arg)
{
    struct echo *echo = arg;
    struct io *io;
    char sent[MESSAGE], back[MESSAGE];
    CHECK(io_dial(echo->port, &io) == 0);
    for (int i = 0; i < MESSAGES; i++) {
        memset(sent, i, sizeof sent);
        memset(back, i + 1, sizeof back);
        CHECK(io_write_all(io, sent, sizeof sent) == sizeof sent);
        CHECK(io_read_full(io, back, sizeof back) == sizeof back);
        CHECK(memcmp(sent, back, sizeof sent) == 0);
    }
    CHECK(io_shutdown(io) == 0);
    CHECK(io_read(io, back, 1) == 0);
    io_free(io);
}

static void scene_echo(void *arg)
{
    (void)arg;
    static struct echo echo;
    struct join accepts, client[CLIENTS];
    CHECK(io_listen(&echo.listener) == 0);
    CHECK((echo.port = io_port(echo.listener)) > 0);
    join_go(&accepts, accept_g, &echo);
    for (int i = 0; i < CLIENTS; i++)
        join_go(&client[i], client_g, &echo);
    for (int i = 0; i < CLIENTS; i++)
        join_wait(&client[i]);
    wg_wait(&echo.served);
    CHECK(io_close(echo.listener) == 0); /* accept_g waits in io_accept() */
    join_wait(&accepts);
    io_free(echo.listener);
    struct io *nobody;
    CHECK(io_dial(echo.port, &nobody) == -ECONNREFUSED && nobody == NULL);
}

static void tcp_echoes(void **state)
{
    (void)state;
    run_both(scene_echo);
}

/* A connected pair of sockets. */
static void connected(struct io **a, struct io **b)
{
    struct io *listener;
    CHECK(io_listen(&listener) == 0);
    CHECK(io_dial(io_port(listener), a) == 0);
    CHECK(io_accept(listener, b) == 0);
    io_free(listener);
}

struct call {
    struct io *io;
    struct join join;
    int64_t result;
};

static void read_g(void *arg)
{
    struct call *self = arg;
    char byte;
    self->result = io_read(self->io, &byte, 1);
}

/* The peer goes with a byte unread while a goroutine waits for more: a reset. */
static void scene_reset(void *arg)
{
    (void)arg;
    struct io *a, *b;
    connected(&a, &b);
    struct call call = {.io = a};
    join_go(&call.join, read_g, &call);
    CHECK(io_write(a, "x", 1) == 1);
    for (int i = 0; i < 20; i++)
        gosched();
    io_free(b);
    join_wait(&call.join);
    CHECK(call.result == -ECONNRESET);
    int64_t n;
    while ((n = io_write(a, "x", 1)) == 1)
        continue;
    CHECK(n == -EPIPE);
    io_free(a);
}

static void a_reset_reaches_who_waits(void **state)
{
    (void)state;
    run_both(scene_reset);
}

/* Closing ------------------------------------------------------------------------------------- */

static void write_g(void *arg)
{
    struct call *self = arg;
    static char much[1 << 16];
    do
        self->result = io_write(self->io, much, sizeof much);
    while (self->result > 0);
}

/* One reader and one writer in the call, two more waiting for their turns at reading: all end, and
 * the descriptor is gone when io_close() is through. */
static void scene_close(void *arg)
{
    (void)arg;
    struct io *a, *b;
    connected(&a, &b);
    int fds = fds_now();
    struct call readers[3], writer = {.io = a};
    for (int i = 0; i < 3; i++) {
        readers[i] = (struct call){.io = a};
        join_go(&readers[i].join, read_g, &readers[i]);
    }
    join_go(&writer.join, write_g, &writer);
    for (int i = 0; i < 100; i++)
        gosched();
    CHECK(io_close(a) == 0);
    CHECK(fds_now() == fds - 1);
    for (int i = 0; i < 3; i++) {
        join_wait(&readers[i].join);
        CHECK(readers[i].result == -EBADF);
    }
    join_wait(&writer.join);
    CHECK(writer.result == -EBADF || writer.result == -EPIPE);
    io_free(a);
    io_free(b);
}

static void closing_ends_all_calls(void **state)
{
    (void)state;
    run_both(scene_close);
}

/* Frees while others are in calls: each ends, and the memory goes with the last. */
static void scene_free(void *arg)
{
    uint64_t random = *(uint64_t *)arg;
    for (int round = 0; round < 60; round++) {
        struct io *a, *b;
        CHECK(io_pipe(&a, &b, IO_POLLED) == 0);
        struct call readers[3];
        for (int i = 0; i < 3; i++) {
            readers[i] = (struct call){.io = a};
            join_go(&readers[i].join, read_g, &readers[i]);
        }
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        for (uint64_t i = random >> 60; i > 0; i--)
            gosched();
        if (random & 1)
            CHECK(io_write(b, "x", 1) == 1);
        io_close(a);
        int got = 0;
        for (int i = 0; i < 3; i++) {
            join_wait(&readers[i].join);
            CHECK(readers[i].result == 1 || readers[i].result == -EBADF);
            got += readers[i].result == 1;
        }
        CHECK(got <= 1);
        io_free(a);
        io_free(b);
    }
}

static void closing_races_calls(void **state)
{
    (void)state;
    run_polled(scene_free);
}

/* Turns --------------------------------------------------------------------------------------- */

enum { SHARERS = 40 };

/* Many readers of one blocking pipe: one is in the kernel, the others are parked (Go: stdin). */
static void scene_shared(void *arg)
{
    (void)arg;
    struct io *reader, *writer;
    static struct call call[SHARERS];
    CHECK(io_pipe(&reader, &writer, IO_BLOCKING) == 0);
    for (int i = 0; i < SHARERS; i++) {
        call[i] = (struct call){.io = reader};
        join_go(&call[i].join, read_g, &call[i]);
    }
    AWAIT(stat_now(STAT_PARKS) >= SHARERS - 1);
    CHECK(stat_now(STAT_CALLS) <= 1);
    char bytes[SHARERS] = {0};
    CHECK(io_write_all(writer, bytes, SHARERS) == SHARERS);
    for (int i = 0; i < SHARERS; i++) {
        join_wait(&call[i].join);
        CHECK(call[i].result == 1);
    }
    CHECK(stat_now(STAT_CALLS) == SHARERS + 1 && stat_now(STAT_POLLS) == 0);
    io_free(reader);
    io_free(writer);
}

static void readers_of_one_blocking_pipe_take_turns(void **state)
{
    (void)state;
    run_scene("gmp", NULL, 4, scene_shared);
    run_scene("grq", NULL, 4, scene_shared);
    run_scene("kthread", NULL, 4, scene_shared);
}

struct whole {
    struct io *io;
    struct join join;
    char letter;
};

enum { WHOLE = 100000 };

static void whole_g(void *arg)
{
    struct whole *self = arg;
    char *text = go_alloc(WHOLE);
    memset(text, self->letter, WHOLE);
    CHECK(io_write_all(self->io, text, WHOLE) == WHOLE);
    go_free(text);
}

/* Bytes that several write in one turn each do not mix, though each waits in the middle. */
static void scene_whole(void *arg)
{
    (void)arg;
    struct io *reader, *writer;
    struct whole whole[3];
    CHECK(io_pipe(&reader, &writer, IO_POLLED) == 0);
    for (int i = 0; i < 3; i++) {
        whole[i] = (struct whole){.io = writer, .letter = (char)('a' + i)};
        join_go(&whole[i].join, whole_g, &whole[i]);
    }
    char *text = go_alloc(WHOLE);
    for (int i = 0; i < 3; i++) {
        CHECK(io_read_full(reader, text, WHOLE) == WHOLE);
        for (int at = 1; at < WHOLE; at++)
            CHECK(text[at] == text[0]);
    }
    for (int i = 0; i < 3; i++)
        join_wait(&whole[i].join);
    go_free(text);
    io_free(reader);
    io_free(writer);
}

static void writers_take_turns(void **state)
{
    (void)state;
    run_both(scene_whole);
}

enum { FLOOD = 16 << 20, FLOOD_PIECE = 1 << 20 };
static char flood[FLOOD_PIECE];

static void flood_g(void *arg)
{
    struct call *self = arg;
    for (int sent = 0; sent < FLOOD; sent += FLOOD_PIECE)
        CHECK(io_write_all(self->io, flood, FLOOD_PIECE) == FLOOD_PIECE);
}

/* A reader and a writer wait at one descriptor, each for its own event. */
static void scene_both_sides(void *arg)
{
    (void)arg;
    struct io *a, *b;
    connected(&a, &b);
    struct call reader = {.io = a}, writer = {.io = a};
    uint64_t parks = stat_now(STAT_PARKS);
    join_go(&reader.join, read_g, &reader);
    join_go(&writer.join, flood_g, &writer);
    while (stat_now(STAT_PARKS) < parks + 2)
        gosched();
    char *drain = go_alloc(FLOOD_PIECE);
    for (int got = 0; got < FLOOD; got += FLOOD_PIECE)
        CHECK(io_read_full(b, drain, FLOOD_PIECE) == FLOOD_PIECE);
    join_wait(&writer.join);
    CHECK(io_write(b, "x", 1) == 1);
    join_wait(&reader.join);
    CHECK(reader.result == 1);
    go_free(drain);
    io_free(a);
    io_free(b);
}

static void reader_and_writer_wait_at_once(void **state)
{
    (void)state;
    run_polled(scene_both_sides);
}

/* Deadlines ------------------------------------------------------------------------------------ */

static void scene_deadline(void *arg)
{
    (void)arg;
    struct io *a, *b;
    char byte;
    connected(&a, &b);
    int64_t when = go_now() + 2000000;
    CHECK(io_set_read_deadline(a, when) == 0);
    CHECK(io_read(a, &byte, 1) == -ETIMEDOUT);
    CHECK(go_now() >= when);
    CHECK(io_read(a, &byte, 1) == -ETIMEDOUT);
    CHECK(io_write(a, "x", 1) == 1 && io_read(b, &byte, 1) == 1);
    CHECK(io_write(b, "y", 1) == 1);
    CHECK(io_set_read_deadline(a, 0) == 0);
    CHECK(io_read(a, &byte, 1) == 1 && byte == 'y');
    static char much[1 << 20];
    CHECK(io_set_write_deadline(a, go_now() + 2000000) == 0);
    int64_t n;
    while ((n = io_write_all(a, much, sizeof much)) > 0)
        continue;
    CHECK(n == -ETIMEDOUT);
    CHECK(io_set_read_deadline(a, go_now() + INT64_C(3600000000000)) == 0);
    CHECK(io_close(a) == 0 && io_set_read_deadline(a, 0) == -EBADF);
    io_free(a);
    io_free(b);
}

static void deadlines_end_calls(void **state)
{
    (void)state;
    run_polled(scene_deadline);
}

static void scene_no_deadline(void *arg)
{
    (void)arg;
    struct io *reader, *writer;
    CHECK(io_pipe(&reader, &writer, IO_BLOCKING) == 0);
    CHECK(io_set_read_deadline(reader, 1) == -ENOTSUP);
    io_free(reader);
    io_free(writer);
}

static void blocking_descriptors_have_no_deadlines(void **state)
{
    (void)state;
    every_variant(scene_no_deadline);
}

/* Files and limits ----------------------------------------------------------------------------- */

static void scene_file(void *arg)
{
    (void)arg;
    char path[] = "/tmp/schedlab-test-io-XXXXXX", text[16] = "";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    struct io *io;
    uint64_t calls = stat_now(STAT_CALLS);
    CHECK(io_create(path, &io) == 0);
    CHECK(io_write_all(io, "testbed", 7) == 7);
    io_free(io);
    CHECK(io_open(path, &io) == 0);
    CHECK(io_read_full(io, text, sizeof text) == 7 && strcmp(text, "testbed") == 0);
    io_free(io);
    CHECK(stat_now(STAT_CALLS) == calls + 5); /* open, write, open, read, read of the end */
    CHECK(stat_now(STAT_POLL_CTLS) == 0);
    unlink(path);
    CHECK(io_open(path, &io) == -ENOENT && io == NULL);
}

static void files_block(void **state)
{
    (void)state;
    every_variant(scene_file);
}

/* A full table of descriptors is an error of the call, and what was begun is undone. */
static void scene_limit(void *arg)
{
    (void)arg;
    struct io *listener, *client, *io, *other;
    CHECK(io_listen(&listener) == 0);
    CHECK(io_dial(io_port(listener), &client) == 0);
    struct rlimit limit, full;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    int fds = fds_now(), next = dup(0);
    close(next);
    full = (struct rlimit){(rlim_t)next, limit.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &full) == 0);
    CHECK(io_accept(listener, &io) == -EMFILE && !io);
    CHECK(io_dial(io_port(listener), &io) == -EMFILE && !io);
    CHECK(io_pipe(&io, &other, IO_POLLED) == -EMFILE && !io && !other);
    CHECK(io_listen(&io) == -EMFILE && io_eventfd(&io, IO_POLLED) == -EMFILE);
    CHECK(io_open("/dev/null", &io) == -EMFILE);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(fds_now() == fds);
    CHECK(io_accept(listener, &io) == 0);
    io_free(io);
    io_free(client);
    io_free(listener);
}

static void accept_full_g(void *arg)
{
    struct call *self = arg;
    struct io *io;
    self->result = io_accept(self->io, &io);
    CHECK(!io);
}

/* Likewise for who is parked in io_accept(); the connection stays for the next. A call that waits
 * in the kernel has its descriptor before it waits. */
static void scene_limit_while_accepting(void *arg)
{
    (void)arg;
    struct io *listener, *client, *io;
    struct rlimit limit, full;
    CHECK(io_listen(&listener) == 0);
    struct call call = {.io = listener};
    uint64_t parks = every_parks();
    join_go(&call.join, accept_full_g, &call);
    every_await_parks(parks + 1);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    int next = dup(0);
    close(next);
    full = (struct rlimit){(rlim_t)next + 1, limit.rlim_max}; /* the client's */
    CHECK(setrlimit(RLIMIT_NOFILE, &full) == 0);
    CHECK(io_dial(io_port(listener), &client) == 0);
    join_wait(&call.join);
    CHECK(call.result == -EMFILE);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(io_accept(listener, &io) == 0);
    io_free(io);
    io_free(client);
    io_free(listener);
}

static void the_limit_of_descriptors_is_an_error(void **state)
{
    (void)state;
    run_both(scene_limit);
    run_polled(scene_limit_while_accepting);
}

/* If not even the poller can be made, there is no descriptor either. */
static void scene_no_poller(void *arg)
{
    (void)arg;
    struct io *reader, *writer;
    struct rlimit limit, full;
    machine_fd_close(machine_fd_eventfd(false)); /* the first raises the limit */
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    int fds = fds_now(), next = dup(0);
    close(next);
    full = (struct rlimit){(rlim_t)next + 3, limit.rlim_max}; /* a pipe and one more */
    CHECK(setrlimit(RLIMIT_NOFILE, &full) == 0);
    CHECK(io_pipe(&reader, &writer, IO_POLLED) == -EMFILE && !reader && !writer);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(fds_now() == fds);
}

static void without_room_for_the_poller_there_is_an_error(void **state)
{
    (void)state;
    run_scene("gmp", "netpoll=thread", 2, scene_no_poller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_carries_all),
        cmocka_unit_test(ends_and_errors_are_told),
        cmocka_unit_test(tcp_echoes),
        cmocka_unit_test(a_reset_reaches_who_waits),
        cmocka_unit_test(closing_ends_all_calls),
        cmocka_unit_test(closing_races_calls),
        cmocka_unit_test(readers_of_one_blocking_pipe_take_turns),
        cmocka_unit_test(writers_take_turns),
        cmocka_unit_test(reader_and_writer_wait_at_once),
        cmocka_unit_test(deadlines_end_calls),
        cmocka_unit_test(blocking_descriptors_have_no_deadlines),
        cmocka_unit_test(files_block),
        cmocka_unit_test(the_limit_of_descriptors_is_an_error),
        cmocka_unit_test(without_room_for_the_poller_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
