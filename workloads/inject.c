/* inject.c - goroutines that are started by threads which are no workers: one queue for all comers.
 *
 * Source: Tokio's benchmark benches/remote_spawn.rs (tokio-rs/tokio#7944).
 *   Differs: the threads are there before the clock starts but for the first call, and begin when
 *            they are woken, one after the other; there a barrier lets them go.
 *
 * `submitters` threads start n goroutines in all, n / submitters each, as fast as they can. None of
 * them runs any. So each goroutine goes through the queue that threads without a worker have, and
 * from there to a worker. Each does `rounds` of work and leaves a mark of its own: goroutine i adds
 * i + 1 to a slot. With rounds=0 this is the price of submitting.
 *
 * The time that counts is from before the threads are woken until the last goroutine is done.
 */
#include "workload.h"

#include <inttypes.h>

struct inject_params {
    int64_t n;
    int64_t submitters;
    int64_t rounds;
};

struct inject_state;

struct inject_slot {
    struct inject_state *state;
    /* its goroutine's, read after it was waited for */
    uint64_t mark;
    uint64_t result;
};

struct inject_state {
    struct inject_params params;
    struct inject_slot *slots;
    struct waitgroup done;
    bool refused; /* the variant takes none from outside */
};

static const struct param inject_param_table[] = {
    PARAM_NUMBER(struct inject_params, n, 20000, 1, 10000000, "Gs", "tokio-rs/tokio#7944",
                 "how many goroutines are started in all"),
    PARAM_NUMBER(struct inject_params, submitters, 4, 1, OUTSIDE_MAX, "threads",
                 "tokio-rs/tokio#8483", "how many threads that are no workers start them"),
    PARAM_NUMBER(struct inject_params, rounds, 0, 0, 1000000000, "rounds", "schedlab",
                 "work of a goroutine in rounds of go_work(), a few cycles each"),
    {0},
};

static uint64_t inject_live_gs_max(const void *params)
{
    return (uint64_t)((const struct inject_params *)params)->n + 1; /* and main */
}

/* They never wait, so that those which have not begun have no stack. */
static uint64_t inject_begun_gs_max(const void *params)
{
    (void)params;
    return 1; /* main */
}

static const char *inject_check(const void *params)
{
    const struct inject_params *p = params;
    return p->submitters > p->n ? "submitters must not be more than n" : NULL;
}

static const char *inject_skip(const void *params, const struct promises *promises)
{
    (void)params;
    return promises->outside ? NULL : "would have no queue for threads that are no workers";
}

static void *inject_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct inject_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct inject_params *)params;
    size_t n = (size_t)state->params.n;
    state->slots = go_alloc_zeroed(n * sizeof state->slots[0]);
    for (size_t i = 0; i < n; i++)
        state->slots[i].state = state;
    return state;
}

static uint64_t inject_work(const struct inject_state *state)
{
    return state->params.rounds > 0 ? go_work((uint64_t)state->params.rounds) : 0;
}

static void inject_g_main(void *arg)
{
    struct inject_slot *slot = arg;
    struct inject_state *state = slot->state;
    slot->result = inject_work(state);
    slot->mark += (uint64_t)(slot - state->slots) + 1;
    wg_done(&state->done);
}

static void inject_submitter(void *arg, int i)
{
    struct inject_state *state = arg;
    int64_t n = state->params.n, submitters = state->params.submitters;
    for (int64_t at = n * i / submitters; at < n * (i + 1) / submitters; at++)
        go_from_outside(inject_g_main, &state->slots[at]);
}

static void inject_run(void *arg, struct outcome *out)
{
    struct inject_state *state = arg;
    int64_t n = state->params.n;
    for (int64_t i = 0; i < n; i++)
        state->slots[i].mark = 0;
    wg_add(&state->done, (int32_t)n);
    int64_t start = go_now();
    state->refused = go_outside((int)state->params.submitters, inject_submitter, state) != 0;
    if (state->refused)
        return;
    wg_wait(&state->done);
    out->time_ns = go_now() - start;
    for (int64_t i = 0; i < n; i++) {
        out->answer += state->slots[i].mark + state->slots[i].result;
        out->digest += digest_mix(state->slots[i].mark);
    }
    out->ops = (uint64_t)n;
}

/* The marks are 1..n, each in its own slot; their sum has a closed formula. */
static const char *inject_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct inject_state *state = arg;
    uint64_t n = (uint64_t)state->params.n;
    if (state->refused) {
        snprintf(why, why_size, "threads outside could start no goroutine");
        return why;
    }
    for (uint64_t i = 0; i < n; i++) {
        if (state->slots[i].mark != i + 1) {
            snprintf(why, why_size,
                     "goroutine %" PRIu64 " of %" PRIu64 " left %" PRIu64 ", not %" PRIu64
                     " (0: it did not run)",
                     i, n, state->slots[i].mark, i + 1);
            return why;
        }
    }
    uint64_t sum = n * (n + 1) / 2 + n * inject_work(state);
    if (out->answer == sum && out->ops == n)
        return NULL;
    snprintf(why, why_size,
             "expected the sum %" PRIu64 " of %" PRIu64 " goroutines, found %" PRIu64
             " of %" PRIu64,
             sum, n, out->answer, out->ops);
    return why;
}

static void inject_fini(void *arg)
{
    struct inject_state *state = arg;
    go_free(state->slots);
    go_free(state);
}

const struct workload workload_inject = {
    .name = "inject",
    .idea = "threads that are no workers start goroutines: one queue for all",
    .op = "spawn",
    .source = "tokio-rs/tokio#7944 benches/remote_spawn.rs",
    .style = STYLE_GOROUTINE,
    .params = inject_param_table,
    .params_size = sizeof(struct inject_params),
    .live_gs_max = inject_live_gs_max,
    .begun_gs_max = inject_begun_gs_max,
    .check = inject_check,
    .skip = inject_skip,
    .init = inject_init,
    .run = inject_run,
    .verify = inject_verify,
    .fini = inject_fini,
};
