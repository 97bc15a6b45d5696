/* calls.c - goroutines that make blocking calls, and goroutines that want their workers meanwhile.
 *
 * Source: schedlab; the delays are those that Go's sysmon has in taking a P from a system call: it
 *         depends on what happened before, because sysmon looks rarely when it has found nothing.
 *
 * `callers` goroutines make n calls in all: the thread sleeps in the kernel for sleep_ns, or with
 * sleep_ns=0 just goes there and comes back. Before each call there is a pause, the parameter
 * `before`, whose length is before_ns:
 *
 *   calls  none: one call follows the other
 *   busy   the caller works (it looks at the clock every PAUSE_ROUNDS rounds of work)
 *   idle   the caller sleeps as a goroutine, so that workers may have nothing to do
 *
 * With long_every=k calls are a mix of two lengths: of each k calls of a caller in a row one, which
 * the seed chooses, sleeps for long_ns. sleep_ns=0,long_ns=100M,long_every=1000 are calls of the
 * kernel's 0.1 us, and one in a thousand of 100 ms.
 *
 * The latency is one of two:
 *
 *   measure=return   from the end of the kernel's part to the caller's next step: how long it
 *                    waited for a worker; the kernel's own delay in waking the thread is not in it
 *   measure=handoff  just before its call a caller starts a goroutine, which lies in the queue of
 *                    the caller's worker, where there is one: from then until it runs. The caller
 *                    waits for it after the call. Where nobody takes the worker from the call, it
 *                    waits for the whole call.
 *   measure=ring     the same, but after it a second goroutine is started, so that it is not the
 *                    newest: where that one has a slot of its own, as Go's runnext, the first lies
 *                    in the queue. The latency is the first one's.
 *
 * With during=work the caller works for as long instead of calling: nobody can take its worker, but
 * an idle one may steal what lies there.
 *
 * Beside them, `beside` goroutines work until all calls are made, in chunks of `rounds` rounds.
 * With yields=on each gives way after every chunk. If they give no way and nothing stops them, they
 * keep the callers from calling. So each ends after beside_max chunks at the latest. Their work is
 * load and is not counted.
 */
#include "workload.h"

#include "histogram.h"

#include <inttypes.h>

enum { CALLS_CALLERS_MAX = 10000, PAUSE_ROUNDS = 1000 };

enum calls_before { CALLS_BACK_TO_BACK, CALLS_BUSY, CALLS_IDLE };
enum calls_measure { CALLS_RETURN, CALLS_HANDOFF, CALLS_RING };
enum calls_during { CALLS_KERNEL, CALLS_WORK };

struct calls_params {
    int64_t n;
    int64_t callers;
    int64_t sleep_ns;
    int64_t long_ns;
    int64_t long_every; /* 0: none is long */
    int64_t before;
    int64_t before_ns;
    int64_t measure;
    int64_t during;
    int64_t beside;
    int64_t rounds;
    int64_t yields;
    int64_t beside_max;
};

struct calls_state;

struct caller {
    struct calls_state *state;
    uint64_t share; /* how many calls it shall make */
    uint64_t seed;  /* which of them are long */
    /* its own until it was waited for */
    uint64_t made, made_long, ran_behind;
    int64_t behind_since_ns; /* written before the goroutine behind the call exists */
    struct histogram latency;
};

struct calls_state {
    struct calls_params params;
    struct caller *callers;
    struct waitgroup calling, beside;
    _Atomic bool over; /* relaxed: it says only that load is needed no more */
    struct histogram latency;
};

static const char *const calls_before_words[] = {"calls", "busy", "idle", NULL};
static const char *const calls_measure_words[] = {"return", "handoff", "ring", NULL};
static const char *const calls_during_words[] = {"kernel", "work", NULL};
static const char *const calls_yields_words[] = {"off", "on", NULL};

static const struct param calls_param_table[] = {
    PARAM_NUMBER(struct calls_params, n, 200, 1, 1000000000, "calls", "schedlab",
                 "how many calls there are, dealt out evenly to the callers"),
    PARAM_NUMBER(struct calls_params, callers, 1, 1, CALLS_CALLERS_MAX, "Gs", "schedlab",
                 "how many goroutines call"),
    PARAM_NUMBER(struct calls_params, sleep_ns, 100000, 0, 10000000000, "ns", "schedlab",
                 "how long a call sleeps in the kernel; 0: it comes back at once"),
    PARAM_NUMBER(struct calls_params, long_ns, 10000000, 0, 10000000000, "ns", "schedlab",
                 "how long a long call sleeps; see long_every"),
    PARAM_NUMBER(struct calls_params, long_every, 0, 0, 1000000000, "calls", "schedlab",
                 "one call in so many of a caller is long; 0: none"),
    PARAM_WORD(struct calls_params, before, calls_before_words, CALLS_BACK_TO_BACK, "schedlab",
               "what a caller does before each call: nothing (calls), work (busy), a sleep (idle)"),
    PARAM_NUMBER(struct calls_params, before_ns, 1000000, 0, 10000000000, "ns", "schedlab",
                 "how long it does so with before=busy or before=idle"),
    PARAM_WORD(struct calls_params, measure, calls_measure_words, CALLS_RETURN, "schedlab",
               "latency of the caller's return, of the newest goroutine queued behind it "
               "(handoff), or of one that is not the newest (ring)"),
    PARAM_WORD(struct calls_params, during, calls_during_words, CALLS_KERNEL, "schedlab",
               "what a caller does for sleep_ns: it sleeps in the kernel, or works"),
    PARAM_NUMBER(struct calls_params, beside, 0, 0, 10000, "Gs", "schedlab",
                 "how many other goroutines work until all calls are made"),
    PARAM_NUMBER(struct calls_params, rounds, 50000, 1, 1000000000, "rounds", "schedlab",
                 "rounds of go_work() that these work at a time, a few cycles each"),
    PARAM_WORD(struct calls_params, yields, calls_yields_words, 0, "schedlab",
               "whether these give way after each chunk of rounds"),
    PARAM_NUMBER(struct calls_params, beside_max, 10000, 1, 1000000000, "chunks", "schedlab",
                 "each of these ends after so many chunks, whatever the callers do"),
    {0},
};

/* With two goroutines behind each call. */
static uint64_t calls_live_gs_max(const void *params)
{
    const struct calls_params *p = params;
    return 3 * (uint64_t)p->callers + (uint64_t)p->beside + 1;
}

static const char *calls_check(const void *params)
{
    const struct calls_params *p = params;
    return p->during == CALLS_WORK && p->measure == CALLS_RETURN
               ? "during=work makes no call to return from: it needs measure=handoff or "
                 "measure=ring"
               : NULL;
}

static bool calls_has_latency(const void *params)
{
    (void)params;
    return true;
}

static void *calls_init(const void *params, uint64_t seed)
{
    struct calls_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct calls_params *)params;
    uint64_t callers = (uint64_t)state->params.callers, n = (uint64_t)state->params.n;
    state->callers = go_alloc_zeroed(callers * sizeof state->callers[0]);
    for (uint64_t i = 0; i < callers; i++) {
        state->callers[i].state = state;
        state->callers[i].share = n / callers + (i < n % callers);
        state->callers[i].seed = digest_mix(seed ^ digest_mix(i));
    }
    return state;
}

static void calls_work(int64_t ns)
{
    for (int64_t end = go_now() + ns; go_now() < end;)
        go_work(PAUSE_ROUNDS);
}

static void calls_pause(const struct calls_params *params)
{
    if (params->before == CALLS_IDLE)
        go_sleep(params->before_ns);
    if (params->before == CALLS_BUSY)
        calls_work(params->before_ns);
}

/* The place of the long call in this block of long_every calls, from 0. */
static uint64_t calls_long_place(const struct caller *self, uint64_t block)
{
    return digest_mix(self->seed ^ block) % (uint64_t)self->state->params.long_every;
}

/* Returns when the kernel's part was over. */
static int64_t calls_call(struct caller *self)
{
    const struct calls_params *params = &self->state->params;
    uint64_t every = (uint64_t)params->long_every;
    int64_t ns = params->sleep_ns;
    if (every > 0 && self->made % every == calls_long_place(self, self->made / every)) {
        ns = params->long_ns;
        self->made_long++;
    }
    if (params->during == CALLS_WORK) {
        calls_work(ns);
        return go_now();
    }
    return ns > 0 ? blocking_sleep(ns) : blocking_nop();
}

static void calls_behind_main(void *arg)
{
    struct caller *caller = arg;
    int64_t now_ns = go_now(), since_ns = caller->behind_since_ns;
    histogram_record(&caller->latency, now_ns - since_ns);
    go_request(0, since_ns, now_ns);
    caller->ran_behind++;
}

static void calls_newest_main(void *arg)
{
    (void)arg;
}

/* With one or two goroutines behind it. */
static void calls_call_before_others(struct caller *self)
{
    const struct calls_params *params = &self->state->params;
    bool two = params->measure == CALLS_RING;
    struct join behind, newest;
    self->behind_since_ns = go_now();
    join_go(&behind, calls_behind_main, self);
    if (two)
        join_go(&newest, calls_newest_main, NULL);
    calls_call(self);
    join_wait(&behind);
    if (two)
        join_wait(&newest);
}

static void calls_caller_main(void *arg)
{
    struct caller *self = arg;
    const struct calls_params *params = &self->state->params;
    for (; self->made < self->share; self->made++) {
        calls_pause(params);
        if (params->measure != CALLS_RETURN) {
            calls_call_before_others(self);
        } else {
            int64_t end = calls_call(self), now_ns = go_now();
            histogram_record(&self->latency, now_ns - end);
            go_request(0, end, now_ns);
        }
    }
    wg_done(&self->state->calling);
}

static void calls_beside_main(void *arg)
{
    struct calls_state *state = arg;
    for (int64_t i = 0; i < state->params.beside_max; i++) {
        if (atomic_load_explicit(&state->over, memory_order_relaxed))
            break;
        go_work((uint64_t)state->params.rounds);
        if (state->params.yields)
            gosched();
    }
    wg_done(&state->beside);
}

static void calls_run(void *arg, struct outcome *out)
{
    struct calls_state *state = arg;
    int64_t callers = state->params.callers, beside = state->params.beside;
    histogram_reset(&state->latency);
    atomic_store_explicit(&state->over, false, memory_order_relaxed);
    wg_add(&state->beside, (int32_t)beside);
    wg_add(&state->calling, (int32_t)callers);
    for (int64_t i = 0; i < beside; i++)
        go(calls_beside_main, state);
    int64_t start = go_now();
    for (int64_t i = 0; i < callers; i++) {
        struct caller *caller = &state->callers[i];
        caller->made = caller->made_long = caller->ran_behind = 0;
        histogram_reset(&caller->latency);
        go(calls_caller_main, caller);
    }
    wg_wait(&state->calling);
    out->time_ns = go_now() - start;
    atomic_store_explicit(&state->over, true, memory_order_relaxed);
    wg_wait(&state->beside);

    for (int64_t i = 0; i < callers; i++) {
        const struct caller *caller = &state->callers[i];
        histogram_merge(&state->latency, &caller->latency);
        out->ops += caller->made;
        out->answer += caller->made + caller->ran_behind;
        out->digest += digest_mix(((uint64_t)i << 40) ^ caller->made ^ (caller->ran_behind << 20) ^
                                  (caller->made_long << 30));
    }
    out->latency = &state->latency;
}

/* The long calls: one of each whole block, and that of the last block if the caller comes so
 * far. */
static uint64_t calls_long_expected(const struct caller *self)
{
    uint64_t every = (uint64_t)self->state->params.long_every;
    if (every == 0)
        return 0;
    uint64_t blocks = self->share / every;
    return blocks + (calls_long_place(self, blocks) < self->share % every);
}

static const char *calls_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct calls_state *state = arg;
    uint64_t n = (uint64_t)state->params.n;
    uint64_t behind = state->params.measure == CALLS_RETURN ? 0 : n;
    uint64_t latencies = histogram_count(out->latency);
    for (int64_t i = 0; i < state->params.callers; i++) {
        const struct caller *caller = &state->callers[i];
        if (caller->made_long != calls_long_expected(caller)) {
            snprintf(why, why_size,
                     "caller %" PRId64 ": expected %" PRIu64 " long calls, found %" PRIu64, i,
                     calls_long_expected(caller), caller->made_long);
            return why;
        }
    }
    if (out->ops == n && out->answer == n + behind && latencies == n)
        return NULL;
    snprintf(why, why_size,
             "expected %" PRIu64 " calls with a latency each and %" PRIu64
             " goroutines behind them, found %" PRIu64 ", %" PRIu64 " and %" PRIu64,
             n, behind, out->ops, latencies, out->answer - out->ops);
    return why;
}

static void calls_fini(void *arg)
{
    struct calls_state *state = arg;
    go_free(state->callers);
    go_free(state);
}

const struct workload workload_calls = {
    .name = "calls",
    .idea = "calls that block the thread: the return, and who waits behind",
    .op = "call",
    .source = "schedlab",
    .style = STYLE_GOROUTINE,
    .params = calls_param_table,
    .params_size = sizeof(struct calls_params),
    .live_gs_max = calls_live_gs_max,
    .has_latency = calls_has_latency,
    .check = calls_check,
    .init = calls_init,
    .run = calls_run,
    .verify = calls_verify,
    .fini = calls_fini,
};
