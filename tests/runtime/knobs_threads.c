/* knobs_threads.c - the knobs of sysmon, slices and blocking calls; see test_knobs.c. */
#include "io.h"
#include "knob_scenes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* found[0]: how long n rounds of sysmon took, at least, beside a busy worker. */
static void scene_rounds(void *arg)
{
    struct trace *self = arg;
    int64_t start = go_now(); /* first: rounds that pass before the next line took their time */
    uint64_t before = stat_now(STAT_SYSMON_ROUNDS);
    AWAIT(stat_now(STAT_SYSMON_ROUNDS) >= before + (uint64_t)self->n);
    self->found[0] = go_now() - start;
}

/* found[0]: is there a sysmon? */
static void scene_is_watched(void *arg)
{
    struct trace *self = arg;
    self->found[0] = this_sched()->sysmon != NULL;
}

void knob_sysmon(const char *variant)
{
    scene_run(variant, "preempt=coop,sysmon=on", 1, 1, scene_rounds);
    scene_finds(variant, "preempt=coop,sysmon=on", 1, 0, scene_is_watched, 1);
    scene_finds(variant, "preempt=coop,sysmon=off", 1, 0, scene_is_watched, 0);
    assert_int_equal(stat_of(STAT_SYSMON_ROUNDS), 0);
}

void knob_sysmon_ns(const char *variant)
{
    scene_run(variant, "preempt=coop,sysmon_ns=10000000", 1, 4, scene_rounds);
    assert_true(trace->found[0] >= 30000000);
}

/* From 1 us on, doubled by each of 16 rounds: 2^16 us in all, of which the first may be over. */
void knob_sysmon_rounds(const char *variant)
{
    scene_run(variant, "preempt=coop,sysmon_rounds=0,sysmon_ns=1000,sysmon_max_ns=1000000000", 1,
              15, scene_rounds);
    assert_true(trace->found[0] >= 30000000);
}

void knob_sysmon_max_ns(const char *variant)
{
    scene_run(variant, "preempt=coop,sysmon_ns=1000000000,sysmon_max_ns=100000", 1, 50,
              scene_rounds);
}

/* Runs for good, unless it is stopped: in go_work(); what is around it is not workload code. */
static void spin_until(const _Atomic bool *word)
{
    while (!atomic_load_explicit(word, memory_order_acquire))
        go_work(10000);
}

/* Main is 0 and its child 1: each says that it has begun, and waits for the other to say so. */
static void hog(struct trace *self, int me)
{
    const _Atomic bool *other = &self->ran[!me];
    int64_t start = go_now();
    atomic_store(&self->ran[me], true);
    bool first = !atomic_load(other);
    switch (self->n) {
    case PREEMPT_SIGNAL:
        spin_until(other);
        break;
    case PREEMPT_COOP:
        AWAIT((go_preempt_point(), atomic_load(other)));
        break;
    default:
        while (go_now() - start < 60000000)
            go_preempt_point();
    }
    if (first) {
        self->found[0] = atomic_load(other);
        self->found[1] = go_now() - self->found[2];
    }
}

static void hog_child(void *arg)
{
    hog(arg, 1);
    wg_done(&((struct trace *)arg)->done);
}

/* One worker. found[0]: did the second begin before the first was done; found[1]: how long ago the
 * first's slice cannot have begun yet, found[2]: which was then. Looked at in the hog, the clock
 * could be late: the kernel may take the core away after the slice has begun. */
static void scene_slice(void *arg)
{
    struct trace *self = arg;
    self->found[2] = go_now();
    gosched(); /* a new slice */
    wg_add(&self->done, 1);
    go(hog_child, self);
    hog(self, 0);
    wg_wait(&self->done);
}

void knob_preempt(const char *variant)
{
    scene_finds(variant, "preempt=none", 1, PREEMPT_NONE, scene_slice, 0);
    scene_run(variant, "preempt=coop", 1, PREEMPT_COOP, scene_slice);
    assert_int_equal(stat_of(STAT_PREEMPTS_SIGNAL), 0);
    assert_true(stat_of(STAT_PREEMPTS) > 0);
#if !defined(__SANITIZE_THREAD__)
    scene_run(variant, "preempt=signal", 1, PREEMPT_SIGNAL, scene_slice);
    assert_true(stat_of(STAT_PREEMPTS_SIGNAL) > 0);
#endif
}

void knob_slice_ns(const char *variant)
{
    scene_run(variant, "preempt=coop,slice_ns=80000000", 1, PREEMPT_COOP, scene_slice);
    assert_true(trace->found[1] >= 80000000);
}

/* A blocking call of one G beside another. The call lasts until the other has run, if n is 0, else
 * n ns. found[0]: had it run when the call was over; found[1]: Ps given away until then. */
static void call_g(void *arg)
{
    struct trace *self = arg;
    blocking_enter();
    int64_t end = self->n ? machine_now() + self->n : INT64_MAX; /* or the watchdog */
    while (machine_now() < end && (self->n || !atomic_load(&self->ran[0])))
        machine_yield();
    self->found[0] = atomic_load(&self->ran[0]);
    blocking_exit();
    self->found[1] = (int64_t)stat_now(STAT_HANDOFFS);
    wg_done(&self->done);
}

static void called_beside_g(void *arg)
{
    struct trace *self = arg;
    atomic_store(&self->ran[0], true);
    wg_done(&self->done);
}

/* One worker: whoever comes first, the call begins before the other has run. */
static void scene_call(void *arg)
{
    struct trace *self = arg;
    wg_add(&self->done, 2);
    if (this_sched()->ops->forkjoin == FJ_WORK) { /* a child runs at once */
        go(call_g, self);
        go(called_beside_g, self);
    } else {
        go(called_beside_g, self);
        call_g(self);
    }
    wg_wait(&self->done);
}

enum { CALL_NS = 30000000 };

void knob_calls(const char *variant)
{
    scene_finds(variant, "calls=none", 1, CALL_NS, scene_call, 0);
    scene_finds(variant, "calls=sysmon,sysmon=off", 1, CALL_NS, scene_call, 0);
    scene_finds(variant, "calls=sysmon", 1, 0, scene_call, 1);
    assert_true(stat_of(STAT_HANDOFFS) >= 1);
    scene_finds(variant, "calls=immediate,sysmon=off", 1, 0, scene_call, 1);
    assert_true(stat_of(STAT_HANDOFFS) >= 1);
    if (!support_takes(support_variant(variant)->knobs, "backoff_ns=never"))
        return;
    /* the other is in the slot that nobody may steal from; but its thread does not run */
    scene_finds(variant, "backoff_ns=never,calls=sysmon", 1, 0, scene_call, 1);
    scene_finds(variant, "backoff_ns=never,calls=immediate,sysmon=off", 2, 0, scene_call, 1);
}

/* The same site calls twice, long: only the second time is it known to be. found[2]: how long all
 * that took. */
static void site_calls_twice(struct trace *self, int64_t second_ns)
{
    int64_t found[2], start = machine_now();
    for (int i = 0; i < 2; i++) {
        atomic_store(&self->ran[0], false);
        self->n = i == 0 ? CALL_NS : (int)second_ns;
        scene_call(self);
        found[i] = self->found[0];
    }
    self->found[0] = found[0];
    self->found[1] = found[1];
    self->found[2] = machine_now() - start;
}

static void scene_site_calls_long(void *arg)
{
    site_calls_twice(arg, 0);
}

static void scene_site_calls_short(void *arg)
{
    site_calls_twice(arg, CALL_NS);
}

/* Ends the pipe that main reads from, long after it has begun to. */
struct late_end {
    struct trace *trace;
    struct io *writer;
};

static void late_end_g(void *arg)
{
    struct late_end *self = arg;
    atomic_store(&self->trace->ran[0], true);
    AWAIT(stat_now(STAT_CALLS) > 0);
    int64_t end = machine_now() + CALL_NS;
    while (machine_now() < end)
        machine_yield();
    io_free(self->writer);
    wg_done(&self->trace->done);
}

static __attribute__((noinline)) int64_t read_here(struct io *io)
{
    int64_t n = io_read(io, &(char){0}, 1);
    return n + (int64_t)stat_now(STAT_HANDOFFS); /* no jump to io_read(), so a site of its own */
}

static __attribute__((noinline)) int64_t read_there(struct io *io)
{
    int64_t n = io_read_full(io, &(char){0}, 1);
    return n + (int64_t)stat_now(STAT_HANDOFFS);
}

/* found: Ps given away until the end of a read that lasts, another of that site, and one of another
 * site. */
static void scene_reads_of_two_sites(void *arg)
{
    struct trace *self = arg;
    struct late_end late = {.trace = self};
    struct io *reader;
    CHECK(io_pipe(&reader, &late.writer, IO_BLOCKING) == 0);
    wg_add(&self->done, 1);
    go(late_end_g, &late);
    AWAIT(atomic_load(&self->ran[0]));
    self->found[0] = read_here(reader);
    self->found[1] = read_here(reader);
    self->found[2] = read_there(reader);
    wg_wait(&self->done);
    io_free(reader);
}

void knob_call_long_ns(const char *variant)
{
    scene_run(variant, "calls=adaptive,sysmon=off,call_long_ns=1000000", 1, 0,
              scene_site_calls_long);
    assert_int_equal(trace->found[0], 0);
    assert_int_equal(trace->found[1], 1);
    do /* on a machine that is busy, a call may be as long as that */
        scene_run(variant, "calls=adaptive,sysmon=off,call_long_ns=1000000000", 1, 0,
                  scene_site_calls_short);
    while (trace->found[2] >= 1000000000);
    assert_int_equal(trace->found[1], 0);
    scene_run(variant, "calls=adaptive,sysmon=off,call_long_ns=1000000", 2, 0,
              scene_reads_of_two_sites);
    assert_int_equal(trace->found[0], 0);
    assert_int_equal(trace->found[1], 1);
    assert_int_equal(trace->found[2], 1);
}

static void nothing_g(void *arg)
{
    wg_done(&((struct trace *)arg)->done);
}

/* A call while another worker is idle and nothing is queued. With n = 0 it lasts until its P has
 * been taken; found[0]: Ps taken in it; found[1]: how long all that took. */
static void scene_lonely_call(void *arg)
{
    struct trace *self = arg;
    int64_t start = machine_now();
    wg_add(&self->done, 1);
    go(nothing_g, self);
    wg_wait(&self->done);
    await_spinning_and_idle(0, 1);
    blocking_enter();
    int64_t end = self->n ? machine_now() + self->n : INT64_MAX; /* or the watchdog */
    while (machine_now() < end && (self->n || !stat_now(STAT_HANDOFFS)))
        machine_yield();
    self->found[0] = (int64_t)stat_now(STAT_HANDOFFS);
    self->found[1] = machine_now() - start;
    blocking_exit();
}

void knob_lenient_ns(const char *variant)
{
    scene_finds(variant, "lenient_ns=0", 2, 0, scene_lonely_call, 1);
    do /* on a machine that is busy, a call may last that long */
        scene_run(variant, "lenient_ns=1000000000,slice_ns=1000000000", 2, CALL_NS,
                  scene_lonely_call);
    while (trace->found[1] >= 1000000000);
    assert_int_equal(trace->found[0], 0);
}

void knob_returns(const char *variant)
{
    scene_run(variant, "lenient_ns=0,returns=idle", 2, 0, scene_lonely_call);
    assert_int_equal(stat_of(STAT_CALLS_QUEUED), 0);
    scene_run(variant, "lenient_ns=0,returns=queue", 2, 0, scene_lonely_call);
    assert_int_equal(stat_of(STAT_CALLS_QUEUED), 1);
}

void knob_returns_to(const char *variant)
{
    scene_run(variant, "lenient_ns=0,returns=queue", 2, 0, scene_lonely_call);
    assert_int_equal(stat_of(STAT_CALLS_QUEUED), 1);
    assert_int_equal(stat_of(STAT_GRQ_HITS), 1);
    scene_run(variant, "lenient_ns=0,returns=queue,returns_to=own", 2, 0, scene_lonely_call);
    assert_int_equal(stat_of(STAT_CALLS_QUEUED), 1);
    assert_int_equal(stat_of(STAT_GRQ_HITS), 0);
}

/* n calls at once, each on a thread of its own. */
static void blocked_g(void *arg)
{
    struct trace *self = arg;
    blocking_enter();
    atomic_fetch_add(&self->count, 1);
    while (atomic_load(&self->count) < self->n)
        machine_yield();
    blocking_exit();
    wg_done(&self->done);
}

static void scene_calls_at_once(void *arg)
{
    struct trace *self = arg;
    wg_add(&self->done, self->n);
    for (int i = 0; i < self->n; i++)
        go(blocked_g, self);
    wg_wait(&self->done);
}

void knob_threads_max(const char *variant)
{
    scene_run(variant, "threads_max=8", 1, 6, scene_calls_at_once);
    assert_in_range(stat_of(STAT_THREADS), 6, 8);
    assert_int_equal(stat_of(STAT_THREADS_PEAK), stat_of(STAT_THREADS)); /* none has ended */
    scene_try(variant, "threads_max=3", 1, 6, scene_calls_at_once);
    assert_int_equal(report.status, 70);
    assert_non_null(strstr(report.output, "more than 3 threads"));
    assert_non_null(strstr(report.output, "too many goroutines are in blocking calls"));
    scene_try(variant, "threads_max=1", 2, 2, scene_calls_at_once);
    assert_int_equal(report.status, 70);
    assert_non_null(
        strstr(report.output, "more than 1 threads (knob threads_max): there are 2 workers"));
}
