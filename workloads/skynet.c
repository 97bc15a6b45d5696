/* skynet.c - a tree whose inner nodes spawn `children` children each; a leaf returns its number.
 *
 * Source: [Temerev16].
 *   Same:    the tree, and the sum of all leaf numbers as the answer.
 *   Differs: children return by sync instead of through a channel; 100000 leaves by default in
 *            place of a million, so that a variant with a stack per task fits into memory.
 *
 * Bursts of ten siblings: the parent has nothing to do until all of them are done.
 */
#include "workload.h"

#include <inttypes.h>

/* Children whose records fit on the parent's stack; more get a block of their own. */
enum { SKYNET_ON_STACK = 16 };

struct skynet_params {
    int64_t children;
    int64_t leaves;
};

struct skynet {
    struct fj_task task;
    uint64_t number; /* of the first leaf below this node */
    uint64_t leaves; /* below it */
    uint64_t sum;
    uint32_t children;
};

static const struct param skynet_param_table[] = {
    PARAM_NUMBER(struct skynet_params, children, 10, 2, 1000, "1", "[Temerev16]",
                 "children of an inner node"),
    PARAM_NUMBER(struct skynet_params, leaves, 100000, 1, 1000000000, "leaves", "schedlab",
                 "leaves of the tree, a power of children"),
    {0},
};

static void skynet_visit(struct fj_frame *up, struct fj_task *task)
{
    struct skynet *self = FJ_SELF(task, struct skynet);
    if (self->leaves == 1) {
        self->sum = self->number;
        return;
    }
    uint32_t children = self->children;
    struct skynet on_stack[SKYNET_ON_STACK];
    struct skynet *child =
        children <= SKYNET_ON_STACK ? on_stack : go_alloc(children * sizeof *child);
    uint64_t leaves = self->leaves / children;
    struct fj_frame frame;
    fj_open(&frame, up);
    for (uint32_t i = 0; i < children; i++) {
        child[i].number = self->number + i * leaves;
        child[i].leaves = leaves;
        child[i].children = children;
        fj_spawn(&frame, &child[i].task, skynet_visit);
    }
    fj_sync(&frame);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < children; i++)
        sum += child[i].sum;
    self->sum = sum;
    if (child != on_stack)
        go_free(child);
}

static uint64_t skynet_serial(uint64_t number, uint64_t leaves, uint32_t children)
{
    if (leaves == 1)
        return number;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < children; i++)
        sum += skynet_serial(number + i * (leaves / children), leaves / children, children);
    return sum;
}

static void skynet_finish(const struct skynet_params *params, uint64_t sum, struct outcome *out)
{
    out->answer = sum;
    out->ops = (uint64_t)params->leaves;
    out->digest = digest_mix(sum) + digest_mix(~out->ops);
}

static void skynet_run(void *state, struct outcome *out)
{
    const struct skynet_params *params = state;
    struct skynet root = {.leaves = (uint64_t)params->leaves,
                          .children = (uint32_t)params->children};
    struct fj_frame up;
    fj_begin(&up);
    skynet_visit(&up, &root.task);
    fj_end(&up);
    skynet_finish(params, root.sum, out);
}

static void skynet_run_serial(void *state, struct outcome *out)
{
    const struct skynet_params *params = state;
    uint64_t sum = skynet_serial(0, (uint64_t)params->leaves, (uint32_t)params->children);
    skynet_finish(params, sum, out);
}

static const char *skynet_verify(void *state, const struct outcome *out, char *why, size_t why_size)
{
    const struct skynet_params *params = state;
    uint64_t leaves = (uint64_t)params->leaves;
    uint64_t expected = leaves * (leaves - 1) / 2;
    if (out->answer == expected && out->ops == leaves)
        return NULL;
    snprintf(why, why_size,
             "skynet: expected the sum %" PRIu64 " of %" PRIu64 " leaves, found %" PRIu64
             " of %" PRIu64,
             expected, leaves, out->answer, out->ops);
    return why;
}

static const char *skynet_check(const void *params_)
{
    const struct skynet_params *params = params_;
    int64_t power = 1;
    while (power < params->leaves)
        power *= params->children;
    return power == params->leaves ? NULL : "leaves must be a power of children (1 included)";
}

/* All nodes of the tree; the root is main's own call. */
static uint64_t skynet_live_gs_max(const void *params_)
{
    const struct skynet_params *params = params_;
    uint64_t leaves = (uint64_t)params->leaves, children = (uint64_t)params->children;
    return (leaves * children - 1) / (children - 1);
}

static void *skynet_init(const void *params, uint64_t seed)
{
    (void)seed;
    struct skynet_params *state = go_alloc(sizeof *state);
    *state = *(const struct skynet_params *)params;
    return state;
}

const struct workload workload_skynet = {
    .name = "skynet",
    .idea = "a wide, even tree: each node spawns all its children and waits",
    .op = "leaf",
    .source = "[Temerev16]",
    .style = STYLE_FORKJOIN,
    .params = skynet_param_table,
    .params_size = sizeof(struct skynet_params),
    .live_gs_max = skynet_live_gs_max,
    .check = skynet_check,
    .init = skynet_init,
    .run = skynet_run,
    .run_serial = skynet_run_serial,
    .verify = skynet_verify,
    .fini = go_free,
};
