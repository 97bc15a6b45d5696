/* test_sem.c - semaphores, once and read-write mutexes: who gets what, in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/every_variant.h"

enum { WAITERS = 6 };

struct team {
    struct sem sem;
    struct rwmutex rw;
    struct once once;
    struct waitgroup done, gate;
    struct log log;
    int calls;           /* of the once function */
    _Atomic int reading; /* at this moment */
    struct member {
        struct team *team;
        int index;
        bool front;
    } member[WAITERS];
};

static struct team *team_make(void)
{
    struct team *team = go_alloc_zeroed(sizeof *team);
    for (int i = 0; i < WAITERS; i++)
        team->member[i] = (struct member){team, i, false};
    return team;
}

static void team_park(struct team *team, int first, int n, void (*fn)(void *))
{
    wg_add(&team->done, n);
    for (int i = first; i < first + n; i++)
        every_start_parked(fn, &team->member[i]);
}

static uint32_t permits_of(struct sem *sem)
{
    return (uint32_t)atomic_load(&sem->state);
}

/* Semaphores ---------------------------------------------------------------------------------- */

static void member_acquires(void *arg)
{
    struct member *self = arg;
    if (self->front)
        sem_acquire_front(&self->team->sem);
    else
        sem_acquire(&self->team->sem);
    log_add(&self->team->log, self->index);
    wg_done(&self->team->done);
}

static void sem_free_body(void *arg)
{
    (void)arg;
    struct sem sem = SEM_INIT(2);
    uint64_t parks = every_parks();
    sem_acquire(&sem);
    sem_acquire_front(&sem);
    CHECK(!sem_try_acquire(&sem));
    sem_release(&sem, true); /* nobody waits: the permit stays */
    sem_release(&sem, false);
    CHECK(permits_of(&sem) == 2 && sem_try_acquire(&sem) && permits_of(&sem) == 1);
    CHECK(every_parks() == parks);
}

static void sem_with_permits_never_parks(void **state)
{
    (void)state;
    every_variant(sem_free_body);
}

/* One permit at a time, so that the variant's queue has no say in the order. */
static void sem_serve(bool handoff, bool front, const int *expected)
{
    struct team *team = team_make();
    for (int i = 0; i < WAITERS; i++)
        team->member[i].front = front && i % 2;
    team_park(team, 0, WAITERS, member_acquires);
    for (int i = 0; i < WAITERS; i++) {
        sem_release(&team->sem, handoff);
        while (atomic_load(&team->log.count) <= i)
            gosched();
    }
    wg_wait(&team->done);
    CHECK(atomic_load(&team->sem.state) == 0);
    log_check(&team->log, expected, WAITERS);
    go_free(team);
}

static void sem_order_body(void *arg)
{
    static const int up[] = {0, 1, 2, 3, 4, 5}, odd_first[] = {5, 3, 1, 0, 2, 4};
    (void)arg;
    for (int handoff = 0; handoff <= 1; handoff++) {
        sem_serve(handoff, false, up);
        sem_serve(handoff, true, odd_first);
    }
}

static void sem_serves_in_order_and_the_front_first(void **state)
{
    (void)state;
    every_variant(sem_order_body);
}

/* Main takes the permit back before the waiter it has woken runs. With hand-off there is nothing to
 * take, and the waiter has run, or will, without a second park. */
static void sem_compete(bool handoff)
{
    struct team *team = team_make();
    team_park(team, 0, 1, member_acquires);
    uint64_t parks = every_parks();
    sem_release(&team->sem, handoff);
    bool taken = sem_try_acquire(&team->sem);
    CHECK(taken == !handoff);
    if (taken) {
        every_await_parks(parks + 1); /* it came too late */
        CHECK(atomic_load(&team->log.count) == 0);
        sem_release(&team->sem, false);
    }
    wg_wait(&team->done);
    CHECK(permits_of(&team->sem) == 0);
    go_free(team);
}

static void sem_compete_body(void *arg)
{
    (void)arg;
    sem_compete(false);
    sem_compete(true);
}

static void sem_handoff_leaves_nothing_to_compete_for(void **state)
{
    (void)state;
    every_variant_taking_turns(sem_compete_body);
}

static void sem_overflow_body(void *arg)
{
    (void)arg;
    struct sem sem = SEM_INIT(UINT32_MAX);
    sem_release(&sem, false);
}

static void sem_deadlock_body(void *arg)
{
    (void)arg;
    struct sem sem = SEM_INIT(0);
    sem_acquire(&sem);
}

static void sem_misuse_is_fatal(void **state)
{
    (void)state;
    every_variant_dies(sem_overflow_body, "sem_release: more than 4294967295 permits");
    every_variant_dies(sem_deadlock_body, "waits for semaphore");
}

/* Once ---------------------------------------------------------------------------------------- */

static void once_parks(void *arg)
{
    struct team *team = arg;
    wg_wait(&team->gate);
    team->calls++;
}

static void member_does(void *arg)
{
    struct member *self = arg;
    once_do(&self->team->once, once_parks, self->team);
    CHECK(self->team->calls == 1);
    wg_done(&self->team->done);
}

static void once_body(void *arg)
{
    (void)arg;
    struct team *team = team_make();
    wg_add(&team->gate, 1);
    wg_add(&team->done, WAITERS);
    for (int i = 0; i < WAITERS; i++)
        go(member_does, &team->member[i]);
    gosched();
    CHECK(team->calls == 0);
    wg_done(&team->gate);
    wg_wait(&team->done);
    once_do(&team->once, once_parks, team);
    CHECK(team->calls == 1);
    go_free(team);
}

static void once_all_wait_for_the_first(void **state)
{
    (void)state;
    every_variant(once_body);
}

/* Read-write mutexes -------------------------------------------------------------------------- */

static void member_reads(void *arg)
{
    struct member *self = arg;
    rwmutex_read_lock(&self->team->rw);
    log_add(&self->team->log, self->index);
    rwmutex_read_unlock(&self->team->rw);
    wg_done(&self->team->done);
}

static void member_writes(void *arg)
{
    struct member *self = arg;
    rwmutex_lock(&self->team->rw);
    log_add(&self->team->log, self->index);
    rwmutex_unlock(&self->team->rw);
    wg_done(&self->team->done);
}

/* All are inside at once, or this never ends. */
static void member_reads_with_others(void *arg)
{
    struct member *self = arg;
    struct team *team = self->team;
    rwmutex_read_lock(&team->rw);
    atomic_fetch_add(&team->reading, 1);
    while (atomic_load(&team->reading) < WAITERS)
        gosched();
    rwmutex_read_unlock(&team->rw);
    wg_done(&team->done);
}

static void rw_share_body(void *arg)
{
    (void)arg;
    struct team *team = team_make();
    wg_add(&team->done, WAITERS);
    for (int i = 0; i < WAITERS; i++)
        go(member_reads_with_others, &team->member[i]);
    wg_wait(&team->done);
    CHECK(atomic_load(&team->rw.readers) == 0);
    go_free(team);
}

static void rwmutex_readers_share(void **state)
{
    (void)state;
    every_variant(rw_share_body);
}

static void rw_try_body(void *arg)
{
    (void)arg;
    struct rwmutex rw = RWMUTEX_INIT;
    uint64_t parks = every_parks();
    CHECK(rwmutex_try_read_lock(&rw) && rwmutex_try_read_lock(&rw) && !rwmutex_try_lock(&rw));
    rwmutex_read_unlock(&rw);
    CHECK(!rwmutex_try_lock(&rw));
    rwmutex_read_unlock(&rw);
    CHECK(rwmutex_try_lock(&rw) && !rwmutex_try_lock(&rw) && !rwmutex_try_read_lock(&rw));
    rwmutex_unlock(&rw);
    rwmutex_lock(&rw);
    CHECK(!rwmutex_try_read_lock(&rw));
    rwmutex_unlock(&rw);
    rwmutex_read_lock(&rw);
    rwmutex_read_unlock(&rw);
    CHECK(every_parks() == parks);
}

static void rwmutex_free_never_parks(void **state)
{
    (void)state;
    every_variant(rw_try_body);
}

/* Main reads. Writer 0, readers 1 and 2, writer 3: who comes after the first writer waits for it,
 * and its unlock lets the readers in before the second one. */
static void rw_preference_body(void *arg)
{
    static const int either[2][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}};
    (void)arg;
    struct team *team = team_make();
    rwmutex_read_lock(&team->rw);
    team_park(team, 0, 1, member_writes);
    CHECK(!rwmutex_try_read_lock(&team->rw));
    team_park(team, 1, 2, member_reads);
    team_park(team, 3, 1, member_writes);
    CHECK(atomic_load(&team->log.count) == 0);
    rwmutex_read_unlock(&team->rw);
    wg_wait(&team->done);
    log_check(&team->log, either[atomic_load(&team->log.entry[1]) == 2], 4);
    CHECK(atomic_load(&team->rw.readers) == 0 && atomic_load(&team->rw.leaving) == 0);
    go_free(team);
}

static void rwmutex_writer_is_preferred_and_then_its_readers(void **state)
{
    (void)state;
    every_variant(rw_preference_body);
}

static void rw_unlock_body(void *arg)
{
    (void)arg;
    struct rwmutex rw = RWMUTEX_INIT;
    rwmutex_unlock(&rw);
}

static void rw_read_unlock_body(void *arg)
{
    (void)arg;
    struct rwmutex rw = RWMUTEX_INIT;
    rwmutex_read_unlock(&rw);
}

static void rw_read_unlock_written_body(void *arg)
{
    (void)arg;
    struct rwmutex rw = RWMUTEX_INIT;
    rwmutex_lock(&rw);
    rwmutex_read_unlock(&rw);
}

static void rw_read_deadlock_body(void *arg)
{
    (void)arg;
    struct rwmutex rw = RWMUTEX_INIT;
    rwmutex_lock(&rw);
    rwmutex_read_lock(&rw);
}

static void rw_write_deadlock_body(void *arg)
{
    (void)arg;
    struct rwmutex rw = RWMUTEX_INIT;
    rwmutex_read_lock(&rw);
    rwmutex_lock(&rw);
}

static void rwmutex_misuse_is_fatal(void **state)
{
    (void)state;
    every_variant_dies(rw_unlock_body, "rwmutex_unlock: the lock is not held for writing");
    every_variant_dies(rw_read_unlock_body, "rwmutex_read_unlock: nobody reads");
    every_variant_dies(rw_read_unlock_written_body, "rwmutex_read_unlock: nobody reads");
    every_variant_dies(rw_read_deadlock_body, "waits for read lock");
    every_variant_dies(rw_write_deadlock_body, "waits for write lock");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sem_with_permits_never_parks),
        cmocka_unit_test(sem_serves_in_order_and_the_front_first),
        cmocka_unit_test(sem_handoff_leaves_nothing_to_compete_for),
        cmocka_unit_test(sem_misuse_is_fatal),
        cmocka_unit_test(once_all_wait_for_the_first),
        cmocka_unit_test(rwmutex_readers_share),
        cmocka_unit_test(rwmutex_free_never_parks),
        cmocka_unit_test(rwmutex_writer_is_preferred_and_then_its_readers),
        cmocka_unit_test(rwmutex_misuse_is_fatal),
    };
    return cmocka_run_group_tests_name("sem", tests, NULL, NULL);
}
