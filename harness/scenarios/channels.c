/* channels.c - scenarios of channels and select. */
#include "harness/scenarios/scenario.h"

/* Two receivers, and a close that comes before, between or after what they do. */
struct chan_close_race {
    struct chan *ch;
    _Atomic uint32_t got, closed;
    struct waitgroup done;
};

static void close_receiver(void *arg)
{
    struct chan_close_race *state = arg;
    int value;
    while (chan_recv(state->ch, &value))
        tick(&state->got);
    tick(&state->closed);
    wg_done(&state->done);
}

static const char *chan_close_race_crosses(struct chan_close_race *state)
{
    state->ch = chan_make(sizeof(int), 1);
    wg_add(&state->done, 2);
    go(close_receiver, state);
    go(close_receiver, state);
    for (int i = 0; i < 3; i++)
        chan_send(state->ch, &i);
    chan_close(state->ch);
    wg_wait(&state->done);
    chan_free(state->ch);
    if (ticks(&state->got) != 3)
        return "not 3 values were received";
    return ticks(&state->closed) == 2 ? NULL : "not 2 receivers saw the close";
}
SCENARIO(chan_close_race, 2, 1, "a channel is closed while two receive", "runtime/chan.c");

/* Sender and receiver of an unbuffered channel meet, whoever comes first. */
struct rendezvous {
    struct chan *ch;
    int sum;
    struct join receiver;
};

static void rendezvous_receiver(void *arg)
{
    struct rendezvous *state = arg;
    for (int value, i = 0; i < 3; i++)
        if (chan_recv(state->ch, &value))
            state->sum += value;
}

static const char *rendezvous_crosses(struct rendezvous *state)
{
    state->ch = chan_make(sizeof(int), 0);
    join_go(&state->receiver, rendezvous_receiver, state);
    for (int value = 1; value <= 3; value++)
        chan_send(state->ch, &value);
    join_wait(&state->receiver);
    chan_free(state->ch);
    return state->sum == 6 ? NULL : "the values received are not those that were sent";
}
SCENARIO(rendezvous, 1, 1, "sender and receiver of an unbuffered channel meet", "runtime/chan.c");

/* Two senders want one select; it takes one value, and the other is still to be had. */
struct select_winner {
    struct chan *ch[2];
    struct waitgroup done;
};

struct select_sender {
    struct select_winner *state;
    int number;
};

static void select_sender_main(void *arg)
{
    struct select_sender *self = arg;
    chan_send(self->state->ch[self->number], &self->number);
    wg_done(&self->state->done);
}

static const char *select_winner_crosses(struct select_winner *state)
{
    struct select_sender senders[2] = {{state, 0}, {state, 1}};
    int value[2] = {-1, -1};
    bool right = true;
    for (int i = 0; i < 2; i++)
        state->ch[i] = chan_make(sizeof(int), 0);
    wg_add(&state->done, 2);
    for (int i = 0; i < 2; i++)
        go(select_sender_main, &senders[i]);
    const struct select_case cases[] = {select_recv(state->ch[0], &value[0]),
                                        select_recv(state->ch[1], &value[1])};
    int won = chan_select(cases, 2, NULL);
    right = right && value[won] == won && value[1 - won] == -1;
    chan_recv(state->ch[1 - won], &value[1 - won]);
    right = right && value[1 - won] == 1 - won;
    wg_wait(&state->done);
    for (int i = 0; i < 2; i++)
        chan_free(state->ch[i]);
    return right ? NULL : "the select did not take exactly one value";
}
SCENARIO(select_winner, 2, 1, "two senders want one select", "runtime/select.c");

/* Two selects wait for the same two channels; each value wakes one of them. */
struct two_selects {
    struct chan *ch[2];
    _Atomic uint32_t got;
    struct waitgroup done;
};

static void selecter(void *arg)
{
    struct two_selects *state = arg;
    int value;
    const struct select_case cases[] = {select_recv(state->ch[0], &value),
                                        select_recv(state->ch[1], &value)};
    chan_select(cases, 2, NULL);
    tick(&state->got);
    wg_done(&state->done);
}

static const char *two_selects_crosses(struct two_selects *state)
{
    int value = 7;
    for (int i = 0; i < 2; i++)
        state->ch[i] = chan_make(sizeof(int), 0);
    wg_add(&state->done, 2);
    go(selecter, state);
    go(selecter, state);
    chan_send(state->ch[0], &value);
    chan_send(state->ch[1], &value);
    wg_wait(&state->done);
    for (int i = 0; i < 2; i++)
        chan_free(state->ch[i]);
    return ticks(&state->got) == 2 ? NULL : "not both selects got a value";
}
SCENARIO(two_selects, 2, 1, "two selects wait for the same two channels", "runtime/select.c");

enum { FLAGS = 6 }; /* that each sets */

/* Others set flags and try to leave a token; it lies there already, or somebody sees the flags. */
struct notify {
    struct chan *token;
    _Atomic uint32_t set;
    struct waitgroup done;
};

static void notifier(void *arg)
{
    struct notify *state = arg;
    for (int i = 0; i < FLAGS; i++) {
        tick(&state->set);
        chan_try_send(state->token, &(int){0});
    }
    wg_done(&state->done);
}

static const char *notify_crosses(struct notify *state)
{
    state->token = chan_make(sizeof(int), 1);
    wg_add(&state->done, 2);
    go(notifier, state);
    go(notifier, state);
    do
        chan_recv(state->token, NULL);
    while (ticks(&state->set) < 2 * FLAGS);
    wg_wait(&state->done);
    chan_free(state->token);
    return NULL;
}
SCENARIO(notify, 2, 1, "a flag is set beside a token that cannot be sent", "runtime/chan.c");
