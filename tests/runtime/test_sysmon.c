/* test_sysmon.c - who gets a P, or a goroutine, that a call, sysmon or the poller has set free; and
 * when sysmon rests. Nothing here waits for time to pass, only for what has to come of it.
 */
#include "internal.h"
#include "io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/every_variant.h"

static uint64_t stat_now(enum stat_id which)
{
    return sched_stat(this_sched(), which);
}

/* A P comes back from a call ---------------------------------------------------------------------
 *
 * One worker, nobody watches. Main gives its P up, since its site's calls are known to last, and
 * the other goroutine enters a call with it. When main is back it takes that P, and need not queue.
 */
struct two_calls {
    _Atomic bool other_calls, main_is_back;
    struct waitgroup done;
};

static void other_caller(void *arg)
{
    struct two_calls *self = arg;
    blocking_enter();
    atomic_store(&self->other_calls, true);
    while (!atomic_load(&self->main_is_back))
        machine_yield();
    blocking_exit();
    wg_done(&self->done);
}

/* A call of one site, which takes some time. */
static __attribute__((noinline)) void call_until(const _Atomic bool *over)
{
    blocking_enter();
    int64_t start = machine_now();
    while (machine_now() == start || !atomic_load(over))
        machine_yield();
    blocking_exit();
}

static void two_calls_main(void *arg)
{
    (void)arg;
    struct two_calls *self = go_alloc_zeroed(sizeof *self);
    _Atomic bool over = true;
    call_until(&over);
    wg_add(&self->done, 1);
    go_global(other_caller, self);
    call_until(&self->other_calls);
    CHECK(stat_now(STAT_CALLS_QUEUED) == 0);
    CHECK(stat_now(STAT_HANDOFFS) == 2); /* given up, and taken from the call */
    atomic_store(&self->main_is_back, true);
    AWAIT(stat_now(STAT_CALLS_QUEUED) == 1); /* the other finds it with main, which runs */
    wg_wait(&self->done);
    go_free(self);
}

static void a_call_takes_its_p_back_from_another(void **state)
{
    (void)state;
    run_scene("gmp", "calls=adaptive,call_long_ns=0,sysmon=off", 1, two_calls_main);
    run_scene("grq", "calls=adaptive,call_long_ns=0,sysmon=off", 1, two_calls_main);
    run_scene("gmp", "calls=adaptive,call_long_ns=0,sysmon=off,returns=queue", 1, two_calls_main);
}

/* sysmon's deep sleep -------------------------------------------------------------------------- */

struct rest {
    struct sched *sched;
    _Atomic bool seen;
};

/* Looks on from outside: the counter stands still for as long as all Ps are idle. */
static void see_it_rest(void *arg)
{
    struct rest *self = arg;
    struct sched *sched = self->sched;
    uint64_t rounds;
    do {
        while (!atomic_load(&sched->sysmon_deep))
            machine_yield();
        rounds = sched_stat_rest(sched, STAT_SYSMON_ROUNDS);
        int64_t end = machine_now() + 20000000; /* hundreds of looks, if it were awake */
        while (machine_now() < end)
            machine_yield();
    } while (!atomic_load(&sched->sysmon_deep));
    if (sched_stat_rest(sched, STAT_SYSMON_ROUNDS) != rounds)
        support_fail(__FILE__, __LINE__, "sysmon looks round while all Ps are idle");
    atomic_store(&self->seen, true);
}

static void rest_main(void *arg)
{
    (void)arg;
    struct rest self = {this_sched(), false};
    struct machine_thread thread;
    CHECK(machine_thread_start(&thread, see_it_rest, &self, STACK_SIZE_THREAD, -1) == 0);
    while (!atomic_load(&self.seen))
        go_sleep(100000000);
    machine_thread_join(&thread);
    uint64_t rounds = stat_now(STAT_SYSMON_ROUNDS);
    AWAIT(stat_now(STAT_SYSMON_ROUNDS) >= rounds + 3); /* a worker is busy: it is awake again */
}

static void sysmon_rests_while_all_are_idle(void **state)
{
    (void)state;
    run_scene("gmp", "sysmon_ns=10000,sysmon_max_ns=10000", 1, rest_main);
    run_scene("grq", "sysmon_ns=10000,sysmon_max_ns=10000", 2, rest_main);
}

/* sysmon's period ---------------------------------------------------------------------------------
 *
 * ROUNDS_SHORT looks a microsecond apart, then doubling: after ROUNDS_BACKED_OFF the next as many
 * take longer than AWAIT() waits, at 65 ms each or more, unless the period is the shortest again.
 */
enum { ROUNDS_SHORT = 400, ROUNDS_BACKED_OFF = ROUNDS_SHORT + 16 };

#define LOOKS_BACK_OFF "sysmon_rounds=400,sysmon_ns=1000,sysmon_max_ns=1000000000"

/* Since there were `rounds`, before what makes sysmon quick: whoever waits may come late. */
static void await_short_rounds(uint64_t rounds)
{
    AWAIT(stat_now(STAT_SYSMON_ROUNDS) >= rounds + ROUNDS_SHORT);
}

struct backed_off {
    _Atomic bool looked;
    uint64_t rounds;
    struct waitgroup done;
};

static void looked_at_g(void *arg)
{
    struct backed_off *self = arg;
    await_short_rounds(self->rounds);
    atomic_store(&self->looked, true);
    wg_done(&self->done);
}

/* One worker, which is busy before the call and in it, so that nothing else wakes sysmon. */
static void retaken_main(void *arg)
{
    (void)arg;
    struct backed_off *self = go_alloc_zeroed(sizeof *self);
    wg_add(&self->done, 1);
    go(looked_at_g, self);
    AWAIT(stat_now(STAT_SYSMON_ROUNDS) >= ROUNDS_BACKED_OFF);
    self->rounds = stat_now(STAT_SYSMON_ROUNDS);
    blocking_enter();
    while (!atomic_load(&self->looked))
        machine_yield();
    blocking_exit();
    CHECK(stat_now(STAT_HANDOFFS) == 1);
    wg_wait(&self->done);
    go_free(self);
}

static void slow_main(void *arg)
{
    (void)arg;
    AWAIT(stat_now(STAT_SYSMON_LONG_NS) > 0);
    CHECK(stat_now(STAT_SYSMON_ROUNDS) > ROUNDS_SHORT); /* the looks before were quick ones */
}

static void quick_main(void *arg)
{
    (void)arg;
    AWAIT(stat_now(STAT_SYSMON_ROUNDS) > ROUNDS_SHORT);
    CHECK(stat_now(STAT_SYSMON_LONG_NS) == 0);
}

static void sysmons_longest_sleeps_are_counted(void **state)
{
    (void)state;
    run_scene("gmp", "preempt=none,sysmon_rounds=400,sysmon_ns=1000,sysmon_max_ns=4000", 1,
              slow_main);
    run_scene("gmp", "preempt=none,sysmon_rounds=1000000,sysmon_ns=1000,sysmon_max_ns=4000", 1,
              quick_main);
}

static void a_retake_makes_sysmon_quick(void **state)
{
    (void)state;
    run_scene("gmp", LOOKS_BACK_OFF ",preempt=none", 1, retaken_main);
    run_scene("grq", LOOKS_BACK_OFF ",preempt=none", 1, retaken_main);
}

/* The call gives its P up at once, and lasts until sysmon has seen that all are idle. */
static void rested_main(void *arg)
{
    (void)arg;
    AWAIT(stat_now(STAT_SYSMON_ROUNDS) >= ROUNDS_BACKED_OFF);
    uint64_t rounds = stat_now(STAT_SYSMON_ROUNDS);
    blocking_enter();
    while (!atomic_load(&this_sched()->sysmon_deep))
        machine_yield();
    blocking_exit();
    await_short_rounds(rounds);
}

static void a_rest_makes_sysmon_quick(void **state)
{
    (void)state;
    run_scene("gmp", LOOKS_BACK_OFF ",preempt=coop,calls=immediate", 1, rested_main);
    run_scene("grq", LOOKS_BACK_OFF ",preempt=coop,calls=immediate", 1, rested_main);
}

/* sysmon polls ------------------------------------------------------------------------------------
 *
 * One worker, which is kept busy: only sysmon can find out that the pipe is readable. */
struct reader {
    struct io *io;
    struct waitgroup done;
};

static void reader_g(void *arg)
{
    struct reader *self = arg;
    char byte;
    CHECK(io_read(self->io, &byte, 1) == 1);
    wg_done(&self->done);
}

static void busy_main(void *arg)
{
    (void)arg;
    struct reader *self = go_alloc_zeroed(sizeof *self);
    struct io *writer;
    CHECK(io_pipe(&self->io, &writer, IO_POLLED) == 0);
    wg_add(&self->done, 1);
    uint64_t parks = stat_now(STAT_PARKS);
    go(reader_g, self);
    while (stat_now(STAT_PARKS) == parks)
        gosched();
    CHECK(io_write(writer, "x", 1) == 1);
    AWAIT(this_sched()->ops->has_work(this_sched()));
    wg_wait(&self->done);
    io_free(self->io);
    io_free(writer);
    go_free(self);
}

static void sysmon_polls_while_all_are_busy(void **state)
{
    (void)state;
    run_scene("gmp", "preempt=none", 1, busy_main);
    run_scene("grq", "preempt=none", 1, busy_main);
}

/* A slice and a call -----------------------------------------------------------------------------
 *
 * Two workers, one of them idle, so that the P stays with the call. Thirty looks are three slices.
 * Where sysmon came so late that it took the P all the same, it is tried once more. */
static void in_call_main(void *arg)
{
    (void)arg;
    uint64_t handoffs;
    bool asked;
    do {
        gosched(); /* a new slice */
        blocking_enter();
        struct m *m = machine_self(); /* the same until the call is over */
        handoffs = stat_now(STAT_HANDOFFS);
        uint64_t rounds = stat_now(STAT_SYSMON_ROUNDS);
        while (stat_now(STAT_HANDOFFS) == handoffs && stat_now(STAT_SYSMON_ROUNDS) < rounds + 2)
            machine_yield();
        atomic_store(&m->preempt, false); /* a look that began before the call is over */
        while (stat_now(STAT_HANDOFFS) == handoffs && stat_now(STAT_SYSMON_ROUNDS) < rounds + 30)
            machine_yield();
        asked = atomic_load(&m->preempt);
        blocking_exit();
    } while (stat_now(STAT_HANDOFFS) != handoffs);
    CHECK(!asked);
}

static void who_is_in_a_call_is_not_asked_to_stop(void **state)
{
    (void)state;
    run_scene("gmp",
              "preempt=coop,slice_ns=1000000,sysmon_ns=100000,sysmon_max_ns=100000,"
              "lenient_ns=1000000000",
              2, in_call_main);
}

/* Queues of the preempted -------------------------------------------------------------------- */

static void preempted_main(void *arg)
{
    (void)arg;
    CHECK(stat_now(STAT_GRQ_HITS) == 0);
    AWAIT((go_preempt_point(), stat_now(STAT_PREEMPTS) > 0));
    CHECK(stat_now(STAT_GRQ_HITS) > 0);
}

static void who_is_preempted_goes_to_the_global_queue(void **state)
{
    (void)state;
    run_scene("gmp", "preempt=coop,slice_ns=100000,sysmon_max_ns=20000", 1, preempted_main);
    run_scene("perm", "preempt=coop,slice_ns=100000,sysmon_max_ns=20000", 1, preempted_main);
}

/* Main is asked to stop, and has given way before it looks. */
static void next_g(void *arg)
{
    go_preempt_point();
    wg_done(arg);
}

static void asked_main(void *arg)
{
    (void)arg;
    struct waitgroup *done = go_alloc_zeroed(sizeof *done);
    struct m *m = machine_self();
    wg_add(done, 1);
    go(next_g, done);
    preempt_request(m, m);
    wg_wait(done);
    CHECK(stat_now(STAT_PREEMPTS) == 0);
    go_free(done);
}

static void who_comes_next_is_not_stopped_in_its_place(void **state)
{
    (void)state;
    run_scene("gmp", "preempt=coop,sysmon=off", 1, asked_main); /* in the same slice */
    run_scene("grq", "preempt=coop,sysmon=off", 1, asked_main);
}

enum { WORKERS = 4, PARKED = 6 };

struct parked {
    struct g *gp[PARKED];
    _Atomic int count;
    struct waitgroup done;
};

static void parked_g(void *arg)
{
    struct parked *self = arg;
    struct g *gp = machine_self()->curg;
    gp->wait_reason = WAIT_IO_READ;
    gp->wait_on = NULL;
    self->gp[atomic_fetch_add(&self->count, 1)] = gp;
    g_park();
    wg_done(&self->done);
}

/* Gs that the poller finds, while all workers but main's are idle. */
static void placed_main(void *arg)
{
    (void)arg;
    struct parked *self = go_alloc_zeroed(sizeof *self);
    struct sched *sched = this_sched();
    wg_add(&self->done, PARKED);
    for (int i = 0; i < PARKED; i++)
        go(parked_g, self);
    while (atomic_load(&self->count) < PARKED || atomic_load(&sched->idle_ps) < WORKERS - 1)
        go_sleep(100000);
    for (int i = 0; i < PARKED - 1; i++)
        self->gp[i]->link = self->gp[i + 1];
    self->gp[PARKED - 1]->link = NULL;
    uint64_t hits = stat_now(STAT_GRQ_HITS);
    struct m *m = machine_self();
    m->polled = netpoll_put(m, self->gp[0]);
    CHECK(m->polled == self->gp[0]);
    wg_wait(&self->done);
    CHECK(stat_now(STAT_GRQ_HITS) > hits);
    go_free(self);
}

static void idle_workers_find_what_was_polled_in_the_global_queue(void **state)
{
    (void)state;
    run_scene("gmp", "preempt=none,sysmon=off", WORKERS, placed_main);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_takes_its_p_back_from_another),
        cmocka_unit_test(sysmon_rests_while_all_are_idle),
        cmocka_unit_test(sysmons_longest_sleeps_are_counted),
        cmocka_unit_test(a_retake_makes_sysmon_quick),
        cmocka_unit_test(a_rest_makes_sysmon_quick),
        cmocka_unit_test(sysmon_polls_while_all_are_busy),
        cmocka_unit_test(who_is_in_a_call_is_not_asked_to_stop),
        cmocka_unit_test(who_is_preempted_goes_to_the_global_queue),
        cmocka_unit_test(who_comes_next_is_not_stopped_in_its_place),
        cmocka_unit_test(idle_workers_find_what_was_polled_in_the_global_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
