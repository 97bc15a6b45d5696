/* arrivals.c - requests that arrive on a schedule of their own, whether or not the last ones have
 * been served: latency under a load that does not wait.
 *
 * Source: [Schroeder06] for open and closed loops; the rest is schedlab's own.
 *
 * A generator goroutine follows a schedule of Poisson arrivals, drawn when the state is made. The
 * gaps between arrivals are independent and exponential. `burst` requests come at each arrival, and
 * the mean over all is `rate` requests a second. Each request is a goroutine that does `rounds` of
 * work. Its latency runs from the moment at which it should have arrived to the end of its work. So
 * it includes the time that a late generator, a timer or a queue costs. A measurement from the
 * actual start leaves out just those requests that a stall kept from being made (coordinated
 * omission).
 *
 * The generator waits for the next arrival in one of two ways, since neither is free:
 *   wait=sleep  go_sleep(): the worker serves others, and the timer's lateness is part of latency
 *   wait=yield  gosched() until it is time: exact, but one worker never rests
 *
 * With `bytes` each request also counts itself in every cache line of a block of that size, which
 * all requests share. The lines are at hand where the last request ran; another worker has to fetch
 * them.
 *
 * Requests that arrive faster than they are served pile up, and their latency is then that of the
 * queue at the end of the run. So choose rate < workers / (time of one request). A run prints a
 * line if it served less than nine tenths of the load, and the report counts such samples.
 *
 * `schedlab run` prints the percentiles; `schedlab compare --metric p99` tells two runs apart.
 */
#include "workload.h"

#include "histogram.h"
#include "load.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>

#define ARRIVALS_SECONDS_MAX 60
#define ARRIVALS_LINE 64

enum arrivals_wait { ARRIVALS_SLEEP, ARRIVALS_YIELD };

struct arrivals_params {
    int64_t n;
    int64_t rate;
    int64_t burst;
    int64_t rounds;
    int64_t wait;
    int64_t bytes;
};

struct arrivals_state;

/* A cache line, so that neighbours on other workers are not disturbed. */
struct arrivals_request {
    struct arrivals_state *state;
    int64_t due_ns; /* after the run's start */
    /* the request's goroutine's, read after it was waited for */
    int64_t latency_ns;
    uint64_t result;
    uint64_t served; /* how often */
    char pad[24];
};
_Static_assert(sizeof(struct arrivals_request) == 64, "a request's record is a cache line");

struct arrivals_line {
    _Atomic uint64_t served; /* relaxed: read once all are done */
    char pad[ARRIVALS_LINE - sizeof(uint64_t)];
};

struct arrivals_state {
    struct arrivals_params params;
    struct arrivals_line *lines; /* bytes / ARRIVALS_LINE of them */
    struct arrivals_request *requests;
    int64_t start_ns; /* written before the first request is made */
    struct waitgroup done;
    struct histogram latency;
    uint64_t early; /* requests that ended before they were due */
};

static const char *const arrivals_wait_words[] = {"sleep", "yield", NULL};

static const struct param arrivals_param_table[] = {
    PARAM_NUMBER(struct arrivals_params, n, 2000, 1, 1000000, "requests", "schedlab",
                 "how many requests arrive in all"),
    PARAM_NUMBER(struct arrivals_params, rate, 10000, 1, 100000000, "requests/s", "schedlab",
                 "mean number of requests that arrive in a second"),
    PARAM_NUMBER(struct arrivals_params, burst, 1, 1, 100000, "requests", "schedlab",
                 "how many requests arrive at the same moment; the rate stays"),
    PARAM_NUMBER(struct arrivals_params, rounds, 5000, 0, 1000000000, "rounds", "schedlab",
                 "work of a request in rounds of go_work(), a few cycles each"),
    PARAM_WORD(struct arrivals_params, wait, arrivals_wait_words, ARRIVALS_SLEEP, "schedlab",
               "how the generator waits for the next arrival"),
    PARAM_NUMBER(struct arrivals_params, bytes, 0, 0, 16777216, "bytes", "schedlab",
                 "data that each request changes, a word per cache line; a multiple of 64"),
    {0},
};

static uint64_t arrivals_live_gs_max(const void *params)
{
    return (uint64_t)((const struct arrivals_params *)params)->n + 1;
}

static const char *arrivals_check(const void *params)
{
    const struct arrivals_params *p = params;
    if (p->burst > p->n)
        return "burst must not be more than n";
    if (p->bytes % ARRIVALS_LINE != 0)
        return "bytes must be a multiple of 64";
    if (p->n / p->rate >= ARRIVALS_SECONDS_MAX)
        return "n / rate must be less than 60: that is how many seconds a call takes";
    return NULL;
}

/* Exponential with the given mean, from 64 random bits. */
static double arrivals_gap(double mean, uint64_t bits)
{
    double unit = ((double)(bits >> 11) + 1.0) / 9007199254740992.0; /* in (0, 1] */
    return -mean * log(unit);
}

static bool arrivals_has_latency(const void *params)
{
    (void)params;
    return true;
}

static bool arrivals_is_paced(const void *params)
{
    (void)params;
    return true;
}

static void *arrivals_init(const void *params, uint64_t seed)
{
    struct arrivals_state *state = go_alloc_zeroed(sizeof(*state));
    state->params = *(const struct arrivals_params *)params;
    int64_t n = state->params.n, burst = state->params.burst;
    double mean_ns = 1e9 * (double)burst / (double)state->params.rate, due_ns = 0;
    state->requests = go_alloc_zeroed((size_t)n * sizeof(state->requests[0]));
    if (state->params.bytes > 0)
        state->lines = go_alloc_zeroed((size_t)state->params.bytes);
    for (int64_t i = 0; i < n; i++) {
        if (i % burst == 0)
            due_ns += arrivals_gap(mean_ns, digest_mix(seed ^ digest_mix((uint64_t)i)));
        state->requests[i].state = state;
        state->requests[i].due_ns = (int64_t)due_ns;
    }
    return state;
}

/* The result of request i, from its rounds of work. */
static uint64_t arrivals_result(const struct arrivals_state *state, int64_t i)
{
    return digest_mix(go_work((uint64_t)state->params.rounds) + (uint64_t)i);
}

static void arrivals_serve(struct arrivals_request *request)
{
    struct arrivals_state *state = request->state;
    request->result = arrivals_result(state, request - state->requests);
    for (int64_t i = 0; i < state->params.bytes / ARRIVALS_LINE; i++)
        atomic_fetch_add_explicit(&state->lines[i].served, 1, memory_order_relaxed);
    request->served++;
    int64_t now_ns = go_now(), due_ns = state->start_ns + request->due_ns;
    request->latency_ns = now_ns - due_ns;
    go_request(0, due_ns, now_ns);
}

static void arrivals_request_main(void *arg)
{
    struct arrivals_request *request = arg;
    arrivals_serve(request);
    wg_done(&request->state->done);
}

static void arrivals_await(const struct arrivals_state *state, int64_t due_ns)
{
    int64_t left_ns;
    while ((left_ns = state->start_ns + due_ns - go_now()) > 0) {
        if (state->params.wait == ARRIVALS_SLEEP)
            go_sleep(left_ns);
        else
            gosched();
    }
}

static void arrivals_reset(struct arrivals_state *state)
{
    for (int64_t i = 0; i < state->params.n; i++) {
        state->requests[i].result = state->requests[i].served = 0;
        state->requests[i].latency_ns = 0;
    }
    for (int64_t i = 0; i < state->params.bytes / ARRIVALS_LINE; i++)
        atomic_store_explicit(&state->lines[i].served, 0, memory_order_relaxed);
    histogram_reset(&state->latency);
    state->early = 0;
}

static void arrivals_collect(struct arrivals_state *state, struct outcome *out)
{
    for (int64_t i = 0; i < state->params.n; i++) {
        const struct arrivals_request *request = &state->requests[i];
        histogram_record(&state->latency, request->latency_ns);
        state->early += request->latency_ns < 0;
        out->ops += request->served;
        out->answer += request->result;
        out->digest += digest_mix(request->result ^ digest_mix(request->served));
    }
    out->latency = &state->latency;
}

static void arrivals_run(void *arg, struct outcome *out)
{
    struct arrivals_state *state = arg;
    int64_t n = state->params.n;
    arrivals_reset(state);
    wg_add(&state->done, (int32_t)n);
    state->start_ns = go_now();
    for (int64_t i = 0; i < n; i++) {
        arrivals_await(state, state->requests[i].due_ns);
        go(arrivals_request_main, &state->requests[i]);
    }
    wg_wait(&state->done);
    out->time_ns = go_now() - state->start_ns;
    arrivals_collect(state, out);
}

/* One server without a scheduler, which watches the clock when there is nothing to do. */
static void arrivals_run_serial(void *arg, struct outcome *out)
{
    struct arrivals_state *state = arg;
    arrivals_reset(state);
    state->start_ns = go_now();
    for (int64_t i = 0; i < state->params.n; i++) {
        while (go_now() - state->start_ns < state->requests[i].due_ns)
            continue;
        arrivals_serve(&state->requests[i]);
    }
    out->time_ns = go_now() - state->start_ns;
    arrivals_collect(state, out);
}

/* The results are found again one by one, with the work, which is the same for all, done once. */
static const char *arrivals_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct arrivals_state *state = arg;
    int64_t n = state->params.n;
    uint64_t work = go_work((uint64_t)state->params.rounds);
    for (int64_t i = 0; i < n; i++) {
        const struct arrivals_request *request = &state->requests[i];
        if (request->served != 1 || request->result != digest_mix(work + (uint64_t)i)) {
            snprintf(why, why_size,
                     "request %" PRId64 " of %" PRId64 " was served %" PRIu64
                     " times, with the result %" PRIx64,
                     i, n, request->served, request->result);
            return why;
        }
    }
    for (int64_t i = 0; i < state->params.bytes / ARRIVALS_LINE; i++) {
        uint64_t served = atomic_load_explicit(&state->lines[i].served, memory_order_relaxed);
        if (served != (uint64_t)n) {
            snprintf(why, why_size,
                     "line %" PRId64 " of the block was changed by %" PRIu64
                     " requests of %" PRId64,
                     i, served, n);
            return why;
        }
    }
    if (state->early > 0) {
        snprintf(why, why_size, "%" PRIu64 " requests ended before they were due", state->early);
        return why;
    }
    if (out->ops != (uint64_t)n || histogram_count(out->latency) != (uint64_t)n) {
        snprintf(why, why_size,
                 "expected %" PRId64 " requests and latencies, found %" PRIu64 " and %" PRIu64, n,
                 out->ops, histogram_count(out->latency));
        return why;
    }
    return NULL;
}

static void arrivals_print(void *arg, FILE *to)
{
    const struct arrivals_state *state = arg;
    int64_t due_ns = state->requests[state->params.n - 1].due_ns, end_ns = due_ns;
    for (int64_t i = 0; i < state->params.n; i++) {
        int64_t ended_ns = state->requests[i].due_ns + state->requests[i].latency_ns;
        end_ns = ended_ns > end_ns ? ended_ns : end_ns;
    }
    load_print(to, (double)state->params.rate, due_ns, end_ns, "requests");
}

static void arrivals_fini(void *arg)
{
    struct arrivals_state *state = arg;
    go_free(state->lines);
    go_free(state->requests);
    go_free(state);
}

const struct workload workload_arrivals = {
    .name = "arrivals",
    .idea = "requests that arrive by the clock (an open loop): latencies",
    .op = "request",
    .source = "[Schroeder06]",
    .style = STYLE_GOROUTINE,
    .params = arrivals_param_table,
    .params_size = sizeof(struct arrivals_params),
    .live_gs_max = arrivals_live_gs_max,
    .has_latency = arrivals_has_latency,
    .is_paced = arrivals_is_paced,
    .check = arrivals_check,
    .init = arrivals_init,
    .run = arrivals_run,
    .run_serial = arrivals_run_serial,
    .verify = arrivals_verify,
    .print = arrivals_print,
    .fini = arrivals_fini,
};
