/* netpoll.h - what io.c knows of the poller: one struct poll_desc per descriptor that is polled.
 *
 * A caller of poll_prepare() or poll_wait() is the only one at that descriptor and direction
 * (io.c's turns), and keeps poll_close() from being called meanwhile. Goroutine stacks.
 */
#ifndef SCHEDLAB_NETPOLL_H
#define SCHEDLAB_NETPOLL_H

#include "g.h"

struct poll_desc;

enum poll_side { POLL_READ, POLL_WRITE };

/* Registers a non-blocking descriptor; the first one of a run makes the poller. -errno; else *pd
 * serves it until poll_close(), which comes before the descriptor is closed. */
int poll_open(struct sched *sched, int fd, struct poll_desc **pd);

/* Pre: poll_evict() was called, and all who had come before it have left. */
void poll_close(struct poll_desc *pd);

/* Before a call is tried for the first time: 0, -EBADF once evicted, -ETIMEDOUT past the deadline.
 * Forgets that the descriptor was ready: what becomes ready from here on is told. */
int poll_prepare(struct poll_desc *pd, enum poll_side side);

/* After a call has said -EAGAIN: parks until the descriptor may be ready. As poll_prepare(), or
 * another error if the poller refuses. */
int poll_wait(struct poll_desc *pd, enum poll_side side);

/* From now on all calls return -EBADF, those that wait too. */
void poll_evict(struct poll_desc *pd);

/* Calls on that side, those that wait too, return -ETIMEDOUT from go_now() == when on, until it is
 * set anew; when 0: never. Returns the G that is to be readied, or NULL. One call at a time for a
 * side; on an M with a P. */
struct g *poll_set_deadline(struct poll_desc *pd, enum poll_side side, int64_t when);

/* The tag that the registration's events carry. netpoll_event() does what netpoll() does with one
 * event of `what` (MACHINE_READ, MACHINE_WRITE), and returns a list as that one does. For tests:
 * events can be late. */
uint64_t poll_tag(struct poll_desc *pd);
struct g *netpoll_event(struct sched *sched, uint64_t tag, int what);

#endif
