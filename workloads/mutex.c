/* mutex.c - goroutines that take turns at one lock.
 *
 * Source: Go 1.26 sync/mutex_test.go benchmarkMutex (MutexSlack: more goroutines than workers;
 *         MutexWork: work outside the lock).
 *   Differs: the critical section increments a plain counter, with `work` between its load and its
 *            store, so that two goroutines inside at once lose an increment.
 *
 * With latency=on each goroutine reads the clock before and after the lock and keeps a histogram of
 * its waits. The clock then takes a good part of a short critical section, so latency is off by
 * default.
 */
#include "workload.h"

#include "histogram.h"

#include <inttypes.h>

#define MUTEX_HISTOGRAMS_MAX 10000

struct mutex_params {
    int64_t n;
    int64_t goroutines;
    int64_t work;
    int64_t think;
    int64_t latency;
};

struct mutex_state;

struct mutex_worker {
    struct mutex_state *state;
    uint64_t share;            /* how often it shall lock */
    uint64_t locked;           /* how often it did; read after it was waited for */
    struct histogram *latency; /* its own; NULL if latency=off */
};

struct mutex_state {
    struct mutex_params params;
    struct mutex_worker *workers;
    struct histogram *histograms; /* one a worker, then the merged one; NULL if latency=off */
    struct waitgroup gate;        /* 1 until all workers exist */
    struct waitgroup done;
    char pad[64]; /* what follows is written all the time, what precedes is read */
    struct mutex mu;
    uint64_t counter; /* protected by mu */
    char pad_end[64];
};

static const char *const mutex_switch_words[] = {"off", "on", NULL};

static const struct param mutex_param_table[] = {
    PARAM_NUMBER(struct mutex_params, n, 1000000, 1, 10000000000, "locks", "schedlab",
                 "locks in all, dealt out evenly to the goroutines"),
    PARAM_NUMBER(struct mutex_params, goroutines, 8, 1, 1000000, "Gs", "schedlab",
                 "how many goroutines want the lock"),
    PARAM_NUMBER(struct mutex_params, work, 0, 0, 1000000000, "rounds", "schedlab",
                 "rounds of integer arithmetic with the lock held"),
    PARAM_NUMBER(struct mutex_params, think, 0, 0, 1000000000, "rounds",
                 "Go 1.26 sync/mutex_test.go",
                 "rounds of integer arithmetic between unlock and next lock"),
    PARAM_WORD(struct mutex_params, latency, mutex_switch_words, 0, "schedlab",
               "record how long each lock took; costs two clock reads"),
    {0},
};

static uint64_t mutex_live_gs_max(const void *params)
{
    return (uint64_t)((const struct mutex_params *)params)->goroutines + 1;
}

static const char *mutex_check(const void *params)
{
    const struct mutex_params *p = params;
    if (p->latency && p->goroutines > MUTEX_HISTOGRAMS_MAX)
        return "latency=on needs goroutines <= 10000, since each keeps a histogram";
    return NULL;
}

static bool mutex_has_latency(const void *params)
{
    return ((const struct mutex_params *)params)->latency;
}

static void *mutex_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct mutex_state *state = go_alloc_zeroed(sizeof(*state));
    state->params = *(const struct mutex_params *)params;
    go_name_lock(&state->mu, "mu");
    size_t workers = (size_t)state->params.goroutines;
    uint64_t n = (uint64_t)state->params.n;
    state->workers = go_alloc_zeroed(workers * sizeof(state->workers[0]));
    if (state->params.latency)
        state->histograms = go_alloc_zeroed((workers + 1) * sizeof(state->histograms[0]));
    for (size_t i = 0; i < workers; i++) {
        state->workers[i].state = state;
        state->workers[i].share = n / workers + (i < n % workers);
        state->workers[i].latency = state->histograms ? &state->histograms[i] : NULL;
    }
    return state;
}

static inline void mutex_critical_section(struct mutex_state *state, uint64_t work)
{
    uint64_t counter = state->counter;
    if (work)
        go_work(work);
    state->counter = counter + 1;
}

static uint64_t mutex_loop(struct mutex_state *state, uint64_t share)
{
    uint64_t work = (uint64_t)state->params.work, think = (uint64_t)state->params.think;
    uint64_t locked = 0;
    while (locked < share) {
        mutex_lock(&state->mu);
        mutex_critical_section(state, work);
        mutex_unlock(&state->mu);
        locked++;
        if (think)
            go_work(think);
    }
    return locked;
}

/* Apart from the loop above, so that the one which is timed by default has no clock in it. */
static uint64_t mutex_loop_latency(struct mutex_state *state, uint64_t share,
                                   struct histogram *latency)
{
    uint64_t work = (uint64_t)state->params.work, think = (uint64_t)state->params.think;
    uint64_t locked = 0;
    while (locked < share) {
        int64_t start = go_now();
        mutex_lock(&state->mu);
        int64_t end = go_now();
        mutex_critical_section(state, work);
        mutex_unlock(&state->mu);
        histogram_record(latency, end - start);
        go_request(0, start, end);
        locked++;
        if (think)
            go_work(think);
    }
    return locked;
}

static void mutex_worker_main(void *arg)
{
    struct mutex_worker *self = arg;
    struct mutex_state *state = self->state;
    wg_wait(&state->gate);
    self->locked = self->latency ? mutex_loop_latency(state, self->share, self->latency)
                                 : mutex_loop(state, self->share);
    wg_done(&state->done);
}

static void mutex_run(void *arg, struct outcome *out)
{
    struct mutex_state *state = arg;
    size_t workers = (size_t)state->params.goroutines;
    state->counter = 0;
    wg_add(&state->gate, 1);
    wg_add(&state->done, (int32_t)workers);
    for (size_t i = 0; i < workers; i++) {
        state->workers[i].locked = 0;
        if (state->workers[i].latency)
            histogram_reset(state->workers[i].latency);
        go(mutex_worker_main, &state->workers[i]);
    }

    int64_t start = go_now();
    wg_done(&state->gate);
    wg_wait(&state->done);
    out->time_ns = go_now() - start;

    out->latency = state->histograms ? &state->histograms[workers] : NULL;
    if (out->latency)
        histogram_reset(out->latency);
    for (size_t i = 0; i < workers; i++) {
        out->ops += state->workers[i].locked;
        out->digest += digest_mix(((uint64_t)i << 40) ^ state->workers[i].locked);
        if (out->latency)
            histogram_merge(out->latency, state->workers[i].latency);
    }
    out->answer = state->counter;
    out->digest += digest_mix(~out->answer);
}

static const char *mutex_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct mutex_state *state = arg;
    uint64_t n = (uint64_t)state->params.n;
    if (out->answer != n || out->ops != n) {
        snprintf(why, why_size,
                 "expected %" PRIu64 " increments under the lock, found %" PRIu64 " after %" PRIu64
                 " locks",
                 n, out->answer, out->ops);
        return why;
    }
    if (out->latency && histogram_count(out->latency) != n) {
        snprintf(why, why_size, "expected %" PRIu64 " latencies, found %" PRIu64, n,
                 histogram_count(out->latency));
        return why;
    }
    return NULL;
}

static void mutex_fini(void *arg)
{
    struct mutex_state *state = arg;
    go_free(state->histograms);
    go_free(state->workers);
    go_free(state);
}

const struct workload workload_mutex = {
    .name = "mutex",
    .idea = "goroutines take turns at one lock: contention, hand-over, waits",
    .op = "lock",
    .source = "Go 1.26 sync/mutex_test.go BenchmarkMutexSlack",
    .style = STYLE_GOROUTINE,
    .params = mutex_param_table,
    .params_size = sizeof(struct mutex_params),
    .live_gs_max = mutex_live_gs_max,
    .has_latency = mutex_has_latency,
    .check = mutex_check,
    .init = mutex_init,
    .run = mutex_run,
    .verify = mutex_verify,
    .fini = mutex_fini,
};
