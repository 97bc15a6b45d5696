/* prodcons.c - one producer, one consumer, one channel: a stream of messages.
 *
 * Source: Go 1.26 runtime/chan_test.go benchmarkChanProdCons (buffer 0, 10, 100; work 0, 100).
 *   Differs: the messages are numbers in order, and the consumer expects each; the producer ends
 *            the stream by closing the channel.
 *
 * The numbers are 0..messages-1: their sum has a closed formula.
 */
#include "workload.h"

#include <inttypes.h>

struct prodcons_params {
    int64_t messages;
    int64_t buffer;
    int64_t work;
};

struct prodcons_state {
    struct prodcons_params params;
    struct chan *ch;
    struct waitgroup gate; /* 1 until both exist */
    struct waitgroup done;
    /* the consumer's, read after it was waited for */
    uint64_t received, sum, wrong;
};

static const struct param prodcons_param_table[] = {
    PARAM_NUMBER(struct prodcons_params, messages, 1000000, 1, 4000000000, "messages", "schedlab",
                 "how many messages are sent"),
    PARAM_NUMBER(struct prodcons_params, buffer, 128, 0, 1000000, "elements", "schedlab",
                 "how many messages the channel holds; 0: unbuffered"),
    PARAM_NUMBER(struct prodcons_params, work, 0, 0, 1000000000, "rounds",
                 "Go 1.26 runtime/chan_test.go",
                 "rounds of integer arithmetic per message, on each side"),
    {0},
};

static uint64_t prodcons_live_gs_max(const void *params)
{
    (void)params;
    return 3;
}

static void *prodcons_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct prodcons_state *state = go_alloc_zeroed(sizeof(*state));
    state->params = *(const struct prodcons_params *)params;
    return state;
}

static void prodcons_producer(void *arg)
{
    struct prodcons_state *state = arg;
    uint64_t messages = (uint64_t)state->params.messages, work = (uint64_t)state->params.work;
    struct chan *ch = state->ch;
    wg_wait(&state->gate);
    for (uint64_t i = 0; i < messages; i++) {
        if (work)
            go_work(work);
        chan_send(ch, &i);
    }
    chan_close(ch);
    wg_done(&state->done);
}

static void prodcons_consumer(void *arg)
{
    struct prodcons_state *state = arg;
    uint64_t work = (uint64_t)state->params.work;
    struct chan *ch = state->ch;
    uint64_t received = 0, sum = 0, wrong = 0, message;
    while (chan_recv(ch, &message)) {
        wrong += message != received;
        received++;
        sum += message;
        if (work)
            go_work(work);
    }
    state->received = received;
    state->sum = sum;
    state->wrong = wrong;
    wg_done(&state->done);
}

static void prodcons_run(void *arg, struct outcome *out)
{
    struct prodcons_state *state = arg;
    state->ch = chan_make(sizeof(uint64_t), (size_t)state->params.buffer);
    wg_add(&state->gate, 1);
    wg_add(&state->done, 2);
    go(prodcons_consumer, state);
    go(prodcons_producer, state);

    int64_t start = go_now();
    wg_done(&state->gate);
    wg_wait(&state->done);
    out->time_ns = go_now() - start;

    chan_free(state->ch);
    out->ops = state->received;
    out->answer = state->sum;
    out->digest = digest_mix(state->sum) + digest_mix(~state->received);
}

static const char *prodcons_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct prodcons_state *state = arg;
    uint64_t messages = (uint64_t)state->params.messages;
    uint64_t sum = messages * (messages - 1) / 2;
    if (state->wrong) {
        snprintf(why, why_size, "%" PRIu64 " of %" PRIu64 " messages came out of order",
                 state->wrong, state->received);
        return why;
    }
    if (out->answer != sum || out->ops != messages) {
        snprintf(why, why_size,
                 "expected the sum %" PRIu64 " of %" PRIu64 " messages, found %" PRIu64
                 " of %" PRIu64,
                 sum, messages, out->answer, out->ops);
        return why;
    }
    return NULL;
}

static void prodcons_fini(void *arg)
{
    go_free(arg);
}

const struct workload workload_prodcons = {
    .name = "prodcons",
    .idea = "one producer and one consumer: a stream through a buffered channel",
    .op = "message",
    .source = "Go 1.26 runtime/chan_test.go BenchmarkChanProdCons0",
    .style = STYLE_GOROUTINE,
    .params = prodcons_param_table,
    .params_size = sizeof(struct prodcons_params),
    .live_gs_max = prodcons_live_gs_max,
    .init = prodcons_init,
    .run = prodcons_run,
    .verify = prodcons_verify,
    .fini = prodcons_fini,
};
