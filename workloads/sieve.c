/* sieve.c - the concurrent prime sieve: a chain of filters that grows by one goroutine per prime.
 *
 * Source: Go 1.26 test/chan/sieve1.go, after Hoare and McIlroy.
 *   Differs: the generator stops at the last prime asked for and closes its channel; each filter
 *            passes the close on, so that every goroutine ends. The original's run until their
 *            process exits.
 *
 *   generator -> 2, 3, 4, .. -> filter 2 -> 3, 5, 7, .. -> filter 3 -> 5, 7, 11, .. -> main
 *
 * An operation is one message, not one prime: primes cost more the later they come, so primes a
 * second would depend on how many were asked for. The messages are a matter of arithmetic alone:
 * the filters are a deterministic data-flow network, in which a number whose smallest prime factor
 * is the j-th prime is sent exactly j times, whatever the schedule. Verification adds that up over
 * a plain sieve.
 *
 * The serial version does the same divisions without channels.
 */
#include "workload.h"

#include <inttypes.h>

struct sieve_params {
    int64_t primes;
};

struct sieve_stage {
    struct chan *in, *out;
    struct waitgroup *ended;
    uint64_t prime; /* the generator: the last number to send */
    uint64_t sent;  /* messages put into out; read after it was waited for */
};

struct sieve_state {
    struct sieve_params params;
    uint64_t last_prime;        /* by the plain sieve */
    uint64_t messages;          /* by the plain sieve */
    struct sieve_stage *stages; /* 0 is the generator, stage i > 0 filters by the i-th prime */
    uint64_t *found;            /* the primes that came out, in order */
    uint64_t *expected;         /* the primes, by the plain sieve */
    uint64_t missing, extra;    /* primes that did not come out, numbers that came after the last */
    struct waitgroup ended;
};

static const struct param sieve_param_table[] = {
    PARAM_NUMBER(struct sieve_params, primes, 500, 1, 20000, "primes", "schedlab",
                 "how many primes are looked for, one filter each; 2000 is the usual benchmark"),
    {0},
};

static uint64_t sieve_live_gs_max(const void *params)
{
    return (uint64_t)((const struct sieve_params *)params)->primes + 1; /* n - 1 filters */
}

/* At least the n-th prime: p(n) < n (ln n + ln ln n) for n >= 6, and log2 n > ln n. */
static uint64_t sieve_limit(uint64_t n)
{
    uint64_t bits = 1;
    while ((n >> bits) != 0)
        bits++;
    return n < 6 ? 13 : n * (bits + 4);
}

/* The independent answer: Eratosthenes' sieve over an array. */
static void sieve_plain(struct sieve_state *state)
{
    uint64_t n = (uint64_t)state->params.primes, limit = sieve_limit(n), found = 0;
    uint32_t *factor = go_alloc_zeroed((limit + 1) * sizeof(factor[0])); /* index of the smallest */
    for (uint64_t number = 2; found < n; number++) {
        if (factor[number] == 0) {
            found++;
            for (uint64_t multiple = number; multiple <= limit; multiple += number) {
                if (factor[multiple] == 0)
                    factor[multiple] = (uint32_t)found;
            }
            state->expected[found - 1] = number;
            state->last_prime = number;
        }
        state->messages += factor[number];
    }
    go_free(factor);
}

static void *sieve_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct sieve_state *state = go_alloc_zeroed(sizeof(*state));
    state->params = *(const struct sieve_params *)params;
    size_t primes = (size_t)state->params.primes;
    state->stages = go_alloc_zeroed(primes * sizeof(state->stages[0]));
    state->found = go_alloc_zeroed(primes * sizeof(state->found[0]));
    state->expected = go_alloc_zeroed(primes * sizeof(state->expected[0]));
    sieve_plain(state);
    return state;
}

static void sieve_generate(void *arg)
{
    struct sieve_stage *self = arg;
    uint64_t sent = 0;
    for (uint64_t number = 2; number <= self->prime; number++) {
        chan_send(self->out, &number);
        sent++;
    }
    self->sent = sent;
    chan_close(self->out);
    wg_done(self->ended);
}

static void sieve_filter(void *arg)
{
    struct sieve_stage *self = arg;
    struct chan *in = self->in, *out = self->out;
    uint64_t prime = self->prime, sent = 0, number;
    while (chan_recv(in, &number)) {
        if (number % prime != 0) {
            chan_send(out, &number);
            sent++;
        }
    }
    self->sent = sent;
    chan_close(out);
    wg_done(self->ended);
}

/* Adds stage `index` to the end of the chain; returns the channel it sends to. */
static struct chan *sieve_add_stage(struct sieve_state *state, size_t index, struct chan *in,
                                    uint64_t prime)
{
    struct sieve_stage *stage = &state->stages[index];
    stage->in = in;
    stage->out = chan_make(sizeof(uint64_t), 0);
    stage->ended = &state->ended;
    stage->prime = prime;
    wg_add(&state->ended, 1);
    go(index == 0 ? sieve_generate : sieve_filter, stage);
    return stage->out;
}

static void sieve_reset(struct sieve_state *state)
{
    state->missing = state->extra = 0;
    for (int64_t i = 0; i < state->params.primes; i++) {
        state->stages[i] = (struct sieve_stage){0};
        state->found[i] = 0;
    }
}

static void sieve_report(struct sieve_state *state, size_t found, struct outcome *out)
{
    size_t primes = (size_t)state->params.primes;
    for (size_t i = 0; i < primes; i++) {
        out->ops += state->stages[i].sent;
        out->digest += digest_mix(state->found[i] ^ (state->stages[i].sent << 32));
    }
    out->answer = state->found[primes - 1];
    state->missing = primes - found;
}

static void sieve_run(void *arg, struct outcome *out)
{
    struct sieve_state *state = arg;
    size_t primes = (size_t)state->params.primes, found = 0;
    uint64_t number;
    sieve_reset(state);

    int64_t start = go_now();
    struct chan *tail = sieve_add_stage(state, 0, NULL, state->last_prime);
    while (found < primes && chan_recv(tail, &number)) {
        state->found[found++] = number;
        if (found < primes)
            tail = sieve_add_stage(state, found, tail, number);
    }
    while (chan_recv(tail, &number))
        state->extra++;
    wg_wait(&state->ended);
    out->time_ns = go_now() - start;

    for (size_t i = 0; i < primes && state->stages[i].out; i++)
        chan_free(state->stages[i].out);
    sieve_report(state, found, out);
}

/* Divides every number by the primes found so far, in the order the filters would. */
static void sieve_run_serial(void *arg, struct outcome *out)
{
    struct sieve_state *state = arg;
    size_t primes = (size_t)state->params.primes, found = 0;
    sieve_reset(state);
    for (uint64_t number = 2; number <= state->last_prime && found < primes; number++) {
        size_t stage = 0; /* how many filters let it pass; the generator sends it first */
        state->stages[0].sent++;
        while (stage < found && number % state->found[stage] != 0) {
            stage++;
            state->stages[stage].sent++;
        }
        if (stage == found)
            state->found[found++] = number;
    }
    sieve_report(state, found, out);
}

static const char *sieve_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct sieve_state *state = arg;
    if (state->missing || state->extra) {
        snprintf(why, why_size, "%" PRIu64 " primes too few and %" PRIu64 " numbers too many",
                 state->missing, state->extra);
        return why;
    }
    for (int64_t i = 0; i < state->params.primes; i++) {
        if (state->found[i] != state->expected[i]) {
            snprintf(why, why_size,
                     "expected %" PRIu64 " as prime number %" PRId64 ", found %" PRIu64,
                     state->expected[i], i + 1, state->found[i]);
            return why;
        }
    }
    if (out->answer != state->last_prime) {
        snprintf(why, why_size, "expected %" PRIu64 " as prime number %" PRId64 ", found %" PRIu64,
                 state->last_prime, state->params.primes, out->answer);
        return why;
    }
    if (out->ops != state->messages) {
        snprintf(why, why_size, "expected %" PRIu64 " messages, found %" PRIu64, state->messages,
                 out->ops);
        return why;
    }
    return NULL;
}

static void sieve_fini(void *arg)
{
    struct sieve_state *state = arg;
    go_free(state->expected);
    go_free(state->found);
    go_free(state->stages);
    go_free(state);
}

const struct workload workload_sieve = {
    .name = "sieve",
    .idea = "a growing chain of filters: short messages, many goroutines",
    .op = "message",
    .source = "Go 1.26 test/chan/sieve1.go",
    .style = STYLE_GOROUTINE,
    .params = sieve_param_table,
    .params_size = sizeof(struct sieve_params),
    .live_gs_max = sieve_live_gs_max,
    .init = sieve_init,
    .run = sieve_run,
    .run_serial = sieve_run_serial,
    .verify = sieve_verify,
    .fini = sieve_fini,
};
