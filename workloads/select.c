/* select.c - a select storm: senders and receivers that all take whichever channel is ready.
 *
 * Source: schedlab; a mix of Go 1.26 runtime/chan_test.go BenchmarkSelectProdCons and
 *         BenchmarkSelectSyncContended, with one set of channels for all.
 *
 * A message is (sender, number), numbers 0, 1, .. per sender. A sender offers each message on all
 * channels at once, a receiver takes from any of them. So each operation locks all channels, each
 * that waits does so on all lists, and each that goes ahead leaves all but one of them again.
 * Messages may overtake each other from channel to channel; that all arrive, and each once, is what
 * is verified, by a mix of all of them in a plain loop.
 *
 * With latency=on each sender reads the clock around each of its selects: from the offer until one
 * receiver has taken it, or a buffer has, and the sender is back. The clock then is a good part of
 * what is timed, so it is off unless asked for.
 *
 * Main closes the channels once all senders have ended. A receiver that finds one closed and
 * drained goes on without it, and ends with the last one.
 */
#include "workload.h"

#include "histogram.h"

#include <inttypes.h>

#define SELECT_SENDER_SHIFT 40 /* a message: sender above, number below */

enum { CHANNELS_MAX = 64 };

struct select_params {
    int64_t messages;
    int64_t channels;
    int64_t senders;
    int64_t receivers;
    int64_t buffer;
    int64_t work;
    int64_t latency; /* 0 off, 1 on */
};

struct select_state;

struct select_sender {
    struct select_state *state;
    uint64_t tag;   /* the sender's number, shifted */
    uint64_t share; /* how many messages it sends */
    struct histogram *latency;
};

struct select_receiver {
    struct select_state *state;
    /* read after it was waited for */
    uint64_t received, sum;
};

struct select_state {
    struct select_params params;
    struct select_sender *senders;
    struct select_receiver *receivers;
    struct histogram *histograms; /* one a sender, then the merged one; NULL if latency=off */
    struct chan *ch[CHANNELS_MAX];
    struct waitgroup gate; /* 1 until all exist */
    struct waitgroup sent, done;
};

static const char *const select_latency_words[] = {"off", "on", NULL};

static const struct param select_param_table[] = {
    PARAM_NUMBER(struct select_params, messages, 200000, 1, 4000000000, "messages", "schedlab",
                 "messages in all, dealt out evenly to the senders"),
    PARAM_NUMBER(struct select_params, channels, 4, 1, CHANNELS_MAX, "channels", "schedlab",
                 "how many channels there are, all of them in each select"),
    PARAM_NUMBER(struct select_params, senders, 4, 1, 1000, "Gs", "schedlab",
                 "how many goroutines send"),
    PARAM_NUMBER(struct select_params, receivers, 4, 1, 1000, "Gs", "schedlab",
                 "how many goroutines receive"),
    PARAM_NUMBER(struct select_params, buffer, 0, 0, 1000000, "elements", "schedlab",
                 "how many messages each channel holds; 0: unbuffered"),
    PARAM_NUMBER(struct select_params, work, 0, 0, 1000000000, "rounds",
                 "Go 1.26 runtime/chan_test.go",
                 "rounds of integer arithmetic per message, on each side"),
    PARAM_WORD(struct select_params, latency, select_latency_words, 0, "schedlab",
               "record how long each sender's select took; costs two clock reads"),
    {0},
};

static uint64_t select_live_gs_max(const void *params)
{
    const struct select_params *p = params;
    return (uint64_t)(p->senders + p->receivers) + 1;
}

static bool select_has_latency(const void *params)
{
    return ((const struct select_params *)params)->latency;
}

static void *select_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct select_state *state = go_alloc_zeroed(sizeof(*state));
    state->params = *(const struct select_params *)params;
    size_t senders = (size_t)state->params.senders, receivers = (size_t)state->params.receivers;
    uint64_t messages = (uint64_t)state->params.messages;
    state->senders = go_alloc_zeroed(senders * sizeof(state->senders[0]));
    state->receivers = go_alloc_zeroed(receivers * sizeof(state->receivers[0]));
    if (state->params.latency)
        state->histograms = go_alloc_zeroed((senders + 1) * sizeof(state->histograms[0]));
    for (size_t i = 0; i < senders; i++) {
        state->senders[i].state = state;
        state->senders[i].latency = state->histograms ? &state->histograms[i] : NULL;
        state->senders[i].tag = (uint64_t)i << SELECT_SENDER_SHIFT;
        state->senders[i].share = messages / senders + (i < messages % senders);
    }
    for (size_t i = 0; i < receivers; i++)
        state->receivers[i].state = state;
    return state;
}

static void select_sender_main(void *arg)
{
    struct select_sender *self = arg;
    struct select_state *state = self->state;
    uint64_t work = (uint64_t)state->params.work, share = self->share, message;
    size_t channels = (size_t)state->params.channels;
    struct select_case cases[CHANNELS_MAX];
    for (size_t i = 0; i < channels; i++)
        cases[i] = select_send(state->ch[i], &message);
    wg_wait(&state->gate);
    for (uint64_t i = 0; i < share; i++) {
        message = self->tag | i;
        if (work)
            go_work(work);
        int64_t start = self->latency ? go_now() : 0;
        chan_select(cases, channels, NULL);
        if (self->latency) {
            int64_t now_ns = go_now();
            histogram_record(self->latency, now_ns - start);
            go_request(0, start, now_ns);
        }
    }
    wg_done(&state->sent);
}

static void select_receiver_main(void *arg)
{
    struct select_receiver *self = arg;
    struct select_state *state = self->state;
    uint64_t work = (uint64_t)state->params.work, received = 0, sum = 0, message;
    size_t channels = (size_t)state->params.channels;
    struct select_case cases[CHANNELS_MAX];
    for (size_t i = 0; i < channels; i++)
        cases[i] = select_recv(state->ch[i], &message);
    for (size_t open = channels; open > 0;) {
        bool ok;
        int chosen = chan_select(cases, channels, &ok);
        if (!ok) {
            cases[chosen].ch = NULL;
            open--;
            continue;
        }
        received++;
        sum += digest_mix(message);
        if (work)
            go_work(work);
    }
    self->received = received;
    self->sum = sum;
    wg_done(&state->done);
}

static void select_start(struct select_state *state)
{
    size_t senders = (size_t)state->params.senders, receivers = (size_t)state->params.receivers;
    for (int64_t i = 0; i < state->params.channels; i++)
        state->ch[i] = chan_make(sizeof(uint64_t), (size_t)state->params.buffer);
    wg_add(&state->gate, 1);
    wg_add(&state->sent, (int32_t)senders);
    wg_add(&state->done, (int32_t)receivers);
    for (size_t i = 0; i < receivers; i++)
        go(select_receiver_main, &state->receivers[i]);
    for (size_t i = 0; i < senders; i++) {
        if (state->senders[i].latency)
            histogram_reset(state->senders[i].latency);
        go(select_sender_main, &state->senders[i]);
    }
}

static void select_finish(struct outcome *out)
{
    out->digest = out->answer + digest_mix(out->ops);
}

static struct histogram *select_latencies(struct select_state *state)
{
    if (!state->histograms)
        return NULL;
    struct histogram *all = &state->histograms[state->params.senders];
    histogram_reset(all);
    for (int64_t i = 0; i < state->params.senders; i++)
        histogram_merge(all, state->senders[i].latency);
    return all;
}

static void select_run(void *arg, struct outcome *out)
{
    struct select_state *state = arg;
    select_start(state);

    int64_t start = go_now();
    wg_done(&state->gate);
    wg_wait(&state->sent);
    for (int64_t i = 0; i < state->params.channels; i++)
        chan_close(state->ch[i]);
    wg_wait(&state->done);
    out->time_ns = go_now() - start;

    for (int64_t i = 0; i < state->params.channels; i++)
        chan_free(state->ch[i]);
    for (int64_t i = 0; i < state->params.receivers; i++) {
        out->ops += state->receivers[i].received;
        out->answer += state->receivers[i].sum;
    }
    out->latency = select_latencies(state);
    select_finish(out);
}

/* Each message is made and taken in place of being sent and received. */
static void select_run_serial(void *arg, struct outcome *out)
{
    struct select_state *state = arg;
    uint64_t work = (uint64_t)state->params.work;
    for (int64_t i = 0; i < state->params.senders; i++) {
        for (uint64_t number = 0; number < state->senders[i].share; number++) {
            if (work)
                go_work(work);
            out->answer += digest_mix(state->senders[i].tag | number);
            if (work)
                go_work(work);
        }
        out->ops += state->senders[i].share;
    }
    select_finish(out);
}

static const char *select_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct select_state *state = arg;
    uint64_t messages = (uint64_t)state->params.messages, sum = 0;
    for (int64_t i = 0; i < state->params.senders; i++) {
        for (uint64_t number = 0; number < state->senders[i].share; number++)
            sum += digest_mix(state->senders[i].tag | number);
    }
    if (out->answer != sum || out->ops != messages) {
        snprintf(why, why_size,
                 "expected the checksum %016" PRIx64 " of %" PRIu64 " messages, found %016" PRIx64
                 " of %" PRIu64,
                 sum, messages, out->answer, out->ops);
        return why;
    }
    if (out->latency && histogram_count(out->latency) != messages) {
        snprintf(why, why_size, "expected %" PRIu64 " latencies, found %" PRIu64, messages,
                 histogram_count(out->latency));
        return why;
    }
    return NULL;
}

static void select_fini(void *arg)
{
    struct select_state *state = arg;
    go_free(state->histograms);
    go_free(state->receivers);
    go_free(state->senders);
    go_free(state);
}

const struct workload workload_select = {
    .name = "select",
    .idea = "senders and receivers select among all channels: long wait lists",
    .op = "message",
    .source = "schedlab, after Go 1.26 runtime/chan_test.go BenchmarkSelectProdCons",
    .style = STYLE_GOROUTINE,
    .params = select_param_table,
    .params_size = sizeof(struct select_params),
    .live_gs_max = select_live_gs_max,
    .has_latency = select_has_latency,
    .init = select_init,
    .run = select_run,
    .run_serial = select_run_serial,
    .verify = select_verify,
    .fini = select_fini,
};
