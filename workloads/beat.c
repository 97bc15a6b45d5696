/* beat.c - a goroutine that now and then comes into the queue that all share, always at the same
 * beat: how many dispatches does it wait beside a local queue that never is empty?
 *
 * Source: schedlab; the question behind the tick of Go 1.26 runtime/proc.go findRunnable.
 *
 * k locals give way in turn for ever, so that a worker with a queue of its own (gmp with
 * yield=local) never runs dry. Every dispatch counts. Once in `every` x `beats` of them the one
 * that runs starts an arrival by go_global(), which waits until the worker looks there. A worker
 * that looks at every N-th dispatch and counts in steps of `every` meets N / gcd(N, every)
 * different waits: a prime N meets all of 0 .. N - 1, whatever the beat, unless that is N itself or
 * a multiple, where all waits are the same one. beats is a prime, so that it adds no factor of its
 * own; every x beats should be well above N, else arrivals queue behind each other. `phase` shifts
 * all of them.
 *
 * It finds the waits, in dispatches between start and first step: wait_min, wait_mean, wait_max,
 * and how many different ones there were, waits_distinct (up to WAITS_MAX). Exact with one worker.
 * The latency is the same wait in time.
 *
 * One operation is an arrival.
 */
#include "workload.h"

#include "histogram.h"

#include <inttypes.h>

enum { WAITS_MAX = 4096 };

struct beat_params {
    int64_t n;
    int64_t every;
    int64_t beats;
    int64_t phase;
    int64_t k;
};

struct beat_state {
    struct beat_params params;
    struct waitgroup locals_done, arrivals_done;
    /* relaxed, all: with one worker all is in order, with more it is a guess; what is read at the
     * end is so after the wait groups */
    _Atomic uint64_t dispatches, next, started, ran, arrived_at;
    _Atomic bool waiting, over;
    int64_t arrived_ns;
    uint64_t wait_min, wait_max, wait_sum; /* of the arrival that runs; there is one at a time */
    uint32_t seen[WAITS_MAX];
    struct histogram latency; /* likewise */
};

static const struct param beat_param_table[] = {
    PARAM_NUMBER(struct beat_params, n, 128, 1, 100000000, "arrivals", "schedlab",
                 "how many goroutines come into the global queue, one at a time"),
    PARAM_NUMBER(struct beat_params, every, 8, 1, 1000000, "dispatches", "schedlab",
                 "arrivals come at multiples of so many dispatches: the beat"),
    PARAM_NUMBER(struct beat_params, beats, 67, 1, 1000000, "beats", "schedlab",
                 "beats between one arrival and the next; a prime meets all phases"),
    PARAM_NUMBER(struct beat_params, phase, 0, 0, 1000000, "dispatches", "schedlab",
                 "dispatches by which all arrivals are late"),
    PARAM_NUMBER(struct beat_params, k, 4, 1, 10000, "Gs", "schedlab",
                 "how many local goroutines give way in turn"),
    {0},
};

static uint64_t beat_live_gs_max(const void *params)
{
    return (uint64_t)((const struct beat_params *)params)->k + 2; /* an arrival, and main */
}

static bool beat_has_latency(const void *params)
{
    (void)params;
    return true;
}

static void *beat_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct beat_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct beat_params *)params;
    return state;
}

static void beat_dispatched(struct beat_state *state);

static void beat_arrival_main(void *arg)
{
    struct beat_state *state = arg;
    int64_t now_ns = go_now(), arrived_ns = state->arrived_ns;
    histogram_record(&state->latency, now_ns - arrived_ns);
    go_request(0, arrived_ns, now_ns);
    uint64_t now = atomic_load_explicit(&state->dispatches, memory_order_relaxed);
    uint64_t wait = now - atomic_load_explicit(&state->arrived_at, memory_order_relaxed);
    state->wait_min = wait < state->wait_min ? wait : state->wait_min;
    state->wait_max = wait > state->wait_max ? wait : state->wait_max;
    state->wait_sum += wait;
    state->seen[wait < WAITS_MAX ? wait : WAITS_MAX - 1]++;
    uint64_t ran = atomic_fetch_add_explicit(&state->ran, 1, memory_order_relaxed) + 1;
    if (ran == (uint64_t)state->params.n)
        atomic_store_explicit(&state->over, true, memory_order_relaxed);
    atomic_store_explicit(&state->waiting, false, memory_order_release); /* the next one may come */
    beat_dispatched(state);
    wg_done(&state->arrivals_done);
}

/* Each local that was put on a worker calls this, and starts the arrival that is due then. An
 * arrival that comes due while the last one still waits is left out, so that the beat stays. */
static void beat_dispatched(struct beat_state *state)
{
    uint64_t now = atomic_fetch_add_explicit(&state->dispatches, 1, memory_order_relaxed) + 1;
    uint64_t next = atomic_load_explicit(&state->next, memory_order_relaxed);
    if (now < next)
        return;
    uint64_t step = (uint64_t)state->params.every * (uint64_t)state->params.beats;
    if (!atomic_compare_exchange_strong_explicit(&state->next, &next, next + step,
                                                 memory_order_relaxed, memory_order_relaxed))
        return;
    /* acquire: what the arrival before has written of the waits, and that it was the last one */
    if (atomic_exchange_explicit(&state->waiting, true, memory_order_acquire) ||
        atomic_load_explicit(&state->over, memory_order_relaxed))
        return;
    atomic_fetch_add_explicit(&state->started, 1, memory_order_relaxed);
    atomic_store_explicit(&state->arrived_at, now, memory_order_relaxed);
    state->arrived_ns = go_now();
    go_global(beat_arrival_main, state);
}

static void beat_local_main(void *arg)
{
    struct beat_state *state = arg;
    while (!atomic_load_explicit(&state->over, memory_order_relaxed)) {
        beat_dispatched(state);
        gosched();
    }
    wg_done(&state->locals_done);
}

static void beat_run(void *arg, struct outcome *out)
{
    struct beat_state *state = arg;
    const struct beat_params *params = &state->params;
    uint64_t step = (uint64_t)params->every * (uint64_t)params->beats;
    atomic_store_explicit(&state->dispatches, 0, memory_order_relaxed);
    atomic_store_explicit(&state->next, step + (uint64_t)params->phase, memory_order_relaxed);
    atomic_store_explicit(&state->started, 0, memory_order_relaxed);
    atomic_store_explicit(&state->ran, 0, memory_order_relaxed);
    atomic_store_explicit(&state->waiting, false, memory_order_relaxed);
    atomic_store_explicit(&state->over, false, memory_order_relaxed);
    state->wait_min = UINT64_MAX;
    state->wait_max = state->wait_sum = 0;
    for (int i = 0; i < WAITS_MAX; i++)
        state->seen[i] = 0;
    histogram_reset(&state->latency);
    wg_add(&state->locals_done, (int32_t)params->k);
    wg_add(&state->arrivals_done, (int32_t)params->n);
    for (int64_t i = 0; i < params->k; i++)
        go(beat_local_main, state);
    wg_wait(&state->arrivals_done);
    wg_wait(&state->locals_done);
    out->ops = atomic_load_explicit(&state->ran, memory_order_relaxed);
    out->answer = out->ops;
    out->digest = digest_mix(out->ops);
    out->latency = &state->latency;
}

static uint64_t beat_distinct(const struct beat_state *state, uint64_t *count)
{
    uint64_t distinct = 0;
    *count = 0;
    for (int i = 0; i < WAITS_MAX; i++) {
        distinct += state->seen[i] > 0;
        *count += state->seen[i];
    }
    return distinct;
}

static const char *beat_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct beat_state *state = arg;
    uint64_t n = (uint64_t)state->params.n, waits, latencies = histogram_count(out->latency);
    uint64_t started = atomic_load_explicit(&state->started, memory_order_relaxed);
    beat_distinct(state, &waits);
    if (out->ops == n && started == n && waits == n && latencies == n)
        return NULL;
    snprintf(why, why_size,
             "expected %" PRIu64 " arrivals, found %" PRIu64 " started, %" PRIu64 " run, %" PRIu64
             " waits and %" PRIu64 " latencies",
             n, started, out->ops, waits, latencies);
    return why;
}

static const char *const beat_finds[] = {"wait_min", "wait_mean", "wait_max", "waits_distinct",
                                         NULL};

static void beat_find(void *arg, double *values)
{
    const struct beat_state *state = arg;
    uint64_t waits;
    values[3] = (double)beat_distinct(state, &waits);
    values[0] = (double)state->wait_min;
    values[1] = (double)state->wait_sum / (double)waits;
    values[2] = (double)state->wait_max;
}

static void beat_print(void *arg, FILE *to)
{
    double values[FINDINGS_MAX];
    beat_find(arg, values);
    for (size_t i = 0; beat_finds[i]; i++)
        fprintf(to, "%s%s %g", i ? ", " : "waits in dispatches: ", beat_finds[i], values[i]);
    fprintf(to, "\n");
}

static void beat_fini(void *arg)
{
    go_free(arg);
}

const struct workload workload_beat = {
    .name = "beat",
    .idea = "arrivals in the global queue at a fixed beat, beside a busy worker",
    .op = "arrival",
    .source = "Go 1.26 runtime/proc.go findRunnable",
    .style = STYLE_GOROUTINE,
    .params = beat_param_table,
    .params_size = sizeof(struct beat_params),
    .live_gs_max = beat_live_gs_max,
    .has_latency = beat_has_latency,
    .init = beat_init,
    .run = beat_run,
    .verify = beat_verify,
    .print = beat_print,
    .finds = beat_finds,
    .find = beat_find,
    .fini = beat_fini,
};
