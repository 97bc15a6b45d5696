/* slice.c - how long a goroutine runs before it is stopped.
 *
 * Source: schedlab; Go's slice is 10 ms by the book, and what its watcher makes of it is 10 to 20.
 *
 * Nothing but hogs: each does `chunks` chunks of `rounds` rounds of work, and looks at the clock
 * after each chunk. A pause of more than gap_ns in which another hog has worked ends a slice. The
 * slice began at the end of the pause before. The second condition keeps pauses that other
 * processes cause out of the count. With one worker it keeps out all of them, with more only some.
 *
 * The latencies are the lengths of slices that were ended. The last slice of a hog ended by itself,
 * so it is left out, unless it is the only one. So if nothing stops a hog, there is one latency per
 * hog, its whole run.
 *
 * gap_ns lies above what a chunk takes, and below the shortest slice that is to be seen. With fewer
 * hogs than workers nobody has to be stopped.
 */
#include "workload.h"

#include "histogram.h"

#include <inttypes.h>

struct slice_params {
    int64_t hogs;
    int64_t chunks;
    int64_t rounds;
    int64_t gap_ns;
};

struct slice_state;

struct slice_hog {
    struct slice_state *state;
    struct histogram slices;
    uint64_t result;             /* read after it was waited for */
    char pad[64];                /* what follows is written after each chunk */
    _Atomic int64_t chunks_done; /* relaxed, all: a hint to the others, no data */
    char pad_end[64];
};

struct slice_state {
    struct slice_params params;
    struct slice_hog *hogs;
    struct waitgroup gate; /* 1 until all hogs exist */
    struct waitgroup done;
    struct histogram slices; /* of all */
};

static const struct param slice_param_table[] = {
    PARAM_NUMBER(struct slice_params, hogs, 2, 1, 10000, "Gs", "schedlab",
                 "how many goroutines compute"),
    PARAM_NUMBER(struct slice_params, chunks, 100000, 1, 100000000, "chunks", "schedlab",
                 "chunks of work of each goroutine"),
    PARAM_NUMBER(struct slice_params, rounds, 1000, 0, 1000000000, "rounds", "schedlab",
                 "rounds of go_work() between two looks at the clock, a few cycles each"),
    PARAM_NUMBER(struct slice_params, gap_ns, 50000, 1, 10000000000, "ns", "schedlab",
                 "two looks at the clock that are further apart had a pause between them"),
    {0},
};

static uint64_t slice_live_gs_max(const void *params)
{
    return (uint64_t)((const struct slice_params *)params)->hogs + 1; /* and main */
}

static bool slice_has_latency(const void *params)
{
    (void)params;
    return true;
}

static void *slice_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct slice_state *state = go_alloc_zeroed(sizeof *state);
    state->params = *(const struct slice_params *)params;
    size_t hogs = (size_t)state->params.hogs;
    state->hogs = go_alloc_zeroed(hogs * sizeof state->hogs[0]);
    for (size_t i = 0; i < hogs; i++)
        state->hogs[i].state = state;
    return state;
}

/* The chunks that the other hogs have done so far. */
static int64_t slice_others_done(const struct slice_hog *self)
{
    const struct slice_state *state = self->state;
    int64_t done = 0;
    for (int64_t i = 0; i < state->params.hogs; i++)
        if (&state->hogs[i] != self)
            done += atomic_load_explicit(&state->hogs[i].chunks_done, memory_order_relaxed);
    return done;
}

static inline uint64_t slice_chunk(const struct slice_params *params, int64_t i)
{
    return digest_mix(go_work((uint64_t)params->rounds) + (uint64_t)i);
}

static void slice_hog_work(struct slice_hog *self)
{
    const struct slice_params *params = &self->state->params;
    int64_t begin = go_now(), last = begin, others = slice_others_done(self);
    uint64_t result = 0;
    bool stopped = false;
    for (int64_t i = 0; i < params->chunks; i++) {
        result += slice_chunk(params, i);
        atomic_store_explicit(&self->chunks_done, i + 1, memory_order_relaxed);
        int64_t now = go_now();
        if (now - last > params->gap_ns) {
            int64_t others_now = slice_others_done(self);
            if (others_now != others) {
                histogram_record(&self->slices, last - begin);
                go_request(0, begin, last);
                stopped = true;
                begin = now;
                others = others_now;
            }
        }
        last = now;
    }
    if (!stopped) {
        histogram_record(&self->slices, last - begin);
        go_request(0, begin, last);
    }
    self->result = result;
}

static void slice_hog_main(void *arg)
{
    struct slice_hog *self = arg;
    wg_wait(&self->state->gate);
    slice_hog_work(self);
    wg_done(&self->state->done);
}

static void slice_reset(struct slice_state *state)
{
    for (int64_t i = 0; i < state->params.hogs; i++) {
        histogram_reset(&state->hogs[i].slices);
        atomic_store_explicit(&state->hogs[i].chunks_done, 0, memory_order_relaxed);
    }
    histogram_reset(&state->slices);
}

static void slice_collect(struct slice_state *state, struct outcome *out)
{
    for (int64_t i = 0; i < state->params.hogs; i++) {
        histogram_merge(&state->slices, &state->hogs[i].slices);
        out->answer += state->hogs[i].result;
    }
    out->digest = digest_mix(out->answer);
    out->ops = (uint64_t)state->params.hogs * (uint64_t)state->params.chunks;
    out->latency = &state->slices;
}

static void slice_run(void *arg, struct outcome *out)
{
    struct slice_state *state = arg;
    slice_reset(state);
    wg_add(&state->gate, 1);
    wg_add(&state->done, (int32_t)state->params.hogs);
    for (int64_t i = 0; i < state->params.hogs; i++)
        go(slice_hog_main, &state->hogs[i]);
    int64_t start = go_now();
    wg_done(&state->gate);
    wg_wait(&state->done);
    out->time_ns = go_now() - start;
    slice_collect(state, out);
}

/* One after the other: nobody is stopped. */
static void slice_run_serial(void *arg, struct outcome *out)
{
    struct slice_state *state = arg;
    slice_reset(state);
    for (int64_t i = 0; i < state->params.hogs; i++)
        slice_hog_work(&state->hogs[i]);
    slice_collect(state, out);
}

static const char *slice_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    const struct slice_state *state = arg;
    uint64_t chunk = go_work((uint64_t)state->params.rounds), hog = 0;
    for (int64_t i = 0; i < state->params.chunks; i++)
        hog += digest_mix(chunk + (uint64_t)i);
    uint64_t expected = hog * (uint64_t)state->params.hogs;
    if (out->answer != expected) {
        snprintf(why, why_size, "expected the sum %" PRIx64 " of all chunks, found %" PRIx64,
                 expected, out->answer);
        return why;
    }
    if (histogram_count(out->latency) < (uint64_t)state->params.hogs) {
        snprintf(why, why_size, "expected a slice or more of %" PRId64 " hogs, found %" PRIu64,
                 state->params.hogs, histogram_count(out->latency));
        return why;
    }
    return NULL;
}

static void slice_fini(void *arg)
{
    struct slice_state *state = arg;
    go_free(state->hogs);
    go_free(state);
}

const struct workload workload_slice = {
    .name = "slice",
    .idea = "goroutines that only compute: how long their time slices are",
    .op = "chunk",
    .source = "schedlab",
    .style = STYLE_GOROUTINE,
    .params = slice_param_table,
    .params_size = sizeof(struct slice_params),
    .live_gs_max = slice_live_gs_max,
    .has_latency = slice_has_latency,
    .init = slice_init,
    .run = slice_run,
    .run_serial = slice_run_serial,
    .verify = slice_verify,
    .fini = slice_fini,
};
