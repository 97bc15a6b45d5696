/* lockskew.c - one goroutine holds a lock nearly all the time, others want it for a moment.
 *
 * Source: Go 1.26 sync/mutex_test.go TestMutexFairness.
 *   Differs: how long the holder leaves the lock alone, and whether it works or sleeps with it, are
 *            parameters; each wait is recorded.
 *
 * The holder takes the lock, keeps it for hold_ns, releases it and takes it again after gap_ns;
 * with hold=spin it works meanwhile, with hold=sleep it sleeps, as goroutines do. The takers make n
 * takes in all: each sleeps for pause_ns, and takes the lock and releases it at once. The latency
 * is what taking it took.
 *
 * Whoever releases a lock and wants it again at once is running, and its waiter is not. So it wins
 * each time if the lock is not fair. A lock that is handed over after a certain wait bounds the
 * latency to that wait and one hold.
 *
 * The holder stops when the last take is done. If it works, has the only worker and is never
 * stopped, no taker runs until it stops. So it holds the lock holds_max times at most. Takes after
 * that find the lock free, and the printed text says so.
 */
#include "workload.h"

#include "histogram.h"

#include <inttypes.h>

enum { LOCKSKEW_TAKERS_MAX = 10000, LOCKSKEW_LOOK_ROUNDS = 100 };

enum lockskew_hold { LOCKSKEW_SPIN, LOCKSKEW_SLEEP };

struct lockskew_params {
    int64_t n;
    int64_t takers;
    int64_t hold;
    int64_t hold_ns;
    int64_t gap_ns;
    int64_t pause_ns;
    int64_t holds_max;
};

struct lockskew_state;

struct lockskew_taker {
    struct lockskew_state *state;
    uint64_t share; /* how many takes it shall make */
    uint64_t takes; /* how many it made; read after it was waited for */
    struct histogram latency;
};

struct lockskew_state {
    struct lockskew_params params;
    struct lockskew_taker *takers;
    struct waitgroup gate; /* 1 until the holder has the lock */
    struct waitgroup taking, holding;
    struct mutex mu;
    uint64_t counter;  /* locks so far; protected by mu */
    _Atomic bool over; /* relaxed: it says only that the lock need not be held any more */
    /* the holder's, read after it was waited for */
    uint64_t holds;
    bool ended_early; /* takes were still to be made */
    struct histogram latency;
};

static const char *const lockskew_hold_words[] = {"spin", "sleep", NULL};

static const struct param lockskew_param_table[] = {
    PARAM_NUMBER(struct lockskew_params, n, 50, 1, 100000000, "takes", "schedlab",
                 "takes in all, dealt out evenly to the takers"),
    PARAM_NUMBER(struct lockskew_params, takers, 1, 1, LOCKSKEW_TAKERS_MAX, "Gs",
                 "Go 1.26 sync/mutex_test.go TestMutexFairness",
                 "how many goroutines want the lock briefly"),
    PARAM_WORD(struct lockskew_params, hold, lockskew_hold_words, LOCKSKEW_SLEEP,
               "Go 1.26 sync/mutex_test.go TestMutexFairness",
               "what the holder does while it holds the lock"),
    PARAM_NUMBER(struct lockskew_params, hold_ns, 100000, 0, 1000000000, "ns",
                 "Go 1.26 sync/mutex_test.go TestMutexFairness",
                 "how long the holder keeps the lock"),
    PARAM_NUMBER(struct lockskew_params, gap_ns, 0, 0, 1000000000, "ns",
                 "Go 1.26 sync/mutex_test.go TestMutexFairness",
                 "how long the holder works before it wants the lock again"),
    PARAM_NUMBER(struct lockskew_params, pause_ns, 100000, 0, 1000000000, "ns",
                 "Go 1.26 sync/mutex_test.go TestMutexFairness",
                 "how long a taker sleeps before each take"),
    PARAM_NUMBER(struct lockskew_params, holds_max, 20000, 1, 1000000000, "locks", "schedlab",
                 "the holder stops after so many holds, even if takes are left"),
    {0},
};

static uint64_t lockskew_live_gs_max(const void *params)
{
    return (uint64_t)((const struct lockskew_params *)params)->takers + 2; /* holder and main */
}

static bool lockskew_has_latency(const void *params)
{
    (void)params;
    return true;
}

static void *lockskew_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct lockskew_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct lockskew_params *)params;
    go_name_lock(&state->mu, "mu");
    uint64_t takers = (uint64_t)state->params.takers, n = (uint64_t)state->params.n;
    state->takers = go_alloc_zeroed(takers * sizeof state->takers[0]);
    for (uint64_t i = 0; i < takers; i++) {
        state->takers[i].state = state;
        state->takers[i].share = n / takers + (i < n % takers);
    }
    return state;
}

static void lockskew_spin(int64_t ns)
{
    for (int64_t end = go_now() + ns; go_now() < end;)
        go_work(LOCKSKEW_LOOK_ROUNDS);
}

static bool lockskew_is_over(const struct lockskew_state *state)
{
    return atomic_load_explicit(&state->over, memory_order_relaxed);
}

static void lockskew_holder_main(void *arg)
{
    struct lockskew_state *state = arg;
    const struct lockskew_params *params = &state->params;
    uint64_t holds = 0;
    do {
        mutex_lock(&state->mu);
        state->counter++;
        if (holds++ == 0)
            wg_done(&state->gate);
        if (params->hold == LOCKSKEW_SLEEP)
            go_sleep(params->hold_ns);
        else
            lockskew_spin(params->hold_ns);
        mutex_unlock(&state->mu);
        if (params->gap_ns > 0)
            lockskew_spin(params->gap_ns);
    } while (holds < (uint64_t)params->holds_max && !lockskew_is_over(state));
    state->holds = holds;
    state->ended_early = !lockskew_is_over(state);
    wg_done(&state->holding);
}

static void lockskew_taker_main(void *arg)
{
    struct lockskew_taker *self = arg;
    struct lockskew_state *state = self->state;
    wg_wait(&state->gate);
    for (; self->takes < self->share; self->takes++) {
        go_sleep(state->params.pause_ns);
        int64_t start = go_now();
        mutex_lock(&state->mu);
        int64_t end = go_now();
        state->counter++;
        mutex_unlock(&state->mu);
        histogram_record(&self->latency, end - start);
        go_request(0, start, end);
    }
    wg_done(&state->taking);
}

static void lockskew_run(void *arg, struct outcome *out)
{
    struct lockskew_state *state = arg;
    int64_t takers = state->params.takers;
    state->counter = 0;
    histogram_reset(&state->latency);
    atomic_store_explicit(&state->over, false, memory_order_relaxed);
    wg_add(&state->gate, 1);
    wg_add(&state->holding, 1);
    wg_add(&state->taking, (int32_t)takers);
    for (int64_t i = 0; i < takers; i++) {
        state->takers[i].takes = 0;
        histogram_reset(&state->takers[i].latency);
        go(lockskew_taker_main, &state->takers[i]);
    }
    int64_t start = go_now();
    go(lockskew_holder_main, state);
    wg_wait(&state->taking);
    out->time_ns = go_now() - start;
    atomic_store_explicit(&state->over, true, memory_order_relaxed);
    wg_wait(&state->holding);

    for (int64_t i = 0; i < takers; i++) {
        out->ops += state->takers[i].takes;
        out->digest += digest_mix(((uint64_t)i << 40) ^ state->takers[i].takes);
        histogram_merge(&state->latency, &state->takers[i].latency);
    }
    out->answer = state->counter - state->holds;
    out->latency = &state->latency;
}

/* Locks that were counted without being locked, or the other way round, leave other counts. */
static const char *lockskew_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct lockskew_state *state = arg;
    uint64_t n = (uint64_t)state->params.n, latencies = histogram_count(&state->latency);
    if (out->answer == n && out->ops == n && latencies == n)
        return NULL;
    snprintf(why, why_size,
             "expected %" PRIu64 " takes with a latency each, found %" PRIu64 " with %" PRIu64
             ", and %" PRIu64 " under the lock",
             n, out->ops, latencies, out->answer);
    return why;
}

static void lockskew_print(void *arg, FILE *to)
{
    const struct lockskew_state *state = arg;
    fprintf(to, "held: %" PRIu64 " times%s\n", state->holds,
            state->ended_early ? ", and no more: the last takes found the lock free" : "");
}

static void lockskew_fini(void *arg)
{
    struct lockskew_state *state = arg;
    go_free(state->takers);
    go_free(state);
}

const struct workload workload_lockskew = {
    .name = "lockskew",
    .idea = "one goroutine holds a lock nearly always, others want it briefly",
    .op = "take",
    .source = "Go 1.26 sync/mutex_test.go TestMutexFairness",
    .style = STYLE_GOROUTINE,
    .params = lockskew_param_table,
    .params_size = sizeof(struct lockskew_params),
    .live_gs_max = lockskew_live_gs_max,
    .has_latency = lockskew_has_latency,
    .init = lockskew_init,
    .run = lockskew_run,
    .verify = lockskew_verify,
    .print = lockskew_print,
    .fini = lockskew_fini,
};
