/* io.h - descriptors for goroutines: loopback TCP, pipes, eventfds, regular files.
 *
 * A call is tried first. Where it would wait, the caller parks until the poller finds the
 * descriptor ready; its worker runs others meanwhile. Some descriptors have no poller: regular
 * files, pipes and eventfds made with IO_BLOCKING, all with netpoll=call and where each goroutine
 * is a thread. Calls on these wait in the kernel, between blocking_enter() and blocking_exit().
 *
 * Any number of goroutines may use a descriptor at once. They take turns at reading and at writing,
 * first come, first served: one is in the call, the others are parked.
 *
 * Results are -errno where the environment refuses or fails, among others:
 *   -EMFILE      the process may open no more descriptors
 *   -ECONNRESET  the peer has reset the connection; -EPIPE: nobody reads what is written
 *   -ETIMEDOUT   the deadline has passed
 *   -EBADF       io_close() was called, before this call or while it waited
 *
 * All functions: goroutine stacks, not between spawn and sync (forkjoin.h). Source: Go 1.26
 * internal/poll.
 */
#ifndef SCHEDLAB_IO_H
#define SCHEDLAB_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct io;

enum io_flags {
    IO_POLLED = 0,
    IO_BLOCKING = 1, /* without the poller */
};

/* Each makes a descriptor and hands it over in *io; 0 or -errno. io_free() takes it back. */
int io_listen(struct io **io); /* TCP on 127.0.0.1, a free port */
int io_accept(struct io *listener, struct io **io);
int io_dial(int port, struct io **io);
int io_pipe(struct io **reader, struct io **writer, enum io_flags flags);
int io_eventfd(struct io **io, enum io_flags flags);
int io_open(const char *path, struct io **io);   /* to read a file */
int io_create(const char *path, struct io **io); /* to write a file, which is emptied or made */

/* The port of a listener. */
int io_port(const struct io *listener);

/* Reads up to size bytes: how many, 0 at the end. */
int64_t io_read(struct io *io, void *buffer, size_t size);

/* Reads size bytes in one turn: fewer only at the end. After an error what was read is lost. */
int64_t io_read_full(struct io *io, void *buffer, size_t size);

/* Writes up to size bytes, how many; or all, in one turn: size. */
int64_t io_write(struct io *io, const void *data, size_t size);
int64_t io_write_all(struct io *io, const void *data, size_t size);

/* TCP: the peer sees the end after what was written; reading goes on. */
int io_shutdown(struct io *io);

/* Calls that wait for io, and later ones, return -ETIMEDOUT from go_now() == when on; 0: never.
 * -ENOTSUP for descriptors without the poller. Until it is set anew. */
int io_set_read_deadline(struct io *io, int64_t when);
int io_set_write_deadline(struct io *io, int64_t when);

/* Closes: all calls return -EBADF from now on, also those that are parked. The descriptor is gone
 * when this returns. Only pipes, eventfds and files without the poller wait for the calls that are
 * in the kernel: these come back by themselves and keep their results, and then the descriptor
 * goes. -EBADF if it is closed already. */
int io_close(struct io *io);

/* Closes io if need be, and frees it: nobody may call anything with it any more, except those who
 * are in a call now. NULL does nothing. */
void io_free(struct io *io);

#endif
