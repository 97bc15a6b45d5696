/* bursts.c - a crowd that is woken all at once, again and again: how long until each of them runs.
 *
 * Source: schedlab; a wake-up storm, as of a broadcast or of many timers that end together.
 *
 * b goroutines wait at a gate. Main sleeps for period_ns, so that workers may fall asleep, and then
 * opens the gate. It does so n times. Each goroutine works for `rounds` rounds and waits at the
 * next gate. The latency is from just before the opening to the goroutine's first step. So it
 * includes the readying of the goroutines before it, the wake-up of workers, and the work of
 * earlier goroutines on the same worker. The next period begins when the last goroutine has done
 * its work. The time that counts is from the opening to then, without main's sleep.
 *
 * Two gates take turns: the next one is shut before this one is opened.
 */
#include "workload.h"

#include "histogram.h"

#include <inttypes.h>

enum { BURSTS_MEMBERS_MAX = 100000 };

struct bursts_params {
    int64_t n;
    int64_t b;
    int64_t period_ns;
    int64_t rounds;
};

struct bursts_state;

struct bursts_member {
    struct bursts_state *state;
    /* its own while the gate is open */
    int64_t latency_ns;
    uint64_t sum;
    char pad[40]; /* a line of its own */
};

struct bursts_state {
    struct bursts_params params;
    struct bursts_member *members;
    struct waitgroup gate[2];
    struct waitgroup worked;
    int64_t opened_ns; /* written before the gate is opened */
    struct histogram latency;
};

static const struct param bursts_param_table[] = {
    PARAM_NUMBER(struct bursts_params, n, 100, 1, 10000000, "bursts", "schedlab",
                 "how many bursts there are"),
    PARAM_NUMBER(struct bursts_params, b, 32, 1, BURSTS_MEMBERS_MAX, "Gs", "schedlab",
                 "how many goroutines a burst wakes"),
    PARAM_NUMBER(struct bursts_params, period_ns, 1000000, 0, 10000000000, "ns", "schedlab",
                 "how long main sleeps before a burst"),
    PARAM_NUMBER(struct bursts_params, rounds, 1000, 0, 1000000000, "rounds", "schedlab",
                 "rounds of go_work() of each goroutine in a burst, a few cycles each"),
    {0},
};

static uint64_t bursts_live_gs_max(const void *params)
{
    return (uint64_t)((const struct bursts_params *)params)->b + 1; /* and main */
}

static bool bursts_has_latency(const void *params)
{
    (void)params;
    return true;
}

static void *bursts_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct bursts_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct bursts_params *)params;
    size_t b = (size_t)state->params.b;
    state->members = go_alloc_zeroed(b * sizeof state->members[0]);
    for (size_t i = 0; i < b; i++)
        state->members[i].state = state;
    return state;
}

static inline uint64_t bursts_work(const struct bursts_params *params, int64_t burst)
{
    return digest_mix(go_work((uint64_t)params->rounds) + (uint64_t)burst);
}

static void bursts_member_main(void *arg)
{
    struct bursts_member *self = arg;
    struct bursts_state *state = self->state;
    for (int64_t i = 0; i < state->params.n; i++) {
        wg_wait(&state->gate[i % 2]);
        int64_t now_ns = go_now(), opened_ns = state->opened_ns;
        self->latency_ns = now_ns - opened_ns;
        go_request(0, opened_ns, now_ns);
        self->sum += bursts_work(&state->params, i);
        wg_done(&state->worked);
    }
}

/* One burst; returns when all have worked. */
static int64_t bursts_burst(struct bursts_state *state, int64_t i)
{
    const struct bursts_params *params = &state->params;
    wg_add(&state->worked, (int32_t)params->b);
    if (i + 1 < params->n)
        wg_add(&state->gate[(i + 1) % 2], 1);
    go_sleep(params->period_ns);
    state->opened_ns = go_now();
    wg_done(&state->gate[i % 2]);
    wg_wait(&state->worked);
    int64_t ns = go_now() - state->opened_ns;
    for (int64_t m = 0; m < params->b; m++)
        histogram_record(&state->latency, state->members[m].latency_ns);
    return ns;
}

static void bursts_run(void *arg, struct outcome *out)
{
    struct bursts_state *state = arg;
    const struct bursts_params *params = &state->params;
    histogram_reset(&state->latency);
    wg_add(&state->gate[0], 1);
    for (int64_t i = 0; i < params->b; i++) {
        state->members[i].sum = 0;
        go(bursts_member_main, &state->members[i]);
    }
    for (int64_t i = 0; i < params->n; i++)
        out->time_ns += bursts_burst(state, i);
    for (int64_t i = 0; i < params->b; i++) {
        out->answer += state->members[i].sum;
        out->digest += digest_mix(state->members[i].sum ^ digest_mix((uint64_t)i));
    }
    out->ops = histogram_count(&state->latency);
    out->latency = &state->latency;
}

/* Each member has worked once in each burst: all sums are equal. */
static const char *bursts_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct bursts_state *state = arg;
    const struct bursts_params *params = &state->params;
    uint64_t work = go_work((uint64_t)params->rounds), sum = 0;
    for (int64_t i = 0; i < params->n; i++)
        sum += digest_mix(work + (uint64_t)i);
    uint64_t ops = (uint64_t)params->n * (uint64_t)params->b;
    for (int64_t i = 0; i < params->b; i++) {
        if (state->members[i].sum != sum) {
            snprintf(why, why_size,
                     "goroutine %" PRId64 ": expected the sum %" PRIx64 ", found %" PRIx64, i, sum,
                     state->members[i].sum);
            return why;
        }
    }
    if (out->answer != sum * (uint64_t)params->b || out->ops != ops) {
        snprintf(why, why_size, "expected %" PRIu64 " wake-ups, found %" PRIu64, ops, out->ops);
        return why;
    }
    return NULL;
}

static void bursts_fini(void *arg)
{
    struct bursts_state *state = arg;
    go_free(state->members);
    go_free(state);
}

const struct workload workload_bursts = {
    .name = "bursts",
    .idea = "a crowd woken at once, again and again: how long until each runs",
    .op = "wake-up",
    .source = "schedlab",
    .style = STYLE_GOROUTINE,
    .params = bursts_param_table,
    .params_size = sizeof(struct bursts_params),
    .live_gs_max = bursts_live_gs_max,
    .has_latency = bursts_has_latency,
    .init = bursts_init,
    .run = bursts_run,
    .verify = bursts_verify,
    .fini = bursts_fini,
};
