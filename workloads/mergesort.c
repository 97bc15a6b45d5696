/* mergesort.c - sort 64-bit keys: spawn one half, sort the other, merge.
 *
 * Source: [Frigo98] s.6 (cilksort); the parallel merge is that of [CLRS09] s.27.3.
 *   Differs: halves instead of quarters; merge sort, not quicksort, below the cut-off.
 *
 * Two arrays take turns: a range ends up in `to` by sorting its halves into `tmp`, with `to` as
 * their scratch space, and merging from there. Leaves read the input, which stays as it is, so that
 * every call of run() does the same work without copying first.
 *
 * With merge=serial the last merge is one loop over all keys, and the span O(n), not O(log^3 n).
 */
#include "leaves.h"
#include "workload.h"

#include <inttypes.h>
#include <string.h>

enum msort_merge { MSORT_PARALLEL, MSORT_SERIAL };

enum {
    MSORT_SAMPLES = 64, /* keys that make up the answer; verify() looks at all */
};

struct msort_params {
    int64_t n;
    int64_t cutoff;
    int64_t merge;
};

struct msort_state {
    struct msort_params params;
    uint64_t *in;
    uint64_t *to, *tmp;
    uint64_t checksum; /* of the input, whatever its order */
};

struct msort {
    struct fj_task task;
    const struct msort_params *params;
    const uint64_t *in;
    uint64_t *to, *tmp;
    size_t n;
};

struct msort_merge_task {
    struct fj_task task;
    struct leaf_span a, b;
    uint64_t *to;
    size_t cutoff;
};

static const char *const msort_merge_words[] = {"parallel", "serial", NULL};

static const struct param msort_param_table[] = {
    PARAM_NUMBER(struct msort_params, n, 1000000, 1, INT64_C(1) << 28, "keys", "schedlab",
                 "keys to sort"),
    PARAM_NUMBER(struct msort_params, cutoff, 2048, 32, INT64_C(1) << 28, "keys", "[Frigo98]",
                 "ranges up to this size are sorted, and merged, by plain calls"),
    PARAM_WORD(struct msort_params, merge, msort_merge_words, MSORT_PARALLEL, "[CLRS09]",
               "how sorted halves are merged: by tasks (parallel) or by one loop (serial)"),
    {0},
};

/* How many of the span's keys are less than key. */
static size_t msort_rank(struct leaf_span span, uint64_t key)
{
    size_t low = 0;
    while (span.count > 0) {
        size_t half = span.count / 2;
        if (span.keys[low + half] < key) {
            low += half + 1;
            span.count -= half + 1;
        } else {
            span.count = half;
        }
    }
    return low;
}

/* Halves the longer span; keys of the shorter one that are below the cut go with the low half. */
static void msort_merge(struct fj_frame *up, struct fj_task *task)
{
    const struct msort_merge_task *self = FJ_SELF(task, struct msort_merge_task);
    if (self->a.count + self->b.count <= self->cutoff) {
        leaf_merge(self->a, self->b, self->to);
        return;
    }
    struct leaf_span a = self->a, b = self->b;
    if (a.count < b.count) {
        a = self->b;
        b = self->a;
    }
    size_t half = a.count / 2;
    size_t rank = msort_rank(b, a.keys[half]);
    struct msort_merge_task low, high;
    low.a = (struct leaf_span){a.keys, half};
    low.b = (struct leaf_span){b.keys, rank};
    low.to = self->to;
    high.a = (struct leaf_span){a.keys + half, a.count - half};
    high.b = (struct leaf_span){b.keys + rank, b.count - rank};
    high.to = self->to + half + rank;
    low.cutoff = high.cutoff = self->cutoff;
    struct fj_frame frame;
    fj_open(&frame, up);
    fj_spawn(&frame, &low.task, msort_merge);
    msort_merge(&frame, &high.task);
    fj_sync(&frame);
}

static void msort_sort(struct fj_frame *up, struct fj_task *task)
{
    const struct msort *self = FJ_SELF(task, struct msort);
    size_t cutoff = (size_t)self->params->cutoff;
    if (self->n <= cutoff) {
        leaf_sort(self->in, self->to, self->tmp, self->n);
        return;
    }
    size_t half = self->n / 2;
    struct msort low = *self, high = *self;
    low.n = half;
    low.to = self->tmp;
    low.tmp = self->to;
    high.n = self->n - half;
    high.in = self->in + half;
    high.to = self->tmp + half;
    high.tmp = self->to + half;
    struct fj_frame frame;
    fj_open(&frame, up);
    fj_spawn(&frame, &low.task, msort_sort);
    msort_sort(&frame, &high.task);
    fj_sync(&frame);

    struct msort_merge_task merge;
    merge.a = (struct leaf_span){low.to, low.n};
    merge.b = (struct leaf_span){high.to, high.n};
    merge.to = self->to;
    merge.cutoff = cutoff;
    if (self->params->merge == MSORT_PARALLEL)
        msort_merge(&frame, &merge.task);
    else
        leaf_merge(merge.a, merge.b, merge.to);
}

/* The answer: keys at even distances. Cheap, so that it does not dilute what is measured. */
static uint64_t msort_sample(const struct msort_state *state)
{
    uint64_t sum = 0;
    size_t n = (size_t)state->params.n;
    for (size_t i = 0; i < MSORT_SAMPLES; i++)
        sum += digest_mix(state->to[i * n / MSORT_SAMPLES] + i);
    return sum;
}

static void msort_finish(const struct msort_state *state, struct outcome *out)
{
    out->answer = msort_sample(state);
    out->ops = (uint64_t)state->params.n;
    out->digest = digest_mix(out->answer) + digest_mix(~out->ops);
}

static void msort_run(void *state_, struct outcome *out)
{
    struct msort_state *state = state_;
    struct msort root;
    root.params = &state->params;
    root.in = state->in;
    root.to = state->to;
    root.tmp = state->tmp;
    root.n = (size_t)state->params.n;
    struct fj_frame up;
    fj_begin(&up);
    msort_sort(&up, &root.task);
    fj_end(&up);
    msort_finish(state, out);
}

static void msort_run_serial(void *state_, struct outcome *out)
{
    struct msort_state *state = state_;
    leaf_sort(state->in, state->to, state->tmp, (size_t)state->params.n);
    msort_finish(state, out);
}

/* The same for every order of the same keys, different for other keys. */
static uint64_t msort_checksum(const uint64_t *keys, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += digest_mix(keys[i]);
    return sum;
}

/* Sorted, and the keys of the input: then it is the input, sorted. Wipes the result afterwards, so
 * that the next run cannot pass with this one's. */
static const char *msort_verify(void *state_, const struct outcome *out, char *why, size_t why_size)
{
    struct msort_state *state = state_;
    size_t n = (size_t)state->params.n, sorted = 1;
    while (sorted < n && state->to[sorted - 1] <= state->to[sorted])
        sorted++;
    uint64_t checksum = msort_checksum(state->to, n), sample = msort_sample(state);
    memset(state->to, 0, n * sizeof *state->to);
    if (sorted < n)
        snprintf(why, why_size,
                 "mergesort: expected %zu sorted keys, found key %zu less than the one before", n,
                 sorted);
    else if (checksum != state->checksum)
        snprintf(why, why_size,
                 "mergesort: expected keys with checksum %016" PRIx64 ", found %016" PRIx64,
                 state->checksum, checksum);
    else if (out->answer != sample || out->ops != n)
        snprintf(why, why_size,
                 "mergesort: expected %zu keys and answer %016" PRIx64 ", found %" PRIu64
                 " keys and %016" PRIx64,
                 n, sample, out->ops, out->answer);
    else
        return NULL;
    return why;
}

/* Each sort and each merge spawns one child, so there are at most as many as leaves. A leaf of the
 * sort has at least cutoff / 2 keys, one of the merges at least (cutoff - 1) / 4: the half of the
 * longer span. Merges under way at one time are of different keys. */
static uint64_t msort_live_gs_max(const void *params_)
{
    const struct msort_params *params = params_;
    uint64_t n = (uint64_t)params->n, cutoff = (uint64_t)params->cutoff;
    if (n <= cutoff)
        return 1;
    return 1 + 2 * n / cutoff + (params->merge == MSORT_PARALLEL ? 4 * n / (cutoff - 1) : 0);
}

static void *msort_init(const void *params, uint64_t seed)
{
    struct msort_state *state = go_alloc(sizeof *state);
    state->params = *(const struct msort_params *)params;
    size_t n = (size_t)state->params.n;
    uint64_t *in = go_alloc(n * sizeof *in);
    for (size_t i = 0; i < n; i++)
        in[i] = digest_mix(seed + i);
    state->in = in;
    state->checksum = msort_checksum(in, n);
    /* written here, so that the first run does not pay for fresh pages */
    state->to = memset(go_alloc(n * sizeof *in), 0, n * sizeof *in);
    state->tmp = memset(go_alloc(n * sizeof *in), 0, n * sizeof *in);
    return state;
}

static void msort_fini(void *state_)
{
    struct msort_state *state = state_;
    go_free(state->in);
    go_free(state->to);
    go_free(state->tmp);
    go_free(state);
}

const struct workload workload_mergesort = {
    .name = "mergesort",
    .idea = "divide and conquer over memory: tasks that stream through arrays",
    .op = "element",
    .source = "[Frigo98]",
    .style = STYLE_FORKJOIN,
    .params = msort_param_table,
    .params_size = sizeof(struct msort_params),
    .live_gs_max = msort_live_gs_max,
    .init = msort_init,
    .run = msort_run,
    .run_serial = msort_run_serial,
    .verify = msort_verify,
    .fini = msort_fini,
};
