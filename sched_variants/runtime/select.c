/* select.c - select: one of several sends and receives, whichever can go ahead first.
 *
 * Called on goroutine stacks.
 *
 * Source: Go 1.26 runtime/select.go selectgo, sellock, selunlock; runtime/chan.go dequeue.
 *   Same:    cases are looked at in a random order (Fisher-Yates), channels are locked in the order
 *            of their addresses, each once. Pass 1 looks for a case that can go ahead; pass 2
 *            queues on all channels and parks; pass 3 leaves the lists of those that lost. One
 *            waker wins by a CAS. At most 65,536 cases.
 *   Differs: (1) pass 3 takes one channel's lock at a time, and none where only the winner was
 *            queued; (2) Go's compiler makes a select of one case the plain operation, here the
 *            call does; (3) the CAS stores who won, beside that somebody did.
 *   Why:     (1) nothing has to be true of all channels at once any more; (3) saves a field.
 *
 * Proxies. A G waits for one object, and is the node of that object's list (waitq.h). A select
 * waits for many, so it queues a proxy for each case: a struct g whose first line alone is in use.
 *   link, wait_elem            as of any G on a list
 *   wait_reason == WAIT_SELECT tells it from a G: nothing else on a channel's list has it
 *   wait_on                    the struct select
 *   sp                         back link: the word that points to it, the link before it or the
 *                              list's head; NULL once it is off the list
 * Wakers take proxies off the head as they take Gs. A waker that takes one off asks for its select
 * by a CAS of `winner`, under the channel's lock. If that succeeds, the waker answers and readies
 * the select's G like any other G, with the proxy's wait_elem; so only the pop knows of proxies. If
 * it fails, the select goes ahead elsewhere: the waker drops the proxy and asks the next one.
 *
 * The back links make leaving cost the same however many wait on the channel. Only proxies have
 * them: they are set where a proxy is pushed or becomes head. Operations on a channel test for
 * proxies by a word of its one line, which also tells a send that the channel is closed. Without
 * proxies the code is that of a channel without select.
 *   Rejected: back links in all Gs (a second line of the G for each park); losers that stay on the
 *   lists until a waker comes across them (they lie on the stack of a G that has gone on, and a
 *   channel on which nobody ever sends would collect them).
 *
 * Parting (waitq.h), for a proxy, which lies on the stack of the G that is woken, or on its heap:
 *   - a proxy is read and written under the lock of its channel, by who finds it on the list;
 *   - the winner's was taken off before `winner` was set, and its taker does not look at it after
 *     it has released the lock; what he needs he has copied into the G, which nobody else can reach
 *     once the CAS has failed for all others;
 *   - a loser's is taken off by a waker, which is done with it, and with the select, when it
 *     releases the lock; or by pass 3, under the same lock. So once pass 3 has had each lock of
 *     more than the winner, no list leads to the stack, and no waker is still on the way.
 * Pass 3 does not touch the winner's channel, unless it is in a second case. So that channel may be
 * freed after the hand-over, as with a plain receiver. It does touch those of the losers.
 *
 * Order. `winner` decides and hands nothing over, so its CAS is relaxed. The lock under which its
 * proxies were queued makes the select's fields visible to wakers. g_ready() makes the answer
 * visible to the select.
 *
 * Two selects cannot wait for each other's locks, because all take them in one order. Between
 * pass 1 and pass 2 the locks stay held, so nothing becomes ready unseen.
 */
#include "chan.h"
#include "sched.h"

#include <errno.h>

/* Up to so many cases need no memory beside the stack, 1 KiB of it. */
enum { SELECT_INLINE = 8 };

struct select {
    const struct select_case *cases;
    uint16_t *poll_order, *lock_order; /* indices of cases; those of NULL channels are left out */
    uint32_t count;                    /* of them */
    struct g *gp;
    struct g *proxies;          /* in lock order */
    _Atomic(struct g *) winner; /* the proxy whose case goes ahead; NULL: not decided */
};

_Static_assert(offsetof(struct g, wait_reason) < 64 && offsetof(struct g, link) < 64,
               "a proxy takes one cache line of its 128 bytes");

/* Memory for the orders and the proxies. */
struct select_room {
    _Alignas(64) struct g proxies[SELECT_INLINE];
    uint16_t orders[2 * SELECT_INLINE];
};

static inline const struct select_case *select_locked_case(const struct select *select, uint32_t i)
{
    return &select->cases[select->lock_order[i]];
}

/* Pre: all locks. */
static bool select_is_valid(const struct select *select)
{
    const struct chan *last = NULL;
    uint32_t apart = 0;
    if (!HOLDS(select->count <= SELECT_CASES_MAX))
        return false;
    for (uint32_t i = 0; i < select->count; i++) {
        const struct chan *ch = select_locked_case(select, i)->ch;
        if (!HOLDS(ch && (uintptr_t)last <= (uintptr_t)ch) || !HOLDS(lock_is_held(&ch->lock)))
            return false;
        apart += (uint32_t)select->poll_order[i] - select->lock_order[i];
        last = ch;
    }
    return HOLDS(apart == 0); /* both orders are of the same cases */
}

/* From pass 2 to pass 3, on the list or off. Pre: the lock of the channel of case i, in lock
 * order. */
static bool select_proxy_is_valid(const struct select *select, uint32_t i)
{
    const struct g *proxy = &select->proxies[i];
    return HOLDS(proxy->wait_reason == WAIT_SELECT) && HOLDS(proxy->wait_on == select) &&
           HOLDS(proxy->wait_elem == select_locked_case(select, i)->elem);
}

/* Locks -------------------------------------------------------------------------------------- */

static void select_lock(const struct select *select)
{
    struct chan *last = NULL;
    for (uint32_t i = 0; i < select->count; i++) {
        struct chan *ch = select_locked_case(select, i)->ch;
        if (ch != last)
            lock_acquire(&ch->lock);
        last = ch;
    }
}

/* The select itself is still there when the last lock is free, even if it has been won by then: its
 * G cannot run before its M has left the stack (g.h, "off-stack"). */
void select_unlock(const struct select *select)
{
    struct chan *last = NULL;
    INVARIANT(select_is_valid(select));
    for (uint32_t i = select->count; i-- > 0;) {
        struct chan *ch = select_locked_case(select, i)->ch;
        INVARIANT(ch == last || chan_is_valid(ch));
        if (ch != last)
            lock_release(&ch->lock);
        last = ch;
    }
}

/* Lists -------------------------------------------------------------------------------------- */

static inline bool is_proxy(const struct g *gp)
{
    return gp->wait_reason == WAIT_SELECT;
}

/* Pre: the channel's lock. Relinks what follows a proxy or a head that has left. */
static void list_close_gap(struct g **back, struct g *next)
{
    *back = next;
    if (next && is_proxy(next))
        next->sp = (void *)back;
}

static void list_push(struct g **head, struct g **tail, struct g *proxy)
{
    proxy->sp = (void *)(*head ? &(*tail)->link : head);
    waitq_push(head, tail, proxy);
}

static void list_remove(struct g **head, struct g **tail, struct g *proxy)
{
    struct g **back = proxy->sp;
    INVARIANT(*head);
    INVARIANT(*back == proxy);
    if (*tail == proxy && back != head)
        *tail = (struct g *)((char *)back - offsetof(struct g, link));
    list_close_gap(back, proxy->link);
}

struct g *select_pop(struct chan *ch, struct g **head)
{
    struct g *gp;
    while ((gp = *head)) {
        list_close_gap(head, gp->link);
        if (!is_proxy(gp))
            return gp;
        gp->sp = NULL;
        INVARIANT(chan_has_selects(ch));
        chan_mark(ch, -(uint32_t)CHAN_SELECT);
        struct select *select = gp->wait_on;
        struct g *undecided = NULL;
        /* relaxed: see above, "order" */
        if (atomic_compare_exchange_strong_explicit(&select->winner, &undecided, gp,
                                                    memory_order_relaxed, memory_order_relaxed)) {
            INVARIANT(select->gp->wait_reason == WAIT_SELECT);
            select->gp->wait_elem = gp->wait_elem;
            return select->gp;
        }
    }
    return NULL;
}

static void select_enqueue(struct select *select, uint32_t i)
{
    const struct select_case *this_case = select_locked_case(select, i);
    struct chan *ch = this_case->ch;
    struct g *proxy = &select->proxies[i];
    proxy->wait_reason = WAIT_SELECT;
    proxy->wait_on = select;
    proxy->wait_elem = this_case->elem;
    if (this_case->op == SELECT_SEND)
        list_push(&ch->send_head, &ch->send_tail, proxy);
    else
        list_push(&ch->recv_head, &ch->recv_tail, proxy);
    chan_mark(ch, CHAN_SELECT);
    if (chan_has_timer(ch))
        chan_timer_enter(ch);
}

/* Pre: the channel's lock. */
static void select_dequeue(struct select *select, uint32_t i)
{
    const struct select_case *this_case = select_locked_case(select, i);
    struct chan *ch = this_case->ch;
    struct g *proxy = &select->proxies[i];
    INVARIANT(select_proxy_is_valid(select, i));
    if (!proxy->sp)
        return; /* a waker took it off, for nothing or as the winner */
    if (this_case->op == SELECT_SEND)
        list_remove(&ch->send_head, &ch->send_tail, proxy);
    else
        list_remove(&ch->recv_head, &ch->recv_tail, proxy);
    INVARIANT(chan_has_selects(ch));
    chan_mark(ch, -(uint32_t)CHAN_SELECT);
    if (chan_has_timer(ch))
        chan_timer_leave(ch);
}

/* Orders ------------------------------------------------------------------------------------- */

/* A random permutation of the cases that have a channel. */
static void select_shuffle(struct select *select, size_t count)
{
    struct m *m = machine_self();
    uint16_t *order = select->poll_order;
    for (size_t i = 0; i < count; i++) {
        if (!select->cases[i].ch)
            continue;
        uint64_t places = ++select->count;
        size_t at = (size_t)(((m_random(m) >> 32) * places) >> 32);
        order[places - 1] = order[at];
        order[at] = (uint16_t)i;
    }
}

static void select_sift(const struct select *select, uint32_t root, uint32_t count)
{
    uint16_t *order = select->lock_order;
    const struct select_case *cases = select->cases;
    uint16_t moving = order[root];
    for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count &&
            (uintptr_t)cases[order[child]].ch < (uintptr_t)cases[order[child + 1]].ch)
            child++;
        if ((uintptr_t)cases[order[child]].ch <= (uintptr_t)cases[moving].ch)
            break;
        order[root] = order[child];
    }
    order[root] = moving;
}

/* Sorts by address: a heap sort needs no memory and has no bad case. */
static void select_sort(struct select *select)
{
    uint16_t *order = select->lock_order;
    for (uint32_t i = 0; i < select->count; i++)
        order[i] = select->poll_order[i];
    for (uint32_t i = select->count / 2; i-- > 0;)
        select_sift(select, i, select->count);
    for (uint32_t end = select->count; end > 1; end--) {
        uint16_t largest = order[0];
        order[0] = order[end - 1];
        order[end - 1] = largest;
        select_sift(select, 0, end - 1);
    }
}

/* The passes --------------------------------------------------------------------------------- */

/* Pass 1. Pre: all locks. The index of the case that went ahead, all locks released then; or
 * SELECT_NONE. */
static int select_look(const struct select *select, bool *ok)
{
    for (uint32_t i = 0; i < select->count; i++) {
        const struct select_case *this_case = &select->cases[select->poll_order[i]];
        *ok = true;
        if (this_case->op == SELECT_SEND) {
            if (chan_send_now(this_case->ch, this_case->elem, select, true))
                return select->poll_order[i];
        } else {
            if (chan_has_timer(this_case->ch))
                chan_timer_look(this_case->ch);
            enum received received = chan_recv_now(this_case->ch, this_case->elem, select, true);
            *ok = received == RECEIVED_ELEM;
            if (received != RECEIVED_NOTHING)
                return select->poll_order[i];
        }
    }
    return SELECT_NONE;
}

/* Pass 3: no list leads to a proxy afterwards. */
static void select_leave(struct select *select, const struct g *winner)
{
    for (uint32_t i = 0, end; i < select->count; i = end) {
        struct chan *ch = select_locked_case(select, i)->ch;
        end = i + 1;
        while (end < select->count && select_locked_case(select, end)->ch == ch)
            end++;
        if (end == i + 1 && &select->proxies[i] == winner)
            continue; /* the channel may be gone */
        lock_acquire(&ch->lock);
        for (uint32_t j = i; j < end; j++)
            select_dequeue(select, j);
        INVARIANT(chan_is_valid(ch));
        lock_release(&ch->lock);
    }
}

/* Passes 2 and 3. Pre: all locks. */
static int select_wait(struct select *select, bool *ok)
{
    struct g *gp = machine_self()->curg;
    select->gp = gp;
    atomic_init(&select->winner, NULL);
    for (uint32_t i = 0; i < select->count; i++)
        select_enqueue(select, i);
    gp->wait_reason = WAIT_SELECT;
    gp->wait_on = (void *)(uintptr_t)select->cases;
    gp->wake_ok = true; /* what all wakers but chan_close() would say */
    select_unlock(select);
    g_park();
    /* relaxed: g_ready() has ordered it */
    struct g *winner = atomic_load_explicit(&select->winner, memory_order_relaxed);
    INVARIANT(winner);
    INVARIANT(winner >= select->proxies && winner < select->proxies + select->count);
    *ok = gp->wake_ok;
    select_leave(select, winner);
    return select->lock_order[winner - select->proxies];
}

_Noreturn static void select_nothing(void)
{
    struct g *gp = machine_self()->curg;
    gp->wait_reason = WAIT_SELECT;
    gp->wait_on = NULL;
    g_park();
    fatal("chan_select: woken, and waited for nothing");
}

static int select_run(const struct select_case *cases, size_t count, bool may_park, bool *ok)
{
    struct select_room room;
    struct select select = {.cases = cases};
    void *heap = NULL;
    if (count <= SELECT_INLINE) {
        select.proxies = room.proxies;
        select.poll_order = room.orders;
    } else {
        size_t proxies = may_park ? count * sizeof *select.proxies : 0;
        heap = machine_alloc(proxies + 2 * count * sizeof *select.poll_order, 64);
        if (!heap)
            fatal_env(ENOMEM, "no memory for a select of %zu cases", count);
        machine_name(heap, proxies + 2 * count * sizeof *select.poll_order, "select");
        select.proxies = heap;
        select.poll_order = (uint16_t *)((char *)heap + proxies);
    }
    select.lock_order = select.poll_order + count;
    select_shuffle(&select, count);
    if (select.count == 0 && may_park)
        select_nothing();
    select_sort(&select);
    select_lock(&select);
    int chosen = select_look(&select, ok);
    if (chosen == SELECT_NONE && may_park)
        chosen = select_wait(&select, ok);
    else if (chosen == SELECT_NONE)
        select_unlock(&select);
    machine_free(heap);
    return chosen;
}

static void select_check(const struct select_case *cases, size_t count)
{
    INVARIANT(cases || count == 0);
    if (count > SELECT_CASES_MAX)
        fatal("chan_select: %zu cases; valid are 0 to %d", count, SELECT_CASES_MAX);
    for (size_t i = 0; i < count; i++)
        if (cases[i].op != SELECT_SEND && cases[i].op != SELECT_RECV)
            fatal("chan_select: case %zu is neither a send nor a receive", i);
}

int chan_select(const struct select_case *cases, size_t count, bool *ok)
{
    bool answer = true;
    int chosen = 0;
    select_check(cases, count);
    if (count != 1 || !cases[0].ch)
        chosen = select_run(cases, count, true, &answer);
    else if (cases[0].op == SELECT_SEND)
        chan_send(cases[0].ch, cases[0].elem);
    else
        answer = chan_recv(cases[0].ch, cases[0].elem);
    if (ok)
        *ok = answer;
    return chosen;
}

int chan_try_select(const struct select_case *cases, size_t count, bool *ok)
{
    bool answer = true;
    select_check(cases, count);
    int chosen = select_run(cases, count, false, &answer);
    if (ok && chosen != SELECT_NONE)
        *ok = answer;
    return chosen;
}
