/* channels.c - one element through a channel: between two goroutines without a buffer and with
 * one, and without waiting. */
#include "harness/micro/micro.h"

enum { BUFFER = 64 };

struct transfer {
    struct micro *micro;
    struct chan *chan;
    struct join join;
    uint64_t received, out_of_order;
};

static void sender(void *arg)
{
    const struct transfer *transfer = arg;
    for (uint64_t i = 0; i < transfer->micro->n; i++)
        chan_send(transfer->chan, &i);
}

static void receive(struct transfer *transfer)
{
    for (uint64_t i = 0, element; i < transfer->micro->n; i++) {
        transfer->received += chan_recv(transfer->chan, &element);
        transfer->out_of_order += element != i;
    }
}

static void transfer_end(struct transfer *transfer)
{
    micro_expect(transfer->micro, "elements", transfer->received, transfer->micro->n);
    micro_expect(transfer->micro, "elements out of order", transfer->out_of_order, 0);
    chan_free(transfer->chan);
}

/* how: elements that the channel holds. */
static void pass(struct micro *micro)
{
    struct transfer transfer = {.micro = micro,
                                .chan = chan_make(sizeof(uint64_t), (size_t)micro->op->how)};
    micro_start(micro);
    join_go(&transfer.join, sender, &transfer);
    receive(&transfer);
    micro_stop(micro);
    join_wait(&transfer.join);
    transfer_end(&transfer);
}

/* Sends and receives in turn, so that neither has to wait. */
static void try_both(struct micro *micro)
{
    struct transfer transfer = {.micro = micro, .chan = chan_make(sizeof(uint64_t), 1)};
    micro_start(micro);
    for (uint64_t i = 0, element = 0; i < micro->n; i++) {
        bool sent = chan_try_send(transfer.chan, &i);
        transfer.received += sent && chan_try_recv(transfer.chan, &element, NULL);
        transfer.out_of_order += element != i;
    }
    micro_stop(micro);
    transfer_end(&transfer);
}

static const int64_t workers[] = {1, 2, 0};

const struct micro_op micro_channels[] = {
    {"chan/unbuffered", "floor/ctx_switch", MICRO_MAIN, pass, .serves = micro_serves_all,
     .arg_name = "workers", .args = workers, .how = 0},
    {"chan/buffered", "lock/free", MICRO_MAIN, pass, .serves = micro_serves_all,
     .arg_name = "workers", .args = workers, .how = BUFFER},
    {"chan/try", "lock/free", MICRO_MAIN, try_both, .serves = micro_serves_all},
    {0},
};
