/* io.c - descriptors of goroutines: turns, calls that park or block, closing.
 *
 * Source: Go 1.26 internal/poll/fd_unix.go, fd_mutex.go, fd_poll_runtime.go.
 *   Same:    one reader and one writer at a time; who closes wakes all, and the last user closes
 *            the descriptor; closing waits for that unless somebody may be in the kernel for ever.
 *   Differs: (1) a turn is handed to who waits longest; (2) sockets without the poller are shut
 *            down, so that calls in the kernel return.
 *   Why:     (1) who took it by chance would park next, and so two park where one would do; (2) Go
 *            has no such sockets.
 *
 * Turns. io->lock protects closed, users, freed, closer and both sides. A side is held from
 * turn_take() to turn_give(); `users` counts the holders, 0 to 2. A G that waits for a turn is no
 * user. Whoever wakes it hands it the turn (wake_ok), and with the turn the giver's place as a
 * user; or says that io is closed, and then it does not touch io again. So with users == 0 and io
 * closed nobody is in a call, and nobody will be: then the descriptor goes (last_leaves).
 */
#include "io.h"
#include "internal.h"
#include "netpoll.h"
#include "waitq.h"

#include <errno.h>

struct io_turn {
    bool held;
    struct g *head, *tail; /* who waits for it */
};

struct io {
    struct poll_desc *pd; /* NULL: calls wait in the kernel */
    int fd;
    bool socket;
    lock_t lock;
    bool freed;
    _Atomic bool closed; /* relaxed without the lock: a call that the close has interrupted */
    int users;
    struct g *closer; /* waits for the last user */
    struct io_turn turn[2];
};

/* Making ------------------------------------------------------------------------------------- */

/* Do calls wait in the kernel? */
static bool waits(enum io_flags flags)
{
    return (flags & IO_BLOCKING) || netpoll_by(machine_self()->sched) == NETPOLL_CALL;
}

/* Takes over fd, which may be an error: then that is the result. */
static int io_new(int fd, bool wait, bool socket, struct io **io)
{
    *io = NULL;
    if (fd < 0)
        return fd;
    struct poll_desc *pd = NULL;
    int error = wait ? 0 : poll_open(machine_self()->sched, fd, &pd);
    if (error) {
        machine_fd_close(fd);
        return error;
    }
    struct io *self = go_alloc_zeroed(sizeof *self);
    self->fd = fd;
    self->pd = pd;
    self->socket = socket;
    *io = self;
    return 0;
}

int io_listen(struct io **io)
{
    bool wait = waits(IO_POLLED);
    return io_new(machine_fd_listen(wait), wait, true, io);
}

int io_port(const struct io *listener)
{
    return machine_fd_port(listener->fd);
}

int io_pipe(struct io **reader, struct io **writer, enum io_flags flags)
{
    int ends[2];
    bool wait = waits(flags);
    *reader = *writer = NULL;
    int error = machine_fd_pipe(ends, wait);
    if (error)
        return error;
    if ((error = io_new(ends[0], wait, false, reader))) {
        machine_fd_close(ends[1]);
        return error;
    }
    if ((error = io_new(ends[1], wait, false, writer))) {
        io_free(*reader);
        *reader = NULL;
    }
    return error;
}

int io_eventfd(struct io **io, enum io_flags flags)
{
    bool wait = waits(flags);
    return io_new(machine_fd_eventfd(wait), wait, false, io);
}

static int file_open(uintptr_t site, const char *path, bool write, struct io **io)
{
    blocking_enter_at(site);
    int fd = machine_fd_open(path, write);
    blocking_exit();
    return io_new(fd, true, false, io);
}

int io_open(const char *path, struct io **io)
{
    return file_open(CALL_SITE, path, false, io);
}

int io_create(const char *path, struct io **io)
{
    return file_open(CALL_SITE, path, true, io);
}

/* Turns -------------------------------------------------------------------------------------- */

static bool is_closed(struct io *io)
{
    return atomic_load_explicit(&io->closed, memory_order_relaxed);
}

/* False: io is closed. */
static bool turn_take(struct io *io, enum poll_side side)
{
    struct io_turn *turn = &io->turn[side];
    lock_acquire(&io->lock);
    bool closed = is_closed(io);
    if (closed || !turn->held) {
        turn->held = turn->held || !closed;
        io->users += !closed;
        lock_release(&io->lock);
        return !closed;
    }
    struct g *gp = machine_self()->curg;
    gp->wait_reason = WAIT_IO_TURN;
    gp->wait_on = io;
    waitq_push(&turn->head, &turn->tail, gp);
    lock_release(&io->lock);
    g_park();
    return gp->wake_ok;
}

/* The descriptor goes; nobody is in a call. closer NULL: nobody waits for it. */
static void last_leaves(struct poll_desc *pd, int fd, struct g *closer)
{
    if (pd)
        poll_close(pd);
    machine_fd_close(fd);
    if (closer)
        g_ready(closer);
}

static void turn_give(struct io *io, enum poll_side side)
{
    struct io_turn *turn = &io->turn[side];
    lock_acquire(&io->lock);
    struct g *next = waitq_pop(&turn->head);
    turn->held = next != NULL;
    io->users -= !next;
    bool last = is_closed(io) && io->users == 0, freed = last && io->freed;
    struct poll_desc *pd = io->pd;
    struct g *closer = io->closer;
    int fd = io->fd;
    lock_release(&io->lock);
    if (next) {
        next->wake_ok = true;
        g_ready(next);
    }
    if (freed) /* nobody else has it any more; else who closed it, or will free it, may go on */
        go_free(io);
    if (last)
        last_leaves(pd, fd, closer);
}

/* Calls -------------------------------------------------------------------------------------- */

enum call { CALL_READ, CALL_WRITE, CALL_ACCEPT, CALL_DIALLED };

struct request {
    enum call call;
    uintptr_t site;
    void *buffer;
    const void *data;
    size_t size;
};

static int64_t call_machine(struct io *io, const struct request *request)
{
    switch (request->call) {
    case CALL_READ:
        return machine_fd_read(io->fd, request->buffer, request->size);
    case CALL_WRITE:
        return machine_fd_write(io->fd, request->data, request->size);
    case CALL_ACCEPT:
        return machine_fd_accept(io->fd, !io->pd);
    case CALL_DIALLED:
        return machine_fd_dialled(io->fd);
    }
    return -EINVAL;
}

/* One call, which may block the thread. Shutting a socket down ends it, with whatever result. */
static int64_t call_blocking(struct io *io, const struct request *request)
{
    blocking_enter_at(request->site);
    int64_t result = call_machine(io, request);
    blocking_exit();
    return result <= 0 && is_closed(io) ? -EBADF : result;
}

/* Pre: the caller's turn. Waits, one way or the other, until the call has done something. */
static int64_t call_one(struct io *io, enum poll_side side, const struct request *request)
{
    if (!io->pd)
        return call_blocking(io, request);
    int error = poll_prepare(io->pd, side);
    while (!error) {
        int64_t result = call_machine(io, request);
        if (result != -EAGAIN)
            return result;
        error = poll_wait(io->pd, side);
    }
    return error;
}

/* all: until size bytes are done, or the end. */
static int64_t transfer(struct io *io, enum poll_side side, struct request request, bool all)
{
    size_t done = 0, size = request.size;
    int64_t n;
    if (!turn_take(io, side))
        return -EBADF;
    do {
        n = call_one(io, side, &request);
        if (n > 0) {
            done += (size_t)n;
            request.size -= (size_t)n;
            if (side == POLL_READ)
                request.buffer = (char *)request.buffer + n;
            else
                request.data = (const char *)request.data + n;
        }
    } while (all && n > 0 && done < size);
    turn_give(io, side);
    return n < 0 ? n : (int64_t)done;
}

int64_t io_read(struct io *io, void *buffer, size_t size)
{
    struct request request = {.call = CALL_READ, .site = CALL_SITE, .buffer = buffer, .size = size};
    return transfer(io, POLL_READ, request, false);
}

int64_t io_read_full(struct io *io, void *buffer, size_t size)
{
    struct request request = {.call = CALL_READ, .site = CALL_SITE, .buffer = buffer, .size = size};
    return transfer(io, POLL_READ, request, true);
}

int64_t io_write(struct io *io, const void *data, size_t size)
{
    struct request request = {.call = CALL_WRITE, .site = CALL_SITE, .data = data, .size = size};
    return transfer(io, POLL_WRITE, request, false);
}

int64_t io_write_all(struct io *io, const void *data, size_t size)
{
    struct request request = {.call = CALL_WRITE, .site = CALL_SITE, .data = data, .size = size};
    return transfer(io, POLL_WRITE, request, true);
}

int io_accept(struct io *listener, struct io **io)
{
    bool wait = !listener->pd;
    *io = NULL;
    if (!turn_take(listener, POLL_READ))
        return -EBADF;
    struct request request = {.call = CALL_ACCEPT, .site = CALL_SITE};
    int64_t fd = call_one(listener, POLL_READ, &request);
    turn_give(listener, POLL_READ);
    return io_new((int)fd, wait, true, io);
}

/* A thread that is to wait does so in the call; else the descriptor tells when it is connected. */
int io_dial(int port, struct io **io)
{
    bool wait = waits(IO_POLLED);
    *io = NULL;
    if (wait)
        blocking_enter_at(CALL_SITE);
    int fd = machine_fd_dial(port, wait);
    if (wait)
        blocking_exit();
    int error = io_new(fd, wait, true, io);
    if (error || wait)
        return error;
    struct request request = {.call = CALL_DIALLED, .site = CALL_SITE};
    error = (int)call_one(*io, POLL_WRITE, &request);
    if (error) {
        io_free(*io);
        *io = NULL;
    }
    return error;
}

int io_shutdown(struct io *io)
{
    if (!turn_take(io, POLL_WRITE))
        return -EBADF;
    int error = machine_fd_shutdown(io->fd, false);
    turn_give(io, POLL_WRITE);
    return error;
}

/* Under the lock, so that the descriptor does not go meanwhile. */
static int set_deadline(struct io *io, enum poll_side side, int64_t when)
{
    int error = 0;
    struct g *woken = NULL;
    lock_acquire(&io->lock);
    if (is_closed(io))
        error = -EBADF;
    else if (!io->pd)
        error = -ENOTSUP;
    else
        woken = poll_set_deadline(io->pd, side, when);
    lock_release(&io->lock);
    if (woken)
        g_ready(woken);
    return error;
}

int io_set_read_deadline(struct io *io, int64_t when)
{
    return set_deadline(io, POLL_READ, when);
}

int io_set_write_deadline(struct io *io, int64_t when)
{
    return set_deadline(io, POLL_WRITE, when);
}

/* Closing ------------------------------------------------------------------------------------ */

static void turns_refuse(struct g *waiting)
{
    while (waiting) {
        struct g *gp = waiting;
        waiting = gp->link;
        gp->wake_ok = false;
        g_ready(gp);
    }
}

/* The caller itself is a user for as long as it touches pd, so that nobody closes it meanwhile. */
int io_close(struct io *io)
{
    struct g *waiting[2];
    lock_acquire(&io->lock);
    if (is_closed(io)) {
        lock_release(&io->lock);
        return -EBADF;
    }
    atomic_store_explicit(&io->closed, true, memory_order_relaxed);
    for (int side = 0; side < 2; side++)
        waiting[side] = waitq_take(&io->turn[side].head);
    bool interrupt = io->users++ > 0;
    lock_release(&io->lock);
    turns_refuse(waiting[POLL_READ]);
    turns_refuse(waiting[POLL_WRITE]);
    if (io->pd)
        poll_evict(io->pd);
    else if (interrupt && io->socket)
        machine_fd_shutdown(io->fd, true); /* not otherwise: it would end what closing resets */

    struct g *gp = machine_self()->curg;
    lock_acquire(&io->lock);
    bool last = --io->users == 0, freed = last && io->freed;
    bool park = !last && (io->pd || io->socket);
    struct poll_desc *pd = io->pd;
    int fd = io->fd;
    if (park) {
        gp->wait_reason = WAIT_IO_CLOSE;
        gp->wait_on = io;
        io->closer = gp;
    }
    lock_release(&io->lock);
    if (freed)
        go_free(io);
    if (last)
        last_leaves(pd, fd, NULL);
    else if (park)
        g_park();
    return 0;
}

void io_free(struct io *io)
{
    if (!io)
        return;
    io_close(io);
    lock_acquire(&io->lock);
    io->freed = true;
    bool last = io->users == 0;
    lock_release(&io->lock);
    if (last) /* else the last one who is in the kernel frees it */
        go_free(io);
}
