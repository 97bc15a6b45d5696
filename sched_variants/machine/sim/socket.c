/* socket.c - TCP on the loopback interface of the simulated machine.
 *
 * A connection is two sockets, and a stream to each of them. A stream is a queue of segments: what
 * one write took, the end, or a reset. Each takes a sample of the model's latency of the network,
 * and none overtakes another. Each stream has a window,
 *
 *   SOCKET_WINDOW = credit + bytes flying + bytes arrived + returned + returning
 *
 * where the writer may send `credit`, the reader has read `returned` without telling, and
 * `returning` is on its way back, a latency as well. A third of the window is told at once, so
 * that a writer without credit, when nothing flies and nothing is unread, is told of at least
 * that third.
 *
 * Dialling: a request flies to the listener, the answer back, and a last word to the listener,
 * after which the connection can be accepted.
 *
 * Source: Linux net/ipv4/tcp.c, tcp_input.c, inet_connection_sock.c, net/core/stream.c.
 *   Same:    closing with unread data, and data for who has closed or reads no more, reset the
 *            connection; a reset is told once, as -ECONNRESET, or -EPIPE if the end had come
 *            before (then to writes only), and what has arrived can be read all the same; a
 *            socket counts as writable with a third of its buffer free, and is told so only after
 *            it was not; 4096 connections wait to be accepted, more are asked to come again,
 *            after a second and then twice as long each time, 6 times; shutting a listener down,
 *            or a socket that still dials, ends that.
 *   Differs: one window of fixed size, that of net.core.wmem_default, where TCP has two buffers
 *            and lets them grow (on Linux 6.18 a writer is refused after 4.2 MB). No bandwidth.
 *            The own end takes no port, so there is no end to how many can dial. Ports are handed
 *            out in turn, from 32768 to 60999, not at random. Both ends closed is the end, at
 *            once.
 */
#include "fd.h"
#include "machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SOCKET_WINDOW = 212992,
    WINDOW_TOLD = SOCKET_WINDOW / 3,
    BACKLOG_MAX = 4096,
    PORT_FIRST = 32768, /* Linux net.ipv4.ip_local_port_range */
    PORT_END = 61000,
    TRIES_MAX = 6, /* Linux net.ipv4.tcp_syn_retries */
    CLIENT = 0,
    SERVER = 1
};
static const int64_t RETRY_PS = INT64_C(1000000000000); /* Linux TCP_TIMEOUT_INIT */

enum segment_kind { SEGMENT_DATA, SEGMENT_END, SEGMENT_RESET };

struct segment {
    STAILQ_ENTRY(segment) link;
    enum segment_kind kind;
    int64_t arrives_ps;
    size_t size, taken;
    char bytes[];
};
STAILQ_HEAD(segments, segment);

struct stream {
    struct socket *to;
    struct segments flying, arrived; /* arrived: data alone */
    int64_t last_ps;                 /* nothing arrives before it */
    struct sim_event arrival, told;
    size_t credit, returned, returning;
};

enum socket_state { SOCKET_DIALLING, SOCKET_CONNECTED, SOCKET_CLOSED };

struct socket {
    struct fd fd;
    struct connection *connection;
    struct socket *peer;
    struct stream in; /* to here */
    enum socket_state state;
    int error;    /* to be told once */
    bool ended;   /* the peer's end has arrived */
    bool no_read; /* shut down, or closed by a reset */
    bool no_write;
    bool wants_room; /* has been found not writable */
    bool gone;       /* no descriptor any more, and none to come */
};

struct listener {
    struct fd fd;
    int port;
    bool shut;
    TAILQ_HEAD(, connection) asked, ready; /* on their way; to be accepted */
    int count;                             /* of both */
};

struct connection {
    struct socket socket[2];
    int port;
    int tries;
    struct sim_event step;     /* of dialling */
    struct listener *listener; /* whose queue it is in */
    TAILQ_ENTRY(connection) link;
};

static struct listener *listeners[PORT_END - PORT_FIRST];

/* Segments ------------------------------------------------------------------------------------ */

static void on_arrival(struct sim_event *event);
static void on_told(struct sim_event *event);

static struct socket *socket_of(const struct fd *fd)
{
    return FD_CONTAINER(fd, struct socket, fd);
}

static int64_t later(void)
{
    return sim_now() + sim_latency(&sim_model.network);
}

static void segments_free(struct segments *segments)
{
    struct segment *next;
    for (struct segment *segment = STAILQ_FIRST(segments); segment; segment = next) {
        next = STAILQ_NEXT(segment, link);
        free(segment);
    }
    STAILQ_INIT(segments);
}

static void send_segment(struct socket *to, enum segment_kind kind, const void *data, size_t size)
{
    struct stream *stream = &to->in;
    struct segment *segment = fd_alloc(sizeof *segment + size);
    int64_t when_ps = later();
    if (when_ps < stream->last_ps)
        when_ps = stream->last_ps;
    segment->kind = kind;
    segment->arrives_ps = stream->last_ps = when_ps;
    segment->size = size;
    if (size)
        memcpy(segment->bytes, data, size);
    if (STAILQ_EMPTY(&stream->flying))
        sim_event_set(&stream->arrival, when_ps, on_arrival);
    STAILQ_INSERT_TAIL(&stream->flying, segment, link);
}

/* Both sockets' ends, and nobody is left who could look. */
static void connection_end(struct connection *connection)
{
    if (!connection->socket[CLIENT].gone || !connection->socket[SERVER].gone)
        return;
    sim_event_clear(&connection->step);
    for (int side = 0; side < 2; side++) {
        struct stream *stream = &connection->socket[side].in;
        sim_event_clear(&stream->arrival);
        sim_event_clear(&stream->told);
        segments_free(&stream->flying);
        segments_free(&stream->arrived);
    }
    free(connection);
}

/* The connection is at its end here: nothing goes either way. */
static void socket_fail(struct socket *self, int error)
{
    self->error = error;
    self->state = SOCKET_CLOSED;
    self->no_read = self->no_write = true;
    fd_tell(&self->fd, FD_ALL, INT_MAX);
}

static void socket_reset(struct socket *self)
{
    if (self->state == SOCKET_CONNECTED && !self->gone)
        socket_fail(self, self->ended ? EPIPE : ECONNRESET);
}

/* Keeps the segment if its data can be read; else it is the caller's. */
static bool segment_arrive(struct socket *self, struct segment *segment)
{
    if (segment->kind == SEGMENT_RESET) {
        socket_reset(self);
    } else if (segment->kind == SEGMENT_END) {
        self->ended = true;
        fd_tell(&self->fd, FD_IN | FD_RDHUP | (self->no_write ? FD_HUP : 0), INT_MAX);
    } else if (self->gone || self->no_read) {
        send_segment(self->peer, SEGMENT_RESET, NULL, 0);
        socket_reset(self);
    } else {
        STAILQ_INSERT_TAIL(&self->in.arrived, segment, link);
        fd_tell(&self->fd, FD_IN, INT_MAX);
        return true;
    }
    return false;
}

static void on_arrival(struct sim_event *event)
{
    struct stream *stream = FD_CONTAINER(event, struct stream, arrival);
    struct segment *segment;
    while ((segment = STAILQ_FIRST(&stream->flying)) && segment->arrives_ps <= sim_now()) {
        STAILQ_REMOVE_HEAD(&stream->flying, link);
        if (!segment_arrive(stream->to, segment))
            free(segment);
    }
    if (segment)
        sim_event_set(&stream->arrival, segment->arrives_ps, on_arrival);
    fd_free_of_charge();
}

static void tell_room(struct stream *stream)
{
    if (stream->returning || stream->returned < WINDOW_TOLD)
        return;
    stream->returning = stream->returned;
    stream->returned = 0;
    sim_event_set(&stream->told, later(), on_told);
}

static void on_told(struct sim_event *event)
{
    struct stream *stream = FD_CONTAINER(event, struct stream, told);
    struct socket *writer = stream->to->peer;
    stream->credit += stream->returning;
    stream->returning = 0;
    tell_room(stream);
    if (writer->wants_room && stream->credit >= WINDOW_TOLD) {
        writer->wants_room = false;
        fd_tell(&writer->fd, FD_OUT, INT_MAX);
    }
    fd_free_of_charge();
}

/* Reading and writing ------------------------------------------------------------------------- */

static int64_t socket_error(struct socket *self)
{
    int error = self->error;
    self->error = 0;
    return -error;
}

static size_t stream_take(struct stream *stream, char *buffer, size_t size)
{
    size_t taken = 0;
    for (struct segment *segment; taken < size && (segment = STAILQ_FIRST(&stream->arrived));) {
        size_t left = segment->size - segment->taken;
        size_t n = left < size - taken ? left : size - taken;
        memcpy(buffer + taken, segment->bytes + segment->taken, n);
        segment->taken += n;
        taken += n;
        if (n == left) {
            STAILQ_REMOVE_HEAD(&stream->arrived, link);
            free(segment);
        }
    }
    stream->returned += taken;
    tell_room(stream);
    return taken;
}

static int64_t socket_read(struct fd *fd, void *buffer, size_t size)
{
    struct socket *self = socket_of(fd);
    if (size == 0)
        return 0;
    if (!STAILQ_EMPTY(&self->in.arrived))
        return (int64_t)stream_take(&self->in, buffer, size);
    if (self->ended)
        return 0;
    if (self->error)
        return socket_error(self);
    if (self->no_read)
        return 0;
    return self->state == SOCKET_CLOSED ? -ENOTCONN : -EAGAIN;
}

static size_t socket_room(const struct fd *fd, size_t size)
{
    const struct socket *self = socket_of(fd);
    size_t credit = self->peer->in.credit;
    if (self->state != SOCKET_CONNECTED || self->error || self->no_write)
        return 0;
    return credit < size ? credit : size;
}

static int64_t socket_write(struct fd *fd, const void *data, size_t size, bool first)
{
    struct socket *self = socket_of(fd);
    if (self->error)
        return first ? socket_error(self) : -self->error;
    if (self->no_write || self->state == SOCKET_CLOSED)
        return -EPIPE;
    if (size == 0)
        return 0;
    size_t n = socket_room(fd, size);
    if (n > 0) {
        self->peer->in.credit -= n;
        send_segment(self->peer, SEGMENT_DATA, data, n);
    }
    if (self->peer->in.credit == 0)
        self->wants_room = true;
    return n ? (int64_t)n : -EAGAIN;
}

static int socket_state(struct fd *fd)
{
    struct socket *self = socket_of(fd);
    int state = self->error ? FD_ERR : 0;
    if (self->state == SOCKET_DIALLING)
        return state;
    if (self->state == SOCKET_CLOSED || (self->no_write && (self->no_read || self->ended)))
        state |= FD_HUP;
    if (self->no_read || self->ended)
        state |= FD_IN | FD_RDHUP;
    if (!STAILQ_EMPTY(&self->in.arrived))
        state |= FD_IN;
    if (self->no_write || self->peer->in.credit >= WINDOW_TOLD)
        state |= FD_OUT;
    else
        self->wants_room = true;
    return state;
}

/* The dialling ends, in the queue of a listener or on the way to it. */
static void connection_withdraw(struct connection *connection)
{
    struct listener *listener = connection->listener;
    sim_event_clear(&connection->step);
    connection->socket[SERVER].gone = true;
    if (!listener)
        return;
    TAILQ_REMOVE(&listener->asked, connection, link);
    listener->count--;
    connection->listener = NULL;
}

static void socket_release(struct fd *fd)
{
    struct socket *self = socket_of(fd);
    self->gone = true;
    if (self->state == SOCKET_DIALLING)
        connection_withdraw(self->connection);
    else if (self->state == SOCKET_CONNECTED && !STAILQ_EMPTY(&self->in.arrived))
        send_segment(self->peer, SEGMENT_RESET, NULL, 0);
    else if (self->state == SOCKET_CONNECTED && !self->no_write)
        send_segment(self->peer, SEGMENT_END, NULL, 0);
    connection_end(self->connection);
}

static const struct fd_ops socket_ops = {
    .read = socket_read,
    .write = socket_write,
    .room = socket_room,
    .state = socket_state,
    .release = socket_release,
};

/* Dialling ------------------------------------------------------------------------------------ */

static struct listener *listener_at(int port)
{
    return port >= PORT_FIRST && port < PORT_END ? listeners[port - PORT_FIRST] : NULL;
}

static struct connection *connection_of_step(struct sim_event *event)
{
    return FD_CONTAINER(event, struct connection, step);
}

static void on_failure(struct sim_event *event)
{
    struct connection *connection = connection_of_step(event);
    socket_fail(&connection->socket[CLIENT],
                connection->tries > TRIES_MAX ? ETIMEDOUT : ECONNREFUSED);
    fd_free_of_charge();
}

/* The last word: it can be accepted. */
static void on_confirmed(struct sim_event *event)
{
    struct connection *connection = connection_of_step(event);
    struct listener *listener = connection->listener;
    TAILQ_REMOVE(&listener->asked, connection, link);
    TAILQ_INSERT_TAIL(&listener->ready, connection, link);
    fd_tell(&listener->fd, FD_IN, 1);
    fd_free_of_charge();
}

static void on_answer(struct sim_event *event)
{
    struct connection *connection = connection_of_step(event);
    for (int side = 0; side < 2; side++)
        connection->socket[side].state = SOCKET_CONNECTED;
    sim_event_set(event, later(), on_confirmed);
    connection->socket[SERVER].in.last_ps = event->when_ps; /* data come after it */
    fd_tell(&connection->socket[CLIENT].fd, FD_OUT, INT_MAX);
    fd_free_of_charge();
}

static void on_request(struct sim_event *event)
{
    struct connection *connection = connection_of_step(event);
    struct listener *listener = listener_at(connection->port);
    if (!listener) {
        connection->socket[SERVER].gone = true;
        sim_event_set(event, later(), on_failure);
    } else if (listener->count < BACKLOG_MAX) {
        connection->listener = listener;
        TAILQ_INSERT_TAIL(&listener->asked, connection, link);
        listener->count++;
        sim_event_set(event, later(), on_answer);
    } else if (connection->tries < TRIES_MAX) {
        sim_event_set(event, sim_now() + (RETRY_PS << connection->tries++), on_request);
    } else {
        connection->socket[SERVER].gone = true;
        sim_event_set(event, sim_now() + (RETRY_PS << connection->tries++), on_failure);
    }
}

static struct connection *connection_new(int port, bool wait)
{
    struct connection *connection = fd_alloc(sizeof *connection);
    for (int side = 0; side < 2; side++) {
        struct socket *self = &connection->socket[side];
        fd_init(&self->fd, &socket_ops, wait);
        self->connection = connection;
        self->peer = &connection->socket[!side];
        self->in.to = self;
        self->in.credit = SOCKET_WINDOW;
        STAILQ_INIT(&self->in.flying);
        STAILQ_INIT(&self->in.arrived);
    }
    connection->port = port;
    return connection;
}

static int dialled(struct socket *self)
{
    if (self->error)
        return (int)socket_error(self);
    return self->state == SOCKET_CONNECTED && !(self->ended && self->no_write) ? 0 : -EAGAIN;
}

int machine_fd_dial(int port, bool wait)
{
    sim_spend(sim_model.call_ps);
    int number = fd_reserve();
    if (number < 0)
        return number;
    struct connection *connection = connection_new(port, wait);
    struct fd *fd = &connection->socket[CLIENT].fd;
    fd_install(number, fd);
    sim_event_set(&connection->step, later(), on_request);
    if (!wait)
        return number;
    fd_get(number);
    bool slept = false;
    int error;
    while ((error = dialled(socket_of(fd))) == -EAGAIN)
        fd_sleep(&fd->writers, &slept);
    if (error) {
        fd_unreserve(number);
        fd_put(fd);
    }
    return (int)fd_return(fd, error ? error : number);
}

/* Listeners ----------------------------------------------------------------------------------- */

static struct listener *listener_of(const struct fd *fd)
{
    return FD_CONTAINER(fd, struct listener, fd);
}

/* To a read it is no connection, to a write one that has ended. */
static int64_t listener_read(struct fd *fd, void *buffer, size_t size)
{
    (void)buffer;
    (void)size;
    return listener_of(fd)->shut ? 0 : -ENOTCONN;
}

static int64_t listener_write(struct fd *fd, const void *data, size_t size, bool first)
{
    (void)first;
    (void)fd;
    (void)data;
    (void)size;
    return -EPIPE;
}

static size_t listener_room(const struct fd *fd, size_t size)
{
    (void)fd;
    (void)size;
    return 0;
}

static int listener_state(struct fd *fd)
{
    const struct listener *self = listener_of(fd);
    if (self->shut)
        return FD_OUT | FD_HUP;
    return TAILQ_EMPTY(&self->ready) ? 0 : FD_IN;
}

/* Nobody will accept it. */
static void connection_refuse(struct connection *connection)
{
    connection->listener = NULL;
    connection->socket[SERVER].gone = true;
    if (connection->socket[CLIENT].state == SOCKET_DIALLING) {
        sim_event_set(&connection->step, later(), on_failure);
    } else {
        sim_event_clear(&connection->step);
        send_segment(&connection->socket[CLIENT], SEGMENT_RESET, NULL, 0);
    }
    connection_end(connection);
}

static void listener_shut(struct listener *self)
{
    struct connection *connection;
    if (self->shut)
        return;
    self->shut = true;
    listeners[self->port - PORT_FIRST] = NULL;
    while ((connection = TAILQ_FIRST(&self->ready))) {
        TAILQ_REMOVE(&self->ready, connection, link);
        connection_refuse(connection);
    }
    while ((connection = TAILQ_FIRST(&self->asked))) {
        TAILQ_REMOVE(&self->asked, connection, link);
        connection_refuse(connection);
    }
    fd_tell(&self->fd, FD_ALL, INT_MAX);
}

static void listener_release(struct fd *fd)
{
    listener_shut(listener_of(fd));
    free(listener_of(fd));
}

static const struct fd_ops listener_ops = {
    .read = listener_read,
    .write = listener_write,
    .room = listener_room,
    .state = listener_state,
    .release = listener_release,
};

/* The next one after the last, so that one is not soon used again. */
static int port_free(void)
{
    static int next;
    enum { COUNT = PORT_END - PORT_FIRST };
    for (int i = 0; i < COUNT; i++) {
        int at = (next + i) % COUNT;
        if (!listeners[at]) {
            next = at + 1;
            return PORT_FIRST + at;
        }
    }
    return -EADDRINUSE;
}

int machine_fd_listen(bool wait)
{
    sim_spend(sim_model.call_ps);
    int number = fd_reserve();
    if (number < 0)
        return number;
    int port = port_free();
    if (port < 0) {
        fd_unreserve(number);
        return port;
    }
    struct listener *self = fd_alloc(sizeof *self);
    fd_init(&self->fd, &listener_ops, wait);
    TAILQ_INIT(&self->asked);
    TAILQ_INIT(&self->ready);
    self->port = port;
    listeners[port - PORT_FIRST] = self;
    fd_install(number, &self->fd);
    return number;
}

static int accept_next(struct fd *fd, int number, bool wait)
{
    struct listener *self = listener_of(fd);
    struct connection *connection = TAILQ_FIRST(&self->ready);
    if (self->shut)
        return -EINVAL;
    if (!connection)
        return -EAGAIN;
    TAILQ_REMOVE(&self->ready, connection, link);
    self->count--;
    connection->listener = NULL;
    connection->socket[SERVER].fd.wait = wait;
    fd_install(number, &connection->socket[SERVER].fd);
    if (!TAILQ_EMPTY(&self->ready))
        fd_wake(&fd->readers, 1);
    return number;
}

/* Has its number before it waits. */
static int accept_wait(struct fd *fd, bool wait)
{
    int number = fd_reserve(), result;
    bool slept = false;
    if (number < 0)
        return number;
    while ((result = accept_next(fd, number, wait)) == -EAGAIN && fd->wait)
        fd_sleep(&fd->readers, &slept);
    if (result < 0)
        fd_unreserve(number);
    return result;
}

int machine_fd_accept(int number, bool wait)
{
    struct fd *fd = fd_call(number);
    if (!fd)
        return -EBADF;
    int result = fd->ops == &listener_ops ? accept_wait(fd, wait)
                 : fd->ops == &socket_ops ? -EINVAL
                                          : -ENOTSOCK;
    return (int)fd_return(fd, result);
}

/* Asking and shutting down -------------------------------------------------------------------- */

int machine_fd_port(int number)
{
    struct fd *fd = fd_call(number);
    if (!fd)
        return -EBADF;
    int result = fd->ops == &listener_ops ? listener_of(fd)->port
                 : fd->ops == &socket_ops ? socket_of(fd)->connection->port
                                          : -ENOTSOCK;
    return (int)fd_return(fd, result);
}

int machine_fd_dialled(int number)
{
    struct fd *fd = fd_call(number);
    if (!fd)
        return -EBADF;
    int result = fd->ops == &socket_ops     ? dialled(socket_of(fd))
                 : fd->ops == &listener_ops ? -EAGAIN
                                            : -ENOTSOCK;
    return (int)fd_return(fd, result);
}

static int socket_shutdown(struct socket *self, bool both)
{
    if (self->state == SOCKET_DIALLING) {
        connection_withdraw(self->connection);
        socket_fail(self, ECONNRESET);
        self->no_read = self->no_write = false;
        return 0;
    }
    if (self->state == SOCKET_CLOSED || (self->ended && self->no_write))
        return -ENOTCONN;
    if (!self->no_write)
        send_segment(self->peer, SEGMENT_END, NULL, 0);
    self->no_write = true;
    self->no_read |= both;
    fd_tell(&self->fd, FD_ALL, INT_MAX);
    return 0;
}

static int shutdown_listener(struct listener *self, bool both)
{
    if (self->shut)
        return -ENOTCONN;
    if (both)
        listener_shut(self);
    return 0;
}

int machine_fd_shutdown(int number, bool both)
{
    struct fd *fd = fd_call(number);
    if (!fd)
        return -EBADF;
    int result = fd->ops == &socket_ops     ? socket_shutdown(socket_of(fd), both)
                 : fd->ops == &listener_ops ? shutdown_listener(listener_of(fd), both)
                                            : -ENOTSOCK;
    return (int)fd_return(fd, result);
}
