/* workers.c - scenarios of queues and of workers that sleep, search, steal and are woken. */
#include "harness/scenarios/scenario.h"

/* A worker goes to sleep while another submits what only it can run, again and again. */
struct sleep_wake {
    _Atomic uint32_t ran;
};

static const char *sleep_wake_crosses(struct sleep_wake *state)
{
    for (uint32_t i = 1; i <= 3; i++) {
        go_global(tick_main, &state->ran);
        until(&state->ran, i);
    }
    return NULL;
}
SCENARIO(sleep_wake, 3, 2, "a worker goes to sleep while another submits what only it can run",
         "runtime/idle.c, the sleeping dance");

/* Three need each other to run at the same time: the worker that was woken wakes the next. */
struct wake_chain {
    _Atomic uint32_t here, gone;
};

static void wake_chain_child(void *arg)
{
    struct wake_chain *state = arg;
    tick(&state->here);
    until(&state->here, 2);
    tick(&state->gone);
}

static const char *wake_chain_crosses(struct wake_chain *state)
{
    go_global(wake_chain_child, state);
    go_global(wake_chain_child, state);
    until(&state->gone, 2);
    return NULL;
}
SCENARIO(wake_chain, 2, 3, "three goroutines that wait for each other without giving way",
         "runtime/idle.c, the wake chain");

/* Goroutines that are to run exactly once each. */
enum { CROWD_MOST = 14 };

struct crowd {
    _Atomic uint32_t ran[CROWD_MOST];
    struct member {
        struct crowd *crowd;
        int number;
    } member[CROWD_MOST];
    struct waitgroup done;
};

static void crowd_member(void *arg)
{
    struct member *self = arg;
    tick(&self->crowd->ran[self->number]);
    wg_done(&self->crowd->done);
}

/* Starts so many, and gives way after each `row` of them. */
static const char *crowd_crosses(struct crowd *crowd, int count, int row)
{
    wg_add(&crowd->done, count);
    for (int i = 0; i < count; i++) {
        crowd->member[i] = (struct member){crowd, i};
        go(crowd_member, &crowd->member[i]);
        if (i % row == row - 1)
            gosched();
    }
    wg_wait(&crowd->done);
    for (int i = 0; i < count; i++)
        if (ticks(&crowd->ran[i]) != 1)
            return "a goroutine did not run exactly once";
    return NULL;
}

/* The owner takes its last one while a thief does. */
struct last_item {
    struct crowd crowd;
};

static const char *last_item_crosses(struct last_item *state)
{
    return crowd_crosses(&state->crowd, 4, 2);
}
SCENARIO(last_item, 4, 1, "the owner takes its last goroutine while a thief does",
         "runtime/lrq.h, runtime/deque.h");

/* More than a small ring holds (gmp,ring=2), while a thief takes from it. */
struct overflow {
    _Atomic uint32_t ran;
    struct waitgroup done;
};

static void overflow_child(void *arg)
{
    struct overflow *state = arg;
    tick(&state->ran);
    wg_done(&state->done);
}

static const char *overflow_crosses(struct overflow *state)
{
    for (int round = 0; round < 3; round++) {
        wg_add(&state->done, 6);
        for (int i = 0; i < 6; i++)
            go(overflow_child, state);
        wg_wait(&state->done);
    }
    return ticks(&state->ran) == 18 ? NULL : "not 18 goroutines ran";
}
SCENARIO(overflow, 6, 1, "a ring overflows while a thief takes from it (gmp,ring=2)",
         "runtime/lrq.c, overflow");

/* A worker puts and takes many, so that it goes round a small queue (gmp,queue=bwos,ring=8) while a
 * thief may have taken one and not read it. */
struct laps {
    struct crowd crowd;
};

static const char *laps_crosses(struct laps *state)
{
    return crowd_crosses(&state->crowd, CROWD_MOST, 4);
}
SCENARIO(laps, CROWD_MOST, 1, "an owner goes round its queue while thieves take from it",
         "runtime/bwos.h, runtime/lrq.h");

/* The goroutine in runnext of a worker that computes is to be stolen, if late. */
struct runnext_late {
    _Atomic uint32_t ran;
};

static const char *runnext_late_crosses(struct runnext_late *state)
{
    go(tick_main, &state->ran);
    go(tick_main, &state->ran);
    until(&state->ran, 2);
    return NULL;
}
SCENARIO(runnext_late, 2, 2, "the next goroutine of a worker that computes is stolen",
         "runtime/lrq.c, runnext");

/* Two yield and are taken by the other worker while they are still on their stacks. */
struct yielders {
    uint32_t steps[2];
    struct waitgroup done;
};

struct yielder {
    struct yielders *state;
    int number;
};

static void yielder_main(void *arg)
{
    struct yielder *self = arg;
    for (int i = 0; i < 3; i++) {
        self->state->steps[self->number]++;
        gosched();
    }
    wg_done(&self->state->done);
}

static const char *yielders_crosses(struct yielders *state)
{
    struct yielder selves[2] = {{state, 0}, {state, 1}};
    wg_add(&state->done, 2);
    go(yielder_main, &selves[0]);
    go(yielder_main, &selves[1]);
    wg_wait(&state->done);
    return state->steps[0] == 3 && state->steps[1] == 3 ? NULL : "a yielder lost a step";
}
SCENARIO(yielders, 2, 1, "a goroutine that yields is taken while it is still on its stack",
         "runtime/g.h, off-stack");

/* One that yields until another has run, also on a single worker: a yield goes behind. */
struct give_way {
    _Atomic uint32_t ran;
    struct join other;
};

static const char *give_way_crosses(struct give_way *state)
{
    join_go(&state->other, tick_main, &state->ran);
    for (int i = 0; !ticks(&state->ran); i++) {
        gosched();
        round_ends(i);
    }
    join_wait(&state->other);
    return NULL;
}
SCENARIO(give_way, 1, 1, "a goroutine yields until another has run", "sched.h, READY_YIELD");

/* Goroutines end and their Gs and stacks serve others, on both workers. */
struct short_lives {
    _Atomic uint32_t ended;
};

static void parent_of_two(void *ended)
{
    struct join first, second;
    join_go(&first, tick_main, ended);
    join_go(&second, tick_main, ended);
    join_wait(&first);
    join_wait(&second);
    tick(ended);
}

static const char *short_lives_crosses(struct short_lives *state)
{
    struct join parents[2];
    join_go(&parents[0], parent_of_two, &state->ended);
    join_go(&parents[1], parent_of_two, &state->ended);
    join_wait(&parents[0]);
    join_wait(&parents[1]);
    return ticks(&state->ended) == 6 ? NULL : "not 6 goroutines ended";
}
SCENARIO(short_lives, 6, 1, "goroutines end, and their stacks serve others at once",
         "runtime/galloc.c, runtime/stacks.c");

/* Workers become fewer and more again while there is work. */
struct procs_change {
    _Atomic uint32_t ran;
    struct waitgroup done;
};

static void procs_change_child(void *arg)
{
    struct procs_change *state = arg;
    gosched();
    tick(&state->ran);
    wg_done(&state->done);
}

static const char *procs_change_crosses(struct procs_change *state)
{
    wg_add(&state->done, 4);
    for (int i = 0; i < 4; i++) {
        go(procs_change_child, state);
        go_set_workers(i % 2 ? 2 : 1);
    }
    wg_wait(&state->done);
    return ticks(&state->ran) == 4 ? NULL : "not 4 goroutines ran";
}
SCENARIO(procs_change, 4, 2, "workers become fewer and more while there is work",
         "runtime/thread.c");

/* A goroutine that is locked to its thread parks and is readied by another. */
struct locked {
    struct chan *there, *back;
};

static void locked_child(void *arg)
{
    struct locked *state = arg;
    int value;
    go_lock_thread();
    for (int i = 0; i < 2; i++) {
        chan_recv(state->there, &value);
        chan_send(state->back, &value);
    }
    go_unlock_thread();
}

static const char *locked_crosses(struct locked *state)
{
    struct join child;
    int right = 0;
    state->there = chan_make(sizeof(int), 0);
    state->back = chan_make(sizeof(int), 0);
    join_go(&child, locked_child, state);
    for (int i = 0; i < 2; i++) {
        int value = 0;
        chan_send(state->there, &i);
        chan_recv(state->back, &value);
        right += value == i;
    }
    join_wait(&child);
    chan_free(state->there);
    chan_free(state->back);
    return right == 2 ? NULL : "a value came back wrong";
}
SCENARIO(locked, 1, 1, "a goroutine locked to its thread parks and is readied",
         "runtime/thread.c, locked goroutines");
