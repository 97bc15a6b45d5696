/* test_sync.c - join, wait groups, mutexes and condition variables, on every variant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/every_variant.h"

enum { WAITERS = 6 };

struct member {
    struct team *team;
    int index;
};

/* State that the tests' Gs share. */
struct team {
    struct mutex mu;
    struct cond cond;
    struct waitgroup gate, done;
    struct log log;
    struct member member[WAITERS];
    int turns;
};

static struct team *team_make(void)
{
    struct team *team = go_alloc_zeroed(sizeof *team);
    for (int i = 0; i < WAITERS; i++)
        team->member[i] = (struct member){team, i};
    return team;
}

/* Starts the first n, each of which parks, one after the other. */
static void team_park(struct team *team, int n, void (*fn)(void *))
{
    wg_add(&team->done, n);
    for (int i = 0; i < n; i++)
        every_start_parked(fn, &team->member[i]);
}

static const int order_up[WAITERS] = {0, 1, 2, 3, 4, 5};
static const int order_last_first[WAITERS] = {5, 0, 1, 2, 3, 4};

/* Join --------------------------------------------------------------------------------------- */

struct joined {
    struct join join;
    struct chan *go_on;
    int64_t value;
};

static void joined_doubles(void *arg)
{
    struct joined *self = arg;
    if (self->go_on)
        chan_recv(self->go_on, NULL);
    self->value *= 2;
}

static void join_first_body(void *arg)
{
    (void)arg;
    struct joined *joined = go_alloc_zeroed(sizeof *joined);
    joined->value = 21;
    join_go(&joined->join, joined_doubles, joined);
    while (atomic_load(&joined->join.state) != 1)
        gosched();
    uint64_t parks = every_parks();
    join_wait(&joined->join);
    CHECK(joined->value == 42 && every_parks() == parks);
    go_free(joined);
}

static void join_of_a_finished_goroutine_does_not_park(void **state)
{
    (void)state;
    every_variant(join_first_body);
}

static void joiner(void *arg)
{
    struct joined *joined = arg;
    join_wait(&joined->join);
    CHECK(joined->value == 42);
    chan_free(joined->go_on);
    go_free(joined);
}

static void join_second_body(void *arg)
{
    (void)arg;
    struct joined *joined = go_alloc_zeroed(sizeof *joined);
    struct join end;
    joined->value = 21;
    joined->go_on = chan_make(1, 0);
    uint64_t parks = every_parks();
    join_go(&joined->join, joined_doubles, joined);
    join_go(&end, joiner, joined);
    every_await_parks(parks + 2);
    chan_send(joined->go_on, &(char){0});
    join_wait(&end);
}

static void join_wakes_who_waits(void **state)
{
    (void)state;
    every_variant(join_second_body);
}

/* The object is on the waiter's stack or freed at once: a waker that touched it late would meet the
 * sanitizers, or the next round. */
static void join_leave_body(void *arg)
{
    (void)arg;
    for (int i = 0; i < 300; i++) {
        struct joined *joined = go_alloc_zeroed(sizeof *joined);
        joined->value = i;
        join_go(&joined->join, joined_doubles, joined);
        if (i % 3 == 0)
            gosched();
        join_wait(&joined->join);
        CHECK(joined->value == 2 * i);
        memset(joined, 0x5a, sizeof *joined);
        go_free(joined);
    }
}

static void join_can_be_freed_by_the_waiter(void **state)
{
    (void)state;
    every_variant(join_leave_body);
}

/* Wait groups -------------------------------------------------------------------------------- */

static void member_waits(void *arg)
{
    struct member *self = arg;
    wg_wait(&self->team->gate);
    log_add(&self->team->log, self->index);
    wg_done(&self->team->done);
}

static void wg_order(const int *expected)
{
    struct team *team = team_make();
    wg_add(&team->gate, 1);
    team_park(team, WAITERS, member_waits);
    wg_done(&team->gate);
    wg_wait(&team->done);
    log_check(&team->log, expected, WAITERS);
    go_free(team);
}

static void wg_order_gmp(void *arg)
{
    (void)arg;
    wg_order(order_last_first);
}

static void wg_order_grq(void *arg)
{
    (void)arg;
    wg_order(order_up);
}

static void wg_readies_longest_waiter_first(void **state)
{
    (void)state;
    one_variant("grq", wg_order_grq);
    one_variant("gmp", wg_order_gmp); /* the last readied lies in runnext */
}

static void wg_rounds_body(void *arg)
{
    (void)arg;
    struct team *team = team_make();
    uint64_t parks = every_parks();
    wg_wait(&team->gate);
    wg_add(&team->gate, 3);
    wg_add(&team->gate, -2);
    wg_done(&team->gate);
    wg_wait(&team->gate);
    CHECK(every_parks() == parks);
    for (int round = 1; round <= 3; round++) {
        wg_add(&team->gate, 2);
        team_park(team, WAITERS, member_waits);
        wg_done(&team->gate);
        CHECK(atomic_load(&team->log.count) == (round - 1) * WAITERS);
        wg_done(&team->gate);
        wg_wait(&team->done);
        CHECK(atomic_load(&team->log.count) == round * WAITERS);
        CHECK(atomic_load(&team->gate.state) == 0);
    }
    go_free(team);
}

static void wg_serves_round_after_round(void **state)
{
    (void)state;
    every_variant(wg_rounds_body);
}

static void member_is_done(void *arg)
{
    wg_done(arg);
}

static void wg_leave_body(void *arg)
{
    uint64_t random = ((const struct every_cell *)arg)->seed;
    for (int i = 0; i < 300; i++) {
        struct waitgroup *wg = go_alloc_zeroed(sizeof *wg);
        int members = 1 + (int)(every_random(&random) % 3);
        wg_add(wg, members);
        for (int j = 0; j < members; j++)
            go(member_is_done, wg);
        if (every_random(&random) % 3 == 0)
            gosched();
        wg_wait(wg);
        memset(wg, 0x5a, sizeof *wg);
        go_free(wg);
    }
}

static void wg_can_be_freed_by_the_waiter(void **state)
{
    (void)state;
    every_variant(wg_leave_body);
}

static void wg_negative_body(void *arg)
{
    (void)arg;
    struct waitgroup wg = WG_INIT;
    wg_add(&wg, 1);
    wg_add(&wg, -2);
}

static void wg_below_zero_is_fatal(void **state)
{
    (void)state;
    every_variant_dies(wg_negative_body, "wg_add: the counter is negative: -1");
}

/* Mutexes ------------------------------------------------------------------------------------ */

enum { STATE_STARVING = 4 };

static uint32_t mutex_state_of(struct team *team)
{
    return atomic_load(&team->mu.state);
}

static void member_locks(void *arg)
{
    struct member *self = arg;
    mutex_lock(&self->team->mu);
    log_add(&self->team->log, self->index);
    mutex_unlock(&self->team->mu);
    wg_done(&self->team->done);
}

static void mutex_free_body(void *arg)
{
    (void)arg;
    struct team *team = team_make();
    uint64_t parks = every_parks();
    for (int i = 0; i < 100; i++) {
        mutex_lock(&team->mu);
        CHECK(mutex_state_of(team) == 1);
        CHECK(!mutex_try_lock(&team->mu));
        mutex_unlock(&team->mu);
        CHECK(mutex_try_lock(&team->mu));
        mutex_unlock(&team->mu);
    }
    CHECK(mutex_state_of(team) == 0 && every_parks() == parks);
    go_free(team);
}

static void mutex_uncontended_never_parks(void **state)
{
    (void)state;
    every_variant(mutex_free_body);
}

static void mutex_fifo_body(void *arg)
{
    (void)arg;
    struct team *team = team_make();
    mutex_lock(&team->mu);
    team_park(team, WAITERS, member_locks);
    CHECK(atomic_load(&team->log.count) == 0);
    mutex_unlock(&team->mu);
    wg_wait(&team->done);
    log_check(&team->log, order_up, WAITERS);
    CHECK(mutex_state_of(team) == 0);
    go_free(team);
}

static void mutex_serves_waiters_in_order(void **state)
{
    (void)state;
    every_variant(mutex_fifo_body);
}

/* The caller holds the mutex, member 0 has just parked for it. Waits work_ns, gives the mutex back
 * and takes it again before member 0, which then goes back on the list. */
static void mutex_barge(struct team *team, int64_t work_ns)
{
    uint64_t parks = every_parks();
    every_work_for(work_ns);
    mutex_unlock(&team->mu);
    CHECK(mutex_try_lock(&team->mu));
    every_await_parks(parks + 1);
}

static void mutex_front_body(void *arg)
{
    (void)arg;
    struct team *team = team_make();
    mutex_lock(&team->mu);
    team_park(team, 3, member_locks);
    mutex_barge(team, 0);
    CHECK(atomic_load(&team->log.count) == 0);
    mutex_unlock(&team->mu);
    wg_wait(&team->done);
    log_check(&team->log, order_up, 3);
    go_free(team);
}

static void mutex_woken_waiter_that_loses_queues_at_the_front(void **state)
{
    (void)state;
    every_variant_taking_turns(mutex_front_body);
}

static void mutex_one_awake_body(void *arg)
{
    (void)arg;
    struct team *team = team_make();
    mutex_lock(&team->mu);
    team_park(team, 2, member_locks);
    struct sched *sched = machine_self()->sched;
    uint64_t readies = sched_stat(sched, STAT_READIES);
    mutex_unlock(&team->mu);
    CHECK(mutex_try_lock(&team->mu)); /* member 0 is awake and has not run yet */
    mutex_unlock(&team->mu);
    CHECK(sched_stat(sched, STAT_READIES) == readies + 1);
    wg_wait(&team->done);
    log_check(&team->log, order_up, 2);
    go_free(team);
}

static void mutex_unlock_wakes_nobody_while_one_is_awake(void **state)
{
    (void)state;
    every_variant_taking_turns(mutex_one_awake_body);
}

static void mutex_starving_body(void *arg)
{
    (void)arg;
    struct team *team = team_make();
    mutex_lock(&team->mu);
    team_park(team, 3, member_locks);
    mutex_barge(team, EVERY_STARVING_NS);
    CHECK(mutex_state_of(team) & STATE_STARVING);
    mutex_unlock(&team->mu);
    mutex_lock(&team->mu); /* newcomers queue up behind those who starve */
    CHECK(atomic_load(&team->log.count) == 3);
    CHECK(mutex_state_of(team) == 1);
    mutex_unlock(&team->mu);
    wg_wait(&team->done);
    log_check(&team->log, order_up, 3);
    go_free(team);
}

static void mutex_is_handed_to_who_waited_over_1ms(void **state)
{
    (void)state;
    every_variant_taking_turns(mutex_starving_body);
}

/* Is handed the mutex as its last waiter. */
static void member_locks_last(void *arg)
{
    struct member *self = arg;
    mutex_lock(&self->team->mu);
    CHECK(mutex_state_of(self->team) == 1);
    log_add(&self->team->log, self->index);
    mutex_unlock(&self->team->mu);
    wg_done(&self->team->done);
}

static void mutex_leaves_body(void *arg)
{
    (void)arg;
    struct team *team = team_make();
    mutex_lock(&team->mu);
    team_park(team, 1, member_locks_last);
    mutex_barge(team, EVERY_STARVING_NS);
    CHECK(mutex_state_of(team) & STATE_STARVING);
    mutex_unlock(&team->mu);
    wg_wait(&team->done);
    CHECK(mutex_state_of(team) == 0);
    CHECK(atomic_load(&team->log.count) == 1);
    go_free(team);
}

static void mutex_leaves_starving_mode_with_its_last_waiter(void **state)
{
    (void)state;
    every_variant_taking_turns(mutex_leaves_body);
}

static void mutex_unlocked_body(void *arg)
{
    (void)arg;
    struct mutex mu = MUTEX_INIT;
    mutex_lock(&mu);
    mutex_unlock(&mu);
    mutex_unlock(&mu);
}

static void mutex_unlock_of_unlocked_is_fatal(void **state)
{
    (void)state;
    every_variant_dies(mutex_unlocked_body, "mutex_unlock: the mutex is not locked");
}

/* Condition variables ------------------------------------------------------------------------ */

static void member_awaits(void *arg)
{
    struct member *self = arg;
    mutex_lock(&self->team->mu);
    cond_wait(&self->team->cond, &self->team->mu);
    CHECK(!mutex_try_lock(&self->team->mu));
    log_add(&self->team->log, self->index);
    mutex_unlock(&self->team->mu);
    wg_done(&self->team->done);
}

static void cond_signal_body(void *arg)
{
    (void)arg;
    struct team *team = team_make();
    cond_signal(&team->cond); /* nobody waits: forgotten */
    team_park(team, WAITERS, member_awaits);
    for (int i = 0; i < WAITERS; i++) {
        cond_signal(&team->cond);
        while (atomic_load(&team->log.count) <= i)
            gosched();
        CHECK(atomic_load(&team->log.count) == i + 1);
    }
    wg_wait(&team->done);
    log_check(&team->log, order_up, WAITERS);
    go_free(team);
}

static void cond_signal_wakes_one_the_longest_waiter(void **state)
{
    (void)state;
    every_variant(cond_signal_body);
}

static void cond_order(const int *expected)
{
    struct team *team = team_make();
    team_park(team, WAITERS, member_awaits);
    cond_broadcast(&team->cond);
    wg_wait(&team->done);
    log_check(&team->log, expected, WAITERS);
    go_free(team);
}

static void cond_order_gmp(void *arg)
{
    (void)arg;
    cond_order(order_last_first);
}

static void cond_order_grq(void *arg)
{
    (void)arg;
    cond_order(order_up);
}

static void cond_broadcast_readies_longest_waiter_first(void **state)
{
    (void)state;
    one_variant("grq", cond_order_grq);
    one_variant("gmp", cond_order_gmp); /* the last readied lies in runnext */
}

static void cond_broadcast_body(void *arg)
{
    (void)arg;
    struct team *team = team_make();
    cond_broadcast(&team->cond);
    for (int round = 1; round <= 2; round++) {
        team_park(team, WAITERS, member_awaits);
        mutex_lock(&team->mu);
        cond_broadcast(&team->cond);
        CHECK(atomic_load(&team->log.count) == (round - 1) * WAITERS);
        mutex_unlock(&team->mu);
        wg_wait(&team->done);
        CHECK(atomic_load(&team->log.count) == round * WAITERS);
    }
    go_free(team);
}

static void cond_broadcast_wakes_all_who_then_take_the_mutex_in_turn(void **state)
{
    (void)state;
    every_variant(cond_broadcast_body);
}

/* Member 0 starves for the mutex; cond_wait() hands it over while its caller is on the list of the
 * condition variable, and must not put it on a run queue as well. */
static void member_locks_and_signals(void *arg)
{
    struct member *self = arg;
    mutex_lock(&self->team->mu);
    log_add(&self->team->log, self->index);
    cond_signal(&self->team->cond);
    mutex_unlock(&self->team->mu);
    wg_done(&self->team->done);
}

static void cond_hand_over_body(void *arg)
{
    (void)arg;
    for (int round = 0; round < 3; round++) {
        struct team *team = team_make();
        mutex_lock(&team->mu);
        team_park(team, 2, member_locks_and_signals);
        mutex_barge(team, EVERY_STARVING_NS);
        CHECK(mutex_state_of(team) & STATE_STARVING);
        cond_wait(&team->cond, &team->mu);
        log_add(&team->log, 2);
        mutex_unlock(&team->mu);
        wg_wait(&team->done);
        log_check(&team->log, order_up, 3);
        go_free(team);
    }
}

static void cond_wait_hands_a_starving_mutex_over(void **state)
{
    (void)state;
    every_variant_taking_turns(cond_hand_over_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(join_of_a_finished_goroutine_does_not_park),
        cmocka_unit_test(join_wakes_who_waits),
        cmocka_unit_test(join_can_be_freed_by_the_waiter),
        cmocka_unit_test(wg_readies_longest_waiter_first),
        cmocka_unit_test(wg_serves_round_after_round),
        cmocka_unit_test(wg_can_be_freed_by_the_waiter),
        cmocka_unit_test(wg_below_zero_is_fatal),
        cmocka_unit_test(mutex_uncontended_never_parks),
        cmocka_unit_test(mutex_serves_waiters_in_order),
        cmocka_unit_test(mutex_woken_waiter_that_loses_queues_at_the_front),
        cmocka_unit_test(mutex_unlock_wakes_nobody_while_one_is_awake),
        cmocka_unit_test(mutex_is_handed_to_who_waited_over_1ms),
        cmocka_unit_test(mutex_leaves_starving_mode_with_its_last_waiter),
        cmocka_unit_test(mutex_unlock_of_unlocked_is_fatal),
        cmocka_unit_test(cond_signal_wakes_one_the_longest_waiter),
        cmocka_unit_test(cond_broadcast_readies_longest_waiter_first),
        cmocka_unit_test(cond_broadcast_wakes_all_who_then_take_the_mutex_in_turn),
        cmocka_unit_test(cond_wait_hands_a_starving_mutex_over),
    };
    return cmocka_run_group_tests_name("sync", tests, NULL, NULL);
}
