/* test_storms.c - many connections, timers and blocking calls at once, again and again:
 * descriptors, heaps and threads come back to where they were. AddressSanitizer shows lost memory
 * at the end of each child.
 */
#include "internal.h"
#include "timer.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/every_variant.h"

#if defined(SCHEDLAB_TSAN)
enum { SLOWER = 50 };
#elif SUPPORT_SANITIZED
enum { SLOWER = 10 };
#else
enum { SLOWER = 1 };
#endif

enum { WORKERS = 4, CYCLES = 5 };

static int threads_of_others; /* a sanitizer's, and the one that has made the scheduler */

static int entries(const char *path)
{
    DIR *folder = opendir(path);
    CHECK(folder);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        n += entry->d_name[0] != '.';
    closedir(folder);
    return n;
}

static int fds_now(void)
{
    return entries("/proc/self/fd") - 1; /* that of opendir() */
}

/* Beside M 0's. */
static int threads_now(void)
{
    return entries("/proc/self/task") - threads_of_others;
}

static void tell_id(void *arg)
{
    *(int *)arg = gettid();
}

/* A sanitizer starts its own with the first. One that has been joined is listed a moment longer. */
static void count_others(void *arg)
{
    (void)arg;
    struct machine_thread thread;
    char path[64];
    int id;
    CHECK(machine_thread_start(&thread, tell_id, &id, STACK_SIZE_THREAD, -1) == 0);
    machine_thread_join(&thread);
    snprintf(path, sizeof path, "/proc/self/task/%d", id);
    while (access(path, F_OK) == 0)
        machine_yield();
    threads_of_others = entries("/proc/self/task");
}

static void run_storm(const char *variant, const char *settings, void (*fn)(void *),
                      void (*after)(void *))
{
    static struct support_report report;
    struct support_run run = {.variant = variant,
                              .settings = settings,
                              .workers = WORKERS,
                              .seed = every_seed(),
                              .before = count_others,
                              .fn = fn,
                              .after = after};
    support_run(&run, &report);
    if (report.status != 0 || report.live != 0)
        fail_msg("%s,%s: status %d, %" PRId64 " Gs alive, output:\n%s", variant,
                 settings ? settings : "", report.status, report.live, report.output);
}

/* Connections --------------------------------------------------------------------------------- */

/* Fewer than a listener holds back for who accepts. */
enum { CONNECTIONS_MAX = 10000 / SLOWER, FDS_OF_OTHERS = 64, DIALLING = 1000 };

struct connections {
    struct io *listener;
    int port, n;
    struct sem dialling;
    struct waitgroup open, gate, done;
};

struct served {
    struct connections *all;
    struct io *io;
};

static void client_g(void *arg)
{
    struct connections *all = arg;
    struct io *io;
    char byte = 'a';
    sem_acquire(&all->dialling);
    CHECK(io_dial(all->port, &io) == 0);
    CHECK(io_write(io, &byte, 1) == 1);
    CHECK(io_read(io, &byte, 1) == 1 && byte == 'b');
    sem_release(&all->dialling, false);
    wg_done(&all->open);
    wg_wait(&all->gate);
    io_free(io);
    wg_done(&all->done);
}

static void server_g(void *arg)
{
    struct served *self = arg;
    char byte;
    CHECK(io_read(self->io, &byte, 1) == 1 && byte == 'a');
    byte = 'b';
    CHECK(io_write(self->io, &byte, 1) == 1);
    CHECK(io_read(self->io, &byte, 1) == 0);
    io_free(self->io);
    wg_done(&self->all->done);
    go_free(self);
}

static void accept_g(void *arg)
{
    struct connections *all = arg;
    for (int i = 0; i < all->n; i++) {
        struct served *served = go_alloc(sizeof *served);
        served->all = all;
        CHECK(io_accept(all->listener, &served->io) == 0);
        go(server_g, served);
    }
    wg_done(&all->done);
}

/* All are open at once, then none is. */
static void connections_cycle(struct connections *all, int fds)
{
    CHECK(io_listen(&all->listener) == 0);
    all->port = io_port(all->listener);
    wg_add(&all->open, all->n);
    wg_add(&all->gate, 1);
    wg_add(&all->done, 2 * all->n + 1);
    go(accept_g, all);
    for (int i = 0; i < all->n; i++)
        go(client_g, all);
    wg_wait(&all->open);
    CHECK(fds_now() == fds + 1 + 2 * all->n);
    wg_done(&all->gate);
    wg_wait(&all->done);
    io_free(all->listener);
    CHECK(fds_now() == fds);
    CHECK(!netpoll_has_waiters(this_sched()));
}

/* All at once in the first cycle, where what a connection leaves behind shows; then a tenth each
 * time, for what a cycle does. The watchdog's time is that of a cycle.
 *
 * No thread waits for a descriptor, but for one: an M, whose P another M may have taken over, or
 * the poller's own. Then there are those of the workers, of which M 0's is not counted, and
 * sysmon. */
static void connections_run(int most)
{
    struct connections *all = go_alloc_zeroed(sizeof *all);
    struct rlimit limit;
    struct io *io;
    CHECK(io_eventfd(&io, IO_POLLED) == 0); /* the first makes the poller, and raises the limit */
    io_free(io);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    rlim_t room = (limit.rlim_cur - FDS_OF_OTHERS) / 2;
    if (room < (rlim_t)most)
        most = (int)room;
    all->dialling = (struct sem)SEM_INIT(DIALLING);
    int fds = fds_now();
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        support_watchdog_restart();
        all->n = cycle == 0 ? most : most / 10;
        connections_cycle(all, fds);
    }
    CHECK(threads_now() <= WORKERS - 1 + 2);
    go_free(all);
}

static void connections_main(void *arg)
{
    (void)arg;
    connections_run(CONNECTIONS_MAX);
}

/* For who waits in another way: how many there are makes no difference to it. */
static void fewer_connections_main(void *arg)
{
    (void)arg;
    connections_run(CONNECTIONS_MAX / 10);
}

static void connections_come_and_go(void **state)
{
    (void)state;
    run_storm("gmp", NULL, connections_main, NULL);
    run_storm("grq", "netpoll=thread,netpoll_trigger=level", fewer_connections_main, NULL);
}

/* Timers -------------------------------------------------------------------------------------- */

enum { ARMERS = 2 * WORKERS, TIMERS_EACH = 100000 / ARMERS / SLOWER };

struct armers {
    struct gotimer *timer[ARMERS][TIMERS_EACH];
    int n; /* of each */
    struct waitgroup armed, stopped;
};

struct armer {
    struct armers *all;
    int index;
};

/* Arms its own, and stops another's: some are in the heap of another P. */
static void armer_g(void *arg)
{
    const struct armer *self = arg;
    struct armers *all = self->all;
    for (int i = 0; i < all->n; i++)
        all->timer[self->index][i] = timer_after(INT64_C(3600000000000) - i);
    wg_done(&all->armed);
    wg_wait(&all->armed);
    struct gotimer **others = all->timer[(self->index + 1) % ARMERS];
    for (int i = 0; i < all->n; i++) {
        CHECK(timer_stop(others[i]));
        timer_free(others[i]);
    }
    wg_done(&all->stopped);
}

/* The first cycle makes each heap as large as it gets. */
static void timers_run(int n)
{
    struct sched *sched = this_sched();
    struct armers *all = go_alloc_zeroed(sizeof *all);
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        struct armer armers[ARMERS];
        all->n = cycle == 0 ? n : n / 10;
        wg_add(&all->armed, ARMERS);
        wg_add(&all->stopped, ARMERS);
        for (int i = 0; i < ARMERS; i++) {
            armers[i] = (struct armer){all, i};
            go(armer_g, &armers[i]);
        }
        wg_wait(&all->stopped);
        CHECK(timers_earliest(sched) == INT64_MAX);
        for (int32_t i = 0; i < sched->procs; i++) {
            const struct timers *timers = sched->allp[i]->timers;
            CHECK(timers->count == 0 && timers->capacity <= 64);
        }
    }
    go_free(all);
}

static void timers_main(void *arg)
{
    (void)arg;
    timers_run(TIMERS_EACH);
}

static void fewer_timers_main(void *arg)
{
    (void)arg;
    timers_run(TIMERS_EACH / 10);
}

static void timers_come_and_go(void **state)
{
    (void)state;
    run_storm("gmp", NULL, timers_main, NULL);
    run_storm("grq", "timers=global", fewer_timers_main, NULL);
    run_storm("static", NULL, fewer_timers_main, NULL);
}

/* Threads ------------------------------------------------------------------------------------- */

enum { CALLS_MAX = 1000 / (SLOWER > 5 ? 5 : 1), FEWER_CALLS = 100, STORMS = 3 };

struct call_storm {
    struct waitgroup done;
    uint32_t n;
    _Atomic uint32_t inside; /* how many have come; the last wakes all */
};

static void call_g(void *arg)
{
    struct call_storm *all = arg;
    blocking_enter();
    uint32_t inside = atomic_fetch_add(&all->inside, 1) + 1;
    if (inside == all->n)
        machine_wake(&all->inside, (int)all->n);
    for (; inside < all->n; inside = atomic_load(&all->inside))
        machine_wait(&all->inside, inside, -1);
    blocking_exit();
    wg_done(&all->done);
}

static uint64_t calls_storm(struct call_storm *all)
{
    atomic_store(&all->inside, 0);
    wg_add(&all->done, (int)all->n);
    for (uint32_t i = 0; i < all->n; i++)
        go(call_g, all);
    wg_wait(&all->done);
    return sched_stat(this_sched(), STAT_THREADS);
}

/* As in Go, no thread ends before the run does; the next storm uses those of the one before. A new
 * one is made for a P when all others are in a call, on their way from one, or hold a P. */
static void calls_run(uint32_t n)
{
    struct call_storm *all = go_alloc_zeroed(sizeof *all);
    all->n = n;
    for (int storm = 0; storm < STORMS; storm++) {
        uint64_t threads = calls_storm(all);
        CHECK(threads >= n && threads <= n + 3 * WORKERS);
        /* without M 0's, with sysmon's; some may just be starting */
        AWAIT(threads_now() == (int)sched_stat(this_sched(), STAT_THREADS) - 1 + 1);
    }
    go_free(all);
}

static void calls_main(void *arg)
{
    (void)arg;
    calls_run(CALLS_MAX);
}

static void fewer_calls_main(void *arg)
{
    (void)arg;
    calls_run(FEWER_CALLS);
}

/* All have been joined. */
static void calls_after(void *arg)
{
    (void)arg;
    AWAIT(threads_now() == 0);
}

static void threads_are_used_again(void **state)
{
    (void)state;
    run_storm("gmp", NULL, calls_main, calls_after);
    run_storm("gmp", "calls=immediate", fewer_calls_main, calls_after);
    run_storm("grq", "returns=queue", fewer_calls_main, calls_after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_come_and_go),
        cmocka_unit_test(timers_come_and_go),
        cmocka_unit_test(threads_are_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
