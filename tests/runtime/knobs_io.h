/* knobs_io.h - the knobs of descriptors: the part of test_knobs.c that takes the runtime's inside.
 *
 * Included by it behind its helpers.
 */
#ifndef SCHEDLAB_TESTS_KNOBS_IO_H
#define SCHEDLAB_TESTS_KNOBS_IO_H

#include "internal.h"
#include "netpoll.h"

#include <dirent.h>

static int threads_now(void)
{
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks);
    for (struct dirent *entry; (entry = readdir(tasks));)
        n += entry->d_name[0] != '.';
    closedir(tasks);
    return n;
}

struct pipe_reader {
    struct io *io;
    struct waitgroup *done;
};

static void pipe_reader_g(void *arg)
{
    struct pipe_reader *self = arg;
    char byte;
    CHECK(io_read(self->io, &byte, 1) == 1);
    wg_done(self->done);
}

/* A goroutine waits for a pipe, n times. With calls that block it may wait, or find what is
 * there. found[0]: how many threads there are beside the Ms, of which sysmon may have started one
 * more for what it has found ready. */
static void scene_read(void *arg)
{
    struct trace *self = arg;
    struct io *reader, *writer;
    CHECK(io_pipe(&reader, &writer, IO_POLLED) == 0);
    struct pipe_reader pipe_reader = {reader, &self->done};
    for (int i = 0; i < self->n; i++) {
        wg_add(&self->done, 1);
        uint64_t parks = stat_now(STAT_PARKS);
        if (netpoll_by(this_sched()) == NETPOLL_CALL)
            CHECK(io_write(writer, "x", 1) == 1);
        go(pipe_reader_g, &pipe_reader);
        if (netpoll_by(this_sched()) != NETPOLL_CALL) {
            while (stat_now(STAT_PARKS) == parks)
                gosched();
            CHECK(io_write(writer, "x", 1) == 1);
        }
        wg_wait(&self->done);
    }
    self->found[0] = threads_now() - (int64_t)stat_now(STAT_THREADS);
    io_free(reader);
    io_free(writer);
}

static void knob_netpoll(const char *variant)
{
    scene_run(variant, "netpoll=call", 2, 4, scene_read);
    assert_int_equal(stat_of(STAT_CALLS), 8);
    assert_int_equal(stat_of(STAT_POLLS), 0);
    assert_int_equal(stat_of(STAT_POLL_CTLS), 0);
    scene_run(variant, "netpoll=poll", 1, 4, scene_read);
    int64_t threads = trace->found[0];
    assert_int_equal(stat_of(STAT_CALLS), 0);
    assert_true(stat_of(STAT_POLL_EVENTS) >= 4);
    scene_run(variant, "netpoll=thread", 1, 4, scene_read);
    assert_int_equal(stat_of(STAT_CALLS), 0);
    assert_true(stat_of(STAT_POLL_EVENTS) >= 4);
    assert_true(trace->found[0] > threads); /* ThreadSanitizer starts one more with the first */
}

/* Edges: each of the two ends is registered, and no more. Levels: each wait arms, too. */
static void knob_netpoll_trigger(const char *variant)
{
    scene_run(variant, "netpoll=thread,netpoll_trigger=edge", 1, 4, scene_read);
    assert_int_equal(stat_of(STAT_POLL_CTLS), 2);
    scene_run(variant, "netpoll=thread,netpoll_trigger=level", 1, 4, scene_read);
    assert_true(stat_of(STAT_POLL_CTLS) >= 2 + 4);
}

enum { READY_PIPES = 6 };

/* How many looks take the events of so many pipes, where nobody else looks. */
static void scene_ready_pipes(void *arg)
{
    struct trace *self = arg;
    int ends[READY_PIPES][2];
    struct poll_desc *pd[READY_PIPES];
    for (int i = 0; i < READY_PIPES; i++) {
        CHECK(machine_fd_pipe(ends[i], false) == 0);
        CHECK(poll_open(this_sched(), ends[i][0], &pd[i]) == 0);
        CHECK(machine_fd_write(ends[i][1], "x", 1) == 1);
    }
    uint64_t polls = stat_now(STAT_POLLS);
    while (stat_now(STAT_POLL_EVENTS) < READY_PIPES)
        CHECK(netpoll(this_sched(), 0) == NULL); /* nobody waits */
    self->found[0] = (int64_t)(stat_now(STAT_POLLS) - polls);
    for (int i = 0; i < READY_PIPES; i++) {
        poll_evict(pd[i]);
        poll_close(pd[i]);
        machine_fd_close(ends[i][0]);
        machine_fd_close(ends[i][1]);
    }
}

static void knob_netpoll_batch(const char *variant)
{
    scene_run(variant, "netpoll=call,netpoll_batch=1", 1, 0, scene_ready_pipes);
    assert_int_equal(trace->found[0], READY_PIPES);
    scene_run(variant, "netpoll=call,netpoll_batch=4", 1, 0, scene_ready_pipes);
    assert_int_equal(trace->found[0], 2);
    scene_run(variant, "netpoll=call", 1, 0, scene_ready_pipes);
    assert_int_equal(trace->found[0], 1);
}

/* All wait before the first pipe is written to, and one look finds them all. */
static void scene_place(void *arg)
{
    struct trace *self = arg;
    struct io *reader[READY_PIPES], *writer[READY_PIPES];
    struct pipe_reader readers[READY_PIPES];
    wg_add(&self->done, READY_PIPES);
    uint64_t parks = stat_now(STAT_PARKS);
    for (int i = 0; i < READY_PIPES; i++) {
        CHECK(io_pipe(&reader[i], &writer[i], IO_POLLED) == 0);
        readers[i] = (struct pipe_reader){reader[i], &self->done};
        go(pipe_reader_g, &readers[i]);
    }
    while (stat_now(STAT_PARKS) < parks + READY_PIPES)
        gosched();
    uint64_t locks = stat_now(STAT_GRQ_LOCKS);
    for (int i = 0; i < READY_PIPES; i++)
        CHECK(io_write(writer[i], "x", 1) == 1);
    wg_wait(&self->done);
    self->found[0] = (int64_t)(stat_now(STAT_GRQ_LOCKS) - locks);
    for (int i = 0; i < READY_PIPES; i++) {
        io_free(reader[i]);
        io_free(writer[i]);
    }
}

/* One worker, so that `first` leaves nothing to others. A global queue is all that grq has. */
static void knob_netpoll_place(const char *variant)
{
    scene_run(variant, "sysmon=off,netpoll_place=global", 1, 0, scene_place);
    int64_t global = trace->found[0];
    scene_run(variant, "sysmon=off,netpoll_place=first", 1, 0, scene_place);
    assert_true(trace->found[0] < global);
    scene_run(variant, "sysmon=off,netpoll_place=local", 1, 0, scene_place);
    if (strcmp(variant, "grq") == 0)
        assert_int_equal(trace->found[0], global);
    else
        assert_true(trace->found[0] < global);
}

/* One that reads from a pipe and then keeps the worker that it gets until it is told, and what
 * else is waited for: a second pipe, or a far-off timer. */
struct watched {
    struct trace *trace;
    struct io *reader[2], *writer[2];
};

static void busy_reader_g(void *arg)
{
    struct watched *self = arg;
    char byte;
    CHECK(io_read(self->reader[0], &byte, 1) == 1);
    atomic_store(&self->trace->ran[0], true);
    AWAIT(atomic_load(&self->trace->release[0]));
    wg_done(&self->trace->done);
}

static void other_reader_g(void *arg)
{
    struct watched *self = arg;
    char byte;
    CHECK(io_read(self->reader[1], &byte, 1) == 1);
    wg_done(&self->trace->done);
}

/* True if an idle M waits for the timers and, if io, for I/O. */
static bool is_watched(bool io)
{
    struct sched *sched = this_sched();
    lock_acquire(&sched->lock);
    bool watched = sched->timer_m && (!io || sched->timer_m == sched->poll_m);
    lock_release(&sched->lock);
    return watched;
}

/* All Ms but the caller's sleep, one at least: contsteal starts no more. There may be three for two
 * Ps: one that is to run something while one M waits for I/O, and no other idles, gets a new M. */
static bool others_sleep(void)
{
    int asleep = 0;
    for (struct m *m = sched_first_m(this_sched()); m; m = m->all_link) {
        if (m != machine_self() && m_is_awake(m))
            return false;
        asleep += m != machine_self();
    }
    return asleep >= 1;
}

/* Main keeps its worker busy, another one waits for both, and a third one idles. The first pipe
 * becomes readable. found[0]: is the other still waited for? With n & 1 that is waited for; with
 * n & 2 the other is a timer. */
static void scene_watch_ends(void *arg)
{
    struct watched self = {.trace = arg};
    bool timer = self.trace->n & 2;
    for (int i = 0; i < 2; i++)
        CHECK(io_pipe(&self.reader[i], &self.writer[i], IO_POLLED) == 0);
    wg_add(&self.trace->done, 2);
    go(busy_reader_g, &self);
    go(other_reader_g, &self);
    AWAIT(atomic_load(&this_sched()->io_waiters) == 2);
    struct gotimer *far_off = NULL;
    if (timer) {
        far_off = timer_func(INT64_C(3600000000000), scene_ran_g, NULL);
        CHECK(io_write(self.writer[1], "x", 1) == 1);
        AWAIT(atomic_load(&this_sched()->io_waiters) == 1);
    }
    await_spinning_and_idle(0, 2);
    AWAIT(others_sleep() && is_watched(true));
    CHECK(io_write(self.writer[0], "x", 1) == 1);
    AWAIT(atomic_load(&self.trace->ran[0]));
    if (self.trace->n & 1)
        AWAIT(is_watched(!timer));
    self.trace->found[0] = is_watched(!timer);
    atomic_store(&self.trace->release[0], true);
    if (timer)
        timer_free(far_off);
    else
        CHECK(io_write(self.writer[1], "x", 1) == 1);
    wg_wait(&self.trace->done);
    for (int i = 0; i < 2; i++) {
        io_free(self.reader[i]);
        io_free(self.writer[i]);
    }
}

static void knob_watch(const char *variant)
{
    for (int timer = 0; timer <= 2; timer += 2) {
        scene_finds(variant, "sysmon=off,watch=sysmon", 3, timer, scene_watch_ends, 0);
        scene_finds(variant, "sysmon=off,watch=handover", 3, timer + 1, scene_watch_ends, 1);
    }
}

#endif
