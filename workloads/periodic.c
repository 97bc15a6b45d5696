/* periodic.c - goroutines that run in the same order round after round, beside a global queue that
 * is looked into at a fixed interval: on whom does the interval fall?
 *
 * Source: schedlab; the question behind Go's "why is it 61".
 *
 * k locals form a ring. Local i waits for a token, and passes one to the local before it, which ran
 * just before and waits by then. There are k - 1 tokens, so that all but one are ready. If a woken
 * goroutine goes to the tail of the worker's queue (gmp with runnext=off), they take turns in one
 * order for good. Beside them, `yielders` goroutines do nothing but gosched(). If yielding puts
 * them into a global queue, it is never empty. A worker that looks there at every N-th dispatch
 * then runs one of them. The local whose turn it was waits a dispatch longer.
 *
 * It finds `victims`: how many locals were ever delayed.
 *
 * Between two looks the locals advance by N - 1 places. So the delay falls on k / gcd(N - 1, k) of
 * them, always the same ones, and an N with N - 1 prime is fair to more k than a prime N. Each
 * local counts the yielders that ran since the local before it; these counts are printed. In a
 * local's first WARM turns nothing is counted, because the order is still forming. Exact with one
 * worker; with more, a yielder elsewhere is counted as well.
 *
 * With latency=on a token carries the time at which it was passed on, and each local records how
 * long it waited for its turn. Each of the k - 1 that are ready waits for the others, and now and
 * then for a yielder.
 *
 * One operation is a local's turn.
 */
#include "workload.h"

#include "histogram.h"

#include <inttypes.h>

enum { WARM = 2, PRINTED_MAX = 256 };

struct periodic_params {
    int64_t k;
    int64_t turns;
    int64_t yielders;
    int64_t latency; /* 0 off, 1 on */
};

struct periodic_state;

struct periodic_local {
    struct periodic_state *state;
    struct chan *in, *out;
    /* its own until it was waited for */
    uint64_t turns;
    uint64_t delayed; /* yielders that ran before its turns */
    struct histogram *latency;
    char pad[16]; /* a line of its own */
};

struct periodic_state {
    struct periodic_params params;
    struct periodic_local *locals;
    struct histogram *histograms; /* one a local, then the merged one; NULL if latency=off */
    struct waitgroup locals_done, yielders_done;
    /* relaxed, both: with one worker all is in order, with more it is a guess; the end hands
     * nothing over */
    _Atomic uint64_t yielded; /* yielders that ran since the last turn of a local */
    _Atomic bool over;
};

static const char *const periodic_latency_words[] = {"off", "on", NULL};

static const struct param periodic_param_table[] = {
    PARAM_NUMBER(struct periodic_params, k, 8, 2, 10000, "Gs", "schedlab",
                 "how many locals take turns"),
    PARAM_NUMBER(struct periodic_params, turns, 50000, WARM + 1, 1000000000, "turns", "schedlab",
                 "turns of each local"),
    PARAM_NUMBER(struct periodic_params, yielders, 3, 0, 10000, "Gs", "schedlab",
                 "how many goroutines yield all the time"),
    PARAM_WORD(struct periodic_params, latency, periodic_latency_words, 0, "schedlab",
               "record how long each token took to its turn; costs a clock read"),
    {0},
};

static uint64_t periodic_live_gs_max(const void *params)
{
    const struct periodic_params *p = params;
    return (uint64_t)p->k + (uint64_t)p->yielders + 1; /* and main */
}

static bool periodic_has_latency(const void *params)
{
    return ((const struct periodic_params *)params)->latency;
}

static void *periodic_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct periodic_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct periodic_params *)params;
    size_t k = (size_t)state->params.k;
    state->locals = go_alloc_zeroed(k * sizeof state->locals[0]);
    if (state->params.latency)
        state->histograms = go_alloc_zeroed((k + 1) * sizeof state->histograms[0]);
    for (size_t i = 0; i < k; i++) {
        state->locals[i].state = state;
        state->locals[i].latency = state->histograms ? &state->histograms[i] : NULL;
    }
    return state;
}

static void periodic_yielder_main(void *arg)
{
    struct periodic_state *state = arg;
    while (!atomic_load_explicit(&state->over, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&state->yielded, 1, memory_order_relaxed);
        gosched();
    }
    wg_done(&state->yielders_done);
}

static void periodic_local_main(void *arg)
{
    struct periodic_local *self = arg;
    struct periodic_state *state = self->state;
    uint64_t turns = (uint64_t)state->params.turns;
    int64_t token; /* when it was passed on */
    while (self->turns < turns) {
        chan_recv(self->in, &token);
        if (self->latency) {
            int64_t now = go_now();
            histogram_record(self->latency, now - token);
            go_request(0, token, now);
            token = now;
        }
        uint64_t yielded = atomic_load_explicit(&state->yielded, memory_order_relaxed);
        if (yielded > 0)
            yielded = atomic_exchange_explicit(&state->yielded, 0, memory_order_relaxed);
        if (self->turns >= WARM)
            self->delayed += yielded;
        self->turns++;
        chan_send(self->out, &token);
    }
    wg_done(&state->locals_done);
}

static void periodic_start(struct periodic_state *state)
{
    size_t k = (size_t)state->params.k;
    int64_t token = state->params.latency ? go_now() : 0;
    for (size_t i = 0; i < k; i++) {
        struct periodic_local *local = &state->locals[i];
        local->turns = local->delayed = 0;
        if (local->latency)
            histogram_reset(local->latency);
        local->in = chan_make(sizeof token, k); /* it holds all tokens: no send waits */
        if (i + 1 < k)
            chan_send(local->in, &token);
    }
    for (size_t i = 0; i < k; i++)
        state->locals[i].out = state->locals[(i + k - 1) % k].in;
}

static struct histogram *periodic_latencies(struct periodic_state *state)
{
    if (!state->histograms)
        return NULL;
    struct histogram *all = &state->histograms[state->params.k];
    histogram_reset(all);
    for (int64_t i = 0; i < state->params.k; i++)
        histogram_merge(all, state->locals[i].latency);
    return all;
}

static void periodic_run(void *arg, struct outcome *out)
{
    struct periodic_state *state = arg;
    int64_t k = state->params.k, yielders = state->params.yielders;
    atomic_store_explicit(&state->over, false, memory_order_relaxed);
    atomic_store_explicit(&state->yielded, 0, memory_order_relaxed);
    periodic_start(state);
    wg_add(&state->yielders_done, (int32_t)yielders);
    wg_add(&state->locals_done, (int32_t)k);

    int64_t start = go_now();
    for (int64_t i = 0; i < yielders; i++)
        go(periodic_yielder_main, state);
    for (int64_t i = 0; i < k; i++)
        go(periodic_local_main, &state->locals[i]);
    wg_wait(&state->locals_done);
    out->time_ns = go_now() - start;

    atomic_store_explicit(&state->over, true, memory_order_relaxed);
    wg_wait(&state->yielders_done);
    for (int64_t i = 0; i < k; i++) {
        chan_free(state->locals[i].in);
        out->answer += state->locals[i].turns;
        out->digest += digest_mix(((uint64_t)i << 40) ^ state->locals[i].turns);
    }
    out->ops = out->answer;
    out->latency = periodic_latencies(state);
}

static const char *periodic_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct periodic_state *state = arg;
    uint64_t turns = (uint64_t)state->params.turns;
    for (int64_t i = 0; i < state->params.k; i++) {
        if (state->locals[i].turns != turns) {
            snprintf(why, why_size, "local %" PRId64 ": expected %" PRIu64 " turns, found %" PRIu64,
                     i, turns, state->locals[i].turns);
            return why;
        }
    }
    if (out->answer != turns * (uint64_t)state->params.k) {
        snprintf(why, why_size, "expected %" PRIu64 " turns in all, found %" PRIu64,
                 turns * (uint64_t)state->params.k, out->answer);
        return why;
    }
    if (out->latency && histogram_count(out->latency) != out->ops) {
        snprintf(why, why_size, "expected %" PRIu64 " latencies, found %" PRIu64, out->ops,
                 histogram_count(out->latency));
        return why;
    }
    return NULL;
}

static int64_t periodic_victims(const struct periodic_state *state)
{
    int64_t victims = 0;
    for (int64_t i = 0; i < state->params.k; i++)
        victims += state->locals[i].delayed > 0;
    return victims;
}

static void periodic_find(void *arg, double *values)
{
    values[0] = (double)periodic_victims(arg);
}

static void periodic_print(void *arg, FILE *to)
{
    const struct periodic_state *state = arg;
    int64_t k = state->params.k, victims = periodic_victims(state);
    fprintf(to, "delayed: %" PRId64 " of %" PRId64 " locals:", victims, k);
    for (int64_t i = 0; i < k && i < PRINTED_MAX; i++)
        fprintf(to, " %" PRIu64, state->locals[i].delayed);
    fprintf(to, "%s\n", k > PRINTED_MAX ? " ..." : "");
}

static void periodic_fini(void *arg)
{
    struct periodic_state *state = arg;
    go_free(state->histograms);
    go_free(state->locals);
    go_free(state);
}

static const char *const periodic_finds[] = {"victims", NULL};

const struct workload workload_periodic = {
    .name = "periodic",
    .idea = "turns in one order beside a global queue: whom its interval hits",
    .op = "turn",
    .source = "schedlab",
    .style = STYLE_GOROUTINE,
    .params = periodic_param_table,
    .params_size = sizeof(struct periodic_params),
    .live_gs_max = periodic_live_gs_max,
    .has_latency = periodic_has_latency,
    .init = periodic_init,
    .run = periodic_run,
    .verify = periodic_verify,
    .print = periodic_print,
    .finds = periodic_finds,
    .find = periodic_find,
    .fini = periodic_fini,
};
