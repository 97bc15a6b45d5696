/* conform_goroutines.c - conformance cases for goroutines, channels and locks; see conformance.c.
 * */
#include "conform.h"
#include "tests/support/support.h"

#include <string.h>

/* Goroutines -------------------------------------------------------------------------------- */

enum { GS = 100 };

struct runs_once {
    const struct conform_cell *cell;
    struct waitgroup wg;
    _Atomic uint32_t runs[GS * 4 * 2]; /* a parent and a child each */
};

struct runs_once_g {
    struct runs_once *once;
    int index;
};

static void once_child(void *arg)
{
    struct runs_once_g *self = arg;
    atomic_fetch_add(&self->once->runs[self->index], 1);
    wg_done(&self->once->wg);
    go_free(self);
}

static void once_spawn(struct runs_once *once, int index, void (*fn)(void *))
{
    struct runs_once_g *child = go_alloc(sizeof *child);
    *child = (struct runs_once_g){once, index};
    go(fn, child);
}

static void once_parent(void *arg)
{
    struct runs_once_g *self = arg;
    once_spawn(self->once, self->index + GS * 4, once_child);
    once_child(self);
}

static void conform_all_spawned_run_once(void *arg)
{
    const struct conform_cell *cell = arg;
    struct runs_once *once = go_alloc_zeroed(sizeof *once);
    int n = GS * cell->scale;
    wg_add(&once->wg, 2 * n);
    for (int i = 0; i < n; i++)
        once_spawn(once, i, once_parent);
    wg_wait(&once->wg);
    for (int i = 0; i < GS * 4; i++) {
        CHECK(atomic_load(&once->runs[i]) == (i < n));
        CHECK(atomic_load(&once->runs[i + GS * 4]) == (i < n));
    }
    go_free(once);
}

struct flag_set {
    _Atomic int left;
    _Atomic bool late;
};

static void yielder(void *arg)
{
    struct flag_set *flags = arg;
    gosched();
    atomic_fetch_sub(&flags->left, 1);
}

static void conform_yield_lets_others_run(void *arg)
{
    const struct conform_cell *cell = arg;
    enum { YIELDERS = 8 };
    struct flag_set *flags = go_alloc_zeroed(sizeof *flags);
    atomic_store(&flags->left, YIELDERS);
    for (int i = 0; i < YIELDERS; i++)
        go(yielder, flags);
    /* With one worker nobody else can run them, so a bounded number of yields has to do. */
    bool bounded = cell->workers == 1 && strcmp(cell->ops->name, "kthread") != 0;
    for (int64_t i = 0; atomic_load(&flags->left) > 0; i++) {
        CHECK(!bounded || i < 1000);
        gosched();
    }
    go_free(flags);
}

struct sleeper {
    struct join join;
    int64_t ns;
};

static void sleeper(void *arg)
{
    struct sleeper *self = arg;
    int64_t start = go_now();
    go_sleep(self->ns);
    CHECK(go_now() - start >= self->ns);
}

static void conform_sleep_not_early(void *arg)
{
    (void)arg;
    enum { SLEEPERS = 16 };
    struct sleeper *sleepers = go_alloc_zeroed(SLEEPERS * sizeof *sleepers);
    for (int i = 0; i < SLEEPERS; i++) {
        sleepers[i].ns = (int64_t)(i * 7 % SLEEPERS) * 100000;
        join_go(&sleepers[i].join, sleeper, &sleepers[i]);
    }
    go_sleep(0);
    go_sleep(-1);
    for (int i = 0; i < SLEEPERS; i++)
        join_wait(&sleepers[i].join);
    go_free(sleepers);
}

struct joined {
    struct join join;
    int value;
};

static void joined_sets(void *arg)
{
    struct joined *self = arg;
    if (self->value % 2)
        gosched();
    self->value *= 2;
}

static void conform_join_sees_result(void *arg)
{
    const struct conform_cell *cell = arg;
    struct joined *joined = go_alloc_zeroed((size_t)GS * sizeof *joined);
    for (int round = 0; round < cell->scale; round++) {
        for (int i = 0; i < GS; i++) {
            joined[i].value = i;
            join_go(&joined[i].join, joined_sets, &joined[i]);
        }
        for (int i = GS; i-- > 0;) {
            join_wait(&joined[i].join);
            CHECK(joined[i].value == 2 * i);
        }
    }
    go_free(joined);
}

struct tree {
    struct waitgroup *wg;
    _Atomic uint32_t *nodes;
    int depth, fan;
};

static void tree_node(void *arg)
{
    struct tree *self = arg;
    atomic_fetch_add(self->nodes, 1);
    for (int i = 0; i < self->fan && self->depth > 0; i++) {
        struct tree *child = go_alloc(sizeof *child);
        *child = *self;
        child->depth--;
        wg_add(self->wg, 1);
        go(tree_node, child);
    }
    wg_done(self->wg);
    go_free(self);
}

static void tree_run(int depth, int fan, uint32_t nodes_expected)
{
    struct waitgroup *wg = go_alloc_zeroed(sizeof *wg);
    _Atomic uint32_t *nodes = go_alloc_zeroed(sizeof *nodes);
    struct tree *root = go_alloc(sizeof *root);
    *root = (struct tree){wg, nodes, depth, fan};
    wg_add(wg, 1);
    go(tree_node, root);
    wg_wait(wg);
    CHECK(atomic_load(nodes) == nodes_expected);
    go_free((void *)nodes);
    go_free(wg);
}

static void conform_deep_spawn_tree(void *arg)
{
    const struct conform_cell *cell = arg;
    tree_run(100 * cell->scale, 1, 100 * (uint32_t)cell->scale + 1);
    tree_run(6, 2, 127);
    tree_run(2, 12, 1 + 12 + 144);
}

/* Channels ---------------------------------------------------------------------------------- */

struct pair {
    struct chan *there, *back;
    struct join join;
    int64_t rounds;
};

static void pong(void *arg)
{
    struct pair *pair = arg;
    int64_t value;
    while (chan_recv(pair->there, &value)) {
        value++;
        chan_send(pair->back, &value);
    }
}

static void ping(void *arg)
{
    struct pair *pair = arg;
    pair->there = chan_make(sizeof(int64_t), 0);
    pair->back = chan_make(sizeof(int64_t), 0);
    struct join partner;
    join_go(&partner, pong, pair);
    int64_t value = 0;
    for (int64_t i = 0; i < pair->rounds; i++) {
        chan_send(pair->there, &value);
        CHECK(chan_recv(pair->back, &value));
    }
    CHECK(value == pair->rounds);
    chan_close(pair->there);
    join_wait(&partner);
    chan_free(pair->there);
    chan_free(pair->back);
}

static void conform_no_lost_wakeup_pingpong(void *arg)
{
    const struct conform_cell *cell = arg;
    enum { PAIRS = 4 };
    struct pair *pairs = go_alloc_zeroed(PAIRS * sizeof *pairs);
    for (int i = 0; i < PAIRS; i++) {
        pairs[i].rounds = 250 * cell->scale;
        join_go(&pairs[i].join, ping, &pairs[i]);
    }
    for (int i = 0; i < PAIRS; i++)
        join_wait(&pairs[i].join);
    go_free(pairs);
}

struct burst {
    struct chan *work;
    struct waitgroup done;
    _Atomic uint32_t sum;
};

static void burst_worker(void *arg)
{
    struct burst *burst = arg;
    uint32_t value;
    while (chan_recv(burst->work, &value)) {
        atomic_fetch_add(&burst->sum, value);
        wg_done(&burst->done);
    }
    wg_done(&burst->done);
}

/* Phases of many wake-ups at once, between which all workers run out of work. */
static void conform_no_lost_wakeup_bursts(void *arg)
{
    const struct conform_cell *cell = arg;
    enum { WORKERS = 12 };
    struct burst *burst = go_alloc_zeroed(sizeof *burst);
    burst->work = chan_make(sizeof(uint32_t), 4);
    for (int i = 0; i < WORKERS; i++)
        go(burst_worker, burst);
    uint32_t expected = 0;
    for (uint32_t phase = 0; phase < 40 * (uint32_t)cell->scale; phase++) {
        uint32_t messages = 1 + phase % (2 * WORKERS);
        wg_add(&burst->done, (int32_t)messages);
        for (uint32_t i = 1; i <= messages; i++) {
            chan_send(burst->work, &i);
            expected += i;
        }
        wg_wait(&burst->done);
        CHECK(atomic_load(&burst->sum) == expected);
        if (phase % 4 == 0)
            go_sleep(50000);
    }
    wg_add(&burst->done, WORKERS);
    chan_close(burst->work);
    wg_wait(&burst->done);
    chan_free(burst->work);
    go_free(burst);
}

static void conform_chan_keeps_order(void *arg)
{
    const struct conform_cell *cell = arg;
    for (size_t capacity = 0; capacity < 6; capacity += 1 + capacity) {
        struct pair *pair = go_alloc_zeroed(sizeof *pair);
        pair->there = chan_make(sizeof(int64_t), capacity);
        pair->back = chan_make(sizeof(int64_t), capacity);
        join_go(&pair->join, pong, pair);
        int64_t sent = 0, got = 0, value = 0, n = 100 * cell->scale;
        while (got < n) {
            /* never more under way than both buffers hold, or both sides would wait to send */
            if (sent < n && sent - got <= (int64_t)capacity) {
                chan_send(pair->there, &sent);
                sent++;
                continue;
            }
            CHECK(chan_recv(pair->back, &value));
            got++;
            CHECK(value == got);
        }
        chan_close(pair->there);
        join_wait(&pair->join);
        chan_free(pair->there);
        chan_free(pair->back);
        go_free(pair);
    }
}

static void conform_chan_try_never_parks(void *arg)
{
    (void)arg;
    struct chan *ch = chan_make(sizeof(uint32_t), 2);
    uint32_t value = 7;
    bool closed = true;
    CHECK(!chan_try_recv(ch, &value, &closed) && !closed);
    for (value = 1; value <= 2; value++)
        CHECK(chan_try_send(ch, &value));
    CHECK(!chan_try_send(ch, &value));
    CHECK(chan_len(ch) == 2);
    CHECK(chan_try_recv(ch, &value, NULL) && value == 1);
    chan_close(ch);
    CHECK(chan_recv(ch, &value) && value == 2);
    CHECK(!chan_try_recv(ch, &value, &closed) && closed);
    value = 9;
    CHECK(!chan_recv(ch, &value) && value == 0);
    CHECK(!chan_recv(ch, NULL));
    chan_free(ch);
    ch = chan_make(sizeof value, 0);
    CHECK(!chan_try_send(ch, &value) && !chan_try_recv(ch, &value, NULL));
    chan_free(ch);
}

struct closing {
    struct chan *ch;
    struct waitgroup done;
    _Atomic int entered;
};

static void closing_receiver(void *arg)
{
    struct closing *closing = arg;
    uint64_t value = UINT64_MAX;
    atomic_fetch_add(&closing->entered, 1);
    CHECK(!chan_recv(closing->ch, &value) && value == 0);
    wg_done(&closing->done);
}

static void conform_close_wakes_all(void *arg)
{
    const struct conform_cell *cell = arg;
    int receivers = 25 * cell->scale;
    for (size_t capacity = 0; capacity <= 1; capacity++) {
        struct closing *closing = go_alloc_zeroed(sizeof *closing);
        closing->ch = chan_make(sizeof(uint64_t), capacity);
        wg_add(&closing->done, receivers);
        for (int i = 0; i < receivers; i++)
            go(closing_receiver, closing);
        while (atomic_load(&closing->entered) < receivers)
            gosched();
        chan_close(closing->ch);
        wg_wait(&closing->done);
        chan_free(closing->ch);
        go_free(closing);
    }
}

/* Wait groups, mutexes, conditions ---------------------------------------------------------- */

struct critical {
    struct mutex mu;
    struct cond cond;
    struct waitgroup done, start;
    int inside, turns, rounds, waiting;
    bool open;
};

static void critical_member(void *arg)
{
    struct critical *critical = arg;
    wg_wait(&critical->start);
    for (int i = 0; i < critical->rounds; i++) {
        if (i % 8 != 7 || !mutex_try_lock(&critical->mu))
            mutex_lock(&critical->mu);
        CHECK(critical->inside++ == 0);
        critical->turns++;
        if (i % 4 == 0)
            gosched();
        CHECK(--critical->inside == 0);
        mutex_unlock(&critical->mu);
    }
    wg_done(&critical->done);
}

static void conform_mutex_excludes(void *arg)
{
    const struct conform_cell *cell = arg;
    enum { MEMBERS = 8 };
    struct critical *critical = go_alloc_zeroed(sizeof *critical);
    critical->rounds = 50 * cell->scale;
    wg_add(&critical->start, 1);
    wg_add(&critical->done, MEMBERS);
    for (int i = 0; i < MEMBERS; i++)
        go(critical_member, critical);
    CHECK(mutex_try_lock(&critical->mu) && !mutex_try_lock(&critical->mu));
    mutex_unlock(&critical->mu);
    wg_done(&critical->start);
    wg_wait(&critical->done);
    CHECK(critical->turns == MEMBERS * critical->rounds);
    go_free(critical);
}

static void cond_member(void *arg)
{
    struct critical *critical = arg;
    mutex_lock(&critical->mu);
    critical->waiting++;
    while (!critical->open)
        cond_wait(&critical->cond, &critical->mu);
    critical->turns++;
    mutex_unlock(&critical->mu);
    wg_done(&critical->done);
}

static void cond_wait_for_members(struct critical *critical, int members)
{
    for (;;) {
        mutex_lock(&critical->mu);
        if (critical->waiting == members)
            return;
        mutex_unlock(&critical->mu);
        gosched();
    }
}

static void conform_cond_wakes(void *arg)
{
    const struct conform_cell *cell = arg;
    int members = 10 * cell->scale;
    for (int broadcast = 0; broadcast <= 1; broadcast++) {
        struct critical *critical = go_alloc_zeroed(sizeof *critical);
        wg_add(&critical->done, members);
        for (int i = 0; i < members; i++)
            go(cond_member, critical);
        cond_wait_for_members(critical, members);
        critical->open = true;
        if (broadcast)
            cond_broadcast(&critical->cond);
        for (int i = 0; i < members && !broadcast; i++)
            cond_signal(&critical->cond);
        mutex_unlock(&critical->mu);
        wg_wait(&critical->done);
        CHECK(critical->turns == members);
        go_free(critical);
    }
}

static void waiter(void *arg)
{
    struct critical *critical = arg;
    wg_wait(&critical->start);
    wg_done(&critical->done);
}

static void conform_waitgroup_releases_all(void *arg)
{
    const struct conform_cell *cell = arg;
    int waiters = 20 * cell->scale;
    struct critical *critical = go_alloc_zeroed(sizeof *critical);
    wg_wait(&critical->done); /* zero: no wait */
    for (int round = 0; round < 3; round++) {
        wg_add(&critical->start, 2);
        wg_add(&critical->done, waiters);
        for (int i = 0; i < waiters; i++)
            go(waiter, critical);
        wg_done(&critical->start);
        gosched();
        wg_add(&critical->start, -1);
        wg_wait(&critical->done);
    }
    go_free(critical);
}

/* One worker: nobody else takes from its queues. A goroutine that is started and has not run is
 * there, and so is the main one where a child runs first. They are more than a local queue holds:
 * some queues keep the first ones to their owner. */
enum { QUEUED_GS = 300 };

struct queued {
    struct waitgroup done;
    int left; /* one worker: nobody else writes it */
    bool spawning;
};

static void queued_g(void *arg)
{
    struct queued *self = arg;
    if (self->spawning)
        CHECK(this_sched()->ops->has_work(this_sched()));
    self->left--;
    wg_done(&self->done);
}

static void conform_has_work_sees_what_is_queued(void *arg)
{
    (void)arg;
    if (!this_sched()->ops->has_work)
        return; /* workers that nobody steals from */
    struct queued *self = go_alloc_zeroed(sizeof *self);
    self->spawning = true;
    self->left = QUEUED_GS;
    wg_add(&self->done, QUEUED_GS);
    for (int i = 0; i < QUEUED_GS; i++)
        go(queued_g, self);
    if (self->left > 0)
        CHECK(this_sched()->ops->has_work(this_sched()));
    self->spawning = false;
    wg_wait(&self->done);
    go_free(self);
}

const struct conform_case conform_goroutine_cases[] = {
    CASE(conform_all_spawned_run_once),
    CASE(conform_all_spawned_run_once, .settings = "owner=fifo"),
    CASE(conform_all_spawned_run_once, .settings = "deque=the"),
    CASE(conform_all_spawned_run_once, .settings = "deque=abp"),
    CASE(conform_all_spawned_run_once, .settings = "deque=half"),
    CASE(conform_all_spawned_run_once, .settings = "mailbox=mpsc"),
    CASE(conform_all_spawned_run_once, .settings = "mailbox=mpsc,deal=main"),
    CASE(conform_all_spawned_run_once, .settings = "queue=mpmc"),
    CASE(conform_all_spawned_run_once, .settings = "queue=msqueue"),
    CASE(conform_all_spawned_run_once, .settings = "queue=faa"),
    CASE(conform_all_spawned_run_once, .settings = "victim=near"),
    CASE(conform_all_spawned_run_once, .settings = "globals=group"),
    CASE(conform_all_spawned_run_once, .settings = "wake_delay_ns=20000"),
    CASE(conform_all_spawned_run_once, .settings = "width=load"),
    CASE(conform_all_spawned_run_once, .settings = "queue=multi"),
    CASE(conform_all_spawned_run_once, .settings = "globq=mpmc"),
    CASE(conform_all_spawned_run_once, .settings = "queue=bwos"),
    CASE(conform_all_spawned_run_once, .settings = "slot_age_ns=0"),
    CASE(conform_yield_lets_others_run),
    CASE(conform_yield_lets_others_run, .settings = "globals=2"),
    CASE(conform_sleep_not_early),
    CASE(conform_join_sees_result),
    CASE(conform_deep_spawn_tree),
    CASE(conform_no_lost_wakeup_pingpong),
    CASE(conform_no_lost_wakeup_pingpong, .settings = "width=load"),
    CASE(conform_no_lost_wakeup_bursts),
    CASE(conform_no_lost_wakeup_bursts, .settings = "width=load"),
    CASE(conform_chan_keeps_order),
    CASE(conform_chan_try_never_parks),
    CASE(conform_close_wakes_all),
    CASE(conform_mutex_excludes),
    CASE(conform_cond_wakes),
    CASE(conform_waitgroup_releases_all),
    CASE(conform_has_work_sees_what_is_queued, .alone = true),
    {0},
};
