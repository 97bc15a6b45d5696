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

static void transfer_main(void *arg)
{
    struct transfer *transfer = arg;
    micro_start(transfer->micro);
    join_go(&transfer->join, sender, transfer);
    receive(transfer);
    micro_stop(transfer->micro);
    join_wait(&transfer->join);
}

/* Sends and receives in turn, so that neither has to wait. */
static void try_main(void *arg)
{
    struct transfer *transfer = arg;
    micro_start(transfer->micro);
    for (uint64_t i = 0, element = 0; i < transfer->micro->n; i++) {
        bool sent = chan_try_send(transfer->chan, &i);
        transfer->received += sent && chan_try_recv(transfer->chan, &element, NULL);
        transfer->out_of_order += element != i;
    }
    micro_stop(transfer->micro);
}

static void transfer_run(struct micro *micro, int workers, size_t capacity, void (*main_fn)(void *))
{
    struct transfer transfer = {.micro = micro, .chan = chan_make(sizeof(uint64_t), capacity)};
    micro_schedule(micro, workers, main_fn, &transfer);
    micro_expect(micro, "elements", transfer.received, micro->n);
    micro_expect(micro, "elements out of order", transfer.out_of_order, 0);
    chan_free(transfer.chan);
}

/* how: elements that the channel holds. */
static void pass(struct micro *micro)
{
    transfer_run(micro, (int)micro->arg, (size_t)micro->op->how, transfer_main);
}

static void try_both(struct micro *micro)
{
    transfer_run(micro, 1, 1, try_main);
}

static const int64_t workers[] = {1, 2, 0};

const struct micro_op micro_channels[] = {
    {"chan/unbuffered", "floor/ctx_switch", MICRO_TIMED, pass, .serves = micro_serves_all,
     .arg_name = "workers", .args = workers, .how = 0},
    {"chan/buffered", "lock/free", MICRO_TIMED, pass, .serves = micro_serves_all,
     .arg_name = "workers", .args = workers, .how = BUFFER},
    {"chan/try", "lock/free", MICRO_TIMED, try_both, .serves = micro_serves_all},
    {0},
};
