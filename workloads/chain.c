/* chain.c - a chain of short-lived goroutines, each of which starts the next, and victims that wait
 * behind it.
 *
 * Source: schedlab; the starvation is that of Go issue 52934.
 *
 * Main starts the victims, then the first link, and waits. A link does `rounds` rounds of work,
 * starts the next link, and ends; the n-th starts none. With a slot for the newest goroutine, as
 * Go's runnext, the next link runs in the slice of the one before. The victims in the queue then
 * wait until the slice ends, which is when a request to stop hits a link before it ends. Without
 * preemption they wait for the n links. If the queue is a FIFO, they run before the second link.
 *
 * queue=global: go_global() starts the victims, so they wait in the queue that all workers share. A
 * worker with work of its own looks into that queue only now and then.
 *
 * A victim's latency is from just before it was started to its first step. One operation is a link.
 */
#include "workload.h"

#include "histogram.h"

#include <inttypes.h>

struct chain_params {
    int64_t n;
    int64_t rounds;
    int64_t victims;
    int64_t queue; /* enum chain_queue */
};
enum chain_queue { CHAIN_LOCAL, CHAIN_GLOBAL };

struct chain_state;

struct chain_victim {
    struct chain_state *state;
    int64_t start_ns; /* written before it exists */
    /* its own until it was waited for */
    int64_t latency_ns;
    uint64_t ran; /* how often */
};

struct chain_state {
    struct chain_params params;
    struct chain_victim *victims;
    /* of the link that runs; go() hands them over to the next one */
    uint64_t links, sum;
    struct waitgroup links_done, victims_done;
    struct histogram latency;
};

static const char *const chain_queue_words[] = {"local", "global", NULL};

static const struct param chain_param_table[] = {
    PARAM_NUMBER(struct chain_params, n, 10000, 1, 1000000000, "links", "schedlab",
                 "links of the chain"),
    PARAM_NUMBER(struct chain_params, rounds, 1000, 0, 1000000000, "rounds", "schedlab",
                 "rounds of go_work() of a link, a few cycles each"),
    PARAM_NUMBER(struct chain_params, victims, 10, 1, 1000000, "Gs", "schedlab",
                 "how many goroutines wait behind the chain"),
    PARAM_WORD(struct chain_params, queue, chain_queue_words, CHAIN_LOCAL, "schedlab",
               "where the victims wait: with main's worker, or in the global queue"),
    {0},
};

/* Where go() runs the child first, all links may be alive: each has still to end. */
static uint64_t chain_live_gs_max(const void *params)
{
    const struct chain_params *p = params;
    return (uint64_t)p->n + (uint64_t)p->victims + 1;
}

static bool chain_has_latency(const void *params)
{
    (void)params;
    return true;
}

static void *chain_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct chain_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct chain_params *)params;
    size_t victims = (size_t)state->params.victims;
    state->victims = go_alloc_zeroed(victims * sizeof state->victims[0]);
    for (size_t i = 0; i < victims; i++)
        state->victims[i].state = state;
    return state;
}

static inline void chain_link_do(struct chain_state *state)
{
    state->sum += digest_mix(go_work((uint64_t)state->params.rounds) + state->links);
    state->links++;
}

/* Leaves links and sum alone once the next link exists. */
static void chain_link_main(void *arg)
{
    struct chain_state *state = arg;
    chain_link_do(state);
    if (state->links < (uint64_t)state->params.n)
        go(chain_link_main, state);
    wg_done(&state->links_done);
}

static void chain_victim_main(void *arg)
{
    struct chain_victim *self = arg;
    int64_t now_ns = go_now(), start_ns = self->start_ns;
    self->latency_ns = now_ns - start_ns;
    go_request(0, start_ns, now_ns);
    self->ran++;
    wg_done(&self->state->victims_done);
}

static void chain_collect(struct chain_state *state, struct outcome *out)
{
    for (int64_t i = 0; i < state->params.victims; i++) {
        const struct chain_victim *victim = &state->victims[i];
        histogram_record(&state->latency, victim->latency_ns);
        out->digest += digest_mix(((uint64_t)i << 40) ^ victim->ran);
    }
    out->latency = &state->latency;
    out->answer = state->sum;
    out->digest += digest_mix(state->sum);
    out->ops = state->links;
}

static void chain_reset(struct chain_state *state)
{
    state->links = state->sum = 0;
    for (int64_t i = 0; i < state->params.victims; i++)
        state->victims[i].ran = 0;
    histogram_reset(&state->latency);
}

static void chain_run(void *arg, struct outcome *out)
{
    struct chain_state *state = arg;
    chain_reset(state);
    wg_add(&state->links_done, (int32_t)state->params.n);
    wg_add(&state->victims_done, (int32_t)state->params.victims);
    for (int64_t i = 0; i < state->params.victims; i++) {
        state->victims[i].start_ns = go_now();
        if (state->params.queue == CHAIN_GLOBAL)
            go_global(chain_victim_main, &state->victims[i]);
        else
            go(chain_victim_main, &state->victims[i]);
    }
    int64_t start = go_now();
    go(chain_link_main, state);
    wg_wait(&state->links_done);
    out->time_ns = go_now() - start;
    wg_wait(&state->victims_done);
    chain_collect(state, out);
}

/* The victims first: they are not to wait. */
static void chain_run_serial(void *arg, struct outcome *out)
{
    struct chain_state *state = arg;
    chain_reset(state);
    for (int64_t i = 0; i < state->params.victims; i++) {
        state->victims[i].latency_ns = 0;
        state->victims[i].ran++;
    }
    int64_t start = go_now();
    while (state->links < (uint64_t)state->params.n)
        chain_link_do(state);
    out->time_ns = go_now() - start;
    chain_collect(state, out);
}

static const char *chain_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct chain_state *state = arg;
    uint64_t n = (uint64_t)state->params.n, work = go_work((uint64_t)state->params.rounds), sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += digest_mix(work + i);
    if (out->answer != sum || out->ops != n) {
        snprintf(why, why_size,
                 "expected the sum %" PRIx64 " of %" PRIu64 " links, found %" PRIx64 " of %" PRIu64,
                 sum, n, out->answer, out->ops);
        return why;
    }
    for (int64_t i = 0; i < state->params.victims; i++) {
        if (state->victims[i].ran != 1) {
            snprintf(why, why_size, "victim %" PRId64 " ran %" PRIu64 " times, not once", i,
                     state->victims[i].ran);
            return why;
        }
    }
    return NULL;
}

static void chain_fini(void *arg)
{
    struct chain_state *state = arg;
    go_free(state->victims);
    go_free(state);
}

const struct workload workload_chain = {
    .name = "chain",
    .idea = "each goroutine starts the next, others wait behind: starvation",
    .op = "link",
    .source = "Go issue 52934",
    .style = STYLE_GOROUTINE,
    .params = chain_param_table,
    .params_size = sizeof(struct chain_params),
    .live_gs_max = chain_live_gs_max,
    .has_latency = chain_has_latency,
    .init = chain_init,
    .run = chain_run,
    .run_serial = chain_run_serial,
    .verify = chain_verify,
    .fini = chain_fini,
};
