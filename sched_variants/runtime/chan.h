/* chan.h - what a channel is, and its operations for who holds its lock: chan.c and select.c.
 *
 * Invariants, while the lock is free
 *   0 <= count <= capacity;  end = capacity * elem_size
 *   send_at = (recv_at + count * elem_size) mod end
 *   receivers wait  =>  count = 0, no sender of another G waits, not closed
 *   senders wait    =>  count = capacity, no receiver of another G waits, not closed
 *   selects = marks / CHAN_SELECT = how many on both lists are proxies of selects (select.c)
 *   CHAN_TIMER: a timer sends on it; while armed, it is in a heap if receivers wait (gotimer.c)
 *
 * A proxy whose select has gone ahead with another case waits no longer. It stays on the list until
 * somebody comes across it.
 *
 * All orders are those of the lock.
 */
#ifndef SCHEDLAB_CHAN_H
#define SCHEDLAB_CHAN_H

#include "waitq.h"

#include <string.h>

/* CHAN_CLOSED is never taken back; CHAN_TIMER is constant. */
enum { CHAN_CLOSED = 1, CHAN_TIMER = 2, CHAN_SELECT = 4 };

struct chan {
    lock_t lock;

    /* constant */
    uint32_t elem_size;
    uint32_t capacity;
    uint32_t end; /* size of the ring in bytes */

    /* protected by lock; count and marks are also read without it */
    uint32_t send_at; /* places in the ring, as byte offsets: no multiplication, no division */
    uint32_t recv_at;
    _Atomic uint32_t count;          /* elements in the ring */
    _Atomic uint32_t marks;          /* CHAN_CLOSED, _TIMER, selects * _SELECT; usually 0 */
    struct g *recv_head, *recv_tail; /* waiting receivers */
    struct g *send_head, *send_tail; /* waiting senders */

    unsigned char ring[];
};

/* Everything that an operation touches beside the element is one line. */
_Static_assert(sizeof(struct chan) == 64, "struct chan fills one cache line");

/* A select that holds the locks of its channels; NULL: an operation on one channel. */
struct select;

/* select.c: chan_pop() where proxies are on the lists, and the locks of a select. */
struct g *select_pop(struct chan *ch, struct g **head);
void select_unlock(const struct select *select);

/* gotimer.c, for channels with CHAN_TIMER. Pre: the channel's lock; they take that of a heap under
 * it. look() comes before a receive, and puts a time that has come into the ring. enter() comes
 * before a receiver waits, on an M with a P. leave() comes after one has left the list of those
 * that wait. */
void chan_timer_look(struct chan *ch);
void chan_timer_enter(struct chan *ch);
void chan_timer_leave(struct chan *ch);

/* Relaxed: written under the lock only. */
static inline uint32_t chan_marks(struct chan *ch)
{
    return atomic_load_explicit(&ch->marks, memory_order_relaxed);
}

static inline bool chan_is_closed(struct chan *ch)
{
    return chan_marks(ch) & CHAN_CLOSED;
}

static inline bool chan_has_timer(struct chan *ch)
{
    return chan_marks(ch) & CHAN_TIMER;
}

/* Pre: the lock. */
static inline bool chan_has_selects(struct chan *ch)
{
    return chan_marks(ch) >= CHAN_SELECT;
}

static inline void chan_mark(struct chan *ch, uint32_t add)
{
    INVARIANT(lock_is_held(&ch->lock));
    /* relaxed: the lock publishes it */
    atomic_store_explicit(&ch->marks, chan_marks(ch) + add, memory_order_relaxed);
}

/* Pre: the lock. */
static inline bool chan_is_valid(struct chan *ch)
{
    uint32_t count = atomic_load_explicit(&ch->count, memory_order_relaxed);
    uint64_t filled = (uint64_t)count * ch->elem_size;
    bool proxies = chan_has_selects(ch);
    return HOLDS(count <= ch->capacity) &&
           HOLDS((uint64_t)ch->capacity * ch->elem_size == ch->end) &&
           HOLDS(ch->recv_at < ch->end || ch->end == 0) &&
           HOLDS(ch->end == 0 ? ch->send_at == 0
                              : (ch->recv_at + filled) % ch->end == ch->send_at) &&
           HOLDS(proxies || !ch->recv_head || (count == 0 && !chan_is_closed(ch))) &&
           HOLDS(proxies || !ch->send_head || (count == ch->capacity && !chan_is_closed(ch))) &&
           HOLDS(proxies || !ch->recv_head || !ch->send_head) &&
           waitq_is_valid(ch->recv_head, ch->recv_tail) &&
           waitq_is_valid(ch->send_head, ch->send_tail);
}

/* Takes the longest waiter off the list, for the caller to answer and to ready; NULL if nobody
 * waits. The caller answers by wait_elem and wake_ok. `selects`, here and below: proxies may be on
 * the lists. Always a constant: what it rules out leaves no trace in the code. */
static inline struct g *chan_pop(struct chan *ch, struct g **head, bool selects)
{
    INVARIANT(selects || !chan_has_selects(ch));
    return selects ? select_pop(ch, head) : waitq_pop(head);
}

static inline void chan_unlock(struct chan *ch, const struct select *select)
{
    INVARIANT(chan_is_valid(ch));
    if (select)
        select_unlock(select);
    else
        lock_release(&ch->lock);
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

/* Sends if that needs no waiting. The lock, or all of the select's, is held on entry; released if
 * true is returned. Without `selects` the channel has no marks at all. */
static inline __attribute__((always_inline)) bool
chan_send_now(struct chan *ch, const void *elem, const struct select *select, bool selects)
{
    if (selects && chan_is_closed(ch))
        fatal("%s: the channel is closed", select ? "chan_select: sending" : "chan_send");
    uint32_t size = ch->elem_size;
    INVARIANT(elem);
    INVARIANT(lock_is_held(&ch->lock));
    struct g *receiver = chan_pop(ch, &ch->recv_head, selects);
    if (receiver) {
        chan_unlock(ch, select);
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
    chan_unlock(ch, select);
    return true;
}

enum received { RECEIVED_NOTHING, RECEIVED_ELEM, RECEIVED_CLOSED };

/* Takes the head of the ring; a waiting sender's element goes into its place. pre: count > 0. */
static inline __attribute__((always_inline)) void
ring_take(struct chan *ch, void *elem, uint32_t count, const struct select *select, bool selects)
{
    uint32_t size = ch->elem_size;
    unsigned char *place = ch->ring + ch->recv_at;
    INVARIANT(count <= ch->capacity);
    if (elem)
        elem_copy(elem, place, size);
    ch->recv_at = ring_next(ch, ch->recv_at);
    struct g *sender = chan_pop(ch, &ch->send_head, selects);
    if (__builtin_expect(sender != NULL, 0)) {
        elem_copy(place, sender->wait_elem, size);
        ch->send_at = ch->recv_at;
        chan_unlock(ch, select);
        g_ready(sender);
        return;
    }
    atomic_store_explicit(&ch->count, count - 1, memory_order_relaxed);
    chan_unlock(ch, select);
}

/* Receives if that needs no waiting. The lock, or all of the select's, is held on entry, and
 * afterwards if RECEIVED_NOTHING is returned. */
static inline __attribute__((always_inline)) enum received
chan_recv_now(struct chan *ch, void *elem, const struct select *select, bool selects)
{
    uint32_t count = count_locked(ch);
    INVARIANT(lock_is_held(&ch->lock));
    if (count > 0) {
        ring_take(ch, elem, count, select, selects);
        return RECEIVED_ELEM;
    }
    uint32_t size = ch->elem_size;
    struct g *sender = chan_pop(ch, &ch->send_head, selects);
    if (sender) {
        chan_unlock(ch, select);
        if (elem)
            elem_copy(elem, sender->wait_elem, size);
        g_ready(sender);
        return RECEIVED_ELEM;
    }
    if (!chan_is_closed(ch))
        return RECEIVED_NOTHING;
    chan_unlock(ch, select);
    if (elem)
        memset(elem, 0, size);
    return RECEIVED_CLOSED;
}

#endif
