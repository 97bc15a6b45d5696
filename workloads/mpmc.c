/* mpmc.c - several producers and consumers at one channel: its lock and its wake-ups shared.
 *
 * Source: schedlab; the many-to-many form of Go 1.26 runtime/chan_test.go benchmarkChanProdCons,
 *         with one channel for all in place of one per pair.
 *
 * A message is (producer, number), numbers 0, 1, .. per producer. Each consumer adds up a mix of
 * what it got and checks that one producer's numbers only grow, which a FIFO channel promises to
 * every single consumer. Verification mixes all messages once more in a plain loop. Main closes the
 * channel once all producers have ended.
 */
#include "workload.h"

#include <inttypes.h>

#define MPMC_PRODUCER_SHIFT 40 /* a message: producer above, number below */

struct mpmc_params {
    int64_t messages;
    int64_t producers;
    int64_t consumers;
    int64_t buffer;
    int64_t work;
};

struct mpmc_state;

struct mpmc_producer {
    struct mpmc_state *state;
    uint64_t tag;   /* the producer's number, shifted */
    uint64_t share; /* how many messages it sends */
};

struct mpmc_consumer {
    struct mpmc_state *state;
    uint64_t *next; /* per producer: the smallest number that may still come */
    /* read after it was waited for */
    uint64_t received, sum, wrong;
};

struct mpmc_state {
    struct mpmc_params params;
    struct mpmc_producer *producers;
    struct mpmc_consumer *consumers;
    uint64_t *next;     /* backs the consumers' tables */
    size_t next_stride; /* from one table to the next: no two on one cache line */
    struct chan *ch;
    struct waitgroup gate; /* 1 until all exist */
    struct waitgroup produced, done;
};

static const struct param mpmc_param_table[] = {
    PARAM_NUMBER(struct mpmc_params, messages, 1000000, 1, 4000000000, "messages", "schedlab",
                 "messages in all, dealt out evenly to the producers"),
    PARAM_NUMBER(struct mpmc_params, producers, 4, 1, 1000, "Gs", "schedlab",
                 "how many goroutines send"),
    PARAM_NUMBER(struct mpmc_params, consumers, 4, 1, 1000, "Gs", "schedlab",
                 "how many goroutines receive"),
    PARAM_NUMBER(struct mpmc_params, buffer, 128, 0, 1000000, "elements", "schedlab",
                 "how many messages the channel holds; 0: unbuffered"),
    PARAM_NUMBER(struct mpmc_params, work, 0, 0, 1000000000, "rounds",
                 "Go 1.26 runtime/chan_test.go",
                 "rounds of integer arithmetic per message, on each side"),
    {0},
};

static uint64_t mpmc_live_gs_max(const void *params)
{
    const struct mpmc_params *p = params;
    return (uint64_t)(p->producers + p->consumers) + 1;
}

static void *mpmc_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct mpmc_state *state = go_alloc_zeroed(sizeof(*state));
    state->params = *(const struct mpmc_params *)params;
    size_t producers = (size_t)state->params.producers, consumers = (size_t)state->params.consumers;
    uint64_t messages = (uint64_t)state->params.messages;
    state->producers = go_alloc_zeroed(producers * sizeof(state->producers[0]));
    state->consumers = go_alloc_zeroed(consumers * sizeof(state->consumers[0]));
    state->next_stride = producers + 64 / sizeof(state->next[0]);
    state->next = go_alloc_zeroed(state->next_stride * consumers * sizeof(state->next[0]));
    for (size_t i = 0; i < producers; i++) {
        state->producers[i].state = state;
        state->producers[i].tag = (uint64_t)i << MPMC_PRODUCER_SHIFT;
        state->producers[i].share = messages / producers + (i < messages % producers);
    }
    for (size_t i = 0; i < consumers; i++) {
        state->consumers[i].state = state;
        state->consumers[i].next = state->next + i * state->next_stride;
    }
    return state;
}

static void mpmc_produce(void *arg)
{
    struct mpmc_producer *self = arg;
    struct mpmc_state *state = self->state;
    uint64_t work = (uint64_t)state->params.work, share = self->share, tag = self->tag;
    struct chan *ch = state->ch;
    wg_wait(&state->gate);
    for (uint64_t i = 0; i < share; i++) {
        uint64_t message = tag | i;
        if (work)
            go_work(work);
        chan_send(ch, &message);
    }
    wg_done(&state->produced);
}

static void mpmc_consume(void *arg)
{
    struct mpmc_consumer *self = arg;
    struct mpmc_state *state = self->state;
    uint64_t producers = (uint64_t)state->params.producers, work = (uint64_t)state->params.work;
    struct chan *ch = state->ch;
    uint64_t received = 0, sum = 0, wrong = 0, message;
    while (chan_recv(ch, &message)) {
        uint64_t producer = message >> MPMC_PRODUCER_SHIFT;
        uint64_t number = message & ((UINT64_C(1) << MPMC_PRODUCER_SHIFT) - 1);
        received++;
        sum += digest_mix(message);
        if (producer < producers) {
            wrong += number < self->next[producer];
            self->next[producer] = number + 1;
        } else {
            wrong++;
        }
        if (work)
            go_work(work);
    }
    self->received = received;
    self->sum = sum;
    self->wrong = wrong;
    wg_done(&state->done);
}

static void mpmc_start(struct mpmc_state *state)
{
    size_t producers = (size_t)state->params.producers, consumers = (size_t)state->params.consumers;
    state->ch = chan_make(sizeof(uint64_t), (size_t)state->params.buffer);
    for (size_t i = 0; i < state->next_stride * consumers; i++)
        state->next[i] = 0;
    wg_add(&state->gate, 1);
    wg_add(&state->produced, (int32_t)producers);
    wg_add(&state->done, (int32_t)consumers);
    for (size_t i = 0; i < consumers; i++)
        go(mpmc_consume, &state->consumers[i]);
    for (size_t i = 0; i < producers; i++)
        go(mpmc_produce, &state->producers[i]);
}

static void mpmc_run(void *arg, struct outcome *out)
{
    struct mpmc_state *state = arg;
    mpmc_start(state);

    int64_t start = go_now();
    wg_done(&state->gate);
    wg_wait(&state->produced);
    chan_close(state->ch);
    wg_wait(&state->done);
    out->time_ns = go_now() - start;

    chan_free(state->ch);
    for (int64_t i = 0; i < state->params.consumers; i++) {
        out->ops += state->consumers[i].received;
        out->answer += state->consumers[i].sum;
    }
    out->digest = out->answer + digest_mix(out->ops);
}

static const char *mpmc_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct mpmc_state *state = arg;
    uint64_t messages = (uint64_t)state->params.messages, sum = 0;
    for (int64_t i = 0; i < state->params.consumers; i++) {
        if (state->consumers[i].wrong) {
            snprintf(why, why_size,
                     "consumer %" PRId64 ": %" PRIu64 " of %" PRIu64
                     " messages were repeated, out of order or of no producer",
                     i, state->consumers[i].wrong, state->consumers[i].received);
            return why;
        }
    }
    for (int64_t i = 0; i < state->params.producers; i++) {
        for (uint64_t number = 0; number < state->producers[i].share; number++)
            sum += digest_mix(state->producers[i].tag | number);
    }
    if (out->answer != sum || out->ops != messages) {
        snprintf(why, why_size,
                 "expected the checksum %016" PRIx64 " of %" PRIu64 " messages, found %016" PRIx64
                 " of %" PRIu64,
                 sum, messages, out->answer, out->ops);
        return why;
    }
    return NULL;
}

static void mpmc_fini(void *arg)
{
    struct mpmc_state *state = arg;
    go_free(state->next);
    go_free(state->consumers);
    go_free(state->producers);
    go_free(state);
}

const struct workload workload_mpmc = {
    .name = "mpmc",
    .idea = "many producers and consumers, one channel: contention, wake-ups",
    .op = "message",
    .source = "schedlab, after Go 1.26 runtime/chan_test.go benchmarkChanProdCons",
    .style = STYLE_GOROUTINE,
    .params = mpmc_param_table,
    .params_size = sizeof(struct mpmc_params),
    .live_gs_max = mpmc_live_gs_max,
    .init = mpmc_init,
    .run = mpmc_run,
    .verify = mpmc_verify,
    .fini = mpmc_fini,
};
