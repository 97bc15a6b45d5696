/* drain.c - n goroutines in the queue that all workers share, and one worker that takes them out.
 *
 * Source: schedlab; the question is that of Go 1.26 runtime/proc.go globrunqgetbatch.
 *
 * `pullers` workers look for work, one of them main's own. Goroutines hold the other workers: they
 * work without a pause until the last of the n has run, or for HOLD_NS at most. The limit is for
 * variants in which goroutines cannot leave their worker, so that some of the n may lie behind a
 * holder. Then main starts the n by go_global() and waits. A scheduler that fetches one at a time
 * goes n times to the shared queue (event GRQ_HITS). One that fetches a batch goes there seldom;
 * but others no longer find there what has been fetched.
 *
 * Each of the n does `rounds` rounds of work. The time counted is from the first start to the last
 * end. The workload finds `share_max`: the largest share of the n that one worker ran, over an even
 * share, in percent. It is exact if as many workers pull as there are.
 *
 * One operation is one of the n.
 */
#include "workload.h"

#include <inttypes.h>

#define HOLD_NS INT64_C(50000000)
enum { WORKERS_MAX = 1024, HOLD_ROUNDS = 20000 };

struct drain_params {
    int64_t n;
    int64_t pullers;
    int64_t rounds;
};

struct drain_state;

struct drain_task {
    struct drain_state *state;
    uint64_t id;
};

struct drain_state {
    struct drain_params params;
    struct drain_task *tasks;
    struct waitgroup tasks_done, holders_done;
    /* relaxed, all: signals and counts; what is read at the end is so after the wait groups */
    _Atomic bool over;
    _Atomic int32_t holding;
    _Atomic uint64_t ran, sum;
    _Atomic uint64_t by_worker[WORKERS_MAX];
    int64_t deadline_ns; /* constant while holders live */
};

static const struct param drain_param_table[] = {
    PARAM_NUMBER(struct drain_params, n, 10000, 1, 10000000, "Gs", "schedlab",
                 "how many goroutines lie in the global queue"),
    PARAM_NUMBER(struct drain_params, pullers, 1, 1, WORKERS_MAX, "workers", "schedlab",
                 "how many workers take them out; the others are kept busy"),
    PARAM_NUMBER(struct drain_params, rounds, 0, 0, 1000000000, "rounds", "schedlab",
                 "rounds of go_work() of each, a few cycles each"),
    {0},
};

static uint64_t drain_live_gs_max(const void *params)
{
    return (uint64_t)((const struct drain_params *)params)->n + WORKERS_MAX; /* holders and main */
}

static void *drain_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct drain_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct drain_params *)params;
    size_t n = (size_t)state->params.n;
    state->tasks = go_alloc_zeroed(n * sizeof state->tasks[0]);
    for (size_t i = 0; i < n; i++)
        state->tasks[i] = (struct drain_task){state, i};
    return state;
}

static uint64_t drain_value(const struct drain_state *state, uint64_t id)
{
    return digest_mix(id + go_work((uint64_t)state->params.rounds));
}

static void drain_task_main(void *arg)
{
    struct drain_task *self = arg;
    struct drain_state *state = self->state;
    uint64_t value = drain_value(state, self->id);
    atomic_fetch_add_explicit(&state->sum, value, memory_order_relaxed);
    atomic_fetch_add_explicit(&state->ran, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&state->by_worker[go_worker_index() % WORKERS_MAX], 1,
                              memory_order_relaxed);
    wg_done(&state->tasks_done);
}

static void drain_holder_main(void *arg)
{
    struct drain_state *state = arg;
    atomic_fetch_add_explicit(&state->holding, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&state->over, memory_order_relaxed) &&
           go_now() < state->deadline_ns)
        go_work(HOLD_ROUNDS);
    wg_done(&state->holders_done);
}

/* Returns once each of the workers that are not to pull has its holder, or time is up. */
static void drain_hold(struct drain_state *state)
{
    int32_t holders = go_workers() - (int32_t)state->params.pullers;
    atomic_store_explicit(&state->over, false, memory_order_relaxed);
    atomic_store_explicit(&state->holding, 0, memory_order_relaxed);
    state->deadline_ns = go_now() + HOLD_NS;
    if (holders <= 0)
        return;
    wg_add(&state->holders_done, holders);
    for (int32_t i = 0; i < holders; i++)
        go(drain_holder_main, state);
    while (atomic_load_explicit(&state->holding, memory_order_relaxed) < holders &&
           go_now() < state->deadline_ns)
        go_work(HOLD_ROUNDS / 10); /* to yield would be a visit to the shared queue */
}

static void drain_run(void *arg, struct outcome *out)
{
    struct drain_state *state = arg;
    uint64_t n = (uint64_t)state->params.n;
    atomic_store_explicit(&state->ran, 0, memory_order_relaxed);
    atomic_store_explicit(&state->sum, 0, memory_order_relaxed);
    for (int i = 0; i < WORKERS_MAX; i++)
        atomic_store_explicit(&state->by_worker[i], 0, memory_order_relaxed);
    drain_hold(state);
    wg_add(&state->tasks_done, (int32_t)n);

    int64_t start = go_now();
    for (uint64_t i = 0; i < n; i++)
        go_global(drain_task_main, &state->tasks[i]);
    wg_wait(&state->tasks_done);
    out->time_ns = go_now() - start;

    atomic_store_explicit(&state->over, true, memory_order_relaxed);
    wg_wait(&state->holders_done);
    out->ops = atomic_load_explicit(&state->ran, memory_order_relaxed);
    out->answer = atomic_load_explicit(&state->sum, memory_order_relaxed);
    out->digest = digest_mix(out->answer ^ out->ops);
}

static const char *drain_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct drain_state *state = arg;
    uint64_t n = (uint64_t)state->params.n, work = go_work((uint64_t)state->params.rounds), sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += digest_mix(i + work);
    if (out->answer == sum && out->ops == n)
        return NULL;
    snprintf(why, why_size,
             "expected the sum %" PRIx64 " of %" PRIu64 ", found %" PRIx64 " of %" PRIu64, sum, n,
             out->answer, out->ops);
    return why;
}

static void drain_find(void *arg, double *values)
{
    const struct drain_state *state = arg;
    uint64_t most = 0;
    for (int i = 0; i < WORKERS_MAX; i++) {
        uint64_t ran = atomic_load_explicit(&state->by_worker[i], memory_order_relaxed);
        most = ran > most ? ran : most;
    }
    double even = (double)state->params.n / (double)state->params.pullers;
    values[0] = 100 * (double)most / even;
}

static void drain_fini(void *arg)
{
    struct drain_state *state = arg;
    go_free(state->tasks);
    go_free(state);
}

static const char *const drain_finds[] = {"share_max", NULL};

const struct workload workload_drain = {
    .name = "drain",
    .idea = "goroutines in the global queue, taken by one worker or many",
    .op = "goroutine",
    .source = "Go 1.26 runtime/proc.go globrunqgetbatch",
    .style = STYLE_GOROUTINE,
    .params = drain_param_table,
    .params_size = sizeof(struct drain_params),
    .live_gs_max = drain_live_gs_max,
    .init = drain_init,
    .run = drain_run,
    .verify = drain_verify,
    .finds = drain_finds,
    .find = drain_find,
    .fini = drain_fini,
};
