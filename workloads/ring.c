/* ring.c - a token goes round a ring of goroutines: exactly one is runnable at any time.
 *
 * Source: thread-ring of the Computer Language Benchmarks Game (503 nodes; the answer is the
 *         number, from 1, of the node that gets the token with nothing left to go).
 *   Differs: the nodes end cleanly afterwards, outside the time that counts: main closes their
 *            channels.
 *
 * Node i receives from channel i and sends to channel i + 1 (mod n). Main puts the token `hops`
 * into channel 0. A node that gets a token k > 0 sends k - 1 on; one that gets 0 is the last
 * holder. So node i sees hops - i, then n less each time, and the last holder is hops mod n.
 */
#include "workload.h"

#include <inttypes.h>

struct ring_params {
    int64_t n;
    int64_t hops;
};

struct ring_state;

struct ring_node {
    struct ring_state *state;
    uint64_t index;
    struct chan *in, *out;
    /* its own until it was waited for */
    uint64_t visits; /* how often it had the token */
    uint64_t wrong;  /* how often the token was not the expected one */
};

struct ring_state {
    struct ring_params params;
    struct ring_node *nodes;
    uint64_t last_holder;     /* handed to main by `arrived` */
    struct waitgroup arrived; /* 1 until the token has nothing left to go */
    struct waitgroup ended;
};

static const struct param ring_param_table[] = {
    PARAM_NUMBER(struct ring_params, n, 503, 2, 1000000, "Gs",
                 "thread-ring, Computer Language Benchmarks Game", "how many nodes the ring has"),
    PARAM_NUMBER(struct ring_params, hops, 500000, 0, 10000000000, "hops", "schedlab",
                 "how often the token goes from a node to the next"),
    {0},
};

static uint64_t ring_live_gs_max(const void *params)
{
    return (uint64_t)((const struct ring_params *)params)->n + 1;
}

static void *ring_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct ring_state *state = go_alloc_zeroed(sizeof(*state));
    state->params = *(const struct ring_params *)params;
    size_t n = (size_t)state->params.n;
    state->nodes = go_alloc_zeroed(n * sizeof(state->nodes[0]));
    for (size_t i = 0; i < n; i++) {
        state->nodes[i].state = state;
        state->nodes[i].index = i;
    }
    return state;
}

static void ring_node_main(void *arg)
{
    struct ring_node *self = arg;
    struct ring_state *state = self->state;
    int64_t expected = state->params.hops - (int64_t)self->index, token;
    uint64_t visits = 0, wrong = 0;
    while (chan_recv(self->in, &token)) {
        wrong += token != expected;
        expected -= state->params.n;
        visits++;
        if (token > 0) {
            token--;
            chan_send(self->out, &token);
        } else {
            state->last_holder = self->index;
            wg_done(&state->arrived);
        }
    }
    self->visits = visits;
    self->wrong = wrong;
    wg_done(&state->ended);
}

static void ring_start(struct ring_state *state)
{
    size_t n = (size_t)state->params.n;
    for (size_t i = 0; i < n; i++)
        state->nodes[i].in = chan_make(sizeof(int64_t), 0);
    wg_add(&state->arrived, 1);
    wg_add(&state->ended, (int32_t)n);
    for (size_t i = 0; i < n; i++) {
        state->nodes[i].out = state->nodes[(i + 1) % n].in;
        go(ring_node_main, &state->nodes[i]);
    }
}

static void ring_run(void *arg, struct outcome *out)
{
    struct ring_state *state = arg;
    size_t n = (size_t)state->params.n;
    ring_start(state);

    int64_t start = go_now();
    chan_send(state->nodes[0].in, &state->params.hops);
    wg_wait(&state->arrived);
    out->time_ns = go_now() - start;

    for (size_t i = 0; i < n; i++)
        chan_close(state->nodes[i].in);
    wg_wait(&state->ended);
    uint64_t visits = 0;
    for (size_t i = 0; i < n; i++) {
        struct ring_node *node = &state->nodes[i];
        chan_free(node->in);
        visits += node->visits;
        out->digest += digest_mix(((uint64_t)i << 40) ^ node->visits);
    }
    out->answer = state->last_holder + 1;
    out->ops = visits - 1; /* main's own send was no hop of the ring */
}

static const char *ring_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct ring_state *state = arg;
    uint64_t n = (uint64_t)state->params.n, hops = (uint64_t)state->params.hops;
    uint64_t last = hops % n + 1;
    for (uint64_t i = 0; i < n; i++) {
        const struct ring_node *node = &state->nodes[i];
        uint64_t visits = i <= hops ? (hops - i) / n + 1 : 0;
        if (node->visits != visits || node->wrong) {
            snprintf(why, why_size,
                     "node %" PRIu64 ": expected %" PRIu64 " visits, found %" PRIu64 ", %" PRIu64
                     " of them with a wrong token",
                     i + 1, visits, node->visits, node->wrong);
            return why;
        }
    }
    if (out->answer != last || out->ops != hops) {
        snprintf(why, why_size,
                 "expected node %" PRIu64 " to hold the token after %" PRIu64
                 " hops, found node %" PRIu64 " after %" PRIu64,
                 last, hops, out->answer, out->ops);
        return why;
    }
    return NULL;
}

static void ring_fini(void *arg)
{
    struct ring_state *state = arg;
    go_free(state->nodes);
    go_free(state);
}

const struct workload workload_ring = {
    .name = "ring",
    .idea = "a token goes round a ring of channels: one runnable, many stacks",
    .op = "hop",
    .source = "thread-ring, Computer Language Benchmarks Game",
    .style = STYLE_GOROUTINE,
    .params = ring_param_table,
    .params_size = sizeof(struct ring_params),
    .live_gs_max = ring_live_gs_max,
    .init = ring_init,
    .run = ring_run,
    .verify = ring_verify,
    .fini = ring_fini,
};
