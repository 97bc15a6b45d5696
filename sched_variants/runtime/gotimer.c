/* gotimer.c - the timers and tickers of runtime.h; see timer.h for what they are made of.
 *
 * Source: Go 1.26 time/sleep.go, time/tick.go, runtime/time.go stop, modify, timerchandrain.
 *   Same:    results of stop and reset; a send that does not wait; a stop or reset leaves no value
 *            in the channel, and one that it had to take out counts as stopped in time.
 *   Differs: a stop or reset that meets the timer's call waits until that has ended, where Go lets
 *            it find out under another lock that it came too late; a program ends a timer with
 *            timer_free(); the channel has its capacity of 1 visibly.
 *   Why:     the call is a send into a buffer, or makes a G: some hundred nanoseconds; no garbage
 *            collector; a channel is nothing special to chan.c.
 */
#include "internal.h"
#include "timer.h"

#include <errno.h>

struct gotimer {
    struct timer timer;
    lock_t lock; /* one stop or reset at a time; the timer's call does not take it */
    bool is_ticker;
    struct chan *ch; /* NULL: calls fn(arg) */
    void (*fn)(void *);
    void *arg;
};

static void send_time(struct timer *timer, int64_t now)
{
    chan_try_send(((struct gotimer *)timer->arg)->ch, &now);
}

static void start_g(struct timer *timer, int64_t now)
{
    const struct gotimer *self = timer->arg;
    (void)now;
    g_spawn_queued(machine_self(), self->fn, self->arg);
}

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

/* Due in ns, and every ns if it is a ticker. */
static void gotimer_arm(struct gotimer *self, int64_t ns)
{
    timer_arm(machine_self(), &self->timer, timers_when(ns), self->is_ticker ? ns : 0);
}

struct gotimer *timer_after(int64_t ns)
{
    struct gotimer *self = gotimer_new(send_time);
    self->ch = chan_make(sizeof(int64_t), 1);
    gotimer_arm(self, ns);
    return self;
}

struct gotimer *timer_func(int64_t ns, void (*fn)(void *), void *arg)
{
    struct gotimer *self = gotimer_new(start_g);
    self->fn = fn;
    self->arg = arg;
    gotimer_arm(self, ns);
    return self;
}

struct gotimer *ticker_start(int64_t period_ns)
{
    if (period_ns <= 0)
        fatal("ticker_start: a period of %lld ns; valid are 1 and more", (long long)period_ns);
    struct gotimer *self = gotimer_new(send_time);
    self->ch = chan_make(sizeof(int64_t), 1);
    self->is_ticker = true;
    gotimer_arm(self, period_ns);
    return self;
}

struct chan *timer_chan(struct gotimer *self)
{
    return self->ch;
}

/* Pre: the lock. Nothing that the timer was armed for happens after this, and no value of it is
 * left. */
static bool gotimer_quiet(struct gotimer *self)
{
    bool in_time = timer_disarm_wait(&self->timer);
    return (self->ch && chan_try_recv(self->ch, NULL, NULL)) || in_time;
}

bool timer_stop(struct gotimer *self)
{
    lock_acquire(&self->lock);
    bool in_time = gotimer_quiet(self);
    lock_release(&self->lock);
    return in_time;
}

bool timer_reset(struct gotimer *self, int64_t ns)
{
    if (self->is_ticker && ns <= 0)
        fatal("timer_reset: a ticker's period of %lld ns; valid are 1 and more", (long long)ns);
    lock_acquire(&self->lock);
    bool in_time = gotimer_quiet(self);
    gotimer_arm(self, ns);
    lock_release(&self->lock);
    return in_time;
}

void timer_free(struct gotimer *self)
{
    timer_stop(self);
    if (self->ch)
        chan_free(self->ch);
    machine_free(self);
}
