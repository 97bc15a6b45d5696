/* uts.c - Unbalanced Tree Search: count the nodes of a tree that nobody can foresee.
 *
 * Source: [UTS07], and the sample trees that its programs come with, with their node counts.
 *   Same:    a node is a 20-byte SHA-1 state; child i's state is the digest of the node's state and
 *            i; the low 31 bits of the state's last word decide how many children a node has.
 *   Differs: the original spreads a stack of nodes over threads by itself; here a node is a task.
 *
 * How many children. With u = those 31 bits / 2^31:
 *   geometric  floor(ln(1 - u) / ln(1 - p)), p = 1 / (1 + b), at most 100; the mean b depends on
 *              the node's depth d by the tree's shape, b = b0 at the root:
 *                linear  b0 (1 - d / depth)
 *                expdec  b0 d^(-ln b0 / ln depth)
 *                cyclic  b0^sin(2 pi d / depth), 0 where d > 5 depth
 *                fixed   b0, 0 where d >= depth
 *   binomial   b0 at the root; elsewhere m with probability q, else none
 *   hybrid     geometric above depth / 2, binomial below
 *
 * Subtrees differ in size by orders of magnitude, and all subtrees look alike from their roots: the
 * test of load balancing. In binomial trees the expected size of a subtree is the same everywhere.
 *
 * Children's records stand in a block of their own, not on the parent's stack: binomial trees are
 * thousands of nodes deep on one stack where children run as calls.
 */
#include "sha1.h"
#include "workload.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum uts_kind { UTS_BINOMIAL, UTS_GEOMETRIC, UTS_HYBRID };
enum uts_shape { UTS_LINEAR, UTS_EXPDEC, UTS_CYCLIC, UTS_FIXED, UTS_NO_SHAPE };

enum {
    UTS_CHILDREN_MAX = 100, /* of a geometric node */
    UTS_TABLE = 128,        /* depths with a prepared ln(1 - p) */
};

struct uts_count {
    uint64_t nodes;
    uint64_t leaves;
    int32_t depth; /* of the deepest node; the root's is 0 */
};

/* X(word, kind, shape, b0, depth, m, q, seed, {nodes, leaves, deepest}). The small and tiny ones
 * are schedlab's own, counted with an independent program (Python's hashlib, math and a stack). */
#define UTS_TREES(X)                                                                               \
    X(T1, UTS_GEOMETRIC, UTS_FIXED, 4, 10, 0, 0, 19, {4130071, 3305118, 10})                       \
    X(T2, UTS_GEOMETRIC, UTS_CYCLIC, 6, 16, 0, 0, 502, {4117769, 2342762, 81})                     \
    X(T3, UTS_BINOMIAL, UTS_NO_SHAPE, 2000, 0, 8, 0.124875, 42, {4112897, 3599034, 1572})          \
    X(T4, UTS_HYBRID, UTS_LINEAR, 6, 16, 4, 0.234375, 1, {4132453, 3108986, 134})                  \
    X(T5, UTS_GEOMETRIC, UTS_LINEAR, 4, 20, 0, 0, 34, {4147582, 2181318, 20})                      \
    X(T1L, UTS_GEOMETRIC, UTS_FIXED, 4, 13, 0, 0, 29, {102181082, 81746377, 13})                   \
    X(T2L, UTS_GEOMETRIC, UTS_CYCLIC, 7, 23, 0, 0, 220, {96793510, 53791152, 67})                  \
    X(small, UTS_GEOMETRIC, UTS_FIXED, 4, 7, 0, 0, 7, {120874, 96374, 7})                          \
    X(small_binomial, UTS_BINOMIAL, UTS_NO_SHAPE, 100, 0, 8, 0.124875, 3, {58301, 51025, 208})     \
    X(small_expdec, UTS_GEOMETRIC, UTS_EXPDEC, 4, 12, 0, 0, 7, {70458, 35640, 35})                 \
    X(tiny, UTS_GEOMETRIC, UTS_FIXED, 4, 4, 0, 0, 7, {2006, 1613, 4})                              \
    X(tiny_binomial, UTS_BINOMIAL, UTS_NO_SHAPE, 20, 0, 8, 0.12, 2, {381, 335, 16})

enum {
#define UTS_ENUM(word, ...) UTS_TREE_##word,
    UTS_TREES(UTS_ENUM)
#undef UTS_ENUM
};

static const char *const uts_words[] = {
#define UTS_WORD(word, ...) #word,
    UTS_TREES(UTS_WORD)
#undef UTS_WORD
        NULL};

struct uts_tree {
    enum uts_kind kind;
    enum uts_shape shape;
    double b0;
    int depth;
    int m;
    double q;
    uint32_t seed;
    struct uts_count count; /* known */
};

static const struct uts_tree uts_trees[] = {
#define UTS_TREE(word, ...) {__VA_ARGS__},
    UTS_TREES(UTS_TREE)
#undef UTS_TREE
};

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

/* ln(1 - p) for a node of a geometric tree; minus infinity where nodes have no children. */
static double uts_log_q(const struct uts_tree *tree, int depth)
{
    const double pi = 3.141592653589793;
    double b = tree->b0;
    if (depth > 0) {
        switch (tree->shape) {
        case UTS_LINEAR:
            b = tree->b0 * (1.0 - (double)depth / tree->depth);
            break;
        case UTS_EXPDEC:
            b = tree->b0 * pow(depth, -log(tree->b0) / log(tree->depth));
            break;
        case UTS_CYCLIC:
            b = depth > 5 * tree->depth ? 0 : pow(tree->b0, sin(2.0 * pi * depth / tree->depth));
            break;
        default:
            b = depth < tree->depth ? tree->b0 : 0;
            break;
        }
    }
    return log(1.0 - 1.0 / (1.0 + b));
}

static uint32_t uts_children(const struct uts_state *state, const uint32_t rng[SHA1_WORDS],
                             int depth)
{
    const struct uts_tree *tree = state->tree;
    double u = (rng[SHA1_WORDS - 1] & INT32_MAX) / 2147483648.0;
    if (tree->kind == UTS_BINOMIAL && depth == 0)
        return (uint32_t)tree->b0;
    if (tree->kind == UTS_BINOMIAL || (tree->kind == UTS_HYBRID && depth >= 0.5 * tree->depth))
        return u < tree->q ? (uint32_t)tree->m : 0;
    double log_q = depth < UTS_TABLE ? state->log_q[depth] : uts_log_q(tree, depth);
    double children = floor(log(1 - u) / log_q);
    return children < UTS_CHILDREN_MAX ? (uint32_t)children : UTS_CHILDREN_MAX;
}

/* The state of child number i. */
static void uts_spawn_rng(const uint32_t parent[SHA1_WORDS], uint32_t i, uint32_t child[SHA1_WORDS])
{
    uint32_t message[SHA1_WORDS + 1];
    memcpy(message, parent, SHA1_WORDS * sizeof message[0]);
    message[SHA1_WORDS] = i;
    sha1_short(message, SHA1_WORDS + 1, child);
}

static void uts_root_rng(uint32_t seed, uint32_t root[SHA1_WORDS])
{
    uint32_t message[SHA1_WORDS] = {[SHA1_WORDS - 1] = seed};
    sha1_short(message, SHA1_WORDS, root);
}

static inline void uts_add(struct uts_count *sum, const struct uts_count *below)
{
    sum->nodes += below->nodes;
    sum->leaves += below->leaves;
    if (below->depth > sum->depth)
        sum->depth = below->depth;
}

static void uts_visit(struct fj_worker *w, void *arg)
{
    struct uts_node *self = arg;
    uint32_t children = uts_children(self->state, self->rng, self->depth);
    self->below = (struct uts_count){.nodes = 1, .leaves = children == 0, .depth = self->depth};
    if (children == 0)
        return;
    struct uts_node *child = go_alloc(children * sizeof *child);
    struct fj_frame frame;
    fj_open(&frame, w);
    for (uint32_t i = 0; i < children; i++) {
        child[i].state = self->state;
        child[i].depth = self->depth + 1;
        uts_spawn_rng(self->rng, i, child[i].rng);
        fj_spawn(&frame, &child[i].task, uts_visit, &child[i]);
    }
    fj_sync(&frame);
    for (uint32_t i = 0; i < children; i++)
        uts_add(&self->below, &child[i].below);
    go_free(child);
}

static void uts_serial(const struct uts_state *state, const uint32_t rng[SHA1_WORDS], int depth,
                       struct uts_count *sum)
{
    uint32_t children = uts_children(state, rng, depth);
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
    uts_visit(fj_self(), &root);
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
    for (int depth = 0; state->tree->kind != UTS_BINOMIAL && depth < UTS_TABLE; depth++)
        state->log_q[depth] = uts_log_q(state->tree, depth);
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
