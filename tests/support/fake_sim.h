/* fake_sim.h - a kernel for the devices of machine/sim to run on in tests: threads that take
 * turns, and virtual time.
 *
 * One thread runs at a time and hands on where the real kernel may: in sim_spend(), sim_touch()
 * and sim_queue_wait(), to whoever has been runnable longest. So any two calls interleave
 * wherever they can. When nobody can run, the next event does. Latencies are what
 * fake.latency_ps() says, or the median.
 *
 * Include it once, with the names of machine.h renamed, before the devices.
 */
#ifndef SCHEDLAB_TESTS_FAKE_SIM_H
#define SCHEDLAB_TESTS_FAKE_SIM_H

#include "machine.h"
#include "machine/sim/sim.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct sim_thread {
    TAILQ_ENTRY(sim_thread) link;
    struct sim_queue *queue; /* that it waits in; NULL: it can run, or runs */
    struct sim_event timeout;
    struct sim_queue joiner;
    bool timed_out, done;
    pthread_t thread;
    pthread_cond_t turn;
    void (*fn)(void *arg);
    void *arg;
};

static struct {
    int64_t now_ps, spent_ps;
    int64_t touched; /* bytes */
    int64_t woken;   /* threads */
    bool in_event;
    uint64_t order;
    int64_t (*latency_ps)(const struct sim_latency *latency);
    struct sim_thread first, *current;
    struct sim_queue runnable;
    struct sim_event *event[16384];
    int events;
    pthread_mutex_t one;
} fake = {.one = PTHREAD_MUTEX_INITIALIZER};

struct sim_model sim_model = {
    .cores = 1,
    .call_ps = 100 * PS_PER_NS,
    .wait_ps = 300 * PS_PER_NS,
    .wake_ps = 500 * PS_PER_NS,
    .slack_ps = 50000 * (int64_t)PS_PER_NS,
    .network = {10000 * (int64_t)PS_PER_NS, 20000 * (int64_t)PS_PER_NS},
    .file = {30000 * (int64_t)PS_PER_NS, 60000 * (int64_t)PS_PER_NS},
};

/* Before the first test. */
static void fake_begin(void)
{
    TAILQ_INIT(&fake.runnable);
    fake.current = &fake.first;
    pthread_cond_init(&fake.first.turn, NULL);
    pthread_mutex_lock(&fake.one);
}

/* Events -------------------------------------------------------------------------------------- */

void sim_event_clear(struct sim_event *event)
{
    if (!event->place)
        return;
    fake.event[event->place - 1] = fake.event[--fake.events];
    fake.event[event->place - 1]->place = event->place;
    event->place = 0;
}

void sim_event_set(struct sim_event *event, int64_t when_ps, void (*fn)(struct sim_event *event))
{
    sim_event_clear(event);
    if (fake.events == (int)(sizeof fake.event / sizeof fake.event[0]))
        abort();
    event->when_ps = when_ps > fake.now_ps ? when_ps : fake.now_ps;
    event->order = fake.order++;
    event->fn = fn;
    fake.event[fake.events++] = event;
    event->place = (size_t)fake.events;
}

static struct sim_event *fake_first_event(void)
{
    struct sim_event *first = NULL;
    for (int i = 0; i < fake.events; i++) {
        struct sim_event *event = fake.event[i];
        if (!first || event->when_ps < first->when_ps ||
            (event->when_ps == first->when_ps && event->order < first->order))
            first = event;
    }
    return first;
}

static void fake_run_event(struct sim_event *event)
{
    sim_event_clear(event);
    fake.now_ps = event->when_ps;
    fake.in_event = true;
    event->fn(event);
    fake.in_event = false;
}

static void fake_run_until(int64_t when_ps)
{
    for (struct sim_event *event; (event = fake_first_event()) && event->when_ps <= when_ps;)
        fake_run_event(event);
    fake.now_ps = when_ps;
}

/* Threads ------------------------------------------------------------------------------------- */

static struct sim_thread *fake_next(void)
{
    struct sim_thread *next;
    while (!(next = TAILQ_FIRST(&fake.runnable))) {
        struct sim_event *event = fake_first_event();
        if (!event) {
            static const char text[] = "fake_sim.h: everybody waits, and nothing will happen\n";
            machine_die(text, 1);
        }
        fake_run_event(event);
    }
    TAILQ_REMOVE(&fake.runnable, next, link);
    return next;
}

static void fake_hand_on(struct sim_thread *self)
{
    fake.current = fake_next();
    pthread_cond_signal(&fake.current->turn);
    while (!self->done && fake.current != self)
        pthread_cond_wait(&self->turn, &fake.one);
}

static void fake_on_timeout(struct sim_event *event)
{
    struct sim_thread *thread =
        (struct sim_thread *)(void *)((char *)event - offsetof(struct sim_thread, timeout));
    TAILQ_REMOVE(thread->queue, thread, link);
    thread->queue = NULL;
    thread->timed_out = true;
    TAILQ_INSERT_TAIL(&fake.runnable, thread, link);
}

int sim_queue_wait(struct sim_queue *queue, int64_t timeout_ps)
{
    struct sim_thread *self = fake.current;
    if (fake.in_event)
        abort();
    self->queue = queue;
    self->timed_out = false;
    TAILQ_INSERT_TAIL(queue, self, link);
    if (timeout_ps >= 0)
        sim_event_set(&self->timeout, fake.now_ps + timeout_ps, fake_on_timeout);
    fake_hand_on(self);
    sim_event_clear(&self->timeout);
    return self->timed_out ? -ETIMEDOUT : 0;
}

int sim_queue_wake(struct sim_queue *queue, int n)
{
    int woken = 0;
    for (struct sim_thread *thread; woken < n && (thread = TAILQ_FIRST(queue)); woken++) {
        TAILQ_REMOVE(queue, thread, link);
        thread->queue = NULL;
        sim_event_clear(&thread->timeout);
        TAILQ_INSERT_TAIL(&fake.runnable, thread, link);
    }
    fake.woken += woken;
    return woken;
}

/* Whoever is woken has an idle core. */
int64_t sim_interrupts(void)
{
    return fake.woken;
}

int64_t sim_slack(void)
{
    return sim_model.slack_ps;
}

int64_t sim_now(void)
{
    return fake.now_ps;
}

void sim_spend(int64_t ps)
{
    if (fake.in_event)
        abort();
    fake.spent_ps += ps;
    fake_run_until(fake.now_ps + ps);
    TAILQ_INSERT_TAIL(&fake.runnable, fake.current, link);
    fake_hand_on(fake.current);
}

void sim_touch(const void *start, size_t size, bool write)
{
    (void)start;
    (void)write;
    fake.touched += (int64_t)size;
    sim_spend((int64_t)(size / SIM_LINE) * 1000);
}

int64_t sim_latency(const struct sim_latency *latency)
{
    return fake.latency_ps ? fake.latency_ps(latency) : latency->median_ps;
}

/* Parts of machine.h that the scenes need ----------------------------------------------------- */

static void *fake_thread_main(void *arg)
{
    struct sim_thread *self = arg;
    pthread_mutex_lock(&fake.one);
    while (fake.current != self)
        pthread_cond_wait(&self->turn, &fake.one);
    self->fn(self->arg);
    self->done = true;
    sim_queue_wake(&self->joiner, 1);
    fake_hand_on(self);
    pthread_mutex_unlock(&fake.one);
    return NULL;
}

int machine_thread_start(struct machine_thread *thread, void (*fn)(void *arg), void *arg,
                         size_t stack_size, int cpu)
{
    struct sim_thread *self = calloc(1, sizeof *self);
    (void)stack_size;
    (void)cpu;
    if (!self)
        return -ENOMEM;
    self->fn = fn;
    self->arg = arg;
    TAILQ_INIT(&self->joiner);
    pthread_cond_init(&self->turn, NULL);
    TAILQ_INSERT_TAIL(&fake.runnable, self, link);
    thread->handle = (uintptr_t)self;
    return -pthread_create(&self->thread, NULL, fake_thread_main, self);
}

void machine_thread_join(struct machine_thread *thread)
{
    struct sim_thread *self = (struct sim_thread *)thread->handle;
    if (!self->done)
        sim_queue_wait(&self->joiner, -1);
    pthread_mutex_unlock(&fake.one);
    pthread_join(self->thread, NULL);
    pthread_mutex_lock(&fake.one);
    pthread_cond_destroy(&self->turn);
    free(self);
}

int64_t machine_now(void)
{
    return fake.now_ps / PS_PER_NS;
}

static void fake_wait(int64_t ns)
{
    struct sim_queue nobody_wakes = TAILQ_HEAD_INITIALIZER(nobody_wakes);
    sim_queue_wait(&nobody_wakes, ns * PS_PER_NS);
}

#endif
