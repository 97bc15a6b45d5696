/* wakers.c - goroutines that descriptors wake beside goroutines that timers wake: which of the two
 * waits longer for a worker?
 *
 * Source: schedlab; the question is that of Go issue 36752.
 *
 * In each period_ns a source writes a message to each connection, which is a pipe with a reader.
 * Each sleeper also wakes once in that time: `together` of them at the same moment and the next
 * ones a part of the period later. Readers and sleepers do `rounds` of work each time. All follow a
 * schedule of their own and catch up if they are late. So workers with too little time left show in
 * the waits and not in fewer wake-ups. Choose (connections + sleepers) x (time of one) below
 * period_ns x workers.
 *
 * A reader's wait is from just before its message is written to when it has it, a sleeper's from
 * the end of its sleep to its next step. The latencies are the readers' waits. It finds the mean
 * waits network_wait_ns and timer_wait_ns, and the first over the second, network_over_timer.
 *
 * One operation is a message, or a sleep.
 */
#include "workload.h"

#include "histogram.h"
#include "load.h"
#include "runtime/io.h"

#include <inttypes.h>
#include <string.h>

#define WAKERS_TIME_NS_MAX INT64_C(60000000000)

enum { WAKERS_FIRST_NS = 1000000 }; /* from the start to the first period: all have begun by then */

struct wakers_params {
    int64_t n;
    int64_t connections;
    int64_t sleepers;
    int64_t together;
    int64_t period_ns;
    int64_t rounds;
};

struct wakers_state;

/* A reader or a sleeper; all but the first three are its own until it was waited for. */
struct waker {
    struct wakers_state *state;
    struct io *from, *to; /* a reader's; main's */
    uint64_t result;
    int64_t wait_ns; /* of all together */
    int64_t *waits_ns;
    int64_t error; /* 0, or -errno */
};

struct wakers_message {
    int64_t written_ns;
    uint64_t number;
};

struct wakers_state {
    struct wakers_params params;
    struct waker *readers, *sleepers;
    int64_t *waits_ns; /* the readers' */
    int64_t start_ns;  /* of the first period; written before anybody else exists */
    int64_t time_ns;   /* from there until all had done their last period */
    int64_t error;     /* of making a pipe or writing: 0, or -errno */
    struct waitgroup done;
    struct histogram latency;
};

static const struct param wakers_param_table[] = {
    PARAM_NUMBER(struct wakers_params, n, 100, 1, 1000000, "periods", "schedlab",
                 "messages that each reader gets, and sleeps of each sleeper"),
    PARAM_NUMBER(struct wakers_params, connections, 16, 1, 10000, "connections", "schedlab",
                 "how many readers wait for a pipe"),
    PARAM_NUMBER(struct wakers_params, sleepers, 16, 1, 10000, "Gs", "schedlab",
                 "how many goroutines sleep"),
    PARAM_NUMBER(struct wakers_params, together, 4, 1, 10000, "Gs", "schedlab",
                 "how many sleeps end at the same moment"),
    PARAM_NUMBER(struct wakers_params, period_ns, 1000000, 1, 10000000000, "ns", "schedlab",
                 "a message comes to each connection, and a sleep ends, every so often"),
    PARAM_NUMBER(struct wakers_params, rounds, 5000, 0, 1000000000, "rounds", "schedlab",
                 "rounds of go_work() after each wake-up, a few cycles each"),
    {0},
};

static uint64_t wakers_live_gs_max(const void *params)
{
    const struct wakers_params *p = params;
    return (uint64_t)p->connections + (uint64_t)p->sleepers + 2; /* the source, and main */
}

static const char *wakers_check(const void *params)
{
    const struct wakers_params *p = params;
    if (p->n > WAKERS_TIME_NS_MAX / p->period_ns)
        return "n * period_ns must not be more than 60 s";
    return p->n * p->connections > 20000000 ? "n * connections must not be more than 20000000"
                                            : NULL;
}

/* Both ends of each pipe. */
static uint64_t wakers_polls(const void *params)
{
    return 2 * (uint64_t)((const struct wakers_params *)params)->connections;
}

static bool wakers_has_latency(const void *params)
{
    (void)params;
    return true;
}

static bool wakers_is_paced(const void *params)
{
    (void)params;
    return true;
}

static void *wakers_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct wakers_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct wakers_params *)params;
    size_t connections = (size_t)state->params.connections, n = (size_t)state->params.n;
    size_t sleepers = (size_t)state->params.sleepers;
    state->readers = go_alloc_zeroed(connections * sizeof state->readers[0]);
    state->sleepers = go_alloc_zeroed(sleepers * sizeof state->sleepers[0]);
    state->waits_ns = go_alloc_zeroed(connections * n * sizeof state->waits_ns[0]);
    for (size_t i = 0; i < connections; i++) {
        state->readers[i].state = state;
        state->readers[i].waits_ns = &state->waits_ns[i * n];
    }
    for (size_t i = 0; i < sleepers; i++)
        state->sleepers[i].state = state;
    return state;
}

static inline uint64_t wakers_work(const struct wakers_params *params, uint64_t number)
{
    return digest_mix(go_work((uint64_t)params->rounds) + number);
}

/* Sleeps until then, unless it is later already. */
static void wakers_sleep_until(int64_t due_ns)
{
    int64_t left_ns = due_ns - go_now();
    if (left_ns > 0)
        go_sleep(left_ns);
}

static void wakers_reader_main(void *arg)
{
    struct waker *self = arg;
    const struct wakers_params *params = &self->state->params;
    struct wakers_message message;
    for (int64_t i = 0; i < params->n; i++) {
        int64_t got = io_read_full(self->from, &message, sizeof message);
        if (got != (int64_t)sizeof message) {
            self->error = got < 0 ? got : -1;
            break;
        }
        int64_t now_ns = go_now();
        self->waits_ns[i] = now_ns - message.written_ns;
        go_request(0, message.written_ns, now_ns);
        self->wait_ns += self->waits_ns[i];
        self->result += wakers_work(params, message.number);
    }
    wg_done(&self->state->done);
}

static void wakers_sleeper_main(void *arg)
{
    struct waker *self = arg;
    const struct wakers_state *state = self->state;
    const struct wakers_params *params = &state->params;
    int64_t index = self - state->sleepers, group = index - index % params->together;
    int64_t due_ns = state->start_ns + params->period_ns * group / params->sleepers;
    for (int64_t i = 0; i < params->n; i++, due_ns += params->period_ns) {
        wakers_sleep_until(due_ns);
        self->wait_ns += go_now() - due_ns;
        self->result += wakers_work(params, (uint64_t)i);
    }
    wg_done(&self->state->done);
}

static void wakers_source_main(void *arg)
{
    struct wakers_state *state = arg;
    const struct wakers_params *params = &state->params;
    for (int64_t i = 0; i < params->n; i++) {
        wakers_sleep_until(state->start_ns + i * params->period_ns);
        for (int64_t c = 0; c < params->connections; c++) {
            struct wakers_message message = {go_now(), (uint64_t)i};
            int64_t put = io_write_all(state->readers[c].to, &message, sizeof message);
            if (put < 0)
                state->error = put; /* a reader waits for ever; the sample's time limit ends it */
        }
    }
    wg_done(&state->done);
}

/* The first `count` of them. */
static void wakers_pipes_free(struct wakers_state *state, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        io_free(state->readers[i].from);
        io_free(state->readers[i].to);
    }
}

/* All or none. */
static int64_t wakers_pipes_make(struct wakers_state *state)
{
    for (int64_t i = 0; i < state->params.connections; i++) {
        struct waker *reader = &state->readers[i];
        int64_t error = io_pipe(&reader->from, &reader->to, IO_POLLED);
        if (error) {
            wakers_pipes_free(state, i);
            return error;
        }
    }
    return 0;
}

static void wakers_start(struct waker *waker, void (*fn)(void *))
{
    waker->result = 0;
    waker->wait_ns = waker->error = 0;
    go(fn, waker);
}

static void wakers_collect(struct wakers_state *state, struct outcome *out)
{
    const struct wakers_params *params = &state->params;
    for (int64_t i = 0; i < params->connections; i++)
        out->answer += state->readers[i].result;
    for (int64_t i = 0; i < params->sleepers; i++)
        out->answer += state->sleepers[i].result;
    for (int64_t i = 0; i < params->connections * params->n; i++)
        histogram_record(&state->latency, state->waits_ns[i]);
    out->digest = digest_mix(out->answer);
    out->ops = (uint64_t)params->n * (uint64_t)(params->connections + params->sleepers);
    out->latency = &state->latency;
}

static void wakers_run(void *arg, struct outcome *out)
{
    struct wakers_state *state = arg;
    const struct wakers_params *params = &state->params;
    histogram_reset(&state->latency);
    state->error = wakers_pipes_make(state);
    if (state->error)
        return;
    wg_add(&state->done, (int32_t)(params->connections + params->sleepers + 1));
    state->start_ns = go_now() + WAKERS_FIRST_NS;
    for (int64_t i = 0; i < params->connections; i++)
        wakers_start(&state->readers[i], wakers_reader_main);
    for (int64_t i = 0; i < params->sleepers; i++)
        wakers_start(&state->sleepers[i], wakers_sleeper_main);
    go(wakers_source_main, state);
    wg_wait(&state->done);
    state->time_ns = out->time_ns = go_now() - state->start_ns;
    wakers_pipes_free(state, params->connections);
    wakers_collect(state, out);
}

/* Each reader and each sleeper has worked once in each period: all have the same sum. */
static const char *wakers_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct wakers_state *state = arg;
    const struct wakers_params *params = &state->params;
    uint64_t work = go_work((uint64_t)params->rounds), sum = 0;
    int64_t error = state->error;
    for (int64_t i = 0; i < params->connections && !error; i++)
        error = state->readers[i].error;
    if (error) {
        snprintf(why, why_size, "%" PRId64 " pipes: %s", params->connections,
                 strerror((int)-error));
        return why;
    }
    for (int64_t i = 0; i < params->n; i++)
        sum += digest_mix(work + (uint64_t)i);
    uint64_t wakers = (uint64_t)params->connections + (uint64_t)params->sleepers;
    if (out->answer == sum * wakers && out->ops == wakers * (uint64_t)params->n)
        return NULL;
    snprintf(why, why_size, "expected the sum %" PRIx64 " of %" PRIu64 " wakers, found %" PRIx64,
             sum * wakers, wakers, out->answer);
    return why;
}

static const char *const wakers_finds[] = {"network_wait_ns", "timer_wait_ns", "network_over_timer",
                                           NULL};

static double wakers_mean_ns(const struct waker *wakers, int64_t count, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)wakers[i].wait_ns;
    return sum / (double)(count * n);
}

static void wakers_find(void *arg, double *values)
{
    const struct wakers_state *state = arg;
    const struct wakers_params *params = &state->params;
    values[0] = wakers_mean_ns(state->readers, params->connections, params->n);
    values[1] = wakers_mean_ns(state->sleepers, params->sleepers, params->n);
    values[2] = values[0] / values[1];
}

static void wakers_print(void *arg, FILE *to)
{
    const struct wakers_state *state = arg;
    const struct wakers_params *params = &state->params;
    double values[FINDINGS_MAX];
    wakers_find(arg, values);
    fprintf(to, "mean waits: %.1f us of readers, %.1f us of sleepers, %.2f times as long\n",
            values[0] / 1e3, values[1] / 1e3, values[2]);
    double each_period = (double)(params->connections + params->sleepers);
    load_print(to, each_period * 1e9 / (double)params->period_ns, params->n * params->period_ns,
               state->time_ns, "wake-ups");
}

static void wakers_fini(void *arg)
{
    struct wakers_state *state = arg;
    go_free(state->waits_ns);
    go_free(state->sleepers);
    go_free(state->readers);
    go_free(state);
}

const struct workload workload_wakers = {
    .name = "wakers",
    .idea = "readers woken by I/O, sleepers woken by timers: who waits longer",
    .op = "wake-up",
    .source = "golang/go issue 36752",
    .style = STYLE_GOROUTINE,
    .params = wakers_param_table,
    .params_size = sizeof(struct wakers_params),
    .live_gs_max = wakers_live_gs_max,
    .has_latency = wakers_has_latency,
    .is_paced = wakers_is_paced,
    .check = wakers_check,
    .polls = wakers_polls,
    .init = wakers_init,
    .run = wakers_run,
    .verify = wakers_verify,
    .print = wakers_print,
    .finds = wakers_finds,
    .find = wakers_find,
    .fini = wakers_fini,
};
