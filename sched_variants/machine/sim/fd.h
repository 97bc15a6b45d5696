/* fd.h - descriptors of the simulated machine, to each other.
 *
 *   fd.c      the table of descriptors; the calls that all of them have, and how a call waits
 *   pipe.c    pipes and eventfds
 *   socket.c  TCP on the loopback interface
 *   file.c    files
 *   poll.c    pollers
 *
 * Linux is the model: each file says which part of it, and what differs. An operation below never
 * waits: it does what can be done now, or answers -EAGAIN, and fd.c sleeps and asks again. (Files
 * do wait: for their device.) The user's buffer is reported to the caches, line by line; the
 * kernel's own memory is not, so that a descriptor costs what model.h says and no more.
 *
 * Whoever looks into a descriptor across sim_spend(), sim_touch() or sim_queue_wait() holds a
 * reference, because another thread may close it meanwhile. A descriptor ends with its last one,
 * as under Linux: a closed one on which a thread waits in the kernel lives until that call is
 * through.
 */
#ifndef SCHEDLAB_SIM_FD_H
#define SCHEDLAB_SIM_FD_H

#include "sim.h"

#include <limits.h>

/* Source: Linux include/uapi/linux/eventpoll.h, EPOLLIN and so on. */
enum {
    FD_IN = 1,
    FD_OUT = 2,
    FD_RDHUP = 4, /* the peer sends no more */
    FD_HUP = 8,   /* both directions have ended */
    FD_ERR = 16,
    FD_ALL = FD_IN | FD_OUT | FD_RDHUP | FD_HUP | FD_ERR
};

enum { FD_FIRST = 3 /* below: the standard streams, which only machine_print() writes to */ };

struct fd;
struct fd_registration;

/* The operations of a kind of descriptor. Optional ones may be NULL. */
struct fd_ops {
    /* Bytes, 0 at the end, -EAGAIN, or another error. NULL: -EBADF. */
    int64_t (*read)(struct fd *fd, void *buffer, size_t size);
    /* size is what room() said, or all if that was 0. Not first: the call has written something,
     * so an error that is told once is kept for the next one. NULL: -EBADF. */
    int64_t (*write)(struct fd *fd, const void *data, size_t size, bool first);
    /* How many of size bytes a write would take now. With write. */
    size_t (*room)(const struct fd *fd, size_t size);
    /* A set of FD_*. NULL: no poller takes it. */
    int (*state)(struct fd *fd);
    /* After the last reference: frees what contains fd. Required. */
    void (*release)(struct fd *fd);
};

struct fd {
    const struct fd_ops *ops;
    int references;
    bool wait;
    struct sim_queue readers, writers; /* threads that wait in the kernel */
    TAILQ_HEAD(, fd_registration) registrations;
};

/* Fills *fd in, with the one reference of its number. */
void fd_init(struct fd *fd, const struct fd_ops *ops, bool wait);

/* The lowest free number, which nobody can use yet; -EMFILE. */
int fd_reserve(void);
void fd_install(int number, struct fd *fd);
void fd_unreserve(int number);

/* The descriptor of a number, with a reference for the caller; NULL: there is none. */
struct fd *fd_get(int number);
void fd_put(struct fd *fd);

/* Takes a call's price, and a reference to number's descriptor. NULL: there is none. */
struct fd *fd_call(int number);

/* Ends it: the price of those that were woken, and the reference. Returns result. */
int64_t fd_return(struct fd *fd, int64_t result);

/* The states `what` (FD_*) may have come: tells the pollers, and wakes up to n of the threads that
 * wait to read, and to write. From calls and from events alike. */
void fd_tell(struct fd *fd, int what, int n);

/* Wakes n that wait in queue; whose call it is pays for them before it goes on. */
void fd_wake(struct sim_queue *queue, int n);

/* The price of those who were woken, for the current thread; none if an event woke them. */
void fd_pay(void);
void fd_free_of_charge(void); /* at the end of each event */

/* For a call that cannot go on. True when it shall try again: after sleeping in queue or, every
 * other time, after the price of going to sleep, during which things may have changed. *slept:
 * false at first. */
bool fd_sleep(struct sim_queue *queue, bool *slept);

/* poll.c */
void poll_tell(struct fd *fd, int what);
void poll_forget(struct fd *fd); /* the descriptor ends */

/* Zeroed, of the host; ends the process if there is none. */
void *fd_alloc(size_t size);

/* The structure that a member lies in. */
#define FD_CONTAINER(pointer, type, member)                                                        \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
