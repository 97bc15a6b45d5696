/* test_idle.c - workers that idle while others submit: orders of steps that chance brings about
 * once in a thousand runs, brought about on purpose. A lost wake-up ends in the watchdog.
 */
#include "internal.h"
#include "machine/no_memory.h"
#include "netpoll.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "tests/support/every_variant.h"
#include "tests/support/refuse_call.h"

/* A spinner loses its P -------------------------------------------------------------------------
 *
 * M 1 runs a goroutine. M 2 is to search for work, and has not begun. Then there is to be only one
 * worker, that of M 0, which idles. M 1's goroutine yields, and M 1 wakes nobody, since M 2
 * searches; but M 2 finds that its P is not to be used any more, and has to see to it that M 0 is
 * woken. */
struct retiring {
    _Atomic bool began, asked, spinner_waits;
    struct waitgroup done;
};

static void spinner_waits(struct m *m, void *arg)
{
    struct retiring *self = arg;
    if (m->id != 2)
        return;
    atomic_store(&self->spinner_waits, true);
    for (bool both = false; !both;) {
        machine_yield();
        lock_acquire(&m->sched->lock);
        both = m->sched->idle_ms == 2;
        lock_release(&m->sched->lock);
    }
}

/* Not only on the list of the idle: it would look once more, and find the one that yields. */
static bool is_asleep(struct sched *sched, int32_t id)
{
    struct m *m = sched_first_m(sched);
    while (m->id != id)
        m = m->all_link;
    return !m_is_awake(m);
}

static void yielding_g(void *arg)
{
    struct retiring *self = arg;
    struct sched *sched = this_sched();
    atomic_store(&self->began, true);
    AWAIT(atomic_load(&self->asked) && is_asleep(sched, 0));
    gosched();
    wg_done(&self->done);
}

static void retiring_main(void *arg)
{
    (void)arg;
    struct retiring *self = go_alloc_zeroed(sizeof *self);
    this_sched()->m_started = spinner_waits; /* one thread yet, but for sysmon */
    this_sched()->hook_arg = self;
    wg_add(&self->done, 1);
    go(yielding_g, self);
    AWAIT(atomic_load(&self->began) && atomic_load(&self->spinner_waits));
    go_set_workers(1);
    atomic_store(&self->asked, true);
    wg_wait(&self->done);
    go_free(self);
}

static void a_spinner_that_loses_its_p_hands_the_search_on(void **state)
{
    (void)state;
    struct every_cell cell = {support_variant("grq"), 3, every_seed(), "preempt=none"};
    every_cell_run(&cell, retiring_main, 0, NULL);
}

/* A wake-up for each G made runnable ---------------------------------------------------------
 *
 * Two workers. When the other one sleeps and nobody searches, each way to make a goroutine runnable
 * wakes exactly one worker, before it returns.
 */
struct readied {
    struct waitgroup done;
    struct sem sem;
};

/* Nobody searches, and every other worker that there is sleeps. */
static void await_rest(void)
{
    struct sched *sched = this_sched();
    for (bool rests = false; !rests;) {
        machine_yield();
        lock_acquire(&sched->lock);
        rests = atomic_load(&sched->idle_ps) == 1 && atomic_load(&sched->spinning) == 0;
        for (struct m *m = sched_first_m(sched); m; m = m->all_link)
            rests = rests && (m == machine_self() || !m_is_awake(m));
        lock_release(&sched->lock);
    }
}

static void readied_g(void *arg)
{
    struct readied *self = arg;
    sem_acquire(&self->sem);
    wg_done(&self->done);
}

static uint64_t woken_by(const struct m *m)
{
    return atomic_load(&m->stats.value[STAT_WAKEUPS]) + atomic_load(&m->stats.value[STAT_THREADS]);
}

/* The caller's worker wakes it, or starts its thread; the caller may go on at another one. */
#define EXPECT_WAKES_ONE(call)                                                                     \
    do {                                                                                           \
        await_rest();                                                                              \
        const struct m *m_ = machine_self();                                                       \
        uint64_t woken_ = woken_by(m_);                                                            \
        call;                                                                                      \
        CHECK(woken_by(m_) == woken_ + 1);                                                         \
    } while (0)

static void readying_main(void *arg)
{
    (void)arg;
    struct readied *self = go_alloc_zeroed(sizeof *self);
    wg_add(&self->done, 1);
    EXPECT_WAKES_ONE(go(readied_g, self));
    every_await_parks(1);
    EXPECT_WAKES_ONE(gosched());
    EXPECT_WAKES_ONE(sem_release(&self->sem, false));
    wg_wait(&self->done);
    go_free(self);
}

static void who_readies_wakes_one(void **state)
{
    (void)state;
    static const char *const variants[] = {"gmp", "perm", "grq", "tasksteal"};
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        run_scene(variants[i], "preempt=none,sysmon=off", 2, readying_main);
}

/* A core for each P ----------------------------------------------------------------------------
 *
 * There are more threads than Ps, and each hand-off may give a P to another of them. */
enum { CALLERS = 6, CALLS_EACH = 200 };

struct pinned {
    struct waitgroup done;
    cpu_set_t core[2]; /* those that a P was seen on */
};

static void pinned_g(void *arg)
{
    struct pinned *self = arg;
    for (int i = 0; i < CALLS_EACH; i++) {
        blocking_nop();
        cpu_set_t set;
        sched_getaffinity(0, sizeof set, &set);
        int32_t p = machine_self()->p->id; /* nobody stops this goroutine: preempt=none */
        CHECK(CPU_COUNT(&set) == 1);
        CPU_OR(&self->core[p], &self->core[p], &set);
    }
    wg_done(&self->done);
}

static void pinned_main(void *arg)
{
    (void)arg;
    struct pinned *self = go_alloc_zeroed(sizeof *self);
    wg_add(&self->done, CALLERS);
    for (int i = 0; i < CALLERS; i++)
        go(pinned_g, self);
    wg_wait(&self->done);
    CHECK(CPU_COUNT(&self->core[0]) <= 1 && CPU_COUNT(&self->core[1]) <= 1);
    cpu_set_t both;
    CPU_AND(&both, &self->core[0], &self->core[1]);
    CHECK(CPU_COUNT(&both) == 0);
    go_free(self);
}

static void a_pinned_p_has_a_core_of_its_own_after_handoffs(void **state)
{
    (void)state;
    static const char *const variants[] = {"gmp", "perm", "grq", "contsteal"};
    static struct support_report report;
    if (machine_cpu_count() < 2) {
        print_message("one core: both Ps run on it\n");
        skip();
    }
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        struct support_run run = {.variant = variants[i],
                                  .settings = "preempt=none,calls=immediate",
                                  .workers = 2,
                                  .pin = true,
                                  .seed = every_seed(),
                                  .fn = pinned_main};
        support_run(&run, &report);
        if (report.status != 0 || report.stat[STAT_HANDOFFS] == 0)
            fail_msg("%s: status %d, %" PRIu64 " hand-offs, output:\n%s", variants[i],
                     report.status, report.stat[STAT_HANDOFFS], report.output);
    }
}

/* Waiters that were not found --------------------------------------------------------------------
 *
 * Two goroutines wait at one socket, to read and to write, and a third one at a pipe. The end of
 * the socket's peer readies both by one event. The M that has watched runs one of them; another M
 * runs the other one, before the first has passed the watch on. The third goroutine has to be
 * counted nevertheless, and another idle M has the watch before the first one is run.
 *
 * Main keeps one of eight workers. Three or four more are woken on the way: the scene's, that of
 * the poller's list, and one or two spinners. Workers that find nothing are held, or they would
 * take the watch themselves. So Ps and Ms idle at the end, whoever was woken. */
enum { COUNTED_WORKERS = 8 };

static struct counted {
    struct sched_ops ops, real;
    _Atomic int32_t began;
    _Atomic bool armed, held, looked;
    struct waitgroup done;
    struct poll_desc *socket, *pipe;
    bool watched;
} counted;

/* All but the first of the event's list go this way. */
static void counted_ready(struct m *m, struct g *gp, enum ready_how how)
{
    counted.real.ready(m, gp, how);
    if (how != READY_INJECTED || !atomic_load(&counted.armed))
        return;
    start_idle_p(m);
    while (netpoll_waiters(m->sched) == 3)
        machine_yield();
    atomic_store(&counted.held, true);
}

static struct g *counted_pick(struct m *m, bool *inherit)
{
    while (atomic_load(&counted.held) && !atomic_load(&counted.looked))
        machine_yield();
    return counted.real.pick(m, inherit);
}

/* So that there is an M for each worker. */
static void counted_begin_g(void *arg)
{
    (void)arg;
    atomic_fetch_add(&counted.began, 1);
    AWAIT(atomic_load(&counted.began) == COUNTED_WORKERS);
    wg_done(&counted.done);
}

/* The writer's event comes last, and so it is the first of the list. */
static void counted_writer_g(void *arg)
{
    (void)arg;
    CHECK(poll_wait(counted.socket, POLL_WRITE) == 0);
    struct sched *sched = this_sched();
    lock_acquire(&sched->lock);
    counted.watched = sched->timer_m;
    lock_release(&sched->lock);
    atomic_store(&counted.looked, true);
    wg_done(&counted.done);
}

static void counted_reader_g(void *arg)
{
    (void)arg;
    CHECK(poll_wait(counted.socket, POLL_READ) == 0);
    AWAIT(atomic_load(&counted.looked)); /* or its M would take the watch */
    wg_done(&counted.done);
}

static void counted_third_g(void *arg)
{
    (void)arg;
    CHECK(poll_wait(counted.pipe, POLL_READ) == 0);
    wg_done(&counted.done);
}

static bool counted_rest(struct sched *sched)
{
    bool rest = atomic_load(&sched->idle_ps) == COUNTED_WORKERS - 1;
    lock_acquire(&sched->lock);
    rest = rest && sched->poll_m && sched->poll_m == sched->timer_m;
    lock_release(&sched->lock);
    for (struct m *m = sched_first_m(sched); m; m = m->all_link)
        rest = rest && (m == machine_self() || !m_is_awake(m));
    return rest;
}

static void counted_main(void *arg)
{
    (void)arg;
    struct sched *sched = this_sched();
    int ends[2], pipe[2];
    counted.real = counted.ops = *sched->ops;
    counted.ops.ready = counted_ready;
    counted.ops.pick = counted_pick;
    sched->ops = machine_self()->ops = &counted.ops; /* there is no other M yet */
    wg_add(&counted.done, COUNTED_WORKERS - 1);
    for (int i = 1; i < COUNTED_WORKERS; i++)
        go(counted_begin_g, NULL);
    atomic_fetch_add(&counted.began, 1);
    AWAIT(atomic_load(&counted.began) == COUNTED_WORKERS);
    wg_wait(&counted.done);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    CHECK(machine_fd_pipe(pipe, false) == 0);
    while (machine_fd_write(ends[0], "x", 1) == 1)
        continue;
    CHECK(poll_open(sched, ends[0], &counted.socket) == 0);
    CHECK(poll_open(sched, pipe[0], &counted.pipe) == 0);
    wg_add(&counted.done, 3);
    go(counted_writer_g, NULL);
    go(counted_reader_g, NULL);
    go(counted_third_g, NULL);
    AWAIT(netpoll_waiters(sched) == 3 && counted_rest(sched));
    atomic_store(&counted.armed, true);
    machine_fd_close(ends[1]);
    AWAIT(atomic_load(&counted.looked));
    CHECK(counted.watched);
    CHECK(machine_fd_write(pipe[1], "x", 1) == 1);
    wg_wait(&counted.done);
    for (int i = 0; i < 2; i++) {
        poll_evict(i ? counted.pipe : counted.socket);
        poll_close(i ? counted.pipe : counted.socket);
        machine_fd_close(pipe[i]);
    }
    machine_fd_close(ends[0]);
}

static void readers_that_others_run_already_are_counted_as_found(void **state)
{
    (void)state;
    run_scene("gmp", "preempt=none,sysmon=off,watch=handover", COUNTED_WORKERS, counted_main);
}

/* The fence of who falls asleep -----------------------------------------------------------------
 *
 * It works when the run begins, and fails in mid-run, as under a filter that comes later. Nobody
 * could then rely on it, so the run ends. The knob recheck leaves the fence where it is. */
static void fence_fails_main(void *arg)
{
    (void)arg;
    struct waitgroup *never = go_alloc_zeroed(sizeof *never);
    wg_add(never, 1);
    refuse_call(SYS_membarrier);
    wg_wait(never);
}

static void a_fence_that_fails_in_mid_run_ends_it(void **state)
{
    (void)state;
    static const char *const settings[] = {"fence=sleeper,sysmon=off",
                                           "fence=sleeper,sysmon=off,recheck=before",
                                           "fence=sleeper,sysmon=off,recheck=none"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct every_cell cell = {support_variant("gmp"), 2, every_seed(), settings[i]};
        every_cell_run(&cell, fence_fails_main, EXIT_ENVIRONMENT,
                       "the fence on all cores, which worked");
    }
}

/* Thieves need the fence for runnext_owner=plain, which says so before anything runs. */
static void fence_is_refused(void *arg)
{
    (void)arg;
    refuse_call(SYS_membarrier);
}

static void nothing_main(void *arg)
{
    (void)arg;
}

static void a_plain_runnext_needs_the_fence(void **state)
{
    (void)state;
    static const char *const settings[] = {"fence=submitter,runnext_owner=plain",
                                           "fence=submitter"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        static struct support_report report;
        struct support_run run = {.variant = "gmp",
                                  .settings = settings[i],
                                  .workers = 2,
                                  .before = fence_is_refused,
                                  .fn = nothing_main};
        support_run(&run, &report);
        assert_int_equal(report.status, i == 0 ? EXIT_ENVIRONMENT : 0);
        assert_int_equal(i == 0,
                         strstr(report.output, "runnext_owner=plain needs a fence") != NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spinner_that_loses_its_p_hands_the_search_on),
        cmocka_unit_test(who_readies_wakes_one),
        cmocka_unit_test(a_pinned_p_has_a_core_of_its_own_after_handoffs),
        cmocka_unit_test(readers_that_others_run_already_are_counted_as_found),
        cmocka_unit_test(a_fence_that_fails_in_mid_run_ends_it),
        cmocka_unit_test(a_plain_runnext_needs_the_fence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
