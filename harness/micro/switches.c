/* switches.c - one goroutine after another: a switch, a yield, a new goroutine, a child.
 *
 * All with one worker, so that what is timed is the path and not the traffic between cores.
 */
#include "harness/micro/micro.h"

enum { SPAWN_BATCH = 64 };

/* Park and ready ----------------------------------------------------------------------------- */

/* Two goroutines that hand the worker to each other: each readies the other and parks. A channel or
 * a lock does the same work, beside its own. */
struct hand_over {
    struct g *here, *there;
    _Atomic uint32_t there_parks;
    bool over;
    uint64_t arrivals;
    struct join join;
};

static struct g *self(void)
{
    return machine_self()->curg;
}

static void park(struct hand_over *hand_over)
{
    struct g *gp = self();
    gp->wait_reason = WAIT_CHAN_RECV;
    gp->wait_on = hand_over;
    g_park();
}

static void there_main(void *arg)
{
    struct hand_over *hand_over = arg;
    hand_over->there = self();
    atomic_store_explicit(&hand_over->there_parks, 1, memory_order_release);
    park(hand_over);
    while (!hand_over->over) {
        hand_over->arrivals++;
        g_ready(hand_over->here);
        park(hand_over);
    }
}

static void switch_over(struct micro *micro)
{
    struct hand_over hand_over = {.over = false};
    uint64_t rounds = (micro->n + 1) / 2;
    hand_over.here = self();
    join_go(&hand_over.join, there_main, &hand_over);
    while (!atomic_load_explicit(&hand_over.there_parks, memory_order_acquire))
        gosched();
    micro_start(micro);
    for (uint64_t i = 0; i < rounds; i++) {
        g_ready(hand_over.there);
        park(&hand_over);
    }
    micro_stop(micro);
    micro_did(micro, 2 * rounds);
    hand_over.over = true;
    g_ready(hand_over.there);
    join_wait(&hand_over.join);
    micro_expect(micro, "hand-overs", hand_over.arrivals, rounds);
}

/* Yield -------------------------------------------------------------------------------------- */

struct yielding {
    uint64_t rounds;
    struct join join;
};

static void yields(void *arg)
{
    const struct yielding *yielding = arg;
    for (uint64_t i = 0; i < yielding->rounds; i++)
        gosched();
}

static void yield(struct micro *micro)
{
    struct yielding yielding = {.rounds = (micro->n + 1) / 2};
    uint64_t before = sched_stat(micro->sched, STAT_YIELDS);
    join_go(&yielding.join, yields, &yielding);
    micro_start(micro);
    yields(&yielding);
    join_wait(&yielding.join);
    micro_stop(micro);
    micro_did(micro, 2 * yielding.rounds);
    micro_expect(micro, "yields", sched_stat(micro->sched, STAT_YIELDS) - before,
                 2 * yielding.rounds);
}

/* Spawn -------------------------------------------------------------------------------------- */

struct spawning {
    struct waitgroup group;
    _Atomic uint64_t ran;
};

static void spawned(void *arg)
{
    struct spawning *spawning = arg;
    atomic_fetch_add_explicit(&spawning->ran, 1, memory_order_relaxed); /* by the wait group */
    wg_done(&spawning->group);
}

/* From go() until it has run and ended; so many at a time that the parent's wait is shared. */
static void spawn(struct micro *micro)
{
    struct spawning spawning = {.ran = 0};
    micro_start(micro);
    for (uint64_t done = 0; done < micro->n;) {
        uint64_t batch = micro->n - done < SPAWN_BATCH ? micro->n - done : SPAWN_BATCH;
        wg_add(&spawning.group, (int32_t)batch);
        for (uint64_t i = 0; i < batch; i++)
            go(spawned, &spawning);
        wg_wait(&spawning.group);
        done += batch;
    }
    micro_stop(micro);
    micro_expect(micro, "goroutines", atomic_load_explicit(&spawning.ran, memory_order_relaxed),
                 micro->n);
}

/* Spawn and sync ----------------------------------------------------------------------------- */

/* forks.c, compiled once per policy */
void micro_forks_FJ_GO(struct micro *micro), micro_forks_FJ_HELP(struct micro *micro);
void micro_forks_FJ_WORK(struct micro *micro), micro_forks_FJ_LINKED(struct micro *micro);

static void spawn_sync(struct micro *micro)
{
    static void (*const forks[])(struct micro *) = {[FJ_GO] = micro_forks_FJ_GO,
                                                    [FJ_HELP] = micro_forks_FJ_HELP,
                                                    [FJ_WORK] = micro_forks_FJ_WORK,
                                                    [FJ_LINKED] = micro_forks_FJ_LINKED};
    forks[fj_policy()](micro);
}

static bool serves_forkjoin(const struct sched_ops *ops)
{
    return ops->forkjoin != FJ_GO;
}

/* Blocking calls ----------------------------------------------------------------------------- */

/* The shortest there is, so that what the marks cost shows: compare floor/kernel_call. */
static void blocking_call(struct micro *micro)
{
    uint64_t before = sched_stat(micro->sched, STAT_CALLS);
    micro_start(micro);
    for (uint64_t i = 0; i < micro->n; i++) {
        blocking_enter();
        machine_call();
        blocking_exit();
    }
    micro_stop(micro);
    micro_did(micro, micro->n);
    micro_expect(micro, "calls", sched_stat(micro->sched, STAT_CALLS) - before, micro->n);
}

const struct micro_op micro_switches[] = {
    {"switch", "floor/ctx_switch", MICRO_MAIN, switch_over, .serves = micro_serves_all},
    {"yield", "floor/ctx_switch", MICRO_MAIN, yield, .serves = micro_serves_all},
    {"spawn", "floor/ctx_switch", MICRO_MAIN, spawn, .serves = micro_serves_all},
    {"blocking_call", "floor/kernel_call", MICRO_MAIN, blocking_call, .serves = micro_serves_all},
    {"spawn_sync", "floor/call", MICRO_MAIN, spawn_sync, .serves = serves_forkjoin},
    {0},
};
