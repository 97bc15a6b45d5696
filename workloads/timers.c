/* timers.c - many goroutines that sleep, or many timers, some stopped or set anew, and how late.
 *
 * Source: schedlab; the kinds are those of Go's time: Sleep, and AfterFunc with Stop and Reset.
 *
 * n sleeps or timers are started one after the other. Number i is due `ns` after its start, and i /
 * n of spread_ns later than that. So with spread_ns=0 they come all together, with more one by one.
 *
 *   mode=sleep  a goroutine each, which sleeps
 *   mode=func   a timer each, which starts a goroutine
 *
 * With mode=func, when all have been started, the first `stop` of each hundred are stopped, and the
 * next `reset` of each hundred are set anew, to be due as long from then on. One that has happened
 * before it could be stopped stays so; one that has happened before it was set anew happens again.
 *
 * The latency is how late each was, from its due time to its goroutine's first step; those stopped
 * have none. One operation is a sleep or a timer, stopped or not. With spread_ns those that happen
 * are a load, of so many a second from when the first is due until the last is.
 */
#include "workload.h"

#include "histogram.h"
#include "load.h"

#include <inttypes.h>

enum { TIMERS_MAX = 10000000, PERCENT = 100, HAPPENS_MAX = 2 };

enum timers_mode { TIMERS_SLEEP, TIMERS_FUNC };

struct timers_params {
    int64_t n;
    int64_t mode;
    int64_t ns;
    int64_t spread_ns;
    int64_t stop;
    int64_t reset;
};

struct timers_state;

struct one_timer {
    struct timers_state *state;
    struct gotimer *timer;
    _Atomic int64_t due_ns;   /* relaxed: of one that has happened it may be the later one */
    _Atomic int32_t happened; /* relaxed: read when all have been waited for */
    int32_t stopped, again;   /* main's */
    int64_t late_ns[HAPPENS_MAX];
};

struct timers_state {
    struct timers_params params;
    struct one_timer *timers;
    struct waitgroup done;
    struct histogram latency;
};

static const char *const timers_mode_words[] = {"sleep", "func", NULL};

static const struct param timers_param_table[] = {
    PARAM_NUMBER(struct timers_params, n, 10000, 1, TIMERS_MAX, "timers", "schedlab",
                 "how many sleeps or timers there are"),
    PARAM_WORD(struct timers_params, mode, timers_mode_words, TIMERS_SLEEP, "schedlab",
               "sleep: goroutines that sleep; func: timers that start a goroutine each"),
    PARAM_NUMBER(struct timers_params, ns, 10000000, 1, 10000000000, "ns", "schedlab",
                 "time from the start of the first timer until it is due"),
    PARAM_NUMBER(struct timers_params, spread_ns, 0, 0, 10000000000, "ns", "schedlab",
                 "how much later the last timer is due than the first"),
    PARAM_NUMBER(struct timers_params, stop, 0, 0, PERCENT, "percent", "schedlab",
                 "share of timers that are stopped, with mode=func"),
    PARAM_NUMBER(struct timers_params, reset, 0, 0, PERCENT, "percent", "schedlab",
                 "share of timers that are set anew, with mode=func"),
    {0},
};

static uint64_t timers_live_gs_max(const void *params)
{
    const struct timers_params *p = params;
    return HAPPENS_MAX * (uint64_t)p->n + 1; /* and main */
}

static const char *timers_check(const void *params)
{
    const struct timers_params *p = params;
    if (p->mode == TIMERS_SLEEP && p->stop + p->reset > 0)
        return "who sleeps can be neither stopped nor set anew: stop and reset need mode=func";
    return p->stop + p->reset > PERCENT ? "stop and reset must not be more than 100 together"
                                        : NULL;
}

static bool timers_has_latency(const void *params)
{
    return ((const struct timers_params *)params)->stop < PERCENT;
}

static bool timers_is_paced(const void *params)
{
    (void)params;
    return true;
}

static void *timers_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct timers_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct timers_params *)params;
    state->timers = go_alloc_zeroed((size_t)state->params.n * sizeof state->timers[0]);
    for (int64_t i = 0; i < state->params.n; i++)
        state->timers[i].state = state;
    return state;
}

/* From its start to its due time. */
static int64_t timers_delay_ns(const struct timers_state *state, int64_t i)
{
    double part = (double)i / (double)state->params.n;
    return state->params.ns + (int64_t)(part * (double)state->params.spread_ns);
}

static void timers_happen(void *arg)
{
    struct one_timer *self = arg;
    int64_t now = go_now();
    int32_t times = atomic_fetch_add_explicit(&self->happened, 1, memory_order_relaxed);
    int64_t due_ns = atomic_load_explicit(&self->due_ns, memory_order_relaxed);
    if (times < HAPPENS_MAX)
        self->late_ns[times] = now - due_ns;
    go_request(0, due_ns, now);
    wg_done(&self->state->done);
}

static void timers_sleeper_main(void *arg)
{
    struct one_timer *self = arg;
    int64_t delay_ns = timers_delay_ns(self->state, self - self->state->timers);
    atomic_store_explicit(&self->due_ns, go_now() + delay_ns, memory_order_relaxed);
    go_sleep(delay_ns);
    timers_happen(self);
}

static void timers_start(struct timers_state *state, int64_t i)
{
    struct one_timer *one = &state->timers[i];
    one->timer = NULL;
    one->stopped = one->again = 0;
    atomic_store_explicit(&one->happened, 0, memory_order_relaxed);
    if (state->params.mode == TIMERS_SLEEP) {
        go(timers_sleeper_main, one);
        return;
    }
    int64_t delay_ns = timers_delay_ns(state, i);
    atomic_store_explicit(&one->due_ns, go_now() + delay_ns, memory_order_relaxed);
    one->timer = timer_func(delay_ns, timers_happen, one);
}

static void timers_stop(struct timers_state *state, struct one_timer *one)
{
    one->stopped = timer_stop(one->timer);
    if (one->stopped)
        wg_done(&state->done);
}

static void timers_reset(struct timers_state *state, struct one_timer *one)
{
    int64_t delay_ns = timers_delay_ns(state, one - state->timers);
    wg_add(&state->done, 1); /* as if it happened twice */
    atomic_store_explicit(&one->due_ns, go_now() + delay_ns, memory_order_relaxed);
    one->again = !timer_reset(one->timer, delay_ns);
    if (!one->again)
        wg_done(&state->done);
}

static void timers_collect(struct timers_state *state, struct outcome *out)
{
    for (int64_t i = 0; i < state->params.n; i++) {
        struct one_timer *one = &state->timers[i];
        int32_t happened = atomic_load_explicit(&one->happened, memory_order_relaxed);
        for (int32_t k = 0; k < happened && k < HAPPENS_MAX; k++)
            histogram_record(&state->latency, one->late_ns[k]);
        if (one->timer)
            timer_free(one->timer);
        int32_t counted = happened + one->stopped - one->again;
        out->answer += counted == 1;
        out->digest += digest_mix(((uint64_t)i << 40) ^ (uint64_t)counted);
    }
    out->ops = (uint64_t)state->params.n;
    if (timers_has_latency(&state->params))
        out->latency = &state->latency;
}

static void timers_run(void *arg, struct outcome *out)
{
    struct timers_state *state = arg;
    int64_t n = state->params.n;
    histogram_reset(&state->latency);
    wg_add(&state->done, (int32_t)n);
    int64_t start_ns = go_now();
    for (int64_t i = 0; i < n; i++)
        timers_start(state, i);
    for (int64_t i = 0; i < n; i++) {
        if (i % PERCENT < state->params.stop)
            timers_stop(state, &state->timers[i]);
        else if (i % PERCENT < state->params.stop + state->params.reset)
            timers_reset(state, &state->timers[i]);
    }
    wg_wait(&state->done);
    out->time_ns = go_now() - start_ns;
    timers_collect(state, out);
}

static const char *timers_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct timers_state *state = arg;
    uint64_t n = (uint64_t)state->params.n;
    if (out->answer == n && out->ops == n)
        return NULL;
    snprintf(why, why_size,
             "expected %" PRIu64 " that happened once each unless stopped, found %" PRIu64, n,
             out->answer);
    return why;
}

/* Timers that are due together are a burst, and no load. */
static void timers_print(void *arg, FILE *to)
{
    const struct timers_state *state = arg;
    int64_t count = 0, first_ns = INT64_MAX, last_ns = 0, end_ns = 0;
    for (int64_t i = 0; i < state->params.n; i++) {
        const struct one_timer *one = &state->timers[i];
        /* relaxed: all have been waited for */
        int32_t happened = atomic_load_explicit(&one->happened, memory_order_relaxed);
        int64_t due_ns = atomic_load_explicit(&one->due_ns, memory_order_relaxed);
        if (happened == 0)
            continue;
        count++;
        first_ns = due_ns < first_ns ? due_ns : first_ns;
        last_ns = due_ns > last_ns ? due_ns : last_ns;
        int32_t last = happened < HAPPENS_MAX ? happened : HAPPENS_MAX;
        int64_t ended_ns = due_ns + one->late_ns[last - 1];
        end_ns = ended_ns > end_ns ? ended_ns : end_ns;
    }
    if (state->params.spread_ns > 0 && last_ns > first_ns)
        load_print(to, (double)count * 1e9 / (double)(last_ns - first_ns), last_ns - first_ns,
                   end_ns - first_ns, "timers");
}

static void timers_fini(void *arg)
{
    struct timers_state *state = arg;
    go_free(state->timers);
    go_free(state);
}

const struct workload workload_timers = {
    .name = "timers",
    .idea = "many sleeps or timers, some stopped or set anew: how late they are",
    .op = "timer",
    .source = "schedlab",
    .style = STYLE_GOROUTINE,
    .params = timers_param_table,
    .params_size = sizeof(struct timers_params),
    .live_gs_max = timers_live_gs_max,
    .check = timers_check,
    .has_latency = timers_has_latency,
    .is_paced = timers_is_paced,
    .init = timers_init,
    .run = timers_run,
    .verify = timers_verify,
    .print = timers_print,
    .fini = timers_fini,
};
