/* test_stress.c - channels, mutexes, condition variables and wait groups under random use.
 *
 * Bounded counts; all choices come from one seed, which is printed. Which interleavings come about
 * is up to the machine; that the sums are right is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/every_variant.h"

static void pattern_fill(unsigned char *elem, size_t size, unsigned char byte)
{
    for (size_t i = 0; i < size; i++)
        elem[i] = (unsigned char)(byte + i * 7);
}

/* Channels ----------------------------------------------------------------------------------- */

/* Producers and consumers in random number on a channel of random size, with random tries, yields
 * and sleeps. The last producer closes. Every message arrives once, and no consumer sees two
 * messages of one producer in the wrong order. */
enum { MPMC_ROUNDS = 8, MPMC_GS = 5, MPMC_MESSAGES = 60 };

struct mpmc {
    struct chan *ch;
    struct waitgroup done;
    _Atomic int producing;
    size_t elem_size;
    _Atomic uint32_t arrivals[MPMC_GS][MPMC_MESSAGES];
};

struct mpmc_g {
    struct mpmc *mpmc;
    uint64_t random;
    uint32_t index;
};

/* An element is this, followed by bytes that follow from it. */
struct message {
    uint32_t producer, number;
};

static void mpmc_pause(struct mpmc_g *self)
{
    uint64_t choice = every_random(&self->random) % 64;
    if (choice < 12)
        gosched();
    else if (choice == 12)
        go_sleep(1000);
    else
        go_work(choice);
}

static void mpmc_produces(void *arg)
{
    struct mpmc_g *self = arg;
    struct mpmc *mpmc = self->mpmc;
    unsigned char elem[1024];
    for (uint32_t i = 0; i < MPMC_MESSAGES; i++) {
        struct message message = {self->index, i};
        pattern_fill(elem, mpmc->elem_size, (unsigned char)(i + self->index));
        memcpy(elem, &message, sizeof message);
        if (every_random(&self->random) % 4 || !chan_try_send(mpmc->ch, elem))
            chan_send(mpmc->ch, elem);
        mpmc_pause(self);
    }
    if (atomic_fetch_sub(&mpmc->producing, 1) == 1)
        chan_close(mpmc->ch);
    wg_done(&mpmc->done);
}

/* False once the channel is closed and drained. */
static bool mpmc_receive(struct mpmc_g *self, unsigned char *elem)
{
    struct chan *ch = self->mpmc->ch;
    while (every_random(&self->random) % 4 == 0) {
        bool closed;
        if (chan_try_recv(ch, elem, &closed))
            return true;
        if (closed)
            return false;
        gosched();
    }
    return chan_recv(ch, elem);
}

static void mpmc_consumes(void *arg)
{
    struct mpmc_g *self = arg;
    struct mpmc *mpmc = self->mpmc;
    uint32_t next[MPMC_GS] = {0};
    unsigned char elem[1024], expected[1024];
    while (mpmc_receive(self, elem)) {
        struct message message;
        memcpy(&message, elem, sizeof message);
        CHECK(message.producer < MPMC_GS && message.number < MPMC_MESSAGES);
        CHECK(message.number >= next[message.producer]);
        next[message.producer] = message.number + 1;
        pattern_fill(expected, mpmc->elem_size, (unsigned char)(message.number + message.producer));
        CHECK(memcmp(elem + sizeof message, expected + sizeof message,
                     mpmc->elem_size - sizeof message) == 0);
        CHECK(atomic_fetch_add(&mpmc->arrivals[message.producer][message.number], 1) == 0);
        mpmc_pause(self);
    }
    wg_done(&mpmc->done);
}

static void mpmc_round(uint64_t *random)
{
    static const size_t sizes[] = {8, 16, 24, 100, 1024};
    struct mpmc *mpmc = go_alloc_zeroed(sizeof *mpmc);
    int producers = 1 + (int)(every_random(random) % MPMC_GS);
    int consumers = 1 + (int)(every_random(random) % MPMC_GS);
    struct mpmc_g gs[2 * MPMC_GS];
    mpmc->elem_size = sizes[every_random(random) % 5];
    mpmc->ch = chan_make(mpmc->elem_size, every_random(random) % 6);
    atomic_store(&mpmc->producing, producers);
    wg_add(&mpmc->done, producers + consumers);
    for (int i = 0; i < producers + consumers; i++) {
        gs[i] = (struct mpmc_g){mpmc, every_random(random), (uint32_t)i};
        go(i < producers ? mpmc_produces : mpmc_consumes, &gs[i]);
    }
    wg_wait(&mpmc->done);
    for (int i = 0; i < producers; i++)
        for (int n = 0; n < MPMC_MESSAGES; n++)
            CHECK(atomic_load(&mpmc->arrivals[i][n]) == 1);
    chan_free(mpmc->ch);
    go_free(mpmc);
}

static void mpmc_body(void *arg)
{
    uint64_t random = ((const struct every_cell *)arg)->seed;
    for (int round = 0; round < MPMC_ROUNDS; round++)
        mpmc_round(&random);
}

static void chan_stress_delivers_each_message_once(void **state)
{
    (void)state;
    every_variant(mpmc_body);
}

/* Mutexes and condition variables ------------------------------------------------------------ */

enum { SHARED_GS = 6, SHARED_ROUNDS = 60, SHARED_SLOTS = 3 };

struct shared {
    struct mutex mu;
    struct cond not_full, not_empty;
    struct waitgroup done;
    int inside, turns, put, got, slots; /* protected by mu */
    bool is_starved; /* owners sometimes keep the mutex longer than its starving limit */
};

struct shared_g {
    struct shared *shared;
    uint64_t random;
    int index;
};

static struct shared *shared_start(uint64_t *random, struct shared_g *gs, void (*fn)(void *))
{
    struct shared *shared = go_alloc_zeroed(sizeof *shared);
    shared->is_starved = every_random(random) % 2;
    wg_add(&shared->done, SHARED_GS);
    for (int i = 0; i < SHARED_GS; i++) {
        gs[i] = (struct shared_g){shared, every_random(random), i};
        go(fn, &gs[i]);
    }
    return shared;
}

/* The owner may lose its worker in every way there is. */
static void shared_own(struct shared_g *self)
{
    struct shared *shared = self->shared;
    uint64_t choice = every_random(&self->random) % 32;
    CHECK(shared->inside++ == 0);
    shared->turns++;
    if (choice < 4)
        gosched();
    else if (choice == 4)
        go_sleep(10000);
    else if (choice == 5 && shared->is_starved)
        every_work_for(EVERY_STARVING_NS);
    CHECK(--shared->inside == 0);
}

static void shared_locks(void *arg)
{
    struct shared_g *self = arg;
    struct mutex *mu = &self->shared->mu;
    for (int i = 0; i < SHARED_ROUNDS; i++) {
        if (every_random(&self->random) % 4 || !mutex_try_lock(mu))
            mutex_lock(mu);
        shared_own(self);
        mutex_unlock(mu);
        if (every_random(&self->random) % 4 == 0)
            gosched();
    }
    wg_done(&self->shared->done);
}

static void mutex_body(void *arg)
{
    uint64_t random = ((const struct every_cell *)arg)->seed;
    struct shared_g gs[SHARED_GS];
    for (int round = 0; round < 3; round++) {
        struct shared *shared = shared_start(&random, gs, shared_locks);
        wg_wait(&shared->done);
        CHECK(shared->turns == SHARED_GS * SHARED_ROUNDS);
        CHECK(atomic_load(&shared->mu.state) == 0);
        go_free(shared);
    }
}

static void mutex_stress_excludes(void **state)
{
    (void)state;
    every_variant(mutex_body);
}

/* A bounded buffer without the buffer: as many gets as puts, and never too many slots in use. */
static void shared_puts(struct shared_g *self)
{
    struct shared *shared = self->shared;
    mutex_lock(&shared->mu);
    while (shared->slots == SHARED_SLOTS)
        cond_wait(&shared->not_full, &shared->mu);
    shared->slots++;
    shared->put++;
    cond_signal(&shared->not_empty);
    shared_own(self);
    mutex_unlock(&shared->mu);
}

static void shared_gets(struct shared_g *self)
{
    struct shared *shared = self->shared;
    mutex_lock(&shared->mu);
    while (shared->slots == 0)
        cond_wait(&shared->not_empty, &shared->mu);
    shared->slots--;
    shared->got++;
    shared_own(self);
    mutex_unlock(&shared->mu);
    if (every_random(&self->random) % 2)
        cond_signal(&shared->not_full);
    else
        cond_broadcast(&shared->not_full);
}

static void shared_puts_or_gets(void *arg)
{
    struct shared_g *self = arg;
    for (int i = 0; i < SHARED_ROUNDS; i++)
        (self->index % 2 ? shared_puts : shared_gets)(self);
    wg_done(&self->shared->done);
}

static void cond_body(void *arg)
{
    uint64_t random = ((const struct every_cell *)arg)->seed;
    struct shared_g gs[SHARED_GS];
    for (int round = 0; round < 3; round++) {
        struct shared *shared = shared_start(&random, gs, shared_puts_or_gets);
        wg_wait(&shared->done);
        CHECK(shared->put == SHARED_GS / 2 * SHARED_ROUNDS && shared->got == shared->put);
        CHECK(shared->slots == 0 && atomic_load(&shared->mu.state) == 0);
        go_free(shared);
    }
}

static void cond_stress_loses_no_wakeup(void **state)
{
    (void)state;
    every_variant(cond_body);
}

/* One group after the other on the same object, with waiters that come early, late and too late. */
struct reuse {
    struct waitgroup work, waited;
    _Atomic int worked;
};

struct reuse_g {
    struct reuse *reuse;
    uint64_t random;
    int expected;
};

static void reuse_works(void *arg)
{
    struct reuse_g *self = arg;
    if (every_random(&self->random) % 2)
        gosched();
    atomic_fetch_add(&self->reuse->worked, 1);
    wg_done(&self->reuse->work);
}

static void reuse_waits(void *arg)
{
    struct reuse_g *self = arg;
    if (every_random(&self->random) % 2)
        gosched();
    wg_wait(&self->reuse->work);
    CHECK(atomic_load(&self->reuse->worked) == self->expected);
    wg_done(&self->reuse->waited);
}

static void wg_body(void *arg)
{
    uint64_t random = ((const struct every_cell *)arg)->seed;
    struct reuse *reuse = go_alloc_zeroed(sizeof *reuse);
    struct reuse_g gs[2 * SHARED_GS];
    int expected = 0;
    for (int round = 0; round < SHARED_ROUNDS; round++) {
        int workers = 1 + (int)(every_random(&random) % SHARED_GS);
        int waiters = (int)(every_random(&random) % SHARED_GS);
        int shift = (int)(every_random(&random) % SHARED_GS);
        expected += workers;
        wg_add(&reuse->work, workers);
        wg_add(&reuse->waited, waiters);
        for (int i = 0; i < workers + waiters; i++) {
            gs[i] = (struct reuse_g){reuse, every_random(&random), expected};
            go((i + shift) % (workers + waiters) < waiters ? reuse_waits : reuse_works, &gs[i]);
        }
        wg_wait(&reuse->work);
        CHECK(atomic_load(&reuse->worked) == expected);
        wg_wait(&reuse->waited);
    }
    go_free(reuse);
}

static void wg_stress_is_reused(void **state)
{
    (void)state;
    every_variant(wg_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chan_stress_delivers_each_message_once),
        cmocka_unit_test(mutex_stress_excludes),
        cmocka_unit_test(cond_stress_loses_no_wakeup),
        cmocka_unit_test(wg_stress_is_reused),
    };
    print_message("SCHEDLAB_SEED=%" PRIu64 "\n", every_seed());
    return cmocka_run_group_tests_name("stress", tests, NULL, NULL);
}
