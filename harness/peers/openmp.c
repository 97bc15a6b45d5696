/* openmp.c - the fork/join workloads as OpenMP tasks; for libgomp by gcc, for libomp by clang.
 *
 * One thread of a parallel region starts, the others run tasks at the region's end. Tasks are tied,
 * as they are by default, and nothing cuts them off but the runtime itself.
 */
#include "forkjoin.h"

#include <omp.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#ifdef __clang__
#define RUNTIME "libomp"
#define VERSION "of clang " TEXT(__clang_major__) "." TEXT(__clang_minor__)
#else
#define RUNTIME "libgomp"
#define VERSION "of gcc " TEXT(__GNUC__) "." TEXT(__GNUC_MINOR__)
#endif

static uint64_t fib_one(uint64_t n)
{
    if (n <= 2)
        return n > 0;
    uint64_t x;
#pragma omp task shared(x)
    x = fib_one(n - 1);
    uint64_t y = fib_one(n - 2);
#pragma omp taskwait
    return x + y;
}

static uint64_t fib_both(uint64_t n)
{
    if (n <= 2)
        return n > 0;
    uint64_t x, y;
#pragma omp task shared(x)
    x = fib_both(n - 1);
#pragma omp task shared(y)
    y = fib_both(n - 2);
#pragma omp taskwait
    return x + y;
}

static void fib_run(void *state, struct peer_outcome *out)
{
    const struct fib *fib = state;
    uint64_t answer = 0;
#pragma omp parallel
#pragma omp single
    answer = fib->both ? fib_both(fib->n) : fib_one(fib->n);
    fib_finish(fib, answer, out);
}

static struct leaf_queens queens_search(const struct queens *self)
{
    if (queens_is_leaf(self))
        return queens_leaf(self);
    struct leaf_queens below[QUEENS_MAX];
    int placed = 0;
    int column = -1;
    while ((column = leaf_queens_next(self->board, self->n, self->row, column + 1)) < self->n) {
        struct leaf_queens *result = &below[placed++];
        struct queens child = queens_place(self, column);
#pragma omp task firstprivate(result, child)
        *result = queens_search(&child);
    }
#pragma omp taskwait
    return queens_sum(below, placed);
}

static void queens_run(void *state, struct peer_outcome *out)
{
    struct leaf_queens found = {0, 0};
#pragma omp parallel
#pragma omp single
    found = queens_search(state);
    queens_finish(found, out);
}

static uint64_t skynet_visit(uint64_t number, uint64_t leaves, uint32_t children)
{
    if (leaves == 1)
        return number;
    uint64_t sums[children];
    uint64_t *sum = sums;
    for (uint32_t i = 0; i < children; i++) {
#pragma omp task firstprivate(i, sum)
        sum[i] = skynet_visit(number + i * (leaves / children), leaves / children, children);
    }
#pragma omp taskwait
    uint64_t total = 0;
    for (uint32_t i = 0; i < children; i++)
        total += sums[i];
    return total;
}

static void skynet_run(void *state, struct peer_outcome *out)
{
    const struct skynet *skynet = state;
    uint64_t sum = 0;
#pragma omp parallel
#pragma omp single
    sum = skynet_visit(0, skynet->leaves, skynet->children);
    skynet_finish(skynet, sum, out);
}

static void msort_merge(struct leaf_span a, struct leaf_span b, uint64_t *to, size_t cutoff)
{
    if (a.count + b.count <= cutoff) {
        leaf_merge(a, b, to);
        return;
    }
    struct leaf_span high_a, high_b;
    size_t low = msort_merge_halve(&a, &b, &high_a, &high_b);
#pragma omp task
    msort_merge(a, b, to, cutoff);
    msort_merge(high_a, high_b, to + low, cutoff);
#pragma omp taskwait
}

static void msort_sort(const struct msort *all, const uint64_t *in, uint64_t *to, uint64_t *tmp,
                       size_t n)
{
    if (n <= all->cutoff) {
        leaf_sort(in, to, tmp, n);
        return;
    }
    size_t half = n / 2;
#pragma omp task
    msort_sort(all, in, tmp, to, half);
    msort_sort(all, in + half, tmp + half, to + half, n - half);
#pragma omp taskwait
    struct leaf_span a = {tmp, half}, b = {tmp + half, n - half};
    if (all->parallel_merge)
        msort_merge(a, b, to, all->cutoff);
    else
        leaf_merge(a, b, to);
}

static void msort_run(void *state, struct peer_outcome *out)
{
    const struct msort *all = state;
#pragma omp parallel
#pragma omp single
    msort_sort(all, all->in, all->to, all->tmp, all->n);
    msort_finish(all, out);
}

static void matmul_multiply(const struct matmul *self)
{
    if (matmul_is_small(self)) {
        matmul_block(self);
        return;
    }
    struct matmul low, high;
    if (matmul_halve(self, &low, &high)) {
#pragma omp task shared(low)
        matmul_multiply(&low);
        matmul_multiply(&high);
#pragma omp taskwait
    } else {
        matmul_multiply(&low);
        matmul_multiply(&high);
    }
}

static void matmul_run(void *state, struct peer_outcome *out)
{
    const struct matmul *root = state;
#pragma omp parallel
#pragma omp single
    matmul_multiply(root);
    matmul_finish(root, out);
}

static struct uts_count uts_visit(const struct uts *uts, const struct uts_node *node)
{
    uint32_t children = uts_children_of(uts, node);
    struct uts_count count = uts_count_one(node, children);
    if (children == 0)
        return count;
    struct uts_count *below = peer_alloc(children, sizeof *below);
    for (uint32_t i = 0; i < children; i++) {
        struct uts_node child = uts_child(node, i);
#pragma omp task firstprivate(child, i)
        below[i] = uts_visit(uts, &child);
    }
#pragma omp taskwait
    for (uint32_t i = 0; i < children; i++)
        uts_add(&count, &below[i]);
    free(below);
    return count;
}

static void uts_run(void *state, struct peer_outcome *out)
{
    const struct uts *uts = state;
    const struct uts_node root = uts_root(uts);
    struct uts_count found = {0, 0, 0};
#pragma omp parallel
#pragma omp single
    found = uts_visit(uts, &root);
    uts_finish(found, out);
}

static const struct peer_workload workloads[] = {
    {"fib", fib_init, fib_run, NULL},
    {"nqueens", queens_init, queens_run, NULL},
    {"skynet", skynet_init, skynet_run, NULL},
    {"mergesort", msort_init, msort_run, msort_check},
    {"matmul", matmul_init, matmul_run, matmul_check},
    {"uts", uts_init, uts_run, NULL},
    {NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv)
{
    struct peer_run run = peer_parse(argc, argv);
    omp_set_dynamic(0);
    omp_set_num_threads(run.workers);
    peer_measure(&run, workloads);
    return peer_print(&run, RUNTIME, VERSION);
}
