/* rwmutex.c - goroutines that read, and now and then write, under one read-write mutex.
 *
 * Source: Go 1.26 sync/rwmutex_test.go benchmarkRWMutex (every 100th or every 10th lock a write;
 *         RWMutexWorkWrite: work outside the lock).
 *   Differs: there are two counters that a writer increments one after the other, with `work` in
 *            between, and that a reader finds equal, or somebody was inside who may not be.
 */
#include "workload.h"

#include <inttypes.h>

struct rwmutex_params {
    int64_t n;
    int64_t goroutines;
    int64_t ratio;
    int64_t work;
    int64_t think;
};

struct rwmutex_state;

struct rwmutex_worker {
    struct rwmutex_state *state;
    uint64_t share; /* how often it shall lock */
    /* read after it was waited for */
    uint64_t reads, writes, torn;
};

struct rwmutex_state {
    struct rwmutex_params params;
    struct rwmutex_worker *workers;
    struct waitgroup gate; /* 1 until all workers exist */
    struct waitgroup done;
    char pad[64]; /* what follows is written all the time, what precedes is read */
    struct rwmutex rw;
    uint64_t first, second; /* protected by rw; equal but for a writer */
    char pad_end[64];
};

static const struct param rwmutex_param_table[] = {
    PARAM_NUMBER(struct rwmutex_params, n, 1000000, 1, 10000000000, "locks", "schedlab",
                 "locks in all, dealt out evenly to the goroutines"),
    PARAM_NUMBER(struct rwmutex_params, goroutines, 8, 1, 1000000, "Gs", "schedlab",
                 "how many goroutines want the lock"),
    PARAM_NUMBER(struct rwmutex_params, ratio, 100, 0, 10000000000, "locks",
                 "Go 1.26 sync/rwmutex_test.go",
                 "one in so many of a goroutine's locks is for writing; 0: none"),
    PARAM_NUMBER(struct rwmutex_params, work, 0, 0, 1000000000, "rounds", "schedlab",
                 "rounds of integer arithmetic with the lock held"),
    PARAM_NUMBER(struct rwmutex_params, think, 0, 0, 1000000000, "rounds",
                 "Go 1.26 sync/rwmutex_test.go",
                 "rounds of integer arithmetic between unlock and next lock"),
    {0},
};

static uint64_t rwmutex_live_gs_max(const void *params)
{
    return (uint64_t)((const struct rwmutex_params *)params)->goroutines + 1;
}

static void *rwmutex_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct rwmutex_state *state = go_alloc_zeroed(sizeof(*state));
    state->params = *(const struct rwmutex_params *)params;
    size_t workers = (size_t)state->params.goroutines;
    uint64_t n = (uint64_t)state->params.n;
    state->workers = go_alloc_zeroed(workers * sizeof(state->workers[0]));
    for (size_t i = 0; i < workers; i++) {
        state->workers[i].state = state;
        state->workers[i].share = n / workers + (i < n % workers);
    }
    return state;
}

static void rwmutex_write(struct rwmutex_state *state, uint64_t work)
{
    rwmutex_lock(&state->rw);
    state->first++;
    if (work)
        go_work(work);
    state->second++;
    rwmutex_unlock(&state->rw);
}

/* 1 if the counters differ. */
static uint64_t rwmutex_read(struct rwmutex_state *state, uint64_t work)
{
    rwmutex_read_lock(&state->rw);
    uint64_t first = state->first;
    if (work)
        go_work(work);
    uint64_t torn = state->second != first;
    rwmutex_read_unlock(&state->rw);
    return torn;
}

static void rwmutex_worker_main(void *arg)
{
    struct rwmutex_worker *self = arg;
    struct rwmutex_state *state = self->state;
    uint64_t work = (uint64_t)state->params.work, think = (uint64_t)state->params.think;
    uint64_t ratio = (uint64_t)state->params.ratio, share = self->share;
    uint64_t reads = 0, writes = 0, torn = 0, until_write = ratio;
    wg_wait(&state->gate);
    while (reads + writes < share) {
        if (until_write == 1) {
            rwmutex_write(state, work);
            writes++;
            until_write = ratio;
        } else {
            torn += rwmutex_read(state, work);
            reads++;
            until_write--; /* from 0, no writes, it is 2^64 locks to 1 */
        }
        if (think)
            go_work(think);
    }
    self->reads = reads;
    self->writes = writes;
    self->torn = torn;
    wg_done(&state->done);
}

static void rwmutex_run(void *arg, struct outcome *out)
{
    struct rwmutex_state *state = arg;
    size_t workers = (size_t)state->params.goroutines;
    state->first = state->second = 0;
    wg_add(&state->gate, 1);
    wg_add(&state->done, (int32_t)workers);
    for (size_t i = 0; i < workers; i++)
        go(rwmutex_worker_main, &state->workers[i]);

    int64_t start = go_now();
    wg_done(&state->gate);
    wg_wait(&state->done);
    out->time_ns = go_now() - start;

    for (size_t i = 0; i < workers; i++) {
        const struct rwmutex_worker *worker = &state->workers[i];
        out->ops += worker->reads + worker->writes;
        out->digest += digest_mix(((uint64_t)i << 40) ^ worker->reads);
    }
    out->answer = state->second;
    out->digest += digest_mix(~out->answer);
}

static const char *rwmutex_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct rwmutex_state *state = arg;
    uint64_t n = (uint64_t)state->params.n, ratio = (uint64_t)state->params.ratio, writes = 0;
    for (int64_t i = 0; i < state->params.goroutines; i++) {
        const struct rwmutex_worker *worker = &state->workers[i];
        writes += ratio ? worker->share / ratio : 0;
        if (worker->torn) {
            snprintf(why, why_size,
                     "goroutine %" PRId64 " read beside a writer in %" PRIu64 " of %" PRIu64
                     " reads",
                     i, worker->torn, worker->reads);
            return why;
        }
    }
    if (out->answer != writes || state->first != writes || out->ops != n) {
        snprintf(why, why_size,
                 "expected %" PRIu64 " writes, found %" PRIu64 " and %" PRIu64 " after %" PRIu64
                 " locks",
                 writes, state->first, out->answer, out->ops);
        return why;
    }
    return NULL;
}

static void rwmutex_fini(void *arg)
{
    struct rwmutex_state *state = arg;
    go_free(state->workers);
    go_free(state);
}

const struct workload workload_rwmutex = {
    .name = "rwmutex",
    .idea = "many read, now and then one writes: crowds of readers let in",
    .op = "lock",
    .source = "Go 1.26 sync/rwmutex_test.go BenchmarkRWMutexWrite100",
    .style = STYLE_GOROUTINE,
    .params = rwmutex_param_table,
    .params_size = sizeof(struct rwmutex_params),
    .live_gs_max = rwmutex_live_gs_max,
    .init = rwmutex_init,
    .run = rwmutex_run,
    .verify = rwmutex_verify,
    .fini = rwmutex_fini,
};
