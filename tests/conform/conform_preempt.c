/* conform_preempt.c - conformance cases for goroutines that are stopped by a signal: nothing of
 * theirs is lost, and their threads stay whole; see conformance.c. ThreadSanitizer has no such
 * signals. */
#include "conform.h"
#include "tests/support/keep_registers.h"
#include "tests/support/support.h"

#include <signal.h>
#include <string.h>

#if !defined(__SANITIZE_THREAD__) && !defined(SCHEDLAB_SIM)
/* Slices so short that goroutines are stopped all the time. */
#define STOPPED_OFTEN "preempt=signal,slice_ns=20000,sysmon_ns=10000,sysmon_max_ns=10000"

enum {
    KEEPERS = 5,
    ROUNDS = 2000,
    STOPS = 60, /* times the cell's scale */
    WORKERS_SEEN = 64,
    REFUSALS = 30,
    ROOM_LEFT = 1100, /* less than any signal frame takes, more than the scene does */
};

static uint64_t stat_now(enum stat_id which)
{
    return sched_stat(machine_self()->sched, which);
}

/* Registers --------------------------------------------------------------------------------- */

struct crew {
    _Atomic bool over;
    struct waitgroup done;
    _Atomic(void *) signal_stack[WORKERS_SEEN]; /* by worker, when first seen */
};

struct keeper {
    struct crew *crew;
    struct keeper_kind kind;
    uint64_t state;
    struct registers in, out;
};

static uint64_t keeper_random(struct keeper *self)
{
    self->state = self->state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return self->state ^ self->state >> 33;
}

static void keeper_fill(struct keeper *self)
{
    memset(&self->out, 0, sizeof self->out);
    for (int i = 0; i < GENERAL; i++)
        self->in.general[i] = keeper_random(self);
    for (int i = 0; i < STACKED; i++)
        self->in.stacked[i] = (double)(keeper_random(self) >> 12);
    for (int i = 0; i < MASKS; i++)
        self->in.mask[i] = keeper_random(self);
    for (int i = 0; i < VECTORS; i++)
        for (int word = 0; word < VECTOR_WORDS; word++)
            self->in.vector[i][word] = keeper_random(self);
}

static void same(const struct keeper *self, const char *what, int index, const void *in,
                 const void *out, size_t size)
{
    if (memcmp(in, out, size) != 0)
        support_fail(__FILE__, __LINE__, "%s registers: %s %d has changed", self->kind.name, what,
                     index);
}

/* General registers have one place each, but for one that is the stack pointer's, or nobody's. */
static void keeper_compare(const struct keeper *self)
{
    const struct registers *in = &self->in, *out = &self->out;
    for (int i = 0; i < self->kind.general; i++)
        if (self->kind.stacked == 0 || i != 7)
            same(self, "general", i, &in->general[i], &out->general[i], sizeof in->general[i]);
    for (int i = 0; i < self->kind.stacked; i++)
        same(self, "x87", i, &in->stacked[i], &out->stacked[i], sizeof in->stacked[i]);
    for (int i = 0; i < self->kind.masks; i++)
        same(self, "mask", i, &in->mask[i], &out->mask[i], sizeof in->mask[i]);
    for (int i = 0; i < self->kind.vectors; i++)
        same(self, "vector", i, in->vector[i], out->vector[i],
             (size_t)self->kind.vector_words * sizeof in->vector[i][0]);
}

/* Each thread has the signal stack that it began with, whoever has come to run on it. */
static void signal_stack_check(struct crew *crew)
{
    stack_t now;
    int worker = go_worker_index();
    CHECK(sigaltstack(NULL, &now) == 0);
    if (now.ss_flags & SS_DISABLE || worker >= WORKERS_SEEN)
        return;
    void *seen = NULL;
    if (!atomic_compare_exchange_strong(&crew->signal_stack[worker], &seen, now.ss_sp))
        CHECK(seen == now.ss_sp);
}

static void keeper(void *arg)
{
    struct keeper *self = arg;
    while (!atomic_load(&self->crew->over)) {
        keeper_fill(self);
        if (!self->kind.keep(&self->in, &self->out, ROUNDS))
            support_fail(__FILE__, __LINE__, "%s: flags have changed", self->kind.name);
        keeper_compare(self);
        signal_stack_check(self->crew);
    }
    wg_done(&self->crew->done);
}

static void conform_registers_survive(void *arg)
{
    const struct conform_cell *cell = arg;
    struct crew *crew = go_alloc_zeroed(sizeof *crew);
    struct keeper *keepers = go_alloc_zeroed(KEEPERS * sizeof *keepers);
    uint64_t stops = (uint64_t)STOPS * (uint64_t)cell->scale;
    wg_add(&crew->done, KEEPERS);
    for (int i = 0; i < KEEPERS; i++) {
        keepers[i].crew = crew;
        keepers[i].kind = keeper_kind(i % 2);
        keepers[i].state = cell->seed + (uint64_t)i;
        go(keeper, &keepers[i]);
    }
    AWAIT((gosched(), stat_now(STAT_PREEMPTS_SIGNAL) >= stops));
    atomic_store(&crew->over, true);
    wg_wait(&crew->done);
    for (int a = 0; a < WORKERS_SEEN; a++)
        for (int b = 0; b < a; b++)
            CHECK(!crew->signal_stack[a] || crew->signal_stack[a] != crew->signal_stack[b]);
    go_free(keepers);
    go_free(crew);
}

/* The end of the run ------------------------------------------------------------------------ */

struct last_word {
    struct waitgroup done;
    uint64_t stops;
};

/* Has told that it is done, and is stopped many times before it returns. */
static void lingering_g(void *arg)
{
    struct last_word *self = arg;
    uint64_t stops = self->stops;
    AWAIT((go_work(5000), stat_now(STAT_PREEMPTS_SIGNAL) > 0));
    wg_done(&self->done);
    AWAIT((go_work(5000), stat_now(STAT_PREEMPTS_SIGNAL) >= stops));
}

/* The run ends when it has returned: cases_run() looks whether a G is alive. */
static void conform_who_is_stopped_returns(void *arg)
{
    const struct conform_cell *cell = arg;
    static struct last_word word;
    word.stops = (uint64_t)STOPS * (uint64_t)cell->scale;
    wg_add(&word.done, 2);
    go(lingering_g, &word);
    go(lingering_g, &word);
    wg_wait(&word.done);
}

/* The end of a stack ------------------------------------------------------------------------ */

#if !SUPPORT_SANITIZED /* no signal stack, and frames of another size */
static void await_refusals(void)
{
    uint64_t refused = stat_now(STAT_PREEMPTS_UNSAFE), stopped = stat_now(STAT_PREEMPTS_SIGNAL);
    AWAIT((go_work(5000), stat_now(STAT_PREEMPTS_UNSAFE) >= refused + REFUSALS));
    CHECK(stat_now(STAT_PREEMPTS_SIGNAL) == stopped);
}

/* Goes down to where ROOM_LEFT bytes are left above `low`. */
static __attribute__((noinline)) void descend(const char *low)
{
    volatile char frame[128];
    frame[0] = 1;
    if ((const char *)frame - low > ROOM_LEFT)
        descend(low);
    else
        await_refusals();
    frame[1] = frame[0]; /* no tail call */
}

static void low_g(void *arg)
{
    AWAIT((go_work(5000), stat_now(STAT_PREEMPTS_SIGNAL) > 0)); /* here there is room */
    struct m *m = machine_self();
    descend(m->curg->stack + m->sched->guard_size);
    wg_done(arg);
}

/* A G without room for it on its stack is not stopped, and the signals that ask do no harm. */
static void conform_the_end_of_a_stack_is_left_alone(void *arg)
{
    (void)arg;
    struct waitgroup *done = go_alloc_zeroed(sizeof *done);
    wg_add(done, 1);
    go(low_g, done);
    wg_wait(done);
    go_free(done);
}
#endif
#endif

const struct conform_case conform_preempt_cases[] = {
/* Simulated machines interrupt where instrumented code calls them, so never within assembly. */
#if !defined(__SANITIZE_THREAD__) && !defined(SCHEDLAB_SIM)
    CASE(conform_registers_survive, .settings = STOPPED_OFTEN),
    CASE(conform_who_is_stopped_returns, .settings = STOPPED_OFTEN),
#endif
#if !SUPPORT_SANITIZED && !defined(SCHEDLAB_SIM)
    CASE(conform_the_end_of_a_stack_is_left_alone, .settings = STOPPED_OFTEN),
#endif
    {0},
};
