/* conform_io.c - descriptors, on every variant whose goroutines may wait for them. */
#include "conform.h"
#include "tests/support/support.h"

#include <errno.h>
#include <string.h>

enum { PAIRS = 4, BYTES = 200000, PIECE = 4096, CLIENTS = 8, MESSAGE = 512 };

struct stream {
    struct io *reader, *writer;
    struct waitgroup *done;
    int64_t result;
};

static void stream_write(void *arg)
{
    struct stream *self = arg;
    char piece[PIECE];
    for (size_t at = 0; at < BYTES; at += sizeof piece) {
        size_t size = BYTES - at < sizeof piece ? BYTES - at : sizeof piece;
        memset(piece, (int)(at / sizeof piece), sizeof piece);
        CHECK(io_write_all(self->writer, piece, size) == (int64_t)size);
    }
    io_free(self->writer);
    wg_done(self->done);
}

static void stream_read(void *arg)
{
    struct stream *self = arg;
    char piece[PIECE];
    int64_t at = 0;
    for (int64_t n; (n = io_read_full(self->reader, piece, sizeof piece)) > 0; at += n)
        CHECK(piece[0] == (char)(at / PIECE) && piece[n - 1] == piece[0]);
    CHECK(at == BYTES);
    io_free(self->reader);
    wg_done(self->done);
}

/* Both ends of each pipe wait for the other many times. */
static void conform_pipes_carry_all(void *arg)
{
    (void)arg;
    struct waitgroup done = WG_INIT;
    struct stream stream[PAIRS];
    wg_add(&done, 2 * PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        stream[i].done = &done;
        CHECK(io_pipe(&stream[i].reader, &stream[i].writer, IO_POLLED) == 0);
        go(stream_read, &stream[i]);
        go(stream_write, &stream[i]);
    }
    wg_wait(&done);
}

struct server {
    struct io *listener;
    struct waitgroup done;
    int port, messages;
};

struct connection {
    struct server *server;
    struct io *io;
};

static void connection_serve(void *arg)
{
    struct connection *self = arg;
    char message[MESSAGE];
    for (int64_t n; (n = io_read(self->io, message, sizeof message)) > 0;)
        CHECK(io_write_all(self->io, message, (size_t)n) == n);
    io_free(self->io);
    wg_done(&self->server->done);
    go_free(self);
}

static void server_accept(void *arg)
{
    struct server *self = arg;
    for (int i = 0; i < CLIENTS; i++) {
        struct connection *connection = go_alloc(sizeof *connection);
        connection->server = self;
        CHECK(io_accept(self->listener, &connection->io) == 0);
        go(connection_serve, connection);
    }
    wg_done(&self->done);
}

static void client_talk(void *arg)
{
    struct server *self = arg;
    struct io *io;
    char sent[MESSAGE], back[MESSAGE];
    CHECK(io_dial(self->port, &io) == 0);
    for (int i = 0; i < self->messages; i++) {
        memset(sent, i, sizeof sent);
        CHECK(io_write_all(io, sent, sizeof sent) == MESSAGE);
        CHECK(io_read_full(io, back, sizeof back) == MESSAGE);
        CHECK(memcmp(sent, back, sizeof sent) == 0);
    }
    io_free(io);
    wg_done(&self->done);
}

static void conform_tcp_echoes(void *arg)
{
    const struct conform_cell *cell = arg;
    struct server *server = go_alloc_zeroed(sizeof *server);
    server->messages = 20 * cell->scale;
    CHECK(io_listen(&server->listener) == 0);
    server->port = io_port(server->listener);
    wg_add(&server->done, 1 + 2 * CLIENTS);
    go(server_accept, server);
    for (int i = 0; i < CLIENTS; i++)
        go(client_talk, server);
    wg_wait(&server->done);
    io_free(server->listener);
    go_free(server);
}

static void reader_waits(void *arg)
{
    struct stream *self = arg;
    char byte;
    self->result = io_read(self->reader, &byte, 1);
    wg_done(self->done);
}

/* Close ends reads that wait already, for the descriptor or for their turn, and reads that come
 * later. */
static void conform_io_close_ends_reads(void *arg)
{
    const struct conform_cell *cell = arg;
    if (cell->ops->thread_per_g)
        return; /* who is in the kernel stays there: io.h */
    for (int round = 0; round < 10 * cell->scale; round++) {
        struct waitgroup done = WG_INIT;
        struct stream stream[3];
        struct io *reader, *writer;
        CHECK(io_pipe(&reader, &writer, IO_POLLED) == 0);
        wg_add(&done, 3);
        for (int i = 0; i < 3; i++) {
            stream[i] = (struct stream){.reader = reader, .done = &done};
            go(reader_waits, &stream[i]);
        }
        for (int i = 0; i < round % 4; i++)
            gosched();
        CHECK(io_close(reader) == 0);
        wg_wait(&done);
        for (int i = 0; i < 3; i++)
            CHECK(stream[i].result == -EBADF);
        io_free(reader);
        io_free(writer);
    }
}

static void conform_io_deadline_not_early(void *arg)
{
    const struct conform_cell *cell = arg;
    if (cell->ops->thread_per_g)
        return; /* no deadlines where the kernel waits: io.h */
    struct io *reader, *writer;
    char byte;
    CHECK(io_pipe(&reader, &writer, IO_POLLED) == 0);
    for (int64_t us = 1; us <= 2000; us *= 8) {
        int64_t when = go_now() + us * 1000;
        CHECK(io_set_read_deadline(reader, when) == 0);
        CHECK(io_read(reader, &byte, 1) == -ETIMEDOUT);
        CHECK(go_now() >= when);
    }
    io_free(reader);
    io_free(writer);
}

/* Sleeps beside I/O ------------------------------------------------------------------------- */

enum { SLEEPERS = 4 };

struct traffic {
    struct io *there[2], *back[2]; /* of two pipes the end that reads, and the one that writes */
    struct waitgroup sleepers, ends;
    _Atomic bool over;
    int naps;
};

/* Each waits for the other's byte at each turn: neither keeps its worker, even without slices. */
static void traffic_ping(void *arg)
{
    struct traffic *self = arg;
    char byte = 1;
    while (!atomic_load(&self->over)) {
        CHECK(io_write(self->there[1], &byte, 1) == 1);
        CHECK(io_read(self->back[0], &byte, 1) == 1);
    }
    io_free(self->there[1]);
    io_free(self->back[0]);
    wg_done(&self->ends);
}

static void traffic_pong(void *arg)
{
    struct traffic *self = arg;
    char byte;
    while (io_read(self->there[0], &byte, 1) == 1)
        CHECK(io_write(self->back[1], &byte, 1) == 1);
    io_free(self->there[0]);
    io_free(self->back[1]);
    wg_done(&self->ends);
}

static void traffic_sleep(void *arg)
{
    struct traffic *self = arg;
    for (int i = 0; i < self->naps; i++)
        go_sleep((i % SLEEPERS + 1) * INT64_C(1000000));
    wg_done(&self->sleepers);
}

/* There is always a descriptor that is ready, until all sleepers have been woken. */
static void conform_sleeps_end_beside_io(void *arg)
{
    const struct conform_cell *cell = arg;
    struct traffic *self = go_alloc_zeroed(sizeof *self);
    self->naps = 5 * cell->scale;
    CHECK(io_pipe(&self->there[0], &self->there[1], IO_POLLED) == 0);
    CHECK(io_pipe(&self->back[0], &self->back[1], IO_POLLED) == 0);
    wg_add(&self->ends, 2);
    wg_add(&self->sleepers, SLEEPERS);
    go(traffic_ping, self);
    go(traffic_pong, self);
    for (int i = 0; i < SLEEPERS; i++)
        go(traffic_sleep, self);
    wg_wait(&self->sleepers);
    atomic_store(&self->over, true);
    wg_wait(&self->ends);
    go_free(self);
}

const struct conform_case conform_io_cases[] = {
    CASE(conform_pipes_carry_all),
    CASE(conform_pipes_carry_all, .settings = "netpoll=thread"),
    CASE(conform_pipes_carry_all, .settings = "netpoll=call"),
    CASE(conform_tcp_echoes),
    CASE(conform_tcp_echoes, .settings = "netpoll=thread"),
    CASE(conform_tcp_echoes, .settings = "mailbox=mpsc"),
    CASE(conform_tcp_echoes, .settings = "queue=mpmc"),
    CASE(conform_tcp_echoes, .settings = "queue=msqueue"),
    CASE(conform_tcp_echoes, .settings = "queue=faa"),
    CASE(conform_tcp_echoes, .settings = "victim=near"),
    CASE(conform_tcp_echoes, .settings = "globals=2"),
    CASE(conform_tcp_echoes, .settings = "wake_delay_ns=20000"),
    CASE(conform_tcp_echoes, .settings = "width=load"),
    CASE(conform_tcp_echoes, .settings = "queue=multi"),
    CASE(conform_tcp_echoes, .settings = "globq=mpmc"),
    CASE(conform_tcp_echoes, .settings = "queue=bwos"),
    CASE(conform_tcp_echoes, .settings = "netpoll=call"),
    CASE(conform_tcp_echoes, .settings = "netpoll_trigger=level"),
    CASE(conform_tcp_echoes, .settings = "netpoll_place=global"),
    CASE(conform_tcp_echoes, .settings = "netpoll_place=local"),
    CASE(conform_tcp_echoes, .settings = "wake=none"),
    CASE(conform_tcp_echoes, .settings = "lock=ticket,netpoll=thread"),
    CASE(conform_tcp_echoes, .settings = "lock=mcs,netpoll=thread"),
    CASE(conform_tcp_echoes, .settings = "lock=futex,netpoll=thread"),
    CASE(conform_tcp_echoes, .settings = "lock=spinbit,netpoll=thread"),
    CASE(conform_sleeps_end_beside_io),
    CASE(conform_sleeps_end_beside_io, .settings = "sysmon=off"),
    CASE(conform_io_close_ends_reads),
    CASE(conform_io_close_ends_reads, .settings = "netpoll=thread"),
    CASE(conform_io_deadline_not_early),
    CASE(conform_io_deadline_not_early, .settings = "netpoll=thread"),
    {0},
};
