/* hog.c - goroutines that keep their worker, and short tasks that want one beside them.
 *
 * Source: schedlab; the question is Go's of proposal 24543: what does it cost to stop a loop, and
 *         what does it cost not to?
 *
 * Each of the hogs does `chunks` chunks of `rounds` rounds of work. The parameter `calls` says what
 * it offers the scheduler between two chunks:
 *
 *   none   nothing: only an interrupt stops it
 *   chan   an element into a channel of its own and out again, which never waits
 *   check  go_preempt_point(), as a compiler would put it into a loop
 *   call   the shortest blocking call: sysmon, which watches calls, looks more often
 *
 * Meanwhile main sleeps from one due time to the next and starts a short task at each. A task's
 * latency is from its due time to its end: it includes main's own wait for a worker. Where nothing
 * stops a hog, a task waits for whole hogs; it does not wait forever, because hogs end.
 *
 * One operation is a chunk, and the time that counts ends with the last hog. So ns per operation is
 * the time of a chunk, divided by the workers that took part; stopping and asking make it grow.
 * Tasks are due for n * period_ns. Hogs that take longer run undisturbed after that.
 */
#include "workload.h"

#include "histogram.h"

#include <inttypes.h>

#define HOG_TASKS_NS_MAX INT64_C(60000000000)

enum hog_calls { HOG_NONE, HOG_CHAN, HOG_CHECK, HOG_CALL };

struct hog_params {
    int64_t hogs;
    int64_t chunks;
    int64_t rounds;
    int64_t calls;
    int64_t n;
    int64_t period_ns;
    int64_t work;
};

struct hog_state;

struct hog {
    struct hog_state *state;
    struct chan *own; /* calls=chan */
    /* its own until it was waited for */
    uint64_t result;
    int64_t end_ns;
};

struct hog_task {
    struct hog_state *state;
    /* its own until it was waited for */
    uint64_t result;
    int64_t latency_ns;
};

struct hog_state {
    struct hog_params params;
    struct hog *hogs;
    struct hog_task *tasks;
    int64_t start_ns; /* written before the first hog exists */
    struct waitgroup done;
    struct histogram latency;
};

static const char *const hog_calls_words[] = {"none", "chan", "check", "call", NULL};

static const struct param hog_param_table[] = {
    PARAM_NUMBER(struct hog_params, hogs, 2, 1, 10000, "Gs", "schedlab",
                 "how many goroutines keep their worker"),
    PARAM_NUMBER(struct hog_params, chunks, 10000, 1, 100000000, "chunks", "schedlab",
                 "chunks of work of each hog"),
    PARAM_NUMBER(struct hog_params, rounds, 5000, 0, 1000000000, "rounds", "schedlab",
                 "rounds of go_work() in a chunk of a hog, a few cycles each"),
    PARAM_WORD(struct hog_params, calls, hog_calls_words, HOG_NONE, "schedlab",
               "what a hog does between two chunks: nothing, a channel operation, a preemption "
               "check, a system call"),
    PARAM_NUMBER(struct hog_params, n, 50, 1, 1000000, "tasks", "schedlab",
                 "how many short tasks there are"),
    PARAM_NUMBER(struct hog_params, period_ns, 2000000, 1, 10000000000, "ns", "schedlab",
                 "a short task is due every so often"),
    PARAM_NUMBER(struct hog_params, work, 500, 0, 1000000000, "rounds", "schedlab",
                 "rounds of go_work() in a short task"),
    {0},
};

static uint64_t hog_live_gs_max(const void *params)
{
    const struct hog_params *p = params;
    return (uint64_t)p->hogs + (uint64_t)p->n + 1; /* and main */
}

static const char *hog_check(const void *params)
{
    const struct hog_params *p = params;
    return p->n > HOG_TASKS_NS_MAX / p->period_ns ? "n * period_ns must not be more than 60 s"
                                                  : NULL;
}

static bool hog_has_latency(const void *params)
{
    (void)params;
    return true;
}

static void *hog_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct hog_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct hog_params *)params;
    size_t hogs = (size_t)state->params.hogs, n = (size_t)state->params.n;
    state->hogs = go_alloc_zeroed(hogs * sizeof state->hogs[0]);
    state->tasks = go_alloc_zeroed(n * sizeof state->tasks[0]);
    for (size_t i = 0; i < hogs; i++)
        state->hogs[i].state = state;
    for (size_t i = 0; i < n; i++)
        state->tasks[i].state = state;
    return state;
}

static inline uint64_t hog_chunk(const struct hog_params *params, int64_t i)
{
    return digest_mix(go_work((uint64_t)params->rounds) + (uint64_t)i);
}

static inline void hog_between(const struct hog *self)
{
    uint64_t element = 0;
    switch (self->state->params.calls) {
    case HOG_CHAN:
        chan_try_send(self->own, &element);
        chan_try_recv(self->own, &element, NULL);
        break;
    case HOG_CHECK:
        go_preempt_point();
        break;
    case HOG_CALL:
        blocking_nop();
        break;
    default:
        break;
    }
}

static void hog_main(void *arg)
{
    struct hog *self = arg;
    struct hog_state *state = self->state;
    uint64_t result = 0;
    for (int64_t i = 0; i < state->params.chunks; i++) {
        result += hog_chunk(&state->params, i);
        hog_between(self);
    }
    self->result = result;
    self->end_ns = go_now();
    wg_done(&state->done);
}

static int64_t hog_task_due_ns(const struct hog_state *state, int64_t i)
{
    return state->start_ns + (i + 1) * state->params.period_ns;
}

static void hog_task_do(struct hog_task *task)
{
    const struct hog_state *state = task->state;
    int64_t i = task - state->tasks;
    task->result += digest_mix(go_work((uint64_t)state->params.work) ^ (uint64_t)i);
    int64_t now_ns = go_now(), due_ns = hog_task_due_ns(state, i);
    task->latency_ns = now_ns - due_ns;
    go_request(0, due_ns, now_ns);
}

static void hog_task_main(void *arg)
{
    struct hog_task *task = arg;
    hog_task_do(task);
    wg_done(&task->state->done);
}

static void hog_begin(struct hog_state *state)
{
    for (int64_t i = 0; i < state->params.n; i++)
        state->tasks[i].result = 0;
    histogram_reset(&state->latency);
    state->start_ns = go_now();
}

/* `end_ns` is the last hog's. */
static void hog_collect(struct hog_state *state, int64_t end_ns, struct outcome *out)
{
    const struct hog_params *params = &state->params;
    for (int64_t i = 0; i < params->n; i++) {
        out->answer += state->tasks[i].result;
        histogram_record(&state->latency, state->tasks[i].latency_ns);
    }
    for (int64_t i = 0; i < params->hogs; i++)
        out->answer += state->hogs[i].result;
    out->digest = digest_mix(out->answer);
    out->ops = (uint64_t)params->hogs * (uint64_t)params->chunks;
    out->latency = &state->latency;
    out->time_ns = end_ns - state->start_ns;
}

static void hog_run(void *arg, struct outcome *out)
{
    struct hog_state *state = arg;
    const struct hog_params *params = &state->params;
    int64_t end_ns = 0;
    hog_begin(state);
    wg_add(&state->done, (int32_t)(params->hogs + params->n));
    for (int64_t i = 0; i < params->hogs; i++) {
        if (params->calls == HOG_CHAN)
            state->hogs[i].own = chan_make(sizeof(uint64_t), 1);
        go(hog_main, &state->hogs[i]);
    }
    for (int64_t i = 0; i < params->n; i++) {
        int64_t left_ns = hog_task_due_ns(state, i) - go_now();
        if (left_ns > 0)
            go_sleep(left_ns);
        go(hog_task_main, &state->tasks[i]);
    }
    wg_wait(&state->done);
    for (int64_t i = 0; i < params->hogs; i++) {
        if (params->calls == HOG_CHAN)
            chan_free(state->hogs[i].own);
        if (state->hogs[i].end_ns > end_ns)
            end_ns = state->hogs[i].end_ns;
    }
    hog_collect(state, end_ns, out);
}

/* One loop that looks at the clock after every chunk: what a scheduler would do at best, with one
 * core. */
static void hog_run_serial(void *arg, struct outcome *out)
{
    struct hog_state *state = arg;
    const struct hog_params *params = &state->params;
    int64_t next = 0;
    hog_begin(state);
    for (int64_t h = 0; h < params->hogs; h++) {
        state->hogs[h].result = 0;
        for (int64_t i = 0; i < params->chunks; i++) {
            state->hogs[h].result += hog_chunk(params, i);
            while (next < params->n && go_now() >= hog_task_due_ns(state, next))
                hog_task_do(&state->tasks[next++]);
        }
    }
    int64_t end_ns = go_now();
    while (next < params->n)
        if (go_now() >= hog_task_due_ns(state, next))
            hog_task_do(&state->tasks[next++]);
    hog_collect(state, end_ns, out);
}

static const char *hog_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct hog_state *state = arg;
    const struct hog_params *params = &state->params;
    uint64_t chunk = go_work((uint64_t)params->rounds), task = go_work((uint64_t)params->work);
    uint64_t hog = 0, early = 0;
    for (int64_t i = 0; i < params->chunks; i++)
        hog += digest_mix(chunk + (uint64_t)i);
    uint64_t expected = hog * (uint64_t)params->hogs;
    for (int64_t i = 0; i < params->n; i++) {
        expected += digest_mix(task ^ (uint64_t)i);
        early += state->tasks[i].latency_ns < 0;
    }
    if (out->answer != expected || early > 0) {
        snprintf(why, why_size,
                 "expected the sum %" PRIx64 " and no task before its time, found %" PRIx64
                 " and %" PRIu64,
                 expected, out->answer, early);
        return why;
    }
    return NULL;
}

static void hog_fini(void *arg)
{
    struct hog_state *state = arg;
    go_free(state->tasks);
    go_free(state->hogs);
    go_free(state);
}

const struct workload workload_hog = {
    .name = "hog",
    .idea = "goroutines that never give way, beside short tasks: preemption",
    .op = "chunk",
    .source = "schedlab",
    .style = STYLE_GOROUTINE,
    .params = hog_param_table,
    .params_size = sizeof(struct hog_params),
    .live_gs_max = hog_live_gs_max,
    .has_latency = hog_has_latency,
    .check = hog_check,
    .init = hog_init,
    .run = hog_run,
    .run_serial = hog_run_serial,
    .verify = hog_verify,
    .fini = hog_fini,
};
