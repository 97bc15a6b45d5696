/* time.c - scenarios of timers, blocking calls, preemption and descriptors. */
#include "harness/scenarios/scenario.h"

#include "runtime/io.h"

enum { SHORT_NS = 1000 };

/* A timer is stopped while it fires: either it fires, or the stop says that it will not. */
struct timer_stop_race {
    _Atomic uint32_t fired;
};

static const char *timer_stop_race_crosses(struct timer_stop_race *state)
{
    struct gotimer *timer = timer_func(SHORT_NS, tick_main, &state->fired);
    gosched();
    bool stopped = timer_stop(timer);
    if (!stopped)
        until(&state->fired, 1);
    timer_free(timer);
    go_sleep(SHORT_NS);
    return ticks(&state->fired) + stopped == 1 ? NULL : "the timer fired though it was stopped";
}
SCENARIO(timer_stop_race, 1, 2, "a timer is stopped while it fires", "runtime/timer.c");

/* Sleepers' timers are due while workers go to sleep and come back. */
struct sleepers {
    struct waitgroup done;
};

static void sleeper_main(void *arg)
{
    struct sleepers *state = arg;
    go_sleep(SHORT_NS);
    go_sleep(SHORT_NS);
    wg_done(&state->done);
}

static const char *sleepers_crosses(struct sleepers *state)
{
    wg_add(&state->done, 3);
    for (int i = 0; i < 3; i++)
        go(sleeper_main, state);
    wg_wait(&state->done);
    return NULL;
}
SCENARIO(sleepers, 3, 1, "timers are due while workers go to sleep", "runtime/idle.c, the watch");

/* A call blocks its worker, whose queue is not empty; it comes back while others run. */
struct call_handoff {
    _Atomic uint32_t ran;
    struct waitgroup done;
};

static void call_child(void *arg)
{
    struct call_handoff *state = arg;
    tick(&state->ran);
    wg_done(&state->done);
}

static void call_blocks(void *arg)
{
    struct call_handoff *state = arg;
    go(call_child, state);
    blocking_sleep(SHORT_NS);
    blocking_nop();
    wg_done(&state->done);
}

static const char *call_handoff_crosses(struct call_handoff *state)
{
    wg_add(&state->done, 4);
    go(call_blocks, state);
    go(call_blocks, state);
    wg_wait(&state->done);
    return ticks(&state->ran) == 2 ? NULL : "not both children ran";
}
SCENARIO(call_handoff, 4, 1, "a call blocks a worker whose queue is not empty",
         "runtime/syscall.c");

/* A goroutine that computes is stopped, and others get its worker. */
struct preempted {
    _Atomic uint32_t stop;
    uint64_t state[2];
    struct waitgroup done;
};

struct hog {
    struct preempted *state;
    int number;
};

static void hog_main(void *arg)
{
    struct hog *self = arg;
    struct preempted *state = self->state;
    while (!ticks(&state->stop)) {
        state->state[self->number] += go_work(1000);
        go_preempt_point();
    }
    wg_done(&state->done);
}

static const char *preempted_crosses(struct preempted *state)
{
    struct hog hogs[2] = {{state, 0}, {state, 1}};
    wg_add(&state->done, 2);
    go(hog_main, &hogs[0]);
    go(hog_main, &hogs[1]);
    gosched();
    tick(&state->stop);
    wg_wait(&state->done);
    return NULL;
}

static const char *preempted_skip(const void *params, const struct promises *promises)
{
    (void)params;
    return promises->preempts ? NULL : "would never end: nothing stops a goroutine that computes";
}
SCENARIO_UNLESS(preempted_skip, preempted, 2, 1,
                "goroutines that compute are stopped for main to run",
                "runtime/preempt.c, runtime/sysmon.c");

/* A worker waits in the poller while another makes work, and the descriptor becomes ready. */
struct poller_break {
    struct io *ends[2];
    _Atomic uint32_t ran;
    struct waitgroup done;
    bool right;
};

static void poller_reader(void *arg)
{
    struct poller_break *state = arg;
    char got = 0;
    state->right = io_read(state->ends[0], &got, 1) == 1 && got == 'x';
    wg_done(&state->done);
}

static void poller_child(void *arg)
{
    struct poller_break *state = arg;
    tick(&state->ran);
    wg_done(&state->done);
}

static const char *poller_break_crosses(struct poller_break *state)
{
    if (io_pipe(&state->ends[0], &state->ends[1], 0) != 0)
        return "no pipe";
    wg_add(&state->done, 3);
    go(poller_reader, state);
    gosched();
    go(poller_child, state);
    io_write(state->ends[1], "x", 1);
    go(poller_child, state);
    wg_wait(&state->done);
    for (int i = 0; i < 2; i++) {
        io_close(state->ends[i]);
        io_free(state->ends[i]);
    }
    return state->right && ticks(&state->ran) == 2 ? NULL : "the reader got something else";
}
SCENARIO(poller_break, 3, 1, "a worker waits in the poller while work and an event come",
         "runtime/netpoll.c, runtime/idle.c");
