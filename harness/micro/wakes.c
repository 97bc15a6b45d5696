/* wakes.c - waking an idle worker: what it costs who readies a goroutine, and how long until that
 * goroutine runs.
 *
 * Main keeps its worker busy all the time, so that the goroutine can only run on another one.
 * Before each wake main waits until all other Ms sleep, and a little longer, until their threads
 * have left their cores: the same conditions as floor/futex_wake has.
 */
#include "harness/micro/micro.h"

enum { WAKER_PAYS, UNTIL_IT_RUNS }; /* how */
enum { WORKERS = 2, SETTLE_NS = 20000, WAKES = 1000, WARM_UP = 3 };

/* A wait that ends no earlier means that nobody will come: a failure, not a slow machine. */
#define NOBODY_COMES_NS INT64_C(10000000000)

struct sleeper {
    struct g *gp;
    struct m *m; /* where it ran last */
    _Atomic uint32_t parks;
    _Atomic uint64_t runs;
    int64_t ran_ns; /* published by runs */
    _Atomic bool over;
    struct join join;
};

struct waking {
    struct micro *micro;
    struct sleeper sleepers[WORKERS];
    uint64_t elsewhere;
};

static void sleeper_main(void *arg)
{
    struct sleeper *sleeper = arg;
    sleeper->m = machine_self();
    sleeper->gp = sleeper->m->curg;
    sleeper->gp->wait_reason = WAIT_CHAN_RECV;
    sleeper->gp->wait_on = sleeper;
    atomic_store_explicit(&sleeper->parks, 1, memory_order_release);
    g_park();
    while (!atomic_load_explicit(&sleeper->over, memory_order_acquire)) {
        sleeper->ran_ns = machine_now();
        sleeper->m = machine_self();
        atomic_fetch_add_explicit(&sleeper->runs, 1, memory_order_release);
        sleeper->gp->wait_reason = WAIT_CHAN_RECV;
        sleeper->gp->wait_on = sleeper;
        g_park();
    }
}

static bool others_sleep(struct sched *sched, const struct m *self)
{
    for (struct m *m = sched_first_m(sched); m; m = m->all_link)
        if (m != self && m_is_awake(m))
            return false;
    return true;
}

/* False if they never do. */
static bool wait_until_others_sleep(struct sched *sched)
{
    struct m *self = machine_self();
    int64_t begin = machine_now();
    while (!others_sleep(sched, self)) {
        machine_yield();
        if (machine_now() - begin > NOBODY_COMES_NS)
            return false;
    }
    for (int64_t end = machine_now() + SETTLE_NS; machine_now() < end;)
        machine_relax(self, 1);
    return true;
}

/* Wakes once; adds its time if it counts. False: nobody came. */
static bool wake_once(struct waking *waking, struct sleeper *sleeper, bool counts)
{
    struct micro *micro = waking->micro;
    uint64_t runs = atomic_load_explicit(&sleeper->runs, memory_order_relaxed) + 1;
    if (!wait_until_others_sleep(micro->sched))
        return false;
    int64_t before = machine_now();
    g_ready(sleeper->gp);
    int64_t after = machine_now();
    while (atomic_load_explicit(&sleeper->runs, memory_order_acquire) != runs) {
        machine_relax(&sleeper->runs, 1);
        if (machine_now() - after > NOBODY_COMES_NS)
            return false;
    }
    if (counts) {
        micro_took(micro, (micro->op->how == UNTIL_IT_RUNS ? sleeper->ran_ns : after) - before);
        waking->elsewhere += sleeper->m != machine_self();
    }
    return true;
}

/* One that another worker will run: where goroutines do not move, not every one is. */
static struct sleeper *sleeper_choose(struct waking *waking)
{
    for (int i = 0; i < WORKERS; i++)
        if (waking->sleepers[i].m != machine_self())
            return &waking->sleepers[i];
    return &waking->sleepers[0];
}

static void wake(struct micro *micro)
{
    struct waking waking = {.micro = micro};
    for (int i = 0; i < WORKERS; i++) {
        join_go(&waking.sleepers[i].join, sleeper_main, &waking.sleepers[i]);
        while (!atomic_load_explicit(&waking.sleepers[i].parks, memory_order_acquire))
            gosched();
    }
    struct sleeper *sleeper = sleeper_choose(&waking);
    bool came = true;
    for (int i = 0; i < WARM_UP && came; i++)
        came = wake_once(&waking, sleeper, false);
    micro_open(micro);
    for (uint64_t i = 0; i < micro->n && came; i++)
        came = wake_once(&waking, sleeper, true);
    micro_close(micro);
    if (!came)
        micro_fail(micro, "no other worker ran the goroutine that was made runnable");
    for (int i = 0; i < WORKERS; i++) {
        atomic_store_explicit(&waking.sleepers[i].over, true, memory_order_release);
        if (came || &waking.sleepers[i] != sleeper)
            g_ready(waking.sleepers[i].gp);
        join_wait(&waking.sleepers[i].join);
    }
    if (came)
        micro_expect(micro, "wakes of another worker", waking.elsewhere, micro->n);
}

const struct micro_op micro_wakes[] = {
    {"wake/pay", "floor/futex_wake", MICRO_MAIN, wake, .serves = micro_serves_parallel,
     .workers = WORKERS, .iterations = WAKES, .how = WAKER_PAYS},
    {"wake/run", "floor/futex_wake_run", MICRO_MAIN, wake, .serves = micro_serves_parallel,
     .workers = WORKERS, .iterations = WAKES, .how = UNTIL_IT_RUNS},
    {0},
};
