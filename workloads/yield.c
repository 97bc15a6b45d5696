/* yield.c - goroutines that do nothing but give way to each other: the price of a switch.
 *
 * Source: Tokio benches/rt_multi_threaded.rs yield_many; with two goroutines it is the classic
 *         context switch test.
 *   Differs: all yielders exist before the first one yields, so that none gives way to nobody while
 *            the others are still being made; the n yields are dealt out among the yielders, so
 *            that more yielders mean more stacks in turn and not more work.
 */
#include "workload.h"

#include <inttypes.h>

struct yield_params {
    int64_t n;
    int64_t yielders;
};

struct yield_state;

struct yielder {
    struct yield_state *state;
    uint64_t share; /* how often it shall yield */
    uint64_t done;  /* how often it did; written at its end, read after it was waited for */
};

struct yield_state {
    struct yield_params params;
    struct yielder *yielders;
    struct waitgroup gate; /* 1 until all yielders exist */
    struct waitgroup done;
};

static const struct param yield_param_table[] = {
    PARAM_NUMBER(struct yield_params, n, 1000000, 1, 10000000000, "yields", "schedlab",
                 "yields in all, dealt out evenly"),
    PARAM_NUMBER(struct yield_params, yielders, 2, 1, 1000000, "Gs", "schedlab",
                 "how many goroutines give way to each other"),
    {0},
};

static uint64_t yield_live_gs_max(const void *params)
{
    return (uint64_t)((const struct yield_params *)params)->yielders + 1;
}

static void *yield_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct yield_state *state = go_alloc_zeroed(sizeof(*state));
    state->params = *(const struct yield_params *)params;
    uint64_t n = (uint64_t)state->params.n, yielders = (uint64_t)state->params.yielders;
    state->yielders = go_alloc_zeroed(yielders * sizeof(state->yielders[0]));
    for (uint64_t i = 0; i < yielders; i++) {
        state->yielders[i].state = state;
        state->yielders[i].share = n / yielders + (i < n % yielders);
    }
    return state;
}

static void yielder_main(void *arg)
{
    struct yielder *self = arg;
    wg_wait(&self->state->gate);
    uint64_t share = self->share, done = 0;
    while (done < share) {
        gosched();
        done++;
    }
    self->done = done;
    wg_done(&self->state->done);
}

static void yield_run(void *arg, struct outcome *out)
{
    struct yield_state *state = arg;
    int64_t yielders = state->params.yielders;
    wg_add(&state->gate, 1);
    wg_add(&state->done, (int32_t)yielders);
    for (int64_t i = 0; i < yielders; i++) {
        state->yielders[i].done = 0;
        go(yielder_main, &state->yielders[i]);
    }

    int64_t start = go_now();
    wg_done(&state->gate);
    wg_wait(&state->done);
    out->time_ns = go_now() - start;

    for (int64_t i = 0; i < yielders; i++) {
        out->answer += state->yielders[i].done;
        out->digest += digest_mix(((uint64_t)i << 40) ^ state->yielders[i].done);
    }
    out->ops = out->answer;
}

static const char *yield_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct yield_state *state = arg;
    for (int64_t i = 0; i < state->params.yielders; i++) {
        const struct yielder *yielder = &state->yielders[i];
        if (yielder->done != yielder->share) {
            snprintf(why, why_size,
                     "yielder %" PRId64 " shall yield %" PRIu64 " times and did %" PRIu64, i,
                     yielder->share, yielder->done);
            return why;
        }
    }
    if (out->answer != (uint64_t)state->params.n || out->ops != out->answer) {
        snprintf(why, why_size, "expected %" PRId64 " yields, found %" PRIu64, state->params.n,
                 out->answer);
        return why;
    }
    return NULL;
}

static void yield_fini(void *arg)
{
    struct yield_state *state = arg;
    go_free(state->yielders);
    go_free(state);
}

const struct workload workload_yield = {
    .name = "yield",
    .idea = "goroutines that give way to each other: the cost of a switch",
    .op = "yield",
    .source = "Tokio benches/rt_multi_threaded.rs yield_many",
    .style = STYLE_GOROUTINE,
    .params = yield_param_table,
    .params_size = sizeof(struct yield_params),
    .live_gs_max = yield_live_gs_max,
    .init = yield_init,
    .run = yield_run,
    .verify = yield_verify,
    .fini = yield_fini,
};
