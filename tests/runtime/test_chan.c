/* test_chan.c - channels: what is delivered, to whom, in which order; who parks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/every_variant.h"

enum { WAITERS = 6 };

/* One G on a channel; what it does is its function. */
struct user {
    struct chan *ch;
    struct waitgroup *done;
    struct log *log;
    int64_t value;
    int index;
    bool ok;
};

struct users {
    struct chan *ch;
    struct waitgroup done;
    struct log log;
    struct user user[WAITERS];
};

static struct users *users_make(size_t capacity)
{
    struct users *users = go_alloc_zeroed(sizeof *users);
    users->ch = chan_make(sizeof(int64_t), capacity);
    for (int i = 0; i < WAITERS; i++)
        users->user[i] = (struct user){
            .ch = users->ch, .done = &users->done, .log = &users->log, .value = i, .index = i};
    return users;
}

static void users_free(struct users *users)
{
    chan_free(users->ch);
    go_free(users);
}

/* Starts the first n, each of which parks, one after the other. */
static void users_park(struct users *users, int n, void (*fn)(void *))
{
    wg_add(&users->done, n);
    for (int i = 0; i < n; i++)
        every_start_parked(fn, &users->user[i]);
}

static void user_sends(void *arg)
{
    struct user *self = arg;
    chan_send(self->ch, &self->value);
    self->ok = true;
    wg_done(self->done);
}

static void user_receives(void *arg)
{
    struct user *self = arg;
    self->value = -1;
    self->ok = chan_recv(self->ch, &self->value);
    log_add(self->log, self->index);
    wg_done(self->done);
}

/* Order of receivers and senders ------------------------------------------------------------- */

static void unbuffered_body(void *arg)
{
    (void)arg;
    struct users *users = users_make(0);
    users_park(users, 1, user_sends);
    CHECK(chan_len(users->ch) == 0);
    int64_t value = -1;
    CHECK(chan_recv(users->ch, &value) && value == 0);
    wg_wait(&users->done);
    CHECK(users->user[0].ok);
    users_free(users);
}

static void chan_unbuffered_send_waits_for_a_receiver(void **state)
{
    (void)state;
    every_variant(unbuffered_body);
}

static void receivers_fifo_body(void *arg)
{
    (void)arg;
    for (size_t capacity = 0; capacity <= 2; capacity++) {
        struct users *users = users_make(capacity);
        users_park(users, WAITERS, user_receives);
        for (int64_t i = 100; i < 100 + WAITERS; i++) {
            chan_send(users->ch, &i);
            CHECK(chan_len(users->ch) == 0); /* past the buffer */
        }
        wg_wait(&users->done);
        for (int i = 0; i < WAITERS; i++)
            CHECK(users->user[i].ok && users->user[i].value == 100 + i);
        users_free(users);
    }
}

static void chan_send_goes_to_the_longest_waiting_receiver(void **state)
{
    (void)state;
    every_variant(receivers_fifo_body);
}

static void senders_fifo_body(void *arg)
{
    (void)arg;
    struct users *users = users_make(0);
    users_park(users, WAITERS, user_sends);
    for (int64_t i = 0; i < WAITERS; i++) {
        int64_t value = -1;
        CHECK(chan_recv(users->ch, &value) && value == i);
    }
    wg_wait(&users->done);
    users_free(users);
}

static void chan_recv_takes_from_the_longest_waiting_sender(void **state)
{
    (void)state;
    every_variant(senders_fifo_body);
}

/* Ring [10 11 12 13], then senders of 0..5: the ring stays full until they have all been let in. */
static void refill_body(void *arg)
{
    (void)arg;
    enum { CAPACITY = 4 }; /* no divisor of WAITERS, so the ring does not end where it began */
    struct users *users = users_make(CAPACITY);
    uint64_t parks = every_parks();
    for (int64_t i = 10; i < 10 + CAPACITY; i++)
        chan_send(users->ch, &i);
    CHECK(every_parks() == parks);
    users_park(users, WAITERS, user_sends);
    for (int i = 0; i < CAPACITY + WAITERS; i++) {
        int64_t value = -1;
        int left = CAPACITY + WAITERS - i - 1;
        CHECK(chan_recv(users->ch, &value));
        CHECK(value == (i < CAPACITY ? 10 + i : i - CAPACITY));
        CHECK(chan_len(users->ch) == (size_t)(left < CAPACITY ? left : CAPACITY));
        if (left == CAPACITY)
            break; /* the last sender is in: the ring goes on where it is */
    }
    wg_wait(&users->done);
    CHECK(chan_recv(users->ch, NULL));
    chan_send(users->ch, &(int64_t){WAITERS});
    for (int64_t i = WAITERS - CAPACITY + 1; i <= WAITERS; i++) {
        int64_t value = -1;
        CHECK(chan_recv(users->ch, &value) && value == i);
    }
    users_free(users);
}

static void chan_recv_refills_a_full_ring_from_the_longest_waiting_sender(void **state)
{
    (void)state;
    every_variant(refill_body);
}

static void discard_body(void *arg)
{
    (void)arg;
    struct users *users = users_make(0);
    users_park(users, 1, user_sends);
    CHECK(chan_recv(users->ch, NULL)); /* from a sender */
    wg_wait(&users->done);
    users_free(users);

    users = users_make(1);
    int64_t value = 5;
    chan_send(users->ch, &value);
    CHECK(chan_recv(users->ch, NULL)); /* from the ring */
    chan_close(users->ch);
    CHECK(!chan_recv(users->ch, NULL));
    users_free(users);
}

static void receiver_discards(void *arg)
{
    struct user *self = arg;
    self->ok = chan_recv(self->ch, NULL);
    wg_done(self->done);
}

static void discard_parked_body(void *arg)
{
    (void)arg;
    struct users *users = users_make(0);
    users_park(users, 2, receiver_discards);
    int64_t value = 5;
    chan_send(users->ch, &value);
    chan_close(users->ch);
    wg_wait(&users->done);
    CHECK(users->user[0].ok && !users->user[1].ok);
    users_free(users);
}

static void chan_recv_of_null_discards(void **state)
{
    (void)state;
    every_variant(discard_body);
    every_variant(discard_parked_body);
}

/* Sizes and the ring -------------------------------------------------------------------------- */

enum { GUARD = 16, GUARD_BYTE = 0xa5 };

struct sized {
    struct chan *ch;
    struct waitgroup done;
    size_t size;
    unsigned char byte; /* pattern of the next message */
    unsigned char memory[GUARD + 1024 + GUARD];
};

static void pattern_fill(unsigned char *elem, size_t size, unsigned char byte)
{
    for (size_t i = 0; i < size; i++)
        elem[i] = (unsigned char)(byte + i * 7);
}

static void sized_check(const struct sized *sized, unsigned char byte)
{
    const unsigned char *elem = sized->memory + GUARD;
    for (size_t i = 0; i < sized->size; i++)
        CHECK(elem[i] == (unsigned char)(byte + i * 7));
    for (size_t i = 0; i < GUARD; i++)
        CHECK(sized->memory[i] == GUARD_BYTE && elem[sized->size + i] == GUARD_BYTE);
}

static void sized_receives(void *arg)
{
    struct sized *sized = arg;
    CHECK(chan_recv(sized->ch, sized->memory + GUARD));
    wg_done(&sized->done);
}

static void sized_sends(void *arg)
{
    struct sized *sized = arg;
    unsigned char elem[1024];
    pattern_fill(elem, sized->size, sized->byte);
    chan_send(sized->ch, elem);
    memset(elem, 0, sizeof elem);
    wg_done(&sized->done);
}

/* The four ways of an element: into a waiting receiver, out of a waiting sender, through the ring,
 * and out of a waiting sender through the ring. */
static void sized_run(struct sized *sized, size_t capacity)
{
    unsigned char elem[1024];
    sized->ch = chan_make(sized->size, capacity);
    memset(sized->memory, GUARD_BYTE, sizeof sized->memory);
    wg_add(&sized->done, 1);
    every_start_parked(sized_receives, sized);
    pattern_fill(elem, sized->size, 1);
    chan_send(sized->ch, elem);
    wg_wait(&sized->done);
    sized_check(sized, 1);

    for (size_t i = 0; i < capacity; i++) {
        pattern_fill(elem, sized->size, (unsigned char)(i + 2));
        chan_send(sized->ch, elem);
    }
    sized->byte = (unsigned char)(capacity + 2);
    wg_add(&sized->done, 1);
    every_start_parked(sized_sends, sized);
    for (size_t i = 0; i < capacity + 1; i++) {
        memset(sized->memory, GUARD_BYTE, sizeof sized->memory);
        CHECK(chan_recv(sized->ch, sized->memory + GUARD));
        sized_check(sized, (unsigned char)(i + 2));
    }
    wg_wait(&sized->done);
    chan_free(sized->ch);
}

static void sizes_body(void *arg)
{
    (void)arg;
    static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 64, 100, 1023, 1024};
    struct sized *sized = go_alloc_zeroed(sizeof *sized);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t capacity = 0; capacity <= 3; capacity += 1 + capacity) {
            sized->size = sizes[i];
            sized_run(sized, capacity);
        }
    go_free(sized);
}

static void chan_copies_exactly_the_element(void **state)
{
    (void)state;
    every_variant(sizes_body);
}

/* Random fills and drains of one G against a counter: what goes in next, what comes out next. */
static void ring_body(void *arg)
{
    uint64_t random = ((const struct every_cell *)arg)->seed;
    for (size_t capacity = 1; capacity <= 9; capacity += 2) {
        struct chan *ch = chan_make(sizeof(uint32_t), capacity);
        uint32_t in = 0, out = 0, value;
        for (int i = 0; i < 500; i++) {
            bool full = in - out == capacity, empty = in == out;
            if (every_random(&random) % 2) {
                CHECK(chan_try_send(ch, &in) == !full);
                in += !full;
            } else {
                CHECK(chan_try_recv(ch, &value, NULL) == !empty);
                CHECK(empty || value == out);
                out += !empty;
            }
            CHECK(chan_len(ch) == in - out);
        }
        chan_free(ch);
    }
}

static void chan_ring_keeps_order_over_wrap_around(void **state)
{
    (void)state;
    every_variant(ring_body);
}

/* Trying ------------------------------------------------------------------------------------- */

static void try_parked_body(void *arg)
{
    (void)arg;
    struct users *users = users_make(0);
    int64_t value = 7;
    bool closed = true;
    CHECK(!chan_try_send(users->ch, &value));
    CHECK(!chan_try_recv(users->ch, &value, &closed) && !closed && value == 7);
    users_park(users, 1, user_receives);
    uint64_t parks = every_parks();
    CHECK(chan_try_send(users->ch, &value));
    CHECK(!chan_try_send(users->ch, &value));
    CHECK(every_parks() == parks);
    wg_wait(&users->done);
    CHECK(users->user[0].value == 7);

    users->user[0].value = 8;
    users_park(users, 1, user_sends);
    CHECK(chan_try_recv(users->ch, &value, &closed) && !closed && value == 8);
    CHECK(!chan_try_recv(users->ch, &value, &closed) && !closed);
    wg_wait(&users->done);
    users_free(users);
}

static void chan_try_serves_parked_partners(void **state)
{
    (void)state;
    every_variant(try_parked_body);
}

static void try_ring_body(void *arg)
{
    (void)arg;
    struct chan *ch = chan_make(sizeof(int64_t), 2);
    uint64_t parks = every_parks();
    int64_t value = 1;
    bool closed = true;
    CHECK(!chan_try_recv(ch, &value, &closed) && !closed);
    CHECK(chan_try_send(ch, &value) && chan_try_send(ch, &value) && !chan_try_send(ch, &value));
    chan_close(ch);
    value = 9;
    CHECK(chan_try_recv(ch, &value, &closed) && !closed && value == 1);
    CHECK(chan_try_recv(ch, NULL, NULL));
    value = 9;
    CHECK(!chan_try_recv(ch, &value, &closed) && closed && value == 0);
    CHECK(!chan_try_recv(ch, NULL, NULL));
    CHECK(every_parks() == parks);
    chan_free(ch);
}

static void chan_try_never_parks_and_tells_closed(void **state)
{
    (void)state;
    every_variant(try_ring_body);
}

/* Closing ------------------------------------------------------------------------------------ */

static void close_drains_body(void *arg)
{
    (void)arg;
    struct users *users = users_make(4);
    for (int64_t i = 1; i <= 3; i++)
        chan_send(users->ch, &i);
    chan_close(users->ch);
    int64_t value;
    for (int64_t i = 1; i <= 3; i++)
        CHECK(chan_recv(users->ch, &value) && value == i);
    for (int i = 0; i < 2; i++) {
        value = 9;
        CHECK(!chan_recv(users->ch, &value) && value == 0);
    }
    users_free(users);
}

static void chan_close_lets_the_buffer_drain(void **state)
{
    (void)state;
    every_variant(close_drains_body);
}

static void close_wakes_body(void *arg)
{
    (void)arg;
    for (size_t capacity = 0; capacity <= 1; capacity++) {
        struct users *users = users_make(capacity);
        users_park(users, WAITERS, user_receives);
        chan_close(users->ch);
        wg_wait(&users->done);
        for (int i = 0; i < WAITERS; i++)
            CHECK(!users->user[i].ok && users->user[i].value == 0);
        users_free(users);
    }
}

static void chan_close_wakes_all_with_zero(void **state)
{
    (void)state;
    every_variant(close_wakes_body);
}

static void close_order(const int *expected)
{
    struct users *users = users_make(0);
    users_park(users, WAITERS, user_receives);
    chan_close(users->ch);
    wg_wait(&users->done);
    log_check(&users->log, expected, WAITERS);
    users_free(users);
}

static void close_order_gmp(void *arg)
{
    (void)arg;
    close_order((const int[]){0, 5, 4, 3, 2, 1});
}

static void close_order_grq(void *arg)
{
    (void)arg;
    close_order((const int[]){5, 4, 3, 2, 1, 0});
}

static void chan_close_wakes_longest_waiter_into_runnext(void **state)
{
    (void)state;
    one_variant("gmp", close_order_gmp);
}

static void chan_close_readies_newest_first(void **state)
{
    (void)state;
    one_variant("grq", close_order_grq);
}

/* Leaving ------------------------------------------------------------------------------------ */

/* The receiver frees the channel at once, the sender's stack goes back to the cache: whoever
 * touched either afterwards would meet the sanitizers, or the next round. */
static void leave_body(void *arg)
{
    (void)arg;
    for (int i = 0; i < 300; i++) {
        struct users *users = users_make((size_t)i % 2);
        wg_add(&users->done, 1);
        go(user_sends, &users->user[0]);
        if (i % 3 == 0)
            gosched();
        int64_t value = -1;
        CHECK(chan_recv(users->ch, &value) && value == 0);
        chan_free(users->ch);
        wg_wait(&users->done);
        go_free(users);
    }
}

static void chan_can_be_freed_by_whoever_received_last(void **state)
{
    (void)state;
    every_variant(leave_body);
}

/* Misuse ------------------------------------------------------------------------------------- */

static void send_on_closed_body(void *arg)
{
    (void)arg;
    struct chan *ch = chan_make(4, 1);
    chan_close(ch);
    chan_send(ch, &(int){1});
}

static void try_send_on_closed_body(void *arg)
{
    (void)arg;
    struct chan *ch = chan_make(4, 1);
    chan_send(ch, &(int){1});
    CHECK(!chan_try_send(ch, &(int){1}));
    chan_close(ch);
    chan_try_send(ch, &(int){1}); /* full, and closed nonetheless */
}

static void close_twice_body(void *arg)
{
    (void)arg;
    struct chan *ch = chan_make(4, 1);
    chan_close(ch);
    chan_close(ch);
}

static void close_on_sender_body(void *arg)
{
    (void)arg;
    struct users *users = users_make(0);
    users_park(users, 1, user_sends);
    chan_close(users->ch);
}

static void free_on_waiter_body(void *arg)
{
    (void)arg;
    struct users *users = users_make(0);
    users_park(users, 1, user_receives);
    chan_free(users->ch);
}

static void make_empty_body(void *arg)
{
    (void)arg;
    chan_make(0, 1);
}

static void make_big_body(void *arg)
{
    (void)arg;
    chan_make(1025, 1);
}

static void chan_misuse_is_fatal(void **state)
{
    (void)state;
    every_variant_dies(send_on_closed_body, "chan_send: the channel is closed");
    every_variant_dies(try_send_on_closed_body, "chan_send: the channel is closed");
    every_variant_dies(close_twice_body, "chan_close: the channel is closed already");
    every_variant_dies(close_on_sender_body, "chan_close: a goroutine is sending");
    every_variant_dies(free_on_waiter_body, "chan_free: a goroutine waits");
    every_variant_dies(make_empty_body, "chan_make: element size 0");
    every_variant_dies(make_big_body, "chan_make: element size 1025");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chan_unbuffered_send_waits_for_a_receiver),
        cmocka_unit_test(chan_send_goes_to_the_longest_waiting_receiver),
        cmocka_unit_test(chan_recv_takes_from_the_longest_waiting_sender),
        cmocka_unit_test(chan_recv_refills_a_full_ring_from_the_longest_waiting_sender),
        cmocka_unit_test(chan_recv_of_null_discards),
        cmocka_unit_test(chan_copies_exactly_the_element),
        cmocka_unit_test(chan_ring_keeps_order_over_wrap_around),
        cmocka_unit_test(chan_try_serves_parked_partners),
        cmocka_unit_test(chan_try_never_parks_and_tells_closed),
        cmocka_unit_test(chan_close_lets_the_buffer_drain),
        cmocka_unit_test(chan_close_wakes_all_with_zero),
        cmocka_unit_test(chan_close_wakes_longest_waiter_into_runnext),
        cmocka_unit_test(chan_close_readies_newest_first),
        cmocka_unit_test(chan_can_be_freed_by_whoever_received_last),
        cmocka_unit_test(chan_misuse_is_fatal),
    };
    return cmocka_run_group_tests_name("chan", tests, NULL, NULL);
}
