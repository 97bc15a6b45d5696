/* test_netpoll.c - records of descriptors: ready, park, close and deadline in all orders, late
 * events, and the list of ready goroutines.
 *
 * Scenes drive netpoll() themselves (netpoll=call, and the scene's own goroutine looks), or race a
 * thread of the poller's. SCHEDLAB_SEED replays a seed.
 */
#include "gqueue.h"
#include "internal.h"
#include "netpoll.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/every_variant.h"

enum { PIPES = 6, ROUNDS = 400 };

/* Readies what one look finds; how many. */
static int look_and_ready(int64_t delay_ns)
{
    int n = 0;
    for (struct g *gp = netpoll(this_sched(), delay_ns), *next; gp; gp = next, n++) {
        next = gp->link;
        g_ready(gp);
    }
    return n;
}

/* A pipe whose read end is polled. */
struct polled {
    int ends[2];
    struct poll_desc *pd;
};

static void polled_make(struct polled *self)
{
    CHECK(machine_fd_pipe(self->ends, false) == 0);
    CHECK(poll_open(this_sched(), self->ends[0], &self->pd) == 0);
}

static void polled_close(struct polled *self)
{
    poll_evict(self->pd);
    poll_close(self->pd);
    machine_fd_close(self->ends[0]);
    machine_fd_close(self->ends[1]);
}

static void put(const struct polled *self)
{
    CHECK(machine_fd_write(self->ends[1], "x", 1) == 1);
}

/* Reads one byte as io.c does; 1, or an error. */
static int64_t get(struct polled *self)
{
    char byte;
    int error = poll_prepare(self->pd, POLL_READ);
    while (!error) {
        int64_t n = machine_fd_read(self->ends[0], &byte, 1);
        if (n != -EAGAIN)
            return n;
        error = poll_wait(self->pd, POLL_READ);
    }
    return error;
}

/* One worker ---------------------------------------------------------------------------------- */

struct reader {
    struct polled polled;
    struct join join;
    int64_t result;
    int *order, *length, index;
};

static void reader_g(void *arg)
{
    struct reader *self = arg;
    self->result = get(&self->polled);
    if (self->order)
        self->order[(*self->length)++] = self->index;
}

static uint64_t parks_now(void)
{
    return sched_stat(this_sched(), STAT_PARKS);
}

/* Starts it and comes back when it has parked. */
static void reader_start(struct reader *self)
{
    uint64_t parks = parks_now();
    join_go(&self->join, reader_g, self);
    while (parks_now() == parks)
        gosched();
}

static int64_t reader_wait(struct reader *self)
{
    join_wait(&self->join);
    return self->result;
}

/* Six pipes become readable in the order 0 to 5; the list has the last event's goroutine first. */
static void scene_order(void *arg)
{
    (void)arg;
    struct reader reader[PIPES] = {0};
    int order[PIPES], length = 0;
    for (int i = 0; i < PIPES; i++) {
        reader[i] = (struct reader){.order = order, .length = &length, .index = i};
        polled_make(&reader[i].polled);
        reader_start(&reader[i]);
    }
    CHECK(netpoll_has_waiters(this_sched()));
    CHECK(look_and_ready(0) == 0);
    for (int i = 0; i < PIPES; i++)
        put(&reader[i].polled);
    struct g *gp = netpoll(this_sched(), -1);
    for (int i = PIPES - 1; i >= 0; i--) {
        struct g *next = gp->link;
        CHECK(gp->wait_on == reader[i].polled.pd && gp->wait_reason == WAIT_IO_READ);
        g_ready(gp);
        gp = next;
    }
    CHECK(gp == NULL);
    for (int i = 0; i < PIPES; i++)
        CHECK(reader_wait(&reader[i]) == 1);
    CHECK(length == PIPES && !netpoll_has_waiters(this_sched()));
    for (int i = 0; i < PIPES; i++)
        polled_close(&reader[i].polled);
}

static void ready_list_is_a_stack(void **state)
{
    (void)state;
    run_scene("gmp", "netpoll=call", 1, scene_order);
    run_scene("gmp", "netpoll=call,netpoll_trigger=level", 1, scene_order);
}

/* A G does not wait for an event that came before; a call that finds something never parks. */
static void scene_ready_first(void *arg)
{
    (void)arg;
    struct polled polled;
    polled_make(&polled);
    CHECK(poll_prepare(polled.pd, POLL_READ) == 0);
    put(&polled);
    CHECK(look_and_ready(0) == 0);
    uint64_t parks = parks_now();
    CHECK(poll_wait(polled.pd, POLL_READ) == 0);
    CHECK(get(&polled) == 1);
    CHECK(parks_now() == parks);
    polled_close(&polled);
}

static void what_is_ready_is_not_waited_for(void **state)
{
    (void)state;
    run_scene("gmp", "netpoll=call", 1, scene_ready_first);
}

static void scene_close(void *arg)
{
    (void)arg;
    struct reader reader = {0};
    polled_make(&reader.polled);
    reader_start(&reader);
    poll_evict(reader.polled.pd);
    CHECK(reader_wait(&reader) == -EBADF);
    CHECK(poll_prepare(reader.polled.pd, POLL_WRITE) == -EBADF);
    CHECK(poll_wait(reader.polled.pd, POLL_READ) == -EBADF);
    polled_close(&reader.polled);
}

static void closing_ends_a_wait(void **state)
{
    (void)state;
    run_scene("gmp", "netpoll=call", 1, scene_close);
    run_scene("grq", "netpoll=call,netpoll_trigger=level", 1, scene_close);
}

static void deadline_set(struct polled *polled, int64_t when)
{
    struct g *gp = poll_set_deadline(polled->pd, POLL_READ, when);
    if (gp)
        g_ready(gp);
}

/* Past deadlines interrupt at once, later ones when they are due, and what is moved or taken away
 * does not. */
static void scene_deadline(void *arg)
{
    (void)arg;
    struct reader reader = {0};
    polled_make(&reader.polled);
    reader_start(&reader);
    deadline_set(&reader.polled, 1);
    CHECK(reader_wait(&reader) == -ETIMEDOUT);
    CHECK(poll_prepare(reader.polled.pd, POLL_READ) == -ETIMEDOUT);
    CHECK(poll_prepare(reader.polled.pd, POLL_WRITE) == 0);
    deadline_set(&reader.polled, 0);
    reader_start(&reader);
    int64_t when = go_now() + 2000000;
    deadline_set(&reader.polled, when + INT64_C(3600000000000));
    deadline_set(&reader.polled, when);
    CHECK(reader_wait(&reader) == -ETIMEDOUT && go_now() >= when);
    deadline_set(&reader.polled, go_now() + INT64_C(3600000000000));
    reader_start(&reader);
    put(&reader.polled);
    CHECK(look_and_ready(-1) == 1 && reader_wait(&reader) == 1);
    deadline_set(&reader.polled, go_now() + 1);
    deadline_set(&reader.polled, 0);
    reader_start(&reader);
    CHECK(look_and_ready(2000000) == 0);
    put(&reader.polled);
    CHECK(look_and_ready(-1) == 1 && reader_wait(&reader) == 1);
    polled_close(&reader.polled);
}

static void deadlines_end_a_wait(void **state)
{
    (void)state;
    run_scene("gmp", "netpoll=call", 1, scene_deadline);
    run_scene("gmp", "netpoll=call,netpoll_trigger=level", 1, scene_deadline);
}

/* An event that was fetched for one descriptor does not reach the next one in its place. */
static void scene_late(void *arg)
{
    (void)arg;
    struct polled first;
    struct reader second = {0};
    polled_make(&first);
    struct poll_desc *pd = first.pd;
    uint64_t tag = poll_tag(pd);
    polled_close(&first);
    CHECK(netpoll_event(this_sched(), tag, MACHINE_READ) == NULL);
    polled_make(&second.polled);
    CHECK(second.polled.pd == pd && poll_tag(pd) != tag);
    reader_start(&second);
    CHECK(netpoll_event(this_sched(), tag, MACHINE_READ | MACHINE_WRITE) == NULL);
    put(&second.polled);
    struct g *gp = netpoll_event(this_sched(), poll_tag(pd), MACHINE_READ);
    CHECK(gp && !gp->link);
    g_ready(gp);
    CHECK(reader_wait(&second) == 1);
    CHECK(netpoll_event(this_sched(), poll_tag(pd), MACHINE_READ) == NULL);
    polled_close(&second.polled);
}

static void late_events_do_not_reach_the_next_descriptor(void **state)
{
    (void)state;
    run_scene("gmp", "netpoll=call", 1, scene_late);
    run_scene("gmp", "netpoll=call,netpoll_trigger=level", 1, scene_late);
}

/* Records are used again: as many as were open at once, in whatever order they go. */
static void scene_records(void *arg)
{
    (void)arg;
    enum { OPEN = 200 };
    static struct polled polled[OPEN];
    uint32_t most = 0;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < OPEN; i++) {
            polled_make(&polled[i]);
            uint32_t index = (uint32_t)(poll_tag(polled[i].pd) >> 32);
            CHECK(round == 0 || index <= most);
            most = index > most ? index : most;
        }
        for (int i = 0; i < OPEN; i++)
            polled_close(&polled[i * 7 % OPEN]);
    }
}

static void records_are_used_again(void **state)
{
    (void)state;
    run_scene("gmp", "netpoll=call", 1, scene_records);
}

/* Races --------------------------------------------------------------------------------------- */

enum { RACERS = 4 };

enum { RACE_PUT = 1, RACE_EVICT = 2, RACE_EXPIRE = 4, RACE_MOVE = 8 };

struct race {
    uint64_t seed;
    struct join join;
};

static uint64_t race_random(struct race *self)
{
    self->seed = self->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return self->seed >> 33;
}

/* A reader against those that end its wait, in any order and with any delay. It has to return, and
 * with the result of one of them. */
static void race_round(struct race *self)
{
    struct reader reader = {0};
    int doing = (int)(race_random(self) % 16);
    if (!(doing & (RACE_PUT | RACE_EVICT | RACE_EXPIRE)) || (doing & RACE_MOVE))
        doing |= RACE_PUT; /* a deadline that is moved ends no wait for sure */
    polled_make(&reader.polled);
    go_work(race_random(self) % 200);
    join_go(&reader.join, reader_g, &reader);
    for (int step = 1; step <= RACE_MOVE; step *= 2) {
        go_work(race_random(self) % 400);
        if (race_random(self) % 2)
            gosched();
        switch (doing & step) {
        case RACE_PUT:
            put(&reader.polled);
            break;
        case RACE_EVICT:
            poll_evict(reader.polled.pd);
            break;
        case RACE_EXPIRE:
            deadline_set(&reader.polled, go_now() + (int64_t)(race_random(self) % 50000));
            break;
        case RACE_MOVE:
            deadline_set(&reader.polled, go_now() + INT64_C(3600000000000));
            break;
        default:
            break;
        }
    }
    int64_t result = reader_wait(&reader);
    CHECK((result == 1 && (doing & RACE_PUT)) || (result == -EBADF && (doing & RACE_EVICT)) ||
          (result == -ETIMEDOUT && (doing & RACE_EXPIRE)));
    polled_close(&reader.polled);
}

static void racer_g(void *arg)
{
    struct race *self = arg;
    for (int round = 0; round < ROUNDS; round++)
        race_round(self);
}

static void scene_race(void *arg)
{
    struct race race[RACERS];
    for (int i = 0; i < RACERS; i++) {
        race[i].seed = *(uint64_t *)arg + (uint64_t)i;
        join_go(&race[i].join, racer_g, &race[i]);
    }
    for (int i = 0; i < RACERS; i++)
        join_wait(&race[i].join);
    CHECK(!netpoll_has_waiters(this_sched()));
}

static void ready_park_close_and_deadline_race(void **state)
{
    (void)state;
    for (int workers = 1; workers <= 4; workers *= 2) {
        run_scene("gmp", "netpoll=poll", workers, scene_race);
        run_scene("grq", "netpoll=poll,netpoll_trigger=level", workers, scene_race);
        run_scene("gmp", "netpoll=thread", workers, scene_race);
        run_scene("grq", "netpoll=thread,netpoll_batch=1", workers, scene_race);
        run_scene("gmp", "netpoll=thread,netpoll_trigger=level", workers, scene_race);
        run_scene("perm", "netpoll=thread,netpoll_trigger=level,netpoll_batch=1", workers,
                  scene_race);
        run_scene("tasksteal", "netpoll=thread", workers, scene_race);
        run_scene("contsteal", "netpoll=thread", workers, scene_race);
    }
}

static void scene_nothing(void *arg)
{
    (void)arg;
    CHECK(netpoll(this_sched(), -1) == NULL); /* returns at once */
    netpoll_break(this_sched());
    CHECK(!netpoll_has_waiters(this_sched()));
}

static void without_descriptors_there_is_no_poller(void **state)
{
    (void)state;
    every_variant(scene_nothing);
}

static void break_g(void *arg)
{
    (void)arg;
    netpoll_break(this_sched());
}

static void scene_break(void *arg)
{
    (void)arg;
    struct polled polled;
    struct join join;
    polled_make(&polled);
    join_go(&join, break_g, NULL);
    CHECK(netpoll(this_sched(), -1) == NULL);
    join_wait(&join);
    polled_close(&polled);
}

static void a_break_ends_the_wait_of_netpoll(void **state)
{
    (void)state;
    run_scene("gmp", "netpoll=call", 2, scene_break);
}

/* Holds the global queue's lock until another thread waits for it in the lock's own way. */
static void scene_wait_for_lock(void *arg)
{
    (void)arg;
    struct m *m = machine_self();
    struct globq *globq = this_sched()->variant;
    struct qlock *lock = &globq->lock;
    struct reader reader = {0};
    polled_make(&reader.polled);
    reader_start(&reader);
    globq_lock(m, globq);
    put(&reader.polled);
    for (bool wanted = false; !wanted;) {
        uint32_t word = atomic_load(&lock->word) - atomic_load(&lock->serving);
        struct qlock_node *tail = atomic_load(&lock->tail);
        machine_yield();
        /* ticket: two numbers are out; futex, spinbit: sleepers, or one that spins */
        wanted = m->lock_node.kind == QLOCK_MCS ? tail != &m->lock_node : word > 1;
    }
    globq_unlock(m, globq);
    CHECK(reader_wait(&reader) == 1);
    polled_close(&reader.polled);
}

/* Without sysmon nobody but the poller's thread can want the lock beside the one worker. */
static void the_pollers_thread_waits_as_the_lock_says(void **state)
{
    (void)state;
    for (int kind = QLOCK_TICKET; qlock_words[kind]; kind++) {
        char settings[64];
        snprintf(settings, sizeof settings, "lock=%s,netpoll=thread,sysmon=off", qlock_words[kind]);
        run_scene("grq", settings, 1, scene_wait_for_lock);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ready_list_is_a_stack),
        cmocka_unit_test(what_is_ready_is_not_waited_for),
        cmocka_unit_test(closing_ends_a_wait),
        cmocka_unit_test(deadlines_end_a_wait),
        cmocka_unit_test(late_events_do_not_reach_the_next_descriptor),
        cmocka_unit_test(records_are_used_again),
        cmocka_unit_test(ready_park_close_and_deadline_race),
        cmocka_unit_test(without_descriptors_there_is_no_poller),
        cmocka_unit_test(a_break_ends_the_wait_of_netpoll),
        cmocka_unit_test(the_pollers_thread_waits_as_the_lock_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
