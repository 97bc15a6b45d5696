/* gotimer.c - the timers and tickers of runtime.h; see timer.h for what they are made of.
 *
 * Source: Go 1.26 time/sleep.go, time/tick.go, runtime/time.go stop, modify, timerchandrain,
 *   maybeRunChan, blockTimerChan.
 *   Same:    results of stop and reset; a send that does not wait; a stop or reset leaves no value
 *            in the channel, and one that it had to take out counts as stopped in time. The time
 *            that is sent is the one at which the timer was due. A timer of a channel is in a heap
 *            only while somebody waits to receive; else who receives, selects or asks for the
 *            length sees for himself that it is due.
 *   Differs: a stop or reset of timer_func() that meets the timer's call waits until that has
 *            ended, where Go lets it find out under another lock that it came too late; a program
 *            ends a timer with timer_free(); the channel has its capacity of 1 visibly.
 *   Why:     the call makes a G: some hundred nanoseconds; no garbage collector; a length that is
 *            always 0 tells nothing.
 *
 * The timer of a channel. Its `when` is protected by the channel's lock, under which it enters the
 * heap and leaves it. So the heap's lock, and the locks for waking an M, lie below that lock.
 *   a receiver waits and when != NEVER   =>   in_heap
 *
 * The heap's call takes the channel's lock, and does nothing if `when` has not come: then a stop or
 * a reset came before it, or a receiver saw for himself. A stop need not wait for the call. If the
 * call takes a time for which a reset has armed the timer anew, that entry stays; when it is due it
 * finds nothing, and timer_free() removes it.
 */
#include "chan.h"
#include "internal.h"
#include "timer.h"

#include <errno.h>

#define NEVER INT64_MAX

struct gotimer {
    struct timer timer;
    bool is_ticker;

    /* timer_func() */
    lock_t lock; /* one stop or reset at a time; the timer's call does not take it */
    void (*fn)(void *);
    void *arg;

    /* timer_after(), ticker_start(): protected by the channel's lock */
    struct chan *ch; /* constant; NULL: calls fn(arg) */
    int64_t when;    /* when the next time is to be sent, or NEVER */
    int64_t period;
    bool in_heap;
};

static struct gotimer *gotimer_new(void (*fire)(struct timer *, int64_t))
{
    struct gotimer *self = machine_alloc(sizeof *self, 64);
    if (!self)
        fatal_env(ENOMEM, "no memory for a timer");
    machine_name(self, sizeof *self, "timers");
    *self = (struct gotimer){0};
    timer_init(&self->timer, fire, self);
    return self;
}

/* Timers of channels ------------------------------------------------------------------------ */

/* The channel is made with a place more than it holds, where its timer is written. */
static struct gotimer *timer_of_chan(struct chan *ch)
{
    struct gotimer *self;
    memcpy(&self, ch->ring + ch->end, sizeof self);
    return self;
}

static struct chan *timed_chan_make(struct gotimer *self)
{
    struct chan *ch = chan_make(sizeof(int64_t), 2);
    _Static_assert(sizeof self == sizeof(int64_t), "a place of the ring holds a pointer");
    ch->capacity = 1;
    ch->end = sizeof(int64_t);
    memcpy(ch->ring + ch->end, &self, sizeof self);
    /* relaxed, and without the lock: nobody else has the channel */
    atomic_store_explicit(&ch->marks, chan_marks(ch) + CHAN_TIMER, memory_order_relaxed);
    return ch;
}

/* Pre, for all below up to chan_timer_leave(): the channel's lock. */

/* The time that is due at now; those of a ticker that have passed by then are left out. */
static int64_t take_time(struct gotimer *self, int64_t now)
{
    int64_t when = self->when;
    self->when = NEVER;
    if (self->period > 0) {
        int64_t passed = (now - when) / self->period * self->period;
        if (__builtin_add_overflow(when + passed, self->period, &self->when))
            self->when = NEVER;
    }
    return when;
}

/* Pre: nobody waits. Dropped if the one before it is still there. */
static void ring_put_time(struct chan *ch, int64_t time)
{
    if (count_locked(ch) > 0)
        return;
    memcpy(ch->ring, &time, sizeof time);
    /* relaxed: a try that sees it early waits for the lock */
    atomic_store_explicit(&ch->count, 1, memory_order_relaxed);
}

static void leave_heap(struct gotimer *self)
{
    if (self->in_heap)
        timer_disarm(&self->timer);
    self->in_heap = false;
}

void chan_timer_look(struct chan *ch)
{
    struct gotimer *self = timer_of_chan(ch);
    if (self->in_heap || self->when == NEVER)
        return; /* a receiver that waits comes first */
    int64_t now = machine_now();
    if (self->when <= now)
        ring_put_time(ch, take_time(self, now));
}

void chan_timer_enter(struct chan *ch)
{
    struct gotimer *self = timer_of_chan(ch);
    if (self->in_heap || self->when == NEVER)
        return;
    self->in_heap = true;
    timer_arm(machine_self(), &self->timer, self->when, 0);
}

void chan_timer_leave(struct chan *ch)
{
    if (!ch->recv_head)
        leave_heap(timer_of_chan(ch));
}

/* The heap's call. */
static void send_time(struct timer *timer, int64_t now)
{
    struct gotimer *self = timer->arg;
    struct chan *ch = self->ch;
    struct g *receiver = NULL;
    int64_t time = 0;
    lock_acquire(&ch->lock);
    if (self->when <= now) {
        self->in_heap = false;
        time = take_time(self, now);
        receiver = select_pop(ch, &ch->recv_head);
        if (!receiver)
            ring_put_time(ch, time);
        if (ch->recv_head)
            chan_timer_enter(ch);
    }
    lock_release(&ch->lock);
    if (receiver && receiver->wait_elem)
        memcpy(receiver->wait_elem, &time, sizeof time);
    if (receiver)
        g_ready(receiver);
}

/* The timer stops; with when != NEVER it is due then, and every period ns if that is > 0. */
static bool timed_chan_set(struct gotimer *self, int64_t when, int64_t period)
{
    struct chan *ch = self->ch;
    lock_acquire(&ch->lock);
    bool in_time = self->when != NEVER || count_locked(ch) > 0;
    atomic_store_explicit(&ch->count, 0, memory_order_relaxed); /* under the lock */
    leave_heap(self);
    self->when = when;
    self->period = period;
    if (ch->recv_head)
        chan_timer_enter(ch);
    lock_release(&ch->lock);
    return in_time;
}

static struct gotimer *timed_chan_start(int64_t ns, int64_t period)
{
    struct gotimer *self = gotimer_new(send_time);
    self->is_ticker = period > 0;
    self->when = timers_when(ns);
    self->period = period;
    self->ch = timed_chan_make(self);
    return self;
}

struct gotimer *timer_after(int64_t ns)
{
    return timed_chan_start(ns, 0);
}

struct gotimer *ticker_start(int64_t period_ns)
{
    if (period_ns <= 0)
        fatal("ticker_start: a period of %lld ns; valid are 1 and more", (long long)period_ns);
    return timed_chan_start(period_ns, period_ns);
}

struct chan *timer_chan(struct gotimer *self)
{
    INVARIANT(self);
    return self->ch;
}

/* Timers that start a goroutine -------------------------------------------------------------- */

static void start_g(struct timer *timer, int64_t now)
{
    const struct gotimer *self = timer->arg;
    (void)now;
    g_spawn_queued(machine_self(), self->fn, self->arg);
}

struct gotimer *timer_func(int64_t ns, void (*fn)(void *), void *arg)
{
    INVARIANT(fn);
    struct gotimer *self = gotimer_new(start_g);
    self->fn = fn;
    self->arg = arg;
    timer_arm(machine_self(), &self->timer, timers_when(ns), 0);
    return self;
}

/* As timed_chan_set(). Nothing that the timer was armed for happens after this. */
static bool timer_func_set(struct gotimer *self, int64_t when)
{
    lock_acquire(&self->lock);
    bool in_time = timer_disarm_wait(&self->timer);
    if (when != NEVER)
        timer_arm(machine_self(), &self->timer, when, 0);
    lock_release(&self->lock);
    return in_time;
}

/* Both --------------------------------------------------------------------------------------- */

bool timer_stop(struct gotimer *self)
{
    return self->ch ? timed_chan_set(self, NEVER, 0) : timer_func_set(self, NEVER);
}

bool timer_reset(struct gotimer *self, int64_t ns)
{
    if (self->is_ticker && ns <= 0)
        fatal("timer_reset: a ticker's period of %lld ns; valid are 1 and more", (long long)ns);
    int64_t when = timers_when(ns);
    return self->ch ? timed_chan_set(self, when, self->is_ticker ? ns : 0)
                    : timer_func_set(self, when);
}

void timer_free(struct gotimer *self)
{
    timer_stop(self);
    if (self->ch) {
        timer_disarm_wait(&self->timer); /* a call that has come too late */
        chan_free(self->ch);
    }
    machine_free(self);
}
