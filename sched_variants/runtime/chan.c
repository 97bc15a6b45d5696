/* chan.c - channels: a FIFO of fixed-size elements between goroutines.
 *
 * Called on goroutine stacks; chan_make(), chan_free() and chan_len() on any stack.
 *
 * Source: Go 1.26 runtime/chan.go makechan, chansend, send, chanrecv, recv, closechan, full, empty.
 *   Same:    one lock, a ring, FIFO lists of receivers and senders. A sender hands its element to
 *            the longest waiting receiver directly; a receiver that finds the ring full takes its
 *            head and puts the longest waiting sender's element into the freed place. close
 *            readies receivers newest first, so that the longest waiter is readied last and
 *            lies in runnext. A try on a ring that is empty or full fails without the lock.
 *   Differs: (1) the waiting G is the list node, see waitq.h; (2) the lock is released before the
 *            park, not after it; (3) an element that goes from G to G is copied after the lock is
 *            released; (4) closing while a sender waits ends the process in chan_close(), where Go
 *            panics in that sender; (5) a try on an unbuffered channel takes the lock.
 *   Why:     (2) and (3) keep the lock short, and g.h ("off-stack") and waitq.h ("parting") make
 *            them safe; (4) names the culprit; (5) saves an atomic list head.
 *
 * Invariants, while the lock is free
 *   0 <= count <= capacity;  end = capacity * elem_size
 *   send_at = (recv_at + count * elem_size) mod end
 *   receivers wait  =>  count = 0, no sender waits, not closed
 *   senders wait    =>  count = capacity, no receiver waits, not closed
 *
 * Order labels, beside those of the lock:
 *   C1  chan_recv_now(): release store of count   pairs with   C2  chan_try_recv(): acquire load of
 *       count (a ring that was drained after it was closed is not taken for empty and open)
 */
#include "waitq.h"

#include <errno.h>
#include <string.h>

enum { ELEM_SIZE_MAX = 1024 };

struct chan {
    lock_t lock;

    /* constant */
    uint32_t elem_size;
    uint32_t capacity;
    uint32_t end; /* size of the ring in bytes */

    /* protected by lock; count and closed are also read without it */
    uint32_t send_at; /* places in the ring, as byte offsets: no multiplication, no division */
    uint32_t recv_at;
    _Atomic uint32_t count;          /* elements in the ring */
    _Atomic uint32_t closed;         /* 0 or 1, never back to 0 */
    struct g *recv_head, *recv_tail; /* waiting receivers */
    struct g *send_head, *send_tail; /* waiting senders */

    unsigned char ring[];
};

/* Everything that an operation touches beside the element is one line. */
_Static_assert(sizeof(struct chan) == 64, "struct chan fills one cache line");

struct chan *chan_make(size_t elem_size, size_t capacity)
{
    if (elem_size < 1 || elem_size > ELEM_SIZE_MAX)
        fatal("chan_make: element size %zu; valid are 1 to %d bytes", elem_size, ELEM_SIZE_MAX);
    if (capacity > UINT32_MAX / elem_size)
        fatal("chan_make: %zu elements of %zu bytes; a channel holds less than 4 GiB", capacity,
              elem_size);
    struct chan *ch = machine_alloc(sizeof *ch + capacity * elem_size, 64);
    if (!ch)
        fatal_env(ENOMEM, "no memory for a channel of %zu elements of %zu bytes", capacity,
                  elem_size);
    memset(ch, 0, sizeof *ch);
    ch->elem_size = (uint32_t)elem_size;
    ch->capacity = (uint32_t)capacity;
    ch->end = (uint32_t)(capacity * elem_size);
    return ch;
}

void chan_free(struct chan *ch)
{
    lock_acquire(&ch->lock);
    if (ch->recv_head || ch->send_head)
        fatal("chan_free: a goroutine waits on the channel");
    machine_free(ch);
}

size_t chan_len(struct chan *ch)
{
    /* relaxed: a snapshot orders nothing */
    return atomic_load_explicit(&ch->count, memory_order_relaxed);
}

/* The usual sizes become one or two moves. */
static inline void elem_copy(void *to, const void *from, uint32_t size)
{
    if (size == 8)
        memcpy(to, from, 8);
    else if (size == 4)
        memcpy(to, from, 4);
    else if (size == 16)
        memcpy(to, from, 16);
    else
        memcpy(to, from, size);
}

static inline uint32_t ring_next(const struct chan *ch, uint32_t at)
{
    at += ch->elem_size;
    return at == ch->end ? 0 : at;
}

/* Relaxed: only holders of the lock write count. */
static inline uint32_t count_locked(struct chan *ch)
{
    return atomic_load_explicit(&ch->count, memory_order_relaxed);
}

/* Relaxed: written once, under the lock. */
static inline bool closed_locked(struct chan *ch)
{
    return atomic_load_explicit(&ch->closed, memory_order_relaxed);
}

/* Parks the caller on one of the lists; pre: the lock is held. Returns the waker's answer. */
static bool chan_wait(struct chan *ch, struct g **head, struct g **tail, void *elem,
                      enum wait_reason reason)
{
    struct g *gp = machine_self()->curg;
    gp->wait_reason = (uint8_t)reason;
    gp->wait_on = ch;
    gp->wait_elem = elem;
    gp->wake_ok = true; /* what all wakers but chan_close() would say */
    waitq_push(head, tail, gp);
    lock_release(&ch->lock);
    g_park();
    return gp->wake_ok;
}

/* Sends if that needs no waiting. The lock is held on entry; released if true is returned. */
static inline __attribute__((always_inline)) bool chan_send_now(struct chan *ch, const void *elem)
{
    if (__builtin_expect(closed_locked(ch), 0))
        fatal("chan_send: the channel is closed");
    uint32_t size = ch->elem_size;
    struct g *receiver = waitq_pop(&ch->recv_head);
    if (receiver) {
        lock_release(&ch->lock);
        if (receiver->wait_elem)
            elem_copy(receiver->wait_elem, elem, size);
        g_ready(receiver);
        return true;
    }
    uint32_t count = count_locked(ch);
    if (count == ch->capacity)
        return false;
    elem_copy(ch->ring + ch->send_at, elem, size);
    ch->send_at = ring_next(ch, ch->send_at);
    /* relaxed: a try that sees it early waits for the lock */
    atomic_store_explicit(&ch->count, count + 1, memory_order_relaxed);
    lock_release(&ch->lock);
    return true;
}

void chan_send(struct chan *ch, const void *elem)
{
    lock_acquire(&ch->lock);
    if (!chan_send_now(ch, elem))
        chan_wait(ch, &ch->send_head, &ch->send_tail, (void *)(uintptr_t)elem, WAIT_CHAN_SEND);
}

bool chan_try_send(struct chan *ch, const void *elem)
{
    /* relaxed: sends fill the ring only while the channel is open, so whoever sees a full ring
     * sees a moment at which it was full and open, in whatever order the two are loaded */
    if (ch->capacity > 0 &&
        atomic_load_explicit(&ch->count, memory_order_relaxed) == ch->capacity &&
        !atomic_load_explicit(&ch->closed, memory_order_relaxed))
        return false;
    lock_acquire(&ch->lock);
    bool sent = chan_send_now(ch, elem);
    if (!sent)
        lock_release(&ch->lock);
    return sent;
}

enum received { RECEIVED_NOTHING, RECEIVED_ELEM, RECEIVED_CLOSED };

/* Takes the head of the ring; a waiting sender's element goes into its place. pre: count > 0. */
static inline void ring_take(struct chan *ch, void *elem, uint32_t count)
{
    uint32_t size = ch->elem_size;
    unsigned char *place = ch->ring + ch->recv_at;
    if (elem)
        elem_copy(elem, place, size);
    ch->recv_at = ring_next(ch, ch->recv_at);
    struct g *sender = waitq_pop(&ch->send_head);
    if (__builtin_expect(sender != NULL, 0)) {
        elem_copy(place, sender->wait_elem, size);
        ch->send_at = ch->recv_at;
        lock_release(&ch->lock);
        g_ready(sender);
        return;
    }
    atomic_store_explicit(&ch->count, count - 1, memory_order_release); /* C1 */
    lock_release(&ch->lock);
}

/* Receives if that needs no waiting. The lock is held on entry, and afterwards if RECEIVED_NOTHING
 * is returned. */
static inline __attribute__((always_inline)) enum received chan_recv_now(struct chan *ch,
                                                                         void *elem)
{
    uint32_t count = count_locked(ch);
    if (count > 0) {
        ring_take(ch, elem, count);
        return RECEIVED_ELEM;
    }
    uint32_t size = ch->elem_size;
    struct g *sender = waitq_pop(&ch->send_head);
    if (sender) {
        lock_release(&ch->lock);
        if (elem)
            elem_copy(elem, sender->wait_elem, size);
        g_ready(sender);
        return RECEIVED_ELEM;
    }
    if (!closed_locked(ch))
        return RECEIVED_NOTHING;
    lock_release(&ch->lock);
    if (elem)
        memset(elem, 0, size);
    return RECEIVED_CLOSED;
}

bool chan_recv(struct chan *ch, void *elem)
{
    lock_acquire(&ch->lock);
    enum received received = chan_recv_now(ch, elem);
    if (received == RECEIVED_NOTHING)
        return chan_wait(ch, &ch->recv_head, &ch->recv_tail, elem, WAIT_CHAN_RECV);
    return received == RECEIVED_ELEM;
}

bool chan_try_recv(struct chan *ch, void *elem, bool *closed)
{
    enum received received = RECEIVED_NOTHING;
    /* Empty first, closed second: it is never opened again, so it was open when it was empty. */
    if (ch->capacity == 0 || atomic_load_explicit(&ch->count, memory_order_acquire) > 0 || /* C2 */
        atomic_load_explicit(&ch->closed, memory_order_relaxed)) {
        lock_acquire(&ch->lock);
        received = chan_recv_now(ch, elem);
        if (received == RECEIVED_NOTHING)
            lock_release(&ch->lock);
    }
    if (closed)
        *closed = received == RECEIVED_CLOSED;
    return received == RECEIVED_ELEM;
}

void chan_close(struct chan *ch)
{
    lock_acquire(&ch->lock);
    if (closed_locked(ch))
        fatal("chan_close: the channel is closed already");
    if (ch->send_head)
        fatal("chan_close: a goroutine is sending on the channel");
    atomic_store_explicit(&ch->closed, 1, memory_order_relaxed); /* the lock publishes it, and C1 */
    uint32_t size = ch->elem_size;
    struct g *waiting = waitq_take(&ch->recv_head);
    lock_release(&ch->lock);

    struct g *stack = NULL;
    while (waiting) {
        struct g *gp = waiting;
        waiting = gp->link;
        gp->wake_ok = false;
        if (gp->wait_elem)
            memset(gp->wait_elem, 0, size);
        gp->link = stack;
        stack = gp;
    }
    waitq_ready(stack);
}
