/* test_select.c - select: which case goes ahead, what the others leave behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/every_variant.h"

enum { WAITERS = 6, CHANS = 4 };

/* Channels, and Gs that select among them. */
struct field {
    struct chan *ch[CHANS];
    struct waitgroup done;
    struct log log;
};

/* One G: its cases, and what came of them. */
struct chooser {
    struct field *field;
    struct select_case cases[CHANS];
    size_t count;
    int64_t got; /* where all cases receive to */
    int64_t put; /* what all cases send */
    int chosen, index;
    bool ok;
};

static struct field *field_make(size_t capacity)
{
    struct field *field = go_alloc_zeroed(sizeof *field);
    for (int i = 0; i < CHANS; i++)
        field->ch[i] = chan_make(sizeof(int64_t), capacity);
    return field;
}

/* Frees the channels, which is fatal if anybody is still on their lists. */
static void field_free(struct field *field)
{
    for (int i = 0; i < CHANS; i++)
        chan_free(field->ch[i]);
    go_free(field);
}

/* ops: a word per case, "r0 s3": receive from channel 0, send on channel 3; "r-": of no channel. */
static void chooser_set(struct chooser *self, struct field *field, const char *ops)
{
    *self = (struct chooser){.field = field, .got = -1, .put = 77, .chosen = -2};
    for (const char *op = ops; *op; op += op[2] ? 3 : 2) {
        struct chan *ch = op[1] == '-' ? NULL : field->ch[op[1] - '0'];
        self->cases[self->count++] =
            op[0] == 's' ? select_send(ch, &self->put) : select_recv(ch, &self->got);
    }
}

static void chooser_selects(void *arg)
{
    struct chooser *self = arg;
    self->chosen = chan_select(self->cases, self->count, &self->ok);
    log_add(&self->field->log, self->index);
    wg_done(&self->field->done);
}

static void chooser_receives(void *arg)
{
    struct chooser *self = arg;
    self->ok = chan_recv(self->cases[0].ch, &self->got);
    log_add(&self->field->log, self->index);
    wg_done(&self->field->done);
}

static void chooser_park(struct chooser *self, struct field *field, const char *ops)
{
    chooser_set(self, field, ops);
    wg_add(&field->done, 1);
    every_start_parked(chooser_selects, self);
}

static int try_ops(struct field *field, const char *ops, int64_t *got, bool *ok)
{
    struct chooser chooser;
    chooser_set(&chooser, field, ops);
    int chosen = chan_try_select(chooser.cases, chooser.count, ok);
    if (got)
        *got = chooser.got;
    return chosen;
}

/* Ready at once ------------------------------------------------------------------------------ */

static void ready_body(void *arg)
{
    (void)arg;
    struct field *field = field_make(1);
    struct chooser chooser;
    uint64_t parks = every_parks();
    int64_t value = 5, got = 0;
    bool ok = false;
    chan_send(field->ch[2], &value);
    chooser_set(&chooser, field, "r0 r- r2 r3");
    CHECK(chan_select(chooser.cases, 4, &ok) == 2 && ok && chooser.got == 5);
    chooser_set(&chooser, field, "r0 s- s3");
    CHECK(chan_select(chooser.cases, 3, NULL) == 2);
    CHECK(chan_try_recv(field->ch[3], &got, NULL) && got == 77);
    chooser_set(&chooser, field, "s1");
    CHECK(chan_select(chooser.cases, 1, &ok) == 0 && ok);
    chooser_set(&chooser, field, "r1");
    CHECK(chan_select(chooser.cases, 1, &ok) == 0 && ok && chooser.got == 77);
    CHECK(every_parks() == parks);
    field_free(field);
}

static void select_takes_the_case_that_is_ready(void **state)
{
    (void)state;
    every_variant(ready_body);
}

static void default_body(void *arg)
{
    (void)arg;
    struct field *field = field_make(1);
    uint64_t parks = every_parks();
    int64_t got = 0;
    bool ok = true;
    CHECK(chan_try_select(NULL, 0, NULL) == SELECT_NONE);
    CHECK(try_ops(field, "r- s-", NULL, NULL) == SELECT_NONE);
    CHECK(try_ops(field, "r0 r1 r0", &got, &ok) == SELECT_NONE && got == -1);
    CHECK(try_ops(field, "r0 s1", NULL, &ok) == 1 && ok);
    CHECK(try_ops(field, "r0 s1", NULL, NULL) == SELECT_NONE);
    CHECK(try_ops(field, "r0 r1", &got, &ok) == 1 && ok && got == 77);
    CHECK(try_ops(field, "r1", &got, &ok) == SELECT_NONE);
    CHECK(every_parks() == parks);
    field_free(field);
}

static void select_try_never_parks(void **state)
{
    (void)state;
    every_variant(default_body);
}

/* The others' operations find a select that waits as they find a G that waits. */
static void parked_body(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        struct field *field = field_make(0);
        struct chooser chooser;
        chooser_park(&chooser, field, "r0 s1 r2");
        int64_t value = 9;
        if (i == 1)
            CHECK(chan_recv(field->ch[1], &value) && value == 77);
        else
            chan_send(field->ch[i], &value);
        wg_wait(&field->done);
        CHECK(chooser.chosen == i && chooser.ok && chooser.got == (i == 1 ? -1 : 9));
        field_free(field);
    }
}

static void select_parked_is_served_by_plain_operations(void **state)
{
    (void)state;
    every_variant(parked_body);
}

static void null_elem_body(void *arg)
{
    (void)arg;
    struct field *field = field_make(0);
    struct chooser chooser;
    int64_t value = 1;
    chooser_set(&chooser, field, "r0 r1");
    chooser.cases[1].elem = NULL;
    wg_add(&field->done, 1);
    every_start_parked(chooser_selects, &chooser);
    chan_send(field->ch[1], &value);
    wg_wait(&field->done);
    CHECK(chooser.chosen == 1 && chooser.got == -1);
    field_free(field);
}

static void select_recv_of_null_discards(void **state)
{
    (void)state;
    every_variant(null_elem_body);
}

/* A full ring takes the selecting sender's element in its turn. */
static void refill_body(void *arg)
{
    (void)arg;
    struct field *field = field_make(1);
    struct chooser chooser;
    int64_t value = 1;
    chan_send(field->ch[0], &value);
    chooser_park(&chooser, field, "s0 r1");
    CHECK(chan_recv(field->ch[0], &value) && value == 1);
    CHECK(chan_len(field->ch[0]) == 1);
    CHECK(chan_recv(field->ch[0], &value) && value == 77);
    wg_wait(&field->done);
    CHECK(chooser.chosen == 0 && chooser.ok);
    field_free(field);
}

static void select_send_refills_a_full_ring(void **state)
{
    (void)state;
    every_variant(refill_body);
}

/* One channel more than once ------------------------------------------------------------------ */

static void twice_body(void *arg)
{
    (void)arg;
    int64_t value = 3;
    for (int i = 0; i < 10; i++) {
        struct field *field = field_make(0);
        struct chooser chooser;
        chooser_park(&chooser, field, "r0 r1 r0 r0");
        chan_send(field->ch[i % 2], &value);
        CHECK(!chan_try_send(field->ch[0], &value));
        wg_wait(&field->done);
        CHECK((chooser.chosen == 1) == (i % 2 == 1) && chooser.got == 3);
        field_free(field);
    }
}

static void select_may_name_a_channel_twice(void **state)
{
    (void)state;
    every_variant_taking_turns(twice_body);
    every_variant(twice_body);
}

static void both_ways_body(void *arg)
{
    (void)arg;
    int64_t value = 8;
    struct field *field = field_make(0);
    struct chooser chooser[2];
    chooser_park(&chooser[0], field, "s0 r0"); /* not its own partner */
    chan_send(field->ch[0], &value);
    wg_wait(&field->done);
    CHECK(chooser[0].chosen == 1 && chooser[0].got == 8);
    chooser_park(&chooser[0], field, "s0 r0");
    CHECK(chan_recv(field->ch[0], &value) && value == 77);
    wg_wait(&field->done);
    CHECK(chooser[0].chosen == 0);
    chooser_park(&chooser[0], field, "s0 r0");
    chooser_set(&chooser[1], field, "s0 r0");
    wg_add(&field->done, 1);
    chooser_selects(&chooser[1]);
    wg_wait(&field->done);
    CHECK(chooser[0].chosen != chooser[1].chosen);
    CHECK(chooser[chooser[0].chosen == 1 ? 0 : 1].got == 77);
    field_free(field);
}

static void select_may_send_and_receive_on_one_channel(void **state)
{
    (void)state;
    every_variant(both_ways_body);
}

/* Losers -------------------------------------------------------------------------------------- */

/* Main does not park between the two sends, so the select has been won and has not left. */
static void loser_body(void *arg)
{
    (void)arg;
    struct field *field = field_make(0);
    struct chooser chooser[3];
    int64_t value = 4;
    chooser_park(&chooser[0], field, "r0 r1");
    chan_send(field->ch[1], &value);
    CHECK(!chan_try_send(field->ch[0], &value));
    CHECK(try_ops(field, "s0 s0", NULL, NULL) == SELECT_NONE);
    wg_wait(&field->done);
    CHECK(chooser[0].chosen == 1);

    chooser_park(&chooser[0], field, "r0 r1");
    chooser_park(&chooser[1], field, "r0 r1");
    chooser_set(&chooser[2], field, "r0");
    wg_add(&field->done, 1);
    every_start_parked(chooser_receives, &chooser[2]);
    chan_send(field->ch[1], &value);
    chan_send(field->ch[1], &value);
    value = 6;
    CHECK(chan_try_send(field->ch[0], &value)); /* past two that have lost */
    wg_wait(&field->done);
    CHECK(chooser[0].chosen == 1 && chooser[1].chosen == 1 && chooser[2].got == 6);
    field_free(field);
}

static void select_that_went_ahead_is_passed_over(void **state)
{
    (void)state;
    every_variant_taking_turns(loser_body);
}

enum { CROWD = 60 };

struct crowd {
    struct chan *common, *own[CROWD];
    struct select_case cases[CROWD][2];
    int64_t got[CROWD];
    int chosen[CROWD];
    struct waitgroup done;
};

struct crowd_member {
    struct crowd *crowd;
    int index;
};

static void crowd_main(void *arg)
{
    struct crowd_member *self = arg;
    struct crowd *crowd = self->crowd;
    int i = self->index;
    if (i % 5 == 0) {
        crowd->chosen[i] = chan_recv(crowd->common, &crowd->got[i]) ? 0 : -1;
    } else {
        crowd->cases[i][0] = select_recv(crowd->common, &crowd->got[i]);
        crowd->cases[i][1] = select_recv(crowd->own[i], &crowd->got[i]);
        crowd->chosen[i] = chan_select(crowd->cases[i], 2, NULL);
    }
    wg_done(&crowd->done);
}

/* Selects and receivers wait at one channel. Some selects leave, from anywhere on its list; whoever
 * stays is served in the order of arrival, and so is who comes then. */
static void crowd_body(void *arg)
{
    uint64_t random = ((const struct every_cell *)arg)->seed;
    struct crowd *crowd = go_alloc_zeroed(sizeof *crowd);
    struct crowd_member member[CROWD];
    bool leaves[CROWD] = {false};
    crowd->common = chan_make(sizeof(int64_t), 0);
    for (int i = 0; i < CROWD; i++) {
        crowd->own[i] = chan_make(sizeof(int64_t), 0);
        member[i] = (struct crowd_member){crowd, i};
    }
    wg_add(&crowd->done, CROWD);
    for (int i = 0; i < CROWD - 1; i++)
        every_start_parked(crowd_main, &member[i]);
    int64_t value = -7;
    for (int left = 0; left < CROWD / 2;) {
        int i = left == 0 ? CROWD - 2 : (int)(every_random(&random) % (CROWD - 1));
        if (i % 5 == 0 || leaves[i])
            continue;
        leaves[i] = true;
        left++;
        chan_send(crowd->own[i], &value);
        if (every_random(&random) % 2)
            gosched();
    }
    every_start_parked(crowd_main, &member[CROWD - 1]);
    for (value = 0; value < CROWD; value++)
        if (!leaves[value])
            chan_send(crowd->common, &value);
    wg_wait(&crowd->done);
    for (int i = 0; i < CROWD; i++) {
        CHECK(crowd->chosen[i] == leaves[i] && crowd->got[i] == (leaves[i] ? -7 : i));
        chan_free(crowd->own[i]);
    }
    chan_free(crowd->common);
    go_free(crowd);
}

static void select_leaves_from_anywhere_in_a_list(void **state)
{
    (void)state;
    every_variant_taking_turns(crowd_body);
    every_variant(crowd_body);
}

/* The other side may free the channel once it has handed the element over. */
static void leave_body(void *arg)
{
    uint64_t random = ((const struct every_cell *)arg)->seed;
    struct field *field = field_make(0);
    for (int i = 0; i < 100; i++) {
        struct chan *kept = field->ch[3], *gone = chan_make(sizeof(int64_t), 0);
        struct chooser chooser;
        int64_t value = i;
        field->ch[3] = gone;
        chooser_set(&chooser, field, "r0 r3 r1");
        field->ch[3] = kept;
        wg_add(&field->done, 1);
        every_start_parked(chooser_selects, &chooser);
        chan_send(gone, &value);
        chan_free(gone);
        if (every_random(&random) % 2)
            gosched();
        wg_wait(&field->done);
        CHECK(chooser.chosen == 1 && chooser.got == i);
    }
    field_free(field);
}

static void select_touches_the_winning_channel_no_more(void **state)
{
    (void)state;
    every_variant(leave_body);
}

/* Closed channels ------------------------------------------------------------------------------ */

static void closed_body(void *arg)
{
    (void)arg;
    struct field *field = field_make(2);
    int64_t value = 2, got;
    bool ok;
    chan_send(field->ch[1], &value);
    chan_close(field->ch[1]);
    CHECK(try_ops(field, "r0 r1", &got, &ok) == 1 && ok && got == 2);
    CHECK(try_ops(field, "r0 r1", &got, &ok) == 1 && !ok && got == 0);
    struct chooser chooser[2];
    chooser_park(&chooser[0], field, "r0 r2 r0");
    chooser_park(&chooser[1], field, "r0 r2");
    chan_close(field->ch[0]);
    wg_wait(&field->done);
    CHECK(chooser[0].chosen != 1 && !chooser[0].ok && chooser[0].got == 0);
    CHECK(chooser[1].chosen == 0 && !chooser[1].ok && chooser[1].got == 0);
    field_free(field);
}

static void select_receives_false_from_a_closed_channel(void **state)
{
    (void)state;
    every_variant(closed_body);
}

/* A select that would have sent on it, and has gone ahead elsewhere, is no sender. */
static void closed_loser_body(void *arg)
{
    (void)arg;
    struct field *field = field_make(0);
    struct chooser chooser;
    int64_t value = 1;
    chooser_park(&chooser, field, "s0 r1");
    chan_send(field->ch[1], &value);
    chan_close(field->ch[0]);
    wg_wait(&field->done);
    CHECK(chooser.chosen == 1);
    field_free(field);
}

static void select_that_went_ahead_may_have_its_channel_closed(void **state)
{
    (void)state;
    every_variant_taking_turns(closed_loser_body);
}

static const int order_close[] = {0, 5, 4, 3, 2, 1}, order_newest[] = {5, 4, 3, 2, 1, 0};

/* Selects and plain receivers in turn. */
static void close_order(const int *expected)
{
    struct field *field = field_make(0);
    struct chooser chooser[WAITERS];
    for (int i = 0; i < WAITERS; i++) {
        chooser_set(&chooser[i], field, i % 2 ? "r0 r1 r2" : "r0");
        chooser[i].index = i;
        wg_add(&field->done, 1);
        every_start_parked(i % 2 ? chooser_selects : chooser_receives, &chooser[i]);
    }
    chan_close(field->ch[0]);
    wg_wait(&field->done);
    log_check(&field->log, expected, WAITERS);
    field_free(field);
}

static void close_order_gmp(void *arg)
{
    (void)arg;
    close_order(order_close);
}

static void close_order_grq(void *arg)
{
    (void)arg;
    close_order(order_newest);
}

static void select_takes_its_place_in_the_order_of_close(void **state)
{
    (void)state;
    one_variant("gmp", close_order_gmp);
    one_variant("grq", close_order_grq);
}

/* Many cases --------------------------------------------------------------------------------- */

struct wide {
    struct select_case *cases;
    size_t count;
    struct join join;
    int chosen;
};

static void wide_main(void *arg)
{
    struct wide *wide = arg;
    wide->chosen = chan_select(wide->cases, wide->count, NULL);
}

static void wide_round(size_t count, struct chan **ch, size_t chans, uint64_t *random)
{
    CHECK(count > 0);
    struct wide wide = {go_alloc_zeroed(count * sizeof *wide.cases), count, {0}, -1};
    int64_t value = 0;
    for (size_t i = 0; i < count; i++)
        wide.cases[i] = select_recv(ch[every_random(random) % chans], NULL);
    struct chan *sent = wide.cases[every_random(random) % count].ch;
    uint64_t parks = every_parks();
    CHECK(chan_try_select(wide.cases, count, NULL) == SELECT_NONE);
    join_go(&wide.join, wide_main, &wide);
    every_await_parks(parks + 1);
    chan_send(sent, &value);
    join_wait(&wide.join);
    CHECK(wide.chosen >= 0 && wide.cases[wide.chosen].ch == sent);
    go_free(wide.cases);
}

static void wide_body(void *arg)
{
    uint64_t random = ((const struct every_cell *)arg)->seed;
    enum { WIDE = 300 };
    struct chan *ch[WIDE];
    for (int i = 0; i < WIDE; i++)
        ch[i] = chan_make(sizeof(int64_t), 0);
    for (size_t count = 2; count < 12; count++)
        wide_round(count, ch, WIDE, &random);
    wide_round(100, ch, WIDE, &random);
    wide_round(WIDE, ch, 3, &random);
    wide_round(SELECT_CASES_MAX, ch, WIDE, &random);
    for (int i = 0; i < WIDE; i++)
        chan_free(ch[i]); /* nobody is on a list any more */
}

static void select_of_many_cases(void **state)
{
    (void)state;
    every_variant(wide_body);
}

/* Misuse ------------------------------------------------------------------------------------- */

static void send_closed_body(void *arg)
{
    (void)arg;
    struct field *field = field_make(1);
    chan_close(field->ch[1]);
    try_ops(field, "r0 s1", NULL, NULL);
}

static void close_sending_body(void *arg)
{
    (void)arg;
    struct field *field = field_make(0);
    struct chooser chooser;
    chooser_park(&chooser, field, "r0 s1");
    chan_close(field->ch[1]);
}

static void free_selected_body(void *arg)
{
    (void)arg;
    struct field *field = field_make(0);
    struct chooser chooser;
    chooser_park(&chooser, field, "r0 s1");
    chan_free(field->ch[0]);
}

static void too_many_body(void *arg)
{
    (void)arg;
    struct select_case none = select_recv(NULL, NULL);
    chan_try_select(&none, (size_t)SELECT_CASES_MAX + 1, NULL);
}

static void no_case_body(void *arg)
{
    (void)arg;
    chan_select(NULL, 0, NULL);
}

static void only_null_body(void *arg)
{
    (void)arg;
    struct select_case none[] = {select_recv(NULL, NULL), select_send(NULL, NULL)};
    chan_select(none, 2, NULL);
}

static void deadlock_body(void *arg)
{
    (void)arg;
    struct chooser chooser;
    chooser_set(&chooser, field_make(0), "r0 s1");
    chan_select(chooser.cases, 2, NULL);
}

static void select_misuse_is_fatal(void **state)
{
    (void)state;
    every_variant_dies(send_closed_body, "chan_select: sending: the channel is closed");
    every_variant_dies(close_sending_body, "chan_close: a goroutine is sending");
    every_variant_dies(free_selected_body, "chan_free: a goroutine waits on the channel");
    every_variant_dies(too_many_body, "chan_select: 65537 cases; valid are 0 to 65536");
}

static void select_deadlock_is_reported(void **state)
{
    (void)state;
    every_variant_dies(no_case_body, "waits for select");
    every_variant_dies(only_null_body, "waits for select");
    every_variant_dies(deadlock_body, "waits for select");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(select_takes_the_case_that_is_ready),
        cmocka_unit_test(select_try_never_parks),
        cmocka_unit_test(select_parked_is_served_by_plain_operations),
        cmocka_unit_test(select_recv_of_null_discards),
        cmocka_unit_test(select_send_refills_a_full_ring),
        cmocka_unit_test(select_may_name_a_channel_twice),
        cmocka_unit_test(select_may_send_and_receive_on_one_channel),
        cmocka_unit_test(select_that_went_ahead_is_passed_over),
        cmocka_unit_test(select_leaves_from_anywhere_in_a_list),
        cmocka_unit_test(select_touches_the_winning_channel_no_more),
        cmocka_unit_test(select_receives_false_from_a_closed_channel),
        cmocka_unit_test(select_that_went_ahead_may_have_its_channel_closed),
        cmocka_unit_test(select_takes_its_place_in_the_order_of_close),
        cmocka_unit_test(select_of_many_cases),
        cmocka_unit_test(select_misuse_is_fatal),
        cmocka_unit_test(select_deadlock_is_reported),
    };
    return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
