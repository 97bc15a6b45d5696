/* scan.c - prefix sums in parallel: two walks over one tree, the second needs all of the first.
 *
 * A workload of fork/join for `schedlab build` to compile. It does so once per policy, since this
 * file opens frames (sched_variants/runtime/forkjoin.h has their rules). So children are
 * goroutines under gmp, queued tasks under tasksteal, and calls whose caller may be stolen under
 * contsteal. All functions are static: four copies are linked, of which only the workload's name
 * tells the policy.
 *
 *     schedlab build examples/scan.c
 *     schedlab run tasksteal contsteal gmp ./scan.slv,n=100000 --workers 2
 *
 *   sum   each range adds up its two halves, and writes the sum at its node
 *   scan  each range knows what comes before it; its right half adds the left half's sum
 *
 * Nodes are numbered as in a heap: the root is 1, the halves of i are 2 i and 2 i + 1.
 *
 * Source: schedlab; two walks in place of one loop are the usual way to do it.
 */
#include "workload.h"

#include <inttypes.h>
#include <string.h>

struct scan_params {
    int64_t n;
    int64_t grain;
};

struct scan_state {
    struct scan_params params;
    uint64_t *in, *out;
    uint64_t *sums; /* by node; each walk writes or reads a node once */
};

/* A range and its node. */
struct scan_task {
    struct fj_task task;
    const struct scan_state *state;
    size_t node, first, count;
    uint64_t before; /* scan: the sum of all in front of it */
};

static const struct param scan_param_table[] = {
    PARAM_NUMBER(struct scan_params, n, 1000000, 1, 100000000, "numbers", "schedlab",
                 "how many numbers are summed up"),
    PARAM_NUMBER(struct scan_params, grain, 512, 1, 100000000, "numbers", "schedlab",
                 "ranges up to this length are one loop"),
    {0},
};

static bool scan_is_leaf(const struct scan_task *self)
{
    return self->count <= (size_t)self->state->params.grain;
}

static struct scan_task scan_half(const struct scan_task *self, bool right)
{
    struct scan_task half = *self;
    size_t left = self->count - self->count / 2;
    half.node = 2 * self->node + right;
    half.first = right ? self->first + left : self->first;
    half.count = right ? self->count / 2 : left;
    return half;
}

static void scan_sum(struct fj_frame *up, struct fj_task *task)
{
    struct scan_task *self = FJ_SELF(task, struct scan_task);
    uint64_t *sums = self->state->sums;
    if (scan_is_leaf(self)) {
        uint64_t sum = 0;
        for (size_t i = 0; i < self->count; i++)
            sum += self->state->in[self->first + i];
        sums[self->node] = sum;
        return;
    }
    struct scan_task left = scan_half(self, false), right = scan_half(self, true);
    struct fj_frame frame;
    fj_open(&frame, up);
    fj_spawn(&frame, &left.task, scan_sum);
    scan_sum(&frame, &right.task); /* an ordinary call */
    fj_sync(&frame);
    sums[self->node] = sums[left.node] + sums[right.node];
}

static void scan_scan(struct fj_frame *up, struct fj_task *task)
{
    struct scan_task *self = FJ_SELF(task, struct scan_task);
    if (scan_is_leaf(self)) {
        uint64_t sum = self->before;
        for (size_t i = self->first; i < self->first + self->count; i++)
            self->state->out[i] = sum += self->state->in[i];
        return;
    }
    struct scan_task left = scan_half(self, false), right = scan_half(self, true);
    right.before += self->state->sums[left.node];
    struct fj_frame frame;
    fj_open(&frame, up);
    fj_spawn(&frame, &left.task, scan_scan);
    scan_scan(&frame, &right.task);
    fj_sync(&frame);
}

/* Some of the sums; verify() looks at all. */
static void scan_finish(const struct scan_state *state, struct outcome *out)
{
    size_t n = (size_t)state->params.n;
    for (size_t i = 1; i <= 16; i++)
        out->answer += digest_mix(state->out[(n - 1) / i] + i);
    out->ops = n;
    out->digest = digest_mix(out->answer) + digest_mix(~out->ops);
}

static void scan_run(void *arg, struct outcome *out)
{
    struct scan_state *state = arg;
    struct scan_task root = {.state = state, .node = 1, .count = (size_t)state->params.n};
    struct fj_frame up;
    fj_begin(&up);
    scan_sum(&up, &root.task);
    scan_scan(&up, &root.task);
    fj_end(&up);
    scan_finish(state, out);
}

static void scan_run_serial(void *arg, struct outcome *out)
{
    struct scan_state *state = arg;
    uint64_t sum = 0;
    for (int64_t i = 0; i < state->params.n; i++)
        state->out[i] = sum += state->in[i];
    scan_finish(state, out);
}

/* Each sum is the one before and a number. Wipes them, so that the next call cannot pass with
 * these. */
static const char *scan_verify(void *arg, const struct outcome *out, char *why, size_t why_size)
{
    struct scan_state *state = arg;
    size_t n = (size_t)state->params.n, right = 0;
    uint64_t sum = 0;
    while (right < n && state->out[right] == sum + state->in[right])
        sum = state->out[right++];
    memset(state->out, 0, n * sizeof *state->out);
    if (right == n && out->ops == n)
        return NULL;
    snprintf(why, why_size, "scan: expected %zu sums of %zu numbers, found %zu of %" PRIu64, n, n,
             right, out->ops);
    return why;
}

/* Each inner node of a walk spawns once. A leaf has half the grain at least. */
static uint64_t scan_live_gs_max(const void *params_)
{
    const struct scan_params *params = params_;
    return 2 + 2 * (uint64_t)params->n / (uint64_t)params->grain;
}

/* So many levels that the halves of the last are no longer than the grain; none is numbered 0. */
static size_t scan_nodes(const struct scan_params *params)
{
    size_t nodes = 2;
    while (nodes / 2 * (size_t)params->grain < (size_t)params->n)
        nodes *= 2;
    return nodes;
}

static void *scan_init(const void *params, uint64_t seed)
{
    struct scan_state *state = go_alloc(sizeof *state);
    state->params = *(const struct scan_params *)params;
    size_t n = (size_t)state->params.n;
    state->in = go_alloc(n * sizeof *state->in);
    /* written here, so that the first run does not pay for fresh pages */
    state->out = memset(go_alloc(n * sizeof *state->out), 0, n * sizeof *state->out);
    state->sums = go_alloc_zeroed(scan_nodes(&state->params) * sizeof *state->sums);
    for (size_t i = 0; i < n; i++)
        state->in[i] = digest_mix(seed + i);
    return state;
}

static void scan_fini(void *arg)
{
    struct scan_state *state = arg;
    go_free(state->in);
    go_free(state->out);
    go_free(state->sums);
    go_free(state);
}

const struct workload workload_scan = {
    .name = "scan",
    .idea = "prefix sums: two trees of tasks over memory, the second after the first",
    .op = "number",
    .source = "schedlab",
    .style = STYLE_FORKJOIN,
    .params = scan_param_table,
    .params_size = sizeof(struct scan_params),
    .live_gs_max = scan_live_gs_max,
    .init = scan_init,
    .run = scan_run,
    .run_serial = scan_run_serial,
    .verify = scan_verify,
    .fini = scan_fini,
};
