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
 *            panics in that sender, and so does closing while a select waits that has a send on the
 *            channel; (5) a try on an unbuffered channel takes the lock.
 *   Why:     (2) and (3) keep the lock short, and g.h ("off-stack") and waitq.h ("parting") make
 *            them safe; (4) names the culprit; (5) saves an atomic list head.
 *
 * Invariants and order labels: chan.h.
 */
#include "chan.h"
#include "internal.h"

#include <errno.h>

enum { ELEM_SIZE_MAX = 1024 };

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
    machine_name(ch, sizeof *ch, "chan");
    machine_name(ch->ring, capacity * elem_size, "chan.ring");
    ch->elem_size = (uint32_t)elem_size;
    ch->capacity = (uint32_t)capacity;
    ch->end = (uint32_t)(capacity * elem_size);
    return ch;
}

void chan_free(struct chan *ch)
{
    if (!ch)
        return;
    lock_acquire(&ch->lock);
    if (ch->recv_head || ch->send_head)
        fatal("chan_free: a goroutine waits on the channel");
    INVARIANT(chan_is_valid(ch));
    INVARIANT(!chan_has_selects(ch));
    machine_free(ch);
}

size_t chan_len(struct chan *ch)
{
    if (!ch)
        return 0;
    if (__builtin_expect(chan_has_timer(ch), 0)) {
        lock_acquire(&ch->lock);
        chan_timer_look(ch);
        lock_release(&ch->lock);
    }
    /* relaxed: a snapshot orders nothing */
    return atomic_load_explicit(&ch->count, memory_order_relaxed);
}

/* Parks the caller on one of the lists; pre: the lock is held. Returns the waker's answer. */
static bool chan_wait(struct chan *ch, struct g **head, struct g **tail, void *elem,
                      enum wait_reason reason)
{
    struct g *gp = machine_self()->curg;
    INVARIANT(gp);
    gp->wait_reason = (uint8_t)reason;
    gp->wait_on = ch;
    gp->wait_elem = elem;
    gp->wake_ok = true; /* what all wakers but chan_close() would say */
    waitq_push(head, tail, gp);
    INVARIANT(chan_is_valid(ch));
    lock_release(&ch->lock);
    g_park();
    return gp->wake_ok;
}

/* An operation on no channel, as in Go: nobody can ever wake the caller. */
static __attribute__((noinline, cold)) void wait_for_ever(enum wait_reason reason)
{
    struct g *gp = machine_self()->curg;
    gp->wait_reason = (uint8_t)reason;
    gp->wait_on = NULL;
    g_park();
}

/* The three below are for channels with marks: apart, so that plain operations keep the registers
 * that a call in their middle would take. Pre: the lock is held. */
static __attribute__((noinline)) void chan_send_marked(struct chan *ch, const void *elem)
{
    if (!chan_send_now(ch, elem, NULL, true))
        chan_wait(ch, &ch->send_head, &ch->send_tail, (void *)(uintptr_t)elem, WAIT_CHAN_SEND);
}

static __attribute__((noinline)) enum received chan_recv_now_marked(struct chan *ch, void *elem)
{
    if (chan_has_timer(ch))
        chan_timer_look(ch);
    return chan_recv_now(ch, elem, NULL, true);
}

static __attribute__((noinline)) bool chan_recv_marked(struct chan *ch, void *elem)
{
    enum received received = chan_recv_now_marked(ch, elem);
    if (received != RECEIVED_NOTHING)
        return received == RECEIVED_ELEM;
    if (chan_has_timer(ch))
        chan_timer_enter(ch);
    return chan_wait(ch, &ch->recv_head, &ch->recv_tail, elem, WAIT_CHAN_RECV);
}

void chan_send(struct chan *ch, const void *elem)
{
    preempt_point();
    if (__builtin_expect(!ch, 0)) {
        wait_for_ever(WAIT_CHAN_SEND);
        return;
    }
    lock_acquire(&ch->lock);
    if (__builtin_expect(chan_marks(ch) != 0, 0))
        chan_send_marked(ch, elem);
    else if (!chan_send_now(ch, elem, NULL, false))
        chan_wait(ch, &ch->send_head, &ch->send_tail, (void *)(uintptr_t)elem, WAIT_CHAN_SEND);
}

/* Whoever sets a flag and then fails to send a token may rely on it that the receiver of the token
 * which lies there sees the flag; likewise the other way round.
 *
 * Differs: Go looks for a full or an empty ring without the lock first (Go 1.26 runtime/chan.go
 * chansend, chanrecv). Why: its unlock is an exchange, which is a full barrier on x86. Ours is a
 * release, and the other side may read the flag before it is seen to have taken the token. */
bool chan_try_send(struct chan *ch, const void *elem)
{
    if (!ch)
        return false;
    lock_acquire(&ch->lock);
    bool sent = __builtin_expect(chan_marks(ch) != 0, 0) ? chan_send_now(ch, elem, NULL, true)
                                                         : chan_send_now(ch, elem, NULL, false);
    if (!sent)
        lock_release(&ch->lock);
    return sent;
}

bool chan_recv(struct chan *ch, void *elem)
{
    if (__builtin_expect(!ch, 0)) {
        wait_for_ever(WAIT_CHAN_RECV);
        return false;
    }
    lock_acquire(&ch->lock);
    if (__builtin_expect(chan_marks(ch) >= CHAN_TIMER, 0))
        return chan_recv_marked(ch, elem);
    enum received received = chan_recv_now(ch, elem, NULL, false);
    if (received == RECEIVED_NOTHING)
        return chan_wait(ch, &ch->recv_head, &ch->recv_tail, elem, WAIT_CHAN_RECV);
    return received == RECEIVED_ELEM;
}

bool chan_try_recv(struct chan *ch, void *elem, bool *closed)
{
    enum received received = RECEIVED_NOTHING;
    if (ch) {
        lock_acquire(&ch->lock);
        received = __builtin_expect(chan_marks(ch) >= CHAN_TIMER, 0)
                       ? chan_recv_now_marked(ch, elem)
                       : chan_recv_now(ch, elem, NULL, false);
        if (received == RECEIVED_NOTHING)
            lock_release(&ch->lock);
    }
    if (closed)
        *closed = received == RECEIVED_CLOSED;
    return received == RECEIVED_ELEM;
}

/* All receivers, longest waiter first, linked through link. */
static struct g *chan_take_receivers(struct chan *ch)
{
    if (__builtin_expect(!chan_has_selects(ch), 1))
        return waitq_take(&ch->recv_head);
    struct g *head = NULL, *tail = NULL, *gp;
    while ((gp = select_pop(ch, &ch->recv_head)))
        waitq_push(&head, &tail, gp);
    return head;
}

void chan_close(struct chan *ch)
{
    if (!ch)
        fatal("chan_close: there is no channel");
    lock_acquire(&ch->lock);
    if (chan_is_closed(ch))
        fatal("chan_close: the channel is closed already");
    if (select_pop(ch, &ch->send_head))
        fatal("chan_close: a goroutine is sending on the channel");
    chan_mark(ch, CHAN_CLOSED);
    uint32_t size = ch->elem_size;
    struct g *waiting = chan_take_receivers(ch);
    INVARIANT(chan_is_valid(ch));
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
