/* conform_select.c - conformance cases for select; see conformance.c. */
#include "conform.h"
#include "tests/support/support.h"

#include <inttypes.h>

/* One goroutine at a time ------------------------------------------------------------------- */

/* If all cases are ready, each is chosen as often as any other. Every choice is a throw of its own,
 * so its count is binomial: half of the mean is 7 or more standard deviations away. */
static void conform_select_is_fair(void *arg)
{
    const struct conform_cell *cell = arg;
    enum { CASES = 4 };
    int chosen[CASES] = {0}, mean = 200 * cell->scale;
    struct chan *ch[CASES];
    struct select_case cases[CASES];
    int64_t value = 0, got;
    for (int i = 0; i < CASES; i++) {
        ch[i] = chan_make(sizeof value, 1);
        cases[i] = i % 2 ? select_send(ch[i], &value) : select_recv(ch[i], &got);
        if (i % 2 == 0)
            chan_send(ch[i], &value);
    }
    for (int i = 0; i < CASES * mean; i++) {
        int at = i % 2 ? chan_select(cases, CASES, NULL) : chan_try_select(cases, CASES, NULL);
        CHECK(at >= 0 && at < CASES);
        chosen[at]++;
        if (at % 2)
            chan_recv(ch[at], &got);
        else
            chan_send(ch[at], &value);
    }
    for (int i = 0; i < CASES; i++) {
        if (chosen[i] < mean / 2)
            support_fail(__FILE__, __LINE__,
                         "case %d of %d was chosen %d of %d times, seed %" PRIu64, i, CASES,
                         chosen[i], CASES * mean, cell->seed);
        chan_free(ch[i]);
    }
}

static void conform_select_default_never_parks(void *arg)
{
    (void)arg;
    struct chan *full = chan_make(1, 1), *empty = chan_make(1, 1), *unbuffered = chan_make(1, 0);
    unsigned char value = 1, got = 0;
    chan_send(full, &value);
    const struct select_case cases[] = {
        select_recv(empty, &got),      select_send(full, &value),       select_recv(NULL, &got),
        select_recv(unbuffered, &got), select_send(unbuffered, &value), select_recv(empty, &got),
    };
    uint64_t parks = sched_stat(machine_self()->sched, STAT_PARKS);
    for (int i = 0; i < 100; i++)
        CHECK(chan_try_select(cases, sizeof cases / sizeof *cases, NULL) == SELECT_NONE);
    CHECK(sched_stat(machine_self()->sched, STAT_PARKS) == parks && got == 0);
    chan_free(full);
    chan_free(empty);
    chan_free(unbuffered);
}

/* Two: no wake-up is lost -------------------------------------------------------------------- */

struct rally {
    struct chan *ch[2], *never;
    struct waitgroup done;
    int64_t rounds;
};

struct rally_player {
    struct rally *rally;
    int side;
};

/* Each stroke is a select that has to be woken by the other's. */
static void rally_plays(void *arg)
{
    struct rally_player *self = arg;
    struct rally *rally = self->rally;
    struct chan *mine = rally->ch[self->side], *other = rally->ch[!self->side];
    for (int64_t i = 0; i < rally->rounds; i++) {
        int64_t ball = -1, back = i;
        bool ok;
        const struct select_case receive[] = {select_recv(rally->never, NULL),
                                              select_recv(mine, &ball), select_recv(NULL, NULL)};
        const struct select_case send[] = {
            select_send(other, &back), select_recv(rally->never, NULL), select_send(other, &back)};
        if (self->side == 0)
            CHECK(chan_select(send, 3, NULL) != 1);
        CHECK(chan_select(receive, 3, &ok) == 1 && ok && ball == i);
        if (self->side == 1)
            CHECK(chan_select(send, 3, NULL) != 1);
    }
    wg_done(&rally->done);
}

static void conform_select_loses_no_wakeup(void *arg)
{
    const struct conform_cell *cell = arg;
    for (size_t capacity = 0; capacity <= 1; capacity++) {
        struct rally *rally = go_alloc_zeroed(sizeof *rally);
        struct rally_player player[2] = {{rally, 0}, {rally, 1}};
        rally->rounds = 250 * cell->scale;
        rally->never = chan_make(1, 0);
        for (int i = 0; i < 2; i++)
            rally->ch[i] = chan_make(sizeof(int64_t), capacity);
        wg_add(&rally->done, 2);
        for (int i = 0; i < 2; i++)
            go(rally_plays, &player[i]);
        wg_wait(&rally->done);
        for (int i = 0; i < 2; i++)
            chan_free(rally->ch[i]);
        chan_free(rally->never);
        go_free(rally);
    }
}

/* Several: exactly one case goes ahead ------------------------------------------------------- */

enum { RACERS = 4 };

struct race {
    struct chan *ch[RACERS];
    struct waitgroup done;
    _Atomic uint64_t sent;
    _Atomic bool over;
};

struct racer {
    struct race *race;
    int index;
};

/* Succeeds only against a select that waits, and only one of the racers may against each. */
static void racer_tries(void *arg)
{
    struct racer *self = arg;
    struct race *race = self->race;
    while (!atomic_load(&race->over)) {
        uint64_t value = (uint64_t)self->index;
        if (chan_try_send(race->ch[self->index], &value))
            atomic_fetch_add(&race->sent, 1);
        gosched();
    }
    wg_done(&race->done);
}

static void conform_select_exactly_one_case_goes_ahead(void *arg)
{
    const struct conform_cell *cell = arg;
    struct race *race = go_alloc_zeroed(sizeof *race);
    struct racer racers[RACERS];
    struct select_case cases[RACERS];
    uint64_t rounds = 100 * (uint64_t)cell->scale, got = 0;
    wg_add(&race->done, RACERS);
    for (int i = 0; i < RACERS; i++) {
        race->ch[i] = chan_make(sizeof got, 0);
        cases[i] = select_recv(race->ch[i], &got);
    }
    for (int i = 0; i < RACERS; i++) {
        racers[i] = (struct racer){race, i};
        go(racer_tries, &racers[i]);
    }
    for (uint64_t i = 0; i < rounds; i++) {
        got = RACERS;
        int at = chan_select(cases, RACERS, NULL);
        CHECK(at >= 0 && got == (uint64_t)at);
    }
    atomic_store(&race->over, true);
    wg_wait(&race->done);
    CHECK(atomic_load(&race->sent) == rounds);
    for (int i = 0; i < RACERS; i++)
        chan_free(race->ch[i]);
    go_free(race);
}

/* Many: sums --------------------------------------------------------------------------------- */

enum { STORM_CHANS = 5, STORM_EACH = 4, STORM_CASES = 7 };

struct storm {
    struct chan *ch[STORM_CHANS];
    struct waitgroup senders, receivers;
    uint64_t count; /* what each sender and exchanger does */
    uint64_t seed;
    _Atomic uint64_t sent, sent_sum, received, received_sum;
};

struct storm_g {
    struct storm *storm;
    uint64_t random;
};

/* The choices of cases depend on the seed, not on the schedule. */
static uint64_t storm_random(struct storm_g *self)
{
    uint64_t z = self->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ (z >> 31);
}

/* Duplicates and channels that do not exist among them. */
static struct chan *storm_chan(struct storm_g *self)
{
    uint64_t at = storm_random(self) % (STORM_CHANS + 1);
    return at == STORM_CHANS ? NULL : self->storm->ch[at];
}

static void storm_sent(struct storm *storm, uint64_t value)
{
    atomic_fetch_add(&storm->sent, 1);
    atomic_fetch_add(&storm->sent_sum, value);
}

static void storm_received(struct storm *storm, uint64_t value)
{
    atomic_fetch_add(&storm->received, 1);
    atomic_fetch_add(&storm->received_sum, value);
}

static void storm_sends(void *arg)
{
    struct storm_g *self = arg;
    struct storm *storm = self->storm;
    for (uint64_t i = 0; i < storm->count; i++) {
        uint64_t value = storm_random(self) >> 20;
        struct select_case cases[STORM_CASES];
        for (int j = 0; j < STORM_CASES; j++)
            cases[j] = select_send(j ? storm_chan(self) : storm->ch[0], &value);
        if (i % 8 == 0)
            chan_send(storm->ch[i % STORM_CHANS], &value);
        else if (i % 8 != 1 || chan_try_select(cases, STORM_CASES, NULL) == SELECT_NONE)
            CHECK(cases[chan_select(cases, STORM_CASES, NULL)].ch);
        storm_sent(storm, value);
    }
    wg_done(&storm->senders);
}

/* Sends or receives, on the same channels. */
static void storm_exchanges(void *arg)
{
    struct storm_g *self = arg;
    struct storm *storm = self->storm;
    for (uint64_t i = 0; i < storm->count; i++) {
        uint64_t value = storm_random(self) >> 20, got[STORM_CASES];
        struct select_case cases[STORM_CASES];
        for (int j = 0; j < STORM_CASES; j++) {
            struct chan *ch = j < 2 ? storm->ch[i % STORM_CHANS] : storm_chan(self);
            cases[j] = j % 2 ? select_send(ch, &value) : select_recv(ch, &got[j]);
        }
        bool ok;
        int at = chan_select(cases, STORM_CASES, &ok);
        CHECK(at >= 0 && ok);
        if (at % 2)
            storm_sent(storm, value);
        else
            storm_received(storm, got[at]);
    }
    wg_done(&storm->senders);
}

/* Until all channels are closed and drained. */
static void storm_receives(void *arg)
{
    struct storm_g *self = arg;
    struct storm *storm = self->storm;
    struct select_case cases[2 * STORM_CHANS];
    uint64_t got[2 * STORM_CHANS];
    for (int i = 0; i < 2 * STORM_CHANS; i++)
        cases[i] = select_recv(storm->ch[i % STORM_CHANS], &got[i]);
    for (int open = STORM_CHANS; open > 0;) {
        bool ok = false;
        int at = chan_select(cases, 2 * STORM_CHANS, &ok);
        if (ok) {
            storm_received(storm, got[at]);
            continue;
        }
        CHECK(got[at] == 0);
        cases[at % STORM_CHANS].ch = cases[at % STORM_CHANS + STORM_CHANS].ch = NULL;
        open--;
    }
    wg_done(&storm->receivers);
}

static void storm_start(struct storm *storm, struct storm_g *gs)
{
    void (*const what[])(void *) = {storm_sends, storm_exchanges, storm_receives};
    wg_add(&storm->senders, 2 * STORM_EACH);
    wg_add(&storm->receivers, STORM_EACH);
    for (int i = 0; i < 3 * STORM_EACH; i++) {
        gs[i] = (struct storm_g){storm, storm->seed + (uint64_t)i};
        go(what[i % 3], &gs[i]);
    }
}

static void conform_select_storm(void *arg)
{
    const struct conform_cell *cell = arg;
    for (int buffered = 0; buffered <= 1; buffered++) {
        struct storm *storm = go_alloc_zeroed(sizeof *storm);
        struct storm_g gs[3 * STORM_EACH];
        storm->count = 50 * (uint64_t)cell->scale;
        storm->seed = cell->seed;
        for (int i = 0; i < STORM_CHANS; i++)
            storm->ch[i] = chan_make(sizeof(uint64_t), buffered ? (size_t)i : 0);
        storm_start(storm, gs);
        wg_wait(&storm->senders);
        for (int i = 0; i < STORM_CHANS; i++)
            chan_close(storm->ch[i]);
        wg_wait(&storm->receivers);
        CHECK(atomic_load(&storm->sent) == atomic_load(&storm->received));
        CHECK(atomic_load(&storm->sent_sum) == atomic_load(&storm->received_sum));
        for (int i = 0; i < STORM_CHANS; i++)
            chan_free(storm->ch[i]);
        go_free(storm);
    }
}

/* A timeout is a case that receives from a timer. */
static void sends_one(void *arg)
{
    chan_send(arg, &(int64_t){1});
}

static void conform_select_times_out(void *arg)
{
    const struct conform_cell *cell = arg;
    const int64_t timeout = 200000, hour = INT64_C(3600000000000);
    struct chan *ch = chan_make(sizeof(int64_t), 0);
    int64_t got, at;
    for (int i = 0; i < 4 * cell->scale; i++) {
        bool late = i % 2 == 0;
        int64_t start = go_now();
        struct gotimer *timer = timer_after(late ? timeout : hour);
        const struct select_case cases[] = {select_recv(ch, &got),
                                            select_recv(timer_chan(timer), &at)};
        struct join sender;
        if (!late)
            join_go(&sender, sends_one, ch);
        CHECK(chan_select(cases, 2, NULL) == late);
        if (!late)
            join_wait(&sender);
        CHECK(!late || (at >= start + timeout && go_now() >= at));
        CHECK(timer_stop(timer) == !late);
        timer_free(timer);
    }
    chan_free(ch);
}

const struct conform_case conform_select_cases[] = {
    CASE(conform_select_is_fair),
    CASE(conform_select_default_never_parks),
    CASE(conform_select_loses_no_wakeup),
    CASE(conform_select_exactly_one_case_goes_ahead),
    CASE(conform_select_storm),
    CASE(conform_select_times_out),
    {0},
};
