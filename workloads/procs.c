/* procs.c - goroutines compute while the number of workers changes.
 *
 * Source: schedlab; Go changes its number of Ps at runtime.GOMAXPROCS(), and since 1.25 by itself
 *         when the limits of its container change.
 *
 * Each of n goroutines does `chunks` chunks of `rounds` rounds of work and never waits. Every
 * period_ns main sets the number of workers: `low` of them and all of them, by turns. So half of
 * the time there are `low`. With period_ns=0 the number stays. At the end all may work again.
 *
 * One operation is a chunk, and the time that counts ends with the last chunk. So the throughput
 * tells whether workers that are sent away go, and whether those that are sent for come. A worker
 * goes when its goroutine can be stopped: without preemption when that has done all its chunks.
 *
 * It finds how often the number has changed. Skipped where workers do not change.
 */
#include "workload.h"

#include <inttypes.h>

struct procs_params {
    int64_t n;
    int64_t chunks;
    int64_t rounds;
    int64_t low;
    int64_t period_ns; /* 0: never */
};

struct procs_state;

struct procs_g {
    struct procs_state *state;
    /* read after it was waited for */
    uint64_t result;
    int64_t end_ns;
    char pad[64]; /* it is written while others work */
};

struct procs_state {
    struct procs_params params;
    struct procs_g *gs;
    struct waitgroup gate; /* 1 until all exist */
    struct waitgroup done;
    _Atomic int64_t left; /* that have not ended; relaxed: main stops when it sees 0 */
    /* main's */
    int64_t changes;
    int wrong, wrong_expected; /* the first number of workers that was another than the last one
                                  set, and that one; 0: none was */
};

static const struct param procs_param_table[] = {
    PARAM_NUMBER(struct procs_params, n, 16, 1, 10000, "Gs", "schedlab",
                 "how many goroutines compute"),
    PARAM_NUMBER(struct procs_params, chunks, 20000, 1, 100000000, "chunks", "schedlab",
                 "chunks of work of each goroutine"),
    PARAM_NUMBER(struct procs_params, rounds, 1000, 0, 1000000000, "rounds", "schedlab",
                 "rounds of go_work() in a chunk, a few cycles each"),
    PARAM_NUMBER(struct procs_params, low, 1, 1, 1024, "workers", "schedlab",
                 "how many workers there are half of the time; not more than there are at first"),
    PARAM_NUMBER(struct procs_params, period_ns, 1000000, 0, 10000000000, "ns", "schedlab",
                 "after how long the number changes; 0: never"),
    {0},
};

static uint64_t procs_live_gs_max(const void *params)
{
    return (uint64_t)((const struct procs_params *)params)->n + 1; /* and main */
}

static const char *procs_skip(const void *params, const struct promises *promises)
{
    if (promises->resizes || ((const struct procs_params *)params)->period_ns == 0)
        return NULL;
    return "would change nothing: the number of workers is fixed";
}

static void *procs_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct procs_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct procs_params *)params;
    size_t n = (size_t)state->params.n;
    state->gs = go_alloc_zeroed(n * sizeof state->gs[0]);
    for (size_t i = 0; i < n; i++)
        state->gs[i].state = state;
    return state;
}

static void procs_work(struct procs_g *self)
{
    const struct procs_params *params = &self->state->params;
    uint64_t result = 0;
    for (int64_t i = 0; i < params->chunks; i++)
        result += digest_mix(go_work((uint64_t)params->rounds) + (uint64_t)i);
    self->result = result;
}

static void procs_g_main(void *arg)
{
    struct procs_g *self = arg;
    struct procs_state *state = self->state;
    wg_wait(&state->gate);
    procs_work(self);
    self->end_ns = go_now();
    atomic_fetch_sub_explicit(&state->left, 1, memory_order_relaxed);
    wg_done(&state->done);
}

/* Sets the number, which has to have been `before` up to now. */
static void procs_set(struct procs_state *state, int n, int before)
{
    int was = go_set_workers(n);
    if (was != before && !state->wrong) {
        state->wrong = was;
        state->wrong_expected = before;
    }
}

static void procs_change(struct procs_state *state)
{
    int all = go_set_workers(0), now = all;
    int low = state->params.low < all ? (int)state->params.low : all;
    while (atomic_load_explicit(&state->left, memory_order_relaxed) > 0) {
        int next = now == all ? low : all;
        procs_set(state, next, now);
        now = next;
        state->changes++;
        go_sleep(state->params.period_ns);
    }
    procs_set(state, all, now);
}

static void procs_collect(struct procs_state *state, struct outcome *out)
{
    for (int64_t i = 0; i < state->params.n; i++)
        out->answer += state->gs[i].result;
    out->digest = digest_mix(out->answer);
    out->ops = (uint64_t)state->params.n * (uint64_t)state->params.chunks;
}

static void procs_run(void *arg, struct outcome *out)
{
    struct procs_state *state = arg;
    state->changes = 0;
    state->wrong = 0;
    atomic_store_explicit(&state->left, state->params.n, memory_order_relaxed);
    wg_add(&state->gate, 1);
    wg_add(&state->done, (int32_t)state->params.n);
    for (int64_t i = 0; i < state->params.n; i++)
        go(procs_g_main, &state->gs[i]);
    int64_t start = go_now(), end = start;
    wg_done(&state->gate);
    if (state->params.period_ns > 0)
        procs_change(state);
    wg_wait(&state->done);
    for (int64_t i = 0; i < state->params.n; i++)
        end = state->gs[i].end_ns > end ? state->gs[i].end_ns : end;
    out->time_ns = end - start;
    procs_collect(state, out);
}

static void procs_run_serial(void *arg, struct outcome *out)
{
    struct procs_state *state = arg;
    state->changes = 0;
    state->wrong = 0;
    for (int64_t i = 0; i < state->params.n; i++)
        procs_work(&state->gs[i]);
    procs_collect(state, out);
}

static const char *procs_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct procs_state *state = arg;
    uint64_t chunk = go_work((uint64_t)state->params.rounds), each = 0;
    for (int64_t i = 0; i < state->params.chunks; i++)
        each += digest_mix(chunk + (uint64_t)i);
    uint64_t expected = each * (uint64_t)state->params.n;
    if (out->answer != expected) {
        snprintf(why, why_size, "expected the sum %" PRIx64 " of all chunks, found %" PRIx64,
                 expected, out->answer);
        return why;
    }
    if (state->wrong) {
        snprintf(why, why_size, "expected %d workers, as set before, found %d",
                 state->wrong_expected, state->wrong);
        return why;
    }
    return NULL;
}

static const char *const procs_finds[] = {"changes", NULL};

static void procs_find(void *arg, double *values)
{
    values[0] = (double)((const struct procs_state *)arg)->changes;
}

static void procs_fini(void *arg)
{
    struct procs_state *state = arg;
    go_free(state->gs);
    go_free(state);
}

const struct workload workload_procs = {
    .name = "procs",
    .idea = "goroutines compute while the number of workers changes",
    .op = "chunk",
    .source = "Go 1.26 proc.go procresize",
    .style = STYLE_GOROUTINE,
    .params = procs_param_table,
    .params_size = sizeof(struct procs_params),
    .live_gs_max = procs_live_gs_max,
    .skip = procs_skip,
    .init = procs_init,
    .run = procs_run,
    .run_serial = procs_run_serial,
    .verify = procs_verify,
    .finds = procs_finds,
    .find = procs_find,
    .fini = procs_fini,
};
