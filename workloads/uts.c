/* uts.c - Unbalanced Tree Search: count the nodes of a tree that nobody can foresee.
 *
 * Source: [UTS07], and the sample trees that its programs come with, with their node counts.
 *   Same:    a node is a 20-byte SHA-1 state; child i's state is the digest of the node's state and
 *            i; the low 31 bits of the state's last word decide how many children a node has.
 *   Differs: the original spreads a stack of nodes over threads by itself; here a node is a task.
 *
 * How many children a node has, and the trees: uts_tree.h.
 *
 * Subtrees differ in size by orders of magnitude, and all subtrees look alike from their roots: the
 * test of load balancing. In binomial trees the expected size of a subtree is the same everywhere.
 *
 * Children's records stand in a block of their own, not on the parent's stack: binomial trees are
 * thousands of nodes deep on one stack where children run as calls.
 */
#include "uts_tree.h"
#include "workload.h"

#include <inttypes.h>

struct uts_params {
    int64_t tree;
};

static const struct param uts_param_table[] = {
    PARAM_WORD(struct uts_params, tree, uts_words, UTS_TREE_small, "[UTS07]",
               "which tree: T1 to T2L as published (4 and 100 million nodes), else schedlab's own"),
    {0},
};

struct uts_state {
    const struct uts_tree *tree;
    struct uts_count found;
    double log_q[UTS_TABLE]; /* ln(1 - p) by depth; read only after init */
};

struct uts_node {
    struct fj_task task;
    const struct uts_state *state;
    uint32_t rng[SHA1_WORDS];
    int32_t depth;
    struct uts_count below; /* what this node returns, itself included */
};

static inline void uts_add(struct uts_count *sum, const struct uts_count *below)
{
    sum->nodes += below->nodes;
    sum->leaves += below->leaves;
    if (below->depth > sum->depth)
        sum->depth = below->depth;
}

static void uts_visit(struct fj_frame *up, struct fj_task *task)
{
    struct uts_node *self = FJ_SELF(task, struct uts_node);
    uint32_t children = uts_children(self->state->tree, self->state->log_q, self->rng, self->depth);
    self->below = (struct uts_count){.nodes = 1, .leaves = children == 0, .depth = self->depth};
    if (children == 0)
        return;
    struct uts_node *child = go_alloc(children * sizeof *child);
    struct fj_frame frame;
    fj_open(&frame, up);
    for (uint32_t i = 0; i < children; i++) {
        child[i].state = self->state;
        child[i].depth = self->depth + 1;
        uts_spawn_rng(self->rng, i, child[i].rng);
        fj_spawn(&frame, &child[i].task, uts_visit);
    }
    fj_sync(&frame);
    for (uint32_t i = 0; i < children; i++)
        uts_add(&self->below, &child[i].below);
    go_free(child);
}

static void uts_serial(const struct uts_state *state, const uint32_t rng[SHA1_WORDS], int depth,
                       struct uts_count *sum)
{
    uint32_t children = uts_children(state->tree, state->log_q, rng, depth);
    uts_add(sum, &(struct uts_count){.nodes = 1, .leaves = children == 0, .depth = depth});
    for (uint32_t i = 0; i < children; i++) {
        uint32_t child[SHA1_WORDS];
        uts_spawn_rng(rng, i, child);
        uts_serial(state, child, depth + 1, sum);
    }
}

static void uts_finish(struct uts_state *state, const struct uts_count *found, struct outcome *out)
{
    state->found = *found;
    out->answer = found->nodes;
    out->ops = found->nodes;
    out->digest = digest_mix(found->nodes) + digest_mix(~found->leaves) +
                  digest_mix((uint64_t)found->depth << 32);
}

static void uts_run(void *state_, struct outcome *out)
{
    struct uts_state *state = state_;
    struct uts_node root = {.state = state};
    uts_root_rng(state->tree->seed, root.rng);
    struct fj_frame up;
    fj_begin(&up);
    uts_visit(&up, &root.task);
    fj_end(&up);
    uts_finish(state, &root.below, out);
}

static void uts_run_serial(void *state_, struct outcome *out)
{
    struct uts_state *state = state_;
    struct uts_count found = {0};
    uint32_t root[SHA1_WORDS];
    uts_root_rng(state->tree->seed, root);
    uts_serial(state, root, 0, &found);
    uts_finish(state, &found, out);
}

static const char *uts_verify(void *state_, const struct outcome *out, char *why, size_t why_size)
{
    struct uts_state *state = state_;
    const struct uts_count *known = &state->tree->count, *found = &state->found;
    if (out->answer == known->nodes && out->ops == known->nodes && found->leaves == known->leaves &&
        found->depth == known->depth)
        return NULL;
    snprintf(why, why_size,
             "uts %s: expected %" PRIu64 " nodes, %" PRIu64 " leaves, depth %" PRId32
             "; found %" PRIu64 " nodes, %" PRIu64 " leaves, depth %" PRId32,
             uts_words[state->tree - uts_trees], known->nodes, known->leaves, known->depth,
             out->answer, found->leaves, found->depth);
    return why;
}

/* Every node; the root is main's own call. */
static uint64_t uts_live_gs_max(const void *params_)
{
    const struct uts_params *params = params_;
    return uts_trees[params->tree].count.nodes;
}

static void *uts_init(const void *params_, uint64_t seed)
{
    (void)seed; /* the tree has its own */
    const struct uts_params *params = params_;
    struct uts_state *state = go_alloc_zeroed(sizeof *state);
    state->tree = &uts_trees[params->tree];
    uts_prepare(state->tree, state->log_q);
    return state;
}

const struct workload workload_uts = {
    .name = "uts",
    .idea = "Unbalanced Tree Search: subtrees whose sizes nobody can foresee",
    .op = "node",
    .source = "[UTS07]",
    .style = STYLE_FORKJOIN,
    .params = uts_param_table,
    .params_size = sizeof(struct uts_params),
    .live_gs_max = uts_live_gs_max,
    .init = uts_init,
    .run = uts_run,
    .run_serial = uts_run_serial,
    .verify = uts_verify,
    .fini = go_free,
};
