/* conform_timers.c - conformance cases for timers and tickers; see conformance.c.
 *
 * An event that must not happen has had time to: the test sleeps beyond the moment when it was due.
 * Nothing passes or fails by how long anything takes.
 */
#include "conform.h"
#include "tests/support/support.h"

enum { MS = 1000000, TIMERS = 8 };

static const int64_t hour = INT64_C(3600) * 1000 * MS;

static bool received_now(struct gotimer *timer)
{
    return chan_try_recv(timer_chan(timer), NULL, NULL);
}

static void await_value(struct gotimer *timer)
{
    while (chan_len(timer_chan(timer)) == 0)
        go_sleep(MS / 10);
}

/* Not early, once, with a time that has come; and stop says whether it was in time. */
static void conform_timer_happens_once(void *arg)
{
    const struct conform_cell *cell = arg;
    for (int i = -1; i < 3 * cell->scale; i++) {
        int64_t start = go_now(), at, ns = i * (MS / 4);
        struct gotimer *timer = timer_after(ns);
        CHECK(chan_recv(timer_chan(timer), &at));
        CHECK(at >= start + ns && at <= go_now());
        CHECK(!timer_stop(timer));
        go_sleep(MS);
        CHECK(!received_now(timer));
        timer_free(timer);
    }
}

static void conform_timer_stop_is_in_time(void *arg)
{
    const struct conform_cell *cell = arg;
    struct gotimer *far = timer_after(hour);
    CHECK(timer_stop(far));
    CHECK(!timer_stop(far));
    timer_free(far);
    for (int i = 0; i < 3 * cell->scale; i++) {
        struct gotimer *near = timer_after(i * (MS / 4));
        bool received = false;
        if (i % 2 == 0) {
            gosched();
            received = received_now(near);
        }
        CHECK(timer_stop(near) == !received);
        go_sleep(MS);
        CHECK(!received_now(near));
        timer_free(near);
    }
}

/* A value that nobody has received is taken back, and none from before a reset is received after
 * it. */
static void conform_timer_leaves_nothing_stale(void *arg)
{
    (void)arg;
    struct gotimer *timer = timer_after(0);
    await_value(timer);
    CHECK(timer_stop(timer));
    CHECK(chan_len(timer_chan(timer)) == 0 && !received_now(timer));
    CHECK(!timer_reset(timer, 0));
    await_value(timer);
    int64_t reset = go_now(), at = 0;
    CHECK(timer_reset(timer, MS));
    CHECK(chan_recv(timer_chan(timer), &at) && at >= reset + MS);
    CHECK(!timer_reset(timer, hour));
    CHECK(timer_reset(timer, 2 * MS)); /* from later to sooner */
    CHECK(chan_recv(timer_chan(timer), &at) && at >= reset + 3 * MS);
    timer_free(timer);
}

/* Nobody waits, and no worker schedules, but whoever looks sees it. */
static void conform_timer_is_seen_without_waiting(void *arg)
{
    const struct conform_cell *cell = arg;
    for (int i = 0; i < 2 * cell->scale; i++) {
        int64_t start = go_now(), at = 0, ns = i * (MS / 4);
        struct gotimer *timer = timer_after(ns);
        struct select_case receive = select_recv(timer_chan(timer), &at);
        AWAIT(chan_len(timer_chan(timer)) == 1);
        CHECK(received_now(timer) && !received_now(timer));
        timer_reset(timer, ns);
        AWAIT(received_now(timer));
        timer_reset(timer, ns);
        AWAIT(chan_try_select(&receive, 1, NULL) == 0);
        CHECK(at >= start + ns && at <= go_now());
        timer_free(timer);
    }
}

/* From sooner to later, which must not happen at the sooner time. */
static void conform_timer_reset_to_later(void *arg)
{
    (void)arg;
    struct gotimer *timers[TIMERS];
    int64_t at, start = go_now();
    for (int i = 0; i < TIMERS; i++)
        timers[i] = timer_after(hour);
    for (int i = 0; i < TIMERS; i++)
        CHECK(timer_reset(timers[i], MS));
    int64_t reset = go_now();
    bool in_time[TIMERS];
    for (int i = 0; i < TIMERS; i++)
        in_time[i] = timer_reset(timers[i], (4 + i) * MS);
    for (int i = TIMERS - 1; i >= 0; i--) {
        CHECK(in_time[i]); /* happened or not: nobody received it */
        CHECK(chan_recv(timer_chan(timers[i]), &at));
        CHECK(at >= start + (4 + i) * MS && at >= reset + (4 + i) * MS);
        timer_free(timers[i]);
    }
}

struct called {
    struct waitgroup done;
    struct gotimer *timer;
    _Atomic int count;
    struct chan *go_on;
};

/* Parks, yields, and frees its own timer. */
static void called_g(void *arg)
{
    struct called *self = arg;
    gosched();
    chan_recv(self->go_on, NULL);
    CHECK(!timer_stop(self->timer));
    timer_free(self->timer);
    atomic_fetch_add(&self->count, 1);
    wg_done(&self->done);
}

static void conform_timer_func_is_a_goroutine(void *arg)
{
    const struct conform_cell *cell = arg;
    struct called *called = go_alloc_zeroed(sizeof *called);
    called->go_on = chan_make(1, 0);
    for (int i = 0; i < 3 * cell->scale; i++) {
        wg_add(&called->done, 1);
        called->timer = timer_func(i * (MS / 10), called_g, called);
        chan_send(called->go_on, "");
        wg_wait(&called->done);
        CHECK(atomic_load(&called->count) == i + 1);
    }
    called->timer = timer_func(MS / 2, called_g, called);
    if (timer_stop(called->timer)) {
        go_sleep(MS);
        CHECK(atomic_load(&called->count) == 3 * cell->scale);
        timer_free(called->timer);
    } else {
        wg_add(&called->done, 1);
        chan_send(called->go_on, "");
        wg_wait(&called->done);
    }
    chan_free(called->go_on);
    go_free(called);
}

static void conform_ticker_ticks_and_drops(void *arg)
{
    const struct conform_cell *cell = arg;
    int64_t before = go_now(), at;
    struct gotimer *ticker = ticker_start(MS / 2);
    for (int i = 0; i < 5 * cell->scale; i++) {
        CHECK(chan_recv(timer_chan(ticker), &at));
        CHECK(at >= before + (i == 0 ? MS / 2 : 0) && at <= go_now());
        CHECK(i == 0 || at > before);
        before = at;
        if (i % 4 == 3) /* slow: no more than one waits */
            go_sleep(3 * MS);
        CHECK(chan_len(timer_chan(ticker)) <= 1);
    }
    timer_stop(ticker);
    go_sleep(2 * MS);
    CHECK(!received_now(ticker));
    int64_t reset = go_now();
    CHECK(!timer_reset(ticker, MS));
    for (int i = 1; i <= 3; i++)
        CHECK(chan_recv(timer_chan(ticker), &at) && at >= reset + i * MS);
    timer_free(ticker);
}

static void set_flag(void *arg)
{
    atomic_store((_Atomic bool *)arg, true);
}

/* The timer happens though main's worker is busy, if workers take over from each other. If they do
 * not, main yields. */
static void conform_timer_happens_beside_a_busy_worker(void *arg)
{
    const struct conform_cell *cell = arg;
    _Atomic bool *happened = go_alloc_zeroed(sizeof *happened);
    bool taken_over = cell->workers > 1 && !cell->ops->single_threaded && !cell->ops->blocks;
    for (int i = 0; i < 2 * cell->scale; i++) {
        atomic_store(happened, false);
        struct gotimer *timer = timer_func(i * (MS / 4), set_flag, (void *)happened);
        if (taken_over || cell->ops->thread_per_g)
            AWAIT(atomic_load(happened));
        while (!atomic_load(happened))
            gosched();
        timer_free(timer);
    }
    go_free((void *)happened);
}

/* Stress ------------------------------------------------------------------------------------ */

/* Each arming ends in one of two ways: it happens, and is received if it is on a channel, or a stop
 * or reset says that it was in time. */
struct shared_timer {
    struct gotimer *timer;
    _Atomic int64_t armed, cancelled, happened;
};

struct stress {
    struct join join;
    struct shared_timer *timers;
    uint64_t rng;
    int steps;
};

static void stress_called(void *arg)
{
    atomic_fetch_add((_Atomic int64_t *)arg, 1);
}

static void stress_step(struct shared_timer *self, uint64_t dice)
{
    int64_t ns = (int64_t)(dice / 16 % 300) * 1000 - 20000;
    switch (dice % 4) {
    case 0:
        atomic_fetch_add(&self->cancelled, timer_stop(self->timer));
        break;
    case 1:
    case 2:
        atomic_fetch_add(&self->armed, 1);
        atomic_fetch_add(&self->cancelled, timer_reset(self->timer, ns));
        break;
    default:
        if (timer_chan(self->timer))
            atomic_fetch_add(&self->happened, received_now(self->timer));
    }
}

static void stress_g(void *arg)
{
    struct stress *self = arg;
    for (int step = 0; step < self->steps; step++) {
        self->rng = self->rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t dice = self->rng >> 33;
        stress_step(&self->timers[dice % TIMERS], dice / TIMERS);
        if (dice / 512 % 8 == 0)
            go_sleep((int64_t)(dice / 4096 % 200) * 1000);
        else if (dice / 512 % 8 == 1)
            gosched();
    }
}

static void stress_timers_end(struct shared_timer *timers)
{
    for (int i = 0; i < TIMERS; i++) {
        struct shared_timer *self = &timers[i];
        atomic_fetch_add(&self->cancelled, timer_stop(self->timer));
        int64_t left = atomic_load(&self->armed) - atomic_load(&self->cancelled);
        while (atomic_load(&self->happened) < left) /* started, and not yet run */
            go_sleep(MS / 10);
        CHECK(atomic_load(&self->happened) == left);
    }
    go_sleep(MS);
    for (int i = 0; i < TIMERS; i++) {
        struct shared_timer *self = &timers[i];
        CHECK(atomic_load(&self->happened) ==
              atomic_load(&self->armed) - atomic_load(&self->cancelled));
        timer_free(self->timer);
    }
}

static void conform_timers_seeded_stress(void *arg)
{
    const struct conform_cell *cell = arg;
    struct shared_timer *timers = go_alloc_zeroed(TIMERS * sizeof *timers);
    struct stress *stress = go_alloc_zeroed(TIMERS * sizeof *stress);
    for (int i = 0; i < TIMERS; i++) {
        atomic_store(&timers[i].armed, 1);
        timers[i].timer = i % 2 ? timer_after(i * 10000)
                                : timer_func(i * 10000, stress_called, (void *)&timers[i].happened);
    }
    for (int i = 0; i < TIMERS; i++) {
        stress[i].timers = timers;
        stress[i].rng = cell->seed + (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
        stress[i].steps = 60 * cell->scale;
        join_go(&stress[i].join, stress_g, &stress[i]);
    }
    for (int i = 0; i < TIMERS; i++)
        join_wait(&stress[i].join);
    stress_timers_end(timers);
    go_free(stress);
    go_free(timers);
}

const struct conform_case conform_timer_cases[] = {
    CASE(conform_timer_happens_once),
    CASE(conform_timer_stop_is_in_time),
    CASE(conform_timer_leaves_nothing_stale),
    CASE(conform_timer_is_seen_without_waiting),
    CASE(conform_timer_reset_to_later),
    CASE(conform_timer_func_is_a_goroutine),
    CASE(conform_ticker_ticks_and_drops),
    CASE(conform_timer_happens_beside_a_busy_worker),
    CASE(conform_timer_happens_beside_a_busy_worker, .settings = "width=load"),
    CASE(conform_timers_seeded_stress),
    CASE(conform_timers_seeded_stress, .settings = "timers=global"),
    CASE(conform_timers_seeded_stress, .settings = "mailbox=mpsc"),
    CASE(conform_timers_seeded_stress, .settings = "queue=mpmc"),
    CASE(conform_timers_seeded_stress, .settings = "queue=msqueue"),
    CASE(conform_timers_seeded_stress, .settings = "queue=faa"),
    CASE(conform_timers_seeded_stress, .settings = "globals=group"),
    CASE(conform_timers_seeded_stress, .settings = "wake_delay_ns=20000"),
    CASE(conform_timers_seeded_stress, .settings = "width=load"),
    CASE(conform_timers_seeded_stress, .settings = "queue=multi"),
    CASE(conform_timers_seeded_stress, .settings = "globq=mpmc"),
    CASE(conform_timers_seeded_stress, .settings = "queue=bwos"),
    CASE(conform_timers_seeded_stress, .settings = "poll_round=ms"),
    {0},
};
