/* uts_tree.h - the trees of Unbalanced Tree Search, and how a node's state makes its children.
 *
 * Source: [UTS07]. Shared by uts.c and the programs of harness/peers, so that all search the same
 * trees; valid as C and as C++. Pure functions; any stack.
 *
 * How many children. With u = the low 31 bits of the last word of the node's state / 2^31:
 *   geometric  floor(ln(1 - u) / ln(1 - p)), p = 1 / (1 + b), at most 100; the mean b depends on
 *              the node's depth d by the tree's shape, b = b0 at the root:
 *                linear  b0 (1 - d / depth)
 *                expdec  b0 d^(-ln b0 / ln depth)
 *                cyclic  b0^sin(2 pi d / depth), 0 where d > 5 depth
 *                fixed   b0, 0 where d >= depth
 *   binomial   b0 at the root; elsewhere m with probability q, else none
 *   hybrid     geometric above depth / 2, binomial below
 */
#ifndef SCHEDLAB_UTS_TREE_H
#define SCHEDLAB_UTS_TREE_H

#include "sha1.h"

#include <math.h>
#include <stdint.h>
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

/* ln(1 - p) for a node of a geometric tree; minus infinity where nodes have no children. */
static inline double uts_log_q(const struct uts_tree *tree, int depth)
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

/* Fills log_q[UTS_TABLE], which stays as it is from then on. */
static inline void uts_prepare(const struct uts_tree *tree, double *log_q)
{
    for (int depth = 0; tree->kind != UTS_BINOMIAL && depth < UTS_TABLE; depth++)
        log_q[depth] = uts_log_q(tree, depth);
}

/* The number of children of a node with this state at this depth. */
static inline uint32_t uts_children(const struct uts_tree *tree, const double *log_q,
                                    const uint32_t rng[SHA1_WORDS], int depth)
{
    double u = (rng[SHA1_WORDS - 1] & INT32_MAX) / 2147483648.0;
    if (tree->kind == UTS_BINOMIAL && depth == 0)
        return (uint32_t)tree->b0;
    if (tree->kind == UTS_BINOMIAL || (tree->kind == UTS_HYBRID && depth >= 0.5 * tree->depth))
        return u < tree->q ? (uint32_t)tree->m : 0;
    double ln = depth < UTS_TABLE ? log_q[depth] : uts_log_q(tree, depth);
    double children = floor(log(1 - u) / ln);
    return children < UTS_CHILDREN_MAX ? (uint32_t)children : (uint32_t)UTS_CHILDREN_MAX;
}

/* The state of child number i. */
static inline void uts_spawn_rng(const uint32_t parent[SHA1_WORDS], uint32_t i,
                                 uint32_t child[SHA1_WORDS])
{
    uint32_t message[SHA1_WORDS + 1];
    memcpy(message, parent, SHA1_WORDS * sizeof message[0]);
    message[SHA1_WORDS] = i;
    sha1_short(message, SHA1_WORDS + 1, child);
}

static inline void uts_root_rng(uint32_t seed, uint32_t root[SHA1_WORDS])
{
    uint32_t message[SHA1_WORDS] = {0};
    message[SHA1_WORDS - 1] = seed;
    sha1_short(message, SHA1_WORDS, root);
}

#endif
