/* forkjoin.h - code that the fork/join peers share: the parts of the workloads without a spawn.
 *
 * Each peer spawns in its runtime's own way. A task's computation below a cut-off or in a leaf is
 * in workloads/leaves.c and sha1.c, linked to it. How work is divided, and how answer and digest
 * are made, is here. It is the same as in workloads/fib.c, nqueens.c, skynet.c, mergesort.c,
 * matmul.c and uts.c. For C and C++; memory is zeroed or written in init: no call of run() pays for
 * fresh pages.
 */
#ifndef SCHEDLAB_PEER_FORKJOIN_H
#define SCHEDLAB_PEER_FORKJOIN_H

#include "peer.h"

#ifdef __cplusplus
extern "C" {
#endif
#include "workloads/leaves.h"
#include "workloads/uts_tree.h"
#ifdef __cplusplus
}
#endif

/* fib ----------------------------------------------------------------------------------------- */

struct fib {
    uint64_t n;
    bool both;
};

static inline void *fib_init(struct peer_run *run)
{
    struct fib *fib = (struct fib *)peer_alloc(1, sizeof *fib);
    fib->n = (uint64_t)peer_param_number(run, "n");
    fib->both = peer_param_is(run, "spawn", "both", "one");
    return fib;
}

static inline void fib_finish(const struct fib *fib, uint64_t answer, struct peer_outcome *out)
{
    uint64_t a = 0, b = 1;
    for (uint64_t i = 0; i < fib->n; i++) {
        uint64_t next = a + b;
        a = b;
        b = next;
    }
    out->answer = answer;
    out->ops = fib->n <= 2 ? 1 : 2 * a - 1;
    out->digest = peer_mix(answer) + peer_mix(~out->ops);
}

/* nqueens ------------------------------------------------------------------------------------- */

enum { QUEENS_MAX = 16 };

/* A board whose first `row` rows are filled. */
struct queens {
    uint8_t n, row, cutoff;
    uint8_t board[QUEENS_MAX];
};

static inline void *queens_init(struct peer_run *run)
{
    struct queens *root = (struct queens *)peer_alloc(1, sizeof *root);
    int64_t cutoff = peer_param_number(run, "cutoff");
    root->n = (uint8_t)peer_param_number(run, "n");
    root->cutoff = (uint8_t)(cutoff > 0 ? cutoff : (int64_t)QUEENS_MAX);
    return root;
}

static inline struct queens queens_place(const struct queens *parent, int column)
{
    struct queens child = *parent;
    child.board[child.row++] = (uint8_t)column;
    return child;
}

static inline bool queens_is_leaf(const struct queens *self)
{
    return self->row == self->n || self->row >= self->cutoff;
}

static inline struct leaf_queens queens_leaf(const struct queens *self)
{
    struct queens copy = *self;
    return leaf_queens_search(copy.board, copy.n, copy.row);
}

static inline struct leaf_queens queens_sum(const struct leaf_queens *below, int children)
{
    struct leaf_queens count = {0, (uint64_t)children};
    for (int i = 0; i < children; i++) {
        count.solutions += below[i].solutions;
        count.placements += below[i].placements;
    }
    return count;
}

static inline void queens_finish(struct leaf_queens found, struct peer_outcome *out)
{
    out->answer = found.solutions;
    out->ops = found.placements;
    out->digest = peer_mix(found.solutions) + peer_mix(~found.placements);
}

/* skynet -------------------------------------------------------------------------------------- */

struct skynet {
    uint64_t leaves;
    uint32_t children;
};

static inline void *skynet_init(struct peer_run *run)
{
    struct skynet *skynet = (struct skynet *)peer_alloc(1, sizeof *skynet);
    skynet->leaves = (uint64_t)peer_param_number(run, "leaves");
    skynet->children = (uint32_t)peer_param_number(run, "children");
    return skynet;
}

static inline void skynet_finish(const struct skynet *skynet, uint64_t sum,
                                 struct peer_outcome *out)
{
    out->answer = sum;
    out->ops = skynet->leaves;
    out->digest = peer_mix(sum) + peer_mix(~out->ops);
}

/* mergesort ----------------------------------------------------------------------------------- */

enum { MSORT_SAMPLES = 64 };

struct msort {
    uint64_t *in, *to, *tmp;
    size_t n, cutoff;
    bool parallel_merge;
    uint64_t checksum;
};

static inline uint64_t msort_checksum(const uint64_t *keys, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += peer_mix(keys[i]);
    return sum;
}

static inline void *msort_init(struct peer_run *run)
{
    struct msort *self = (struct msort *)peer_alloc(1, sizeof *self);
    self->n = (size_t)peer_param_number(run, "n");
    self->cutoff = (size_t)peer_param_number(run, "cutoff");
    self->parallel_merge = peer_param_is(run, "merge", "parallel", "serial");
    self->in = (uint64_t *)peer_alloc(self->n, sizeof *self->in);
    for (size_t i = 0; i < self->n; i++)
        self->in[i] = peer_mix(run->seed + i);
    self->checksum = msort_checksum(self->in, self->n);
    self->to = (uint64_t *)peer_alloc(self->n, sizeof *self->to);
    self->tmp = (uint64_t *)peer_alloc(self->n, sizeof *self->tmp);
    memset(self->to, 1, self->n * sizeof *self->to);
    memset(self->tmp, 1, self->n * sizeof *self->tmp);
    return self;
}

static inline struct leaf_span msort_span_make(const uint64_t *keys, size_t count)
{
    struct leaf_span span = {keys, count};
    return span;
}

/* How many of the span's keys are less than key. */
static inline size_t msort_rank(struct leaf_span span, uint64_t key)
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

/* One merge as two that are independent: a and b become the low half, *high_a and *high_b the other
 * one; returns how many keys the low half has. */
static inline size_t msort_merge_halve(struct leaf_span *a, struct leaf_span *b,
                                       struct leaf_span *high_a, struct leaf_span *high_b)
{
    if (a->count < b->count) {
        struct leaf_span swap = *a;
        *a = *b;
        *b = swap;
    }
    size_t half = a->count / 2;
    size_t rank = msort_rank(*b, a->keys[half]);
    *high_a = msort_span_make(a->keys + half, a->count - half);
    *high_b = msort_span_make(b->keys + rank, b->count - rank);
    a->count = half;
    b->count = rank;
    return half + rank;
}

static inline void msort_finish(const struct msort *self, struct peer_outcome *out)
{
    for (size_t i = 0; i < MSORT_SAMPLES; i++)
        out->answer += peer_mix(self->to[i * self->n / MSORT_SAMPLES] + i);
    out->ops = self->n;
    out->digest = peer_mix(out->answer) + peer_mix(~out->ops);
}

/* The answer is of some keys; all of them are looked at here, and wiped for the next call. */
static inline void msort_check(void *state)
{
    struct msort *self = (struct msort *)state;
    for (size_t i = 1; i < self->n; i++)
        if (self->to[i - 1] > self->to[i])
            peer_fail("mergesort: key %zu is less than the one before", i);
    if (msort_checksum(self->to, self->n) != self->checksum)
        peer_fail("mergesort: the sorted keys are not those of the input");
    memset(self->to, 0, self->n * sizeof *self->to);
}

/* matmul -------------------------------------------------------------------------------------- */

enum { MATMUL_PAD = 8 };

/* c[rows x columns] += a[rows x inner] b[inner x columns]; `begin`: = in place of += */
struct matmul {
    const uint64_t *a, *b;
    uint64_t *c;
    size_t stride;
    uint32_t rows, columns, inner, cutoff;
    bool begin;
};

static inline void *matmul_init(struct peer_run *run)
{
    struct matmul *root = (struct matmul *)peer_alloc(1, sizeof *root);
    uint32_t n = (uint32_t)peer_param_number(run, "n");
    root->rows = root->columns = root->inner = n;
    root->cutoff = (uint32_t)peer_param_number(run, "cutoff");
    root->begin = true;
    root->stride = n + MATMUL_PAD;
    size_t words = n * root->stride;
    uint64_t *a = (uint64_t *)peer_alloc(words, sizeof *a);
    uint64_t *b = (uint64_t *)peer_alloc(words, sizeof *b);
    for (size_t i = 0; i < words; i++) {
        a[i] = peer_mix(run->seed + 2 * i);
        b[i] = peer_mix(run->seed + 2 * i + 1);
    }
    root->a = a;
    root->b = b;
    root->c = (uint64_t *)peer_alloc(words, sizeof *root->c);
    memset(root->c, 0xa5, words * sizeof *root->c);
    return root;
}

static inline bool matmul_is_small(const struct matmul *self)
{
    return self->rows <= self->cutoff && self->columns <= self->cutoff &&
           self->inner <= self->cutoff;
}

static inline void matmul_block(const struct matmul *self)
{
    leaf_matmul(self->a, self->b, self->c, self->stride, self->rows, self->inner, self->columns,
                self->begin);
}

/* Cuts self into *low and *high along its largest dimension. True: they are independent. */
static inline bool matmul_halve(const struct matmul *self, struct matmul *low, struct matmul *high)
{
    *low = *high = *self;
    if (self->rows >= self->columns && self->rows >= self->inner) {
        low->rows = self->rows / 2;
        high->rows = self->rows - low->rows;
        high->a += low->rows * self->stride;
        high->c += low->rows * self->stride;
        return true;
    }
    if (self->columns >= self->inner) {
        low->columns = self->columns / 2;
        high->columns = self->columns - low->columns;
        high->b += low->columns;
        high->c += low->columns;
        return true;
    }
    low->inner = self->inner / 2;
    high->inner = self->inner - low->inner;
    high->a += low->inner;
    high->b += low->inner * self->stride;
    high->begin = false;
    return false;
}

static inline void matmul_finish(const struct matmul *root, struct peer_outcome *out)
{
    uint64_t n = root->rows;
    for (size_t i = 0; i < n; i++)
        out->answer += root->c[i * root->stride + i];
    out->ops = n * n * n;
    out->digest = peer_mix(out->answer) + peer_mix(~out->ops);
}

/* The answer is the diagonal; the whole product is checked by one vector ([Freivalds77]), and wiped
 * for the next call. */
static inline void matmul_check(void *state)
{
    struct matmul *root = (struct matmul *)state;
    size_t n = root->rows;
    uint64_t *bx = (uint64_t *)peer_alloc(n, sizeof *bx);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            bx[i] += root->b[i * root->stride + j] * peer_mix(j);
    for (size_t i = 0; i < n; i++) {
        uint64_t abx = 0, cx = 0;
        for (size_t j = 0; j < n; j++) {
            abx += root->a[i * root->stride + j] * bx[j];
            cx += root->c[i * root->stride + j] * peer_mix(j);
        }
        if (abx != cx)
            peer_fail("matmul: row %zu of the product is wrong", i);
    }
    free(bx);
    memset(root->c, 0xa5, n * root->stride * sizeof *root->c);
}

/* uts ----------------------------------------------------------------------------------------- */

struct uts {
    const struct uts_tree *tree;
    double log_q[UTS_TABLE];
};

struct uts_node {
    uint32_t rng[SHA1_WORDS];
    int32_t depth;
};

static inline void *uts_init(struct peer_run *run)
{
    struct uts *uts = (struct uts *)peer_alloc(1, sizeof *uts);
    const char *word = peer_param_text(run, "tree");
    for (size_t i = 0; uts_words[i]; i++)
        if (strcmp(uts_words[i], word) == 0)
            uts->tree = &uts_trees[i];
    if (!uts->tree)
        peer_unsupported("tree=%s", word);
    uts_prepare(uts->tree, uts->log_q);
    return uts;
}

static inline struct uts_node uts_root(const struct uts *uts)
{
    struct uts_node root;
    uts_root_rng(uts->tree->seed, root.rng);
    root.depth = 0;
    return root;
}

static inline uint32_t uts_children_of(const struct uts *uts, const struct uts_node *node)
{
    return uts_children(uts->tree, uts->log_q, node->rng, node->depth);
}

static inline struct uts_node uts_child(const struct uts_node *parent, uint32_t i)
{
    struct uts_node child;
    uts_spawn_rng(parent->rng, i, child.rng);
    child.depth = parent->depth + 1;
    return child;
}

/* A node without what is below it. */
static inline struct uts_count uts_count_one(const struct uts_node *node, uint32_t children)
{
    struct uts_count count = {1, children == 0, node->depth};
    return count;
}

static inline void uts_add(struct uts_count *sum, const struct uts_count *below)
{
    sum->nodes += below->nodes;
    sum->leaves += below->leaves;
    if (below->depth > sum->depth)
        sum->depth = below->depth;
}

static inline void uts_finish(struct uts_count found, struct peer_outcome *out)
{
    out->answer = out->ops = found.nodes;
    out->digest =
        peer_mix(found.nodes) + peer_mix(~found.leaves) + peer_mix((uint64_t)found.depth << 32);
}

#ifdef __cplusplus
#include <vector>

/* In C++ -------------------------------------------------------------------------------------- */

/* An activation spawns its children by the run() of an object of its own, and joins them by its
 * wait(), as of tbb::task_group. */

template <typename Children> static struct leaf_queens queens_search(const struct queens &self)
{
    if (queens_is_leaf(&self))
        return queens_leaf(&self);
    struct leaf_queens below[QUEENS_MAX];
    int placed = 0;
    Children children;
    int column = -1;
    while ((column = leaf_queens_next(self.board, self.n, self.row, column + 1)) < self.n) {
        struct leaf_queens *result = &below[placed++];
        struct queens child = queens_place(&self, column);
        children.run([result, child] { *result = queens_search<Children>(child); });
    }
    children.wait();
    return queens_sum(below, placed);
}

template <typename Children> static void queens_run(void *state, struct peer_outcome *out)
{
    queens_finish(queens_search<Children>(*static_cast<struct queens *>(state)), out);
}

template <typename Children>
static uint64_t skynet_visit(uint64_t number, uint64_t leaves, uint32_t children)
{
    if (leaves == 1)
        return number;
    std::vector<uint64_t> sums(children);
    Children group;
    for (uint32_t i = 0; i < children; i++)
        group.run([&sums, i, number, leaves, children] {
            sums[i] = skynet_visit<Children>(number + i * (leaves / children), leaves / children,
                                             children);
        });
    group.wait();
    uint64_t sum = 0;
    for (uint64_t below : sums)
        sum += below;
    return sum;
}

template <typename Children> static void skynet_run(void *state, struct peer_outcome *out)
{
    const struct skynet *skynet = static_cast<struct skynet *>(state);
    skynet_finish(skynet, skynet_visit<Children>(0, skynet->leaves, skynet->children), out);
}

#endif

#endif
